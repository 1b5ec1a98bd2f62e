#include "planner/trace/hit_curve.hpp"

#include <algorithm>
#include <cmath>

namespace kvplan::trace {

ReuseStack::ReuseStack(const PrefixForest& forest, std::size_t requests)
    : forest_(&forest), last_(forest.size(), 0), live_(requests + 1, 0) {}

std::int64_t ReuseStack::more_recent_than(std::uint32_t request) const {
    std::int64_t older = 0;
    for (std::uint32_t i = request; i > 0; i &= i - 1) older += live_[i];
    return total_ - older;
}

void ReuseStack::change(std::uint32_t request, std::int64_t blocks) {
    total_ += blocks;
    const auto delta = static_cast<std::uint32_t>(blocks);  // wraps for negative ones, and back in the sum
    for (std::uint32_t i = request; i < live_.size(); i += i & (0U - i)) live_[i] += delta;
}

// The blocks whose last request was R are a tail of R's prompt: whoever takes a block again takes all before it. They
// stand together in the stack, so the prompt of a new request falls into few stretches, each the front part of the tail
// of an older request, with consecutive depths. Only the stretches cost a look-up in the tree.
std::span<const DepthStretch> ReuseStack::push(const Request& request) {
    found_.clear();
    const std::uint32_t self = ++pushed_;
    const auto path = forest_->path(request.leaf, path_);
    std::int64_t moved = 0;
    std::uint32_t current = 0, length = 0;
    const auto close = [&] {
        if (current == 0 || length == 0) return;
        found_.push_back({more_recent_than(current) + moved + 1, length});
        change(current, -std::int64_t{length});
        moved += length;
        length = 0;
    };
    for (const auto [first, last] : path) {
        for (Block block = first; block <= last;) {
            const std::uint32_t owner = last_[block];
            if (owner != current) {
                close();
                current = owner;
            }
            Block next = block + 1;
            while (next <= last && last_[next] == owner) ++next;
            length += next - block;
            block = next;
        }
        std::fill(last_.begin() + first, last_.begin() + last + 1, self);
    }
    close();
    change(self, request.blocks);
    return found_;
}

HitCurve hit_curve(const Trace& trace, double warmup_share) {
    const std::size_t count = trace.requests.size();
    HitCurve curve;
    curve.warmup_requests =
        static_cast<std::int64_t>(std::floor(std::clamp(warmup_share, 0.0, 1.0) * static_cast<double>(count)));
    // Differences of the numbers of hits at each depth; one past the deepest depth closes a stretch.
    const std::size_t depths = std::size_t{trace.forest.size()} + 2;
    std::vector<std::int64_t> hits(depths, 0), missing_tokens(depths, 0);
    std::vector<double> share(depths, 0.0);
    ReuseStack stack(trace.forest, count);
    for (std::size_t i = 0; i < count; ++i) {
        const Request& request = trace.requests[i];
        const auto stretches = stack.push(request);
        if (static_cast<std::int64_t>(i) < curve.warmup_requests) continue;
        ++curve.requests;
        curve.blocks += request.blocks;
        curve.input_tokens += request.input;
        std::uint32_t found = 0;
        for (const auto [depth, blocks] : stretches) {
            const auto from = static_cast<std::size_t>(depth), to = from + blocks;
            ++hits[from];
            --hits[to];
            share[from] += 1.0 / request.blocks;
            share[to] -= 1.0 / request.blocks;
            found += blocks;
            if (found == request.blocks)
                missing_tokens[to - 1] += trace.block_tokens - trace.block_weight(request, request.blocks - 1);
        }
    }
    std::size_t deepest = depths - 1;
    while (deepest > 0 && hits[deepest] == 0) --deepest;
    // The last difference closes the deepest stretch, so the deepest depth that hits lies before it.
    curve.hit_blocks_.assign(std::max<std::size_t>(deepest, 1), 0);
    curve.hit_tokens_.assign(curve.hit_blocks_.size(), 0);
    curve.request_share_.assign(curve.hit_blocks_.size(), 0.0);
    std::int64_t at_depth = 0;
    double share_at_depth = 0.0;
    for (std::size_t depth = 1; depth < curve.hit_blocks_.size(); ++depth) {
        at_depth += hits[depth];
        share_at_depth += share[depth];
        curve.hit_blocks_[depth] = curve.hit_blocks_[depth - 1] + at_depth;
        curve.hit_tokens_[depth] =
            curve.hit_tokens_[depth - 1] + at_depth * trace.block_tokens - missing_tokens[depth];
        curve.request_share_[depth] = curve.request_share_[depth - 1] + share_at_depth;
    }
    return curve;
}

std::vector<SampledRate> sampled_rates(const Trace& trace, const std::vector<Capacity>& capacities, double warmup_share) {
    const double share = trace.sample ? trace.sample->share : 1.0;
    const std::uint32_t front = trace.sample ? trace.sample->common_blocks : 0;
    std::int64_t common = 0;
    for (Block block = 0; block < trace.forest.size(); ++block) common += trace.forest.depth(block) < front ? 1 : 0;
    std::vector<SampledRate> rates(capacities.size());
    const std::int64_t all = trace.forest.size();
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const std::int64_t beyond = capacities[i] ? std::max<std::int64_t>(0, *capacities[i] - common) : 0;
        rates[i].sample_blocks = !capacities[i] ? all : std::min(*capacities[i], common) + std::llround(share * static_cast<double>(beyond));
    }
    std::vector<double> input(kSampleGroups, 0.0), hits(kSampleGroups * rates.size(), 0.0);
    ReuseStack stack(trace.forest, trace.requests.size());
    const auto warmup = static_cast<std::size_t>(std::floor(warmup_share * static_cast<double>(trace.requests.size())));
    for (std::size_t r = 0; r < trace.requests.size(); ++r) {
        const Request& request = trace.requests[r];
        const auto stretches = stack.push(request);
        if (r < warmup) continue;
        input[request.group] += request.input;
        for (std::size_t i = 0; i < rates.size(); ++i) {
            std::int64_t blocks = 0;
            for (const auto [depth, count] : stretches) blocks += std::clamp<std::int64_t>(rates[i].sample_blocks - depth + 1, 0, count);
            hits[request.group * rates.size() + i] += static_cast<double>(std::min<std::int64_t>(blocks * trace.block_tokens, request.identified));
        }
    }
    double total = 0.0;
    for (const double tokens : input) total += tokens;
    constexpr double kStudent = 2.131;  // 97.5 % quantile, 15 degrees of freedom
    for (std::size_t i = 0; i < rates.size() && total > 0.0; ++i) {
        double found = 0.0, squares = 0.0;
        for (std::size_t g = 0; g < kSampleGroups; ++g) found += hits[g * rates.size() + i];
        rates[i].token_rate = found / total;
        for (std::size_t g = 0; g < kSampleGroups; ++g) {
            const double off = hits[g * rates.size() + i] - rates[i].token_rate * input[g];
            squares += off * off;
        }
        rates[i].error = kStudent * std::sqrt(squares * kSampleGroups / (kSampleGroups - 1.0)) / total;
    }
    return rates;
}

HitPoint HitCurve::at(Capacity capacity) const {
    const std::int64_t most = last_useful();
    const auto index = static_cast<std::size_t>(std::clamp<std::int64_t>(capacity.value_or(most), 0, most));
    HitPoint point;
    point.blocks = hit_blocks_[index];
    point.tokens = hit_tokens_[index];
    if (input_tokens > 0) point.token_rate = static_cast<double>(point.tokens) / static_cast<double>(input_tokens);
    if (blocks > 0) point.block_rate = static_cast<double>(point.blocks) / static_cast<double>(blocks);
    // The sum of shares is rounded; what is left below zero or above one is rounding.
    if (requests > 0) point.request_rate = std::clamp(request_share_[index] / static_cast<double>(requests), 0.0, 1.0);
    return point;
}

}  // namespace kvplan::trace
