#!/usr/bin/env bash
# Configures (once) and builds the given targets in build/release. Quiet unless something fails; sourced by run.sh and test.sh.
set -euo pipefail

kvplan_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kvplan_build=$kvplan_root/build/release

kvplan_build_targets() {
  local log
  log=$(mktemp)
  if [[ ! -f $kvplan_build/build.ninja ]]; then
    echo "kvplan: configuring" >&2
    if ! (cd "$kvplan_root" && cmake --preset release) >"$log" 2>&1; then
      cat "$log" >&2
      rm -f "$log"
      return 1
    fi
  fi
  ninja -C "$kvplan_build" "$@" >"$log" 2>&1 &
  local ninja_pid=$! said=0 ticks=0
  while kill -0 "$ninja_pid" 2>/dev/null; do
    sleep 0.05
    ticks=$((ticks + 1))
    if [[ $said -eq 0 && $ticks -ge 30 ]]; then
      echo "kvplan: building (the first time takes some minutes)" >&2
      said=1
    fi
  done
  if ! wait "$ninja_pid"; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
