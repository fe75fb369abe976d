"""signoff's own settings: one TOML file, every key optional, unknown keys said aloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import UsageError

#: Every guard with its kind; the README has one line for each.
GUARDS = {
    "retarget": "refuse",
    "structure": "refuse",
    "pinned_name": "refuse",
    "target": "refuse",
    "provider": "refuse",
    "unstorable": "refuse",
    "fragment": "ask",
    "approximate": "ask",
    "delimiter": "ask",
    "archive": "change",
    "provenance": "change",
    "modes": "change",
    "line_endings": "change",
}
#: What agents can be offered over MCP, by the names vak's own settings have for it.
MCP = ("search_enabled", "write_enabled", "skill_proposals")


@dataclass(frozen=True, slots=True)
class Settings:
    """``guards_off``: names of guards switched off. ``decide_needs_terminal``: see the contract.
    ``search_index``: whether the past is indexed in signoff's own folder.

    ``mcp_off``: parts of what agents are offered (:data:`MCP`) that are switched off.
    ``title`` and ``bell``: whether the console sets the terminal's title and rings for what is new.
    ``keys`` maps an action of the console (``review.approve``) to its keys, comma separated.
    """

    guards_off: frozenset[str] = frozenset()
    decide_needs_terminal: bool = False
    search_index: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)
    title: bool = False
    bell: bool = False
    mcp_off: frozenset[str] = frozenset()


def read_settings(path: Path) -> Settings:
    """The settings in ``path``; an absent file means the defaults.

    ::

        decide_needs_terminal = true
        search_index = false
        [guards]
        fragment = false
        [keys]
        "review.approve" = "ctrl+a"
        [console]
        title = true
        bell = true
        [mcp]
        write_enabled = false

    Raises :class:`UsageError` naming the file and the key that is wrong.
    """
    try:
        written = path.read_text(encoding="utf-8")
        # Read by few starts, and slow to import: not before the first frame without need.
        import tomllib

        data = tomllib.loads(written)
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as problem:
        raise UsageError(f"The settings {path} cannot be read ({problem})", _HINT) from problem
    guards = data.pop("guards", {})
    terminal = data.pop("decide_needs_terminal", False)
    index = data.pop("search_index", True)
    keys = data.pop("keys", {})
    console = data.pop("console", {})
    offered = data.pop("mcp", {})
    for key in data:
        raise _unknown(f"The settings {path} have an unknown key {key!r}", _KEYS)
    if not isinstance(terminal, bool):
        raise UsageError(f"decide_needs_terminal in {path} must be true or false", _HINT)
    if not isinstance(index, bool):
        raise UsageError(f"search_index in {path} must be true or false", _HINT)
    if not isinstance(guards, dict):
        raise UsageError(f"[guards] in {path} must be a table", _HINT)
    for name, value in guards.items():
        if name not in GUARDS:
            raise _unknown(f"{path} names an unknown guard {name!r}", GUARDS)
        if not isinstance(value, bool):
            raise UsageError(f"guards.{name} in {path} must be true or false", _HINT)
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise UsageError(f"[keys] in {path} must map actions to keys, as text", _HINT)
    _check_switches(path, "console", console, _CONSOLE)
    _check_switches(path, "mcp", offered, MCP)
    off = frozenset(name for name, on in guards.items() if not on)
    mcp_off = frozenset(name for name, on in offered.items() if not on)
    return Settings(off, terminal, index, keys, **console, mcp_off=mcp_off)


_KEYS = ("decide_needs_terminal", "search_index", "guards", "keys", "console", "mcp")
_CONSOLE = ("title", "bell")


def _unknown(problem: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"{problem}; known are {', '.join(known)}", _HINT)


def _check_switches(path: Path, table: str, values: object, known: Sequence[str]) -> None:
    """Raise :class:`UsageError` unless ``values`` are a table of ``known`` keys, true or false."""
    if not isinstance(values, dict):
        raise UsageError(f"[{table}] in {path} must be a table", _HINT)
    for name, value in values.items():
        if name not in known:
            raise _unknown(f"[{table}] in {path} has an unknown key {name!r}", known)
        if not isinstance(value, bool):
            raise UsageError(f"{table}.{name} in {path} must be true or false", _HINT)


_HINT = "Mend or remove the line; the README lists every setting"
