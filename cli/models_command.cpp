#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "cli/model_description.hpp"
#include "models/llm/catalogue.hpp"
#include "units/format.hpp"

namespace kvplan::cli {

using Json = nlohmann::ordered_json;

namespace {

std::string billions(std::int64_t n) { return fixed(static_cast<double>(n) / 1e9, n < 10'000'000'000 ? 2 : 1); }

/// A table of presets; those that cannot be read are told and left out.
void write_presets(Context& context, const std::string& title, const std::vector<const ModelPreset*>& presets) {
    exporting::Report report{title, "", exporting::Tone::good, {}};
    exporting::ReportSection section{"Presets", {{"name", "1e9 params", "active", "stored as", "GiB", "layers", "context", "family"}, {}}, {}};
    Json list = Json::array();
    Diagnostics diagnostics;
    for (const ModelPreset* preset : presets) {
        const auto spec = read_preset(*preset, {}, diagnostics);
        if (!spec) continue;
        const ModelTotals sums = totals(*spec);
        section.table.rows.push_back({{spec->name, billions(sums.total_params), billions(sums.active_params), spec->quantization, fixed(in_gib(sums.checkpoint_bytes), 1),
                                       std::to_string(spec->layers()), with_commas(spec->max_position_embeddings), spec->family}, 0, false});
        list.push_back({{"name", spec->name}, {"hf_id", spec->hf_id}, {"aliases", preset->aliases}, {"family", spec->family}, {"verified", spec->verified},
                        {"total_params", sums.total_params}, {"active_params", sums.active_params}, {"quantization", spec->quantization},
                        {"checkpoint_bytes", sums.checkpoint_bytes.count()}, {"layers", spec->layers()}, {"max_position_embeddings", spec->max_position_embeddings},
                        {"source", preset->source}});
    }
    section.sentences = {"`kvplan models show NAME` tells how a model is understood; NAME is also a Hugging Face id, a config.json or a checkpoint directory."};
    report.sections.push_back(std::move(section));
    show(context, diagnostics);
    write_formatted(context, Json{{"models", list}}, report);
}

void write_families(Context& context) {
    exporting::ReportSection section{"Families", {{"family", "", "source"}, {}}, {"`--assume-family NAME` reads a model of an unknown type by that family's rule."}};
    Json list = Json::array();
    for (const FamilyInfo& family : known_families()) {
        section.table.rows.push_back({{std::string(family.name), family.verified ? "" : "not verified", std::string(family.source)}, 0, false});
        list.push_back({{"name", family.name}, {"verified", family.verified}, {"source", family.source}});
    }
    write_formatted(context, Json{{"families", list}}, {std::to_string(list.size()) + " families", "", exporting::Tone::good, {section}});
}

void show_model(Context& context, const std::string& name, const ReadOptions& options) {
    Diagnostics diagnostics;
    const auto spec = find_model(name, options, context.catalogues.models_dir, diagnostics);
    if (!spec) return fail(context, diagnostics);
    show(context, diagnostics);
    write_formatted(context, model_json(*spec), describe_model(*spec));
}

std::vector<const ModelPreset*> pointers(const ModelCatalogue& catalogue) {
    std::vector<const ModelPreset*> presets;
    for (const ModelPreset& preset : catalogue.all()) presets.push_back(&preset);
    return presets;
}

}  // namespace

void add_models_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("models", "Model catalogue: list, show, search");
    command->footer("Examples:\n  kvplan models search kimi nvfp4\n  kvplan models show kimi-k2.5\n  kvplan models show ./checkpoint --quantization fp8");
    command->require_subcommand(0, 1);
    command->add_option("--models-dir", context.catalogues.models_dir, "More model presets (JSON)")->type_name("DIR");
    const auto with_catalogue = [&context](auto action) {
        Diagnostics diagnostics;
        const ModelCatalogue catalogue = ModelCatalogue::load(context.catalogues.models_dir, diagnostics);
        if (diagnostics.has_errors()) return fail(context, diagnostics);
        show(context, diagnostics);
        action(catalogue);
    };
    const auto families = std::make_shared<bool>(false);
    CLI::App* list = command->add_subcommand("list", "All presets, or all families");
    list->add_flag("--families", *families, "The families whose descriptions can be read");
    const auto write_all = [&context, with_catalogue] {
        with_catalogue([&](const ModelCatalogue& catalogue) { write_presets(context, std::to_string(catalogue.all().size()) + " models", pointers(catalogue)); });
    };
    list->callback([&context, write_all, families] { *families ? write_families(context) : write_all(); });
    command->callback([command, write_all] {
        if (command->get_subcommands().empty()) write_all();
    });
    const auto words = std::make_shared<std::vector<std::string>>();
    CLI::App* search = command->add_subcommand("search", "Presets in whose names all the words occur");
    search->add_option("words", *words, "Parts of a name, id or family")->required();
    search->callback([&context, with_catalogue, words] {
        with_catalogue([&](const ModelCatalogue& catalogue) {
            std::string text;
            for (const std::string& word : *words) text += word + " ";
            const auto found = catalogue.search(text);
            write_presets(context, std::to_string(found.size()) + (found.size() == 1 ? " model" : " models"), found);
        });
    });
    const auto name = std::make_shared<std::string>();
    const auto options = std::make_shared<ReadOptions>();
    CLI::App* show_command = command->add_subcommand("show", "One model as the planner understands it, with sources");
    show_command->add_option("name", *name, "Name, Hugging Face id, config.json or checkpoint directory")->required();
    show_command->add_option("--quantization", options->quantization, "Compute that variant: bf16, fp8, int4-g32, nvfp4 ...")->type_name("FORMAT");
    show_command->add_option("--assume-family", options->assume_family, "Read an unknown model type by this family's rule")->type_name("NAME");
    show_command->callback([&context, name, options] { show_model(context, *name, *options); });
}

}  // namespace kvplan::cli
