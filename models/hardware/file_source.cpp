#include "models/hardware/file_source.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace kvplan {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;

class SavedSource final : public FileSource {
public:
    explicit SavedSource(std::string root) : root_(std::move(root)) {}

    std::optional<std::string> read(const std::string& path) const override {
        std::error_code error;
        const std::filesystem::path full = root_ + path;
        if (!std::filesystem::is_regular_file(full, error)) return std::nullopt;
        std::ifstream file(full, std::ios::binary);
        if (!file) return std::nullopt;
        std::string text;
        char buffer[8192];
        while (text.size() < kMostBytes && (file.read(buffer, sizeof buffer), file.gcount() > 0)) text.append(buffer, static_cast<std::size_t>(file.gcount()));
        return text;
    }

    std::vector<std::string> list(const std::string& directory) const override {
        std::vector<std::string> names;
        std::error_code error;
        for (std::filesystem::directory_iterator it(root_ + directory, error), end; !error && it != end; it.increment(error))
            names.push_back(it->path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    std::string root_;
};

class MemorySource final : public FileSource {
public:
    explicit MemorySource(FileTexts texts) : texts_(std::move(texts)) {}

    std::optional<std::string> read(const std::string& path) const override {
        const auto found = texts_.find(path);
        return found == texts_.end() ? std::nullopt : std::optional<std::string>(found->second);
    }

    std::vector<std::string> list(const std::string& directory) const override {
        std::set<std::string> names;
        const std::string prefix = directory + "/";
        for (auto it = texts_.lower_bound(prefix); it != texts_.end() && it->first.compare(0, prefix.size(), prefix) == 0; ++it)
            names.insert(it->first.substr(prefix.size(), it->first.find('/', prefix.size()) - prefix.size()));
        return {names.begin(), names.end()};
    }

private:
    FileTexts texts_;
};

class RecordingSource final : public FileSource {
public:
    RecordingSource(const FileSource& inner, FileTexts& texts) : inner_(&inner), texts_(&texts) {}

    std::optional<std::string> read(const std::string& path) const override {
        auto text = inner_->read(path);
        if (text) (*texts_)[path] = *text;
        return text;
    }
    std::vector<std::string> list(const std::string& directory) const override { return inner_->list(directory); }

private:
    const FileSource* inner_;
    FileTexts* texts_;
};

}  // namespace

std::unique_ptr<FileSource> saved_source(std::string root) {
    while (root.size() > 1 && root.back() == '/') root.pop_back();
    return std::make_unique<SavedSource>(std::move(root));
}

std::unique_ptr<FileSource> memory_source(FileTexts texts) { return std::make_unique<MemorySource>(std::move(texts)); }

std::unique_ptr<FileSource> recording(const FileSource& inner, FileTexts& texts) { return std::make_unique<RecordingSource>(inner, texts); }

}  // namespace kvplan
