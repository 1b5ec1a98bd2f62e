#include "planner/simulate/request_source.hpp"

#include <algorithm>
#include <cmath>

namespace kvplan::simulate {

std::uint64_t Random::next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

double Random::uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }

double Random::normal() {
    if (spare_) {
        const double value = *spare_;
        spare_.reset();
        return value;
    }
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2.0 * std::log(uniform())), angle = kTwoPi * uniform();
    spare_ = radius * std::sin(angle);
    return radius * std::cos(angle);
}

double Random::draw(const LengthDistribution& lengths) {
    switch (lengths.kind) {
        case LengthDistribution::Kind::exponential: return -lengths.mean * std::log(uniform());
        case LengthDistribution::Kind::lognormal: {
            // c^2 = exp(sigma^2) - 1, mean = exp(mu + sigma^2 / 2).
            const double variance = std::log1p(lengths.cv2);
            return lengths.mean * std::exp(std::sqrt(variance) * normal() - variance / 2.0);
        }
        case LengthDistribution::Kind::fixed: break;
    }
    return lengths.mean;
}

Parsed<LengthDistribution> parse_distribution(std::string_view text) {
    const ParseFailure failure{"a length in tokens: 3500, exp:3500 or lognormal:3500:2.0 (mean and c^2)", ""};
    LengthDistribution result;
    // A negative number stands for a text that is none.
    const auto number = [](std::string_view part) {
        const auto parsed = parse_real(part);
        const auto* value = std::get_if<double>(&parsed);
        return value != nullptr && *value >= 0.0 && *value <= 1e9 ? *value : -1.0;
    };
    const std::size_t colon = text.find(':');
    const std::string_view head = text.substr(0, colon), rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    result.mean = colon == std::string_view::npos ? number(text) : -1.0;
    if (head == "exp") {
        result.kind = LengthDistribution::Kind::exponential;
        result.cv2 = 1.0;
        result.mean = number(rest);
    } else if (head == "lognormal") {
        result.kind = LengthDistribution::Kind::lognormal;
        const std::size_t second = rest.find(':');
        if (second == std::string_view::npos) return failure;
        result.cv2 = number(rest.substr(second + 1));
        result.mean = number(rest.substr(0, second));
    }
    if (result.cv2 < 0.0 || result.mean < (result.kind == LengthDistribution::Kind::fixed ? 0.0 : 1.0)) return failure;
    return result;
}

namespace {

class SyntheticSource final : public RequestSource {
public:
    explicit SyntheticSource(const SyntheticOptions& options) : options_(options), random_(options.seed) {}

    std::optional<SimulatedRequest> next() override {
        if (made_ == options_.requests) return std::nullopt;
        ++made_;
        SimulatedRequest request;
        if (options_.requests_per_second) {
            time_ += -std::log(random_.uniform()) / *options_.requests_per_second;
            request.arrival_us = std::llround(time_ * 1e6);
        }
        request.input = std::max<std::int64_t>(1, std::llround(random_.draw(options_.input)));
        request.output = std::max<std::int64_t>(1, std::llround(random_.draw(options_.output)));
        if (options_.longest > 0) {
            request.input = std::min(request.input, std::max<std::int64_t>(1, options_.longest - 1));
            request.output = std::min(request.output, std::max<std::int64_t>(1, options_.longest - request.input));
        }
        request.max_new = std::max(options_.max_new.value_or(request.output), request.output);
        return request;
    }

private:
    SyntheticOptions options_;
    Random random_;
    std::int64_t made_ = 0;
    double time_ = 0.0;
};

class TraceSource final : public RequestSource {
public:
    TraceSource(const trace::Trace& trace, const TraceOptions& options) : trace_(trace), options_(options) {
        wanted_ = options.requests > 0 ? options.requests : (static_cast<std::int64_t>(trace.requests.size()) + options.every - 1) / options.every;
        first_us_ = trace.requests.front().time_us;
        lap_us_ = trace.requests.back().time_us - first_us_;
    }

    std::optional<SimulatedRequest> next() override {
        for (std::size_t skipped = 0; made_ < wanted_ && skipped < trace_.requests.size(); ++skipped) {
            const trace::Request& from = trace_.requests[at_];
            SimulatedRequest request;
            request.arrival_us = from.time_us - first_us_ + laps_ * lap_us_;
            request.input = std::max<std::int64_t>(1, from.input);
            request.output = std::max<std::int64_t>(1, from.output);
            request.max_new = std::max(options_.max_new.value_or(request.output), request.output);
            if (options_.prefixes) {
                request.leaf = from.leaf;
                request.blocks = from.blocks;
                request.identified = from.identified;
            }
            at_ += static_cast<std::size_t>(options_.every);
            for (; at_ >= trace_.requests.size(); at_ -= trace_.requests.size()) ++laps_;
            const bool fits = options_.longest == 0 || request.input + request.output <= options_.longest;
            if (!fits && options_.requests > 0) continue;
            ++made_;
            if (fits) return request;
        }
        return std::nullopt;
    }

private:
    const trace::Trace& trace_;
    TraceOptions options_;
    std::int64_t wanted_ = 0, made_ = 0, first_us_ = 0, lap_us_ = 0, laps_ = 0;
    std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<RequestSource> synthetic_requests(const SyntheticOptions& options) {
    return std::make_unique<SyntheticSource>(options);
}

std::unique_ptr<RequestSource> trace_requests(const trace::Trace& trace, const TraceOptions& options) {
    return std::make_unique<TraceSource>(trace, options);
}

}  // namespace kvplan::simulate
