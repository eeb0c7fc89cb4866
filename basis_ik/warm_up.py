# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The steps that compile kernels ahead of time, for a node and for an installation.

The first call of a kernel compiles it, or loads it from the cache. Kernels take the same types of
arrays for every robot, so one sample robot is enough.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from basis_ik.arm.limits import MotionLimits
from basis_ik.numerics.jit import count_ready, when_compiling
from basis_ik.process import COMPILER_THREAD, switched
from basis_ik.robot.chain import Chain
from basis_ik.robot.robot import RobotModel
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree

if TYPE_CHECKING:
    from basis_ik.bones.constraints import Constraint
    from basis_ik.bones.meet import Needs

# A serial chain of six joints: enough for every kernel.
_LINK = """<link name="{below}"/><joint name="{below}" type="{kind}">
<parent link="{above}"/><child link="{below}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>
<limit lower="-2" upper="2" velocity="1" effort="1"/></joint>"""
_JOINTS = (
    ("a", "revolute", "0 0 1"),
    ("b", "revolute", "0 1 0"),
    ("c", "prismatic", "1 0 0"),
    ("d", "continuous", "0 0 1"),
    ("e", "revolute", "0 1 0"),
    ("f", "revolute", "1 0 0"),
)


SWITCH_INTERVAL = 5e-4  # [s] that a thread keeps the GIL while another waits for it


class Step(NamedTuple):
    """A step of the warm-up.

    Attributes:
        name: Name of what it compiles.
        run: Calls the kernels.
    """

    name: str
    run: Callable[[], object]


class WarmUp:
    """Runs steps in a thread; the compiler releases the GIL often enough for other threads.

    Until it has finished, no other thread may call a kernel: it would wait for the compiler's lock.

    Args:
        steps: The steps.
        alone: Whether this process has nothing else to do. Then garbage collection is switched off,
            which saves a tenth of the time; the first collection afterwards stops all threads for a
            second.

    Attributes:
        step: Name of the present step.
        compiling: Whether a kernel was compiled, and not only loaded from the cache.
    """

    def __init__(self, steps: Sequence[Step], *, alone: bool = False) -> None:
        self._steps, self._alone = steps, alone
        self._error: BaseException | None = None
        self.step, self.compiling = "", False
        self._thread = threading.Thread(target=self._work, name=COMPILER_THREAD, daemon=True)
        when_compiling(self._on_compiling)
        self._thread.start()

    def _on_compiling(self) -> None:
        self.compiling = True

    def _work(self) -> None:
        try:
            # The response to a request takes the GIL dozens of times.
            with switched(interval=SWITCH_INTERVAL, collects=not self._alone):
                for step in self._steps:
                    self.step = step.name
                    step.run()
        except BaseException as error:
            self._error = error

    @property
    def ready(self) -> bool:
        """Whether all steps have finished; raises the exception of a failed step."""
        return self.wait(0.0)

    def wait(self, seconds: float) -> bool:
        """Wait up to a time [s]; return whether all steps have finished."""
        self._thread.join(seconds)
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def __str__(self) -> str:
        ready, all_ = count_ready()
        return f"compiling the kernels, once: {ready} of {all_}"


def node_steps() -> list[Step]:
    """Return the steps for the kernels of the node basis_ik."""
    from basis_ik.arm import clearance
    from basis_ik.collision import collision_scene
    from basis_ik.solvers.path import ladder
    from basis_ik.solvers.tasks import solve_tasks

    return [
        Step("robot descriptions", sample_chain),
        *_chain_steps(sample_chain),
        Step("several tips", lambda: solve_tasks.warm_up(_sample(), sample_chain().tip)),
        Step("paths", lambda: ladder.warm_up(sample_chain())),
        Step("collisions", collision_scene.warm_up),
        Step("distances in motion", clearance.warm_up),
    ]


def _chain_steps(chain: Callable[[], Chain]) -> list[Step]:
    """Return the steps for the kernels of a pipeline.

    Args:
        chain: Returns the chain once the first of the steps has finished.
    """
    from basis_ik.arm import caps, jog, limiter
    from basis_ik.arm.joints_kernel import is_equal
    from basis_ik.arm.tracking import Tracking
    from basis_ik.closed_form import closed_form
    from basis_ik.robot.safety_kernel import is_inside, is_safe
    from basis_ik.search.prepare import prepared
    from basis_ik.solvers.look import look_at
    from basis_ik.solvers.pose import solve, track
    from basis_ik.transforms import rigid

    def check() -> None:
        here = np.zeros(len(chain().joint_names))
        is_safe(here, here, here, here, here)
        is_inside(here, here, here)
        is_equal(here, here)
        names, endless = chain().joint_names, chain().continuous
        Tracking(names, endless, 0.0, 0.0).check(here[np.newaxis], here)

    def compile_other_forms() -> None:
        solve.warm_up(_closed_chain())
        closed_form.compile_alike()

    return [
        Step("transforms", rigid.warm_up),
        Step("last check", check),
        Step("limits of motion", lambda: limiter.warm_up(MotionLimits.of_chain(chain()))),
        Step("caps on speeds", lambda: caps.warm_up(chain())),
        Step("links", lambda: chain().link_poses(np.zeros(len(chain().joint_names)))),
        Step("poses", lambda: solve.warm_up(chain())),
        Step("poses in closed form", lambda: solve.warm_up(_closed_chain())),
        Step("joints to spare", lambda: solve.warm_up(_closed_chain(7))),
        Step("closed forms of fewer joints", lambda: prepared(_closed_chain(3))),
        Step("other closed forms", compile_other_forms),
        Step("FABRIK's passes", lambda: solve.warm_up_fabrik(chain())),
        Step("points to look at", lambda: look_at.warm_up(chain())),
        Step("tracking", lambda: track.warm_up(chain())),
        Step("twists", lambda: jog.warm_up(chain(), MotionLimits.of_chain(chain()))),
    ]


def prepare(chain: Chain) -> None:
    """Prepare a chain for a control loop: compute all data that is stored with it."""
    for step in _chain_steps(lambda: chain):
        step.run()


def frames_steps(needs: Needs | None = None) -> list[Step]:
    """Return the steps for the kernels of frames_node.

    Args:
        needs: The solvers that its constraints need; None: all.
    """
    from basis_ik.bones.bone_limits import Hinge, SwingTwist
    from basis_ik.bones.constraints import Point, Reach, apply_together
    from basis_ik.transforms import rigid

    rest = RigidTransform.identity()
    far = Reach(("b", "c", "d"), "far")

    def point_within_limits() -> None:
        for limit in (SwingTwist(rest, 0.1, -0.1, 0.1), Hinge(rest, (1.0, 0.0, 0.0), -0.1, 0.1)):
            Point("b", "c", "target", limit).apply(_sample_tree())

    def reach_as_tree() -> None:
        apply_together(_sample_tree(), [Reach(far.chain, "target"), Reach(("b", "c"), "far")])
        limits = {"b": SwingTwist(rest, 0.1, -0.1, 0.1)}
        Reach(far.chain, "target", limits=limits).apply(_sample_tree())

    def reach() -> None:
        far.apply(_sample_tree())
        Reach(far.chain, "target").apply(_sample_tree())

    steps = [
        Step("transforms", rigid.warm_up),
        Step("trees of frames", _sample_tree),
        Step("points-at", lambda: Point("b", "c", "target").apply(_sample_tree())),
        Step("FABRIK", reach),
    ]
    if needs is None or needs.limits:
        steps.append(Step("points-at within limits", point_within_limits))
    if needs is None or needs.trees:
        steps.append(Step("FABRIK within limits", reach_as_tree))
    return steps


def transform_nodes_steps(constraints: Collection[Constraint] = ()) -> list[Step]:
    """Return the steps for the kernels of the node transform_nodes.

    Args:
        constraints: Its constraints.
    """
    from basis_ik.bones.meet import needs
    from basis_ik.transforms import rigid

    first = frames_steps(needs(constraints)) if constraints else [Step("transforms", rigid.warm_up)]
    return [*first, Step("transform nodes", _combine_nodes)]


def library_steps() -> list[Step]:
    """Return the steps for kernels that only users of the library call."""
    from basis_ik.arm import limiter
    from basis_ik.bones.bone_limits import SwingTwist
    from basis_ik.bones.points_at import Up, points_at
    from basis_ik.closed_form import closed_form
    from basis_ik.solvers.pose.batch import solve_batch

    def point_within_limits() -> None:
        up = Up((1.0, 0.0, 0.0), "a", (0.0, 1.0, 0.0))
        points_at(_sample_tree(), "b", "c", "target", up=up)
        limit = SwingTwist(RigidTransform.from_rpy(0.0, 0.0, 0.0), 0.1, -0.1, 0.1)
        points_at(_sample_tree(), "b", "c", "target", limit=limit)

    def plan() -> None:
        here = np.zeros(len(sample_chain().joint_names))
        limits = MotionLimits.of_chain(sample_chain()).scaled(1.0, 1.0, 1.0)
        limiter.plan_motion(limits, here, here, 0.01)

    def solve_poses() -> None:
        chain = sample_chain()
        solve_batch(chain, [chain.forward(np.zeros(len(chain.joint_names)))])
        solve_batch(_closed_chain(), np.eye(4)[np.newaxis])
        closed_form.compile_alike()

    return [
        Step("batches", solve_poses),
        Step("planned motions", plan),
        Step("points-at with limits", point_within_limits),
        Step("transform nodes", _combine_nodes),
        *_fabrik_steps(),
    ]


def _fabrik_steps() -> list[Step]:
    """Return the steps for the kernels of FABRIK on points."""
    from basis_ik.fabrik.ball_limits import BallLimit
    from basis_ik.fabrik.fabrik import sweep_chain
    from basis_ik.fabrik.fabrik_tree import solve_tree

    joints = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 2], [-1, 0, 2], [0, 1, 0.0]])
    parents = (-1, 0, 1, 1, 0)  # nothing is asked of the last
    targets = {2: (1.0, 0.5, 1.8), 3: (-1.0, 0.5, 1.8)}

    def sweep() -> None:
        sweep_chain(joints[:3], (0.5, 0.5, 1.0), max_iterations=2)

    def solve_limbs() -> None:
        solve_tree(joints, parents, targets, max_iterations=2)

    def solve_with_limits() -> None:
        limits = {1: BallLimit.cone(0.01)}
        solve_tree(joints, parents, targets, limits=limits, max_iterations=1000)

    return [
        Step("FABRIK's sweeps", sweep),
        Step("limbs", solve_limbs),
        Step("trees with limits", solve_with_limits),
    ]


def all_steps() -> list[Step]:
    """Return the steps for all kernels of the nodes and the library."""
    return [*node_steps(), *frames_steps(), *library_steps()]


def _combine_nodes() -> None:
    from basis_ik.transforms.node import TransformNode

    fields = TransformNode(scale=(1.0, 2.0, 3.0)).as_fields()
    node = TransformNode.from_fields(fields | {"scaleOrientation": [1.0, 2.0, 3.0, 0.5]})
    node = TransformNode.from_matrix((node @ node.inverse()).matrix)
    node.apply((0.0, 0.0, 0.0))
    tree = TransformTree("a")
    tree.add("b", "a", node)
    tree.lookup_node("a", "b")


def _sample_tree() -> TransformTree:
    tree = TransformTree("a")
    for parent, frame in pairwise("abcd"):
        tree.add(frame, parent, RigidTransform.from_rpy(0.1, 0.0, 0.0, [0.0, 0.0, 1.0]))
    tree.add("target", "a", RigidTransform.from_rpy(0.0, 0.0, 0.0, [1.0, 0.0, 0.5]))
    tree.add("far", "a", RigidTransform.from_rpy(0.0, 0.0, 0.0, [9.0, 0.0, 0.5]))
    tree.common_ancestor("d", "far")
    return tree


@cache
def _sample() -> RobotModel:
    return _robot([(*joint, "0.1 0 0.2") for joint in _JOINTS])


def _robot(joints: Sequence[tuple[str, str, str, str]]) -> RobotModel:
    above, texts = "root", []
    for below, kind, axis, xyz in joints:
        texts.append(_LINK.format(above=above, below=below, kind=kind, axis=axis, xyz=xyz))
        above = below
    return RobotModel.from_urdf(f'<robot name="sample"><link name="root"/>{"".join(texts)}</robot>')


@cache
def _closed_chain(count: int = 6) -> Chain:
    """Return a chain with a closed form: axes 2 and 3 are parallel, axes 4 to 6 intersect.

    Args:
        count: Number of its joints; with seven, the closed form has one of them fixed.
    """
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0", "0 0 1")
    places = ("0 0 0", "0.1 0 0.2", "0 0 0.3", "0.3 0 0", "0 0 0", "0 0 0", "0.1 0 0")
    names = "abcdefg"
    joints = [(n, "revolute", a, p) for n, a, p in zip(names, axes, places, strict=True)]
    return _robot(joints[:count]).chain("root", names[count - 1])


@cache
def sample_chain() -> Chain:
    """Return the sample chain that all kernels are compiled with."""
    return _sample().chain()
