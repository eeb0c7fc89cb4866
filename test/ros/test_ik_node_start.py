# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Start and end of the node as a process, and errors at start."""

import signal

import pytest
from robot_bench import URDF, start_node, stop_node, wait_for_log


@pytest.fixture
def described(tmp_path):
    """A parameter file that holds a robot description."""

    def write(text, **parameters):
        lines = "".join(f"    {key}: {value}\n" for key, value in parameters.items())
        indented = "".join(f"      {line}\n" for line in text.splitlines())
        path = tmp_path / "params.yaml"
        path.write_text(
            f"basis_ik:\n  ros__parameters:\n{lines}    robot_description: |\n{indented}"
        )
        return "--params-file", str(path)

    return write


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "tip_lnk:=tool0"], ["tip_lnk", "did you mean 'tip_link'"]),
        (["-p", "update_rate:=0.0"], ["update_rate", "[10, 1000]"]),
        (["-p", "update_rate:=1"], ["update_rate", "[10, 1000]", "not 1"]),
        (["-p", "home:=[0, -1.57]"], ["home", "with a decimal point: [0.0, -1.57]"]),
        (["-p", "autostart:=maybe"], ["autostart", "true or false"]),
        (["--params-file", "/nonexistent.yaml"], ["/nonexistent.yaml"]),
    ],
)
def test_a_bad_argument_is_one_line(complaint, arguments, words):
    line = complaint("ik_node", more=arguments)
    assert all(word in line for word in words)


@pytest.mark.parametrize(
    ("text", "parameters", "words"),
    [
        ("<robot", {}, ["line 1"]),
        (URDF, {"tip_link": "tool1"}, ["tool1", "tool0"]),
        (URDF, {"root_link": "nowhere"}, ["nowhere"]),
    ],
    ids=["text", "tip", "root"],
)
def test_a_bad_description_or_chain_is_one_line(complaint, described, text, parameters, words):
    line = complaint("ik_node", more=described(text, **parameters))
    assert line.startswith("ik_node: ")
    assert all(word in line for word in words)


def test_a_named_chains_parameters_are_refused_by_their_full_names(complaint):
    given = ("chains:=[left,right]", "right.controller:=a b")
    assert "ik_node: parameter 'right.controller' is 'a b'" in complaint("ik_node", *given)


def test_lists_of_different_lengths_are_refused_at_start(complaint):
    line = complaint("ik_node", "home:=[0.0,0.0]", "max_jerk:=[1.0]")
    assert line.startswith("ik_node: parameter 'max_jerk' has 1 numbers, and home has 2")


NO_FIT = {
    "home": (["home:=[0.0]"], "'home' does not fit: 6 positions are needed"),
    "acceleration": (["max_acceleration:=[1.0]"], "'max_acceleration' must have 6 numbers"),
    "frame": (["pointing_frame:=lens"], "'pointing_frame' is 'lens', which is not fixed to tool0"),
    "swapped": (
        ["root_link:=tool0", "tip_link:=base_link"],
        "'tip_link' is 'base_link', which is not below root_link 'tool0': the two are",
    ),
    "shared": (
        ["chains:=[a,b]", "b.tip_link:=wrist_1_link"],
        "'chains' has 'a' and 'b', which both move 'shoulder_pan_joint'",
    ),
}


@pytest.mark.parametrize(("given", "words"), NO_FIT.values(), ids=NO_FIT)
def test_parameters_that_do_not_fit_the_given_robot_end_the_node(
    complaint, described, given, words
):
    line = complaint("ik_node", *given, more=described(URDF))
    assert line.startswith(f"ik_node: parameter {words}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tip_lnk: tool0", ["tip_lnk", "did you mean 'tip_link'"]),
        ("update_rate: 0.5", ["update_rate", "[10, 1000]"]),
        ("max_velocity_scaling_factor: .nan", ["max_velocity_scaling_factor", "nan"]),
        ("home: [0.0, .nan]", ["home", "nan"]),
        ("chains: [1, 2]", ["chains", "text"]),
        ("left: {tip_link: tool0}", ["left.tip_link", "did you mean 'tip_link'"]),
        ("command_interface: smoke", ["command_interface", "joint_trajectory, position"]),
    ],
)
def test_an_error_has_the_name_of_the_file_with_the_key(complaint, tmp_path, line, words):
    path = tmp_path / "mine.yaml"
    path.write_text(f"/**:\n  ros__parameters:\n    {line}\n")
    said = complaint("ik_node", more=("--params-file", str(path)))
    assert all(word in said for word in [*words, "mine.yaml"])


def test_an_empty_list_is_reported(complaint, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("/**:\n  ros__parameters:\n    chains: []\n")
    line = complaint("ik_node", more=("--params-file", str(path)))
    assert "leave out parameters that are []" in line


@pytest.mark.parametrize(
    ("with_signal", "words"),
    [(signal.SIGINT, "waiting for a robot description"), (signal.SIGTERM, "compiling the kernels")],
    ids=["waiting", "compiling"],
)
def test_a_signal_ends_the_node(own_domain, tmp_path, monkeypatch, with_signal, words):
    """With an empty cache, in the first compilation, which takes much longer than a signal may."""
    if words.startswith("compiling"):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    process = start_node(own_domain)
    wait_for_log(process, words)
    code, output = stop_node(process, with_signal)
    assert code == 0, output
    assert "Traceback" not in output
