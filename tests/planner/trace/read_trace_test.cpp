#include <cstdint>
#include <initializer_list>

#include "planner/trace/byte_source.hpp"
#include "planner/trace/request_scanner.hpp"
#include "tests/planner/trace/support.hpp"

using namespace kvplan;
using namespace kvplan::trace;
using kvplan::trace::test::line;
using kvplan::trace::test::TemporaryFile;
using kvplan::trace::test::trace_of;

namespace {

std::string bytes(std::initializer_list<int> values) {
    std::string text;
    for (const int value : values) text += static_cast<char>(value);
    return text;
}

// {"timestamp": 5, "input_length": 600, "output_length": 7, "hash_ids": [1, 2]} and a line end, packed by the tools.
const std::string kOneLine = "{\"timestamp\": 5, \"input_length\": 600, \"output_length\": 7, \"hash_ids\": [1, 2]}\n";

struct Read {
    std::optional<Trace> trace;
    Diagnostics diagnostics;
};

Read read(const std::string& content, ReadOptions options = {}) {
    const TemporaryFile file(content);
    Read result;
    result.trace = read_trace({file.path()}, options, result.diagnostics);
    return result;
}

}  // namespace

TEST_CASE("a Mooncake line gives lengths, time in milliseconds and blocks", "[trace][read]") {
    const Trace trace = trace_of(kOneLine);
    REQUIRE(trace.requests.size() == 1);
    REQUIRE(trace.requests[0].input == 600);
    REQUIRE(trace.requests[0].output == 7);
    REQUIRE(trace.requests[0].time_us == 5000);
    REQUIRE(trace.requests[0].blocks == 2);
    REQUIRE(trace.block_tokens == 512);
    REQUIRE(trace.block_weight(trace.requests[0], 0) == 512);
    REQUIRE(trace.block_weight(trace.requests[0], 1) == 88);
}

TEST_CASE("a Bailian line counts seconds and blocks of 16 tokens", "[trace][read]") {
    const Trace trace = trace_of(
        "{\"chat_id\": 3, \"parent_chat_id\": -1, \"timestamp\": 1.5, \"input_length\": 40, \"output_length\": 2, "
        "\"type\": \"text\", \"turn\": 1, \"hash_ids\": [7, 8, 9]}\n");
    REQUIRE(trace.requests[0].time_us == 1'500'000);
    REQUIRE(trace.block_tokens == 16);
    REQUIRE(trace.block_weight(trace.requests[0], 2) == 8);
}

TEST_CASE("tables of lengths are read by the names in their header", "[trace][read]") {
    const Trace azure = trace_of(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,31,8\n");
    REQUIRE(azure.requests.size() == 2);
    REQUIRE(azure.requests[0].input == 4808);
    REQUIRE(azure.requests[1].output == 8);
    REQUIRE(azure.requests[1].time_us - azure.requests[0].time_us == 52'000);
    REQUIRE_FALSE(azure.has_blocks());
    const Trace burst = trace_of(
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n");
    REQUIRE(burst.requests[0].input == 472);
    REQUIRE(burst.requests[0].output == 18);
    REQUIRE(burst.requests[0].time_us == 5'000'000);
    const Trace vidur = trace_of("num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n3772,54,3826,69.85\n");
    REQUIRE(vidur.requests[0].input == 3772);
    REQUIRE_FALSE(vidur.has_times);
}

TEST_CASE("an SGLang log gives its finished requests", "[trace][read]") {
    const Trace trace = trace_of(
        "[2025-10-01 21:25:34] Receive: obj=GenerateReqInput(rid='a')\n"
        "[2025-10-01 21:25:35] Finish: obj=GenerateReqInput(rid='a'), out={'text': \"'prompt_tokens': 9\", 'meta_info': "
        "{'id': 'a', 'prompt_tokens': 50, 'completion_tokens': 97, 'cached_tokens': 11}}\n");
    REQUIRE(trace.requests.size() == 1);
    REQUIRE(trace.requests[0].input == 50);
    REQUIRE(trace.requests[0].output == 97);
    REQUIRE(trace.cached_tokens == 11);
    const Trace dump = trace_of("{\"request\": {\"x\": [1, {\"y\": \"}\"}]}, \"meta_info\": {\"prompt_tokens\": 5, "
                                "\"completion_tokens\": 6, \"cached_tokens\": 4}}\n");
    REQUIRE(dump.requests[0].output == 6);
    REQUIRE(dump.cached_tokens == 4);
}

TEST_CASE("dates count from 1970 and know their offset", "[trace][read]") {
    // 2000-03-01 is day 11017 (30 years, 7 leap days, 31 + 29 days); 01:00 there is midnight here.
    REQUIRE(parse_date_us("2000-03-01 00:00:00") == std::int64_t{11017} * 86'400'000'000);
    REQUIRE(parse_date_us("2000-03-01T01:00:00.25+01:00") == std::int64_t{11017} * 86'400'000'000 + 250'000);
    REQUIRE(parse_date_us("1970-01-01T00:00:01Z") == 1'000'000);
    REQUIRE_FALSE(parse_date_us("2000-13-01 00:00:00").has_value());
    REQUIRE_FALSE(parse_date_us("yesterday, at noon ...").has_value());
}

TEST_CASE("a faulty line is named with its number and left out, or stops a strict reading", "[trace][read]") {
    const std::string text = line(0, 100, 1, {1}) + "{\"timestamp\": 1, \"input_length\": -4}\n" + line(2, 100, 1, {2}) +
                             "{\"timestamp\": 3, \"output_length\": 4}\n" + "{\"timestamp\": 4, \"input_length\": 6\n";
    const Read lenient = read(text);
    REQUIRE(lenient.trace.has_value());
    REQUIRE(lenient.trace->requests.size() == 2);
    REQUIRE(lenient.trace->reading.faulty_lines == 3);
    REQUIRE(lenient.diagnostics.items().size() == 3);
    REQUIRE(lenient.diagnostics.items()[0].line == 2);
    REQUIRE(lenient.diagnostics.items()[0].column == 34);  // the minus sign
    REQUIRE(lenient.diagnostics.items()[1].line == 4);
    REQUIRE(lenient.diagnostics.items()[2].line == 5);
    REQUIRE_FALSE(lenient.diagnostics.has_errors());
    ReadOptions strict;
    strict.strict = true;
    const Read stopped = read(text, strict);
    REQUIRE_FALSE(stopped.trace.has_value());
    REQUIRE(stopped.diagnostics.error_count() == 1);
    REQUIRE(stopped.diagnostics.items()[0].line == 2);
}

TEST_CASE("malformed JSON never reads past its line", "[trace][read]") {
    JsonLineScanner scanner;
    for (std::size_t length = 0; length + 2 < kOneLine.size(); ++length) {
        const std::string cut = kOneLine.substr(0, length);  // a copy, so that a sanitizer sees an overrun
        REQUIRE(scanner.scan(cut).has_value());
    }
    for (const char* text : {"{\"hash_ids\": [1 2]}", "{\"hash_ids\": [1.5]}", "{\"hash_ids\": [99999999999999999999]}",
                             "{\"input_length\": 1e3}", "{\"input_length\": 12.5}", "{\"a\": [}", "{\"a\": }", "[1]", "{\"a\" 1}",
                             "{\"input_length\": 99999999999}", "{} x"})
        REQUIRE(scanner.scan(text).has_value());
    REQUIRE_FALSE(scanner.scan("{\"input_length\": 12.0, \"x\": \"a\\\"}\", \"hash_ids\": [18446744073709551615, \"ab\"]}"));
    REQUIRE(scanner.request().input_tokens == 12);
    REQUIRE(scanner.request().ids[0] == ~std::uint64_t{0});
    REQUIRE(scanner.request().ids.size() == 2);
}

TEST_CASE("numbers of any number of digits are read exactly", "[trace][read]") {
    JsonLineScanner scanner;
    std::string text = "{\"hash_ids\": [0";
    std::vector<std::uint64_t> expected{0};
    for (std::uint64_t value = 1; value < 1'000'000'000'000'000'000U; value = value * 10 + value % 7) {
        expected.push_back(value);
        text += ", " + std::to_string(value);
    }
    text += "]}";
    REQUIRE_FALSE(scanner.scan(text).has_value());
    REQUIRE(scanner.request().ids == expected);
}

TEST_CASE("several files are one trace, and disorder is sorted, ties kept", "[trace][read]") {
    const TemporaryFile later(line(10, 100, 1, {1}) + line(10, 200, 1, {1}));
    const TemporaryFile earlier(line(5, 300, 1, {2}) + line(10, 400, 1, {2}));
    Diagnostics diagnostics;
    const auto trace = read_trace({later.path(), earlier.path()}, {}, diagnostics);
    REQUIRE(trace.has_value());
    REQUIRE(trace->requests.size() == 4);
    REQUIRE(trace->reading.ties == 1);
    REQUIRE(trace->reading.disordered == 1);
    REQUIRE(trace->reading.sorted);
    REQUIRE(trace->requests[0].input == 300);
    REQUIRE(trace->requests[1].input == 100);
    REQUIRE(trace->requests[2].input == 200);
    REQUIRE(trace->requests[3].input == 400);
    ReadOptions as_is;
    as_is.keep_file_order = true;
    const auto kept = read_trace({later.path(), earlier.path()}, as_is, diagnostics);
    REQUIRE(kept->requests[0].input == 100);
}

TEST_CASE("the block size follows from lengths and numbers of ids", "[trace][read]") {
    REQUIRE(infer_block_tokens({{6758, 14}, {7322, 15}}) == 512);
    REQUIRE(infer_block_tokens({{200, 13}, {1000, 63}}) == 16);
    REQUIRE(infer_block_tokens({{300, 3}, {950, 10}}) == 100);
    REQUIRE(infer_block_tokens({{130, 3}, {200, 4}, {640, 10}}) == 64);
    REQUIRE(infer_block_tokens({{100, 1}}) == 512);
    // Whole blocks only: floor(tokens / 64).
    REQUIRE(infer_block_tokens({{127, 1}, {130, 2}, {200, 3}, {1000, 15}}) == 64);
    REQUIRE(infer_block_tokens({}) == 0);
}

TEST_CASE("blocks join into pages by the last id of each", "[trace][read]") {
    // Blocks of 4: 1 2 | 3 4 | 5 and 1 2 | 3 6. Pages of 8: (2)(4)(5) and (2)(6): the first page is shared.
    ReadOptions options;
    options.block_tokens = 4;
    options.page_tokens = 8;
    const Trace trace = trace_of(line(0, 18, 1, {1, 2, 3, 4, 5}) + line(1, 16, 1, {1, 2, 3, 6}), options);
    REQUIRE(trace.block_tokens == 8);
    REQUIRE(trace.source_block_tokens == 4);
    REQUIRE(trace.forest.size() == 4);
    REQUIRE(trace.requests[0].blocks == 3);
    REQUIRE(trace.block_weight(trace.requests[0], 2) == 2);
    // Whole blocks only: 18 tokens, 4 ids cover 16 of them, so nothing of the third page is known.
    const Trace whole = trace_of(line(0, 18, 1, {1, 2, 3, 4}), options);
    REQUIRE(whole.requests[0].blocks == 2);
    REQUIRE(whole.requests[0].identified == 16);
    REQUIRE(whole.reading.short_of_ids == 1);
    options.page_tokens = 6;
    const Read uneven = read(line(0, 18, 1, {1, 2, 3, 4, 5}), options);
    REQUIRE_FALSE(uneven.trace.has_value());
}

TEST_CASE("compressed files are told by their first bytes", "[trace][read]") {
    const std::string gzip = bytes({0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0x2a, 0xc9, 0xcc, 0x4d,
           0x2d, 0x2e, 0x49, 0xcc, 0x2d, 0x50, 0xb2, 0x52, 0x30, 0xd5, 0x51, 0x50, 0xca, 0xcc, 0x2b, 0x28,
           0x2d, 0x89, 0xcf, 0x49, 0xcd, 0x4b, 0x2f, 0xc9, 0x00, 0x0a, 0x99, 0x19, 0x18, 0x00, 0x05, 0xf3,
           0x4b, 0x4b, 0x50, 0x44, 0xcd, 0x81, 0x62, 0x19, 0x89, 0xc5, 0x19, 0xf1, 0x99, 0x29, 0xc5, 0x40,
           0x6e, 0xb4, 0xa1, 0x8e, 0x82, 0x51, 0x6c, 0x2d, 0x17, 0x00, 0x00, 0x81, 0x15, 0x6a, 0x4e, 0x00,
           0x00, 0x00});
    const std::string xz = bytes({0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
           0x0c, 0x00, 0x00, 0x00, 0x8f, 0x98, 0x41, 0x9c, 0xe0, 0x00, 0x4d, 0x00, 0x43, 0x5d, 0x00, 0x3d,
           0x88, 0x8a, 0x86, 0xd4, 0x15, 0xf8, 0xe4, 0xe0, 0xe8, 0x1b, 0x9a, 0xca, 0x29, 0x4f, 0x65, 0xb0,
           0x72, 0x74, 0x5e, 0x42, 0x99, 0x08, 0xa3, 0x9e, 0xb7, 0x72, 0xae, 0x2e, 0x2a, 0xfd, 0xae, 0x16,
           0xd6, 0x66, 0x58, 0xc0, 0xc9, 0x34, 0x27, 0x1a, 0x54, 0xc2, 0x9f, 0x52, 0x55, 0xfa, 0x21, 0x5c,
           0x98, 0x15, 0x31, 0x58, 0x22, 0x67, 0x9b, 0x85, 0xf8, 0x64, 0xf0, 0x4b, 0x4d, 0xde, 0xe0, 0x39,
           0x00, 0x00, 0x00, 0x00, 0x82, 0x5d, 0xe0, 0xf8, 0x7b, 0xd9, 0x7a, 0x19, 0x00, 0x01, 0x5f, 0x4e,
           0x27, 0x98, 0xc1, 0x8c, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a});
    const std::string zstd = bytes({0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x4d, 0x02, 0x00, 0x14, 0x04, 0x7b, 0x22, 0x74, 0x69, 0x6d,
           0x65, 0x73, 0x74, 0x61, 0x6d, 0x70, 0x22, 0x3a, 0x20, 0x35, 0x2c, 0x20, 0x22, 0x69, 0x6e, 0x70,
           0x75, 0x74, 0x5f, 0x6c, 0x65, 0x6e, 0x67, 0x74, 0x68, 0x22, 0x3a, 0x20, 0x36, 0x30, 0x30, 0x2c,
           0x20, 0x22, 0x6f, 0x75, 0x74, 0x37, 0x2c, 0x20, 0x22, 0x68, 0x61, 0x73, 0x68, 0x5f, 0x69, 0x64,
           0x73, 0x22, 0x3a, 0x20, 0x5b, 0x31, 0x2c, 0x20, 0x32, 0x5d, 0x7d, 0x0a, 0x01, 0x00, 0xca, 0x63,
           0x96, 0x01, 0x08, 0xbc, 0x38, 0xaa});
    for (const std::string& packed : {gzip, xz, zstd}) {
        for (const std::string& text : {packed, packed + packed}) {  // members one after the other
            const Read whole = read(text);
            INFO(render(whole.diagnostics));
            REQUIRE(whole.trace.has_value());
            REQUIRE(whole.trace->requests.size() == text.size() / packed.size());
            REQUIRE(whole.trace->requests.back().input == 600);
        }
        const Read cut = read(packed.substr(0, packed.size() - 20));
        REQUIRE_FALSE(cut.trace.has_value());
        REQUIRE(cut.diagnostics.has_errors());
    }
    const Read damaged = read(bytes({0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xff, 0xff, 0xff, 0xff}));
    REQUIRE_FALSE(damaged.trace.has_value());
    REQUIRE(damaged.diagnostics.items()[0].message.find("damaged") != std::string::npos);
}

TEST_CASE("an absent, an empty and a meaningless file are faults", "[trace][read]") {
    Diagnostics diagnostics;
    REQUIRE_FALSE(read_trace({"/nonexistent/trace.jsonl"}, {}, diagnostics).has_value());
    REQUIRE(diagnostics.items()[0].code == "file.open");
    REQUIRE_FALSE(read("").trace.has_value());
    REQUIRE(read("nothing of use\n").diagnostics.items()[0].code == "trace.empty");
}
