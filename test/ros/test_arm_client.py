# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The client of an arm: statuses judge a target; a real node, and an arm that is measured."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from robot_bench import HOME, output_of, running, start_node

from basis_ik import client
from basis_ik.client import (
    Arm,
    MotionTimeoutError,
    NodeError,
    NotReachedError,
    ReplacedError,
    Status,
    StoppedError,
    TargetRefusedError,
)
from basis_ik.ros import arm_client
from basis_ik.ros.arm_client import Pursuit
from basis_ik.transforms.rigid import RigidTransform

OWN, OLDER, NEWER = "20.000000005", "20.000000004", "20.000000006"
PATIENCE = 300.0  # s: only ends what hangs


def status(state="MOVING", stamp="", **values):
    values = {key.replace("__", "."): value for key, value in values.items()}
    return Status(state, "words", {**values, **({"target_stamp": stamp} if stamp else {})})


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ([status("ARRIVED", OLDER), status("MOVING", OWN)], False),
        ([status("ARRIVED", OWN, verdict="REACHED")], True),
        ([status("ARRIVED", OWN, verdict="LIMIT")], NotReachedError),
        ([status("READY", OLDER), status(last_refusal_stamp__target_pose=OWN,
                                         last_refusal__target_pose="why")], TargetRefusedError),
        ([status(last_refusal_stamp__target_pose=OLDER)], False),
        ([status(last_refusal_stamp__target_point=OWN)], False),
        ([status("MOVING", OWN), status("MOVING", OLDER)], ReplacedError),
        ([status("MOVING", OWN), status("MOVING", "0.000000000")], ReplacedError),
        ([status("MOVING", "0.000000000")], False),
        ([status("MOVING", OLDER), status("MOVING", NEWER)], ReplacedError),
        ([status("MOVING", OWN), status("MOVING", input="joint_positions")], ReplacedError),
        ([status("MOVING", OWN), status("READY")], TargetRefusedError),
        ([status("MOVING", OWN), status("BRAKING"), status("STOPPED")], StoppedError),
        ([status("STOPPED")] * 2, False),
        ([status("STOPPED")] * 3, StoppedError),
        ([status("STOPPED"), status("MOVING", OWN)], False),
        ([status("READY", last_accepted_stamp__target_pose=OWN)], TargetRefusedError),
        ([status("MOVING", "0.000000000", last_accepted_stamp__target_pose=OWN)], ReplacedError),
        ([status("READY", last_accepted_stamp__target_pose=NEWER)], ReplacedError),
        ([status("READY", last_accepted_stamp__target_pose=OLDER)], False),
        ([status("MOVING", OWN), status("MOVING", input="trajectory")], ReplacedError),
        ([status("ARRIVED", OLDER, preview_stamp=OWN)], False),
        ([status(preview_stamp=OWN), status("MOVING", OWN, preview_stamp=NEWER)], False),
        ([status(preview_stamp=OWN), status("ARRIVED", OWN, verdict="REACHED")], True),
        ([status(preview_stamp=OWN), status("ARRIVED", OLDER)], ReplacedError),
    ],
    ids=[
        "on its way", "there", "beside it", "refused", "another refused", "another input refused",
        "replaced by another's", "replaced by a twist", "a twist before", "replaced at once",
        "replaced by home", "dropped", "stopped",
        "stopped before", "stopped for good", "enabled again",
        "dropped unseen", "replaced unseen by a twist", "replaced unseen", "an older one accepted",
        "replaced by a goal for MoveIt", "it is shown", "it goes", "it went and is there",
        "another is shown",
    ],
)  # fmt: skip
def test_statuses_tell_what_becomes_of_a_target(statuses, outcome):
    pursuit = Pursuit("target_pose", OWN)
    for each in statuses[:-1]:
        assert pursuit.outcome(each) is False
    last = pursuit.outcome(statuses[-1])
    assert type(last) is outcome if isinstance(outcome, type) else last is outcome


def test_a_goal_of_a_service_is_known_by_its_count():
    pursuit = Pursuit("home", None, before=4)
    home = {"input": "joint_positions"}
    assert pursuit.outcome(status("ARRIVED", **home, accepted__home="4")) is False
    assert pursuit.outcome(status("MOVING", **home, accepted__home="5")) is False
    assert pursuit.outcome(status("ARRIVED", **home, accepted__home="5")) is True
    later = pursuit.outcome(status("MOVING", NEWER, accepted__home="5"))
    assert isinstance(later, ReplacedError)
    given = pursuit.outcome(status("MOVING", input="trajectory", accepted__home="5"))
    assert isinstance(given, ReplacedError)


def test_a_posture_is_refused_by_its_count_until_it_is_taken():
    pursuit = Pursuit("posture", None, before=4, refused=1)
    why = {"accepted__posture": "4", "last_refusal__posture": "why"}
    assert pursuit.outcome(status("READY", refused__posture="1", **why)) is False
    assert isinstance(
        pursuit.outcome(status("READY", refused__posture="2", **why)), TargetRefusedError
    )
    pursuit = Pursuit("posture", None, before=4, refused=1)
    taken = {"input": "joint_positions", "accepted__posture": "5", "last_refusal__posture": "why"}
    assert pursuit.outcome(status("MOVING", **taken)) is False
    later = status("ARRIVED", **taken, refused__posture="2")  # another's
    assert pursuit.outcome(later) is True


# A node and an arm -------------------------------------------------------------------------------

NEAR = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.40, 0.20, 0.40])
READY = [0.3, -1.2, 1.2, -1.6, -1.5, 0.2]
FAR = RigidTransform.from_rpy(np.pi, 0.0, 0.0, [-0.40, -0.30, 0.40])


@pytest.fixture(scope="module")
def robot(domain):
    home = f"home:=[{', '.join(map(str, HOME))}]"
    given = ("-p", home, "-p", f"postures.ready:={READY}", "-p", "joint_state_timeout:=10.0")
    with running(domain, *given) as robot:
        for each in (robot.targets, robot.points, robot.twists):
            robot.node.destroy_publisher(each)  # each client would be the second one
        yield robot


@pytest.fixture
def arm(robot, domain):
    with Arm(domain_id=domain, timeout=PATIENCE) as arm:
        yield arm
        arm.enable()


def measured(robot):
    return robot.chain.forward(robot.positions)


def test_five_lines_move_the_arm(robot, arm):
    arm.move_to(NEAR, timeout=PATIENCE)
    np.testing.assert_allclose(measured(robot).matrix, NEAR.matrix, atol=1e-3)
    pose, frame = arm.where()
    assert frame == "base_link"
    np.testing.assert_allclose(pose.matrix, measured(robot).matrix, atol=1e-3)


# Runs last: the client has ended its thread by then, or rclpy may abort the program.
AT_THE_END = """import atexit, threading
atexit.register(lambda: print(threading.active_count()))
"""


def program(domain, lines):
    """Run a program; return its exit status, and what it has printed."""
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END + lines],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout


def test_the_lines_of_the_page_move_the_arm(robot, domain):
    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text()
    (lines,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in lines.splitlines() if line]) == 5
    status, printed = program(domain, lines)
    assert status == 0, printed
    assert re.match(r"\[0\.4.*\n1\n$", printed, re.DOTALL), printed
    np.testing.assert_allclose(measured(robot).translation, (0.4, 0.2, 0.4), atol=1e-3)


def test_a_program_that_fails_has_its_own_status(robot, domain):
    status, printed = program(domain, "from basis_ik.client import Arm\nArm()\nraise SystemExit(3)")
    assert (status, printed) == (3, "1\n")


def test_the_page_lists_every_call_and_error():
    page = (Path(__file__).parents[2] / "docs" / "client.md").read_text()
    calls = {name for name in vars(Arm) if not name.startswith("_")} - {"forget", "wait_for"}
    assert (
        calls - {"is_silent"} == set(re.findall(r"`(\w+)(?:\([^)]*\))?`(?=[,` |])", page)) & calls
    )
    errors = {name for name in client.__all__ if name.endswith("Error")} - {"MotionError"}
    assert set(re.findall(r"^\| `(\w+Error)` \|", page, re.MULTILINE)) == errors


def test_a_position_keeps_the_orientation(robot, arm):
    arm.move_to(NEAR, timeout=PATIENCE)
    arm.move_to([0.35, 0.25, 0.45], timeout=PATIENCE)
    wanted = RigidTransform.from_rotation_translation(NEAR.rotation, [0.35, 0.25, 0.45])
    np.testing.assert_allclose(measured(robot).matrix, wanted.matrix, atol=1e-3)


def test_what_cannot_be_is_told_with_its_reason(robot, arm):
    assert robot.set_parameter("transform_timeout", 0.1).successful
    with pytest.raises(TargetRefusedError, match="NO_TRANSFORM"):
        arm.move_to(NEAR, "no_such_frame", timeout=PATIENCE)
    assert robot.set_parameter("transform_timeout", 10.0).successful
    far = RigidTransform.from_rpy(0.0, 0.0, 0.0, [1.2, 0.6, 0.6])
    with pytest.raises(NotReachedError) as error:
        arm.move_to(far, timeout=PATIENCE)
    assert float(error.value.status.values["missing_distance"]) > 0.3
    with pytest.raises(ValueError, match="shape"):
        arm.move_to([1.0, 2.0])


def test_a_motion_ends_by_another_target_by_time_and_by_a_stop(robot, arm):
    arm.move_to(NEAR, timeout=PATIENCE)
    motion = arm.move_to(FAR, timeout=PATIENCE, wait=False)
    with pytest.raises(MotionTimeoutError):
        arm.move_to(NEAR, timeout=0.0)
    with pytest.raises(ReplacedError):
        motion.wait()
    accepted = arm.status.count("accepted.target_pose")
    motion = arm.move_to(FAR, timeout=PATIENCE, wait=False)
    arm.wait_for(  # a stop that overtakes it would be why it is refused
        lambda: arm.status.count("accepted.target_pose") > accepted, time.monotonic() + PATIENCE
    )
    arm.stop()
    with pytest.raises(StoppedError):
        motion.wait()
    here = robot.positions
    with pytest.raises(TargetRefusedError, match="stopped"):
        arm.move_to(NEAR, timeout=PATIENCE)
    np.testing.assert_allclose(robot.positions, here, atol=1e-6)


def test_motions_are_awaited_and_waited_for_in_threads(robot, arm):
    async def both():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        await arm.move_to(NEAR, timeout=PATIENCE, wait=False)
        ticking.cancel()
        return ticks

    assert asyncio.run(both()) > 0
    thread = threading.Thread(target=arm.home, kwargs={"timeout": PATIENCE})
    thread.start()
    thread.join()
    np.testing.assert_allclose(robot.positions, HOME, atol=1e-3)


def test_it_goes_to_a_posture(robot, arm):
    arm.go_to("ready", timeout=PATIENCE)
    np.testing.assert_allclose(robot.positions, READY, atol=1e-3)
    with pytest.raises(TargetRefusedError, match=r"'rea'; there are: home, ready"):
        arm.go_to("rea", timeout=PATIENCE)
    arm.home(timeout=PATIENCE)


def test_a_target_that_waits_goes_when_it_is_confirmed(robot, arm):
    assert robot.set_parameter("follow_drag", "confirm").successful
    motion = arm.move_to(NEAR, timeout=PATIENCE, wait=False)
    arm.wait_for(lambda: "preview_verdict" in arm.status.values, time.monotonic() + PATIENCE)
    assert not motion.done
    arm.go()
    motion.wait()
    np.testing.assert_allclose(measured(robot).matrix, NEAR.matrix, atol=1e-3)
    with pytest.raises(TargetRefusedError, match="there is no preview"):
        arm.go()
    motion = arm.move_to(FAR, timeout=PATIENCE, wait=False)
    arm.wait_for(lambda: "preview_verdict" in arm.status.values, time.monotonic() + PATIENCE)
    assert robot.set_parameter("follow_drag", "live").successful
    with pytest.raises(TargetRefusedError, match="follow_drag has changed"):
        motion.wait()
    arm.home(timeout=PATIENCE)


def test_jogging_following_and_looking(robot, arm):
    arm.move_to(NEAR, timeout=PATIENCE)
    arm.jog((0.0, 0.0, 0.05), seconds=0.5)
    assert measured(robot).translation[2] > NEAR.translation[2] + 0.01
    arm.follow([NEAR, RigidTransform.from_rpy(np.pi, 0.0, 0.0, [0.42, 0.2, 0.4])], timeout=PATIENCE)
    assert measured(robot).translation[0] == pytest.approx(0.42, abs=1e-3)
    arm.look_at((0.8, 0.3, 0.2), timeout=PATIENCE)
    tip = measured(robot)
    line = np.subtract((0.8, 0.3, 0.2), tip.translation)
    assert np.linalg.norm(np.cross(tip.apply_vector((0.0, 0.0, 1.0)), line)) < 1e-2


def test_there_is_no_arm_without_a_node(domain):
    begun = time.monotonic()
    with pytest.raises(NodeError, match="nothing is heard on /nobody/status"):
        Arm("nobody", domain_id=domain, timeout=0.2)
    assert time.monotonic() > begun


def test_targets_of_one_moment_have_stamps_of_their_own(robot, arm, monkeypatch):
    """With simulated time a moment lasts as long as a period of /clock."""
    clock = arm._node.get_clock()
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    first = arm.move_to(FAR, timeout=PATIENCE, wait=False)
    arm.move_to(NEAR, timeout=PATIENCE)
    with pytest.raises(ReplacedError):
        first.wait()


def test_a_motion_that_is_waited_for_later_has_the_status_that_ended_it(arm):
    motion = arm.move_to(NEAR, timeout=PATIENCE, wait=False)
    arm.wait_for(lambda: motion.done, time.monotonic() + PATIENCE)
    arm.stop()
    assert motion.wait().state == "ARRIVED"


@pytest.mark.parametrize(
    "act", [lambda arm: arm.move_to(NEAR), lambda arm: arm.jog((0.0, 0.0, 0.01), seconds=1e9)]
)
def test_a_node_that_is_not_heard_any_more_ends_what_waits_for_it(arm, monkeypatch, act):
    monkeypatch.setattr(arm_client, "CLIENT", arm_client.CLIENT._replace(status_timeout=-1.0))
    with pytest.raises(NodeError, match="not heard any more"):
        act(arm)


def test_without_time_nothing_is_sent(arm, monkeypatch):
    monkeypatch.setattr(arm._node.get_clock(), "now", lambda: SimpleNamespace(nanoseconds=0))
    with pytest.raises(NodeError, match="no time has come on /clock"):
        arm.move_to(NEAR)


def test_an_interrupted_go_stops_the_arm(robot, arm, domain):
    arm.move_to(NEAR, timeout=PATIENCE)
    robot.set_parameter("speed_override", 0.02)
    place = [str(each) for each in FAR.translation]
    words = ("--to", *place, "--quaternion", "1", "0", "0", "0")
    process = start_node(domain, program=("-m", "basis_ik.programs", "go", *words))
    arm.wait_for(lambda: arm.status.state == "MOVING", time.monotonic() + PATIENCE)
    process.send_signal(signal.SIGINT)
    arm.wait_for(lambda: arm.status.state == "STOPPED", time.monotonic() + PATIENCE)
    assert arm.status.state == "STOPPED"
    here = robot.positions
    assert output_of(process)[0] == 1
    robot.set_parameter("speed_override", 1.0)
    np.testing.assert_allclose(robot.positions, here, atol=1e-6)
    assert np.abs(measured(robot).translation - FAR.translation).max() > 0.01


JOGS = """
from basis_ik.client import Arm
Arm(timeout=300.0).jog((0.0, 0.0, 0.02), seconds=300.0)
"""


def killed_in_motion(robot, arm, process):
    """Kill a client once it moves the arm, without giving it time to say so."""
    start = robot.positions
    robot.wait(lambda: np.abs(robot.positions - start).max() > 0.01, "the arm moves")
    process.kill()
    assert output_of(process)[0] == -signal.SIGKILL
    return arm.status


def test_a_target_outlives_the_client_that_is_killed(robot, arm, domain):
    arm.move_to(NEAR, timeout=PATIENCE)
    robot.set_parameter("speed_override", 0.05)
    place = [str(each) for each in FAR.translation]
    words = ("--to", *place, "--quaternion", "1", "0", "0", "0")
    process = start_node(domain, program=("-m", "basis_ik.programs", "go", *words))
    assert killed_in_motion(robot, arm, process).state == "MOVING"
    robot.set_parameter("speed_override", 1.0)
    arm.wait_for(lambda: arm.status.state == "ARRIVED", time.monotonic() + PATIENCE)
    np.testing.assert_allclose(measured(robot).matrix, FAR.matrix, atol=1e-3)


def test_the_arm_brakes_when_the_client_that_jogs_it_is_killed(robot, arm, domain):
    arm.move_to(NEAR, timeout=PATIENCE)
    killed_in_motion(robot, arm, start_node(domain, program=("-c", JOGS)))
    at_rest = ("READY", "ARRIVED")
    arm.wait_for(lambda: arm.status.state in at_rest, time.monotonic() + PATIENCE)
    assert arm.status.state in at_rest
    assert "input" not in arm.status.values


def go(domain, *words):
    """Run the program `go`; return its exit status and output."""
    program = ("-m", "basis_ik.programs", "go", *words)
    return output_of(start_node(domain, program=program))


def test_the_shell_moves_the_arm(robot, domain):
    words = ["--to", "400", "200", "400", "--millimetres", "--rpy", "180", "0", "0", "--degrees"]
    code, output = go(domain, *words)
    assert code == 0, output
    assert output.startswith("0.4000 0.2000 0.4000 m, ")
    assert output.rstrip().endswith("deg (rpy) in base_link")
    np.testing.assert_allclose(measured(robot).matrix, NEAR.matrix, atol=1e-3)
    code, output = go(domain, "--to", "2.5", "0", "0", "--frame", "base_link")
    assert code == 1
    assert output.startswith("NotReached: too far by 1")
