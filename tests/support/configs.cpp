#include "tests/support/configs.hpp"

namespace kvplan::test {

std::string llama_3_70b_config() {
    return R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192,
 "intermediate_size": 28672, "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256,
 "max_position_embeddings": 8192, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
}

std::string kimi_k2_config() {
    return R"({"architectures": ["KimiK25ForConditionalGeneration"], "model_type": "kimi_k25", "dtype": "bfloat16",
 "text_config": {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2",
  "num_hidden_layers": 61, "hidden_size": 7168, "intermediate_size": 18432, "num_attention_heads": 64, "num_key_value_heads": 64,
  "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "n_routed_experts": 384, "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": 2048, "first_k_dense_replace": 1,
  "moe_layer_freq": 1, "topk_method": "noaux_tc", "num_nextn_predict_layers": 0, "vocab_size": 163840,
  "max_position_embeddings": 262144, "tie_word_embeddings": false, "dtype": "bfloat16",
  "quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized",
   "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": true}}},
   "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]}}})";
}

}  // namespace kvplan::test
