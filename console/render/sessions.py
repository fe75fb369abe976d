"""Rows of the Sessions mode: conversations, hits of a search, and what the list leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from console.keymap import key_of
from console.render import ink
from console.render.line import wrapped
from console.render.message import when
from core import text
from core.conversations import Hit, Relation, Relative, Session, Visibility

#: Words for what a session is to the one it came from.
_RELATIONS = {
    Relation.BRANCH: "branch",
    Relation.RESET: "after a reset",
    Relation.DELEGATE: "delegate",
    Relation.CONTINUATION: "continues",
}
_MATCH = "bold underline $text-warning"
#: Cells of a name in the family tree.
_NAME = 28
#: Cells of a row in the list of a family.
_FAMILY = 66
#: Cells before the first match that a snippet keeps.
_LEAD = 16


@dataclass(frozen=True, slots=True)
class SessionItem:
    """A conversation as a row. ``age`` is how long ago it was active; ``live``: it goes on."""

    session: Session
    age: str
    live: bool = False

    @property
    def key(self) -> str:
        """The session's id."""
        return self.session.id


@dataclass(frozen=True, slots=True)
class HitItem:
    """A session that answers a search, at its best message; ``name`` stands in for a title."""

    hit: Hit
    age: str
    name: str = ""

    @property
    def key(self) -> str:
        """The session's id: a search has one hit for each."""
        return self.hit.session_id


@dataclass(frozen=True, slots=True)
class Facets:
    """What is let into list and search beside what people said; ``source``: only that one."""

    source: str = ""
    cron: bool = False
    hidden: bool = False
    archived: bool = False
    tools: bool = False
    undone: bool = False


def turned(facets: Facets, name: str) -> Facets:
    """``facets`` with one of them the other way round."""
    flags = {
        "cron": facets.cron,
        "hidden": facets.hidden,
        "archived": facets.archived,
        "tools": facets.tools,
        "undone": facets.undone,
    }
    flags[name] = not flags[name]
    return Facets(facets.source, **flags)


@dataclass(frozen=True, slots=True)
class Counts:
    """What a list shows and what its facets leave out, with the key that lets each in."""

    by_source: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()


def name_of(session: Session) -> str:
    """What to call a conversation: its title, else how it began, else its id."""
    return session.title or session.preview or session.id


def session_row(item: SessionItem, width: int) -> Sequence[Content]:
    """The two lines of a conversation."""
    session = item.session
    style = ink.TITLE if session.title else ""
    tail = Content.styled(item.age, ink.LABEL)
    first = _ends(ink.cut(name_of(session), max(1, width - len(tail) - 1), style), tail, width)
    return first, _joined(_facts(item), width)


def _facts(item: SessionItem) -> list[Content]:
    session = item.session
    parts = [ink.line(session.source or "unknown source")]
    parts += [Content.styled(word, ink.WARNING) for word in _states(item)]
    parts.append(Content(f"{session.messages:,} msg"))
    if len(session.chain) > 1:
        parts.append(Content(f"{len(session.chain)} parts"))
    if session.relation in _RELATIONS and session.relation is not Relation.CONTINUATION:
        parts.append(Content(_RELATIONS[session.relation]))
    if session.workspace:
        parts.append(ink.line(_folder(session.workspace)))
    return parts


def _states(item: SessionItem) -> list[str]:
    session = item.session
    said = {
        "live": item.live,
        "unread": session.unread,
        "pinned": session.pinned,
        "archived": session.archived,
        "hidden": session.hidden,
    }
    return [word for word, holds in said.items() if holds]


def hit_row(item: HitItem, width: int) -> Sequence[Content]:
    """The three lines of a session that was found: title, where the hit stands, what it says."""
    hit = item.hit
    tail = Content.styled(item.age, ink.LABEL)
    room = max(1, width - tail.cell_length - 1)
    first = _ends(ink.cut(hit.title or item.name or hit.session_id, room, ink.TITLE), tail, width)
    parts = [ink.line(hit.source or "unknown source"), ink.line(hit.role)]
    if hit.visibility is not Visibility.LIVE:
        parts.append(Content.styled(str(hit.visibility), ink.WARNING))
    if hit.in_title:
        parts.append(Content("in the title"))
    if hit.more:
        parts.append(Content.styled(f"+{hit.more:,} more", ink.ACCENT))
    return first, _joined(parts, width), snippet_line(hit, width)


def snippet_line(hit: Hit, width: int) -> Content:
    """The part of a snippet around its first match, on one line, the matches marked."""
    shown, spans = text.safe_spans(hit.snippet.replace("\n", " "), hit.spans)
    begin = 0
    if spans and spans[0][0] > max(_LEAD, width // 2):
        begin = shown.find(" ", spans[0][0] - _LEAD) + 1
        begin = begin if 0 < begin <= spans[0][0] else spans[0][0]
    lead = "…" if begin else ""
    content = Content(lead + shown[begin:])
    for start, end in spans:
        first, last = start - begin + len(lead), end - begin + len(lead)
        if first >= 0:
            content = content.stylize(_MATCH, first, last)
    return content.truncate(max(1, width), ellipsis=True)


def let_in(facets: Facets) -> tuple[tuple[str, str], ...]:
    """What is let in beside what people said, each with the key that takes it out again."""
    known = (
        (facets.cron, "cron runs", "sessions.let.cron"),
        (facets.hidden, "hidden", "sessions.let.hidden"),
        (facets.archived, "archived", "sessions.let.archived"),
        (facets.tools, "tool output", "sessions.tools"),
        (facets.undone, "undone", "sessions.undone"),
    )
    return tuple((f"with {name}", key_of(key)) for on, name, key in known if on)


def facet_lines(counts: Counts, width: int, facets: Facets | None = None) -> Content:
    """What is on the list by source; then what is let in and what is not, each with its key."""
    shown = [ink.line(f"{source or 'unknown'} {n:,}") for source, n in counts.by_source.items()]
    lines = [_joined(shown, width)] if shown else []
    row: list[Content] = []
    for said, key in (*(let_in(facets) if facets is not None else ()), *counts.left_out):
        part = Content.assemble(ink.line(f"{said}: "), (key, ink.ACCENT))
        # A part is not torn: its key would stand alone.
        if row and sum(len(each) + 3 for each in row) + len(part) > width:
            lines.append(_joined(row, width))
            row = []
        row.append(part)
    if row:
        lines.append(_joined(row, width))
    return Content("\n").join(lines)


def query_lines(said: Sequence[str], width: int) -> list[Content]:
    """What became of a query, no word of it cut off."""
    return [line for each in said for line in wrapped(ink.line(each, ink.WARNING), width)]


def family_words(relative: Relative, here: str) -> str:
    """A member of a family on one line, set in by its depth; ``here`` is the session on screen."""
    session = relative.session
    relation = "begins" if session.relation is Relation.ROOT else _RELATIONS[session.relation]
    lead = "  " * relative.depth + ("▶ " if session.id == here else "") + f"{relation}: "
    words = (session.source, f"{session.messages:,} msg", when(session.started_at)[:10])
    rest = "".join(f"  {word}" for word in words if word)
    # The deeper it is set in the shorter its name: the date at the end is never cut off.
    room = max(8, min(_NAME, _FAMILY - text.width(lead) - text.width(rest)))
    return f"{lead}{text.one_line(name_of(session), room)}{rest}"


def _folder(path: str) -> str:
    """The end of a path: it tells workspaces apart."""
    return path.rstrip("/").rpartition("/")[2] or path


def _joined(parts: Sequence[Content], width: int) -> Content:
    return Content(" · ").join(parts).truncate(max(1, width), ellipsis=True)


def _ends(left: Content, right: Content, width: int) -> Content:
    return left.pad_right(max(0, width - left.cell_length - right.cell_length)) + right
