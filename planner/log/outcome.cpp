#include "planner/log/outcome.hpp"

#include <algorithm>
#include <cmath>

namespace kvplan::logs {

namespace {

constexpr double kUsableFraction = 0.97;   // above it nothing is left for graphs and activations on any card

FindingValue number(std::string_view name, std::string_view unit, double value) { return {name, unit, value, {}}; }
FindingValue words(std::string_view name, std::string text) { return {name, "text", 0.0, std::move(text)}; }

double gib(Bytes bytes) { return in_gib(bytes); }

class Judge {
public:
    Judge(const StartRecord& start, const Observed& seen) : start_(&start), seen_(&seen) {}

    Outcome run() {
        // Faults are read from the first on: what follows a crash (children that die, NCCL that misses them) is its echo.
        // The particular wins over the general, wherever it stands.
        for (const auto step : {&Judge::memory_messages, &Judge::host_messages, &Judge::out_of_memory, &Judge::killed, &Judge::other_messages})
            if ((this->*step)()) return std::move(outcome_);
        if (start_->ready) {
            outcome_.started = true;
            return std::move(outcome_);
        }
        return unfinished();
    }

private:
    const Fault* find(std::string_view code) const {
        for (const Fault& fault : start_->faults)
            if (fault.code == code && !(start_->ready && fault.phase != Phase::serving && is_echo(code))) return &fault;
        return nullptr;
    }
    static bool is_echo(std::string_view code) { return code == "exception" || code == "nccl"; }

    bool fail(std::string code, const Fault* fault, std::vector<FindingValue> values = {}) {
        outcome_.started = fault != nullptr && fault->phase == Phase::serving;
        outcome_.code = std::move(code);
        outcome_.values = std::move(values);
        if (fault != nullptr) {
            outcome_.evidence.push_back(fault->text.substr(0, fault->text.find_last_not_of(" \t") + 1));
            outcome_.values.push_back(words("phase", std::string(name_of(fault->phase))));
        }
        return true;
    }

    // 1 - post / pre: below it the weights alone exceed what the fraction gives. vLLM: by what the pool lacked.
    std::optional<double> least_fraction(const Fault* fault) const {
        if (fault != nullptr)
            if (const auto printed = fault->get(Figure::minimum_fraction)) return printed;
        if (start_->engine() == EngineKind::sglang && seen_->free_before_load && seen_->free_after_load && seen_->free_before_load->count() > 0)
            return 1.0 - static_cast<double>(seen_->free_after_load->count()) / static_cast<double>(seen_->free_before_load->count());
        if (seen_->available_kv && seen_->fraction) {
            const auto total = total_gib();
            if (total) return *seen_->fraction - gib(*seen_->available_kv) / *total;
        }
        return std::nullopt;
    }

    std::optional<double> total_gib() const {
        if (seen_->total) return gib(*seen_->total);
        if (seen_->requested && seen_->fraction && *seen_->fraction > 0) return gib(*seen_->requested) / *seen_->fraction;
        return std::nullopt;
    }

    bool fraction_too_low(const Fault* fault) {
        std::vector<FindingValue> values;
        if (seen_->fraction) values.push_back(number("fraction", "ratio", *seen_->fraction));
        const auto least = least_fraction(fault);
        if (least) values.push_back(number("least_fraction", "ratio", std::ceil(*least * 1000) / 1000));
        if (seen_->weights) values.push_back(number("weights", "bytes", static_cast<double>(seen_->weights->count())));
        if (seen_->free_before_load) values.push_back(number("free", "bytes", static_cast<double>(seen_->free_before_load->count())));
        if (start_->profiled_tokens) values.push_back(number("profiled", "tokens", *start_->profiled_tokens));
        // No card leaves room for such a fraction; or the fraction is above what the weights need already and the profile is
        // negative all the same, because more than the weights is charged: raising it does not help.
        const bool enough = !least || (seen_->fraction && *seen_->fraction > *least);
        const bool hopeless = (least && *least >= kUsableFraction) || (start_->profiled_tokens && *start_->profiled_tokens < 0 && enough);
        return fail(hopeless ? "weights_do_not_fit" : "fraction_too_low", fault, std::move(values));
    }

    bool memory_messages() {
        if (const Fault* fault = find("fraction_too_low")) return fraction_too_low(fault);
        if (const Fault* fault = find("free_memory_below_fraction")) {
            std::vector<FindingValue> values;
            copy(*fault, {{Figure::avail_gib, "free"}, {Figure::total_gib, "total"}, {Figure::requested_gib, "wanted"}}, values);
            if (const auto u = fault->get(Figure::utilization)) values.push_back(number("fraction", "ratio", *u));
            const auto free = fault->get(Figure::avail_gib), total = fault->get(Figure::total_gib);
            if (free && total && *total > 0) values.push_back(number("largest_fraction", "ratio", std::floor(*free / *total * 1000) / 1000));
            return fail("free_memory_below_fraction", fault, std::move(values));
        }
        if (const Fault* fault = find("context_does_not_fit")) {
            std::vector<FindingValue> values;
            copy(*fault, {{Figure::needed_gib, "needed"}, {Figure::available_gib, "available"}}, values);
            if (const auto n = fault->get(Figure::request_len)) values.push_back(number("context", "tokens", *n));
            if (const auto n = fault->get(Figure::estimated_len)) values.push_back(number("longest", "tokens", *n));
            else if (const auto pool = fault->get(Figure::tokens)) values.push_back(number("longest", "tokens", *pool));
            return fail("context_does_not_fit", fault, std::move(values));
        }
        if (const Fault* fault = find("state_blocks_too_few")) {
            std::vector<FindingValue> values;
            if (const auto n = fault->get(Figure::asked_requests)) values.push_back(number("asked", "requests", *n));
            if (const auto n = fault->get(Figure::state_slots)) values.push_back(number("blocks", "requests", *n));
            return fail("state_blocks_too_few", fault, std::move(values));
        }
        for (const std::string_view code : {"unbalanced_gpus", "swa_pool_too_small", "state_pool_too_small", "memory_changed_while_profiling"})
            if (const Fault* fault = find(code)) {
                std::vector<FindingValue> values;
                copy(*fault, {{Figure::avail_gib, "least"}, {Figure::other_gib, "most"}}, values);
                if (code == "state_pool_too_small")
                    if (const auto least = least_fraction(fault)) values.push_back(number("least_fraction", "ratio", std::ceil(*least * 1000) / 1000));
                return fail(std::string(code), fault, std::move(values));
            }
        return false;
    }

    static void copy(const Fault& fault, std::vector<std::pair<Figure, std::string_view>> wanted, std::vector<FindingValue>& values) {
        for (const auto& [figure, name] : wanted)
            if (const auto value = fault.get(figure)) values.push_back(number(name, "bytes", *value * static_cast<double>(kGiB)));
    }

    void add_host(std::vector<FindingValue>& values) const {
        if (!seen_->host_bytes_per_rank) return;
        values.push_back(number("host_per_rank", "bytes", static_cast<double>(seen_->host_bytes_per_rank->count())));
        const double ranks = static_cast<double>(ranks_on_node());
        values.push_back(number("host_total", "bytes", static_cast<double>(seen_->host_bytes_per_rank->count()) * ranks));
        values.push_back(number("ranks", "count", ranks));
    }

    std::int64_t ranks_on_node() const {
        const auto setting = [&](std::string_view key, std::int64_t otherwise) {
            const PythonValue* value = start_->configuration.find(key);
            return value != nullptr && value->kind == PythonValue::Kind::number ? static_cast<std::int64_t>(std::atoll(value->text.c_str())) : otherwise;
        };
        const std::int64_t configured = setting("tp_size", setting("tensor_parallel_size", 1)) * setting("pp_size", setting("pipeline_parallel_size", 1)) / std::max<std::int64_t>(1, setting("nnodes", 1));
        return std::max<std::int64_t>({1, configured, start_->configuration.empty() ? seen_->ranks : 1});
    }

    bool host_messages() {
        for (const std::string_view code : {"host_check", "host_smaller_than_device", "pinning_failed", "shared_memory_full", "no_space_left"})
            if (const Fault* fault = find(code)) {
                if (code == "no_space_left" && start_->phase < Phase::pools) continue;   // of a download, not of /dev/shm
                std::vector<FindingValue> values;
                if (const auto gb = fault->get(Figure::asked_gb)) values.push_back(number("asked", "bytes", *gb * static_cast<double>(kGB)));
                if (const auto gb = fault->get(Figure::free_gb)) values.push_back(number("free", "bytes", *gb * static_cast<double>(kGB)));
                // Versions before 2025-07 print the free memory without the reserve they keep of it.
                const auto asked = fault->get(Figure::asked_gb), free = fault->get(Figure::free_gb);
                if (asked && free && *asked <= *free) values.push_back(number("usable", "bytes", std::max(0.0, *free * static_cast<double>(kGB) - 10.0 * static_cast<double>(kGiB))));
                add_host(values);
                return fail(code == "no_space_left" ? "shared_memory_full" : std::string(code), fault, std::move(values));
            }
        return false;
    }

    // The same message means the opposite by where it comes: before the pools the weights are too large, in the pools something
    // is not in the budget, later the fraction leaves too little.
    bool out_of_memory() {
        const Fault* fault = find("cuda_out_of_memory");
        if (fault == nullptr) fault = find("graph_capture_failed");
        if (fault == nullptr) return false;
        if (fault->code == "graph_capture_failed" && fault->text.find("memory") == std::string::npos && find("cuda_out_of_memory") == nullptr) return false;
        std::vector<FindingValue> values;
        copy(*fault, {{Figure::needed_gib, "tried"}, {Figure::avail_gib, "free"}, {Figure::total_gib, "total"}}, values);
        if (seen_->fraction) values.push_back(number("fraction", "ratio", *seen_->fraction));
        if (seen_->left_after_pools) values.push_back(number("left_after_pools", "bytes", static_cast<double>(seen_->left_after_pools->count())));
        switch (fault->phase) {
            case Phase::serving: return fail("runtime_out_of_memory", fault, std::move(values));
            case Phase::none: case Phase::initialized: case Phase::loading: return fail("weights_do_not_fit", fault, std::move(values));
            case Phase::pools: return fail(all_pools_ended() ? "fraction_too_high" : "pool_out_of_memory", fault, std::move(values));
            case Phase::loaded: return fail("pool_out_of_memory", fault, std::move(values));
            default: return fail("fraction_too_high", fault, std::move(values));
        }
    }

    // "Memory pool end" came after the last pool: what failed later is no pool.
    bool all_pools_ended() const {
        for (const auto& [tag, rank] : start_->ranks) {
            bool draft_open = false;
            for (const KvAllocation& kv : rank.kv) draft_open = draft_open || (kv.draft && rank.pools_ended < 2);
            if (rank.pools_ended > 0 && !draft_open) return true;
        }
        return false;
    }

    bool killed() {
        const Fault* by_kernel = find("killed_for_memory");
        const Fault* signal = find("killed");
        if (by_kernel == nullptr && signal == nullptr) return false;
        std::vector<FindingValue> values;
        add_host(values);
        const Fault* fault = by_kernel != nullptr ? by_kernel : signal;
        // A bare SIGKILL tells no reason; with host pools just asked for, the host's memory is the likely one.
        if (by_kernel != nullptr || !seen_->host_pools.empty()) return fail("host_memory_killed", fault, std::move(values));
        if (start_->phase == Phase::loading || start_->phase == Phase::loaded) return fail("killed_while_loading", fault, std::move(values));
        return fail("killed", fault, std::move(values));
    }

    bool other_messages() {
        for (const std::string_view code : {"nccl", "watchdog_timeout", "graph_capture_failed", "exception", "child_process_died"})
            if (const Fault* fault = find(code)) {
                std::vector<FindingValue> values;
                std::string text = fault->text;
                for (const Fault& other : start_->faults)
                    if (other.code == "exception" && other.text.find("Error: ") != std::string::npos) text = other.text;
                values.push_back(words("error", text.substr(0, 200)));
                return fail(code == "child_process_died" ? "exception" : std::string(code), fault, std::move(values));
            }
        return false;
    }

    // No fault was printed and the server is not ready.
    Outcome unfinished() {
        std::vector<FindingValue> values;
        if (start_->phase == Phase::host_pools || ((start_->pinning || start_->phase < Phase::sized) && !seen_->host_pools.empty())) {
            add_host(values);
            fail("host_pinning_stalled", nullptr, std::move(values));
            outcome_.started = false;
            outcome_.values.push_back(words("phase", std::string(name_of(start_->phase))));
            for (const HostPoolLine& pool : seen_->host_pools) outcome_.evidence.push_back("the log ends after the host pool " + pool.label);
            return std::move(outcome_);
        }
        if (start_->phase == Phase::sized) {
            outcome_.started = true;
            return std::move(outcome_);
        }
        outcome_.code = "incomplete";
        outcome_.values.push_back(words("phase", std::string(name_of(start_->phase))));
        return std::move(outcome_);
    }

    const StartRecord* start_;
    const Observed* seen_;
    Outcome outcome_;
};

}  // namespace

Outcome judge(const StartRecord& start, const Observed& seen) { return Judge(start, seen).run(); }

const DiagnosisText* diagnosis_text(std::string_view code) {
    for (const DiagnosisText& text : diagnoses())
        if (text.code == code) return &text;
    return nullptr;
}

}  // namespace kvplan::logs
