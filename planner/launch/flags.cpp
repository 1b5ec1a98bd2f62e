#include <algorithm>

#include "planner/engine_flags.hpp"
#include "planner/launch/known_flags.hpp"
#include "planner/launch/recognise.hpp"

namespace kvplan::launch {
namespace {

constexpr std::size_t kMostGuesses = 20, kLongestName = 64;  // nearest names are costly

/// A word that begins a flag: not a lone dash, and not a negative number.
bool is_flag(std::string_view word) {
    if (word.size() < 2 || word[0] != '-') return false;
    return !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

bool belongs(const FieldSpec& field, EngineKind engine) {
    if (field.group != FieldGroup::engine && field.group != FieldGroup::model && field.name != "nodes") return false;
    return engine == EngineKind::sglang ? field.engines != FieldEngines::vllm : field.engines != FieldEngines::sglang;
}

/// Names that the table of fields has for itself, but which are no flag of an engine.
bool own_name(std::string_view name) {
    constexpr std::string_view kOwn[] = {"--engine", "--weights-per-gpu", "--draft-model", "--pp-layer-partition", "--lmcache-max-local-cpu-size"};
    return std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn);
}

struct OtherEngine {
    std::string_view name;
    EngineKind engine;             // whose flag it is
    std::string_view counterpart;  // what the other calls it
    std::string_view differs;      // how the other's value is meant; empty: it is the same
};
// The table of fields takes either engine's name for a field that both have; an engine's own parser does not.
constexpr OtherEngine kOneEngine[] = {
    {"--max-model-len", EngineKind::vllm, "--context-length", ""},
    {"--max-num-seqs", EngineKind::vllm, "--max-running-requests", ""},
    {"--block-size", EngineKind::vllm, "--page-size", ""},
    {"--no-enable-prefix-caching", EngineKind::vllm, "--disable-radix-cache", ""},
    {"--num-speculative-tokens", EngineKind::vllm, "--speculative-num-draft-tokens", "with the target's own token, so one more"},
    {"--speculative-config", EngineKind::vllm, "--speculative-algorithm", "the algorithm's name, not a JSON object"},
    {"--context-length", EngineKind::sglang, "--max-model-len", ""},
    {"--page-size", EngineKind::sglang, "--block-size", ""},
    {"--max-running-requests", EngineKind::sglang, "--max-num-seqs", ""},
    {"--disable-radix-cache", EngineKind::sglang, "--no-enable-prefix-caching", ""},
    {"--speculative-algorithm", EngineKind::sglang, "--speculative-config", "a JSON object, not the algorithm's name"},
    {"--tp", EngineKind::sglang, "--tensor-parallel-size", ""},
    {"--tp-size", EngineKind::sglang, "--tensor-parallel-size", ""},
    {"--dp", EngineKind::sglang, "--data-parallel-size", ""},
    {"--dp-size", EngineKind::sglang, "--data-parallel-size", ""},
    {"--cuda-graph-max-bs", EngineKind::sglang, "--max-cudagraph-capture-size", ""},
};
std::optional<OtherEngine> of_other_engine(EngineKind engine, std::string_view name) {
    const auto* listed = std::find_if(std::begin(kOneEngine), std::end(kOneEngine), [&](const OtherEngine& o) { return o.name == name && o.engine != engine; });
    if (listed != std::end(kOneEngine)) return *listed;
    const FieldSpec* field = find_field(name);
    if (field == nullptr || belongs(*field, engine)) return std::nullopt;
    const Counterpart* counterpart = find_counterpart(field->name);
    if (counterpart == nullptr) return std::nullopt;
    const EngineKind owner = engine == EngineKind::sglang ? EngineKind::vllm : EngineKind::sglang;
    const std::string_view differs = counterpart->same_value ? std::string_view{} : counterpart->differs.empty() ? "another kind of value" : counterpart->differs;
    return OtherEngine{name, owner, counterpart->flag, differs};
}

const FieldSpec* field_of(EngineKind engine, std::string_view name) {
    if (own_name(name) || of_other_engine(engine, name)) return nullptr;
    if (engine == EngineKind::sglang && name.substr(0, 2) != "--") return nullptr;  // SGLang has no short flags
    const FieldSpec* field = find_field(name);
    if (field == nullptr || !belongs(*field, engine)) return nullptr;
    return std::find(field->flags.begin(), field->flags.end(), name) != field->flags.end() ? field : nullptr;
}

struct Meaning {
    const FieldSpec* field = nullptr;
    Arity arity = Arity::none;
    bool known = false;
    bool negated = false;  // --no-enable-prefix-caching
};

Meaning meaning_of(EngineKind engine, std::string_view name) {
    if (const FieldSpec* field = field_of(engine, name)) return {field, field->kind == FieldKind::boolean ? Arity::none : Arity::one, true, false};
    if (const KnownFlag* flag = known_flag(engine, name)) return {nullptr, flag->arity, true, false};
    if (versioned_flag(engine, name) != nullptr) return {nullptr, Arity::none, true, false};
    return {};
}

/// The flag a word names: vLLM takes underscores, dotted members of JSON flags and --no-…; argparse takes a unique prefix.
Meaning understood(EngineKind engine, const std::string& typed) {
    std::string name = typed;
    if (engine == EngineKind::vllm && name.substr(0, 2) == "--") std::replace(name.begin() + 2, name.end(), '_', '-');
    Meaning meaning = meaning_of(engine, name);
    if (meaning.known) return meaning;
    const std::string_view view = name;
    if (engine == EngineKind::vllm && view.substr(0, 5) == "--no-") {
        meaning = meaning_of(engine, "--" + name.substr(5));
        meaning.negated = true;
        if (meaning.known && meaning.arity == Arity::none) return meaning;
        return {};
    }
    if (engine == EngineKind::vllm && view.find('.') != std::string_view::npos) return meaning_of(engine, view.substr(0, view.find('.')));
    if (engine == EngineKind::vllm && view.substr(0, 2) == "-O") return {nullptr, view.size() > 2 ? Arity::none : Arity::one, true, false};
    if (engine == EngineKind::vllm && (view == "-q" || view == "-cc" || view == "-ac" || view == "-asc" || view == "-sc" || view == "-n" || view == "-r" || view == "-pcp" || view == "-dpn" || view == "-dpr" || view == "-dpl" || view == "-dpa" || view == "-dpp" || view == "-dpb")) {
        return {view == "-q" ? find_field("quantization") : view == "-n" ? find_field("nodes") : nullptr, Arity::one, true, false};
    }
    if (view.substr(0, 2) == "--") {
        const std::string_view full = completed(engine, view);
        if (!full.empty()) return meaning_of(engine, full);
    }
    return {};
}

/// A misspelt abbreviation: the flags whose beginning is nearest.
std::vector<std::string> nearest_beginnings(EngineKind engine, std::string_view typed) {
    std::vector<std::string_view> beginnings;
    for (const std::string_view name : flag_names(engine)) beginnings.push_back(name.substr(0, typed.size() + 1));
    std::vector<std::string> names;
    for (const std::string& near : nearest_names(typed, std::span<const std::string_view>(beginnings), 1))
        for (const std::string_view name : flag_names(engine))
            if (name.substr(0, near.size()) == near && names.size() < 3) names.emplace_back(name);
    return names;
}

void note_unknown(ParsedLaunch& launch, const LaunchFlag& flag) {
    UnknownFlag unknown{flag.name, flag.value, {}, {}};
    if (const auto other = of_other_engine(launch.engine, flag.name)) {
        if (known_flag(launch.engine, other->counterpart) != nullptr || field_of(launch.engine, other->counterpart) != nullptr) {
            unknown.nearest = {std::string(other->counterpart)};
            unknown.differs = std::string(other->differs);
        }
        launch.unknown.push_back(std::move(unknown));
        return;
    }
    const bool worth_it = launch.unknown.size() < kMostGuesses && flag.name.size() <= kLongestName;
    if (worth_it) unknown.nearest = nearest_names(flag.name, std::span<const std::string_view>(flag_names(launch.engine)));
    if (worth_it && unknown.nearest.empty() && flag.name.size() > 5) unknown.nearest = nearest_beginnings(launch.engine, flag.name);
    launch.unknown.push_back(std::move(unknown));
}

/// A word that belongs to no flag, which the engine's parser stops on too; often a flag with a typographic dash or none.
void note_stray(ParsedLaunch& launch, const std::string& word) {
    UnknownFlag unknown{word, "", {}, {}};
    std::string bare = word;
    for (const std::string_view dash : {"\u2014", "\u2013", "\u2212"})
        while (bare.compare(0, dash.size(), dash) == 0) bare.erase(0, dash.size());
    if (understood(launch.engine, "--" + bare).known) unknown.nearest = {"--" + bare};
    launch.unknown.push_back(std::move(unknown));
}

}  // namespace

void read_flags(ParsedLaunch& launch) {
    const std::vector<std::string>& words = launch.arguments;
    for (std::size_t i = 0; i < words.size();) {
        if (!is_flag(words[i])) {
            if (launch.model.empty() && i == 0) launch.model = words[i];
            else note_stray(launch, words[i]);
            ++i;
            continue;
        }
        LaunchFlag flag;
        flag.first = i;
        const std::size_t equals = words[i].find('=');
        flag.name = words[i].substr(0, equals);
        const Meaning meaning = understood(launch.engine, flag.name);
        flag.field = meaning.field;
        ++i;
        const bool bool_value = i < words.size() && (words[i] == "true" || words[i] == "false" || words[i] == "True" || words[i] == "False");
        if (equals != std::string::npos) {
            flag.value = words[flag.first].substr(equals + 1);
            flag.has_value = true;
        } else if (meaning.known && meaning.arity == Arity::none) {
            if (bool_value) flag.value = words[i++];
            flag.has_value = !flag.value.empty();
        } else {
            const std::size_t most = meaning.known && meaning.arity == Arity::one ? 1 : words.size();
            for (std::size_t taken = 0; i < words.size() && taken < most && !is_flag(words[i]); ++taken, ++i) {
                flag.value += (taken > 0 ? " " : "") + words[i];
                flag.has_value = true;
            }
        }
        if (meaning.negated) {
            flag.value = "false";
            flag.has_value = true;
        }
        flag.count = i - flag.first;
        if (flag.field != nullptr && flag.field->name == "model") launch.model = flag.value;
        if (!meaning.known) note_unknown(launch, flag);
        launch.flags.push_back(std::move(flag));
    }
}

}  // namespace kvplan::launch
