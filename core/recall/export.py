"""What an export of past conversations is made of: its forms, documents, and names of files."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from core.clock import is_date
from core.conversations import Mark, Message, Session, Visibility
from core.errors import SignoffError

#: Messages asked for at once, and the characters each may have; longer ones are asked for alone.
_BATCH, _LONG = 64, 50_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_SLUG = 60
#: Characters that no text file should hold: controls but tab and newline, half characters.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class Format(StrEnum):
    """One object a session with every column; readable text; the same for Quarto; one page."""

    JSONL = "jsonl"
    MD = "md"
    QMD = "qmd"
    HTML = "html"


class ExportError(SignoffError):
    """Nothing was exported, or not all of it."""

    title = "Not exported"
    code = "export"


class Transcripts(Protocol):
    """What an export asks of :class:`core.conversations.Conversations`."""

    def outline(self, session_id: str) -> Sequence[Mark]:
        """Every message of a session in order, without texts."""

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        """These messages, in order; texts are cut at ``longest`` characters."""


@dataclass(frozen=True, slots=True)
class Part:
    """A session as one part of a document, its messages streamed.

    ``count`` is how many messages :attr:`messages` gives; ``left_out`` counts the others, by
    visibility.
    """

    session_id: str
    count: int
    messages: Callable[[], Iterable[Message]]
    left_out: Mapping[Visibility, int]


@dataclass(frozen=True, slots=True)
class Document:
    """What becomes one text: a session, or the chain that compaction made of one (its newest part
    is ``session``). ``labelled``: each message says whether the agent still sees it.
    """

    session: Session
    parts: tuple[Part, ...]
    provider: str = ""
    labelled: bool = False

    @property
    def count(self) -> int:
        """Messages of all parts."""
        return sum(part.count for part in self.parts)

    @property
    def source_count(self) -> int:
        """How many messages the home says there are, for a chain those that are exported."""
        return self.session.messages if len(self.parts) == 1 else self.count

    @property
    def lineage(self) -> tuple[str, ...]:
        """The ids of its parts, the first one first."""
        return tuple(part.session_id for part in self.parts)


def part(
    conversations: Transcripts,
    session_id: str,
    *,
    every: bool,
    hide: Callable[[Message], Message],
) -> Part:
    """A session of ``conversations``: what the agent sees of it, or ``every`` row.

    ``hide`` is what redacts a message. Raises :class:`UnreadableError`.
    """
    marks = conversations.outline(session_id)
    ids = [mark.id for mark in marks if every or mark.visibility is Visibility.LIVE]
    left_out: dict[Visibility, int] = {} if every else Counter(mark.visibility for mark in marks)
    left_out.pop(Visibility.LIVE, None)
    return Part(
        session_id,
        len(ids),
        lambda: map(hide, stream(conversations, session_id, ids)),
        left_out,
    )


def stream(conversations: Transcripts, session_id: str, ids: Sequence[int]) -> Iterator[Message]:
    """These messages of a session, whole, few of them in memory at a time.

    Raises :class:`ExportError` when one is gone, :class:`UnreadableError`.
    """
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        found = {each.id: each for each in conversations.messages(batch, session_id, _LONG)}
        for number in batch:
            message = found.get(number)
            if message is not None and not message.whole:
                whole = conversations.messages([number], session_id, sys.maxsize)
                message = whole[0] if whole else None
            if message is None:
                raise ExportError(
                    f"Session {session_id} lost messages while it was exported", "Export it again"
                )
            yield message


def file_name(session_id: str, title: str, fmt: Format) -> str:
    """``<id>-<title>.<format>``, of letters, digits, ``.``, ``_`` and ``-`` alone.

    As hermes-agent 0.19.0 names its exports; an id it would not make gets a digest, so that two
    never share a name.
    """
    name = session_id
    if not _ID.fullmatch(name):
        digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        name = f"{_UNSAFE.sub('-', name).strip('.-_')[:80] or 'session'}-{digest}"
    slug = _UNSAFE.sub("-", title).strip(".-_").lower()[:_SLUG]
    return f"{name}-{slug or 'session'}.{fmt}"


def iso(at: float | None) -> str:
    """A time as ISO 8601 in UTC with a ``Z``; ``""`` for none, the number where it is no date."""
    if at is None:
        return ""
    if not is_date(at):
        return str(at)
    return datetime.fromtimestamp(at, tz=UTC).isoformat().replace("+00:00", "Z")


def plain(text: str) -> str:
    """``text`` as a text file may hold it: line ends ``\\n``, a picture (␛) for each control."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(_picture, text)


def one_line(text: str) -> str:
    """:func:`plain` with every run of white space one space."""
    return " ".join(plain(text).split())


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
