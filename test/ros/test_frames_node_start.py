# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of frames_node, and the errors about mistakes in them."""

import pytest


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("update_rate: 50.0", ["'constraints' is missing"]),
        ("constraints: [look]", ["'look.type' is missing", "points_at, fabrik"]),
        (
            "constraints: [look]\n    look: {type: points-at, target: c}",
            ["'look.type' must be one of points_at, fabrik, not 'points-at'"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tale: b, target: c}",
            ["'look.tail' is missing"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tail: b, target: c, up: z}",
            ["'look.up'"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a], target: c}",
            ["'foot.chain' must be two or more different frames"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, b, a], target: c}",
            ["'foot.chain' must be two or more different frames"],
        ),
        (
            "update_rte: 5.0\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["'update_rte'", "did you mean 'update_rate'"],
        ),
        (
            "update_rate: .nan\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["'update_rate' must lie in [1, 1000]"],
        ),
        (
            "prefix: ''\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["'prefix' must not be empty"],
        ),
        ("constraints: []", ["leave out parameters that are []"]),
        ("constraints: ['']", ["'constraints' has an empty name"]),
        ("constraints: [a, a]", ["'constraints' has 'a' twice"]),
        ("constraints: a", ["'constraints' must be a list of names, not 'a'"]),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tail: b, target: ''}",
            ["'look.target' is '', which is not a frame"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: /a, tail: b, target: c}",
            ["'look.bone' is '/a', which is not a frame"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tail: a, target: c}",
            ["'look.bone' is 'a', which is its own tail or target"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tail: b, target: b}",
            ["'look.target' is 'b', which 'look' itself moves"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, b, c], target: b}",
            ["'foot.target' is 'b', which 'foot' itself moves"],
        ),
        (
            "prefix: new/\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b, c], target: new/c}",
            ["'foot.target' is 'new/c', which 'foot' itself moves"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, /b], target: c}",
            ["'foot.chain' is '/b', which is not a frame"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, b], target: c, method: ccd}",
            ["'foot.method' must be one of fabrik, shared, not 'ccd'"],
        ),
        (
            "constraints: [look]\n"
            "    look: {type: points_at, bone: a, tail: b, target: c, method: fabrik}",
            ["'look.method' does not exist"],
        ),
        ("constraints: [a]\n    option: 3", ["'option' must be 1 or 2, not 3"]),
        ("constraints: [a]\n    option: two", ["'option' must be 1 or 2, not 'two'"]),
        ("constraints: [a]\n    pass_time: -1.0", ["'pass_time' must lie in [0, 60], not -1"]),
        ("constraints: [a]\n    update_rate: 2000", ["must lie in [1, 1000], not 2000"]),
        (
            "use_sim_time: 1\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["'use_sim_time' must be true or false, not 1"],
        ),
    ],
    ids=lambda value: value[0][:30] if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(tmp_path, complaint, yaml, words):
    path = tmp_path / "params.yaml"
    path.write_text(f"frames_node:\n  ros__parameters:\n    {yaml}\n")
    line = complaint("frames_node", more=("--params-file", str(path)))
    assert all(word in line for word in words), line
    assert line.startswith("frames_node: parameter '") or "[]" in line


LOOK = "constraints: [look]\n    look: {type: points_at, bone: a, tail: b, target: c}\n"


@pytest.mark.parametrize(
    ("limits", "limit", "words"),
    [
        ("[knee]", None, ["'knee.type' is missing", "hinge, cone, swing_twist"]),
        ("[knee]", "{type: ball}", ["'knee.type' must be one of hinge, cone, swing_twist"]),
        ("[knee, knee]", "{type: cone}", ["'limits' has 'knee' twice"]),
        ("['']", "{type: cone}", ["'limits' has an empty name"]),
        ("[look]", None, ["'limits' has 'look', which is the name of a constraint"]),
        ("[knee]", "{type: cone, half_angle: 1.0}", ["'knee.bone' is missing; it is a frame"]),
        ("[knee]", "{type: cone, bone: z, half_angle: 1.0}", ["'z', which no constraint turns"]),
        ("[knee]", "{type: cone, bone: b, half_angle: 1.0}", ["'b', which no constraint turns"]),
        ("[knee]", "{type: cone, bone: a}", ["'knee.half_angle' is missing"]),
        (
            "[knee]",
            "{type: cone, bone: a, half_angle: true}",
            ["'knee.half_angle' must be a number, not True"],
        ),
        ("[knee]", "{type: cone, bone: a, half_angle: 4.0}", ["'knee' is not a limit", "0 to π"]),
        ("[knee]", "{type: cone, bone: a, half_angle: .nan}", ["'knee' is not a limit"]),
        (
            "[knee]",
            "{type: cone, bone: a, half_angle: 1.0, axis: [0.0, 0.0, 1.0]}",
            ["'knee.axis' does not exist"],
        ),
        (
            "[knee]",
            "{type: hinge, bone: a, lower: 0.0, upper: 1.0}",
            ["'knee.axis' is missing; it is three numbers"],
        ),
        (
            "[knee]",
            "{type: hinge, bone: a, lower: 0.0, upper: 1.0, axis: [0.0, 1.0]}",
            ["'knee.axis' must be three numbers, not [0.0, 1.0]"],
        ),
        (
            "[knee]",
            "{type: hinge, bone: a, lower: 0, upper: 1, axis: [false, true, false]}",
            ["'knee.axis' must be three numbers"],
        ),
        (
            "[knee]",
            "{type: hinge, bone: a, lower: 0.0, upper: 1.0, axis: [0.0, 0.0, 0.0]}",
            ["'knee.axis' is not a direction"],
        ),
        (
            "[knee]",
            "{type: hinge, bone: a, lower: 1.0, upper: 0.0, axis: [0.0, 1.0, 0.0]}",
            ["'knee' is not a limit", "lower ≤ upper"],
        ),
        (
            "[knee]",
            "{type: hinge, bone: a, lower: 1, upper: 0, axis: [0, 1, 0]}",
            ["'knee' is not a limit", "lower ≤ upper"],  # whole numbers are taken
        ),
        (
            "[knee]",
            "{type: swing_twist, bone: a, half_angle: 1.0, lower: 0.0}",
            ["'knee.upper' is missing"],
        ),
        (
            "[knee]",
            "{type: cone, bone: a, half_angle: 1.0, rest: [0.0, .inf, 0.0]}",
            ["'knee.rest' must be three numbers"],
        ),
    ],
    ids=lambda value: value[0][:40] if isinstance(value, list) else "",
)
def test_a_mistake_in_a_limit_is_one_line(tmp_path, complaint, limits, limit, words):
    given = f"    knee: {limit}\n" if limit else ""
    path = tmp_path / "params.yaml"
    path.write_text(f"frames_node:\n  ros__parameters:\n    {LOOK}    limits: {limits}\n{given}")
    line = complaint("frames_node", more=("--params-file", str(path)))
    assert all(word in line for word in words), line
    assert line.startswith("frames_node: parameter '")


def test_a_bone_has_one_limit(tmp_path, complaint):
    cone = "{type: cone, bone: a, half_angle: 1.0}"
    path = tmp_path / "params.yaml"
    path.write_text(
        f"frames_node:\n  ros__parameters:\n    {LOOK}    limits: [one, other]\n"
        f"    one: {cone}\n    other: {cone}\n"
    )
    line = complaint("frames_node", more=("--params-file", str(path)))
    assert "parameter 'other.bone' is 'a', which has a limit already" in line
