# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A controller and the ways to it, as executions of commands see them: all silent by themselves."""

import numpy as np

from basis_ik.arm.execution.execution import Drives
from basis_ik.arm.execution.messages import ControllerReport
from basis_ik.arm.moment import Moment

JOINTS = ("a", "b")


def arm_of(joint_names=JOINTS, *, lag=0.1, velocity=1.0):
    """Return what an execution knows of its arm, whose period is 10 ms."""
    return Drives(joint_names, 0.01, lag, np.full(len(joint_names), velocity))


def moment(seconds):
    """Return a moment at which both clocks tell the same [s]."""
    return Moment(seconds, round(1e9 * seconds))


def report(stamp=0.0, reference=(), *, joint_names=JOINTS, speed_scaling=0.0):
    """Return a state of a controller that tells at most its stamp [s] and its reference."""
    nanoseconds = round(1e9 * stamp)
    return ControllerReport(joint_names, nanoseconds, reference, (), (), (), (), speed_scaling)


class OpenWay:
    """A way to a controller that takes everything, as long as it is ready."""

    def __init__(self):
        self.ready = True

    def is_due(self):
        return True

    def ask_soon(self):
        pass

    def complaint(self):
        return "" if self.ready else "nothing is there"

    def other_commander(self):
        return ""


class KnownRule:
    """A rule of replacement that is known."""

    def __init__(self, *, by_stamp=True):
        self.by_stamp = by_stamp

    def ask(self):
        pass


class StateTopic:
    """The topic of a controller's state, which something publishes."""

    name, controller = "/arm/controller_state", "arm"
    takes_partial_goals = None

    def count_publishers(self):
        return 1

    def takes_scaling(self):
        return False

    def ask_for_partial_goals(self):
        pass

    def waits_for_partial_goals(self, others):
        return ""

    def forget_partial_goals(self):
        pass
