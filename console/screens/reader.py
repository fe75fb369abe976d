"""Reading: one past conversation, opened at a message, over the screen it was asked for on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.actions import Action, shown_key
from console.render import ink
from console.render.line import Line
from console.render.message import when
from console.screens.room import Room
from console.widgets.transcript import Find, Shown, Transcript
from core.conversations import Conversations, Mark, Message, Relation, Session

if TYPE_CHECKING:
    from core.errors import SignoffError

#: Characters a terminal's clipboard may be asked to hold.
COPIED = 1_000_000
#: Which roles ``t`` shows, one after the other, and how that is said.
ROLES: tuple[tuple[frozenset[str] | None, str], ...] = (
    (None, ""),
    (frozenset({"user", "assistant"}), "without tools"),
    (frozenset({"user"}), "only the person"),
)

#: The keys of this screen; those of the transcript are the widget's own.
ACTIONS = (
    Action("reader", "close", "escape", "back", "Back to where you came from.", footer=True),
    Action("reader", "roles", "t", "tools", "Show all, leave out tools, only the person."),
    Action("reader", "undone", "x", "undone", "Show undone messages and copies, or not."),
    Action("reader", "copy", "y", "copy", "Copy the message as it is stored.", footer=True),
    Action("reader", "keys", "question_mark,f1", "help", "The keys of this screen.", footer=True),
)


def bindings(actions: Iterable[Action]) -> list[BindingType]:
    """Textual bindings of actions."""
    return [
        Binding(
            a.keys,
            a.name,
            a.label,
            show=a.footer,
            key_display=a.shown_key,
            tooltip=a.help,
            id=a.id,
        )
        for a in actions
    ]


@dataclass(frozen=True, slots=True)
class _Past:
    """A conversation as it was read."""

    past: Conversations
    session: Session
    outline: tuple[Mark, ...]
    dividers: Mapping[int, str]


class Reader(Room):
    """The conversation ``session_id``, at ``message_id`` if it is named, else at its beginning.

    ``open_past`` gives the past conversations of the home; it is called once, in a thread, and
    may raise any :class:`core.errors.SignoffError`. ``hits`` are the messages ``n`` and ``N`` go
    to, and ``find`` marks matches in every text. Push it over any screen; ``escape`` takes it away
    and leaves that screen as it was. Review does so for the conversation of a proposal::

        origin = shown.origin
        if origin is not None and origin.session_id is not None:
            open_past = partial(past, opened)        # core.desk.past
            self.app.push_screen(Reader(open_past, origin.session_id, origin.message_id))
    """

    MODE = "review"
    AREAS = frozenset({"sessions"})
    BINDINGS: ClassVar = bindings(ACTIONS)

    DEFAULT_CSS = """
    Reader {
        & #conversation { width: 1fr; height: 1fr; }
        & #transcript { border: round $border-blurred; }
        & #transcript:focus { border: round $border; border-title-color: $foreground; }
        & #said { display: none; padding: 1 2; height: auto; }
    }
    """

    def __init__(
        self,
        open_past: Callable[[], Conversations],
        session_id: str,
        message_id: int | None = None,
        *,
        hits: Sequence[int] = (),
        find: Find | None = None,
    ) -> None:
        super().__init__()
        self._open_past = open_past
        self._session_id = session_id
        self._message_id = message_id
        self._hits = hits
        self._find = find
        self._read: _Past | None = None
        self._roles = 0
        self._undone = False
        self._place = (0, 0)
        self._hit = (0, 0)

    def panes(self) -> Iterable[Widget]:
        transcript = Transcript(id="transcript", classes="pane")
        transcript.border_title = Content("Conversation")
        return (
            Vertical(Static(Content(""), id="said", markup=False), transcript, id="conversation"),
        )

    def on_mount(self) -> None:
        self.transcript.focus()

    @property
    def transcript(self) -> Transcript:
        """The conversation on screen."""
        return self.query_one("#transcript", Transcript)

    # -- reading ---------------------------------------------------------------------------

    def reload(self) -> None:
        known = self._read.past if self._read is not None else None
        open_past, session_id = self._open_past, self._session_id

        def work() -> _Past | None:
            past = known if known is not None else open_past()
            session = past.session(session_id)
            if session is None:
                return None
            outline = past.outline(session_id)
            return _Past(past, session, outline, _branches(past, session, outline))

        self.start_job("list", work, self._came, self._failed)

    def _came(self, read: _Past | None) -> None:
        if read is None:
            self._say("This conversation is not there any more.")
            return
        first, self._read = self._read is None, read
        self._say("" if read.outline else "This conversation has no messages.")
        if first:
            self._begin(read)
        else:
            self.transcript.extend(read.outline)
            self.transcript.divide(read.dividers)
        self._show_title()
        self._show_place()

    def _begin(self, read: _Past) -> None:
        past, session_id = read.past, self._session_id

        def fetch(ids: Sequence[int], longest: int) -> tuple[Message, ...]:
            return past.messages(ids, session_id, longest)

        self.transcript.show(
            read.outline,
            fetch,
            hits=self._hits,
            find=self._find,
            dividers=read.dividers,
            shown=self._shown(),
        )
        if self._message_id is not None and not self.transcript.go_to(self._message_id):
            self.flash(f"Message {self._message_id} is not in this conversation", ink.WARNING)
        self._undone = self.transcript.outline.shown.undone

    def _failed(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if not isinstance(problem, SignoffError):
            self.job_failed(problem)
        elif self._read is None:
            self._say(_sentence(problem))
        else:
            self.flash(_sentence(problem), ink.WARNING)

    def on_transcript_view_load_failed(self, message: Transcript.LoadFailed) -> None:
        message.stop()
        self._failed(message.problem)

    def _say(self, sentence: str) -> None:
        """Say why there is nothing to read; an empty sentence says nothing."""
        said = self.query_one("#said", Static)
        said.update(ink.block(sentence))
        said.display = bool(sentence)
        self.transcript.display = not sentence
        if not sentence and self.is_current:
            self.transcript.focus()

    # -- what is said around it ------------------------------------------------------------

    def _show_title(self) -> None:
        if self._read is not None:
            session = self._read.session
            words = [session.title or session.preview or session.id, session.source]
            title = " · ".join(filter(None, (*words, when(session.started_at))))
            self.transcript.border_title = ink.cut(title, max(8, self.size.width - 6))

    def _show_place(self) -> None:
        number, total = self._place
        parts = [f"message {number:,} of {total:,}"] if total else []
        if self._hit[1]:
            parts.append(f"hit {self._hit[0]:,} of {self._hit[1]:,}")
        if unseen := self.transcript.unseen:
            parts.append(f"{unseen:,} new")
        parts += [ROLES[self._roles][1], "with undone" if self._undone else ""]
        self.transcript.border_subtitle = Content("  ".join(filter(None, parts)))

    def on_transcript_view_moved(self, message: Transcript.Moved) -> None:
        message.stop()
        self._place = (message.number, message.total)
        self._show_place()
        self.refresh_bindings()

    def on_transcript_view_unseen_changed(self, message: Transcript.UnseenChanged) -> None:
        message.stop()
        self._show_place()

    def on_transcript_hit(self, message: Transcript.Hit) -> None:
        message.stop()
        self._hit = (message.number, message.total)
        self._show_place()

    def on_transcript_hits_ended(self, message: Transcript.HitsEnded) -> None:
        message.stop()
        where = "below" if message.step > 0 else "above"
        self.flash(f"No further hit {where} in this conversation", passing=True)

    # -- keys ------------------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action in ("copy", "roles", "undone") and (self._read is None or not self._read.outline):
            return "There is no message here"
        if action == "copy" and self.transcript.current is None:
            return "No message is shown; t and x show more"
        return None

    def action_close(self) -> None:
        self.dismiss(None)

    def action_roles(self) -> None:
        self._roles = (self._roles + 1) % len(ROLES)
        self._narrow()

    def action_undone(self) -> None:
        self._undone = not self._undone
        self._narrow()

    def _shown(self) -> Shown:
        return Shown(ROLES[self._roles][0], undone=self._undone, copies=self._undone)

    def _narrow(self) -> None:
        self.transcript.narrow(self._shown())
        self._show_place()
        if not len(self.transcript.outline):
            self.flash("No message is shown; t and x show more", passing=True)

    def action_copy(self) -> None:
        mark, read, session_id = self.transcript.current, self._read, self._session_id
        if mark is None or read is None:
            return
        wanted = (mark.id,)
        work = partial(read.past.messages, wanted, session_id, sys.maxsize)
        self.start_job("preview", work, self._copy, self._failed)

    def _copy(self, found: tuple[Message, ...]) -> None:
        text = found[0].text if found else ""
        if not text:
            self.flash("There is no text to copy here")
        elif len(text) > COPIED:
            self.flash(f"{len(text):,} characters are too many for a clipboard", ink.WARNING)
        else:
            self.app.copy_to_clipboard(text)
            self.flash("Sent to the terminal's clipboard, as it is stored")

    def action_keys(self) -> None:
        from console.screens.sheet import Sheet

        self.app.push_screen(Sheet("Keys in a conversation", partial(_keys, self.signoff.keys)))


def _keys(keys: Mapping[str, str], _width: int) -> Sequence[Line]:
    """The keys of the screen, then those of the transcript."""
    own = [(keys.get(a.id, a.keys), a.help.removesuffix(".")) for a in ACTIONS]
    text = [
        (keys.get(b.id or "", b.key), b.tooltip or b.description)
        for b in Transcript.BINDINGS
        if isinstance(b, Binding)
    ]
    lines = [Line(_key(names, said)) for names, said in own]
    return [*lines, Line(Content("")), *(Line(_key(names, said)) for names, said in text)]


def _key(names: str, sentence: str) -> Content:
    shown = " ".join(shown_key(key) for key in names.split(","))
    return Content.assemble((f"  {shown:<12} ", ink.ACCENT), sentence)


def _sentence(problem: SignoffError) -> str:
    return f"{problem.message}. {problem.hint}".strip()


def _branches(past: Conversations, session: Session, outline: Sequence[Mark]) -> dict[int, str]:
    """Words above the messages at which other conversations branched off, or this one did."""
    dividers: dict[int, str] = {}
    for at, words in _branch_words(past, session):
        times = [mark.at if mark.at is not None else 0.0 for mark in outline]
        # Clocks may go back; the first message as late is where the reader would look.
        later = next((n for n, time in enumerate(times) if time >= at), len(times))
        if 0 < later < len(outline):
            known = dividers.get(outline[later].id)
            dividers[outline[later].id] = f"{known}; {words}" if known else words
    return dividers


def _branch_words(past: Conversations, session: Session) -> Iterator[tuple[float, str]]:
    if session.relation is Relation.BRANCH and session.started_at is not None:
        parent = past.session(session.parent_id)
        name = parent.title if parent is not None and parent.title else session.parent_id
        yield session.started_at, f"branched here from {name}: above is a copy"
    for relative in past.family(session.id):
        child = relative.session
        branched = child.parent_id == session.id and child.relation is Relation.BRANCH
        if branched and child.started_at is not None:
            yield child.started_at, f"{child.title or child.id} branched off here"
