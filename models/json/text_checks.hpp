// What can be said against a text before a JSON reader sees it. Internal to models/json.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "models/json/document.hpp"
#include "units/diagnostic.hpp"

namespace kvplan::json::detail {

inline constexpr std::string_view kBlank = " \t\r\n";

/// A Diagnostic in the making, and the byte it is about (npos: the file as a whole).
struct Fault {
    Diagnostic diagnostic;
    std::size_t offset = std::string::npos;
};

Fault make_fault(std::string code, std::string message, std::size_t offset);

/// What stands at `offset`, up to the next blank or punctuation, clipped.
std::string token_at(std::string_view text, std::size_t offset);

/// 3 when `text` begins with UTF-8's byte order mark, else 0.
std::size_t byte_order_mark_length(std::string_view text);

/// Too large, not UTF-8, empty, or plainly something else than JSON. `begin`: where the JSON starts.
std::optional<Fault> check_text(std::string_view text, std::size_t begin, const Limits& limits);

}  // namespace kvplan::json::detail
