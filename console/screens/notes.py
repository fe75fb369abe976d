"""Memory of a vak home: its agent's notes, and a person's hand on them after the fact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.events import ScreenResume

from console.ages import age
from console.keymap import back_again
from console.render import ink
from console.render.notes import NoteItem, note_lines, note_row
from console.render.planned import left_lines
from console.screens import editor
from console.screens.browser import Browser
from console.screens.choose import Choose
from console.screens.note import NoteScreen
from console.screens.room import bindings_of

if TYPE_CHECKING:
    from datetime import datetime

    from core.desk.notes import Listing, Store
    from core.desk.opening import Opened
    from core.model import Finding, Receipt
    from core.plan import Plan

_ON_NOTE = {"copy": "copy", "forget": "forget", "edit": "amend", "conversation": "look for"}
_MOVED = "The note changed since it was shown: look at it again."
#: What vak has no notion of, by the key that does it on a Hermes home.
NOT_IN_VAK = {
    "up": "Notes of vak stand in the order they were written: none is moved",
    "down": "Notes of vak stand in the order they were written: none is moved",
    "normalise": "vak takes any file of notes as it is: there is nothing to mend",
    "compare": "vak never refuses to edit its notes, so it keeps no copies",
    "fold": "vak never refuses to edit its notes, so it keeps no copies",
    "split": "vak never refuses to edit its notes, so it keeps no copies",
}


class NotesScreen(Browser):
    """The notes of every workspace, then those of the profile; the keys are the Memory mode's."""

    MODE = "memory"
    AREAS = frozenset({"notes"})
    BINDINGS: ClassVar = bindings_of("memory")
    TITLES = ("Notes", "Note")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, NoteItem] = {}
        #: What the last change left to know, and the row it is shown on once the list is read.
        self._left: tuple[tuple[Finding, ...], str | None] = ((), "")
        #: A file whose last note the cursor goes to: one was added there.
        self._added = ""
        #: Texts that could not be written, by row: the editor opens them again.
        self._drafts: dict[str, str] = {}

    def paint_row(self, item: NoteItem, width: int) -> Sequence[Content]:
        return note_row(item, width)

    # -- reading ---------------------------------------------------------------------------

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[Listing, tuple[Store, ...]]:
            from core.desk.notes import listing, stores

            return listing(opened), stores(opened)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, read: tuple[Listing, tuple[Store, ...]]) -> None:
        items = _items(*read, self.signoff.now())
        self._items = {item.key: item for item in items}
        self.rows.set_items(items)
        if self._added:
            there = [item.key for item in items if item.path == self._added and item.id]
            if there:
                self.rows.move_to(there[-1])
            self._added = ""
        if self._left[1] is None:
            self._left = (self._left[0], self.rows.cursor_key)
        count = sum(bool(item.id) for item in items)
        self.rows.border_title = Content(f"Notes ({count:,})")
        self._seek_note()
        self.draw(keep=True)
        self.refresh_bindings()

    def on_screen_resume(self, _event: ScreenResume) -> None:
        if self.signoff.sought:
            # The note may be newer than the list, or gone since.
            self.reload()

    def _seek_note(self) -> None:
        """Go to the note that another screen asked for."""
        sought, self.signoff.sought = self.signoff.sought, ""
        if not sought:
            return
        tier, _, name = sought.partition("/")
        for item in self._items.values():
            if item.id == name and (tier == "profile") is not bool(item.workspace):
                self.rows.move_to(item.key)
                return
        self.flash("The note is gone: its file was changed since", ink.WARNING)

    def draw(self, *, keep: bool) -> None:
        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            return
        findings, at = self._left
        lines = note_lines(item, self.detail_width)
        if findings and at == item.key:
            lines = (*left_lines("About what was done:", findings, self.detail_width), *lines)
        self.detail.set_lines(lines, keep=keep)

    # -- what works ------------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action in NOT_IN_VAK:
            return NOT_IN_VAK[action]
        if action not in (*_ON_NOTE, "add"):
            return None
        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            return "The home is not read yet"
        if item.problem:
            return f"{item.path} cannot be read: nothing is written to it until that is put right"
        if action in _ON_NOTE and not item.id:
            return f"There is no note to {_ON_NOTE[action]}"
        if action in ("forget", "edit") and item.twin:
            return "A note above it has the very same heading: the first of them goes first"
        if action == "conversation" and not item.session_id:
            return "The note names no session"
        return None

    def action_copy(self) -> None:
        if (item := self._chosen()) is not None:
            self.app.copy_to_clipboard(item.text)
            self.flash("Sent to the terminal's clipboard, as it is stored")

    def action_conversation(self) -> None:
        item, opened = self._chosen(), self.signoff.opened
        if item is None or opened is None or not item.session_id:
            return

        def work() -> bool:
            from core.desk.past import past

            return past(opened).session(item.session_id) is not None

        def found(there: bool) -> None:
            if there:
                self.signoff.show_message(item.session_id, None)
            else:
                self.flash(f"No session {item.session_id} is kept here")

        self.start_job("origin", work, found, self.job_failed)

    def _chosen(self) -> NoteItem | None:
        item = self._items.get(self.rows.cursor_key or "")
        return item if item is not None and item.id else None

    # -- writing ---------------------------------------------------------------------------

    def action_forget(self) -> None:
        item = self._chosen()
        if item is None:
            return

        def plan(opened: Opened) -> Plan:
            from core.desk.notes import forget_in

            return forget_in(opened, item.path, item.id)

        self._write(plan, item.key, shown=item.text)

    def action_edit(self) -> None:
        item = self._chosen()
        if item is None:
            return
        typed = editor.type_again(self, self._drafts, item.key, item.text)
        if typed is None:
            return

        def plan(opened: Opened) -> Plan:
            from core.desk.notes import amend_in

            return amend_in(opened, item.path, item.id, typed)

        self._write(plan, item.key, typed, shown=item.text)

    def action_add(self) -> None:
        from core.desk.notes import KINDS

        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            return

        def chosen(place: int | None) -> None:
            if place is None:
                return
            kind = KINDS[place]

            def tagged(tag: str | None) -> None:
                if tag is not None:
                    self._add(item, kind, tag.strip())

            ask = NoteScreen(f"A tag for the {kind}", "goes on to its text", "one word, or none")
            self.app.push_screen(ask, tagged)

        self.app.push_screen(Choose(f"Add to {item.path}", KINDS), chosen)

    def _add(self, item: NoteItem, kind: str, tag: str) -> None:
        draft = f"{item.path}+"
        if (typed := editor.type_again(self, self._drafts, draft, "")) is None:
            return

        def plan(opened: Opened) -> Plan:
            from core.desk.notes import add_to

            return add_to(opened, item.path, typed, kind=kind, tag=tag)

        self._write(plan, draft, typed, added=item.path)

    def _write(
        self,
        plan: Callable[[Opened], Plan],
        key: str,
        typed: str | None = None,
        *,
        shown: str | None = None,
        added: str = "",
    ) -> None:
        """Queue a change. ``typed`` is kept under ``key`` if it cannot be written.

        ``shown`` is the text the person saw: another note that has its id by now is left alone.
        """
        opened = self.signoff.opened
        if opened is None:
            return

        def task() -> Receipt:
            from core.desk.notes import carry_out
            from core.model import Receipt

            made = plan(opened)
            if shown is not None and any(pair.before != shown for pair in made.outcome.entries):
                return Receipt(made.subject, False, "moved", _MOVED)
            return carry_out(opened, made, again=partial(plan, opened) if added else None)

        self.signoff.write(task, partial(self._written, key, typed, added), key)

    def _written(
        self, key: str, typed: str | None, added: str, _key: str, receipt: Receipt
    ) -> None:
        if receipt.ok:
            self._drafts.pop(key, None)
            self._added = added
            self._left = (receipt.findings, None if receipt.findings else "")
        elif typed is not None:
            self._drafts[key] = typed
        if receipt.ok and receipt.journal is None:
            self.flash(f"= {receipt.message}", ink.LABEL)
        elif receipt.ok:
            self.flash(f"✓ {receipt.message} {back_again()}", ink.GOOD)
        else:
            again = "; try again in a moment" if receipt.category == "locked" else ""
            kept = " Your text is kept: the same key opens it again" if typed is not None else ""
            self.flash(f"✗ {receipt.message}{again}{kept}", ink.DANGER)
        self.signoff.tell(frozenset({"notes"}))


def _items(found: Listing, stores: Sequence[Store], now: datetime) -> list[NoteItem]:
    """Rows in the order of the files: notes, what cannot be read, and files without a note."""
    seen: dict[str, int] = {}
    items = []
    for note in found.notes:
        # Twins share an id: their place among them tells their rows apart.
        name = f"{note.path}#{note.id}"
        seen[name] = seen.get(name, 0) + 1
        key = name if seen[name] == 1 else f"{name}#{seen[name]}"
        items.append(
            NoteItem(
                key,
                note.path,
                note.id,
                note.workspace,
                note.kind,
                note.tag,
                age(note.at, now),
                note.ts,
                note.session_id,
                note.text,
                note.findings,
                twin=seen[name] > 1,
            )
        )
    reasons = dict(found.unreadable)
    filled = {note.path for note in found.notes}
    for store in stores:
        if store.path not in filled:
            reason = reasons.get(store.path, "")
            items.append(_bare(store, reason or "no note yet", problem=bool(reason)))
    return items


def _bare(store: Store, words: str, *, problem: bool) -> NoteItem:
    key = f"{store.path}#"
    place = store.workspace
    return NoteItem(key, store.path, "", place, "", "", "", "", "", words, problem=problem)
