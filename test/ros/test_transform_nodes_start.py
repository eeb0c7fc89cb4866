# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The parameters of transform_nodes, and the errors about mistakes in them."""

import pytest

ABC = "nodes: [a, b, c]\n    b: {parent: a}\n    constraints: "
LOOK = f"{ABC}[look]\n    look: "
MISTAKES = {
    "no nodes": ("root: world", "'nodes' is empty"),
    "bad name": ("nodes: [a-b]", "'nodes' has 'a-b', which is not a name"),
    "twice": ("nodes: [a, a]", "'nodes' has 'a' twice"),
    "the root": ("nodes: [world]", "'nodes' has 'world', which is a frame's name already"),
    "a node too": (
        "nodes: [a, b]\n    combine: [a]",
        "'combine' has 'a', which is a frame's name already",
    ),
    "root": ("nodes: [a]\n    root: /w", "'root' is '/w', which is not a frame"),
    "parent": ("nodes: [a]\n    a: {parent: b}", "'a.parent' is 'b', which is not one of world, a"),
    "circle": (
        "nodes: [a, b, c]\n    a: {parent: c}\n    c: {parent: a}",
        "'a.parent' is 'c', which leads back to 'a'",
    ),
    "field": (
        "nodes: [a]\n    a: {centre: [0.0, 0.0, 0.0]}",
        "'a.centre' does not exist; did you mean 'a.center'?",
    ),
    "flags": ("nodes: [a]\n    a: {scale: [true, true, true]}", "'a.scale' must be a number, not"),
    "zero scale": ("nodes: [a]\n    a: {scale: [1, 0, 1]}", "'a.scale' must lie in [1e-06"),
    "matrix": ("nodes: [a]\n    a: {rotation: [1.0, 0.0, 0.0]}", "'a.rotation' wants 4 numbers"),
    "zero axis": (
        "nodes: [a]\n    a: {scaleOrientation: [0.0, 0.0, 0.0, 1.0]}",
        "'a.scaleOrientation' has an axis without length",
    ),
    "nan": ("nodes: [a]\n    a: {center: [0.0, .nan, 0.0]}", "'a.center' must lie in"),
    "rate": ("nodes: [a]\n    update_rate: .nan", "'update_rate' must lie in [1, 1000]"),
    "no chain": ("nodes: [a, b]\n    combine: [c]", "'c.chain' must be two or more nodes, not []"),
    "unknown in chain": (
        "nodes: [a, b]\n    combine: [c]\n    c: {chain: [a, d]}",
        "'c.chain' has 'd', which is not one of a, b",
    ),
    "gap in chain": (
        "nodes: [a, b]\n    combine: [c]\n    c: {chain: [a, b]}",
        "'c.chain' has 'b' after 'a', but its parent is 'world'",
    ),
    "constraint's name": (f"{ABC}[a]", "'constraints' has 'a', which is a frame's name already"),
    "constraint twice": (f"{ABC}[look, look]", "'constraints' has 'look' twice"),
    "no type": (f"{ABC}[look]", "'look.type' is missing; it is one of points_at, fabrik"),
    "type": (
        f"{ABC}[look]\n    look: {{type: aim, bone: a}}",
        "'look.type' must be one of points_at, fabrik, not 'aim'",
    ),
    "no tail": (
        f"{LOOK}{{type: points_at, bone: a, target: c}}",
        "'look.tail' is missing; it is a frame",
    ),
    "other type's": (
        f"{LOOK}{{type: points_at, bone: a, tail: b, target: c, method: fabrik}}",
        "'look.method' does not exist",
    ),
    "unknown bone": (
        f"{LOOK}{{type: points_at, bone: world, tail: b, target: c}}",
        "'look.bone' is 'world', which is not one of a, c, b",
    ),
    "unknown target": (
        f"{LOOK}{{type: points_at, bone: a, tail: b, target: ab}}",
        "'look.target' is 'ab', which is not one of world, a, c, b",
    ),
    "tail beside": (
        f"{LOOK}{{type: points_at, bone: a, tail: c, target: b}}",
        "'look.tail' is 'c', which is not below 'a'",
    ),
    "unknown in reach": (
        f"{LOOK}{{type: fabrik, chain: [a, d], target: c}}",
        "'look.chain' has 'd', which is not one of a, c, b",
    ),
    "reach upwards": (
        f"{LOOK}{{type: fabrik, chain: [b, a], target: c}}",
        "'look.chain' has 'a', which is not below 'b'",
    ),
    "own target": (
        f"{LOOK}{{type: fabrik, chain: [a, b], target: d}}".replace("c]", "c, d]")
        + "\n    d: {parent: b}",
        "'look.target' is 'd', which 'look' itself moves",
    ),
    "method": (
        f"{LOOK}{{type: fabrik, chain: [a, b], target: c, method: ccd}}",
        "'look.method' must be one of fabrik, shared, not 'ccd'",
    ),
    "limits": (
        f"{LOOK}{{type: points_at, bone: a, tail: b, target: c}}\n    limits: [knee]",
        "'limits' does not exist",
    ),
    "empty": ("nodes: []", "leave out parameters that are []"),
}


@pytest.mark.parametrize(("yaml", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line(tmp_path, complaint, yaml, words):
    path = tmp_path / "params.yaml"
    path.write_text(f"transform_nodes:\n  ros__parameters:\n    {yaml}\n")
    line = complaint("transform_nodes", more=("--params-file", str(path)))
    assert words in line
    assert line.startswith("transform_nodes: parameter '") or "[]" in line
