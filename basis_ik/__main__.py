# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""`python -m basis_ik`: inspect a robot's chain, solve for a pose, map its reach; without ROS."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from basis_ik import __version__
from basis_ik.dependencies import check_extra
from basis_ik.errors import BasisIkError
from basis_ik.extras.reach_map import reach_command

if TYPE_CHECKING:  # the compiler behind these takes a second to import; --help does not need it
    from basis_ik.numerics.arrays import FloatArray
    from basis_ik.robot.chain import Chain
    from basis_ik.robot.robot import RobotModel
    from basis_ik.solvers.pose.solve import Solution
    from basis_ik.transforms.rigid import RigidTransform

# As it was called: by the module, or by the command that pip installs.
PROGRAM = "basis_ik" if Path(sys.argv[0]).name == "basis_ik" else "python -m basis_ik"
FARTHEST_TARGET = 10  # times the reach: the units of what is farther are hardly metres
LONGEST_MESSAGE = 400  # characters
EXIT_STATUS = "Exit status: 0 done or reached, 1 not reached or an error, 2 wrong usage."
INSPECT_EXAMPLES = f"""examples:
  {PROGRAM} inspect --urdf urdf/ur5e.urdf
  {PROGRAM} inspect --urdf urdf/legs.urdf --tip ankle_l
  xacro my_robot.xacro | {PROGRAM} inspect --urdf - --json

{EXIT_STATUS}"""
SOLVE_EXAMPLES = f"""examples:
  {PROGRAM} solve --urdf urdf/ur5e.urdf --tip tool0 --xyz 0.4 0.2 0.3 --rpy 3.14 0 0
  {PROGRAM} solve --urdf urdf/legs.urdf --tip ankle_l --xyz 0.1 0.1 -0.7 --position-only --json
  {PROGRAM} solve --urdf urdf/pan_tilt.urdf --look-at 1 0.5 0.2 --axis 0 0 1
  {PROGRAM} solve --urdf urdf/ur5e.urdf --xyz 0.4 0.2 0.3 --rpy 3.14 0 0 --solver fabrik --trace
  {PROGRAM} solve --urdf urdf/panda.urdf --xyz 0.4 0.1 0.5 --rpy 3.14 0 0 --plot panda.png

{EXIT_STATUS}"""

REACH_EXAMPLES = f"""examples:
  {PROGRAM} reach --urdf urdf/panda.urdf --png panda.png --ply panda.ply
  {PROGRAM} reach --urdf urdf/ur5e.urdf --voxel 0.1 --orientations 100 --output ur5e.npz
  {PROGRAM} reach --urdf urdf/ur5e.urdf --scene cell.scene
  {PROGRAM} reach --urdf urdf/legs.urdf --tip ankle_l --position-only --publish
  {PROGRAM} reach --urdf urdf/panda.urdf --scheduler tcp://10.0.0.1:8786

Ctrl-C keeps what is done, and the same command continues it; see docs/reach_maps.md.
{EXIT_STATUS}"""


class InputError(BasisIkError):
    """Standard input cannot be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: Command line after the program's name; None: that of the process.

    Returns:
        Exit status: 0 done or reached, 1 not reached or an error (one line on stderr). Wrong usage
        exits by SystemExit with status 2.
    """
    words = [_plain(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    options = _parser().parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BasisIkError as error:
        print(f"{PROGRAM}: error: {_line(str(error))}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has closed the pipe; nothing may be flushed into it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _plain(word: str) -> str:
    """Return -1e-3 as -0.001, which argparse does not take for an option."""
    try:
        return format(Decimal(word), "f") if word.startswith("-") and len(word) < 40 else word
    except (InvalidOperation, ValueError):
        return word


def _line(text: str) -> str:
    """Return foreign text as one printable line of at most `LONGEST_MESSAGE` characters."""
    escaped = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return escaped if len(escaped) <= LONGEST_MESSAGE else f"{escaped[: LONGEST_MESSAGE - 3]}..."


def _number(word: str) -> float:
    """Parse a finite number, for argparse."""
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(word)
    return value


_number.__name__ = "number"  # argparse says "invalid number value"


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line, without the usage above it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {_line(message)}{_meant(message)}; see --help\n")


def _meant(message: str) -> str:
    """Return which of the choices in argparse's message is meant, if one is close."""
    found = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
    if found is None:
        return ""
    near = get_close_matches(found[1].replace("_", "-"), re.findall(r"[\w-]+", found[2]), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _parser() -> _Parser:
    does = "Inverse kinematics of a robot from its URDF, without ROS."
    parser = _Parser(PROGRAM, description=does, epilog=EXIT_STATUS)
    parser.add_argument("--version", action="version", version=f"basis_ik {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    inspect = _command(
        commands, "inspect", "print chain, limits, reach and every inference made", INSPECT_EXAMPLES
    )
    inspect.set_defaults(run=_inspect)
    solve = _command(
        commands, "solve", "find joint positions for a pose or a gaze of the tip", SOLVE_EXAMPLES
    )
    solve.set_defaults(run=_solve, parser=solve)
    _add_solve_options(solve)
    reach = _command(
        commands, "reach", "map which orientations are reached where, and how well", REACH_EXAMPLES
    )
    reach_command.add_options(reach)
    reach.set_defaults(run=_reach)
    warm = commands.add_parser(
        "warm-up", help="compile all kernels for this installation, ahead of their first use",
        description="Compile all kernels into the cache on disk, ahead of their first use.",
    )  # fmt: skip
    warm.add_argument("--node", action="store_true", help="only the kernels of ik_node")
    warm.set_defaults(run=_warm_up)
    return parser


def _add_solve_options(solve: argparse.ArgumentParser) -> None:
    """Add the options of the command `solve`."""
    goal = solve.add_mutually_exclusive_group(required=True)
    goal.add_argument(
        "--xyz", nargs=3, type=_number, metavar=("X", "Y", "Z"),
        help="position of the tip, in the root link's frame [m]",
    )  # fmt: skip
    goal.add_argument(
        "--look-at", nargs=3, type=_number, metavar=("X", "Y", "Z"),
        help="point for the tip to point at, in the root link's frame [m]",
    )  # fmt: skip
    solve.add_argument(
        "--axis", nargs=3, type=_number, metavar=("X", "Y", "Z"),
        help="with --look-at: the axis of the tip that points there; default: z of optical frames"
        " (_optical in the name) and of tools (tool0, tcp), x of any other",
    )  # fmt: skip
    solve.add_argument(
        "--rpy", nargs=3, type=_number, metavar=("ROLL", "PITCH", "YAW"),
        help="orientation of the tip: angles about the root's fixed x, then y, then z [rad]",
    )  # fmt: skip
    solve.add_argument(
        "--quaternion", nargs=4, type=_number, metavar=("X", "Y", "Z", "W"),
        help="orientation of the tip, instead of --rpy: as in a ROS message",
    )  # fmt: skip
    solve.add_argument("--position-only", action="store_true", help="leave the orientation free")
    solve.add_argument(
        "--seed", nargs="+", type=_number, metavar="Q",
        help="joint positions to start from [rad or m]; default: the middle of the limits",
    )  # fmt: skip
    solve.add_argument(
        "--solver", choices=("descent", "fabrik"), default="descent",
        help="damped least squares, or FABRIK's passes over the joints; default: descent",
    )  # fmt: skip
    solve.add_argument(
        "--trace", action="store_true",
        help="with --solver fabrik: print the joints' positions after each pass [m]",
    )  # fmt: skip
    solve.add_argument(
        "--plot", type=Path, metavar="FILE",
        help="draw the chain before and after, and the errors over the iterations;"
        " .png, .svg or .pdf; needs matplotlib",
    )  # fmt: skip


def warm_up() -> int:
    """Compile for this installation, as a program; return the exit status."""
    return main(["warm-up", *sys.argv[1:]])


def _warm_up(options: argparse.Namespace) -> int:
    from basis_ik.process import leave
    from basis_ik.warm_up_command import run

    try:
        run(sys.stdout, node=options.node)
    except KeyboardInterrupt:
        leave(130)
        raise
    return 0


def _command(commands: Any, name: str, does: str, examples: str) -> _Parser:
    """Add a command with the options that all commands have."""
    command: _Parser = commands.add_parser(
        name, help=does, description=f"{does.capitalize()}.", epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    command.add_argument(
        "--urdf", required=True, metavar="FILE", help="URDF, xacro expanded; - is stdin"
    )
    command.add_argument(
        "--root", metavar="LINK", help="link whose frame is the reference; else inferred"
    )
    command.add_argument("--tip", metavar="LINK", help="link to be moved; else inferred")
    command.add_argument("--json", action="store_true", help="print JSON, without limits as null")
    return command


def _inspect(options: argparse.Namespace) -> int:
    model, chain = _chain(options)
    print(
        json.dumps(_chain_data(model.name, chain), indent=2)
        if options.json
        else _chain_text(model.name, chain)
    )
    return 0


def _reach(options: argparse.Namespace) -> int:
    return reach_command.run(options, *_chain(options))


def _solve(options: argparse.Namespace) -> int:
    looks = options.look_at is not None
    turned = options.rpy is not None or options.quaternion is not None
    if looks and (turned or options.position_only):
        options.parser.error(
            "--look-at leaves the roll free: no --rpy, no --quaternion, no --position-only"
        )
    if options.rpy is not None and options.quaternion is not None:
        options.parser.error("--rpy and --quaternion are the same thing: give one of them")
    if not looks and options.axis is not None:
        options.parser.error("--axis belongs to --look-at")
    if not looks and not turned and not options.position_only:
        options.parser.error("give --rpy ROLL PITCH YAW, --quaternion X Y Z W, or --position-only")
    if looks and options.solver != "descent":
        options.parser.error("--solver fabrik takes a pose: no --look-at")
    if options.trace and options.solver != "fabrik":
        options.parser.error("--trace belongs to --solver fabrik")
    if options.plot:
        check_extra("--plot", "matplotlib")
    _, chain = _chain(options)
    solution = (
        _look_at(chain, options) if looks else _solve_pose(chain, options, trace=options.trace)
    )
    if not looks and math.hypot(*options.xyz) > FARTHEST_TARGET * chain.reach:
        text = f"--xyz is more than {FARTHEST_TARGET} times the reach of {chain.reach:.3g} m away"
        print(f"{PROGRAM}: note: {text}: are the units metres?", file=sys.stderr)
    if options.plot:
        _plot(chain, options, solution)
    if options.json:
        print(json.dumps(_solution_data(chain, solution), indent=2))
    else:
        angle = f"{solution.orientation_error:.3g} rad"
        errors = f"{solution.position_error:.3g} m" + f", {angle}" * (not options.position_only)
        print(
            "\n".join(
                [
                    _solution_text(chain, solution, angle if looks else errors),
                    *_passes_text(chain, solution),
                ]
            )
        )
    return 0 if solution.success else 1


def _solve_pose(
    chain: Chain,
    options: argparse.Namespace,
    max_iterations: int | None = None,
    *,
    trace: bool = False,
) -> Solution:
    from basis_ik.solvers.pose.solve import solve

    return solve(
        chain, _target(options), options.seed, position_only=options.position_only,
        max_iterations=max_iterations, solver=options.solver, trace=trace,
    )  # fmt: skip


def _target(options: argparse.Namespace) -> RigidTransform:
    from basis_ik.transforms.rigid import RigidTransform

    if options.quaternion is not None:
        return RigidTransform.from_quaternion_xyzw(options.quaternion, options.xyz)
    roll, pitch, yaw = options.rpy or (0.0, 0.0, 0.0)
    return RigidTransform.from_rpy(roll, pitch, yaw, options.xyz)


def _look_at(
    chain: Chain, options: argparse.Namespace, max_iterations: int | None = None
) -> Solution:
    from basis_ik.solvers.look.look_at import MAX_LOOK_ITERATIONS, look_at

    axis = _axis(chain, options)
    most = MAX_LOOK_ITERATIONS if max_iterations is None else max_iterations
    return look_at(chain, options.look_at, options.seed, axis=axis, max_iterations=most)


def _axis(chain: Chain, options: argparse.Namespace) -> tuple[float, float, float]:
    """Return the axis of the tip that points at the point."""
    from basis_ik.robot.names import forward_axis

    x, y, z = options.axis or forward_axis(chain.tip)
    return x, y, z


def _plot(chain: Chain, options: argparse.Namespace, solution: Solution) -> None:
    import numpy as np

    from basis_ik.extras import solve_plot as plot

    seed = chain.neutral if options.seed is None else np.array(options.seed)
    goal: RigidTransform | FloatArray
    if options.look_at is not None:
        goal = np.array(options.look_at)
        off = 0.0, plot.gaze_error(chain, seed, goal, _axis(chain, options))
        errors = plot.convergence(off, partial(_look_at, chain, options), solution)
    else:
        goal = _target(options)
        if options.solver == "fabrik":
            solution = _solve_pose(chain, options, trace=True)
        off, again = plot.pose_errors(chain, seed, goal), partial(_solve_pose, chain, options)
        errors = plot.convergence_of_passes(chain, goal, solution) or plot.convergence(
            off, again, solution
        )
    position_only = options.position_only
    plot.write_plot(options.plot, chain, goal, seed, solution, errors, position_only=position_only)


def _chain(options: argparse.Namespace) -> tuple[RobotModel, Chain]:
    """Return the robot and the requested chain."""
    from basis_ik.robot.robot import RobotModel

    if options.urdf == "-":
        model = RobotModel.from_urdf(_stdin())
    else:
        model = RobotModel.from_urdf_file(options.urdf)
    return model, model.chain(options.root, options.tip)


def _stdin() -> str:
    """Read standard input, up to the largest size of a robot description."""
    from basis_ik.robot.elements import MAX_BYTES, decoded

    try:
        return decoded(sys.stdin.buffer.read(MAX_BYTES + 1))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read standard input: {error}") from None


def _chain_data(name: str, chain: Chain) -> dict[str, Any]:
    """Return the output of `inspect` as data."""
    joints = [
        {
            "name": joint,
            "unit": "m" if chain.prismatic[i] else "rad",
            "continuous": bool(chain.continuous[i]),
            "lower": _finite(chain.lower[i]),
            "upper": _finite(chain.upper[i]),
            "velocity": float(chain.velocity[i]),
        }
        for i, joint in enumerate(chain.joint_names)
    ]
    return {
        "robot": name,
        "root": chain.root,
        "tip": chain.tip,
        "reach": chain.reach,
        "joints": joints,
        "path": [{"name": j.name, "kind": j.kind} for j in chain.joints],
        "inferences": list(chain.inferences),
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _chain_text(name: str, chain: Chain) -> str:
    """Return the output of `inspect` as text."""
    width = max(len(joint) for joint in chain.joint_names)
    lines = [
        f"robot {name or '(without a name)'}: {chain.root} -> {chain.tip}",
        f"reach at most {chain.reach:.4g} m from the origin of {chain.root}",
        f"{len(chain.joint_names)} joint{'s' * (len(chain.joint_names) != 1)} to solve for:",
    ]
    for i, joint in enumerate(chain.joint_names):
        unit = "m" if chain.prismatic[i] else "rad"
        bounds = f"{chain.lower[i]:9.4f} .. {chain.upper[i]:8.4f} {unit:3}"
        reach = f"{'without limits':>25}" if math.isinf(chain.lower[i]) else bounds
        lines.append(f"  {joint:{width}}  {reach}  at most {chain.velocity[i]:.4g} {unit}/s")
    lines.append("path: " + " ".join(f"{joint.name} ({joint.kind})" for joint in chain.joints))
    lines.append("assumed:" if chain.inferences else "nothing was assumed")
    return "\n".join([*lines, *(f"  {line}" for line in chain.inferences)])


def _solution_data(chain: Chain, solution: Solution) -> dict[str, Any]:
    """Return the output of `solve` as data."""
    data = {
        "root": chain.root,
        "tip": chain.tip,
        "success": solution.success,
        "verdict": solution.verdict.name,
        "reason": str(solution.reason),
        "proven": solution.reason.proven,
        "positions": dict(zip(chain.joint_names, solution.positions.tolist(), strict=True)),
        "position_error": solution.position_error,
        "orientation_error": solution.orientation_error,
        "iterations": solution.iterations,
        "restarts": solution.restarts,
        "inferences": list(chain.inferences),
    }
    passes = solution.passes
    if passes is not None:
        data["passes"] = {
            "count": passes.count,
            "restarts": passes.restarts,
            "polished": passes.polished,
            "position_error": passes.position_error,
            "orientation_error": passes.orientation_error,
            "trace": [
                {
                    "after": stage.name,
                    "start": stage.start,
                    "points": dict(zip(_point_names(chain), stage.points.tolist(), strict=True)),
                    "positions": dict(
                        zip(chain.joint_names, stage.positions.tolist(), strict=True)
                    ),
                }
                for stage in passes.stages
            ],
        }
    return data


def _point_names(chain: Chain) -> list[str]:
    """Return the names of the points of a trace: the joints that move, and the tip."""
    return [joint.name for joint in chain.joints if joint.kind != "fixed"] + [chain.tip]


def _passes_text(chain: Chain, solution: Solution) -> list[str]:
    """Return the lines of text about FABRIK's passes."""
    passes = solution.passes
    if passes is None:
        return []
    then = "then a descent" if passes.polished else "no descent"
    lines = [
        f"FABRIK: {passes.count} passes, {passes.restarts} restarts, {then}; "
        f"the passes alone leave {passes.position_error:.3g} m, {passes.orientation_error:.3g} rad"
    ]
    for stage in passes.stages:
        lines.append(f"after {stage.name}, start {stage.start}:")
        for name, (x, y, z) in zip(_point_names(chain), stage.points.tolist(), strict=True):
            lines.append(f"  {x:10.6f} {y:10.6f} {z:10.6f}  {name}")
    return lines


def _solution_text(chain: Chain, solution: Solution, errors: str) -> str:
    """Return the output of `solve` as text."""
    width = max(len(joint) for joint in chain.joint_names)
    lines = [
        f"{chain.root} -> {chain.tip}: {solution.reason}",
        f"off by {errors}; {solution.iterations} iterations, {solution.restarts} restarts",
    ]
    for i, joint in enumerate(chain.joint_names):
        unit = "m" if chain.prismatic[i] else "rad"
        lines.append(f"  {joint:{width}}  {solution.positions[i]:12.8f} {unit}")
    return "\n".join([*lines, *(f"assumed: {line}" for line in chain.inferences)])


if __name__ == "__main__":
    sys.exit(main())
