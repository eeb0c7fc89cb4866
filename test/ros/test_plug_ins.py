# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Plug-ins go with the robot: what they hold in the node is given up, however often."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from tf2_ros import Buffer
from visualization_msgs.msg import InteractiveMarkerControl
from visualization_msgs.msg import InteractiveMarkerFeedback as Feedback

from basis_ik.arm.admission import Refusals
from basis_ik.arm.goals import Ray
from basis_ik.arm.statistics import ArmMeter, LoopMeter
from basis_ik.collision.world import World
from basis_ik.robot.robot import RobotModel
from basis_ik.ros import loaded_robot
from basis_ik.ros.diagnostics import Diagnostics
from basis_ik.ros.loaded_robot import Description, Robot
from basis_ik.ros.rviz.drag import ClickedPoint, Drag
from basis_ik.ros.rviz.markers import Markers

URDF = Path(__file__).parents[2] / "urdf" / "ur5e.urdf"


@pytest.fixture(scope="module")
def node(domain):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("holder", context=context)
    yield node
    node.destroy_node()
    context.try_shutdown()


def controller(*, resolve="~/{}".format, take_pose=None, take_point=None, **arm):
    """A stand-in for a chain's controller; keywords are its own and its arm's attributes."""
    model = RobotModel.from_urdf(URDF.read_text())
    of_arm = {
        "name": "",
        "model": model,
        "chain": model.chain(),
        "tool": SimpleNamespace(chain=model.chain()),
        "ray": Ray((1.0, 0.0, 0.0)),
        "go_home": lambda: None,
        "go_to_posture": lambda posture: None,
        "postures": {"home": (0.0,) * 6},
        "meter": ArmMeter(),
        "measured": SimpleNamespace(positions=lambda: np.zeros(6), age=lambda now: 0.0),
        "targets": SimpleNamespace(target=None, preview=None, age=lambda now: None),
        "refusals": Refusals(lambda: 0.0),
        "stop": lambda: None,
        "enable": lambda: None,
        "settings": SimpleNamespace(follow_drag="live"),
        "leave": lambda: None,
        "shown": (None, None),
        "state": SimpleNamespace(latch=None, why_not=""),
        "pipeline": SimpleNamespace(goal=None),
    }
    return SimpleNamespace(
        arm=SimpleNamespace(**{**of_arm, **arm}),
        resolve=resolve,
        take_pose=take_pose,
        take_point=take_point,
        go=lambda: None,
        gripper=None,
    )


def held(node):
    kinds = (node.publishers, node.subscriptions, node.services, node.clients, node.timers)
    return tuple(len(list(kind)) for kind in kinds)


MAKERS = {
    "markers": lambda node, controller: Markers(node, controller, 10.0),
    "drag": Drag,
    "clicked point": lambda node, controller: ClickedPoint(node, []),
    "diagnostics": lambda node, controller: Diagnostics(
        node, [controller.arm], LoopMeter(0.01), Buffer(), SimpleNamespace(unused=[])
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_destruction_leaves_no_entities(node, make):
    before = held(node)
    for _ in range(3):
        plug_in = make(node, controller())
        assert held(node) != before
        plug_in.destroy()
        assert held(node) == before


def test_a_handle_waits_for_joint_states(node):
    unknown = SimpleNamespace(positions=lambda: np.full(6, np.nan))
    drag = Drag(node, controller(measured=unknown))
    before = held(node)
    drag._update()
    assert held(node) == before
    assert drag._server.get("target") is None
    drag.destroy()


@pytest.mark.parametrize(("robot", "rings"), [("ur5e", 3), ("pan_tilt", 0)])
def test_the_handle_of_a_head_is_a_point(node, robot, rings):
    chain = RobotModel.from_urdf((URDF.parent / f"{robot}.urdf").read_text()).chain()
    still = SimpleNamespace(positions=lambda: np.zeros(len(chain.joint_names)))
    tool = SimpleNamespace(chain=chain)
    drag = Drag(node, controller(chain=chain, tool=tool, measured=still))
    drag._update()
    turn = InteractiveMarkerControl.ROTATE_AXIS
    controls = drag._server.get("target").controls
    assert sum(control.interaction_mode == turn for control in controls) == rings
    drag.destroy()


def test_a_pose_is_dragged_straight(node):
    taken = []

    def take_pose(message, *, straight, held):
        taken.append((message.header.frame_id, straight, held))

    drag = Drag(node, controller(take_pose=take_pose))
    drag._update()
    feedback = Feedback(event_type=Feedback.POSE_UPDATE)
    feedback.header.frame_id = "base_link"
    drag._on_feedback(feedback)
    drag.destroy()
    assert taken == [("base_link", True, True)]


def test_a_clicked_point_is_for_the_last_dragged_arm(node):
    points = {"left": [], "right": []}
    drags = {}
    for side, taken in points.items():
        of_side = {
            "resolve": f"~/{side}/{{}}".format,
            "take_pose": lambda pose, straight, held: None,
            "take_point": taken.append,
        }
        drags[side] = Drag(node, controller(**of_side))
        drags[side]._update()
    clicked = ClickedPoint(node, list(drags.values()))
    clicked._on_point("before any was used")
    for side in ("right", "left"):
        drags[side]._on_feedback(Feedback(event_type=Feedback.POSE_UPDATE))
        clicked._on_point(side)
    clicked.destroy()
    for drag in drags.values():
        drag.destroy()
    assert points == {"left": ["before any was used", "left"], "right": ["right"]}


def test_a_failing_plug_in_destroys_the_others(monkeypatch):
    made = []

    def make(*_):
        made.append(SimpleNamespace(destroy=lambda: made.pop()))
        yield made[0]
        raise RuntimeError("the second")

    monkeypatch.setattr(loaded_robot, "make_plug_ins", make)
    no_arms = Description("", None, {})
    parameters = {
        "robot_description_semantic": "",
        "point_cloud_topic": "",
        "point_cloud_max_age": 1.0,
    }
    loaded = Robot(SimpleNamespace(world=World()), no_arms, parameters, None, {})
    with pytest.raises(RuntimeError, match="the second"):
        loaded.plug_in(None)
    loaded.destroy()
    assert made == []
