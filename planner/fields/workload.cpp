#include "planner/fields/builders.hpp"

namespace kvplan::fields {

namespace {

constexpr auto kWorkload = FieldGroup::workload;

struct Lengths {
    double mean = 0.0;
    std::optional<double> p95;
    std::optional<double> cv2;
};

std::optional<double> positive(std::string_view text) {
    const Parsed<std::int64_t> whole = parse_integer(text);
    if (const auto* n = std::get_if<std::int64_t>(&whole)) return *n > 0 ? std::optional<double>(static_cast<double>(*n)) : std::nullopt;
    const Parsed<double> real = parse_real(text);
    if (const auto* x = std::get_if<double>(&real); x != nullptr && *x > 0) return *x;
    return std::nullopt;
}

// `3500`, `3500:8000` (mean:p95), `exp:3500`, `lognormal:3500:2.0` (mean and squared coefficient of variation).
std::optional<Lengths> parse_lengths(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view head = text.substr(0, colon);
    const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (head == "exp") {
        const auto mean = positive(rest);
        return mean ? std::optional<Lengths>({*mean, std::nullopt, 1.0}) : std::nullopt;
    }
    if (head == "lognormal") {
        const std::size_t second = rest.find(':');
        if (second == std::string_view::npos) return std::nullopt;
        const auto mean = positive(rest.substr(0, second));
        const Parsed<double> cv2 = parse_real(rest.substr(second + 1));
        const auto* spread = std::get_if<double>(&cv2);
        if (!mean || spread == nullptr || *spread < 0 || *spread > 1e6) return std::nullopt;
        return Lengths{*mean, std::nullopt, *spread};
    }
    const auto mean = positive(head);
    if (!mean) return std::nullopt;
    if (colon == std::string_view::npos) return Lengths{*mean, std::nullopt, std::nullopt};
    const auto p95 = positive(rest);
    if (!p95 || *p95 < *mean) return std::nullopt;
    return Lengths{*mean, p95, std::nullopt};
}

ParseFailure lengths_failure() {
    return {"a length in tokens: 3500, 3500:8000 (mean:p95), exp:3500 or lognormal:3500:2.0 (mean and c^2)", "a p95 is not below its mean"};
}

/// As it was typed: a resolved scenario can be read back.
FieldValue length_value(const std::optional<double>& mean, const std::optional<double>& p95, const std::optional<double>& cv2) {
    if (!mean) return std::monostate{};
    const auto text = [](double x) { return text_of(FieldValue{x}); };
    if (p95) return text(*mean) + ":" + text(*p95);
    if (cv2 && *cv2 == 1.0) return "exp:" + text(*mean);
    if (cv2) return "lognormal:" + text(*mean) + ":" + text(*cv2);
    return *mean;
}

FieldSpec input_tokens() {
    FieldSpec spec = real({"input_tokens", {"--input-tokens"}, kWorkload, "Prompt tokens of a request: mean, mean:p95, exp:M or lognormal:M:C2", FieldEngines::any, "N[:P95]"}, kPositive, KVPLAN_FIELD(workload.input_tokens));
    spec.set = [](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const auto lengths = parse_lengths(text);
        if (!lengths) return lengths_failure();
        scenario.workload.input_tokens = lengths->mean;
        scenario.workload.input_cv2 = lengths->cv2;
        scenario.workload.input_p95 = lengths->p95;
        return std::nullopt;
    };
    spec.get = [](const Scenario& s) { return length_value(s.workload.input_tokens, s.workload.input_p95, s.workload.input_cv2); };
    return spec;
}

FieldSpec output_tokens() {
    FieldSpec spec = real({"output_tokens", {"--output-tokens"}, kWorkload, "Generated tokens of a request: mean, mean:p95, exp:M or lognormal:M:C2", FieldEngines::any, "N[:P95]"}, kPositive, KVPLAN_FIELD(workload.output_tokens));
    spec.set = [](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const auto lengths = parse_lengths(text);
        if (!lengths) return lengths_failure();
        scenario.workload.output_tokens = lengths->mean;
        scenario.workload.output_cv2 = lengths->cv2;
        scenario.workload.output_p95 = lengths->p95;
        return std::nullopt;
    };
    spec.get = [](const Scenario& s) { return length_value(s.workload.output_tokens, s.workload.output_p95, s.workload.output_cv2); };
    return spec;
}

}  // namespace

std::vector<FieldSpec> workload_fields() {
    return {
        real({"request_tokens", {"--request-tokens"}, kWorkload, "Prompt and output together, when the split is not known", FieldEngines::any, "N"}, kPositive, KVPLAN_FIELD(workload.request_tokens)),
        input_tokens(),
        output_tokens(),
        integer({"max_new_tokens", {"--max-new-tokens"}, kWorkload, "What clients ask for at most (default: the mean output)"}, kCount, KVPLAN_FIELD(workload.max_new_tokens)),
        real({"retraction_risk", {"--retraction-risk"}, kWorkload, "Share of the time in which retractions are accepted (default 0.01)", FieldEngines::any, "P"}, kOpenFraction, KVPLAN_FIELD(workload.retraction_risk)),
        real({"shared_prefix_tokens", {"--shared-prefix-tokens"}, kWorkload, "Prefix that all requests share", FieldEngines::any, "N"}, kNonNegative, KVPLAN_FIELD(workload.shared_prefix_tokens)),
        real({"hit_rate", {"--hit-rate"}, kWorkload, "Share of prompt tokens found in a cache", FieldEngines::any, "P"}, kShare, KVPLAN_FIELD(workload.hit_rate)),
        real({"request_rate", {"--request-rate"}, kWorkload, "Requests offered per second (open loop)", FieldEngines::any, "R"}, kPositive, KVPLAN_FIELD(workload.request_rate)),
        integer({"concurrency", {"--concurrency"}, kWorkload, "Requests always offered (closed loop)"}, kCount, KVPLAN_FIELD(workload.concurrency)),
        text({"workload_from", {"--workload-from"}, kWorkload, "Request trace: its lengths, rate and prefix reuse fill in what is not given", FieldEngines::any, "FILE"}, KVPLAN_FIELD(workload.workload_from)),
    };
}

}  // namespace kvplan::fields
