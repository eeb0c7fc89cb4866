#!/usr/bin/env bash
# All tests, and how many they were; with arguments: pytest with those, once.
# Kernels run three times: compiled, compiled with bounds checks, and as plain Python. Two lanes, one for each of
# two cores; the second lane is shown when the first is through.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -gt 0 ]; then exec python -m pytest "$@"; fi

started=$SECONDS
logs=$(mktemp -d)
trap 'rm -rf "$logs"; kill $(jobs -p) 2>/dev/null' EXIT

run() { # run TITLE COMMAND...
  printf '\n== %s\n' "$1"
  "${@:2}" 2>&1
}

beside() {
  local status=0
  run "kernels, with bounds checks" env NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="${NUMBA_CACHE_DIR:-$logs}/bounds" \
    python -m pytest -q test/kernels || status=1
  run "launch files and configurations" python -m pytest -q --durations=5 test/launch test/config || status=1
  run "kernels, as plain Python" env NUMBA_DISABLE_JIT=1 python -m pytest -q test/kernels || status=1
  # With ROS 2 installed the underlay is not used, and upstream's packages have their own tests.
  [ -n "${BASIS_IK_UNDERLAY:-}" ] || return $status
  local tests
  for tests in underlay/*/test; do run "$(dirname "$tests")" python -m pytest -q "$tests" || status=1; done
  return $status
}

# Once and alone: every process that came upon an empty cache would compile for itself.
python -m basis_ik warm-up || exit 1
beside >"$logs/beside" 2>&1 &
run "basis_ik" python -m pytest -q --durations=10 test --ignore test/launch --ignore test/config | tee "$logs/first"
status=${PIPESTATUS[0]}
wait $! || status=1
cat "$logs/beside"

total() { cat "$logs/first" "$logs/beside" | grep -oE "[0-9]+ ($1)\b" | awk '{ n += $1 } END { print n + 0 }'; }
printf '\nall tests in %d s\n%d passed, %d failed\n' \
  $((SECONDS - started)) "$(total passed)" "$(total 'failed|errors?')"
exit "$status"
