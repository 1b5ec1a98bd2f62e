// json::parse. RapidJSON reads (iteratively: no call stack is spent on nesting), Builder makes the tree, and what went
// wrong is told here.
#include <rapidjson/reader.h>
#include <rapidjson/stream.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "models/json/builder.hpp"
#include "models/json/document.hpp"
#include "models/json/text_checks.hpp"
#include "models/json/tree.hpp"

namespace kvplan::json {
namespace {

using detail::Builder;
using detail::Fault;
using detail::kBlank;
using detail::make_fault;
using detail::Stop;
using detail::token_at;
using detail::Tree;

constexpr unsigned kFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag;
constexpr int kMostBlanked = 8;

std::string line_text(std::string_view text, std::size_t offset) {
    const SourcePlace place = locate(text, offset);
    return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

// ---- What the reader stumbled over -----------------------------------------------------------------------------

std::string expectation(rapidjson::ParseErrorCode code) {
    switch (code) {
        case rapidjson::kParseErrorDocumentRootNotSingular: return "the end of the file";
        case rapidjson::kParseErrorObjectMissName: return "a key in double quotes";
        case rapidjson::kParseErrorObjectMissColon: return "':' after a key";
        case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket: return "',' or '}'";
        case rapidjson::kParseErrorArrayMissCommaOrSquareBracket: return "',' or ']'";
        case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex: return "\\u and four hexadecimal digits";
        case rapidjson::kParseErrorStringUnicodeSurrogateInvalid: return "a pair of surrogates";
        case rapidjson::kParseErrorStringEscapeInvalid:
            return "one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u";
        case rapidjson::kParseErrorNumberMissFraction: return "a digit after the point";
        case rapidjson::kParseErrorNumberMissExponent: return "a digit in the exponent";
        case rapidjson::kParseErrorNumberTooBig: return "a number within the range of a double";
        default: return "a value";
    }
}

/// The usual ways in which what people write is not JSON.
std::string syntax_hint(std::string_view text, std::size_t offset) {
    const std::string_view rest = text.substr(std::min(offset, text.size()));
    if (rest.empty()) return {};
    const auto begins = [&](std::string_view word) { return rest.compare(0, word.size(), word) == 0; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::size_t before = offset == 0 ? std::string_view::npos : text.find_last_not_of(kBlank, offset - 1);
    if ((rest.front() == '}' || rest.front() == ']') && before != std::string_view::npos && text[before] == ',') {
        return "remove the comma at " + line_text(text, before);
    }
    if (rest.front() == '\'') return "JSON strings stand in double quotes";
    if (begins("//") || begins("/*") || begins("#")) return "JSON has no comments";
    if (begins("True") || begins("False")) return "JSON writes true and false in lower case";
    if (begins("None")) return "JSON writes null for None";
    if (begins("Inf") || begins("-Inf") || begins("inf") || begins("-inf")) return "write Infinity or -Infinity";
    if (begins("nan") || begins("-NaN") || begins("-nan")) return "write NaN";
    if (is_digit(rest.front()) && before != std::string_view::npos && before + 1 == offset && text[before] == '0') return "a number has no leading zero";
    if (rest.front() == '+' || rest.front() == '.') return "a number begins with a digit or '-'";
    return {};
}

Fault truncated(std::string_view text, const Builder& builder) {
    const std::size_t last = text.find_last_not_of(kBlank);
    Fault fault = make_fault("json.truncated", "the file ends before the JSON document does",
                             last == std::string_view::npos ? 0 : last + 1);
    fault.diagnostic.found = "the end of the file";
    const std::size_t token = builder.next_token();
    if (token < text.size() && text[token] == '"') {
        fault.diagnostic.expected = "the closing '\"' of the string at " + line_text(text, token);
    } else if (const auto open = builder.innermost_open()) {
        fault.diagnostic.expected = std::string("the closing '") + (text[*open] == '{' ? '}' : ']') + "' of the " +
                                    (text[*open] == '{' ? "object" : "array") + " at " + line_text(text, *open);
    }
    fault.diagnostic.hint = "was it downloaded or copied in full?";
    return fault;
}

Fault stopped(std::string_view text, const Builder& builder, const Limits& limits) {
    const std::size_t token = builder.next_token();
    if (builder.stop() == Stop::too_deep) {
        Fault fault = make_fault("json.too-deep", "values are nested too deep", token);
        fault.diagnostic.found = "more than " + std::to_string(limits.max_depth) + " levels";
        fault.diagnostic.expected = "at most " + std::to_string(limits.max_depth) + " levels";
        return fault;
    }
    if (builder.stop() == Stop::too_many_values) {
        Fault fault = make_fault("json.too-large", "the JSON document holds too many values", token);
        fault.diagnostic.expected = "at most " + std::to_string(limits.max_values) + " values";
        return fault;
    }
    Fault fault = make_fault("json.syntax", "this is not valid JSON", token);
    fault.diagnostic.found = token_at(text, token);
    fault.diagnostic.expected = builder.stop() == Stop::bad_escape ? "a pair of surrogates" : "a value";
    fault.diagnostic.hint = syntax_hint(text, token);
    return fault;
}

/// Whether the token at `begin` is a string that the text does not close.
bool is_open_string(std::string_view text, std::size_t begin) {
    if (begin >= text.size() || text[begin] != '"') return false;
    std::size_t at = begin + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
    return at >= text.size();
}

bool is_inside_string(rapidjson::ParseErrorCode code) {
    return code == rapidjson::kParseErrorStringEscapeInvalid ||
           code == rapidjson::kParseErrorStringUnicodeEscapeInvalidHex ||
           code == rapidjson::kParseErrorStringUnicodeSurrogateInvalid;
}

Fault syntax_fault(std::string_view text, const Builder& builder, rapidjson::ParseErrorCode code, std::size_t offset) {
    const bool broken_escape = is_inside_string(code) && offset < text.size() && text[offset] == '\\';
    const bool cut_escape = broken_escape && is_open_string(text, builder.next_token()) &&
                            text.find('\n', offset) == std::string_view::npos;
    if (cut_escape || text.find_first_not_of(kBlank, offset) == std::string_view::npos) return truncated(text, builder);
    // Inside a literal or a number the reader is already beyond the start; the start is what people look for.
    const bool whole_token =
        code == rapidjson::kParseErrorValueInvalid || code == rapidjson::kParseErrorNumberMissFraction ||
        code == rapidjson::kParseErrorNumberMissExponent || code == rapidjson::kParseErrorNumberTooBig;
    if (whole_token) offset = std::min<std::size_t>(offset, builder.next_token());
    Fault fault = make_fault("json.syntax", "this is not valid JSON", offset);
    fault.diagnostic.found = token_at(text, offset);
    fault.diagnostic.expected = expectation(code);
    fault.diagnostic.hint = syntax_hint(text, offset);
    if (code == rapidjson::kParseErrorNumberTooBig) {
        fault.diagnostic.code = "json.number-too-large";
        fault.diagnostic.message = "a number is too large";
    } else if (code == rapidjson::kParseErrorDocumentRootNotSingular) {
        fault.diagnostic.message = "there is text after the JSON document";
    } else if (is_inside_string(code) && !broken_escape) {
        fault.diagnostic.message = "a string holds a raw control character";
        fault.diagnostic.found = std::string(1, text[offset]);
        fault.diagnostic.expected = "the closing '\"' of the string at " + line_text(text, builder.next_token());
    }
    return fault;
}

// ---- What the tree shows ---------------------------------------------------------------------------------------

void report(Fault fault, const Tree& tree, Diagnostics& diagnostics) {
    fault.diagnostic.file = tree.source_name;
    if (fault.offset != std::string::npos) {
        fault.diagnostic = with_place(std::move(fault.diagnostic), tree.text, fault.offset);
    }
    diagnostics.add(std::move(fault.diagnostic));
}

void report_duplicates(const Document& document, const Tree& tree, const Builder& builder, Diagnostics& diagnostics) {
    std::vector<Builder::Duplicate> duplicates = builder.duplicates();
    std::sort(duplicates.begin(), duplicates.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const Builder::Duplicate& duplicate : duplicates) {
        const Value first = document.node(duplicate.first);
        const Value second = document.node(duplicate.second);
        const std::string key(second.key());
        Fault fault = make_fault("json.duplicate-key", "the key \"" + key + "\" is given twice in one object",
                                 tree.name_offset(tree.nodes[duplicate.second]));
        fault.diagnostic.pointer = second.pointer();
        fault.diagnostic.found = "line " + std::to_string(first.line_column().line) + ": " + first.describe() +
                                 "; line " + std::to_string(second.line_column().line) + ": " + second.describe();
        fault.diagnostic.expected = "every key once";
        fault.diagnostic.hint = "Python's reader silently takes the last one; remove one of the two";
        report(std::move(fault), tree, diagnostics);
    }
    if (builder.duplicate_count() > duplicates.size()) {
        Fault fault = make_fault("json.duplicate-key", "more keys are given twice", std::string::npos);
        fault.diagnostic.found = std::to_string(builder.duplicate_count()) + " in all";
        report(std::move(fault), tree, diagnostics);
    }
}

void report_numbers(const Document& document, const Tree& tree, const Builder& builder, Diagnostics& diagnostics) {
    for (const std::uint32_t id : builder.too_large()) {
        Fault fault = make_fault("json.number-too-large", "a number is too large", tree.nodes[id].offset);
        fault.diagnostic.pointer = document.node(id).pointer();
        fault.diagnostic.found = document.node(id).describe();
        fault.diagnostic.expected = expectation(rapidjson::kParseErrorNumberTooBig);
        report(std::move(fault), tree, diagnostics);
    }
}

// ---- Reading ---------------------------------------------------------------------------------------------------

struct Reading {
    Builder builder;
    rapidjson::ParseResult result;
};

/// `reader_text` is what RapidJSON sees, of the same length as tree.text and alike but for blanked numbers.
Reading read_once(Tree& tree, const std::string& reader_text, std::size_t begin, const Limits& limits) {
    tree.decoded.clear();
    tree.nodes.clear();
    tree.children.clear();
    // A real config spends about 46 bytes of text on a value.
    tree.nodes.reserve(std::min(tree.text.size() / 40 + 16, limits.max_values));
    Reading reading{Builder(tree, limits, static_cast<std::uint32_t>(begin)), {}};
    rapidjson::StringStream stream(reader_text.c_str() + begin);
    rapidjson::Reader reader;
    reading.result = reader.Parse<kFlags>(stream, reading.builder);
    return reading;
}

/// RapidJSON gives up at a number beyond a double. To find the faults behind it too, it is shown a 0 in that place; the
/// builder reads the number from the text itself and remembers it as too large.
Reading read(Tree& tree, std::size_t begin, const Limits& limits) {
    Reading reading = read_once(tree, tree.text, begin, limits);
    std::string blanked;
    for (int i = 0; i < kMostBlanked && reading.result.Code() == rapidjson::kParseErrorNumberTooBig; ++i) {
        if (blanked.empty()) blanked = tree.text;
        const std::size_t token = begin + reading.result.Offset();
        const std::size_t length =
            std::min(blanked.find_first_not_of("+-.eE0123456789", token), blanked.size()) - token;
        blanked.replace(token, length, length, ' ');
        blanked[token] = '0';
        reading = read_once(tree, blanked, begin, limits);
    }
    return reading;
}

}  // namespace

std::optional<Document> parse(std::string text, std::string source_name, Diagnostics& diagnostics,
                              const Limits& limits) {
    const auto tree = std::make_shared<Tree>();
    tree->source_name = std::move(source_name);
    tree->text = std::move(text);
    const std::string_view view = tree->text;
    const std::size_t begin = detail::byte_order_mark_length(view);

    std::optional<Fault> fault = detail::check_text(view, begin, limits);
    if (fault) {
        report(std::move(*fault), *tree, diagnostics);
        return std::nullopt;
    }
    if (begin > 0) {
        Fault mark =
            make_fault("json.bom", "the file begins with a byte order mark, which was skipped", std::string::npos);
        mark.diagnostic.severity = Severity::warning;
        mark.diagnostic.hint = "Python's json module refuses such a file, so an engine may too";
        report(std::move(mark), *tree, diagnostics);
    }

    Reading reading = read(*tree, begin, limits);
    const Builder& builder = reading.builder;
    const rapidjson::ParseResult& result = reading.result;

    Document document(tree);
    report_duplicates(document, *tree, builder, diagnostics);
    report_numbers(document, *tree, builder, diagnostics);
    if (!result.IsError()) return document;
    report(builder.stop() != Stop::none ? stopped(view, builder, limits)
                                        : syntax_fault(view, builder, result.Code(), begin + result.Offset()),
           *tree, diagnostics);
    return std::nullopt;
}

}  // namespace kvplan::json
