# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A serial chain between two links of a robot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from basis_ik.errors import SolveArgumentError
from basis_ik.numerics.arrays import FloatArray, as_reals
from basis_ik.robot import chain_kernel as kernels
from basis_ik.robot.build import fold
from basis_ik.robot.chain_kernel import ChainArrays, IntArray
from basis_ik.robot.configurations import middle, uniform
from basis_ik.robot.elements import listed, shown
from basis_ik.robot.joint_path import ChainError
from basis_ik.robot.link_tree import Tree
from basis_ik.robot.reach import reach_bound
from basis_ik.robot.urdf import Joint
from basis_ik.transforms.checks import finite_array, read_only
from basis_ik.transforms.rigid import RigidTransform

if TYPE_CHECKING:
    from basis_ik.collision.collision_scene import Scene
    from basis_ik.search.arguments import Positions, Target
    from basis_ik.search.pose_constraint import PoseConstraint
    from basis_ik.solvers.pose.solve import Solution


@dataclass(frozen=True, eq=False)
class Chain:
    """The joints from a root link to a tip link: m moving joints, driven by n variables.

    A variable is an independent joint; its mimic joints move with it. `RobotModel.chain` creates
    chains. They can be pickled and copied; a copy is another chain, and `==` asks whether two are
    one.

    Attributes:
        root: The link whose frame is the reference of poses.
        tip: The link that should reach them.
        joints: All joints from root to tip, including fixed ones.
        joint_names: The n variables, in the order of q.
        lower: Lower limits of the variables [rad or m], shape (n,), read-only; -inf for continuous
            ones. Limits of mimic joints bind only in a model with `mimic_limits`.
        upper: Upper limits, +inf for continuous variables.
        velocity: Largest speeds [rad/s or m/s], shape (n,), read-only, positive and finite.
        acceleration: Largest accelerations [rad/s² or m/s²], shape (n,), read-only, positive; inf
            where the URDF states none.
        deceleration: Largest decelerations, likewise; the accelerations where it states no other.
        jerk: Largest jerks [rad/s³ or m/s³], likewise.
        continuous: Whether the variable is an unlimited angle, shape (n,), read-only bool.
        prismatic: Whether the variable is a length, shape (n,), read-only bool.
        reach: Upper bound on the tip's distance from the root's origin [m].
        arrays: The chain's arrays for kernels. Shared, not copied: never write to them.
        inferences: Assumptions beyond the URDF and the caller's arguments, one line each.
        links: All links from root to tip, inclusive.
    """

    root: str
    tip: str
    joints: tuple[Joint, ...]
    joint_names: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    deceleration: FloatArray
    jerk: FloatArray
    continuous: npt.NDArray[np.bool_]
    prismatic: npt.NDArray[np.bool_]
    reach: float
    arrays: ChainArrays
    inferences: tuple[str, ...]
    links: tuple[str, ...]
    _link_joints: IntArray
    _link_constants: FloatArray

    def forward(self, q: npt.ArrayLike, *, link: str | None = None) -> RigidTransform:
        """Return the pose of a link in the root's frame.

        Args:
            q: (n,) the variables [rad or m].
            link: A link of the chain; None: the tip.

        Returns:
            root_T_link.

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
            ChainError: The link is not on the chain.
        """
        _, pose, _ = self._evaluate(q, link)
        return RigidTransform.from_matrix(pose)

    @property
    def neutral(self) -> FloatArray:
        """The middle of the limits (n,) [rad or m], read-only; 0 for unlimited variables."""
        return read_only(middle(self.lower, self.upper))

    def random(self, rng: np.random.Generator | None = None) -> FloatArray:
        """Return uniformly distributed positions (n,) within the limits [rad or m].

        Unlimited variables are within one turn.

        Args:
            rng: The generator; None: a new one in each call.

        Raises:
            SolveArgumentError: It is no generator.
        """
        rng = np.random.default_rng() if rng is None else rng
        if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
            raise SolveArgumentError("rng", rng, "a numpy.random.Generator, or None")
        return uniform(self.lower, self.upper, rng)

    def clip(self, q: npt.ArrayLike) -> FloatArray:
        """Return variables q, shape (n,), clipped to the limits.

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
        """
        values = finite_array("q", q, len(self.joint_names))
        return np.clip(values, self.lower, self.upper, out=values)

    def solve(
        self,
        target: Target,
        seed: Positions | None = None,
        *,
        position_only: bool = False,
        constraint: PoseConstraint | None = None,
        max_move: npt.ArrayLike | None = None,
        position_tolerance: float = 1e-6,
        orientation_tolerance: float = 1e-6,
        max_iterations: int | None = None,
        max_restarts: int | None = None,
        time_limit: float | None = None,
        solver: Literal["descent", "fabrik"] = "descent",
        trace: bool = False,
        scene: Scene | None = None,
    ) -> Solution:
        """Find joint positions that move the tip to a target: `basis_ik.solve` for this chain."""
        from basis_ik.solvers.pose.solve import solve

        return solve(
            self, target, seed, position_only=position_only, constraint=constraint,
            max_move=max_move, position_tolerance=position_tolerance,
            orientation_tolerance=orientation_tolerance, max_iterations=max_iterations,
            max_restarts=max_restarts, time_limit=time_limit, solver=solver, trace=trace,
            scene=scene,
        )  # fmt: skip

    def look_at(
        self,
        point: npt.ArrayLike,
        seed: Positions | None = None,
        *,
        axis: npt.ArrayLike = (1.0, 0.0, 0.0),
        origin: npt.ArrayLike = (0.0, 0.0, 0.0),
        max_move: npt.ArrayLike | None = None,
        orientation_tolerance: float = 1e-6,
        max_iterations: int | None = None,
        max_restarts: int | None = None,
        scene: Scene | None = None,
    ) -> Solution:
        """Find joint positions that point a ray at a point: `basis_ik.look_at` for this chain."""
        from basis_ik.solvers.look.look_at import look_at

        return look_at(
            self, point, seed, axis=axis, origin=origin, max_move=max_move,
            orientation_tolerance=orientation_tolerance, max_iterations=max_iterations,
            max_restarts=max_restarts, scene=scene,
        )  # fmt: skip

    def within(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Chain:
        """Return the same chain with narrower limits.

        Args:
            lower: Least positions, (n,) or one for all [rad or m]; -inf for no change.
            upper: Largest positions, (n,) or one for all [rad or m]; inf for no change.

        Raises:
            ChainError: A joint has no position within its limits.
            SolveArgumentError: Not one number for all joints or one each.
        """
        lower = np.maximum(self.lower, self._each("lower", lower))
        upper = np.minimum(self.upper, self._each("upper", upper))
        for name, low, high in zip(self.joint_names, lower, upper, strict=True):
            if not low <= high:
                text = f"joint {shown(name)} has no position within its limits"
                raise ChainError(text, joint=name)
        arrays = self.arrays._replace(lower=lower, upper=upper)
        return replace(
            self,
            lower=read_only(lower.copy()),
            upper=read_only(upper.copy()),
            arrays=arrays,
            reach=reach_bound(arrays),
        )

    def jacobian(self, q: npt.ArrayLike, *, link: str | None = None) -> FloatArray:
        """Return the geometric Jacobian of a link, in the root's frame.

        Args:
            q: (n,) the variables [rad or m].
            link: A link of the chain; None: the tip.

        Returns:
            Shape (6, n): rows 0-2 are the velocity of the link's origin [m], rows 3-5 the link's
            angular velocity [rad], both in the axes of the root and per unit of each variable.
            Joints beyond the link have zeros.

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
            ChainError: The link is not on the chain.
        """
        return self._evaluate(q, link)[2]

    def link_poses(self, q: npt.ArrayLike) -> dict[str, RigidTransform]:
        """Return root_T_link of all links on the chain at variables q, shape (n,).

        Raises:
            ShapeError: q has another shape.
            NotFiniteError: q has NaN or infinity.
        """
        frames, _, _ = self._evaluate(q)
        poses = np.zeros((len(self.links), 4, 4))
        poses[:, 3, 3] = 1.0
        kernels.link_frames(frames, self._link_joints, self._link_constants, poses)
        return {
            link: RigidTransform.from_matrix(pose)
            for link, pose in zip(self.links, poses, strict=True)
        }

    def joint_T_link(self, link: str) -> tuple[int, FloatArray]:
        """Return the moving joint to which a link of the chain is fixed, and its pose there.

        Returns:
            The joint's index (-1: the root link), and the constant transform (3, 4) from the
            joint's moved frame to the link.

        Raises:
            ChainError: The link is not on the chain.
        """
        if link not in self.links:
            raise ChainError(
                f"link {shown(str(link))} is not on the chain; it has {listed(self.links)}",
                link=link,
                candidates=self.links,
            )
        k = self.links.index(link)
        return int(self._link_joints[k]), self._link_constants[k].copy()

    def with_tool(self, tool: str, tip_T_tool: Target) -> Chain:
        """Return a chain of the same joints that ends at a frame fixed to the tip.

        Args:
            tool: The frame's name; it becomes the tip, and a link of the chain.
            tip_T_tool: The frame's pose; also as a (4, 4) matrix.

        Raises:
            SolveArgumentError: The name is no text.
            TransformError: The pose is neither a transform nor the matrix of one.
        """
        if not isinstance(tool, str):
            raise SolveArgumentError("tool", tool, "a frame's name")
        if not isinstance(tip_T_tool, RigidTransform):
            matrix = finite_array("tip_T_tool", tip_T_tool, 4, 4)
            tip_T_tool = RigidTransform.from_matrix(matrix)
        joint, tip = self.joint_T_link(self.tip)
        arrays = self.arrays._replace(
            tip=np.ascontiguousarray((_whole(self.arrays.tip) @ tip_T_tool.matrix)[:3])
        )
        moved = replace(self, tip=tool, reach=reach_bound(arrays), arrays=arrays)
        if tool in self.links:
            return moved
        constant = (_whole(tip) @ tip_T_tool.matrix)[np.newaxis, :3]
        return replace(
            moved,
            links=(*self.links, tool),
            _link_joints=np.append(self._link_joints, joint),
            _link_constants=np.concatenate([self._link_constants, constant]),
        )

    def _each(self, argument: str, values: npt.ArrayLike) -> FloatArray:
        """Return one number for each variable, which may be NaN or infinite."""
        array, n = as_reals(values), len(self.joint_names)
        if array is None or array.shape not in ((), (n,)):
            raise SolveArgumentError(argument, values, f"{n} numbers, or one for all joints")
        return array

    def _evaluate(
        self, q: npt.ArrayLike, link: str | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return moved frames (m, 3, 4), root_T_link (4, 4) and Jacobian (6, n) at q."""
        values = finite_array("q", q, len(self.joint_names))
        arrays = self.arrays if link in (None, self.tip) else self._arrays_to(link)
        frames = np.empty((len(arrays.origins), 3, 4))
        pose = np.eye(4)
        jacobian = np.empty((6, len(values)))
        kernels.forward_from_fields(arrays[:], values, frames, pose[:3], jacobian)
        return frames, pose, jacobian

    def _arrays_to(self, link: str) -> ChainArrays:
        """Return the arrays of the joints up to a link, which is their tip."""
        joint, constant = self.joint_T_link(link)
        all_, count = self.arrays, joint + 1
        return all_._replace(
            origins=all_.origins[:count],
            prismatic=all_.prismatic[:count],
            variables=all_.variables[:count],
            multipliers=all_.multipliers[:count],
            offsets=all_.offsets[:count],
            tip=constant,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what pickle and copy give, whose arrays can be written."""
        for name, value in state.items():
            is_open = isinstance(value, np.ndarray) and not name.startswith("_")
            self.__dict__[name] = read_only(value) if is_open else value

    def __repr__(self) -> str:
        return f"Chain({shown(self.root)} -> {shown(self.tip)}: {listed(self.joint_names)})"


def build_chain(model: Tree, root: str, tip: str, inferences: tuple[str, ...]) -> Chain:
    """Create the chain between two existing links.

    Args:
        model: The robot.
        root: Root link.
        tip: Tip link.
        inferences: Assumptions in choosing them.

    Raises:
        ChainError: No joint moves between the two, or a joint is not supported.
    """
    folded = fold(model, root, tip)
    arrays, variables = folded.arrays, folded.variables
    joints = tuple(step.joint for step in folded.steps)
    names, link_joints, constants = zip(*folded.links, strict=True)
    notes = tuple(variable.note for variable in variables if variable.note)
    needed = dict.fromkeys([*(j.name for j in joints), *(v.name for v in variables)])
    return Chain(
        root=root,
        tip=tip,
        joints=joints,
        joint_names=tuple(variable.name for variable in variables),
        lower=read_only(arrays.lower.copy()),
        upper=read_only(arrays.upper.copy()),
        velocity=read_only(np.array([variable.velocity for variable in variables])),
        acceleration=read_only(np.array([variable.acceleration for variable in variables])),
        deceleration=read_only(np.array([variable.deceleration for variable in variables])),
        jerk=read_only(np.array([variable.jerk for variable in variables])),
        continuous=_flags([variable.continuous for variable in variables]),
        prismatic=_flags([model.joints[v.name].kind == "prismatic" for v in variables]),
        reach=reach_bound(arrays),
        arrays=arrays,
        inferences=(
            *inferences,
            *model.notes,
            *(line for name in needed for line in model.joints[name].assumed),
            *notes,
            *_soft_limits(joints),
            *_left_aside([j for name, j in model.joints.items() if name not in needed]),
        ),
        links=names,
        _link_joints=np.array(link_joints, np.int64),
        _link_constants=np.array([constant.matrix[:3] for constant in constants]),
    )


def top_link(chain: Chain) -> str:
    """Return the link of a chain that is nearest to the robot's root."""
    top = chain.root
    for joint in chain.joints:
        if joint.child != top:  # from here on downwards
            break
        top = joint.parent
    return top


def turning_link(chain: Chain) -> str | None:
    """Return the link between the two arms of a chain from one hand to the other.

    Returns:
        The top link, if joints of the chain move both ends of it; otherwise None.
    """
    top = top_link(chain)
    return top if 0 <= chain.joint_T_link(top)[0] < chain.joint_T_link(chain.tip)[0] else None


def _whole(transform: FloatArray) -> FloatArray:
    """Return a transform (3, 4) as a matrix (4, 4)."""
    return np.vstack([transform, [0.0, 0.0, 0.0, 1.0]])


def _flags(values: list[bool]) -> npt.NDArray[np.bool_]:
    return read_only(np.array(values, np.bool_))


def _left_aside(joints: list[Joint]) -> tuple[str, ...]:
    """Return notes about faults and assumptions of joints that are not on the chain."""
    faulty = [joint for joint in joints if joint.fault]
    odd = tuple(j.name for j in joints if j.assumed and j.kind != "continuous")  # not for wheels
    others = tuple(joint.name for joint in faulty[1:])
    lines = []
    if faulty:
        also = f"; also {listed(others)}" if others else ""
        lines.append(f"faulty, but not needed by the chain: {faulty[0].fault}{also}")
    if odd:
        lines.append(f"limits, speeds or axes were assumed off the chain, too: {listed(odd)}")
    return tuple(lines)


def _soft_limits(joints: tuple[Joint, ...]) -> tuple[str, ...]:
    """Return a note about soft limits within the chain's limits, where a driver may brake."""
    inside = [
        f"{joint.name} {joint.soft_lower:.4g}..{joint.soft_upper:.4g} {joint.unit}"
        for joint in joints
        if joint.soft_lower > joint.lower or joint.soft_upper < joint.upper
    ]
    if not inside:
        return ()
    return (
        "safety_controller soft limits lie inside the limits that are used: " + ", ".join(inside),
    )
