#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "planner/plan.hpp"
#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"
#include "planner/sweep/select.hpp"

// One benchmark a row of the table in docs/bench.md.

namespace {

using namespace kvplan;
namespace fs = std::filesystem;
using Fields = std::vector<std::pair<std::string, std::string>>;

const Fields kDeepSeek{{"model", "deepseek-v3"}, {"gpu", "h200"}, {"tp_size", "8"}};

Scenario scenario_of(const Fields& fields) {
    Scenario scenario;
    for (const auto& [name, value] : fields) (void)set_field(scenario, *find_field(name), value, "bench");
    return scenario;
}

Scenario resolved(const Fields& fields) {
    Scenario scenario = scenario_of(fields);
    Diagnostics diagnostics;
    if (!resolve(scenario, {}, diagnostics)) std::abort();
    return scenario;
}

/// DeepSeek-V3 on 8 H200: alone, with a version to read, and with lengths, so that concurrency and throughput are planned.
void PlanDeepSeekV3(benchmark::State& state) {
    Fields fields = kDeepSeek;
    if (state.range(0) == 1) fields.insert(fields.end(), {{"engine", "sglang@0.5.6"}});
    if (state.range(0) == 2) fields.insert(fields.end(), {{"input_tokens", "4000"}, {"output_tokens", "500"}, {"host_ram", "2TB"}, {"enable_hierarchical_cache", "true"}});
    const Scenario scenario = resolved(fields);
    for (auto _ : state) benchmark::DoNotOptimize(plan(scenario).capacity.distinct_tokens);
}
BENCHMARK(PlanDeepSeekV3)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

/// Points of a sweep on one thread, from set_field to the cells of a row.
void SweepPoints(benchmark::State& state) {
    Diagnostics diagnostics;
    sweep::Request request;
    request.base = scenario_of(kDeepSeek);
    for (const char* axis : {"mem_fraction_static=0.80:0.95:0.01", "hicache_ratio=1:4:0.5", "context_length=4096:131072:4096", "concurrency=1:256:1"})
        request.grid.axes.push_back(*sweep::parse_axis(axis, diagnostics));
    request.figures.push_back(*sweep::find_figure("capacity.max_total_num_tokens", request.grid.axes, "", diagnostics));
    sweep::Points points(std::move(request));
    if (!points.look_up_all(diagnostics)) state.SkipWithError("the sweep cannot be looked up");
    constexpr std::int64_t kPoints = 2048;
    for (auto _ : state) (void)run(points, 0, kPoints, 1, [](const std::vector<sweep::Row>& rows, std::int64_t) { return !rows.empty(); });
    state.counters["points/s"] = benchmark::Counter(static_cast<double>(state.iterations() * kPoints), benchmark::Counter::kIsRate);
}
BENCHMARK(SweepPoints)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

/// `kvplan plan` with a preset, from fork to exit.
void PlanProcess(benchmark::State& state) {
    for (auto _ : state) {
        const pid_t child = fork();
        if (child == 0) {
            const int null = open("/dev/null", O_WRONLY);
            dup2(null, STDOUT_FILENO);
            execl(KVPLAN_BINARY, KVPLAN_BINARY, "plan", "--model", "deepseek-v3", "--gpu", "h200", "--tp", "8", static_cast<char*>(nullptr));
            _exit(99);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) state.SkipWithError("kvplan plan failed");
    }
}
BENCHMARK(PlanProcess)->Unit(benchmark::kMillisecond)->UseRealTime();

std::string shared_config(const std::string& name) {
    const char* folder = std::getenv("KVPLAN_SHARED_DIR");
    return folder == nullptr ? std::string{} : std::string(folder) + "/data/configs/" + name;
}

/// A real config of 3 MB whose quantization lists 22,422 layers (nvidia/MiniMax-M3-NVFP4); needs KVPLAN_SHARED_DIR.
void RealConfigToPlan(benchmark::State& state) {
    const std::string config = shared_config("nvidia__MiniMax-M3-NVFP4.json");
    if (!fs::exists(config)) return state.SkipWithError("KVPLAN_SHARED_DIR does not name the shared facts");
    for (auto _ : state) benchmark::DoNotOptimize(plan(resolved({{"model", config}, {"gpu", "b200"}, {"tp_size", "8"}})).capacity.distinct_tokens);
}
BENCHMARK(RealConfigToPlan)->Unit(benchmark::kMillisecond);

/// 163 sparse files that hold 94,051 tensors of a DeepSeek-V3 checkpoint's shape, made once.
class Checkpoint {
public:
    Checkpoint() : path_(fs::temp_directory_path() / ("kvplan-bench-" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
        std::ofstream(path_ / "config.json") << kConfig;
        for (int file = 0; file < 163; ++file) write(file);
    }
    ~Checkpoint() { fs::remove_all(path_); }
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    static constexpr const char* kConfig = R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4096,"intermediate_size":14336,
        "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256,"max_position_embeddings":8192,"torch_dtype":"bfloat16"})";

    void write(int file) const {
        std::string header = R"({"__metadata__":{"format":"pt"})";
        std::uint64_t at = 0;
        for (int i = 0; i < 577; ++i) {
            const bool weight = i % 2 == 0;
            const std::uint64_t bytes = weight ? 2048ULL * 7168 : 16ULL * 56 * 4;
            header += ",\"model.layers." + std::to_string(file % 61) + ".mlp.experts." + std::to_string(i) + ".down_proj.weight" + std::to_string(file) + "\":{\"dtype\":\"" +
                      (weight ? "F8_E4M3\",\"shape\":[2048,7168]" : "F32\",\"shape\":[16,56]") + ",\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + bytes) + "]}";
            at += bytes;
        }
        header += "}";
        const fs::path name = path_ / ("model-" + std::to_string(1000 + file) + "-of-00163.safetensors");
        std::ofstream out(name, std::ios::binary);
        const std::uint64_t length = header.size();
        for (int byte = 0; byte < 8; ++byte) out.put(static_cast<char>((length >> (8 * byte)) & 255U));
        out << header;
        out.close();
        fs::resize_file(name, 8 + header.size() + at);  // a hole: no disk is taken
    }
    fs::path path_;
};

void CheckpointDirectoryToPlan(benchmark::State& state) {
    const Checkpoint checkpoint;
    for (auto _ : state) benchmark::DoNotOptimize(plan(resolved({{"model", checkpoint.path()}, {"gpu", "h200"}, {"tp_size", "8"}})).capacity.distinct_tokens);
}
BENCHMARK(CheckpointDirectoryToPlan)->Unit(benchmark::kMillisecond);

}  // namespace
