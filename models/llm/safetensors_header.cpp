#include "models/llm/safetensors_header.hpp"

#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>

namespace kvplan::detail {

namespace {

struct TypeInfo {
    std::string_view name;
    std::int64_t bits;
};

// huggingface/safetensors, safetensors/src/tensor.rs, Dtype. Sorted.
constexpr std::array<TypeInfo, 22> kTypes{{{"BF16", 16},   {"BOOL", 8},    {"C64", 64},      {"F16", 16},     {"F32", 32},  {"F4", 4},
                                           {"F64", 64},    {"F6_E2M3", 6}, {"F6_E3M2", 6},   {"F8_E4M3", 8},  {"F8_E4M3FNUZ", 8}, {"F8_E5M2", 8},
                                           {"F8_E5M2FNUZ", 8}, {"F8_E8M0", 8}, {"I16", 16},  {"I32", 32},     {"I64", 64},  {"I8", 8},
                                           {"U16", 16},    {"U32", 32},    {"U64", 64},      {"U8", 8}}};
constexpr std::size_t kUnknownType = kTypes.size();

/// Where the data of one tensor lies.
struct Span {
    std::int64_t begin = 0, end = 0;
};

struct Sum {
    std::int64_t tensors = 0, elements = 0, bytes = 0;
};

/// Takes the events of the parser; only sums and spans are kept, so memory is 24 bytes a tensor.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
public:
    Handler(const std::string& path, std::int64_t data_bytes, Diagnostics& diagnostics, const SafetensorsLimits& limits)
        : path_(path), data_bytes_(data_bytes), diagnostics_(diagnostics), limits_(limits) {}

    bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
        const std::string_view key(text, length);
        if (depth_ == 1) {
            name_ = key;
            in_metadata_ = key == "__metadata__";
            if (!in_metadata_) begin_tensor();
        } else if (depth_ == 2 && !in_metadata_) {
            field_ = key == "dtype" ? Field::dtype : key == "shape" ? Field::shape : key == "data_offsets" ? Field::offsets : Field::other;
        }
        return true;
    }

    bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
        if (depth_ < 2) return stop("an entry of the header is no object");
        if (in_metadata_ || depth_ != 2 || field_ != Field::dtype) return true;
        const std::string_view type(text, length);
        const auto at = std::lower_bound(kTypes.begin(), kTypes.end(), type, [](const TypeInfo& info, std::string_view wanted) { return info.name < wanted; });
        type_ = at != kTypes.end() && at->name == type ? static_cast<std::size_t>(at - kTypes.begin()) : kUnknownType;
        type_name_ = type;
        return true;
    }

    bool Uint(unsigned value) { return number(value); }
    bool Uint64(std::uint64_t value) {
        return number(value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ? -1 : static_cast<std::int64_t>(value));
    }
    bool Int(int value) { return number(value); }
    bool Int64(std::int64_t value) { return number(value); }
    bool Double(double /*value*/) { return number(-1); }
    bool Bool(bool /*value*/) { return number(-1); }
    bool Null() { return number(-1); }

    bool StartObject() { return open(); }
    bool StartArray() { return depth_ > 0 ? open() : stop("the header is no object"); }
    bool EndArray(rapidjson::SizeType /*count*/) { return --depth_ > 1 || stop("an entry of the header is no object"); }
    bool EndObject(rapidjson::SizeType /*count*/) {
        --depth_;
        if (depth_ != 1) return true;
        const bool tensor = !std::exchange(in_metadata_, false);
        return !tensor || end_tensor();
    }

    [[nodiscard]] const std::string& stopped() const { return stopped_; }
    [[nodiscard]] bool sound() const { return sound_; }

    /// After the last event.
    [[nodiscard]] TensorSizes finish() {
        check_spans();
        TensorSizes sizes;
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const Sum& sum = sums_[i];
            if (sum.tensors == 0) continue;
            sizes.bytes += Bytes{sum.bytes};
            sizes.elements = checked_add(sizes.elements, sum.elements);
            sizes.tensors += sum.tensors;
            sizes.by_dtype.push_back({i == kUnknownType ? "other" : std::string(kTypes[i].name), sum.tensors, sum.elements, Bytes{sum.bytes}});
        }
        sizes.names = std::move(names_);
        return sizes;
    }

private:
    enum class Field { none, dtype, shape, offsets, other };
    static constexpr int kMostDepth = 3;  // header, tensor, shape

    bool open() { return ++depth_ <= kMostDepth || stop("the header is nested too deep"); }

    bool stop(std::string why) {
        if (stopped_.empty()) stopped_ = std::move(why);
        return false;
    }

    void begin_tensor() {
        field_ = Field::none;
        type_ = kUnknownType;
        type_name_ = {};
        elements_ = 1;
        overflow_ = false;
        bad_shape_ = false;
        offsets_ = {0, 0};
        offset_count_ = 0;
    }

    bool number(std::int64_t value) {
        if (depth_ < 2) return stop("an entry of the header is no object");
        if (in_metadata_ || depth_ != 3) return true;
        if (field_ == Field::shape) {
            bad_shape_ = bad_shape_ || value < 0;
            overflow_ = overflow_ || __builtin_mul_overflow(elements_, std::max<std::int64_t>(value, 0), &elements_);
        } else if (field_ == Field::offsets) {
            if (offset_count_ < 2) offsets_[offset_count_] = value;
            ++offset_count_;
        }
        return true;
    }

    void tensor_fault(std::string message, std::string found, std::string expected) {
        sound_ = false;
        Diagnostic fault = checkpoint_fault(path_, "safetensors.tensor", std::move(message));
        fault.pointer = name_;
        fault.found = std::move(found);
        fault.expected = std::move(expected);
        diagnostics_.add(std::move(fault));
    }

    bool end_tensor() {
        if (spans_.size() >= limits_.max_tensors) return stop("there are more than " + std::to_string(limits_.max_tensors) + " tensors in one file");
        const auto [begin, end] = std::pair(offsets_[0], offsets_[1]);
        const std::string offsets = std::to_string(begin) + " to " + std::to_string(end);
        if (type_name_.empty()) {
            tensor_fault("a tensor has no dtype", "nothing", "a dtype");
        } else if (bad_shape_) {
            tensor_fault("a dimension of a tensor is no whole number from 0", "", "whole numbers of at least 0");
        } else if (overflow_) {
            tensor_fault("the product of a tensor's dimensions leaves 64 bits", "", "at most 2^63 - 1 elements");
        } else if (offset_count_ != 2 || begin < 0 || end < begin || end > data_bytes_) {
            tensor_fault("a tensor's offsets lie outside the file", offset_count_ == 2 ? offsets : std::to_string(offset_count_) + " numbers",
                         "two numbers, rising, of at most " + std::to_string(data_bytes_));
        } else if (type_ != kUnknownType && !size_matches(end - begin)) {
            tensor_fault("a tensor's bytes do not follow from its shape", offsets,
                         std::to_string(elements_) + " elements of " + std::string(kTypes[type_].name));
        } else {
            take(begin, end);
        }
        return true;
    }

    [[nodiscard]] bool size_matches(std::int64_t bytes) const {
        std::int64_t bits = 0;
        return !__builtin_mul_overflow(elements_, kTypes[type_].bits, &bits) && ceil_div(bits, 8) == bytes;
    }

    void take(std::int64_t begin, std::int64_t end) {
        if (type_ == kUnknownType) {
            Diagnostic note = checkpoint_fault(path_, "safetensors.dtype", "a dtype is not known; its bytes count all the same", Severity::warning);
            note.found = std::string(type_name_);
            diagnostics_.add(std::move(note));
        }
        spans_.push_back({begin, end});
        hashes_.push_back(std::hash<std::string_view>{}(name_));
        Sum& sum = sums_[type_];
        ++sum.tensors;
        sum.elements = checked_add(sum.elements, elements_);
        sum.bytes += end - begin;
        names_.note(name_, type_name_);
    }

    void check_spans() {
        std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
        std::int64_t reached = 0;
        std::int64_t gap = 0;
        for (const Span& span : spans_) {
            if (span.begin < reached && span.end > span.begin) {
                sound_ = false;
                Diagnostic fault = checkpoint_fault(path_, "safetensors.overlap", "two tensors share bytes");
                fault.found = "a tensor from byte " + std::to_string(span.begin) + ", another up to " + std::to_string(reached);
                diagnostics_.add(std::move(fault));
                break;
            }
            gap += std::max<std::int64_t>(0, span.begin - reached);
            reached = std::max(reached, span.end);
        }
        gap += data_bytes_ - reached;
        if (sound_ && gap > 0) {
            Diagnostic note = checkpoint_fault(path_, "safetensors.gap", "bytes of the file belong to no tensor", Severity::warning);
            note.found = std::to_string(gap) + " bytes";
            diagnostics_.add(std::move(note));
        }
        std::sort(hashes_.begin(), hashes_.end());
        if (std::adjacent_find(hashes_.begin(), hashes_.end()) != hashes_.end()) {
            sound_ = false;
            diagnostics_.add(checkpoint_fault(path_, "safetensors.header", "a tensor's name stands in the header twice"));
        }
    }

    const std::string& path_;
    std::int64_t data_bytes_;
    Diagnostics& diagnostics_;
    const SafetensorsLimits& limits_;

    int depth_ = 0;
    bool in_metadata_ = false;
    bool sound_ = true;
    std::string stopped_;
    Field field_ = Field::none;
    std::string name_;
    std::size_t type_ = kUnknownType;
    std::string type_name_;
    std::int64_t elements_ = 1;
    bool overflow_ = false, bad_shape_ = false;
    std::array<std::int64_t, 2> offsets_{};
    std::size_t offset_count_ = 0;

    std::array<Sum, kTypes.size() + 1> sums_{};
    std::vector<Span> spans_;
    std::vector<std::size_t> hashes_;
    TensorNames names_;
};

}  // namespace

Diagnostic checkpoint_fault(const std::string& path, std::string code, std::string message, Severity severity) {
    Diagnostic fault;
    fault.severity = severity;
    fault.code = std::move(code);
    fault.file = path;
    fault.message = std::move(message);
    return fault;
}

std::optional<TensorSizes> parse_safetensors_header(std::string json, const std::string& path, std::int64_t data_bytes, Diagnostics& diagnostics,
                                                    const SafetensorsLimits& limits) {
    // The parser ends at a NUL byte; padding is of spaces, so there is none in a sound header.
    const bool has_nul = json.find('\0') != std::string::npos;
    Handler handler(path, data_bytes, diagnostics, limits);
    rapidjson::InsituStringStream stream(json.data());
    rapidjson::Reader reader;
    const rapidjson::ParseResult result = reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag>(stream, handler);
    if (result.IsError() || has_nul) {
        const bool large = handler.stopped().rfind("there are more", 0) == 0;
        Diagnostic fault = checkpoint_fault(path, large ? "safetensors.too-large" : "safetensors.header",
                                            handler.stopped().empty() ? "the header is not JSON" : handler.stopped());
        if (!large) fault.found = "a fault at byte " + std::to_string(result.Offset()) + " of the header";
        diagnostics.add(std::move(fault));
        return std::nullopt;
    }
    TensorSizes sizes = handler.finish();
    if (!handler.sound()) return std::nullopt;
    return sizes;
}

}  // namespace kvplan::detail
