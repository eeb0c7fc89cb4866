# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What part of a processor web_view needs for two arms, with one browser.

PYTHONPATH=test/extras/web_view:$PYTHONPATH python benchmark/web_view_share.py     (in `make shell`)
"""

import math
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import psutil
import rclpy
from chromium import SCENE, open_chromium
from control_msgs.msg import JointJog

from basis_ik.extras.web_view.web_view import PAGE_LINGER

COUNTED = 5.0  # s
RATE, SPEED, SWING = 50.0, 0.3, 4.0  # Hz, rad/s, s
PATIENCE = 120.0


def main() -> None:
    """Print a row for each case."""
    with tempfile.TemporaryDirectory() as name, open_chromium(Path(name)) as browser:
        log = Path(name, "log")
        with log.open("w") as output:
            launch = subprocess.Popen(
                [
                    "ros2",
                    "launch",
                    "basis_ik",
                    "two_arms.launch.py",
                    "targets:=false",
                    "view:=true",
                ],
                env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": "", "PYTHONUNBUFFERED": "1"},
                stdout=output,
            )
        try:
            measure(launch.pid, log, browser.new_page(viewport={"width": 640, "height": 480}))
        finally:
            launch.send_signal(signal.SIGINT)
            launch.wait(PATIENCE)


def measure(launch, log, page) -> None:
    """Print what each case needs."""
    page.set_default_timeout(1e3 * PATIENCE)
    page.goto(wait_for(log, r"web view: (\S+)"))
    page.locator(SCENE).wait_for()
    page.get_by_text("bring it back to the tip").first.wait_for()
    view = process_of(launch)
    print(f"at rest               {share(view):5.1%}", flush=True)
    with jogged():
        print(f"in motion             {share(view):5.1%}", flush=True)
        page.get_by_role("tab", name="plot").first.click()
        page.locator(".uplot").wait_for()
        print(f"in motion, with plots {share(view):5.1%}", flush=True)
    page.close()
    wait_for(log, r"(a browser is gone)")
    time.sleep(1.2 * PAGE_LINGER)  # until it has given up its subscriptions
    print(f"no browser            {share(view):5.1%}", flush=True)


@contextmanager
def jogged() -> Iterator[None]:
    """Turn both arms to and fro in this context."""
    rclpy.init()
    node, ended = rclpy.create_node("jogger"), Event()
    topics = [
        (node.create_publisher(JointJog, f"/basis_ik/{side}/joint_jog", 1), side)
        for side in ("left", "right")
    ]

    def jog():
        while not ended.wait(1.0 / RATE):
            turn = SPEED * math.copysign(1.0, math.sin(2.0 * math.pi * time.monotonic() / SWING))
            for publisher, side in topics:
                message = JointJog(joint_names=[f"{side}_shoulder_pan_joint"], velocities=[turn])
                message.header.stamp = node.get_clock().now().to_msg()
                publisher.publish(message)

    thread = Thread(target=jog)
    thread.start()
    yield
    ended.set()
    thread.join()
    rclpy.shutdown()


def wait_for(log, pattern) -> str:
    """Return what a launch has logged."""
    while not (found := re.search(pattern, log.read_text())):
        time.sleep(0.1)
    return found[1]


def process_of(launch) -> psutil.Process:
    """Return web_view's process."""
    children = psutil.Process(launch).children(recursive=True)
    return next(each for each in children if any("web_view" in word for word in each.cmdline()))


def share(process) -> float:
    """Return the part of one processor that a process needs."""
    before = sum(process.cpu_times()[:2])
    time.sleep(COUNTED)
    return (sum(process.cpu_times()[:2]) - before) / COUNTED


if __name__ == "__main__":
    main()
