#include "planner/export/finding_text.hpp"

namespace kvplan::exporting {

std::vector<FindingTemplate> workload_finding_templates() {
    return {
        {"request_longer_than_server_takes", "A request of the stated length exceeds the context or the pool: the server rejects or truncates it.",
         "A request of {asked} tokens is longer than the {longest} tokens that this server takes.", "Shorten the request, raise --context-length where the model allows it, or give the pool more memory."},
        {"request_shape_incomplete", "One of prompt and output length is missing: how many requests run at once depends on both.",
         "Concurrency, throughput and latency need {missing} too.", "Give {missing}, or --request-tokens for both together."},
        {"running_limited_by_default", "The default of max_running_requests limits the requests that run at once before the pool does.",
         "No --max-running-requests is given, and {why}: {running} a worker run at once, and they use {usage} of the pool.", "Give --max-running-requests."},
        {"offered_rate_not_served", "More requests are offered than the deployment is expected to finish: the queue grows without end.",
         "{offered} requests a second are offered, {expected} are expected to be finished (at most {ceiling}): waiting times grow without end.",
         "Add replicas, shorten the requests, or limit the rate; `kvplan solve min-gpus --target-tokens-per-second` says how many GPUs it takes."},
        {"host_cache_no_gain", "The GPU pool alone finds nearly all the prefixes that the trace ever repeats, so a host cache has nothing to add.",
         "The GPU pool alone finds {device_share} % of the prompt tokens; no cache of any size would find more than {unlimited_share} %.", "Leave the host cache off."},
        {"host_cache_beyond_safe", "What the trace repeats lies farther back than any safe host pool reaches.",
         "The largest safe host pool would find {safe_share} % of the prompt tokens, the GPU pool alone {device_share} %; the knee of the curve lies at {knee}.",
         "Leave the host cache off, give the host more RAM, or use a third tier (--hicache-storage-backend)."},
        {"host_cache_too_small", "The host pool holds no more than the GPU pool; written through, it adds nothing.",
         "The host pool of {host} is not larger than the GPU pool, so it finds nothing that the GPU does not; the largest safe one would find {safe_share} %.",
         "Take a larger pool; `kvplan trace` with the same flags recommends one."},
    };
}

}  // namespace kvplan::exporting
