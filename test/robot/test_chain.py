# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Chains of random robots, compared with the independent kinematics of conftest.py."""

import math
import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basis_ik.errors import BasisIkError
from basis_ik.robot.configurations import uniform
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform

KINDS = ["revolute", "continuous", "prismatic", "fixed", "mimic turn", "mimic slide"]
AXES = ["1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1", "0 0 -7", "1 2 3", "-1 1e-9 -1",
        "1e-9 0 -1", "0.3 -0.4 -0.8"]  # fmt: skip
ORIGINS = [
    "",
    'xyz="0 0 0"',
    'xyz="0.3 -0.1 0.2"',
    'rpy="0.3 -1.2 2.5"',
    'xyz="0 0 1" rpy="0 1.5707963267948966 0"',
    'xyz="-0.2 0.4 0" rpy="3.1 0.2 -0.7"',
]


@st.composite
def trees(draw):
    """Joints of a random tree: (kind, parent link, axis, origin, multiplier, offset, master)."""
    count = draw(st.integers(1, 9))
    rows = []
    for i in range(count):
        rows.append(
            (
                draw(st.sampled_from(KINDS)),
                draw(st.integers(0, i)),
                draw(st.sampled_from(AXES)),
                draw(st.sampled_from(ORIGINS)),
                draw(st.sampled_from([1.0, -1.0, 0.5, -2.0, 0.0])),
                draw(st.sampled_from([0.0, 0.25])),
                draw(st.integers(0, count - 1)),
            )
        )
    return rows


def to_urdf(rows, joint, robot):
    """Write a random tree; a joint that would mimic itself or a fixed joint is independent."""
    texts = []
    for i, (kind, parent, axis, origin, multiplier, offset, master) in enumerate(rows):
        inside = f'<axis xyz="{axis}"/>'
        wide = 'lower="-9" upper="9" velocity="1"'
        if kind.startswith("mimic"):
            if master < i and rows[master][0] != "fixed":
                inside += f'<mimic joint="j{master}" multiplier="{multiplier}" offset="{offset}"/>'
            kind = {"mimic turn": "revolute", "mimic slide": "prismatic"}[kind]
        texts.append(joint(f"j{i}", f"l{parent}", f"l{i + 1}", kind, inside, wide, origin))
    return robot(*texts)


inverse = np.linalg.inv


def random_chain(model, random):
    """Return the chain between two random links, and a random q; None if no joint moves."""
    root, tip = random.choice(model.links), random.choice(model.links)
    try:
        chain = model.chain(root, tip)
    except ChainError as error:
        return root, tip, str(error), []
    return root, tip, chain, [random.uniform(-3, 3) for _ in chain.joint_names]


@given(trees(), st.randoms(use_true_random=False))
def test_forward_and_link_poses_are_exact(joint, robot, poses_of, rows, random):
    urdf = to_urdf(rows, joint, robot)
    model = RobotModel.from_urdf(urdf)
    root, tip, chain, q = random_chain(model, random)
    if not q:
        assert "no joint moves between" in chain
        zero, one = (poses_of(urdf, dict.fromkeys(model.joints, v)) for v in (0.0, 1.0))
        moved = inverse(one[root]) @ one[tip] - inverse(zero[root]) @ zero[tip]
        np.testing.assert_allclose(moved, 0, atol=1e-12)
        return
    poses = poses_of(urdf, dict(zip(chain.joint_names, q, strict=True)))
    root_T = {link: inverse(poses[root]) @ pose for link, pose in poses.items()}
    np.testing.assert_allclose(chain.forward(q).matrix, root_T[tip], atol=1e-12)
    links = chain.link_poses(q)
    assert {root, tip} <= set(links)
    for link, pose in links.items():
        np.testing.assert_allclose(pose.matrix, root_T[link], atol=1e-12)


@given(trees(), st.randoms(use_true_random=False))
def test_jacobian_agrees_with_finite_differences(joint, robot, poses_of, rows, random):
    urdf = to_urdf(rows, joint, robot)
    root, tip, chain, q = random_chain(RobotModel.from_urdf(urdf), random)
    if not q:
        return
    q = np.array(q)

    def pose(q):
        poses = poses_of(urdf, dict(zip(chain.joint_names, q.tolist(), strict=True)))
        return inverse(poses[root]) @ poses[tip]

    jacobian, h = chain.jacobian(q), 1e-6
    assert jacobian.shape == (6, len(q))
    for k in range(len(q)):
        step = h * np.eye(len(q))[k]
        rate = (pose(q + step) - pose(q - step)) / (2 * h)
        spin = rate[:3, :3] @ pose(q)[:3, :3].T
        omega = (spin[2, 1], spin[0, 2], spin[1, 0])
        np.testing.assert_allclose(jacobian[:3, k], rate[:3, 3], atol=1e-6)
        np.testing.assert_allclose(jacobian[3:, k], omega, atol=1e-7)


@given(trees(), st.randoms(use_true_random=False))
def test_no_configuration_is_beyond_the_reach(joint, robot, rows, random):
    _, _, chain, q = random_chain(RobotModel.from_urdf(to_urdf(rows, joint, robot)), random)
    if not q:
        return
    lower, upper = np.maximum(chain.lower, -4), np.minimum(chain.upper, 4)
    for _ in range(10):
        q = [random.uniform(lo, hi) for lo, hi in zip(lower, upper, strict=True)]
        assert np.linalg.norm(chain.forward(q).translation) <= chain.reach + 1e-9


@pytest.fixture
def arm(joint, robot):
    """A turn about z, a slide along x, a fixed bend, a turn about -y, and a flange."""
    return RobotModel.from_urdf(
        robot(
            joint("yaw", "base", "a", inside='<axis xyz="0 0 1"/>', origin='xyz="0 0 1"'),
            joint("slide", "a", "b", "prismatic", limit='lower="0" upper="0.5" velocity="0.2"'),
            joint("bend", "b", "c", "fixed", origin='xyz="0 0 0.5" rpy="0 0 1.5707963267948966"'),
            joint("spin", "c", "d", "continuous", inside='<axis xyz="0 -1 0"/>'),
            joint("end", "d", "tip", "fixed", origin='xyz="0 0 2"'),
        )
    )


def test_arrays_have_the_promised_form(arm):
    arrays = arm.chain("base", "tip").arrays
    assert arrays.origins.shape == (3, 3, 4)
    assert arrays.prismatic.tolist() == [0, 1, 0]
    assert arrays.variables.tolist() == [0, 1, 2]
    assert arrays.continuous.tolist() == [0, 0, 1]
    assert arrays.lower.tolist() == [-2, 0, -math.inf]
    for name, array in arrays._asdict().items():
        integer = name in ("prismatic", "variables", "continuous")
        assert array.dtype == (np.int64 if integer else np.float64)
        assert array.flags.c_contiguous
        assert array.flags.writeable, "numba takes read-only arrays slowly"


def test_the_chains_own_arrays_are_read_only_copies(arm):
    chain = arm.chain("base", "tip")
    for array in (chain.lower, chain.upper, chain.velocity, chain.continuous, chain.prismatic):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert not np.shares_memory(chain.lower, chain.arrays.lower)
    assert chain.velocity.tolist() == [1.5, 0.2, 1.0]
    assert chain.prismatic.tolist() == [False, True, False]
    assert [joint.name for joint in chain.joints] == ["yaw", "slide", "bend", "spin", "end"]


def test_by_hand(arm):
    chain = arm.chain("base", "tip")
    pose = chain.forward([math.pi / 2, 0.25, 0.0])
    np.testing.assert_allclose(pose.translation, (0, 0.25, 3.5), atol=1e-15)
    pose = chain.forward([0.0, 0.0, math.pi / 2])  # about c's -y, which is base's +x
    np.testing.assert_allclose(pose.translation, (0, -2, 1.5), atol=1e-15)
    np.testing.assert_allclose(chain.jacobian([0, 0, 0])[:, 1], (1, 0, 0, 0, 0, 0), atol=1e-15)
    assert list(chain.link_poses([0, 0, 0])) == ["base", "a", "b", "c", "d", "tip"]


def test_chains_run_upwards_and_through_a_common_ancestor(shipped, poses_of):
    """Right ankle in left calf coordinates, change_of_basis section 2.2: the hip cancels out."""
    text = shipped("legs")
    chain = RobotModel.from_urdf(text).chain("calf_l", "ankle_r")
    assert chain.joint_names[0] == "calf_l_joint"
    assert chain.joint_names[-1] == "calf_r_joint"
    assert len(chain.joint_names) == 8
    assert chain.arrays.multipliers.tolist() == [-1, -1, -1, -1, 1, 1, 1, 1]
    q = np.linspace(-0.7, 0.9, 8)
    poses = poses_of(text, dict(zip(chain.joint_names, q.tolist(), strict=True)))
    expected = inverse(poses["calf_l"]) @ poses["ankle_r"]
    np.testing.assert_allclose(chain.forward(q).matrix, expected, atol=1e-14)


@pytest.mark.parametrize(
    "q",
    [[0, 0], [0, 0, 0, 0], 0.0, [[0, 0, 0]], [0, math.nan, 0], [math.inf, 0, 0], ["a", 0, 0], None],
)
def test_bad_variables_are_refused_before_any_kernel_runs(arm, q):
    chain = arm.chain("base", "tip")
    for method in (chain.forward, chain.jacobian, chain.link_poses):
        with pytest.raises(BasisIkError):
            method(q)


def test_any_sequence_of_numbers_will_do(arm):
    chain = arm.chain("base", "tip")
    q = np.array([[0.1, 9], [0.2, 9], [0.3, 9]], np.float32)[:, 0]
    q.setflags(write=False)
    np.testing.assert_allclose(chain.forward(q).matrix, chain.forward(tuple(q)).matrix, atol=0)
    assert chain.forward([1, 0, 0]) == chain.forward([1.0, 0.0, 0.0])


@pytest.mark.parametrize(("root", "tip"), [("base", "base"), ("b", "c"), ("d", "tip"), ("c", "b")])
def test_a_chain_without_moving_joints_is_refused(arm, root, tip):
    with pytest.raises(ChainError, match=f"no joint moves between '{root}' and '{tip}'"):
        arm.chain(root, tip)


@pytest.mark.parametrize(
    ("link", "candidates", "said"),
    [
        ("tpi", ("tip",), "did you mean 'tip'"),
        ("gripper_42", ("tip",), "the tree ends at 'tip'"),
        ("", ("tip",), "the tree ends at 'tip'"),
    ],
)
@pytest.mark.parametrize("end", ["root", "tip"])
def test_an_unknown_link_is_refused_with_candidates(arm, end, link, candidates, said):
    with pytest.raises(ChainError, match=f"there is no link '{link}'; {said}") as caught:
        arm.chain(**{end: link})
    assert caught.value.link == link
    assert caught.value.candidates == candidates


def test_an_unknown_link_of_a_robot_with_many_ends_has_a_short_message(joint, robot):
    ends = [joint(f"turn{k}", "base", f"{k}" * 40) for k in range(10)]
    with pytest.raises(ChainError, match="there is no link '") as caught:
        RobotModel.from_urdf(robot(*ends)).chain(tip="\x1b" * 500)
    assert len(str(caught.value)) < 250
    assert len(caught.value.candidates) == 10


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_a_joint_without_a_single_value_is_refused_on_the_chain_and_ignored_off_it(
    joint, robot, kind
):
    model = RobotModel.from_urdf(
        robot(
            joint("free", "world", "base", kind),
            joint("turn", "base", "tip"),
            joint("lost", "tip", "object", kind),
        )
    )
    assert model.chain("base", "tip").joint_names == ("turn",)
    for ends in (("world", "tip"), ("tip", "world")):
        with pytest.raises(ChainError, match=f"'free' on the chain is {kind}") as caught:
            model.chain(*ends)
        assert caught.value.joint == "free"
        assert caught.value.candidates == ("base",)


def test_soft_limits_are_reported_not_used(joint, robot):
    soft = '<safety_controller soft_lower_limit="-1" soft_upper_limit="1" k_velocity="1"/>'
    model = RobotModel.from_urdf(robot(joint("a", "l0", "l1", inside=soft)))
    chain = model.chain("l0", "l1")
    assert (chain.lower[0], chain.upper[0]) == (-2, 2)
    assert chain.inferences == (
        "safety_controller soft limits lie inside the limits that are used: a -1..1 rad",
    )


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        ("-1", "2", ["a -1..2 rad"]),
        ("-2", "1", ["a -2..1 rad"]),
        ("-2", "2", []),
    ],
    ids=["only below", "only above", "the same"],
)
def test_a_soft_limit_on_one_side_is_reported_too(joint, robot, lower, upper, said):
    inside = f'<safety_controller soft_lower_limit="{lower}" soft_upper_limit="{upper}" '
    inside += 'k_velocity="1"/>'
    chain = RobotModel.from_urdf(robot(joint("a", "l0", "l1", inside=inside))).chain("l0", "l1")
    assert [line.rpartition(": ")[2] for line in chain.inferences] == said


@pytest.mark.parametrize("again", [lambda chain: pickle.loads(pickle.dumps(chain)), deepcopy])
def test_a_chain_is_copied_with_all_that_it_has(arm, again):
    chain = arm.chain("base", "tip")
    copy = again(chain)
    assert copy.forward([0.1, 0.2, 0.3]) == chain.forward([0.1, 0.2, 0.3])
    assert chain != copy
    assert copy.arrays.origins.flags.writeable
    for name, value in vars(chain).items():
        if isinstance(value, np.ndarray):
            assert getattr(copy, name).tolist() == value.tolist()
            assert getattr(copy, name).flags.writeable == value.flags.writeable
    assert repr(copy) == "Chain('base' -> 'tip': 'yaw', 'slide', 'spin')"


@pytest.mark.parametrize("name", ["panda", "legs", "two_arms"])
def test_poses_and_jacobians_of_links_agree_with_differences(name):
    model = RobotModel.example(name)
    ends = {"panda": ("panda_hand", "panda_leftfinger"), "legs": ("calf_l", "ankle_r")}
    chain = model.chain(*ends[name]) if name in ends else model.chain(tip="left_tool0")
    rng = np.random.default_rng(0)
    for link in chain.links:
        q = chain.random(rng)
        pose = chain.forward(q, link=link)
        assert pose == chain.link_poses(q)[link]
        differences = np.empty((6, len(q)))
        for k, step in enumerate(1e-6 * np.eye(len(q))):
            one, other = (chain.forward(each, link=link) for each in (q - step, q + step))
            differences[:3, k] = (other.translation - one.translation) / 2e-6
            turn = (one.inverse() @ other).log()[3:]
            differences[3:, k] = one.apply_vector(turn) / 2e-6
        jacobian = chain.jacobian(q, link=link)
        np.testing.assert_allclose(jacobian, differences, atol=1e-8)
    q = chain.random(rng)
    assert chain.forward(q, link=chain.tip) == chain.forward(q)
    assert chain.jacobian(q, link=chain.tip).tolist() == chain.jacobian(q).tolist()
    tool = chain.with_tool(chain.tip, RigidTransform.from_rpy(0.1, 0.2, 0.3, (0.1, 0.0, 0.0)))
    assert tool.forward(q, link=tool.tip) == tool.forward(q) != chain.forward(q)
    assert not chain.jacobian(q, link=chain.root).any()
    assert chain.forward(q, link=chain.root) == RigidTransform.identity()
    for method in (chain.forward, chain.jacobian):
        with pytest.raises(ChainError, match="link 'elsewhere' is not on the chain"):
            method(q, link="elsewhere")


def test_the_joint_that_a_link_is_fixed_to_is_returned(arm):
    chain = arm.chain()
    q = [0.1 * k for k in range(len(chain.joint_names))]
    frames, _, _ = chain._evaluate(q)
    for link, pose in chain.link_poses(q).items():
        joint, constant = chain.joint_T_link(link)
        if joint < 0:
            assert link == chain.root or np.allclose(constant, pose.matrix[:3])
        else:
            moved = frames[joint][:, :3] @ constant + np.eye(4)[3] * frames[joint][:, 3:]
            assert np.allclose(moved, pose.matrix[:3])
        constant[:] = np.nan  # a copy
    assert np.isfinite(chain.joint_T_link(chain.tip)[1]).all()
    with pytest.raises(ChainError, match="'nowhere' is not on the chain") as caught:
        chain.joint_T_link("nowhere")
    assert caught.value.candidates == tuple(chain.link_poses(q))


def test_neutral_is_the_middle_of_the_limits(joint, robot):
    text = robot(
        joint("a", "l0", "l1", limit='lower="-1" upper="3" velocity="1"'),
        joint("b", "l1", "l2", limit='lower="0" upper="0" velocity="1"'),
        joint("c", "l2", "l3", "continuous"),
    )
    chain = RobotModel.from_urdf(text).chain("l0", "l3")
    assert chain.neutral.tolist() == [1.0, 0.0, 0.0]
    assert not chain.neutral.flags.writeable
    assert chain.within([-np.inf, -1, 1], [0, 1, np.inf]).neutral.tolist() == [-0.5, 0.0, 1.0]


def test_random_positions_fill_the_limits(arm):
    chain = arm.chain().within([-0.5, -np.inf, -np.inf], np.inf)
    rng = np.random.default_rng(1)
    drawn = np.array([chain.random(rng) for _ in range(2000)])
    low = np.where(np.isfinite(chain.lower), chain.lower, -np.pi)
    high = np.where(np.isfinite(chain.upper), chain.upper, np.pi)
    assert (drawn >= low).all()
    assert (drawn <= high).all()
    np.testing.assert_allclose(drawn.min(axis=0), low, atol=0.01 * (high - low).max())
    np.testing.assert_allclose(drawn.max(axis=0), high, atol=0.01 * (high - low).max())
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5 * (low + high), atol=0.1)
    assert chain.random(np.random.default_rng(1)).tolist() == drawn[0].tolist()
    assert chain.random().tolist() != chain.random().tolist()


def test_random_positions_without_a_limit_on_one_side_keep_the_other():
    lower, upper = np.array([3.5, -np.inf, -np.inf]), np.array([np.inf, -3.5, np.inf])
    drawn = np.array([uniform(lower, upper, np.random.default_rng(i)) for i in range(500)])
    assert (drawn >= [3.5, -3.5 - 2 * np.pi, -np.pi]).all()
    assert (drawn <= [3.5 + 2 * np.pi, -3.5, np.pi]).all()


def test_positions_outside_are_clipped_to_the_nearest_limit(arm):
    chain = arm.chain()
    inside = chain.random(np.random.default_rng(2))
    assert chain.clip(inside).tolist() == inside.tolist()
    assert chain.clip([9.0, 9.0, 9.0]).tolist() == [2.0, 0.5, 9.0]
    assert chain.clip([-9.0, -9.0, -9.0]).tolist() == [-2.0, 0.0, -9.0]
    for bad in ([np.nan, 0.0, 0.0], [0.0]):
        with pytest.raises(BasisIkError):
            chain.clip(bad)
