#include "planner/engines/version_text.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "units/diagnostic.hpp"

namespace kvplan {
namespace {

std::string name_of(const Release& r) {
    std::string text = "v0." + std::to_string(r.minor) + "." + std::to_string(r.patch);
    return r.post > 0 ? text + ".post" + std::to_string(r.post) : text;
}

bool before(const Release& a, const Release& b) {
    return std::array{a.minor, a.patch, a.post} < std::array{b.minor, b.patch, b.post};
}

/// Days since 1970-01-01 of a civil date and back (Howard Hinnant's algorithms), for interpolation.
std::int64_t days_from(int yyyymmdd) {
    std::int64_t y = yyyymmdd / 10000;
    const std::int64_t m = yyyymmdd / 100 % 100, d = yyyymmdd % 100;
    y -= m <= 2 ? 1 : 0;
    const std::int64_t era = floor_div(y, 400), yoe = y - era * 400;
    const std::int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

int date_of(std::int64_t days) {
    days += 719468;
    const std::int64_t era = floor_div(days, 146097), doe = days - era * 146097;
    const std::int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    const std::int64_t d = doy - (153 * mp + 2) / 5 + 1, m = mp + (mp < 10 ? 3 : -9);
    return static_cast<int>((yoe + era * 400 + (m <= 2 ? 1 : 0)) * 10000 + m * 100 + d);
}

/// Reads digits at the front of `text`; nothing (and `text` untouched) when there are none or too many.
std::optional<int> take_number(std::string_view& text) {
    std::size_t n = 0;
    int value = 0;
    while (n < text.size() && text[n] >= '0' && text[n] <= '9') {
        if (n >= 6) return std::nullopt;
        value = value * 10 + (text[n] - '0');
        ++n;
    }
    if (n == 0) return std::nullopt;
    text.remove_prefix(n);
    return value;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// 2026-08-22 or 2026-08, which means the middle of that month.
std::optional<RuleDate> read_date(std::string_view text) {
    constexpr std::array<int, 13> kDays{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const auto year = take_number(text);
    if (!year || *year < 2000 || *year > 2100 || !take(text, "-")) return std::nullopt;
    const auto month = take_number(text);
    if (!month || *month < 1 || *month > 12) return std::nullopt;
    int day = 15;
    if (!text.empty()) {
        if (!take(text, "-")) return std::nullopt;
        const auto found = take_number(text);
        if (!found || *found < 1 || *found > kDays[static_cast<std::size_t>(*month)] || !text.empty()) return std::nullopt;
        day = *found;
    }
    return RuleDate{*year * 10000 + *month * 100 + day};
}

struct ReadRelease {
    Release release;
    bool before_it = false;  // rc, dev, alpha or beta: cut before the release
};

/// [v]0.5.4[.post2|rc1|.dev3…][+local][-image-suffix]
std::optional<ReadRelease> read_release(std::string_view text) {
    take(text, "v");
    const auto major = take_number(text);
    if (!major || *major != 0 || !take(text, ".")) return std::nullopt;
    const auto minor = take_number(text);
    if (!minor || !take(text, ".")) return std::nullopt;
    const auto patch = take_number(text);
    if (!patch) return std::nullopt;
    ReadRelease read{{*minor, *patch, 0, 0}, false};
    if (take(text, ".post")) {
        const auto post = take_number(text);
        if (!post) return std::nullopt;
        read.release.post = *post;
    }
    if (text.empty() || text.front() == '+' || text.front() == '-') return read;
    for (std::string_view mark : {".rc", "rc", ".dev", "dev", "a", "b"}) {
        if (take(text, mark)) {
            read.before_it = true;
            return read;
        }
    }
    return std::nullopt;
}

Version dated(RuleDate date, VersionMatch match, std::string label) { return Version{date, match, std::move(label), {}}; }

/// A release that is not in the table: its day is interpolated over the patch numbers between its neighbours.
RuleDate date_between(const Release& wanted, const Release& older, const Release& newer) {
    const int span = newer.patch - older.patch;
    std::int64_t day = days_from(older.yyyymmdd);
    if (older.minor == newer.minor && span > 1 && wanted.patch > older.patch) {
        day += (days_from(newer.yyyymmdd) - day) * (wanted.patch - older.patch) / span;
    }
    return RuleDate{date_of(day)};
}

Version between(const Release& wanted, const Release& older, const Release& newer) {
    const RuleDate date = date_between(wanted, older, newer);
    Version v = dated(date, VersionMatch::between, name_of(wanted) + " (about " + iso(date) + ")");
    v.nearest = {name_of(older), name_of(newer)};
    return v;
}

/// Of a release of the table. A candidate is cut one or two weeks before it; half of that is as near as can be said.
RuleDate date_of_release(const Release& known, bool before_it) { return RuleDate{date_of(days_from(known.yyyymmdd) - (before_it ? 9 : 0))}; }

Version find_release(const ReadRelease& read, std::span<const Release> releases, RuleDate newest) {
    const Release& wanted = read.release;
    const Release& first = releases.front();
    const Release& last = releases.back();
    if (before(wanted, first)) {
        Version v = dated(RuleDate{first.yyyymmdd}, VersionMatch::before_table, name_of(wanted));
        v.nearest = {name_of(first)};
        return v;
    }
    if (before(last, wanted)) {
        Version v = dated(newest, VersionMatch::after_table, name_of(wanted));
        v.nearest = {name_of(last)};
        return v;
    }
    const auto at = std::lower_bound(releases.begin(), releases.end(), wanted, before);
    if (before(wanted, *at)) return between(wanted, *(at - 1), *at);
    const RuleDate date = date_of_release(*at, read.before_it);
    return dated(date, VersionMatch::release, name_of(wanted) + (read.before_it ? " candidate (" : " (") + iso(date) + ")");
}

Version find_date(RuleDate date, std::span<const Release> releases, RuleDate newest) {
    const RuleDate oldest{releases.front().yyyymmdd};
    const bool early = date.yyyymmdd < oldest.yyyymmdd, late = date.yyyymmdd > newest.yyyymmdd;
    Version v = dated(date, early ? VersionMatch::before_table : late ? VersionMatch::after_table : VersionMatch::date, iso(date));
    if (early) v.nearest = {iso(oldest)};
    if (late) v.nearest = {iso(newest)};
    return v;
}

}  // namespace

std::string iso(RuleDate date) {
    std::string digits = std::to_string(date.yyyymmdd);
    if (digits.size() != 8) return digits;
    return digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" + digits.substr(6, 2);
}

namespace {

bool means_newest(std::string_view text) { return text.empty() || text == "latest" || text == "main" || text == "newest" || text == "nightly"; }

}  // namespace

RuleDate find_rule_date(std::string_view text, std::span<const Release> releases, RuleDate newest) {
    if (means_newest(text)) return newest;
    if (const auto date = read_date(text)) return *date;
    const auto read = read_release(text);
    if (!read || before(releases.back(), read->release)) return newest;
    if (before(read->release, releases.front())) return RuleDate{releases.front().yyyymmdd};
    const auto at = std::lower_bound(releases.begin(), releases.end(), read->release, before);
    return before(read->release, *at) ? date_between(read->release, *(at - 1), *at) : date_of_release(*at, read->before_it);
}

Version find_version(std::string_view text, std::span<const Release> releases, RuleDate newest) {
    if (means_newest(text)) {
        return dated(newest, VersionMatch::newest, iso(newest));
    }
    if (const auto date = read_date(text)) return find_date(*date, releases, newest);
    if (const auto release = read_release(text)) return find_release(*release, releases, newest);
    Version v = dated(newest, VersionMatch::unreadable, iso(newest));
    std::vector<std::string> names;
    for (const Release& r : releases) names.push_back(name_of(r));
    v.nearest = nearest_names(text, names);
    return v;
}

}  // namespace kvplan
