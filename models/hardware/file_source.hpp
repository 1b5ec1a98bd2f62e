// Where a probe of a machine reads: the machine itself, or a saved copy.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvplan {

/// Texts by absolute path ("/proc/meminfo"). What programs would print has paths of its own, below "/commands/":
///   nvidia-smi-gpus.csv, nvidia-smi-apps.csv, rocm-smi.csv, df-shm.txt, fuser.txt, gpu-holders.txt
class FileSource {
public:
    FileSource() = default;
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;
    virtual ~FileSource() = default;

    /// The whole text; nothing when there is no such file, or it cannot be read.
    [[nodiscard]] virtual std::optional<std::string> read(const std::string& path) const = 0;
    /// Names in a directory, sorted; empty when there is none.
    [[nodiscard]] virtual std::vector<std::string> list(const std::string& directory) const = 0;
};

/// This machine. Runs nvidia-smi, rocm-smi, df and fuser (each for 10 s at most), which only read; nothing is changed.
[[nodiscard]] std::unique_ptr<FileSource> live_source();

/// A saved copy below `root`.
[[nodiscard]] std::unique_ptr<FileSource> saved_source(std::string root);

/// Texts in memory, for tests; also what recording() fills.
using FileTexts = std::map<std::string, std::string>;
[[nodiscard]] std::unique_ptr<FileSource> memory_source(FileTexts texts);

/// Reads through `inner` and notes every text that was found.
[[nodiscard]] std::unique_ptr<FileSource> recording(const FileSource& inner, FileTexts& texts);

}  // namespace kvplan
