# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits of joints: stated, assumed with a note for placeholders, or refused if unsafe."""

import math

import numpy as np
import pytest

from basis_ik.robot.joint_limits import ASSUMED_RANGE, ASSUMED_SPEED
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel

LED = '<mimic joint="other"/>'
UNITS = {"revolute": "rad", "prismatic": "m"}


@pytest.fixture
def model(joint, robot):
    """A robot of the joints a -other-> b -elbow-> c."""

    def model(limit, kind="revolute", inside="", version=""):
        if limit and kind == "continuous":
            inside += f"<limit {limit}/>"
        elbow = joint("elbow", "b", "c", kind, limit=limit, inside=inside)
        return RobotModel.from_urdf(robot(joint("other", "a", "b"), elbow, version=version))

    return model


@pytest.fixture
def read(model):
    """Return a joint without a fault, whose chain notes the assumptions."""

    def read(limit, kind="revolute", inside="", version=""):
        robot = model(limit, kind, inside, version)
        elbow = robot.joints["elbow"]
        assert elbow.fault == ""
        chain = robot.chain("a", "c")
        assert [line for line in chain.inferences if "joint 'elbow'" in line] == [*elbow.assumed]
        aside = [line for line in robot.chain("a", "b").inferences if "'elbow'" in line]
        said = "limits, speeds or axes were assumed off the chain, too: 'elbow'"
        assert aside == ([said] if elbow.assumed and kind != "continuous" else [])
        return elbow

    return read


@pytest.fixture
def refuse(model):
    """Return the error of the chain that needs the joint; the other chain is accepted."""

    def refuse(limit, kind="revolute", inside="", version=""):
        robot = model(limit, kind, inside, version)
        fault = robot.joints["elbow"].fault
        said = f"faulty, but not needed by the chain: {fault}"
        assert said in robot.chain("a", "b").inferences
        with pytest.raises(ChainError, match="joint 'elbow'") as caught:
            robot.chain("a", "c")
        mend = "; the chain needs this joint: correct it, or start the chain at 'c'"
        assert str(caught.value) == fault + mend
        assert caught.value.joint == "elbow"
        return fault

    return refuse


def test_sound_limits_are_taken_as_they_are(read):
    elbow = read('lower="-1" upper="2.5" velocity="3" effort="4"')
    assert (elbow.lower, elbow.upper, elbow.velocity, elbow.effort) == (-1, 2.5, 3, 4)
    assert elbow.assumed == ()
    assert read('upper="1" velocity="1"').lower == 0
    assert read('lower="-1" velocity="1"').upper == 0
    assert read('lower="-47" upper="314" velocity="99"').assumed == ()  # several turns, and fast


@pytest.mark.parametrize("effort", ["", 'effort="-1"', 'effort="nan"', 'effort="much"'])
def test_nothing_depends_on_the_effort(read, effort):
    elbow = read(f'lower="-1" upper="1" velocity="1" {effort}')
    assert (elbow.effort, elbow.assumed) == (math.inf, ())
    assert read('lower="-1" upper="1" velocity="1" effort="0"').effort == 0


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
@pytest.mark.parametrize(
    ("velocity", "says"),
    [
        ("", "states no top speed"),
        ('velocity="0"', "states velocity 0, which is a placeholder"),
        ('velocity="-0"', "states velocity -0, which is a placeholder"),
        ('velocity="-1"', "states velocity -1, which is a placeholder"),
        ('velocity="100"', "states velocity 100, which is a placeholder"),
        ('velocity="1e9"', "states velocity 1e+09, which is a placeholder"),
    ],
)
def test_a_speed_that_is_not_known_is_assumed_to_be_low(read, kind, velocity, says):
    elbow = read(f'lower="-1" upper="1" {velocity}', kind)
    slides = kind == "prismatic"
    unit = "m/s" if slides else "rad/s"
    assert elbow.velocity == ASSUMED_SPEED[slides] == (0.1 if slides else 1.0)
    assert elbow.assumed == (f"joint 'elbow' {says}: at most {elbow.velocity:g} {unit} is assumed",)


def test_ten_metres_a_second_are_a_placeholder(read):
    assert read('lower="0" upper="1" velocity="9.9"', "prismatic").velocity == 9.9
    assert read('lower="0" upper="1" velocity="10"', "prismatic").velocity == 0.1


def test_a_slip_of_the_sign_makes_no_joint_faster(read):
    assert read('lower="-1" upper="1" velocity="-0.25"').velocity == 0.25
    assert read('lower="-1" upper="1" velocity="-4"').velocity == 1.0


def test_an_unknown_speed_is_not_lent_by_a_faster_follower(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("lead", "a", "b", limit='lower="-1" upper="1" velocity="0"'),
            joint("fast", "b", "c", inside='<mimic joint="lead"/>',
                  limit='lower="-1" upper="1" velocity="9"'),
        )
    )  # fmt: skip
    assert model.chain("a", "c").velocity.tolist() == [1.0]


@pytest.mark.parametrize("velocity", ["nan", "inf", "1e999", "0,5", "fast", "", "${v}"])
def test_a_speed_that_cannot_be_read_is_not_assumed(refuse, velocity):
    assert "<limit velocity=" in refuse(f'lower="-1" upper="1" velocity="{velocity}"')


@pytest.mark.parametrize(
    "limit",
    [
        'lower="-999999" upper="999999"',
        'lower="-1e10" upper="1e10"',
        'lower="-1000" upper="1000"',
        'lower="-1e16" upper="1.8e308"',
        'lower="-1e999" upper="1e999"',
        'lower="-inf" upper="inf"',
        'lower="-Infinity" upper=" +INF "',
    ],
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_placeholders_are_not_limits(read, kind, limit):
    elbow = read(f'{limit} velocity="1"', kind)
    most = ASSUMED_RANGE[kind == "prismatic"]
    assert (elbow.lower, elbow.upper) == (-most, most)
    assert most == (10.0 if kind == "prismatic" else 2 * math.pi)
    (said,) = elbow.assumed
    assert said.startswith("joint 'elbow' states limits -")
    assert said.endswith(f": {-most:.4g} to {most:.4g} {UNITS[kind]} is assumed")


def test_one_placeholder_leaves_the_other_limit(read):
    elbow = read('lower="-0.5" upper="1e9" velocity="1"')
    assert (elbow.lower, elbow.upper) == (-0.5, 2 * math.pi)
    elbow = read('lower="-1e9" upper="-0.5" velocity="1"', "prismatic")
    assert (elbow.lower, elbow.upper) == (-10, -0.5)
    elbow = read('lower="-999.9" upper="999.9" velocity="1"')
    assert (elbow.lower, elbow.upper) == (-999.9, 999.9)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("", "and states no limits; write its lower, upper and velocity"),
        ('velocity="1" effort="1"', "and states no limits; write its lower, upper and velocity"),
        (
            'lower="0" upper="0" velocity="0" effort="0"',
            "and has a <limit> of zeros, a placeholder; write its",
        ),
        ('lower="0" upper="0"', "and has a <limit> of zeros, a placeholder; write its lower"),
        ('lower="1" upper="-1" velocity="1"', "lower 1 is above upper -1; correct them"),
        ('lower="1" velocity="1"', "lower 1 is above upper 0"),
        ('lower="1e9" upper="1e10" velocity="1"', "lower 1e+09 is above upper 1e+10"),
        ('lower="inf" upper="inf" velocity="1"', "lower inf is above upper inf"),
        ('lower="nan" upper="1" velocity="1"', "'nan' is no finite number"),
        ('lower="-1" upper="nan" velocity="1"', "'nan' is no finite number"),
        ('lower="-1" upper="1_0" velocity="1"', "'1_0' is no finite number"),
    ],
    ids=[
        "none", "speed-only", "all-zero", "zeros", "crossed", "above-0", "crossed-placeholders",
        "infinite", "lower-nan", "upper-nan", "underscore",
    ],
)  # fmt: skip
def test_a_range_that_is_not_known_is_refused_where_it_is_needed(refuse, kind, limit, says):
    fault = refuse(limit, kind)
    assert says in fault
    endless = "type continuous if it turns without end"
    assert (endless in fault) == ("write its" in says and kind == "revolute")


@pytest.mark.parametrize("value", ["0", "0.3"])
def test_equal_limits_hold_a_joint_with_a_note(read, value):
    elbow = read(f'lower="{value}" upper="{value}" velocity="1"')
    assert (elbow.lower, elbow.upper) == (float(value), float(value))
    assert elbow.assumed == (f"joint 'elbow' has equal limits: it is held at {value}",)


def test_a_continuous_joint_keeps_its_speed_and_drops_its_range(read):
    wheel = read('lower="1" upper="-1" velocity="3"', "continuous")
    assert (wheel.lower, wheel.upper, wheel.velocity) == (-math.inf, math.inf, 3)
    assert wheel.assumed == ()


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("", "states no limits"),
        ('velocity="0"', "states no limits"),
        ('lower="0" upper="0" velocity="0"', "states no limits"),
        ('lower="-1e9" upper="1e9"', "states limits -1e+09 to 1e+09, which are placeholders"),
    ],
)
def test_a_joint_that_mimics_goes_as_far_and_as_fast_as_its_master(read, limit, says):
    elbow = read(limit, inside=LED)
    assert (elbow.lower, elbow.upper, elbow.velocity) == (-math.inf, math.inf, math.inf)
    assert elbow.assumed == (f"joint 'elbow' {says}: those of the joint it mimics hold",)


def test_the_master_keeps_its_limits_under_such_a_follower(model):
    chain = model("", inside=LED).chain("a", "c")
    assert (chain.lower[0], chain.upper[0], chain.velocity[0]) == (-2, 2, 1.5)


def test_a_slide_that_mimics_needs_its_travel(refuse):
    """A wheel can turn it through any angle."""
    assert "is prismatic and states no limits" in refuse("", "prismatic", LED)


def test_one_placeholder_of_a_follower_leaves_its_other_limit(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("wheel", "a", "b", "continuous"),
            joint("led", "b", "c", inside='<mimic joint="wheel"/>',
                  limit='lower="-1" upper="1e9" velocity="1"'),
        ),
        mimic_limits=True,
    )  # fmt: skip
    chain = model.chain("a", "c")
    assert (chain.lower[0], chain.upper[0]) == (-1, 2 * math.pi)


def test_a_faulty_follower_off_the_chain_does_not_bind_its_master(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("lead", "a", "b"),
            joint("led", "a", "c", inside='<mimic joint="lead"/>',
                  limit='lower="1" upper="0.5" velocity="0.1"'),
        )
    )  # fmt: skip
    chain = model.chain("a", "b")
    assert (chain.lower[0], chain.upper[0], chain.velocity[0]) == (-2, 2, 1.5)


def test_soft_limits_are_kept_inside_the_hard_ones(model):
    def soft(inside):
        elbow = model('lower="-2" upper="2" velocity="1"', inside=inside).joints["elbow"]
        return elbow.soft_lower, elbow.soft_upper

    assert soft(
        '<safety_controller soft_lower_limit="-1" soft_upper_limit="3" k_velocity="1"/>'
    ) == (-1, 2)
    assert soft('<safety_controller k_velocity="1"/>') == (-math.inf, math.inf)


def test_faults_off_the_chain_take_one_line(joint, robot):
    odd = [joint(f"odd{i}", "a", f"o{i}", limit="") for i in range(30)]
    chain = RobotModel.from_urdf(robot(joint("arm", "a", "b"), *odd)).chain("a", "b")
    (said,) = chain.inferences
    assert len(said) < 400
    assert said.startswith("faulty, but not needed by the chain: line 1: joint 'odd0' is revolute")
    assert said.endswith(
        "; also 'odd1', 'odd2', 'odd3', 'odd4', 'odd5', 'odd6', 'odd7', 'odd8' and 21 more"
    )
    assert np.isfinite(chain.velocity).all()


# Version 1.2 -------------------------------------------------------------------------------------

RANGE = 'lower="-1" upper="1" velocity="1"'


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
@pytest.mark.parametrize(
    ("stated", "rates"),
    [
        ("", (math.inf, math.inf, math.inf)),
        ('acceleration="3" deceleration="3" jerk="40"', (3, 3, 40)),
        ('acceleration="3"', (3, 3, math.inf)),
        ('jerk="0.001"', (math.inf, math.inf, 0.001)),
        ('acceleration="1e6" jerk="1e9"', (1e6, 1e6, 1e9)),
    ],
)
def test_limits_of_acceleration_and_jerk_are_read(read, kind, stated, rates):
    elbow = read(f"{RANGE} {stated}", kind, version="1.2")
    assert (elbow.acceleration, elbow.deceleration, elbow.jerk) == rates
    assert elbow.rates == (1, *rates)
    assert elbow.assumed == ()


@pytest.mark.parametrize(
    ("stated", "rates"),
    [
        ('acceleration="3" deceleration="2"', (3, 2)),
        ('acceleration="2" deceleration="3"', (2, 3)),
        ('deceleration="2"', (math.inf, 2)),
    ],
)
def test_the_smaller_of_acceleration_and_deceleration_is_for_both(read, stated, rates):
    elbow = read(f"{RANGE} {stated}", version="1.2")
    assert (elbow.acceleration, elbow.deceleration) == rates
    said = "states different limits of acceleration and deceleration: at most 2 rad/s² in both"
    assert elbow.assumed == (f"joint 'elbow' {said}",)


def test_a_huge_limit_of_acceleration_or_jerk_is_a_placeholder(read):
    elbow = read(f'{RANGE} acceleration="1e7" jerk="2e9"', version="1.2")
    assert (elbow.acceleration, elbow.deceleration, elbow.jerk) == (math.inf,) * 3
    assert elbow.assumed == (
        "joint 'elbow' states acceleration 1e+07, which is a placeholder: ignored",
        "joint 'elbow' states jerk 2e+09, which is a placeholder: ignored",
    )


@pytest.mark.parametrize("name", ["acceleration", "deceleration", "jerk"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("0", "0 lets it hardly move"),
        ("-1", "-1 lets it hardly move"),
        ("9e-4", "0.0009 lets it hardly move"),
        ("nan", "'nan' is no finite number"),
        ("inf", "'inf' is no finite number"),
        ("", "'' is no finite number"),
    ],
)
def test_a_limit_of_acceleration_or_jerk_lets_the_joint_move(refuse, name, value, words):
    said = refuse(f'{RANGE} {name}="{value}"', version="1.2")
    assert name in said
    assert words in said


@pytest.mark.parametrize("version", ["", "1.1"])
def test_older_versions_have_no_limits_of_acceleration_and_jerk(model, version):
    robot = model(f'{RANGE} acceleration="-1" jerk="2"', version=version)
    assert robot.joints["elbow"].rates == (1, math.inf, math.inf, math.inf)
    this = version or "1.0"
    assert robot.notes == (
        f"attribute 'acceleration' of <limit> needs version 1.2, and this is {this}: ignored"
        " (line 1)",
        f"attribute 'jerk' of <limit> needs version 1.2, and this is {this}: ignored (line 1)",
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("inside", ["", LED])
@pytest.mark.parametrize(
    ("limit", "lacks"),
    [
        ('lower="-1" velocity="1"', "no upper,"),
        ('upper="1" velocity="1"', "no lower,"),
        ('velocity="1"', "no lower and no upper,"),
        ("", "no lower and no upper,"),
    ],
)
def test_both_position_limits_are_required(refuse, kind, inside, limit, lacks):
    said = refuse(limit, kind, inside, version="1.2")
    assert f"joint 'elbow' is {kind} and states {lacks} which version 1.2 requires" in said


def test_a_continuous_joint_needs_no_limits(read):
    for limit in ("", 'lower="1"', 'upper="-1"', 'lower="-1" upper="1"'):
        elbow = read(limit, "continuous", version="1.2")
        assert (elbow.lower, elbow.upper) == (-math.inf, math.inf)
        assert (elbow.velocity, elbow.effort) == (1.0, math.inf)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
def test_limits_that_cross_are_refused_for_every_joint(refuse, kind):
    said = refuse('lower="1" upper="-1" velocity="1"', kind, version="1.2")
    assert "lower is above upper" in said


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_missing_speed_or_effort_is_no_limit(read, kind):
    elbow = read('lower="-1" upper="1"', kind, version="1.2")
    assert elbow.velocity == ASSUMED_SPEED[kind == "prismatic"]  # the arm needs one
    assert elbow.effort == math.inf
    assert "states no top speed" in elbow.assumed[0]


@pytest.mark.parametrize("name", ["velocity", "effort"])
def test_a_negative_speed_or_effort_is_refused(refuse, name):
    said = refuse(f'lower="-1" upper="1" {name}="-1"', version="1.2")
    assert f"joint 'elbow': {name} -1 is negative" in said


def test_the_effort_must_be_a_number(refuse):
    assert "'x' is no finite number" in refuse(f'{RANGE} effort="x"', version="1.2")


def test_limits_hold_for_the_joints_that_mimic(joint, robot):
    def limit(rates):
        return f'lower="-2" upper="2" velocity="2" {rates}'

    lead = joint("lead", "a", "b", limit=limit('acceleration="8" deceleration="5" jerk="90"'))
    led = joint(
        "led", "b", "c", inside='<mimic joint="lead" multiplier="-2"/>',
        limit=limit('acceleration="12" jerk="100"'),
    )  # fmt: skip
    chain = RobotModel.from_urdf(robot(lead, led, version="1.2")).chain("a", "c")
    rates = chain.velocity, chain.acceleration, chain.deceleration, chain.jerk
    assert [each.tolist() for each in rates] == [[1.0], [6.0], [5.0], [50.0]]
    with pytest.raises(ValueError, match="read-only"):
        chain.jerk[0] = 1.0
    continuous = lead.replace("revolute", "continuous"), led.replace("revolute", "continuous")
    chain = RobotModel.from_urdf(robot(*continuous, version="1.2")).chain("a", "c")
    assert (chain.acceleration[0], chain.deceleration[0], chain.jerk[0]) == (6.0, 5.0, 50.0)
