#include "gui/view.hpp"

namespace kvplan::gui {

namespace {
struct TabName {
    Tab tab;
    std::string_view name, title;
};
constexpr TabName kNames[] = {
    {Tab::gpu, "gpu", "GPU memory"},           {Tab::host, "host", "Host RAM"}, {Tab::capacity, "capacity", "Capacity"},
    {Tab::throughput, "throughput", "Throughput"}, {Tab::what_if, "what-if", "What-if"}, {Tab::trace, "trace", "Trace"},
    {Tab::findings, "findings", "Findings"},   {Tab::launch, "launch", "Launch"}, {Tab::compare, "compare", "Compare"},
};
}  // namespace

std::string_view title_of(Tab tab) {
    for (const TabName& entry : kNames)
        if (entry.tab == tab) return entry.title;
    return {};
}

std::string_view name_of(Tab tab) {
    for (const TabName& entry : kNames)
        if (entry.tab == tab) return entry.name;
    return {};
}

std::optional<Tab> tab_named(std::string_view name) {
    for (const TabName& entry : kNames)
        if (entry.name == name) return entry.tab;
    return std::nullopt;
}

void Ui::mark(std::string name) const {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    mark(std::move(name), {a.x, a.y, b.x, b.y});
}

void Ui::say(std::string message, bool fault) const {
    view.message = std::move(message);
    view.message_is_fault = fault;
}

}  // namespace kvplan::gui
