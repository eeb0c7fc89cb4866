# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A chain's parameters: every error names the parameter to correct."""

from pathlib import Path

import numpy as np
import pytest

from basis_ik.arm.admission import SPEED_UNITS, Units
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.parameters.chain_parameters import ChainParameters, check_apart
from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS
from basis_ik.ros.parameters.parameters import ConfigError

# The numbers themselves: with those of the module no change of them would be seen.
MOST_JOINTS = 100  # of one chain

URDF = Path(__file__).parents[2] / "urdf"
UR5E, PANDA, LEGS = (
    RobotModel.from_urdf((URDF / f"{name}.urdf").read_text()) for name in ("ur5e", "panda", "legs")
)


def of(chain="", **given):
    """Return the parameters of a chain, those not given at their defaults."""
    prefix = f"{chain}." if chain else ""
    values = {declaration.name: declaration.default for declaration in CHAIN_PARAMETERS}
    semantic = {"robot_description_semantic": given.pop("srdf", "")}
    own = {prefix + k: v for k, v in {**values, **given}.items()}
    return ChainParameters({**semantic, **own}, chain)


def snake(count):
    """Return a robot with a number of joints in series, each perpendicular to the last."""
    joints = (
        f'<link name="l{i + 1}"/><joint name="j{i}" type="continuous"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><origin xyz="0.1 0 0.2" rpy="1.5 0 0"/></joint>'
        for i in range(count)
    )
    return RobotModel.from_urdf(f'<robot name="snake"><link name="l0"/>{"".join(joints)}</robot>')


FREE = RobotModel.from_urdf(
    """<robot name="free"><link name="map"/><link name="body"/><link name="arm"/>
    <joint name="drive" type="planar"><parent link="map"/><child link="body"/></joint>
    <joint name="lift" type="continuous"><parent link="body"/><child link="arm"/></joint>
    </robot>"""
)
STIFF = RobotModel.from_urdf('<robot name="stiff"><link name="a"/></robot>')


@pytest.mark.parametrize(
    ("given", "name", "words"),
    [
        ({"root_link": "a", "tip_link": "a"}, "tip_link", "like root_link"),
        ({"home": [0.0] * 6, "max_jerk": [9.0] * 7}, "max_jerk", "7 numbers, and home has 6"),
        (
            {"max_acceleration": [1.0], "max_jerk": [9.0] * 2},
            "max_jerk",
            "2 numbers, and max_acceleration has 1",
        ),
    ],
    ids=["same ends", "home and jerk", "acceleration and jerk"],
)
@pytest.mark.parametrize("chain", ["", "left"], ids=["alone", "named"])
def test_invalid_values_are_refused_without_a_robot(chain, given, name, words):
    with pytest.raises(ConfigError) as caught:
        of(chain, **given).check()
    prefix = f"{chain}." if chain else ""
    assert str(caught.value).startswith(f"parameter '{prefix}{name}' ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_valid_values_are_accepted_without_a_robot():
    of().check()
    of(home=[0.0] * 2, max_acceleration=[1.0] * 2, max_jerk=[1.0] * 2, root_link="a").check()


@pytest.mark.parametrize(
    ("model", "given", "name", "words"),
    [
        (UR5E, {"tip_link": "tol0"}, "tip_link", "did you mean 'tool0'"),
        (UR5E, {"root_link": "bse_link"}, "root_link", "did you mean 'base_link'"),
        (UR5E, {"root_link": "tool0"}, "root_link", "no joint moves below 'tool0'"),
        (UR5E, {"tip_link": "base_link"}, "tip_link", "no joint moves between"),
        (LEGS, {}, "tip_link", "is empty: no single obvious arm below"),
        (FREE, {"root_link": "map", "tip_link": "arm"}, "root_link", "start the chain at 'body'"),
        (
            UR5E,
            {"root_link": "tool0", "tip_link": "base_link"},
            "tip_link",
            "is 'base_link', which is not below root_link 'tool0': the two are the wrong way round",
        ),
        (
            UR5E,
            {"root_link": "tool0", "tip_link": "upper_arm_link"},
            "tip_link",
            "the two are the wrong way round",
        ),
        (snake(MOST_JOINTS + 1), {}, "tip_link", "101 joints to move between l0 and l101"),
    ],
    ids=["tip", "root", "root at the end", "tip that stands", "two arms", "planar", "swapped",
         "swapped inside", "too long"],
)  # fmt: skip
def test_a_missing_chain_names_the_parameter(model, given, name, words):
    with pytest.raises(ConfigError, match=f"^parameter '{name}' ") as caught:
        of(**given).chain(model)
    assert words in str(caught.value)
    assert "world" not in str(caught.value)


def test_a_robot_without_an_arm_names_no_parameter():
    with pytest.raises(ChainError, match="no joint moves below 'a'"):
        of().chain(STIFF)


def test_chains_down_and_across_the_tree_are_valid():
    assert of(tip_link="tool0").chain(UR5E).root == "base_link"
    assert len(of(root_link="calf_l", tip_link="ankle_r").chain(LEGS).joint_names) == 8
    assert len(of().chain(snake(MOST_JOINTS)).joint_names) == MOST_JOINTS


@pytest.fixture(scope="module")
def chain():
    return PANDA.chain("panda_link0", "panda_link8")


@pytest.mark.parametrize(
    ("frame", "words"),
    [("lens", "no link 'lens'"), ("panda_link0", "hangs on")],
    ids=["unknown", "not fixed"],
)
def test_a_pointing_frame_that_the_tip_does_not_carry_is_refused(chain, frame, words):
    with pytest.raises(ConfigError, match=r"^parameter 'pointing_frame' is") as caught:
        of(pointing_frame=frame).ray(PANDA, chain)
    assert words in str(caught.value)


def test_a_ray_may_begin_at_a_link_fixed_to_the_tip(chain):
    ray = of(pointing_frame="panda_link7", pointing_axis=[0.0, 0.0, 2.0]).ray(PANDA, chain)
    np.testing.assert_allclose(ray.origin, [0.0, 0.0, -0.107])


def test_postures_are_those_of_the_parameters(chain):
    middle, other = (chain.lower + share * (chain.upper - chain.lower) for share in (0.5, 0.4))
    given = {"home": middle.tolist(), "postures.at rest": other.tolist()}
    for name in ("", "left"):
        found = of(name, **given).postures(chain)
        assert found == {"at rest": tuple(other), "home": tuple(middle)}
    assert of().postures(chain) == {}
    assert of(**{"postures.home": given["home"]}).postures(chain) == {"home": tuple(middle)}
    text = "^parameter 'left.home' is also given as left.postures.home; leave one out"
    with pytest.raises(ConfigError, match=text):
        of("left", **given, **{"postures.home": given["home"]}).postures(chain)


def state(name, **joints):
    """Return a group state of an SRDF for the Panda."""
    named = (f'<joint name="panda_{joint}" value="{value}"/>' for joint, value in joints.items())
    return f'<group_state name="{name}" group="any">{"".join(named)}</group_state>'


def srdf(*states):
    return f'<robot name="panda">{"".join(states)}</robot>'


READY = {f"joint{k}": q for k, q in enumerate((0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8), 1)}


def test_group_states_are_postures(chain):
    opened = state("open", finger_joint1=0.04)
    one, other = state("half", joint1=0.1), state("half", joint1=0.1, joint2=0.2, finger_joint1=9)
    text = srdf(state("ready", **READY, finger_joint1=0.0), opened, one, other)
    found = of(srdf=text).postures(chain)
    assert set(found) == {"half", "ready"}, "what has none of the chain's joints is not its own"
    assert found["ready"] == tuple(READY.values())
    np.testing.assert_array_equal(found["half"], [0.1, 0.2, *[np.nan] * 5])
    mine = [0.1, *list(READY.values())[1:]]
    assert of(srdf=text, **{"postures.ready": mine}).postures(chain)["ready"] == tuple(mine)
    assert of(srdf=srdf(state("home", **READY))).postures(chain)["home"] == tuple(READY.values())


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ([state("bad", **{**READY, "joint4": 0.0})], "panda_joint4 must lie in [-3.0718, -0.0698]"),
        ([state("bad", joint1="nan")], "panda_joint1: <joint value='nan'>: 'nan' is no finite"),
        ([state("bad", joint1="")], "panda_joint1: <joint value=''>: '' is no finite"),
        ([state("bad", joint1="0 1")], "needs 1 numbers, has 2"),
        (['<group_state name="bad"><joint name="panda_joint1"/></group_state>'],
         "panda_joint1 must lie in"),
        ([state("bad", joint1=0.1), state("bad", joint1=0.2)], "joint1 is at 0.1, and at 0.2"),
    ],
    ids=["outside", "nan", "empty", "two", "none", "twice"],
)  # fmt: skip
def test_a_group_state_that_does_not_fit_has_its_fault(chain, states, words):
    found = of(srdf=srdf(*states, state("ready", **READY))).postures(chain)
    assert words in found["bad"]
    assert found["ready"] == tuple(READY.values())


def test_an_srdf_that_cannot_be_read_is_refused(chain):
    for text in ("<robot>", "<urdf/>", "/no/such.srdf"):
        with pytest.raises(ConfigError, match="'robot_description_semantic' cannot be"):
            of(srdf=text).postures(chain)


@pytest.mark.parametrize(
    ("home", "words"),
    [([0.0], "7 positions are needed"), ([0.0] * 7, "panda_joint4 must lie in")],
    ids=["too few", "outside"],
)
def test_an_invalid_posture_is_refused(chain, home, words):
    for name in ("home", "postures.ready"):
        with pytest.raises(ConfigError, match=f"^parameter '{name}' does not fit: ") as caught:
            of(**{name: home}).postures(chain)
        assert words in str(caught.value)


def test_motion_limits_have_one_number_for_each_joint_or_none(chain):
    given = of(max_acceleration=[2.0] * 7).limits(chain)
    assert given.acceleration.tolist() == [2.0] * 7
    assert given.jerk.tolist() == [2.0 / 0.05] * 7
    np.testing.assert_allclose(of().limits(chain).acceleration, chain.velocity / 0.25)
    for name in ("max_acceleration", "max_jerk"):
        with pytest.raises(ConfigError, match=f"^parameter '{name}' must have 7 numbers .*, not 1"):
            of(**{name: [1.0]}).limits(chain)


def test_the_urdf_has_the_defaults_of_acceleration_and_jerk():
    limit = '<limit lower="-1" upper="1" velocity="1" acceleration="3" deceleration="2" jerk="40"/>'
    text = f"""<robot name="r" version="1.2"><link name="a"/><link name="b"/>
        <joint name="j" type="revolute"><parent link="a"/><child link="b"/>{limit}
        </joint></robot>"""
    chain = RobotModel.from_urdf(text).chain("a", "b")
    default = of().limits(chain)
    assert (default.acceleration.tolist(), default.jerk.tolist()) == ([2.0], [40.0])
    given = of(max_acceleration=[9.0], max_jerk=[90.0]).limits(chain)
    assert (given.acceleration.tolist(), given.jerk.tolist()) == ([9.0], [90.0])


@pytest.mark.parametrize("margin", [[0.1], [0.1] * 7, [0.3, 0.0, 0.1, 0.2, 0.1, 0.0, 0.5]])
def test_a_margin_narrows_the_limits(chain, margin):
    narrow = of(tip_link="panda_link8", joint_limit_margin=margin).chain(PANDA)
    np.testing.assert_allclose(narrow.lower, chain.lower + margin)
    np.testing.assert_allclose(narrow.upper, chain.upper - margin)
    np.testing.assert_array_equal(narrow.arrays.lower, narrow.lower)
    np.testing.assert_array_equal(of().limits(narrow).upper, narrow.upper)
    outside = [*(0.5 * (chain.lower + chain.upper))[:6], chain.upper[6] - 0.4 * margin[-1]]
    with pytest.raises(ConfigError, match=r"^parameter 'home' does not fit: panda_joint7"):
        of(home=list(map(float, outside))).postures(narrow)


def test_a_continuous_joint_has_no_margin():
    assert not np.isfinite(of(joint_limit_margin=[0.2]).chain(snake(3)).lower).any()


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        ([1.6], "joint 'panda_joint4' has no position within its limits"),
        ([0.1] * 2, "must have 1 number or 7 "),
    ],
    ids=["no room", "two"],
)
def test_an_invalid_margin_is_refused(margin, words):
    with pytest.raises(ConfigError, match=r"^parameter 'joint_limit_margin' ") as caught:
        of(tip_link="panda_link8", joint_limit_margin=margin).chain(PANDA)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("links", "words"),
    [
        (["panda_lnk4"], "did you mean 'panda_link4'"),
        (["panda_link4", "panda_link0"], "'panda_link0': no joint moves"),
        (["panda_link8"], "moved by 'panda_joint6', 'panda_joint7', too"),
    ],
    ids=["unknown", "stands", "beyond the tip"],
)
def test_capped_links_outside_the_chain_are_refused(links, words):
    chain = PANDA.chain("panda_link0", "panda_link5")
    of(capped_links=["panda_link4", "panda_link5"]).caps(PANDA, chain)
    with pytest.raises(ConfigError, match=r"^parameter 'capped_links' has ") as caught:
        of(capped_links=links).caps(PANDA, chain)
    assert words in str(caught.value)


def test_chains_that_share_a_joint_are_refused_by_their_names():
    whole, wrist = PANDA.chain(None, "panda_link8"), PANDA.chain("panda_link5", "panda_link8")
    with pytest.raises(ConfigError, match=r"^parameter 'chains' has 'a' and 'b'") as caught:
        check_apart({"a": whole, "b": wrist})
    assert "both move 'panda_joint6', 'panda_joint7'; start one below, by a.root_link" in str(
        caught.value
    )


def test_chains_may_share_links():
    check_apart({side: LEGS.chain(None, f"ankle_{side}") for side in "lr"})


def test_numbers_are_speeds_unless_the_type_is_unitless():
    scale = {"scale.linear": 0.2, "scale.rotational": 0.3, "scale.joint": 0.7}
    assert of(**scale).units() == SPEED_UNITS
    assert of("left", command_in_type="unitless", **scale).units() == Units(1.0, 0.2, 0.3, 0.7)
    assert of(command_in_type="unitless").units() == Units(1.0, 0.4, 0.8, 0.5)
