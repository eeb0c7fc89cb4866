# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A stand-in for RViz, or for the page in the browser, with its hand on the handle."""

import numpy as np
from bench import PERIOD
from geometry_msgs.msg import Pose
from visualization_msgs.msg import InteractiveMarkerControl, InteractiveMarkerFeedback
from visualization_msgs.srv import GetInteractiveMarkers

from basis_ik.ros.convert import pose_message

SHOWN = 0.1 + 2 * 0.02 + PERIOD  # s until the handle is updated


class Viewer:
    """A stand-in for RViz's side of an interactive marker."""

    def __init__(self, robot):
        self._robot, self._feedback = robot, robot.topic("target/feedback")

    def marker(self):
        answer = self._robot.call(GetInteractiveMarkers, "target/get_interactive_markers")
        return answer.markers[0]

    def say(self, event, pose=None, entry=0, control="move_x"):
        message = InteractiveMarkerFeedback(
            client_id="viewer",
            marker_name="target",
            control_name=control,
            event_type=getattr(InteractiveMarkerFeedback, event),
            menu_entry_id=entry,
        )
        message.header.frame_id = "base_link"
        if pose is not None:
            message.pose = pose if isinstance(pose, Pose) else pose_message(pose)
        self._feedback.publish(message)
        self._robot.run(2 * PERIOD)

    def drag(self, pose):
        self.say("POSE_UPDATE", pose)
        self.say("MOUSE_UP", pose)

    def entries(self):
        return {e.title.removeprefix("[x] ").removeprefix("[ ] "): e.id
                for e in self.marker().menu_entries}  # fmt: skip

    def choose(self, title):
        self.say("MENU_SELECT", entry=self.entries()[title])
        self._robot.run(SHOWN)

    def place(self):
        return xyz(self.marker().pose.position)

    def checked(self):
        return [e.title[4:] for e in self.marker().menu_entries if e.title.startswith("[x] ")]

    def turns(self):
        turn = InteractiveMarkerControl.ROTATE_AXIS
        return sum(c.interaction_mode == turn for c in self.marker().controls)


def xyz(point):
    return np.array([point.x, point.y, point.z])
