#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "models/hardware/gpu_catalogue.hpp"
#include "units/format.hpp"

namespace kvplan::cli {

using Json = nlohmann::ordered_json;

namespace {

std::string rate_gb(const std::optional<Fact<BytesPerSecond>>& rate) { return rate ? fixed(rate->value.value / 1e9, 0) : std::string("?"); }
std::string tflops(const std::optional<Fact<Flops>>& rate) { return rate ? fixed(rate->value.value / 1e12, 0) : std::string("-"); }

template <class T, class Number>
Json fact_json(const std::optional<Fact<T>>& fact, Number number) {
    if (!fact) return nullptr;
    return {{"value", number(fact->value)}, {"verified", fact->verified}, {"sources", fact->sources}};
}

Json gpu_json(const GpuSpec& gpu) {
    const auto bytes = [](Bytes b) { return b.count(); };
    const auto rate = [](auto r) { return r.value; };
    Json json;
    json["name"] = gpu.name;
    json["aliases"] = gpu.aliases;
    json["vendor"] = name_of(gpu.vendor);
    json["architecture"] = gpu.architecture;
    json["gpus_per_node"] = gpu.gpus_per_node;
    json["visible_memory_bytes"] = fact_json(gpu.visible_memory, bytes);
    json["process_memory_bytes"] = fact_json(gpu.process_memory, bytes);
    json["memory_bandwidth_bytes_per_second"] = fact_json(std::optional(gpu.memory_bandwidth), rate);
    json["dense_flops"] = {{"bf16", fact_json(gpu.dense.bf16, rate)}, {"fp16", fact_json(gpu.dense.fp16, rate)}, {"fp8", fact_json(gpu.dense.fp8, rate)},
                           {"fp4", fact_json(gpu.dense.fp4, rate)}, {"int8", fact_json(gpu.dense.int8, rate)}};
    json["peer_link"] = {{"kind", name_of(gpu.peer_link.kind)}, {"bytes_per_second_each_way", fact_json(gpu.peer_link.each_way, rate)}};
    json["host_link_bytes_per_second"] = fact_json(host_rate(gpu), rate);
    json["tdp_watts"] = fact_json(gpu.tdp_watts, [](std::int64_t watts) { return watts; });
    return json;
}

std::string mib(const GpuSpec& gpu) { return gpu.visible_memory ? with_commas(gpu.visible_memory->value.count() / kMiB) : std::string("?"); }

void list_gpus(Context& context, const GpuCatalogue& catalogue) {
    exporting::Report report{std::to_string(catalogue.all().size()) + " GPUs", "", exporting::Tone::good, {}};
    exporting::ReportSection section{"GPUs", {{"name", "MiB", "GB/s", "bf16 TFLOPS", "fp8", "fp4", "peer GB/s", "host GB/s"}, {}}, {}};
    Json list = Json::array();
    for (const GpuSpec& gpu : catalogue.all()) {
        section.table.rows.push_back({{gpu.name, mib(gpu), fixed(gpu.memory_bandwidth.value.value / 1e9, 0), tflops(gpu.dense.half()), tflops(gpu.dense.fp8),
                                       tflops(gpu.dense.fp4), rate_gb(gpu.peer_link.each_way), rate_gb(host_rate(gpu))}, 0, false});
        list.push_back(gpu_json(gpu));
    }
    section.sentences = {"Memory as nvidia-smi or rocm-smi reports it; dense rates without sparsity; links one way. `kvplan gpus show NAME` names sources and what is unverified."};
    report.sections.push_back(std::move(section));
    write_formatted(context, Json{{"gpus", list}}, report);
}

void add_fact(exporting::ReportTable& table, const std::string& name, const std::string& value, bool verified, const std::vector<std::string>& sources) {
    std::string from;
    for (const std::string& source : sources) from += (from.empty() ? "" : ", ") + source;
    table.rows.push_back({{name, value, verified ? "" : "unverified", from}, 0, false});
}

void show_gpu(Context& context, const GpuCatalogue& catalogue, const std::string& name) {
    const GpuMatch match = catalogue.find(name);
    Diagnostics diagnostics;
    if (const auto diagnostic = diagnostic_for(match, name, "gpus show")) diagnostics.add(*diagnostic);
    if (match.gpu == nullptr) return fail(context, diagnostics);
    show(context, diagnostics);
    const GpuSpec& gpu = *match.gpu;
    exporting::ReportSection section{"Facts", {{"", "value", "", "source"}, {}}, {}};
    const auto bytes = [&](const char* what, const std::optional<Fact<Bytes>>& fact) {
        if (fact) add_fact(section.table, what, with_commas(fact->value.count() / kMiB) + " MiB", fact->verified, fact->sources);
    };
    const auto flops = [&](const char* what, const std::optional<Fact<Flops>>& fact) {
        if (fact) add_fact(section.table, what, tflops(fact) + " TFLOPS", fact->verified, fact->sources);
    };
    bytes("memory, driver's total", gpu.visible_memory);
    bytes("memory, as a process sees it", gpu.process_memory);
    add_fact(section.table, "memory bandwidth", fixed(gpu.memory_bandwidth.value.value / 1e9, 0) + " GB/s", gpu.memory_bandwidth.verified, gpu.memory_bandwidth.sources);
    flops("bf16, dense", gpu.dense.bf16);
    flops("fp16, dense", gpu.dense.fp16);
    flops("fp8, dense", gpu.dense.fp8);
    flops("fp4, dense", gpu.dense.fp4);
    flops("int8, dense", gpu.dense.int8);
    if (gpu.peer_link.each_way) add_fact(section.table, std::string(name_of(gpu.peer_link.kind)) + ", each way", rate_gb(gpu.peer_link.each_way) + " GB/s", gpu.peer_link.each_way->verified, gpu.peer_link.each_way->sources);
    if (const auto host = host_rate(gpu)) add_fact(section.table, "host link, each way", rate_gb(host) + " GB/s", host->verified, host->sources);
    write_formatted(context, gpu_json(gpu), {gpu.name + " (" + gpu.architecture + ")", "", exporting::Tone::good, {section}});
}

}  // namespace

void add_gpus_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("gpus", "GPU catalogue: list, show");
    command->footer("Example:\n  kvplan gpus show h200");
    command->require_subcommand(0, 1);
    command->add_option("--hardware-dir", context.catalogues.hardware_dir, "More GPU presets (JSON)")->type_name("DIR");
    const auto with_catalogue = [&context](auto action) {
        Diagnostics diagnostics;
        const GpuCatalogue catalogue = GpuCatalogue::load(context.catalogues.hardware_dir, diagnostics);
        if (diagnostics.has_errors()) return fail(context, diagnostics);
        action(catalogue);
    };
    const auto list = [&context, with_catalogue] { with_catalogue([&](const GpuCatalogue& catalogue) { list_gpus(context, catalogue); }); };
    command->add_subcommand("list", "All GPUs with their main figures")->callback(list);
    command->callback([command, list] {
        if (command->get_subcommands().empty()) list();
    });
    CLI::App* show_command = command->add_subcommand("show", "One GPU with the source of each figure");
    const auto name = std::make_shared<std::string>();
    show_command->add_option("name", *name, "Name or alias")->required();
    show_command->callback([&context, with_catalogue, name] {
        with_catalogue([&](const GpuCatalogue& catalogue) { show_gpu(context, catalogue, *name); });
    });
}

}  // namespace kvplan::cli
