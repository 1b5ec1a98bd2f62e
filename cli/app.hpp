#pragma once

#include <iosfwd>
#include <string_view>

namespace kvplan::cli {

/// Runs one command line. Results go to `out`, diagnostics to `err`. Returns the exit code: 0 done (fits and safe),
/// 1 planned but does not fit or is unsafe, 2 usage or input error, 70 internal error.
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

/// Whether a command has this name.
[[nodiscard]] bool is_command(std::string_view name);

}  // namespace kvplan::cli
