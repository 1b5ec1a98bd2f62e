#include "planner/launch/known_flags.hpp"

#include <algorithm>

#include "planner/fields/fields.hpp"

namespace kvplan::launch {
namespace {

// One word a flag: a plain name is a switch, "=" takes one value, "*" takes several.
constexpr std::string_view kSglang =
    "config= tokenizer-path= tokenizer-mode= tokenizer-backend= tokenizer-worker-num= skip-tokenizer-init load-format= model-loader-extra-config= "
    "trust-remote-code is-embedding revision= model-impl= host= port= fastapi-root-path= grpc-mode skip-server-warmup warmups= nccl-port= "
    "checkpoint-engine-wait-weights-before-ready quantization-param-path= kv-cache-quant-algo= enable-fp32-lm-head modelopt-quant= "
    "modelopt-checkpoint-restore-path= modelopt-checkpoint-save-path= modelopt-export-path= quantize-and-serve rl-quant-profile= "
    "max-queued-requests= enable-dynamic-chunking prefill-max-requests= schedule-policy= enable-priority-scheduling "
    "abort-on-priority-when-disabled schedule-low-priority-values-first priority-scheduling-preemption-threshold= default-priority-value= "
    "schedule-conservativeness= hybrid-kvcache-ratio= radix-eviction-policy= device= stream-interval= incremental-streaming-output stream-output "
    "enable-streaming-session random-seed= constrained-json-whitespace-pattern= constrained-json-disable-any-whitespace watchdog-timeout= "
    "soft-watchdog-timeout= dist-timeout= download-dir= base-gpu-id= gpu-id-step= sleep-on-idle use-ray custom-sigquit-handler= log-level= "
    "log-level-http= log-requests log-requests-level= log-requests-format= log-requests-target* uvicorn-access-log-exclude-prefixes* "
    "crash-dump-folder= show-time-cost enable-metrics enable-mfu-metrics enable-metrics-for-all-schedulers tokenizer-metrics-custom-labels-header= "
    "tokenizer-metrics-allowed-custom-labels* bucket-time-to-first-token* bucket-inter-token-latency* bucket-e2e-request-latency* "
    "collect-tokens-histogram prompt-tokens-buckets* generation-tokens-buckets* gc-warning-threshold-secs= gc-threshold* decode-log-interval= "
    "prefill-log-interval= enable-request-time-stats-logging kv-events-config= enable-trace otlp-traces-endpoint= export-metrics-to-file "
    "export-metrics-to-file-dir= api-key= admin-api-key= served-model-name= weight-version= chat-template= hf-chat-template-name= completion-template= "
    "file-storage-path= enable-cache-report reasoning-parser= strip-thinking-cache tool-call-parser= tool-server= sampling-defaults= "
    "load-balance-method= load-watch-interval= prefill-round-robin-balance dist-init-addr= node-rank= json-model-override-args= preferred-sampling-params= "
    "enable-lora enable-lora-overlap-loading lora-target-modules* lora-paths* max-loaded-loras= lora-eviction-policy= lora-backend= max-lora-chunk-size= "
    "experts-shared-outer-loras lora-use-virtual-experts decode-attention-backend= prefill-attention-backend= sampling-backend= grammar-backend= "
    "mm-attention-backend= fp8-gemm-backend= fp4-gemm-backend= fp8-gemm-runner-backend= fp4-gemm-runner-backend= mamba-backend= linear-attn-backend= "
    "linear-attn-decode-backend= linear-attn-prefill-backend= dsa-topk-backend= nsa-topk-backend= enable-nsa-prefill-context-parallel "
    "enable-dsa-prefill-context-parallel nsa-prefill-cp-mode= dsa-prefill-cp-mode= enable-prefill-context-parallel prefill-cp-mode= "
    "speculative-draft-model-revision= speculative-draft-load-format= speculative-accept-threshold-single= speculative-accept-threshold-acc= "
    "speculative-token-map= speculative-attention-mode= speculative-draft-attention-backend= speculative-moe-runner-backend= "
    "speculative-moe-a2a-backend= speculative-draft-model-quantization= speculative-draft-window-size= speculative-dflash-block-size= "
    "speculative-ngram-min-match-window-size= speculative-ngram-max-match-window-size= speculative-ngram-min-bfs-breadth= "
    "speculative-ngram-max-bfs-breadth= speculative-ngram-match-type= speculative-ngram-branch-length= speculative-ngram-capacity= "
    "speculative-ngram-max-trie-depth= speculative-ngram-external-corpus-path= speculative-ngram-external-sam-budget= "
    "speculative-ngram-external-corpus-max-tokens= speculative-adaptive speculative-adaptive-config= speculative-skip-dp-mlp-sync "
    "enable-multi-layer-eagle moe-runner-backend= flashinfer-mxfp4-moe-precision= enable-flashinfer-allreduce-fusion enforce-disable-flashinfer-allreduce-fusion "
    "enable-aiter-allreduce-fusion deepep-mode= ep-dispatch-algorithm= init-expert-location= enable-eplb eplb-algorithm= eplb-rebalance-num-iterations= "
    "eplb-rebalance-layers-per-chunk= eplb-min-rebalancing-utilization-threshold= expert-distribution-recorder-mode= "
    "expert-distribution-recorder-buffer-size= enable-expert-distribution-metrics deepep-config= elastic-ep-backend= enable-elastic-expert-backup "
    "mooncake-ib-device= enable-ep-moe enable-deepep-moe enable-flashinfer-cutlass-moe enable-flashinfer-trtllm-moe enable-flashinfer-moe "
    "mamba-track-interval= max-mamba-cache-size= hicache-storage-prefetch-policy= hicache-host-memory-mode= hicache-host-memory-fraction= "
    "disable-hicache-numa-detect enable-mla-hicache-host-dedup enable-lmcache lmcache-config-file= enable-hisparse hisparse-config= kt-weight-path= "
    "kt-method= kt-cpuinfer= kt-threadpool-count= kt-num-gpu-experts= kt-max-deferred-experts-per-token= kt-gpu-prefill-token-threshold= kt-amx-weight-path= "
    "dllm-algorithm= dllm-algorithm-config= enable-double-sparsity ds-channel-config-path= ds-heavy-channel-num= ds-heavy-token-num= ds-heavy-channel-type= "
    "ds-sparse-decode-threshold= offload-group-size= offload-num-in-group= offload-prefetch-step= offload-mode= multi-item-scoring-delimiter= "
    "enable-mis disable-cuda-graph-padding cuda-graph-bs* cuda-graph-bs-decode* cuda-graph-max-bs-decode= cuda-graph-bs-prefill* cuda-graph-max-bs-prefill= "
    "cuda-graph-backend-decode= cuda-graph-backend-prefill= enable-profile-cuda-graph enable-cudagraph-gc enable-layerwise-nvtx-marker enable-nccl-nvls "
    "disable-flashinfer-cutlass-moe-fp4-allgather enable-tokenizer-batch-encode disable-tokenizer-batch-decode disable-outlines-disk-cache "
    "disable-custom-all-reduce enable-mscclpp enable-torch-symm-mem enable-two-batch-overlap enable-single-batch-overlap tbo-token-distribution-threshold= "
    "enable-torch-compile enable-torch-compile-debug-mode enable-piecewise-cuda-graph enable-breakable-cuda-graph piecewise-cuda-graph-tokens* "
    "piecewise-cuda-graph-compiler= torch-compile-max-bs= piecewise-cuda-graph-max-tokens= torchao-config= enable-nan-detection enable-p2p-check "
    "triton-attention-reduce-in-fp32 triton-attention-num-kv-splits= triton-attention-split-tile-size= num-continuous-decode-steps= "
    "delete-ckpt-after-loading enable-memory-saver enable-weights-cpu-backup enable-draft-weights-cpu-backup allow-auto-truncate "
    "enable-custom-logit-processor flashinfer-mla-disable-ragged disable-fast-image-processor disable-chunked-prefix-cache keep-mm-feature-on-device "
    "enable-return-hidden-states enable-return-routed-experts scheduler-recv-interval= numa-node* enable-deterministic-inference rl-on-policy-target= "
    "enable-attn-tp-input-scattered enable-fused-qk-norm-rope enable-precise-embedding-interpolation enable-fused-moe-sum-all-reduce "
    "enable-dynamic-batch-tokenizer dynamic-batch-tokenizer-batch-size= dynamic-batch-tokenizer-batch-timeout= debug-tensor-dump-output-folder= "
    "debug-tensor-dump-layers* debug-tensor-dump-input-file= debug-tensor-dump-inject= disaggregation-transfer-backend= disaggregation-bootstrap-port= "
    "disaggregation-ib-device= disaggregation-decode-tp= disaggregation-decode-dp= disaggregation-prefill-pp= disaggregation-decode-enable-offload-kvcache "
    "disaggregation-decode-enable-radix-cache disaggregation-decode-enable-fake-auto num-reserved-decode-tokens= disaggregation-decode-polling-interval= "
    "encoder-only language-only encoder-transfer-backend= encoder-urls* enable-adaptive-dispatch-to-encoder custom-weight-loader* weight-loader-disable-mmap "
    "weight-loader-prefetch-checkpoints weight-loader-prefetch-num-threads= remote-instance-weight-loader-seed-instance-ip= "
    "remote-instance-weight-loader-seed-instance-service-port= remote-instance-weight-loader-send-weights-group-ports= "
    "remote-instance-weight-loader-backend= remote-instance-weight-loader-start-seed-via-transfer-engine engine-info-bootstrap-port= "
    "modelexpress-config= enable-pdmux pdmux-config-path= sm-group-num= mm-max-concurrent-calls= mm-per-request-timeout= enable-broadcast-mm-inputs-process "
    "enable-prefix-mm-cache mm-process-config= limit-mm-data-per-request= enable-mm-global-cache decrypted-config-file= decrypted-draft-config-file= "
    "forward-hooks= enable-quant-communications ssl-keyfile= ssl-certfile= ssl-ca-certs= ssl-keyfile-password= enable-ssl-refresh enable-http2 "
    "disable-shared-experts-fusion enforce-shared-experts-fusion attn-cp-size= moe-data-parallel-size= moe-dp-size= pp-max-micro-batch-size= "
    "pp-async-batch-size= enable-tp-lm-head use-data-parallel-router enable-unified-memory enable-page-major-kv-layout gated-delta-rule-backend= "
    "mamba-radix-cache-strategy= enable-mamba-extra-buffer enable-cp enable-dsa-cache-layer-split enable-linear-replayssm disable-prefill-graph "
    "disable-decode-cuda-graph disable-prefill-cuda-graph mem-saver-mode= enable-kv-cache-events router-policy= router-port= router-host=";

constexpr std::string_view kVllm =
    "config= host= port= uds= uvicorn-log-level= disable-uvicorn-access-log disable-access-log-for-endpoints= allow-credentials allowed-origins= allowed-methods= "
    "allowed-headers= api-key* lora-modules* chat-template= chat-template-content-format= trust-request-chat-template default-chat-template-kwargs= response-role= "
    "ssl-keyfile= ssl-certfile= ssl-ca-certs= ssl-cert-reqs= ssl-ciphers= enable-ssl-refresh root-path= middleware= return-tokens-as-token-ids "
    "disable-frontend-multiprocessing enable-request-id-headers enable-auto-tool-choice exclude-tools-when-tool-choice-none tool-call-parser= "
    "tool-parser-plugin= tool-server= log-config-file= max-log-len= disable-fastapi-docs enable-prompt-tokens-details enable-server-load-tracking "
    "enable-force-include-usage enable-tokenizer-info-endpoint enable-log-outputs h11-max-incomplete-event-size= h11-max-header-count= headless "
    "api-server-count= task= runner= convert= tokenizer= tokenizer-mode= trust-remote-code seed= hf-config-path= allowed-local-media-path= "
    "allowed-media-domains* revision= code-revision= tokenizer-revision= rope-scaling= rope-theta= hf-token= hf-overrides= "
    "enforce-eager max-logprobs= logprobs-mode= disable-sliding-window disable-cascade-attn skip-tokenizer-init enable-prompt-embeds served-model-name* "
    "config-format= logits-processor-pattern= generation-config= override-generation-config= enable-sleep-mode model-impl= override-attention-dtype= "
    "logits-processors* io-processor-plugin= load-format= download-dir= safetensors-load-strategy= model-loader-extra-config= ignore-patterns* "
    "use-tqdm-on-load pt-load-map-location= reasoning-parser= reasoning-parser-plugin= distributed-executor-backend= node-rank= master-addr= master-port= "
    "nnodes= distributed-timeout-seconds= prefill-context-parallel-size= dcp-kv-cache-interleave-size= dcp-comm-backend= cp-kv-cache-interleave-size= "
    "data-parallel-rank= data-parallel-start-rank= data-parallel-size-local= data-parallel-address= data-parallel-rpc-port= data-parallel-backend= "
    "data-parallel-hybrid-lb data-parallel-external-lb all2all-backend= enable-dbo ubatch-size= dbo-decode-token-threshold= dbo-prefill-token-threshold= "
    "disable-nccl-for-dp-synchronization enable-eplb eplb-config= expert-placement-strategy= num-redundant-experts= eplb-window-size= eplb-step-interval= "
    "eplb-log-balancedness max-parallel-loading-workers= ray-workers-use-nsight disable-custom-all-reduce worker-cls= worker-extension-cls= "
    "enable-multimodal-encoder-data-parallel swap-space= enable-prefix-caching prefix-caching-hash-algo= calculate-kv-scales kv-sharing-fast-prefill "
    "kv-cache-dtype-skip-layers* mamba-cache-dtype= mamba-ssm-cache-dtype= mamba-block-size= mamba-cache-mode= kv-cache-metrics kv-cache-metrics-sample= "
    "limit-mm-per-prompt= language-model-only media-io-kwargs= mm-processor-kwargs= mm-processor-cache-gb= disable-mm-preprocessor-cache "
    "mm-processor-cache-type= mm-shm-cache-max-object-size-mb= mm-encoder-only mm-encoder-tp-mode= mm-encoder-attn-backend= interleave-mm-strings "
    "skip-mm-profiling video-pruning-rate= enable-lora lora-extra-vocab-size= lora-dtype= max-cpu-loras= fully-sharded-loras default-mm-loras= lora-target-modules* "
    "enable-tower-connector-lora specialize-active-lora show-hidden-metrics-for-version= otlp-traces-endpoint= collect-detailed-traces* "
    "enable-layerwise-nvtx-tracing cudagraph-metrics enable-mfu-metrics enable-logging-iteration-details max-num-partial-prefills= "
    "max-long-partial-prefills= long-prefill-token-threshold= num-lookahead-slots= scheduling-policy= enable-chunked-prefill disable-chunked-mm-input "
    "scheduler-cls= stream-interval= scheduler-reserve-full-isl cudagraph-capture-sizes* cuda-graph-sizes* max-cudagraph-capture-size= "
    "speculative-config= kv-transfer-config= kv-events-config= ec-transfer-config= compilation-config= additional-config= structured-outputs-config= "
    "attention-backend= attention-config= kernel-config= profiler-config= weight-transfer-config= optimization-level= performance-mode= disable-log-stats "
    "aggregate-engine-logging enable-log-requests disable-log-requests shutdown-timeout= fail-on-environ-validation guided-decoding-backend= use-v2-block-manager "
    "num-scheduler-steps= multi-step-stream-outputs preemption-mode= disable-async-output-proc max-seq-len-to-capture= tokens-only grpc "
    "cpu-offload-params* offload-backend= offload-group-size= offload-num-in-group= offload-prefetch-step= moe-backend= linear-backend= spec-method= "
    "use-replicated-sampling quantization-param-path= num-speculative-tokens= speculative-model= kv-offloading-size= enable-return-routed-experts "
    "disable-log-stats gdn-prefill-backend= enable-flashinfer-autotune ir-op-priority= enable-cumem-allocator defer-block-free";

std::vector<KnownFlag> parsed(std::string_view list, std::vector<std::string>& storage) {
    std::vector<std::pair<std::string, Arity>> entries;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        std::string_view word = list.substr(0, end);
        list.remove_prefix(std::min(end + 1, list.size()));
        if (word.empty()) continue;
        const Arity arity = word.back() == '=' ? Arity::one : word.back() == '*' ? Arity::many : Arity::none;
        if (arity != Arity::none) word.remove_suffix(1);
        entries.emplace_back("--" + std::string(word), arity);
    }
    storage.reserve(entries.size());
    std::vector<KnownFlag> flags;
    for (auto& [name, arity] : entries) {
        storage.push_back(std::move(name));
        flags.push_back({storage.back(), arity});
    }
    std::sort(flags.begin(), flags.end(), [](const KnownFlag& a, const KnownFlag& b) { return a.name < b.name; });
    return flags;
}

struct Table {
    std::vector<std::string> storage;
    std::vector<KnownFlag> flags;        // by name
    std::vector<std::string_view> names;

    Table(std::string_view list, EngineKind engine) : flags(parsed(list, storage)) {
        const FieldEngines other = engine == EngineKind::sglang ? FieldEngines::vllm : FieldEngines::sglang;
        for (const FieldSpec& field : scenario_fields()) {
            if (field.engines == other || (field.group != FieldGroup::engine && field.group != FieldGroup::model)) continue;
            for (const std::string_view flag : field.flags)
                if (flag.substr(0, 2) == "--") names.push_back(flag);
        }
        for (const KnownFlag& flag : flags) names.push_back(flag.name);
    }
};

const Table& table(EngineKind engine) {
    static const Table sglang(kSglang, EngineKind::sglang), vllm(kVllm, EngineKind::vllm);
    return engine == EngineKind::sglang ? sglang : vllm;
}

constexpr auto kS = EngineKind::sglang;
constexpr auto kV = EngineKind::vllm;
constexpr VersionedFlag kVersioned[] = {
    {kS, "--disable-hicache-numa-detect", {20260115}, {20260327}, "placement is automatic since; --numa-node sets it"},
    {kS, "--hicache-host-memory-fraction", {20260918}, {0}, "give --hicache-size or --hicache-ratio"},
    {kS, "--enable-double-sparsity", {0}, {20260417}, ""},
    {kS, "--hybrid-kvcache-ratio", {20250713}, {20260106}, "--swa-full-tokens-ratio"},
    {kS, "--enable-ep-moe", {0}, {20250901}, "--ep-size"},
    {kS, "--enable-deepep-moe", {0}, {20250901}, "--moe-a2a-backend deepep"},
    {kV, "--swap-space", {0}, {20260307}, "V1 had no use for it; --kv-offloading-size keeps KV in host RAM"},
    {kV, "--kv-offloading-size", {20251101}, {0}, "--kv-transfer-config with OffloadingConnector"},
    {kV, "--kv-offloading-backend", {20251101}, {0}, "--kv-transfer-config"},
};

}  // namespace

const KnownFlag* known_flag(EngineKind engine, std::string_view name) {
    const std::vector<KnownFlag>& flags = table(engine).flags;
    const auto found = std::lower_bound(flags.begin(), flags.end(), name, [](const KnownFlag& flag, std::string_view text) { return flag.name < text; });
    return found != flags.end() && found->name == name ? &*found : nullptr;
}

const VersionedFlag* versioned_flag(EngineKind engine, std::string_view name) {
    for (const VersionedFlag& flag : kVersioned)
        if (flag.engine == engine && flag.name == name) return &flag;
    return nullptr;
}

const std::vector<std::string_view>& flag_names(EngineKind engine) { return table(engine).names; }

std::string_view completed(EngineKind engine, std::string_view typed) {
    std::string_view found;
    if (typed.size() < 4) return found;
    for (const std::string_view name : flag_names(engine)) {
        if (name.substr(0, typed.size()) != typed || name == found) continue;
        if (!found.empty()) return {};
        found = name;
    }
    return found;
}

}  // namespace kvplan::launch
