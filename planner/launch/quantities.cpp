#include "planner/launch/quantities.hpp"

#include <string>

#include "units/ascii.hpp"
#include "units/parse.hpp"

namespace kvplan::launch {
namespace {

struct Split {
    double number = 0.0;
    std::string_view unit;
};

/// "1.5Gi" -> 1.5, "Gi". An exponent belongs to the number when digits follow it.
std::optional<Split> split(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t end = 0;
    while (end < text.size() && (digit(text[end]) || text[end] == '.')) ++end;
    if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        std::size_t exponent = end + 1;
        if (text[exponent] == '+' || text[exponent] == '-') ++exponent;
        if (exponent < text.size() && digit(text[exponent])) {
            end = exponent;
            while (end < text.size() && digit(text[end])) ++end;
        }
    }
    const Parsed<double> number = parse_real(text.substr(0, end));
    if (!parse_ok(number) || std::get<double>(number) < 0.0) return std::nullopt;
    return Split{std::get<double>(number), text.substr(end)};
}

std::optional<Bytes> scaled(double number, double unit) {
    const double bytes = number * unit;
    if (!(bytes < 9.0e18)) return std::nullopt;
    return floor_bytes(bytes);
}

}  // namespace

std::optional<Bytes> kubernetes_bytes(std::string_view text) {
    struct Suffix {
        std::string_view name;
        double scale;
    };
    constexpr Suffix kSuffixes[] = {{"", 1.0}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15},
                                    {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0}, {"Pi", 1125899906842624.0}};
    const std::optional<Split> parts = split(text);
    if (!parts) return std::nullopt;
    for (const Suffix& suffix : kSuffixes)
        if (suffix.name == parts->unit) return scaled(parts->number, suffix.scale);
    return std::nullopt;
}

std::optional<Bytes> docker_bytes(std::string_view text) {
    const std::optional<Split> parts = split(text);
    if (!parts) return std::nullopt;
    std::string unit = lower(parts->unit);
    while (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
    if (unit.size() == 3 && unit.substr(1) == "ib") unit.resize(1);
    if (unit.size() == 2 && unit[1] == 'b') unit.resize(1);
    if (unit.empty() || unit == "b") return scaled(parts->number, 1.0);
    constexpr std::string_view kUnits = "kmgtp";
    const std::size_t power = kUnits.find(unit);
    if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
    double scale = 1.0;
    for (std::size_t i = 0; i <= power; ++i) scale *= 1024.0;
    return scaled(parts->number, scale);
}

}  // namespace kvplan::launch
