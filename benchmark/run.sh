#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

# Runs every bench_*.py here, in an environment of its own that also holds the competitors, which
# is made when the first benchmark needs it; `latency`, `cold`, `following`, `motion` and `tracking`
# run in that of make.
# Arguments go to each of them (--quick: fewer rounds); BENCH=solve,fabrik runs only those. `branches`
# and `reached` compare solutions with brute force for a quarter of an hour and for hours, and run only
# if BENCH names them. JSON goes to .setup/bench/results; with WRITE=1 to the tracked benchmark/results,
# of which the figures are drawn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bench=.setup/bench
results=$bench/results
[ -z "${WRITE:-}" ] || results=benchmark/results
mkdir -p "$results"

for name in $(tr , ' ' <<<"${BENCH:-}"); do
  [ -f "benchmark/bench_$name.py" ] || {
    printf 'BENCH=%s is unknown. Choose of:%s\n' "$name" "$(printf ' %s' benchmark/bench_*.py | sed 's#benchmark/bench_##g; s#\.py##g')" >&2
    exit 1
  }
done

fetch_competitors() {
  local key
  key=$({ python3 -VV; cat benchmark/requirements.txt; } | sha256sum)
  [ "$(cat "$bench/stamp" 2>/dev/null)" != "$key" ] || return 0
  echo "[bench] fetching the competitors into $bench: 2.7 GB, once; BENCH=latency,cold,following,motion,tracking needs none"
  rm -rf "$bench/venv"
  python3 -m venv "$bench/venv"
  PIP_CACHE_DIR=.setup/cache/pip "$bench/venv/bin/pip" install --disable-pip-version-check -r benchmark/requirements.txt
  printf '%s' "$key" >"$bench/stamp"
}

for script in benchmark/bench_*.py; do
  name=$(basename "$script" .py)
  name=${name#bench_}
  case $name in branches | reached) chosen=${BENCH:-} ;; *) chosen=${BENCH:-$name} ;; esac
  case ",$chosen," in *",$name,"*) ;; *) continue ;; esac
  printf '\n== %s\n' "$name"
  case $name in latency | cold | following | motion | tracking) # no competitors
    python "$script" "$@" --json "$results/$name.json" ;;
  *)
    fetch_competitors
    env -u LD_LIBRARY_PATH -u PYTHONPATH PYTHONPATH=. "$bench/venv/bin/python" "$script" "$@" --json "$results/$name.json" ;;
  esac
  [ -n "${WRITE:-}" ] || continue
  case $name in solve | fabrik | transforms | limiter | latency) python docs/figures/draw_bench.py "$name" ;; esac
done
echo "[bench] JSON is in $results"
