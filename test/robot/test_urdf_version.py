# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The version of a description: known, or read as the nearest known one with a note."""

import pytest

from basis_ik.robot.elements import read_xml
from basis_ik.robot.robot import RobotModel
from basis_ik.robot.urdf_version import KNOWN_VERSIONS, Version, version_of


def of(attribute):
    return version_of(read_xml(f"<?xml version='1.0'?>\n<robot {attribute}/>"))


@pytest.mark.parametrize("number", KNOWN_VERSIONS)
def test_a_known_version_needs_no_note(number):
    assert of(f'version="{number[0]}.{number[1]}"') == (Version(number), ())


@pytest.mark.parametrize("attribute", ["", 'version=" 1.0"', 'version="01.00 "'])
def test_the_default_is_1_0(attribute):
    assert of(attribute) == (Version((1, 0)), ())


@pytest.mark.parametrize(
    ("stated", "nearest"),
    [
        ("1.3", (1, 2)),
        ("2.0", (1, 2)),
        ("1.10", (1, 2)),
        ("999999.999999", (1, 2)),
        ("9999999.0", (1, 2)),
        ("1.2.0", (1, 2)),
        ("1.1-rc", (1, 1)),
        ("1", (1, 0)),
        ("0.9", (1, 0)),
        ("-1.0", (1, 0)),
        ("", (1, 0)),
        ("new", (1, 0)),
        ("\u0661.\u0662", (1, 0)),
        pytest.param("9" * 5000, (1, 2), id="long"),
    ],
)
def test_another_version_is_read_as_the_nearest_one_with_a_note(stated, nearest):
    version, (note,) = of(f'version="{stated}"')
    assert version == Version(nearest, known=False)
    assert note.startswith(f"line 2: version '{stated[:40]}")
    assert note.endswith(f" is not one of 1.0, 1.1, 1.2: read as {nearest[0]}.{nearest[1]}")
    assert len(note) < 200


def test_the_note_is_in_the_report(joint, robot):
    model = RobotModel.from_urdf(robot(joint("j", "a", "b"), version="1.3"))
    note = "line 1: version '1.3' is not one of 1.0, 1.1, 1.2: read as 1.2"
    assert model.notes == model.chain().inferences[-1:] == (note,)
