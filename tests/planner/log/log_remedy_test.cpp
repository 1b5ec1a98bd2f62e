// Ways out of failed starts: commands that were planned again with what the log measured.
#include <algorithm>
#include <string>

#include "planner/log/analysis.hpp"
#include "planner/log/log_reader.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::logs;

namespace {

StartAnalysis analysed(const std::string& text) {
    const LogRecord log = read_log(text);
    REQUIRE(log.starts.size() == 1);
    Diagnostics diagnostics;
    const Overrides none = [](Scenario& scenario, Diagnostics&) {
        scenario.hardware.gpu_name = "h100";
        return true;
    };
    StartAnalysis result = analyse(log.starts[0], none, {}, diagnostics);
    INFO(result.not_planned);
    REQUIRE(result.scenario.has_value());
    return result;
}

std::string changed(const StartAnalysis& analysis, const std::string& flag) {
    if (!analysis.remedy) return "no remedy";
    for (const CheckedCommand::Change& change : analysis.remedy->changes)
        if (change.field == flag) return change.to;
    return "";
}

std::string vllm_start(const std::string& model, const std::string& arguments, int context, int tp = 1) {
    return "(APIServer pid=1) INFO 10-11 09:00:05 [api_server.py:1839] vLLM API server version 0.11.0\n"
           "(APIServer pid=1) INFO 10-11 09:00:05 [utils.py:233] non-default args: {'model': '" + model + "'" + arguments + "}\n"
           "(EngineCore_DP0 pid=200) INFO 10-11 09:00:20 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='" + model +
           "', speculative_config=None, dtype=torch.bfloat16, max_seq_len=" + std::to_string(context) + ", tensor_parallel_size=" + std::to_string(tp) + ", quantization=None, kv_cache_dtype=auto\n";
}

// Qwen3-32B: 64 layers x 8 KV heads x 128 x K and V x 2 B = 262,144 B a token; 61.03 GiB of weights.
const std::string kLoaded32 = "(EngineCore_DP0 pid=200) INFO 10-11 09:01:20 [gpu_model_runner.py:2653] Model loading took 61.0347 GiB and 40.531000 seconds\n";

}  // namespace

TEST_CASE("a context that does not fit is cut to what the engine itself found, and no further", "[log][remedy][vllm]") {
    // 3.93 GiB / 262,144 B = 16,097 tokens, 1,006 blocks of 16: 16,096.
    const StartAnalysis start = analysed(vllm_start("Qwen/Qwen3-32B", ", 'gpu_memory_utilization': 0.85, 'max_model_len': 40960", 40960) + kLoaded32 +
                                         "(EngineCore_DP0 pid=200) INFO 10-11 09:01:50 [gpu_worker.py:298] Available KV cache memory: 3.93 GiB\n"
                                         "(EngineCore_DP0 pid=200) ERROR 10-11 09:01:50 [core.py:708] ValueError: To serve at least one request with the models's max seq len (40960), (10.00 GiB KV cache is needed, which is larger "
                                         "than the available KV cache memory (3.93 GiB). Based on the available memory, the estimated maximum model length is 16096. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when "
                                         "initializing the engine.\n");
    CHECK(start.outcome.code == "context_does_not_fit");
    CHECK(changed(start, "--max-model-len") == "16096");
    CHECK(start.remedy->changes.size() == 1);
}

TEST_CASE("a fraction too low under vLLM is raised by what the log says is lacking", "[log][remedy][vllm]") {
    // -3.33 GiB at 0.75 of 79.19 GiB: 40,960 tokens need 10.00 GiB, so 0.75 + 13.33 / 79.19 = 0.9184 at least.
    const StartAnalysis start = analysed(vllm_start("Qwen/Qwen3-32B", ", 'gpu_memory_utilization': 0.75", 40960) + kLoaded32 +
                                         "(EngineCore_DP0 pid=200) INFO 10-11 09:01:50 [gpu_worker.py:298] Available KV cache memory: -3.33 GiB\n"
                                         "(EngineCore_DP0 pid=200) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n");
    CHECK(start.outcome.code == "fraction_too_low");
    REQUIRE(start.remedy.has_value());
    CHECK(std::stod(changed(start, "--gpu-memory-utilization")) >= 0.918);
    CHECK(start.remedy->changes.size() == 1);
}

TEST_CASE("memory that another process holds is not planned with", "[log][remedy][vllm]") {
    const auto free_of = [](const std::string& gib) {
        return "(EngineCore_DP0 pid=200) ValueError: Free memory on device (" + gib + "/79.19 GiB) on startup is less than desired GPU memory utilization (0.9, 71.27 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\n";
    };
    // 61 GiB of weights in 58 GiB: nothing helps but freeing the GPU.
    const StartAnalysis none = analysed(vllm_start("Qwen/Qwen3-32B", ", 'gpu_memory_utilization': 0.9", 40960) + free_of("58.01"));
    CHECK(none.outcome.code == "free_memory_below_fraction");
    CHECK_FALSE(none.remedy.has_value());
    // An 8B model fits there: 58.01 / 79.19 = 0.7325.
    const StartAnalysis some = analysed(vllm_start("meta-llama/Llama-3.1-8B-Instruct", ", 'gpu_memory_utilization': 0.9, 'max_model_len': 32768", 32768) + free_of("58.01"));
    REQUIRE(some.remedy.has_value());
    CHECK(std::stod(changed(some, "--gpu-memory-utilization")) <= 0.732);
}

TEST_CASE("weights that do not fit want more ranks", "[log][remedy]") {
    const StartAnalysis start = analysed(vllm_start("meta-llama/Llama-3.3-70B-Instruct", ", 'max_model_len': 8192", 8192) +
                                         "(EngineCore_DP0 pid=200) ERROR 10-11 09:00:30 [core.py:708] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 896.00 MiB. GPU 0 has a total capacity of 79.19 GiB of which 390.06 MiB is free.\n");
    CHECK(start.outcome.code == "weights_do_not_fit");
    // 131.4 GiB of bf16 weights: one card holds them not, two do (65.7 of 71.3 GiB that 0.9 gives), four with room.
    const std::string tp = changed(start, "--tensor-parallel-size");
    CHECK((tp == "2" || tp == "4"));
}

TEST_CASE("a host pool that the engine refused is cut to what all ranks may have", "[log][remedy][hicache]") {
    std::string text = "[2025-11-03 10:00:00] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-70B-Instruct', context_length=32768, mem_fraction_static=0.85, tp_size=4, enable_hierarchical_cache=True, hicache_size=300)\n"
                       "[2025-11-03 10:00:10 TP0] Load weight begin. avail mem=78.50 GB\n"
                       "[2025-11-03 10:01:10 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=45.30 GB, mem usage=33.20 GB.\n"
                       "[2025-11-03 10:01:20 TP0] KV Cache is allocated. #tokens: 439000, K size: 16.75 GB, V size: 16.75 GB\n"
                       "[2025-11-03 10:01:20 TP0] Memory pool end. avail mem=11.30 GB\n"
                       "ValueError: Not enough host memory available. Requesting 300.00 GB but only have 244.87 GB free. Please reduce the size of the hierarchical cache.\n";
    const StartAnalysis start = analysed(text);
    CHECK(start.outcome.code == "host_check");
    // 244.87 GB and the 10 GiB that the check keeps are available to four ranks: less than 63.9 GB each.
    REQUIRE(start.remedy.has_value());
    const double size = std::stod(changed(start, "--hicache-size"));
    CHECK(4 * size * 1e9 + 10.0 * kGiB <= 244.87e9 + 10.0 * kGiB);
    CHECK(size > 33.5 * kGiB / 1e9);   // still larger than the device pool, else it would serve nothing
}
