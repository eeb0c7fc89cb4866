# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every example runs: those of the README and of the pages, and the programs in `examples/`."""

import ast
import re
import runpy
from pathlib import Path

import pytest

import basis_ik

ROOT = Path(__file__).parents[1]
PAGES = sorted(page for way in ("*.md", "[!.]*/*.md", "docs/*/*.md") for page in ROOT.glob(way))
PROGRAMS = sorted(ROOT.glob("examples/*.py"))
WITH_ROS = {"camera_target", "send_pose"}  # test/bench/test_documented_commands.py runs them
TOLD = {
    "control_loop": "a circle at 0.16 m/s in 400 steps",
    "fabrik_chain": "free: REACHED",
    "look_at_point": " 0.8 m: pan",
    "many_targets": "1000 of 1000 reached, all of them: True",
    "several_tips": "both feet stand\nankle_l: reached\nankle_r: too far by",
    "solve_pose": "out of reach: too far by 466 mm",
    "straight_path": "followed: True",
    "transform_node": "the handle in the room: [0.4, -0.8, 1.0]",
}
SAID = {"README.md": "Verdict.REACHED", "targets.md": "thigh", "coming_from.md": "too far by 4"}


def examples(page):
    """Return the examples of a page without ROS; the others' tests are in `test/ros/`."""
    found = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    return [each for each in found if not ("import rclpy" in each or "basis_ik.client" in each)]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page)], ids=lambda page: page.name
)
def test_the_examples_of_a_page_run_one_after_another(page, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    room: dict[str, object] = {}
    for example in examples(page):
        exec(example, room)
    assert SAID.get(page.name, "") in capsys.readouterr().out


def test_our_calls_in_the_comparison_with_other_libraries_run(monkeypatch):
    """The last column of the table with pink, mink, pytracik and the Robotics Toolbox."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "coming_from.md").read_text()
    (table,) = re.findall(r"^\| \| pink \| mink .*?\n\n", text, re.MULTILINE | re.DOTALL)
    ours = [line.split("|")[-2] for line in table.strip().splitlines()]
    calls = [call for cell in ours for call in re.findall(r"`([^`]+\))`", cell)]
    room = {name: getattr(basis_ik, name) for name in basis_ik.__all__}
    room |= {"path": "urdf/panda.urdf", "dt": 0.01, "point": [1.0, 0.2, 0.3]}
    load, *others = [call for call in calls if "[...]" not in call]
    exec(load, room)
    arm = room["arm"]
    room |= dict.fromkeys(("q", "seed", "posture"), arm.neutral)
    room |= {"T": arm.forward(arm.clip(arm.neutral + 0.3)), "lower": arm.lower, "upper": arm.upper}
    assert {"arm.solve(T, seed)", "track(arm, T, q, arm.velocity * dt)"} < set(others)
    for call in others:
        exec(call.removeprefix("constraint="), room)


def test_pages_with_examples_exist():
    assert {page.name for page in PAGES if examples(page)} >= {*SAID, "fabrik.md"}


def test_only_one_page_has_examples_with_ros():
    with_ros = {page.name for page in PAGES if "```python\nimport rclpy" in page.read_text()}
    assert with_ros == {"coming_from.md"}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_runs_and_prints_what_it_is_about(path, capsys):
    text = path.read_text()
    assert len(text.splitlines()) <= 60
    assert len(re.findall(r"\.(?=\s|$)", ast.get_docstring(ast.parse(text)))) == 2, "two sentences"
    assert ("import rclpy" in text) == (path.stem in WITH_ROS)
    if path.stem not in WITH_ROS:
        runpy.run_path(path, run_name="__main__")
        assert TOLD[path.stem] in capsys.readouterr().out


def test_the_readme_leads_to_the_programs():
    """By a page that has the first sentence of each."""
    assert {path.stem for path in PROGRAMS} == TOLD.keys() | WITH_ROS
    assert "](examples/README.md)" in (ROOT / "README.md").read_text()
    rows = []
    for path in PROGRAMS:
        text = " ".join(ast.get_docstring(ast.parse(path.read_text())).split())
        rows.append(f"| [{path.name}]({path.name}) | {text.split('. ')[0]} |")
    assert (ROOT / "examples" / "README.md").read_text().splitlines()[-len(rows) :] == rows


def test_every_public_function_is_in_the_table():
    table = (ROOT / "docs" / "targets.md").read_text().split("## A part of a pose")[0]
    functions = {name for name in basis_ik.__all__ if name.islower()} - {"line", "arc"}
    assert {name for name in functions if f"`{name}" not in table} == set()
