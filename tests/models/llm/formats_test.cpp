#include "models/llm/formats.hpp"

#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

StorageFormat make(Scheme scheme, int bits, std::int64_t group = 0) {
    StorageFormat f;
    f.scheme = scheme;
    f.bits = bits;
    f.group = group;
    f.scale = DType::bf16;
    return f;
}

}  // namespace

TEST_CASE("Plain matrices take their elements and nothing else", "[formats]") {
    // 7168 x 2048 in two bytes
    CHECK(stored(plain(DType::bf16), 7168, 2048) == Stored{Bytes{29360128}, 14680064, 1, 14680064});
    CHECK(stored(plain(DType::f32), 256, 1) == Stored{Bytes{1024}, 256, 1, 256});
    CHECK(stored(plain(DType::fp4), 3, 1).bytes == Bytes{2});  // 12 bits
    CHECK(stored(plain(DType::bf16), 0, 2048) == Stored{});
    CHECK_THROWS_AS(stored(plain(DType::bf16), std::int64_t{1} << 40, std::int64_t{1} << 40), OverflowError);
}

TEST_CASE("FP8 blocks round up on both sides", "[formats]") {
    StorageFormat f = make(Scheme::fp8_block, 8);
    f.scale = DType::f32;
    f.block_rows = f.block_cols = 128;
    // DeepSeek-V3 kv_a_proj_with_mqa: 576 rows are 5 blocks (4.5), 7168 columns 56: 280 scales of 4 bytes
    CHECK(stored(f, 576, 7168) == Stored{Bytes{576 * 7168 + 280 * 4}, 576 * 7168 + 280, 2, 576 * 7168});
    // The same with scales of one byte (DeepSeek-V4)
    f.scale = DType::e8m0;
    CHECK(stored(f, 576, 7168).bytes == Bytes{576 * 7168 + 280});
    // One row is one row of blocks
    CHECK(stored(f, 1, 128).elements == 129);
    CHECK(label(f) == "fp8 128x128");
}

TEST_CASE("FP8 per tensor and per row", "[formats]") {
    StorageFormat f = make(Scheme::fp8_tensor, 8);
    CHECK(stored(f, 4096, 1024) == Stored{Bytes{4096 * 1024 + 2}, 4096 * 1024 + 1, 2, 4096 * 1024});
    f.static_activations = true;  // RedHatAI/Meta-Llama-3.1-8B-FP8: 224 matrices, 448 more elements than in bf16
    CHECK(stored(f, 4096, 1024).elements == 4096 * 1024 + 2);
    f = make(Scheme::fp8_channel, 8);
    CHECK(stored(f, 4096, 1024) == Stored{Bytes{4096 * 1024 + 4096 * 2}, 4096 * 1024 + 4096, 2, 4096 * 1024});
    f = make(Scheme::fbgemm_fp8, 8);
    f.scale = DType::f32;
    // Llama-3.1-405B-FP8, gate_proj 53248 x 16384: one f32 a row
    CHECK(stored(f, 53248, 16384).bytes == Bytes{std::int64_t{53248} * 16384 + 53248 * 4});
}

TEST_CASE("Integers packed by compressed-tensors: words, scales, a shape", "[formats]") {
    // Kimi-K2 expert gate_proj 2048 x 7168 in groups of 32: 2048 x 896 words, 2048 x 224 scales of 2 bytes, shape [2]
    StorageFormat f = make(Scheme::packed_int, 4, 32);
    f.shape_type = DType::i32;
    const std::int64_t words = 2048 * 896, scales = 2048 * 224;
    CHECK(stored(f, 2048, 7168) == Stored{Bytes{words * 4 + scales * 2 + 8}, words + scales + 2, 3, words});
    CHECK(label(f) == "int4 g32");
    f.shape_type = DType::i64;
    CHECK(stored(f, 2048, 7168).bytes == Bytes{words * 4 + scales * 2 + 16});
    // Asymmetric: zero points are packed along the rows: 256 x 224 words
    f.zero_points = true;
    CHECK(stored(f, 2048, 7168).elements == words + scales + 2 + 256 * 224);
    f.act_order = true;
    CHECK(stored(f, 2048, 7168).tensors == 5);
    // Whole elements in a word: ten 3-bit numbers, so 25 columns need three words a row
    CHECK(stored(make(Scheme::packed_int, 3, 0), 2, 25).weight_elements == 6);
    // A last group that is not full has a scale of its own
    CHECK(stored(make(Scheme::packed_int, 4, 128), 1, 136).elements == 17 + 2 + 2);
}

TEST_CASE("GPTQ and AWQ words, zeros and scales", "[formats]") {
    // 4096 outputs x 11008 inputs, groups of 128 -> 86 groups
    StorageFormat f = make(Scheme::gptq, 4, 128);
    f.act_order = true;
    // qweight 1376 x 4096, qzeros 86 x 512, scales 86 x 4096 (f16), g_idx 11008
    CHECK(stored(f, 4096, 11008) ==
          Stored{Bytes{1376 * 4096 * 4 + 86 * 512 * 4 + 86 * 4096 * 2 + 11008 * 4}, 1376 * 4096 + 86 * 512 + 86 * 4096 + 11008, 4, 1376 * 4096});
    // 3 bits run across words: 11008 * 3 / 32 = 1032
    CHECK(stored(make(Scheme::gptq, 3, 128), 4096, 11008).weight_elements == 1032 * 4096);
    f = make(Scheme::awq, 4, 128);
    f.zero_points = true;
    // qweight 11008 x 512
    CHECK(stored(f, 4096, 11008) == Stored{Bytes{11008 * 512 * 4 + 86 * 512 * 4 + 86 * 4096 * 2}, 11008 * 512 + 86 * 512 + 86 * 4096, 3, 11008 * 512});
    // Group 0 is one group for all inputs
    CHECK(stored(make(Scheme::awq, 4, 0), 4096, 11008).elements == 11008 * 512 + 4096);
}

TEST_CASE("Four-bit floats: halves of bytes, a scale a group", "[formats]") {
    // gpt-oss down_proj of one expert, 2880 x 2880: 1440 bytes and 90 scales a row
    CHECK(stored(make(Scheme::mxfp4, 4, 32), 2880, 2880) == Stored{Bytes{2880 * 1530}, 2880 * 1530, 2, 2880 * 1440});
    // Qwen3-14B q_proj 5120 x 5120 in nvfp4: 2560 bytes, 320 scales a row, two f32 scalars
    StorageFormat f = make(Scheme::nvfp4, 4, 16);
    f.scalars = 2;
    CHECK(stored(f, 5120, 5120) == Stored{Bytes{5120 * 2880 + 8}, 5120 * 2880 + 2, 4, 5120 * 2560});
    CHECK(stored(make(Scheme::mxfp8, 8, 32), 64, 64) == Stored{Bytes{64 * 66}, 64 * 66, 2, 64 * 64});
    // MLX packs the same bits in words
    f = make(Scheme::mxfp4, 4, 32);
    f.element = DType::u32;
    CHECK(stored(f, 2880, 2880) == Stored{Bytes{2880 * 1530}, 2880 * (360 + 90), 2, 2880 * 360});
}

TEST_CASE("bitsandbytes counts blocks over the flattened matrix", "[formats]") {
    StorageFormat f = make(Scheme::bnb_nf4, 4, 64);
    // 128 x 96 = 12288 elements: 6144 bytes, 192 absmax; maps of 16 f32; the state's JSON text:
    // {"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": [128, 96]} = 79 characters
    CHECK(stored(f, 128, 96) == Stored{Bytes{6144 + 192 * 4 + 64 + 79}, 6144 + 192 + 16 + 79, 4, 6144});
    f.double_quantized = true;
    // absmax in bytes, ceil(192 / 256) = 1 nested f32 and its map of 256; the text grows by 71 and a number
    const Stored twice = stored(f, 128, 96);
    CHECK(twice.tensors == 6);
    CHECK(twice.bytes.count() == 6144 + 192 + 64 + 4 + 1024 + 79 + 71 + 20);
    CHECK(stored(make(Scheme::bnb_int8, 8), 128, 96) == Stored{Bytes{12288 + 512 + 1}, 12288 + 129, 3, 12288});
}

TEST_CASE("MLX keeps scales and biases a group", "[formats]") {
    // 3 bits, 5120 inputs: 480 words; groups of 64: 80 scales and 80 biases a row, two bytes each
    CHECK(stored(make(Scheme::mlx_affine, 3, 64), 10, 5120) == Stored{Bytes{10 * (480 * 4 + 320)}, 10 * 640, 3, 4800});
    CHECK(label(make(Scheme::mlx_affine, 4, 64)) == "mlx 4-bit g64");
}

TEST_CASE("A format of fewer bits never stores more", "[formats][property]") {
    for (const std::int64_t cols : {64, 128, 4096, 11008}) {
        const std::int64_t bf16 = stored(plain(DType::bf16), 512, cols).bytes.count();
        for (const Scheme scheme : {Scheme::fp8_channel, Scheme::int8_channel, Scheme::mxfp8})
            CHECK(stored(make(scheme, 8, scheme == Scheme::mxfp8 ? 32 : 0), 512, cols).bytes.count() < bf16);
        std::int64_t last = 0;
        for (const int bits : {2, 3, 4, 6, 8}) {
            const std::int64_t size = stored(make(Scheme::mlx_affine, bits, 64), 512, cols).bytes.count();
            CHECK(size > last);
            CHECK(size < bf16);
            last = size;
        }
    }
}
