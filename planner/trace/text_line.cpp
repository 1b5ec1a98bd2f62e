// Comma-separated traces and server logs: lengths only, so their speed does not matter.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "planner/trace/request_scanner.hpp"
#include "units/ascii.hpp"
#include "units/parse.hpp"

namespace kvplan::trace {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    return text;
}

/// Lower case, letters and digits only: "Request tokens" and "request_tokens" are one name.
std::string column_name(std::string_view text) {
    std::string name;
    for (const char c : text)
        if (is_alnum(c)) name += lower(c);
    return name;
}

struct Field {
    std::string_view text;
    std::size_t offset = 0;
};

std::vector<Field> split(std::string_view line) {
    std::vector<Field> fields;
    std::size_t start = 0;
    bool quoted = false;
    for (std::size_t i = 0; i <= line.size(); ++i) {
        if (i < line.size() && line[i] == '"') quoted = !quoted;
        if (i == line.size() || (line[i] == ',' && !quoted)) {
            fields.push_back({trimmed(line.substr(start, i - start)), start});
            start = i + 1;
        }
    }
    return fields;
}

std::optional<std::int64_t> whole(std::string_view text) {
    double value = 0.0;
    const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || next != text.data() + text.size()) return std::nullopt;
    if (!(value >= 0.0) || value > static_cast<double>(kLongestLength) || value != std::floor(value)) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> two_digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return std::nullopt;
    std::int64_t value = 0;
    const char* first = text.data() + at;
    const auto [next, error] = std::from_chars(first, first + count, value);
    if (error != std::errc{} || next != first + count || value < 0) return std::nullopt;
    return value;
}

/// Days since 1970 of a date in the Gregorian calendar; years count from March, so that the leap day is the last.
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
    if (month <= 2) --year;
    const std::int64_t era = year / 400, year_of_era = year % 400;
    const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/// Seconds east of Greenwich in "Z", "+02:00", "-0530" or nothing; unset when it is something else.
std::optional<std::int64_t> offset_seconds(std::string_view text) {
    if (text.empty() || text == "Z" || text == " UTC") return 0;
    if (text.front() != '+' && text.front() != '-') return std::nullopt;
    const auto hours = two_digits(text, 1, 2);
    const bool colon = text.size() > 3 && text[3] == ':';
    const auto minutes = text.size() == 3 ? std::optional<std::int64_t>{0} : two_digits(text, colon ? 4 : 3, 2);
    if (!hours || !minutes || text.size() > (colon ? 6U : 5U)) return std::nullopt;
    return (text.front() == '-' ? -1 : 1) * (*hours * 3600 + *minutes * 60);
}

/// The number behind `'name': ` in Python's print of a dictionary, or `"name": ` in JSON.
std::optional<std::int64_t> number_after(std::string_view line, std::string_view name) {
    for (std::size_t at = line.rfind(name); at != std::string_view::npos && at > 0; at = line.rfind(name, at - 1)) {
        std::size_t next = at + name.size();
        const char quote = line[at - 1];
        if ((quote != '\'' && quote != '"') || next + 1 >= line.size() || line[next] != quote || line[next + 1] != ':')
            continue;
        next += 2;
        while (next < line.size() && line[next] == ' ') ++next;
        std::size_t end = next;
        while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
        return whole(line.substr(next, end - next));
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_date_us(std::string_view text) {
    if (text.size() < 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') || text[13] != ':' ||
        text[16] != ':')
        return std::nullopt;
    const auto year = two_digits(text, 0, 4), month = two_digits(text, 5, 2), day = two_digits(text, 8, 2);
    const auto hour = two_digits(text, 11, 2), minute = two_digits(text, 14, 2), second = two_digits(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    if (*month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 24 || *minute > 59 || *second > 60) return std::nullopt;
    std::int64_t micro = 0;
    std::size_t at = 19;
    if (at < text.size() && (text[at] == '.' || text[at] == ',')) {
        std::int64_t unit = 100'000;
        for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) micro += (text[at] - '0') * unit;
    }
    const auto offset = offset_seconds(text.substr(at));
    if (!offset) return std::nullopt;
    const std::int64_t seconds =
        days_since_1970(*year, *month, *day) * 86400 + *hour * 3600 + *minute * 60 + *second - *offset;
    return seconds * 1'000'000 + micro;
}

bool CsvScanner::header(std::string_view line) {
    if (line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);  // a byte order mark
    time_column_ = input_column_ = output_column_ = kAbsent;
    const std::vector<Field> fields = split(line);
    const auto is_one_of = [](const std::string& name, std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string name = column_name(fields[i].text);
        if (is_one_of(name, {"timestamp", "arrivedat", "arrivaltime"})) time_column_ = i;
        if (is_one_of(name, {"contexttokens", "requesttokens", "numprefilltokens", "inputlength", "inputtokens", "prompttokens"}))
            input_column_ = i;
        if (is_one_of(name, {"generatedtokens", "responsetokens", "numdecodetokens", "outputlength", "outputtokens",
                             "completiontokens"}))
            output_column_ = i;
    }
    return input_column_ != kAbsent && output_column_ != kAbsent;
}

std::optional<LineFault> CsvScanner::scan(std::string_view line) {
    request_.clear();
    const std::vector<Field> fields = split(line);
    const std::size_t last = std::max(input_column_, output_column_);
    if (fields.size() <= last || (time_column_ != kAbsent && fields.size() <= time_column_))
        return LineFault{line.size(), "the line has fewer columns than the header"};
    request_.input_tokens = whole(fields[input_column_].text);
    if (!request_.input_tokens)
        return LineFault{fields[input_column_].offset, "expected a whole number of prompt tokens"};
    request_.output_tokens = whole(fields[output_column_].text);
    if (!request_.output_tokens)
        return LineFault{fields[output_column_].offset, "expected a whole number of output tokens"};
    if (time_column_ != kAbsent) {
        const Field& field = fields[time_column_];
        request_.time_us = parse_date_us(field.text);
        if (!request_.time_us) {
            const Parsed<double> seconds = parse_real(field.text);
            if (!parse_ok(seconds)) return LineFault{field.offset, "expected seconds or a date as timestamp"};
            request_.time = std::get<double>(seconds);
        }
    }
    return std::nullopt;
}

bool LogScanner::concerns(std::string_view line) {
    return line.find("Finish:") != std::string_view::npos && line.find("prompt_tokens") != std::string_view::npos;
}

std::optional<LineFault> LogScanner::scan(std::string_view line) {
    request_.clear();
    // Searched from the end: the figures stand behind the prompt's own text, which may quote anything.
    request_.input_tokens = number_after(line, "prompt_tokens");
    request_.output_tokens = number_after(line, "completion_tokens");
    request_.cached_tokens = number_after(line, "cached_tokens");
    if (!request_.input_tokens || !request_.output_tokens)
        return LineFault{0, "expected 'prompt_tokens' and 'completion_tokens' with numbers"};
    const std::size_t open = line.find('[');
    if (open != std::string_view::npos && line.size() >= open + 20) request_.time_us = parse_date_us(line.substr(open + 1, 19));
    return std::nullopt;
}

}  // namespace kvplan::trace
