#pragma once

#include <string>

#include "planner/plan.hpp"
#include "planner/scenario.hpp"

namespace kvplan::exporting {

/// Forms of a launch that other programs take.
enum class LaunchForm { shell, compose, kubernetes };

/// A shell script, a Compose file or a Kubernetes Deployment that starts the planned server. `launch::parse_file` reads the
/// same scenario back from it. GPUs are those of one node; the container's memory limit is the one that was planned with, else
/// what the launch needs at the high end, shared memory included; /dev/shm likewise. Neither knows an address, a volume of the
/// model, or secrets: those are the place's own. Compose and Kubernetes describe one node: see `launch_file_refusal`.
[[nodiscard]] std::string launch_file(const Scenario& scenario, const Plan& plan, LaunchForm form);

/// Why a scenario cannot be written in a form (several nodes); empty: it can.
[[nodiscard]] std::string launch_file_refusal(const Scenario& scenario, LaunchForm form);

}  // namespace kvplan::exporting
