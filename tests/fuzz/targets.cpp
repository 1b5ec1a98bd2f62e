#include "tests/fuzz/targets.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "models/hardware/probe.hpp"
#include "models/json/document.hpp"
#include "models/llm/hf_config.hpp"
#include "models/llm/safetensors.hpp"
#include "planner/doctor.hpp"
#include "planner/export/plan_report.hpp"
#include "planner/launch/launch.hpp"
#include "planner/log/live.hpp"
#include "planner/log/log_reader.hpp"
#include "planner/log/outcome.hpp"
#include "planner/plan.hpp"
#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"
#include "planner/trace/hit_curve.hpp"
#include "planner/trace/trace.hpp"
#include "units/parse.hpp"

namespace kvplan::fuzz {
namespace {

/// A file in memory with these bytes, for readers that take a path.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
        while (!bytes.empty()) {
            const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
            if (written <= 0) throw std::runtime_error("no file in memory");
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(descriptor_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

std::shared_ptr<const GpuSpec> gpu_for_plans() {
    static const std::shared_ptr<const GpuSpec> gpu = [] {
        Scenario scenario;
        scenario.model_name = "llama-3.1-8b";
        scenario.hardware.gpu_name = "h200";
        Diagnostics diagnostics;
        if (!look_up(scenario, {}, diagnostics)) throw std::runtime_error("no GPU for plans");
        return scenario.gpu;
    }();
    return gpu;
}

/// A plan of what was read, under both engines; the plan's own invariants must hold.
void plan_model(std::shared_ptr<const LlmSpec> model) {
    for (const EngineKind engine : {EngineKind::sglang, EngineKind::vllm}) {
        Scenario scenario;
        scenario.engine.kind = engine;
        scenario.model = model;
        scenario.gpu = gpu_for_plans();
        scenario.workload.input_tokens = 1000;
        scenario.workload.output_tokens = 500;
        Diagnostics diagnostics;
        if (!resolve(scenario, {}, diagnostics)) continue;
        const Plan result = plan(scenario);
        (void)exporting::plan_report(scenario, result, true);
        const std::vector<std::string> broken = check_invariants(result);
        if (!broken.empty()) throw std::logic_error(broken.front());
    }
}

void config(std::string_view bytes) {
    Diagnostics diagnostics;
    const auto document = json::parse(std::string(bytes), "config.json", diagnostics);
    if (!document) return;
    if (auto model = read_model(*document, ReadOptions{}, diagnostics)) plan_model(std::make_shared<const LlmSpec>(std::move(*model)));
}

void safetensors_header(std::string_view bytes) {
    const MemoryFile file(bytes);
    Diagnostics diagnostics;
    (void)read_safetensors_header(file.path(), diagnostics);
}

void safetensors_index(std::string_view bytes) {
    Diagnostics diagnostics;
    (void)parse_safetensors_index(std::string(bytes), "model.safetensors.index.json", diagnostics);
}

void scenario(std::string_view bytes) {
    Scenario read;
    Diagnostics diagnostics;
    if (!read_scenario(std::string(bytes), "scenario.json", read, diagnostics)) return;
    // Names of files in it are not followed here.
    read.model_name = "llama-3.1-8b";
    read.draft_model_name.clear();
    read.workload.workload_from.clear();
    read.hardware.gpu_name = "h200";
    if (resolve(read, {}, diagnostics)) (void)plan(read);
}

void launch_text(std::string_view bytes) {
    Diagnostics diagnostics;
    for (const launch::ParsedLaunch& parsed : launch::parse_file(bytes, "launch", diagnostics)) {
        Scenario scenario;
        launch::apply(parsed, scenario, diagnostics);
        (void)launch::rewritten(launch::accepted(parsed, scenario), {});
    }
}

void log_text(std::string_view bytes) {
    Diagnostics diagnostics;
    if (const logs::LiveKind kind = logs::live_kind(bytes); kind != logs::LiveKind::none) {
        (void)logs::read_live(std::string(bytes), kind, "live", diagnostics);
        return;
    }
    const logs::LogRecord record = logs::read_log(bytes);
    for (const logs::StartRecord& start : record.starts) (void)logs::judge(start, logs::observe(start));
}

void trace_lines(std::string_view bytes) {
    const MemoryFile file(bytes);
    Diagnostics diagnostics;
    if (const auto read = trace::read_trace({file.path()}, {}, diagnostics)) (void)trace::hit_curve(*read);
}

void texts(std::string_view bytes) {
    (void)parse_size(bytes);
    (void)parse_engine_size(bytes, kGB);
    (void)parse_integer(bytes);
    (void)parse_real(bytes);
    (void)parse_duration_seconds(bytes);
    for (const FieldSpec& field : scenario_fields()) {
        Scenario scratch;
        if (!set_field(scratch, field, bytes, "fuzz")) (void)text_of(field.get(scratch));
    }
}

/// Files are divided by lines "=== path".
void doctor(std::string_view bytes) {
    FileTexts files;
    while (!bytes.empty()) {
        const std::size_t next = bytes.find("\n=== ");
        std::string_view part = bytes.substr(0, next);
        bytes = next == std::string_view::npos ? std::string_view{} : bytes.substr(next + 1);
        if (part.substr(0, 4) == "=== ") part.remove_prefix(4);
        const std::size_t line = part.find('\n');
        files[std::string(part.substr(0, line))] = line == std::string_view::npos ? "" : std::string(part.substr(line + 1));
    }
    const Machine machine = probe(*memory_source(std::move(files)));
    (void)doctor_findings(machine);
    Scenario scenario;
    apply_machine(machine, scenario);
}

constexpr Target kTargets[] = {{"config", config}, {"safetensors_header", safetensors_header}, {"safetensors_index", safetensors_index},
                               {"scenario", scenario}, {"launch", launch_text}, {"log", log_text}, {"trace", trace_lines}, {"text", texts}, {"doctor", doctor}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
    for (const Target& target : kTargets)
        if (target.name == name) return &target;
    return nullptr;
}

}  // namespace kvplan::fuzz
