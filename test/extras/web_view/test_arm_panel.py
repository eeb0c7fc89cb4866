# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page's status of an arm."""

import math
from types import SimpleNamespace

import pytest
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from basis_ik.extras.web_view.looks import (
    DEGREES,
    Gauge,
    gauges_html,
    status_html,
    statuses_html,
)
from basis_ik.extras.web_view.page import Page, short_names

VALUES = {
    "state": "STOPPED",
    "since": "~/stop was called",
    "verdict": "TOO_FAR",
    "position_error": "0.0123",
    "orientation_error": "0.1",
    "input": "pose",
    "gripper": "STALLED",
    "gripper_text": "something holds it",
    "last_refusal.twist": "NON_FINITE: x",
    "last_refusal_age.twist": "2.04",
}


def test_state_verdict_and_reasons_are_shown():
    message = DiagnosticStatus(level=DiagnosticStatus.WARN, message="stopped by the operator")
    text = status_html(message, VALUES, "stop: done")
    for words in (
        "<b style='color: #f58231'>stopped by the operator</b>",
        "since: ~/stop was called",
        "off by 12.3 mm, 5.73°",
        "input: pose",
        "gripper: something holds it",
        "last refusal of twist, 2 s ago: NON_FINITE: x",
        "stop: done",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("level", "color"),
    [(DiagnosticStatus.OK, "#3cb44b"), (DiagnosticStatus.ERROR, "#e6194b"), (b"\x09", "#e6194b")],
)
def test_the_level_is_a_color(level, color):
    assert f"<b style='color: {color}'>x</b>" in status_html(
        DiagnosticStatus(level=level, message="x"), {"state": "COMPILING"}, ""
    )


@pytest.mark.parametrize(
    ("text", "color"),
    [("no target", "grey"), ("left: jogging", "white"), ("reached", "#3cb44b"), ("x", "#3cb44b")],
)
def test_what_needs_no_warning_has_the_color_that_it_has_in_rviz(text, color):
    ok = DiagnosticStatus(level=DiagnosticStatus.OK, message=text)
    assert f"<b style='color: {color}'>{text}</b>" in status_html(ok, {}, "")
    warn = DiagnosticStatus(level=DiagnosticStatus.WARN, message=text)
    assert f"<b style='color: #f58231'>{text}</b>" in status_html(warn, {}, "")


def test_nothing_in_it_is_read_as_html():
    """Anybody in the ROS domain may publish a status."""
    evil = "<img src=x onerror=alert(1)>"
    values = dict.fromkeys((*VALUES, "state"), evil)
    text = status_html(DiagnosticStatus(message=evil), values, evil)
    assert "<img" not in text
    assert text.count("&lt;img") >= 5


def test_a_missing_status_is_shown():
    assert "no status of this arm" in status_html(None, {}, "")


def test_a_gauge_shows_range_limit_and_what_is_told():
    def shown(measured, commanded=math.nan, low=-1.0, high=1.0):
        return gauges_html([Gauge("<a>", low, high, measured, commanded, *DEGREES)])

    middle = shown(0.0, 0.5)
    assert "&lt;a&gt;" in middle
    assert "> 0.0 °" in shown(-1e-9)
    assert "limit" not in middle
    assert middle.index("left: calc(75.0%") < middle.index("left: calc(50.0%")
    assert "lower limit -57.3 °" in shown(-1.0)
    assert "upper limit 57.3 °" in shown(0.9995)
    assert "calc(100.0%" in shown(3.0)
    assert "unknown" in shown(math.nan)
    assert "calc" not in shown(math.nan)
    turning = shown(2.0 * math.pi + 0.5 * math.pi, low=-math.inf, high=math.inf)
    assert "calc(75.0%" in turning
    assert "limit" not in turning


def test_statuses_have_their_colors_and_short_numbers_and_are_escaped():
    values = [KeyValue(key="turn.<a>", value="0.123456789 -1.000000 0.25 6.0e-01")]
    status = DiagnosticStatus(level=DiagnosticStatus.OK, name="node: <a>", values=values)
    lost = DiagnosticStatus(level=DiagnosticStatus.ERROR, name="node: b", message="<lost>")
    text = statuses_html([status, lost])
    assert "<b style='color: #3cb44b'>&lt;a&gt;: </b>" in text
    assert "turn.&lt;a&gt;: 0.1235 -1 0.25 6.0e-01<" in text
    assert "<b style='color: #e6194b'>b: &lt;lost&gt;</b>" in text


class Graph:
    """A node that sees topics, and a page's GUI."""

    def __init__(self):
        self.topics = {"/a/status": ["diagnostic_msgs/msg/DiagnosticStatus"]}
        self.gui, self.shown = self, []
        self.get_topic_names_and_types = self.topics.items

    def count_publishers(self, topic):
        return 1

    def create_subscription(self, kind, topic, take, _):
        self.take = take

    def destroy_subscription(self, _):
        self.shown.clear()

    def add_html(self, content):
        self.shown.append(SimpleNamespace(content=content, remove=lambda: None))
        return self.shown[-1]


@pytest.mark.parametrize("twists", ["TwistStamped", "Twist"])
def test_statuses_of_a_node_are_shown_until_it_turns_out_to_be_an_arms(monkeypatch, twists):
    graph = Graph()
    page = object.__new__(Page)
    page._node, page._server, page._parts = graph, graph, {}
    monkeypatch.setattr(Page, "_choose_fixed_frame", lambda _: None)
    monkeypatch.setattr(Page, "_new_panel", lambda _, topic: f"panel of {topic}")
    page._scan_graph()
    for message in ("lost", "met"):
        graph.take(DiagnosticStatus(name="node: foot", message=message))
    graph.take(DiagnosticStatus(name="node: calf", message="met"))
    (html,) = graph.shown
    assert html.content.count("foot: met") == html.content.count("calf: met") == 1
    assert "lost" not in html.content
    graph.topics["/a/twist"] = [f"geometry_msgs/msg/{twists}"]
    page._scan_graph()
    assert page._parts == {"/a/status": "panel of /a/status"}
    assert not graph.shown


@pytest.mark.parametrize(
    ("prefixes", "names"),
    [
        (["/basis_ik/left", "/basis_ik/right"], ["left", "right"]),
        (["/arm1/basis_ik", "/arm2/basis_ik"], ["arm1", "arm2"]),
        (["/a/b/c", "/d/b/c", "/d/e/c"], ["a/b", "d/b", "d/e"]),
        (["/basis_ik", "/basis_ik/left"], ["basis_ik", "basis_ik/left"]),
    ],
)
def test_arms_are_named_by_what_differs(prefixes, names):
    assert short_names(prefixes) == names
