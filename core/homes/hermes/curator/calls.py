"""When the agent called its skill tools, as its past conversations tell: the only days there are.

hermes-agent keeps totals and last dates of each skill, and no history. The calls of ``skill_view``
and ``skill_manage`` stand with their times in ``state.db`` (specs, hermes-skills-curator 7.11), and
so do the conversations. Slash commands and jobs load skills without a call: they are not here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UnreadableError
from core.homes.hermes.sessions.content import calls as stored_calls
from core.homes.hermes.sessions.opening import (
    DATABASE,
    NoDatabaseError,
    TimeUpError,
    reading,
)

TOOLS = frozenset({"skill_view", "skill_manage"})
#: Seconds of one look, and messages of one question; a look that ends early is gone on with.
SECONDS, STEP = 2.0, 20_000
_WANTED = " OR ".join(f"instr(tool_calls, '\"{tool}\"') > 0" for tool in sorted(TOOLS))
_SQL = (
    "SELECT timestamp, session_id, tool_calls FROM messages"
    f" WHERE id > ? AND id <= ? AND ({_WANTED})"
)
#: Turns that a person took back, and copies of turns, count no more.
_TURNS = frozenset({"active", "compacted"})
_NOT_UNDONE = " AND (active IS NOT 0 OR compacted = 1)"


@dataclass(frozen=True, slots=True)
class Call:
    """One call: Unix seconds, the tool, the skill as the agent named it, the conversation."""

    at: float
    tool: str
    skill: str
    session: str


@dataclass(frozen=True, slots=True)
class Calls:
    """Every call up to the message ``newest``, the oldest first.

    ``problem`` says why later ones are not known. ``more``: the time was up, ask again.
    """

    found: tuple[Call, ...] = ()
    newest: int = 0
    problem: str = ""
    more: bool = False

    def of(self, words: Collection[str]) -> tuple[Call, ...]:
        """The calls that name a skill by any of ``words``."""
        return tuple(call for call in self.found if call.skill in words)


NONE = Calls()


def read_calls(home: Path, known: Calls = NONE, *, seconds: float = SECONDS) -> Calls:
    """The calls in the home's ``state.db``; only messages after those ``known`` are looked at."""
    found: list[Call] = []
    done, problem, more = known.newest, "", False
    try:
        with reading(home, seconds=seconds) as db:
            columns = db.columns("messages")
            if not {"id", "session_id", "timestamp", "tool_calls"} <= columns:
                return Calls(problem=f"{DATABASE} keeps no calls of tools")
            newest = _number(db.rows("SELECT max(id) FROM messages")[0][0])
            if newest < done:
                # Another database stands there now.
                known, done = NONE, 0
            asked = _SQL + (_NOT_UNDONE if columns >= _TURNS else "")
            while done < newest:
                step = min(done + STEP, newest)
                found += _calls(db.rows(asked, (done, step)))
                done = step
    except NoDatabaseError:
        return NONE
    except TimeUpError:
        more = True
    except UnreadableError as raised:
        problem = raised.message
    return Calls(_once([*known.found, *found]), done, problem, more)


def _calls(rows: Iterable[tuple[Any, ...]]) -> Iterator[Call]:
    for at, session, stored in rows:
        if not isinstance(at, int | float) or not math.isfinite(at):
            continue
        for call in stored_calls(stored):
            skill = _skill(call.arguments) if call.name in TOOLS else ""
            if skill:
                yield Call(float(at), call.name, skill, str(session))


def _once(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Sorted, a call that a later session carries on from an earlier one counted once."""
    found: dict[tuple[float, str, str], Call] = {}
    for call in calls:
        found.setdefault((call.at, call.tool, call.skill), call)
    return tuple(sorted(found.values(), key=lambda call: call.at))


def _skill(arguments: str) -> str:
    try:
        held = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    name = held.get("name") if isinstance(held, dict) else None
    return name.strip().strip("/") if isinstance(name, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
