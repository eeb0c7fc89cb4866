"""An executor for a control loop: what the loop needs at once, all else in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.executors import SingleThreadedExecutor, TimeoutException
from rclpy.guard_condition import GuardCondition
from rclpy.subscription import Subscription
from rclpy.timer import Timer

QUICK = (Timer, Subscription, GuardCondition)
PAUSE = 0.01  # s between two looks at services, actions and events


class LoopExecutor(SingleThreadedExecutor):
    """Waits for timers and messages; looks at everything else a hundred times a second.

    rclpy builds its wait set anew for every wait. A node with parameters, a managed life and
    services has some fifty entities in it, most of which are asked once in a while, but would cost
    each message and each period of the loop half a millisecond.

    What a timer or a message's callback raises ends `spin_some`. What a request raises does not: it
    concerns nobody but the client, which gets no answer.

    Args:
        tell: Is told what a request has raised.
    """

    def __init__(self, tell: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._tell = tell
        self._all, self._next_look = False, 0.0

    def can_execute(self, entity: Any) -> bool:
        """Tell whether to wait for an entity now."""
        return (self._all or isinstance(entity, QUICK)) and super().can_execute(entity)

    def spin_some(self) -> None:
        """Handle one message or timer; before that, from time to time, all that is ready.

        The node must have a timer: this waits as long as nothing comes.
        """
        now = time.monotonic()
        if now >= self._next_look:
            self._look()
            self._next_look = now + PAUSE
        self.spin_once()

    def _look(self) -> None:
        self._all = True
        try:
            while True:
                handler, entity, _ = self.wait_for_ready_callbacks(timeout_sec=0.0)
                handler()
                error = handler.exception()
                if error is not None and isinstance(entity, QUICK):
                    raise error
                if error is not None:
                    self._tell(error)
        except TimeoutException:
            pass
        finally:
            self._all = False
