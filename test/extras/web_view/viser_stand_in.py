# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""A scene that only notes what is added to it."""

from types import SimpleNamespace


class Scene:
    """Like viser's SceneApi.

    Attributes:
        nodes: What is shown, by name: the kind, and what it was made of.
        sent: How often something was added.
    """

    def __init__(self):
        self.nodes, self.sent = {}, 0

    def remove_by_name(self, name):
        """Remove a node and all below it."""
        self.nodes.pop(name)
        for below in [each for each in self.nodes if each.startswith(f"{name}/")]:
            self.nodes.pop(below)

    def __getattr__(self, method):
        kind = method.removeprefix("add_")

        def add(name, *given, **named):
            self.sent += 1
            node = SimpleNamespace(name=name, kind=kind, given=given, **{"visible": True, **named})
            node.remove = lambda: self.remove_by_name(name)
            self.nodes[name] = node
            return node

        return add

    def kinds(self):
        return [node.kind for node in self.nodes.values() if node.kind != "frame"]
