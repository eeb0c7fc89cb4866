"""How the node starts and ends as a process, and how it says that it cannot."""

import signal

import pytest
from robot_bench import URDF, Robot, down, output_of, start_node, stop_node, wait_until_said
from std_msgs.msg import String


def ends(domain, *arguments):
    process = start_node(domain, *arguments)
    return output_of(process)


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
def test_a_bad_argument_is_told_in_one_line(domain, arguments, words):
    code, output = ends(domain, *arguments)
    assert code == 1
    assert "Traceback" not in output
    line = output.strip().splitlines()[-1]
    assert all(word in line for word in words)


@pytest.mark.parametrize(
    ("text", "parameters", "words"),
    [
        ("<robot", {}, ["line 1"]),
        (URDF, {"tip_link": "tool1"}, ["tool1", "tool0"]),
        (URDF, {"root_link": "nowhere"}, ["nowhere"]),
    ],
)
def test_a_bad_description_or_chain_is_told_in_one_line(domain, described, text, parameters, words):
    code, output = ends(domain, *described(text, **parameters))
    assert code == 1
    assert "Traceback" not in output
    line = output.strip().splitlines()[-1]
    assert line.startswith("ik_node: ")
    assert all(word in line for word in words)


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
def test_a_bad_file_is_told_by_its_name_with_the_key(domain, tmp_path, line, words):
    path = tmp_path / "mine.yaml"
    path.write_text(f"/**:\n  ros__parameters:\n    {line}\n")
    code, output = ends(domain, "--params-file", str(path))
    assert code == 1
    assert "Traceback" not in output
    said = output.strip().splitlines()[-1]
    assert all(word in said for word in [*words, "mine.yaml"])


def test_an_empty_list_which_rclpy_cannot_hold_is_told(domain, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("/**:\n  ros__parameters:\n    chains: []\n")
    code, output = ends(domain, "--params-file", str(path))
    assert code == 1
    assert "Traceback" not in output
    assert "leave out parameters that are []" in output


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_while_it_waits(domain, with_signal):
    robot = Robot(domain)
    process = start_node(domain)
    robot.wait(lambda: robot.description.get_subscription_count() > 0, "the node is there")
    code, output = stop_node(process, with_signal)
    robot.close()
    assert code == 0
    assert "waiting for a robot description on /robot_description" in output
    assert "Traceback" not in output


def test_a_signal_ends_it_cleanly_while_it_compiles(domain, tmp_path, monkeypatch):
    """Nothing in the cache: what is under way when the signal comes takes much longer."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    robot = Robot(domain)
    process = start_node(domain)
    robot.description.publish(String(data=URDF))
    wait_until_said(process, "compiling")
    robot.wait(lambda: any(tmp_path.rglob("*.nbi")), "the first kernel is there")
    code, output = stop_node(process)
    robot.close()
    assert code == 0
    assert "ready" not in output
    assert "Traceback" not in output


def test_without_autostart_it_waits_to_be_activated(domain):
    robot = Robot(domain)
    process = start_node(domain, "-p", "autostart:=false")
    robot.description.publish(String(data=URDF))
    robot.wait(lambda: robot.targets.get_subscription_count() > 0, "the node is there")
    robot.send("base_link", down(0.4, 0.2, 0.4))
    assert robot.quiet(1.0)
    assert robot.statuses == []
    code, output = stop_node(process)
    robot.close()
    assert code == 0, output
