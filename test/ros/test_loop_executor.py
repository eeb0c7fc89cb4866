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

"""What the loop's executor makes of a node's callbacks, each case in its own process."""

import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import time

import rclpy
from basis_ik.ros.loop_executor import LoopExecutor
from std_msgs.msg import String
from std_srvs.srv import Trigger


def raises(*_):
    raise ZeroDivisionError("unforeseen")


rclpy.init()
node, other, calls, errors = rclpy.create_node("node"), rclpy.create_node("other"), [], []
node.create_timer(0.01, lambda: None)
executor = LoopExecutor(lambda error: errors.append(f"request: {error}"))
executor.add_node(node)


def spin(until=lambda: False, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        try:
            executor.spin_once()
        except ZeroDivisionError as error:
            errors.append(str(error))
        rclpy.spin_once(other, timeout_sec=0.0)


"""
END = """
executor.shutdown()
node.destroy_node()
print(sorted(calls), errors)
"""


def outcome(domain, *case):
    """Run the parts of a case; return the calls and the handled exceptions."""
    run = subprocess.run(
        [sys.executable, "-c", "\n".join([BEGIN, *map(textwrap.dedent, case), END])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_exceptions_of_callbacks_are_raised_and_no_message_is_lost(domain):
    case = """
    def take(message):
        calls.append(message.data)
        raises()

    node.create_subscription(String, "talk", take, 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    for k in range(3):
        talk.publish(String(data=str(k)))
    spin(lambda: len(calls) == 3, 3.0)
    """
    assert outcome(domain, case) == f"['0', '1', '2'] {['unforeseen'] * 3}"


def test_exceptions_of_requests_are_handled(domain):
    case = """
    node.create_service(Trigger, "ask", raises)
    client = other.create_client(Trigger, "ask")
    spin(client.service_is_ready)
    client.call_async(Trigger.Request())
    spin(lambda: errors)
    """
    assert outcome(domain, case) == "[] ['request: unforeseen']"


def test_entities_created_while_it_spins_are_served(domain):
    case = """
    spin(seconds=0.1)
    node.create_timer(0.01, lambda: calls.append("tick"))
    spin(lambda: calls, 3.0)
    node.create_subscription(String, "talk", lambda message: calls.append(message.data), 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    talk.publish(String(data="word"))
    spin(lambda: "word" in calls, 3.0)
    calls[:] = sorted(set(calls))
    """
    assert outcome(domain, case) == "['tick', 'word'] []"


def test_a_node_added_while_it_spins_is_served_until_it_is_removed(domain):
    case = """
    spin(seconds=0.1)
    third = rclpy.create_node("third")
    third.create_timer(0.01, lambda: calls.append("tick"))
    executor.add_node(third)
    spin(lambda: calls, 3.0)
    executor.remove_node(third)
    spin(seconds=0.05)
    before = len(calls)
    spin(seconds=0.1)
    calls[:] = [str(before > 0 and len(calls) == before)]
    third.destroy_node()
    """
    assert outcome(domain, case) == "['True'] []"


def test_every_way_to_spin_serves_timers_messages_and_services(domain):
    case = """
    from rclpy.task import Future

    def answer(request, response):
        calls.append("asked")
        return response

    ticks, done = [], Future()
    silent = rclpy.create_node("silent")  # has no timer
    silent.create_service(Trigger, "ask", answer)
    executor.remove_node(node)
    executor.add_node(silent)
    client = other.create_client(Trigger, "ask")
    asked = client.call_async(Trigger.Request()) if client.wait_for_service(5.0) else None
    for _ in range(10):
        executor.spin_once(timeout_sec=0.05)
    executor.spin_until_future_complete(done, timeout_sec=0.1)  # ends
    executor.add_node(node)
    node.create_timer(0.01, lambda: (ticks.append("tick"), len(ticks) == 5 and done.set_result(1)))
    executor.spin_until_future_complete(done, timeout_sec=10.0)
    calls.append(str(len(ticks) == 5))
    silent.destroy_node()
    """
    assert outcome(domain, case) == "['True', 'asked'] []"


@pytest.mark.parametrize("entity", ["timer", "subscription"])
def test_a_coroutine_as_callback_is_refused(domain, entity):
    create = {
        "timer": "node.create_timer(0.01, callback)",
        "subscription": 'node.create_subscription(String, "talk", callback, 1)',
    }
    name = {"timer": "a timer", "subscription": "/talk"}
    case = """
    async def callback(*_):
        pass

    {create}
    try:
        executor.spin_once()
    except TypeError as error:
        calls.append(str(error))
    """
    words = f"the callback of {name[entity]} must be a function, not a coroutine"
    assert outcome(domain, case.format(create=create[entity])) == f"['{words}'] []"


def test_actions_are_served(domain):
    case = """
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
    spin(lambda: calls, 5.0)
    server.destroy()
    client.destroy()
    """
    assert outcome(domain, case) == "['executed'] []"


def test_events_are_handled(domain):
    case = """
    from rclpy.event_handler import SubscriptionEventCallbacks
    from rclpy.qos import qos_profile_sensor_data

    told = SubscriptionEventCallbacks(incompatible_qos=lambda _: calls.append("unfit"))
    node.create_subscription(String, "talk", print, 10, event_callbacks=told)
    other.create_publisher(String, "talk", qos_profile_sensor_data)
    spin(lambda: calls, 5.0)
    """
    assert outcome(domain, case) == "['unfit'] []"


def test_messages_come_before_timers(domain):
    case = """
    node.create_subscription(String, "talk", lambda _: calls.append("1 message"), 10)
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 1)
    node.create_timer(0.2, lambda: calls.append("2 timer"))
    spin(seconds=0.05)
    talk.publish(String())
    time.sleep(0.5)
    executor.spin_once()
    first = list(calls)
    spin(lambda: len(calls) == 2, 3.0)
    calls[:] = [str(first == ["1 message", "2 timer"])]
    """
    assert outcome(domain, case) == "['True'] []"


def test_a_slow_loop_checks_services_in_every_period(domain):
    case = """
    def answer(request, response):
        calls.append("asked")
        return response

    node.create_service(Trigger, "ask", answer)
    client = other.create_client(Trigger, "ask")
    spin(client.service_is_ready)
    for _ in range(2):
        client.call_async(Trigger.Request())
        time.sleep(0.3)
        executor.spin_once()
    """
    assert outcome(domain, case) == "['asked', 'asked'] []"


DESTROYED = {
    "timer": """
    timers = []

    def destroys(k):
        def tick():
            calls.append("tick")
            node.destroy_timer(timers[1 - k])
            node.destroy_timer(timers[k])
        return tick

    timers += [node.create_timer(0.2, destroys(0)), node.create_timer(0.2, destroys(1))]
    """,
    "subscription": """
    heard = []

    def destroys(k):
        def take(message):
            calls.append("tick")
            node.destroy_subscription(heard[1 - k])
        return take

    heard += [node.create_subscription(String, "talk", destroys(k), 10) for k in range(2)]
    talk = other.create_publisher(String, "talk", 10)
    spin(lambda: talk.get_subscription_count() == 2)
    talk.publish(String())
    """,
}


@pytest.mark.parametrize("kind", DESTROYED)
def test_destroyed_entities_are_not_called(domain, kind):
    together = """
    time.sleep(0.5)
    spin(seconds=0.5)
    """
    assert outcome(domain, DESTROYED[kind], together) == "['tick'] []"
