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

"""Faults of the robot description, before a node and a simulated arm as processes."""

import time

import numpy as np
from motions import FAR, NEAR, has_braked, in_every_period, set_off, stands, unstarted
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rig import SPEED, own_rig, waiting
from robot_bench import URDF, wait_for_log
from std_msgs.msg import String

LATE = 30.0  # s
TAKEN = "ready: "  # logged once for each robot
BRAKING = "braking before it is used"
SLOWER = URDF.replace('name="ur5e"', 'name="slower"', 1).replace('velocity="3.14', 'velocity="1.57')
SLOW = 0.02  # of the speed: then the arm is on its way while a long description is read


def large(joints):
    """Return the robot with so many joints: more of them, in rows of ten that hang on its base."""
    parts = []
    for k in range(joints - URDF.count("<joint ")):
        parent = f"more_{k - 1}" if k % 10 else "base_link"
        parts.append(
            f'<link name="more_{k}"/><joint name="joint_of_{k}" type="revolute"><parent '
            f'link="{parent}"/><child link="more_{k}"/><axis xyz="0 0 1"/>'
            '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>\n'
        )
    text = URDF.replace('name="ur5e"', 'name="large"', 1)
    return text.replace("</robot>", "".join(parts) + "</robot>")


def test_row_39_a_late_description(own_domain, observed):
    with unstarted(own_domain) as rig:
        rig.start_arm()
        rig.start_node()
        time.sleep(LATE)
        assert rig.commands == []
        assert rig.state() == "unconfigured"
        waiting = rig.log.count("waiting for a robot description")
        assert 1 <= waiting <= LATE / 5.0 + 1
        rig.description.publish(String(data=URDF))
        rig.ready()
        rig.description.publish(String(data=URDF))  # it may be published twice
        assert stands(rig, 1.0)
        assert rig.log.count(TAKEN) == 1
    observed(f"unconfigured for {LATE:.0f} s, which it says {waiting} times; configured once")


def test_row_43_another_description_at_run_time(own_domain, observed):
    with own_rig(own_domain) as rig:
        set_off(rig)
        for text in (URDF, URDF[: len(URDF) // 2], "", "<!DOCTYPE robot><robot name='x'/>"):
            rig.description.publish(String(data=text))
            time.sleep(0.05)
        rig.wait(lambda: rig.at(FAR, 1e-3), "the arm goes on")
        assert rig.log.count(TAKEN) == 1
        assert "robot description refused" in rig.log
        observed("the same, a malformed one: the motion goes on")
        rig.send("base_link", NEAR)
        rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")
        set_off(rig)
        rig.description.publish(String(data=SLOWER))
        wait_for_log(rig.process, f"{TAKEN}slower")
        has_braked(rig)
        rig.ready()
        assert stands(rig), "nothing of before is taken up"
        kept = len(rig.recorder.windows)
        rig.send("base_link", NEAR)
        rig.wait(lambda: rig.at(NEAR, 1e-3), "the arm is there")
        assert max(fastest(rig, window) for window in rig.recorder.windows[kept:]) <= 0.501
        observed("another one: HOLD, then its limits hold, and nothing is taken up")


def fastest(rig, window):
    """Return the largest speed in a window, as a share of the joints' own limits."""
    return (np.abs(window.states[1]) / (SPEED * rig.chain.velocity)).max()


def test_row_93_a_large_description_in_mid_motion(own_domain, observed):
    text = large(990)
    assert len(text) > 190_000

    with own_rig(own_domain, node=("-p", "tip_link:=tool0")) as rig:

        def read():
            """Set off slowly; return the windows from the description's coming to rest."""
            set_speed(rig, SLOW)
            rig.send("base_link", FAR)
            rig.wait(lambda: rig.statuses[-1]["state"] == "MOVING", "the arm moves")
            first, taken = len(rig.recorder.windows), rig.log.count(f"{TAKEN}large")
            with waiting(rig.process.pid) as waited:
                say(rig, text, BRAKING)
                wait = waited()
            rig.wait(lambda: rig.log.count(f"{TAKEN}large") > taken, "it is taken")
            windows = [w for w in rig.recorder.windows[first:] if np.any(w.states[1])]
            set_speed(rig, SPEED)
            say(rig, URDF, f"{TAKEN}ur5e")
            rig.ready()
            return windows, wait

        count = in_every_period(rig, read)
        assert stands(rig), "nothing of before is taken up"
        observed(f"{len(text) // 1000} kB: a command in each of the {count} periods meanwhile")


def set_speed(rig, share):
    """Let the next motion have a share of the velocity limits."""
    wish = [Parameter("max_velocity_scaling_factor", value=share).to_parameter_msg()]
    answer = rig.call(SetParameters, "set_parameters", parameters=wish)
    assert answer.results[0].successful, answer


def say(rig, description, words):
    """Publish a robot description, and wait for words in the log."""
    before = rig.log.count(words)
    rig.description.publish(String(data=description))
    rig.wait(lambda: rig.log.count(words) > before, words)
