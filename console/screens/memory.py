"""Memory: what the agent carries into every prompt, and a person's hand on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from console.keymap import back_again, keyed
from console.render import ink
from console.render.memory import MemoryItem
from console.render.planned import planned_lines
from console.screens import editor
from console.screens.confirm import Confirm
from console.screens.memory_lists import Left, MemoryLists
from console.screens.memory_rows import key_of
from console.screens.room import bindings_of
from core import text as safely

if TYPE_CHECKING:
    from core.conversations import Hit
    from core.desk.opening import Opened
    from core.model import Finding, Receipt
    from core.plan import Plan

#: Actions on one entry, with what they do to it in words.
_ON_ENTRY = {"copy": "copy", "forget": "forget", "edit": "edit", "up": "move", "down": "move"}
_WRITING = (*_ON_ENTRY, "add", "normalise")
#: Characters of a forgotten entry that name it.
_NAMED = 48


class MemoryScreen(MemoryLists):
    """A person's hand on the entries: forgotten, changed, added, moved, mended."""

    MODE = "memory"
    AREAS = frozenset({"memory"})
    BINDINGS: ClassVar = bindings_of("memory")

    def __init__(self) -> None:
        super().__init__()
        #: Texts that could not be written, by row: the editor opens them again.
        self._drafts: dict[str, str] = {}

    # -- what works ------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # Nobody writes into a copy: the footer does not offer it.
        if self._comparing and action in _WRITING:
            return False
        return super().check_action(action, parameters)

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
            self._left = Left(title, findings, gone, follow) if findings else None
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
