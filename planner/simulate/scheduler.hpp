#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "planner/simulate/running_set.hpp"
#include "planner/simulate/simulate.hpp"

namespace kvplan::simulate {

/// One run of a simulation.
class Scheduler {
public:
    Scheduler(RequestSource& source, const Options& options);
    Result run();

private:
    struct Live {
        SimulatedRequest request;
        std::int64_t generated = 0;
        std::int64_t order = 0;
        std::int64_t own_slots = 0;         // tokens it holds outside the cache, when it began to decode
        std::int64_t joined = 0;            // clock then
        std::uint32_t pinned_blocks = 0;
        std::int64_t shared_tokens = 0;     // of the pinned blocks
        std::int64_t to_compute = 0;        // prompt tokens still to prefill
        std::int64_t context = 0;           // tokens present before them
        std::int64_t host_tokens = 0;       // of these, just loaded from the host
        std::int64_t first_token_us = -1;
        bool admitted_before = false;
        bool measured = false;
    };

    // What comes and goes (scheduler.cpp)
    bool fetch();
    void fill_queue();
    void finish(std::int64_t id);
    std::int64_t new_live(const SimulatedRequest& request);

    // Admission and prefill (admission.cpp)
    struct Budget {
        double total = 0.0;                 // of the admission rule
        std::int64_t current = 0;           // tokens that can be had
        std::int64_t input = 0, chunk = 0;
    };
    struct Part {
        std::int64_t id = 0, tokens = 0;
    };
    [[nodiscard]] Budget budget(bool mixed);
    [[nodiscard]] std::vector<Part> next_batch(bool mixed);
    bool admit(std::int64_t id, Budget& budget, std::vector<Part>& batch);
    [[nodiscard]] bool rule_allows(const Live& live, std::int64_t to_compute, const Budget& budget) const;
    void take_in(Live& live);               // pins and loads what is cached
    void begin_decode(std::int64_t id);
    void run_prefill(const std::vector<Part>& batch);
    [[nodiscard]] double prefill_time(const std::vector<Part>& batch) const;

    // Decode (scheduler.cpp)
    void run_decode(std::int64_t most_steps);
    [[nodiscard]] std::int64_t steps_until(std::int64_t time_us) const;
    [[nodiscard]] double decode_time(std::int64_t steps) const;
    bool make_room_to_decode();             // true when a request had to go
    void retract(std::int64_t id);
    void release(Live& live, std::int64_t own_slots);
    void note_step(std::int64_t steps, double time, bool decode);
    void check();
    [[nodiscard]] bool supply_ended() const;
    [[nodiscard]] Result finished_result();

    // Memory
    [[nodiscard]] std::int64_t pages(std::int64_t tokens) const { return (tokens + options_.page - 1) / options_.page; }
    [[nodiscard]] std::int64_t free_tokens() const { return pool_tokens_ - own_tokens_ - (cache_ ? cache_->device_tokens() : 0); }
    [[nodiscard]] std::int64_t available() const { return free_tokens() + (cache_ ? cache_->evictable_tokens() : 0); }
    void take_tokens(std::int64_t tokens);
    [[nodiscard]] std::int64_t used_tokens() const { return pool_tokens_ - available(); }
    [[nodiscard]] double ratio() const;

    RequestSource& source_;
    const Options& options_;
    std::int64_t pool_tokens_ = 0;              // whole pages
    std::optional<PrefixCache> cache_;
    RunningSet running_;
    std::vector<Live> live_;
    std::vector<std::int64_t> unused_;          // entries of live_
    std::deque<std::int64_t> queue_;
    std::optional<SimulatedRequest> coming_;    // next arrival
    std::optional<std::int64_t> chunked_;       // whose prompt is not yet whole
    bool source_empty_ = false;
    bool batch_full_ = false;                   // refused: asks again when something has left
    std::int64_t own_tokens_ = 0;               // slots of running requests outside the cache
    std::int64_t promised_ = 0;                 // prompt + output of all admitted (Admission::full)
    std::int64_t admitted_ = 0;                 // in the pool, the chunked one included
    std::int64_t context_sum_ = 0;              // tokens of running requests at clock 0: sum - count x clock
    double initial_ratio_ = 0.0, least_ratio_ = 0.0, ratio_decay_ = 0.0;
    double ratio_at_ = 0.0;
    std::int64_t ratio_clock_ = 0;
    std::int64_t orders_ = 0, in_system_ = 0;
    std::int64_t time_us_ = 0;
    std::int64_t step_ = 0;
    // Measurement
    bool measuring_ = false;
    std::int64_t finished_ = 0;
    std::int64_t start_us_ = 0;
    std::map<std::int64_t, std::int64_t> at_concurrency_;  // decode steps by number running
    double usage_sum_ = 0.0;
    std::int64_t retractions_ = 0, recomputed_ = 0, output_tokens_ = 0;
    std::vector<double> ttft_, itl_, latency_;
    std::int64_t timeline_every_ = 1, timeline_next_ = 0;
    Result result_;
};

}  // namespace kvplan::simulate
