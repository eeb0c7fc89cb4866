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

"""Verbs that look at a graph with one node in another process."""

import re
import signal
import subprocess
import time
from argparse import Namespace
from types import SimpleNamespace

import pytest
from ros2cli.command import topic

NOT_LONG = ("--spin-time", "0.1")  # in which what is not there is given up
pytestmark = pytest.mark.usefixtures("zoo")


def test_topic_list(ros2):
    names = ros2("topic", "list").split()
    assert {"/ns/joint_states", "/ns/ear", "/parameter_events", "/rosout"} <= set(names)
    assert "/ns/_hidden" not in names
    assert names == sorted(names)
    typed = ros2("topic", "list", "-t", "--include-hidden-topics", "--no-daemon").splitlines()
    assert "/ns/_hidden [std_msgs/msg/String]" in typed
    verbose = ros2("topic", "list", "-v").splitlines()
    published = verbose[: verbose.index("Subscribed topics:")]
    assert " * /ns/mixed [std_msgs/msg/String] 2 publishers" in published
    assert " * /ns/ear [std_msgs/msg/String] 1 subscriber" in verbose[len(published) :]


def test_topic_type_and_info(ros2):
    assert ros2("topic", "type", "ns/ear") == "std_msgs/msg/String\n"
    assert ros2("topic", "type", "/nope", *NOT_LONG, code=1) == ""
    assert ros2("topic", "info", "/ns/mixed") == (
        "Type: std_msgs/msg/String\nPublisher count: 2\nSubscription count: 0\n"
    )
    verbose = ros2("topic", "info", "-v", "/ns/latched")
    assert verbose.startswith("Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: zoo\n")
    assert "  Durability: TRANSIENT_LOCAL\n" in verbose
    assert verbose.endswith("Infinite\n\nSubscription count: 0\n\n")
    assert ros2("topic", "info", "/nope", *NOT_LONG, code=1) == "Unknown topic '/nope'\n"


def test_topic_echo(ros2):
    states = ("topic", "echo", "--once", "/ns/joint_states")
    assert ros2(*states, "--field", "position[1]") == "2.5\n---\n"
    out = ros2(*states, "--flow-style", "--no-arr")
    assert "name: '<sequence type: string, length: 2>'" in out
    assert out.endswith("}\n---\n")
    reason = ros2(*states, "--field", "header.foo", code=1)
    assert reason == "Invalid field 'header.foo': 'Header' object has no attribute 'foo'\n"
    assert "type is invalid" in ros2("topic", "echo", "/ns/ear", "a/b", code=1)
    assert "Invalid topic name" in ros2("topic", "echo", "/a b", code=1)
    reason = ros2("topic", "echo", "/nope", *NOT_LONG, code=1)
    assert reason.endswith("Could not determine the type for the passed topic\n")
    silent = ("topic", "echo", "/ns/ear", "--timeout", "0.5")
    assert ros2(*silent, code=1) == "No message on topic '/ns/ear' in 0.5 s\n"


def test_topic_echo_takes_the_qos_of_the_publishers(ros2):
    assert ros2("topic", "echo", "--once", "/ns/latched") == "data: long ago\n---\n"
    code, out = ros2.until("unsure", "topic", "echo", "/ns/mixed", "--field", "data")
    assert code == signal.SIGINT
    assert "Falling back to BEST_EFFORT" in out
    options = ("--qos-durability", "volatile", "--timeout", "1")
    assert "No message" in ros2("topic", "echo", "/ns/latched", *options, code=1)


def test_topic_echo_ends_without_a_word_when_nobody_listens_any_more(ros2):
    process = ros2.start("topic", "echo", "/ns/joint_states", stderr=subprocess.PIPE)
    assert process.stdout.readline() == "header:\n"
    process.stdout.close()
    assert process.wait(timeout=30) == 1
    assert process.stderr.read() == ""


def test_interrupting_again_and_again_and_in_the_background_is_quiet(ros2):
    def like_a_script_does_for_a_command_with_an_ampersand():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    process = ros2.start(
        "topic",
        "echo",
        "/ns/joint_states",
        preexec_fn=like_a_script_does_for_a_command_with_an_ampersand,
    )
    assert process.stdout.readline() == "header:\n"
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == signal.SIGINT
    assert "Traceback" not in out


def test_topic_pub(ros2, zoo):
    string = "std_msgs/msg/String"
    out = ros2("topic", "pub", "--once", "/ns/ear", string, "data: once")
    assert out.endswith(
        "publisher: beginning loop\npublishing #1: std_msgs.msg.String(data='once')\n\n"
    )
    zoo.wait_for("heard <once>")
    out = ros2("topic", "pub", "-t", "4", "-r", "50", "-p", "2", "ns/ear", string, "data: more")
    assert re.findall(r"publishing #(\d)", out) == ["2", "4"]
    assert zoo.wait_for("heard <more>\n" * 4).count("heard <more>") == 4
    pose = "{header: auto, pose: {position: {x: 1}}}"
    ros2("topic", "pub", "-1", "/ns/pose", "geometry_msgs/PoseStamped", pose)
    log = zoo.wait_for("posed")
    assert "position=geometry_msgs.msg.Point(x=1.0" in log
    assert int(re.search(r"posed .*?sec=(\d+)", log)[1]) > 1_600_000_000
    options = ("--max-wait-time-secs", "0.1", "-w", "1")
    assert "Timed out" in ros2("topic", "pub", *options, "/nobody", string, code=1)


def test_topic_pub_without_end_waits_for_nobody_and_can_be_silent(ros2):
    pub = ("topic", "pub", "/nobody", "std_msgs/msg/String")
    assert "option is only effective" in ros2(*pub, "--max-wait-time-secs", "1", code=1)
    process = ros2.start(*pub, "-t", "0", "-p", "0", "-r", "100")
    assert process.stdout.readline() == "publisher: beginning loop\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == ""


@pytest.mark.parametrize("option", ["--wait-matching-subscriptions", "--times", "--keep-alive"])
def test_topic_pub_refuses_negative_numbers(ros2, option):
    with pytest.raises(SystemExit):
        ros2("topic", "pub", "/nobody", "std_msgs/msg/String", f"{option}=-1")


def test_topic_pub_is_heard_by_those_too_that_are_matched_a_little_later(monkeypatch):
    counts = iter([0, 1, 1, 3, 3, 3])
    publisher = SimpleNamespace(get_subscription_count=lambda: next(counts))
    monkeypatch.setattr(topic, "spin", lambda node, done, timeout: done())
    args = Namespace(
        wait_matching_subscriptions=None, times=1, max_wait_time_secs=None, spin_time=0.5
    )
    topic._wait_for_subscriptions(None, publisher, args)
    assert list(counts) == [3]  # it went on only when no more had come


def test_a_topic_of_two_types_is_not_echoed(ros2):
    process = ros2.start("topic", "pub", "/ns/ear", "std_msgs/msg/Empty")
    try:
        assert process.stdout.readline() == "publisher: beginning loop\n"
        assert "more than one type" in ros2("topic", "echo", "/ns/ear", code=1)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def test_topic_hz(ros2):
    code, out = ros2.until("window", "topic", "hz", "/ns/joint_states")
    assert code == signal.SIGINT
    assert re.fullmatch(
        r"average rate: \d+\.\d{3}\n"
        r"\tmin: \d\.\d{3}s max: \d\.\d{3}s std dev: \d\.\d{5}s window: \d+\n",
        out,
    )


def test_node(ros2):
    assert "/ns/zoo" in ros2("node", "list").split()
    assert any(name.startswith("/_ros2cli_") for name in ros2("node", "list", "-a").split())
    info = ros2("node", "info", "/ns/zoo")
    sections = [line for line in info.splitlines() if line.startswith("  ") and line[2] != " "]
    assert [line.strip(" :") for line in sections] == [
        "Subscribers",
        "Publishers",
        "Service Servers",
        "Service Clients",
        "Action Servers",
        "Action Clients",
    ]
    assert "    /ns/switch: std_srvs/srv/SetBool\n" in info
    assert "  Action Servers:\n    /ns/look: tf2_msgs/action/LookupTransform\n" in info
    assert ros2("node", "info", "/nope", *NOT_LONG, code=1) == "Unable to find node '/nope'\n"


def test_service(ros2):
    services = ros2("service", "list", "-t").splitlines()
    assert "/ns/switch [std_srvs/srv/SetBool]" in services
    assert not any("/_" in line for line in services)
    assert ros2("service", "type", "/ns/switch") == "std_srvs/srv/SetBool\n"
    assert ros2("service", "type", "/nope", *NOT_LONG, code=1) == ""
    out = ros2("service", "call", "/ns/switch", "std_srvs/srv/SetBool", "{data: true}")
    assert out.removeprefix("waiting for service to become available...\n") == (
        "requester: making request: std_srvs.srv.SetBool_Request(data=True)\n\n"
        "response:\nstd_srvs.srv.SetBool_Response(success=True, message='as you like')\n\n"
    )
    code, out = ros2.until("waiting", "service", "call", "/nope", "std_srvs/srv/Trigger")
    assert (code, out) == (signal.SIGINT, "waiting for service to become available...\n")


LOOK = ("/ns/look", "tf2_msgs/action/LookupTransform")


def test_action(ros2):
    assert ros2("action", "list", "-t") == f"{LOOK[0]} [{LOOK[1]}]\n"
    assert ros2("action", "info", LOOK[0]) == (
        "Action: /ns/look\nAction clients: 0\nAction servers: 1\n    /ns/zoo\n"
    )
    out = ros2("action", "send_goal", "-f", *LOOK, "{target_frame: quick}")
    assert re.match(
        r"Waiting for an action server to become available\.\.\.\n"
        r"Sending goal:\n     target_frame: quick\n(.*\n)+\n"
        r"Goal accepted with ID: [0-9a-f]{32}\n\n"
        r"Feedback:\n    \{\}\n\n"
        r"Result:\n    transform:\n(.*\n)+  error_string: fine\n\n"
        r"Goal finished with status: SUCCEEDED\n$",
        out,
    )
    out = ros2("action", "send_goal", *LOOK, "{target_frame: bad}")
    assert "Feedback" not in out
    assert out.endswith("Goal finished with status: ABORTED\n")
    out = ros2("action", "send_goal", *LOOK, "{target_frame: never}")
    assert out.endswith("Goal was rejected.\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 2), (signal.SIGTERM, 143)])
def test_a_signal_cancels_the_goal(ros2, zoo, number, status):
    before = zoo.log.read_text().count("cancelled")
    goal = (*LOOK, "{target_frame: slow}")
    code, out = ros2.until("accepted", "action", "send_goal", *goal, number=number)
    assert code == status, out
    assert out.endswith("Canceling goal...\nGoal canceled.\n")
    zoo.wait_for("cancelled\n" * (before + 1))


def test_goals_and_requests_know_neither_auto_nor_now(ros2):
    goal = "{source_time: now}"
    assert "only `topic pub` knows" in ros2("action", "send_goal", *LOOK, goal, code=1)
    kind = "moveit_msgs/srv/GetPositionIK"
    request = "{ik_request: {pose_stamped: {header: auto}}}"
    assert "only `topic pub` knows" in ros2("service", "call", "/nope", kind, request, code=1)


def test_param(ros2):
    name = "/ns/zoo"
    assert "/ns/zoo:\n  deep.down\n  fixed\n  gain\n" in ros2("param", "list")
    typed = ros2("param", "list", name, "--param-type", "--filter", "^[dg]")
    assert typed == "  deep.down (type: integer array)\n  gain (type: double)\n"
    assert ros2("param", "get", name, "gain") == "Double value is: 1.5\n"
    assert ros2("param", "get", name, "deep.down") == "Integer values are: [1, 2]\n"
    assert ros2("param", "get", name, "fixed", "--hide-type") == "as it is\n"
    assert ros2("param", "get", name, "nope", code=1) == "Parameter not set\n"
    assert ros2("param", "get", "/nope", "gain", *NOT_LONG, code=1) == "Node not found\n"
    assert ros2("param", "set", name, "gain", "0.5") == "Set parameter successful\n"
    assert ros2("param", "set", name, "gain", "3.0") == ""
    assert ros2("param", "get", name, "gain") == "Double value is: 0.5\n"
    ros2("param", "set", name, "gain", "1.5")
    assert ros2("param", "describe", name, "gain", "fixed") == (
        "Parameter name: gain\n  Type: double\n  Description: of the loop\n  Constraints:\n"
        "    Min value: 0.0\n    Max value: 2.0\n"
        "Parameter name: fixed\n  Type: string\n  Constraints:\n    Read only: true\n"
    )
    assert ros2("param", "dump", "ns/zoo").startswith(
        "/ns/zoo:\n  ros__parameters:\n    deep:\n      down:\n      - 1\n      - 2\n"
        "    fixed: as it is\n    gain: 1.5\n"
    )


def test_lifecycle(ros2):
    name = "/ns/zoo"
    assert ros2("lifecycle", "nodes") == f"{name}\n"
    assert ros2("lifecycle", "get") == f"{name}: unconfigured [1]\n"
    assert ros2("lifecycle", "list", name) == (
        "- configure [1]\n\tStart: unconfigured\n\tGoal: configuring\n"
        "- shutdown [5]\n\tStart: unconfigured\n\tGoal: shuttingdown\n"
    )
    assert "- transition_error [62]\n" in ros2("lifecycle", "list", name, "-a")
    assert ros2("lifecycle", "set", name, "dance", code=1) == (
        "Unknown transition requested, available ones are:\n- configure [1]\n- shutdown [5]\n"
    )
    assert ros2("lifecycle", "set", name, "configure") == "Transitioning successful\n"
    assert ros2("lifecycle", "get", name) == "inactive [2]\n"
    assert ros2("lifecycle", "set", name, "activate") == ""  # the error goes to stderr
    assert ros2("lifecycle", "get", "/nope", *NOT_LONG, code=1) == "Node not found\n"
