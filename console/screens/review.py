"""Review: the queue beside the preview of the plan that approving would commit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.events import ScreenResume
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from console.keymap import keyed
from console.render import ink
from console.render.queue import QueueItem, queue_row
from console.screens.host import is_vak
from console.screens.review_preview import PreviewingRoom, PreviewText
from console.screens.room import bindings_of
from console.widgets.filterline import FilterLine
from console.widgets.rows import RowList, RowState

if TYPE_CHECKING:
    from core.desk.review import Label

#: Seconds between two looks of a running labelling at the screen, and the rows of the first.
STEP, FIRST = 0.5, 50


@dataclass
class Labelled(Message):
    """Some rows are judged, or judged anew; ``rows`` are those that look otherwise now."""

    rows: list[QueueItem]
    labels: list[Label]


class ReviewScreen(PreviewingRoom):
    """Decide what waits. The cursor acts on a record, never on a place in the list."""

    MODE = "review"
    BINDINGS: ClassVar = bindings_of("review")

    def __init__(self) -> None:
        super().__init__()
        self._judging = threading.Event()
        #: Records that an undo brought back and that were not in a reading yet.
        self._returning: frozenset[str] = frozenset()

    def panes(self) -> Iterable[Widget]:
        line = FilterLine("status:stale target:memory age:14d words")
        queue = RowList(_paint, id="queue", classes="pane")
        queue.border_title = Content("Queue")
        preview = PreviewText(id="preview", classes="pane detail")
        preview.border_title = Content("Preview")
        return (Vertical(line, queue, classes="list"), preview)

    def on_mount(self) -> None:
        self.queue.focus()

    # -- reading ---------------------------------------------------------------------------

    def queue_read(self) -> None:
        self._stale = True
        if self.is_current:
            self.refresh_if_stale()

    def brought_back(self, paths: frozenset[str]) -> None:
        self._returning |= paths
        # Why they failed was said of a home that is not like that any more.
        self._items = {key: _unfailed(item) for key, item in self._items.items()}
        self._welcome()

    def _welcome(self) -> None:
        """Rows brought back by the person are no news; the cursor goes to the first of them."""
        back = [item.key for item in self.queue.items if item.key in self._returning]
        if back:
            self.queue.note_seen(back)
            self.queue.move_to(back[0])

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
        self._welcome()
        # A reading that began before the undo ended has only some of them.
        self._returning -= self._items.keys()
        self._judging.set()
        stop = self._judging = threading.Event()
        done = partial(self._all_judged, stop, begun)
        self.start_job("labels", partial(self._label, stop), done, self.job_failed)
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

    def _all_judged(self, stop: threading.Event, begun: float, rows: Sequence[QueueItem]) -> None:
        self._apply(rows)
        if not stop.is_set():
            self.say_lost(begun)

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
        before = self.queue.cursor_key
        self.queue.set_items(items, news=news)
        if before not in (None, self.queue.cursor_key):
            self.came_by_itself()
        count = f"{len(items):,}" if self._is_whole() else f"{len(items):,} of {every:,}"
        self.queue.border_title = Content(f"Queue ({count})")
        self.show_empty(not every, self.queue, self.preview)
        if not items:
            self._say(keyed(_NONE) if every else self._why_empty())
        self._show_unseen()
        self._seek_wanted()
        self.refresh_bindings()

    def _why_empty(self) -> str:
        reading = self.signoff.reading
        if reading is not None and reading.queue.broken:
            return _UNKNOWN
        return keyed(_EMPTY_VAK if is_vak(self._opened) else _EMPTY)

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        message.stop()
        self._folded = True
        self._asked = ""
        self.moved()
        self.rest()
        self._show_unseen()
        self.refresh_bindings()

    # -- moving and looking ----------------------------------------------------------------

    def action_open(self) -> None:
        self.add_class("-inside")
        self.preview.focus()

    def show_question(self) -> None:
        # Where one pane shows at a time the warning is behind the list.
        if not self.preview.size:
            self.action_open()

    def on_row_list_activated(self, message: RowList.Activated) -> None:
        message.stop()
        self.action_open()

    def action_close(self) -> None:
        if self.preview.has_focus or self.has_class("-inside"):
            self.remove_class("-inside")
            self.queue.focus()
        elif self.queue.marked:
            self.queue.clear_marks()
        elif self.filter.display:
            self.end_filter()

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

    def action_step(self, step: int) -> None:
        """The proposal above or below; who reads the preview goes on reading there."""
        here = self.queue.cursor_key
        (self.queue.action_cursor_down if step > 0 else self.queue.action_cursor_up)()
        if self.queue.cursor_key == here:
            self.flash(f"No further proposal {'below' if step > 0 else 'above'}")

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
            key: _unfailed(item) for key, item in self._items.items() if item.fate != "gone"
        }

    def _show_unseen(self) -> None:
        hidden = self.hidden()
        none = self._why_none() or (f"{hidden:,} hidden by the filter" if hidden else "")
        parts = [none] if none else []
        if marked := len(self.queue.marked):
            parts.append(f"{marked} marked")
        if unseen := self.queue.unseen:
            parts.append(f"{unseen} new")
        if asleep := len(self._sleeping & self._items.keys()):
            parts.append(f"{asleep} snoozed")
        self.queue.border_subtitle = Content("  ".join(parts))


_EMPTY = (
    "Nothing waits for a decision.\n\nWhat the agent proposes appears here by itself while its"
    " write gates are on (`signoff gate on`). {app.undo} takes back the newest decision."
)
_EMPTY_VAK = (
    "Nothing waits for a decision.\n\nSkills the agent proposes appear here by themselves while"
    " skill_proposals is on in the home's settings; it writes notes at once, the Memory mode shows"
    " them. {app.undo} takes back the newest decision."
)
_UNKNOWN = (
    "What waits is not known: a queue of this home cannot be read, the line above says why."
    "\n\nIt appears here by itself once that is mended."
)
_NONE = (
    "No row is shown: the filter leaves all out, or they are snoozed. {review.close} takes the"
    " filter off."
)


def _unfailed(item: QueueItem) -> QueueItem:
    return replace(item, fate="", note="") if item.fate == "failed" else item


def _paint(item: QueueItem, state: RowState) -> Sequence[Content]:
    return queue_row(item, state.width)
