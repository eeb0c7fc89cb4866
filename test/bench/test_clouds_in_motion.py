# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm keeps clear of what a depth camera sees, and not of itself; without clouds it waits."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from bench import HOME, Robot
from contact_judge import Judge
from moveit_msgs.msg import CollisionObject, MoveItErrorCodes
from moveit_msgs.srv import GetPositionIK
from scene_client import BOX, Camera, Client, at, cloud, held, last_words, thing
from test_collisions_in_motion import INTERFACES, STOP, TOLERANCE, wait_until_held

from basis_ik.collision.world import World
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.ros.kinematics.scenes import Scenes
from basis_ik.ros.world import world_server
from basis_ik.ros.world.cloud_messages import CloudReader
from basis_ik.ros.world.robot_frames import RobotFrames

WORDS = (
    "-p", "check_collisions:=true", "-p", f"stop_distance:={STOP}",
    "-p", "point_cloud_topic:=points",
)  # fmt: skip
TURN = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])
NOTHING = np.empty((0, 3))
PADDING = 0.01  # m: the default
COVERS = 0.037 + 0.035  # m: a link's cover, and a voxel's sphere, are so much too large at most


def wall(x=0.75, step=0.05):
    """Return the points of a wall across the arm's way, which the judge can count."""
    y, z = np.meshgrid(np.arange(-0.5, 0.5, step), np.arange(0.1, 0.9, step))
    return np.column_stack([np.full(y.size, x), y.ravel(), z.ravel()])


@contextmanager
def watched(*words, see=lambda: NOTHING, **how):
    """Yield a robot that a camera watches, which is ready, its client and the camera."""
    robot = Robot(*WORDS, *words)
    try:
        robot.wait_status(state="WAITING")
        client = Client(robot)
        camera = Camera(client, see, **how)
        robot.wait_status(state="READY")
        yield robot, client, camera
    finally:
        robot.end()


BOX_SEEN = np.stack(np.meshgrid([0.57, 0.67], [-0.3, -0.2, -0.1, 0.0], [0.2, 0.3, 0.4, 0.5]), -1)
BOX_SEEN = BOX_SEEN.reshape(-1, 3)


def check(robot, points, begun=0):
    """Check the distances of links from points at the outputs of the controller; return the least.

    MuJoCo has the points as spheres.
    """
    scene = robot.node._robot.arms[0].pipeline.scene
    pairs = [pair for pair in scene.pairs if "points" in pair]
    judge = Judge(robot.urdf, robot.chain, [("points", "points", points, (0, 0, 0))], pairs)
    nearest = min(judge.distances(q).min() for _, q in robot.arm.outputs[begun::8])
    assert nearest >= STOP + PADDING - TOLERANCE
    return nearest


def points_of(robot):
    return robot.node.world.state.sights["points"].cloud


def seen_of(robot):
    """Return points all over the links that move, where they are now."""
    frames = robot.chain._evaluate(np.array(robot.positions))[0]
    scene = robot.node._robot.arms[0].pipeline.scene
    found = []
    for link in scene._links:
        for shape, place in link.bodies:
            corners = shape.hull.vertices if not shape.is_round else np.zeros((1, 3))
            weights = np.random.default_rng(0).dirichlet(np.full(len(corners), 0.3), 60)
            points = place.apply(weights @ corners)
            if link.joint >= 0:
                frame = frames[link.joint]
                points = points @ frame[:, :3].T + frame[:, 3]
            found.append(points)
    return np.concatenate(found)


@pytest.mark.parametrize("interface", INTERFACES)
def test_the_arm_stops_before_a_wall_of_points_and_goes_on_when_it_is_gone(interface):
    with watched("-p", f"command_interface:={interface}", see=wall) as (robot, _, camera):
        target = at(0.25) @ robot.tip()
        robot.send("base_link", target)
        wait_until_held(robot, "and points", "20.0 mm")
        assert robot.statuses[-1]["level"] == b"\x01"
        assert robot.statuses[-1]["verdict"] == "COLLISION"
        assert check(robot, wall()) < STOP + PADDING + COVERS
        camera.see = lambda: NOTHING
        robot.wait_status(state="ARRIVED", verdict="REACHED")
        assert robot.at(target)


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_arm_that_noisy_points_hold_has_not_arrived(interface):
    rng = np.random.default_rng(0)

    def see():
        return wall() + rng.normal(scale=2e-3, size=(len(wall()), 1))

    with watched("-p", f"command_interface:={interface}", see=see) as (robot, _, _camera):
        robot.send("base_link", at(0.25) @ robot.tip())
        robot.wait(lambda: robot.statuses[-1]["message"].startswith("held by "), "held")
        since, begun = len(robot.statuses), len(robot.arm.outputs)
        robot.run(4.0)
        assert {each["state"] for each in robot.statuses[since:]} <= {"MOVING", "HOLDING"}
        check(robot, wall(0.758), begun)  # less what the noise takes


@pytest.mark.parametrize("interface", INTERFACES)
def test_points_that_appear_on_the_way_stop_the_arm_before_them(interface):
    with watched("-p", f"command_interface:={interface}") as (robot, _, camera):
        robot.reach(robot.chain.forward(HOME + TURN))
        target = robot.chain.forward(HOME - TURN + [0.0, 0.6, -0.6, 0.0, 0.0, 0.0])
        robot.set_off(target, 0.3)
        camera.see = lambda: BOX_SEEN
        robot.run(0.15)
        begun = len(robot.arm.outputs)
        robot.run(8.0)
        check(robot, BOX_SEEN, begun)
        text = robot.statuses[-1]["message"]
        assert text.startswith("held by ")
        assert "points" in text


def test_the_robot_itself_does_not_hold_the_arm():
    """It is where it was when the camera saw it, not where it is when the cloud comes."""
    with watched("-p", "max_velocity_scaling_factor:=0.5", late=0.08) as (robot, _, camera):
        camera.see = lambda: seen_of(robot)
        for turn in (TURN, -TURN):
            robot.reach(robot.chain.forward(HOME + turn))
        assert not any(each["message"].startswith("held by ") for each in robot.statuses)
        assert points_of(robot).count == 0


def test_an_object_in_the_hand_is_the_robot_too():
    with watched() as (robot, client, camera):
        client.hold(held("tool", frame="tool0", pose=at(0, 0, 0.15), primitives=[BOX]))
        camera.see = lambda: [robot.tip().apply((0.0, 0.0, 0.3))]
        robot.run(0.3)
        assert points_of(robot).count == 0
        client.hold(held("tool", operation=CollisionObject.REMOVE))
        client.put(thing("tool", operation=CollisionObject.REMOVE, primitives=()))
        robot.run(0.3)
        assert points_of(robot).count == 1


def test_an_arm_whose_clouds_stop_coming_brakes_and_waits_for_the_next():
    with watched("-p", "max_velocity_scaling_factor:=0.05") as (robot, _, camera):
        words = "collisions cannot be checked: 'points': no cloud has come on /points"
        assert robot.statuses[0]["message"].startswith(words), "it waits for the first"
        robot.set_off(robot.chain.forward(HOME + TURN), 0.3)
        camera.runs, stopped = False, robot.time
        robot.wait_status(state="BRAKING")
        assert 0.9 < robot.time - stopped < 1.3
        robot.wait_status(state="WAITING")
        assert robot.statuses[-1]["message"].startswith(words)
        camera.runs = True
        robot.wait_status(state="READY")


def test_what_is_no_cloud_is_refused_and_the_last_one_stays():
    with watched() as (robot, client, camera):
        camera.see = wall
        robot.run(0.2)
        camera.runs = False
        before = robot.node.world.state.sights["points"]
        assert before.cloud.count > 100
        bad = {
            "it is 'tool0', and was 'base_link' just now": cloud(wall(), "tool0"),
            "fields: z has to be there once": cloud(wall()),
            "fields: y has to be there once": cloud(wall()),
            "fields: z ends beyond point_step, 8": cloud(NOTHING),
            "bytes are not 1 rows of": cloud(wall()),
            "bytes are not 2 rows of": cloud(wall()),
            "600000 points are more than 500000": cloud(NOTHING),
            "the stamp is too old": cloud(wall()),
            "the stamp lies in the future": cloud(wall()),
        }
        messages = list(bad.values())
        messages[1].fields = messages[1].fields[:2]
        messages[2].fields[1].datatype = 5
        messages[3].point_step = 8
        messages[4].data = messages[4].data[:-1]
        messages[5].height = 2
        messages[6].width, messages[6].point_step = 600_000, 0
        messages[7].header.stamp.sec = robot.stamp().sec - 5
        messages[8].header.stamp.sec = robot.stamp().sec + 5
        for text, message in bad.items():
            robot.run(0.05)
            since = len(robot.log)
            client.publish("/points", message)
            words = last_words(robot, since)
            assert "points: refused: 'points': " in words
            assert text in words
            assert robot.node.world.state.sights["points"] is before
        since = len(robot.log)
        client._topics["/points"](bytes(world_server.MOST_CLOUD_BYTES + 1))
        assert "40000001 bytes are more than 40000000" in last_words(robot, since)
        robot.run(1.1)  # those in another frame are taken once the last one is old
        since = len(robot.log)
        client.publish("/points", cloud(wall(), "nowhere"))
        assert "there is no transform of 'nowhere'" in last_words(robot, since)


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"kind": "<f8", "offsets": (8, 24, 16), "step": 40},
        {"kind": ">f4"},
        {"kind": ">f8", "offsets": (0, 8, 16), "step": 24, "rows": 4},
        {"rows": 8},
    ],
)
def test_clouds_of_all_forms_are_the_same(form):
    with watched() as (robot, client, _):
        points = np.append(wall().astype("f4")[:318], [[np.nan] * 3, [0.7, np.inf, 0.2]], axis=0)
        client.publish("/points", cloud(points, **form))
        found = points_of(robot)
        client.publish("/points", cloud(wall().astype("f4")[:318]))
        wanted = points_of(robot)
        assert found.count > 100
        assert np.array_equal(found.tree, wanted.tree)


def test_rows_of_an_image_may_be_longer_than_their_points():
    with watched() as (robot, client, _):
        message = cloud(wall()[:4])
        rows = np.frombuffer(message.data, np.uint8).reshape(2, -1)
        message.height, message.width, message.row_step = 2, 2, rows.shape[1] + 4
        message.data = type(message.data)("B", np.pad(rows, ((0, 0), (0, 4))).tobytes())
        client.publish("/points", message)
        assert points_of(robot).count == 4


def test_points_are_where_the_sensor_was_and_what_is_far_is_left_out():
    with watched("-p", "max_velocity_scaling_factor:=0.3") as (robot, client, camera):
        robot.place("tool0", "camera", at(0.0, 0.05, 0.0))  # it hangs on the arm
        camera.runs = False
        robot.run(0.01)
        client.publish("/points", cloud(NOTHING))
        robot.run(1.2)  # so that points of another frame are taken
        client.publish("/points", cloud(NOTHING, "camera"))
        robot.wait_status(state="READY")
        robot.set_off(robot.chain.forward(HOME + TURN), 0.3)
        stamp, there = robot.stamp(), robot.tip()
        robot.run(0.2)
        client.publish("/points", cloud([[0.0, 0.0, 0.4], [0.0, 0.0, 9.0]], "camera", stamp))
        assert np.linalg.norm(robot.tip().translation - there.translation) > 0.02
        (sphere,) = points_of(robot).spheres
        assert sphere[:3] == pytest.approx(there.apply((0.0, 0.05, 0.4)), abs=3e-3)


def test_requests_are_answered_among_points_and_not_without_new_ones():
    with watched(see=wall) as (robot, client, camera):
        request = GetPositionIK.Request()
        wanted = request.ik_request
        wanted.group_name, wanted.avoid_collisions = robot.chain.tip, True
        wanted.pose_stamped.header.frame_id = "base_link"
        wanted.pose_stamped.pose = pose_message(at(0.25) @ robot.tip())
        answer = client.ask(client.ik, request).error_code
        assert answer.val == MoveItErrorCodes.NO_IK_SOLUTION
        assert "points" in answer.message
        camera.runs = False
        robot.run(1.2)
        answer = client.ask(client.ik, request).error_code
        assert answer.val == MoveItErrorCodes.COLLISION_CHECKING_UNAVAILABLE
        assert "no cloud has come on /points" in answer.message


def test_points_from_the_future_do_not_count_for_ever():
    """Such are they after a jump of the clock."""
    with watched() as (robot, _, camera):
        camera.runs, world = False, robot.node.world
        later = world.state.sights["points"]
        world.see("points", later._replace(time=later.time + 10**12))
        robot.run(0.1)
        assert robot.statuses[-1]["state"] == "WAITING"


def test_without_objects_only_points_are_listened_to():
    robot = Robot(*WORDS, "-p", "planning_scene:=ignore")
    try:
        robot.wait_status(state="WAITING")
        plug_ins = robot.node._robot._plug_ins
        (server,) = (each for each in plug_ins if isinstance(each, world_server.WorldServer))
        assert [each.topic_name for each in server.node.subscriptions] == ["/points"]
        names = [each.srv_name for each in server.node.services]
        assert not any("planning_scene" in name for name in names)
    finally:
        robot.end()


def arm_at(model, side):
    """Return what a reader of clouds asks an arm, which is at rest."""
    chain = model.chain(f"{side}_base_link", f"{side}_tool0")
    q = HOME if side == "left" else HOME + TURN
    return SimpleNamespace(
        model=model, chain=chain, other_joints=(), pipeline=SimpleNamespace(scene=None),
        others=SimpleNamespace(positions=lambda: np.empty(0)),
        measured=SimpleNamespace(positions=lambda: q),
    )  # fmt: skip


def test_of_two_arms_both_are_the_robot_and_both_reach():
    model = RobotModel.example("two_arms")
    arms = [arm_at(model, side) for side in ("left", "right")]
    frames = RobotFrames(model, arms, FrameBuffer(), lambda: 10**9, lambda: 2.0)
    scenes = Scenes(model, World(model.links), frames, '<robot name="two_arms"/>')
    parameters = {
        "point_cloud_max_age": 1.0, "target_max_future": 0.1, "point_cloud_resolution": 0.02,
        "point_cloud_padding": 0.01,
    }  # fmt: skip
    reader, lookup = CloudReader(arms, scenes, parameters), frames.lookup(model.root)
    own = [lookup(f"{side}_{link}").translation for side in ("left", "right")
           for link in ("wrist_1_link", "wrist_3_link", "forearm_link")]  # fmt: skip
    bases = [lookup(f"{side}_base_link").translation for side in ("left", "right")]
    aside = (bases[1] - bases[0]) / np.linalg.norm(bases[1] - bases[0])
    near = [bases[0] - 1.2 * aside, bases[1] + 1.2 * aside]
    far = [bases[0] - 2.0 * aside, bases[1] + 2.0 * aside]
    found = reader.read(cloud([*own, *near, *far], model.root), None).cloud
    assert sorted(found.spheres[:, :3].tolist()) == pytest.approx(
        np.array(sorted(np.array(near).tolist())), abs=1e-6
    )


def test_a_gantry_without_end_sees_all_but_what_is_absurdly_far():
    with watched() as (robot, client, camera):
        camera.runs = False
        reader = client.server._clouds
        reader._followed[0].scene.reach = lambda: np.array([0.0, 0.0, 0.0, np.inf])
        client.publish("/points", cloud([[0.0, 0.0, 900.0], [0.0, 0.0, 1e30], [5.0, 0.0, 0.0]]))
        assert points_of(robot).count == 2


def test_a_message_of_an_object_cannot_take_the_points_name():
    with watched(see=wall) as (robot, client, _):
        since = len(robot.log)
        client.put(thing("points"))
        assert "a cloud of points has this name" in last_words(robot, since)
        assert client.objects() == {}, "nor are they among the scene's objects"
