"""A conversation to read: any number of messages, loaded and laid out only where one looks.

Texts come from ``fetch`` in a thread, some messages at a time; until they are there a message is
two rows. The cursor is a line: the message it is on is the current one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from console.render.message import Enter
from console.render.prepared import Find
from console.widgets.outline import Outline, Shown
from console.widgets.paging import Spot
from console.widgets.stepping import Stepping
from console.widgets.transcript_view import BAR, Fetch, TranscriptEvent, TranscriptView
from core.conversations import Mark

__all__ = ["Fetch", "Find", "Shown", "Transcript"]

#: Rows of one turn of the mouse wheel.
WHEEL = 3


@dataclass(frozen=True, slots=True)
class _Landing:
    """The match looked for in a message: the next after ``spot``, or before it, or its first."""

    message_id: int
    step: int
    spot: Spot | None = None


class Transcript(TranscriptView, inherit_bindings=False):
    """The messages of one conversation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "lines(1)", "down", False, id="lines.down", tooltip="A line down"),
        Binding("k,up", "lines(-1)", "up", False, id="lines.up", tooltip="A line up"),
        Binding("g,home", "first", "first", False, id="lines.first", tooltip="First line"),
        Binding("G,end", "last", "last", False, id="lines.last", tooltip="Last line"),
        Binding("pagedown", "page(1)", "page", False, id="lines.page_down", tooltip="A page down"),
        Binding("pageup", "page(-1)", "page", False, id="lines.page_up", tooltip="A page up"),
        Binding(
            "ctrl+d", "half(1)", "half", False, id="lines.half_down", tooltip="Half a page down"
        ),
        Binding("ctrl+u", "half(-1)", "half", False, id="lines.half_up", tooltip="Half a page up"),
        Binding("n", "hit(1)", "next hit", True, id="lines.hit", tooltip="Next hit"),
        Binding("N", "hit(-1)", "hit", False, id="lines.hit_back", tooltip="Previous hit"),
        Binding(
            "},shift+down", "step(1)", "next", False, id="lines.anchor", tooltip="Next message"
        ),
        Binding(
            "{,shift+up",
            "step(-1)",
            "previous",
            False,
            id="lines.anchor_back",
            tooltip="Its start, then the one before",
        ),
        Binding(
            "enter",
            "open",
            "unfold",
            key_display="enter",
            id="lines.open",
            tooltip="Unfold, fold, load",
        ),
    ]

    @dataclass
    class Hit(TranscriptEvent):
        """The cursor went to a match in hit ``number`` of ``total``, from 1."""

        message_id: int
        number: int
        total: int

    @dataclass
    class HitsEnded(TranscriptEvent):
        """There is no further hit: below for a ``step`` of 1, above for -1."""

        step: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._steps = Stepping(self._pages)
        self._landing: _Landing | None = None
        self._clicked: Spot | None = None

    # -- what is shown ---------------------------------------------------------------------

    def show(
        self,
        outline: Sequence[Mark],
        fetch: Fetch,
        *,
        hits: Sequence[int] = (),
        find: Find | None = None,
        dividers: Mapping[int, str] | None = None,
        shown: Shown | None = None,
    ) -> None:
        """Show a conversation from its beginning.

        ``hits`` are the messages ``n`` goes to, ``find`` marks matches in every text; ``fetch``
        and ``find`` run in a thread. ``dividers`` are words for a line above a message.
        """
        self._begin(hits, find)
        self._fetch = fetch
        self._pages.show(Outline(outline, shown, dividers))
        self._changed()

    def mark(self, hits: Sequence[int], find: Find | None) -> None:
        """Other hits and matches in the same conversation; the reader stays."""
        self._begin(hits, find)
        self._pages.renew_all()
        self._changed()

    def _begin(self, hits: Sequence[int], find: Find | None) -> None:
        self._round += 1
        self._find, self._steps.hits = find, hits
        self._landing = self._hit = None
        self._follows = False
        self.refresh_bindings()

    def extend(self, outline: Sequence[Mark]) -> None:
        """The conversation as it is now: it grew, or messages changed; the reader stays.

        Who stands at the end follows it; else ``unseen`` counts what came.
        """
        self._pages.renew(outline)
        self._follow()
        self._changed()

    def narrow(self, shown: Shown) -> None:
        """Show only some of the messages; the reader stays at theirs, or the next that is shown."""
        self._hit = None
        self._pages.narrow(shown)
        self._changed()

    def divide(self, dividers: Mapping[int, str]) -> None:
        """Other words above some messages."""
        self._pages.divide(dividers)
        self._changed()

    def go_to(self, message_id: int, *, center: bool = True) -> bool:
        """Put the cursor on a message; False if there is none.

        For one that is left out the outline's ``shown`` lets in what it takes, and no more.
        """
        mark = self.outline.mark(message_id)
        if mark is None:
            return False
        if (place := self.outline.place(message_id)) is None:
            self._pages.narrow(self.outline.shown.with_message(mark))
            place = self.outline.nearest(message_id)
        self._go(place, center=center)
        return True

    def go_to_time(self, at: float) -> None:
        """Put the cursor on the first message as late as ``at``, else on the last."""
        self._go(self.outline.at_time(at), center=True)

    def _go(self, place: int, *, center: bool) -> None:
        self._landing = None
        self._follows = False
        if len(self.outline):
            self._pages.paging.go(self._head(place), centre=center)
        self._changed()

    def _head(self, place: int) -> Spot:
        return Spot(place, 0, self._pages.above(place))

    # -- keys ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that can do nothing here are the screen's."""
        return bool(self._steps.hits) if action == "hit" else True

    def _moved(self, down: bool) -> None:
        """The person moved: what was to come of the last key is not wanted any more.

        Who goes down to the end of the last message wants to see what comes.
        """
        paging, last = self._pages.paging, len(self.outline) - 1
        self._landing = self._clicked = None
        self._follows = down and paging.spot.place == last
        self._follows = self._follows and paging.frame()[-1:] == [paging.end_of(last)]
        self._changed()

    def action_lines(self, count: int) -> None:
        """The cursor down, or up."""
        self._pages.paging.move(count)
        self._moved(count > 0)

    def action_page(self, pages: int) -> None:
        """A page down or up, one line of which was in view before."""
        self._leap(pages * max(1, self._pages.paging.height - 1))

    def action_half(self, halves: int) -> None:
        """Half a page down or up."""
        self._leap(halves * max(1, self._pages.paging.height // 2))

    def _leap(self, lines: int) -> None:
        """The view and the cursor in it together."""
        self._pages.paging.leap(lines)
        self._moved(lines > 0)

    def action_first(self) -> None:
        """The beginning."""
        self._pages.paging.put(Spot(0, 0, 0), 0)
        self._moved(False)

    def action_last(self) -> None:
        """The end."""
        paging = self._pages.paging
        if len(self.outline):
            paging.put(paging.end_of(len(self.outline) - 1), paging.height - 1)
        self._moved(True)

    def action_step(self, step: int) -> None:
        """The next message; or where this one begins, then the previous."""
        if not len(self.outline):
            return
        spot = self._pages.paging.spot
        here = self._head(spot.place)
        if step > 0 or spot <= here:
            place = max(0, min(spot.place + step, len(self.outline) - 1))
            here = self._head(place)
        self._pages.paging.go(here)
        self._moved(False)

    def action_open(self) -> None:
        """Unfold the message at the cursor, fold it, or load what is missing of it."""
        current = self.current
        if current is None:
            return
        spot = self._pages.paging.spot
        self._hit = None
        if current.id in self._pages.troubles:
            self._pages.troubles.clear()
        elif self._pages.row(spot).enter is Enter.REST:
            self._pages.want_whole(current.id)
        else:
            self._pages.toggle(spot.place)
        self._changed()

    # -- matches ---------------------------------------------------------------------------

    def action_hit(self, step: int) -> None:
        """The next match: in this message if it is a hit, else in the next that is."""
        if not len(self.outline):
            return
        spot = self._pages.paging.spot
        mark = self.outline[spot.place]
        if self._landing is None and self._steps.number(spot.place):
            self._landing = _Landing(mark.id, step, spot)
            self._land()
            self._changed()
            return
        self._land_beyond(spot.place, step)

    def _land_beyond(self, place: int, step: int) -> None:
        beyond = self._steps.beyond(place, step)
        if beyond is None:
            self._landing = None
            self.post_message(self.HitsEnded(self, step))
            return
        self._landing = _Landing(self.outline[beyond].id, step)
        self._bring(self._head(beyond))
        self._land()
        self._changed()

    def _land(self) -> None:
        """Go to the match looked for, once its message is there, in full if need be."""
        landing = self._landing
        if landing is None:
            return
        place = self.outline.place(landing.message_id)
        if place is None or landing.message_id in self._pages.troubles:
            self._landing = None
            return
        prepared = self._pages.loaded.get(landing.message_id)
        if prepared is None or landing.message_id in self._pages.stale:
            return
        spot = None
        if not prepared.is_cut or landing.step > 0:
            spot = self._steps.within(place, landing.spot, landing.step)
        if spot is None and prepared.is_cut and self._find is not None:
            self._pages.want_whole(landing.message_id)
            return
        if spot is None and landing.spot is not None:
            self._land_beyond(place, landing.step)
            return
        self._landing = None
        self._arrive(place, spot or self._head(place))

    def _arrive(self, place: int, spot: Spot) -> None:
        self._hit = spot
        self._follows = False
        self._bring(spot)
        hits = self._steps.places
        mark = self.outline[place]
        self.post_message(self.Hit(self, mark.id, self._steps.number(place), len(hits)))

    def _bring(self, spot: Spot) -> None:
        """Put the cursor on a spot; one that is out of view comes to the middle."""
        paging = self._pages.paging
        away = paging.distance(spot, paging.height - 1) is None
        paging.go(spot, centre=away)

    # -- mouse -----------------------------------------------------------------------------

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._pages.paging.scroll(WHEEL)
        self._moved(True)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._pages.paging.scroll(-WHEEL)
        self._moved(False)

    def on_click(self, event: events.Click) -> None:
        """Move to the row; a second click on it unfolds. On the bar: go to that part."""
        at = event.get_content_offset(self)
        if at is None or event.button != 1 or not self._frame:
            return
        if at.x >= self.content_region.width - BAR and self._thumb:
            height = max(1, self._pages.paging.height - 1)
            self._go((len(self.outline) - 1) * at.y // height, center=True)
        elif at.y < len(self._frame):
            spot = self._frame[at.y]
            if self._clicked == spot:
                self.action_open()
                return
            self._pages.paging.put(spot, at.y)
            self._moved(False)
            self._clicked = spot
