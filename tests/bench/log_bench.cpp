#include <benchmark/benchmark.h>

#include <string>

#include "planner/log/log_reader.hpp"

namespace {

/// Serving lines of both engines and access lines, as a busy server's log has them: none of them can be skipped.
std::string serving_log(std::size_t bytes) {
    const std::string block =
        "[2025-10-16 03:22:11 TP0] Decode batch. #running-req: 128, #token: 463488, token usage: 0.60, cuda graph: True, gen throughput (token/s): 4211.37, #queue-req: 17\n"
        "[2025-10-16 03:22:11] INFO:     10.0.0.17:53122 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n"
        "[2025-10-16 03:22:12 TP0] Prefill batch. #new-seq: 1, #new-token: 8192, #cached-token: 1024, token usage: 0.61, #running-req: 128, #queue-req: 16\n"
        "(APIServer pid=1) INFO 10-16 03:22:11 [loggers.py:123] Engine 000: Avg prompt throughput: 5461.2 tokens/s, Avg generation throughput: 1201.0 tokens/s, Running: 64 reqs, Waiting: 3 reqs, GPU KV cache usage: 71.2%, Prefix cache hit rate: 43.1%\n";
    std::string text;
    while (text.size() < bytes) text += block;
    return text;
}

void log_reader(benchmark::State& state) {
    const std::string text = serving_log(std::size_t{64} << 20);
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (auto _ : state) {
        kvplan::logs::LogReader reader;
        for (std::size_t at = 0; at < text.size(); at += kPiece) reader.feed(std::string_view(text).substr(at, kPiece));
        benchmark::DoNotOptimize(reader.finish());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(log_reader)->Unit(benchmark::kMillisecond);

}  // namespace
