// docs/engines.md and docs/method.md hold tables of the registry; `explain` answers from the same one.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "models/hardware/gpu_catalogue.hpp"
#include "planner/engines/engine.hpp"
#include "planner/explain/explain.hpp"
#include "planner/export/finding_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scenarios.hpp"
#include "units/format.hpp"

namespace kvplan {
namespace {

const Engine& engine_named(EngineKind kind) {
    EngineOptions options;
    options.kind = kind;
    return engine_of(options);
}

std::string rules_table() {
    std::string text;
    for (const EngineKind kind : {EngineKind::sglang, EngineKind::vllm}) {
        text += std::string("\n## ") + (kind == EngineKind::sglang ? "SGLang" : "vLLM") + "\n\n| rule | since | engine's file | what it says |\n|---|---|---|---|\n";
        for (const EngineRule& rule : engine_named(kind).rules())
            text += "| `" + std::string(rule.id) + "` | " + std::string(rule.since) + " | `" + std::string(rule.file) + "` | " + std::string(rule.note) + " |\n";
    }
    return text + "\n";
}

std::string without_braces(std::string_view formula) {
    std::string text;
    for (const char c : formula)
        if (c == '{' || c == '}') text += '`';
        else text += c == '|' ? '/' : c;
    return text;
}

std::string fields_table() {
    std::string text = "\n| field | meaning | SGLang | vLLM | source |\n|---|---|---|---|---|\n";
    for (const FieldRule& rule : field_rules())
        text += "| `" + std::string(rule.field) + "` | " + std::string(rule.meaning) + " | " + without_braces(rule.sglang) + " | " + (rule.vllm.empty() ? "the same" : without_braces(rule.vllm)) + " | " +
                std::string(rule.source) + " |\n";
    return text + "\n";
}

/// A `{name}` of a sentence is where a plan puts its number.
std::string with_marks(std::string_view sentence) {
    std::string text;
    for (const char c : sentence) {
        if (c == '{') text += "‹";
        else if (c == '}') text += "›";
        else if (c == '|') text += "\\|";
        else text += c;
    }
    return text;
}

std::string findings_table() {
    std::vector<exporting::FindingTemplate> all = exporting::finding_templates();
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.code < b.code; });
    std::string text = "\n| code | what it means | what a plan says | what to do |\n|---|---|---|---|\n";
    for (const exporting::FindingTemplate& t : all)
        text += "| `" + std::string(t.code) + "` | " + with_marks(t.meaning) + " | " + with_marks(t.message) + " | " + (t.remedy.empty() ? "nothing needs doing" : with_marks(t.remedy)) + " |\n";
    return text + "\n";
}

std::string gigabytes_text(const std::optional<Fact<Bytes>>& fact) { return fact ? fixed(in_gib(fact->value), 1) + " GiB" : ""; }
std::string tera(const std::optional<Fact<Flops>>& fact) { return fact ? fixed(fact->value.value / 1e12, 0) : "-"; }

std::string hardware_table() {
    Diagnostics diagnostics;
    const GpuCatalogue catalogue = GpuCatalogue::load(std::nullopt, diagnostics);
    std::string text = "\n| GPU | memory a driver shows | memory a process sees | bandwidth, TB/s | dense bf16 / fp8 / fp4, TFLOPS | GPUs a node |\n|---|---:|---:|---:|---:|---:|\n";
    for (const GpuSpec& gpu : catalogue.all())
        text += "| " + gpu.name + " | " + gigabytes_text(gpu.visible_memory) + " | " + gigabytes_text(gpu.process_memory) + " | " + fixed(gpu.memory_bandwidth.value.value / 1e12, 2) + " | " +
                tera(gpu.dense.half()) + " / " + tera(gpu.dense.fp8) + " / " + tera(gpu.dense.fp4) + " | " + std::to_string(gpu.gpus_per_node) + " |\n";
    return text + "\n";
}

/// Compares the part of a document between two marks, or writes it when KVPLAN_WRITE_DOCS is set.
void check_part(const std::string& name, const std::string& mark, const std::string& made) {
    const std::string path = std::string(KVPLAN_SOURCE_DIR) + "/docs/" + name;
    std::ifstream in(path, std::ios::binary);
    std::ostringstream read;
    read << in.rdbuf();
    const std::string document = read.str(), begin = "<!-- " + mark + ": made by the test of documents -->\n", end = "<!-- end of " + mark + " -->\n";
    const std::size_t from = document.find(begin), to = document.find(end);
    REQUIRE(from != std::string::npos);
    REQUIRE(to != std::string::npos);
    if (std::getenv("KVPLAN_WRITE_DOCS") != nullptr) {
        std::ofstream(path, std::ios::binary) << document.substr(0, from + begin.size()) + made + document.substr(to);
        return;
    }
    INFO("run this test with KVPLAN_WRITE_DOCS=1 to write the table anew");
    CHECK(document.substr(from + begin.size(), to - from - begin.size()) == made);
}

TEST_CASE("docs/engines.md lists the rules of the registry", "[docs][engines]") { check_part("engines.md", "rules", rules_table()); }
TEST_CASE("docs/method.md lists the fields that can be explained", "[docs][explain]") { check_part("method.md", "fields", fields_table()); }

TEST_CASE("docs/findings.md lists every code", "[docs][findings]") { check_part("findings.md", "findings", findings_table()); }
TEST_CASE("docs/hardware.md lists the GPU catalogue", "[docs][hardware]") { check_part("hardware.md", "GPUs", hardware_table()); }

TEST_CASE("Every source of a field is a rule of an engine or a document that exists", "[explain]") {
    std::set<std::string_view> ids;
    for (const EngineKind kind : {EngineKind::sglang, EngineKind::vllm})
        for (const EngineRule& rule : engine_named(kind).rules()) CHECK(ids.insert(rule.id).second);
    for (const FieldRule& rule : field_rules()) {
        std::istringstream sources{std::string(rule.source)};
        std::string source;
        std::size_t count = 0;
        while (sources >> source) {
            ++count;
            INFO(rule.field << ": " << source);
            if (source.find('/') == std::string::npos) CHECK(ids.count(source) == 1);
            else CHECK(std::ifstream(std::string(KVPLAN_SOURCE_DIR) + "/" + source).good());
        }
        CHECK(count > 0);
    }
}

Scenario llama_on_h200() {
    LlmSpec spec = testing::llama_70b();
    spec.name = "llama";
    Scenario s = testing::scenario_of(std::move(spec), 8, "2025-10-16");
    s.hardware.gpu_free = testing::gib(137.29);
    s.weights_per_gpu = testing::gib(16.43);
    s.engine.mem_fraction_static = FreeMemoryFraction{0.897};
    return s;
}

TEST_CASE("An explanation puts the plan's numbers into the formula", "[explain]") {
    // 137.29 GiB = 147,414,014,977 B; x 0.897 - 16.43 GiB over 40,960 B a token -> 2,797,577 tokens.
    const Scenario s = llama_on_h200();
    const Plan p = plan(s);
    const auto answer = explain("capacity.max_total_num_tokens", &s, &p);
    REQUIRE(answer);
    CHECK(answer->value.find("2,797,577") == 0);
    CHECK(answer->with_numbers.find("137.29 GiB") != std::string::npos);
    CHECK(answer->with_numbers.find("0.897") != std::string::npos);
    CHECK(answer->with_numbers.find("40,960") != std::string::npos);
    CHECK(answer->inputs.size() == 6);
    REQUIRE_FALSE(answer->sources.empty());
    CHECK(answer->sources.front().find("sglang.budget") == 0);
}

TEST_CASE("Every field with a rule is a field of a plan, and every name in a formula too", "[explain]") {
    Scenario s = llama_on_h200();
    s.hardware.host.available = gigabytes(900);
    s.engine.hicache.enabled = true;
    s.engine.hicache.size_gb = 50;
    const Plan p = plan(s);
    for (const FieldRule& rule : field_rules()) {
        INFO(rule.field);
        const auto answer = explain(rule.field, &s, &p);
        REQUIRE(answer);
        CHECK_FALSE(answer->meaning.empty());
        CHECK_FALSE(answer->formula.empty());
        CHECK_FALSE(answer->value.empty());
        for (const ExplainedInput& input : answer->inputs) CHECK_FALSE(input.value.empty());
        // A name that is no field would stand in the formula unfilled.
        if (!answer->with_numbers.empty()) CHECK(answer->with_numbers.find("gpu.") == std::string::npos);
    }
}

TEST_CASE("Codes are explained, and unknown names are not", "[explain]") {
    const auto code = explain("vllm_request_does_not_fit", nullptr, nullptr);
    REQUIRE(code);
    CHECK(code->formula.find("{context}") != std::string::npos);
    CHECK_FALSE(explain("gpu.nothing", nullptr, nullptr));
    CHECK_FALSE(explain("", nullptr, nullptr));
    // A field without a rule has its value when there is a plan.
    const Scenario s = llama_on_h200();
    const Plan p = plan(s);
    CHECK(explain("host.ranks_per_node", &s, &p));
    CHECK_FALSE(explain("host.ranks_per_node", nullptr, nullptr));
}

}  // namespace
}  // namespace kvplan
