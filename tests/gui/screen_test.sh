#!/usr/bin/env bash
# screen_test.sh KVPLAN_GUI: a real window on a virtual screen. A size is typed, a tab switched, the scenario saved, the window
# closed; then the file must hold what was typed. Exit code 77 (skipped) where there is no Xvfb or xdotool.
set -euo pipefail
gui=$1
for tool in xvfb-run xauth xdotool; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export gui work XDG_CONFIG_HOME=$work/config
cat > "$work/scenario.json" <<'JSON'
{"model": "kimi-k2.5", "gpu": "h200", "tp_size": "8", "host_ram": "2TB", "enable_hierarchical_cache": "true", "hicache_size": "39"}
JSON
"$gui" --screenshot "$work/before.png" --marks "$work/marks" --scenario "$work/scenario.json"

cat > "$work/inside.sh" <<'INSIDE'
set -euo pipefail
"$gui" --scale 1 --scenario "$work/scenario.json" & pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
window=
for _ in $(seq 100); do
  window=$(xdotool search --name 'kvplan$' 2>/dev/null | head -1) && [[ -n $window ]] && break
  sleep 0.1
done
[[ -n $window ]] || { echo "no window came up"; exit 1; }
sleep 1
xdotool windowfocus "$window"
click() {
  read -r x y < <(awk -v name="$1" '$1 == name { print int(($2 + $4) / 2), int(($3 + $5) / 2) }' "$work/marks")
  xdotool mousemove --window "$window" "$x" "$y"
  sleep 0.2
  xdotool mousedown 1
  sleep 0.2
  xdotool mouseup 1
  sleep 0.3
}
click number/hicache_size
xdotool key --delay 100 ctrl+a
xdotool type --delay 80 51
xdotool key --delay 100 Return
sleep 0.3
click tab/findings
xdotool key --delay 150 ctrl+s
sleep 0.5
xdotool key --delay 150 ctrl+q
for _ in $(seq 50); do
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
trap - EXIT
if kill -0 "$pid" 2>/dev/null; then echo "Ctrl+Q did not close the window"; kill "$pid"; exit 1; fi
wait "$pid"
INSIDE
xvfb-run -a -s "-screen 0 1280x800x24" bash "$work/inside.sh"
grep -q '"hicache_size": "51"' "$work/scenario.json" || { echo "the saved scenario is not what was typed:"; cat "$work/scenario.json"; exit 1; }
echo "typed, switched, saved, closed"
