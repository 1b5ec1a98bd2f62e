#include "cli/plot.hpp"

#include <ostream>

#include "charts/picture.hpp"
#include "models/write_file.hpp"

namespace kvplan::cli {

bool is_picture_name(Context& context, const std::string& file) {
    if (charts::picture({}, file)) return true;
    *context.err << "kvplan: --plot writes .svg or .png, not " << escape_for_terminal(file) << "\n";
    context.exit_code = kUsage;
    return false;
}

bool write_picture(Context& context, const charts::Drawing& drawing, const std::string& file) {
    const auto bytes = charts::picture(drawing, file);
    if (!bytes) return is_picture_name(context, file);
    const std::string failure = write_file(file, *bytes);
    if (failure.empty()) return true;
    *context.err << "kvplan: " << escape_for_terminal(failure) << "\n";
    context.exit_code = kUsage;
    return false;
}

}  // namespace kvplan::cli
