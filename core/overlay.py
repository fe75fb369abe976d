"""A forecast: a home as it would be once changes had been made, read like any other."""

from __future__ import annotations

from collections.abc import Iterable

from core.model import Change, Move, Node, NodeKind
from core.view import Source, View, name, parent


class Overlay:
    """``base`` as it would be once ``changes`` had been made: the ground of a forecast.

    Links that a change makes are not followed on the way to what lies below them.
    """

    def __init__(self, base: Source, changes: Iterable[Change | Move]) -> None:
        self._base = base
        self._nodes: dict[str, Node | None] = {}
        self._children: dict[str, dict[str, Node | None]] = {}
        self._removed: set[str] = set()
        if isinstance(base, Overlay):
            # A forecast lays hundreds of plans over each other: they become one layer.
            self._base = base._base
            self._nodes = dict(base._nodes)
            self._removed = set(base._removed)
            self._children = {path: dict(names) for path, names in base._children.items()}
        for change in changes:
            if isinstance(change, Move):
                for path, node in list(View(self).tree(change.path)):
                    self._put(path, None)
                    self._put(change.to + path[len(change.path) :], node)
            else:
                self._put(self._target(change), change.after)

    def relative(self, path: str) -> str:
        return self._base.relative(path)

    def node(self, path: str, *, data: bool) -> Node | None:
        if path in self._nodes:
            return self._nodes[path]
        return None if self._hidden(path) else self._base.node(path, data=data)

    def names(self, path: str) -> tuple[str, ...]:
        try:
            base = () if self._hidden(path) else self._base.names(path)
        except FileNotFoundError:
            base = ()
        inside = self._children.get(path, {})
        kept = {child: None for child in base if inside.get(child, child) is not None}
        return (*kept, *(child for child, node in inside.items() if node and child not in kept))

    def _target(self, change: Change) -> str:
        """Where ``change`` lands: a file written over a link is written where the link leads."""
        if change.after is None or change.after.kind is not NodeKind.FILE:
            return change.path
        here = self.node(change.path, data=False)
        if here is None or here.kind is not NodeKind.LINK:
            return change.path
        return View(self).resolve(change.path) or change.path

    def _hidden(self, path: str) -> bool:
        """Whether what the base has at ``path`` went with a folder or link above it."""
        while path and path != "/":
            if path in self._removed:
                return True
            path = parent(path)
        return False

    def _put(self, path: str, node: Node | None) -> None:
        self._nodes[path] = node
        if node is None:
            self._removed.add(path)
        if path:
            self._children.setdefault(parent(path), {})[name(path)] = node
