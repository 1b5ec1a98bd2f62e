// Every command in every format.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;
using Words = std::vector<std::string>;

namespace {

std::string log_file() {
    return test::temporary_file("formats.log",
                                "[2025-10-16 03:22:00] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-70B-Instruct', tp_size=8, mem_fraction_static=0.897, context_length=131072)\n"
                                "[2025-10-16 03:22:10 TP0] Load weight begin. avail mem=137.29 GB\n"
                                "[2025-10-16 03:22:40 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=120.86 GB, mem usage=16.43 GB.\n");
}

std::string trace_file() {
    std::string text;
    for (int i = 0; i < 20; ++i) text += R"({"timestamp": )" + std::to_string(i * 1000) + R"(, "input_length": 1000, "output_length": 100, "hash_ids": [1, )" + std::to_string(i + 2) + "]}\n";
    return test::temporary_file("formats.jsonl", text);
}

std::vector<Words> commands() {
    const Words plan = {"--model", "kimi-k2.5", "--gpu", "h200", "--tp", "8", "--host-ram", "2TB"};
    const auto with = [&](Words words) {
        words.insert(words.end(), plan.begin(), plan.end());
        return words;
    };
    return {with({"plan"}), with({"solve", "max-hicache-size"}), {"check", "--gpu", "h200", "--", "python3", "-m", "sglang.launch_server", "--model-path", "moonshotai/Kimi-K2.5", "--tp", "8"},
            {"log", log_file(), "--gpu", "h200"}, {"doctor"}, {"gpus", "list"}, {"gpus", "show", "h200"}, {"models", "list"}, {"models", "show", "kimi-k2.5"}, {"engines", "list"}, {"engines", "show", "vllm"},
            {"explain"}, {"explain", "hicache_exceeds_host_ram"}, with({"explain", "capacity.max_total_num_tokens"}), {"trace", trace_file()}, {"simulate", "--pool-tokens", "100000", "--input-tokens", "1000", "--output-tokens", "exp:200", "--requests", "200"},
            with({"sweep", "--set", "mem_fraction_static=0.80:0.90:0.05"}), {"compare", "--model", "llama-3.1-70b", "--gpu", "h200", "--tp", "4", "--mem-fraction-static", "0.8,0.9"}, {"help"}, {"help", "units"}};
}

std::string line_of(const Words& words) {
    std::string line;
    for (const std::string& word : words) line += word + " ";
    return line;
}

/// Cells of one CSV record, RFC 4180; `at` moves behind it.
std::size_t cells_of_record(const std::string& text, std::size_t& at) {
    std::size_t cells = 1;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        if (text[at] == '"') quoted = !quoted;
        else if (!quoted && text[at] == ',') ++cells;
        else if (!quoted && text[at] == '\n') break;
    }
    ++at;
    return cells;
}

std::size_t records_of(const std::string& text) {
    std::size_t at = 0, records = 0;
    const std::size_t header = cells_of_record(text, at);
    while (at < text.size()) {
        CHECK(cells_of_record(text, at) == header);
        ++records;
    }
    return records;
}

}  // namespace

TEST_CASE("Every command has every format: one JSON document, rectangular CSV, a Markdown page, text", "[cli][formats]") {
    for (const Words& words : commands()) {
        INFO(line_of(words));
        for (const std::string format : {"text", "json", "csv", "markdown"}) {
            Words all = {"--format", format};
            all.insert(all.end(), words.begin(), words.end());
            const test::Ran ran = test::run_kvplan(all);
            INFO(format << "\n" << ran.err);
            REQUIRE(ran.exit_code < 2);
            REQUIRE_FALSE(ran.out.empty());
            CHECK(ran.out.find('\x1b') == std::string::npos);
            CHECK(ran.out.back() == '\n');
            if (format == "json" && words[0] == "sweep") {
                std::istringstream lines(ran.out);
                for (std::string line; std::getline(lines, line);) CHECK(nlohmann::json::accept(line));
            } else if (format == "json") {
                CHECK(nlohmann::json::accept(ran.out));
            }
            if (format == "csv") CHECK(records_of(ran.out) >= 1);
            if (format == "markdown" && words[0] != "sweep") CHECK(ran.out.substr(0, 2) == "# ");
        }
    }
}

TEST_CASE("Lists in CSV have a line an entry", "[cli][formats]") {
    const auto entries = [](const Words& words, const char* list) {
        Words json = {"--format", "json"}, csv = {"--format", "csv"};
        json.insert(json.end(), words.begin(), words.end());
        csv.insert(csv.end(), words.begin(), words.end());
        const auto document = nlohmann::json::parse(test::run_kvplan(json).out);
        INFO(line_of(words));
        CHECK(document.at(list).size() > 1);
        CHECK(records_of(test::run_kvplan(csv).out) == document.at(list).size());
    };
    entries({"gpus", "list"}, "gpus");
    entries({"models", "list"}, "models");
    entries({"engines", "list"}, "engines");
    entries({"engines", "show", "sglang"}, "rules");
    entries({"explain"}, "names");
}

TEST_CASE("kvplan help knows topics and commands, and says what was meant", "[cli][help]") {
    CHECK(test::run_kvplan({"help"}).out.find("exit-codes") != std::string::npos);
    CHECK(test::run_kvplan({"help", "scenario"}).out.find("--hicache-size") != std::string::npos);
    const test::Ran plan = test::run_kvplan({"help", "plan"});
    CHECK(plan.exit_code == 0);
    CHECK(plan.out == test::run_kvplan({"plan", "--help"}).out);
    const test::Ran unknown = test::run_kvplan({"help", "unit"});
    CHECK(unknown.exit_code == 2);
    CHECK(unknown.err.find("units") != std::string::npos);
}
