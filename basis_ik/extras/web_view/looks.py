# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The looks of the page: its style, and what it shows as HTML."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticStatus

from basis_ik.verdict import shown_angle, shown_length
from basis_ik.view.arm_scene import SHOWN_AT_LIMIT
from basis_ik.view.words import PHRASES

LEVEL_COLORS = {DiagnosticStatus.OK: "#3cb44b", DiagnosticStatus.WARN: "#f58231"}
ALARM_COLOR = "#e6194b"
_DIGITS = re.compile(r"\d+\.\d{4,}(e-\d+)?")  # of a number with more than people read
# Of what needs no warning, as in RViz.
PHRASE_COLORS = {each.text: each.color for each in PHRASES if each.color in ("grey", "white")}

# viser's parts know no rows, and scroll all that they contain. A marker in a container, which shows
# nothing itself, lets a rule find the container. Where a rule finds nothing, viser's looks stay.
_STOPS = "div:has(> div > .ik-stops)"
_ACTIONS = "div:has(> div > .ik-actions)"
_PAD = "div:has(> div > .ik-pad)"
_BAR = ".mantine-Paper-root:has(> div > div > div > div > .ik-stops)"
_SHEET = ".mantine-Paper-root:has(.mantine-ScrollArea-root .ik-page)"
STYLE = f"""<style>
{_STOPS}, {_ACTIONS}, {_PAD} {{ display: grid; padding: 0.3em 0.3em 0 0.3em !important }}
div:has(> .ik-stops), div:has(> .ik-actions), div:has(> .ik-pad), div:has(> .ik-browser) {{
  display: none }}
{_STOPS} > div, {_ACTIONS} > div, {_PAD} > div {{ margin: 0 0.2em !important; min-width: 0 }}
{_STOPS} button, {_ACTIONS} button, {_PAD} button {{ padding: 0 0.2em; touch-action: none }}
/* The first stop keeps its place when arms come; where it was, there is always a stop. */
{_STOPS} {{ grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr) }}
{_STOPS} > div:nth-child(2) {{ grid-column: span 2 }}
div:has(.ik-stops) {{ overflow: visible }}
.mantine-ScrollArea-content div:has(.ik-stops) {{ overflow: visible !important }}
{_BAR} {{ position: sticky; top: 0; z-index: 9; margin: 0; border: 0; padding: 0;
  background: var(--mantine-color-body) }}
{_BAR} > .mantine-Paper-root {{ display: none }}
{_ACTIONS} {{ grid-template-columns: 1fr 1fr }}
{_ACTIONS} > div:not(:has(> button)), {_PAD} > div:not(:has(> button)) {{
  grid-column: 1 / -1; margin: 0 !important }}
{_PAD} {{ grid-template-columns: repeat(4, minmax(0, 1fr)) }}
{_PAD} button {{ height: 2.6em !important; user-select: none; -webkit-touch-callout: none }}
/* On a phone: the scene above, the panel as a sheet of the other half below, which stays. */
@media (max-width: 36em) {{
  {_SHEET} {{ width: 100% !important; height: 50% !important; max-height: 50% !important }}
  {_SHEET} .mantine-ScrollArea-root, {_SHEET} .mantine-ScrollArea-viewport {{
    height: 100% !important; width: 100% !important }}
  {_SHEET} .mantine-ScrollArea-content > div {{ width: 100% !important }}
  {_SHEET} .mantine-ScrollArea-content > div > div:first-child {{ pointer-events: none }}
  {_SHEET} .mantine-ScrollArea-content > div > div:first-child button {{ pointer-events: auto }}
  div:has(+ .mantine-Paper-root > div > .mantine-ScrollArea-root) {{ height: 50% !important }}
}}
</style><div class='ik-page'></div>"""
STOPS, ACTIONS, PAD = (f"<div class='ik-{name}'></div>" for name in ("stops", "actions", "pad"))
# Fixed, with a scroll bar: a text that grew would move the buttons below it under the user's hand.
VERDICT_HEIGHT = "6.6em"


class Unit(NamedTuple):
    """A unit in which people read positions of joints."""

    scale: float
    """How many of it are a rad or m."""
    text: str
    """Its symbol."""


DEGREES, MILLIMETRES = Unit(math.degrees(1.0), "°"), Unit(1e3, "mm")


class Gauge(NamedTuple):
    """What the gauge of a joint shows; NaN where unknown."""

    name: str
    low: float
    """Its lower limit [rad or m]; may be infinite, as the upper one."""
    high: float
    measured: float
    commanded: float
    scale: float
    """Units in a rad or m."""
    text: str
    """The unit."""


def gauges_html(gauges: Sequence[Gauge]) -> str:
    """Return the gauges of joints: the range, where each is, and where it is told to be."""
    return (
        f"<div style='margin: 0 0.8em 0.4em; font-size: 0.8em'>{''.join(map(_gauge, gauges))}</div>"
    )


def _gauge(gauge: Gauge) -> str:
    turns = not (math.isfinite(gauge.low) and math.isfinite(gauge.high))
    low, high = (-math.pi, math.pi) if turns else (gauge.low, gauge.high)
    at = math.remainder(gauge.measured, 2.0 * math.pi) if turns else gauge.measured
    limit = ""
    if not turns and gauge.measured <= gauge.low + SHOWN_AT_LIMIT:
        limit = "lower limit"
    elif not turns and gauge.measured >= gauge.high - SHOWN_AT_LIMIT:
        limit = "upper limit"
    color = ALARM_COLOR if limit else "#4dabf7"
    told = math.remainder(gauge.commanded, 2.0 * math.pi) if turns else gauge.commanded

    def mark(value: float, style: str) -> str:
        if not math.isfinite(value):
            return ""
        place = 100.0 * min(max((value - low) / (high - low), 0.0), 1.0)
        return f"<i style='position: absolute; left: calc({place:.1f}% - 2px); {style}'></i>"

    shown = round(gauge.scale * gauge.measured, 1) + 0.0  # no -0.0
    value = f"{shown:.1f} {gauge.text}" if math.isfinite(at) else "unknown"
    return (
        "<div style='display: flex; justify-content: space-between; line-height: 1.25'>"
        f"<span style='overflow: hidden; text-overflow: ellipsis'>{html.escape(gauge.name)}</span>"
        f"<span style='color: {color}; white-space: nowrap'>{limit} {value}</span></div>"
        "<div style='position: relative; height: 6px; margin-bottom: 3px; border-radius: 3px; "
        "background: #444'>"
        + mark(told, "top: -1px; width: 2px; height: 8px; background: #ccc")
        + mark(at, f"top: -2px; width: 5px; height: 10px; background: {color}")
        + "</div>"
    )


def status_html(message: DiagnosticStatus | None, values: Mapping[str, str], response: str) -> str:
    """Return a status as HTML, with all its texts escaped.

    Args:
        message: The status; None before the first.
        values: Its values.
        response: The last response of a service; may be empty.
    """
    if message is None:
        return _bar(ALARM_COLOR, "no status of this arm", [response])
    lines = []
    if values.get("verdict") not in (None, "REFUSED"):
        away = number(values.get("position_error")), number(values.get("orientation_error"))
        lines.append(f"off by {shown_length(away[0])}, {shown_angle(away[1])}")
    lines += [f"{key}: {values[key]}" for key in ("since", "input") if values.get(key)]
    if values.get("gripper_text"):
        lines.append(f"gripper: {values['gripper_text']}")
    for key, value in values.items():
        if key.startswith("last_refusal."):
            name = key.removeprefix("last_refusal.")
            age = number(values.get(f"last_refusal_age.{name}"))
            lines.append(f"last refusal of {name}, {age:.0f} s ago: {value}")
    color = LEVEL_COLORS.get(message.level, ALARM_COLOR)
    if message.level == DiagnosticStatus.OK:  # of several arms, each says its name first
        color = PHRASE_COLORS.get(message.message.rpartition(": ")[2], color)
    return _bar(color, message.message, [*lines, response])


def statuses_html(statuses: Sequence[DiagnosticStatus]) -> str:
    """Return statuses as HTML, escaped: names and texts in their colors, and values."""
    body = ""
    for each in statuses:
        color, name = (
            LEVEL_COLORS.get(each.level, ALARM_COLOR),
            html.escape(each.name.partition(": ")[2]),
        )
        title = f"<b style='color: {color}'>{name}: {html.escape(each.message)}</b>"
        values = "<br>".join(
            html.escape(f"{value.key}: {_DIGITS.sub(_short, value.value)}")
            for value in each.values
            if value.value
        )
        body += f"<p>{title}<br><small>{values}</small></p>"
    return f"<div style='margin: 0 1em 0.5em; overflow-wrap: anywhere'>{body}</div>"


def _short(digits: re.Match[str]) -> str:
    return f"{float(digits[0]):.4g}"


def _bar(color: str, title: str, lines: Sequence[str]) -> str:
    body = "<br>".join(html.escape(line) for line in lines if line)
    return (
        f"<div style='margin: 0 0.5em 0.4em; padding-left: 0.6em; "
        f"border-left: 0.4em solid {color}; font-size: 0.85em; height: {VERDICT_HEIGHT}; "
        "overflow-y: auto; overflow-wrap: anywhere'>"
        f"<b style='color: {color}'>{html.escape(title)}</b><br>{body}</div>"
    )


def hand_html(page: str, prefix: str) -> str:
    """Return the pad that moves an arm, as HTML: a page inside the page.

    Args:
        page: Path of that page.
        prefix: Prefix of the arm's topics.
    """
    source = html.escape(f"{page}#{prefix}", quote=True)
    style = "width: calc(100% - 1em); height: 17em; margin: 0 0.5em; border: 0"
    return (
        f"<iframe src='{source}' title='hand' style='{style}'></iframe>"
        f"<a href='{html.escape(page, quote=True)}' target='_blank' "
        "style='margin: 0 0.5em; font-size: 0.8em'>alone, on a phone or with a headset</a>"
    )


def number(text: str | None) -> float:
    """Return the number in a value of a status; NaN if there is none."""
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
