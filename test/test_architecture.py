"""The layers of the package: who may import whom."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "basis_ik"
LAYERS = [
    "errors", "dependencies", "kernels", "transforms", "model", "solvers", "motion", "pipeline",
    "view", "ros",
]  # fmt: skip
# The library's front doors may open every pure room.
DOORS = dict.fromkeys(("__init__", "__main__", "warm_up", "warm_up_command"), "pipeline")
# Methods that are another way to call a solver: `chain.solve(...)` is `solve(chain, ...)`.
FACADE = ("model/chain.py", "basis_ik.solvers.")
ROS = {
    "rclpy", "tf2_ros", "tf2_py", "launch", "launch_ros", "ament_index_python",
    "builtin_interfaces", "control_msgs", "diagnostic_msgs", "geometry_msgs", "moveit_msgs",
    "rcl_interfaces", "sensor_msgs", "std_msgs", "std_srvs", "trajectory_msgs",
    "visualization_msgs", "lifecycle_msgs", "tf2_msgs", "interactive_markers",
}  # fmt: skip
FILES = sorted(PACKAGE.rglob("*.py"))


def layer(path):
    name = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return DOORS.get(name, name)


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violations(text, own_layer):
    for name in imported(text):
        parts = name.split(".")
        if own_layer != "ros" and parts[0] in ROS:
            yield f"imports {name}"
        ours = parts[0] == "basis_ik" and len(parts) > 1 and parts[1] in LAYERS
        if ours and LAYERS.index(parts[1]) > LAYERS.index(own_layer):
            yield f"imports {name} from a layer above"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_module_imports_ros_or_a_layer_above(path):
    assert layer(path) in LAYERS
    found = list(violations(path.read_text(), layer(path)))
    if str(path.relative_to(PACKAGE)) == FACADE[0]:
        found = [each for each in found if not each.startswith(f"imports {FACADE[1]}")]
    assert found == []


@pytest.mark.parametrize(
    ("text", "own_layer"),
    [
        ("import rclpy", "solvers"),
        ("from geometry_msgs.msg import Pose", "pipeline"),
        ("from basis_ik.solvers.solve import solve", "model"),
        ("from basis_ik import ros", "motion"),
        ("def f():\n    import tf2_ros", "transforms"),
    ],
)
def test_the_check_catches(text, own_layer):
    assert list(violations(text, own_layer))


def test_every_layer_is_there():
    assert {layer(p) for p in FILES} == set(LAYERS)


def test_the_picture_of_the_architecture_has_these_layers():
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text()
    (order,) = re.findall(r"^  (kernels --> .*)$", text, re.MULTILINE)
    rooms = order.split(" --> ")
    assert rooms == [each for each in LAYERS if each not in ("errors", "dependencies")]
    assert set(rooms) == set(re.findall(r'^  (\w+)\["', text, re.MULTILINE))
