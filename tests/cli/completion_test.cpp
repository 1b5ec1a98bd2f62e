#include <algorithm>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;

namespace {

std::vector<std::string> completed(std::vector<std::string> words) {
    words.insert(words.begin(), {"__complete", "--"});
    const test::Ran ran = test::run_kvplan(words);
    CHECK(ran.exit_code == 0);
    std::istringstream lines(ran.out);
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) found.push_back(line);
    return found;
}

bool has(const std::vector<std::string>& list, const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); }

}  // namespace

TEST_CASE("Commands, options and values are completed", "[completion]") {
    CHECK(has(completed({""}), "plan"));
    CHECK(completed({"pl"}) == std::vector<std::string>{"plan"});
    CHECK(has(completed({"plan", "--mem-f"}), "--mem-fraction-static"));
    CHECK_FALSE(has(completed({"gpus", "--mem-f"}), "--mem-fraction-static"));
    CHECK(has(completed({"plan", "--gpu", "rtx-pro"}), "rtx-pro-6000-blackwell-server"));
    CHECK(has(completed({"plan", "--model", "kimi-k2"}), "kimi-k2.5"));
    CHECK(has(completed({"plan", "--gpu=h2"}), "--gpu=h200-sxm"));
    CHECK(has(completed({"gpus", "show", "h2"}), "h200-sxm"));
    CHECK(completed({"plan", "--format", "j"}) == std::vector<std::string>{"json"});
    CHECK(completed({"plan", "--no-such"}).empty());
}

TEST_CASE("What is completed as a model or a GPU is one", "[completion]") {
    const auto models = completed({"plan", "--model", "l"});
    REQUIRE(models.size() > 3);
    CHECK(test::run_kvplan({"plan", "--model", models.front(), "--gpu", "h200", "--tp", "8"}).exit_code != 2);
    for (const std::string& gpu : completed({"gpus", "show", ""})) {
        INFO(gpu);
        CHECK(test::run_kvplan({"gpus", "show", gpu}).exit_code == 0);
    }
}

TEST_CASE("Shells get their script, and an unknown one a hint", "[completion]") {
    CHECK(test::run_kvplan({"completion", "bash"}).out.find("complete -o default -F _kvplan kvplan") != std::string::npos);
    CHECK(test::run_kvplan({"completion", "zsh"}).out.find("#compdef kvplan") == 0);
    CHECK(test::run_kvplan({"completion", "fish"}).out.find("complete -c kvplan") != std::string::npos);
    CHECK(test::run_kvplan({"completion", "csh"}).exit_code == 2);
}

TEST_CASE("The manual page names every command and escapes hyphens", "[completion]") {
    const std::string page = test::run_kvplan({"__manual"}).out;
    CHECK(page.rfind(".TH KVPLAN 1", 0) == 0);
    for (const char* command : {"plan", "check", "doctor", "solve", "sweep", "log", "trace"}) CHECK(page.find(std::string(".SS ") + command + "\n") != std::string::npos);
    CHECK(page.find("\\-\\-mem\\-fraction\\-static") != std::string::npos);
}
