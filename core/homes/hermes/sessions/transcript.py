"""The messages of one session: where each stands, and what it says.

They are ordered by id, the only order that holds: clocks go backwards (spec hermes-sessions 1.4).
"""

from __future__ import annotations

import codecs
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from core.conversations import Mark, Message, Visibility
from core.homes.hermes.sessions import content
from core.homes.hermes.sessions.opening import Database, Row
from core.homes.hermes.sessions.parts import BATCH
from core.homes.hermes.sessions.values import chosen, flag, live, number, word

#: Bytes read at a time of a text too long to hold.
_CHUNK = 256 * 1024
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


def outline(db: Database, session_id: str) -> tuple[Mark, ...]:
    """Every message of a session in order of id, without texts.

    A message that compaction carried on is stored once more (hermes-agent #99545): the later row
    names the earlier one in ``copy_of``.
    """
    columns = db.columns("messages")
    at = "timestamp" if "timestamp" in columns else "NULL"
    active = "active" if "active" in columns else "NULL"
    where = "FROM messages WHERE session_id = ?"
    marks = db.made(f"SELECT id, role, {at}, {active} {where} ORDER BY id", (session_id,), _marks)
    # Most rows are live. Whether one that is not was summarised stands behind its text, where it
    # costs: it is asked for these rows alone.
    if "compacted" not in columns or not any(m.visibility is Visibility.UNDONE for m in marks):
        return tuple(marks)
    sql = f"SELECT id {where} AND active = 0 AND compacted = 1"
    summarised = {row[0] for row in db.rows(sql, (session_id,))}
    if not summarised:
        return tuple(marks)
    copies = _copies(db, session_id, marks)
    return tuple(
        [
            mark._replace(
                visibility=Visibility.SUMMARISED if mark.id in summarised else mark.visibility,
                copy_of=copies.get(mark.id, 0),
            )
            for mark in marks
        ]
    )


def _marks(rows: Iterable[Row]) -> list[Mark]:
    """Marks of rows of id, role, time and ``active``; undone for all that are not live."""
    shown = Visibility.LIVE
    # The common row needs nothing looked at: a session may have a hundred thousand.
    return [
        Mark(id_, role, at, shown)
        if active == 1 and type(at) is float and isfinite(at) and type(role) is str
        else Mark(id_, word(role), number(at), shown if live(active) else Visibility.UNDONE)
        for id_, role, at, active in rows
    ]


def _copies(db: Database, session_id: str, marks: Iterable[Mark]) -> dict[int, int]:
    """Later messages with the role, time and text of an earlier one: id -> id of the first."""
    first: dict[tuple[str, float], int] = {}
    again: list[tuple[int, int]] = []
    for mark in marks:
        if mark.at is None:
            continue
        if (before := first.setdefault((mark.role, mark.at), mark.id)) != mark.id:
            again.append((mark.id, before))
    found: dict[int, int] = {}
    for start in range(0, len(again), BATCH):
        some = again[start : start + BATCH]
        pairs = ", ".join(f"({later}, {earlier})" for later, earlier in some)
        sql = (
            f"WITH pair(later, earlier) AS (VALUES {pairs}) SELECT later, earlier FROM pair"
            " JOIN messages a ON a.id = later JOIN messages b ON b.id = earlier"
            " WHERE a.content IS b.content AND a.session_id = ?"
        )
        found.update((later, earlier) for later, earlier in db.rows(sql, (session_id,)))
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
    visibility = Visibility.LIVE
    if not live(active):
        visibility = Visibility.SUMMARISED if flag(compacted) else Visibility.UNDONE
    return Message(
        id=id_,
        session_id=session_id,
        role=word(role),
        text=text[:longest],
        at=number(at),
        size=size,
        whole=size <= longest,
        visibility=visibility,
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
