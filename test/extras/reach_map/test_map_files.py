# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files of a map: npz, PLY read by independent code, PNG; and invalid files."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from basis_ik.extras.reach_map.map_files import (
    MapFileError,
    MapSpec,
    ReachMap,
    digest,
    load_map,
    points,
    save_map,
    write_ply,
    write_png,
)

SPEC = MapSpec("base", "tool", "0123", 0.25, 8, False)


@pytest.fixture
def small_map():
    """Return a map of 2 x 3 x 2 voxels, three of which are reached."""
    reached = np.zeros((2, 3, 2), np.uint16)
    reached[0, 0, 0], reached[1, 2, 0], reached[1, 0, 1] = 8, 1, 4
    best = (reached / np.float32(10)).astype(np.float32)
    return ReachMap(
        SPEC, np.array([-0.25, 0.5, 1.0]), reached, best, reached // 2, np.array([True, False])
    )


CLOUD = [
    (-0.25, 0.5, 1.0, 1.0, 0.8),
    (0.0, 0.5, 1.25, 0.5, 0.4),
    (0.0, 1.0, 1.0, 0.125, 0.1),
]


def test_a_saved_map_is_loaded(small_map, tmp_path):
    file = tmp_path / "map.npz"
    save_map(file, small_map)
    found = load_map(file)
    assert found.spec == SPEC
    for name in ("origin", "reached", "manipulability", "collides", "done"):
        expected = getattr(small_map, name)
        assert getattr(found, name).dtype == expected.dtype
        np.testing.assert_array_equal(getattr(found, name), expected)
    assert not found.complete
    assert list(tmp_path.iterdir()) == [file], "no part of it is left"


def test_the_file_has_all_fields_by_name(small_map, tmp_path):
    """As docs/reach_maps.md says."""
    save_map(tmp_path / "map.npz", small_map)
    with np.load(tmp_path / "map.npz") as found:
        assert set(found) == {
            "root", "tip", "arm", "voxel", "orientations", "position_only", "scene",
            "origin", "reached", "manipulability", "collides", "done",
        }  # fmt: skip
        assert (found["root"].item(), found["orientations"].item()) == ("base", 8)


def test_a_file_stays_when_the_next_cannot_be_written(small_map, tmp_path, monkeypatch):
    file = tmp_path / "map.npz"
    save_map(file, small_map)
    before = file.read_bytes()

    def full(out, **arrays):
        out.write(b"PK")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(MapFileError, match=r"cannot write .*map.npz': No space left on device"):
        save_map(file, small_map)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("write", [save_map, write_ply, write_png])
def test_a_folder_that_is_absent_is_named(small_map, tmp_path, write):
    with pytest.raises(MapFileError, match=r"cannot write .*: No such file or directory"):
        write(tmp_path / "absent" / "map", small_map)


def test_a_file_that_is_absent_is_named(tmp_path):
    with pytest.raises(MapFileError, match=r"cannot read .*: No such file or directory"):
        load_map(tmp_path / "absent.npz")


@pytest.mark.parametrize("content", [b"", b"PK", b"\x93NUMPY", b"a map", bytes(9)])
def test_other_files_are_refused(tmp_path, content):
    file = tmp_path / "map.npz"
    file.write_bytes(content)
    with pytest.raises(MapFileError, match="is not a map of reach, or is damaged"):
        load_map(file)


def test_a_damaged_map_is_refused_wherever_it_is_cut(small_map, tmp_path):
    file = tmp_path / "map.npz"
    save_map(file, small_map)
    content = file.read_bytes()
    for cut in range(0, len(content), 97):
        file.write_bytes(content[:cut])
        with pytest.raises(MapFileError):
            load_map(file)


@pytest.mark.parametrize(
    "change",
    [
        {"reached": np.zeros((2, 3), np.uint16)},
        {"reached": np.zeros((2, 3, 2))},
        {"manipulability": np.zeros((2, 3, 3), np.float32)},
        {"manipulability": np.zeros((2, 3, 2))},
        {"origin": np.zeros(2)},
        {"origin": np.zeros(3, np.int64)},
        {"done": np.zeros((1, 1), np.bool_)},
        {"done": np.zeros(2)},
        {"spec": replace(SPEC, voxel=1)},
        {"spec": replace(SPEC, orientations=0)},
        {"spec": replace(SPEC, orientations=np.zeros(2))},
        {"spec": replace(SPEC, root=np.array([None]))},
    ],
    ids=lambda change: "-".join(change),
)
def test_arrays_of_another_kind_are_refused(small_map, tmp_path, change):
    save_map(tmp_path / "map.npz", replace(small_map, **change))
    with pytest.raises(MapFileError, match="is not a map of reach"):
        load_map(tmp_path / "map.npz")


def test_points_are_the_voxels_that_are_reached(small_map):
    np.testing.assert_allclose(points(small_map).tolist(), CLOUD, rtol=1e-6)


def test_a_ply_file_is_read_back_by_its_header(small_map, tmp_path):
    file = tmp_path / "map.ply"
    write_ply(file, small_map)
    header, _, body = file.read_bytes().partition(b"end_header\n")
    lines = header.decode("ascii").splitlines()
    assert lines[:3] == ["ply", "format binary_little_endian 1.0", "element vertex 3"]
    kinds, names = zip(*(line.split()[1:] for line in lines[3:]), strict=True)
    assert names == ("x", "y", "z", "share", "manipulability", "red", "green", "blue")
    record = "<" + "".join({"float": "f", "uchar": "B"}[kind] for kind in kinds)
    found = list(struct.iter_unpack(record, body))
    np.testing.assert_allclose([each[:5] for each in found], CLOUD, rtol=1e-6)
    # Ends and middle of the colours, and halfway between the first two.
    assert [each[5:] for each in found] == [(253, 231, 37), (33, 145, 140), (64, 42, 112)]


def test_a_map_where_nothing_is_reached_is_an_empty_cloud(small_map, tmp_path):
    small_map.reached[:] = 0
    write_ply(tmp_path / "map.ply", small_map)
    assert b"element vertex 0\n" in (tmp_path / "map.ply").read_bytes()
    write_png(tmp_path / "map.png", small_map)


@pytest.mark.parametrize("position_only", [False, True])
def test_a_picture_is_a_png(small_map, tmp_path, position_only):
    spec = replace(SPEC, position_only=position_only)
    write_png(tmp_path / "map.png", replace(small_map, spec=spec))
    content = (tmp_path / "map.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1300, 800)


def test_the_digest_is_that_of_the_arms_kinematics_and_limits(robot):
    panda = robot("panda")
    narrower = panda.within(panda.lower, 0.99 * panda.upper)
    assert digest(panda) == digest(panda.within(panda.lower, panda.upper))
    assert len({digest(panda), digest(narrower), digest(robot("iiwa"))}) == 3
