#include "planner/launch/launch_findings.hpp"

#include <algorithm>

#include "planner/engines/engine.hpp"
#include "planner/launch/known_flags.hpp"
#include "planner/launch/recognise.hpp"

namespace kvplan::launch {
namespace {

FindingValue text(std::string_view name, std::string value) { return {name, "text", 0.0, std::move(value)}; }
FindingValue count(std::string_view name, std::int64_t value) { return {name, "count", static_cast<double>(value), {}}; }

/// The entry of a flag that the engine at this version does not have; null when it has it.
const VersionedFlag* missing(const ParsedLaunch& launch, const std::string& name, const Scenario& scenario) {
    const VersionedFlag* dated = versioned_flag(launch.engine, name);
    const auto date = engine_of(scenario.engine).rule_date(scenario.engine);
    if (dated == nullptr || !date) return nullptr;
    const bool early = *date < dated->since, late = dated->until.yyyymmdd != 0 && !(*date < dated->until);
    return early || late ? dated : nullptr;
}

void find_unknown(const ParsedLaunch& launch, std::vector<Finding>& found) {
    for (const UnknownFlag& flag : launch.unknown) {
        const std::string way = flag.nearest.empty()   ? "Take it away, or see the engine's --help."
                                : flag.differs.empty() ? "Did you mean " + flag.nearest.front() + "?"
                                                       : "Did you mean " + flag.nearest.front() + " (" + flag.differs + ")? Give its value anew.";
        found.push_back({"unknown_flag", FindingSeverity::warning, {text("flag", flag.name), text("way", way)}, {}, {}});
    }
}

void find_versions(const ParsedLaunch& launch, const Scenario& scenario, std::vector<Finding>& found) {
    for (const LaunchFlag& flag : launch.flags) {
        const VersionedFlag* dated = missing(launch, flag.name, scenario);
        if (dated == nullptr) continue;
        const std::string way = dated->note.empty() ? "Take it away." : "Instead: " + std::string(dated->note) + ".";
        found.push_back({"flag_not_in_version", FindingSeverity::warning,
                         {text("flag", flag.name), text("version", engine_of(scenario.engine).rule_set(scenario.engine)), text("way", way)}, {}, {}});
    }
}

void find_servers(const ParsedLaunch& launch, const Scenario& scenario, std::vector<Finding>& found) {
    if (launch.repeats == 1) return;
    if (launch.repeats > 1 && scenario.hardware.host.instances_per_node > 1) {
        found.push_back({"several_servers_by_loop", FindingSeverity::note, {count("servers", scenario.hardware.host.instances_per_node)}, {"instances_per_node"}, {}});
        return;
    }
    const std::string servers = launch.repeats > 1 ? std::to_string(launch.repeats) : "several";
    found.push_back({"one_of_several_servers", FindingSeverity::warning, {text("servers", servers)}, {"instances_per_node"}, {}});
}

void find_gpus(const ParsedLaunch& launch, const Scenario& scenario, std::vector<Finding>& found) {
    if (!launch.limits.gpus) return;
    const Parallelism p = parallelism(scenario);
    const std::int64_t ranks = ceil_div(p.ranks, std::max<std::int64_t>(1, p.nodes));
    if (ranks <= *launch.limits.gpus) return;
    found.push_back({"more_ranks_than_gpus", FindingSeverity::error, {count("ranks", ranks), count("gpus", *launch.limits.gpus)}, {"tp_size", "pp_size", "dp_size"}, {}});
}

}  // namespace

std::vector<Finding> launch_findings(const ParsedLaunch& launch, const Scenario& scenario) {
    std::vector<Finding> found;
    find_gpus(launch, scenario, found);
    find_unknown(launch, found);
    find_versions(launch, scenario, found);
    find_servers(launch, scenario, found);
    return found;
}

ParsedLaunch accepted(const ParsedLaunch& launch, const Scenario& scenario) {
    ParsedLaunch result = launch;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < launch.arguments.size();) {
        const auto flag = std::find_if(launch.flags.begin(), launch.flags.end(), [&](const LaunchFlag& f) { return f.first == i; });
        if (flag == launch.flags.end()) {
            words.push_back(launch.arguments[i++]);
            continue;
        }
        const std::size_t next = i + std::max<std::size_t>(1, flag->count);
        const auto unknown = std::find_if(launch.unknown.begin(), launch.unknown.end(), [&](const UnknownFlag& u) { return u.name == flag->name; });
        const bool renamed = unknown != launch.unknown.end() && !unknown->nearest.empty();
        const bool meant_otherwise = unknown != launch.unknown.end() && !unknown->differs.empty();
        if (!meant_otherwise && missing(launch, flag->name, scenario) == nullptr) {
            words.push_back(renamed ? unknown->nearest.front() + launch.arguments[i].substr(flag->name.size()) : launch.arguments[i]);
            for (std::size_t j = i + 1; j < next; ++j) words.push_back(launch.arguments[j]);
        }
        i = next;
    }
    result.arguments = std::move(words);
    result.flags.clear();
    result.unknown.clear();
    read_flags(result);
    return result;
}

}  // namespace kvplan::launch
