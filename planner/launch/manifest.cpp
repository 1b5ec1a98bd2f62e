#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "planner/launch/launch.hpp"
#include "planner/launch/quantities.hpp"
#include "planner/launch/recognise.hpp"
#include "planner/launch/shell.hpp"
#include "units/parse.hpp"

namespace kvplan::launch {
namespace {

constexpr int kMostDepth = 64;
constexpr std::size_t kMostVisits = 200'000;  // aliases can make a small text a large tree

std::string scalar(const YAML::Node& node) { return node && node.IsScalar() ? node.Scalar() : std::string(); }

/// The member of that name, also from a mapping that is merged in (`<<: *common`), which the library leaves to us.
YAML::Node member(const YAML::Node& node, const std::string& key, int depth = 0) {
    const YAML::Node none(YAML::NodeType::Undefined);
    if (!node || !node.IsMap() || depth > 8) return none;
    if (const YAML::Node own = node[key]) return own;
    const YAML::Node merged = key == "<<" ? none : node["<<"];
    if (!merged) return none;
    if (merged.IsMap()) return member(merged, key, depth + 1);
    if (!merged.IsSequence()) return none;
    for (const YAML::Node& one : merged)
        if (const YAML::Node found = member(one, key, depth + 1)) return found;
    return none;
}

YAML::Node member(const YAML::Node& node, std::initializer_list<const char*> path) {
    YAML::Node at = node;
    for (const char* key : path) at.reset(member(at, key));
    return at;
}

std::optional<std::int64_t> integer(const YAML::Node& node) {
    const Parsed<std::int64_t> parsed = parse_integer(scalar(node));
    return parse_ok(parsed) ? std::optional<std::int64_t>(std::get<std::int64_t>(parsed)) : std::nullopt;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

class ManifestReader {
public:
    ManifestReader(const std::string& name, Diagnostics& diagnostics) : name_(name), diagnostics_(&diagnostics) {}

    std::vector<ParsedLaunch> read(std::string_view text) {
        // Documents are cut here: on some faulty texts the library's own reader of several documents never ends.
        std::size_t line = 0;
        while (!text.empty() && !diagnostics_->has_errors()) {
            const std::size_t end = end_of_document(text);
            read_text(text.substr(0, end), line);
            line += static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
            text.remove_prefix(end);
        }
        return std::move(launches_);
    }

private:
    /// Where the next line "---" begins, which in YAML ends a document wherever it stands.
    static std::size_t end_of_document(std::string_view text) {
        for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
            const std::string_view rest = text.substr(at + 1);
            if (rest.substr(0, 3) == "---" && (rest.size() == 3 || rest[3] == '\n' || rest[3] == ' ' || rest[3] == '\r')) return at + 1;
        }
        return text.size();
    }

    void read_text(std::string_view text, std::size_t lines_before) {
        try {
            read_document(YAML::Load(std::string(text)));
        } catch (const YAML::Exception& error) {
            Diagnostic d;
            d.code = "launch.yaml";
            d.file = name_;
            d.line = error.mark.is_null() ? 0 : lines_before + static_cast<std::size_t>(error.mark.line) + 1;
            d.column = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.column) + 1;
            d.message = "the text is no YAML: " + error.msg;
            if (text.find("{{") != std::string_view::npos) d.hint = "a Helm template must be rendered first: helm template … | kvplan check --file -";
            diagnostics_->add(std::move(d));
        }
    }

    void read_document(const YAML::Node& document) {
        if (document.IsSequence()) return read_bare_list(document);
        if (!document.IsMap()) return;
        const YAML::Node services = member(document, "services");
        if (services && services.IsMap() && !member(document, "kind")) {
            for (const auto& service : services) read_service(scalar(service.first), service.second);
            return;
        }
        const std::size_t before = launches_.size();
        visit(document, 0);
        const bool bare = launches_.size() == before && (member(document, "args") || member(document, "command"));
        if (bare) read_container(document, YAML::Node());
    }

    /// `- --model-path` … : the arguments of a server whose engine their names tell, or a whole command.
    void read_bare_list(const YAML::Node& list) {
        Words words;
        words.source = name_ + ": list of arguments";
        for (const YAML::Node& item : list)
            if (item.IsScalar()) words.words.push_back(item.Scalar());
        if (words.words.empty()) return;
        if (words.words.front().substr(0, 1) == "-" && words.words.front() != "-m") {
            const bool vllm = std::any_of(words.words.begin(), words.words.end(), [](const std::string& word) {
                return word.find("--gpu-memory-utilization") == 0 || word.find("--max-model-len") == 0 || word.find("--tensor-parallel-size") == 0 || word == "--model";
            });
            const bool sglang = std::any_of(words.words.begin(), words.words.end(), [](const std::string& word) {
                return word.find("--model-path") == 0 || word.find("--mem-fraction-static") == 0 || word.find("--tp") == 0 || word.find("--hicache") == 0;
            });
            words.image = vllm && !sglang ? "vllm-openai" : "sglang";
        }
        find(words);
    }

    // --- Compose

    void read_service(const std::string& service, const YAML::Node& node) {
        if (!node.IsMap()) return;
        Words words;
        words.source = name_ + ": service " + service;
        words.image = interpolated(scalar(member(node, "image")));
        words.environment = compose_environment(member(node, "environment"));
        append_command(member(node, "entrypoint"), words);
        append_command(member(node, "command"), words);
        LaunchLimits& limits = words.limits;
        limits.shm = scalar(member(node, "ipc")) == "host" ? std::nullopt : std::optional<Bytes>(mebibytes(64));
        if (const auto shm = docker_bytes(interpolated(scalar(member(node, "shm_size"))))) limits.shm = shm;
        limits.memory = docker_bytes(interpolated(scalar(member(node, "mem_limit"))));
        if (const auto memory = docker_bytes(interpolated(scalar(member(node, {"deploy", "resources", "limits", "memory"}))))) limits.memory = memory;
        const YAML::Node memlock = member(node, {"ulimits", "memlock"});
        const std::string soft = scalar(memlock && memlock.IsMap() ? member(memlock, "soft") : memlock);
        if (!soft.empty() && soft != "-1") limits.memlock = docker_bytes(soft);
        const YAML::Node devices = member(node, {"deploy", "resources", "reservations", "devices"});
        if (devices && devices.IsSequence())
            for (const YAML::Node& device : devices) {
                if (const auto count = integer(member(device, "count"))) limits.gpus = count;
                const YAML::Node ids = member(device, "device_ids");
                if (ids && ids.IsSequence()) limits.gpus = static_cast<std::int64_t>(ids.size());
            }
        find(words);
    }

    /// A string is split as a shell would, a list is taken as it is.
    void append_command(const YAML::Node& node, Words& words) {
        if (!node) return;
        if (node.IsSequence()) {
            for (const YAML::Node& item : node)
                if (item.IsScalar()) words.words.push_back(interpolated(item.Scalar()));
            return;
        }
        if (!node.IsScalar()) return;
        std::string text = node.Scalar();
        replace_all(text, "$$", "\\$");
        std::replace(text.begin(), text.end(), '\n', ' ');
        for (ShellCommand& command : read_shell(text, words.source, {}, *diagnostics_)) {
            words.words.insert(words.words.end(), command.words.begin(), command.words.end());
            unresolved_.insert(unresolved_.end(), command.unresolved.begin(), command.unresolved.end());
        }
    }

    static std::map<std::string, std::string> compose_environment(const YAML::Node& node) {
        std::map<std::string, std::string> environment;
        if (!node) return environment;
        if (node.IsMap()) {
            for (const auto& entry : node) environment[scalar(entry.first)] = interpolated(scalar(entry.second));
        } else if (node.IsSequence()) {
            for (const YAML::Node& item : node) {
                const std::string text = scalar(item);
                const std::size_t equals = text.find('=');
                if (equals != std::string::npos) environment[text.substr(0, equals)] = interpolated(text.substr(equals + 1));
            }
        }
        return environment;
    }

    /// `${NAME:-default}` of Compose; variables without a default stay as written.
    static std::string interpolated(const std::string& text) {
        if (text.find('$') == std::string::npos) return text;
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::size_t end = text.compare(i, 2, "${") == 0 ? text.find('}', i) : std::string::npos;
            if (text.compare(i, 2, "$$") == 0) {
                result += '$';
                ++i;
            } else if (end != std::string::npos) {
                const std::string inner = text.substr(i + 2, end - i - 2);
                const std::size_t dash = inner.find('-');
                result += dash == std::string::npos ? text.substr(i, end + 1 - i) : inner.substr(dash + 1);
                i = end;
            } else {
                result += text[i];
            }
        }
        return result;
    }

    // --- Kubernetes: any mapping with `containers` is taken for a pod's spec

    void visit(const YAML::Node& node, int depth) {
        if (++visits_ > kMostVisits || depth > kMostDepth) return report_too_deep();
        if (node.IsSequence()) {
            for (const YAML::Node& item : node) visit(item, depth + 1);
            return;
        }
        if (!node.IsMap()) return;
        for (const char* kind : {"containers", "mainContainer"}) {
            const YAML::Node containers = member(node, kind);
            if (!containers) continue;
            if (containers.IsMap()) read_container(containers, node);
            if (!containers.IsSequence()) continue;
            for (const YAML::Node& container : containers)
                if (container.IsMap()) read_container(container, node);
        }
        for (const auto& entry : node) visit(entry.second, depth + 1);
    }

    void report_too_deep() {
        if (reported_) return;
        reported_ = true;
        Diagnostic d;
        d.code = "launch.too-deep";
        d.file = name_;
        d.message = "the document is nested too deeply, or its aliases make it too large";
        d.expected = "at most 64 levels and 200,000 values";
        diagnostics_->add(std::move(d));
    }

    void read_container(const YAML::Node& container, const YAML::Node& pod) {
        Words words;
        words.source = name_ + ": container " + scalar(member(container, "name"));
        words.image = scalar(member(container, "image"));
        const YAML::Node env = member(container, "env");
        if (env && env.IsSequence())
            for (const YAML::Node& entry : env)
                if (const YAML::Node value = member(entry, "value")) words.environment[scalar(member(entry, "name"))] = scalar(value);
        for (const char* key : {"command", "args"}) append_arguments(member(container, key), words);
        read_pod_limits(container, pod, words.limits);
        find(words);
    }

    /// `$(NAME)` stands for the container's own variables, `$$` for a dollar.
    static std::string kubernetes_expanded(const std::string& text, const std::map<std::string, std::string>& environment) {
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::size_t end = text.compare(i, 2, "$(") == 0 ? text.find(')', i) : std::string::npos;
            const auto variable = end == std::string::npos ? environment.end() : environment.find(text.substr(i + 2, end - i - 2));
            if (text.compare(i, 2, "$$") == 0) {
                result += text[i++];
            } else if (variable != environment.end()) {
                result += variable->second;
                i = end;
            } else {
                result += text[i];
            }
        }
        return result;
    }

    static void append_arguments(const YAML::Node& node, Words& words) {
        const auto append = [&](const std::string& text) { words.words.push_back(kubernetes_expanded(text, words.environment)); };
        if (node && node.IsScalar()) append(node.Scalar());
        if (!node || !node.IsSequence()) return;
        for (const YAML::Node& item : node)
            if (item.IsScalar()) append(item.Scalar());
    }

    static void read_pod_limits(const YAML::Node& container, const YAML::Node& pod, LaunchLimits& limits) {
        const YAML::Node resources = member(container, {"resources", "limits"});
        limits.memory = kubernetes_bytes(scalar(member(resources, "memory")));
        for (const char* gpu : {"nvidia.com/gpu", "amd.com/gpu"})
            if (const auto count = integer(member(resources, gpu))) limits.gpus = count;
        limits.shm = shm_of(container, pod);
        limits.gpu_name = gpu_of(pod);
        for (const char* kind : {"startupProbe", "livenessProbe"}) {
            const YAML::Node probe = member(container, kind);
            if (!probe || !probe.IsMap()) continue;
            const auto value = [&](const char* key, std::int64_t standard) { return static_cast<double>(integer(member(probe, key)).value_or(standard)); };
            limits.startup_seconds = value("initialDelaySeconds", 0) + value("failureThreshold", 3) * value("periodSeconds", 10);
            return;
        }
    }

    /// An emptyDir of medium Memory at /dev/shm; without one a container has 64 MiB. No size limit: not known.
    static std::optional<Bytes> shm_of(const YAML::Node& container, const YAML::Node& pod) {
        const YAML::Node mounts = member(container, "volumeMounts");
        const YAML::Node volumes = member(pod, "volumes");
        if (scalar(member(pod, "hostIPC")) == "true") return std::nullopt;
        if (mounts && mounts.IsSequence())
            for (const YAML::Node& mount : mounts) {
                if (scalar(member(mount, "mountPath")) != "/dev/shm") continue;
                if (!volumes || !volumes.IsSequence()) return std::nullopt;
                for (const YAML::Node& volume : volumes)
                    if (scalar(member(volume, "name")) == scalar(member(mount, "name"))) return kubernetes_bytes(scalar(member(volume, {"emptyDir", "sizeLimit"})));
                return std::nullopt;
            }
        return mebibytes(64);
    }

    static bool names_gpu(const std::string& label) {
        return label == "nvidia.com/gpu.product" || label == "cloud.google.com/gke-accelerator" || label == "karpenter.k8s.aws/instance-gpu-name" ||
               label == "amd.com/gpu.product-name" || label == "gpu.nvidia.com/model" || label == "gpu.nvidia.com/class";
    }

    static std::optional<std::string> gpu_of(const YAML::Node& pod) {
        const YAML::Node selector = member(pod, "nodeSelector");
        if (selector && selector.IsMap())
            for (const auto& entry : selector)
                if (names_gpu(scalar(entry.first))) return gpu_text(scalar(entry.second));
        const YAML::Node terms = member(pod, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
        if (!terms || !terms.IsSequence()) return std::nullopt;
        for (const YAML::Node& term : terms) {
            const YAML::Node expressions = member(term, "matchExpressions");
            if (!expressions || !expressions.IsSequence()) continue;
            for (const YAML::Node& expression : expressions) {
                const YAML::Node values = member(expression, "values");
                const bool one = values && values.IsSequence() && values.size() == 1 && scalar(member(expression, "operator")) == "In";
                if (one && names_gpu(scalar(member(expression, "key")))) return gpu_text(scalar(values[0]));
            }
        }
        return std::nullopt;
    }

    /// "NVIDIA-H100-80GB-HBM3" -> "NVIDIA H100 80GB HBM3", as nvidia-smi names it; a -SHARED or MIG mark falls away.
    static std::string gpu_text(std::string label) {
        for (const std::string_view mark : {"-SHARED", "-MIG"}) {
            const std::size_t at = label.find(mark);
            if (at != std::string::npos) label.resize(at);
        }
        std::replace(label.begin(), label.end(), '-', ' ');
        return label;
    }

    void find(const Words& words) {
        for (ParsedLaunch& launch : find_launches(words, *diagnostics_)) {
            for (const std::string& word : launch.arguments)
                if (word.find("${") != std::string::npos || word.find("$(") != std::string::npos) launch.unresolved.push_back(word);
            launch.unresolved.insert(launch.unresolved.end(), unresolved_.begin(), unresolved_.end());
            launches_.push_back(std::move(launch));
        }
        unresolved_.clear();
    }

    std::string name_;
    Diagnostics* diagnostics_;
    std::vector<ParsedLaunch> launches_;
    std::vector<std::string> unresolved_;
    std::size_t visits_ = 0;
    bool reported_ = false;
};

}  // namespace

std::vector<ParsedLaunch> parse_manifest(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    Diagnostic d;
    d.file = name;
    if (text.size() > kMostTextBytes) {
        d.code = "launch.too-large";
        d.message = "the text is too large for a manifest";
        d.expected = "at most 4 MiB";
        diagnostics.add(std::move(d));
        return {};
    }
    std::vector<ParsedLaunch> all = ManifestReader(name, diagnostics).read(text);
    if (all.empty() && !diagnostics.has_errors()) {
        d.code = "launch.none";
        d.message = "no container of this manifest launches SGLang or vLLM";
        d.expected = "a service or container whose command, args or image starts one of them";
        diagnostics.add(std::move(d));
    }
    return all;
}

}  // namespace kvplan::launch
