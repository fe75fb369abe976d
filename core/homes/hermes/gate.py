"""The write gates of ``config.yaml`` switched without touching another byte of it.

The agent's own ``config set`` rewrites the whole file; here only one value is spliced in, or one
line added. The result is read again as the agent reads it: unless exactly the asked key changed,
nothing is planned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from core.homes.hermes.config import CONFIG, Config, gate_value, read_config
from core.homes.hermes.yaml_text import parse
from core.model import Change, Finding, Node, NodeKind, Outcome, Severity
from core.overlay import Overlay
from core.view import View

KEY = "write_approval"
#: A config may hold keys of services: a new one is for its owner only.
NEW_MODE = 0o600
#: hermes-agent 0.19.0 turns ``write_mode`` into ``write_approval`` below this ``_config_version``.
MIGRATED_VERSION = 29
_BOM = "\ufeff"
_INDENT = "  "


class _RefusedError(Exception):
    """The file cannot be edited in place; the message says why."""


def plan_gate(
    view: View,
    on: bool,
    subsystems: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    managed: Path | None = None,
) -> Outcome:
    """Set ``<subsystem>.write_approval`` in ``config.yaml`` for each of ``subsystems``.

    The new bytes are read again as the agent reads them: only a gate that then stands as asked is
    a success. Categories: ``ok``, ``noop`` (each key says so already), ``unreadable_target`` (the
    agent cannot load the file, and would not with the key in it), ``invalid`` (it is written in a
    way that cannot be edited safely, or another file decides the gate). An old key that a
    migration would put in its place carries a finding. The file is created when it is missing.
    """
    reading = view.read(CONFIG)
    if reading.reason:
        return _unreadable(reading.reason)
    before = reading.data or b""
    parsed = parse(before)
    if parsed.reason:
        return _unreadable(parsed.reason)
    if parsed.value and not isinstance(parsed.value, dict):
        return _unreadable("not a mapping of keys")
    data = before
    try:
        for subsystem in subsystems:
            data = _set(data, subsystem, on)
    except _RefusedError as refusal:
        return _invalid(f"config.yaml is left alone: {refusal}")
    old = None if reading.absent else Node(NodeKind.FILE, before, reading.mode)
    new = Node(NodeKind.FILE, data, NEW_MODE if old is None else old.mode)
    changes = () if data == before else (Change(CONFIG, old, new),)
    if managed:
        view.read(str(managed / CONFIG))
    config = read_config(View(Overlay(view.source, changes)), environ or {}, managed)
    if config.problem:
        return _unreadable(config.problem)
    word, names = "on" if on else "off", " and ".join(subsystems)
    refused = tuple(_overruled(config, on, subsystems, managed))
    if refused:
        said = "; ".join(finding.message for finding in refused)
        return _invalid(f"config.yaml is left alone: {said}", refused)
    findings = tuple(_findings(config, parsed.value or {}, subsystems))
    if not changes:
        return Outcome("noop", f"The gate of {names} is {word} already", findings=findings)
    effect = "waits for approval" if on else "is made without asking"
    return Outcome(
        "ok",
        f"The gate of {names} is turned {word}: what the agent writes there {effect}",
        changes=changes,
        findings=findings,
        claims=frozenset({CONFIG}),
    )


def _unreadable(reason: str) -> Outcome:
    return Outcome("unreadable_target", f"config.yaml cannot be changed: {reason}")


def _invalid(message: str, findings: tuple[Finding, ...] = ()) -> Outcome:
    return Outcome("invalid", message, findings=findings, claims=frozenset({CONFIG}))


def _overruled(
    config: Config, on: bool, subsystems: Sequence[str], managed: Path | None
) -> Iterator[Finding]:
    """Each gate that would not stand as asked, and what keeps it from that."""
    gates = {"memory": config.memory_gate, "skills": config.skills_gate}
    for subsystem in subsystems:
        gate = gates[subsystem]
        if gate.on is on:
            continue
        keeps = f"keeps the gate of {subsystem} {'on' if gate.on else 'off'}"
        if gate.source == "managed":
            where = os.path.join(managed or "", CONFIG)
            said = f"{where} decides it for the administrator and {keeps}"
            yield Finding("managed_overrules", Severity.WARNING, said, where)
        else:
            said = f"the agent {keeps} ({gate.reason})"
            yield Finding("gate_not_as_asked", Severity.WARNING, said, CONFIG)


def _findings(
    config: Config, sections: Mapping[Any, Any], subsystems: Sequence[str]
) -> Iterator[Finding]:
    for subsystem in subsystems:
        section = sections.get(subsystem)
        migrates = config.version < MIGRATED_VERSION
        if migrates and isinstance(section, dict) and "write_mode" in section:
            yield Finding(
                "legacy_key",
                Severity.WARNING,
                f"{subsystem}.write_mode is an old key: when the agent migrates its config, "
                "it sets the gate from that",
                CONFIG,
            )


def _set(data: bytes, subsystem: str, on: bool) -> bytes:
    value: dict[Any, Any] = parse(data).value or {}
    section = value.get(subsystem)
    if section is not None and not isinstance(section, dict):
        raise _RefusedError(f"{subsystem} holds no keys, and what it holds would be lost")
    if section and KEY in section and _says(section[KEY], on):
        return data
    wanted = {**value, subsystem: {**(section or {}), KEY: on}}
    text = data.decode("utf-8")
    mark = _BOM if text.startswith(_BOM) else ""
    edits = _edits(text[len(mark) :], subsystem, "true" if on else "false")
    for edited in edits:
        result = (mark + edited).encode("utf-8")
        if _same(parse(result).value, wanted):
            return result
    raise _RefusedError(
        f"{subsystem}.{KEY} cannot be set alone: "
        "an anchor, an alias or a merge key leads there, and something else would change"
    )


def _says(value: object, on: bool) -> bool:
    if isinstance(value, str) and "${" in value:
        return False
    return gate_value(value) is on


def _edits(text: str, subsystem: str, word: str) -> Iterator[str]:
    try:
        # The Python reader: its marks count code points, whatever loader judged the file.
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        raise _RefusedError("it is written in a way that cannot be edited in place") from None
    if root is None or _is_empty(root):
        yield _appended(text, subsystem, word, 0)
        return
    if not isinstance(root, yaml.MappingNode):
        raise _RefusedError("its one value is not a mapping of keys")
    pair = _pair(root, subsystem)
    if pair is None:
        entry = f"{subsystem}: {{{KEY}: {word}}}"
        if root.flow_style:
            yield _into_flow(text, root, entry)
            return
        column = root.value[0][0].start_mark.column
        yield _appended(text, subsystem, word, column)
        yield _above(text, root, _block(subsystem, word, column, _line_end(text)))
        return
    key, section = pair
    _refuse_alias(key, section, subsystem)
    if isinstance(section, yaml.MappingNode):
        yield from _in_section(text, section, subsystem, word)
    elif _is_empty(section) and not root.flow_style:
        yield _below(text, section, " " * key.start_mark.column + f"{_INDENT}{KEY}: {word}")
    else:
        yield _spliced(text, section, f"{{{KEY}: {word}}}")


def _in_section(text: str, section: yaml.MappingNode, subsystem: str, word: str) -> Iterator[str]:
    pair = _pair(section, KEY)
    if pair is not None:
        _refuse_alias(*pair, f"{subsystem}.{KEY}")
        yield _spliced(text, pair[1], word)
    elif section.flow_style:
        yield _into_flow(text, section, f"{KEY}: {word}")
    else:
        line = " " * section.value[0][0].start_mark.column + f"{KEY}: {word}" + _line_end(text)
        yield _above(text, section, line)


def _pair(mapping: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    found = None
    for name, value in mapping.value:
        if isinstance(name, yaml.ScalarNode) and name.value == key:
            found = name, value
    return found


def _refuse_alias(key: yaml.Node, value: yaml.Node, what: str) -> None:
    if value.start_mark.index < key.end_mark.index:
        raise _RefusedError(f"{what} is an alias of another place")


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.start_mark.index == node.end_mark.index


def _spliced(text: str, node: yaml.Node, new: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    if "\n" in text[start:end] or "\r" in text[start:end]:
        raise _RefusedError("the value to change spans several lines")
    before = text[start - 1 : start]
    return text[:start] + ("" if before.isspace() else " ") + new + text[end:]


def _into_flow(text: str, mapping: yaml.MappingNode, entry: str) -> str:
    inside = text.index("{", mapping.start_mark.index) + 1
    return text[:inside] + entry + (", " if mapping.value else "") + text[inside:]


def _above(text: str, mapping: yaml.MappingNode, lines: str) -> str:
    first = mapping.value[0][0].start_mark
    start = first.index - first.column
    if text[start : first.index].strip(" "):
        raise _RefusedError("its keys do not stand on lines of their own")
    return text[:start] + lines + text[start:]


def _below(text: str, node: yaml.Node, line: str) -> str:
    end = _line_end(text)
    at = text.find(end, node.start_mark.index)
    if at < 0:
        return text + end + line + end
    at += len(end)
    return text[:at] + line + end + text[at:]


def _appended(text: str, subsystem: str, word: str, column: int) -> str:
    end = _line_end(text)
    gap = "" if not text or text.endswith(("\n", "\r")) else end
    return text + gap + _block(subsystem, word, column, end)


def _block(subsystem: str, word: str, column: int, end: str) -> str:
    margin = " " * column
    return f"{margin}{subsystem}:{end}{margin}{_INDENT}{KEY}: {word}{end}"


def _line_end(text: str) -> str:
    found = [(text.find(end), end) for end in ("\r\n", "\n", "\r") if end in text]
    return min(found, key=lambda each: each[0])[1] if found else "\n"


def _same(left: object, right: object) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            key in right and _same(part, right[key]) for key, part in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    # Two readings of .nan are alike here, though no number equals it.
    return left == right or repr(left) == repr(right)
