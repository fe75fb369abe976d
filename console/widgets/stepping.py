"""From match to match: within a message row by row, then on to the next message that has any."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from console.widgets.outline import Outline
from console.widgets.pages import Pages
from console.widgets.paging import Spot


class Stepping:
    """The messages ``hits`` of a search, and the way to their matches."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self.hits: Sequence[int] = ()
        self._found: tuple[Outline, Sequence[int], list[int]] | None = None

    def number(self, place: int) -> int:
        """Which of the hits that are shown stands at ``place``, from 1; 0 if none does."""
        places = self.places
        at = bisect_left(places, place)
        return at + 1 if at < len(places) and places[at] == place else 0

    @property
    def places(self) -> list[int]:
        """The places of the hits that are shown, in order."""
        outline, hits = self._pages.outline, self.hits
        # Asked by every key: a common word has a hit in every other message.
        if self._found is None or self._found[0] is not outline or self._found[1] is not hits:
            self._found = outline, hits, outline.places(hits)
        return self._found[2]

    def beyond(self, place: int, step: int) -> int | None:
        """The next place with a hit after ``place``, or before it."""
        places = self.places
        at = bisect_right(places, place) if step > 0 else bisect_left(places, place) - 1
        return places[at] if 0 <= at < len(places) else None

    def within(self, place: int, spot: Spot | None, step: int) -> Spot | None:
        """The next match of a message after ``spot``, or before it; from its edge for ``None``.

        A fold that hides matches is opened rather than passed by.
        """
        pages = self._pages
        if pages.outline[place].id not in pages.loaded:
            return None
        found = next(self._matches(place, spot, step), None)
        if found is None or not pages.row(found).hides:
            return found
        # What was read of the folded text begins the opened one.
        seen = -1 if spot is None or step < 0 else pages.row(spot).at
        pages.open(place)
        for each in self._matches(place, None, step):
            if each.part or pages.row(each).at > seen:
                return each
        return None

    def _matches(self, place: int, spot: Spot | None, step: int) -> Iterator[Spot]:
        """The rows of a message with matches, one after the other."""
        pages = self._pages
        count = pages.parts(place)
        prepared = pages.loaded.get(pages.outline[place].id)
        opened = pages.outline[place].id in pages.opened
        if spot is None:
            begin, edge = (0, -1) if step > 0 else (count - 1, None)
        else:
            begin, edge = spot.part, spot.line
        for part in range(begin, count) if step > 0 else range(begin, -1, -1):
            if opened and prepared is not None and not prepared.blocks[part].spans:
                edge = -1 if step > 0 else None
                continue
            rows = pages.rows(place, part)
            if step > 0:
                lines = range((-1 if edge is None else edge) + 1, len(rows))
            else:
                lines = range((len(rows) if edge is None else edge) - 1, -1, -1)
            for line in lines:
                if rows[line].is_match:
                    yield Spot(place, part, line)
            edge = -1 if step > 0 else None
