#include "tests/accuracy/throughput_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace kvplan::accuracy {

namespace {

std::vector<double*> fitted(Costs& c) {
    return {&c.compute[0], &c.compute[1], &c.compute[2], &c.attention_compute, &c.weights, &c.context, &c.link,
            &c.kernel_seconds, &c.collective_seconds, &c.token_seconds, &c.mixture, &c.lockstep};
}

}  // namespace

std::vector<double> parameters_of(const Costs& costs) {
    Costs copy = costs;
    std::vector<double> logs;
    for (const double* p : fitted(copy)) logs.push_back(std::log(*p));
    return logs;
}

Costs with_parameters(const Costs& costs, const std::vector<double>& logarithms) {
    Costs copy = costs;
    const std::vector<double*> parts = fitted(copy);
    // Fractions stay below the bound's, times above its.
    for (std::size_t i = 0; i < parts.size(); ++i) *parts[i] = std::min(std::exp(logarithms[i]), 0.92);
    copy.compute[3] = copy.compute[1];
    return copy;
}

double log_error(const PreparedCase& c, const Costs& costs) {
    const double ceiling = predict(c, c.bound, bound_costs()).rate;
    return std::log(std::min(predict(c, c.likely, costs).rate, ceiling) / c.fact.rate);
}

std::vector<double> minimise(const std::function<double(const std::vector<double>&)>& f, std::vector<double> start, int evaluations) {
    const std::size_t n = start.size();
    std::vector<std::vector<double>> simplex(n + 1, start);
    for (std::size_t i = 0; i < n; ++i) simplex[i + 1][i] += 0.25;
    std::vector<double> values;
    for (const auto& p : simplex) values.push_back(f(p));
    for (int used = static_cast<int>(n) + 1; used < evaluations;) {
        std::vector<std::size_t> order(n + 1);
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
        const std::size_t best = order.front(), worst = order.back(), second = order[n - 1];
        std::vector<double> centre(n, 0.0);
        for (std::size_t i = 0; i <= n; ++i)
            for (std::size_t d = 0; i != worst && d < n; ++d) centre[d] += simplex[i][d] / static_cast<double>(n);
        const auto along = [&](double t) {
            std::vector<double> p(n);
            for (std::size_t d = 0; d < n; ++d) p[d] = centre[d] + t * (simplex[worst][d] - centre[d]);
            return p;
        };
        std::vector<double> point = along(-1.0);
        double value = f(point);
        ++used;
        if (value < values[best]) {
            const std::vector<double> further = along(-2.0);
            const double there = f(further);
            ++used;
            if (there < value) point = further, value = there;
        } else if (value >= values[second]) {
            point = along(0.5);
            value = f(point);
            ++used;
            if (value >= values[worst]) {
                for (std::size_t i = 0; i <= n; ++i) {
                    if (i == best) continue;
                    for (std::size_t d = 0; d < n; ++d) simplex[i][d] = (simplex[i][d] + simplex[best][d]) / 2.0;
                    values[i] = f(simplex[i]);
                    ++used;
                }
                continue;
            }
        }
        simplex[worst] = point;
        values[worst] = value;
    }
    return simplex[static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin())];
}

Costs fit(const std::vector<const PreparedCase*>& cases, const Costs& start, int evaluations) {
    std::vector<double> ceilings;
    for (const PreparedCase* c : cases) ceilings.push_back(predict(*c, c->bound, bound_costs()).rate);
    const auto loss = [&](const std::vector<double>& p) {
        const Costs costs = with_parameters(start, p);
        double sum = 0.0;
        for (std::size_t i = 0; i < cases.size(); ++i)
            sum += std::abs(std::log(std::min(predict(*cases[i], cases[i]->likely, costs).rate, ceilings[i]) / cases[i]->fact.rate));
        return sum / static_cast<double>(cases.size());
    };
    return with_parameters(start, minimise(loss, parameters_of(start), evaluations));
}

std::vector<const PreparedCase*> fitted_cases(const std::vector<PreparedCase>& cases) {
    std::vector<const PreparedCase*> some;
    for (const PreparedCase& c : cases)
        if (c.fact.input > 1.0) some.push_back(&c);
    return some;
}

std::vector<double> cross_validate(const std::vector<const PreparedCase*>& cases, const std::function<std::string(const PreparedCase&)>& group) {
    std::set<std::string> groups;
    for (const PreparedCase* c : cases) groups.insert(group(*c));
    std::vector<double> errors;
    for (const std::string& left_out : groups) {
        std::vector<const PreparedCase*> others;
        for (const PreparedCase* c : cases)
            if (group(*c) != left_out) others.push_back(c);
        const Costs costs = fit(others, expected_costs(), 600);
        for (const PreparedCase* c : cases)
            if (group(*c) == left_out) errors.push_back(log_error(*c, costs));
    }
    return errors;
}

double median_error(const std::vector<double>& log_errors) {
    std::vector<double> absolute;
    for (const double e : log_errors) absolute.push_back(std::abs(std::expm1(e)));
    return median(absolute);
}

}  // namespace kvplan::accuracy
