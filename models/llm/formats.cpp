#include "models/llm/formats.hpp"

#include <iterator>
#include <stdexcept>

namespace kvplan {

namespace {

struct DTypeInfo {
    DType type;
    std::int64_t bits;
    std::string_view name;
};

constexpr DTypeInfo kDTypes[] = {
    {DType::f32, 32, "fp32"},       {DType::f16, 16, "fp16"},       {DType::bf16, 16, "bf16"}, {DType::f8_e4m3, 8, "fp8_e4m3"},
    {DType::f8_e5m2, 8, "fp8_e5m2"}, {DType::e8m0, 8, "e8m0"},       {DType::i8, 8, "int8"},    {DType::u8, 8, "uint8"},
    {DType::i32, 32, "int32"},      {DType::u32, 32, "uint32"},     {DType::i64, 64, "int64"}, {DType::i4, 4, "int4"},
    {DType::fp4, 4, "fp4"},         {DType::nf4, 4, "nf4"},         {DType::i3, 3, "int3"},    {DType::i2, 2, "int2"},
    {DType::i6, 6, "int6"},
};

constexpr bool in_order_of_enumerators() {
    for (std::size_t i = 0; i < std::size(kDTypes); ++i)
        if (static_cast<std::size_t>(kDTypes[i].type) != i) return false;
    return true;
}
static_assert(in_order_of_enumerators());

const DTypeInfo& info_of(DType type) {
    const auto index = static_cast<std::size_t>(type);
    if (index >= std::size(kDTypes)) throw std::invalid_argument("unknown element type");
    return kDTypes[index];
}

/// Collects the tensors of one matrix.
class Sum {
public:
    explicit Sum(std::int64_t logical) : logical_(logical) {}

    /// The weight itself: `count` elements of `type`.
    Sum& weight(std::int64_t count, DType type) {
        stored_.weight_elements = count;
        return tensor(count, type);
    }
    /// A scale, a table of zero points, a shape ...
    Sum& tensor(std::int64_t count, DType type) {
        if (logical_ == 0) return *this;
        stored_.elements = checked_add(stored_.elements, count);
        stored_.bytes += Bytes{ceil_div(checked_mul(count, bits_of(type)), 8)};
        ++stored_.tensors;
        return *this;
    }
    [[nodiscard]] Stored result() const { return stored_; }

private:
    std::int64_t logical_;
    Stored stored_;
};

std::int64_t groups_of(const StorageFormat& format, std::int64_t cols) {
    return format.group > 0 ? ceil_div(cols, format.group) : 1;
}

/// Whole 32-bit words that `n` elements of `bits` bits fill without a gap: 3-bit words run across word borders.
std::int64_t dense_words(std::int64_t n, int bits) { return ceil_div(checked_mul(n, bits), 32); }

/// The same where a word holds only whole elements (compressed-tensors).
std::int64_t whole_words(std::int64_t n, int bits) { return ceil_div(n, 32 / bits); }

Stored fp8(const StorageFormat& f, std::int64_t rows, std::int64_t cols, std::int64_t scales) {
    Sum sum(checked_mul(rows, cols));
    sum.weight(checked_mul(rows, cols), f.element == DType::f8_e5m2 ? DType::f8_e5m2 : DType::f8_e4m3);
    sum.tensor(scales, f.scale);
    if (f.static_activations) sum.tensor(1, f.scale);
    return sum.result();
}

Stored int8(const StorageFormat& f, std::int64_t rows, std::int64_t cols, std::int64_t scales) {
    Sum sum(checked_mul(rows, cols));
    sum.weight(checked_mul(rows, cols), DType::i8).tensor(scales, f.scale);
    if (f.zero_points) sum.tensor(scales, DType::i8);
    if (f.static_activations) sum.tensor(1, f.scale);
    return sum.result();
}

// compressed-tensors, compressors/quantized_compressors/pack_quantized.py: weight_packed [out, ceil(in/pack)],
// weight_scale [out, groups], weight_shape [2], weight_zero_point packed along the rows, weight_g_idx [in].
Stored packed_int(const StorageFormat& f, std::int64_t rows, std::int64_t cols) {
    const std::int64_t groups = groups_of(f, cols);
    Sum sum(checked_mul(rows, cols));
    sum.weight(checked_mul(rows, whole_words(cols, f.bits)), DType::i32);
    sum.tensor(checked_mul(rows, groups), f.scale);
    if (f.zero_points) sum.tensor(checked_mul(whole_words(rows, f.bits), groups), DType::i32);
    if (f.act_order) sum.tensor(cols, DType::i32);
    sum.tensor(2, f.shape_type);
    return sum.result();
}

// AutoGPTQ / GPTQModel: qweight [in*bits/32, out], qzeros [groups, out*bits/32], scales [groups, out], g_idx [in].
Stored gptq(const StorageFormat& f, std::int64_t rows, std::int64_t cols) {
    const std::int64_t groups = groups_of(f, cols);
    Sum sum(checked_mul(rows, cols));
    sum.weight(checked_mul(dense_words(cols, f.bits), rows), DType::i32);
    sum.tensor(checked_mul(groups, dense_words(rows, f.bits)), DType::i32);
    sum.tensor(checked_mul(groups, rows), DType::f16);
    if (f.act_order) sum.tensor(cols, DType::i32);
    return sum.result();
}

// AutoAWQ gemm: qweight [in, out*bits/32], qzeros [groups, out*bits/32], scales [groups, out].
Stored awq(const StorageFormat& f, std::int64_t rows, std::int64_t cols) {
    const std::int64_t groups = groups_of(f, cols);
    Sum sum(checked_mul(rows, cols));
    sum.weight(checked_mul(cols, dense_words(rows, f.bits)), DType::i32);
    if (f.zero_points) sum.tensor(checked_mul(groups, dense_words(rows, f.bits)), DType::i32);
    sum.tensor(checked_mul(groups, rows), DType::f16);
    return sum.result();
}

/// OCP microscaling and nvfp4: small floats, a scale of 8 bits a group, and f32 scalars.
Stored microscaled(const StorageFormat& f, std::int64_t rows, std::int64_t cols, int bits, DType scale) {
    Sum sum(checked_mul(rows, cols));
    if (f.element == DType::u32)
        sum.weight(checked_mul(rows, dense_words(cols, bits)), DType::u32);
    else
        sum.weight(checked_mul(rows, ceil_div(checked_mul(cols, bits), 8)), DType::u8);
    sum.tensor(checked_mul(rows, groups_of(f, cols)), scale);
    for (int i = 0; i < f.scalars; ++i) sum.tensor(1, DType::f32);
    return sum.result();
}

// bitsandbytes, functional.py, QuantState.as_dict(packed=True): blocks of 64 over the flattened matrix, a map of 16 f32,
// with double quantization u8 absmax and per 256 of them an f32, a map of 256 f32; and a JSON text as a u8 tensor.
Stored bnb_4bit(const StorageFormat& f, std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t kBlock = 64, kNestedBlock = 256, kOffsetDigits = 20;
    const std::int64_t n = checked_mul(rows, cols);
    const std::int64_t blocks = ceil_div(n, kBlock);
    const std::string_view compute = f.element == DType::f16 ? "float16" : f.element == DType::f32 ? "float32" : "bfloat16";
    std::string state = "{\"quant_type\": \"nf4\", \"blocksize\": 64, \"dtype\": \"" + std::string(compute) + "\", \"shape\": [" +
                        std::to_string(rows) + ", " + std::to_string(cols) + "]";
    if (f.double_quantized) state += ", \"nested_blocksize\": 256, \"nested_dtype\": \"float32\", \"nested_offset\": ";
    const std::int64_t length = static_cast<std::int64_t>(state.size()) + (f.double_quantized ? kOffsetDigits : 0) + 1;

    Sum sum(n);
    sum.weight(ceil_div(n, 2), DType::u8).tensor(16, DType::f32).tensor(length, DType::u8);
    if (f.double_quantized)
        sum.tensor(blocks, DType::u8).tensor(ceil_div(blocks, kNestedBlock), DType::f32).tensor(256, DType::f32);
    else
        sum.tensor(blocks, DType::f32);
    return sum.result();
}

// bitsandbytes Linear8bitLt: weight, SCB [out], weight_format (a scalar).
Stored bnb_8bit(std::int64_t rows, std::int64_t cols) {
    return Sum(checked_mul(rows, cols))
        .weight(checked_mul(rows, cols), DType::i8)
        .tensor(rows, DType::f32)
        .tensor(1, DType::u8)
        .result();
}

// MLX, nn/layers/quantized.py: weight [out, in*bits/32] u32, scales and biases [out, in/group].
Stored mlx(const StorageFormat& f, std::int64_t rows, std::int64_t cols) {
    const std::int64_t groups = checked_mul(rows, groups_of(f, cols));
    return Sum(checked_mul(rows, cols))
        .weight(checked_mul(rows, dense_words(cols, f.bits)), DType::u32)
        .tensor(groups, f.scale)
        .tensor(groups, f.scale)
        .result();
}

std::string group_suffix(const StorageFormat& f) { return f.group > 0 ? " g" + std::to_string(f.group) : ""; }

}  // namespace

std::int64_t bits_of(DType type) { return info_of(type).bits; }
std::string_view name_of(DType type) { return info_of(type).name; }

std::string_view name_of(Scheme scheme) {
    switch (scheme) {
        case Scheme::plain: return "plain";
        case Scheme::fp8_tensor: return "fp8_tensor";
        case Scheme::fp8_channel: return "fp8_channel";
        case Scheme::fp8_block: return "fp8_block";
        case Scheme::int8_tensor: return "int8_tensor";
        case Scheme::int8_channel: return "int8_channel";
        case Scheme::packed_int: return "packed_int";
        case Scheme::gptq: return "gptq";
        case Scheme::awq: return "awq";
        case Scheme::mxfp4: return "mxfp4";
        case Scheme::mxfp8: return "mxfp8";
        case Scheme::nvfp4: return "nvfp4";
        case Scheme::fbgemm_fp8: return "fbgemm_fp8";
        case Scheme::bnb_nf4: return "bnb_nf4";
        case Scheme::bnb_int8: return "bnb_int8";
        case Scheme::mlx_affine: return "mlx_affine";
    }
    return "?";
}

Stored stored(const StorageFormat& f, std::int64_t rows, std::int64_t cols) {
    const auto blocks = [&] {
        return checked_mul(ceil_div(rows, f.block_rows > 0 ? f.block_rows : rows > 0 ? rows : 1),
                           ceil_div(cols, f.block_cols > 0 ? f.block_cols : cols > 0 ? cols : 1));
    };
    switch (f.scheme) {
        case Scheme::plain: {
            const std::int64_t n = checked_mul(rows, cols);
            return Sum(n).weight(n, f.element).result();
        }
        case Scheme::fp8_tensor: return fp8(f, rows, cols, 1);
        case Scheme::fp8_channel:
        case Scheme::fbgemm_fp8: return fp8(f, rows, cols, rows);
        case Scheme::fp8_block: return fp8(f, rows, cols, blocks());
        case Scheme::int8_tensor: return int8(f, rows, cols, 1);
        case Scheme::int8_channel: return int8(f, rows, cols, checked_mul(rows, groups_of(f, cols)));
        case Scheme::packed_int: return packed_int(f, rows, cols);
        case Scheme::gptq: return gptq(f, rows, cols);
        case Scheme::awq: return awq(f, rows, cols);
        case Scheme::mxfp4: return microscaled(f, rows, cols, 4, DType::e8m0);
        case Scheme::mxfp8: return microscaled(f, rows, cols, 8, DType::e8m0);
        case Scheme::nvfp4: return microscaled(f, rows, cols, 4, DType::f8_e4m3);
        case Scheme::bnb_nf4: return bnb_4bit(f, rows, cols);
        case Scheme::bnb_int8: return bnb_8bit(rows, cols);
        case Scheme::mlx_affine: return mlx(f, rows, cols);
    }
    return {};
}

std::string label(const StorageFormat& f) {
    const std::string bits = std::to_string(f.bits);
    switch (f.scheme) {
        case Scheme::plain: return std::string(name_of(f.element));
        case Scheme::fp8_tensor: return "fp8 tensor";
        case Scheme::fp8_channel: return "fp8 channel";
        case Scheme::fp8_block: return "fp8 " + std::to_string(f.block_rows) + "x" + std::to_string(f.block_cols);
        case Scheme::int8_tensor: return "int8 tensor";
        case Scheme::int8_channel: return f.group > 0 ? "int8" + group_suffix(f) : "int8 channel";
        case Scheme::packed_int: return "int" + bits + group_suffix(f);
        case Scheme::gptq: return "gptq int" + bits + group_suffix(f);
        case Scheme::awq: return "awq int" + bits + group_suffix(f);
        case Scheme::mxfp4: return "mxfp4";
        case Scheme::mxfp8: return "mxfp8";
        case Scheme::nvfp4: return "nvfp4";
        case Scheme::fbgemm_fp8: return "fbgemm fp8";
        case Scheme::bnb_nf4: return "nf4";
        case Scheme::bnb_int8: return "bnb int8";
        case Scheme::mlx_affine: return "mlx " + bits + "-bit" + group_suffix(f);
    }
    return "?";
}

StorageFormat plain(DType element) {
    StorageFormat format;
    format.element = element;
    format.bits = static_cast<int>(bits_of(element));
    return format;
}

}  // namespace kvplan
