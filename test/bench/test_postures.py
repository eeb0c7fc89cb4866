# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Postures by name: of parameters and of an SRDF, by topic and by the handle's menu."""

import numpy as np
import pytest
from bench import HOME, running
from std_msgs.msg import String
from std_srvs.srv import Trigger
from viewer import Viewer

READY = [0.3, -1.2, 1.2, -1.6, -1.5, 0.2]
BENT, LOST = {"elbow_joint": 1.9, "finger": 0.3}, {"elbow_joint": 9.0}


def states(**postures):
    """Return group states of an SRDF."""
    return "".join(
        f'<group_state name="{name}" group="arm">'
        + "".join(f'<joint name="{joint}" value="{q}"/>' for joint, q in joints.items())
        + "</group_state>"
        for name, joints in postures.items()
    )


SRDF = f'<robot name="ur5e">{states(bent=BENT, lost=LOST)}</robot>'
WORDS = ("-p", f"home:={HOME.tolist()}", "-p", f"postures.ready:={READY}",
         "-p", f"robot_description_semantic:={SRDF}")  # fmt: skip


@pytest.fixture(scope="module")
def started():
    with running(*WORDS) as robot:
        yield robot


@pytest.fixture
def robot(started):
    """A robot that rests at home."""
    assert started.call(Trigger, "home").success
    started.wait(lambda: at(started, HOME), "home")
    started.wait(started.rests, "silence")
    return started


def at(robot, positions):
    return np.allclose(robot.positions, positions, rtol=0.0, atol=1e-9)


def go_to(robot, posture):
    robot.topic("posture").publish(String(data=posture))


def test_the_arm_goes_to_a_posture_by_its_name(robot):
    accepted = int(robot.statuses[-1].get("accepted.posture", "0"))
    go_to(robot, "ready")
    robot.wait_status(state="ARRIVED", **{"accepted.posture": str(accepted + 1)})
    assert robot.statuses[-1]["input"] == "joint_positions"
    robot.wait(lambda: at(robot, READY), "ready")
    go_to(robot, "home")
    robot.wait(lambda: at(robot, HOME), "home by its name")


def test_joints_that_a_posture_does_not_have_stay(robot):
    go_to(robot, "ready")
    robot.run(0.3)
    go_to(robot, "bent")  # in mid-motion: the others come to rest
    robot.wait_status(state="ARRIVED", input="joint_positions")
    robot.wait(robot.rests, "silence")
    elbow = robot.chain.joint_names.index("elbow_joint")
    moved = robot.positions - HOME
    assert robot.positions[elbow] == pytest.approx(BENT["elbow_joint"], abs=1e-9)
    assert 0.0 < moved[0] < READY[0], "it was braked on its way"


@pytest.mark.parametrize(
    ("posture", "reason"),
    [
        ("rea", "UNKNOWN_POSTURE: the chain has no such posture "
                "('rea'; there are: bent, home, lost, ready)"),
        ("", "UNKNOWN_POSTURE: "),
        ("x" * 10_000 + "\n", "UNKNOWN_POSTURE: "),
        ("lost", "OUT_OF_RANGE: a number is outside its range ('lost': elbow_joint must lie in"),
    ],
    ids=["unknown", "empty", "long", "unfit"],
)  # fmt: skip
def test_what_is_no_posture_is_refused(robot, posture, reason):
    refused = int(robot.statuses[-1].get("refused.posture", "0"))
    go_to(robot, posture)
    robot.wait_status(**{"refused.posture": str(refused + 1)})
    told = robot.statuses[-1]["last_refusal.posture"]
    assert told.startswith(reason)
    assert len(told) < 300
    assert told.isprintable()
    assert robot.rests()
    assert at(robot, HOME)


def test_a_stopped_arm_goes_to_no_posture(robot):
    assert robot.call(Trigger, "stop").success
    robot.wait_status(state="STOPPED")
    go_to(robot, "ready")
    robot.run(0.1)
    assert robot.statuses[-1]["last_refusal.posture"].startswith("NOT_READY: ")
    assert robot.rests()
    Viewer(robot).choose("enable")


def test_the_menu_has_the_postures(robot):
    viewer = Viewer(robot)
    below = {each.parent_id for each in viewer.marker().menu_entries if each.title[:5] == "go to"}
    assert below == {viewer.entries()["postures"]}
    named = {title for title in viewer.entries() if title.startswith("go to")}
    assert named == {"go to bent", "go to home", "go to ready"}
    viewer.choose("go to ready")
    robot.wait(lambda: at(robot, READY), "ready")


def test_an_unfit_posture_of_the_srdf_is_named_at_the_start(robot):
    (line,) = [line for line in robot.log.lines() if line.startswith("posture 'lost'")]
    assert line.startswith("posture 'lost' is left out: elbow_joint must lie in [-3.14159, 3.14")
