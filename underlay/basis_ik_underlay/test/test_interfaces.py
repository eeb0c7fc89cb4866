# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""The packages of interfaces: whole for Python, and nothing else is compiled."""

import importlib
import json
from pathlib import Path

import pytest
from ament_index_python import get_package_prefix, get_package_share_path, get_resource
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject
from moveit_msgs.srv import GetPositionIK
from object_recognition_msgs.msg import ObjectType
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.type_support import check_for_type_support

UNDERLAY = Path(__file__).parents[2]
PACKAGES = sorted({path.parents[1].name for path in UNDERLAY.glob("*/*/*.*")
                   if path.suffix in {".msg", ".srv", ".action"}})  # fmt: skip
LIBRARIES = (
    "rosidl_generator_c", "rosidl_generator_py", "rosidl_typesupport_c",
    "rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c",
)  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_every_definition_is_a_type_with_its_support(package):
    definitions = [
        path.relative_to(UNDERLAY / package)
        for path in (UNDERLAY / package).glob("*/*")
        if path.suffix in {".msg", ".srv", ".action"}
    ]
    assert definitions
    for definition in definitions:
        module = importlib.import_module(f"{package}.{definition.suffix[1:]}")
        check_for_type_support(getattr(module, definition.stem))


@pytest.mark.parametrize("package", PACKAGES)
def test_definitions_are_where_ros_looks_for_them(package):
    names, _ = get_resource("rosidl_interfaces", package)
    share = get_package_share_path(package)
    for name in names.splitlines():
        assert (share / name).is_file()
        if not name.endswith(".idl"):
            assert (share / name).read_text() == (UNDERLAY / package / name).read_text()
    kept = {path.suffix for path in share.glob("*/*.*")} - {".idl", ".json"}
    assert kept == {Path(name).suffix for name in names.splitlines()} - {".idl"}


@pytest.mark.parametrize("package", PACKAGES)
def test_only_what_python_needs_is_compiled(package):
    """C++ and its type supports would take most of the first start."""
    found = (Path(get_package_prefix(package)) / "lib").glob(f"lib{package}__*")
    assert sorted(path.name for path in found) == [f"lib{package}__{each}.so" for each in LIBRARIES]


def test_types_have_the_hash_of_upstreams():
    """Nodes on other machines compare it (REP 2011); this one is that of TFMessage in a release."""
    path = get_package_share_path("tf2_msgs") / "msg" / "TFMessage.json"
    hashes = {
        each["type_name"]: each["hash_string"]
        for each in json.loads(path.read_text())["type_hashes"]
    }
    assert hashes["tf2_msgs/msg/TFMessage"] == (
        "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"
    )


def test_a_message_keeps_what_is_of_another_package():
    request = GetPositionIK.Request()
    thing = CollisionObject(id="cup", type=ObjectType(key="1", db="things"))
    held = AttachedCollisionObject(link_name="tool0", object=thing, weight=0.3)
    request.ik_request.robot_state.attached_collision_objects.append(held)
    assert deserialize_message(serialize_message(request), GetPositionIK.Request) == request
