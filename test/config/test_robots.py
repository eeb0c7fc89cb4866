# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The configurations for known arms fit the arms' own descriptions."""

from pathlib import Path

import numpy as np
import pytest
import small_arms
import yaml
from robot_descriptions import urdf
from virtual_node import alone

from basis_ik.arm.settings import misplaced
from basis_ik.robot.robot import RobotModel
from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS, NODE_PARAMETERS
from basis_ik.solvers.pose.solve import solve

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "config" / "robots").glob("*.yaml"))


def shipped(name):
    return (ROOT / "urdf" / f"{name}.urdf").read_text()


def fr3():
    """Return the Panda with the names of its successor, whose description is not available."""
    return shipped("panda").replace("panda_", "fr3_")


ARMS = {
    "ur5e": ("ur", lambda: shipped("ur5e"), 6),
    "ur5e of airo-models": ("ur", lambda: urdf("airo-models", "ur5e"), 6),
    "ur3e of airo-models": ("ur", lambda: urdf("airo-models", "ur3e"), 6),
    "ur10": ("ur", lambda: urdf("example-robot-data", "ur10_robot"), 6),
    "panda": ("franka_panda", lambda: shipped("panda"), 7),
    "panda of example-robot-data": (
        "franka_panda",
        lambda: urdf("example-robot-data", "panda"),
        7,
    ),
    "fr3": ("franka_fr3", fr3, 7),
    "iiwa14": ("kuka_iiwa", lambda: urdf("rtb-data", "lbr_iiwa_14_r820"), 7),
    "xarm7": ("ufactory_xarm7", lambda: urdf("example-robot-data", "xarm7"), 7),
    "so101": ("so101", small_arms.so101, 5),
    "piper": ("piper", small_arms.piper, 6),
    "wx250s": ("widowx", small_arms.widowx, 6),
    "pan_tilt": ("pan_tilt", lambda: shipped("pan_tilt"), 2),
}
UNTESTED = {"kinova_gen3"}  # nobody publishes its URDF on PyPI


def parameters_of(config):
    path = ROOT / "config" / "robots" / f"{config}.yaml"
    return path, yaml.safe_load(path.read_text())["/**"]["ros__parameters"]


def test_every_configuration_is_tested():
    assert {path.stem for path in CONFIGS} == {arm[0] for arm in ARMS.values()} | UNTESTED


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_key_is_a_parameter(path):
    known = {declaration.name for declaration in (*NODE_PARAMETERS, *CHAIN_PARAMETERS)}
    assert set(parameters_of(path.stem)[1]) <= known


@pytest.mark.parametrize("arm", ARMS)
def test_the_arm_is_found_and_reaches_its_targets(arm):
    config, description, joints = ARMS[arm]
    given = parameters_of(config)[1]
    chain = RobotModel.from_urdf(description()).chain(given.get("root_link"), given.get("tip_link"))
    assert len(chain.joint_names) == joints
    if "home" in given:
        home = np.array(given["home"])
        assert home.shape == (joints,)
        assert np.all((home >= chain.lower) & (home <= chain.upper))
    rng = np.random.default_rng(0)
    for goal, seed in rng.uniform(chain.lower, chain.upper, (200, 2, joints)):
        solution = solve(chain, chain.forward(goal), seed)
        assert solution.success, f"{goal} from {seed}: {solution.reason}"


def test_every_demo_has_a_home_within_the_limits():
    demos = {}
    for robot in ("ur5e", "panda"):
        path = ROOT / "config" / f"demo_{robot}.yaml"
        begins = yaml.safe_load(path.read_text())["/**"]["ros__parameters"]["initial_positions"]
        demos[robot] = RobotModel.from_urdf(shipped(robot)).chain(), begins
    arms = yaml.safe_load((ROOT / "config" / "two_arms.yaml").read_text())["basis_ik"]
    for side in arms["ros__parameters"]["chains"]:
        own = arms["ros__parameters"][side]
        model = RobotModel.from_urdf(shipped("two_arms"))
        chain = model.chain(own["root_link"], own["tip_link"])
        demos[side] = chain, dict(zip(chain.joint_names, own["home"], strict=True))
    for chain, home in demos.values():
        assert misplaced(chain, [home[name] for name in chain.joint_names]) is None


@pytest.mark.parametrize("arm", ARMS)
def test_the_node_is_ready_with_it(arm):
    config, description, _ = ARMS[arm]
    path, given = parameters_of(config)
    with alone(description(), "--params-file", str(path)) as node:
        (ready,) = [line for line in node.log.lines() if line.startswith("ready: ")]
    assert f"to {given.get('tip_link', 'tool0')};" in ready
    assert f"commands go to /{given['controller']}/" in ready
