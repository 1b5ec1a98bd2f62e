#include "planner/throughput/step_time.hpp"

#include <cmath>

#include "planner/concurrency/concurrency.hpp"
#include "planner/throughput/throughput.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

using namespace kvplan;

namespace {

constexpr double kMicro = 1e-6;

WeightMatrix matrix(Component component, std::int64_t rows, std::int64_t cols, Sharding sharding) {
    WeightMatrix m;
    m.component = component;
    m.rows = rows;
    m.cols = cols;
    m.sharding = sharding;
    m.format = plain(DType::bf16);
    return m;
}

// Ten layers of 5,000,000 parameters in bf16 and a head of 5,000,000: 100 MB and 10 MB to read, 100 and 10 MFLOP a token.
// KV: 10 layers x 2 heads x (100 + 100) x 2 B = 8,000 B a token; attention 10 x 2 x 10 heads x 200 = 40,000 FLOP a token of context.
LlmSpec small_model() {
    LlmSpec spec;
    spec.hidden_size = 1000;
    spec.vocab_size = 5000;
    spec.max_position_embeddings = 100'000;
    LayerClass layer;
    layer.attention = GroupedAttention{.query_heads = 10, .kv_heads = 2, .head_dim = 100, .v_head_dim = 100, .window = std::nullopt};
    layer.ffn = DenseFfn{.intermediate = 1000};
    layer.weights = {matrix(Component::attention, 2000, 1000, Sharding::column), matrix(Component::dense_mlp, 3000, 1000, Sharding::column)};
    spec.classes = {layer};
    spec.layer_class.assign(10, 0);
    spec.outside = {matrix(Component::lm_head, 5000, 1000, Sharding::column)};
    return spec;
}

template <class T>
Fact<T> known(double value) {
    Fact<T> fact;
    fact.value = T{value};
    return fact;
}

// 1 TB/s, 100 TFLOPS, 100 GB/s to its peers, 10 GB/s to the host.
std::shared_ptr<GpuSpec> round_gpu() {
    auto gpu = std::make_shared<GpuSpec>(*kvplan::testing::bare_gpu(8));
    gpu->memory_bandwidth = known<BytesPerSecond>(1e12);
    gpu->dense.bf16 = known<Flops>(1e14);
    gpu->peer_link = {LinkKind::nvlink, std::nullopt, known<BytesPerSecond>(1e11), ""};
    gpu->host_link = Link{LinkKind::nvlink_c2c, std::nullopt, known<BytesPerSecond>(1e10), ""};
    return gpu;
}

Scenario small_scenario(std::int64_t tp = 1) {
    Scenario s = kvplan::testing::scenario_of(small_model(), tp);
    s.gpu = round_gpu();
    return s;
}

StepWork small_work(std::int64_t tp = 1) {
    const Scenario s = small_scenario(tp);
    WeightRules rules;
    rules.attention_tp = rules.dense_tp = rules.head_tp = tp;
    return count_work(s, rules, "bfloat16");
}

bool about(double x, double expected) { return std::abs(x - expected) <= 1e-4 * std::abs(expected); }

}  // namespace

TEST_CASE("A decode step reads weights and context and multiplies, one operation after another", "[throughput]") {
    const StepTimer timer(small_work(), *round_gpu(), {.input = 1000, .output = 201, .uncached = 1000}, Costs{});
    const Seconds s = timer.decode_step(10);
    // projections: read 100 MB = 100 us, compute 10 x 1 us -> 100;  head: 10 us against 1 us -> 10
    // context: mean 1,000 + 100.5 tokens x 8,000 B x 10 requests = 88.04 us, compute 4.4 us -> 88.04.   Together 198.04 us.
    CHECK(about(s.total, 198.04 * kMicro));
    CHECK(about(s[Resource::hbm], 198.04 * kMicro));
    CHECK(about(s[Resource::compute], (10 + 1 + 4.402) * kMicro));
    CHECK(s.largest() == Resource::hbm);
    CHECK(timer.decode_steps() == 200);
}

TEST_CASE("Prompts come on top of decoding unless they share steps with it", "[throughput]") {
    ServedRequest request{.input = 1000, .output = 201, .uncached = 1000};
    // 200 steps of 198.04 us = 39,608 us; prompts: 10 x 1,000 tokens x 1 us + heads 1 us + attention 10 x 500,000 x 40,000 FLOP = 2,000 us
    CHECK(about(StepTimer(small_work(), *round_gpu(), request, Costs{}).requests(10).total, 51'609 * kMicro));
    request.mixed = true;
    // projections max(20,000 read, 2,000 + 10,000 multiplied), head 2,000, context max(17,608, 880 + 2,000): 39,608 us
    CHECK(about(StepTimer(small_work(), *round_gpu(), request, Costs{}).requests(10).total, 39'608 * kMicro));
}

TEST_CASE("Tensor parallelism divides reading and adds two reductions a layer", "[throughput][tp]") {
    const StepWork work = small_work(2);
    // 2 reductions x 10 layers x 1,000 x 2 B, of which each of two ranks sends 2 (2-1)/2 = 1: 40,000 B a token
    CHECK(about(work.reduce_bytes, 40'000));
    CHECK(about(work.projections.read_bytes, 50e6));
    CHECK(about(work.kv_write_bytes, 4000));
    const StepTimer timer(work, *round_gpu(), {.input = 1000, .output = 201, .uncached = 1000}, Costs{});
    CHECK(about(timer.decode_step(10)[Resource::links], 10 * 40'000 / 1e11));
    // Four ranks hold one KV head each, two of them a copy: the bytes of a rank fall no further.
    CHECK(about(small_work(4).kv_write_bytes, 4000));
}

TEST_CASE("Latencies of launches and collectives add to every step", "[throughput]") {
    Costs costs;
    costs.kernel_seconds = 1e-6;
    costs.collective_seconds = 3e-6;
    const StepTimer timer(small_work(2), *round_gpu(), {.input = 1000, .output = 201}, costs);
    const StepTimer none(small_work(2), *round_gpu(), {.input = 1000, .output = 201}, Costs{});
    // 10 layers x 6 launches + 20 collectives x 3 us = 120 us
    CHECK(about(timer.decode_step(4).total - none.decode_step(4).total, 120 * kMicro));
}

TEST_CASE("Context sums follow windows, chunks and whole contexts", "[throughput]") {
    using Reach = ContextReads::Reach;
    CHECK(context_sum({.reach = Reach::all}, 50, 150) == 10'000);                     // (150^2 - 50^2)/2
    CHECK(context_sum({.reach = Reach::window, .limit = 100}, 50, 150) == 8750);      // (100^2 - 50^2)/2 + 50 x 100
    CHECK(context_sum({.reach = Reach::chunk, .limit = 100}, 50, 150) == 6250);       // (100^2 - 50^2)/2 + 50 x 50
    CHECK(context_sum({.reach = Reach::window, .limit = 100}, 0, 80) == 3200);
}

TEST_CASE("Skewed routing touches fewer experts", "[throughput][moe]") {
    const ExpertLayers ten{.layers = 1, .experts = 10, .top_k = 2, .bytes = 1};
    CHECK(about(touched_experts(ten, 1, 0.2), 2));
    CHECK(about(touched_experts(ten, 1, 0.8), 2));
    // all alike, 2 tokens: 10 (1 - 0.8^2) = 3.6;  80/20: 2 (1 - 0.2^2) + 8 (1 - 0.95^2) = 1.92 + 0.78
    CHECK(about(touched_experts(ten, 2, 0.2), 3.6));
    CHECK(about(touched_experts(ten, 2, 0.8), 2.7));
    CHECK(about(touched_experts(ten, 1e6, 0.8), 10));
}

TEST_CASE("Weight-only formats multiply in 16 bits, the others in their own type where the GPU has it", "[throughput]") {
    LlmSpec model;
    GpuSpec hopper = *round_gpu(), blackwell = hopper;
    hopper.dense.fp8 = blackwell.dense.fp8 = known<Flops>(2e14);
    blackwell.dense.fp4 = known<Flops>(4e14);
    const auto of = [&](Scheme scheme, const GpuSpec& gpu) { StorageFormat f; f.scheme = scheme; return compute_type(f, model, gpu); };
    CHECK(of(Scheme::packed_int, blackwell) == ComputeType::half);
    CHECK(of(Scheme::fp8_block, hopper) == ComputeType::fp8);
    CHECK(of(Scheme::fp8_block, *round_gpu()) == ComputeType::half);
    CHECK(of(Scheme::nvfp4, hopper) == ComputeType::half);
    CHECK(of(Scheme::nvfp4, blackwell) == ComputeType::fp4);
    CHECK(of(Scheme::mxfp4, hopper) == ComputeType::half);
    CHECK(of(Scheme::mxfp4, blackwell) == ComputeType::fp8);
}

TEST_CASE("Speculative decoding shares one reading of the weights among the tokens of a step", "[throughput][speculative]") {
    ServedRequest request{.input = 1000, .output = 201};
    const StepTimer plain_timer(small_work(), *round_gpu(), request, Costs{});
    request.tokens_per_step = request.verified_per_step = 4;
    const StepTimer drafted(small_work(), *round_gpu(), request, Costs{});
    CHECK(drafted.decode_steps() == 50);
    CHECK(about(drafted.decode_step(1)[Resource::hbm], plain_timer.decode_step(1)[Resource::hbm]));
    CHECK(about(drafted.decode_step(1)[Resource::compute], 4 * plain_timer.decode_step(1)[Resource::compute]));
}

namespace {

Plan with_pool(const Scenario& s, std::int64_t tokens) {
    Plan p;
    p.fits = true;
    p.parallelism = parallelism(s);
    p.capacity.max_total_num_tokens = certain(Tokens{tokens});
    p.capacity.max_running_requests = Requests{4096};
    p.capacity.longest_request_tokens = Tokens{tokens};
    p.concurrency = plan_concurrency(s, p);
    return p;
}

Rates rates_of(Scenario s, double input, double output, std::int64_t pool, double bandwidth = 1e12, std::optional<double> hits = std::nullopt, bool host = false) {
    s.workload.input_tokens = input;
    s.workload.output_tokens = output;
    s.workload.hit_rate = hits;
    auto gpu = std::make_shared<GpuSpec>(*s.gpu);
    gpu->memory_bandwidth = known<BytesPerSecond>(bandwidth);
    s.gpu = gpu;
    Plan p = with_pool(s, pool);
    p.hicache.enabled = host;
    return plan_throughput(s, p);
}

}  // namespace

TEST_CASE("A ceiling never falls with memory, bandwidth or hits, and never rises with length", "[throughput][property]") {
    const Scenario s = small_scenario();
    double last = 0.0;
    for (std::int64_t pool = 2000; pool < 2'000'000; pool *= 2) {
        const Rates rates = rates_of(s, 500, 500, pool);
        REQUIRE(rates.throughput.output);
        CHECK(rates.throughput.output->value >= last);
        CHECK(rates.throughput.expected_output_tokens_per_second->high <= rates.throughput.output->value);
        CHECK(rates.latency.itl_seconds->low <= rates.latency.itl_seconds->expected);
        CHECK(rates.latency.ttft_seconds->low <= rates.latency.ttft_seconds->expected);
        last = rates.throughput.output->value;
    }
    CHECK(rates_of(s, 500, 500, 100'000, 2e12).throughput.output->value >= rates_of(s, 500, 500, 100'000, 1e12).throughput.output->value);
    CHECK(rates_of(s, 500, 500, 100'000, 1e12, 0.5).throughput.output->value >= rates_of(s, 500, 500, 100'000, 1e12, 0.0).throughput.output->value);
    last = 1e300;
    for (double input = 100; input < 50'000; input *= 2) {
        const double now = rates_of(s, input, 500, 100'000).throughput.output->value;
        CHECK(now <= last);
        last = now;
    }
}

TEST_CASE("Few running requests are limited by admission, many by a resource", "[throughput]") {
    const Scenario s = small_scenario();
    CHECK(rates_of(s, 500, 500, 3000).throughput.limited_by == "admission");
    CHECK(rates_of(s, 500, 500, 3'000'000).throughput.limited_by == "hbm");
    CHECK(rates_of(s, 5000, 5, 3'000'000).throughput.limited_by == "compute");
    const Rates rates = rates_of(s, 500, 500, 300'000);
    CHECK(rates.throughput.curve.size() > 5);
    for (std::size_t i = 1; i < rates.throughput.curve.size(); ++i)
        CHECK(rates.throughput.curve[i].output_tokens_per_second >= rates.throughput.curve[i - 1].output_tokens_per_second);
}

TEST_CASE("A host tier is worth its hits unless its link is slower than computing", "[throughput][hicache]") {
    const Scenario s = small_scenario();
    // A token computed: 100 MFLOP at 0.60 of 100 TFLOPS = 1.67 us and its attention; loaded: 8,000 B at 0.8 of 10 GB/s = 1 us.
    const Rates fast = rates_of(s, 1000, 2, 1'000'000, 1e12, 0.5, true);
    REQUIRE(fast.throughput.host_tier);
    CHECK(about(fast.throughput.host_tier->host_link_seconds, 500 * 8000 / 8e9));
    CHECK(fast.throughput.host_tier->prefill_seconds_saved > 500 * 1.5e-6);
    CHECK(fast.throughput.host_tier->output_change_per_second > 0);
    Scenario slow = s;
    auto gpu = std::make_shared<GpuSpec>(*s.gpu);
    gpu->host_link->each_way = known<BytesPerSecond>(1e9);
    slow.gpu = gpu;
    CHECK(rates_of(slow, 1000, 2, 1'000'000, 1e12, 0.9, true).throughput.host_tier->output_change_per_second < 0);
}

TEST_CASE("Without lengths, or on a GPU without known rates, nothing is said of throughput", "[throughput]") {
    Scenario s = small_scenario();
    CHECK_FALSE(plan_throughput(s, with_pool(s, 100'000)).throughput.output);
    s.workload.request_tokens = 4000;
    CHECK_FALSE(plan_throughput(s, with_pool(s, 100'000)).throughput.output);
    Scenario bare = s;
    bare.gpu = kvplan::testing::bare_gpu(9);
    bare.workload.input_tokens = bare.workload.output_tokens = 500;
    CHECK_FALSE(plan_throughput(bare, with_pool(bare, 100'000)).throughput.output);
}
