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

"""How web_view opens its page."""

import webbrowser

import pytest

from basis_ik.ros.web_view.web_view import open_page

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
