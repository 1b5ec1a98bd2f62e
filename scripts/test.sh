#!/usr/bin/env bash
# test.sh ARGS…: installs what is missing, builds everything, runs every test (ARGS go to ctest).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/deps.sh"
source "$here/build.sh"
kvplan_build_targets all
exec ctest --test-dir "$kvplan_build" --output-on-failure -j "$(nproc)" "$@"
