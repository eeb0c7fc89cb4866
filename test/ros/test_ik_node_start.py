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

"""Start and end of the node as a process, and errors at start."""

import signal

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from robot_bench import URDF, Robot, down, output_of, start_node, stop_node, wait_for_log
from std_msgs.msg import String


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
        (["-p", "update_rate:=100"], ["update_rate", "decimal point"]),
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


def test_parameters_that_do_not_fit_the_robot_on_the_topic_are_reported(domain):
    """No message can fix it: it is logged once as an error, and the node stays unconfigured."""
    robot = Robot(domain)
    received = []
    robot.node.create_subscription(DiagnosticArray, "/diagnostics", received.append, 10)
    process = start_node(domain, "-p", "home:=[0.0]")
    robot.wait(lambda: any(waiting(each) for each in received), "diagnostics while it waits")
    robot.description.publish(String(data=URDF))
    wait_for_log(process, "parameter 'home'")
    robot.wait_status(state="UNCONFIGURED", level=DiagnosticStatus.ERROR)
    robot.description.publish(String(data=URDF + " "))
    robot.wait(
        lambda: received[-1].status[0].level == DiagnosticStatus.ERROR, "an error, not a wait"
    )
    assert received[-1].status[0].name == "basis_ik: start"
    assert received[-1].status[0].message == robot.statuses[-1]["message"]
    assert not robot.transit("configure")
    assert robot.state() == "unconfigured"
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    (line,) = [line for line in output.splitlines() if "[ERROR]" in line and "cannot" not in line]
    assert "parameter 'home' does not fit: 6 positions are needed" in line
    assert line.endswith("unconfigured: fix it and start again, or publish another description")
    assert "cannot configure: parameter 'home' does not fit" in output
    assert "still waiting" not in output
    assert "description refused" not in output


def waiting(message):
    status = message.status[0]
    return status.level == DiagnosticStatus.WARN and "no robot description" in status.message


def two_joints(parent):
    """Return a robot of two joints, the second below a link of the first's."""
    joints = (
        f'<link name="{child}"/><joint name="{name}" type="revolute"><axis xyz="0 0 1"/>'
        f'<parent link="{above}"/><child link="{child}"/><origin xyz="0.2 0 0"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for name, above, child in (("j", "base", "tip_a"), ("k", parent, "tip_b"))
    )
    return f'<robot name="two"><link name="base"/>{"".join(joints)}</robot>'


def test_a_robot_with_shared_joints_does_not_replace_a_valid_one(domain):
    robot = Robot(domain)
    ends = ("-p", "a.tip_link:=tip_a", "-p", "b.tip_link:=tip_b")
    process = start_node(domain, "-p", "chains:=[a,b]", *ends)
    robot.description.publish(String(data=two_joints("base")))
    wait_for_log(process, "ready: two, chain b")
    robot.description.publish(String(data=two_joints("tip_a")))
    said = wait_for_log(process, "the old one is kept")
    assert "'chains' has 'a' and 'b', which both move 'j'" in said
    robot.wait(lambda: robot.state() == "active", "the old one goes on")
    code, output = stop_node(process)
    robot.close()
    assert code == 0, output
    assert output.count("ready: two") == 2


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


def test_an_empty_list_is_reported(domain, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("/**:\n  ros__parameters:\n    chains: []\n")
    code, output = output_of(start_node(domain, "--params-file", str(path)))
    assert code == 1
    assert "Traceback" not in output
    assert "leave out parameters that are []" in output


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_waiting_node(domain, with_signal):
    robot = Robot(domain)
    process = start_node(domain)
    wait_for_log(process, "waiting for a robot description on /robot_description")
    code, output = stop_node(process, with_signal)
    robot.close()
    assert code == 0
    assert "Traceback" not in output


def test_a_node_that_was_shut_down_does_not_start(domain):
    robot = Robot(domain)
    process = start_node(domain)
    wait_for_log(process, "waiting for a robot description")
    assert robot.transit("shutdown")
    robot.description.publish(String(data=URDF))
    assert robot.no_commands(1.0)
    assert robot.state() == "finalized"
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    assert "Traceback" not in output
    assert "refused" not in output


def test_a_signal_ends_the_compiling_node(domain, tmp_path, monkeypatch):
    """With an empty cache: the running compilation takes much longer than the signal may."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    robot = Robot(domain)
    process = start_node(domain)
    robot.description.publish(String(data=URDF))
    wait_for_log(process, "compiling")
    robot.wait(lambda: any(tmp_path.rglob("*.nbi")), "the first kernel is there")
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    assert "ready" not in output
    assert "Traceback" not in output


def test_without_autostart_the_node_waits_to_be_activated(domain):
    robot = Robot(domain)
    process = start_node(domain, "-p", "autostart:=false")
    robot.description.publish(String(data=URDF))
    robot.wait(lambda: robot.targets.get_subscription_count() > 0, "the node is there")
    robot.send("base_link", down(0.4, 0.2, 0.4))
    assert robot.no_commands(1.0)
    assert robot.statuses == []
    code, output = stop_node(process)
    robot.close()
    assert code == 0, output
