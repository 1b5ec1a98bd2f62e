#include "models/llm/safetensors.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "models/json/document.hpp"
#include "models/llm/safetensors_header.hpp"

namespace kvplan {

namespace {

namespace fs = std::filesystem;
using detail::checkpoint_fault;

constexpr std::string_view kPointerStart = "version ";
constexpr std::string_view kPointerMark = "git-lfs";
constexpr std::string_view kIndexName = "model.safetensors.index.json";

/// A regular file of at least 8 bytes, opened. The size is that of the open moment.
std::optional<std::uint64_t> regular_size(const std::string& path, Diagnostics& diagnostics) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        diagnostics.add(checkpoint_fault(path, "file.missing", "there is no such file"));
        return std::nullopt;
    }
    if (!fs::is_regular_file(status)) {
        diagnostics.add(checkpoint_fault(path, "file.kind", "is no regular file"));
        return std::nullopt;
    }
    const std::uintmax_t size = fs::file_size(path, error);
    if (error || size > static_cast<std::uintmax_t>(std::numeric_limits<std::int64_t>::max())) {
        diagnostics.add(checkpoint_fault(path, "file.unreadable", "its size cannot be read"));
        return std::nullopt;
    }
    return size;
}

std::uint64_t little_endian(const std::array<char, 8>& bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// A checkout without its large files has small texts in their place.
bool is_pointer(std::ifstream& in, std::uint64_t size) {
    if (size > 1024) return false;
    std::string text(static_cast<std::size_t>(size), '\0');
    in.seekg(0);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text.rfind(kPointerStart, 0) == 0 && text.find(kPointerMark) != std::string::npos;
}

Diagnostic truncated(const std::string& path, std::string found, std::string expected) {
    Diagnostic fault = checkpoint_fault(path, "safetensors.truncated", "the file ends too early");
    fault.found = std::move(found);
    fault.expected = std::move(expected);
    fault.hint = "download it again";
    return fault;
}

void merge_types(std::vector<DTypeTotal>& into, const std::vector<DTypeTotal>& from) {
    for (const DTypeTotal& total : from) {
        const auto at = std::lower_bound(into.begin(), into.end(), total.dtype, [](const DTypeTotal& a, const std::string& name) { return a.dtype < name; });
        if (at == into.end() || at->dtype != total.dtype) {
            into.insert(at, total);
            continue;
        }
        at->tensors += total.tensors;
        at->elements = checked_add(at->elements, total.elements);
        at->bytes += total.bytes;
    }
}

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
bool ends(std::string_view text, std::string_view end) { return text.size() >= end.size() && text.substr(text.size() - end.size()) == end; }

/// The files of a checkpoint without an index.
std::vector<std::string> files_in(const std::string& directory) {
    std::vector<std::string> model, others, rest;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename().string();
        if (!ends(name, ".safetensors")) continue;
        if (begins(name, "model"))
            model.push_back(name);
        else if (begins(name, "consolidated") || begins(name, "adapter"))
            rest.push_back(name);
        else
            others.push_back(name);
    }
    std::vector<std::string>& chosen = !model.empty() ? model : !others.empty() ? others : rest;
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

/// Adds up headers; nothing when one is faulty.
std::optional<CheckpointSizes> add_up(const std::string& directory, const std::vector<std::string>& files, Diagnostics& diagnostics,
                                      const SafetensorsLimits& limits) {
    CheckpointSizes sum;
    bool sound = true;
    Bytes bytes;
    std::int64_t elements = 0;
    for (const std::string& file : files) {
        const auto sizes = read_safetensors_header((fs::path(directory) / file).string(), diagnostics, limits);
        if (!sizes) {
            sound = false;
            continue;
        }
        bytes += sizes->bytes;
        elements = checked_add(elements, sizes->elements);
        sum.tensors += sizes->tensors;
        merge_types(sum.by_dtype, sizes->by_dtype);
        sum.names.merge(sizes->names);
    }
    if (!sound) return std::nullopt;
    sum.bytes = bytes;
    sum.elements = elements;
    sum.files = files.size();
    return sum;
}

/// Whether it is there with its tensors (and not as a pointer).
bool is_present(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    std::ifstream in(path, std::ios::binary);
    return !is_pointer(in, fs::file_size(path, error));
}

void note_incomplete(const std::string& directory, std::size_t present, std::size_t all, bool sized, Diagnostics& diagnostics) {
    Diagnostic note = checkpoint_fault(directory, "safetensors.incomplete",
                                       sized ? "not all files of the checkpoint are here; its size is the index's"
                                             : "not all files of the checkpoint are here, and the index tells no size; it is computed from the config",
                                       Severity::note);
    note.found = std::to_string(present) + " of " + std::to_string(all) + " files";
    diagnostics.add(std::move(note));
}

}  // namespace

std::optional<TensorSizes> read_safetensors_header(const std::string& path, Diagnostics& diagnostics, const SafetensorsLimits& limits) {
    const std::optional<std::uint64_t> size = regular_size(path, diagnostics);
    if (!size) return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    std::array<char, 8> head{};
    if (*size < head.size()) {
        diagnostics.add(truncated(path, std::to_string(*size) + " bytes", "at least 8 bytes"));
        return std::nullopt;
    }
    if (!in.read(head.data(), head.size())) {
        diagnostics.add(checkpoint_fault(path, "file.unreadable", "cannot be read"));
        return std::nullopt;
    }
    if (is_pointer(in, *size)) {
        Diagnostic fault = checkpoint_fault(path, "safetensors.pointer", "a Git LFS pointer lies here instead of the file");
        fault.hint = "fetch the file with `git lfs pull`, or leave the index beside the config";
        diagnostics.add(std::move(fault));
        return std::nullopt;
    }
    const std::uint64_t length = little_endian(head);
    const std::uint64_t behind = *size - head.size();
    if (length > limits.max_header_bytes) {
        Diagnostic fault = checkpoint_fault(path, "safetensors.too-large", "the header is too long, or this is no safetensors file");
        fault.found = std::to_string(length) + " bytes";
        fault.expected = "at most " + std::to_string(limits.max_header_bytes) + " bytes";
        diagnostics.add(std::move(fault));
        return std::nullopt;
    }
    if (length > behind) {
        diagnostics.add(truncated(path, "a header of " + std::to_string(length) + " bytes", "at most the " + std::to_string(behind) + " bytes that follow"));
        return std::nullopt;
    }
    std::string json(static_cast<std::size_t>(length), '\0');
    in.seekg(static_cast<std::streamoff>(head.size()));
    if (!in.read(json.data(), static_cast<std::streamsize>(json.size()))) {
        diagnostics.add(checkpoint_fault(path, "file.unreadable", "cannot be read"));
        return std::nullopt;
    }
    return detail::parse_safetensors_header(std::move(json), path, static_cast<std::int64_t>(behind - length), diagnostics, limits);
}

std::optional<SafetensorsIndex> read_safetensors_index(const std::string& path, Diagnostics& diagnostics, const SafetensorsLimits& limits) {
    json::Limits file_limits;
    file_limits.max_bytes = limits.max_index_bytes;
    std::optional<std::string> text = json::read_file(path, diagnostics, file_limits);
    if (!text) return std::nullopt;
    return parse_safetensors_index(*std::move(text), path, diagnostics);
}

std::optional<CheckpointSizes> measure_checkpoint(const std::string& directory, Diagnostics& diagnostics, const SafetensorsLimits& limits) {
    const std::string index_path = (fs::path(directory) / kIndexName).string();
    std::error_code error;
    if (!fs::exists(index_path, error)) {
        std::vector<std::string> files = files_in(directory);
        const std::size_t all = files.size();
        files.erase(std::remove_if(files.begin(), files.end(), [&](const std::string& file) { return !is_present((fs::path(directory) / file).string()); }),
                    files.end());
        if (files.size() == all) return all == 0 ? std::nullopt : add_up(directory, files, diagnostics, limits);
        note_incomplete(directory, files.size(), all, false, diagnostics);
        return std::nullopt;
    }
    const std::optional<SafetensorsIndex> index = read_safetensors_index(index_path, diagnostics, limits);
    if (!index) return std::nullopt;
    const auto present = static_cast<std::size_t>(std::count_if(index->files.begin(), index->files.end(), [&](const std::string& file) {
        return is_present((fs::path(directory) / file).string());
    }));
    if (present == index->files.size() && present > 0) return add_up(directory, index->files, diagnostics, limits);
    if (present > 0) note_incomplete(directory, present, index->files.size(), index->total_size.has_value(), diagnostics);
    CheckpointSizes sizes;
    sizes.basis = CheckpointSizes::Basis::index;
    sizes.bytes = index->total_size;
    sizes.tensors = index->tensors;
    sizes.files = index->files.size();
    sizes.names = index->names;
    return sizes;
}

}  // namespace kvplan
