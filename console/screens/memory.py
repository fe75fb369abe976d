"""Memory: what the agent carries into every prompt, entry by entry, and a person's hand on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from console.keymap import back_again, keyed
from console.render import ink
from console.render.copies import CopyItem, copy_lines, copy_row
from console.render.line import Line
from console.render.memory import MemoryItem, StoreInfo, memory_lines, memory_row
from console.render.planned import left_lines, planned_lines
from console.screens import editor
from console.screens.browser import Browser
from console.screens.confirm import Confirm
from console.screens.memory_rows import copy_items, entry_items, key_of, store_info
from console.screens.room import bindings_of
from core import text as safely

if TYPE_CHECKING:
    from core.conversations import Hit
    from core.desk.memories import Copy, Store
    from core.desk.opening import Opened
    from core.model import Change, Finding, Receipt
    from core.plan import Plan

#: Actions on one entry, with what they do to it in words.
_ON_ENTRY = {"copy": "copy", "forget": "forget", "edit": "edit", "up": "move", "down": "move"}
_WRITING = (*_ON_ENTRY, "add", "normalise")
#: Characters of a forgotten entry that name it.
_NAMED = 48


@dataclass(frozen=True, slots=True)
class _Left:
    """What the last change left to know, and the row it is shown on (``None``: not known yet).

    ``gone`` is the row of what was forgotten, empty for other changes.
    """

    title: str
    findings: tuple[Finding, ...]
    gone: str
    at: str | None


class MemoryScreen(Browser):
    """Both files, one after the other; or the agent's copies of them."""

    MODE = "memory"
    AREAS = frozenset({"memory"})
    BINDINGS: ClassVar = bindings_of("memory")
    TITLES = ("Memory", "Entry")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, MemoryItem] = {}
        self._copies: dict[str, CopyItem] = {}
        self._stores: dict[str, StoreInfo] = {}
        self._comparing = False
        self._at: str | None = None
        #: Where the cursor goes once the list is read again.
        self._follow: str | None = None
        self._left: _Left | None = None
        #: Rows that came with the last reading, and files that an undo put back since.
        self._came: frozenset[str] = frozenset()
        self._returning: frozenset[str] = frozenset()
        #: Texts that could not be written, by row: the editor opens them again.
        self._drafts: dict[str, str] = {}
        self._compared: tuple[CopyItem, str, Change | None] | None = None

    def paint_row(self, item: MemoryItem | CopyItem, width: int) -> Sequence[Content]:
        return copy_row(item, width) if isinstance(item, CopyItem) else memory_row(item, width)

    # -- reading ---------------------------------------------------------------------------

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[tuple[Store, ...], tuple[Copy, ...]]:
            from core.desk.memories import copies, stores

            return stores(opened), copies(opened)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, read: tuple[tuple[Store, ...], tuple[Copy, ...]]) -> None:
        stores, copies = read
        before = self._items.keys()
        self._items = {item.key: item for store in stores for item in entry_items(store)}
        self._copies = {item.key: item for item in copy_items(copies, self.signoff.now())}
        self._stores = {store.path: store_info(store, copies) for store in stores}
        self._compared = None
        self._came = frozenset(self._items.keys() - before) if before else frozenset()
        self._go_back_to(self._returning)
        self._returning = frozenset()
        self._fill()

    def brought_back(self, paths: frozenset[str]) -> None:
        """The cursor goes to the entry that an undo put back."""
        self._returning |= paths
        # The watcher may have been quicker than the reading that follows.
        if self._go_back_to(paths):
            self._fill()

    def _go_back_to(self, paths: frozenset[str]) -> bool:
        came = [
            key for key, item in self._items.items() if key in self._came and item.path in paths
        ]
        if came:
            self._follow = came[0]
        return bool(came)

    def _fill(self) -> None:
        """List the entries, or the copies; the cursor stays, or goes where the last change was."""
        self._comparing = self._comparing and bool(self._copies)
        if self._comparing:
            self.rows.set_items(list(self._copies.values()))
            title = f"The agent's copies ({len(self._copies)})"
        else:
            self.rows.set_items(list(self._items.values()))
            entries = sum(info.count for info in self._stores.values())
            title = f"Memory ({entries} {'entry' if entries == 1 else 'entries'})"
            if self._follow is not None and self.rows.move_to(self._follow):
                self._follow = None
            if self._left is not None and self._left.at is None:
                self._left = replace(self._left, at=self.rows.cursor_key)
        self.rows.border_title = Content(title)
        self.detail.border_title = Content("Difference" if self._comparing else "Entry")
        self.draw(keep=True)
        self.refresh_bindings()

    def draw(self, *, keep: bool) -> None:
        key = self.rows.cursor_key
        if key is None:
            return
        if self._comparing and key in self._copies:
            self._draw_copy(self._copies[key], keep)
        elif (item := self._items.get(key)) is not None:
            lines = memory_lines(item, self._stores[item.path], self.detail_width)
            self.detail.set_lines((*self._draw_left(key), *lines), keep=keep)

    def _draw_left(self, key: str) -> Sequence[Line]:
        left = self._left
        # What was forgotten may be back by now: then nothing of it "remains".
        if left is None or left.at != key or left.gone in self._items:
            return ()
        rule = Line(Content.styled("─" * self.detail_width, ink.LABEL))
        return (*left_lines(left.title, left.findings, self.detail_width), rule)

    def _draw_copy(self, item: CopyItem, keep: bool) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[CopyItem, str, Change | None]:
            return (item, *_difference(opened, item))

        if self._compared is not None and self._compared[0] == item:
            self._drawn(self._compared, keep)
        else:
            self.start_job(
                "detail", work, lambda made: self._drawn(made, False), self._not_compared
            )

    def _drawn(self, compared: tuple[CopyItem, str, Change | None], keep: bool) -> None:
        self._compared = compared
        if self._comparing:
            lines = copy_lines(
                *compared, self.detail_width, split=self.signoff.ui.split, folded=self._folded
            )
            self.detail.set_lines(lines, keep=keep)

    def _not_compared(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            self.flash(problem.message, ink.DANGER)
        else:
            self.job_failed(problem)

    # -- what works ------------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action == "compare" and not self._copies:
            return "The agent made no copies of these files: it never refused to edit one"
        if action in ("fold", "split") and not self._comparing:
            lists = keyed("{memory.compare} lists the copies")
            return f"Only the difference of a copy has this: {lists}"
        if action == "conversation" and self._chosen() is None:
            return "There is no entry to look for"
        if action not in _WRITING:
            return None
        if self._comparing:
            return keyed("These are copies: {memory.compare} goes back to the entries")
        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            return "The home is not read yet"
        store = self._stores[item.path]
        if store.problem:
            return f"{store.file} cannot be read: nothing is written to it until that is put right"
        if action in _ON_ENTRY and not item.index:
            return f"There is no entry to {_ON_ENTRY[action]}"
        if action == "up" and item.index == 1:
            return f"It is the first of {store.file}"
        if action == "down" and item.index == store.count:
            return f"It is the last of {store.file}"
        return None

    def action_compare(self) -> None:
        self._comparing = not self._comparing
        here, self._at = self._at, self.rows.cursor_key
        self._fill()
        if here is not None and self.rows.move_to(here):
            return
        self.rows.action_first()

    def action_fold(self) -> None:
        self._folded = not self._folded
        self.draw(keep=True)

    def action_split(self) -> None:
        self.signoff.toggle_split(self.detail_width)
        self.draw(keep=True)

    def action_close(self) -> None:
        if self._comparing and not self.has_class("-inside"):
            self.action_compare()
        else:
            super().action_close()

    def action_copy(self) -> None:
        if (item := self._chosen()) is not None:
            self.app.copy_to_clipboard(item.text)
            self.flash("Sent to the terminal's clipboard, as it is stored")

    def action_conversation(self) -> None:
        item, opened = self._chosen(), self.signoff.opened
        if item is None or opened is None:
            return

        def work() -> tuple[Hit, str] | None:
            from console.screens.sessions_past import where_said

            return where_said(opened, item.text)

        self.start_job("origin", work, self._to_conversation, self._not_compared)

    def _to_conversation(self, found: tuple[Hit, str] | None) -> None:
        if found is None:
            self.flash("No conversation that is kept says this")
        else:
            hit, words = found
            self.signoff.show_message(hit.session_id, hit.message_id, words)

    def _chosen(self) -> MemoryItem | None:
        item = self._items.get(self.rows.cursor_key or "")
        return item if item is not None and item.index else None

    # -- writing ---------------------------------------------------------------------------

    def action_forget(self) -> None:
        item = self._chosen()
        if item is None:
            return
        target = self._stores[item.path].target

        def plan(opened: Opened) -> Plan:
            from core.desk.remember import forget

            return forget(opened, item.text, target)

        self._write(plan, item.key)

    def action_edit(self) -> None:
        item = self._chosen()
        if item is None:
            return
        typed = editor.type_again(self, self._drafts, item.key, item.text)
        if typed is None:
            return
        store = self._stores[item.path]

        def plan(opened: Opened) -> Plan:
            from core.desk.remember import edit

            return edit(opened, store.target, item.text, typed)

        self._write(plan, item.key, typed, key_of(store.path, typed.strip()))

    def action_add(self) -> None:
        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            return
        store = self._stores[item.path]
        draft = f"{store.path}+"
        if (typed := editor.type_again(self, self._drafts, draft, "")) is None:
            return

        def plan(opened: Opened) -> Plan:
            from core.desk.remember import add

            return add(opened, store.target, typed)

        self._write(plan, draft, typed, key_of(store.path, typed.strip()))

    def action_up(self) -> None:
        self._move(-1)

    def action_down(self) -> None:
        self._move(1)

    def _move(self, step: int) -> None:
        item = self._chosen()
        if item is None:
            return
        target = self._stores[item.path].target

        def plan(opened: Opened) -> Plan:
            from core.desk.memories import stores
            from core.desk.remember import move

            # Where it stands by now: moves that were pressed before may still have been waiting.
            (store,) = stores(opened, target)
            here = next((e.index for e in store.entries if e.text == item.text), item.index)
            return move(opened, target, item.text, here + step)

        self._write(plan, item.key, follow=item.key)

    def action_normalise(self) -> None:
        item, opened = self._items.get(self.rows.cursor_key or ""), self.signoff.opened
        if item is None or opened is None:
            return
        target = self._stores[item.path].target

        def work() -> Plan:
            from core.desk.remember import normalise

            return normalise(opened, target)

        self.start_job("sheet", work, partial(self._ask_normalise, item), self.job_failed)

    def _ask_normalise(self, item: MemoryItem, plan: Plan) -> None:
        outcome = plan.outcome
        if not plan.changes:
            self.flash(outcome.message, ink.LABEL if outcome.lands else ink.DANGER)
            return
        title = f"Normalise {self._stores[item.path].file}"

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._write(lambda _opened: plan, item.key)

        self.app.push_screen(Confirm(title, "mends it", partial(planned_lines, outcome)), answered)

    def _write(
        self,
        plan: Callable[[Opened], Plan],
        key: str,
        typed: str | None = None,
        follow: str | None = None,
    ) -> None:
        """Queue a change. ``typed`` is kept under ``key`` if it cannot be written."""
        opened = self.signoff.opened
        if opened is None:
            return
        made: list[Plan] = []

        def task() -> Receipt:
            from core.desk.remember import carry_out

            made.append(plan(opened))
            receipt = carry_out(opened, made[0])
            written = receipt.ok and receipt.journal is not None
            return replace(receipt, findings=made[0].outcome.findings if written else ())

        def done(_key: str, receipt: Receipt) -> None:
            if receipt.ok:
                self._drafts.pop(key, None)
                self._follow = follow
            elif typed is not None:
                self._drafts[key] = typed
            findings = receipt.findings
            verb = made[0].verb if made else ""
            gone = key if verb == "forget" else ""
            title = _gone_title(key) if gone else "About what was written:"
            self._left = _Left(title, findings, gone, follow) if findings else None
            self._say(receipt, verb, findings, kept=typed is not None)
            self.signoff.tell(frozenset({"memory"}))

        self.signoff.write(task, done, key)

    def _say(self, receipt: Receipt, verb: str, findings: Sequence[Finding], *, kept: bool) -> None:
        if receipt.ok and receipt.journal is None:
            self.flash(f"= {receipt.message}", ink.LABEL)
        elif receipt.ok and verb == "forget":
            # The entry's words would push what remains off the line.
            remains = " ".join(found.message for found in findings if found.code == "remains")
            said = f"✓ Forgotten, {back_again()}. It remains: {remains}"
            self.flash(said, ink.GOOD)
        elif receipt.ok:
            self.flash(f"✓ {receipt.message} {back_again()}", ink.GOOD)
        else:
            again = "; try again in a moment" if receipt.category == "locked" else ""
            tail = " Your text is kept: the same key opens it again" if kept else ""
            self.flash(f"✗ {receipt.message}{again}{tail}", ink.DANGER)


def _gone_title(key: str) -> str:
    named = safely.one_line(key.partition("#")[2], _NAMED)
    return f"Forgotten: “{named}”. It is gone from the file, and remains elsewhere:"


def _difference(opened: Opened, item: CopyItem) -> tuple[str, Change | None]:
    """The path of the file a copy was made of, and what changed since, if anything did."""
    from core.desk.memories import compare
    from core.model import Change, Node, NodeKind

    found = compare(opened, item.file, item.target)
    if found.copy.same:
        return found.path, None
    then, now = (
        None if data is None else Node(NodeKind.FILE, data) for data in (found.then, found.now)
    )
    return found.path, Change(found.path, then, now)
