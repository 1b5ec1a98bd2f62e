#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/accuracy/throughput_document.hpp"
#include "tests/accuracy/throughput_fit.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::accuracy;

namespace {

constexpr std::size_t kEnough = 400;  // of 469: figures over fewer cases say little

const std::vector<PreparedCase>& cases() {
    static const std::vector<PreparedCase> all = prepare_cases();
    return all;
}

double median_ratio(const std::string& kind, std::optional<bool> dense) {
    std::vector<double> ratios;
    for (const PreparedCase& c : cases())
        if (c.fact.kind == kind && (!dense || c.dense == *dense)) ratios.push_back(c.fact.rate / predict(c, c.bound, bound_costs()).rate);
    return median(ratios);
}

}  // namespace

TEST_CASE("No published measurement lies above its ceiling, whichever way the engine builds its steps", "[accuracy][throughput]") {
    if (cases().empty()) WARN("no model of the cases can be read here");
    for (const bool separate : {false, true})
        for (const PreparedCase& c : cases()) {
            INFO(c.fact.kind << " " << c.fact.published_as << " " << c.fact.quantization << " on " << c.fact.gpus << " x " << c.fact.gpu << " tp" << c.fact.tp
                             << " dp" << c.fact.dp << " " << c.fact.input << "/" << c.fact.output << " separate " << separate);
            CHECK(c.fact.rate < predict(c, c.bound, bound_costs(), separate).rate);
        }
}

TEST_CASE("Ceilings stay tight", "[accuracy][throughput]") {
    if (cases().size() < kEnough) return;
    CHECK(median_ratio("offline", true) > 0.38);
    CHECK(median_ratio("offline", false) > 0.21);
    CHECK(median_ratio("closed", std::nullopt) > 0.32);
}

TEST_CASE("The expected throughput holds for models and GPUs that it was not fitted to", "[accuracy][throughput]") {
    if (cases().size() < kEnough) return;
    const std::vector<const PreparedCase*> fitted = fitted_cases(cases());
    std::vector<double> own;
    for (const PreparedCase* c : fitted) own.push_back(std::abs(std::expm1(log_error(*c, expected_costs()))));
    CHECK(median(own) < 0.17);
    const auto by_model = cross_validate(fitted, [](const PreparedCase& c) { return c.fact.model; });
    const auto by_gpu = cross_validate(fitted, [](const PreparedCase& c) { return c.fact.gpu; });
    CHECK(median_error(by_model) <= 0.20);
    CHECK(median_error(by_gpu) <= 0.20);
    write_document_if_asked(cases(), by_model, by_gpu);
}
