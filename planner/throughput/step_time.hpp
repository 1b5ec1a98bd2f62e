#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "planner/concurrency/admission.hpp"
#include "planner/throughput/step_work.hpp"

namespace kvplan {

/// How fast work goes: fractions of the peak rates, and times that no rate explains. The same formulas with the two sets
/// below give a bound and an expectation.
struct Costs {
    std::array<double, kComputeTypes> compute{1.0, 1.0, 1.0, 1.0};  // fraction of the dense peak, by ComputeType
    double attention_compute = 1.0;
    double mixture = 1.0;              // of both rates, for routed and shared experts against dense matrices
    double weights = 1.0;              // fraction of the memory bandwidth while weights are read
    double context = 1.0;              // … while KV and states are read
    double lockstep = 1.0;             // mean load of DP-attention workers, which step together, against the fullest
    double link = 1.0, host_link = 1.0;
    double kernel_seconds = 0.0;       // of one launch that waits for the one before
    double collective_seconds = 0.0;   // of one collective beyond its bytes
    double token_seconds = 0.0;        // of the host for each token it gives out, per DP worker
    double popular_share = 0.2;        // of the picks, of the most popular fifth of the experts
    double accepted_share = 1.0;       // of the drafts of speculative decoding
    bool experts_anywhere = false;     // a token crosses to all ranks that hold its experts; false: to one at most
    bool links_overlap = true;         // transfers run beside the computation
    bool highest_rates = true;         // the highest figure of any source for the GPU, else the usual one
};

/// What nothing built so far exceeds. Each value with its source: docs/method-throughput.md.
[[nodiscard]] Costs bound_costs();
/// Fitted to published measurements; their errors: docs/accuracy-throughput.md.
[[nodiscard]] Costs expected_costs();

enum class Resource { compute, hbm, links, host_link, latency };
inline constexpr std::size_t kResources = 5;
[[nodiscard]] std::string_view name_of(Resource resource);

/// Seconds that work takes of each resource, and until it is done.
struct Seconds {
    std::array<double, kResources> of{};
    double total = 0.0;

    [[nodiscard]] double& operator[](Resource r) { return of[static_cast<std::size_t>(r)]; }
    [[nodiscard]] double operator[](Resource r) const { return of[static_cast<std::size_t>(r)]; }
    [[nodiscard]] Resource largest() const;
};

/// How requests are served: what of the prompt is computed, and how tokens come out.
struct ServedRequest {
    double input = 0.0, output = 0.0;
    double uncached = 0.0;             // prompt tokens that are computed
    double from_host = 0.0;            // prompt tokens loaded from the host tier
    double tokens_per_step = 1.0;      // given out by a decode step at most
    double verified_per_step = 1.0;    // computed by it: 1 without speculative decoding
    bool mixed = false;                // prefill and decode share steps
    bool two_batches = false;          // two batches alternate, so that one computes while the other transfers
};

/// The clock of one replica: seconds for its steps and requests at a concurrency.
class StepTimer {
public:
    StepTimer(const StepWork& work, const GpuSpec& gpu, const ServedRequest& request, const Costs& costs);

    /// One decode step of `batch` requests in the middle of their outputs.
    [[nodiscard]] Seconds decode_step(double batch) const;
    /// The prompt of one request, alone on the replica.
    [[nodiscard]] Seconds prefill() const;
    /// What one prompt takes of the replica when prompts follow one another without end: weights are read for many at once.
    [[nodiscard]] double prompt_occupancy() const;
    /// Until `batch` requests have gone through, prompt and output, with always `batch` of them in flight.
    [[nodiscard]] Seconds requests(double batch) const;
    /// Steps in which one request decodes; its first token comes with the prompt.
    [[nodiscard]] double decode_steps() const { return steps_; }
    [[nodiscard]] double tokens_per_step() const { return tokens_per_step_; }
    /// Host-link seconds of one request's loaded tokens.
    [[nodiscard]] double host_seconds() const { return host_seconds_; }

private:
    struct Work {                      // of one group of operations: reading and computing overlap, groups follow one another
        double read = 0.0, compute = 0.0;
        [[nodiscard]] double longer() const { return read > compute ? read : compute; }
    };
    struct Beside {                    // what is no group of operations
        double links = 0.0, host = 0.0, latency = 0.0;
        double outside = 0.0;          // of the host, between steps
        double weights = 0.0;          // reading all weights once more
    };
    [[nodiscard]] double experts_read(double tokens) const;
    [[nodiscard]] double link_token() const { return link_worker_token_ / work_.workers + link_rank_token_ / work_.tp; }
    [[nodiscard]] Seconds finish(std::initializer_list<Work> groups, const Beside& beside) const;

    const StepWork& work_;
    ServedRequest request_;
    Costs costs_;
    double steps_ = 0.0, tokens_per_step_ = 1.0;
    double read_seconds_ = 0.0;        // of one byte of weights

    std::array<double, 3> group_read_{}, group_token_{};  // projections, mixture, head: a step, a token
    double context_read_ = 0.0, context_decode_ = 0.0;    // a request and step
    double context_prefill_ = 0.0;                        // a request's prompt
    double link_worker_token_ = 0.0, link_rank_token_ = 0.0;
    double host_seconds_ = 0.0;
    double latency_ = 0.0;             // of one step
};

}  // namespace kvplan
