"""The chosen skill beside the table: what the table knows at once, the package once it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from console.render.skills_detail import Detail, Summary, archive_lines, skill_lines
from console.screens.skills_table import SkillTable
from console.screens.skills_views import (
    Past,
    archive_of,
    archived_detail,
    borrowed_detail,
    borrowed_of,
    detail_of,
    summary_of,
)

if TYPE_CHECKING:
    from core.desk.skill_looks import Calls, Counted
    from core.desk.skill_table import Archived, Board, Row
    from core.homes.hermes.curator.borrowed import Borrowed
    from core.homes.hermes.curator.calls import Call
    from core.homes.hermes.pending import Proposal

#: Seconds the cursor rests before its package is read.
REST = 0.08


class SkillPages(SkillTable):
    """Packages are read one at a time, the newest wish first, and kept until the home changes."""

    def __init__(self) -> None:
        super().__init__()
        self._details: dict[str, Detail] = {}
        self._counted: tuple[Counted, ...] | None = None
        self._calls: Calls | None = None
        self._drawn_calls: tuple[tuple[Call, ...], str] = ((), "")
        self._snapshots: tuple[str, ...] = ()
        self._resting: Timer | None = None
        self._raw = False

    def forget_details(self) -> None:
        """A page stays on screen while it is read again; counts only change with snapshots."""
        self._details = {}
        assert self._board is not None
        snapshots = tuple(each.id for each in self._board.snapshots)
        if snapshots != self._snapshots:
            self._snapshots, self._counted = snapshots, None
        self._count_calls()

    def _count_calls(self) -> None:
        """Look through conversations after the pages: the first time it may take seconds."""
        opened, before = self.signoff.opened, self._calls
        if opened is None:
            return

        def work() -> Calls:
            from core.desk.skill_looks import calls

            return calls(opened) if before is None else calls(opened, before)

        self.start_job("calls", work, self._called, self.job_failed)

    def _called(self, found: Calls) -> None:
        before, self._calls = self._calls, found
        if found.more and found.newest > (0 if before is None else before.newest):
            self._count_calls()
        elif (found.found, found.problem) != self._drawn_calls:
            self._drawn_calls = (found.found, found.problem)
            self._details = {}
            self.draw(keep=True)

    # -- the row at the cursor -------------------------------------------------------------

    @property
    def row(self) -> Row | None:
        """The live skill at the cursor."""
        return None if self._archived else self._rows.get(self.rows.cursor_key or "")

    @property
    def package(self) -> Archived | None:
        """The package of the archive at the cursor."""
        return self._packages.get(self.rows.cursor_key or "") if self._archived else None

    @property
    def borrowed(self) -> Borrowed | None:
        """The skill of a plugin or project at the cursor."""
        return None if self._archived else self._borrowed.get(self.rows.cursor_key or "")

    def waiting(self, row: Row) -> list[Proposal]:
        """The proposals that wait and would change this skill."""
        reading = self.signoff.reading
        names = {row.skill.name, row.skill.named}
        return [
            each
            for each in (reading.queue.proposals if reading is not None else ())
            if each.subsystem == "skills" and each.target.rpartition("/")[2] in names
        ]

    def queue_read(self) -> None:
        if self.is_current and self.row is not None:
            self.draw(keep=True)
            self.refresh_bindings()

    # -- drawing ---------------------------------------------------------------------------

    def draw(self, *, keep: bool) -> None:
        key, board = self.rows.cursor_key, self._board
        if key is None or board is None:
            return
        detail = self._details.get(key)
        width = self.detail_width
        if (package := self.package) is not None:
            lines = archive_lines(archive_of(package, board.now), detail, width, raw=self._raw)
        elif (shown := self._summary(board)) is not None:
            lines = skill_lines(shown, detail, width, raw=self._raw)
        else:
            return
        if detail is None:
            self._rest()
            if keep:
                # The page that is on screen stays until it is read again.
                return
        self.detail.set_lines(lines, keep=keep)

    def _summary(self, board: Board) -> Summary | None:
        if self.row is not None:
            return summary_of(self.row, board, len(self.waiting(self.row)))
        return None if self.borrowed is None else borrowed_of(self.borrowed)

    def _rest(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, self._look)

    def _look(self) -> None:
        opened, board, key = self.signoff.opened, self._board, self.rows.cursor_key
        row, package, borrowed = self.row, self.package, self.borrowed
        if opened is None or board is None or key is None or key in self._details:
            return
        known, now, called = self._counted, self.signoff.now(), self._calls

        def work() -> tuple[str, object, Past, Detail]:
            from core.desk.skill_looks import counts

            past = Past(counts(opened) if known is None else known, called)
            if package is not None:
                detail = archived_detail(opened, package, board, past, now)
            elif row is not None:
                detail = detail_of(opened, row, past, now)
            elif borrowed is not None:
                detail = borrowed_detail(opened, borrowed)
            else:
                detail = Detail("", ())
            return key, board, past, detail

        self.start_job("detail", work, self._looked, self._not_looked)

    def _looked(self, found: tuple[str, object, Past, Detail]) -> None:
        key, board, past, detail = found
        if board is not self._board:
            self._rest()
            return
        self._counted = past.counted
        self._details[key] = detail
        if key == self.rows.cursor_key:
            self.draw(keep=True)

    def _not_looked(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            # It went away meanwhile; the table hears of it, too. What was said last stays.
            self.say(f"{problem.message}. {problem.hint}")
        else:
            self.job_failed(problem)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self.draw(keep=True)
        self.detail.go_to(f"{'SKILL.md, as it is stored' if self._raw else 'SKILL.md'} 1")
