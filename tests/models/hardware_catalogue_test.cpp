#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "models/hardware/gpu_catalogue.hpp"
#include "models/hardware/host_catalogue.hpp"
#include "models/json/document.hpp"
#include "tests/support/catch.hpp"

using namespace kvplan;
namespace fs = std::filesystem;

namespace {

GpuCatalogue embedded() {
    Diagnostics diagnostics;
    auto catalogue = GpuCatalogue::load(std::nullopt, diagnostics);
    INFO(render(diagnostics));
    REQUIRE(diagnostics.empty());
    return catalogue;
}

const GpuSpec& taken(const GpuCatalogue& catalogue, std::string_view name) {
    INFO(name);
    const GpuMatch match = catalogue.find(name);
    REQUIRE(match.gpu != nullptr);
    return *match.gpu;
}

template <class T>
void check_fact(const Fact<T>& fact) {
    CHECK_FALSE(fact.sources.empty());
    CHECK(fact.value > T{});
    CHECK(fact.highest() >= fact.value);
    CHECK(fact.least() <= fact.value);
}

template <class T>
void check_fact(const std::optional<Fact<T>>& fact) {
    if (fact) check_fact(*fact);
}

/// A directory that is gone at the end of the test.
class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("kvplan-hardware-" + std::to_string(std::rand()))) {
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
    std::string path() const { return path_.string(); }

private:
    fs::path path_;
};

}  // namespace

TEST_CASE("Every GPU preset loads, and each of its facts has a source", "[hardware][presets]") {
    const auto catalogue = embedded();
    CHECK(catalogue.all().size() == 42);
    for (const auto& gpu : catalogue.all()) {
        INFO(gpu.name);
        CHECK(gpu.vendor != GpuVendor::other);
        CHECK_FALSE(gpu.architecture.empty());
        CHECK((gpu.vendor == GpuVendor::nvidia) == gpu.sm.has_value());
        CHECK(gpu.gpus_per_node >= 1);
        check_fact(gpu.memory_bandwidth);
        check_fact(gpu.visible_memory);
        check_fact(gpu.process_memory);
        check_fact(gpu.os_visible_memory);
        check_fact(gpu.dense.bf16);
        check_fact(gpu.dense.fp16);
        check_fact(gpu.dense.fp8);
        check_fact(gpu.dense.fp4);
        check_fact(gpu.dense.int8);
        check_fact(gpu.peer_link.each_way);
        check_fact(gpu.tdp_watts);
        REQUIRE(gpu.dense.half().has_value());
        REQUIRE(gpu.pcie.has_value());
        check_fact(gpu.pcie->each_way);
        REQUIRE(host_rate(gpu).has_value());
        // NVIDIA's and AMD's "GB" of a product are close to GiB, B300's the farthest off: 268.6 of 288.
        if (gpu.visible_memory) {
            const double share = in_gib(gpu.visible_memory->value) / static_cast<double>(gpu.nominal_gb);
            CHECK(share > 0.92);
            CHECK(share < 1.03);
        }
        if (gpu.dense.fp8 && gpu.dense.bf16) CHECK(gpu.dense.fp8->value >= gpu.dense.bf16->value);
    }
}

TEST_CASE("Names and aliases belong to one GPU each", "[hardware][presets]") {
    std::set<std::string> seen;
    const auto catalogue = embedded();
    for (const auto& gpu : catalogue.all()) {
        std::vector<std::string> names{gpu.name};
        names.insert(names.end(), gpu.aliases.begin(), gpu.aliases.end());
        names.insert(names.end(), gpu.common_names.begin(), gpu.common_names.end());
        for (const auto& name : names) {
            INFO(gpu.name << ": " << name);
            CHECK(seen.insert(squeezed(name)).second);
        }
    }
}

TEST_CASE("Memory figures are those that nvidia-smi and rocm-smi show", "[hardware][presets]") {
    const auto catalogue = embedded();
    const std::vector<std::pair<const char*, std::int64_t>> mib{
        {"H100 SXM", 81559},  {"H200 SXM", 143771},     {"H20", 97871},
        {"B200 SXM", 183359}, {"A100 SXM 80GB", 81920}, {"L40S", 46068},
        {"RTX 4090", 24564},  {"RTX 5090", 32607},      {"RTX PRO 6000 Blackwell Server", 97887},
        {"B300 SXM", 275040}, {"MI300X", 196592},       {"MI355X", 294896}};
    for (const auto& [name, value] : mib) {
        INFO(name);
        REQUIRE(taken(catalogue, name).visible_memory.has_value());
        CHECK(taken(catalogue, name).visible_memory->value == mebibytes(value));
    }
    // H200: 139.80 GiB of 1,073,741,824 B is 150,109,106,995.2 B.
    CHECK(taken(catalogue, "H200 SXM").process_memory->value == Bytes{150'109'106'995});
    CHECK(taken(catalogue, "MI300X").visible_memory->value == Bytes{206'141'652'992});
    CHECK_FALSE(taken(catalogue, "MI325X").visible_memory->verified);
}

TEST_CASE("Rates are dense, one way, and the ceiling is the highest figure of any source", "[hardware][presets]") {
    const auto catalogue = embedded();
    const auto& h100 = taken(catalogue, "H100 SXM");
    CHECK(h100.memory_bandwidth.value.value == Approx(3.35e12));
    CHECK(h100.dense.bf16->value.value == Approx(989.4e12));
    CHECK(h100.peer_link.each_way->value.value == Approx(450e9));
    CHECK(h100.peer_link.kind == LinkKind::nvlink);
    CHECK(taken(catalogue, "H100 PCIe").memory_bandwidth.highest().value == Approx(2.039e12));
    CHECK(taken(catalogue, "L40S").dense.fp8->value.value == Approx(733e12));  // 1466 is the sparse rate
    CHECK(taken(catalogue, "RTX 4090").dense.fp8->highest().value == Approx(660.6e12));
    CHECK_FALSE(taken(catalogue, "T4").dense.bf16.has_value());
    CHECK(taken(catalogue, "T4").dense.half()->value.value == Approx(65e12));
    CHECK_FALSE(taken(catalogue, "MI300X").dense.fp4.has_value());
    CHECK(taken(catalogue, "RTX PRO 6000 Blackwell Server").sm == ComputeCapability{12, 0});
    CHECK(taken(catalogue, "gb200").gpus_per_node == 4);
    CHECK(taken(catalogue, "gb300").gpus_per_node == 4);
    CHECK(taken(catalogue, "gb10").unified_memory);
    CHECK(host_rate(taken(catalogue, "gh200"))->value.value == Approx(450e9));
    CHECK(host_rate(h100)->value.value == Approx(63e9));
}

TEST_CASE("GPUs are found by the names that people and drivers use", "[hardware][names]") {
    const auto catalogue = embedded();
    const std::vector<std::pair<const char*, const char*>> names{
        {"h100", "H100 SXM"},
        {"NVIDIA H100 80GB HBM3", "H100 SXM"},
        {"h200", "H200 SXM"},
        {"NVIDIA H200", "H200 SXM"},
        {"H200 NVL", "H200 NVL"},
        {"rtx-pro-6000-blackwell", "RTX PRO 6000 Blackwell Server"},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell Workstation"},
        {"a100", "A100 SXM 80GB"},
        {"NVIDIA A100-SXM4-40GB", "A100 SXM 40GB"},
        {"NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"},
        {"NVIDIA GeForce RTX 4090", "RTX 4090"},
        {"h20", "H20"},
        {"NVIDIA B200", "B200 SXM"},
        {"NVIDIA B300 SXM6 AC", "B300 SXM"},
        {"AMD Instinct MI300X", "MI300X"},
        {"mi355x", "MI355X"},
        {"NVIDIA GH200 480GB", "GH200 96GB"},
        {"NVIDIA GH200 144G HBM3e", "GH200 144GB"},
        {"NVIDIA GB10", "DGX Spark GB10"},
        {"Tesla T4", "T4"},
    };
    for (const auto& [asked, name] : names) {
        INFO(asked);
        const GpuMatch match = catalogue.find(asked);
        REQUIRE(match.gpu != nullptr);
        CHECK(match.gpu->name == name);
    }
}

TEST_CASE("A name that was taken for something is told, an ambiguous or unknown one is an error", "[hardware][names]") {
    const auto catalogue = embedded();
    CHECK_FALSE(diagnostic_for(catalogue.find("H100 SXM"), "H100 SXM", "--gpu").has_value());

    const auto note = diagnostic_for(catalogue.find("h100"), "h100", "--gpu");
    REQUIRE(note.has_value());
    CHECK(note->severity == Severity::note);
    CHECK(note->message == "taken as H100 SXM");
    CHECK(note->hint.find("H100 PCIe") != std::string::npos);

    const auto several = diagnostic_for(catalogue.find("rtx"), "rtx", "--gpu");
    REQUIRE(several.has_value());
    CHECK(several->code == "gpu.ambiguous");
    CHECK(several->expected.find("RTX 4090") != std::string::npos);

    const auto none = diagnostic_for(catalogue.find("H1000"), "H1000", "/gpu");
    REQUIRE(none.has_value());
    CHECK(none->code == "gpu.unknown");
    CHECK(none->hint.find("H100 SXM") != std::string::npos);
}

TEST_CASE("A directory of the user's adds GPUs and replaces those of the same name", "[hardware][override]") {
    const Folder folder;
    folder.write("mine.json", R"({"schema": "kvplan.gpus/1", "sources": {"me": "measured here"}, "gpus": [
        {"name": "h100 sxm", "vendor": "NVIDIA", "architecture": "Hopper",
         "memory": {"nominal_gb": 80, "bandwidth_bytes_per_s": {"value": 3.0e12, "sources": ["me"]}}},
        {"name": "X1", "vendor": "AMD", "memory": {"nominal_gb": 64, "visible_mib": {"value": 65000, "sources": ["me"]},
         "bandwidth_bytes_per_s": {"value": 1e12, "sources": ["me"]}}}]})");
    folder.write("other.json", R"({"something": "else"})");
    Diagnostics diagnostics;
    const auto catalogue = GpuCatalogue::load(folder.path(), diagnostics);
    INFO(render(diagnostics));
    CHECK(diagnostics.empty());
    CHECK(catalogue.all().size() == 43);
    CHECK(taken(catalogue, "H100 SXM").memory_bandwidth.value.value == Approx(3.0e12));
    CHECK(taken(catalogue, "x1").visible_memory->value == mebibytes(65000));
}

TEST_CASE("All faults of a hardware file are reported, and the embedded GPUs stay", "[hardware][override]") {
    const Folder folder;
    folder.write("bad.json", R"({"schema": "kvplan.gpus/1", "sources": {"me": "here"}, "gpus": [
        {"name": "A", "vendor": "NVIDIA", "memory": {"nominal_gb": -1, "bandwidth_bytes_per_s": {"value": 1e12, "sources": ["me"]}}},
        {"name": "B", "vendor": "NVIDIA", "memory": {"nominal_gb": 8, "bandwidth_bytes_per_s": {"value": 1e12}}},
        {"name": "C", "vendor": "NVIDIA", "memory": {"nominal_gb": 8, "bandwidth_bytes_per_s": {"value": 1e12, "sources": ["you"]}}},
        {"name": "D", "vendor": "NVIDIA", "memory": {"nominal_gb": 8}},
        {"name": "E", "vendor": "NVIDIA", "memory": {"nominal_gb": 8, "visible_mib": 8000, "bandwidth_bytes_per_s": {"value": 1e12, "sources": ["me"]}},
         "peer_link": {"kind": "string"}}]})");
    Diagnostics diagnostics;
    const auto catalogue = GpuCatalogue::load(folder.path(), diagnostics);
    CHECK(catalogue.all().size() == 42);
    std::multiset<std::string> codes;
    for (const auto& item : diagnostics.items()) codes.insert(item.code);
    INFO(render(diagnostics));
    CHECK(codes.count("value.range") == 1);
    CHECK(codes.count("hardware.no-source") == 1);
    CHECK(codes.count("hardware.unknown-source") == 1);
    CHECK(codes.count("value.missing") == 1);
    CHECK(codes.count("value.type") == 1);
    CHECK(codes.count("value.choice") == 1);
}

TEST_CASE("A hardware directory that does not exist is an error", "[hardware][override]") {
    Diagnostics diagnostics;
    const auto catalogue = GpuCatalogue::load("/nonexistent-kvplan-hardware", diagnostics);
    CHECK(catalogue.all().size() == 42);
    REQUIRE(diagnostics.error_count() == 1);
    CHECK(diagnostics.items().front().code == "hardware.directory");
}

TEST_CASE("Two GPUs cannot share an alias", "[hardware][override]") {
    const Folder folder;
    folder.write("twin.json", R"({"schema": "kvplan.gpus/1", "sources": {"me": "here"}, "gpus": [
        {"name": "Twin", "aliases": ["H-200 SXM"], "vendor": "NVIDIA",
         "memory": {"nominal_gb": 8, "bandwidth_bytes_per_s": {"value": 1e12, "sources": ["me"]}}}]})");
    Diagnostics diagnostics;
    (void)GpuCatalogue::load(folder.path(), diagnostics);
    REQUIRE(diagnostics.error_count() == 1);
    CHECK(diagnostics.items().front().code == "hardware.duplicate-name");
}

TEST_CASE("Every host preset loads, has a source, and names a GPU of the catalogue", "[hardware][presets]") {
    const auto gpus = embedded();
    Diagnostics diagnostics;
    const auto hosts = HostCatalogue::load(std::nullopt, diagnostics);
    CHECK(diagnostics.empty());
    CHECK(hosts.all().size() == 15);
    for (const auto& host : hosts.all()) {
        INFO(host.name);
        CHECK_FALSE(host.sources.empty());
        REQUIRE(host.ram_available.has_value());
        CHECK(*host.ram_available > gibibytes(800));
        CHECK_FALSE(host.ram_total.has_value());
        REQUIRE(host.gpu.has_value());
        const GpuSpec* gpu = gpus.named(*host.gpu);
        REQUIRE(gpu != nullptr);
        CHECK(host.gpus == gpu->gpus_per_node);
    }
    REQUIRE(hosts.find("H200_CW").host != nullptr);
    CHECK(hosts.find("H200_CW").host->ram_available == mebibytes(1998848));
    CHECK(hosts.find("h200").kind == MatchKind::ambiguous);
}

TEST_CASE("Figures agree with the project's reference table where that is at hand", "[hardware][presets]") {
    const char* given = std::getenv("KVPLAN_SHARED_DIR");
    const fs::path folder = given != nullptr ? fs::path(given) : fs::path(KVPLAN_SOURCE_DIR) / ".." / "shared";
    const fs::path file = folder / "data" / "gpus.json";
    if (!fs::exists(file)) return;
    Diagnostics diagnostics;
    const auto document = json::parse_file(file.string(), diagnostics);
    REQUIRE(document.has_value());
    const auto catalogue = embedded();
    std::size_t compared = 0;
    for (const json::Value row : document->root()["gpus"].elements()) {
        const GpuSpec& gpu = taken(catalogue, *row["name"].string());
        if (const auto mib = row["mem_mib_nvidia_smi"].integer()) {
            CHECK(gpu.visible_memory->value == mebibytes(*mib));
            ++compared;
        }
        CHECK(gpu.memory_bandwidth.value.value == Approx(*row["mem_bw_gbs"].number() * 1e9));
        CHECK(gpu.dense.half()->value.value == Approx(*row["bf16_dense_tflops"].number() * 1e12));
        CHECK(gpu.dense.fp8.has_value() == row["fp8_dense_tflops"].has_value());
        CHECK(gpu.dense.fp4.has_value() == row["fp4_dense_tflops"].has_value());
    }
    CHECK(compared >= 35);
}
