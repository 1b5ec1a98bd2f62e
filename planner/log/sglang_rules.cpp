// Wordings of SGLang's log lines, by the day its main branch had them. Read from python/sglang/srt: model_executor/
// model_runner.py and what was split from it, mem_cache/memory_pool.py, mem_cache/memory_pool_host.py, managers/scheduler.py
// and its metrics mixin, v0.4.6 to 2026-08.
#include "planner/log/line_rules.hpp"

namespace kvplan::logs {

namespace {

using K = LineKind;
using F = Figure;

constexpr std::array kUsageThenAvail = {FieldRule{"mem usage=", " GB", F::usage_gib}, FieldRule{"avail mem=", " GB", F::avail_gib}};

constexpr LineRule kRules[] = {
    {"server_args=ServerArgs(", K::server_args, {}, {}, {}, {}, {}, true},
    {"Init torch distributed begin.", K::init_begin},
    {"Init torch distributed ends. elapsed=", K::init_end, {{{"elapsed=", " s", F::elapsed_s}, {"mem usage=", " GB", F::usage_gib}}}, {20260126}},
    {"Init torch distributed ends. mem usage=", K::init_end, {{{"mem usage=", " GB", F::usage_gib}}}, {}, {20260126}},
    {"Load weight begin.", K::load_begin, {{{"avail mem=", " GB", F::avail_gib}}}},
    {"Load weight end. elapsed=", K::load_end, {{{"elapsed=", " s", F::elapsed_s}, kUsageThenAvail[0], kUsageThenAvail[1]}}, {20260101}},
    {"Load weight end.", K::load_end, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {}, {20260701}},
    {"Using KV cache dtype: ", K::kv_dtype, {}, {20250915}, {20260525}},
    {"KV Cache is allocated. dtype: ", K::kv_allocated, {{{"#tokens: ", ",", F::tokens}, {", K size: ", " GB", F::k_gib}, {", V size: ", " GB", F::v_gib}, {", KV size: ", " GB", F::kv_gib}}}, {20260524}},
    {"KV Cache is allocated. #tokens: ", K::kv_allocated, {{{"#tokens: ", ",", F::tokens}, {", K size: ", " GB", F::k_gib}, {", V size: ", " GB", F::v_gib}, {", KV size: ", " GB", F::kv_gib}}}, {}, {20260525}},
    {"KV Cache is allocated. K size: ", K::kv_allocated, {{{". K size: ", " GB", F::k_gib}, {", V size: ", " GB", F::v_gib}}}, {}, {20250401}},
    {"Full KV Cache is allocated. dtype: ", K::kv_allocated, {{{"#tokens: ", ",", F::tokens}, {", K size: ", " GB", F::k_gib}, {", V size: ", " GB", F::v_gib}, {", KV size: ", " GB", F::kv_gib}}}, {20260804}},
    {"SWA KV Cache is allocated. dtype: ", K::kv_allocated, {{{"#tokens: ", ",", F::tokens}, {", K size: ", " GB", F::k_gib}, {", V size: ", " GB", F::v_gib}, {", KV size: ", " GB", F::kv_gib}}}, {20260804}},
    {"KV Cache VA upper bound", K::kv_upper_bound, {{{"#tokens: ", ",", F::tokens}, {"KV size: ", " GB", F::kv_gib}}}, {20260707}},
    {"KV Cache skipped", K::kv_skipped, {{{"#tokens: ", ",", F::tokens}}}, {20260501}},
    {"Memory pool end.", K::pool_end, {{{"avail mem=", " GB", F::avail_gib}}}},
    {"Mamba Cache is allocated.", K::state_allocated,
     {{{"max_mamba_cache_size: ", ",", F::state_slots}, {" conv_state size: ", "GB", F::conv_gib}, {" ssm_state size: ", "GB", F::ssm_gib},
       {"intermediate_ssm_state_cache size: ", "GB", F::draft_ssm_gib}, {"intermediate_conv_window_cache size: ", "GB", F::draft_conv_gib}}}, {20250901}},
    {"SWAKVPool mem usage: ", K::swa_pool, {{{"usage: ", " GB", F::kv_gib}, {"swa size: ", ",", F::swa_tokens}, {"full size: ", "", F::full_tokens}}}, {20251001}},
    {"Use Sliding window memory pool. ", K::swa_sizes, {{{"full_layer_tokens=", ",", F::full_tokens}, {"swa_layer_tokens=", "", F::swa_tokens}}}, {20250713}, {20260201}},
    {"Use sliding window memory pool", K::swa_sizes, {{{"full_layer_tokens=", ",", F::full_tokens}, {"swa_layer_tokens=", "", F::swa_tokens}}}, {20260101}},
    {"DSV4 memory calculation: ", K::v4_calculation,
     {{{"bytes_per_full_token=", ",", F::bytes_per_token}, {"available_bytes=", " GB", F::budget_gib}, {"c128_state_fixed=", " GB", F::fixed_state_gib}, {" full_token=", "", F::tokens}}}, {20260401}},
    {"DSv4 memory calculation: ", K::v4_calculation,
     {{{"bytes_per_full_token=", ",", F::bytes_per_token}, {"available_bytes=", " GB", F::budget_gib}, {" full_token=", "", F::tokens}}}, {20260401}},
    {"DSV4 SWA sizing: ", K::v4_sizes, {{{"swa_tokens=", ",", F::swa_tokens}}}, {20260401}},
    {"DSV4 pool sizes: ", K::v4_sizes,
     {{{" full=", ",", F::full_tokens}, {" swa=", ",", F::swa_tokens}, {" c4=", ",", F::c4_tokens}, {" c128=", ",", F::c128_tokens},
       {" c4_state=", ",", F::c4_state_rows}, {" c128_state=", "", F::c128_state_rows}}}, {20260401}},
    {"Capture target ", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {20260622}},
    {"Capture draft decode CUDA graph", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {20260622}},
    {"Capture draft extend CUDA graph", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {20260622}},
    {"Capture cuda graph begin", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {}, {20260622}},
    {"Capture cuda graph end", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {}, {20260622}},
    {"Capture draft cuda graph", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {}, {20260622}},
    {"Capture draft extend cuda graph", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {}, {20260622}},
    {"Capture piecewise CUDA graph", K::graph, {{kUsageThenAvail[0], kUsageThenAvail[1]}}, {20251120}, {20260622}},
    {"max_total_num_tokens=", K::limits,
     {{{"max_total_num_tokens=", ",", F::max_tokens}, {"chunked_prefill_size=", ",", F::chunk}, {"max_prefill_tokens=", ",", F::max_prefill},
       {"max_running_requests=", ",", F::max_running}, {"context_len=", "", F::context_len}, {"available_gpu_mem=", " GB", F::avail_gib}}}},
    {"Post-capture KV sizing: ", K::post_capture,
     {{{"max_total_num_tokens=", ",", F::max_tokens}, {"free memory=", " GB", F::avail_gib}, {"#tokens: ", ",", F::tokens}, {"KV size: ", " GB", F::kv_gib},
       {"full_layer_tokens=", ",", F::full_tokens}, {"swa_layer_tokens=", "", F::swa_tokens}}}, {20260707}},
    {"max_total_tokens=", K::profile_limited, {{{"max_total_tokens=", " is larger", F::asked_tokens}, {"profiled value ", ".", F::profiled_tokens}}}, {}, {}, "is larger than the profiled value"},
    {"max_running_requests was reduced from the requested ", K::running_reduced, {{{"requested ", " to", F::asked_requests}, {" to ", " (", F::given_requests}}}, {20260612}},
    {"Reserving ", K::mm_reserved, {{{"Reserving ", " GB", F::usage_gib}}}, {20260801}, {}, "post-sizing multimodal"},
    {"Allocating ", K::host_pool, {}, {}, {}, "GB host memory"},
    {"The server is fired up and ready to roll", K::ready},
    {"Prefill batch", K::prefill_batch,
     {{{"#new-seq: ", ",", F::new_seqs}, {"#new-token: ", ",", F::new_tokens}, {"#cached-token: ", ",", F::cached_tokens}, {"token usage: ", ",", F::token_usage},
       {"swa token usage: ", ",", F::swa_usage}, {"mamba usage: ", ",", F::state_usage}, {"#running-req: ", ",", F::running}, {"#queue-req: ", "", F::queued},
       {"#pending-token: ", "", F::pending_tokens}, {"input throughput (token/s): ", "", F::input_throughput}}}},
    {"Decode batch", K::decode_batch,
     {{{"#running-req: ", ",", F::running}, {"token: ", ",", F::tokens}, {"token usage: ", ",", F::token_usage}, {"swa token usage: ", ",", F::swa_usage},
       {"mamba usage: ", ",", F::state_usage}, {"accept len: ", ",", F::accept_length}, {"gen throughput (token/s): ", "", F::gen_throughput}, {"#queue-req: ", "", F::queued}}}},
    {"KV cache pool is full. Retract requests.", K::retraction,
     {{{"#retracted_reqs: ", ",", F::retracted}, {"#new_token_ratio: ", " ->", F::ratio_before}, {"-> ", "", F::ratio_after}}}, {20250531}},
    {"Decode out of memory happened.", K::retraction,
     {{{"#retracted_reqs: ", ",", F::retracted}, {"#new_token_ratio: ", " ->", F::ratio_before}, {"-> ", "", F::ratio_after}}}, {}, {20250531}},
};

}  // namespace

std::span<const LineRule> sglang_rules() { return kRules; }

}  // namespace kvplan::logs
