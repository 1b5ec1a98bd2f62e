#pragma once

#include <iosfwd>

namespace kvplan::gui {

/// `kvplan-gui`: a window, or with --screenshot a picture of it. Exit codes: 0, 2 (usage, input, no screen), 70.
[[nodiscard]] int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace kvplan::gui
