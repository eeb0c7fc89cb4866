# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every source file begins with copyright and licence, those of LICENSE and package.xml."""

import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("basis_ik", "benchmark", "docs", "launch", "test", "underlay", ".ci", "")
MARKS = {".py": "#", ".sh": "#", ".c": "//"}
HEADER = Path(__file__).read_text().split('"""')[0].strip()


def sources():
    for folder in FOLDERS:
        files = (ROOT / folder).rglob("*") if folder else ROOT.glob("*")
        yield from (path for path in files if path.suffix in MARKS)


def begins_well(text, mark):
    header = HEADER.replace("#", mark)
    if text.startswith("#!"):
        text = text.split("\n", 1)[1]
    return text.startswith(header)


def test_every_source_file_has_the_header():
    files = list(sources())
    assert len(files) > 500
    texts = {path: path.read_text() for path in files}
    without = [
        str(path.relative_to(ROOT))
        for path, text in texts.items()
        if text.strip() and not begins_well(text, MARKS[path.suffix])
    ]
    assert without == []


def test_the_header_is_that_of_the_licence():
    package = ET.parse(ROOT / "package.xml")
    author, licence = package.findtext("author"), package.findtext("license")
    lines = [line.removeprefix("# ") for line in HEADER.splitlines()]
    assert lines == [
        f"SPDX-FileCopyrightText: 2026 {author}",
        f"SPDX-License-Identifier: {licence}",
    ]
    assert licence == "Apache-2.0"
    assert "Apache License Version 2.0" in " ".join((ROOT / "LICENSE").read_text().split())


def test_a_file_without_the_header_is_found():
    assert begins_well(f"#!/bin/sh\n{HEADER}\n\ntrue\n", "#")
    assert not begins_well('"""A module."""\n', "#")
    assert not begins_well(HEADER.replace("2026 basis_ik", "2026 nobody"), "#")
