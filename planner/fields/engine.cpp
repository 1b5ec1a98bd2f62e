#include "planner/fields/builders.hpp"

namespace kvplan::fields {

namespace {

constexpr auto kEngine = FieldGroup::engine;
constexpr auto kSglang = FieldEngines::sglang;

FieldSpec engine_name() {
    FieldSpec spec = field({"engine", {"--engine"}, kEngine, "sglang or vllm, with @VERSION or @DATE (default: sglang, newest rules)", FieldEngines::any, "ENGINE[@VERSION]"},
                           FieldKind::text, "");
    spec.set = [](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const std::size_t at = text.find('@');
        const std::string_view name = text.substr(0, at);
        if (name != "sglang" && name != "vllm") return ParseFailure{"sglang or vllm, with @VERSION or @DATE", ""};
        scenario.engine.kind = name == "sglang" ? EngineKind::sglang : EngineKind::vllm;
        scenario.engine.version_text = at == std::string_view::npos ? "" : std::string(text.substr(at + 1));
        return std::nullopt;
    };
    spec.get = [](const Scenario& scenario) -> FieldValue {
        std::string name = scenario.engine.kind == EngineKind::sglang ? "sglang" : "vllm";
        if (!scenario.engine.version_text.empty()) name += "@" + scenario.engine.version_text;
        return name;
    };
    return spec;
}

FieldSpec hicache_size() {
    FieldSpec spec = field({"hicache_size", {"--hicache-size"}, kEngine, "Host pool in decimal GB PER RANK (0: use the ratio); with a unit it is converted", kSglang, "GB"},
                           FieldKind::engine_size, "");
    spec.set = [](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const Parsed<EngineSize> parsed = parse_engine_size(text, kGB);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) return *failure;
        const EngineSize size = std::get<EngineSize>(parsed);
        if (!size.had_unit && size.bytes.count() % kGB != 0)
            return ParseFailure{"a whole number of decimal GB per rank", "the engine takes an integer here"};
        const std::int64_t gb = floor_div(size.bytes.count(), kGB);
        scenario.engine.hicache.size_gb = gb > 0 ? std::optional<std::int64_t>(gb) : std::nullopt;
        return std::nullopt;
    };
    spec.get = [](const Scenario& scenario) -> FieldValue {
        if (!scenario.engine.hicache.size_gb) return std::monostate{};
        return *scenario.engine.hicache.size_gb;
    };
    return spec;
}

FieldSpec kv_dtype() {
    FieldSpec spec = text({"kv_cache_dtype", {"--kv-cache-dtype"}, kEngine, "auto, bfloat16, fp8_e4m3 (fp8), fp8_e5m2, fp4_e2m1, nvfp4, mxfp8, …"}, KVPLAN_FIELD(engine.kv_cache_dtype));
    spec.set = [set = spec.set](Scenario& scenario, std::string_view value) -> std::optional<ParseFailure> {
        if (value == "fp8") value = "fp8_e4m3";
        if (value == "bf16") value = "bfloat16";
        if (value == "fp16" || value == "half") value = "float16";
        for (const std::string_view known : {"auto", "bfloat16", "float16", "float32", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "nvfp4", "fp4_mx_block16", "mxfp8", "fp8_ds_mla", "int8_per_token_head", "fp8_per_token_head", "turboquant"})
            if (value == known) return set(scenario, value);
        return ParseFailure{"a KV cache dtype: auto, bfloat16, float16, fp8_e4m3, fp8_e5m2, fp4_e2m1, nvfp4, fp4_mx_block16, mxfp8, fp8_ds_mla", ""};
    };
    return spec;
}

std::vector<FieldSpec> parallel_fields() {
    return {
        engine_name(),
        integer({"tp_size", {"--tp-size", "--tp", "--tensor-parallel-size", "-tp"}, kEngine, "Tensor parallel ranks"}, kCount, KVPLAN_FIELD(engine.tp)),
        integer({"dp_size", {"--dp-size", "--dp", "--data-parallel-size", "-dp"}, kEngine, "Data parallel workers; without DP attention these are replicas, each with its own pools"}, kCount, KVPLAN_FIELD(engine.dp)),
        integer({"pp_size", {"--pp-size", "--pp", "--pipeline-parallel-size", "-pp"}, kEngine, "Pipeline stages"}, kCount, KVPLAN_FIELD(engine.pp)),
        integer({"ep_size", {"--ep-size", "--ep", "--expert-parallel-size"}, kEngine, "Expert parallel ranks", kSglang}, kCount, KVPLAN_FIELD(engine.ep)),
        toggle({"enable_dp_attention", {"--enable-dp-attention"}, kEngine, "Attention data parallel inside the tensor parallel group", kSglang}, KVPLAN_FIELD(engine.enable_dp_attention)),
        toggle({"enable_dp_lm_head", {"--enable-dp-lm-head"}, kEngine, "lm_head split by the attention group only", kSglang}, KVPLAN_FIELD(engine.enable_dp_lm_head)),
        integer({"decode_context_parallel_size", {"--decode-context-parallel-size", "--dcp-size", "--dcp", "-dcp"}, kEngine, "Decode context parallel ranks: each stores 1/N of the tokens"}, kCount, KVPLAN_FIELD(engine.decode_context_parallel)),
        integer({"attention_context_parallel_size", {"--attention-context-parallel-size", "--attn-cp-size"}, kEngine, "Prefill context parallel ranks", kSglang}, kCount, KVPLAN_FIELD(engine.attention_context_parallel)),
        integer({"moe_dense_tp_size", {"--moe-dense-tp-size"}, kEngine, "Tensor parallel size of dense layers in MoE models", kSglang}, kCount, KVPLAN_FIELD(engine.moe_dense_tp_size)),
        text({"moe_a2a_backend", {"--moe-a2a-backend"}, kEngine, "none, deepep, mooncake, nixl, mori, flashinfer, megamoe", kSglang}, KVPLAN_FIELD(engine.moe_a2a_backend)),
        integer({"ep_num_redundant_experts", {"--ep-num-redundant-experts"}, kEngine, "Extra copies of experts (EPLB)"}, kNonNegative, KVPLAN_FIELD(engine.redundant_experts)),
        text({"pp_layer_partition", {"--pp-layer-partition"}, kEngine, "Layers of each pipeline stage, \"15,15,15,16\" (SGLANG_PP_LAYER_PARTITION)"}, KVPLAN_FIELD(engine.parallel_layer_partition)),
    };
}

std::vector<FieldSpec> memory_fields() {
    return {
        real({"mem_fraction_static", {"--mem-fraction-static"}, kEngine, "Share of the memory that is free before load, for weights and KV", kSglang, "F"}, kOpenFraction, KVPLAN_FIELD(engine.mem_fraction_static)),
        kv_dtype(),
        text({"dtype", {"--dtype"}, kEngine, "Type of unquantized weights and activations (auto, bfloat16, float16, float32)"}, KVPLAN_FIELD(engine.dtype)),
        integer({"context_length", {"--context-length", "--max-model-len"}, kEngine, "Longest request in tokens (default: the model's)"}, kCount, KVPLAN_FIELD(engine.context_length)),
        integer({"page_size", {"--page-size", "--block-size"}, kEngine, "Tokens of one KV page or block"}, kCount, KVPLAN_FIELD(engine.page_size)),
        integer({"max_running_requests", {"--max-running-requests", "--max-num-seqs"}, kEngine, "Upper limit of requests that run at once"}, kCount, KVPLAN_FIELD(engine.max_running_requests)),
        integer({"max_total_tokens", {"--max-total-tokens"}, kEngine, "Upper limit of KV slots of a rank", kSglang}, kPositive, KVPLAN_FIELD(engine.max_total_tokens)),
        integer({"chunked_prefill_size", {"--chunked-prefill-size"}, kEngine, "Prompt tokens of one prefill step (-1: off)", kSglang}, Range{-1, 1e9, false}, KVPLAN_FIELD(engine.chunked_prefill_size)),
        integer({"max_prefill_tokens", {"--max-prefill-tokens"}, kEngine, "Prompt tokens of one prefill batch (default 16384)", kSglang}, kCount, KVPLAN_FIELD(engine.max_prefill_tokens)),
        integer({"cuda_graph_max_bs", {"--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"}, kEngine, "Largest batch with a decode graph", kSglang}, kCount, KVPLAN_FIELD(engine.cuda_graph_max_bs)),
        toggle({"disable_cuda_graph", {"--disable-cuda-graph"}, kEngine, "No decode graphs", kSglang}, KVPLAN_FIELD(engine.disable_cuda_graph)),
        toggle({"disable_piecewise_cuda_graph", {"--disable-piecewise-cuda-graph"}, kEngine, "No prefill graphs", kSglang}, KVPLAN_FIELD(engine.disable_piecewise_cuda_graph)),
        toggle({"disable_radix_cache", {"--disable-radix-cache", "--no-enable-prefix-caching"}, kEngine, "No prefix cache"}, KVPLAN_FIELD(engine.disable_radix_cache)),
        toggle({"disable_overlap_schedule", {"--disable-overlap-schedule"}, kEngine, "No overlap of scheduling and computing", kSglang}, KVPLAN_FIELD(engine.disable_overlap_schedule)),
        toggle({"disable_hybrid_swa_memory", {"--disable-hybrid-swa-memory"}, kEngine, "One KV pool also for models with sliding windows", kSglang}, KVPLAN_FIELD(engine.disable_hybrid_swa_memory)),
        toggle({"enable_mixed_chunk", {"--enable-mixed-chunk"}, kEngine, "Prefill and decode in one step", kSglang}, KVPLAN_FIELD(engine.enable_mixed_chunk)),
        toggle({"enable_symm_mem", {"--enable-symm-mem"}, kEngine, "Symmetric memory for collectives (4 GB set aside)", kSglang}, KVPLAN_FIELD(engine.enable_symm_mem)),
        toggle({"disable_shared_experts_fusion", {"--disable-shared-experts-fusion"}, kEngine, "Shared expert not as one more routed expert", kSglang}, KVPLAN_FIELD(engine.disable_shared_experts_fusion)),
        real({"schedule_conservativeness", {"--schedule-conservativeness"}, kEngine, "Scales the reserve for future tokens (default 1.0)", kSglang}, kNonNegative, KVPLAN_FIELD(engine.schedule_conservativeness)),
        text({"attention_backend", {"--attention-backend"}, kEngine, "flashinfer, fa3, fa4, triton, trtllm_mha, trtllm_mla, flashmla, cutlass_mla, dsa, aiter, …"}, KVPLAN_FIELD(engine.attention_backend)),
        text({"dsa_prefill_backend", {"--dsa-prefill-backend", "--nsa-prefill-backend"}, kEngine, "Kernel of sparse attention in prefill", kSglang}, KVPLAN_FIELD(engine.dsa_prefill_backend)),
        text({"dsa_decode_backend", {"--dsa-decode-backend", "--nsa-decode-backend"}, kEngine, "Kernel of sparse attention in decode", kSglang}, KVPLAN_FIELD(engine.dsa_decode_backend)),
        real({"swa_full_tokens_ratio", {"--swa-full-tokens-ratio"}, kEngine, "Slots of the sliding-window pool over slots of the full pool", kSglang}, kOpenFraction, KVPLAN_FIELD(engine.swa_full_tokens_ratio)),
        real({"mamba_full_memory_ratio", {"--mamba-full-memory-ratio"}, kEngine, "State pool over KV pool in bytes (default 0.9)", kSglang}, kPositive, KVPLAN_FIELD(engine.mamba_full_memory_ratio)),
        integer({"max_mamba_cache_size", {"--max-mamba-cache-size"}, kEngine, "State slots, instead of the ratio", kSglang}, kCount, KVPLAN_FIELD(engine.max_mamba_cache_size)),
        text({"mamba_ssm_dtype", {"--mamba-ssm-dtype", "--mamba-ssm-cache-dtype"}, kEngine, "float32 or bfloat16"}, KVPLAN_FIELD(engine.mamba_ssm_dtype)),
        text({"mamba_scheduler_strategy", {"--mamba-scheduler-strategy"}, kEngine, "auto, no_buffer, extra_buffer", kSglang}, KVPLAN_FIELD(engine.mamba_scheduler_strategy)),
        choice(text({"disaggregation_mode", {"--disaggregation-mode"}, kEngine, "null, prefill or decode", kSglang}, KVPLAN_FIELD(engine.disaggregation_mode)), {"null", "prefill", "decode"}),
        toggle({"enable_multimodal", {"--enable-multimodal"}, kEngine, "Load and serve the vision tower (default true)"}, KVPLAN_FIELD(engine.enable_multimodal)),
        toggle({"mm_enable_dp_encoder", {"--mm-enable-dp-encoder"}, kEngine, "Vision tower whole on every rank", kSglang}, KVPLAN_FIELD(engine.mm_enable_dp_encoder)),
        integer({"max_loras", {"--max-loras-per-batch", "--max-loras"}, kEngine, "LoRA adapters on the GPU at once"}, kNonNegative, KVPLAN_FIELD(engine.max_loras)),
        integer({"max_lora_rank", {"--max-lora-rank"}, kEngine, "Largest rank of these adapters"}, kNonNegative, KVPLAN_FIELD(engine.max_lora_rank)),
        real({"cpu_offload_gb", {"--cpu-offload-gb"}, kEngine, "Weights kept on the host, GiB per rank", FieldEngines::any, "GIB"}, kNonNegative, KVPLAN_FIELD(engine.cpu_offload_gb)),
    };
}

std::vector<FieldSpec> cache_and_speculation_fields() {
    return {
        toggle({"enable_hierarchical_cache", {"--enable-hierarchical-cache"}, kEngine, "HiCache: a second tier of KV in host RAM", kSglang}, KVPLAN_FIELD(engine.hicache.enabled)),
        hicache_size(),
        real({"hicache_ratio", {"--hicache-ratio"}, kEngine, "Host pool over device pool in tokens (default 2.0)", kSglang}, kPositive, KVPLAN_FIELD(engine.hicache.ratio)),
        real({"hicache_host_memory_fraction", {"--hicache-host-memory-fraction"}, kEngine, "Share of the host's memory for all host pools, when neither size nor ratio is given (default 0.8)", kSglang, "F"}, kShare, KVPLAN_FIELD(engine.hicache.host_memory_fraction)),
        choice(text({"hicache_write_policy", {"--hicache-write-policy"}, kEngine, "write_through, write_through_selective or write_back", kSglang}, KVPLAN_FIELD(engine.hicache.write_policy)), {"write_through", "write_through_selective", "write_back"}),
        text({"hicache_mem_layout", {"--hicache-mem-layout"}, kEngine, "layer_first, page_first, page_first_direct, page_head", kSglang}, KVPLAN_FIELD(engine.hicache.mem_layout)),
        text({"hicache_io_backend", {"--hicache-io-backend"}, kEngine, "kernel or direct", kSglang}, KVPLAN_FIELD(engine.hicache.io_backend)),
        text({"hicache_storage_backend", {"--hicache-storage-backend"}, kEngine, "Third tier: file, mooncake, hf3fs, nixl, aibrix, dynamic", kSglang}, KVPLAN_FIELD(engine.hicache.storage_backend)),
        text({"hicache_storage_backend_extra_config", {"--hicache-storage-backend-extra-config"}, kEngine, "JSON for the third tier", kSglang}, KVPLAN_FIELD(engine.hicache.storage_backend_extra_config)),
        text({"speculative_algorithm", {"--speculative-algorithm", "--speculative-algo"}, kEngine, "EAGLE, EAGLE3, NEXTN, STANDALONE, NGRAM, DFLASH, DSPARK"}, KVPLAN_FIELD(engine.speculative.algorithm)),
        integer({"speculative_num_steps", {"--speculative-num-steps"}, kEngine, "Draft steps", kSglang}, kNonNegative, KVPLAN_FIELD(engine.speculative.num_steps)),
        integer({"speculative_eagle_topk", {"--speculative-eagle-topk"}, kEngine, "Branches of a draft step", kSglang}, kCount, KVPLAN_FIELD(engine.speculative.eagle_topk)),
        integer({"speculative_num_draft_tokens", {"--speculative-num-draft-tokens", "--num-speculative-tokens"}, kEngine, "Draft tokens verified in one step"}, kNonNegative, KVPLAN_FIELD(engine.speculative.num_draft_tokens)),
    };
}

}  // namespace

std::vector<FieldSpec> engine_fields() {
    std::vector<FieldSpec> all = parallel_fields();
    for (FieldSpec& field : memory_fields()) all.push_back(std::move(field));
    for (FieldSpec& field : cache_and_speculation_fields()) all.push_back(std::move(field));
    return all;
}

std::vector<FieldSpec> vllm_fields() {
    constexpr auto vllm = FieldEngines::vllm;
    return {
        real({"gpu_memory_utilization", {"--gpu-memory-utilization"}, kEngine, "Share of the device's total memory for everything", vllm, "F"}, kOpenFraction, KVPLAN_FIELD(engine.gpu_memory_utilization)),
        integer({"max_num_batched_tokens", {"--max-num-batched-tokens"}, kEngine, "Tokens of one step", vllm}, kCount, KVPLAN_FIELD(engine.max_num_batched_tokens)),
        integer({"kv_cache_memory_bytes", {"--kv-cache-memory-bytes"}, kEngine, "KV memory of one GPU in bytes, instead of the fraction", vllm, "BYTES"}, kPositive, KVPLAN_FIELD(engine.kv_cache_memory_bytes)),
        real({"kv_offloading_size", {"--kv-offloading-size"}, kEngine, "Host KV in GiB, total over the ranks", vllm, "GIB"}, kPositive, KVPLAN_FIELD(engine.kv_offloading_size_gib)),
        choice(text({"kv_offloading_backend", {"--kv-offloading-backend"}, kEngine, "native or lmcache", vllm}, KVPLAN_FIELD(engine.kv_offloading_backend)), {"native", "lmcache"}),
        real({"lmcache_max_local_cpu_size", {"--lmcache-max-local-cpu-size"}, kEngine, "LMCache host pool, GB per rank (LMCACHE_MAX_LOCAL_CPU_SIZE)", FieldEngines::any, "GB"}, kPositive, KVPLAN_FIELD(engine.lmcache_max_local_cpu_gb)),
        integer({"num_gpu_blocks_override", {"--num-gpu-blocks-override"}, kEngine, "KV blocks, instead of the profiled number", vllm}, kCount, KVPLAN_FIELD(engine.num_gpu_blocks_override)),
        toggle({"disable_hybrid_kv_cache_manager", {"--disable-hybrid-kv-cache-manager"}, kEngine, "Sliding-window layers as full attention", vllm}, KVPLAN_FIELD(engine.disable_hybrid_kv_cache_manager)),
        toggle({"enforce_eager", {"--enforce-eager"}, kEngine, "No CUDA graphs", vllm}, KVPLAN_FIELD(engine.enforce_eager)),
        toggle({"enable_expert_parallel", {"--enable-expert-parallel"}, kEngine, "Experts split over all ranks", vllm}, KVPLAN_FIELD(engine.enable_expert_parallel)),
        toggle({"async_scheduling", {"--async-scheduling"}, kEngine, "Asynchronous scheduling (default true)", vllm}, KVPLAN_FIELD(engine.async_scheduling)),
    };
}

}  // namespace kvplan::fields
