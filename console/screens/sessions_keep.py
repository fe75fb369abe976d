"""Keeping what was found: links and commands to copy, exports, bookmarks, saved views."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.content import Content

from console.keymap import keyed
from console.places import short
from console.render import ink
from console.render.line import Line, wrapped
from console.screens.choose import Choose
from console.screens.note import NOTE, NoteScreen
from console.screens.sessions_family import BelongingRoom
from console.screens.sessions_read import Target
from console.screens.sheet import Sheet
from core import text

if TYPE_CHECKING:
    from console.screens.sessions_conversation import Conversation
    from core.desk.bookmarks import Bookmark, Kept
    from core.desk.exporting import Exported

#: Formats of an export as they are offered.
FORMATS = {
    "jsonl": "JSON lines, every column",
    "md": "Markdown",
    "qmd": "Quarto Markdown",
    "html": "one HTML page",
}
_HIDDEN = ", secrets hidden"
_REST = "; the rest is summarised or undone, and `signoff export --all-rows` adds it"
#: The kind of home whose conversations its agent can go on with.
HERMES = "hermes"


#: Handed back in place of a note: the bookmark is not wanted any more.
AWAY = object()


class BookmarkNote(NoteScreen):
    """The note of a bookmark that is there, to be changed; or ``AWAY``."""

    BINDINGS: ClassVar = [("ctrl+t", "take_away", "take away")]

    def __init__(self, note: str) -> None:
        does = "keeps it, ctrl+t takes it away"
        note = text.one_line(note, NOTE)
        super().__init__("The note of this bookmark", does, "no note", value=note)

    def action_take_away(self) -> None:
        """The bookmark goes, whatever is typed."""
        self.dismiss(AWAY)


class KeepingRoom(BelongingRoom):
    """Keys that keep a message, a conversation or a search."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: Kept | None = None

    # -- copying ---------------------------------------------------------------------------

    def links(self) -> list[tuple[str, str]]:
        """What ``Y`` offers of the conversation: words for it, and the text."""
        opened, part = self.signoff.opened, self.part_here()
        if opened is None or self._read is None:
            return []
        profile = opened.found.profile
        links = [("the link", f"@session:{profile}/{part}")]
        if self.is_hermes:
            named = "" if profile in ("", "default") else f" --profile {profile}"
            links.append(("the command to go on with it", f"hermes{named} --resume {part}"))
        return [*links, ("its id", part)]

    @property
    def is_hermes(self) -> bool:
        """Whether the open home is one of a Hermes Agent."""
        opened = self.signoff.opened
        return opened is not None and str(opened.found.kind) == HERMES

    def action_copy_menu(self) -> None:
        links = self.links()
        words = [f"{what}: {text}" for what, text in links]

        def take(chosen: int | None) -> None:
            if chosen is None:
                return
            if chosen == len(links):
                self.action_copy()
            else:
                what, text = links[chosen]
                self.put_into_clipboard(text, what)

        self.app.push_screen(Choose("Copy", [*words, "the text of this message"]), take)

    # -- exports ---------------------------------------------------------------------------

    def action_export(self) -> None:
        choices = [(form, hidden) for form in FORMATS for hidden in (False, True)]
        words = [f"{FORMATS[form]}{_HIDDEN if hidden else ''}" for form, hidden in choices]

        def chosen(place: int | None) -> None:
            if place is not None:
                here = f"{short(str(Path.cwd()))}, where you are"
                write = partial(self._export, self._read, *choices[place])
                ask = NoteScreen("Export into which folder", "exports", here, write)
                self.app.push_screen(ask, partial(self._exported, choices[place][1]))

        self.app.push_screen(Choose("Export this conversation as", words), chosen)

    def _export(
        self, read: Conversation | None, form: str, redact: bool, folder: str
    ) -> tuple[Exported, ...] | None:
        from core.desk.exporting import Wanted, export
        from core.recall.export import Format

        opened = self.signoff.opened
        if read is None or opened is None:
            return None
        place = Path(folder.strip() or ".").expanduser()
        wanted = Wanted((read.session.id,), Format(form), redact, chain=len(read.parts) > 1)
        return export(opened, wanted, place)

    def _exported(self, redact: bool, done: tuple[Exported, ...] | None) -> None:
        if not done:
            return
        self.flash(f"Exported {done[0].count} to {done[0].path}", ink.GOOD)

        def draw(width: int) -> list[Line]:
            return export_lines(done, redact, width)

        self.app.push_screen(Sheet("Exported", draw))

    # -- bookmarks -------------------------------------------------------------------------

    def keep(self, change: Callable[[], Kept], said: str) -> None:
        """Change bookmarks or views off the event loop, and say what became of it."""

        def done(kept: Kept) -> None:
            self._took(kept)
            if said:
                self.flash(said, ink.GOOD)

        self.start_job("keep", change, done, self._not_read, every=True)

    def _took(self, kept: Kept) -> None:
        self._kept = kept
        if kept.trouble:
            self.flash(kept.trouble, ink.WARNING)
        self._show_place()

    def read_kept(self) -> None:
        """Read bookmarks and saved views."""
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> Kept:
            from core.desk.bookmarks import bookmarks

            return bookmarks(opened).read()

        self.start_job("kept", work, self._took, self._not_read)

    def _bookmark(self) -> Bookmark | None:
        """The bookmark of the message at the cursor."""
        part, key = self.part_here(), self.message_id
        kept = self._kept.bookmarks if self._kept is not None else ()
        return next((b for b in kept if (b.session_id, b.message_id) == (part, key)), None)

    def remarks(self) -> list[str]:
        mark = self._bookmark()
        return [] if mark is None else [f"bookmarked{f': {mark.note}' if mark.note else ''}"]

    def action_bookmark(self) -> None:
        part, key, opened = self.part_here(), self.message_id, self.signoff.opened
        if opened is None or not part or key is None:
            return

        def note(said: Any) -> None:
            if said is None:
                return

            def change() -> Kept:
                from core.desk.bookmarks import bookmarks

                kept = bookmarks(opened)
                if said is AWAY:
                    return kept.remove(part, key, opened.clock())
                return kept.add(part, key, said.strip(), opened.clock())

            ways = "{sessions.bookmarks} lists them, {sessions.bookmark} changes it"
            done = "The bookmark is taken away" if said is AWAY else f"Bookmarked; {ways}"
            self.keep(change, keyed(done))

        mark = self._bookmark()
        if mark is None:
            ask = NoteScreen("Bookmark this message", "keeps it", "a note, or nothing")
        else:
            ask = BookmarkNote(mark.note)
        self.app.push_screen(ask, note)

    def action_bookmarks(self) -> None:
        opened = self.signoff.opened
        kept = self._kept.bookmarks if self._kept is not None else ()
        if not kept or opened is None:
            makes = keyed("{sessions.bookmark} on a message makes one")
            self.flash(f"There is no bookmark yet; {makes}")
            return

        def work() -> dict[str, str]:
            from core.desk.past import names_of

            return names_of(opened, sorted({mark.session_id for mark in kept}))

        self.start_job("sheet", work, partial(self._list_bookmarks, kept), self._not_read)

    def _list_bookmarks(self, kept: tuple[Bookmark, ...], names: dict[str, str]) -> None:
        words = [
            f"{mark.at:%Y-%m-%d}  {mark.note or 'no note'}  in "
            f"{names.get(mark.session_id, f'{mark.session_id}, which is gone')}"
            for mark in kept
        ]

        def go(chosen: int | None) -> None:
            if chosen is not None:
                self.enter(Target(kept[chosen].session_id, kept[chosen].message_id))

        self.app.push_screen(Choose("Bookmarks", words), go)

    # -- saved views -----------------------------------------------------------------------

    def action_save_view(self) -> None:
        opened, query = self.signoff.opened, self._line

        if opened is None:
            return

        def save(name: str) -> Kept:
            from core.desk.bookmarks import bookmarks

            return bookmarks(opened).save_view(name, query, opened.clock())

        def saved(kept: Kept | None) -> None:
            if kept is not None:
                self._took(kept)
                self.flash(keyed("Saved; {sessions.views} lists the saved searches"), ink.GOOD)

        ask = NoteScreen("Save this search under a name", "saves it", "a name", save)
        self.app.push_screen(ask, saved)

    def action_views(self) -> None:
        views = self._kept.views if self._kept is not None else ()
        if not views:
            saves = keyed("{sessions.save_view} saves the one on screen")
            self.flash(f"No search is saved yet; {saves}")
            return
        words = [f"{view.name}: {view.query}" for view in views]

        def take(chosen: int | None) -> None:
            if chosen is None:
                return
            if chosen == len(views):
                self._forget_view([view.name for view in views])
                return
            self.bar.display = True
            self.bar.put(views[chosen].query, tell=False)
            self.search(views[chosen].query)
            self.hits.focus()

        self.app.push_screen(Choose("Saved searches", [*words, "forget one of these…"]), take)

    def _forget_view(self, names: list[str]) -> None:
        opened = self.signoff.opened

        def forget(chosen: int | None) -> None:
            if chosen is None or opened is None:
                return

            def change() -> Kept:
                from core.desk.bookmarks import bookmarks

                return bookmarks(opened).remove_view(names[chosen], opened.clock())

            self.keep(change, "Forgotten")

        self.app.push_screen(Choose("Forget which", names), forget)


def export_lines(done: tuple[Exported, ...], redact: bool, width: int) -> list[Line]:
    """Where each file is, what is in it, and its check sum."""
    lines: list[Line] = []
    for each in done:
        facts = [
            ("file", str(each.path)),
            ("messages", f"{each.count}{_REST if each.partly else ''}"),
            ("sha256", each.sha256),
        ]
        if len(each.lineage) > 1:
            facts.append(("parts", ", ".join(each.lineage)))
        if redact:
            hidden = [f"{count:,} {kind}" for kind, count in sorted(each.redacted.items())]
            found = ", ".join(hidden) or "nothing that looks like a secret"
            facts.append(("hidden", f"{found}; others may be left, read it first"))
        for label, said in facts:
            pieces = wrapped(ink.block(said), width, first=f"{label:<9} ", rest=" " * 10)
            lines += [Line(piece) for piece in pieces]
        lines.append(Line(Content("")))
    return lines[:-1]
