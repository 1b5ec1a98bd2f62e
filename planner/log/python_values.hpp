#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvplan::logs {

/// A value as Python's repr() writes it.
struct PythonValue {
    enum class Kind { none, boolean, number, text, other };
    Kind kind = Kind::other;
    std::string text;    // of a string without quotes and escapes; else as written: "True", "0.886", "[1, 2]"
};

struct PythonMember {
    std::string key;
    PythonValue value;
};

struct PythonMembers {
    std::vector<PythonMember> members;
    bool complete = false;    // the closing bracket was found
};

/// The members of `key=value, key=value, …)` or `'key': value, …}` after the opening bracket. Nested brackets and quotes
/// ('it\'s', "it's") do not end a value; enum forms (<A.b: 'c'>) are kept as text. A text that was cut gives the members
/// before the cut.
[[nodiscard]] PythonMembers read_python_members(std::string_view text);

}  // namespace kvplan::logs
