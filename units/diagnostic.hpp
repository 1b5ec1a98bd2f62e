// Faults of an input, as data: where, what was found, what was expected, what helps.
//
// Readers collect them and go on, so that all faults of an input are told at once. A Diagnostic may quote anything the
// input held; control characters, bidirectional marks and broken UTF-8 are escaped at the latest by `render`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

enum class Severity { error, warning, note };

/// "error", "warning" or "note".
std::string_view severity_name(Severity severity);

struct Diagnostic {
    Severity severity = Severity::error;
    std::string code;        ///< stable, dotted: "value.range"
    std::string file;        ///< as the user named it; empty for a command line
    std::string pointer;     ///< JSON pointer (RFC 6901) in `file`, or a flag such as "--tp"
    std::size_t line = 0;    ///< 1-based; 0 = unknown
    std::size_t column = 0;  ///< 1-based, in code points; 0 = unknown
    std::string found;
    std::string expected;
    std::string hint;
    std::string message;      ///< one sentence without a full stop
    std::string source_line;  ///< escaped and clipped (see `locate`); empty = no caret
    std::size_t caret = 0;    ///< 0-based display column of the fault in `source_line`
};

/// The place of a byte in a text, ready to be shown.
struct SourcePlace {
    std::size_t line = 1;    ///< 1-based
    std::size_t column = 1;  ///< 1-based, in code points
    std::string source_line;
    std::size_t caret = 0;
};

/// Widest `source_line` that `locate` returns, without its "..." marks.
inline constexpr std::size_t kSourceLineColumns = 120;

/// The line that holds `offset` (clamped to the text), escaped, and clipped to about kSourceLineColumns round the
/// caret.
SourcePlace locate(std::string_view text, std::size_t offset);

/// `diagnostic` with line, column, source line and caret of `offset` in `text`.
Diagnostic with_place(Diagnostic diagnostic, std::string_view text, std::size_t offset);

/// Collects diagnostics in the order they were found. Equal ones are kept once; of very many, the first are kept and
/// the rest counted.
class Diagnostics {
public:
    static constexpr std::size_t kDefaultLimit = 200;

    explicit Diagnostics(std::size_t limit = kDefaultLimit) : limit_(limit) {}

    void add(Diagnostic diagnostic);

    /// Whether an error was added, kept or not.
    bool has_errors() const { return error_count_ > 0; }
    std::size_t error_count() const { return error_count_; }
    bool empty() const { return items_.empty(); }
    const std::vector<Diagnostic>& items() const { return items_; }
    /// How many were added beyond the limit and are not in items().
    std::size_t dropped() const { return dropped_; }

private:
    std::vector<Diagnostic> items_;
    std::size_t limit_;
    std::size_t error_count_ = 0;
    std::size_t dropped_ = 0;
};

/// The text shown to people; ends with a newline. Empty parts are left out:
///
///     config.json:3:18: error[value.range]: num_hidden_layers is out of range
///       "num_hidden_layers": -4,
///                            ^
///       at: /text_config/num_hidden_layers
///       found: -4
///       expected: a positive whole number
///       hint: ...
std::string render(const Diagnostic& diagnostic);

/// Every diagnostic rendered, and a last line with the count of those that were dropped.
std::string render(const Diagnostics& diagnostics);

/// `text` with everything escaped that could change a terminal's state or the apparent order of what is printed:
/// control characters (`\n`, `\t`, `\x1b`), C1 controls, line separators, bidirectional and zero-width marks
/// (`\u202e`), and bytes that are not UTF-8 (`\xff`).
std::string escape_for_terminal(std::string_view text);

/// Up to `max` of `names` that `wrong` may have meant, best first: by Damerau-Levenshtein distance (up to a third of
/// its letters), ignoring case and punctuation; then names that contain it or lie within it ("llama-3" for
/// "llama-3-70b"), or share all its words ("num_layers" for "num_hidden_layers"). Ties keep the order of `names`.
std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string_view> names,
                                       std::size_t max = 3);
std::vector<std::string> nearest_names(std::string_view wrong, std::span<const std::string> names, std::size_t max = 3);

/// "did you mean a, b or c?"; empty for no names.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace kvplan
