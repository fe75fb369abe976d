"""Conversations of any size for transcripts, and an app with nothing but one in it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from console.widgets.transcript import Find, Transcript
from core.conversations import Mark, Message, Visibility

#: 2026-11-29 12:00 UTC.
BEGAN = 1795953600.0
DEADLINE = 90.0


@dataclass
class Talk:
    """A conversation; ``made`` turns an id into a message, so that none is held.

    ``asked`` are the ids and lengths of every fetch; ``gate`` holds fetches up while it is clear.
    """

    marks: tuple[Mark, ...]
    made: Callable[[Mark], Message]
    asked: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)
    gate: threading.Event = field(default_factory=threading.Event)
    problem: Exception | None = None

    def __post_init__(self) -> None:
        self.gate.set()

    def fetch(self, ids: Sequence[int], longest: int) -> tuple[Message, ...]:
        self.asked.append((tuple(ids), longest))
        self.threads.add(threading.current_thread().name)
        assert self.gate.wait(DEADLINE)
        if self.problem is not None:
            raise self.problem
        known = {mark.id: mark for mark in self.marks}
        return tuple(_cut(self.made(known[each]), longest) for each in ids if each in known)


def _cut(message: Message, longest: int) -> Message:
    if len(message.text) <= longest:
        return message
    return said(
        message.id, message.role, message.text[:longest], size=len(message.text), whole=False
    )


def said(
    number: int,
    role: str,
    text: str,
    *,
    size: int | None = None,
    whole: bool = True,
    visibility: Visibility = Visibility.LIVE,
) -> Message:
    """A message; one a minute."""
    return Message(
        number,
        "s",
        role,
        text,
        BEGAN + 60 * number,
        len(text) if size is None else size,
        whole,
        visibility,
    )


def mark_of(message: Message) -> Mark:
    return Mark(message.id, message.role, message.at, message.visibility)


def talk(*texts: str | Message) -> Talk:
    """These messages; a text is said by the person and the assistant in turns, ids from 1."""
    messages = [
        each if isinstance(each, Message) else said(n, ("assistant", "user")[n % 2], each)
        for n, each in enumerate(texts, 1)
    ]
    known = {message.id: message for message in messages}
    return Talk(tuple(map(mark_of, messages)), lambda mark: known[mark.id])


def long_talk(count: int, text: Callable[[int], str] = "message {}".format) -> Talk:
    """``count`` messages, made when asked for."""
    return Talk(
        tuple(
            Mark(n, ("assistant", "user")[n % 2], BEGAN + 60 * n, Visibility.LIVE)
            for n in range(1, count + 1)
        ),
        lambda mark: said(mark.id, mark.role, text(mark.id)),
    )


def words(query: str) -> Find:
    """Marks every ``query``."""
    return lambda text: [match.span() for match in re.finditer(re.escape(query), text)]


class Host(App[None]):
    """A transcript, and what it said."""

    def __init__(self) -> None:
        super().__init__()
        self.moves: list[tuple[int | None, int, int]] = []
        self.hits: list[tuple[int, int, int]] = []
        self.ends: list[int] = []
        self.counts: list[int] = []
        self.problems: list[Exception] = []

    def compose(self) -> ComposeResult:
        self.view = Transcript(id="view")
        yield self.view

    @on(Transcript.Moved, "#view")
    def _moved(self, message: Transcript.Moved) -> None:
        self.moves.append((message.message_id, message.number, message.total))

    @on(Transcript.Hit, "#view")
    def _hit(self, message: Transcript.Hit) -> None:
        self.hits.append((message.message_id, message.number, message.total))

    @on(Transcript.HitsEnded, "#view")
    def _end(self, message: Transcript.HitsEnded) -> None:
        self.ends.append(message.step)

    @on(Transcript.UnseenChanged, "#view")
    def _unseen(self, message: Transcript.UnseenChanged) -> None:
        self.counts.append(message.count)

    @on(Transcript.LoadFailed, "#view")
    def _failed(self, message: Transcript.LoadFailed) -> None:
        self.problems.append(message.problem)

    # -- what stands on the screen ---------------------------------------------------------

    def drawn(self) -> list[str]:
        """The rows in view, the bar at the right left out."""
        height = self.view.content_region.height
        return [self.view.render_line(y).text[:-1].rstrip() for y in range(height)]

    def at_cursor(self) -> str:
        """The row at the cursor, without its sign."""
        (row,) = (row for row in self.drawn() if row.startswith("▌"))
        return row[2:].strip()

    def id_at_cursor(self) -> int | None:
        return self.view.current.id if self.view.current else None


async def settle(app: Host, pilot: Pilot[None]) -> None:
    """Wait until everything that is wanted has come."""
    loop = asyncio.get_running_loop()
    end, quiet = loop.time() + DEADLINE, 0
    while quiet < 2:
        assert loop.time() < end, "the transcript is still loading"
        await pilot.pause()
        quiet = 0 if app.view.is_loading else quiet + 1
