# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What set-up refuses, in one line, before it touches anything, and what it does otherwise."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SET_UP = ROOT / "underlay" / "setup.sh"
SCRIPTS = {"setup.sh", "paths.sh", "env.sh"}
ELSEWHERE = {"AMENT_PREFIX_PATH", "BASIS_IK_UNDERLAY", "DISTRO", "ROS_DISTRO"}
# A python3 that runs `-c CODE` as a given version, and makes no environments.
PYTHON = """#!/bin/sh
[ "$1" = -c ] || exit 1
exec {python} -c "import sys; sys.version_info = {version}
$2"
"""


@pytest.fixture
def refusal(tmp_path):
    """Return the error of the set-up of a copy."""
    shutil.copytree(
        ROOT / "underlay", tmp_path / "underlay", ignore=lambda folder, names: set(names) - SCRIPTS
    )

    def run(version=(3, 11), *, first_on_path=(), **environment):
        program = tmp_path / "python3"
        program.write_text(PYTHON.format(python=sys.executable, version=version))
        program.chmod(0o755)
        kept = {k: v for k, v in os.environ.items() if k not in ELSEWHERE}
        done = subprocess.run(
            ["bash", str(tmp_path / "underlay" / "setup.sh")],
            env=kept
            | {"PATH": os.pathsep.join([*first_on_path, str(tmp_path), os.environ["PATH"]])}
            | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.strip().splitlines()
        return line

    return run


def test_unknown_dependencies_are_refused(refusal):
    line = refusal(DEPENDENCIES="latest")
    assert line.endswith("DEPENDENCIES=latest is unknown. Choose newest, stock, lyrical or oldest.")


def test_a_sourced_ros_keeps_its_own_dependencies(refusal):
    line = refusal(DEPENDENCIES="stock", ROS_DISTRO="jazzy", AMENT_PREFIX_PATH="/opt/ros/jazzy")
    assert "a ROS 2 jazzy with its own is sourced. Leave it out" in line


def test_stock_needs_a_python_that_its_numba_supports(refusal):
    line = refusal((3, 12), DEPENDENCIES="stock")
    assert "DEPENDENCIES=stock needs Python 3.10 or 3.11" in line


def test_lyrical_needs_a_python_that_its_numpy_supports(refusal):
    line = refusal((3, 10), DEPENDENCIES="lyrical")
    assert "DEPENDENCIES=lyrical needs Python 3.11 or newer" in line


def test_oldest_needs_debian_12(refusal):
    line = refusal((3, 12), DEPENDENCIES="oldest")
    assert "DEPENDENCIES=oldest needs Debian 12" in line
    assert line.endswith("Choose DEPENDENCIES=stock.")


def test_an_outdated_environment_does_not_make_its_successor(refusal, tmp_path):
    own = tmp_path / ".setup" / "jazzy-stock" / "venv" / "bin"
    own.mkdir(parents=True)
    outdated = own / "python3"
    outdated.write_text("#!/bin/sh\nexit 1\n")
    outdated.chmod(0o755)
    line = refusal(
        (3, 12), first_on_path=[str(own)], DEPENDENCIES="stock", BASIS_IK_UNDERLAY="jazzy"
    )
    assert "DEPENDENCIES=stock needs Python 3.10 or 3.11" in line


# What it does, with programs that only note their calls ------------------------------------------

NOTE = "#!/bin/sh\necho $(basename $0) $* >> {log}\n"
# `python3 -m venv FOLDER` makes an environment of these programs.
MAKE_ENVIRONMENT = """#!/bin/sh
case "$*" in
  "-m venv "*) for bin; do bin=$bin/bin; done; mkdir -p "$bin" && echo venv >> {log}
    cp {tools}/pip {tools}/python {tools}/colcon "$bin" ;;
  *) exec {python} "$@" ;;
esac
"""


class Copy:
    """A copy of the set-up in a folder, and programs that only note their calls."""

    def __init__(self, folder):
        self.root, self.tools, self.log = folder / "copy", folder / "tools", folder / "calls"
        self.requirements = self.root / "underlay" / "requirements"
        ignore = shutil.ignore_patterns("__pycache__", "test")
        shutil.copytree(ROOT / "underlay", self.root / "underlay", ignore=ignore)
        for name in (
            "setup.py", "setup.cfg", "package.xml", "launch/a", "config/a/b", "rviz/a", "urdf/a",
            "basis_ik/warm_up.py", "basis_ik/numerics/a_kernel.py",
        ):  # fmt: skip
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()
        self.tools.mkdir()
        for name in ("pip", "python", "colcon"):
            self.program(name, "")
        environment = MAKE_ENVIRONMENT.format(log=self.log, tools=self.tools, python=sys.executable)
        self.program("python3", environment)

    def program(self, name, text):
        """Replace a program; it notes its calls if it is not a script of its own."""
        path = self.tools / name
        path.write_text(text if text.startswith("#!") else NOTE.format(log=self.log) + text)
        path.chmod(0o755)

    def start(self, *goal, **environment):
        self.log.write_text("")
        kept = {k: v for k, v in os.environ.items() if k not in ELSEWHERE | {"VIRTUAL_ENV"}}
        path = os.pathsep.join([str(self.tools), "/usr/bin", "/bin"])
        return subprocess.Popen(
            ["bash", str(self.root / "underlay" / "setup.sh"), *goal],
            env=kept | {"PATH": path} | environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, *goal, **environment):
        """Run it; return the result with what it printed, and the calls."""
        process = self.start(*goal, **environment)
        out, err = process.communicate(timeout=60)
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        return done, self.log.read_text().splitlines()


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def installed(calls):
    """Return the files of requirements that pip was given, in order."""
    pips = [call for call in calls if call.startswith("pip")]
    return [re.findall(r"requirements/(\w+)\.txt", call) for call in pips]


def test_the_demo_gets_what_it_needs_and_no_more(copy):
    done, calls = copy.run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert installed(calls) == [["newest", "common"], ["common", "jazzy"]]
    assert "python -m basis_ik warm-up --node" in calls


def test_everything_else_is_added_to_it(copy):
    copy.run("demo")
    done, calls = copy.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert [files[0] for files in installed(calls)] == ["view", "tools"]
    assert "python -m basis_ik warm-up" in calls
    assert not [call for call in calls if call.startswith(("colcon", "venv"))]


def test_what_is_there_is_passed_over(copy):
    copy.run()
    for goal in ("demo", "view", "all"):
        done, calls = copy.run(goal)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert not [call for call in calls if not call.startswith("python -c")]


def test_with_ros_installed_only_tools_are_installed(copy):
    sourced = {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/jazzy"}
    done, calls = copy.run(**sourced)
    assert (done.returncode, done.stderr) == (0, "")
    assert installed(calls) == [["view", "newest"], ["tools", "newest"]]
    assert [call.split()[-1] for call in calls if call.startswith("colcon")] == ["basis_ik"]
    done, _ = copy.run("demo", **sourced)
    assert len(done.stdout.splitlines()) == 1  # which says that it is used


@pytest.mark.parametrize("name", ["common", "jazzy", "newest", "tools", "view"])
def test_a_changed_pin_is_installed(copy, name):
    copy.run()
    with open(copy.requirements / f"{name}.txt", "a") as file:
        file.write("# changed\n")
    _, calls = copy.run()
    assert any(name in files for files in installed(calls))
    assert ("venv" in calls) == (name == "newest")


def test_changed_messages_are_made_anew(copy):
    copy.run()
    (copy.root / "underlay" / "tf2_msgs" / "msg" / "More.msg").write_text("int8 more\n")
    _, calls = copy.run("demo")
    assert [call.split()[:2] for call in calls if "interfaces" in call] == [
        ["python", "underlay/interfaces.py"]
    ]


def test_an_interrupted_run_goes_on(copy):
    copy.program("pip", 'case "$*" in *requirements/jazzy*) [ -e "$GO_ON" ] || exit 1 ;; esac')
    done, calls = copy.run("demo")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("Run the same command again to go on.")
    assert len(installed(calls)) == 2
    done, calls = copy.run("demo", GO_ON="/")
    assert (done.returncode, done.stderr) == (0, "")
    assert installed(calls) == [["common", "jazzy"]]


def test_a_failure_ends_the_compiler_of_kernels(copy, tmp_path):
    held = tmp_path / "held"
    copy.program("python", f'case "$*" in *warm-up*) echo $$ > {held}; exec sleep 600 ;; esac')
    copy.program(
        "pip",
        f'case "$*" in *jazzy.txt*) while [ ! -s {held} ]; do sleep 0.01; done; exit 1 ;; esac',
    )
    done, _ = copy.run("demo")
    assert done.returncode == 1
    while Path(f"/proc/{held.read_text().strip()}").exists():  # ten minutes, if it is not ended
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_goes_on_after_an_interruption(copy, tmp_path, number):
    files = {"pip": tmp_path / "pip_pid", "python": tmp_path / "python_pid"}
    for name, words in ("pip", "jazzy.txt"), ("python", "warm-up"):
        line = f'case "$*" in *{words}*) echo $$ > {files[name]}; exec sleep 600 ;; esac'
        copy.program(name, line)
    process = copy.start("demo")
    while not all(path.exists() and path.read_text().strip() for path in files.values()):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, number)
    process.communicate(timeout=60)
    for path in files.values():
        while Path(f"/proc/{path.read_text().strip()}").exists():
            time.sleep(0.01)


def test_kernels_that_do_not_compile_are_a_failure(copy):
    copy.program("python", 'case "$*" in *warm-up*) echo "no memory"; exit 1 ;; esac')
    done, _ = copy.run("demo")
    assert done.returncode == 1
    assert "no memory" in done.stdout
    assert done.stderr.strip() == "basis_ik set-up: the kernels did not compile."


def test_pips_progress_is_counted():
    (function,) = re.findall(r"^fetched\(\) \{.*?^\}", SET_UP.read_text(), re.DOTALL | re.MULTILINE)
    log = """Collecting numpy==2.4.6 (from -r a)
  Downloading numpy-2.4.6-cp311.whl (16.9 MB)
Collecting ros-jazzy-rclpy==7.1.6
  Downloading rclpy.whl (600 kB)
"""
    for text, expected in (
        ("", "asking PyPI"),
        ("Requirement already satisfied: numpy==2.4.6\n", "nothing to fetch"),
        (log, "2 packages, 18 MB: ros-jazzy-rclpy"),
        (log + "Installing collected packages: numpy\n", "2 packages, 18 MB: unpacking"),
        (log + "Successfully installed numpy-2.4.6\n", "2 packages, 18 MB fetched and unpacked"),
    ):
        done = subprocess.run(
            ["bash", "-c", f"{function}\nfetched /dev/stdin"],
            input=text, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert done.stdout == expected


@pytest.mark.parametrize(
    ("arguments", "goal"),
    [
        ([], "demo"),
        (["ROBOT=panda"], "demo"),
        (["ARGS=log_level:=debug"], "demo"),
        (["VIEW=1"], "view"),
        (["ARGS=view:=true"], "view"),
        (["VIEW=1", "ARGS=physics:=mujoco"], "all"),
    ],
)
def test_the_demo_asks_for_what_its_arguments_need(arguments, goal):
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo", *arguments], cwd=ROOT,
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[0] == f"bash underlay/setup.sh {goal}"


def test_each_package_has_one_pin():
    """pip resolves nothing for the demo, so what has no pin would be missing."""
    pins = {
        path.stem: [
            line for line in path.read_text().splitlines() if line and not line.startswith("#")
        ]
        for path in (ROOT / "underlay" / "requirements").glob("*.txt")
    }
    of_dependencies = {"newest", "stock", "lyrical", "oldest", "oldest-debian"}
    for name, lines in pins.items():
        names = {line.partition("=")[0] for line in lines}
        if name not in {"tools", "oldest-debian"}:
            assert all(re.match(r"[\w-]+==[\w.]+", line) for line in lines), name
        for other in pins.keys() - of_dependencies - {name, "jazzy", "kilted"}:
            if name not in of_dependencies:
                assert not names & {line.partition("=")[0] for line in pins[other]}, (name, other)


# Benchmarks ---------------------------------------------------------------------------------------

BENCHMARK = """import sys
from pathlib import Path
Path(sys.argv[-1]).write_text("new")
"""


@pytest.mark.parametrize(
    ("write", "place"), [("", ".setup/bench/results"), ("1", "benchmark/results")]
)
def test_a_benchmark_replaces_tracked_results_only_if_asked_to(copy, write, place):
    """It says how much it fetches before it does."""
    tracked = copy.root / "benchmark" / "results" / "solve.json"
    for path, text in (
        (copy.root / "benchmark" / "run.sh", (ROOT / "benchmark" / "run.sh").read_text()),
        (copy.root / "benchmark" / "requirements.txt", ""),
        (copy.root / "benchmark" / "bench_solve.py", BENCHMARK),
        (copy.root / "benchmark" / "bench_latency.py", BENCHMARK),
        (tracked, "old"),
    ):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    copy.program("python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    copy.program("pip", "#!/bin/sh\necho Downloading\n")
    (copy.root / "docs" / "figures").mkdir(parents=True)
    (copy.root / "docs" / "figures" / "draw_bench.py").touch()

    def run(bench):
        path = os.pathsep.join([str(copy.tools), "/usr/bin", "/bin"])
        return subprocess.run(
            ["bash", str(copy.root / "benchmark" / "run.sh"), "--quick"],
            env={"PATH": path, "BENCH": bench, "WRITE": write},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    done = run("solve")
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    assert "2.7 GB" in said[said.index("Downloading") - 1]
    assert (copy.root / place / "solve.json").read_text() == "new"
    assert tracked.read_text() == ("new" if write else "old")
    assert "Downloading" not in run("latency").stdout
    refused = run("solv")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "BENCH=solv is unknown. Choose of: latency solve\n"


@pytest.mark.parametrize("script", sorted((ROOT / "benchmark").glob("*.py")), ids=lambda f: f.stem)
def test_a_benchmark_alone_writes_no_results_that_it_was_not_told_to(script):
    """Its `--json` has no default; only the table of motions names the tracked folder, to read."""
    text = script.read_text()
    tree = ast.parse(text)
    options = [
        {word.arg for word in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and any(isinstance(each, ast.Constant) and each.value == "--json" for each in node.args)
        and getattr(node.func, "attr", "") == "add_argument"
    ]
    assert all("default" not in given for given in options)
    assert options or not script.stem.startswith("bench_")
    assert '/ "results"' not in text or script.stem == "motion_table"
