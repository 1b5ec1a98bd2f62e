#include "planner/engines/sglang/defaults.hpp"

#include <algorithm>
#include <cmath>

#include "planner/engines/sglang/gpu_facts.hpp"
#include "planner/engines/sglang/kv_dtype.hpp"
#include "planner/engines/sglang/versions.hpp"

namespace kvplan::sglang {
namespace {

constexpr double kGi = 1024.0;  // MiB

/// Defaults of one class of GPU memory, for GPUs below `below_gi` GiB.
struct MemoryClass {
    double below_gi;
    std::int64_t chunk, small_tp_bs, large_tp_bs;
};
constexpr MemoryClass kClasses053[] = {{20, 2048, 8, 8},       {35, 2048, 24, 80},      {60, 4096, 32, 160},
                                       {90, 8192, 256, 512},   {160, 8192, 256, 512},   {1e9, 16384, 512, 512}};
// v0.4.7 to v0.5.2.
constexpr MemoryClass kClasses047[] = {{20, 2048, 8, 8},     {35, 2048, 8, 80},     {90, 8192, 160, 160},
                                       {160, 8192, 256, 256}, {1e9, 16384, 512, 512}};
constexpr MemoryClass kUnknownClass{0, 4096, 160, 160};

template <std::size_t N>
const MemoryClass& pick(const MemoryClass (&classes)[N], double mib) {
    for (const MemoryClass& c : classes)
        if (mib < c.below_gi * kGi) return c;
    return classes[N - 1];
}

MemoryClass memory_class(const Scenario& scenario) {
    const auto mib = gpu_facts(scenario).memory_mib;
    const RuleDate date = rule_date(scenario.engine);
    if (!mib) return kUnknownClass;
    if (in_force(Change::fraction_by_terms, date)) return pick(kClasses053, *mib);
    if (in_force(Change::fraction_by_class, date)) return pick(kClasses047, *mib);
    const bool low_end = *mib < 25000;
    const std::int64_t bs = *mib > 96 * kGi ? 256 : 160;
    if (low_end) return {0, 2048, 8, 80};
    return {0, scenario.engine.disaggregation_mode.empty() ? 8192 : 16384, bs, bs};
}

double round3(double x) { return std::round(x * 1000.0) / 1000.0; }

/// v0.4.6: a table by tp * pp.
double fraction_by_table(double mib, std::int64_t ranks) {
    double f = 0.88;
    if (mib <= 81920) f = ranks >= 16 ? 0.79 : ranks >= 8 ? 0.81 : ranks >= 4 ? 0.85 : ranks >= 2 ? 0.87 : 0.88;
    if (mib > 96 * kGi) f = std::min(f + 48 * kGi * (1 - f) / mib, (mib - 18 * kGi) / mib);
    return f;
}

/// v0.4.7 to v0.5.2: by memory class.
std::vector<ReserveTerm> class_reserve(const Scenario& scenario, double mib, std::int64_t ranks) {
    const double n = static_cast<double>(ranks);
    double reserve = 32 * kGi;
    if (mib < 35 * kGi) reserve = (2.8 + n / 10) * kGi;
    else if (mib < 90 * kGi) reserve = (9.5 + n / 2) * kGi;
    else if (mib < 160 * kGi) reserve = (12 + n / 2) * kGi;
    std::vector<ReserveTerm> terms{{"memory_class", reserve}};
    if (speculative(scenario)) terms.push_back({"speculative", 2048});
    if (scenario.engine.enable_dp_attention) terms.push_back({"dp_attention", 4096});
    return terms;
}

double prefill_graph_reserve(const Scenario& scenario) {
    if (!prefill_graphs(scenario)) return 0;
    const bool latent = is_latent(*scenario.model);
    if (latent) return 1536;
    std::int64_t most = chunked_prefill_size(scenario);
    if (scenario.model->architecture == "LlamaForCausalLM" && scenario.model->max_position_embeddings <= 4096) most = std::min<std::int64_t>(most, 4096);
    return 8.0 * static_cast<double>(captured_prefill_sizes(most));
}

double speculative_reserve(const Scenario& scenario, RuleDate date) {
    const std::string& algorithm = scenario.engine.speculative.algorithm;
    if (algorithm.empty() || algorithm == "NGRAM" || in_force(Change::draft_in_budget, date)) return 0;
    if (algorithm == "STANDALONE") return 6144;
    return in_force(Change::speculative_reserve_4096, date) ? 4096 : 2048;
}

/// Tokens that activations are reserved for.
double activation_tokens(const Scenario& scenario, bool decode_only, double max_bs) {
    if (decode_only) {
        const double requests = scenario.engine.max_running_requests ? static_cast<double>(*scenario.engine.max_running_requests) : max_bs;
        return std::max(requests * static_cast<double>(std::max<std::int64_t>(1, draft_tokens(scenario))), 2048.0);
    }
    const std::int64_t chunk = chunked_prefill_size(scenario);
    return std::max(2048.0, static_cast<double>(chunk > 0 ? chunk : scenario.engine.max_prefill_tokens.value_or(16384)));
}

/// v0.5.3 and later.
std::vector<ReserveTerm> term_reserve(const Scenario& scenario, double mib, std::int64_t ranks) {
    const RuleDate date = rule_date(scenario.engine);
    const EngineOptions& engine = scenario.engine;
    const bool new_rule = in_force(Change::activation_tokens, date);
    const bool decode_only = new_rule && engine.disaggregation_mode == "decode";
    const bool prefill_only = new_rule && engine.disaggregation_mode == "prefill";
    const double bs = static_cast<double>(cuda_graph_max_bs(scenario)), dp = static_cast<double>(engine.dp);
    std::vector<ReserveTerm> terms{{"context", 512}, {"activations", 1.5 * activation_tokens(scenario, decode_only, bs)}};
    const bool decode_graphs = !new_rule || (!prefill_only && !engine.disable_cuda_graph);
    if (decode_graphs) terms.push_back({"decode_graphs", 2 * bs});
    terms.push_back({"parallelism", static_cast<double>(ranks) / 8 * 1024});
    if (engine.enable_dp_attention && !prefill_only) terms.push_back({"dp_attention", bs * dp * (bs > 300 ? 4.5 : 3)});
    if (const double graphs = decode_only ? 0 : prefill_graph_reserve(scenario); graphs > 0) terms.push_back({"prefill_graphs", graphs});
    double sum = 0;
    for (const ReserveTerm& term : terms) sum += term.mib;
    if (mib > 60 * kGi && sum < 10 * kGi) terms.push_back({"at_least_10_gib", 10 * kGi - sum});
    if (const double drafts = speculative_reserve(scenario, date); drafts > 0) terms.push_back({"speculative", drafts});
    if (new_rule && engine.moe_a2a_backend == "deepep" && decode_graphs) terms.push_back({"deepep", 2048});
    return terms;
}

double vision_factor(const Scenario& scenario) {
    const RuleDate date = rule_date(scenario.engine);
    if (!scenario.model->vision) return 1.0;
    const bool text_only = !scenario.engine.enable_multimodal || scenario.engine.disaggregation_mode == "decode";
    if (in_force(Change::vlm_factor_skips_text, date) && text_only) return 1.0;
    if (in_force(Change::vlm_factor_flat, date)) return 0.90;
    const auto& tower = *scenario.model->vision;
    if (tower.layers <= 0 || tower.hidden <= 0) return 0.95;
    const double size = static_cast<double>(tower.layers) * static_cast<double>(tower.hidden) * static_cast<double>(tower.hidden);
    return 0.95 * std::clamp(1 - 0.1 * (size / (24.0 * 1024 * 1024) - 1), 0.8, 1.05);
}

template <class T>
bool any_layer(const LlmSpec& model) {
    return std::any_of(model.classes.begin(), model.classes.end(),
                       [](const LayerClass& c) { return std::holds_alternative<T>(c.attention); });
}

}  // namespace

bool is_latent(const LlmSpec& model) { return any_layer<LatentAttention>(model); }
bool is_compressed(const LlmSpec& model) { return any_layer<CompressedAttention>(model); }
bool is_sparse_latent(const LlmSpec& model) {
    return std::any_of(model.classes.begin(), model.classes.end(), [](const LayerClass& c) {
        const auto* latent = std::get_if<LatentAttention>(&c.attention);
        return latent != nullptr && latent->indexer.has_value();
    });
}

bool speculative(const Scenario& scenario) { return !scenario.engine.speculative.algorithm.empty(); }
bool draft_has_layers(const Scenario& scenario) {
    return speculative(scenario) && scenario.engine.speculative.algorithm != "NGRAM";
}

std::int64_t draft_tokens(const Scenario& scenario) {
    if (!speculative(scenario)) return 0;
    const SpeculativeOptions& s = scenario.engine.speculative;
    if (s.num_draft_tokens) return *s.num_draft_tokens;
    const std::int64_t topk = s.eagle_topk.value_or(1);
    if (s.num_steps) return *s.num_steps * topk + 1;
    // Defaults of the engine: 3 steps of one token for MTP models, else 5 steps of 4 with 8 drafts kept.
    return scenario.model->draft ? 4 : 8;
}

std::int64_t chunked_prefill_size(const Scenario& scenario) {
    return scenario.engine.chunked_prefill_size.value_or(memory_class(scenario).chunk);
}

std::int64_t cuda_graph_max_bs(const Scenario& scenario) {
    if (scenario.engine.cuda_graph_max_bs) return *scenario.engine.cuda_graph_max_bs;
    const MemoryClass c = memory_class(scenario);
    return scenario.engine.tp < 4 ? c.small_tp_bs : c.large_tp_bs;
}

std::int64_t context_length(const Scenario& scenario) {
    return std::max<std::int64_t>(1, scenario.engine.context_length.value_or(scenario.model->max_position_embeddings));
}

std::int64_t page_size(const Scenario& scenario) {
    const std::int64_t wanted = scenario.engine.page_size.value_or(1);
    const std::string& backend = scenario.engine.attention_backend;
    if (is_compressed(*scenario.model)) return 256;
    if (is_sparse_latent(*scenario.model)) return std::max<std::int64_t>(wanted, 64);
    if (backend == "flashmla") return 64;
    if (backend == "cutlass_mla") return 128;
    const auto one_of = [wanted](std::initializer_list<std::int64_t> sizes, std::int64_t otherwise) {
        return std::find(sizes.begin(), sizes.end(), wanted) != sizes.end() ? wanted : otherwise;
    };
    if (backend == "trtllm_mla" || backend == "tokenspeed_mla" || backend == "cutedsl_mla") return one_of({32, 64}, 64);
    if (backend == "trtllm_mha") return one_of({16, 32, 64}, 64);
    if (backend == "fa4" && !is_latent(*scenario.model)) return 128;
    if (backend == "ascend") return 128;
    return std::max<std::int64_t>(1, wanted);
}

std::vector<std::int64_t> captured_batches(std::int64_t max_bs, bool is_speculative) {
    std::vector<std::int64_t> sizes;
    const auto add = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
        for (std::int64_t bs = from; bs <= std::min(to, max_bs); bs += step) sizes.push_back(bs);
    };
    if (is_speculative) {
        add(1, 8, 1), add(10, 32, 2), add(40, 64, 4), add(72, 256, 8), add(272, max_bs, 16);
    } else {
        add(1, 2, 1), add(4, 4, 1), add(8, 12, 4), add(16, 256, 8), add(272, 511, 16), add(512, max_bs, 32);
    }
    if (max_bs > 0 && (sizes.empty() || sizes.back() != max_bs)) sizes.push_back(max_bs);
    return sizes;
}

std::int64_t captured_prefill_sizes(std::int64_t max_tokens) {
    struct Run { std::int64_t from, to, step; };
    constexpr Run kRuns[] = {{4, 32, 4}, {48, 256, 16}, {288, 512, 32}, {576, 1024, 64}, {1280, 4096, 256}};
    std::int64_t count = 0;
    for (const Run& run : kRuns)
        if (max_tokens >= run.from) count += (std::min(run.to, max_tokens) - run.from) / run.step + 1;
    if (max_tokens >= 4608) count += (max_tokens - 4608) / 512 + 1;
    return count;
}

bool prefill_graphs(const Scenario& scenario) {
    return in_force(Change::prefill_graph_default, rule_date(scenario.engine)) &&
           !scenario.engine.disable_piecewise_cuda_graph && !scenario.engine.disable_cuda_graph;
}

DefaultFraction default_fraction(const Scenario& scenario) {
    const RuleDate date = rule_date(scenario.engine);
    const auto mib = gpu_facts(scenario).memory_mib;
    const std::int64_t ranks = std::max<std::int64_t>(1, scenario.engine.tp) * std::max<std::int64_t>(1, scenario.engine.pp);
    DefaultFraction result;
    if (!mib) {
        result.value = 0.88;
    } else if (!in_force(Change::fraction_by_terms, date) && !in_force(Change::fraction_by_class, date)) {
        result.value = fraction_by_table(*mib, ranks);
    } else {
        result.reserve = in_force(Change::fraction_by_terms, date) ? term_reserve(scenario, *mib, ranks)
                                                                    : class_reserve(scenario, *mib, ranks);
        double sum = 0;
        for (const ReserveTerm& term : result.reserve) sum += term.mib;
        result.value = round3((*mib - sum) / *mib);
    }
    result.vision_factor = vision_factor(scenario);
    result.value *= result.vision_factor;
    const bool aiter = scenario.engine.attention_backend == "aiter" && context_length(scenario) > 8192;
    if (aiter) result.value *= 0.85;
    return result;
}

std::vector<EngineDefault> engine_defaults(const Scenario& scenario) {
    const HicacheOptions& h = scenario.engine.hicache;
    std::vector<EngineDefault> list{{"context_length", context_length(scenario)},
                                    {"page_size", page_size(scenario)},
                                    {"chunked_prefill_size", chunked_prefill_size(scenario)},
                                    {"cuda_graph_max_bs", cuda_graph_max_bs(scenario)},
                                    {"mem_fraction_static", default_fraction(scenario).value},
                                    {"kv_cache_dtype", std::string(kv_dtype(scenario).name)}};
    if (!h.enabled) return list;
    list.push_back({"hicache_write_policy", std::string(in_force(Change::write_through_default, rule_date(scenario.engine)) ? "write_through" : "write_through_selective")});
    if (!h.size_gb && !in_force(Change::hicache_auto_size, rule_date(scenario.engine))) list.push_back({"hicache_ratio", 2.0});
    return list;
}

}  // namespace kvplan::sglang
