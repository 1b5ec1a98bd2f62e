#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "planner/trace/hit_curve.hpp"
#include "planner/trace/request_scanner.hpp"

namespace {

using namespace kvplan;
using namespace kvplan::trace;

/// Multi-turn conversations that interleave, about 12 million block references in 48,000 requests: each turn repeats
/// its conversation and adds a few blocks, as agents do.
struct Prompts {
    std::vector<std::vector<std::uint64_t>> ids;
    std::int64_t references = 0;
};

Prompts make_prompts() {
    Prompts made;
    std::mt19937_64 random(1);
    std::vector<std::vector<std::uint64_t>> chats(700);
    std::uint64_t next = 0;
    for (int i = 0; i < 48'000; ++i) {
        // A window of conversations is alive at a time.
        auto& chat = chats[static_cast<std::size_t>(i / 80 + static_cast<int>(random() % 80)) % chats.size()];
        if (chat.empty())
            for (int j = 0; j < 124; ++j) chat.push_back(next++);
        for (std::uint64_t j = 0; j < 1 + random() % 8; ++j) chat.push_back(next++);
        made.ids.push_back(chat);
        made.references += static_cast<std::int64_t>(chat.size());
    }
    return made;
}

const Prompts& prompts() {
    static const Prompts made = make_prompts();
    return made;
}

Trace make_trace() {
    Trace trace;
    trace.block_tokens = trace.source_block_tokens = 512;
    for (const auto& ids : prompts().ids) {
        Request request;
        request.input = request.identified = static_cast<std::uint32_t>(ids.size() * 512);
        request.blocks = static_cast<std::uint32_t>(ids.size());
        request.leaf = trace.forest.add(ids);
        trace.requests.push_back(request);
    }
    return trace;
}

void count_references(benchmark::State& state) {
    state.counters["references/s"] =
        benchmark::Counter(static_cast<double>(state.iterations() * prompts().references), benchmark::Counter::kIsRate);
}

/// From ids as a trace has them to the whole curve.
void ExactCurveFromIds(benchmark::State& state) {
    for (auto _ : state) {
        const Trace trace = make_trace();
        const HitCurve curve = hit_curve(trace);
        benchmark::DoNotOptimize(curve.at({}).blocks);
        state.counters["references"] = static_cast<double>(curve.blocks);
        state.counters["distinct"] = static_cast<double>(trace.forest.size());
        state.counters["bytes/distinct"] = static_cast<double>(trace.forest.bytes()) / trace.forest.size();
    }
    count_references(state);
}
BENCHMARK(ExactCurveFromIds)->Unit(benchmark::kMillisecond);

/// The curve alone, the forest being there.
void ExactCurveFromForest(benchmark::State& state) {
    const Trace trace = make_trace();
    for (auto _ : state) benchmark::DoNotOptimize(hit_curve(trace).at({}).blocks);
    count_references(state);
}
BENCHMARK(ExactCurveFromForest)->Unit(benchmark::kMillisecond);

/// JSON Lines in memory -> requests, and a file on disk -> the whole curve.
std::string json_lines() {
    std::string text;
    for (const auto& ids : prompts().ids) {
        text += "{\"timestamp\": 1000, \"input_length\": " + std::to_string(ids.size() * 512) +
                ", \"output_length\": 300, \"hash_ids\": [";
        for (std::size_t i = 0; i < ids.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
        text += "]}\n";
    }
    return text;
}

void ScanJsonLines(benchmark::State& state) {
    const std::string text = json_lines();
    JsonLineScanner scanner;
    for (auto _ : state) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            benchmark::DoNotOptimize(scanner.scan(std::string_view(text).substr(at, end - at)));
            at = end + 1;
        }
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(ScanJsonLines)->Unit(benchmark::kMillisecond);

void FileToCurve(benchmark::State& state) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("kvplan-bench-" + std::to_string(::getpid()) + ".jsonl")).string();
    const std::string text = json_lines();
    std::ofstream(path, std::ios::binary) << text;
    for (auto _ : state) {
        Diagnostics diagnostics;
        const auto trace = read_trace({path}, {}, diagnostics);
        if (!trace) state.SkipWithError("the trace cannot be read");
        else benchmark::DoNotOptimize(hit_curve(*trace).at({}).blocks);
    }
    std::filesystem::remove(path);
    count_references(state);
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(FileToCurve)->Unit(benchmark::kMillisecond);

}  // namespace
