# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How web_view opens its page."""

import webbrowser

import pytest

from basis_ik.extras.web_view.web_view import open_page

URL = "http://127.0.0.1:8080/"


@pytest.fixture
def opened(monkeypatch):
    urls = []
    monkeypatch.setattr(webbrowser, "open", lambda url: not urls.append(url))
    return urls


@pytest.mark.parametrize("display", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_the_page_opens_where_there_is_a_display(opened, display):
    assert open_page(URL, {display: ":0"}) is None
    assert opened == [URL]


@pytest.mark.parametrize("environment", [{}, {"DISPLAY": "", "WAYLAND_DISPLAY": ""}])
def test_without_a_display_the_user_is_told_to_open_it(opened, environment):
    assert open_page(URL, environment).startswith("there is no display here: open the address")
    assert opened == []


def test_without_a_browser_the_user_is_told_to_open_it(monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    complaint = open_page(URL, {"DISPLAY": ":0"})
    assert complaint.startswith("no browser is found here: open the address")
