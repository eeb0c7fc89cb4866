# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command `reach`: its output, its continuation after Ctrl-C, and its errors."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from basis_ik.__main__ import main
from basis_ik.extras.reach_map import blocks, reach_command
from basis_ik.extras.reach_map.map_files import load_map, save_map

ROOT = Path(__file__).parents[3]
PANDA = ["reach", "--urdf", str(ROOT / "urdf" / "panda.urdf")]
SMALL = [*PANDA, "--voxel", "0.4", "--orientations", "8", "--processes", "1"]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command where the map is written; return exit status, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(blocks, "BLOCK_SOLVES", 120)

    def run(*words):
        try:
            status = main(words)
        except SystemExit as leaving:
            status = leaving.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """The file of a small map."""
    file = tmp_path_factory.mktemp("reach") / "complete.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_SOLVES", 120)
        assert main([*SMALL, "--output", str(file)]) == 0
    return file


def test_after_ctrl_c_the_same_command_continues_the_map(run, complete, monkeypatch):
    shown = []

    def show(self, block):
        real(self, block)
        shown.append(block)
        if len(shown) == 3:
            signal.raise_signal(signal.SIGINT)

    real = reach_command.Display.show
    monkeypatch.setattr(reach_command.Display, "show", show)
    status, out, err = run(*SMALL)
    assert (status, out) == (130, "")
    assert "finished work is kept in 'reach_map.npz', and the same command continues it" in err
    done = int(load_map(Path("reach_map.npz")).done.sum())
    assert 3 <= done < len(load_map(complete).done)
    status, out, err = run(*SMALL)
    assert status == 0
    assert "continuing at " in err
    assert len(shown) == len(load_map(complete).done)
    assert Path("reach_map.npz").read_bytes() == complete.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_command_leaves_a_map_and_no_processes(tmp_path, number):
    """Ctrl-C reaches all processes of a terminal; the kernel kills one silently."""
    file = tmp_path / "map.npz"
    words = [*PANDA, "--voxel", "0.15", "--orientations", "64", "--output", str(file)]
    began = time.monotonic()
    program = subprocess.Popen(
        [sys.executable, "-m", "basis_ik", *words, "--processes", "2"],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert program.stderr.readline().endswith(" voxels\n")
        if number == signal.SIGINT:
            os.killpg(program.pid, number)
        else:
            program.kill()
        lasted = time.monotonic() - began
        _, said = program.communicate(timeout=120)  # until the last process has closed its stderr
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
    assert program.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in said
    assert ("finished work is kept" in said) == (number == signal.SIGINT)
    done = load_map(file).done
    assert not done.all()
    if number == signal.SIGINT or lasted < blocks.SAVE_EVERY:  # later, a part is saved by the way
        assert done.any() == (number == signal.SIGINT)


def test_a_complete_map_is_shown_without_solving(run, complete):
    words = [*SMALL, "--output", str(complete), "--ply", "map.ply", "--png", "map.png"]
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert out.startswith("panda_link0 -> panda_hand_tcp: 85 voxels of 0.4 m, 8 orientations\n")
    assert out.splitlines()[-1] == "nothing was left to solve"
    assert Path("map.ply").read_bytes().startswith(b"ply\n")
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    assert not Path("reach_map.npz").exists()


def test_the_summary_is_that_of_the_map(run, complete):
    status, out, _ = run(*SMALL, "--output", str(complete), "--json")
    told, map_ = json.loads(out), load_map(complete)
    assert status == 0
    assert (told["root"], told["tip"]) == ("panda_link0", "panda_hand_tcp")
    reached = map_.reached[map_.reached > 0]
    assert told["reached_voxels"] == len(reached) > 20
    assert told["reached_volume"] == pytest.approx(0.4**3 * len(reached))
    assert told["mean_share"] == pytest.approx(reached.mean() / 8)
    for name, values in (("share", map_.share), ("manipulability", map_.manipulability)):
        assert told[f"largest_{name}"] == float(values.max())
        index = np.rint((np.array(told[f"largest_{name}_at"]) - map_.origin) / 0.4).astype(int)
        assert values[tuple(index)] == values.max()
    assert (told["solves"], told["solves_per_second"]) == (0, 0.0)


def test_with_a_scene_only_free_postures_count(run, complete):
    wall = "cell\n* wall\n0.3 0 0\n0 0 0 1\n1\nbox\n0.1 4 4\n0 0 0\n0 0 0 1\n0 0 0 0\n0\n.\n"
    Path("cell.scene").write_text(wall)
    told = {}
    for words in ((), ("--scene",), ("--scene", "cell.scene")):
        file = f"map{len(told)}.npz"
        status, out, err = run(*SMALL, "--output", file, *words, "--json")
        assert status == 0, err
        told[words] = json.loads(out)
        assert told[words]["colliding_poses"] == load_map(Path(file)).collides.sum()
    without, alone, cell = told.values()
    assert without["colliding_poses"] == 0
    assert cell["reached_volume"] < alone["reached_volume"]
    assert cell["colliding_poses"] > 50 > alone["colliding_poses"]
    _, out, _ = run(*SMALL, "--output", "map2.npz", "--scene", "cell.scene")
    assert f"\n{cell['colliding_poses']} poses are reached only by positions that collide\n" in out
    status, _, err = run(*SMALL, "--output", "map2.npz", "--scene")
    assert status == 1
    assert "is another map, with other shapes or objects: give another --output" in err
    status, _, err = run(*SMALL, "--scene", "none.scene")
    assert (status, "none.scene" in err) == (1, True)


def test_progress_is_a_line_for_each_tenth_and_the_last_line_is_the_throughput(run):
    status, out, err = run(*SMALL, "--position-only")
    assert status == 0
    assert err.splitlines()[-1] == "100 % of 85 voxels"
    assert ", any orientation" in out
    last = out.splitlines()[-1]
    assert last.startswith("85 solves in ")
    assert last.endswith(" solves per second")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_progress_is_a_bar(complete, robot):
    map_ = load_map(complete)
    map_.done[:] = False
    work = blocks.Work(blocks.Job(b"", 8, False), None, np.arange(1024))
    assert work.blocks == 2
    display = reach_command.Display(Terminal(), work, map_)
    display.begin()
    display.show(0)
    assert "] 50 %, " in display._out.getvalue()
    assert "[###############               ]" in display._out.getvalue()
    display.show(1)
    assert "[##############################] 100 %, 0 s left" in display._out.getvalue()
    display.end()
    assert display._out.getvalue().endswith("\r")
    assert display.throughput()["solves"] == 8 * 1024


def test_the_time_that_is_left_is_in_minutes_when_it_is_long():
    assert [reach_command._duration(each) for each in (0.4, 119.9, 120, 7300)] == [
        "0 s", "119 s", "2 min", "121 min",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--voxel", "0.3"], "with other voxel (0.4, requested: 0.3)"),
        (["--orientations", "9"], "with other orientations (8, requested: 9)"),
        (["--tip", "panda_hand"], "with other tip ('panda_hand_tcp', requested: 'panda_hand')"),
    ],
)
def test_another_map_is_not_continued(run, complete, words, said):
    before = complete.read_bytes()
    status, out, err = run(*SMALL, "--output", str(complete), *words)
    assert (status, out) == (1, "")
    assert f"is another map, {said}: give another --output, or remove it" in err
    assert complete.read_bytes() == before


def test_a_map_of_an_arm_with_other_limits_is_not_continued(run, complete, tmp_path):
    text = (ROOT / "urdf" / "panda.urdf").read_text()
    other = tmp_path / "other.urdf"
    other.write_text(text.replace("2.8973", "2.8"))
    words = ["reach", "--urdf", str(other), *SMALL[3:], "--output", str(complete)]
    status, _, err = run(*words)
    assert status == 1
    assert "is another map, with other joints or limits: give another --output" in err


def test_a_map_cut_into_other_blocks_is_not_continued(run, complete, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_SOLVES", 240)
    status, _, err = run(*SMALL, "--output", str(complete))
    assert status == 1
    assert "is from another version of basis_ik: give another --output" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--voxel", "0.001"], "voxels is too large, there may be 16777216: give --voxel 0.0"),
        (["--output", "absent/map.npz"], "cannot write 'absent/map.npz': No such file"),
        (["--output", "."], "cannot read '.': Is a directory; give another --output"),
        (["--tip", "hand"], "no link 'hand'"),
    ],
)
def test_an_error_is_one_line_and_status_1(run, words, said):
    status, out, err = run(*SMALL, *words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert said in err


def test_a_file_that_is_no_map_is_not_overwritten(run):
    Path("notes.txt").write_text("mine")
    status, _, err = run(*SMALL, "--output", "notes.txt")
    assert status == 1
    assert "'notes.txt' is not a map of reach, or is damaged; give another --output" in err
    assert Path("notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--voxel", "0"], "--voxel: must be above 0 m, got 0"),
        (["--voxel", "nan"], "--voxel: must be above 0 m, got nan"),
        (["--voxel", "small"], "--voxel: invalid number value: 'small'"),
        (["--orientations", "0"], "--orientations: must be from 1 to 10000, got 0"),
        (["--orientations", "10001"], "--orientations: must be from 1 to 10000, got 10001"),
        (["--orientations", "2.5"], "--orientations: invalid whole number value: '2.5'"),
        (["--processes", "0"], "--processes: must be from 1 to 10000, got 0"),
        (["--scheduler", "a:1"], "--scheduler: not allowed with argument --processes"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(run, words, said):
    status, out, err = run(*SMALL, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


NOT_INSTALLED = "needs the Python package {0}, which is not installed: python3 -m pip install {0}"


@pytest.mark.parametrize(
    ("words", "package", "said"),
    [
        (["--png", "a.png"], "matplotlib", NOT_INSTALLED.format("matplotlib")),
        (["--scheduler", "tcp://a:1"], "distributed", NOT_INSTALLED.format("distributed")),
        (["--publish"], "rclpy", "needs ROS 2, which this Python does not have: source it first"),
    ],
    ids=["png", "scheduler", "publish"],
)
def test_a_package_that_is_missing_is_named_before_the_work(run, monkeypatch, words, package, said):
    monkeypatch.setitem(sys.modules, package, None)
    status, out, err = run(*PANDA, *words)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert f"{words[0]} {said}" in err
    assert not Path("reach_map.npz").exists()


def test_without_these_options_no_optional_package_is_needed(run, complete, monkeypatch):
    for package in ("matplotlib", "distributed", "rclpy"):
        monkeypatch.setitem(sys.modules, package, None)
    status, _, _ = run(*SMALL, "--output", str(complete), "--ply", "map.ply")
    assert status == 0


def test_publish_hands_the_map_to_the_program(run, complete, monkeypatch):
    started = []
    monkeypatch.setattr("os.execv", lambda *words: started.append(words))
    status, out, _ = run(*SMALL, "--output", str(complete), "--publish")
    assert status == 0
    assert "the map is in" in out
    words = [sys.executable, "-m", "basis_ik.programs", "reach_map", str(complete)]
    assert started == [(sys.executable, words)]


def test_finished_work_is_kept_if_workers_end(run, monkeypatch):
    def gone(work, map_, pool, width, save, show):
        map_.done[0] = True
        save()
        raise blocks.WorkerError("worker processes have ended (a process was ended)")

    monkeypatch.setattr(blocks, "fill", gone)
    status, _, err = run(*SMALL)
    assert status == 1
    assert "have ended (a process was ended); finished work is kept in 'reach_map.npz'" in err
    assert load_map(Path("reach_map.npz")).done.sum() == 1


def test_the_scheduler_solves(run, complete, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import contextmanager

    asked = []

    @contextmanager
    def cluster(address):
        asked.append(address)
        with ThreadPoolExecutor(1) as pool:
            yield pool, lambda: 1

    monkeypatch.setattr(blocks, "cluster", cluster)
    status, _, _ = run(*SMALL[:-2], "--scheduler", "tcp://a:1")
    assert (status, asked) == (0, ["tcp://a:1"])
    assert Path("reach_map.npz").read_bytes() == complete.read_bytes()


def test_a_map_is_kept_from_the_first_moment(run, monkeypatch):
    """A file that is not writable is reported at once."""
    monkeypatch.setattr(reach_command, "_fill", lambda *_: save_map)
    assert run(*SMALL)[0] == 0
    assert not load_map(Path("reach_map.npz")).complete
