#!/usr/bin/env bash
# Makes the pictures of the README and docs/gui.md from the window itself (docs/img/gui-*.png). Needs neither a screen nor a GPU.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/deps.sh"
source "$here/build.sh"
kvplan_build_targets kvplan-gui
mkdir -p "$kvplan_root/docs/img"
for tab in gpu host capacity throughput what-if findings; do
  "$kvplan_build/bin/kvplan-gui" --screenshot "$kvplan_root/docs/img/gui-$tab.png" --tab "$tab" --theme light
done
