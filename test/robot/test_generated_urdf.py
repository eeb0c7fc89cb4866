# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""300 generated descriptions of version 1.2, against a reading of the generated numbers.

The expected poses and limits are computed from the numbers, by formulas that share no code with the
package.
"""

import math

import numpy as np
import pytest

from basis_ik.arm.limits import MotionLimits
from basis_ik.robot.dynamics import read_dynamics
from basis_ik.robot.robot import RobotModel

COUNT = 300
KINDS = ("revolute", "continuous", "prismatic", "fixed")
UNLIMITED = {"acceleration": math.inf, "deceleration": math.inf, "jerk": math.inf}


def about(axis, angle):
    """Return the matrix of a rotation, by Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * (k @ k)


def of_quaternion(x, y, z, w):
    """Return the matrix of a unit quaternion, element by element."""
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def placed(rotation, xyz):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, xyz
    return matrix


def words(numbers):
    return " ".join(repr(float(number)) for number in numbers)


class Generated:
    """A description of version 1.2, and the numbers in it."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        kinds = [*rng.choice(KINDS, rng.integers(1, 9)), "revolute"]
        rng.shuffle(kinds)
        self.joints = [self.joint(k, kind) for k, kind in enumerate(kinds)]
        self.bodies = [self.body() for _ in range(3)]
        shapes = "".join(f"<{tag}>{xml}</{tag}>" for tag, xml, *_ in self.bodies)
        links = "".join(f'<link name="l{k + 1}"/>' for k in range(len(kinds)))
        joints = "".join(joint["xml"] for joint in self.joints)
        self.text = f"""<robot name="r" version="1.2"><link name="l0">{shapes}</link>{links}
            {joints}</robot>"""
        self.tip = f"l{len(kinds)}"
        self.moving = [joint for joint in self.joints if joint["kind"] != "fixed"]

    def origin(self):
        """Return an <origin> and its matrix."""
        rng, xyz, attributes, rotation = self.rng, np.zeros(3), "", np.eye(3)
        if rng.random() < 0.8:
            xyz = rng.uniform(-1.0, 1.0, 3)
            attributes = f'xyz="{words(xyz)}"'
        way = rng.integers(4)
        if way == 0:
            roll, pitch, yaw = rng.uniform(-4.0, 4.0, 3)
            attributes += f' rpy="{words((roll, pitch, yaw))}"'
            rotation = about((0, 0, 1), yaw) @ about((0, 1, 0), pitch) @ about((1, 0, 0), roll)
        elif way < 3:
            quaternion = rng.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            attributes += f' quat_xyzw="{words(quaternion)}"'
            rotation = of_quaternion(*quaternion)
        text = f"<origin {attributes}/>" if attributes or rng.random() < 0.5 else ""
        return text, placed(rotation, xyz)

    def joint(self, k, kind):
        rng = self.rng
        origin, matrix = self.origin()
        axis, axis_xml = np.array([1.0, 0.0, 0.0]), ""
        if rng.random() < 0.8:
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            axis_xml = f'<axis xyz="{words(axis)}"/>'
        limit = {}
        if kind != "fixed":
            low, high = sorted(rng.uniform(-3.0, 3.0, 2))
            limit = {"lower": low, "upper": high}
            limit |= {"effort": rng.uniform(1, 99), "velocity": rng.uniform(0.1, 9.0)}
            limit |= {"acceleration": rng.uniform(0.5, 40.0), "jerk": rng.uniform(1.0, 900.0)}
            limit |= {"deceleration": rng.uniform(0.5, 40.0)}
            for name in [*limit]:
                needed = kind != "continuous" and name in ("lower", "upper")
                if not needed and rng.random() < 0.4:
                    del limit[name]
        stated = " ".join(f'{name}="{float(value)!r}"' for name, value in limit.items())
        limit_xml = f"<limit {stated}/>" if limit else ""
        xml = f"""<joint name="j{k}" type="{kind}"><parent link="l{k}"/><child link="l{k + 1}"/>
            {origin}{axis_xml}{limit_xml}</joint>"""
        return {"name": f"j{k}", "kind": kind, "origin": matrix, "axis": axis, "limit": limit,
                "xml": xml}  # fmt: skip

    def body(self):
        radius, length = self.rng.uniform(0.01, 1.0, 2)
        origin, matrix = self.origin()
        tag = self.rng.choice(["visual", "collision"])
        shape = f'<capsule radius="{float(radius)!r}" length="{float(length)!r}"/>'
        size = (2.0 * radius, 2.0 * radius, length)
        return tag, f"{origin}<geometry>{shape}</geometry>", matrix, size

    def pose(self, positions):
        """Return root_T_tip at the positions of the moving joints."""
        pose, positions = np.eye(4), iter(positions)
        for joint in self.joints:
            pose = pose @ joint["origin"]
            if joint["kind"] == "prismatic":
                pose = pose @ placed(np.eye(3), joint["axis"] * next(positions))
            elif joint["kind"] != "fixed":
                pose = pose @ placed(about(joint["axis"], next(positions)), np.zeros(3))
        return pose

    def limits(self):
        """Return the limits that the arm moves within, a row for each moving joint."""
        rows = []
        for joint in self.moving:
            limit, slides = joint["limit"], joint["kind"] == "prismatic"
            free = joint["kind"] == "continuous"
            velocity = limit.get("velocity", 0.1 if slides else 1.0)
            acceleration = limit.get("acceleration", velocity / 0.25)
            acceleration = min(acceleration, limit.get("deceleration", math.inf))
            jerk = limit.get("jerk", acceleration / 0.05)
            low = -math.inf if free else limit["lower"]
            high = math.inf if free else limit["upper"]
            rows.append((low, high, velocity, acceleration, jerk))
        return np.array(rows).T


@pytest.fixture(scope="module")
def robots():
    return [Generated(seed) for seed in range(COUNT)]


def chain_of(robot):
    return RobotModel.from_urdf(robot.text).chain("l0", robot.tip)


def test_poses_are_those_of_the_numbers(robots):
    for robot in robots:
        chain = chain_of(robot)
        assert chain.joint_names == tuple(joint["name"] for joint in robot.moving)
        for _ in range(3):
            q = chain.random(robot.rng)
            pose = chain.forward(q).matrix
            np.testing.assert_allclose(pose, robot.pose(q), rtol=0, atol=1e-12)


def test_limits_are_those_of_the_numbers(robots):
    for robot in robots:
        model = RobotModel.from_urdf(robot.text)
        limits = MotionLimits.of_chain(model.chain("l0", robot.tip))
        used = limits.lower, limits.upper, limits.velocity, limits.acceleration, limits.jerk
        np.testing.assert_array_equal(used, robot.limits())
        for joint in robot.moving:
            stated = {**UNLIMITED, "effort": math.inf, **joint["limit"]}
            if "deceleration" not in joint["limit"]:
                stated["deceleration"] = stated["acceleration"]
            for name in (*UNLIMITED, "effort"):
                assert getattr(model.joints[joint["name"]], name) == stated[name]


def test_bodies_are_those_of_the_numbers(robots):
    for robot in robots:
        model = RobotModel.from_urdf(robot.text)
        assert not [note for note in model.notes if "omitted" in note or "understood" in note]
        bodies = {"visual": model.visuals, "collision": read_dynamics(robot.text).collisions}
        for tag, found in bodies.items():
            expected = [body for body in robot.bodies if body[0] == tag]
            assert len(found) == len(expected)
            for body, (_, _, matrix, size) in zip(found, expected, strict=True):
                assert (body.kind, body.size) == ("capsule", pytest.approx(size))
                np.testing.assert_allclose(body.link_T_body.matrix, matrix, rtol=0, atol=1e-12)


def test_the_generated_descriptions_have_everything(robots):
    text = "".join(robot.text for robot in robots)
    for word in ("quat_xyzw", "rpy", "capsule", "deceleration", "jerk", *KINDS):
        assert text.count(word) >= COUNT // 3, word
    stated = [{*joint["limit"]} for robot in robots for joint in robot.moving]
    for name in ("lower", "effort", "velocity", *UNLIMITED):
        assert 50 < sum(name not in each for each in stated) < len(stated) - 50, name
