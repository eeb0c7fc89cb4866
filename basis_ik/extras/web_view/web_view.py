# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node `web_view`: robots, targets and state on a page in a browser. See docs/web_view.md."""

from __future__ import annotations

import asyncio
import os
import time
import webbrowser
from collections.abc import Callable, Mapping
from threading import Event

from rclpy.node import Node

from basis_ik.dependencies import DependencyError

try:
    from basis_ik.extras.web_view.gate import FIRST_PORT, OwnPage, open_server
    from basis_ik.extras.web_view.hand_server import HAND_PAGE, HandServer
    from basis_ik.extras.web_view.mesh_reader import MeshReader
    from basis_ik.extras.web_view.page import Page
except ImportError as error:
    if (error.name or "").split(".")[0] not in ("rich", "trimesh", "viser", "websockets"):
        raise
    raise DependencyError(
        f"needs the Python package {error.name}, which is not installed (rosdep has no key for "
        "it): python3 -m pip install 'viser>=1.1,<1.2' pycollada"
    ) from None

from basis_ik.ros.parameters.parameters import (
    Declaration,
    Parameters,
    given_frame_complaint,
    given_lists,
)
from basis_ik.ros.periodic_spinner import Inputs, PeriodicSpinner

WEB_VIEW_NAME = "web_view"
BROWSER_PERIOD = 1.0 / 30.0  # [s] between updates to browsers
PAGE_LINGER = 10.0  # [s] that the page and its subscriptions outlive the last browser
WEB_VIEW_PARAMETERS = (
    Declaration(
        "host",
        "127.0.0.1",
        "Address to listen on; if other machines can connect, the URL contains a token.",
        read_only=True,
    ),
    Declaration(
        "port",
        0,
        f"Port to listen on; 0: the first free one from {FIRST_PORT} on.",
        0,
        65535,
        read_only=True,
    ),
    Declaration(
        "fixed_frame",
        "",
        "Frame in which the scene is drawn; empty: the first robot's topmost frame, or without "
        "a robot that of most frames shown.",
        read_only=True,
        check=given_frame_complaint,
    ),
    Declaration(
        "certificate",
        "",
        "File with a certificate and its private key (PEM): https instead of http; empty: http.",
        read_only=True,
    ),
    Declaration("open", False, "Open the page if there is a display.", read_only=True),
)


class WebView(Node):
    """Serves the page; without a browser there is no page and no subscription."""

    def __init__(self) -> None:
        """Start to serve.

        Raises:
            BasisIkError: A parameter is invalid, or the port cannot be used.
        """
        with given_lists():
            super().__init__(WEB_VIEW_NAME, automatically_declare_parameters_from_overrides=True)
        parameters = Parameters(self)
        parameters.declare(WEB_VIEW_PARAMETERS)
        parameters.refuse_unknown()
        self._fixed_frame = parameters["fixed_frame"]
        self._hands = HandServer(self)
        own = OwnPage(HAND_PAGE, self._hands.serve)
        self._server, gate = open_server(
            parameters["host"], parameters["port"], own, parameters["certificate"]
        )
        self._own_page = gate.own_page
        if not parameters["port"] and gate.port != FIRST_PORT:
            self.get_logger().info(f"port {FIRST_PORT} is taken, {gate.port} is used")
        # Printed, not logged: the address contains the token, and /rosout is public in the domain.
        print(f"web view: {gate.url}", flush=True)
        self._meshes = MeshReader(self.get_logger().warning)
        self._page: Page | None = None
        self._seen, self._browsers = 0.0, 0
        if parameters["open"] and (complaint := open_page(gate.url, os.environ)):
            self.get_logger().info(complaint)

    def run(self, function: Callable[[], None]) -> None:
        """Run a function in the server's thread, as all must that shows something, and wait for it.

        viser wakes its own tasks when something is shown. From another thread that fails while one
        of them begins to wait, with a RuntimeError or a browser that is told nothing any more.
        """

        async def run() -> None:
            function()

        asyncio.run_coroutine_threadsafe(run(), self._server.get_event_loop()).result()

    def destroy(self) -> None:
        """End the page and the server."""
        if self._page is not None:
            self.run(self._page.destroy)
        self._server.stop()
        self.destroy_node()

    def update(self) -> None:
        """Show what is new."""
        now, browsers = time.monotonic(), len(self._server.get_clients())
        if browsers < self._browsers:
            self.get_logger().info(f"a browser is gone, {browsers} left; what it held is released")
        self._browsers = browsers
        if browsers:
            self._seen = now
            if self._page is None:
                self._page = Page(
                    self, self._server, self._meshes, self._fixed_frame, self._own_page
                )
        elif self._page is not None and now - self._seen > PAGE_LINGER:
            self._page.destroy()
            self._page = None
        if self._page is not None:
            self._page.update()
        self._hands.views = {} if self._page is None else self._page.views()
        self._hands.update(now)


def open_page(url: str, environment: Mapping[str, str]) -> str | None:
    """Open the page in a browser on the local display; return why not, or None."""
    if not any(map(environment.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        return "there is no display here: open the address above in a browser"
    if not webbrowser.open(url):
        return "no browser is found here: open the address above in one"
    return None


def main(stop: Event) -> int:
    """Serve the page until `stop` is set; return the exit status."""
    node = WebView()
    spinner = PeriodicSpinner(
        node,
        Inputs(),
        BROWSER_PERIOD,
        lambda error: node.get_logger().error(f"a request failed: {error}"),
    )

    def cycle() -> None:
        spinner.handle_messages()
        spinner.handle_others()
        node.update()

    while not stop.wait(BROWSER_PERIOD):
        node.run(cycle)
    spinner.shutdown()
    node.destroy()
    return 0
