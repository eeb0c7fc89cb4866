# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

# To be sourced (bash): an environment in which `ros2`, `colcon`, `python` and `pytest` find ROS 2, the underlay
# and basis_ik. Nothing that runs in it writes outside the repository folder.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
. "$root/underlay/paths.sh"

export VIRTUAL_ENV=$venv DEPENDENCIES=$dependencies
case ":$PATH:" in *":$venv/bin:"*) ;; *) export PATH="$venv/bin:$PATH" ;; esac
export PYTHONNOUSERSITE=1
# Bytecode is kept in the repository folder: each process would compile all its modules anew, for half a second.
unset PYTHONDONTWRITEBYTECODE
export ROS_HOME=$setup/ros ROS_LOG_DIR=$setup/ros/log COLCON_HOME=$setup/colcon NUMBA_CACHE_DIR=$setup/cache/numba
export TMPDIR=$setup/tmp MPLCONFIGDIR=$setup/cache/matplotlib
mkdir -p "$TMPDIR"
# Programs started here talk to this machine only, unless told otherwise.
export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}

# Once for each environment: a shell may be that of another one.
case ":${AMENT_PREFIX_PATH:-}:" in *":$venv:"*) entered=yes ;; *) entered=no ;; esac
if [ "$mode" = underlay ] && [ "$entered" = no ]; then
  export BASIS_IK_UNDERLAY=$distro ROS_DISTRO=$distro ROS_VERSION=2 ROS_PYTHON_VERSION=3
  export AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv
  # The wheels' libraries; naming them here spares every process the wheels' own re-execution.
  LD_LIBRARY_PATH=$(printf '%s:' "$venv"/lib/python3*/site-packages/ros_*.libs)$venv/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
  # Nodes find each other in tenths of a second. Only the name that fits the distribution: both would clash.
  if [ "$distro" = jazzy ]; then
    export FASTRTPS_DEFAULT_PROFILES_FILE=${FASTRTPS_DEFAULT_PROFILES_FILE:-$root/underlay/discovery.xml}
  else
    export FASTDDS_DEFAULT_PROFILES_FILE=${FASTDDS_DEFAULT_PROFILES_FILE:-$root/underlay/discovery.xml}
  fi
fi
# Colcon's scripts read variables that may be unset.
case $- in *u*) nounset=-u ;; *) nounset=+u ;; esac
set +u
for part in underlay package; do
  if [ -f "$setup/$part/install/local_setup.bash" ]; then . "$setup/$part/install/local_setup.bash"; fi
done
set $nounset
unset root mode distro dependencies name setup venv entered part nounset
