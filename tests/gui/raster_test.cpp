#include <cmath>
#include <set>

#include "tests/gui/rig.hpp"

namespace kvplan::testing {

namespace {

std::set<std::uint32_t> colours(const gui::Image& image) {
    std::set<std::uint32_t> found;
    for (std::size_t i = 0; i < image.rgba.size(); i += 4)
        found.insert(static_cast<std::uint32_t>(image.rgba[i]) | static_cast<std::uint32_t>(image.rgba[i + 1]) << 8 | static_cast<std::uint32_t>(image.rgba[i + 2]) << 16);
    return found;
}

}  // namespace

TEST_CASE("A filled rectangle covers exactly its pixels, and its two triangles share none", "[gui][raster]") {
    const gui::NullBackend backend(64, 32);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    ImGui::NewFrame();
    // Half transparent: a pixel that is drawn twice would be darker.
    ImGui::GetForegroundDrawList()->AddRectFilled({10, 5}, {30, 20}, IM_COL32(0, 0, 0, 128));
    ImGui::Render();
    const gui::Image image = gui::rasterise(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, IM_COL32(255, 255, 255, 255));
    int covered = 0;
    for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 64; ++x) {
            const bool inside = x >= 10 && x < 30 && y >= 5 && y < 20;
            // 255 x (1 - 128/255) = 127
            CHECK(static_cast<int>(image.at(x, y)[0]) == (inside ? 127 : 255));
            covered += inside ? 1 : 0;
        }
    CHECK(covered == 20 * 15);
}

TEST_CASE("Every tab is drawn in both themes and sizes, the same pixels each time", "[gui][raster]") {
    for (const gui::Look look : {gui::Look::light, gui::Look::dark})
        for (const auto& size : {std::pair<int, int>{1280, 800}, {2560, 1440}}) {
            Rig rig(size.first, size.second, look);
            for (const gui::Tab tab : gui::kTabs) {
                INFO(gui::name_of(tab) << " " << size.first);
                rig.window.view().tab = tab;
                rig.backend.frames(rig.window, 3);
                rig.window.finish_work();
                rig.backend.frames(rig.window, 2);
                const gui::Image picture = rig.backend.picture(rig.window);
                REQUIRE(picture.width == size.first);
                CHECK(colours(picture).size() > 30);  // anti-aliased text alone gives as many
                rig.backend.frame(rig.window);
                CHECK(rig.backend.picture(rig.window) == picture);
            }
        }
}

TEST_CASE("Text is not cut: a tab's button is as wide as its title, and all lie inside the window", "[gui][raster]") {
    for (const int width : {1280, 1920}) {
        Rig rig(width, 800);
        for (const gui::Tab tab : gui::kTabs) {
            const gui::Rect r = rig.at("tab/" + std::string(gui::name_of(tab)));
            CHECK(r.x1 <= static_cast<float>(width));
            CHECK(r.x1 - r.x0 > 30.0f);
        }
    }
}

}  // namespace kvplan::testing
