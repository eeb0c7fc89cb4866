# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw docs/figures/web_view.png: the page in the browser, with the demo's arm at its third target.

PYTHONPATH=test/ros:$PYTHONPATH python docs/figures/draw_web_view.py      (in `make shell`)
"""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import rclpy
from chromium import SCENE, open_chromium
from geometry_msgs.msg import PoseStamped

OUT = Path(__file__).parent / "web_view.png"
SIZE = {"width": 1000, "height": 740}
TARGETS = ((0.4, 0.2, 0.4), (0.2, -0.5, 0.5), (0.45, 0.1, 0.3))  # m
PAUSE = 3.0  # s
PATIENCE = 120.0


def main() -> None:
    """Draw it."""
    demo = subprocess.Popen(
        ["ros2", "launch", "basis_ik", "demo.launch.py", "targets:=false", "view:=true"],
        env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": "", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        found = (re.search(r"web view: (\S+)", line) for line in demo.stdout)
        url = next(filter(None, found))[1]
        with tempfile.TemporaryDirectory() as folder, open_chromium(Path(folder)) as browser:
            draw(browser.new_page(viewport=SIZE), url)
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=PATIENCE)


def draw(page, url) -> None:
    """Open the page, and store what it shows."""
    page.set_default_timeout(1e3 * PATIENCE)
    page.goto(url)
    page.locator(SCENE).wait_for()
    # "Software WebGL rendering detected"
    page.locator(".mantine-Notification-closeButton").first.click()
    page.get_by_role("tab", name="joints").click()
    rclpy.init()
    targets = rclpy.create_node("draw").create_publisher(PoseStamped, "basis_ik/target_pose", 1)
    for place in TARGETS:
        page.wait_for_timeout(1e3 * PAUSE)
        target = PoseStamped()
        target.header.frame_id, target.pose.orientation.x = "base_link", 1.0
        target.pose.orientation.w = 0.0
        target.pose.position.x, target.pose.position.y, target.pose.position.z = place
        targets.publish(target)
    page.wait_for_timeout(1e3 * PAUSE)
    page.get_by_text("reached", exact=True).wait_for()
    page.screenshot(path=OUT)


if __name__ == "__main__":
    main()
