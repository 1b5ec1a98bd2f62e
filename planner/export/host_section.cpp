#include "planner/export/plan_report.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string gb(Bytes bytes) { return fixed(in_gb(bytes), 2); }

std::string storage_sentence(const StoragePlan& storage) {
    std::string text = "Third tier (" + storage.backend + ")";
    if (storage.page_bytes.count() > 0)
        text += ": " + with_commas(storage.page_bytes.count()) + " B a page" + (storage.parts > 1 ? " from each of " + std::to_string(storage.parts) + " ranks" : ", one copy");
    if (storage.host_bytes_per_node.count() > 0) text += "; takes " + gb(storage.host_bytes_per_node) + " GB of the node's RAM beside the pools";
    if (storage.file_bytes_per_node.count() > 0) text += "; its files set " + gb(storage.file_bytes_per_node) + " GB of disk aside";
    if (storage.host_bytes_per_node.count() == 0 && storage.file_bytes_per_node.count() == 0) text += storage.backend == "file" ? "; nothing bounds its files by default" : "; what it takes in all is its own to say";
    return text + ".";
}

ReportSection host_cache(const Plan& plan) {
    const HicachePlan& cache = plan.hicache;
    ReportSection section{"Host cache, decimal GB", {}, {}};
    section.table.header = {"", "GB a rank", "slots"};
    for (const HicachePool& pool : cache.pools) section.table.rows.push_back({{as_words(pool.name), gb(pool.bytes_per_rank), with_commas(pool.slots.count())}, 0, false});
    section.table.rows.push_back({{"all pools of a rank", gb(cache.bytes_per_rank), ""}, 0, true});
    section.table.rows.push_back({{"x " + std::to_string(plan.host.ranks_per_node) + " ranks = the node", gb(cache.bytes_per_node), ""}, 0, true});
    section.sentences.push_back("The node holds " + with_commas(cache.distinct_tokens.count()) + " distinct tokens" +
                                (cache.replication > 1 ? ", each " + std::to_string(cache.replication) + " times." : "."));
    if (cache.storage) section.sentences.push_back(storage_sentence(*cache.storage));
    section.sentences.push_back("A host cache raises the prefix hit rate and saves prefill. It does not let more requests run at once: their KV must be on the GPU.");
    return section;
}

void add_safe_window(const HostPlan& host, ReportSection& section) {
    if (host.safe_max) {
        std::string flags;
        if (host.safe_max->hicache_size_gb) flags = "--hicache-size " + std::to_string(*host.safe_max->hicache_size_gb) + " (decimal GB per rank)";
        if (host.safe_max->hicache_ratio) flags += (flags.empty() ? "--hicache-ratio " : ", ratio ") + shortest(*host.safe_max->hicache_ratio, 2);
        std::string text = "Safe maximum: " + flags + ", limited by " + as_words(name_of(host.safe_max->limited_by)) + ".";
        if (host.safe_max->kv_offloading_size_gib)
            text = "Safe maximum: --kv-offloading-size " + std::to_string(*host.safe_max->kv_offloading_size_gib) + " (GiB, all ranks), limited by " + as_words(name_of(host.safe_max->limited_by)) + ".";
        if (host.safe_max->lmcache_size_gb)
            text = "Safe maximum: LMCACHE_MAX_LOCAL_CPU_SIZE=" + std::to_string(*host.safe_max->lmcache_size_gb) + " (GB per rank), limited by " + as_words(name_of(host.safe_max->limited_by)) + ".";
        section.sentences.push_back(text);
    }
    if (host.min_useful)
        section.sentences.push_back("Smallest useful size: " + std::to_string(host.min_useful->hicache_size_gb) + " GB per rank (" + as_words(host.min_useful->reason) + ").");
}

ReportSection host_memory(const Plan& plan) {
    const HostPlan& host = plan.host;
    ReportSection section{"Host memory of one node, decimal GB", {}, {}};
    const auto row = [&](std::string name, std::string value, std::string note = {}, bool strong = false) {
        section.table.rows.push_back({{std::move(name), std::move(value), std::move(note)}, 0, strong});
    };
    section.table.header = {"", "GB", "known by"};
    if (plan.hicache.enabled) row("host pools", gb(plan.hicache.bytes_per_node), "engine_rule");
    row("processes of " + std::to_string(host.ranks_per_node) + " ranks", gb(host.process_bytes.expected),
        std::string(name_of(host.process_bytes.basis)) + ", " + gb(host.process_bytes.low) + " to " + gb(host.process_bytes.high));
    if (host.storage_bytes.count() > 0) row("third tier (" + plan.hicache.storage->backend + ")", gb(host.storage_bytes), "engine_rule");
    if (host.offloaded_weights_bytes.count() > 0) row("weights kept on the host", gb(host.offloaded_weights_bytes));
    if (host.device_bytes.count() > 0) row("weights and KV in the same memory", gb(host.device_bytes));
    row("reserve", gb(host.reserve_bytes));
    row("required", gb(host.required_bytes), "high end " + gb(host.required_high_bytes), true);
    if (host.available_bytes) {
        row("available", gb(*host.available_bytes), std::string(name_of(host.available_basis)) + ", by " + as_words(name_of(host.limited_by)), true);
        if (host.headroom_bytes) row("headroom", gb(*host.headroom_bytes));
        if (host.shortfall_bytes.count() > 0) row("SHORTFALL", gb(host.shortfall_bytes), "at the high end", true);
    }
    add_safe_window(host, section);
    return section;
}

}  // namespace

std::vector<ReportSection> host_sections(const Scenario& /*scenario*/, const Plan& plan) {
    std::vector<ReportSection> sections;
    if (plan.hicache.enabled) sections.push_back(host_cache(plan));
    if (plan.hicache.enabled || plan.host.available_bytes) sections.push_back(host_memory(plan));
    return sections;
}

}  // namespace kvplan::exporting
