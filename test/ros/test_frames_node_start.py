"""How the constraints of frames_node are told, and what is said about mistakes in them."""

import os
import subprocess
import sys

import pytest

GOOD = {
    "constraints": "[look]",
    "look": {"type": "points_at", "bone": "a", "tail": "b", "target": "c"},
}


def ends(path, domain):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "basis_ik.ros.programs", "frames_node"),
            *("--ros-args", "--params-file", str(path)),
        ],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        ("update_rate: 50.0", ["'constraints' is missing"]),
        ("constraints: [look]", ["'look.type' is missing", "points_at, fabrik"]),
        (
            "constraints: [look]\n    look: {type: points-at, target: c}",
            ["look.type must be one of points_at, fabrik, not 'points-at'"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tale: b, target: c}",
            ["'look.tail' is missing"],
        ),
        (
            "constraints: [look]\n    look: {type: points_at, bone: a, tail: b, target: c, up: z}",
            ["'look.up'"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a], target: c}",
            ["foot.chain wants two or more different frames"],
        ),
        (
            "constraints: [foot]\n    foot: {type: fabrik, chain: [a, b, a], target: c}",
            ["foot.chain wants two or more different frames"],
        ),
        (
            "update_rte: 5.0\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["'update_rte'", "did you mean 'update_rate'"],
        ),
        (
            "update_rate: .nan\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["update_rate must lie in [1, 1000]"],
        ),
        (
            "prefix: ''\n    constraints: [foot]\n"
            "    foot: {type: fabrik, chain: [a, b], target: c}",
            ["prefix must not be empty"],
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path, domain, yaml, words):
    path = tmp_path / "params.yaml"
    path.write_text(f"frames_node:\n  ros__parameters:\n    {yaml}\n")
    code, error = ends(path, domain)
    assert code == 1, error
    assert "Traceback" not in error
    line = error.strip().splitlines()[-1]
    assert line.startswith("frames_node: ")
    assert all(word in line for word in words), line
