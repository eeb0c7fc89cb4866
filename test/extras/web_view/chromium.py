# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A Chromium without a screen, for tests and pictures of web_view's page."""

from contextlib import contextmanager
from shutil import which

from playwright.sync_api import sync_playwright

PROGRAMS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "/snap/bin/chromium",
    "/opt/google/chrome/chrome",
)  # fmt: skip
MISSING = "no Chromium is found. Get it:  sudo apt-get install chromium"
# Without a graphics card; root may not use Chromium's sandbox.
FLAGS = [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-gpu-watchdog", "--disable-dev-shm-usage",
]  # fmt: skip
# three.js marks its canvas so; the page has others, for plots.
SCENE = "canvas[data-engine]"


def find_chromium(own):
    """Return the program.

    Args:
        own: Where `playwright install chromium` puts one.

    Raises:
        LookupError: There is none.
    """
    program = next(filter(None, map(which, (*PROGRAMS, own))), None)
    if program is None:
        raise LookupError(MISSING)
    return program


@contextmanager
def open_chromium(folder):
    """Start a browser that draws in what others leave of the processor, above all control loops.

    Args:
        folder: For what it writes, also to its user's home.
    """
    with sync_playwright() as playwright:
        program = find_chromium(playwright.chromium.executable_path)
        nice = folder / "nice"
        nice.write_text(f'#!/bin/sh\nHOME={folder} exec nice -n 19 {program} "$@"\n')
        nice.chmod(0o755)
        browser = playwright.chromium.launch(executable_path=nice, args=FLAGS)
        yield browser
        browser.close()
