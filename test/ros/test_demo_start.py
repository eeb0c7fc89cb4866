# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Errors of demo_targets, moving_point and legs_motion at start."""

import pytest

GOOD = "{name: a, frame: root, xyz: [0.4, 0.2, 0.3], rpy: [180, 0, 0]}"

LISTS = {
    "no yaml": ("targets: [", "has no list of targets: while parsing"),
    "binary": (bytes(range(256)), "has no list of targets: 'utf-8' codec"),
    "no list": ("targets: 5", "has no list of targets: 'targets' is 5"),
    "empty": ("targets: []", "has no list of targets: 'targets' is []"),
    "other": ("places: []", "has no list of targets: 'targets'"),
    "deep": ("[" * 5000, "has no list of targets: maximum recursion"),
    "tag": ("targets: !!timestamp x", "has no list of targets: "),
    "long": (f"targets: {'x' * 5000}", "has no list of targets: 'targets' is"),
    "huge": (f"targets: [{GOOD.replace('0.2', '1' * 400)}]", "target 1: "),
    "text": ("hello", "has no list of targets"),
    "entry": (f"targets: [{GOOD}, 7]", "target 2: "),
    "lacks": ("targets: [{name: a, frame: root, xyz: [0, 0, 0]}]", "target 1 lacks 'rpy'"),
    "kind": (f"targets: [{GOOD[:-1]}, kind: jump}}]", "target 1: kind 'jump' is not one of pose,"),
    "nan": (f"targets: [{GOOD.replace('0.2', '.nan')}]", "target 1: "),
    "two": (f"targets: [{GOOD.replace('0.2, ', '')}]", "target 1: "),
    "word": (f"targets: [{GOOD.replace('0.2', 'a')}]", "target 1: "),
    "angle": (f"targets: [{GOOD.replace('180', '.inf')}]", "target 1: "),
    "frame": (f"targets: [{GOOD.replace('root', '/table')}]", "target 1: its frame is '/table'"),
    "objects": (f"objects: 5\ntargets: [{GOOD}]", "has no list of objects: 'objects' is 5"),
    "object": (f"objects: [7]\ntargets: [{GOOD}]", "object 1: "),
    "shape": (f"objects: [{GOOD}]\ntargets: [{GOOD}]", "object 1: its shape is not one of box, cy"),
    "shapes": (
        f"objects: [{GOOD[:-1]}, box: [1, 1, 1], cylinder: [1, 1]}}]\ntargets: [{GOOD}]",
        "object 1: its shape is not one of box, cylinder",
    ),
    "size": (f"objects: [{GOOD[:-1]}, box: [a, 1, 1]}}]\ntargets: [{GOOD}]", "object 1: could not"),
}


@pytest.mark.parametrize(("content", "words"), LISTS.values(), ids=LISTS)
def test_a_bad_list_of_targets_is_one_line(complaint, tmp_path, content, words):
    path = tmp_path / "targets.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    line = complaint("demo_targets", f"targets_file:={path}")
    assert line.startswith("demo_targets: ")
    assert str(path) in line
    assert words in line


GIVEN = {
    "file missing": ("demo_targets", ["targets_file:=/nowhere"], "'targets_file' is /nowhere, "),
    "file empty": ("demo_targets", [], "'targets_file' is empty"),
    "folder": ("demo_targets", ["targets_file:=/tmp"], "'targets_file' is /tmp, "),
    "no frame": ("demo_targets", ["root_frame:=''"], "'root_frame' is '', which is not a frame"),
    "slash": ("demo_targets", ["tip_frame:=/tool0"], "'tip_frame' is '/tool0', which is not"),
    "type": ("demo_targets", ["tip_frame:=5"], "'tip_frame' must be text, not 5"),
    "clock": ("demo_targets", ["use_sim_time:=5"], "'use_sim_time' must be true or false, not 5"),
    "point frame": ("moving_point", ["root_frame:=/a"], "'root_frame' is '/a', which is not"),
    "point tip": ("moving_point", ["tip_frame:=''"], "'tip_frame' is '', which is not a frame"),
    "point nan": ("moving_point", ["period:=.nan"], "'period' must lie in"),
    "legs nan": ("legs_motion", ["period:=.nan"], "'period' must lie in"),
    "legs back": ("legs_motion", ["period:=-1.0"], "'period' must lie in"),
    "legs type": ("legs_motion", ["period:=fast"], "'period' must be a number"),
}


@pytest.mark.parametrize(("program", "given", "words"), GIVEN.values(), ids=GIVEN)
def test_a_bad_parameter_is_one_line(complaint, program, given, words):
    assert complaint(program, *given).startswith(f"{program}: parameter {words}")
