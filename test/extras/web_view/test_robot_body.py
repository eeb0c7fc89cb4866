# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot on the page: its bodies on the frames of its links, or lines."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import trimesh
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.task import Future
from rclpy.time import Time
from std_msgs.msg import String
from viser_stand_in import Scene

from basis_ik.extras.web_view.frame_nodes import FrameNodes
from basis_ik.extras.web_view.mesh_reader import MeshReader
from basis_ik.extras.web_view.page import _Robot
from basis_ik.extras.web_view.robot_body import RobotBody, extents_of
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import transform_message
from basis_ik.ros.frame_buffer import FrameBuffer
from basis_ik.transforms.rigid import RigidTransform

ROBOT = """<robot name="r"><link name="base"/><link name="arm">{visuals}</link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


class World:
    """A scene, and frames that the test moves."""

    def __init__(self):
        self.scene, self.buffer, self.told = Scene(), FrameBuffer(), []
        self.frames = FrameNodes(self.scene, self.buffer)
        self.frames.fixed = "base"

    def body(self, visuals="", name="r"):
        model = RobotModel.from_urdf(ROBOT.format(visuals=visuals))
        meshes = MeshReader(self.told.append)
        return RobotBody(self.scene, self.frames, meshes, model, name)

    def move(self, *xyz, parent="base", child="arm"):
        place = RigidTransform.from_rpy(0.0, 0.0, np.pi, list(xyz))
        stamp = Time(seconds=100).to_msg()
        self.buffer.set_transform_static(transform_message(parent, child, place, stamp), "test")
        self.frames.update()

    def node(self, kind):
        (found,) = (each for each in self.scene.nodes.values() if each.kind == kind)
        return found


@pytest.fixture
def world():
    return World()


def visual(geometry, color="<color rgba='1 0.5 0 0.5'/>"):
    return f"""<visual><origin xyz="0 0 1" rpy="0 0 3.141592653589793"/>
      <geometry>{geometry}</geometry><material name="">{color}</material></visual>"""


@pytest.mark.parametrize(
    ("geometry", "kind", "given"),
    [
        ("<box size='1 2 3'/>", "box", ((255, 128, 0), (1.0, 2.0, 3.0))),
        ("<cylinder radius='0.5' length='3'/>", "cylinder", (0.5, 3.0, (255, 128, 0))),
        ("<sphere radius='0.5'/>", "icosphere", (0.5, (255, 128, 0))),
    ],
)
def test_bodies_hang_on_the_frames_of_their_links(world, geometry, kind, given):
    world.body(visual(geometry)).update()
    node = world.node(kind)
    assert node.name == "/frames/arm/r_0"
    assert (node.given, node.opacity) == (given, 0.5)
    assert np.allclose(node.position, [0.0, 0.0, 1.0])
    assert np.allclose(np.abs(node.wxyz), [0.0, 0.0, 0.0, 1.0])


def test_a_capsule_is_a_cylinder_and_two_spheres_that_hang_on_it(world):
    body = world.body(visual("<capsule radius='0.5' length='3'/>"))
    body.update()
    assert sorted(world.scene.kinds()) == ["cylinder", "icosphere", "icosphere"]
    body.destroy()
    assert world.scene.kinds() == []


def test_a_mesh_has_the_color_that_the_urdf_states_unless_it_has_its_own(world, tmp_path):
    for suffix in ("stl", "glb"):
        trimesh.creation.box((1, 1, 1)).export(tmp_path / f"box.{suffix}")
        file = f"<mesh filename='file://{tmp_path}/box.{suffix}' scale='1 2 3'/>"
        world.body(visual(file), suffix).update()
    plain, own = world.node("mesh_simple"), world.node("glb")
    assert (plain.color, plain.opacity) == ((255, 128, 0), 0.5)
    assert np.allclose(np.ptp(plain.given[0], axis=0), [1.0, 2.0, 3.0])
    assert own.scale == (1.0, 2.0, 3.0)
    assert world.told == []


def test_one_file_is_read_at_a_time(world, tmp_path):
    for number in (0, 1):
        trimesh.creation.box((1, 1, 1)).export(tmp_path / f"{number}.stl")
    files = [f"<mesh filename='file://{tmp_path}/{number}.stl'/>" for number in (0, 0, 1)]
    body = world.body("".join(visual(each) for each in ["<sphere radius='1'/>", *files]))
    shown = []
    for _ in range(3):
        body.update()
        shown.append(len(world.scene.kinds()))
    assert shown == [2, 4, 4]


def test_a_missing_mesh_is_told_and_the_rest_is_shown(world):
    body = world.body(visual("<mesh filename='/none.stl'/>") + visual("<sphere radius='1'/>"))
    for _ in range(3):
        body.update()
    assert world.scene.kinds() == ["icosphere"]
    (line,) = world.told
    assert line.startswith("mesh '/none.stl' is not shown: ")


@pytest.mark.parametrize(
    "visuals", ["", visual("<mesh filename='/none.stl'/>")], ids=["none", "missing"]
)
def test_a_robot_without_bodies_is_shown_by_lines_that_follow_it(world, visuals):
    body = world.body(visuals)
    for _ in range(3):
        body.update()
    assert world.scene.kinds() == []  # nobody knows yet where it is
    for x in (1.0, 2.0):
        world.move(x, 0.0, 0.0)
        body.update()
        assert np.allclose(world.node("line_segments").given[0], [[[0, 0, 0], [x, 0, 0]]])
    sent = world.scene.sent
    body.update()
    assert world.scene.sent == sent
    body.destroy()
    assert world.scene.kinds() == []


def test_a_robot_that_is_gone_leaves_nothing(world):
    body = world.body(visual("<sphere radius='1'/>") * 2)
    body.update()
    body.destroy()
    body.update()
    assert world.scene.kinds() == []


# Frames ------------------------------------------------------------------------------------------


def test_nodes_are_where_their_frames_are(world):
    path = world.frames.path("arm")
    assert world.frames.path("arm") == path
    node = world.scene.nodes[path]
    assert not node.visible  # nobody knows where it is
    world.move(1.0, 2.0, 3.0)
    assert node.visible
    assert np.allclose(node.position, [1.0, 2.0, 3.0])
    assert np.allclose(np.abs(node.wxyz), [0.0, 0.0, 0.0, 1.0])
    assert np.allclose(world.frames.place("arm").position, node.position)
    world.frames.fixed = "arm"
    world.frames.update()
    assert np.allclose(node.position, 0.0)
    world.frames.fixed = "elsewhere"
    world.frames.update()
    assert not node.visible
    assert world.frames.place("arm") is None
    world.frames.fixed = "base"
    world.frames.update()
    assert node.visible
    assert np.allclose(node.position, [1.0, 2.0, 3.0])


def test_the_scene_is_drawn_in_the_frame_on_top(world):
    assert world.frames.root_of("base") == "base"
    world.move(0.0, 0.0, 1.0, parent="world", child="base")
    world.move(0.0, 0.0, 1.0)
    assert world.frames.root_of("arm") == "world"


def test_frames_in_a_circle_have_some_root(world):
    world.buffer.parents |= {"a": "b", "b": "a"}
    assert world.frames.root_of("a") in ("a", "b")


class Publisher:
    """The node of the page, for one robot whose publisher has parameters."""

    def __init__(self):
        self.asked, self.ready, self.named = [], False, []
        self.destroy_subscription = self.destroy_client = lambda _: None

    def create_subscription(self, _, topic, take, qos):
        self.describe = lambda text: take(String(data=text))

    def get_publishers_info_by_topic(self, _):
        return [SimpleNamespace(node_namespace="/arm1", node_name="robot_state_publisher")]

    def create_client(self, _, name):
        self.named.append(name)
        return self

    def service_is_ready(self):
        return self.ready

    def call_async(self, request):
        self.asked.append((request.names, Future()))
        return self.asked[-1][1]


@pytest.mark.parametrize("leaves", [False, True], ids=["stays", "leaves"])
def test_a_robot_has_the_frame_prefix_of_its_publisher(world, leaves):
    node, server = Publisher(), SimpleNamespace(scene=world.scene)
    robot = _Robot(node, server, world.frames, MeshReader(print), "/arm1/robot_description")
    assert node.named == ["/arm1/robot_state_publisher/get_parameters"]
    robot.update(0.0)
    assert node.asked == []
    node.describe(ROBOT.format(visuals=visual("<sphere radius='1'/>")))
    node.ready = True
    robot.update(1.0)
    robot.update(2.0)
    assert world.node("icosphere").name == "/frames/arm/arm1_robot_description_0"
    ((names, answer),) = node.asked
    assert names == ["frame_prefix"]
    if leaves:
        robot.destroy()
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="arm1/")
    answer.set_result(GetParameters.Response(values=[value]))
    robot.update(3.0)
    if leaves:
        assert world.scene.kinds() == []
    else:
        assert world.node("icosphere").name == "/frames/arm1%2Farm/arm1_robot_description_0"
        assert robot.model.root == "arm1/base"


def test_a_layer_hides_the_robot(world):
    body = world.body(visual("<sphere radius='1'/>"))
    world.frames.hidden = frozenset({"robots"})
    body.update()
    assert not world.node("icosphere").visible
    world.frames.hidden = frozenset()
    body.update()
    assert world.node("icosphere").visible


def test_points_of_a_frame_are_where_that_is(world):
    world.frames.path("arm")
    corner = np.array([[1.0, 0.0, 0.5]])
    assert world.frames.points("arm", corner) is None
    assert world.frames.between("base", "arm") is None
    world.move(1.0, 2.0, 3.0)
    assert np.allclose(world.frames.points("arm", corner), [[0.0, 2.0, 3.5]])
    assert np.allclose(world.frames.between("base", "arm").translation, [1.0, 2.0, 3.0])


def test_a_robot_extends_as_far_as_its_bodies(world):
    bodies = visual("<box size='2 4 6'/>") + visual("<mesh filename='/none.stl'/>")
    ((link, corners),) = extents_of(world.body(bodies).model)
    assert link == "arm"
    assert np.allclose(np.abs(corners).max(axis=0), [1.0, 2.0, 4.0])  # 1 m above the link


def test_axes_of_frames_are_a_layer(world):
    node = world.scene.nodes[world.frames.path("arm")]
    world.frames.update()
    assert not node.show_axes
    world.frames.hidden = frozenset()
    world.frames.update()
    assert node.show_axes


def test_a_robot_beside_its_corrected_bones_is_faded(world):
    body = world.body(visual("<sphere radius='1'/>"))
    for faded, opacity in ((False, 0.5), (True, 0.3), (False, 0.5)):
        world.frames.faded = faded
        body.update()
        assert world.node("icosphere").opacity == opacity


def test_the_corrected_robot_itself_is_not_faded(world):
    body = world.body(visual("<sphere radius='1'/>"))
    body.model = replace(body.model, frame_prefix="ik/")
    world.frames.faded = True
    body.update()
    assert world.node("icosphere").opacity == 0.5
