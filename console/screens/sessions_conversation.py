"""One conversation of the Sessions mode, all parts of its chain as one, read in a thread."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from console.render.sessions import name_of
from core.conversations import Cancelled, Conversations, Message, Relation, Session
from core.desk.opening import Opened
from core.desk.past import past
from core.desk.searching import matches_in
from core.outline import Outline
from core.recall.query import Query
from core.recall.spans import spans

#: The most matches marked in one message.
MARKED = 10_000


@dataclass(frozen=True, slots=True)
class Texts:
    """Reads messages of a conversation, each from the part of the chain it stands in.

    ``starts`` are the numbers in ``outline`` that its ``parts`` begin with.
    """

    past: Conversations
    outline: Outline
    parts: Sequence[str]
    starts: Sequence[int]

    def __call__(self, ids: Sequence[int], longest: int) -> tuple[Message, ...]:
        by_part: dict[str, list[int]] = {}
        for key in ids:
            by_part.setdefault(self.owner(key), []).append(key)
        found: list[Message] = []
        for part, some in by_part.items():
            found += self.past.messages(some, part, longest)
        return tuple(found)

    def owner(self, message_id: int) -> str:
        """The session that a message stands in; the newest part for one that is not there."""
        number = self.outline.number(message_id)
        return self.parts[-1 if number is None else bisect_right(self.starts, number) - 1]

    def first_of(self, part: str) -> int | None:
        """The first message of a part; ``None`` if it has none."""
        if part not in self.parts:
            return None
        at = self.parts.index(part)
        start, end = (*self.starts, len(self.outline))[at : at + 2]
        return self.outline.ids[start] if start < end else None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation, all parts of its chain as one.

    ``asked`` is the part it was opened by, ``hits`` its messages that answer ``query``,
    ``version`` the past's before it was read.
    """

    asked: str
    session: Session
    parts: tuple[str, ...]
    texts: Texts
    outline: Outline
    dividers: Mapping[int, str]
    version: object
    hits: tuple[int, ...] = ()
    query: Query | None = None


def open_conversation(
    opened: Opened,
    session_id: str,
    query: Query | None,
    cancelled: Cancelled,
    known: Conversation | None = None,
) -> Conversation | None:
    """All of a conversation but its texts; ``None`` if it is gone. What is ``known`` of it and
    did not change since is not read again. Raises :class:`UnreadableError`."""
    conversations = past(opened)
    if known is None or session_id not in known.parts or known.version != conversations.version():
        known = _opened(conversations, session_id)
    if known is None:
        return None
    hits: list[int] = []
    if query is not None and not query.is_empty:
        for part in known.parts:
            hits += matches_in(opened, query, part, cancelled=cancelled)
    return replace(known, asked=session_id, hits=tuple(hits), query=query)


def _opened(conversations: Conversations, session_id: str) -> Conversation | None:
    """A conversation in which nothing is looked for."""
    version = conversations.version()
    session = conversations.session(session_id)
    if session is None:
        return None
    parts = session.chain or (session.id,)
    if parts[-1] != session.id:
        session = conversations.session(parts[-1]) or session
    outlines: list[Outline] = []
    dividers: dict[int, str] = {}
    for number, part in enumerate(parts, 1):
        marks = Outline.of(conversations.outline(part))
        if number > 1 and marks:
            dividers[marks[0].id] = f"part {number} of {len(parts)}: {part}, after a compaction"
        outlines.append(marks)
    outline = Outline.joined(outlines)
    for at, words in branches(conversations, session, parts):
        # The very first message has nothing above it that came before.
        if first := outline.as_late(at):
            key = outline.ids[first]
            known = dividers.get(key)
            dividers[key] = f"{known}; {words}" if known else words
    starts = tuple(accumulate(map(len, outlines[:-1]), initial=0))
    texts = Texts(conversations, outline, parts, starts)
    return Conversation(session_id, session, parts, texts, outline, dividers, version)


def branches(
    conversations: Conversations, session: Session, parts: Sequence[str]
) -> Iterator[tuple[float, str]]:
    """When other conversations branched off a conversation, or it did, and words for it."""
    if session.relation is Relation.BRANCH and session.started_at is not None:
        parent = conversations.session(session.parent_id)
        name = name_of(parent) if parent is not None else session.parent_id
        yield session.started_at, f"branched here from {name}: above is a copy"
    for relative in conversations.family(session.id):
        child = relative.session
        branched = child.parent_id in parts and child.relation is Relation.BRANCH
        if branched and child.started_at is not None:
            yield child.started_at, f"{child.title or child.id} branched off here"


def finder(query: Query | None) -> Callable[[str], Sequence[tuple[int, int]]] | None:
    """What marks the matches of ``query`` in a text; ``None`` where no words are asked."""
    if query is None or query.is_empty:
        return None
    return lambda text: spans(query, text, MARKED)
