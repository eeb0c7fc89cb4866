# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The page of web_view in a real browser, without a screen: drawn in software."""

import os
import re
import signal
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from shutil import which

import chromium as chromiums
import numpy as np
import pytest
import rclpy
import yaml
from chromium import SCENE, find_chromium, open_chromium
from control_msgs.action import GripperCommand
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Pose, PoseStamped, TwistStamped
from gripper_stand_in import Controller
from moveit_msgs.msg import CollisionObject
from PIL import Image
from playwright.sync_api import expect
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage
from tf2_ros import Buffer, TransformException, TransformListener
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerUpdate,
    Marker,
    MarkerArray,
    MenuEntry,
)

from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import scene
from basis_ik.ros.convert import transform_message, transform_value
from basis_ik.transforms.rigid import RigidTransform

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
PATIENCE = 300.0  # s: only ends what hangs
expect.set_options(timeout=1e3 * PATIENCE)
SIZE = {"width": 640, "height": 480}
# Pages draw few pictures a second, not as many as they can: they are drawn in software.
FEW = "window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), %g);"
SLOW, QUICK = 500.0, 50.0  # ms between two pictures; quick where next to nothing is drawn
# What is drawn, small; `kept` is what it is compared with.
PICTURES = (
    f"const SCENE = '{SCENE}';"
    + """
const flat = new OffscreenCanvas(160, 120).getContext("2d", {willReadFrequently: true});
window.kept = new Uint8Array(4 * 160 * 120);
window.picture = () => {
  flat.drawImage(document.querySelector(SCENE), 0, 0, 160, 120);
  return flat.getImageData(0, 0, 160, 120).data;
};
window.changes = () => {
  const now = picture();
  let count = 0;
  for (let i = 0; i < now.length; i += 4)
    count += [0, 1, 2].some((k) => Math.abs(now[i + k] - window.kept[i + k]) > 24);
  return count;
};
"""
)
# Two pictures later what was done before is drawn.
DRAWN = "() => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)))"
KEEP = "window.kept = picture()"
CHANGED = "changes() > 40"
STILL = "() => { const same = !changes(); window.kept = picture(); return same; }"

# No visuals: lines. And a mesh that is there, and one that is not.
BARE = """<robot name="bare"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="ab" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint>
  <joint name="bc" type="fixed"><parent link="b"/><child link="c"/><origin xyz="0.5 0 0"/></joint>
</robot>"""
MESHES = """<robot name="meshes"><link name="a"/>
  <link name="b">
    <visual><geometry><mesh filename="file://{folder}/ball.stl" scale="2 2 2"/></geometry></visual>
    <visual><geometry><mesh filename="package://no_such_package/x.dae"/></geometry></visual>
  </link>
  <joint name="ab" type="prismatic"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    try:
        with open_chromium(tmp_path_factory.mktemp("chromium")) as browser:
            yield browser
    except LookupError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def open_page(chromium):
    """Open a page in a new browser window."""
    errors = []

    def open_page(url, size=SIZE, pause=SLOW):
        page = chromium.new_context(viewport=size).new_page()
        page.set_default_timeout(1e3 * PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(FEW % pause + PICTURES)
        page.goto(url)
        page.locator(SCENE).wait_for()
        return page

    yield open_page
    for context in chromium.contexts:
        context.close()
    assert errors == []


@pytest.fixture(autouse=True)
def screenshots(chromium, request):
    """Keep a picture of what pages show at the end."""
    yield
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "_", request.node.name)
    for number, page in enumerate(page for each in chromium.contexts for page in each.pages):
        page.screenshot(path=SCREENSHOTS / f"{name}_{number}.png")


class Started:
    """A program or launch in a ROS domain, and its output."""

    def __init__(self, folder, domain, *command):
        self._log = folder / "log"
        own = {
            "ROS_DOMAIN_ID": str(domain),
            "PYTHONUNBUFFERED": "1",
            "DISPLAY": "",
            "WAYLAND_DISPLAY": "",
        }
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env=os.environ | own
            )

    def wait_for(self, pattern):
        """Wait for a line of its output; return the match."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.said())):
            assert self._process.poll() is None, self.said()
            assert time.monotonic() < end, self.said()
            time.sleep(0.05)
        return found

    def said(self):
        return self._log.read_text()

    def url(self):
        return self.wait_for(r"web view: (http://\S+)")[1]

    def end(self):
        """Return its exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE)


def program(name):
    return sys.executable, "-m", "basis_ik.programs", name


class Peer:
    """A node of the test's own in a domain; it lives in this thread alone."""

    status = None  # of an arm, if it is heard

    def __init__(self, domain):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node(type(self).__name__.lower(), context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)

    def spin(self, seconds):
        """Handle messages for a moment."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=left)

    def wait_for(self, condition):
        """Handle messages until a condition holds; return its value."""
        end = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert time.monotonic() < end, self.status
            self.spin(0.05)
        return found

    def close(self):
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


# Robots that the test itself publishes -----------------------------------------------------------


def describe(name, folder):
    """Return the URDF of a robot, shipped or of this test's own."""
    if (shipped := ROOT / "urdf" / f"{name}.urdf").exists():
        return shipped.read_text()
    ball = "solid\n" + "".join(
        f"facet normal 0 0 0\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n"
        for a, b, c in (
            ("0 0 0", "0.1 0 0", "0 0.1 0"), ("0 0 0", "0 0 0.2", "0.1 0 0"),
            ("0 0 0", "0 0.1 0", "0 0 0.2"), ("0.1 0 0", "0 0 0.2", "0 0.1 0"),
        )
    )  # fmt: skip
    (folder / "ball.stl").write_text(ball + "endsolid\n")
    return {"bare": BARE, "meshes": MESHES.format(folder=folder)}[name]


class Showroom(Peer):
    """Successive robots: their descriptions, and their links' frames."""

    def __init__(self, domain):
        super().__init__(domain)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._descriptions = self.node.create_publisher(String, "robot_description", latched)
        self._transforms = self.node.create_publisher(TFMessage, "/tf", 10)

    def show(self, text):
        self.wait_for(self._transforms.get_subscription_count)
        self._descriptions.publish(String(data=text))
        self._model = RobotModel.from_urdf(text)

    def pose(self, position):
        """Publish the links' frames with all joints at a position."""
        joints = self._model.joints.values()
        free = [each for each in joints if each.moves and each.mimic is None and not each.fault]
        tree = scene(self._model, {joint.name: position for joint in free})
        stamp, message = self.node.get_clock().now().to_msg(), TFMessage()
        for joint in joints:
            place = tree.lookup(joint.parent, joint.child)
            message.transforms.append(transform_message(joint.parent, joint.child, place, stamp))
        self._transforms.publish(message)


def test_a_robot_takes_the_place_of_the_one_before_and_moves(open_page, own_domain, tmp_path):
    started = Started(tmp_path, own_domain, *program("web_view"))
    page = open_page(started.url())
    expect(page.get_by_text("no robot_description yet")).to_be_visible()
    showroom = Showroom(own_domain)
    for name in ("two_arms", "bare", "meshes"):
        page.evaluate(KEEP)
        showroom.show(describe(name, tmp_path))
        showroom.pose(0.0)
        page.wait_for_function(CHANGED)
        for position in (0.6, 0.0):
            page.wait_for_function(STILL, polling=2.0 * SLOW)
            showroom.pose(position)
            page.wait_for_function(CHANGED)
    expect(page.get_by_text("no robot_description yet")).to_be_hidden()
    (missing,) = re.findall(r".*no_such_package.*", started.said())
    assert "is not shown: there is no such file" in missing
    page.context.close()
    showroom.close()
    assert started.end() == 0, started.said()


BUTTONS = """() => Object.fromEntries([...document.querySelectorAll("button")]
    .filter((each) => each.offsetParent && each.innerText)
    .map((each) => [each.innerText, Object.values(each.getBoundingClientRect().toJSON())]))"""
SETTLED = f"""() => {{
  const before = window.placed;
  window.placed = JSON.stringify(({BUTTONS})());
  return window.placed === before;
}}"""
PHONE = {"width": 390, "height": 844}


class Pretender(Showroom):
    """Topics of arms without arms, and a ball in a frame of its own."""

    def __init__(self, domain):
        super().__init__(domain)
        self._handles = {}

    def ball(self):
        """Show a ball of 1 m in a frame on tf, without any robot."""
        self._balls = self.node.create_publisher(MarkerArray, "nodes/markers", 1)
        self.wait_for(self._balls.get_subscription_count)
        self.wait_for(self._transforms.get_subscription_count)
        stamp, place = self.node.get_clock().now().to_msg(), RigidTransform.identity()
        self._transforms.publish(TFMessage(transforms=[transform_message("w", "b", place, stamp)]))
        marker = Marker(type=Marker.SPHERE)
        marker.header.frame_id, marker.color.a = "b", 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = 1.0
        self._balls.publish(MarkerArray(markers=[marker]))

    def arm(self, name):
        """Make an arm's topics; return a function that publishes its message and refusals."""
        self.node.create_subscription(TwistStamped, f"{name}/twist", print, 1)
        publisher = self.node.create_publisher(DiagnosticStatus, f"{name}/status", 10)

        def publish(message, refusals=0):
            self.wait_for(publisher.get_subscription_count)
            values = [KeyValue(key=f"last_refusal.{n}", value=20 * "NaN ") for n in range(refusals)]
            tip = f"{name}: c"
            publisher.publish(DiagnosticStatus(name=tip, message=message, values=values))

        return publish, lambda: self.node.destroy_publisher(publisher)

    def menu(self, name, *titles):
        """Publish the handle of an arm with a menu."""
        if name not in self._handles:
            root, marker = self.node.create_publisher(MarkerArray, f"{name}/markers", 1), Marker()
            marker.header.frame_id = "a"
            self.wait_for(root.get_subscription_count)
            root.publish(MarkerArray(markers=[marker]))
            self._handles[name] = self.node.create_publisher(
                InteractiveMarkerUpdate, f"{name}/target/update", 1
            )
        self.wait_for(self._handles[name].get_subscription_count)
        handle = InteractiveMarker(name="handle")
        handle.header.frame_id = "a"
        handle.menu_entries = [MenuEntry(id=n, title=t) for n, t in enumerate(titles)]
        self._handles[name].publish(InteractiveMarkerUpdate(type=1, markers=[handle]))


# What is seen and pressed at a place.
AT = """([x, y]) => document.elementFromPoint(x, y)?.closest("button")?.innerText"""


def test_nothing_that_moves_an_arm_changes_its_place(open_page, own_domain, tmp_path):
    started = Started(tmp_path, own_domain, *program("web_view"))
    pages = [open_page(started.url(), each, QUICK) for each in (SIZE, PHONE)]
    peer = Pretender(own_domain)
    page, places = pages[0], [{}, {}]
    hint = page.get_by_text("no robot_description yet")
    expect(hint).to_be_visible()
    page.evaluate(KEEP)
    peer.ball()
    page.wait_for_function(CHANGED)  # frames without a robot are shown
    expect(hint).to_be_hidden()
    assert "stop" not in page.evaluate(BUTTONS)

    def check(*more):
        for each, before in zip(pages, places, strict=True):
            each.wait_for_function(SETTLED, polling=200)
            now = each.evaluate(BUTTONS)
            assert {"enable", *more} <= now.keys(), now
            moved = {one: (at, before[one]) for one, at in now.items() if before.get(one, at) != at}
            assert not moved
            before.update(now)

    def says(publish, message, *more, **refusals):
        publish(message, **refusals)
        for each in pages:
            expect(each.get_by_text(message)).to_be_visible()
        check(*more)

    def choose(tab):
        for each in pages:
            each.get_by_role("tab", name=tab).locator("visible=true").click()

    left, leave = peer.arm("left")
    says(left, "short", "stop", "move +z", "turn −z")
    expect(hint).to_be_visible()
    says(left, "a long text " * 20, "stop", refusals=8)
    peer.show(describe("bare", tmp_path))
    expect(hint).to_be_hidden()
    says(left, "a robot", "stop", "move +z")
    right, _ = peer.arm("right")
    for each in pages:
        expect(each.get_by_role("tab", name="right")).to_be_visible()
        expect(each.get_by_role("button", name="stop right")).to_be_visible()
    for each, before in zip(pages, places, strict=True):  # where a stop was, one is
        x, y, width, height = before.pop("stop")[:4]
        there = {each.evaluate(AT, [x + f * width, y + 0.5 * height]) for f in (0.05, 0.6, 0.95)}
        assert there == {"stop all arms", "stop left", "stop right"}
    says(left, "a long text " * 20, "stop all arms", "move +z", refusals=8)
    choose("handle")
    peer.menu("left", "[x] pose", "[ ] point", "bring back", "stop", "home")
    says(left, "with a menu", "pose", "bring back", "home")
    peer.menu("left", "[ ] pose", "[x] point", "other")
    for each in pages:
        for name in ("bring back", "home", "enable"):
            expect(each.get_by_role("button", name=name)).to_be_disabled()
    check("pose", "bring back", "other", "home")
    choose("jog")
    leave()
    expect(page.get_by_text("no status of this arm").first).to_be_visible()
    check("move +z")
    choose("right")
    says(right, "the other", "move +z")  # where the first one's were
    phone, height = pages[1], PHONE["height"]
    phone.mouse.move(0.5 * PHONE["width"], 0.8 * height)
    phone.mouse.wheel(0.0, height)
    phone.wait_for_function("""() => document.querySelector(".ik-page").getBoundingClientRect().y
        < document.querySelector("canvas[data-engine]").getBoundingClientRect().bottom""")
    sheet = phone.locator(SCENE).bounding_box()["height"]
    for name in ("all arms", "left", "right"):
        _, y, _, high = phone.evaluate(BUTTONS)[f"stop {name}"][:4]
        assert sheet <= y <= height - high, "on the sheet, below the scene, which it does not hide"
    for each in pages:
        each.context.close()
    peer.close()
    assert started.end() == 0, started.said()


# An arm ----------------------------------------------------------------------------------------

HOME = (0.35, 0.25, 0.45)  # m: where the tests begin
FAR = (-0.35, -0.45, 0.35)
OUT = (1.5, 0.0, 0.3)
# https://github.com/viser-project/viser: the first axis of a gizmo is painted so, and so what is
# below the mouse.
PINK = np.array([255, 32, 96])
YELLOW = np.array([229, 226, 127])


# As the demo, but nothing that comes late ends a motion: a browser may take all of the processor.
LAUNCH = """
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

PATIENT = {
    "update_rate": 50.0,
    "joint_state_timeout": 10.0,
    "target_max_age": 1000.0,
    "incoming_command_timeout": 5.0,
    "tracking_lag": 5.0,
    "tracking_margin": 10.0,
    "max_velocity_scaling_factor": 1.0,
    "max_acceleration_scaling_factor": 1.0,
    "gripper.interface": "gripper_command",
}


def description():
    share = Path(get_package_share_directory("basis_ik"))
    described = {"robot_description": (share / "urdf" / "ur5e.urdf").read_text()}
    name, start = "joint_trajectory_controller", str(share / "config" / "demo_ur5e.yaml")
    page = PythonLaunchDescriptionSource(str(share / "launch" / "web_view.launch.py"))
    publisher = "robot_state_publisher"
    return LaunchDescription(
        [
            Node(package=publisher, executable=publisher, parameters=[described]),
            Node(
                package="basis_ik",
                executable="simulated_arm",
                name=name,
                parameters=[described, start, {"publish_rate": 50.0}],
                remappings=[("~/controller_state", "not_heard")],
            ),
            Node(
                package="basis_ik",
                executable="ik_node",
                name="basis_ik",
                output="screen",
                parameters=[PATIENT],
            ),
            IncludeLaunchDescription(page),
        ]
    )


service = LaunchService(noninteractive=True)
service.include_launch_description(description())
raise SystemExit(service.run())
"""


class Arm(Peer):
    """The arm that the page shows, through ROS."""

    def __init__(self, domain):
        super().__init__(domain)
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self.node)
        self._targets = self.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self._overrides = self.node.create_publisher(Float64, "basis_ik/speed_override", 1)
        self._enable = self.node.create_client(SetBool, "basis_ik/enable")
        self.status, self._state = {}, JointState()
        self.node.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)
        self.node.create_subscription(JointState, "joint_states", self._on_joints, 1)

    def _on_status(self, message):
        self.status = {pair.key: pair.value for pair in message.values}

    def _on_joints(self, message):
        self._state = message

    def positions(self):
        return np.array(self._state.position)

    def pose(self):
        """Return the tool's pose, or None."""
        try:
            found = self._buffer.lookup_transform("base_link", "tool0", Time())
        except TransformException:
            return None
        return transform_value(found.transform)

    def tip(self):
        """Return the tool's position [m], or None."""
        return None if (pose := self.pose()) is None else pose.translation.copy()

    def is_at(self, xyz):
        """Return whether the tool is at a position; not if tf does not tell yet."""
        return (tip := self.tip()) is not None and np.linalg.norm(tip - xyz) < 2e-3

    def send(self, xyz):
        """Send a pose; return its stamp as the status has it."""
        self.wait_for(self._targets.get_subscription_count)
        target = PoseStamped()
        target.header.frame_id = "base_link"
        target.header.stamp = stamp = self.node.get_clock().now().to_msg()
        p = target.pose.position
        p.x, p.y, p.z = xyz
        target.pose.orientation.x, target.pose.orientation.w = 1.0, 0.0
        self._targets.publish(target)
        return f"{stamp.sec}.{stamp.nanosec:09}"

    def wait_status(self, **wanted):
        self.wait_for(lambda: wanted.items() <= self.status.items())

    def set_speed(self, fraction):
        """Slow all motions down, so that a slow browser is in time, or undo it."""
        self.wait_for(self._overrides.get_subscription_count)
        self._overrides.publish(Float64(data=fraction))
        self.wait_status(speed_override=f"{fraction:g}")

    def is_at_rest(self):
        return len(self._state.velocity) > 0 and not np.any(self._state.velocity)

    def go(self, xyz):
        """Send the arm to a pose once targets are taken, and wait until it is there.

        A test that has failed may have left it stopped.
        """
        self.wait_for(self._enable.service_is_ready)
        self.wait_for(self._enable.call_async(SetBool.Request(data=True)).done)
        self.wait_for(lambda: self.status.get("state") in ("READY", "MOVING", "HOLDING", "ARRIVED"))
        self.set_speed(1.0)
        self.arrives(self.send(xyz))
        self.wait_for(lambda: self.is_at(xyz))
        self.wait_for(self.is_at_rest)

    def arrives(self, stamp):
        """Wait until the arm has arrived at what was sent with a stamp."""
        self.wait_status(state="ARRIVED", target_stamp=stamp)

    def depart(self, xyz):
        """Send the arm slowly to a pose, and wait until it is on its way; return the stamp."""
        start = self.tip()
        self.set_speed(0.01)
        stamp = self.send(xyz)
        self.wait_for(lambda: np.linalg.norm(self.tip() - start) > 0.005)
        return stamp


@pytest.fixture(scope="module")
def demo(domain, tmp_path_factory):
    """The page, with an arm."""
    started = Started(tmp_path_factory.mktemp("demo"), domain, sys.executable, "-c", LAUNCH)
    yield started
    assert started.end() == 0, started.said()


@pytest.fixture(scope="module")
def demo_arm(demo, domain):
    arm = Arm(domain)
    demo.wait_for("ready: ur5e")
    yield arm
    arm.close()


@pytest.fixture
def arm(demo_arm):
    demo_arm.go(HOME)
    return demo_arm


@pytest.fixture(scope="module")
def page(demo, open_page):
    """The page, completely drawn."""
    page = open_page(demo.url())
    page.get_by_role("tab", name="handle").click()
    expect(page.get_by_text("bring it back to the tip")).to_be_visible()
    return page


@pytest.fixture(scope="module")
def other_page(demo, open_page):
    """The page in another browser, which the last of its tests closes: a start takes seconds."""
    return open_page(demo.url())


def test_without_a_display_the_demo_prints_the_address(own_domain, tmp_path):
    words = "launch", "basis_ik", "demo.launch.py", "targets:=false", "view:=true"
    started = Started(tmp_path, own_domain, which("ros2"), *words)
    started.wait_for("there is no display here: open the address above in a browser")
    assert started.url()
    assert started.end() == 0, started.said()


def end_input(page, arm):
    """Let all that a page has sent take effect: it would replace the next test's target."""
    page.get_by_role("button", name="stop", exact=True).click()  # it comes after the rest
    arm.wait_status(state="STOPPED")
    page.get_by_role("button", name="enable", exact=True).click()
    arm.wait_status(state="READY")


def test_a_gizmo_that_is_dragged_moves_the_arm(page, arm):
    def pixels():
        """Return the colours of the scene, and its first pixel's place in the page."""
        canvas = page.locator(SCENE)
        box = canvas.bounding_box()
        picture = Image.open(BytesIO(canvas.screenshot())).convert("RGB")
        return np.asarray(picture, int), np.array([box["x"], box["y"]])

    def like(colours, colour):
        """Return the first pixels of the squares, 7 by 7, that have mostly one colour, (n, 2)."""
        near = (np.abs(colours - colour).max(axis=2) < 60).astype(float)
        squares = np.lib.stride_tricks.sliding_window_view(near, (7, 7))
        return np.argwhere(squares.sum(axis=(2, 3)) > 25)

    def hover():
        """Move the mouse onto the plane across the first axis; return where, if it lights up.

        A ring may be in front of a part of it, which then lights up alone: a line.
        """
        colours, origin = pixels()
        if not len(found := like(colours, PINK)):
            return None
        first = rng.choice(found)
        place = tuple(map(float, origin + first[::-1] + 3))
        page.mouse.move(*place)
        page.evaluate(DRAWN)
        is_lit = first.tolist() in like(pixels()[0], YELLOW).tolist()
        return place if is_lit else None

    before, rng = arm.tip(), np.random.default_rng(0)
    stamp = arm.status["target_stamp"]
    page.get_by_text("bring it back to the tip").click()
    arm.wait_for(lambda: arm.status.get("target_stamp") not in (None, stamp))
    x, y = arm.wait_for(hover)
    page.mouse.down()
    page.mouse.move(x - 40, y - 50, steps=6)
    page.mouse.up()
    arm.wait_for(lambda: np.linalg.norm(arm.tip() - before) > 0.01)
    arm.wait_status(state="ARRIVED", verdict="REACHED")
    expect(page.get_by_text("reached", exact=True)).to_be_visible()
    end_input(page, arm)


def test_a_verdict_that_changes_is_read_on_the_page(page, arm):
    page.evaluate(KEEP)
    arm.send(OUT)
    page.wait_for_function(CHANGED)  # the arm is drawn where it is now
    expect(page.get_by_text("too far by").first).to_be_visible()
    arm.send(HOME)
    expect(page.get_by_text("reached", exact=True)).to_be_visible()


def test_an_object_of_the_planning_scene_is_shown_while_it_is_there(page, arm):
    objects = arm.node.create_publisher(CollisionObject, "collision_object", 10)
    arm.wait_for(objects.get_subscription_count)
    box = CollisionObject(id="box", operation=CollisionObject.ADD)
    box.header.frame_id = "base_link"
    box.pose.position.x, box.pose.position.z, box.pose.orientation.w = -0.4, 0.5, 1.0
    box.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.3, 0.3, 0.3])]
    box.primitive_poses = [Pose()]
    for operation in (CollisionObject.ADD, CollisionObject.REMOVE):
        page.wait_for_function(STILL, polling=2.0 * SLOW)
        box.operation = operation
        objects.publish(box)
        page.wait_for_function(CHANGED)
    arm.node.destroy_publisher(objects)


def test_stop_is_shown_in_two_browsers(page, arm, other_page):
    expect(other_page.get_by_text("reached", exact=True)).to_be_visible()
    arm.depart(FAR)
    page.get_by_role("button", name="stop", exact=True).click()
    for each in (page, other_page):
        expect(each.get_by_text("call ~/enable to continue")).to_be_visible()
    arm.wait_for(arm.is_at_rest)
    assert np.linalg.norm(arm.tip() - FAR) > 0.05
    other_page.get_by_role("button", name="enable", exact=True).click()
    expect(page.get_by_text("no target")).to_be_visible()
    assert arm.is_at_rest()


def test_a_page_reloaded_in_mid_motion_does_not_disturb_the_arm(page, arm):
    stamp = arm.depart(FAR)
    page.reload()
    expect(page.get_by_text("move +z")).to_be_visible()
    arm.set_speed(1.0)
    arm.arrives(stamp)
    expect(page.get_by_text("reached", exact=True)).to_be_visible()


def test_a_slider_moves_its_joint(page, arm):
    page.get_by_role("tab", name="joints").click()
    before = arm.positions()
    slider = page.get_by_role("slider").nth(1)
    box = slider.bounding_box()
    # One click is one value, however late the page is; by 10 pixels: some 0.3 rad.
    page.mouse.click(box["x"] + 0.5 * box["width"] + 10.0, box["y"] + 0.5 * box["height"])

    def is_there():
        moved = np.abs(arm.positions() - before)
        shown = np.radians(float(slider.get_attribute("aria-valuenow")))
        return moved.max() > 0.1 and abs(arm.positions()[moved.argmax()] - shown) < 6e-3

    arm.wait_for(lambda: is_there() and arm.is_at_rest())
    assert np.sort(np.abs(arm.positions() - before))[-2] < 1e-3, "one joint has moved"
    end_input(page, arm)


@pytest.fixture(scope="module")
def controller(demo_arm, domain):
    """The gripper's, for all tests: what is new must be discovered first."""
    controller = Controller(domain, GripperCommand)
    controller.done.set()  # it goes until something holds it
    sends = "gripper_controller/gripper_cmd/_action/send_goal"
    demo_arm.wait_for(lambda: controller.node.count_clients(sends))
    yield controller
    controller.close()


def test_buttons_and_a_slider_open_the_gripper(page, arm, controller):
    page.get_by_role("tab", name="jog").click()
    slider = page.get_by_role("slider").locator("visible=true").last
    for name, position, percent in (("open", 0.04, "100"), ("close", 0.0, "0")):
        arm.wait_for(lambda: arm.status.get("gripper") != "MOVING")
        page.get_by_role("button", name=f"{name} the gripper").click()
        arm.wait_for(
            lambda at=position: [at] == [each.position for each in controller.commands[-1:]]
        )
        arm.wait_status(gripper="STALLED")
        expect(slider).to_have_attribute("aria-valuenow", percent)
    expect(page.get_by_text("something holds it before it is closed")).to_be_visible()
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"] + 30.0, box["y"] + 0.5 * box["height"])
    arm.wait_for(lambda: controller.commands[-1].position > 0.0)
    opening = f"{25.0 * controller.commands[-1].position:g}"
    arm.wait_status(gripper="STALLED", gripper_opening=opening)
    expect(slider).to_have_attribute("aria-valuenow", f"{100.0 * float(opening):g}")


# The page `hand` -------------------------------------------------------------------------------


# A browser on a busy machine is silent for longer than a clutch lasts, and then the arm rests.
LONG = pytest.mark.long


class Fingers:
    """Fingers on the screen of a phone."""

    def __init__(self, page):
        self._devtools = page.context.new_cdp_session(page)
        self._at = []

    def put(self, *places):
        """Put fingers down, or move those that are down; without a place lift all."""
        kind = "touchStart" if len(places) > len(self._at) else "touchMove"
        self._at = list(places)
        points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(places)]
        given = {"type": kind if places else "touchEnd", "touchPoints": points}
        self._devtools.send("Input.dispatchTouchEvent", given)

    def slide(self, *places, steps=10):
        """Move all fingers to other places, bit by bit."""
        begin = np.array(self._at, float)
        for step in range(1, steps + 1):
            at = begin + (np.array(places) - begin) * step / steps
            self.put(*map(tuple, at.tolist()))


@pytest.fixture
def phone(chromium, demo, arm):
    context = chromium.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(1e3 * PATIENCE)
    page.goto(f"{demo.url()}hand")
    expect(page.get_by_text("reached")).to_be_visible()  # it knows the arm
    yield page
    context.close()


def engage(arm, begin):
    """Begin to hold a clutch; return where the tip is when it is engaged."""
    arm.wait_for(lambda: arm.status.get("clutch", "") in ("", "released"))
    begin()
    arm.wait_status(clutch="engaged")
    return arm.pose()


@LONG
def test_a_phone_leads_the_arm_by_touch(phone, arm):
    fingers = Fingers(phone)
    before = engage(arm, lambda: fingers.put((100, 400)))
    fingers.slide((200, 340))  # to the right, and up: seen from behind the arm
    there = before.translation + np.array([0.0, -0.05, 0.03])
    arm.wait_for(lambda: arm.is_at(there))
    fingers.put((200, 340), (100, 340))
    fingers.slide((250, 340), (50, 340))  # spread: nearer to who is behind it
    there = there - [0.05, 0.0, 0.0]
    arm.wait_for(lambda: arm.is_at(there))
    fingers.slide((250, 390), (50, 390))  # both down: about the view's x, which is -y
    turned = RigidTransform.from_rpy(0.0, -0.3, 0.0).rotation @ before.rotation
    arm.wait_for(lambda: np.allclose(arm.pose().rotation, turned, rtol=0.0, atol=5e-3))
    assert arm.is_at(there)
    fingers.put()
    arm.wait_status(clutch="released")
    arm.wait_for(arm.is_at_rest)
    assert arm.is_at(there)
    fingers.put((300, 600))
    arm.wait_status(clutch="engaged")
    assert arm.is_at(there), "engaging moves nothing"
    phone.get_by_role("button", name="stop").dispatch_event("pointerdown")  # another finger's
    arm.wait_status(state="STOPPED")
    fingers.slide((100, 400))
    fingers.put()
    arm.wait_status(clutch="released")
    phone.get_by_role("button", name="enable").tap()
    arm.wait_status(state="READY")
    assert arm.is_at(there)


@LONG
def test_an_arm_that_a_phone_leads_rests_when_the_phone_goes_away(phone, arm):
    fingers = Fingers(phone)
    engage(arm, lambda: fingers.put((200, 400)))
    phone.close()
    arm.wait_status(clutch="released")
    arm.wait_for(arm.is_at_rest)


@LONG
def test_the_pad_in_the_page_moves_the_tip_as_it_is_seen(page, arm):
    page.get_by_role("tab", name="hand", exact=True).click()
    pad = page.frame_locator("iframe").locator("#pad")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    x, y = box["x"] + 40.0, box["y"] + 0.5 * box["height"]
    page.mouse.move(x, y)
    before = engage(arm, page.mouse.down)
    right = np.array([-0.5, 0.5, 0.0]) * np.sqrt(2.0)  # from where the camera begins
    for n in range(1, 6):  # small steps: a browser that is late makes one of several
        page.mouse.move(x + 20.0 * n, y)
        there = before.translation + 0.01 * n * right
        arm.wait_for(lambda there=there: arm.is_at(there))
    page.mouse.up()
    arm.wait_status(clutch="released")
    end_input(page, arm)


# What a headset gives to a page, as far as ours asks for it: https://www.w3.org/TR/webxr/
HEADSET = """
const grip = {}, source = {handedness: "right", gripSpace: grip};
window.device = {position: {x: 0.0, y: 1.2, z: -0.3}, emulated: false, orientation:
  {x: 0.0, y: 0.0, z: 0.0, w: 1.0}};
window.origin = new EventTarget();
const frame = {getPose: (space, from) => space === grip && from === window.origin &&
  {transform: device, emulatedPosition: device.emulated}};
class Session extends EventTarget {
  inputSources = [source];
  visibilityState = "visible";
  renderState = {};
  updateRenderState(state) { this.renderState = state; }
  requestAnimationFrame(draw) { setTimeout(() => draw(performance.now(), frame), 14); }
  async requestReferenceSpace(kind) {
    if (kind !== "local") throw new DOMException("not here", "NotSupportedError");
    return window.origin;
  }
  async end() { this.dispatchEvent(new Event("end")); }
}
window.XRWebGLLayer = class { framebuffer = null };
window.tell = (kind) => window.session.dispatchEvent(
  Object.assign(new Event(kind), {inputSource: source}));
Object.defineProperty(navigator, "xr", {value: {
  isSessionSupported: async (mode) => mode === "immersive-vr",
  requestSession: async () => (window.session = new Session()),
}});
window.glide = async (x, y, z) => {
  for (let n = 0; n < 50; n++) {
    const p = device.position;
    device.position = {x: p.x + x / 50, y: p.y + y / 50, z: p.z + z / 50};
    await new Promise((then) => setTimeout(then, 20));
  }
};
"""


@LONG
def test_a_headsets_controller_leads_the_arm_and_grips(chromium, demo, arm, controller):
    """A device of the test's own: no real headset has been here."""
    context = chromium.new_context(viewport=SIZE)
    context.add_init_script(HEADSET)
    headset = context.new_page()
    headset.set_default_timeout(1e3 * PATIENCE)
    headset.goto(f"{demo.url()}hand")
    expect(headset.get_by_text("reached")).to_be_visible()
    headset.get_by_role("button", name="enter with a headset").click()
    expect(headset.get_by_role("button", name="leave")).to_be_visible()
    before = engage(arm, lambda: headset.evaluate("tell('squeezestart')")).translation
    headset.evaluate("glide(0.05, 0.03, -0.1)")  # right, up and forward
    there = before + np.array([0.1, -0.05, 0.03])
    arm.wait_for(lambda: arm.is_at(there))
    # What is no motion of the hand: another origin, and a place that is only guessed.
    headset.evaluate("origin.dispatchEvent(new Event('reset')); device.position.x += 0.02")
    headset.evaluate("device.emulated = true; glide(0.0, 0.0, 0.05)")
    headset.evaluate("device.position.z -= 0.05; device.emulated = false; glide(0.0, -0.03, 0.0)")
    there = there - [0.0, 0.0, 0.03]
    arm.wait_for(lambda: arm.is_at(there))
    is_closed = float(arm.status["gripper_opening"]) <= 0.5  # by the test before
    for position in (0.04, 0.0) if is_closed else (0.0, 0.04):
        headset.evaluate("tell('selectstart'); tell('selectend')")
        arm.wait_for(lambda at=position: controller.commands[-1:] and
                     controller.commands[-1].position == at)  # fmt: skip
        arm.wait_status(gripper="STALLED", gripper_opening=f"{25.0 * position:g}")
        opening = 25.0 * position  # which the page must know before the next pull
        arm.wait_for(lambda at=opening: headset.evaluate("arms['/basis_ik'].open") == at)
    headset.evaluate("tell('squeezeend')")
    arm.wait_status(clutch="released")
    headset.evaluate("glide(0.0, 0.1, 0.0)")
    assert arm.is_at(there)
    engage(arm, lambda: headset.evaluate("tell('squeezestart')"))
    headset.get_by_role("button", name="leave").click()
    arm.wait_status(clutch="released")
    expect(headset.get_by_role("button", name="enter with a headset")).to_be_visible()
    context.close()


def test_an_arm_that_is_jogged_stops_when_its_browser_goes_away(arm, demo, other_page):
    other_page.get_by_role("button", name="move +z").hover()
    other_page.mouse.down()
    arm.wait_for(lambda: arm.tip()[2] > HOME[2] + 0.02)
    other_page.context.close()
    arm.wait_for(arm.is_at_rest)
    assert np.allclose(arm.tip()[:2], HOME[:2], atol=2e-3)  # on its line
    demo.wait_for("a browser is gone, . left; what it held is released")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["host:=203.0.113.1", "port:=8099"], "cannot listen on 203.0.113.1, port 8099"),
        (["certificate:=none.pem"], "cannot use the certificate none.pem"),
    ],
)
def test_the_launch_file_says_where_and_how_the_page_listens(arguments, told):
    """By what it cannot do: no host has an address that is reserved for documentation."""
    command = ["ros2", "launch", "basis_ik", "web_view.launch.py", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert told in ended.stdout + ended.stderr


def test_every_launch_file_takes_view():
    """But the two that the others include: RViz itself, and the page itself."""
    files = {path.name: path.read_text() for path in (ROOT / "launch").glob("*.launch.py")}
    lacking = {name for name, text in files.items() if '"view"' not in text}
    assert lacking == {"rviz.launch.py", "web_view.launch.py"}


def test_each_arm_of_a_demo_has_a_home():
    for name in ("demo", "point_head"):
        assert '"home": [' in (ROOT / "launch" / f"{name}.launch.py").read_text()
    arms = yaml.safe_load((ROOT / "config" / "two_arms.yaml").read_text())
    starts = {
        key: list(node["ros__parameters"]["initial_positions"].values())
        for key, node in arms.items()
        if "initial_positions" in node["ros__parameters"]
    }
    for name in ("left", "right"):
        arm = arms["basis_ik"]["ros__parameters"][name]
        assert arm["home"] == starts[arm["controller"]]


def test_without_a_chromium_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(chromiums, "which", lambda name: None)
    with pytest.raises(LookupError, match="Get it:  sudo apt-get install chromium"):
        find_chromium("")
