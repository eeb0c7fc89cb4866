# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What of a pose counts, and which of its solutions is wanted: parameters, and the measured arm."""

import math

import numpy as np
import pytest
from bench import HOME, down, running
from shipped_arms import Kinematics, urdf_of
from std_srvs.srv import Trigger

from basis_ik.transforms.rigid import RigidTransform

NEAR = down(0.40, 0.20, 0.40)
FREE = {
    "tolerance.position": [],
    "tolerance.orientation": [],
    "weights": [],
    "preferred_posture": [],
    "elbow.link": "",
    "elbow.point": [],
}
FORWARD, ELBOW = (Kinematics(urdf_of("ur5e"), link) for link in ("tool0", "forearm_link"))


@pytest.fixture(scope="module")
def started():
    with running("-p", f"home:={HOME.tolist()}") as robot:
        yield robot


@pytest.fixture
def robot(started):
    set_all(started, **FREE)
    assert started.call(Trigger, "home").success
    started.wait(lambda: np.allclose(started.positions, HOME, atol=1e-9), "home")
    started.wait(started.rests, "silence")
    return started


def set_all(robot, **values):
    for name, value in values.items():
        answer = robot.set_parameter(name, value)
        assert answer.successful, answer.reason


def go(robot, target, verdict="REACHED"):
    """Send a target, and wait until the arm is there; return the last status."""
    sent = robot.send("base_link", target).header.stamp
    stamp = f"{sent.sec}.{sent.nanosec:09}"
    robot.wait_status(state="ARRIVED", verdict=verdict, target_stamp=stamp)
    return robot.statuses[-1]


def left(robot, target):
    """Return the tip in the target's axes: place (3,) [m], and rotation vector (3,) [rad]."""
    at = np.linalg.inv(target.matrix) @ FORWARD(robot.positions)
    return at[:3, 3], RigidTransform.from_matrix(at).log()[3:]


def test_the_tip_stays_where_it_comes_into_the_box(robot):
    set_all(robot, **{"tolerance.position": [0.1, 0.02, 0.0]})
    status = go(robot, NEAR)
    place, turn = left(robot, NEAR)
    assert (np.abs(place) <= np.array([0.1, 0.02, 0.0]) + 2e-5).all()
    assert np.abs(place).max() > 0.01, "it uses the box"
    assert np.abs(turn).max() < 1e-4
    assert float(status["position_error"]) <= 1e-5
    here = robot.positions
    inside = NEAR @ RigidTransform.from_rpy(0.0, 0.0, 0.0, 0.5 * place)
    go(robot, inside)
    assert np.abs(robot.positions - here).max() < 1e-3, "it is in the box already"


def test_a_box_about_the_axes_bounds_the_turn(robot):
    set_all(robot, **{"tolerance.orientation": [0.3, 0.05, 0.0]})
    go(robot, NEAR)
    place, turn = left(robot, NEAR)
    assert np.abs(place).max() < 1e-4
    assert (np.abs(turn) <= np.array([0.3, 0.05, 0.0]) + 1e-4).all()
    assert np.abs(turn).max() > 0.01


@pytest.mark.parametrize("turned", [0.0, 2.0, -3.0])
def test_about_a_free_axis_the_tip_does_not_turn_for_a_target(robot, turned):
    set_all(robot, **{"tolerance.orientation": [0.0, 0.0, 3.2]})
    go(robot, NEAR)
    here = robot.positions
    go(robot, NEAR @ RigidTransform.from_rpy(0.0, 0.0, turned, [0.0, 0.0, 0.0]))
    assert np.abs(robot.positions - here).max() < 1e-3
    assert np.abs(FORWARD(robot.positions)[:3, 2] - [0.0, 0.0, -1.0]).max() < 1e-4


def test_with_a_free_axis_the_others_bound_its_tilt(robot):
    set_all(robot, **{"tolerance.orientation": [0.1, 0.1, 4.0]})
    go(robot, NEAR)
    axis = NEAR.matrix[:3, :3].T @ FORWARD(robot.positions)[:3, 2]
    assert np.abs(axis[:2]).max() <= math.sin(0.1) + 1e-4


def test_a_new_tolerance_counts_for_the_same_target_sent_again(robot):
    set_all(robot, **{"tolerance.position": [0.1]})
    go(robot, NEAR)
    assert np.abs(left(robot, NEAR)[0]).max() > 0.01
    set_all(robot, **{"tolerance.position": []})
    robot.run(1.0)
    assert np.abs(left(robot, NEAR)[0]).max() > 0.01, "not before it is sent"
    go(robot, NEAR)
    assert np.abs(left(robot, NEAR)[0]).max() < 1e-4


def test_weights_say_what_is_kept_of_a_pose_out_of_reach(robot):
    far = down(0.95, 0.0, 0.30)
    go(robot, far, "ORIENTATION_UNREACHABLE")
    _, plain = left(robot, far)
    set_all(robot, weights=[1.0, 1.0, 1.0, 10.0, 10.0, 10.0])
    go(robot, far, "ORIENTATION_UNREACHABLE")
    place, turn = left(robot, far)
    assert np.linalg.norm(plain) > 0.2
    assert np.linalg.norm(turn) < 0.05
    assert np.linalg.norm(place) > 0.02


@pytest.mark.parametrize("elbow", [1.0, -1.0], ids=["elbow up", "elbow down"])
def test_the_posture_chooses_the_branch(robot, elbow):
    posture = HOME * [1.0, 1.0, elbow, 1.0, 1.0, 1.0]
    posture[1] = -1.57 if elbow > 0.0 else 0.2
    set_all(robot, preferred_posture=posture.tolist())
    go(robot, NEAR)
    assert np.sign(robot.positions[2]) == elbow
    assert robot.at(NEAR)


def test_in_motion_the_arm_keeps_its_branch(robot):
    robot.set_off(NEAR)
    posture = HOME * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]
    set_all(robot, preferred_posture=posture.tolist())
    go(robot, down(0.42, 0.15, 0.40))
    assert robot.positions[2] > 0.0


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["above", "below"])
def test_the_elbow_goes_to_the_side_of_its_point(robot, side):
    set_all(robot, **{"elbow.link": "forearm_link", "elbow.point": [0.2, 0.1, side]})
    set_all(robot, preferred_posture=[0.0] * 6)  # which does not count
    go(robot, NEAR)
    assert side * (ELBOW(robot.positions)[2, 3] - 0.25) > 0.05
    assert robot.at(NEAR)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("tolerance.position", [0.1, 0.2], "must be 1 or 3 numbers, not 2"),
        ("tolerance.position", [-0.1], "must lie in [0, 100], not -0.1"),
        ("tolerance.position", [math.inf], "must lie in [0, 100], not inf"),
        ("tolerance.orientation", [0.1, -1.0, 0.1], "must lie in [0, 1000], not -1"),
        ("tolerance.orientation", [math.nan], "must lie in [0, 1000], not nan"),
        ("weights", [1.0] * 5, "must be 6 numbers, not 5"),
        ("weights", [0.0] * 6, "must lie in [1e-06, 1e+06], not 0"),
        ("preferred_posture", [0.0] * 5, "must have 6 numbers (shoulder_pan_joint"),
        ("preferred_posture", [math.nan] * 6, "must lie in [-10000, 10000], not nan"),
        ("elbow.link", "no_such_link", "is 'no_such_link', which is no link of the chain"),
        ("elbow.link", "base_link", "is 'base_link', which is no link of the chain"),
        ("elbow.point", [0.0, 0.0], "must be 3 numbers, not 2"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(started, name, value, complaint):
    answer = started.set_parameter(name, value)
    assert not answer.successful
    assert answer.reason.startswith(f"parameter '{name}' {complaint}")


def test_what_fabrik_cannot_is_done_by_descent(robot):
    set_all(robot, **{"solver": "fabrik", "tolerance.position": [0.1]})
    status = go(robot, NEAR)
    set_all(robot, solver="descent")
    assert "passes" not in status
    assert 0.01 < np.abs(left(robot, NEAR)[0]).max() <= 0.1 + 1e-4
