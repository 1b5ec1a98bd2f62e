#include "planner/engines/layer_partition.hpp"
#include "planner/engines/sglang/kv_cells.hpp"
#include "planner/engines/sglang/stages.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

namespace kvplan {
namespace {

using namespace testing;

double cell(const Scenario& s) { return sglang::kv_cache(s).bytes_per_token.value; }
double budget(const Scenario& s) { return sglang::kv_cache(s).budget_bytes_per_token.value; }

Scenario with_dtype(Scenario s, std::string dtype) {
    s.engine.kv_cache_dtype = std::move(dtype);
    return s;
}

double group_bytes(const KvCachePlan& plan, KvGroupKind kind) {
    double bytes = 0;
    for (const KvGroup& g : plan.groups)
        if (g.kind == kind) bytes += g.bytes_per_token.value;
    return bytes;
}

TEST_CASE("Grouped attention keeps K and V of each local head", "[sglang][kv_cells]") {
    // Llama-3-70B, tp 8: one head of 128, K and V, 80 layers, 2 bytes = 40,960.
    CHECK(cell(scenario_of(llama_70b(), 8)) == 40960);
    // Qwen3-235B has 4 KV heads: at tp 4 one each, at tp 8 one each too, twice. 256 * 94 * 2 = 48,128.
    CHECK(cell(scenario_of(qwen3_235b(), 4)) == 48128);
    CHECK(cell(scenario_of(qwen3_235b(), 8)) == 48128);
    CHECK(sglang::kv_cache(scenario_of(qwen3_235b(), 8)).kv_head_replication == 2);
    CHECK(sglang::kv_cache(scenario_of(qwen3_235b(), 4)).kv_head_replication == 1);
    // fp8 halves it; mxfp8 adds a byte to 32.
    CHECK(cell(with_dtype(scenario_of(llama_70b(), 8), "fp8_e4m3")) == 20480);
    CHECK(cell(with_dtype(scenario_of(llama_70b(), 8), "mxfp8")) == 20480 + 640);
}

TEST_CASE("fp4 keeps half bytes and a scale byte for 16 elements", "[sglang][kv_cells]") {
    // Llama-70B tp 8: 20,480 elements -> 10,240 + 1,280; since 2026-08 one layer's 16-bit keys, 128 * 2 = 256, come on top.
    CHECK(cell(with_dtype(scenario_of(llama_70b(), 8, "2026-07-01"), "fp4_e2m1")) == 11520);
    CHECK(cell(with_dtype(scenario_of(llama_70b(), 8, "2026-08-22"), "fp4_e2m1")) == 11776);
    // DeepSeek-V3: 61 * (288 + 36) = 19,764, and no workspace for a latent.
    CHECK(cell(with_dtype(scenario_of(deepseek_v3(), 8), "fp4_e2m1")) == 19764);
}

TEST_CASE("MLA stores one latent per token, whatever the ranks", "[sglang][kv_cells][mla]") {
    // (512 + 64) * 61 layers * 2 bytes = 70,272.
    CHECK(cell(scenario_of(kimi_k2(), 8)) == 70272);
    CHECK(cell(scenario_of(kimi_k2(), 1)) == 70272);
    CHECK(cell(scenario_of(deepseek_v3(), 16)) == 70272);
    CHECK(cell(with_dtype(scenario_of(kimi_k2(), 8), "fp8_e5m2")) == 35136);
    CHECK(sglang::kv_cache(scenario_of(kimi_k2(), 8)).latent);
}

TEST_CASE("Sparse latents add index keys and have three layouts in fp8", "[sglang][kv_cells][dsa]") {
    // Per layer 1,152 + 132 in 16 bits: 61 layers 78,324, 78 layers 100,152.
    CHECK(cell(scenario_of(deepseek_v32(), 8)) == 78324);
    CHECK(cell(with_dtype(scenario_of(glm_5(), 8), "bfloat16")) == 100152);
    // Hopper, flashmla: 512 + 16 + 128 = 656; (656 + 132) * 61 = 48,068.
    CHECK(cell(with_dtype(scenario_of(deepseek_v32(), 8), "fp8_e4m3")) == 48068);
    CHECK(budget(with_dtype(scenario_of(deepseek_v32(), 8), "fp8_e4m3")) == 48068);
    // Until 2026-07-27 the budget counted 576: 708 * 61 = 43,188.
    CHECK(cell(with_dtype(scenario_of(deepseek_v32(), 8, "2026-07-26"), "fp8_e4m3")) == 48068);
    CHECK(budget(with_dtype(scenario_of(deepseek_v32(), 8, "2026-07-26"), "fp8_e4m3")) == 43188);
    // Compute capability 10 takes the trtllm kernels, which read 576 plain elements; so does AMD.
    CHECK(cell(with_dtype(scenario_of(deepseek_v32(), 8, "", 183359, 10), "fp8_e4m3")) == 43188);
    CHECK(cell(with_dtype(scenario_of(deepseek_v32(), 8, "", 294896, 0), "fp8_e4m3")) == 43188);
    // GLM on capability 12 has kernels of its own with the 656-byte layout.
    CHECK(cell(with_dtype(scenario_of(glm_5(), 8, "", 97887, 12), "fp8_e4m3")) == 78 * 788);
    // A named backend decides: trtllm raw, flashmla packed.
    Scenario named = with_dtype(scenario_of(deepseek_v32(), 8), "fp8_e4m3");
    named.engine.dsa_decode_backend = "trtllm";
    CHECK(cell(named) == 43188);
}

TEST_CASE("KV type auto follows the checkpoint, and the GPU for sparse latents", "[sglang][kv_cells]") {
    CHECK(sglang::kv_cache(scenario_of(llama_70b(), 8)).dtype == "bfloat16");
    LlmSpec quantized = llama_70b();
    quantized.checkpoint_kv_dtype = DType::f8_e4m3;
    CHECK(sglang::kv_cache(scenario_of(quantized, 8)).dtype == "bfloat16");
    quantized.quant_method = "modelopt";
    CHECK(sglang::kv_cache(scenario_of(quantized, 8, "", 24576, 8)).dtype == "bfloat16");
    CHECK(sglang::kv_cache(scenario_of(quantized, 8)).dtype == "fp8_e4m3");
    CHECK(sglang::kv_cache(scenario_of(quantized, 8, "0.5.3")).dtype == "bfloat16");
    CHECK(sglang::kv_cache(scenario_of(deepseek_v32(), 8, "", 183359, 10)).dtype == "fp8_e4m3");
    CHECK(sglang::kv_cache(scenario_of(deepseek_v32(), 8, "", 143771, 9)).dtype == "bfloat16");
    CHECK(sglang::kv_cache(with_dtype(scenario_of(llama_70b(), 8), "fp8")).dtype == "fp8_e4m3");
}

TEST_CASE("Layers that reuse a selection keep no index keys since 2026-08-17", "[sglang][kv_cells][dsa]") {
    // AMD, fp8: 78 * 576 + 21 * 132 = 47,700; with one MTP layer of 576 + 132 = 48,408.
    Scenario s = with_dtype(scenario_of(glm_52(), 4, "2026-09-14", 294896, 0), "fp8_e4m3");
    CHECK(budget(s) == 47700);
    s.engine.speculative.algorithm = "EAGLE";
    CHECK(budget(s) == 48408);
    s.engine.version_text = "2026-08-16";
    s.engine.speculative.algorithm.clear();
    CHECK(budget(s) == 78 * (576 + 132));
}

TEST_CASE("Drafts are in the divisor since 2026-06-12", "[sglang][kv_cells][draft]") {
    // One more of 61 equal layers: 70,272 * 62 / 61 = 71,424.
    Scenario s = scenario_of(kimi_k2(), 8, "2026-07-13");
    s.engine.speculative.algorithm = "EAGLE";
    CHECK(budget(s) == 71424);
    CHECK(cell(s) == 71424);
    s.engine.version_text = "2026-06-11";
    CHECK(budget(s) == 70272);
    CHECK(cell(s) == 71424);  // taken all the same, from the slack
    s.engine.speculative.algorithm = "NGRAM";
    CHECK(cell(s) == 70272);
}

TEST_CASE("Window layers have their own pool where the version lists the model", "[sglang][kv_cells][swa]") {
    // gpt-oss-120b: 8 * 128 * 2 = 2,048 a layer, 18 of each kind: 36,864 + 0.8 * 36,864 = 66,355.2.
    const KvCachePlan plan = sglang::kv_cache(scenario_of(gpt_oss_120b(), 1));
    CHECK(plan.bytes_per_token.value == 36864);
    CHECK(plan.budget_bytes_per_token.value == Approx(66355.2).epsilon(1e-12));
    CHECK(budget(scenario_of(gpt_oss_120b(), 8)) == Approx(8294.4).epsilon(1e-12));
    // v0.5.1 to 2026-01-17 gave gpt-oss one pool: every layer in full.
    CHECK(budget(scenario_of(gpt_oss_120b(), 1, "0.5.6")) == 73728);
    CHECK(budget(scenario_of(gpt_oss_120b(), 1, "2026-01-17")) == 73728);
    CHECK(budget(scenario_of(gpt_oss_120b(), 1, "2026-01-18")) == Approx(66355.2).epsilon(1e-12));
    // From 2026-01-20 to 2026-02-28 not with trtllm_mha, the default of compute capability 10.
    CHECK(budget(scenario_of(gpt_oss_120b(), 1, "2026-02-10", 183359, 10)) == 73728);
    CHECK(budget(scenario_of(gpt_oss_120b(), 1, "2026-02-10", 81559, 9)) == Approx(66355.2).epsilon(1e-12));
    Scenario flag = scenario_of(gpt_oss_120b(), 1);
    flag.engine.disable_hybrid_swa_memory = true;
    CHECK(budget(flag) == 73728);
    CHECK(cell(flag) == 73728);
}

TEST_CASE("The divisor follows the ratio of window slots", "[sglang][kv_cells][swa]") {
    // gemma-4-12B tp 2: 8 full layers * 1 head * 1,024 * 2 = 16,384; 40 window layers * 4 heads * 512 * 2 = 163,840.
    Scenario s = scenario_of(gemma4_12b(), 2, "2026-06");
    CHECK(budget(s) == Approx(147456).epsilon(1e-12));
    s.engine.swa_full_tokens_ratio = 0.1;
    CHECK(budget(s) == Approx(32768).epsilon(1e-12));
    s.engine.swa_full_tokens_ratio = 0.0625;
    CHECK(budget(s) == Approx(26624).epsilon(1e-12));
}

TEST_CASE("A model of window layers only has one pool and no ratio", "[sglang][kv_cells][swa]") {
    LlmSpec spec = gemma4_12b();
    spec.layer_class.assign(48, 0);
    CHECK(budget(scenario_of(spec, 2)) == 48 * 4 * 512 * 2);
    CHECK(cell(scenario_of(spec, 2)) == 48 * 4 * 512 * 2);
}

TEST_CASE("Linear layers cost a slot, not tokens", "[sglang][kv_cells][linear]") {
    // Qwen3-Next tp 4: convolution 8,192 / 4 * 3 * 2 = 12,288, state 8 * 128 * 128 * 4 = 524,288, 36 layers: 19,316,736.
    const KvCachePlan plan = sglang::kv_cache(scenario_of(qwen3_next(), 4));
    CHECK(plan.state_bytes_per_slot == Bytes{19316736});
    // 12 layers, one head of 256 (2 KV heads over 4 ranks): 512 * 12 * 2 = 12,288.
    CHECK(plan.bytes_per_token.value == 12288);
    // Qwen3.5-9B, one GPU: 24 * (8,192 * 3 * 2 + 32 * 128 * 128 * 4) = 51,511,296 and 8 * 4 * 512 * 2 = 32,768.
    const KvCachePlan small = sglang::kv_cache(scenario_of(qwen35_9b(), 1));
    CHECK(small.state_bytes_per_slot == Bytes{51511296});
    CHECK(small.bytes_per_token.value == 32768);
    Scenario half = scenario_of(qwen35_9b(), 1);
    half.engine.mamba_ssm_dtype = "bfloat16";
    CHECK(sglang::kv_cache(half).state_bytes_per_slot == Bytes{24 * (49152 + 1048576)});
}

TEST_CASE("Mamba groups are raised to one a rank", "[sglang][kv_cells][linear]") {
    // 8 groups over 16 ranks: the convolution gets 2 * 8 * 128 channels more. (8,192 + 2,048 + 2,048) / 16 * 3 * 2 = 4,608.
    LinearAttention a;
    a.kind = LinearAttention::Kind::mamba2;
    a.heads = 128;
    a.head_dim = 64;
    a.groups = 8;
    a.state_size = 128;
    a.conv_kernel = 4;
    a.conv_channels = 128 * 64 + 2 * 8 * 128;
    CHECK(sglang::state_bytes(a, scenario_of(qwen3_next(), 16)) == Bytes{4608 + 8 * 64 * 128 * 4});
}

TEST_CASE("DeepSeek-V4 prices a token over all its pools", "[sglang][kv_cells][v4]") {
    // Real logs of 8x H20 print bytes_per_full_token=15955.85 (44 layers, c128 state by tokens).
    CHECK(budget(scenario_of(deepseek_v4_flash(), 8, "2026-05-15")) == Approx(15955.85).epsilon(1e-7));
    // Main layers only, c128 state by requests: 7,705.45.
    CHECK(budget(scenario_of(deepseek_v4_flash(), 8, "2026-07-01")) == Approx(7705.45).epsilon(1e-7));
    CHECK(budget(scenario_of(deepseek_v4_pro(), 8)) == Approx(10993.84).epsilon(1e-6));
    // v0.5.13, ratio 0.15: 118.93 GiB for 3,895,296 tokens.
    Scenario pro = scenario_of(deepseek_v4_pro(), 8, "0.5.13");
    pro.engine.swa_full_tokens_ratio = 0.15;
    CHECK(budget(pro) == Approx(118.93 * 1073741824 / 3895296).epsilon(1e-4));
    // Drafts add one of 43 layers and double the rings.
    Scenario drafts = scenario_of(deepseek_v4_flash(), 8, "2026-07-13");
    drafts.engine.speculative.algorithm = "EAGLE";
    CHECK(budget(drafts) == Approx((2511.2 + 3066 + 91.25 + 693 + 2 * 1344.0) * 44 / 43).epsilon(1e-4));
    // What grows with a request's length: 584 * 21 / 4 + 584 * 20 / 128 + 132 * 21 / 4.
    CHECK(cell(scenario_of(deepseek_v4_flash(), 8)) == Approx(3066 + 91.25 + 693));
}

TEST_CASE("Decode context parallelism splits pages over ranks", "[sglang][kv_cells]") {
    Scenario s = scenario_of(kimi_k2(), 8);
    s.engine.decode_context_parallel = 4;
    CHECK(cell(s) == 70272 / 4.0);
    CHECK(sglang::kv_cache(s).page_size == Tokens{4});
}

TEST_CASE("Groups of a plan sum to its bytes a token", "[sglang][kv_cells]") {
    for (const LlmSpec& spec : {kimi_k2(), deepseek_v32(), glm_52(), llama_70b(), gpt_oss_120b(), qwen3_next(), gemma4_12b(), deepseek_v4_flash()}) {
        for (const char* dtype : {"auto", "fp8_e4m3", "fp4_e2m1"}) {
            const KvCachePlan plan = sglang::kv_cache(with_dtype(scenario_of(spec, 2), dtype));
            double sum = 0;
            for (const KvGroup& g : plan.groups) sum += g.own_window_pool ? 0 : g.bytes_per_token.value;
            INFO(spec.name << " " << dtype);
            CHECK(sum == Approx(plan.bytes_per_token.value));
        }
    }
    CHECK(group_bytes(sglang::kv_cache(scenario_of(deepseek_v32(), 8)), KvGroupKind::indexer) == 61 * 132);
}

TEST_CASE("Pipeline stages take the remainder by version", "[sglang][stages]") {
    const auto counts = [](LlmSpec spec, std::int64_t pp, std::string version) {
        Scenario s = scenario_of(std::move(spec), 1, std::move(version));
        s.engine.pp = pp;
        std::vector<std::int64_t> result;
        for (const StageLayers& stage : sglang::stages(s)) result.push_back(stage.count);
        return result;
    };
    CHECK(counts(grouped_model(61, 8, 8, 64), 4, "2025-12-01") == std::vector<std::int64_t>{15, 15, 15, 16});
    CHECK(counts(grouped_model(62, 8, 8, 64), 4, "2025-12-01") == std::vector<std::int64_t>{15, 15, 16, 16});
    CHECK(counts(grouped_model(62, 8, 8, 64), 4, "2025-11-25") == std::vector<std::int64_t>{15, 15, 15, 17});
    CHECK(counts(grouped_model(4, 8, 8, 64), 4, "") == std::vector<std::int64_t>{1, 1, 1, 1});
    Scenario given = scenario_of(grouped_model(62, 8, 8, 64), 1);
    given.engine.pp = 2;
    given.engine.parallel_layer_partition = "30,32";
    CHECK(sglang::stages(given)[1].first == 30);
    CHECK(layer_partition("30,x").empty());
    CHECK(layer_partition("30,-1").empty());
}

}  // namespace
}  // namespace kvplan
