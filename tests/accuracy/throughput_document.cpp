#include "tests/accuracy/throughput_document.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "tests/accuracy/throughput_fit.hpp"
#include "units/format.hpp"

namespace kvplan::accuracy {
namespace {

double quantile(std::vector<double> values, double q) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

std::string share(double x) { return fixed(100.0 * x, 1) + " %"; }

struct Group {
    std::string name;
    std::vector<double> ratios, errors;
};

void add(std::vector<Group>& groups, const std::string& name, double ratio, double error) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{name, {}, {}});
    found->ratios.push_back(ratio);
    found->errors.push_back(error);
}

void table(std::ostream& out, const std::string& what, const std::vector<Group>& groups) {
    out << "| " << what << " | cases | median measured / ceiling | largest | median error of the expectation | median of expected / measured |\n|---|---|---|---|---|---|\n";
    for (const Group& g : groups) {
        std::vector<double> absolute;
        for (const double e : g.errors) absolute.push_back(std::abs(std::expm1(e)));
        out << "| " << g.name << " | " << g.ratios.size() << " | " << fixed(median(g.ratios), 2) << " | " << fixed(*std::max_element(g.ratios.begin(), g.ratios.end()), 2) << " | "
            << share(median(absolute)) << " | " << fixed(std::exp(median(g.errors)), 2) << " |\n";
    }
    out << "\n";
}

std::string layout(const ThroughputCase& c) {
    if (c.tp == 0) return "best";
    std::string text = c.dp > 1 ? "DP" + std::to_string(c.dp) + " EP" + std::to_string(c.ep) : "TP" + std::to_string(c.tp) + (c.ep > 1 ? " EP" + std::to_string(c.ep) : "");
    return c.pp > 1 ? text + " PP" + std::to_string(c.pp) : text;
}

void introduction(std::ostream& out, const std::vector<PreparedCase>& cases, const std::vector<double>& by_model, const std::vector<double>& by_gpu) {
    std::vector<double> own;
    for (const PreparedCase* c : fitted_cases(cases)) own.push_back(log_error(*c, expected_costs()));
    out << "# Throughput: ceilings and expectation against published measurements\n\n"
           "Written by `accuracy_tests` with KVPLAN_WRITE_DOCS=1 from tests/accuracy/data/throughput.json; formulas: method-throughput.md.\n\n"
        << cases.size() << " measurements. None lies above its ceiling. A KV type that was not published counts as the smallest that the GPU's engines offer in the ceiling, and as the engine's default in the expectation; "
           "engines other than SGLang and vLLM have all memory after the weights as pool and no cap on running requests; where no layout was published the best one counts.\n\n"
           "The expectation has 12 fitted numbers (planner/throughput/costs.cpp). Its median absolute error:\n\n"
        << "| | median error | half of the cases within | nine of ten within (expected / measured) |\n|---|---|---|---|\n";
    const auto row = [&](const char* name, const std::vector<double>& errors) {
        out << "| " << name << " | " << share(median_error(errors)) << " | " << fixed(std::exp(quantile(errors, 0.25)), 2) << " … " << fixed(std::exp(quantile(errors, 0.75)), 2) << " | "
            << fixed(std::exp(quantile(errors, 0.05)), 2) << " … " << fixed(std::exp(quantile(errors, 0.95)), 2) << " |\n";
    };
    row("on the cases it was fitted to", own);
    row("on models left out, one at a time", by_model);
    row("on GPUs left out, one at a time", by_gpu);
    out << "\nNot told apart, and part of the error: speculative decoding that a source does not mention, lengths drawn from 0.8 to 1.0 of the nominal ones, tuning of each engine and version.\n\n";
}

}  // namespace

void write_document_if_asked(const std::vector<PreparedCase>& cases, const std::vector<double>& by_model, const std::vector<double>& by_gpu) {
    if (std::getenv("KVPLAN_WRITE_DOCS") == nullptr) return;
    std::ofstream out(std::string(KVPLAN_SOURCE_DIR) + "/docs/accuracy-throughput.md");
    introduction(out, cases, by_model, by_gpu);
    std::vector<Group> kinds, models, gpus;
    std::string rows;
    for (const PreparedCase& c : cases) {
        const Predicted ceiling = predict(c, c.bound, bound_costs());
        const double ratio = c.fact.rate / ceiling.rate, error = log_error(c, expected_costs());
        add(kinds, c.fact.kind + (c.dense ? ", dense" : ", mixture of experts"), ratio, error);
        add(models, c.fact.model, ratio, error);
        add(gpus, c.fact.gpu, ratio, error);
        const std::string load = c.fact.concurrency ? " c" + fixed(*c.fact.concurrency, 0) : "";
        rows += "| " + c.fact.published_as + " | " + c.fact.quantization + " | " + std::to_string(c.fact.gpus) + " x " + c.fact.gpu + " " + layout(c.fact) + " | " + c.fact.kind + " " +
                fixed(c.fact.input, 0) + "/" + fixed(c.fact.output, 0) + load + " | " + fixed(c.fact.rate, 0) + " | " + fixed(ceiling.rate, 0) + " | " + fixed(ratio, 2) + " | " +
                std::string(name_of(ceiling.resource)) + " | " + fixed(c.fact.rate * std::exp(error), 0) + " |\n";
    }
    table(out, "kind", kinds);
    table(out, "model", models);
    table(out, "GPU", gpus);
    out << "## Every case\n\nTokens/s of all GPUs: output tokens, prompt tokens where the kind is prefill. `c`: requests in flight.\n\n"
           "| model | weights | GPUs | load | measured | ceiling | ratio | largest resource | expected |\n|---|---|---|---|---|---|---|---|---|\n"
        << rows;
}

}  // namespace kvplan::accuracy
