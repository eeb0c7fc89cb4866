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

"""What can go wrong, and what is required then: one row for each fault, one test for each row.

`REJECT`: the input is dropped, counted and named in `~/status`; what was in force stays. `HOLD`:
the arm brakes within its limits, then silence. `STOP`: nothing is commanded until somebody enables
it again. `REFUSE`: the transition, parameter or description fails with its reason, and the old one
stays.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A fault.

    Attributes:
        section: What it is a fault of.
        fault: What happens.
        required: What must follow.
        how: What its test needs: "pure", "processes", "network namespace" or "relay".
    """

    section: str
    fault: str
    required: str
    how: str


def _section(section: str, first: int, *rows: tuple[str, str, str]) -> dict[int, Row]:
    return {first + k: Row(section, *row) for k, row in enumerate(rows)}


PURE, PROCESSES, RELAY = "pure", "processes", "relay"

ROWS: dict[int, Row] = {
    **_section(
        "Target",
        1,
        ("NaN in any field of a pose", "REJECT(NON_FINITE)", PURE),
        ("an infinity in any field", "REJECT(NON_FINITE)", PURE),
        ("finite, but 1e200", "REJECT(OUT_OF_RANGE)", PURE),
        ("a quaternion of zeros", "REJECT(BAD_QUATERNION); it never means no rotation", PURE),
        ("a quaternion's length is off by less, or more, than 1e-3", "normalised, or REJECT", PURE),
        ("a quaternion and its opposite", "the same command", PURE),
        ("an empty frame_id", "REJECT(NO_FRAME)", PURE),
        (
            "a frame_id of 1 MB, with control characters, or with a leading slash",
            "REJECT before tf is asked; at most 128 characters of it in the log, escaped; memory "
            "stays flat",
            PURE,
        ),
        (
            "a frame that tf does not know",
            "REJECT(NO_TRANSFORM); taken as soon as the frame is published",
            PROCESSES,
        ),
        ("a stamp that is too old", "REJECT(STALE)", PURE),
        ("a stamp too far in the future", "REJECT(FUTURE)", PURE),
        ("a stamp of zero", "means now, with tf's latest; the documentation says so", PURE),
        ("nanoseconds of 1e9 and more, negative seconds", "REJECT(BAD_STAMP)", PURE),
        ("older than the last that was taken", "REJECT(OUT_OF_ORDER)", PURE),
        (
            "a stream of targets ceases",
            "HOLD within its time limit and a period, even if /clock stands still",
            PROCESSES,
        ),
        (
            "10,000 targets a second, for a minute",
            "the newest counts; memory stays flat; the loop keeps 95 % of its rate",
            PROCESSES,
        ),
        (
            "two publishers of targets",
            "the newest counts; a warning names how many there are",
            PROCESSES,
        ),
        (
            "a target jumps by metres, or half a turn",
            "the arm moves within its limits, and no faster",
            PROCESSES,
        ),
    ),
    **_section(
        "Frames, time",
        19,
        ("the frame is in another tree of tf", "REJECT(NO_TRANSFORM) within 1 ms", PURE),
        ("a loop in tf", "REJECT(NO_TRANSFORM) within 1 ms", PURE),
        ("tf with an infinite translation", "REJECT after the transform", PURE),
        ("tf of a moving frame is too old", "REJECT(TF_STALE)", PURE),
        (
            "a frame gets another parent; two publishers contradict each other",
            "nothing jumps",
            PROCESSES,
        ),
        (
            "the simulation's clock goes back by 0.5 s, or by 5 s",
            "targets, ages and tf are forgotten; HOLD; then it takes targets again",
            PROCESSES,
        ),
        (
            "the clock leaps ahead by an hour",
            "one HOLD; a period stays a period; no burst of commands",
            PROCESSES,
        ),
        (
            "use_sim_time, but nobody publishes /clock",
            "it waits and says for what; no command",
            PROCESSES,
        ),
        (
            "the system's time is set",
            "time limits go on as before: they are counted on a steady clock",
            PURE,
        ),
    ),
    **_section(
        "Joint state",
        28,
        ("no joint state ever comes", "no command; the status says that none has come", PROCESSES),
        (
            "a joint of the chain is missing",
            "each joint has an age of its own; HOLD once one is too old",
            PURE,
        ),
        ("the joints come in another order", "the same command", PURE),
        ("there are other joints beside the chain's", "they are ignored", PURE),
        ("a joint is named twice", "REJECT(DUPLICATE_JOINT)", PURE),
        ("more names than positions, or fewer", "REJECT(SIZE_MISMATCH); no exception", PURE),
        (
            "NaN or an infinity in a joint of ours, or of others",
            "REJECT(NON_FINITE), or ignored",
            PURE,
        ),
        ("joint states cease in mid-motion", "HOLD, which says that they are too old", PURE),
        ("a joint is measured outside its limits", "it is moved inward only", PURE),
        (
            "somebody else moves the arm while it has no target",
            "the next motion begins where the arm is measured",
            PROCESSES,
        ),
        ("the arm does not follow its commands", "STOP(TRACKING_LOST)", PROCESSES),
    ),
    **_section(
        "Model",
        39,
        ("the robot description comes 30 s late", "it waits, and configures once", PROCESSES),
        ("an empty one, half a one, one that is no XML, NUL bytes", "REFUSE, with the line", PURE),
        (
            "a DOCTYPE, an entity that grows without end, an external one",
            "REFUSE every DOCTYPE",
            PURE,
        ),
        (
            "more than 4 MiB, 64 levels or 1,000 joints",
            "REFUSE before anything is built",
            PURE,
        ),
        (
            "another description at run time: the same, a different, a malformed one",
            "nothing changes; HOLD, then all of it at once, and new joint states are awaited; the "
            "old one is kept",
            PROCESSES,
        ),
        (
            "a revolute joint without limits, lower above upper, NaN, no velocity",
            "REFUSE, naming the joint, on the chain; a note off it",
            PURE,
        ),
        ("numbers such as nan, 1e999 and 1_000", "REFUSE, by a strict grammar", PURE),
        (
            "an axis of zero; one that is no unit vector; an infinite origin",
            "REFUSE; normalised; REFUSE",
            PURE,
        ),
        ("links without length", "supported; no 0/0; forward kinematics are exact", PURE),
        (
            "a joint mimics one that mimics; two mimic each other; the one it mimics is missing",
            "resolved; REFUSE; REFUSE",
            PURE,
        ),
        ("a prismatic joint in the chain", "exact, never left out", PURE),
        ("a floating or planar joint in the chain; off it", "REFUSE; ignored", PURE),
        (
            "a loop, two parents, two roots, a name twice, no such tip",
            "REFUSE, with the names",
            PURE,
        ),
        ("a continuous joint", "takes the shorter turn; no jump at pi", PURE),
    ),
    **_section(
        "Solver",
        53,
        (
            "a target too far away",
            "as near as it gets, TOO_FAR with the distance that is missing; no oscillation",
            PURE,
        ),
        ("a target too near, in the hole of the workspace", "likewise, TOO_NEAR", PURE),
        (
            "a straight chain, and a target on its line",
            "the same way out each time; it gets there if it can be reached",
            PURE,
        ),
        (
            "a target on a joint or on the root; a point at the ray's own origin, or behind it",
            "finite; DEGENERATE where there is no direction",
            PURE,
        ),
        ("a singularity", "the speed stays bounded; it is named", PURE),
        ("limits in the way", "it stops at the bound; LIMIT, naming the joint", PURE),
        (
            "the budget of iterations or of time is spent",
            "the best so far; never later than that",
            PURE,
        ),
        ("the solver returns NaN", "it is never published; HOLD", PURE),
        ("the same input twice, and after a restart", "the same to the last bit", PURE),
        (
            "an exception in a callback",
            "caught; STOP; one traceback",
            PROCESSES,
        ),
    ),
    **_section(
        "Parameters, life",
        63,
        (
            "a parameter that is NaN, negative, of another type or length, NaN in an array",
            "REFUSE; everything goes on as before",
            PURE,
        ),
        ("several parameters at once, half of them bad", "REFUSE all of them", PURE),
        ("a read-only parameter at run time", "REFUSE", PURE),
        ("a target while the node is inactive", "ignored, and not replayed", PROCESSES),
        (
            "deactivated in mid-motion, and activated again",
            "it brakes, then silence; it begins anew where the arm is measured",
            PROCESSES,
        ),
        ("configured and activated 100 times", "nothing leaks", PROCESSES),
    ),
    **_section(
        "Process, network",
        69,
        ("SIGINT or SIGTERM in mid-solve, also twice", "exit status 0 within 1 s", PROCESSES),
        (
            "the driver is killed",
            "HOLD once its states are too old; when it is back nothing moves without a new target",
            PROCESSES,
        ),
        ("the node is killed", "the arm comes to rest by its controller", PROCESSES),
        (
            "a second node of the same name, or a second publisher of commands",
            "seen in the graph; it does not become active",
            PROCESSES,
        ),
        (
            "nobody takes the commands, and then somebody does",
            "nothing blocks; it works again",
            PROCESSES,
        ),
        (
            "a fifth of the messages lost, others in another order or 200 ms late",
            "everything that must hold of commands holds; HOLD if they are too old",
            RELAY,
        ),
        ("a publisher whose quality of service does not fit", "an ERROR within 2 s", PROCESSES),
        (
            "a participant without keys, where a security policy is enforced",
            "it can neither command nor set parameters",
            PROCESSES,
        ),
        (
            "the cache of compiled code cannot be written, or is corrupt",
            "it starts without, and warns",
            PROCESSES,
        ),
        (
            "no processor for longer than a period",
            "late periods are counted; a period stays a period",
            PROCESSES,
        ),
        ("the disk is full, the log cannot be written", "it goes on controlling", PROCESSES),
        ("hours of work", "memory does not grow; the slowest periods stay as they are", PROCESSES),
        (
            "activated while the arm still brakes after deactivate",
            "braked within the limits, then active; nothing is replayed",
            PROCESSES,
        ),
        (
            "the node stands still for 3 s in mid-motion",
            "it goes on from rest, within its limits, from the measured state",
            PROCESSES,
        ),
        (
            "a controller at 20 % and 30 % of its speed; a stop, a newer target, deactivate in it",
            "the arm comes to rest within its limits; no first point away from where it is",
            PROCESSES,
        ),
        (
            "an arm that never moves; a joint blocked for 0.6 s; an emergency stop in mid-motion",
            "STOP(TRACKING_LOST), naming joint and distance; no step on release; never ARRIVED",
            PROCESSES,
        ),
        ("one old joint state told for ever; stamps of 1970", "as if there were none", PROCESSES),
        (
            "somebody publishes zeros beside the driver",
            "REJECT(JUMP), naming it; no command from the false state",
            PROCESSES,
        ),
        (
            "the driver away for 25 s and back, here or elsewhere; a target before the first state",
            "nothing moves without a new target",
            PROCESSES,
        ),
        (
            "stopped, then another description, cleanup and configure, in any order",
            "stopped until it is enabled",
            PROCESSES,
        ),
        (
            "two chains of a node share joints; a chain is named twice",
            "REFUSE, naming the joints or the name",
            PURE,
        ),
        (
            "names that cannot be topics, a pointing axis of zero, a bad home or bad limits",
            "one line that names the parameter, at once: the program ends, or REFUSE",
            PURE,
        ),
        (
            "a frame that is followed comes to hang on the tool",
            "it is followed no longer; no chase",
            PROCESSES,
        ),
        (
            "the last check fails once at full speed",
            "it brakes from the last good command, and latches",
            PURE,
        ),
        (
            "another description, 190 kB and 990 joints, in mid-motion",
            "no period is missed",
            PROCESSES,
        ),
        (
            "100 targets out of reach a second",
            "no period is missed for a solve; the last solution is kept",
            PROCESSES,
        ),
        (
            "SIGINT, SIGTERM, twice, at full speed",
            "it brakes within 0.5 s, then exit status 0; another if it was forced",
            PROCESSES,
        ),
        (
            "the controller is stopped, started or exchanged; a second publisher on its topic",
            "HOLD or REFUSE; no step when it is back",
            PROCESSES,
        ),
        (
            "a simulation at a fifth of real time, paused, reset",
            "the limits hold in its own time; nothing moves while it is paused",
            PROCESSES,
        ),
        (
            "joint states 150 ms late; an arm that is 0.03 rad beside its command for ever",
            "no step back, no creeping over 1,000 motions",
            PURE,
        ),
    ),
}
