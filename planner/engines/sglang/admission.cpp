#include "planner/engines/sglang/admission.hpp"

#include <algorithm>

#include "planner/engines/sglang/defaults.hpp"

namespace kvplan::sglang {
namespace {

constexpr double kInitialRatio = 0.7;          // SGLANG_INIT_NEW_TOKEN_RATIO
constexpr double kMinRatioFactor = 0.14;       // SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR
constexpr double kDpAttentionFactor = 0.3;     // server_args: schedule_conservativeness under DP attention
constexpr double kClip = 4096.0;               // SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION
constexpr std::int64_t kPrefillTokens = 16384; // server_args: max_prefill_tokens
constexpr std::int64_t kWholePrompts = 1 << 30;

double conservativeness(const EngineOptions& options) {
    return options.schedule_conservativeness * (options.enable_dp_attention && options.dp > 1 ? kDpAttentionFactor : 1.0);
}

}  // namespace

double steady_new_token_ratio(const EngineOptions& options) {
    return std::min(std::min(kInitialRatio * conservativeness(options), 1.0) * kMinRatioFactor, 1.0);
}

double admitted_requests(const EngineOptions& options, const AdmissionCase& c) {
    const double prompt = private_input(c.request);
    const double resident = mean_footprint(c.request, 1.0);  // page rounding is in the gate's page
    const double held = resident + steady_new_token_ratio(options) * mean_remaining(c, kClip);
    const double gate = c.request.shared_prefix + prompt + reserved_at_admission(c, kClip) + c.page;
    if (held <= 0.0 || c.pool_tokens <= gate) return c.pool_tokens > c.request.input + c.request.output ? 1.0 : 0.0;
    // At least the one that came first: an empty pool lets in whatever fits.
    const double by_gate = std::max(1.0, (c.pool_tokens - gate) / held);
    const double by_memory = (c.pool_tokens - c.request.shared_prefix) / mean_footprint(c.request, c.page);
    return std::min(by_gate, by_memory);
}

StepRules step_rules(const Scenario& scenario) {
    const EngineOptions& options = scenario.engine;
    StepRules rules;
    rules.mixed = options.enable_mixed_chunk;
    rules.two_batches = !options.moe_a2a_backend.empty() && options.moe_a2a_backend != "none";
    // The default follows from the GPU; DP attention gives each worker its share (server_args.py).
    if (scenario.gpu) rules.chunk_tokens = chunked_prefill_size(scenario);
    else rules.chunk_tokens = options.chunked_prefill_size.value_or(rules.chunk_tokens);
    if (rules.chunk_tokens > 0 && options.enable_dp_attention && options.dp > 1) rules.chunk_tokens = std::max<std::int64_t>(1, rules.chunk_tokens / options.dp);
    if (rules.chunk_tokens <= 0) rules.chunk_tokens = kWholePrompts;
    rules.prefill_tokens = options.max_prefill_tokens.value_or(kPrefillTokens);
    rules.conservativeness = conservativeness(options);
    rules.evicts_nodes = true;
    return rules;
}

}  // namespace kvplan::sglang
