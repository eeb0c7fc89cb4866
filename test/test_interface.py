# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What `from basis_ik import ...` gives, and what its functions take and return."""

import ast
import collections
import copy
import enum
import inspect
import os
import pickle
import re
import subprocess
import sys
import typing
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import basis_ik
from basis_ik import (
    BasisIkError,
    Chain,
    DistanceTask,
    LookTask,
    PoseConstraint,
    PoseTask,
    Preference,
    RigidTransform,
    RobotModel,
    Verdict,
    arc,
    follow,
    line,
    look_at,
    solve,
    solve_all,
    solve_batch,
    solve_pole,
    solve_posture,
    solve_tasks,
    track,
)  # fmt: skip

ROOT = Path(__file__).parents[1]
MODEL = RobotModel.from_urdf_file(ROOT / "urdf" / "panda.urdf")
ARM = MODEL.chain()
HOME = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8])
NAMED = dict(zip(ARM.joint_names, HOME.tolist(), strict=True))
TARGET = ARM.forward(HOME + 0.1)
FAR = RigidTransform.from_rpy(0.0, 0.0, 0.0, (3.0, 0.0, 0.0))
POINT = (1.0, 0.3, 0.2)
# Every function of a target and a seed.
SOLVERS = {
    "solve": lambda target, seed: solve(ARM, target, seed),
    "chain.solve": lambda target, seed: ARM.solve(target, seed),
    "fabrik": lambda target, seed: solve(ARM, target, seed, solver="fabrik"),
    "time limit": lambda target, seed: solve(ARM, target, seed, time_limit=100.0),
    "weights": lambda target, seed: solve(
        ARM, target, seed, constraint=PoseConstraint(weights=(1, 1, 1, 1, 1, 1))
    ),
    "solve_all": lambda target, seed: solve_all(ARM, target, seed, starts=5)[0],
    "solve_posture": lambda target, seed: solve_posture(ARM, target, HOME, seed, starts=5),
    "posture": lambda target, seed: solve_posture(ARM, target, seed, starts=5),
    "solve_pole": lambda target, seed: solve_pole(
        ARM, target, "panda_link4", (0.3, 0.6, 0.6), seed, starts=5
    ),
    "track": lambda target, seed: track(ARM, target, seed, 0.05),
    "track previous": lambda target, seed: track(ARM, target, HOME, 0.05, previous=seed),
    "follow": lambda target, seed: follow(ARM, [target, target], seed),
}


@pytest.fixture(params=SOLVERS)
def solver(request):
    return SOLVERS[request.param]


TWISTED = TARGET @ RigidTransform.from_rpy(0.0, 0.0, 2.0)
FREED = {
    "solve": lambda **options: solve(ARM, TWISTED, HOME, **options),
    "solve_all": lambda **options: solve_all(ARM, TWISTED, HOME, starts=5, **options)[0],
    "solve_batch": lambda **options: solve_batch(ARM, [TWISTED], HOME, **options),
    "solve_posture": lambda **options: solve_posture(ARM, TWISTED, HOME, starts=5, **options),
    "solve_pole": lambda **options: solve_pole(
        ARM, TWISTED, "panda_link4", (0.3, 0.6, 0.6), HOME, starts=5, **options
    ),
    "track": lambda **options: track(ARM, TWISTED, HOME, 1.0, **options),
    "follow": lambda **options: follow(ARM, [TWISTED], HOME, **options),
}


@pytest.fixture(params=FREED)
def solver_of_positions(request):
    return FREED[request.param]


def python(code):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_all_public_names_exist():
    for name in basis_ik.__all__:
        assert getattr(basis_ik, name).__name__ == name
        assert name in dir(basis_ik)


def test_type_checkers_see_lazily_loaded_names():
    tree = ast.parse((ROOT / "basis_ik" / "__init__.py").read_text())
    (typed,) = (each for each in tree.body if isinstance(each, ast.If))
    seen = {each.names[0].asname: each.module for each in typed.body}
    assert seen == {name: f"basis_ik.{home}" for name, home in basis_ik._HOME.items()}


def results(owner):
    """Yield what a public function returns, or a class's methods and attributes, as annotated."""
    parts = [owner] if inspect.isfunction(owner) else []
    for base in getattr(owner, "__mro__", ()):
        if not base.__module__.startswith("basis_ik"):
            continue
        for name, annotation in inspect.get_annotations(base).items():
            text = getattr(annotation, "__forward_arg__", annotation)  # of a named tuple's field
            yield f"{owner.__name__}.{name}", text, base.__module__
        for name, part in vars(base).items():
            # What a residual makes for the kernels is of no use to others.
            if not name.startswith("_") and name != "pack":
                part = getattr(part, "fget", None) or getattr(part, "__func__", part)
                parts += [part] if inspect.isfunction(part) else []
    for part in parts:
        yield part.__qualname__, part.__annotations__["return"], part.__module__


def classes_in(annotation):
    """Return the classes of ours that a type is made of."""
    found = {each for part in typing.get_args(annotation) for each in classes_in(part)}
    is_ours = inspect.isclass(annotation) and annotation.__module__.startswith("basis_ik")
    return found | {annotation} if is_ours else found


def test_what_public_functions_return_is_public():
    public, seen = {name: getattr(basis_ik, name) for name in basis_ik.__all__}, set()
    for owner in public.values():
        for name, annotation, module in results(owner):
            if name.split(".")[-1].startswith("_"):
                continue
            for found in classes_in(eval(annotation, vars(sys.modules[module]), public)):
                assert found in public.values(), f"{name} is a {found.__name__}"
                seen.add(found.__name__)
    assert seen > {"BatchSolution", "Joint", "Outcome", "Reason", "Solution", "Stage", "Visual"}


def test_what_public_functions_raise_is_public_and_what_python_users_expect():
    python(
        "from basis_ik import *; import basis_ik\n"
        "def below(kind): return {kind}.union(*map(below, kind.__subclasses__()))\n"
        "loaded = below(BasisIkError)\n"
        "assert SolveArgumentError in loaded and ZeroLengthError in loaded\n"
        "hidden = loaded - {getattr(basis_ik, name) for name in basis_ik.__all__}\n"
        "assert not hidden, hidden\n"
        "others = {each.__name__ for each in loaded if not issubclass(each, ValueError)}\n"
        "assert others == {'BasisIkError', 'DependencyError', 'ExtraError', 'OutsideLimitsError'}"
    )
    with pytest.raises(ValueError, match="max_restarts must be"):
        solve(ARM, TARGET, max_restarts=-1)


def public_functions():
    functions = {name: getattr(basis_ik, name) for name in basis_ik.__all__}
    return {name: each for name, each in functions.items() if inspect.isfunction(each)}


def options():
    """Return the options of all public functions: the functions by name and default."""
    found = collections.defaultdict(set)
    for name, function in public_functions().items():
        for each in inspect.signature(function).parameters.values():
            if each.default is not each.empty:
                default = each.default
                text = str(default) if isinstance(default, enum.Enum) else repr(default)
                found[each.name, text].add(name)
    return found


def test_the_table_of_options_is_that_of_the_functions():
    text = (ROOT / "docs" / "targets.md").read_text().split("## Options")[1].split("\n## ")[0]
    rows = [re.split(r" ?\| ?", line)[1:5] for line in re.findall(r"^\| `.*", text, re.MULTILINE)]
    table = {
        (option.strip("`"), default.strip("`")): set(re.findall(r"`(\w+)`", functions))
        for option, default, functions, _ in rows
    }
    assert table == options()
    assert len(rows) == len(table)
    with_reason = {option for option, _, _, reason in rows if reason}
    several = collections.Counter(option for option, _, _, _ in rows)
    assert {option for option, count in several.items() if count > 1} <= with_reason


def test_an_option_is_of_one_kind_in_all_functions():
    kinds = collections.defaultdict(set)
    for function in public_functions().values():
        for each in inspect.signature(function).parameters.values():
            kinds[each.name].add(each.annotation.removesuffix(" | None"))
    several = {name for name, found in kinds.items() if len(found) > 1}
    # The joints of a robot have no order: `solve_tasks` takes positions by name only.
    assert several == {"seed", "posture"}


@pytest.mark.parametrize("function", [solve, look_at])
def test_a_method_has_the_arguments_of_the_function(function, monkeypatch):
    method = getattr(Chain, function.__name__)
    own, theirs = (inspect.signature(each).parameters for each in (method, function))
    assert list(own.values())[1:] == list(theirs.values())[1:]
    given = {name: object() for name in theirs}
    module = sys.modules[function.__module__]
    monkeypatch.setattr(module, function.__name__, inspect.signature(function).bind)
    chain, target, seed, *_ = given.values()
    options = {name: given[name] for name in list(given)[3:]}
    assert method(chain, target, seed, **options).arguments == given


def test_position_only_is_short_for_a_constraint(solver_of_positions):
    one = solver_of_positions(position_only=True)
    other = solver_of_positions(constraint=PoseConstraint(orientation=False))
    whole = solver_of_positions()
    assert one.positions.tobytes() == other.positions.tobytes() != whole.positions.tobytes()


def test_importing_the_package_loads_neither_numpy_nor_the_compiler():
    python(
        "import sys, basis_ik; basis_ik.__version__; dir(basis_ik)\n"
        "assert not {'numpy', 'numba', 'llvmlite'} & set(sys.modules)"
    )


def test_the_library_does_not_load_ros():
    python("import sys; from basis_ik import *; solve\nassert 'rclpy' not in sys.modules")


def test_an_unknown_name_raises():
    with pytest.raises(AttributeError, match="module 'basis_ik' has no attribute 'solve_ik'"):
        _ = basis_ik.solve_ik
    with pytest.raises(ImportError):
        from basis_ik import solve_ik  # noqa: F401


def test_the_version_is_that_of_the_package():
    (setup,) = re.findall(r'^    version="(.*)",$', (ROOT / "setup.py").read_text(), re.MULTILINE)
    assert basis_ik.__version__ == setup == ET.parse(ROOT / "package.xml").findtext("version")


def test_a_matrix_is_accepted_as_a_transform(solver):
    one, other = solver(TARGET, HOME), solver(TARGET.matrix.tolist(), HOME)
    assert one.positions.tobytes() == other.positions.tobytes()


def test_three_numbers_are_a_position(solver):
    position = TARGET.translation
    results = [solver(target, HOME) for target in (position, position.tolist(), tuple(position))]
    assert len({each.positions.tobytes() for each in results}) == 1
    tip = ARM.forward(results[0].positions.reshape(-1, 7)[-1])
    assert not tip.is_close(TARGET, 1e-3)
    assert results[0] or results[0].verdict is Verdict.STEP_BOUND
    if results[0]:
        np.testing.assert_allclose(tip.translation, position, atol=2e-6)
    finite = r"^(target|poses\[0\]) must be finite, got \[0\.4, nan, 0\.5\]"
    with pytest.raises(BasisIkError, match=finite):
        solver([0.4, np.nan, 0.5], HOME)


def test_many_positions_are_targets_too():
    poses = np.array([ARM.forward(HOME + shift).translation for shift in (0.1, 0.2)])
    expected = [solve(ARM, each, HOME).positions for each in poses]
    level = [RigidTransform.from_rotation_translation(np.eye(3), each) for each in poses]
    assert np.array_equal(solve_batch(ARM, level, HOME, position_only=True).positions, expected)
    for given in (poses, poses.tolist(), list(poses), poses.astype(object)):
        assert np.array_equal(solve_batch(ARM, given, HOME).positions, expected)
        assert follow(ARM, given, HOME, max_move=1.0)
    for solver, name in ((solve_batch, "targets"), (follow, "poses")):
        with pytest.raises(BasisIkError, match=f"{name} must be all poses, or all positions"):
            solver(ARM, [TARGET, poses[0]], HOME)
    leaning = PoseConstraint(free_axis=(0, 0, 1), box=(0.0, 0.0, 0.1))
    lifted = PoseConstraint(orientation=False, box=(0.0, 0.0, 0.1))
    one, other = (solve(ARM, poses[0], HOME, constraint=each) for each in (leaning, lifted))
    assert one.positions.tobytes() == other.positions.tobytes()


def test_the_previous_target_may_be_a_position():
    position = TARGET.translation
    for target, earlier in ((TARGET, (TARGET, position)), (position, (position, TARGET))):
        one, other = (
            track(ARM, target, HOME, 0.01, position_only=True, previous_target=each)
            for each in earlier
        )
        assert one.positions.tobytes() == other.positions.tobytes()
    with pytest.raises(BasisIkError, match="previous_target must be a RigidTransform or"):
        track(ARM, TARGET, HOME, 0.01, previous_target="before")


def test_positions_by_name_are_accepted(solver):
    named = {"a_joint_that_the_chain_does_not_have": 9.0, **dict(reversed(NAMED.items()))}
    one, other = solver(TARGET, HOME), solver(TARGET, named)
    assert one.positions.tobytes() == other.positions.tobytes()


@pytest.mark.parametrize("target", [TARGET, FAR], ids=["reached", "not reached"])
@pytest.mark.parametrize("name", [each for each in SOLVERS if each not in ("solve_all", "follow")])
def test_positions_are_read_only(name, target):
    positions = SOLVERS[name](target, HOME).positions
    with pytest.raises(ValueError, match="read-only"):
        positions[0] = 0.0


def test_positions_of_several_solutions_are_read_only():
    results = [
        solve_all(ARM, TARGET, HOME, starts=5)[0].positions,
        follow(ARM, [TARGET, FAR], HOME).positions,
        look_at(ARM, POINT, HOME).positions,
        look_at(ARM, ARM.forward(HOME).translation, HOME, max_move=1e-3).positions,
        *vars(solve_batch(ARM, [TARGET, FAR], HOME)).values(),
    ]
    for target in (TARGET, FAR):
        passes = solve(ARM, target, HOME, solver="fabrik", trace=True).passes
        results += [passes.seed, passes.positions]
        results += [array for each in passes.stages for array in (each.points, each.positions)]
    assert not any(array.flags.writeable for array in results)


def test_no_kernel_is_compiled_a_second_time_for_arrays_that_are_read_only():
    python(
        "import gc, sys; sys.path.insert(0, 'test')\n"
        "from numba import types; from numba.core.registry import CPUDispatcher\n"
        "from test_interface import *\n"
        "for solver in SOLVERS.values():\n"
        "    for target in (TARGET, FAR.inverse()):\n"
        "        try: found = solver(target, HOME)\n"
        "        except IndexError: continue\n"  # none of all
        "        if found.positions.ndim == 1: solver(TARGET, found.positions)\n"
        "kernels = [each for each in gc.get_objects() if isinstance(each, CPUDispatcher)]\n"
        "again = {kernel.__name__ for kernel in kernels for arguments in kernel.signatures\n"
        "         for each in arguments if isinstance(each, types.Array) and not each.mutable}\n"
        "assert kernels and not again, again\n"
    )


def test_a_solution_is_accepted_as_seed():
    found = solve(ARM, TARGET, HOME)
    assert solve(ARM, TARGET, found.positions).iterations <= found.iterations
    assert track(ARM, TARGET, found.positions, 0.1, previous=found.positions).success


def test_an_invalid_pose_is_refused(solver):
    skewed = TARGET.matrix.copy()
    skewed[0, 0] += 0.1
    for bad in (skewed, np.eye(3), None, "pose", HOME, np.zeros(4)):
        with pytest.raises(BasisIkError, match=r"must be a RigidTransform or the \(4, 4\) matrix"):
            solver(bad, HOME)
    for index in np.ndindex(4, 4):
        bad = TARGET.matrix.copy()
        bad[index] = np.nan
        for given in (bad, bad.tolist()):
            with pytest.raises(BasisIkError, match=r"^(target|poses\[0\]) must be finite, got"):
                solver(given, HOME)


SCRIPT = """
import numpy as np

from basis_ik import (
    DistanceTask, LookTask, PathSolution, PoseConstraint, PoseTask, RigidTransform, RobotModel,
    Solution, Task, follow, line, look_at, solve, solve_all, solve_batch, solve_pole,
    solve_posture, solve_tasks, track,
)

model = RobotModel.example("panda")
arm = model.chain("panda_hand")
arm = model.chain("panda_link0", "panda_hand")
arm = model.chain("panda_link0", tip="panda_hand")
arm = model.chain("panda_hand", root="panda_link0")
arm = model.chain(root="panda_link0", tip="panda_hand")
seed = np.zeros(7)
numbers = [0.4, 0.1, 0.5]
named = {name: 0.1 for name in arm.joint_names}
whole = RigidTransform.from_rpy(3.0, 0.0, 0.0, numbers)
for target in (whole, whole.matrix, whole.matrix.tolist(), numbers, (0.4, 0.1, 0.5)):
    found: Solution = arm.solve(target, seed.tolist(), max_move=[1.0] * 7, max_restarts=0)
    solve(arm, target, named, solver="fabrik", max_restarts=0)
for three in (numbers, np.array(numbers), (0.4, 0.1, 0.5), [1, 0, 0]):
    part = PoseConstraint(free_axis=three)
    part = PoseConstraint(orientation=False, box=three)
    part = PoseConstraint(weights=[1, 1, 1, 1, 1, 1])
    look_at(arm, three, seed, axis=three, origin=three, max_restarts=0)
    tasks: list[Task] = [
        PoseTask("panda_hand", three), LookTask("panda_hand", three, three, three),
        DistanceTask("panda_hand", three, 0.3, three),
    ]
    solve_tasks(model, tasks[:1], named, max_restarts=0)
    arm.look_at(three, named, axis=three, max_restarts=0)
    solve_pole(arm, whole, "panda_link4", three, seed, starts=1)
for targets in ([whole], [whole.matrix], np.array([whole.matrix], np.float32), [numbers]):
    solve_batch(arm, targets, seed, max_restarts=0)
    path: PathSolution = follow(arm, targets, seed.tolist())
solve_tasks(model, [PoseTask("panda_hand", whole), LookTask("panda_hand", numbers)])
solve_posture(arm, whole, seed, starts=1)
solve_all(arm, whole, named, starts=1)
step = track(arm, whole, seed, arm.velocity * 0.01, previous=seed.tolist())
product: RigidTransform = whole @ np.eye(4)
same = bool(np.allclose(whole, whole.matrix))
poses = line(whole, whole.matrix)
"""


def test_lists_arrays_and_tuples_are_accepted():
    exec(SCRIPT, {})


@pytest.mark.skipif(
    not find_spec("mypy") or os.environ.get("DEPENDENCIES", "newest") != "newest",
    reason="the type checker is part of the set-up, and knows the newest numpy",
)
def test_a_type_checker_accepts_lists_arrays_and_tuples(tmp_path):
    wrong = SCRIPT + "arm.solve(whole, max_restart=3)\narm.solve(whole, max_restarts=0.5)\n"
    for name, script in (("accepted", SCRIPT), ("refused", wrong)):
        (tmp_path / f"{name}.py").write_text(script)
    files = [tmp_path / "accepted.py", tmp_path / "refused.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *files], cwd=ROOT, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    said = [line for line in done.stdout.splitlines() if "error:" in line]
    assert len(said) == 2, done.stdout + done.stderr
    assert re.search(r'refused\.py.*Unexpected keyword argument "max_restart"', said[0])
    assert re.search(r'refused\.py.*"max_restarts" .* has incompatible type "float"', said[1])


class Wrong:
    """What no argument can be."""


GIVEN = {
    "chain": ARM, "model": MODEL, "target": TARGET, "targets": [TARGET], "poses": [TARGET],
    "point": POINT, "posture": HOME, "link": "panda_link4", "pole": POINT, "current": HOME,
    "max_step": 1.0, "tasks": [PoseTask("panda_hand", TARGET)], "start": TARGET, "end": TARGET,
    "centre": POINT, "axis": (0, 0, 1), "angle": 0.3, "q": HOME, "lower": ARM.lower,
    "upper": ARM.upper, "tool": "camera", "tip_T_tool": TARGET, "tip": "panda_hand",
    "distance": 0.3, "matrix": np.eye(4), "rotation": np.eye(3), "translation": POINT,
    "quaternion": (0, 0, 0, 1), "roll": 0.1, "pitch": 0.1, "yaw": 0.1, "twist": np.zeros(6),
    "points": POINT, "vectors": POINT, "other": TARGET, "name": "panda",
    "path": "arm.urdf", "text": (ROOT / "urdf" / "panda.urdf").read_text(),
}  # fmt: skip


def takers():
    """Yield names and functions: all public ones, and the methods and makers of classes."""
    yield from public_functions().items()
    for owner in (ARM, MODEL, TARGET):
        for name in sorted(vars(type(owner))):
            # `link` returns what is no link as it is.
            if not name.startswith("_") and name != "link" and callable(getattr(owner, name)):
                yield f"{type(owner).__name__}.{name}", getattr(owner, name)
    yield "PoseConstraint", PoseConstraint
    for kind in (PoseTask, LookTask, DistanceTask):

        def solve_one(kind=kind, **given):
            return solve_tasks(MODEL, [kind(**given)], max_restarts=0)

        solve_one.__signature__ = inspect.signature(kind)
        yield kind.__name__, solve_one


@pytest.mark.parametrize(
    ("name", "function"), [pytest.param(*each, id=each[0]) for each in takers()]
)
def test_an_argument_of_a_wrong_type_is_refused_by_its_name(name, function):
    parameters = inspect.signature(function).parameters.values()
    named = [each for each in parameters if each.kind is not each.VAR_POSITIONAL]
    assert all(each.name in GIVEN for each in named if each.default is each.empty and
               each.kind is not each.VAR_KEYWORD)  # fmt: skip
    for wrong in named:
        # Anything is true or false; a chain's ends, and tasks' tips, are among the links or not.
        if wrong.annotation in ("bool", bool) or wrong.kind is wrong.VAR_KEYWORD:
            continue
        given = {each.name: GIVEN[each.name] for each in named if each.default is each.empty}
        what = "link" if wrong.name in ("tip", "root") else wrong.name.removesuffix("s")
        what = "robot description" if what == "text" else what
        with pytest.raises(BasisIkError, match=what):
            function(**given | {wrong.name: Wrong()})


def test_a_wrong_constraint_is_refused_beside_a_position_too():
    for target, options in ((TARGET, {"position_only": True}), (TARGET.translation, {})):
        with pytest.raises(BasisIkError, match="constraint must be a PoseConstraint, or None, got"):
            solve(ARM, target, HOME, constraint="x", **options)


def test_seeds_by_name_are_for_all_targets():
    targets = [TARGET, ARM.forward(HOME - 0.1)]
    one, other = (solve_batch(ARM, targets, seed) for seed in (HOME, NAMED))
    assert one.positions.tobytes() == other.positions.tobytes()
    with pytest.raises(BasisIkError, match="seeds must be positions that include joint"):
        solve_batch(ARM, targets, {})


def test_positions_that_lack_a_joint_are_refused(solver):
    lacking = {name: value for name, value in NAMED.items() if name != "panda_joint3"}
    with pytest.raises(BasisIkError, match="must be positions that include joint 'panda_joint3'"):
        solver(TARGET, lacking)
    with pytest.raises(BasisIkError, match="must be 7 numbers, one each for"):
        solver(TARGET, NAMED | {"panda_joint3": "0 rad"})


@pytest.mark.parametrize("model", [MODEL, None, "panda"])
def test_a_robot_in_place_of_a_chain_is_refused(model):
    with pytest.raises(BasisIkError, match=r"chain must be a Chain, which `RobotModel.chain\(\)`"):
        solve(model, TARGET)
    with pytest.raises(BasisIkError, match="chain must be a Chain"):
        look_at(model, POINT)


def test_many_targets_may_be_matrices_too():
    targets = [TARGET, ARM.forward(HOME - 0.1)]
    matrices = np.array([target.matrix for target in targets])
    single = matrices.astype(np.float32)  # off by rounding: the nearest rotations are taken
    expected = solve_batch(ARM, targets, HOME).positions
    for given in (matrices, list(matrices), [targets[0], matrices[1].tolist()]):
        assert solve_batch(ARM, given, HOME).positions.tobytes() == expected.tobytes()
    np.testing.assert_allclose(solve_batch(ARM, single, HOME).positions, expected, atol=1e-5)
    assert follow(ARM, matrices, HOME, max_move=1.0).success
    by_matrix = line(matrices[0], matrices[1].tolist())
    assert by_matrix == line(*targets)
    assert arc(matrices[0], POINT, (0, 0, 1), 0.3) == arc(targets[0], POINT, (0, 0, 1), 0.3)
    with pytest.raises(BasisIkError, match=r"targets\[1\] must be a RigidTransform or the"):
        solve_batch(ARM, [TARGET, np.eye(3)], HOME)
    with pytest.raises(BasisIkError, match=r"targets must be of shape \(k, 4, 4\) or"):
        solve_batch(ARM, np.eye(4), HOME)


def test_tasks_take_matrices_and_positions_by_name():
    reached = solve_tasks(MODEL, [PoseTask("panda_hand", TARGET.translation)], NAMED)
    hand = ARM.link_poses([reached.positions[name] for name in ARM.joint_names])["panda_hand"]
    np.testing.assert_allclose(hand.translation, TARGET.translation, atol=2e-6)
    tasks = [PoseTask("panda_hand", TARGET.matrix), LookTask("panda_hand", POINT, priority=1)]
    as_transform = [PoseTask("panda_hand", TARGET), tasks[1]]
    one, other = (solve_tasks(MODEL, each, NAMED, max_restarts=0) for each in (tasks, as_transform))
    assert one.positions == other.positions
    with pytest.raises(BasisIkError, match="seed must be positions by joint name"):
        solve_tasks(MODEL, tasks, HOME)
    with pytest.raises(BasisIkError, match=r"tasks\[0\]\.target must be a RigidTransform or"):
        solve_tasks(MODEL, [PoseTask("panda_hand", np.eye(3))])


def test_the_methods_of_a_chain_are_the_functions():
    assert ARM.solve(FAR, max_restarts=0).verdict is Verdict.TOO_FAR
    assert ARM.look_at(POINT, HOME, axis=(0, 0, 1)).success
    everything = solve_all(ARM, TARGET, prefer=Preference.CENTRED, starts=5)
    assert everything[0].success
    assert follow(ARM, line(TARGET, TARGET)).success


def test_without_a_seed_the_search_begins_at_the_neutral_positions():
    near = ARM.forward(ARM.neutral)
    assert solve(ARM, near).positions.tolist() == ARM.neutral.tolist()


def test_results_are_true_only_if_they_are_reached():
    hand, arm = (PoseTask("panda_hand", TARGET), PoseTask("panda_link5", FAR.translation, None, 1))
    results = {
        "pose": [solve(ARM, target, HOME) for target in (TARGET, FAR)],
        "step": [track(ARM, TARGET, HOME, bound) for bound in (1.0, 0.01)],
        "look": [look_at(ARM, POINT, HOME, max_move=bound) for bound in (None, 1e-3)],
        "batch": [solve_batch(ARM, [TARGET, target], HOME) for target in (TARGET, FAR)],
        "path": [follow(ARM, [TARGET, target], HOME) for target in (TARGET, FAR)],
        "tasks": [
            solve_tasks(MODEL, each, NAMED, max_restarts=0) for each in ([hand], [hand, arm])
        ],
    }
    results["outcome"] = [each.outcomes[-1] for each in results["tasks"]]
    for name, (reached, missed) in results.items():
        assert [bool(reached), reached.success] == [True, True], name
        assert [bool(missed), missed.success] == [False, False], name
    assert solve_batch(ARM, [], HOME), "as all([])"
    assert follow(ARM, [], HOME), "as all([])"


@pytest.mark.parametrize("name", [*SOLVERS, "batch", "tasks"])
def test_results_can_be_compared_and_copied(name):
    solvers = SOLVERS | {
        "batch": lambda target, seed: solve_batch(ARM, [target], seed),
        "tasks": lambda target, seed: solve_tasks(
            MODEL, [PoseTask("panda_hand", target)], NAMED, max_restarts=0
        ),
    }
    one, other = (solvers[name](TARGET, HOME) for _ in range(2))
    third = solvers[name](ARM.forward(HOME - 0.1), HOME)
    assert one == other
    assert one != third
    assert one != TARGET
    for copied in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert copied == one


def test_tasks_can_be_compared():
    for kind, wanted in ((PoseTask, TARGET.matrix), (LookTask, np.array(POINT))):
        assert kind("hand", wanted) == kind("hand", wanted.copy())
        assert kind("hand", wanted) != kind("hand", wanted + 1.0)
        assert kind("hand", wanted) != kind("eye", wanted)
    assert DistanceTask("hand", POINT, 0.3) == DistanceTask("hand", np.array(POINT), 0.3)
    assert DistanceTask("hand", POINT, 0.3) != LookTask("hand", POINT)
    assert PoseConstraint(box=[0, 0, 1]) == PoseConstraint(box=(0.0, 0.0, 1.0))
    traced = [solve(ARM, TARGET, HOME, solver="fabrik", trace=True).passes for _ in range(2)]
    assert traced[0] == traced[1]
    assert traced[0].stages[0] != traced[0].stages[1]
    assert traced[0] != solve(ARM, TARGET, HOME, solver="fabrik").passes


def test_every_class_with_a_verdict_says_whether_it_is_a_success():
    found = set()
    for path in (ROOT / "basis_ik").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                named = {getattr(each, "name", "") for each in node.body}
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                if "success" in named or any(each.target.id == "verdict" for each in fields):
                    found.add(node.name)
                    assert {"success", "__bool__"} <= named or node.name == "Reason", node.name
    assert found > {"Reason", "Solution", "BatchSolution", "PathSolution", "TasksSolution"}
