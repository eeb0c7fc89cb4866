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
"""The node's lifecycle in motion; more of it is in test/faults/test_bench_life.py."""

from bench import down, running

NEAR, FAR = down(0.40, 0.20, 0.40), down(-0.40, -0.30, 0.40)


def test_cleanup_in_motion_brakes_and_the_node_can_be_configured_again():
    with running() as robot:
        robot.set_off(FAR)
        for name in ("deactivate", "cleanup"):
            assert robot.transit(name)
        assert robot.state() == "unconfigured"
        assert not [each for each in robot.node.subscriptions if "target" in each.topic_name]
        assert robot.rests()
        assert not robot.at(FAR, 1e-2)
        for name in ("configure", "activate"):
            assert robot.transit(name)
        robot.wait_status(state="READY")
        robot.reach(NEAR, 1e-9)
