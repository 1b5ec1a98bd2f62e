// What a family's rule makes: the modules of each kind of layer with their shapes, before any storage format is known.
// The builders below know the blocks that families share; names are those of the checkpoint, because exclusion lists
// speak of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/llm/llm_spec.hpp"
#include "models/llm/module_kind.hpp"

namespace kvplan {

/// One matrix and what a quantizer may do with it.
struct Module {
    WeightMatrix weight;
    ModuleKind kind = ModuleKind::linear;
    std::optional<DType> fixed;  // stored in this type whatever the model's is

    friend bool operator==(const Module&, const Module&) = default;
};

/// A kind of layer: what it keeps, what it computes, and its modules with paths inside the layer.
struct LayerPlan {
    std::string name;
    Attention attention;
    Ffn ffn;
    std::vector<Module> modules;

    friend bool operator==(const LayerPlan&, const LayerPlan&) = default;
};

/// A whole model before formats: `layer_plan[i]` is the kind of layer i, whose modules stand below "PREFIX.i.".
struct Blueprint {
    std::string layer_prefix = "model.layers";
    int plans_per_index = 1;  // 2: two of our layers share a number in the checkpoint (LongCat-Flash)
    std::vector<LayerPlan> plans;
    std::vector<int> layer_plan;
    std::vector<Module> outside;
    std::int64_t draft_layers = 0;
    LayerPlan draft;
    std::string draft_path;  // of the first draft layer: "model.layers.61"
    std::optional<VisionTower> vision;
};

/// Adds `plan` as the kind of the next layer, sharing equal ones.
void append_layer(Blueprint& blueprint, LayerPlan plan);

[[nodiscard]] Module linear(std::string name, Component component, std::int64_t rows, std::int64_t cols,
                            Sharding sharding, std::int64_t units = 0);
/// A vector of `size` elements, replicated.
[[nodiscard]] Module vector_of(std::string name, Component component, std::int64_t size, std::int64_t count = 1);
[[nodiscard]] Module with_bias(Module module, bool bias = true);
[[nodiscard]] Module in_type(Module module, DType type);
[[nodiscard]] Module of_kind(Module module, ModuleKind kind);
/// A norm; `bias` adds LayerNorm's second vector.
void add_norm(std::vector<Module>& modules, std::string name, std::int64_t size, bool bias = false,
              Component component = Component::norms);

/// How a family writes grouped attention down.
struct GroupedNames {
    std::string_view prefix = "self_attn.";
    std::string_view q = "q_proj", k = "k_proj", v = "v_proj", o = "o_proj";
    std::string_view fused;  // "qkv_proj": q, k and v are one tensor of that name
    std::string_view q_norm = "q_norm", k_norm = "k_norm";
};

enum class QkNorm { none, per_head_dim, full_width };

struct GroupedOptions {
    GroupedNames names;
    bool qkv_bias = false;
    bool o_bias = false;
    QkNorm qk_norm = QkNorm::none;
    bool q_gate = false;        // q_proj holds an output gate too: twice the rows
    bool value_is_key = false;  // no v_proj: keys serve as values
    bool sinks = false;         // one learned logit a head
};
void add_grouped(LayerPlan& layer, const GroupedAttention& attention, std::int64_t hidden,
                 const GroupedOptions& options = {});

/// DeepSeek's latent attention with its two a-norms, and the sparse indexer where there is one.
void add_latent(LayerPlan& layer, const LatentAttention& attention, std::int64_t hidden,
                std::string_view prefix = "self_attn.");

struct DenseNames {
    std::string_view prefix = "mlp.";
    std::string_view gate = "gate_proj", up = "up_proj", down = "down_proj";
    std::string_view fused;  // "gate_up_proj": gate and up are one tensor
};

void add_dense(LayerPlan& layer, const DenseFfn& ffn, std::int64_t hidden, const DenseNames& names = {},
               bool bias = false);

struct MoeOptions {
    std::string_view prefix = "mlp.";
    std::string_view router = "gate";
    std::string_view experts = "experts.*.";  // '*' stands for the number of an expert
    DenseNames expert;                        // `prefix` unused
    std::string_view shared = "shared_experts.";
    DenseNames shared_names;           // `prefix` unused
    std::string_view shared_gate;      // "shared_expert_gate": one row a layer
    std::string_view correction_bias;  // "gate.e_score_correction_bias": one number an expert
    DType correction_type = DType::f32;
    std::optional<DType> router_type;
    std::int64_t router_rows = 0;  // 0: one for each expert; more with zero-compute experts
    bool router_bias = false;
    bool expert_bias = false;
    bool stacked = false;           // all experts of a layer are one tensor
    std::int64_t dense_hidden = 0;  // width of the shared experts when experts work on another; 0: the same
};
/// Router, routed experts, shared experts. The MLP beside the experts (`dense_intermediate`) is the caller's.
void add_moe(LayerPlan& layer, const MoeFfn& ffn, std::int64_t hidden, const MoeOptions& options = {});

/// Embedding, final norm and head. A tied head is stored or not; it is never a second copy on the GPU.
struct OutsideOptions {
    std::string_view embedding = "model.embed_tokens", norm = "model.norm", head = "lm_head";
    bool norm_bias = false;
    bool head_bias = false;
    std::optional<bool> stored_head;  // unset: stored unless tied
    std::optional<DType> head_type;
};
void add_outside(Blueprint& blueprint, std::int64_t vocab, std::int64_t hidden, bool tied,
                 const OutsideOptions& options = {});

/// One matrix of a tower or projector outside the layers, with its bias.
void add_vision(std::vector<Module>& modules, std::string name, std::int64_t rows, std::int64_t cols, bool bias,
                std::int64_t count = 1, Sharding sharding = Sharding::replicated, std::int64_t units = 0);

}  // namespace kvplan
