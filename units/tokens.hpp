#pragma once

#include "units/bytes.hpp"
#include "units/quantity.hpp"

namespace kvplan {

using Tokens = Count<struct TokensKind>;
using Requests = Count<struct RequestsKind>;
using Pages = Count<struct PagesKind>;
using Layers = Count<struct LayersKind>;

/// Tokens that fill whole pages: floor(tokens / page) * page.
[[nodiscard]] constexpr Tokens whole_pages(Tokens tokens, Tokens page) {
    return Tokens{round_down(tokens.count(), page.count())};
}

}  // namespace kvplan
