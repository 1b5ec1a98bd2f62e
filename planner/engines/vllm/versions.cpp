#include "planner/engines/vllm/versions.hpp"

#include <algorithm>
#include <array>

namespace kvplan::vllm {
namespace {

// Trees of 0.9.2, about 0.11.0 and 0.14, and 2026-08-17 were read for these rules. 0.20.0 came on 2026-04-27 from a branch that lacks the
// changes of 2026-04-21. Days of 0.24, 0.27 and 0.28 are of their tags; those
// of 0.16 to 0.23 and 0.25 are between dated neighbours and may be off by a week (a log of 0.22.0 has the capacity line of 2026-06-12).
constexpr std::array<Release, 28> kReleases{{
    {8, 0, 0, 20250318},  {8, 3, 0, 20250406},  {8, 5, 0, 20250428},  {9, 0, 0, 20250515},  {9, 1, 0, 20250610},
    {9, 2, 0, 20250707},  {10, 0, 0, 20250724}, {10, 1, 0, 20250818}, {10, 2, 0, 20250913}, {11, 0, 0, 20251002},
    {11, 1, 0, 20251118}, {11, 2, 0, 20251120}, {12, 0, 0, 20251203}, {13, 0, 0, 20251218}, {14, 0, 0, 20260120},
    {15, 0, 0, 20260129}, {16, 0, 0, 20260213}, {17, 0, 0, 20260306}, {18, 0, 0, 20260320}, {19, 0, 0, 20260403},
    {20, 0, 0, 20260420}, {21, 0, 0, 20260515}, {22, 0, 0, 20260612}, {23, 0, 0, 20260619}, {24, 0, 0, 20260629},
    {25, 0, 0, 20260713}, {27, 0, 0, 20260810}, {28, 0, 0, 20260824},
}};

constexpr std::string_view kCacheConfig = "vllm/config/cache.py", kWorker = "vllm/v1/worker/gpu_worker.py",
                           kUtils = "vllm/v1/core/kv_cache_utils.py", kSpecs = "vllm/v1/kv_cache_interface.py",
                           kOffload = "vllm/v1/kv_offload/", kSampler = "vllm/v1/sample/ops/topk_topp_sampler.py";

std::vector<ChangeRule> table() {
    using C = Change;
    const RuleDate open{0};
    return {
        {C::offload_size_flag, {20251101}, open, "vllm.offload_size", "v0.11.1", kCacheConfig,
         "--kv-offloading-size: GiB of host memory in total over the tensor-parallel ranks."},
        {C::hybrid_padding_125, {20251124}, {20260312}, "vllm.hybrid_padding_125", "v0.12.0", kUtils,
         "Layers of a hybrid are grouped by the largest kind when it has under 1.25 times the layers of the smallest; before: always by the smallest."},
        {C::lmcache_server, {20260120}, open, "vllm.lmcache_server", "v0.14.0", kOffload,
         "The lmcache backend talks to a server of its own: the flag's size is not passed on."},
        {C::state_prefix_cache, {20260129}, open, "vllm.state_prefix_cache", "v0.15.0", kSpecs,
         "Hybrids with states cache prefixes by default: two state blocks a request and group (mode align), one before or with prefix caching off."},
        {C::sampler_without_sort, {20260306}, open, "vllm.sampler_peak", "v0.17.0", kSampler,
         "The profile run's sampler peaks at 3.5 copies of the fp32 logits; before, with a full sort, at 9.5."},
        {C::hybrid_padding_150, {20260312}, open, "vllm.hybrid_padding_150", "v0.18.0", kUtils,
         "The limit of hybrid_padding_125 becomes 1.5."},
        {C::offload_shared_file, {20260414}, open, "vllm.offload_shared_file", "v0.20.0", kOffload,
         "Offloaded KV lies in one file in /dev/shm; before: pinned tensors of each rank, each rounded up to a power of two."},
        {C::graph_estimate, {20260421}, open, "vllm.graph_estimate", "v0.21.0", kWorker,
         "CUDA graphs are estimated before the KV memory is sized and taken off it; before, they came out of what the fraction leaves."},
        {C::utilization_092, {20260421}, open, "vllm.utilization_default", "v0.21.0", kCacheConfig,
         "gpu_memory_utilization is 0.92 by default; 0.90 before."},
        {C::derived_token_line, {20260612}, open, "vllm.derived_token_line", "v0.22.0", kUtils,
         "GPU KV cache size is concurrency x max_model_len; before: blocks // groups x block size, which is too little for hybrids."},
        {C::compressed_packed, {20260615}, open, "vllm.compressed_packed", "v0.24.0", kUtils,
         "DeepSeek-V4: a block is one slab as large as the largest group's pages; before, every group took the pages of all sizes."},
        {C::inflight_by_batches, {20260708}, open, "vllm.inflight_by_batches", "v0.25.0", kSpecs,
         "A window holds the tokens of all batches in flight (two with asynchronous scheduling, or the pipeline stages); before, of one."},
        {C::consumed_memory, {20260720}, open, "vllm.consumed_memory", "", kWorker,
         "Non-KV memory is all that is consumed since the worker began, and the peak above it; before: weights + torch peak + non-torch."},
        {C::offload_single_latent, {20260726}, open, "vllm.offload_single_latent", "", kOffload,
         "Latents that are the same on every rank are offloaded once."},
        {C::batched_tokens_16384, {20260817}, open, "vllm.batched_tokens_16384", "v0.28.0", "vllm/engine/arg_utils.py",
         "A server takes 16,384 tokens a step from 160 GiB on; before 8,192 as from 70 GiB."},
    };
}

}  // namespace

namespace {

// People say 0.19 for 0.19.0: patch releases are rare here.
std::string whole_version(std::string_view text) {
    std::string whole(text);
    const bool two_parts = std::count(whole.begin(), whole.end(), '.') == 1 && whole.find_first_not_of("v.0123456789") == std::string::npos && whole.back() != '.';
    if (two_parts) whole += ".0";
    return whole;
}

}  // namespace

Version find_version(std::string_view text) { return kvplan::find_version(whole_version(text), kReleases, changes().back().from); }

RuleDate rule_date(const EngineOptions& options) {
    // Asked for at every rule: without a version text there is nothing to read.
    return options.version_text.empty() ? changes().back().from : find_rule_date(whole_version(options.version_text), kReleases, changes().back().from);
}

const std::vector<ChangeRule>& changes() {
    static const std::vector<ChangeRule> kTable = table();
    return kTable;
}

namespace {

struct Period {
    RuleDate from{99999999}, until{0};  // never in force
};

std::vector<Period> periods() {
    std::vector<Period> list(static_cast<std::size_t>(Change::batched_tokens_16384) + 1);
    for (const ChangeRule& rule : changes()) list.at(static_cast<std::size_t>(rule.change)) = {rule.from, rule.until};
    return list;
}

}  // namespace

bool in_force(Change change, RuleDate date) {
    static const std::vector<Period> kPeriods = periods();
    const Period& period = kPeriods[static_cast<std::size_t>(change)];
    return period.from <= date && (period.until.yyyymmdd == 0 || date < period.until);
}

bool in_force(Change change, const EngineOptions& options) { return in_force(change, rule_date(options)); }

}  // namespace kvplan::vllm
