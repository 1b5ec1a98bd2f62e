#include "planner/engines/vllm/memory.hpp"

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/engine.hpp"
#include "planner/engines/vllm/offload.hpp"
#include "planner/engines/vllm/versions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

namespace kvplan {
namespace {

using namespace testing;

/// An H100 as its process sees it: 79.19 GiB.
Scenario h100(LlmSpec spec, std::int64_t tp, std::string version, double utilization, std::int64_t max_model_len) {
    Scenario s = scenario_of(std::move(spec), tp, std::move(version));
    s.engine.kind = EngineKind::vllm;
    s.hardware.gpu_memory = gib(79.19);
    s.hardware.gpu_free = gib(tp > 1 ? 77.64 : 78.68);
    s.engine.gpu_memory_utilization = TotalMemoryFraction{utilization};
    s.engine.context_length = max_model_len;
    return s;
}

LlmSpec llama_8b() {
    LlmSpec spec = grouped_model(32, 32, 8, 128);
    spec.hidden_size = 4096;
    spec.vocab_size = 128256;
    spec.max_position_embeddings = 131072;
    for (LayerClass& c : spec.classes) c.ffn = DenseFfn{14336, true};
    return spec;
}

void check_waterfall(const GpuPlan& g) {
    CHECK(g.weights_bytes + g.kv_pool_bytes + g.state_pool_bytes + g.slack_bytes - g.shortfall_bytes == g.free_before_load_bytes.expected);
    CHECK(g.slack_bytes.count() >= 0);
    CHECK(g.shortfall_bytes.count() >= 0);
    // What the slack must hold is not counted twice: graphs outside the budget come out of what the fraction keeps free.
    Bytes items;
    for (const NamedBytes& item : g.slack_items) items += item.bytes;
    if (g.shortfall_bytes.count() == 0 && g.budget_bytes <= g.free_before_load_bytes.expected) CHECK(items <= g.slack_bytes);
}

TEST_CASE("The fraction is of the total memory and rounded up to a byte", "[vllm][memory]") {
    // 79.19 * 0.95 = 75.2305 GiB (log: 75.23), ceil.
    const Scenario s = h100(llama_8b(), 1, "0.19.0", 0.95, 8192);
    CHECK(in_gib(vllm::requested_memory(s, 0.95)) == Approx(75.2305).margin(1e-6));
    CHECK(vllm::requested_memory(s, 1.0) == vllm::process_total(s));
}

TEST_CASE("The non-weight part of the sweep's logs is met within the interval", "[vllm][memory]") {
    // Logs of v0.19 on an H100, max_num_seqs 1024, 8,192 tokens a step: peak activation + non-torch in GiB.
    struct Logged {
        const char* name;
        std::int64_t vocab, hidden, intermediate;
        double observed;
    };
    const Logged rows[] = {{"Llama-3.1-8B", 128256, 4096, 14336, 1.89 + 0.25}, {"phi-4", 100352, 5120, 17920, 1.52 + 0.25},
                           {"Qwen2.5-7B", 152064, 3584, 18944, 2.21 + 0.24},   {"gemma-7b", 256000, 3072, 24576, 3.63 + 0.25},
                           {"codellama-7b", 32016, 4096, 11008, 0.77 + 0.25}};
    for (const Logged& row : rows) {
        LlmSpec spec = llama_8b();
        spec.vocab_size = row.vocab;
        spec.hidden_size = row.hidden;
        for (LayerClass& c : spec.classes) c.ffn = DenseFfn{row.intermediate, true};
        const Estimate<Bytes> total = vllm::overhead(h100(spec, 1, "0.19.0", 0.95, 8192), true, 32).total();
        INFO(row.name << " " << in_gib(total.expected));
        CHECK(in_gib(total.expected) == Approx(row.observed).margin(0.16));
        CHECK(in_gib(total.low) <= row.observed);
        CHECK(in_gib(total.high) >= row.observed);
        // The published fit over the same logs.
        const double v = 1024.0 * static_cast<double>(row.vocab) * 4 / static_cast<double>(kGiB);
        CHECK(in_gib(total.expected) == Approx(0.52 + 3.42 * v).margin(0.25));
    }
}

TEST_CASE("Before v0.17 the sampler sorts and peaks at 9.5 copies of the logits", "[vllm][memory]") {
    // v0.11: 9.5 * 1024 * 128,256 * 4 B = 4.648 GiB + 8,192 * 4,096 * 2 B = 0.0625 + 0.12 = 4.831; a log has 4.76.
    // v0.17: 3.5 * 0.48926 + 0.0625 + 0.12 = 1.895; the sweep of v0.19 has 1.89.
    CHECK(in_gib(vllm::overhead(h100(llama_8b(), 1, "0.11.0", 0.9, 16000), true, 32).activation.expected) == Approx(4.831).margin(0.001));
    CHECK(in_gib(vllm::overhead(h100(llama_8b(), 1, "0.17.0", 0.9, 16000), true, 32).activation.expected) == Approx(1.895).margin(0.001));
    // A stage without the sampler only has the forward pass: 8,192 * 2 * (5 * 4,096 + 3 * 14,336) B = 0.96875 GiB.
    CHECK(in_gib(vllm::overhead(h100(llama_8b(), 1, "0.19.0", 0.9, 16000), false, 16).activation.expected) == Approx(0.96875));
}

TEST_CASE("Memory for KV is what is asked for less weights and the measured peak", "[vllm][memory]") {
    // Llama-3.1-8B: 75.2305 - 14.99 - (1.895 + 0.25) = 58.0955 GiB -> 29,744 blocks -> 475,904 tokens; the log has 58.11 and 476,016.
    const Scenario s = h100(llama_8b(), 1, "0.19.0", 0.95, 8192);
    const PoolPlan p = vllm::pools(s, weights_of(gib(14.99)));
    CHECK(p.capacity.max_total_num_tokens.expected.count() == Approx(476016).epsilon(0.001));
    CHECK(p.capacity.max_total_num_tokens.low <= Tokens{476016});
    CHECK(p.capacity.max_total_num_tokens.high >= Tokens{476016});
    CHECK(*p.capacity.max_concurrency_full_context == Approx(58.11).margin(0.1));
    CHECK(p.capacity.max_running_requests == Requests{1024});
    CHECK(p.gpu.shortfall_bytes.count() == 0);
    check_waterfall(p.gpu);
}

TEST_CASE("Graphs are taken off the KV memory since v0.21, and lie outside the fraction before", "[vllm][memory][graphs]") {
    // 51 sizes, 32 layers: 0.39 + 0.0163 * 32 = 0.9116 GiB (the sweep's log: 0.91).
    Scenario s = h100(llama_8b(), 1, "0.20.0", 0.95, 8192);
    const vllm::StageLoad before = vllm::stage_loads(s, weights_of(gib(14.99))).front();
    CHECK(in_gib(before.overhead.graphs.expected) == Approx(0.9116).margin(1e-4));
    s.engine.version_text = "0.21.0";
    const vllm::StageLoad after = vllm::stage_loads(s, weights_of(gib(14.99))).front();
    const double lost = in_gib(vllm::available_memory(s, before, 0.95).expected);
    s.engine.version_text = "0.20.0";
    CHECK(in_gib(vllm::available_memory(s, before, 0.95).expected) - lost == Approx(0.9116).margin(1e-4));
    CHECK(after.overhead.graphs == before.overhead.graphs);
    s.engine.enforce_eager = true;
    CHECK(vllm::stage_loads(s, weights_of(gib(14.99))).front().overhead.graphs.high == Bytes{0});
}

TEST_CASE("The KV memory can be given, and the fraction then does not count", "[vllm][memory]") {
    Scenario s = h100(llama_8b(), 1, "0.19.0", 0.10, 8192);
    s.engine.kv_cache_memory_bytes = gib(10).count();
    // 10 GiB / 2,097,152 B = 5,120 blocks = 81,920 tokens.
    PoolPlan p = vllm::pools(s, weights_of(gib(14.99)));
    CHECK(p.capacity.max_total_num_tokens == certain(Tokens{81920}, Basis::engine_rule));
    CHECK(p.gpu.kv_pool_bytes == gib(10));
    check_waterfall(p.gpu);
    s.engine.num_gpu_blocks_override = 600;
    CHECK(vllm::pools(s, weights_of(gib(14.99))).capacity.max_total_num_tokens.expected == Tokens{9600});
    // More than the GPU has.
    s.engine.num_gpu_blocks_override.reset();
    s.engine.kv_cache_memory_bytes = gib(70).count();
    p = vllm::pools(s, weights_of(gib(14.99)));
    CHECK(p.gpu.shortfall_bytes.count() > 0);
    CHECK(p.capacity.max_total_num_tokens.expected == Tokens{0});
    check_waterfall(p.gpu);
}

TEST_CASE("One request of the full length must fit, or the engine names the longest that does", "[vllm][memory]") {
    // Qwen3-Coder-480B on one rank: 62 layers, 8 KV heads of 128: 253,952 B a token. 262,144 tokens need 62.00 GiB; with 48.66 GiB the
    // log says 205,728: 12,858 blocks of 4,063,232 B.
    Scenario s = h100(grouped_model(62, 96, 8, 128), 1, "0.10.1", 0.9, 262144);
    s.engine.kv_cache_memory_bytes = gib(48.66).count();
    PoolPlan p = vllm::pools(s, weights_of(gib(10)));
    CHECK(p.capacity.max_total_num_tokens.expected == Tokens{0});
    CHECK(p.capacity.longest_request_tokens == Tokens{205728});
    CHECK(in_gib(p.gpu.shortfall_bytes) == Approx(62.00 - 48.66).margin(0.001));
    check_waterfall(p.gpu);
    s.engine.context_length = 205728;
    p = vllm::pools(s, weights_of(gib(10)));
    CHECK(p.gpu.shortfall_bytes.count() == 0);
    CHECK(p.capacity.longest_request_tokens == Tokens{205728});
    s.engine.context_length = 205729;
    CHECK(vllm::pools(s, weights_of(gib(10))).gpu.shortfall_bytes.count() > 0);
}

TEST_CASE("What the fraction asks for must be free at the start", "[vllm][memory]") {
    // 79.19 * 0.995 = 78.79 GiB, 78.68 are free: 0.11 GiB are lacking.
    Scenario s = h100(llama_8b(), 1, "0.19.0", 0.995, 8192);
    const PoolPlan p = vllm::pools(s, weights_of(gib(14.99)));
    CHECK(in_gib(p.gpu.shortfall_bytes) == Approx(0.995 * 79.19 - 78.68).margin(1e-6));
    CHECK(p.capacity.max_total_num_tokens.expected == Tokens{0});
    check_waterfall(p.gpu);
}

TEST_CASE("The feasible utilization leaves room for one request below and for graphs above", "[vllm][memory][feasible]") {
    Scenario s = h100(llama_8b(), 1, "0.19.0", 0.95, 8192);
    const PoolPlan p = vllm::pools(s, weights_of(gib(14.99)));
    const MemFraction f = p.gpu.mem_fraction;
    REQUIRE(f.feasible_min);
    CHECK(*f.feasible_min < 0.95);
    CHECK(*f.feasible_max > 0.95);
    CHECK(*f.feasible_max < 78.68 / 79.19);
    CHECK(*f.recommended <= *f.feasible_max);
    // Below the least no request fits; the interval takes the favourable end, so go a little further.
    s.engine.gpu_memory_utilization = TotalMemoryFraction{*f.feasible_min - 0.01};
    CHECK(vllm::pools(s, weights_of(gib(14.99))).gpu.shortfall_bytes.count() > 0);
    // Weights that leave nothing: no value works.
    CHECK_FALSE(vllm::pools(s, weights_of(gib(78.5))).gpu.mem_fraction.feasible_min);
}

TEST_CASE("More weights, a longer step or more requests never give more tokens", "[vllm][memory][property]") {
    Scenario s = h100(llama_8b(), 1, "0.19.0", 0.9, 8192);
    std::int64_t before = vllm::pools(s, weights_of(gib(10))).capacity.max_total_num_tokens.expected.count();
    for (const double weights : {12.0, 20.0, 40.0, 66.0, 70.0}) {
        const std::int64_t now = vllm::pools(s, weights_of(gib(weights))).capacity.max_total_num_tokens.expected.count();
        CHECK(now <= before);
        before = now;
    }
    before = vllm::pools(s, weights_of(gib(10))).capacity.max_total_num_tokens.expected.count();
    for (const std::int64_t rows : {1024, 2048, 4096}) {
        s.engine.max_running_requests = rows;
        const std::int64_t now = vllm::pools(s, weights_of(gib(10))).capacity.max_total_num_tokens.expected.count();
        CHECK(now <= before);
        before = now;
    }
}

TEST_CASE("The offloading size is GiB in total, and a latent is stored once since 2026-07-26", "[vllm][offload]") {
    // Kimi-K2 TP8, block 64 (4,497,408 B a rank), X = 300: 322,122,547,200 B. Eight copies: 35,979,264 B a chunk -> 8,953 chunks = 572,992
    // tokens. One copy: 71,624 chunks = 4,583,936 tokens.
    Scenario s = h100(kimi_k2(), 8, "2026-07-25", 0.9, 131072);
    s.engine.page_size = 64;
    s.engine.kv_offloading_size_gib = 300.0;
    s.hardware.nodes = 1;
    HicachePlan host = vllm::host_pools(s, vllm::kv_cache(s), {});
    CHECK(host.enabled);
    CHECK(host.tokens == Tokens{572992});
    CHECK(host.bytes_per_rank == Bytes{8953LL * 4497408});
    CHECK(host.bytes_per_node == host.bytes_per_rank * 8);
    CHECK(host.replication == 8);
    s.engine.version_text = "2026-07-26";
    host = vllm::host_pools(s, vllm::kv_cache(s), {});
    CHECK(host.tokens == Tokens{4583936});
    CHECK(host.replication == 1);
    CHECK(host.bytes_per_node.count() == Approx(71624.0 * 4497408).epsilon(1e-9));
    CHECK(vllm::host_rules(s).pool_in_shm);
    CHECK(vllm::host_rules(s).size_flag == HostRules::SizeFlag::kv_offloading_size);
    s.engine.version_text = "2026-04-13";
    CHECK_FALSE(vllm::host_rules(s).pool_in_shm);
    // Pinned tensors of 61 layers: 8,953 * 73,728 B = 660,086,784 B -> 2^30 each.
    CHECK(vllm::host_pools(s, vllm::kv_cache(s), {}).bytes_per_rank == gib(61));
    s.engine.version_text = "2025-10-31";
    CHECK(vllm::host_rules(s).size_flag == HostRules::SizeFlag::none);
}

TEST_CASE("LMCache's size is of one rank", "[vllm][offload]") {
    // 50 GB (2^30 each) of 131,072 B a token on one rank: 409,600 tokens; eight ranks take 400 GB.
    Scenario s = h100(llama_8b(), 1, "2026-08-17", 0.9, 131072);
    s.engine.lmcache_max_local_cpu_gb = 50.0;
    CHECK(vllm::host_pools(s, vllm::kv_cache(s), {}).tokens == Tokens{409600});
    s.engine.tp = 8;
    const HicachePlan host = vllm::host_pools(s, vllm::kv_cache(s), {});
    CHECK(host.bytes_per_node == gib(400));
    // By the flag, before the server of its own: X / ranks; since then the flag is not passed on.
    s.engine.lmcache_max_local_cpu_gb.reset();
    s.engine.kv_offloading_backend = "lmcache";
    s.engine.kv_offloading_size_gib = 80.0;
    s.engine.version_text = "2026-01-10";
    CHECK(vllm::host_pools(s, vllm::kv_cache(s), {}).bytes_per_rank == gib(10));
    s.engine.version_text = "2026-08-17";
    CHECK(vllm::host_pools(s, vllm::kv_cache(s), {}).bytes_per_rank == Bytes{0});
}

TEST_CASE("Every change of vLLM has a date, a file and a sentence, in order", "[vllm][versions]") {
    RuleDate before{0};
    for (const vllm::ChangeRule& rule : vllm::changes()) {
        INFO(rule.id);
        CHECK(rule.from >= before);
        CHECK_FALSE(rule.file.empty());
        CHECK(rule.note.size() > 20);
        before = rule.from;
    }
    CHECK(vllm::find_version("").match == VersionMatch::newest);
    CHECK(vllm::find_version("0.19.0").match == VersionMatch::release);
    CHECK(vllm::find_version("0.19").date == vllm::find_version("0.19.0").date);
    CHECK(vllm::find_version("0.").match == VersionMatch::unreadable);
    CHECK(vllm::find_version("0.26.0").match == VersionMatch::between);
    CHECK(vllm::find_version("0.5.0").match == VersionMatch::before_table);
    CHECK(vllm::find_version("nonsense").match == VersionMatch::unreadable);
    CHECK(vllm::engine().rules().size() > vllm::changes().size());
}

}  // namespace
}  // namespace kvplan
