"""The messages of one session: where each stands, and what it says.

They are ordered by id, the only order that holds: clocks go backwards (spec hermes-sessions 1.4).
"""

from __future__ import annotations

import codecs
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from core.conversations import Mark, Message, Visibility
from core.homes.hermes.sessions import content
from core.homes.hermes.sessions.opening import Database, Row
from core.homes.hermes.sessions.parts import BATCH
from core.homes.hermes.sessions.values import chosen, flag, live, number, word
from core.outline import NO_TIME, ROLES, VISIBILITIES, Outline

#: Bytes read at a time of a text too long to hold.
_CHUNK = 256 * 1024
#: Kilobytes of pages kept for an outline, which reads each once: with four times as many it takes
#: a seventh longer.
_ROOM = 4_000
#: A length from which on a text counts as whole.
_WHOLE = 1 << 30
_NAMES = (
    "id", "role", "timestamp", "active", "compacted", "tool_name", "tool_call_id", "tool_calls",
    "observed", "display_kind", "_compressed_summary", "effect_disposition",
)  # fmt: skip
#: Columns of the debug view, under the names people see.
_DEBUG = {
    "api_content": "sent to the model",
    "reasoning": "reasoning",
    "reasoning_content": "reasoning content",
    "reasoning_details": "reasoning details",
    "codex_reasoning_items": "codex reasoning items",
    "codex_message_items": "codex message items",
    "platform_message_id": "platform message id",
    "finish_reason": "finish reason",
    "token_count": "tokens",
    "effect_disposition": "effect",
    "display_kind": "display kind",
    "display_metadata": "display metadata",
}


def outline(db: Database, session_id: str) -> Outline:
    """Every message of a session in order of id, without texts.

    A message that compaction carried on is stored once more (hermes-agent #99545): the later row
    names the earlier one in ``copy_of``.
    """
    columns = db.columns("messages")
    at, active, compacted = (
        name if name in columns else "NULL" for name in ("timestamp", "active", "compacted")
    )
    where = "FROM messages WHERE session_id = ? ORDER BY id"
    db.rows(f"PRAGMA cache_size=-{_ROOM}")
    code = _code(active, compacted)
    found = db.made(f"SELECT id, {code}, {at} {where}", (session_id,), _plain)
    if found is None:
        sql = f"SELECT id, role, {at}, {active}, {compacted} {where}"
        found = db.made(sql, (session_id,), _any)
    if not found.seen(Visibility.SUMMARISED):
        return found
    return found.with_copies(_copies(db, session_id, found))


def _code(active: str, compacted: str) -> str:
    """The code of a row in an outline, as SQL; NULL where :func:`_any` has to look at it.

    Whether a row was summarised stands behind its text, where it costs: it is read for those that
    are not live alone.
    """
    roles = " ".join(f"WHEN '{role}' THEN {code}" for role, code in ROLES.items())
    live, summarised, undone = (VISIBILITIES[each] for each in Visibility)
    return (
        f"CASE role {roles} END + CASE WHEN {active} = 1 OR {active} IS NULL THEN {live}"
        f" WHEN {active} = 0 THEN CASE {compacted} WHEN 1 THEN {summarised} ELSE {undone} END END"
    )


def _plain(rows: Iterable[Row]) -> Outline | None:
    """The outline of rows of id, code and time; ``None`` if any of them is odd."""
    ids, codes, times = array("q"), bytearray(), array("d")
    # Nothing is made for a row that is not needed: a session may have a hundred thousand.
    add_id, add_code, add_time = ids.append, codes.append, times.append
    try:
        for id_, code, at in rows:
            add_id(id_)
            add_code(code)
            add_time(at)
    except TypeError:
        return None
    return Outline(ids, bytes(codes), times) if isfinite(sum(times)) else None


def _any(rows: Iterable[Row]) -> Outline:
    """The outline of rows of id, role, time, ``active`` and ``compacted``, whatever they hold."""
    return Outline.of(
        Mark(id_, word(role), number(at), _visibility(active, compacted))
        for id_, role, at, active, compacted in rows
    )


def _visibility(active: object, compacted: object) -> Visibility:
    if live(active):
        return Visibility.LIVE
    return Visibility.SUMMARISED if flag(compacted) else Visibility.UNDONE


def _copies(db: Database, session_id: str, marks: Outline) -> dict[int, int]:
    """Later messages with the role, time and text of an earlier one: number -> id of the first."""
    twice = {a for a, b in pairwise(sorted(marks.times)) if a == b and a != NO_TIME}
    first: dict[tuple[str, float], int] = {}
    again: dict[int, tuple[int, int]] = {}
    for place, at in enumerate(marks.times):
        if at not in twice:
            continue
        mark = marks[place]
        if (before := first.setdefault((mark.role, at), mark.id)) != mark.id:
            again[mark.id] = place, before
    found: dict[int, int] = {}
    later = list(again)
    for start in range(0, len(later), BATCH):
        some = later[start : start + BATCH]
        pairs = ", ".join(f"({id_}, {again[id_][1]})" for id_ in some)
        sql = (
            f"WITH pair(later, earlier) AS (VALUES {pairs}) SELECT later, earlier FROM pair"
            " JOIN messages a ON a.id = later JOIN messages b ON b.id = earlier"
            " WHERE a.content IS b.content AND a.session_id = ?"
        )
        found.update((again[id_][0], earlier) for id_, earlier in db.rows(sql, (session_id,)))
    return found


def messages(
    db: Database, ids: Sequence[int], session_id: str, longest: int
) -> tuple[Message, ...]:
    """These messages of the session in order of id; texts, and the arguments of calls, are cut at
    ``longest`` characters. Ids that are not in the session are left out."""
    columns = db.columns("messages")
    whole = longest >= _WHOLE
    text = "content" if whole else "NULL"
    found: dict[int, Message] = {}
    for start in range(0, len(ids), BATCH):
        some = [each for each in ids[start : start + BATCH] if -(2**63) <= each < 2**63]
        rows = db.rows(
            f"SELECT {chosen(_NAMES, columns, 'm')}, typeof(content), {text} FROM messages m"
            f" WHERE m.id IN ({', '.join('?' * len(some))}) AND +m.session_id = ?",
            (*some, session_id),
        )
        if whole:
            begun = {row[0]: _Begun(row[-1], None) for row in rows}
        else:
            begun = _beginnings(db, {row[0]: row[-2] for row in rows}, longest)
        for row in rows:
            if row[0] in begun:
                found[row[0]] = _message(row, session_id, *begun[row[0]], longest)
    return tuple(found[id_] for id_ in sorted(found))


class _Begun(NamedTuple):
    """The start of a content, and its length where that is not the length of the start."""

    said: object
    size: int | None


def _beginnings(db: Database, kinds: Mapping[int, object], longest: int) -> dict[int, _Begun]:
    """What these messages begin with, by id and type of the content; those that are gone are not
    among them. A text of millions of characters is never held whole, unless it is encoded."""
    texts = [id_ for id_, kind in kinds.items() if kind in ("text", "blob")]

    def read(connection: sqlite3.Connection) -> dict[int, _Begun]:
        begun = ((id_, _begin(connection, id_, longest)) for id_ in texts)
        return {id_: one for id_, one in begun if one is not None}

    found = db.ask(read) if texts else {}
    for id_ in kinds.keys() - texts:
        for row in db.rows("SELECT content FROM messages WHERE id = ?", (id_,)):
            found[id_] = _Begun(row[0], None)
    return found


def _begin(connection: sqlite3.Connection, id_: int, longest: int) -> _Begun | None:
    try:
        with connection.blobopen("messages", "content", id_, readonly=True) as blob:
            start = blob.read(min(len(blob), max(4 * longest, content.TELLING)))
            if len(start) == len(blob):
                return _Begun(start, None)
            if start.startswith(content.ENCODED):
                return _Begun(start + blob.read(), None)
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            size = len(decoder.decode(start))
            while chunk := blob.read(_CHUNK):
                size += len(decoder.decode(chunk))
            return _Begun(start, size + len(decoder.decode(b"", final=True)))
    except sqlite3.OperationalError as problem:
        if "no such rowid" in str(problem):
            return None
        raise


def _message(row: Row, session_id: str, said: object, size: int | None, longest: int) -> Message:
    (
        id_, role, at, active, compacted, tool, call_id, tool_calls, observed, display, flagged,
        effect, _, _,
    ) = row  # fmt: skip
    text, others = content.said(said)
    # What a tool read may look like a summary; only what was said is one.
    handoff = None if role == "tool" else content.handoff(text, flagged=flag(flagged))
    size = len(text) if size is None else size
    calls = content.calls(tool_calls)
    notes = [*_notes(observed, display, effect), *(f"has {other}" for other in others)]
    if any(len(call.arguments) > longest for call in calls):
        calls = content.cut(calls, longest)
        notes.append("arguments cut")
    elif tool_calls and not calls and tool_calls not in ("[]", "null"):
        notes.append("its calls cannot be read")
    return Message(
        id=id_,
        session_id=session_id,
        role=word(role),
        text=text[:longest],
        at=number(at),
        size=size,
        whole=size <= longest,
        visibility=_visibility(active, compacted),
        tool_name=word(tool),
        tool_call_id=word(call_id),
        tool_calls=calls,
        handoff=handoff,
        notes=tuple(notes),
    )


def _notes(observed: object, display: object, effect: object) -> list[str]:
    notes = ["observed"] if flag(observed) else []
    kind = word(display)
    if kind:
        notes.append("hidden from people" if kind == "hidden" else kind)
    if (said := word(effect)) and said != "none":
        notes.append(f"effect {said}")
    return notes


def debug(db: Database, message_id: int) -> tuple[tuple[str, str], ...]:
    """What else the row says, as (label, text): what was sent instead of the text, reasoning, the
    platform's id, parts that are no text. Empty for an unknown message."""
    names = [name for name in _DEBUG if name in db.columns("messages")]
    rows = db.rows(
        f"SELECT {', '.join((*names, 'content', 'session_id'))} FROM messages WHERE id = ?",
        (message_id,),
    )
    if not rows:
        return ()
    *values, said, session_id = rows[0]
    found = [("session", word(session_id))]
    found += [
        (_DEBUG[name], content.text_of(value) if name == "api_content" else word(value))
        for name, value in zip(names, values, strict=True)
        if value is not None and value != ""
    ]
    _, others = content.said(said)
    found += [("part", other) for other in others]
    if isinstance(said, bytes):
        found.append(("stored as", f"BLOB of {len(said):,} bytes"))
    elif isinstance(said, int | float):
        found.append(("stored as", type(said).__name__))
    return tuple(found)
