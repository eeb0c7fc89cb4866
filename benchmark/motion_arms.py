# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The node under test and the arm that it moves: ours, or a real controller with mock hardware."""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from motion_client import ARM, START, URDF

PROGRAMS = (sys.executable, "-m", "basis_ik.programs")
SIMULATED_CYCLES, REAL_CYCLES = 200.0, 500  # Hz; a grid of 10 ms needs no samples between
CONTROLLER, BROADCASTER = "joint_trajectory_controller", "joint_state_broadcaster"
HARDWARE = """
<ros2_control name="arm" type="system">
  <hardware><plugin>mock_components/GenericSystem</plugin>
    <param name="calculate_dynamics">true</param></hardware>
  {joints}
</ros2_control>
</robot>"""
JOINT = """<joint name="{name}"><command_interface name="position"/>
  <state_interface name="position"><param name="initial_value">{start}</param></state_interface>
  <state_interface name="velocity"/></joint>"""


@contextlib.contextmanager
def running(*command):
    """Run a program until the end of the block."""
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def program(name, *parameters):
    """Run one of the package's programs; what it logs is only shown where it is an error."""
    given = [word for parameter in parameters for word in ("-p", parameter)]
    return running(*PROGRAMS, name, "--ros-args", "--log-level", "error", *given)


@contextlib.contextmanager
def simulated_arm(bench, *parameters):
    """Run the package's own arm."""
    bench.describe(URDF)
    at = [f"initial_positions.{name}:={q}" for name, q in zip(ARM.joints, START, strict=True)]
    with program("simulated_arm", f"publish_rate:={SIMULATED_CYCLES}", *at, *parameters):
        yield


@contextlib.contextmanager
def ros2_control(bench):
    """Run ros2_control's joint_trajectory_controller, with hardware that follows exactly."""
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    try:
        get_package_prefix(CONTROLLER)
        prefix = Path(get_package_prefix("controller_manager"))
    except PackageNotFoundError as error:
        raise SystemExit(f"bench_motion: needs ros2_control and its controllers: {error}") from None
    joints = zip(ARM.joints, START, strict=True)
    text = "".join(JOINT.format(name=name, start=start) for name, start in joints)
    bench.describe(URDF.replace("</robot>", HARDWARE.format(joints=text)))
    manager = {
        "update_rate": REAL_CYCLES,
        BROADCASTER: {"type": f"{BROADCASTER}/JointStateBroadcaster"},
        CONTROLLER: {"type": f"{CONTROLLER}/JointTrajectoryController"},
    }
    controller = {
        "joints": ARM.joints,
        "command_interfaces": ["position"],
        "state_interfaces": ["position", "velocity"],
    }
    parameters = {"controller_manager": manager, CONTROLLER: controller}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "controllers.yaml"  # JSON is YAML
        path.write_text(
            json.dumps({name: {"ros__parameters": of} for name, of in parameters.items()})
        )
        node = prefix / "lib" / "controller_manager" / "ros2_control_node"
        arguments = ("--ros-args", "--log-level", "error", "--params-file", str(path))
        with running(str(node), *arguments):
            _start_controllers(bench)
            yield


def _start_controllers(bench):
    from controller_manager_msgs.srv import ConfigureController, LoadController, SwitchController

    names = [BROADCASTER, CONTROLLER]
    for kind, name in ((LoadController, "load"), (ConfigureController, "configure")):
        for controller in names:
            if not bench.call(kind, f"controller_manager/{name}_controller", name=controller).ok:
                raise SystemExit(f"bench_motion: controller_manager: cannot {name} {controller}")
    switch = {"activate_controllers": names, "strictness": SwitchController.Request.STRICT}
    if not bench.call(SwitchController, "controller_manager/switch_controller", **switch).ok:
        raise SystemExit("bench_motion: controller_manager: cannot activate the controllers")


@contextlib.contextmanager
def lab(bench, arm):
    """Run an arm and the node with full limits; both are ready, the arm where it starts."""
    bench.raw.clear()
    bench.rows.clear()
    bench.statuses.clear()
    full = ("max_velocity_scaling_factor:=1.0", "max_acceleration_scaling_factor:=1.0")
    with arm, program("ik_node", *full):
        bench.until(
            lambda: bench.statuses and bench.statuses[-1][1].get("state") == "READY",
            "the node is ready",
        )
        bench.until(bench.commands.server_is_ready, "the arm listens")
        time.sleep(1.0)
        yield
