import math

import numpy as np
import pytest
import tf2_geometry_msgs
from geometry_msgs.msg import (
    Point,
    PointStamped,
    Pose,
    PoseStamped,
    PoseWithCovarianceStamped,
    Quaternion,
    TransformStamped,
    Vector3,
    Vector3Stamped,
    Wrench,
)
from rclpy.time import Time
from tf2_ros import Buffer, TypeException

HALF = math.sqrt(0.5)
QUARTER_TURN = Quaternion(z=HALF, w=HALF)  # about z: x to y, y to -x


@pytest.fixture
def transform():
    message = TransformStamped(child_frame_id="source")
    message.header.frame_id = "target"
    message.header.stamp = Time(seconds=5).to_msg()
    message.transform.translation = Vector3(x=10.0, y=20.0, z=30.0)
    message.transform.rotation = QUARTER_TURN
    return message


def in_source(kind, **fields):
    message = kind(**fields)
    message.header.frame_id = "source"
    message.header.stamp = Time(seconds=5).to_msg()
    return message


def xyz(message):
    return pytest.approx([message.x, message.y, message.z])


def xyzw(message):
    return pytest.approx([message.x, message.y, message.z, message.w])


def test_a_point_is_rotated_and_moved(transform):
    point = in_source(PointStamped, point=Point(x=1.0, y=2.0, z=3.0))
    moved = tf2_geometry_msgs.do_transform_point(point, transform)
    assert xyz(moved.point) == [8.0, 21.0, 33.0]
    assert moved.header == transform.header
    assert point.point.x == 1.0


def test_a_vector_is_rotated_only(transform):
    vector = in_source(Vector3Stamped, vector=Vector3(x=1.0, y=2.0, z=3.0))
    moved = tf2_geometry_msgs.do_transform_vector3(vector, transform)
    assert xyz(moved.vector) == [-2.0, 1.0, 3.0]
    assert moved.header == transform.header


def test_a_pose_is_rotated_and_moved(transform):
    pose = Pose(position=Point(x=1.0, y=2.0, z=3.0), orientation=QUARTER_TURN)
    moved = tf2_geometry_msgs.do_transform_pose(pose, transform)
    assert xyz(moved.position) == [8.0, 21.0, 33.0]
    assert xyzw(moved.orientation) == [0.0, 0.0, 1.0, 0.0]
    stamped = tf2_geometry_msgs.do_transform_pose_stamped(
        in_source(PoseStamped, pose=pose), transform
    )
    assert stamped.pose == moved
    assert stamped.header == transform.header


def test_rotations_are_composed_in_the_right_order(transform):
    pose = Pose(orientation=Quaternion(x=HALF, w=HALF))
    q = tf2_geometry_msgs.do_transform_pose(pose, transform).orientation
    assert xyzw(q) == [0.5, 0.5, 0.5, 0.5]


def test_the_axes_of_a_covariance_turn(transform):
    pose = in_source(PoseWithCovarianceStamped)
    pose.pose.pose.position.x = 1.0
    pose.pose.covariance = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).ravel()
    pose.pose.covariance[1] = pose.pose.covariance[6] = 0.5  # between x and y
    pose.pose.covariance[5] = 0.25  # between x and the turn about z
    moved = tf2_geometry_msgs.do_transform_pose_with_covariance_stamped(pose, transform)
    expected = np.diag([2.0, 1.0, 3.0, 5.0, 4.0, 6.0])
    expected[0, 1] = expected[1, 0] = -0.5
    expected[1, 5] = 0.25
    np.testing.assert_allclose(np.reshape(moved.pose.covariance, (6, 6)), expected, atol=1e-12)
    assert xyz(moved.pose.pose.position) == [10.0, 21.0, 30.0]
    assert moved.header == transform.header


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (PointStamped, "point"),
        (Vector3Stamped, "vector"),
        (PoseStamped, "pose.position"),
        (PoseWithCovarianceStamped, "pose.pose.position"),
    ],
)
def test_a_buffer_transforms_what_is_registered(transform, kind, part):
    buffer = Buffer()
    buffer.set_transform(transform, "test")
    moved = buffer.transform(in_source(kind), "target")
    assert type(moved) is kind
    assert moved.header == transform.header
    for name in part.split("."):
        moved = getattr(moved, name)
    assert ([0.0] * 3 if part == "vector" else [10.0, 20.0, 30.0]) == xyz(moved)


def test_a_buffer_refuses_other_types_by_name():
    with pytest.raises(TypeException, match="Wrench"):
        Buffer().transform(Wrench(), "target")
