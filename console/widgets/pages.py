"""What a transcript shows and where the reader is in it, without drawing and without threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from console.render.message import Row, divider, lay_out, parts, placeholder
from console.render.prepared import Prepared
from console.widgets.loaded import Loaded
from console.widgets.outline import Outline, Shown
from console.widgets.paging import FIRST, Paging, Spot
from console.widgets.recent import Recent
from core.conversations import Mark

#: Parts whose rows are remembered: a few screens of them.
_REMEMBERED = 512
#: Messages loaded beyond the view on either side, and at most at a time.
AHEAD, CHUNK = 32, 128
#: Messages of which more than the beginning is kept.
WHOLE = 4


@dataclass(frozen=True, slots=True)
class _Laid:
    """Rows, and all they depend on. ``above`` of them are dividers."""

    prepared: Prepared | None
    how: tuple[object, ...]
    above: int
    rows: tuple[Row, ...]


class Pages:
    """A conversation laid out near the view; a message not loaded yet is a placeholder.

    ``opened`` are the messages that are not folded, ``whole`` those wanted in full (the newest
    last), ``stale`` those loaded before something about them changed, ``troubles`` why one cannot
    be loaded, ``unseen`` those that came and were not in view yet.
    """

    def __init__(self) -> None:
        self.outline = Outline()
        self.loaded = Loaded()
        self.opened: set[int] = set()
        self.whole: dict[int, None] = {}
        self.stale: set[int] = set()
        self.troubles: dict[int, str] = {}
        self.unseen: set[int] = set()
        self.width = 0
        self.paging = Paging(self.parts, self._height)
        self._laid: Recent[tuple[int, int], _Laid] = Recent(_REMEMBERED)

    # -- what there is ---------------------------------------------------------------------

    def show(self, outline: Outline) -> None:
        """Begin with another conversation, at its beginning."""
        self.loaded.clear()
        for kept in (self.opened, self.stale, self.unseen):
            kept.clear()
        self.whole.clear()
        self.troubles.clear()
        self._laid.clear()
        self._adopt(outline)
        self.paging.put(FIRST, 0)

    def renew(self, marks: Sequence[Mark]) -> None:
        """The same conversation as it is now; the reader stays where they are."""
        old, now = self.outline, Outline(marks, self.outline.shown, self.outline.dividers)
        fresh, changed = old.marks.changes(now.marks)
        self.stale.update(changed)
        if old.marks:
            self.unseen.update(fresh)
        self._keep(now)

    def renew_all(self) -> None:
        """Everything is to be loaded again; what is there is shown meanwhile."""
        self.stale.update(self.loaded)

    def narrow(self, shown: Shown) -> None:
        """Show other messages of it; the reader stays at theirs, or at the next that is shown."""
        self._keep(Outline(self.outline.marks, shown, self.outline.dividers))

    def divide(self, dividers: Mapping[int, str]) -> None:
        """Other words above some messages."""
        self._keep(Outline(self.outline.marks, self.outline.shown, dividers))

    def _keep(self, outline: Outline) -> None:
        current, line = self.current, self.paging.spot
        self._adopt(outline)
        if current is None:
            self.paging.put(FIRST, 0)
            return
        place = outline.nearest(current.id)
        same = len(outline) and outline[place].id == current.id
        self.paging.put(line._replace(place=place) if same else Spot(place, 0, 0), self.paging.row)

    def _adopt(self, outline: Outline) -> None:
        self.outline = outline
        self.paging.count = len(outline)

    @property
    def current(self) -> Mark | None:
        """The message the cursor is on."""
        return self.outline[self.paging.spot.place] if len(self.outline) else None

    # -- laying out ------------------------------------------------------------------------

    def parts(self, place: int) -> int:
        """How many parts a message has now."""
        mark = self.outline[place]
        prepared = self.loaded.get(mark.id)
        return 1 if prepared is None else parts(prepared, mark.id in self.opened)

    def rows(self, place: int, part: int) -> tuple[Row, ...]:
        """The rows of a part, dividers above the message included."""
        return self._part(place, part).rows

    def row(self, spot: Spot) -> Row:
        """The row at a spot."""
        return self.rows(spot.place, spot.part)[spot.line]

    def above(self, place: int) -> int:
        """How many rows of dividers stand above a message."""
        return self._part(place, 0).above

    def _height(self, place: int, part: int) -> int:
        return len(self._part(place, part).rows)

    def _part(self, place: int, part: int) -> _Laid:
        mark = self.outline[place]
        prepared = self.loaded.get(mark.id)
        words = self.outline.above(place) if part == 0 else ()
        trouble = self.troubles.get(mark.id, "")
        how = (self.width, mark.id in self.opened, words, trouble)
        laid = self._laid.get((mark.id, part))
        if laid is None or laid.prepared is not prepared or laid.how != how:
            width = max(2, self.width)
            above = tuple(row for said in words for row in divider(said, width))
            if prepared is None:
                rows = placeholder(mark, width, trouble)
            else:
                rows = lay_out(prepared, part, width, opened=mark.id in self.opened)
            laid = _Laid(prepared, how, len(above), above + rows)
            self._laid.put((mark.id, part), laid)
        return laid

    def resize(self, width: int, height: int) -> None:
        """Another view: its top message stays on top, unless that hid the line at the cursor."""
        paging = self.paging
        if not self.width or not len(self.outline):
            self.width, paging.height = width, height
            paging.settle()
            return
        top, cursor = paging.top, paging.spot
        began = {spot: self.row(spot).at for spot in (top, cursor)}
        self.width, paging.height = width, height
        top, cursor = (self._same(spot, began[spot]) for spot in (top, cursor))
        paging.put(top, 0)
        paging.go(cursor)

    def _same(self, spot: Spot, at: int) -> Spot:
        """The line that now shows what began at ``at`` in its block."""
        rows = self.rows(spot.place, spot.part)
        if at < 0:
            line = spot.line
        else:
            line = max((n for n, row in enumerate(rows) if 0 <= row.at <= at), default=0)
        return spot._replace(line=min(line, len(rows) - 1))

    # -- loading ---------------------------------------------------------------------------

    def view(self) -> range:
        """The places in view."""
        frame = self.paging.frame()
        return range(frame[0].place, frame[-1].place + 1) if frame else range(0)

    def missing(self) -> tuple[int, ...]:
        """The messages to load next: none while everything in and around the view is there."""
        view = self.view()
        near = self.outline.slice(view.start - AHEAD // 2, view.stop + AHEAD // 2)
        if not any(self._misses(mark.id) for mark in near):
            return ()
        # What is in view comes first, should there be more than one can take at once.
        order = [
            *self.outline.slice(view.start, view.stop),
            *self.outline.slice(view.stop, view.stop + AHEAD),
            *self.outline.slice(view.start - AHEAD, view.start),
        ]
        return tuple(sorted([m.id for m in order if self._misses(m.id)][:CHUNK]))

    def missing_whole(self) -> int | None:
        """A message in view that is wanted in full and is not there in full."""
        for mark in self.outline.slice(self.view().start, self.view().stop):
            prepared = self.loaded.get(mark.id)
            wanted = mark.id in self.whole and mark.id not in self.troubles
            if wanted and prepared is not None and prepared.is_cut:
                return mark.id
        return None

    def _misses(self, message_id: int) -> bool:
        if message_id in self.troubles:
            return False
        return message_id not in self.loaded or message_id in self.stale

    def take(self, found: Sequence[Prepared]) -> None:
        """Lay out what was loaded; the line at the cursor stays in its row."""
        spot, current = self.paging.spot, self.current
        arrived = current is not None and current.id not in self.loaded
        for prepared in found:
            before = self.loaded.get(prepared.message.id)
            if before is not None and prepared.is_cut and not before.is_cut:
                # Only its beginning was read again: what is there is more.
                changed = replace(
                    prepared.message, size=before.message.size, whole=before.message.whole
                )
                prepared = replace(before, message=changed)
            self.loaded.put(prepared)
            self.stale.discard(prepared.message.id)
        arrived = arrived and current is not None and current.id in self.loaded
        # Who came from below stands at the end of what was not there yet.
        if arrived and spot.line > self.above(spot.place):
            spot = self.paging.end_of(spot.place)
        self.paging.put(spot, self.paging.row)
        view = self.view()
        near = self.outline.slice(view.start - AHEAD, view.stop + AHEAD)
        self.loaded.trim({mark.id for mark in near})

    def want_whole(self, message_id: int) -> None:
        """Load all of a message and show it; of the last few such messages all is kept."""
        self.opened.add(message_id)
        self.troubles.pop(message_id, None)
        self.whole.pop(message_id, None)
        self.whole[message_id] = None
        if len(self.whole) > WHOLE:
            oldest = next(iter(self.whole))
            del self.whole[oldest]
            if not any(self.outline[place].id == oldest for place in self.view()):
                self.loaded.drop(oldest)

    def fail(self, ids: Sequence[int], trouble: str) -> None:
        """These messages cannot be loaded."""
        self.troubles.update(dict.fromkeys(ids, trouble))
        self.paging.settle()

    # -- folding ---------------------------------------------------------------------------

    def toggle(self, place: int) -> bool:
        """Open a message or fold it; whether there was anything to do."""
        mark = self.outline[place]
        prepared = self.loaded.get(mark.id)
        if prepared is None or not prepared.folds:
            return False
        if mark.id in self.opened:
            # The message stays where it can be seen: its header, as near as the view allows.
            head = Spot(place, 0, self.above(place))
            row = self.paging.distance(head, self.paging.height - 1)
            self.opened.discard(mark.id)
            self.paging.put(head, 0 if row is None else row)
        else:
            self.open(place)
        return True

    def open(self, place: int) -> None:
        """Show all of a message that is loaded."""
        self.opened.add(self.outline[place].id)
        self.paging.settle()
