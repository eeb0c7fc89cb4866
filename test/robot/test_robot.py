# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Any text gives a robot, or an error in one line, and never another exception."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.errors import BasisIkError
from basis_ik.robot.elements import MAX_BYTES, UrdfError
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel

PIECES = ["", "<", ">", '"', "/>", "nan", "1e999", "-1", "0", "0 0 0", "revolute", "floating",
          "<joint/>", '<mimic joint="elbow_joint"/>', "base_link", "\0", "\n", "é", "&#10;", "&#0;",
          "${x}", "<!DOCTYPE a>", "9" * 400, "]]>", "<![CDATA[", "<?x?>"]  # fmt: skip


def attempt(text):
    """Read, infer and evaluate; return whether there is a chain."""
    refusal = None
    try:
        chain = RobotModel.from_urdf(text).chain()
    except BasisIkError as error:
        refusal = str(error)
    if refusal is not None:
        assert 0 < len(refusal) < 2000
        assert "\n" not in refusal
        return False
    pose = chain.forward(np.zeros(len(chain.joint_names)))
    assert np.isfinite(pose.matrix).all()
    assert (chain.lower <= chain.upper).all()
    assert (chain.velocity > 0).all()
    assert np.isfinite(chain.velocity).all()
    assert np.isfinite(chain.reach)
    return True


@pytest.fixture(scope="module")
def words(shipped):
    """The joints of the UR5e and its links without shapes, cut at every token."""
    text = re.sub(
        "<link name=([^>]*[^/])>.*?</link>", r"<link name=\1/>", shipped("ur5e"), flags=re.S
    )
    assert attempt(text)
    return re.findall(r"[-\w.]+|\s+|.", text)


@given(st.data())
def test_damaged_descriptions_are_read_or_refused(words, data):
    damaged = list(words)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(words) - 1))
        damaged[at] = data.draw(st.sampled_from([*PIECES, words[at] * 2, words[at][:-1]]))
    attempt("".join(damaged))


@given(st.data())
def test_truncated_descriptions_are_refused(words, data):
    text = "".join(words)
    end = data.draw(st.integers(0, text.rindex("</robot>")))
    assert not attempt(text[:end])


@given(st.text(max_size=200))
def test_any_text(text):
    assert not attempt(text)


def test_every_number_of_a_description_is_guarded(shipped):
    """Replace each number in a joint by NaN: each is refused."""
    text = shipped("panda")
    start = text.index("<joint")
    count = 0
    for key in ("xyz", "rpy", "lower", "upper", "velocity", "effort"):
        at = text.find(f'{key}="', start)
        while at >= 0:
            end = text.index('"', at + len(key) + 2)
            nans = "0 nan 0" if key in ("xyz", "rpy") else "nan"
            model = RobotModel.from_urdf(f'{text[:at]}{key}="{nans}{text[end:]}')
            faulty = [joint for joint in model.joints.values() if joint.fault]
            if key != "effort":  # nothing depends on it
                assert "no finite number" in faulty[0].fault
                with pytest.raises(BasisIkError, match="no finite number"):
                    model.chain(faulty[0].parent, faulty[0].child)
                count += 1
            at = text.find(f'{key}="', at + 1)
    assert count > 50


def test_a_robot_is_read_from_its_file(shipped, tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(shipped("panda"), encoding="utf-8")
    for path in (file, str(file)):
        assert (
            RobotModel.from_urdf_file(path).joints.keys()
            == RobotModel.from_urdf(shipped("panda")).joints.keys()
        )


@pytest.mark.parametrize("prefix", ["arm1/", "left"])
def test_links_but_not_joints_have_the_frame_prefix(shipped, prefix):
    bare = RobotModel.from_urdf(shipped("panda"))
    model = RobotModel.from_urdf(shipped("panda"), frame_prefix=prefix)
    assert model.links == tuple(prefix + link for link in bare.links)
    assert model.root == prefix + bare.root
    assert list(model.joints) == list(bare.joints)
    assert [each.link for each in model.visuals] == [prefix + each.link for each in bare.visuals]
    chain, same = model.chain(), bare.chain()
    assert (chain.root, chain.tip) == (prefix + same.root, prefix + same.tip)
    assert chain.links == tuple(prefix + link for link in same.links)
    assert chain.forward(chain.neutral) == same.forward(same.neutral)
    for ends in (("panda_link1", "panda_link8"), (f"{prefix}panda_link1", f"{prefix}panda_link8")):
        chain = model.chain(*ends)
        assert (chain.root, chain.tip) == (f"{prefix}panda_link1", f"{prefix}panda_link8")
    with pytest.raises(ChainError, match="'nowhere'"):
        model.chain(tip="nowhere")


def test_one_link_is_the_tip_and_two_are_root_and_tip(shipped):
    model = RobotModel.from_urdf(shipped("ur5e"))
    found, to_flange = model.chain(), model.chain("flange")
    assert (to_flange.root, to_flange.tip) == (found.root, "flange")
    assert to_flange.inferences[0].startswith(f"root {found.root}: ")
    for chain in (
        model.chain("shoulder_link", "flange"),
        model.chain("shoulder_link", tip="flange"),
        model.chain("flange", root="shoulder_link"),
        model.chain(root="shoulder_link", tip="flange"),
    ):
        assert (chain.root, chain.tip) == ("shoulder_link", "flange")
    for chain in (
        model.chain("shoulder_link", None),
        model.chain("shoulder_link", tip=None),
        model.chain(root="shoulder_link"),
    ):
        assert (chain.root, chain.tip) == ("shoulder_link", found.tip)
    for chain in (model.chain(None), model.chain(None, None), model.chain(tip=None)):
        assert (chain.root, chain.tip) == (found.root, found.tip)
    for links, ends in (
        (("shoulder_link", "flange", "tool0"), {}),
        (("shoulder_link", "flange"), {"tip": "tool0"}),
        (("shoulder_link", "flange"), {"root": "shoulder_link"}),
        (("shoulder_link",), {"root": "shoulder_link", "tip": "flange"}),
        ((), {"rot": "shoulder_link"}),
    ):
        with pytest.raises(TypeError, match="chain takes a tip, or a root and a tip"):
            model.chain(*links, **ends)


def test_a_frame_prefix_that_makes_two_links_of_one_name_is_refused(joint, robot):
    urdf = robot(joint("j", "base", "left_base"))
    with pytest.raises(UrdfError, match="frame_prefix 'left_': the URDF already has 'left_base'"):
        RobotModel.from_urdf(urdf, frame_prefix="left_")


@pytest.mark.parametrize("declared", ["GB2312", "gbk", "ISO-8859-1", "Shift_JIS"])
def test_a_file_is_read_in_the_encoding_that_it_declares(shipped, tmp_path, declared):
    """GB2312 lacks the character of a name, and files in it are often GBK."""
    name = "é" if declared == "ISO-8859-1" else "鎔" if declared == "Shift_JIS" else "镕"
    text = shipped("panda").partition("?>")[2].replace("panda", name)
    file = tmp_path / "arm.urdf"
    encoding = "gbk" if declared == "GB2312" else declared
    file.write_bytes(f'<?xml version="1.0" encoding="{declared}"?>{text}'.encode(encoding))
    assert f"{name}_link0" in RobotModel.from_urdf_file(file).links


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, r"^cannot read '.*arm.urdf': No such file or directory$"),
        (
            b"\xff\xfe<robot/>",
            r"^cannot read '.*arm.urdf': not UTF-8 text; declare its encoding in ",
        ),
        (
            b"<?xml version='1.0' encoding='EUC-KR'?><!--\xff\xff-->",
            "neither UTF-8 nor EUC-KR, which it declares; convert it with iconv$",
        ),
        (b"<?xml version='1.0' encoding='none'?><!--\xff-->", "neither UTF-8 nor none,"),
        (b"<robot>", "not well-formed XML"),
        (b"<!--" + b" " * MAX_BYTES, f"exceeds {MAX_BYTES} bytes"),
    ],
    ids=["absent", "not UTF-8", "not as declared", "an unknown encoding", "damaged", "too big"],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content, said):
    file = tmp_path / "arm.urdf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UrdfError, match=said):
        RobotModel.from_urdf_file(file)


def test_examples_are_the_shipped_robots():
    for path in (Path(__file__).parents[2] / "urdf").glob("*.urdf"):
        assert RobotModel.example(path.stem).name
    with pytest.raises(UrdfError) as error:
        RobotModel.example("../ur5e")
    assert str(error.value) == (
        "there is no example '../ur5e'; the names are legs, pan_tilt, panda, two_arms, ur5e"
    )


def test_a_robot_is_printed_on_one_screen(shipped, robot, joint):
    lines = str(RobotModel.from_urdf(shipped("panda"))).splitlines()
    assert lines[0] == "RobotModel('panda': 19 links, 18 joints, root 'panda_link0')"
    assert "'panda_joint4': revolute -3.072 .. -0.0698 rad, 'panda_link3' -> 'panda_lin" in lines[4]
    assert (len(lines), lines[-1]) == (11, "  and 9 fixed")
    names = [f"{'long' * 50}_{i}" for i in range(100)]
    large = [joint(f"of_{name}", name, names[i + 1]) for i, name in enumerate(names[:-1])]
    fixed = joint("on_floor", "floor", names[0], "fixed")
    for joints, end in (
        (large, ["  and 78 more"]),
        ([fixed, *large], ["  and 78 more", "  and 1 fixed"]),
    ):
        model = RobotModel.from_urdf(robot(*joints))
        lines = str(model).splitlines()
        assert lines[22:] == end
        assert len(lines) <= 24
        assert max(map(len, lines)) == 80
        assert len(repr(model)) < 200
        assert len(repr(model.chain(names[-1]))) < 600


@pytest.mark.parametrize("again", [lambda robot: pickle.loads(pickle.dumps(robot)), copy.deepcopy])
def test_a_robot_is_copied_with_all_that_it_has(shipped, again):
    robot = RobotModel.from_urdf(shipped("panda"), frame_prefix="left/")
    copied = again(robot)
    ours, theirs = robot.chain(), copied.chain()
    assert (ours.joint_names, ours.inferences) == (theirs.joint_names, theirs.inferences)
    assert (ours.forward(ours.neutral).matrix == theirs.forward(theirs.neutral).matrix).all()
    with pytest.raises(TypeError):
        copied.joints["panda_joint1"] = None
    assert robot != copied
