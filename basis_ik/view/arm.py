"""What is shown of an arm: its goal, its answer, and what lies between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from basis_ik.model.chain import Chain
from basis_ik.motion.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.solvers.passes import Stage
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.view.shapes import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    LETTER,
    MAGENTA,
    ORANGE,
    RED,
    YELLOW,
    Ball,
    Color,
    FloatArray,
    Lines,
    Shape,
    Text,
    at,
    axes,
    dashes,
    great_circles,
    joined,
)

MOST_TEXT = 1.5  # width of the line of text at most, in extents
AT_LIMIT = 1e-3  # nearer to a limit than this [rad or m], a joint is shown as being there


class ArmView(NamedTuple):
    """What there is to see of an arm, in the frame of its chain's root."""

    chain: Chain
    positions: FloatArray
    """Positions that the chain is shown at, (n,) [rad or m]: the solution's, or else measured."""
    goal: Goal | None = None
    """What it is asked to do; of poses and points more is shown."""
    verdict: str = ""
    """The answer to the goal, one line for people; empty while there is none."""
    reached: bool = False
    stages: tuple[Stage, ...] = ()
    """Where FABRIK's passes have taken the joints; empty where it was not asked to solve."""


def extent(chain: Chain, goal: Goal | None) -> float:
    """Return what sizes go by [m]: the arm's reach, or half the way to the point it looks at."""
    if isinstance(goal, PointGoal):
        return max(chain.reach, 0.5 * float(np.linalg.norm(goal.root_point)))
    return chain.reach


def arm_scene(view: ArmView) -> list[Shape]:
    """Return what is shown of an arm, each name at most once."""
    return list(_shapes(view))


def _shapes(view: ArmView) -> Iterator[Shape]:
    frame = view.chain.root
    poses = view.chain.link_poses(view.positions)
    tip = poses[view.chain.tip]
    size = 0.1 * extent(view.chain, view.goal)
    yield axes("tip", frame, tip, size, 0.06 * size)
    chain = joined([pose.translation for pose in poses.values()])
    yield Lines(name="chain", frame=frame, color=GREY, ends=chain, width=0.08 * size)
    yield from _limits(view, poses, 0.25 * size)
    yield _rings(view.chain, frame)
    if isinstance(view.goal, PoseGoal):
        wanted, nearest = view.goal.root_T_target.translation, tip.translation
        yield axes("target", frame, view.goal.root_T_target, 1.6 * size, 0.1 * size)
    elif isinstance(view.goal, PointGoal):
        wanted = np.array(view.goal.root_point)
        origin, nearest = _along(tip, view.goal.ray, wanted)
        yield Ball(name="target", frame=frame, color=YELLOW, pose=at(wanted), diameter=0.4 * size)
        ray = np.stack([origin, nearest])
        yield Lines(name="ray", frame=frame, color=YELLOW, ends=ray, width=0.05 * size)
    else:
        return
    if view.stages:
        yield _passes(view.stages, frame, 0.03 * size)
    if not view.reached:
        ends, width = dashes(nearest, wanted), 0.08 * size
        yield Lines(name="miss", frame=frame, color=MAGENTA, ends=ends, width=width)
    if view.verdict:
        color = GREEN if view.reached else RED
        yield _line_of_text(view.verdict, frame, color, list(poses.values()), size)


def _line_of_text(
    text: str, frame: str, color: Color, links: Sequence[RigidTransform], size: float
) -> Text:
    """A line above the root and above all links: what hid it from above would have to be higher."""
    height = min(0.7 * size, MOST_TEXT * 10.0 * size / (LETTER * len(text)))
    top = max(link.translation[2] for link in links) + 1.5 * size
    above = at(np.array([0.0, 0.0, top]))
    return Text(name="verdict", frame=frame, color=color, pose=above, text=text, height=height)


def _limits(view: ArmView, poses: dict[str, RigidTransform], size: float) -> Iterator[Shape]:
    """A ball at each joint that is at a limit."""
    chain, q = view.chain, view.positions
    at_limit = (q <= chain.lower + AT_LIMIT) | (q >= chain.upper - AT_LIMIT)
    held = {name for name, holds in zip(chain.joint_names, at_limit, strict=True) if holds}
    for number, joint in enumerate(joint for joint in chain.joints if joint.name in held):
        pose = poses[joint.child]
        yield Ball(
            name="limits", number=number, frame=chain.root, color=RED, pose=pose, diameter=size
        )


def _passes(stages: tuple[Stage, ...], frame: str, width: float) -> Lines:
    """The chain after each pass, the later the clearer: orange when it has been pulled backward.

    A start is grey; what has been pulled forward is blue.
    """
    painted = {"start": GREY, "backward": ORANGE, "forward": BLUE}
    colors: list[Color] = []
    for number, stage in enumerate(stages, 1):
        red, green, blue, _ = painted[stage.name]
        clear = 0.2 + 0.8 * number / len(stages)
        colors += [(red, green, blue, clear)] * (len(stage.points) - 1)
    ends = np.concatenate([joined(stage.points) for stage in stages])
    return Lines(
        name="passes", frame=frame, color=GREY, ends=ends, width=width, colors=tuple(colors)
    )


def _along(tip: RigidTransform, ray: Ray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where a ray begins, and its point as far from there as what is wanted."""
    origin = tip.apply(ray.origin)
    axis = tip.apply_vector(ray.axis) / np.linalg.norm(ray.axis)
    return origin, origin + np.linalg.norm(wanted - origin) * axis


def _rings(chain: Chain, frame: str) -> Lines:
    """A sphere around the root's origin, as three great circles: outside nothing is ever reached.

    RViz's mouse does not see transparency: it takes hold of the nearest surface, so that a sphere
    would shut off everything within it.
    """
    ends = great_circles(chain.reach)
    return Lines(name="reach", frame=frame, color=FAINT, ends=ends, width=0.004 * chain.reach)
