# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shapes for an arm: its goal, its solution, and the error between them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from basis_ik.arm.chain_state import State
from basis_ik.arm.goals import Goal, JointGoal, MotionGoal, PointGoal, PoseGoal, Ray
from basis_ik.collision.collision_scene import Gap
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.solvers.pose.fabrik_passes import Stage
from basis_ik.solvers.pose.solve import Solution
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.ghost import Ghost
from basis_ik.view.shapes import (
    BLUE,
    FAINT,
    GREEN,
    LETTER_WIDTH,
    MAGENTA,
    ORANGE,
    RED,
    YELLOW,
    Ball,
    Lines,
    Shape,
    Text,
    at,
    axes,
    dashes,
    great_circles,
    joined,
    passes_lines,
)
from basis_ik.view.words import Words


class ArmStyle(NamedTuple):
    """How an arm is shown; extents and reaches are those of its chain."""

    text_width: float = 1.5  # [extents], largest width of a line of text
    line_length: int = 48  # characters
    head_size: float = 0.6  # [m], of what is around a head
    ghost_distance: float = 0.02  # [rad or m] left for a joint, from which the ghost is shown
    drawn_turn: float = 0.01  # [rad]; smaller errors of the orientation are not drawn
    near_reach: float = 0.85  # [reaches], from which a target is near the bound of the reach
    reach_line: float = 0.002  # [reaches], width of its lines
    arc_radius: float = 0.9  # [tenths of the extent], of a joint's range
    arc_lines: int = 32  # that replace an arc
    way_places: int = 60  # of the tip, at most, that are shown of its way


ARM_STYLE = ArmStyle()
HARD_SPACE = "\N{NO-BREAK SPACE}"
# A chain with fewer joints does not reach but look, at points beyond its reach.
FEWEST_REACHING_JOINTS = 3
SHOWN_AT_LIMIT = 1e-3  # [rad or m]; a joint this close to a limit is shown there

Poses = dict[str, RigidTransform]


class ArmView(NamedTuple):
    """The state of an arm, in its chain's root frame."""

    chain: Chain
    ghost: Ghost
    measured: FloatArray
    """Measured positions of the joints (n,) [rad or m]; NaN if unknown."""
    state: State
    words: Words
    goal: Goal | None = None
    """The goal; shapes are drawn for poses and points."""
    solution: Solution | None = None
    """The solution for the goal; None if there is none or the goal needs none."""
    stages: tuple[Stage, ...] = ()
    """The chain after each of FABRIK's passes; empty if another solver was used."""
    way: FloatArray | None = None
    """The joints' way to it (k, n), if it is a preview."""
    near: tuple[Gap, ...] = ()
    """Pairs of links and objects that are near each other, as measured."""
    held_by: tuple[str, str] | None = None
    """The pair that holds the arm."""

    @property
    def destination(self) -> FloatArray | None:
        """Desired positions of the joints (n,) [rad or m]; None without a solution or goal."""
        if self.solution is not None:
            return self.solution.positions
        if isinstance(self.goal, (JointGoal, MotionGoal)):
            return np.array(self.goal.positions)
        return None


def extent(chain: Chain, goal: Goal | None) -> float:
    """Return the size of the scene [m]: the reach, or half the distance to the point."""
    away = np.linalg.norm(goal.root_point) if isinstance(goal, PointGoal) else 0.0
    least = ARM_STYLE.head_size if len(chain.joint_names) < FEWEST_REACHING_JOINTS else 0.0
    return max(chain.reach, 0.5 * float(away), least)


class ArmScene:
    """Shapes for successive views of an arm.

    Shapes of the goal and the solution are reused until one of these changes, and so is the text.
    """

    def __init__(self) -> None:
        self._of: tuple[object, ...] = ()
        self._kept: list[Shape] = []
        self._top = 0.0
        self._told: tuple[Words, str, float, float] | None = None

    def shapes(self, view: ArmView) -> list[Shape]:
        """Return the shapes for a view."""
        chain, destination = view.chain, view.destination
        known = bool(np.isfinite(view.measured).all())
        under_way = destination is not None and _under_way(view, destination)
        size = 0.1 * extent(chain, view.goal)
        links = chain.link_poses(view.measured) if known else {}
        # Without a solution the measured arm is used, which moves.
        free = view.measured.tobytes() if destination is None else b""
        made_of = (view.goal, view.solution, view.stages, view.way, view.ghost, under_way, free)
        if not _same(made_of, self._of):
            self._of, self._kept, self._top = made_of, [], -np.inf
            self._kept.append(_reach(chain, _is_near_reach(view)))
            if destination is not None:
                poses = chain.link_poses(destination)
                self._top = _top(view.ghost, poses)
                self._kept += _solution_shapes(view, destination, poses, size)
                if under_way:
                    self._kept += _ghost(view, poses, size)
                if view.way is not None:
                    self._kept.append(_way(view, view.way, size))
            elif known:
                self._kept += _solution_shapes(view, view.measured, links, size)
        top = max(self._top, _top(view.ghost, links) if links else 0.0)
        told = (view.words, chain.root, top, size)
        if told != self._told:
            self._told, self._text = told, _state(*told)
        return [*self._kept, *_gaps(view, size), self._text]


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Return whether two views consist of the same objects; arrays have no single comparison."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, (bytes, bool)) and a == b) for a, b in zip(one, other, strict=True)
    )


def _under_way(view: ArmView, destination: FloatArray) -> bool:
    """Return whether the arm has a target that is visibly apart from it.

    Phases at rest count too: an arm that is dragged at the end of its reach rests repeatedly, and
    its ghost would flicker.
    """
    going = view.state in (State.MOVING, State.HOLDING) or view.way is not None
    return going and bool((np.abs(destination - view.measured) > ARM_STYLE.ghost_distance).any())


def _is_near_reach(view: ArmView) -> bool:
    """Return whether a target pose is near the sphere that bounds the arm's reach, or beyond."""
    goal = view.goal
    return isinstance(goal, PoseGoal) and bool(
        np.linalg.norm(goal.root_T_target.translation) > ARM_STYLE.near_reach * view.chain.reach
    )


def _top(ghost: Ghost, links: Poses) -> float:
    """Return the height of a chain's highest link or body [m]."""
    return max(ghost.top(links), *(float(pose.translation[2]) for pose in links.values()))


def _solution_shapes(view: ArmView, q: FloatArray, poses: Poses, size: float) -> Iterator[Shape]:
    """Yield goal, joints at limits, passes and missing distance, with the arm at q."""
    frame, tip, goal = view.chain.root, poses[view.chain.tip], view.goal
    yield from _limits(view.chain, q, poses, size)
    if isinstance(goal, PoseGoal):
        desired, nearest = goal.root_T_target.translation, tip.translation
        yield axes("target", frame, goal.root_T_target, 1.6 * size, 0.1 * size)
    elif isinstance(goal, PointGoal):
        desired = np.array(goal.root_point)
        origin, nearest = _along(tip, goal.ray, desired)
        yield Ball(name="target", frame=frame, color=YELLOW, pose=at(desired), diameter=0.4 * size)
        ray = np.stack([origin, nearest])
        yield Lines(name="ray", frame=frame, color=YELLOW, ends=ray, width=0.05 * size)
    else:
        return
    if view.stages:
        passes = [(stage.name, stage.points) for stage in view.stages]
        yield passes_lines(passes, frame, 0.03 * size)
    if view.solution is not None and not view.solution.success:
        ends, width = dashes(nearest, desired), 0.08 * size
        yield Lines(name="miss", frame=frame, color=MAGENTA, ends=ends, width=width)
        if isinstance(goal, PoseGoal) and view.solution.orientation_error > ARM_STYLE.drawn_turn:
            ends = _turn(tip.rotation, goal.root_T_target, 1.6 * size)
            yield Lines(name="turn", frame=frame, color=MAGENTA, ends=ends, width=width)


def _turn(reached: FloatArray, target: RigidTransform, radius: float) -> FloatArray:
    """Return the ends of the lines of an arc at a target: from a reached axis to the wanted one.

    Of the three axes it is the one that turns farthest.

    Args:
        reached: Rotation of the tip, shape (3, 3).
        target: root_T_target.
        radius: [m].
    """
    k = int(np.argmin(np.sum(reached * target.rotation, axis=0)))
    start, end = reached[:, k], target.rotation[:, k]
    angle = float(np.arccos(np.clip(start @ end, -1.0, 1.0)))
    side = end - (start @ end) * start
    length = np.linalg.norm(side)
    if length < 1e-6:  # half a turn, about any axis across
        side = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
        length = np.linalg.norm(side)
    turns = np.linspace(0.0, angle, ARM_STYLE.arc_lines + 1)
    arc = np.outer(np.cos(turns), start) + np.outer(np.sin(turns), side / length)
    # From the target to where its axis would be, and along the arc to where it is.
    return target.translation + radius * np.concatenate(
        [np.stack([np.zeros(3), start]), joined(arc)]
    )


def _ghost(view: ArmView, poses: Poses, size: float) -> Iterator[Shape]:
    """Yield the arm at its destination."""
    reached = view.solution is None or view.solution.success
    color = GREEN if reached else ORANGE
    yield from view.ghost.at(poses, color)
    ends = joined([pose.translation for pose in poses.values()])
    yield Lines(name="chain", frame=view.chain.root, color=color, ends=ends, width=0.05 * size)


def _way(view: ArmView, way: FloatArray, size: float) -> Lines:
    """Return the tip's path on a way of the joints, as a strip."""
    some = way[np.unique(np.linspace(0, len(way) - 1, ARM_STYLE.way_places).round().astype(int))]
    ends = joined([view.chain.forward(q).translation for q in some])
    frame, width = view.chain.root, 0.08 * size
    return Lines(name="way", frame=frame, color=BLUE, ends=ends, width=width)


def _state(words: Words, frame: str, top: float, size: float) -> Text:
    """Return the text, above the root and higher than all bodies, so that it hides none.

    The size of its letters does not depend on the text.
    """
    text, color = words
    # A value stays in one piece with its unit: only plain spaces end a line.
    bound = re.sub(r"(?<=\d) (?=[^\W\d])", HARD_SPACE, text)
    lines = textwrap.wrap(bound, ARM_STYLE.line_length, break_on_hyphens=False)
    height = ARM_STYLE.text_width * 10.0 * size / (LETTER_WIDTH * ARM_STYLE.line_length)
    pose = at(np.array([0.0, 0.0, top + 1.5 * size + 0.5 * height * (len(lines) - 1)]))
    text = "\n".join(lines).replace(HARD_SPACE, " ")
    return Text(name="state", frame=frame, color=color, pose=pose, text=text, height=height)


def _limits(chain: Chain, q: FloatArray, poses: Poses, size: float) -> Iterator[Shape]:
    """Yield a ball at each joint that is at a limit, its name above it, and an arc of its range."""
    lower, upper = q <= chain.lower + SHOWN_AT_LIMIT, q >= chain.upper - SHOWN_AT_LIMIT
    held = {chain.joint_names[k]: bool(upper[k]) for k in np.flatnonzero(lower | upper)}
    joints = [joint for joint in chain.joints if joint.name in held]
    for number, joint in enumerate(joints):
        place = poses[joint.child].translation
        if joint.kind == "revolute":
            k = chain.joint_names.index(joint.name)
            ends = _range(
                chain, k, q[k], poses[joint.child], joint.axis, ARM_STYLE.arc_radius * size
            )
            yield Lines(
                name="limit_ranges",
                number=number,
                frame=chain.root,
                color=RED,
                ends=ends,
                width=0.03 * size,
            )
        yield Ball(
            name="limits",
            number=number,
            frame=chain.root,
            color=RED,
            pose=at(place),
            diameter=0.25 * size,
        )
        yield Text(
            name="limit_names",
            number=number,
            frame=chain.root,
            color=RED,
            pose=at(place + np.array([0.0, 0.0, 0.5 * size])),
            text=f"{joint.name} at its {'upper' if held[joint.name] else 'lower'} limit",
            height=0.5 * size,
        )


def _range(
    chain: Chain, k: int, value: float, child: RigidTransform, axis: FloatArray, radius: float
) -> FloatArray:
    """Return the ends of the lines of a joint's range: an arc about it, and where it is.

    Args:
        chain: The chain.
        k: Number of the joint.
        value: Its position [rad].
        child: root_T_child; the link turns with the joint.
        axis: The joint's axis in that frame, shape (3,).
        radius: [m].
    """
    low, high = chain.lower[k], min(chain.upper[k], chain.lower[k] + 2.0 * np.pi)
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    across *= radius / np.linalg.norm(across)
    turns = np.linspace(low, high, ARM_STYLE.arc_lines + 1) - value
    arc = np.outer(np.cos(turns), across) + np.outer(np.sin(turns), np.cross(axis, across))
    return child.apply(np.concatenate([joined(arc), np.stack([np.zeros(3), 1.3 * across])]))


def _gaps(view: ArmView, size: float) -> Iterator[Shape]:
    """Yield a line between the nearest points of each pair, and how far these are apart.

    The pair that holds the arm is red.
    """
    frame = view.chain.root
    for number, gap in enumerate(view.near):
        color = RED if gap.names == view.held_by else YELLOW
        yield Lines(
            name="gaps",
            number=number,
            frame=frame,
            color=color,
            ends=gap.points,
            width=0.05 * size,
        )
        yield Text(
            name="gap_sizes",
            number=number,
            frame=frame,
            color=color,
            pose=at(gap.points.mean(axis=0) + np.array([0.0, 0.0, 0.3 * size])),
            text=f"{1e3 * (gap.distance + gap.padding):.0f} mm",
            height=0.3 * size,
        )


def _along(tip: RigidTransform, ray: Ray, desired: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the origin of a ray, and its point at the same distance as the desired one."""
    origin = tip.apply(ray.origin)
    axis = tip.apply_vector(ray.axis) / np.linalg.norm(ray.axis)
    return origin, origin + np.linalg.norm(desired - origin) * axis


def _reach(chain: Chain, near: bool) -> Lines:
    """Return the sphere that bounds the arm's reach, as three great circles, faint if not near.

    RViz selects the nearest surface under the mouse, however transparent: a solid sphere would
    block everything inside it.
    """
    ends, width = great_circles(chain.reach), ARM_STYLE.reach_line * chain.reach
    color = FAINT if near else (*FAINT[:3], 0.4 * FAINT[3])
    return Lines(name="reach", frame=chain.root, color=color, ends=ends, width=width)
