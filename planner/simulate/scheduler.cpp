#include "planner/simulate/scheduler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "units/quantity.hpp"

namespace kvplan::simulate {

namespace {

// SGLang's new_token_ratio (managers/scheduler_components/new_token_ratio_tracker.py, read 2026-08).
constexpr double kInitialRatio = 0.7, kLeastShare = 0.14, kDecaySteps = 600.0;
constexpr std::int64_t kRatioTokensPerRequest = 20;
constexpr std::int64_t kReservationClip = 4096;
/// New requests that wait when the queue is never empty; a retracted one waits behind them.
constexpr std::size_t kWaiting = 1;

template <class T>
double quantile(const std::vector<T>& sorted, double share) {
    if (sorted.empty()) return 0.0;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return static_cast<double>(sorted[std::min(std::max<std::size_t>(rank, 1), sorted.size()) - 1]);
}

Percentiles percentiles(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    double sum = 0.0;
    for (const double value : values) sum += value;
    return {values.empty() ? 0.0 : sum / static_cast<double>(values.size()), quantile(values, 0.5), quantile(values, 0.95), quantile(values, 0.99)};
}

Percentiles percentiles(const std::map<std::int64_t, std::int64_t>& steps_at, std::int64_t total) {
    Percentiles result;
    std::int64_t seen = 0;
    double sum = 0.0;
    const std::array<std::pair<double, double*>, 3> wanted{{{0.5, &result.p50}, {0.95, &result.p95}, {0.99, &result.p99}}};
    for (const auto& [value, steps] : steps_at) {
        const std::int64_t before = seen;
        seen += steps;
        sum += static_cast<double>(value) * static_cast<double>(steps);
        for (const auto& [share, target] : wanted) {
            const double rank = share * static_cast<double>(total);
            if (static_cast<double>(before) < rank && static_cast<double>(seen) >= rank) *target = static_cast<double>(value);
        }
    }
    if (total > 0) result.mean = sum / static_cast<double>(total);
    return result;
}

}  // namespace

Scheduler::Scheduler(RequestSource& source, const Options& options)
    : source_(source), options_(options), pool_tokens_(round_down(options.pool_tokens, options.page)), running_(options.page, kReservationClip) {
    if (options.forest != nullptr && options.forest->size() > 0)
        cache_.emplace(*options.forest, options.block_tokens, options.page, options.host_tokens, options.policy, options.eviction);
    initial_ratio_ = std::min(kInitialRatio * options.conservativeness, 1.0);
    least_ratio_ = std::min(initial_ratio_ * kLeastShare, 1.0);
    ratio_decay_ = (initial_ratio_ - least_ratio_) / kDecaySteps;
    ratio_at_ = initial_ratio_;
}

bool Scheduler::fetch() {
    while (!coming_ && !source_empty_) {
        coming_ = source_.next();
        source_empty_ = !coming_;
        if (!coming_) break;
        // What can never be served is refused, and max_new is cut to what the pool can give, as the engine does.
        const std::int64_t most = pool_tokens_ - pages(coming_->input) * options_.page - options_.page - 1;
        if (most < 1) {
            ++result_.refused;
            coming_.reset();
            continue;
        }
        coming_->max_new = std::min(coming_->max_new, most);
        coming_->output = std::min(coming_->output, most);
    }
    return coming_.has_value();
}

std::int64_t Scheduler::new_live(const SimulatedRequest& request) {
    std::int64_t id = 0;
    if (unused_.empty()) {
        id = static_cast<std::int64_t>(live_.size());
        live_.emplace_back();
    } else {
        id = unused_.back();
        unused_.pop_back();
    }
    Live& live = live_[static_cast<std::size_t>(id)];
    live = Live{};
    live.request = request;
    live.measured = measuring_;
    ++in_system_;
    return id;
}

void Scheduler::fill_queue() {
    const auto wanted = [&] {
        if (options_.open_loop) return fetch() && coming_->arrival_us <= time_us_;
        const bool room = options_.concurrency ? in_system_ < *options_.concurrency : queue_.size() < kWaiting;
        return room && fetch();
    };
    while (wanted()) {
        if (!options_.open_loop) coming_->arrival_us = time_us_;
        queue_.push_back(new_live(*coming_));
        coming_.reset();
    }
}

void Scheduler::take_tokens(std::int64_t tokens) {
    own_tokens_ += tokens;
    const std::int64_t lack = -free_tokens();
    if (lack > 0 && cache_) cache_->evict(lack);
}

void Scheduler::release(Live& live, std::int64_t own_slots) {
    own_tokens_ -= pages(own_slots) * options_.page;
    if (cache_ && live.pinned_blocks > 0) cache_->unpin(live.request.leaf, live.pinned_blocks);
    live.pinned_blocks = 0;
    promised_ -= pages(live.request.input + live.request.output) * options_.page;
    --admitted_;
    batch_full_ = false;
}

void Scheduler::finish(std::int64_t id) {
    const Live& live = live_[static_cast<std::size_t>(id)];
    ++finished_;
    --in_system_;
    if (measuring_) {
        ++result_.requests;
        output_tokens_ += live.request.output;
        if (options_.times && live.measured) {
            const auto seconds = [](std::int64_t us) { return static_cast<double>(us) / 1e6; };
            ttft_.push_back(seconds(live.first_token_us - live.request.arrival_us));
            latency_.push_back(seconds(time_us_ - live.request.arrival_us));
            if (live.request.output > 1) itl_.push_back(seconds(time_us_ - live.first_token_us) / static_cast<double>(live.request.output - 1));
        }
    }
    unused_.push_back(id);
    if (options_.progress && (finished_ & 0x3fff) == 0) options_.progress(finished_, options_.expected_requests);
}

void Scheduler::retract(std::int64_t id) {
    Live& live = live_[static_cast<std::size_t>(id)];
    const std::int64_t decoded = running_.clock() - live.joined;
    const std::int64_t length = live.request.input + live.generated - 1;
    context_sum_ -= length - live.joined;
    live.generated += decoded;
    release(live, live.own_slots + decoded);
    if (measuring_) ++retractions_;
    if (options_.admission == Admission::vllm) queue_.push_front(id);
    else queue_.push_back(id);
}

bool Scheduler::make_room_to_decode() {
    const bool vllm = options_.admission == Admission::vllm;
    bool any = false;
    while (running_.size() > 0 && running_.pages_for(1) * options_.page > available()) {
        const bool alone = running_.size() == 1;
        const std::int64_t victim = running_.take_victim(vllm);
        if (alone && !chunked_) {
            // Not even this one fits by itself: the engine gives it up.
            Live& live = live_[static_cast<std::size_t>(victim)];
            const std::int64_t decoded = running_.clock() - live.joined;
            context_sum_ -= live.request.input + live.generated - 1 - live.joined;
            release(live, live.own_slots + decoded);
            ++result_.aborted;
            --in_system_;
            unused_.push_back(victim);
        } else {
            retract(victim);
        }
        any = true;
    }
    if (any && options_.admission == Admission::sglang) {
        const double decoded = static_cast<double>(running_.generated_sum() + kRatioTokensPerRequest * running_.size());
        ratio_at_ = std::min(1.0, decoded / static_cast<double>(running_.max_new_sum() + 1));
        ratio_clock_ = running_.clock();
    }
    return any;
}

double Scheduler::decode_time(std::int64_t steps) const {
    if (!options_.times) return static_cast<double>(steps);
    const auto k = static_cast<double>(steps), n = static_cast<double>(running_.size());
    const double context = static_cast<double>(context_sum_ + running_.size() * running_.clock());
    return k * (options_.times->base + options_.times->per_request * n) +
           options_.times->per_context_token * (k * context + n * k * (k - 1.0) / 2.0);
}

/// Decode steps until the clock passes `time_us`, at least one.
std::int64_t Scheduler::steps_until(std::int64_t time_us) const {
    const double wait = static_cast<double>(time_us - time_us_);
    std::int64_t low = 1, high = 1;
    while (decode_time(high) < wait && high < (std::int64_t{1} << 40)) high *= 2;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (decode_time(middle) >= wait) high = middle;
        else low = middle + 1;
    }
    return low;
}

void Scheduler::note_step(std::int64_t steps, double time, bool decode) {
    step_ += steps;
    time_us_ += std::llround(time);
    if (measuring_) {
        (decode ? result_.decode_steps : result_.prefill_steps) += steps;
        result_.steps += steps;
    }
    if (options_.timeline_points > 0 && step_ >= timeline_next_) {
        result_.timeline.push_back({step_, time_us_, running_.size(), static_cast<std::int64_t>(queue_.size()), used_tokens()});
        if (result_.timeline.size() >= 2 * options_.timeline_points) {
            // Twice as coarse from here on, and before.
            std::size_t kept = 0;
            for (std::size_t i = 0; i < result_.timeline.size(); i += 2) result_.timeline[kept++] = result_.timeline[i];
            result_.timeline.resize(kept);
            // Runs of equal steps are jumped over, so points may lie farther apart than was asked for.
            const std::int64_t apart = (result_.timeline.back().step - result_.timeline.front().step) / static_cast<std::int64_t>(kept - 1);
            timeline_every_ = std::max(2 * timeline_every_, apart);
        }
        timeline_next_ = step_ + timeline_every_;
    }
    if (options_.check_conservation) check();
}

void Scheduler::check() {
    std::int64_t own = 0;
    std::vector<bool> waiting(live_.size(), false);
    for (const std::int64_t id : unused_) waiting[static_cast<std::size_t>(id)] = true;
    for (const std::int64_t id : queue_) waiting[static_cast<std::size_t>(id)] = true;
    for (std::size_t id = 0; id < live_.size(); ++id) {
        const Live& live = live_[id];
        if (waiting[id]) continue;
        const bool prefilling = live.to_compute > 0;
        own += pages(live.own_slots + (prefilling ? 0 : running_.clock() - live.joined)) * options_.page;
    }
    const bool cache_good = !cache_ || cache_->consistent();
    if (own != own_tokens_ || free_tokens() < 0 || !cache_good) result_.conserved = false;
}

void Scheduler::run_decode(std::int64_t most_steps) {
    const bool retracted = make_room_to_decode();
    if (running_.size() == 0) return;
    std::int64_t steps = std::min({most_steps, running_.steps_to_finish(), running_.steps_with(available() / options_.page)});
    // After a retraction the queue is asked again; while it is not refused, an arrival may be let in.
    if (retracted && !queue_.empty()) steps = 1;
    if (options_.open_loop && !batch_full_ && coming_) steps = std::min(steps, steps_until(coming_->arrival_us));
    const std::int64_t before = used_tokens();
    take_tokens(running_.pages_for(steps) * options_.page);
    if (measuring_) {
        at_concurrency_[running_.size()] += steps;
        usage_sum_ += static_cast<double>(steps) * static_cast<double>(before + used_tokens()) / 2.0;
    }
    const double time = decode_time(steps);
    running_.advance(steps);
    note_step(steps, time, true);
    for (std::int64_t id = running_.take_finished(); id >= 0; id = running_.take_finished()) {
        Live& live = live_[static_cast<std::size_t>(id)];
        context_sum_ -= live.request.input + live.generated - 1 - live.joined;
        release(live, live.own_slots + running_.clock() - live.joined);
        finish(id);
    }
}

bool Scheduler::supply_ended() const {
    if (options_.open_loop || !source_empty_ || coming_) return false;
    return options_.concurrency ? in_system_ < *options_.concurrency : queue_.empty();
}

Result Scheduler::run() {
    const auto warmup = static_cast<std::int64_t>(options_.warmup_share * static_cast<double>(options_.expected_requests));
    const bool mixed = options_.mixed_steps || options_.admission == Admission::vllm;
    for (;;) {
        fill_queue();
        if (!measuring_ && finished_ >= warmup) {
            measuring_ = true;
            result_.warmup_requests = finished_;
            start_us_ = time_us_;
        }
        // A queue that runs dry is no longer the steady state that was asked for.
        if (supply_ended() && measuring_) break;
        if (mixed && make_room_to_decode()) {
            run_decode(1);
            continue;
        }
        const std::vector<Part> batch = next_batch(mixed);
        if (!batch.empty()) {
            note_step(1, prefill_time(batch), false);
            if (mixed && running_.size() > 0) {
                run_decode(1);
                --step_;  // the same step
                if (measuring_) --result_.steps, --result_.prefill_steps;
            }
            run_prefill(batch);
        } else if (running_.size() > 0) {
            run_decode(std::numeric_limits<std::int64_t>::max());
        } else if (!queue_.empty()) {
            // Nothing runs and yet it is refused: it never fits.
            unused_.push_back(queue_.front());
            queue_.pop_front();
            ++result_.aborted;
            --in_system_;
            batch_full_ = false;
        } else if (options_.open_loop && coming_) {
            time_us_ = std::max(time_us_, coming_->arrival_us);
            ratio_at_ = initial_ratio_;  // idle
            ratio_clock_ = running_.clock();
        } else {
            break;
        }
    }
    return finished_result();
}

Result Scheduler::finished_result() {
    Result& r = result_;
    if (options_.progress) options_.progress(options_.expected_requests, options_.expected_requests);
    r.concurrency = percentiles(at_concurrency_, r.decode_steps);
    if (r.decode_steps > 0 && pool_tokens_ > 0) r.token_usage = usage_sum_ / static_cast<double>(r.decode_steps) / static_cast<double>(pool_tokens_);
    if (r.requests > 0) {
        r.retractions_per_request = static_cast<double>(retractions_) / static_cast<double>(r.requests);
        r.recomputed_tokens_per_request = static_cast<double>(recomputed_) / static_cast<double>(r.requests);
    }
    if (r.steps > 0) {
        r.output_tokens_per_step = static_cast<double>(output_tokens_) / static_cast<double>(r.steps);
        r.requests_per_step = static_cast<double>(r.requests) / static_cast<double>(r.steps);
    }
    if (cache_) r.host_written_tokens = cache_->written_tokens();
    if (options_.times) {
        const double seconds = static_cast<double>(time_us_ - start_us_) / 1e6;
        r.seconds = seconds;
        if (seconds > 0.0) {
            r.output_tokens_per_second = static_cast<double>(output_tokens_) / seconds;
            r.requests_per_second = static_cast<double>(r.requests) / seconds;
        }
        r.ttft_seconds = percentiles(std::move(ttft_));
        r.itl_seconds = percentiles(std::move(itl_));
        r.latency_seconds = percentiles(std::move(latency_));
    }
    return std::move(r);
}

std::string_view name_of(Admission admission) {
    switch (admission) {
        case Admission::sglang: return "sglang";
        case Admission::full: return "full";
        case Admission::free: return "free";
        case Admission::vllm: return "vllm";
    }
    return "sglang";
}

std::optional<Admission> admission_named(std::string_view name) {
    for (const Admission admission : {Admission::sglang, Admission::full, Admission::free, Admission::vllm})
        if (name == name_of(admission)) return admission;
    return std::nullopt;
}

Result simulate(RequestSource& source, const Options& options) { return Scheduler(source, options).run(); }

}  // namespace kvplan::simulate
