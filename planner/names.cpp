#include "planner/plan.hpp"

namespace kvplan {

std::string_view name_of(KvGroupKind kind) {
    switch (kind) {
        case KvGroupKind::full: return "full";
        case KvGroupKind::sliding_window: return "sliding_window";
        case KvGroupKind::chunked: return "chunked";
        case KvGroupKind::latent: return "latent";
        case KvGroupKind::indexer: return "indexer";
        case KvGroupKind::compressed: return "compressed";
        case KvGroupKind::sparse_index: return "sparse_index";
        case KvGroupKind::draft: return "draft";
        case KvGroupKind::linear_state: return "linear_state";
    }
    return "full";
}

std::string_view name_of(ConcurrencyLimit limit) {
    switch (limit) {
        case ConcurrencyLimit::none: return "none";
        case ConcurrencyLimit::kv_pool: return "kv_pool";
        case ConcurrencyLimit::max_running_requests: return "max_running_requests";
        case ConcurrencyLimit::state_slots: return "state_slots";
        case ConcurrencyLimit::swa_pool: return "swa_pool";
        case ConcurrencyLimit::graph_batch: return "graph_batch";
        case ConcurrencyLimit::offered: return "offered";
    }
    return "none";
}

std::string_view name_of(HostLimit limit) {
    switch (limit) {
        case HostLimit::none: return "none";
        case HostLimit::available: return "available";
        case HostLimit::cgroup: return "cgroup";
        case HostLimit::memlock: return "memlock";
        case HostLimit::numa: return "numa";
        case HostLimit::huge_pages: return "huge_pages";
        case HostLimit::page_lock_ceiling: return "page_lock_ceiling";
        case HostLimit::shm: return "shm";
        case HostLimit::unknown: return "unknown";
    }
    return "unknown";
}

std::string_view name_of(FindingSeverity severity) {
    switch (severity) {
        case FindingSeverity::error: return "error";
        case FindingSeverity::warning: return "warning";
        case FindingSeverity::note: return "note";
    }
    return "note";
}

std::string_view name_of(FractionSource source) {
    switch (source) {
        case FractionSource::flag: return "flag";
        case FractionSource::engine_default: return "default";
        case FractionSource::recommended: return "recommended";
    }
    return "default";
}

}  // namespace kvplan
