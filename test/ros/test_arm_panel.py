# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""The page's status of an arm."""

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from basis_ik.ros.web_view.arm_panel import status_html

VALUES = {
    "state": "STOPPED",
    "since": "~/stop was called",
    "verdict": "TOO_FAR",
    "position_error": "0.0123",
    "orientation_error": "0.1",
    "input": "pose",
    "last_refusal.twist": "NON_FINITE: x",
    "last_refusal_age.twist": "2.04",
}


def test_state_verdict_and_reasons_are_shown():
    message = DiagnosticStatus(level=DiagnosticStatus.WARN, message="stopped by the operator")
    text = status_html(message, VALUES, "stop: done")
    for words in (
        "<b style='color: #f58231'>stopped by the operator</b>",
        "STOPPED: stopped; call ~/enable to continue",
        "since: ~/stop was called",
        "verdict: TOO_FAR, off by 12.30 mm, 5.73°",
        "input: pose",
        "last refusal of twist, 2.0 s ago: NON_FINITE: x",
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


def test_nothing_in_it_is_read_as_html():
    """Anybody in the ROS domain may publish a status."""
    evil = "<img src=x onerror=alert(1)>"
    values = dict.fromkeys((*VALUES, "state"), evil)
    text = status_html(DiagnosticStatus(message=evil), values, evil)
    assert "<img" not in text
    assert text.count("&lt;img") >= 6


def test_a_missing_status_is_shown():
    assert "no status of this arm" in status_html(None, {}, "")
