#pragma once

#include <optional>

namespace kvplan {

// Closed forms of how many requests a KV pool holds at once, for one pool (one DP worker). Derived in docs/method-concurrency.md.
// Lengths are in tokens and may be fractional means; results are real numbers of requests, never negative.
//
//   E = mean;  I = prompt without the shared prefix;  O = output;  c^2 = Var(O)/E[O]^2;  M = pool;  S = shared prefix;  P = page

/// What is known of the requests. `input` counts the whole prompt, the shared prefix included.
struct RequestShape {
    double input = 0.0;                 // E[prompt] > 0 or output > 0
    double output = 0.0;                // E[output]
    double input_cv2 = 0.0;             // squared coefficients of variation
    double output_cv2 = 0.0;
    double shared_prefix = 0.0;         // tokens that all requests have in common; at most `input`
    double bias = 0.0;                  // Cov(I, O)/E[O]: how much longer prompts of long answers are
    std::optional<double> max_new = {}; // the limit clients send; unset: each asks for just its own output
};

/// One pool and the requests offered to it.
struct AdmissionCase {
    double pool_tokens = 0.0;
    double page = 1.0;
    double context_tokens = 0.0;        // longest prompt + output the engine allows; 0: no limit known
    RequestShape request = {};
};

/// E[I], the prompt that each request holds for itself.
[[nodiscard]] double private_input(const RequestShape& request);

/// Mean tokens held by a request seen at a random moment, beside the shared prefix; requests are present in proportion to
/// their output, during which they grow from I to I + O:
///     f = E[I] + Cov(I,O)/E[O] + (E[O]/2)(1 + c^2) + (P-1)/2
[[nodiscard]] double mean_footprint(const RequestShape& request, double page);

/// Tokens kept idle by the request at the head of the queue that does not fit yet: half a size-biased prompt, E[I^2]/(2 E[I]).
[[nodiscard]] double head_of_queue_gap(const RequestShape& request);

/// Mean concurrency when memory is always full: (M - S - g)/f.
[[nodiscard]] double steady_state_concurrency(const AdmissionCase& c);

/// Concurrency when the whole length is reserved at admission, so that nothing is ever taken back:
///     (M - S - 1)/(E[I] + Cov(I,O)/E[O] + E[O](1 + c^2)),
/// in whole requests of whole pages when all requests are equal (a pool without one token to spare refuses).
[[nodiscard]] double full_length_concurrency(const AdmissionCase& c);

/// Standard deviation of the footprint of a request seen at a random moment:
///     sigma^2 = E[I^2] + E[I] E[O^2]/E[O] + E[O^3]/(3 E[O]) - f^2   (I and O independent).
/// E[O^3] is that of a log-normal with this c^2, clipped at `longest_output` (a heavier tail cannot be in the pool).
[[nodiscard]] double footprint_deviation(const RequestShape& request, double longest_output);

/// Largest n with n f + z sqrt(n) sigma <= M - S, z = normal quantile of 1 - risk: the pool overflows a share `risk` of the
/// time when requests are at independent phases. Never below full_length_concurrency nor above steady_state_concurrency.
/// Requests that start together (a benchmark's first wave) peak together: then only the full length is safe.
[[nodiscard]] double retraction_free_concurrency(const AdmissionCase& c, double risk);

/// E[min(max_new - generated, clip)] over the requests in flight; generated is uniform on 0..E[O](1 + c^2), the mean
/// length-biased output. When each request asks for just its own output and the clip is far this is (E[O]/2)(1 + c^2).
[[nodiscard]] double mean_remaining(const AdmissionCase& c, double clip);

/// min(max_new, clip) of a request that waits.
[[nodiscard]] double reserved_at_admission(const AdmissionCase& c, double clip);

/// x with P(standard normal <= x) = p, 0 < p < 1 (Acklam's rational approximation, relative error below 1.2e-9).
[[nodiscard]] double normal_quantile(double p);

/// c^2 of a log-normal from its mean and 95th percentile: with z = 1.6449 and r = p95/mean,
/// sigma = z - sqrt(z^2 - 2 ln r), c^2 = exp(sigma^2) - 1. 0 when r <= 1; r beyond the largest a log-normal has
/// (exp(z^2/2) = 3.87) counts as that.
[[nodiscard]] double cv2_from_p95(double mean, double p95);

}  // namespace kvplan
