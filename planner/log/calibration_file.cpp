#include <nlohmann/json.hpp>

#include "models/json/reader.hpp"
#include "planner/log/calibration.hpp"

namespace kvplan::logs {

namespace {

constexpr std::int64_t kFileVersion = 1;

nlohmann::ordered_json estimate_json(const Estimate<Bytes>& e) {
    return {{"low", e.low.count()}, {"expected", e.expected.count()}, {"high", e.high.count()}, {"basis", std::string(name_of(e.basis))}};
}

nlohmann::ordered_json optional_json(const std::optional<Bytes>& bytes) { return bytes ? nlohmann::ordered_json(bytes->count()) : nlohmann::ordered_json(); }

constexpr json::IntegerRange kAnyBytes{-(std::int64_t{1} << 50), std::int64_t{1} << 50};

Estimate<Bytes> read_estimate(json::Reader& reader, const json::Value& parent, std::string_view name) {
    const json::Value object = reader.required_object(parent, {name});
    const auto part = [&](std::string_view key) { return Bytes{reader.required_integer(object, {key}, json::kNonNegative).value_or(0)}; };
    return {part("low"), part("expected"), part("high"), Basis::measured};
}

}  // namespace

std::string calibration_json(const Calibration& c) {
    nlohmann::ordered_json document;
    document["kvplan_calibration"] = kFileVersion;
    document["source"] = c.source;
    document["deployment"] = {{"model", c.model}, {"gpu", c.gpu}, {"engine", c.engine}, {"version", c.version}, {"tp", c.tp}, {"pp", c.pp}, {"dp", c.dp}, {"ep", c.ep},
                              {"dp_attention", c.dp_attention}, {"draft_model", c.draft_model}, {"quantization", c.quantization}};
    document["measured"] = {{"free_before_load_bytes", estimate_json(c.free_before_load)},
                            {"weights_bytes", estimate_json(c.weights)},
                            {"max_total_num_tokens", c.max_total_num_tokens},
                            {"fraction", c.fraction ? nlohmann::ordered_json(*c.fraction) : nlohmann::ordered_json()}};
    document["corrections"] = {{"budget_shift_bytes", c.rules.budget_shift.count()},
                               {"cell_ratio", c.rules.cell_ratio},
                               {"left_after_pools_shift_bytes", optional_json(c.rules.left_after_pools_shift)},
                               {"left_after_graphs_shift_bytes", optional_json(c.rules.left_after_graphs_shift)}};
    return document.dump(2) + "\n";
}

std::optional<Calibration> read_calibration(std::string text, const std::string& name, Diagnostics& diagnostics) {
    const auto document = json::parse(std::move(text), name, diagnostics);
    if (!document) return std::nullopt;
    json::Reader reader(diagnostics);
    const json::Value root = document->root();
    const auto version = reader.required_integer(root, {"kvplan_calibration"}, json::kPositive);
    if (version && *version > kFileVersion) reader.error(root["kvplan_calibration"], "calibration.version", "the file is of a newer kvplan", "version 1");
    Calibration c;
    c.source = reader.string(root, {"source"}).value_or("");
    const json::Value deployment = reader.required_object(root, {"deployment"});
    c.model = reader.required_string(deployment, {"model"}).value_or("");
    c.gpu = reader.string(deployment, {"gpu"}).value_or("");
    c.engine = reader.required_string(deployment, {"engine"}).value_or("");
    c.version = reader.string(deployment, {"version"}).value_or("");
    c.tp = reader.integer(deployment, {"tp"}, json::kCount).value_or(1);
    c.pp = reader.integer(deployment, {"pp"}, json::kCount).value_or(1);
    c.dp = reader.integer(deployment, {"dp"}, json::kCount).value_or(1);
    c.ep = reader.integer(deployment, {"ep"}, json::kCount).value_or(1);
    c.dp_attention = reader.boolean(deployment, {"dp_attention"}).value_or(false);
    c.draft_model = reader.string(deployment, {"draft_model"}).value_or("");
    c.quantization = reader.string(deployment, {"quantization"}).value_or("");
    const json::Value measured = reader.required_object(root, {"measured"});
    c.free_before_load = read_estimate(reader, measured, "free_before_load_bytes");
    c.weights = read_estimate(reader, measured, "weights_bytes");
    c.max_total_num_tokens = reader.integer(measured, {"max_total_num_tokens"}, json::kNonNegative).value_or(0);
    c.fraction = reader.number(measured, {"fraction"}, json::kFraction);
    const json::Value corrections = reader.required_object(root, {"corrections"});
    c.rules.budget_shift = Bytes{reader.required_integer(corrections, {"budget_shift_bytes"}, kAnyBytes).value_or(0)};
    c.rules.cell_ratio = reader.number(corrections, {"cell_ratio"}, {0.01, 100.0, false}).value_or(1.0);
    const auto shift = [&](std::string_view key) {
        const auto bytes = reader.integer(corrections, {key}, kAnyBytes);
        return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
    };
    c.rules.left_after_pools_shift = shift("left_after_pools_shift_bytes");
    c.rules.left_after_graphs_shift = shift("left_after_graphs_shift_bytes");
    if (diagnostics.has_errors()) return std::nullopt;
    return c;
}

}  // namespace kvplan::logs
