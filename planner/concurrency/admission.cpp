#include "planner/concurrency/admission.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvplan {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// E[min(X, clip)^k] of a log-normal X with mean 1 and log-variance s2.
double clipped_moment(double s2, double clip, int k) {
    const double s = std::sqrt(s2);
    const double d = (std::log(clip) + s2 / 2.0) / s;
    const double whole = std::exp(s2 * k * (k - 1) / 2.0);
    return whole * normal_cdf(d - k * s) + std::pow(clip, k) * normal_cdf(-d);
}

/// E[O^3]/E[O]^3. The log-variance is the one whose *clipped* second moment has the given c^2, so that the clip takes
/// away from the third moment only what a distribution with this c^2 cannot have.
double third_moment(double cv2, double clip) {
    if (cv2 <= 0.0) return 1.0;
    if (clip <= 1.0 + cv2) return std::pow(1.0 + cv2, 2.0);  // no room for a tail: that of two points
    double nominal = cv2;
    for (int round = 0; round < 4; ++round) {
        const double got = clipped_moment(std::log1p(nominal), clip, 2) - 1.0;
        nominal = std::min(nominal * cv2 / std::max(got, cv2 / 4.0), 8.0 * cv2);
    }
    return std::max(clipped_moment(std::log1p(nominal), clip, 3), std::pow(1.0 + cv2, 2.0));
}

/// The limit a client sends, as the engine cuts it to the context; `exact` when each asks for just what it will get.
double limit_sent(const AdmissionCase& c, double exact) {
    if (!c.request.max_new) return exact;
    if (c.context_tokens <= 0.0) return *c.request.max_new;
    return std::min(*c.request.max_new, std::max(exact, c.context_tokens - c.request.input));
}

double available(const AdmissionCase& c) {
    return std::max(0.0, c.pool_tokens - std::min(c.request.shared_prefix, c.request.input));
}

}  // namespace

double private_input(const RequestShape& request) { return std::max(0.0, request.input - request.shared_prefix); }

double mean_footprint(const RequestShape& request, double page) {
    return private_input(request) + request.bias + request.output / 2.0 * (1.0 + request.output_cv2) + (page - 1.0) / 2.0;
}

double head_of_queue_gap(const RequestShape& request) { return private_input(request) * (1.0 + request.input_cv2) / 2.0; }

double steady_state_concurrency(const AdmissionCase& c) {
    const double footprint = mean_footprint(c.request, c.page);
    if (footprint <= 0.0) return 0.0;
    return std::max(0.0, (available(c) - head_of_queue_gap(c.request)) / footprint);
}

double full_length_concurrency(const AdmissionCase& c) {
    const double room = std::max(0.0, available(c) - 1.0);
    const bool equal = c.request.output_cv2 <= 0.0 && c.request.input_cv2 <= 0.0;
    const double peak = private_input(c.request) + c.request.bias + c.request.output * (1.0 + c.request.output_cv2);
    if (peak <= 0.0) return 0.0;
    if (!equal) return room / (peak + (c.page - 1.0) / 2.0);
    return std::floor(room / (std::ceil(peak / c.page) * c.page));
}

double footprint_deviation(const RequestShape& request, double longest_output) {
    const double input = private_input(request), output = request.output;
    if (output <= 0.0) return input * std::sqrt(request.input_cv2);
    const double input2 = input * input * (1.0 + request.input_cv2);
    const double output2 = output * (1.0 + request.output_cv2);               // E[O^2]/E[O]
    const double output3 = output * output * third_moment(request.output_cv2, longest_output / output);
    const double mean = input + output2 / 2.0;
    return std::sqrt(std::max(0.0, input2 + input * output2 + output3 / 3.0 - mean * mean));
}

double retraction_free_concurrency(const AdmissionCase& c, double risk) {
    const double footprint = mean_footprint(c.request, c.page);
    if (footprint <= 0.0) return 0.0;
    // A request longer than half the pool has no equal beside it; the tail is cut there.
    const double longest = std::max(c.request.output, c.pool_tokens / 2.0 - private_input(c.request));
    const double spread = std::max(0.0, normal_quantile(1.0 - risk)) * footprint_deviation(c.request, longest);
    const double root = (std::sqrt(spread * spread + 4.0 * footprint * available(c)) - spread) / (2.0 * footprint);
    const double steady = steady_state_concurrency(c);
    return std::max(std::min(root * root, steady), std::min(full_length_concurrency(c), std::max(steady, 1.0)));
}

double reserved_at_admission(const AdmissionCase& c, double clip) { return std::min(limit_sent(c, c.request.output), clip); }

double mean_remaining(const AdmissionCase& c, double clip) {
    const double biased = c.request.output * (1.0 + c.request.output_cv2);
    const double asked = limit_sent(c, biased);
    const double span = std::min(biased, asked);
    if (span <= 0.0) return std::min(asked, clip);
    // generated g is uniform on [0, span]; min(asked - g, clip) is flat until g = asked - clip and then falls.
    const double flat = std::clamp(asked - clip, 0.0, span);
    const double falling = (span - flat) * (asked - (flat + span) / 2.0);
    return (flat * clip + falling) / span;
}

double normal_quantile(double p) {
    static constexpr std::array<double, 6> a{-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                             1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static constexpr std::array<double, 5> b{-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                             6.680131188771972e+01, -1.328068155288572e+01};
    static constexpr std::array<double, 6> c{-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                             -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static constexpr std::array<double, 4> d{7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
    const auto tail = [](double q) {
        return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    };
    constexpr double kLow = 0.02425;
    p = std::clamp(p, 1e-300, 1.0 - 1e-16);
    if (p < kLow) return tail(std::sqrt(-2.0 * std::log(p)));
    if (p > 1.0 - kLow) return -tail(std::sqrt(-2.0 * std::log1p(-p)));
    const double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

double cv2_from_p95(double mean, double p95) {
    if (mean <= 0.0 || p95 <= mean) return 0.0;
    constexpr double z = 1.6448536269514722;
    const double under_root = std::max(0.0, z * z - 2.0 * std::log(p95 / mean));
    const double sigma = z - std::sqrt(under_root);
    return std::expm1(sigma * sigma);
}

}  // namespace kvplan
