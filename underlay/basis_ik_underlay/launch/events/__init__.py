# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Events of the launch itself."""

from ..entities import Event


class Shutdown(Event):
    """The launch is to end; `due_to_sigint`: the terminal has told the processes already."""

    def __init__(self, *, due_to_sigint: bool = False) -> None:
        self.due_to_sigint = due_to_sigint
