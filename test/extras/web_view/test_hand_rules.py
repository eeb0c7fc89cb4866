# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What hands on the page say, and which of them leads."""

import json
import math

import numpy as np
import pytest

from basis_ik.extras.web_view.hand_rules import (
    CAMERA_T_VIEW,
    ROOT_T_VIEW,
    Deed,
    Grip,
    HandError,
    HandPose,
    Lead,
    read,
)
from basis_ik.transforms.rigid import RigidTransform

HALF = math.sqrt(0.5)
SAID = {"arm": "/basis_ik", "hand": "pad", "held": True, "space": 1, "browser": None,
        "place": [0.1, 0.2, 0.3], "turn": [0.0, 0.0, HALF, HALF]}  # fmt: skip
# The numbers themselves: with those of the module no change of them would be seen.
LET_GO, SILENCE = 0.05, 0.15


def test_what_a_page_says_is_read():
    said = read(json.dumps(SAID | {"browser": 3}))
    assert said[:5] == ("/basis_ik", "pad", True, 1, 3)
    turned = RigidTransform.from_rpy(0.0, 0.0, 0.5 * math.pi, (0.1, 0.2, 0.3))
    assert said.view_T_hand.is_close(turned)
    assert read('{"arm": "/a", "open": 0.25}') == Grip("/a", 0.25)
    assert read(b'{"arm": "/a", "do": "stop"}') == Deed("/a", "stop")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON"),
        (100_000 * "[", "no JSON"),
        ("[]", "'arm'"),
        ("{}", "'arm'"),
        ('{"arm": 1}', "'arm'"),
        ('{"arm": "/a", "do": "dance"}', "'do' must be one of stop, enable"),
        ('{"arm": "/a", "do": ["stop"]}', "'do'"),
        ('{"arm": "/a", "open": "1"}', "'open' must be a number"),
        ('{"arm": "/a", "open": true}', "'open' must be a number"),
        ('{"arm": "/a", "open": NaN}', "'open' must be finite"),
        (f'{{"arm": "/a", "open": {400 * "9"}}}', "'open' must be finite"),
    ],
    ids=range(11),
)
def test_what_it_cannot_say_is_named(text, complaint):
    with pytest.raises(HandError, match=complaint):
        read(text)


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("hand", "", "'hand' must be a short word"),
        ("hand", "a/b", "'hand'"),
        ("hand", 17 * "a", "'hand'"),
        ("held", 1, "'held' must be true or false"),
        ("space", -1, "'space'"),
        ("space", True, "'space'"),
        ("space", None, "'space'"),
        ("space", 1 << 31, "'space'"),
        ("browser", 0.5, "'browser'"),
        ("place", [0.0, 0.0], "'place' must be 3 numbers"),
        ("place", [0.0, 0.0, math.nan], "'place' must be finite"),
        ("place", [0.0, 0.0, -math.inf], "'place' must be finite"),
        ("place", [0.0, 0.0, 1e9], "no pose: OUT_OF_RANGE"),
        ("turn", [0.0, 0.0, 0.0, 0.0], "no pose: BAD_QUATERNION"),
        ("turn", [0.0, 0.0, 0.0, None], "'turn' must be 4 numbers"),
        ("turn", "0001", "'turn' must be 4 numbers"),
    ],
    ids=range(16),
)
def test_a_pose_that_is_none_is_named(key, value, complaint):
    with pytest.raises(HandError, match=complaint):
        read(json.dumps(SAID | {key: value}))


def hand(held, place=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    pose = RigidTransform.from_rpy(*turn, place)
    return HandPose("/basis_ik", "pad", held, 1, None, pose)


def tells(lead, who, held, now):
    return lead.take(who, hand(held), now, ROOT_T_VIEW)[0]


def test_a_clutch_is_let_go_first_and_held_a_moment_later():
    lead = Lead()
    assert tells(lead, "0/pad", True, 1.0) is False
    assert tells(lead, "0/pad", True, 1.0 + 0.9 * LET_GO) is None
    assert tells(lead, "0/pad", True, 1.0 + LET_GO) is True
    assert tells(lead, "0/pad", True, 9.0) is True, "however late it is"
    assert tells(lead, "0/pad", False, 9.1) is False
    assert tells(lead, "0/pad", False, 9.2) is None, "another device may lead"


def test_the_first_hand_leads_until_it_lets_go_or_is_silent():
    lead = Lead()
    assert tells(lead, "0/left", True, 1.0) is False
    assert tells(lead, "0/right", True, 1.1) is None
    assert tells(lead, "0/right", False, 1.1) is None
    assert tells(lead, "0/left", True, 1.1) is True
    assert tells(lead, "0/left", False, 1.2) is False
    assert tells(lead, "0/right", True, 1.2) is False
    assert tells(lead, "1/pad", True, 1.2 + 0.99 * SILENCE) is None
    assert tells(lead, "1/pad", True, 1.2 + 1.01 * SILENCE) is False
    assert tells(lead, "0/right", True, 1.2 + 1.01 * SILENCE) is None


def test_a_page_that_is_gone_lets_go_what_it_held():
    lead = Lead()
    tells(lead, "10/pad", True, 1.0)
    assert not lead.lost("1/")
    assert lead.lost("10/")
    assert not lead.lost("10/")
    assert tells(lead, "1/pad", True, 1.0) is False


def test_what_it_does_in_its_view_is_done_along_the_roots_axes():
    """Seen from behind the arm: right is -y of the root, up is z, towards the viewer -x."""
    lead = Lead()
    _, pose = lead.take("0/pad", hand(True, (0.1, 0.2, 0.3)), 1.0, ROOT_T_VIEW)
    assert pose.translation == pytest.approx([-0.3, -0.1, 0.2])
    _, pose = lead.take("0/pad", hand(True, turn=(0.0, 0.0, 0.4)), 1.0, ROOT_T_VIEW)
    assert pose.is_close(RigidTransform.from_rpy(-0.4, 0.0, 0.0))  # about -x


def test_the_view_counts_that_it_had_when_it_began():
    lead, turned = Lead(), RigidTransform.from_rpy(0.0, 0.0, 1.0)
    place = hand(True, (0.1, 0.0, 0.0))
    lead.take("0/pad", place, 1.0, ROOT_T_VIEW)
    _, pose = lead.take("0/pad", place, 1.1, turned)
    assert pose.translation == pytest.approx([0.0, -0.1, 0.0])
    lead.take("0/pad", hand(False), 1.2, turned)
    _, pose = lead.take("0/pad", place, 1.3, turned)
    assert pose.translation == pytest.approx([0.1 * math.cos(1.0), 0.1 * math.sin(1.0), 0.0])


def test_a_cameras_view_has_y_up():
    assert np.array_equal(CAMERA_T_VIEW.apply_vector([1.0, 2.0, 3.0]), [1.0, -2.0, -3.0])
