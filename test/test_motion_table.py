# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of motions beside MoveIt Servo's: from the results, and fair to Servo."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmark"))

import motion_table  # noqa: E402
from motion_table import Row, is_better, shown  # noqa: E402

LESS = Row("", "", "", 1e3, (98, 27))


def test_the_page_has_the_tables_of_the_results():
    figures = json.loads(motion_table.RESULTS.read_text())
    text = motion_table.PAGE.read_text()
    assert text == motion_table.page(text, figures), "run python benchmark/motion_table.py"


@pytest.mark.parametrize(
    ("row", "ours", "better"),
    [
        (LESS, 0.020, False),
        (LESS, 0.030, True),
        (LESS, 0.0273, False),  # no better than it is shown
        (LESS._replace(more=True), 0.030, True),
        (LESS._replace(more=True), 0.100, False),
        (LESS._replace(servo=("9–12", "emergency stop")), 0.010, True),
        (LESS._replace(servo=("emergency stop", None)), 0.010, False),
        (LESS, ["SINGULAR"], False),
    ],
)
def test_where_servo_is_better_the_row_is_marked(row, ours, better):
    assert is_better(row, ours) is better


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [
        (0.1234, 1e3, "123"),
        (0.01234, 1e3, "12"),
        (0.0064, 1e3, "6.4"),
        (2e-6, 1e3, "0.00"),
        (0, 1.0, "0"),
        (27, 1.0, "27"),
        ([], 1.0, "nothing"),
        (["LIMIT elbow_joint", "SINGULAR"], 1.0, "LIMIT elbow_joint, SINGULAR"),
        ("9–12", 1.0, "9–12"),
        (None, 1.0, ""),
    ],
)
def test_figures_have_significant_digits_only(value, scale, text):
    assert shown(value, scale) == text
