"""Review: the queue beside the preview of the plan that approving would commit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.events import ScreenResume
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from console.render import ink
from console.render.foreseen import Foreseen, foreseen_lines
from console.render.line import Line, wrapped
from console.render.preview import Preview, preview_lines
from console.render.queue import QueueItem, queue_row
from console.screens.deciding import meant_to_land
from console.screens.narrowing import NarrowingRoom
from console.screens.room import bindings_of
from console.widgets.lines import LineView
from console.widgets.rows import RowList, RowState

if TYPE_CHECKING:
    from core.desk.review import Label, Shown

#: Seconds the cursor rests before its preview is computed.
REST = 0.08
#: Seconds between two looks of a running labelling at the screen, and the rows of the first.
STEP, FIRST = 0.5, 50
#: What the preview shows of several marked rows, in place of a row's key.
FORECAST = "forecast"


@dataclass
class Labelled(Message):
    """Some rows are judged, or judged anew; ``rows`` are those that look otherwise now."""

    rows: list[QueueItem]
    labels: list[Label]


@dataclass(frozen=True)
class _How:
    """What a preview is drawn by, beside itself."""

    width: int
    split: bool | None
    folded: bool


class ReviewScreen(NarrowingRoom):
    """Decide what waits. The cursor acts on a record, never on a place in the list."""

    MODE = "review"
    BINDINGS: ClassVar = bindings_of("review")

    def __init__(self) -> None:
        super().__init__()
        self._judging = threading.Event()
        self._shown_key = ""
        self._drawing: Callable[[_How], Sequence[Line]] = partial(_sentence, "Reading the home…")
        self._folded = True
        self._resting: Timer | None = None

    def panes(self) -> Iterable[Widget]:
        line = Input(placeholder="status:stale target:memory age:14d words", id="filter")
        queue = RowList(_paint, id="queue", classes="pane")
        queue.border_title = Content("Queue")
        preview = LineView(id="preview", classes="pane detail")
        preview.border_title = Content("Preview")
        return (Vertical(line, queue, classes="list"), preview)

    def on_mount(self) -> None:
        self.queue.focus()

    @property
    def preview(self) -> LineView:
        return self.query_one("#preview", LineView)

    # -- reading ---------------------------------------------------------------------------

    def queue_read(self) -> None:
        self._stale = True
        if self.is_current:
            self.refresh_if_stale()

    def reload(self) -> None:
        reading = self.signoff.reading
        if reading is None:
            return
        known, now = dict(self._items), self.signoff.now()

        def work() -> tuple[float, dict[str, QueueItem], dict[str, QueueItem]]:
            from console.screens.review_rows import queue_items

            return reading.begun, queue_items(reading.queue, now, known), known

        self.start_job("list", work, self._listed, self.job_failed, every=True)

    def _listed(self, listed: tuple[float, dict[str, QueueItem], dict[str, QueueItem]]) -> None:
        from console.screens.review_rows import merged

        begun, fresh, known = listed
        # What was decided here after that reading began may still stand in it.
        self._decided_at = {key: at for key, at in self._decided_at.items() if at > begun}
        for key in self._decided_at:
            fresh.pop(key, None)
        self._items = merged(fresh, self._items, known)
        self._labels = {key: found for key, found in self._labels.items() if key in self._items}
        self._sleeping &= self._items.keys()
        self.show_queue()
        self._judging.set()
        stop = self._judging = threading.Event()
        self.start_job("labels", partial(self._label, stop), self._apply, self.job_failed)
        self.rest()

    def _label(self, stop: threading.Event) -> list[QueueItem]:
        """Judge the queue in a thread; what is ready goes to the screen step by step."""
        from console.screens.review_rows import counted, judged

        board, worker = self.signoff.board, get_current_worker()
        assert board is not None
        found: list[Label] = []
        sent, last = 0, time.monotonic()
        for label in board.labels():
            if stop.is_set() or worker.is_cancelled:
                return []
            found.append(label)
            # Keys come first: without this a thread waits 5 ms each time it wants to run.
            time.sleep(0)
            if len(found) == FIRST or time.monotonic() - last > STEP:
                fresh = found[sent:]
                self.post_message(Labelled(judged(fresh, self._items), fresh))
                sent, last = len(found), time.monotonic()
        self.post_message(Labelled(judged(found[sent:], self._items), found[sent:]))
        return counted(found, self._items)

    def on_labelled(self, message: Labelled) -> None:
        message.stop()
        asleep = len(self._sleeping)
        for label in message.labels:
            key = label.proposal.file
            self._labels[key] = label
            (self._sleeping.discard if label.snoozed_until is None else self._sleeping.add)(key)
        self._apply(message.rows, rivals=False)
        if asleep != len(self._sleeping):
            self.show_queue(news=False)
            self.rest()

    def _apply(self, rows: Sequence[QueueItem], *, rivals: bool = True) -> None:
        for row in rows:
            item = self._items.get(row.key)
            if item is not None and item.digest == row.digest:
                self._items[row.key] = (
                    replace(item, rivals=row.rivals) if rivals else replace(item, status=row.status)
                )
        if rows:
            self.show_queue()

    def show_queue(self, *, news: bool = True) -> None:
        """Draw the rows as they stand now; ``news``: those that were not there are new."""
        items, every = self._visible(), len(self._items)
        self.queue.set_items(items, news=news)
        count = f"{len(items):,}" if self._is_whole() else f"{len(items):,} of {every:,}"
        self.queue.border_title = Content(f"Queue ({count})")
        self.show_empty(not every, self.queue, self.preview)
        if not items:
            self._say(_NONE if every else self._why_empty())
        self._show_unseen()
        self._seek_wanted()
        self.refresh_bindings()

    def _why_empty(self) -> str:
        reading = self.signoff.reading
        return _UNKNOWN if reading is not None and reading.queue.broken else _EMPTY

    # -- the preview -----------------------------------------------------------------------

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        message.stop()
        self._folded = True
        self._asked = ""
        self.let_pass()
        self.rest()
        self._show_unseen()
        self.refresh_bindings()

    def rest(self) -> None:
        """Compute the preview once the cursor has rested a moment."""
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, self._look)

    def _look(self) -> None:
        item = self._item()
        if item is None or self.signoff.opened is None or self._foresee():
            return
        if item.broken or item.fate == "gone":
            self._say(f"{item.id}: {item.note or item.summary}")
            return
        opened, token, now = self.signoff.opened, item.token, self.signoff.now()

        draw = self._drawn_as()

        def work() -> tuple[str, Shown, Preview, _How, Sequence[Line]]:
            from console.screens.review_rows import preview_of
            from core.desk.review import show

            shown = show(opened, token)
            preview = preview_of(shown, now)
            return item.key, shown, preview, draw, _draw(preview, draw)

        self.start_job("preview", work, self._previewed, self._not_previewed)

    def _previewed(self, result: tuple[str, Shown, Preview, _How, Sequence[Line]]) -> None:
        key, shown, preview, drawn_as, lines = result
        if key != self.queue.cursor_key or self._foretold():
            return
        same, self._shown_key = self._shown_key == key, key
        self._shown, self._drawing = shown, partial(_draw, preview)
        if drawn_as == self._drawn_as():
            self.preview.set_lines(lines, keep=same)
        else:
            self._draw_preview(keep=same)
        self.refresh_bindings()

    def _not_previewed(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if not isinstance(problem, SignoffError):
            self.job_failed(problem)
            return
        self._say(f"{problem.message}. {problem.hint}")

    def _foretold(self) -> list[Label]:
        """The marked rows, when there are several: what approving them would do is shown."""
        rows = [self._labels[item.key] for item in self._meant() if item.key in self._labels]
        return rows if len(self.queue.marked) > 1 and len(rows) > 1 else []

    def _foresee(self) -> bool:
        rows, opened = self._foretold(), self.signoff.opened
        if not rows or opened is None:
            return False
        other = len(self.queue.marked) - len(rows)
        taken = [meant_to_land(row) for row in rows if row.status != "attention"]

        def work() -> tuple[list[Label], Foreseen]:
            from console.screens.foresight import foresee

            return rows, foresee(opened, taken, len(rows) - len(taken), other)

        self.start_job("preview", work, self._foreseen, self._not_previewed)
        return True

    def _foreseen(self, result: tuple[list[Label], Foreseen]) -> None:
        rows, found = result
        if rows != self._foretold():
            return
        same, self._shown_key = self._shown_key == FORECAST, FORECAST
        self._shown, self._drawing = None, partial(_draw_forecast, found)
        self._draw_preview(keep=same)

    def _drawn_as(self) -> _How:
        return _How(self._width, self.signoff.ui.split, self._folded)

    def _draw_preview(self, *, keep: bool) -> None:
        self.preview.set_lines(self._drawing(self._drawn_as()), keep=keep)

    def on_line_view_width_changed(self, message: LineView.WidthChanged) -> None:
        message.stop()
        self._draw_preview(keep=True)

    def _say(self, sentence: str) -> None:
        self._shown, self._drawing = None, partial(_sentence, sentence)
        self._shown_key = ""
        self._draw_preview(keep=False)
        self.refresh_bindings()

    @property
    def _width(self) -> int:
        return max(20, self.preview.line_width)

    def why_not(self, action: str) -> str | None:
        if action in ("open", "copy", "fold", "split", "conversation") and self._item() is None:
            return "The queue is empty"
        if action == "conversation":
            origin = self._shown.origin if self._shown is not None else None
            if origin is None:
                return "It is not shown yet"
            if origin.session_id is None:
                return f"{origin.words[:1].upper()}{origin.words[1:]}"
        return super().why_not(action)

    # -- moving and looking ----------------------------------------------------------------

    def action_open(self) -> None:
        self.add_class("-inside")
        self.preview.focus()

    def on_row_list_activated(self, message: RowList.Activated) -> None:
        message.stop()
        self.action_open()

    def action_close(self) -> None:
        if self.filter.has_focus:
            self._end_filter()
        elif self.preview.has_focus or self.has_class("-inside"):
            self.remove_class("-inside")
            self.queue.focus()
        elif self.queue.marked:
            self.queue.clear_marks()
        elif self.filter.display:
            self._end_filter()

    def action_conversation(self) -> None:
        shown = self._shown
        origin = shown.origin if shown is not None else None
        if shown is not None and origin is not None and origin.session_id is not None:
            name = shown.proposal.id
            self.signoff.show_message(origin.session_id, origin.message_id, name)

    def on_screen_resume(self, _event: ScreenResume) -> None:
        self._seek_wanted()

    def _seek_wanted(self) -> None:
        """Go to the proposal that another screen asked for."""
        wanted = self.signoff.wanted
        if not wanted or wanted not in self._items:
            return
        self.signoff.wanted = ""
        if not self.queue.move_to(wanted):
            self.flash("The proposal is not shown: a filter leaves it out", ink.WARNING)

    def action_next_open(self) -> None:
        items = list(self.queue.items)
        here = next((n for n, i in enumerate(items) if i.key == self.queue.cursor_key), -1)
        around = items[here + 1 :] + items[: here + 1]
        found = next((i for i in around if i.status in ("ready", "attention") and not i.fate), None)
        if found is None:
            self.flash("Nothing else would land")
        else:
            self.queue.move_to(found.key)

    def action_fold(self) -> None:
        self._folded = not self._folded
        self._draw_preview(keep=True)

    def action_split(self) -> None:
        self.signoff.toggle_split(self._width)
        self._draw_preview(keep=True)

    def action_copy(self) -> None:
        if self._shown is None:
            self.flash("There is nothing to copy here")
            return
        from console.screens.review_rows import proposed_text

        self.app.copy_to_clipboard(proposed_text(self._shown.proposal))
        self.flash("Sent to the terminal's clipboard, as it is stored")

    def on_row_list_marks_changed(self, message: RowList.MarksChanged) -> None:
        message.stop()
        self._show_unseen()
        self.refresh_bindings()
        self.rest()

    def on_row_list_unseen_changed(self, message: RowList.UnseenChanged) -> None:
        message.stop()
        self._show_unseen()

    def clear_gone(self) -> None:
        """Let the rows leave that were decided elsewhere, and forget what failed."""
        self._items = {
            key: replace(item, fate="", note="") if item.fate == "failed" else item
            for key, item in self._items.items()
            if item.fate != "gone"
        }

    def _show_unseen(self) -> None:
        parts = []
        if marked := len(self.queue.marked):
            parts.append(f"{marked} marked")
        if unseen := self.queue.unseen:
            parts.append(f"{unseen} new")
        if asleep := len(self._sleeping & self._items.keys()):
            parts.append(f"{asleep} snoozed")
        self.queue.border_subtitle = Content("  ".join(parts))


_EMPTY = (
    "Nothing waits for a decision.\n\nWhat the agent proposes appears here by itself while its"
    " write gates are on (`signoff gate on`). u takes back the newest decision."
)
_UNKNOWN = (
    "What waits is not known: a queue of this home cannot be read, the line above says why."
    "\n\nIt appears here by itself once that is mended."
)
_NONE = "No row is shown: the filter leaves all out, or they are snoozed. esc takes the filter off."


def _sentence(sentence: str, how: _How) -> Sequence[Line]:
    return [Line(piece) for piece in wrapped(ink.block(sentence), how.width)]


def _draw_forecast(found: Foreseen, how: _How) -> Sequence[Line]:
    return foreseen_lines(found, how.width)


def _draw(preview: Preview, how: _How) -> Sequence[Line]:
    return preview_lines(preview, how.width, split=how.split, folded=how.folded)


def _paint(item: QueueItem, state: RowState) -> Sequence[Content]:
    return queue_row(item, state.width)
