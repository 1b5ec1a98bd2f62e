// Variants by name: what `--quantization` takes, with what the common producers of a format leave in 16 bits.

#include <iterator>

#include "models/llm/quantization.hpp"
#include "units/ascii.hpp"
#include "units/parse.hpp"

namespace kvplan {

namespace {

enum class Keeps {
    usual,       // embeddings, head, router, small linear layers, towers
    and_latent,  // and MLA's a- and b-projections, indexers, and draft layers: NVIDIA's NVFP4 releases of DeepSeek, Kimi, GLM
    towers,      // towers only: MLX quantizes embedding, head and router too
};

struct Variant {
    std::string_view name;
    Scheme scheme;
    int bits;
    std::int64_t group;
    Keeps keeps = Keeps::usual;
};

// The exclusions were checked against released checkpoints; tests/accuracy names them.
constexpr Variant kVariants[] = {
    {"fp8", Scheme::fp8_block, 8, 128},
    {"fp8_tensor", Scheme::fp8_tensor, 8, 0},
    {"fp8_channel", Scheme::fp8_channel, 8, 0},
    {"fp8_block128", Scheme::fp8_block, 8, 128},
    {"fbgemm_fp8", Scheme::fbgemm_fp8, 8, 0},
    {"int8", Scheme::int8_channel, 8, 0},
    {"int4", Scheme::packed_int, 4, 128},
    {"w4a16", Scheme::packed_int, 4, 128},
    {"awq", Scheme::awq, 4, 128},
    {"gptq", Scheme::gptq, 4, 128},
    {"mxfp4", Scheme::mxfp4, 4, 32},
    {"mxfp8", Scheme::mxfp8, 8, 32},
    {"nvfp4", Scheme::nvfp4, 4, 16, Keeps::and_latent},
    {"nf4", Scheme::bnb_nf4, 4, 64},
    {"bnb_int8", Scheme::bnb_int8, 8, 0},
    {"mlx3", Scheme::mlx_affine, 3, 64, Keeps::towers},
    {"mlx4", Scheme::mlx_affine, 4, 64, Keeps::towers},
    {"mlx6", Scheme::mlx_affine, 6, 64, Keeps::towers},
    {"mlx8", Scheme::mlx_affine, 8, 64, Keeps::towers},
};

constexpr std::string_view kPlain[] = {"bf16", "fp16", "fp32", "none"};

/// Lower case, without punctuation.
std::string plain_letters(std::string_view text) {
    std::string letters;
    for (const char c : text)
        if (is_alnum(c)) letters += lower(c);
    return letters;
}

bool takes_group(Scheme scheme) {
    return scheme == Scheme::packed_int || scheme == Scheme::awq || scheme == Scheme::gptq || scheme == Scheme::mlx_affine;
}

/// "int4g32" -> int4 with 32; the variant itself when no group is named.
std::optional<Variant> parse(std::string_view letters) {
    for (const Variant& variant : kVariants) {
        const std::string own = plain_letters(variant.name);
        if (letters.substr(0, own.size()) != own) continue;
        std::string_view rest = letters.substr(own.size());
        if (rest.empty()) return variant;
        if (!takes_group(variant.scheme) || rest.front() != 'g') continue;
        const auto size = parse_integer(rest.substr(1));
        if (!parse_ok(size) || std::get<std::int64_t>(size) < 8 || std::get<std::int64_t>(size) > 4096) continue;
        Variant with_group = variant;
        with_group.group = std::get<std::int64_t>(size);
        return with_group;
    }
    return std::nullopt;
}

StorageFormat format_of(const Variant& variant, const QuantizationOptions& options) {
    StorageFormat f;
    f.scheme = variant.scheme;
    f.bits = variant.bits;
    f.group = variant.group;
    f.element = options.base;
    f.scale = options.base;
    f.shape_type = options.shape_type;
    switch (variant.scheme) {
        case Scheme::fp8_block:
            f.group = 0;
            f.block_rows = f.block_cols = 128;
            f.element = DType::f8_e4m3;
            f.scale = options.block_scale;
            break;
        case Scheme::fp8_tensor:
            f.element = DType::f8_e4m3;
            f.static_activations = true;
            break;
        case Scheme::fp8_channel: f.element = DType::f8_e4m3; break;
        case Scheme::fbgemm_fp8:
            f.element = DType::f8_e4m3;
            f.scale = DType::f32;
            break;
        case Scheme::gptq:
            f.zero_points = f.act_order = true;
            f.scale = DType::f16;
            break;
        case Scheme::awq:
            f.zero_points = true;
            f.scale = DType::f16;
            break;
        case Scheme::nvfp4:
            f.element = DType::fp4;
            f.scalars = 2;
            break;
        case Scheme::mxfp4: f.element = DType::fp4; break;
        case Scheme::mxfp8: f.element = DType::f8_e4m3; break;
        case Scheme::bnb_nf4: f.double_quantized = true; break;
        default: break;
    }
    return f;
}

}  // namespace

/// Makes rules that no file describes.
class QuantizationBuilder {
public:
    static QuantizationRules build(const Variant& variant, const QuantizationOptions& options);
};

std::optional<QuantizationRules> quantization_named(std::string_view name, const QuantizationOptions& options) {
    const std::string letters = plain_letters(name);
    for (const std::string_view plain_name : kPlain)
        if (letters == plain_name) {
            const DType base = letters == "fp16" ? DType::f16 : letters == "fp32" ? DType::f32 : letters == "bf16" ? DType::bf16 : options.base;
            return QuantizationRules(base);
        }
    const std::optional<Variant> variant = parse(letters);
    if (!variant) return std::nullopt;
    return QuantizationBuilder::build(*variant, options);
}

QuantizationRules QuantizationBuilder::build(const Variant& variant, const QuantizationOptions& options) {
    QuantizationRules rules(options.base);
    rules.main_layers_ = options.main_layers;
    rules.main_ = format_of(variant, options);
    rules.reach_.linear = rules.reach_.expert = true;
    if (variant.keeps == Keeps::towers)
        rules.reach_.embedding = rules.reach_.head = rules.reach_.router = rules.reach_.small = true;
    if (variant.keeps == Keeps::and_latent) {
        for (const char* name : {"q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "indexer", "mtp"}) rules.ignore(name);
        rules.reach_.draft = false;
    }
    for (const std::string& pattern : options.extra_ignore) rules.ignore(pattern);
    return rules;
}

std::vector<std::string> quantization_names() {
    std::vector<std::string> names(std::begin(kPlain), std::end(kPlain) - 1);
    for (const Variant& variant : kVariants)
        names.push_back(std::string(variant.name) + (takes_group(variant.scheme) ? "-g" + std::to_string(variant.group) : ""));
    return names;
}

}  // namespace kvplan
