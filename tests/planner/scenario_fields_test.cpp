#include <set>

#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {
std::optional<ParseFailure> set(Scenario& scenario, std::string_view name, std::string_view text) {
    const FieldSpec* field = find_field(name);
    REQUIRE(field != nullptr);
    return set_field(scenario, *field, text, "flag");
}
}  // namespace

TEST_CASE("No two fields share a name or a flag", "[fields]") {
    std::set<std::string> seen;
    for (const FieldSpec& field : scenario_fields()) {
        CAPTURE(std::string(field.name));
        CHECK_FALSE(field.flags.empty());
        CHECK_FALSE(field.help.empty());
        std::set<std::string> own{std::string(field.name)};
        for (const std::string_view flag : field.flags) own.insert(std::string(flag));
        for (const std::string& name : own) CHECK(seen.insert(name).second);
    }
}

TEST_CASE("A field is found by its name and by any of its flags", "[fields]") {
    CHECK(find_field("tp_size") == find_field("--tp"));
    CHECK(find_field("--tensor-parallel-size") == find_field("tp_size"));
    CHECK(find_field("--max-model-len") == find_field("context_length"));
    CHECK(find_field("no_such_field") == nullptr);
}

TEST_CASE("A value that cannot be used leaves the scenario as it was", "[fields]") {
    Scenario scenario;
    REQUIRE_FALSE(set(scenario, "tp_size", "8"));
    CHECK(set(scenario, "tp_size", "0"));
    CHECK(set(scenario, "tp_size", "-4"));
    CHECK(set(scenario, "tp_size", "4294967297"));
    CHECK(set(scenario, "tp_size", "8.5"));
    CHECK(scenario.engine.tp == 8);
    CHECK(set(scenario, "mem_fraction_static", "1.2"));
    CHECK(set(scenario, "mem_fraction_static", "0"));
    CHECK(set(scenario, "mem_fraction_static", "nan"));
    CHECK_FALSE(scenario.engine.mem_fraction_static);
    const auto failure = set(scenario, "gpu_memory", "80G");
    REQUIRE(failure);
    CHECK(failure->hint == "write 80GiB (power of 2) or 80GB (power of 10)");
}

TEST_CASE("hicache_size is decimal GB per rank, and a unit is converted and said", "[fields][hicache]") {
    Scenario scenario;
    REQUIRE_FALSE(set(scenario, "hicache_size", "300"));
    CHECK(scenario.engine.hicache.size_gb == 300);
    CHECK(scenario.origin.at("hicache_size") == "flag");
    // 300 GiB = 322.12 GB: the flag takes whole GB, so 322
    REQUIRE_FALSE(set(scenario, "hicache_size", "300GiB"));
    CHECK(scenario.engine.hicache.size_gb == 322);
    CHECK(scenario.origin.at("hicache_size") == "flag, 300GiB converted to 322");
    CHECK(set(scenario, "hicache_size", "1.5"));
    REQUIRE_FALSE(set(scenario, "hicache_size", "0"));
    CHECK_FALSE(scenario.engine.hicache.size_gb);
}

TEST_CASE("Lengths are a number, mean:p95, or a distribution", "[fields][workload]") {
    Scenario scenario;
    REQUIRE_FALSE(set(scenario, "output_tokens", "3500:8000"));
    CHECK(scenario.workload.output_tokens == 3500.0);
    CHECK(scenario.workload.output_p95 == 8000.0);
    REQUIRE_FALSE(set(scenario, "output_tokens", "lognormal:3500:2.0"));
    CHECK(scenario.workload.output_cv2 == 2.0);
    CHECK_FALSE(scenario.workload.output_p95);
    REQUIRE_FALSE(set(scenario, "output_tokens", "exp:3500"));
    CHECK(scenario.workload.output_cv2 == 1.0);
    CHECK(set(scenario, "output_tokens", "3500:100"));
    CHECK(set(scenario, "output_tokens", "-5"));
    CHECK(scenario.workload.output_tokens == 3500.0);
}

TEST_CASE("Every value reads back as it was written", "[fields]") {
    Scenario scenario;
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{{"host_ram", "449GB"}, {"gpu_memory", "97887MiB"}, {"mem_fraction_static", "0.85"}, {"engine", "sglang@0.5.6"}, {"kv_cache_dtype", "fp8_e4m3"}, {"enable_dp_attention", "true"}, {"cgroup_limit", "12345B"}}) {
        CAPTURE(name);
        REQUIRE_FALSE(set(scenario, name, text));
        CHECK(text_of(find_field(name)->get(scenario)) == text);
    }
    REQUIRE_FALSE(set(scenario, "kv_cache_dtype", "fp8"));
    CHECK(scenario.engine.kv_cache_dtype == "fp8_e4m3");
}

TEST_CASE("A scenario file tells all its faults at once", "[fields][scenario-file]") {
    Scenario scenario;
    Diagnostics diagnostics;
    CHECK_FALSE(read_scenario(R"({"model": "kimi-k2.5", "tp_sise": 8, "tp_size": 0, "gpu_memory": "80G", "host_ram": "449GB", "nodes": [1]})", "s.json", scenario, diagnostics));
    CHECK(diagnostics.error_count() == 4);
    CHECK(scenario.model_name == "kimi-k2.5");
    CHECK(scenario.hardware.host.ram == Bytes{449'000'000'000});
    bool suggests = false;
    for (const Diagnostic& diagnostic : diagnostics.items()) suggests = suggests || diagnostic.hint.find("tp_size") != std::string::npos;
    CHECK(suggests);
}

TEST_CASE("A scenario as it stands in a plan's JSON can be read back", "[fields][scenario-file]") {
    Scenario scenario;
    Diagnostics diagnostics;
    REQUIRE(read_scenario(R"({"tp_size": {"value": 8, "from": "flag"}, "nodes": {"value": null, "from": "default"}, "mem_fraction_static": 0.85, "enable_dp_attention": true})", "s.json", scenario, diagnostics));
    CHECK(scenario.engine.tp == 8);
    CHECK_FALSE(scenario.hardware.nodes);
    CHECK(scenario.engine.mem_fraction_static->value == 0.85);
    CHECK(scenario.engine.enable_dp_attention);
}
