#include "planner/weights.hpp"

#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

WeightRules tensor_parallel(std::int64_t tp) {
    WeightRules rules;
    rules.attention_tp = rules.dense_tp = rules.moe_tp = rules.shared_tp = rules.vocab_tp = rules.head_tp = tp;
    return rules;
}

StorageFormat fp8_block() {
    StorageFormat format;
    format.scheme = Scheme::fp8_block;
    format.element = DType::f8_e4m3;
    format.scale = DType::f32;
    format.block_rows = format.block_cols = 128;
    format.bits = 8;
    return format;
}

WeightMatrix matrix(Component component, std::int64_t rows, std::int64_t cols, Sharding sharding, std::int64_t units = 0) {
    WeightMatrix m;
    m.component = component;
    m.rows = rows;
    m.cols = cols;
    m.sharding = sharding;
    m.units = units;
    m.format = plain(DType::bf16);
    return m;
}

}  // namespace

TEST_CASE("MLA's a-projection is whole on every rank and q_b is split by heads", "[weights][mla]") {
    // DeepSeek-V3: fused a-projection 7168 x 2112 in fp8 = 15,138,816 B and ceil(2112/128) x ceil(7168/128) x 4 = 17 x 56 x 4 B of scales
    WeightMatrix a = matrix(Component::attention, 2112, 7168, Sharding::replicated);
    a.format = fp8_block();
    CHECK(bytes_per_rank(a, tensor_parallel(8)) == Bytes{15'138'816 + 17 * 56 * 4});
    CHECK(bytes_per_rank(a, tensor_parallel(1)) == bytes_per_rank(a, tensor_parallel(8)));
    // q_b: 128 heads x 192 over 8 ranks = 3072 rows x 1536, and 24 x 12 scales
    WeightMatrix q_b = matrix(Component::attention, 128 * 192, 1536, Sharding::query_heads, 128);
    q_b.format = fp8_block();
    CHECK(bytes_per_rank(q_b, tensor_parallel(8)) == Bytes{3072 * 1536 + 24 * 12 * 4});
}

TEST_CASE("With more ranks than KV heads each rank keeps one whole head", "[weights][gqa]") {
    // 4 KV heads x 128 x hidden 4096 in 16 bits: at tp 8 a rank has one head of 128 rows, as at tp 4
    const WeightMatrix k = matrix(Component::attention, 4 * 128, 4096, Sharding::kv_heads, 4);
    CHECK(bytes_per_rank(k, tensor_parallel(8)) == Bytes{128 * 4096 * 2});
    CHECK(bytes_per_rank(k, tensor_parallel(4)) == Bytes{128 * 4096 * 2});
    CHECK(bytes_per_rank(k, tensor_parallel(2)) == Bytes{256 * 4096 * 2});
}

TEST_CASE("The vocabulary is padded to 64 before it is split", "[weights]") {
    // 151,665 -> 151,680 = 2,370 x 64; over 8 ranks 18,960 rows x 5120 x 2
    const WeightMatrix embedding = matrix(Component::embedding, 151'665, 5120, Sharding::vocab);
    CHECK(bytes_per_rank(embedding, tensor_parallel(8)) == Bytes{std::int64_t{18'960} * 5120 * 2});
}

TEST_CASE("Experts are dealt over ep and cut inside by moe_tp, redundant copies included", "[weights][moe]") {
    WeightMatrix gate = matrix(Component::experts, 2048, 7168, Sharding::expert);
    gate.count = 256;
    gate.inside_expert = Sharding::column;
    // moe_tp 8: 256 experts x 256 rows
    CHECK(bytes_per_rank(gate, tensor_parallel(8)) == Bytes{std::int64_t{256} * 256 * 7168 * 2});
    WeightRules ep = tensor_parallel(8);
    ep.moe_tp = 1;
    ep.ep = 8;
    CHECK(bytes_per_rank(gate, ep) == Bytes{std::int64_t{32} * 2048 * 7168 * 2});
    // 32 redundant experts: 288 / 8 = 36
    ep.redundant_experts = 32;
    CHECK(bytes_per_rank(gate, ep) == Bytes{std::int64_t{36} * 2048 * 7168 * 2});
}

TEST_CASE("A bias of a column-parallel matrix is split with its rows, of a row-parallel one kept whole", "[weights]") {
    WeightMatrix up = matrix(Component::dense_mlp, 1024, 512, Sharding::column);
    up.bias = true;
    CHECK(bytes_per_rank(up, tensor_parallel(4)) == Bytes{256 * 512 * 2 + 256 * 2});
    WeightMatrix down = matrix(Component::dense_mlp, 512, 1024, Sharding::row);
    down.bias = true;
    CHECK(bytes_per_rank(down, tensor_parallel(4)) == Bytes{512 * 256 * 2 + 512 * 2});
}

TEST_CASE("More ranks never mean more bytes of a matrix on one of them", "[weights][property]") {
    for (const Sharding sharding : {Sharding::replicated, Sharding::column, Sharding::row, Sharding::kv_heads, Sharding::vocab}) {
        WeightMatrix m = matrix(Component::attention, 1024, 4096, sharding, 8);
        m.format = fp8_block();
        Bytes before = bytes_per_rank(m, tensor_parallel(1));
        for (const std::int64_t tp : {2, 4, 8, 16}) {
            const Bytes now = bytes_per_rank(m, tensor_parallel(tp));
            CHECK(now <= before);
            CHECK(now * tp >= bytes_per_rank(m, tensor_parallel(1)));
            before = now;
        }
    }
}
