# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""The package stands on public names of other people's packages only.

A name that begins with an underscore may be gone in the next release, and with it every node.
"""

import ast
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

import pytest
from rclpy.clock import ROSClock
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from basis_ik.ros.ik_node import IkNode

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "basis_ik").rglob("*.py"))
# numba has no public way to a faster compilation. Without these files plain numba compiles; see
# `jit`, which uses them with the versions of numba that they were tried with.
EXEMPT = {"numerics/compiler.py", "numerics/lowering.py"}
# Documented members of the standard library's named tuples, and a documented function.
DOCUMENTED = {"_replace", "_asdict", "_fields", "_make", "_exit"}
SHARED = {"_m"}  # the matrix of a rigid transform, which solvers read without a copy
# What a variable or an attribute of this name holds.
HOLDS = {
    "node": (LifecycleNode, IkNode), "_node": (LifecycleNode, IkNode),
    "_executor": (SingleThreadedExecutor,), "executor": (SingleThreadedExecutor,),
    "_subscription": (Subscription,), "subscription": (Subscription,),
    "_publisher": (Publisher,), "publisher": (Publisher,), "_timer": (Timer,),
    "clock": (ROSClock,), "_clock": (ROSClock,), "service": (Service,),
}  # fmt: skip


def is_private(name):
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def is_foreign(module):
    root = module.split(".")[0]
    return root != "basis_ik" and root not in sys.stdlib_module_names


def own_names(tree):
    """Yield the names that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Store):
            yield node.attr if isinstance(node, ast.Attribute) else node.id


def private_names(tree, ours):
    """Yield what a file uses of others that is private: imports, and attributes.

    Args:
        ours: Names that the package defines, which may be used of `self`.
    """
    own = set(own_names(tree)) | DOCUMENTED | SHARED
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and is_foreign(node.module):
            names = [*node.module.split("."), *(each.name for each in node.names)]
            if "impl" in names or any(map(is_private, names)):
                yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            yield from (
                (node.lineno, each.name)
                for each in node.names
                if is_foreign(each.name) and any(map(is_private, each.name.split(".")))
            )
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            if node.attr not in (own | ours if is_self else own):
                yield node.lineno, ast.unparse(node)


TREES = {str(path.relative_to(ROOT / "basis_ik")): ast.parse(path.read_text()) for path in FILES}
OURS = {name for tree in TREES.values() for name in own_names(tree)}


@pytest.mark.parametrize("file", sorted(TREES.keys() - EXEMPT))
def test_no_private_name_of_another_package_is_used(file):
    assert list(private_names(TREES[file], OURS)) == []


@pytest.mark.parametrize("file", sorted(EXEMPT))
def test_an_exempt_file_needs_its_exemption(file):
    assert list(private_names(TREES[file], OURS)) != []


@pytest.mark.parametrize(
    "text",
    [
        "from rclpy.impl.implementation_singleton import rclpy_implementation",
        "from rclpy._rclpy_pybind11 import WaitSet",
        "import numba._dispatcher",
        "from viser import _messages",
        "executor._tasks_of_theirs",
        "node.executor._guard_of_theirs.trigger()",
    ],
)
def test_a_private_name_is_found(text):
    assert list(private_names(ast.parse(text), OURS))


def test_neither_wait_sets_nor_pointers_are_used():
    words = re.compile(r"WaitSet|wait_for_ready_callbacks|\.pointer\b|take_message|call_timer")
    ros = [path for path in FILES if "ros" in path.relative_to(ROOT / "basis_ik").parts]
    assert [path.name for path in ros if words.search(path.read_text())] == []


# Classes of ours that extend others' -----------------------------------------------------------


def extensions():
    """Return the classes of the package that have a base of another package."""
    found = []
    for file, tree in TREES.items():
        if file in EXEMPT:
            continue
        names = [each.name for each in tree.body if isinstance(each, ast.ClassDef)]
        module = importlib.import_module("basis_ik." + file[:-3].replace("/", ".")) if names else 0
        for name in names:
            kind = getattr(module, name)
            if any(is_foreign(base.__module__) for base in kind.__mro__):
                found.append(kind)
    return found


def used_of_self(kind):
    """Return the private names that the source of a class uses of `self` or defines."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    return {
        name.replace(f"_{kind.__name__.lstrip('_')}__", "__")
        for name in used | {each.name for each in tree.body[0].body if hasattr(each, "name")}
        if is_private(name)
    }


def test_no_class_shares_a_private_name_with_its_foreign_base():
    """It would read, replace or overwrite what belongs to the base."""
    shared = {}
    for kind in extensions():
        foreign = [each for each in kind.__mro__ if is_foreign(each.__module__)]
        theirs = set().union(*map(used_of_self, foreign))
        both = used_of_self(kind) & theirs
        if both:
            shared[kind.__qualname__] = both
    assert shared == {}


def test_the_node_is_among_the_classes_that_extend_others():
    assert IkNode in extensions()
    assert "_parameters" in used_of_self(Node)


# The rclpy at hand ------------------------------------------------------------------------------


def imported_of_rclpy():
    """Return every module and name of rclpy that is imported."""
    return sorted(
        {
            (node.module, each.name)
            for tree in TREES.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "rclpy"
            for each in node.names
        }
    )


@pytest.mark.parametrize(("module", "name"), imported_of_rclpy())
def test_an_imported_name_exists_in_this_rclpy(module, name):
    assert hasattr(importlib.import_module(module), name)


def members_used():
    """Return the members of rclpy's objects that are used, by the name that holds the object."""
    used = set()
    for file, tree in TREES.items():
        for node in ast.walk(tree) if file.startswith("ros/") else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                holder = node.value
                name = getattr(holder, "attr", getattr(holder, "id", ""))
                if name in HOLDS:
                    used.add((name, node.attr))
    return used


def instance_attributes(kind):
    """Return what the methods of a class assign to `self`."""
    text = "".join(inspect.getsource(each) for each in kind.__mro__[:-1])
    return set(re.findall(r"\bself\.(\w+)(?:: [^=\n]+)? = ", text))


def test_the_members_that_are_used_exist_in_this_rclpy():
    missing = {
        (name, member)
        for name, member in members_used()
        if member not in OURS  # some nodes are of a transform tree
        and not any(
            hasattr(kind, member) or member in instance_attributes(kind) for kind in HOLDS[name]
        )
    }
    assert missing == set()
