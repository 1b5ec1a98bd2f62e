// Published sizes of checkpoints against what the model library computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/json/document.hpp"
#include "models/llm/hf_config.hpp"

namespace kvplan::accuracy {

/// What a published number counts.
enum class Counting {
    stored,          ///< elements as stored: packed words and scales too
    parameters,      ///< logical parameters
    without_scales,  ///< elements as stored, scales left out (torch's num_parameters)
    words_times_8,   ///< as stored, each 32-bit word as eight
    bytes_times_2,   ///< as stored, each byte of two 4-bit elements as two
};

/// One published fact.
struct CheckpointFact {
    std::string model;                        ///< as published
    std::string described_by;                 ///< preset, or config file
    ReadOptions options;                      ///< what this release stores otherwise than the description says
    Counting counting = Counting::stored;
    std::optional<std::int64_t> elements;
    std::optional<std::int64_t> bytes;
    double bytes_rounding = 0;                ///< what the published bytes may be off by because of their digits
    std::optional<double> active;             ///< published active parameters
    double active_rounding = 0;               ///< half a unit of its last digit: "3B" is anything from 2.5e9
    std::optional<std::int64_t> tensors;
    std::string source, note;
};

/// A fact beside what was computed.
struct CheckpointComparison {
    std::int64_t elements = 0;                ///< in the fact's counting
    std::int64_t total_params = 0;
    std::int64_t bytes = 0;
    std::int64_t active = 0;
    std::int64_t tensors = 0;
    bool packed = false;                      ///< several parameters in one stored element

    [[nodiscard]] double elements_error(const CheckpointFact& fact) const;  ///< relative, signed
    [[nodiscard]] double bytes_error(const CheckpointFact& fact) const;     ///< beyond the rounding, relative, signed
    [[nodiscard]] double active_error(const CheckpointFact& fact) const;    ///< relative, signed, rounding included
    [[nodiscard]] double active_excess(const CheckpointFact& fact) const;   ///< beyond the rounding, relative
};

[[nodiscard]] CheckpointComparison compare(const CheckpointFact& fact, const LlmSpec& spec);

/// "37B", "5.1B" into the fact; anything else (a range) leaves it without a figure.
[[nodiscard]] CheckpointFact with_active(CheckpointFact fact, const std::string& text);

/// The project's own facts (tests/accuracy/data/checkpoints.json). Throws std::runtime_error when the file is faulty.
[[nodiscard]] std::vector<CheckpointFact> own_facts(const std::string& path);

/// The table of docs/accuracy.md.
[[nodiscard]] std::string markdown_table(const std::vector<CheckpointFact>& facts, const std::vector<CheckpointComparison>& computed);

}  // namespace kvplan::accuracy
