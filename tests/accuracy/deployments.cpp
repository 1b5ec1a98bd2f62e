#include "tests/accuracy/deployments.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/json/document.hpp"
#include "models/llm/catalogue.hpp"
#include "planner/engines/vllm/memory.hpp"
#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"
#include "planner/weights.hpp"
#include "units/format.hpp"

namespace kvplan::accuracy {
namespace {

const std::string kData = std::string(KVPLAN_SOURCE_DIR) + "/tests/accuracy/data/";

std::string text_of(const json::Value& value) {
    if (const auto text = value.string()) return std::string(*text);
    if (const auto boolean = value.boolean()) return *boolean ? "true" : "false";
    return value.describe();
}

Mode mode_named(std::string_view name) {
    for (const Mode mode : kModes)
        if (name_of(mode) == name) return mode;
    throw std::runtime_error("no mode " + std::string(name));
}

std::map<Mode, std::string> reasons(const json::Value& object) {
    std::map<Mode, std::string> result;
    for (const auto& [mode, why] : object.members()) result[mode_named(mode)] = std::string(why.string().value_or(""));
    return result;
}

std::map<std::string, double> figures(const json::Value& object) {
    std::map<std::string, double> result;
    for (const auto& [name, value] : object.members())
        if (const auto number = value.number()) result[std::string(name)] = *number;
    return result;
}

Deployment read(const json::Value& row) {
    const auto text = [&](std::string_view key) { return std::string(row[key].string().value_or("")); };
    Deployment d;
    d.id = text("id");
    d.site = text("site");
    d.engine = text("engine");
    d.model = text("model");
    d.quantization = text("quantization");
    d.gpu = text("gpu");
    d.attention = text("attention");
    d.source = text("source");
    d.remark = text("remark");
    if (!row["kv_counts"].is_null() && row["kv_counts"].string()) d.kv_counts = text("kv_counts");
    for (const auto& [name, value] : row["flags"].members()) d.flags[std::string(name)] = text_of(value);
    d.given = figures(row["given"]);
    d.observed = figures(row["observed"]);
    d.started = row["observed"]["fits"].boolean();
    for (const json::Value& mode : row["modes"].elements()) d.modes.push_back(mode_named(mode.string().value_or("?")));
    d.left_out = reasons(row["left_out"]);
    d.explained = reasons(row["explained"]);
    d.engine_assumed = row["engine_assumed"].boolean().value_or(false);
    d.gpu_assumed = row["gpu_assumed"].boolean().value_or(false);
    d.fitted = row["fitted"].boolean().value_or(false);
    return d;
}

void set(Scenario& scenario, std::string_view name, const std::string& text) {
    const FieldSpec* field = find_field(name);
    if (field == nullptr) throw std::runtime_error("no field " + std::string(name));
    if (const auto failure = set_field(scenario, *field, text, "fact")) throw std::runtime_error(std::string(name) + "=" + text + ": expected " + failure->expected);
}

std::string gib(double value) { return shortest(std::round(value * static_cast<double>(kGiB)), 0); }

/// Models are read once.
std::shared_ptr<const LlmSpec> model_of(const Deployment& d) {
    static std::map<std::string, std::shared_ptr<const LlmSpec>> known;
    auto& spec = known[d.model + "|" + d.quantization];
    if (spec) return spec;
    ReadOptions options;
    options.quantization = d.quantization;
    Diagnostics diagnostics;
    auto found = find_model(d.model, options, kData + "models", diagnostics);
    if (!found) throw std::runtime_error(d.id + ": " + render(diagnostics));
    return spec = std::make_shared<const LlmSpec>(std::move(*found));
}

/// Bytes of one token among those that the printed KV size counts.
double counted_bytes(const Deployment& d, const Plan& plan) {
    if (d.kv_counts.rfind("budget", 0) == 0) return plan.kv_cache.budget_bytes_per_token.value;
    double bytes = 0;
    for (const KvGroup& g : plan.kv_cache.groups)
        if (g.kind != KvGroupKind::draft && !g.own_window_pool) bytes += g.bytes_per_token.value;
    return bytes;
}

Comparison pool_of(const Deployment& d, Comparison c) {
    const double kv = d.observed.at("kv_gib") * static_cast<double>(kGiB);
    Scenario scenario = scenario_of(d, Mode::pool);
    if (d.vllm()) {
        const Plan p = plan(scenario);
        const Tokens tokens = p.capacity.max_total_num_tokens.expected;
        c.predicted = static_cast<double>(tokens.count() > 0 ? tokens.count() : p.capacity.longest_request_tokens.count());
        c.basis = Basis::engine_rule;
        return c;
    }
    const Plan p = plan(scenario);
    const double state = d.kv_counts == "budget_less_state" ? static_cast<double>(p.gpu.state_pool_bytes.count()) : 0;
    const auto tokens = static_cast<std::int64_t>(std::floor((kv - state) / counted_bytes(d, p)));
    c.predicted = static_cast<double>(round_down(tokens, p.kv_cache.page_size.count()));
    c.basis = Basis::engine_rule;
    return c;
}

Comparison weights_of(const Deployment& d, Comparison c) {
    const WeightsPlan w = plan_of(d, Mode::weights).weights;
    // vLLM logs the first stage's.
    const Bytes shown = d.vllm() ? w.stage_bytes.front() : w.bytes_per_rank.expected;
    c.tokens = false;
    c.predicted = in_gib(shown);
    c.observed = d.observed.at("weights_gib");
    c.low = in_gib(w.bytes_per_rank.low) - in_gib(w.bytes_per_rank.expected - shown);
    c.high = in_gib(w.bytes_per_rank.high) - in_gib(w.bytes_per_rank.expected - shown);
    c.interval = true;
    c.basis = w.bytes_per_rank.basis;
    return c;
}

/// The KV memory that vLLM would print, also when nothing fits.
Estimate<Bytes> available_kv(const Deployment& d) {
    const Scenario scenario = scenario_of(d, Mode::blind);
    const WeightsPlan w = plan(scenario).weights;
    return vllm::available_memory(scenario, vllm::stage_loads(scenario, w).front(), scenario.engine.gpu_memory_utilization->value);
}

Comparison capacity_of(const Deployment& d, Mode mode, Comparison c) {
    const Plan p = plan_of(d, mode);
    const auto& tokens = p.capacity.max_total_num_tokens;
    c.basis = tokens.basis;
    if (d.observed.count("tokens") == 0) {
        const Estimate<Bytes> kv = available_kv(d);
        c.tokens = false;
        c.predicted = in_gib(kv.expected);
        c.low = in_gib(kv.low);
        c.high = in_gib(kv.high);
        c.observed = d.observed.at("kv_gib");
        c.basis = kv.basis;
    } else {
        const bool none = tokens.expected.count() == 0;
        c.predicted = static_cast<double>(none ? p.capacity.longest_request_tokens.count() : tokens.expected.count());
        c.low = static_cast<double>(tokens.low.count());
        c.high = static_cast<double>(tokens.high.count());
        if (none) {  // the longest request that the server prints then, from the ends of the memory it finds
            const Estimate<Bytes> kv = available_kv(d);
            const double page = static_cast<double>(p.kv_cache.page_size.count()), block = p.kv_cache.bytes_per_token.value * page;
            c.low = std::floor(static_cast<double>(kv.low.count()) / block) * page;
            c.high = std::floor(static_cast<double>(kv.high.count()) / block) * page;
            c.basis = kv.basis;
        }
    }
    c.interval = mode == Mode::blind;
    const auto kv = d.observed.find("kv_gib");
    if (kv != d.observed.end()) {
        const double per_token = c.tokens && c.observed > 0 ? kv->second / c.observed : 1.0;
        c.memory_off_gib = (c.predicted - c.observed) * per_token;
        c.small_pool = kv->second < in_gib(p.gpu.budget_bytes) / 4;
    }
    return c;
}

}  // namespace

std::string_view name_of(Mode mode) {
    switch (mode) {
        case Mode::pool: return "pool";
        case Mode::given: return "given";
        case Mode::weights: return "weights";
        case Mode::blind: return "blind";
    }
    return "?";
}

bool Deployment::has(Mode mode) const { return std::find(modes.begin(), modes.end(), mode) != modes.end(); }

std::string Deployment::vote() const {
    const auto flag = [&](const char* name) { return flags.count(name) > 0 ? flags.at(name) : std::string("1"); };
    return site + "|" + engine + "|" + model + "|" + quantization + "|" + gpu + "|" + flag("tp_size") + "|" + flag("dp_size") + "|" + flag("pp_size");
}

std::vector<Deployment> measured_deployments() {
    Diagnostics diagnostics;
    const auto document = json::parse_file(kData + "deployments.json", diagnostics);
    if (!document) throw std::runtime_error(render(diagnostics));
    std::vector<Deployment> rows;
    for (const json::Value& row : document->root()["deployments"].elements()) rows.push_back(read(row));
    return rows;
}

Scenario scenario_of(const Deployment& d, Mode mode) {
    Scenario scenario;
    set(scenario, "engine", d.engine);
    for (const auto& [name, value] : d.flags) set(scenario, name, value);
    scenario.model_name = d.model;
    scenario.model = model_of(d);
    scenario.hardware.gpu_name = d.gpu;
    const auto given = [&](const char* name, const char* field) {
        const auto found = d.given.find(name);
        if (found != d.given.end()) set(scenario, field, gib(found->second) + (field == std::string_view("kv_cache_memory_bytes") ? "" : "B"));
    };
    if (d.vllm() && mode == Mode::pool) set(scenario, "kv_cache_memory_bytes", gib(d.observed.at("kv_gib")));
    if (d.vllm() && mode == Mode::given) given("available_kv_gib", "kv_cache_memory_bytes");
    if (!d.vllm() && mode == Mode::given) {
        given("gpu_free_gib", "gpu_free");
        given("weights_gib", "weights_per_gpu");
    }
    Diagnostics diagnostics;
    if (!resolve(scenario, {}, diagnostics)) throw std::runtime_error(d.id + ": " + render(diagnostics));
    // A pool that was really there is not asked whether it fits the GPU of the catalogue.
    if (d.vllm() && mode != Mode::blind && mode != Mode::weights) {
        scenario.weights_per_gpu = Bytes{1};
        scenario.hardware.gpu_free = gibibytes(2000);
    }
    return scenario;
}

Plan plan_of(const Deployment& d, Mode mode) { return plan(scenario_of(d, mode)); }

Comparison compare(const Deployment& d, Mode mode) {
    Comparison c;
    c.row = &d;
    c.mode = mode;
    const auto tokens = d.observed.find("tokens");
    if (tokens != d.observed.end()) c.observed = tokens->second;
    switch (mode) {
        case Mode::pool: return pool_of(d, c);
        case Mode::weights: return weights_of(d, c);
        case Mode::given:
        case Mode::blind: return capacity_of(d, mode, c);
    }
    return c;
}

}  // namespace kvplan::accuracy
