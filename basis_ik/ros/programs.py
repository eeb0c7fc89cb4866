"""The package's programs: how they start, end, and tell an error.

SIGINT and SIGTERM end a program with status 0 at any moment. rclpy's own handlers are left out:
they shut the context down in another thread, and whatever is being made at that moment then fails.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from threading import Event
from typing import TYPE_CHECKING

from basis_ik.errors import BasisIkError

if TYPE_CHECKING:
    from rclpy.node import Node

PATIENCE = 0.8  # s from a signal to the end, whatever is being done


def ik_node() -> int:
    """Run the inverse kinematics node; the exit status."""
    return run("ik_node")


def demo_targets() -> int:
    """Walk through a list of targets; exit status 0 when every one went as it should."""
    return run("demo_targets")


def simulated_arm() -> int:
    """Run the simulated arm; the exit status."""
    return run("simulated_arm")


def frames_node() -> int:
    """Run the node that applies constraints to tf frames; the exit status."""
    return run("frames_node")


def legs_motion() -> int:
    """Swing the shipped legs; the exit status."""
    return run("legs_motion")


def moving_point() -> int:
    """Move a point and judge who looks at it; exit status 0 when all went well."""
    return run("moving_point")


def run(program: str) -> int:
    """Run the module of that name: its `main(stop)` returns the exit status.

    Args:
        program: A module of `basis_ik.ros`.
    """
    stop = Event()

    def on_signal(*_: object) -> None:
        stop.set()
        # In the middle of something long, a kernel being compiled, nobody looks at `stop`; and an
        # exception raised here would get lost in the compiler's callbacks.
        rescue = threading.Timer(PATIENCE, os._exit, [0])
        rescue.daemon = True
        rescue.start()

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, on_signal)
    # Only now, for importing rclpy and numba takes long enough for a signal to come meanwhile.
    import rclpy
    from rclpy.exceptions import ParameterException
    from rclpy.signals import SignalHandlerOptions

    try:
        module = importlib.import_module(f"basis_ik.ros.{program}")
        rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
        return int(module.main(stop))
    # rcl's own errors, such as of an unreadable parameter file, are RuntimeErrors.
    except (BasisIkError, ParameterException, RuntimeError) as error:
        print(f"{program}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    finally:
        # What comes now comes too late to change the exit status, but could: Python takes its own
        # handlers down before it is gone.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        rclpy.try_shutdown()


def spin(node: Node, stop: Event) -> None:
    """Handle a node's messages until it is told to stop."""
    from rclpy.executors import SingleThreadedExecutor

    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.1)  # a signal is only seen in between
    executor.shutdown()
    node.destroy_node()


if __name__ == "__main__":
    sys.exit(run(sys.argv.pop(1)))
