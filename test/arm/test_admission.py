# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The reasons for which inputs are refused: position, quaternion, frame, stamp."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.arm.admission import (
    Refusal,
    Refused,
    StampRules,
    admit_fraction,
    admit_frame,
    admit_joint_velocities,
    admit_joystick,
    admit_place,
    admit_point,
    admit_pose,
    admit_stamp,
    admit_twist,
    printable,
)
from basis_ik.transforms.rigid import RigidTransform

# The numbers themselves: with those of the module no change of them would be seen.
LARGEST_COORDINATE = 1e8  # m

RULES = StampRules(max_age=2_000_000_000, max_future=100_000_000)
NOW = 100_000_000_000


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", range(7))
def test_one_non_finite_field_is_enough(bad, field):
    values = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]
    values[field] = bad
    assert admit_pose(values[:3], values[3:]).reason is Refusal.NON_FINITE


@pytest.mark.parametrize("axis", range(3))
def test_absurd_coordinates_are_out_of_range(axis):
    position = [0.0, 0.0, 0.0]
    position[axis] = -1e200
    assert admit_pose(position, (0, 0, 0, 1)).reason is Refusal.OUT_OF_RANGE
    quaternion = [0.0, 0.0, 0.0, 1.0]
    quaternion[axis] = 1e200
    assert admit_pose((0, 0, 0), quaternion).reason is Refusal.OUT_OF_RANGE
    position[axis] = LARGEST_COORDINATE
    assert isinstance(admit_pose(position, (0, 0, 0, 1)), RigidTransform)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (math.nan, Refusal.NON_FINITE),
        (-math.inf, Refusal.NON_FINITE),
        (-1e200, Refusal.OUT_OF_RANGE),
        (1.1e8, Refusal.OUT_OF_RANGE),
    ],
)
@pytest.mark.parametrize("axis", range(3))
def test_every_field_of_points_and_twists_is_checked(axis, bad, reason):
    numbers, still = [0.1, 0.2, 0.3], (0.0, 0.0, 0.0)
    assert admit_point(*numbers) == tuple(numbers)
    assert admit_twist(tuple(numbers), still) is None
    numbers[axis] = bad
    assert admit_point(*numbers).reason is reason
    assert admit_twist(tuple(numbers), still).reason is reason
    assert admit_twist(still, tuple(numbers)).reason is reason


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.1e6])
@pytest.mark.parametrize("axis", range(3))
def test_positions_too_far_for_the_solver_are_refused(axis, bad):
    place = [1e6, -1e6, 0.0]
    assert admit_place(place) is None
    place[axis] = bad
    assert admit_place(place).reason is Refusal.OUT_OF_RANGE


@pytest.mark.parametrize(
    "quaternion", [(0, 0, 0, 0), (0, 0, 0, 1.002), (0, 0, 0, 0.998), (9, 9, 9, 9)]
)
def test_a_quaternion_of_another_length_is_refused_never_identity(quaternion):
    assert admit_pose((0, 0, 0), quaternion).reason is Refusal.BAD_QUATERNION


def test_a_nearly_unit_quaternion_is_normalised():
    admitted = admit_pose((0, 0, 0), (0, 0, 0.9995 * math.sin(0.3), 0.9995 * math.cos(0.3)))
    exact = admit_pose((0, 0, 0), (0, 0, math.sin(0.3), math.cos(0.3)))
    np.testing.assert_allclose(admitted.matrix, exact.matrix, atol=1e-15)


@pytest.mark.parametrize("length", [1.001, 0.999])
def test_at_the_tolerance_it_is_normalised_or_refused(length):
    """Two sums of squares may differ in the last bit; an admitted quaternion must be usable."""
    random = np.random.default_rng(5)
    for _ in range(300):
        q = random.normal(size=4)
        q *= length / np.linalg.norm(q)
        admitted = admit_pose((0, 0, 0), q.tolist())
        if isinstance(admitted, Refused):
            assert admitted.reason is Refusal.BAD_QUATERNION


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4))
def test_q_and_minus_q_give_identical_transforms(q):
    norm = math.hypot(*q)
    if norm < 1e-3:
        return
    q = [c / norm for c in q]
    plus, minus = admit_pose((1, 2, 3), q), admit_pose((1, 2, 3), [-c for c in q])
    assert np.array_equal(plus.matrix, minus.matrix)


@pytest.mark.parametrize(
    ("frame_id", "reason"),
    [
        ("", Refusal.NO_FRAME),
        ("/base", Refusal.BAD_FRAME),
        ("a\x00b", Refusal.BAD_FRAME),
        ("line\nbreak", Refusal.BAD_FRAME),
        pytest.param("x" * 256, Refusal.BAD_FRAME, id="long"),
    ],
)
def test_invalid_frame_ids_are_refused(frame_id, reason):
    refused = admit_frame(frame_id)
    assert refused.reason is reason
    assert len(str(refused)) < 256
    assert str(refused).isprintable()


@pytest.mark.parametrize("frame_id", ["base_link", "robot1/tool0", "größe", "a b"])
def test_valid_frame_ids_are_accepted(frame_id):
    assert admit_frame(frame_id) is None


@pytest.mark.parametrize(
    ("sec", "nanosec", "newest", "expected"),
    [
        (-1, 0, 0, Refusal.BAD_STAMP),
        (100, 1_000_000_000, 0, Refusal.BAD_STAMP),
        (97, 999_999_999, 0, Refusal.STALE),
        (98, 0, 0, 98_000_000_000),
        (100, 100_000_000, 0, 100_100_000_000),
        (100, 100_000_001, 0, Refusal.FUTURE),
        (99, 0, 99_500_000_000, Refusal.OUT_OF_ORDER),
        (99, 500_000_000, 99_500_000_000, 99_500_000_000),
        (0, 0, 99_500_000_000, 0),
    ],
)
def test_stamps_are_accepted_or_refused(sec, nanosec, newest, expected):
    result = admit_stamp(sec, nanosec, now=NOW, newest=newest, rules=RULES)
    assert (result.reason if isinstance(result, Refused) else result) == expected


@given(st.text(max_size=400))
def test_printable_is_short_and_printable(text):
    shown = printable(text)
    assert len(shown) <= 128
    assert shown.isascii()
    assert shown == "" or shown.isprintable()


def test_printable_keeps_quotes_and_escapes_what_controls():
    assert printable("""it's "b" """) == """it's "b" """
    assert printable("a\n\x1bü\\") == r"a\n\x1b\xfc\\"


def test_a_frame_id_has_at_most_255_characters():
    assert admit_frame("x" * 255) is None


def test_a_twist_has_at_most_a_thousand_metres_a_second():
    assert admit_twist((1e3, 0.0, 0.0), (0.0, -1e3, 0.0)) is None
    assert admit_twist((1.01e3, 0.0, 0.0), (0.0, 0.0, 0.0)).reason is Refusal.OUT_OF_RANGE
    assert admit_joint_velocities(["a"], [1e3], ("a",)) == (1e3,)
    assert admit_joint_velocities(["a"], [1.01e3], ("a",)).reason is Refusal.OUT_OF_RANGE


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.3, 1.0])
def test_a_fraction_is_accepted(value):
    assert admit_fraction(value) == value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "NON_FINITE"),
        (-math.inf, "NON_FINITE"),
        (-1e-9, "OUT_OF_RANGE"),
        (1.01, "OUT_OF_RANGE"),
    ],
)
def test_a_value_outside_0_to_1_is_refused(value, reason):
    assert admit_fraction(value).reason.name == reason


def test_a_duplicate_among_many_joints_is_found_fast():
    """With a count for each name this would take minutes."""
    names = [f"joint{k}" for k in range(200_000)] + ["elbow", "elbow"]
    refused = admit_joint_velocities(names, [0.0] * len(names), ("elbow",))
    assert str(refused).endswith("('elbow')")


def test_the_refusal_of_an_unknown_joint_is_short():
    known = tuple(f"{k}" * 50 for k in range(30))
    refused = admit_joint_velocities(["\x1b" * 500], [0.0], known)
    assert refused.reason.name == "UNKNOWN_JOINT"
    assert len(str(refused)) < 300
    assert str(refused).isprintable()


def test_a_joysticks_axes_are_the_parts_of_a_twist_by_their_numbers():
    axes = [0.1, 0.2, 0.3]
    assert admit_joystick(axes, [], [2, 1, -1, 0, -1, -1], -1) == (0.3, 0.2, 0.0, 0.1, 0.0, 0.0)
    for buttons, counts in (([0, 1], True), ([1, 0], False), ([1], False)):
        found = admit_joystick(axes, buttons, [2, -1, -1, -1, -1, -1], 1)
        assert found == (0.3 if counts else 0.0, *5 * [0.0])
    for missing in (3, 9):
        refused = admit_joystick(axes, [], [missing, 0, 0, 0, 0, 0], -1)
        assert refused.reason is Refusal.SIZE_MISMATCH
