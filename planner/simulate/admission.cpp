// Admission and prefill, after SGLang's PrefillAdder (managers/schedule_policy.py, read 2026-08).
#include <algorithm>
#include <cmath>

#include "planner/simulate/scheduler.hpp"
#include "units/quantity.hpp"

namespace kvplan::simulate {

namespace {
constexpr std::int64_t kReservationClip = 4096;   // SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION
constexpr std::int64_t kLoadBackThreshold = 10;   // tokens; fewer are computed again
}  // namespace

Scheduler::Budget Scheduler::budget(bool mixed) {
    Budget budget;
    // In a mixed step the running requests take their tokens first.
    budget.current = available() - (mixed ? running_.pages_for(1) * options_.page : 0);
    budget.total = static_cast<double>(budget.current);
    if (options_.admission == Admission::sglang) budget.total -= static_cast<double>(running_.reserved()) * ratio();
    budget.input = options_.max_prefill_tokens;
    budget.chunk = options_.chunk_tokens - (mixed ? running_.size() : 0);
    return budget;
}

double Scheduler::ratio() const {
    return std::max(least_ratio_, ratio_at_ - ratio_decay_ * static_cast<double>(running_.clock() - ratio_clock_));
}

bool Scheduler::rule_allows(const Live& live, std::int64_t to_compute, const Budget& budget) const {
    const std::int64_t rounded = pages(to_compute) * options_.page;
    switch (options_.admission) {
        case Admission::sglang: {
            const std::int64_t rest = std::min(live.request.max_new - live.generated, kReservationClip);
            return static_cast<double>(to_compute + rest + options_.page) < budget.total && rounded <= budget.current;
        }
        case Admission::full: {
            const std::int64_t whole = pages(live.request.input + live.request.output) * options_.page;
            return promised_ + whole < pool_tokens_ && rounded <= budget.current;
        }
        case Admission::free:
        case Admission::vllm: return rounded <= budget.current;
    }
    return false;
}

/// Pins what the cache has of the prompt and loads what the host has, if there is room.
void Scheduler::take_in(Live& live) {
    const SimulatedRequest& request = live.request;
    const std::int64_t length = request.input + live.generated;
    live.shared_tokens = 0;
    live.pinned_blocks = 0;
    if (cache_ && request.blocks > 0) {
        const PrefixCache::Match match = cache_->match(request.leaf, request.identified, length);
        cache_->pin(request.leaf, match.device_blocks);
        live.pinned_blocks = match.device_blocks;
        live.shared_tokens = match.device_tokens;
        live.host_tokens = 0;
        if (match.host_tokens >= kLoadBackThreshold && match.host_tokens <= available()) {
            // Loaded first and room made after, so that making room cannot drop what is to be loaded.
            cache_->load(request.leaf, match.device_blocks, match.device_blocks + match.host_blocks);
            live.pinned_blocks += match.host_blocks;
            live.shared_tokens += match.host_tokens;
            live.host_tokens = match.host_tokens;
            take_tokens(0);
        }
    }
    // At least one token is computed, to have something to continue from; it gets slots of its own until it is entered.
    const std::int64_t most = options_.recompute_last_token ? round_down(length - 1, options_.page) : length;
    live.context = std::min(live.shared_tokens, most);
    live.to_compute = length - live.context;
    live.own_slots = 0;
}

bool Scheduler::admit(std::int64_t id, Budget& budget, std::vector<Part>& batch) {
    Live& live = live_[static_cast<std::size_t>(id)];
    const std::int64_t before = available();
    take_in(live);
    const std::int64_t locked = before - available();  // can be evicted no more, or was loaded
    Budget after = budget;
    after.current -= locked;
    after.total -= static_cast<double>(locked);
    const bool whole = live.to_compute <= budget.chunk;
    const std::int64_t now = whole ? live.to_compute : round_down(budget.chunk, options_.page);
    const bool nothing_now = now == 0 && live.to_compute > 0;
    if (nothing_now || !rule_allows(live, live.to_compute, after)) {
        if (cache_ && live.pinned_blocks > 0) cache_->unpin(live.request.leaf, live.pinned_blocks);
        live.pinned_blocks = 0;
        batch_full_ = batch_full_ || !nothing_now;
        return false;
    }
    const std::int64_t rounded = pages(live.to_compute) * options_.page;
    const std::int64_t rest = std::min(live.request.max_new - live.generated, kReservationClip);
    budget = after;
    budget.total -= static_cast<double>(rounded + rest + options_.page);
    budget.current -= rounded + (options_.admission == Admission::sglang ? options_.page : 0);
    budget.input -= pages(now) * options_.page;
    budget.chunk -= pages(now) * options_.page;
    if (!whole) chunked_ = id;
    batch.push_back({id, now});
    ++admitted_;
    live.order = ++orders_;
    promised_ += pages(live.request.input + live.request.output) * options_.page;
    if (live.generated > 0) {
        if (measuring_) recomputed_ += live.to_compute;
    } else if (measuring_ && !live.admitted_before) {
        result_.prompt_tokens += live.request.input;
        result_.host_hit_tokens += std::min(live.host_tokens, live.context);
        result_.device_hit_tokens += live.context - std::min(live.host_tokens, live.context);
    }
    live.admitted_before = true;
    // Slots for the whole prompt, so that a later chunk cannot fail.
    live.own_slots = live.to_compute;
    take_tokens(rounded);
    return true;
}

std::vector<Scheduler::Part> Scheduler::next_batch(bool mixed) {
    std::vector<Part> batch;
    if (!chunked_ && (batch_full_ || queue_.empty())) return batch;
    Budget left = budget(mixed);
    if (chunked_) {
        const Live& live = live_[static_cast<std::size_t>(*chunked_)];
        const std::int64_t now = std::min(live.to_compute, std::max(options_.page, round_down(left.chunk, options_.page)));
        batch.push_back({*chunked_, now});
        if (now < live.to_compute) return batch;
        left.input -= now;
        left.chunk -= pages(now) * options_.page;
        left.total -= static_cast<double>(std::min(live.request.max_new - live.generated, kReservationClip));
        chunked_.reset();
    }
    while (!batch_full_ && !queue_.empty() && left.chunk > 0 && left.input > 0 && !chunked_) {
        if (admitted_ >= options_.max_running) {
            batch_full_ = true;
            break;
        }
        const std::int64_t id = queue_.front();
        if (!admit(id, left, batch)) break;
        queue_.pop_front();
        fill_queue();
    }
    return batch;
}

double Scheduler::prefill_time(const std::vector<Part>& batch) const {
    if (!options_.times) return 1.0;
    double time = 0.0, reload = 0.0;
    for (const Part& part : batch) {
        const Live& live = live_[static_cast<std::size_t>(part.id)];
        const auto tokens = static_cast<double>(part.tokens);
        time += options_.times->per_prefill_token * tokens +
                options_.times->per_prefill_token_and_context * tokens * (static_cast<double>(live.context) + tokens / 2.0);
        if (options_.host_bytes_per_second > 0.0)
            reload += static_cast<double>(live.host_tokens) * options_.host_bytes_per_token / options_.host_bytes_per_second * 1e6;
    }
    // Layers are loaded while others compute: the longer of the two.
    return std::max(time, reload) + options_.times->base;
}

void Scheduler::run_prefill(const std::vector<Part>& batch) {
    for (const Part& part : batch) {
        Live& live = live_[static_cast<std::size_t>(part.id)];
        live.context += part.tokens;
        live.to_compute -= part.tokens;
        live.host_tokens = 0;
        if (live.to_compute == 0) begin_decode(part.id);
        else if (cache_ && live.request.blocks > 0) cache_->end_node(live.request.leaf, static_cast<std::uint32_t>(std::min(live.context, live.request.identified) / options_.block_tokens));
    }
}

/// The prompt is whole: it enters the cache, gives its first token, and decodes.
void Scheduler::begin_decode(std::int64_t id) {
    Live& live = live_[static_cast<std::size_t>(id)];
    const SimulatedRequest& request = live.request;
    const std::int64_t length = request.input + live.generated;
    if (cache_ && request.blocks > 0) {
        std::uint32_t blocks = request.blocks;
        if (cache_->tokens_of(request.identified, blocks) == cache_->tokens_of(request.identified, blocks - 1)) --blocks;
        const std::int64_t held = pages(live.own_slots) * options_.page;
        // What was matched up to here is pinned already, though some of it may have been computed again.
        if (blocks > live.pinned_blocks) cache_->insert(request.leaf, request.identified, live.pinned_blocks, blocks);
        live.pinned_blocks = std::max(live.pinned_blocks, blocks);
        live.shared_tokens = cache_->tokens_of(request.identified, live.pinned_blocks);
        live.own_slots = length - live.shared_tokens;
        own_tokens_ += pages(live.own_slots) * options_.page - held;
    }
    ++live.generated;
    live.joined = running_.clock();
    if (live.first_token_us < 0) live.first_token_us = time_us_;
    if (live.generated >= request.output) {
        release(live, live.own_slots);
        finish(id);
        return;
    }
    context_sum_ += length - running_.clock();
    running_.add({.request = id, .slots = live.own_slots, .remaining = request.output - live.generated,
                  .may_ask = request.max_new - live.generated, .generated = live.generated, .prompt = request.input, .order = live.order});
}

}  // namespace kvplan::simulate
