#include "planner/engines/vllm/kv_layout.hpp"

#include "planner/engines/vllm/defaults.hpp"
#include "planner/engines/vllm/layer_specs.hpp"
#include "planner/engines/vllm/stages.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

namespace kvplan {
namespace {

using namespace testing;

Scenario vllm_of(LlmSpec spec, std::int64_t tp, std::string version, std::int64_t max_model_len, std::int64_t memory_mib = 81559) {
    Scenario s = scenario_of(std::move(spec), tp, std::move(version), memory_mib);
    s.engine.kind = EngineKind::vllm;
    s.engine.context_length = max_model_len;
    return s;
}

vllm::KvLayout layout_of(const Scenario& s) { return vllm::kv_layout(s, vllm::stages(s).front()); }

/// `full` layers of full attention and `windowed` ones, alike in shape.
LlmSpec hybrid(std::int64_t full, std::int64_t windowed, std::int64_t window, bool chunked, std::int64_t kv_heads, std::int64_t head_dim) {
    LlmSpec spec = grouped_model(full + windowed, kv_heads, kv_heads, head_dim);
    LayerClass other = spec.classes.front();
    auto& attention = std::get<GroupedAttention>(other.attention);
    attention.window = window;
    attention.chunked = chunked;
    spec.classes.push_back(other);
    for (std::int64_t i = full; i < full + windowed; ++i) spec.layer_class[static_cast<std::size_t>(i)] = 1;
    return spec;
}

TEST_CASE("One kind of layers is one group whose block is all layers' pages", "[vllm][kv_cache]") {
    // Llama-3-70B TP8, bf16, block 16: 16 * 1 head * (128 + 128) * 2 = 8,192 B a layer, x 80 = 655,360 B a block.
    Scenario s = vllm_of(llama_70b(), 8, "0.19.0", 8192);
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.block == 16);
    CHECK(layout.block_bytes == Bytes{655360});
    CHECK(layout.groups == 1);
    // More ranks than KV heads: each keeps one head.
    s.engine.tp = 16;
    CHECK(layout_of(s).block_bytes == Bytes{655360});
}

TEST_CASE("Blocks are the whole pages of all layers that the memory holds", "[vllm][kv_cache]") {
    // Llama-3.1-8B on an H100: 32 layers * 16 * 8 * 256 * 2 = 2,097,152 B; 58.11 GiB = 62,395,137,392 B -> 29,752 blocks
    // -> 476,032 tokens; the log (its memory printed with two decimals) has 476,016.
    const Scenario s = vllm_of(grouped_model(32, 32, 8, 128), 1, "0.19.0", 8192);
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.block_bytes == Bytes{2097152});
    const std::int64_t blocks = vllm::blocks_in(layout, gib(58.11));
    CHECK(blocks == 29752);
    CHECK(vllm::printed_tokens(layout, s, blocks) == Tokens{476032});
    CHECK(vllm::blocks_in(layout, Bytes{2097151}) == 0);
    CHECK(vllm::blocks_in(layout, Bytes{-5}) == 0);
}

TEST_CASE("A latent is stored whole on every rank", "[vllm][kv_cache][mla]") {
    // Kimi-K2 TP8, block 64: 64 * 576 * 2 = 73,728 B a layer, x 61 = 4,497,408 B; 46.80 GiB -> 11,173 blocks = 715,072 tokens (log: the same);
    // 40 GiB -> 9,549 blocks = 611,136; 131,072 tokens need 2,048 blocks -> 4.66 x.
    Scenario s = vllm_of(kimi_k2(), 8, "0.19.0", 131072);
    s.engine.page_size = 64;
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.block_bytes == Bytes{4497408});
    CHECK(vllm::blocks_in(layout, gib(46.80)) == 11173);
    CHECK(vllm::printed_tokens(layout, s, 11173) == Tokens{715072});
    CHECK(vllm::blocks_in(layout, gib(40)) == 9549);
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 2048);
    CHECK(9549.0 / 2048 == Approx(4.66).margin(0.005));
    // Decode context parallel 8: eight parts, each rank an eighth of the tokens. The log of another start has 5,721,088 = 8 * 715,136.
    s.engine.decode_context_parallel = 8;
    CHECK(vllm::printed_tokens(layout_of(s), s, 715136 / 64) == Tokens{5721088});
    CHECK(vllm::blocks_per_request(layout_of(s), s, 131072) == 256);
}

TEST_CASE("Gemma-3-27b: ten full layers make the group, 52 windowed ones fill six with padding", "[vllm][kv_cache][hybrid]") {
    // Page 16 * 16 heads * 256 * 2 = 131,072 B; g = 10; 19.53 GiB -> 15,998 blocks; 15,998 // 7 * 16 = 36,560 (log 36,560);
    // one request of 8,192: 512 + 6 * 513 blocks -> 4.456 x (log 4.46).
    const Scenario s = vllm_of(hybrid(10, 52, 1024, false, 16, 128), 1, "0.19.0", 8192);
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.groups == 7);
    CHECK(layout.padding_layers == 8);
    CHECK(layout.block_bytes == Bytes{1310720});
    const std::int64_t blocks = vllm::blocks_in(layout, gib(19.53));
    CHECK(blocks == 15998);
    CHECK(vllm::printed_tokens(layout, s, blocks) == Tokens{36560});
    CHECK(vllm::blocks_per_request(layout, s, 8192) == 512 + 6 * 513);
}

TEST_CASE("Equal kinds share groups of their own size", "[vllm][kv_cache][hybrid]") {
    // gpt-oss-20b TP2: 12 full and 12 windowed (128), 4 heads of 64: page 16 * 4 * 128 * 2 = 16,384 B, g = 12; 59.32 GiB -> 323,966 blocks
    // -> 2,591,728 tokens (log 2,591,776); 512 + 513 blocks a request -> 316.06 x (log 316.07).
    const Scenario s = vllm_of(hybrid(12, 12, 128, false, 8, 64), 2, "0.19.0", 8192);
    const vllm::KvLayout layout = layout_of(s);
    const std::int64_t blocks = vllm::blocks_in(layout, gib(59.32));
    CHECK(blocks == 323966);
    CHECK(vllm::printed_tokens(layout, s, blocks) == Tokens{2591728});
    CHECK(vllm::blocks_per_request(layout, s, 8192) == 512 + 513);
    // gemma-2-27b: 23 + 23, 16 heads of 128: 20.59 GiB -> 7,333 blocks -> 58,656 (log 58,672); 512 + 513 -> 7.15 x.
    const Scenario g = vllm_of(hybrid(23, 23, 4096, false, 16, 128), 1, "0.19.0", 8192);
    CHECK(vllm::blocks_in(layout_of(g), gib(20.59)) == 7333);
    CHECK(vllm::printed_tokens(layout_of(g), g, 7333) == Tokens{58656});
}

TEST_CASE("A chunk is not kept beyond its end", "[vllm][kv_cache][hybrid]") {
    // Llama-4-Scout TP4: 12 full + 36 chunked (8,192), 2 heads of 128: page 16,384 B, g = 12, 4 groups; 16.75 GiB -> 91,477 blocks
    // -> 365,904 tokens (log 365,968); 4 * 512 blocks -> 44.67 x (log 44.68).
    const Scenario s = vllm_of(hybrid(12, 36, 8192, true, 8, 128), 4, "0.19.0", 8192);
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.groups == 4);
    const std::int64_t blocks = vllm::blocks_in(layout, gib(16.75));
    CHECK(blocks == 91477);
    CHECK(vllm::printed_tokens(layout, s, blocks) == Tokens{365904});
    CHECK(static_cast<double>(blocks) / static_cast<double>(vllm::blocks_per_request(layout, s, 8192)) == Approx(44.67).margin(0.005));
}

TEST_CASE("Since 2026-06-12 the line is concurrency times the context, and windows hold two batches in flight", "[vllm][kv_cache][hybrid]") {
    // gpt-oss-120b TP1, 50 GiB, N = 131,072: page 16 * 8 * 128 * 2 = 32,768, g = 18 -> 91,022 blocks; full 8,192, windowed ceil((127 +
    // 16,384) / 16) + 1 = 1,033 -> 9,225 -> 9.87 x -> 1,293,272 tokens. Before: 728,176 tokens and 91,022 / (8,192 + 521) = 10.45 x.
    Scenario s = vllm_of(gpt_oss_120b(), 1, "2026-08-17", 131072);
    const vllm::KvLayout layout = layout_of(s);
    const std::int64_t blocks = vllm::blocks_in(layout, gib(50));
    CHECK(blocks == 91022);
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 9225);
    CHECK(vllm::printed_tokens(layout, s, blocks) == Tokens{1293272});
    s.engine.version_text = "2026-06-11";
    CHECK(vllm::printed_tokens(layout, s, blocks) == Tokens{728176});
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 8192 + 521);
    s.engine.version_text = "2026-08-17";
    s.engine.async_scheduling = false;
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 8192 + 521);
}

TEST_CASE("Without the hybrid manager windows are full attention", "[vllm][kv_cache][hybrid]") {
    Scenario s = vllm_of(gpt_oss_120b(), 1, "2026-08-17", 131072);
    s.engine.disable_hybrid_kv_cache_manager = true;
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.groups == 1);
    CHECK(layout.block_bytes == Bytes{36 * 32768});
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 8192);
}

TEST_CASE("Kinds of nearly the same size share one group size, from 2026-03-12 up to 1.5 times", "[vllm][kv_cache][hybrid]") {
    // 13 full + 12 windowed: 13 < 1.25 * 12 = 15: since 2025-11-24 g = 13, one padding layer; before g = 12: 2 + 1 groups, 11 padding layers.
    const LlmSpec spec = hybrid(13, 12, 128, false, 8, 64);
    CHECK(layout_of(vllm_of(spec, 1, "2025-11-23", 8192)).groups == 3);
    CHECK(layout_of(vllm_of(spec, 1, "2025-11-23", 8192)).padding_layers == 11);
    CHECK(layout_of(vllm_of(spec, 1, "2025-11-24", 8192)).groups == 2);
    CHECK(layout_of(vllm_of(spec, 1, "2025-11-24", 8192)).padding_layers == 1);
    // 17 of 12: 1.42 times, only since 2026-03-12.
    CHECK(layout_of(vllm_of(hybrid(17, 12, 128, false, 8, 64), 1, "2026-03-11", 8192)).groups == 3);
    CHECK(layout_of(vllm_of(hybrid(17, 12, 128, false, 8, 64), 1, "2026-03-12", 8192)).groups == 2);
}

/// Qwen3.5-27B: 16 full layers (4 KV heads of 256), 48 gated delta nets (48 value heads, 16 key heads of 128, convolution of 4).
LlmSpec qwen35_27b() {
    LlmSpec spec = grouped_model(64, 24, 4, 256);
    spec.architecture = "Qwen3_5ForConditionalGeneration";
    LinearAttention net;
    net.heads = 48;
    net.head_dim = net.state_size = 128;
    net.groups = 16;
    net.conv_kernel = 4;
    net.conv_channels = 2 * 16 * 128 + 48 * 128;
    LayerClass linear = spec.classes.front();
    linear.attention = net;
    spec.classes.push_back(linear);
    for (std::size_t i = 0; i < 64; ++i) spec.layer_class[i] = i % 4 == 3 ? 0 : 1;
    DraftLayers draft;
    draft.layers = 1;
    draft.layer = spec.classes.front();
    spec.draft = draft;
    return spec;
}

TEST_CASE("With states the block grows until an attention page holds one", "[vllm][kv_cache][hybrid][state]") {
    // TP2, fp8 KV: state 5,120 channels * 3 * 2 + 24 * 128 * 128 * 4 = 1,603,584 B; attention 2 * 512 * 1 = 1,024 B a token: 1,566 tokens,
    // whole blocks of 16: 1,568. Page 1,605,632 B, g = 16, groups 1 + 3. 4.99 GiB -> 208 blocks; one request of 131,072: 84 + 3 * 2 = 90
    // blocks -> 2.31 x, 302,921 tokens: what a log of 2x RTX 3090 prints.
    Scenario s = vllm_of(qwen35_27b(), 2, "2026-07-01", 131072, 24576);
    s.engine.kv_cache_dtype = "fp8_e4m3";
    const vllm::KvLayout layout = layout_of(s);
    CHECK(vllm::state_bytes(std::get<LinearAttention>(s.model->classes[1].attention), s) == Bytes{1603584});
    CHECK(layout.block == 1568);
    CHECK(layout.block_bytes == Bytes{16 * 1605632});
    CHECK(vllm::blocks_in(layout, gib(4.99)) == 208);
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 90);
    CHECK(vllm::printed_tokens(layout, s, 208) == Tokens{302921});
    // Prefix caching off: one state a request and group.
    s.engine.disable_radix_cache = true;
    CHECK(vllm::blocks_per_request(layout, s, 131072) == 87);
}

TEST_CASE("A draft layer joins its kind and drafted tokens lengthen the states", "[vllm][kv_cache][hybrid][state]") {
    // TP2, int8 with a scale a token and head: 2 * 2 * (256 + 4) = 1,040 B a token; MTP with 4 tokens: convolution (3 + 4) rows:
    // 5,120 * 7 * 2 + 1,572,864 = 1,644,544 B -> 1,581.3 -> 1,584 tokens, page 1,647,360 B, g = 17 (16 full + 1 draft). 11.10 GiB -> 425
    // blocks; 262,144 tokens: 166 + 3 * (2 + 4) = 184 -> 605,495 tokens: a log of 2x RTX 3090.
    Scenario s = vllm_of(qwen35_27b(), 2, "2026-07-01", 262144, 24576);
    s.engine.kv_cache_dtype = "int8_per_token_head";
    s.engine.speculative.algorithm = "MTP";
    s.engine.speculative.num_draft_tokens = 4;
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.block == 1584);
    CHECK(vllm::blocks_in(layout, gib(11.10)) == 425);
    CHECK(vllm::blocks_per_request(layout, s, 262144) == 184);
    CHECK(vllm::printed_tokens(layout, s, 425) == Tokens{605495});
}

TEST_CASE("Packed sparse latents and their index keys are one group of two page sizes", "[vllm][kv_cache][mla]") {
    // DeepSeek-V3.2 fp8: 64 * 656 = 41,984 and 64 * 132 = 8,448 B a layer, x 61 = 3,076,352 B a block of 64 tokens.
    Scenario s = vllm_of(deepseek_v32(), 8, "2026-08-17", 131072, 143771);
    s.engine.kv_cache_dtype = "fp8_e4m3";
    CHECK(layout_of(s).block_bytes == Bytes{3076352});
    CHECK(layout_of(s).groups == 1);
    CHECK(vllm::blocks_per_request(layout_of(s), s, 131072) == 2048);
    // bf16: 64 * 1,152 + 64 * 132.
    s.engine.kv_cache_dtype = "auto";
    CHECK(layout_of(s).block_bytes == Bytes{61 * 64 * (1152 + 132)});
}

TEST_CASE("DeepSeek-V4's windows and compressor states draw from the pool of the compressed layers", "[vllm][kv_cache][v4]") {
    // V4-Flash, 43 layers (21 by 4, 20 by 128): pages of 256 tokens: 64 * 584 -> 37,440 (aligned to 576), 2 * 584 -> 1,728, index 64 * 132 ->
    // 8,640. 22 layers a group: a block takes 22 * 47,808 = 1,051,776 B. 30,000 tokens with 16,384 in flight: 118 + 2 * 259 + 4,099 + 2,065 =
    // 6,800 blocks = 6.66 GiB; a GH200 with 5.44 GiB said 6.66 GiB and 13,528 tokens.
    Scenario s = vllm_of(deepseek_v4_flash(), 2, "2026-06-01", 30000, 97871);
    s.engine.max_num_batched_tokens = 16384;
    const vllm::KvLayout layout = layout_of(s);
    CHECK(layout.block_bytes == Bytes{1051776});
    CHECK(layout.groups == 5);
    CHECK(vllm::blocks_per_request(layout, s, 30000) == 6800);
    CHECK(in_gib(Bytes{1051776} * 6800) == Approx(6.66).margin(0.005));
    CHECK(vllm::longest_request(layout, s, vllm::blocks_in(layout, gib(5.441)), 30000) == Approx(13528).margin(16));
    // Since v0.24 a block is as large as the largest group: 21 * (37,440 + 8,640) + 20 * 1,728.
    s.engine.version_text = "0.24.0";
    CHECK(layout_of(s).block_bytes == Bytes{1002240});
}

TEST_CASE("The longest request grows with the blocks", "[vllm][kv_cache]") {
    const Scenario s = vllm_of(gpt_oss_120b(), 1, "2026-08-17", 131072);
    const vllm::KvLayout layout = layout_of(s);
    std::int64_t before = 0;
    for (const std::int64_t blocks : {0, 2, 100, 3000, 9224, 9225, 50000}) {
        const std::int64_t longest = vllm::longest_request(layout, s, blocks, 131072);
        CHECK(longest >= before);
        before = longest;
        if (longest > 0) CHECK(vllm::blocks_per_request(layout, s, longest) <= blocks);
    }
    CHECK(vllm::longest_request(layout, s, 9225, 131072) == 131072);
    CHECK(vllm::longest_request(layout, s, 9224, 131072) == 131056);
    CHECK(vllm::longest_request(layout, s, 1, 131072) == 0);
}

TEST_CASE("The layers that do not divide go to the stages before the last", "[vllm][stages]") {
    // 61 layers over 4: 15, 15, 16, 15 (SGLang: the last gets it).
    Scenario s = vllm_of(kimi_k2(), 8, "0.19.0", 8192);
    s.engine.pp = 4;
    const auto stages = vllm::stages(s);
    REQUIRE(stages.size() == 4);
    CHECK(stages[1].count == 15);
    CHECK(stages[2].count == 16);
    CHECK(stages[3].first == 46);
    CHECK(stages[3].count == 15);
    s.engine.parallel_layer_partition = "14,15,16,16";
    CHECK(vllm::stages(s).back().count == 16);
}

TEST_CASE("Scheduler defaults follow the GPU's memory", "[vllm][defaults]") {
    // 79.65 GiB: 1024 requests, 8,192 tokens; 24 GB: 256 and 2,048; 179 GiB: 16,384 tokens since 2026-08-17.
    Scenario s = vllm_of(llama_70b(), 8, "0.19.0", 8192);
    CHECK(vllm::max_num_seqs(s) == 1024);
    CHECK(vllm::max_num_batched_tokens(s) == 8192);
    CHECK(vllm::captured_sizes(s) == 51);
    s.hardware.gpu_memory = mebibytes(24576);
    CHECK(vllm::max_num_seqs(s) == 256);
    CHECK(vllm::max_num_batched_tokens(s) == 2048);
    s.hardware.gpu_memory = mebibytes(183359);
    CHECK(vllm::max_num_batched_tokens(s) == 8192);
    s.engine.version_text = "2026-08-17";
    CHECK(vllm::max_num_batched_tokens(s) == 16384);
    CHECK(vllm::utilization(s) == 0.92);
    s.engine.version_text = "0.20.0";
    CHECK(vllm::utilization(s) == 0.90);
    // 8 requests: graphs for 1, 2, 4, 8, 16.
    s.engine.max_running_requests = 8;
    CHECK(vllm::captured_sizes(s) == 5);
}

}  // namespace
}  // namespace kvplan
