# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot on the bench whose arm is shared by several controllers."""

import contextlib
from types import SimpleNamespace

import numpy as np
from bench import HOME, Arm, Command, Robot
from world import Link

BASE, WRIST = "base_controller", "wrist_controller"
BRAKES = 0.55  # s after which all rest: up to 0.15 until nothing is sent, 0.07 ahead, the brake
FAR = [1.8, -0.5, 0.8, 0.4, -0.4, 1.0]  # rad
SPLIT = {BASE: [0, 1], WRIST: [2, 3, 4, 5]}


class Part:
    """One of the controllers, with its drives and links.

    Attributes:
        name: The controller's name.
        columns: The indices of its joints.
        arm: Its twin.
        commanding: The link of trajectories to it.
        states: The topic of its state.
        controlled: The joints that it says it has.
    """

    def __init__(self, robot, name, columns, home, how):
        lag = robot.lags.get(name, how["lag"])
        self.name, self.columns, self._robot = name, columns, robot
        self.arm = Arm(
            robot.world, robot.chain, np.array(home)[columns], self._system,
            **{**how, "lag": lag, "part": columns, "others": how["others"].get(name)},
        )  # fmt: skip
        self.behind = 0  # its clock [ns]
        self.commanding, self.states = Link(robot.world), robot.topic(f"/{name}/controller_state")
        self.controlled, self.command = list(self.arm.joint_names), f"/{name}/joint_trajectory"
        self.arm.on_state = self._publish
        self.arm.origin = robot.boundary.system()

    def _system(self):
        return self._robot.boundary.system() - getattr(self, "behind", 0)

    def _publish(self, stamp, update):
        self.states.publish(self._robot._state_of(self.arm, self.controlled, stamp, update))


class Together:
    """The arms of several controllers, as one `Arm`."""

    def __init__(self, robot, parts):
        self._parts = parts
        self.joint_names = robot.chain.joint_names
        self.on_state = self.taking = None
        self.limits = SimpleNamespace(
            **{
                name: self._joined([getattr(p.arm.limits, name)[: len(p.columns)] for p in parts])
                for name in ("velocity", "acceleration")
            }
        )

    def _joined(self, values):
        order = np.argsort(np.concatenate([each.columns for each in self._parts]))
        return np.concatenate(values, axis=-1)[..., order]

    @property
    def joints(self):
        """All drives; only their positions."""
        places = [each.arm.joints.positions[: len(each.columns)] for each in self._parts]
        return SimpleNamespace(positions=self._joined(places))

    def place(self, positions):
        """Put the arm somewhere, at rest, with controllers that were just started."""
        for each in self._parts:
            each.arm.place(np.array(positions)[each.columns])

    @property
    def outputs(self):
        """Of each cycle: time [ns] and commanded positions; if one stands, its last ones."""
        times = sorted({time for each in self._parts for time, _ in each.arm.outputs})
        ways = []
        for each in self._parts:
            known = np.array([time for time, _ in each.arm.outputs])
            at = np.maximum(np.searchsorted(known, times, side="right") - 1, 0)
            way = np.array([positions for _, positions in each.arm.outputs])
            ways.append(way[at, : len(each.columns)])
        return list(zip(times, self._joined(ways), strict=True))

    def forget(self):
        """Forget what was commanded."""
        for each in self._parts:
            each.arm.outputs.clear()

    @property
    def complaints(self):
        """What was commanded beyond the limits."""
        return [each for part in self._parts for each in part.arm.complaints]


class SharedRobot(Robot):
    """A robot whose arm several controllers share.

    Args:
        words: Arguments of ROS.
        split: The indices of each controller's joints, by its name.
        lags: Time constants of the drives [s] by controller, where they are shorter than `lag`.
        how: As for `Robot`; `others` by controller.

    Attributes:
        parts: The controllers, by their names.
    """

    def __init__(self, *words, split=SPLIT, lags=None, **how):
        self._split, self.lags = split, lags or {}
        given = ["-p", f"controller:={','.join(split)}"]
        super().__init__(*given, *words, controller="none", **how)
        parts = self.parts.values()
        self.told, self.commandings = [p.states.link for p in parts], [p.commanding for p in parts]
        self.takers = [each.arm.taking for each in parts]

    def _make_arm(self, home, **how):
        self.parts = {
            name: Part(self, name, columns, home, how) for name, columns in self._split.items()
        }
        return Together(self, list(self.parts.values()))

    def _on_message(self, topic, message):
        for part in self.parts.values():
            if topic == part.command:
                self.commands.append(Command(self.world.now, topic, message))
                part.commanding.send(lambda part=part: part.arm.take(message))
                return
        super()._on_message(topic, message)


@contextlib.contextmanager
def sharing(*words, judged=True, **how):
    """Yield a robot with two controllers whose node is ready; afterwards it has kept the limits."""
    robot = SharedRobot(*words, **how)
    try:
        robot.wait_status(state="READY")
        robot.run(0.1)
        yield robot
    finally:
        robot.loop.end()
    assert not judged or robot.arm.complaints == [], robot.arm.complaints[:3]


def set_off(robot):
    """Send a target of about a second; return it once the arm is in mid-motion."""
    target = robot.chain.forward(np.add(HOME, FAR))
    robot.send("base_link", target)
    robot.run(0.35)
    return target


def off_path(way):
    """Return how far positions (k, n) are from the line between the first and the last of them.

    There all joints are at the same fraction of their ways.
    """
    line = way[-1] - way[0]
    fraction = (way - way[0]) @ line / (line @ line)
    return float(np.abs(way - way[0] - np.outer(fraction, line)).max())
