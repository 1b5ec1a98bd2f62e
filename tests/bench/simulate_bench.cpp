#include <benchmark/benchmark.h>

#include "planner/simulate/simulate.hpp"

namespace {

using namespace kvplan;
using namespace kvplan::simulate;

/// Lengths like those of the Azure 2023 conversations (prompt 1,155, output 211, c^2 0.9 and 0.6), no prefixes.
void SimulateConversations(benchmark::State& state) {
    const auto admission = static_cast<Admission>(state.range(0));
    constexpr std::int64_t kRequests = 100'000;
    for (auto _ : state) {
        SyntheticOptions synthetic;
        synthetic.input = {LengthDistribution::Kind::lognormal, 1155.0, 0.92};
        synthetic.output = {LengthDistribution::Kind::lognormal, 211.0, 0.6};
        synthetic.requests = kRequests;
        synthetic.longest = 115'000;
        const auto source = synthetic_requests(synthetic);
        Options options;
        options.pool_tokens = 116'000;
        options.admission = admission;
        options.expected_requests = kRequests;
        benchmark::DoNotOptimize(simulate::simulate(*source, options).concurrency.mean);
    }
    state.SetLabel(std::string(name_of(admission)));
    state.counters["requests/s"] = benchmark::Counter(static_cast<double>(state.iterations() * kRequests), benchmark::Counter::kIsRate);
}
BENCHMARK(SimulateConversations)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

}  // namespace
