// One start of a deployment calibrates; another start of the same deployment with one setting changed is then predicted. The
// pairs are deployments of tests/data/log_facts.json that differ in one flag.
#include <cmath>
#include <map>
#include <string>

#include "planner/log/calibration.hpp"
#include "planner/log/log_reader.hpp"
#include "planner/plan.hpp"
#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_writer.hpp"

using namespace kvplan;
using namespace kvplan::logs;

namespace {

const test::LogFacts& facts_of(const std::string& id) {
    static const std::vector<test::LogFacts> all = test::load_log_facts();
    for (const test::LogFacts& facts : all)
        if (facts.id == id) return facts;
    FAIL("no facts " << id);
    return all.front();
}

struct Deployment {
    const char* model;
    const char* gpu;
    const char* engine;
    std::map<std::string, std::string> settings;
};

Scenario scenario_of(const Deployment& deployment, const std::map<std::string, std::string>& changes) {
    Scenario scenario;
    std::map<std::string, std::string> all = deployment.settings;
    all["model"] = deployment.model;
    all["gpu"] = deployment.gpu;
    all["engine"] = deployment.engine;
    for (const auto& [name, value] : changes) all[name] = value;
    for (const auto& [name, value] : all) {
        const FieldSpec* field = find_field(name);
        REQUIRE(field != nullptr);
        INFO(name << " = " << value);
        REQUIRE_FALSE(set_field(scenario, *field, value, "test").has_value());
    }
    Diagnostics diagnostics;
    const bool resolved = resolve(scenario, {}, diagnostics);
    INFO(render(diagnostics));
    REQUIRE(resolved);
    return scenario;
}

Calibration calibrated(const Deployment& deployment, const std::map<std::string, std::string>& with, const std::string& id) {
    const test::LogFacts& facts = facts_of(id);
    const test::WrittenLog log = facts.engine == "sglang" ? test::write_sglang_log(facts, 20260822, test::LogWrapping::rank_tags) : test::write_vllm_log(facts, 20260120, test::LogWrapping::rank_tags);
    const LogRecord record = read_log(log.text);
    REQUIRE(record.starts.size() == 1);
    const auto made = calibrate(scenario_of(deployment, with), observe(record.starts[0]), id);
    if (const auto* none = std::get_if<NoCalibration>(&made)) FAIL(id << ": " << none->why);
    return std::get<Calibration>(made);
}

std::int64_t predicted(const Calibration& calibration, const Deployment& deployment, const std::map<std::string, std::string>& with) {
    Scenario scenario = scenario_of(deployment, with);
    Diagnostics diagnostics;
    apply(calibration, scenario, diagnostics);
    INFO(render(diagnostics));
    REQUIRE_FALSE(diagnostics.has_errors());
    const Plan result = plan(scenario);
    CHECK(check_invariants(result).empty());
    return result.capacity.max_total_num_tokens.expected.count();
}

double tokens_of(const std::string& id) {
    const test::LogFacts& facts = facts_of(id);
    return facts.has("max_tokens") ? facts.seen.at("max_tokens") : facts.seen.at("pool_tokens");
}

using Changes = std::map<std::string, std::string>;

}  // namespace

// Every ordered pair of the rows of one deployment: calibrate on one, predict the other.
static void check_pairs(const Deployment& deployment, const std::vector<std::pair<std::string, Changes>>& rows) {
    for (const auto& [from, with] : rows) {
        const Calibration calibration = calibrated(deployment, with, from);
        CHECK(static_cast<double>(predicted(calibration, deployment, with)) == Approx(tokens_of(from)).epsilon(0.001));
        for (const auto& [to, changed] : rows) {
            if (to == from) continue;
            INFO("calibrated on " << from << ", predicting " << to << ", shift " << in_gib(calibration.rules.budget_shift) << " GiB, cell " << calibration.rules.cell_ratio);
            CHECK(static_cast<double>(predicted(calibration, deployment, changed)) == Approx(tokens_of(to)).epsilon(0.005));
        }
    }
}

TEST_CASE("another fraction, window ratio or KV type of a calibrated Gemma-4 31B is predicted within 0.5 %", "[log][calibration]") {
    const Deployment deployment{"gemma-4-31b", "rtx-3090", "sglang@2026-06-15", {{"tp_size", "2"}, {"context_length", "262144"}, {"page_size", "1"}, {"max_running_requests", "1"}, {"quantization", "int4-g128"}}};
    const std::string id = "mattb-gemma4-31b-mf";
    check_pairs(deployment, {{id + "0.85-auto-swa0.03-2x3090", {{"mem_fraction_static", "0.85"}, {"swa_full_tokens_ratio", "0.03"}}},
                             {id + "0.85-auto-swa0.1-2x3090", {{"mem_fraction_static", "0.85"}, {"swa_full_tokens_ratio", "0.1"}}},
                             {id + "0.85-auto-swa0.5-2x3090", {{"mem_fraction_static", "0.85"}, {"swa_full_tokens_ratio", "0.5"}}},
                             {id + "0.92-auto-swa0.1-2x3090", {{"mem_fraction_static", "0.92"}, {"swa_full_tokens_ratio", "0.1"}}},
                             {id + "0.92-fp8_e5m2-swa0.1-2x3090", {{"mem_fraction_static", "0.92"}, {"swa_full_tokens_ratio", "0.1"}, {"kv_cache_dtype", "fp8_e5m2"}}}});
}

TEST_CASE("context length and KV type of a calibrated vLLM are predicted within 0.5 %", "[log][calibration][vllm]") {
    const Deployment deployment{"llama-3.1-8b", "h100", "vllm@0.19.0", {{"gpu_memory_utilization", "0.95"}, {"max_num_batched_tokens", "8192"}, {"max_running_requests", "1024"}, {"page_size", "16"}}};
    check_pairs(deployment, {{"llmd205-meta-llama-llama-3-1-8b-tp1pp1dp1-8192", {{"context_length", "8192"}}},
                             {"llmd205-meta-llama-llama-3-1-8b-tp1pp1dp1-32768", {{"context_length", "32768"}}},
                             {"llmd205-meta-llama-llama-3-1-8b-tp1pp1dp1-4096", {{"context_length", "4096"}}},
                             {"llmd205-meta-llama-tp1pp1dp1-8192-dtbf16-kvfp8", {{"context_length", "8192"}, {"kv_cache_dtype", "fp8"}}}});
}

TEST_CASE("another fraction of a calibrated DeepSeek-V4 under DP attention is predicted within 0.5 %", "[log][calibration]") {
    // These two rows print no memory before the load: KV = 276.9 f - 130.3 GiB over five points of the source, so 276.9 were
    // free and 130.3 taken, c128 states included.
    const Deployment deployment{"deepseek-v4-pro", "mi355x", "sglang@2026-07-15",
                                {{"tp_size", "8"}, {"dp_size", "8"}, {"ep_size", "8"}, {"enable_dp_attention", "true"}, {"context_length", "9472"}, {"page_size", "256"},
                                 {"swa_full_tokens_ratio", "0.15"}, {"kv_cache_dtype", "fp8_e4m3"}}};
    const std::vector<std::pair<std::string, std::string>> rows = {{"idx-dsv4pro-mi355x-dp8-gmu080", "0.80"}, {"idx-dsv4-gmu090", "0.90"}, {"idx-dsv4pro-mi355x-dp8-gmu092", "0.92"}};
    for (const auto& [from, fraction] : rows) {
        Observed seen;
        seen.free_before_load = nearest_bytes(276.9 * static_cast<double>(kGiB));
        seen.free_after_load = nearest_bytes((276.9 - 129.29) * static_cast<double>(kGiB));
        seen.max_total_num_tokens = static_cast<std::int64_t>(tokens_of(from));
        seen.fraction = std::stod(fraction);
        const auto made = calibrate(scenario_of(deployment, {{"mem_fraction_static", fraction}}), seen, "five points");
        REQUIRE(std::holds_alternative<Calibration>(made));
        for (const auto& [to, other] : rows) {
            INFO(from << " predicts " << to);
            CHECK(static_cast<double>(predicted(std::get<Calibration>(made), deployment, {{"mem_fraction_static", other}})) == Approx(tokens_of(to)).epsilon(0.005));
        }
    }
}

TEST_CASE("a calibration survives its file, and does not serve another deployment", "[log][calibration]") {
    const Deployment deployment{"llama-3.1-8b", "h100", "vllm@0.19.0", {{"gpu_memory_utilization", "0.95"}, {"max_num_batched_tokens", "8192"}, {"max_running_requests", "1024"}}};
    const Calibration made = calibrated(deployment, {{"context_length", "8192"}}, "llmd205-meta-llama-llama-3-1-8b-tp1pp1dp1-8192");
    Diagnostics diagnostics;
    const auto read = read_calibration(calibration_json(made), "cal.json", diagnostics);
    INFO(render(diagnostics));
    REQUIRE(read.has_value());
    CHECK(read->rules.budget_shift == made.rules.budget_shift);
    CHECK(read->weights == made.weights);
    CHECK(read->free_before_load == made.free_before_load);
    CHECK(calibration_json(*read) == calibration_json(made));
    // The file alone names the deployment.
    Scenario empty;
    fill_in(*read, empty);
    CHECK(empty.model_name == "llama-3.1-8b");
    CHECK(empty.engine.kind == EngineKind::vllm);
    CHECK(empty.engine.gpu_memory_utilization->value == 0.95);
    Scenario other = scenario_of(deployment, {{"tp_size", "2"}});
    Diagnostics faults;
    apply(*read, other, faults);
    CHECK(faults.has_errors());
    CHECK_FALSE(other.calibration.has_value());
    Diagnostics broken;
    CHECK_FALSE(read_calibration("{\"kvplan_calibration\": 99}", "x", broken).has_value());
    CHECK(broken.has_errors());
}

TEST_CASE("what the user measured by hand stands over a calibration", "[log][calibration]") {
    const Deployment deployment{"llama-3.1-8b", "h100", "vllm@0.19.0", {{"gpu_memory_utilization", "0.95"}, {"max_num_batched_tokens", "8192"}, {"max_running_requests", "1024"}}};
    const Calibration made = calibrated(deployment, {{"context_length", "8192"}}, "llmd205-meta-llama-llama-3-1-8b-tp1pp1dp1-8192");
    Scenario scenario = scenario_of(deployment, {{"weights_per_gpu", "20GiB"}});
    Diagnostics diagnostics;
    apply(made, scenario, diagnostics);
    CHECK(*scenario.weights_per_gpu == gibibytes(20));
}

TEST_CASE("another window ratio of a calibrated Gemma-4 26B is predicted within 0.5 %", "[log][calibration]") {
    const Deployment deployment{"gemma-4-26b-a4b", "rtx-3090", "sglang@2026-06-15", {{"tp_size", "2"}, {"context_length", "262144"}, {"page_size", "1"}, {"max_running_requests", "1"}, {"mem_fraction_static", "0.85"}, {"quantization", "int4-g128"}}};
    const std::string id = "mattb-gemma4-26b-a4b-mf0.85-auto-swa";
    check_pairs(deployment, {{id + "0.0625-2x3090", {{"swa_full_tokens_ratio", "0.0625"}}},
                             {id + "0.5-2x3090", {{"swa_full_tokens_ratio", "0.5"}}},
                             {id + "0.8-2x3090", {{"swa_full_tokens_ratio", "0.8"}}}});
}

TEST_CASE("context length of a calibrated Qwen2.5 7B under vLLM is predicted within 0.5 %", "[log][calibration][vllm]") {
    const Deployment deployment{"qwen2.5-7b-instruct", "h100", "vllm@0.19.0", {{"gpu_memory_utilization", "0.95"}, {"max_num_batched_tokens", "8192"}, {"max_running_requests", "1024"}, {"page_size", "16"}}};
    check_pairs(deployment, {{"llmd205-qwen-qwen2-5-7b-instruc-tp1pp1dp1-16384", {{"context_length", "16384"}}},
                             {"llmd205-qwen-qwen2-5-7b-instruc-tp1pp1dp1-32768", {{"context_length", "32768"}}}});
}
