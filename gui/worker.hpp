// One long task at a time beside the window: the drawing thread never waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace kvplan::gui {

/// Seen by the task: how far it is, and whether it should stop.
class Progress {
public:
    void set(double share) { share_ = share; }
    [[nodiscard]] double share() const { return share_; }
    void cancel() { cancelled_ = true; }
    [[nodiscard]] bool cancelled() const { return cancelled_; }

private:
    std::atomic<double> share_{0.0};
    std::atomic<bool> cancelled_{false};
};

/// Thrown by a task that was told to stop.
struct Cancelled {};

class Worker {
public:
    Worker() = default;
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// What a task leaves for the drawing thread to do; it may be empty.
    using Result = std::function<void()>;
    /// Starts `task` after the one before it was told to stop and has ended. The task must not touch what the window shows.
    void start(std::string name, std::function<Result(Progress&)> task);
    void cancel();
    /// Takes a finished task's result over, in the thread that draws.
    void poll();
    /// Waits for the task and takes its result.
    void finish();

    [[nodiscard]] bool busy() const { return thread_.joinable(); }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] double share() const { return progress_ ? progress_->share() : 0.0; }
    /// Why the last task failed; empty: it did not.
    [[nodiscard]] const std::string& fault() const { return fault_; }

private:
    struct Outcome {
        std::mutex mutex;
        bool done = false;
        Result result;
        std::string fault;
    };

    std::string name_, fault_;
    std::shared_ptr<Progress> progress_;
    std::shared_ptr<Outcome> outcome_;
    std::thread thread_;
};

}  // namespace kvplan::gui
