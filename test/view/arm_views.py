# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Views of arms as a node would make them."""

import numpy as np

from basis_ik.arm.chain_state import State
from basis_ik.arm.goals import PointGoal, PoseGoal
from basis_ik.solvers.look.look_at import look_at
from basis_ik.solvers.pose.solve import solve
from basis_ik.view.arm_scene import ArmScene, ArmView
from basis_ik.view.ghost import Ghost
from basis_ik.view.shapes import WHITE
from basis_ik.view.words import Words


def answer_to(chain, goal, seed):
    """Return the solution of a goal; None if it needs none."""
    if isinstance(goal, PoseGoal):
        return solve(chain, goal.root_T_target, seed)
    if isinstance(goal, PointGoal):
        return look_at(chain, goal.root_point, seed, axis=goal.ray.axis, origin=goal.ray.origin)
    return None


def view_of(chain, q, goal=None, *, state=State.MOVING, text="on the way", visuals=(), **more):
    """Return a view of an arm at q with the solution for its goal."""
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
    """Return the shapes of such a view."""
    return ArmScene().shapes(view_of(*args, **more))
