// A map from module names to small numbers whose keys may be patterns, as quantization lists write them.
//
// Plain names match by whole path parts: "gate" matches "layers.3.mlp.gate", never "gate_proj"; a name that begins at the
// model's root ("model.layers.3.self_attn") matches that module and all below it; others match anywhere. Globs (with `*`
// or `?`) match the whole path or a module above it. "re:..." is a regular expression that must match from the path's
// beginning (as Python's re.match). Names are compared in a canonical spelling (see canonical_module_name).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/llm/regex_program.hpp"

namespace kvplan {

/// Without the leading "model", "language_model", "backbone" and the like, and with one spelling of parts that differ
/// between releases: block_sparse_moe, ffn, feed_forward -> mlp; attn, attention -> self_attn; w1, w3, w2 -> gate_proj,
/// up_proj, down_proj; head -> lm_head; embed, embeddings -> embed_tokens. A part `*` (any expert) becomes 0 in paths.
[[nodiscard]] std::string canonical_module_name(std::string_view path);

/// Shell-like: `*` any characters (dots too), `?` one. Linear in the product of the lengths.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

class NameMap {
public:
    /// False when the pattern is a regular expression that cannot be read; it is left out then.
    bool add(std::string_view pattern, int value);

    /// The value of the most specific match: exact or longest plain name, then globs, then expressions, each in the
    /// order they were added.
    [[nodiscard]] std::optional<int> find(std::string_view path) const;
    [[nodiscard]] bool matches(std::string_view path) const { return find(path).has_value(); }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
    };
    template <class T>
    using Table = std::unordered_map<std::string, T, Hash, std::equal_to<>>;
    struct Glob {
        std::string pattern;
        int value;
    };
    struct Expression {
        RegexProgram program;
        int value;
    };

    [[nodiscard]] std::optional<int> find_name(std::string_view canonical) const;
    [[nodiscard]] std::optional<int> find_glob(std::string_view canonical) const;
    [[nodiscard]] std::optional<int> find_expression(std::string_view path) const;

    Table<int> names_;
    std::unordered_set<std::string, Hash, std::equal_to<>> floating_heads_;  ///< first parts of names that match anywhere
    Table<std::vector<Glob>> globs_by_layer_;  ///< those that begin with "layers.N."
    std::vector<Glob> globs_;
    std::vector<Expression> expressions_;
    std::size_t size_ = 0;
};

}  // namespace kvplan
