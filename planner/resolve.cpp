#include "planner/resolve.hpp"

#include <algorithm>
#include <cmath>

#include "models/hardware/free_memory.hpp"
#include "models/hardware/gpu_catalogue.hpp"
#include "models/json/reader.hpp"
#include "models/llm/catalogue.hpp"
#include "planner/engine_flags.hpp"
#include "planner/engines/engine.hpp"
#include "planner/free_before_load.hpp"
#include "planner/fields/fields.hpp"
#include "units/format.hpp"
#include "planner/trace/reuse.hpp"

namespace kvplan {

namespace {

Diagnostic missing(std::string flag, std::string what, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "scenario.missing";
    diagnostic.pointer = std::move(flag);
    diagnostic.message = std::move(what);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

struct MethodName {
    std::string_view flag;     // the engines' name of a loading method
    std::string_view variant;  // the storage format it makes of a checkpoint that is not quantized; empty: none
};

// `--quantization` of the engines names a loading method. Of a checkpoint that is quantized already it says what the
// files say themselves; only a plain one becomes another format by it.
constexpr MethodName kMethods[] = {
    {"auto", ""},           {"compressed-tensors", ""}, {"quark", ""},         {"auto-round", ""},      {"modelopt", "fp8_tensor"},
    {"modelopt_fp8", "fp8_tensor"}, {"modelopt_fp4", "nvfp4"},  {"petit_nvfp4", "nvfp4"}, {"awq_marlin", "awq"},   {"gptq_marlin", "gptq"},
    {"marlin", "gptq"},     {"moe_wna16", "int4"},      {"bitsandbytes", "nf4"}, {"w8a8_int8", "int8"},   {"w8a8-int8", "int8"},
    {"w8a8_fp8", "fp8_channel"}, {"fp8-block", "fp8_block128"}, {"fp8_block", "fp8_block128"},
};

const MethodName* method_named(std::string_view flag) {
    const auto* found = std::find_if(std::begin(kMethods), std::end(kMethods), [&](const MethodName& m) { return m.flag == flag; });
    return found == std::end(kMethods) ? nullptr : found;
}

std::optional<LlmSpec> read_target(const Scenario& scenario, const CatalogueOptions& options, ReadOptions read, Diagnostics& diagnostics) {
    const MethodName* method = method_named(scenario.engine.quantization);
    read.quantization = method == nullptr ? scenario.engine.quantization : std::string{};
    auto model = find_model(scenario.model_name, read, options.models_dir, diagnostics);
    if (!model || method == nullptr || method->variant.empty() || !model->quant_method.empty()) return model;
    read.quantization = std::string(method->variant);
    return find_model(scenario.model_name, read, options.models_dir, diagnostics);
}

bool resolve_models(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics) {
    if (!scenario.model && scenario.model_name.empty()) {
        diagnostics.add(missing("--model", "no model is named", "name a preset (kvplan models list), a config.json or a checkpoint directory"));
        return false;
    }
    ReadOptions read;
    read.assume_family = options.assume_family;
    if (!scenario.model) {
        if (auto model = read_target(scenario, options, read, diagnostics))
            scenario.model = std::make_shared<const LlmSpec>(std::move(*model));
    }
    if (!scenario.draft_model && !scenario.draft_model_name.empty()) {
        if (auto draft = find_model(scenario.draft_model_name, read, options.models_dir, diagnostics))
            scenario.draft_model = std::make_shared<const LlmSpec>(std::move(*draft));
    }
    return scenario.model != nullptr;
}

bool look_up_gpu(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics) {
    const GpuCatalogue catalogue = GpuCatalogue::load(options.hardware_dir, diagnostics);
    if (!scenario.gpu) {
        if (scenario.hardware.gpu_name.empty()) {
            diagnostics.add(missing("--gpu", "no GPU is named", "name one (kvplan gpus list), for example --gpu h200"));
            return false;
        }
        const GpuMatch match = catalogue.find(scenario.hardware.gpu_name);
        if (const auto diagnostic = diagnostic_for(match, scenario.hardware.gpu_name, "--gpu")) diagnostics.add(*diagnostic);
        if (match.gpu == nullptr) return false;
        scenario.gpu = std::make_shared<const GpuSpec>(*match.gpu);
    }
    const auto samples = load_free_memory_samples(options.hardware_dir, catalogue, diagnostics);
    scenario.free_memory = std::make_shared<const FreeMemoryByGroup>(
        FreeMemoryByGroup{estimate_free_memory(*scenario.gpu, 1, samples), estimate_free_memory(*scenario.gpu, 2, samples)});
    return true;
}

bool resolve_gpu(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics) {
    // What is there already is not looked up again: a sweep resolves each of its points.
    const bool known = scenario.gpu != nullptr && scenario.free_memory != nullptr;
    if (!known && !look_up_gpu(scenario, options, diagnostics)) return false;
    if (!scenario.hardware.gpus_per_node) {
        scenario.hardware.gpus_per_node = scenario.gpu->gpus_per_node;
        scenario.origin["gpus_per_node"] = "catalogue";
    }
    return true;
}

}  // namespace

bool names_loading_method(std::string_view quantization) { return method_named(quantization) != nullptr; }

bool look_up(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics) {
    const bool models = resolve_models(scenario, options, diagnostics);
    const bool gpu = resolve_gpu(scenario, options, diagnostics);
    const bool workload = trace::resolve_reuse(scenario, diagnostics);
    return models && gpu && workload && !diagnostics.has_errors();
}

bool resolve(Scenario& scenario, const CatalogueOptions& options, Diagnostics& diagnostics) {
    return look_up(scenario, options, diagnostics) && check_scenario(scenario, diagnostics);
}

bool read_scenario(std::string document_text, const std::string& source_name, Scenario& scenario, Diagnostics& diagnostics) {
    const auto document = json::parse(std::move(document_text), source_name, diagnostics);
    if (!document) return false;
    json::Reader reader(diagnostics);
    if (!document->root().is_object()) {
        reader.error(document->root(), "scenario.type", "a scenario is an object", "an object of scenario fields", "");
        return false;
    }
    for (const auto& [key, value] : document->root().members()) {
        const FieldSpec* field = find_field(key);
        if (key == "$schema" || key == "schema_version") continue;
        if (field == nullptr) {
            reader.error(value, "scenario.unknown-field", "there is no field " + std::string(key), "a scenario field",
                         did_you_mean(nearest_names(key, field_names())));
            continue;
        }
        // A plan's own JSON gives {value, from}: a resolved scenario can be read back.
        const json::Value plain = value.is_object() ? value["value"] : value;
        // What the engine filled in is filled in again, and not taken for a choice.
        if (value.is_object() && value["from"].string().value_or("") == kFromEngine) continue;
        if (plain.is_null()) continue;
        std::string text;
        if (const auto string = plain.string()) text = std::string(*string);
        else if (const auto boolean = plain.boolean()) text = *boolean ? "true" : "false";
        else if (plain.is_number()) text = plain.describe();
        else {
            reader.error(value, "scenario.type", std::string(key) + " cannot be read", "a string, number or boolean", "");
            continue;
        }
        if (const auto failure = set_field(scenario, *field, text, "scenario file"))
            reader.error(value, "scenario.value", std::string(key) + " cannot be used", failure->expected, failure->hint);
    }
    return !diagnostics.has_errors();
}

namespace {

void contradiction(Diagnostics& diagnostics, std::string flag, std::string message, std::string found, std::string expected) {
    Diagnostic diagnostic;
    diagnostic.code = "scenario.contradiction";
    diagnostic.pointer = std::move(flag);
    diagnostic.message = std::move(message);
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    diagnostics.add(std::move(diagnostic));
}

// Values that are each possible but not together.
void check_against_each_other(const Scenario& scenario, Diagnostics& diagnostics) {
    const HostOptions& host = scenario.hardware.host;
    const Workload& workload = scenario.workload;
    if (scenario.hardware.gpu_free && *scenario.hardware.gpu_free > gpu_total(scenario))
        contradiction(diagnostics, "--gpu-free", "more memory is free than the GPU has", binary_size(*scenario.hardware.gpu_free), "at most " + binary_size(gpu_total(scenario)));
    if (host.ram && host.available && *host.available > *host.ram)
        contradiction(diagnostics, "--host-available", "more RAM is available than the host has", decimal_size(*host.available), "at most " + decimal_size(*host.ram));
    const Parallelism p = parallelism(scenario);
    if (const std::int64_t on_node = ceil_div(p.ranks * host.instances_per_node, std::max<std::int64_t>(1, p.nodes)); on_node > p.gpus_per_node)
        contradiction(diagnostics, host.instances_per_node > 1 ? "--instances-per-node" : "--nnodes", "a node has fewer GPUs than ranks",
                      std::to_string(on_node) + " ranks on " + std::to_string(p.gpus_per_node) + " GPUs", "more nodes, fewer ranks, or --gpus-per-node " + std::to_string(on_node));
    if (workload.input_tokens && workload.shared_prefix_tokens > *workload.input_tokens)
        contradiction(diagnostics, "--shared-prefix-tokens", "the shared prefix is longer than the prompt", shortest(workload.shared_prefix_tokens), "at most --input-tokens " + shortest(*workload.input_tokens));
    if (workload.request_tokens && workload.input_tokens && workload.output_tokens && std::abs(*workload.request_tokens - *workload.input_tokens - *workload.output_tokens) > 0.5)
        contradiction(diagnostics, "--request-tokens", "prompt and output do not sum to the whole request", shortest(*workload.request_tokens),
                      shortest(*workload.input_tokens + *workload.output_tokens) + ", or one of the three left out");
    if (workload.max_new_tokens && workload.output_tokens && static_cast<double>(*workload.max_new_tokens) < *workload.output_tokens)
        contradiction(diagnostics, "--max-new-tokens", "the mean output is longer than what clients ask for at most", std::to_string(*workload.max_new_tokens), "at least --output-tokens " + shortest(*workload.output_tokens));
}

// A flag that the engine does not have would stop its start; here it would change nothing without a word.
void check_engine_of_fields(const Scenario& scenario, Diagnostics& diagnostics) {
    static const Scenario kDefaults;
    const bool vllm = scenario.engine.kind == EngineKind::vllm;
    for (const auto& entry : scenario.origin) {
        const std::string& name = entry.first;
        const FieldSpec* field = find_field(name);
        if (field == nullptr || field->engines == FieldEngines::any || (field->engines == FieldEngines::vllm) == vllm) continue;
        const std::string value = text_of(field->get(scenario));
        if (value == text_of(field->get(kDefaults))) continue;
        Diagnostic diagnostic;
        diagnostic.code = "engine.flag";
        diagnostic.pointer = std::string(field->flags.front());
        diagnostic.message = vllm ? "a flag of SGLang, and the engine is vLLM" : "a flag of vLLM, and the engine is SGLang";
        diagnostic.found = value;
        if (const Counterpart* counterpart = find_counterpart(name)) diagnostic.expected = std::string(counterpart->flag), diagnostic.hint = std::string(counterpart->differs);
        diagnostics.add(std::move(diagnostic));
    }
}

}  // namespace

bool check_scenario(const Scenario& scenario, Diagnostics& diagnostics) {
    check_against_each_other(scenario, diagnostics);
    check_engine_of_fields(scenario, diagnostics);
    engine_of(scenario.engine).check(scenario, diagnostics);
    return !diagnostics.has_errors();
}

}  // namespace kvplan
