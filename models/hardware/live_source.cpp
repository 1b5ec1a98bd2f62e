#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string_view>

#include "models/hardware/file_source.hpp"

extern char** environ;

namespace kvplan {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::chrono::seconds kPatience{10};  // a driver that hangs must not hang the doctor

/// A file descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

/// Reads until the end, an error, too much, or `deadline`; true at the end.
bool drain(int fd, std::string& text, std::chrono::steady_clock::time_point deadline) {
    char buffer[8192];
    while (text.size() < kMostBytes) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd waiting{fd, POLLIN, 0};
        if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) <= 0) return false;
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got == 0) return true;
        if (got < 0) return false;
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return true;
}

/// What a program prints, both streams together (fuser writes its table to both); nothing when it cannot be run or hangs.
std::optional<std::string> output_of(std::vector<std::string> words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    Descriptor out(ends[0]), in(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, in.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, in.get(), 2);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return std::nullopt;
    in.close();
    std::string text;
    const bool ended = drain(out.get(), text, std::chrono::steady_clock::now() + kPatience);
    if (!ended) ::kill(child, SIGTERM);  // our own child only
    int status = 0;
    ::waitpid(child, &status, ended ? 0 : WNOHANG);
    if (!ended || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) return std::nullopt;
    return text;
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    DIR* handle = ::opendir(directory.c_str());
    if (handle == nullptr) return names;
    while (const dirent* entry = ::readdir(handle)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    ::closedir(handle);
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::string> file_text(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return std::nullopt;
    std::string text;
    return drain(file.get(), text, std::chrono::steady_clock::now() + kPatience) ? std::optional<std::string>(std::move(text)) : std::nullopt;
}

bool is_gpu_device(const std::string& path) {
    return path.compare(0, 11, "/dev/nvidia") == 0 || path == "/dev/kfd" || path.compare(0, 16, "/dev/dri/renderD") == 0;
}

/// Who has a GPU's device open: "PID DEVICE COMMAND" a line. Only processes of this PID namespace can be seen.
std::string gpu_holders() {
    std::string text;
    for (const std::string& pid : names_in("/proc")) {
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        std::vector<std::string> devices;
        for (const std::string& fd : names_in("/proc/" + pid + "/fd")) {
            char target[256];
            const ssize_t length = ::readlink(("/proc/" + pid + "/fd/" + fd).c_str(), target, sizeof target);
            if (length > 0 && is_gpu_device(std::string(target, static_cast<std::size_t>(length)))) devices.emplace_back(target, static_cast<std::size_t>(length));
        }
        std::sort(devices.begin(), devices.end());
        devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
        std::string command = devices.empty() ? "" : file_text("/proc/" + pid + "/comm").value_or("?");
        while (!command.empty() && command.back() == '\n') command.pop_back();
        for (const std::string& device : devices) text += pid + " " + device + " " + command + "\n";
    }
    return text;
}

/// Of an environment only what says which container this is: the rest may hold secrets, and copies are handed on.
std::string container_entry(std::string_view environment) {
    while (!environment.empty()) {
        const std::string_view entry = environment.substr(0, environment.find('\0'));
        environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
        if (entry.substr(0, 10) == "container=") return std::string(entry);
    }
    return {};
}

class LiveSource final : public FileSource {
public:
    std::optional<std::string> read(const std::string& path) const override {
        if (path == "/proc/1/environ") {
            const auto environment = file_text(path);
            return environment ? std::optional<std::string>(container_entry(*environment)) : std::nullopt;
        }
        if (path.compare(0, 10, "/commands/") != 0) return file_text(path);
        const std::string command = path.substr(10);
        if (command == "nvidia-smi-gpus.csv")
            return output_of({"nvidia-smi", "--query-gpu=index,name,memory.total,memory.used,memory.free,pci.bus_id", "--format=csv"});
        if (command == "nvidia-smi-apps.csv") return output_of({"nvidia-smi", "--query-compute-apps=gpu_bus_id,pid,used_memory,process_name", "--format=csv"});
        if (command == "rocm-smi.csv") return output_of({"rocm-smi", "--showmeminfo", "vram", "--showproductname", "--csv"});
        if (command == "df-shm.txt") return output_of({"df", "-B1", "/dev/shm"});
        if (command == "gpu-holders.txt") return gpu_holders();
        if (command != "fuser.txt") return std::nullopt;
        std::vector<std::string> words = {"fuser", "-v"};
        for (const std::string& name : names_in("/dev"))
            if (name.compare(0, 6, "nvidia") == 0 && name.size() > 6 && name.find_first_not_of("0123456789", 6) == std::string::npos) words.push_back("/dev/" + name);
        return words.size() > 2 ? output_of(std::move(words)) : std::nullopt;
    }
    std::vector<std::string> list(const std::string& directory) const override { return names_in(directory); }
};

}  // namespace

std::unique_ptr<FileSource> live_source() { return std::make_unique<LiveSource>(); }

}  // namespace kvplan
