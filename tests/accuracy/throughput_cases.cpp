#include "tests/accuracy/throughput_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "models/hardware/gpu_catalogue.hpp"
#include "models/json/document.hpp"
#include "models/llm/catalogue.hpp"
#include "models/llm/hf_config.hpp"

namespace kvplan::accuracy {
namespace {

namespace fs = std::filesystem;

std::string text(const json::Value& v) { return v.string() ? std::string(*v.string()) : std::string(); }

fs::path configs_folder() {
    const char* given = std::getenv("KVPLAN_SHARED_DIR");
    const fs::path shared = given != nullptr ? fs::path(given) : fs::path(KVPLAN_SOURCE_DIR).parent_path() / "shared";
    return shared / "data" / "configs";
}

/// Models whose configuration is another release's.
const std::map<std::string, std::string>& same_shape() {
    static const std::map<std::string, std::string> table{
        {"meta-llama/Llama-3.3-70B-Instruct", "meta-llama__Llama-3.1-70B-Instruct"},
        {"meta-llama/Llama-2-70b-chat-hf", "lizpreciatior__lzlv_70b_fp16_hf"},
        {"meta-llama/Llama-3.1-405B-Instruct", "meta-llama__Meta-Llama-3.1-405B"},
        {"meta-llama/Llama-4-Maverick-17B-128E-Instruct", "meta-llama__Llama-4-Maverick-17B-128E-Instruct-FP8"}};
    return table;
}

/// The description of a model: our preset, else the real config.json where the shared files are at hand.
std::optional<std::string> described_by(const std::string& id) {
    std::string name = id;
    if (const auto other = same_shape().find(id); other != same_shape().end()) name = other->second;
    else if (const auto slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "__");
    const fs::path path = configs_folder() / (name + ".json");
    if (fs::exists(path)) return path.string();
    return std::nullopt;
}

std::optional<LlmSpec> read(const std::string& id, const std::string& quantization) {
    for (const std::optional<std::string>& name : {std::optional<std::string>(id), described_by(id)}) {
        if (!name) continue;
        Diagnostics diagnostics;
        ReadOptions options;
        auto own = find_model(*name, options, std::nullopt, diagnostics);
        if (!own) continue;
        if (own->quantization.substr(0, 3) == quantization.substr(0, 3)) return own;
        options.quantization = quantization;
        if (auto variant = find_model(*name, options, std::nullopt, diagnostics)) return variant;
    }
    return std::nullopt;
}

/// Every matrix cut as far as the layout allows: what all engines have in common.
WeightRules common_rules(const EngineOptions& e) {
    WeightRules rules;
    rules.attention_tp = std::max<std::int64_t>(1, e.tp / (e.enable_dp_attention ? e.dp : 1));
    rules.dense_tp = rules.shared_tp = rules.vocab_tp = rules.head_tp = e.tp;
    rules.ep = e.ep;
    rules.moe_tp = std::max<std::int64_t>(1, e.tp / e.ep);
    rules.absorbed_latent_copies = false;
    return rules;
}

bool stores_all(const LlmSpec& model) {
    for (const LayerClass& c : model.classes)
        if (const auto* latent = std::get_if<LatentAttention>(&c.attention); latent != nullptr && latent->indexer) return true;
    return false;
}

/// Requests of one replica that fit when all memory after the weights is the pool.
double pool_batch(const StepWork& w, const LlmSpec& model, const GpuSpec& gpu, double input, double output) {
    double weights = w.projections.read_bytes + w.mixture.read_bytes;
    for (const ExpertLayers& set : w.experts) weights += set.layers * set.experts * set.bytes;
    const double memory = static_cast<double>((gpu.process_memory ? gpu.process_memory : gpu.visible_memory)->highest().count());
    const double pool = memory - weights / w.pp - w.head.read_bytes;
    const double length = input + output / 2.0;
    double held = w.state_bytes / 2.0;
    if (stores_all(model)) held += w.kv_write_bytes * length;
    else
        for (const ContextReads& reads : w.contexts) held += reads.bytes * (reads.reach == ContextReads::Reach::all ? length : std::min(length, reads.limit));
    return pool * w.pp * w.workers / held;
}

std::optional<PreparedLayout> lay_out(const ThroughputCase& c, const std::shared_ptr<const LlmSpec>& model, const std::shared_ptr<const GpuSpec>& gpu,
                                      std::int64_t tp, const std::string& kv) {
    Scenario s;
    s.model = model;
    s.gpu = gpu;
    s.engine.tp = tp;
    s.engine.pp = c.pp;
    s.engine.ep = c.ep;
    s.engine.dp = c.dp;
    s.engine.enable_dp_attention = c.dp > 1;
    PreparedLayout p;
    p.work = count_work(s, common_rules(s.engine), kv);
    // A case of fewer GPUs than its layout is a share of the deployment.
    p.replicas = static_cast<double>(c.gpus) / static_cast<double>(tp * c.pp);
    p.request = {.input = c.input, .output = c.output, .uncached = c.input, .mixed = c.engine != "sglang", .two_batches = c.ep > 8 || c.kind == "prefill"};
    if (c.hit_rate) p.request.uncached = c.input * (1.0 - *c.hit_rate);
    if (c.kind == "decode") {
        p.request.uncached = 0.0;
        p.request.output = 2.0;  // steps at this context
    }
    if (c.kind == "reuse") p.request.tokens_per_step = 4.0, p.request.verified_per_step = 4.0;  // 3 drafts
    p.batch = pool_batch(p.work, *model, *gpu, c.input, c.output);
    if (p.batch < 1.0) return std::nullopt;
    if (c.concurrency) p.batch = std::min(p.batch, *c.concurrency / p.replicas);
    return p;
}

std::vector<PreparedLayout> layouts(const ThroughputCase& c, const std::shared_ptr<const LlmSpec>& model, const std::shared_ptr<const GpuSpec>& gpu,
                                    const std::string& kv) {
    std::vector<PreparedLayout> all;
    for (std::int64_t tp = c.tp > 0 ? c.tp : 1; tp <= (c.tp > 0 ? c.tp : c.gpus); tp *= 2)
        if (auto one = lay_out(c, model, gpu, tp, kv)) all.push_back(std::move(*one));
    return all;
}

std::string smallest_kv(const GpuSpec& gpu) { return gpu.dense.fp4 ? "fp4_e2m1" : gpu.dense.fp8 ? "fp8_e4m3" : "bfloat16"; }

std::string likely_kv(const ThroughputCase& c) {
    const bool eight = c.engine == "other" && c.quantization != "bf16";
    return eight ? "fp8_e4m3" : "bfloat16";
}

}  // namespace

std::vector<ThroughputCase> throughput_cases() {
    Diagnostics diagnostics;
    const auto document = json::parse_file(std::string(KVPLAN_SOURCE_DIR) + "/tests/accuracy/data/throughput.json", diagnostics);
    std::vector<ThroughputCase> cases;
    if (!document) return cases;
    std::map<std::string, std::size_t> column;
    for (const json::Value& name : document->root()["columns"].elements()) column.emplace(text(name), column.size());
    for (const json::Value& row : document->root()["rows"].elements()) {
        const auto at = [&](const char* name) { return row.at(column.at(name)); };
        const auto whole = [&](const char* name) { return at(name).integer().value_or(0); };
        ThroughputCase c{.kind = text(at("kind")), .model = text(at("model")), .published_as = text(at("published_as")), .quantization = text(at("quantization")),
                         .gpu = text(at("gpu")), .engine = text(at("engine")), .source = text(at("source"))};
        c.gpus = whole("gpus"), c.tp = whole("tp"), c.pp = whole("pp"), c.dp = whole("dp"), c.ep = whole("ep");
        c.input = at("input").number().value_or(0.0), c.output = at("output").number().value_or(1.0);
        c.concurrency = at("concurrency").number(), c.hit_rate = at("hit_rate").number();
        c.kv = text(at("kv"));
        c.rate = at("rate").number().value_or(0.0);
        cases.push_back(std::move(c));
    }
    return cases;
}

std::vector<PreparedCase> prepare_cases() {
    Diagnostics diagnostics;
    const GpuCatalogue catalogue = GpuCatalogue::load(std::nullopt, diagnostics);
    std::map<std::string, std::shared_ptr<const LlmSpec>> models;
    std::vector<PreparedCase> prepared;
    for (const ThroughputCase& c : throughput_cases()) {
        auto& model = models[c.model + " " + c.quantization];
        if (!model)
            if (auto spec = read(c.model, c.quantization)) model = std::make_shared<const LlmSpec>(std::move(*spec));
        const GpuMatch match = catalogue.find(c.gpu);
        if (!model || match.gpu == nullptr) continue;
        PreparedCase p{.fact = c, .gpu = std::make_shared<const GpuSpec>(*match.gpu)};
        p.bound = layouts(c, model, p.gpu, c.kv.empty() ? smallest_kv(*p.gpu) : c.kv);
        p.likely = layouts(c, model, p.gpu, c.kv.empty() ? likely_kv(c) : c.kv);
        if (p.likely.empty()) p.likely = p.bound;
        p.dense = !p.bound.empty() && p.bound.front().work.experts.empty();
        if (!p.bound.empty()) prepared.push_back(std::move(p));
    }
    return prepared;
}

Predicted predict(const PreparedCase& c, const std::vector<PreparedLayout>& layouts, const Costs& costs, bool separate) {
    Predicted best;
    for (const PreparedLayout& p : layouts) {
        ServedRequest request = p.request;
        if (separate) request.mixed = false;
        const StepTimer timer(p.work, *c.gpu, request, costs);
        double rate = 0.0;
        Resource resource = Resource::compute;
        if (c.fact.kind == "prefill") {
            rate = p.replicas * request.uncached / timer.prompt_occupancy();
        } else {
            const double batch = std::max(1.0, p.batch);
            const Seconds seconds = c.fact.kind == "decode" ? timer.decode_step(batch) : timer.requests(batch);
            const double tokens = c.fact.kind == "decode" ? 1.0 : request.output;
            rate = p.batch * p.replicas * tokens / seconds.total;
            resource = seconds.largest();
        }
        if (rate > best.rate) best = {rate, resource};
    }
    return best;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace kvplan::accuracy
