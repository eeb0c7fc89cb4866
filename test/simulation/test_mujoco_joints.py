# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The engine with masses against closed forms: gravity, efforts, servo, brakes and contacts."""

import math
from pathlib import Path

import numpy as np
import pytest
from heavy_robots import DT, joint, robot, rod, run, simulate

from basis_ik.robot.robot import RobotModel
from basis_ik.simulation.control_loop import ControlLoop
from basis_ik.simulation.mujoco_joints import DRIVE_BANDWIDTH
from basis_ik.simulation.mujoco_scene import PhysicsError
from basis_ik.simulation.simulated_robot import SimulatedRobot
from basis_ik.simulation.tolerances import Tolerances
from basis_ik.simulation.trajectory_command import TrajectoryCommand, Waypoint
from basis_ik.simulation.trajectory_controller import GoalStatus, TrajectoryController

URDFS = Path(__file__).parents[2] / "urdf"
G = 9.81
POWERLESS = 'lower="-9" upper="9" velocity="9" effort="1e-9"'


def pendulum(**attributes):
    """Return a rod of 1 kg and 1 m, which hangs down at zero."""
    return robot(joint("swing", rod(), **attributes))


def period_of(amplitude):
    """Return a physical pendulum's exact period, by the arithmetic-geometric mean.

    For a rod about its end ω² = m g (L / 2) / (m L² / 3).
    """
    a, b = 1.0, math.cos(0.5 * amplitude)
    while abs(a - b) > 1e-15:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2.0 * math.pi / math.sqrt(1.5 * G) / a


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5])
def test_a_drive_without_effort_lets_a_pendulum_swing_with_the_exact_period(amplitude):
    drives, _ = simulate(pendulum(limit=POWERLESS), [amplitude])
    period = period_of(amplitude)
    angles = run(drives, [amplitude], 4.2 * period, 0.001)[:, 0]
    falling = np.flatnonzero((angles[:-1] > 0.0) & (angles[1:] <= 0.0))
    assert len(falling) == 4
    assert np.diff(falling).mean() * 0.001 == pytest.approx(period, rel=1e-3)
    # Nothing else takes or gives energy, either.
    assert angles[-round(1.5 * period / 0.001) :].max() == pytest.approx(amplitude, rel=0.01)


@pytest.mark.parametrize(
    ("resists", "left"),
    [
        ('damping="0.05"', 0.3 * math.exp(-0.05 / (2.0 / 3.0) * 8.0)),
        # Each half swing loses twice the angle at which gravity's effort is the friction.
        ('friction="0.02"', 0.3 - 2.0 * 0.02 / (0.5 * G) * 8.0 / (0.5 * period_of(0.3))),
    ],
    ids=["damping", "friction"],
)
def test_damping_and_friction_of_the_description_brake_a_swing(resists, left):
    drives, _ = simulate(pendulum(limit=POWERLESS, extra=f"<dynamics {resists}/>"), [0.3])
    swing = round(period_of(0.3) / DT)
    told = run(drives, [0.3], 8.0 + 0.5 * swing * DT)[:, 0]
    assert told[-swing:].max() == pytest.approx(left, rel=0.05)


def test_an_arm_stands_still_under_gravity():
    text = robot(
        joint("shoulder", rod(5.0, 0.5, "1 0 0")),
        joint("elbow", rod(3.0, 0.4, "1 0 0"), parent="shoulder_link", xyz="0.5 0 0"),
        joint("lift", rod(2.0, 0.1, "1 0 0"), "0 0 1", "prismatic", "elbow_link", "0.4 0 0"),
    )
    drives, _ = simulate(text, [0.3, -0.5, 0.1])
    np.testing.assert_allclose(run(drives, [0.3, -0.5, 0.1], 2.0)[-1], [0.3, -0.5, 0.1], atol=1e-9)
    np.testing.assert_allclose(drives.velocities, 0.0, atol=1e-9)


@pytest.mark.parametrize("dt", [0.001, 0.002, DT, 0.1])
def test_a_servo_follows_a_trajectory(dt):
    drives, _ = simulate(pendulum(), [0.0])
    worst = 0.0
    for i in range(1, round(3.0 / dt)):
        wanted = 0.5 * (1.0 - math.cos(2.0 * i * dt))
        drives.step(np.array([wanted]), dt)
        worst = max(worst, abs(wanted - drives.positions[0]))
    # Acceleration is not fed forward; beside it a corner in the set points at every step.
    assert worst < 4.0 * 0.5 / DRIVE_BANDWIDTH**2 + 2.0 * dt**2 + 2e-4


def test_the_effort_limits_the_acceleration():
    limit = 'velocity="99" effort="0.5"'
    free = joint("wheel", rod(1.0, 1.0, "0 0 0"), kind="continuous", limit=limit)
    drives, _ = simulate(robot(free))
    told = run(drives, [50.0], 0.4)[:, 0]
    acceleration = 0.5 * 12.0  # of a rod of 1 kg and 1 m about its middle
    np.testing.assert_allclose(told[-1], 0.5 * acceleration * 0.4**2, rtol=0.01)


def test_an_overloaded_arm_sags_with_a_tracking_error():
    # Gravity asks for 4.9 Nm of a horizontal rod.
    strong = joint(
        "lift", rod(along="1 0 0"), limit='lower="-1" upper="1.5" velocity="9" effort="6"'
    )
    weak = strong.replace('effort="6"', 'effort="4"')
    assert run(simulate(robot(strong))[0], [0.0], 2.0)[-1] == pytest.approx(0.0, abs=1e-6)
    told = run(simulate(robot(weak))[0], [0.0], 5.0)[:, 0]
    # It swings about where 4 Nm balance gravity.
    assert told.max() > math.acos(4.0 / 4.905)
    assert told[60] > 0.05
    assert np.all(told >= -1e-6)


def test_a_drive_keeps_its_greatest_speed_and_ends_at_the_limit_of_its_joint():
    drives, _ = simulate(pendulum(limit='lower="-1" upper="0.5" velocity="2" effort="1000"'))
    told = run(drives, [9.0], 2.0)[:, 0]
    # A drive that begins with its greatest speed overshoots it by an eighth.
    assert np.diff(told).max() < 1.15 * 2.0 * DT
    assert np.diff(told)[10:].max() < 1.01 * 2.0 * DT
    assert told[-1] == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("target", [math.nan, math.inf])
def test_a_joint_without_a_finite_target_stays_put(target):
    drives, _ = simulate(pendulum(), [0.4])
    assert run(drives, [target], 0.5)[-1] == pytest.approx(0.4, abs=1e-6)


def test_brakes_hold_under_gravity_and_let_go():
    drives, _ = simulate(robot(joint("lift", rod(along="1 0 0"))))
    run(drives, [1.0], 0.08)
    drives.stopped = True
    told = run(drives, [1.0], 1.0)[:, 0]
    assert 0.0 < told[0] < 1.0
    np.testing.assert_allclose(told[-60:], told[-1], atol=1e-5)
    np.testing.assert_allclose(drives.velocities, 0.0, atol=1e-5)
    np.testing.assert_allclose(run(drives, [-1.0], 3.0)[-1], told[-1], atol=1e-4)
    drives.stopped = False
    assert run(drives, [1.0], 1.0)[-1] == pytest.approx(1.0, abs=1e-3)


def test_a_brake_is_as_strong_as_its_drive():
    """Braking from 2 rad/s with 1 Nm, 1 / 12 kg m² turn by another 1 / 6 rad."""
    limit = 'velocity="2" effort="1"'
    free = joint("wheel", rod(1.0, 1.0, "0 0 0"), kind="continuous", limit=limit)
    drives, _ = simulate(robot(free))
    run(drives, [50.0], 1.0)
    begin, speed = drives.positions[0], drives.velocities[0]
    drives.stopped = True
    told = run(drives, [50.0], 1.0)[:, 0]
    assert told[-1] - begin == pytest.approx(0.5 * speed**2 / 12.0, rel=0.05)
    # Released without a command, the drive holds the joint where it came to rest.
    drives.stopped = False
    np.testing.assert_allclose(run(drives, [math.nan], 0.5)[:, 0], told[-1], atol=1e-4)


def test_a_blocked_joint_stays_and_the_others_move():
    text = robot(
        joint("shoulder", rod(along="1 0 0")),
        joint("elbow", rod(along="1 0 0"), parent="shoulder_link", xyz="1 0 0"),
    )
    drives, _ = simulate(text, time_constant=0.2)  # a jump would tear the brake loose
    drives.blocked = np.array([True, False])
    np.testing.assert_allclose(run(drives, [0.5, 0.5], 2.0)[-1], [0.0, 0.5], atol=1e-3)


def test_a_brake_holds_where_no_effort_is_stated():
    drives, _ = simulate(robot(joint("lift", rod(along="1 0 0"), limit=POWERLESS[:-14])))
    drives.stopped = True
    np.testing.assert_allclose(run(drives, [0.0], 2.0)[-1], 0.0, atol=1e-4)


def test_the_measured_state_has_the_given_delay():
    late, _ = simulate(pendulum(), [0.0], feedback_delay=5 * DT)
    prompt, _ = simulate(pendulum(), [0.0])
    np.testing.assert_array_equal(run(late, [1.0], 50 * DT)[5:], run(prompt, [1.0], 50 * DT)[:-5])


def test_set_points_have_the_given_lag():
    drives, _ = simulate(pendulum(), [0.0], time_constant=0.2)
    told = run(drives, [0.2], 1.0)[:, 0]
    expected = 0.2 * (1.0 - np.exp(-DT * np.arange(1, len(told) + 1) / 0.2))
    np.testing.assert_allclose(told, expected, atol=0.01)


def test_mimic_joints_load_their_masters_drive():
    finger = joint(
        "finger", rod(2.0, 0.5, "1 0 0"), xyz="0 1 2", extra='<mimic joint="lead" multiplier="-2"/>'
    )
    lead = joint(
        "lead", rod(1.0, 0.5, "1 0 0"), limit='lower="-9" upper="9" velocity="9" effort="8"'
    )
    drives, _ = simulate(robot(lead, finger))
    # 2.4 Nm of its own against twice 4.9 Nm of the other one: within the effort, and exact.
    assert run(drives, [0.0], 1.0)[-1] == pytest.approx(0.0, abs=1e-6)
    weak, _ = simulate(robot(lead.replace('effort="8"', 'effort="7"'), finger))
    assert run(weak, [0.0], 1.0)[-1] < -0.05


def test_a_continuous_joint_turns_on():
    wheel = joint("wheel", rod(), limit='velocity="9" effort="100"').replace(
        "revolute", "continuous"
    )
    drives, _ = simulate(robot(wheel))
    assert run(drives, [20.0], 4.0)[-1] == pytest.approx(20.0, abs=1e-3)


def ball_at(x):
    return f'<collision><origin xyz="{x}"/><geometry><sphere radius="0.1"/></geometry></collision>'


def test_the_ground_stops_a_link():
    ball = ball_at("1 0 0")
    arm = joint("lift", rod(along="1 0 0", shape=ball), xyz="0 0 0.5")
    limited = arm.replace('effort="1000"', 'effort="20"')
    told = run(simulate(robot(limited))[0], [1.4], 2.0)[:, 0]
    touch = math.asin(0.4)  # of a ball of 0.1 m, 1 m from an axis 0.5 m above the ground
    assert told[-1] == pytest.approx(touch, abs=0.01)
    without = run(simulate(robot(limited.replace(ball, "")))[0], [1.4], 2.0)[:, 0]
    assert without[-1] == pytest.approx(1.4, abs=1e-3)


def test_the_ground_is_below_a_robot_that_begins_below_its_root():
    ball = (
        '<collision><origin xyz="0 0 -1"/><geometry><sphere radius="0.1"/></geometry></collision>'
    )
    leg = joint("hip", rod(shape=ball), xyz="0 0 0")
    drives, _ = simulate(robot(leg))
    assert run(drives, [0.7], 2.0)[-1] == pytest.approx(0.7, abs=1e-3)


def folding(first, second):
    """Return three slides one after the other on a rail; the base and the last link have shapes."""
    limit = 'lower="-1" upper="0.6" velocity="1" effort="500"'
    return robot(
        joint("carrier", rod(), "1 0 0", "prismatic", limit=limit),
        joint("link", rod(), "1 0 0", "prismatic", "carrier_link", "0 0 0", limit=limit),
        joint(
            "tip", rod(shape=ball_at(second)), "1 0 0", "prismatic", "link_link", "0 0 0",
            limit=limit.replace("500", "50"),
        ),
        base=first,
    )  # fmt: skip


def test_links_that_are_not_adjacent_stop_each_other():
    obstacle = ball_at("0.6 0 2")
    drives, _ = simulate(folding(obstacle, "0 0 0"))
    assert run(drives, [0.0, 0.0, 0.6], 2.0)[-1][2] == pytest.approx(0.4, abs=0.01)
    free, _ = simulate(folding("", "0 0 0"))
    assert run(free, [0.0, 0.0, 0.6], 2.0)[-1][2] == pytest.approx(0.6, abs=1e-3)


def test_neighbours_may_overlap():
    limit = 'lower="-1" upper="0.6" velocity="1" effort="50"'
    text = robot(
        joint("only", rod(shape=ball_at("0 0 0")), "1 0 0", "prismatic", limit=limit),
        base=ball_at("0.6 0 2"),
    )
    assert run(simulate(text)[0], [0.6], 2.0)[-1] == pytest.approx(0.6, abs=1e-3)


def test_links_that_touch_at_the_start_never_stop_each_other():
    drives, _ = simulate(folding(ball_at("0.15 0 2"), "0 0 0"))
    assert run(drives, [0.0, 0.0, 0.6], 2.0)[-1][2] == pytest.approx(0.6, abs=1e-3)


def test_links_below_absent_joints_have_no_contacts():
    text = folding(ball_at("0.6 0 2"), "0 0 0")
    drives, _ = simulate(text, absent=["tip"])
    assert run(drives, [0.0, 0.0, 0.6], 2.0)[-1][2] == pytest.approx(0.6, abs=1e-3)


def test_an_unstable_motion_is_an_error():
    drives, _ = simulate(pendulum(), [0.0])
    drives._data.qvel[:] = np.nan
    with pytest.raises(PhysicsError, match="unstable: check the robot's masses"):
        drives.step(np.zeros(1), DT)


@pytest.mark.parametrize(
    ("name", "start", "goal"),
    [
        ("ur5e", [0.0, -1.57, 1.57, -1.57, -1.57, 0.0], [0.8, -1.0, 1.2, -2.0, -1.2, 1.0]),
        (
            "panda",
            [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.0],
            [0.8, -0.3, 0.4, -1.8, 0.5, 2.2, 0.0, 0.02],
        ),
    ],
    ids=["ur5e", "panda"],
)
def test_shipped_arms_follow_the_trajectories_of_their_controller(name, start, goal):
    """A spline at rest at both ends; the lag is relative to the controller's path."""
    text = (URDFS / f"{name}.urdf").read_text()
    drives, _ = simulate(text, start)
    joints, ends = SimulatedRobot(RobotModel.from_urdf(text)), np.array(goal)
    still = np.zeros(len(ends))
    tolerances = Tolerances(still + 0.01, still + 1e-3, 1.0)
    controller = TrajectoryController(
        joints.driven, joints.continuous, np.array(start), tolerances, period=DT
    )
    loop = ControlLoop(drives, np.arange(len(ends)), controller, DT)
    waypoint = Waypoint(1.0, ends, still, still, np.zeros(0))
    controller.start_goal(TrajectoryCommand(joints.driven, (waypoint,)), tolerances)
    updates = [loop.cycle(cycle * DT) for cycle in range(200)]
    (end,) = [update.goal_end for update in updates if update.goal_end is not None]
    assert end.status is GoalStatus.SUCCEEDED
    assert max(np.abs(update.errors[0]).max() for update in updates) < 3e-3
    np.testing.assert_allclose(drives.positions, ends, atol=1e-5)
