"""The lists of the knowledge mode: projects, the notes or pieces of one, an answer; a filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from console.keymap import keyed
from console.places import short
from console.render import ink
from console.render.knowledge import (
    LAYERS,
    SHARED,
    KnowledgeItem,
    ProjectItem,
    node_row,
    project_row,
)
from console.screens import knowledge_reading as reading
from console.screens.browser import Browser
from console.screens.filtered import Filtered
from console.screens.knowledge_reading import Place
from console.screens.knowledge_rows import EVERYTHING, meant, parse
from console.widgets.filterline import FilterLine
from console.widgets.lines import LineView
from console.widgets.rows import RowList, RowState

if TYPE_CHECKING:
    from core.desk.knowledge_board import Overview

READING = "Reading the notes…"
_NO_NOTE = (
    "No note of it is kept; {}{{knowledge.layer}} shows what was taken in of its wiki and code."
)
_NO_PIECE = (
    "Nothing was taken in. `signoff knowledge ingest-{} DIR` does it, {{knowledge.layer}} goes on."
)
_NO_HIT = (
    "Nothing here says that. The search was by {}; {{knowledge.close}} goes back to the notes."
)
_NO_ROW = "No row is shown: the filter leaves all out. {knowledge.close} takes it off."
_NO_RECENT = (
    f"No row is shown: the filter leaves out all of the newest {reading.LIMIT:,}."
    " {knowledge.close} takes it off, {knowledge.search} asks older ones too."
)
#: Cells of a title.
TITLE = 64


class KnowledgeLists(Filtered, Browser):
    """Both lists keep their cursor; one of them is shown."""

    TITLES = ("Knowledge", "Project")

    def __init__(self) -> None:
        super().__init__()
        self._sentence = READING
        self._seen: Overview | None = None
        self._place = Place()
        self._projects: dict[str, ProjectItem] = {}
        self._items: dict[str, KnowledgeItem] = {}
        self._total = 0
        self._wanted = EVERYTHING
        #: The row the cursor goes to once it is listed.
        self._follow = ""

    def panes(self) -> Iterable[Widget]:
        line = FilterLine("status:live kind:gotcha words")
        projects = RowList(_paint_project, marks=False, id="projects")
        projects.border_title = Content(self.TITLES[0])
        nodes = RowList(_paint_node, marks=False, id="rows")
        nodes.display = False
        box = Vertical(line, projects, nodes, id="shelf")
        box.set_classes("list boxed")
        box.border_title = Content(self.TITLES[0])
        detail = LineView(id="detail", classes="pane detail")
        detail.border_title = Content(self.TITLES[1])
        return (box, detail)

    @property
    def rows(self) -> RowList[Any]:
        inside = bool(self._place.project)
        return self.query_one("#rows" if inside else "#projects", RowList)

    @property
    def item(self) -> KnowledgeItem | None:
        """The note or piece at the cursor."""
        inside = self._place.project
        return self._items.get(self.rows.cursor_key or "") if inside else None

    @property
    def project(self) -> str:
        """The project on screen, or at the cursor; ``""`` while there is none."""
        return self._place.project or self.rows.cursor_key or ""

    # -- lists -----------------------------------------------------------------------------

    def go(self, place: Place, *, read: bool = True) -> None:
        """Show another place; it is read again."""
        inside, self._place = self.rows.has_focus, place
        self._items, self._total = {}, 0
        self.query_one("#projects").display = not place.project
        self.query_one("#rows").display = bool(place.project)
        if inside:
            self.rows.focus()
        if read:
            self.query_one("#rows", RowList).set_items((), news=False)
            self.show_titles()
            self.say(READING)
            self.reload()
        self.refresh_bindings()

    def show_rows(self, *, news: bool = True) -> None:
        """List what was read; cursors stay on their rows."""
        projects = list(self._projects.values())
        self.query_one("#projects", RowList).set_items(projects, news=news)
        items = [item for item in self._items.values() if meant(item, self._wanted)]
        self.query_one("#rows", RowList).set_items(items, news=news)
        if self._follow and self.rows.move_to(self._follow):
            self._follow = ""
        self.show_titles()
        nothing = not projects or (bool(self._place.project) and not self._items)
        # The frame is the box's: this is the title of what is said in the list's place.
        self.rows.border_title = self.query_one("#shelf").border_title if projects else "Knowledge"
        self.show_empty(nothing, self.rows, self.detail)
        self._title_text()
        if not self.rows.items:
            self.say(self._why_none())
        self.refresh_bindings()

    def _why_none(self) -> str:
        place = self._place
        if not self._projects:
            return self._why_empty()
        if self._items:
            return keyed(_NO_ROW if len(self._items) == self._total else _NO_RECENT)
        if place.answer is not None:
            return keyed(_NO_HIT.format(reading.by(place.answer)))
        if place.layer != "memory":
            return keyed(_NO_PIECE.format(place.layer))
        learns = self._seen is not None and not self._seen.limits.learning
        return keyed(_NO_NOTE.format("{knowledge.learn} keeps one, " if learns else ""))

    def _why_empty(self) -> str:
        seen = self._seen
        if seen is None:
            return READING
        where = short(str(seen.folder))
        state = "holds none" if seen.there else "is not there"
        step = keyed("{knowledge.learn} keeps the first one.")
        step = f"{seen.limits.learning}." if seen.limits.learning else step
        return (
            f"No notes of projects are kept yet: {where} {state}.\n\nWhat agents learn about your"
            " projects appears here, with what took its place, beside what was taken in of wikis"
            f" and code.\n\n{step}\n`signoff knowledge ingest-wiki DIR` and `ingest-code DIR` take"
            " pages and code in. HERMES_RAG_STORE names another store."
        )

    def show_titles(self) -> None:
        """What the list holds, and what stands beside it."""
        box, place = self.query_one("#shelf"), self._place
        shown = len(self.rows.items)
        new = f"{self.rows.unseen:,} new" if self.rows.unseen else ""
        if not place.project:
            title = f"Projects ({shown:,})"
        elif place.answer is not None:
            query = place.answer.recalled.query
            title = f"{self.name_of(place.project)}: {shown:,} by {reading.by(place.answer)}"
            title += f" for “{query}”"
            new = "  ".join(filter(None, (new, reading.asides(place.answer))))
        else:
            word = LAYERS[place.layer][1]
            count = f"{shown:,}" if shown == self._total else f"{shown:,} of {self._total:,}"
            title = f"{self.name_of(place.project)}: {word} ({count})"
        if self._items and not shown:
            new = "the filter leaves all out"
        box.border_title = ink.cut(title, TITLE)
        box.border_subtitle = ink.cut(new, TITLE)
        self._title_text()

    def _title_text(self) -> None:
        """The text is called after what it shows; one in the list's place has the list's title."""
        place = self._place
        kind = "Project" if not place.project else "Note" if place.layer == "memory" else "Piece"
        title = Content(kind if place.answer is None else "Hit")
        empty = self.has_class("-empty")
        self.detail.border_title = self.rows.border_title if empty else title

    def name_of(self, project: str) -> str:
        """A project as it is called on screen."""
        item = self._projects.get(project)
        return SHARED if item is not None and item.shared else project

    def on_row_list_unseen_changed(self, message: RowList.UnseenChanged) -> None:
        message.stop()
        self.show_titles()

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        if message.rows is self.rows:
            super().on_row_list_highlighted(message)
        message.stop()

    def narrow(self, line: str) -> None:
        self._wanted = parse(line)
        self.show_rows(news=False)
        self.draw(keep=True)

    # -- in and out ------------------------------------------------------------------------

    def action_open(self) -> None:
        if self._place.project:
            if self.item is not None:
                super().action_open()
        elif (project := self.rows.cursor_key) is not None:
            self.go(Place(project))

    def action_close(self) -> None:
        place = self._place
        if not self.has_class("-empty") and (self.has_class("-inside") or self.detail.has_focus):
            super().action_close()
        elif self.filter.display:
            self.end_filter()
        elif place.answer is not None:
            self.go(replace(place, answer=None))
        elif place.project:
            self.go(Place())


def _paint_project(item: ProjectItem, state: RowState) -> Sequence[Content]:
    return project_row(item, state.width)


def _paint_node(item: KnowledgeItem, state: RowState) -> Sequence[Content]:
    return node_row(item, state.width)
