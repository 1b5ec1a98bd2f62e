#pragma once

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "planner/fields/fields.hpp"

namespace kvplan::fields {

/// A member of a scenario as a pair of accessors: KVPLAN_FIELD(engine.tp).
#define KVPLAN_FIELD(path) [](auto& scenario) -> auto& { return scenario.path; }

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

struct Range {
    double min = -9.2e18, max = 9.2e18;
    bool above_min = false;
};
inline constexpr Range kPositive{0, 9.2e18, true};
inline constexpr Range kNonNegative{0, 9.2e18, false};
inline constexpr Range kCount{1, 1e9, false};
inline constexpr Range kOpenFraction{0, 1, true};
inline constexpr Range kShare{0, 1, false};

[[nodiscard]] std::optional<ParseFailure> outside(double value, const Range& range);

struct Description {
    std::string_view name;
    std::vector<std::string_view> flags;
    FieldGroup group;
    std::string_view help;
    FieldEngines engines = FieldEngines::any;
    std::string_view value_name = {};
};

[[nodiscard]] FieldSpec field(Description description, FieldKind kind, std::string_view value_name);

template <class Access>
FieldSpec integer(Description description, Range range, Access access) {
    FieldSpec spec = field(std::move(description), FieldKind::integer, "N");
    spec.set = [access, range](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const Parsed<std::int64_t> parsed = parse_integer(text);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) return *failure;
        const std::int64_t value = std::get<std::int64_t>(parsed);
        if (auto failure = outside(static_cast<double>(value), range)) return failure;
        access(scenario) = value;
        return std::nullopt;
    };
    spec.get = [access](const Scenario& scenario) -> FieldValue {
        const auto& member = access(scenario);
        if constexpr (is_optional<std::decay_t<decltype(member)>>::value) {
            if (!member) return std::monostate{};
            return std::int64_t{*member};
        } else {
            return std::int64_t{member};
        }
    };
    return spec;
}

template <class Access>
FieldSpec real(Description description, Range range, Access access) {
    FieldSpec spec = field(std::move(description), FieldKind::real, "X");
    spec.set = [access, range](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const Parsed<double> parsed = parse_real(text);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) return *failure;
        const double value = std::get<double>(parsed);
        if (auto failure = outside(value, range)) return failure;
        auto& member = access(scenario);
        using Member = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<Member, std::optional<FreeMemoryFraction>>) member = FreeMemoryFraction{value};
        else if constexpr (std::is_same_v<Member, std::optional<TotalMemoryFraction>>) member = TotalMemoryFraction{value};
        else member = value;
        return std::nullopt;
    };
    spec.get = [access](const Scenario& scenario) -> FieldValue {
        const auto& member = access(scenario);
        using Member = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<Member, double>) {
            return member;
        } else {
            if (!member) return std::monostate{};
            if constexpr (std::is_same_v<Member, std::optional<double>>) return *member;
            else return member->value;
        }
    };
    return spec;
}

template <class Access>
FieldSpec text(Description description, Access access) {
    FieldSpec spec = field(std::move(description), FieldKind::text, "TEXT");
    spec.set = [access](Scenario& scenario, std::string_view value) -> std::optional<ParseFailure> {
        access(scenario) = std::string(value);
        return std::nullopt;
    };
    spec.get = [access](const Scenario& scenario) -> FieldValue {
        const std::string& member = access(scenario);
        if (member.empty()) return std::monostate{};
        return member;
    };
    return spec;
}

/// A text that must be one of `choices` (case does not matter).
[[nodiscard]] FieldSpec choice(FieldSpec text_field, std::vector<std::string_view> choices);

[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);

template <class Access>
FieldSpec toggle(Description description, Access access) {
    FieldSpec spec = field(std::move(description), FieldKind::boolean, "");
    spec.set = [access](Scenario& scenario, std::string_view value) -> std::optional<ParseFailure> {
        const std::optional<bool> parsed = parse_switch(value);
        if (!parsed) return ParseFailure{"true or false", ""};
        access(scenario) = *parsed;
        return std::nullopt;
    };
    spec.get = [access](const Scenario& scenario) -> FieldValue { return bool{access(scenario)}; };
    return spec;
}

template <class Access>
FieldSpec size(Description description, Access access) {
    FieldSpec spec = field(std::move(description), FieldKind::size, "SIZE");
    spec.set = [access](Scenario& scenario, std::string_view value) -> std::optional<ParseFailure> {
        const Parsed<Bytes> parsed = parse_size(value);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) return *failure;
        access(scenario) = std::get<Bytes>(parsed);
        return std::nullopt;
    };
    spec.get = [access](const Scenario& scenario) -> FieldValue {
        const std::optional<Bytes>& member = access(scenario);
        if (!member) return std::monostate{};
        return *member;
    };
    return spec;
}

[[nodiscard]] std::vector<FieldSpec> model_and_hardware_fields();
[[nodiscard]] std::vector<FieldSpec> engine_fields();
[[nodiscard]] std::vector<FieldSpec> vllm_fields();
[[nodiscard]] std::vector<FieldSpec> workload_fields();

}  // namespace kvplan::fields
