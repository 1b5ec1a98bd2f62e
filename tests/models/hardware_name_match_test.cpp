#include "models/hardware/name_match.hpp"

#include <vector>

#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

const std::vector<NameEntry> kCards{
    {"H100 SXM", {"h100-sxm5-80gb"}, {"h100"}, {"80gb"}},
    {"H100 PCIe", {}, {}, {"80gb"}},
    {"RTX 6000 Ada", {}, {}, {"48gb"}},
    {"RTX PRO 6000 Blackwell Server", {"rtx-pro-6000-blackwell-server-edition"}, {"rtx-pro-6000-blackwell"}, {"96gb"}},
    {"MI300X", {"instinct-mi300x"}, {}, {"192gb"}},
};

std::string matched(std::string_view asked) {
    const NameMatch match = match_name(asked, kCards);
    return match.found() ? kCards[match.index].name : "";
}

}  // namespace

TEST_CASE("Names match without regard to case and punctuation", "[hardware][names]") {
    for (const char* asked : {"H100 SXM", "h100_sxm", "H100-SXM", "h100sxm", "NVIDIA H100 SXM", "H100-SXM5-80GB"}) {
        INFO(asked);
        const NameMatch match = match_name(asked, kCards);
        CHECK(match.kind == MatchKind::exact);
        CHECK(match.index == 0);
    }
    CHECK(matched("AMD Instinct MI300X") == "MI300X");
}

TEST_CASE("A short name that several share is taken as the common part, and the others are named",
          "[hardware][names]") {
    const NameMatch match = match_name("h100", kCards);
    CHECK(match.kind == MatchKind::common_part);
    CHECK(kCards[match.index].name == "H100 SXM");
    CHECK(match.others == std::vector<std::string>{"H100 PCIe"});
}

TEST_CASE("Words after a name are passed over only when they change nothing", "[hardware][names]") {
    CHECK(matched("H100 80GB HBM3") == "H100 SXM");
    CHECK(matched("NVIDIA RTX PRO 6000 Blackwell Server Edition 96GB") == "RTX PRO 6000 Blackwell Server");
    CHECK(matched("H100 96GB") == "");
    CHECK(matched("H100 SXM 64GB") == "");
    CHECK(matched("MI300X rack") == "");
}

TEST_CASE("A beginning that only one name has is enough, one that several have is ambiguous", "[hardware][names]") {
    CHECK(match_name("mi300", kCards).kind == MatchKind::partial);
    const NameMatch match = match_name("rtx", kCards);
    CHECK(match.kind == MatchKind::ambiguous);
    CHECK(match.others == std::vector<std::string>{"RTX 6000 Ada", "RTX PRO 6000 Blackwell Server"});
}

TEST_CASE("An unknown name comes back with the nearest ones", "[hardware][names]") {
    const NameMatch match = match_name("h10o", kCards);
    CHECK(match.kind == MatchKind::unknown);
    REQUIRE_FALSE(match.others.empty());
    CHECK(match.others.front() == "H100 SXM");
    CHECK(match_name("", kCards).kind == MatchKind::unknown);
    CHECK(match_name("---", kCards).kind == MatchKind::unknown);
    CHECK(match_name("nvidia", kCards).kind == MatchKind::unknown);
}
