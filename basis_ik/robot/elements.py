# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parses XML text defensively.

A robot description arrives over the network. expat reads it in one pass. It is refused at once if
it is too large, nested too deeply, or has a DOCTYPE: without a document type there are no entity
definitions, hence no entity bombs and no external entities.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from basis_ik.errors import BasisIkError

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_JOINTS = 1000
MAX_ELEMENTS = 100_000
FROM_FILE = "RobotModel.from_urdf_file reads files"
LONGEST_LIST = 160  # characters of quoted names in a message
_DECLARATION = re.compile(rb"\A\s+<\?xml\s[^>]*\?>")
_ENCODING = re.compile(rb"\A\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z][\w.-]{0,40})[\"']")
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030"}  # what is called so is often more
_PATH = re.compile(r"\A[^<\n]*(/|\\|\.\w+\Z)[^<\n]*\Z")
_XACRO = frozenset(f"xacro:{tag}" for tag in ("include", "macro", "if", "unless", "insert_block"))
"""Tags that only occur in source; properties and calls left over in the result do no harm."""
XACRO_HINT = "this is xacro source: expand it first with `xacro FILE > robot.urdf`"


class UrdfError(BasisIkError, ValueError):
    """A robot description is refused.

    Attributes:
        line: Line of the fault in the text, counted from 1; None if it has no single place.
        joint: Name of the faulty joint, if the fault is in a joint.
        names: Names of the links or joints involved.
    """

    def __init__(
        self,
        text: str,
        *,
        line: int | None = None,
        joint: str | None = None,
        names: tuple[str, ...] = (),
    ) -> None:
        super().__init__(text if line is None else f"line {line}: {text}")
        self.line = line
        self.joint = joint
        self.names = names


@dataclass(frozen=True)
class Element:
    """An XML element; character data is not stored, because URDF does not need it."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """Iterate over the direct children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def only(self, tag: str) -> Element | None:
        """Return the direct child with a tag, or None.

        Raises:
            UrdfError: There are several; a wrong guess could move an arm wrongly.
        """
        found = list(self.all(tag))
        if len(found) > 1:
            raise UrdfError(f"<{self.tag}> contains <{tag}> twice; keep one", line=found[1].line)
        return found[0] if found else None


def shown(text: str, limit: int = 80) -> str:
    """Quote input text for a one-line message: escaped, then cut to `limit` characters."""
    quoted = repr(text[: limit + 1])
    if len(text) <= limit and len(quoted) <= limit + 2:
        return quoted
    return f"{quoted[: limit - 2]}...{quoted[0]}"


def listed(names: Sequence[str], limit: int = 8) -> str:
    """Join quoted names: at most `limit`, fewer if the line gets long, but at least one.

    The omitted ones are counted.
    """
    quoted: list[str] = []
    for name in names[:limit]:
        text = shown(name)
        if quoted and sum(map(len, quoted)) + len(text) > LONGEST_LIST:
            break
        quoted.append(text)
    rest = len(names) - len(quoted)
    return ", ".join(quoted) + (f" and {rest} more" if rest else "")


class _Builder:
    """Collects elements from expat's callbacks, and refuses documents beyond the bounds."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.document = Element("", {}, 0)  # parent of the root element
        self._parser = parser
        self._open = [self.document]
        self._joints = self._elements = 0
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype

    def _refuse(self, text: str) -> NoReturn:
        raise UrdfError(text, line=self._parser.CurrentLineNumber)

    def _doctype(self, *_: object) -> None:
        self._refuse("a DOCTYPE is not allowed in a robot description; remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag.startswith("xacro:") and (tag in _XACRO or self._open[-1].tag == "joint"):
            self._refuse(f"<{tag[:80]}>: {XACRO_HINT}")
        if len(self._open) > MAX_DEPTH:
            self._refuse(f"elements are nested more than {MAX_DEPTH} deep")
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            self._refuse(f"more than {MAX_ELEMENTS} elements")
        if tag == "joint" and len(self._open) == 2:
            self._joints += 1
            if self._joints > MAX_JOINTS:
                self._refuse(f"more than {MAX_JOINTS} joints")
        element = Element(tag, attributes, self._parser.CurrentLineNumber)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        self._open.pop()


def _lines(declaration: re.Match[bytes]) -> bytes:
    """Replace a declaration after blanks, which XML forbids, by its line breaks."""
    return b"\n" * declaration[0].count(b"\n")


def read_file(path: str | os.PathLike[str]) -> str:
    """Read the text of a robot description, up to the largest allowed size.

    Raises:
        UrdfError: The file cannot be read, or is not text in UTF-8 or the encoding it declares.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise UrdfError(f"the path of a file is text or a Path, not {type(path).__name__}")
    try:
        with open(path, "rb") as file:
            return decoded(file.read(MAX_BYTES + 1))
    except OSError as error:
        raise UrdfError(f"cannot read {os.fspath(path)!r}: {error.strerror}") from None
    except ValueError as error:  # or a NUL in the name
        raise UrdfError(f"cannot read {os.fspath(path)!r}: {error}") from None


def decoded(data: bytes) -> str:
    """Decode XML text: as UTF-8, whatever it declares; if it is not, as it declares.

    Raises:
        ValueError: It is neither; the message says what to do.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        declared = _ENCODING.match(data)
    if declared is None:
        text = "declare its encoding in the first line, or convert it with iconv"
        raise ValueError(f"not UTF-8 text; {text}")
    name = declared[1].decode()
    try:
        return data.decode(_SUPERSETS.get(name.lower(), name))
    except (LookupError, UnicodeDecodeError):
        raise ValueError(
            f"neither UTF-8 nor {name}, which it declares; convert it with iconv"
        ) from None


def read_xml(text: str) -> Element:
    """Parse XML text into its root element.

    Args:
        text: The whole document.

    Returns:
        The root element.

    Raises:
        UrdfError: Not a str, empty, NUL bytes, truncated, not XML, a DOCTYPE, unexpanded xacro, or
            beyond `MAX_BYTES`, `MAX_DEPTH`, `MAX_JOINTS` or `MAX_ELEMENTS`; with the line.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        raise UrdfError(f"a robot description is text, not {kind}; {FROM_FILE}")
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise UrdfError("a character that is not Unicode text", line=line) from None
    if len(encoded) > MAX_BYTES:
        raise UrdfError(f"the robot description exceeds {MAX_BYTES} bytes")
    text = text.rstrip("\0")  # the end of a string in C
    if not text.strip():
        raise UrdfError("the robot description is empty", line=1)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UrdfError("a NUL character; the text is damaged or not XML", line=line)
    encoded = _DECLARATION.sub(_lines, encoded.rstrip(b"\0"), count=1)
    parser = expat.ParserCreate("utf-8")
    builder = _Builder(parser)
    try:
        parser.Parse(encoded, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        if _PATH.match(text):
            raise UrdfError(f"{shown(text)} looks like a path; {FROM_FILE}") from None
        raise UrdfError(f"not well-formed XML: {reason}", line=error.lineno) from None
    return builder.document.children[0]  # expat reports a document without an element
