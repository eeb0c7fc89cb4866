# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm keeps clear of itself and of the objects that MoveIt's messages bring."""

import re

import numpy as np
import pytest
from bench import HOME, URDF, Robot, running
from contact_judge import Judge
from moveit_client import motion_goal
from moveit_msgs.msg import CollisionObject
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from test_chunks import joints, poses
from test_clutch import Hand
from test_diagnostics import next_report
from test_joint_target import lead
from test_move_group import ABORTED, CODE, FAST, GROUP, SUCCEEDED, move, to_joints, to_pose
from test_planning_scene import Client, at, held, primitive, thing
from world import MILLISECOND

from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS
from basis_ik.transforms.rigid import RigidTransform

STOP, TOLERANCE = 0.01, 1e-4  # m
WORDS = ("-p", "check_collisions:=true", "-p", f"stop_distance:={STOP}")
AUTO = ("-p", "check_collisions:=auto")
ELBOW = 2
INTERFACES = ("joint_trajectory", "follow_joint_trajectory", "position")
BOX = SolidPrimitive.BOX
Z = np.array([0.0, 0.0, 1.0])
# Sizes and places; the table's upper side is 2 cm below the base.
TABLE = "table", (2.0, 2.0, 0.1), (0.0, 0.0, -0.07)
WALL = "wall", (0.04, 2.0, 2.0), (0.75, 0.0, 0.5)


def put(robot, client, *objects):
    client.put(*(thing(name, pose=at(*place), primitives=[primitive(BOX, *size)])
                 for name, size, place in objects))  # fmt: skip
    robot.run(0.05)


def check(robot, *objects, begun=0):
    """Check the distances of all pairs at the outputs of the controller since one; return them."""
    scene = robot.node._robot.arms[0].pipeline._limiter.scene
    numbers = [(name, "box", tuple(0.5 * s for s in size), place) for name, size, place in objects]
    pairs = [pair for pair in scene.pairs if "tool" not in pair]
    judge = Judge(robot.urdf, robot.chain, numbers, pairs)
    nearest = min(judge.distances(q).min() for _, q in robot.arm.outputs[begun::4])
    assert nearest >= STOP - TOLERANCE
    return nearest


def wait_until_held(robot, *names):
    def is_held():
        text = robot.statuses[-1]["message"]
        return text.startswith("held by ") and all(name in text for name in names)

    robot.wait(is_held, "it says what holds it")
    robot.run(1.0)
    still = [q for _, q in robot.arm.outputs[-100:]]
    assert (np.array(still) == still[0]).all()


@pytest.mark.parametrize("interface", INTERFACES)
def test_the_arm_stops_above_a_table_and_goes_on_when_it_is_gone(interface):
    with running(*WORDS, "-p", f"command_interface:={interface}") as robot:
        client = Client(robot)
        put(robot, client, TABLE)
        target = robot.chain.forward(HOME + np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0]))
        robot.send("base_link", target)
        wait_until_held(robot, "table", "10.0 mm")
        assert robot.statuses[-1]["level"] == b"\x01"
        assert robot.statuses[-1]["verdict"] == "COLLISION"
        assert check(robot, TABLE) < STOP + TOLERANCE, "it goes as near as it may"
        line = {m.ns: m for m in reversed(robot.heard["markers"].markers)}  # the nearest
        assert line["gap_sizes"].text == "10 mm"
        assert line["gaps"].color.r > 0.8 > 0.4 > line["gaps"].color.g, "red"
        ends = np.array([[p.x, p.y, p.z] for p in line["gaps"].points])
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(STOP, abs=TOLERANCE)
        assert line["state"].text.startswith("held by ")
        client.put(thing("table", operation=CollisionObject.REMOVE, primitives=()))
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(target)


@pytest.mark.parametrize("way", ["leader", "joint chunk", "pose chunk", "device"])
def test_streams_stop_above_a_table(way):
    down = HOME + np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0])
    with running(*WORDS) as robot:
        client = Client(robot)
        put(robot, client, TABLE)
        rows = np.linspace(HOME, down, 11)[1:]
        times, places = np.arange(1, 11) * 0.2, [robot.chain.forward(row) for row in rows]
        if way == "leader":
            for row in rows:
                lead(robot, row)
                robot.run(0.05)
        elif way == "joint chunk":
            joints(robot, times, rows)
        elif way == "pose chunk":
            poses(robot, times, places)
        else:
            hand = Hand(robot)
            robot.run(0.1)
            hand.held = True
            robot.run(0.1)
            hand.go((0.0, 0.0, -0.6), seconds=2.0)
        robot.run(3.0)
        assert check(robot, TABLE) < 0.05, "it comes near"
        still = np.array([q for _, q in robot.arm.outputs[-100:]])
        assert np.ptp(still, axis=0).max() < 1e-4


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_box_that_is_dropped_on_the_way_stops_the_arm_before_it(interface):
    box = "box", (0.1, 0.4, 0.4), (0.62, -0.15, 0.35)
    with running(*WORDS, "-p", f"command_interface:={interface}") as robot:
        client = Client(robot)
        start = HOME + np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
        robot.reach(robot.chain.forward(start))
        target = robot.chain.forward(HOME + np.array([-1.2, 0.6, -0.6, 0.0, 0.0, 0.0]))
        robot.set_off(target, 0.3)
        put(robot, client, box)
        begun = len(robot.arm.outputs)
        robot.run(8.0)
        check(robot, box, begun=begun)
        assert robot.statuses[-1]["message"].startswith("held by "), robot.statuses[-1]


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("moment", [0.2, 0.35])
def test_a_planned_motion_that_something_blocks_ends_and_says_what(interface, moment):
    box = "box", (0.1, 0.4, 0.4), (0.62, -0.15, 0.35)
    side, bent = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.6, -0.6, 0, 0, 0])
    with running(
        *WORDS, "-p", f"command_interface:={interface}", "-p", f"moveit_group:={GROUP}"
    ) as robot:
        client = Client(robot)
        robot.reach(robot.chain.forward(HOME + side))
        sent = robot.act("move_action", to_joints(robot, HOME - side + bent))
        robot.run(moment)
        put(robot, client, box)
        begun = len(robot.arm.outputs)
        wait_until_held(robot, "box")
        assert robot.statuses[-1]["state"] == "MOVING", "not at the target, but on the way"
        assert robot.end_of(sent) == ABORTED
        assert sent.result.error_code.val == CODE.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
        assert re.match(r"held by .* and box, \d", sent.result.error_code.message)
        check(robot, box, begun=begun)
        assert move(robot, to_joints(robot, HOME + side))[0] == SUCCEEDED


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_planned_motion_goes_on_if_what_blocks_it_goes(interface):
    side = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    with running(
        *WORDS, "-p", f"command_interface:={interface}", "-p", f"moveit_group:={GROUP}"
    ) as robot:
        client = Client(robot)
        robot.reach(robot.chain.forward(HOME + side))
        sent = robot.act("move_action", to_joints(robot, HOME - side))
        robot.run(0.2)
        put(robot, client, ("box", (0.6, 0.1, 1.0), (0.6, -0.3, 0.5)))
        wait_until_held(robot, "box")
        client.put(thing("box", operation=CollisionObject.REMOVE, primitives=()))
        assert robot.end_of(sent) == SUCCEEDED
        assert np.allclose(robot.positions, HOME - side, atol=1e-6)


def test_a_jogged_tip_stops_before_a_wall_and_leaves_it():
    with running(*WORDS) as robot:
        put(robot, Client(robot), WALL)
        for speed in (0.3, -0.3):
            begun, start = len(robot.arm.outputs), robot.tip().translation[0]
            for _ in range(90):
                robot.jog("base_link", linear=(speed, 0.0, 0.0))
                robot.run(0.02)
            if speed > 0.0:
                assert robot.statuses[-1]["message"].startswith("held by ")
                assert check(robot, WALL, begun=begun) < STOP + 3e-3
            else:
                assert robot.tip().translation[0] < start - 0.3


def test_a_tool_that_is_attached_is_kept_clear_too():
    with running(*WORDS) as robot:
        client = Client(robot)
        put(robot, client, TABLE)
        stick = primitive(BOX, 0.02, 0.02, 0.2)
        client.hold(
            held(
                "tool",
                frame="tool0",
                pose=at(0.0, 0.0, 0.11),
                primitives=[stick],
                touch=["wrist_3_link"],
            )
        )
        robot.run(0.05)
        for _ in range(120):
            robot.jog("base_link", linear=(0.0, 0.0, -0.3))
            robot.run(0.02)
        assert robot.statuses[-1]["message"].startswith("held by tool and table")
        tip = robot.tip()
        corners = [tip.apply((x, y, 0.21)) for x in (-0.01, 0.01) for y in (-0.01, 0.01)]
        lowest = min(corner[2] for corner in corners)
        assert -0.02 + STOP - TOLERANCE <= lowest <= -0.02 + STOP + 3e-3


def test_an_arm_among_objects_that_are_nowhere_does_not_move():
    with running(*WORDS) as robot:
        client = Client(robot)
        robot.frames["base_link", "crate"] = lambda: at(5.0)
        robot.run(0.2)
        client.put(thing("box", frame="crate"))
        robot.run(0.2)
        assert robot.statuses[-1]["state"] == "READY"
        robot.frames.clear()
        robot.wait_status(state="WAITING")
        text = robot.statuses[-1]["message"]
        assert "the object box stands in crate, and tf has no transform of it" in text


BARE = re.sub("<collision>.*?</collision>", "", URDF, flags=re.DOTALL)
MESH = "<geometry><mesh filename='package://gone/a.stl'/></geometry>"
LOST = re.sub(
    "(<collision>.*?)<geometry>.*?</geometry>", rf"\1{MESH}", URDF, count=1, flags=re.DOTALL
)


@pytest.mark.parametrize(
    ("words", "why"),
    [(WORDS, "is true"), ((*AUTO, "-p", "point_cloud_topic:=points"), "point_cloud_topic")],
)
@pytest.mark.parametrize("urdf", [BARE, LOST], ids=["none", "lost mesh"])
def test_a_robot_without_usable_shapes_is_refused_if_collisions_must_be_checked(urdf, words, why):
    robot = Robot(*words, urdf=urdf)
    try:
        robot.run(1.0)
        assert robot.state() == "unconfigured"
        told = "\n".join(robot.log.lines())
        assert "parameter 'check_collisions' is " in told
        assert f"{why}, but the robot cannot be judged" in told
    finally:
        robot.end()


@pytest.mark.parametrize("urdf", [BARE, LOST], ids=["none", "lost mesh"])
def test_a_robot_without_usable_shapes_moves_and_says_that_it_is_not_checked(urdf):
    with running(*AUTO, urdf=urdf) as robot:
        robot.reach(robot.chain.forward(HOME + 0.3))
        (line,) = [text for level, text in robot.log if level != "info"]
        assert line.startswith("collisions are not checked: the robot cannot be judged: ")
        assert line.endswith("; mend it, or set check_collisions to false")
        robot.wait(lambda: "/diagnostics" in robot.heard, "a report")
        assert next_report(robot)[1]["collisions_unchecked"] in line


@pytest.mark.parametrize(
    ("words", "warned"), [(AUTO, True), (("-p", "check_collisions:=false"), False)]
)
def test_an_object_that_cannot_stop_the_arm_is_told_of_as_it_comes(words, warned):
    with running(*words, urdf=BARE) as robot:
        put(robot, Client(robot), POST)
        told = [text for level, text in robot.log if level != "info" and "'post'" in text]
        assert bool(told) == warned
        if warned:
            text = (
                "planning scene: the arm does not stop before 'post': the robot cannot be judged: "
            )
            assert told[0].startswith(text)


def test_collisions_are_checked_unless_a_parameter_says_otherwise():
    declared = {each.name: each.default for each in CHAIN_PARAMETERS}
    assert f"check_collisions:={declared['check_collisions']}" == AUTO[1]
    with running(*AUTO) as robot:
        lead(robot, HOME + 1.2)  # would fold the wrist into the upper arm
        wait_until_held(robot)
        check(robot)


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_arm_that_is_folded_beyond_its_limits_is_held(interface):
    """Its joint may only move inwards, and there the links would overlap more at first."""
    folded = HOME.copy()
    folded[ELBOW] = -np.pi - 0.2
    with running(*WORDS, "-p", f"command_interface:={interface}", home=folded) as robot:
        robot.send("base_link", robot.chain.forward(HOME))
        robot.run(3.0)
        assert robot.statuses[-1]["message"].startswith("held by ")
        assert np.array_equal(robot.positions, folded)


def test_an_srdf_says_which_pairs_are_compared():
    off = '<disable_collisions link1="forearm_link" link2="wrist_2_link" reason="Never"/>'
    srdf = f'robot_description_semantic:=<robot name="ur5e">{off}</robot>'
    with running(*WORDS, "-p", srdf) as robot:
        scene = robot.node._robot.arms[0].pipeline.scene
        assert scene.left_out["forearm_link", "wrist_2_link"] == "SRDF: Never"
        assert ("shoulder_link", "upper_arm_link") in scene.pairs, "samples would leave it out"


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_pose_inside_a_box_is_reached_once_the_box_is_gone(interface):
    with running(*WORDS, "-p", f"command_interface:={interface}") as robot:
        client = Client(robot)
        target = robot.chain.forward(HOME + 0.3)
        put(robot, client, ("box", (0.1, 0.1, 0.1), tuple(target.translation)))
        robot.send("base_link", target)
        wait_until_held(robot, "box", "10.0 mm")
        client.put(thing("box", operation=CollisionObject.REMOVE, primitives=()))
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(target)


POST = "post", (0.08, 0.08, 1.2), (0.35, 0.36, 0.5)  # before the arm's way to its left


def left(angle=1.57):
    return HOME + np.array([angle, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("interface", INTERFACES)
def test_another_posture_is_taken_if_the_way_to_the_nearest_is_blocked(interface):
    with running(*WORDS, "-p", f"command_interface:={interface}") as robot:
        put(robot, Client(robot), POST)
        target = robot.chain.forward(left())
        robot.send("base_link", target)
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(target)
        assert np.abs(robot.positions - left()).max() > 0.5
        check(robot, POST)
        robot.send("base_link", robot.chain.forward(HOME))
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        check(robot, POST)


@pytest.mark.parametrize("interface", INTERFACES)
def test_another_posture_is_taken_also_at_the_moment_of_arrival(interface):
    """The last command is still repeated then."""
    with running(*WORDS, "-p", f"command_interface:={interface}") as robot:
        put(robot, Client(robot), POST)
        before, target = robot.chain.forward(left(0.2)), robot.chain.forward(left())
        for pose in (before, target):
            robot.send("base_link", pose)
            robot.wait(lambda pose=pose: robot.statuses[-1]["state"] == "ARRIVED"
                       and robot.at(pose, 1e-3), "arrival")  # fmt: skip
        assert np.abs(robot.positions - left()).max() > 0.5
        check(robot, POST)


def test_move_action_takes_another_posture_if_the_way_to_the_nearest_is_blocked():
    with running(*WORDS) as robot:
        put(robot, Client(robot), POST)
        _, result = move(robot, to_joints(robot, left(), **FAST))
        assert result.error_code.val == CODE.INVALID_MOTION_PLAN
        assert "post" in result.error_code.message
        target = robot.chain.forward(left())
        status, result = move(robot, motion_goal(to_pose(target), **FAST))
        assert (status, result.error_code.val) == (SUCCEEDED, CODE.SUCCESS)
        assert robot.at(target, 1e-3)
        assert np.abs(robot.positions - left()).max() > 0.5


def test_an_arm_that_is_held_takes_another_posture_to_the_next_target():
    with running(*WORDS) as robot:
        put(robot, Client(robot), POST)
        robot.topic("joint_target").publish(
            JointState(name=list(robot.chain.joint_names), position=list(left()))
        )
        wait_until_held(robot, "post")
        target = robot.chain.forward(left())
        robot.send("base_link", target)
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(target)
        check(robot, POST)


@pytest.mark.parametrize("interface", INTERFACES[:2])
def test_an_arm_that_is_led_by_small_steps_keeps_its_posture_before_a_post(interface):
    with running(*WORDS, "-p", f"command_interface:={interface}") as robot:
        put(robot, Client(robot), POST)
        for angle in np.arange(0.0, 1.57, 0.03):
            robot.send("base_link", robot.chain.forward(left(angle)))
            robot.run(0.1)
        wait_until_held(robot, "post")
        assert 0.0 < robot.positions[0] < 1.57
        np.testing.assert_allclose(robot.positions[1:], HOME[1:], atol=1e-3)
        check(robot, POST)


def test_an_arm_whose_ways_are_all_blocked_is_held_before_the_nearest_posture():
    angles = 0.6 + np.pi / 4 * np.arange(8)
    ring = [
        (f"post{k}", POST[1], (0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.5))
        for k, angle in enumerate(angles.tolist())
    ]
    with running(*WORDS) as robot:
        put(robot, Client(robot), *ring)
        robot.send("base_link", robot.chain.forward(left()))
        wait_until_held(robot, "post0")
        check(robot, *ring)


def test_it_looks_by_a_posture_that_is_free():
    """The nearest positions at which the tip looks at the point are in a box; others are not."""
    with running(*WORDS) as robot:
        client = Client(robot)
        point = (-0.59, -0.48, 0.5)
        robot.look("base_link", point)
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        nearest = robot.positions.copy()
        tip = robot.tip().translation
        robot.reach(robot.chain.forward(HOME))
        box = "box", (0.06, 0.06, 0.06), tuple(tip.tolist())
        put(robot, client, box)
        begun = len(robot.arm.outputs)
        robot.look("base_link", point)
        robot.run(0.1)
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert np.abs(robot.positions - nearest).max() > 0.01
        root_T_tip = robot.tip()
        way = np.array(point) - root_T_tip.translation
        axis = root_T_tip.rotation @ Z
        assert np.linalg.norm(np.cross(way, axis)) < 1e-4
        check(robot, box, begun=begun)


def test_an_arm_that_keeps_clear_says_what_it_costs_and_how_near_it_is():
    with running(*WORDS) as robot:
        client = Client(robot)
        robot.run(1.2)
        _, arm = next_report(robot)
        assert (arm["objects"], arm["collision_check_ms_mean"]) == ("0", "")
        pairs = int(arm["compared_pairs"])
        place = robot.tip().translation + np.array([0.0, 0.0, -0.3])
        client.put(
            thing("ball", pose=at(*place), primitives=[primitive(SolidPrimitive.SPHERE, 0.1)])
        )
        robot.run(0.1)
        scene = robot.node._robot.arms[0].pipeline.scene
        _, arm = next_report(robot)
        assert (arm["objects"], int(arm["compared_pairs"]) > pairs) == ("1", True)
        gap = scene.distance(robot.positions)
        assert arm["nearest_pair"] == " and ".join(gap.names)
        assert float(arm["smallest_distance"]) == pytest.approx(
            gap.distance + gap.padding, rel=1e-3
        )
        robot.reach(RigidTransform.from_rpy(0, 0, 0, (0, 0, 0.1)) @ robot.tip())
        _, arm = next_report(robot)
        mean, most = (float(arm[f"collision_check_ms_{each}"]) for each in ("mean", "max"))
        assert 0.0 < mean <= most


LATE = 50 * MILLISECOND


def nearest_of_commands_and_arm(lag, turn, gap, height, side, speed):
    """Jog around a thin post, with late messages; return both distances, and what the lag allows.

    A drive that lags by τ is at a mean of earlier commands, whose distance from the command τ ago
    is ½·a·τ², with the acceleration a of the fastest point; here of the tip, over τ.
    """
    with running(*WORDS, "-p", "jog_slides:=true", "-p", "command_interface:=position",
                 lag=lag) as robot:  # fmt: skip
        centre = robot.tip().translation + gap * np.array([np.cos(turn), np.sin(turn), 0.0])
        post = "post", (0.04, 0.04, height), tuple(centre.tolist())
        put(robot, Client(robot), post)
        scene = robot.node._robot.arms[0].pipeline.scene
        if not scene.is_free(robot.positions):
            pytest.skip("the post stands on the arm")
        for link in (robot.states.link, robot.controller_states.link, robot.commanding):
            link.delay = 0, LATE
        begun, measured = len(robot.arm.outputs), []
        for step in range(200):
            out = centre - robot.tip().translation
            out = np.array([out[0], out[1], 0.0]) / np.hypot(out[0], out[1])
            along = side * np.array([-out[1], out[0], 0.0])
            up = np.array([0.0, 0.0, 0.2 * np.sin(0.1 * step)])
            robot.jog("base_link", linear=tuple(0.3 * out + speed * along + up))
            for _ in range(5):
                robot.run(0.004)
                measured.append(robot.arm.joints.positions.copy())
        commands = check(robot, post, begun=begun)
        numbers = [("post", "box", tuple(0.5 * size for size in post[1]), post[2])]
        judge = Judge(robot.urdf, robot.chain, numbers, scene.pairs)
        arm = min(judge.distances(q).min() for q in measured)
        ways = np.array([q for _, q in robot.arm.outputs[begun:]])
        n = round(lag / 0.002)
        rates = (ways[2 * n :] - 2.0 * ways[n:-n] + ways[: -2 * n]) / lag**2
        pulls = [robot.chain.jacobian(q)[:3] @ a for q, a in zip(ways[n:], rates, strict=False)]
        return commands, arm, 0.5 * np.linalg.norm(pulls, axis=1).max() * lag**2


def test_an_arm_that_lags_keeps_the_distance_but_for_half_of_the_acceleration_by_the_lag_squared():
    where = -0.024, 0.14, 1.0, -1.0, 0.2
    commands, arm, allowed = nearest_of_commands_and_arm(0.1, *where)
    assert commands >= STOP - TOLERANCE
    assert commands - allowed <= arm < commands - 3e-4, "the lag matters"
    commands, arm, _ = nearest_of_commands_and_arm(0.03, *where)
    assert min(commands, arm) >= STOP - TOLERANCE


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_it_is_at_most_4_mm_nearer_at_random_places(seed):
    rng = np.random.default_rng(seed)
    lag, most = [(0.1, 4e-3), (0.03, TOLERANCE)][seed % 2]
    turn, gap = rng.uniform(-np.pi, np.pi), rng.uniform(0.1, 0.2)
    where = turn, gap, rng.choice([0.3, 1.0]), rng.choice([-1.0, 1.0]), rng.uniform(0.1, 0.8)
    _, arm, _ = nearest_of_commands_and_arm(lag, *where)
    assert arm >= STOP - most
