# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is compiled in advance, and how it is shown."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numba
import pytest

from basis_ik import warm_up
from basis_ik.numerics import jit
from basis_ik.process import still_compiling
from basis_ik.robot.robot import RobotModel
from basis_ik.warm_up import Step, WarmUp

URDF = Path(__file__).parents[1] / "urdf"
SCRIPT = """
import sys
from basis_ik.numerics import jit as compiling
from basis_ik.numerics.jit import jit, when_compiling
compiling.ANNOUNCEMENT_DELAY = float(sys.argv[2])

@jit
def double(x):
    return 2 * x

exec(sys.argv[1])
"""


def told(code, tmp_path, patience=0.0):
    """Run code beside a kernel, with a patience in seconds; return what is on stderr."""
    script = tmp_path / "script.py"
    if not script.exists():  # numba compiles again what was written again
        script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), code, str(patience)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stderr


def test_whoever_waits_for_the_compiler_is_told_once(tmp_path):
    assert told("double(2); double(2.0)", tmp_path) == f"{jit.COMPILATION_MESSAGE}\n"
    assert told("double(2); double(2.0)", tmp_path) == "", "it is in the cache"
    assert 0.0 < jit.ANNOUNCEMENT_DELAY <= 1.0


def test_whoever_hardly_waits_is_not_told(tmp_path):
    code = """
import threading
double(2)
timers = [each for each in threading.enumerate() if isinstance(each, threading.Timer)]
assert all(each.finished.is_set() for each in timers), "nothing is told later"
"""
    assert told(code, tmp_path, patience=60.0) == ""


def test_short_waits_add_up(tmp_path):
    code = """
double(2)
waits = compiling._compilations
assert 0.0 < waits._waited < 60.0
waits._waited, compiling.ANNOUNCEMENT_DELAY = 60.0, 60.001
double(2.0)
"""
    assert told(code, tmp_path, patience=60.0) == f"{jit.COMPILATION_MESSAGE}\n"


def test_a_node_logs_the_compilation(tmp_path):
    code = "when_compiling(lambda: print('node', file=sys.stderr)); double(2); double(2.0)"
    assert told(code, tmp_path) == "node\n"


def test_foreign_kernels_are_not_reported(tmp_path):
    code = "import numba; numba.njit(lambda x: x)(1.0)"
    assert told(code, tmp_path) == ""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("robot", "tip"),
    [("ur5e", None), ("panda", None), ("pan_tilt", None), ("legs", "ankle_l")],
)
def test_all_robots_use_the_same_kernels(robot, tip):
    for step in warm_up.node_steps():
        step.run()
    chain = RobotModel.from_urdf((URDF / f"{robot}.urdf").read_text()).chain(None, tip)
    before = [(kernel, len(kernel.overloads)) for kernel in jit._kernels]
    warm_up.prepare(chain)
    late = [kernel.py_func.__name__ for kernel, n in before if len(kernel.overloads) != n]
    assert late == []


ENTERED = """
import ast, sys
from pathlib import Path
from basis_ik import warm_up
from basis_ik.numerics import jit

for step in warm_up.all_steps():
    step.run()
left = set()
for name, module in list(sys.modules.items()):
    if name.split(".")[0] != "basis_ik" or name.endswith("_kernel"):
        continue
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        used = None
        if isinstance(node, ast.Name):
            used = vars(module).get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = vars(module).get(node.value.id)
            if getattr(owner, "__name__", "").endswith("_kernel"):
                used = getattr(owner, node.attr)
        if jit._is_kernel(used) and not used.overloads:
            left.add(f"{name}:{used.py_func.__name__}")
print(*left)
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_every_kernel_that_python_calls_is_compiled_for_python():
    """And not only into its callers; the calls are found in the sources."""
    done = subprocess.run(
        [sys.executable, "-c", ENTERED], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.split() == []


def test_all_kernels_of_the_library_are_compiled():
    code = """
from basis_ik import warm_up
from basis_ik.numerics import jit
for step in warm_up.all_steps():
    step.run()
reached, entered = set(), [each for each in jit._kernels if each.overloads]
while entered:
    each = entered.pop()
    if each not in reached:
        reached.add(each)
        entered += jit._callees(each)
left = [each.py_func for each in jit._kernels if each not in reached]
print(*[each.__name__ for each in left])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True
    )
    assert set(done.stdout.split()) <= {"forward"}  # which only tests call


FAMILIES = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import closed_arms
from basis_ik import PoseConstraint, look_at, solve, solve_all, solve_batch, track, warm_up
from basis_ik.numerics import jit
from basis_ik.closed_form import closed_form
from basis_ik.closed_form.closed_form import FORMS, Kernels
from basis_ik.search.prepare import prepared

assert {each for each in vars(closed_form).values() if isinstance(each, Kernels)} == set(FORMS)
for step in getattr(warm_up, f"{sys.argv[2]}_steps")():
    step.run()
named = closed_arms.ROWS | closed_arms.FEWER | closed_arms.OFFSET_WRISTS
rng = np.random.default_rng(0)
kinds = (*closed_arms.BOTH_WAYS, *closed_arms.MEETING)
drawn = {kind: closed_arms.random_arm(kind, rng) for kind in kinds}
parts = (None, *(PoseConstraint(free_axis=axis) for axis in ((0, 0, 1.0), (0.3, 0.2, 1.0))))
seen, late = set(), []
for name, rows in (named | drawn).items():
    before = {kernel: len(kernel.overloads) for kernel in jit._kernels}
    chain = closed_arms.chain_of(*rows)
    if sys.argv[2] == "node":
        warm_up.prepare(chain)
    form = prepared(chain).closed
    seen.add(form and FORMS.index(form.kernels))
    lower, upper = np.maximum(chain.lower, -3.0), np.minimum(chain.upper, 3.0)
    for _ in range(3):
        q, seed = rng.uniform(lower, upper, (2, len(lower)))
        target, beside = chain.forward(q), chain.forward(q).matrix.copy()
        beside[:3, 3] += rng.uniform(-0.1, 0.1, 3)
        for goal in (target, beside):
            for part in parts:
                solve(chain, goal, seed, constraint=part)
            solve(chain, goal, seed, position_only=True)
            track(chain, goal, seed, 0.01)
        look_at(chain, beside[:3, 3], seed)
        solve_all(chain, target, seed, starts=1)
        if form is not None:  # `rough` may answer instead
            form._replace(rough=None).excludes(prepared(chain).variables, beside, (1e-6, 1e-6))
        if sys.argv[2] == "all":
            for seeds in (seed, np.array([seed, q]), np.array([seed, q], order="F")):
                solve_batch(chain, [target, beside], seeds)
                solve_batch(chain, np.array([beside, beside], order="F"), seeds)
            solve_batch(chain, [target], position_only=True)
            solve_batch(chain, [target], constraint=parts[1])
    late += [f"{name}:{k.py_func.__name__}" for k, n in before.items() if len(k.overloads) != n]
assert seen >= set(range(len(FORMS))), seen
print(*late)
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("steps", ["node", "all"])
def test_after_the_warm_up_no_family_of_arms_compiles_anything(steps):
    folder = str(Path(__file__).parent / "search")
    done = subprocess.run(
        [sys.executable, "-c", FAMILIES, folder, steps],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", [])


# Each case is a fork of one process, which has imported what all of them need.
FORKS = """
import os, sys
import numpy as np
from basis_ik import warm_up
from basis_ik.numerics import jit
from basis_ik.bones.bone_limits import Cone, Hinge, SwingTwist
from basis_ik.bones.constraints import Point, Reach
from basis_ik.bones.meet import Needs, meet, needs
from basis_ik.transforms.rigid import RigidTransform
from basis_ik.transforms.tree import TransformTree
{imports}

chain = ("a", "b", "c", "d")
rng = np.random.default_rng(0)
{work}

for name, case in {cases}.items():
    if os.fork() == 0:
        steps, run = prepared(case)
        for step in steps:
            step.run()
        before = [(kernel, len(kernel.overloads)) for kernel in jit._kernels]
        run()
        late = [kernel.py_func.__name__ for kernel, n in before if len(kernel.overloads) != n]
        print(f"{{name}}:", *late, flush=True)
        os._exit(0)
    os.wait()
"""


def late_kernels(cases, imports, work):
    """Return the names of the kernels that each case compiles after its steps, by its name.

    Args:
        cases: What `prepared` is called with in a process, by name.
        imports: What else is imported.
        work: Code that defines `prepared`, which returns a case's steps and what runs after them.
    """
    code = FORKS.format(cases=cases, imports=imports, work=work)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = (line.partition(":") for line in done.stdout.splitlines())
    return {name: late.split() for name, _, late in found}


FRAMES = {
    "free": "{'look': look}, {'reach': reach}, {'far': far}, {'close': close}, {'shared': shared}",
    "points within limits": "{'cone': Point('c', 'd', 'target', Cone(rest, 0.1))},"
    " {'twist': Point('c', 'd', 'target', SwingTwist(rest, 0.1, -0.1, 0.1)),"
    " 'hinge': Point('c', 'd', 'target', Hinge(rest, (1.0, 0.0, 0.0), -0.1, 0.1))}",
    "shared": "{'reach': reach, 'knee': Reach(('a', 'b', 'c'), 'far'), 'look': look},",
    "limits": "{'limited': limited}, {'far': Reach(chain, 'far', limits=limited.limits)}",
    "shared within limits": "{'arm': Reach(('a', 'b', 'e'), 'target'), 'other': reach,"
    " 'limited': limited},",
}


@pytest.fixture(scope="module")
def late_for_frames():
    work = """
rest = RigidTransform.identity()
look = Point("c", "d", "target")
reach, far, close = (Reach(chain, goal) for goal in ("target", "far", "close"))
shared = Reach(chain, "target", "shared")
limits = {"a": Cone(rest, 0.5), "b": Hinge(rest, (0.0, 1.0, 0.0), 0.0, 2.0)}
limited = Reach(chain, "target", limits=limits | {"c": SwingTwist(rest, 1.0, -0.3, 0.3)})

def turned(*xyz):
    return RigidTransform.from_rpy(*rng.uniform(-0.5, 0.5, 3), xyz)

def prepared(text):
    cases = eval(f"[{text}]")
    needed = zip(*(needs(list(constraints.values())) for constraints in cases))

    def run():
        for constraints in cases:
            for _ in range(5):
                tree = TransformTree("root")
                for above, frame in zip(("root", *chain), chain):
                    tree.add(frame, above, turned(0.1, 0.0, 1.0))
                tree.add("e", "b", turned(0.5, 0.5, 0.0))
                places = (("target", (1, 0.5, 2)), ("far", (9, 0, 0)), ("close", (0, 0.1, 0)))
                for name, place in places:
                    tree.add(name, "root", turned(*place))
                meet(tree, constraints)

    return warm_up.frames_steps(Needs(*map(any, needed))), run
"""
    return late_kernels(FRAMES, "", work)


@pytest.mark.parametrize("case", FRAMES)
def test_the_kernels_for_frames_nodes_constraints_are_compiled(case, late_for_frames):
    """Compiled in advance, of constraints that have no others beside them, from random poses."""
    assert late_for_frames[case] == []


NODES = ("look", "reach", "shared", "reach other", "look reach", "")


@pytest.fixture(scope="module")
def late_for_nodes():
    """All that the node calls: it meets, combines, draws them, and undoes a drag."""
    imports = """
from basis_ik.ros.frames.node_handles import dragged, node_at, place_of
from basis_ik.transforms.combine import combine
from basis_ik.transforms.node import TransformNode
from basis_ik.view.frames import frames_scene
"""
    work = """
every = {
    "look": Point("c", "d", "goal"),
    "reach": Reach(chain, "goal"),
    "shared": Reach(chain, "goal", "shared"),
    "other": Reach(chain[:3], "goal"),
}

def node(scaled):
    random = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4), rng.uniform(-1, 1, (2, 3))
    fields = dict(zip(("rotation", "scaleOrientation"), random))
    scale = rng.uniform(0.5, 2, 3) if scaled else np.ones(3)
    return TransformNode.from_fields(
        fields | dict(zip(("center", "translation"), random[2])) | {"scale": scale}
    )

def prepared(names):
    constraints = {name: every[name] for name in names.split()}

    def run():
        for i in range(20):
            inside = i % 2 > 0 and "other" not in constraints
            tree = TransformTree("world")
            for above, frame in zip(("world", "base", *chain), ("base", *chain)):
                tree.add(frame, above, node(scaled=inside or frame == "base"))
            tree.add("goal", "world", node(scaled=True))
            applied = meet(tree, constraints)
            frames_scene(tree, constraints, applied) if applied else []
            combine(chain, [node_at(tree, each) for each in chain]).node.as_fields()
            dragged(tree, "c", place_of(tree, "b"))

    return warm_up.transform_nodes_steps(constraints.values()), run
"""
    return late_kernels({each: each for each in NODES}, imports, work)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("names", NODES)
def test_the_kernels_for_constraints_on_scaled_nodes_are_compiled(names, late_for_nodes):
    assert late_for_nodes[names] == []


def test_steps_run_in_order_in_a_thread():
    done, go_on = [], threading.Event()
    under_way = WarmUp([Step("a", lambda: done.append("a")), Step("b", go_on.wait)])
    assert not under_way.wait(0.01)
    assert not under_way.ready
    assert still_compiling()
    go_on.set()
    assert under_way.wait(60.0)
    assert under_way.ready
    assert (done, under_way.step) == (["a"], "b")
    assert not still_compiling()


def test_an_exception_of_a_step_is_raised():
    under_way = WarmUp([Step("division", lambda: 1 // 0)])
    with pytest.raises(ZeroDivisionError):
        under_way.wait(60.0)
    with pytest.raises(ZeroDivisionError):
        _ = under_way.ready


def test_kernels_called_by_a_ready_kernel_are_ready():
    for step in warm_up.frames_steps():
        step.run()
    ready, all_ = jit.count_ready()
    entered = sum(bool(kernel.overloads) for kernel in jit._kernels)
    assert entered <= ready <= all_
    assert ready > 20 or numba.config.DISABLE_JIT


@pytest.mark.parametrize("is_on", [True, False])
def test_garbage_collection_is_off_only_meanwhile(is_on):
    seen = []

    def fail():
        seen.append(gc.isenabled())
        raise ZeroDivisionError

    (gc.enable if is_on else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError):
            WarmUp([Step("fails", fail)], alone=True).wait(60.0)
        assert (seen, gc.isenabled()) == ([False], is_on)
    finally:
        gc.enable()


def test_in_a_node_the_gil_switches_sooner_and_garbage_is_collected():
    seen, before = [], sys.getswitchinterval()

    def look():
        seen.append((gc.isenabled(), sys.getswitchinterval() < before))

    warm_up = WarmUp([Step("looks", look)])
    assert warm_up.wait(60.0)
    assert seen == [(True, True)]
    assert sys.getswitchinterval() == before
