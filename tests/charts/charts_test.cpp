// Ticks and places by hand; pictures as documents.
#include <stb_image.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "charts/chart.hpp"
#include "charts/of_results.hpp"
#include "charts/picture.hpp"
#include "charts/text.hpp"
#include "charts/ticks.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan::charts;

namespace {

LineChart curve() {
    return {"Hit rate by host pool",
            {"host pool a rank", Unit::decimal_bytes, false, {}, {}},
            {"prompt tokens found", Unit::share, false, 0.0, 1.0},
            {{"write through", {{0, 0.1}, {20e9, 0.4}, {40e9, 0.55}, {80e9, 0.6}}, false}, {"write back", {{0, 0.1}, {20e9, 0.45}, {40e9, 0.57}, {80e9, 0.6}}, true}},
            {{39e9, "safe maximum"}, {41e9, "knee"}, {16.4e9, "device pool"}},
            {{39e9, 80e9, "not safe", true}}};
}

BarChart bars() {
    return {"Memory of one GPU", {"GiB", Unit::binary_bytes, false, {}, {}},
            {{"rank 0", {{"weights", 72.0 * (1 << 30), false}, {"KV pool", 14.0 * (1 << 30), false}, {"left", 8.0 * (1 << 30), true}}},
             {"rank 1", {{"weights", 70.0 * (1 << 30), false}, {"KV pool", 14.0 * (1 << 30), false}, {"left", 10.0 * (1 << 30), true}}}},
            {{90.0 * (1 << 30), "limit"}}};
}

HeatMap map() {
    HeatMap heat{"Tokens", {"mem_fraction_static", Unit::plain, false, {}, {}}, {"context", Unit::plain, false, {}, {}}, {"tokens", Unit::plain, false, {}, {}}, {"0.80", "0.85", "0.90"}, {"8k", "128k"}, {}};
    heat.cells = {100'000.0, 150'000.0, 200'000.0, 100'000.0, 150'000.0, std::nullopt};
    return heat;
}

template <class Kind>
std::vector<Kind> all(const Drawing& drawing) {
    std::vector<Kind> found;
    for (const Command& command : drawing.commands)
        if (const auto* one = std::get_if<Kind>(&command)) found.push_back(*one);
    return found;
}

/// With KVPLAN_WRITE_PICTURES a folder gets the pictures, to be looked at.
void show(const Drawing& drawing, const std::string& name) {
    if (const char* folder = std::getenv("KVPLAN_WRITE_PICTURES")) std::ofstream(std::string(folder) + "/" + name, std::ios::binary) << picture(drawing, name).value();
}

}  // namespace

TEST_CASE("Ticks are 1, 2 or 5 times a power of ten in the axis's unit", "[charts][ticks]") {
    // 0 to 97 with at most 6 ticks: 97/5 = 19.4, so steps of 20 up to 100
    CHECK(scale_of({}, 3.0, 97.0, 6).ticks == std::vector<double>{0, 20, 40, 60, 80, 100});
    // 94 GiB: steps of 20 GiB
    const Scale memory = scale_of({"", Unit::binary_bytes, false, {}, {}}, 0.0, 94.0 * (1 << 30), 6);
    REQUIRE(memory.ticks.size() == 6);
    CHECK(memory.ticks[1] == Approx(20.0 * (1 << 30)));
    // ends that are given stay
    const Scale share = scale_of({"", Unit::share, false, 0.0, 1.0}, 0.2, 0.7, 6);
    CHECK(share.least == 0.0);
    CHECK(share.most == 1.0);
    CHECK(share.ticks.size() == 6);
    // 1 to 2,000 on a logarithmic axis: 1 2 5 10 20 50 100 200 500 1000 2000
    CHECK(scale_of({"", Unit::plain, true, {}, {}}, 1.0, 2000.0, 12).ticks.size() == 11);
    CHECK(scale_of({"", Unit::plain, true, {}, {}}, 1.0, 2000.0, 6).ticks == std::vector<double>{1, 10, 100, 1000});
    const Scale log = scale_of({"", Unit::plain, true, {}, {}}, 1.0, 100.0, 6);
    CHECK(log.share(10.0) == Approx(0.5));
}

TEST_CASE("Equal, empty and endless data still give a scale", "[charts][ticks]") {
    for (const auto& [least, most] : {std::pair<double, double>{5, 5}, {0, 0}, {-3, -3}, {HUGE_VAL, -HUGE_VAL}, {std::nan(""), 1}}) {
        const Scale scale = scale_of({}, least, most, 6);
        CHECK(scale.most > scale.least);
        CHECK(scale.ticks.size() >= 2);
        CHECK(scale.ticks.size() <= 12);
    }
}

TEST_CASE("Numbers are written in the axis's unit", "[charts][ticks]") {
    CHECK(number_text(Unit::plain, 116'000) == "116,000");
    CHECK(number_text(Unit::plain, 1'500'000) == "1.5M");
    CHECK(number_text(Unit::binary_bytes, 12.5 * (1 << 30)) == "12.5 GiB");
    CHECK(number_text(Unit::decimal_bytes, 39e9) == "39 GB");
    CHECK(number_text(Unit::share, 0.853) == "85.3 %");
    CHECK(number_text(Unit::seconds, 0.25) == "250 ms");
}

TEST_CASE("Curves lie between the axes, in proportion", "[charts]") {
    LineChart chart{"", {"", Unit::plain, false, 0.0, 10.0}, {"", Unit::plain, false, 0.0, 10.0}, {{"", {{0, 0}, {5, 5}, {10, 10}}, false}}, {}, {}};
    const Drawing drawing = draw(chart, {600, 400}, theme_of(Look::light));
    Line found;
    for (const Line& line : all<Line>(drawing))
        if (line.points.size() == 3 && line.width == 2.0) found = line;
    REQUIRE(found.points.size() == 3);
    CHECK(found.points[1].x == Approx((found.points[0].x + found.points[2].x) / 2));
    CHECK(found.points[1].y == Approx((found.points[0].y + found.points[2].y) / 2));
    CHECK(found.points[0].y > found.points[2].y);  // upwards on paper is downwards in the picture
    // A point beyond the axis is cut at the border, halfway up: (5, 5) of the line to (20, 20).
    chart.series[0].points = {{0, 0}, {20, 20}};
    for (const Line& line : all<Line>(draw(chart, {600, 400}, theme_of(Look::light))))
        if (line.width == 2.0) CHECK(line.points.back().x <= 600);
}

TEST_CASE("No text leaves the picture", "[charts]") {
    for (const Size size : {Size{320, 240}, Size{800, 450}, Size{1600, 900}})
        for (const Drawing& drawing : {draw(curve(), size, theme_of(Look::light)), draw(bars(), size, theme_of(Look::dark)), draw(map(), size, theme_of(Look::light))})
            for (const Label& label : all<Label>(drawing)) {
                const double width = text_width(label.text, label.size);
                const double before = label.align == Align::left ? 0 : label.align == Align::centre ? width / 2 : width;
                INFO(label.text << " at " << label.at.x << ", " << label.at.y << " in " << size.width);
                if (label.upward) continue;
                CHECK(label.at.x - before >= -0.5);
                CHECK(label.at.x - before + width <= size.width + 0.5);
                CHECK(label.at.y <= size.height);
                CHECK(label.at.y >= 8);
            }
}

TEST_CASE("Parts of a bar have its whole length, and the same colour in every bar", "[charts]") {
    const std::vector<Box> boxes = all<Box>(draw(bars(), {800, 300}, theme_of(Look::light)));
    std::vector<Box> parts;
    for (const Box& box : boxes)
        if (!box.hover.empty()) parts.push_back(box);
    REQUIRE(parts.size() == 6);
    CHECK(parts[0].hover == "weights: 72 GiB");
    CHECK(parts[0].most.x == Approx(parts[1].least.x));
    CHECK(parts[2].most.x == Approx(parts[5].most.x));  // both sum to 94 GiB
    CHECK(parts[0].fill == parts[3].fill);
    CHECK(parts[2].hatched);
    // 72 of 94 parts
    CHECK((parts[0].most.x - parts[0].least.x) / (parts[2].most.x - parts[0].least.x) == Approx(72.0 / 94.0));
}

TEST_CASE("A cell without a value is hatched, the others shade from low to high", "[charts]") {
    const Theme& theme = theme_of(Look::light);
    std::vector<Box> cells;
    for (const Box& box : all<Box>(draw(map(), {800, 400}, theme)))
        if (!box.hover.empty()) cells.push_back(box);
    REQUIRE(cells.size() == 6);
    CHECK(cells[0].fill == theme.low);
    CHECK(cells[2].fill == theme.high);
    CHECK(cells[1].fill == mixed(theme.low, theme.high, 0.5));
    CHECK(cells[5].hatched);
    CHECK(cells[5].hover == "0.90, 128k: not feasible");
    CHECK(cells[0].least.y > cells[3].least.y);  // rows from below
}

TEST_CASE("Charts without data say so", "[charts]") {
    for (const Drawing& drawing : {draw(LineChart{}, {400, 300}, theme_of(Look::light)), draw(BarChart{}, {400, 300}, theme_of(Look::light)), draw(HeatMap{}, {400, 300}, theme_of(Look::light))}) {
        bool said = false;
        for (const Label& label : all<Label>(drawing)) said = said || label.text == "no data";
        CHECK(said);
    }
    CHECK(typed(LineChart{}, 80).find("no data") != std::string::npos);
}

TEST_CASE("An SVG is one document with escaped text", "[charts][svg]") {
    LineChart chart = curve();
    chart.title = "a < b & \"c\"";
    const std::string text = svg(draw(chart, {800, 450}, theme_of(Look::light)));
    CHECK(text.rfind("<svg xmlns=", 0) == 0);
    CHECK(text.find("a &lt; b &amp; &quot;c&quot;") != std::string::npos);
    CHECK(text.substr(text.size() - 7) == "</svg>\n");
    std::size_t opened = 0, closed = 0;
    for (std::size_t at = text.find("<text"); at != std::string::npos; at = text.find("<text", at + 1)) ++opened;
    for (std::size_t at = text.find("</text>"); at != std::string::npos; at = text.find("</text>", at + 1)) ++closed;
    CHECK(opened == closed);
    CHECK(opened > 10);
}

TEST_CASE("A PNG has its size in its header and is the same each time", "[charts][png]") {
    const Drawing drawing = draw(curve(), {400, 225}, theme_of(Look::dark));
    const std::string one = png(drawing, 2.0);
    CHECK(one == png(drawing, 2.0));
    REQUIRE(one.size() > 24);
    CHECK(one.substr(1, 3) == "PNG");
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(one[i])); };
    CHECK(byte(18) * 256 + byte(19) == 800);  // width, big endian
    CHECK(byte(22) * 256 + byte(23) == 450);
    CHECK_FALSE(picture(drawing, "chart.jpg"));
    CHECK(picture(drawing, "CHART.PNG"));
}

TEST_CASE("A PNG decodes to the pixels drawn", "[charts][png]") {
    // 4 x 2 points, a pixel each. The box covers column 1 whole and half of column 2: white to (200, 100, 0) by a half is
    // 255 - 27.5, 255 - 77.5, 255 - 127.5, rounded half up. The line covers the lower right pixel: half as wide as
    // a pixel on either side of its middle.
    Drawing drawing{4.0, 2.0, {255, 255, 255, 255}, {}};
    drawing.commands.push_back(Box{{1.0, 0.0}, {2.5, 2.0}, {200, 100, 0, 255}, false, ""});
    drawing.commands.push_back(Line{{{3.0, 1.5}, {4.0, 1.5}}, {0, 0, 0, 255}, 1.0, false});
    const std::string bytes = png(drawing, 1.0);
    int width = 0, height = 0, channels = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> pixels(
        stbi_load_from_memory(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), &width, &height, &channels, 3), stbi_image_free);
    REQUIRE(pixels);
    REQUIRE(width == 4);
    REQUIRE(height == 2);
    const auto at = [&](int x, int y) {
        const unsigned char* p = pixels.get() + (y * 4 + x) * 3;
        return std::array<int, 3>{p[0], p[1], p[2]};
    };
    using Pixel = std::array<int, 3>;
    CHECK(at(0, 0) == Pixel{255, 255, 255});
    CHECK(at(1, 0) == Pixel{200, 100, 0});
    CHECK(at(1, 1) == Pixel{200, 100, 0});
    CHECK(at(2, 0) == Pixel{228, 178, 128});
    CHECK(at(3, 0) == Pixel{255, 255, 255});
    CHECK(at(3, 1) == Pixel{0, 0, 0});
}

TEST_CASE("A typed chart keeps to its width and names every curve and marker", "[charts][typed]") {
    for (const int columns : {40, 80, 160}) {
        const std::string text = typed(curve(), columns, false);
        std::size_t start = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; start = end + 1, end = text.find('\n', start)) CHECK(end - start <= static_cast<std::size_t>(columns) + 12);
        for (const char* name : {"write through", "write back", "safe maximum", "knee", "device pool"}) CHECK(text.find(name) != std::string::npos);
        for (const char c : text) CHECK(static_cast<unsigned char>(c) < 0x80);
    }
    const std::string heat = typed(map(), 60, false);
    CHECK(heat.find("xxxxxxxx") != std::string::npos);
    CHECK(heat.find("not feasible") != std::string::npos);
}

// 100 tokens a gigabyte: a GPU pool of 500 tokens is as large as 5 GB, the knee at 3,000 tokens lies at 30 GB.
TEST_CASE("The chart of host pools marks the GPU pool, the largest safe size, the recommended one and the knee", "[charts][trace]") {
    kvplan::trace::Recommendation advice;
    advice.knee_tokens = 3000;
    advice.unlimited_rate = 0.8;
    advice.device_tokens = kvplan::Tokens{500};
    advice.device_rate = 0.1;
    for (const std::int64_t gb : {10, 20}) {
        kvplan::trace::HostSize size;
        size.hicache_size_gb = gb;
        size.host_tokens = kvplan::Tokens{gb * 100};
        size.hit_rate = gb == 10 ? 0.5 : 0.6;
        advice.sizes.push_back(size);
    }
    advice.largest_safe = advice.sizes.back();
    advice.recommended = advice.sizes.front();
    kvplan::trace::Analysis analysis;
    analysis.recommendation = advice;
    const LineChart chart = hit_rate_chart(analysis);
    REQUIRE(chart.markers.size() == 4);
    CHECK(chart.markers[0].x == 5.0);
    CHECK(chart.markers[1].x == 20.0);
    CHECK(chart.markers[2].x == 30.0);
    CHECK(chart.markers[3].x == 10.0);
    REQUIRE(chart.series.size() == 3);
    REQUIRE(chart.series[0].points.size() == 3);
    CHECK(chart.series[0].points[0].y == 0.1);
    CHECK(chart.series[0].points[2].y == 0.6);
}

TEST_CASE("Example pictures", "[charts]") {
    show(draw(curve(), {900, 500}, theme_of(Look::light)), "curve.png");
    show(draw(curve(), {900, 500}, theme_of(Look::dark)), "curve_dark.png");
    show(draw(bars(), {900, 260}, theme_of(Look::light)), "bars.png");
    show(draw(map(), {900, 400}, theme_of(Look::light)), "map.png");
    show(draw(curve(), {900, 500}, theme_of(Look::light)), "curve.svg");
    CHECK(svg(draw(map(), {900, 400}, theme_of(Look::light))).find("not feasible") != std::string::npos);
}
