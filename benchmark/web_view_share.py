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

"""What part of a processor web_view needs for two arms, with one browser.

PYTHONPATH=test/ros:$PYTHONPATH python benchmark/web_view_share.py      (in `make shell`)
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
from chromium import SCENE, open_chromium

COUNTED = 8.0  # s
PATIENCE = 120.0


def main() -> None:
    """Print a row for each case."""
    launch = subprocess.Popen(
        ["ros2", "launch", "basis_ik", "two_arms.launch.py", "view:=true"],
        env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": "", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        with tempfile.TemporaryDirectory() as folder, open_chromium(Path(folder)) as browser:
            page = browser.new_page(viewport={"width": 640, "height": 480})
            page.set_default_timeout(1e3 * PATIENCE)
            page.goto(wait_for(launch, r"web view: (\S+)"))
            page.locator(SCENE).wait_for()
            page.get_by_text("bring it back to the tip").first.wait_for()
            view = process_of(launch.pid)
            print(f"in motion   {share(view):5.1%}", flush=True)
            wait_for(launch, r"(The page in the browser stays)")
            print(f"at rest     {share(view):5.1%}", flush=True)
            page.get_by_role("tab", name="plot").first.click()
            page.locator(".uplot").wait_for()
            print(f"with a plot {share(view):5.1%}", flush=True)
            page.close()
            wait_for(launch, r"(a browser is gone)")
            time.sleep(12.0)  # until it has given up its subscriptions
            print(f"no browser  {share(view):5.1%}", flush=True)
    finally:
        launch.send_signal(signal.SIGINT)
        launch.communicate(timeout=PATIENCE)


def wait_for(launch, pattern) -> str:
    """Return what a launch says."""
    return next(filter(None, (re.search(pattern, line) for line in launch.stdout)))[1]


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
