# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
