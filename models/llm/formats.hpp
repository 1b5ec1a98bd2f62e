#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "units/bytes.hpp"

namespace kvplan {

/// Element types as stored, in bits. `packed` counts are of logical elements: fp4 and int4 are half a byte.
enum class DType { f32, f16, bf16, f8_e4m3, f8_e5m2, e8m0, i8, u8, i32, u32, i64, i4, fp4, nf4, i3, i2, i6 };

[[nodiscard]] std::int64_t bits_of(DType type);
[[nodiscard]] std::string_view name_of(DType type);

/// How a matrix [rows = out, cols = in] lies in the checkpoint. Sources: config-level quantization descriptions
/// of compressed-tensors, GPTQ, AWQ, modelopt, MLX, bitsandbytes, fbgemm; see docs/method.md "storage formats".
enum class Scheme {
    plain,               // elements of `element` only
    fp8_tensor,          // f8 + one f32 scale (+ an input scale when `static_activations`)
    fp8_channel,         // f8 + one scale of `scale` a row
    fp8_block,           // f8 + one scale of `scale` per block_rows x block_cols block, rounded up
    int8_tensor,
    int8_channel,        // i8 + one scale a row
    packed_int,          // compressed-tensors pack-quantized: i32 words, scales per group, shape [2] a tensor
    gptq,                // i32 words, zeros packed, f16 scales per group, g_idx i32 per input
    awq,                 // i32 words, zeros packed, f16 scales per group
    mxfp4,               // u8 halves + one e8m0 byte per 32
    mxfp8,               // f8 + one e8m0 byte per 32
    nvfp4,               // u8 halves + one f8 per 16 + f32 scalars (see `scalars`)
    fbgemm_fp8,          // f8 + one f32 a row
    bnb_nf4,             // u8 halves + absmax (double quantized or not)
    bnb_int8,            // i8 + f32 a row (SCB)
    mlx_affine,          // u32 words of `bits` bits, scales and biases per group
};

[[nodiscard]] std::string_view name_of(Scheme scheme);

/// One storage format, complete: with it and a shape the stored bytes are exact.
struct StorageFormat {
    Scheme scheme = Scheme::plain;
    DType element = DType::bf16;          // of the elements (plain, fp8, int8); u32: packed in words, not bytes (MLX fp4)
    DType scale = DType::f32;             // of scales, where the scheme leaves it open
    int bits = 16;                        // of one element: 16, 8, 6, 4, 3, 2
    std::int64_t group = 0;               // elements of a row that share a scale; 0: whole row
    std::int64_t block_rows = 0, block_cols = 0;
    bool zero_points = false;             // asymmetric: zeros stored beside the scales
    bool act_order = false;               // GPTQ g_idx stored
    bool static_activations = false;      // an input scale a matrix is stored
    int scalars = 0;                      // f32 scalars a matrix (nvfp4: weight_scale_2 and input_scale = 2)
    DType shape_type = DType::i64;        // of compressed-tensors' weight_shape (Kimi writes i32)
    bool double_quantized = false;        // bitsandbytes nested absmax

    friend bool operator==(const StorageFormat&, const StorageFormat&) = default;
};

/// What one matrix takes in the checkpoint.
struct Stored {
    Bytes bytes;               // all of its tensors
    std::int64_t elements = 0; // as stored: packed words count once, scales and zero points count
    std::int64_t tensors = 0;
    std::int64_t weight_elements = 0; // of `elements`, those of the weight itself: without scales, zero points, shapes
    friend bool operator==(const Stored&, const Stored&) = default;
};

/// Bytes and stored elements of a [rows, cols] matrix; a vector is [rows, 1] and is always plain. Rows and columns that a
/// group, block or word does not divide are rounded up. Throws OverflowError when the size leaves 64 bits. One part is
/// nominal: of a bitsandbytes double-quantized matrix, the digits of one number in a JSON text (within 4 bytes).
[[nodiscard]] Stored stored(const StorageFormat& format, std::int64_t rows, std::int64_t cols);

/// "int4 g32", "fp8 128x128", "bf16": how people name it.
[[nodiscard]] std::string label(const StorageFormat& format);

[[nodiscard]] StorageFormat plain(DType element);

}  // namespace kvplan
