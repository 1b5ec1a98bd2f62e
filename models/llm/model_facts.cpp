#include "models/llm/model_facts.hpp"

#include <algorithm>
#include <charconv>

#include "models/llm/keys.hpp"

namespace kvplan {
namespace {

/// "3,4,5" -> 3, 4, 5; nothing when any part is no number.
std::optional<std::vector<std::int64_t>> packed_list(std::string_view text) {
    std::vector<std::int64_t> numbers;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string_view part = text.substr(0, comma);
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
        if (error != std::errc{} || end != part.data() + part.size()) return std::nullopt;
        numbers.push_back(number);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return numbers;
}

}  // namespace

ModelFacts::ModelFacts(json::Value root, json::Reader& reader, const FactOverrides& overrides)
    : root_(root),
      text_(root),
      reader_(&reader),
      overrides_(&overrides),
      provenance_(std::make_shared<std::vector<Provenance>>()) {
    for (const std::string_view name : keys::kTextSections) {
        const json::Value section = root[name];
        if (!section.is_object()) continue;
        reader.mark_used(section);
        text_ = section;
        nested_ = true;
        break;
    }
}

ModelFacts ModelFacts::section(json::Names names) const {
    ModelFacts part;
    part.reader_ = reader_;
    part.overrides_ = overrides_;
    part.provenance_ = provenance_;
    part.alone_ = true;
    part.root_ = root_;
    for (const json::Value& place : {text_, root_}) {
        const json::Value found = reader_->find(place, names);
        if (!found.is_object()) continue;
        part.text_ = found;
        break;
    }
    return part;
}

json::Value ModelFacts::value(json::Names names) const {
    const json::Value inner = reader_->find(text_, names);
    if (inner.has_value() || alone_ || !nested_) return inner;
    const json::Value outer = reader_->find(root_, names);
    return outer.has_value() ? outer : inner;
}

bool ModelFacts::has(json::Names names) const { return overridden(names).has_value() || value(names).has_value(); }

std::optional<std::int64_t> ModelFacts::overridden(json::Names names) const {
    if (alone_) return std::nullopt;
    for (const std::string_view name : names) {
        const auto found = overrides_->find(name);
        if (found != overrides_->end()) return found->second;
    }
    return std::nullopt;
}

void ModelFacts::note(std::string_view fact, const json::Value& value) const {
    const std::string source = value.pointer();
    for (const Provenance& known : *provenance_)
        if (known.source == source) return;
    provenance_->push_back({std::string(fact), value.describe(), source});
}

std::optional<std::int64_t> ModelFacts::count(json::Names names) const {
    if (const auto forced = overridden(names)) return forced;
    const json::Value found = value(names);
    if (!found.has_value()) return std::nullopt;
    note(names.first(), found);
    return reader_->as_integer(found, json::kCount);
}

std::int64_t ModelFacts::count_or(json::Names names, std::int64_t fallback) const {
    if (const auto forced = overridden(names)) return *forced;
    const json::Value found = value(names);
    if (!found.has_value()) return fallback;
    note(names.first(), found);
    return reader_->as_integer(found, json::kCountOrZero).value_or(fallback);
}

std::int64_t ModelFacts::small_or(json::Names names, std::int64_t fallback) const {
    const json::Value found = value(names);
    if (!found.has_value()) return fallback;
    note(names.first(), found);
    return reader_->as_integer(found, json::IntegerRange{1, kMaxSmall}).value_or(fallback);
}

std::int64_t ModelFacts::required(json::Names names) const {
    if (has(names)) return count(names).value_or(1);
    // The public spelling (the second) is the one a reader of config.json looks for.
    const json::Value place = value(names);
    std::string spellings;
    for (const std::string_view name : names) spellings += (spellings.empty() ? "" : ", ") + std::string(name);
    const std::string_view known = names.end() - names.begin() > 1 ? *(names.begin() + 1) : names.first();
    reader_->error(place.exists() ? place : text_, "value.missing", std::string(known) + " is missing",
                   "a whole number of at least 1", "any of these names is read: " + spellings);
    return 1;
}

bool ModelFacts::flag(json::Names names, bool fallback) const {
    if (const auto forced = overridden(names)) return *forced != 0;
    const json::Value found = value(names);
    if (!found.has_value()) return fallback;
    note(names.first(), found);
    return reader_->as_boolean(found).value_or(fallback);
}

std::optional<double> ModelFacts::number(json::Names names) const {
    const json::Value found = value(names);
    if (!found.has_value()) return std::nullopt;
    note(names.first(), found);
    return reader_->as_number(found, json::kAnyNumber);
}

std::optional<std::string> ModelFacts::word(json::Names names) const {
    const json::Value found = value(names);
    if (!found.has_value()) return std::nullopt;
    note(names.first(), found);
    return reader_->as_string(found);
}

std::vector<std::int64_t> ModelFacts::integers(json::Names names) const {
    std::vector<std::int64_t> numbers;
    const json::Value found = value(names);
    if (!found.has_value()) return numbers;
    note(names.first(), found);
    if (const auto text = found.string()) {
        if (auto packed = packed_list(*text)) return *packed;
        reader_->error(found, "value.type", std::string(names.first()) + " is no list of numbers",
                       "whole numbers with commas between");
        return numbers;
    }
    if (!found.is_array()) {
        if (const auto one = reader_->as_integer(found, json::kCountOrZero)) numbers.push_back(*one);
        return numbers;
    }
    numbers.reserve(found.size());
    for (const json::Value& element : found.elements()) {
        // A null stands for "none" in per-layer lists.
        numbers.push_back(element.has_value() ? reader_->as_integer(element, json::kCountOrZero).value_or(0) : 0);
    }
    return numbers;
}

std::vector<std::string> ModelFacts::words(json::Names names) const {
    std::vector<std::string> words;
    const json::Value found = value(names);
    if (!found.has_value()) return words;
    note(names.first(), found);
    if (!found.is_array()) {
        reader_->error(found, "value.type", std::string(names.first()) + " is no list", "a list of names");
        return words;
    }
    words.reserve(found.size());
    for (const json::Value& element : found.elements())
        words.push_back(reader_->as_string(element).value_or(std::string{}));
    return words;
}

std::optional<std::int64_t> ModelFacts::of_layer(json::Names names, std::int64_t layer) const {
    if (const auto forced = overridden(names)) return forced;
    const json::Value found = value(names);
    if (!found.is_array()) return count(names);
    note(names.first(), found);
    const json::Value element = found.at(static_cast<std::size_t>(layer));
    if (!element.exists())
        reader_->error(found, "value.range", std::string(names.first()) + " has fewer entries than there are layers",
                       "one entry a layer");
    return reader_->as_integer(element, json::kCountOrZero);
}

void ModelFacts::fault(const json::Value& where, std::string code, std::string message, std::string expected) const {
    reader_->error(where, std::move(code), std::move(message), std::move(expected));
}

}  // namespace kvplan
