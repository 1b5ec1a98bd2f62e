#include "planner/engine_flags.hpp"

#include <algorithm>

namespace kvplan {

namespace {

struct Own {
    std::string_view field, flag;
};
// The first spelling of a field is SGLang's; vLLM spells some of the shared ones its own way.
constexpr Own kSglang[] = {{"model", "--model-path"}, {"draft_model", "--speculative-draft-model-path"}, {"nodes", "--nnodes"}, {"quantization", "--quantization"}};
constexpr Own kVllm[] = {{"model", "--model"}, {"nodes", "--nnodes"}, {"quantization", "--quantization"},
                         {"tp_size", "--tensor-parallel-size"}, {"dp_size", "--data-parallel-size"}, {"pp_size", "--pipeline-parallel-size"},
                         {"context_length", "--max-model-len"}, {"page_size", "--block-size"}, {"max_running_requests", "--max-num-seqs"},
                         {"disable_radix_cache", "--no-enable-prefix-caching"}, {"max_loras", "--max-loras"}, {"mamba_ssm_dtype", "--mamba-ssm-cache-dtype"}};
// Fields that no flag of that name sets: members of --speculative-config, variables, and the planner's own.
constexpr std::string_view kNoFlag[] = {"engine", "lmcache_max_local_cpu_size", "pp_layer_partition"};
constexpr std::string_view kNoFlagOfVllm[] = {"draft_model", "speculative_algorithm", "speculative_num_draft_tokens", "enable_multimodal", "ep_num_redundant_experts"};

constexpr Counterpart kCounterparts[] = {
    {"mem_fraction_static", "--gpu-memory-utilization", "a share of the total memory, not of what is free before load", true},
    {"gpu_memory_utilization", "--mem-fraction-static", "a share of what is free before load, not of the total memory", true},
    {"enable_dp_attention", "--data-parallel-size", "each data-parallel engine of vLLM has its own KV", false},
    {"hicache_size", "--kv-offloading-size", "in GiB and the total over the ranks, not GB per rank", false},
    {"kv_offloading_size", "--hicache-size", "in decimal GB per rank, not GiB in total", false},
    {"chunked_prefill_size", "--max-num-batched-tokens", "", true},
    {"max_num_batched_tokens", "--chunked-prefill-size", "", true},
    {"ep_size", "--enable-expert-parallel", "", false},
    {"enable_expert_parallel", "--ep-size", "", false},
    {"disable_cuda_graph", "--enforce-eager", "", true},
    {"enforce_eager", "--disable-cuda-graph", "", true},
};

template <std::size_t N>
std::string_view own_flag(const Own (&all)[N], std::string_view field) {
    const Own* found = std::find_if(std::begin(all), std::end(all), [&](const Own& own) { return own.field == field; });
    return found == std::end(all) ? std::string_view{} : found->flag;
}

template <std::size_t N>
bool among(const std::string_view (&all)[N], std::string_view field) {
    return std::find(std::begin(all), std::end(all), field) != std::end(all);
}

}  // namespace

std::string_view engine_flag(const FieldSpec& field, EngineKind engine) {
    const bool vllm = engine == EngineKind::vllm;
    if (among(kNoFlag, field.name) || (vllm && among(kNoFlagOfVllm, field.name))) return {};
    if (const std::string_view own = vllm ? own_flag(kVllm, field.name) : own_flag(kSglang, field.name); !own.empty()) return own;
    if (field.group != FieldGroup::engine || field.flags.empty()) return {};
    if (field.engines != FieldEngines::any && (field.engines == FieldEngines::vllm) != vllm) return {};
    return field.flags.front();
}

const Counterpart* find_counterpart(std::string_view field) {
    const auto* found = std::find_if(std::begin(kCounterparts), std::end(kCounterparts), [&](const Counterpart& c) { return c.field == field; });
    return found == std::end(kCounterparts) ? nullptr : found;
}

std::string_view engine_variable(std::string_view field, EngineKind engine) {
    if (field == "lmcache_max_local_cpu_size") return "LMCACHE_MAX_LOCAL_CPU_SIZE";
    if (field == "pp_layer_partition") return engine == EngineKind::vllm ? "VLLM_PP_LAYER_PARTITION" : "SGLANG_PP_LAYER_PARTITION";
    return {};
}

std::string setting_text(EngineKind engine, std::string_view field, std::string_view value) {
    if (const std::string_view variable = engine_variable(field, engine); !variable.empty()) return std::string(variable) + "=" + std::string(value);
    const FieldSpec* spec = find_field(field);
    const std::string_view flag = spec == nullptr ? std::string_view{} : engine_flag(*spec, engine);
    if (flag.empty()) return std::string(field) + "=" + std::string(value);
    if (spec->kind == FieldKind::boolean && value == "true") return std::string(flag);
    return std::string(flag) + " " + std::string(value);
}

}  // namespace kvplan
