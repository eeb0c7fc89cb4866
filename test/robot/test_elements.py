# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robot descriptions that are refused while parsing."""

from pathlib import Path

import pytest

from basis_ik.errors import BasisIkError
from basis_ik.robot import elements
from basis_ik.robot.elements import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_JOINTS,
    UrdfError,
    listed,
    read_xml,
    shown,
)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "empty"),
        (" \n\t", 1, "empty"),
        ("hello", 1, "not well-formed XML"),
        ("<robot>\n<link name='a'/>\n", 3, "not well-formed XML: no element found"),
        ("<robot>\n<link name='a'\n</robot>", 3, "not well-formed XML"),
        ("<robot>\n</robt>", 2, "mismatched tag"),
        ("<robot a='1' a='2'/>", 1, "duplicate attribute"),
        ("<robot/>\n<robot/>", 2, "junk after document element"),
        ("<robot>\n\n&bomb;</robot>", 3, "undefined entity"),
        ("<robot>\n\0</robot>", 2, "NUL character"),
        ("<robot>\n\ud800</robot>", 2, "not Unicode"),
        ("<!DOCTYPE robot>\n<robot/>", 1, "DOCTYPE"),
        ("\n<!DOCTYPE robot SYSTEM 'file:///etc/passwd'>\n<robot/>", 2, "DOCTYPE"),
        ("<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY a 'b'>]>\n<r>&a;</r>", 2, "DOCTYPE"),
        (
            "<robot xmlns:xacro='http://x'>\n<xacro:macro name='a'/></robot>",
            2,
            "expand it first with `xacro",
        ),
    ],
)
def test_doctypes_and_other_constructs_are_refused_with_their_line(text, line, said):
    with pytest.raises(UrdfError, match=f"^line {line}: .*{said}") as caught:
        read_xml(text)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


def test_an_entity_bomb_is_refused_at_its_doctype():
    definitions = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 10}'>" for i in range(1, 12))
    with pytest.raises(UrdfError, match="DOCTYPE"):
        read_xml(f"<!DOCTYPE r [<!ENTITY e0 'ha'>{definitions}]><r>&e11;</r>")


@pytest.mark.parametrize("value", [None, b"<robot/>", 3, Path("robot.urdf")])
def test_only_text_is_read(value):
    said = f"text, not {type(value).__name__}; RobotModel.from_urdf_file reads files"
    with pytest.raises(UrdfError, match=said):
        read_xml(value)


@pytest.mark.parametrize("path", ["urdf/panda", "panda.urdf", r"C:\arm", "./my robot.xacro", "/x"])
def test_a_path_is_distinguished_from_damaged_xml(path):
    with pytest.raises(
        UrdfError, match=r"looks like a path; RobotModel\.from_urdf_file reads files"
    ):
        read_xml(path)


@pytest.mark.parametrize("text", ["hello", "<robot></joint>", "urdf/a\nb", "of no use. None"])
def test_damaged_xml_is_not_taken_for_a_path(text):
    with pytest.raises(UrdfError, match="not well-formed XML"):
        read_xml(text)


def test_size_counts_bytes_up_to_the_bound():
    padding = MAX_BYTES - len("<robot></robot>")
    read_xml(f"<robot>{' ' * padding}</robot>")
    for filling in (" " * (padding + 1), "é" * (padding // 2 + 1)):
        with pytest.raises(UrdfError, match=f"exceeds {MAX_BYTES} bytes"):
            read_xml(f"<robot>{filling}</robot>")


def test_nothing_is_parsed_of_a_text_that_is_too_big(monkeypatch):
    def parser(*_):
        raise AssertionError("parsed")

    monkeypatch.setattr(elements.expat, "ParserCreate", parser)
    with pytest.raises(UrdfError, match="exceeds"):
        read_xml("<" * (MAX_BYTES + 1))


def test_depth_is_bounded():
    read_xml("<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH)
    with pytest.raises(UrdfError, match=f"more than {MAX_DEPTH} deep"):
        read_xml("<a>" * (MAX_DEPTH + 1) + "</a>" * (MAX_DEPTH + 1))


def test_joints_are_counted_on_the_way():
    joints = "<joint/>" * MAX_JOINTS
    transmission = "<transmission><joint/></transmission>"
    assert len(list(read_xml(f"<robot>{joints}{transmission}</robot>").all("joint"))) == MAX_JOINTS
    with pytest.raises(UrdfError, match=f"more than {MAX_JOINTS} joints"):
        read_xml(f"<robot>{joints}<joint/></robot>")


def test_elements_are_counted_on_the_way():
    read_xml(f"<robot>{'<a/>' * (MAX_ELEMENTS - 1)}</robot>")
    with pytest.raises(UrdfError, match=f"more than {MAX_ELEMENTS} elements"):
        read_xml(f"<robot>{'<a/>' * MAX_ELEMENTS}</robot>")


def test_namespaces_comments_and_declared_encodings_are_no_obstacle():
    text = (
        "<?xml version='1.0' encoding='ISO-8859-1'?><!-- ${not xacro} -->"
        "<robot name='é' xmlns:xacro='http://www.ros.org/wiki/xacro'><gazebo:x/></robot>"
    )
    root = read_xml(text)
    assert root.attributes["name"] == "é"
    assert [child.tag for child in root.children] == ["gazebo:x"]


@pytest.mark.parametrize("before", ["\n", " ", "\n\t \r\n"])
def test_blanks_before_the_declaration_are_no_obstacle(before):
    lines = before.count("\n")
    root = read_xml(f"{before}<?xml version='1.0'\n encoding='utf-8'?>\n<robot/>")
    assert root.line == lines + 3
    with pytest.raises(UrdfError, match=f"^line {lines + 2}: .*mismatched tag"):
        read_xml(f"{before}<?xml version='1.0'?>\n<robot></joint>")


def test_the_end_of_a_string_in_c_is_no_damage():
    assert read_xml("<robot/>\n\0").tag == "robot"
    with pytest.raises(UrdfError, match="no element found"):
        read_xml("<robot>\0")


def test_elements_know_their_lines():
    root = read_xml("<robot>\n <link name='a'/>\n <joint>\n  <axis/>\n </joint>\n</robot>")
    joint = root.only("joint")
    assert (root.line, joint.line, joint.only("axis").line) == (1, 3, 4)
    assert joint.only("limit") is None


def test_one_of_two_is_not_guessed():
    root = read_xml("<joint>\n<axis/>\n<axis/>\n</joint>")
    with pytest.raises(UrdfError, match="line 3: <joint> contains <axis> twice"):
        root.only("axis")


def test_foreign_text_is_shown_on_one_short_line():
    assert shown("a\nb\x1b") == r"'a\nb\x1b'"
    assert len(shown("x" * 10_000)) <= 82
    assert listed(("a", "b")) == "'a', 'b'"
    assert listed(tuple("abcdefghij")).endswith("'h' and 2 more")


@pytest.mark.parametrize("character", ["\x1b", "\U000e0001", "'", "\\"])
def test_escaped_text_is_cut_to_the_same_length(character):
    assert len(shown(character * 80)) <= 82
    assert shown(character * 80).isprintable()


def test_a_list_of_long_names_is_cut_and_the_rest_counted():
    names = tuple(f"{k}" * 70 for k in range(8))
    assert listed(names) == f"{names[0]!r}, {names[1]!r} and 6 more"
    assert listed(("x" * 500, "y")) == f"'{'x' * 77}...', 'y'"


@pytest.mark.parametrize("tag", ["include", "macro", "if", "unless", "insert_block"])
def test_xacro_source_is_refused(tag):
    with pytest.raises(UrdfError, match=f"<xacro:{tag}>: this is xacro source: expand it first"):
        read_xml(f"<robot><xacro:{tag}/></robot>")


@pytest.mark.parametrize("where", ["<robot>{}</robot>", "<robot><link>{}</link></robot>"])
@pytest.mark.parametrize("tag", ["property", "arg", "blue"])
def test_leftovers_of_xacro_are_no_source(where, tag):
    assert read_xml(where.format(f"<xacro:{tag}/>")).tag == "robot"


def test_a_joint_that_xacro_left_open_is_refused():
    with pytest.raises(UrdfError, match="line 2: <xacro:my_origin>: this is xacro source"):
        read_xml("<robot><joint>\n<xacro:my_origin/></joint></robot>")


def test_a_long_tag_does_not_flood_the_message():
    with pytest.raises(UrdfError) as caught:
        read_xml(f"<robot><joint><xacro:{'x' * 100_000}/></joint></robot>")
    assert len(str(caught.value)) < 250


def test_the_error_is_the_packages():
    assert issubclass(UrdfError, BasisIkError)
