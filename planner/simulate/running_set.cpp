#include "planner/simulate/running_set.hpp"

#include <algorithm>
#include <limits>

namespace kvplan::simulate {

namespace {
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;
}

void RunningSet::add(const Entry& entry) {
    const auto index = static_cast<std::size_t>(entry.request);
    if (index >= by_request_.size()) by_request_.resize(std::max(index + 1, by_request_.size() * 2));
    Kept& kept = by_request_[index];
    kept.slots = entry.slots - clock_;
    kept.finish = clock_ + entry.remaining;
    kept.may_ask = entry.may_ask + clock_;
    kept.generated = entry.generated - clock_;
    kept.prompt = entry.prompt;
    kept.order = entry.order;
    ++kept.life;
    kept.clipped = entry.may_ask > clip_;
    kept.index = running_.size();
    running_.push_back(entry.request);
    ++count_;
    generated_sum_ += kept.generated;
    max_new_sum_ += entry.may_ask + entry.generated;
    ++at_phase_[phase(kept.slots)];
    finishes_.push({kept.finish, entry.request, kept.life});
    if (kept.clipped) {
        ++clipped_;
        unclips_.push({kept.may_ask - clip_, entry.request, kept.life});
    } else {
        unclipped_sum_ += kept.may_ask;
    }
}

void RunningSet::remove(std::int64_t request) {
    Kept& kept = by_request_[static_cast<std::size_t>(request)];
    ++kept.life;
    const std::int64_t last = running_.back();
    running_[kept.index] = last;
    by_request_[static_cast<std::size_t>(last)].index = kept.index;
    running_.pop_back();
    --count_;
    generated_sum_ -= kept.generated;
    max_new_sum_ -= kept.may_ask + kept.generated;
    --at_phase_[phase(kept.slots)];
    if (kept.clipped) --clipped_;
    else unclipped_sum_ -= kept.may_ask;
}

std::int64_t RunningSet::steps_to_finish() {
    while (!finishes_.empty() && outdated(finishes_.top())) finishes_.pop();
    return finishes_.empty() ? kNever : finishes_.top().clock - clock_;
}

// A request takes a page at the steps at which its slots fill whole pages; within any `page` steps each takes one.
std::int64_t RunningSet::steps_with(std::int64_t free_pages) const {
    if (count_ == 0) return kNever;
    std::int64_t steps = free_pages / count_ * page_, left = free_pages % count_;
    for (std::int64_t i = 0; i < page_; ++i, ++steps) {
        const std::int64_t need = needed_at(clock_ + steps);
        if (need > left) return steps;
        left -= need;
    }
    return steps;
}

std::int64_t RunningSet::pages_for(std::int64_t steps) const {
    std::int64_t pages = steps / page_ * count_;
    for (std::int64_t i = 0; i < steps % page_; ++i) pages += needed_at(clock_ + i);
    return pages;
}

void RunningSet::advance(std::int64_t steps) { clock_ += steps; }

std::int64_t RunningSet::take_finished() {
    if (steps_to_finish() > 0) return -1;
    const std::int64_t request = finishes_.top().request;
    finishes_.pop();
    remove(request);
    return request;
}

std::int64_t RunningSet::take_victim(bool last_come) {
    const auto before = [&](std::int64_t a, std::int64_t b) {
        const Kept& x = by_request_[static_cast<std::size_t>(a)];
        const Kept& y = by_request_[static_cast<std::size_t>(b)];
        if (!last_come && x.generated != y.generated) return x.generated < y.generated;
        if (!last_come && x.prompt != y.prompt) return x.prompt > y.prompt;
        return x.order > y.order;
    };
    const std::int64_t victim = *std::min_element(running_.begin(), running_.end(), before);
    remove(victim);
    return victim;
}

std::int64_t RunningSet::reserved() {
    while (!unclips_.empty() && (outdated(unclips_.top()) || unclips_.top().clock <= clock_)) {
        const Event event = unclips_.top();
        unclips_.pop();
        if (outdated(event)) continue;
        Kept& kept = by_request_[static_cast<std::size_t>(event.request)];
        kept.clipped = false;
        --clipped_;
        unclipped_sum_ += kept.may_ask;
    }
    return clipped_ * clip_ + unclipped_sum_ - (count_ - clipped_) * clock_;
}

}  // namespace kvplan::simulate
