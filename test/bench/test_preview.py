# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Look before the move: what is shown moves nothing until it goes, and then happens as shown."""

import numpy as np
import pytest
from bench import HOME, URDF, down, running
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from viewer import SHOWN, Viewer

from basis_ik.transforms.rigid import RigidTransform

NEAR, BESIDE = down(0.40, 0.20, 0.40), down(0.40, -0.20, 0.30)
LOCKED = 1.0  # s for which the server ignores feedback after a new marker
READY = [0.3, -1.2, 1.2, -1.6, -1.5, 0.2]
WORDS = ("-p", f"home:={HOME.tolist()}", "-p", f"postures.ready:={READY}")


@pytest.fixture(scope="module")
def started():
    with running(*WORDS) as robot:
        yield robot


@pytest.fixture
def robot(started):
    """A robot that rests at home, and confirms each target."""
    assert started.set_parameter("follow_drag", "live").successful
    assert started.call(SetBool, "enable", data=True).success
    assert started.call(Trigger, "home").success
    started.wait(lambda: at(started, HOME), "home")
    started.wait(started.rests, "silence")
    assert started.set_parameter("follow_drag", "confirm").successful
    yield started
    started.boundary.solving = 0.0
    complaints, started.arm.complaints = started.arm.complaints, []
    assert complaints == []


def at(robot, positions):
    return np.allclose(robot.positions, positions, rtol=0.0, atol=1e-9)


def go(robot):
    return robot.call(Trigger, "go")


def previews(robot, target=NEAR, **how):
    """Send a target, and wait until it is shown; return the values of the status."""
    stamp = robot.send("base_link", target, **how).header.stamp
    robot.wait_status(preview_stamp=f"{stamp.sec}.{stamp.nanosec:09}")
    return seen(robot)


def seen(robot):
    """Wait until the preview is ready; return the values of the status."""
    robot.wait(lambda: "preview_verdict" in robot.statuses[-1], "a preview")
    return robot.statuses[-1]


def test_nothing_moves_before_it_goes_and_then_as_shown(robot):
    status = previews(robot)
    assert status["preview"].startswith("preview: ")
    assert status["preview"].endswith(" s, reached; call ~/go")
    assert status["message"].endswith(status["preview"])
    assert status["state"] == "ARRIVED", "at home"
    count = len(robot.commands)
    robot.run(5.0)
    assert len(robot.commands) == count
    assert at(robot, HOME)
    shown = robot.node._robot.arms[0].rehearsal
    answer = go(robot)
    assert (answer.success, answer.message) == (True, "going")
    begun = robot.time
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")
    assert robot.time - begun == pytest.approx(shown.duration, abs=0.2)
    assert float(status["preview_duration"]) == pytest.approx(shown.duration, abs=0.01)
    np.testing.assert_allclose(robot.positions, shown.solution.positions, rtol=0.0, atol=1e-9)
    robot.run(0.1)
    assert "preview" not in robot.statuses[-1]


def test_it_goes_once(robot):
    answer = go(robot)
    assert (answer.success, answer.message) == (
        False, "there is no preview: nothing waits to go"
    )  # fmt: skip
    previews(robot)
    assert go(robot).success
    assert not go(robot).success
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")
    assert not go(robot).success


def test_it_does_not_go_before_it_is_shown(robot):
    robot.boundary.solving = 0.5
    robot.send("base_link", NEAR)
    robot.run(0.1)
    assert robot.statuses[-1]["preview"] == "preview: not ready yet; call ~/go"
    answer = go(robot)
    assert answer.message.startswith("the preview is not ready yet")
    seen(robot)
    assert go(robot).success


def test_the_verdict_is_that_of_the_target_that_is_named(robot):
    previews(robot, down(1.5, 0.0, 0.4))
    robot.boundary.solving = 0.3
    stamp = robot.send("base_link", NEAR).header.stamp
    robot.wait_status(preview_stamp=f"{stamp.sec}.{stamp.nanosec:09}")
    assert "preview_verdict" not in robot.statuses[-1]
    assert seen(robot)["preview_verdict"] == "REACHED"


def test_of_a_stream_the_newest_is_shown(robot):
    for k in range(20):
        robot.send("base_link", down(0.40, 0.01 * k, 0.40))
        robot.run(0.03)
    seen(robot)
    assert at(robot, HOME)
    assert go(robot).success
    robot.wait(lambda: robot.at(down(0.40, 0.19, 0.40), 1e-9), "the last")


def joint_target(robot):
    names = list(robot.chain.joint_names)
    robot.topic("joint_target").publish(JointState(name=names, position=READY))


SINGLE = {
    "point": lambda robot: robot.look("base_link", (0.9, -0.5, 0.7)),
    "joint positions": joint_target,
    "posture": lambda robot: robot.topic("posture").publish(String(data="ready")),
    "home": lambda robot: robot.call(Trigger, "home"),
}


@pytest.mark.parametrize("send", SINGLE.values(), ids=SINGLE)
def test_every_single_target_waits(robot, send):
    robot.positions = HOME + 0.1
    robot.run(1.0)
    count = len(robot.commands)
    send(robot)
    seen(robot)
    robot.run(1.0)
    assert len(robot.commands) == count
    shown = robot.node._robot.arms[0].rehearsal
    assert go(robot).success
    robot.wait(lambda: at(robot, shown.way[-1]), "where it was shown")


def test_a_posture_is_shown_by_its_name(robot):
    SINGLE["posture"](robot)
    assert seen(robot)["preview"].startswith("preview of ready: ")
    assert "preview_stamp" not in robot.statuses[-1]
    SINGLE["home"](robot)
    robot.wait(lambda: "preview of home" in robot.statuses[-1].get("preview", ""), "home")
    assert robot.call(Trigger, "home").message == "call ~/go"


def jump(robot):
    robot.boundary.offset += 10 * 10**9


def leave(robot):
    robot.run(LOCKED + SHOWN)
    Viewer(robot).choose("leave it")


ENDS = {
    "stop": lambda robot: robot.call(Trigger, "stop"),
    "disable": lambda robot: robot.call(SetBool, "enable", data=False),
    "enable": lambda robot: robot.call(SetBool, "enable", data=True),
    "deactivate": lambda robot: robot.transit("deactivate"),
    "another mode": lambda robot: robot.set_parameter("follow_drag", "live"),
    "twist": lambda robot: robot.jog("base_link"),
    "event": lambda robot: robot.topic("trajectory_execution_event").publish(String(data="stop")),
    "clock": jump,
    "menu": leave,
    "description": lambda robot: robot.description.publish(
        String(data=URDF.replace('name="ur5e"', 'name="other"'))
    ),
    "silence": lambda robot: setattr(robot, "publishing", False),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_what_ends_other_targets_drops_it(robot, end):
    previews(robot)
    end(robot)
    robot.run(3.0)
    robot.publishing = True
    if robot.state() == "inactive":
        assert robot.transit("activate")
    robot.run(0.5)
    if robot.statuses[-1]["state"] == "STOPPED":
        robot.call(SetBool, "enable", data=True)  # which drops all targets itself
    robot.run(1.0)
    assert "preview" not in robot.statuses[-1]
    answer = go(robot)
    assert answer.message == "there is no preview: nothing waits to go"
    assert robot.rests()
    assert at(robot, HOME)


def test_a_stopped_arm_does_not_go(robot):
    previews(robot)
    robot.call(Trigger, "stop")
    assert go(robot).message == "stopped; call ~/enable to continue"


def test_an_arm_that_others_have_moved_is_looked_at_again(robot):
    previews(robot)
    robot.boundary.solving = 0.2
    robot.positions = HOME + 0.04  # so little is no jump
    robot.run(0.1)
    answer = go(robot)
    assert answer.message.startswith("the arm has moved since the preview")
    (arm,) = robot.node._robot.arms
    robot.wait(lambda: np.allclose(arm.rehearsal.way[0], HOME + 0.04), "a new preview", 3.0)
    assert robot.rests()
    assert go(robot).success
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")


def test_an_old_preview_does_not_go(robot):
    previews(robot)
    robot.run(61.0)
    assert go(robot).message == "the preview is older than 60 s: send the target again"
    previews(robot)
    assert go(robot).success


def test_a_preview_follows_its_frame_until_that_is_gone(robot):
    place = [0.0]
    robot.frames["base_link", "cart"] = lambda: down(0.40, place[0], 0.40)
    robot.run(0.1)
    robot.send("cart", RigidTransform.identity(), stamp=None)
    seen(robot)
    place[0] = 0.15
    robot.run(1.0)
    assert go(robot).success
    robot.wait(lambda: robot.at(down(0.40, 0.15, 0.40), 1e-6), "where the cart is")
    robot.send("cart", RigidTransform.identity(), stamp=None)
    seen(robot)
    del robot.frames["base_link", "cart"]
    robot.wait_status(**{"last_refusal.target_pose": robot_gone(robot)})
    assert go(robot).message == "there is no preview: nothing waits to go"


def robot_gone(robot):
    robot.wait(
        lambda: robot.statuses[-1].get("last_refusal.target_pose", "").startswith("TF_STALE"),
        "the frame is too old",
    )
    return robot.statuses[-1]["last_refusal.target_pose"]


def test_the_arm_goes_on_to_its_target_while_another_is_shown(robot):
    previews(robot)
    assert go(robot).success
    robot.run(0.3)
    previews(robot, BESIDE)
    assert go(robot).message.startswith("the arm has moved")
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the first target")
    robot.wait(robot.rests, "silence")
    assert go(robot).success
    robot.wait(lambda: robot.at(BESIDE, 1e-9), "the second")


def test_a_target_out_of_reach_is_shown_with_its_reason(robot):
    status = previews(robot, down(1.5, 0.0, 0.4))
    assert status["preview_verdict"] == "TOO_FAR"
    assert " s, too far by " in status["preview"]
    assert status["level"] == b"\x01"
    assert robot.set_parameter("approximate", False).successful
    seen(robot)
    assert go(robot).success
    robot.wait(
        lambda: robot.statuses[-1].get("last_refusal.target_pose", "").startswith("UNREACHABLE"),
        "a refusal",
    )
    assert robot.rests()
    assert at(robot, HOME)
    assert robot.set_parameter("approximate", True).successful


# The handle -----------------------------------------------------------------------------------


@pytest.fixture
def viewer(robot):
    robot.run(LOCKED)
    return Viewer(robot)


def test_at_its_release_the_arm_follows_the_handle(robot, viewer):
    assert robot.set_parameter("follow_drag", "release").successful
    robot.run(1.0)
    count = len(robot.commands)
    for y in (0.0, 0.1, 0.2):
        viewer.say("POSE_UPDATE", down(0.40, y, 0.40))
        robot.run(0.2)
    assert seen(robot)["preview"].endswith("; let the handle go")
    assert len(robot.commands) == count
    assert at(robot, HOME)
    shown = robot.node._robot.arms[0].rehearsal
    viewer.say("MOUSE_UP", down(0.40, 0.2, 0.40))
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")
    np.testing.assert_allclose(robot.positions, shown.solution.positions, rtol=0.0, atol=1e-9)
    previewed = robot.time
    robot.send("base_link", BESIDE)
    robot.wait(lambda: robot.at(BESIDE, 1e-9), "others are followed at once")
    assert robot.time > previewed


@pytest.mark.parametrize("y", [0.2, 0.15])
def test_a_quick_release_is_followed_too(robot, viewer, y):
    assert robot.set_parameter("follow_drag", "release").successful
    robot.run(1.0)
    robot.boundary.solving = 0.5  # the preview is not ready
    viewer.say("POSE_UPDATE", down(0.40, 0.2, 0.40))
    viewer.say("MOUSE_UP", down(0.40, y, 0.40))
    robot.wait(lambda: robot.at(down(0.40, y, 0.40), 1e-6), "the target")


def test_a_click_moves_nothing(robot, viewer):
    assert robot.set_parameter("follow_drag", "release").successful
    robot.run(1.0)
    here = viewer.marker().pose
    viewer.say("MOUSE_DOWN", here)
    viewer.say("MOUSE_UP", here)
    assert robot.rests()
    assert at(robot, HOME)


def test_the_menu_lets_it_go_or_leaves_it(robot, viewer):
    assert not {"go", "leave it"} & set(viewer.entries())
    viewer.drag(NEAR)
    seen(robot)
    robot.run(1.0)
    assert np.allclose(viewer.place(), NEAR.translation, rtol=0.0, atol=1e-9)
    viewer.choose("leave it")
    assert np.allclose(viewer.place(), robot.tip().translation, rtol=0.0, atol=1e-6)
    assert robot.statuses[-1]["last_refusal.target_pose"].startswith("DROPPED: ")
    assert "refused" not in robot.statuses[-1]["message"]
    assert robot.rests()
    viewer.drag(NEAR)
    seen(robot)
    robot.run(1.0)
    viewer.choose("go")
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")


def test_the_menu_sets_how_the_handle_is_followed(robot, viewer):
    assert "follow: confirm" in viewer.checked()
    viewer.choose("follow: live")
    assert "follow: live" in viewer.checked()
    assert "follow: confirm" not in viewer.checked()
    viewer.drag(NEAR)
    robot.wait(lambda: robot.at(NEAR, 1e-9), "the target")


def test_the_way_is_a_strip(robot):
    previews(robot)
    robot.run(0.2)
    shown = {each.ns: each for each in robot.heard["markers"].markers}
    ends = np.array([[p.x, p.y, p.z] for p in shown["way"].points])
    assert np.allclose(ends[0], robot.tip().translation, rtol=0.0, atol=1e-9)
    assert np.allclose(ends[-1], NEAR.translation, rtol=0.0, atol=1e-6)
    assert shown["state"].text.replace("\n", " ") == robot.statuses[-1]["preview"]
    assert {"ghost", "chain"} & set(shown)
    robot.call(Trigger, "stop")
    robot.run(0.2)
    robot.call(SetBool, "enable", data=True)
    robot.run(0.2)
    assert "way" not in {each.ns for each in robot.heard["markers"].markers if each.action == 0}
