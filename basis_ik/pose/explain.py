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

"""What to answer, and what to say, when a target was not reached.

The answer is lexicographic: the nearest position first, and there the nearest orientation. A
weighted sum of both would give up millimetres for degrees. Among answers of about equal worth the
one downhill from the seed is taken, so that the answer moves without jumps when the target does.
"""

from __future__ import annotations

import numpy as np

from basis_ik.pose.diagnosis import Attempt, Diagnosis
from basis_ik.search.tables_kernel import LOWER, SCALE, UPPER
from basis_ik.verdict import REACHED, Reason, Verdict

AT_LIMIT = 1e-5  # [rad or m] from its limit at which a joint stands there: descents creep up to it


def explain(diagnosis: Diagnosis, held: Attempt, names: tuple[str, ...]) -> tuple[Attempt, Reason]:
    """Find the best effort and the reason why there is nothing better.

    Args:
        diagnosis: The failed search.
        held: The nearest position.
        names: (n,) of the joints.

    Returns:
        The best effort and the reason, which is REACHED where all that is wanted was found by the
        way.
    """
    answer = diagnosis.best_effort()
    if diagnosis.meets(answer):
        return answer, REACHED
    answer = diagnosis.rest(answer)
    index = _limiting(diagnosis, answer)
    if diagnosis.inside is not None:
        return diagnosis.inside, REACHED
    verdict = _far_or_near(diagnosis, answer)
    if held.reached:
        proven = diagnosis.proven
        verdict = Verdict.ORIENTATION_UNREACHABLE if proven else Verdict.ORIENTATION_NOT_FOUND
    joint, bound = None, None
    if diagnosis.budget <= 0:
        verdict = Verdict.BUDGET_SPENT
    elif index is not None:
        verdict, joint = Verdict.LIMIT, names[index]
        bound = diagnosis.ready.bound_near(index, answer.q)
    turn = 0.0 if diagnosis.position_only else answer.turned
    starts = 0 if diagnosis.proven else diagnosis.starts + 1
    return answer, Reason(
        verdict, answer.away, turn, joint, bound, starts, diagnosis.proven, diagnosis.grid
    )


def _limiting(diagnosis: Diagnosis, answer: Attempt) -> int | None:
    """Return the variable whose limit, lifted, lets the chain reach the target, or come nearer."""
    variables, matters = diagnosis.ready.variables, diagnosis.ready.bounded()
    free = diagnosis.without_any_limits()
    if free is None or not free.reached:
        return None
    low, high = variables[:, LOWER], variables[:, UPPER]
    gap = np.minimum(answer.q - low, high - answer.q)
    for k in np.flatnonzero(matters & (gap <= AT_LIMIT)):
        if diagnosis.without_limits(np.arange(len(gap)) == k).reached:
            return int(k)
    beyond = np.maximum(low - free.q, free.q - high) / variables[:, SCALE]
    candidates = sorted(np.flatnonzero(matters), key=lambda k: -float(beyond[k]))
    for k in candidates:
        if gap[k] <= AT_LIMIT and diagnosis.better_without(int(k), answer):
            return int(k)
    return int(candidates[0])


def _far_or_near(diagnosis: Diagnosis, answer: Attempt) -> Verdict:
    """Say which is farther from the first joint, the target or the nearest position."""
    centre = diagnosis.ready.ends[0, :, 3]
    wanted = float(np.linalg.norm(diagnosis.target[:3, 3] - centre))
    got = float(np.linalg.norm(diagnosis.ready.tip_position(answer.q) - centre))
    return Verdict.TOO_FAR if wanted > got else Verdict.TOO_NEAR
