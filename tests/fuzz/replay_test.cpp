// Every input of the corpora once more, without a fuzzer: seeds, and what a fuzzer found.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/fuzz/targets.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("No reader crashes on any input of its corpus", "[fuzz]") {
    const std::filesystem::path corpora = std::filesystem::path(KVPLAN_SOURCE_DIR) / "tests/fuzz/corpus";
    for (const fuzz::Target& target : fuzz::targets()) {
        std::size_t inputs = 0;
        for (const auto& entry : std::filesystem::directory_iterator(corpora / target.name)) {
            INFO(entry.path().string());
            CHECK_NOTHROW(target.run(bytes_of(entry.path())));
            ++inputs;
        }
        INFO(target.name);
        CHECK(inputs >= 3);
    }
}

TEST_CASE("No reader crashes on inputs cut short or with one byte changed", "[fuzz]") {
    const std::filesystem::path corpora = std::filesystem::path(KVPLAN_SOURCE_DIR) / "tests/fuzz/corpus";
    for (const fuzz::Target& target : fuzz::targets()) {
        for (const auto& entry : std::filesystem::directory_iterator(corpora / target.name)) {
            const std::string whole = bytes_of(entry.path());
            INFO(entry.path().string());
            for (std::size_t part = 1; part < 8; ++part) CHECK_NOTHROW(target.run(std::string_view(whole).substr(0, whole.size() * part / 8)));
            for (std::size_t part = 0; part < 8 && !whole.empty(); ++part) {
                std::string changed = whole;
                changed[(whole.size() - 1) * part / 7] ^= 0x15;
                CHECK_NOTHROW(target.run(changed));
            }
        }
    }
}
