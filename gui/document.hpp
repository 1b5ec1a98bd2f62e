// What the window edits: the values a person typed, the plan they stand for, and the way back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/launch/launch.hpp"
#include "planner/plan.hpp"
#include "planner/resolve.hpp"
#include "planner/fields/fields.hpp"

namespace kvplan::gui {

/// Texts by field name, as typed; a field that is absent has its default. Fields of the engine that is not chosen are
/// kept, but not planned with.
using Values = std::map<std::string, std::string, std::less<>>;

/// A scenario with its plan, as they belong together.
struct Planned {
    Scenario scenario;
    Plan plan;
};

class Document {
public:
    explicit Document(CatalogueOptions catalogues = {});

    [[nodiscard]] const Values& values() const { return values_; }
    /// The text of a field; empty when it has its default.
    [[nodiscard]] std::string_view value(std::string_view field) const;
    /// Of the last values that could be planned; none before the first ones.
    [[nodiscard]] const Planned* planned() const { return planned_.get(); }
    /// The same, kept alive while the document goes on.
    [[nodiscard]] std::shared_ptr<const Planned> share() const { return planned_; }
    /// Whether planned() is of the present values.
    [[nodiscard]] bool is_current() const { return faults_.empty(); }
    /// What is wrong, by field name ("" for what belongs to no field).
    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& faults() const { return faults_; }
    /// Notes and warnings of looking things up.
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
    /// Rises with every change of the plan.
    [[nodiscard]] std::int64_t revision() const { return revision_; }

    /// Sets one field; an empty text gives it its default. Changes of one field by the same `gesture` (not 0: a drag of a
    /// slider) are one step of undo.
    void set(std::string_view field, std::string_view text, std::int64_t gesture = 0);
    /// Sets several fields in one step.
    void set_all(const Values& changes);
    /// Puts other values in the place of all, in one step that can be undone.
    void replace(Values values, std::optional<launch::ParsedLaunch> launch = std::nullopt);

    [[nodiscard]] bool can_undo() const { return !undo_.empty(); }
    [[nodiscard]] bool can_redo() const { return !redo_.empty(); }
    void undo();
    void redo();

    /// The command that was pasted or opened, if the values came from one.
    [[nodiscard]] const std::optional<launch::ParsedLaunch>& launch() const { return launch_; }
    [[nodiscard]] const CatalogueOptions& catalogues() const { return catalogues_; }

private:
    void begin_step(std::string_view field, std::int64_t gesture);
    void recompute();
    [[nodiscard]] std::optional<Scenario> typed();

    CatalogueOptions catalogues_;
    Values values_, looked_up_of_;
    std::optional<launch::ParsedLaunch> launch_;
    std::shared_ptr<const Planned> planned_;
    std::map<std::string, std::string, std::less<>> faults_;
    std::vector<std::string> remarks_;
    std::vector<Values> undo_, redo_;
    std::string last_field_;
    std::int64_t last_gesture_ = 0, revision_ = 0;
};

/// The deployment that kvplan was made for (see README): the window's first picture.
[[nodiscard]] Values founding_values();

/// Texts of every field that `scenario` was given (its origins).
[[nodiscard]] Values values_of(const Scenario& scenario);

/// Values as a scenario file (JSON), and a scenario file, launch script, manifest, config.json or checkpoint directory read as
/// values. Of a config and a launch only what they say is changed in `present`.
[[nodiscard]] std::string scenario_file_of(const Values& values);
struct Opened {
    Values values;
    std::optional<launch::ParsedLaunch> launch;
};
[[nodiscard]] std::optional<Opened> open_path(const std::string& path, const Values& present, Diagnostics& diagnostics);
[[nodiscard]] std::optional<Opened> open_command(const std::string& text, const Values& present, Diagnostics& diagnostics);

}  // namespace kvplan::gui
