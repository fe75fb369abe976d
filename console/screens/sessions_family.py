"""From a conversation to what belongs to it: family, a place, what is stored, what it made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content

from console.render import ink
from console.render.line import Line, wrapped
from console.render.sessions import family_words
from console.screens.choose import Choose
from console.screens.host import is_vak
from console.screens.note import NoteScreen
from console.screens.sessions_read import Target
from console.screens.sessions_search import SearchingRoom
from console.screens.sheet import Sheet
from core.clock import is_date
from core.conversations import Message
from core.homes.vak.noted import is_note

if TYPE_CHECKING:
    from core.conversations import Relative

#: Words in which the id of a pending record may stand.
_WORD = re.compile(r"[0-9A-Za-z_-]{4,64}")
#: Characters of a stored field that a sheet shows.
SHOWN = 20_000


@dataclass(frozen=True, slots=True)
class Found:
    """Where ``g`` goes: a message of a session, or a time in the one on screen."""

    target: Target | None = None
    at: float | None = None


class BelongingRoom(SearchingRoom):
    """Keys that lead from a message or a conversation to what belongs to it."""

    # -- the family ------------------------------------------------------------------------

    def action_family(self) -> None:
        read, opened = self._read, self.signoff.opened
        if read is None or opened is None:
            return

        def work() -> tuple[Relative, ...]:
            from core.desk.past import past

            return past(opened).family(read.session.id)

        self.start_job("sheet", work, self._show_family, self._not_read)

    def _show_family(self, family: tuple[Relative, ...]) -> None:
        read = self._read
        if read is None:
            return
        if len(family) < 2:
            self.flash("This conversation has no relatives")
            return
        here = self.part_here()
        words = [family_words(relative, here) for relative in family]

        def go(chosen: int | None) -> None:
            if chosen is not None:
                self.enter(Target(family[chosen].session.id, part=True))

        self.app.push_screen(Choose(f"The family of this conversation ({len(family)})", words), go)

    def part_here(self) -> str:
        """The session that the message at the cursor stands in."""
        read, key = self._read, self.message_id
        if read is None:
            return ""
        return read.parts[-1] if key is None else read.texts.owner(key)

    def enter(self, target: Target) -> None:
        """Go to a target and give the conversation the keys."""
        self.go_to(target)
        self.go_inside()

    # -- a place ---------------------------------------------------------------------------

    def action_go(self) -> None:
        opened, read = self.signoff.opened, self._read
        if opened is None:
            return

        def where(typed: str) -> Found:
            from console.screens.sessions_past import LINK, session_of
            from core.desk.past import owner
            from core.errors import NotFoundError
            from core.recall.filters import Clock, moment

            wanted = typed.strip()
            if not wanted:
                return Found()

            if re.fullmatch(r"#?\d{1,18}", wanted):
                number = int(wanted.lstrip("#"))
                if read is not None and read.outline.number(number) is not None:
                    return Found(Target(read.asked, number))
                session_id = owner(opened, number)
                if session_id is None:
                    raise NotFoundError(f"There is no message {number}", "Type another number")
                return Found(Target(session_id, number))
            if not wanted.startswith(LINK):
                at = moment(wanted, Clock(opened.clock(), zone=None))
                if at is not None and read is None:
                    raise NotFoundError("No conversation is open", "Type a message or a session")
                if at is not None:
                    return Found(at=at)
            return Found(Target(session_of(opened, wanted).id, part=True))

        ask = NoteScreen(
            "Go to a date, a message or a session",
            "goes there",
            "2026-07-01, 2026-07-01 09:30, 7d, message number, @session:…",
            where,
        )
        self.app.push_screen(ask, self._gone_to)

    def _gone_to(self, found: Found | None) -> None:
        if found is None:
            return
        if found.target is not None:
            self.enter(found.target)
        elif found.at is not None:
            self.transcript.go_to_time(found.at)
            self.go_inside()
            mark = self.transcript.current
            if mark is not None:
                self.flash(other_day(found.at, mark.at))

    # -- what is stored --------------------------------------------------------------------

    def action_debug(self) -> None:
        read, key, opened = self._read, self.message_id, self.signoff.opened
        if read is None or key is None or opened is None:
            return

        def work() -> tuple[tuple[str, str], ...]:
            from core.desk.past import debug

            (message,) = read.texts((key,), SHOWN) or (None,)
            return (*_named(message), *debug(opened, key))

        self.start_job("sheet", work, partial(self._show_debug, key), self._not_read)

    def _show_debug(self, key: int, stored: tuple[tuple[str, str], ...]) -> None:
        draw = partial(debug_lines, stored)
        self.app.push_screen(Sheet(f"Message {key} as it is stored", draw, wide=110))

    # -- what it made ----------------------------------------------------------------------

    def action_proposal(self) -> None:
        if is_vak(self.signoff.opened) and is_note(part := self.part_here()):
            self.signoff.show_note(part)
        else:
            self.with_message(self._to_proposal)

    def _to_proposal(self, message: Message | None) -> None:
        reading = self.signoff.reading
        words = set(_WORD.findall(message.text)) if message is not None else set()
        waiting = reading.queue.proposals if reading is not None else ()
        found = next((proposal for proposal in waiting if proposal.id in words), None)
        if found is None:
            self.flash("No proposal that waits is named in this message")
        else:
            self.signoff.show_proposal(found.file)


def other_day(asked: float, found: float | None) -> str:
    """What to say where the message ``found`` for a time is not of its day, else ``""``.

    The day is the one of this machine's zone, as a date that is typed is.
    """
    if not is_date(asked) or not is_date(found):
        return ""
    wanted, there = (datetime.fromtimestamp(at, UTC).astimezone() for at in (asked, found))
    if wanted.date() == there.date():
        return ""
    said = f"No message on {wanted:%Y-%m-%d}"
    if found < asked:
        return f"{said} or later; this is the last"
    since = "" if wanted.time() == time() else f" from {wanted:%H:%M} on"
    return f"{said}{since}; this is the next"


def _named(message: Message | None) -> tuple[tuple[str, str], ...]:
    """What the record of a message says of itself."""
    if message is None:
        return ()
    return (
        ("role", message.role),
        ("seen by the agent", str(message.visibility)),
        *((("handoff", str(message.handoff)),) if message.handoff else ()),
        *((("tool", message.tool_name),) if message.tool_name else ()),
        *((("tool call id", message.tool_call_id),) if message.tool_call_id else ()),
        *(("calls", f"{call.name} {call.id} {call.arguments}") for call in message.tool_calls),
        *(("note", note) for note in message.notes),
    )


def debug_lines(stored: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Labels, and below each what is stored."""
    lines: list[Line] = []
    for label, said in stored:
        short = len(said) <= width - len(label) - 4 and "\n" not in said
        head = Content.styled(f"{label}: ", ink.LABEL)
        if short:
            lines.append(Line(head + ink.line(said)))
            continue
        lines.append(Line(head + Content(f"{len(said):,} characters")))
        shown = ink.block(said[:SHOWN])
        lines += [Line(piece) for piece in wrapped(shown, width, first="  ")]
    return lines
