#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "cli/progress.hpp"
#include "planner/sweep/part.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace kvplan;

namespace {

constexpr const char* kManyFractions = "mem_fraction_static=0.5:0.9:0.00001";
constexpr std::int64_t kManyPoints = 40'001 * 161;

std::string text_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

void append(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary | std::ios::app) << text; }

std::vector<std::string> sweep_line(std::vector<std::string> more) {
    std::vector<std::string> arguments{"sweep", "--model", "llama-3.1-8b", "--gpu", "h100", "--set", "context_length=1000:9000:50", "--columns", "fits,max_total_num_tokens"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

test::Ran swept(std::vector<std::string> more) { return test::run_kvplan(sweep_line(std::move(more))); }

sweep::Environment variables(std::map<std::string, std::string> values) {
    return [values](const char* name) {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

std::optional<sweep::Shard> shard(const std::string& text, std::map<std::string, std::string> values = {}) {
    Diagnostics diagnostics;
    return sweep::parse_shard(text, variables(std::move(values)), diagnostics);
}

std::vector<std::string> parts_of(const std::string& folder, int count, const std::string& format) {
    std::vector<std::string> files;
    for (int i = 0; i < count; ++i) {
        files.push_back(folder + "/part" + std::to_string(i));
        REQUIRE(swept({"--format", format, "--shard", std::to_string(i) + "/" + std::to_string(count), "--output", files.back()}).exit_code == 0);
    }
    return files;
}

test::Ran merged(std::vector<std::string> files) {
    files.insert(files.begin(), "merge");
    return test::run_kvplan(files);
}

/// The real binary, sent a signal once its part holds rows; its exit status as waitpid tells it.
int run_and_signal(const std::string& output, int signal) {
    std::vector<std::string> arguments = sweep_line({"--set", kManyFractions, "--format", "csv", "--output", output, "--resume"});
    arguments.insert(arguments.begin(), KVPLAN_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGINT, SIG_DFL);
        (void)std::freopen("/dev/null", "w", stderr);
        execv(argv[0], argv.data());
        _exit(99);
    }
    std::error_code error;
    const auto before = std::filesystem::exists(output + ".part") ? std::filesystem::file_size(output + ".part") : 0;
    for (int i = 0; i < 1000; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const auto size = std::filesystem::file_size(output + ".part", error);
        if (!error && size > before + 8000) break;
    }
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace

TEST_CASE("Parts are neighbouring points, differ by one at most and leave none out", "[sweep][shard]") {
    // 10 points in 4 parts: 3, 3, 2, 2.
    std::int64_t next = 0, index = 0;
    for (const std::int64_t size : {3, 3, 2, 2}) {
        const sweep::PointRange range = sweep::range_of({index++, 4}, 10);
        CHECK(range.begin == next);
        CHECK(range.end - range.begin == size);
        next = range.end;
    }
    CHECK(sweep::range_of({3, 8}, 2).begin == sweep::range_of({3, 8}, 2).end);
}

TEST_CASE("A part is named by hand or by a scheduler's variables", "[sweep][shard]") {
    CHECK(shard("2/8")->index == 2);
    CHECK(shard("8/8")->index == 0);  // counting from 1 covers 0 ... 7 as well
    for (const char* wrong : {"9/8", "-1/8", "x/8", "1/0", "1", "auto/0", "auto/x", "/"}) CHECK_FALSE(shard(wrong));
    CHECK_FALSE(shard("auto"));
    // sbatch --array=4-10:2 has the ids 4, 6, 8, 10.
    const std::map<std::string, std::string> slurm{{"SLURM_ARRAY_TASK_ID", "8"}, {"SLURM_ARRAY_TASK_MIN", "4"}, {"SLURM_ARRAY_TASK_MAX", "10"}, {"SLURM_ARRAY_TASK_STEP", "2"}, {"SLURM_ARRAY_TASK_COUNT", "4"}};
    CHECK(shard("auto", slurm)->index == 2);
    CHECK(shard("auto", slurm)->count == 4);
    const std::map<std::string, std::string> gap{{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_STEP", "1"}, {"SLURM_ARRAY_TASK_COUNT", "3"}};  // --array=1,3,7
    CHECK_FALSE(shard("auto", gap));
    CHECK_FALSE(shard("auto", {{"JOB_COMPLETION_INDEX", "5"}}));  // how many pods there are is not told
    CHECK(shard("auto/6", {{"JOB_COMPLETION_INDEX", "5"}})->index == 5);
    CHECK_FALSE(shard("auto/5", {{"JOB_COMPLETION_INDEX", "5"}}));
    CHECK(shard("auto", {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}})->count == 3);
    CHECK(shard("auto", {{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}})->index == 2);
    CHECK(shard("auto", {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}})->index == 1);
    CHECK_FALSE(shard("auto", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}));  // a batch script runs once
}

TEST_CASE("Merged parts are the sweep, byte for byte, in every form", "[sweep][shard][cli]") {
    for (const std::string format : {"csv", "json", "markdown", "text"}) {
        const std::string folder = test::temporary_directory();
        std::vector<std::string> files = parts_of(folder, 3, format);
        std::swap(files[0], files[2]);
        const test::Ran ran = merged(files);
        CHECK(ran.exit_code == 0);
        CHECK(ran.out == swept({"--format", format}).out);
    }
}

TEST_CASE("Gaps, overlaps, parts of other sweeps and torn parts are not merged", "[sweep][shard][cli]") {
    const std::string folder = test::temporary_directory();
    const std::vector<std::string> files = parts_of(folder, 3, "csv");
    const auto refused = [](const std::vector<std::string>& list, const std::string& why) {
        const test::Ran ran = merged(list);
        CAPTURE(why, ran.err);
        CHECK(ran.exit_code == 2);
        CHECK(ran.out.empty());
        CHECK(ran.err.find(why) != std::string::npos);
    };
    // 161 points in parts of 54, 54 and 53.
    refused({files[0], files[2]}, "points 54 to 107 are in no part");
    refused({files[0], files[1]}, "points 108 to 160 are in no part");
    refused({files[0], files[1], files[2], files[1]}, "points 54 to 107 are in two parts");
    const std::string other = folder + "/other";
    REQUIRE(swept({"--format", "csv", "--shard", "2/3", "--tp", "2", "--output", other}).exit_code == 0);
    refused({files[0], files[1], other}, "another sweep");
    const std::string torn = folder + "/torn", whole = text_of_file(files[2]);
    append(torn, whole.substr(0, whole.size() / 2));
    refused({files[0], files[1], torn}, "not complete");
    const std::string cut = folder + "/cut";  // a line lost in the middle
    const std::size_t line = whole.find('\n', whole.size() / 2);
    append(cut, whole.substr(0, line + 1) + whole.substr(whole.find('\n', line + 1) + 1));
    refused({files[0], files[1], cut, "--output", folder + "/merged"}, "rows it tells of");
    CHECK_FALSE(std::filesystem::exists(folder + "/merged"));
    refused({folder + "/nothing"}, "cannot be read");
}

TEST_CASE("A sweep that is stopped goes on where it stopped, as if it had never stopped", "[sweep][resume][cli]") {
    const std::string output = test::temporary_directory() + "/rows.csv";
    const int interrupted = run_and_signal(output, SIGINT);
    REQUIRE(WIFEXITED(interrupted));
    CHECK(WEXITSTATUS(interrupted) == 128 + SIGINT);
    CHECK_FALSE(std::filesystem::exists(output));
    CHECK(WIFSIGNALED(run_and_signal(output, SIGKILL)));
    append(output + ".part", "0.9,torn");
    CHECK(swept({"--format", "csv", "--output", output, "--resume"}).exit_code == 2);  // another sweep's part
    const int terminated = run_and_signal(output, SIGTERM);
    REQUIRE(WIFEXITED(terminated));
    CHECK(WEXITSTATUS(terminated) == 128 + SIGTERM);
    // Every point gives a row, so the part must be the beginning of the first of so many shards.
    const std::string part = text_of_file(output + ".part");
    const auto rows = std::count(part.begin(), part.end(), '\n') - 1;
    REQUIRE(rows > 300);
    const std::string beginning = swept({"--set", kManyFractions, "--format", "csv", "--shard", "0/" + std::to_string(std::max<std::int64_t>(1, kManyPoints / rows - 1))}).out;
    const std::string unmarked = beginning.substr(beginning.find('\n') + 1);
    CHECK(unmarked.compare(0, part.size(), part) == 0);
}

TEST_CASE("--resume begins where there is nothing to go on with", "[sweep][resume][cli]") {
    const std::string output = test::temporary_directory() + "/begun.csv";
    REQUIRE(swept({"--format", "csv", "--output", output, "--resume"}).exit_code == 0);
    CHECK(text_of_file(output) == swept({"--format", "csv"}).out);
    CHECK_FALSE(std::filesystem::exists(output + ".part"));
    CHECK_FALSE(std::filesystem::exists(output + ".part.state"));
    CHECK(swept({"--top", "3", "--by", "max_total_num_tokens", "--resume"}).exit_code == 2);
    CHECK(swept({"--top", "3", "--by", "max_total_num_tokens", "--shard", "0/2"}).exit_code == 2);
}

TEST_CASE("Values with commas are quoted", "[sweep]") {
    Diagnostics diagnostics;
    const auto axis = sweep::parse_axis(R"(pp_layer_partition="30,31",'31,30',61)", diagnostics);
    REQUIRE(axis.has_value());
    REQUIRE(axis->size() == 3);
    CHECK(axis->value(0) == "30,31");
    CHECK(axis->value(1) == "31,30");
    CHECK(axis->value(2) == "61");
    CHECK_FALSE(sweep::parse_axis(R"(pp_layer_partition="30,31)", diagnostics));
    CHECK_FALSE(sweep::parse_axis(R"(pp_layer_partition="30"31)", diagnostics));
}

TEST_CASE("Progress tells the share, the rate and the time left", "[sweep]") {
    // 7,500,000 points are left at 50,000 a second: 150 s.
    CHECK(cli::progress_text(2'500'000, 10'000'000, 50'000.0) == "25.0 %  2,500,000 of 10,000,000 points, 50,000/s, 2 min 30 s left");
}

TEST_CASE("A sweep of one field is a curve, of two a heat map; of three it has no picture", "[sweep][plot][cli]") {
    const std::string folder = test::temporary_directory();
    const std::string curve = folder + "/curve.svg", map = folder + "/map.svg";
    CHECK(swept({"--plot", curve}).exit_code == 0);
    CHECK(text_of_file(curve).find("max_total_num_tokens") != std::string::npos);
    CHECK(text_of_file(curve).find("context_length") != std::string::npos);
    CHECK(swept({"--set", "tp=1,2,4", "--plot", map}).exit_code == 0);
    CHECK(text_of_file(map).find("tp_size") != std::string::npos);
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--set", "tp=1,2", "--set", "page_size=1,16"}, {"--random", "5"}, {"--shard", "0/2"}}) {
        std::vector<std::string> arguments{"--plot", folder + "/none.svg"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        CHECK(swept(arguments).exit_code == 2);
    }
    CHECK(swept({"--plot", folder + "/curve.gif"}).exit_code == 2);
}
