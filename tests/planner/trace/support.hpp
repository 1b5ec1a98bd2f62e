#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "planner/trace/trace.hpp"
#include "tests/support/catch.hpp"

namespace kvplan::trace::test {

/// A file that is gone at the end of the test.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& content) {
        static int count = 0;
        path_ = (std::filesystem::temp_directory_path() /
                 ("kvplan-trace-" + std::to_string(::getpid()) + "-" + std::to_string(count++)))
                    .string();
        std::ofstream(path_, std::ios::binary) << content;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// A real trace, where the machine has them: $KVPLAN_SHARED_DIR or the folder "shared" beside the sources.
inline std::optional<std::string> real_trace(const std::string& name) {
    const char* folder = std::getenv("KVPLAN_SHARED_DIR");
    const std::filesystem::path shared =
        folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(KVPLAN_SOURCE_DIR) / ".." / "shared";
    const std::filesystem::path path = shared / "data" / "traces" / name;
    if (!std::filesystem::exists(path)) return std::nullopt;
    return path.string();
}

/// Reads `content` as a trace that has no fault.
inline Trace trace_of(const std::string& content, ReadOptions options = {}) {
    const TemporaryFile file(content);
    Diagnostics diagnostics;
    auto trace = read_trace({file.path()}, options, diagnostics);
    INFO(render(diagnostics));
    REQUIRE(trace.has_value());
    REQUIRE(diagnostics.empty());
    return std::move(*trace);
}

/// One Mooncake line.
inline std::string line(std::int64_t time_ms, std::int64_t input, std::int64_t output, const std::vector<std::int64_t>& ids) {
    std::string text = "{\"timestamp\": " + std::to_string(time_ms) + ", \"input_length\": " + std::to_string(input) +
                       ", \"output_length\": " + std::to_string(output) + ", \"hash_ids\": [";
    for (std::size_t i = 0; i < ids.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
    return text + "]}\n";
}

}  // namespace kvplan::trace::test
