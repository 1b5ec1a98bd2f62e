#include "cli/model_description.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planner/engines/engine.hpp"
#include "units/format.hpp"

namespace kvplan::cli {

using Json = nlohmann::ordered_json;

namespace {

struct ComponentSum {
    std::int64_t params = 0;
    Bytes bytes;
    std::vector<std::string> formats;  ///< the one with the most bytes first
    std::map<std::string, std::int64_t> format_bytes;
};

/// Stored weights by component in the order of the enumeration; draft layers are one of their own.
std::map<Component, ComponentSum> component_sums(const LlmSpec& spec) {
    std::map<Component, ComponentSum> sums;
    const auto add = [&](const WeightMatrix& matrix, std::int64_t times, Component component) {
        if (!matrix.stored) return;
        ComponentSum& sum = sums[component];
        const Bytes bytes = stored(matrix).bytes * times;
        sum.params = checked_add(sum.params, checked_mul(parameters(matrix), times));
        sum.bytes += bytes;
        sum.format_bytes[label(matrix.format)] += bytes.count();
    };
    for (const int index : spec.layer_class)
        for (const WeightMatrix& matrix : spec.classes[static_cast<std::size_t>(index)].weights) add(matrix, 1, matrix.component);
    for (const WeightMatrix& matrix : spec.outside) add(matrix, 1, matrix.component);
    if (spec.draft)
        for (const WeightMatrix& matrix : spec.draft->layer.weights) add(matrix, spec.draft->layers, Component::mtp);
    for (auto& [component, sum] : sums) {
        std::vector<std::pair<std::int64_t, std::string>> order;
        for (const auto& [format, bytes] : sum.format_bytes) order.emplace_back(-bytes, format);
        std::sort(order.begin(), order.end());
        for (const auto& [bytes, format] : order) sum.formats.push_back(format);
    }
    return sums;
}

std::string number(std::int64_t n) { return std::to_string(n); }

/// Attention and FFN in words and as JSON, by the same visit.
struct Described {
    std::string text;
    Json json;
};

Described describe(const GroupedAttention& a) {
    Described d{number(a.query_heads) + " heads, " + number(a.kv_heads) + " KV heads of " + number(a.head_dim), {{"kind", "grouped"}}};
    if (a.v_head_dim != a.head_dim && a.v_head_dim > 0) d.text += " (values " + number(a.v_head_dim) + ")";
    if (a.window) d.text += std::string(a.chunked ? ", chunks of " : ", window ") + with_commas(*a.window);
    if (!a.stores_kv) d.text += ", reads another layer's KV";
    if (a.image_only) d.text += ", over image tokens only";
    d.json.update(Json{{"query_heads", a.query_heads}, {"kv_heads", a.kv_heads}, {"head_dim", a.head_dim}, {"v_head_dim", a.v_head_dim},
                       {"window", a.window ? Json(*a.window) : Json(nullptr)}, {"chunked", a.chunked}, {"stores_kv", a.stores_kv}, {"image_only", a.image_only}});
    return d;
}

Described describe(const LatentAttention& a) {
    Described d{"latent of " + number(a.kv_lora_rank) + " + " + number(a.qk_rope_head_dim) + ", " + number(a.heads) + " heads", {{"kind", "latent"}}};
    d.json.update(Json{{"heads", a.heads}, {"kv_lora_rank", a.kv_lora_rank}, {"qk_rope_head_dim", a.qk_rope_head_dim}, {"qk_nope_head_dim", a.qk_nope_head_dim},
                       {"v_head_dim", a.v_head_dim}, {"q_lora_rank", a.q_lora_rank ? Json(*a.q_lora_rank) : Json(nullptr)}, {"indexer", nullptr}});
    if (a.indexer) {
        d.text += a.indexer->own ? ", index of " + number(a.indexer->heads) + " x " + number(a.indexer->head_dim) + ", top " + with_commas(a.indexer->top_k)
                                 : std::string(", another layer's index");
        d.json["indexer"] = {{"heads", a.indexer->heads}, {"head_dim", a.indexer->head_dim}, {"top_k", a.indexer->top_k}, {"own", a.indexer->own}};
    }
    return d;
}

Described describe(const LinearAttention& a) {
    static constexpr const char* kNames[] = {"mamba1", "mamba2", "gated delta net", "Kimi delta", "lightning", "short convolution"};
    const char* name = kNames[static_cast<std::size_t>(a.kind)];
    return {std::string(name) + ", " + number(a.heads) + " heads of " + number(a.head_dim) + ", state " + number(a.state_size) + " in " +
                std::string(name_of(a.state_dtype)),
            {{"kind", "linear"}, {"variant", name}, {"heads", a.heads}, {"head_dim", a.head_dim}, {"groups", a.groups}, {"state_size", a.state_size},
             {"conv_kernel", a.conv_kernel}, {"conv_channels", a.conv_channels}, {"state_dtype", name_of(a.state_dtype)}}};
}

Described describe(const CompressedAttention& a) {
    return {number(a.heads) + " heads on one KV of " + number(a.head_dim) + ", window " + with_commas(a.window) +
                (a.ratio > 0 ? ", one entry per " + number(a.ratio) + " tokens beyond" : std::string()) + (a.index_heads > 0 ? ", indexed" : ""),
            {{"kind", "compressed"}, {"heads", a.heads}, {"head_dim", a.head_dim}, {"window", a.window}, {"ratio", a.ratio}, {"index_heads", a.index_heads},
             {"index_head_dim", a.index_head_dim}, {"index_top_k", a.index_top_k}}};
}

Described describe(const BlockSparseAttention& a) {
    Described d = describe(a.base);
    d.text += ", " + number(a.top_k_blocks) + " blocks of " + number(a.block_size) + " by an index of " + number(a.index_heads) + " x " + number(a.index_head_dim);
    d.json["kind"] = "block_sparse";
    d.json.update(Json{{"index_heads", a.index_heads}, {"index_head_dim", a.index_head_dim}, {"top_k_blocks", a.top_k_blocks}, {"block_size", a.block_size}});
    return d;
}

Described describe(const NoAttention&) { return {"none", {{"kind", "none"}}}; }

Described describe(const NoFfn&) { return {"none", {{"kind", "none"}}}; }

Described describe(const DenseFfn& f) {
    return {"dense " + with_commas(f.intermediate) + (f.gated ? "" : ", not gated"), {{"kind", "dense"}, {"intermediate", f.intermediate}, {"gated", f.gated}}};
}

Described describe(const MoeFfn& f) {
    Described d{number(f.top_k) + " of " + number(f.experts) + " experts of " + with_commas(f.intermediate), {{"kind", "moe"}}};
    if (f.shared_experts > 0) d.text += ", " + number(f.shared_experts) + " shared";
    if (f.dense_intermediate > 0) d.text += ", beside a dense MLP of " + with_commas(f.dense_intermediate);
    if (!f.gated) d.text += ", not gated";
    d.json.update(Json{{"experts", f.experts}, {"top_k", f.top_k}, {"intermediate", f.intermediate}, {"gated", f.gated}, {"shared_experts", f.shared_experts},
                       {"shared_intermediate", f.shared_intermediate}, {"width", f.width}, {"dense_intermediate", f.dense_intermediate}});
    return d;
}

template <class Variant>
Described describe_any(const Variant& value) {
    return std::visit([](const auto& one) { return describe(one); }, value);
}

KvCachePlan caches(const LlmSpec& spec) {
    Scenario scenario;
    scenario.model_name = spec.name;
    scenario.model = std::make_shared<const LlmSpec>(spec);
    return engine_of(scenario.engine).kv_cache(scenario);
}

std::vector<std::int64_t> layers_by_class(const LlmSpec& spec) {
    std::vector<std::int64_t> counts(spec.classes.size(), 0);
    for (const int index : spec.layer_class) ++counts[static_cast<std::size_t>(index)];
    return counts;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

exporting::ReportSection facts_section(const LlmSpec& spec) {
    exporting::ReportSection section{"Model", {{}, {}}, {}};
    const auto add = [&](const char* what, const std::string& value) {
        if (!value.empty()) section.table.rows.push_back({{what, value}, 0, false});
    };
    add("Hugging Face id", spec.hf_id);
    add("family", spec.family + (spec.verified ? "" : " (not verified on a real checkpoint)"));
    add("architecture", spec.architecture);
    add("context", with_commas(spec.max_position_embeddings));
    add("hidden size", with_commas(spec.hidden_size));
    add("vocabulary", with_commas(spec.vocab_size) + (spec.tied_embeddings ? ", head tied to the embedding" : ""));
    const std::string base(name_of(spec.dtype));
    add("weights", spec.quantization == base ? base : spec.quantization + (spec.quant_method.empty() ? "" : " by " + spec.quant_method) + ", the rest " + base);
    if (spec.checkpoint_kv_dtype) add("KV type asked for", std::string(name_of(*spec.checkpoint_kv_dtype)));
    return section;
}

exporting::ReportSection layers_section(const LlmSpec& spec) {
    exporting::ReportSection section{"Layers", {{"kind", "layers", "attention", "FFN"}, {}}, {}};
    const std::vector<std::int64_t> counts = layers_by_class(spec);
    for (std::size_t i = 0; i < spec.classes.size(); ++i)
        section.table.rows.push_back({{spec.classes[i].name, number(counts[i]), describe_any(spec.classes[i].attention).text, describe_any(spec.classes[i].ffn).text}, 0, false});
    if (spec.draft && spec.draft->layers > 0)
        section.table.rows.push_back({{"draft (MTP)", number(spec.draft->layers), describe_any(spec.draft->layer.attention).text, describe_any(spec.draft->layer.ffn).text}, 0, false});
    if (spec.vision) section.table.rows.push_back({{"vision", number(spec.vision->layers), "width " + with_commas(spec.vision->hidden), ""}, 0, false});
    return section;
}

exporting::ReportSection weights_section(const LlmSpec& spec) {
    exporting::ReportSection section{"Weights as stored", {{"component", "parameters", "bytes", "GiB", "formats"}, {}}, {}};
    for (const auto& [component, sum] : component_sums(spec))
        section.table.rows.push_back({{std::string(name_of(component)), with_commas(sum.params), with_commas(sum.bytes.count()), fixed(in_gib(sum.bytes), 2), joined(sum.formats)}, 0, false});
    const ModelTotals sums = totals(spec);
    section.table.rows.push_back({{"all", with_commas(sums.total_params), with_commas(sums.checkpoint_bytes.count()), fixed(in_gib(sums.checkpoint_bytes), 2),
                                   spec.exact_checkpoint_bytes ? "bytes from the files" : "computed"}, 0, true});
    section.sentences.push_back("Active parameters: " + with_commas(sums.active_params) + "; one token multiplies with " + with_commas(sums.matmul_params) +
                                ". Stored elements, scales and packed words included: " + with_commas(sums.stored_elements) + ".");
    return section;
}

exporting::ReportSection cache_section(const LlmSpec& spec) {
    const KvCachePlan cache = caches(spec);
    exporting::ReportSection section{"Cache on one GPU", {{"kind", "layers", "bytes a token", "bytes a request"}, {}}, {}};
    for (const KvGroup& group : cache.groups)
        section.table.rows.push_back({{std::string(name_of(group.kind)), number(group.layers.count()), shortest(group.bytes_per_token.value), group.bytes_per_slot.count() > 0 ? with_commas(group.bytes_per_slot.count()) : ""}, 0, false});
    section.table.rows.push_back({{"all", number(spec.layers()), shortest(cache.bytes_per_token.value), cache.state_bytes_per_slot.count() > 0 ? with_commas(cache.state_bytes_per_slot.count()) : ""}, 0, true});
    section.sentences.push_back("KV in " + std::string(cache.dtype) + ", by SGLang's newest rules; `kvplan plan` tells it for other types, engines and GPUs.");
    return section;
}

exporting::ReportSection sources_section(const LlmSpec& spec) {
    exporting::ReportSection section{"Where it comes from", {{"fact", "value", "source"}, {}}, {}};
    for (const Provenance& fact : spec.provenance) section.table.rows.push_back({{fact.fact, fact.value, fact.source}, 0, false});
    for (const std::string& assumption : spec.assumptions) section.sentences.push_back("Assumed: " + assumption + ".");
    if (!spec.ignored_keys.empty()) section.sentences.push_back("Not used: " + joined(spec.ignored_keys) + ".");
    return section;
}

}  // namespace

exporting::Report describe_model(const LlmSpec& spec) {
    return {spec.name, "", exporting::Tone::good,
            {facts_section(spec), layers_section(spec), weights_section(spec), cache_section(spec), sources_section(spec)}};
}

Json model_json(const LlmSpec& spec) {
    const ModelTotals sums = totals(spec);
    Json json{{"name", spec.name}, {"hf_id", spec.hf_id}, {"family", spec.family}, {"verified", spec.verified}, {"architecture", spec.architecture},
              {"model_type", spec.model_type}, {"layers", spec.layers()}, {"hidden_size", spec.hidden_size}, {"vocab_size", spec.vocab_size},
              {"max_position_embeddings", spec.max_position_embeddings}, {"tied_embeddings", spec.tied_embeddings}, {"dtype", name_of(spec.dtype)},
              {"quantization", spec.quantization}, {"quant_method", spec.quant_method},
              {"checkpoint_kv_dtype", spec.checkpoint_kv_dtype ? Json(name_of(*spec.checkpoint_kv_dtype)) : Json(nullptr)},
              {"total_params", sums.total_params}, {"active_params", sums.active_params}, {"stored_elements", sums.stored_elements},
              {"checkpoint_bytes", sums.checkpoint_bytes.count()}, {"checkpoint_bytes_basis", spec.exact_checkpoint_bytes ? "files" : "computed"}, {"tensors", sums.tensors}};
    const std::vector<std::int64_t> counts = layers_by_class(spec);
    json["layer_kinds"] = Json::array();
    for (std::size_t i = 0; i < spec.classes.size(); ++i)
        json["layer_kinds"].push_back({{"name", spec.classes[i].name}, {"layers", counts[i]}, {"attention", describe_any(spec.classes[i].attention).json}, {"ffn", describe_any(spec.classes[i].ffn).json}});
    json["draft_layers"] = spec.draft ? spec.draft->layers : 0;
    json["vision_layers"] = spec.vision ? Json(spec.vision->layers) : Json(nullptr);
    json["components"] = Json::array();
    for (const auto& [component, sum] : component_sums(spec))
        json["components"].push_back({{"name", name_of(component)}, {"params", sum.params}, {"bytes", sum.bytes.count()}, {"formats", sum.formats}});
    const KvCachePlan cache = caches(spec);
    json["kv_cache"] = {{"bytes_per_token", cache.bytes_per_token.value}, {"state_bytes_per_slot", cache.state_bytes_per_slot.count()}, {"dtype", cache.dtype}, {"groups", Json::array()}};
    for (const KvGroup& group : cache.groups)
        json["kv_cache"]["groups"].push_back({{"kind", name_of(group.kind)}, {"layers", group.layers.count()}, {"bytes_per_token", group.bytes_per_token.value}, {"bytes_per_slot", group.bytes_per_slot.count()}});
    json["sources"] = Json::array();
    for (const Provenance& fact : spec.provenance) json["sources"].push_back({{"fact", fact.fact}, {"value", fact.value}, {"source", fact.source}});
    json["assumptions"] = spec.assumptions;
    json["ignored_keys"] = spec.ignored_keys;
    return json;
}

}  // namespace kvplan::cli
