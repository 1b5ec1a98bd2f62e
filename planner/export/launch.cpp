#include "planner/export/launch.hpp"

#include <algorithm>

#include "planner/scenario_fields.hpp"

namespace kvplan::exporting {

namespace {

bool is_launch_flag(const FieldSpec& field, EngineKind kind) {
    if (field.name == "engine" || field.name == "quantization" || field.name == "enable_multimodal") return false;
    const bool other = kind == EngineKind::sglang ? field.engines == FieldEngines::vllm : field.engines == FieldEngines::sglang;
    return field.group == FieldGroup::engine && !other;
}

// vLLM spells some of the shared flags its own way; SGLang's is the first spelling of a field.
std::string_view spelling(const FieldSpec& field, EngineKind kind) {
    if (kind == EngineKind::vllm) {
        struct Own {
            std::string_view field, flag;
        };
        for (const Own own : {Own{"tp_size", "--tensor-parallel-size"}, Own{"dp_size", "--data-parallel-size"}, Own{"pp_size", "--pipeline-parallel-size"},
                              Own{"context_length", "--max-model-len"}, Own{"page_size", "--block-size"}, Own{"max_running_requests", "--max-num-seqs"}})
            if (own.field == field.name) return own.flag;
    }
    return field.flags.front();
}

std::string shell_word(const std::string& text) {
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || std::string_view("-_./:@,=+").find(c) != std::string_view::npos;
    });
    if (plain) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

LaunchText launch_text(const Scenario& scenario, const Plan& /*plan*/) {
    const EngineKind kind = scenario.engine.kind;
    const std::string model = scenario.model && !scenario.model->hf_id.empty() ? scenario.model->hf_id : scenario.model_name;
    LaunchText launch;
    launch.command = kind == EngineKind::sglang ? "python3 -m sglang.launch_server --model-path " : "vllm serve ";
    launch.command += shell_word(model);
    for (const FieldSpec& field : scenario_fields()) {
        if (!is_launch_flag(field, kind) || scenario.origin.find(std::string(field.name)) == scenario.origin.end()) continue;
        const FieldValue value = field.get(scenario);
        if (std::holds_alternative<std::monostate>(value)) continue;
        if (const bool* on = std::get_if<bool>(&value)) {
            if (*on) launch.command += " " + std::string(spelling(field, kind));
            continue;
        }
        launch.command += " " + std::string(spelling(field, kind)) + " " + shell_word(text_of(value));
    }
    return launch;
}

}  // namespace kvplan::exporting
