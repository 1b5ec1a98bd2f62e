#include "planner/export/launch_files.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/hardware/gpu_spec.hpp"
#include "planner/engines/engine.hpp"
#include "planner/export/launch.hpp"
#include "planner/export/plan_report.hpp"
#include "planner/launch/shell.hpp"

namespace kvplan::exporting {

namespace {

// NCCL's channels and the engines' message queues between ranks: 32 GiB is what the engines' own documents give a container.
constexpr Bytes kSharedMemory = gibibytes(32);
constexpr Bytes kStep = gibibytes(1);
constexpr double kProbePeriod = 10.0, kLeastStart = 600.0;

Bytes whole_gib(Bytes bytes) { return Bytes{round_up(bytes.count(), kStep.count())}; }

/// Numbers that a manifest needs beside the command.
struct Container {
    Bytes memory, shm;
    std::int64_t gpus = 1;
    std::int64_t start_seconds = 0;
    std::string image, gpu_resource;
    std::int64_t port = 0;
};

bool is_date(const std::string& version) { return version.size() == 10 && version[4] == '-'; }

std::string image_of(const Scenario& scenario) {
    const std::string& version = scenario.engine.version_text;
    std::string tag = version.empty() || is_date(version) ? "latest" : version;
    if (tag[0] >= '0' && tag[0] <= '9') tag.insert(0, "v");
    return (scenario.engine.kind == EngineKind::sglang ? "lmsysorg/sglang:" : "vllm/vllm-openai:") + tag;
}

Container container_of(const Scenario& scenario, const Plan& plan) {
    const HostOptions& host = scenario.hardware.host;
    const bool file_in_shm = engine_of(scenario.engine).host_rules(scenario).pool_in_shm && plan.hicache.enabled;
    Container c;
    c.shm = host.shm_size ? *host.shm_size : whole_gib(kSharedMemory + (file_in_shm ? plan.hicache.bytes_per_node : Bytes{0}));
    // Pages of /dev/shm are charged to the container. A pool that lies there is counted with the host's needs already.
    const Bytes beside = file_in_shm ? kSharedMemory : c.shm;
    c.memory = host.cgroup_limit ? *host.cgroup_limit : whole_gib(plan.host.required_high_bytes + beside);
    c.gpus = std::min(plan.parallelism.ranks_per_node, ceil_div(plan.parallelism.ranks, std::max<std::int64_t>(1, plan.parallelism.nodes)));
    const double start = plan.latency.startup_seconds ? plan.latency.startup_seconds->high : 0.0;
    c.start_seconds = static_cast<std::int64_t>(std::ceil(std::max(host.startup_limit_seconds.value_or(kLeastStart), host.startup_limit_seconds ? 0.0 : 2 * start)));
    c.image = image_of(scenario);
    c.gpu_resource = scenario.gpu && scenario.gpu->vendor == GpuVendor::amd ? "amd.com/gpu" : "nvidia.com/gpu";
    c.port = scenario.engine.kind == EngineKind::sglang ? 30000 : 8000;
    return c;
}

/// The words of a container: the engine's image starts in a shell (SGLang) or is the server itself (vLLM).
struct ContainerWords {
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::string> words;
};
ContainerWords container_words(const Scenario& scenario, std::int64_t port) {
    LaunchWords launch = launch_words(scenario);
    ContainerWords result{std::move(launch.environment), std::move(launch.entry)};
    for (std::string& word : launch.arguments) result.words.push_back(std::move(word));
    for (const std::string& word : {std::string("--host"), std::string("0.0.0.0"), std::string("--port"), std::to_string(port)}) result.words.push_back(word);
    return result;
}

/// A double-quoted scalar: JSON's strings are YAML's.
std::string quoted(const std::string& text) { return nlohmann::ordered_json(text).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace); }

std::string doubled(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    return text;
}

std::string comment(const Scenario& scenario, const Plan& plan) {
    std::string title = plan_title(scenario, plan) + ": " + verdict(plan);
    std::replace(title.begin(), title.end(), '\n', ' ');
    std::string text = "# " + title + "\n";
    if (is_date(scenario.engine.version_text)) text += "# Planned with the rules of " + scenario.engine.version_text + ": take an image of that day.\n";
    for (const std::string& note : launch_words(scenario).notes) text += "# " + note + "\n";
    if (scenario.gpu) text += "# To check it: kvplan check --gpu " + launch::shell_quoted(scenario.hardware.gpu_name.empty() ? scenario.gpu->name : scenario.hardware.gpu_name) + " --file FILE\n";
    if (scenario.gpu && scenario.gpu->vendor == GpuVendor::amd) text += "# Take the image's build for ROCm.\n";
    return text;
}

std::string shell_text(const Scenario& scenario, const Plan& plan) {
    const LaunchWords launch = launch_words(scenario);
    std::string text = "#!/bin/sh\n" + comment(scenario, plan);
    if (plan.hicache.enabled) text += "ulimit -l unlimited  # host pools are pinned\n";
    for (const auto& [name, value] : launch.environment) text += "export " + name + "=" + launch::shell_quoted(value) + "\n";
    const bool several = scenario.hardware.nodes.value_or(1) > 1;
    text += std::string(several ? ": \"${NODE_RANK:?0 on the first node, 1 on the next}\" \"${FIRST_NODE:?address of the first node}\"\n" : "") + "exec";
    for (const std::string& word : launch.entry) text += " " + launch::shell_quoted(word);
    // A flag and its value stay on one line.
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const bool flag = launch.arguments[i].substr(0, 2) == "--" || i == 0;
        text += (flag ? " \\\n  " : " ") + launch::shell_quoted(launch.arguments[i]);
    }
    if (several)
        text += std::string(" \\\n  --node-rank \"$NODE_RANK\" \\\n  ") + (scenario.engine.kind == EngineKind::sglang ? "--dist-init-addr \"$FIRST_NODE:20000\"" : "--master-addr \"$FIRST_NODE\"");
    return text + "\n";
}

std::string compose_text(const Scenario& scenario, const Plan& plan) {
    const Container c = container_of(scenario, plan);
    const ContainerWords launch = container_words(scenario, c.port);
    const bool vllm = scenario.engine.kind == EngineKind::vllm;
    const auto escaped = [](const std::string& word) { return quoted(doubled(word, "$", "$$")); };
    std::string text = comment(scenario, plan) + "services:\n  llm:\n    image: " + quoted(c.image) + "\n    restart: on-failure\n";
    text += "    ports:\n      - \"" + std::to_string(c.port) + ":" + std::to_string(c.port) + "\"\n    volumes:\n      - ~/.cache/huggingface:/root/.cache/huggingface\n";
    if (!launch.environment.empty()) text += "    environment:\n";
    for (const auto& [name, value] : launch.environment) text += "      " + name + ": " + escaped(value) + "\n";
    // vLLM's image has `vllm serve` as its entry point; said here, an image with another behaves the same.
    text += vllm ? "    entrypoint: [\"vllm\", \"serve\"]\n    command:\n" : "    command:\n";
    for (std::size_t i = vllm ? 2 : 0; i < launch.words.size(); ++i) text += "      - " + escaped(launch.words[i]) + "\n";
    text += "    shm_size: " + quoted(std::to_string(c.shm.count()) + "b") + "\n    ulimits:\n      memlock: " +
            (scenario.hardware.host.memlock ? std::to_string(scenario.hardware.host.memlock->count()) : std::string("-1")) + "\n";
    text += "    deploy:\n      resources:\n        limits:\n          memory: " + quoted(std::to_string(c.memory.count()) + "b") + "\n";
    if (c.gpu_resource != "nvidia.com/gpu") return text + "    devices:\n      - /dev/kfd\n      - /dev/dri\n";
    return text + "        reservations:\n          devices:\n            - driver: nvidia\n              count: " + std::to_string(c.gpus) + "\n              capabilities: [gpu]\n";
}

std::string kubernetes_text(const Scenario& scenario, const Plan& plan) {
    const Container c = container_of(scenario, plan);
    const ContainerWords launch = container_words(scenario, c.port);
    const auto escaped = [](const std::string& word) { return quoted(doubled(word, "$", "$$")); };
    const std::string memory = quoted(std::to_string(c.memory.count())), gpus = "              " + c.gpu_resource + ": " + quoted(std::to_string(c.gpus)) + "\n";
    std::string text = comment(scenario, plan);
    text += "# Locked memory (memlock) is the container runtime's limit: it must be unlimited where host pools are pinned.\n";
    text += "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: llm\n  labels: {app: llm}\nspec:\n  replicas: " + std::to_string(scenario.hardware.host.instances_per_node) +
            "\n  strategy: {type: Recreate}\n  selector:\n    matchLabels: {app: llm}\n  template:\n    metadata:\n      labels: {app: llm}\n    spec:\n      containers:\n        - name: llm\n          image: " +
            quoted(c.image) + "\n          command:\n";
    const std::size_t entry = scenario.engine.kind == EngineKind::sglang ? 3 : 2;
    for (std::size_t i = 0; i < launch.words.size(); ++i) text += std::string(i == entry ? "          args:\n" : "") + "            - " + escaped(launch.words[i]) + "\n";
    if (!launch.environment.empty()) text += "          env:\n";
    for (const auto& [name, value] : launch.environment) text += "            - name: " + name + "\n              value: " + escaped(value) + "\n";
    text += "          ports:\n            - containerPort: " + std::to_string(c.port) + "\n          resources:\n            requests:\n              memory: " + memory + "\n" + gpus +
            "            limits:\n              memory: " + memory + "\n" + gpus;
    const std::string health = "            httpGet: {path: /health, port: " + std::to_string(c.port) + "}\n";
    const auto periods = static_cast<std::int64_t>(std::ceil(static_cast<double>(c.start_seconds) / kProbePeriod));
    text += "          startupProbe:\n" + health + "            periodSeconds: 10\n            failureThreshold: " + std::to_string(periods) + "\n";
    text += "          volumeMounts:\n            - name: shm\n              mountPath: /dev/shm\n      volumes:\n        - name: shm\n          emptyDir:\n            medium: Memory\n            sizeLimit: " +
            quoted(std::to_string(c.shm.count())) + "\n";
    return text;
}

}  // namespace

std::string launch_file_refusal(const Scenario& scenario, LaunchForm form) {
    if (form == LaunchForm::shell || scenario.hardware.nodes.value_or(1) < 2) return {};
    return "a Compose service and a Deployment run on one node, and this deployment spans " + std::to_string(*scenario.hardware.nodes);
}

std::string launch_file(const Scenario& scenario, const Plan& plan, LaunchForm form) {
    switch (form) {
        case LaunchForm::compose: return compose_text(scenario, plan);
        case LaunchForm::kubernetes: return kubernetes_text(scenario, plan);
        case LaunchForm::shell: break;
    }
    return shell_text(scenario, plan);
}

}  // namespace kvplan::exporting
