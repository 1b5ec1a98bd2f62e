// One list of spellings for each meaning. The first is ours and stands in preset records; the others are those of
// public configs.
#pragma once

#include <string_view>

namespace kvplan::keys {

using Key = std::string_view;

inline constexpr Key kTextSections[] = {"text", "text_config", "language_config", "llm_config"};
inline constexpr Key kVision[] = {"vision", "vision_config"};

inline constexpr Key kLayers[] = {"layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers"};
inline constexpr Key kHidden[] = {"hidden", "hidden_size", "n_embd", "d_model", "dim"};
inline constexpr Key kHeads[] = {"heads", "num_attention_heads", "n_head", "n_heads"};
inline constexpr Key kKvHeads[] = {"kv_heads",   "num_key_value_heads",   "num_kv_heads",
                                   "n_kv_heads", "multi_query_group_num", "num_attention_groups",
                                   "kv_n_heads"};
inline constexpr Key kHeadDim[] = {"head_dim", "attention_head_dim", "kv_channels"};
inline constexpr Key kVocab[] = {"vocab", "vocab_size", "padded_vocab_size"};
inline constexpr Key kContext[] = {"context",     "max_position_embeddings", "model_max_length",
                                   "max_seq_len", "max_position_embedding",  "seq_length",
                                   "n_positions", "max_sequence_length"};
inline constexpr Key kDType[] = {"weights_dtype", "torch_dtype", "dtype"};
inline constexpr Key kTied[] = {"tied_embeddings", "tie_word_embeddings", "use_embedding_sharing"};

inline constexpr Key kFfn[] = {"ffn",     "intermediate_size", "ffn_hidden_size", "ff_intermediate_size",
                               "n_inner", "hidden_dim"};
inline constexpr Key kExperts[] = {"experts", "n_routed_experts", "num_local_experts", "num_experts",
                                   "moe_num_experts"};
inline constexpr Key kTopK[] = {"experts_per_token", "num_experts_per_tok", "num_experts_per_token",
                                "moe_topk",          "moe_top_k",           "moe_k",
                                "top_k_experts"};
inline constexpr Key kExpertFfn[] = {"expert_ffn", "moe_intermediate_size", "expert_ffn_hidden_size",
                                     "expert_intermediate_size"};
inline constexpr Key kSharedExperts[] = {"shared_experts", "n_shared_experts", "num_shared_experts",
                                         "num_shared_expert", "moe_num_shared_experts"};
inline constexpr Key kSharedFfn[] = {"shared_ffn", "shared_expert_intermediate_size",
                                     "moe_shared_expert_intermediate_size", "share_expert_dim",
                                     "shared_intermediate_size"};
inline constexpr Key kDenseFirst[] = {"dense_first", "first_k_dense_replace", "num_dense_layers"};

inline constexpr Key kWindow[] = {"window", "sliding_window", "sliding_window_size", "attention_window_size"};
inline constexpr Key kLayerTypes[] = {"layer_kinds", "layer_types"};
inline constexpr Key kAttentionBias[] = {"attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias"};
inline constexpr Key kMlpBias[] = {"mlp_bias"};

inline constexpr Key kQRank[] = {"q_rank", "q_lora_rank"};
inline constexpr Key kKvRank[] = {"kv_rank", "kv_lora_rank"};
inline constexpr Key kNopeDim[] = {"nope_dim", "qk_nope_head_dim"};
inline constexpr Key kRopeDim[] = {"rope_dim", "qk_rope_head_dim"};
inline constexpr Key kVDim[] = {"v_dim", "v_head_dim"};

inline constexpr Key kDraftLayers[] = {"draft_layers", "num_nextn_predict_layers", "mtp_num_hidden_layers"};

}  // namespace kvplan::keys
