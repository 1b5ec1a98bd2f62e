// Descriptions of quantized checkpoints as their producers write them. Sources: Hugging Face transformers
// quantization configs, vLLM's and SGLang's quantization layers, NVIDIA modelopt's hf_quant_config.json, MLX-LM.

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "models/json/reader.hpp"
#include "models/llm/quantization.hpp"
#include "units/ascii.hpp"

namespace kvplan {

namespace {

constexpr json::IntegerRange kBits{2, 16};
constexpr json::IntegerRange kGroup{-1, 1 << 20};

bool has_text(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The object that describes the quantization, and whether it is MLX's.
struct Block {
    json::Value value;
    bool mlx = false;
};

bool looks_like_mlx(const json::Value& block) {
    return block.is_object() && block.has("bits") && block.has("group_size") && !block.has("quant_method") && !block.has("quant_algo");
}

Block find_block(const json::Value& config, const json::Value& hf_quant) {
    static constexpr std::string_view kSections[] = {"", "text", "text_config", "language_config", "llm_config", "thinker_config"};
    static constexpr std::string_view kBlocks[] = {"quantization_config", "compression_config", "quantization"};
    for (const std::string_view section : kSections) {
        const json::Value at = section.empty() ? config : config[section];
        for (const std::string_view name : kBlocks)
            if (const json::Value block = at[name]; block.is_object() && block.size() > 0) return {block, looks_like_mlx(block)};
    }
    if (const json::Value block = hf_quant["quantization"]; block.is_object()) return {block, false};
    if (hf_quant.is_object() && hf_quant.has("quant_algo")) return {hf_quant, false};
    return {};
}

}  // namespace

class QuantizationReader {
public:
    QuantizationReader(const QuantizationOptions& options, Diagnostics& diagnostics)
        : options_(options), diagnostics_(diagnostics), reader_(diagnostics), rules_(options.base) {
        rules_.main_layers_ = options.main_layers;
    }

    QuantizationRules read(const json::Value& config, const json::Value& hf_quant) {
        const Block found = find_block(config, hf_quant);
        block_ = found.value;
        if (block_.is_object()) {
            read_kv_cache();
            if (block_.has("stored"))
                read_own();
            else if (found.mlx)
                read_mlx();
            else
                read_method(config);
            read_lists();
        }
        for (const std::string& pattern : options_.extra_ignore) rules_.ignore(pattern);
        return std::move(rules_);
    }

private:
    using Reach = QuantizationRules::Reach;

    static Reach linears() {
        Reach reach;
        reach.linear = reach.expert = true;
        return reach;
    }

    void set(StorageFormat format, Reach reach) {
        rules_.main_ = format;
        rules_.reach_ = reach;
    }

    StorageFormat format(Scheme scheme, int bits, std::int64_t group = 0) const {
        StorageFormat f;
        f.scheme = scheme;
        f.bits = bits;
        f.group = group;
        f.element = options_.base;
        f.scale = options_.base;
        f.shape_type = options_.shape_type;
        return f;
    }

    StorageFormat fp8(Scheme scheme, DType scale, bool static_activations = false) const {
        StorageFormat f = format(scheme, 8);
        f.element = DType::f8_e4m3;
        f.scale = scale;
        f.static_activations = static_activations;
        return f;
    }

    StorageFormat fp8_block(std::int64_t rows, std::int64_t cols, DType scale) const {
        StorageFormat f = fp8(Scheme::fp8_block, scale);
        f.block_rows = rows;
        f.block_cols = cols;
        return f;
    }

    StorageFormat nvfp4(int scalars, std::int64_t group = 16) const {
        StorageFormat f = format(Scheme::nvfp4, 4, group);
        f.element = DType::fp4;
        f.scalars = scalars;
        return f;
    }

    StorageFormat microscaled(Scheme scheme, int bits) const {
        StorageFormat f = format(scheme, bits, 32);
        f.element = bits == 4 ? DType::fp4 : DType::f8_e4m3;
        return f;
    }

    int integer(const json::Value& object, json::Names names, json::IntegerRange range, int fallback) {
        return static_cast<int>(reader_.integer(object, names, range).value_or(fallback));
    }
    std::int64_t group(const json::Value& object, json::Names names, std::int64_t fallback) {
        return std::max<std::int64_t>(0, reader_.integer(object, names, kGroup).value_or(fallback));  // -1: the whole row
    }

    void read_kv_cache() {
        const auto type_of = [](std::string_view text) -> std::optional<DType> {
            const std::string name = lower(text);
            if (has_text(name, "fp8") || has_text(name, "e4m3")) return DType::f8_e4m3;
            if (has_text(name, "fp4")) return DType::fp4;
            if (has_text(name, "int8")) return DType::i8;
            return std::nullopt;
        };
        for (const std::string_view name : {"kv_cache", "kv_cache_quant_algo", "kv_cache_scheme"}) {
            const json::Value value = block_[name];
            if (const auto text = value.string()) rules_.kv_cache_dtype_ = type_of(*text);
            if (!value.is_object()) continue;
            const int bits = integer(value, {"num_bits"}, kBits, 8);
            const bool is_float = value["type"].string().value_or("float") == "float";
            rules_.kv_cache_dtype_ = bits == 4 ? DType::fp4 : is_float ? DType::f8_e4m3 : DType::i8;
        }
    }

    void read_method(const json::Value& config) {
        std::string method = lower(reader_.string(block_, {"quant_method"}).value_or(""));
        rules_.method_ = method;
        const bool modelopt = block_.has("quant_algo") && (method.empty() || has_text(method, "modelopt") || block_.has("quantized_layers"));
        if (method.empty() && modelopt) rules_.method_ = "modelopt";
        if (modelopt) {
            read_modelopt(config);
        } else if (method == "fp8") {
            read_fp8(config);
        } else if (method == "fbgemm_fp8") {
            set(fp8(Scheme::fbgemm_fp8, DType::f32), linears());
        } else if (method == "compressed-tensors" || method == "compressed_tensors" || block_.has("config_groups")) {
            rules_.method_ = "compressed-tensors";
            read_compressed_tensors();
        } else if (has_text(method, "gptq") || has_text(method, "awq") || method == "auto-round") {
            read_words(method);
        } else if (method == "bitsandbytes") {
            read_bitsandbytes();
        } else if (method == "mxfp4") {
            Reach reach;  // transformers and the engines convert experts only
            reach.expert = true;
            set(microscaled(Scheme::mxfp4, 4), reach);
        } else if (method == "mxfp8") {
            set(microscaled(Scheme::mxfp8, 8), linears());
        } else if (method == "w8a8_int8") {
            set(format(Scheme::int8_channel, 8), linears());
        } else if (method == "w8a8_fp8") {
            set(fp8(Scheme::fp8_channel, options_.base), linears());
        } else if (method == "quark") {
            read_quark();
        } else {
            unknown(method);
        }
    }

    /// Our own records: {"stored": "int4-g32", "keep": [...], "also": [{"stored": "nvfp4", "modules": [...]}], ...}.
    void read_own() {
        rules_.method_ = reader_.string(block_, {"method"}).value_or("");
        if (const auto own = own_format(block_)) {
            const auto named = quantization_named(reader_.string(block_, {"stored"}).value_or(""), options_);
            Reach reach = named ? named->reach_ : linears();
            reach.draft = true;
            if (reader_.boolean(block_, {"experts_only"}).value_or(false)) reach.linear = false;
            if (reader_.boolean(block_, {"named_only"}).value_or(false)) reach = Reach{};
            set(*own, reach);
        }
        for (const json::Value& part : reader_.array(block_, {"also"}).elements()) {
            const auto format = own_format(part);
            for (const std::string& name : reader_.string_list(part, {"modules"}).value_or(std::vector<std::string>{}))
                if (format) rules_.assign(name, *format);
        }
        if (const auto expert = reader_.string(block_, {"experts"}))
            if (const auto named = quantization_named(*expert, options_)) rules_.expert_ = named->main_format();
        rules_.ignored_keeps_main_ = reader_.boolean(block_, {"kept_as_stored"}).value_or(false);
        for (const json::Value& value : reader_.array(block_, {"keep"}).elements())
            if (const auto pattern = reader_.as_string(value)) ignore(value, *pattern);
    }

    std::optional<StorageFormat> own_format(const json::Value& object) {
        const auto name = reader_.required_string(object, {"stored"});
        if (!name) return std::nullopt;
        const auto named = quantization_named(*name, options_);
        if (!named) {
            reader_.error(object["stored"], "value.unknown", "no storage format of that name is known", "a name as --quantization takes it",
                          did_you_mean(nearest_names(*name, std::span<const std::string>(quantization_names()))));
            return std::nullopt;
        }
        StorageFormat f = named->main_format();
        if (const auto scale = reader_.string(object, {"scale"})) f.scale = *scale == "fp32" ? DType::f32 : *scale == "e8m0" ? DType::e8m0 : options_.base;
        if (const auto fixed = reader_.boolean(object, {"static_scales"})) f.static_activations = *fixed;
        if (const auto zeros = reader_.boolean(object, {"zero_points"})) f.zero_points = *zeros;
        f.scalars = integer(object, {"scalars"}, {0, 8}, f.scalars);
        if (const auto shape = reader_.string(object, {"shape_type"})) f.shape_type = *shape == "int32" ? DType::i32 : DType::i64;
        return f;
    }

    void unknown(const std::string& what) {
        Diagnostic d = block_.diagnostic(Severity::warning, "quantization.unknown-method", "this way of quantizing is not known, so weights count in 16 bits");
        if (!what.empty()) d.found = what;
        d.hint = "name the format with --quantization, or put the index or the safetensors beside the config for exact bytes";
        diagnostics_.add(std::move(d));
    }

    void read_fp8(const json::Value& config) {
        const auto block = reader_.integer_list(block_, {"weight_block_size"}, json::kCount);
        if (block && block->size() == 2)
            set(fp8_block((*block)[0], (*block)[1], options_.block_scale), linears());
        else
            set(fp8(Scheme::fp8_tensor, DType::f32, block_["activation_scheme"].string() == "static"), linears());
        // DeepSeek-V4 says fp8 and stores its experts as fp4 in bytes with an e8m0 scale per 32.
        json::Value expert = config["expert_dtype"];
        if (!expert.exists()) expert = config["text_config"]["expert_dtype"];
        if (expert.string() == "fp4") rules_.expert_ = microscaled(Scheme::mxfp4, 4);
    }

    /// Words of 32 bits: GPTQ, AWQ, and auto-round's exports of either.
    void read_words(const std::string& method) {
        const bool is_awq = has_text(method, "awq") || has_text(lower(block_["packing_format"].string().value_or("")), "awq");
        const int bits = integer(block_, {"bits", "w_bit"}, kBits, 4);
        const std::int64_t size = group(block_, {"group_size", "q_group_size"}, 128);
        StorageFormat f = format(is_awq ? Scheme::awq : Scheme::gptq, bits, size);
        f.scale = DType::f16;
        f.zero_points = !is_awq || reader_.boolean(block_, {"zero_point"}).value_or(true);
        f.act_order = !is_awq;  // g_idx is stored whether or not the order is used
        Reach reach = linears();
        reach.head = reader_.boolean(block_, {"lm_head"}).value_or(false);
        set(f, reach);
        // GPTQModel: "-:pattern" leaves out, "+:pattern" has values of its own.
        for (const auto& [name, value] : block_["dynamic"].members()) {
            if (name.substr(0, 2) == "-:") {
                ignore(value, "re:" + std::string(name.substr(2)));
            } else if (value.is_object()) {
                StorageFormat own = f;
                own.bits = integer(value, {"bits"}, kBits, bits);
                own.group = group(value, {"group_size"}, size);
                rules_.assign("re:" + std::string(name.substr(0, 2) == "+:" ? name.substr(2) : name), own);
            }
        }
    }

    void read_bitsandbytes() {
        const bool four = reader_.boolean(block_, {"load_in_4bit", "_load_in_4bit"}).value_or(false);
        StorageFormat f = format(four ? Scheme::bnb_nf4 : Scheme::bnb_int8, four ? 4 : 8, four ? 64 : 0);
        f.double_quantized = four && reader_.boolean(block_, {"bnb_4bit_use_double_quant"}).value_or(false);
        Reach reach = linears();
        reach.router = reach.small = reach.vision = true;  // every nn.Linear but the head
        set(f, reach);
    }

    void read_mlx() {
        rules_.method_ = "mlx";
        const StorageFormat base = mlx_format(block_, {});
        Reach reach;
        reach.linear = reach.expert = reach.embedding = reach.head = reach.router = reach.small = true;
        set(base, reach);
        for (const auto& [name, value] : block_.members()) {
            if (value.is_object())
                rules_.assign(name, mlx_format(value, base));
            else if (value.boolean() == false)
                rules_.ignore(name);
        }
    }

    StorageFormat mlx_format(const json::Value& object, const std::optional<StorageFormat>& base) {
        const std::string mode = lower(reader_.string(object, {"mode"}).value_or("affine"));
        const int bits = integer(object, {"bits"}, kBits, base ? base->bits : 4);
        StorageFormat f = format(Scheme::mlx_affine, bits, group(object, {"group_size"}, base ? base->group : 64));
        if (mode == "mxfp4" || mode == "nvfp4") f.scheme = mode == "mxfp4" ? Scheme::mxfp4 : Scheme::nvfp4;
        if (mode == "mxfp8") f.scheme = Scheme::mxfp8;
        if (f.scheme != Scheme::mlx_affine) f.element = DType::u32;
        return f;
    }

    void read_modelopt(const json::Value& config) {
        const std::string algorithm = reader_.string(block_, {"quant_algo"}).value_or("");
        if (algorithm == "MIXED_PRECISION") {
            read_mixed(config);
            return;
        }
        const std::optional<StorageFormat> f = modelopt_format(block_, algorithm);
        if (!f) {
            unknown(algorithm);
            return;
        }
        set(*f, linears());
    }

    std::optional<StorageFormat> modelopt_format(const json::Value& entry, const std::string& algorithm) {
        if (algorithm == "FP8") return fp8(Scheme::fp8_tensor, DType::f32, true);
        if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") return fp8(Scheme::fp8_channel, DType::f32);
        if (algorithm == "FP8_PB_WO" || algorithm == "FP8_PB_REAL") return fp8_block(128, 128, DType::f32);
        if (algorithm == "NVFP4" || algorithm == "NVFP4_AWQ") return nvfp4(2, group(entry, {"group_size"}, 16));
        if (algorithm == "W4A16_NVFP4") return nvfp4(1, group(entry, {"group_size"}, 16));
        if (algorithm == "MXFP8") return microscaled(Scheme::mxfp8, 8);
        if (has_text(algorithm, "MXFP4")) return microscaled(Scheme::mxfp4, 4);
        if (has_text(algorithm, "INT8") || has_text(algorithm, "W8A8")) return format(Scheme::int8_channel, 8);
        if (algorithm == "W4A16_AWQ" || algorithm == "W4A8_AWQ") return awq_bytes(group(entry, {"group_size"}, 128));
        return std::nullopt;
    }

    StorageFormat awq_bytes(std::int64_t size) const {
        StorageFormat f = format(Scheme::awq, 4, size);
        f.scale = DType::f16;
        return f;
    }

    void read_mixed(const json::Value& config) {
        // On top of a block-fp8 checkpoint the map names what was quantized a second time, and the list what was not.
        const bool second_pass = block_["quant_method"].string() == "fp8" && block_.has("weight_block_size");
        if (second_pass) {
            read_fp8(config);
            rules_.ignored_keeps_main_ = true;
        }
        struct Use {
            StorageFormat format;
            std::size_t modules;
        };
        std::vector<Use> uses;
        for (const auto& [name, entry] : block_["quantized_layers"].members()) {
            const std::string algorithm = reader_.string(entry, {"quant_algo"}).value_or("");
            const std::optional<StorageFormat> f = modelopt_format(entry, algorithm);
            if (!f) {
                unknown(algorithm);
                continue;
            }
            rules_.assign(name, *f);
            const auto same = std::find_if(uses.begin(), uses.end(), [&](const Use& use) { return use.format == *f; });
            if (same == uses.end())
                uses.push_back({*f, 1});
            else
                ++same->modules;
        }
        if (second_pass || uses.empty()) return;
        rules_.main_ = std::max_element(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.modules < b.modules; })->format;
    }

    void read_compressed_tensors() {
        const json::Value groups = reader_.required_object(block_, {"config_groups"});
        const std::string format_name = reader_.string(block_, {"format"}).value_or("");
        bool first = true;
        for (const auto& [name, entry] : groups.members()) {
            const json::Value weights = entry["weights"];
            if (!weights.is_object()) continue;
            const std::optional<StorageFormat> f = group_format(entry, weights, lower(reader_.string(entry, {"format"}).value_or(format_name)));
            if (!f) continue;
            bool by_class = entry["targets"].size() == 0;
            for (const json::Value& target : entry["targets"].elements()) {
                const std::string_view text = target.string().value_or("");
                if (text == "Linear" || text == "FusedMoE" || text == "MoEGate")
                    by_class = true;
                else
                    rules_.assign(text, *f);
            }
            if (by_class) set(*f, linears());
            if (!by_class && first) rules_.main_ = *f;
            first = false;
        }
    }

    std::optional<StorageFormat> group_format(const json::Value& entry, const json::Value& weights, const std::string& layout) {
        const int bits = integer(weights, {"num_bits"}, kBits, 8);
        const bool is_float = lower(reader_.string(weights, {"type"}).value_or("int")) == "float";
        const std::int64_t size = group(weights, {"group_size"}, 0);
        std::string strategy = lower(reader_.string(weights, {"strategy"}).value_or(size > 0 ? "group" : "tensor"));
        const json::Value inputs = entry["input_activations"];
        const bool static_inputs = inputs.is_object() && inputs["dynamic"].boolean() == false;
        if (is_float && bits == 4) {
            if (size == 32 || has_text(layout, "mxfp4")) return microscaled(Scheme::mxfp4, 4);
            return nvfp4(inputs.is_object() ? 2 : 1, size > 0 ? size : 16);
        }
        if (is_float && bits == 8) {
            if (size == 32 || has_text(layout, "mxfp8")) return microscaled(Scheme::mxfp8, 8);
            if (strategy == "block") return block_format(weights);
            return fp8(strategy == "channel" ? Scheme::fp8_channel : Scheme::fp8_tensor, options_.base, static_inputs);
        }
        if (!is_float && (bits < 8 || has_text(layout, "pack"))) {
            StorageFormat f = format(Scheme::packed_int, bits, strategy == "group" ? size : 0);
            f.zero_points = reader_.boolean(weights, {"symmetric"}) == false;
            const json::Value order = weights["actorder"];
            f.act_order = order.boolean() == true || order.string() == "group";
            return f;
        }
        if (!is_float && bits == 8) {
            StorageFormat f = format(strategy == "tensor" ? Scheme::int8_tensor : Scheme::int8_channel, 8, strategy == "group" ? size : 0);
            f.zero_points = reader_.boolean(weights, {"symmetric"}) == false;
            f.static_activations = static_inputs;
            return f;
        }
        unknown((is_float ? "float" : "int") + std::to_string(bits));
        return std::nullopt;
    }

    StorageFormat block_format(const json::Value& weights) {
        const json::Value structure = weights["block_structure"];
        std::array<std::int64_t, 2> block{128, 128};
        if (structure.is_array() && structure.size() == 2) {
            for (std::size_t i = 0; i < 2; ++i) block[i] = reader_.as_integer(structure.at(i), json::kCount).value_or(128);
        } else if (const auto text = structure.string()) {
            // "128x128"
            std::size_t i = 0;
            std::int64_t value = 0;
            for (const char c : *text) {
                if (c >= '0' && c <= '9' && value < json::kMaxCount) value = value * 10 + (c - '0');
                if (c == 'x' && i == 0 && value > 0) block[i++] = std::exchange(value, 0);
            }
            if (i == 1 && value > 0) block[1] = value;
        }
        return fp8_block(block[0], block[1], options_.base);
    }

    void read_quark() {
        const json::Value weight = block_["global_quant_config"]["weight"];
        const std::string type = lower(weight["dtype"].string().value_or(""));
        const std::string scheme = lower(weight["qscheme"].string().value_or(""));
        if (type == "fp4")
            set(microscaled(Scheme::mxfp4, 4), linears());
        else if (has_text(type, "fp8"))
            set(fp8(has_text(scheme, "channel") ? Scheme::fp8_channel : Scheme::fp8_tensor, DType::f32,
                    block_["global_quant_config"]["input_tensors"]["is_dynamic"].boolean() == false),
                linears());
        else if (type == "int8")
            set(format(has_text(scheme, "channel") ? Scheme::int8_channel : Scheme::int8_tensor, 8), linears());
        else
            unknown("quark " + type);
    }

    void ignore(const json::Value& where, const std::string& pattern) {
        // A list may name classes too; those are no paths.
        if (pattern == "Linear") return;
        if (rules_.ignored_.add(pattern, 0)) return;
        Diagnostic d = where.diagnostic(Severity::warning, "quantization.pattern", "a regular expression of the ignore list cannot be read and is left out");
        d.found = pattern;
        diagnostics_.add(std::move(d));
    }

    void read_lists() {
        static constexpr std::string_view kLists[] = {"ignore",         "modules_to_not_convert", "ignored_layers",
                                                      "exclude_modules", "llm_int8_skip_modules",  "exclude"};
        for (const std::string_view list : kLists) {
            const json::Value values = block_[list];
            if (const auto single = values.string()) ignore(values, std::string(*single));
            for (const json::Value& value : values.elements()) {
                const auto pattern = reader_.as_string(value);
                if (pattern) ignore(value, *pattern);
            }
        }
    }

    const QuantizationOptions& options_;
    Diagnostics& diagnostics_;
    json::Reader reader_;
    json::Value block_;
    QuantizationRules rules_;
};

QuantizationRules read_quantization(const json::Value& config, const json::Value& hf_quant, const QuantizationOptions& options,
                                    Diagnostics& diagnostics) {
    return QuantizationReader(options, diagnostics).read(config, hf_quant);
}

}  // namespace kvplan
