#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

constexpr std::string_view kArgs = "server_args.py", kConfigurator = "mem_cache/kv_cache_configurator.py",
                           kPools = "model_executor/pool_configurator.py", kRunner = "model_executor/model_runner.py",
                           kHost = "mem_cache/memory_pool_host.py", kModelConfig = "configs/model_config.py";

std::vector<ChangeRule> table() {
    using C = Change;
    const RuleDate open{0};
    return {
        {C::vlm_factor_flat, {20250101}, {20250823}, "sglang.vlm_factor_flat", "", kArgs,
         "Every vision model starts with 0.90 of the default fraction."},
        {C::draft_slot_pad, {20250101}, {20251224}, "sglang.draft_slot_pad", "", kRunner,
         "Dense drafts add requests * (steps * topk + draft tokens) + 100 slots to the target's pool, beyond the budget."},
        {C::fraction_by_class, {20250610}, {20250929}, "sglang.fraction_by_class", "v0.4.7", kArgs,
         "Default fraction: a reserve by memory class with tp * pp, 2 GiB for drafts, 4 GiB for DP attention. Before: a table by tp * pp."},
        {C::swa_pool, {20250713}, {20260106}, "sglang.swa_pool", "v0.4.10", kRunner,
         "A model whose code reports a sliding window gets a second pool, gpt-oss, Gemma and Olmo apart."},
        {C::vlm_factor_by_tower, {20250823}, open, "sglang.vlm_factor", "v0.5.1", kArgs,
         "Default fraction of vision models: 0.95 times a factor from layers * hidden^2 of the tower, 0.8 to 1.05."},
        {C::write_through_default, {20250828}, open, "sglang.write_through_default", "v0.5.2", kArgs,
         "HiCache writes through by default; before: write_through_selective."},
        {C::fraction_by_terms, {20250929}, open, "sglang.fraction_by_terms", "v0.5.3", kArgs,
         "Default fraction: 512 MiB + 1.5 a chunk token + 2 a captured batch + 128 a rank, at least 10 GiB above 60 GiB, then drafts."},
        {C::host_pool_exact_pinning, {20251031}, open, "sglang.host_pool_exact_pinning", "v0.5.4.post2", kHost,
         "Host pools are registered at their exact size; before: each pinned block was rounded up to a power of two."},
        {C::host_pool_extra_page, {20251112}, open, "sglang.host_pool_extra_page", "v0.5.6", kHost,
         "Host pools hold one page more than the size divides into; before: whole pages by floor."},
        {C::pp_spread_remainder, {20251126}, open, "sglang.pp_spread_remainder", "v0.5.6", "distributed/utils.py",
         "The last layers % pp stages take one more layer each; before: the last stage took the whole remainder."},
        {C::mamba_intermediate_by_request, {20251203}, open, "sglang.mamba_intermediate_by_request", "v0.5.6", kRunner,
         "Drafted states are kept for each running request; before: for each slot."},
        {C::checkpoint_kv_dtype, {20251203}, open, "sglang.checkpoint_kv_dtype", "v0.5.6", kModelConfig,
         "kv_cache_dtype auto follows the checkpoint's kv_cache_quant_algo; before: the model's type."},
        {C::mooncake_segment_by_rank, {20251203}, open, "sglang.mooncake_segment_by_rank", "v0.5.6", "mem_cache/storage/mooncake_store/mooncake_store.py",
         "Each rank registers global_segment_size / tp in RAM; v0.4.10 did not divide it, and between both the day is not known."},
        {C::separate_v_head_dim, {20251219}, open, "sglang.separate_v_head_dim", "", kRunner,
         "Values are sized by their own head_dim; before: by the keys'."},
        {C::swa_allowlist, {20260106}, open, "sglang.swa_allowlist", "v0.5.8", kModelConfig,
         "Two pools only for listed architectures (#16399)."},
        {C::numa_binding, {20260115}, open, "sglang.numa_binding", "v0.5.8", kHost,
         "Host pools are taken from the NUMA node of the GPU."},
        {C::swa_ratio_pools, {20260201}, open, "sglang.swa_ratio_pools", "v0.5.9", kPools,
         "Full tokens = budget / (F nf + r S ns), window tokens = r times that."},
        {C::dsa_trtllm_default, {20260215}, open, "sglang.dsa_trtllm_default", "", kArgs,
         "On compute capability 10 fp8 sparse attention runs with trtllm kernels, which store 576 plain bytes a layer (pull request 18389); before: packed 656."},
        {C::speculative_reserve_4096, {20260226}, {20260612}, "sglang.speculative_reserve", "v0.5.10", kArgs,
         "Default fraction keeps 4 GiB for drafts instead of 2; none since drafts are in the budget."},
        {C::prefill_graph_default, {20260302}, open, "sglang.prefill_graph_default", "v0.5.10", kArgs,
         "Prefill graphs are on: 8 MiB a captured size, 1,536 MiB for latent attention, in the default reserve."},
        {C::max_running_capped, {20260308}, {20260612}, "sglang.max_running_capped", "v0.5.10", kConfigurator,
         "A given max_running_requests is divided by dp and capped by the estimate (4,096 at most)."},
        {C::draft_host_pool, {20260428}, open, "sglang.draft_host_pool", "v0.5.12", kHost,
         "HiCache keeps the draft's KV too (#21125)."},
        {C::v4_main_layers, {20260601}, open, "sglang.v4_main_layers", "v0.5.13", kPools,
         "DeepSeek-V4: main layers only; before: the list of ratios, which holds the MTP layer."},
        {C::draft_in_budget, {20260612}, open, "sglang.draft_in_budget", "v0.5.13", kConfigurator,
         "Draft weights load before the pools and the draft's KV is in the divisor (#23862); before: both came out of the slack."},
        {C::max_running_by_pool, {20260612}, open, "sglang.max_running_by_pool", "v0.5.13", kConfigurator,
         "A given max_running_requests is capped by half the pool's tokens (#27399)."},
        {C::page_first_default, {20260616}, open, "sglang.page_first_default", "", kArgs,
         "HiCache lays host memory out page first; before: layer first."},
        {C::swa_chunk_cap, {20260621}, open, "sglang.swa_chunk_cap", "", kPools,
         "Without a radix cache and with a given max_running_requests the window pool is sized by requests."},
        {C::host_smaller_allowed, {20260626}, open, "sglang.host_smaller_allowed", "", kHost,
         "A host pool below the device pool is a warning; before: an assertion (#28614)."},
        {C::v4_request_state, {20260701}, open, "sglang.v4_request_state", "", kPools,
         "DeepSeek-V4: state of the 128-fold layers is sized by requests (#28612); before: by tokens."},
        {C::activation_tokens, {20260706}, open, "sglang.activation_tokens", "v0.5.15", kArgs,
         "Default fraction: decode-only servers count draft tokens of running requests, prefill-only ones no decode graphs; deepep adds 2 GiB."},
        {C::dsa_fp8_budget_fixed, {20260727}, open, "sglang.dsa_fp8_budget", "", kPools,
         "Sparse latent layers in fp8 are budgeted with the 656 bytes they take (#31992); before: with 576."},
        {C::draft_packed_host_pool, {20260804}, open, "sglang.draft_packed_host_pool", "", kHost,
         "MTP layers are packed into the main host pool: more bytes a token, fewer tokens at a fixed size."},
        {C::indexer_shared_layers, {20260817}, open, "sglang.indexer_shared_layers", "", kPools,
         "Layers that reuse another layer's selection keep no index keys."},
        {C::host_check_by_rank, {20260819}, open, "sglang.host_check_by_rank", "", kHost,
         "Each rank checks its host pool against its share of the host (#35540); before: against the whole host."},
        {C::mamba_pad_slot, {20260822}, open, "sglang.mamba_pad_slot", "", kConfigurator,
         "One state slot is kept as padding."},
        {C::mm_reservation, {20260822}, open, "sglang.mm_reservation", "", kConfigurator,
         "Multimodal caches are taken off the budget: 100 MiB, and 1,024 MiB with a CUDA feature transport."},
        {C::vlm_factor_skips_text, {20260822}, open, "sglang.vlm_factor_skips_text", "", kArgs,
         "No vision factor for language-only and decode-only servers."},
        {C::draft_own_geometry, {20260822}, open, "sglang.draft_own_geometry", "", kPools,
         "Drafts of sparse latent models and block drafts are priced by their own cells."},
        {C::fp4_dequant_token, {20260822}, open, "sglang.fp4_dequant_token", "", kPools,
         "The fp4 cell counts one layer's fp8 workspace for each token."},
        {C::gc_before_measurement, {20260827}, open, "sglang.gc_before_measurement", "", kRunner,
         "Loader remains are collected before the second measurement (#36583)."},
        {C::hicache_auto_size, {20260918}, open, "sglang.hicache_auto_size", "", kHost,
         "With neither ratio nor size the host pool follows the host's memory (#40135)."},
    };
}

}  // namespace

const std::vector<ChangeRule>& changes() {
    static const std::vector<ChangeRule> kChanges = table();
    return kChanges;
}

}  // namespace kvplan::sglang
