"""The keys of a Hermes home's ``config.yaml`` that decide how a proposal lands.

Rules of hermes-agent 0.19.0, executed: the file is merged over the defaults, ``${VAR}`` is expanded
in text, an administrator's file (the managed layer) is merged over the result. A file that cannot
be read counts as "all defaults", so its gates are off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.homes.hermes.rules import Rules
from core.homes.hermes.yaml_text import parse
from core.model import NodeKind
from core.view import Reading, View

CONFIG = "config.yaml"
#: Where an administrator's layer lies when ``HERMES_MANAGED_DIR`` names no folder.
MANAGED_DIR = "/etc/hermes"
#: hermes-agent 0.19.0: budgets in code points when the config names none that ``int()`` takes.
MEMORY_LIMIT = 2200
USER_LIMIT = 1375
#: The first ``_config_version`` written by an agent newer than 0.19.0.
NEWEST_CONFIG_VERSION = 34

_DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "memory": {
        "memory_enabled": True,
        "user_profile_enabled": True,
        "write_approval": False,
        "memory_char_limit": MEMORY_LIMIT,
        "user_char_limit": USER_LIMIT,
        "provider": "",
    },
    "skills": {"write_approval": False, "guard_agent_created": False},
}
_GATE_WORDS = frozenset({"on", "true", "yes", "1", "approve", "enabled"})
_TRUE_WORDS = frozenset({"on", "true", "yes", "1"})
_REFERENCE = re.compile(r"\${([^}]+)}")
_PATH_REFERENCE = re.compile(r"\$(\w+|\{[^}]*\})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Gate:
    """One write gate: whether it stages, which key said so, and why in plain words.

    ``source`` is where the answer came from: ``config``, ``default`` (the key is not set),
    ``managed``, ``legacy`` (only the old ``write_mode`` is there), ``missing`` (no config.yaml) or
    ``unreadable`` (a config.yaml the agent cannot load).
    """

    on: bool
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Config:
    """What a home's config says, defaults filled in. ``version`` is ``_config_version`` (0: none).

    ``external_dirs`` and ``create_dir`` are paths as a view names them: relative inside the home,
    absolute outside. ``problem`` says why the file could not be loaded; everything else then holds
    the defaults.
    """

    memory_limit: int = MEMORY_LIMIT
    user_limit: int = USER_LIMIT
    memory_enabled: bool = True
    user_profile_enabled: bool = True
    memory_gate: Gate = Gate(False, "default", "memory.write_approval is not set")
    skills_gate: Gate = Gate(False, "default", "skills.write_approval is not set")
    guard_agent_created: bool = False
    external_dirs: tuple[str, ...] = ()
    create_dir: str | None = None
    provider: str = ""
    version: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Layer:
    """One config file: its mapping (empty when there is none) and why it could not be read."""

    mapping: Mapping[Any, Any] = field(default_factory=dict)
    absent: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the config without defaults: its keys, and those an administrator sets.

    ``own`` are the keys of the person's file alone, as they stand there.
    """

    values: Mapping[Any, Any] = field(default_factory=dict)
    managed: frozenset[Any] = frozenset()
    own: Mapping[Any, Any] = field(default_factory=dict)


def managed_folder(environ: Mapping[str, str]) -> Path:
    """The folder of the managed layer: ``HERMES_MANAGED_DIR``, else ``/etc/hermes``."""
    return Path(environ.get("HERMES_MANAGED_DIR", "").strip() or MANAGED_DIR)


def read_config(view: View, environ: Mapping[str, str], managed: Path | None = None) -> Config:
    """What the agent would take from ``config.yaml``; never raises.

    ``environ`` answers ``${VAR}`` and ``~``; ``managed`` is the folder of the administrator's
    layer (:func:`managed_folder`), ``None`` for none. Both files are recorded reads.
    """
    user = _layer(view, CONFIG)
    admin = _layer(view, str(managed / CONFIG)) if managed else _Layer(absent=True)
    problem = user.reason or _unloadable(user.mapping)
    loaded = _Layer({}, user.absent, problem) if problem else user
    memory = _section("memory", loaded.mapping, admin.mapping, environ)
    skills = _section("skills", loaded.mapping, admin.mapping, environ)
    memory_limit, user_limit = _limits(memory)
    provider = _get(memory, "provider")
    raw_skills = user.mapping.get("skills")
    return Config(
        memory_limit=memory_limit,
        user_limit=user_limit,
        memory_enabled=bool(_get(memory, "memory_enabled")),
        user_profile_enabled=bool(_get(memory, "user_profile_enabled")),
        memory_gate=_gate("memory", memory, loaded, admin),
        skills_gate=_gate("skills", skills, loaded, admin),
        guard_agent_created=_truthy(_get(skills, "guard_agent_created")),
        external_dirs=_external_dirs(view, _get(raw_skills, "external_dirs"), environ),
        create_dir=_create_dir(view, _get(skills, "create_dir"), environ),
        provider=provider if isinstance(provider, str) else "",
        version=_version(user.mapping.get("_config_version")),
        problem=problem,
    )


def read_section(
    view: View, name: str, environ: Mapping[str, str], managed: Path | None = None
) -> Section:
    """Section ``name`` as the agent merges it, ``${VAR}`` expanded; never raises.

    A file that cannot be loaded has no keys.
    """
    user = _layer(view, CONFIG)
    admin = _layer(view, str(managed / CONFIG)) if managed else _Layer(absent=True)
    own = {} if user.reason or _unloadable(user.mapping) else user.mapping.get(name)
    ruled = admin.mapping.get(name)
    merged = _merge(_expand(own, environ), _expand(ruled, environ))
    return Section(
        merged if isinstance(merged, dict) else {},
        frozenset(ruled) if isinstance(ruled, dict) else frozenset(),
        own if isinstance(own, dict) else {},
    )


def rules_for(
    view: View, config: Config, raw: Mapping[str, object] | None, subsystem: str | None = None
) -> Rules:
    """The rules that judge this home, or one record of it (contract, "Rules", ``auto``).

    ``raw`` is the record's whole object; ``subsystem`` the folder it lies in, by default what the
    record says of itself.
    """
    if config.version >= NEWEST_CONFIG_VERSION:
        return Rules.NEWEST
    if raw is not None and _newer_record(raw, subsystem or raw.get("subsystem")):
        return Rules.NEWEST
    traces = ("skills/.locks", "skills/.curator_ledger.jsonl")
    return Rules.NEWEST if any(view.kind(path) for path in traces) else Rules.V0_19


def gate_value(value: object) -> bool:
    """Whether a ``write_approval`` value turns the gate on (0.19.0: the number 1 does not)."""
    if isinstance(value, str):
        return value.strip().lower() in _GATE_WORDS
    return value is True


def _layer(view: View, path: str) -> _Layer:
    reading = view.read(path)
    return view.shared(f"config layer\0{path}", lambda _: _load(reading))


def _load(reading: Reading) -> _Layer:
    if reading.data is None:
        return _Layer(absent=reading.absent, reason=reading.reason)
    parsed = parse(reading.data)
    if parsed.reason:
        return _Layer(reason=parsed.reason)
    if isinstance(parsed.value, dict):
        return _Layer(parsed.value)
    return _Layer(reason="not a mapping of keys") if parsed.value else _Layer()


def _unloadable(mapping: Mapping[Any, Any]) -> str:
    agent = mapping.get("agent")
    if agent and not isinstance(agent, dict):
        # 0.19.0 turns this section into a dict before it looks at any other.
        try:
            dict(agent)
        except (TypeError, ValueError):
            return "its agent section is not a mapping, so the agent cannot load it"
    return ""


def _section(
    name: str, user: Mapping[Any, Any], admin: Mapping[Any, Any], environ: Mapping[str, str]
) -> object:
    merged = _merge(dict(_DEFAULTS[name]), user.get(name))
    return _merge(_expand(merged, environ), _expand(admin.get(name), environ))


def _merge(base: object, over: object) -> object:
    if over is None:
        return base
    return {**base, **over} if isinstance(base, dict) and isinstance(over, dict) else over


def _expand(section: object, environ: Mapping[str, str]) -> object:
    if not isinstance(section, dict):
        return section
    return {
        key: _REFERENCE.sub(lambda found: environ.get(found[1], found[0]), value)
        if isinstance(value, str)
        else value
        for key, value in section.items()
    }


def _get(section: object, key: str) -> object:
    return section.get(key) if isinstance(section, dict) else None


def _limits(memory: object) -> tuple[int, int]:
    limits = [MEMORY_LIMIT, USER_LIMIT]
    if isinstance(memory, dict):
        try:
            limits[0] = int(memory.get("memory_char_limit", MEMORY_LIMIT))
            limits[1] = int(memory.get("user_char_limit", USER_LIMIT))
        except (TypeError, ValueError, OverflowError):
            pass
    return limits[0], limits[1]


def _truthy(value: object) -> bool:
    return value.strip().lower() in _TRUE_WORDS if isinstance(value, str) else bool(value)


def _version(value: object) -> int:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return max(int(value), 0)
        except (ValueError, OverflowError):
            return 0
    return 0


def _gate(subsystem: str, section: object, user: _Layer, admin: _Layer) -> Gate:
    key = f"{subsystem}.write_approval"
    value = _get(section, "write_approval")
    on = gate_value(value)
    own, ruled = user.mapping.get(subsystem), admin.mapping.get(subsystem)
    if isinstance(ruled, dict) and "write_approval" in ruled:
        return Gate(on, "managed", f"the administrator's config.yaml sets {key}")
    if ruled is not None and not isinstance(ruled, dict):
        return Gate(on, "managed", f"the administrator's config.yaml replaces {subsystem}")
    if user.reason:
        return Gate(on, "unreadable", f"config.yaml cannot be used: {user.reason}")
    if user.absent:
        return Gate(on, "missing", "there is no config.yaml")
    if isinstance(own, dict) and "write_approval" in own:
        return Gate(on, "config", _because(key, value))
    if isinstance(own, dict) and "write_mode" in own:
        return Gate(
            on,
            "legacy",
            f"only the old key {subsystem}.write_mode is set, which the agent ignores "
            "until it migrates its config",
        )
    if own is not None and not isinstance(own, dict):
        return Gate(on, "config", f"{subsystem} is not a mapping, so the agent finds no {key}")
    return Gate(on, "default", f"{key} is not set")


def _because(key: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{key} is {'true' if value else 'false'}"
    if isinstance(value, str) and gate_value(value):
        return f"{key} is the text {value.strip()}"
    if isinstance(value, str) and _REFERENCE.search(value):
        return f"{key} names a variable that is not set here"
    return f"{key} holds a value the agent takes for off"


def _external_dirs(view: View, value: object, environ: Mapping[str, str]) -> tuple[str, ...]:
    entries = [value] if isinstance(value, str) else value
    if not isinstance(entries, list):
        return ()
    found: list[str] = []
    own = view.quiet().resolve("skills")
    for entry in entries:
        text = str(entry).strip()
        if not text:
            continue
        folder = view.ask("folder", _path(text, environ), _folder)
        path = folder.removeprefix("dir:")
        if path != folder and path != own and path not in found:
            found.append(path)
    return tuple(found)


def _create_dir(view: View, value: object, environ: Mapping[str, str]) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    path = _path(value.strip(), environ)
    resolved = view.quiet().resolve(path)
    return path if resolved is None else view.source.relative(resolved)


def _path(text: str, environ: Mapping[str, str]) -> str:
    expanded = _PATH_REFERENCE.sub(lambda found: environ.get(found[1].strip("{}"), found[0]), text)
    user = environ.get("HOME", "").rstrip("/")
    if user and (expanded == "~" or expanded.startswith("~/")):
        return user + expanded[1:]
    return expanded


def _folder(view: View, path: str) -> str:
    resolved = view.resolve(path)
    if resolved is None:
        return "none"
    resolved = view.source.relative(resolved)
    return f"dir:{resolved}" if view.kind(resolved) is NodeKind.DIR else "none"


def _newer_record(raw: Mapping[str, object], subsystem: object) -> bool:
    payload = raw.get("payload")
    if not isinstance(payload, Mapping):
        return False
    if subsystem not in ("memory", "skills"):
        subsystem = "skills" if "name" in payload else "memory"
    action = payload.get("action", raw.get("action"))
    operations = payload.get("operations")
    parts = [payload, *(operations if isinstance(operations, list) else [])]
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        if "matched_entry" in part or "new_text" in part:
            return True
        if subsystem == "memory" and part.get("action") == "patch":
            return True
    return subsystem == "skills" and action == "batch"
