#include "planner/sweep/part.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/json/document.hpp"
#include "planner/export/json.hpp"
#include "units/format.hpp"

namespace kvplan::sweep {

namespace {

constexpr const char* kForms[] = {"text", "csv", "json", "markdown"};
constexpr const char* kHead = "kvplan_sweep";
constexpr const char* kEnd = "kvplan_sweep_end";

std::string marked(Form form, const char* name, nlohmann::ordered_json members) {
    return (form == Form::json_lines ? "" : "# ") + nlohmann::ordered_json{{name, std::move(members)}}.dump() + "\n";
}

// The object under `name` of a marked line.
class Marked {
public:
    Marked(const std::string& line, const char* name) {
        const std::string json = line.rfind("# ", 0) == 0 ? line.substr(2) : line;
        if (json.rfind("{\"" + std::string(name) + "\"", 0) != 0) return;
        Diagnostics ignored;
        document_ = json::parse(json, "", ignored);
        if (document_) object_ = document_->root()[name];
    }
    [[nodiscard]] std::optional<std::int64_t> integer(const char* key) const {
        const auto value = object_[key].integer();
        return value && *value >= 0 ? std::optional<std::int64_t>(*value) : std::nullopt;
    }
    [[nodiscard]] std::optional<std::string> string(const char* key) const {
        const auto value = object_[key].string();
        return value ? std::optional(std::string(*value)) : std::nullopt;
    }

private:
    std::optional<json::Document> document_;
    json::Value object_;
};

std::uint64_t fnv1a(const std::string& text, std::uint64_t hash) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

Diagnostic fault(const Part& part, std::string message, std::string found, std::string expected, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.code = "sweep.parts";
    diagnostic.file = part.file;
    diagnostic.message = std::move(message);
    diagnostic.found = std::move(found);
    diagnostic.expected = std::move(expected);
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

std::string points_text(std::int64_t begin, std::int64_t end) { return with_commas(begin) + " to " + with_commas(end - 1); }

}  // namespace

std::string line_of(const PartHeader& header) {
    return marked(header.form, kHead, {{"fingerprint", header.fingerprint}, {"form", kForms[static_cast<std::size_t>(header.form)]}, {"begin", header.range.begin}, {"end", header.range.end}, {"points", header.points}, {"heading_lines", header.heading_lines}});
}

std::optional<PartHeader> read_part_header(const std::string& line) {
    const Marked read(line, kHead);
    const auto fingerprint = read.string("fingerprint"), form = read.string("form");
    const auto begin = read.integer("begin"), end = read.integer("end"), points = read.integer("points"), heading = read.integer("heading_lines");
    if (!fingerprint || !form || !begin || !end || !points || !heading || *begin > *end || *end > *points) return std::nullopt;
    const auto* known = std::find(std::begin(kForms), std::end(kForms), *form);
    if (known == std::end(kForms)) return std::nullopt;
    return PartHeader{*fingerprint, static_cast<Form>(known - std::begin(kForms)), {*begin, *end}, *points, *heading};
}

std::string end_of_part(Form form, std::int64_t rows) { return marked(form, kEnd, {{"rows", rows}}); }

std::optional<std::int64_t> read_end_of_part(const std::string& line) { return Marked(line, kEnd).integer("rows"); }

std::optional<std::vector<Part>> in_order(std::vector<Part> parts, Diagnostics& diagnostics) {
    const PartHeader first = parts.front().header;
    const std::string& first_file = parts.front().file;
    for (const Part& part : parts) {
        const PartHeader& header = part.header;
        if (header.fingerprint == first.fingerprint && header.points == first.points && header.form == first.form && header.heading_lines == first.heading_lines) continue;
        diagnostics.add(fault(part, "a part of another sweep than " + first_file, header.fingerprint, first.fingerprint,
                              "all parts need the same flags, format, columns, files and kvplan; --this-host differs from machine to machine"));
    }
    if (diagnostics.has_errors()) return std::nullopt;
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return a.header.range.begin != b.header.range.begin ? a.header.range.begin < b.header.range.begin : a.header.range.end < b.header.range.end;
    });
    std::int64_t next = 0;
    for (const Part& part : parts) {
        const PointRange& range = part.header.range;
        if (range.begin > next) diagnostics.add(fault(part, "points " + points_text(next, range.begin) + " are in no part", "a part from " + with_commas(range.begin), "one from " + with_commas(next), ""));
        if (range.begin < next && range.end > range.begin) diagnostics.add(fault(part, "points " + points_text(range.begin, std::min(next, range.end)) + " are in two parts", "a part from " + with_commas(range.begin), "one from " + with_commas(next), ""));
        next = std::max(next, range.end);
    }
    if (next < first.points) diagnostics.add(fault(parts.back(), "points " + points_text(next, first.points) + " are in no part", "parts up to " + with_commas(next), "parts up to " + with_commas(first.points), ""));
    if (diagnostics.has_errors()) return std::nullopt;
    return parts;
}

std::string fingerprint(const Points& points, const std::string& asked, Form form) {
    const Request& request = points.request();
    std::uint64_t hash = fnv1a(asked + "\n" + kForms[static_cast<std::size_t>(form)], 0xcbf29ce484222325ULL);
    hash = fnv1a(exporting::scenario_json(request.base).dump(), hash);
    for (const std::int64_t point : {std::int64_t{0}, request.grid.points() - 1})
        if (const auto planned = points.planned(point)) hash = fnv1a(exporting::plan_json(planned->scenario, planned->plan).dump(), hash);
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15U];
    return digits;
}

}  // namespace kvplan::sweep
