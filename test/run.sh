#!/usr/bin/env bash
# All tests. Kernels run three times: compiled, compiled with bounds checks, and as plain Python.
# Each pass has a ROS domain of its own, so that nothing outside is heard or disturbed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONDONTWRITEBYTECODE=
total=0 status=0

run() { # run TITLE PYTEST-ARGUMENTS...
  local title=$1 log code count
  shift
  log=$(mktemp)
  printf '\n== %s\n' "$title"
  python -m pytest -q "$@" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  [ "$code" = 0 ] || { status=1; failed+=("$title"); }
  count=$(grep -oE '[0-9]+ passed' "$log" | tail -n 1 | cut -d' ' -f1)
  total=$((total + ${count:-0}))
  rm -f "$log"
}

failed=()
if [ $# -gt 0 ]; then
  exec python -m pytest "$@"
fi
run "basis_ik" test
run "kernels, bounds checked" env test/kernels
run "underlay" underlay
exit $status
