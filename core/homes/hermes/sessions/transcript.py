"""The messages of one session: where each stands, and what it says.

They are ordered by id, the only order that holds: clocks go backwards (spec hermes-sessions 1.4).
"""

from __future__ import annotations

import codecs
import sqlite3
from collections.abc import Sequence
from math import isfinite

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
    rows = db.rows(
        f"SELECT id, role, {at}, {active} FROM messages WHERE session_id = ? ORDER BY id",
        (session_id,),
    )
    # Most rows are live. Whether one that is not was summarised stands behind its text, where it
    # costs: it is asked for these rows alone.
    gone = [row[0] for row in rows if not live(row[3])]
    summarised: set[object] = set()
    if gone and "compacted" in columns:
        sql = "SELECT id FROM messages WHERE session_id = ? AND active = 0 AND compacted = 1"
        summarised = {row[0] for row in db.rows(sql, (session_id,))}
    copies = _copies(db, session_id, rows) if summarised else {}

    def mark(id_: int, role: object, at: object, active: object) -> Mark:
        visibility = Visibility.LIVE
        if not live(active):
            visibility = Visibility.SUMMARISED if id_ in summarised else Visibility.UNDONE
        return Mark(id_, word(role), number(at), visibility, copies.get(id_, 0))

    # The common row needs none of this: a session may have a hundred thousand.
    plain = not copies
    return tuple(
        [
            Mark(id_, role, at, Visibility.LIVE)
            if plain and active == 1 and type(at) is float and isfinite(at) and type(role) is str
            else mark(id_, role, at, active)
            for id_, role, at, active in rows
        ]
    )


def _copies(db: Database, session_id: str, rows: Sequence[Row]) -> dict[int, int]:
    """Later rows with the role, time and text of an earlier one: id -> id of the first."""
    first: dict[tuple[object, object], int] = {}
    again: list[tuple[int, int]] = []
    for id_, role, at, _ in rows:
        if at is not None and (before := first.setdefault((role, at), id_)) != id_:
            again.append((id_, before))
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
        for row in rows:
            said = row[-1] if whole else None
            if not whole:
                beginning = _beginning(db, row[0], row[-2], longest)
                if beginning is None:
                    continue
                said, size = beginning
            else:
                size = None
            found[row[0]] = _message(row, session_id, said, size, longest)
    return tuple(found[id_] for id_ in sorted(found))


def _beginning(
    db: Database, id_: int, kind: object, longest: int
) -> tuple[object, int | None] | None:
    """The start of a content, and its length where that is not the length of the start.

    A text of millions of characters is never held whole, unless it is an encoded structure.
    ``None`` where the message is gone.
    """
    if kind not in ("text", "blob"):
        rows = db.rows("SELECT content FROM messages WHERE id = ?", (id_,))
        return (rows[0][0], None) if rows else None

    def read(connection: sqlite3.Connection) -> tuple[bytes, int | None]:
        with connection.blobopen("messages", "content", id_, readonly=True) as blob:
            start = blob.read(min(len(blob), max(4 * longest, content.TELLING)))
            if len(start) == len(blob):
                return start, None
            if start.startswith(content.ENCODED):
                return start + blob.read(), None
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            size = len(decoder.decode(start))
            while chunk := blob.read(_CHUNK):
                size += len(decoder.decode(chunk))
            return start, size + len(decoder.decode(b"", final=True))

    try:
        return db.ask(read)
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
