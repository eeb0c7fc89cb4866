# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Input of targets with a tf of the test's own: waiting, transformed and refused targets."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from basis_ik.arm.admission import Refusal, Refusals, Refused, StampRules, Units
from basis_ik.arm.goals import JointGoal, Ray
from basis_ik.arm.input_filter import FilterRules
from basis_ik.arm.target_input import Arrival, FrameStamp, Located, TargetInput
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

NOW = 100_000_000_000
RULES = StampRules(max_age=2_000_000_000, max_future=100_000_000)
PATIENCE = 0.5
CART, BASE, STILL = FrameStamp("cart", 0, 0), FrameStamp("base_link", 0, 0), (0.0, 0.0, 0.0)
URDF = (Path(__file__).parents[2] / "urdf" / "ur5e.urdf").read_text()


class Tf:
    """Knows one moving frame up to some time, and what the others' parents are."""

    def __init__(self):
        self.known_until = NOW
        self.latest = 0  # of a frame that never moves
        self.frames = {"cart": RigidTransform.identity()}
        self.parents = {"cart": "base_link"}

    def locate(self, root, frame_id, stamp):
        if frame_id not in self.frames or stamp > self.known_until:
            return Refused(Refusal.NO_TRANSFORM, f"{frame_id} is not known then")
        return Located(self.frames[frame_id], self.latest)


def ignore(*_):
    pass


@pytest.fixture
def tf():
    return Tf()


@pytest.fixture
def refusals():
    return Refusals(lambda: 0.0)


@pytest.fixture
def targets(tf, refusals):
    quiet = SimpleNamespace(warn=ignore, recovered=ignore, info=ignore)
    return TargetInput(tf, RobotModel.from_urdf(URDF).chain(), quiet, refusals)


def at(x):
    return RigidTransform.from_rpy(0.0, 0.0, 0.0, [x, 0.0, 0.0])


def offer(targets, x, *, frame="cart", now=NOW, stamped=False):
    """Offer a pose that comes at a time [ns], with that time as its stamp or with none."""
    of = FrameStamp(frame, *(divmod(now, 1_000_000_000) if stamped else (0, 0)))
    return targets.offer_pose(of, at(x), Arrival(now, seconds(now), RULES), position_only=False)


def seconds(now):
    return 1e-9 * (now - NOW)


def located(targets, now=NOW):
    """Return where the target in force is, along x."""
    goal = targets.locate(steady=seconds(now), patience=PATIENCE, oldest=now - RULES.max_age)
    return None if goal is None else float(goal.root_T_target.translation[0])


def test_a_stream_slightly_ahead_of_tf_is_followed(tf, targets, refusals):
    """Each target waits 50 ms for its transform, and after 10 ms there is a newer one."""
    for k in range(100):
        now = NOW + k * 10_000_000
        tf.known_until = now - 50_000_000
        assert offer(targets, float(k), now=now, stamped=True)
        place = located(targets, now)
    assert place >= 90.0
    assert refusals.counts == {}


def test_the_time_of_a_target_is_its_stamp_or_arrival(tf, targets):
    tf.known_until = NOW + 10**9
    offer(targets, 1.0, stamped=True)
    located(targets, NOW + 40_000_000)
    assert targets.time == pytest.approx(0.0)
    late = FrameStamp("cart", *divmod(NOW + 10_000_000, 10**9))
    arrival = Arrival(NOW + 50_000_000, 7.05, RULES)
    assert targets.offer_pose(late, at(2.0), arrival, position_only=False)
    located(targets, NOW + 60_000_000)
    assert targets.time == pytest.approx(7.01)
    offer(targets, 3.0, now=NOW + 70_000_000)
    located(targets, NOW + 75_000_000)
    assert targets.time == pytest.approx(0.07)


def test_a_stream_is_filtered_in_each_frame_by_itself(tf, targets):
    tf.frames["other"] = RigidTransform.identity()
    how, found = FilterRules(outliers=True), []
    for k, (x, frame) in enumerate(
        [(0.1, "cart"), (9.0, "cart"), (0.1, "cart"), (-5.0, "other"), (0.2, "cart")]
    ):
        now = NOW + k * 10_000_000
        arrival = Arrival(now, seconds(now), RULES)
        of = FrameStamp(frame, 0, 0)
        assert targets.offer_pose(of, at(x), arrival, position_only=False, how=how)
        found.append(located(targets, now))
    assert found == [0.1, 0.1, 0.1, -5.0, 0.2]
    targets.reset()
    of, arrival = FrameStamp("cart", 0, 0), Arrival(NOW, seconds(now), RULES)
    assert targets.offer_pose(of, at(7.0), arrival, position_only=False, how=how)
    assert located(targets, now) == 7.0, "a new clock has no older samples"


@pytest.mark.parametrize("straight", [True, False])
def test_a_target_may_request_a_straight_path(tf, targets, straight):
    arrival = Arrival(NOW, 0.0, RULES)
    assert targets.offer_pose(CART, at(1.0), arrival, position_only=False, straight=straight)
    goal = targets.locate(steady=0.0, patience=PATIENCE, oldest=NOW - RULES.max_age)
    assert goal.straight is straight


def test_a_stream_in_an_unknown_frame_is_refused(targets, refusals):
    for k in range(200):
        now = NOW + k * 10_000_000
        offer(targets, 0.1, frame="nowhere", now=now)
        assert located(targets, now) is None
    assert refusals.counts["NO_TRANSFORM"] >= 3
    assert targets.newest is not None, "the last still waits"
    located(targets, now + 10_000_000_000)
    assert targets.newest is None


def test_the_newest_transformable_target_wins(targets, refusals):
    offer(targets, 1.0, frame="nowhere")
    offer(targets, 2.0)
    assert located(targets) == 2.0
    assert located(targets, NOW + 10_000_000_000) == 2.0
    assert refusals.counts == {}


def by_a_twist(targets):
    targets.offer_twist(BASE, STILL, STILL, Arrival(NOW, 0.0, RULES), lasts=0.1)
    targets.locate(steady=0.0, patience=PATIENCE, oldest=0)


@pytest.mark.parametrize(
    "replace",
    [
        by_a_twist,
        lambda targets: targets.put(JointGoal((0.0,) * 6), targets.request("home")),
        lambda targets: targets.clear(),
    ],
    ids=["by a twist", "by a goal", "by a stop"],
)
def test_a_target_that_is_replaced_before_it_is_pursued_is_known_by_its_stamp(
    targets, refusals, replace
):
    offer(targets, 1.0, frame="nowhere", stamped=True)
    assert refusals.stamps == {}, "it still waits"
    replace(targets)
    assert refusals.stamps == {"target_pose": NOW}
    assert refusals.accepted["target_pose"] == 0


def test_the_newest_of_those_that_wait_replaces_the_one_before(targets, refusals):
    offer(targets, 0.0, frame="nowhere")
    offer(targets, 1.0, frame="nowhere", stamped=True)
    assert refusals.stamps == {}
    offer(targets, 2.0, frame="nowhere")
    assert refusals.stamps == {"target_pose": NOW}


def test_the_present_frame_is_followed_while_another_target_waits(tf, targets):
    offer(targets, 0.0)
    assert located(targets) == 0.0
    offer(targets, 0.0, frame="nowhere")
    tf.frames["cart"] = at(0.3)
    assert located(targets) == 0.3


def test_a_target_that_no_transform_can_fix_is_refused_at_once(tf, targets, refusals):
    offer(targets, 0.5)
    assert located(targets) == 0.5
    assert offer(targets, 2e6, frame="base_link"), "as a message it is in order"
    assert located(targets) == 0.5, "the one before stays"
    assert refusals.counts == {"OUT_OF_RANGE": 1}
    tf.frames["cart"] = at(2e6)
    offer(targets, -2e6)
    assert located(targets) == 0.0, "the sum counts"
    assert refusals.counts == {"OUT_OF_RANGE": 1}


def test_a_point_that_is_too_far_is_refused_too(targets, refusals):
    ray = Ray((1.0, 0.0, 0.0))
    assert targets.offer_point(BASE, (0.0, 0.0, -2e6), Arrival(NOW, 0.0, RULES), ray=ray)
    assert targets.locate(steady=0.0, patience=PATIENCE, oldest=0) is None
    assert refusals.counts == {"OUT_OF_RANGE": 1}


def test_a_twist_in_a_distant_frame_is_exact(tf, targets, refusals):
    tf.frames["cart"] = at(5e7)
    assert targets.offer_twist(CART, (0.1, 0.0, 0.0), STILL, Arrival(NOW, 0.0, RULES), lasts=0.1)
    goal = targets.locate(steady=0.0, patience=PATIENCE, oldest=0)
    np.testing.assert_allclose(goal.linear, (0.1, 0.0, 0.0), atol=1e-12)
    assert refusals.counts == {}


def test_turns_of_a_tip_that_is_nowhere_are_refused(targets, refusals):
    for tip, taken in ((at(0.3), True), (None, False)):
        given = BASE, (0.1, 0.0, 0.0), (0.2, 0.0, 0.0), Arrival(NOW, 0.0, RULES)
        assert targets.offer_twist(*given, lasts=0.1, turns=(targets.tip, tip)) is taken
    assert refusals.counts == {"NOT_READY": 1}


def test_carried_frames_are_detected_by_their_parents(tf, targets):
    tf.parents = {"box": "wrist_3_link", "lid": "box", "cart": "base_link"}
    assert targets.is_carried("box")
    assert targets.is_carried("lid")
    assert targets.is_carried("tool0")
    assert not targets.is_carried("cart")
    assert not targets.is_carried("nobody knows it")


def test_a_frame_that_becomes_carried_is_not_followed(tf, targets, refusals):
    offer(targets, 0.0)
    tf.frames["cart"] = at(0.3)
    assert located(targets) == 0.3
    tf.parents["cart"], tf.frames["cart"] = "wrist_3_link", at(0.4)
    assert located(targets) == 0.3, "where it was last"
    tf.parents["cart"], tf.frames["cart"] = "base_link", at(0.5)
    assert located(targets) == 0.3, "until it is told anew"
    offer(targets, 0.0)
    assert located(targets) == 0.5
    assert refusals.counts == {}


def test_a_frame_whose_newest_transform_is_too_old_is_refused(tf, targets, refusals):
    tf.latest = NOW
    offer(targets, 0.1, frame="base_link")
    now = NOW + RULES.max_age + 1
    offer(targets, 0.2, now=now)
    assert located(targets, now) == 0.1, "the one before stays"
    assert refusals.counts == {"TF_STALE": 1}
    assert "'cart'" in refusals.last["target_pose"].refused.detail
    tf.latest = NOW + 1
    offer(targets, 0.2, now=now)
    assert located(targets, now) == 0.2


def test_a_followed_target_with_an_old_frame_is_dropped(tf, targets, refusals):
    tf.latest = NOW
    offer(targets, 0.2)
    assert located(targets, NOW + RULES.max_age) == 0.2
    for k in range(1, 10):
        assert located(targets, NOW + RULES.max_age + k) is None
    assert refusals.counts == {"TF_STALE": 1}
    tf.latest = NOW + RULES.max_age
    assert located(targets, NOW + RULES.max_age + 1) is None, "it waits for a new target"


def test_a_lost_frame_is_the_answer_until_it_is_there_again_and_when_lost_again(tf, targets):
    offer(targets, 0.2)
    located(targets)
    cart = tf.frames.pop("cart")
    located(targets)
    assert targets.answer.refused.reason.name == "NO_TRANSFORM"
    tf.frames["cart"] = cart
    located(targets)
    assert targets.answer is targets.refusal is None
    tf.frames.clear()
    located(targets)
    assert targets.answer is targets.refusal is not None


def test_the_answer_to_one_input_is_not_hidden_by_another(targets):
    offer(targets, 0.2)
    located(targets)
    offer(targets, 0.3, frame="")
    targets.offer_twist(FrameStamp("", 0, 0), STILL, STILL, Arrival(NOW, 0.0, RULES), lasts=0.1)
    assert targets.answer.request.input == "target_pose"
    assert targets.refusal.request.input == "twist"
    offer(targets, 0.3)
    assert targets.answer is targets.refusal is None


def test_a_static_frame_does_not_expire(tf, targets, refusals):
    offer(targets, 0.2)
    assert located(targets, NOW + 10**15) == 0.2
    assert refusals.counts == {}


def test_after_a_jump_of_the_clock_older_stamps_are_accepted(tf, targets, refusals):
    offer(targets, 0.1, stamped=True)
    assert located(targets) == 0.1
    targets.reset()
    assert located(targets) is None
    assert offer(targets, 0.2, now=NOW - 50_000_000_000, stamped=True)
    assert located(targets, NOW - 50_000_000_000) == 0.2
    assert refusals.counts == {}


def test_a_loop_of_frames_ends(tf, targets):
    tf.parents = {"a": "b", "b": "a"}
    assert not targets.is_carried("a")


STICK = Units(1.0, linear=0.4, rotational=0.8, joint=0.5)


@pytest.mark.parametrize("value", [1.0, -1.0, 1.0 + 1e-9, -3.0])
def test_a_twist_without_unit_is_scaled_and_refused_beyond_one(targets, refusals, value):
    for part in ("linear", "angular"):
        twist = {"linear": STILL, "angular": STILL, part: (0.0, value, 0.0)}
        taken = targets.offer_twist(
            BASE, *twist.values(), Arrival(NOW, 0.0, RULES), lasts=0.1, units=STICK
        )
        assert taken == (abs(value) <= 1.0)
        goal = targets.locate(steady=0.0, patience=PATIENCE, oldest=0)
        if taken:
            scaled = {"linear": goal.linear, "angular": goal.angular}
            assert scaled.pop(part) == (0.0, value * {"linear": 0.4, "angular": 0.8}[part], 0.0)
            assert list(scaled.values()) == [(0.0, 0.0, 0.0)]
    assert refusals.counts == ({} if abs(value) <= 1.0 else {"OUT_OF_RANGE": 2})


@pytest.mark.parametrize("value", [1.0, -0.5, 1.0 + 1e-9])
def test_joint_velocities_without_unit_are_scaled_and_refused_beyond_one(targets, refusals, value):
    arrival = Arrival(NOW, 0.0, RULES)
    taken = targets.offer_joint_jog(BASE, ["elbow_joint"], [value], arrival, lasts=0.1, units=STICK)
    assert taken == (abs(value) <= 1.0)
    if taken:
        goal = targets.locate(steady=0.0, patience=PATIENCE, oldest=0)
        assert goal.velocities == (0.0, 0.0, 0.5 * value, 0.0, 0.0, 0.0)
    else:
        assert refusals.counts == {"OUT_OF_RANGE": 1}


LEADER = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="turn" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit velocity="1" effort="1"/></joint>
  <joint name="bend" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="finger" type="revolute"><parent link="c"/><child link="d"/><mimic joint="bend"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


@pytest.fixture
def led(tf, refusals):
    """The targets of an arm with a continuous joint and a mimic; `rest` is where it is."""
    quiet, rest = SimpleNamespace(warn=ignore, recovered=ignore, info=ignore), [0.0, 0.0]
    chain, mimics = RobotModel.from_urdf(LEADER).chain("a", "c"), {"finger": "bend"}
    targets = TargetInput(tf, chain, quiet, refusals, rest=lambda: np.array(rest), mimics=mimics)
    return SimpleNamespace(targets=targets, rest=rest)


def lead(led, positions):
    """Offer positions by name; return the goal, or None."""
    offered = BASE, list(positions), list(positions.values()), Arrival(NOW, 0.0, RULES)
    if not led.targets.offer_joint_target(*offered):
        return None
    return led.targets.locate(steady=0.0, patience=PATIENCE, oldest=0).positions


def test_a_continuous_joint_takes_the_nearest_turn(led):
    led.rest[0] = 7.0
    assert lead(led, {"turn": 0.5, "bend": 0.1}) == pytest.approx((0.5 + 2.0 * np.pi, 0.1))


def test_a_mimic_joint_is_refused_and_its_master_named(led, refusals):
    assert lead(led, {"finger": 0.1, "bend": 0.1}) is None
    told = str(refusals.last["joint_target"].refused)
    assert told.startswith("UNKNOWN_JOINT")
    assert "'finger' follows bend" in told


def test_other_joints_must_be_measured_and_are_moved_inward(led, refusals):
    led.rest[1] = 1.2
    assert lead(led, {"turn": 0.5}) == pytest.approx((0.5, 1.0))
    led.targets.clear()
    led.rest[1] = np.nan
    assert lead(led, {"turn": 0.5}) is None
    assert refusals.counts == {"NOT_READY": 1}
    chunk = BASE, ["turn"], [0.1], [[0.5]], Arrival(NOW, 0.0, RULES)
    assert not led.targets.offer_joint_chunk(*chunk)
    assert refusals.counts == {"NOT_READY": 2}


def test_in_a_chunk_a_continuous_joint_goes_on_through_its_turns(led):
    led.rest[0] = 6.0
    rows = [[3.0], [-3.0], [-2.0]]  # through half a turn
    chunk = BASE, ["turn"], [0.1, 0.2, 0.3], rows, Arrival(NOW, 0.0, RULES)
    assert led.targets.offer_joint_chunk(*chunk)
    course = led.targets.locate(steady=0.0, patience=PATIENCE, oldest=0).course
    assert course.rows[:, 0] == pytest.approx([3.0, 2 * np.pi - 3.0, 2 * np.pi - 2.0])
    assert course.times == pytest.approx([0.1, 0.2, 0.3])


def test_whole_motions_take_no_chunks(tf, refusals):
    quiet = SimpleNamespace(warn=ignore, recovered=ignore, info=ignore)
    targets = TargetInput(tf, RobotModel.from_urdf(LEADER).chain("a", "c"), quiet, refusals,
                          streams=False)  # fmt: skip
    arrival = Arrival(NOW, 0.0, RULES)
    assert not targets.offer_joint_chunk(BASE, ["turn"], [0.1], [[0.5]], arrival)
    assert not targets.offer_pose_chunk(
        BASE, [0.1], [at(0.1)], arrival, moves="", position_only=False
    )
    assert refusals.counts == {"NOT_STREAMED": 2}
