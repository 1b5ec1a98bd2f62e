#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "models/llm/safetensors.hpp"
#include "models/llm/safetensors_header.hpp"

namespace kvplan {

namespace {

constexpr std::size_t kMostFiles = 100'000;
constexpr std::int64_t kMostTensors = 4'000'000;

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
bool ends(std::string_view text, std::string_view end) { return text.size() >= end.size() && text.substr(text.size() - end.size()) == end; }

/// The number at the beginning of `text`, one more than it; 0 when there is none or it is absurd.
std::int64_t one_more(std::string_view text) {
    std::int64_t value = 0;
    std::size_t i = 0;
    for (; i < text.size() && i < 7 && text[i] >= '0' && text[i] <= '9'; ++i) value = value * 10 + (text[i] - '0');
    return i > 0 && i < text.size() && text[i] == '.' ? value + 1 : 0;
}

/// A name in an index is a file beside it: no path that leads elsewhere.
bool is_plain_file_name(std::string_view name) {
    return !name.empty() && name.find('/') == std::string_view::npos && name.find('\\') == std::string_view::npos && name != ".." && name != ".";
}

class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
public:
    bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
        const std::string_view key(text, length);
        if (depth_ == 1) {
            section_ = key == "weight_map" ? Section::map : key == "metadata" ? Section::metadata : Section::other;
            has_map_ = has_map_ || section_ == Section::map;
        } else if (depth_ == 2 && section_ == Section::metadata) {
            at_total_ = key == "total_size";
        } else if (depth_ == 2 && section_ == Section::map) {
            index_.names.note(key);
            if (++index_.tensors > kMostTensors) return stop("there are more than " + std::to_string(kMostTensors) + " tensors");
        }
        return true;
    }
    bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
        if (depth_ == 2 && section_ == Section::map) return file({text, length});
        if (depth_ == 2 && section_ == Section::metadata && at_total_) wrong_total_ = true;
        return true;
    }
    bool Uint(unsigned value) { return number(value); }
    bool Int(int value) { return number(value); }
    bool Int64(std::int64_t value) { return number(value); }
    bool Uint64(std::uint64_t value) {
        return number(value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ? -1 : static_cast<std::int64_t>(value));
    }
    bool Double(double value) {
        // Some splitters write 1.5e10; whole doubles below 2^63 are exact.
        const bool whole = value >= 0 && value < 9.2e18 && value == static_cast<double>(static_cast<std::int64_t>(value));
        return number(whole ? static_cast<std::int64_t>(value) : -1);
    }
    bool Bool(bool /*value*/) { return number(-1); }
    bool Null() { return depth_ == 2 && section_ == Section::metadata ? true : number(-1); }
    bool StartObject() { return ++depth_ <= 16 || stop("it is nested too deep"); }
    bool EndObject(rapidjson::SizeType /*count*/) { return --depth_, true; }
    bool StartArray() { return ++depth_ <= 16 || stop("it is nested too deep"); }
    bool EndArray(rapidjson::SizeType /*count*/) { return --depth_, true; }

    [[nodiscard]] const std::string& stopped() const { return stopped_; }
    [[nodiscard]] bool has_map() const { return has_map_; }
    [[nodiscard]] bool wrong_total() const { return wrong_total_; }
    [[nodiscard]] SafetensorsIndex finish() {
        index_.files.assign(files_.begin(), files_.end());
        std::sort(index_.files.begin(), index_.files.end());
        return std::move(index_);
    }

private:
    enum class Section { other, map, metadata };

    bool stop(std::string why) {
        if (stopped_.empty()) stopped_ = std::move(why);
        return false;
    }
    bool number(std::int64_t value) {
        if (depth_ == 2 && section_ == Section::map) return stop("weight_map holds something that is no file name");
        if (depth_ != 2 || section_ != Section::metadata || !at_total_) return true;
        wrong_total_ = value < 0;
        if (value > 0) index_.total_size = Bytes{value};
        return true;
    }
    bool file(std::string_view name) {
        if (name == last_) return true;
        if (!is_plain_file_name(name)) return stop("weight_map names a file outside the directory");
        last_ = name;
        files_.insert(last_);
        return files_.size() <= kMostFiles || stop("there are more than " + std::to_string(kMostFiles) + " files");
    }

    int depth_ = 0;
    Section section_ = Section::other;
    bool at_total_ = false, has_map_ = false, wrong_total_ = false;
    std::string last_, stopped_;
    std::unordered_set<std::string> files_;
    SafetensorsIndex index_;
};

}  // namespace

void TensorNames::note(std::string_view name, std::string_view dtype) {
    for (bool stripped = true; std::exchange(stripped, false);)
        for (const std::string_view root : {"model.", "language_model.", "backbone.", "transformer.", "llm."})
            if (begins(name, root)) {
                name.remove_prefix(root.size());
                stripped = true;
            }
    if (begins(name, "layers.")) {
        const std::string_view rest = name.substr(7);
        const std::int64_t count = one_more(rest);
        layers = std::max(layers, count);
        if (rest.find(".embed_tokens.") != std::string_view::npos && rest.find("per_layer") == std::string_view::npos)
            embedding_layers = std::max(embedding_layers, count);
        return;
    }
    if (begins(name, "mtp.") || begins(name, "mtp_layers.") || begins(name, "nextn.")) {
        draft_module = true;
        draft_embedding = draft_embedding || name.find("embed_tokens.") != std::string_view::npos || ends(name, ".emb.tok_emb.weight");
        return;
    }
    if (name == "lm_head.weight" || name == "head.weight" || name == "output.weight" || name == "output_layer.weight" || name == "embed_out.weight")
        lm_head = true;
    if (name == "embed_tokens.weight" || name == "embed.weight" || name == "wte.weight" || name == "tok_embeddings.weight" ||
        name == "word_embeddings.weight" || name == "embeddings.weight")
        embedding_dtype = dtype;
}

void TensorNames::merge(const TensorNames& other) {
    lm_head = lm_head || other.lm_head;
    draft_module = draft_module || other.draft_module;
    draft_embedding = draft_embedding || other.draft_embedding;
    layers = std::max(layers, other.layers);
    embedding_layers = std::max(embedding_layers, other.embedding_layers);
    if (!other.embedding_dtype.empty()) embedding_dtype = other.embedding_dtype;
}

std::optional<SafetensorsIndex> parse_safetensors_index(std::string text, const std::string& source_name, Diagnostics& diagnostics) {
    const bool has_nul = text.find('\0') != std::string::npos;
    Handler handler;
    rapidjson::InsituStringStream stream(text.data());
    rapidjson::Reader reader;
    const rapidjson::ParseResult result = reader.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag>(stream, handler);
    if (result.IsError() || has_nul || !handler.has_map()) {
        const bool parsed = !result.IsError() && !has_nul;
        Diagnostic fault = detail::checkpoint_fault(source_name, "safetensors.index",
                                                    parsed                       ? "the index has no weight_map"
                                                    : handler.stopped().empty() ? "the index is not JSON"
                                                                                 : "the index cannot be believed: " + handler.stopped());
        if (!parsed) fault.found = "a fault at byte " + std::to_string(result.Offset());
        diagnostics.add(std::move(fault));
        return std::nullopt;
    }
    if (handler.wrong_total()) {
        Diagnostic note = detail::checkpoint_fault(source_name, "safetensors.index", "metadata.total_size is no size and is left aside", Severity::warning);
        note.pointer = "/metadata/total_size";
        diagnostics.add(std::move(note));
    }
    return handler.finish();
}

}  // namespace kvplan
