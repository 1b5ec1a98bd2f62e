#include "planner/export/finding_text.hpp"

#include <algorithm>
#include <cmath>

#include "units/format.hpp"

namespace kvplan::exporting {

namespace {

std::string filled(std::string_view pattern, const Finding& finding) {
    std::string text;
    while (!pattern.empty()) {
        const std::size_t open = pattern.find('{');
        text += pattern.substr(0, open);
        if (open == std::string_view::npos) break;
        const std::size_t close = pattern.find('}', open);
        const std::string_view name = pattern.substr(open + 1, close - open - 1);
        const auto value = std::find_if(finding.values.begin(), finding.values.end(), [&](const FindingValue& v) { return v.name == name; });
        text += value == finding.values.end() ? "?" : text_of(*value);
        pattern = close == std::string_view::npos ? std::string_view{} : pattern.substr(close + 1);
    }
    return text;
}

}  // namespace

std::string text_of(const FindingValue& value) {
    const auto whole = [&] { return static_cast<std::int64_t>(std::llround(value.number)); };
    if (value.unit == "text") return value.text;
    if (value.unit == "bytes") return binary_size(Bytes{whole()}) + " (" + decimal_size(Bytes{whole()}) + ")";
    if (value.unit == "decimal_bytes") return decimal_size(Bytes{whole()});
    if (value.unit == "binary_bytes") return binary_size(Bytes{whole()});
    if (value.unit == "seconds") return duration(value.number);
    if (value.unit == "ratio") return shortest(value.number, 3);
    if (value.unit == "percent") return percent(value.number);
    if (value.unit == "gb") return shortest(value.number, 2) + " GB";
    return shortest(value.number, 2);
}

const std::vector<FindingTemplate>& finding_templates() {
    static const std::vector<FindingTemplate> all = [] {
        std::vector<FindingTemplate> templates = gpu_finding_templates();
        for (auto* more : {&vllm_finding_templates, &host_finding_templates, &workload_finding_templates, &doctor_finding_templates})
            for (const FindingTemplate& entry : (*more)()) templates.push_back(entry);
        return templates;
    }();
    return all;
}

FindingText text_of(const Finding& finding) {
    const auto& all = finding_templates();
    const auto found = std::find_if(all.begin(), all.end(), [&](const FindingTemplate& t) { return t.code == finding.code; });
    if (found == all.end()) return {std::string(finding.code), ""};
    return {filled(found->message, finding), filled(found->remedy, finding)};
}

}  // namespace kvplan::exporting
