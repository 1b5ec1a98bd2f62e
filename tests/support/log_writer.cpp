#include "tests/support/log_writer.hpp"

#include <cmath>
#include <cstdio>

#include "models/json/document.hpp"

namespace kvplan::test {

namespace {

std::string text_of(const json::Value& value) {
    if (const auto text = value.string()) return std::string(*text);
    if (const auto flag = value.boolean()) return *flag ? "true" : "false";
    return value.describe();
}

std::string two(double x) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.2f", x);
    return buffer;
}

// As many decimals as the figure has: vLLM's older lines print four.
std::string four(double x) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.4f", x);
    return buffer;
}

std::string whole(double x) { return std::to_string(std::llround(x)); }

std::string json_escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\x1b') out += "\\u001b";
        else out += c;
    }
    return out;
}

/// Lines with the wrapping of one way to collect logs.
class Writer {
public:
    Writer(const LogFacts& facts, int day, LogWrapping wrapping) : facts_(&facts), wrapping_(wrapping) {
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d", day / 10000, day / 100 % 100, day % 100);
        date_ = buffer;
    }

    [[nodiscard]] bool has(const std::string& key) const { return facts_->has(key); }
    double use(const std::string& key) {
        const double value = facts_->seen.at(key);
        written_.printed[key] = value;
        return value;
    }
    std::string gib(const std::string& key) { return two(use(key)); }
    std::string count(const std::string& key) { return whole(use(key)); }

    void sglang(const std::string& message, bool rank = true) {
        const std::string tag = rank && wrapping_ != LogWrapping::plain ? " TP0" : "";
        const std::string source = wrapping_ == LogWrapping::source_lines ? "INFO model_runner.py:123: " : "";
        raw("[" + date_ + " 03:22:1" + std::to_string(written_.printed.size() % 10) + tag + "] " + source + message);
    }
    void vllm(const std::string& message, const std::string& process) {
        raw("(" + process + ") INFO " + date_.substr(5) + " 03:22:11 [gpu_worker.py:298] " + message);
    }
    void raw(const std::string& line) {
        std::string& out = written_.text;
        switch (wrapping_) {
            case LogWrapping::plain:
            case LogWrapping::rank_tags:
            case LogWrapping::source_lines: out += line + "\n"; break;
            case LogWrapping::journald: out += "Oct 16 03:22:11 gpu-host7 python3[4242]: " + line + "\n"; break;
            case LogWrapping::kubectl: out += "[pod/llm-0/engine] " + line + "\r\n"; break;
            case LogWrapping::compose_colour: out += "engine-1  | \x1b[36m" + line + "\x1b[0m\n"; break;
            case LogWrapping::docker_json: out += R"({"log":")" + json_escaped(line) + R"(\n","stream":"stderr","time":"2025-10-16T03:22:11.000000001Z"})" + "\n"; break;
            case LogWrapping::cri: out += "2025-10-16T03:22:11.123456789Z stderr F " + line + "\n"; break;
        }
    }
    [[nodiscard]] WrittenLog done() { return std::move(written_); }
    std::string setting(const std::string& key, const std::string& otherwise) const {
        const auto found = facts_->settings.find(key);
        return found == facts_->settings.end() ? otherwise : found->second;
    }

private:
    const LogFacts* facts_;
    LogWrapping wrapping_;
    std::string date_;
    WrittenLog written_;
};

std::string server_args(const Writer& w, const LogFacts& facts) {
    const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
    const std::string dtype = w.setting("kv_dtype", "auto");
    return "server_args=ServerArgs(model_path=" + quoted(w.setting("model", "model")) + ", tokenizer_path='it\\'s a (tokenizer), here', trust_remote_code=True" +
           ", context_length=" + w.setting("context", "None") + ", quantization=None, kv_cache_dtype=" + quoted(dtype) +
           ", mem_fraction_static=" + w.setting("fraction", "0.88") + ", max_total_tokens=" + w.setting("max_total_tokens", "None") +
           ", chunked_prefill_size=" + w.setting("chunk", "8192") + ", page_size=" + w.setting("page", "1") + ", tp_size=" + w.setting("tp", "1") +
           ", dp_size=" + w.setting("dp", "1") + ", pp_size=" + w.setting("pp", "1") + ", ep_size=" + w.setting("ep", "1") +
           ", swa_full_tokens_ratio=" + w.setting("swa_ratio", "0.8") + ", enable_dp_attention=" + (facts.settings.count("dp_attention") && facts.settings.at("dp_attention") == "true" ? "True" : "False") +
           ", cuda_graph_bs=[1, 2, 4, 8], json_model_override_args='{\"a\": [1, 2]}', hicache_ratio=2.0, hicache_size=0, decode_log_interval=40)";
}

std::string allocated(int day, const std::string& label, const std::string& dtype, const std::string& tokens, const std::string& sizes) {
    const std::string head = day >= 20260804 ? label : "";
    if (day >= 20260524) return head + "KV Cache is allocated. dtype: " + dtype + ", #tokens: " + tokens + ", " + sizes;
    return "KV Cache is allocated. #tokens: " + tokens + ", " + sizes;
}

void write_pools(Writer& w, int day) {
    const std::string dtype = "torch.bfloat16";
    if (w.has("cell")) {
        // DeepSeek-V4 prints its calculation instead.
        std::string line = "DSV4 memory calculation: bytes_per_full_token=" + w.gib("cell") + ", available_bytes=" + (w.has("kv") ? w.gib("kv") : "19.58") + " GB, ";
        if (w.has("fixed_state")) line += "c128_state_fixed=" + w.gib("fixed_state") + " GB, ";
        w.sglang(line + "full_token=" + (w.has("pool_tokens") ? w.count("pool_tokens") : "1024"));
        std::string sizes = "DSV4 pool sizes: full=" + (w.has("pool_tokens") ? w.count("pool_tokens") : "1024");
        for (const auto& [key, name] : {std::pair{"swa_tokens", "swa"}, {"c4", "c4"}, {"c128", "c128"}, {"c4_state", "c4_state"}, {"c128_state", "c128_state"}})
            if (w.has(key)) sizes += ", " + std::string(name) + "=" + w.count(key);
        w.sglang(sizes + (w.has("c128_state") ? "" : ", end=1"));
        return;
    }
    if (w.has("full_tokens") && w.has("swa_tokens")) {
        w.sglang(std::string(day < 20260201 ? "Use Sliding" : "Use sliding") + " window memory pool. full_layer_tokens=" + w.count("full_tokens") + ", swa_layer_tokens=" + w.count("swa_tokens"));
        if (w.has("full_k") && w.has("full_v")) w.sglang(allocated(day, "Full ", dtype, w.count("full_tokens"), "K size: " + w.gib("full_k") + " GB, V size: " + w.gib("full_v") + " GB"));
        if (w.has("swa_k") && w.has("swa_v")) w.sglang(allocated(day, "SWA ", dtype, w.count("swa_tokens"), "K size: " + w.gib("swa_k") + " GB, V size: " + w.gib("swa_v") + " GB"));
    } else if (w.has("pool_tokens") && w.has("k") && w.has("v")) {
        w.sglang(allocated(day, "", dtype, w.count("pool_tokens"), "K size: " + w.gib("k") + " GB, V size: " + w.gib("v") + " GB"));
    } else if (w.has("pool_tokens") && w.has("kv")) {
        w.sglang(allocated(day, "", dtype, w.count("pool_tokens"), "KV size: " + w.gib("kv") + " GB"));
    }
}

void write_state(Writer& w) {
    if (!w.has("state_slots") || !w.has("conv") || !w.has("ssm")) return;
    std::string line = "Mamba Cache is allocated. max_mamba_cache_size: " + w.count("state_slots") + ", conv_state size: " + w.gib("conv") + "GB, ssm_state size: " + w.gib("ssm") + "GB ";
    if (w.has("draft_ssm") && w.has("draft_conv"))
        line += "intermediate_ssm_state_cache size: " + w.gib("draft_ssm") + "GB intermediate_conv_window_cache size: " + w.gib("draft_conv") + "GB ";
    w.sglang(line);
}

std::string begin_and_end(Writer& w, int day, const std::string& old_name, const std::string& new_name, const std::string& key) {
    if (day >= 20260622) {
        w.sglang("Capture " + new_name + " CUDA graph begin. backend=full, num_tokens_per_bs=1, bs=[1, 2, 4], avail mem=9.00 GB");
        return "Capture " + new_name + " CUDA graph end. elapsed=5.21 s, mem usage=" + w.gib(key) + " GB, avail mem=8.00 GB.";
    }
    const std::string cased = old_name.find("piecewise") == 0 ? " CUDA graph" : (old_name.empty() ? "cuda graph" : " cuda graph");
    w.sglang("Capture " + old_name + cased + " begin. This can take up to several minutes. avail mem=9.00 GB");
    if (old_name.find("draft") == 0 && day < 20250601) return "Capture " + old_name + cased + " end. Time elapsed: 5.21 s. avail mem=8.00 GB. mem usage=" + w.gib(key) + " GB.";
    return "Capture " + old_name + cased + " end. Time elapsed: 5.21 s. mem usage=" + w.gib(key) + " GB. avail mem=8.00 GB.";
}

void write_draft(Writer& w) {
    if (!w.has("draft_weights") && !w.has("draft_free_after")) return;
    w.sglang("Load weight begin. avail mem=40.00 GB");
    w.sglang("Load weight end. type=LlamaForCausalLMEagle3, dtype=torch.bfloat16, avail mem=" + (w.has("draft_free_after") ? w.gib("draft_free_after") : std::string("38.00")) + " GB, mem usage=" +
             (w.has("draft_weights") ? w.gib("draft_weights") : std::string("2.00")) + " GB.");
}

void write_host(Writer& w, int day) {
    if (w.has("host")) {
        if (day >= 20260804) w.sglang("Allocating kv hierarchical KV host pool: 1000 tokens, " + w.gib("host") + " GB host memory.");
        else w.sglang("Allocating " + w.gib("host") + " GB host memory for hierarchical KV cache.");
    }
    if (w.has("host_indexer")) w.sglang("Allocating " + w.gib("host_indexer") + " GB host memory for DSA indexer (layout=page_first).");
}

void write_sglang_failure(Writer& w, const LogFacts& facts) {
    const std::string& o = facts.outcome;
    if (o == "fraction_too_low") {
        w.raw("Traceback (most recent call last):");
        w.raw("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.88");
    } else if (o == "weights_do_not_fit") {
        w.sglang("max_total_tokens=65536 is larger than the profiled value " + w.count("profiled_tokens") + ". Use the profiled value instead.");
        w.raw("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.");
    } else if (o == "fraction_too_high" || o == "pool_out_of_memory") {
        w.raw("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 970.00 MiB. GPU 0 has a total capacity of 94.50 GiB of which 676.81 MiB is free. Process 77 has 93.84 GiB memory in use.");
    } else if (o == "pinning_failed") {
        w.raw("RuntimeError: cudaHostRegister(531470745600) failed: invalid argument");
    } else if (o == "host_memory_killed") {
        w.raw("Oct 16 03:40:00 gpu-host7 kernel: Memory cgroup out of memory: Killed process 4242 (sglang::schedul) total-vm:900000000kB");
        w.raw("exit code 137");
    }
}

}  // namespace

std::string with_thousands(double n) {
    std::string text = whole(n);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

std::vector<LogFacts> load_log_facts() {
    Diagnostics diagnostics;
    const auto document = json::parse_file(std::string(KVPLAN_SOURCE_DIR) + "/tests/data/log_facts.json", diagnostics);
    std::vector<LogFacts> all;
    if (!document) return all;
    for (const json::Value row : document->root().elements()) {
        LogFacts facts;
        facts.id = text_of(row["id"]);
        facts.source = text_of(row["source"]);
        facts.engine = text_of(row["engine"]);
        facts.version = text_of(row["version"]);
        if (row["outcome"].is_string()) facts.outcome = text_of(row["outcome"]);
        for (const auto& [key, value] : row["settings"].members()) facts.settings[std::string(key)] = text_of(value);
        for (const auto& [key, value] : row["seen"].members()) facts.seen[std::string(key)] = value.number().value_or(0);
        all.push_back(std::move(facts));
    }
    return all;
}

WrittenLog write_sglang_log(const LogFacts& facts, int day, LogWrapping wrapping) {
    Writer w(facts, day, wrapping);
    w.sglang(server_args(w, facts), false);
    w.sglang("Init torch distributed begin.");
    w.sglang(day >= 20260126 ? "Init torch distributed ends. elapsed=3.41 s, mem usage=1.25 GB" : "Init torch distributed ends. mem usage=1.25 GB");
    if (w.has("free_before")) w.sglang("Load weight begin. avail mem=" + w.gib("free_before") + " GB");
    if (w.has("free_after") && w.has("weights")) {
        if (day >= 20260601) w.sglang("Load weight end. elapsed=20.11 s, type=Qwen3ForCausalLM, avail mem=" + w.gib("free_after") + " GB, mem usage=" + w.gib("weights") + " GB.");
        else w.sglang("Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, avail mem=" + w.gib("free_after") + " GB, mem usage=" + w.gib("weights") + " GB.");
        if (day >= 20260612) write_draft(w);
    }
    write_state(w);
    if (facts.outcome != "fraction_too_low" && facts.outcome != "weights_do_not_fit") {
        write_pools(w, day);
        if (w.has("pool_end")) w.sglang("Memory pool end. avail mem=" + w.gib("pool_end") + " GB");
        if (w.has("draft_k") && w.has("draft_v") && w.has("pool_end")) w.sglang(allocated(day, "", "torch.bfloat16", w.count("pool_tokens"), "K size: " + w.gib("draft_k") + " GB, V size: " + w.gib("draft_v") + " GB"));
        if (w.has("draft_pool_end")) w.sglang("Memory pool end. avail mem=" + w.gib("draft_pool_end") + " GB");
        if (facts.outcome != "pool_out_of_memory") {
            if (w.has("graphs")) w.sglang(begin_and_end(w, day, "", "target decode", "graphs"));
            if (w.has("prefill_graphs") && day >= 20251120) w.sglang(begin_and_end(w, day, "piecewise", "target prefill", "prefill_graphs"));
            if (w.has("draft_graphs")) w.sglang(begin_and_end(w, day, "draft", "draft decode", "draft_graphs"));
        }
    }
    if (facts.outcome == "pool_out_of_memory") w.sglang("KV Cache is allocated. #tokens: 1000, KV size: 20.00 GB");
    if (facts.outcome.empty() && w.has("max_tokens") && w.has("max_running")) {
        std::string line = "max_total_num_tokens=" + w.count("max_tokens") + ", chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=" + w.count("max_running") + ", context_len=131072";
        if (day >= 20250531 && w.has("end")) line += ", available_gpu_mem=" + w.gib("end") + " GB";
        w.sglang(line);
    }
    // The cache tree, and with it the host pools, is made after the limits are told.
    if (facts.outcome != "fraction_too_low" && facts.outcome != "weights_do_not_fit") write_host(w, day);
    if (facts.outcome.empty()) w.sglang("The server is fired up and ready to roll!", false);
    else write_sglang_failure(w, facts);
    return w.done();
}

namespace {

void write_vllm_failure(Writer& w, const LogFacts& facts, int day) {
    const std::string context = w.setting("context", "131072");
    if (facts.outcome == "fraction_too_low") {
        w.raw("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.");
    } else if (facts.outcome == "state_blocks_too_few") {
        w.raw("ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (" + w.count("state_blocks") + "). Each decode sequence requires one Mamba cache block.");
    } else if (facts.outcome == "context_does_not_fit") {
        if (w.has("needed")) {
            std::string line = "ValueError: To serve at least one request with the model's max seq len (" + context + "), (" + w.gib("needed") + " GiB KV cache is needed, which is larger than the available KV cache memory (" +
                               (w.has("available") ? w.gib("available") : std::string("5.00")) + " GiB). ";
            if (w.has("longest")) line += "Based on the available memory, the estimated maximum model length is " + w.count("longest") + ". ";
            w.raw(line + "Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.");
        } else if (w.has("pool_tokens")) {
            w.raw("ValueError: The model's max seq len (" + context + ") is larger than the maximum number of tokens that can be stored in KV cache (" + w.count("pool_tokens") +
                  "). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.");
        } else {
            w.raw("ValueError: To serve at least one request with the model's max seq len (" + context + "), (9.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.71 GiB).");
        }
    }
    (void)day;
}

void write_vllm_memory(Writer& w, int day) {
    const std::string worker = "Worker_TP0 pid=99";
    if (day < 20250301) {
        if (w.has("weights")) w.vllm("Loading model weights took " + four(w.use("weights")) + " GB", worker);
        if (w.has("weights") && w.has("non_torch") && w.has("activation") && w.has("available"))
            w.raw("model weights take " + w.gib("weights") + "GiB; non_torch_memory takes " + w.gib("non_torch") + "GiB; PyTorch activation peak memory takes " + w.gib("activation") +
                  "GiB; the rest of the memory reserved for KV Cache is " + w.gib("available") + "GiB.");
        return;
    }
    if (w.has("weights")) {
        if (day < 20260101) w.vllm("Model loading took " + four(w.use("weights")) + " GiB and 5.213041 seconds", worker);
        else w.vllm("Model loading took " + four(w.use("weights")) + " GiB memory and 5.213041 seconds", worker);
    }
    if (w.has("graph_estimate")) w.vllm("Estimated CUDA graph memory: " + w.gib("graph_estimate") + " GiB total", worker);
    if (w.has("free_before") && w.has("requested")) w.vllm("Initial free memory: " + w.gib("free_before") + " GiB; Requested memory: 0.95 (util), " + w.gib("requested") + " GiB", worker);
    if (w.has("non_kv") && w.has("activation") && w.has("non_torch") && w.has("weights"))
        w.vllm("Memory profiling takes 7.03 seconds. Total non KV cache memory: " + w.gib("non_kv") + "GiB; torch peak memory increase: " + w.gib("activation") +
                   "GiB; non-torch forward increase memory: " + w.gib("non_torch") + "GiB; weights memory: " + w.gib("weights") + "GiB.", worker);
    if (w.has("available")) w.vllm("Available KV cache memory: " + (std::abs(std::round(w.use("available") * 100) - w.use("available") * 100) > 1e-6 ? four(w.use("available")) : w.gib("available")) + " GiB", worker);
}

}  // namespace

WrittenLog write_vllm_log(const LogFacts& facts, int day, LogWrapping wrapping) {
    Writer w(facts, day, wrapping);
    const std::string engine = "EngineCore_DP0 pid=42";
    const std::string version = facts.version == "null" || facts.version.find(' ') != std::string::npos ? "0.11.0" : facts.version.substr(facts.version[0] == 'v' ? 1 : 0);
    w.vllm("vLLM API server version " + version, "APIServer pid=1");
    std::string arguments = "non-default args: {'model': '" + w.setting("model", "m") + "', 'tensor_parallel_size': " + w.setting("tp", "1");
    if (facts.settings.count("fraction")) arguments += ", 'gpu_memory_utilization': " + facts.settings.at("fraction");
    if (facts.settings.count("max_num_seqs")) arguments += ", 'max_num_seqs': " + facts.settings.at("max_num_seqs");
    if (facts.settings.count("page")) arguments += ", 'block_size': " + facts.settings.at("page");
    w.vllm(arguments + ", 'speculative_config': None}", "APIServer pid=1");
    w.vllm("Initializing a V1 LLM engine (v" + version + ") with config: model='" + w.setting("model", "m") + "', speculative_config=None, tokenizer='" + w.setting("model", "m") +
               "', trust_remote_code=False, dtype=torch.bfloat16, max_seq_len=" + w.setting("context", "8192") + ", load_format=auto, tensor_parallel_size=" + w.setting("tp", "1") +
               ", pipeline_parallel_size=" + w.setting("pp", "1") + ", data_parallel_size=" + w.setting("dp", "1") + ", quantization=None, enforce_eager=False, kv_cache_dtype=" + w.setting("kv_dtype", "auto") +
               ", compilation_config={'level': 3, 'cudagraph_capture_sizes': [1, 2, 4], 'x': \"it's\"}", engine);
    write_vllm_memory(w, day);
    if (facts.outcome.empty()) {
        if (w.has("pool_tokens")) {
            const bool one_line = day >= 20260804 && w.has("concurrency");
            const std::string size = "GPU KV cache size: " + with_thousands(w.use("pool_tokens")) + " tokens";
            const std::string most = w.has("concurrency") ? "Maximum concurrency for " + with_thousands(std::stod(w.setting("context", "8192"))) + " tokens per request: " + two(w.use("concurrency")) + "x" : "";
            if (one_line) w.vllm(size + ", " + most, engine);
            else {
                w.vllm(size, engine);
                if (!most.empty()) w.vllm(most, engine);
            }
        }
        if (w.has("blocks")) {
            if (day < 20250301) w.vllm("# GPU blocks: " + w.count("blocks") + ", # CPU blocks: 2048", engine);
            else w.vllm("Engine 000: vllm cache_config_info with initialization after num_gpu_blocks is: " + w.count("blocks"), "APIServer pid=1");
        }
        if (w.has("graphs")) w.vllm("Graph capturing finished in 13 secs, took " + w.gib("graphs") + " GiB", "Worker_TP0 pid=99");
        w.raw("INFO:     Application startup complete.");
    } else {
        write_vllm_failure(w, facts, day);
    }
    return w.done();
}

}  // namespace kvplan::test
