#include <algorithm>
#include <cmath>

#include "gui/panels/panels.hpp"
#include "gui/raii.hpp"
#include "gui/widgets/field.hpp"
#include "gui/widgets/text.hpp"
#include "units/ascii.hpp"
#include "units/format.hpp"

namespace kvplan::gui {

namespace {

bool group(const Ui& ui, const char* name, bool open_at_first = true) {
    const auto known = ui.view.open_groups.find(name);
    ImGui::SetNextItemOpen(known == ui.view.open_groups.end() ? open_at_first : known->second);
    const FontScope font(ui.fonts.bold);
    const bool open = ImGui::CollapsingHeader(name);
    ui.view.open_groups[name] = open;
    ui.mark(std::string("group/") + name);
    return open;
}

bool is_vllm(const Ui& ui) { return ui.document.value("engine").substr(0, 4) == "vllm"; }

void fraction_slider(const Ui& ui) {
    const char* field = is_vllm(ui) ? "gpu_memory_utilization" : "mem_fraction_static";
    SliderScale scale{0.5, 1.0, 0.001, 3, std::nullopt, {}};
    std::optional<double> shown;
    if (const Planned* planned = ui.document.planned()) {
        const MemFraction& f = planned->plan.gpu.mem_fraction;
        shown = f.value;
        scale.low = std::min(scale.low, std::floor(f.value * 10) / 10);
        if (f.feasible_min && f.feasible_max) {
            scale.good = {*f.feasible_min, *f.feasible_max};
            scale.low = std::min(scale.low, std::floor(*f.feasible_min * 10) / 10);
            scale.marks.push_back({*f.feasible_min, "feasible from " + fixed(*f.feasible_min, 3) + " to " + fixed(*f.feasible_max, 3), ui.theme.good});
        }
        if (f.recommended) scale.marks.push_back({*f.recommended, "recommended " + fixed(*f.recommended, 3), ui.theme.warn});
    }
    slider_field(ui, field, is_vllm(ui) ? "Memory utilization" : "Memory fraction", scale, shown);
}

// The flag counts for one rank; people take it for the total. So the total stands beside it, in bold.
void host_total(const Ui& ui, const Plan& plan) {
    const bool unsafe = plan.host.safe.has_value() && !*plan.host.safe;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(132));
    const FontScope font(ui.fonts.bold);
    const std::string total = decimal_size(plan.hicache.bytes_per_node) + " on the node" + (unsafe ? ", not safe" : "");
    text(total, unsafe ? ui.theme.bad : ui.theme.text);
    ui.mark(unsafe ? "total/unsafe" : "total/safe");
    why(ui, "hicache.bytes_per_node");
}

void host_size_slider(const Ui& ui, std::string_view field, std::string_view label) {
    SliderScale scale{0, 100, 1, 0, std::nullopt, {}};
    std::optional<double> shown;
    const Planned* planned = ui.document.planned();
    if (planned == nullptr) return slider_field(ui, field, label, scale, shown);
    const Plan& plan = planned->plan;
    const bool total = field == "kv_offloading_size";
    const EngineOptions& engine = planned->scenario.engine;
    if (total) shown = engine.kv_offloading_size_gib;
    else if (engine.hicache.size_gb) shown = static_cast<double>(*engine.hicache.size_gb);
    else if (plan.hicache.enabled) shown = std::floor(in_gb(plan.hicache.bytes_per_rank));
    if (plan.host.safe_max) {
        const std::optional<std::int64_t> safe = total ? plan.host.safe_max->kv_offloading_size_gib : plan.host.safe_max->hicache_size_gb;
        if (safe) {
            const auto most = static_cast<double>(*safe);
            scale.high = std::max(10.0, std::ceil(most * 1.6 / 10) * 10);
            scale.good = {0.0, most};
            scale.marks.push_back({most, "safe maximum " + std::to_string(*safe) + (total ? " GiB over all ranks" : " GB per rank"), ui.theme.warn});
        }
    }
    if (shown) scale.high = std::max(scale.high, std::ceil(*shown * 1.1 / 10) * 10);
    slider_field(ui, field, label, scale, shown);
    if (plan.hicache.enabled) host_total(ui, plan);
}

void model_group(const Ui& ui) {
    if (!group(ui, "Model")) return;
    search_field(ui, "model", "Model", ui.catalogue.models);
    text_field(ui, "quantization", "Quantization", "as the checkpoint");
    choice_field(ui, "kv_cache_dtype", "KV cache type", {"", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1"});
    text_field(ui, "context_length", "Context length");
}

void hardware_group(const Ui& ui) {
    if (!group(ui, "GPUs")) return;
    search_field(ui, "gpu", "GPU", ui.catalogue.gpus);
    text_field(ui, "gpus_per_node", "GPUs per node");
    text_field(ui, "nodes", "Nodes", "1 (default)");
    text_field(ui, "gpu_free", "Free before load", "as the catalogue");
}

void engine_group(const Ui& ui) {
    if (!group(ui, "Engine")) return;
    choice_field(ui, "engine", "Engine", {"", "sglang", "sglang@0.5.6", "sglang@0.5.3", "vllm", "vllm@0.11.0"});
    text_field(ui, "tp_size", "Tensor parallel");
    text_field(ui, "dp_size", "Data parallel");
    if (!is_vllm(ui)) {
        toggle_field(ui, "enable_dp_attention", "DP attention");
        text_field(ui, "ep_size", "Expert parallel");
    } else {
        toggle_field(ui, "enable_expert_parallel", "Expert parallel");
    }
    text_field(ui, "pp_size", "Pipeline parallel");
    fraction_slider(ui);
    text_field(ui, "max_running_requests", is_vllm(ui) ? "Max sequences" : "Max running");
    if (is_vllm(ui)) text_field(ui, "max_num_batched_tokens", "Batched tokens");
    else text_field(ui, "chunked_prefill_size", "Chunked prefill");
}

void host_group(const Ui& ui) {
    if (!group(ui, "Host RAM and host cache")) return;
    text_field(ui, "host_ram", "RAM in total", "449GiB");
    text_field(ui, "host_available", "Available", "408GB");
    text_field(ui, "cgroup_limit", "Container limit", "none");
    text_field(ui, "host_reserve", "Keep free", "10GiB (default)");
    if (is_vllm(ui)) return host_size_slider(ui, "kv_offloading_size", "Offload, GiB");
    toggle_field(ui, "enable_hierarchical_cache", "HiCache");
    if (ui.document.value("enable_hierarchical_cache") != "true") return;
    host_size_slider(ui, "hicache_size", "GB per rank");
    text_field(ui, "hicache_ratio", "or ratio", "2 (default)");
    choice_field(ui, "hicache_write_policy", "Write policy", {"", "write_through", "write_through_selective", "write_back"});
}

void workload_group(const Ui& ui) {
    if (!group(ui, "Workload")) return;
    text_field(ui, "input_tokens", "Prompt tokens", "12000, or 12000:40000");
    text_field(ui, "output_tokens", "Output tokens", "3500, or 3500:8000");
    text_field(ui, "shared_prefix_tokens", "Shared prefix", "0 (default)");
    text_field(ui, "hit_rate", "Prefix hit rate", "0 to 1");
    text_field(ui, "concurrency", "Concurrency", "as many as fit");
    text_field(ui, "request_rate", "Requests per second", "not limited");
    text_field(ui, "workload_from", "From a trace", "file");
}

// All that has no place above: by the same names as on the command line.
void other_group(const Ui& ui) {
    constexpr std::string_view kShown[] = {"model", "quantization", "kv_cache_dtype", "context_length", "gpu", "gpus_per_node", "nodes", "gpu_free", "engine", "tp_size", "dp_size", "enable_dp_attention", "ep_size",
                                           "enable_expert_parallel", "pp_size", "mem_fraction_static", "gpu_memory_utilization", "max_running_requests", "max_num_batched_tokens", "chunked_prefill_size", "host_ram",
                                           "host_available", "cgroup_limit", "host_reserve", "kv_offloading_size", "enable_hierarchical_cache", "hicache_size", "hicache_ratio", "hicache_write_policy", "input_tokens",
                                           "output_tokens", "shared_prefix_tokens", "hit_rate", "concurrency", "request_rate", "workload_from"};
    const bool open = group(ui, "Everything else", false);
    for (const FieldSpec& field : scenario_fields()) {
        if (std::find(std::begin(kShown), std::end(kShown), field.name) != std::end(kShown)) continue;
        if (field.engines != FieldEngines::any && (field.engines == FieldEngines::vllm) != is_vllm(ui)) continue;
        // What is set or asked for is shown even while the group is closed.
        if (!open && ui.document.value(field.name).empty() && ui.view.scroll_to != field.name) continue;
        wrapped(as_words(field.name), ui.document.value(field.name).empty() ? ui.theme.muted : ui.theme.changed);
        if (field.kind == FieldKind::boolean) toggle_field(ui, field.name, "");
        else text_field(ui, field.name, "");
    }
}

}  // namespace

void inputs_panel(const Ui& ui) {
    model_group(ui);
    hardware_group(ui);
    engine_group(ui);
    host_group(ui);
    workload_group(ui);
    other_group(ui);
    if (const auto fault = ui.document.faults().find(""); fault != ui.document.faults().end()) {
        ImGui::Separator();
        wrapped(fault->second, ui.theme.bad);
    }
}

}  // namespace kvplan::gui
