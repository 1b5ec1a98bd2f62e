#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/llm/formats.hpp"

namespace kvplan {

// ---- attention: what a layer keeps of the past ------------------------------------------------------------

/// Multi-head, grouped-query and multi-query attention, with or without a window.
struct GroupedAttention {
    std::int64_t query_heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t v_head_dim = 0;
    std::optional<std::int64_t> window;   // sliding window in tokens; unset: full
    bool chunked = false;                 // `window` is a chunk (Llama-4), not a sliding window
    bool stores_kv = true;                // false: reads another layer's KV (KV sharing)
    bool image_only = false;              // cross-attention over image tokens (Llama-3.2-Vision): none of the text's tokens

    friend bool operator==(const GroupedAttention&, const GroupedAttention&) = default;
};

/// Per-token index keys beside a latent (DeepSeek-V3.2, GLM-5): head_dim bytes of fp8 and one f32 scale per 128.
struct SparseIndexer {
    std::int64_t heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t top_k = 0;
    bool own = true;                      // false: reuses another layer's selection and stores no keys

    friend bool operator==(const SparseIndexer&, const SparseIndexer&) = default;
};

/// Multi-head latent attention: one latent of kv_lora_rank + qk_rope_head_dim per token, shared by all heads.
struct LatentAttention {
    std::int64_t heads = 0;
    std::optional<std::int64_t> q_lora_rank;
    std::int64_t kv_lora_rank = 0;
    std::int64_t qk_nope_head_dim = 0;
    std::int64_t qk_rope_head_dim = 0;
    std::int64_t v_head_dim = 0;
    std::optional<SparseIndexer> indexer;

    friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Attention with a state of fixed size per request instead of KV per token.
struct LinearAttention {
    enum class Kind { mamba1, mamba2, gated_delta_net, kimi_delta, lightning, short_conv };
    Kind kind = Kind::gated_delta_net;
    std::int64_t heads = 0;               // value heads (GDN), heads (Mamba2)
    std::int64_t head_dim = 0;            // value head dim
    std::int64_t groups = 0;              // key heads (GDN), n_groups (Mamba2)
    std::int64_t state_size = 0;          // key head dim (GDN), d_state (Mamba2)
    std::int64_t conv_kernel = 0;         // 0: no convolution state
    std::int64_t conv_channels = 0;       // channels of the convolution, all ranks together
    DType state_dtype = DType::f32;

    friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

/// DeepSeek-V4: one shared KV entry per token inside a window, and one per `ratio` tokens beyond it.
struct CompressedAttention {
    std::int64_t heads = 0;
    std::int64_t head_dim = 0;            // 512: nope 448 + rope 64
    std::int64_t rope_head_dim = 0;
    std::int64_t window = 0;
    std::int64_t ratio = 0;               // 0: window only; 4 (with an index) or 128
    std::int64_t index_heads = 0;
    std::int64_t index_head_dim = 0;
    std::int64_t index_top_k = 0;

    friend bool operator==(const CompressedAttention&, const CompressedAttention&) = default;
};

/// Block-sparse attention over grouped KV with per-token index keys (MiniMax-M3).
struct BlockSparseAttention {
    GroupedAttention base;
    std::int64_t index_heads = 0;
    std::int64_t index_head_dim = 0;
    std::int64_t top_k_blocks = 0;
    std::int64_t block_size = 0;
    int index_tensors = 1;                // 1: keys; 2: keys and values

    friend bool operator==(const BlockSparseAttention&, const BlockSparseAttention&) = default;
};

struct NoAttention {
    friend bool operator==(const NoAttention&, const NoAttention&) = default;
};

using Attention = std::variant<NoAttention, GroupedAttention, LatentAttention, LinearAttention, CompressedAttention, BlockSparseAttention>;

// ---- feed-forward ---------------------------------------------------------------------------------------------

struct NoFfn {
    friend bool operator==(const NoFfn&, const NoFfn&) = default;
};

struct DenseFfn {
    std::int64_t intermediate = 0;
    bool gated = true;                    // three matrices; false: two
    friend bool operator==(const DenseFfn&, const DenseFfn&) = default;
};

struct MoeFfn {
    std::int64_t experts = 0;             // routed experts with weights (zero-compute experts not counted)
    std::int64_t top_k = 0;
    std::int64_t intermediate = 0;        // of one routed expert
    bool gated = true;
    std::int64_t shared_experts = 0;
    std::int64_t shared_intermediate = 0; // all shared experts together
    std::int64_t width = 0;               // what experts work on: hidden_size, or the latent width
    std::int64_t zero_experts = 0;        // further choices of the router that compute nothing (LongCat-Flash)
    std::int64_t dense_intermediate = 0;  // an MLP beside the experts in the same layer; 0: none
    friend bool operator==(const MoeFfn&, const MoeFfn&) = default;
};

using Ffn = std::variant<NoFfn, DenseFfn, MoeFfn>;

// ---- weights ----------------------------------------------------------------------------------------------------

/// What a tensor is for; the waterfall is printed by these.
enum class Component {
    embedding, lm_head, attention, indexer, linear_attention, dense_mlp, router, experts, shared_experts, norms, mtp, vision, audio, other
};
[[nodiscard]] std::string_view name_of(Component component);

/// How tensor parallelism cuts a tensor. The engine's rules decide over which group, and what else is replicated.
enum class Sharding {
    replicated,
    column,        // rows (outputs) split: gate/up, q_b, kv_b
    row,           // cols (inputs) split: o_proj, down
    query_heads,   // rows split by query heads
    kv_heads,      // rows split by KV heads, replicated when there are more ranks than heads (`units` = KV heads)
    vocab,         // rows = vocabulary, padded by the engine, then split
    expert,        // belongs to one routed expert: split over expert-parallel ranks, then like `inside_expert`
};

/// One matrix [rows, cols] (a vector has cols 1) that stands `count` times in its layer with one format.
struct WeightMatrix {
    std::string name;                     // module path inside the layer: "self_attn.kv_a_proj_with_mqa"
    Component component = Component::other;
    std::int64_t rows = 0, cols = 1;
    std::int64_t count = 1;               // experts, or repeated blocks
    StorageFormat format;
    Sharding sharding = Sharding::replicated;
    Sharding inside_expert = Sharding::replicated;  // column or row, for `expert`
    std::int64_t units = 0;               // indivisible units along the split side: heads; 0: no limit
    bool stored = true;                   // in the checkpoint
    bool resident = true;                 // on the GPU of an engine that serves (a duplicated tied head is not)
    bool bias = false;                    // a bias vector of `rows` in 16 bits (or `bias_type`) goes with it
    DType bias_type = DType::bf16;
    bool same_tensor = false;             // lies in the tensor of the matrix before it (fused qkv, gate_up)
    bool stacked = false;                 // all `count` of them are one tensor
    bool is_matmul = true;                // takes part in a token's compute (embedding look-ups and norms do not)

    friend bool operator==(const WeightMatrix&, const WeightMatrix&) = default;
};

/// Everything layers of one kind have in common.
struct LayerClass {
    std::string name;                     // "dense", "moe", "sliding", …
    Attention attention;
    Ffn ffn;
    std::vector<WeightMatrix> weights;

    friend bool operator==(const LayerClass&, const LayerClass&) = default;
};

/// Where a fact came from, for `models show`: "num_hidden_layers" -> "config.json /text_config/num_hidden_layers".
struct Provenance {
    std::string fact;
    std::string value;
    std::string source;
};

struct VisionTower {
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
};

/// Multi-token-prediction (NEXTN) layers that lie in the checkpoint after the main layers.
struct DraftLayers {
    std::int64_t layers = 0;              // stored; 0: none, whatever the config says
    LayerClass layer;                     // one of them, with its own projection, norms, embedding and head where stored
};

/// What a publisher's "active parameters" hold besides the layers' matrices. They differ: OpenAI and DeepSeek count the
/// head alone, Qwen and Meta the embedding too, Zhipu and MiniMax neither. Fitted on published figures, see docs/accuracy.md.
enum class ActiveConvention { with_head, with_head_and_embedding, layers_only };

/// A model as a planner must know it. A value; nothing in it depends on an engine or on the hardware.
struct LlmSpec {
    std::string name;                     // preset name or directory
    std::string hf_id;                    // "moonshotai/Kimi-K2.5", empty when unknown
    std::string family;                   // the rule that read it: "deepseek_v3"
    std::string architecture;             // architectures[0]: engines decide by it
    std::string model_type;
    bool verified = true;                 // false: family built from public sources without a config to test on
    std::int64_t hidden_size = 0;
    std::int64_t vocab_size = 0;
    std::int64_t max_position_embeddings = 0;
    bool tied_embeddings = false;
    ActiveConvention active_convention = ActiveConvention::with_head;
    DType dtype = DType::bf16;            // of what is not quantized
    std::optional<DType> checkpoint_kv_dtype;  // the checkpoint's quantization asks for it (kv_cache_quant_algo FP8)
    std::string quantization;             // label of the dominant format: "int4 g32", "fp8 128x128", "bf16"
    std::string quant_method;             // as the config says: "compressed-tensors", "fp8", "modelopt", ""

    std::vector<LayerClass> classes;
    std::vector<int> layer_class;         // one index into `classes` per main layer, in order
    std::vector<WeightMatrix> outside;    // embedding, final norm, head, projectors, vision tower
    std::optional<DraftLayers> draft;
    std::optional<VisionTower> vision;

    std::optional<Bytes> exact_checkpoint_bytes;       // from an index or safetensors headers
    std::optional<std::int64_t> exact_stored_elements; // from safetensors headers
    std::vector<Provenance> provenance;
    std::vector<std::string> ignored_keys;
    std::vector<std::string> assumptions;              // what the config does not say and was assumed

    [[nodiscard]] std::int64_t layers() const { return static_cast<std::int64_t>(layer_class.size()); }
    [[nodiscard]] const LayerClass& layer(std::int64_t i) const {
        return classes[static_cast<std::size_t>(layer_class[static_cast<std::size_t>(i)])];
    }
};

/// Totals over the whole checkpoint.
struct ModelTotals {
    std::int64_t total_params = 0;        // logical parameters stored: packed weights unpacked, scales not counted
    std::int64_t stored_elements = 0;     // tensor elements as stored: packed words once, scales and zero points too
    std::int64_t active_params = 0;       // as the publisher counts them (ActiveConvention)
    std::int64_t matmul_params = 0;       // of the matrices one token multiplies with: top-k experts, shared, attention, head
    Bytes checkpoint_bytes;               // of all tensors (exact_checkpoint_bytes where it is known)
    std::int64_t tensors = 0;
};
[[nodiscard]] ModelTotals totals(const LlmSpec& spec);

/// Stored size of one matrix with its bias, times its count.
[[nodiscard]] Stored stored(const WeightMatrix& matrix);
[[nodiscard]] std::int64_t parameters(const WeightMatrix& matrix);

}  // namespace kvplan
