"""How the node starts and ends as a process, and how it says that it cannot."""

import signal

import pytest
from robot_bench import PATIENCE, URDF, Robot, down, start_node, stop_node
from std_msgs.msg import String


def ends(domain, *arguments):
    process = start_node(domain, *arguments)
    output, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, output


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
        (["-p", "update_rate:=0.0"], ["update_rate", "[1, 1000]"]),
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


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_while_it_waits(domain, with_signal):
    robot = Robot(domain)
    process = start_node(domain)
    robot.wait(lambda: robot.targets.get_subscription_count() > 0, "the node is there")
    code, output = stop_node(process, with_signal)
    robot.close()
    assert code == 0
    assert "waiting for a robot description on /robot_description" in output
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
