#include <algorithm>

#include "planner/scenario.hpp"

namespace kvplan {

Parallelism parallelism(const Scenario& scenario) {
    const EngineOptions& engine = scenario.engine;
    Parallelism p;
    p.tp = std::max<std::int64_t>(1, engine.tp);
    p.pp = std::max<std::int64_t>(1, engine.pp);
    p.dp = std::max<std::int64_t>(1, engine.dp);
    // vLLM splits experts over all ranks when it splits them at all.
    p.ep = engine.enable_expert_parallel ? checked_mul(p.tp, p.dp) : std::max<std::int64_t>(1, engine.ep);
    p.dp_attention = engine.enable_dp_attention ? p.dp : 1;
    p.replicas = engine.enable_dp_attention ? 1 : p.dp;
    const std::int64_t context_parallel = std::max<std::int64_t>(1, engine.attention_context_parallel);
    p.attention_tp = std::max<std::int64_t>(1, p.tp / p.dp_attention / context_parallel);
    p.moe_tp = std::max<std::int64_t>(1, p.tp / p.ep);
    p.ranks_per_replica = checked_mul(p.tp, p.pp);
    p.ranks = checked_mul(p.ranks_per_replica, p.replicas);
    p.gpus_per_node = std::max<std::int64_t>(1, scenario.hardware.gpus_per_node.value_or(8));
    const std::int64_t on_host = checked_mul(p.ranks, std::max<std::int64_t>(1, scenario.hardware.host.instances_per_node));
    p.nodes = scenario.hardware.nodes.value_or(ceil_div(p.ranks, p.gpus_per_node));
    const std::int64_t spread = std::max<std::int64_t>(1, p.nodes);
    p.ranks_per_node = std::min(p.gpus_per_node, std::max<std::int64_t>(1, ceil_div(on_host, spread)));
    return p;
}

}  // namespace kvplan
