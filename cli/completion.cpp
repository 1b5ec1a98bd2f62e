#include "cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "models/hardware/gpu_catalogue.hpp"
#include "models/llm/catalogue.hpp"
#include "planner/fields/fields.hpp"
#include "units/ascii.hpp"

namespace kvplan::cli {
namespace {

/// "RTX PRO 6000 Blackwell Server" -> "rtx-pro-6000-blackwell-server": a name that needs no quotes.
std::string as_word(std::string_view name) {
    std::string word;
    for (const char c : name) word += c == ' ' ? '-' : lower(c);
    return word;
}

std::vector<std::string> model_names() {
    Diagnostics unheard;
    std::vector<std::string> names;
    const ModelCatalogue catalogue = ModelCatalogue::load(std::nullopt, unheard);
    for (const ModelPreset& preset : catalogue.all()) {
        names.push_back(as_word(preset.name));
        for (const std::string& alias : preset.aliases) names.push_back(as_word(alias));
    }
    return names;
}

std::vector<std::string> gpu_names() {
    Diagnostics unheard;
    std::vector<std::string> names;
    const GpuCatalogue catalogue = GpuCatalogue::load(std::nullopt, unheard);
    for (const GpuSpec& gpu : catalogue.all()) {
        names.push_back(as_word(gpu.name));
        for (const std::string& name : gpu.common_names) names.push_back(as_word(name));
    }
    return names;
}

std::vector<std::string> names_of_fields() {
    std::vector<std::string> names;
    for (const std::string_view name : field_names()) names.emplace_back(name);
    return names;
}

/// What may follow an option; nothing where kvplan knows no list.
std::vector<std::string> values_of(std::string_view option) {
    if (option == "--model" || option == "-m" || option == "--model-path" || option == "--draft-model") return model_names();
    if (option == "--gpu") return gpu_names();
    if (option == "--engine") return {"sglang", "vllm"};
    if (option == "--format") return {"text", "json", "csv", "markdown"};
    if (option == "--color") return {"auto", "always", "never"};
    if (option == "--set" || option == "--vary") return names_of_fields();
    if (option == "--kv-cache-dtype") return {"auto", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "nvfp4"};
    if (option == "--hicache-write-policy") return {"write_through", "write_through_selective", "write_back"};
    return {};
}

const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words) {
    const CLI::App* command = &app;
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        for (const CLI::App* sub : command->get_subcommands(nullptr))
            if (sub->get_name() == words[i]) {
                command = sub;
                break;
            }
    return *command;
}

void add_options(const CLI::App& app, std::vector<std::string>& all) {
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) all.push_back("--" + name);
}

std::string troff(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\') escaped += "\\e";
        else if (c == '-') escaped += "\\-";
        else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&", escaped += c;
        else escaped += c;
    }
    return escaped;
}

void add_manual_options(const CLI::App& app, std::string& page) {
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty() || option->get_lnames().empty()) continue;
        std::string names;
        for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
        for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
        page += ".TP\n.B " + troff(names);
        if (!option->get_type_name().empty()) page += " \\fI" + troff(option->get_type_name()) + "\\fR";
        page += "\n" + troff(option->get_description()) + "\n";
    }
}

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const std::string& begun = words.back();
    const std::string before = words.size() > 1 ? words[words.size() - 2] : "";
    const CLI::App& command = command_of(app, words);
    std::vector<std::string> all;
    if (const std::size_t equals = begun.find('='); begun.rfind("--", 0) == 0 && equals != std::string::npos) {
        for (const std::string& value : values_of(begun.substr(0, equals))) all.push_back(begun.substr(0, equals + 1) + value);
    } else if (before.rfind('-', 0) == 0 && !values_of(before).empty()) {
        all = values_of(before);
    } else if (begun.rfind('-', 0) == 0) {
        add_options(command, all);
        if (&command != &app) add_options(app, all);
    } else {
        for (const CLI::App* sub : command.get_subcommands(nullptr)) all.push_back(sub->get_name());
        if (before == "show" && words.size() > 2) all = words[words.size() - 3] == "gpus" ? gpu_names() : words[words.size() - 3] == "models" ? model_names() : std::vector<std::string>{};
    }
    all.erase(std::remove_if(all.begin(), all.end(), [&](const std::string& word) { return word.rfind(begun, 0) != 0; }), all.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::string completion_script(std::string_view shell) {
    if (shell == "bash")
        return "_kvplan() {\n"
               "    local IFS=$'\\n'\n"
               "    COMPREPLY=($(kvplan __complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
               "}\n"
               "complete -o default -F _kvplan kvplan\n";
    if (shell == "zsh")
        return "#compdef kvplan\n"
               "_kvplan() {\n"
               "    local -a found\n"
               "    found=(\"${(@f)$(kvplan __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
               "    if (( ${#found[1]} )); then compadd -- \"${found[@]}\"; else _files; fi\n"
               "}\n"
               "compdef _kvplan kvplan\n";
    if (shell == "fish")
        return "function __kvplan_complete\n"
               "    kvplan __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null\n"
               "end\n"
               "complete -c kvplan -a '(__kvplan_complete)'\n";
    return {};
}

std::string manual_page(const CLI::App& app, std::string_view version) {
    std::string page = ".TH KVPLAN 1 \"\" \"" + std::string(version) + "\" \"User commands\"\n.SH NAME\nkvplan \\- " + troff(app.get_description()) +
                       "\n.SH SYNOPSIS\n.B kvplan\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH OPTIONS OF EVERY COMMAND\n";
    add_manual_options(app, page);
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
        page += ".SS " + troff(command->get_name()) + "\n" + troff(command->get_description()) + "\n";
        add_manual_options(*command, page);
        for (const CLI::App* sub : command->get_subcommands(nullptr)) page += ".TP\n.B " + troff(sub->get_name()) + "\n" + troff(sub->get_description()) + "\n";
    }
    return page + ".SH EXIT STATUS\n0 fits and is safe; 1 does not fit, is unsafe, or has no answer; 2 wrong usage or input; 70 internal error.\n";
}

}  // namespace kvplan::cli
