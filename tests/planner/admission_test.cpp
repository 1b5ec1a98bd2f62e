#include "planner/concurrency/admission.hpp"

#include <cmath>

#include "planner/engines/sglang/admission.hpp"
#include "planner/engines/vllm/admission.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

// The founding pool: 116,000 tokens, requests of 4,000 tokens on average.
AdmissionCase founding(double input, double output, double cv2) {
    return {.pool_tokens = 116'000, .page = 1, .request = {.input = input, .output = output, .output_cv2 = cv2}};
}

bool within(double x, double expected, double tolerance) { return std::abs(x - expected) <= tolerance; }

}  // namespace

TEST_CASE("Full length: 28 equal requests of 4,000 fit in 116,000 tokens, whatever their split", "[concurrency]") {
    // (116,000 - 1)/4,000 = 28.9998: 29 would leave no token, and the test is strict.
    for (const double output : {500.0, 2000.0, 3000.0, 3500.0}) CHECK(full_length_concurrency(founding(4000 - output, output, 0)) == 28);
    AdmissionCase one_more = founding(500, 3500, 0);
    one_more.pool_tokens = 116'001;
    CHECK(full_length_concurrency(one_more) == 29);
    // Pages of 64: 4,000 -> 63 pages = 4,032; 115,999/4,032 = 28.77
    AdmissionCase paged = founding(500, 3500, 0);
    paged.page = 64;
    CHECK(full_length_concurrency(paged) == 28);
}

TEST_CASE("Full length of spread outputs counts long ones in proportion to their stay", "[concurrency]") {
    // 115,999/(3,500 + 500 x 2) = 25.78;  115,999/(1,000 + 3,000 x 2.85) = 12.15;  115,999/(500 + 3,500 x 2) = 15.47
    CHECK(within(full_length_concurrency(founding(3500, 500, 1)), 25.78, 0.01));
    CHECK(within(full_length_concurrency(founding(1000, 3000, 1.85)), 12.15, 0.01));
    CHECK(within(full_length_concurrency(founding(500, 3500, 1)), 15.47, 0.01));
}

TEST_CASE("Steady state: growing requests hold half their output on average", "[concurrency]") {
    // f = 500 + 1,750 = 2,250; gap 250: (116,000 - 250)/2,250 = 51.44 (simulated 51.5)
    CHECK(within(steady_state_concurrency(founding(500, 3500, 0)), 51.44, 0.01));
    // f = 3,750, gap 1,750: 114,250/3,750 = 30.47 (simulated 30.5);  f = 3,000, gap 1,000: 38.33 (simulated 38.4)
    CHECK(within(steady_state_concurrency(founding(3500, 500, 0)), 30.47, 0.01));
    CHECK(within(steady_state_concurrency(founding(2000, 2000, 0)), 38.33, 0.01));
    // c^2 = 1 makes growth and length bias cancel: f = 4,000; gap 1,750: 28.56 (simulated 28.5)
    CHECK(within(steady_state_concurrency(founding(3500, 500, 1)), 28.56, 0.01));
    // c^2 = 2: f = 3,500 + 250 x 3 = 4,250; 114,250/4,250 = 26.88 (simulated 26.9)
    CHECK(within(steady_state_concurrency(founding(3500, 500, 2)), 26.88, 0.01));
}

TEST_CASE("Steady state agrees with simulated real traces once the blocked head of the queue is counted", "[concurrency]") {
    // Mooncake conversation: gap given as E[I^2]/(2E[I]) = 10,275 = 10,091 (1 + 1.0365)/2; f = 11,050 = 10,091 + 171 (1 + c^2)
    const RequestShape mooncake{.input = 10'091, .output = 342, .input_cv2 = 2 * 10'275.0 / 10'091 - 1, .output_cv2 = (11'050.0 - 10'091) / 171 - 1};
    CHECK(within(steady_state_concurrency({.pool_tokens = 116'000, .page = 1, .request = mooncake}), 9.57, 0.01));
    // Azure conversation (I 1,155, O 211, c^2 0.6) fits 94.6 by the formula, so f = 116,000/94.6 = 1,226.2: its long answers
    // follow short prompts, Cov/E[O] = 1,226.2 - 1,155 - 105.5 x 1.6 = -97.6
    CHECK(within(mean_footprint({.input = 1155, .output = 211, .output_cv2 = 0.6, .bias = -97.6}, 1), 1226.2, 0.01));
}

TEST_CASE("A shared prefix is held once", "[concurrency][prefix]") {
    // 1,700 of 4,000 shared, the rest prompt: (116,000 - 1,700 - gap)/2,300; without the gap the theory's 50.4 = 116,000/2,300.
    AdmissionCase c = founding(4000, 0, 0);
    c.request.shared_prefix = 1700;
    CHECK(within(mean_footprint(c.request, 1), 2300, 1e-9));
    CHECK(within(steady_state_concurrency(c), (116'000 - 1700 - 1150) / 2300.0, 1e-9));
    c.request.shared_prefix = 9000;  // never more than the prompt
    CHECK(private_input(c.request) == 0);
}

TEST_CASE("Retraction-free concurrency leaves room for the spread of footprints", "[concurrency][risk]") {
    // Fixed 500/3,500: sigma = 3,500/sqrt(12) = 1,010.4, z = 2.3263: ((-2350.5 + sqrt(2350.5^2 + 4 x 2,250 x 116,000))/4,500)^2
    //   = ((-2350.5 + 32,396.4)/4,500)^2 = 6.6769^2 = 44.58
    CHECK(within(footprint_deviation({.input = 500, .output = 3500}, 58'000), 3500 / std::sqrt(12.0), 1e-6));
    CHECK(within(retraction_free_concurrency(founding(500, 3500, 0), 0.01), 44.58, 0.02));
    // The theory's table at z = 2.33 (simulated distributions are cut at half the pool, as here).
    struct Row { double input, output, cv2, n; };
    for (const Row& row : {Row{3500, 500, 0, 30.4}, Row{3500, 500, 1, 27.0}, Row{3500, 500, 2, 23.8}, Row{2000, 2000, 0, 36.0}, Row{2000, 2000, 1, 22.0},
                           Row{1000, 3000, 0, 41.2}, Row{1000, 3000, 1, 19.4}, Row{1000, 3000, 1.85, 12.4}, Row{500, 3500, 1, 18.3}}) {
        INFO(row.input << "/" << row.output << " c^2 " << row.cv2);
        CHECK(within(retraction_free_concurrency(founding(row.input, row.output, row.cv2), 0.01), row.n, 0.01 * row.n));
    }
    CHECK(retraction_free_concurrency(founding(500, 3500, 0), 0.001) < retraction_free_concurrency(founding(500, 3500, 0), 0.1));
}

TEST_CASE("SGLang admits until its reservation for tokens to come fills the pool", "[concurrency][sglang]") {
    const EngineOptions options;
    CHECK(within(sglang::steady_new_token_ratio(options), 0.098, 1e-12));  // 0.7 x 0.14
    AdmissionCase c{.pool_tokens = 772'800, .page = 64, .request = {.input = 8000, .output = 1000, .max_new = 1000}};
    // (772,800 - 8,000 - 1,000 - 64)/(8,500 + 0.098 x 500) = 763,736/8,549 = 89.34
    CHECK(within(sglang::admitted_requests(options, c), 89.34, 0.01));
    c.request.max_new = 32'768;
    // users over-ask: rest is clipped to 4,096 all along: (772,800 - 8,000 - 4,096 - 64)/(8,500 + 401.4) = 85.45
    CHECK(within(mean_remaining(c, 4096), 4096, 1e-9));
    CHECK(within(sglang::admitted_requests(options, c), 85.45, 0.01));
    // 3,500/500 of the founding pool with max_new 32,768: 108,403/4,151.4 = 26.11 (simulated 27.0)
    AdmissionCase over = founding(3500, 500, 0);
    over.request.max_new = 32'768;
    CHECK(within(sglang::admitted_requests(options, over), 26.11, 0.01));
    // 500/3,500, each asking for its own output: 111,999/(2,250 + 0.098 x 1,750) = 46.25, between 28 and 51
    CHECK(within(sglang::admitted_requests(options, founding(500, 3500, 0)), 46.25, 0.01));
    // 9,000 tokens: (9,000 - 500 - 3,500 - 1)/2,421.5 = 2.06; 4,100: 0.04, but the first one is let in; 4,000: never fits.
    const auto pool_of = [](double tokens) {
        AdmissionCase small = founding(500, 3500, 0);
        small.pool_tokens = tokens;
        return small;
    };
    CHECK(within(sglang::admitted_requests(options, pool_of(9'000)), 2.06, 0.01));
    CHECK(sglang::admitted_requests(options, pool_of(4'100)) == 1.0);
    CHECK(sglang::admitted_requests(options, pool_of(4'000)) == 0.0);
}

TEST_CASE("DP attention makes SGLang's admission less conservative", "[concurrency][sglang]") {
    EngineOptions options;
    options.dp = 8;
    options.enable_dp_attention = true;
    CHECK(within(sglang::steady_new_token_ratio(options), 0.0294, 1e-12));  // 0.21 x 0.14
    options.schedule_conservativeness = 10;
    CHECK(within(sglang::steady_new_token_ratio(options), 0.14, 1e-12));    // capped at 1 x 0.14
}

TEST_CASE("vLLM reserves nothing: blocks alone limit", "[concurrency][vllm]") {
    // 611,136 tokens in blocks of 64: 611,136/(8,000 + 500 + 31.5) = 71.63
    const AdmissionCase c{.pool_tokens = 611'136, .page = 64, .request = {.input = 8000, .output = 1000}};
    CHECK(within(vllm::admitted_requests(c), 71.63, 0.01));
}

TEST_CASE("What is left to generate is clipped piecewise", "[concurrency]") {
    // asks 5,000, generates 2,000: g up to 904 gives 4,096, then 5,000 - g: (904 x 4,096 + 1,096 x 3,548)/2,000 = 3,795.7
    const AdmissionCase c{.pool_tokens = 1e6, .page = 1, .request = {.input = 100, .output = 2000, .max_new = 5000}};
    CHECK(within(mean_remaining(c, 4096), 3795.7, 0.1));
    // its own output of 8,000: rest falls from 8,000 to 0: (3,904 x 4,096 + 4,096 x 2,048)/8,000 = 3,047.4
    CHECK(within(mean_remaining({.pool_tokens = 1e6, .page = 1, .request = {.input = 1, .output = 8000}}, 4096), 3047.4, 0.1));
}

TEST_CASE("Normal quantiles and log-normal spreads match tables", "[concurrency]") {
    CHECK(within(normal_quantile(0.99), 2.3263478740, 1e-7));
    CHECK(within(normal_quantile(0.5), 0.0, 1e-9));
    CHECK(within(normal_quantile(0.001), -3.0902323062, 1e-7));
    // c^2 = 1: sigma^2 = ln 2; p95/mean = exp(1.64485 x 0.83255 - 0.34657) = exp(1.02286) = 2.7811
    CHECK(within(cv2_from_p95(1000, 2781.1), 1.0, 1e-3));
    CHECK(cv2_from_p95(1000, 1000) == 0.0);
}

TEST_CASE("Concurrency grows with the pool and falls with length and spread", "[concurrency][property]") {
    double last = -1;
    for (double pool = 0; pool <= 2e6; pool += 1e5) {
        AdmissionCase c = founding(1000, 3000, 1);
        c.pool_tokens = pool;
        const double n = steady_state_concurrency(c);
        CHECK(n >= last);
        CHECK(retraction_free_concurrency(c, 0.01) <= n + 1.0);
        CHECK(sglang::admitted_requests({}, c) >= 0.0);
        last = n;
    }
    for (double cv2 = 0; cv2 < 4; cv2 += 0.5)
        CHECK(retraction_free_concurrency(founding(1000, 3000, cv2 + 0.5), 0.01) <= retraction_free_concurrency(founding(1000, 3000, cv2), 0.01));
}
