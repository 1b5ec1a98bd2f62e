#include "planner/engines/sglang/admission.hpp"

#include <algorithm>

namespace kvplan::sglang {
namespace {

constexpr double kInitialRatio = 0.7;          // SGLANG_INIT_NEW_TOKEN_RATIO
constexpr double kMinRatioFactor = 0.14;       // SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR
constexpr double kDpAttentionFactor = 0.3;     // server_args: schedule_conservativeness under DP attention
constexpr double kClip = 4096.0;               // SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION

}  // namespace

double steady_new_token_ratio(const EngineOptions& options) {
    double conservativeness = options.schedule_conservativeness;
    if (options.enable_dp_attention && options.dp > 1) conservativeness *= kDpAttentionFactor;
    return std::min(std::min(kInitialRatio * conservativeness, 1.0) * kMinRatioFactor, 1.0);
}

double admitted_requests(const EngineOptions& options, const AdmissionCase& c) {
    const double prompt = private_input(c.request);
    const double resident = mean_footprint(c.request, 1.0);  // page rounding is in the gate's page
    const double held = resident + steady_new_token_ratio(options) * mean_remaining(c, kClip);
    const double gate = c.request.shared_prefix + prompt + reserved_at_admission(c, kClip) + c.page;
    if (held <= 0.0 || c.pool_tokens <= gate) return c.pool_tokens > c.request.input + c.request.output ? 1.0 : 0.0;
    const double by_gate = (c.pool_tokens - gate) / held + 1.0;
    const double by_memory = (c.pool_tokens - c.request.shared_prefix) / mean_footprint(c.request, c.page);
    return std::min(by_gate, by_memory);
}

StepRules step_rules(const EngineOptions& options) {
    return {.mixed = options.enable_mixed_chunk, .two_batches = !options.moe_a2a_backend.empty() && options.moe_a2a_backend != "none"};
}

}  // namespace kvplan::sglang
