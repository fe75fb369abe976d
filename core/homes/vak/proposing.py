"""A proposed skill's file as vak writes it: header, instructions, footer (vak spec 8)."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

from core.homes.hermes.staging import Caller
from core.homes.vak.notes.planning import LONGEST_SESSION
from core.homes.vak.whitespace import trim

_NO_WORD = re.compile(r"[^0-9A-Za-z._:/@-]+")


def new_id(now: datetime) -> str:
    """A UUID of version 7 as 32 hex digits: the first 12 are the time in milliseconds."""
    when = int(now.timestamp() * 1_000) & (1 << 48) - 1
    chance = secrets.randbits(74)
    head = when << 80 | 0x7 << 76 | chance >> 62 << 64
    return f"{head | 0b10 << 62 | chance & (1 << 62) - 1:032x}"


def session_of(caller: Caller) -> str:
    """The session a proposal is filed under: one word, the client's name where none was told."""
    named = caller.session_id or f"mcp:{caller.client or 'client'}"
    return _NO_WORD.sub("-", named)[:LONGEST_SESSION]


def skill_file(
    name: str, description: str, instructions: str, token: str, now: datetime, caller: Caller
) -> str:
    """The text of ``<token>.md``. A name is lower-cased, a description made one line."""
    told = " ".join(description.split()).replace('"', "'")
    at = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    footer = f"<!-- proposed-by: {session_of(caller)} at {at}; proposal id {token} -->"
    head = f'---\nname: "{trim(name).lower()}"\ndescription: "{told}"\n---\n'
    return f"{head}\n{instructions.strip()}\n\n{_why(caller)}{footer}\n"


def _why(caller: Caller) -> str:
    """Who proposed it and why, as a comment of its own; nothing in it can end the comment."""
    said = " ".join(caller.words.split()).replace("--", "—").replace(">", "›")
    return f"<!-- {said} -->\n" if caller.client or caller.reason else ""
