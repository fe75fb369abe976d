"""A YAML file judged as the agent judges it, without its ways to hang.

hermes-agent 0.19.0 reads ``config.yaml`` as UTF-8 with PyYAML's safe loader (the C one where it is
built in) and takes any exception for "use the defaults". A byte order mark is skipped, the last of
two equal keys wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

#: Levels of nesting, aliases followed, past which a file is not read.
MAX_DEPTH = 300
#: Values in a file, aliases unfolded, past which it is not read.
MAX_VALUES = 200_000

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's one document as plain values (``None`` when empty), or why there is none."""

    value: Any = None
    reason: str = ""


def parse(data: bytes) -> Parsed:
    """Read one YAML document; every failure is a ``reason``, nothing is raised."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Parsed(reason="not UTF-8 text")
    try:
        reason = _size_of_text(text)
        if reason:
            return Parsed(reason=reason)
        loader = LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return Parsed()
            reason = _size_of_nodes(root)
            return Parsed(reason=reason) if reason else Parsed(loader.construct_document(root))
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as problem:
        return Parsed(reason=_where(problem))
    except Exception as problem:
        # A bad date, a tagged word that is no number: each type fails in its own way, and the
        # agent answers all of them alike.
        return Parsed(reason=f"a value that cannot be read ({type(problem).__name__})")


def decode(data: bytes) -> str:
    """The text of a file :func:`parse` accepted, its byte order mark kept."""
    return data.decode("utf-8")


def _size_of_text(text: str) -> str:
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=LOADER)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            return "nested too deeply"
        if count > MAX_VALUES:
            return f"more than {MAX_VALUES:,} values"
    return ""


def _size_of_nodes(root: yaml.Node) -> str:
    done: dict[int, tuple[int, int]] = {}
    entered: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        key = id(node)
        if leaving:
            below = [done[id(child)] for child in _children(node)]
            size = 1 + sum(part[0] for part in below)
            depth = 1 + max((part[1] for part in below), default=0)
            if size > MAX_VALUES or depth > MAX_DEPTH:
                return "aliases that unfold without bounds"
            done[key] = (size, depth)
            entered.discard(key)
        elif key in entered:
            return "an alias that holds itself"
        elif key not in done:
            entered.add(key)
            stack.append((node, True))
            stack.extend((child, False) for child in _children(node))
    return ""


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _where(problem: yaml.MarkedYAMLError) -> str:
    mark = problem.problem_mark or problem.context_mark
    line = f"line {mark.line + 1}: " if mark is not None else ""
    return f"not YAML, {line}{problem.problem or problem.context}"
