#include "models/write_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {
std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
}  // namespace

TEST_CASE("A file is replaced whole and nothing is left beside it", "[output]") {
    const std::string path = test::temporary_file("out/result.json", "old");
    REQUIRE(write_file(path, "new text").empty());
    CHECK(content(path) == "new text");
    CHECK(std::distance(fs::directory_iterator(fs::path(path).parent_path()), fs::directory_iterator{}) == 1);
}

TEST_CASE("A link keeps pointing where it points", "[output]") {
    const std::string target = test::temporary_file("links/target.txt", "old");
    const fs::path link = fs::path(target).parent_path() / "link.txt";
    fs::create_symlink(target, link);
    REQUIRE(write_file(link.string(), "new").empty());
    CHECK(fs::is_symlink(link));
    CHECK(content(target) == "new");
}

TEST_CASE("What is no regular file is written directly, and failures are told", "[output]") {
    CHECK(write_file("/dev/null", "text").empty());
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(write_file("/dev/full", "text").find("No space left") != std::string::npos);
    CHECK(write_file(test::temporary_directory(), "text").find("directory") != std::string::npos);
    CHECK_FALSE(write_file(test::temporary_directory() + "/no/such/folder/x", "text").empty());
}
