// Every deployment of tests/data/log_facts.json, written as its engine would print it on several days of the engine's
// history and through several collectors, reads back to its figures exactly.
#include <map>
#include <string>

#include "planner/log/log_reader.hpp"
#include "planner/log/observed.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_writer.hpp"

using namespace kvplan;
using namespace kvplan::logs;

namespace {

Reading first_of(const StartRecord& start, Reading RankRecord::* reading) {
    for (const auto& [tag, rank] : start.ranks)
        if (rank.*reading) return rank.*reading;
    return std::nullopt;
}

// A log may say a figure twice, by two processes and with more or fewer decimals.
Reading exactly(const StartRecord& start, Reading RankRecord::* reading, double value) {
    for (const auto& [tag, rank] : start.ranks)
        if (rank.*reading == value) return value;
    return first_of(start, reading);
}

Reading graph_usage(const StartRecord& start, const std::string& name, const std::string& other) {
    for (const auto& [tag, rank] : start.ranks)
        for (const GraphCapture& graph : rank.graphs)
            if (graph.name == name || graph.name == other) return graph.usage_gib;
    return std::nullopt;
}

// "swa_k", "full_v", "draft_k", "kv": whose pool, and which part of it.
Reading kv_part(const StartRecord& start, const std::string& key) {
    for (const auto& [tag, rank] : start.ranks)
        for (const KvAllocation& kv : rank.kv) {
            if (kv.draft != (key.rfind("draft", 0) == 0)) continue;
            const bool window = rank.swa_tokens && kv.tokens == rank.swa_tokens;
            if (!kv.draft && window != (key.rfind("swa", 0) == 0)) continue;
            if (key == "kv") return kv.kv_gib;
            return key.back() == 'k' ? kv.k_gib : kv.v_gib;
        }
    return std::nullopt;
}

Reading host_pool(const StartRecord& start, const std::string& label) {
    for (const auto& [tag, rank] : start.ranks)
        for (const HostPoolLine& pool : rank.host_pools)
            if (pool.label == label) return pool.gb;
    return std::nullopt;
}

Reading read_back(const StartRecord& start, const std::string& key) {
    static const std::map<std::string, Reading RankRecord::*> kDirect = {
        {"free_before", &RankRecord::free_before_gib}, {"free_after", &RankRecord::free_after_gib}, {"weights", &RankRecord::weights_gib},
        {"pool_end", &RankRecord::pool_end_gib}, {"draft_pool_end", &RankRecord::draft_pool_end_gib}, {"max_tokens", &RankRecord::max_tokens},
        {"max_running", &RankRecord::max_running}, {"end", &RankRecord::end_gib}, {"swa_tokens", &RankRecord::swa_tokens}, {"full_tokens", &RankRecord::full_tokens},
        {"state_slots", &RankRecord::state_slots}, {"conv", &RankRecord::conv_gib}, {"ssm", &RankRecord::ssm_gib}, {"draft_ssm", &RankRecord::draft_ssm_gib},
        {"draft_conv", &RankRecord::draft_conv_gib}, {"cell", &RankRecord::v4_bytes_per_token}, {"fixed_state", &RankRecord::v4_fixed_gib}, {"c4", &RankRecord::c4_tokens},
        {"c128", &RankRecord::c128_tokens}, {"c4_state", &RankRecord::c4_state_rows}, {"c128_state", &RankRecord::c128_state_rows},
        {"draft_weights", &RankRecord::draft_weights_gib}, {"draft_free_after", &RankRecord::draft_free_after_gib}};
    if (const auto found = kDirect.find(key); found != kDirect.end()) return first_of(start, found->second);
    if (key == "pool_tokens") {
        for (const auto& [tag, rank] : start.ranks)
            for (const KvAllocation& kv : rank.kv)
                if (!kv.draft && kv.tokens) return kv.tokens;
        return first_of(start, &RankRecord::v4_tokens);
    }
    if (key == "graphs") return graph_usage(start, "decode", "target decode");
    if (key == "prefill_graphs") return graph_usage(start, "piecewise", "target prefill");
    if (key == "draft_graphs") return graph_usage(start, "draft", "draft decode");
    if (key == "host") return host_pool(start, "kv");
    if (key == "host_indexer") return host_pool(start, "dsa_indexer");
    if (key == "profiled_tokens") return start.profiled_tokens;
    if (key == "kv" && first_of(start, &RankRecord::v4_budget_gib)) return first_of(start, &RankRecord::v4_budget_gib);
    return kv_part(start, key);
}

Reading read_back_vllm(const StartRecord& start, const std::string& key, double value) {
    static const std::map<std::string, Reading RankRecord::*> kDirect = {
        {"weights", &RankRecord::model_gib}, {"available", &RankRecord::available_kv_gib}, {"pool_tokens", &RankRecord::kv_tokens}, {"concurrency", &RankRecord::concurrency_x},
        {"activation", &RankRecord::activation_gib}, {"non_torch", &RankRecord::non_torch_gib}, {"graphs", &RankRecord::graph_gib}, {"graph_estimate", &RankRecord::graph_estimate_gib},
        {"requested", &RankRecord::requested_gib}, {"free_before", &RankRecord::initial_free_gib}, {"non_kv", &RankRecord::non_kv_gib}, {"blocks", &RankRecord::gpu_blocks}};
    static const std::map<std::string, Figure> kOfFault = {
        {"needed", Figure::needed_gib}, {"longest", Figure::estimated_len}, {"state_blocks", Figure::state_slots}, {"pool_tokens", Figure::tokens}, {"available", Figure::available_gib}};
    if (const auto found = kDirect.find(key); found != kDirect.end())
        if (const Reading back = exactly(start, found->second, value)) return back;
    const auto figure = kOfFault.find(key);
    if (figure != kOfFault.end())
        for (const Fault& fault : start.faults)
            if (const Reading back = fault.get(figure->second)) return back;
    return std::nullopt;
}

}  // namespace

TEST_CASE("every deployment of the facts reads back exactly in every wording of SGLang", "[log][facts]") {
    int index = 0, figures = 0;
    for (const test::LogFacts& facts : test::load_log_facts()) {
        if (facts.engine != "sglang") continue;
        for (const int day : {20250524, 20251006, 20251211, 20260301, 20260612, 20260822}) {
            const auto wrapping = static_cast<test::LogWrapping>(index++ % test::kWrappings);
            const test::WrittenLog log = test::write_sglang_log(facts, day, wrapping);
            INFO(facts.id << " on " << day << "\n" << log.text);
            const LogRecord record = read_log(log.text);
            REQUIRE(record.starts.size() == 1);
            CHECK(record.starts[0].engine() == EngineKind::sglang);
            for (const auto& [key, value] : log.printed) {
                const Reading back = read_back(record.starts[0], key);
                INFO(key);
                REQUIRE(back.has_value());
                CHECK(*back == value);
                ++figures;
            }
        }
    }
    CHECK(figures > 2000);
}

TEST_CASE("every deployment of the facts reads back exactly in every wording of vLLM", "[log][facts]") {
    int index = 0, figures = 0;
    for (const test::LogFacts& facts : test::load_log_facts()) {
        if (facts.engine != "vllm") continue;
        for (const int day : {20250201, 20251002, 20260120, 20260817}) {
            const auto wrapping = static_cast<test::LogWrapping>(index++ % test::kWrappings);
            const test::WrittenLog log = test::write_vllm_log(facts, day, wrapping);
            INFO(facts.id << " on " << day << "\n" << log.text);
            const LogRecord record = read_log(log.text);
            REQUIRE(record.starts.size() == 1);
            CHECK(record.starts[0].engine() == EngineKind::vllm);
            for (const auto& [key, value] : log.printed) {
                const Reading back = read_back_vllm(record.starts[0], key, value);
                INFO(key);
                REQUIRE(back.has_value());
                CHECK(*back == value);
                ++figures;
            }
        }
    }
    CHECK(figures > 1500);
}
