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

"""Draw docs/figures/web_view.png: the page in the browser, during the demo's tour.

PYTHONPATH=test/ros:$PYTHONPATH python docs/figures/draw_web_view.py      (in `make shell`)
"""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

from chromium import SCENE, open_chromium

OUT = Path(__file__).parent / "web_view.png"
SIZE = {"width": 1000, "height": 640}
PLOTTED = 8.0  # s of the tour that the plot shows
PATIENCE = 120.0


def main() -> None:
    """Draw it."""
    demo = subprocess.Popen(
        ["ros2", "launch", "basis_ik", "demo.launch.py", "view:=true"],
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
    page.get_by_role("tab", name="plot").click()
    page.locator(".uplot").wait_for()
    page.wait_for_timeout(1e3 * PLOTTED)
    page.get_by_text("verdict: REACHED").wait_for()
    page.screenshot(path=OUT)


if __name__ == "__main__":
    main()
