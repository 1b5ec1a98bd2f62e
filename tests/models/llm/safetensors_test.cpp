#include "models/llm/safetensors.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/support/catch.hpp"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

/// A directory of its own, gone at the end.
class Directory {
public:
    Directory() {
        static int counter = 0;
        path_ = fs::temp_directory_path() / ("kvplan_safetensors_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
        fs::create_directories(path_);
    }
    ~Directory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    std::string text(const std::string& name, const std::string& content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
        return (path_ / name).string();
    }
    /// A safetensors file with that header and `data` bytes (a hole) behind it. `claimed`: another header length.
    std::string tensors(const std::string& name, const std::string& header, std::uint64_t data, std::uint64_t claimed = 0) const {
        const std::uint64_t length = claimed > 0 ? claimed : header.size();
        std::string head(8, '\0');
        for (std::size_t i = 0; i < 8; ++i) head[i] = static_cast<char>(length >> (8 * i) & 0xff);
        const std::string path = text(name, head + header);
        fs::resize_file(path, 8 + header.size() + data);
        return path;
    }
    std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

/// The code of the first fault of a file with that header; "" when it is believed.
std::string fault_of(const std::string& header, std::uint64_t data, std::uint64_t claimed = 0) {
    const Directory directory;
    Diagnostics diagnostics;
    const auto sizes = read_safetensors_header(directory.tensors("model.safetensors", header, data, claimed), diagnostics);
    CHECK(sizes.has_value() == !diagnostics.has_errors());
    return diagnostics.empty() ? "" : diagnostics.items().front().code;
}

}  // namespace

TEST_CASE("A header tells elements, bytes and types without the data", "[safetensors]") {
    const Directory directory;
    // 4 x 8 bf16 = 64 bytes, 16 fp8 = 16, a scalar f32 = 4, an empty tensor, 3 halves of bytes in 2
    const std::string header = R"({"__metadata__":{"format":"pt"},)" + entry("model.embed_tokens.weight", "BF16", "4,8", "0,64") + "," +
                               entry("model.layers.7.w", "F8_E4M3", "16", "64,80") + "," + entry("s", "F32", "", "80,84") + "," +
                               entry("empty", "F32", "0,8", "84,84") + "," + entry("lm_head.weight", "F4", "3", "84,86") + "}   ";
    Diagnostics diagnostics;
    const auto sizes = read_safetensors_header(directory.tensors("a.safetensors", header, 86), diagnostics);
    REQUIRE(sizes);
    CHECK(diagnostics.empty());
    CHECK(sizes->bytes == Bytes{86});
    CHECK(sizes->elements == 32 + 16 + 1 + 0 + 3);
    CHECK(sizes->tensors == 5);
    REQUIRE(sizes->by_dtype.size() == 4);
    CHECK(sizes->by_dtype[0].dtype == "BF16");
    CHECK(sizes->by_dtype[0].bytes == Bytes{64});
    CHECK(sizes->names.lm_head);
    CHECK(sizes->names.layers == 8);
    CHECK(sizes->names.embedding_dtype == "BF16");
    CHECK_FALSE(sizes->names.draft_module);
}

TEST_CASE("Hostile headers give a message each", "[safetensors][hostile]") {
    CHECK(fault_of("{}", 0) == "");
    // The length claims more than there is, far more than any file holds, more than is allowed
    CHECK(fault_of("{}", 10, 1000) == "safetensors.truncated");
    CHECK(fault_of("{}", 10, 0xffffffffffffffffULL) == "safetensors.too-large");
    CHECK(fault_of("{}", 10, 100'000'001) == "safetensors.too-large");
    // Data that is not there
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16") + "}", 15) == "safetensors.tensor");
    // Negative, falling, missing, fractional, huge offsets
    CHECK(fault_of("{" + entry("a", "F32", "4", "-16,0") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4", "16,0") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16,32") + "}", 32) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16.5") + "}", 32) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,99999999999999999999999") + "}", 32) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,18446744073709551615") + "}", 32) == "safetensors.tensor");
    // Shapes: negative, too large a product, a product times the type's size too large
    CHECK(fault_of("{" + entry("a", "F32", "-4", "0,16") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4294967296,4294967296", "0,16") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "4611686018427387904", "0,16") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "5", "0,16") + "}", 16) == "safetensors.tensor");
    CHECK(fault_of("{" + entry("a", "F32", "0,4294967296,4294967296", "0,0") + "}", 0) == "");
    // Two tensors on the same bytes; the same name twice
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16") + "," + entry("b", "F32", "4", "8,24") + "}", 24) == "safetensors.overlap");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16") + "," + entry("b", "F32", "4", "0,16") + "}", 16) == "safetensors.overlap");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16") + "," + entry("a", "F32", "4", "16,32") + "}", 32) == "safetensors.header");
    // A hole is told and counted as nothing; an unknown type counts its bytes
    CHECK(fault_of("{" + entry("a", "F32", "4", "8,24") + "}", 24) == "safetensors.gap");
    CHECK(fault_of("{" + entry("a", "F32", "4", "0,16") + "}", 24) == "safetensors.gap");
    CHECK(fault_of("{" + entry("a", "F2_NEW", "4", "0,1") + "}", 1) == "safetensors.dtype");
    // Not what a header is
    for (const char* text : {"", "[]", "5", "null", "\"text\"", "{", R"({"a":5})", R"({"a":[1]})", R"({"a":"b"})", R"({"a":null})",
                             R"({"a":{"dtype":"F32","shape":[[4]],"data_offsets":[0,16]}})", R"({"a":{"b":{"c":{"d":1}}}})", "version "})
        CHECK(fault_of(text, 16) == "safetensors.header");
    CHECK(fault_of(R"({"a":{"shape":[4],"data_offsets":[0,16]}})", 16) == "safetensors.tensor");
    CHECK(fault_of(std::string("{}\0{}", 5), 0) == "safetensors.header");
    CHECK(fault_of(std::string(200'000, '{'), 0) == "safetensors.header");
    CHECK(fault_of("{\"a\":" + std::string(200'000, '['), 0) == "safetensors.header");
}

TEST_CASE("A million tensors in one file are refused", "[safetensors][hostile]") {
    std::string header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
    header.reserve(64'000'000);
    for (int i = 1; i < 1'000'000; ++i) header += ",\"t" + std::to_string(i) + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    CHECK(fault_of(header + "}", 0) == "safetensors.too-large");
}

TEST_CASE("All faults of a header are told", "[safetensors][hostile]") {
    const Directory directory;
    Diagnostics diagnostics;
    CHECK_FALSE(read_safetensors_header(
        directory.tensors("m.safetensors", "{" + entry("a", "F32", "-1", "0,4") + "," + entry("b", "F32", "1", "4,0") + "," + entry("c", "I8", "2", "0,1") + "}", 8),
        diagnostics));
    REQUIRE(diagnostics.items().size() == 3);
    CHECK(diagnostics.items()[2].pointer == "c");
    CHECK(diagnostics.items()[2].expected == "2 elements of I8");
}

TEST_CASE("Files that are none", "[safetensors][hostile]") {
    const Directory directory;
    const auto code = [](const std::string& path) {
        Diagnostics diagnostics;
        CHECK_FALSE(read_safetensors_header(path, diagnostics));
        REQUIRE(diagnostics.items().size() == 1);
        return diagnostics.items().front().code;
    };
    CHECK(code(directory.path() + "/none.safetensors") == "file.missing");
    CHECK(code(directory.path()) == "file.kind");
    CHECK(code("/dev/zero") == "file.kind");
    CHECK(code(directory.text("short.safetensors", "abc")) == "safetensors.truncated");
    CHECK(code(directory.text("empty.safetensors", "")) == "safetensors.truncated");
    CHECK(code(directory.text("pointer.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4976698672\n")) == "safetensors.pointer");
}

TEST_CASE("An index: size, names, files, and its quirks", "[safetensors][index][quirks]") {
    const auto parse = [](const std::string& text, std::size_t faults = 0) {
        Diagnostics diagnostics;
        auto index = parse_safetensors_index(text, "model.safetensors.index.json", diagnostics);
        INFO(render(diagnostics));
        CHECK(diagnostics.items().size() == faults);
        return index;
    };
    const std::string map = R"("weight_map": {"lm_head.weight": "b.safetensors", "model.layers.0.x": "a.safetensors", "model.layers.61.embed_tokens.weight": "a.safetensors"})";
    const auto index = parse(R"({"metadata": {"total_size": 912210767872, "total_parameters": 5}, )" + map + "}");
    REQUIRE(index);
    CHECK(index->total_size == Bytes{912210767872});
    CHECK(index->tensors == 3);
    CHECK(index->files == std::vector<std::string>{"a.safetensors", "b.safetensors"});
    CHECK(index->names.layers == 62);
    CHECK(index->names.embedding_layers == 62);
    CHECK(index->names.lm_head);
    // Nothing said, an empty object, 0, null; a double that is whole
    CHECK_FALSE(parse("{" + map + "}")->total_size);
    CHECK_FALSE(parse(R"({"metadata": {}, )" + map + "}")->total_size);
    CHECK_FALSE(parse(R"({"metadata": {"total_size": 0}, )" + map + "}")->total_size);
    CHECK_FALSE(parse(R"({"metadata": {"total_size": null}, )" + map + "}")->total_size);
    CHECK(parse(R"({"metadata": {"total_size": 15475417088.0}, )" + map + "}")->total_size == Bytes{15475417088});
    CHECK_FALSE(parse(R"({"metadata": {"total_size": -5}, )" + map + "}", 1)->total_size);
    CHECK_FALSE(parse(R"({"metadata": {"total_size": "5"}, )" + map + "}", 1)->total_size);
    CHECK_FALSE(parse(R"({"metadata": {"total_size": 1}})", 1));
    CHECK_FALSE(parse("[]", 1));
    CHECK_FALSE(parse(R"({"weight_map": {"a": 5}})", 1));
    CHECK_FALSE(parse(R"({"weight_map": {"a": "../../etc/passwd"}})", 1));
    CHECK_FALSE(parse(R"({"weight_map": {"a": "b")", 1));
}

TEST_CASE("Draft layers and heads are seen by their names", "[safetensors][index]") {
    TensorNames names;
    names.note("mtp.layers.0.mlp.gate.weight");
    CHECK(names.draft_module);
    CHECK_FALSE(names.draft_embedding);
    names.note("model.mtp.embed_tokens.weight");
    CHECK(names.draft_embedding);
    names.note("model.language_model.layers.3.mlp.gate.weight");
    CHECK(names.layers == 4);
    names.note("vision_tower.layers.90.mlp.gate.weight");
    names.note("model.visual.layers.90.x");
    names.note("model.layers.x");
    names.note("model.layers.99999999999999999999.x");
    CHECK(names.layers == 4);
    CHECK_FALSE(names.lm_head);
    TensorNames mimo;
    mimo.note("model.mtp_layers.0.input_proj.weight");
    CHECK(mimo.draft_module);
}

TEST_CASE("A directory: headers when all files are there, else the index", "[safetensors][directory]") {
    const Directory directory;
    Diagnostics diagnostics;
    CHECK_FALSE(measure_checkpoint(directory.path(), diagnostics));
    CHECK(diagnostics.empty());

    // Without an index: model*.safetensors and not Mistral's second copy of the same weights
    directory.tensors("model-00001-of-00002.safetensors", "{" + entry("a", "BF16", "4", "0,8") + "}", 8);
    directory.tensors("consolidated.safetensors", "{" + entry("a", "BF16", "4", "0,8") + "}", 8);
    auto sizes = measure_checkpoint(directory.path(), diagnostics);
    REQUIRE(sizes);
    CHECK(sizes->bytes == Bytes{8});
    CHECK(sizes->elements == 4);
    CHECK(sizes->files == 1);

    // With an index whose second file is missing: the index's word, and a note
    directory.text("model.safetensors.index.json",
                   R"({"metadata":{"total_size":24},"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})");
    sizes = measure_checkpoint(directory.path(), diagnostics);
    REQUIRE(sizes);
    CHECK(sizes->basis == CheckpointSizes::Basis::index);
    CHECK(sizes->bytes == Bytes{24});
    CHECK_FALSE(sizes->elements);
    REQUIRE(diagnostics.items().size() == 1);
    CHECK(diagnostics.items()[0].code == "safetensors.incomplete");
    CHECK(diagnostics.items()[0].found == "1 of 2 files");

    // A pointer is not the file
    directory.text("model-00002-of-00002.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 16\n");
    CHECK(measure_checkpoint(directory.path(), diagnostics)->basis == CheckpointSizes::Basis::index);

    // Both there: exact, whatever the index says
    directory.tensors("model-00002-of-00002.safetensors", "{" + entry("b", "F32", "5", "0,20") + "}", 20);
    sizes = measure_checkpoint(directory.path(), diagnostics);
    REQUIRE(sizes);
    CHECK(sizes->basis == CheckpointSizes::Basis::headers);
    CHECK(sizes->bytes == Bytes{28});
    CHECK(sizes->elements == 9);
    CHECK(sizes->tensors == 2);
    REQUIRE(sizes->by_dtype.size() == 2);

    // A faulty one is an error
    directory.tensors("model-00002-of-00002.safetensors", "{" + entry("b", "F32", "6", "0,20") + "}", 20);
    CHECK_FALSE(measure_checkpoint(directory.path(), diagnostics));
    CHECK(diagnostics.has_errors());
}

TEST_CASE("163 files with 94,000 tensors take well under a second", "[safetensors][speed]") {
    const Directory directory;
    std::int64_t tensors = 0;
    for (int file = 0; file < 163; ++file) {
        std::string header = R"({"__metadata__":{"format":"pt"})";
        std::uint64_t at = 0;
        for (int i = 0; i < 577; ++i, ++tensors) {
            const std::uint64_t bytes = i % 2 == 0 ? 2048ULL * 7168 : 16ULL * 56 * 4;
            header += "," + entry("model.layers." + std::to_string(file % 61) + ".mlp.experts." + std::to_string(i) + ".down_proj.weight" + std::to_string(file),
                                  i % 2 == 0 ? "F8_E4M3" : "F32", i % 2 == 0 ? "2048,7168" : "16,56", std::to_string(at) + "," + std::to_string(at + bytes));
            at += bytes;
        }
        directory.tensors("model-" + std::to_string(100 + file) + "-of-00163.safetensors", header + "}", at);
    }
    Diagnostics diagnostics;
    const auto start = std::chrono::steady_clock::now();
    const auto sizes = measure_checkpoint(directory.path(), diagnostics);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    REQUIRE(sizes);
    CHECK(diagnostics.empty());
    CHECK(sizes->tensors == tensors);
    // 289 x 163 weights of 2048 x 7168 and 288 x 163 tables of 16 x 56 f32
    CHECK(sizes->bytes == Bytes{std::int64_t{163} * (289LL * 2048 * 7168 + 288LL * 16 * 56 * 4)});
    CHECK(seconds < 2.0);  // a loose bound for busy machines and sanitizers; the benchmark has the real one
    if (std::getenv("KVPLAN_TIMES") != nullptr) WARN("163 headers: " << seconds * 1e3 << " ms");
}
