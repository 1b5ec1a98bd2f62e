#pragma once

#include <map>
#include <string>
#include <vector>

namespace kvplan::test {

/// What one real deployment printed, from tests/data/log_facts.json: settings as text, figures as printed (GiB on the GPU
/// side, decimal GB for host pools), and how the start ended.
struct LogFacts {
    std::string id, source, engine, version, outcome;
    std::map<std::string, std::string> settings;
    std::map<std::string, double> seen;
    [[nodiscard]] bool has(const std::string& key) const { return seen.count(key) > 0; }
};

[[nodiscard]] std::vector<LogFacts> load_log_facts();

/// How the lines reach the reader.
enum class LogWrapping { plain, rank_tags, source_lines, journald, kubectl, compose_colour, docker_json, cri };
inline constexpr int kWrappings = 8;

struct WrittenLog {
    std::string text;
    std::map<std::string, double> printed;   // the figures that this wording prints
};

/// The facts in the words SGLang's main branch had on `day` (yyyymmdd), written by hand from its sources, not from the
/// reader's tables.
[[nodiscard]] WrittenLog write_sglang_log(const LogFacts& facts, int day, LogWrapping wrapping);

/// The same for vLLM; `day` below 20250301 writes the V0 engine's lines.
[[nodiscard]] WrittenLog write_vllm_log(const LogFacts& facts, int day, LogWrapping wrapping);

/// 46611 -> "46,611".
[[nodiscard]] std::string with_thousands(double n);

}  // namespace kvplan::test
