#include <nlohmann/json.hpp>

#include "planner/export/csv.hpp"
#include "planner/export/trace_export.hpp"

namespace kvplan::exporting {

using Json = nlohmann::ordered_json;

namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json lengths(const trace::LengthFacts& facts) {
    return {{"mean", facts.mean}, {"cv2", facts.cv2}, {"min", facts.min}, {"p50", facts.p50},
            {"p90", facts.p90},   {"p95", facts.p95}, {"p99", facts.p99}, {"max", facts.max}};
}

Json workload(const trace::WorkloadFacts& facts) {
    return {{"input_tokens", lengths(facts.input)},
            {"output_tokens", lengths(facts.output)},
            {"covariance", facts.covariance},
            {"correlation", facts.correlation},
            {"requests_per_second", or_null(facts.requests_per_second)},
            {"mean_footprint_tokens", facts.mean_footprint},
            {"footprint_deviation_tokens", facts.footprint_deviation},
            {"reusable_share", or_null(facts.reusable_share)},
            {"common_prefix_tokens", or_null(facts.common_prefix_tokens)},
            {"logged_hit_rate", or_null(facts.logged_hit_rate)}};
}

Json host_size(const trace::HostSize& size) {
    return {{"hicache_size_gb", or_null(size.hicache_size_gb)},
            {"host_tokens", size.host_tokens.count()},
            {"hit_rate", size.hit_rate},
            {"gained", size.gained},
            {"prefill_saved_tokens_per_request", size.prefill_saved_tokens},
            {"loaded_bytes_per_rank_and_request", size.loaded_bytes},
            {"host_link_seconds_per_request", or_null(size.link_seconds)},
            {"prefill_saved_seconds_per_request", or_null(size.prefill_saved_seconds)},
            {"ttft_change_seconds", or_null(size.ttft_change_seconds)},
            {"safe", size.safe}};
}

Json recommendation(const trace::Recommendation& r) {
    Json sizes = Json::array();
    for (const trace::HostSize& size : r.sizes) sizes.push_back(host_size(size));
    return {{"reason", r.reason},
            {"hicache_size_gb", r.recommended ? or_null(r.recommended->hicache_size_gb) : Json(nullptr)},
            {"hit_rate", r.recommended ? Json(r.recommended->hit_rate) : Json(nullptr)},
            {"knee_tokens", r.knee_tokens},
            {"knee_hit_rate", r.knee_rate},
            {"unlimited_hit_rate", r.unlimited_rate},
            {"policy", r.device_rate ? Json(trace::name_of(r.policy)) : Json(nullptr)},
            {"device_tokens", r.device_tokens ? Json(r.device_tokens->count()) : Json(nullptr)},
            {"device_hit_rate", or_null(r.device_rate)},
            {"device_hit_rate_low", or_null(r.device_rate_low)},
            {"in_flight_requests", or_null(r.in_flight_requests)},
            {"largest_safe", r.largest_safe ? host_size(*r.largest_safe) : Json(nullptr)},
            {"sizes", sizes}};
}

Json curve_point(const trace::CurvePoint& point) {
    return {{"capacity_tokens", or_null(point.tokens)},     {"capacity_blocks", or_null(point.blocks)},
            {"hit_tokens", point.hits.tokens},              {"hit_blocks", point.hits.blocks},
            {"hit_rate", point.hits.token_rate},            {"block_hit_rate", point.hits.block_rate},
            {"request_hit_rate", point.hits.request_rate}};
}

Json sampled_point(const trace::CurvePoint& point) {
    Json json = curve_point(point);
    json["hit_rate_error"] = or_null(point.error);
    return json;
}

Json tier_point(const trace::TierPoint& point, std::int64_t block_tokens) {
    const trace::TierResult& r = point.result;
    return {{"device_tokens", point.sizes.device_blocks * block_tokens},
            {"host_tokens", point.sizes.host_blocks * block_tokens},
            {"device_hit_tokens", r.device_hit_tokens},
            {"host_hit_tokens", r.host_hit_tokens},
            {"storage_hit_tokens", point.sizes.storage ? Json(r.storage_hit_tokens) : Json(nullptr)},
            {"device_hit_rate", r.device_rate()},
            {"hit_rate", r.total_rate()},
            {"loaded_blocks", r.host_hit_blocks},
            {"written_blocks", r.written_blocks}};
}

}  // namespace

Json trace_json(const trace::Analysis& a) {
    Json curve = Json::array();
    for (const trace::CurvePoint& point : a.points) curve.push_back(a.sample ? sampled_point(point) : curve_point(point));
    Json document{{"requests", a.workload.requests},
                  {"span_seconds", or_null(a.workload.span_seconds)},
                  {"input_tokens", a.workload.input_tokens},
                  {"output_tokens", a.workload.output_tokens},
                  {"block_tokens", a.curve ? Json(a.block_tokens) : Json(nullptr)},
                  {"distinct_blocks", a.curve ? Json(a.distinct_blocks) : Json(nullptr)},
                  {"block_references", a.curve ? Json(a.curve->blocks) : Json(nullptr)},
                  {"counted_requests", a.curve ? Json(a.curve->requests) : Json(nullptr)},
                  {"counted_input_tokens", a.curve ? Json(a.curve->input_tokens) : Json(nullptr)},
                  {"curve", curve},
                  {"workload", workload(a.workload)},
                  {"recommendation", a.recommendation ? recommendation(*a.recommendation) : Json(nullptr)}};
    if (a.policy) {
        Json points = Json::array();
        for (const trace::TierPoint& point : a.tiers) points.push_back(tier_point(point, a.block_tokens));
        document["tiers"] = {{"policy", trace::name_of(*a.policy)}, {"points", points}};
    }
    if (a.sample)
        document["sample"] = {{"share", a.sample->share}, {"common_blocks", a.sample->common_blocks}, {"requests", a.workload.requests},
                              {"of_requests", a.sample->requests}, {"of_input_tokens", a.sample->input_tokens}};
    document["reading"] = {{"lines", a.reading.lines},         {"faulty_lines", a.reading.faulty_lines},
                           {"ties", a.reading.ties},           {"disordered", a.reading.disordered},
                           {"sorted", a.reading.sorted},       {"short_of_ids", a.reading.short_of_ids},
                           {"text_bytes", a.reading.text_bytes}, {"formats", a.reading.formats}};
    return document;
}

std::string trace_csv(const trace::Analysis& a) {
    std::string text = "capacity_tokens,capacity_blocks,hit_tokens,hit_blocks,hit_rate,block_hit_rate,request_hit_rate\n";
    for (const trace::CurvePoint& point : a.points) {
        const Json cells = curve_point(point);
        bool first = true;
        for (const auto& [key, value] : cells.items()) {
            text += first ? "" : ",";
            first = false;
            if (!value.is_null()) text += value.dump();
        }
        text += "\n";
    }
    return text;
}

}  // namespace kvplan::exporting
