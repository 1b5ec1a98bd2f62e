#include "cli/app.hpp"

#include <CLI/CLI.hpp>
#include <ostream>

namespace kvplan::cli {

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
    CLI::App app{"Capacity planner for LLM serving", "kvplan"};
    app.set_version_flag("--version", "kvplan 0.1.0");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error, out, err) == 0 ? 0 : 2;
    }
    return 0;
}

}  // namespace kvplan::cli
