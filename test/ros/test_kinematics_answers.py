# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The services of robots with grippers, mimic joints and two arms, and internal errors."""

import re
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import Transform
from moveit_client import pose_stamped, state
from moveit_msgs.msg import JointConstraint, MoveItErrorCodes
from moveit_msgs.srv import GetCartesianPath, GetPositionFK, GetPositionIK
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import MultiDOFJointState

from basis_ik.arm.arm import other_joints
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.measured import MeasuredState
from basis_ik.collision.world import World
from basis_ik.robot.placement import place_link
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.kinematics import services
from basis_ik.ros.kinematics.path_request import Way, first_jump
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.ros.kinematics.services import KinematicsServices
from basis_ik.ros.world.robot_frames import RobotFrames
from basis_ik.transforms.rigid import RigidTransform

CODE = MoveItErrorCodes
PANDA = (Path(__file__).parents[2] / "urdf" / "panda.urdf").read_text()
PARAMETERS = {
    "kinematics_solver_timeout": 0.1,
    "position_only_ik": False,
    "position_threshold": 1e-5,
    "orientation_threshold": 1e-5,
    "approximate_solutions": False,
    "avoid_collisions": "check",
    "moveit_group": "",
    "target_max_reach": 10.0,
}


def joint(name, parent, child, axis="0 0 1", inside="", kind="revolute"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.3 0 0"/><axis xyz="{axis}"/><limit lower="-2" upper="2" velocity="1"/>'
        f"{inside}</joint>"
    )


def robot(*joints):
    links = {word for text in joints for word in text.split('link="')[1:]}
    names = "".join(f'<link name="{name}"/>' for name in sorted({w.split('"')[0] for w in links}))
    return f'<robot name="r">{names}{"".join(joints)}</robot>'


MIMIC = '<mimic joint="a1" multiplier="-0.5" offset="0.1"/>'
SCISSORS = robot(
    joint("a1", "base", "l1"), joint("a2", "l1", "l2", inside=MIMIC), joint("a3", "l2", "tip")
)
TORSO = robot(
    joint("turn", "base", "torso"),
    *(
        joint(f"{side}1", "torso", f"{side}_upper", f"0 {sign} 1")
        for side, sign in (("l", 1), ("r", -1))
    ),
    *(joint(f"{side}2", f"{side}_upper", f"{side}_hand", "0 1 0") for side in "lr"),
)


@pytest.fixture(scope="module")
def node(domain):
    context = rclpy.Context()
    context.init(domain_id=domain)
    yield rclpy.create_node("answers", context=context)
    context.shutdown()


@pytest.fixture
def serve(node):
    """Create the services of a robot; return their callbacks."""
    made = []

    def make(urdf, *chains, buffer=None, **parameters):
        model = RobotModel.from_urdf(urdf)
        arms = []
        for name, root, tip in chains:
            chain = model.chain(root, tip)
            others = other_joints(model, chain)
            arms.append(
                SimpleNamespace(
                    name=name,
                    chain=chain,
                    model=model,
                    limits=MotionLimits.of_chain(chain),
                    measured=MeasuredState(chain.joint_names),
                    other_joints=others,
                    others=MeasuredState(others),
                )
            )
        buffer = buffer or FrameBuffer()
        frames = RobotFrames(model, arms, buffer, lambda: 0, lambda: 2.0)
        services = KinematicsServices(
            node, arms, buffer, {**PARAMETERS, **parameters}, Scenes(model, World(), frames)
        )
        made.append(services)
        served = services._side.node.services
        ik, fk, path = (each.callback for each in served if "compute_" in each.srv_name)
        return SimpleNamespace(
            arms=arms,
            ik=lambda request: ik(request, GetPositionIK.Response()),
            fk=lambda request: fk(request, GetPositionFK.Response()),
            path=lambda request: path(request, GetCartesianPath.Response()),
        )

    yield make
    for each in made:
        each.destroy()


def ik_request(arm, q, *, group="", joints=None):
    pose = arm.chain.forward(q)
    request = GetPositionIK.Request()
    request.ik_request.group_name = group
    request.ik_request.pose_stamped = pose_stamped(
        arm.chain.root, pose.translation, pose.as_quaternion_xyzw()
    )
    request.ik_request.robot_state.joint_state = state(joints or {})
    return request


def answered(response):
    found = response.solution.joint_state
    return dict(zip(found.name, found.position, strict=True))


def test_mimic_joints_are_in_the_response_and_ignored_in_the_seed(serve):
    served = serve(SCISSORS, ("", "base", "tip"))
    request = ik_request(served.arms[0], [0.4, 0.3], joints={"a1": 0.4, "a2": 1.0, "a3": 0.3})
    response = served.ik(request)
    assert response.error_code.val == CODE.SUCCESS
    joints = answered(response)
    assert list(joints) == ["a1", "a3", "a2"]
    np.testing.assert_allclose(list(joints.values()), [0.4, 0.3, -0.1], atol=1e-4)


def test_without_seed_and_measurement_the_search_starts_in_the_middle(serve):
    served = serve(SCISSORS, ("", "base", "tip"))
    assert served.ik(ik_request(served.arms[0], [0.4, 0.3])).error_code.val == CODE.SUCCESS


@pytest.mark.parametrize("avoid_collisions", ["check", "refuse", "ignore"])
def test_the_start_warns_that_collisions_are_ignored(serve, capfd, avoid_collisions):
    serve(SCISSORS, ("", "base", "tip"), avoid_collisions=avoid_collisions)
    assert (services.COLLISIONS_UNCHECKED in capfd.readouterr().err) == (
        avoid_collisions == "ignore"
    )


def test_collisions_of_a_robot_without_shapes_cannot_be_avoided(serve):
    served = serve(SCISSORS, ("", "base", "tip"))
    request = ik_request(served.arms[0], [0.4, 0.3], joints={"a1": 0.4, "a3": 0.3})
    request.ik_request.avoid_collisions = True
    answer = served.ik(request).error_code
    assert answer.val == CODE.COLLISION_CHECKING_UNAVAILABLE
    assert "no link has a <collision>" in answer.message
    assert "avoid_collisions to ignore" in answer.message


def test_a_scene_is_kept_when_joints_off_its_chain_have_moved():
    ball = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
    urdf = re.sub(r'<link name="(\w+)"/>', rf'<link name="\1">{ball}</link>', TORSO)
    model = RobotModel.from_urdf(urdf)
    chain = model.chain("torso", "l_hand")
    arm = SimpleNamespace(model=model, chain=chain)
    scenes = Scenes(
        model, World(), RobotFrames(model, [arm], FrameBuffer(), lambda: 0, lambda: 2.0)
    )
    first = scenes.of(chain, {"r1": 0.1, "turn": 0.0})
    (before,) = (link.bodies[0].place for link in first._links if link.name == "r_hand")
    assert scenes.of(chain, {"r1": 0.2, "turn": 0.0, "l1": 1.0}) is first
    (after,) = (link.bodies[0].place for link in first._links if link.name == "r_hand")
    assert before == place_link(model, "torso", "r_hand", {"r1": 0.1, "r2": 0.0})
    assert after == place_link(model, "torso", "r_hand", {"r1": 0.2, "r2": 0.0})
    right = model.chain("torso", "r_hand")
    assert scenes.of(right, {}).chain is right
    assert scenes.of(chain, {"r1": 0.2, "turn": 0.0}) is first
    assert scenes.scene_of(chain).scene is not first


def test_compute_fk_reports_missing_joints(serve):
    served = serve(PANDA, ("", "panda_link0", "panda_hand_tcp"))
    arm = dict.fromkeys(served.arms[0].chain.joint_names, 0.1)
    request = GetPositionFK.Request(fk_link_names=["panda_leftfinger"])
    request.robot_state.joint_state = state(arm)
    response = served.fk(request)
    assert response.error_code.val == CODE.ROBOT_STATE_STALE
    assert "panda_finger_joint1" in response.error_code.message
    request.robot_state.joint_state = state({**arm, "panda_finger_joint1": 0.03})
    assert served.fk(request).error_code.val == CODE.SUCCESS


@pytest.mark.parametrize("virtual", [[], ["virtual_joint"]])
def test_what_moveits_service_plug_in_sends_gets_through(serve, virtual):
    """All of its fields: the whole robot's state with the seed, avoid_collisions, no timeout."""
    served = serve(PANDA, ("", "panda_link0", "panda_hand_tcp"), moveit_group="panda_arm")
    flange = served.arms[0].model.chain("panda_link0", "panda_link8")
    seed = dict(zip(flange.joint_names, [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785], strict=True))
    there = flange.forward(np.array(list(seed.values())) + 0.2)
    request = GetPositionIK.Request()
    asked = request.ik_request
    asked.group_name, asked.ik_link_name, asked.avoid_collisions = "panda_arm", "panda_link8", True
    asked.pose_stamped = pose_stamped("panda_link0", there.translation, there.as_quaternion_xyzw())
    fingers = {"panda_finger_joint1": 0.0, "panda_finger_joint2": 0.0}
    asked.robot_state.joint_state = state(seed | fingers)
    asked.robot_state.joint_state.header.frame_id = "panda_link0"
    asked.robot_state.multi_dof_joint_state = MultiDOFJointState(
        joint_names=virtual, transforms=[Transform()] * len(virtual)
    )
    response = served.ik(request)
    assert response.error_code.val == CODE.SUCCESS, response.error_code.message
    found = answered(response)
    assert set(found) == set(seed)
    np.testing.assert_allclose(
        flange.forward([found[name] for name in seed]).matrix, there.matrix, atol=1e-4
    )
    asked.pose_stamped.pose.position.x = 2.0
    assert served.ik(request).error_code.val == CODE.NO_IK_SOLUTION
    asked.group_name = "manipulator"
    response = served.ik(request)
    assert response.error_code.val == CODE.INVALID_GROUP_NAME
    assert "there are 'panda_arm'," in response.error_code.message


def test_two_arms_are_selected_by_names_or_tips(serve):
    served = serve(
        TORSO, ("left", "torso", "l_hand"), ("right", "torso", "r_hand"), moveit_group="arm"
    )
    left, right = served.arms
    for group, arm in (("left", left), ("l_hand", left), ("right", right), ("r_hand", right)):
        response = served.ik(ik_request(arm, [0.4, 0.3], group=group))
        assert response.error_code.val == CODE.SUCCESS
        assert list(answered(response)) == list(arm.chain.joint_names)
    response = served.ik(ik_request(left, [0.4, 0.3]))
    assert response.error_code.val == CODE.INVALID_GROUP_NAME
    assert "'left', 'right'" in response.error_code.message


def test_a_link_of_the_other_arm_is_refused(serve):
    served = serve(TORSO, ("left", "torso", "l_hand"), ("right", "torso", "r_hand"))
    request = ik_request(served.arms[0], [0.4, 0.3], group="left")
    request.ik_request.ik_link_name = "r_hand"
    response = served.ik(request)
    assert response.error_code.val == CODE.INVALID_LINK_NAME
    assert "r1, r2" in response.error_code.message


def test_one_request_may_have_poses_of_both_arms(serve):
    served = serve(TORSO, ("left", "base", "l_hand"), ("right", "base", "r_hand"))
    q = [[0.4, 0.3, -0.5], [0.4, -0.2, 0.6]]  # one torso
    poses = [
        pose_stamped("base", pose.translation, pose.as_quaternion_xyzw())
        for pose in (arm.chain.forward(each) for arm, each in zip(served.arms, q, strict=True))
    ]
    request = GetPositionIK.Request()
    request.ik_request.pose_stamped_vector = poses
    request.ik_request.ik_link_names = ["l_hand", "r_hand"]
    response = served.ik(request)
    assert response.error_code.val == CODE.SUCCESS
    found = answered(response)
    assert sorted(found) == ["l1", "l2", "r1", "r2", "turn"]
    for arm, each in zip(served.arms, q, strict=True):
        hand = arm.chain.forward([found[name] for name in arm.chain.joint_names])
        np.testing.assert_allclose(hand.matrix, arm.chain.forward(each).matrix, atol=3e-5)
    request.ik_request.group_name = "left"
    assert served.ik(request).error_code.val == CODE.INVALID_LINK_NAME
    poses[1].pose.position.x += 5.0
    request.ik_request.group_name = ""
    response = served.ik(request)
    assert response.error_code.val == CODE.NO_IK_SOLUTION
    assert "r_hand: too far by" in response.error_code.message


@pytest.mark.parametrize(("right", "words"), [(0.5, ""), (0.0, "l_hand and r_hand")])
def test_hands_that_strike_each_other_are_no_solution(serve, right, words):
    ball = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    urdf = TORSO
    for hand in ("l_hand", "r_hand"):
        urdf = urdf.replace(f'<link name="{hand}"/>', f'<link name="{hand}">{ball}</link>')
    served = serve(urdf, ("left", "base", "l_hand"), ("right", "base", "r_hand"))
    request = GetPositionIK.Request()
    for arm, q in zip(served.arms, ([0.2, 0.0, 0.0], [0.2, right, 0.0]), strict=True):
        request.ik_request.pose_stamped_vector.append(ik_request(arm, q).ik_request.pose_stamped)
        request.ik_request.ik_link_names.append(arm.chain.tip)
    assert served.ik(request).error_code.val == CODE.SUCCESS
    request.ik_request.avoid_collisions = True
    response = served.ik(request)
    assert response.error_code.val == (CODE.NO_IK_SOLUTION if words else CODE.SUCCESS)
    assert words in response.error_code.message
    assert bool(response.solution.joint_state.name) == (not words)


def test_arms_with_different_roots_are_no_group(serve):
    served = serve(TORSO, ("left", "base", "l_hand"), ("right", "torso", "r_hand"))
    request = GetPositionIK.Request()
    here = pose_stamped("base", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    request.ik_request.pose_stamped_vector = [here, here]
    request.ik_request.ik_link_names = ["l_hand", "r_hand"]
    response = served.ik(request)
    assert response.error_code.val == CODE.INVALID_GROUP_NAME
    assert "right at torso" in response.error_code.message


def test_an_internal_error_is_an_error_code(serve):
    class Broken:
        def get_latest_common_time(self, *_):
            raise RuntimeError("broken")

    served = serve(SCISSORS, ("", "base", "tip"), buffer=Broken())
    request = ik_request(served.arms[0], [0.4, 0.3])
    request.ik_request.pose_stamped.header.frame_id = "elsewhere"
    response = served.ik(request)
    assert response.error_code.val == CODE.FAILURE
    assert "internal" in response.error_code.message


def test_the_parameter_is_the_timeout_of_requests_without_one(serve):
    served = serve(PANDA, ("", "panda_link0", "panda_hand_tcp"), kinematics_solver_timeout=1e-6)
    arm, draw = served.arms[0], np.random.default_rng(2)
    hurried, unhurried = set(), set()
    for _ in range(50):
        request = ik_request(arm, draw.uniform(arm.chain.lower, arm.chain.upper))
        hurried.add(served.ik(request).error_code.val)
        request.ik_request.timeout.sec = 1
        unhurried.add(served.ik(request).error_code.val)
    assert CODE.TIMED_OUT in hurried <= {CODE.SUCCESS, CODE.TIMED_OUT}
    assert unhurried == {CODE.SUCCESS}


def test_a_constraint_of_a_continuous_joint_means_the_nearest_turn(serve):
    spin = joint("spin", "base", "tip", kind="continuous")
    served = serve(robot(spin), ("", "base", "tip"))
    for seed in (0.2, 0.2 + 2 * np.pi, 0.2 - 4 * np.pi):
        request = ik_request(served.arms[0], [seed], joints={"spin": seed})
        request.ik_request.constraints.joint_constraints = [
            JointConstraint(
                joint_name="spin",
                position=0.1 + 2 * np.pi,
                tolerance_above=0.2,
                tolerance_below=0.05,
            )
        ]
        response = served.ik(request)
        assert response.error_code.val == CODE.SUCCESS
        assert answered(response)["spin"] == pytest.approx(seed, abs=1e-4)


def test_compute_fk_uses_requested_or_measured_joints_off_the_chain(serve):
    served = serve(TORSO, ("left", "base", "l_hand"))
    arm = served.arms[0]
    assert arm.other_joints == ("r1", "r2")
    arm.measured.update(["turn", "l1", "l2"], [0.3, 0.2, 0.1], 1.0)
    arm.others.update(["r2", "r1"], [0.7, -0.4], 1.0)
    right = arm.model.chain("base", "r_hand")
    request = GetPositionFK.Request(fk_link_names=["r_hand"])
    request.header.frame_id = "base"
    for given, q in (({}, [0.3, -0.4, 0.7]), ({"r1": 0.5, "turn": -0.2}, [-0.2, 0.5, 0.7])):
        request.robot_state.joint_state = state(given)
        response = served.fk(request)
        assert response.error_code.val == CODE.SUCCESS
        position = response.pose_stamped[0].pose.position
        found = [position.x, position.y, position.z]
        np.testing.assert_allclose(found, right.forward(q).translation, atol=1e-9)


def path_request(*waypoints, joints, frame, **fields):
    request = GetCartesianPath.Request(max_step=0.01, **fields)
    request.header.frame_id = frame
    request.waypoints = [pose_message(each) for each in waypoints]
    request.start_state.joint_state = state(joints)
    return request


def moved(response):
    """Return the first and the last positions of a path, by joint name."""
    found = response.solution.joint_trajectory
    return [dict(zip(found.joint_names, found.points[k].positions, strict=True)) for k in (0, -1)]


def test_a_path_needs_to_know_where_it_starts(serve):
    served = serve(TORSO, ("left", "base", "l_hand"))
    arm = served.arms[0]
    request = path_request(
        arm.chain.forward([0.01, 0.3, 0.3]), joints={"l1": 0.2}, frame="base", group_name="left"
    )
    response = served.path(request)
    assert response.error_code.val == CODE.ROBOT_STATE_STALE
    assert "start_state: the position of 'turn', 'l2' is not known" in response.error_code.message
    arm.measured.update(["turn", "l1", "l2"], [0.0, 0.0, 0.3], 1.0)
    request.start_state.joint_state = state({"l1": 0.3})
    response = served.path(request)
    assert (response.error_code.val, response.fraction) == (CODE.SUCCESS, 1.0)
    np.testing.assert_allclose(list(moved(response)[1].values()), [0.01, 0.3, 0.3], atol=1e-5)


def test_a_path_is_that_of_one_group(serve):
    served = serve(TORSO, ("left", "base", "l_hand"), ("right", "base", "r_hand"))
    joints = {"turn": 0.0, "l1": 0.3, "l2": 0.3, "r1": 0.2, "r2": 0.1}
    goal = served.arms[1].chain.forward([0.01, 0.2, 0.1])
    request = path_request(goal, joints=joints, frame="base")
    assert served.path(request).error_code.val == CODE.INVALID_GROUP_NAME
    request.group_name = "right"
    response = served.path(request)
    assert (response.error_code.val, response.fraction) == (CODE.SUCCESS, 1.0)
    begin, end = moved(response)
    assert begin == {"turn": 0.0, "r1": 0.2, "r2": 0.1}
    np.testing.assert_allclose(list(end.values()), [0.01, 0.2, 0.1], atol=1e-5)


def test_mimic_joints_are_in_the_start_of_a_path(serve):
    served = serve(SCISSORS, ("", "base", "tip"))
    goal = served.arms[0].chain.forward([0.4, 0.3])
    response = served.path(path_request(goal, joints={"a1": 0.4, "a3": 0.3}, frame="base"))
    assert (response.error_code.val, response.fraction) == (CODE.SUCCESS, 1.0)
    start = response.start_state.joint_state
    assert list(start.name) == ["a1", "a3", "a2"]
    np.testing.assert_allclose(start.position, [0.4, 0.3, -0.1])


LEVER = robot(
    joint("slide", "base", "cart", "1 0 0", kind="prismatic"), joint("turn", "cart", "tip")
)


@pytest.mark.parametrize(
    ("fields", "is_whole"),
    [
        ({}, True),
        ({"prismatic_jump_threshold": 0.005}, False),
        ({"prismatic_jump_threshold": 9.0}, True),
        ({"revolute_jump_threshold": 0.005}, True),
    ],
)
def test_a_prismatic_joint_has_its_own_threshold(serve, fields, is_whole):
    served = serve(LEVER, ("", "base", "tip"))
    chain = served.arms[0].chain
    request = path_request(
        chain.forward([0.5, 0.0]), joints={"slide": 0.1, "turn": 0.0}, frame="base", **fields
    )
    response = served.path(request)
    assert response.error_code.val == CODE.SUCCESS
    assert response.fraction == (1.0 if is_whole else 0.0)
    assert ("slide would have to move" in response.error_code.message) != is_whole


def test_without_thresholds_joints_move_little_from_pose_to_pose(serve):
    """The links are so short that the first joint turns far while the tip hardly moves."""
    polar = robot(
        joint("turn", "base", "arm"), joint("slide", "arm", "tip", "1 0 0", kind="prismatic")
    ).replace('xyz="0.3 0 0"', 'xyz="0.01 0 0"')
    served = serve(polar, ("", "base", "tip"), position_only_ik=True)
    for turn, fraction in ((0.19, 1.0), (0.21, 0.0)):
        place = served.arms[0].chain.forward([turn, 0.0]).translation
        goal = RigidTransform.from_rpy(0.0, 0.0, 0.0, place)  # not turned: it is one pose
        request = path_request(goal, joints={"turn": 0.0, "slide": 0.0}, frame="base")
        request.revolute_jump_threshold = 3.0  # larger ones have no effect
        response = served.path(request)
        assert response.error_code.val == CODE.SUCCESS
        assert response.fraction == fraction


def test_slides_move_less_than_half_a_decimetre_from_pose_to_pose(serve):
    """The slides are nearly opposite, so that both move far while the tip hardly does."""
    slides = robot(
        joint("there", "base", "cart", "1 0 0", kind="prismatic"),
        joint("back", "cart", "tip", "-1 0.1 0", kind="prismatic"),
    )
    served = serve(slides, ("", "base", "tip"))
    for shift, fraction in ((0.049, 1.0), (0.051, 0.0)):
        goal = served.arms[0].chain.forward([shift, shift])
        request = path_request(goal, joints={"there": 0.0, "back": 0.0}, frame="base")
        request.prismatic_jump_threshold = 3.0  # larger ones have no effect
        assert served.path(request).fraction == fraction


@pytest.mark.parametrize(
    ("rows", "factor", "jump"),
    [
        ([0, 1, 2, 4, 5, 7], 1.4, 2),
        ([0, 1, 2, 4], 0.0, None),
        ([0, 1, 2, 4], 1.6, None),
        ([0, 1, 2], 1.0, None),  # just as long as allowed
        ([0], 1.0, None),
    ],
)
def test_a_move_much_longer_than_the_mean_is_a_jump(rows, factor, jump):
    assert first_jump(np.array(rows, float)[:, np.newaxis] * [0.5, -0.5], factor) == jump


def test_a_place_on_a_way_names_the_next_waypoint():
    way = Way([RigidTransform.identity()] * 5, [3, 2])
    assert [way.place(k)[-2] for k in range(5)] == ["0", "0", "0", "1", "1"]
    assert way.fraction(4) == (1.0 + 0.5) / 2.0


@pytest.mark.parametrize("shift", [[0.05, 0.1, 0.0], [1.0, 0.0, 0.0]], ids=["whole", "part"])
def test_a_path_is_exact_whatever_the_thresholds(serve, shift):
    """They are for arms that cannot do better."""
    found = []
    for threshold in (1e-5, 1e-4):
        served = serve(
            PANDA, ("", "panda_link0", "panda_hand_tcp"),
            position_threshold=threshold, orientation_threshold=threshold,
        )  # fmt: skip
        chain = served.arms[0].chain
        start = dict(zip(chain.joint_names, [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8], strict=True))
        pose = chain.forward(list(start.values()))
        goal = RigidTransform.from_rotation_translation(pose.rotation, pose.translation + shift)
        found.append(served.path(path_request(goal, joints=start, frame=chain.root)))
    assert 0.3 < found[0].fraction == found[1].fraction
    assert found[0].solution == found[1].solution
    for point in found[0].solution.joint_trajectory.points:
        moved = chain.forward(point.positions).translation - pose.translation
        off = moved - (moved @ shift) / np.dot(shift, shift) * np.array(shift)
        assert np.linalg.norm(off) < 1e-5


def test_thresholds_of_the_node_let_an_arm_of_few_joints_follow(serve):
    """A waypoint that is turned a little; the arm cannot turn that way."""
    tilt = RigidTransform.from_rpy(0.02, 0.0, 0.0, [0.0, 0.0, 0.0])
    for threshold, fraction in ((1e-5, 0.0), (0.05, 1.0)):
        served = serve(SCISSORS, ("", "base", "tip"), orientation_threshold=threshold)
        goal = served.arms[0].chain.forward([0.4, 0.3]) @ tilt
        response = served.path(path_request(goal, joints={"a1": 0.4, "a3": 0.3}, frame="base"))
        assert response.error_code.val == CODE.SUCCESS
        assert response.fraction == fraction


def test_a_slow_search_delays_nothing_else(serve, node, monkeypatch):
    served = serve(PANDA, ("", "panda_link0", "panda_hand_tcp"))
    begun, released = threading.Event(), threading.Event()
    solve = services.solve

    def slow(*args, **kwargs):
        begun.set()
        assert released.wait(60.0)
        return solve(*args, **kwargs)

    monkeypatch.setattr(services, "solve", slow)
    turns = []
    timer = node.create_timer(0.002, lambda: turns.append(begun.is_set()))
    client = node.create_client(GetPositionIK, "~/compute_ik")
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    assert client.wait_for_service(60.0)
    answer = client.call_async(
        ik_request(served.arms[0], np.array([0, -0.8, 0, -2.4, 0, 1.6, 0.8]))
    )
    while sum(turns) < 50:  # of the loop, with the search under way
        executor.spin_once(0.1)
    assert not answer.done()
    released.set()
    executor.spin_until_future_complete(answer, 60.0)
    assert answer.result().error_code.val == CODE.SUCCESS
    node.destroy_timer(timer)
    node.destroy_client(client)
    executor.shutdown()


def test_pairs_that_the_scene_of_one_arm_compares_are_not_left_out():
    ball = '<collision><geometry><sphere radius="0.2"/></geometry></collision>'
    urdf = re.sub(r'<link name="(\w+)"/>', rf'<link name="\1">{ball}</link>', TORSO)
    model = RobotModel.from_urdf(urdf)
    chains = [model.chain("base", "l_hand"), model.chain("base", "r_hand")]
    arms = [SimpleNamespace(model=model, chain=chain) for chain in chains]
    frames = RobotFrames(model, arms, FrameBuffer(), lambda: 0, lambda: 2.0)
    scenes = Scenes(model, World(), frames)
    left, pairs = set(scenes.left_out(chains)), set()
    for chain in chains:
        scene = scenes.scene_of(chain).scene
        pairs |= {frozenset(pair) for pair in scene.pairs}
    whole = scenes.scene_of(chains[0]).scene
    assert not left & pairs
    assert {frozenset(p) for p in whole.left_out} & pairs, "the other arm compares them"
    assert frozenset(("l_upper", "l_hand")) in left, "adjacent"
