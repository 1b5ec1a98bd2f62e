#include "models/llm/name_map.hpp"

#include <algorithm>
#include <array>

namespace kvplan {

namespace {

constexpr std::string_view kRoots[] = {"model", "language_model", "backbone", "transformer", "text_model", "base_model", "thinker", "llm"};

constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"block_sparse_moe", "mlp"}, {"ffn", "mlp"},          {"feed_forward", "mlp"},        {"attn", "self_attn"},
    {"attention", "self_attn"},  {"w1", "gate_proj"},     {"w3", "up_proj"},              {"w2", "down_proj"},
    {"head", "lm_head"},         {"embed", "embed_tokens"}, {"embeddings", "embed_tokens"},
};

std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t dot = path.find('.');
        parts.push_back(path.substr(0, dot));
        if (dot == std::string_view::npos) return parts;
        path.remove_prefix(dot + 1);
    }
}

template <class Range>
bool contains(const Range& range, std::string_view item) {
    return std::find(std::begin(range), std::end(range), item) != std::end(range);
}

std::string canonical(std::string_view path, bool star_is_zero) {
    const std::vector<std::string_view> parts = parts_of(path);
    std::size_t first = 0;
    while (first + 1 < parts.size() && contains(kRoots, parts[first])) ++first;
    std::string name;
    for (std::size_t i = first; i < parts.size(); ++i) {
        std::string_view part = parts[i];
        for (const auto& [from, to] : kSynonyms)
            if (part == from) part = to;
        if (part == "*" && star_is_zero) part = "0";
        if (i > first) name += '.';
        name += part;
    }
    return name;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "layers.12" when a name begins with exactly that.
std::string_view layer_of(std::string_view canonical) {
    constexpr std::string_view kPrefix = "layers.";
    if (canonical.substr(0, kPrefix.size()) != kPrefix) return {};
    const std::size_t dot = canonical.find('.', kPrefix.size());
    if (dot == std::string_view::npos) return {};
    const std::string_view number = canonical.substr(kPrefix.size(), dot - kPrefix.size());
    return is_number(number) ? canonical.substr(0, dot) : std::string_view{};
}

/// Other spellings of the last part under which a fused or a single matrix may stand in a list.
std::vector<std::string> siblings(std::string_view canonical) {
    struct Sibling {
        std::string_view own, other;
    };
    static constexpr std::array<Sibling, 9> kSiblings{{{"q_proj", "qkv_proj"},
                                                       {"k_proj", "qkv_proj"},
                                                       {"v_proj", "qkv_proj"},
                                                       {"gate_proj", "gate_up_proj"},
                                                       {"up_proj", "gate_up_proj"},
                                                       {"qkv_proj", "q_proj"},
                                                       {"gate_up_proj", "gate_proj"},
                                                       {"in_proj_qkv", "in_proj_qkvz"},
                                                       {"in_proj_z", "in_proj_qkvz"}}};
    std::vector<std::string> names;
    // Stacked experts stand for the first of single ones: "experts.gate_up_proj" -> "experts.0.gate_up_proj".
    const std::size_t experts = canonical.find("experts.");
    if (experts != std::string_view::npos && (experts == 0 || canonical[experts - 1] == '.')) {
        const std::string_view rest = canonical.substr(experts + 8);
        if (!is_number(rest.substr(0, rest.find('.'))))
            names.push_back(std::string(canonical.substr(0, experts + 8)) + "0." + std::string(rest));
    }
    const std::size_t dot = canonical.rfind('.');
    const std::size_t last = dot == std::string_view::npos ? 0 : dot + 1;
    const std::size_t made = names.size();
    for (const Sibling& sibling : kSiblings) {
        if (canonical.substr(last) != sibling.own) continue;
        names.push_back(std::string(canonical.substr(0, last)) + std::string(sibling.other));
        for (std::size_t i = 0; i < made; ++i)
            names.push_back(names[i].substr(0, names[i].rfind('.') + 1) + std::string(sibling.other));
    }
    return names;
}

}  // namespace

std::string canonical_module_name(std::string_view path) { return canonical(path, true); }

bool glob_matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
            ++p;
            ++t;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

bool NameMap::add(std::string_view pattern, int value) {
    if (pattern.empty()) return true;
    if (pattern.substr(0, 3) == "re:") {
        std::optional<RegexProgram> program = RegexProgram::compile(pattern.substr(3));
        if (!program) return false;
        expressions_.push_back({*std::move(program), value});
        ++size_;
        return true;
    }
    std::string name = canonical(pattern, false);
    // MiMo lists its draft layers as "model.decoder....": there is no such module, and the draft is meant.
    if (name.rfind("decoder.", 0) == 0 && name.rfind("decoder.layers.", 0) != 0) name = "mtp.*" + name.substr(8);
    ++size_;
    if (name.find_first_of("*?") == std::string::npos) {
        const std::string_view head = std::string_view(name).substr(0, name.find('.'));
        if (head != "layers" && head != "mtp") floating_heads_.emplace(head);
        if (name == "mtp") floating_heads_.emplace(head);
        names_.try_emplace(std::move(name), value);
        return true;
    }
    const std::string_view layer = layer_of(name);
    if (layer.empty())
        globs_.push_back({std::move(name), value});
    else
        globs_by_layer_[std::string(layer)].push_back({std::move(name), value});
    return true;
}

std::optional<int> NameMap::find_name(std::string_view name) const {
    if (names_.empty()) return std::nullopt;
    for (std::size_t begin = 0;;) {
        const std::size_t head_end = name.find('.', begin);
        const std::string_view head = name.substr(begin, head_end == std::string_view::npos ? head_end : head_end - begin);
        if (begin == 0 || floating_heads_.find(head) != floating_heads_.end()) {
            // The longest first: "mlp.experts" may say one thing and "mlp.experts.3" another.
            for (std::size_t end = name.size(); end != std::string_view::npos && end > begin;) {
                if (const auto found = names_.find(name.substr(begin, end - begin)); found != names_.end()) return found->second;
                end = name.rfind('.', end - 1);
            }
        }
        if (head_end == std::string_view::npos) return std::nullopt;
        begin = head_end + 1;
    }
}

std::optional<int> NameMap::find_glob(std::string_view name) const {
    const auto search = [&](const std::vector<Glob>& globs) -> std::optional<int> {
        for (const Glob& glob : globs)
            for (std::size_t end = name.size(); end != std::string_view::npos && end > 0; end = name.rfind('.', end - 1))
                if (glob_matches(glob.pattern, name.substr(0, end))) return glob.value;
        return std::nullopt;
    };
    if (!globs_by_layer_.empty())
        if (const auto bucket = globs_by_layer_.find(layer_of(name)); bucket != globs_by_layer_.end())
            if (const auto value = search(bucket->second)) return value;
    return search(globs_);
}

std::optional<int> NameMap::find_expression(std::string_view path) const {
    static constexpr std::string_view kPrefixes[] = {"", "model.", "language_model.model.", "model.language_model.", "language_model."};
    std::string full, bare;  // as in the checkpoint, with expert 0 for any; without its roots
    bool at_root = true;
    const std::vector<std::string_view> parts = parts_of(path);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string part(parts[i] == "*" ? "0" : parts[i]);
        full += (i > 0 ? "." : "") + part;
        at_root = at_root && i + 1 < parts.size() && contains(kRoots, parts[i]);
        if (!at_root) bare += (bare.empty() ? "" : ".") + part;
    }
    for (const Expression& expression : expressions_) {
        if (expression.program.match(full)) return expression.value;
        if (expression.program.starts_anywhere()) continue;
        for (const std::string_view prefix : kPrefixes)
            if (expression.program.match(std::string(prefix) + bare)) return expression.value;
    }
    return std::nullopt;
}

std::optional<int> NameMap::find(std::string_view path) const {
    if (size_ == 0) return std::nullopt;
    const std::string name = canonical(path, true);
    if (const auto value = find_name(name)) return value;
    if (const auto value = find_glob(name)) return value;
    if (!expressions_.empty())
        if (const auto value = find_expression(path)) return value;
    if (names_.empty()) return std::nullopt;
    for (const std::string& sibling : siblings(name))
        if (const auto value = find_name(sibling)) return value;
    return std::nullopt;
}

}  // namespace kvplan
