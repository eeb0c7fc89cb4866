# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

import os
from glob import glob
from os.path import isfile
from pathlib import Path

from setuptools import find_packages, setup

package_name = "basis_ik"


def installed(folder):
    """Return the files of a folder with the place below share/ that they go to."""
    return (f"share/{package_name}/{folder}", sorted(f for f in glob(f"{folder}/*") if isfile(f)))


# `ros2 run basis_ik ...`. Without ROS there is nothing for them to do, and names like `replay` are
# no others' to have: `pip install .` then installs `basis_ik` alone.
ros_programs = [
    f"{name} = basis_ik.programs:{name}"
    for name in (
        "ik_node",
        "replay",
        "record_dataset",
        "play_dataset",
        "go",
        "simulated_arm",
        "demo_targets",
        "frames_node",
        "transform_nodes",
        "moving_point",
        "teleop_keyboard",
        "legs_motion",
        "reach_map",
        "web_view",
    )
] + ["warm_up = basis_ik.__main__:warm_up"]

setup(
    name=package_name,
    version="0.1.0",
    packages=find_packages(include=[package_name, f"{package_name}.*"]),
    package_data={package_name: ["py.typed", "extras/web_view/hand.html"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{package_name}"]),
        (f"share/{package_name}", ["package.xml"]),
        installed("launch"),
        installed("config"),
        installed("config/robots"),
        installed("config/security"),
        installed("rviz"),
        installed("urdf"),
    ],
    # Also in basis_ik/dependencies.py, which says so where nobody has asked pip; and in README.md.
    python_requires=">=3.10",
    install_requires=["numba>=0.56.4", "numpy>=1.24", "transforms3d>=0.4"],
    extras_require={  # also in README.md
        "record": ["mcap>=1.6"],
        "dataset": ["lerobot[dataset]>=0.6"],
        "plots": ["matplotlib"],
        "cluster": ["distributed"],
        "collisions": ["coal>=3", "trimesh", "pycollada"],
        "physics": ["mujoco>=3.3"],
        "test": ["pytest"],
        "view": ["viser>=1.1,<1.2", "pycollada"],
    },
    zip_safe=True,
    maintainer="basis_ik maintainers",
    maintainer_email="maintainers@basis-ik.invalid",  # as in package.xml, which says why
    author_email="maintainers@basis-ik.invalid",
    url="https://basis-ik.invalid/",
    author="basis_ik maintainers",
    description="Inverse kinematics for any arm from its robot_description alone",
    # colcon may run a link to this file elsewhere.
    long_description=(Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "basis_ik = basis_ik.__main__:main",
            *(ros_programs if "AMENT_PREFIX_PATH" in os.environ else []),
        ],
    },
)
