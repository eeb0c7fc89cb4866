# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The layers of the package, and their allowed imports."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "basis_ik"
LAYERS = [
    "errors", "dependencies", "verdict", "process", "numerics", "transforms", "robot", "collision",
    "descent", "closed_form", "search", "solvers.pose", "solvers.look", "solvers.tasks",
    "solvers.path", "fabrik", "bones", "arm", "simulation", "view", "ros", "extras",
]  # fmt: skip
# The library's front doors may open every pure room.
DOORS = dict.fromkeys(("__init__", "warm_up", "warm_up_command"), "view")
DOORS |= {"client": "ros", "__main__": "extras", "programs": "extras"}
# What lies above `ros`, and still works without ROS.
PURE = {"__main__", "extras.solve_plot"} | {
    f"extras.reach_map.{name}" for name in ("blocks", "map_files", "reach_command", "voxels")
}
# Methods that are another way to call a solver: `chain.solve(...)` is `solve(chain, ...)`.
FACADE = (
    "robot/chain.py",
    (
        "basis_ik.solvers.pose.solve", "basis_ik.solvers.look.look_at", "basis_ik.search.arguments",
        "basis_ik.search.pose_constraint", "basis_ik.collision.collision_scene",
    ),
)  # fmt: skip
ROS = {
    "rclpy", "tf2_ros", "tf2_py", "launch", "launch_ros", "ament_index_python",
    "builtin_interfaces", "control_msgs", "diagnostic_msgs", "geometry_msgs", "moveit_msgs",
    "rcl_interfaces", "sensor_msgs", "shape_msgs", "std_msgs", "std_srvs", "trajectory_msgs",
    "visualization_msgs", "lifecycle_msgs", "tf2_msgs", "interactive_markers",
}  # fmt: skip
# Names that mean the same in each file of kernels, or in one and in a room of Python.
SHARED_NAMES = {"invert", "is_equal"}
SHARED_WITH_PYTHON = {"length"}
LIBRARY = LAYERS[: LAYERS.index("arm")]
FILES = sorted(PACKAGE.rglob("*.py"))
KERNELS = [path for path in FILES if path.stem.endswith("_kernel")]


def layer_of(name):
    """Return the layer of a module, by its name below the package; of a wing its lowest room."""
    name = DOORS.get(name.split(".")[0], name)
    inside = (each for each in LAYERS if f"{name}.".startswith(f"{each}."))
    return next(inside, next((each for each in LAYERS if each.startswith(f"{name}.")), None))


def name_of(path):
    """Return the name of a module below the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def layer(path):
    return layer_of(name_of(path))


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def extra_of(name):
    """Return the extra that a module is of, a folder or a file; None if it is of none."""
    wing, _, inside = name.partition(".")
    return inside.split(".")[0] if wing == "extras" and inside else None


def is_of(name, modules):
    """Return whether this is a module of these, or a name in one, or the room of one."""
    return any(f"{name}.".startswith(f"{each}.") or each.startswith(f"{name}.") for each in modules)


def violations(text, own):
    """Yield what a module must not import, given its text and its name below the package."""
    own_layer, is_pure = layer_of(own), own in PURE
    for name in imported(text):
        package, _, below = name.partition(".")
        if package in ROS and (own_layer not in ("ros", "extras") or is_pure):
            yield f"imports {name}"
        other = layer_of(below) if package == "basis_ik" and below else None
        if other is None:
            continue
        if LAYERS.index(other) > LAYERS.index(own_layer):
            yield f"imports {name} from a layer above"
        if is_pure and (other == "ros" or (extra_of(below) and not is_of(below, PURE))):
            yield f"imports {name}, which needs ROS"
        if extra_of(own) and extra_of(below) not in (None, extra_of(own)):
            yield f"imports {name} of another extra"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_module_imports_ros_or_a_layer_above(path):
    assert layer(path) in LAYERS
    found = list(violations(path.read_text(), name_of(path)))
    if str(path.relative_to(PACKAGE)) == FACADE[0]:
        facade = tuple(f"imports {each}" for each in FACADE[1])
        found = [each for each in found if not each.startswith(facade)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("import rclpy", "solvers.pose"),
        ("from geometry_msgs.msg import Pose", "arm"),
        ("from basis_ik.solvers.pose.solve import solve", "robot"),
        ("from basis_ik.solvers.look.look_at import look_at", "solvers.pose"),
        ("from basis_ik import solvers", "robot"),
        ("from basis_ik import warm_up", "arm"),
        ("from basis_ik.extras.recording.recording import make_boundary", "ros.ik_node"),
        ("from basis_ik import programs", "ros.go"),
        ("from basis_ik.extras.teleop_keyboard import Keys", "extras.web_view.jog_controls"),
        ("import rclpy", "extras.solve_plot"),
        ("from basis_ik.ros.keyboard import KEY_TWISTS", "extras.reach_map.voxels"),
        ("from basis_ik.extras.reach_map import reach_cloud", "__main__"),
        ("from basis_ik import ros", "arm"),
        ("def f():\n    import tf2_ros", "transforms"),
    ],
)
def test_the_check_finds_violations(text, own):
    assert list(violations(text, own))


# What decides for an arm knows the time by its arguments alone, and starts nothing.
IMPURE = {"time", "datetime", "threading", "concurrent", "multiprocessing", "asyncio", "random"}


def test_the_arm_has_no_clock_and_no_thread():
    for path in (PACKAGE / "arm").rglob("*.py"):
        assert not {name.split(".")[0] for name in imported(path.read_text())} & IMPURE, path


def test_every_layer_exists():
    assert {layer(p) for p in FILES} == set(LAYERS)
    assert {name_of(p) for p in FILES} >= PURE


SWITCH = re.compile(r"\bgc\.|setswitchinterval|\b_exit\b")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_switches_of_the_process_have_one_owner(path):
    owns = path.name == "process.py"
    assert bool(SWITCH.search(path.read_text())) == owns, "see basis_ik.process"


def test_kernels_import_only_kernels():
    for path in KERNELS:
        ours = {name for name in imported(path.read_text()) if name.startswith("basis_ik.")}
        kernels = {name for name in ours if "_kernel" in name}
        assert {each.split(".")[2] for each in ours - kernels} <= {"jit", "arrays"}, path


def compiled(path):
    """Return the functions of a file of kernels that are compiled."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if decorators & {"jit", "helper", "inlined"}:
                yield node


def crowded(functions, most=7):
    """Return the names of functions with more arguments than this."""
    return [each.name for each in functions if len(each.args.args) > most]


def test_kernels_take_seven_arguments_at_most():
    found = {f"{path.stem}.{name}" for path in KERNELS for name in crowded(compiled(path))}
    assert found == set()


def test_an_eighth_argument_is_found(tmp_path):
    file = tmp_path / "a_kernel.py"
    file.write_text("@helper\ndef f(a, b, c, d, e, f, g, h): ...\n@jit\ndef g(a): ...")
    assert crowded(compiled(file)) == ["f"]


def repeated(names):
    """Return the names that occur more than once."""
    return {each for each, count in Counter(names).items() if count > 1}


def test_kernels_of_one_name_have_one_meaning():
    assert repeated(each.name for path in KERNELS for each in compiled(path)) == SHARED_NAMES


def test_the_library_has_no_function_named_as_another_rooms_kernel():
    """A kernel may have the name of the function in its own room that calls it."""
    rooms = {each.name: layer(path) for path in KERNELS for each in compiled(path)}
    found = set()
    for path in set(FILES) - set(KERNELS):
        for node in ast.parse(path.read_text()).body if layer(path) in LIBRARY else ():
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                found |= {node.name} if rooms.get(node.name, layer(path)) != layer(path) else set()
    assert found == SHARED_WITH_PYTHON


def test_a_repeated_name_is_found():
    assert repeated(["step", "place", "step"]) == {"step"}


# Rooms, and files beside them, whose constants have names with one meaning in the whole package.
NAMED_ROOMS = {
    "__init__", "__main__", "arm", "client", "dependencies", "errors", "process", "programs",
    "verdict", "warm_up", "warm_up_command",
    "bones", "closed_form", "collision", "descent", "extras", "fabrik", "numerics", "robot", "ros",
    "search", "simulation", "solvers", "transforms", "view",
}  # fmt: skip
# A type variable means nothing outside the signatures of its file. In loops where each look-up
# counts, `Verdict.REACHED` has a name of the file's own.
IDIOMS = {"T", "_REACHED"}


def constants(text):
    """Yield the upper-case names that a module assigns, each as often as it does."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (each for target in targets for each in ast.walk(target))
            stored = [each for each in names if isinstance(each, ast.Name)]
            yield from {each.id for each in stored if each.id.isupper()}


def ambiguous(texts, rooms):
    """Return the constants of these rooms whose names other files give to something else, too.

    Args:
        texts: The text of each file, by its room and its name.
        rooms: The rooms.
    """
    files = {key: set(constants(text)) - IDIOMS for key, text in texts.items()}
    shared = repeated(name for names in files.values() for name in names)
    return {name for (room, _), names in files.items() if room in rooms for name in names & shared}


def test_the_name_of_a_constant_has_one_meaning():
    texts = {
        (path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path): path.read_text()
        for path in FILES
    }
    assert {room for room, _ in texts} >= NAMED_ROOMS
    assert ambiguous(texts, NAMED_ROOMS) == set()


def test_a_constant_with_two_meanings_is_found():
    texts = {
        ("arm", "a.py"): "PERIOD = 1.0\n_SAME, FAR = 2, 3\nT = 4",
        ("ros", "b.py"): "PERIOD: float = 2.0\nlocal = NEAR = 4\nT = 5",
        ("look", "c.py"): "def f():\n    NEAR = 1\n_SAME = (FAR, 2)",
    }
    assert ambiguous(texts, {"ros"}) == {"PERIOD"}
    assert ambiguous(texts, {"look"}) == {"_SAME"}


def test_the_order_of_quaternions_is_converted_in_one_place():
    order = re.compile(r"\b(3, 0, 1, 2|1, 2, 3, 0)\b")
    assert {path for path in FILES if order.search(path.read_text())} == set()


def test_each_file_has_a_name_of_its_own():
    assert repeated(path.name for path in FILES if path.name != "__init__.py") == set()


def circles(graph):
    """Return what is in a circle, or leads to one: what is left when leaves are taken away."""
    graph = dict(graph)
    while leaves := {name for name, needs in graph.items() if not needs & graph.keys()}:
        graph = {name: needs for name, needs in graph.items() if name not in leaves}
    return set(graph)


def test_no_modules_import_each_other_in_a_circle():
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES
    }
    graph = {name: set(imported(path.read_text())) for name, path in names.items()}
    facade = FACADE[0].removesuffix(".py").replace("/", ".")
    graph[f"basis_ik.{facade}"] -= {name for name in names if name.startswith(FACADE[1])}
    assert graph["basis_ik.solvers.pose.solve"] >= {"basis_ik.robot.chain", "basis_ik.verdict"}
    assert circles(graph) == set()


def test_a_circle_is_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}, "e": set()}
    assert circles(graph) == {"a", "b", "c", "d"}


def test_the_picture_of_the_architecture_has_these_layers():
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text()
    (order,) = re.findall(r"^  (numerics --> .*)$", text, re.MULTILINE)
    rooms = order.split(" --> ")
    below = LAYERS[LAYERS.index("numerics") :]
    assert rooms == [each.rpartition(".")[2] for each in below]
    assert set(rooms) == set(re.findall(r'^ +(\w+)\["', text, re.MULTILINE))
    wings = {each.partition(".")[0] for each in below if "." in each}
    assert wings == set(re.findall(r"^  subgraph (\w+)$", text, re.MULTILINE))
