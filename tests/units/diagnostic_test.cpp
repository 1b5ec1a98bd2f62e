#include "units/diagnostic.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"
#include "units/utf8.hpp"

using namespace kvplan;

namespace {

Diagnostic numbered(std::size_t line, Severity severity = Severity::error) {
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.line = line;
    diagnostic.message = "fault";
    return diagnostic;
}

std::vector<std::string> nearest(std::string_view wrong, const std::vector<std::string>& names, std::size_t max = 3) {
    return nearest_names(wrong, names, max);
}

}  // namespace

TEST_CASE("a diagnostic is shown with its place, source line, caret, pointer, found, expected and hint",
          "[units][diagnostic]") {
    const std::string text = "{\n  \"text_config\": {\"num_hidden_layers\": -4}\n}\n";
    Diagnostic diagnostic;
    diagnostic.code = "value.range";
    diagnostic.file = "config.json";
    diagnostic.pointer = "/text_config/num_hidden_layers";
    diagnostic.message = "num_hidden_layers is out of range";
    diagnostic.found = "-4";
    diagnostic.expected = "a positive whole number";
    diagnostic.hint = "count the layers";
    // Line 2 holds 2 blanks, "text_config" in quotes (13), ": {" (3), "num_hidden_layers" in quotes (19), ": " (2): the
    // -4 begins in column 2 + 13 + 3 + 19 + 2 + 1 = 40.
    const std::size_t offset = text.find("-4");
    CHECK(render(with_place(diagnostic, text, offset)) ==
          "config.json:2:40: error[value.range]: num_hidden_layers is out of range\n"
          "  \"text_config\": {\"num_hidden_layers\": -4}\n"
          "                                       ^\n"
          "at: /text_config/num_hidden_layers\n"
          "found: -4\n"
          "expected: a positive whole number\n"
          "hint: count the layers\n");
}

TEST_CASE("a flag is named in place of a file", "[units][diagnostic]") {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::warning;
    diagnostic.code = "flag.unit";
    diagnostic.pointer = "--host-ram";
    diagnostic.message = "the size has no unit";
    diagnostic.found = "80G";
    CHECK(render(diagnostic) == "--host-ram: warning[flag.unit]: the size has no unit\nfound: 80G\n");
}

TEST_CASE("nothing in a diagnostic can steer a terminal", "[units][diagnostic]") {
    CHECK(escape_for_terminal("a\x1b[31mb") == "a\\x1b[31mb");
    CHECK(escape_for_terminal("\n\r\t\x7f") == "\\n\\r\\t\\x7f");
    CHECK(escape_for_terminal(std::string_view("\0", 1)) == "\\x00");
    CHECK(escape_for_terminal("\xff\xc0\xaf") == "\\xff\\xc0\\xaf");  // no UTF-8; the latter an overlong '/'
    CHECK(escape_for_terminal("\xc2\x9b") == "\\u009b");              // CSI as a C1 control
    CHECK(escape_for_terminal("a\xe2\x80\xae"
                              "b") == "a\\u202eb");  // right-to-left override
    CHECK(escape_for_terminal("\xe2\x82\xac \xe6\xa8\xa1") ==
          "\xe2\x82\xac \xe6\xa8\xa1");  // euro sign, a Han character

    Diagnostic diagnostic;
    diagnostic.file = "a\x1b]0;title\x07.json";
    diagnostic.message = diagnostic.found = diagnostic.hint = diagnostic.expected = diagnostic.pointer = "\x1b[2J";
    const std::string shown = render(with_place(diagnostic, "\x1b[2J x", 5));
    CHECK(shown.find('\x1b') == std::string::npos);
    CHECK(shown.find('\x07') == std::string::npos);
}

TEST_CASE("the caret stands below its character whatever stands before it", "[units][diagnostic]") {
    const auto under_caret = [](std::string_view text, std::size_t offset) {
        const SourcePlace place = locate(text, offset);
        REQUIRE(place.caret <= place.source_line.size());
        return place.source_line.substr(place.caret, 1);
    };
    CHECK(under_caret("\t\t\"x\": !", 7) == "!");
    CHECK(under_caret("\x1b\x01!", 2) == "!");  // the two become eight columns
    CHECK(under_caret("first\r\nsecond!\r\n", 13) == "!");

    SECTION("columns count code points, not bytes") {
        const SourcePlace place = locate("\xc3\xa4\xc3\xb6!", 4);  // two letters of two bytes each
        CHECK(place.column == 3);
        CHECK(place.caret == 2);
    }
    SECTION("an offset beyond the text means its end") {
        const SourcePlace place = locate("ab\ncd", 99);
        CHECK(place.line == 2);
        CHECK(place.column == 3);
        CHECK(place.source_line == "cd");
    }
    SECTION("a carriage return before the line feed is not shown") { CHECK(locate("ab\r\n", 0).source_line == "ab"); }
}

TEST_CASE("long lines are clipped round the caret", "[units][diagnostic]") {
    const std::string text = std::string(5000, 'a') + "!" + std::string(5000, 'b');
    const SourcePlace place = locate(text, 5000);
    CHECK(place.column == 5001);
    CHECK(place.source_line.size() == kSourceLineColumns + 6);  // and "..." at both ends
    CHECK(place.source_line[place.caret] == '!');
    CHECK(place.source_line.substr(0, 4) == "...a");
    CHECK(place.source_line.substr(place.source_line.size() - 4) == "b...");
}

TEST_CASE("the collection keeps the first diagnostics and counts the rest", "[units][diagnostic]") {
    Diagnostics diagnostics(3);
    CHECK(diagnostics.empty());
    diagnostics.add(numbered(1, Severity::warning));
    CHECK_FALSE(diagnostics.has_errors());
    diagnostics.add(numbered(1, Severity::warning));  // the same once more
    CHECK(diagnostics.items().size() == 1);
    diagnostics.add(numbered(2, Severity::note));
    diagnostics.add(numbered(3, Severity::warning));
    CHECK_FALSE(diagnostics.has_errors());
    diagnostics.add(numbered(4));  // dropped, and still an error
    CHECK(diagnostics.has_errors());
    CHECK(diagnostics.error_count() == 1);
    CHECK(diagnostics.items().size() == 3);
    CHECK(diagnostics.dropped() == 1);
    CHECK(render(diagnostics) == "warning: fault\nnote: fault\nwarning: fault\nand 1 more that are not shown\n");
}

TEST_CASE("nearest names forgive case, punctuation and typing faults", "[units][diagnostic][nearest]") {
    const std::vector<std::string> models{"kimi-k2.5", "kimi-k2", "deepseek-v3", "llama-3-70b", "gpt-oss-120b"};
    // Only punctuation and case differ: distance 0, before kimi-k2 at distance 1.
    CHECK(nearest("Kimi_K25", models) == std::vector<std::string>{"kimi-k2.5", "kimi-k2"});
    CHECK(nearest("depseek-v3", models) == std::vector<std::string>{"deepseek-v3"});
    CHECK(nearest("lalma-3-70b", models) == std::vector<std::string>{"llama-3-70b"});  // neighbours exchanged
    CHECK(nearest("gpt-oss", models) == std::vector<std::string>{"gpt-oss-120b"});     // shortened
    CHECK(nearest("kimi-k2.5-instruct", models, 1) == std::vector<std::string>{"kimi-k2.5"});
    CHECK(nearest("num_layers", {"hidden_size", "num_hidden_layers"}) == std::vector<std::string>{"num_hidden_layers"});
}

TEST_CASE("nearest names keep silent when nothing is near", "[units][diagnostic][nearest]") {
    CHECK(nearest("mixtral", {"kimi-k2", "deepseek-v3"}).empty());
    CHECK(nearest("", {"kimi-k2"}).empty());
    CHECK(nearest("--", {"kimi-k2"}).empty());
    CHECK(nearest(std::string(1'000'000, 'a'), {"kimi-k2", std::string(1'000'000, 'a')}).empty());
    CHECK(nearest("tp", {"tp", "dp", "ep", "pp"}, 2) == std::vector<std::string>{"tp", "dp"});
    CHECK(nearest("a", {"b"}, 0).empty());
}

TEST_CASE("suggestions read as a question", "[units][diagnostic][nearest]") {
    const std::vector<std::string> names{"a", "b", "c"};
    CHECK(did_you_mean(std::span<const std::string>(names).first(0)).empty());
    CHECK(did_you_mean(std::span<const std::string>(names).first(1)) == "did you mean a?");
    CHECK(did_you_mean(std::span<const std::string>(names).first(2)) == "did you mean a or b?");
    CHECK(did_you_mean(names) == "did you mean a, b or c?");
}

TEST_CASE("invalid UTF-8 is found at its first byte", "[units][utf8]") {
    CHECK(find_invalid_utf8("plain ascii, longer than eight bytes") == std::string_view::npos);
    CHECK(find_invalid_utf8("\xf4\x8f\xbf\xbf") == std::string_view::npos);  // U+10FFFF, the last
    CHECK(find_invalid_utf8("\xef\xbf\xbf\xed\x9f\xbf") == std::string_view::npos);
    CHECK(find_invalid_utf8("0123456789\xff") == 10);
    CHECK(find_invalid_utf8("a\xc1\xbf") == 1);          // overlong
    CHECK(find_invalid_utf8("a\xe0\x9f\xbf") == 1);      // overlong
    CHECK(find_invalid_utf8("a\xed\xa0\x80") == 1);      // a surrogate
    CHECK(find_invalid_utf8("a\xf4\x90\x80\x80") == 1);  // above U+10FFFF
    CHECK(find_invalid_utf8("ab\xe2\x82") == 2);         // cut short
    CHECK(find_invalid_utf8("\x80") == 0);
}
