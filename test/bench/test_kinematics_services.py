# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""MoveIt's kinematics services: what they answer, and that they move nothing."""

import math

import numpy as np
import pytest
from bench import HOME, down, running
from geometry_msgs.msg import Pose, Quaternion, Transform, Twist, Vector3
from moveit_client import MoveItClient, pose_stamped, state, tip_at
from moveit_msgs.msg import (
    AttachedCollisionObject,
    JointConstraint,
    MoveItErrorCodes,
    OrientationConstraint,
    PositionConstraint,
    VisibilityConstraint,
)
from moveit_msgs.srv import GetCartesianPath, GetPositionFK

from basis_ik.arm.limits import MotionLimits
from basis_ik.collision.collision_scene import Scene
from basis_ik.ros.convert import pose_message, pose_value
from basis_ik.ros.kinematics.motion_request import PoseTarget, euler_xyz
from basis_ik.ros.kinematics.services import COLLISIONS_UNCHECKED, KinematicsServices
from basis_ik.ros.outputs.trajectory_messages import to_command
from basis_ik.simulation.trajectory import Entry, TrajectorySample, plan_trajectory
from basis_ik.solvers.pose.solve import solve as search
from basis_ik.transforms.rigid import RigidTransform

CODE = MoveItErrorCodes
TABLE = RigidTransform.from_rpy(0.1, -0.2, 2.0, [0.45, 0.10, 0.10])
ABOVE = down(0.4, 0.2, 0.4)


class Client(MoveItClient):
    """Calls the services of a robot's node."""

    def __init__(self, robot):
        (served,) = (
            each for each in robot.node._robot._plug_ins if isinstance(each, KinematicsServices)
        )
        found = {each.srv_name: each for each in served._side.node.services}
        self.ik, self.fk = found["/basis_ik/compute_ik"], found["/basis_ik/compute_fk"]
        self.path = found["/basis_ik/compute_cartesian_path"]

    def ask(self, service, request):
        return service.callback(request, service.srv_type.Response())


@pytest.fixture(scope="module")
def robot(request):
    with running(*getattr(request, "param", ())) as robot:
        robot.place("base_link", "table", TABLE)
        robot.run(0.1)
        yield robot
        assert robot.commands == []


@pytest.fixture(scope="module")
def client(robot):
    return Client(robot)


def stamped(transform, frame="base_link"):
    pose = pose_message(transform)
    q = pose.orientation
    return pose_stamped(frame, transform.translation, (q.x, q.y, q.z, q.w))


def named(robot, positions):
    return dict(zip(robot.chain.joint_names, positions, strict=True))


def reached(robot, joints):
    """Return the tip's pose with the joints of a response."""
    assert list(joints) == list(robot.chain.joint_names)
    q = np.array(list(joints.values()))
    assert (q >= robot.chain.lower).all()
    assert (q <= robot.chain.upper).all()
    return robot.chain.forward(q)


def random_positions(robot, draw):
    return draw.uniform(np.maximum(robot.chain.lower, -3), np.minimum(robot.chain.upper, 3))


def near(pose, other):
    """Return whether a pose is as near another one as the node's thresholds ask."""
    return np.allclose(pose.matrix, other.matrix, rtol=0.0, atol=1e-5)


def full_response(client, request):
    return client.ask(client.ik, request)


# Inverse -------------------------------------------------------------------------------------


def test_random_poses_are_reached(robot, client):
    draw = np.random.default_rng(7)
    for _ in range(50):
        target = robot.chain.forward(random_positions(robot, draw))
        code, joints = client.solve(stamped(target))
        assert code == CODE.SUCCESS
        assert near(reached(robot, joints), target)


@pytest.mark.parametrize("group", ["", "tool0"])
def test_the_only_chain_has_no_name_or_that_of_its_tip(client, robot, group):
    code, _ = client.solve(stamped(robot.chain.forward(HOME)), group)
    assert code == CODE.SUCCESS


def test_an_unknown_group_is_refused_with_the_known_ones(client, robot):
    request = client.ik_request(stamped(robot.chain.forward(HOME)), "manipulator")
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.INVALID_GROUP_NAME
    assert "'tool0'" in answer.error_code.message
    assert not answer.solution.joint_state.name


def test_the_seed_chooses_the_solution(client, robot):
    draw = np.random.default_rng(3)
    for _ in range(10):
        seed = random_positions(robot, draw)
        code, joints = client.solve(stamped(robot.chain.forward(seed)), joints=named(robot, seed))
        assert code == CODE.SUCCESS
        assert np.allclose(list(joints.values()), seed, atol=1e-6)


def test_joints_missing_in_the_seed_are_measured(client, robot):
    moved = HOME + np.array([0.0, 0.3, -0.4, 0.2, 0.1, 0.0])
    part = {name: moved[k] for k, name in enumerate(robot.chain.joint_names) if moved[k] != HOME[k]}
    assert 0 < len(part) < 6
    for joints, wanted in ((part, moved), (None, HOME)):
        code, found = client.solve(stamped(robot.chain.forward(wanted)), joints=joints)
        assert code == CODE.SUCCESS
        assert np.allclose(list(found.values()), wanted, atol=1e-6)


def test_poses_may_be_in_other_frames(client, robot):
    for frame, root_T_frame in (("table", TABLE), ("tool0", robot.chain.forward(HOME))):
        frame_T_target = root_T_frame.inverse() @ ABOVE
        code, joints = client.solve(stamped(frame_T_target, frame))
        assert code == CODE.SUCCESS
        assert near(reached(robot, joints), ABOVE)


def test_no_frame_means_the_robots_root(client, robot):
    assert robot.model.root == "world"  # base_link is fixed to it, in the same place
    code, joints = client.solve(stamped(ABOVE, ""))
    assert code == CODE.SUCCESS
    assert near(reached(robot, joints), ABOVE)


def test_links_fixed_to_the_root_need_no_tf(client, robot):
    root_T_inertia = robot.model.joints["base_link-base_link_inertia"].origin
    pose = stamped(root_T_inertia.inverse() @ ABOVE, "base_link_inertia")
    code, joints = client.solve(pose)  # a frame without a publisher
    assert code == CODE.SUCCESS
    assert near(reached(robot, joints), ABOVE)


def test_a_stamp_ahead_of_tf_means_the_latest(client, robot):
    pose = stamped(RigidTransform.identity(), "tool0")
    pose.header.stamp = robot.stamp()
    pose.header.stamp.sec += 5
    assert client.solve(pose)[0] == CODE.SUCCESS


def test_a_stamp_means_the_pose_of_the_frame_at_that_time(client, robot):
    def drift():
        return RigidTransform.from_rpy(0.0, 0.0, 0.0, [0.40, 0.2 * (robot.time - begin), 0.2])

    begin = robot.time
    robot.frames["base_link", "drift"] = drift
    robot.run(0.2)
    pose, wanted = stamped(down(0.0, 0.0, 0.2), "drift"), drift() @ down(0.0, 0.0, 0.2)
    pose.header.stamp = robot.stamp()
    robot.run(0.5)
    code, joints = client.solve(pose)
    robot.frames.clear()
    assert code == CODE.SUCCESS
    assert near(reached(robot, joints), wanted)


@pytest.mark.parametrize(
    "frame",
    ["nowhere", "/base_link", "x" * 100_000, "a\x00b"],
    ids=["unknown", "slash", "long", "zero"],
)
def test_an_unknown_frame_is_refused(client, frame):
    code, joints = client.solve(stamped(ABOVE, frame))
    assert code == CODE.FRAME_TRANSFORM_FAILURE
    assert joints == {}


@pytest.mark.parametrize("link", ["flange", "wrist_3_link", "ft_frame"])
def test_a_link_fixed_to_the_tip_is_solved(client, robot, link):
    root_T_link = robot.model.chain("base_link", link).forward(HOME)
    code, joints = client.solve(stamped(root_T_link), link=link)
    assert code == CODE.SUCCESS
    assert np.allclose(list(joints.values()), HOME, atol=1e-5)


def test_an_inner_link_leaves_the_outer_joints_unchanged(client, robot):
    upper = robot.model.chain("base_link", "forearm_link")
    wanted = np.array([0.3, -1.2, 1.1])
    beyond = dict.fromkeys(robot.chain.joint_names[3:], 0.123)
    code, joints = client.solve(
        stamped(upper.forward(wanted)),
        link="forearm_link",
        joints={**dict(zip(upper.joint_names, [0.2, -1.3, 1.0], strict=True)), **beyond},
    )
    assert code == CODE.SUCCESS
    assert list(joints) == list(robot.chain.joint_names)
    assert np.allclose(list(joints.values()), [*wanted, 0.123, 0.123, 0.123], atol=1e-4)


@pytest.mark.parametrize("link", ["tool1", "base_link", "base_link_inertia"])
def test_a_link_that_the_chain_does_not_move_is_refused(client, link):
    request = client.ik_request(stamped(ABOVE), link=link)
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.INVALID_LINK_NAME
    assert link in answer.error_code.message


def test_one_pose_may_come_in_the_vector(client, robot):
    request = client.ik_request(pose_stamped("nowhere", (0, 0, 0), (0, 0, 0, 0)))
    request.ik_request.pose_stamped_vector = [stamped(ABOVE)]
    assert full_response(client, request).error_code.val == CODE.SUCCESS
    request.ik_request.ik_link_names = ["nothing"]
    assert full_response(client, request).error_code.val == CODE.INVALID_LINK_NAME


def test_several_links_are_solved_at_once(client, robot):
    draw = np.random.default_rng(8)
    elbow = robot.model.chain("base_link", "forearm_link")
    for _ in range(5):
        q = random_positions(robot, draw)
        poses = robot.chain.forward(q), elbow.forward(q[:3])
        request = client.ik_request(pose_stamped("", (0, 0, 0), (0, 0, 0, 0)))
        request.ik_request.pose_stamped_vector = [stamped(pose) for pose in poses]
        request.ik_request.ik_link_names = ["tool0", "forearm_link"]
        answer = full_response(client, request)
        assert answer.error_code.val == CODE.SUCCESS
        joints = answer.solution.joint_state
        found = dict(zip(joints.name, joints.position, strict=True))
        np.testing.assert_allclose(reached(robot, found).matrix, poses[0].matrix, atol=3e-5)
        lower = elbow.forward([found[name] for name in elbow.joint_names])
        np.testing.assert_allclose(lower.matrix, poses[1].matrix, atol=3e-5)


def test_conflicting_poses_have_no_solution(client):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.pose_stamped_vector = [stamped(down(0.4, y, 0.4)) for y in (0.2, 0.3)]
    request.ik_request.ik_link_names = ["tool0", "flange"]
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.NO_IK_SOLUTION
    assert "other tasks stand in the way" in answer.error_code.message
    assert answer.solution.joint_state.name == []


@pytest.mark.parametrize(
    ("timeout", "code"),
    [(-1.0, CODE.FAILURE), (1e-6, CODE.TIMED_OUT), (0.5, CODE.NO_IK_SOLUTION)],
)
def test_the_timeout_counts_for_several_poses(client, timeout, code):
    request = client.ik_request(stamped(ABOVE), timeout=timeout)
    request.ik_request.pose_stamped_vector = [stamped(down(0.4, y, 0.4)) for y in (0.2, 0.3)]
    request.ik_request.ik_link_names = ["tool0", "flange"]
    assert full_response(client, request).error_code.val == code


@pytest.mark.parametrize("links", [["tool0"], ["tool0", ""], ["tool0", "tool1"], []])
def test_several_poses_need_as_many_links(client, links):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.pose_stamped_vector = [stamped(ABOVE)] * 2
    request.ik_request.ik_link_names = links
    assert full_response(client, request).error_code.val == CODE.INVALID_LINK_NAME


@pytest.mark.parametrize(
    ("poses", "links", "link", "word"),
    [
        (0, ["flange"], "", "ik_link_names"),
        (1, ["tool0", "flange"], "", "ik_link_names"),
        (1, [], "flange", "ik_link_name: "),
        (1, ["tool0"], "flange", "ik_link_name: "),
        (2, ["tool0", "flange"], "forearm_link", "ik_link_name: "),
    ],
)
def test_a_link_without_a_pose_is_refused(client, poses, links, link, word):
    request = client.ik_request(stamped(ABOVE), link=link)
    request.ik_request.pose_stamped_vector = [stamped(ABOVE)] * poses
    request.ik_request.ik_link_names = links
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.INVALID_LINK_NAME
    assert word in answer.error_code.message


def test_objects_in_the_hand_come_from_the_scene_alone(client):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.robot_state.attached_collision_objects = [AttachedCollisionObject()]
    assert full_response(client, request).error_code.val == CODE.SUCCESS
    request.ik_request.avoid_collisions = True
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.INVALID_ROBOT_STATE
    assert "attached_collision_objects" in answer.error_code.message


def test_constraints_with_several_poses_are_refused(client):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.pose_stamped_vector = [stamped(ABOVE)] * 2
    request.ik_request.ik_link_names = ["tool0", "flange"]
    request.ik_request.constraints.joint_constraints = [JointConstraint(joint_name="elbow_joint")]
    assert full_response(client, request).error_code.val == CODE.INVALID_GOAL_CONSTRAINTS


# Joints at which the forearm strikes the wrist, in a pose that has other postures; and at which the
# upper arm strikes it, as in every posture of that pose.
STRUCK = [-1.94, -0.67, -2.62, 1.36, -2.47, -0.63]
STRUCK_ALWAYS = [0.82, -1.38, -2.75, -2.9, 1.88, 2.48]


def avoiding(client, robot, joints):
    """Return a request for the tip's pose at some joints, from there, without collisions."""
    request = client.ik_request(stamped(robot.chain.forward(joints)), joints=named(robot, joints))
    request.ik_request.avoid_collisions = True
    return request


def test_avoid_collisions_finds_another_posture(client, robot):
    request = avoiding(client, robot, STRUCK)
    request.ik_request.avoid_collisions = False
    plain = full_response(client, request).solution.joint_state
    np.testing.assert_allclose(plain.position, STRUCK, atol=1e-4)
    request.ik_request.avoid_collisions = True
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.SUCCESS
    assert answer.error_code.message == ""
    found = answer.solution.joint_state
    assert np.abs(np.subtract(found.position, STRUCK)).max() > 0.1
    np.testing.assert_allclose(
        reached(robot, named(robot, found.position)).matrix,
        robot.chain.forward(STRUCK).matrix, atol=1e-4,
    )  # fmt: skip
    scene = Scene(robot.model)
    assert scene.is_free(found.position)
    assert not scene.is_free(STRUCK)


def test_what_strikes_the_arm_within_joint_constraints_is_no_solution(client, robot):
    request = avoiding(client, robot, STRUCK)
    request.ik_request.constraints.joint_constraints = [
        constraint(name, position, 0.05, 0.05) for name, position in named(robot, STRUCK).items()
    ]
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.NO_IK_SOLUTION
    assert answer.error_code.message.startswith("joint_constraints: ")


def test_what_strikes_the_arm_in_every_posture_is_no_solution(client, robot):
    request = avoiding(client, robot, STRUCK_ALWAYS)
    for approximate in (False, True):
        assert robot.set_parameter("approximate_solutions", approximate).successful
        answer = full_response(client, request)
        assert answer.error_code.val == CODE.NO_IK_SOLUTION
        assert "upper_arm_link and wrist_2_link" in answer.error_code.message
    assert robot.set_parameter("approximate_solutions", False).successful


def test_avoid_collisions_is_refused_on_request(client, robot):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.avoid_collisions = True
    assert robot.set_parameter("avoid_collisions", "refuse").successful
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.COLLISION_CHECKING_UNAVAILABLE
    assert "avoid_collisions" in answer.error_code.message
    assert answer.error_code.source == "basis_ik"
    assert robot.set_parameter("avoid_collisions", "check").successful


def test_avoid_collisions_is_ignored_on_request_with_a_warning(client, robot):
    request = client.ik_request(stamped(ABOVE))
    quiet = full_response(client, request)
    request.ik_request.avoid_collisions = True
    assert robot.set_parameter("avoid_collisions", "ignore").successful
    since = len(robot.log)
    answer = full_response(client, request)
    far = client.ik_request(stamped(down(1.2, 0.6, 0.6)))
    far.ik_request.avoid_collisions = True
    assert full_response(client, far).error_code.val == CODE.NO_IK_SOLUTION
    assert robot.set_parameter("approximate_solutions", True).successful
    approximate = full_response(client, far).error_code
    assert robot.set_parameter("approximate_solutions", False).successful
    assert robot.set_parameter("avoid_collisions", "check").successful
    assert answer.error_code.val == CODE.SUCCESS
    found, plain = answer.solution.joint_state, quiet.solution.joint_state
    assert (found.name, found.position) == (plain.name, plain.position)
    assert quiet.error_code.message == ""
    assert answer.error_code.message == COLLISIONS_UNCHECKED
    assert approximate.message.startswith("approximate: too far by 4")
    assert approximate.message.endswith(COLLISIONS_UNCHECKED)
    assert COLLISIONS_UNCHECKED in robot.log.lines()[since:]


def test_a_pose_out_of_reach_has_the_missing_distance(client):
    answer = full_response(client, client.ik_request(stamped(down(1.2, 0.6, 0.6))))
    assert answer.error_code.val == CODE.NO_IK_SOLUTION
    assert answer.error_code.message.startswith("too far by 4")
    assert not answer.solution.joint_state.name


MILLIMETRES = down(400.0, 200.0, 300.0)


def test_a_pose_in_millimetres_is_refused_with_the_question_of_units(client):
    answer = full_response(client, client.ik_request(stamped(MILLIMETRES)))
    assert answer.error_code.val == CODE.INVALID_GOAL_CONSTRAINTS
    assert answer.error_code.message.endswith(": are the units metres?)")


@pytest.mark.parametrize("links", [("forearm_link", "tool0"), ("tool0", "forearm_link")])
def test_one_of_several_poses_in_millimetres_is_refused_with_its_link(client, links):
    places = {"tool0": ABOVE, "forearm_link": MILLIMETRES}
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.pose_stamped_vector = [stamped(places[link]) for link in links]
    request.ik_request.ik_link_names = list(links)
    error = full_response(client, request).error_code
    assert error.val == CODE.INVALID_GOAL_CONSTRAINTS
    assert error.message.startswith("pose_stamped_vector: forearm_link: OUT_OF_RANGE: ")
    assert error.message.endswith(": are the units metres?)")


def test_the_reach_of_each_link_is_its_own(client, robot):
    """What is too far for the forearm's link is not for the tool, which reaches farther."""
    elbow = robot.model.chain("base_link", "forearm_link")
    far = RigidTransform.from_rpy(0.0, 0.0, 0.0, [10.0 * elbow.reach + 0.1, 0.0, 0.0])
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.ik_link_names = ["tool0", "forearm_link"]
    request.ik_request.pose_stamped_vector = [stamped(far), stamped(elbow.forward(HOME[:3]))]
    assert full_response(client, request).error_code.val == CODE.NO_IK_SOLUTION
    request.ik_request.pose_stamped_vector = [stamped(ABOVE), stamped(far)]
    assert full_response(client, request).error_code.val == CODE.INVALID_GOAL_CONSTRAINTS


def test_a_short_timeout_is_kept_and_reported(client, robot):
    # Near the edge of the reach only some orientations can be had, which takes long to find out.
    hard = RigidTransform.from_rpy(0.0, -1.5, 0.0, [0.8, 0.2, 0.3])
    assert client.solve(stamped(hard), timeout=30.0)[0] == CODE.NO_IK_SOLUTION
    code, joints = client.solve(stamped(hard), timeout=1e-9)
    assert code == CODE.TIMED_OUT
    assert joints == {}
    # What is found at once is found even then.
    assert client.solve(stamped(robot.chain.forward(HOME)), timeout=1e-9)[0] == CODE.SUCCESS


@pytest.mark.parametrize(("timeout", "limit"), [(0.09999, 0.09999), (0.1, None)])
def test_only_a_short_timeout_limits_the_search(client, monkeypatch, timeout, limit):
    limits = []

    def solve(*arguments, time_limit, **more):
        limits.append(time_limit)
        return search(*arguments, **more)

    monkeypatch.setattr("basis_ik.ros.kinematics.services.solve", solve)
    assert client.solve(stamped(ABOVE), timeout=timeout)[0] == CODE.SUCCESS
    assert limits == [pytest.approx(limit)]


def test_a_negative_timeout_is_refused(client):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.timeout.sec = -1
    assert full_response(client, request).error_code.val == CODE.FAILURE


BAD_POSES = {
    "nan": {"position": (math.nan, 0, 0)},
    "infinite": {"position": (0, math.inf, 0)},
    "huge": {"position": (1e200, 0, 0)},
    "far": {"position": (5e6, 0, 0)},
    "zero quaternion": {"quaternion": (0, 0, 0, 0)},
    "nan quaternion": {"quaternion": (0, 0, 0, math.nan)},
    "long quaternion": {"quaternion": (0, 0, 0, 2)},
}


@pytest.mark.parametrize("name", BAD_POSES)
def test_an_invalid_pose_is_refused(client, name):
    parts = {"position": (0.4, 0.2, 0.4), "quaternion": (1, 0, 0, 0), **BAD_POSES[name]}
    code, joints = client.solve(pose_stamped("base_link", *parts.values()))
    assert code == CODE.INVALID_GOAL_CONSTRAINTS
    assert joints == {}


def damaged(fields):
    def damage(message):
        for path, value in fields.items():
            *way, last = path.split(".")
            owner = message
            for part in way:
                owner = getattr(owner, part)
            setattr(owner, last, value)

    return damage


BAD_STATES = {
    "nan": ({"joint_state": state({"elbow_joint": math.nan})}, "elbow_joint"),
    "huge": ({"joint_state": state({"elbow_joint": 1e30})}, "elbow_joint"),
    "sizes": ({"joint_state.name": ["elbow_joint"]}, "1 names and 0 positions"),
    "twice": (
        {"joint_state.name": ["elbow_joint"] * 2, "joint_state.position": [0.0, 0.0]},
        "twice",
    ),
    "multi-dof": (
        {
            "multi_dof_joint_state.joint_names": ["virtual_joint"],
            "multi_dof_joint_state.transforms": [Transform(translation=Vector3(x=0.1))],
        },
        "multi_dof",
    ),
    "multi-dof of the robot": (
        {
            "multi_dof_joint_state.joint_names": ["elbow_joint"],
            "multi_dof_joint_state.transforms": [Transform()],
        },
        "multi_dof",
    ),
    "multi-dof in motion": (
        {
            "multi_dof_joint_state.joint_names": ["virtual_joint"],
            "multi_dof_joint_state.transforms": [Transform()],
            "multi_dof_joint_state.twist": [Twist(linear=Vector3(x=0.1))],
        },
        "multi_dof",
    ),
    "multi-dof sizes": ({"multi_dof_joint_state.joint_names": ["virtual_joint"]}, "multi_dof"),
}


@pytest.mark.parametrize("name", BAD_STATES)
@pytest.mark.parametrize("service", ["ik", "fk"])
def test_an_invalid_robot_state_is_refused(client, service, name):
    fields, word = BAD_STATES[name]
    if service == "ik":
        request = client.ik_request(stamped(ABOVE))
        damaged(fields)(request.ik_request.robot_state)
    else:
        request = GetPositionFK.Request(fk_link_names=["tool0"])
        damaged(fields)(request.robot_state)
    answer = client.ask(getattr(client, service), request)
    assert answer.error_code.val == CODE.INVALID_ROBOT_STATE
    assert word in answer.error_code.message


def test_joints_that_the_robot_lacks_are_ignored(client, robot):
    """All of /joint_states as a seed, with a gripper that the description does not have."""
    seed = named(robot, HOME)
    foreign = {"finger_joint": math.nan, "flange-tool0": 0.0}
    pose = stamped(robot.chain.forward(HOME))
    plain, whole = (client.solve(pose, joints=joints) for joints in (seed, {**foreign, **seed}))
    assert whole == plain
    assert whole[0] == CODE.SUCCESS
    request = client.ik_request(pose, joints=seed)
    request.ik_request.robot_state.multi_dof_joint_state.joint_names = ["virtual_joint"]
    request.ik_request.robot_state.multi_dof_joint_state.transforms = [Transform()]
    assert full_response(client, request).error_code.val == CODE.SUCCESS
    code, poses = client.place(["tool0"], {**foreign, **seed})
    assert code == CODE.SUCCESS
    assert poses == client.place(["tool0"], seed)[1]


def test_approximate_solutions_have_the_remaining_error(client, robot):
    far = down(1.2, 0.6, 0.6)
    assert robot.set_parameter("approximate_solutions", True).successful
    answer = full_response(client, client.ik_request(stamped(far)))
    assert robot.set_parameter("approximate_solutions", False).successful
    assert answer.error_code.val == CODE.SUCCESS
    assert answer.error_code.message.startswith("approximate: too far by 4")
    joints = dict(
        zip(answer.solution.joint_state.name, answer.solution.joint_state.position, strict=True)
    )
    missing = np.linalg.norm(reached(robot, joints).translation - far.translation)
    assert 0.4 < missing < 0.5


def test_position_only_leaves_the_orientation_free(client, robot):
    pose = stamped(RigidTransform.from_rpy(0.0, -1.5, 0.0, [0.8, 0.2, 0.3]))
    assert client.solve(pose)[0] == CODE.NO_IK_SOLUTION
    assert robot.set_parameter("position_only_ik", True).successful
    code, joints = client.solve(pose)
    assert robot.set_parameter("position_only_ik", False).successful
    assert code == CODE.SUCCESS
    assert np.allclose(reached(robot, joints).translation, [0.8, 0.2, 0.3], atol=5e-5)


# Constraints ---------------------------------------------------------------------------------


def constraint(joint, position, below=0.1, above=0.1):
    return JointConstraint(
        joint_name=joint, position=position, tolerance_below=below, tolerance_above=above
    )


@pytest.mark.parametrize("elbow", [HOME[2], -HOME[2]], ids=["this side", "the other"])
@pytest.mark.parametrize(("below", "above"), [(0.3, 0.01), (0.01, 0.3)])
def test_joint_constraints_are_kept(client, robot, elbow, below, above):
    """The same pose with the elbow on either side, near an end of what is allowed."""
    target, middle = robot.chain.forward(HOME), elbow + 0.5 * (below - above)
    request = client.ik_request(stamped(target), joints=named(robot, HOME))
    request.ik_request.constraints.joint_constraints = [
        constraint("elbow_joint", middle, below, above)
    ]
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.SUCCESS, answer.error_code.message
    found = answer.solution.joint_state
    joints = dict(zip(found.name, found.position, strict=True))
    assert middle - below <= joints["elbow_joint"] <= middle + above
    assert near(reached(robot, joints), target)


def test_constraints_may_leave_no_solution(client, robot):
    request = client.ik_request(stamped(robot.chain.forward(HOME)))
    request.ik_request.constraints.joint_constraints = [constraint("elbow_joint", 0.0)]
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.NO_IK_SOLUTION
    assert answer.error_code.message.startswith("joint_constraints: elbow_joint ")


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (constraint("elbow_jont", 0.0), "elbow_joint"),
        (constraint("elbow_joint", math.nan), "not finite"),
        (constraint("elbow_joint", 0.0, below=-1.0), "negative"),
        (constraint("elbow_joint", 0.0, above=math.inf), "not finite"),
        (constraint("elbow_joint", 9.0), "no position"),
    ],
)
def test_invalid_joint_constraints_are_refused(client, bad, word):
    request = client.ik_request(stamped(ABOVE))
    request.ik_request.constraints.joint_constraints = [bad]
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.INVALID_GOAL_CONSTRAINTS
    assert word in answer.error_code.message


def within(client, robot, target, *, place=None, turned=None, **tolerances):
    """Ask for a pose within tolerances about it, or about another place or orientation."""
    request = client.ik_request(stamped(target), joints=named(robot, HOME))
    q = None if turned is None else pose_message(turned).orientation
    request.ik_request.constraints = tip_at(
        "base_link", "tool0", position=None if place is None else place.translation,
        quaternion=None if q is None else (q.x, q.y, q.z, q.w), **tolerances,
    )  # fmt: skip
    return full_response(client, request)


def joints_of(answer):
    assert answer.error_code.val == CODE.SUCCESS, answer.error_code.message
    found = answer.solution.joint_state
    return dict(zip(found.name, found.position, strict=True))


def test_a_pose_within_its_constraints_is_reached_exactly(client, robot):
    answer = within(client, robot, ABOVE, place=ABOVE, turned=ABOVE, box=[0.2] * 3, turn=0.3)
    assert near(reached(robot, joints_of(answer)), ABOVE)
    assert answer.error_code.message == ""


def test_constraints_say_how_far_from_the_pose_the_solution_may_be(client, robot):
    far = down(0.95, 0.0, 0.30)  # where the tip cannot point down
    assert within(client, robot, far).error_code.val == CODE.NO_IK_SOLUTION
    answer = within(client, robot, far, place=far, box=[0.4, 0.3, 0.02])
    off = far.inverse() @ reached(robot, joints_of(answer))
    assert (np.abs(off.translation) <= np.array([0.2, 0.15, 0.01]) + 1e-5).all()
    assert off.as_axis_angle()[1] < 1e-4, "all of the orientation counts"
    way = np.linalg.norm(off.translation)
    assert answer.error_code.message.startswith(f"within the constraints: {way:.3g} m and ")
    answer = within(client, robot, far, turned=far, turn=1.5)
    off = far.inverse() @ reached(robot, joints_of(answer))
    assert np.linalg.norm(off.translation) < 2e-5, "all of the position counts"
    assert off.as_axis_angle()[1] > 0.1
    assert (np.abs(euler_xyz(off.matrix[:3, :3])) <= 1.5).all()


def test_constraints_elsewhere_count_and_not_the_pose(client, robot):
    other = down(0.40, -0.20, 0.40)
    answer = within(client, robot, ABOVE, place=other, box=[0.02] * 3)
    assert np.abs(reached(robot, joints_of(answer)).translation - other.translation).max() <= 0.01
    beyond = down(2.0, 0.0, 0.4)
    answer = within(client, robot, ABOVE, place=beyond, box=[0.02] * 3)
    assert answer.error_code.val == CODE.NO_IK_SOLUTION
    assert "outside the constraints" in answer.error_code.message


def test_what_is_found_is_compared_with_the_constraints_themselves(client, robot, monkeypatch):
    monkeypatch.setattr(PoseTarget, "is_met", lambda *_: False)
    answer = within(client, robot, ABOVE, place=ABOVE, box=[0.2] * 3)
    assert answer.error_code.val == CODE.NO_IK_SOLUTION


def test_what_keeps_the_pose_keeps_joint_constraints_too(client, robot):
    far = down(0.95, 0.0, 0.30)
    request = client.ik_request(stamped(far), joints=named(robot, HOME))
    constraints = tip_at("base_link", "tool0", position=far.translation, box=[0.5] * 3)
    constraints.joint_constraints = [constraint("shoulder_pan_joint", 0.0, 0.3, 0.3)]
    request.ik_request.constraints = constraints
    joints = joints_of(full_response(client, request))
    assert abs(joints["shoulder_pan_joint"]) <= 0.3
    off = far.inverse() @ reached(robot, joints)
    assert np.abs(off.translation).max() <= 0.25 + 1e-5


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        ("position_constraints", [PositionConstraint()], "position_constraints[0]: "),
        ("position_constraints", [PositionConstraint()] * 2, "2 at once"),
        ("position_constraints", [PositionConstraint(link_name="flange")], "is not tool0"),
        (
            "orientation_constraints",
            [OrientationConstraint(parameterization=9)],
            "orientation_constraints[0]: ",
        ),
        ("orientation_constraints", [OrientationConstraint()] * 2, "2 at once"),
        ("orientation_constraints", [OrientationConstraint(link_name="x")], "'x' is not tool0"),
        ("visibility_constraints", [VisibilityConstraint()], "visibility_constraints"),
    ],
)
def test_other_constraints_are_refused_by_name(client, name, given, word):
    request = client.ik_request(stamped(ABOVE))
    setattr(request.ik_request.constraints, name, given)
    answer = full_response(client, request)
    assert answer.error_code.val == CODE.INVALID_GOAL_CONSTRAINTS
    assert answer.error_code.message.startswith("constraints: ")
    assert word in answer.error_code.message


# Forward -------------------------------------------------------------------------------------


def value(pose_or_stamped):
    return pose_value(getattr(pose_or_stamped, "pose", Pose()))


def test_compute_fk_returns_poses_of_links(client, robot):
    q = HOME + 0.2
    code, poses = client.place(robot.model.links, named(robot, q))
    world_T_root = robot.model.joints["base_joint"].origin
    assert code == CODE.SUCCESS
    assert list(poses) == list(robot.model.links)
    for link, root_T_link in robot.chain.link_poses(q).items():
        assert poses[link].header.frame_id == "world"
        assert poses[link].header.stamp == robot.stamp()
        assert value(poses[link]).is_close(world_T_root @ root_T_link, 1e-9)


def test_compute_fk_measures_missing_joints(client, robot):
    code, poses = client.place(["tool0"], {"elbow_joint": 0.5})
    assert code == CODE.SUCCESS
    q = HOME.copy()
    q[2] = 0.5
    assert value(poses["tool0"]).is_close(robot.chain.forward(q), 1e-9)


def test_compute_fk_returns_poses_in_tf_frames_and_links(client, robot):
    q = HOME + 0.2
    root_T = robot.chain.link_poses(q)
    for frame, root_T_frame in (("table", TABLE), ("forearm_link", root_T["forearm_link"])):
        code, poses = client.place(["tool0"], named(robot, q), frame)
        assert code == CODE.SUCCESS
        assert poses["tool0"].header.frame_id == frame
        assert value(poses["tool0"]).is_close(root_T_frame.inverse() @ root_T["tool0"], 1e-6)


def test_compute_fk_refuses_an_unknown_frame(client):
    code, poses = client.place(["tool0"], frame="nowhere")
    assert code == CODE.FRAME_TRANSFORM_FAILURE
    assert poses == {}


def test_compute_fk_returns_known_links_with_the_error(client):
    code, poses = client.place(["tool0", "tool1", "flange"])
    assert code == CODE.INVALID_LINK_NAME
    assert list(poses) == ["tool0", "flange"]
    assert client.place([])[0] == CODE.INVALID_LINK_NAME


@pytest.mark.parametrize("robot", [("-p", "tip_link:=forearm_link")], ids=["arm"], indirect=True)
def test_compute_fk_measures_joints_off_the_chain(client, robot):
    code, poses = client.place(["tool0"])
    assert code == CODE.SUCCESS
    assert value(poses["tool0"]).is_close(robot.tip(), 1e-9)


# Along a path ---------------------------------------------------------------------------------


def path_request(*waypoints, frame="base_link", max_step=0.01, joints=None, **fields):
    request = GetCartesianPath.Request(max_step=max_step, **fields)
    request.header.frame_id = frame
    request.waypoints = [pose_message(each) for each in waypoints]
    if joints is not None:
        request.start_state.joint_state = state(joints)
    return request


def test_a_limited_link_without_a_speed_limits_nothing(client, robot):
    """Clients name it in every request."""
    plain = client.ask(client.path, path_request(robot.tip()))
    given = path_request(robot.tip(), cartesian_speed_limited_link="tool0")
    assert client.ask(client.path, given).solution == plain.solution


def shifted(transform, *shifts):
    """Return transforms at places that are shifted one after the other."""
    found, place = [], transform.translation
    for shift in shifts:
        place = place + shift
        found.append(RigidTransform.from_rotation_translation(transform.rotation, place))
    return found


def points(answer):
    """Return times, positions, velocities and accelerations of a trajectory."""
    found = answer.solution.joint_trajectory.points
    times = [1e-9 * each.time_from_start.nanosec + each.time_from_start.sec for each in found]
    states = [(each.positions, each.velocities, each.accelerations) for each in found]
    return np.array(times), *np.array(states).transpose(1, 0, 2)


def executed(robot, answer):
    """Return the positions (t, n) of a joint_trajectory_controller, a thousand a second."""
    command = to_command(answer.solution.joint_trajectory, 0)
    joints, start = robot.chain.joint_names, TrajectorySample.at_rest(points(answer)[1][0])
    entry = Entry(0.0, 0.0, start, start.positions)
    trajectory = plan_trajectory(command, joints, robot.chain.continuous, entry)
    times = np.arange(0.0, trajectory.end + 1e-3, 1e-3)
    return np.array([trajectory.sample(time).positions for time in times])


def off_line(robot, positions, begin, end):
    """Return the largest distance of the tip from a line [m]."""
    way = end.translation - begin.translation
    way /= np.linalg.norm(way)
    shifts = [robot.chain.forward(q).translation - begin.translation for q in positions]
    return max(np.linalg.norm(shift - (shift @ way) * way) for shift in shifts)


def test_a_straight_line_is_followed_and_can_be_executed(client, robot):
    start = robot.chain.forward(HOME)
    waypoints = shifted(start, *[[-0.02, 0.03, -0.02]] * 5)
    answer = client.ask(client.path, path_request(*waypoints))
    assert (answer.error_code.val, answer.error_code.message) == (CODE.SUCCESS, "")
    assert answer.fraction == 1.0
    trajectory = answer.solution.joint_trajectory
    assert list(trajectory.joint_names) == list(robot.chain.joint_names)
    assert trajectory.header.frame_id == "world"
    assert (trajectory.header.stamp.sec, trajectory.header.stamp.nanosec) == (0, 0)
    assert list(answer.start_state.joint_state.name)[:6] == list(robot.chain.joint_names)
    assert np.allclose(answer.start_state.joint_state.position[:6], HOME)
    times, positions, velocities, accelerations = points(answer)
    assert (np.diff(times) > 0.0).all()
    np.testing.assert_array_equal(positions[0], HOME)
    assert not np.any([velocities[[0, -1]], accelerations[[0, -1]]])
    assert robot.chain.forward(positions[-1]).is_close(waypoints[-1], 1e-6)
    assert off_line(robot, positions, start, waypoints[-1]) < 1e-5
    went = executed(robot, answer)
    np.testing.assert_array_equal(went[[0, -1]], positions[[0, -1]])
    assert off_line(robot, went, start, waypoints[-1]) < 1e-5
    for waypoint in waypoints:
        away = [robot.chain.forward(q).translation - waypoint.translation for q in went]
        assert min(map(np.linalg.norm, away)) < 5e-4  # as far as it goes in a millisecond
    # Four of the waypoints are passed without a rest.
    assert velocities[1:-1].any(axis=1).all()


def rates(robot, answer):
    """Return which parts of the limits a trajectory uses: velocity, acceleration, jerk."""
    limits = MotionLimits.of_chain(robot.chain)
    positions = executed(robot, answer)
    return [
        float((np.abs(np.diff(positions, order, axis=0)).max(axis=0) / 1e-3**order / most).max())
        for order, most in enumerate((limits.velocity, limits.acceleration, limits.jerk), 1)
    ]


def test_the_factors_scale_velocity_and_acceleration(client, robot):
    """Zero means one, as in MoveIt."""
    waypoints = shifted(robot.chain.forward(HOME), [-0.1, 0.3, 0.0])
    found = {}
    for velocity, acceleration in ((0.0, 0.0), (1.0, 1.0), (0.1, 1.0), (1.0, 0.1)):
        request = path_request(
            *waypoints,
            max_velocity_scaling_factor=velocity,
            max_acceleration_scaling_factor=acceleration,
        )
        answer = client.ask(client.path, request)
        assert answer.error_code.val == CODE.SUCCESS
        found[velocity, acceleration] = rates(robot, answer)
    assert found[0.0, 0.0] == found[1.0, 1.0]
    assert 0.97 < max(found[1.0, 1.0]) < 1.01
    assert 0.09 < found[0.1, 1.0][0] < 0.101
    assert 0.09 < found[1.0, 0.1][1] < 0.101


def test_the_link_rests_where_the_way_turns(client, robot):
    start = robot.chain.forward(HOME)
    waypoints = shifted(start, [-0.05, 0.0, 0.0], [0.0, 0.1, 0.0])
    answer = client.ask(client.path, path_request(*waypoints))
    assert answer.fraction == 1.0
    _, positions, velocities, _ = points(answer)
    (rest,) = np.flatnonzero(~velocities[1:-1].any(axis=1)) + 1
    assert robot.chain.forward(positions[rest]).is_close(waypoints[0], 1e-6)
    went = executed(robot, answer)
    tips = np.array([robot.chain.forward(q).translation for q in went]) - start.translation
    assert np.minimum(np.abs(tips[:, 1]), np.abs(tips[:, 0] + 0.05)).max() < 1e-5
    assert np.abs(tips[:, 2]).max() < 1e-5


def test_the_link_turns_about_one_axis_between_waypoints(client, robot):
    start = robot.chain.forward(HOME)
    turn = RigidTransform.from_axis_angle([1.0, 1.0, 0.0], 0.5)
    answer = client.ask(client.path, path_request(start @ turn, max_step=1.0))
    assert answer.fraction == 1.0
    for q in points(answer)[1]:
        vector = (start.inverse() @ robot.chain.forward(q)).log()
        assert np.linalg.norm(vector[:3]) < 1e-5
        assert abs(vector[3] - vector[4]) < 1e-5
        assert abs(vector[5]) < 1e-5


def test_a_way_out_of_reach_is_followed_as_far_as_it_goes(client, robot):
    start = robot.chain.forward(HOME)
    waypoints = shifted(start, [0.05, 0.0, 0.0], [2.0, 0.0, 0.0], [0.1, 0.0, 0.0])
    answer = client.ask(client.path, path_request(*waypoints))
    assert answer.error_code.val == CODE.SUCCESS  # as in MoveIt
    assert (
        "on the way to waypoints[1]: position within reach, orientation off by"
        in answer.error_code.message
    )
    # As in MoveIt, each of the waypoints is a third, and poses on the way to it are parts of that.
    done = robot.chain.forward(points(answer)[1][-1]).translation - waypoints[0].translation
    assert 0.1 < done[0] < 1.0
    assert answer.fraction == pytest.approx((1.0 + done[0] / 2.0) / 3.0, abs=1e-6)
    assert off_line(robot, executed(robot, answer), start, waypoints[-1]) < 1e-5


def test_a_way_that_cannot_be_begun_is_one_point(client, robot):
    """At its elbow the arm is stretched, and cannot go on outwards."""
    stretched = np.array([0.3, -0.5, 0.0, -1.0, -1.57, 0.0])
    start = robot.chain.forward(stretched)
    out = start.translation / np.linalg.norm(start.translation)
    request = path_request(*shifted(start, 0.5 * out), joints=named(robot, stretched))
    answer = client.ask(client.path, request)
    assert answer.error_code.val == CODE.SUCCESS
    assert answer.fraction == 0.0
    assert answer.error_code.message.startswith("on the way to waypoints[0]: ")
    times, positions, *_ = points(answer)
    assert times.tolist() == [0.0]
    np.testing.assert_array_equal(positions, [stretched])


def test_a_path_begins_at_the_given_start(client, robot):
    moved = HOME + np.array([0.4, 0.1, -0.2, 0.1, 0.2, 0.5])
    part = named(robot, moved)
    del part["elbow_joint"]  # measured
    moved[2] = HOME[2]
    waypoints = shifted(robot.chain.forward(moved), [0.0, 0.05, 0.0])
    answer = client.ask(client.path, path_request(*waypoints, joints=part))
    assert answer.fraction == 1.0
    np.testing.assert_array_equal(points(answer)[1][0], moved)
    assert np.allclose(answer.start_state.joint_state.position[:6], moved)


def test_a_path_does_not_leave_the_branch_of_its_start(client, robot):
    """The nearest solution of the first waypoint alone may be another one."""
    flipped = np.array([0.0, -1.57, 1.57, -1.57, 1.57, 0.0])
    waypoints = shifted(robot.chain.forward(flipped), [0.0, 0.05, 0.0])
    answer = client.ask(client.path, path_request(*waypoints, joints=named(robot, flipped)))
    assert answer.fraction == 1.0
    assert np.abs(np.diff(points(answer)[1], axis=0)).max() < 0.1


def test_waypoints_may_be_in_other_frames(client, robot):
    start = robot.chain.forward(HOME)
    waypoints = shifted(start, [0.0, 0.05, 0.0], [0.02, 0.0, 0.0])
    plain = points(client.ask(client.path, path_request(*waypoints)))[1][-1]
    joints = named(robot, HOME)
    for frame, root_T_frame in (
        ("", RigidTransform.identity()),
        ("table", TABLE),
        ("forearm_link", robot.chain.link_poses(HOME)["forearm_link"]),
    ):
        given = [root_T_frame.inverse() @ each for each in waypoints]
        answer = client.ask(client.path, path_request(*given, frame=frame, joints=joints))
        assert answer.fraction == 1.0
        np.testing.assert_allclose(points(answer)[1][-1], plain, atol=1e-6)


def test_a_frame_of_the_arm_is_where_the_start_puts_it(client, robot):
    moved = HOME + 0.2
    forearm = robot.chain.link_poses(moved)["forearm_link"]
    goal = shifted(robot.chain.forward(moved), [0.0, 0.05, 0.0])[0]
    request = path_request(
        forearm.inverse() @ goal, frame="forearm_link", joints=named(robot, moved)
    )
    answer = client.ask(client.path, request)
    assert answer.fraction == 1.0
    assert robot.chain.forward(points(answer)[1][-1]).is_close(goal, 1e-6)


def test_in_the_frame_of_the_link_each_waypoint_is_relative_to_the_one_before(client, robot):
    step = RigidTransform.from_rpy(0.0, 0.0, 0.1, [0.0, 0.02, 0.01])
    moved = HOME + 0.1
    request = path_request(step, step, step, frame="tool0", joints=named(robot, moved))
    answer = client.ask(client.path, request)
    assert answer.fraction == 1.0
    goal = robot.chain.forward(moved) @ step @ step @ step
    assert robot.chain.forward(points(answer)[1][-1]).is_close(goal, 1e-6)


def test_an_inner_link_is_moved_by_its_joints_alone(client, robot):
    upper = robot.model.chain("base_link", "forearm_link")
    start = upper.forward(HOME[:3])
    wanted = [upper.forward(HOME[:3] + k * np.array([0.02, 0.01, 0.0])) for k in (1, 2, 3)]
    assert robot.set_parameter("position_only_ik", True).successful
    answer = client.ask(client.path, path_request(*wanted, link_name="forearm_link"))
    assert robot.set_parameter("position_only_ik", False).successful
    assert answer.fraction == 1.0
    _, positions, *_ = points(answer)
    assert positions.shape[1] == 6
    np.testing.assert_array_equal(positions[:, 3:], np.tile(HOME[3:], (len(positions), 1)))
    end = upper.forward(positions[-1, :3]).translation
    np.testing.assert_allclose(end, wanted[-1].translation, atol=1e-5)
    assert not np.allclose(end, start.translation, atol=1e-3)


def test_a_waypoint_at_the_start_is_a_path_without_a_motion(client, robot):
    here = robot.chain.forward(HOME)
    answer = client.ask(client.path, path_request(here, here))
    assert (answer.error_code.val, answer.fraction) == (CODE.SUCCESS, 1.0)
    np.testing.assert_array_equal(points(answer)[1], [HOME])


def test_jump_thresholds_end_a_path_before_a_jump(client, robot):
    """Beside the shoulder's axis, where the first joint has to turn quickly."""
    start = down(0.30, 0.14, 0.3)
    seed = search(robot.chain, start, HOME).positions
    waypoints = shifted(start, [-0.6, 0.0, 0.0])
    joints = named(robot, seed)

    def answer(**fields):
        return client.ask(client.path, path_request(*waypoints, joints=joints, **fields))

    plain = answer()
    assert plain.error_code.val == CODE.SUCCESS
    for fields in ({"revolute_jump_threshold": 0.05}, {"jump_threshold": 1.5}):
        ended = answer(**fields)
        assert ended.error_code.val == CODE.SUCCESS
        assert 0.0 < ended.fraction < plain.fraction
        assert "on the way to waypoints[0]: " in ended.error_code.message
    assert "jump_threshold" in answer(jump_threshold=1.5).error_code.message
    for fields in ({"prismatic_jump_threshold": 1e-6}, {"jump_threshold": 100.0}):
        assert answer(**fields).fraction == plain.fraction  # without effect here


def test_the_same_request_has_the_same_bits(client, robot):
    waypoints = shifted(robot.chain.forward(HOME), [0.0, 0.1, 0.0], [0.05, 0.0, 0.0])
    one, other = (client.ask(client.path, path_request(*waypoints)) for _ in range(2))
    assert one.solution == other.solution
    assert one.fraction == other.fraction


BAD_PATHS = {
    "joint constraints": (
        {"path_constraints.joint_constraints": [JointConstraint()]},
        CODE.INVALID_GOAL_CONSTRAINTS,
        "path_constraints",
    ),
    "position constraints": (
        {"path_constraints.position_constraints": [PositionConstraint()]},
        CODE.INVALID_GOAL_CONSTRAINTS,
        "path_constraints",
    ),
    "orientation constraints": (
        {"path_constraints.orientation_constraints": [OrientationConstraint()]},
        CODE.INVALID_GOAL_CONSTRAINTS,
        "path_constraints",
    ),
    "visibility constraints": (
        {"path_constraints.visibility_constraints": [VisibilityConstraint()]},
        CODE.INVALID_GOAL_CONSTRAINTS,
        "path_constraints",
    ),
    "attached objects": (
        {"start_state.attached_collision_objects": [AttachedCollisionObject()]},
        CODE.INVALID_ROBOT_STATE,
        "attached_collision_objects",
    ),
    "speed of a link": (
        {"max_cartesian_speed": 0.1},
        CODE.FAILURE,
        "max_cartesian_speed",
    ),
    "speed nan": ({"max_cartesian_speed": math.nan}, CODE.FAILURE, "max_cartesian_speed"),
    "no step": ({"max_step": 0.0}, CODE.FAILURE, "max_step"),
    "negative step": ({"max_step": -0.01}, CODE.FAILURE, "max_step"),
    "step nan": ({"max_step": math.nan}, CODE.FAILURE, "max_step"),
    "step infinite": ({"max_step": math.inf}, CODE.FAILURE, "max_step"),
    "tiny step": ({"max_step": 1e-6}, CODE.FAILURE, "max_step: 1e-06 m makes 5e+04 poses"),
    "least step": ({"max_step": 5e-324}, CODE.FAILURE, "max_step"),
    "jump": ({"jump_threshold": -1.0}, CODE.FAILURE, "jump_threshold"),
    "jump nan": ({"jump_threshold": math.nan}, CODE.FAILURE, "jump_threshold"),
    "jump infinite": ({"jump_threshold": math.inf}, CODE.FAILURE, "jump_threshold"),
    "revolute": ({"revolute_jump_threshold": math.nan}, CODE.FAILURE, "revolute_jump_threshold"),
    "prismatic": ({"prismatic_jump_threshold": -1.0}, CODE.FAILURE, "prismatic_jump_threshold"),
    "fast": (
        {"max_velocity_scaling_factor": 1.1},
        CODE.FAILURE,
        "max_velocity_scaling_factor: 1.1",
    ),
    "backwards": (
        {"max_acceleration_scaling_factor": -0.1},
        CODE.FAILURE,
        "max_acceleration_scaling_factor: -0.1",
    ),
    "factor nan": (
        {"max_velocity_scaling_factor": math.nan},
        CODE.FAILURE,
        "max_velocity_scaling_factor",
    ),
    "group": ({"group_name": "manipulator"}, CODE.INVALID_GROUP_NAME, "'tool0'"),
    "link": ({"link_name": "tool1"}, CODE.INVALID_LINK_NAME, "tool1"),
    "frame": ({"header.frame_id": "nowhere"}, CODE.FRAME_TRANSFORM_FAILURE, "nowhere"),
    "no waypoints": ({"waypoints": []}, CODE.INVALID_GOAL_CONSTRAINTS, "waypoints"),
    "quaternion": (
        {"waypoints": [Pose(orientation=Quaternion(w=2.0))]},
        CODE.INVALID_GOAL_CONSTRAINTS,
        "waypoints[0]",
    ),
    "start nan": (
        {"start_state.joint_state": state({"elbow_joint": math.nan})},
        CODE.INVALID_ROBOT_STATE,
        "start_state: joint 'elbow_joint'",
    ),
    "start": (
        {"start_state.joint_state": state({"elbow_joint": 4.0})},
        CODE.START_STATE_INVALID,
        "start_state: elbow_joint is at 4",
    ),
}


@pytest.mark.parametrize("name", BAD_PATHS)
def test_a_path_that_is_not_supported_is_refused_by_its_field(client, robot, name):
    fields, code, word = BAD_PATHS[name]
    request = path_request(*shifted(robot.chain.forward(HOME), [0.0, 0.05, 0.0]))
    assert client.ask(client.path, request).error_code.val == CODE.SUCCESS
    damaged(fields)(request)
    answer = client.ask(client.path, request)
    assert answer.error_code.val == code
    assert word in answer.error_code.message
    assert answer.fraction == 0.0
    assert not answer.solution.joint_trajectory.points


def test_numbers_that_are_not_finite_are_refused_by_their_waypoint(client, robot):
    waypoints = shifted(robot.chain.forward(HOME), [0.0, 0.05, 0.0], [0.0, 0.05, 0.0])
    for value in (math.nan, math.inf):
        request = path_request(*waypoints)
        request.waypoints[1].position.x = value
        answer = client.ask(client.path, request)
        assert answer.error_code.val == CODE.INVALID_GOAL_CONSTRAINTS
        assert answer.error_code.message.startswith("waypoints[1]: ")


def test_waypoints_in_millimetres_are_refused_with_the_question_of_units(client):
    answer = client.ask(client.path, path_request(ABOVE, MILLIMETRES))
    assert answer.error_code.val == CODE.INVALID_GOAL_CONSTRAINTS
    assert answer.error_code.message.startswith("waypoints[1]: ")
    assert answer.error_code.message.endswith(": are the units metres?)")


def test_a_path_warns_that_collisions_are_ignored(client, robot):
    waypoints = shifted(robot.chain.forward(HOME), [0.0, 0.05, 0.0])
    assert robot.set_parameter("avoid_collisions", "ignore").successful
    answer = client.ask(client.path, path_request(*waypoints, avoid_collisions=True))
    refusing = robot.set_parameter("avoid_collisions", "refuse")
    refused = client.ask(client.path, path_request(*waypoints, avoid_collisions=True))
    assert refusing.successful
    assert robot.set_parameter("avoid_collisions", "check").successful
    assert (answer.error_code.val, answer.fraction) == (CODE.SUCCESS, 1.0)
    assert answer.error_code.message == COLLISIONS_UNCHECKED
    assert refused.error_code.val == CODE.COLLISION_CHECKING_UNAVAILABLE


def test_a_path_ends_before_the_arm_strikes_itself(client, robot):
    start = [-0.8, -1.63, 2.44, -0.78, -1.13, 0.42]
    inwards = shifted(robot.chain.forward(start), [-0.12, 0.12, -0.09])
    joints = named(robot, start)
    plain = client.ask(client.path, path_request(*inwards, joints=joints))
    request = path_request(*inwards, joints=joints, avoid_collisions=True)
    answer = client.ask(client.path, request)
    assert answer.error_code.val == CODE.SUCCESS, "as in MoveIt, with the part that is free"
    assert 0.0 < answer.fraction < plain.fraction
    assert "upper_arm_link and wrist_3_link overlap by" in answer.error_code.message
    scene = Scene(robot.model)
    points = [list(each.positions) for each in answer.solution.joint_trajectory.points]
    assert all(map(scene.is_free, points))
    beyond = [list(each.positions) for each in plain.solution.joint_trajectory.points]
    assert not all(map(scene.is_free, beyond))


def test_a_path_that_begins_in_a_collision_has_no_length(client, robot):
    joints = named(robot, STRUCK)
    waypoints = shifted(robot.chain.forward(STRUCK), [0.0, 0.02, 0.0])
    request = path_request(*waypoints, joints=joints, avoid_collisions=True)
    answer = client.ask(client.path, request)
    assert (answer.error_code.val, answer.fraction) == (CODE.SUCCESS, 0.0)
    assert "forearm_link and wrist_3_link overlap by" in answer.error_code.message
