#include "planner/sweep/select.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace kvplan::sweep {

namespace {

std::optional<double> score(const Row& row, Goal goal) {
    const Cell& cell = row.cells[goal.figure];
    if (cell.kind != CellKind::number && cell.kind != CellKind::boolean) return std::nullopt;
    return goal.smaller ? -cell.number : cell.number;
}

bool beats(const Row& a, const Row& b, const std::vector<Goal>& goals) {
    bool better = false;
    for (const Goal goal : goals) {
        const double x = *score(a, goal), y = *score(b, goal);
        if (x < y) return false;
        better = better || x > y;
    }
    return better;
}

constexpr std::int64_t kBlock = 64;

/// Blocks are taken in order by workers and handed over in order; no more than a few wait for their turn.
class Blocks {
public:
    Blocks(const Points& points, std::int64_t begin, std::int64_t end, std::size_t window) : points_(points), begin_(begin), end_(end), window_(window) {}

    void work() {
        for (;;) {
            std::int64_t block = 0;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return stop_ || static_cast<std::size_t>(next_ - handed_) < window_; });
                if (stop_ || begin_ + next_ * kBlock >= end_) return;
                block = next_++;
            }
            std::vector<Row> rows;
            std::exception_ptr error;
            try {
                for (std::int64_t p = begin_ + block * kBlock; p < std::min(end_, begin_ + (block + 1) * kBlock); ++p)
                    if (auto row = points_.kept_row(p)) rows.push_back(std::move(*row));
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard lock(mutex_);
            if (error && !error_) error_ = error;
            done_.emplace(block, std::move(rows));
            changed_.notify_all();
        }
    }

    std::int64_t hand_over(const std::function<bool(std::vector<Row>, std::int64_t)>& take) {
        std::int64_t next_point = begin_;
        while (next_point < end_) {
            std::vector<Row> rows;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return error_ || done_.count(handed_) > 0; });
                if (error_) std::rethrow_exception(error_);
                rows = std::move(done_.extract(handed_).mapped());
                ++handed_;
                changed_.notify_all();
            }
            next_point = std::min(end_, begin_ + handed_ * kBlock);
            if (!take(std::move(rows), next_point)) break;
        }
        return next_point;
    }

    void stop() {
        const std::lock_guard lock(mutex_);
        stop_ = true;
        changed_.notify_all();
    }

private:
    const Points& points_;
    const std::int64_t begin_, end_;
    const std::size_t window_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::int64_t, std::vector<Row>> done_;
    std::int64_t next_ = 0, handed_ = 0;
    bool stop_ = false;
    std::exception_ptr error_;
};

/// Threads that are joined also when the taking of rows throws.
struct Workers {
    Blocks& blocks;
    std::vector<std::thread> threads;
    ~Workers() {
        blocks.stop();
        for (std::thread& thread : threads) thread.join();
    }
};

}  // namespace

void Top::add(Row row) {
    const auto value = score(row, goal_);
    if (!value || count_ == 0) return;
    const auto place = std::upper_bound(rows_.begin(), rows_.end(), *value, [&](double v, const Row& other) { return v > *score(other, goal_); });
    if (place == rows_.end() && rows_.size() == count_) return;
    rows_.insert(place, std::move(row));
    if (rows_.size() > count_) rows_.pop_back();
}

void Pareto::add(Row row) {
    for (const Goal goal : goals_)
        if (!score(row, goal)) return;
    for (const Row& other : rows_)
        if (beats(other, row, goals_)) return;
    rows_.erase(std::remove_if(rows_.begin(), rows_.end(), [&](const Row& other) { return beats(row, other, goals_); }), rows_.end());
    rows_.push_back(std::move(row));
}

std::int64_t run(const Points& points, std::int64_t begin, std::int64_t end, int threads,
                 const std::function<bool(std::vector<Row> rows, std::int64_t next)>& take) {
    const int count = std::max(1, threads);
    Blocks blocks(points, begin, end, static_cast<std::size_t>(4 * count));
    Workers workers{blocks, {}};
    for (int i = 0; i < count; ++i) workers.threads.emplace_back([&blocks] { blocks.work(); });
    return blocks.hand_over(take);
}

}  // namespace kvplan::sweep
