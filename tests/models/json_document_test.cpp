#include "models/json/document.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "models/json/tree.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

json::Document parsed(const std::string& text) {
    Diagnostics diagnostics;
    const auto document = json::parse(text, "test.json", diagnostics);
    INFO(render(diagnostics));
    REQUIRE(diagnostics.empty());
    REQUIRE(document);
    return *document;
}

/// What is said about a text that is not accepted.
std::string refusal(const std::string& text, const json::Limits& limits = {}) {
    Diagnostics diagnostics;
    const auto document = json::parse(text, "config.json", diagnostics, limits);
    CHECK_FALSE(document);
    CHECK(diagnostics.error_count() == 1);
    return render(diagnostics);
}

std::string code_of(const std::string& text, const json::Limits& limits = {}) {
    Diagnostics diagnostics;
    CHECK_FALSE(json::parse(text, "config.json", diagnostics, limits));
    return diagnostics.empty() ? "" : diagnostics.items().back().code;
}

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "kvplan-json-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(file(name), std::ios::binary) << text;
        return file(name);
    }

private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("values are found by key and index and keep the order of the text", "[models][json]") {
    const json::Document document =
        parsed(R"({"b": [10, "x", null], "a": {"deep": true}, "n": null, "empty": {}, "none": []})");
    const json::Value root = document.root();
    CHECK(root.size() == 5);
    CHECK(root["b"].size() == 3);
    CHECK(root["b"].at(0).integer() == 10);
    CHECK(root["b"].at(1).string() == "x");
    CHECK(root["b"].at(2).is_null());
    CHECK(root["a"]["deep"].boolean() == true);
    CHECK(root["n"].exists());
    CHECK_FALSE(root["n"].has_value());
    CHECK(root["empty"].is_object());
    CHECK(root["none"].is_array());

    std::string keys;
    for (const auto& [key, value] : root.members()) keys += std::string(key) + value.pointer() + " ";
    CHECK(keys == "b/b a/a n/n empty/empty none/none ");
    int elements = 0;
    for (const json::Value element : root["b"].elements()) elements += element.has_value() ? 1 : 0;
    CHECK(elements == 2);
    CHECK(root["a"].elements().size() == 0);
    CHECK(root["b"].members().size() == 0);
}

TEST_CASE("a missing value still knows its pointer", "[models][json]") {
    const json::Document document = parsed(R"({"list": [1], "a/b": {"~": 1}})");
    const json::Value root = document.root();
    CHECK_FALSE(root["text_config"]["num_layers"].exists());
    CHECK(root["text_config"]["num_layers"].pointer() == "/text_config/num_layers");
    CHECK(root["list"].at(1).pointer() == "/list/1");
    CHECK(root["list"]["key"].kind() == json::Kind::missing);
    CHECK(root["a/b"]["~"].pointer() == "/a~1b/~0");  // RFC 6901, section 3
    CHECK(root.pointer().empty());
    CHECK(json::Value{}["x"].pointer() == "/x");
    CHECK(json::Value{}.describe() == "nothing");
    CHECK(root["x"].identity() == nullptr);
    CHECK(root["list"].identity() == document.root()["list"].identity());
}

TEST_CASE("integers are exact or nothing", "[models][json][numbers]") {
    const json::Document document = parsed(R"([4294967297, 9223372036854775807, -9223372036854775808, 8.0, 1e6, -0.0,
        80.7, true, "8", 9223372036854775808, 18446744073709551616, 123456789012345678901234567890, 9007199254740992.0,
        9007199254740991.0, 1e300, Infinity, NaN, null])");
    const json::Value root = document.root();
    CHECK(root.at(0).integer() == 4294967297);  // not 1
    CHECK(root.at(1).integer() == std::numeric_limits<std::int64_t>::max());
    CHECK(root.at(2).integer() == std::numeric_limits<std::int64_t>::min());
    CHECK(root.at(3).integer() == 8);
    CHECK(root.at(4).integer() == 1000000);
    CHECK(root.at(5).integer() == 0);
    for (const std::size_t i : {6U, 7U, 8U, 9U, 10U, 11U, 12U, 14U, 15U, 16U, 17U}) {
        INFO("element " << i << " " << root.at(i).describe());
        CHECK_FALSE(root.at(i).integer());
    }
    CHECK(root.at(13).integer() == 9007199254740991);  // 2^53 - 1
    CHECK(root.at(9).number() == 9223372036854775808.0);
    CHECK(root.at(11).describe() == "123456789012345678901234567890");
}

TEST_CASE("numbers are the nearest double, and infinities are kept apart", "[models][json][numbers]") {
    // 17 and more digits; the last lies just above the midpoint of 1 and the next double.
    const json::Document document = parsed(
        "[0.1, 1e-06, 1.7976931348623157e308, 5e-324, 1e-400, 2.2250738585072011e-308, 9007199254740993, "
        "1.00000000000000011102230246251565404236316680908203126, -2.5E-3, Infinity, -Infinity, NaN, "
        "0.0000000000001e-2147483639]");
    const json::Value root = document.root();
    CHECK(root.at(0).number() == 0.1);
    CHECK(root.at(1).number() == 1e-06);
    CHECK(root.at(2).number() == std::numeric_limits<double>::max());
    CHECK(root.at(3).number() == std::numeric_limits<double>::denorm_min());
    CHECK(root.at(4).number() == 0.0);
    CHECK(root.at(5).number() == 2.2250738585072011e-308);
    CHECK(root.at(6).number() == 9007199254740992.0);  // half way: to even
    CHECK(root.at(6).integer() == 9007199254740993);
    CHECK(root.at(7).number() == 1.0 + std::numeric_limits<double>::epsilon());
    CHECK(root.at(8).number() == -0.0025);
    CHECK_FALSE(root.at(9).number());
    CHECK(root.at(9).number_or_infinity() == kInfinity);
    CHECK(root.at(10).number_or_infinity() == -kInfinity);
    CHECK_FALSE(root.at(11).number_or_infinity());
    CHECK(root.at(11).is_number());
    CHECK(root.at(12).number() == 0.0);  // an exponent at the edge of int
}

TEST_CASE("numbers beyond a double are reported and do not hide the faults behind them", "[models][json][numbers]") {
    Diagnostics diagnostics;
    const auto document =
        json::parse("{\"a\": 1e400, \"b\": -1e999, \"c\": 10e308,\n \"d\": 1, \"d\": 2}", "c.json", diagnostics);
    REQUIRE(document);
    std::string codes;
    for (const Diagnostic& diagnostic : diagnostics.items()) codes += diagnostic.code + diagnostic.pointer + " ";
    CHECK(codes == "json.duplicate-key/d json.number-too-large/a json.number-too-large/b json.number-too-large/c ");
    CHECK(diagnostics.items()[1].found == "1e400");
    CHECK_FALSE(document->root()["a"].number());
}

TEST_CASE("strings are decoded, and plain ones are views of the text", "[models][json]") {
    const json::Document document = parsed(R"({"plain": "a\\b", "k\u0065y": "\u20ac \"q\" \ud83d\ude00 \u0000",)"
                                           R"( "tricky": "\"\nx"})");
    const json::Value root = document.root();
    CHECK(root["plain"].string() == "a\\b");
    CHECK(root["key"].string() == std::string_view("\xe2\x82\xac \"q\" \xf0\x9f\x98\x80 \0", 14));
    // Decoded to three characters, and what stands after the escaped quote is three characters long too.
    CHECK(root["tricky"].string() == "\"\nx");

    const json::Document plain = parsed(R"(["metal"])");
    const std::string_view view = *plain.root().at(0).string();
    CHECK(view.data() == plain.text().data() + 2);
}

TEST_CASE("members of large objects are found by key", "[models][json]") {
    // 30,000 keys with a long common start, such as the per-module maps of mixed-precision checkpoints.
    std::string text = "{";
    for (int i = 0; i < 30000; ++i) {
        text += (i > 0 ? ",\"" : "\"") + std::string("model.layers.experts.") + std::to_string(i) +
                "\":" + std::to_string(i);
    }
    const json::Document document = parsed(text + "}");
    const json::Value root = document.root();
    std::size_t found = 0;
    for (const auto& [key, value] : root.members()) found += root[key].identity() == value.identity() ? 1U : 0U;
    CHECK(found == 30000);
    CHECK(root["model.layers.experts.12345"].integer() == 12345);
    CHECK_FALSE(root["model.layers.experts.30000"].exists());
    CHECK_FALSE(root[""].exists());
}

TEST_CASE("positions count lines and columns from 1", "[models][json]") {
    const json::Document document = parsed("{\n  \"a\": 1,\n  \"b\": {\"c\":\n [true]}\n}");
    const json::Value root = document.root();
    CHECK(root["a"].line_column().line == 2);
    CHECK(root["a"].line_column().column == 8);
    CHECK(root["b"]["c"].at(0).line_column().line == 4);
    CHECK(root["b"]["c"].at(0).line_column().column == 3);
    CHECK(root["b"]["zzz"].line_column().line == 3);  // where its parent begins
}

TEST_CASE("a key given twice is an error that names both lines, and the last counts", "[models][json][errors]") {
    Diagnostics diagnostics;
    const auto document = json::parse("{\n  \"hidden_size\": 4096,\n  \"x\": {\"y\": 1},\n  \"hidden_size\": 5120\n}",
                                      "config.json", diagnostics);
    REQUIRE(document);
    CHECK(document->root()["hidden_size"].integer() == 5120);
    CHECK(render(diagnostics) ==
          "config.json:4:3: error[json.duplicate-key]: the key \"hidden_size\" is given twice in one object\n"
          "  \"hidden_size\": 5120\n"
          "  ^\n"
          "at: /hidden_size\n"
          "found: line 2: 4096; line 4: 5120\n"
          "expected: every key once\n"
          "hint: Python's reader silently takes the last one; remove one of the two\n");
}

TEST_CASE("duplicates are found in large objects and behind escapes", "[models][json][errors]") {
    std::string text = "{\"k3\": \"first\"";
    for (int i = 0; i < 100; ++i) text += ", \"k" + std::to_string(i) + "\": " + std::to_string(i);
    Diagnostics diagnostics;
    const auto large = json::parse(text + ", \"k\\u0037\": \"last\"}", "c.json", diagnostics);
    REQUIRE(large);
    CHECK(diagnostics.error_count() == 2);  // k3 and k7
    CHECK(large->root()["k3"].integer() == 3);
    CHECK(large->root()["k7"].string() == "last");

    SECTION("very many are counted instead of listed") {
        std::string many = "{\"a\": 0";
        for (int i = 0; i < 5000; ++i) many += ", \"a\": 0";
        Diagnostics capped;
        CHECK(json::parse(many + "}", "c.json", capped));
        CHECK(capped.items().size() == 21);
        CHECK(capped.items().back().found == "5000 in all");
    }
}

TEST_CASE("a truncated file names what is still open", "[models][json][errors]") {
    CHECK(refusal("{\n  \"a\": [1, 2\n") ==
          "config.json:2:13: error[json.truncated]: the file ends before the JSON document does\n"
          "  \"a\": [1, 2\n"
          "            ^\n"
          "found: the end of the file\n"
          "expected: the closing ']' of the array at line 2, column 8\n"
          "hint: was it downloaded or copied in full?\n");
    for (const char* text : {"{", "{\"a\"", "{\"a\":", "{\"a\": 1", "{\"a\": 1,", "[", "[1,", "\"", "[\"a\\",
                             "[\"\\u12", "[\"\\ud83d\\u", "tru", "[nul", "[-", "[1e", "[1."}) {
        INFO(text);
        CHECK(code_of(text) == "json.truncated");
    }
}

TEST_CASE("every strict prefix of a document is refused, and none crashes", "[models][json][errors]") {
    const std::string text = R"({"a": [1.5e3, {"b": "x\u00e9\ny", "c": null}], "d": false, "e": -Infinity})";
    for (std::size_t length = 0; length < text.size(); ++length) {
        Diagnostics diagnostics;
        INFO(text.substr(0, length));
        CHECK_FALSE(json::parse(text.substr(0, length), "c.json", diagnostics));
        CHECK(diagnostics.error_count() == 1);
    }
}

TEST_CASE("empty files are told from broken ones", "[models][json][errors]") {
    CHECK(refusal("") ==
          "config.json: error[json.empty]: the file is empty\nfound: 0 bytes\nexpected: a JSON document\n");
    CHECK(code_of(" \n\t") == "json.empty");
    CHECK(code_of("\xEF\xBB\xBF") == "json.empty");
}

TEST_CASE("what is no UTF-8 is refused at its first byte", "[models][json][errors]") {
    CHECK(refusal("{\"a\": \"\xff\"}") ==
          "config.json:1:8: error[json.encoding]: the text is not UTF-8\n"
          "{\"a\": \"\\xff\"}\n"
          "       ^\n"
          "found: byte 0xff at offset 7\n"
          "expected: JSON in UTF-8\n");
    CHECK(code_of("\xFF\xFE{\"") == "json.encoding");
    CHECK(code_of(std::string("{\"a\"\0: 1}", 9)) == "json.encoding");
    CHECK(code_of(std::string("{}\0{", 4)) == "json.encoding");
    CHECK(code_of(R"(["\udc00"])") == "json.syntax");  // a lone surrogate
    CHECK(code_of(R"(["\ud800x"])") == "json.syntax");
}

TEST_CASE("a byte order mark is skipped with a warning, and positions still hold", "[models][json][errors]") {
    Diagnostics diagnostics;
    const auto document = json::parse("\xEF\xBB\xBF{\n\"a\": 7}", "c.json", diagnostics);
    REQUIRE(document);
    CHECK(diagnostics.items().size() == 1);
    CHECK(diagnostics.items()[0].code == "json.bom");
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(document->root()["a"].integer() == 7);
    CHECK(document->root()["a"].line_column().line == 2);
    CHECK(document->root()["a"].line_column().column == 6);
}

TEST_CASE("nesting is limited without use of the stack", "[models][json][errors]") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    Diagnostics diagnostics;
    CHECK(json::parse(nested(64), "c.json", diagnostics));
    CHECK(diagnostics.empty());
    CHECK(code_of(nested(65)) == "json.too-deep");
    CHECK(code_of(std::string(1'000'000, '[')) == "json.too-deep");
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    CHECK(code_of(objects) == "json.too-deep");

    json::Limits deep;
    deep.max_depth = 2'000'000;
    CHECK(json::parse(nested(1'000'000), "c.json", diagnostics, deep));
    CHECK(diagnostics.empty());
}

TEST_CASE("size and number of values are limited", "[models][json][errors]") {
    json::Limits limits;
    limits.max_bytes = 10;
    Diagnostics diagnostics;
    CHECK(json::parse("[1,2,3,45]", "c.json", diagnostics, limits));
    CHECK(refusal("[1,2,3,456]", limits) ==
          "config.json: error[json.too-large]: the JSON text is too large\n"
          "found: 11 bytes\nexpected: at most 10 bytes\n");
    limits.max_values = 3;  // the array and two numbers
    CHECK(json::parse("[1,2]", "c.json", diagnostics, limits));
    CHECK(code_of("[1,2,3]", limits) == "json.too-large");
}

TEST_CASE("usual slips get a hint", "[models][json][errors]") {
    CHECK(refusal("{\n  \"a\": 1,\n}") ==
          "config.json:3:1: error[json.syntax]: this is not valid JSON\n"
          "}\n"
          "^\n"
          "found: }\n"
          "expected: a key in double quotes\n"
          "hint: remove the comma at line 2, column 9\n");
    const auto hint = [](const std::string& text) {
        Diagnostics diagnostics;
        CHECK_FALSE(json::parse(text, "c.json", diagnostics));
        return diagnostics.items().at(0).hint;
    };
    CHECK(hint("[1, 2,]") == "remove the comma at line 1, column 6");
    CHECK(hint("{'a': 1}") == "JSON strings stand in double quotes");
    CHECK(hint("[1, // one\n 2]") == "JSON has no comments");
    CHECK(hint("[True]") == "JSON writes true and false in lower case");
    CHECK(hint("[None]") == "JSON writes null for None");
    CHECK(hint("[Inf]") == "write Infinity or -Infinity");
    CHECK(hint("[007]") == "a number has no leading zero");
    CHECK(hint("version https://git-lfs.github.com/spec/v1\noid sha256:0\n").find("Git LFS pointer") !=
          std::string::npos);
    CHECK(hint("<!DOCTYPE html>").find("HTML") != std::string::npos);
}

TEST_CASE("text after the document and other malformed texts are refused", "[models][json][errors]") {
    for (const char* text : {"{} {}",     "[1] 2",      "1 2",    "[1 2]",  "{\"a\" 1}",  "{\"a\": 1 \"b\": 2}",
                             "[+1]",      "[.5]",       "[5.]",   "[1e]",   "[0x10]",     "[nul]",
                             "[\"\\x\"]", "[\"a\nb\"]", "]",      "[}",     "{]",         "[,]",
                             "{,}",       "{1: 2}",     "[-NaN]", "[-Inf]", "[infinity]", "{\"a\":}",
                             "[--1]",     "[1-2]"}) {
        INFO(text);
        CHECK(code_of(text) == "json.syntax");
    }
}

TEST_CASE("a node of the tree stays small", "[models][json]") { CHECK(sizeof(json::detail::Node) == 32); }

TEST_CASE("regular files and pipes are read", "[models][json][files]") {
    const TemporaryFolder folder;
    Diagnostics diagnostics;
    const auto document = json::parse_file(folder.write("config.json", "{\"a\": 1}"), diagnostics);
    REQUIRE(document);
    CHECK(document->root()["a"].integer() == 1);
    CHECK(document->source_name() == folder.file("config.json"));
    CHECK(json::read_file(folder.write("empty", ""), diagnostics) == "");

    const std::string large(3'000'000, 'x');
    REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(folder.file("fifo"), std::ios::binary) << large; });
    const auto piped = json::read_file(folder.file("fifo"), diagnostics);
    writer.join();
    CHECK(piped == large);
    CHECK(diagnostics.empty());
}

TEST_CASE("files that cannot be read say why", "[models][json][files]") {
    const TemporaryFolder folder;
    const auto fault = [&](const std::string& path, const json::Limits& limits = {}) {
        Diagnostics diagnostics;
        CHECK_FALSE(json::parse_file(path, diagnostics, limits));
        REQUIRE(diagnostics.items().size() == 1);
        return diagnostics.items()[0];
    };
    CHECK(fault(folder.file("none.json")).code == "file.missing");
    CHECK(fault(folder.write("plain", "1") + "/config.json").code == "file.missing");
    CHECK(fault(std::string("a\0b", 3)).code == "file.missing");
    CHECK(fault(folder.file("")).code == "file.directory");
    CHECK(fault(folder.file("")).hint == "name the file in it, such as config.json");
    CHECK(fault("/dev/null").code == "file.kind");
    if (::geteuid() != 0) {  // root may read everything
        const std::string secret = folder.write("secret", "1");
        REQUIRE(::chmod(secret.c_str(), 0) == 0);
        CHECK(fault(secret).code == "file.unreadable");
    }
}

TEST_CASE("the size limit holds for files and for pipes that never end", "[models][json][files]") {
    const TemporaryFolder folder;
    json::Limits limits;
    limits.max_bytes = 1000;
    Diagnostics diagnostics;
    CHECK(json::read_file(folder.write("fits", std::string(1000, ' ')), diagnostics, limits));
    CHECK(diagnostics.empty());
    CHECK_FALSE(json::read_file(folder.write("large", std::string(1001, ' ')), diagnostics, limits));
    CHECK(diagnostics.items().back().code == "json.too-large");
    CHECK(diagnostics.items().back().found == "1001 bytes");

    REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(folder.file("fifo"), std::ios::binary) << std::string(1001, ' '); });
    CHECK_FALSE(json::read_file(folder.file("fifo"), diagnostics, limits));
    writer.join();
    CHECK(diagnostics.items().back().found == "more than 1000 bytes");
}
