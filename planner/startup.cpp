#include "planner/startup.hpp"

#include <algorithm>

namespace kvplan {
namespace {

constexpr double kDiskBytesPerSecond[] = {7e9, 2e9, 0.5e9};     // low, expected, high time
constexpr double kPinBytesPerSecond[] = {5e9, 3.2e9, 1e9};
constexpr double kOtherSeconds[] = {20.0, 60.0, 240.0};

}  // namespace

Estimate<double> startup_seconds(const Scenario& /*scenario*/, const Plan& plan) {
    const double resident = static_cast<double>(plan.weights.bytes_per_rank.expected.count()) * static_cast<double>(plan.parallelism.ranks_per_node);
    const double stored = static_cast<double>(plan.weights.checkpoint_bytes.count());
    const double read = stored > 0.0 ? std::min(resident, stored) : resident;
    const double pinned = plan.hicache.enabled ? static_cast<double>(plan.hicache.bytes_per_rank.count()) : 0.0;
    const auto seconds = [&](int end) { return read / kDiskBytesPerSecond[end] + pinned / kPinBytesPerSecond[end] + kOtherSeconds[end]; };
    return {seconds(0), seconds(1), seconds(2), Basis::assumed};
}

}  // namespace kvplan
