# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which links of a robot can collide with each other."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from basis_ik.collision.covered_links import CoveredLink
from basis_ik.collision.shape import SceneError
from basis_ik.numerics.arrays import FloatArray
from basis_ik.robot.chain import Chain
from basis_ik.robot.configurations import uniform
from basis_ik.robot.elements import Element, listed, read_file, read_xml
from basis_ik.robot.joint_path import parent_joints
from basis_ik.robot.robot import RobotModel


class PairTuning(NamedTuple):
    """Tuning of the sampling that finds the pairs of links that need no check."""

    samples: int = 2000  # random positions of the joints
    never_within: float = 0.05  # [m]; pairs that came no nearer in any sample are left out
    # Of samples that touch. Nobody builds links that strike in half of their postures, but
    # shapes of telescopes and covers are in each other.
    overlap_share: float = 0.5
    # Of samples. Two that are within the padding in so many, and touch in none, are near by design.
    near_share: float = 0.05
    same_distance: float = 1e-5  # [m] within which a distance is always the same


PAIRING = PairTuning()


class Room(NamedTuple):
    """How far apart two links were in samples [m]."""

    least: float
    near: float
    """What `near_share` of the samples were nearer than."""
    largest: float

    def padding(self, wanted: float) -> float:
        """Return the part of a padding [m] that the two can keep.

        Those that never are twice as far apart keep half of the largest distance, and those that
        are near by design half of the least.
        """
        by_design = self.least > 0.0 and self.near < wanted
        return min(wanted, 0.5 * (self.least if by_design else self.largest))


ANY_ROOM = Room(math.inf, math.inf, math.inf)

Pair = tuple[int, int]
Measure = Callable[[Sequence[Pair], FloatArray], FloatArray]
"""Returns the distances (s, p) of pairs of links at positions (s, n); at most the true ones."""


def read_srdf(srdf: str | os.PathLike[str]) -> Element:
    """Return the root element of an SRDF.

    Args:
        srdf: The file, or its text.

    Raises:
        UrdfError: It cannot be read, or is no XML.
        SceneError: It is not of a robot.
    """
    text = os.fspath(srdf)
    root = read_xml(text if "<" in text else read_file(text))
    if root.tag != "robot":
        raise SceneError("srdf", f"the root element is <{root.tag[:80]}>, an SRDF has <robot>")
    return root


def pairs_by_srdf(
    model: RobotModel, links: Sequence[CoveredLink], srdf: str | os.PathLike[str]
) -> tuple[list[Pair], dict[tuple[str, str], str], tuple[str, ...]]:
    """Return the pairs that an SRDF leaves, the reasons for the others, and a note.

    Args:
        model: The robot.
        links: Its links.
        srdf: The file, or its text.

    Raises:
        UrdfError, SceneError: As of `read_srdf`.
    """
    root = read_srdf(srdf)
    reasons: dict[tuple[str, str], str] = {}
    unknown: dict[str, None] = {}
    for element in root.all("disable_collisions"):
        one, other = (element.attributes.get(name, "") for name in ("link1", "link2"))
        one, other = model.link(one), model.link(other)
        unknown |= dict.fromkeys(each for each in (one, other) if each not in model.links)
        reason = f"SRDF: {element.attributes.get('reason', 'no reason')}"
        reasons[one, other] = reasons[other, one] = reason
    note = (f"the SRDF names links that the robot has not: {listed(tuple(unknown))}",)
    left, out = [], {}
    for i, j in combinations(range(len(links)), 2):
        one, other = links[i].name, links[j].name
        if links[i].joint == links[j].joint:
            out[one, other] = "fixed to each other"
        elif (one, other) in reasons:
            out[one, other] = reasons[one, other]
        else:
            left.append((i, j))
    return left, out, note if unknown else ()


def pairs_by_sampling(
    model: RobotModel, chain: Chain, links: Sequence[CoveredLink], measure: Measure
) -> tuple[dict[Pair, Room], dict[tuple[str, str], str], tuple[str, ...]]:
    """Return the pairs that can collide, the reasons for leaving out the others, and a note.

    Args:
        model: The robot.
        chain: Its chain.
        links: Its links.
        measure: Measures distances.

    Returns:
        The pairs with the distances that were found, the reasons, and the note.
    """
    out: dict[tuple[str, str], str] = {}
    close = set(_adjacent(model, {link.name for link in links}))
    open_ = []
    for i, j in combinations(range(len(links)), 2):
        one, other = links[i].name, links[j].name
        if links[i].joint == links[j].joint:
            out[one, other] = "fixed to each other"
        elif frozenset((one, other)) in close:
            out[one, other] = "adjacent"
        else:
            open_.append((i, j))
    if not open_:
        return {}, out, ()
    rng = np.random.default_rng(0)
    q = np.array([uniform(chain.lower, chain.upper, rng) for _ in range(PAIRING.samples)])
    distances = measure(open_, q)
    left, overlapping = {}, []
    for pair, column in zip(open_, distances.T, strict=True):
        names = links[pair[0]].name, links[pair[1]].name
        least, share = float(column.min()), float((column < 0.0).mean())
        if share >= PAIRING.overlap_share:
            overlapping.append(" and ".join(names))
            out[names] = f"touch in {100.0 * share:.0f} % of {PAIRING.samples} samples"
        elif least > 0.0 and np.ptp(column) < PAIRING.same_distance:
            out[names] = f"always {least:.3f} m apart"
        elif least > PAIRING.never_within:
            out[names] = f"at least {least:.2f} m apart in {PAIRING.samples} samples"
        else:
            near = float(np.quantile(column, PAIRING.near_share))
            left[pair] = Room(least, near, float(column.max()))
    note = (
        f"overlap in most postures, so are not compared: {listed(overlapping)}; an SRDF of the arm "
        "says better which links may touch"
    )
    return left, out, (note,) if overlapping else ()


def _adjacent(model: RobotModel, shaped: set[str]) -> Iterator[frozenset[str]]:
    """Yield pairs of links with shapes that have no link with one between them."""
    above = parent_joints(model.joints)
    for link in shaped:
        nearest = link
        while nearest in above and (nearest == link or nearest not in shaped):
            nearest = above[nearest].parent
        if nearest != link and nearest in shaped:
            yield frozenset((nearest, link))
