"""What is drawn of an arm in RViz: values in, a MarkerArray out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import Point, Vector3
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from basis_ik.model.chain import Chain
from basis_ik.motion.goals import Goal, PointGoal, PoseGoal, Ray
from basis_ik.ros.convert import duration_message, pose_message
from basis_ik.solvers.passes import Stage
from basis_ik.transforms.rigid import RigidTransform

FloatArray = NDArray[np.float64]
Color = tuple[float, float, float, float]

NAMESPACES = ("target", "tip", "chain", "joints", "reach", "ray", "passes", "miss", "verdict")
CIRCLE_LINES = 48  # in place of a circle
AT_LIMIT = 1e-3  # nearer to a limit than this [rad or m], a joint is drawn as being there

RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.2, 1.0), (0.2, 0.4, 1.0, 1.0)
ORANGE = (1.0, 0.5, 0.1, 1.0)
YELLOW, GREY, FAINT = (1.0, 0.8, 0.1, 1.0), (0.75, 0.75, 0.75, 1.0), (0.6, 0.7, 1.0, 0.5)


class View(NamedTuple):
    """What there is to see of an arm, in the frame of its chain's root."""

    chain: Chain
    positions: FloatArray
    """Positions that the chain is drawn at, (n,) [rad or m]: the solution's, or else measured."""
    goal: Goal | None = None
    """What it is asked to do; of poses and points more is drawn."""
    verdict: str = ""
    """The answer to the goal, one line for people; empty while there is none."""
    reached: bool = False
    stages: tuple[Stage, ...] = ()
    """Where FABRIK's passes have taken the joints; empty where it was not asked to solve."""


def marker_array(view: View, lifetime: float) -> MarkerArray:
    """Return one marker in each of `NAMESPACES`, id 0: a shape, or the order to delete it.

    Stamps are zero and markers locked to the root's frame, so that they move with a moving base.

    Args:
        view: What there is to see.
        lifetime: How long a marker stays if no successor comes [s].
    """
    made = {marker.ns: marker for marker in _shapes(view)}
    markers = [made.get(ns) or Marker(ns=ns, action=Marker.DELETE) for ns in NAMESPACES]
    for marker in markers:
        marker.header.frame_id = view.chain.root
        marker.frame_locked = True
        marker.lifetime = duration_message(lifetime)
    return MarkerArray(markers=markers)


def _shapes(view: View) -> Iterator[Marker]:
    poses = view.chain.link_poses(view.positions)
    tip = poses[view.chain.tip]
    size = 0.1 * view.chain.reach
    yield _axes("tip", tip, size, 0.06 * size)
    yield _line("chain", [pose.translation for pose in poses.values()], 0.08 * size, GREY)
    yield _joints(view, poses, 0.25 * size)
    yield _rings("reach", view.chain.reach)
    if isinstance(view.goal, PoseGoal):
        wanted, nearest = view.goal.root_T_target.translation, tip.translation
        yield _axes("target", view.goal.root_T_target, 1.6 * size, 0.1 * size)
    elif isinstance(view.goal, PointGoal):
        wanted = np.array(view.goal.root_point)
        origin, nearest = _along(tip, view.goal.ray, wanted)
        yield _ball("target", wanted, 0.4 * size)
        yield _line("ray", [origin, nearest], 0.05 * size, YELLOW)
    else:
        return
    if view.stages:
        yield _passes(view.stages, 0.03 * size)
    if not view.reached:
        yield _line("miss", [nearest, wanted], 0.06 * size, RED)
    if view.verdict:
        colour = GREEN if view.reached else RED
        top = max(wanted[2], *(pose.translation[2] for pose in poses.values()))
        above = np.array([wanted[0], wanted[1], top + 1.8 * size])  # no link hides it there
        yield _text("verdict", view.verdict, above, 0.6 * size, colour)


def _joints(view: View, poses: dict[str, RigidTransform], size: float) -> Marker:
    """A ball for each variable's joint on the chain, red where it is at a limit."""
    chain, q = view.chain, view.positions
    at_limit = (q <= chain.lower + AT_LIMIT) | (q >= chain.upper - AT_LIMIT)
    red = dict(zip(chain.joint_names, at_limit, strict=True))
    shown = [joint for joint in chain.joints if joint.name in red]
    marker = _marker("joints", Marker.SPHERE_LIST, (size, size, size), GREY)
    marker.points = [_point(poses[joint.child].translation) for joint in shown]
    marker.colors = [_color(RED if red[joint.name] else BLUE) for joint in shown]
    return marker


def _passes(stages: tuple[Stage, ...], width: float) -> Marker:
    """The chain after each pass, the later the clearer: orange when it has been pulled backward.

    A start is grey; what has been pulled forward is blue.
    """
    colours = {"start": GREY, "backward": ORANGE, "forward": BLUE}
    marker = _marker("passes", Marker.LINE_LIST, (width, 0.0, 0.0), GREY)
    for number, stage in enumerate(stages, 1):
        points = [_point(p) for p in stage.points]
        ends = [p for pair in itertools.pairwise(points) for p in pair]
        clear = 0.2 + 0.8 * number / len(stages)
        marker.points.extend(ends)
        marker.colors.extend([_color((*colours[stage.name][:3], clear))] * len(ends))
    return marker


def _along(tip: RigidTransform, ray: Ray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where a ray begins, and its point as far from there as what is wanted."""
    origin = tip.apply(ray.origin)
    axis = tip.apply_vector(ray.axis) / np.linalg.norm(ray.axis)
    return origin, origin + np.linalg.norm(wanted - origin) * axis


def _axes(ns: str, pose: RigidTransform, length: float, width: float) -> Marker:
    """The axes of a frame: x red, y green, z blue."""
    marker = _marker(ns, Marker.LINE_LIST, (width, 0.0, 0.0), GREY)
    marker.pose = pose_message(pose)
    marker.points = [p for axis in np.eye(3) for p in (Point(), _point(length * axis))]
    marker.colors = [_color(colour) for colour in (RED, RED, GREEN, GREEN, BLUE, BLUE)]
    return marker


def _line(ns: str, points: list[FloatArray], width: float, colour: Color) -> Marker:
    marker = _marker(ns, Marker.LINE_STRIP, (width, 0.0, 0.0), colour)
    marker.points = [_point(p) for p in points]
    return marker


def _ball(ns: str, centre: FloatArray, size: float) -> Marker:
    marker = _marker(ns, Marker.SPHERE, (size, size, size), YELLOW)
    marker.pose.position = _point(centre)
    return marker


def _rings(ns: str, radius: float) -> Marker:
    """A sphere around the root's origin, as three great circles: outside nothing is ever reached.

    RViz's mouse does not see transparency: it takes hold of the nearest surface, so that a sphere
    would shut off everything within it.
    """
    marker = _marker(ns, Marker.LINE_LIST, (0.004 * radius, 0.0, 0.0), FAINT)
    marker.points = _great_circles(radius)
    return marker


@lru_cache(maxsize=16)  # messages are slow to make, and nobody changes these
def _great_circles(radius: float) -> list[Point]:
    """Return the ends of the lines that make up the circles in the planes of the axes."""
    angles = np.linspace(0.0, 2.0 * np.pi, CIRCLE_LINES + 1)
    circle = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    ends = np.stack([circle[:-1], circle[1:]], axis=1).reshape(-1, 3)
    return [_point(p) for shift in range(3) for p in np.roll(ends, shift, axis=1)]


def _text(ns: str, text: str, place: FloatArray, height: float, colour: Color) -> Marker:
    # The message's definition knows scale.z alone, but RViz makes a space as wide as scale.x, or
    # as in letters of 1 m where that is zero.
    marker = _marker(ns, Marker.TEXT_VIEW_FACING, (0.5 * height, 0.0, height), colour)
    marker.pose.position, marker.text = _point(place), text
    return marker


def _marker(ns: str, kind: int, scale: tuple[float, float, float], colour: Color) -> Marker:
    x, y, z = map(float, scale)
    return Marker(ns=ns, type=kind, scale=Vector3(x=x, y=y, z=z), color=_color(colour))


def _point(p: FloatArray) -> Point:
    x, y, z = map(float, p)
    return Point(x=x, y=y, z=z)


@lru_cache(maxsize=256)  # messages are slow to make, and nobody changes these
def _color(c: Color) -> ColorRGBA:
    return ColorRGBA(r=c[0], g=c[1], b=c[2], a=c[3])
