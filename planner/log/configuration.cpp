#include "planner/log/configuration.hpp"

#include <cmath>

#include "planner/log/text.hpp"
#include "planner/fields/fields.hpp"
#include "units/parse.hpp"

namespace kvplan::logs {

namespace {

constexpr std::string_view kOrigin = "log";

void put(LoggedConfiguration& configuration, PythonMember member, bool over) {
    if (member.value.kind == PythonValue::Kind::none) return;
    for (PythonMember& known : configuration.members)
        if (known.key == member.key) {
            if (over) known.value = std::move(member.value);
            return;
        }
    configuration.members.push_back(std::move(member));
}

void put_all(LoggedConfiguration& configuration, PythonMembers read, bool over) {
    for (PythonMember& member : read.members) put(configuration, std::move(member), over);
}

std::string digits_and_dots(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (is_word(text[end]) || text[end] == '.' || text[end] == '+' || text[end] == '-')) ++end;
    return std::string(text.substr(0, end));
}

}  // namespace

const PythonValue* LoggedConfiguration::find(std::string_view key) const {
    for (const PythonMember& member : members)
        if (member.key == key) return &member.value;
    return nullptr;
}

void read_server_args(std::string_view text, LoggedConfiguration& configuration) {
    configuration.engine = EngineKind::sglang;
    PythonMembers read = read_python_members(text.substr(text.find('(') + 1));
    configuration.cut = !read.complete;
    put_all(configuration, std::move(read), true);
}

void read_vllm_config(std::string_view text, LoggedConfiguration& configuration) {
    configuration.engine = EngineKind::vllm;
    const std::size_t version = text.find("(v");
    if (version != std::string_view::npos) configuration.version = digits_and_dots(text.substr(version + 2));
    const std::size_t config = text.find("config: ");
    if (config == std::string_view::npos) return;
    // The line has no closing bracket: one is added, so that its last member counts.
    PythonMembers read = read_python_members(std::string(text.substr(config + 8)) + ")");
    for (PythonMember& member : read.members) {
        if (member.key == "max_seq_len") member.key = "max_model_len";
        put(configuration, std::move(member), false);
    }
}

void read_vllm_arguments(std::string_view text, LoggedConfiguration& configuration) {
    configuration.engine = EngineKind::vllm;
    put_all(configuration, read_python_members(text.substr(text.find('{') + 1)), true);
}

namespace {

class Applier {
public:
    Applier(const LoggedConfiguration& configuration, Scenario& scenario, Diagnostics& diagnostics)
        : configuration_(&configuration), scenario_(&scenario), diagnostics_(&diagnostics) {}

    std::vector<std::string> run() {
        std::string engine = configuration_->engine.value_or(EngineKind::sglang) == EngineKind::sglang ? "sglang" : "vllm";
        if (!configuration_->version.empty()) engine += "@" + configuration_->version;
        set("engine", engine);
        std::vector<std::string> without_field;
        for (const PythonMember& member : configuration_->members)
            if (!set_member(member)) without_field.push_back(member.key);
        undo_dp_attention();
        return without_field;
    }

private:
    // False: no field of a scenario is meant.
    bool set_member(const PythonMember& member) {
        const std::string& key = member.key;
        const PythonValue& value = member.value;
        if (key == "speculative_config") return set_speculative(value);
        if (key == "tokenizer" || key == "model_tag") return false;
        const FieldSpec* field = find_field(key);
        if (field == nullptr || field->group == FieldGroup::host || field->group == FieldGroup::workload) return false;
        // vLLM writes words without quotes (kv_cache_dtype=fp8); lists and objects are no value of a field.
        if (value.kind == PythonValue::Kind::other && value.text.find_first_of("[({<= ") != std::string::npos) return false;
        std::string text = value.text.substr(0, 6) == "torch." ? value.text.substr(6) : value.text;
        if (text.empty() || (text == "none" && field->kind == FieldKind::text)) return true;
        // A setting that only says "as usual" stays unset, so that the version's default is planned.
        if (field->name == "hicache_ratio" && !is_true("enable_hierarchical_cache")) return true;
        if (field->kind == FieldKind::integer) text = whole(text);
        set(field->name, text);
        return true;
    }

    bool is_true(std::string_view key) const {
        const PythonValue* value = configuration_->find(key);
        return value != nullptr && value->text == "true";
    }

    // "8.0" as "8": some settings are floats there and integers here.
    static std::string whole(const std::string& text) {
        const Parsed<double> number = parse_real(text);
        if (!parse_ok(number)) return text;
        const double value = std::get<double>(number);
        return value == std::floor(value) && std::abs(value) < 9e15 ? std::to_string(static_cast<std::int64_t>(value)) : text;
    }

    // {'method': 'mtp', 'num_speculative_tokens': 3} or SpeculativeConfig(method='mtp', model='…', num_spec_tokens=3).
    bool set_speculative(const PythonValue& value) {
        const std::size_t open = value.text.find_first_of("({");
        if (open == std::string::npos) return false;
        for (const PythonMember& member : read_python_members(std::string_view(value.text).substr(open + 1)).members) {
            if (member.value.kind == PythonValue::Kind::none) continue;
            if (member.key == "method") set("speculative_algorithm", member.value.text);
            if (member.key == "num_speculative_tokens" || member.key == "num_spec_tokens") set("speculative_num_draft_tokens", member.value.text);
            const PythonValue* target = configuration_->find("model");
            if (member.key == "model" && (target == nullptr || target->text != member.value.text)) set("draft_model", member.value.text);
        }
        return true;
    }

    void undo_dp_attention() {
        EngineOptions& engine = scenario_->engine;
        if (engine.kind != EngineKind::sglang || !engine.enable_dp_attention || engine.dp <= 1) return;
        if (engine.chunked_prefill_size && *engine.chunked_prefill_size > 0)
            engine.chunked_prefill_size = checked_mul(*engine.chunked_prefill_size, engine.dp);
        if (configuration_->find("schedule_conservativeness") != nullptr) engine.schedule_conservativeness /= 0.3;
    }

    void set(std::string_view name, const std::string& text) {
        const FieldSpec* field = find_field(name);
        if (field == nullptr) return;
        const auto failure = set_field(*scenario_, *field, text, kOrigin);
        if (!failure) return;
        Diagnostic d;
        d.severity = Severity::warning;
        d.code = "log.value";
        d.pointer = std::string(name);
        d.message = "the log's value of " + std::string(name) + " cannot be used";
        d.found = text;
        d.expected = failure->expected;
        d.hint = failure->hint;
        diagnostics_->add(std::move(d));
    }

    const LoggedConfiguration* configuration_;
    Scenario* scenario_;
    Diagnostics* diagnostics_;
};

}  // namespace

std::vector<std::string> apply(const LoggedConfiguration& configuration, Scenario& scenario, Diagnostics& diagnostics) {
    return Applier(configuration, scenario, diagnostics).run();
}

}  // namespace kvplan::logs
