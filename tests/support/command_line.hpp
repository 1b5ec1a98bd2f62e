#pragma once

#include <string>
#include <vector>

namespace kvplan::test {

struct Ran {
    int exit_code = 0;
    std::string out, err;
};

/// Runs `kvplan` in this process.
[[nodiscard]] Ran run_kvplan(const std::vector<std::string>& arguments);

/// A file below a directory that is removed at the end of the test program.
[[nodiscard]] std::string temporary_file(const std::string& name, const std::string& text);
[[nodiscard]] std::string temporary_directory();

/// The shared facts, when they lie beside the source tree or KVPLAN_SHARED_DIR names them; empty otherwise.
[[nodiscard]] std::string shared_directory();

}  // namespace kvplan::test
