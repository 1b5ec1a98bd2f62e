#include <algorithm>

#include "planner/export/plan_report.hpp"
#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string element(std::string_view dtype) {
    if (dtype == "float32") return "4 B";
    if (dtype == "bfloat16" || dtype == "float16" || dtype == "auto") return "2 B";
    if (dtype.substr(0, 3) == "fp8") return "1 B";
    return std::string(dtype);
}

// The layer that a group's kind describes, for the numbers of the formula.
template <class Kind>
const Kind* example(const LlmSpec& model) {
    for (const LayerClass& layer : model.classes)
        if (const auto* attention = std::get_if<Kind>(&layer.attention)) return attention;
    return nullptr;
}

const GroupedAttention* grouped_example(const LlmSpec& model, bool windowed) {
    for (const LayerClass& layer : model.classes)
        if (const auto* attention = std::get_if<GroupedAttention>(&layer.attention))
            if (attention->window.has_value() == windowed && attention->stores_kv) return attention;
    return example<GroupedAttention>(model);
}

std::string grouped_formula(const Scenario& scenario, const KvGroup& group, std::string_view dtype) {
    const bool windowed = group.kind == KvGroupKind::sliding_window || group.kind == KvGroupKind::chunked;
    const GroupedAttention* attention = grouped_example(*scenario.model, windowed);
    if (attention == nullptr) return "entries and states of a window";   // DeepSeek-V4 has no grouped layers
    const std::int64_t heads = std::max<std::int64_t>(1, attention->kv_heads / std::max<std::int64_t>(1, parallelism(scenario).attention_tp));
    return std::to_string(heads) + " KV heads of a rank x (" + std::to_string(attention->head_dim) + " + " + std::to_string(attention->v_head_dim) +
           ") x " + element(dtype);
}

std::string formula(const Scenario& scenario, const KvGroup& group, std::string_view dtype) {
    if (group.kind == KvGroupKind::latent) {
        const auto* latent = example<LatentAttention>(*scenario.model);
        if (latent != nullptr)
            return "(" + std::to_string(latent->kv_lora_rank) + " + " + std::to_string(latent->qk_rope_head_dim) + ") x " + element(dtype) +
                   ", one latent, the same on every rank";
    }
    if (group.kind == KvGroupKind::indexer) return "index keys: 1 B an element and 4 B per 128";
    if (group.kind == KvGroupKind::full || group.kind == KvGroupKind::sliding_window || group.kind == KvGroupKind::chunked)
        return grouped_formula(scenario, group, dtype);
    return std::string(name_of(group.kind));
}

std::string latent_note(const KvCachePlan& kv) {
    const double twice = 2.0 * kv.bytes_per_token.value;
    return "Counting K and V separately would give 2 x " + shortest(kv.bytes_per_token.value) + " = " + shortest(twice) + " B (" +
           fixed(twice / 1024.0, 0) + " KiB) a token: twice what is stored.";
}

}  // namespace

std::vector<std::string> kv_formulas(const Scenario& scenario, const KvCachePlan& kv) {
    std::vector<std::string> lines;
    for (const KvGroup& group : kv.groups) {
        if (group.kind == KvGroupKind::linear_state) {
            lines.push_back(with_commas(group.bytes_per_slot.count()) + " B a state slot over " + std::to_string(group.layers.count()) + " linear layers, whatever the length");
            continue;
        }
        lines.push_back(shortest(group.bytes_per_token.value) + (group.own_window_pool ? " B a token inside a window = " : " B a token = ") + std::to_string(group.layers.count()) + " layers x " +
                        formula(scenario, group, kv.dtype));
    }
    return lines;
}

ReportSection capacity_section(const Scenario& scenario, const Plan& plan) {
    const KvCachePlan& kv = plan.kv_cache;
    const CapacityPlan& capacity = plan.capacity;
    ReportSection section;
    section.title = "KV cache";
    ReportTable& table = section.table;
    const auto row = [&](std::string name, std::string value, std::string note = {}) {
        table.rows.push_back({{std::move(name), std::move(value), std::move(note)}, 0, false});
    };
    row("bytes per token and rank", shortest(kv.bytes_per_token.value), "KV dtype " + std::string(kv.dtype) + ", page " + with_commas(kv.page_size.count()));
    if (kv.budget_bytes_per_token != kv.bytes_per_token) row("bytes the budget is divided by", shortest(kv.budget_bytes_per_token.value));
    const Estimate<Tokens>& tokens = capacity.max_total_num_tokens;
    row("max_total_num_tokens", with_commas(tokens.expected.count()),
        with_commas(tokens.low.count()) + " to " + with_commas(tokens.high.count()) + ", " + std::string(name_of(tokens.basis)));
    if (capacity.swa_tokens) row("sliding-window slots", with_commas(capacity.swa_tokens->count()));
    if (capacity.state_slots) row("state slots", with_commas(*capacity.state_slots), capacity.state_slots_per_request ? std::to_string(*capacity.state_slots_per_request) + " a request" : "");
    row("distinct tokens, all GPUs", with_commas(capacity.distinct_tokens.count()));
    row("max_running_requests", with_commas(capacity.max_running_requests.count()), plan.parallelism.dp_attention > 1 ? "per DP worker" : "");
    row("longest request", with_commas(capacity.longest_request_tokens.count()), "tokens");
    if (capacity.max_concurrency_full_context) row("maximum concurrency at full context", fixed(*capacity.max_concurrency_full_context, 2) + "x");
    section.sentences = kv_formulas(scenario, kv);
    if (kv.latent && example<LatentAttention>(*scenario.model) != nullptr) section.sentences.push_back(latent_note(kv));
    if (kv.kv_head_replication > 1)
        section.sentences.push_back("Each KV head stands on " + std::to_string(kv.kv_head_replication) + " ranks: there are more ranks than KV heads.");
    return section;
}

}  // namespace kvplan::exporting
