#include "planner/engines/vllm/layer_specs.hpp"

#include <algorithm>
#include <cmath>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/linear_state.hpp"
#include "planner/engines/vllm/defaults.hpp"

namespace kvplan::vllm {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

/// Whose recurrent states are fp32 whatever the model's type: the class or its config says so.
bool keeps_fp32_state(const LlmSpec& model, const LinearAttention& a) {
    if (a.kind == LinearAttention::Kind::kimi_delta) return true;
    return starts_with(model.architecture, "Qwen3_5") || starts_with(model.architecture, "NemotronH") || starts_with(model.architecture, "Nemotron3");
}

double grouped_bytes(const GroupedAttention& a, const Scenario& scenario) {
    const KvDtype type = kv_dtype(scenario);
    const std::int64_t heads = std::max<std::int64_t>(1, a.kv_heads / parallelism(scenario).attention_tp);
    return d(heads) * (d(a.head_dim + a.v_head_dim) * type.bytes + 2 * type.bytes_per_head);
}

/// A latent of one token: 656 bytes in the packed layout (512 fp8, 16 of scales, 64 in 16 bits), else its elements.
double latent_bytes(const LatentAttention& a, const Scenario& scenario) {
    const KvDtype type = kv_dtype(scenario);
    if (a.indexer && type.name == "fp8_ds_mla") return d(a.kv_lora_rank) + d(a.kv_lora_rank / 128 * 4) + d(a.qk_rope_head_dim * 2);
    return d(a.kv_lora_rank + a.qk_rope_head_dim) * type.bytes;
}

double index_bytes(const SparseIndexer& indexer) { return d(indexer.head_dim) + d(ceil_div(indexer.head_dim, 128)) * 4; }

class Collector {
public:
    explicit Collector(const Scenario& scenario) : scenario_(scenario) {}

    void add(const Attention& attention, std::int64_t layers) {
        layers_ = layers;
        if (layers > 0) std::visit([this](const auto& a) { (*this)(a); }, attention);
    }
    [[nodiscard]] std::vector<LayerSpec> take() { return std::move(specs_); }

    void operator()(const NoAttention&) {}
    void operator()(const CompressedAttention&) {}  // compressed_layout.cpp
    void operator()(const GroupedAttention& a) {
        if (!a.stores_kv || a.image_only) return;
        const bool windowed = a.window.has_value() && !scenario_.engine.disable_hybrid_kv_cache_manager;
        const KvGroupKind kind = !windowed ? KvGroupKind::full : a.chunked ? KvGroupKind::chunked : KvGroupKind::sliding_window;
        put(kind, windowed ? *a.window : 0, grouped_bytes(a, scenario_));
    }
    void operator()(const LatentAttention& a) {
        put(KvGroupKind::latent, 0, latent_bytes(a, scenario_));
        if (a.indexer && a.indexer->own) put(KvGroupKind::indexer, 0, index_bytes(*a.indexer));
    }
    void operator()(const BlockSparseAttention& a) {
        (*this)(a.base);
        if (a.index_head_dim > 0) put(KvGroupKind::sparse_index, 0, 2.0 * a.index_tensors * d(a.index_head_dim));
    }
    void operator()(const LinearAttention& a) {
        LayerSpec spec;
        spec.kind = KvGroupKind::linear_state;
        spec.state = state_bytes(a, scenario_);
        spec.layers = layers_;
        merge(spec);
    }

private:
    void put(KvGroupKind kind, std::int64_t window, double token_bytes) {
        LayerSpec spec;
        spec.kind = kind;
        spec.window = window;
        spec.token_bytes = token_bytes;
        spec.layers = layers_;
        merge(spec);
    }
    void merge(const LayerSpec& spec) {
        for (LayerSpec& s : specs_) {
            if (s.kind != spec.kind || s.window != spec.window || s.token_bytes != spec.token_bytes || s.state != spec.state) continue;
            s.layers += spec.layers;
            return;
        }
        specs_.push_back(spec);
    }

    const Scenario& scenario_;
    std::vector<LayerSpec> specs_;
    std::int64_t layers_ = 0;
};

void add_drafts(Collector& collector, const Scenario& scenario) {
    if (!draft_has_layers(scenario)) return;
    if (scenario.draft_model) {
        for (std::int64_t i = 0; i < scenario.draft_model->layers(); ++i) collector.add(scenario.draft_model->layer(i).attention, 1);
    } else if (scenario.model->draft) {
        collector.add(scenario.model->draft->layer.attention, scenario.model->draft->layers);
    }
}

}  // namespace

std::vector<LayerSpec> layer_specs(const Scenario& scenario, const StageLayers& stage) {
    const LlmSpec& model = *scenario.model;
    Collector collector(scenario);
    for (std::int64_t i = stage.first; i < stage.first + stage.count; ++i) collector.add(model.layer(i).attention, 1);
    if (stage.first + stage.count == model.layers()) add_drafts(collector, scenario);
    return collector.take();
}

std::int64_t configured_block(const Scenario& scenario) {
    const LlmSpec& model = *scenario.model;
    if (is_compressed(model)) return 256;
    if (is_sparse_latent(model)) return 64;
    if (scenario.engine.page_size) return *scenario.engine.page_size;
    const std::string& backend = scenario.engine.attention_backend;
    if (!is_latent(model)) return 16;
    if (starts_with(backend, "FLASHMLA")) return 64;
    if (starts_with(backend, "CUTLASS_MLA")) return 128;
    // FlashInfer's and CUTLASS's latent kernels of compute capability 10 take blocks of 64 or more; the others any block.
    const bool blackwell = scenario.gpu && scenario.gpu->sm && scenario.gpu->sm->major == 10;
    return blackwell ? 64 : 16;
}

Bytes state_bytes(const LinearAttention& a, const Scenario& scenario) {
    const std::string& asked = scenario.engine.mamba_ssm_dtype;
    std::int64_t recurrent = keeps_fp32_state(*scenario.model, a) ? 4 : 2;
    if (asked == "float32") recurrent = 4;
    if (asked == "bfloat16" || asked == "float16") recurrent = 2;
    const StateElements e = state_elements(a, parallelism(scenario).attention_tp, speculative_tokens(scenario));
    return Bytes{e.convolution * 2 + checked_mul(e.recurrent, recurrent)};
}

}  // namespace kvplan::vllm
