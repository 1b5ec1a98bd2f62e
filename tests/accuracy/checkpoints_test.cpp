// The project's own facts: published sizes against presets, and the table in docs/accuracy.md made of them.

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "models/llm/catalogue.hpp"
#include "tests/accuracy/checkpoint_facts.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::accuracy;

namespace {

const std::string kSource = KVPLAN_SOURCE_DIR;
const std::string kDocument = kSource + "/docs/accuracy.md";
constexpr const char* kBegin = "<!-- checkpoints: made by the accuracy test -->\n";
constexpr const char* kEnd = "<!-- end of checkpoints -->\n";

struct Table {
    std::vector<CheckpointFact> facts;
    std::vector<CheckpointComparison> computed;
};

const Table& table() {
    static const Table made = [] {
        Table result;
        result.facts = own_facts(kSource + "/tests/accuracy/data/checkpoints.json");
        for (const CheckpointFact& fact : result.facts) {
            Diagnostics diagnostics;
            const auto spec = find_model(fact.described_by, fact.options, std::nullopt, diagnostics);
            INFO(fact.model << "\n" << render(diagnostics));
            REQUIRE(spec);
            result.computed.push_back(compare(fact, *spec));
        }
        return result;
    }();
    return made;
}

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("Published element counts come out of the presets within 0.1 %", "[accuracy][checkpoints]") {
    const auto& [facts, computed] = table();
    CHECK(facts.size() >= 100);
    for (std::size_t i = 0; i < facts.size(); ++i) {
        INFO(facts[i].model << " by " << facts[i].described_by << ": " << computed[i].elements << " of " << facts[i].elements.value_or(0));
        CHECK(facts[i].source.size() > 20);
        CHECK(std::fabs(computed[i].elements_error(facts[i])) <= 0.001);
        if (facts[i].elements && !computed[i].packed)
            CHECK(std::fabs(static_cast<double>(computed[i].total_params - *facts[i].elements)) <= 0.001 * static_cast<double>(*facts[i].elements));
    }
}

TEST_CASE("Published checkpoint bytes come out of the presets within 0.5 %", "[accuracy][checkpoints]") {
    const auto& [facts, computed] = table();
    for (std::size_t i = 0; i < facts.size(); ++i) {
        INFO(facts[i].model << ": " << computed[i].bytes << " of " << facts[i].bytes.value_or(0));
        CHECK(std::fabs(computed[i].bytes_error(facts[i])) <= 0.005);
    }
}

TEST_CASE("Published active parameters come out of the presets within 5 % of their digits", "[accuracy][checkpoints]") {
    const auto& [facts, computed] = table();
    for (std::size_t i = 0; i < facts.size(); ++i) {
        INFO(facts[i].model << ": " << computed[i].active << " of " << facts[i].active.value_or(0));
        CHECK(computed[i].active_excess(facts[i]) <= 0.05);
    }
}

// KVPLAN_WRITE_ACCURACY=1 writes the table anew.
TEST_CASE("The table in docs/accuracy.md is the one computed", "[accuracy][checkpoints][docs]") {
    const std::string document = read(kDocument);
    const std::size_t begin = document.find(kBegin);
    const std::size_t end = document.find(kEnd);
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    const std::size_t from = begin + std::string(kBegin).size();
    const std::string made = markdown_table(table().facts, table().computed);
    if (std::getenv("KVPLAN_WRITE_ACCURACY") != nullptr) {
        std::ofstream(kDocument, std::ios::binary) << document.substr(0, from) + made + document.substr(end);
        return;
    }
    INFO("run this test with KVPLAN_WRITE_ACCURACY=1 to write the table anew");
    CHECK(document.substr(from, end - from) == made);
}
