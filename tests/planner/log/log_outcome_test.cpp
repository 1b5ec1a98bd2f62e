// How starts end. The failed deployments of the facts, in the engine's words, get the diagnosis that their source gives.
#include <fstream>
#include <sstream>
#include <string>

#include "planner/export/log_json.hpp"
#include "planner/log/gaps.hpp"
#include "planner/log/log_reader.hpp"
#include "planner/log/outcome.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/log_writer.hpp"

using namespace kvplan;
using namespace kvplan::logs;

namespace {

Outcome outcome_of(const std::string& text) {
    const LogRecord log = read_log(text);
    REQUIRE_FALSE(log.starts.empty());
    return judge(log.starts.back(), observe(log.starts.back()));
}

const std::string kLoaded =
    "[2026-03-01 00:00:00] server_args=ServerArgs(model_path='a/b', mem_fraction_static=0.85, tp_size=8)\n"
    "[2026-03-01 00:00:05 TP0] Load weight begin. avail mem=137.30 GB\n"
    "[2026-03-01 00:01:05 TP0] Load weight end. type=X, dtype=torch.bfloat16, avail mem=66.23 GB, mem usage=71.07 GB.\n";
const std::string kPool = kLoaded + "[2026-03-01 00:01:06 TP0] KV Cache is allocated. #tokens: 700000, KV size: 45.81 GB\n[2026-03-01 00:01:06 TP0] Memory pool end. avail mem=18.00 GB\n";
const std::string kGraphs = kPool + "[2026-03-01 00:01:07 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=17.50 GB\n";
const std::string kReady = kGraphs + "[2026-03-01 00:02:00 TP0] max_total_num_tokens=700000, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=4096, context_len=131072, available_gpu_mem=16.00 GB\n"
                                     "[2026-03-01 00:02:01] The server is fired up and ready to roll!\n";
const std::string kOom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 512.00 MiB is free.\n";

double value(const Outcome& outcome, std::string_view name) {
    for (const FindingValue& v : outcome.values)
        if (v.name == name) return v.number;
    FAIL("no value " << name);
    return 0;
}

}  // namespace

TEST_CASE("every failed deployment of the facts is diagnosed", "[log][outcome][facts]") {
    int failed = 0, index = 0;
    for (const test::LogFacts& facts : test::load_log_facts()) {
        if (facts.outcome.empty()) continue;
        ++failed;
        const auto wrapping = static_cast<test::LogWrapping>(index++ % test::kWrappings);
        const test::WrittenLog log = facts.engine == "sglang" ? test::write_sglang_log(facts, 20260301, wrapping) : test::write_vllm_log(facts, 20251002, wrapping);
        INFO(facts.id << "\n" << log.text);
        const Outcome outcome = outcome_of(log.text);
        CHECK(outcome.code == facts.outcome);
        if (facts.outcome != "incomplete") CHECK(outcome.started == std::optional(false));
    }
    CHECK(failed == 28);
}

TEST_CASE("deployments that came up are not called failed", "[log][outcome][facts]") {
    for (const test::LogFacts& facts : test::load_log_facts()) {
        if (!facts.outcome.empty()) continue;
        const test::WrittenLog log = facts.engine == "sglang" ? test::write_sglang_log(facts, 20260301, test::LogWrapping::rank_tags) : test::write_vllm_log(facts, 20260120, test::LogWrapping::rank_tags);
        INFO(facts.id);
        const Outcome outcome = outcome_of(log.text);
        CHECK(outcome.code.empty());
        CHECK(outcome.started == std::optional(true));
    }
}

TEST_CASE("the two opposite out-of-memory errors are told apart", "[log][outcome]") {
    // 1 - 66.23 / 137.30 = 0.5176: any fraction above gives a pool.
    const Outcome low = outcome_of(kLoaded + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n");
    CHECK(low.code == "fraction_too_low");
    CHECK(value(low, "least_fraction") == Approx(0.518));
    const Outcome high = outcome_of(kGraphs + kOom);
    CHECK(high.code == "fraction_too_high");
    CHECK(value(high, "tried") == Approx(2.0 * kGiB));
    CHECK(value(high, "free") == Approx(0.5 * kGiB));
}

TEST_CASE("CUDA out of memory means another thing by the phase it comes in", "[log][outcome]") {
    const std::string begin = kLoaded.substr(0, kLoaded.rfind("[2026"));
    CHECK(outcome_of(begin + kOom).code == "weights_do_not_fit");
    CHECK(outcome_of(kLoaded + kOom).code == "pool_out_of_memory");
    CHECK(outcome_of(kPool + kOom).code == "fraction_too_high");
    const Outcome running = outcome_of(kReady + kOom);
    CHECK(running.code == "runtime_out_of_memory");
    CHECK(running.started == std::optional(true));
}

TEST_CASE("the founding incident: eight ranks pin 300 GB each and the log ends", "[log][outcome][hicache]") {
    std::string text = kLoaded;
    for (int tp = 0; tp < 8; ++tp) text += "[2026-03-01 00:01:10 TP" + std::to_string(tp) + "] Allocating 300.00 GB host memory for hierarchical KV cache.\n";
    const Outcome outcome = outcome_of(text);
    CHECK(outcome.code == "host_pinning_stalled");
    CHECK(outcome.started == std::optional(false));
    // 8 x 300 GB, decimal.
    CHECK(value(outcome, "host_total") == Approx(2.4e12));
    CHECK(outcome_of(text + "python3: line 1: 4242 Killed  python3 -m sglang.launch_server\n").code == "host_memory_killed");
    // Host pools are made after the limits are told: the server is sized by then and not up.
    const std::string sized = kReady.substr(0, kReady.rfind("[2026"));
    const std::string pool = "[2026-03-01 00:02:00 TP0] Allocating 300.00 GB host memory for hierarchical KV cache.\n";
    CHECK(outcome_of(sized).started == std::optional(true));
    CHECK(outcome_of(sized + pool).code == "host_pinning_stalled");
    CHECK(outcome_of(sized + pool).started == std::optional(false));
    CHECK(outcome_of(sized + pool + "[2026-03-01 00:02:01] The server is fired up and ready to roll!\n").started == std::optional(true));
}

TEST_CASE("NCCL that finds no shared memory is a full /dev/shm, not a fault of the network", "[log][outcome]") {
    const std::string nccl = kLoaded.substr(0, kLoaded.find('\n') + 1) + "[2026-03-01 00:00:02 TP0] Init torch distributed begin.\n[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3317, unhandled system error, NCCL version 2.27.3\n";
    CHECK(outcome_of(nccl).code == "nccl");
    CHECK(outcome_of(nccl + "Error while creating shared memory segment /dev/shm/nccl-4ZqG1I (size 9637888), error: No space left on device (28)\n").code == "shared_memory_full");
    CHECK(outcome_of(nccl + "misc/shmutils.cc:72 NCCL WARN Call to posix_fallocate failed : No space left on device\n").code == "shared_memory_full");
}

TEST_CASE("host checks, NCCL, unbalanced GPUs and foreign memory have their own diagnoses", "[log][outcome]") {
    const Outcome host = outcome_of(kPool + "ValueError: Not enough host memory available. Requesting 40.00 GB but only have 34.13 GB free. Please reduce the size of the hierarchical cache.\n");
    CHECK(host.code == "host_check");
    CHECK(value(host, "asked") == Approx(40e9));
    CHECK(outcome_of(kPool + "AssertionError: The host memory should be larger than the device memory with the current protocol\n").code == "host_smaller_than_device");
    CHECK(outcome_of(kPool.substr(0, 150) + "\ntorch.distributed.DistBackendError: NCCL error in: ../torch/csrc/x.cpp:2, unhandled system error\n").code == "nccl");
    CHECK(outcome_of("[2026-03-01 00:00:05 TP0] Init torch distributed begin.\nRuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=60.1, local_gpu_memory=78.9\n").code == "unbalanced_gpus");
    const Outcome foreign = outcome_of("(EngineCore_DP0 pid=2) ERROR 10-16 00:00:00 [core.py:1] ValueError: Free memory on device cuda:0 (60.10/79.19 GiB) on startup is less than desired GPU memory utilization (0.9, 71.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n");
    CHECK(foreign.code == "free_memory_below_fraction");
    // 60.10 / 79.19 = 0.7589, rounded down.
    CHECK(value(foreign, "largest_fraction") == Approx(0.758));
}

TEST_CASE("a particular error wins over its echoes", "[log][outcome]") {
    const std::string echoes = "[2026-03-01 00:01:08] Received sigquit from a child process. It usually means the child failed.\nNCCL error in: x\n/usr/bin/bash: line 1: 77 Killed\n";
    CHECK(outcome_of(kLoaded + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n" + echoes).code == "fraction_too_low");
    CHECK(outcome_of(kGraphs + "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 1.00 GiB.\n" + echoes).code == "fraction_too_high");
    CHECK(outcome_of(kGraphs + "Exception: Capture cuda graph failed: Ninja build failed.\n").code == "graph_capture_failed");
    const Outcome unknown = outcome_of(kGraphs + "Traceback (most recent call last):\n  File \"x.py\", line 3, in y\nValueError: something new\n");
    CHECK(unknown.code == "exception");
}

TEST_CASE("sentences leave out what is not known", "[log][outcome]") {
    const std::vector<FindingValue> values = {{"a", "count", 3, {}}};
    CHECK(exporting::diagnosis_sentence("x[[: {a}]][[ and {b}]].", values) == "x: 3.");
    for (const DiagnosisText& text : diagnoses()) {
        INFO(text.code);
        const std::string meaning = exporting::diagnosis_sentence(text.meaning, {});
        CHECK(meaning.find("[[") == std::string::npos);
        CHECK_FALSE(meaning.empty());
        CHECK_FALSE(text.advice.empty());
    }
}

TEST_CASE("the documentation names every diagnosis and every cause", "[log][docs]") {
    std::ifstream in(std::string(KVPLAN_SOURCE_DIR) + "/docs/log.md");
    REQUIRE(in.good());
    std::stringstream text;
    text << in.rdbuf();
    for (const DiagnosisText& diagnosis : diagnoses()) {
        INFO(diagnosis.code);
        CHECK(text.str().find("`" + std::string(diagnosis.code) + "`") != std::string::npos);
    }
    for (const CauseText& cause : causes()) {
        INFO(cause.code);
        CHECK(text.str().find("`" + std::string(cause.code) + "`") != std::string::npos);
    }
}

TEST_CASE("a refusal with more free than asked for names the hidden reserve", "[log][outcome]") {
    // Versions before 2025-07 print the free memory without their reserve: 44.87 - 10.737 = 34.13 GB could be taken.
    const Outcome outcome = outcome_of(kPool + "ValueError: Not enough host memory available. Requesting 40.00 GB but only have 44.87 GB free. Please reduce the size of the hierarchical cache.\n");
    CHECK(outcome.code == "host_check");
    CHECK(value(outcome, "usable") == Approx(44.87e9 - 10.737418240e9));
}

TEST_CASE("a server trapped between two fractions shows both errors", "[log][outcome]") {
    const LogRecord log = read_log(kGraphs + kOom + kLoaded + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n");
    REQUIRE(log.starts.size() == 2);
    CHECK(judge(log.starts[0], observe(log.starts[0])).code == "fraction_too_high");
    CHECK(judge(log.starts[1], observe(log.starts[1])).code == "fraction_too_low");
}

TEST_CASE("A line of source in a traceback is not the error", "[log][outcome]") {
    const LogRecord log = read_log(
        "[2025-12-18 03:20:02] server_args=ServerArgs(model_path='Qwen/Qwen3-32B', tp_size=4)\n"
        "[2025-12-18 03:20:10 TP0] Init torch distributed begin.\n"
        "[2025-12-18 03:20:20 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        "  File \"/sgl-workspace/sglang/distributed/device_communicators/pynccl_wrapper.py\", line 289, in NCCL_CHECK\n"
        "    raise RuntimeError(f\"NCCL error: {error_str}\")\n"
        "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)\n");
    REQUIRE(log.starts.size() == 1);
    const Outcome outcome = judge(log.starts[0], observe(log.starts[0]));
    CHECK(outcome.code == "nccl");
    REQUIRE_FALSE(outcome.evidence.empty());
    CHECK(outcome.evidence[0] == "NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)");
    // A collector's JSON has a quote before the message too, and is no source.
    const LogRecord json = read_log("{\"ts\":1,\"message\":\"Traceback (most recent call last):\"}\n{\"ts\":2,\"message\":\"NCCL error: unhandled system error\"}\n");
    REQUIRE(json.starts.size() == 1);
    CHECK(judge(json.starts[0], observe(json.starts[0])).code == "nccl");
}

TEST_CASE("Graphs that never finished were not observed", "[log]") {
    const LogRecord log = read_log("[2025-12-18 03:20:42 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=3.50 GB\n");
    REQUIRE(log.starts.size() == 1);
    CHECK_FALSE(observe(log.starts[0]).graphs.has_value());
}
