#pragma once

#include <string_view>

namespace kvplan {

/// How a figure is known. `exact`: arithmetic from the checkpoint or the input; `engine_rule`: the engine's own
/// formula; `measured`: read from this deployment; `assumed`: a catalogue constant or a labelled assumption.
enum class Basis { exact, engine_rule, measured, assumed };

[[nodiscard]] constexpr std::string_view name_of(Basis basis) {
    switch (basis) {
        case Basis::exact: return "exact";
        case Basis::engine_rule: return "engine_rule";
        case Basis::measured: return "measured";
        case Basis::assumed: return "assumed";
    }
    return "assumed";
}

/// The weaker of two bases: a result is known no better than its worst input.
[[nodiscard]] constexpr Basis weaker(Basis a, Basis b) {
    // Ordered by trust: exact, measured, engine_rule, assumed.
    constexpr auto rank = [](Basis x) { return x == Basis::exact ? 0 : x == Basis::measured ? 1 : x == Basis::engine_rule ? 2 : 3; };
    return rank(a) >= rank(b) ? a : b;
}

/// A figure with its interval; low <= expected <= high.
template <class T>
struct Estimate {
    T low{};
    T expected{};
    T high{};
    Basis basis = Basis::assumed;

    friend bool operator==(const Estimate&, const Estimate&) = default;
};

template <class T>
[[nodiscard]] constexpr Estimate<T> certain(T value, Basis basis = Basis::exact) {
    return Estimate<T>{value, value, value, basis};
}

}  // namespace kvplan
