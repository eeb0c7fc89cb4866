"""A node as a process: started, ended by a signal or a one-line error, with a fitting exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException

from basis_ik.errors import BasisIkError


def run(name: str, main: Callable[[], int], args: Sequence[str] | None) -> int:
    """Run `main` between rclpy's start and end.

    Args:
        name: The program's name, for its errors.
        main: What to run; returns the exit status.
        args: The command line without the program's name; None takes that of the process.

    Returns:
        What `main` returned; 0 after SIGINT or SIGTERM; 1 after an error that is told in one line.
    """
    try:
        rclpy.init(args=None if args is None else list(args))
        return main()
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    except (BasisIkError, ParameterException, RCLError) as error:
        print(f"{name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    finally:
        rclpy.try_shutdown()
