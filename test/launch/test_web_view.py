# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
from chromium import SCENE, find_chromium, open_chromium
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from PIL import Image
from playwright.sync_api import expect
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage
from tf2_ros import Buffer, TransformException, TransformListener

from basis_ik.robot.robot import RobotModel
from basis_ik.robot.scene import scene
from basis_ik.ros.convert import transform_message

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
PATIENCE = 120.0
expect.set_options(timeout=1e3 * PATIENCE)
SHIPPED = sorted(path.stem for path in (ROOT / "urdf").glob("*.urdf"))
SIZE = {"width": 640, "height": 480}
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

    def open_page(url):
        page = chromium.new_context(viewport=SIZE).new_page()
        page.set_default_timeout(1e3 * PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(PICTURES)
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
    return sys.executable, "-m", "basis_ik.ros.programs", name


class Peer:
    """A node of the test's own in a domain; it lives in this thread alone."""

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
            assert time.monotonic() < end
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


@pytest.fixture(scope="module")
def empty(module_domain, tmp_path_factory):
    """The page without any other node."""
    started = Started(tmp_path_factory.mktemp("empty"), module_domain, *program("web_view"))
    yield started
    assert started.end() == 0, started.said()


@pytest.fixture(scope="module")
def empty_page(empty, open_page):
    page = open_page(empty.url())
    expect(page.get_by_text("no robot_description yet")).to_be_visible()
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def showroom(module_domain):
    showroom = Showroom(module_domain)
    yield showroom
    showroom.close()


@pytest.mark.parametrize("name", [*SHIPPED, "bare", "meshes"])
def test_a_robot_takes_the_place_of_the_one_before_and_moves(
    empty, empty_page, showroom, tmp_path, name
):
    page = empty_page
    page.evaluate(KEEP)
    showroom.show(describe(name, tmp_path))
    showroom.pose(0.0)
    page.wait_for_function(CHANGED)
    for position in (0.6, 0.0):
        page.wait_for_function(STILL, polling=250)
        showroom.pose(position)
        page.wait_for_function(CHANGED)
    expect(page.get_by_text("no robot_description yet")).to_be_hidden()
    if name == "meshes":
        (missing,) = re.findall(r".*no_such_package.*", empty.said())
        assert "is not shown: there is no such file" in missing


# The demo's arm ----------------------------------------------------------------------------------

HOME = (0.35, 0.25, 0.45)  # m: where the tests begin
FAR = (-0.35, -0.45, 0.35)  # as far as takes the arm some seconds
OUT = (1.5, 0.0, 0.3)
# https://github.com/viser-project/viser: the first axis of a gizmo is painted so, and so what is
# below the mouse.
PINK = np.array([255, 32, 96])
YELLOW = np.array([229, 226, 127])


class Arm(Peer):
    """The demo's arm, through ROS."""

    def __init__(self, domain):
        super().__init__(domain)
        self._buffer = Buffer()
        self._listener = TransformListener(self._buffer, self.node)
        self._targets = self.node.create_publisher(PoseStamped, "basis_ik/target_pose", 1)
        self._overrides = self.node.create_publisher(Float64, "basis_ik/speed_override", 1)
        self._enable = self.node.create_client(SetBool, "basis_ik/enable")
        self.state = ""
        self.node.create_subscription(DiagnosticStatus, "basis_ik/status", self._on_status, 10)

    def _on_status(self, message):
        self.state = {pair.key: pair.value for pair in message.values}["state"]

    def tip(self):
        """Return the tool's position [m], or None."""
        try:
            t = self._buffer.lookup_transform("base_link", "tool0", Time()).transform.translation
        except TransformException:
            return None
        return np.array([t.x, t.y, t.z])

    def send(self, xyz):
        target = PoseStamped()
        target.header.frame_id = "base_link"
        p = target.pose.position
        p.x, p.y, p.z = xyz
        target.pose.orientation.x, target.pose.orientation.w = 1.0, 0.0
        self._targets.publish(target)

    def enable(self):
        self.wait_for(self._enable.call_async(SetBool.Request(data=True)).done)

    def send_enabled(self, xyz):
        """Send the arm to a pose; enable one before that has lagged too far on a slow machine."""
        if self.state == "TRACKING_LOST":
            self.enable()
        self.send(xyz)

    def set_speed(self, fraction):
        """Slow all motions down, so that a slow machine is in time, or undo it."""
        self._overrides.publish(Float64(data=fraction))

    def is_at(self, xyz, within=2e-3):
        tip = self.tip()
        return tip is not None and np.linalg.norm(tip - xyz) < within

    def is_at_rest(self):
        before = self.tip()
        self.spin(0.5)
        return before is not None and np.linalg.norm(self.tip() - before) < 1e-4

    def go(self, xyz):
        """Enable the arm, send it to a pose, and wait until the node says that it has arrived."""
        self.wait_for(self._targets.get_subscription_count)
        self.wait_for(self._enable.service_is_ready)
        self.set_speed(0.5)
        self.spin(0.5)  # its present state: those of the last test may still wait

        def arrived():
            if self.is_at(xyz) and self.state == "ARRIVED":
                return True
            # Not under way yet; or no longer, as where a slow machine's arm lags too far behind.
            if self.is_at_rest():
                # It also drops the target: the next one has to come after it.
                self.enable()
                self.state = ""
                self.send(xyz)
            return False

        self.wait_for(arrived)

    def depart(self, xyz):
        """Send the arm from HOME slowly to a pose, and wait until it is on its way.

        The arm of a slow machine may drop a target, because joint states come too late.
        """

        def departed():
            if self.is_at_rest() and self.is_at(HOME, 0.03):
                self.set_speed(0.02)  # so that a slow browser is in time
                self.spin(0.5)
                self.send_enabled(xyz)
            return not self.is_at(HOME, 0.03)

        self.wait_for(departed)

    def send_until_shown(self, xyz, page, text):
        """Send the arm to a pose, until a page shows a text; the arm may drop it, see `depart`."""

        def shown():
            self.send_enabled(xyz)
            self.spin(1.0)
            return page.get_by_text(text).first.is_visible()

        self.wait_for(shown)


@pytest.fixture(scope="module")
def demo(domain, tmp_path_factory):
    """The demo with its page, as `make demo VIEW=1` launches it."""
    command = [
        which("ros2"),
        "launch",
        "basis_ik",
        "demo.launch.py",
        "targets:=false",
        "view:=true",
    ]
    started = Started(tmp_path_factory.mktemp("demo"), domain, *command)
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
    expect(page.get_by_text("bring it back to the tip")).to_be_visible()
    return page


def test_without_a_display_the_address_is_printed(demo):
    demo.wait_for("there is no display here: open the address above in a browser")


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
        arm.spin(0.5)
        is_lit = first.tolist() in like(pixels()[0], YELLOW).tolist()
        return place if is_lit else None

    def drag():
        """Drag the gizmo; return whether the arm has moved and arrived, and is still there."""
        x, y = arm.wait_for(hover)
        page.mouse.down()
        page.mouse.move(x - 40, y - 50, steps=6)
        page.mouse.up()
        for _ in range(40):
            arm.spin(0.5)
            arrived = np.linalg.norm(arm.tip() - before) > 0.01 and arm.state == "ARRIVED"
            if arrived and all(page.get_by_text(words).is_visible() for words in shown):
                break
        return arrived

    def begin_again():
        """Undo what an attempt has left: the arm stopped, the gizmo elsewhere, the view turned."""
        arm.go(HOME)
        page.get_by_text("bring it back to the tip").click()
        arm.spin(2.0)
        page.reload()
        expect(page.get_by_text("ARRIVED: ")).to_be_visible()

    shown = "ARRIVED: ", "verdict: REACHED"
    before, rng = arm.tip(), np.random.default_rng(0)
    page.wait_for_function(STILL, polling=250)
    page.get_by_text("bring it back to the tip").click()
    page.wait_for_function(CHANGED)
    # A slow machine draws the gizmo late, or stops the arm.
    assert drag() or any(begin_again() or drag() for _ in range(3))
    for words in shown:
        expect(page.get_by_text(words)).to_be_visible()


def test_a_verdict_that_changes_is_read_on_the_page(page, arm):
    arm.send_until_shown(OUT, page, "verdict: TOO_FAR")
    arm.send_until_shown(OUT, page, "too far by")
    arm.send_until_shown(HOME, page, "verdict: REACHED")


def test_stop_is_shown_in_two_browsers(page, arm, demo, open_page):
    other = open_page(demo.url())
    arm.send_until_shown(HOME, other, "ARRIVED: ")
    page.evaluate(KEEP)

    def stop():
        """Stop the arm on its way; return whether it has not arrived before, as where pages lag."""
        arm.depart(FAR)
        page.get_by_role("button", name="stop", exact=True).click()
        for each in (page, other):
            expect(each.get_by_text("STOPPED: stopped")).to_be_visible()
        arm.wait_for(arm.is_at_rest)
        return not arm.is_at(FAR, 0.05)

    assert stop() or any(arm.go(HOME) or stop() for _ in range(3))
    page.wait_for_function(CHANGED)  # the arm is drawn where it is now
    other.get_by_role("button", name="enable", exact=True).click()
    expect(page.get_by_text("READY: ")).to_be_visible()
    assert arm.is_at_rest()
    other.context.close()


def test_a_page_reloaded_in_mid_motion_does_not_disturb_the_arm(page, arm):
    arm.depart(FAR)
    page.reload()
    # The handle is back. "bring it back to the tip" is hidden when the arm is TRACKING_LOST, as one
    # of a slow machine is that lags too far behind.
    expect(page.get_by_text("drag the tip's pose")).to_be_visible()
    assert arm.state in ("MOVING", "ARRIVED", "TRACKING_LOST")
    arm.go(FAR)
    expect(page.get_by_text("ARRIVED: ")).to_be_visible()


def test_a_slider_moves_its_joint(page, arm):
    page.get_by_role("tab", name="joints").click()
    before = arm.tip()
    page.get_by_role("slider").nth(1).focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    arm.wait_for(lambda: np.linalg.norm(arm.tip() - before) > 5e-3)
    arm.wait_for(arm.is_at_rest)


def test_an_arm_that_is_jogged_stops_when_its_browser_goes_away(arm, demo, open_page):
    page = open_page(demo.url())
    page.get_by_role("tab", name="jog").click()
    page.get_by_role("button", name="move +z").hover()
    page.mouse.down()
    arm.wait_for(lambda: arm.tip()[2] > HOME[2] + 0.02)
    page.context.close()
    arm.wait_for(arm.is_at_rest)
    assert np.allclose(arm.tip()[:2], HOME[:2], atol=2e-3)  # on its line
    demo.wait_for("a browser is gone, . left; what it held is released")


def test_without_a_chromium_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(chromiums, "which", lambda name: None)
    with pytest.raises(LookupError, match="Get it:  sudo apt-get install chromium"):
        find_chromium("")
