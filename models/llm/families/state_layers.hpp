// Layers that keep a state of fixed size: Mamba 1 and 2, Kimi's delta attention, MiniMax's lightning attention.
#pragma once

#include <optional>
#include <string_view>

#include "models/llm/families/decoder.hpp"

namespace kvplan::families {

struct MambaOptions {
    std::string_view prefix = "mixer.";
    bool conv_bias = true;
    bool proj_bias = false;
    std::int64_t dt_rank = 0;           // Mamba 1
    bool inner_norms = false;           // Mamba 1 of Jamba: norms on dt, B and C
    std::optional<DType> state_params;  // of A_log (Mamba 1), of A_log, D and dt_bias (Mamba 2)
};

/// Mamba 1: `heads` x `head_dim` channels with `state_size` states each.
void add_mamba1(LayerPlan& layer, const LinearAttention& mamba, std::int64_t hidden, const MambaOptions& options);
/// Mamba 2 with grouped B and C and a gated norm.
void add_mamba2(LayerPlan& layer, const LinearAttention& mamba, std::int64_t hidden, const MambaOptions& options);

struct KimiDeltaOptions {
    bool full_rank_gate = false;     // the output gate is one matrix (K3) instead of two thin ones
    bool padded_decay = false;       // A_log is padded with zeros to head_dim (K3)
    std::optional<DType> conv_type;  // f32 in K3
};
/// Kimi Delta Attention.
void add_kimi_delta(LayerPlan& layer, const LinearAttention& delta, std::int64_t hidden,
                    const KimiDeltaOptions& options);

/// Lightning attention of MiniMax: fused qkv, an output gate, a norm over the heads.
void add_lightning(LayerPlan& layer, const LinearAttention& lightning, std::int64_t hidden);

}  // namespace kvplan::families
