# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What comes by topic: targets, joint states, trajectories, speed overrides."""

import json
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.msg import JointJog
from fuzz_inputs import any_float, name, number, stamp
from geometry_msgs.msg import PointStamped, PoseStamped, TwistStamped
from rclpy.parameter import Parameter
from std_msgs.msg import Float64
from tf2_ros import TransformException
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from basis_ik.arm.admission import (
    Refusals,
    Refused,
    StampRules,
    Units,
    admit_fraction,
    printable,
)
from basis_ik.arm.goals import JointGoal, JointVelocityGoal, PointGoal, PoseGoal, Ray, TwistGoal
from basis_ik.arm.measured import MeasuredState, StateStamp
from basis_ik.arm.target_input import Arrival, TargetInput
from basis_ik.descent.pose_search_kernel import LARGEST_ANGLE, LARGEST_LENGTH
from basis_ik.extras.web_view.hand_rules import ROOT_T_VIEW, Grip, HandError, HandPose, Lead, read
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import frame_stamp, pose_value, transform_message
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.outputs.trajectory_messages import to_command
from basis_ik.ros.speed_override import SpeedOverride
from basis_ik.simulation.tolerances import JointTolerance, Tolerances
from basis_ik.simulation.trajectory_command import refuse_trajectory
from basis_ik.simulation.trajectory_controller import TrajectoryController
from basis_ik.transforms.rigid import RigidTransform

LONGEST_TEXT = 400  # of a message about inputs with several shortened foreign names
CHAIN = RobotModel.from_urdf((Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()).chain()
HOME = JointGoal((0.0, -1.57, 1.57, -1.57, -1.57, 0.0))
NOW = 1_700_000_000 * 10**9  # ns
STEADY = 1_000.0  # s
RULES = StampRules(max_age=2 * 10**9, max_future=10**8)
FRAMES = ("base_link", "base_link", "cart", "cart", "tool0", "far", "nowhere")
UNITS = (Units(), Units(1.0, 0.2, 0.5, 1.0))


def check_text(text):
    """A text for people is one line without control characters, and short."""
    assert text.isprintable(), f"not one printable line: {text!r}"
    assert len(text) <= LONGEST_TEXT, f"{len(text)} characters: {text}"


class Tf(FrameBuffer):
    """Knows a frame that moves, and one that is as far away as admission lets through."""

    PLACES = {
        "cart": RigidTransform.from_rpy(0.1, -0.2, 0.3, [0.4, 0.0, 0.2]),
        "far": RigidTransform.from_rpy(0.0, 0.0, 0.0, [9e5, 0.0, 0.0]),
    }

    def __init__(self):
        super().__init__()
        self.parents = {"cart": "base_link", "far": "base_link"}

    def lookup_transform(self, root, frame, time):
        if frame not in self.PLACES:
            raise TransformException(f'"{frame}" passed to lookupTransform does not exist.')
        return transform_message(root, frame, self.PLACES[frame], Time())


QUIET = SimpleNamespace(warn=lambda *_: None, recovered=lambda *_: None, info=lambda *_: None)


def fill_header(header, frame, when):
    header.frame_id = frame
    header.stamp.sec, header.stamp.nanosec = when


def pose_message_of(case):
    message = PoseStamped()
    fill_header(message.header, case["frame"], case["stamp"])
    p, q = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = case["position"]
    q.x, q.y, q.z, q.w = case["orientation"]
    return message


def point_message_of(case):
    message = PointStamped()
    fill_header(message.header, case["frame"], case["stamp"])
    message.point.x, message.point.y, message.point.z = case["point"]
    return message


def twist_message_of(case):
    message = TwistStamped()
    fill_header(message.header, case["frame"], case["stamp"])
    v, w = message.twist.linear, message.twist.angular
    v.x, v.y, v.z = case["linear"]
    w.x, w.y, w.z = case["angular"]
    return message


def jog_message_of(case):
    message = JointJog(joint_names=case["names"], velocities=case["velocities"])
    message.displacements = case["displacements"]
    fill_header(message.header, "", case["stamp"])
    return message


def make_header(rng, now=NOW):
    return {"frame": name(rng, FRAMES), "stamp": stamp(rng, now)}


def make_pose(rng, now=NOW):
    odd = rng.choice((0.0, 0.1))
    q = [rng.gauss(0.0, 1.0) for _ in range(4)]
    length = math.hypot(*q) or 1.0
    if rng.random() < 0.15:
        length *= rng.choice((1.0 - 9e-4, 1.0 + 1.1e-3, 1e-160, 1e160, 2.0))
    return {
        **make_header(rng, now),
        "position": [number(rng, -0.8, 0.8, odd) for _ in range(3)],
        "orientation": [any_float(rng) if rng.random() < odd else each / length for each in q],
    }


def make_point(rng, now=NOW):
    return {**make_header(rng, now), "point": [number(rng, -2.0, 2.0) for _ in range(3)]}


def make_twist(rng, now=NOW):
    return {
        **make_header(rng, now),
        "linear": [number(rng, -0.5, 0.5) for _ in range(3)],
        "angular": [number(rng, -1.0, 1.0) for _ in range(3)],
        "unitless": rng.random() < 0.5,
    }


MANY = 100_000  # names in one message: what counts each of them in turn hangs


def make_joint_jog(rng, now=NOW):
    count = rng.randrange(7)
    names = rng.sample(list(CHAIN.joint_names), count)
    if rng.random() < 0.2:
        names = [name(rng, CHAIN.joint_names) for _ in names]
    if rng.randrange(5000) == 0:
        names = [f"joint{k}" for k in range(MANY)] + [CHAIN.joint_names[0]] * 2
        numbers = [0.0] * len(names)
        return {
            "stamp": [0, 0], "names": names, "velocities": numbers, "displacements": [],
            "unitless": False,
        }  # fmt: skip
    return {
        "stamp": stamp(rng, now),
        "names": names,
        "velocities": [
            number(rng, -1.0, 1.0)
            for _ in range(count if rng.random() < 0.95 else rng.randrange(9))
        ],
        "displacements": [any_float(rng)] if rng.random() < 0.03 else [],
        "unitless": rng.random() < 0.5,
    }


def check_goal(goal):
    """Whatever is to be done is finite, and not beyond what a solver can take."""
    if isinstance(goal, PoseGoal):
        matrix = goal.root_T_target.matrix
        assert np.isfinite(matrix).all()
        assert np.abs(matrix[:3, 3]).max() <= LARGEST_LENGTH
        assert np.allclose(matrix[:3, :3] @ matrix[:3, :3].T, np.eye(3), atol=1e-9)
    elif isinstance(goal, PointGoal):
        assert all(abs(each) <= LARGEST_LENGTH for each in goal.root_point)
    elif isinstance(goal, TwistGoal):
        assert all(map(math.isfinite, (*goal.linear, *goal.angular)))
    else:
        assert len(goal.velocities) == len(CHAIN.joint_names)
        assert all(map(math.isfinite, goal.velocities))


def _offered(case, offer, kind):
    """Offer one target while another goal is in force; return what became of it."""
    refusals = Refusals(lambda: 0.0)
    targets = TargetInput(Tf(), CHAIN, QUIET, refusals)
    targets.put(HOME, targets.request("home"))
    taken = offer(targets, Arrival(NOW, STEADY, RULES))
    oldest, goal = NOW - RULES.max_age, HOME
    for later in (0.0, 0.01, 0.02):  # too late for a transform that is still missing
        goal = targets.locate(steady=STEADY + later, patience=0.015, oldest=oldest)
    if goal is not HOME:
        assert taken
        assert isinstance(goal, kind)
        check_goal(goal)
        assert not refusals.last
        return Counter(taken=1)
    assert goal is HOME, "what was refused ends what was asked before"
    assert refusals.counts.total() == 1
    (refusal,) = refusals.last.values()
    assert targets.refusal is refusal
    check_text(str(refusal.refused))
    return Counter([refusal.refused.reason.name])


def triple(message):
    return message.x, message.y, message.z


def run_pose(case):
    message = pose_message_of(case)
    at, pose = frame_stamp(message.header), pose_value(message.pose)
    return _offered(case, lambda t, a: t.offer_pose(at, pose, a, position_only=False), PoseGoal)


def run_point(case):
    message, ray = point_message_of(case), Ray((0.0, 0.0, 1.0))
    at, point = frame_stamp(message.header), triple(message.point)
    return _offered(case, lambda t, a: t.offer_point(at, point, a, ray=ray), PointGoal)


def run_twist(case):
    message, units = twist_message_of(case), UNITS[case["unitless"]]
    at, twist = frame_stamp(message.header), message.twist
    given = at, triple(twist.linear), triple(twist.angular)
    return _offered(case, lambda t, a: t.offer_twist(*given, a, lasts=0.1, units=units), TwistGoal)


def run_joint_jog(case):
    message, units = jog_message_of(case), UNITS[case["unitless"]]
    how = {"lasts": 0.1, "units": units, "displaces": bool(message.displacements)}
    given = frame_stamp(message.header), message.joint_names, message.velocities
    return _offered(case, lambda t, a: t.offer_joint_jog(*given, a, **how), JointVelocityGoal)


# Joint states -------------------------------------------------------------------------------------

FASTEST = np.array([1.0, 2.0, 3.0])
NAMES = ("a", "b", "c")
STATES = 8  # in a case


def make_joint_states(rng):
    """A driver's states, some of them broken: in parts, of strangers, of jumps and of odd times."""
    place, states = [rng.uniform(-3.0, 3.0) for _ in NAMES], []
    for _ in range(STATES):
        place = [each + rng.uniform(-0.02, 0.02) for each in place]
        names, positions = list(NAMES), list(place)
        kind = rng.randrange(8)
        if kind == 0:
            positions[rng.randrange(3)] = any_float(rng)
        elif kind == 1:
            names[rng.randrange(3)] = name(rng, (*NAMES, "x"), 0.5)
        elif kind == 2:
            del (names if rng.random() < 0.5 else positions)[rng.randrange(3)]
        elif kind == 3:
            k = rng.randrange(3)
            del names[k], positions[k]
        elif kind == 4:
            names.append(name(rng, (*NAMES, "x")))
            positions.append(any_float(rng))
        elif kind == 5:
            positions[rng.randrange(3)] += rng.choice((0.1, -1.0, 2.0 * math.pi, 1e3))
        step = 0.01 if rng.random() < 0.9 else abs(number(rng, 0.0, 3.0))
        if rng.randrange(10_000) == 0:
            names, positions = ["a"] * MANY, [0.0] * MANY
        states.append([names, positions, step, stamp(rng, NOW) if rng.random() < 0.7 else None])
    return states


def run_joint_states(case):
    measured = MeasuredState(NAMES, FASTEST, np.array([False, False, True]))
    now, outcomes, reported = STEADY, Counter(), {each: [] for each in NAMES}
    for names, positions, step, when in case:
        if math.isfinite(step) and step < 1e6:
            now += step
        before = measured.positions()
        given = None if when is None else StateStamp(*when, NOW, 500_000_000)
        refused = measured.update(names, positions, now, given)
        after = measured.positions()
        for name_, position in zip(names, positions, strict=False):
            if name_ in reported:
                reported[name_].append(position)
        if refused is not None:
            assert np.array_equal(before, after, equal_nan=True), "a refused state is used"
            check_text(str(refused))
            outcomes[refused.reason.name] += 1
            continue
        outcomes["taken"] += 1
        for name_, position in zip(NAMES, after.tolist(), strict=True):
            if not math.isnan(position):
                assert abs(position) <= LARGEST_ANGLE
                assert position in reported[name_]
        silent = measured.silent(now, 0.5)
        assert set(silent) <= set(NAMES)
        assert np.isfinite(after[[each not in silent for each in NAMES]]).all()
    return outcomes


# The simulated controller -------------------------------------------------------------------------


def make_trajectory(rng):
    count, clean = rng.randrange(5), rng.random() < 0.5
    names = list(CHAIN.joint_names)
    if rng.random() < 0.2 and not clean:
        names = [name(rng, CHAIN.joint_names) for _ in range(rng.randrange(8))]
    time, points = 0, []
    for _ in range(count):
        steps = (1, 10**6, 10**7, 10**8, 10**9) if clean else (0, 1, -1, 10**6, 10**8)
        time += rng.choice(steps) * rng.randrange(1, 20)
        seconds, nanoseconds = divmod(time, 10**9)
        point = {"time": [max(seconds, -(2**31)), nanoseconds]}
        if rng.random() < 0.05 and not clean:
            point["time"] = [rng.randint(-(2**31), 2**31 - 1), rng.getrandbits(32)]
        for field, share in (("positions", 1.0), ("velocities", 0.6), ("accelerations", 0.3)):
            length = len(names) if clean or rng.random() < 0.98 else rng.randrange(8)
            odd = 0.0 if clean else rng.choice((0.0, 0.02))
            present = rng.random() < share or (clean and field == "velocities")
            point[field] = [number(rng, -3.0, 3.0, odd) for _ in range(length * present)]
        point["effort"] = [any_float(rng)] if rng.random() < 0.02 else []
        points.append(point)
    if points and rng.random() < 0.7:  # as the rules want it
        points[-1]["velocities"] = [0.0] * len(points[-1]["velocities"])
    return {
        "names": names,
        "points": points,
        "stamp": rng.choice(([0, 0], stamp(rng, NOW), stamp(rng, 10 * 10**9))),
        "partial": rng.random() < 0.3,
        "final_velocity": rng.random() < 0.3,
        "desired": rng.random() < 0.5,
        "wishes": [
            [name(rng, CHAIN.joint_names), number(rng, -1.5, 1.0), number(rng, -1.5, 1.0)]
            for _ in range(rng.randrange(3))
        ],
        "goal_time": number(rng, -1.0, 2.0),
    }


def run_trajectory(case):
    message = JointTrajectory(joint_names=case["names"])
    message.header.stamp.sec, message.header.stamp.nanosec = case["stamp"]
    for each in case["points"]:
        point = JointTrajectoryPoint(
            positions=each["positions"], velocities=each["velocities"],
            accelerations=each["accelerations"], effort=each["effort"],
        )  # fmt: skip
        point.time_from_start = Duration(sec=each["time"][0], nanosec=each["time"][1])
        message.points.append(point)
    count, now, period = len(CHAIN.joint_names), 10.0, 0.01
    command = to_command(message, 0)
    refusal = refuse_trajectory(
        command, CHAIN.joint_names, now,
        allow_partial_joints=case["partial"], allow_final_velocity=case["final_velocity"],
    )  # fmt: skip
    if refusal is not None:
        check_text(refusal.reason)
        return Counter([refusal.code.name])
    given = Tolerances(np.full(count, 0.1), np.full(count, 0.01), 1.0)
    wishes = [JointTolerance(*wish) for wish in case["wishes"]]
    tolerances = given.with_overrides(CHAIN.joint_names, wishes, wishes, case["goal_time"])
    outcome = "taken"
    if isinstance(tolerances, str):
        check_text(tolerances)
        outcome, tolerances = "TOLERANCES", given
    place = np.array(HOME.positions)
    controller = TrajectoryController(
        CHAIN.joint_names, CHAIN.continuous, place, given,
        period=period, interpolate_from_desired_state=case["desired"],
    )  # fmt: skip
    controller.start_goal(command, tolerances)
    for _ in range(6):
        update = controller.update(now, place, np.zeros(count))
        for state in (update.reference, update.output):
            assert np.isfinite(state.positions).all()
            assert np.isfinite(state.velocities).all()
            assert np.isfinite(state.accelerations).all()
        check_text(update.violation)
        now += period
    return Counter([outcome])


# The gripper, and hands on the page ---------------------------------------------------------------


def make_opening(rng):
    return number(rng, -0.2, 1.2, 0.3)


def run_opening(case):
    admitted = admit_fraction(case)
    if isinstance(admitted, Refused):
        check_text(str(admitted))
        return Counter([admitted.reason.name])
    assert 0.0 <= admitted <= 1.0
    return Counter(taken=1)


def make_hand(rng):
    """Return what a page says, which rarely is no JSON."""
    pose = make_pose(rng)
    said = {
        "arm": name(rng, ("/basis_ik", "/basis_ik/left")),
        "hand": name(rng, ("pad", "left", "right")),
        "held": rng.choice((True, True, False, 1, None)),
        "space": rng.choice((0, 1, 2**31 - 1, 2**31, -1, 0.5, True)),
        "browser": rng.choice((None, None, 0, 7, "0")),
        "place": pose["position"],
        "turn": pose["orientation"],
    }
    if rng.random() < 0.2:
        said["open"] = rng.choice((any_float(rng), 0.5, "0.5", [0.5], 10**400))
    if rng.random() < 0.1:
        said["do"] = rng.choice(("stop", "enable", "dance", ["stop"], None))
    if rng.random() < 0.3:
        del said[rng.choice(list(said))]
    text = json.dumps(said)
    return text[: rng.randrange(len(text))] if rng.random() < 0.1 else text


def run_hand(case):
    try:
        said = read(case)
    except HandError as error:
        check_text(printable(str(error), 100))
        return Counter(["HandError"])
    if isinstance(said, HandPose):
        assert np.isfinite(said.view_T_hand.matrix).all()
        tells, pose = Lead().take("0/pad", said, STEADY, ROOT_T_VIEW)
        assert tells is (False if said.held else None)
        assert np.isfinite(pose.matrix).all()
    elif isinstance(said, Grip):
        assert math.isfinite(said.opening)
    return Counter(taken=1)


# Speed override -----------------------------------------------------------------------------------


def make_speed_override(rng):
    return number(rng, -0.2, 1.2, 0.3)


def run_speed_override(case):
    given, refusals, values = [], Refusals(lambda: 0.0), {"speed_override": 0.5}
    node = SimpleNamespace(
        create_subscription=lambda *_, **__: None,
        resolve_topic_name=str,
        set_parameters=lambda changes: given.extend(changes),
    )
    arm = SimpleNamespace(name="", refusals=refusals)
    controller = SimpleNamespace(arm=arm, journal=QUIET, resolve=str, own=values.__getitem__)
    SpeedOverride(node, controller)._on_message(Float64(data=case))
    for refusal in refusals.last.values():
        assert given == []
        check_text(str(refusal.refused))
        return Counter([refusal.refused.reason.name])
    if case != values["speed_override"]:
        (change,) = given
        assert isinstance(change, Parameter)
        assert change.name == "speed_override"
        assert 0.0 <= change.value <= 1.0
    return Counter(taken=1)
