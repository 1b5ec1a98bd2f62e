#include "models/llm/hf_config.hpp"

#include <algorithm>

#include "models/llm/assemble.hpp"
#include "models/llm/families/registry.hpp"
#include "models/llm/keys.hpp"
#include "models/llm/quantization.hpp"

namespace kvplan {
namespace {

using families::Build;
using families::Family;
using families::VisionFamily;

template <class List>
bool contains(const List& list, std::string_view word) {
    return !word.empty() && std::find(list.begin(), list.end(), word) != list.end();
}

std::string first_architecture(const json::Value& object) {
    const json::Value list = object["architectures"];
    const json::Value name = list.is_array() ? list.at(0) : list;
    return std::string(name.string().value_or(""));
}

std::string word_of(const json::Value& object, std::string_view key) {
    return std::string(object[key].string().value_or(""));
}

struct Identity {
    std::string outer_type, text_type;
    std::string outer_architecture, text_architecture;
};

Identity identify(const ModelFacts& facts, json::Reader& reader) {
    for (const json::Value& place : {facts.root(), facts.text()})
        for (const std::string_view key : {"architectures", "model_type", "quantization_config", "compression_config",
                                           "quantization", "expert_dtype"})
            reader.mark_used(place[key]);
    Identity id;
    id.outer_type = word_of(facts.root(), "model_type");
    id.outer_architecture = first_architecture(facts.root());
    id.text_type = facts.nested() ? word_of(facts.text(), "model_type") : id.outer_type;
    id.text_architecture = facts.nested() ? first_architecture(facts.text()) : id.outer_architecture;
    return id;
}

const Family* family_named(std::string_view name) {
    for (const Family& family : families::all())
        if (family.name == name) return &family;
    return nullptr;
}

/// architectures decide where they are listed (some model_types are useless), then the types, inner before outer.
const Family* find_family(const Identity& id) {
    for (const std::string& architecture : {id.text_architecture, id.outer_architecture})
        for (const Family& family : families::all())
            if (contains(family.architectures, architecture)) return &family;
    for (const std::string& type : {id.text_type, id.outer_type})
        for (const Family& family : families::all())
            if (contains(family.model_types, type)) return &family;
    return nullptr;
}

void unknown_family(const ModelFacts& facts, const Identity& id, Diagnostics& diagnostics) {
    std::vector<std::string_view> names;
    for (const Family& family : families::all()) {
        names.push_back(family.name);
        names.insert(names.end(), family.model_types.begin(), family.model_types.end());
    }
    std::vector<std::string> nearest;
    for (const std::string& near : nearest_names(id.text_type.empty() ? id.outer_type : id.text_type, names, 6))
        for (const Family& family : families::all())
            if ((family.name == near || contains(family.model_types, near)) && !contains(nearest, family.name))
                nearest.emplace_back(family.name);
    const json::Value place = facts.text()["model_type"];
    Diagnostic fault = place.diagnostic(Severity::error, "model.unknown-type", "no rule for this model type is known");
    if (!place.exists())
        fault.found = id.outer_architecture.empty() ? "no model_type" : "architecture " + id.outer_architecture;
    fault.expected = "a model_type of a known family";
    fault.hint =
        nearest.empty()
            ? "--assume-family NAME reads it by that family's rule; `kvplan models list --families` shows them"
            : did_you_mean(nearest) + " --assume-family " + nearest.front() + " reads it by that family's rule";
    diagnostics.add(std::move(fault));
}

std::optional<DType> dtype_named(std::string_view name) {
    if (name.starts_with("torch.")) name.remove_prefix(6);
    if (name == "bfloat16" || name == "bf16") return DType::bf16;
    if (name == "float16" || name == "fp16" || name == "half") return DType::f16;
    if (name == "float32" || name == "fp32" || name == "float") return DType::f32;
    return std::nullopt;
}

/// The type of what is not quantized: stated at the top or inside, else bf16, which such files mean in practice.
DType base_dtype(const ModelFacts& facts, const ReadOptions& options, std::vector<std::string>& assumptions) {
    const std::optional<std::string> word = facts.word(keys::kDType);
    if (options.base_dtype) return *options.base_dtype;
    if (word)
        if (const auto type = dtype_named(*word)) return *type;
    assumptions.push_back(word ? "weights not quantized are bf16: the stated type '" + *word +
                                     "' is not one that is stored"
                               : "weights not quantized are bf16: the config names no type");
    return DType::bf16;
}

const VisionFamily* vision_family(const Identity& id) {
    for (const VisionFamily& family : families::vision())
        if (contains(family.model_types, id.outer_type)) return &family;
    return nullptr;
}

void run_rules(Build& build, const Family& family, const VisionFamily* tower) {
    build.tied = build.facts.flag(keys::kTied, family.tied_default);
    family.rule(build);
    if (tower != nullptr && build.facts.section(keys::kVision).exists()) tower->rule(build);
    if (build.options.stored_draft == false) build.blueprint.draft_layers = 0;
}

QuantizationRules quantization_of(const ModelFiles& files, const ReadOptions& options, const Build& build, DType base,
                                  Diagnostics& diagnostics) {
    QuantizationOptions wanted;
    wanted.base = base;
    wanted.main_layers = static_cast<std::int64_t>(build.blueprint.layer_plan.size()) / build.blueprint.plans_per_index;
    wanted.block_scale = build.block_scale;
    if (options.shape_dtype) wanted.shape_type = *options.shape_dtype;
    wanted.extra_ignore = options.extra_ignore;
    QuantizationRules described = read_quantization(files.config, files.hf_quant_config, wanted, diagnostics);
    if (options.quantization.empty()) return described;
    // The format it already has, by name, is no other variant: its own list of exceptions holds.
    if (auto named = quantization_named(options.quantization, wanted))
        return named->label() == described.label() ? described : *named;
    const std::vector<std::string> names = quantization_names();
    Diagnostic fault;
    fault.code = "model.unknown-quantization";
    fault.pointer = "--quantization";
    fault.found = options.quantization;
    fault.message = "no storage format of that name is known";
    fault.hint = did_you_mean(nearest_names(options.quantization, names));
    diagnostics.add(std::move(fault));
    return QuantizationRules(base);
}

std::vector<std::string> unused(const ModelFacts& facts, const json::Reader& reader) {
    std::vector<std::string> keys = reader.unused_keys(facts.root());
    if (facts.nested())
        for (const std::string& key : reader.unused_keys(facts.text())) keys.push_back("text_config." + key);
    return keys;
}

std::optional<LlmSpec> read(const ModelFiles& files, const ReadOptions& options, Diagnostics& diagnostics) {
    json::Reader reader(diagnostics);
    if (!files.config.is_object()) {
        reader.error(files.config, "value.type", "a model description is an object",
                     "an object with the facts of one model");
        return std::nullopt;
    }
    const ModelFacts facts(files.config, reader, options.facts);
    const Identity id = identify(facts, reader);
    const std::string named =
        options.assume_family.empty() ? facts.word({"family"}).value_or("") : options.assume_family;
    const Family* family = named.empty() ? find_family(id) : family_named(named);
    if (family == nullptr && !named.empty()) {
        std::vector<std::string_view> names;
        for (const Family& known : families::all()) names.push_back(known.name);
        Diagnostic fault;
        fault.code = "model.unknown-family";
        fault.pointer = "--assume-family";
        fault.found = named;
        fault.message = "no family of that name is known";
        fault.hint = did_you_mean(nearest_names(named, names));
        diagnostics.add(std::move(fault));
    }
    if (family == nullptr && named.empty()) unknown_family(facts, id, diagnostics);
    if (family == nullptr) return std::nullopt;

    LlmSpec spec;
    Build build{facts, options};
    build.architecture = id.outer_architecture;
    build.model_type = id.text_type;
    spec.dtype = base_dtype(facts, options, build.assumptions);
    run_rules(build, *family, vision_family(id));
    const QuantizationRules quantization = quantization_of(files, options, build, spec.dtype, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    if (!quantization.quantizes()) spec.dtype = quantization.base();  // --quantization fp32

    spec.name = options.name;
    spec.hf_id = options.hf_id;
    spec.family = family->name;
    spec.architecture = id.outer_architecture;
    spec.model_type = id.outer_type;
    spec.verified = family->verified && options.assume_family.empty();
    spec.hidden_size = facts.required(keys::kHidden);
    spec.vocab_size = build.blueprint.outside.empty() ? 0 : build.blueprint.outside.front().weight.rows;
    spec.max_position_embeddings = facts.count(keys::kContext).value_or(build.context_default);
    spec.tied_embeddings = build.tied;
    spec.active_convention = family->active;
    assemble(
        spec, build.blueprint,
        [&](std::string_view path, ModuleKind kind) { return quantization.format_for(path, kind); }, spec.dtype);
    spec.quantization = quantization.label();
    spec.quant_method = quantization.method();
    spec.checkpoint_kv_dtype = quantization.kv_cache_dtype();
    spec.provenance = facts.provenance();
    spec.ignored_keys = unused(facts, reader);
    spec.assumptions = std::move(build.assumptions);
    static_cast<void>(totals(spec));  // throws here, not later, when a size leaves 64 bits
    return spec;
}

}  // namespace

std::optional<LlmSpec> read_model(const ModelFiles& files, const ReadOptions& options, Diagnostics& diagnostics) {
    try {
        return read(files, options, diagnostics);
    } catch (const OverflowError&) {
        Diagnostic fault = files.config.diagnostic(Severity::error, "model.too-large",
                                                   "the sizes in this file multiply beyond 64 bits");
        fault.expected = "dimensions of a model that could exist";
        diagnostics.add(std::move(fault));
        return std::nullopt;
    }
}

std::optional<LlmSpec> read_model(const json::Document& config, const ReadOptions& options, Diagnostics& diagnostics) {
    return read_model(ModelFiles{config.root(), {}}, options, diagnostics);
}

std::vector<FamilyInfo> known_families() {
    std::vector<FamilyInfo> infos;
    for (const Family& family : families::all()) infos.push_back({family.name, family.verified, family.source});
    return infos;
}

}  // namespace kvplan
