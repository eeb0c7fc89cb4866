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

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.time import Time

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def _stamped(parent, child, at=0.0, translation=(0.0, 0.0, 0.0), rotation=IDENTITY):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    message.header.stamp = Time(nanoseconds=round(at * 1e9)).to_msg()
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = translation
    q.x, q.y, q.z, q.w = rotation
    return message


@pytest.fixture(scope="session")
def stamped():
    return _stamped


@pytest.fixture(scope="session")
def numbers():
    def seven(message):
        t, q = message.transform.translation, message.transform.rotation
        return [t.x, t.y, t.z, q.x, q.y, q.z, q.w]

    return seven


@pytest.fixture(scope="session")
def seconds():
    return lambda at: Time(nanoseconds=round(at * 1e9))
