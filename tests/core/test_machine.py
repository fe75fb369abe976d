"""Anything in any order: commits, foreign writes, undos, crashes; the home is always one of the
states it may be in, and nothing anybody wrote is ever lost (design, section 1)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core import files, locks
from core.commit import commit
from core.errors import UsageError
from core.ground import Ground
from core.homes.hermes.skills import usage
from core.journal import Entry, Journal, State, Step
from core.model import Change, Move, NodeKind
from core.plan import Plan
from core.recover import open_entries, reconcile
from core.steps import resolve
from core.undo import plan_undo
from core.view import View
from tests.core.grounds import (
    MEMORY,
    NOW,
    PLANS,
    RECORD,
    SKILL,
    Tree,
    agent_writes_rows,
    ground_of,
    rows_of,
    tree,
)

NOTES = f"{SKILL}/references/a.md"
KINDS = st.sampled_from(sorted(PLANS))


class Dying:
    """Stands in for ``os`` in the writer; the process dies right before its ``at``-th call."""

    CALLS = frozenset(
        {"open", "write", "fchmod", "replace", "rename", "unlink", "rmdir", "mkdir", "chmod"}
    )

    def __init__(self, at: int) -> None:
        self._left = at

    def __getattr__(self, name: str) -> object:
        if name in self.CALLS:
            self._left -= 1
            if self._left == 0:
                os._exit(9)
        return getattr(os, name)


def foretold(found: Tree, steps: Sequence[Step]) -> Tree:
    """``found`` with ``steps`` made, by the book."""
    after = dict(found)
    for step in steps:
        change = step.change
        if isinstance(change, Move):
            for path in [*after]:
                if path == change.path or path.startswith(f"{change.path}/"):
                    after[change.to + path[len(change.path) :]] = after.pop(path)
        elif change.after is None:
            after.pop(change.path, None)
        else:
            node = change.after
            after[change.path] = (str(node.kind), node.mode, node.data)
    return after


class Home(RuleBasedStateMachine):
    """One home under everything at once. ``wanted`` is what must stand on disk."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("core.files.os.fsync", lambda _handle: None)
        self.ground: Ground = ground_of(self.top)
        self.journal = Journal(self.ground.state)
        self.wanted = tree(self.ground.root)
        self.entries: list[bytes] = []
        self.counted = 0
        self.staged: set[bytes] = {(self.ground.root / RECORD).read_bytes()}
        self.proposals = 0
        self.torn = 0

    def teardown(self) -> None:
        self.patch.undo()
        shutil.rmtree(self.top)

    # -- what others do ------------------------------------------------------------------------

    @precondition(lambda self: RECORD not in self.wanted)
    @rule()
    def stage(self) -> None:
        self._stage()
        self.wanted = tree(self.ground.root)

    @rule()
    def the_agent_adds_an_entry(self) -> None:
        self._add_entry()
        self.wanted = tree(self.ground.root)

    @rule(times=st.integers(1, 3))
    def the_agent_counts(self, times: int) -> None:
        self._count(times)
        self.wanted = tree(self.ground.root)

    @precondition(lambda self: NOTES in self.wanted)
    @rule(data=st.binary(max_size=3))
    def a_person_edits_a_skill(self, data: bytes) -> None:
        (self.ground.root / NOTES).write_bytes(data)
        self.wanted = tree(self.ground.root)

    def _stage(self) -> None:
        """A new proposal; one that is still there under this id is the agent's own to replace."""
        path = self.ground.root / RECORD
        if path.exists():
            self.staged.discard(path.read_bytes())
        self.proposals += 1
        path.write_bytes(b'{"number": %d}' % self.proposals)
        self.staged.add(path.read_bytes())

    def _add_entry(self) -> None:
        entry = b"entry %d of the agent" % len(self.entries)
        with (
            locks.hold([self.ground.root / f"{MEMORY}.lock"]),
            (self.ground.root / MEMORY).open("ab") as stream,
        ):
            stream.write(b"\n\xc2\xa7\n" + entry)
        self.entries.append(entry)

    def _count(self, times: int) -> None:
        self.counted += times

        def change(rows: dict[str, dict[str, object]]) -> None:
            rows.setdefault("other", {})["use_count"] = self.counted

        agent_writes_rows(self.ground, change)

    # -- what signoff does -----------------------------------------------------------------------

    def _plan(self, kind: str) -> Plan | None:
        """A plan on the home as it is, if its subject is there."""
        root = self.ground.root
        if not (root / RECORD).exists():
            return None
        if kind in ("patch", "archive", "delete") and not (root / NOTES).exists():
            return None
        if kind == "create" and (root / "skills/new").exists():
            return None
        if kind == "archive" and (root / "skills/.archive").exists():
            return None
        return PLANS[kind](View(self.ground.disk()))

    def _steps(self, plan: Plan) -> tuple[Step, ...]:
        return resolve(plan.changes, self.ground.writer("plan").current, self.ground.rows)

    def _commit(self, plan: Plan) -> None:
        after = foretold(self.wanted, self._steps(plan)) if plan.outcome.lands else self.wanted
        receipt = commit(plan, self.ground, self.journal, now=NOW)
        assert receipt.ok is plan.outcome.lands, receipt
        self.wanted = after

    @rule(kind=KINDS)
    def approve(self, kind: str) -> None:
        if plan := self._plan(kind):
            self._commit(plan)

    @rule(kind=KINDS, where=st.sampled_from(["memory", "rows", "record", "skill"]))
    def approve_what_was_shown_earlier(self, kind: str, where: str) -> None:
        """Someone writes between the preview and the decision: the plan as shown, or nothing."""
        if not (plan := self._plan(kind)):
            return
        if where == "memory":
            self._add_entry()
        elif where == "rows":
            self._count(1)
        elif where == "record":
            self._stage()
        elif (self.ground.root / NOTES).exists():
            (self.ground.root / NOTES).write_bytes(b"by hand")
        before = tree(self.ground.root)
        after = foretold(before, self._steps(plan))
        touched = {
            "memory": kind == "add",
            "record": True,
            "rows": False,
            "skill": kind in ("patch", "delete") and self.wanted[NOTES] != before[NOTES],
        }
        receipt = commit(plan, self.ground, self.journal, now=NOW)
        assert receipt.category == ("moved" if touched[where] else plan.outcome.category), receipt
        self.wanted = after if receipt.ok else before

    def _entry(self, place: int) -> Entry | None:
        done = self.journal.entries(states=(State.DONE,))
        return self.journal.entry(done[place % len(done)].id) if done else None

    @rule(place=st.integers(0, 30))
    def undo(self, place: int) -> None:
        if (entry := self._entry(place)) is None:
            return
        try:
            plan = plan_undo(View(self.ground.disk()), entry, ())
        except UsageError:
            assert entry.undone_by is not None
            return
        self._commit(plan)

    @rule(kind=st.one_of(KINDS, st.just("undo")), at=st.integers(1, 25), meanwhile=st.booleans())
    def crash(self, kind: str, at: int, meanwhile: bool) -> None:
        """Killed in the middle, others go on, the next command settles it."""
        plan = self._plan(kind) if kind != "undo" else self._undo_plan()
        if plan is None:
            return
        after = foretold(self.wanted, self._steps(plan))
        known = {entry.id for entry in self.journal.entries()}
        if not self._killed(plan, at):
            self.wanted = after
            return
        if meanwhile:
            self._count(1)
        middle = tree(self.ground.root)
        with locks.hold([self.ground.lock]):
            settled = reconcile(self.ground, self.journal)
        assert {line.entry.id for line in settled}.isdisjoint(known)
        states = [line.state for line in settled]
        rows = {usage.PATH: tree(self.ground.root)[usage.PATH]}
        if states == [State.DONE]:
            self.wanted = after | rows
        elif states in ([State.DROPPED], []):
            self.wanted = self.wanted | rows
        else:
            assert states == [State.TORN]
            self.torn += 1
            self.wanted = {path: node for path, node in middle.items() if not path.endswith(".tmp")}

    def _undo_plan(self) -> Plan | None:
        entry = self._entry(0)
        if entry is None or entry.undone_by is not None:
            return None
        plan = plan_undo(View(self.ground.disk()), entry, ())
        return plan if plan.outcome.lands else None

    def _killed(self, plan: Plan, at: int) -> bool:
        child = os.fork()
        if child == 0:
            try:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(files, "os", Dying(at))
                    receipt = commit(plan, self.ground, self.journal, now=NOW)
                os._exit(0 if receipt.ok else 1)
            finally:
                os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        return code == 9

    # -- what always holds -------------------------------------------------------------------------

    @invariant()
    def the_home_is_what_it_must_be(self) -> None:
        assert tree(self.ground.root) == self.wanted

    @invariant()
    def nothing_is_open_and_nothing_torn(self) -> None:
        """Nobody here writes over a half-done file, so no crash may end torn."""
        assert open_entries(self.ground, self.journal) == ()
        assert self.torn == 0

    @invariant()
    def nothing_the_agent_wrote_is_lost(self) -> None:
        memory = (self.ground.root / MEMORY).read_bytes().split(b"\n\xc2\xa7\n")
        assert [entry for entry in memory if entry.endswith(b"of the agent")] == self.entries
        if self.counted:
            assert rows_of(self.ground)["other"] == {"use_count": self.counted}

    @invariant()
    def the_patches_in_force_are_counted(self) -> None:
        """Each patch that is not undone, or done again, counts one."""
        row = rows_of(self.ground).get("deploy")
        if row is None:
            return
        count = 1
        for line in self.journal.entries(states=(State.DONE,)):
            for step in self.journal.entry(line.id).steps:
                if any(edit.field == "patch_count" for edit in step.edits):
                    count += -1 if step.taken_back else 1
        assert row["patch_count"] == count

    @invariant()
    def every_proposal_waits_or_is_in_the_journal(self) -> None:
        kept = set()
        if RECORD in self.wanted:
            kept.add(self.wanted[RECORD][2])
        for line in self.journal.entries():
            for step in self.journal.entry(line.id).steps:
                if isinstance(step.change, Change):
                    kept |= {
                        node.data
                        for node in (step.change.before, step.change.after)
                        if node is not None and node.kind is NodeKind.FILE
                    }
        assert self.staged <= kept


TestHome = Home.TestCase
TestHome.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
