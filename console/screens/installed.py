"""Skills of a vak home, to read. What vak has no notion of is said, not hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from console.actions import actions_of
from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.markdown import markdown_lines
from console.screens.browser import Browser
from console.screens.room import bindings_of

if TYPE_CHECKING:
    from core.desk.installed import Installed

NO_SUCH = "vak has no pins, no archive and no curator: its skills never age, they stay as they are."
_READING = frozenset({"open", "close", "copy", "raw"})


class _Row:
    """A row of the list; its key is the skill's path."""

    def __init__(self, skill: Installed) -> None:
        self.key, self.skill = skill.path, skill


class InstalledScreen(Browser):
    """Read-only; the keys of the Skills mode that would change something say why they do not."""

    MODE = "skills"
    AREAS = frozenset({"skills"})
    BINDINGS: ClassVar = bindings_of("skills")
    TITLES = ("Skills", "Skill")

    def __init__(self) -> None:
        super().__init__()
        self._skills: dict[str, Installed] = {}
        self._raw = False

    def paint_row(self, item: _Row, width: int) -> Sequence[Content]:
        skill = item.skill
        said = f"! {skill.problem}" if skill.problem else skill.description
        style = ink.WARNING if skill.problem else ink.LABEL
        name = ink.line(skill.name, ink.TITLE).truncate(width, ellipsis=True)
        return (name, Content("  ") + ink.cut(said, max(1, width - 2), style))

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[Installed, ...]:
            from core.desk.installed import installed

            return installed(opened)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, found: tuple[Installed, ...]) -> None:
        self._skills = {skill.path: skill for skill in found}
        self.rows.set_items([_Row(skill) for skill in found])
        self.rows.border_title = Content(f"Skills ({len(found):,})")
        self.show_empty(not found, self.rows, self.detail)
        if not found:
            self.say(f"No skill is installed yet.\n\n{NO_SUCH}")
        self.draw(keep=True)
        self.refresh_bindings()

    def draw(self, *, keep: bool) -> None:
        skill = self._skills.get(self.rows.cursor_key or "")
        if skill is not None:
            lines = anchored(_lines(skill, self.detail_width, raw=self._raw))
            self.detail.set_lines(lines, keep=keep)

    def why_not(self, action: str) -> str | None:
        if action in _READING:
            none = self.rows.cursor_key is None and action != "close"
            return "There is nothing here to look at" if none else None
        if any(each.name.partition("(")[0] == action for each in actions_of("skills")):
            return NO_SUCH
        return None

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.draw(keep=False)

    def action_copy(self) -> None:
        skill = self._skills.get(self.rows.cursor_key or "")
        if skill is not None:
            self.app.copy_to_clipboard(skill.text)
            self.flash("Its SKILL.md was sent to the terminal's clipboard")


def _lines(skill: Installed, width: int, *, raw: bool) -> Iterator[Line]:
    for said, style in ((skill.path, ink.TITLE), (NO_SUCH, ink.LABEL)):
        yield from (Line(piece) for piece in wrapped(ink.line(said, style), width))
    if skill.problem:
        warning = ink.line(f"! The agent cannot use it: {skill.problem}", ink.DANGER)
        yield from (Line(piece) for piece in wrapped(warning, width))
    yield Line(Content(""))
    if raw:
        yield from (Line(piece) for piece in wrapped(ink.block(skill.text), width))
    else:
        yield from markdown_lines(skill.text, width)
