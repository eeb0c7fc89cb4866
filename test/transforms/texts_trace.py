# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Run tests with the kernels as plain Python, and write which functions asked for each calls.

Called by test_texts.py in a process of its own: python texts_trace.py ASKED ANSWER, two JSON files.
Asked are rows of functions and tests; the answer holds, by test, the functions that it called. A
test ends as soon as nothing new is to be learnt: whether it passes is for the ordinary run to say.
"""

import importlib
import json
import sys
from pathlib import Path
from types import CodeType, FrameType

import pytest


class EnoughError(BaseException):
    """The test has called all functions in question."""


def resolve(name: str) -> object:
    """Import the longest module in a dotted name and follow the rest as attributes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


def codes(name: str) -> set[CodeType]:
    """Return the code of a function, or of what a class defines itself."""
    found = resolve(name)
    inside = vars(found).values() if isinstance(found, type) else (found,)
    members = [getattr(each, "__func__", getattr(each, "fget", each)) for each in inside]
    return {each.__code__ for each in members if hasattr(each, "__code__")}


class Tracer:
    """A pytest plugin that runs each test until it has called all functions in question.

    Attributes:
        called: The functions that each test has called.
    """

    def __init__(self, rows: list[tuple[list[str], list[str]]]) -> None:
        self.rows = rows
        self.called: dict[str, set[str]] = {test: set() for _, tests in rows for test in tests}
        self.codes = {code: name for names, _ in rows for name in names for code in codes(name)}

    def wanted(self, test: str) -> set[str]:
        """Return a test's functions that no test has called yet; all if it has called none."""
        wanted: set[str] = set()
        for names, tests in self.rows:
            if test in tests:
                heard = set().union(*(self.called[each] for each in tests))
                wanted |= set(names) - heard if self.called[test] & set(names) else set(names)
        return wanted - self.called[test]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool:
        path = pyfuncitem.path.relative_to(pyfuncitem.config.rootpath).as_posix()
        test = f"{path}::{pyfuncitem.originalname}"
        if not self.wanted(test):
            return True
        given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

        def profile(frame: FrameType, event: str, _: object) -> None:
            name = self.codes.get(frame.f_code) if event == "call" else None
            if name is not None and name not in self.called[test]:
                self.called[test].add(name)
                if not self.wanted(test):
                    sys.setprofile(None)
                    raise EnoughError

        sys.setprofile(profile)
        try:
            pyfuncitem.obj(**given)
        except EnoughError:
            pass
        finally:
            sys.setprofile(None)
        return True


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    tracer = Tracer(json.loads(asked.read_text()))
    root = Path(__file__).parents[2]
    tests = [str(root / test) for test in tracer.called]
    status = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests], plugins=[tracer])
    answer.write_text(json.dumps({test: sorted(names) for test, names in tracer.called.items()}))
    sys.exit(int(status))
