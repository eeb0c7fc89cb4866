"""How the constraints of frames_node are told, and what is said about mistakes in them."""

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
            ["'foot.chain' wants two or more different frames"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, b, a], target: c}",
            ["'foot.chain' wants two or more different frames"],
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
        ("constraints: a", ["'constraints' wants a list of names, not 'a'"]),
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
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, /b], target: c}",
            ["'foot.chain' is '/b', which is not a frame"],
        ),
        (
            "use_sim_time: 1\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["'use_sim_time' wants true or false, not 1"],
        ),
    ],
    ids=lambda value: value[0][:30] if isinstance(value, list) else "",
)
def test_a_mistake_is_told_in_one_line(tmp_path, complaint, yaml, words):
    path = tmp_path / "params.yaml"
    path.write_text(f"frames_node:\n  ros__parameters:\n    {yaml}\n")
    line = complaint("frames_node", more=("--params-file", str(path)))
    assert all(word in line for word in words), line
    assert line.startswith("frames_node: parameter '") or "[]" in line
