#include "planner/throughput/step_time.hpp"

#include <algorithm>
#include <cmath>

namespace kvplan {
namespace {

double rate(const std::optional<Fact<Flops>>& fact, bool highest) {
    return fact ? (highest ? fact->highest().value : fact->value.value) : 0.0;
}

/// Peak of a computing type; a type the GPU lacks is never asked for (compute_type), 16 bits stand in.
double peak(const GpuSpec& gpu, ComputeType type, bool highest) {
    const double half = rate(gpu.dense.half(), highest);
    double own = half;
    if (type == ComputeType::fp8) own = rate(gpu.dense.fp8, highest);
    if (type == ComputeType::fp4) own = rate(gpu.dense.fp4, highest);
    if (type == ComputeType::int8) own = rate(gpu.dense.int8, highest);
    return own > 0.0 ? own : half;
}

double per(double work, double rate) { return rate > 0.0 ? work / rate : 0.0; }

}  // namespace

std::string_view name_of(Resource resource) {
    switch (resource) {
        case Resource::compute: return "compute";
        case Resource::hbm: return "hbm";
        case Resource::links: return "links";
        case Resource::host_link: return "host_link";
        case Resource::latency: return "latency";
    }
    return "compute";
}

Resource Seconds::largest() const {
    return static_cast<Resource>(std::max_element(of.begin(), of.end()) - of.begin());
}

StepTimer::StepTimer(const StepWork& work, const GpuSpec& gpu, const ServedRequest& request, const Costs& costs)
    : work_(work), request_(request), costs_(costs) {
    const bool highest = costs.highest_rates;
    const double bandwidth = highest ? gpu.memory_bandwidth.highest().value : gpu.memory_bandwidth.value.value;
    read_seconds_ = per(1.0, bandwidth * costs.weights);
    const MatrixGroup* groups[] = {&work.projections, &work.mixture, &work.head};
    for (std::size_t g = 0; g < group_read_.size(); ++g) {
        const double fraction = g == 1 ? costs.mixture : 1.0;
        group_read_[g] = groups[g]->read_bytes * read_seconds_ / fraction;
        for (std::size_t t = 0; t < kComputeTypes; ++t)
            group_token_[g] += per(groups[g]->flops[t], peak(gpu, static_cast<ComputeType>(t), highest) * costs.compute[t] * fraction * work.ranks);
    }
    tokens_per_step_ = 1.0 + (request.tokens_per_step - 1.0) * costs.accepted_share;
    steps_ = std::max(0.0, request.output - 1.0) / tokens_per_step_;

    const bool eight_bits = work.kv_element_bytes <= 1.0;
    const double attention = peak(gpu, eight_bits ? ComputeType::fp8 : ComputeType::half, highest) * costs.attention_compute * work.ranks;
    const double reading = bandwidth * costs.context;
    const double life = std::max(1.0, request.output);
    for (const ContextReads& reads : work.contexts) {
        const double mean = context_sum(reads, request.input, request.input + life) / life;
        context_read_ += per(reads.bytes * mean, reading);
        context_decode_ += per(reads.decode_flops * mean * request.verified_per_step, attention);
        context_prefill_ += per(reads.prefill_flops * context_sum(reads, request.input - request.uncached, request.input), attention);
    }
    context_read_ += per(work.state_bytes, reading);
    if (gpu.peer_link.each_way) {
        const double link = (highest ? gpu.peer_link.each_way->highest().value : gpu.peer_link.each_way->value.value) * costs.link * work.pp;
        link_worker_token_ = per(work.reduce_bytes, link);
        link_rank_token_ = per(work.exchange_bytes * (costs.experts_anywhere ? work.exchange_copies : 1.0), link);
    }
    if (const auto host = host_rate(gpu); host && request.from_host > 0.0)
        host_seconds_ = per(request.from_host * work.kv_write_bytes / work.pp, (highest ? host->highest().value : host->value.value) * costs.host_link);
    latency_ = work.kernels * costs.kernel_seconds + work.collectives * costs.collective_seconds;
}

double StepTimer::experts_read(double tokens) const {
    double bytes = 0.0;
    for (const ExpertLayers& set : work_.experts) bytes += set.layers * set.bytes * touched_experts(set, tokens, costs_.popular_share);
    return bytes * read_seconds_ / costs_.mixture;
}

Seconds StepTimer::finish(std::initializer_list<Work> groups, const Beside& beside) const {
    Seconds s;
    double serial = beside.latency;
    for (const Work& group : groups) {
        s[Resource::hbm] += group.read;
        s[Resource::compute] += group.compute;
        serial += group.longer();
    }
    s[Resource::links] = beside.links;
    s[Resource::host_link] = beside.host;
    s[Resource::latency] = beside.latency + beside.outside;
    // Two alternating batches hide everything behind the busiest resource, at the price of reading the weights twice.
    if (request_.two_batches) serial = std::min(serial, std::max(s[Resource::hbm] + beside.weights, s[Resource::compute]));
    if (work_.workers > 1.0) serial /= costs_.lockstep;
    s.total = beside.outside + (costs_.links_overlap ? std::max({serial, beside.links, beside.host}) : std::max(serial + beside.links, beside.host));
    return s;
}

Seconds StepTimer::decode_step(double batch) const {
    const double b = std::max(1.0, batch), worker = std::max(1.0, b / work_.workers);
    const double tokens = b * request_.verified_per_step;
    // A pipeline stage reads its weights once for each micro-batch; over all stages that is the whole model once a step.
    const double experts = experts_read(tokens / work_.pp);
    return finish({{group_read_[0], tokens * group_token_[0]},
                   {group_read_[1] + experts, tokens * group_token_[1]},
                   {group_read_[2], tokens * group_token_[2]},
                   {worker * context_read_ / work_.pp, b * context_decode_}},
                  {.links = tokens * link_token(),
                   .latency = latency_,
                   .outside = worker * tokens_per_step_ * costs_.token_seconds,
                   .weights = group_read_[0] + group_read_[1] + group_read_[2] + experts});
}

Seconds StepTimer::prefill() const {
    const double n = request_.uncached;
    return finish({{group_read_[0], n * group_token_[0]},
                   {group_read_[1] + experts_read(n), n * group_token_[1]},
                   {group_read_[2], group_token_[2]},
                   {0.0, context_prefill_}},
                  {.links = n * link_token() * work_.workers,
                   .host = host_seconds_,
                   .latency = latency_,
                   .outside = costs_.token_seconds});
}

double StepTimer::prompt_occupancy() const {
    const double n = request_.uncached;
    const double computing = n * (group_token_[0] + group_token_[1]) + group_token_[2] + context_prefill_;
    return finish({{0.0, computing}}, {.links = n * link_token(), .host = host_seconds_ / work_.workers}).total;
}

Seconds StepTimer::requests(double batch) const {
    const double b = std::max(1.0, batch), worker = std::max(1.0, b / work_.workers);
    const double decoded = b * request_.verified_per_step * steps_, prompts = b * request_.uncached;
    const double experts = experts_read(b * request_.verified_per_step / work_.pp);
    const Beside beside{.links = (decoded + prompts) * link_token(),
                        .host = worker * host_seconds_,
                        .latency = steps_ * latency_,
                        .outside = worker * request_.output * costs_.token_seconds,
                        .weights = steps_ * (group_read_[0] + group_read_[1] + group_read_[2] + experts)};
    const Work projections{steps_ * group_read_[0], decoded * group_token_[0]};
    const Work mixture{steps_ * (group_read_[1] + experts), decoded * group_token_[1]};
    const Work head{steps_ * group_read_[2], b * request_.verified_per_step * steps_ * group_token_[2]};
    const Work context{worker * context_read_ / work_.pp * steps_, b * context_decode_ * steps_};
    const double prompt = b * context_prefill_;
    if (request_.mixed)
        return finish({{projections.read, projections.compute + prompts * group_token_[0]},
                       {mixture.read, mixture.compute + prompts * group_token_[1]},
                       {head.read, head.compute + b * group_token_[2]},
                       {context.read, context.compute + prompt}},
                      beside);
    return finish({projections, mixture, head, context, {0.0, prompts * (group_token_[0] + group_token_[1]) + b * group_token_[2] + prompt}}, beside);
}

}  // namespace kvplan
