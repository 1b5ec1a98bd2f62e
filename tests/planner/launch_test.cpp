#include "planner/launch/launch.hpp"

#include <algorithm>

#include "planner/launch/known_flags.hpp"
#include "planner/launch/launch_findings.hpp"
#include "planner/launch/recognise.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
using namespace kvplan::launch;
using Strings = std::vector<std::string>;

namespace {

ParsedLaunch script(std::string_view text) {
    Diagnostics diagnostics;
    const auto all = parse_script(text, "serve.sh", diagnostics);
    INFO(render(diagnostics));
    REQUIRE(all.size() == 1);
    return all[0];
}

ParsedLaunch manifest(std::string_view text) {
    Diagnostics diagnostics;
    const auto all = parse_file(text, "-", diagnostics);
    INFO(render(diagnostics));
    REQUIRE(all.size() == 1);
    return all[0];
}

struct Applied {
    Scenario scenario;
    Diagnostics diagnostics;
};

Applied applied(const ParsedLaunch& launch) {
    Applied result;
    apply(launch, result.scenario, result.diagnostics);
    return result;
}

bool told(const Diagnostics& diagnostics, std::string_view code) {
    return std::any_of(diagnostics.items().begin(), diagnostics.items().end(), [&](const Diagnostic& d) { return d.code == code; });
}

}  // namespace

TEST_CASE("The founding command is read with every flag", "[launch]") {
    const Strings words = {"python3", "-m", "sglang.launch_server", "--model-path", "moonshotai/Kimi-K2.5", "--tp", "8", "--mem-fraction-static", "0.93",
                           "--enable-hierarchical-cache", "--hicache-size", "300", "--trust-remote-code", "--host", "0.0.0.0", "--port", "30000"};
    Diagnostics diagnostics;
    const auto launches = parse_words(words, diagnostics);
    REQUIRE(launches.size() == 1);
    REQUIRE(launches[0].model == "moonshotai/Kimi-K2.5");
    REQUIRE(launches[0].unknown.empty());
    const Applied result = applied(launches[0]);
    REQUIRE(result.diagnostics.empty());
    const Scenario& s = result.scenario;
    REQUIRE(s.model_name == "moonshotai/Kimi-K2.5");
    REQUIRE(s.engine.tp == 8);
    REQUIRE(s.engine.mem_fraction_static == FreeMemoryFraction{0.93});
    REQUIRE(s.engine.hicache.enabled);
    REQUIRE(s.engine.hicache.size_gb == 300);
    REQUIRE(s.origin.at("hicache_size") == "launch command");
}

TEST_CASE("Launches are found behind wrappers, in shells and in containers", "[launch]") {
    for (const std::string_view text : {
             "python -m sglang.launch_server --model-path m --tp 4",
             "/opt/venv/bin/python3.12 -m sglang.launch_server --model m --tp-size=4",
             "sglang serve --model-path m --tensor-parallel-size 4",
             "sglang serve m --tp 4",
             "A=b env C=d numactl --cpunodebind=0 -m 0 nohup python3 -m sglang.launch_server --model-path m --tp 4 > log 2>&1 &",
             "bash -lc 'cd /x && exec python3 -m sglang.launch_server --model-path m --tp 4'",
             "docker run --gpus all --rm -it --shm-size 32g -p 30000:30000 -v ~/.cache:/root/.cache --env HF_TOKEN=x --ipc=host lmsysorg/sglang:latest "
             "python3 -m sglang.launch_server --model-path m --tp 4",
             "docker run -d lmsysorg/sglang:latest bash -c \"python3 -m sglang.launch_server --model-path m --tp 4\"",
             "sudo docker exec -it box python3 -m sglang.launch_server --model-path m --tp 4",
             "uv run --with sglang python -m sglang.launch_server --model-path m --tp 4",
             "srun --ntasks=1 python3 -m sglang.launch_server --model-path m --tp 4",
         }) {
        INFO(text);
        const ParsedLaunch launch = script(text);
        REQUIRE(launch.engine == EngineKind::sglang);
        REQUIRE(launch.model == "m");
        REQUIRE(launch.unknown.empty());
        REQUIRE(applied(launch).scenario.engine.tp == 4);
    }
}

TEST_CASE("vLLM's ways to say it", "[launch][vllm]") {
    for (const std::string_view text : {
             "vllm serve m -tp 2 --max-model-len 32k --max-num-seqs 64 --gpu-memory-utilization 0.9",
             "vllm serve m --tensor_parallel_size=2 --max_model_len 32000 --max-num-seqs=64 --gpu-memory-utilization=0.90",
             "python3 -m vllm.entrypoints.openai.api_server --model m -tp=2 --max-model-len=32000 --max-num-seqs 64 --gpu-memory-utilization 0.9",
             "docker run --runtime nvidia --gpus all vllm/vllm-openai:v0.11.0 --model m -tp 2 --max-model-len 32000 --max-num-seqs 64 --gpu-memory-utilization 0.9",
             "docker run vllm/vllm-openai m -tp 2 --max-model-len 32000 --max-num-seqs 64 --gpu-memory-utilization 0.9",
         }) {
        INFO(text);
        const ParsedLaunch launch = script(text);
        REQUIRE(launch.engine == EngineKind::vllm);
        REQUIRE(launch.model == "m");
        const Applied result = applied(launch);
        INFO(render(result.diagnostics));
        REQUIRE(result.diagnostics.empty());
        REQUIRE(result.scenario.engine.tp == 2);
        REQUIRE(result.scenario.engine.context_length == 32'000);
        REQUIRE(result.scenario.engine.max_running_requests == 64);
        REQUIRE(result.scenario.engine.gpu_memory_utilization == TotalMemoryFraction{0.9});
    }
}

TEST_CASE("vLLM's JSON flags set drafts and offloading", "[launch][vllm]") {
    const Applied one = applied(script("vllm serve m --speculative-config '{\"method\": \"eagle3\", \"model\": \"d\", \"num_speculative_tokens\": 3}' "
                                       "--kv-transfer-config '{\"kv_connector\": \"OffloadingConnector\", \"kv_connector_extra_config\": {\"cpu_bytes_to_use\": 107374182400}}'"));
    REQUIRE(one.scenario.engine.speculative.algorithm == "eagle3");
    REQUIRE(one.scenario.engine.speculative.num_draft_tokens == 3);
    REQUIRE(one.scenario.draft_model_name == "d");
    REQUIRE(one.scenario.engine.kv_offloading_size_gib == 100.0);
    const Applied two = applied(script("vllm serve m --speculative-config.method mtp --no-enable-prefix-caching"));
    REQUIRE(two.scenario.engine.speculative.algorithm == "mtp");
    REQUIRE(two.diagnostics.empty());
}

TEST_CASE("An image's tag and a pip install name the version", "[launch]") {
    REQUIRE(script("docker run lmsysorg/sglang:v0.5.6.post2-cu126 python3 -m sglang.launch_server --model-path m").engine_version == "0.5.6.post2");
    REQUIRE(script("docker run vllm/vllm-openai:v0.11.0 --model m").engine_version == "0.11.0");
    REQUIRE(script("docker run lmsysorg/sglang:latest python3 -m sglang.launch_server --model-path m").engine_version.empty());
    REQUIRE(script("docker run reg:5000/lmsysorg/sglang python3 -m sglang.launch_server --model-path m").engine_version.empty());
    REQUIRE(script("pip install -U 'sglang[all]==0.5.4'\npython3 -m sglang.launch_server --model-path m").engine_version == "0.5.4");
    REQUIRE(applied(script("pip install sglang==0.5.4\nsglang serve m")).scenario.engine.version_text == "0.5.4");
}

TEST_CASE("docker run's limits are the launch's", "[launch]") {
    const ParsedLaunch launch = script("docker run -m 400g --ulimit memlock=-1 --shm-size=16g --gpus '\"device=0,1,2\"' x/sglang:latest python3 -m sglang.launch_server --model-path m --tp 4");
    REQUIRE(launch.limits.memory == gibibytes(400));
    REQUIRE(launch.limits.shm == gibibytes(16));
    REQUIRE_FALSE(launch.limits.memlock);
    REQUIRE(launch.limits.gpus == 3);
    const Applied result = applied(launch);
    REQUIRE(result.scenario.hardware.host.cgroup_limit == gibibytes(400));
    REQUIRE(told(result.diagnostics, "launch.gpu-count"));
    REQUIRE(script("docker run x/sglang sglang serve m").limits.shm == mebibytes(64));
    REQUIRE_FALSE(script("docker run --ipc host x/sglang sglang serve m").limits.shm);
}

TEST_CASE("Unknown and misspelt flags are kept and named", "[launch]") {
    const ParsedLaunch launch = script("sglang serve m --mem-fracton-static 0.9 --no-such-thing a b --tp 2");
    REQUIRE(launch.unknown.size() == 2);
    REQUIRE(launch.unknown[0].name == "--mem-fracton-static");
    REQUIRE(launch.unknown[0].nearest.front() == "--mem-fraction-static");
    REQUIRE(launch.unknown[1].value == "a b");
    const Applied result = applied(launch);
    REQUIRE(result.scenario.engine.tp == 2);
    REQUIRE(told(result.diagnostics, "launch.unknown-flag"));
    REQUIRE_FALSE(result.diagnostics.has_errors());
}

TEST_CASE("A unique prefix of a flag is that flag, as argparse has it", "[launch]") {
    const ParsedLaunch launch = script("sglang serve m --mem-fraction 0.9 --enable-hier");
    REQUIRE(launch.unknown.empty());
    REQUIRE(applied(launch).scenario.engine.mem_fraction_static == FreeMemoryFraction{0.9});
    REQUIRE(applied(launch).scenario.engine.hicache.enabled);
}

TEST_CASE("Flags of the other engine are unknown", "[launch]") {
    REQUIRE(script("sglang serve m --gpu-memory-utilization 0.9").unknown.size() == 1);
    REQUIRE(script("vllm serve m --mem-fraction-static 0.9").unknown.size() == 1);
    REQUIRE(script("sglang serve m --host-ram 3TB").unknown.size() == 1);
}

TEST_CASE("Values that no engine takes are errors, variables without a value warnings", "[launch]") {
    REQUIRE(told(applied(script("sglang serve m --tp eight")).diagnostics, "launch.value"));
    REQUIRE(told(applied(script("sglang serve m --tp")).diagnostics, "launch.value"));
    REQUIRE(told(applied(script("sglang serve --config serve.yaml --model-path m")).diagnostics, "launch.config"));
    const Applied unset = applied(script("sglang serve m --tp $TP"));
    REQUIRE_FALSE(unset.diagnostics.has_errors());
    REQUIRE(told(unset.diagnostics, "launch.unresolved"));
}

TEST_CASE("Negative numbers and lists are values, switches take none", "[launch]") {
    const ParsedLaunch launch = script("sglang serve --chunked-prefill-size -1 --cuda-graph-bs 1 2 4 --disable-cuda-graph --model-path m --enable-dp-attention --dp 8 --tp 8");
    REQUIRE(launch.unknown.empty());
    REQUIRE(launch.model == "m");
    const Applied result = applied(launch);
    REQUIRE(result.scenario.engine.chunked_prefill_size == -1);
    REQUIRE(result.scenario.engine.disable_cuda_graph);
    REQUIRE(result.scenario.engine.enable_dp_attention);
}

TEST_CASE("Variables of the environment that bear on memory are used", "[launch]") {
    REQUIRE(applied(script("LMCACHE_MAX_LOCAL_CPU_SIZE=50 vllm serve m -tp 8")).scenario.engine.lmcache_max_local_cpu_gb == 50.0);
    REQUIRE(applied(script("export SGLANG_PP_LAYER_PARTITION=15,15,15,16\nsglang serve m --pp 4")).scenario.engine.parallel_layer_partition == "15,15,15,16");
}

TEST_CASE("A script with two servers gives both, one without any an error", "[launch]") {
    Diagnostics diagnostics;
    const auto both = parse_script("sglang serve a --disaggregation-mode prefill &\nsglang serve b --disaggregation-mode decode\n", "pd.sh", diagnostics);
    REQUIRE(both.size() == 2);
    REQUIRE(both[1].source == "pd.sh:2");
    REQUIRE(parse_script("echo hello", "x.sh", diagnostics).empty());
    REQUIRE(told(diagnostics, "launch.none"));
}

TEST_CASE("The corrected command keeps all that was not changed", "[launch]") {
    const ParsedLaunch launch = script("CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server --model-path m --hicache-size=300 --odd 'a b' --enable-hierarchical-cache --tp 8");
    const std::vector<FlagChange> changes = {{"hicache_size", "39"}, {"max_total_tokens", "316000"}};
    REQUIRE(rewritten(launch, changes) ==
            "CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server --model-path m --hicache-size 39 --odd 'a b' --enable-hierarchical-cache --tp 8 --max-total-tokens 316000");
    const std::vector<FlagChange> off = {{"enable_hierarchical_cache", "false"}, {"enable_dp_attention", "true"}};
    REQUIRE(rewritten(launch, off) == "CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server --model-path m --hicache-size=300 --odd 'a b' --tp 8 --enable-dp-attention");
    const ParsedLaunch docker = script("docker run --gpus all x/sglang:v0.5.6 sglang serve m --hicache-size 300");
    REQUIRE(rewritten(docker, std::vector<FlagChange>{{"hicache_size", "39"}}) == "docker run --gpus all x/sglang:v0.5.6 sglang serve m --hicache-size 39");
    const ParsedLaunch vllm = script("vllm serve m");
    REQUIRE(rewritten(vllm, std::vector<FlagChange>{{"context_length", "8192"}}) == "vllm serve m --max-model-len 8192");
}

TEST_CASE("A Kubernetes deployment is read with its limits", "[launch][manifest]") {
    const ParsedLaunch launch = manifest(R"yaml(# Source: chart/templates/x.yaml
apiVersion: v1
kind: Service
metadata: {name: x}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: kimi
spec:
  template:
    spec:
      nodeSelector:
        nvidia.com/gpu.product: NVIDIA-H200
      volumes:
        - name: dshm
          emptyDir: {medium: Memory, sizeLimit: 32Gi}
      containers:
        - name: sidecar
          image: busybox
          command: [sleep, "1"]
        - name: server
          image: lmsysorg/sglang:v0.5.6-cu129
          command: ["python3", "-m", "sglang.launch_server"]
          args: ["--model-path", "$(MODEL)", "--tp", "8", "--enable-hierarchical-cache", --hicache-size=64]
          env:
            - {name: MODEL, value: moonshotai/Kimi-K2.5}
          resources:
            limits: {memory: 256G, nvidia.com/gpu: "8"}
          startupProbe: {failureThreshold: 60, periodSeconds: 10, initialDelaySeconds: 30}
          volumeMounts:
            - {name: dshm, mountPath: /dev/shm}
)yaml");
    REQUIRE(launch.model == "moonshotai/Kimi-K2.5");
    REQUIRE(launch.engine_version == "0.5.6");
    REQUIRE(launch.limits.memory == gigabytes(256));
    REQUIRE(launch.limits.shm == gibibytes(32));
    REQUIRE(launch.limits.gpus == 8);
    REQUIRE(launch.limits.gpu_name == "NVIDIA H200");
    REQUIRE(launch.limits.startup_seconds == 630.0);
    const Applied result = applied(launch);
    INFO(render(result.diagnostics));
    REQUIRE(result.diagnostics.empty());
    REQUIRE(result.scenario.engine.hicache.size_gb == 64);
    REQUIRE(result.scenario.hardware.host.cgroup_limit == gigabytes(256));
    REQUIRE(result.scenario.hardware.host.startup_limit_seconds == 630.0);
    REQUIRE(result.scenario.hardware.gpu_name == "NVIDIA H200");
}

TEST_CASE("A pod that runs a shell script", "[launch][manifest]") {
    const ParsedLaunch launch = manifest(R"yaml(
kind: Pod
spec:
  containers:
  - name: s
    env:
    - name: TP
      value: "4"
    command: ["/bin/sh", "-c"]
    args:
    - |
      set -e
      exec sglang serve m \
        --tp $TP
)yaml");
    REQUIRE(applied(launch).scenario.engine.tp == 4);
    REQUIRE(launch.limits.shm == mebibytes(64));
}

TEST_CASE("A Compose file is read in Docker's units, with merged parts and defaults", "[launch][manifest]") {
    const ParsedLaunch launch = manifest(R"yaml(
x-common: &common
  shm_size: 16g
  environment:
    - HF_HOME=/cache
services:
  web:
    image: nginx
  llm:
    <<: *common
    image: vllm/vllm-openai:${TAG:-v0.11.0}
    command: >
      --model m
      --tensor-parallel-size ${TP:-4}
      --kv-offloading-size 64
    mem_limit: 256g
    ulimits:
      memlock: -1
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 4
              capabilities: [gpu]
)yaml");
    REQUIRE(launch.engine == EngineKind::vllm);
    REQUIRE(launch.engine_version == "0.11.0");
    REQUIRE(launch.limits.shm == gibibytes(16));
    REQUIRE(launch.limits.memory == gibibytes(256));
    REQUIRE(launch.limits.gpus == 4);
    REQUIRE(launch.environment.at("HF_HOME") == "/cache");
    REQUIRE(applied(launch).scenario.engine.tp == 4);
    REQUIRE(applied(launch).scenario.engine.kv_offloading_size_gib == 64.0);
}

TEST_CASE("A bare list of arguments is a server's", "[launch][manifest]") {
    const ParsedLaunch launch = manifest("- --model-path\n- m\n- --tp=8\n- --hicache-size\n- \"64\"\n");
    REQUIRE(launch.engine == EngineKind::sglang);
    REQUIRE(launch.model == "m");
    REQUIRE(applied(launch).scenario.engine.hicache.size_gb == 64);
}

TEST_CASE("Broken and hostile YAML is an error, not a crash", "[launch][manifest]") {
    Diagnostics diagnostics;
    REQUIRE(parse_manifest("kind: {{ .Values.kind }}\n  a: [", "t.yaml", diagnostics).empty());
    REQUIRE(told(diagnostics, "launch.yaml"));
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 20; ++i) {
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int j = 0; j < 9; ++j) bomb += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
        bomb += "]\n";
    }
    Diagnostics bombed;
    REQUIRE(parse_manifest(bomb, "t.yaml", bombed).empty());
    REQUIRE(told(bombed, "launch.too-deep"));
    Diagnostics deep;
    REQUIRE(parse_manifest(std::string(5000, '['), "t.yaml", deep).empty());
    REQUIRE(deep.has_errors());
    Diagnostics large;
    REQUIRE(parse_manifest(std::string(kMostTextBytes + 1, ' '), "t.yaml", large).empty());
    REQUIRE(told(large, "launch.too-large"));
}

TEST_CASE("Several documents are read up to the faulty one, with its line", "[launch][manifest]") {
    Diagnostics diagnostics;
    (void)parse_manifest("kind: A\n---\nkind: B\n--- # third\na: [\n", "t.yaml", diagnostics);
    REQUIRE(diagnostics.error_count() == 1);
    REQUIRE(diagnostics.items()[0].line >= 5);
    Diagnostics endless;  // a tag before a comma makes the library's reader of several documents run for ever
    (void)parse_manifest("!, args: [s, serve, m]}\n", "t.yaml", endless);
    REQUIRE_FALSE(endless.empty());
}

TEST_CASE("A node affinity names the GPU too, and marks of sharing fall away", "[launch][manifest]") {
    const ParsedLaunch launch = manifest(R"yaml(
kind: Pod
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-H100-80GB-HBM3-SHARED]}
  containers:
  - {name: s, image: "lmsysorg/sglang:latest", args: [sglang, serve, m]}
)yaml");
    REQUIRE(launch.limits.gpu_name == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("A loop of servers in the background counts, one after the other does not", "[launch]") {
    const std::string body = "CUDA_VISIBLE_DEVICES=$((2*i)),$((2*i+1)) python3 -m sglang.launch_server --model-path m --tp 2 --port 3000$i";
    const ParsedLaunch loop = script("for i in 0 1 2 3; do " + body + " & done\nwait\n");
    REQUIRE(loop.repeats == 4);
    REQUIRE(applied(loop).scenario.hardware.host.instances_per_node == 4);
    REQUIRE(script("for i in 0 1 2 3; do\n  " + body + "\ndone\n").repeats == 1);
    REQUIRE(script("for i in $(seq 4); do " + body + " & done\n").repeats == 0);
    REQUIRE(script(body + " && echo up\n").repeats == 1);
    // the assignment's name stays out of the quotes, what the shell computes stays live
    REQUIRE(rewritten(loop, {}).find("CUDA_VISIBLE_DEVICES=\"$((2*i)),$((2*i+1))\" python3") == 0);
}

TEST_CASE("Words that a shell still has to read stay readable to it", "[launch]") {
    const ParsedLaunch docker = script("docker run -v ~/.cache/huggingface:/root/.cache/huggingface --env HF_TOKEN=$HF_TOKEN lmsysorg/sglang:v0.5.6 "
                                       "python3 -m sglang.launch_server --model-path m --tp 8\n");
    const std::string command = rewritten(docker, {});
    REQUIRE(command.find("-v ~/.cache/huggingface:/root/.cache/huggingface ") != std::string::npos);
    REQUIRE(command.find("--env HF_TOKEN=$HF_TOKEN ") != std::string::npos);
}

TEST_CASE("The size of LMCache is set where the command names it", "[launch]") {
    const ParsedLaunch launch = script("LMCACHE_MAX_LOCAL_CPU_SIZE=200 vllm serve m -tp 4\n");
    const std::vector<FlagChange> change = {{"lmcache_max_local_cpu_size", "149"}};
    REQUIRE(rewritten(launch, change) == "LMCACHE_MAX_LOCAL_CPU_SIZE=149 vllm serve m -tp 4");
}

TEST_CASE("Flags that stop the engine's parser are found and set right", "[launch]") {
    const auto has = [](const std::vector<Finding>& found, std::string_view code) {
        return std::any_of(found.begin(), found.end(), [&](const Finding& f) { return f.code == code; });
    };
    const ParsedLaunch typo = script("python3 -m sglang.launch_server --model-path m --mem-fracton-static 0.9 -tp 8\n");
    REQUIRE(has(launch_findings(typo, applied(typo).scenario), "unknown_flag"));
    const ParsedLaunch right = accepted(typo, applied(typo).scenario);
    REQUIRE(rewritten(right, {}) == "python3 -m sglang.launch_server --model-path m --mem-fraction-static 0.9 --tp 8");
    REQUIRE(applied(right).scenario.engine.tp == 8);
    const ParsedLaunch old = script("python3 -m sglang.launch_server --model-path m --hybrid-kvcache-ratio 0.5 --tp 8\n");
    REQUIRE(has(launch_findings(old, applied(old).scenario), "flag_not_in_version"));
    REQUIRE(rewritten(accepted(old, applied(old).scenario), {}) == "python3 -m sglang.launch_server --model-path m --tp 8");
    const ParsedLaunch few = script("CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server --model-path m --tp 4\n");
    REQUIRE(has(launch_findings(few, applied(few).scenario), "more_ranks_than_gpus"));  // 4 ranks on 2 GPUs
    const ParsedLaunch fine = script("CUDA_VISIBLE_DEVICES=0,1,2,3 python3 -m sglang.launch_server --model-path m --tp 4\n");
    REQUIRE(launch_findings(fine, applied(fine).scenario).empty());
}

TEST_CASE("Words that belong to no flag are told, with the flag that a typographic dash meant", "[launch]") {
    const ParsedLaunch dash = script("python3 -m sglang.launch_server --model-path m \u2014tp 4");
    REQUIRE(dash.unknown.size() == 2);  // the word, and its number
    CHECK(dash.unknown[0].nearest == std::vector<std::string>{"--tp"});
    CHECK(dash.unknown[1].name == "4");
    CHECK(script("vllm serve m tp 4").unknown.size() == 2);
    CHECK(script("vllm serve m -tp 4").unknown.empty());
    CHECK(script("sglang serve m --cuda-graph-bs 1 2 4 --tp 2").unknown.empty());
}

TEST_CASE("A value in the other engine's unit is not carried over", "[launch]") {
    // 300 is GB per rank for SGLang, and would be GiB over all ranks for vLLM.
    const auto kept = [](const char* text, EngineKind engine) {
        Scenario scenario;
        scenario.engine.kind = engine;
        const ParsedLaunch launch = script(text);
        REQUIRE(launch.unknown.size() == 1);
        CHECK_FALSE(launch.unknown[0].differs.empty());
        return accepted(launch, scenario).arguments;
    };
    CHECK(kept("vllm serve m -tp 8 --hicache-size 300", EngineKind::vllm) == std::vector<std::string>{"m", "-tp", "8"});
    CHECK(kept("sglang serve m --kv-offloading-size 300 --tp 8", EngineKind::sglang) == std::vector<std::string>{"m", "--tp", "8"});
    CHECK(kept("sglang serve m --speculative-config '{}'", EngineKind::sglang) == std::vector<std::string>{"m"});
}

TEST_CASE("A name of the other engine is unknown, and what this one calls it is named", "[launch]") {
    const auto only = [](const char* text) {
        const ParsedLaunch launch = script(text);
        REQUIRE(launch.unknown.size() == 1);
        return launch.unknown[0].nearest;
    };
    CHECK(only("sglang serve m --max-model-len 4096") == std::vector<std::string>{"--context-length"});
    CHECK(only("sglang serve m --max-num-seqs 5") == std::vector<std::string>{"--max-running-requests"});
    CHECK(only("sglang serve m --enforce-eager") == std::vector<std::string>{"--disable-cuda-graph"});
    CHECK(only("vllm serve m --tp 2") == std::vector<std::string>{"--tensor-parallel-size"});
    CHECK(only("vllm serve m --context-length 4096") == std::vector<std::string>{"--max-model-len"});
    CHECK(only("vllm serve m --chunked-prefill-size 4096") == std::vector<std::string>{"--max-num-batched-tokens"});
    // Both know these.
    CHECK(script("sglang serve m --tensor-parallel-size 2").unknown.empty());
    CHECK(script("vllm serve m --tensor-parallel-size 2 --max-model-len 4096").unknown.empty());
}
