# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Which callbacks of a node run, and when, each case in its own process."""

import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import time

import rclpy
from basis_ik.ros.periodic_spinner import Inputs, PeriodicSpinner
from rclpy.duration import Duration
from std_msgs.msg import String
from std_srvs.srv import Trigger


def raises(*_):
    raise ZeroDivisionError("unforeseen")


rclpy.init()
node, other, calls, errors = rclpy.create_node("node"), rclpy.create_node("other"), [], []
inputs = Inputs()
spinner = PeriodicSpinner(node, inputs, 0.01, lambda error: errors.append(f"request: {error}"))


def send(publisher, message):
    publisher.publish(message)
    assert publisher.wait_for_all_acked(Duration(seconds=300.0))  # it waits to be handled


def spin(until=lambda: False, seconds=300.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        try:
            spinner.wait(0.005)
            spinner.handle_messages()
            spinner.handle_others()
        except ZeroDivisionError as error:
            errors.append(str(error))
        rclpy.spin_once(other, timeout_sec=0.0)


"""
END = """
spinner.shutdown()
node.destroy_node()
print(sorted(calls), errors)
"""


# What happens, and then the calls, sorted, and the exceptions that were handled.
CASES = {
    "exceptions of callbacks are raised and no message is lost": (
        """
    def take(message):
        calls.append(message.data)
        raises()

    node.create_subscription(String, "talk", take, 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    for k in range(3):
        talk.publish(String(data=str(k)))
    spin(lambda: len(calls) == 3)
    """,
        "['0', '1', '2'] ['unforeseen', 'unforeseen', 'unforeseen']",
    ),
    "exceptions of requests are handled": (
        """
    node.create_service(Trigger, "ask", raises)
    client = other.create_client(Trigger, "ask")
    spin(client.service_is_ready)
    client.call_async(Trigger.Request())
    spin(lambda: errors)
    """,
        "[] ['request: unforeseen']",
    ),
    "entities created while it spins are served": (
        """
    spin(seconds=0.1)
    node.create_timer(0.01, lambda: calls.append("tick"))
    spin(lambda: calls)
    node.create_subscription(String, "talk", lambda message: calls.append(message.data), 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    talk.publish(String(data="word"))
    spin(lambda: "word" in calls)
    calls[:] = sorted(set(calls))
    """,
        "['tick', 'word'] []",
    ),
    "actions are served": (
        """
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action import ActionClient, ActionServer

    def execute(goal):
        calls.append("executed")
        goal.succeed()
        return FollowJointTrajectory.Result()

    server = ActionServer(node, FollowJointTrajectory, "follow", execute)
    client = ActionClient(other, FollowJointTrajectory, "follow")
    spin(client.server_is_ready)
    client.send_goal_async(FollowJointTrajectory.Goal())
    spin(lambda: calls)
    server.destroy()
    client.destroy()
    """,
        "['executed'] []",
    ),
    "events are handled": (
        """
    from rclpy.event_handler import SubscriptionEventCallbacks
    from rclpy.qos import qos_profile_sensor_data

    told = SubscriptionEventCallbacks(incompatible_qos=lambda _: calls.append("unfit"))
    node.create_subscription(String, "talk", print, 10, event_callbacks=told)
    other.create_publisher(String, "talk", qos_profile_sensor_data)
    spin(lambda: calls)
    """,
        "['unfit'] []",
    ),
    "a request waits for the next check and no longer": (
        """
    def answer(request, response):
        calls.append("asked")
        return response

    node.create_service(Trigger, "ask", answer)
    client = other.create_client(Trigger, "ask")
    spin(client.service_is_ready)
    for _ in range(2):
        client.call_async(Trigger.Request())
        before = len(calls)
        while len(calls) == before:
            spinner.wait(0.0)  # for urgent messages alone
            spinner.handle_messages()
            assert len(calls) == before
            spinner.handle_others()
        calls.append(f"then {len(calls) - before}")
    """,
        "['asked', 'asked', 'then 1', 'then 1'] []",
    ),
    "an urgent message ends a wait and takes the newest of the others along": (
        """
    def hear(name, group, depth):
        def take(message):
            calls.append(f"{name} {message.data}")
        node.create_subscription(String, name, take, depth, callback_group=group)
        return other.create_publisher(String, name, depth)

    urgent, plain = hear("urgent", inputs.urgent, 1), hear("plain", None, 10)
    spin(lambda: urgent.get_subscription_count() == plain.get_subscription_count() == 1)
    send(plain, String(data="1"))
    calls.append(f"1 {spinner.wait(0.01)} {len(calls)}")
    send(urgent, String(data="2"))
    calls.append(f"2 {spinner.wait(60.0)} {len(calls) - 1}")
    """,
        "['1 False 0', '2 True 2', 'plain 1', 'urgent 2'] []",
    ),
    "all messages of a queue are handled in one turn": (
        """
    node.create_subscription(String, "talk", lambda message: calls.append(message.data), 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    for k in range(4):
        send(talk, String(data=str(k)))
    spinner = PeriodicSpinner(node, inputs, 60.0, print)
    spinner.handle_messages()
    """,
        "['0', '1', '2', '3'] []",
    ),
    "a turn ends although messages never do": (
        """
    def talk_on(message):
        calls.append("word")
        send(talk, message)

    node.create_subscription(String, "talk", talk_on, 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    talk.publish(String())
    spin(lambda: calls)
    calls[:] = ["it ends"]
    """,
        "['it ends'] []",
    ),
    "a coroutine that awaits keeps nothing from being handled": (
        """
    import threading
    from control_msgs.action import FollowJointTrajectory
    from rclpy.action import ActionClient, ActionServer
    from rclpy.task import Future

    result = Future()

    async def execute(goal):
        calls.append("1 begins")
        inputs.awaiting += 1
        await result
        inputs.awaiting -= 1
        goal.succeed()
        calls.append("4 ends")
        return FollowJointTrajectory.Result()

    def hear(name, order, group):
        node.create_subscription(
            String, name, lambda _: calls.append(f"{order} {name}"), 10, callback_group=group
        )
        return other.create_publisher(String, name, 10)

    server = ActionServer(node, FollowJointTrajectory, "follow", execute)
    client = ActionClient(other, FollowJointTrajectory, "follow")
    urgent, plain = hear("urgent", "2", inputs.urgent), hear("plain", "3", None)
    spin(client.server_is_ready)
    spin(lambda: urgent.get_subscription_count() == plain.get_subscription_count() == 1)
    client.send_goal_async(FollowJointTrajectory.Goal())
    spin(lambda: calls)
    spin(seconds=0.1)
    threading.Timer(0.3, lambda: urgent.publish(String())).start()
    assert spinner.wait(60.0)  # it neither returns at once nor sleeps through
    for _ in range(3):
        plain.publish(String())
    spin(lambda: len(calls) == 5)
    result.set_result(None)
    spin(lambda: len(calls) == 6)
    server.destroy()
    client.destroy()
    """,
        "['1 begins', '2 urgent', '3 plain', '3 plain', '3 plain', '4 ends'] []",
    ),
    "entities of foreign groups are handled as all others": (
        """
    from rclpy.callback_groups import ReentrantCallbackGroup

    foreign = ReentrantCallbackGroup()  # as tf2's listener has
    heard = node.create_subscription(
        String, "talk", lambda _: calls.append("word"), 10, callback_group=foreign
    )
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    send(talk, String())
    calls.append(f"after a wait {spinner.wait(0.0)} {len(calls)}")
    spinner.handle_messages()
    """,
        "['after a wait False 0', 'word'] []",
    ),
    "a destroyed timer is not called": (
        """
    timers = []

    def destroys(k):
        def tick():
            calls.append("tick")
            node.destroy_timer(timers[1 - k])
            node.destroy_timer(timers[k])
        return tick

    timers += [node.create_timer(0.2, destroys(0)), node.create_timer(0.2, destroys(1))]
    while not all(timer.is_ready() for timer in timers):
        pass
    spin(seconds=0.5)
    """,
        "['tick'] []",
    ),
    "a destroyed subscription is not called": (
        """
    heard = []

    def destroys(k):
        def take(message):
            calls.append("tick")
            node.destroy_subscription(heard[1 - k])
        return take

    heard += [node.create_subscription(String, "talk", destroys(k), 10) for k in range(2)]
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 2)
    send(talk, String())
    spin(seconds=0.5)
    """,
        "['tick'] []",
    ),
}


@pytest.mark.parametrize(("case", "expected"), CASES.values(), ids=CASES)
def test_callbacks_run_as_they_should(domain, case, expected):
    run = subprocess.run(
        [sys.executable, "-c", "\n".join([BEGIN, textwrap.dedent(case), END])],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == expected
