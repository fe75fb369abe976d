"""The agent's own search tool, asked about an opened home."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from core.desk.opening import Opened
from core.errors import UnreadableError
from core.homes.hermes.recall import tool
from core.homes.hermes.recall.profiles import Profiles
from core.homes.hermes.rules import Rules
from core.homes.hermes.sessions.opening import reading

#: The ``schema_version`` that hermes-agent 0.19.0 writes; newer agents write more.
SCHEMA_0_19 = 22
#: Files of which one tells the rules of a home; without any only the database can.
_SIGNS = ("config.yaml", "pending", "memories", "skills")


def recall(opened: Opened, arguments: Mapping[str, object]) -> dict[str, Any]:
    """What the tool answers to ``arguments``, its JSON as a dict; times are local."""
    profiles = Profiles(opened.found.root, opened.found.profile)
    return tool.recall(
        opened.found.home,
        arguments,
        rules=rules_of(opened),
        now=opened.clock(),
        profiles=profiles,
        zone=None,
    )


def explain(opened: Opened, query: str) -> str:
    """What the tool makes of ``query`` before it asks the database."""
    return tool.explain(query, rules_of(opened))


def rules_of(opened: Opened) -> Rules:
    """Whose tool answers: the one asked for, that of the home, or of the version of its database.

    A home that tells nothing but its database is as new as that; the newest where that tells
    nothing either (contract).
    """
    rules = opened.home_rules()
    if opened.rules != "auto" or rules is Rules.NEWEST:
        return rules
    if any((opened.found.home / name).exists() for name in _SIGNS):
        return rules
    version = _schema(opened)
    return Rules.V0_19 if version is not None and version <= SCHEMA_0_19 else Rules.NEWEST


def _schema(opened: Opened) -> int | None:
    try:
        with reading(opened.found.home) as db:
            found = db.rows("SELECT max(version) FROM schema_version")
    except (UnreadableError, sqlite3.Error):
        return None
    return found[0][0] if found and isinstance(found[0][0], int) else None
