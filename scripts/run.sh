#!/usr/bin/env bash
# run.sh ARGS…: installs what is missing, builds what has changed, then runs `kvplan ARGS…`
# (`run.sh gui ARGS…` starts the window).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/deps.sh"
source "$here/build.sh"

program=kvplan
if [[ ${1:-} == gui ]]; then
  program=kvplan-gui
  shift
fi
kvplan_build_targets "$program"
exec "$kvplan_build/bin/$program" "$@"
