# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Write docs/parameters.md and config/basis_ik.yaml from the declarations of the nodes.

Run it after a change to basis_ik/ros/parameters/ik_parameters.py or transform_node_parameters.py:
`python docs/write_parameters.py`.
"""

import json
import math
import textwrap
from pathlib import Path

from basis_ik.ros.frames import transform_node_parameters as nodes
from basis_ik.ros.parameters.ik_parameters import CHAIN_PARAMETERS, NODE_PARAMETERS, POSTURE

ROOT = Path(__file__).parents[1]
MARKDOWN, CONFIG = ROOT / "docs" / "parameters.md", ROOT / "config" / "basis_ik.yaml"

INTRODUCTION = """\
# Parameters of `ik_node`

Written by `python docs/write_parameters.py` from `basis_ik/ros/parameters/ik_parameters.py`.
`config/basis_ik.yaml` has all of them with their defaults, as a template.

An unknown key or an invalid value stops the node at start, with one line that names the key, the
nearest valid one and the file. An invalid change at run time is refused with a reason, and the old
value stays; `set_parameters_atomically` with one invalid value changes nothing. NaN is always
refused, also in arrays. A whole number is taken as a number, so `update_rate: 100` is valid. ROS 2
itself refuses a list that mixes the two: write `[0, -1]` or `[0.0, -1.57]`, not `[0, -1.57]`.

## Of the node
"""

OF_CHAINS = """
## Of each chain

If `chains` is empty, the names are as below. With `chains: ["left", "right"]` each chain has its
own parameters: `left.tip_link`, `right.tip_link`.
"""

OF_TRANSFORM_NODES = """
# Parameters of `transform_nodes`

From `basis_ik/ros/frames/transform_node_parameters.py`; `config/transform_nodes.yaml` is an
example. Unknown keys and invalid values are refused as above.
"""

OF_EACH_NODE = """
## Of each transform node

With `nodes: ["table", "lamp"]` each has its own parameters: `table.rotation`, `lamp.rotation`.
"""

OF_COMBINED = """
## Of each combined node

With `combine: ["lamp_at_once"]`: `lamp_at_once.chain`.
"""

OF_CONSTRAINTS = """
## Of each constraint

With `constraints: ["look"]`: `look.type`, and those that its type has; all but `method` are
required.
"""

HEAD = """\
# Every parameter of ik_node with its default; docs/parameters.md has them as a table.
# Written by docs/write_parameters.py. Empty lists are commented out: parameter files of ROS 2
# cannot express them.
/**:
  ros__parameters:
"""


def shown(declaration):
    """Return a default as YAML."""
    value = declaration.default
    if isinstance(value, float):
        return repr(value).replace("1e-", "1.0e-")  # without the point YAML reads a text
    return json.dumps(value)


def remarks(declaration):
    """Return range, choices and restrictions of a declaration."""
    words = []
    if not math.isinf(declaration.low):
        each = " each" if declaration.is_array else ""
        words.append(f"In [{declaration.low:g}, {declaration.high:g}]{each}.")
    if declaration.choices:
        words.append(f"One of {declaration.listed_choices('`')}.")
    if declaration.read_only:
        words.append("Fixed at start.")
    return words


def markdown():
    """Return docs/parameters.md."""
    ik_node = (
        INTRODUCTION + table(NODE_PARAMETERS) + OF_CHAINS + table((*CHAIN_PARAMETERS, POSTURE))
    )
    fields = OF_EACH_NODE + table((nodes.NODE_PARENT, *nodes.FIELD_PARAMETERS))
    combined = OF_COMBINED + table((nodes.NODE_CHAIN,))
    constraints = OF_CONSTRAINTS + table(nodes.CONSTRAINT_PARAMETERS.values())
    return (
        ik_node
        + OF_TRANSFORM_NODES
        + table(nodes.TREE_PARAMETERS)
        + fields
        + combined
        + constraints
    )


def table(declarations):
    """Return declarations as a Markdown table."""
    lines = ["", "| name | default | |", "|---|---|---|"]
    for each in declarations:
        text = " ".join([each.description, *remarks(each)])
        lines.append(f"| `{each.name}` | `{shown(each)}` | {text} |")
    return "\n".join(lines) + "\n"


def config():
    """Return config/basis_ik.yaml."""
    text = HEAD
    for each in (*NODE_PARAMETERS, *CHAIN_PARAMETERS, POSTURE):
        comments = " ".join([each.description, *remarks(each)]).replace("`", "")
        text += "".join(f"    # {line}\n" for line in textwrap.wrap(comments, 94))
        comment = "# " if each.is_array else ""
        text += f"    {comment}{each.name}: {shown(each)}\n"
    return text


if __name__ == "__main__":
    MARKDOWN.write_text(markdown())
    CONFIG.write_text(config())
