# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Feeds random inputs to the package, counts them, and stores the failing ones.

`make fuzz N=1000000 SEED=1` runs all targets, prints the table, and exits with 1 if anything has
failed. With WRITE=1 the table goes to docs/fuzz.md.
"""

import argparse
import contextlib
import hashlib
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import fuzz_arm as arm
import fuzz_descriptions as descriptions
import fuzz_messages as messages
import fuzz_parameters as parameters
from fuzz_inputs import as_text, from_text

CORPUS = Path(__file__).parent / "corpus"
PAGE = Path(__file__).parents[2] / "docs" / "fuzz.md"
PATIENCE = 60.0  # s of processor time: a case that takes longer hangs
KEPT = 5  # failures of a target in one run; more are counted only
MOST_GROWTH = 512  # MB of memory, of the whole run


class Target(NamedTuple):
    """One way into the package."""

    what: str
    """For people."""
    share: int
    """Of all inputs [%]."""
    make: Callable[[random.Random], Any]
    """Returns a case, of one input or of several."""
    run: Callable[[Any], Counter]
    """Feeds it; counts the inputs by what became of them, and raises where that is wrong."""


TARGETS = {
    "pose": Target("`~/target_pose`", 23, messages.make_pose, messages.run_pose),
    "point": Target("`~/target_point`", 10, messages.make_point, messages.run_point),
    "twist": Target("`~/twist`", 12, messages.make_twist, messages.run_twist),
    "joint_jog": Target("`~/joint_jog`", 12, messages.make_joint_jog, messages.run_joint_jog),
    "joint_states": Target(
        "`joint_states`", 15, messages.make_joint_states, messages.run_joint_states
    ),
    "speed_override": Target(
        "`~/speed_override`", 5, messages.make_speed_override, messages.run_speed_override
    ),
    "opening": Target("`~/gripper`", 1, messages.make_opening, messages.run_opening),
    "hand": Target("the page's hands, as JSON", 2, messages.make_hand, messages.run_hand),
    "trajectory": Target(
        "trajectories to the simulated controller",
        7, messages.make_trajectory, messages.run_trajectory,
    ),
    "urdf": Target("`robot_description`", 3, descriptions.make_urdf, descriptions.run_urdf),
    "parameters": Target(
        "parameters, at start and at run time",
        2, parameters.make_parameters, parameters.run_parameters,
    ),
    "file": Target(
        "parameter files, lists of targets", 1, parameters.make_file, parameters.run_file
    ),
    "chain_state": Target(
        "events of the state machine", 6, arm.make_chain_state, arm.run_chain_state
    ),
    "arm": Target("anything in any order, to a whole arm", 1, arm.make_arm, arm.run_arm),
}  # fmt: skip


class Tally:
    """What has become of the inputs of one target."""

    def __init__(self):
        self.outcomes, self.failures = Counter(), 0
        self.seconds = 0.0  # of processor time

    @property
    def inputs(self):
        """How many there were; a case that fails counts as one."""
        return self.outcomes.total() + self.failures


@contextlib.contextmanager
def ending():
    """Interrupt what does not end."""

    def interrupt(*_):
        raise TimeoutError(f"not done in {PATIENCE} s")

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def feed(target, inputs, seed, tally=None, keep=None):
    """Feed one target.

    Args:
        target: Its name.
        inputs: How many.
        seed: Of the cases; each has a seed of its own.
        tally: Counts on.
        keep: Called with each case that fails, and the exception; None: that is raised.
    """
    tally = Tally() if tally is None else tally
    end, began, number = tally.inputs + inputs, time.process_time(), 0
    while tally.inputs < end:
        name = f"{target} {seed} {number}"
        case = TARGETS[target].make(random.Random(name))
        number += 1
        try:
            with ending():
                tally.outcomes += TARGETS[target].run(case)
        except Exception as error:
            if keep is None:
                text = as_text(case)[:1000]
                raise AssertionError(f"case '{name}' fails: {text}") from error
            tally.failures += 1
            keep(case, error)
    tally.seconds += time.process_time() - began
    return tally


def replay(path):
    """Feed a case that was kept once more."""
    with ending():
        return TARGETS[path.parent.name].run(from_text(path.read_text()))


def kept(target, case):
    """Keep a case in the corpus; return where."""
    text = as_text(case)
    path = CORPUS / target / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    return path


def memory():
    """Return the greatest amount of memory that this process has had [MB]."""
    (line,) = [x for x in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in x]
    return int(line.split()[1]) // 1024


def table(tallies):
    """Return the table, as Markdown."""
    lines = ["| target | what comes in | inputs | taken | refused | failures | s |"]
    lines.append("|---|---|--:|--:|---|--:|--:|")
    for name, tally in tallies.items():
        taken = tally.outcomes["taken"]
        others = [(n, reason) for reason, n in tally.outcomes.items() if reason != "taken"]
        refused = ", ".join(f"{reason} {n:,}" for n, reason in sorted(others, reverse=True))
        lines.append(
            f"| `{name}` | {TARGETS[name].what} | {tally.inputs:,} | {taken:,} | {refused} "
            f"| {tally.failures} | {tally.seconds:.0f} |"
        )
    inputs = sum(tally.inputs for tally in tallies.values())
    failures = sum(tally.failures for tally in tallies.values())
    seconds = sum(tally.seconds for tally in tallies.values())
    lines.append(f"| | together | {inputs:,} | | | {failures} | {seconds:.0f} |")
    return "\n".join(lines)


def write(text, inputs, seed):
    """Put the table into the page, below the command that makes it."""
    head, _ = PAGE.read_text().split("<!-- table -->\n")
    command = f"`make fuzz N={inputs} SEED={seed} WRITE=1` has printed:"
    PAGE.write_text(f"{head}<!-- table -->\n{command}\n\n{text}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--write", action="store_true", help="the table to docs/fuzz.md")
    given = parser.parse_args()
    names = given.target or list(TARGETS)
    whole = sum(TARGETS[name].share for name in names)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # tf2 logs every bad transform there
    before, tallies = memory(), {}
    for name in names:
        tally, seen = tallies.setdefault(name, Tally()), set()
        wanted = -(-given.inputs * TARGETS[name].share // whole)

        def keep(case, error, name=name, seen=seen):
            place = traceback.extract_tb(error.__traceback__)[-1]
            if (place.filename, place.lineno) in seen or len(seen) >= KEPT:
                return  # one of each kind
            seen.add((place.filename, place.lineno))
            print(f"{name}: {kept(name, case)}\n{''.join(traceback.format_exception(error))}")

        for part in range(10):
            left = wanted * (part + 1) // 10 - tally.inputs
            feed(name, max(left, 0), f"{given.seed} {part}", tally, keep)
            print(
                f"{name}: {tally.inputs:,} of {wanted:,}, {tally.failures} failures, "
                f"{tally.seconds:.0f} s", flush=True,
            )  # fmt: skip
    text = table(tallies)
    print(f"\n{text}\n\nmemory: {before} MB before, {memory()} MB at most")
    if memory() - before > MOST_GROWTH:
        print(f"that is more than {MOST_GROWTH} MB too much")
        return 1
    if given.write:
        write(text, given.inputs, given.seed)
    return int(any(tally.failures for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
