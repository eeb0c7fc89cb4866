# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Verbs that look at a graph with one node in another process."""

import re
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest
from ros2cli import graph, topics

pytestmark = pytest.mark.usefixtures("zoo")
STRING = "std_msgs/msg/String"


@pytest.fixture
def impatient(monkeypatch):
    """Give up soon what is not there."""
    monkeypatch.setattr(graph.find, "__defaults__", (0.5,))


def test_topic_info_and_the_lists(ros2):
    names = ros2("topic", "list").splitlines()
    assert {"/ns/ear", "/rosout"} <= set(names)
    assert "/ns/_hidden" not in names
    assert ros2("node", "list") == "/ns/zoo\n"
    verbose = ros2("topic", "info", "-v", "ns/latched")
    assert verbose.startswith("Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: zoo\n")
    assert "  Durability: TRANSIENT_LOCAL\n" in verbose
    assert verbose.endswith("Infinite\n\nSubscription count: 0\n\n")


def test_what_is_not_there_is_named(ros2, impatient):
    assert ros2("topic", "info", "/nope", code=1) == "Unknown topic '/nope'\n"
    reason = ros2("topic", "echo", "/nope", code=1)
    assert reason.endswith("Could not determine the type for the passed topic\n")
    assert "topic name '/a b' is invalid" in ros2("topic", "echo", "/a b", code=1)
    assert ros2("param", "get", "/nope", "gain", code=1) == "Node not found\n"
    assert ros2("lifecycle", "get", "/nope", code=1) == "Node not found\n"


def test_a_parameter_that_a_node_lacks_is_named(ros2):
    assert ros2("param", "get", "/ns/zoo", "nope", code=1) == "Parameter not set\n"


def test_topic_echo_takes_the_qos_of_the_publishers(ros2):
    assert ros2("topic", "echo", "--once", "/ns/latched") == "data: long ago\n---\n"
    assert ros2("topic", "echo", "--once", "/ns/mixed") == "data: unsure\n---\n"


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
    out = ros2("topic", "pub", "--once", "/ns/ear", STRING, "data: once")
    assert out.endswith(
        "publisher: beginning loop\npublishing #1: std_msgs.msg.String(data='once')\n\n"
    )
    zoo.wait_for("heard <once>")
    out = ros2("topic", "pub", "-t", "4", "-r", "50", "ns/ear", STRING, "data: more")
    assert re.findall(r"publishing #(\d)", out) == ["1", "2", "3", "4"]
    assert zoo.wait_for("heard <more>\n" * 4).count("heard <more>") == 4


def test_topic_pub_waits_for_a_subscription_and_without_end_for_nobody(ros2):
    pub = ("topic", "pub", "/nobody", STRING)
    code, out = ros2.until("Waiting", *pub, "--once")
    assert code == signal.SIGINT
    assert out == "Waiting for at least 1 matching subscription(s)...\n"
    code, out = ros2.until("#2", *pub, "-r", "100")
    assert code == signal.SIGINT
    assert out.startswith("publisher: beginning loop\n")


def test_topic_pub_is_heard_by_those_too_that_are_matched_a_little_later(monkeypatch):
    counts = iter([0, 1, 1, 3, 3, 3])
    publisher = SimpleNamespace(get_subscription_count=lambda: next(counts))
    monkeypatch.setattr(topics, "spin", lambda node, done, timeout: done())
    topics._wait_for_subscriptions(None, publisher)
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


def test_service_call(ros2):
    out = ros2("service", "call", "/ns/switch", "std_srvs/srv/SetBool", "{data: true}")
    assert out.removeprefix("waiting for service to become available...\n") == (
        "requester: making request: std_srvs.srv.SetBool_Request(data=True)\n\n"
        "response:\nstd_srvs.srv.SetBool_Response(success=True, message='as you like')\n\n"
    )
    code, out = ros2.until("waiting", "service", "call", "/nope", "std_srvs/srv/Trigger")
    assert (code, out) == (signal.SIGINT, "waiting for service to become available...\n")


LOOK = ("/ns/look", "control_msgs/action/PointHead")


def test_action_send_goal(ros2):
    out = ros2("action", "send_goal", *LOOK, "{pointing_frame: good}")
    begin = r"Waiting for an action server to become available\.\.\.\nSending goal:\n     target:\n"
    middle = r"(.*\n)+\nGoal accepted with ID: [0-9a-f]{32}\n\n"
    end = r"Result:\n    \{\}\n\nGoal finished with status: SUCCEEDED\n"
    assert re.fullmatch(begin + middle + end, out)
    out = ros2("action", "send_goal", *LOOK, "{pointing_frame: bad}")
    assert out.endswith("status: ABORTED\n")
    out = ros2("action", "send_goal", *LOOK, "{pointing_frame: never}")
    assert out.endswith("Goal was rejected.\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 2), (signal.SIGTERM, 143)])
def test_a_signal_cancels_the_goal(ros2, zoo, number, status):
    before = zoo.log.read_text().count("cancelled")
    goal = (*LOOK, "{pointing_frame: slow}")
    code, out = ros2.until("accepted", "action", "send_goal", *goal, number=number)
    assert code == status, out
    assert out.endswith("Canceling goal...\nGoal canceled.\n")
    zoo.wait_for("cancelled\n" * (before + 1))


def test_param(ros2):
    name = "/ns/zoo"
    assert ros2("param", "get", name, "gain") == "Double value is: 1.5\n"
    assert ros2("param", "get", "ns/zoo", "deep.down") == "Integer values are: [1, 2]\n"
    assert ros2("param", "set", name, "gain", "0.5") == "Set parameter successful\n"
    assert ros2("param", "set", name, "gain", "3.0") == ""  # the error goes to stderr
    assert ros2("param", "get", name, "gain") == "Double value is: 0.5\n"


def test_lifecycle(ros2):
    name = "/ns/zoo"
    assert ros2("lifecycle", "get", name) == "unconfigured [1]\n"
    assert ros2("lifecycle", "set", name, "dance", code=1) == (
        "Unknown transition requested, available ones are:\n- configure [1]\n- shutdown [5]\n"
    )
    assert ros2("lifecycle", "set", name, "configure") == "Transitioning successful\n"
    assert ros2("lifecycle", "get", name) == "inactive [2]\n"
    assert ros2("lifecycle", "set", name, "activate") == ""  # the error goes to stderr


@pytest.mark.parametrize(
    ("arrivals", "ends"),
    [
        ([], 4),  # nobody else: not believed before four times the quiet
        ([0.5], 1.5),
        ([3.0], 4.0),
        ([0.5, 1.0, 1.9], 2.9),
        ([i * 0.9 for i in range(50)], 10),  # news without end
    ],
)
def test_the_graph_is_known_when_there_is_no_more_news(arrivals, ends, monkeypatch):
    class Clock:
        """A time that only sleeping moves, and a graph in which a node arrives now and then."""

        now = 0.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

        def get_node_names_and_namespaces(self):
            return [("self", "/"), *((f"n{t}", "/") for t in arrivals if t <= self.now)]

        def get_topic_names_and_types(self, no_demangle):
            return []

    clock = Clock()
    monkeypatch.setattr(graph, "time", clock)
    monkeypatch.setattr(graph, "QUIET", 1.0)
    graph.settle(clock)
    assert clock.now == pytest.approx(ends, abs=0.05)
