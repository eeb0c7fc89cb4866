#!/usr/bin/env bash
# All tests, and how many they were. Kernels run three times: compiled, compiled with bounds checks, and as plain
# Python. With arguments: pytest with those, once.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -gt 0 ]; then exec python -m pytest "$@"; fi

passed=0 failed=0 status=0 started=$SECONDS
log=$(mktemp)
trap 'rm -f "$log"' EXIT

count() { grep -oE "[0-9]+ $1" "$log" | tail -n 1 | cut -d' ' -f1; }

run() { # run TITLE COMMAND...
  local title=$1
  shift
  printf '\n== %s\n' "$title"
  "$@" 2>&1 | tee "$log" || status=1
  passed=$((passed + 10#0$(count passed)))
  failed=$((failed + 10#0$(count failed) + 10#0$(count error)))
}

run "basis_ik" python -m pytest -q --durations=10 test
run "kernels, with bounds checks" env NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="${NUMBA_CACHE_DIR:-.}/bounds" \
  python -m pytest -q test/kernels
run "kernels, as plain Python" env NUMBA_DISABLE_JIT=1 python -m pytest -q test/kernels
# With ROS 2 installed the underlay is not used, and upstream's packages have their own tests.
if [ -n "${BASIS_IK_UNDERLAY:-}" ]; then run "underlay" python -m pytest -q underlay; fi

printf '\nall tests in %d s\n%d passed, %d failed\n' $((SECONDS - started)) "$passed" "$failed"
exit $status
