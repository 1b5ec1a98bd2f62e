#include <cstdint>
#include <limits>

#include "tests/support/catch.hpp"
#include "units/rates.hpp"

using namespace kvplan;

TEST_CASE("Counts refuse to leave 64 bits", "[units]") {
    const Bytes most{std::numeric_limits<std::int64_t>::max()};
    CHECK_THROWS_AS(most + Bytes{1}, OverflowError);
    CHECK_THROWS_AS(most * 2, OverflowError);
    CHECK_THROWS_AS(Bytes{-2} - most, OverflowError);
    CHECK_THROWS_AS(floor_bytes(1e19), OverflowError);
    CHECK((most - Bytes{1}).count() == std::numeric_limits<std::int64_t>::max() - 1);
}

TEST_CASE("Division rounds as its name says, for negative numbers too", "[units]") {
    CHECK(floor_div(7, 2) == 3);
    CHECK(floor_div(-7, 2) == -4);
    CHECK(ceil_div(7, 2) == 4);
    CHECK(ceil_div(-7, 2) == -3);
    CHECK(floor_div(-8, 2) == -4);
    CHECK(round_up(65, 64) == 128);
    CHECK(round_up(64, 64) == 64);
    CHECK(round_down(127, 64) == 64);
}

TEST_CASE("Tokens fill whole pages", "[units]") {
    // 772,818 = 12,075 x 64 + 18
    CHECK(whole_pages(Tokens{772'818}, Tokens{64}) == Tokens{772'800});
    CHECK(whole_pages(Tokens{63}, Tokens{64}) == Tokens{0});
}

TEST_CASE("Tokens in a budget round down and bytes for tokens round up", "[units]") {
    // 50.578 GiB = 54,307,714,007 bytes (floor); / 70,272 = 772,821.2
    CHECK(tokens_in(Bytes{54'307'714'007}, BytesPerToken{70'272}) == Tokens{772'821});
    CHECK(tokens_in(Bytes{-5}, BytesPerToken{70'272}) == Tokens{0});
    CHECK(bytes_for(Tokens{3}, BytesPerToken{0.5625}) == Bytes{2});
}
