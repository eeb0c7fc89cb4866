# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The command line: what it prints, its exit status, and that no fault shows a traceback."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from basis_ik import __version__
from basis_ik.__main__ import main
from basis_ik.robot.robot import RobotModel

ROOT = Path(__file__).parents[1]
UR5E = str(ROOT / "urdf" / "ur5e.urdf")
LEGS = str(ROOT / "urdf" / "legs.urdf")
HEAD = str(ROOT / "urdf" / "pan_tilt.urdf")
LOOK = ["--look-at", "1", "0.5", "0.2"]
FAR = "target must be within 1e+06 m of the root, got ["
POSE = ["--xyz", "0.4", "0.2", "0.3", "--rpy", "3.1", "0.1", "-0.2"]


@pytest.fixture
def run(capsys):
    """Run a command; return exit status, stdout and stderr."""

    def run(*words):
        try:
            status = main(words)
        except SystemExit as leaving:
            status = leaving.code
        return status, *capsys.readouterr()

    return run


def short(value):
    """Return the beginning of the message as a case's id: whole robots and paths are too long."""
    return value[:20] if isinstance(value, str) else ""


def one_line(error):
    """Return whether this is one line, not too long, that a terminal shows as it is."""
    return error.endswith("\n") and error[:-1].isprintable() and len(error) < 500


def strict(text):
    """Parse JSON as RFC 8259 has it: no Infinity, no NaN."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_inspect_prints_chain_limits_reach_and_inferences(run):
    status, out, err = run("inspect", "--urdf", UR5E)
    assert (status, err) == (0, "")
    assert "ur5e: base_link -> tool0" in out
    assert "reach at most 1.131 m" in out
    assert "elbow_joint            -3.1416 ..   3.1416 rad  at most 3.142 rad/s" in out
    assert "shoulder_pan_joint (revolute)" in out
    assert "root base_link: by its name among the links that do not move" in out


def test_inspect_as_json(run):
    status, out, _ = run(
        "inspect", "--urdf", LEGS, "--root", "calf_l", "--tip", "ankle_r", "--json"
    )
    reported = strict(out)
    assert status == 0
    assert (reported["robot"], reported["root"], reported["tip"]) == ("legs", "calf_l", "ankle_r")
    assert reported["joints"][0] == {
        "name": "calf_l_joint", "unit": "rad", "continuous": False,
        "lower": 0.0, "upper": 2.4, "velocity": 10.0,
    }  # fmt: skip
    assert len(reported["joints"]) == 8
    assert reported["path"][-1] == {"name": "ankle_r_joint", "kind": "fixed"}
    assert reported["inferences"] == []
    assert reported["reach"] > 0.8


@pytest.mark.parametrize(("scale", "asked"), [(1.0, False), (25.0, False), (1000.0, True)])
def test_a_pose_in_millimetres_gets_a_hint_of_units(run, scale, asked):
    xyz = [str(scale * each) for each in (0.4, 0.1, 0.1)]
    status, out, err = run("solve", "--urdf", UR5E, "--xyz", *xyz, "--position-only", "--json")
    assert strict(out)["success"] is (status == 0) is (scale == 1.0)
    hint = "--xyz is more than 10 times the reach of 1.13 m away: are the units metres?\n"
    assert (f"python -m basis_ik: note: {hint}" in err) is asked


def test_a_missing_limit_is_null_in_json_and_text_otherwise(run, tmp_path):
    file = tmp_path / "wheel.urdf"
    file.write_text(
        "<robot name='w'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
        "<parent link='a'/><child link='b'/></joint></robot>"
    )
    _, out, _ = run("inspect", "--urdf", str(file), "--json")
    (joint,) = strict(out)["joints"]
    assert (joint["lower"], joint["upper"], joint["velocity"]) == (None, None, 1.0)
    assert joint["continuous"] is True
    _, out, _ = run("inspect", "--urdf", str(file))
    assert "1 joint to solve for" in out
    assert "without limits  at most 1 rad/s" in out
    assert "  joint 'j' states no top speed: at most 1 rad/s is assumed" in out.splitlines()


def test_solutions_are_confirmed_by_forward_kinematics(run):
    status, out, err = run("solve", "--urdf", UR5E, "--tip", "tool0", *POSE, "--json")
    reported = strict(out)
    assert (status, err) == (0, "")
    assert (reported["success"], reported["verdict"], reported["reason"]) == (
        True,
        "REACHED",
        "reached",
    )
    chain = RobotModel.from_urdf(Path(UR5E).read_text()).chain("base_link", "tool0")
    assert tuple(reported["positions"]) == chain.joint_names
    pose = chain.forward(list(reported["positions"].values()))
    np.testing.assert_allclose(pose.translation, (0.4, 0.2, 0.3), atol=1e-6)
    np.testing.assert_allclose(pose.as_rpy(), (3.1, 0.1, -0.2), atol=1e-5)


def test_a_quaternion_is_an_orientation_as_in_ros(run):
    chain = RobotModel.from_urdf_file(UR5E).chain("base_link", "tool0")
    words = ["solve", "--urdf", UR5E, *POSE[:4], "--json", "--quaternion", "0.6", "0", "0", "0.8"]
    status, out, _ = run(*words)
    assert status == 0
    pose = chain.forward(list(strict(out)["positions"].values()))
    np.testing.assert_allclose(pose.as_rpy(), (2.0 * np.arctan2(0.6, 0.8), 0.0, 0.0), atol=1e-5)
    status, out, err = run(*words[:-1], "0.9")
    assert (status, out) == (1, "")
    assert "quaternion must have length 1" in err


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"basis_ik {__version__}\n", "")


def test_solve_for_people(run):
    status, out, _ = run("solve", "--urdf", UR5E, *POSE)
    assert status == 0
    assert "base_link -> tool0: reached" in out
    assert "wrist_3_joint" in out
    assert "assumed: tip tool0" in out


def test_solve_starts_from_the_seed(run):
    def answer(*seed):
        _, out, _ = run("solve", "--urdf", UR5E, *POSE, "--json", "--seed", *seed)
        return strict(out)["positions"]

    first = list(answer("0.1", "-1", "1", "-1", "-1.5", "0").values())
    again = list(answer(*map(str, first)).values())
    np.testing.assert_allclose(again, first, atol=1e-6)
    assert answer("3", "-2", "-1", "-1", "1.5", "0") != first


def test_solve_by_fabrik_prints_its_passes(run):
    command = ["solve", "--urdf", UR5E, *POSE, "--solver", "fabrik"]
    status, out, _ = run(*command)
    assert status == 0
    assert re.search(
        r"^FABRIK: \d+ passes, 0 restarts, no descent; the passes alone leave", out, re.M
    )
    assert "after" not in out
    _, out, _ = run(*command, "--json")
    reported = strict(out)["passes"]
    assert set(reported) == {
        "count", "restarts", "polished", "position_error", "orientation_error", "trace",
    }  # fmt: skip
    assert (reported["polished"], reported["trace"]) == (False, [])
    assert reported["position_error"] <= 1e-6
    assert "passes" not in strict(run("solve", "--urdf", UR5E, *POSE, "--json")[1])


def test_a_trace_has_the_positions_after_each_pass(run):
    command = ["solve", "--urdf", UR5E, *POSE, "--solver", "fabrik", "--trace"]
    reported = strict(run(*command, "--json")[1])["passes"]
    after = [stage["after"] for stage in reported["trace"]]
    assert after == ["start", *["backward", "forward"] * reported["count"]]
    chain = RobotModel.from_urdf(Path(UR5E).read_text()).chain("base_link", "tool0")
    for stage in reported["trace"]:
        assert tuple(stage["positions"]) == chain.joint_names
        assert tuple(stage["points"]) == (*chain.joint_names, "tool0")
        tip = chain.forward(list(stage["positions"].values())).translation
        wanted = (0.4, 0.2, 0.3) if stage["after"] == "backward" else tip
        np.testing.assert_allclose(stage["points"]["tool0"], wanted, atol=1e-9)
    _, out, _ = run(*command)
    assert out.count("after backward, start 0:") == reported["count"]
    assert "    0.400000   0.200000   0.300000  tool0" in out


PLOTTED = {
    "descent": ["--urdf", UR5E, *POSE],
    "position": ["--urdf", UR5E, "--xyz", "0.4", "0.2", "0.3", "--position-only"],
    "fabrik": ["--urdf", UR5E, *POSE, "--solver", "fabrik"],
    "gaze": ["--urdf", HEAD, *LOOK, "--axis", "0", "0", "1"],
    "too far": ["--urdf", UR5E, "--xyz", "9", "0", "0", "--position-only"],
}


@pytest.mark.parametrize("words", PLOTTED.values(), ids=PLOTTED)
def test_a_solve_is_drawn(run, tmp_path, words):
    status, out, _ = run("solve", *words, "--plot", str(tmp_path / "solve.png"))
    assert (status, out) == run("solve", *words)[:2]
    pixels = np.round(255.0 * imread(tmp_path / "solve.png")).astype(np.uint8).view(np.uint32)
    assert len(np.unique(pixels)) > 50  # lines in several colours


@pytest.mark.parametrize("name", ["solve.nothing", "no_folder/solve.png"])
def test_a_picture_that_cannot_be_written_is_named(run, tmp_path, name):
    status, out, err = run("solve", "--urdf", UR5E, *POSE, "--plot", str(tmp_path / name))
    assert (status, out) == (1, "")
    assert one_line(err)
    assert f"{name} cannot be written: " in err


def test_a_picture_needs_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, err = run("solve", "--urdf", UR5E, *POSE, "--plot", "a.png")
    assert (status, out) == (1, "")
    assert "--plot needs the Python package matplotlib, which is not installed" in err
    assert run("solve", "--urdf", UR5E, *POSE)[0] == 0


def test_solve_without_orientation(run):
    words = ("solve", "--urdf", LEGS, "--tip", "ankle_l", "--xyz", "0.1", "0.1", "-0.7")
    status, out, _ = run(*words, "--position-only")
    assert status == 0
    assert "reached" in out
    assert "off by" in out
    assert " rad; " not in out, "an orientation nobody asked for is not an error"
    status, _, err = run(*words)
    assert status == 2
    assert "give --rpy ROLL PITCH YAW, --quaternion X Y Z W, or --position-only" in err


def test_an_unreachable_target_is_status_1_with_the_best_effort(run):
    words = ("solve", "--urdf", UR5E, "--xyz", "3", "0", "0", "--position-only")
    status, out, err = run(*words)
    assert (status, err) == (1, "")
    assert "too far by" in out
    status, out, _ = run(*words, "--json")
    reported = strict(out)
    assert status == 1
    assert (reported["success"], reported["verdict"]) == (False, "TOO_FAR")
    assert 1.5 < reported["position_error"] < 3
    assert all(np.isfinite(value) for value in reported["positions"].values())


def test_negative_numbers_are_not_options(run):
    _, expected, _ = run(
        "solve", "--urdf", UR5E, "--xyz", "-0.4", "-0.001", "0.3", "--rpy", "-3", "0", "0"
    )
    _, out, _ = run(
        "solve", "--urdf", UR5E, "--xyz", "-.4", "-1e-3", "0.3", "--rpy", "-3.", "-0e5", "0"
    )
    assert out == expected


def test_a_description_comes_from_stdin_too(run, monkeypatch):
    data = Path(UR5E).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    status, out, _ = run("inspect", "--urdf", "-")
    assert status == 0
    assert "ur5e" in out


@pytest.mark.parametrize(
    ("content", "logged"),
    [
        (None, "cannot read"),
        (b"", "line 1: the robot description is empty"),
        (b"<robot>", "not well-formed XML"),
        (bytes(range(128)), "a NUL character"),
        (bytes(256), "line 1: the robot description is empty"),
        (bytes(range(256)), "not UTF-8 text"),
        (b"\xff\xfe<robot/>", "not UTF-8 text"),
        (b"<robot>\n<xacro:macro/></robot>", "line 2: <xacro:macro>: this is xacro source"),
        (b"<!DOCTYPE robot><robot/>", "DOCTYPE"),
        (b"<robot><link name='a'/></robot>", "no joint moves below 'a'"),
    ],
    ids=short,
)
@pytest.mark.parametrize("command", [["inspect"], ["solve", *POSE]], ids=["inspect", "solve"])
def test_a_bad_file_is_one_line_and_status_1(run, tmp_path, command, content, logged):
    file = tmp_path / "robot.urdf"
    if content is not None:
        file.write_bytes(content)
    status, out, err = run(*command, "--urdf", str(file))
    assert (status, out) == (1, "")
    assert logged in err
    assert err.startswith("python -m basis_ik: error: ")
    assert one_line(err)


@pytest.mark.parametrize(
    ("words", "logged"),
    [
        (["inspect", "--urdf", LEGS], "name the tip: 'ankle_l' (4 joints), 'ankle_r' (4 joints)"),
        (["inspect", "--urdf", UR5E, "--tip", "tol0"], "did you mean 'tool0'"),
        (["solve", "--urdf", UR5E, *POSE, "--seed", "1", "2"], "seed must be 6 numbers"),
        (["inspect", "--urdf", str(ROOT)], "Is a directory"),
        (["inspect", "--urdf", "a\0b"], "cannot read"),
        (["inspect", "--urdf", ""], "cannot read ''"),
        (["inspect", "--urdf", "a" * 5000], "cannot read 'aaa"),
        (["inspect", "--urdf", UR5E, "--tip", "a\nb"], r"no link 'a\nb'"),
        (["inspect", "--urdf", UR5E, "--root", "a" * 5000], "no link 'aaa"),
        (["inspect", "--urdf", UR5E, "--tip", ""], "no link ''"),
        (["solve", "--urdf", UR5E, "--xyz", "1e300", "0", "0", "--rpy", "3", "0", "0"], FAR),
        (["solve", "--urdf", UR5E, "--xyz", "0", "0", "-1e300", "--position-only"], FAR),
        (["solve", "--urdf", UR5E, *POSE, "--seed", *["1e300"] * 6], "seed must be finite"),
        (["solve", "--urdf", UR5E, *POSE, "--seed", *["1"] * 600], "seed must be 6 numbers"),
        (["solve", "--urdf", HEAD, "--look-at", "1e300", "0", "0"], "point must be finite and"),
        (["solve", "--urdf", HEAD, *LOOK, "--axis", "0", "0", "0"], "axis must"),
        (["solve", "--urdf", HEAD, *LOOK, "--axis", "1e300", "0", "0"], "axis must"),
    ],
    ids=short,
)
def test_a_bad_choice_is_one_line_and_status_1(run, words, logged):
    status, out, err = run(*words)
    assert (status, out) == (1, "")
    assert logged in err
    assert one_line(err)


def test_input_beyond_the_size_limit_is_not_read(run):
    status, _, err = run("inspect", "--urdf", "/dev/zero")
    assert status == 1
    assert "exceeds 4194304 bytes" in err


@pytest.mark.parametrize(
    ("words", "logged"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["jump"], "invalid choice: 'jump'"),
        (["warm_up"], "did you mean warm-up?"),
        (["solve", "--urdf", UR5E, *POSE, "--quaternion", "0", "0", "0", "1"], "give one of them"),
        (["solve", "--urdf", HEAD, *LOOK, "--quaternion", "0", "0", "0", "1"], "no --quaternion"),
        (["inspect"], "required: --urdf"),
        (["inspect", "--urdf", UR5E, "--tpi", "a"], "unrecognized arguments: --tpi a"),
        (["solve", "--urdf", UR5E], "one of the arguments --xyz --look-at is required"),
        (["solve", "--urdf", HEAD, *LOOK, "--xyz", "1", "2", "3"], "not allowed with argument"),
        (
            ["solve", "--urdf", HEAD, *LOOK, "--rpy", "1", "2", "3"],
            "--look-at leaves the roll free",
        ),
        (["solve", "--urdf", HEAD, *LOOK, "--position-only"], "--look-at leaves the roll free"),
        (["solve", "--urdf", UR5E, *POSE, "--axis", "0", "0", "1"], "--axis belongs to --look-at"),
        (["solve", "--urdf", UR5E, "--xyz", "1", "2"], "--xyz: expected 3 arguments"),
        (["solve", "--urdf", UR5E, "--xyz", "1", "2", "nan"], "--xyz: invalid number value: 'nan'"),
        (["solve", "--urdf", UR5E, "--xyz", "1", "2", "1e999"], "invalid number value: '1e999'"),
        (["solve", "--urdf", UR5E, *POSE, "--seed", "one"], "--seed: invalid number value: 'one'"),
        (["solve", "--urdf", UR5E, *POSE, "--seed"], "--seed: expected at least one argument"),
        (["solve", "--urdf", UR5E, *POSE, "--rpy", "1", "2"], "--rpy: expected 3 arguments"),
        (["solve", "--urdf", HEAD, *LOOK, "--axis", "inf", "0", "0"], "--axis: invalid number"),
        (["solve", "--urdf", HEAD, "--look-at", "", "0", "0"], "--look-at: invalid number"),
        (["solve", "--urdf", UR5E, *POSE, "--seed", "9" * 5000], "invalid number value: '999"),
        (["inspect", "--urdf", UR5E, "--bad\nopt\x1b[31m"], r"unrecognized arguments: --bad\nopt"),
        (["inspect", "--urdf"], "--urdf: expected one argument"),
        (["solve", "--urdf", UR5E, *POSE, "--solver", "newton"], "invalid choice: 'newton'"),
        (["solve", "--urdf", UR5E, *POSE, "--trace"], "--trace belongs to --solver fabrik"),
        (["solve", "--urdf", HEAD, *LOOK, "--solver", "fabrik"], "takes a pose: no --look-at"),
    ],
    ids=short,
)
def test_wrong_usage_is_one_line_and_status_2(run, words, logged):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert logged in err
    assert one_line(err)


@pytest.mark.parametrize("words", [[], ["inspect"], ["solve"], ["reach"]])
def test_help_has_examples_and_the_exit_status(run, words):
    status, out, _ = run(*words, "--help")
    assert status == 0
    assert "Exit status: 0" in out
    assert "python -m basis_ik" in out
    assert not words or f"python -m basis_ik {words[0]} --urdf" in out


def test_the_module_runs_as_a_program():
    """In a process of its own: a pipe that closes early, and a terminal without Unicode."""
    command = [sys.executable, "-m", "basis_ik", "inspect", "--urdf", UR5E]
    done = subprocess.run(
        f"{' '.join(command)} | head -c 1",
        shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("r", "")
    bad = subprocess.run(
        [*command, "--tip", "tööl"], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert bad.returncode == 1
    assert bad.stderr.count("\n") == 1
    assert r"t\xf6\xf6l" in bad.stderr


def test_look_at_turns_an_axis_of_the_tip_to_a_point(run):
    words = (
        "solve",
        "--urdf",
        HEAD,
        "--tip",
        "camera_optical_frame",
        *LOOK,
        "--axis",
        "0",
        "0",
        "1",
    )
    status, out, _ = run(*words, "--json")
    reported = strict(out)
    assert (status, reported["verdict"], reported["position_error"]) == (0, "REACHED", 0.0)
    chain = RobotModel.from_urdf(Path(HEAD).read_text()).chain(None, "camera_optical_frame")
    seen = (
        chain.forward(list(reported["positions"].values())).inverse().apply(np.array([1, 0.5, 0.2]))
    )
    assert np.hypot(seen[0], seen[1]) < 1e-6 < seen[2]
    status, out, _ = run(*words)
    assert (status, out.splitlines()[1].endswith("rad; 0 iterations, 0 restarts")) == (0, True)
    status, out, _ = run("solve", "--urdf", HEAD, "--tip", "camera_link", *LOOK)
    assert status == 0
    status, out, _ = run(
        "solve", "--urdf", HEAD, "--tip", "camera_link", "--look-at", "-1", "0", "0"
    )
    assert status == 1
    assert "pan_joint is held by its limit" in out
    assert " m" not in out.splitlines()[1]
