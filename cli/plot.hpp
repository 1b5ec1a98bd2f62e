#pragma once

#include <string>

#include "charts/chart.hpp"
#include "cli/context.hpp"

namespace kvplan::cli {

/// Writes a drawing to `file` (.svg or .png), whole or not at all. False, with a message and exit code 2, when that failed.
bool write_picture(Context& context, const charts::Drawing& drawing, const std::string& file);

/// Whether a picture can be written to a file of this name; tells why not.
bool is_picture_name(Context& context, const std::string& file);

}  // namespace kvplan::cli
