# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

# Sourced by setup.sh and env.sh with $root set: where things are, and which ROS 2 is meant.
#   mode    "system" where a ROS 2 installation is sourced (the underlay is not used then), else "underlay"
#   distro  its name;  dependencies  which versions of what basis_ik stands on;  setup  everything that set-up makes for
#   these;  venv  the Python environment
dependencies=${DEPENDENCIES:-newest}
if [ -n "${ROS_DISTRO:-}" ] && [ -z "${BASIS_IK_UNDERLAY:-}" ] && [ -n "${AMENT_PREFIX_PATH:-}" ]; then
  mode=system
  distro=$ROS_DISTRO
  name=system-$distro
else
  mode=underlay
  distro=${DISTRO:-${BASIS_IK_UNDERLAY:-jazzy}}
  name=$distro
  [ "$dependencies" = newest ] || name=$distro-$dependencies
fi
setup=$root/.setup/$name
venv=$setup/venv
# pip asks rustc for its version, and a rustc that belongs to rustup then writes to the home folder.
export RUSTUP_HOME=$setup/cache/rustup
