# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Datasets of LeRobot: the process that writes and reads them, and what the library reads back.

A stand-in has what is called of the library; `make test-long` has the library itself.
"""

import io
import json
import math
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from robot_bench import HOME, running
from test_teleop_keyboard import Terminal

from basis_ik.extras.recording.dataset import DatasetError, DatasetWriter, Recorded, read_episode
from basis_ik.extras.recording.play_dataset import check
from basis_ik.extras.recording.record_dataset import RECORDER_PARAMETERS

ROOT = Path(__file__).parents[3]
LEROBOT = ROOT / ".setup" / "lerobot" / "bin" / "python"  # of `make test-long`
PATIENCE = 120.0  # s
JOINTS = ["shoulder", "elbow"]
BEGUN = {
    "task": "wave", "fps": 20, "robot": "two_joints",
    "names": {"observation.state": JOINTS, "action": JOINTS, "input.target_pose": ["x", "y", "z"]},
}  # fmt: skip
STAND_IN = '''
"""Keeps episodes as JSON."""
import json
import os
from pathlib import Path
from types import SimpleNamespace

class LeRobotDataset:
    def __init__(self, name, root):
        self.meta = SimpleNamespace(**json.loads((root / "meta" / "info.json").read_text()))
        self._root, self._rows = root, []

    @classmethod
    def create(cls, name, fps, features, root, robot_type, image_writer_threads):
        print("not an answer")
        assert os.environ["HF_HUB_OFFLINE"] == "1"
        info = {"fps": fps, "robot_type": robot_type, "features": features, "total_episodes": 0}
        (root / "meta").mkdir(parents=True)
        (root / "meta" / "info.json").write_text(json.dumps({**info, "episodes": []}))
        return cls(name, root)

    @classmethod
    def resume(cls, name, root, image_writer_threads):
        return cls(name, root)

    def add_frame(self, frame):
        if len(frame["action"]) != len(self.meta.features["action"]["names"]):
            raise ValueError("the shape of 'action'\\ndoes not fit")
        row = {key: getattr(each, "tolist", lambda: each)() for key, each in frame.items()}
        self._rows.append(row)

    def clear_episode_buffer(self):
        self._rows = []

    def save_episode(self):
        self.meta.episodes.append(self._rows)
        self.meta.total_episodes += 1
        self._rows = []

    def finalize(self):
        assert self._rows == []
        (self._root / "meta" / "info.json").write_text(json.dumps(vars(self.meta)))
'''
TABLES = '''
"""Reads these, each episode from its end."""
import json
from types import SimpleNamespace

def read_table(path, columns, filters):
    episodes = json.loads((path.parent / "meta" / "info.json").read_text())["episodes"]
    ((column, _, number),) = filters
    rows = [{**row, "frame_index": k} for k, row in enumerate(episodes[number])]
    return SimpleNamespace(to_pylist=lambda: rows[::-1])
'''


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Put the stand-ins in the libraries' place."""
    for package, module, text in (
        ("lerobot", "datasets", STAND_IN), ("pyarrow", "parquet", TABLES)
    ):  # fmt: skip
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
        (tmp_path / package / f"{module}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "data"


def raw(pixels, encoding="rgb8", padding=0):
    """Return an image as it comes in a message."""
    rows = np.pad(pixels, ((0, 0), (0, padding), (0, 0)))
    height, width, _ = pixels.shape
    return encoding, height, width, rows[0].nbytes, rows.tobytes()


def frame(k, image=None):
    """Return the k-th frame of an episode."""
    numbers = {
        "observation.state": [0.1 * k, -0.1 * k], "action": [0.2 * k, 1.0],
        "input.target_pose": [1.0, 2.0, 0.5 * k],
    }  # fmt: skip
    return numbers, {} if image is None else {"observation.images.front": image}


class Writing:
    """A writer that is closed at the end; all that it is told is then written."""

    def __init__(self, root, python=""):
        self._writer, self.answers = DatasetWriter(python, root), []

    def __enter__(self):
        assert self._writer.answer(PATIENCE) == {"ready": True}
        return self

    def __exit__(self, *_):
        assert self._writer.close(PATIENCE)
        while (answer := self._writer.answer(PATIENCE)) != {"ended": 0}:
            assert "saved" in answer

    def episode(self, *frames, begun=BEGUN, last="save"):
        self._writer.send("begin", begun)
        for each in frames:
            self._writer.send("frame", *each)
        self._writer.send(last)

    def answer(self):
        return self._writer.answer(PATIENCE)


def info(root):
    return json.loads((root / "meta" / "info.json").read_text())


@pytest.mark.usefixtures("stand_in")
def test_episodes_are_written_and_read(root):
    with Writing(root) as writing:
        writing.episode(*map(frame, range(5)))
        assert writing.answer() == {"saved": 0, "frames": 5}
        writing.episode(*map(frame, range(3)), last="discard")
        writing.episode(*map(frame, range(7)))
        assert writing.answer() == {"saved": 1, "frames": 7}
        writing.episode(*map(frame, range(2)), last="begin_not")  # an unknown step is an error
        with pytest.raises(DatasetError):
            writing.answer()
    expected = [np.float32([0.2 * k, 1.0]).tolist() for k in range(7)]
    assert read_episode("", root, 1) == Recorded("two_joints", 20, JOINTS, expected)
    assert {row["task"] for row in info(root)["episodes"][1]} == {"wave"}


@pytest.mark.usefixtures("stand_in")
def test_a_dataset_is_continued_if_it_is_of_the_same_robot(root):
    for count in (1, 2):
        with Writing(root) as writing:
            writing.episode(*map(frame, range(3)))
            assert writing.answer() == {"saved": count - 1, "frames": 3}
    for other in (
        {"fps": 30}, {"robot": "other"},
        {"names": {**BEGUN["names"], "observation.state": ["elbow", "shoulder"]}},
        {"names": {key: BEGUN["names"][key] for key in ("observation.state", "action")}},
    ):  # fmt: skip
        with Writing(root) as writing:
            given, _ = frame(1)
            values = {key: given[key] for key in {**BEGUN, **other}["names"]}
            writing.episode((values, {}), begun={**BEGUN, **other})
            with pytest.raises(DatasetError, match="of another robot, rate, joints or cameras"):
                writing.answer()
    assert info(root)["total_episodes"] == 2


@pytest.mark.usefixtures("stand_in")
def test_what_goes_wrong_loses_its_episode_alone(root):
    with Writing(root) as writing:
        writing.episode(frame(0), ({**frame(1)[0], "action": [0.0]}, {}), frame(2))
        with pytest.raises(DatasetError, match="the shape of 'action' does not fit"):
            writing.answer()
        writing.episode()
        with pytest.raises(DatasetError, match="no frames"):
            writing.answer()
        writing.episode(frame(0))
        assert writing.answer() == {"saved": 0, "frames": 1}
    assert [len(each) for each in info(root)["episodes"]] == [1]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("encoding", ["rgb8", "bgr8", "rgba8", "bgra8", "mono8", "png"])
def test_images_of_all_encodings_become_colors(root, encoding):
    pixels = np.random.default_rng(1).integers(0, 256, (4, 6, 3)).astype(np.uint8)
    alpha = np.full((4, 6, 1), 7, np.uint8)
    if encoding == "mono8":
        pixels = np.repeat(pixels[..., :1], 3, axis=2)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    image = {
        "rgb8": lambda: raw(pixels), "bgr8": lambda: raw(pixels[..., ::-1], "bgr8", 2),
        "rgba8": lambda: raw(np.dstack([pixels, alpha]), "rgba8", 3),
        "bgra8": lambda: raw(np.dstack([pixels[..., ::-1], alpha]), "bgra8"),
        "mono8": lambda: raw(pixels[..., :1], "mono8", 5),
        "png": lambda: ("", 0, 0, 0, file.getvalue()),
    }[encoding]()  # fmt: skip
    with Writing(root) as writing:
        writing.episode(frame(0, image))
        assert writing.answer()["frames"] == 1
    ((row,),) = info(root)["episodes"]
    assert np.array_equal(row["observation.images.front"], pixels)
    feature = info(root)["features"]["observation.images.front"]
    assert feature == {
        "dtype": "video", "shape": [4, 6, 3], "names": ["height", "width", "channels"]
    }  # fmt: skip


@pytest.mark.usefixtures("stand_in")
def test_another_encoding_is_named(root):
    with Writing(root) as writing:
        writing.episode(frame(0, raw(np.zeros((2, 2, 2), np.uint8), "16UC1")))
        with pytest.raises(DatasetError, match="encoding 16UC1, not one of rgb8, bgr8"):
            writing.answer()


@pytest.mark.usefixtures("stand_in")
def test_an_episode_that_is_not_saved_is_not_there_after_the_end(root):
    with Writing(root) as writing:
        writing.episode(frame(0))
        writing._writer.send("begin", BEGUN)
        writing._writer.send("frame", *frame(0))
    assert info(root)["total_episodes"] == 1


def test_without_the_library_the_error_says_how_to_get_it(root):
    for act in (lambda: read_episode("", root, 0), DatasetWriter("", root).answer):
        with pytest.raises(DatasetError, match=r"has no LeRobot.*pip install 'lerobot\[dataset"):
            act() if act.__name__ == "<lambda>" else act(PATIENCE)


def test_a_python_that_is_not_there_is_named(root):
    with pytest.raises(DatasetError, match="cannot run /nowhere/python: No such file"):
        DatasetWriter("/nowhere/python", root)


@pytest.mark.usefixtures("stand_in")
def test_a_given_python_has_an_environment_of_its_own(root):
    with pytest.raises(DatasetError, match="has no LeRobot"):  # the stand-in is on PYTHONPATH
        read_episode(sys.executable, root, 0)


@pytest.mark.usefixtures("stand_in")
def test_a_folder_without_a_dataset_and_an_episode_that_is_not_there_are_named(root):
    with pytest.raises(DatasetError, match="is not a LeRobotDataset: it has no meta/info"):
        read_episode("", root, 0)
    with Writing(root) as writing:
        writing.episode(frame(0))
    for episode in (-1, 1):
        with pytest.raises(DatasetError, match="has 1 episodes, counted from 0"):
            read_episode("", root, episode)


@pytest.mark.usefixtures("stand_in")
def test_keys_in_a_terminal_record_what_the_player_plays(domain, root):
    program = [sys.executable, "-m", "basis_ik.programs"]
    words = ["--ros-args", "-p", f"root:={root}", "-p", "task:=wave"]
    with (
        running(domain) as robot,
        closing(Terminal(domain, [*program, "record_dataset", *words], controls=True)) as terminal,
    ):
        terminal.wait_for("LeRobot is loaded")
        assert terminal.attributes() != terminal.before
        said = ""
        while "records: wave" not in said:
            terminal.press(" ")
            said = terminal.wait_for("\n")
        robot.reach("base_link", robot.chain.forward(HOME + 0.1))
        terminal.press(" ")
        terminal.wait_for("is saved")
        terminal.press("q")
        assert terminal.process.wait(PATIENCE) == 0
        assert terminal.attributes() == terminal.before
        recorded = read_episode("", root, 0)
        assert recorded.names == list(robot.chain.joint_names)
        assert np.allclose(recorded.rows[0], HOME, rtol=0.0, atol=1e-6)
        assert np.allclose(recorded.rows[-1], HOME + 0.1, rtol=0.0, atol=0.02)
        played = subprocess.run(
            [*program, "play_dataset", str(root)],
            env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert (played.returncode, played.stderr) == (0, "")
        assert played.stdout.startswith(f"{len(recorded.rows)} actions in ")
        assert np.allclose(robot.positions, recorded.rows[-1], rtol=0.0, atol=1e-3)


def test_a_recorder_without_lerobot_ends_with_one_line(complaint, root):
    line = complaint("record_dataset", f"root:={root}")
    assert "has no LeRobot" in line
    assert "lerobot/bin/python" in line


def test_the_page_has_each_parameter_and_its_default():
    page = (ROOT / "docs" / "interfaces.md").read_text()
    section = page.partition("## `record_dataset`")[2].partition("\n## ")[0]
    for each in RECORDER_PARAMETERS:
        (row,) = re.findall(rf"^\|[^|]*`{each.name}`[^|]*\|([^|]*)\|", section, re.MULTILINE)
        shown = each.default if each.name == "controller" else json.dumps(each.default)
        assert row.strip() == ("required" if each.name in ("root", "task") else f"`{shown}`")


@pytest.mark.long
def test_lerobot_reads_what_was_written(root):
    assert LEROBOT.exists(), "`make test-long` installs LeRobot there"
    shades = range(0, 250, 50)

    def shown(shade):
        return raw(np.full((64, 96, 3), shade, np.uint8))

    for first in (0, 10):
        with Writing(root, str(LEROBOT)) as writing:
            writing.episode(frame(0, shown(0)), last="discard")
            writing.episode(*(frame(first + k, shown(shade)) for k, shade in enumerate(shades)))
            assert writing.answer() == {"saved": first // 10, "frames": 5}
    recorded = read_episode(str(LEROBOT), root, 1)
    expected = [np.float32([0.2 * k, 1.0]).tolist() for k in range(10, 15)]
    assert recorded == Recorded("two_joints", 20, JOINTS, expected)
    code = f"""
import json
from lerobot.datasets import LeRobotDataset
data = LeRobotDataset("local/dataset", root={str(root)!r})
rows = [data[k] for k in range(len(data))]
print(json.dumps({{
    "version": str(data.meta.info.codebase_version), "episodes": data.meta.total_episodes,
    "task": rows[3]["task"], "state": rows[8]["observation.state"].tolist(),
    "pose": rows[8]["input.target_pose"].tolist(),
    "times": [float(row["timestamp"]) for row in rows],
    "shades": [255.0 * float(row["observation.images.front"].mean()) for row in rows],
    "shape": list(rows[0]["observation.images.front"].shape),
}}))
"""
    done = subprocess.run(
        [LEROBOT, "-c", code], capture_output=True, text=True, check=True, timeout=600,
        env={"HF_HUB_OFFLINE": "1", "HOME": str(root.parent)},
    )  # fmt: skip
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["version"], told["episodes"], told["task"]) == ("v3.0", 2, "wave")
    assert told["state"] == np.float32([1.3, -1.3]).tolist()
    assert told["pose"] == [1.0, 2.0, 6.5]
    assert np.allclose(told["times"], 2 * [0.05 * k for k in range(5)], rtol=0.0, atol=1e-6)
    assert np.allclose(told["shades"], 2 * list(shades), rtol=0.0, atol=4.0)
    assert told["shape"] == [3, 64, 96]


@pytest.mark.parametrize("rows", [[], [[math.nan, 0.0]], [[0.0, 0.0], [math.inf, 0.0]]])
def test_actions_that_are_not_numbers_are_not_played(rows):
    with pytest.raises(DatasetError, match="not numbers"):
        check(Recorded("two_joints", 20, JOINTS, rows), "two_joints", dict.fromkeys(JOINTS, 0.0))


def test_finite_actions_of_this_robot_may_be_played():
    recorded = Recorded("two_joints", 20, JOINTS, [[0.0, 0.0]])
    check(recorded, "two_joints", dict.fromkeys(JOINTS, 0.0))
