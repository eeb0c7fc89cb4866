# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links keep their distances in every motion: judged by MuJoCo's kinematics and distances."""

import functools
import itertools
import re

import numpy as np
import pytest
from contact_judge import Judge
from shipped_arms import HOMES, chain_of, model_of, urdf_of, worst

from basis_ik.arm import given_motion
from basis_ik.arm.caps import SpeedCaps
from basis_ik.arm.clearance import Clearance
from basis_ik.arm.clearance_kernel import state_at, way_left
from basis_ik.arm.goals import JointGoal, JointVelocityGoal, MotionGoal, PoseGoal, TwistGoal
from basis_ik.arm.joints_kernel import (
    GOAL,
    JOINT_COLUMNS,
    PROFILE,
    START_STATE,
    plan_brake_together,
)
from basis_ik.arm.limiter import Limiter, plan_motion
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.path_timing import time_path
from basis_ik.arm.pipeline import Phase, Pipeline
from basis_ik.arm.profile_kernel import duration
from basis_ik.collision.collision_scene import Scene
from basis_ik.collision.shape import Shape
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.verdict import Verdict

STOP = 0.01  # m
TOLERANCE = 1e-4  # m
# Names, sizes (half of a box; radius and half length of a cylinder) and places.
TABLE = ("table", "box", (1.0, 1.0, 0.05), (0.0, 0.0, -0.07))
POST = ("post", "cylinder", (0.04, 0.5), (0.5, 0.25, 0.5))
WALL = ("wall", "box", (0.02, 1.0, 1.0), (0.75, 0.0, 0.5))


def placed(place):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, place)


def shape_of(kind, size):
    if kind == "box":
        return Shape.box(*np.multiply(size, 2.0))
    return Shape.cylinder(size[0], 2.0 * size[1])


@functools.cache
def links_of(robot):
    """Return a scene without objects."""
    return Scene(model_of(robot), chain_of(robot), padding=STOP, exact=False)


@functools.cache
def judge_of(robot, objects, pairs):
    """Return the judge of an arm among objects, and what each pair has to keep (p,)."""
    judge = Judge(urdf_of(robot), chain_of(robot), objects, pairs)
    return judge, kept_by(judge, chain_of(robot))


def kept_by(judge, chain):
    """Return what each pair has to keep (p,): half of the most it can have, or STOP."""
    rng = np.random.default_rng(0)
    apart = [judge.distances(chain.random(rng)) for _ in range(150)]
    return np.minimum(0.5 * np.max(apart, axis=0), STOP)


class Arm:
    """A pipeline that keeps distances, an arm that executes commands exactly, and all commands."""

    def __init__(self, robot="ur5e", objects=(TABLE,), q=None, period=0.01):
        self.chain = chain = chain_of(robot)
        self.scene = scene = links_of(robot).copy()
        for name, kind, size, place in objects:
            scene.add(name, shape_of(kind, size), placed(place))
        caps = SpeedCaps(chain)
        caps.clearance = Clearance(scene)
        self.limits, self.period = MotionLimits.of_chain(chain), period
        self.pipe = Pipeline(chain, period=period, caps=caps)
        self.judge, self.kept = judge_of(robot, objects, tuple(scene.pairs))
        self.commands = [HOMES[robot] if q is None else np.array(q)] * 3

    @property
    def q(self):
        return self.commands[-1]

    def go(self, goal, periods):
        """Step towards a goal a number of times, or until the commands end."""
        self.pipe.set_goal(goal, self.q)
        self.step(periods)

    def step(self, periods):
        for _ in range(periods):
            command = self.pipe.step(self.q)
            if command is None:
                return
            self.commands.append(command)

    def nearest(self, since=0, parts=4):
        """Return the least distance at and between the commands [m].

        That of two that keep less, as they begin nearer, is so much larger.
        """
        way = np.array(self.commands[since:])
        kept = np.minimum(self.judge.distances(way[0]), self.kept)
        return min(
            (self.judge.distances(a + share * (b - a)) + STOP - kept).min()
            for a, b in itertools.pairwise(way)
            for share in np.arange(1, parts + 1) / parts
        )

    def check(self, since=0):
        """Check the distances and the joints' limits since a command."""
        assert self.nearest(since) >= STOP - TOLERANCE
        assert worst(self.commands, self.limits, self.period).max() <= 1.0 + 1e-6


def anywhere(rng, arm, size):
    home = HOMES["ur5e"] if len(arm.q) == 6 else HOMES["panda"]
    return np.clip(home + rng.uniform(-size, size, len(home)), arm.chain.lower, arm.chain.upper)


def something(rng, arm):
    """Return a goal of any kind, and for how many periods."""
    n, kind = len(arm.q), rng.integers(4)
    if kind == 0:
        return JointGoal(tuple(anywhere(rng, arm, 2.0))), 250
    if kind == 1:
        return PoseGoal(arm.chain.forward(anywhere(rng, arm, 1.5)), straight=bool(n % 2)), 250
    if kind == 2:
        return JointVelocityGoal(tuple(rng.uniform(-2.0, 2.0, n))), 120
    return TwistGoal(tuple(rng.uniform(-0.6, 0.6, 3)), tuple(rng.uniform(-1.0, 1.0, 3))), 120


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("robot", HOMES)
def test_no_motion_comes_nearer_than_the_stop_distance(robot, slides):
    rng, arm = np.random.default_rng(3), Arm(robot, (TABLE, POST))
    arm.pipe.slides, held = slides, 0
    for _ in range(7):
        arm.go(*something(rng, arm))
        held += arm.pipe.obstacle is not None or (
            arm.pipe.solution is not None and arm.pipe.solution.verdict is Verdict.COLLISION
        )
        if rng.random() < 0.3:
            arm.pipe.brake(quickest=bool(rng.integers(2)))
            arm.step(300)
    print(f"held {held} times, nearest {1e3 * arm.nearest():.3f} mm")
    assert held >= 2
    arm.check()


def test_a_motion_into_a_table_ends_smoothly_above_it_and_says_so():
    arm = Arm()
    down = HOMES["ur5e"] + [0.0, 1.5, 0.0, 0.0, 0.0, 0.0]
    arm.go(JointGoal(tuple(down)), 300)
    arm.check()
    assert arm.nearest(since=-2) < STOP + 1e-4, "it goes as near as it may"
    assert arm.pipe.phase is Phase.MOVING
    assert np.array_equal(arm.commands[-1], arm.commands[-2])
    words = str(arm.pipe.obstacle)
    assert words.startswith("held by "), words
    assert words.endswith("and table, 10.0 mm"), words
    # Leaving is as fast as without a table.
    since, free = len(arm.commands), Arm(objects=(), q=arm.q)
    for each in (arm, free):
        each.go(JointGoal(tuple(HOMES["ur5e"])), 400)
    assert np.array_equal(arm.q, HOMES["ur5e"])
    assert len(arm.commands) - since == len(free.commands) - 3
    assert arm.pipe.obstacle is None


def test_a_table_that_is_gone_lets_the_arm_go_on():
    arm = Arm()
    down = HOMES["ur5e"] + [0.0, 1.5, 0.0, 0.0, 0.0, 0.0]
    arm.go(JointGoal(tuple(down)), 300)
    arm.scene.remove("table")
    arm.step(400)
    assert np.array_equal(arm.q, down)
    assert arm.pipe.obstacle is None


def test_a_goal_that_comes_again_elsewhere_is_approached_by_a_way_that_is_free_from_there():
    low = HOMES["ur5e"] - [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    arm = Arm(objects=(POST,), q=low + np.array([0.0, -0.9, -1.2, 0.0, 0.0, 0.0]))
    beyond = JointGoal(tuple(low + np.array([2.1, 0.0, 0.0, 0.0, 0.0, 0.0])))
    arm.go(beyond, 10)
    for _ in range(300):  # down before the post
        arm.go(JointVelocityGoal(tuple(np.clip(2.0 * (low - arm.q), -1.0, 1.0))), 1)
    arm.go(JointVelocityGoal((0.0,) * 6), 100)
    arm.go(beyond, 400)
    arm.check()
    assert "post" in str(arm.pipe.obstacle)


@pytest.mark.parametrize("slides", [False, True])
def test_a_jogged_tip_stops_before_a_wall_or_slides_along_it(slides):
    arm = Arm(objects=(WALL,))
    arm.pipe.slides = slides
    along = TwistGoal((0.15, 0.1, 0.0), (0.0, 0.0, 0.0))
    arm.go(along, 600 - 350 * slides)
    arm.check()
    assert arm.nearest(since=-2) < STOP + 2.5e-3
    tips = np.array([arm.chain.forward(each).translation for each in arm.commands])
    speed = (tips[-1] - tips[-2]) / arm.period
    if slides:
        assert abs(speed[0]) < 0.01
        assert 0.06 < speed[1] < 0.11
    else:
        assert np.linalg.norm(speed) < 1e-3
        off = tips - tips[0]
        across = off - np.outer(off @ [0.15, 0.1, 0.0], [0.15, 0.1, 0.0]) / (0.15**2 + 0.1**2)
        assert np.linalg.norm(across, axis=1).max() < 1e-4, "the tip keeps to its line"
        assert str(arm.pipe.solution.reason).startswith("held by ")
    before = len(arm.commands)
    arm.go(TwistGoal((-0.15, 0.0, 0.0), (0.0, 0.0, 0.0)), 100)
    left = arm.chain.forward(arm.q).translation - tips[-1]
    assert left[0] < -0.1, "leaving is not slowed"
    assert len(arm.commands) == before + 100


def test_joints_that_bring_nothing_nearer_are_not_slowed():
    arm = Arm()
    arm.go(JointVelocityGoal((0.5, 0.5, 0.0, 0.0, 0.0, 0.0)), 800)
    arm.check()
    speed = (arm.commands[-1] - arm.commands[-2]) / arm.period
    assert abs(speed[0] - 0.5) < 1e-9
    assert abs(speed[1]) < 1e-3
    assert str(arm.pipe.solution.reason).startswith("held by ")


def test_an_object_that_appears_on_the_arm_lets_it_leave_but_not_deepen():
    arm = Arm(objects=())
    tip = arm.chain.forward(arm.q).translation
    size, place = (0.05, 0.05, 0.05), tip - np.array([0.0, 0.0, 0.03])
    arm.scene.add("thing", shape_of("box", size), placed(place))
    pairs = [pair for pair in arm.scene.pairs if "thing" in pair]
    judge = Judge(urdf_of("ur5e"), arm.chain, [("thing", "box", size, place)], pairs)
    depth = judge.distances(arm.q).min()
    assert depth < 0.0
    arm.go(TwistGoal((0.0, 0.0, -0.1), (0.0, 0.0, 0.0)), 100)
    assert judge.distances(arm.q).min() > depth - TOLERANCE, "no deeper"
    arm.go(TwistGoal((0.0, 0.0, 0.1), (0.0, 0.0, 0.0)), 30)
    half = judge.distances(arm.q).min()
    assert -0.01 < half < STOP
    arm.go(TwistGoal((0.0, 0.0, -0.1), (0.0, 0.0, 0.0)), 100)
    assert judge.distances(arm.q).min() > half - TOLERANCE, "and not back"
    arm.go(TwistGoal((0.0, 0.0, 0.2), (0.0, 0.0, 0.0)), 200)
    assert judge.distances(arm.q).min() > 0.05, "it leaves"


def test_an_arm_that_could_not_stop_in_time_may_leave_what_has_appeared_in_its_way():
    arm = Arm(objects=())
    arm.go(JointGoal(tuple(HOMES["ur5e"] - [1.5, 0.0, 0.0, 0.0, 0.0, 0.0])), 40)
    here, before = (arm.chain.forward(q).translation for q in arm.commands[-1:-3:-1])
    ahead = (here - before) / np.linalg.norm(here - before)
    arm.scene.add("thing", shape_of("box", (0.2, 0.2, 0.2)), placed(here + 0.36 * ahead))
    arm.step(100)
    assert "and thing, which overlap by" in str(arm.pipe.obstacle)
    arm.go(JointGoal(tuple(HOMES["ur5e"])), 300)
    assert np.array_equal(arm.q, HOMES["ur5e"])


DUMBBELL = """<robot name="d"><link name="rail"/><link name="bar">
<collision><geometry><sphere radius="0.02"/></geometry></collision>
<collision><origin xyz="0.4 0 0"/><geometry><sphere radius="0.02"/></geometry></collision></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="bar"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


@pytest.mark.parametrize("goal", [JointVelocityGoal((-0.8,)), JointGoal((-0.28,))])
def test_an_arm_that_is_too_near_may_leave_but_not_come_back_while_it_brakes(goal):
    """One end of the bar leaves the ball, and the other end comes."""
    model = RobotModel.from_urdf(DUMBBELL)
    scene = Scene(model, chain := model.chain(), padding=0.5, exact=False)
    scene.add("ball", Shape.sphere(0.02), placed((0.2, 0.1, 0.0)))
    caps = SpeedCaps(chain)
    caps.clearance = Clearance(scene)
    pipe, q = Pipeline(chain, period=0.01, caps=caps), np.array([0.1])
    pipe.set_goal(goal, q)
    way = [q]
    while len(way) < 500 and (q := pipe.step(q)) is not None:
        way.append(q)
    ends = np.array(way) + np.array([0.0, 0.4])
    apart = np.hypot(ends - 0.2, 0.1).min(axis=1)
    assert (apart >= np.maximum.accumulate(apart) - TOLERANCE).all()
    assert apart[-1] == pytest.approx(np.hypot(0.2, 0.1), abs=1e-3), "as far as it can leave"


def test_a_pose_is_reached_by_a_posture_that_does_not_collide():
    arm = Arm(objects=(TABLE, POST))
    rng, other = np.random.default_rng(5), 0
    for _ in range(40):
        target = arm.chain.forward(anywhere(rng, arm, 1.5))
        for _ in range(2):  # the second asks for the end of a solve that is not quick
            arm.pipe.set_goal(PoseGoal(target), arm.q)
        solution = arm.pipe.solution
        if solution.success:
            assert arm.judge.distances(solution.positions).min() >= STOP - 1e-6
            other += np.abs(solution.positions - arm.q).max() > 2.0
        else:
            assert solution.verdict is Verdict.COLLISION
        arm.pipe.rest()
    assert other


def test_a_motion_that_is_given_whole_stops_above_a_table_and_goes_on_when_it_is_gone():
    arm = Arm()
    down = HOMES["ur5e"] + np.array([0.5, 1.5, 0.0, 0.0, 0.0, 0.0])
    motion = plan_motion(arm.limits.scaled(0.5, 0.5, 1.0), HOMES["ur5e"], down, 0.01)
    arm.go(MotionGoal(motion), 400)
    arm.check()
    assert str(arm.pipe.obstacle).endswith("and table, 10.0 mm")
    assert np.array_equal(arm.commands[-1], arm.commands[-2])
    arm.scene.remove("table")
    arm.step(600)
    assert np.array_equal(arm.q, down)
    assert arm.pipe.obstacle is None


@pytest.mark.parametrize(
    ("periods", "apart"), [(40, r"\d\d\.\d mm"), (50, r"which overlap by [\d.]+ mm")]
)
def test_an_arm_that_left_the_way_of_a_given_motion_stays_and_says_so(monkeypatch, periods, apart):
    narrow = given_motion.GIVEN_TUNING._replace(largest_lead=1e-3)
    monkeypatch.setattr(given_motion, "GIVEN_TUNING", narrow)
    turn, axes = np.linspace(1.2, -1.2, 41), np.eye(6)
    curve = HOMES["ur5e"] + np.outer(turn, axes[0]) + np.outer(0.3 * np.cos(turn), axes[1])
    box = ("box", "box", (0.05, 0.2, 0.2), (0.62, -0.15, 0.35))
    arm = Arm(objects=(box,), q=curve[0])
    arm.scene.remove("box")
    arm.go(MotionGoal(time_path(curve, arm.limits.scaled(1.0, 1.0, 1.0))), periods)
    arm.scene.add("box", shape_of(*box[1:3]), placed(box[3]))
    arm.step(100)
    here = arm.q
    assert np.array_equal(here, arm.commands[-20])
    assert re.fullmatch(f"held by .* and box, {apart}", str(arm.pipe.obstacle))
    arm.scene.remove("box")
    arm.step(100)
    assert np.array_equal(arm.q, here)
    assert arm.pipe.phase is Phase.MOVING
    assert "send it again" in str(arm.pipe.obstacle)


def test_a_motion_that_is_given_whole_brakes_with_its_own_limits_after_a_slow_one():
    arm = Arm()
    arm.pipe.velocity_scaling = arm.pipe.acceleration_scaling = 0.05
    arm.go(JointGoal(tuple(HOMES["ur5e"] + 0.01)), 400)
    arm.pipe.velocity_scaling = arm.pipe.acceleration_scaling = 1.0
    since, down = len(arm.commands), arm.q + np.array([0.5, 1.5, 0.0, 0.0, 0.0, 0.0])
    arm.go(MotionGoal(plan_motion(arm.limits.scaled(1.0, 1.0, 1.0), arm.q, down, 0.01)), 400)
    arm.check()
    moving = np.diff(arm.commands[since:], axis=0).any(axis=1)
    assert moving.sum() < 85
    assert "table" in str(arm.pipe.obstacle)


@pytest.mark.parametrize("given", [False, True])
def test_a_whole_motion_ends_before_a_table_and_says_so(given):
    arm = Arm()
    down = HOMES["ur5e"] + np.array([0.5, 1.5, 0.0, 0.0, 0.0, 0.0])
    motion = plan_motion(arm.limits.scaled(0.5, 0.5, 1.0), HOMES["ur5e"], down, 0.01)
    arm.pipe.set_goal(MotionGoal(motion) if given else JointGoal(tuple(down)), arm.q)
    start = np.column_stack([arm.q, np.zeros((6, 2))])
    planned = arm.pipe.plan(start, braking=False)
    arm.commands += list(planned.positions)
    arm.check()
    assert str(arm.pipe.obstacle).startswith("held by ")
    assert not arm.pipe.may_go_on
    if not given:
        assert arm.nearest(since=-2) < STOP + TOLERANCE
    arm.scene.remove("table")
    assert arm.pipe.may_go_on
    assert np.array_equal(arm.pipe.plan(start, braking=False).positions[-1], down)


def test_the_last_check_stops_an_arm_whose_distances_are_wrong(monkeypatch):
    monkeypatch.setattr(Clearance, "part", lambda *_: (0.0, -1))
    monkeypatch.setattr(Clearance, "free_share", lambda *_: (1.0, -1))
    arm = Arm()
    down = HOMES["ur5e"] + np.array([0.0, 1.5, 0.0, 0.0, 0.0, 0.0])
    arm.go(JointGoal(tuple(down)), 300)
    assert arm.pipe.phase is Phase.UNSAFE
    assert STOP - TOLERANCE <= arm.nearest(since=-2) < 0.05
    arm.check()


SLIDER = """
<robot name="slider"><link name="base">{box}</link><link name="arm">{box}</link>
<link name="elbow"/><link name="fore">{box}</link><link name="tip">{box}</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1"/></joint>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="elbow"/>
<origin xyz="0 0 0.3"/><axis xyz="0 0 1"/><limit lower="0" upper="0.8" velocity="1"/></joint>
<joint name="bend" type="revolute"><parent link="elbow"/><child link="fore"/>
<axis xyz="0 1 0"/><limit lower="-9" upper="9" velocity="9"/>
<mimic joint="turn" multiplier="-3"/></joint>
<joint name="reach" type="prismatic"><parent link="fore"/><child link="tip"/>
<origin xyz="0 0 0.3"/><axis xyz="0 0 1"/><limit lower="0" upper="0.1" velocity="1"/></joint>
</robot>
""".format(box='<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>')


def test_no_pair_comes_nearer_than_by_the_joints_times_its_levers():
    model, rng = RobotModel.from_urdf(SLIDER), np.random.default_rng(0)
    chain = model.chain(None, "tip")
    scene = Scene(model, chain, exact=False)
    scene.add("ball", Shape.sphere(0.1), placed((0.5, 0.0, 0.5)))
    clearance, nearest = Clearance(scene), 0.0
    for _ in range(300):
        q = rng.uniform(chain.lower, chain.upper)
        clearance.observe(q)
        steep = np.abs(clearance._memory.gradients)
        assert (steep <= clearance._levers + 1e-9).all()
        nearest = max(nearest, steep.max())
    assert nearest > 0.5, "some pairs are near"


def test_each_motion_that_is_given_is_judged_by_itself():
    arm = Arm()
    slow, down = arm.limits.scaled(0.5, 0.5, 1.0), HOMES["ur5e"] + np.array([0, 1.5, 0, 0, 0, 0])
    for end, is_clear in ((HOMES["ur5e"] + 0.1, True), (down, False)) * 3:
        arm.pipe.set_goal(MotionGoal(plan_motion(slow, HOMES["ur5e"], end, 0.01)), arm.q)
        arm.pipe.step(arm.q)
        assert (arm.pipe.remainder() is not None) == is_clear
        arm.pipe.rest()
        arm.pipe.begin_where_measured()


def test_every_change_of_the_objects_is_noticed():
    arm = Arm()
    start = np.column_stack([arm.q, np.zeros((6, 2))])
    arm.pipe.set_goal(JointGoal(tuple(HOMES["ur5e"] + 0.1)), arm.q)
    for _ in range(10):  # what is made anew may get the place of what is gone
        assert arm.pipe.plan(start, braking=False) is not None
        here = arm.chain.forward(arm.q).translation
        arm.scene.add("thing", shape_of("box", (0.1, 0.1, 0.1)), placed(here))
        assert not arm.pipe.is_still_free(np.array([arm.q]))
        arm.scene.remove("thing")
        assert arm.pipe.is_still_free(np.array([arm.q]))


def test_a_command_that_is_no_number_is_not_sent():
    arm = Arm()
    away = HOMES["ur5e"] + 0.5
    motion = plan_motion(arm.limits.scaled(0.5, 0.5, 1.0), away, away + 0.1, 0.01)
    arm.go(MotionGoal(motion), 3)
    assert arm.pipe.phase is Phase.UNSAFE
    assert np.isfinite(arm.commands).all()


def follow(arm, goals):
    """Follow joint goals that come one each period, as a stream does.

    Returns:
        How often all pairs were looked at in each period.
    """
    clearance, looks = arm.pipe._limiter._caps.clearance, []
    part = clearance.part

    def counted(*args):
        looks[-1] += 1
        return part(*args)

    clearance.part = counted
    for goal in goals:
        looks.append(0)
        now = len(arm.commands) * arm.period
        arm.pipe.set_goal(JointGoal(tuple(goal)), arm.q, time=now)
        arm.commands.append(arm.pipe.step(arm.q, now + arm.period))
    clearance.part = part
    return looks


def held(*objects):
    """Return an arm that follows a stream down to the table, which holds it."""
    arm = Arm(objects=objects)
    looks = follow(arm, down(np.linspace(0.0, 1.5, 300)))
    assert str(arm.pipe.obstacle).endswith("and table, 10.0 mm")
    return arm, looks


def down(angles):
    return [HOMES["ur5e"] + [0.0, angle, 0.0, 0.0, 0.0, 0.0] for angle in angles]


def test_a_pair_that_holds_a_stream_is_asked_before_all_others():
    arm, looks = held(TABLE)
    assert max(looks[-10:]) == 1
    arm.check()


def test_a_stream_that_a_pair_held_goes_on_when_there_are_fewer_objects():
    arm, _ = held(POST, TABLE)
    for name in ("post", "table"):
        arm.scene.remove(name)
    follow(arm, down(np.linspace(1.5, 0.0, 300)))
    assert arm.pipe.obstacle is None
    assert np.allclose(arm.q, HOMES["ur5e"], atol=0.01)


def test_an_arm_that_leaves_what_held_it_looks_at_all_pairs():
    arm, _ = held(TABLE)
    assert min(follow(arm, down(np.linspace(1.5, 0.0, 50)))) >= 1


def test_an_arm_that_leaves_slowly_is_not_held_by_what_it_leaves():
    arm, _ = held(TABLE)
    arm.pipe._limiter._caps.set(1e-4, 0.0)
    follow(arm, down(np.linspace(1.5, 0.0, 10)))
    assert arm.pipe.obstacle is None


def test_the_way_that_is_left_is_no_shorter_than_the_joint_goes():
    limits = MotionLimits.of_chain(chain_of("ur5e")).scaled(1.0, 1.0, 1.0)
    rng = np.random.default_rng(1)
    for _ in range(100):
        memory = np.zeros((6, JOINT_COLUMNS))
        memory[:, :3] = rng.uniform(-1.0, 1.0, (6, 3)) * [[2.0, 1.0, 4.0]]
        plan_brake_together(memory, limits)
        state = np.empty((6, 3))
        total = max(duration(row[PROFILE:]) for row in memory)
        begin = rng.uniform(0.0, total)
        way, last = np.zeros(6), None
        for time in np.linspace(begin, total, 400):
            state_at(memory, memory[:, START_STATE], 0.0, time, state)
            way += 0.0 if last is None else np.abs(state[:, 0] - last)
            last = state[:, 0].copy()
        for row, gone in zip(memory, way, strict=True):
            left = way_left(row[PROFILE:], *row[START_STATE : START_STATE + 3], begin)
            assert gone - 1e-9 <= left <= 3.0 * gone + 0.05


@pytest.mark.parametrize("braked", [0, 3])
@pytest.mark.parametrize("cap", [0.0, 0.3])
@pytest.mark.parametrize("brakes", [False, True])
def test_what_a_motion_among_objects_is_said_to_become_is_what_it_becomes(brakes, cap, braked):
    chain, limits = chain_of("ur5e"), MotionLimits.of_chain(chain_of("ur5e"))
    caps = SpeedCaps(chain)
    caps.clearance = Clearance(Scene(model_of("ur5e"), chain, padding=STOP, exact=False))
    caps.set(cap, 0.0)
    limiter, goal = Limiter(limits, 0.01, HOMES["ur5e"], caps), HOMES["ur5e"] + np.arange(6) / 9.0
    for _ in range(20):
        limiter.step(goal)
    for _ in range(braked * brakes):
        limiter.brake()
    said = limiter.remainder(None if brakes else goal)
    for k in range(1, 30):
        command = limiter.brake() if brakes else limiter.step(goal)
        if said is not None:
            assert np.allclose(command, said.at(0.01 * k)[:, 0], atol=1e-9)
    assert (said is None) == (cap > 0.0 and not brakes)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_an_arm_ends_on_its_way_when_less_acceleration_is_allowed_in_mid_motion(share):
    arm = Arm(objects=())
    near = np.array([arm.chain.upper[0] - 1.0, -1.5, 1.5, -1.5, -1.5, 0.0])
    ends = near, near + np.array([1.0, 0.5, -0.5, 0.1, 0.2, 0.1])
    arm.commands = [near] * 3
    for k, periods in enumerate(range(20, 80, 2)):
        start, goal, since = arm.q, ends[1 - k % 2], len(arm.commands)
        arm.pipe.acceleration_scaling = 1.0
        arm.go(JointGoal(tuple(goal)), periods)
        arm.pipe.acceleration_scaling = share
        arm.step(1000)
        assert np.array_equal(arm.q, goal)
        way = (np.array(arm.commands[since:]) - start) / (goal - start)
        assert np.ptp(way, axis=1).max() < 1e-9, "straight in the joints"
        assert way.max() <= 1.0 + 1e-12, "not beyond the end"
    assert worst(arm.commands, arm.limits, arm.period).max() <= 1.0 + 1e-6


def test_no_share_of_a_way_of_no_length_is_free_for_a_pair_that_is_too_near(recwarn):
    arm = Arm()
    clearance = Clearance(arm.scene)
    clearance.observe(arm.q, at_rest=True)
    pair = int(clearance._now.argmin())
    clearance._floors[pair] = clearance._now[pair] + 2e-6
    assert clearance.free_share(arm.q, arm.q) == (0.0, pair)
    assert not recwarn.list


@pytest.mark.parametrize("robot", ["ur5e", "panda"])
def test_a_straight_way_is_free_up_to_the_first_pair_that_comes_too_near(robot):
    """A judge measures all distances at a thousand places of each way."""
    arm, rng = Arm(robot), np.random.default_rng(3)
    clearance, blocked = Clearance(arm.scene), 0
    lower, upper = np.maximum(arm.chain.lower, -np.pi), np.minimum(arm.chain.upper, np.pi)
    free = [q for q in rng.uniform(lower, upper, (60, len(lower))) if arm.scene.is_free(q)]
    for start, goal in itertools.islice(itertools.pairwise(free), 12):
        clearance.reset()
        clearance.observe(start, at_rest=True)
        share, pair = clearance.free_share(start, goal)
        assert clearance.pair_on_line(start, goal) == pair
        room = min(
            (arm.judge.distances(start + s * (goal - start)) - arm.kept).min()
            for s in np.linspace(0.0, share, 1000)
        )
        assert room >= -TOLERANCE
        if pair >= 0:
            blocked += 1
            beyond = start + min(share + 1e-3, 1.0) * (goal - start)
            assert not arm.scene.is_free(beyond)
        else:
            assert share == 1.0
    assert 0 < blocked < 12


def wall_of_points(x):
    y, z = np.meshgrid(np.arange(-0.5, 0.5, 0.05), np.arange(0.1, 0.9, 0.05))
    return np.column_stack([np.full(y.size, x), y.ravel(), z.ravel()])


@pytest.mark.parametrize("straight", [False, True])
def test_points_that_come_nearer_in_mid_motion_are_kept_clear_of(straight):
    """The tables of a cloud are exchanged; all else stays."""
    arm, clouds = Arm(objects=()), [wall_of_points(x) for x in (1.0, 0.72)]
    arm.scene.add_points("points", clouds[0])
    beyond = RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.2, 0.0, 0.0)) @ arm.chain.forward(arm.q)
    arm.go(PoseGoal(beyond, straight=straight), 12)
    memory = arm.pipe._limiter._caps.clearance._memory
    arm.scene.add_points("points", clouds[1])
    since = len(arm.commands)
    arm.step(400)
    assert arm.pipe._limiter._caps.clearance._memory is memory, "nothing was made anew"
    assert "points" in str(arm.pipe.obstacle)
    seen = [("points", "points", clouds[1], (0.0, 0.0, 0.0))]
    arm.judge = Judge(urdf_of("ur5e"), arm.chain, seen, arm.scene.pairs)
    arm.kept = kept_by(arm.judge, arm.chain)
    arm.check(since)
    arm.scene.add_points("points", [])
    arm.go(PoseGoal(beyond, straight=straight), 400)
    assert arm.chain.forward(arm.q).is_close(beyond, 1e-4)


def test_an_arm_that_brakes_on_its_way_stays_on_the_part_that_is_known_to_be_free():
    for periods in range(5, 40, 5):
        arm = Arm(objects=())
        start, goal = arm.q, HOMES["ur5e"] + np.array([1.5, 0.5, -0.4, 0.1, 0.9, 0.3])
        arm.go(JointGoal(tuple(goal)), periods)
        arm.pipe.brake()
        arm.step(500)
        way = (np.array(arm.commands) - start) / (goal - start)
        assert 1e-3 < way.max() < 1.0
        assert np.ptp(way, axis=1).max() < 1e-9


def test_checks_are_measured_once_each_by_the_watch_that_is_given():
    """Each look at the watch is a second: a call that were counted twice would show."""
    ticks = iter(range(1000))
    chain = model_of("ur5e").chain()
    clearance = Clearance(Scene(model_of("ur5e"), chain, exact=False), lambda: float(next(ticks)))
    q, memory = chain.neutral.copy(), np.zeros((6, JOINT_COLUMNS))
    memory[:, GOAL] = memory[:, START_STATE] = q
    for number, check in enumerate((
        lambda: clearance.observe(q),
        lambda: clearance.part(memory, q, 0.01),
        lambda: clearance.part_at_rest(memory, 0),
        lambda: clearance.pair_in_way(memory),
        lambda: clearance.pair_on_line(q, q),
        lambda: clearance.free_share(q, q),
        lambda: clearance.nearer(q, q),
    ), 1):  # fmt: skip
        check()
        assert clearance.seconds == number
