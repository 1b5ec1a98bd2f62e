#include "units/format.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace kvplan {

namespace {

std::string plain_fixed(double x, int decimals) {
    std::array<char, 400> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, std::chars_format::fixed, decimals);
    return error == std::errc{} ? std::string(buffer.data(), end) : std::string("?");
}

std::string grouped(std::string digits) {
    const std::size_t start = (!digits.empty() && digits.front() == '-') ? 1 : 0;
    std::size_t point = digits.find('.');
    if (point == std::string::npos) point = digits.size();
    for (std::size_t i = point; i > start + 3;) {
        i -= 3;
        digits.insert(i, ",");
    }
    return digits;
}

std::string scaled(Bytes bytes, double base, const std::array<const char*, 6>& names) {
    double x = static_cast<double>(bytes.count());
    std::size_t step = 0;
    // 999.995 would print as 1000.00: move on before that.
    while (std::abs(x) >= base - 0.005 * (step > 0 ? 1 : 0) && step + 1 < names.size()) {
        x /= base;
        ++step;
    }
    return (step == 0 ? with_commas(bytes.count()) : fixed(x, 2)) + " " + names[step];
}

}  // namespace

std::string with_commas(std::int64_t n) { return grouped(std::to_string(n)); }

std::string fixed(double x, int decimals) {
    if (!std::isfinite(x)) return std::isnan(x) ? "nan" : (x > 0 ? "inf" : "-inf");
    return grouped(plain_fixed(x, decimals));
}

std::string shortest(double x, int decimals) {
    std::string text = fixed(x, decimals);
    if (text.find('.') != std::string::npos) {
        while (text.back() == '0') text.pop_back();
        if (text.back() == '.') text.pop_back();
    }
    return text;
}

std::string binary_size(Bytes bytes) { return scaled(bytes, 1024.0, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}); }
std::string decimal_size(Bytes bytes) { return scaled(bytes, 1000.0, {"B", "kB", "MB", "GB", "TB", "PB"}); }

std::string percent(double fraction, int decimals) { return fixed(fraction * 100.0, decimals) + " %"; }

std::string duration(double seconds) {
    if (!std::isfinite(seconds)) return fixed(seconds, 0);
    if (seconds < 1e-3) return shortest(seconds * 1e6, 1) + " us";
    if (seconds < 1.0) return shortest(seconds * 1e3, 1) + " ms";
    if (seconds < 60.0) return shortest(seconds, 2) + " s";
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return with_commas(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace kvplan
