#include "planner/log/start_lines.hpp"

#include <initializer_list>
#include <optional>

#include "planner/log/log_reader.hpp"
#include "planner/log/text.hpp"

namespace kvplan::logs {

namespace {

// The number that ends just before `unit`: "… 37.62 GiB KV cache is needed" with unit " GiB KV".
Reading number_before(std::string_view text, std::string_view unit) {
    const std::size_t end = text.find(unit);
    if (end == std::string_view::npos) return std::nullopt;
    std::size_t begin = end;
    while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == ',' || text[begin - 1] == '-')) --begin;
    const auto found = number_at_start(text.substr(begin, end - begin));
    return found ? Reading(found->value) : std::nullopt;
}

}  // namespace

Reading size_after(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(at + key.size());
    const auto number = number_at_start(rest);
    if (!number) return std::nullopt;
    const std::string_view unit = rest.substr(number->length);
    if (unit.substr(0, 4) == " GiB") return number->value;
    if (unit.substr(0, 4) == " MiB") return number->value / 1024.0;
    if (unit.substr(0, 4) == " KiB") return number->value / (1024.0 * 1024.0);
    return std::nullopt;
}

std::vector<std::pair<Figure, double>> allocation_figures(std::string_view text) {
    std::vector<std::pair<Figure, double>> figures;
    if (const auto tried = size_after(text, "Tried to allocate ")) figures.emplace_back(Figure::needed_gib, *tried);
    if (const auto total = size_after(text, "total capacity of ")) figures.emplace_back(Figure::total_gib, *total);
    // Older PyTorch: "(GPU 0; 79.19 GiB total capacity; 70.00 GiB already allocated; 512.00 MiB free; …".
    if (const auto free = size_after(text, "of which ")) figures.emplace_back(Figure::avail_gib, *free);
    else if (const auto gib = number_before(text, " GiB free")) figures.emplace_back(Figure::avail_gib, *gib);
    else if (const auto mib = number_before(text, " MiB free")) figures.emplace_back(Figure::avail_gib, *mib / 1024.0);
    return figures;
}

std::vector<std::pair<Figure, double>> fault_figures(const LineRule& rule, std::string_view text) {
    std::vector<std::pair<Figure, double>> figures;
    if (rule.code == "context_does_not_fit") {
        if (const auto needed = number_before(text, " GiB KV cache is needed")) figures.emplace_back(Figure::needed_gib, *needed);
    } else if (rule.code == "free_memory_below_fraction") {
        RankRecord rank;
        read_memory_summary(text, rank);
        for (const auto& [reading, figure] : {std::pair{rank.initial_free_gib, Figure::avail_gib}, {rank.total_gib, Figure::total_gib},
                                              {rank.utilization, Figure::utilization}, {rank.requested_gib, Figure::requested_gib}})
            if (reading) figures.emplace_back(figure, *reading);
    } else if (rule.code == "cuda_out_of_memory") {
        return allocation_figures(text);
    } else if (rule.code == "unbalanced_gpus") {
        // "… local_gpu_memory=78.9, min_per_gpu_memory=60.1" in one order or the other, by version.
        if (const auto least = number_after(text, "min_per_gpu_memory=", "", true)) figures.emplace_back(Figure::avail_gib, *least);
        if (const auto local = number_after(text, "local_gpu_memory=", "", true)) figures.emplace_back(Figure::other_gib, *local);
    }
    return figures;
}

std::optional<HostPoolLine> read_host_pool(std::string_view text) {
    const auto gb = number_before(text, " GB host memory");
    if (!gb) return std::nullopt;
    HostPoolLine pool;
    pool.gb = *gb;
    if (text.find("hierarchical KV host pool") != std::string_view::npos) pool.label = std::string(text_after(text, "Allocating ", " "));
    else if (text.find("hierarchical KV cache") != std::string_view::npos) pool.label = "kv";
    else if (text.find("DSA indexer") != std::string_view::npos || text.find("NSA indexer") != std::string_view::npos) pool.label = "dsa_indexer";
    else if (text.find("Mamba cache") != std::string_view::npos) pool.label = "mamba";
    else if (text.find("V4 ") != std::string_view::npos) pool.label = "v4_" + std::string(text_after(text, "pool '", "'"));
    else if (text.find("sparse index") != std::string_view::npos) pool.label = "sparse_index";
    else pool.label = "other";
    pool.tokens = number_before(text, " tokens, ");
    return pool;
}

GraphLine read_graph_line(std::string_view text) {
    GraphLine line;
    constexpr std::string_view kCapture = "Capture ";
    std::size_t end = text.find(" CUDA graph");
    if (end == std::string_view::npos) end = text.find(" cuda graph");
    // The plain "Capture cuda graph" has no name before it.
    line.name = end == std::string_view::npos || end < kCapture.size() ? "decode" : std::string(text.substr(kCapture.size(), end - kCapture.size()));
    const std::size_t word = text.find(" graph ");
    line.ends = word != std::string_view::npos && text.substr(word + 7, 3) == "end";
    return line;
}

void read_memory_summary(std::string_view text, RankRecord& rank) {
    const auto put = [](Reading& reading, const std::optional<double>& value) {
        if (value) reading = value;
    };
    if (text.substr(0, 21) == "Initial free memory: ") {
        put(rank.initial_free_gib, number_after(text, "free memory: ", " GiB", true));
        put(rank.utilization, number_after(text, "Requested memory: ", " (util)", true));
        put(rank.requested_gib, number_after(text, "(util), ", " GiB", true));
        return;
    }
    if (text.substr(0, 27) == "Total non KV cache memory: ") {
        put(rank.non_kv_gib, number_after(text, "cache memory: ", "GiB", true));
        put(rank.activation_gib, number_after(text, "torch peak memory increase: ", "GiB", true));
        put(rank.non_torch_gib, number_after(text, "non-torch forward increase memory: ", "GiB", true));
        put(rank.model_gib, number_after(text, "weights memory: ", "GiB", true));
        return;
    }
    // "Free memory on device cuda:0 (78.68/79.19 GiB) on startup. Desired GPU memory utilization is (0.95, 75.23 GiB). …"
    put(rank.initial_free_gib, number_after(text, " (", "/", true));
    put(rank.total_gib, number_after(text, "/", " GiB", true));
    const std::size_t at = text.find("utilization");
    if (at != std::string_view::npos) {
        const std::string_view rest = text.substr(at);
        put(rank.utilization, number_after(rest, "(", ",", true));
        put(rank.requested_gib, number_after(rest, ", ", " GiB", true));
    }
    put(rank.model_gib, number_before(text, " GiB for weight,"));
    put(rank.consumed_gib, number_before(text, " GiB for consumed memory"));
    put(rank.activation_gib, number_before(text, " GiB for peak activation"));
    put(rank.non_torch_gib, number_before(text, " GiB for non-torch memory"));
    put(rank.graph_gib, number_before(text, " GiB for CUDAGraph memory"));
    put(rank.kv_in_use_gib, number_after(text, "kv cache memory in use is ", " GiB", true));
}

namespace {

void set_once(Reading& reading, std::optional<double> value) {
    if (value && !reading) reading = value;
}

void take_load(const Event& event, RankRecord& rank) {
    // A drafter loads like the target, later.
    if (event.rule->kind == LineKind::load_begin) {
        Reading& free = rank.loads_begun++ == 0 ? rank.free_before_gib : rank.draft_free_before_gib;
        set_once(free, event.get(Figure::avail_gib));
        return;
    }
    const bool draft = rank.loads_ended++ > 0;
    set_once(draft ? rank.draft_free_after_gib : rank.free_after_gib, event.get(Figure::avail_gib));
    set_once(draft ? rank.draft_weights_gib : rank.weights_gib, event.get(Figure::usage_gib));
    if (!draft) rank.model_class = std::string(text_after(event.text, "type=", ", "));
}

void take_allocation(const Event& event, RankRecord& rank) {
    constexpr std::size_t kMost = 32;
    if (rank.kv.size() >= kMost) return;
    KvAllocation kv;
    const std::string_view phrase = event.rule->phrase;
    if (phrase.substr(0, 2) != "KV") kv.label = std::string(phrase.substr(0, phrase.find(' ')));
    kv.dtype = std::string(text_after(event.text, "dtype: ", ","));
    kv.tokens = event.get(Figure::tokens);
    kv.k_gib = event.get(Figure::k_gib);
    kv.v_gib = event.get(Figure::v_gib);
    kv.kv_gib = event.get(Figure::kv_gib);
    kv.draft = rank.pools_ended > 0;
    rank.kv.push_back(std::move(kv));
}

void take_graph(const Event& event, RankRecord& rank) {
    constexpr std::size_t kMost = 32;
    const GraphLine line = read_graph_line(event.text);
    if (!line.ends) {
        if (rank.graphs.size() < kMost) rank.graphs.push_back({line.name, event.get(Figure::avail_gib), std::nullopt, std::nullopt});
        return;
    }
    GraphCapture* open = nullptr;
    for (GraphCapture& graph : rank.graphs)
        if (graph.name == line.name && !graph.after_gib && !graph.usage_gib) open = &graph;
    if (open == nullptr) {
        if (rank.graphs.size() >= kMost) return;
        open = &rank.graphs.emplace_back(GraphCapture{line.name, std::nullopt, std::nullopt, std::nullopt});
    }
    open->after_gib = event.get(Figure::avail_gib);
    open->usage_gib = event.get(Figure::usage_gib);
}

/// Lines of SGLang's pools. False: another kind of line. The phase is only reached by lines that allocate.
std::optional<Phase> take_pool_line(const Event& event, RankRecord& rank) {
    const auto get = [&](Figure figure) { return event.get(figure); };
    struct Field {
        Reading RankRecord::* reading;
        Figure figure;
    };
    const auto set_all = [&](std::initializer_list<Field> fields) {
        for (const Field& field : fields) set_once(rank.*(field.reading), get(field.figure));
    };
    using R = RankRecord;
    using F = Figure;
    switch (event.rule->kind) {
        case LineKind::kv_dtype: rank.kv_dtype = std::string(text_after(event.text, "dtype: ", " ,")); return Phase::none;
        case LineKind::kv_allocated: take_allocation(event, rank); return Phase::pools;
        case LineKind::kv_upper_bound:   // address space, not memory
        case LineKind::kv_skipped: return Phase::pools;
        case LineKind::pool_end: set_once(rank.pools_ended++ == 0 ? rank.pool_end_gib : rank.draft_pool_end_gib, get(F::avail_gib)); return Phase::pools;
        case LineKind::state_allocated:
            set_all({{&R::state_slots, F::state_slots}, {&R::conv_gib, F::conv_gib}, {&R::ssm_gib, F::ssm_gib}, {&R::draft_ssm_gib, F::draft_ssm_gib}, {&R::draft_conv_gib, F::draft_conv_gib}});
            return Phase::pools;
        case LineKind::swa_pool: set_once(rank.swa_pool_gib, get(F::kv_gib)); [[fallthrough]];
        case LineKind::swa_sizes: set_all({{&R::swa_tokens, F::swa_tokens}, {&R::full_tokens, F::full_tokens}}); return Phase::none;
        case LineKind::v4_calculation:
            set_all({{&R::v4_bytes_per_token, F::bytes_per_token}, {&R::v4_budget_gib, F::budget_gib}, {&R::v4_fixed_gib, F::fixed_state_gib}, {&R::v4_tokens, F::tokens}});
            return Phase::none;
        case LineKind::v4_sizes:
            set_all({{&R::full_tokens, F::full_tokens}, {&R::swa_tokens, F::swa_tokens}, {&R::c4_tokens, F::c4_tokens}, {&R::c128_tokens, F::c128_tokens}, {&R::c4_state_rows, F::c4_state_rows},
                     {&R::c128_state_rows, F::c128_state_rows}});
            return Phase::pools;
        case LineKind::mm_reserved: set_once(rank.mm_reserved_gib, get(F::usage_gib)); return Phase::none;
        case LineKind::post_capture:
            if (const auto tokens = get(F::max_tokens)) rank.post_capture_tokens = tokens;
            if (const auto tokens = get(F::tokens); tokens && rank.kv.size() < 32)
                rank.kv.push_back({"", std::string(text_after(event.text, "dtype: ", ",")), false, tokens, std::nullopt, std::nullopt, get(F::kv_gib)});
            if (const auto tokens = get(F::full_tokens)) rank.full_tokens = tokens;
            if (const auto tokens = get(F::swa_tokens)) rank.swa_tokens = tokens;
            return Phase::none;
        default: return std::nullopt;
    }
}

void take_limits(const Event& event, RankRecord& rank) {
    set_once(rank.max_tokens, event.get(Figure::max_tokens));
    set_once(rank.chunk, event.get(Figure::chunk));
    set_once(rank.max_prefill, event.get(Figure::max_prefill));
    set_once(rank.max_running, event.get(Figure::max_running));
    set_once(rank.context_len, event.get(Figure::context_len));
    set_once(rank.end_gib, event.get(Figure::avail_gib));
}

}  // namespace

bool LogReader::take_sglang_start(const Event& event, RankRecord& rank) {
    if (const auto phase = take_pool_line(event, rank)) {
        reach(*phase);
        return true;
    }
    StartRecord& start = current();
    switch (event.rule->kind) {
        case LineKind::init_begin: reach(Phase::initialized); break;
        case LineKind::init_end:
            reach(Phase::initialized);
            set_once(rank.init_usage_gib, event.get(Figure::usage_gib));
            break;
        case LineKind::load_begin: reach(Phase::loading); take_load(event, rank); break;
        case LineKind::load_end: reach(Phase::loaded); take_load(event, rank); break;
        case LineKind::graph: reach(Phase::graphs); take_graph(event, rank); break;
        case LineKind::limits: reach(Phase::sized); take_limits(event, rank); break;
        case LineKind::profile_limited:
            start.asked_tokens = event.get(Figure::asked_tokens);
            start.profiled_tokens = event.get(Figure::profiled_tokens);
            break;
        case LineKind::running_reduced:
            start.asked_requests = event.get(Figure::asked_requests);
            start.given_requests = event.get(Figure::given_requests);
            break;
        case LineKind::host_pool:
            if (auto pool = read_host_pool(event.text); pool && rank.host_pools.size() < 32) {
                reach(Phase::host_pools);
                rank.host_pools.push_back(std::move(*pool));
            }
            break;
        default: return false;
    }
    return true;
}

bool LogReader::take_vllm_start(const Event& event, RankRecord& rank) {
    const auto get = [&](Figure figure) { return event.get(figure); };
    switch (event.rule->kind) {
        case LineKind::model_loaded: reach(Phase::loaded); set_once(rank.model_gib, get(Figure::model_gib)); break;
        case LineKind::available_kv: reach(Phase::pools); set_once(rank.available_kv_gib, get(Figure::available_gib)); break;
        case LineKind::kv_size: reach(Phase::pools); set_once(rank.kv_tokens, get(Figure::tokens)); break;
        case LineKind::concurrency:
            set_once(rank.request_len, get(Figure::request_len));
            set_once(rank.concurrency_x, get(Figure::concurrency_x));
            break;
        case LineKind::blocks:
            reach(Phase::pools);
            set_once(rank.gpu_blocks, get(Figure::gpu_blocks));
            set_once(rank.cpu_blocks, get(Figure::cpu_blocks));
            break;
        case LineKind::blocks_overridden: rank.gpu_blocks = get(Figure::gpu_blocks); break;
        case LineKind::graph_finished: reach(Phase::graphs); set_once(rank.graph_gib, get(Figure::graph_gib)); break;
        case LineKind::graph_estimate: set_once(rank.graph_estimate_gib, get(Figure::graph_gib)); break;
        case LineKind::memory_summary: read_memory_summary(event.text, rank); break;
        case LineKind::v0_total:
            set_once(rank.total_gib, get(Figure::total_gib));
            set_once(rank.utilization, get(Figure::utilization));
            set_once(rank.requested_gib, get(Figure::requested_gib));
            break;
        case LineKind::v0_parts:
            set_once(rank.model_gib, get(Figure::model_gib));
            set_once(rank.non_torch_gib, get(Figure::non_torch_gib));
            set_once(rank.activation_gib, get(Figure::activation_gib));
            set_once(rank.available_kv_gib, get(Figure::available_gib));
            break;
        case LineKind::kv_bytes_given:
            set_once(rank.initial_free_gib, get(Figure::avail_gib));
            set_once(rank.available_kv_gib, get(Figure::available_gib));
            break;
        case LineKind::block_raised: set_once(rank.block_tokens, get(Figure::block_tokens)); break;
        case LineKind::offload_file: reach(Phase::host_pools); set_once(rank.offload_gb, get(Figure::file_gb)); break;
        default: return false;
    }
    if (!current().configuration.engine) current().configuration.engine = EngineKind::vllm;
    return true;
}

}  // namespace kvplan::logs
