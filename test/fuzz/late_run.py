# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tries random motions of a whole arm whose messages come late, and holds its outputs to bounds.

`python test/fuzz/late_run.py --patterns 100000 --seed 1` prints the table and exits with 1 if a
bound that docs/interfaces.md promises is exceeded, or if what the node says is not true of the arm.
With --write the table goes to docs/late_commands.md.
"""

import argparse
import itertools
import multiprocessing
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test" / "bench"), str(ROOT)]
from shared_robot import BASE, sharing  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from test_late_commands import (  # noqa: E402
    ACCELERATION,
    ACTION,
    ANY,
    DISTURBED,
    LEAP,
    PLACES,
    RULES,
    SETTLES,
    SPEED,
    TOPIC,
    WHOLE,
    Seen,
    disturb,
    disturb_anything,
    explains,
    move,
    rests_since,
    robot_with,
)
from world import MILLISECOND  # noqa: E402

PAGE = ROOT / "docs" / "late_commands.md"
PATTERNS = 6  # of one robot
SENT_BY = {(TOPIC, 1): "topic", (ACTION, 1): "action", (TOPIC, 2): "two topics"}
PROGRESS = 30.0  # s from one line of it to the next


class Case(NamedTuple):
    """What is sent how, and how late it comes."""

    interface: str
    rule: str
    """Of the controller."""
    latest: int
    """Longest delay, and longest time for which a part stands still [ms]."""
    kinds: tuple[str, ...]
    is_bounded: bool
    """Whether the limits are promised."""
    controllers: int = 1
    """How many share the arm."""


CASES = (
    Case(TOPIC, "stamp", 50, (*ANY, "twist"), True),
    Case(TOPIC, "stamp", 50, (*ANY, "twist"), True),
    Case(TOPIC, "blends", 10, (*ANY, "twist"), True),
    Case(ACTION, "stamp", 50, WHOLE, True),
    Case(ACTION, "blends", 10, WHOLE, True),
    Case(TOPIC, "stamp", 2000, ("target",), True),
    Case(TOPIC, "blends", 2000, ("target",), True),
    Case(TOPIC, "stamp", 2000, ANY[1:], False),
    Case(TOPIC, "blends", 2000, ANY[1:], False),
    Case(ACTION, "stamp", 2000, WHOLE, False),
    Case(ACTION, "blends", 2000, WHOLE, False),
    Case(TOPIC, "stamp", 50, (*ANY, "twist"), True, 2),
    Case(TOPIC, "stamp", 50, (*ANY, "twist"), True, 2),
    Case(TOPIC, "stamp", 2000, (*ANY, "twist"), False, 2),
)


class Pattern(NamedTuple):
    """One motion, and what the controller's output did."""

    seed: int
    case: Case
    kind: str
    leap: float
    """Beyond the limit of speed in a cycle [rad]."""
    speed: float
    """Times the limit."""
    rate: float
    """Acceleration, times the limit."""
    complaint: str
    """What is wrong; empty: nothing."""


def run(seed):
    """Return the patterns of one robot, and its seconds."""
    rng, case, patterns = random.Random(seed), CASES[seed % len(CASES)], []
    lag, checks = rng.choice([0.0, 0.03, 0.1]), ("false", "true")[seed // len(CASES) % 2]
    words = {"command_interface": case.interface, "check_collisions": checks}
    robots = {
        1: lambda: robot_with(lag, RULES[case.rule], **words),
        2: lambda: sharing(
            "-p", f"check_collisions:={checks}", lag=lag, lags={BASE: 0.03}, judged=False
        ),
    }
    with robots[case.controllers]() as robot:
        for _ in range(PATTERNS):
            kind = rng.choice(case.kinds)
            try:
                pattern = Pattern(seed, case, kind, *_try(robot, rng, case, kind), "")
            except AssertionError as error:  # where the robot then is, is not known
                complaint = f"{error or 'an assertion'}".splitlines()[0]
                return [*patterns, Pattern(seed, case, kind, 0.0, 0.0, 0.0, complaint)], robot.time
            if case.is_bounded and not (
                pattern.speed <= SPEED and pattern.rate <= ACCELERATION and pattern.leap <= LEAP
            ):
                pattern = pattern._replace(complaint="beyond the bounds")
            patterns.append(pattern)
        return patterns, robot.time


def _try(robot, rng, case, kind):
    """Disturb one motion; return its leap, speed and rate."""
    since, is_short = robot.world.now, case.latest <= 50
    if is_short:
        stalls = [(case.latest, 0), *([(10, 40)] if case.latest > 10 else [])]
        links = disturb(robot, rng, *rng.choice(stalls))
    else:
        links = disturb_anything(robot, rng, since, cycles=False)
        if case.is_bounded:  # with no cause to brake
            for link in (robot.states.link, robot.controller_states.link):
                link.delay, link.loss = (0, 100 * MILLISECOND), 0.0
    move(robot, rng, kind)
    robot.run(DISTURBED)
    for link in links:
        link.delay, link.loss = (0, 0), 0.0
    if not is_short:  # until no part stands
        robot.run(max(0.0, 3.5 - 1e-9 * (robot.world.now - since)) + SETTLES)
    assert explains(robot, since), "it does not say why it rests"
    if kind == "stop":
        robot.wait_status(state="STOPPED", patience=12.0)
        robot.run(0.2)
        told = [each["heard"] for each in robot.statuses if each["state"] == "STOPPED"]
        assert rests_since(robot, min(told) + 0.05), "it said STOPPED, and moved"
    robot.wait(robot.rests, "rest")
    seen = Seen(robot, since)
    assert robot.call(SetBool, "enable", data=True).success, "it is not enabled"
    if not is_short:  # until nothing can be taken any more
        robot.run(2.6)
        robot.reach(PLACES[2], 0.02)
        robot.wait(robot.rests, "rest")
    robot.arm.forget()
    robot.statuses[:] = robot.statuses[-1:]
    return float(seen.leap), float(seen.speed), float(seen.rate)


def table(patterns):
    """Return the table, as Markdown."""
    lines = [
        "| sent by | rule | delays, at most | what | promised | patterns | leaps "
        "| worst leap [rad] | speed | acceleration | wrong | seed |",
        "|---|---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]

    def row(pattern):
        return pattern.case, pattern.kind

    for (case, kind), group in itertools.groupby(sorted(patterns, key=row), key=row):
        rows = list(group)
        worst = max(rows, key=lambda each: (bool(each.complaint), each.leap, each.rate))
        leaps = sum(each.leap > LEAP for each in rows)
        lines.append(
            f"| {SENT_BY[case.interface, case.controllers]} | {case.rule} "
            f"| {case.latest} ms | {kind} | {'yes' if case.is_bounded else 'no'} | {len(rows):,} "
            f"| {100.0 * leaps / len(rows):.3g} % | {max(0.0, *(each.leap for each in rows)):.3f} "
            f"| {max(each.speed for each in rows):.3f} | {max(each.rate for each in rows):.3f} "
            f"| {sum(bool(each.complaint) for each in rows)} | {worst.seed} |"
        )
    return "\n".join(lines)


def write(text, command):
    """Put the table into the page, below the command that makes it."""
    head, _ = PAGE.read_text().split("<!-- table -->\n")
    PAGE.write_text(f"{head}<!-- table -->\n`{command}` has printed:\n\n{text}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patterns", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the first robot's")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument(
        "--write", action="store_true", help="write the table to docs/late_commands.md"
    )
    given = parser.parse_args()
    robots = range(given.seed, given.seed - (-given.patterns // PATTERNS))
    patterns, seconds, began = [], 0.0, time.monotonic()
    told = began
    context = multiprocessing.get_context("spawn")
    with context.Pool(given.jobs, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for found, time_of_arm in pool.imap_unordered(run, robots):
                patterns += found
                seconds += time_of_arm
                for each in found:
                    if each.complaint:
                        print(f"{each.complaint}: {each}", flush=True)
                if time.monotonic() - told > PROGRESS:
                    told = time.monotonic()
                    print(f"{len(patterns):,} of {given.patterns:,}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("interrupted; so far:", file=sys.stderr)
    wrong = sum(bool(each.complaint) for each in patterns)
    text = (
        f"{table(patterns)}\n\n{len(patterns):,} patterns, {seconds:,.0f} s of the arm, in "
        f"{time.monotonic() - began:,.0f} s by {given.jobs} processes; {wrong} wrong."
    )
    print(text)
    if given.write:
        program = Path(__file__).relative_to(ROOT)
        write(text, f"python {program} --patterns {given.patterns} --seed {given.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
