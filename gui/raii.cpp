#include "gui/raii.hpp"

#include <string>

#include <imgui_internal.h>

namespace kvplan::gui {

void end_above(void (*end)()) {
    ImGuiContext& context = *ImGui::GetCurrentContext();
    if (!context.LogEnabled) return end();
    const std::string kept = context.LogBuffer.c_str();
    end();
    if (!context.LogEnabled) ImGui::LogToBuffer();
    context.LogBuffer.clear();
    context.LogBuffer.append(kept.c_str());
}

}  // namespace kvplan::gui
