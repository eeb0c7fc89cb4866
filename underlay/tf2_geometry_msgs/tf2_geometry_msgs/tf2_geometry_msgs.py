"""Each function gives a new message; what is stamped gets the header of the transform."""

import numpy as np
from geometry_msgs.msg import (
    Point,
    PointStamped,
    Pose,
    PoseStamped,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Quaternion,
    TransformStamped,
    Vector3,
    Vector3Stamped,
)
from tf2_py import quaternion
from tf2_ros import TransformRegistration


def do_transform_point(point: PointStamped, transform: TransformStamped) -> PointStamped:
    """A point: rotated and moved."""
    pose = do_transform_pose(Pose(position=point.point), transform)
    return PointStamped(header=transform.header, point=pose.position)


def do_transform_vector3(vector3: Vector3Stamped, transform: TransformStamped) -> Vector3Stamped:
    """A free vector: rotated only."""
    v = vector3.vector
    x, y, z = quaternion.rotate(_pose(transform)[1], (v.x, v.y, v.z))
    return Vector3Stamped(header=transform.header, vector=Vector3(x=x, y=y, z=z))


def do_transform_pose(pose: Pose, transform: TransformStamped) -> Pose:
    """A pose without header."""
    p, q = pose.position, pose.orientation
    moved = quaternion.compose(_pose(transform), ((p.x, p.y, p.z), (q.x, q.y, q.z, q.w)))
    (px, py, pz), (x, y, z, w) = moved
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def do_transform_pose_stamped(pose: PoseStamped, transform: TransformStamped) -> PoseStamped:
    """A pose."""
    return PoseStamped(header=transform.header, pose=do_transform_pose(pose.pose, transform))


def do_transform_pose_with_covariance_stamped(
    pose: PoseWithCovarianceStamped, transform: TransformStamped
) -> PoseWithCovarianceStamped:
    """A pose and its 6x6 covariance (rows: x, y, z, and turns about them), whose axes turn too."""
    _, rotation = _pose(transform)
    turn = np.zeros((6, 6))
    axes = [quaternion.rotate(rotation, tuple(axis)) for axis in np.eye(3).tolist()]
    turn[:3, :3] = turn[3:, 3:] = np.transpose(axes)
    covariance = turn @ np.reshape(pose.pose.covariance, (6, 6)) @ turn.T
    moved = do_transform_pose(pose.pose.pose, transform)
    return PoseWithCovarianceStamped(
        header=transform.header,
        pose=PoseWithCovariance(pose=moved, covariance=covariance.ravel()),
    )


def _pose(transform: TransformStamped) -> quaternion.Pose:
    t, q = transform.transform.translation, transform.transform.rotation
    return (t.x, t.y, t.z), (q.x, q.y, q.z, q.w)


for _type, _function in (
    (PointStamped, do_transform_point),
    (Vector3Stamped, do_transform_vector3),
    (PoseStamped, do_transform_pose_stamped),
    (PoseWithCovarianceStamped, do_transform_pose_with_covariance_stamped),
):
    TransformRegistration().add(_type, _function)
