"""The table of skills and, on its other side, the archive: read, sorted, filtered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.keymap import keyed
from console.render import ink
from console.render.skills import (
    ARCHIVE_SORTS,
    SKILL_SORTS,
    ArchiveItem,
    SkillItem,
    archive_row,
    heads,
    skill_row,
)
from console.render.skills_curator import curator_lines
from console.screens.browser import Browser
from console.screens.filtered import Filtered
from console.screens.skills_rows import (
    EVERYTHING,
    archive_items,
    in_place,
    meant,
    parse,
    skill_items,
    sorted_archive,
    sorted_skills,
)
from console.screens.skills_views import curator_of
from console.widgets.filterline import FilterLine
from console.widgets.heads import Heads
from console.widgets.lines import LineView
from console.widgets.rows import RowList, RowState

if TYPE_CHECKING:
    from core.desk.skill_table import Archived, Board, Row
    from core.homes.hermes.curator.borrowed import Borrowed

_EMPTY = (
    "This home has no skills yet.\n\nWhat the agent teaches itself appears here, with when it would"
    " be aged out and why."
)
_NO_ARCHIVE = (
    "The archive is empty: nothing was archived yet. {skills.other_side} goes back to the skills."
)
_NONE = "No row is shown: the filter leaves all out. {skills.close} takes it off."


class SkillTable(Filtered, Browser):
    """Both lists keep their own cursor, marks and order; one of them is shown."""

    TITLES = ("Skills", "Skill")

    def __init__(self) -> None:
        super().__init__()
        self._board: Board | None = None
        self._rows: dict[str, Row] = {}
        self._packages: dict[str, Archived] = {}
        self._borrowed: dict[str, Borrowed] = {}
        self._items: list[SkillItem] = []
        self._archive: list[ArchiveItem] = []
        self._archived = False
        self._sorts = {False: SKILL_SORTS[0], True: ARCHIVE_SORTS[0]}
        self._backwards = {False: False, True: False}
        self._wanted = EVERYTHING
        self._sorts_anew = False

    def panes(self) -> Iterable[Widget]:
        line = FilterLine("state:stale origin:agent is:pinned words")
        skills = RowList(_paint_skill, height=1, id="rows")
        # It has no frame of its own: this is the title of what is said in its place.
        skills.border_title = Content(self.TITLES[0])
        archive = RowList(_paint_package, height=1, marks=False, id="archive")
        archive.display = False
        curator = Static(Content(""), id="curator", markup=False)
        box = Vertical(curator, line, Heads(id="heads"), skills, archive, id="skills")
        box.set_classes("list boxed")
        detail = LineView(id="detail", classes="pane detail")
        detail.border_title = Content(self.TITLES[1])
        return (box, detail)

    @property
    def rows(self) -> RowList[Any]:
        return self.query_one("#archive" if self._archived else "#rows", RowList)

    # -- reading ---------------------------------------------------------------------------

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[Board, list[SkillItem], list[ArchiveItem]]:
            from core.desk.skill_table import board

            found = board(opened)
            return found, skill_items(found), archive_items(found)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, read: tuple[Board, list[SkillItem], list[ArchiveItem]]) -> None:
        self._board, self._items, self._archive = read
        self._rows = {row.skill.folder: row for row in self._board.rows}
        self._packages = {each.package.path: each for each in self._board.archived}
        self._borrowed = {each.folder: each for each in self._board.borrowed}
        self.forget_details()
        self.query_one("#curator", Static).update(curator_lines(curator_of(self._board)))
        # What was decided stays where it is until the person sorts: the next one is below it.
        self.show_rows(news=True, stay=not self._sorts_anew)
        self._sorts_anew = False
        self.draw(keep=True)

    def clear_gone(self) -> None:
        self._sorts_anew = True

    def forget_details(self) -> None:
        """What was read of single skills may be old now."""

    def show_rows(self, *, news: bool = False, stay: bool = False) -> None:
        """Draw both lists in their order, cursors on their rows; those that ``stay`` keep theirs.

        ``news``: what was not there before is counted as new.
        """
        lists = self.query_one("#rows", RowList), self.query_one("#archive", RowList)
        held = [[item.key for item in each.items] if stay else [] for each in lists]
        skills = [item for item in self._items if meant(item, self._wanted)]
        packages = [item for item in self._archive if self._wanted.text in item.words]
        skills = sorted_skills(skills, self._sorts[False], self._backwards[False])
        packages = sorted_archive(packages, self._sorts[True], self._backwards[True])
        lists[0].set_items(in_place(skills, held[0]), news=news)
        lists[1].set_items(in_place(packages, held[1]), news=news)
        self._show_heads()
        nothing = not (self._archive if self._archived else self._items)
        self.show_empty(nothing and not self._archived, self.rows, self.detail)
        if not self.rows.items:
            self.say(self._why_empty() if nothing else keyed(_NONE))
        self.refresh_bindings()

    def _why_empty(self) -> str:
        if self._archived:
            return keyed(_NO_ARCHIVE)
        archive = keyed(f"\n\n{{skills.other_side}} shows the archive ({len(self._archive):,}).")
        return _EMPTY + archive if self._archive else _EMPTY

    def _show_heads(self) -> None:
        here = self._archived
        head = partial(heads, here, self._sorts[here], self._backwards[here])
        self.query_one("#heads", Heads).say(head)
        skills = _count("Skills", self.query_one("#rows", RowList), self._items)
        archive = _count("Archive", self.query_one("#archive", RowList), self._archive)
        other = keyed("{skills.other_side} ")
        titles = (other + skills, archive) if here else (skills, other + archive)
        box = self.query_one("#skills")
        box.border_title = Content.assemble(
            (titles[0], ink.LABEL if here else ""), "  ", (titles[1], "" if here else ink.LABEL)
        )
        self.show_unseen()

    def show_unseen(self) -> None:
        """Below the list: what is marked and what arrived out of sight."""
        rows, parts = self.rows, []
        if marked := len(rows.marked):
            parts.append(f"{marked} marked")
        if unseen := rows.unseen:
            parts.append(f"{unseen} new")
        self.query_one("#skills").border_subtitle = Content("  ".join(parts))

    def on_row_list_marks_changed(self, message: RowList.MarksChanged) -> None:
        message.stop()
        self.show_unseen()
        self.refresh_bindings()

    def on_row_list_unseen_changed(self, message: RowList.UnseenChanged) -> None:
        message.stop()
        self.show_unseen()

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        if message.rows is self.rows:
            super().on_row_list_highlighted(message)
        message.stop()

    # -- order and filter ------------------------------------------------------------------

    def action_other_side(self) -> None:
        inside = self.rows.has_focus
        self._archived = not self._archived
        self.query_one("#rows").display = not self._archived
        self.query_one("#archive").display = self._archived
        self.detail.border_title = Content("Package" if self._archived else "Skill")
        self.show_rows(stay=True)
        if inside:
            self.rows.focus()
        self.draw(keep=False)

    def action_sort(self) -> None:
        sorts = ARCHIVE_SORTS if self._archived else SKILL_SORTS
        here = sorts.index(self._sorts[self._archived])
        self._sorts[self._archived] = sorts[(here + 1) % len(sorts)]
        self._backwards[self._archived] = False
        self.show_rows()

    def action_backwards(self) -> None:
        self._backwards[self._archived] = not self._backwards[self._archived]
        self.show_rows()

    def narrow(self, line: str) -> None:
        self._wanted = parse(line)
        self.show_rows()
        self.draw(keep=True)

    def action_close(self) -> None:
        if self.has_class("-inside") or self.detail.has_focus:
            super().action_close()
        elif self.rows.marked:
            self.rows.clear_marks()
        elif self.filter.display:
            self.end_filter()
        elif self._archived:
            self.action_other_side()

    def action_next_due(self) -> None:
        """The next skill that the next run of the curator changes."""
        items = list(self.rows.items)
        here = next((n for n, i in enumerate(items) if i.key == self.rows.cursor_key), -1)
        around = items[here + 1 :] + items[: here + 1]
        found = next((item for item in around if _is_due(item)), None)
        if found is None:
            self.flash("The next run changes no skill that is shown")
        else:
            self.rows.move_to(found.key)


def _is_due(item: SkillItem | ArchiveItem) -> bool:
    return isinstance(item, SkillItem) and item.due <= 0


def _count(title: str, rows: RowList[Any], every: Sequence[object]) -> str:
    shown = len(rows.items)
    return (
        f"{title} ({shown:,})" if shown == len(every) else f"{title} ({shown:,} of {len(every):,})"
    )


def _paint_skill(item: SkillItem, state: RowState) -> Sequence[Content]:
    return skill_row(item, state.width)


def _paint_package(item: ArchiveItem, state: RowState) -> Sequence[Content]:
    return archive_row(item, state.width)
