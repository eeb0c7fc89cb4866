# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Writes and reads LeRobotDatasets: a program that needs LeRobot, and nothing of ours.

LeRobot's numpy is another one than that of ROS 2's messages, so `dataset` runs this file in an
environment of its own. Steps come pickled on standard input; answers are lines of JSON.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

Step = tuple[Any, ...]
LOCAL_DATASET = "local/dataset"  # of a dataset that is only on this machine
# Of an image's encoding: the channels, and which of them are red, green and blue.
IMAGE_CHANNELS = {
    "rgb8": (3, [0, 1, 2]),
    "bgr8": (3, [2, 1, 0]),
    "rgba8": (4, [0, 1, 2]),
    "bgra8": (4, [2, 1, 0]),
    "mono8": (1, [0, 0, 0]),
}
IMAGE_THREADS = 4  # that write images


def decoded(encoding: str, height: int, width: int, step: int, data: bytes) -> Any:
    """Return an image as numbers, shape (height, width, 3).

    Args:
        encoding: As in sensor_msgs/Image; empty: the data are a file, as in CompressedImage.
        height: Its rows.
        width: Its columns.
        step: Bytes of a row.
        data: Its bytes.

    Raises:
        ValueError: It has another encoding.
    """
    if not encoding:
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    if encoding not in IMAGE_CHANNELS:
        raise ValueError(
            f"an image has the encoding {encoding}, not one of {', '.join(IMAGE_CHANNELS)}"
        )
    channels, colors = IMAGE_CHANNELS[encoding]
    rows = np.frombuffer(data, np.uint8).reshape(height, step)[:, : width * channels]
    return np.ascontiguousarray(rows.reshape(height, width, channels)[..., colors])


class Writer:
    """Writes episodes.

    Args:
        library: The class LeRobotDataset.
        root: Folder of the dataset, which is made or gets more episodes.
    """

    def __init__(self, library: Any, root: Path) -> None:
        self._library, self._root = library, root
        self._dataset: Any = None
        self._begun: dict[str, Any] = {}
        self._count = 0  # frames of the episode

    def begin(self, begun: dict[str, Any]) -> None:
        """Begin an episode.

        Args:
            begun: Its `task`; `fps`, `robot` and, for each feature of numbers, the `names` of them.
        """
        self._begun, self._count = begun, 0

    def frame(self, values: Mapping[str, list[float]], images: Mapping[str, Step]) -> None:
        """Add a frame: numbers by feature, and images by feature as arguments of `decoded`."""
        seen = {key: decoded(*image) for key, image in images.items()}
        if self._dataset is None:
            self._dataset = self._open(seen)
        numbers = {key: np.array(each, np.float32) for key, each in values.items()}
        self._dataset.add_frame({**numbers, **seen, "task": self._begun["task"]})
        self._count += 1

    def save(self) -> dict[str, Any]:
        """Save the episode; return its index and its number of frames."""
        if not self._count:
            raise ValueError("the episode has no frames")
        self._dataset.save_episode()
        return {"saved": self._dataset.meta.total_episodes - 1, "frames": self._count}

    def discard(self) -> None:
        """Drop the episode."""
        if self._count:
            self._dataset.clear_episode_buffer()
        self._count = 0

    def close(self) -> None:
        """Drop an episode that was not saved, and complete the files."""
        self.discard()
        if self._dataset is not None:
            self._dataset.finalize()

    def _open(self, images: Mapping[str, Any]) -> Any:
        """Return the dataset, made for these images or continued."""
        fps, robot = self._begun["fps"], self._begun["robot"]
        features = {
            key: {"dtype": "float32", "shape": (len(names),), "names": names}
            for key, names in self._begun["names"].items()
        }
        names = ["height", "width", "channels"]
        for key, image in images.items():
            features[key] = {"dtype": "video", "shape": image.shape, "names": names}
        if not self._root.exists():
            return self._library.create(
                LOCAL_DATASET,
                fps,
                features,
                root=self._root,
                robot_type=robot,
                image_writer_threads=IMAGE_THREADS,
            )
        dataset = self._library.resume(
            LOCAL_DATASET, root=self._root, image_writer_threads=IMAGE_THREADS
        )
        there = {key: each for key, each in dataset.meta.features.items() if "." in key}
        there |= {"action": dataset.meta.features.get("action", {})}
        own = fps, robot, _comparable(features)
        if own != (dataset.meta.fps, dataset.meta.robot_type, _comparable(there)):
            raise ValueError(
                f"{self._root} has episodes of another robot, rate, joints or cameras: give a new "
                "folder"
            )
        return dataset


def _comparable(features: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: [each.get("dtype"), *each.get("shape", ()), *(each.get("names") or ())]
        for key, each in features.items()
    }


def write(library: Any, root: Path, say: Callable[[dict[str, Any]], None]) -> None:
    """Handle the steps on standard input, until it ends."""
    steps: queue.SimpleQueue[Step] = queue.SimpleQueue()

    def receive() -> None:  # at once, so that who sends them never waits for an encoder
        try:
            while True:
                steps.put(pickle.load(sys.stdin.buffer))
        except (EOFError, pickle.UnpicklingError):
            steps.put(("end",))

    threading.Thread(target=receive, daemon=True).start()
    writer, failed = Writer(library, root), False
    for what, *given in iter(steps.get, ("end",)):
        if failed and what in ("frame", "save"):
            continue
        try:
            answer, failed = getattr(writer, what)(*given), False
        except Exception as error:
            writer.discard()
            answer, failed = {"error": _line(error)}, True
        if answer is not None:
            say(answer)
    writer.close()


def read(read_table: Callable[..., Any], root: Path, episode: int) -> dict[str, Any]:
    """Return the actions of an episode, one row each, with their names, rate and robot.

    The library would ask for the videos, too.
    """
    file = root / "meta" / "info.json"
    if not file.exists():
        raise ValueError(f"{root} is not a LeRobotDataset: it has no meta/info.json")
    info = json.loads(file.read_text())
    total, names = info["total_episodes"], info["features"]["action"]["names"]
    if not 0 <= episode < total:
        raise ValueError(f"{root} has {total} episodes, counted from 0, and no episode {episode}")
    only = [("episode_index", "==", episode)]
    table = read_table(root / "data", columns=["frame_index", "action"], filters=only).to_pylist()
    rows = [row["action"] for row in sorted(table, key=itemgetter("frame_index"))]
    return {"robot": info["robot_type"], "fps": info["fps"], "names": names, "rows": rows}


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def main() -> int:
    """Write or read as the words of the command line say; return the exit status."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the library's own words are no answers
    del sys.path[0]  # the files beside this one are none of its modules

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    what, root = sys.argv[1], Path(sys.argv[2])
    try:
        if what == "write":
            from lerobot.datasets import LeRobotDataset

            say({"ready": True})
            write(LeRobotDataset, root, say)
        else:
            from pyarrow.parquet import read_table

            say(read(read_table, root, int(sys.argv[3])))
    except ImportError as error:
        say({"missing": _line(error)})
        return 1
    except Exception as error:
        say({"error": _line(error)})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
