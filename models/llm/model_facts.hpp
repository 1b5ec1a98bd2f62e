// The facts of a model description, whichever way it is written: a Hugging Face config.json, flat or nested, or one of
// our own preset records. Families ask here by meaning; the spellings of a meaning are one list in keys.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/json/reader.hpp"
#include "models/llm/llm_spec.hpp"

namespace kvplan {

/// Upper bounds of what is believed. Real models stay far below; products of these stay within int64.
inline constexpr std::int64_t kMaxLayers = 10'000;
inline constexpr std::int64_t kMaxExperts = 100'000;
inline constexpr std::int64_t kMaxSmall = 10'000;

/// Values that replace those of the file, by any of their spellings: {"intermediate_size", 29696}. A flag is 0 or 1.
using FactOverrides = std::map<std::string, std::int64_t, std::less<>>;

/// Reads facts from a section of the description and, where it is silent, from the sections round it. Faults become
/// diagnostics; reading goes on with 1 in place of what is missing, so the caller checks `has_errors()` at the end.
class ModelFacts {
public:
    /// The sections of one description. Text models lie at the root, in text_config, language_config or llm_config.
    ModelFacts(json::Value root, json::Reader& reader, const FactOverrides& overrides);

    [[nodiscard]] const json::Value& root() const { return root_; }
    [[nodiscard]] const json::Value& text() const { return text_; }
    [[nodiscard]] bool nested() const { return nested_; }
    /// Facts of a sub-object ("vision_config", "linear_attn_config") alone, without what lies round it.
    [[nodiscard]] ModelFacts section(json::Names names) const;
    [[nodiscard]] bool exists() const { return text_.is_object(); }

    [[nodiscard]] bool has(json::Names names) const;
    [[nodiscard]] json::Value value(json::Names names) const;

    /// Whole numbers of at least 1; nothing when absent or null.
    [[nodiscard]] std::optional<std::int64_t> count(json::Names names) const;
    /// The same, and 0 counts as an answer.
    [[nodiscard]] std::int64_t count_or(json::Names names, std::int64_t fallback) const;
    /// Sides, kernels and the like, which multiply with each other: from 1 to kMaxSmall.
    [[nodiscard]] std::int64_t small_or(json::Names names, std::int64_t fallback) const;
    /// An error when absent; 1 is returned then.
    [[nodiscard]] std::int64_t required(json::Names names) const;
    [[nodiscard]] bool flag(json::Names names, bool fallback) const;
    [[nodiscard]] std::optional<double> number(json::Names names) const;
    [[nodiscard]] std::optional<std::string> word(json::Names names) const;
    /// Lists; a single number is a list of one, and "3,4,5" is a list too. Empty when absent.
    [[nodiscard]] std::vector<std::int64_t> integers(json::Names names) const;
    [[nodiscard]] std::vector<std::string> words(json::Names names) const;
    /// A number for all layers, or a list with one for each.
    [[nodiscard]] std::optional<std::int64_t> of_layer(json::Names names, std::int64_t layer) const;

    void fault(const json::Value& where, std::string code, std::string message, std::string expected) const;

    [[nodiscard]] const std::vector<Provenance>& provenance() const { return *provenance_; }

private:
    ModelFacts() = default;
    [[nodiscard]] std::optional<std::int64_t> overridden(json::Names names) const;
    void note(std::string_view fact, const json::Value& value) const;

    json::Value root_, text_;
    bool nested_ = false;
    bool alone_ = false;
    json::Reader* reader_ = nullptr;
    const FactOverrides* overrides_ = nullptr;
    std::shared_ptr<std::vector<Provenance>> provenance_;
};

}  // namespace kvplan
