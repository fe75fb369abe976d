"""Changes of a note file: add, amend, forget. Pure planners; only the block that is meant changes.

Each takes part in the file's own lock, ``MEMORY.lock`` or ``USER.lock`` (vak spec 7.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from core import text as hidden
from core.homes.vak.home import PROFILE_NOTES
from core.homes.vak.notes.grammar import Block, compose, defused, forges, parse
from core.homes.vak.similar import ALIKE, likeness, words
from core.homes.vak.whitespace import WHITE, trim
from core.model import Change, EntryChange, Finding, Node, NodeKind, Outcome, Severity
from core.view import View, join, name, parent

#: The kinds that the agent accepts (vak spec 7.3).
KINDS = ("fact", "decision", "preference", "reference", "note", "invariant", "procedural")
#: Bytes at most of a kind, a tag, a session's id, a text.
LONGEST_KIND, LONGEST_TAG, LONGEST_SESSION, LONGEST_TEXT = 32, 96, 160, 128 * 1024
#: The session notes of a person are filed under.
BY_HAND = "signoff"
_QUOTED = 60


class _RefusalError(Exception):
    """A category and a sentence."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.outcome = Outcome(category, message)


def add(
    view: View,
    file: str,
    text: str,
    *,
    now: datetime,
    kind: str = "fact",
    tag: str = "",
    session_id: str = BY_HAND,
) -> Outcome:
    """A new note at the end of ``file``, which need not exist.

    A line that would be a heading of its own is defused, and said. Categories ``ok``, ``empty``,
    ``invalid`` (kind, tag or session), ``too_large``, ``unreadable_target``.
    """
    try:
        _check_words(kind, tag, session_id)
        body = _body(text)
        blocks, before, content = _read(view, file)
    except _RefusalError as refusal:
        return refusal.outcome
    heading = f"## {_stamp(now)} [{kind}] tag={tag} session={session_id}"
    gap = "\n" if content and not content.endswith("\n") else ""
    after = f"{content}{gap}{heading}\n{body}\n\n"
    block = parse(f"{heading}\n{body}\n")[0]
    return Outcome(
        "ok",
        f"A {kind} is added to {name(file)}: {_quoted(body)}.",
        (_change(file, before, after),),
        findings=about(block, blocks, file) + _defusing(text, file),
        entries=(EntryChange(None, body),),
        claims=frozenset({f"note:{file}#{block.id}"}),
        locks=(lock_of(file),),
    )


def amend(view: View, file: str, note_id: str, text: str) -> Outcome:
    """Another text for a note, under the heading it has, byte for byte.

    Categories as :func:`add`, ``no_match`` and ``noop``.
    """
    try:
        body = _body(text)
        blocks, before, _ = _read(view, file)
        place = _find(blocks, note_id, file)
    except _RefusalError as refusal:
        return refusal.outcome
    block = blocks[place]
    if block.body == body:
        return Outcome("noop", "The note says so already.")
    left = (block.line + block.rest)[block.span :]
    amended = Block(block.heading, block.line, f"{body}\n{left}")
    after = compose((*blocks[:place], amended, *blocks[place + 1 :]))
    others = (*blocks[:place], *blocks[place + 1 :])
    return Outcome(
        "ok",
        f"A note of {name(file)} is amended: {_quoted(body)}.",
        (_change(file, before, after),),
        findings=about(amended, others, file) + _defusing(text, file) + _twins(blocks, note_id),
        entries=(EntryChange(block.body, body),),
        claims=frozenset({f"note:{file}#{note_id}"}),
        locks=(lock_of(file),),
    )


def forget(view: View, file: str, note_id: str) -> Outcome:
    """A note taken out, from its heading through its last line that says something.

    Categories ``ok``, ``no_match``, ``unreadable_target``.
    """
    try:
        blocks, before, content = _read(view, file)
        place = _find(blocks, note_id, file)
    except _RefusalError as refusal:
        return refusal.outcome
    block = blocks[place]
    start = sum(len(each.line) + len(each.rest) for each in blocks[:place])
    after = content[:start] + content[start + block.span :]
    return Outcome(
        "ok",
        f"A note of {name(file)} is forgotten: {_quoted(block.body)}.",
        (_change(file, before, after),),
        findings=_twins(blocks, note_id),
        entries=(EntryChange(block.body, None),),
        claims=frozenset({f"note:{file}#{note_id}"}),
        locks=(lock_of(file),),
    )


def about(block: Block, others: Sequence[Block], file: str) -> tuple[Finding, ...]:
    """What a careful person should know of a note: hidden characters, and one that says the same.

    ``others`` are the notes beside it.
    """
    at = f"{file}#{block.id}"
    found = list(hidden.findings(block.body, at))
    mine = words(block.body)
    alike = [(likeness(mine, words(each.body)), each) for each in others if each.is_note]
    score, nearest = max(alike, key=lambda pair: pair[0], default=(0.0, None))
    if nearest is not None and score >= ALIKE:
        said = f"It says nearly what another note says ({score:.0%} alike): {_quoted(nearest.body)}"
        found.append(Finding("near_duplicate", Severity.WARNING, said, at))
    return tuple(found)


def lock_of(file: str) -> str:
    """The lock file of a note file."""
    lock = "USER.lock" if name(file) == PROFILE_NOTES else "MEMORY.lock"
    return join(parent(file), lock)


def _read(view: View, file: str) -> tuple[tuple[Block, ...], Node | None, str]:
    reading = view.read(file)
    if reading.absent:
        return (), None, ""
    if reading.data is None:
        raise _RefusalError("unreadable_target", f"{file} cannot be read: {reading.reason}")
    try:
        text = reading.data.decode("utf-8")
    except UnicodeDecodeError:
        raise _RefusalError("unreadable_target", f"{file} is no UTF-8 text") from None
    return parse(text), Node(NodeKind.FILE, reading.data, reading.mode), text


def _find(blocks: Iterable[Block], note_id: str, file: str) -> int:
    for place, block in enumerate(blocks):
        if block.is_note and block.id == note_id:
            return place
    raise _RefusalError("no_match", f"There is no note {note_id} in {file}")


def _change(file: str, before: Node | None, after: str) -> Change:
    # The agent makes its files for everyone to read, as far as the umask lets it.
    return Change(
        file, before, Node(NodeKind.FILE, after.encode(), before.mode if before else 0o644)
    )


def _check_words(kind: str, tag: str, session_id: str) -> None:
    if kind not in KINDS:
        raise _RefusalError("invalid", f"There is no kind {kind!r}: say {', '.join(KINDS)}")
    for what, word, longest in (
        ("kind", kind, LONGEST_KIND),
        ("tag", tag, LONGEST_TAG),
        ("session", session_id, LONGEST_SESSION),
    ):
        if not _encodes(word) or len(word.encode()) > longest:
            raise _RefusalError("invalid", f"The {what} is longer than {longest} bytes, or no text")
        if any(char in WHITE or ord(char) < 32 or 127 <= ord(char) < 160 for char in word):
            raise _RefusalError("invalid", f"The {what} holds white space or a control character")


def _body(text: str) -> str:
    body = trim(text.replace("\r\n", "\n"))
    if not body:
        raise _RefusalError("empty", "A note needs a text")
    if not _encodes(body):
        raise _RefusalError("invalid", "The text holds half a character")
    body = defused(body)
    if len(body.encode()) > LONGEST_TEXT:
        raise _RefusalError("too_large", f"The text is longer than {LONGEST_TEXT:,} bytes")
    return body


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _defusing(text: str, file: str) -> tuple[Finding, ...]:
    if not forges(trim(text)):
        return ()
    said = "A line of it would have become a note of its own; a blank is put before it"
    return (Finding("forged_heading", Severity.WARNING, said, file),)


def _twins(blocks: Sequence[Block], note_id: str) -> tuple[Finding, ...]:
    count = sum(block.is_note and block.id == note_id for block in blocks)
    if count < 2:
        return ()
    said = f"{count} notes have this heading; the first is meant"
    return (Finding("same_heading", Severity.INFO, said),)


def _stamp(now: datetime) -> str:
    moment = now.astimezone(UTC)
    digits = f".{moment.microsecond:06d}" if moment.microsecond else ""
    digits = digits[:4] if digits.endswith("000") else digits
    return f"{moment:%Y-%m-%dT%H:%M:%S}{digits}+00:00"


def _quoted(text: str) -> str:
    return f'"{hidden.one_line(text, _QUOTED)}"'
