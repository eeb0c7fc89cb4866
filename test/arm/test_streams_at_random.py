# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Leader arms, devices with clutches and chunks at random, with jumps, losses and contradictions.

The judge knows the commands, the limits and what was sent; it uses nothing of the arm.
"""

import numpy as np
import pytest
from test_arm import CHAIN, HOME, PERIOD, SETTINGS, World, positions

from basis_ik.arm.chain_state import State
from basis_ik.arm.limits import MotionLimits
from basis_ik.arm.settings import DeviceRules
from basis_ik.arm.target_input import FrameStamp
from basis_ik.arm.targets import DeviceTarget
from basis_ik.transforms.rigid import RigidTransform

LIMITS = MotionLimits.of_chain(CHAIN)
SECONDS, BRAKES = 2.0, 0.8  # of a sequence; in which any motion comes to rest
LASTS = 0.1
KINDS = "leader", "device", "joint chunks", "pose chunks", "all"


class Lagging(World):
    """A world whose drives reach a command by a part in each period."""

    part = 1.0

    def step(self):
        before = self.place
        outgoing = super().step()
        if outgoing:
            self.wanted = self.place
        self.place = before + self.part * (self.wanted - before)
        self.commands.append(self.wanted)
        return outgoing


class Sequence:
    """Random inputs of a kind, one period after the other."""

    def __init__(self, world, rng, kind):
        self.world, self.rng, self.kind = world, rng, kind
        self.device = RigidTransform.from_rpy(*rng.uniform(-1.0, 1.0, 3), rng.uniform(-2, 2, 3))
        self.speed, self.turn = rng.normal(0.0, 0.3, 3), rng.normal(0.0, 0.5, 3)
        self.held, self.tracked, self.told, self.frame = False, True, True, "headset"
        self.every, self.phase = int(rng.integers(1, 5)), rng.uniform(0.0, 6.0, 6)
        self.engaged_at = self.came_at = -np.inf
        self.last = None
        self.rules = DeviceRules("", rng.choice([0.3, 1.0, 2.0]), rng.choice([0.5, 1.0]))
        world.arm.settings = SETTINGS._replace(device=self.rules, twist_lasts=LASTS)

    def chance(self, rate):
        """Return whether something happens in this period that does so many times a second."""
        return self.rng.random() < rate * PERIOD

    def way(self, t):
        return HOME + 0.3 * np.sin(2.0 * np.asarray(t)[..., np.newaxis] + self.phase)

    def step(self, k):
        if self.kind in ("leader", "all") and k % self.every == 0 and not self.chance(10):
            self.lead()
        if self.kind in ("device", "all"):
            self.move(k)
        if "chunks" in self.kind or self.kind == "all":
            self.plan()

    def lead(self):
        jump = 0.3 * self.rng.normal(size=6) if self.chance(50) else 0.0
        names = list(CHAIN.joint_names)[: self.rng.integers(1, 7)]
        wanted = self.way(self.world.time) + jump
        now = self.world.now
        self.world.arm.take_joint_target(self.at(now, ""), names, wanted, now)

    def at(self, now, frame):
        age = 0 if self.rng.random() < 0.5 else int(self.rng.integers(0, 50_000_000))
        return FrameStamp(frame, *(divmod(now.clock - age, 10**9) if age else (0, 0)))

    def move(self, k):
        rng, now = self.rng, self.world.now
        self.held ^= self.chance(4)
        self.told ^= self.chance(1)
        self.tracked ^= self.chance(2)
        if self.chance(1):
            self.frame = "recentred" if self.frame == "headset" else "headset"
        if self.chance(3):
            self.speed, self.turn = rng.normal(0.0, 0.3, 3), rng.normal(0.0, 0.5, 3)
        jumps = self.chance(2)
        way = self.speed * PERIOD + (rng.normal(0.0, 0.5, 3) if jumps else 0.0)
        turn = self.turn * PERIOD + (rng.normal(0.0, 1.0, 3) if jumps else 0.0)
        turned = RigidTransform.exp([0.0, 0.0, 0.0, *turn]).rotation @ self.device.rotation
        place = self.device.translation + way
        self.device = RigidTransform.from_rotation_translation(turned, place)
        if self.told:
            self.world.arm.take_clutch(self.held, now)
            if self.held:
                self.engaged_at = now.loop
        if self.tracked and k % self.every == 0:
            self.world.arm.take_device_pose(FrameStamp(self.frame, 0, 0), self.device, now)
            self.judge_target(now.loop)

    def judge_target(self, now):
        """No target of a device may be farther from the one before than a hand moves."""
        newest = self.world.arm.targets.newest
        place = newest.frame_T_target.translation if isinstance(newest, DeviceTarget) else None
        if place is not None and self.last is not None and now - self.came_at < LASTS:
            most = self.rules.max_linear_speed * max(now - self.came_at, 0.02)
            step = np.linalg.norm(place - self.last)
            assert step <= self.rules.linear_scale * most + 1e-9
        self.last, self.came_at = place, now

    def plan(self):
        rng, now = self.rng, self.world.now
        if not self.chance(rng.choice([5, 10, 30])):
            return
        step, begin = rng.choice([0.033, 0.1]), rng.choice([-1.7, -0.3, 0.0, 0.033, 0.1, 0.4])
        times = begin + step * np.arange(rng.integers(1, 17))
        rows = self.way(self.world.time + times)
        if self.chance(20):  # it contradicts
            rows = rows + 0.2 * rng.normal(size=6)
        at = self.at(now, "base_link")
        if self.kind == "pose chunks" or (self.kind == "all" and rng.random() < 0.5):
            poses = [CHAIN.forward(row) for row in rows]
            self.world.arm.take_pose_chunk(at, times.tolist(), poses, now, moves="")
        else:
            self.world.arm.take_joint_chunk(at, CHAIN.joint_names, times.tolist(), rows, now)


def judge(commands):
    """Compare commands (k, 6), one a period, with the limits."""
    assert (commands >= CHAIN.lower).all()
    assert (commands <= CHAIN.upper).all()
    for order, most in enumerate((LIMITS.velocity, LIMITS.acceleration, LIMITS.jerk), 1):
        steps = np.abs(np.diff(commands, order, axis=0)) / PERIOD**order
        assert (steps <= most * (1.0 + 1e-6) + 1e-12 / PERIOD**order).all(), order


def run(seed, kind):
    """Run a sequence, and judge it; return by how much a joint has moved."""
    rng = np.random.default_rng(seed)
    world = Lagging(positions)
    world.part, world.wanted, world.commands = rng.choice([1.0, 0.2]), HOME, []
    world.until(State.READY)
    world.arm.take_clutch(held=False, now=world.now)
    sequence = Sequence(world, rng, kind)
    for k in range(round(SECONDS / PERIOD)):
        sequence.step(k)
        world.step()
        if kind == "device" and world.time - sequence.engaged_at > LASTS + BRAKES:
            assert (world.commands[-1] == world.commands[-2]).all(), "without the clutch"
    commands = np.array([HOME] * 4 + world.commands)
    judge(commands)
    return np.ptp(commands, axis=0).max()


@pytest.mark.parametrize("kind", KINDS)
def test_no_limit_is_exceeded_and_nothing_moves_without_the_clutch(kind):
    moved = [run(seed, kind) for seed in range(20)]
    assert np.median(moved) > 0.05, "most of them move"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_sequences(kind):
    for seed in range(2000):
        run(1000 + seed, kind)
