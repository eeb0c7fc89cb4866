# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Draw the page in the browser: docs/figures/web_view.png, and page_NAME.png for the gallery.

In `make shell`:

    PYTHONPATH=test/extras/web_view:$PYTHONPATH python docs/figures/draw_web_view.py [NAME ...]
"""

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread

from chromium import SCENE, open_chromium
from PIL import Image

HERE = Path(__file__).parent
SIZE = {"width": 1000, "height": 740}
SMALL = {"width": 800, "height": 500}
COLORS = 128  # of the gallery's pictures, so that they are small
# What `ros2 launch basis_ik` opens for each picture.
EXAMPLES = {
    "demo": "demo.launch.py view:=true",
    "panda": "demo.launch.py robot:=panda view:=true",
    "two_arms": "two_arms.launch.py view:=true",
    "legs": "legs.launch.py view:=true",
    "transform_nodes": "transform_nodes.launch.py view:=true",
}
PAUSE, SETTLED = 3.0, 12.0  # s
PATIENCE = 120.0


def main(names) -> None:
    """Draw them."""
    for name in names:
        opened = subprocess.Popen(
            ["ros2", "launch", "basis_ik", *EXAMPLES[name].split()],
            env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": "", "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            found = (re.search(r"web view: (\S+)", line) for line in opened.stdout)
            url = next(filter(None, found))[1]
            with tempfile.TemporaryDirectory() as folder, open_chromium(Path(folder)) as browser:
                if name == "demo":
                    draw(browser.new_page(viewport=SIZE), url, opened.stdout)
                else:
                    lines = opened.stdout if name == "panda" else ()
                    page = browser.new_page(viewport=SMALL)
                    draw_small(page, url, lines, HERE / f"page_{name}.png")
        finally:
            Thread(target=opened.stdout.read, daemon=True).start()  # so that nobody waits for it
            opened.send_signal(signal.SIGINT)
            opened.wait(PATIENCE)


def opened_page(page, url) -> None:
    """Open the page, and close the note on rendering without a graphics card."""
    page.set_default_timeout(1e3 * PATIENCE)
    page.goto(url)
    page.locator(SCENE).wait_for()
    page.locator(".mantine-Notification-closeButton").first.click()


def end_of_tour(page, lines) -> None:
    """Wait for the table of the tour, which is among the lines of the launch."""
    next(line for line in lines if "targets as expected" in line)
    page.get_by_text("reached", exact=True).wait_for()


def draw_small(page, url, lines, path) -> None:
    """Store what a page of the gallery shows, after the tour if there are lines."""
    opened_page(page, url)
    if lines:
        end_of_tour(page, lines)
    page.wait_for_timeout(1e3 * SETTLED)
    with Image.open(io.BytesIO(page.screenshot())) as image:
        image.convert("RGB").quantize(COLORS).save(path, optimize=True)


def draw(page, url, lines) -> None:
    """Store what the page shows after the tour."""
    opened_page(page, url)
    page.get_by_role("tab", name="joints").click()
    end_of_tour(page, lines)
    page.wait_for_timeout(1e3 * PAUSE)
    page.screenshot(path=HERE / "web_view.png")


if __name__ == "__main__":
    main(sys.argv[1:] or EXAMPLES)
