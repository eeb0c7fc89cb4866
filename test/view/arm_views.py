"""Views of arms as a node would make them."""

import numpy as np

from basis_ik.motion.chain_state import State
from basis_ik.motion.goals import PointGoal, PoseGoal
from basis_ik.solvers.look_at import look_at
from basis_ik.solvers.solve import solve
from basis_ik.view.arm import ArmScene, ArmView
from basis_ik.view.ghost import Ghost
from basis_ik.view.shapes import WHITE
from basis_ik.view.words import Words


def answer_to(chain, goal, seed):
    """Return the solution of a goal, None where it needs none."""
    if isinstance(goal, PoseGoal):
        return solve(chain, goal.root_T_target, seed)
    if isinstance(goal, PointGoal):
        return look_at(chain, goal.root_point, seed, axis=goal.ray.axis, origin=goal.ray.origin)
    return None


def view_of(chain, q, goal=None, *, state=State.MOVING, text="on the way", visuals=(), **more):
    """Return a view of an arm at q that has solved for its goal from there."""
    q = np.asarray(q, dtype=float)
    return ArmView(
        chain,
        Ghost(chain, visuals),
        q,
        State.READY if goal is None else state,
        Words(text, WHITE),
        goal,
        **({"solution": answer_to(chain, goal, q)} | more),
    )


def scene_of(*args, **more):
    """Return what is shown of such a view."""
    return ArmScene().shapes(view_of(*args, **more))
