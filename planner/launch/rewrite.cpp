#include <algorithm>

#include "planner/launch/launch.hpp"
#include "planner/launch/shell.hpp"

namespace kvplan::launch {
namespace {

/// The flag an engine has for a field; empty when it has none.
std::string_view spelling(const FieldSpec& field, EngineKind engine) {
    struct Own {
        std::string_view field, flag;
    };
    constexpr Own kVllm[] = {{"tp_size", "--tensor-parallel-size"}, {"dp_size", "--data-parallel-size"}, {"pp_size", "--pipeline-parallel-size"},
                             {"context_length", "--max-model-len"}, {"page_size", "--block-size"}, {"max_running_requests", "--max-num-seqs"}};
    if (engine == EngineKind::vllm)
        for (const Own& own : kVllm)
            if (own.field == field.name) return own.flag;
    if (field.group != FieldGroup::engine || field.flags.empty() || field.name == "engine") return {};
    return field.flags.front();
}

/// The engine's words, each with what stands in its place.
using Pieces = std::vector<std::vector<std::string>>;

/// Puts `words` in the place of a flag's first occurrence and takes all others away; false when it does not occur.
bool replace(const ParsedLaunch& launch, const FieldSpec& field, std::string_view value, Pieces& pieces) {
    const bool is_switch = field.kind == FieldKind::boolean;
    bool placed = false;
    for (const LaunchFlag& flag : launch.flags) {
        if (flag.field != &field) continue;
        for (std::size_t i = flag.first; i < flag.first + flag.count; ++i) pieces[i].clear();
        if (!placed && is_switch && value != "false") pieces[flag.first] = {flag.name};
        if (!placed && !is_switch) pieces[flag.first] = {flag.name, std::string(value)};
        placed = true;
    }
    return placed;
}

}  // namespace

std::string rewritten(const ParsedLaunch& launch, std::span<const FlagChange> changes) {
    Pieces pieces;
    for (const std::string& word : launch.arguments) pieces.push_back({word});
    for (const FlagChange& change : changes) {
        const FieldSpec* field = find_field(change.field);
        if (field == nullptr || replace(launch, *field, change.value, pieces)) continue;
        const std::string_view name = spelling(*field, launch.engine);
        const bool is_switch = field->kind == FieldKind::boolean;
        if (name.empty() || (is_switch && change.value == "false")) continue;
        pieces.push_back(is_switch ? std::vector<std::string>{std::string(name)} : std::vector<std::string>{std::string(name), change.value});
    }
    pieces.insert(pieces.begin(), launch.prefix);
    std::string text;
    for (const auto& piece : pieces)
        for (const std::string& word : piece) text += (text.empty() ? "" : " ") + shell_quoted(word);
    return text;
}

}  // namespace kvplan::launch
