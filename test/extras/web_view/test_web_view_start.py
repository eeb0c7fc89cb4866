# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How web_view opens its page, and in which thread it shows what is new."""

import asyncio
import threading
import webbrowser
from types import SimpleNamespace

import pytest

from basis_ik.extras.web_view import web_view
from basis_ik.extras.web_view.web_view import WebView, open_page

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


@pytest.fixture
def loop():
    """The server's event loop, in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_all_that_shows_something_runs_in_the_servers_thread(loop, monkeypatch):
    """viser's tasks wait there; woken from another thread, they failed on a busy machine."""
    seen, stop = {}, threading.Event()

    class Watched(WebView):
        def __init__(self):
            self._server = SimpleNamespace(get_event_loop=lambda: loop, stop=lambda: None)
            self._page = SimpleNamespace(destroy=lambda: note("destroy"))

        def update(self):
            note("update")
            stop.set()

        def destroy_node(self):
            pass

    def note(name):
        seen[name] = asyncio.get_running_loop()

    spinner = SimpleNamespace(
        handle_messages=lambda: note("messages"),
        handle_others=lambda: note("others"),
        shutdown=lambda: None,
    )
    monkeypatch.setattr(web_view, "WebView", Watched)
    monkeypatch.setattr(web_view, "PeriodicSpinner", lambda *_: spinner)
    assert web_view.main(stop) == 0
    assert seen == dict.fromkeys(("messages", "others", "update", "destroy"), loop)


def test_an_exception_in_the_servers_thread_ends_the_program(loop):
    view = object.__new__(WebView)
    view._server = SimpleNamespace(get_event_loop=lambda: loop)
    with pytest.raises(ZeroDivisionError):
        view.run(lambda: 1 // 0)
