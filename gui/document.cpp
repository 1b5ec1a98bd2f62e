#include "gui/document.hpp"

#include <algorithm>

#include "units/quantity.hpp"

namespace kvplan::gui {

namespace {

constexpr std::size_t kMostSteps = 200;

// Fields by which resolve() reads files; the others cost arithmetic only.
constexpr std::string_view kLookedUp[] = {"model", "quantization", "draft_model", "gpu", "workload_from"};

Values looked_up_part(const Values& values) {
    Values part;
    for (const std::string_view name : kLookedUp)
        if (const auto found = values.find(name); found != values.end()) part.insert(*found);
    return part;
}

bool belongs(const FieldSpec& field, EngineKind kind) {
    return field.engines == FieldEngines::any || (field.engines == FieldEngines::vllm) == (kind == EngineKind::vllm);
}

std::string sentence(const Diagnostic& diagnostic) {
    std::string text = diagnostic.message;
    if (!diagnostic.expected.empty()) text += (text.empty() ? "expected " : ": expected ") + diagnostic.expected;
    if (!diagnostic.hint.empty()) text += (text.empty() ? "" : "; ") + diagnostic.hint;
    return text;
}

}  // namespace

Document::Document(CatalogueOptions catalogues) : catalogues_(std::move(catalogues)) { replace(founding_values()); undo_.clear(); }

std::string_view Document::value(std::string_view field) const {
    const auto found = values_.find(field);
    return found == values_.end() ? std::string_view{} : std::string_view(found->second);
}

void Document::begin_step(std::string_view field, std::int64_t gesture) {
    const bool same = gesture != 0 && gesture == last_gesture_ && last_field_ == field;
    last_gesture_ = gesture;
    last_field_ = std::string(field);
    redo_.clear();
    if (same) return;
    if (undo_.size() >= kMostSteps) undo_.erase(undo_.begin());
    undo_.push_back(values_);
}

void Document::set(std::string_view field, std::string_view text, std::int64_t gesture) {
    if (value(field) == text) return;
    begin_step(field, gesture);
    if (text.empty()) values_.erase(std::string(field));
    else values_.insert_or_assign(std::string(field), std::string(text));
    recompute();
}

void Document::set_all(const Values& changes) {
    begin_step("", 0);
    for (const auto& [field, text] : changes) {
        if (text.empty()) values_.erase(field);
        else values_.insert_or_assign(field, text);
    }
    recompute();
}

void Document::replace(Values values, std::optional<launch::ParsedLaunch> launch) {
    begin_step("", 0);
    values_ = std::move(values);
    launch_ = std::move(launch);
    recompute();
}

void Document::undo() {
    if (undo_.empty()) return;
    redo_.push_back(std::move(values_));
    values_ = std::move(undo_.back());
    undo_.pop_back();
    last_gesture_ = 0;
    recompute();
}

void Document::redo() {
    if (redo_.empty()) return;
    undo_.push_back(std::move(values_));
    values_ = std::move(redo_.back());
    redo_.pop_back();
    last_gesture_ = 0;
    recompute();
}

std::optional<Scenario> Document::typed() {
    Scenario scenario;
    // The engine first: it decides which of the other fields are asked for.
    if (const auto engine = values_.find("engine"); engine != values_.end())
        if (const auto failure = set_field(scenario, *find_field("engine"), engine->second, "flag")) faults_["engine"] = "expected " + failure->expected;
    for (const auto& [name, text] : values_) {
        const FieldSpec* field = find_field(name);
        if (field == nullptr || name == "engine" || !belongs(*field, scenario.engine.kind)) continue;
        const auto failure = set_field(scenario, *field, text, "flag");
        if (failure) faults_[name] = "expected " + failure->expected + (failure->hint.empty() ? "" : "; " + failure->hint);
    }
    if (!faults_.empty()) return std::nullopt;
    if (planned_ && looked_up_part(values_) == looked_up_of_) {
        scenario.model = planned_->scenario.model;
        scenario.draft_model = planned_->scenario.draft_model;
        scenario.gpu = planned_->scenario.gpu;
        scenario.free_memory = planned_->scenario.free_memory;
        scenario.reuse = planned_->scenario.reuse;
    }
    return scenario;
}

void Document::recompute() {
    ++revision_;
    faults_.clear();
    remarks_.clear();
    std::optional<Scenario> scenario = typed();
    if (!scenario) return;
    Diagnostics diagnostics;
    try {
        const bool resolved = resolve(*scenario, catalogues_, diagnostics);
        for (const Diagnostic& diagnostic : diagnostics.items()) {
            if (diagnostic.severity != Severity::error) {
                remarks_.push_back(sentence(diagnostic));
                continue;
            }
            const FieldSpec* field = diagnostic.pointer.empty() ? nullptr : find_field(diagnostic.pointer);
            std::string& fault = faults_[field == nullptr ? std::string() : std::string(field->name)];
            if (fault.empty()) fault = sentence(diagnostic);
        }
        if (!resolved) {
            if (faults_.empty()) faults_[""] = "this cannot be planned";
            return;
        }
        Plan result = plan(*scenario);
        planned_ = std::make_shared<const Planned>(Planned{std::move(*scenario), std::move(result)});
        looked_up_of_ = looked_up_part(values_);
    } catch (const OverflowError& error) {
        faults_[""] = error.what();
    }
}

Values founding_values() {
    return {
        {"model", "kimi-k2.5"},
        {"gpu", "rtx-pro-6000-blackwell"},
        {"tp_size", "8"},
        {"mem_fraction_static", "0.85"},
        {"host_ram", "449GB"},
        {"host_available", "408GB"},
        {"enable_hierarchical_cache", "true"},
        {"hicache_size", "39"},
        {"input_tokens", "12000"},
        {"output_tokens", "3500"},
    };
}

}  // namespace kvplan::gui
