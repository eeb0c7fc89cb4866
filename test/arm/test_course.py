# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Courses through places at given times."""

import numpy as np
import pytest

from basis_ik.arm.course import Course, pose_of, pose_rows
from basis_ik.transforms.rigid import RigidTransform


def at_many(course):
    times = np.linspace(course.times[0] - 0.1, course.end + 0.1, 2001)
    return times, np.array([course.at(time) for time in times])


@pytest.mark.parametrize("seed", range(20))
def test_a_course_is_at_its_places_stays_between_them_and_rests_at_the_last(seed):
    rng = np.random.default_rng(seed)
    times = np.cumsum(10.0 ** rng.uniform(-6.0, 0.0, 8))  # as uneven as may be
    rows = rng.normal(size=(8, 3))
    course = Course(times, rows, rng.normal(0.0, 100.0, 3) if seed % 2 else None)
    for k, time in enumerate(times):
        np.testing.assert_allclose(course.at(time)[0], rows[k], atol=1e-12)
    for k in range(7):
        for time in np.linspace(times[k], times[k + 1], 50):
            place = course.at(time)[0]
            assert (place >= np.minimum(rows[k], rows[k + 1]) - 1e-9).all()
            assert (place <= np.maximum(rows[k], rows[k + 1]) + 1e-9).all()
    np.testing.assert_array_equal(course.at(course.end)[1:], 0.0)
    np.testing.assert_array_equal(course.at(course.end + 1.0)[0], rows[-1])
    np.testing.assert_array_equal(course.at(times[0] - 1.0)[0], rows[0])


def test_velocities_and_accelerations_are_the_derivatives():
    times = np.array([0.0, 0.1, 0.25, 0.3])
    course = Course(times, np.array([[0.0], [0.2], [0.3], [0.5]]))
    for time in (0.05, 0.13, 0.28):
        before, here, after = (course.at(time + each)[0] for each in (-1e-4, 0.0, 1e-4))
        _, velocity, acceleration = course.at(time)
        np.testing.assert_allclose((after - before) / 2e-4, velocity, rtol=1e-4)
        np.testing.assert_allclose((after - 2 * here + before) / 1e-8, acceleration, rtol=1e-3)


def test_a_course_that_has_begun_is_not_begun_again():
    course = Course(np.array([0.0, 0.1]), np.array([[0.0], [0.2]]))
    assert course.begun(0.05, np.array([3.0]), None) is course
    before = course.begun(-0.1, np.array([-0.2]), np.array([1.0]))
    np.testing.assert_allclose(before.at(-0.1)[:2], [[-0.2], [1.0]])
    assert before.end == course.end


def test_poses_turn_the_short_way():
    poses = [RigidTransform.from_rpy(0.0, 0.0, yaw, [yaw, 0.0, 0.0]) for yaw in (3.0, 3.4, 3.8)]
    course = Course(np.array([0.1, 0.2, 0.3]), pose_rows(poses), poses=True)
    begin = RigidTransform.from_rpy(0.0, 0.0, 2.6, [2.6, 0.0, 0.0])
    for sign in (1.0, -1.0):  # q and -q are one rotation
        row = pose_rows([begin])[0] * np.array([1.0, 1.0, 1.0, *4 * [sign]])
        begun = course.begun(0.0, row, None)
        for time in np.linspace(0.0, 0.3, 31):
            pose = pose_of(begun.at(time)[0])
            yaw = float(pose.translation[0])
            wanted = RigidTransform.from_rpy(0.0, 0.0, yaw, [yaw, 0.0, 0.0])
            assert pose.is_close(wanted, 0.03)
