# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings of Sphinx, for `make site` and for rosdoc2.

The source is the repository itself, not docs/ alone: a link to another page, or to any file, is
then the same for a reader of the repository, for Sphinx and for rosdoc2.
"""

import sys
from pathlib import Path

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
default_role = "code"  # `name`, as docstrings have it
toc_object_entries_show_parents = "hide"

# rosdoc2 has its own of these, and allows no other extensions.
if "rosdoc2_settings" not in globals():
    ROOT = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(ROOT))
    project = "basis_ik"
    author = "basis_ik maintainers"
    project_copyright = f"2026 {author}"
    root_doc = "docs/index"
    include_patterns = ["*.md", "*.rst", "docs/*", "docs/tutorials/*", "*/README.md"]
    exclude_patterns = [".*", "build", "install", "log"]
    extensions += ["sphinxcontrib.mermaid"]
    myst_fence_as_directive = ["mermaid"]
    mermaid_height = "auto"
    html_theme = "furo"
    html_title = "basis_ik"
    html_extra_path = ["site/index.html"]
    html_static_path = ["site"]
    html_css_files = ["style.css"]
