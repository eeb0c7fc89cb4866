# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recorded input is replayed unchanged; a node that reads more still ends."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import pytest
from control_msgs.action import FollowJointTrajectory, PointHead
from rclpy.context import Context
from rclpy.node import Node
from rclpy.serialization import serialize_message
from rclpy.task import Future
from std_msgs.msg import String

from basis_ik.arm.moment import Moment
from basis_ik.extras.recording import replay
from basis_ik.extras.recording.recorded import RecordingError
from basis_ik.extras.recording.recording import Entry, RecordingBoundary, Sent
from basis_ik.extras.recording.replay import Difference, Outcome, Replay, ReplayBoundary
from basis_ik.ros.action_forms import (
    GOAL_END,
    GOAL_FEEDBACK,
    GOAL_RESPONSE,
    HEAD_GOAL,
    HEAD_HANDLE,
)
from basis_ik.ros.boundary import LIVE, Form, boundary_of, named_inputs, present

TEXT, WORD = "std_msgs/msg/String", b"\0\1\0\0\2\0\0\0x\0"  # "x", as serialised
NODE = SimpleNamespace(subscriptions=[], timers=[], services=[])


@pytest.fixture
def entries():
    return []


@pytest.fixture
def recording(entries):
    boundary = RecordingBoundary(NODE, SimpleNamespace(put=entries.append))
    boundary.run("handle_target", lambda: None)  # ends the node's making, and is idle itself
    entries.clear()
    return boundary


def entry(**readings):
    return Entry(0, "any", None, None, readings, [])


def replaying(**readings):
    boundary = ReplayBoundary()
    boundary.begin(entry(**readings))
    return boundary


def test_values_of_sources_are_replayed_in_order(recording, entries):
    logged = []

    def work():
        logged.extend([recording.steady(), recording.steady(), recording.steady_ns()])
        logged.append(recording.read("listeners", lambda: 3))

    recording.run("any", work)
    boundary = replaying(**json.loads(json.dumps(entries[0].readings)))
    assert [boundary.steady(), boundary.steady(), boundary.steady_ns()] == logged[:3]
    assert boundary.read("listeners", lambda: 99) == 3


def test_while_simulated_time_stands_no_time_passes():
    now = SimpleNamespace(nanoseconds=5 * 10**9)
    clock = SimpleNamespace(ros_time_is_active=True, now=lambda: now)
    assert present(clock) == Moment(5.0, 5 * 10**9)


def test_further_readings_repeat_the_last_value():
    boundary = replaying(steady=[1.0], listeners=[2])
    assert boundary.read("listeners", lambda: 99) == 2
    assert boundary.read("listeners", lambda: 99) == 2
    assert boundary.read("never recorded", lambda: 99) == 99
    assert [boundary.steady(), boundary.steady()] == [1.0, 1.0]
    boundary.sleep(0.5)
    assert boundary.steady() == 1.5


def test_results_of_threads_are_replayed_at_the_same_time():
    boundary, goes_on = replaying(done=[False, True]), Event()
    with ThreadPoolExecutor(1) as threads:
        quick = threads.submit(lambda: 1)
        quick.result()
        assert not boundary.done(quick)
        slow = threads.submit(goes_on.wait)
        threads.submit(goes_on.set) if slow.done() else goes_on.set()
        assert boundary.done(slow)
        assert slow.done()


def test_an_idle_request_is_not_recorded(recording, entries):
    recording.run("handle_target", lambda: None)
    assert entries == []
    recording.run("handle_target", recording.steady)
    assert len(entries) == 1


def test_sent_messages_are_recorded_and_not_sent_in_a_replay(recording, entries):
    published = []
    publisher = SimpleNamespace(topic_name="/a", msg_type=String, publish=published.append)
    recording.run("any", lambda: recording.publish(publisher, String(data="x")))
    (sent,) = entries[0].sent
    assert published == [sent.data]
    assert (sent.topic, sent.kind) == ("/a", "std_msgs/msg/String")
    boundary = replaying()
    boundary.publish(publisher, String(data="x"))
    assert boundary.send("/b", String(data="y"), lambda: published.append("really")) is None
    assert [each.topic for each in boundary.sent] == ["/a", "/b"]
    assert len(published) == 1


def test_a_request_is_recorded_with_its_content(recording, entries):
    calls = []

    class Service:
        srv_name = "~/say"

        @staticmethod
        def callback(request, response):
            calls.append(request)
            return response

    service = Service()
    node = SimpleNamespace(subscriptions=[], timers=[], services=[service])
    recording.before_callbacks(node)
    recording.before_callbacks(node)  # not twice
    assert service.callback(String(data="x"), "an answer") == "an answer"
    assert len(calls) == 1
    (only,) = entries
    assert only.name == "service ~/say 0"
    assert only.given


@pytest.fixture
def node(domain):
    """Yield a node of rclpy."""
    context = Context()
    context.init(domain_id=domain)
    node = Node("recorded", context=context, start_parameter_services=False)
    yield node
    node.destroy_node()
    context.shutdown()


def test_messages_and_timers_are_recorded_whenever_they_are_created(recording, entries, node):
    calls = []

    def look():
        calls.append("look")

    def hear(message):
        calls.append(message.data)

    timer = node.create_timer(1.0, look)
    recording.before_callbacks(node)
    topic = node.create_subscription(String, "/say", hear, 1)
    recording.before_callbacks(node)
    timer.callback()
    assert topic.raw
    topic.callback(serialize_message(String(data="x")))
    assert calls == ["look", "x"]
    names = [each.name for each in entries]
    assert names == [f"timer {look.__qualname__} 0", "topic /say 0"]
    assert entries[1].received.data == serialize_message(String(data="x"))


def test_entities_of_one_kind_have_unique_names():
    def look():
        """Stand in for a timer's callback."""

    each = SimpleNamespace(topic_name="/a"), SimpleNamespace(topic_name="/a")
    node = SimpleNamespace(subscriptions=each, timers=[SimpleNamespace(callback=look)], services=[])
    names = [name for name, _ in named_inputs(node)]
    assert names[:2] == ["topic /a 0", "topic /a 1"]
    assert names[2].startswith("timer ")
    assert names[2].endswith("look 0")


def test_the_default_is_the_plain_boundary():
    assert boundary_of(SimpleNamespace()) is LIVE
    assert boundary_of(SimpleNamespace(boundary=NODE)) is NODE


def received(form, argument):
    """Return a callback's argument in a replay."""
    recorded, replayed, entries = [], [], []
    recording = RecordingBoundary(NODE, SimpleNamespace(put=entries.append))
    recording.wrap("it", recorded.append, form)(argument)
    assert recorded == [argument]
    boundary = replaying()
    boundary.wrap("it", replayed.append, form)
    boundary.call("it", json.loads(json.dumps(entries[-1].given)))
    return replayed[0]


@pytest.mark.parametrize("accepted", [True, False])
def test_the_response_of_a_controller_is_replayed(accepted):
    handle = received(
        GOAL_RESPONSE, SimpleNamespace(result=lambda: SimpleNamespace(accepted=accepted))
    )
    assert handle.result().accepted is accepted
    handle.result().cancel_goal_async()
    assert isinstance(handle.result().get_result_async(), Future)


def test_feedback_and_result_of_a_controller_are_replayed():
    feedback = FollowJointTrajectory.Feedback()
    feedback.desired.positions = [0.1, -0.0]
    assert received(GOAL_FEEDBACK, SimpleNamespace(feedback=feedback)).feedback == feedback
    result = SimpleNamespace(error_string="too late")
    end = received(
        GOAL_END, SimpleNamespace(result=lambda: SimpleNamespace(status=6, result=result))
    )
    assert (end.result().status, end.result().result.error_string) == (6, "too late")


def test_a_head_goal_is_replayed():
    goal = PointHead.Goal(max_velocity=0.3)
    assert received(HEAD_GOAL, goal) == goal
    handle = received(HEAD_HANDLE, SimpleNamespace(request=goal))
    assert handle.request == goal
    handle.execute(None)
    handle.publish_feedback(PointHead.Feedback())
    handle.succeed()
    handle.canceled()
    handle.abort()


# Of another node --------------------------------------------------------------------------------


def replay_of(*names, node=NODE):
    """Let a node handle entries of some names, and nothing else."""
    played = Replay(SimpleNamespace(entries=lambda: iter(())))
    for name in names:
        played._handle(node, Entry(0, name, None, None, {}, []))
    return played


def raises():
    raise ZeroDivisionError("unforeseen")


METHODS = ("check_kernels", "start", "run_period", "handle_target", "give_up", "end")
OWN = {name: lambda: None for name in METHODS}


def test_an_unknown_input_is_an_error():
    node = SimpleNamespace(subscriptions=[], timers=[], services=[], **OWN)
    with pytest.raises(RecordingError, match="has 'topic /gone 0', which this node does not have"):
        replay_of("topic /gone 0", node=node)


def test_only_recorded_exceptions_may_be_raised_again():
    node = SimpleNamespace(
        subscriptions=[], timers=[], services=[], **OWN | {"handle_target": raises}
    )
    replay_of("handle_target", "give_up", "start", node=node)  # as the loop does
    with pytest.raises(RecordingError, match="which the recorded one did not"):
        replay_of("handle_target", "start", node=node)


def test_a_missing_or_extra_message_is_a_difference():
    played = replay_of()
    sent = Sent("/a", TEXT, WORD)
    assert played._compare(entry()._replace(sent=[sent]), 1.0).replayed is None
    played._boundary.sent = [sent]
    assert played._compare(entry(), 1.0).recorded is None
    assert played._compare(entry()._replace(sent=[sent]), 1.0) is None
    other = sent._replace(data=b"\0\1\0\0\2\0\0\0y\0")
    assert "data='y'" in str(played._compare(entry()._replace(sent=[other]), 1.0))
    # What fills the gaps between fields is whatever was in memory.
    padded = sent._replace(data=sent.data + b"\7\7")
    assert played._compare(entry()._replace(sent=[padded]), 1.0) is None


def test_without_a_recording_arguments_are_not_converted():
    def never(_):
        raise AssertionError

    callback = LIVE.wrap("it", len, Form(never, never))
    assert callback("abc") == 3


@pytest.mark.parametrize(
    ("difference", "stopped", "status", "words"),
    [
        (None, False, 0, "3 commands and 2 statuses in 1.5 s, all equal to the bit"),
        (None, True, 1, "3 commands and 2 statuses in 1.5 s are equal; it was stopped there"),
        (
            Difference(1.25, "timer look 0", Sent("/a", TEXT, WORD), None),
            False,
            1,
            "3 commands and 2 statuses in 1.5 s are equal; then it differs 1.250 s after the "
            "beginning, in 'timer look 0':\n"
            "  recorded: /a std_msgs.msg.String(data='x')\n"
            "  replayed: nothing",
        ),
    ],
    ids=["equal", "stopped", "differs"],
)
def test_the_outcome_of_a_replay_as_text(monkeypatch, capsys, difference, stopped, status, words):
    outcome, stop = Outcome(3, 2, 1.5, False, difference), Event()
    if stopped:
        stop.set()
    monkeypatch.setattr(replay, "set_up", lambda head: [])
    monkeypatch.setattr(replay, "Recorded", lambda path: SimpleNamespace(head={}))
    monkeypatch.setattr(replay, "Replay", lambda _: SimpleNamespace(run=lambda stop: outcome))
    monkeypatch.setattr("sys.argv", ["replay", "run.mcap"])
    assert replay.main(stop) == status
    assert capsys.readouterr().out == f"{words}\n"
