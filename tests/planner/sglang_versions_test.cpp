#include "planner/engines/sglang/versions.hpp"

#include <set>

#include "planner/engines/sglang/rules.hpp"
#include "tests/support/catch.hpp"

namespace kvplan {
namespace {

using namespace sglang;

int date_of(std::string_view text) { return find_version(text).date.yyyymmdd; }

TEST_CASE("The date alone is that of the whole version", "[sglang][versions]") {
    for (const char* text : {"", "main", "latest", "0.5.3", "v0.5.6.post2", "0.5.2rc2", "0.5.3.dev4", "0.5.11", "0.4.1", "0.9.0", "2026-08-22", "2026-06", "2020-01-01", "2099-01", "v0.5.6-cu129", "0.5.6+g1234", "nonsense", "1.2.3", "0.5"}) {
        CAPTURE(text);
        EngineOptions options;
        options.version_text = text;
        CHECK(rule_date(options) == find_version(text).date);
    }
}

TEST_CASE("A version text selects the rules of a day", "[sglang][versions]") {
    CHECK(date_of("0.5.3") == 20251006);
    CHECK(date_of("v0.5.6.post2") == 20251211);
    CHECK(date_of("2026-08-22") == 20260822);
    CHECK(date_of("2026-06") == 20260615);
    CHECK(find_version("").match == VersionMatch::newest);
    CHECK(find_version("main").date == changes().back().from);
    // Image tags and local versions carry a suffix.
    CHECK(date_of("v0.5.6-cu129") == 20251203);
    CHECK(date_of("0.5.6+g1234") == 20251203);
}

TEST_CASE("A candidate is older than its release", "[sglang][versions]") {
    CHECK(find_version("0.5.3rc0").date < find_version("0.5.3").date);
    // v0.5.2rc2 logs show the reserve by class, which v0.5.3 replaced.
    CHECK(in_force(Change::fraction_by_class, find_version("0.5.2rc2").date));
}

TEST_CASE("Releases between those of the table lie between their days", "[sglang][versions]") {
    const Version v = find_version("0.5.11");
    CHECK(v.match == VersionMatch::between);
    CHECK(v.nearest == std::vector<std::string>{"v0.5.10", "v0.5.12"});
    // Half way from 2026-04-05 to 2026-05-16 (41 days): 20 days on.
    CHECK(v.date.yyyymmdd == 20260425);
    int last = 0;
    for (const char* text : {"0.4.6", "0.4.8", "0.4.9.post1", "0.4.9.post2", "0.4.10", "0.5.0", "0.5.1", "0.5.2", "0.5.3", "0.5.4", "0.5.4.post1",
                             "0.5.5", "0.5.6", "0.5.6.post1", "0.5.7", "0.5.8", "0.5.10", "0.5.11", "0.5.13", "0.5.15", "0.5.16", "0.5.17", "0.5.19"}) {
        INFO(text);
        CHECK(date_of(text) >= last);
        last = date_of(text);
    }
}

TEST_CASE("Versions outside the table say so", "[sglang][versions]") {
    CHECK(find_version("0.9.0").match == VersionMatch::after_table);
    CHECK(find_version("0.9.0").date == changes().back().from);
    CHECK(find_version("0.3.2").match == VersionMatch::before_table);
    for (const char* text : {"five", "0.5", "0.5.x", "2026-13-01", "2026-00", "1.2.3", "0.5.6.postX", "2026-08-22x", "0.99999999.1"}) {
        INFO(text);
        CHECK(find_version(text).match == VersionMatch::unreadable);
    }
}

TEST_CASE("Days before the first release and after the newest rule say so, and select the ends", "[sglang][versions]") {
    CHECK(find_version("2023-01-01").match == VersionMatch::before_table);
    CHECK(find_version("2099-01-01").match == VersionMatch::after_table);
    CHECK(find_version("2026-01-01").match == VersionMatch::date);
}

TEST_CASE("Changes are sorted, and in force from their day on", "[sglang][versions]") {
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < changes().size(); ++i) {
        const ChangeRule& rule = changes()[i];
        INFO(rule.id);
        if (i > 0) CHECK(changes()[i - 1].from <= rule.from);
        CHECK(ids.insert(rule.id).second);
        CHECK(!rule.note.empty());
        CHECK(!rule.file.empty());
        CHECK(in_force(rule.change, rule.from));
        CHECK_FALSE(in_force(rule.change, RuleDate{rule.from.yyyymmdd - 1}));
        if (rule.until.yyyymmdd != 0) CHECK_FALSE(in_force(rule.change, rule.until));
    }
}

TEST_CASE("Every rule of the registry names its file and since when", "[sglang][versions]") {
    std::set<std::string_view> ids;
    for (const EngineRule& rule : rules()) {
        INFO(rule.id);
        CHECK(ids.insert(rule.id).second);
        CHECK_FALSE(rule.since.empty());
        CHECK(rule.file.find(".py") != std::string_view::npos);
        CHECK(rule.note.size() > 10);
    }
    CHECK(ids.size() > changes().size());
}

}  // namespace
}  // namespace kvplan
