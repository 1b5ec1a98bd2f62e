#include "planner/trace/tiers.hpp"

#include <algorithm>
#include <cmath>

namespace kvplan::trace {

namespace {

/// The blocks that a request was the last to use are a tail of its prompt, positions start..end; of these the front part
/// up to `device_end` is on the GPU and the rest up to `host_end` on the host alone.
struct Tail {
    std::uint32_t start = 0, device_end = 0, host_end = 0;
};

class TierSimulation {
public:
    TierSimulation(const Trace& trace, WritePolicy policy, const TierSizes& sizes)
        : trace_(trace), policy_(policy), sizes_(sizes), last_(trace.forest.size(), 0), copied_(trace.forest.size(), 0),
          tails_(trace.requests.size() + 1) {
        if (policy == WritePolicy::write_through_selective) policy_ = WritePolicy::write_through;
    }

    TierResult run(double warmup_share) {
        const std::size_t count = trace_.requests.size();
        const auto warmup = static_cast<std::size_t>(std::floor(warmup_share * static_cast<double>(count)));
        ReuseStack stack(trace_.forest, sizes_.storage ? count : 0);
        for (std::size_t i = 0; i < count; ++i) {
            const Request& request = trace_.requests[i];
            std::int64_t stored = 0;
            if (sizes_.storage)
                for (const auto [depth, blocks] : stack.push(request))
                    stored += std::clamp<std::int64_t>(sizes_.storage_blocks.value_or(depth + blocks) - depth + 1, 0, blocks);
            serve(static_cast<std::uint32_t>(i + 1), request, i >= warmup, stored);
        }
        return result_;
    }

private:
    void serve(std::uint32_t self, const Request& request, bool counted, std::int64_t stored) {
        const auto path = trace_.forest.path(request.leaf, path_);
        std::uint32_t device = 0, host = 0;
        look_up(path, device, host);
        if (counted) count(request, device, host, static_cast<std::uint32_t>(std::max<std::int64_t>(stored, host)));
        Tail& own = tails_[self];
        own.device_end = own.host_end = request.blocks;
        on_device_ += request.blocks - device;
        std::uint32_t position = 0;
        for (const auto [first, last] : path) {
            for (Block block = first; block <= last; ++block, ++position) {
                // Whoever had this block has it no more, nor anything before it.
                if (last_[block] != 0) shrink(tails_[last_[block]], position + 1);
                last_[block] = self;
            }
        }
        evict_device(self);  // room for the prompt is made before it is there
        if (policy_ == WritePolicy::write_through) copy_front(path, request.blocks);
        if (policy_ == WritePolicy::second_use) copy_front(path, device);
        evict_device(self + 1);  // what is longer than the GPU's cache keeps its front
    }

    static void shrink(Tail& tail, std::uint32_t start) {
        tail.start = std::max(tail.start, start);
        tail.device_end = std::max(tail.device_end, tail.start);
        tail.host_end = std::max(tail.host_end, tail.start);
    }

    /// Leading blocks on the GPU, and on the GPU or the host.
    void look_up(std::span<const PrefixForest::Stretch> path, std::uint32_t& device, std::uint32_t& host) const {
        std::uint32_t position = 0;
        for (const auto [first, last] : path) {
            for (Block block = first; block <= last; ++block, ++position) {
                const Tail& owner = tails_[last_[block]];
                if (position >= owner.host_end) return;
                if (position < owner.device_end) device = position + 1;
                host = position + 1;
            }
        }
    }

    void count(const Request& request, std::uint32_t device, std::uint32_t host, std::uint32_t stored) {
        const auto tokens = [&](std::uint32_t blocks) {
            return blocks == 0 ? 0 : (std::int64_t{blocks} - 1) * trace_.block_tokens + trace_.block_weight(request, blocks - 1);
        };
        ++result_.requests;
        result_.blocks += request.blocks;
        result_.input_tokens += request.input;
        result_.device_hit_blocks += device;
        result_.device_hit_tokens += tokens(device);
        result_.host_hit_blocks += host - device;
        result_.host_hit_tokens += tokens(host) - tokens(device);
        if (tokens(stored) - tokens(host) >= kStorageThresholdTokens) {
            result_.storage_hit_blocks += stored - host;
            result_.storage_hit_tokens += tokens(stored) - tokens(host);
        }
        counting_ = true;
    }

    /// Copies the first `blocks` of a prompt to the host as far as it has room: parents first.
    void copy_front(std::span<const PrefixForest::Stretch> path, std::uint32_t blocks) {
        for (const auto [first, last] : path) {
            for (Block block = first; block <= last; ++block) {
                if (blocks-- == 0) return;
                if (copied_[block] != 0) continue;
                if (copies_ >= sizes_.host_blocks && !drop_from_host()) return;
                make_copy(block);
            }
        }
    }

    void make_copy(Block block) {
        copied_[block] = 1;
        ++copies_;
        if (counting_) ++result_.written_blocks;
    }

    Block block_at(std::uint32_t self, std::uint32_t position) {
        const Request& request = trace_.requests[self - 1];
        if (cached_path_ != self) {
            cached_path_ = self;
            (void)trace_.forest.path(request.leaf, evicted_path_);
        }
        // Evictions come from the end of a prompt.
        std::uint32_t end = request.blocks;
        for (auto stretch = evicted_path_.rbegin(); stretch != evicted_path_.rend(); ++stretch) {
            const std::uint32_t length = stretch->last - stretch->first + 1;
            if (position >= end - length) return stretch->first + (position - (end - length));
            end -= length;
        }
        return kNoBlock;
    }

    /// Makes the GPU's cache fit at the cost of requests before `end`.
    void evict_device(std::uint32_t end) {
        while (on_device_ > sizes_.device_blocks && oldest_on_device_ < end) {
            Tail& tail = tails_[oldest_on_device_];
            if (tail.device_end == tail.start) {
                ++oldest_on_device_;
                continue;
            }
            const std::uint32_t position = --tail.device_end;
            --on_device_;
            const Block block = block_at(oldest_on_device_, position);
            if (policy_ == WritePolicy::write_back && copied_[block] == 0) {
                // A full host makes room first, or the block is lost.
                if (copies_ < sizes_.host_blocks || drop_from_host_before(oldest_on_device_, position)) make_copy(block);
            }
            if (copied_[block] == 0) tail.host_end = position;
        }
    }

    bool drop_from_host() { return drop_from_host_before(static_cast<std::uint32_t>(tails_.size()), 0); }

    /// Drops the least recent block that only the host holds, older than the one at `position` of `self`'s prompt.
    bool drop_from_host_before(std::uint32_t self, std::uint32_t position) {
        while (oldest_on_host_ < tails_.size()) {
            Tail& tail = tails_[oldest_on_host_];
            if (tail.host_end > tail.device_end) {
                if (oldest_on_host_ == self && tail.host_end <= position + 1) return false;
                const Block block = block_at(oldest_on_host_, --tail.host_end);
                copied_[block] = 0;
                --copies_;
                return true;
            }
            if (oldest_on_host_ >= oldest_on_device_) return false;
            ++oldest_on_host_;
        }
        return false;
    }

    const Trace& trace_;
    WritePolicy policy_;
    TierSizes sizes_;
    TierResult result_;
    std::vector<std::uint32_t> last_;     // by block: 1 + index of the last request that had it
    std::vector<std::uint8_t> copied_;    // by block: the host has a copy
    std::vector<Tail> tails_;             // by request, 1-based
    std::vector<PrefixForest::Stretch> path_, evicted_path_;
    std::uint32_t cached_path_ = 0;
    std::uint32_t oldest_on_device_ = 1, oldest_on_host_ = 1;
    std::int64_t on_device_ = 0, copies_ = 0;
    bool counting_ = false;
};

}  // namespace

std::string_view name_of(WritePolicy policy) {
    switch (policy) {
        case WritePolicy::write_through: return "write_through";
        case WritePolicy::write_through_selective: return "write_through_selective";
        case WritePolicy::write_back: return "write_back";
        case WritePolicy::second_use: return "second_use";
    }
    return "write_through";
}

std::optional<WritePolicy> write_policy_named(std::string_view name) {
    for (const WritePolicy policy : {WritePolicy::write_through, WritePolicy::write_through_selective, WritePolicy::write_back})
        if (name == name_of(policy)) return policy;
    return std::nullopt;
}

TierResult simulate_tiers(const Trace& trace, WritePolicy policy, const TierSizes& sizes, double warmup_share) {
    return TierSimulation(trace, policy, sizes).run(warmup_share);
}

}  // namespace kvplan::trace
