"""The right side of the Sessions mode: one conversation, at a hit, a message, or its beginning."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.keymap import keyed
from console.render import ink
from console.render.message import when
from console.render.sessions import name_of
from console.screens.room import Room
from console.widgets.transcript import Shown, Transcript
from core import text
from core.conversations import Message

if TYPE_CHECKING:
    from console.screens.sessions_conversation import Conversation
    from core.errors import SignoffError
    from core.recall.query import Query

#: Characters a terminal's clipboard may be asked to hold.
COPIED = 1_000_000
_GONE = "This conversation is not there any more. {app.reload} reads the list again."
_NONE_SHOWN = "No message is shown; {sessions.roles} and {sessions.undone} show more"
#: Which roles are shown, one after the other, and how that is said.
ROLES: tuple[tuple[frozenset[str] | None, str], ...] = (
    (None, ""),
    (frozenset({"user", "assistant"}), "without tools"),
    (frozenset({"user"}), "only the person"),
    (frozenset({"tool"}), "only tools"),
)


class Pages(Transcript, inherit_bindings=False):
    """A transcript in which ``g`` is the screen's: it asks where to go."""

    BINDINGS: ClassVar[list[BindingType]] = [
        replace(binding, key="home")
        if isinstance(binding, Binding) and binding.id == "lines.first"
        else binding
        for binding in Transcript.BINDINGS
    ]


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go in a conversation. ``land``: 1 for the first match of the message, -1 for the
    last of the conversation, 0 for the message itself, or the beginning: of the session alone for
    ``part``, else of the whole chain it is a part of. ``leads``: the list goes along."""

    session_id: str
    message_id: int | None = None
    land: int = 0
    part: bool = False
    leads: bool = False


class ReadingRoom(Room):
    """A room with a conversation in it."""

    def __init__(self) -> None:
        super().__init__()
        self._read: Conversation | None = None
        self._target: Target | None = None
        self._query: Query | None = None
        self._turn = 0
        self._roles = 0
        self._undone = False
        self._number = (0, 0)
        self._hit = (0, 0)
        self._sentence = self._trouble = ""
        #: What a key asked for of a conversation that is on its way.
        self.after_arrival: Callable[[], None] | None = None

    def pages(self) -> Iterable[Widget]:
        """The widgets of the right side."""
        transcript = Pages(id="transcript", classes="pane")
        transcript.border_title = Content("Conversation")
        yield Vertical(
            Static(Content(""), id="said", markup=False), transcript, id="reading", classes="detail"
        )

    @property
    def transcript(self) -> Transcript:
        """The conversation on screen."""
        return self.query_one("#transcript", Transcript)

    # -- opening ---------------------------------------------------------------------------

    def go_to(self, target: Target) -> None:
        """Open the conversation of ``target``, or move in the one that is open."""
        read, opened = self._read, self.signoff.opened
        self._target = target
        if opened is None:
            return
        self._turn += 1
        if read is not None and target.session_id in read.parts and read.query is self._query:
            self._arrive(target)
            return
        turn, query = self._turn, self._query

        def work() -> Conversation | None:
            from console.screens.sessions_conversation import open_conversation

            return open_conversation(
                opened, target.session_id, query, lambda: turn != self._turn, read
            )

        self.start_job("session", work, partial(self._came, turn, query), self._not_read)

    def _came(self, turn: int, query: Query | None, read: Conversation | None) -> None:
        if turn != self._turn or query is not self._query or self._target is None:
            return
        if read is None:
            self._read = None
            self.say(keyed(_GONE))
            return
        from console.screens.sessions_conversation import finder

        self.trouble_over()
        self._read, self._hit = read, (0, 0)
        self.say("" if read.outline else "This conversation has no messages.")
        self.transcript.show(
            read.outline,
            self._fetch,
            hits=read.hits,
            find=finder(read.query),
            dividers=read.dividers,
            shown=self._shown(),
        )
        self._arrive(self._target)
        self._show_title()
        self.refresh_bindings()
        act, self.after_arrival = self.after_arrival, None
        if act is not None:
            act()

    def _fetch(self, ids: Sequence[int], longest: int) -> tuple[Message, ...]:
        # In a thread. A chain may have got another part since it was opened.
        read = self._read
        return () if read is None else read.texts(ids, longest)

    def _arrive(self, target: Target) -> None:
        read, transcript = self._read, self.transcript
        if read is None or not read.outline:
            return
        if target.land < 0 and read.hits:
            transcript.action_last()
            transcript.action_hit(-1)
            return
        key = target.message_id
        if key is None and target.part:
            key = read.texts.first_of(target.session_id)
        if key is None:
            return
        if not transcript.go_to(key, center=not target.part):
            self.flash(f"Message {key} is not in this conversation", ink.WARNING)
        elif target.land and key in read.hits:
            transcript.action_hit(1)
        self._take_shown()

    def _take_shown(self) -> None:
        """Keep to what the conversation had to let in for the message one went to."""
        shown = self.transcript.outline.shown
        self._undone = shown.undone
        if shown.roles is None and self._roles:
            self._roles = 0
            self.flash("All roles are shown again, for this message")
        self._show_title()

    def _not_read(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if not isinstance(problem, SignoffError):
            self.job_failed(problem)
        elif self._read is None:
            self._trouble = sentence(problem)
            self.say(self._trouble)
        else:
            self.trouble(problem)

    def trouble(self, problem: SignoffError) -> None:
        """Say why the past cannot be read, until it can be."""
        self._trouble = sentence(problem)
        self.flash(self._trouble, ink.WARNING)

    def trouble_over(self) -> bool:
        """The past was read: what was said of trouble is over. Whether there was any."""
        trouble, self._trouble = self._trouble, ""
        if trouble and self.said == trouble:
            self.flash("")
        return trouble != ""

    def follow(self) -> None:
        """The conversation may have grown: take in what came, the reader stays."""
        read, opened = self._read, self.signoff.opened
        if read is None or opened is None:
            return
        turn = self._turn

        def work() -> Conversation | None:
            from console.screens.sessions_conversation import open_conversation

            return open_conversation(
                opened, read.asked, read.query, cancelled=lambda: turn != self._turn
            )

        self.start_job("follow", work, partial(self._grew, read), self._not_read)

    def _grew(self, before: Conversation, now: Conversation | None) -> None:
        if self._read is not before:
            return
        if now is None:
            self.flash("This conversation is not there any more", ink.WARNING)
            return
        from console.screens.sessions_conversation import finder

        self.trouble_over()
        self._read = now
        if now.outline != before.outline:
            self.say("")
            self.transcript.extend(now.outline)
        if now.dividers != before.dividers:
            self.transcript.divide(now.dividers)
        if now.hits != before.hits:
            self.transcript.mark(now.hits, finder(now.query))
        self._show_title()

    def close_conversation(self) -> None:
        """Show none, and drop what is on its way."""
        self._turn += 1
        self._read = self._target = None

    def on_transcript_view_load_failed(self, message: Transcript.LoadFailed) -> None:
        message.stop()
        self._not_read(message.problem)

    # -- what is said around it ------------------------------------------------------------

    def say(self, words: str) -> None:
        """A sentence in place of the conversation; an empty one gives the place back."""
        said = self.query_one("#said", Static)
        had = self.transcript.has_focus
        said.update(ink.block(words))
        said.display = bool(words)
        self.transcript.display = not words
        self._sentence = words
        if words and had:
            self.lose_pages()

    def lose_pages(self) -> None:
        """The conversation went while it had the keys."""
        self.remove_class("-inside")

    def _show_title(self) -> None:
        if self._read is not None:
            session = self._read.session
            words = [session.source, when(session.started_at)]
            words += [ROLES[self._roles][1], "with undone" if self._undone else ""]
            words += ["" if self.is_listed else "not in the list"]
            rest = "".join(f" · {word}" for word in words if word)
            # What is left out is said whole; the name, which the list has too, gives way.
            name = text.one_line(name_of(session), max(8, self._frame - text.width(rest)))
            self.transcript.border_title = ink.cut(f"{name}{rest}", self._frame)

    @property
    def is_listed(self) -> bool:
        """Whether a row stands for the conversation on screen."""
        return True

    def _show_place(self) -> None:
        number, total = self._number
        parts = [f"message {number:,} of {total:,}"] if total else []
        if self._hit[1]:
            parts.append(f"hit {self._hit[0]:,} of {self._hit[1]:,}")
        if unseen := self.transcript.unseen:
            parts.append(f"{unseen:,} new")
        parts += self.remarks()
        said = "  ".join(parts)
        self.transcript.border_subtitle = ink.cut(said, self._frame)

    def frame_again(self) -> None:
        """Say in the frame what has room in it now."""
        self._show_title()
        self._show_place()

    @property
    def _frame(self) -> int:
        """Cells of the words in the frame of the conversation."""
        return max(8, self.width_of("#reading") - 6)

    def remarks(self) -> list[str]:
        """What else is said of the message at the cursor."""
        return []

    def on_transcript_view_moved(self, message: Transcript.Moved) -> None:
        message.stop()
        self._number = (message.number, message.total)
        self._show_place()
        self.refresh_bindings()

    def on_transcript_view_unseen_changed(self, message: Transcript.UnseenChanged) -> None:
        message.stop()
        self._show_place()

    def on_transcript_hit(self, message: Transcript.Hit) -> None:
        message.stop()
        self._hit = (message.number, message.total)
        self._show_place()

    # -- keys ------------------------------------------------------------------------------

    @property
    def message_id(self) -> int | None:
        """The message at the cursor of the conversation."""
        mark = self.transcript.current
        return None if mark is None or self._read is None else mark.id

    def no_message(self) -> str | None:
        """Why nothing can be done with the message at the cursor; ``None`` if it can."""
        if self._read is None or not self._read.outline:
            return "No conversation is open"
        return None if self.message_id is not None else keyed(_NONE_SHOWN)

    def action_roles(self) -> None:
        self._roles = (self._roles + 1) % len(ROLES)
        self.narrow()

    def _shown(self) -> Shown:
        return Shown(ROLES[self._roles][0], undone=self._undone, copies=self._undone)

    def narrow(self) -> None:
        """Show the messages that are meant to be seen, and say which those are."""
        self.transcript.narrow(self._shown())
        self._show_title()
        said = ROLES[self._roles][1] or "all roles"
        self.flash(f"Shown: {said}{', undone too' if self._undone else ''}")
        if self._read is not None and not len(self.transcript.outline):
            self.flash(keyed(_NONE_SHOWN))

    def action_copy(self) -> None:
        self.with_message(self._copy)

    def with_message(self, done: Callable[[Message | None], None]) -> None:
        """Read the message at the cursor in full, then hand it on."""
        read, key = self._read, self.message_id
        if read is None or key is None:
            return

        def work() -> Message | None:
            found = read.texts((key,), sys.maxsize)
            return found[0] if found else None

        self.start_job("preview", work, done, self._not_read)

    def _copy(self, message: Message | None) -> None:
        self.put_into_clipboard("" if message is None else message.text, "as it is stored")

    def put_into_clipboard(self, text: str, what: str) -> None:
        """Copy, and say what."""
        if not text:
            self.flash("There is no text to copy here")
        elif len(text) > COPIED:
            self.flash(f"{len(text):,} characters are too many for a clipboard", ink.WARNING)
        else:
            self.app.copy_to_clipboard(text)
            self.flash(f"Sent to the terminal's clipboard, {what}")


def sentence(problem: SignoffError) -> str:
    """A problem and what to do next."""
    return f"{problem.message}. {problem.hint}".strip()
