# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where an arm tells its changes, in words."""

from typing import Protocol


class Log(Protocol):
    """Takes lines for a user; `ros.journal.Journal` keeps them from repeating."""

    def warn(self, subject: str, reason: str, text: str, *, lasting: bool = False) -> None:
        """Tell a problem.

        Args:
            subject: The subject of the problem; from a small set.
            reason: The kind of problem; from a small set.
            text: The message, in one line.
            lasting: Whether it needs a user's action.
        """

    def recovered(self, subject: str, text: str) -> None:
        """Tell that a subject has recovered, if it had a problem."""

    def info(self, subject: str, reason: str, text: str) -> None:
        """Tell information; arguments as for `warn`."""

    def info_once(self, subject: str, text: str) -> None:
        """Tell information, once for each subject."""
