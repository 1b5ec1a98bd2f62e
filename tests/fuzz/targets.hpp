// Readers of untrusted input, each as one function over bytes. None may crash, hang, or take memory out of proportion.
#pragma once

#include <span>
#include <string_view>

namespace kvplan::fuzz {

struct Target {
    std::string_view name;             // also the folder of its corpus
    void (*run)(std::string_view bytes);
};

/// config, safetensors_header, safetensors_index, scenario, launch, log, trace, text, doctor.
[[nodiscard]] std::span<const Target> targets();
[[nodiscard]] const Target* find_target(std::string_view name);

}  // namespace kvplan::fuzz
