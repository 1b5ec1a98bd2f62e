#include <algorithm>
#include <cmath>

#include "models/json/document.hpp"
#include "planner/engines/engine.hpp"
#include "planner/launch/known_flags.hpp"
#include "planner/launch/launch.hpp"
#include "units/parse.hpp"

namespace kvplan::launch {
namespace {

constexpr std::string_view kOrigin = "launch command";
constexpr std::string_view kManifest = "manifest";
constexpr std::int64_t kUsualGpus = 8;  // of a node, until it is known

class Applier {
public:
    Applier(const ParsedLaunch& launch, Scenario& scenario, Diagnostics& diagnostics) : launch_(&launch), scenario_(&scenario), diagnostics_(&diagnostics) {}

    void run() {
        set_engine();
        if (!launch_->model.empty()) set("model", launch_->model, "--model");
        for (const LaunchFlag& flag : launch_->flags) set_flag(flag);
        for (const LaunchFlag& flag : launch_->flags) tell_version(flag);
        for (const UnknownFlag& flag : launch_->unknown) tell_unknown(flag);
        for (const std::string& variable : launch_->unresolved) tell_unresolved(variable);
        set_environment();
        set_limits();
        set_nodes();
    }

private:
    void set_engine() {
        std::string name = launch_->engine == EngineKind::sglang ? "sglang" : "vllm";
        if (!launch_->engine_version.empty()) name += "@" + launch_->engine_version;
        set("engine", name, "");
    }

    void set(std::string_view field, const std::string& value, const std::string& where, std::string_view origin = kOrigin) {
        const FieldSpec* spec = find_field(field);
        if (spec == nullptr) return;
        if (const auto failure = set_field(*scenario_, *spec, value, origin)) {
            Diagnostic d;
            d.code = "launch.value";
            d.pointer = where;
            d.found = value;
            d.expected = failure->expected;
            d.hint = failure->hint;
            d.message = "the value of " + (where.empty() ? std::string(field) : where) + " cannot be used";
            diagnostics_->add(std::move(d));
        }
    }

    void set_flag(const LaunchFlag& flag) {
        if (launch_->engine == EngineKind::vllm && set_json_flag(flag)) return;
        if (flag.name == "--config") {
            tell(Severity::warning, "launch.config", flag.name, "the flags in " + flag.value + " are not read", "", "put them on the command line, or into a scenario file (--scenario)");
            return;
        }
        if (flag.name == "--language-model-only" || flag.name == "--mm-encoder-tp-mode") {
            if (flag.name == "--language-model-only") set("enable_multimodal", "false", flag.name);
            else set("mm_enable_dp_encoder", flag.value == "data" ? "true" : "false", flag.name);
            return;
        }
        if (flag.field == nullptr || flag.field->name == "model") return;
        if (flag.field->kind != FieldKind::boolean && flag.value.find('$') != std::string::npos) return;  // told with the variables
        if (flag.field->kind != FieldKind::boolean && !flag.has_value) {
            tell(Severity::error, "launch.value", flag.name, flag.name + " has no value", "", "");
            return;
        }
        set(flag.field->name, launch_->engine == EngineKind::vllm ? without_unit(flag) : flag.value, flag.name);
    }

    /// vLLM reads `32k` as 32,000 and `32K` as 32,768 in its own integers.
    static std::string without_unit(const LaunchFlag& flag) {
        if (flag.field->kind != FieldKind::integer || flag.value.size() < 2) return flag.value;
        constexpr std::string_view kLetters = "kmgtKMGT";
        const std::size_t letter = kLetters.find(flag.value.back());
        const Parsed<double> number = parse_real(std::string_view(flag.value).substr(0, flag.value.size() - 1));
        if (letter == std::string_view::npos || !parse_ok(number)) return flag.value;
        const double scale = std::pow(letter < 4 ? 1000.0 : 1024.0, static_cast<double>(letter % 4 + 1));
        const double value = std::get<double>(number) * scale;
        return value < 9e15 ? std::to_string(static_cast<std::int64_t>(value)) : flag.value;
    }

    /// --speculative-config and --kv-transfer-config, as JSON or as dotted members.
    bool set_json_flag(const LaunchFlag& flag) {
        const std::size_t dot = flag.name.find('.');
        const std::string base = flag.name.substr(0, dot);
        if (base != "--speculative-config" && base != "-sc" && base != "--kv-transfer-config") return false;
        if (dot != std::string::npos) {
            set_member(base, flag.name.substr(dot + 1), flag.value, flag.name);
            return true;
        }
        Diagnostics faults;
        const auto document = json::parse(flag.value, flag.name, faults);
        if (!document) {
            tell(Severity::warning, "launch.value", flag.name, "the value of " + flag.name + " is no JSON and is left out", "a JSON object", "");
            return true;
        }
        for (const auto& [key, value] : document->root().members()) {
            if (value.is_object()) {
                for (const auto& [inner, element] : value.members()) set_member(base, std::string(inner), plain(element), flag.name);
            } else {
                set_member(base, std::string(key), plain(value), flag.name);
            }
        }
        return true;
    }

    static std::string plain(const json::Value& value) {
        if (const auto text = value.string()) return std::string(*text);
        if (const auto number = value.integer()) return std::to_string(*number);
        return value.describe();
    }

    void set_member(const std::string& base, const std::string& key, const std::string& value, const std::string& where) {
        if (base == "--kv-transfer-config") {
            if (key == "kv_connector" && value.find("LMCache") != std::string::npos) set("kv_offloading_backend", "lmcache", where);
            const Parsed<double> bytes = parse_real(value);
            if (key != "cpu_bytes_to_use" || !parse_ok(bytes)) return;
            set("kv_offloading_size", text_of(FieldValue{std::get<double>(bytes) / static_cast<double>(kGiB)}), where);
            return;
        }
        if (key == "method") set("speculative_algorithm", value, where);
        if (key == "num_speculative_tokens") set("speculative_num_draft_tokens", value, where);
        if (key == "model" && value.find('$') == std::string::npos) set("draft_model", value, where);
    }

    /// SGLang starts on one host unless --nnodes says otherwise (vLLM may find others through Ray).
    void set_nodes() {
        const bool said = std::any_of(launch_->flags.begin(), launch_->flags.end(), [](const LaunchFlag& flag) { return flag.name == "--nnodes" || flag.name == "--nodes"; });
        if (launch_->engine == EngineKind::sglang && !said && !scenario_->hardware.nodes) set("nodes", "1", "");
    }

    void set_environment() {
        struct Variable {
            std::string_view name, field;
        };
        for (const Variable variable : {Variable{"LMCACHE_MAX_LOCAL_CPU_SIZE", "lmcache_max_local_cpu_size"}, Variable{"SGLANG_PP_LAYER_PARTITION", "pp_layer_partition"},
                                        Variable{"VLLM_PP_LAYER_PARTITION", "pp_layer_partition"}}) {
            const auto found = launch_->environment.find(std::string(variable.name));
            if (found != launch_->environment.end()) set(variable.field, found->second, found->first);
        }
        // Given both ways, the configuration on the command line counts.
        const auto segment = launch_->environment.find("MOONCAKE_GLOBAL_SEGMENT_SIZE");
        if (segment != launch_->environment.end() && segment->second.find_first_of("\"\\") == std::string::npos && scenario_->engine.hicache.storage_backend_extra_config.empty())
            set("hicache_storage_backend_extra_config", "{\"global_segment_size\": \"" + segment->second + "\"}", segment->first);
    }

    void set_limits() {
        const LaunchLimits& limits = launch_->limits;
        const auto bytes = [&](std::string_view field, const std::optional<Bytes>& value) {
            if (value) set(field, std::to_string(value->count()) + "B", "", kManifest);
        };
        bytes("cgroup_limit", limits.memory);
        bytes("shm_size", limits.shm);
        bytes("memlock", limits.memlock);
        if (limits.gpu_name) set("gpu", *limits.gpu_name, "node selector", kManifest);
        if (limits.startup_seconds) set("startup_limit", text_of(FieldValue{*limits.startup_seconds}) + "s", "", kManifest);
        const EngineOptions& engine = scenario_->engine;
        const std::int64_t together = checked_mul(checked_mul(engine.tp, engine.pp), launch_->repeats);
        if (launch_->repeats > 1 && together <= scenario_->hardware.gpus_per_node.value_or(kUsualGpus))
            set("instances_per_node", std::to_string(launch_->repeats), "loop");
        const std::int64_t needed = ceil_div(checked_mul(checked_mul(engine.tp, engine.pp), engine.enable_dp_attention ? 1 : engine.dp),
                                             std::max<std::int64_t>(1, scenario_->hardware.nodes.value_or(1)));
        if (limits.gpus && needed > *limits.gpus) {
            tell(Severity::warning, "launch.gpu-count", "", "the command needs " + std::to_string(needed) + " GPUs, and is given " + std::to_string(*limits.gpus), "",
                 "give it as many GPUs as it has ranks on a node");
        }
    }

    void tell_version(const LaunchFlag& flag) {
        const VersionedFlag* dated = versioned_flag(launch_->engine, flag.name);
        const auto date = engine_of(scenario_->engine).rule_date(scenario_->engine);
        if (dated == nullptr || !date) return;
        const bool early = *date < dated->since, late = dated->until.yyyymmdd != 0 && !(*date < dated->until);
        if (!early && !late) return;
        tell(Severity::warning, "launch.flag-version", flag.name, flag.name + (early ? " does not exist yet in " : " exists no more in ") + engine_of(scenario_->engine).rule_set(scenario_->engine),
             early ? "a version since " + iso(dated->since) : "a version before " + iso(dated->until), std::string(dated->note));
    }

    static std::string iso(RuleDate date) {
        const std::string digits = std::to_string(date.yyyymmdd);
        return digits.size() == 8 ? digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" + digits.substr(6) : digits;
    }

    void tell_unknown(const UnknownFlag& flag) {
        tell(Severity::warning, "launch.unknown-flag", flag.name, "the engine is not known to have the flag " + flag.name + "; it is kept and has no effect here", "",
             did_you_mean(flag.nearest));
    }

    void tell_unresolved(const std::string& variable) {
        const bool substitution = variable.substr(0, 2) == "$(" || variable.substr(0, 1) == "`";
        tell(Severity::warning, "launch.unresolved", variable, variable + (substitution ? " is not run" : " has no value in this text") + "; what depends on it has its default", "",
             substitution ? "" : "set it in front of the command");
    }

    void tell(Severity severity, std::string code, std::string where, std::string message, std::string expected, std::string hint) {
        Diagnostic d;
        d.severity = severity;
        d.code = std::move(code);
        d.pointer = std::move(where);
        d.message = std::move(message);
        d.expected = std::move(expected);
        d.hint = std::move(hint);
        diagnostics_->add(std::move(d));
    }

    const ParsedLaunch* launch_;
    Scenario* scenario_;
    Diagnostics* diagnostics_;
};

}  // namespace

void apply(const ParsedLaunch& launch, Scenario& scenario, Diagnostics& diagnostics) { Applier(launch, scenario, diagnostics).run(); }

}  // namespace kvplan::launch
