#include "gui/worker.hpp"

#include <exception>

namespace kvplan::gui {

Worker::~Worker() {
    cancel();
    if (thread_.joinable()) thread_.join();
}

void Worker::start(std::string name, std::function<Result(Progress&)> task) {
    cancel();
    if (thread_.joinable()) thread_.join();
    name_ = std::move(name);
    fault_.clear();
    progress_ = std::make_shared<Progress>();
    outcome_ = std::make_shared<Outcome>();
    thread_ = std::thread([progress = progress_, outcome = outcome_, task = std::move(task)] {
        Result result;
        std::string fault;
        try {
            result = task(*progress);
        } catch (const Cancelled&) {
            fault = "stopped";
        } catch (const std::exception& error) {
            fault = error.what();
        }
        const std::lock_guard<std::mutex> lock(outcome->mutex);
        outcome->result = std::move(result);
        outcome->fault = std::move(fault);
        outcome->done = true;
    });
}

void Worker::cancel() {
    if (progress_) progress_->cancel();
}

void Worker::poll() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard<std::mutex> lock(outcome_->mutex);
        if (!outcome_->done) return;
    }
    thread_.join();
    fault_ = outcome_->fault;
    const Result result = std::move(outcome_->result);
    if (result && !progress_->cancelled()) result();
}

void Worker::finish() {
    while (thread_.joinable()) {
        poll();
        std::this_thread::yield();
    }
}

}  // namespace kvplan::gui
