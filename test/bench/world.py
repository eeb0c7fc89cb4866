# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""One clock for a node, its controller and its arm, which passes when the test says so.

Times are integers [ns] since the beginning, so that a run can be repeated to the bit.
"""

import heapq
import random

SECOND = 10**9
MILLISECOND = 10**6


class World:
    """Events in the order of their times; those of one time in the order in which they were set.

    Args:
        seed: Of all that is random.

    Attributes:
        now: The time [ns].
        random: The source of all that is random.
    """

    def __init__(self, seed=0):
        self.now = 0
        self.random = random.Random(seed)
        self._events, self._count = [], 0

    def at(self, when, work):
        """Call `work` at a time [ns]."""
        heapq.heappush(self._events, (when, self._count, work))
        self._count += 1

    def every(self, period, work):
        """Call `work` now and after each period [ns]."""
        due = self.now

        def again():
            nonlocal due
            due += period
            self.at(due, again)
            work()

        self.at(due, again)

    def advance(self, until, ends=None):
        """Let time pass until a moment [ns], or until `ends()` is true after an event."""
        while self._events and self._events[0][0] <= until:
            when, _, work = heapq.heappop(self._events)
            self.now = max(self.now, when)
            work()
            if ends is not None and ends():
                return
        self.now = max(self.now, until)


class Link:
    """Carries messages from one part to another, in order.

    Args:
        world: The clock.

    Attributes:
        delay: Shortest and longest delay of a message [ns].
        loss: Probability that a message is lost.
        doubling: Probability that it comes twice.
    """

    def __init__(self, world):
        self._world = world
        self.delay, self.loss, self.doubling = (0, 0), 0.0, 0.0
        self._last = self._held_until = 0

    def hold(self, seconds):
        """Keep what is sent from now on, and let it come at once after a while."""
        self._held_until = self._world.now + round(SECOND * seconds)

    def send(self, deliver):
        """Call `deliver` when the message arrives."""
        world = self._world
        if self.loss and world.random.random() < self.loss:
            return
        delay = world.random.randint(*self.delay) if self.delay[1] else 0
        self._last = max(self._last, world.now + delay, self._held_until)
        twice = self.doubling and world.random.random() < self.doubling
        for _ in range(2 if twice else 1):
            world.at(self._last, deliver)


class Stalls:
    """When a part of the world stands still."""

    def __init__(self, world):
        self._world = world
        self._times = []

    def add(self, begin, seconds):
        """Let it stand still from a time on [ns], for a while [s]."""
        self._times.append((begin, begin + round(SECOND * seconds)))

    def end(self):
        """Return when it goes on: now, unless it stands still."""
        now = self._world.now
        return max([end for begin, end in self._times if begin <= now < end], default=now)
