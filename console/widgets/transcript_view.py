"""What a transcript looks like, and how its texts come: drawing, loading, the size of the view."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.segment import Segment
from textual.content import Span
from textual.message import Message as Event
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from console.jobs import Jobs
from console.keymap import keyed
from console.render.message import Row
from console.render.prepared import Find, Prepared, prepare
from console.widgets.cells import cut
from console.widgets.outline import Outline
from console.widgets.pages import Pages
from console.widgets.paging import Spot
from console.widgets.recent import Recent
from core.conversations import Mark, Message

#: Messages by id, their texts cut at so many characters; called in a thread.
Fetch = Callable[[Sequence[int], int], tuple[Message, ...]]

#: Characters of a text that are loaded before anyone asks for more.
BEGINNING = 20_000
_REMEMBERED = 512
_GUTTER, BAR = 2, 1
_ROW_STYLES = ("added", "removed", "heading", "code", "dim", "divider", "warning")
_COMPONENTS = (*_ROW_STYLES, "hit", "hit-current", "cursor", "here", "bar", "thumb")


@dataclass
class TranscriptEvent(Event):
    """A message of a transcript, which ``@on`` can select by its id."""

    view: TranscriptView

    @property
    def control(self) -> TranscriptView:
        return self.view


class TranscriptView(Jobs, Widget, can_focus=True, inherit_bindings=False):
    """The rows in view, two cells of signs left of them, and where that is in the whole.

    The signs need no colour: ``▌`` the cursor, ``▏`` the rest of its message, ``›`` a match, ``»``
    the current one.
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in _COMPONENTS}

    DEFAULT_CSS = """
    TranscriptView {
        width: 1fr;
        height: 1fr;
        & > .transcript--added { background: $success-muted; color: $text-success; }
        & > .transcript--removed { background: $error-muted; color: $text-error; }
        & > .transcript--heading { color: $text-accent; text-style: bold; }
        & > .transcript--code { background: $surface; }
        & > .transcript--dim { color: $text-muted; }
        & > .transcript--divider { color: $text-accent; }
        & > .transcript--warning { color: $text-warning; }
        & > .transcript--cursor { color: $text-accent; text-style: bold; }
        & > .transcript--here { color: $text-muted; }
        & > .transcript--bar { color: $border-blurred; }
        & > .transcript--thumb { color: $text-muted; }
        & > .transcript--hit {
            background: $warning-muted;
            color: $text-warning;
            text-style: underline;
        }
        & > .transcript--hit-current {
            background: $text-warning;
            color: $background;
            text-style: bold underline;
        }
    }
    """

    @dataclass
    class Moved(TranscriptEvent):
        """The cursor is on another message: ``number`` of ``total``, from 1; none: 0 of 0."""

        message_id: int | None
        number: int
        total: int

    @dataclass
    class UnseenChanged(TranscriptEvent):
        """``count`` messages came and were not on screen yet."""

        count: int

    @dataclass
    class LoadFailed(TranscriptEvent):
        """Messages could not be loaded; they say so where they stand."""

        problem: Exception

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._pages = Pages()
        self._fetch: Fetch | None = None
        self._find: Find | None = None
        self._round = 0
        self._loading: set[str] = set()
        self._frame: list[Spot] = []
        self._drawn: Recent[tuple[object, ...], tuple[Row, Strip]] = Recent(_REMEMBERED)
        self._thumb = range(0)
        self._told: tuple[int | None, int, int] = (None, 0, 0)
        self._told_unseen = 0
        self._hit: Spot | None = None
        self._follows = False

    # -- where the reader is ---------------------------------------------------------------

    @property
    def outline(self) -> Outline:
        """The messages, and which of them are shown."""
        return self._pages.outline

    @property
    def current(self) -> Mark | None:
        """The message at the cursor."""
        return self._pages.current

    @property
    def top(self) -> Mark | None:
        """The first message in view."""
        return self.outline[self._frame[0].place] if self._frame else None

    @property
    def unseen(self) -> int:
        """Messages that came and were not on screen yet."""
        return len(self._pages.unseen)

    @property
    def is_loading(self) -> bool:
        """Whether a text is on its way."""
        return bool(self._loading)

    def is_open(self, message_id: int) -> bool:
        """Whether a message is shown unfolded."""
        return message_id in self._pages.opened

    # -- after every change ----------------------------------------------------------------

    def _changed(self) -> None:
        """The view, or what is in it, is another: draw, tell, load."""
        if self._pages.width:
            self._frame = self._pages.paging.frame()
            self._pages.unseen -= {mark.id for mark in self._seen()}
            self._thumb = self._thumb_rows()
            self._load()
        self.refresh()
        self._tell()

    def _seen(self) -> list[Mark]:
        view = self._pages.view()
        return self.outline.slice(view.start, view.stop)

    def _tell(self) -> None:
        current, total = self.current, len(self.outline.marks)
        number = self.outline.number(self._pages.paging.spot.place) if current else 0
        said = (current.id if current else None, number, total)
        if said != self._told:
            self._told = said
            self.post_message(self.Moved(self, *said))
        if self.unseen != self._told_unseen:
            self._told_unseen = self.unseen
            self.post_message(self.UnseenChanged(self, self.unseen))

    def _follow(self) -> None:
        """Who stood at the end stands at the end of what came."""
        if self._follows and len(self.outline):
            self._pages.paging.go(self._pages.paging.end_of(len(self.outline) - 1))

    def _land(self) -> None:
        """Go on to what was asked for before its text was there."""

    def on_resize(self) -> None:
        size = self.content_region.size
        if not size:
            return
        self._pages.resize(max(1, size.width - _GUTTER - BAR), size.height)
        self._hit = None
        self._follow()
        self._changed()

    # -- loading ---------------------------------------------------------------------------

    def _load(self) -> None:
        if "detail" not in self._loading and (ids := self._pages.missing()):
            self._start("detail", ids, BEGINNING)
        if "rest" not in self._loading and (one := self._pages.missing_whole()) is not None:
            self._start("rest", (one,), sys.maxsize)

    def _start(self, group: str, ids: Sequence[int], longest: int) -> None:
        fetch, find, count = self._fetch, self._find, self._round
        if fetch is None:
            return
        self._loading.add(group)

        def work() -> list[Prepared]:
            return [
                prepare(message, find, _breathe, longest=longest) for message in fetch(ids, longest)
            ]

        done = partial(self._came, group, count, ids)
        failed = partial(self._failed, group, count, ids)
        self.start_job(group, work, done, failed, every=True)

    def _came(self, group: str, count: int, ids: Sequence[int], found: Sequence[Prepared]) -> None:
        self._loading.discard(group)
        if count == self._round:
            gone = set(ids) - {prepared.message.id for prepared in found}
            self._pages.take(found)
            self._pages.fail(sorted(gone), "This message is not there any more")
            self._follow()
            self._land()
        self._changed()

    def _failed(self, group: str, count: int, ids: Sequence[int], problem: Exception) -> None:
        self._loading.discard(group)
        if count == self._round:
            self._pages.fail(
                ids, keyed("This message cannot be read now; {lines.open} tries again")
            )
            self.post_message(self.LoadFailed(self, problem))
        self._changed()

    # -- drawing ---------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._drawn.clear()

    def render_line(self, y: int) -> Strip:
        """One row in view."""
        width = self.content_region.width
        if not self._pages.width or width <= BAR:
            return Strip.blank(width, self.rich_style)
        if y < len(self._frame):
            body = self._strip(self._frame[y], width - BAR)
        else:
            body = Strip.blank(width - BAR, self.rich_style)
        name, sign = ("thumb", "┃") if y in self._thumb else ("bar", "│")
        sign = sign if self._thumb else " "
        bar = Segment(sign, (self.get_visual_style() + self._component(name)).rich_style)
        return Strip([*body, bar], width)

    def _strip(self, spot: Spot, width: int) -> Strip:
        row = self._pages.row(spot)
        cursor = self._pages.paging.spot
        state = (spot == cursor, spot.place == cursor.place, spot == self._hit, self.has_focus)
        key = (self.outline[spot.place].id, spot.part, spot.line, state, width)
        drawn = self._drawn.get(key)
        if drawn is None or drawn[0] is not row:
            drawn = (row, self._draw(row, width, *state))
            self._drawn.put(key, drawn)
        return drawn[1]

    def _draw(
        self, row: Row, width: int, cursor: bool, here: bool, current: bool, focused: bool
    ) -> Strip:
        sign = "▌" if cursor else "▏" if here else " "
        mark = "»" if current else "›" if row.is_match else " "
        gutter = self._component("cursor" if focused and (cursor or current) else "here")
        hit = self._component("hit-current" if current else "hit")
        content = row.content.add_spans([Span(start, end, hit) for start, end in row.spans])
        base = self.get_visual_style()
        if row.style in _ROW_STYLES:
            base = self.get_visual_style(f"transcript--{row.style}")
        segments = cut(content, base, max(0, width - _GUTTER)).segments
        lead = Segment((sign + mark)[:width], (self.get_visual_style() + gutter).rich_style)
        return Strip([lead, *segments], width)

    def _component(self, name: str) -> Style:
        return Style.from_styles(self.get_component_styles(f"transcript--{name}"))

    def _thumb_rows(self) -> range:
        """Where the view is in the whole, in rows of the bar; none while all is in view."""
        frame, count, paging = self._frame, len(self.outline), self._pages.paging
        if not frame:
            return range(0)
        at_end = frame[-1] == paging.end_of(count - 1)
        if at_end and frame[0] == (0, 0, 0):
            return range(0)
        seen = frame[-1].place + 1 - frame[0].place
        size = max(1, min(paging.height - 1, paging.height * seen // count))
        room = paging.height - size
        start = room if at_end else min(room - 1, room * frame[0].place // count)
        return range(max(0, start), max(0, start) + size)


def _breathe() -> None:
    # Keys come first: without this a thread keeps the interpreter for 5 ms at a time.
    time.sleep(0)
