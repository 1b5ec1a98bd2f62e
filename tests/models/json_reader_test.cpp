#include "models/json/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"

using namespace kvplan;
using json::kAnyInteger;
using json::kAnyNumber;
using json::kCount;
using json::kCountOrZero;

namespace {

/// A document and a reader over it.
struct Fixture {
    explicit Fixture(const std::string& text)
        : document(*json::parse(text, "config.json", diagnostics)), reader(diagnostics), root(document.root()) {}

    std::string codes() const {
        std::string out;
        for (const Diagnostic& item : diagnostics.items()) out += item.code + item.pointer + " ";
        return out;
    }

    Diagnostics diagnostics;
    json::Document document;
    json::Reader reader;
    json::Value root;
};

}  // namespace

TEST_CASE("the first name that is there and not null wins", "[models][json][reader]") {
    Fixture f(R"({"n_layer": null, "num_layers": 5, "num_hidden_layers": 7, "none": null})");
    CHECK(f.reader.integer(f.root, {"n_layer", "num_hidden_layers", "num_layers"}, kCount) == 7);
    CHECK(f.reader.integer(f.root, {"num_layers", "num_hidden_layers"}, kCount) == 5);
    static constexpr std::string_view kNames[] = {"absent", "num_layers"};
    CHECK(f.reader.required_integer(f.root, kNames, kCount) == 5);
    CHECK(f.reader.find(f.root, {"absent", "none"}).is_null());
    CHECK_FALSE(f.reader.find(f.root, {"absent", "missing"}).exists());
    CHECK(f.diagnostics.empty());
}

TEST_CASE("what is missing or null is silent unless required", "[models][json][reader]") {
    Fixture f(R"({"q_lora_rank": null})");
    CHECK_FALSE(f.reader.integer(f.root, {"q_lora_rank"}, kCount));
    CHECK_FALSE(f.reader.number(f.root, {"absent"}, kAnyNumber));
    CHECK_FALSE(f.reader.boolean(f.root["text_config"], {"absent"}));
    CHECK_FALSE(f.reader.string(f.root, {"absent"}));
    CHECK_FALSE(f.reader.integer_list(f.root, {"absent"}, kCount));
    CHECK_FALSE(f.reader.object(f.root, {"absent"}).exists());
    CHECK(f.diagnostics.empty());

    CHECK_FALSE(f.reader.required_integer(f.root, {"q_lora_rank"}, kCount));
    CHECK_FALSE(f.reader.required_number(f.root, {"a"}, kAnyNumber));
    CHECK_FALSE(f.reader.required_boolean(f.root, {"b"}));
    CHECK_FALSE(f.reader.required_string(f.root["text_config"], {"c"}));
    CHECK_FALSE(f.reader.required_object(f.root, {"d"}).exists());
    CHECK_FALSE(f.reader.required_array(f.root, {"e"}).exists());
    CHECK(f.codes() ==
          "value.missing/q_lora_rank value.missing/a value.missing/b value.missing/text_config/c value.missing/d "
          "value.missing/e ");
}

TEST_CASE("a missing key is reported with the names tried and the nearest key that nobody wanted",
          "[models][json][reader][errors]") {
    Fixture f("{\n  \"num_hiden_layers\": 61,\n  \"hidden_size\": 7168\n}");
    CHECK(f.reader.required_integer(f.root, {"hidden_size"}, kCount) == 7168);
    CHECK_FALSE(f.reader.required_integer(f.root, {"num_hidden_layers", "n_layer", "num_layers"}, kCount));
    CHECK(render(f.diagnostics) ==
          "config.json:1:1: error[value.missing]: num_hidden_layers is missing\n"
          "{\n"
          "^\n"
          "at: /num_hidden_layers\n"
          "found: nothing\n"
          "expected: a whole number from 1 to 1000000000 under \"num_hidden_layers\", \"n_layer\" or \"num_layers\"\n"
          "hint: did you mean num_hiden_layers?\n");
}

TEST_CASE("a value out of range is reported at its place", "[models][json][reader][errors]") {
    Fixture f("{\n  \"text_config\": {\n    \"num_hidden_layers\": -4\n  }\n}");
    const json::Value text = f.reader.object(f.root, {"text_config"});
    CHECK_FALSE(f.reader.required_integer(text, {"num_hidden_layers"}, kCount));
    CHECK(render(f.diagnostics) ==
          "config.json:3:26: error[value.range]: num_hidden_layers is out of range\n"
          "    \"num_hidden_layers\": -4\n"
          "                         ^\n"
          "at: /text_config/num_hidden_layers\n"
          "found: -4\n"
          "expected: a whole number from 1 to 1000000000\n");
}

TEST_CASE("all faults of a file are reported in one pass", "[models][json][reader][errors]") {
    Fixture f(R"({"a": 0, "b": 80.7, "c": true, "d": "4096", "e": 4294967297, "f": 18446744073709551616,
        "g": Infinity, "h": NaN, "i": [1], "j": {}, "k": 1e300, "l": 8.0})");
    for (const char* key : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}) {
        INFO(key);
        CHECK_FALSE(f.reader.integer(f.root, {key}, kCount));
    }
    CHECK(f.reader.integer(f.root, {"l"}, kCount) == 8);
    CHECK(
        f.codes() ==
        "value.range/a value.type/b value.type/c value.type/d value.range/e value.range/f value.range/g value.range/h "
        "value.type/i value.type/j value.range/k ");
    CHECK(f.diagnostics.items()[1].found == "80.7");
    CHECK(f.diagnostics.items()[3].found == "\"4096\"");
    CHECK(f.diagnostics.items()[3].hint == "write it without quotes: 4096");
    CHECK(f.diagnostics.items()[4].found == "4294967297");
    CHECK(f.diagnostics.items()[5].found == "18446744073709551616");
    CHECK(f.reader.integer(f.root, {"e"}, json::kPositive) == 4294967297);

    SECTION("the same fault asked for again is told once") {
        const std::size_t before = f.diagnostics.items().size();
        CHECK_FALSE(f.reader.integer(f.root, {"a"}, kCount));
        CHECK(f.diagnostics.items().size() == before);
    }
}

TEST_CASE("numbers, booleans and strings convert from nothing else", "[models][json][reader][errors]") {
    Fixture f(R"({"n": 2, "s": "x", "t": true, "inf": Infinity, "neg": -0.5, "big": 123456789012345678901234567890})");
    CHECK(f.reader.number(f.root, {"n"}, kAnyNumber) == 2.0);
    CHECK(f.reader.number(f.root, {"big"}, kAnyNumber) == 123456789012345678901234567890.0);
    CHECK_FALSE(f.reader.number(f.root, {"t"}, kAnyNumber));
    CHECK_FALSE(f.reader.number(f.root, {"inf"}, kAnyNumber));
    CHECK_FALSE(f.reader.number(f.root, {"neg"}, json::kNonNegativeNumber));
    CHECK(f.reader.boolean(f.root, {"t"}) == true);
    CHECK_FALSE(f.reader.boolean(f.root, {"n"}));
    CHECK(f.reader.string(f.root, {"s"}) == "x");
    CHECK_FALSE(f.reader.string(f.root, {"n"}));
    CHECK(f.codes() == "value.type/t value.range/inf value.range/neg value.type/n value.type/n ");
}

TEST_CASE("lists report each faulty element", "[models][json][reader]") {
    Fixture f(R"({"ok": [1, 2.0, 3], "bad": [1, "x", null, -1], "one": 7, "words": ["a", "b"], "mixed": ["a", 1],
        "rope": [10000.0, 5e6], "empty": []})");
    CHECK(f.reader.integer_list(f.root, {"ok"}, kCount) == std::vector<std::int64_t>{1, 2, 3});
    CHECK(f.reader.integer_list(f.root, {"empty"}, kCount) == std::vector<std::int64_t>{});
    CHECK(f.reader.string_list(f.root, {"words"}) == std::vector<std::string>{"a", "b"});
    CHECK(f.reader.number_list(f.root, {"rope"}, json::kPositiveNumber) == std::vector<double>{10000.0, 5000000.0});
    CHECK(f.reader.integer_or_list(f.root, {"one"}, kCount) == std::vector<std::int64_t>{7});
    CHECK(f.reader.integer_or_list(f.root, {"ok"}, kCount) == std::vector<std::int64_t>{1, 2, 3});
    CHECK_FALSE(f.reader.integer_or_list(f.root, {"absent"}, kCount));
    CHECK(f.diagnostics.empty());

    CHECK_FALSE(f.reader.integer_list(f.root, {"bad"}, kCountOrZero));
    CHECK_FALSE(f.reader.string_list(f.root, {"mixed"}));
    CHECK_FALSE(f.reader.integer_list(f.root, {"one"}, kCount));
    CHECK(f.codes() == "value.type/bad/1 value.type/bad/2 value.range/bad/3 value.type/mixed/1 value.type/one ");
}

TEST_CASE("a long faulty list is cut short", "[models][json][reader][errors]") {
    std::string text = "{\"list\": [0";
    for (int i = 0; i < 10000; ++i) text += ",\"x\"";
    Fixture f(text + "]}");
    CHECK_FALSE(f.reader.integer_list(f.root, {"list"}, kCountOrZero));
    CHECK(f.diagnostics.items().size() == 20);
}

TEST_CASE("containers of the wrong type are reported and count as missing", "[models][json][reader][errors]") {
    Fixture f(R"({"text_config": [1], "layer_types": {}})");
    const json::Value text = f.reader.object(f.root, {"text_config"});
    CHECK_FALSE(text.exists());
    CHECK_FALSE(f.reader.array(f.root, {"layer_types"}).exists());
    CHECK(f.codes() == "value.type/text_config value.type/layer_types ");
    CHECK(f.diagnostics.items()[0].expected == "an object");
    CHECK(f.diagnostics.items()[0].found == "an array of 1 element");

    Fixture list("[1, 2]");
    CHECK_FALSE(list.reader.required_integer(list.root, {"num_hidden_layers"}, kCount));
    CHECK(list.diagnostics.items().at(0).message == "the document has the wrong type");
}

TEST_CASE("keys that nobody asked for are known", "[models][json][reader]") {
    Fixture f(R"({"hidden_size": 1, "hiden_size": 2, "n_embd": 3, "other": {}, "seen": 4})");
    CHECK(f.reader.integer(f.root, {"hidden_size", "n_embd"}, kCount) == 1);
    f.reader.mark_used(f.root["seen"]);
    CHECK(f.reader.unused_keys(f.root) == std::vector<std::string>{"hiden_size", "other"});
    CHECK(f.reader.unused_keys(f.root["absent"]).empty());

    static constexpr std::string_view kKnown[] = {"hidden_size", "n_embd", "seen"};
    f.reader.warn_unused(f.root, kKnown);
    REQUIRE(f.diagnostics.items().size() == 2);
    CHECK_FALSE(f.diagnostics.has_errors());
    CHECK(f.diagnostics.items()[0].message == "\"hiden_size\" is not a known key and was ignored");
    CHECK(f.diagnostics.items()[0].hint == "did you mean hidden_size?");
    CHECK(f.diagnostics.items()[1].hint.empty());
}

TEST_CASE("ranges read as text", "[models][json][reader]") {
    CHECK(kAnyInteger.text() == "a whole number");
    CHECK(json::kPositive.text() == "a positive whole number");
    CHECK(json::kNonNegative.text() == "a whole number of at least 0");
    CHECK(json::IntegerRange{1, 128}.text() == "a whole number from 1 to 128");
    CHECK(kAnyNumber.text() == "a number");
    CHECK(json::kPositiveNumber.text() == "a number above 0");
    CHECK(json::kNonNegativeNumber.text() == "a number of at least 0");
    CHECK(json::kFraction.text() == "a number from 0 to 1");
    CHECK(json::NumberRange{0.0, 0.5, true}.text() == "a number above 0 and at most 0.5");
    // The bounds themselves belong to the range, but for an open lower one.
    CHECK((kCount.contains(1) && kCount.contains(json::kMaxCount)));
    CHECK_FALSE((kCount.contains(0) || kCount.contains(json::kMaxCount + 1)));
    CHECK_FALSE(json::kPositiveNumber.contains(0.0));
    CHECK(json::kFraction.contains(1.0));
}
