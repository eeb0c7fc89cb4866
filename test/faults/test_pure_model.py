# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Invalid robot descriptions, read as in the node; and unusual ones that are accepted."""

import re

import numpy as np
import pytest
from pure_arm import PERIOD, UR5E, Arm, Settings, plain_forward

from basis_ik.arm.chain_state import State
from basis_ik.errors import BasisIkError
from basis_ik.robot import elements, urdf
from basis_ik.robot.elements import MAX_BYTES, MAX_DEPTH, MAX_JOINTS, UrdfError
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.loaded_robot import read_description
from basis_ik.transforms.rigid import RigidTransform

LIMIT = '<limit lower="-2" upper="2" velocity="1" effort="1"/>'


def joint(name, parent, child, kind="revolute", inside="", limit=LIMIT, origin="0.1 0.2 0.3"):
    """Return a <joint> with axis z by default; `inside` has its elements."""
    axis = "" if "<axis" in inside else '<axis xyz="0 0 1"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{origin}"/>{axis}{limit}{inside}</joint>'
    )


def robot(*joints):
    """Return a <robot> of joints and the links that they name."""
    body = "".join(joints)
    links = dict.fromkeys(re.findall(r'(?:parent|child) link="([^"]*)"', body))
    return (
        f"""<robot name="r">{"".join(f'<link name="{link}"/>' for link in links)}{body}</robot>"""
    )


def refused(text, **parameters):
    """Return the error of a description that the node refuses; one line."""
    with pytest.raises(BasisIkError) as caught:
        read_description(text, [""], Settings(**parameters))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    return caught.value


def on_and_off(odd, name, logged):
    """A joint is a fault of the chain that needs it, and noted by one that does not."""
    text = robot(joint("sound", "base", "tip_1"), odd)
    error = refused(text, root_link="base", tip_link="tip_2")
    assert f"'{name}'" in str(error)
    assert logged in str(error), error
    chain = read_description(text, [""], Settings(root_link="base", tip_link="tip_1")).chains[""]
    assert chain.joint_names == ("sound",)
    assert any(name in line for line in chain.inferences), "noted"
    return str(error)


HALF = UR5E[: UR5E.index("</joint>")]
DAMAGED = {
    "empty": ("", 1, "is empty"),
    "blank": (" \n\t\n", 1, "is empty"),
    "no XML": ("hello", 1, "not well-formed XML"),
    "half": (HALF, HALF.count("\n") + 1, "not well-formed XML: no element found"),
    "all but the end": ("<robot>\n<link name='a'/>\n", 3, "not well-formed XML"),
    "NUL": ("<robot>\n\n\0</robot>", 3, "a NUL character"),
    "NUL in a name": ("<robot>\n<link name='a\0'/></robot>", 2, "a NUL character"),
    "no Unicode": ("<robot>\n\ud800</robot>", 2, "not Unicode"),
}


@pytest.mark.parametrize(("text", "line", "logged"), DAMAGED.values(), ids=DAMAGED)
def test_row_40_damaged_text(observed, text, line, logged):
    error = refused(text)
    assert error.line == line
    assert str(error).startswith(f"line {line}: ")
    assert logged in str(error)
    observed(f"{error}"[:60])


DOCTYPES = {
    "DOCTYPE": "<!DOCTYPE robot>\n<robot/>",
    "growing entity": "<!DOCTYPE r [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]><robot>&b;</robot>",
    "external": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot>&x;</robot>',
    "external subset": '<!DOCTYPE r SYSTEM "http://localhost/r.dtd"><robot/>',
    "around a robot": UR5E.replace("<robot", "<!DOCTYPE robot>\n<robot", 1),
}


@pytest.mark.parametrize("text", DOCTYPES.values(), ids=DOCTYPES)
def test_row_41_doctype(observed, text):
    error = refused(text)
    assert "a DOCTYPE is not allowed" in str(error)
    assert error.line == text[: text.index("<!DOCTYPE")].count("\n") + 1
    observed("REFUSE, with its line")


def padded(size):
    return f"<robot>{' ' * (size - len('<robot></robot>'))}</robot>"


def nested(depth):
    return f"<robot>{'<a>' * (depth - 1)}{'</a>' * (depth - 1)}</robot>"


def many(count):
    return robot(*(joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(count)))


TOO_MUCH = {
    "4 MiB": (padded(MAX_BYTES), padded(MAX_BYTES + 1), "exceeds 4194304 bytes"),
    "64 levels": (nested(MAX_DEPTH), nested(MAX_DEPTH + 1), "more than 64 deep"),
    "1,000 joints": (many(MAX_JOINTS), many(MAX_JOINTS + 1), "more than 1000 joints"),
}


@pytest.mark.parametrize(("fits", "too_much", "logged"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_row_42_too_much(monkeypatch, observed, fits, too_much, logged):
    elements.read_xml(fits)
    built = []
    monkeypatch.setattr(urdf, "_read_joint", lambda *a: built.append(a))
    if "bytes" in logged:
        monkeypatch.setattr(elements.expat, "ParserCreate", built.append)
    error = refused(too_much)
    assert logged in str(error)
    assert not built, "before anything is built"
    observed(f"REFUSE: {error}")


NO_LIMITS = {
    "none": ("", "states no limits"),
    "zeros": ('<limit lower="0" upper="0" velocity="0"/>', "a <limit> of zeros"),
    "no range": ('<limit velocity="1"/>', "states no limits"),
    "lower above upper": (
        '<limit lower="1" upper="0.9" velocity="1"/>',
        "lower 1 is above upper 0.9",
    ),
    "NaN": ('<limit lower="nan" upper="1" velocity="1"/>', "'nan' is no finite number"),
    "NaN above": ('<limit lower="-1" upper="NaN" velocity="1"/>', "'NaN' is no finite number"),
    "NaN speed": ('<limit lower="-1" upper="1" velocity="nan"/>', "'nan' is no finite number"),
}


@pytest.mark.parametrize(("limit", "logged"), NO_LIMITS.values(), ids=NO_LIMITS)
def test_row_44_senseless_limits(observed, limit, logged):
    on_and_off(joint("odd", "base", "tip_2", limit=limit), "odd", logged)
    observed(f"REFUSE: {logged}")
    # No speed is no refusal: what is assumed in its place is low, never faster than it says, noted.
    for speed, most in (("0", 1.0), ("-1", 1.0), ("-0.5", 0.5)):
        slow = joint(
            "odd", "base", "tip", limit=f'<limit lower="-1" upper="1" velocity="{speed}"/>'
        )
        chain = RobotModel.from_urdf(robot(slow)).chain()
        assert chain.velocity.tolist() == [most]
        assert any("odd' states velocity" in line for line in chain.inferences)


NO_NUMBERS = ["nan", "inf", "-Infinity", "1e999", "1_000", "0x10", "1,5", "1e", "", "+-1", "１",
              "1e101", "True", "1.0.0"]  # fmt: skip


@pytest.mark.parametrize("number", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_row_45_numbers_by_a_strict_grammar(observed, number):
    for odd in (
        joint("odd", "base", "tip_2", origin=f"0 {number} 0"),
        joint("odd", "base", "tip_2", inside=f'<axis xyz="0 0 {number}"/>'),
        joint("odd", "base", "tip_2", inside=f'<mimic joint="sound" offset="{number}"/>'),
        joint("odd", "base", "tip_2", limit=f'<limit lower="-1" upper="1" velocity="{number}"/>'),
    ):
        on_and_off(odd, "odd", "finite number" if number else "number")
    observed("REFUSE, naming joint and number")


def test_row_46_axes_and_origins(observed):
    for axis in ("0 0 0", "1e-7 0 0", "0 0.9e-6 0"):
        on_and_off(joint("odd", "base", "tip_2", inside=f'<axis xyz="{axis}"/>'), "odd", "is zero")
    for scale in (3e-7, 0.5, 7.0, 1e99):
        text = robot(joint("j", "base", "tip", inside=f'<axis xyz="0 {3 * scale} {4 * scale}"/>'))
        axis = RobotModel.from_urdf(text).joints["j"].axis
        np.testing.assert_allclose(axis, [0.0, 0.6, 0.8], atol=1e-15)
    assert short_axis().joint_names == ("j",)
    for origin in ("inf 0 0", "0 -inf 0", "0 0 1e999", "0 0 1.0001e6"):
        logged = "beyond 1e+06 m" if "e6" in origin else "no finite number"
        on_and_off(joint("odd", "base", "tip_2", origin=origin), "odd", logged)
    RobotModel.from_urdf(robot(joint("j", "base", "tip", origin="1e6 0 0"))).chain()
    observed("REFUSE; normalised; REFUSE")


def short_axis():
    """The shortest axis that is a direction."""
    text = robot(joint("j", "base", "tip", inside='<axis xyz="0 0 1e-6"/>'))
    return RobotModel.from_urdf(text).chain()


def is_exact(text, tip, most=1e-12):
    """Compare forward kinematics with plain ones, at random positions; return the worst."""
    chain, random, worst = (
        RobotModel.from_urdf(text).chain(None, tip),
        np.random.default_rng(1),
        0.0,
    )
    for _ in range(50):
        q = random.uniform(-2.0, 2.0, len(chain.joint_names))
        values = dict(zip(chain.joint_names, q, strict=True))
        there = chain.forward(q).matrix
        worst = max(worst, np.abs(there - plain_forward(text, values, tip)).max())
        assert np.isfinite(chain.jacobian(q)).all()
    assert worst <= most
    return chain, worst


def reaches(text, tip, seed):
    """Go to a pose of random joints, and check every command; return the error [m]."""
    arm = Arm(text, start=np.zeros(len(seed)), tip=tip)
    target = plain_forward(text, dict(zip(arm.chain.joint_names, seed, strict=True)), tip)
    arm.settings["position_only_ik"] = True
    arm.settings.changes += 1
    arm.go(RigidTransform.from_matrix(target), frame=arm.chain.root)
    arm.until_rest()
    reached = plain_forward(text, dict(zip(arm.chain.joint_names, arm.place, strict=True)), tip)
    return np.linalg.norm(reached[:3, 3] - target[:3, 3])


AXES = ("0 0 1", "0 1 0", "1 0 0")


def test_row_47_links_without_length(observed):
    wrist = [
        joint(f"j{k}", f"l{k}", f"l{k + 1}", inside=f'<axis xyz="{AXES[k % 3]}"/>', origin="0 0 0")
        for k in range(6)
    ]
    _, worst = is_exact(robot(*wrist), "l6")
    arm = [each.replace('"0 0 0"', '"0 0 0.3"') if k in (1, 3) else each
           for k, each in enumerate(wrist)]  # fmt: skip
    text = robot(*arm, joint("end", "l6", "tip", "fixed", limit="", origin="0.1 0 0"))
    _, other = is_exact(text, "tip")
    off = reaches(text, "tip", [0.3, 0.4, -0.5, 0.6, 0.3, 0.2])
    assert off < 1e-5
    observed(f"forward kinematics within {max(worst, other):.0e}; reached within {off:.0e} m")


def mimic(master, more=""):
    return f'<mimic joint="{master}" {more}/>'


def test_row_48_mimic_joints(observed):
    tied = [
        joint("a", "base", "l1"),
        joint("b", "l1", "l2", inside=mimic("a", 'multiplier="-0.5" offset="0.1"')),
        joint("c", "l2", "tip_2", inside=mimic("b", 'multiplier="2" offset="0.2"')),
    ]
    text = robot(*tied, joint("sound", "base", "tip_1"))
    chain = RobotModel.from_urdf(text).chain("base", "tip_2")
    assert chain.joint_names == ("a",)
    for a in (-1.0, 0.0, 0.7):
        values = {"a": a, "b": 0.1 - 0.5 * a, "c": 0.4 - a}
        there = chain.forward([a]).matrix
        np.testing.assert_allclose(there, plain_forward(text, values, "tip_2"), atol=1e-12)
    loop = joint("b", "base", "tip_2", inside=mimic("c")) + joint(
        "c", "tip_2", "x", inside=mimic("b")
    )
    on_and_off(loop, "b", "mimic joints form a loop: 'b', 'c'")
    itself = joint("b", "base", "tip_2", inside=mimic("b"))
    on_and_off(itself, "b", "mimic joints form a loop")
    missing = joint("b", "base", "tip_2", inside=mimic("ghost"))
    on_and_off(missing, "b", "mimics 'ghost', which does not exist")
    observed("resolved; REFUSE; REFUSE")


def test_row_49_a_prismatic_joint(observed):
    slide = '<axis xyz="1 2 -2"/>'
    text = robot(
        joint("turn", "base", "l1"),
        joint("slide", "l1", "l2", "prismatic", slide),
        joint("bend", "l2", "l3", inside='<axis xyz="0 1 0"/>'),
        joint("lift", "l3", "tip", "prismatic"),
    )
    chain, worst = is_exact(text, "tip")
    assert chain.joint_names == ("turn", "slide", "bend", "lift")
    assert chain.prismatic.tolist() == [False, True, False, True]
    off = reaches(text, "tip", [0.4, 0.5, -0.6, 0.7])
    assert off < 1e-5
    observed(f"forward kinematics within {worst:.0e}; reached within {off:.0e} m")


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_row_50_joints_without_a_single_value(observed, kind):
    free = joint("odd", "base", "body", kind, limit="")
    text = robot(joint("sound", "base", "tip_1"), free, joint("arm", "body", "tip_2"))
    error = refused(text, root_link="base", tip_link="tip_2")
    assert f"joint 'odd' on the chain is {kind}" in str(error)
    for root, tip in (("base", "tip_1"), ("body", "tip_2")):
        asked = Settings(root_link=root, tip_link=tip)
        assert len(read_description(text, [""], asked).chains[""].joint_names) == 1
    observed(f"REFUSE: {error}"[:80])


TREES = {
    "loop": ([("j", "base", "x"), ("k", "a", "b"), ("m", "b", "a")], ("a", "b"), "form a loop"),
    "loop of one": ([("j", "a", "a")], ("a",), "form a loop"),
    "two parents": ([("j", "a", "c"), ("k", "b", "c")], ("c",), "two parent joints"),
    "two roots": ([("j", "a", "b"), ("k", "c", "d")], ("a", "c"), "2 root links"),
    "joint twice": ([("j", "a", "b"), ("j", "b", "c")], ("j",), "duplicate joint names"),
}


@pytest.mark.parametrize(("joints", "names", "logged"), TREES.values(), ids=TREES)
def test_row_51_no_tree(observed, joints, names, logged):
    error = refused(robot(*(joint(*each) for each in joints)))
    assert isinstance(error, UrdfError)
    assert error.names == names
    assert logged in str(error)
    assert all(f"'{name}'" in str(error) for name in names)
    observed(f"REFUSE: {error}"[:80])
    twice = robot(joint("j", "a", "b")).replace("<link", '<link name="a"/><link', 1)
    assert refused(twice).names == ("a",)
    no_tip = refused(UR5E, tip_link="tol0")
    assert "'tol0'" in str(no_tip)
    assert "did you mean 'tool0'" in str(no_tip)
    with pytest.raises(ChainError, match="there is no link 'tol0'"):
        RobotModel.from_urdf(UR5E).chain(None, "tol0")


def endless():
    """The UR5e with a wrist that turns without end."""
    kind = '<joint name="wrist_3_joint" type="{}">'
    assert kind.format("revolute") in UR5E
    return UR5E.replace(kind.format("revolute"), kind.format("continuous"))


@pytest.mark.parametrize("sign", [-1.0, 1.0], ids=["backwards", "forwards"])
def test_row_52_a_continuous_joint(observed, sign):
    start = np.array([0.0, -1.57, 1.57, -1.57, -1.57, sign * 3.1])
    arm = Arm(endless(), start=start)
    assert arm.chain.continuous.tolist() == [False] * 5 + [True]
    wanted = start.copy()
    wanted[5] = -sign * 3.1  # 0.083 rad farther on, across pi
    arm.go(arm.chain.forward(wanted))
    arm.until_rest()
    wrist = np.concatenate([[start[5]], arm.commands[:, 5]])
    assert np.abs(np.diff(wrist)).sum() == pytest.approx(2.0 * np.pi - 6.2, abs=1e-4)
    assert (sign * np.diff(wrist) >= -1e-12).all(), "across pi, and not back"
    # The driver resets its turns: this is no jump.
    arm.move_by_hand(arm.place - [0.0, 0.0, 0.0, 0.0, 0.0, sign * 2.0 * np.pi])
    sent = len(arm.oracle.commands)
    arm.cycles(100)
    assert len(arm.oracle.commands) == sent
    assert arm.state.state is State.ARRIVED
    assert not arm.control.arm.refusals.counts
    assert np.abs(np.diff(wrist)).max() <= np.pi * PERIOD + 1e-9
    arm.follows_again()
    observed(f"{np.abs(np.diff(wrist)).sum():.3f} rad, across pi")
