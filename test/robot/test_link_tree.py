# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Links and joints form one tree, and mimic joints have independent masters."""

import pytest

from basis_ik.robot.elements import UrdfError
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel


def refused(text):
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(text)
    assert "\n" not in str(caught.value)
    return caught.value


def test_links_and_joints_keep_their_order(joint, robot):
    model = RobotModel.from_urdf(
        robot(joint("z", "a", "c"), joint("y", "a", "b", "fixed"), links="b a c", name="arm")
    )
    assert (model.name, model.links, model.root) == ("arm", ("b", "a", "c"), "a")
    assert list(model.joints) == ["z", "y"]
    with pytest.raises(TypeError):
        model.joints["z"] = None


def test_no_links():
    assert "no <link>; is it the expanded description" in str(refused("<robot name='r'/>"))


def test_duplicate_names_are_listed(joint, robot):
    error = refused(robot(links="a b a b c"))
    assert error.names == ("a", "b")
    assert "duplicate link names 'a', 'b'" in str(error)
    error = refused(robot(joint("j", "a", "b"), joint("j", "b", "c")))
    assert error.names == ("j",)
    assert "duplicate joint names 'j'" in str(error)


@pytest.mark.parametrize("ends", [("a", "ghost"), ("ghost", "a")])
def test_a_link_that_only_joints_name_is_taken_for_one(joint, robot, ends):
    model = RobotModel.from_urdf(robot(joint("j", *ends), links="a"))
    assert (model.links, model.root) == (("a", "ghost"), ends[0])
    assert "assumed to be links, because joints name them: 'ghost'" in model.chain().inferences


def test_a_slip_in_a_link_name_tears_the_tree(joint, robot):
    error = refused(robot(joint("j", "a", "b"), joint("k", "B", "c"), links="a b c"))
    assert error.names == ("a", "B")


def test_a_link_that_hangs_on_nothing_is_left_out(joint, robot):
    model = RobotModel.from_urdf(robot(joint("j", "a", "b"), links="lone a b stray"))
    assert (model.links, model.root) == (("a", "b"), "a")
    said = "ignored, because no joint names them: links 'lone', 'stray'"
    assert said in model.chain().inferences


def test_of_links_without_joints_none_is_left_out(robot):
    assert refused(robot(links="a b")).names == ("a", "b")


def test_two_parents(joint, robot):
    error = refused(robot(joint("j", "a", "c"), joint("k", "b", "c")))
    assert error.names == ("c",)
    assert "two parent joints: 'c'" in str(error)


def test_two_roots(joint, robot):
    error = refused(robot(joint("j", "a", "b"), joint("k", "c", "d"), links="a b c d e"))
    assert error.names == ("a", "c")
    assert "2 root links: 'a', 'c'" in str(error)


@pytest.mark.parametrize(
    ("joints", "loop"),
    [
        ([("j", "a", "b"), ("k", "b", "a")], ("a", "b")),
        ([("j", "a", "a")], ("a",)),
        ([("j", "root", "x"), ("k", "a", "b"), ("m", "b", "a")], ("a", "b")),
    ],
)
def test_loops(joint, robot, joints, loop):
    error = refused(robot(*(joint(*names) for names in joints)))
    assert error.names == loop
    assert "form a loop" in str(error)


def mimic(master, more=""):
    return f'<mimic joint="{master}" {more}/>'


def test_mimic_chains_are_composed(joint, robot):
    model = RobotModel.from_urdf(
        robot(
            joint("c", "l2", "l3", inside=mimic("b", 'multiplier="3" offset="0.1"')),
            joint("b", "l1", "l2", inside=mimic("a", 'multiplier="-2" offset="0.5"')),
            joint("a", "l0", "l1"),
        )
    )
    assert set(model.mimics) == {"b", "c"}
    tie = model.mimics["c"]
    assert (tie.joint, tie.multiplier) == ("a", -6)
    assert tie.offset == pytest.approx(1.6)  # 3 (-2 a + 0.5) + 0.1


@pytest.mark.parametrize(
    ("b", "c", "faulty", "said"),
    [
        (
            mimic("c"),
            mimic("b"),
            "bc",
            "mimic joints form a loop: 'b', 'c'; one must be independent",
        ),
        (mimic("b"), "", "b", "mimic joints form a loop: 'b'"),
        (mimic("c"), mimic("c"), "bc", "mimic joints form a loop: 'b', 'c'"),
        (mimic("ghost"), "", "b", "joint 'b' mimics 'ghost', which does not exist; name the joint"),
        (mimic("c"), mimic("ghost"), "bc", "joint 'c' mimics 'ghost', which does not exist"),
        (
            mimic("still"),
            "",
            "b",
            "mimics 'still', which is fixed and cannot drive it; name a joint",
        ),
        (
            mimic("odd"),
            "",
            "b",
            "mimics 'odd', which cannot drive it: line 1: joint 'odd': its axis",
        ),
        (mimic("c"), mimic("odd"), "bc", "joint 'c' mimics 'odd', which cannot drive it: line 1"),
    ],
)
def test_mimics_that_lead_nowhere_make_a_joint_faulty(joint, robot, b, c, faulty, said):
    model = RobotModel.from_urdf(
        robot(
            joint("b", "l0", "l1", inside=b),
            joint("c", "l1", "l2", inside=c),
            joint("still", "l2", "l3", "fixed"),
            joint("odd", "l3", "l4", inside='<axis xyz="0 0 0"/>'),
            joint("sound", "l0", "l5"),
        )
    )
    assert "".join(j.name for j in model.joints.values() if j.fault and j.name != "odd") == faulty
    assert said in model.joints["b"].fault
    assert not model.mimics.keys() & set(faulty)
    assert model.chain("l0", "l5").joint_names == ("sound",)
    with pytest.raises(ChainError, match="the chain needs this joint") as caught:
        model.chain("l0", "l1")
    assert caught.value.joint == "b"


def test_a_thousand_joints_in_a_row_are_no_problem(joint, robot):
    joints = [joint(f"j{i}", f"l{i}", f"l{i + 1}", origin='xyz="0 0 0.001"') for i in range(1000)]
    chain = RobotModel.from_urdf(robot(*joints)).chain()
    assert len(chain.joint_names) == 1000
    assert chain.forward([0.0] * 1000).translation[2] == pytest.approx(1.0)
