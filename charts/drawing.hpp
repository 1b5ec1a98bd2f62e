// A picture as commands, in points from the upper left corner. Whoever shows it (SVG, PNG, the window) needs no more.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace kvplan::charts {

struct Color {
    std::uint8_t r = 0, g = 0, b = 0, a = 255;
    friend bool operator==(const Color&, const Color&) = default;
};

struct Point {
    double x = 0.0, y = 0.0;
};

struct Line {
    std::vector<Point> points;   // two or more
    Color color;
    double width = 1.0;
    bool dashed = false;
};

struct Box {
    Point least, most;           // least.x <= most.x, least.y <= most.y
    Color fill;
    bool hatched = false;        // lines at 45 degrees instead of a full face
    std::string hover;           // what it stands for, with its value
};

enum class Align { left, centre, right };

/// One line of text; `at` is its left end, middle or right end, on the base line.
struct Label {
    Point at;
    std::string text;
    Color color;
    double size = 12.0;
    Align align = Align::left;
    bool upward = false;         // turned a quarter to the left
};

using Command = std::variant<Box, Line, Label>;

struct Drawing {
    double width = 0.0, height = 0.0;
    Color background;
    std::vector<Command> commands;   // later ones lie above
};

struct Size {
    double width = 800.0, height = 450.0;
};

}  // namespace kvplan::charts
