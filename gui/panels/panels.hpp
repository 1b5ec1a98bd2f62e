// One function a panel: each draws the plan of the document, and edits the document.
#pragma once

#include "gui/view.hpp"

namespace kvplan::gui {

void inputs_panel(const Ui& ui);
void gpu_panel(const Ui& ui, const Planned& planned);
void host_panel(const Ui& ui, const Planned& planned);
void capacity_panel(const Ui& ui, const Planned& planned);
void throughput_panel(const Ui& ui, const Planned& planned);
void what_if_panel(const Ui& ui, const Planned& planned);
void trace_panel(const Ui& ui, const Planned& planned);
void compare_panel(const Ui& ui, const Planned& planned);
void findings_panel(const Ui& ui, const Planned& planned);
void launch_panel(const Ui& ui, const Planned& planned);

/// Shows the Trace tab with this file, which is read beside the window.
void open_trace(const Ui& ui, const std::string& path);

/// Sets the fields that the finding's remedy names.
void apply_remedy(const Ui& ui, const Finding& finding);

}  // namespace kvplan::gui
