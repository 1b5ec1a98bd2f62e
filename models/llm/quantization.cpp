#include "models/llm/quantization.hpp"

#include <algorithm>

#include "units/parse.hpp"

namespace kvplan {

namespace {

constexpr int kKeep = 0;

constexpr std::string_view kVisionParts[] = {
    "visual",     "vision",       "vision_tower",          "vision_model", "vision_encoder", "vision_embedder", "mm_projector",
    "vit",        "embed_vision", "multi_modal_projector", "audio_tower",  "embed_audio",    "patch_merge_mlp", "vision_projection",
    "sam_model",  "aligner",      "projector",             "qwen2_model",  "vision_adapter", "image_newline"};
constexpr std::string_view kEmbeddings[] = {"embed_tokens", "word_embeddings", "wte", "tok_embeddings", "embed_tokens_per_layer", "embed_in"};
constexpr std::string_view kHeads[] = {"lm_head", "output_layer", "embed_out"};
constexpr std::string_view kRouters[] = {"gate", "router", "wg"};
// Linear layers too small or too delicate for the producers of quantized checkpoints, listed or not: see the FP8
// releases of DeepSeek-V3.2 (indexer, eh_proj), Qwen3-Next and Qwen3.5 (in_proj_a/b/ba, mtp.fc).
constexpr std::string_view kSmall[] = {"eh_proj", "weights_proj", "shared_expert_gate", "in_proj_a", "in_proj_b", "in_proj_ba", "fc"};
constexpr std::string_view kVectors[] = {"conv1d", "A_log", "D", "dt_bias", "sinks", "bias", "e_score_correction_bias", "enorm", "hnorm"};

template <class Range>
bool contains(const Range& range, std::string_view item) {
    return std::find(std::begin(range), std::end(range), item) != std::end(range);
}

/// The parts of a dotted path, one after the other.
template <class Visit>
bool any_part(std::string_view path, const Visit& visit) {
    while (true) {
        const std::size_t dot = path.find('.');
        if (visit(path.substr(0, dot))) return true;
        if (dot == std::string_view::npos) return false;
        path.remove_prefix(dot + 1);
    }
}

}  // namespace

ModuleKind kind_of_module(std::string_view path) {
    const std::string name = canonical_module_name(path);
    const std::string_view last = std::string_view(name).substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    if (any_part(name, [](std::string_view part) { return contains(kVisionParts, part); })) return ModuleKind::vision;
    if (contains(kVectors, last) || last.find("norm") != std::string_view::npos) return ModuleKind::other;
    if (contains(kEmbeddings, last)) return ModuleKind::embedding;
    if (contains(kHeads, last)) return ModuleKind::lm_head;
    if (any_part(name, [](std::string_view part) { return contains(kRouters, part); })) return ModuleKind::router;
    if (contains(kSmall, last)) return ModuleKind::small;
    if (any_part(name, [](std::string_view part) { return part == "experts"; })) return ModuleKind::expert;
    return ModuleKind::linear;
}

QuantizationRules::QuantizationRules(DType base) : base_(base), main_(plain(base)) {}

int QuantizationRules::add_format(const StorageFormat& format) {
    const auto found = std::find(formats_.begin(), formats_.end(), format);
    if (found != formats_.end()) return static_cast<int>(found - formats_.begin());
    formats_.push_back(format);
    return static_cast<int>(formats_.size()) - 1;
}

void QuantizationRules::ignore(std::string_view pattern) { ignored_.add(pattern, kKeep); }

void QuantizationRules::assign(std::string_view pattern, const StorageFormat& format) { assigned_.add(pattern, add_format(format)); }

bool QuantizationRules::is_draft(std::string_view name) const {
    const std::string_view head = name.substr(0, name.find('.'));
    if (head == "mtp" || head == "mtp_layers") return true;
    constexpr std::string_view kLayers = "layers.";
    if (main_layers_ <= 0 || name.substr(0, kLayers.size()) != kLayers) return false;
    const std::string_view number = name.substr(kLayers.size(), name.find('.', kLayers.size()) - kLayers.size());
    const auto index = parse_integer(number);
    return parse_ok(index) && std::get<std::int64_t>(index) >= main_layers_;
}

bool QuantizationRules::reached(std::string_view name, ModuleKind kind) const {
    if (!reach_.draft && is_draft(name)) return false;
    switch (kind) {
        case ModuleKind::linear: return reach_.linear;
        case ModuleKind::expert: return reach_.expert;
        case ModuleKind::embedding: return reach_.embedding;
        case ModuleKind::lm_head: return reach_.head;
        case ModuleKind::router: return reach_.router;
        case ModuleKind::small: return reach_.small;
        case ModuleKind::vision: return reach_.vision;
        case ModuleKind::other: return false;
    }
    return false;
}

StorageFormat QuantizationRules::format_for(std::string_view path) const { return format_for(path, kind_of_module(path)); }

StorageFormat QuantizationRules::format_for(std::string_view path, ModuleKind kind) const {
    if (kind == ModuleKind::other) return plain(base_);
    const std::string name = canonical_module_name(path);
    const bool ignored = ignored_.matches(path) || (ignored_.matches("mtp") && is_draft(name));
    if (ignored && !ignored_keeps_main_) return plain(base_);
    if (!ignored)
        if (const auto format = assigned_.find(path)) return formats_[static_cast<std::size_t>(*format)];
    if (!reached(name, kind)) return plain(base_);
    if (expert_ && kind == ModuleKind::expert) return *expert_;
    return main_;
}

std::string QuantizationRules::label() const {
    std::vector<std::string> names;
    const auto add = [&](const StorageFormat& format) {
        if (format.scheme == Scheme::plain) return;
        std::string name = kvplan::label(format);
        if (!contains(names, name)) names.push_back(std::move(name));
    };
    if (expert_) add(*expert_);
    add(main_);
    for (const StorageFormat& format : formats_) add(format);
    if (names.empty()) return kvplan::label(plain(base_));
    if (names.size() == 1) return names.front();
    std::string text = "mixed (";
    for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
    return text + ")";
}

}  // namespace kvplan
