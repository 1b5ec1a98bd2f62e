#include <cmath>

#include "charts/picture.hpp"
#include "units/ascii.hpp"

namespace kvplan::charts {
namespace {

/// Two decimals at most, no sign on zero, no dependence on a locale.
std::string number(double value) {
    const auto hundredths = static_cast<long long>(std::llround(value * 100.0));
    const long long whole = std::llabs(hundredths) / 100, rest = std::llabs(hundredths) % 100;
    std::string text = (hundredths < 0 ? "-" : "") + std::to_string(whole);
    if (rest != 0) text += "." + std::string(rest < 10 ? "0" : "") + std::to_string(rest % 10 == 0 ? rest / 10 : rest);
    return text;
}

std::string hex(Color c) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text = "#";
    for (const int part : {int{c.r}, int{c.g}, int{c.b}}) text += kDigits[part / 16], text += kDigits[part % 16];
    return text;
}

std::string opacity(const char* attribute, Color c) { return c.a == 255 ? "" : std::string(" ") + attribute + "=\"" + number(c.a / 255.0) + "\""; }

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '&') result += "&amp;";
        else if (c == '<') result += "&lt;";
        else if (c == '>') result += "&gt;";
        else if (c == '"') result += "&quot;";
        else if (static_cast<unsigned char>(c) < 0x20) result += ' ';
        else result += c;
    }
    return result;
}

struct Writer {
    std::string text;

    void operator()(const Box& box) {
        const std::string place = "x=\"" + number(box.least.x) + "\" y=\"" + number(box.least.y) + "\" width=\"" + number(box.most.x - box.least.x) + "\" height=\"" + number(box.most.y - box.least.y) + "\"";
        const std::string fill = box.hatched ? "url(#hatch" + hex(box.fill).substr(1) + ")" : hex(box.fill);
        if (box.hatched)
            text += "<pattern id=\"hatch" + hex(box.fill).substr(1) + "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2\" stroke=\"" + hex(box.fill) +
                    "\" stroke-width=\"1\"/></pattern>\n";
        text += "<rect " + place + " fill=\"" + fill + "\"" + opacity("fill-opacity", box.fill);
        text += box.hover.empty() ? "/>\n" : "><title>" + escaped(box.hover) + "</title></rect>\n";
    }
    void operator()(const Line& line) {
        text += "<polyline fill=\"none\" stroke=\"" + hex(line.color) + "\"" + opacity("stroke-opacity", line.color) + " stroke-width=\"" + number(line.width) + "\"" +
                (line.dashed ? " stroke-dasharray=\"6 4\"" : "") + " stroke-linejoin=\"round\" points=\"";
        for (std::size_t i = 0; i < line.points.size(); ++i) text += (i == 0 ? "" : " ") + number(line.points[i].x) + "," + number(line.points[i].y);
        text += "\"/>\n";
    }
    void operator()(const Label& label) {
        const char* anchor = label.align == Align::left ? "start" : label.align == Align::centre ? "middle" : "end";
        const std::string x = number(label.at.x), y = number(label.at.y);
        text += "<text x=\"" + x + "\" y=\"" + y + "\" font-size=\"" + number(label.size) + "\" fill=\"" + hex(label.color) + "\" text-anchor=\"" + anchor + "\"" +
                (label.upward ? " transform=\"rotate(-90 " + x + " " + y + ")\"" : "") + ">" + escaped(label.text) + "</text>\n";
    }
};

}  // namespace

std::string svg(const Drawing& drawing) {
    Writer writer;
    writer.text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(drawing.width) + "\" height=\"" + number(drawing.height) + "\" viewBox=\"0 0 " + number(drawing.width) + " " +
                  number(drawing.height) + "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n";
    writer(Box{{0, 0}, {drawing.width, drawing.height}, drawing.background, false, {}});
    for (const Command& command : drawing.commands) std::visit(writer, command);
    return writer.text + "</svg>\n";
}

std::optional<std::string> picture(const Drawing& drawing, std::string_view file_name) {
    const std::string ending = lower(file_name.substr(file_name.size() < 4 ? 0 : file_name.size() - 4));
    if (ending == ".svg") return svg(drawing);
    if (ending == ".png") return png(drawing);
    return std::nullopt;
}

}  // namespace kvplan::charts
