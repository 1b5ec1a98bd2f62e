#include "tests/accuracy/checkpoint_facts.hpp"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "models/json/reader.hpp"
#include "models/llm/catalogue.hpp"
#include "units/format.hpp"

namespace kvplan::accuracy {

namespace {

double relative(double computed, double published) { return (computed - published) / published; }

/// Elements of the weights themselves, and what a counting adds for packed ones.
struct Extra {
    std::int64_t scales = 0;      ///< elements that are no weights
    std::int64_t words = 0;       ///< 32-bit elements, tables of shapes too when they are of 32 bits
    std::int64_t nibbles = 0;     ///< bytes of two 4-bit elements
};

void add(Extra& extra, const WeightMatrix& matrix, std::int64_t times) {
    if (!matrix.stored) return;
    const Stored one = stored(matrix.format, matrix.rows, matrix.cols);
    const std::int64_t n = times * matrix.count;
    extra.scales += n * (one.elements - one.weight_elements);
    if (matrix.format.scheme == Scheme::packed_int)
        extra.words += n * (one.weight_elements + (matrix.format.shape_type == DType::i32 ? 2 : 0));
    if (matrix.format.scheme == Scheme::mxfp4 || matrix.format.scheme == Scheme::nvfp4) extra.nibbles += n * one.weight_elements;
}

bool is_packed(const StorageFormat& format) { return format.scheme != Scheme::plain && format.bits < 8; }

Counting counting_from(const std::string& name) {
    if (name == "stored") return Counting::stored;
    if (name == "parameters") return Counting::parameters;
    if (name == "without_scales") return Counting::without_scales;
    if (name == "words_times_8") return Counting::words_times_8;
    if (name == "bytes_times_2") return Counting::bytes_times_2;
    throw std::runtime_error("unknown counting " + name);
}

std::string percent(double error) {
    if (std::fabs(error) < 0.5e-6) return "0";
    return (error > 0 ? "+" : "") + fixed(error * 100, 4) + " %";
}

}  // namespace

double CheckpointComparison::elements_error(const CheckpointFact& fact) const {
    return fact.elements ? relative(static_cast<double>(elements), static_cast<double>(*fact.elements)) : 0;
}

double CheckpointComparison::bytes_error(const CheckpointFact& fact) const {
    if (!fact.bytes) return 0;
    const double off = static_cast<double>(bytes - *fact.bytes);
    if (std::fabs(off) <= fact.bytes_rounding) return 0;
    return off / static_cast<double>(*fact.bytes);
}

double CheckpointComparison::active_error(const CheckpointFact& fact) const {
    return fact.active ? relative(static_cast<double>(active), *fact.active) : 0;
}

double CheckpointComparison::active_excess(const CheckpointFact& fact) const {
    if (!fact.active) return 0;
    const double off = std::fabs(static_cast<double>(active) - *fact.active) - fact.active_rounding;
    return off > 0 ? off / *fact.active : 0;
}

CheckpointFact with_active(CheckpointFact fact, const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || std::string(end) != "B") return fact;
    fact.active = value * 1e9;
    const std::size_t dot = text.find('.');
    fact.active_rounding = dot == std::string::npos ? 0.5e9 : 0.5e9 * std::pow(10.0, -static_cast<double>(text.size() - dot - 2));
    return fact;
}

CheckpointComparison compare(const CheckpointFact& fact, const LlmSpec& spec) {
    const ModelTotals sums = totals(spec);
    CheckpointComparison result;
    result.total_params = sums.total_params;
    result.bytes = sums.checkpoint_bytes.count();
    result.active = sums.active_params;
    result.tensors = sums.tensors;
    Extra extra;
    const auto visit = [&](const WeightMatrix& matrix, std::int64_t times) {
        add(extra, matrix, times);
        result.packed = result.packed || (matrix.stored && is_packed(matrix.format));
    };
    for (const int index : spec.layer_class)
        for (const WeightMatrix& matrix : spec.classes[static_cast<std::size_t>(index)].weights) visit(matrix, 1);
    for (const WeightMatrix& matrix : spec.outside) visit(matrix, 1);
    if (spec.draft)
        for (const WeightMatrix& matrix : spec.draft->layer.weights) visit(matrix, spec.draft->layers);
    switch (fact.counting) {
        case Counting::stored: result.elements = sums.stored_elements; break;
        case Counting::parameters: result.elements = sums.total_params; break;
        case Counting::without_scales: result.elements = sums.stored_elements - extra.scales; break;
        case Counting::words_times_8: result.elements = sums.stored_elements + 7 * extra.words; break;
        case Counting::bytes_times_2: result.elements = sums.stored_elements + extra.nibbles; break;
    }
    return result;
}

std::vector<CheckpointFact> own_facts(const std::string& path) {
    Diagnostics diagnostics;
    const auto document = json::parse_file(path, diagnostics);
    if (!document || diagnostics.has_errors()) throw std::runtime_error(render(diagnostics));
    json::Reader reader(diagnostics);
    std::vector<CheckpointFact> facts;
    for (const json::Value& row : document->root()["checkpoints"].elements()) {
        CheckpointFact fact;
        fact.model = reader.required_string(row, {"model"}).value_or("");
        fact.described_by = reader.required_string(row, {"preset"}).value_or("");
        fact.options.quantization = reader.string(row, {"quantization"}).value_or("");
        const json::Value otherwise = reader.object(row, {"stored_otherwise"});
        fact.options = apply_stored(otherwise, std::move(fact.options), reader);
        // Here exceptions go with another format too: they are the repack's.
        if (!fact.options.quantization.empty()) fact.options.extra_ignore = reader.string_list(otherwise, {"keep"}).value_or(std::vector<std::string>{});
        const json::Value facts_given = reader.object(row, {"facts"});
        for (const auto& [name, value] : facts_given.members()) fact.options.facts[std::string(name)] = value.integer().value_or(0);
        fact.counting = counting_from(reader.string(row, {"counting"}).value_or("stored"));
        fact.elements = reader.integer(row, {"elements"}, json::kPositive);
        fact.bytes = reader.integer(row, {"bytes"}, json::kPositive);
        if (const auto gib = reader.number(row, {"gib_2_digits"}, json::kPositiveNumber)) {
            fact.bytes = static_cast<std::int64_t>(std::llround(*gib * static_cast<double>(kGiB)));
            fact.bytes_rounding = 0.005 * static_cast<double>(kGiB) + 1;
        }
        if (const auto active = reader.string(row, {"active"})) fact = with_active(std::move(fact), *active);
        fact.tensors = reader.integer(row, {"tensors"}, json::kPositive);
        fact.source = reader.required_string(row, {"source"}).value_or("");
        fact.note = reader.string(row, {"note"}).value_or("");
        facts.push_back(std::move(fact));
    }
    if (!diagnostics.empty()) throw std::runtime_error(render(diagnostics));
    return facts;
}

std::string markdown_table(const std::vector<CheckpointFact>& facts, const std::vector<CheckpointComparison>& computed) {
    std::string text = "| checkpoint | published elements | off by | published bytes | off by | published active | off by |\n|---|---:|---:|---:|---:|---:|---:|\n";
    for (std::size_t i = 0; i < facts.size(); ++i) {
        const CheckpointFact& fact = facts[i];
        const CheckpointComparison& result = computed[i];
        text += "| " + fact.model + " | ";
        text += fact.elements ? with_commas(*fact.elements) + " | " + percent(result.elements_error(fact)) : std::string(" | ");
        text += " | ";
        text += fact.bytes ? with_commas(*fact.bytes) + " | " + percent(result.bytes_error(fact)) : std::string(" | ");
        text += " | ";
        text += fact.active ? fixed(*fact.active / 1e9, 1) + "e9 | " + (result.active_error(fact) > 0 ? "+" : "") + fixed(result.active_error(fact) * 100, 1) + " %"
                            : std::string(" | ");
        text += " |\n";
    }
    return text;
}

}  // namespace kvplan::accuracy
