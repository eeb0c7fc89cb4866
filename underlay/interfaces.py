# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0
"""Make Python packages of the messages, services and actions below this folder.

    python underlay/interfaces.py BUILD PREFIX

PREFIX is an ament prefix. It receives what Python needs of each interface package: its modules, the
libraries in C, and the definitions below `share`. The generators are rosidl's own. Upstream's CMake
build makes the same for C++, too, and an object file for each message and each generator, which
takes ten times as long.
"""

import json
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from graphlib import TopologicalSorter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from ament_index_python import get_package_prefix, get_package_share_path
from rosidl_adapter import convert_to_idl
from rosidl_generator_c import generate_c
from rosidl_generator_py import generate_py
from rosidl_generator_type_description import generate_type_hash
from rosidl_typesupport_c import generate_c as generate_dispatch
from rosidl_typesupport_fastrtps_c import generate_typesupport_fastrtps_c
from rosidl_typesupport_introspection_c import generate_c as generate_introspection

HERE = Path(__file__).resolve().parent
KINDS = (".msg", ".srv", ".action")
# Fast DDS needs both: the first for the data, the second for the description of the type.
TYPE_SUPPORTS = ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c"]
PYTHON = "rosidl_generator_py"
# Each makes a library; each is linked with those before it.
GENERATORS = {
    "rosidl_generator_c": generate_c,
    "rosidl_typesupport_fastrtps_c": generate_typesupport_fastrtps_c,
    "rosidl_typesupport_introspection_c": generate_introspection,
    "rosidl_typesupport_c": lambda arguments: generate_dispatch(arguments, TYPE_SUPPORTS),
    PYTHON: lambda arguments: generate_py(arguments, ["rosidl_typesupport_c"]),
}
RUN_TIME = (
    *TYPE_SUPPORTS, "rosidl_typesupport_c", "rosidl_typesupport_fastrtps_cpp", "rosidl_runtime_c",
    "fastcdr", "rcutils",
)  # fmt: skip
# What rosidl adds to services and actions.
IMPLIED = {"action_msgs", "builtin_interfaces", "service_msgs", "unique_identifier_msgs"}
# Optimising takes 9 s of processor time more.
COMPILE = ("-c", "-O0", "-w", "-fPIC", "-pipe")
PROCESSES = 2


class Interfaces:
    """A package of interfaces.

    Args:
        folder: Its source.
        build: Folder for what is generated for all packages.
        prefix: Where to install.
    """

    def __init__(self, folder: Path, build: Path, prefix: Path) -> None:
        self.name = folder.name
        self.needs = {
            need.text or "" for need in ElementTree.parse(folder / "package.xml").iter("depend")
        }
        self._folder, self._build, self._prefix = folder, build, prefix
        self._share = build / "share" / self.name
        self._definitions = sorted(
            path.relative_to(folder) for path in folder.glob("*/*") if path.suffix in KINDS
        )

    # Sources -----------------------------------------------------------------------------------

    def generate(self) -> None:
        """Write the sources; the packages that it needs come before."""
        for definition in self._definitions:
            convert_to_idl(self._folder, self.name, definition, self._share)
        shares = [path.parent for path in _ros().glob("share/*/package.xml")]
        shares += self._share.parent.iterdir()
        generate_type_hash(
            self._arguments(
                "rosidl_generator_type_description", self._share,
                include_paths=[f"{share.name}:{share}" for share in shares],
            )
        )  # fmt: skip
        for generator, generate in GENERATORS.items():
            sources = self._sources(generator)
            generate(
                self._arguments(
                    generator, sources,
                    ros_interface_files=[str(self._folder / each) for each in self._definitions],
                    type_description_tuples=[
                        f"{each.with_suffix('.idl')}:{self._share / each.with_suffix('.json')}"
                        for each in self._definitions
                    ],
                )
            )  # fmt: skip
            self._write_headers(generator, sources / "msg")

    def _sources(self, generator: str) -> Path:
        return self._build / generator / self.name

    def _arguments(self, generator: str, output: Path, **more: list[str]) -> str:
        """Write the file of a generator's arguments; return its path."""
        (output / "msg").mkdir(parents=True, exist_ok=True)
        path = self._build / f"{self.name}.{generator}.json"
        arguments = {
            "package_name": self.name,
            "idl_tuples": [
                f"{self._share}:{each.with_suffix('.idl')}" for each in self._definitions
            ],
            "output_dir": str(output),
            "template_dir": str(get_package_share_path(generator) / "resource"),
            "target_dependencies": [],
        }
        path.write_text(json.dumps(arguments | more))
        return str(path)

    def _write_headers(self, generator: str, folder: Path) -> None:
        """Write the headers that CMake would fill in."""
        for template in (get_package_share_path(generator) / "resource").glob("*.h.in"):
            text = template.read_text().replace("@PROJECT_NAME_UPPER@", self.name.upper())
            (folder / template.stem).write_text(text.replace("@PROJECT_NAME@", self.name))

    # Libraries ---------------------------------------------------------------------------------

    def compile(self, generator: str) -> None:
        """Compile what a generator has written, all in one unit."""
        folder = self._objects(generator)
        folder.mkdir(parents=True)
        files = sorted(self._sources(generator).rglob("*.c*"))
        suffix = files[0].suffix
        # They define static names which others define too; they contain nothing but data.
        alone = [path for path in files if path.name.endswith("__description.c")]
        together = folder / f"all{suffix}"
        together.write_text("".join(f'#include "{path}"\n' for path in files if path not in alone))
        include = [self._build / each for each in GENERATORS]
        include += [*_ros().glob("include/*"), _ros() / "include"]
        include += [sysconfig.get_path("include"), np.get_include()]
        compiler = ["cc"] if suffix == ".c" else ["c++", "-std=c++17"]
        files = [together]
        for path in alone:  # a message and an action may have the same name
            files.append(folder / f"{path.parent.parent.name}_{path.name}")
            files[-1].write_text(f'#include "{path}"\n')
        subprocess.run(
            [*compiler, *COMPILE, *(f"-I{path}" for path in include), *files],
            cwd=folder, check=True,
        )  # fmt: skip

    def _objects(self, generator: str) -> Path:
        return self._build / "objects" / self.name / generator

    def link(self) -> None:
        """Link the libraries; the packages that it needs come before."""
        libraries = self._prefix / "lib"
        libraries.mkdir(parents=True, exist_ok=True)
        theirs = [*RUN_TIME]
        theirs += [f"{need}__{each}" for need in self.needs | IMPLIED for each in GENERATORS]
        ours: list[str] = []  # needed in any case: the dispatcher finds those that are loaded
        for generator in GENERATORS:
            name = f"{self.name}__{generator}"
            subprocess.run(
                ["c++", "-shared", *self._objects(generator).glob("*.o"),
                 f"-Wl,-soname,lib{name}.so,-z,now,-rpath,{libraries}",
                 f"-L{libraries}", f"-L{_ros() / 'lib'}", *ours, "-Wl,--as-needed",
                 *(f"-l{each}" for each in theirs), "-o", libraries / f"lib{name}.so"],
                check=True,
            )  # fmt: skip
            ours.append(f"-l{name}")

    # Installation ------------------------------------------------------------------------------

    def install(self) -> None:
        """Copy modules and definitions."""
        relative = Path(sysconfig.get_path("platlib")).relative_to(sys.prefix)
        modules = self._prefix / relative / self.name
        shutil.copytree(self._sources(PYTHON), modules, ignore=shutil.ignore_patterns("*.c"))
        (modules / "__init__.py").touch()
        # The library is the extension module, too.
        (modules / f"{self.name}_s__rosidl_typesupport_c.so").symlink_to(
            self._prefix / "lib" / f"lib{self.name}__{PYTHON}.so"
        )
        share = self._prefix / "share" / self.name
        share.mkdir(parents=True)
        shutil.copy(self._folder / "package.xml", share)
        for definition in self._definitions:
            (share / definition.parent).mkdir(exist_ok=True)
            shutil.copy(self._folder / definition, share / definition)
            for suffix in (".idl", ".json"):  # the same as IDL, and the hash of its type
                each = definition.with_suffix(suffix)
                shutil.copy(self._share / each, share / each)
        index = self._prefix / "share" / "ament_index" / "resource_index"
        names = [str(each) for each in self._definitions]
        names += [str(each.with_suffix(".idl")) for each in self._definitions]
        for kind, text in (("packages", ""), ("rosidl_interfaces", "\n".join(sorted(names)))):
            (index / kind).mkdir(parents=True, exist_ok=True)
            (index / kind / self.name).write_text(text)


def _ros() -> Path:
    """Return the prefix of the wheels."""
    return Path(get_package_prefix("rosidl_runtime_c"))


def packages(build: Path, prefix: Path) -> list[Interfaces]:
    """Return the packages below this folder, each after those that it needs."""
    folders = {path.parent.parent for kind in KINDS for path in HERE.glob(f"*/*/*{kind}")}
    found = {folder.name: Interfaces(folder, build, prefix) for folder in folders}
    needs = {name: found.keys() & found[name].needs for name in sorted(found)}
    return [found[name] for name in TopologicalSorter(needs).static_order()]


def main(build: Path, prefix: Path) -> None:
    """Make all packages, and print what is being done.

    Args:
        build: Folder for what is generated; what is in it goes.
        prefix: Where to install.
    """
    shutil.rmtree(build, ignore_errors=True)
    all_ = packages(build, prefix)
    with ThreadPoolExecutor(PROCESSES) as pool:
        compiled = []
        for each in all_:
            print(f"generating {each.name}", flush=True)
            each.generate()
            compiled += [pool.submit(each.compile, generator) for generator in GENERATORS]
        print(f"compiling {', '.join(each.name for each in all_)}", flush=True)
        for result in compiled:
            result.result()
    for each in all_:
        each.link()
        each.install()


if __name__ == "__main__":
    main(*(Path(argument).absolute() for argument in sys.argv[1:]))
