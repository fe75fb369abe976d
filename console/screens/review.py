"""Review: the queue beside the preview of the plan that approving would commit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import get_current_worker

from console.render import ink
from console.render.line import Line, wrapped
from console.render.preview import Preview, preview_lines
from console.render.queue import QueueItem, queue_row
from console.screens.batch import Batch
from console.screens.note import NoteScreen
from console.screens.room import Room, bindings_of
from console.widgets.lines import LineView
from console.widgets.rows import RowList, RowState

if TYPE_CHECKING:
    from core.desk.review import Label, Shown
    from core.model import Receipt

#: Seconds the cursor rests before its preview is computed.
REST = 0.08
#: Seconds between two looks of a running labelling at the screen, and the rows of the first.
STEP, FIRST = 0.5, 50


@dataclass
class Labelled(Message):
    """Some rows are judged, or judged anew."""

    rows: list[QueueItem]


@dataclass(frozen=True)
class _How:
    """What a preview is drawn by, beside itself."""

    width: int
    split: bool | None
    folded: bool


class ReviewScreen(Room):
    """Decide what waits. The cursor acts on a record, never on a place in the list."""

    MODE = "review"
    BINDINGS: ClassVar = bindings_of("review")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, QueueItem] = {}
        self._decided_at: dict[str, float] = {}
        self._judging = threading.Event()
        self._shown: Shown | None = None
        self._preview: Preview | None = None
        self._shown_key = ""
        self._sentence = "Reading the home…"
        self._folded = True
        self._resting: Timer | None = None

    def panes(self) -> Iterable[Widget]:
        queue = RowList(_paint, id="queue", classes="pane list")
        queue.border_title = Content("Queue")
        preview = LineView(id="preview", classes="pane detail")
        preview.border_title = Content("Preview")
        return (queue, preview)

    def on_mount(self) -> None:
        self.queue.focus()

    @property
    def queue(self) -> RowList[QueueItem]:
        return self.query_one("#queue", RowList)

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
        self._show_queue()
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
                self.post_message(Labelled(judged(found[sent:], self._items)))
                sent, last = len(found), time.monotonic()
        self.post_message(Labelled(judged(found[sent:], self._items)))
        return counted(found, self._items)

    def on_labelled(self, message: Labelled) -> None:
        message.stop()
        self._apply(message.rows, rivals=False)

    def _apply(self, rows: Sequence[QueueItem], *, rivals: bool = True) -> None:
        for row in rows:
            item = self._items.get(row.key)
            if item is not None and item.digest == row.digest:
                self._items[row.key] = (
                    replace(item, rivals=row.rivals) if rivals else replace(item, status=row.status)
                )
        if rows:
            self._show_queue()

    def _show_queue(self) -> None:
        items = list(self._items.values())
        self.queue.set_items(items)
        self.queue.border_title = Content(f"Queue ({len(items):,})")
        self.show_empty(not items, self.queue, self.preview)
        if not items:
            self._say(_EMPTY)
        self._show_unseen()
        self.refresh_bindings()

    # -- the preview -----------------------------------------------------------------------

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        message.stop()
        self._folded = True
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
        if item is None or self.signoff.opened is None:
            return
        if item.status == "unreadable" or item.fate == "gone":
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
        if key != self.queue.cursor_key:
            return
        same, self._shown_key = self._shown_key == key, key
        self._shown, self._preview = shown, preview
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

    def _drawn_as(self) -> _How:
        return _How(self._width, self.signoff.ui.split, self._folded)

    def _draw_preview(self, *, keep: bool) -> None:
        if self._preview is None:
            pieces = wrapped(ink.block(self._sentence), self._width)
            self.preview.set_lines([Line(piece) for piece in pieces], keep=keep)
        else:
            self.preview.set_lines(_draw(self._preview, self._drawn_as()), keep=keep)

    def on_line_view_width_changed(self, message: LineView.WidthChanged) -> None:
        message.stop()
        self._draw_preview(keep=True)

    def _say(self, sentence: str) -> None:
        self._shown = self._preview = None
        self._sentence = sentence
        self._draw_preview(keep=False)

    @property
    def _width(self) -> int:
        return max(20, self.preview.line_width)

    # -- deciding --------------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action in ("approve", "reject"):
            return self._why_not_decide(action)
        if action in ("open", "copy", "fold", "split") and self._item() is None:
            return "The queue is empty"
        return None

    def _why_not_decide(self, action: str) -> str | None:
        item = self._item()
        if self.queue.marked:
            return None
        if item is None:
            return "The queue is empty"
        if item.is_settled:
            return f"{item.id} is {item.fate}"
        if action == "approve" and item.status not in ("ready", "attention", "noop", ""):
            return f"It would not land ({item.status.replace('_', ' ')}): r refuses it"
        return None

    def action_approve(self) -> None:
        self._decide("approve", "")

    def action_reject(self) -> None:
        self._decide("reject", "")

    def action_note(self, verb: str) -> None:
        def decided(note: str | None) -> None:
            if note is not None:
                self._decide(verb, note)

        word = "approve" if verb == "approve" else "refuse"
        question = f"{word.capitalize()} {self._named()}"
        self.app.push_screen(NoteScreen(question, f"{word}s"), decided)

    def _named(self) -> str:
        """What a decision would take, in words."""
        if count := len(self.queue.marked):
            return f"{count:,} marked"
        item = self._item()
        return f"{item.action} → {item.target} ({item.id})" if item is not None else "nothing"

    def _decide(self, verb: str, note: str) -> None:
        keys = self.queue.marked or tuple(filter(None, [self.queue.cursor_key]))
        items = [item for key in keys if (item := self._items.get(key)) and not item.is_settled]
        asking = [item for item in items if item.status == "attention"]
        if verb == "approve" and len(keys) == 1 and asking and self._seal(asking[0]) is None:
            self.flash("Its preview is still being read: look, then press again", ink.WARNING)
            return
        skipped = asking if verb == "approve" and len(keys) > 1 else []
        taken = [item for item in items if item not in skipped]
        batch = Batch(verb, len(taken), len(skipped))
        for item in taken:
            seal = self._seal(item) if verb == "approve" else None
            self._items[item.key] = replace(item, fate="working", note="")
            done = partial(self._decided, batch)
            self.signoff.write(self._decision(verb, item, seal, note), done, item.key)
        self.queue.clear_marks()
        self._show_queue()
        if not taken:
            self.flash(*batch.sentence())

    def _seal(self, item: QueueItem) -> str | None:
        if self._shown is None or self._shown.proposal.file != item.key:
            return None
        return self._shown.seal

    def _decision(
        self, verb: str, item: QueueItem, seal: str | None, note: str
    ) -> Callable[[], Receipt]:
        from core.desk import decide

        opened = self.signoff.opened
        assert opened is not None
        request = decide.Request((item.token,), note, seal=seal)
        act = decide.approve if verb == "approve" else decide.reject
        return lambda: act(opened, request)[0]

    def _decided(self, batch: Batch, key: str, receipt: Receipt) -> None:
        item = self._items.get(key)
        if item is not None and receipt.subject == key:
            receipt = replace(receipt, subject=item.id)
        if receipt.ok:
            self._items.pop(key, None)
            self._decided_at[key] = time.monotonic()
        elif item is not None:
            self._items[key] = replace(item, fate="failed", note=receipt.message)
        if batch.add(receipt):
            self.flash(*batch.sentence())
        self._show_queue()
        self.rest()

    # -- moving and looking ----------------------------------------------------------------

    def action_open(self) -> None:
        self.add_class("-inside")
        self.preview.focus()

    def on_row_list_activated(self, message: RowList.Activated) -> None:
        message.stop()
        self.action_open()

    def action_close(self) -> None:
        if self.preview.has_focus or self.has_class("-inside"):
            self.remove_class("-inside")
            self.queue.focus()
        else:
            self.queue.clear_marks()

    def action_next_open(self) -> None:
        items = list(self._items.values())
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
        self.queue.border_subtitle = Content("  ".join(parts))

    def _item(self) -> QueueItem | None:
        return self._items.get(self.queue.cursor_key or "")


_EMPTY = (
    "Nothing waits for a decision.\n\nWhat the agent proposes appears here by itself while its"
    " write gates are on (`signoff gate on`). u takes back the newest decision."
)


def _draw(preview: Preview, how: _How) -> Sequence[Line]:
    return preview_lines(preview, how.width, split=how.split, folded=how.folded)


def _paint(item: QueueItem, state: RowState) -> Sequence[Content]:
    return queue_row(item, state.width)
