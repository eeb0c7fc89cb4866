# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The documentation matches the code, and its link targets exist."""

import ast
import json
import re
import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

import basis_ik
from basis_ik.arm.admission import Refusal
from basis_ik.arm.chain_state import State
from basis_ik.verdict import Verdict
from basis_ik.view.words import table

ROOT = Path(__file__).parents[1]
PAGES = sorted(page for way in ("*.md", "[!.]*/*.md", "docs/*/*.md") for page in ROOT.glob(way))
# What the node never reports: it solves without a bound on the move or a scene, and one task at a
# time.
LIBRARY_ONLY = {"MOVE_BOUND", "STEP_BOUND", "OTHER_TASKS", "COLLISION"}
# What needs no help.
FINE = {"REACHED", "MOVING", "ARRIVED", "BRAKING"}
WORDS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_link_targets_exist(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_words_of_an_arm_are_printed_by_the_code():
    assert table() in (ROOT / "docs" / "states.md").read_text()


def test_every_figure_is_used():
    shown = {
        name
        for page in PAGES
        for name in re.findall(r"\((?:docs/)?figures/(\w+\.svg)\)", page.read_text())
    }
    assert shown == {path.name for path in (ROOT / "docs" / "figures").glob("*.svg")}


def gallery():
    """Return the gallery's part on the page in the browser, and that on RViz."""
    page, rviz = (ROOT / "docs" / "gallery.md").read_text().split("\n## In RViz\n")
    return page, rviz


def test_the_gallery_has_each_picture_of_rviz_with_its_command():
    _, *parts = gallery()[1].split("\n### ")
    shown = set()
    for part in parts:
        (file,) = re.findall(
            r"^`ros2 launch basis_ik (\S+\.launch\.py) launch_rviz:=true`$", part, re.MULTILINE
        )
        assert '"launch_rviz"' in (ROOT / "launch" / file).read_text()
        (picture,) = re.findall(r"\(figures/(rviz_\w+\.png)\)", part)
        shown.add(picture)
    assert len(shown) == len(parts)
    assert shown == {path.name for path in (ROOT / "docs" / "figures").glob("rviz_*.png")}


def test_the_gallery_has_each_picture_of_the_page_with_its_command():
    text, _ = gallery()
    drawing = (ROOT / "docs" / "figures" / "draw_web_view.py").read_text()
    examples = dict(re.findall(r'^    "(\w+)": "(\S+\.launch\.py [^"]*)",$', drawing, re.MULTILINE))
    pictures = [f"page_{name}.png" if name != "demo" else "web_view.png" for name in examples]
    assert re.findall(r"^`ros2 launch basis_ik (.*)`$", text, re.MULTILINE) == [*examples.values()]
    assert re.findall(r"\(figures/(\w+\.png)\)", text) == pictures
    there = {path.name for path in (ROOT / "docs" / "figures").glob("page_*.png")}
    assert there == {*pictures} - {"web_view.png"}


def strings(entry):
    """Yield all texts in a layout, with their keys."""
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from strings(value)
        elif isinstance(value, str):
            yield key, value
        if key.startswith("/"):
            yield "topic", key


def test_each_topic_of_foxglove_s_layout_is_in_the_table_of_interfaces():
    layout = json.loads((ROOT / "config" / "foxglove.json").read_text())
    table = (
        (ROOT / "docs" / "interfaces.md").read_text().partition("With the parameter `chains:")[0]
    )
    rows = re.findall(r"^\| (pub|sub|srv) (.*?) \|", table, re.MULTILINE)
    there = {
        kind: re.findall(r"`([^`]+)`", " ".join(row for each, row in rows if each == kind))
        for kind in ("pub", "sub", "srv")
    }
    kinds = {"serviceName": "srv", "poseTopic": "sub", "pointTopic": "sub"}
    names = [(key, value) for key, value in strings(layout) if value.startswith("/")]
    assert len(names) == 8
    for key, name in names:
        kind = "sub" if name == "/robot_description" else kinds.get(key, "pub")
        short = name.replace("/basis_ik/", "~/")
        assert {short, short.removeprefix("/")} & {*there[kind]}, f"{kind} {name}"
    panels = set(layout["configById"])
    assert panels == {value for key, value in strings(layout["layout"]) if key != "direction"}


def test_the_readme_counts_the_demos_targets_and_frames():
    targets = yaml.safe_load((ROOT / "config" / "demo_targets.yaml").read_text())["targets"]
    frames = WORDS[len({each["frame"] for each in targets})]
    text = (ROOT / "README.md").read_text()
    assert re.findall(r"in (\w+) tf frames", text) == [frames, frames]
    assert re.findall(r"walks through (\w+) targets", text) == [WORDS[len(targets)]]


def test_the_readme_has_the_distributions_of_the_workflow_and_the_level_that_is_declared():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    *some, last = (
        each.capitalize() for each in workflow["jobs"]["ros"]["strategy"]["matrix"]["distro"]
    )
    (level,) = re.findall(r"\*\*Claimed: (level \d)\*\*", prose("QUALITY_DECLARATION.md"))
    text = prose("README.md")
    assert f"| runs on | ROS 2 {', '.join(some)} and {last};" in text
    assert f"| maturity | {basis_ik.__version__}, before the first release, [{level}]" in text


def test_every_status_text_has_a_remedy():
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    for names in (Verdict, Refusal, State):
        for name in {each.name for each in names} - LIBRARY_ONLY - FINE:
            assert f"`{name}`" in text, f"{name} is not in the troubleshooting page"


def test_files_named_in_the_architecture_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    names = set(
        re.findall(
            r"`((?:numerics|transforms|robot|collision|search|pose|look|tasks|path|fabrik|bones|motion|ros|test)/[\w/]+\.py)`",
            text,
        )
    )
    assert len(names) > 20
    found = {
        name for name in names if (ROOT / "basis_ik" / name).exists() or (ROOT / name).exists()
    }
    assert names - found == set()


def test_the_commands_of_the_shell_are_listed():
    """The sub-commands of the `ros2` that `make shell` has without an installation of ROS 2."""
    tree = ast.parse((ROOT / "underlay/basis_ik_underlay/ros2cli/__init__.py").read_text())
    (there,) = (
        [key.value for key in node.value.keys]
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
    )
    text = (ROOT / "README.md").read_text()
    (listed,) = re.findall(r"its `ros2` has the commands ([\w,\s]*?), and no others", text)
    assert set(re.findall(r"\w+", listed)) - {"and"} == set(there)


def prose(page):
    return " ".join((ROOT / page).read_text().split())


def results(name):
    return json.loads((ROOT / "benchmark" / "results" / f"{name}.json").read_text())


def line_of_figures():
    """Return how fast `solve` is, and how slow others are, as the benchmark has measured."""
    field = results("solve")
    arms, others = field["compare"], dict(field["summary"])
    ours, _ = others.pop("basis_ik"), others.pop("basis_ik fabrik")
    assert all(each["basis_ik"]["success_percent"] == 100.0 for each in arms.values())
    (targets,) = {each["basis_ik"]["solved"] for each in arms.values()}
    ratios = {name.split()[0]: each["geometric_mean_ratio"] for name, each in others.items()}
    loop = ratios.pop("pinocchio")
    best, *more = sorted(ratios, key=ratios.get)
    return (
        f"| a solve takes {ours['geometric_mean_us']:.1f} µs, the geometric mean over "
        f"[{len(arms)} arms](docs/algorithms.md), and reaches all of the {targets} targets for "
        f"each; on the arms that they support {best} takes {ratios[best]:.1f} times as long, "
        + "".join(f"{name} {ratios[name]:.0f}, " for name in more)
        + f"a loop on pinocchio {loop:.0f} |"
    )


def counted():
    """Return phrases with a count: the page, and the words as the counted things make them."""
    policy = ET.parse(ROOT / "config" / "security" / "policy.xml")
    enclaves = WORDS[len(policy.findall("enclaves/enclave"))]
    soak = results("soak")
    deeds, ages, first = soak["deeds"], soak["command_age_ms"], soak["first_command_after_ms"]
    five = next(row["memory_mb"] for row in soak["rows"] if row["s"] >= 300.0)
    (fuzzed,) = re.findall(r"\| together \| ([\d,]+) \|", prose("docs/fuzz.md"))
    replayed = ROOT / "test" / "simulation" / "test_jtc_recordings.py"
    (missed,) = re.findall(r"^MISSES = (\{.*?^\})", replayed.read_text(), re.MULTILINE | re.DOTALL)
    off = len(ast.literal_eval(missed))
    streams = len(json.loads((replayed.parent / "data" / "jtc_recordings.json").read_text()))
    return [
        ("docs/simulated_arm.md", f"| {streams} streams of a sine"),
        ("docs/simulated_arm.md", f"in {streams - off}; the test lists the {off} others"),
        ("README.md", line_of_figures()),
        ("README.md", {"1,000,000": "a million bad inputs"}.get(fuzzed, fuzzed)),
        ("SECURITY.md", f"It has {enclaves} enclaves"),
        ("SECURITY.md", f"from each of the {enclaves} enclaves"),
        ("docs/robots.md", f"has {WORDS[len([*(ROOT / 'urdf').iterdir()])]} descriptions"),
        (
            "docs/interfaces.md",
            f"{sum(deeds.values())} actions, {deeds['driver']} of them restarts of the driver. "
            f"{soak['commands']:,} commands",
        ),
        ("docs/interfaces.md", f"{soak['missed_periods']} of {soak['periods']:,}"),
        ("docs/interfaces.md", f"({first['probes']} times)"),
        ("docs/interfaces.md", f"median {first['median']:.1f} ms, at most {first['max']:.1f} ms"),
        ("docs/interfaces.md", f"Processor: {100.0 * soak['processor']:.0f} % of a core"),
        (
            "docs/interfaces.md",
            f"{soak['memory_after_first_minute_mb']:.1f} MB after a minute, {five:.1f} MB after "
            f"five, {soak['memory_at_end_mb']:.1f} MB at the end",
        ),
        (
            "docs/interfaces.md",
            "median {median:.1f} ms and 99th percentile {p99:.0f} ms in the first minute, ".format(
                **ages["first_minute"]
            )
            + "{median:.1f} and {p99:.0f} ms in the last".format(**ages["last_minute"]),
        ),
    ]


@pytest.mark.parametrize(("page", "words"), counted(), ids=range(len(counted())))
def test_a_count_is_that_of_the_counted_things(page, words):
    assert words in prose(page)


def test_no_other_counts_are_typed():
    """Prose counts nothing of this package that no test counts."""
    held = {words for _, words in counted()}
    things = "actions|faults|files|guards|kernels|pages|parameters|programs|robots|rows|tests"
    for page in PAGES:
        text = prose(page.relative_to(ROOT))
        for found in re.findall(rf"\b\d[\d,]*(?: of [\d,]+)? (?:{things})\b", text):
            assert any(found in words for words in held), f"{page.name} has {found}"


def test_the_table_of_first_starts_is_that_of_the_results():
    uses = {
        "`solve`, reached": "solve, reached",
        "`solve`, out of reach": "solve, out of reach",
        "FABRIK on bones, limits in the way of the target": "FABRIK, limits in the way",
        "all that `ik_node` may call": "the node, all of it",
    }
    versions = {each["versions"]["numba"]: each["uses"] for each in results("cold")["results"]}
    newest, oldest = versions["0.68.1"], versions["0.58.1"]
    text = (ROOT / "docs" / "interfaces.md").read_text()
    _, rest = text.split("| kernels | cold, numba 0.68.1 | cold, numba 0.58.1 | warm |\n", 1)
    rows = rest.split("\n\n", 1)[0].splitlines()[1:]
    wanted = []
    for name, use in uses.items():
        cold = [numba[use]["cold"] for numba in (newest, oldest)]
        seconds = [*(each["processor_s"] for each in cold), newest[use]["warm"]["processor_s"]]
        figures = " | ".join(f"{each:.1f}" for each in seconds)
        wanted.append(f"| {name} | {cold[0]['kernels']} | {figures} |")
    assert rows == wanted


def test_the_table_of_collisions_is_that_of_the_results():
    arms, shown = results("collisions"), (ROOT / "docs" / "collisions.md").read_text()

    def figures(name):
        return " | ".join(f"{each['us'][name]:.1f}" for each in arms.values())

    solves = " | ".join(
        f"{each['solve']['plain']:.1f}; {each['solve']['scene']:.1f}" for each in arms.values()
    )
    rows = [
        f"| | UR5e, {arms['ur5e']['pairs']} pairs | Panda, {arms['panda']['pairs']} pairs |",
        f"| distances of all covers, with gradients | {figures('all pairs')} |",
        f"| `scene.distance`: the nearest pair, by the shapes | {figures('distance')} |",
        f"| pinocchio's `computeDistances`, by coal | {figures('pinocchio distances')} |",
        f"| verdict by the shapes, at random positions | {figures('verdict')} |",
        f"| pinocchio's `computeCollisions`, by coal | {figures('pinocchio collisions')} |",
        f"| verdict among 20 objects | {figures('verdict, 20 objects')} |",
        "| covers within 5 cm, 20 objects, with gradients | "
        f"{figures('within 5 cm, 20 objects')} |",
        f"| `solve`; with a scene | {solves} |",
    ]
    assert [row for row in rows if row not in shown] == []
    free = [each["free"] for each in arms.values()]
    assert all(each["free by starts"] == each["free by solve"] for each in free)
    (asked,) = {each["colliding"] for each in free}
    one, other = (each["free by solve"] for each in free)
    words = " ".join(shown.split())
    assert f"Of {asked} targets among objects for each arm" in words
    first, second = (each["solve"]["scene, mean"] for each in arms.values())
    assert f"the means over all solves with a scene are {first:.0f} and {second:.0f} µs" in words
    assert f"found a free solution for all {one} and {other} for which" in words


# The site -----------------------------------------------------------------------------------------


@pytest.fixture
def settings(monkeypatch):
    """Return what docs/conf.py sets, for `make site` or with the names that rosdoc2 has set."""

    def read(**names):
        monkeypatch.setattr(sys, "path", [*sys.path])
        return runpy.run_path(str(ROOT / "docs" / "conf.py"), names)

    return read


def test_every_page_is_once_in_the_site(settings):
    index = (ROOT / "docs" / "index.rst").read_text()
    listed = re.findall(r"^   (?:.*<)?(/?[\w/]+)>?$", index, re.MULTILINE)
    ours = settings()
    rst = [*ROOT.glob("*.rst"), *ROOT.glob("docs/*.rst")]
    names = {str(page.relative_to(ROOT)) for page in (*PAGES, *rst)}
    included = (page for way in ours["include_patterns"] for page in ROOT.glob(way))
    assert names <= {str(page.relative_to(ROOT)) for page in included}
    wanted = {name.rsplit(".", 1)[0] for name in names} - {ours["root_doc"]}
    found = [name[1:] if name[0] == "/" else f"docs/{name}" for name in listed]
    assert sorted(found) == sorted(wanted)


def test_the_site_has_every_public_name():
    text = (ROOT / "docs" / "api.rst").read_text()
    listed = re.findall(r"^\.\. auto\w+:: basis_ik\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == basis_ik.__all__


def test_rosdoc2_keeps_its_own_settings(settings):
    theirs = {"project", "root_doc", "include_patterns", "html_theme", "html_extra_path"}
    assert theirs <= settings().keys()
    assert not theirs & settings(rosdoc2_settings={}).keys()
    assert ET.parse(ROOT / "package.xml").findtext("export/rosdoc2") == "rosdoc2.yaml"
    _, rosdoc2 = yaml.safe_load_all((ROOT / "rosdoc2.yaml").read_text())
    assert rosdoc2["builders"] == [{"sphinx": {"user_doc_dir": "docs"}}]


def test_what_builds_the_site_is_pinned(settings):
    lines = (ROOT / "docs" / "requirements.txt").read_text().splitlines()[1:]
    pin = r'([\w-]+)==[\w.]+(; python_version (?:<|>=) "3\.11")?'
    names = {re.fullmatch(pin, line)[1] for line in lines}
    ours = settings()
    wanted = {each.replace("_", "-").replace(".", "-") for each in ours["extensions"]}
    wanted = {each for each in wanted if not each.startswith("sphinx-ext-")}
    assert {"sphinx", ours["html_theme"], *wanted} <= names
    newest = (ROOT / "underlay" / "requirements" / "newest.txt").read_text().splitlines()
    assert {line for line in lines if line.split("=")[0] in ("numba", "numpy", "transforms3d")} == {
        line for line in newest if line.split("=")[0] in ("numba", "numpy", "transforms3d")
    }
