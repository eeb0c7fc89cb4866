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

"""The panel of one arm: what it does and why, and what a user may have it do."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TwistStamped
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger
from viser import GuiApi

from basis_ik.errors import BasisIkError
from basis_ik.motion.chain_state import State
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.web_view.arm_plot import COMMANDED, MEASURED, ArmPlot
from basis_ik.ros.web_view.gizmos import Gizmos
from basis_ik.ros.web_view.jog_keys import DIRECTIONS, HeldButton, JointSliders

HOLD_RATE = 20.0  # times a second that a browser says that a button is held
FOLLOWED = 0.5  # s between two updates of a slider from the measured joint
SEEN = 5e-3  # rad or m that a slider's joint has moved, for it to be told
LEVELS = {DiagnosticStatus.OK: "#3cb44b", DiagnosticStatus.WARN: "#f58231"}
ALARM = "#e6194b"
# What the panel has buttons for, whatever menu a handle has.
BUTTONS = ("stop", "go on", "home")
LATENCIES = ("solve, median", "solve, largest", "joint states: age", "control period: work, p99")
ERRORS = ("position [mm]", "orientation [deg]", "farthest joint [deg]")


class Joint(NamedTuple):
    """What is known of a joint; NaN for what is not.

    Attributes:
        position: Measured [rad or m].
        velocity: Measured [rad/s or m/s].
    """

    position: float = math.nan
    velocity: float = math.nan


class Company(NamedTuple):
    """What all panels share.

    Attributes:
        joints: What is measured, by joint.
        commanded: What controllers were told, by joint.
        browsers: Returns which browsers are there.
        later: Takes what is to be done by the node's own thread.
    """

    joints: Mapping[str, Joint]
    commanded: Mapping[str, Joint]
    browsers: Callable[[], frozenset[int]]
    later: Callable[[Callable[[], None]], None]


class ArmPanel:
    """Status, buttons, sliders and plots of one chain of a node.

    Args:
        node: Subscribes, publishes and calls.
        gui: Of viser.
        prefix: What the chain's topics begin with: `/basis_ik`, `/basis_ik/left`.
        company: What it shares with other panels.

    Attributes:
        prefix: As given.
    """

    def __init__(self, node: Node, gui: GuiApi, prefix: str, company: Company) -> None:
        self._node, self._gui, self.prefix, self._company = node, gui, prefix, company
        self._values: dict[str, str] = {}
        self._message: DiagnosticStatus | None = None
        self._said, self._html, self._answer = "", "", ""
        self._loop: dict[str, str] = {}
        self._solves: dict[str, str] = {}
        self._held = HeldButton()
        self._status = node.create_subscription(
            DiagnosticStatus, f"{prefix}/status", self._on_status, 10
        )
        self._twists = node.create_publisher(TwistStamped, f"{prefix}/twist", 1)
        self._jogs = node.create_publisher(JointJog, f"{prefix}/joint_jog", 1)
        self._requests: list[tuple[Any, Any]] = []
        self._folder = gui.add_folder(prefix.strip("/"))
        with self._folder:
            self._text = gui.add_html("")
            self._service("stop", "stop", Trigger, Trigger.Request(), "red")
            self._service("enable", "enable", SetBool, SetBool.Request(data=True), "green")
            self._service("home", "home", Trigger, Trigger.Request())
            tabs = gui.add_tab_group()
        self._menu, self._slides = tabs.add_tab("handle"), tabs.add_tab("joints")
        jog, self._plots = tabs.add_tab("jog"), tabs.add_tab("plot")
        with jog:
            self._frame = gui.add_dropdown("along the axes of", ("root", "tip"))
            self._linear = gui.add_slider("m/s", 0.01, 0.5, 0.01, 0.1)
            self._angular = gui.add_slider("rad/s", 0.05, 1.5, 0.05, 0.3)
            for direction in DIRECTIONS:
                self._jog_button(direction)
        with self._slides:
            self._pace = gui.add_slider("speed", 0.05, 1.0, 0.05, 0.3)
        self._menu_items: list[Any] = []
        self._menus = -1
        self._gizmos: Gizmos | None = None
        self._chain: Chain | None = None
        self._made_of: tuple[object, ...] = ()
        self._sliders: dict[str, Any] = {}
        self._slid = JointSliders({}, frozenset())
        self._plot: ArmPlot | None = None
        self._followed = -math.inf

    def destroy(self) -> None:
        """Remove the panel, and give up topics and clients."""
        self._folder.remove()
        self._node.destroy_subscription(self._status)
        for publisher in (self._twists, self._jogs):
            self._node.destroy_publisher(publisher)
        for client, _ in self._requests:
            self._node.destroy_client(client)

    # What is made once ---------------------------------------------------------------------------

    def _service(self, label: str, name: str, kind: Any, request: Any, color: Any = None) -> None:
        client = self._node.create_client(kind, f"{self.prefix}/{name}")
        self._requests.append((client, request))
        button = self._gui.add_button(label, color=color)

        async def on_click(_: Any) -> None:
            self._company.later(lambda: self._call(name, client, request))

        button.on_click(on_click)

    def _jog_button(self, direction: str) -> None:
        async def on_hold(_: Any) -> None:
            # Now, not when the node comes to it: what was held up on its way must not last longer.
            self._held.hold(direction, time.monotonic())

        self._gui.add_button(direction).on_hold(on_hold, callback_hz=HOLD_RATE)

    def _call(self, name: str, client: Any, request: Any) -> None:
        self._slid.cancel()
        if not client.service_is_ready():
            self._answer = f"{name}: nobody answers"
            return

        def on_answer(future: Future) -> None:
            answer = future.result()
            if answer is not None:
                self._answer = f"{name}: {answer.message or 'done'}"

        client.call_async(request).add_done_callback(on_answer)

    def stop(self) -> None:
        """Have the arm stop."""
        self._call("stop", *self._requests[0])

    # What is heard -------------------------------------------------------------------------------

    @property
    def tip(self) -> str:
        """The chain's tip; empty while that is not known."""
        return self._message.name.partition(": ")[2] if self._message is not None else ""

    def _on_status(self, message: DiagnosticStatus) -> None:
        self._message = message
        self._values = {each.key: each.value for each in message.values}

    def on_diagnostics(self, status: DiagnosticStatus) -> None:
        """Take in what the node tells of one of its parts."""
        if self._message is None:
            return
        owner, _, part = status.name.partition(": ")
        node = self._message.name.partition(": ")[0].lstrip("/")
        if owner == node and part == "control loop":
            self._loop = {each.key: each.value for each in status.values}
        elif owner == node and part in (self.tip, self.prefix.rpartition("/")[2]):
            self._solves = {each.key: each.value for each in status.values}

    def know(self, model: RobotModel, root: str, gizmos: Gizmos | None) -> None:
        """Take in the robot, the frame of the chain's root, and the handle of its target."""
        self._gizmos = gizmos
        made_of = (model, root, self.tip)
        if made_of == self._made_of or not root or not self.tip:
            return
        self._made_of = made_of
        try:
            self._chain = chain = model.chain(root, self.tip)
        except BasisIkError:  # the robot and the node's do not go together, or not yet
            self._chain = None
            return
        for slider in self._sliders.values():
            slider.remove()
        self._sliders = {}
        turning = [
            name
            for name, low, high in zip(chain.joint_names, chain.lower, chain.upper, strict=True)
            if not (math.isfinite(low) and math.isfinite(high))
        ]
        speeds = zip(chain.joint_names, map(float, chain.velocity), strict=True)
        self._slid = JointSliders(dict(speeds), frozenset(turning))
        with self._slides:
            for name, low, high in zip(chain.joint_names, chain.lower, chain.upper, strict=True):
                ends = (-math.pi, math.pi) if name in turning else (float(low), float(high))
                self._add_slider(name, *ends)
        if self._plot is not None:
            self._plot.destroy()
        pairs = [f"{name} {of}".removesuffix(f" {MEASURED}") for name in chain.joint_names
                 for of in (MEASURED, COMMANDED)]  # fmt: skip
        kinds = {
            "positions": pairs,
            "velocities": pairs,
            "errors": ERRORS,
            "latency [ms]": LATENCIES,
        }
        with self._plots:
            self._plot = ArmPlot(self._gui, kinds)

    def _add_slider(self, name: str, low: float, high: float) -> None:
        step = 10.0 ** math.floor(math.log10(max(high - low, 1e-6) / 1000.0))
        slider = self._gui.add_slider(name, low, high, step, min(max(0.0, low), high))

        async def on_update(event: Any) -> None:
            if event.client_id is not None:  # a user, not `_follow`
                position, browser = float(event.target.value), int(event.client_id)
                self._company.later(lambda: self._slid.set(name, position, browser))

        slider.on_update(on_update)
        self._sliders[name] = slider

    # What is done in each turn -------------------------------------------------------------------

    def update(self, now: float) -> None:
        """Send what is held, and show what is known at a time [s]."""
        self._send_twist(now)
        self._send_jog()
        self._tell()
        if self._gizmos is not None and self._gizmos.menus != self._menus:
            self._menus = self._gizmos.menus
            self._show_menu(self._gizmos)
        if self._chain is None:
            return
        if now - self._followed > FOLLOWED:
            self._followed = now
            self._follow()
        if self._plot is not None and self._plot.is_due(now):
            self._plot.add(now, self._sample(self._chain.joint_names))

    def _send_twist(self, now: float) -> None:
        twist = self._held.twist(now, self._linear.value, self._angular.value)
        if twist is None or self._chain is None:
            return
        self._slid.cancel()
        message = TwistStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        tool = self._values.get("tool_frame") or self._chain.tip
        message.header.frame_id = self._chain.root if self._frame.value == "root" else tool
        v, w = message.twist.linear, message.twist.angular
        (v.x, v.y, v.z), (w.x, w.y, w.z) = twist
        self._twists.publish(message)

    def _send_jog(self) -> None:
        measured = {name: joint.position for name, joint in self._company.joints.items()}
        browsers = self._company.browsers()
        velocities = self._slid.velocities(measured, browsers, self._pace.value)
        if velocities is None:
            return
        message = JointJog(
            joint_names=list(velocities), velocities=[float(v) for v in velocities.values()]
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._jogs.publish(message)

    def _follow(self) -> None:
        """Set the sliders that nobody has set to where their joints are."""
        for name, slider in self._sliders.items():
            position = self._company.joints.get(name, Joint()).position
            if self._slid.is_set(name) or not math.isfinite(position):
                continue
            if not math.isfinite(self._limit(name)):
                position = math.remainder(position, 2.0 * math.pi)
            if abs(position - slider.value) > SEEN:
                slider.value = min(max(round(position, 3), slider.min), slider.max)

    def _limit(self, name: str) -> float:
        assert self._chain is not None
        return float(self._chain.upper[self._chain.joint_names.index(name)])

    def _show_menu(self, gizmos: Gizmos) -> None:
        """Show what the handle's menu offers, as buttons."""
        for item in self._menu_items:
            item.remove()
        self._menu_items = []
        with self._menu:
            for title in gizmos.menu:
                if title in BUTTONS:
                    continue
                button = self._gui.add_button(title)

                async def on_click(_: Any, title: str = title) -> None:
                    self._company.later(lambda: gizmos.menu.get(title, lambda: None)())

                button.on_click(on_click)
                self._menu_items.append(button)

    def _tell(self) -> None:
        text = status_html(self._message, self._values, self._answer)
        if text != self._html:
            self._html = self._text.content = text

    def _sample(self, names: Sequence[str]) -> dict[str, list[float]]:
        unknown, (joints, commanded, *_) = Joint(), self._company
        each = [(joints.get(n, unknown), commanded.get(n, unknown)) for n in names]
        return {
            "positions": [joint.position for pair in each for joint in pair],
            "velocities": [joint.velocity for pair in each for joint in pair],
            "errors": [
                1e3 * _number(self._values.get("position_error")),
                math.degrees(_number(self._values.get("orientation_error"))),
                math.degrees(_number(self._values.get("arm_distance"))),
            ],
            "latency [ms]": [
                _number(self._solves.get("solve_ms_p50")),
                _number(self._solves.get("solve_ms_max")),
                1e3 * _number(self._solves.get("joint_state_age")),
                _number(self._loop.get("turn_ms_p99")),
            ],
        }


def status_html(message: DiagnosticStatus | None, values: Mapping[str, str], answer: str) -> str:
    """Return what a status says, as HTML; nothing of what it holds is read as such.

    Args:
        message: The status; None: none has come yet.
        values: Its values.
        answer: What a service answered last.
    """
    if message is None:
        return "<p style='margin: 0 1em 0.5em'>no status yet</p>"
    color = LEVELS.get(message.level, ALARM)
    state = values.get("state", "")
    told = State[state].value if state in State.__members__ else ""
    lines = [f"{state}: {told}" if told else state]
    if values.get("since"):
        lines.append(f"since: {values['since']}")
    if values.get("verdict"):
        millimetres = 1e3 * _number(values.get("position_error"))
        degrees = math.degrees(_number(values.get("orientation_error")))
        lines.append(f"verdict: {values['verdict']}, off by {millimetres:.2f} mm, {degrees:.2f}°")
    if values.get("input"):
        lines.append(f"input: {values['input']}")
    if values.get("last_refusal"):
        lines.append(f"last refusal: {values['last_refusal']}")
    if answer:
        lines.append(answer)
    body = "<br>".join(html.escape(line) for line in lines)
    return (
        f"<div style='margin: 0 1em 0.5em; font-size: 0.85em; overflow-wrap: anywhere'>"
        f"<b style='color: {color}'>{html.escape(message.message)}</b><br>{body}</div>"
    )


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
