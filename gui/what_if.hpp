// Sweeps behind the What-if tab: any field on x, any result on y, one curve (or one row of a map) per value of a third.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "charts/chart.hpp"
#include "gui/worker.hpp"
#include "planner/plan.hpp"
#include "planner/resolve.hpp"

namespace kvplan::gui {

struct WhatIfQuestion {
    std::string x_field = "mem_fraction_static", x_values = "0.76:0.97:0.005";
    std::string y_figure = "capacity.max_total_num_tokens";
    std::string z_field = "kv_cache_dtype", z_values = "bfloat16,fp8_e4m3";
    bool map = false;

    friend bool operator==(const WhatIfQuestion&, const WhatIfQuestion&) = default;
};

struct WhatIfAnswer {
    charts::LineChart lines;   // points that do not fit, are not safe or not valid are left out
    charts::HeatMap map;       // and hatched
    std::size_t points = 0, infeasible = 0;
};

inline constexpr std::int64_t kMostWhatIfPoints = 20000;

/// Plans every point. Throws Cancelled when told to stop; faults of the question go to `diagnostics`.
[[nodiscard]] std::optional<WhatIfAnswer> answer(const WhatIfQuestion& question, const Scenario& base, const CatalogueOptions& catalogues, Progress& progress,
                                                 Diagnostics& diagnostics);

/// Values that make sense for a field of `scenario`, in the notation of a sweep: a range round its value, or its choices.
[[nodiscard]] std::string suggested_values(std::string_view field, const Scenario& scenario, const Plan& plan);

}  // namespace kvplan::gui
