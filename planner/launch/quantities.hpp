#pragma once

#include <optional>
#include <string_view>

#include "units/bytes.hpp"

namespace kvplan::launch {

/// A Kubernetes quantity: `64G` = 64 x 10^9, `64Gi` = 64 x 2^30, `1e9`, `1500m` (thousandths), a bare number in bytes.
[[nodiscard]] std::optional<Bytes> kubernetes_bytes(std::string_view text);

/// A size as Docker and Compose read it: `64g`, `64gb`, `512m`, `10k`, `7b`, all powers of 2; a bare number in bytes.
[[nodiscard]] std::optional<Bytes> docker_bytes(std::string_view text);

}  // namespace kvplan::launch
