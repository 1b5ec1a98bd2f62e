// The running requests of a scheduler, by what changes alike for all of them at each decode step.
//
// Decode steps are counted by a clock. Everything about a request is a constant plus or minus the clock while it decodes:
// its length, when it finishes, what it may still ask for. So a run of steps only moves the clock.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace kvplan::simulate {

class RunningSet {
public:
    RunningSet(std::int64_t page, std::int64_t reservation_clip) : clip_(reservation_clip), page_(page), at_phase_(static_cast<std::size_t>(page), 0) {}

    struct Entry {
        std::int64_t request = 0;       ///< the caller's number
        std::int64_t slots = 0;         ///< device tokens of its own outside whole shared pages, at the time it joined
        std::int64_t remaining = 0;     ///< steps until it finishes, >= 1
        std::int64_t may_ask = 0;       ///< max_new - generated
        std::int64_t generated = 0;
        std::int64_t prompt = 0;
        std::int64_t order = 0;         ///< of admission, for last come first out
    };

    [[nodiscard]] std::int64_t size() const { return count_; }
    [[nodiscard]] std::int64_t clock() const { return clock_; }
    void add(const Entry& entry);
    /// Steps until the first one finishes; none running: a very large number.
    [[nodiscard]] std::int64_t steps_to_finish();
    /// Most steps that `free_pages` pages allow all to take.
    [[nodiscard]] std::int64_t steps_with(std::int64_t free_pages) const;
    /// Pages that the next `steps` steps take.
    [[nodiscard]] std::int64_t pages_for(std::int64_t steps) const;
    void advance(std::int64_t steps);
    /// One that is finished now, taken out; -1: none.
    std::int64_t take_finished();
    /// The one to give up next, taken out: fewest generated tokens, then longest prompt, then the last to come; or just
    /// the last to come.
    std::int64_t take_victim(bool last_come);
    /// Sum over running of min(max_new - generated, clip).
    [[nodiscard]] std::int64_t reserved();
    /// Sums over running of generated tokens and of max_new.
    [[nodiscard]] std::int64_t generated_sum() const { return generated_sum_ + count_ * clock_; }
    [[nodiscard]] std::int64_t max_new_sum() const { return max_new_sum_; }
    [[nodiscard]] std::int64_t generated(std::int64_t request) const { return by_request_[static_cast<std::size_t>(request)].generated + clock_; }

private:
    struct Kept {                        // constants at clock 0
        std::int64_t slots = 0, finish = 0, may_ask = 0, generated = 0, prompt = 0, order = 0;
        std::uint32_t life = 0;          // odd while running; outdates entries of the heaps
        bool clipped = false;
        std::size_t index = 0;           // in running_
    };
    struct Event {
        std::int64_t clock = 0, request = 0;
        std::uint32_t life = 0;
        bool operator>(const Event& other) const {
            return clock != other.clock ? clock > other.clock : request > other.request;
        }
    };
    using Heap = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

    [[nodiscard]] bool outdated(const Event& event) const { return by_request_[static_cast<std::size_t>(event.request)].life != event.life; }
    [[nodiscard]] std::size_t phase(std::int64_t slots_at_zero) const {
        return static_cast<std::size_t>(((slots_at_zero % page_) + page_) % page_);
    }
    [[nodiscard]] std::int64_t needed_at(std::int64_t clock) const { return at_phase_[phase(-clock)]; }
    void remove(std::int64_t request);

    std::int64_t clip_, page_;
    std::int64_t clock_ = 0, count_ = 0;
    std::int64_t generated_sum_ = 0, max_new_sum_ = 0;
    std::int64_t clipped_ = 0, unclipped_sum_ = 0;   // of may_ask at clock 0
    std::vector<std::int64_t> at_phase_;             // by slots at clock 0, modulo the page
    std::vector<Kept> by_request_;
    std::vector<std::int64_t> running_;
    Heap finishes_, unclips_;
};

}  // namespace kvplan::simulate
