# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The panel of one arm: its status, and the controls that a user moves it with."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger
from viser import GuiApi, GuiFolderHandle, GuiTabGroupHandle, Icon

from basis_ik.arm.chain_state import LATCHES
from basis_ik.errors import BasisIkError
from basis_ik.extras.web_view.arm_plot import ArmPlot
from basis_ik.extras.web_view.gizmos import Gizmos
from basis_ik.extras.web_view.jog_controls import (
    BUTTON_KEYS,
    BUTTON_TWISTS,
    STEP_SIZES,
    WHILE_HELD,
    GripperSlider,
    HeldButton,
    JointSliders,
    Steps,
    stepped,
)
from basis_ik.extras.web_view.looks import (
    ACTIONS,
    DEGREES,
    MILLIMETRES,
    PAD,
    Gauge,
    Unit,
    gauges_html,
    hand_html,
    number,
    status_html,
)
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.convert import pose_message
from basis_ik.ros.rviz.drag import GRIPS
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.words import PHRASE_HELD

PLAIN_TWIST = "geometry_msgs/msg/Twist"
TWISTS = frozenset({PLAIN_TWIST, f"{PLAIN_TWIST}Stamped"})
HOLD_RATE = 20.0  # [Hz], how often a browser reports that a button is held
SLIDER_PERIOD = 0.5  # [s] between two updates of the sliders from the measured joints
GAUGE_PERIOD = 0.2  # [s] between two updates of the gauges
KEYS_HINT = "move this arm by w s, a d, r f, and turn it by u j, i k, o l, as teleop_keyboard does"
AXIS_COLORS = {"x": "pink", "y": "teal", "z": "blue"}  # as the handle's
# Menu entries that the panel has buttons for anyway.
MENU_BUTTONS = ("stop", "enable")
_MARK = re.compile(r"^\[([x ])\] ")  # of a menu's entry that can be checked
LATCHED_STATES = {state.name for state in LATCHES.values()}


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
        between: Returns where a frame is in another one; None if unknown.
        take_keys: Takes the keys away from all panels but one.
        own_page: Path of the page whose pad moves an arm.
    """

    joints: Mapping[str, Joint]
    commanded: Mapping[str, Joint]
    browsers: Callable[[], frozenset[int]]
    post: Callable[[Callable[[], None]], None]
    between: Callable[[str, str], RigidTransform | None]
    take_keys: Callable[[ArmPanel], None]
    own_page: str


class PanelPlaces(NamedTuple):
    """Where the parts of panels are; nothing in one arm's panel moves another arm's."""

    stops: GuiFolderHandle
    """Of all arms; always in sight."""
    arms: GuiTabGroupHandle
    """A tab for each arm."""


class ArmPanel:
    """Status, buttons, sliders and plots of one chain of a node.

    Args:
        node: Owns the subscriptions, publishers and clients.
        gui: viser's GUI.
        places: Where its parts are.
        prefix: Prefix of the chain's topics: `/basis_ik`, `/basis_ik/left`.
        context: Shared with other panels.

    Attributes:
        prefix: As given.
    """

    def __init__(
        self,
        node: Node,
        gui: GuiApi,
        places: PanelPlaces,
        prefix: str,
        context: PanelContext,
    ) -> None:
        self._node, self._gui, self.prefix, self._context = node, gui, prefix, context
        self._values: dict[str, str] = {}
        self._message: DiagnosticStatus | None = None
        self._html, self._response = "", ""
        self._loop: dict[str, str] = {}
        self._solves: dict[str, str] = {}
        self._held, self._steps = HeldButton(), Steps()
        self._status = node.create_subscription(
            DiagnosticStatus, f"{prefix}/status", self._on_status, 10
        )
        takes = dict(node.get_topic_names_and_types()).get(f"{prefix}/twist", [])
        plain = PLAIN_TWIST in takes  # nothing tells in which frame; of stamped ones the node warns
        self._twists = None if plain else node.create_publisher(TwistStamped, f"{prefix}/twist", 1)
        self._jogs = node.create_publisher(JointJog, f"{prefix}/joint_jog", 1)
        self._targets = node.create_publisher(PoseStamped, f"{prefix}/target_pose", 1)
        self._openings = node.create_publisher(Float64, f"{prefix}/gripper", 1)
        self._requests: list[tuple[Any, Any]] = []
        with places.stops:
            self._stop = self._service("stop", Trigger, Trigger.Request(), "red")
            self._stop.visible = False
        self._tab = places.arms.add_tab(prefix.strip("/"))
        with self._tab:
            gui.add_html(ACTIONS)
            self._text = gui.add_html("")
            self._enable = self._service("enable", SetBool, SetBool.Request(data=True), "green")
            self._actions = gui.add_folder(None)
            tabs = gui.add_tab_group()
        jog, hand, self._joints_tab = map(tabs.add_tab, ("jog", "hand", "joints"))
        self._menu, self._plots = tabs.add_tab("handle"), tabs.add_tab("plot")
        with hand:
            gui.add_html(hand_html(context.own_page, prefix))
        with jog:
            gui.add_html(PAD)
            for direction in BUTTON_TWISTS:
                self._jog_button(direction)
            self._press = gui.add_dropdown("a press moves", (WHILE_HELD, *STEP_SIZES))
            self._frame = gui.add_dropdown("axes of", ("root", "tip"))
            self._linear = gui.add_slider("mm/s", 10, 500, 10, 100)
            self._angular = gui.add_slider("°/s", 3, 90, 1, 15)
            self._keys = gui.add_checkbox("keys", False, hint=KEYS_HINT)
            # Last, so that it moves nothing when it turns out that there is a gripper.
            self._gripper = gui.add_folder("gripper", visible=False)
        with self._gripper:
            gui.add_html(ACTIONS)
            self._opening = gui.add_slider("open %", 0, 100, 1, 0, order=1e3)
        self._opening.on_update(self._on_opening)
        self._gripper_slider = GripperSlider()
        self._commands: list[Any] = []
        self._keys.on_update(self._on_keys)
        with self._joints_tab:
            self._gauges = gui.add_html("")
            self._pace = gui.add_slider("speed", 0.05, 1.0, 0.05, 0.3)
        self._menu_items: dict[str, Any] = {}
        self._menu_version = -1
        self._gizmos: Gizmos | None = None
        self._chain: Chain | None = None
        self._built_for: tuple[object, ...] = ()
        self._sliders: dict[str, Any] = {}
        self._units: dict[str, Unit] = {}
        self._joint_sliders = JointSliders({}, frozenset())
        self._plot: ArmPlot | None = None
        self._followed_at = self._gauged_at = -math.inf

    def destroy(self) -> None:
        """Remove the panel, its topics and its clients."""
        self.release_keys()
        self._stop.remove()
        self._tab.remove()
        self._node.destroy_subscription(self._status)
        for publisher in (self._twists, self._jogs, self._targets, self._openings):
            if publisher is not None:
                self._node.destroy_publisher(publisher)
        for client, _ in self._requests:
            self._node.destroy_client(client)

    # Buttons -------------------------------------------------------------------------------------

    def _service(self, name: str, kind: Any, request: Any, color: Any) -> Any:
        client = self._node.create_client(kind, f"{self.prefix}/{name}")
        self._requests.append((client, request))
        button = self._gui.add_button(name, color=color)

        async def on_click(_: Any) -> None:
            self._context.post(lambda: self._call(name, client, request))

        button.on_click(on_click)
        return button

    def show_stop(self, name: str) -> None:
        """Show the arm's own stop, beside that of all arms."""
        self._stop.label, self._stop.visible = f"stop {name}", True

    def _jog_button(self, direction: str) -> None:
        async def on_hold(event: Any) -> None:
            if self._press.value == WHILE_HELD:
                # The time of arrival, so that a late message does not prolong the motion.
                self._held.hold(direction, time.monotonic(), event.client_id)

        async def on_click(_: Any) -> None:
            if self._press.value != WHILE_HELD:
                self._context.post(lambda: self._step(direction))

        button = self._gui.add_button(direction, color=AXIS_COLORS[direction[-1]])
        button.on_hold(on_hold, callback_hz=HOLD_RATE)
        button.on_click(on_click)

    async def _on_keys(self, _: Any) -> None:
        self._context.post(self._bind_keys)

    def _bind_keys(self) -> None:
        """Bind the keys if the user wants so; a key that is held repeats, as a held button does."""
        for command in self._commands:
            command.remove()
        self._commands = []
        if not self._keys.value:
            return
        self._context.take_keys(self)
        for direction, key in BUTTON_KEYS.items():
            command = self._gui.add_command(direction, hotkey=key.upper())
            command.on_trigger(self._on_key(direction))
            self._commands.append(command)

    def _on_key(self, direction: str) -> Callable[[Any], Any]:
        async def on_trigger(event: Any) -> None:
            if self._press.value == WHILE_HELD:
                self._held.hold(direction, time.monotonic(), event.client_id)
            else:
                self._context.post(lambda: self._step(direction))

        return on_trigger

    def release_keys(self) -> None:
        """Give the keys away."""
        self._keys.value = False
        self._bind_keys()

    def _step(self, direction: str) -> None:
        """Send the target one step away, unless the last step is under way."""
        chain, now = self._chain, time.monotonic()
        tip = None if chain is None else self._context.between(chain.root, self._tool(chain))
        if chain is None or tip is None:
            return
        of_root, step = self._frame.value == "root", STEP_SIZES[self._press.value]
        goal = self._steps.next(
            now,
            self._values,
            tip,
            lambda at: stepped(at, direction, step, of_root=of_root),
            held=self._message is not None and self._message.message.startswith(PHRASE_HELD),
        )
        if goal is None:
            return
        self._joint_sliders.cancel()
        message = PoseStamped(pose=pose_message(goal))
        message.header.frame_id = chain.root
        message.header.stamp = stamp = self._node.get_clock().now().to_msg()
        self._targets.publish(message)
        self._steps.sent(now, f"{stamp.sec}.{stamp.nanosec:09}")

    def _tool(self, chain: Chain) -> str:
        return self._values.get("tool_frame") or chain.tip

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

    @property
    def root(self) -> str:
        """The chain's root frame; empty while unknown."""
        return "" if self._chain is None else self._chain.root

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
        self._units = {
            name: MILLIMETRES if slides else DEGREES
            for name, slides in zip(chain.joint_names, chain.prismatic, strict=True)
        }
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
        with self._plots:
            self._plot = ArmPlot(self._gui, self._units)

    def _add_slider(self, name: str, low: float, high: float) -> None:
        unit, text = self._units[name]
        low, high = math.ceil(low * unit * 10.0) / 10.0, math.floor(high * unit * 10.0) / 10.0
        slider = self._gui.add_slider(f"{name} {text}", low, high, 0.1, min(max(0.0, low), high))

        async def on_update(event: Any) -> None:
            if event.client_id is not None:  # a user, not `_follow_joints`
                position, browser = float(event.target.value) / unit, int(event.client_id)
                self._context.post(lambda: self._joint_sliders.set(name, position, browser))

        slider.on_update(on_update)
        self._sliders[name] = slider

    # Periodic update -----------------------------------------------------------------------------

    def update(self, now: float) -> None:
        """Send jog commands, and update the panel; time [s]."""
        self._send_twist(now)
        self._send_jog()
        self._send_opening(now)
        self._show_status()
        if self._gizmos is not None and self._gizmos.menu_version != self._menu_version:
            self._menu_version = self._gizmos.menu_version
            self._show_menu(self._gizmos)
        if self._chain is None:
            return
        if now - self._followed_at > SLIDER_PERIOD:
            self._followed_at = now
            self._follow_joints()
        if now - self._gauged_at > GAUGE_PERIOD:
            self._gauged_at = now
            self._show_gauges(self._chain)
        if self._plot is not None and self._plot.is_due(now):
            self._plot.add(now, self._sample())

    def _send_twist(self, now: float) -> None:
        twist = self._held.twist(now, 1e-3 * self._linear.value, math.radians(self._angular.value))
        if twist is None or self._chain is None or self._twists is None:
            return
        self._joint_sliders.cancel()
        message = TwistStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        of_root = self._frame.value == "root"
        message.header.frame_id = self._chain.root if of_root else self._tool(self._chain)
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

    async def _on_opening(self, event: Any) -> None:
        if event.client_id is not None:  # a user, not `_send_opening`
            opening, now = 0.01 * event.target.value, time.monotonic()
            self._context.post(lambda: self._gripper_slider.set(opening, now))

    def _send_opening(self, now: float) -> None:
        """Send the gripper where its slider is, or the slider to what was commanded."""
        if "gripper" not in self._values:
            return
        self._gripper.visible = True
        opening = self._gripper_slider.next(now)
        if opening is not None:
            self._openings.publish(Float64(data=opening))
        commanded = number(self._values.get("gripper_opening"))
        shown = self._gripper_slider.to_show(commanded, 0.01 * self._opening.value, now)
        if shown is not None:
            self._opening.value = round(100.0 * shown)

    def _follow_joints(self) -> None:
        """Move the sliders that no user has set to the measured joint positions."""
        for name, slider in self._sliders.items():
            measured = self._context.joints.get(name, Joint()).position
            position = self._joint_sliders.to_show(
                name, measured, slider.value, slider.min, slider.max, self._units[name].scale
            )
            if position is not None:
                slider.value = position

    def _show_gauges(self, chain: Chain) -> None:
        gauges = [
            Gauge(
                name, low, high,
                self._context.joints.get(name, Joint()).position,
                self._context.commanded.get(name, Joint()).position,
                *self._units[name],
            )
            for name, low, high in zip(chain.joint_names, chain.lower, chain.upper, strict=True)
        ]  # fmt: skip
        text = gauges_html(gauges)
        if text != self._gauges.content:
            self._gauges.content = text

    def _show_menu(self, gizmos: Gizmos) -> None:
        """Show the entries of the handle's menu as buttons.

        A button keeps its place: it is disabled while its entry is not in the menu. *home* is
        beside *enable*, and the gripper's are with its slider.
        """
        titles = {_MARK.sub("", title): title for title in gizmos.menu}
        places = {"home": self._actions, **dict.fromkeys(GRIPS, self._gripper)}
        for name in titles:
            if name not in self._menu_items and name not in MENU_BUTTONS:
                with places.get(name, self._menu):
                    self._menu_items[name] = self._menu_button(name)
        for name, button in self._menu_items.items():
            button.disabled = name not in titles
            mark = _MARK.match(titles.get(name, ""))
            if mark is not None:
                button.icon = Icon.CIRCLE_CHECK if mark[1] == "x" else Icon.CIRCLE

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
        # Only while it has an effect.
        self._enable.disabled = self._values.get("state") not in LATCHED_STATES

    def _sample(self) -> dict[str, list[float]]:
        """Return the values of the plots' curves, in the units of their names."""
        unknown, (joints, commanded, *_) = Joint(), self._context
        each = [
            (unit.scale, joints.get(name, unknown), commanded.get(name, unknown))
            for name, unit in self._units.items()
        ]
        return {
            "positions": [scale * joint.position for scale, *pair in each for joint in pair],
            "velocities": [scale * joint.velocity for scale, *pair in each for joint in pair],
            "errors": [
                1e3 * number(self._values.get("position_error")),
                math.degrees(number(self._values.get("orientation_error"))),
                math.degrees(number(self._values.get("arm_distance"))),
            ],
            "latency": [
                number(self._solves.get("solve_ms_p50")),
                number(self._solves.get("solve_ms_max")),
                1e3 * number(self._solves.get("joint_state_age")),
                number(self._loop.get("turn_ms_p99")),
            ],
        }
