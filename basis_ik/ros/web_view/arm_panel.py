# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The panel of one arm: its status, and the controls that a user moves it with."""

from __future__ import annotations

import html
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TwistStamped
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger
from viser import GuiApi, GuiTabGroupHandle

from basis_ik.arm.chain_state import State
from basis_ik.errors import BasisIkError
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.web_view.arm_plot import COMMANDED, MEASURED, ArmPlot
from basis_ik.ros.web_view.gizmos import Gizmos
from basis_ik.ros.web_view.jog_controls import DIRECTIONS, HeldButton, JointSliders

HOLD_RATE = 20.0  # Hz: how often a browser reports that a button is held
SLIDER_PERIOD = 0.5  # s between two updates of the sliders from the measured joints
LEVELS = {DiagnosticStatus.OK: "#3cb44b", DiagnosticStatus.WARN: "#f58231"}
ALARM = "#e6194b"
# Menu entries that the panel has buttons for anyway.
BUTTONS = ("stop", "go on", "home")
LATENCIES = ("solve, median", "solve, largest", "joint states: age", "control period: work, p99")
# Fixed, with a scroll bar: a text that grew would move the buttons below it under the user's hand.
TEXT_HEIGHT = "12em"
_MARK = re.compile(r"^\[[x ]\] ")  # of a menu's entry that can be checked
ERRORS = ("position [mm]", "orientation [deg]", "farthest joint [deg]")


class Joint(NamedTuple):
    """The state of a joint; NaN where unknown.

    Attributes:
        position: [rad or m].
        velocity: [rad/s or m/s].
    """

    position: float = math.nan
    velocity: float = math.nan


class PanelContext(NamedTuple):
    """State shared by all panels.

    Attributes:
        joints: Measured states by joint.
        commanded: The controllers' references by joint.
        browsers: Returns the ids of the connected browsers.
        post: Queues a function for the node's thread.
    """

    joints: Mapping[str, Joint]
    commanded: Mapping[str, Joint]
    browsers: Callable[[], frozenset[int]]
    post: Callable[[Callable[[], None]], None]


class ArmPanel:
    """Status, buttons, sliders and plots of one chain of a node.

    Args:
        node: Owns the subscriptions, publishers and clients.
        gui: viser's GUI.
        arms: The arms' tabs. The panel is a tab, so that nothing in another arm's panel moves it.
        prefix: Prefix of the chain's topics: `/basis_ik`, `/basis_ik/left`.
        context: Shared with other panels.

    Attributes:
        prefix: As given.
    """

    def __init__(
        self,
        node: Node,
        gui: GuiApi,
        arms: GuiTabGroupHandle,
        prefix: str,
        context: PanelContext,
    ) -> None:
        self._node, self._gui, self.prefix, self._context = node, gui, prefix, context
        self._values: dict[str, str] = {}
        self._message: DiagnosticStatus | None = None
        self._html, self._response = "", ""
        self._loop: dict[str, str] = {}
        self._solves: dict[str, str] = {}
        self._held = HeldButton()
        self._status = node.create_subscription(
            DiagnosticStatus, f"{prefix}/status", self._on_status, 10
        )
        self._twists = node.create_publisher(TwistStamped, f"{prefix}/twist", 1)
        self._jogs = node.create_publisher(JointJog, f"{prefix}/joint_jog", 1)
        self._requests: list[tuple[Any, Any]] = []
        self._tab = arms.add_tab(prefix.strip("/"))
        with self._tab:
            self._text = gui.add_html("")
            self._service("stop", "stop", Trigger, Trigger.Request(), "red")
            self._service("enable", "enable", SetBool, SetBool.Request(data=True), "green")
            self._service("home", "home", Trigger, Trigger.Request())
            tabs = gui.add_tab_group()
        self._menu, self._joints_tab = tabs.add_tab("handle"), tabs.add_tab("joints")
        jog, self._plots = tabs.add_tab("jog"), tabs.add_tab("plot")
        with jog:
            self._frame = gui.add_dropdown("along the axes of", ("root", "tip"))
            self._linear = gui.add_slider("m/s", 0.01, 0.5, 0.01, 0.1)
            self._angular = gui.add_slider("rad/s", 0.05, 1.5, 0.05, 0.3)
            for direction in DIRECTIONS:
                self._jog_button(direction)
        with self._joints_tab:
            self._pace = gui.add_slider("speed", 0.05, 1.0, 0.05, 0.3)
        self._menu_items: dict[str, Any] = {}
        self._menu_version = -1
        self._gizmos: Gizmos | None = None
        self._chain: Chain | None = None
        self._built_for: tuple[object, ...] = ()
        self._sliders: dict[str, Any] = {}
        self._joint_sliders = JointSliders({}, frozenset())
        self._plot: ArmPlot | None = None
        self._followed_at = -math.inf

    def destroy(self) -> None:
        """Remove the panel, its topics and its clients."""
        self._tab.remove()
        self._node.destroy_subscription(self._status)
        for publisher in (self._twists, self._jogs):
            self._node.destroy_publisher(publisher)
        for client, _ in self._requests:
            self._node.destroy_client(client)

    # Buttons -------------------------------------------------------------------------------------

    def _service(self, label: str, name: str, kind: Any, request: Any, color: Any = None) -> None:
        client = self._node.create_client(kind, f"{self.prefix}/{name}")
        self._requests.append((client, request))
        button = self._gui.add_button(label, color=color)

        async def on_click(_: Any) -> None:
            self._context.post(lambda: self._call(name, client, request))

        button.on_click(on_click)

    def _jog_button(self, direction: str) -> None:
        async def on_hold(_: Any) -> None:
            # The time of arrival, so that a late message does not prolong the motion.
            self._held.hold(direction, time.monotonic())

        self._gui.add_button(direction).on_hold(on_hold, callback_hz=HOLD_RATE)

    def _call(self, name: str, client: Any, request: Any) -> None:
        self._joint_sliders.cancel()
        if not client.service_is_ready():
            self._response = f"{name}: the service is not available"
            return

        def on_response(future: Future) -> None:
            response = future.result()
            if response is not None:
                self._response = f"{name}: {response.message or 'done'}"

        client.call_async(request).add_done_callback(on_response)

    def stop(self) -> None:
        """Stop the arm."""
        self._call("stop", *self._requests[0])

    # Messages ------------------------------------------------------------------------------------

    @property
    def tip(self) -> str:
        """The chain's tip; empty while unknown."""
        return self._message.name.partition(": ")[2] if self._message is not None else ""

    def _on_status(self, message: DiagnosticStatus) -> None:
        self._message = message
        self._values = {each.key: each.value for each in message.values}

    def on_gone(self) -> None:
        """Show that the node is gone; the panel stays, so that no other arm's takes its place."""
        self._message, self._values, self._response = None, {}, ""

    def on_diagnostics(self, status: DiagnosticStatus) -> None:
        """Process a diagnostic status of the node's control loop or of this chain."""
        if self._message is None:
            return
        owner, _, part = status.name.partition(": ")
        node = self._message.name.partition(": ")[0].lstrip("/")
        if owner == node and part == "control loop":
            self._loop = {each.key: each.value for each in status.values}
        elif owner == node and part in (self.tip, self.prefix.rpartition("/")[2]):
            self._solves = {each.key: each.value for each in status.values}

    def set_robot(self, model: RobotModel, root: str, gizmos: Gizmos | None) -> None:
        """Set the robot, the chain's root frame, and the handle of its target.

        The joints' sliders and the plot are rebuilt if the robot or the chain has changed.
        """
        self._gizmos = gizmos
        built_for = (model, root, self.tip)
        if built_for == self._built_for or not root or not self.tip:
            return
        self._built_for = built_for
        try:
            self._chain = chain = model.chain(root, self.tip)
        except BasisIkError:  # the node may use another description, or not have this one yet
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
        self._joint_sliders = JointSliders(dict(speeds), frozenset(turning))
        with self._joints_tab:
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
            if event.client_id is not None:  # a user, not `_follow_joints`
                position, browser = float(event.target.value), int(event.client_id)
                self._context.post(lambda: self._joint_sliders.set(name, position, browser))

        slider.on_update(on_update)
        self._sliders[name] = slider

    # Periodic update -----------------------------------------------------------------------------

    def update(self, now: float) -> None:
        """Send jog commands, and update the panel; time [s]."""
        self._send_twist(now)
        self._send_jog()
        self._show_status()
        if self._gizmos is not None and self._gizmos.menu_version != self._menu_version:
            self._menu_version = self._gizmos.menu_version
            self._show_menu(self._gizmos)
        if self._chain is None:
            return
        if now - self._followed_at > SLIDER_PERIOD:
            self._followed_at = now
            self._follow_joints()
        if self._plot is not None and self._plot.is_due(now):
            self._plot.add(now, self._sample(self._chain.joint_names))

    def _send_twist(self, now: float) -> None:
        twist = self._held.twist(now, self._linear.value, self._angular.value)
        if twist is None or self._chain is None:
            return
        self._joint_sliders.cancel()
        message = TwistStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        tool = self._values.get("tool_frame") or self._chain.tip
        message.header.frame_id = self._chain.root if self._frame.value == "root" else tool
        v, w = message.twist.linear, message.twist.angular
        (v.x, v.y, v.z), (w.x, w.y, w.z) = twist
        self._twists.publish(message)

    def _send_jog(self) -> None:
        measured = {name: joint.position for name, joint in self._context.joints.items()}
        browsers = self._context.browsers()
        velocities = self._joint_sliders.velocities(measured, browsers, self._pace.value)
        if velocities is None:
            return
        message = JointJog(
            joint_names=list(velocities), velocities=[float(v) for v in velocities.values()]
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._jogs.publish(message)

    def _follow_joints(self) -> None:
        """Move the sliders that no user has set to the measured joint positions."""
        for name, slider in self._sliders.items():
            measured = self._context.joints.get(name, Joint()).position
            position = self._joint_sliders.to_show(
                name, measured, slider.value, slider.min, slider.max
            )
            if position is not None:
                slider.value = position

    def _show_menu(self, gizmos: Gizmos) -> None:
        """Show the entries of the handle's menu as buttons.

        A button keeps its place: it is disabled while its entry is not in the menu.
        """
        titles = {_MARK.sub("", title): title for title in gizmos.menu}
        with self._menu:
            for name in titles:
                if name not in self._menu_items and name not in BUTTONS:
                    self._menu_items[name] = self._menu_button(name)
        for name, button in self._menu_items.items():
            button.disabled = name not in titles
            button.label = titles.get(name, button.label)

    def _menu_button(self, name: str) -> Any:
        def select() -> None:
            for title, choose in list(self._gizmos.menu.items()) if self._gizmos else []:
                if _MARK.sub("", title) == name:
                    choose()

        async def on_click(_: Any) -> None:
            self._context.post(select)

        button = self._gui.add_button(name)
        button.on_click(on_click)
        return button

    def _show_status(self) -> None:
        text = status_html(self._message, self._values, self._response)
        if text != self._html:
            self._html = self._text.content = text

    def _sample(self, names: Sequence[str]) -> dict[str, list[float]]:
        unknown, (joints, commanded, *_) = Joint(), self._context
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


def status_html(message: DiagnosticStatus | None, values: Mapping[str, str], response: str) -> str:
    """Return a status as HTML, with all its texts escaped.

    Args:
        message: The status; None before the first.
        values: Its values.
        response: The last response of a service; may be empty.
    """
    if message is None:
        return _boxed(f"no status of this arm<br>{html.escape(response)}")
    color = LEVELS.get(message.level, ALARM)
    state = values.get("state", "")
    meaning = State[state].value if state in State.__members__ else ""
    lines = [f"{state}: {meaning}" if meaning else state]
    if values.get("since"):
        lines.append(f"since: {values['since']}")
    if values.get("verdict") == "REFUSED":
        lines.append("verdict: REFUSED")
    elif values.get("verdict"):
        millimetres = 1e3 * _number(values.get("position_error"))
        degrees = math.degrees(_number(values.get("orientation_error")))
        lines.append(f"verdict: {values['verdict']}, off by {millimetres:.2f} mm, {degrees:.2f}°")
    if values.get("input"):
        lines.append(f"input: {values['input']}")
    for key, value in values.items():
        if key.startswith("last_refusal."):
            name = key.removeprefix("last_refusal.")
            age = _number(values.get(f"last_refusal_age.{name}"))
            lines.append(f"last refusal of {name}, {age:.1f} s ago: {value}")
    if response:
        lines.append(response)
    body = "<br>".join(html.escape(line) for line in lines)
    return _boxed(f"<b style='color: {color}'>{html.escape(message.message)}</b><br>{body}")


def _boxed(body: str) -> str:
    return (
        f"<div style='margin: 0 1em 0.5em; font-size: 0.85em; height: {TEXT_HEIGHT}; "
        f"overflow-y: auto; overflow-wrap: anywhere'>{body}</div>"
    )


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
