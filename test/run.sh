#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

# All tests, and how many they were; with arguments: pytest with those, once.
# Kernels run three times: compiled by us, as plain Python, which checks bounds and types, and in part compiled by
# numba alone, as they are with a numba that we do not know. Two lanes take one job after the other, so that both last
# as long on any machine; what starts processes is one lane's alone, so it shares two processors with one other job.
# Only the underlay's tests, which wait half of their time, run beside what that lane computes afterwards. How far each
# is, and what fails, is shown at once; all of their output follows at the end.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -gt 0 ]; then exec python -m pytest "$@"; fi

# Each process that imports numpy would start a thread for each processor, which begins by waiting in a loop:
# a tenth of what a node's start costs. The matrices here are too small to be shared out.
export OPENBLAS_NUM_THREADS=1

started=$SECONDS
LATE=test/bench/test_late_commands.py
logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$logs"' EXIT

run() { # run TITLE COMMAND...
  printf '\n== %s\n' "$1"
  BASIS_IK_TEST_TITLE=$1 "${@:2}" 2>&1
}

launch_files() { run "launch files" python -m pytest -q --durations=5 test/launch; }
nodes() {
  run "nodes and programs" python -m pytest -q --durations=10 test/ros test/extras test/config \
    test/test_programs.py
}
executive() { run "the executive" python -m pytest -q --durations=10 test/arm test/faults test/simulation; }
library() {
  run "the library" python -m pytest -q --durations=10 test --ignore test/ros --ignore test/extras \
    --ignore test/launch --ignore test/config --ignore test/bench --ignore test/test_programs.py \
    --ignore test/arm --ignore test/faults --ignore test/simulation
}
# In parts, so that both lanes end with a short job.
bench_a_to_j() { run "the bench, a to j" python -m pytest -q --durations=10 test/bench/test_[a-j]*.py; }
bench_k_to_p() {
  run "the bench, k to p" python -m pytest -q --durations=10 test/bench/test_[k-p]*.py --deselect "$LATE"
}
bench_q_to_z() { run "the bench, q to z" python -m pytest -q --durations=10 test/bench/test_[!a-p]*.py; }
late_commands() { run "the bench, late commands" python -m pytest -q --durations=10 "$LATE"; }
underlay() {
  local status=0 package
  # With ROS 2 installed the underlay is not used, and upstream's packages have their own tests.
  if [ -n "${BASIS_IK_UNDERLAY:-}" ]; then
    for package in underlay/*/setup.py; do
      package=$(dirname "$package")
      run "$package" python -m pytest -q "$package/test" || status=1
    done
  fi
  return $status
}
kernels_as_python() {
  run "kernels, as plain Python" env NUMBA_DISABLE_JIT=1 python -m pytest -q \
    test/*/test_*_kernel.py test/*/*/test_*_kernel.py
}
kernels_by_numba() {
  run "kernels, compiled by numba alone" env BASIS_IK_PLAIN_NUMBA=1 python -m pytest -q test/transforms \
    test/solvers/pose/test_solve.py
}

jobs_left() { # the jobs that no lane has begun, the longest first
  local status=0 job
  for job in library executive bench_a_to_j late_commands bench_k_to_p bench_q_to_z kernels_as_python kernels_by_numba; do
    if mkdir "$logs/$job" 2>/dev/null; then "$job" || status=1; fi
  done
  return $status
}
processes() {
  local status=0
  launch_files || status=1
  nodes || status=1
  underlay >"$logs/underlay.log" 2>&1 &
  jobs_left || status=1
  wait $! || status=1
  return $status
}
computing() { jobs_left; }

# Once and alone: every process that came upon an empty cache would compile for itself.
python -m basis_ik warm-up || exit 1
export BASIS_IK_TEST_PROGRESS=$logs/progress
: >"$BASIS_IK_TEST_PROGRESS"
tail -n +1 -f "$BASIS_IK_TEST_PROGRESS" &
TIMEFORMAT='%R %U %S'
lane() { { time "$1" >"$logs/$1.log" 2>&1; } 2>"$logs/$1.time"; }
LANES=(processes computing)
running=()
for lane in "${LANES[@]}"; do
  lane "$lane" &
  running+=($!)
done
status=0
for each in "${running[@]}"; do wait "$each" || status=1; done

total() { cat "$logs"/*.log | grep -oE "[0-9]+ ($1)\b" | awk '{ n += $1 } END { print n + 0 }'; }
cat "$logs"/*.log
printf '\n'
for lane in "${LANES[@]}"; do
  awk -v lane="$lane" '{ printf "%-9s %5.0f s, %5.0f s of processor\n", lane, $1, $2 + $3 }' "$logs/$lane.time"
done
printf '\nall tests in %d s\n%d passed, %d failed\n' \
  $((SECONDS - started)) "$(total passed)" "$(total 'failed|errors?')"
exit "$status"
