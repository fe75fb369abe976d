"""The preview beside the queue: the plan of the row at the cursor, or what the marked ones do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer

from console.keymap import keyed
from console.render import ink
from console.render.foreseen import Foreseen, foreseen_lines
from console.render.hints import with_keys
from console.render.line import Line, wrapped
from console.render.preview import Preview, preview_lines
from console.render.queue import QueueItem
from console.render.raw import RawRecord, raw_lines
from console.screens.deciding import meant_to_land
from console.screens.narrowing import NarrowingRoom
from console.widgets.lines import LineView

if TYPE_CHECKING:
    from core.desk.review import Label, Shown

#: Seconds the cursor rests before its preview is computed.
REST = 0.08
#: Seconds that a proposal which came under the cursor by itself is on screen before it is decided.
LOOK = 0.6
#: What decides a row or changes it, and what the key does when it is pressed again.
_DECIDING = {
    "approve": "{review.approve} again approves it",
    "reject": "{review.reject} again refuses it",
    "note('approve')": "{review.note.approve} again approves it",
    "note('reject')": "{review.note.reject} again refuses it",
    "edit": "{review.edit} again edits it",
    "convert": "{review.convert} again converts it",
    "snooze": "{review.snooze} again puts it off",
    "promote_as": "{review.promote_as} again promotes it",
}
#: What the preview shows of several marked rows, in place of a row's key.
FORECAST = "forecast"


@dataclass(frozen=True)
class _How:
    """What a preview is drawn by, beside itself."""

    width: int
    split: bool | None
    folded: bool


class PreviewText(LineView):
    """A text whose ``n`` and ``N`` walk its own marks, and lead nowhere else if it has none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.close", "back", id="review.close")
    ]

    @dataclass
    class NoMark(Message):
        """There is no mark to go to; ``further``: none but the one that was gone to."""

        further: bool

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return True if action == "hit" else super().check_action(action, parameters)

    def action_hit(self, step: int) -> None:
        before = self._stops.current
        super().action_hit(step)
        if self._stops.current == before:
            self.post_message(self.NoMark(before is not None))


class PreviewingRoom(NarrowingRoom):
    """What a decision would do stands beside the queue before it is made."""

    def __init__(self) -> None:
        super().__init__()
        self._shown_key = ""
        self._drawing: Callable[[_How], Sequence[Line]] = partial(_sentence, "Reading the home…")
        self._folded = True
        self._resting: Timer | None = None
        #: The row that came under the cursor by itself, and since when its preview is on screen.
        self._came: str | None = None
        self._since: float | None = None

    @property
    def preview(self) -> LineView:
        return self.query_one("#preview", LineView)

    def rest(self) -> None:
        """Compute the preview once the cursor has rested a moment."""
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, self._look)

    # -- what was not looked at ------------------------------------------------------------

    def takes(self, action: str) -> bool:
        """The key that decided one row decides no other one before the person could look at it."""
        super().takes(action)
        if action not in _DECIDING:
            return True
        if self.queue.marked:
            # Once these are decided the row at the cursor is what the next key decides.
            self.came_by_itself()
            return True
        since, here = self._since, self.queue.cursor_key
        looked = since is not None and self.signoff.ticks() - since >= LOOK
        if here is None or here != self._came or looked:
            return True
        self.flash(keyed(f"This is the next proposal; {_DECIDING[action]}"), ink.WARNING)
        return False

    def narrow(self, line: str) -> None:
        super().narrow(line)
        # Whatever is at the cursor now, the person's own words brought it there.
        self._came = None

    def came_by_itself(self) -> None:
        """The person did not choose the row at the cursor: it is looked at from now on."""
        self._came, self._since = self.queue.cursor_key, None

    def moved(self) -> None:
        """The cursor is on another row: the person's own choice, unless it came by itself."""
        if self.queue.cursor_key != self._came:
            self._came = None

    def _is_seen(self) -> None:
        if self._since is None:
            self._since = self.signoff.ticks()

    # -- the plan of the row, or what the marked ones do -----------------------------------

    def _look(self) -> None:
        item = self._item()
        if item is None or self.signoff.opened is None or self._foresee():
            return
        if item.broken or item.fate == "gone":
            self._show_undecidable(item)
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
        self._is_seen()
        self.refresh_bindings()

    def _show_undecidable(self, item: QueueItem) -> None:
        """What is known of a row that has no plan: why, and the beginning of what stands there."""
        opened = self.signoff.opened
        if not item.broken or item.fate == "gone" or opened is None:
            self._say(f"{item.id}: {item.note or item.summary}")
            return

        def work() -> tuple[str, RawRecord]:
            from console.screens.review_rows import raw_of
            from core.desk.raw import raw

            return item.key, raw_of(item, raw(opened, item.key))

        self.start_job("preview", work, self._raw_read, self._not_previewed)

    def _raw_read(self, result: tuple[str, RawRecord]) -> None:
        key, found = result
        if key != self.queue.cursor_key or self._foretold():
            return
        same, self._shown_key = self._shown_key == key, key
        self._shown, self._drawing = None, partial(_draw_raw, found)
        self._draw_preview(keep=same)
        self._is_seen()
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
        self._shown, self._drawing = None, partial(_sentence, with_keys(sentence))
        self._shown_key = ""
        self._draw_preview(keep=False)
        self._is_seen()
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

    def on_preview_text_no_mark(self, message: PreviewText.NoMark) -> None:
        message.stop()
        word = "no further" if message.further else "no"
        on = keyed("{review.step.1} is the proposal below")
        self.flash(f"There is {word} mark in this text; {on}")

    # -- looking closer --------------------------------------------------------------------

    def action_conversation(self) -> None:
        shown = self._shown
        origin = shown.origin if shown is not None else None
        if shown is not None and origin is not None and origin.session_id is not None:
            name = shown.proposal.id
            self.signoff.show_message(origin.session_id, origin.message_id, name)

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


def _sentence(sentence: str, how: _How) -> Sequence[Line]:
    return [Line(piece) for piece in wrapped(ink.block(sentence), how.width)]


def _draw_forecast(found: Foreseen, how: _How) -> Sequence[Line]:
    return foreseen_lines(found, how.width)


def _draw_raw(found: RawRecord, how: _How) -> Sequence[Line]:
    return raw_lines(found, how.width, folded=how.folded)


def _draw(preview: Preview, how: _How) -> Sequence[Line]:
    return preview_lines(preview, how.width, split=how.split, folded=how.folded)
