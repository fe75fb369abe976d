"""The curator's settings in force, and where each of them comes from.

Defaults differ by version: 30 and 90 days and bundled skills pruned in hermes-agent 0.19.0, 14 and
30 days and bundled skills left alone from config version 44 on. A home without the keys does not
say which agent runs it; its ``_config_version`` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.homes.hermes.config import Config, Section, read_section
from core.homes.hermes.curator.transitions import Limits
from core.homes.hermes.rules import Rules
from core.view import View

#: The first ``_config_version`` whose agent ages skills after 14 and 30 days.
SHORTER_CONFIG_VERSION = 44

_OLD: Mapping[str, int] = {
    "interval_hours": 168,
    "stale_after_days": 30,
    "archive_after_days": 90,
    "keep": 5,
}
_NEW: Mapping[str, int] = {**_OLD, "stale_after_days": 14, "archive_after_days": 30, "keep": 2}


@dataclass(frozen=True, slots=True)
class Settings:
    """Section ``curator`` with defaults filled in.

    ``sources`` maps each key to where it comes from: ``config``, ``managed`` or ``default``
    (named with its version: ``default 0.19`` or ``default newest``).
    """

    enabled: bool
    interval_hours: int
    limits: Limits
    consolidate: bool
    prune_builtins: bool
    backup: bool
    keep: int
    sources: Mapping[str, str]

    @property
    def thresholds_from(self) -> str:
        """Where the two thresholds come from, in one word or two."""
        found = [self.sources[key] for key in ("stale_after_days", "archive_after_days")]
        return ", ".join(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Offering:
    """Section ``skills`` as far as it decides what the agent is offered.

    ``disabled`` holds everywhere, ``by_platform`` only on the messaging platform it names.
    """

    disabled: frozenset[str] = frozenset()
    by_platform: Mapping[str, frozenset[str]] | None = None
    inline_shell: bool = False


def read_settings(
    view: View, config: Config, environ: Mapping[str, str], managed: Path | None = None
) -> Settings:
    """What the curator would take from ``config.yaml``; never raises.

    Numbers that ``int()`` refuses fall back to the default, from config version 44 on those below
    1 too; 0.19.0 takes 0 and negative days as they are. Text is true, also the text ``false``.
    """
    section = read_section(view, "curator", environ, managed)
    newer = config.version >= SHORTER_CONFIG_VERSION
    values = section.values
    defaults = _NEW if newer else _OLD
    label = f"default {Rules.NEWEST if newer else Rules.V0_19}"
    sources = {key: _source(section, key, label) for key in (*defaults, "prune_builtins")}
    numbers = {}
    for key in ("interval_hours", "stale_after_days", "archive_after_days"):
        number = _number(values.get(key, defaults[key]))
        if number is None or (newer and number < 1):
            number, sources[key] = defaults[key], label
        numbers[key] = number
    backup = values.get("backup")
    backup = backup if isinstance(backup, dict) else {}
    keep = _number(backup.get("keep", defaults["keep"]))
    return Settings(
        enabled=bool(values.get("enabled", True)),
        interval_hours=numbers["interval_hours"],
        limits=Limits(numbers["stale_after_days"], numbers["archive_after_days"]),
        consolidate=bool(values.get("consolidate", False)),
        prune_builtins=bool(values.get("prune_builtins", not newer)),
        backup=bool(backup.get("enabled", True)),
        keep=max(1, defaults["keep"] if keep is None else keep),
        sources=sources,
    )


def read_offering(view: View, environ: Mapping[str, str], managed: Path | None = None) -> Offering:
    """Which skills are switched off; the agent reads these keys from the person's file alone."""
    section = read_section(view, "skills", environ, managed)
    platforms = section.own.get("platform_disabled")
    return Offering(
        _names(section.own.get("disabled")),
        {
            str(platform): _names(names)
            for platform, names in (platforms if isinstance(platforms, dict) else {}).items()
        },
        bool(section.values.get("inline_shell", False)),
    )


def _source(section: Section, key: str, default: str) -> str:
    if key in section.managed:
        return "managed"
    return "config" if key in section.values else default


def _number(value: object) -> int | None:
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return None


def _names(value: object) -> frozenset[str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple | set):
        return frozenset()
    return frozenset(text for item in items if (text := str(item).strip()))
