#include <algorithm>
#include <nlohmann/json.hpp>

#include "planner/export/csv.hpp"
#include "planner/export/report.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan::exporting;

TEST_CASE("A report is aligned as text and a table in Markdown", "[export]") {
    const Report report{"Title", "FITS", Tone::good, {{"Memory", {{"", "GiB"}, {{{"total", "95.59"}, 0, true}, {{"experts", "7.20"}, 1, false}}}, {"One | two."}}}};
    CHECK(render_text(report, {60, false}) ==
          "Title\n"
          "FITS\n"
          "\n"
          "Memory\n"
          "               GiB\n"
          "  total      95.59\n"
          "    experts   7.20\n"
          "  One | two.\n");
    CHECK(render_markdown(report) ==
          "# Title\n\n**FITS**\n\n## Memory\n\n"
          "|  | GiB |\n| :-- | --: |\n| **total** | **95.59** |\n| &nbsp;&nbsp;experts | 7.20 |\n\n- One | two.\n\n");
}

TEST_CASE("Colour adds to words and never replaces them", "[export]") {
    const Report report{"Title", "DOES NOT FIT", Tone::bad, {}};
    CHECK(render_text(report, {60, true}).find("DOES NOT FIT") != std::string::npos);
    CHECK(render_text(report, {60, true}).find("\x1b[1;31m") != std::string::npos);
    CHECK(render_text(report, {60, false}).find('\x1b') == std::string::npos);
}

TEST_CASE("Long sentences are wrapped to the width", "[export]") {
    const Report report{"T", "", Tone::good, {{"S", {}, {"aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj kkkk"}}}};
    const std::string text = render_text(report, {40, false});
    std::size_t start = 0;
    while (start < text.size()) {
        const std::size_t end = text.find('\n', start);
        CHECK(end - start <= 40);
        start = end + 1;
    }
}

TEST_CASE("A table that is too wide breaks its cells of words, never figures", "[export]") {
    Report report{"T", "", Tone::good, {{"S", {{"name", "value", "source"}, {}}, {}}}};
    report.sections[0].table.rows = {{{"a rather long name of something", "1,234,567", "read from a page of the vendor's manual"}, 0, false}, {{"b", "2", "c"}, 1, false}};
    const std::string text = render_text(report, {50, false});
    std::size_t start = 0;
    while (start < text.size()) {
        const std::size_t end = text.find('\n', start);
        CHECK(end - start <= 50);
        start = end + 1;
    }
    CHECK(text.find("1,234,567") != std::string::npos);
    CHECK(text.find("something") != std::string::npos);
    // Wide enough, every row is one line: title, blank, section, header and two rows.
    const std::string wide = render_text(report, {100, false});
    CHECK(std::count(wide.begin(), wide.end(), '\n') == 6);
}

TEST_CASE("An estimate is three cells in CSV and odd texts are quoted", "[export][csv]") {
    const nlohmann::ordered_json document = {{"fits", true}, {"gpu", {{"weights", {{"low", 1}, {"expected", 2}, {"high", 3}, {"basis", "exact"}}}, {"note", "a,\"b\""}}}, {"none", nullptr}};
    CHECK(csv_of(document) == "fits,gpu.weights,gpu.weights.low,gpu.weights.high,gpu.weights.basis,gpu.note,none\n"
                               "true,2,1,3,exact,\"a,\"\"b\"\"\",\n");
}

TEST_CASE("A list in CSV has a line an entry, with the columns of all entries", "[export][csv]") {
    const nlohmann::ordered_json list = {{"name", "x"}, {"rows", {{{"a", 1}, {"tags", {"p", "q"}}}, {{"a", 2}, {"b", {{"low", 1}, {"expected", 2}, {"high", 3}, {"basis", "exact"}}}}}}};
    CHECK(csv_of(list) == "name,a,tags,b,b.low,b.high,b.basis\nx,1,p;q,,,,\nx,2,,2,1,3,exact\n");
    // Beside another member with structure the list is one only where it is named.
    nlohmann::ordered_json more = list;
    more["other"] = {{"c", 3}};
    CHECK(csv_of(more, "rows") == csv_of(list));
    CHECK(csv_of(more).find("rows.1.a") != std::string::npos);
    CHECK(csv_of({{"rows", nlohmann::ordered_json::array()}}) == "\n\n");
}

TEST_CASE("A column of objects that one entry lacks has no column of its own, and whole rates are whole numbers", "[export][csv]") {
    const nlohmann::ordered_json list = {{"rows", {{{"rate", nullptr}, {"none", nullptr}}, {{"rate", {{"value", 1.9789e15}, {"half", 0.5}}}, {"none", nullptr}}}}};
    CHECK(csv_of(list) == "none,rate.value,rate.half\n,,\n,1978900000000000,0.5\n");
}
