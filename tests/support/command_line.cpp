#include "tests/support/command_line.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/app.hpp"

namespace kvplan::test {

namespace fs = std::filesystem;

Ran run_kvplan(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv{"kvplan"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::ostringstream out, err;
    Ran ran;
    ran.exit_code = cli::run(static_cast<int>(argv.size()), argv.data(), out, err);
    ran.out = out.str();
    ran.err = err.str();
    return ran;
}

std::string temporary_directory() {
    struct Holder {
        fs::path path;
        Holder() {
            std::string pattern = (fs::temp_directory_path() / "kvplan-test-XXXXXX").string();
            path = mkdtemp(pattern.data());
        }
        ~Holder() {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
        Holder(const Holder&) = delete;
        Holder& operator=(const Holder&) = delete;
    };
    static const Holder holder;
    return holder.path.string();
}

std::string temporary_file(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(temporary_directory()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
}

std::string shared_directory() {
    if (const char* named = std::getenv("KVPLAN_SHARED_DIR")) return named;
    const fs::path beside = fs::path(KVPLAN_SOURCE_DIR) / ".." / "shared";
    return fs::exists(beside / "data") ? beside.lexically_normal().string() : std::string{};
}

}  // namespace kvplan::test
