#include "models/json/builder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

#include "units/utf8.hpp"

namespace kvplan::json::detail {
namespace {

// Enough to mend a file by; finding the lines of each costs a walk through the text.
constexpr std::size_t kMostReported = 20;

bool is_separator(char c) { return c == ' ' || c == '\n' || c == ',' || c == ':' || c == '\r' || c == '\t'; }

bool is_number_character(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == 'e' || c == 'E' || c == '+';
}

// The nearest double to the decimal at the start of `token`, an infinity when it is beyond the range.
double to_double(std::string_view token) {
    double value = 0.0;
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
    const std::from_chars_result result = std::from_chars(token.data(), token.data() + token.size(), value);
    if (result.ec != std::errc::result_out_of_range) return value;
    // Out of range tells neither which way nor the sign; strtod answers 0 or HUGE_VAL. Locales play no part in its
    // range.
#endif
    return std::strtod(std::string(token).c_str(), nullptr);
}

// Python's three words for what is no decimal; RapidJSON would take "Inf" and "-NaN" as well.
std::optional<double> to_special(std::string_view rest) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (rest.compare(0, 8, "Infinity") == 0) return kInfinity;
    if (rest.compare(0, 9, "-Infinity") == 0) return -kInfinity;
    if (rest.compare(0, 3, "NaN") == 0) return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
}

}  // namespace

std::uint32_t Builder::next_token() const {
    std::size_t at = cursor_;
    while (at < tree_->text.size() && is_separator(tree_->text[at])) ++at;
    return static_cast<std::uint32_t>(at);
}

std::optional<std::uint32_t> Builder::innermost_open() const {
    if (open_.empty()) return std::nullopt;
    return tree_->nodes[open_.back().node].offset;
}

bool Builder::halt(Stop why) {
    stop_ = why;
    return false;
}

Node* Builder::add(Type type, std::uint32_t offset) {
    if (tree_->nodes.size() >= limits_.max_values) {
        halt(Stop::too_many_values);
        return nullptr;
    }
    const auto id = static_cast<std::uint32_t>(tree_->nodes.size());
    Node node{};
    node.offset = offset;
    node.type = type;
    if (!open_.empty()) {
        node.parent = open_.back().node;
        if (tree_->nodes[node.parent].type == Type::object) {
            node.is_member = true;
            node.name = name_.run;
            node.name_decoded = name_.decoded;
            node.name_hash = name_hash_;
        } else {
            node.name.first = static_cast<std::uint32_t>(pending_.size() - open_.back().first_child);
        }
        pending_.push_back(id);
    }
    tree_->nodes.push_back(node);
    return &tree_->nodes.back();
}

bool Builder::Null() {
    const std::uint32_t offset = next_token();
    cursor_ = offset + 4;
    return add(Type::null, offset) != nullptr;
}

bool Builder::Bool(bool value) {
    const std::uint32_t offset = next_token();
    cursor_ = offset + (value ? 4 : 5);
    Node* node = add(Type::boolean, offset);
    if (node == nullptr) return false;
    node->boolean = value;
    return true;
}

// RapidJSON has checked the form; the value is made here, because its own conversion overflows an int for exponents
// near -2^31 and then reads beyond a table.
bool Builder::RawNumber(const char*, Size, bool) {
    const std::uint32_t offset = next_token();
    const std::string_view rest = std::string_view(tree_->text).substr(offset);
    std::size_t length = 0;
    while (length < rest.size() && is_number_character(rest[length])) ++length;
    const std::string_view token = rest.substr(0, length);
    Node* node = add(Type::real, offset);
    if (node == nullptr) return false;

    if (token.empty() || token == "-") {
        const std::optional<double> special = to_special(rest);
        if (!special) return halt(Stop::bad_literal);
        cursor_ = offset + (std::isnan(*special) ? 3U : *special < 0 ? 9U : 8U);
        node->real = *special;
        return true;
    }
    cursor_ = offset + static_cast<std::uint32_t>(length);
    if (token.find_first_of(".eE") == std::string_view::npos) {
        const auto result = std::from_chars(token.data(), token.data() + token.size(), node->integer);
        if (result.ec == std::errc{}) {
            node->type = Type::integer;
            return true;
        }
        node->inexact = true;
    }
    node->real = to_double(token);
    if (std::isinf(node->real) && too_large_.size() < kMostReported) {
        too_large_.push_back(static_cast<std::uint32_t>(tree_->nodes.size() - 1));
    }
    return true;
}

// A string without escapes stays where it is in the text; one with escapes is longer there than decoded, so that the
// two differ within the decoded length at the latest where the first escape begins.
std::optional<Builder::Text> Builder::take_string(const char* text, Size length) {
    const std::uint32_t begin = next_token() + 1;
    const std::string_view raw = std::string_view(tree_->text).substr(begin);
    const std::string_view decoded(text, length);
    const bool plain = raw.size() > length && raw[length] == '"' && raw.compare(0, length, decoded) == 0 &&
                       decoded.find('\\') == std::string_view::npos;
    if (plain) {
        cursor_ = begin + length + 1;
        return Text{{begin, length}, false};
    }
    std::size_t end = 0;
    while (end < raw.size() && raw[end] != '"') end += raw[end] == '\\' ? 2U : 1U;
    // RapidJSON lets a lone low surrogate pass.
    if (find_invalid_utf8(decoded) != std::string_view::npos) {
        halt(Stop::bad_escape);
        return std::nullopt;
    }
    cursor_ = begin + static_cast<std::uint32_t>(end) + 1;
    const Run run{static_cast<std::uint32_t>(tree_->decoded.size()), length};
    tree_->decoded += decoded;
    return Text{run, true};
}

bool Builder::String(const char* text, Size length, bool) {
    const std::uint32_t offset = next_token();
    const std::optional<Text> string = take_string(text, length);
    if (!string) return false;
    Node* node = add(Type::string, offset);
    if (node == nullptr) return false;
    node->run = string->run;
    node->string_decoded = string->decoded;
    return true;
}

bool Builder::Key(const char* text, Size length, bool) {
    const std::optional<Text> name = take_string(text, length);
    if (!name) return false;
    name_ = *name;
    name_hash_ = hash_name({text, length});
    return true;
}

bool Builder::open(Type type) {
    const std::uint32_t offset = next_token();
    if (open_.size() >= static_cast<std::size_t>(std::max(limits_.max_depth, 0))) return halt(Stop::too_deep);
    if (add(type, offset) == nullptr) return false;
    cursor_ = offset + 1;
    open_.push_back({static_cast<std::uint32_t>(tree_->nodes.size() - 1), pending_.size()});
    return true;
}

bool Builder::StartObject() { return open(Type::object); }
bool Builder::StartArray() { return open(Type::array); }
bool Builder::EndObject(Size) { return close(); }
bool Builder::EndArray(Size) { return close(); }

bool Builder::close() {
    cursor_ = next_token() + 1;
    const Open done = open_.back();
    open_.pop_back();
    Node& node = tree_->nodes[done.node];
    std::vector<std::uint32_t>& children = tree_->children;
    const auto first_child = pending_.begin() + static_cast<std::ptrdiff_t>(done.first_child);
    node.run = {static_cast<std::uint32_t>(children.size()), static_cast<std::uint32_t>(pending_.end() - first_child)};
    children.insert(children.end(), first_child, pending_.end());
    if (node.type == Type::object) {
        if (tree_->is_indexed(node)) append_index(node);
        check_duplicates(node);
    }
    pending_.resize(done.first_child);
    return true;
}

void Builder::append_index(const Node& object) {
    // Sorting plain numbers is several times faster than comparing through the nodes. Equal hashes are rare, unless
    // someone makes them so; those runs are then put in order by name.
    order_.clear();
    for (std::uint32_t i = 0; i < object.run.count; ++i) {
        const std::uint32_t id = tree_->children[object.run.first + i];
        order_.push_back(std::uint64_t{tree_->nodes[id].name_hash} << 32U | id);
    }
    std::sort(order_.begin(), order_.end());
    const auto by_name = [this](std::uint64_t a, std::uint64_t b) {
        return index_less(*tree_, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    };
    for (auto begin = order_.begin(); begin != order_.end();) {
        auto end = begin + 1;
        while (end != order_.end() && *end >> 32U == *begin >> 32U) ++end;
        if (end - begin > 1) std::sort(begin, end, by_name);
        begin = end;
    }
    for (const std::uint64_t entry : order_) tree_->children.push_back(static_cast<std::uint32_t>(entry));
}

void Builder::check_duplicates(const Node& object) {
    const std::uint32_t count = object.run.count;
    const std::uint32_t* ids = tree_->children.data() + object.run.first + (tree_->is_indexed(object) ? count : 0);
    const auto same = [&](std::uint32_t a, std::uint32_t b) {
        const Node& left = tree_->nodes[a];
        const Node& right = tree_->nodes[b];
        return left.name_hash == right.name_hash && tree_->name(left) == tree_->name(right);
    };
    for (std::uint32_t i = 1; i < count; ++i) {
        // Sorted, equal names are neighbours; unsorted, every earlier name is looked at, the nearest first.
        const std::uint32_t oldest = tree_->is_indexed(object) ? i - 1 : 0;
        for (std::uint32_t j = i; j-- > oldest;) {
            if (!same(ids[j], ids[i])) continue;
            note_duplicate(ids[j], ids[i]);
            break;
        }
    }
}

void Builder::note_duplicate(std::uint32_t first, std::uint32_t second) {
    ++duplicate_count_;
    if (duplicates_.size() < kMostReported) duplicates_.push_back({first, second});
}

}  // namespace kvplan::json::detail
