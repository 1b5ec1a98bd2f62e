#include "planner/fields/builders.hpp"

namespace kvplan::fields {

namespace {

FieldSpec startup_limit() {
    FieldSpec spec = field({"startup_limit", {"--startup-limit"}, FieldGroup::host, "A watchdog or probe that ends a start (default 600s)", FieldEngines::any, "DURATION"}, FieldKind::text, "");
    spec.set = [](Scenario& scenario, std::string_view text) -> std::optional<ParseFailure> {
        const Parsed<double> parsed = parse_duration_seconds(text);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) return *failure;
        scenario.hardware.host.startup_limit_seconds = std::get<double>(parsed);
        return std::nullopt;
    };
    spec.get = [](const Scenario& scenario) -> FieldValue {
        const std::optional<double>& limit = scenario.hardware.host.startup_limit_seconds;
        if (!limit) return std::monostate{};
        return text_of(*limit) + "s";
    };
    return spec;
}

}  // namespace

std::vector<FieldSpec> model_and_hardware_fields() {
    constexpr auto model = FieldGroup::model;
    constexpr auto hardware = FieldGroup::hardware;
    constexpr auto host = FieldGroup::host;
    return {
        text({"model", {"--model", "--model-path", "-m"}, model, "Preset name, Hugging Face id, config.json or checkpoint directory", FieldEngines::any, "NAME|FILE|DIR"}, KVPLAN_FIELD(model_name)),
        text({"quantization", {"--quantization"}, model, "Format of the checkpoint when it differs from the config (bf16, fp8, nvfp4, int4-g32, mxfp4, …)"}, KVPLAN_FIELD(engine.quantization)),
        text({"draft_model", {"--draft-model", "--speculative-draft-model-path", "--speculative-draft-model"}, model, "Drafter for speculative decoding: name, config or directory", FieldEngines::any, "NAME|FILE|DIR"}, KVPLAN_FIELD(draft_model_name)),
        size({"weights_per_gpu", {"--weights-per-gpu"}, model, "Measured weights of one GPU, instead of the computed ones"}, KVPLAN_FIELD(weights_per_gpu)),
        text({"gpu", {"--gpu"}, hardware, "GPU by catalogue name or alias (kvplan gpus list)", FieldEngines::any, "NAME"}, KVPLAN_FIELD(hardware.gpu_name)),
        size({"gpu_memory", {"--gpu-memory"}, hardware, "Total memory of one GPU, instead of the catalogue's"}, KVPLAN_FIELD(hardware.gpu_memory)),
        size({"gpu_free", {"--gpu-free"}, hardware, "Measured free memory of a GPU just before the weights load (\"Load weight begin. avail mem\")"}, KVPLAN_FIELD(hardware.gpu_free)),
        integer({"gpus_per_node", {"--gpus-per-node"}, hardware, "GPUs in one host (default: the catalogue's, 8)"}, kCount, KVPLAN_FIELD(hardware.gpus_per_node)),
        integer({"nodes", {"--nodes", "--nnodes"}, hardware, "Hosts that one deployment spans"}, kCount, KVPLAN_FIELD(hardware.nodes)),
        integer({"instances_per_node", {"--instances-per-node"}, hardware, "Servers that share one host"}, kCount, KVPLAN_FIELD(hardware.host.instances_per_node)),
        size({"host_ram", {"--host-ram"}, host, "RAM of the host in total"}, KVPLAN_FIELD(hardware.host.ram)),
        size({"host_available", {"--host-available"}, host, "RAM that is available before the launch (MemAvailable)"}, KVPLAN_FIELD(hardware.host.available)),
        size({"cgroup_limit", {"--cgroup-limit"}, host, "Memory limit of the container or service"}, KVPLAN_FIELD(hardware.host.cgroup_limit)),
        size({"cgroup_used", {"--cgroup-used"}, host, "Memory already charged to that limit"}, KVPLAN_FIELD(hardware.host.cgroup_used)),
        size({"host_reserve", {"--host-reserve"}, host, "RAM to leave free (default: SGLang's 10GiB)"}, KVPLAN_FIELD(hardware.host.reserve)),
        size({"host_used", {"--host-used"}, host, "RAM that others on the host will use"}, KVPLAN_FIELD(hardware.host.used)),
        size({"memlock", {"--memlock"}, host, "Limit of locked memory of one process (ulimit -l)"}, KVPLAN_FIELD(hardware.host.memlock)),
        size({"huge_pages_reserved", {"--huge-pages-reserved"}, host, "RAM set aside as huge pages"}, KVPLAN_FIELD(hardware.host.huge_pages_reserved)),
        size({"shm_size", {"--shm-size"}, host, "Size of /dev/shm"}, KVPLAN_FIELD(hardware.host.shm_size)),
        integer({"numa_nodes", {"--numa-nodes"}, host, "NUMA nodes that the ranks are bound to"}, kCount, KVPLAN_FIELD(hardware.host.numa_nodes)),
        startup_limit(),
    };
}

}  // namespace kvplan::fields
