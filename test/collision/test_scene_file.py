# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Objects as MoveIt writes them into a file."""

import numpy as np
import pytest

from basis_ik import RigidTransform, RobotModel, SceneError
from basis_ik.collision.scene_file import load_scene

UR5E = RobotModel.example("ur5e")
TURN = "0 0 0.7071067811865475 0.7071067811865476"
NONE = "0 0 0 1"
MESH = "mesh\n4 4\n0 0 0\n0.1 0 0\n0 0.1 0\n0 0 0.1\n0 1 2\n0 1 3\n0 2 3\n1 2 3"


def thing(name, *shapes, place="0 0 0", turn=NONE, subframes=()):
    rows = [f"* {name}", place, turn, str(len(shapes))]
    for shape, at in shapes:
        rows += [shape, at, NONE, "0 0 0 0"]
    rows.append(str(len(subframes)))
    for each in subframes:
        rows += [each, "0 0 0.1", NONE]
    return "\n".join(rows)


def read(tmp_path, *things, end="."):
    file = tmp_path / "cell.scene"
    file.write_text("\n".join(["my cell", *things, end, ""]))
    return load_scene(UR5E, UR5E.chain(), file)


def test_shapes_places_and_names_are_those_of_the_file(tmp_path):
    scene = read(
        tmp_path,
        thing("a table", ("box\n2 0.2 0.1", "0.5 0 0"), place="0 0 -1", turn=TURN),
        thing("ball", ("sphere\n0.1", "0 0 0"), ("cylinder\n0.1 0.4", "0 0 1"), place="3 0 0"),
        thing("wedge", (MESH, "0 0 5"), subframes=["handle", "tip 2"]),
    )
    assert scene.objects == ("a table", "ball", "wedge")
    table, ball, wedge = (scene._objects[name] for name in scene.objects)
    assert table.bodies[0].shape.size == (2.0, 0.2, 0.1)
    assert table.bodies[0].place.translation == pytest.approx([0.0, 0.5, -1.0], abs=1e-12)
    assert table.bodies[0].place.rotation[1, 0] == pytest.approx(1.0)
    assert [body.shape.kind for body in ball.bodies] == ["sphere", "cylinder"]
    assert ball.bodies[1].shape.size == (0.2, 0.2, 0.4)
    assert ball.bodies[1].place.translation == pytest.approx([3.0, 0.0, 1.0])
    corners = wedge.bodies[0].place.apply(wedge.bodies[0].shape.hull.vertices)
    assert sorted(map(tuple, np.round(corners, 9).tolist())) == [
        (0.0, 0.0, 5.0), (0.0, 0.0, 5.1), (0.0, 0.1, 5.0), (0.1, 0.0, 5.0),
    ]  # fmt: skip


def test_without_a_file_there_are_the_links_alone():
    scene = load_scene(UR5E, UR5E.chain(), None)
    assert scene.objects == ()
    assert scene.pairs


def test_places_are_in_the_frame_of_the_models_root(tmp_path):
    ball = "<collision><geometry><sphere radius='0.1'/></geometry></collision>"
    text = f"<robot name='r'><link name='world'/><link name='a'>{ball}</link>"
    text += f"<link name='b'>{ball}</link><joint name='f' type='fixed'><parent link='world'/>"
    text += "<child link='a'/><origin xyz='1 0 0'/></joint><joint name='j' type='continuous'>"
    text += "<parent link='a'/><child link='b'/><origin xyz='0 0 1'/></joint></robot>"
    model = RobotModel.from_urdf(text)
    file = tmp_path / "cell.scene"
    file.write_text("\n".join(["", thing("c", ("box\n1 1 1", "0 0 0"), place="1 2 3"), "."]))
    scene = load_scene(model, model.chain("a", "b"), file)
    place = scene._objects["c"].bodies[0].place
    assert place.is_close(RigidTransform.from_rpy(0.0, 0.0, 0.0, (0.0, 2.0, 3.0)), 1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((thing("c", ("cone\n1 2", "0 0 0")),), "a 'cone' is not supported"),
        ((thing("c", ("box\n1 1", "0 0 0")),), "'c': expected 3 numbers, this line is '1 1'"),
        ((thing("c", ("box\n1 1 nan", "0 0 0")),), "'c': "),
        ((thing("c", ("box\n1 1 1", "0 0 0"), turn="0 0 0 0"),), "'c': "),
        ((thing("c", (MESH.replace("1 2 3", "1 2 9"), "0 0 0")),), "'c': "),
        ((thing("c", ("box\n1 1 1", "0 0 0")),) * 2, "there is an object of this name"),
        (("* c\n0 0 0\n0 0 0",), "expected 4 numbers"),
        (("c",), "an object begins with '* '"),
    ],
)
def test_what_is_no_such_file_is_refused_by_name(tmp_path, rows, message):
    with pytest.raises(SceneError, match=r"cell\.scene") as error:
        read(tmp_path, *rows)
    assert message in str(error.value)
    assert "export it again" in str(error.value)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    whole = thing("c", ("box\n1 1 1", "0 0 0"))
    for end in ("", "* d"):
        with pytest.raises(SceneError, match="export it again"):
            read(tmp_path, whole, end=end)
    with pytest.raises(SceneError, match="cannot be read"):
        load_scene(UR5E, UR5E.chain(), tmp_path / "none.scene")
