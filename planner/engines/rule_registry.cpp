#include "planner/engines/rule_registry.hpp"

namespace kvplan {

std::string period(RuleDate from, RuleDate until, std::string_view release) {
    std::string text = iso(from);
    if (!release.empty()) text += " (" + std::string(release) + ")";
    if (until.yyyymmdd != 0) text += " until " + iso(until);
    return text;
}

}  // namespace kvplan
