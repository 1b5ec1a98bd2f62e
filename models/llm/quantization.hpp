// Which module of a checkpoint is stored in which format.
//
// Read from config.json (`quantization_config`, `compression_config`, MLX `quantization`, at the top or inside the text
// model's object) or hf_quant_config.json, or made from a name as `--quantization` takes it. Families ask for every
// matrix by its path in the checkpoint; the rules know the exclusion lists and what the producers of a format leave alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/json/document.hpp"
#include "models/llm/formats.hpp"
#include "models/llm/module_kind.hpp"
#include "models/llm/name_map.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

/// The kind, judged by the path ("model.layers.3.mlp.gate" is a router, "...mlp.gate_proj" is linear; norms,
/// convolutions and tables are `other`). For callers that do not know better.
[[nodiscard]] ModuleKind kind_of_module(std::string_view path);

struct QuantizationOptions {
    DType base = DType::bf16;               ///< of what is not quantized
    std::int64_t main_layers = 0;           ///< "layers.N" with N from here on is a draft (MTP) layer; 0: not known
    DType block_scale = DType::f32;         ///< of fp8 block scales, and which the config does not tell: DeepSeek-V4 has e8m0
    DType shape_type = DType::i64;          ///< of compressed-tensors' weight_shape
    std::vector<std::string> extra_ignore;  ///< patterns as in an ignore list: kept in 16 bits besides what the config says
};

class QuantizationRules {
public:
    /// Nothing quantized.
    explicit QuantizationRules(DType base = DType::bf16);

    /// The format of the module with this path ("model.layers.3.mlp.experts.0.gate_proj", without ".weight"). Leading
    /// "model", "language_model", "backbone" ... do not matter, nor do synonyms such as block_sparse_moe / ffn / mlp and
    /// w1 / gate_proj. Of experts ("...experts.*.gate_proj", or stacked as "...experts.gate_up_proj") the first one's
    /// entry counts.
    [[nodiscard]] StorageFormat format_for(std::string_view path) const;
    [[nodiscard]] StorageFormat format_for(std::string_view path, ModuleKind kind) const;

    /// Keeps what matches in 16 bits. Patterns: names by whole path parts ("gate", "mlp.gate"), globs, "re:...".
    void ignore(std::string_view pattern);
    /// Stores what matches in `format`. Ignore lists go before it.
    void assign(std::string_view pattern, const StorageFormat& format);

    /// The format that most of the quantized modules have; plain when nothing is quantized.
    [[nodiscard]] const StorageFormat& main_format() const { return main_; }
    [[nodiscard]] bool quantizes() const { return main_.scheme != Scheme::plain; }
    /// "int4 g32", "fp8 128x128", "bf16", "mixed (nvfp4, fp8 tensor)".
    [[nodiscard]] std::string label() const;
    /// As the config says: "compressed-tensors", "fp8", "modelopt"; empty when nothing is said.
    [[nodiscard]] const std::string& method() const { return method_; }
    /// The KV cache's element type that the checkpoint asks for.
    [[nodiscard]] std::optional<DType> kv_cache_dtype() const { return kv_cache_dtype_; }
    [[nodiscard]] DType base() const { return base_; }

private:
    friend class QuantizationReader;
    friend class QuantizationBuilder;

    /// Which kinds the default format reaches when no list names them.
    struct Reach {
        bool linear = false, expert = false, embedding = false, head = false, router = false, small = false,
             vision = false, draft = true;
    };
    [[nodiscard]] bool reached(std::string_view canonical, ModuleKind kind) const;
    [[nodiscard]] bool is_draft(std::string_view path) const;
    int add_format(const StorageFormat& format);

    DType base_;
    std::int64_t main_layers_ = 0;
    StorageFormat main_;
    std::optional<StorageFormat> expert_;   ///< where experts have another default (DeepSeek-V4: fp4 beside fp8)
    bool ignored_keeps_main_ = false;       ///< the list names what a second pass left in the first format (V4 NVFP4)
    Reach reach_;
    NameMap ignored_;
    NameMap assigned_;                      ///< values are indices of formats_
    std::vector<StorageFormat> formats_;
    std::string method_;
    std::optional<DType> kv_cache_dtype_;
};

/// The rules of a checkpoint. `config` is config.json's root, `hf_quant` hf_quant_config.json's (missing: none); the
/// config's own description goes first, as in the engines. Without any, nothing is quantized.
/// Codes: quantization.unknown-method (warning; nothing is quantized then), value.type, value.range, quantization.pattern.
[[nodiscard]] QuantizationRules read_quantization(const json::Value& config, const json::Value& hf_quant,
                                                  const QuantizationOptions& options, Diagnostics& diagnostics);

/// The rules of a variant by name (`quantization_names()`, case and punctuation aside, with `g32` or `g128` after int4,
/// awq, gptq, mlx4 ...), with what producers of that format leave in 16 bits. Nothing for an unknown name.
[[nodiscard]] std::optional<QuantizationRules> quantization_named(std::string_view name, const QuantizationOptions& options);
[[nodiscard]] std::vector<std::string> quantization_names();

}  // namespace kvplan
