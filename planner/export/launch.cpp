#include "planner/export/launch.hpp"

#include <nlohmann/json.hpp>

#include "planner/engine_flags.hpp"
#include "planner/launch/shell.hpp"
#include "planner/resolve.hpp"

namespace kvplan::exporting {

using Json = nlohmann::ordered_json;

namespace {

class Writer {
public:
    explicit Writer(const Scenario& scenario) : s_(scenario), kind_(scenario.engine.kind) {}

    LaunchWords written() {
        if (kind_ == EngineKind::sglang) words_.entry = {"python3", "-m", "sglang.launch_server"};
        else words_.entry = {"vllm", "serve"};
        const std::string model = s_.model && !s_.model->hf_id.empty() ? s_.model->hf_id : s_.model_name;
        if (kind_ == EngineKind::sglang) words_.arguments = {"--model-path", model};
        else words_.arguments = {model};
        quantization(model);
        drafter();
        for (const FieldSpec& field : scenario_fields())
            if (given(field.name)) put(field);
        transfer();
        return std::move(words_);
    }

private:
    [[nodiscard]] bool given(std::string_view name) const { return s_.origin.find(std::string(name)) != s_.origin.end(); }
    void flag(std::string_view name) { words_.arguments.emplace_back(name); }
    void flag(std::string_view name, std::string value) {
        flag(name);
        words_.arguments.push_back(std::move(value));
    }

    /// A plain checkpoint becomes fp8 while it loads; other formats are those of another checkpoint.
    void quantization(const std::string& model) {
        const std::string& format = s_.engine.quantization;
        if (format.empty() || format == "auto" || !s_.model) return;
        const std::string& method = s_.model->quant_method;
        const bool while_loading = format == "fp8" && (method.empty() || method == "fp8");
        if (while_loading || names_loading_method(format)) return flag("--quantization", format);
        words_.notes.push_back("The plan is of a checkpoint in " + format + ": the name " + model + " may stand for another; name the one in that format.");
    }

    void drafter() {
        const std::string name = s_.draft_model && !s_.draft_model->hf_id.empty() ? s_.draft_model->hf_id : s_.draft_model_name;
        if (kind_ == EngineKind::sglang) {
            if (!name.empty()) flag("--speculative-draft-model-path", name);
            return;
        }
        const SpeculativeOptions& drafts = s_.engine.speculative;
        if (drafts.algorithm.empty() && name.empty()) return;
        Json config = Json::object();
        if (!drafts.algorithm.empty()) config["method"] = drafts.algorithm;
        if (!name.empty()) config["model"] = name;
        if (drafts.num_draft_tokens) config["num_speculative_tokens"] = *drafts.num_draft_tokens;
        flag("--speculative-config", config.dump());
    }

    /// A log tells every setting, also those that nobody gave.
    [[nodiscard]] bool stated_default(const FieldSpec& field) const {
        static const Scenario kDefaults;
        if (s_.origin.at(std::string(field.name)) != "log") return false;
        const std::string value = text_of(field.get(s_));
        return value == "auto" || value == text_of(field.get(kDefaults));
    }

    void put(const FieldSpec& field) {
        if (field.name == "model" || field.name == "quantization" || field.name == "draft_model" || (field.name == "kv_offloading_backend" && uses_lmcache())) return;
        if (stated_default(field)) return;
        if (field.name == "nodes" && s_.hardware.nodes.value_or(1) < 2) return;
        const FieldValue value = field.get(s_);
        if (std::holds_alternative<std::monostate>(value)) return;
        if (const std::string_view variable = engine_variable(field.name, kind_); !variable.empty()) {
            if (!text_of(value).empty()) words_.environment.emplace_back(std::string(variable), text_of(value));
            return;
        }
        if (field.name == "enable_multimodal" && kind_ == EngineKind::vllm && !s_.engine.enable_multimodal) return flag("--language-model-only");
        const std::string_view name = engine_flag(field, kind_);
        if (name.empty() || field.name == "enable_multimodal") return;
        if (const bool* on = std::get_if<bool>(&value)) {
            if (*on) flag(name);
            else if (field.name == "async_scheduling") flag("--no-async-scheduling");
            return;
        }
        const std::string text = text_of(value);
        if (!text.empty()) flag(name, text);
    }

    [[nodiscard]] bool uses_lmcache() const { return s_.engine.lmcache_max_local_cpu_gb && !s_.engine.kv_offloading_size_gib; }

    /// LMCache that is sized by its variable is switched on by a connector.
    void transfer() {
        if (kind_ != EngineKind::vllm || !uses_lmcache()) return;
        words_.environment.insert(words_.environment.begin(), {"LMCACHE_LOCAL_CPU", "True"});
        flag("--kv-transfer-config", Json{{"kv_connector", "LMCacheConnectorV1"}, {"kv_role", "kv_both"}}.dump());
    }

    const Scenario& s_;
    EngineKind kind_;
    LaunchWords words_;
};

}  // namespace

LaunchWords launch_words(const Scenario& scenario) { return Writer(scenario).written(); }

LaunchText launch_text(const Scenario& scenario, const Plan& /*plan*/) {
    LaunchWords words = launch_words(scenario);
    LaunchText text;
    for (const auto& [name, value] : words.environment) text.command += name + "=" + launch::shell_quoted(value) + " ";
    for (const std::string& word : words.entry) text.command += word + " ";
    for (const std::string& word : words.arguments) text.command += launch::shell_quoted(word) + " ";
    text.command.pop_back();
    text.notes = std::move(words.notes);
    if (scenario.hardware.nodes.value_or(1) > 1)
        text.notes.push_back(scenario.engine.kind == EngineKind::sglang ? "Run it on every node with --node-rank 0, 1, … and --dist-init-addr FIRST_NODE:PORT." : "Run it on every node with --node-rank 0, 1, … and --master-addr FIRST_NODE.");
    return text;
}

}  // namespace kvplan::exporting
