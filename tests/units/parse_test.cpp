#include "tests/support/catch.hpp"
#include "units/format.hpp"
#include "units/parse.hpp"

using namespace kvplan;

namespace {
std::int64_t bytes_of(std::string_view text) {
    const auto parsed = parse_size(text);
    REQUIRE(parse_ok(parsed));
    return std::get<Bytes>(parsed).count();
}
std::string hint_of(std::string_view text) {
    const auto parsed = parse_size(text);
    REQUIRE_FALSE(parse_ok(parsed));
    return std::get<ParseFailure>(parsed).hint;
}
}  // namespace

TEST_CASE("GB is ten to the ninth and GiB two to the thirtieth", "[parse]") {
    CHECK(bytes_of("449GB") == 449'000'000'000);
    CHECK(bytes_of("449GiB") == 482'110'078'976);
    CHECK(bytes_of("97887MiB") == 102'641'958'912);
    CHECK(bytes_of("1.5 TB") == 1'500'000'000'000);
    CHECK(bytes_of("70272B") == 70'272);
    CHECK(bytes_of("449gib") == 482'110'078'976);
    CHECK(bytes_of("0GB") == 0);
}

TEST_CASE("A size without a whole unit is refused with both readings", "[parse]") {
    CHECK(hint_of("80G") == "write 80GiB (power of 2) or 80GB (power of 10)");
    CHECK(hint_of("80") == "write 80GiB (power of 2) or 80GB (power of 10)");
    CHECK(hint_of("512m") == "write 512MiB (power of 2) or 512MB (power of 10)");
    CHECK_FALSE(parse_ok(parse_size("")));
    CHECK_FALSE(parse_ok(parse_size("GB")));
    CHECK_FALSE(parse_ok(parse_size("-1GB")));
    CHECK_FALSE(parse_ok(parse_size("nanGB")));
    CHECK_FALSE(parse_ok(parse_size("9999999999999TB")));
    CHECK_FALSE(parse_ok(parse_size("1,5,GB")));
}

TEST_CASE("An engine's own flag takes the bare number in the engine's unit", "[parse]") {
    const auto bare = parse_engine_size("300", kGB);
    REQUIRE(parse_ok(bare));
    CHECK(std::get<EngineSize>(bare).bytes == Bytes{300'000'000'000});
    CHECK_FALSE(std::get<EngineSize>(bare).had_unit);
    const auto with_unit = parse_engine_size("300GiB", kGB);
    REQUIRE(parse_ok(with_unit));
    CHECK(std::get<EngineSize>(with_unit).bytes == Bytes{322'122'547'200});
    CHECK(std::get<EngineSize>(with_unit).had_unit);
}

TEST_CASE("Whole numbers take separators but no fractions", "[parse]") {
    CHECK(std::get<std::int64_t>(parse_integer("116,000")) == 116'000);
    CHECK(std::get<std::int64_t>(parse_integer("1_000_000")) == 1'000'000);
    CHECK_FALSE(parse_ok(parse_integer("80.7")));
    CHECK_FALSE(parse_ok(parse_integer("99999999999999999999")));
    CHECK_FALSE(parse_ok(parse_integer("")));
    CHECK_FALSE(parse_ok(parse_real("inf")));
    CHECK(std::get<double>(parse_duration_seconds("50ms")) == Approx(0.05));
    CHECK_FALSE(parse_ok(parse_duration_seconds("50")));
}

TEST_CASE("Figures look the same everywhere", "[format]") {
    CHECK(with_commas(-1'234'567) == "-1,234,567");
    CHECK(with_commas(999) == "999");
    CHECK(fixed(15955.85, 2) == "15,955.85");
    CHECK(shortest(66355.2) == "66,355.2");
    CHECK(shortest(70272.0) == "70,272");
    CHECK(binary_size(Bytes{76'308'414'464}) == "71.07 GiB");
    CHECK(decimal_size(Bytes{317'262'581'760}) == "317.26 GB");
    CHECK(binary_size(Bytes{512}) == "512 B");
    CHECK(binary_size(Bytes{-kGiB}) == "-1.00 GiB");
    CHECK(percent(0.853) == "85.3 %");
    CHECK(duration(75) == "1 min 15 s");
    CHECK(duration(0.0042) == "4.2 ms");
}
