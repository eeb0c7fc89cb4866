# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Faults and the required reactions: one row for each fault, one test for each row.

`REJECT`: the input is dropped, counted and reported in `~/status`; the previous one stays valid.
`HOLD`: the arm brakes within its limits, then no command is sent. `STOP`: no command is sent until
the chain is enabled again. `REFUSE`: the transition, parameter or description fails with a reason,
and the old one stays.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """A fault.

    Attributes:
        section: The subject of the fault.
        fault: The fault.
        required: The required reaction.
        how: The needs of its test: "pure"; "bench", the whole node on a clock of its own; or
            "processes".
    """

    section: str
    fault: str
    required: str
    how: str


def _section(section: str, first: int, *rows: tuple[str, str, str]) -> dict[int, Row]:
    return {first + k: Row(section, *row) for k, row in enumerate(rows)}


PURE, BENCH, PROCESSES = "pure", "bench", "processes"

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
            "a frame without a transform",
            "REJECT(NO_TRANSFORM); accepted as soon as the frame is published",
            BENCH,
        ),
        ("a stamp that is too old", "REJECT(STALE)", PURE),
        ("a stamp too far in the future", "REJECT(FUTURE)", PURE),
        ("a stamp of zero", "means now, with the latest transform, as documented", PURE),
        ("nanoseconds of 1e9 and more, negative seconds", "REJECT(BAD_STAMP)", PURE),
        ("a stamp older than that of the last accepted target", "REJECT(OUT_OF_ORDER)", PURE),
        (
            "a stream of targets ends",
            "HOLD within the timeout and a period, even if /clock stands still",
            BENCH,
        ),
        (
            "10,000 targets a second",
            "the newest target wins; memory stays flat; a command in each period",
            BENCH,
        ),
        (
            "two publishers of targets",
            "the newest target wins; a warning has their number",
            BENCH,
        ),
        (
            "a target jumps by metres or half a turn",
            "the arm keeps its limits",
            BENCH,
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
            "no command jumps",
            BENCH,
        ),
        (
            "the simulation's clock goes back by 0.5 s, or by 5 s",
            "targets, ages and tf are discarded; HOLD; then targets are accepted again",
            BENCH,
        ),
        (
            "the clock jumps ahead by an hour",
            "one HOLD; a period stays a period; no burst of commands",
            BENCH,
        ),
        (
            "use_sim_time without a publisher of /clock",
            "it waits and reports why; no command",
            BENCH,
        ),
        (
            "the system's time is set",
            "no effect on time limits: they use a steady clock",
            PURE,
        ),
    ),
    **_section(
        "Joint state",
        28,
        ("there are no joint states", "no command; the status reports it", BENCH),
        (
            "a joint of the chain is missing",
            "each joint has its own age; HOLD once one is too old",
            PURE,
        ),
        ("the joints are in another order", "the same command", PURE),
        ("there are foreign joints", "they are ignored", PURE),
        ("a duplicate joint", "REJECT(DUPLICATE_JOINT)", PURE),
        ("more names than positions, or fewer", "REJECT(SIZE_MISMATCH); no exception", PURE),
        (
            "NaN or infinity for a joint of the chain, or another",
            "REJECT(NON_FINITE), or ignored",
            PURE,
        ),
        ("joint states end in motion", "HOLD, reported as too old joint states", PURE),
        ("a joint is measured outside its limits", "it only moves inward", PURE),
        (
            "another node moves the arm while it has no target",
            "the next motion begins at the measured positions",
            BENCH,
        ),
        ("the arm does not follow its commands", "STOP(TRACKING_LOST)", BENCH),
    ),
    **_section(
        "Model",
        39,
        ("the robot description is 30 s late", "it waits, and configures once", BENCH),
        ("an empty, truncated or non-XML one, NUL bytes", "REFUSE, with the line", PURE),
        (
            "a DOCTYPE, an exponential entity, an external entity",
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
            BENCH,
        ),
        (
            "a revolute joint without limits, lower above upper, NaN, no velocity",
            "on the chain REFUSE with the joint; off it a note",
            PURE,
        ),
        ("the numbers nan, 1e999 and 1_000", "REFUSE, by a strict grammar", PURE),
        (
            "a zero axis; an axis of another length; an infinite origin",
            "REFUSE; normalised; REFUSE",
            PURE,
        ),
        ("links without length", "supported; no 0/0; forward kinematics are exact", PURE),
        (
            "a joint mimics one that mimics; two mimic each other; the one it mimics is missing",
            "resolved; REFUSE; REFUSE",
            PURE,
        ),
        ("a prismatic joint in the chain", "exact, never ignored", PURE),
        ("a floating or planar joint in the chain; off it", "REFUSE; ignored", PURE),
        (
            "a loop, two parents, two roots, a duplicate name, an unknown tip",
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
        ("a target too near, in the hole of the workspace", "the same with TOO_NEAR", PURE),
        (
            "a straight chain, and a target on its line",
            "the same solution each time; a reachable target is reached",
            PURE,
        ),
        (
            "a target on a joint or on the root; a point at the ray's own origin, or behind it",
            "finite; DEGENERATE without a direction",
            PURE,
        ),
        ("a singularity", "the speed stays bounded; it is reported", PURE),
        ("limits prevent the solution", "it stops at the limit; LIMIT with the joint", PURE),
        (
            "the budget of iterations or of time is spent",
            "the best so far, in time",
            PURE,
        ),
        ("the solver returns NaN", "it is never published; HOLD", PURE),
        ("the same input twice, and after a restart", "the same to the last bit", PURE),
        (
            "an exception in a callback",
            "caught; STOP; one traceback",
            BENCH,
        ),
    ),
    **_section(
        "Parameters, life",
        63,
        (
            "a parameter that is NaN, negative, of another type or length, NaN in an array",
            "REFUSE; nothing changes",
            PURE,
        ),
        ("several parameters at once, half of them bad", "REFUSE all of them", PURE),
        ("a read-only parameter at run time", "REFUSE", PURE),
        ("a target while the node is inactive", "ignored, and not replayed", BENCH),
        (
            "deactivated in motion, and activated again",
            "it brakes, then sends nothing; it restarts at the measured positions",
            BENCH,
        ),
        ("configured and activated 20 times", "nothing leaks", BENCH),
    ),
    **_section(
        "Process, network",
        69,
        (
            "SIGINT or SIGTERM during a solve, also twice",
            "exit status 0 after the solve",
            PROCESSES,
        ),
        (
            "the driver is killed",
            "HOLD once its states are too old; after its return no motion without a new target",
            PROCESSES,
        ),
        (
            "the node is killed",
            "the arm comes to rest: at a fixed goal, which it goes on to; else it brakes",
            PROCESSES,
        ),
        (
            "a second node of the same name, or a second publisher of commands",
            "detected in the graph; the node does not become active",
            PROCESSES,
        ),
        (
            "no subscriber for the commands, and later one",
            "nothing blocks; it works afterwards",
            BENCH,
        ),
        (
            "a fifth of the messages is lost, others are reordered; all are 0.2 or 0.6 s late",
            "all commands are safe; HOLD if messages are too old",
            BENCH,
        ),
        ("a publisher with an incompatible QoS", "an ERROR with topic and policy", PROCESSES),
        (
            "a participant without keys under an enforced security policy",
            "it can neither command nor set parameters",
            PROCESSES,
        ),
        (
            "the cache of compiled code cannot be written, or is corrupt",
            "it starts without the cache, and warns",
            PROCESSES,
        ),
        (
            "no processor for longer than a period",
            "late periods are counted; a period stays a period",
            BENCH,
        ),
        ("the disk is full, the log cannot be written", "control continues", PROCESSES),
        (
            "hours of work",
            "memory does not grow; the slowest periods do not become slower",
            PROCESSES,
        ),
        (
            "activated while the arm still brakes after deactivate",
            "braked within the limits, then active; nothing is replayed",
            BENCH,
        ),
        (
            "the node is paused for 3 s in motion",
            "a motion to a fixed goal ends there; others brake; a line goes on from rest, within "
            "its limits",
            BENCH,
        ),
        (
            "a controller at 20 % and 30 % of its speed; a stop, a newer target, deactivate in it",
            "the arm comes to rest within its limits; no first point away from the arm",
            BENCH,
        ),
        (
            "an arm that never moves; a joint blocked for 0.6 s; an emergency stop in mid-motion",
            "STOP(TRACKING_LOST) with joint and distance; no step on release; never ARRIVED",
            BENCH,
        ),
        (
            "one old joint state repeated for ever; stamps of 1970",
            "as without joint states",
            BENCH,
        ),
        (
            "another node publishes zeros beside the driver",
            "REJECT(JUMP) with its name; no command from the false state",
            BENCH,
        ),
        (
            "the driver is gone for 25 s; the arm may have moved; a target before the first state",
            "no motion without a new target",
            BENCH,
        ),
        (
            "stopped, then another description, cleanup and configure, in any order",
            "stopped until it is enabled",
            BENCH,
        ),
        (
            "two chains of a node share joints; a duplicate chain",
            "REFUSE with the joints or the name",
            PURE,
        ),
        (
            "invalid topic names, a zero pointing axis, an invalid home or invalid limits",
            "one line with the parameter, at once: the program ends, or REFUSE",
            PURE,
        ),
        (
            "a followed frame becomes a child of the tool",
            "it is no longer followed",
            BENCH,
        ),
        (
            "the last check fails once at full speed",
            "it brakes from the last good command, and latches",
            PURE,
        ),
        (
            "another description, 190 kB and 990 joints, in motion",
            "no period is missed",
            BENCH,
        ),
        (
            "100 targets out of reach a second",
            "a command in each period; the last solution is kept",
            BENCH,
        ),
        (
            "SIGINT, SIGTERM, twice, at full speed",
            "it brakes within 0.5 s, then exit status 0; another if forced",
            PROCESSES,
        ),
        (
            "the controller is stopped, started or replaced; a second publisher on its topic",
            "HOLD or REFUSE; no step on its return",
            BENCH,
        ),
        (
            "a simulation at a fifth of real time, paused, reset",
            "the limits hold in simulated time; no motion while paused",
            BENCH,
        ),
        (
            "joint states 150 ms late; an arm that is always 0.03 rad off its command",
            "no step back, no drift over 1,000 motions",
            PURE,
        ),
        (
            "a brake that the controller takes too late, and refuses",
            "it is sent again, earlier; STOPPED once the controller rests",
            BENCH,
        ),
        (
            "a stop before the controller has taken the motion, and however late it then does",
            "the motion is recalled: the arm never moves",
            BENCH,
        ),
        (
            "the controller holds the arm because of its path tolerance",
            "told within 30 ms, with joint and parameter; nothing is sent",
            BENCH,
        ),
        (
            "the controller scales its speed to 0, and back; a stop meanwhile, which is lost",
            "it rests with its goal at WARN, and goes on; STOPPED once the controller has taken it",
            BENCH,
        ),
        (
            "goals of the action that come 50 ms late in mid-motion; 8 ms, to one that blends",
            "the limits hold; no step back to where the motion was",
            BENCH,
        ),
        (
            "a motion that is on its way, up to 1.9 s, when a stop recalls it",
            "STOPPED once it can begin no more; nothing moves afterwards",
            BENCH,
        ),
        (
            "a stop while the driver stands still, and publishes nothing",
            "BRAKING until joint states are back and the arm rests",
            BENCH,
        ),
    ),
    **_section(
        "Collisions, if they are checked",
        106,
        (
            "a box is dropped on the way of an arm in motion",
            "it rests at least `stop_distance` before it and says so; once it is gone, it goes on",
            BENCH,
        ),
        (
            "the frame of an object is lost in mid-motion",
            "HOLD: WAITING says which object, and which frame",
            BENCH,
        ),
        (
            "an object appears on the arm",
            "the arm may leave it, and not go deeper",
            BENCH,
        ),
        (
            "a depth camera sees something on the way of an arm in motion, and the arm itself",
            "the arm rests before the one, which it names, and the other does not hold it",
            BENCH,
        ),
        (
            "a depth camera falls silent in mid-motion",
            "HOLD: WAITING says which topic",
            BENCH,
        ),
    ),
    **_section(
        "Postures, and targets that wait for a go",
        111,
        (
            "a posture that does not exist, or that does not fit the arm",
            "REJECT(UNKNOWN_POSTURE) with those that do; REFUSE it as a parameter, leave it out of "
            "an SRDF",
            PURE,
        ),
        (
            "~/go without a preview, before it is ready, twice",
            "refused with a sentence; for a target that waits nothing is sent",
            BENCH,
        ),
        (
            "others move the arm after its motion was rehearsed",
            "~/go is refused until it is rehearsed from there",
            BENCH,
        ),
        (
            "a preview that is older than 60 s; one whose frame is gone",
            "~/go is refused with a sentence; nothing moves",
            BENCH,
        ),
        (
            "a stop, silence, another target, another description and the like while one waits",
            "the preview is dropped; ~/go moves nothing",
            BENCH,
        ),
        (
            "a viewer that dies, or clicks, while its handle is followed on the release",
            "nothing moves",
            BENCH,
        ),
        (
            "the arm would choose another branch by the time of the go",
            "it goes to the joint positions that were shown",
            BENCH,
        ),
    ),
    **_section(
        "An arm that two controllers share",
        118,
        (
            "one takes no messages for up to 1.5 s in mid-motion; a stop, another target meanwhile",
            "no leap; both brake on the path, and go on once it takes them",
            BENCH,
        ),
        (
            "one takes no message from the begin on",
            "nothing moves alone; the target is dropped, with its name",
            BENCH,
        ),
        (
            "one is switched off in mid-motion, and on again",
            "the other brakes on the path; told with its name; no step on its return",
            BENCH,
        ),
        (
            "one holds its joints because of its path tolerance",
            "told within 40 ms, with its name, joint and parameter; the other brakes",
            BENCH,
        ),
        (
            "one scales its speed",
            "both rest with their goal at WARN, with its name, and go on at full speed",
            BENCH,
        ),
        (
            "a joint that neither has, or both have; one without a joint of the chain",
            "WAITING with names and remedy before the first motion; nothing is sent",
            BENCH,
        ),
    ),
    **_section(
        "Hands, policies and the gripper",
        124,
        (
            "NaN, a quaternion of zeros or an old stamp in the pose of a device that is held",
            "REJECT; the arm rests at the target before, and the device leads it again",
            BENCH,
        ),
        (
            "a tracker jumps, turns in a moment, or is under another frame",
            "no motion; what the hand does next counts from there",
            BENCH,
        ),
        (
            "a tracker pauses, and is elsewhere afterwards",
            "HOLD within the timeout; no motion for what it has missed",
            BENCH,
        ),
        (
            "the release of a clutch is lost",
            "HOLD within the timeout and a period",
            BENCH,
        ),
        (
            "a clutch is held on through a stop, a silence of the joints, another target",
            "no motion until it was seen let go",
            BENCH,
        ),
        (
            "NaN, unknown joints, times that do not increase, or an old stamp in a chunk",
            "REJECT; the chunk before goes on to its end",
            BENCH,
        ),
        (
            "a chunk comes 0.3 s late, and contradicts the one before",
            "the newest wins from where the arm is; its past is skipped",
            BENCH,
        ),
        (
            "joint positions leap by a radian; NaN and unknown joints among them",
            "rate-limited motion only; REJECT",
            BENCH,
        ),
        (
            "a device of plain twists dies while it is deflected; NaN from it",
            "HOLD within the timeout; REJECT(NON_FINITE)",
            BENCH,
        ),
        (
            "an opening of the gripper that is NaN, or beyond its range",
            "REJECT; the command before goes on",
            BENCH,
        ),
        (
            "a gripper's controller refuses, is silent, or dies on the way",
            "FAILED with the reason in ~/status, within 2.5 s; the arm goes on",
            BENCH,
        ),
    ),
}
