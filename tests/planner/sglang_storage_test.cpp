// The third tier behind HiCache, by hand.
#include "planner/engines/sglang/storage.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::sglang;

namespace {

Scenario with_backend(std::string backend, std::string extra, std::string version = "0.5.6") {
    Scenario s;
    s.engine.tp = 8;
    s.engine.version_text = std::move(version);
    s.engine.hicache.enabled = true;
    s.engine.hicache.storage_backend = std::move(backend);
    s.engine.hicache.storage_backend_extra_config = std::move(extra);
    return s;
}

constexpr Bytes kGib8 = gibibytes(8), kBuffers{8 * 16'000'000};

}  // namespace

TEST_CASE("Sizes of a segment count in units of 1024", "[sglang][storage]") {
    CHECK(segment_size("4gb") == gibibytes(4));
    CHECK(segment_size("4 GB") == gibibytes(4));
    CHECK(segment_size("512m") == Bytes{512 * kMiB});
    CHECK(segment_size("1.5g") == Bytes{3 * kGiB / 2});
    CHECK(segment_size("1024") == Bytes{1024});
    for (const char* text : {"", "gb", "4xb", "-1gb", "4gbb", "1e300"}) CHECK_FALSE(segment_size(text));
}

TEST_CASE("Mooncake's segment is shared by the ranks, with a buffer each", "[sglang][storage]") {
    const auto taken = [](const Scenario& s) { return storage_tier(s, 70'272, 64, true)->host_bytes_per_node; };
    CHECK(taken(with_backend("mooncake", R"({"global_segment_size": "8gb"})")) == kGib8 + kBuffers);
    CHECK(taken(with_backend("mooncake", R"({"global_segment_size": 8589934592})")) == kGib8 + kBuffers);
    CHECK(taken(with_backend("mooncake", "")) == gibibytes(4) + kBuffers);
    CHECK(taken(with_backend("mooncake", R"({"global_segment_size": 0})")) == kBuffers);
    // v0.4.10 did not divide: 8 ranks of 8 GiB
    CHECK(taken(with_backend("mooncake", R"({"global_segment_size": "8gb"})", "0.5.2")) == kGib8 * 8 + kBuffers);
}

TEST_CASE("A latent is written once, other KV in a part from each rank", "[sglang][storage]") {
    // Kimi-K2, pages of 64 tokens: 64 x 70,272 = 4,497,408 B a file
    const auto latent = storage_tier(with_backend("file", ""), 70'272, 64, true);
    REQUIRE(latent);
    CHECK(latent->page_bytes == Bytes{4'497'408});
    CHECK(latent->parts == 1);
    CHECK(latent->host_bytes_per_node == Bytes{0});
    CHECK(storage_tier(with_backend("file", ""), 40'960, 64, false)->parts == 8);
    CHECK(storage_tier(with_backend("hf3fs", ""), 40'960, 64, false)->file_bytes_per_node == gibibytes(8 * 1024));
    CHECK(storage_tier(with_backend("hf3fs", ""), 70'272, 64, true)->file_bytes_per_node == gibibytes(1024));
    CHECK_FALSE(storage_tier(with_backend("", ""), 70'272, 64, true));
}

TEST_CASE("LMCache takes its size on every rank", "[sglang][storage]") {
    Scenario s = with_backend("", "");
    s.engine.hicache.enabled = false;
    s.engine.lmcache_max_local_cpu_gb = 50;
    CHECK(storage_tier(s, 0, 1, false)->host_bytes_per_node == gibibytes(400));
}
