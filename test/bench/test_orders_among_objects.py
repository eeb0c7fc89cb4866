# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Random orders to an arm among objects that come and go: it stays safe, and obeys in the end."""

import numpy as np
import pytest
from bench import HOME, running
from std_srvs.srv import SetBool, Trigger
from test_chunks import joints as joint_chunk
from test_chunks import poses as pose_chunk
from test_clutch import Hand
from test_collisions_in_motion import INTERFACES, WORDS, put
from test_joint_target import lead
from test_move_group import GROUP, motion_goal, to_joints, to_pose
from test_planning_scene import Client, CollisionObject, thing

UNSAFE = {"UNSAFE", "TRACKING_LOST"}
MORE = [pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 200)]


class Orders:
    """What people, programs and cameras ask of an arm, drawn from a seed."""

    def __init__(self, robot, rng):
        self.robot, self.rng = robot, rng
        self.client, self.hand = Client(robot), None
        self.objects = set()

    def near(self, size):
        """Return positions near home (n,)."""
        q = HOME + self.rng.uniform(-size, size, len(HOME))
        return np.clip(q, self.robot.chain.lower, self.robot.chain.upper)

    def pose(self, size=1.3):
        target = self.robot.chain.forward(self.near(size))
        self.robot.send("base_link", target)
        return target

    def planned_joints(self):
        self.robot.act("move_action", to_joints(self.robot, self.near(1.3)))

    def planned_pose(self):
        target = to_pose(self.robot.chain.forward(self.near(1.0)))
        self.robot.act("move_action", motion_goal(target))

    def chunk(self):
        times = np.arange(1, 11) * 0.15
        rows = np.linspace(self.robot.positions, self.near(0.8), 11)[1:]
        if self.rng.random() < 0.5:
            joint_chunk(self.robot, times, rows)
        else:
            pose_chunk(self.robot, times, [self.robot.chain.forward(row) for row in rows])

    def stream(self):
        for row in np.linspace(self.robot.positions, self.near(0.5), 8):
            lead(self.robot, row)
            self.robot.run(0.05)

    def jog(self):
        speed = tuple(self.rng.uniform(-0.4, 0.4, 3))
        for _ in range(self.rng.integers(5, 40)):
            self.robot.jog("base_link", linear=speed)
            self.robot.run(0.02)

    def look(self):
        self.robot.look("base_link", tuple(self.rng.uniform(-0.8, 0.8, 3)))

    def lead_by_hand(self):
        self.hand = self.hand or Hand(self.robot)
        self.robot.run(0.1)
        self.hand.held = True
        self.robot.run(0.1)
        self.hand.go(tuple(self.rng.uniform(-0.3, 0.3, 3)), seconds=0.7)
        self.robot.run(0.5)
        self.hand.held = False

    def thing(self):
        name, size = f"thing {self.rng.integers(3)}", tuple(self.rng.uniform(0.05, 0.4, 3))
        beside_tip = self.robot.tip().translation + self.rng.uniform(-0.5, 0.5, 3)
        place = beside_tip if self.rng.random() < 0.6 else self.rng.uniform(-0.8, 0.8, 3)
        put(self.robot, self.client, (name, size, tuple(place)))
        self.objects.add(name)

    def removal(self):
        for name in sorted(self.objects)[:1]:
            self.client.put(thing(name, operation=CollisionObject.REMOVE, primitives=()))
            self.objects.remove(name)

    def override(self):
        self.robot.set_parameter("speed_override", float(self.rng.choice([0.0, 0.3, 1.0])))

    def stop(self):
        self.robot.call(Trigger, "stop")
        self.robot.run(float(self.rng.uniform(0.0, 0.6)))
        self.robot.call(SetBool, "enable", data=True)

    KINDS = (
        pose, planned_joints, planned_pose, chunk, stream, jog, look, lead_by_hand, thing, thing,
        thing, removal, override, stop,
    )  # fmt: skip

    def give(self):
        """Give one order of any kind, and let some time pass."""
        order = self.KINDS[self.rng.integers(len(self.KINDS))]
        order(self)
        self.robot.run(float(self.rng.choice([0.05, 0.2, 0.5, 1.5])))
        assert self.robot.statuses[-1]["state"] not in UNSAFE, order.__name__


@pytest.mark.parametrize("seed", [*range(4), *MORE])
def test_an_arm_among_objects_stays_safe_and_obeys_in_the_end(seed):
    rng = np.random.default_rng(seed)
    words = ("-p", f"command_interface:={INTERFACES[seed % 3]}", "-p", f"moveit_group:={GROUP}")
    with running(*WORDS, *words, lag=0.03 * (seed % 2)) as robot:
        orders = Orders(robot, rng)
        for _ in range(15):
            orders.give()
        robot.set_parameter("speed_override", 1.0)
        while orders.objects:
            orders.removal()
        robot.run(0.5)
        robot.call(SetBool, "enable", data=True)
        robot.run(2.0)
        target = orders.pose(0.3)

        def ends():  # its straight way may lead through the arm itself
            status = robot.statuses[-1]
            return status["state"] == "ARRIVED" or status["message"].startswith("held by ")

        robot.run(0.1)
        robot.wait(ends, "it obeys")
        robot.run(0.5)  # a lagging arm comes nearer
        assert robot.at(target) or robot.statuses[-1]["state"] != "ARRIVED"
        assert not {each["state"] for each in robot.statuses} & UNSAFE
