# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The package's programs: how they start, end, and report errors.

SIGINT and SIGTERM end a program with status 0 at any time. rclpy's own handlers are not used: they
shut the context down in another thread, so that creating an entity at that moment fails.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event

from basis_ik import process
from basis_ik.errors import BasisIkError

MODULES = {
    "ik_node": "basis_ik.extras.recording.recording",  # it records the node, if a parameter says so
    "replay": "basis_ik.extras.recording.replay",
    "record_dataset": "basis_ik.extras.recording.record_dataset",
    "play_dataset": "basis_ik.extras.recording.play_dataset",
    "go": "basis_ik.ros.go",
    "frames_node": "basis_ik.ros.frames.frames_node",
    "transform_nodes": "basis_ik.ros.frames.transform_nodes",
    "simulated_arm": "basis_ik.ros.demo.simulated_arm",
    "demo_targets": "basis_ik.ros.demo.demo_targets",
    "moving_point": "basis_ik.ros.demo.moving_point",
    "teleop_keyboard": "basis_ik.extras.teleop_keyboard",
    "legs_motion": "basis_ik.ros.demo.legs_motion",
    "reach_map": "basis_ik.extras.reach_map.reach_cloud",
    "web_view": "basis_ik.extras.web_view.web_view",
}
PROGRAM_TIMEOUT = 1.2  # [s] from a signal, within which the program must have ended
LIBRARY_TIMEOUT = 0.5  # [s] more, after which it hangs in a library that holds Python's lock
INTERPRETER_TIMEOUT = 7.0  # [s] more, within which also the interpreter must have ended


def ik_node() -> int:
    """Run the inverse kinematics node; return the exit status."""
    return run("ik_node")


def replay() -> int:
    """Replay a recording of ik_node; exit status 0 if all output is equal bit for bit."""
    return run("replay")


def record_dataset() -> int:
    """Record demonstrations as a LeRobotDataset; return the exit status."""
    return run("record_dataset")


def play_dataset() -> int:
    """Play an episode of a LeRobotDataset; exit status 0 if the arm is at its last action."""
    return run("play_dataset")


def demo_targets() -> int:
    """Move to each target of a list; exit status 0 if all motions were as expected."""
    return run("demo_targets")


def simulated_arm() -> int:
    """Run the simulated arm; return the exit status."""
    return run("simulated_arm")


def go() -> int:
    """Move the arm of a running node to a pose; exit status 0 if it is there."""
    return run("go")


def frames_node() -> int:
    """Run the node that applies constraints to tf frames; return the exit status."""
    return run("frames_node")


def transform_nodes() -> int:
    """Run the node that shows a tree of transform nodes; return the exit status."""
    return run("transform_nodes")


def legs_motion() -> int:
    """Swing the shipped legs; return the exit status."""
    return run("legs_motion")


def reach_map() -> int:
    """Publish a map of reach; return the exit status."""
    return run("reach_map")


def teleop_keyboard() -> int:
    """Move the tip by keys; return the exit status."""
    return run("teleop_keyboard")


def web_view() -> int:
    """Show robots and their state in a browser; return the exit status."""
    return run("web_view")


def moving_point() -> int:
    """Move a point and check the head that looks at it; exit status 0 if its errors are small."""
    return run("moving_point")


def run(program: str) -> int:
    """Run a program: its module's `main(stop)` returns the exit status.

    Args:
        program: One of `MODULES`.
    """
    stop, forced = Event(), 0  # while it is only loading, a forced end loses nothing

    def on_signal() -> None:
        stop.set()
        _watch(LIBRARY_TIMEOUT)
        # In a long operation, such as a compilation, nothing checks `stop`.
        time.sleep(PROGRAM_TIMEOUT)
        process.end_now(forced)

    with _when_signalled(on_signal):
        try:
            main = _load(program)
        except BasisIkError as error:
            return _fail(program, str(error))
        forced = 1
        status = process.leave(_run(program, main, stop))
    if stop.is_set():
        _watch(INTERPRETER_TIMEOUT)
    return status


def _watch(more: float) -> None:
    """End the process with status 1 after `PROGRAM_TIMEOUT` and `more` [s], and print where it is.

    The thread that does so needs no lock of Python's, which the main thread may hold as it hangs.
    """
    faulthandler.dump_traceback_later(PROGRAM_TIMEOUT + more, exit=True, file=2)


@contextmanager
def _when_signalled(act: Callable[[], None]) -> Iterator[None]:
    """Have a thread act on SIGINT and SIGTERM.

    A handler of Python's would interrupt the main thread, and wait forever for a lock that this
    holds, be it the one of an event that it waits for.

    Args:
        act: What the thread calls.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # Python requires it

    def wait() -> None:
        if os.read(reading, 1):
            act()

    threading.Thread(target=wait, name="signals", daemon=True).start()
    signal.set_wakeup_fd(writing)
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: None)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.set_wakeup_fd(-1)
        os.close(writing)  # ends the thread


def _load(program: str) -> Callable[[Event], int]:
    """Import a program and initialise rclpy; return the program's `main`.

    The imports are here, because a signal may arrive during those of rclpy and numba.

    Raises:
        BasisIkError: A package is missing or too old, or ROS 2 refuses the arguments.
    """
    try:
        import rclpy
        from rclpy.signals import SignalHandlerOptions

        from basis_ik.numerics.jit import when_compiling

        when_compiling(lambda: None)  # a node logs
        module = importlib.import_module(MODULES[program])
    except BasisIkError:  # a `DependencyError` is an ImportError, too
        raise
    except ImportError as error:
        raise BasisIkError(_missing(error)) from None
    try:
        rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # of rcl: an unreadable parameter file, for example
        text = f"ROS 2 refuses its arguments or the environment: {error}"
        if "Sequence should be of same type" in text:
            text += "; write all numbers of a list with a decimal point: [0.0, -1.57]"
        raise BasisIkError(text) from None
    main: Callable[[Event], int] = module.main
    return main


def _run(program: str, main: Callable[[Event], int], stop: Event) -> int:
    """Run a program's `main`, and shut rclpy down; return the exit status."""
    import rclpy
    from rclpy.exceptions import NameValidationException, ParameterException

    try:
        return int(main(stop))
    except (BasisIkError, NameValidationException, ParameterException) as error:
        return _fail(program, str(error))
    except RuntimeError as error:
        if not type(error).__module__.startswith("rclpy"):
            raise
        return _fail(program, str(error))
    finally:
        # A signal from now on must not change the exit status, but could: Python removes its own
        # handlers before the process ends.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        rclpy.try_shutdown()


def _fail(program: str, text: str) -> int:
    """Print in one line why a program ends; return the exit status."""
    print(f"{program}: {' '.join(text.split())}", file=sys.stderr)
    return 1


def _missing(error: ImportError) -> str:
    """Return what must be installed or sourced.

    Raises:
        ImportError: A module of this package is missing: a fault of the package.
    """
    package = (error.name or "").split(".")[0]
    if package == __name__.split(".")[0]:
        raise error
    if package == "rclpy" or "rclpy" in str(error):
        return (
            f"needs ROS 2, which this Python does not have ({error}): source it first, for example "
            "by `source /opt/ros/jazzy/setup.bash`; without ROS 2, run `make shell` in a checkout "
            "of basis_ik"
        )
    return (
        f"needs {package or 'a package'}, which is not installed ({error}): call `rosdep install "
        "--from-paths src --ignore-src` in the workspace that holds basis_ik"
    )


if __name__ == "__main__":
    sys.exit(run(sys.argv.pop(1)))
