#!/usr/bin/env bash
# Installs what the build needs on Debian 12, as root or through sudo. Says nothing when nothing is missing.
# KVPLAN_WITH_GUI=0 leaves out the window's packages.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config
  nlohmann-json3-dev rapidjson-dev libcli11-dev libeigen3-dev libyaml-cpp-dev
  zlib1g-dev liblzma-dev libzstd-dev
  libstb-dev fonts-dejavu-core
  catch2 libbenchmark-dev
)

if [[ ${KVPLAN_WITH_GUI:-1} != 0 ]]; then
  packages+=(libimgui-dev libglfw3-dev libgl1-mesa-dev)
  # A screen for the window's test.
  packages+=(xvfb xauth xdotool libgl1-mesa-dri libegl1)
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

run=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "kvplan: these packages are missing, and neither root nor sudo is at hand: ${missing[*]}" >&2
    exit 1
  fi
  run=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "kvplan: installing ${missing[*]}" >&2
install() {
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1
}
# Package lists may be absent or old on a new machine.
if ! install; then
  "${run[@]}" apt-get update >>"$log" 2>&1 || true
  if ! install; then
    cat "$log" >&2
    exit 1
  fi
fi
