// What lies in a checkpoint, from its index or the headers of its *.safetensors files, without touching a tensor.
//
// A safetensors file is 8 bytes (little-endian length of the header), the header (a JSON object: name -> dtype, shape,
// data_offsets), and the data. Source: the format's description in huggingface/safetensors, README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/bytes.hpp"
#include "units/diagnostic.hpp"

namespace kvplan {

struct DTypeTotal {
    std::string dtype;           ///< as the header says: "BF16", "F8_E4M3"
    std::int64_t tensors = 0;
    std::int64_t elements = 0;
    Bytes bytes;
};

/// What the names of tensors tell about a checkpoint besides sizes.
struct TensorNames {
    bool lm_head = false;                 ///< an output head of the main model is stored
    bool draft_module = false;            ///< "mtp.*" or "mtp_layers.*" tensors are stored
    std::int64_t layers = 0;              ///< one more than the highest N of "layers.N."
    std::int64_t embedding_layers = 0;    ///< one more than the highest N of "layers.N.embed_tokens"; 0: none
    bool draft_embedding = false;         ///< "mtp.*" with an embedding of its own
    std::string embedding_dtype;          ///< of the token embedding; empty when only an index was read

    /// Takes one tensor's name (and type, where it is known) into account.
    void note(std::string_view name, std::string_view dtype = {});
    void merge(const TensorNames& other);
};

/// Sizes of one file or of a whole checkpoint.
struct TensorSizes {
    Bytes bytes;                          ///< of all tensors, headers not counted
    std::int64_t elements = 0;            ///< as stored: packed words count once
    std::int64_t tensors = 0;
    std::vector<DTypeTotal> by_dtype;     ///< sorted by name
    TensorNames names;
};

struct SafetensorsLimits {
    std::uint64_t max_header_bytes = 100'000'000;  ///< the format's own limit
    std::size_t max_tensors = 500'000;             ///< of one file; the largest public checkpoint has 497,220 in all its files
    std::size_t max_index_bytes = std::size_t{256} << 20;
};

/// Sizes of the tensors of one file. Every fault is told; nothing when the header cannot be believed.
/// Codes: file.missing, file.kind, file.unreadable, safetensors.pointer (a Git LFS pointer lies there instead of the file),
/// safetensors.truncated, safetensors.header, safetensors.too-large, safetensors.tensor (type, shape, offsets),
/// safetensors.overlap; warnings safetensors.gap, safetensors.dtype.
[[nodiscard]] std::optional<TensorSizes> read_safetensors_header(const std::string& path, Diagnostics& diagnostics,
                                                                 const SafetensorsLimits& limits = {});

struct SafetensorsIndex {
    std::optional<Bytes> total_size;      ///< nothing when absent or 0
    std::int64_t tensors = 0;
    std::vector<std::string> files;       ///< sorted
    TensorNames names;
};

/// model.safetensors.index.json. Codes: as json::read_file's, safetensors.index.
[[nodiscard]] std::optional<SafetensorsIndex> read_safetensors_index(const std::string& path, Diagnostics& diagnostics,
                                                                     const SafetensorsLimits& limits = {});
/// The same from a text. The text is used up.
[[nodiscard]] std::optional<SafetensorsIndex> parse_safetensors_index(std::string text, const std::string& source_name,
                                                                      Diagnostics& diagnostics);

/// A checkpoint directory as far as it is there.
struct CheckpointSizes {
    enum class Basis { headers, index };
    Basis basis = Basis::headers;
    std::optional<Bytes> bytes;           ///< nothing when an index says no size and files are missing
    std::optional<std::int64_t> elements; ///< from headers only
    std::int64_t tensors = 0;
    std::size_t files = 0;
    std::vector<DTypeTotal> by_dtype;
    TensorNames names;
};

/// Headers when all files of the checkpoint are there, else the index. Nothing, silently, when there is neither. With an
/// index its files count; without, `model*.safetensors`, or else all but `consolidated*` and `adapter*` ones.
/// Faulty headers are errors; a checkpoint that is there in part is a note (safetensors.incomplete).
[[nodiscard]] std::optional<CheckpointSizes> measure_checkpoint(const std::string& directory, Diagnostics& diagnostics,
                                                                const SafetensorsLimits& limits = {});

}  // namespace kvplan
