# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
