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

"""Points, twists and the operator's services over DDS, with the node in its own process."""

import math
import time

import numpy as np
import pytest
from robot_bench import HOME, down, running
from std_srvs.srv import SetBool, Trigger

from basis_ik.transforms.rigid import RigidTransform

READY = down(0.40, 0.20, 0.40)


@pytest.fixture(scope="module")
def robot(domain):
    with running(domain, "-p", "home:=[0.1, -1.5, 1.5, -1.5, -1.5, 0.1]") as robot:
        yield robot


@pytest.fixture(autouse=True)
def _enabled_and_safe(robot):
    robot.call(SetBool, "enable", data=True)
    robot.go(READY)
    yield
    complaints, robot.complaints = robot.complaints, []
    assert complaints == []


def miss(robot, root_point):
    """Angle between the tip's z axis and the line to a point [rad]."""
    line = np.asarray(root_point) - robot.tip().translation
    cosine = robot.tip().rotation[:, 2] @ line / np.linalg.norm(line)
    return math.acos(min(1.0, cosine))


def test_a_point_is_looked_at(robot):
    point, wanted = (0.9, -0.5, 0.7), ("REACHED", "ARRIVED", "base_link")
    robot.look("base_link", point)
    robot.wait(lambda: miss(robot, point) < 1e-4, "the arm looks at the point")
    seen = len(robot.statuses)

    def arrived():
        if robot.statuses[-1]["state"] == "READY":  # late joint states have dropped the target
            robot.look("base_link", point)
            time.sleep(0.5)
        keys, new = ("verdict", "state", "target_frame"), robot.statuses[seen:]
        return any(tuple(map(status.get, keys)) == wanted for status in new)

    robot.wait(arrived, f"a status with {wanted}")


def test_a_point_in_a_moving_frame_is_followed(robot):
    start = time.monotonic()

    def ball():
        angle = 0.5 * math.sin(min(time.monotonic() - start, 2.0))
        return RigidTransform.from_rpy(0.0, 0.0, angle, [0.8, 0.0, 0.3])

    robot.frames["ball"] = ball
    time.sleep(0.1)
    robot.look("ball", (0.1, 0.2, 0.0))

    def seen():
        return miss(robot, ball().apply((0.1, 0.2, 0.0)))

    robot.wait(lambda: seen() < math.radians(1.0), "the arm sees the ball")
    robot.wait(lambda: time.monotonic() - start > 2.2, "the ball rests")
    robot.wait(lambda: seen() < 1e-4, "the arm sees the ball at its end")
    robot.frames.clear()


def test_a_bad_point_is_refused(robot):
    robot.look("base_link", (0.0, math.nan, 0.0))
    robot.wait_status(**{"refused.NON_FINITE": "1"})
    robot.look("base_link", (0.0, 1e200, 0.0))
    robot.wait_status(**{"refused.OUT_OF_RANGE": "1"})
    assert robot.no_commands()


def test_the_newest_target_of_any_kind_wins(robot):
    robot.look("base_link", (0.9, -0.5, 0.7))
    time.sleep(0.1)  # DDS keeps no order between topics
    robot.reach(down(0.45, -0.10, 0.30), "the arm is at the pose")
    robot.wait(robot.no_commands, "silence")


def jog(robot, seconds, frame, **twist):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        robot.jog(frame, **twist)
        time.sleep(0.02)


def jog_to_rest(robot, seconds, frame, **twist):
    """Jog from READY, and wait for rest."""

    def attempt():
        robot.go(READY)
        jog(robot, seconds, frame, **twist)
        robot.wait(robot.no_commands, "it stops when no twist comes")

    robot.unstalled(attempt)


@pytest.mark.parametrize("frame", ["base_link", "tool0", "tilted"])
def test_a_twist_moves_the_tip_along_the_axes_of_its_frame(robot, frame):
    tilted = RigidTransform.from_rpy(0.3, 0.0, 1.0, [5.0, 5.0, 5.0])
    robot.place("base_link", "tilted", tilted)
    axes = {"base_link": RigidTransform.identity(), "tool0": READY, "tilted": tilted}[frame]
    time.sleep(0.2)
    jog_to_rest(robot, 0.5, frame, linear=(0.0, 0.0, 0.1))
    travel = robot.tip().translation - READY.translation
    along = axes.apply_vector((0.0, 0.0, 1.0))
    distance = float(travel @ along)
    assert 0.02 < distance < 0.12
    assert np.linalg.norm(travel - distance * along) < 1e-4 * distance
    np.testing.assert_allclose(robot.tip().rotation, READY.rotation, atol=1e-5)


def test_a_twist_turns_the_tip_about_its_own_origin(robot):
    jog_to_rest(robot, 0.4, "base_link", angular=(0.0, 0.0, 0.5))
    turned = READY.inverse() @ robot.tip()
    assert np.linalg.norm(turned.translation) < 1e-5
    axis, angle = turned.as_axis_angle()
    assert 0.05 < angle < 0.5
    np.testing.assert_allclose(np.abs(axis), [0.0, 0.0, 1.0], atol=1e-4)


def test_a_limit_stops_the_twist_and_is_reported_until_it_leads_back(robot):
    seen = len(robot.statuses)

    def reported():
        robot.jog("tool0", angular=(0.0, 0.0, 3.0))
        return any(
            (status.get("verdict"), status.get("joint")) == ("LIMIT", "wrist_3_joint")
            for status in robot.statuses[seen:]
        )

    robot.wait(reported, "the limit is named")
    assert robot.chain.upper[5] - 1e-2 < robot.positions[5] <= robot.chain.upper[5]
    held = robot.positions

    def led_back():
        robot.jog("tool0", angular=(0.0, 0.0, -1.0))
        return robot.positions[5] < held[5] - 0.02

    robot.wait(led_back, "it is led back")
    robot.wait(robot.no_commands, "it stops when no twist comes")
    assert "verdict" not in robot.statuses[-1]


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e200])
def test_a_bad_twist_is_refused(robot, bad):
    robot.jog("base_link", linear=(bad, 0.0, 0.0))
    robot.jog("base_link", angular=(0.0, 0.0, bad))
    assert robot.no_commands(0.4)


def test_stop_brakes_and_holds_until_enabled(robot):
    robot.set_off(down(-0.40, -0.30, 0.40), 0.05)
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    robot.wait(robot.no_commands, "silence")
    assert not robot.at(down(-0.40, -0.30, 0.40), 1e-2)
    held = robot.positions
    robot.send("base_link", down(0.45, -0.10, 0.30))
    robot.look("base_link", (1.0, 0.0, 0.0))
    robot.jog("base_link", linear=(0.1, 0.0, 0.0))
    assert not robot.call(Trigger, "home").success
    assert robot.no_commands(0.5)
    assert robot.call(SetBool, "enable", data=True).success
    assert robot.no_commands(0.5), "what came while it was stopped is not replayed"
    assert np.array_equal(robot.positions, held)


def test_disable_is_a_stop(robot):
    assert robot.call(SetBool, "enable", data=False).success
    robot.wait_status(state="STOPPED")
    robot.send("base_link", down(0.45, -0.10, 0.30))
    assert robot.no_commands(0.5)


def test_home_goes_to_its_positions(robot):
    assert robot.call(Trigger, "home").success
    home = HOME * 0 + [0.1, -1.5, 1.5, -1.5, -1.5, 0.1]
    robot.wait(lambda: np.allclose(robot.positions, home, atol=1e-9), "the arm is at home")
    robot.wait_status(state="ARRIVED")
