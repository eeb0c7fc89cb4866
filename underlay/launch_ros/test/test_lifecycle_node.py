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

from __future__ import annotations

from logging import ERROR, Handler

import pytest
from launch.actions import EmitEvent, LogInfo, OpaqueFunction, RegisterEventHandler, Shutdown
from launch.events import Shutdown as ShutdownEvent
from launch.events import matches_action
from launch.logging import get_logger
from launch.substitutions import TextSubstitution
from launch_ros.actions import LifecycleNode, Node, lifecycle_node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState, matches_node_name
from lifecycle_msgs.msg import Transition

MANAGED = """
    import sys
    import rclpy
    from lifecycle_msgs.srv import ChangeState
    from rclpy.executors import ExternalShutdownException
    from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
    from rclpy.service import Service

    class Managed(LifecycleNode):
        tries = 0

        def on_configure(self, state):
            self.tries += 1
            if "refuse" in sys.argv or ("refuse_once" in sys.argv and self.tries == 1):
                return TransitionCallbackReturn.FAILURE
            return TransitionCallbackReturn.SUCCESS

    def answer(service, response, header, send=Service.send_response, lost=[]):
        if "forget" in sys.argv and not lost and isinstance(response, ChangeState.Response):
            lost.append(response)
        else:
            send(service, response, header)

    try:
        Service.send_response = answer
        rclpy.init()
        rclpy.spin(Managed("managed"))
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
"""


def managed(**arguments):
    names = {"name": "managed_here", "namespace": "ns"}
    return LifecycleNode(
        package="pkg", executable="managed", output="screen", **{**names, **arguments}
    )


def on(node, state, *entities):
    handler = OnStateTransition(
        target_lifecycle_node=node, goal_state=state, entities=list(entities)
    )
    return RegisterEventHandler(handler)


def request(matcher, transition):
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matcher, transition_id=transition))


def test_a_managed_node_is_taken_from_state_to_state(run, package):
    package("pkg", managed=MANAGED)
    node = managed()
    activate = request(matches_node_name("/ns/managed_here"), Transition.TRANSITION_ACTIVATE)
    code, out = run(
        on(node, "inactive", LogInfo(msg="is inactive"), activate),
        on(node, "active", LogInfo(msg="is active"), Shutdown()),
        node,
        request(matches_action(node), Transition.TRANSITION_CONFIGURE),
    )
    assert code == 0
    assert 0 < out.index("is inactive") < out.index("is active")
    assert "process has finished cleanly" in out


@pytest.mark.parametrize("autostart", [True, TextSubstitution(text="true")])
def test_autostart(run, package, autostart):
    package("pkg", managed=MANAGED)
    node = managed(autostart=autostart)
    code, out = run(on(node, "active", LogInfo(msg="is active"), Shutdown()), node)
    assert code == 0
    assert "is active" in out


def test_a_refused_transition_is_told(run, package):
    package("pkg", managed=MANAGED)
    node = managed(autostart=True, arguments=["refuse"])

    def end_on_error(context):
        def emit(record):
            if record.levelno == ERROR:
                context.emit_event_sync(ShutdownEvent())

        handler = Handler()
        handler.emit = emit
        get_logger("managed-1").addHandler(handler)

    code, out = run(OpaqueFunction(function=end_on_error), node)
    assert code == 0
    assert "Failed to make transition 1 (to inactive) of '/ns/managed_here'" in out


def test_the_news_of_a_transition_that_was_lost_is_made_up_for(run, package, monkeypatch):
    package("pkg", managed=MANAGED)
    monkeypatch.setattr(lifecycle_node, "_NEWS_GRACE", 0.1)
    elsewhere = [("~/transition_event", "elsewhere")]
    node = managed(autostart=True, remappings=elsewhere)
    code, out = run(on(node, "active", LogInfo(msg="is active"), Shutdown()), node)
    assert code == 0
    assert "is active" in out


@pytest.mark.parametrize("arguments", [["forget"], ["forget", "refuse_once"]])
def test_an_answer_that_was_lost_is_asked_for_again(run, package, monkeypatch, arguments):
    package("pkg", managed=MANAGED)
    monkeypatch.setattr(lifecycle_node, "_NEWS_GRACE", 0.1)
    monkeypatch.setattr(lifecycle_node, "_ANSWER_GRACE", 0.3)
    elsewhere = [("~/transition_event", "elsewhere")]  # so that only the answer counts
    node = managed(autostart=True, arguments=arguments, remappings=elsewhere)
    code, out = run(on(node, "active", LogInfo(msg="is active"), Shutdown()), node)
    assert code == 0
    assert "is active" in out
    assert "Failed" not in out


def test_a_transition_of_a_node_that_ends_is_abandoned(run, package):
    package("pkg", managed="import sys; sys.exit(3)")
    code, out = run(managed(autostart=True))
    assert code == 0
    assert "Abandoning transition 1 (to inactive) of '/ns/managed_here'" in out


def test_name_and_namespace_are_needed():
    with pytest.raises(TypeError, match="namespace"):
        LifecycleNode(package="pkg", executable="managed", name="n")


def test_what_upstream_refuses_is_refused_when_it_is_made():
    with pytest.raises(TypeError, match="autostart must be a bool or a substitution"):
        managed(autostart="true")
    with pytest.raises(ValueError, match=r"transition_id is 99, and .*CONFIGURE: 1"):
        ChangeState(lifecycle_node_matcher=matches_node_name("n"), transition_id=99)
    with pytest.raises(RuntimeError, match="OnStateTransition needs a LifecycleNode"):
        OnStateTransition(target_lifecycle_node=Node(executable="x"), entities=[])


def test_a_matcher_of_ones_own_chooses_the_events():
    assert OnStateTransition(matcher=lambda event: event == "mine", entities=[]).matches("mine")
