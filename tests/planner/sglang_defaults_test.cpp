#include "planner/engines/sglang/defaults.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"

namespace kvplan {
namespace {

using namespace testing;

constexpr std::int64_t kH100 = 81559, kH200 = 143771, kB200 = 183359, kL4 = 23034;

double fraction(const Scenario& s) { return sglang::default_fraction(s).value; }

TEST_CASE("v0.4.6 takes the default fraction from a table", "[sglang][defaults]") {
    CHECK(fraction(scenario_of(llama_70b(), 8, "0.4.6.post5", kH100)) == Approx(0.81));
    CHECK(fraction(scenario_of(llama_70b(), 1, "0.4.6.post5", kH100)) == Approx(0.88));
    CHECK(fraction(scenario_of(llama_70b(), 16, "0.4.6.post5", kH100)) == Approx(0.79));
    // H200: min(0.88 + 48 * 1024 * 0.12 / 143,771, (143,771 - 18 * 1024) / 143,771) = min(0.9210, 0.8718).
    CHECK(fraction(scenario_of(llama_70b(), 8, "0.4.6.post5", kH200)) == Approx(0.8718).margin(5e-5));
}

TEST_CASE("v0.4.7 to v0.5.2 reserve by memory class", "[sglang][defaults]") {
    // H200 tp 8: (12 + 4) * 1024 = 16,384 MiB -> 0.886; H100 tp 8: 13.5 * 1024 -> 0.831 (a grok-2 log prints it).
    CHECK(fraction(scenario_of(llama_70b(), 8, "0.5.2", kH200)) == Approx(0.886));
    CHECK(fraction(scenario_of(llama_70b(), 8, "0.5.2rc2", kH100)) == Approx(0.831));
    CHECK(fraction(scenario_of(llama_70b(), 8, "0.5.1", kB200)) == Approx(0.821));
    Scenario s = scenario_of(deepseek_v3(), 8, "0.5.2", kH200);
    s.engine.enable_dp_attention = true;
    s.engine.dp = 8;
    s.engine.speculative.algorithm = "EAGLE";
    // 16,384 + 2,048 + 4,096 = 22,528 -> 1 - 0.15669 = 0.843.
    CHECK(fraction(s) == Approx(0.843));
}

TEST_CASE("v0.5.3 and later add up what they expect to need", "[sglang][defaults]") {
    const std::string before = "2025-12-11", after = "2026-04-05";
    // 512 + 1.5 * 8,192 + 2 * 512 + 8 / 8 * 1,024 = 14,848.
    CHECK(fraction(scenario_of(llama_70b(), 8, before, kH200)) == Approx(0.897));
    CHECK(fraction(scenario_of(llama_70b(), 8, before, kH100)) == Approx(0.818));
    // Prefill graphs: 58 sizes * 8 = 464; a flat 1,536 for latents.
    CHECK(fraction(scenario_of(llama_70b(), 8, after, kH200)) == Approx(0.893));
    CHECK(fraction(scenario_of(deepseek_v3(), 8, after, kH200)) == Approx(0.886));
    CHECK(fraction(scenario_of(deepseek_v3(), 8, after, kH100)) == Approx(0.799));
    // tp 1 has a graph batch of 256: 512 + 12,288 + 512 + 128 = 13,440.
    CHECK(fraction(scenario_of(llama_70b(), 1, before, kH200)) == Approx(0.907));
    // B200: chunk 16,384: 512 + 24,576 + 1,024 + 1,024 = 27,136; tp 1 with 74 sizes: 26,240 + 592 (a Qwen3-8B log prints 0.854).
    CHECK(fraction(scenario_of(llama_70b(), 8, before, kB200)) == Approx(0.852));
    CHECK(fraction(scenario_of(grouped_model(36, 32, 8, 128), 1, after, kB200)) == Approx(0.854));
    Scenario dp = scenario_of(deepseek_v3(), 8, after, kH200);
    dp.engine.enable_dp_attention = true;
    dp.engine.dp = 8;
    // 14,848 + 512 * 8 * 3 + 512 * 8 * 1.5 + 1,536 = 34,816.
    CHECK(fraction(dp) == Approx(0.758));
}

TEST_CASE("Above 60 GiB at least 10 GiB stay free", "[sglang][defaults]") {
    Scenario s = scenario_of(llama_70b(), 1, "2025-12-11", kH100);
    s.engine.chunked_prefill_size = 2048;
    s.engine.cuda_graph_max_bs = 8;
    // 512 + 3,072 + 16 + 128 = 3,728 < 10,240: (81,559 - 10,240) / 81,559.
    CHECK(fraction(s) == Approx(0.874));
    // No floor at 24 GB: 512 + 3,072 + 48 + 128 = 3,760 of 23,034.
    CHECK(fraction(scenario_of(llama_70b(), 1, "2025-12-11", kL4)) == Approx(0.837));
}

TEST_CASE("Drafts are reserved for until they are in the budget", "[sglang][defaults]") {
    const auto with = [](std::string version, std::string algorithm) {
        Scenario s = scenario_of(llama_70b(), 8, std::move(version), kH200);
        s.engine.speculative.algorithm = std::move(algorithm);
        s.engine.disable_piecewise_cuda_graph = true;
        return fraction(s);
    };
    // 14,848 + 2,048, + 4,096 from 2026-02-26, nothing from 2026-06-12; STANDALONE 6,144; NGRAM nothing.
    CHECK(with("2025-12-11", "EAGLE") == Approx(0.882));
    CHECK(with("2026-02-26", "EAGLE") == Approx(0.868));
    CHECK(with("2026-06-12", "EAGLE") == Approx(0.897));
    CHECK(with("2025-12-11", "STANDALONE") == Approx(0.854));
    CHECK(with("2025-12-11", "NGRAM") == Approx(0.897));
}

TEST_CASE("Vision towers lower the default fraction", "[sglang][defaults]") {
    const auto factor = [](std::int64_t layers, std::int64_t hidden, std::string version) {
        LlmSpec spec = llama_70b();
        spec.vision = VisionTower{layers, hidden};
        return sglang::default_fraction(scenario_of(spec, 8, std::move(version), kH200)).vision_factor;
    };
    // 0.95 (1 - 0.1 (32 * 1280^2 / (24 * 1024^2) - 1)) = 0.847; 27 * 1152^2: 0.910; flat 0.90 before v0.5.1.
    CHECK(factor(32, 1280, "0.5.6") == Approx(0.847).margin(5e-4));
    CHECK(factor(27, 1152, "0.5.6") == Approx(0.910).margin(5e-4));
    CHECK(factor(27, 1152, "0.4.9") == Approx(0.90));
    // A huge tower stops at 0.95 * 0.8, a tiny one at 0.95 * 1.05.
    CHECK(factor(80, 4096, "") == Approx(0.76));
    CHECK(factor(1, 64, "") == Approx(0.9975));
}

TEST_CASE("Kimi-K2.5 on eight MI355X had the fraction its log shows", "[sglang][defaults]") {
    // Start-up log of 2026-02-26: 283.56 GiB free, 209.98 after load, pool 160.63: 1 - f = 49.35 / 283.56.
    LlmSpec spec = kimi_k2();
    spec.vision = VisionTower{27, 1152};
    CHECK(fraction(scenario_of(spec, 8, "2026-02-26", 294896, 0)) == Approx(1 - 49.35 / 283.56).margin(2e-4));
}

TEST_CASE("A disaggregated server reserves for what it does", "[sglang][defaults]") {
    Scenario s = scenario_of(llama_70b(), 8, "2026-08-22", kH200);
    s.engine.disaggregation_mode = "decode";
    // 512 + 1.5 * max(512, 2,048) + 1,024 + 1,024 = 5,632, floor 10,240.
    CHECK(fraction(s) == Approx(0.929));
    s.engine.max_running_requests = 8192;
    // 512 + 12,288 + 1,024 + 1,024 = 14,848.
    CHECK(fraction(s) == Approx(0.897));
    s.engine.disaggregation_mode = "prefill";
    // 512 + 12,288 + 1,024 + 464.
    CHECK(fraction(s) == Approx(0.901));
}

TEST_CASE("Without a known GPU memory the fraction is 0.88", "[sglang][defaults]") {
    Scenario s = scenario_of(llama_70b(), 8);
    s.hardware.gpu_memory.reset();
    CHECK(fraction(s) == Approx(0.88));
    CHECK(sglang::chunked_prefill_size(s) == 4096);
    CHECK(sglang::cuda_graph_max_bs(s) == 160);
}

TEST_CASE("Prefill graphs are captured for 8 to 74 sizes", "[sglang][defaults]") {
    CHECK(sglang::captured_prefill_sizes(2048) == 42);
    CHECK(sglang::captured_prefill_sizes(8192) == 58);
    CHECK(sglang::captured_prefill_sizes(16384) == 74);
    CHECK(sglang::captured_prefill_sizes(32) == 8);
    CHECK(sglang::captured_prefill_sizes(3) == 0);
}

TEST_CASE("Decode graphs are captured for a list of batches up to the largest", "[sglang][defaults]") {
    CHECK(sglang::captured_batches(24, false) == std::vector<std::int64_t>{1, 2, 4, 8, 12, 16, 24});
    CHECK(sglang::captured_batches(512, false).back() == 512);
    CHECK(sglang::captured_batches(10, true) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 10});
    for (const std::int64_t most : {1, 7, 160, 200, 513}) CHECK(sglang::captured_batches(most, false).back() == most);
}

TEST_CASE("Some attention backends need whole pages", "[sglang][defaults]") {
    Scenario s = scenario_of(llama_70b(), 8);
    CHECK(sglang::page_size(s) == 1);
    s.engine.page_size = 16;
    s.engine.attention_backend = "trtllm_mha";
    CHECK(sglang::page_size(s) == 16);
    s.engine.page_size = 1;
    CHECK(sglang::page_size(s) == 64);
    s.engine.attention_backend = "fa4";
    CHECK(sglang::page_size(s) == 128);
    CHECK(sglang::page_size(scenario_of(deepseek_v32(), 8)) == 64);
    CHECK(sglang::page_size(scenario_of(deepseek_v4_flash(), 8)) == 256);
}

}  // namespace
}  // namespace kvplan
