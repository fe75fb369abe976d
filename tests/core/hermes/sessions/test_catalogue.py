"""The list while an agent writes: brought up to date, it is what reading everything would give.

Issue: sessions, "It shows" 3 (a list under 20 ms, also while the agent writes).
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.conversations import Filters, Listing
from core.homes.hermes.sessions import catalogue, store
from core.homes.hermes.sessions.catalogue import Catalogues, build, with_texts
from core.homes.hermes.sessions.listing import choose, described, listing
from core.homes.hermes.sessions.opening import Database, reading
from core.homes.hermes.sessions.parts import parts_of, present
from core.homes.hermes.sessions.store import StateDb
from tests.core.hermes.sessions.homes import AT, change, insert, make_home

ALL = Filters(with_archived=True, with_hidden=True)
NARROW = (
    Filters(),
    Filters(title="TITLE 1", with_archived=True),
    Filters(workspace="north"),
    Filters(sources=("cron",), after=AT + 600),
    Filters(session_id="s3", before=AT + 9_000),
)
REASONS = (None, "compression", "branched", "session_reset", "cli_close")


@pytest.fixture(autouse=True)
def never_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "SMALL", -1)
    monkeypatch.setattr(store, "_CATALOGUES", Catalogues())


def read_anew(home: Path, wanted: Filters, limit: int = 1_000) -> Listing:
    with reading(home) as db:
        chosen = choose(with_texts(db, build(db)), wanted, limit)
        return listing(chosen, described(db, chosen, present(db, chosen.ids), {}))


class Agent:
    """Does to a database what the agent does, at random but the same each time."""

    def __init__(self, home: Path, seed: int) -> None:
        self._home = home
        self._pick = random.Random(seed)
        self._clock = AT
        self._ids: list[str] = []
        self._made = 0
        for _ in range(12):
            self.begin()

    def begin(self) -> None:
        self._made += 1
        name = f"s{self._made}"
        parent = self._pick.choice([None, "gone", f"s{self._made + 1}", *self._ids])
        source = self._pick.choice(("cli", "telegram", "cron", "subagent"))
        row = {
            "id": name,
            "source": source,
            "parent_session_id": parent,
            "started_at": self._now(),
            "cwd": self._pick.choice((None, "/srv/North", "/srv/south")),
        }
        if parent and self._pick.random() < 0.3:
            row["model_config"] = f'{{"_branched_from": "{parent}"}}'
        # Written as hermes does, whose foreign keys are not enforced for a parent that is pruned.
        insert(self._home, "sessions", row)
        if parent in self._ids and self._pick.random() < 0.7:
            self._set(parent or "", "end_reason", "compression")
            self._set(parent or "", "ended_at", self._now())
        self._ids.append(name)

    def say(self) -> None:
        row = {
            "session_id": self._any(),
            "content": f"said {self._now()}",
            "timestamp": self._now(),
        }
        insert(self._home, "messages", row)

    def rename(self) -> None:
        self._made += 1
        self._set(self._shown(), "title", f"title {self._made}")

    def archive(self) -> None:
        self._set(self._shown(), "archived", self._pick.choice((0, 1)))

    def end(self) -> None:
        name = self._shown()
        self._set(name, "end_reason", self._pick.choice(REASONS))
        self._set(name, "ended_at", self._now())

    def delete(self) -> None:
        if len(self._ids) > 5:
            name = self._ids.pop(self._pick.randrange(len(self._ids)))
            change(
                self._home,
                ("DELETE FROM messages WHERE session_id = ?", (name,)),
                ("DELETE FROM sessions WHERE id = ?", (name,)),
            )

    def act(self) -> None:
        acts = (self.begin, self.say, self.say, self.rename, self.archive, self.end, self.delete)
        self._pick.choice(acts)()

    def _any(self) -> str:
        return self._pick.choice(self._ids)

    def _shown(self) -> str:
        """Only those that are listed are looked at for such changes."""
        found = read_anew(self._home, ALL).sessions
        return self._pick.choice([part for each in found for part in each.chain])

    def _now(self) -> float:
        self._clock += self._pick.choice((0.0, 1.0, 60.0))
        return self._clock

    def _set(self, name: str, column: str, value: object) -> None:
        change(self._home, (f"UPDATE sessions SET {column} = ? WHERE id = ?", (value, name)))


@pytest.mark.parametrize("seed", range(6))
def test_the_list_is_what_reading_everything_gives(tmp_path: Path, seed: int) -> None:
    home = make_home(tmp_path / "home")
    agent = Agent(home, seed)
    listed = StateDb(home)
    for _ in range(60):
        agent.act()
        assert listed.listing(ALL, 1_000) == read_anew(home, ALL)
        # All were shown just now, so that nothing that was renamed or archived is late.
        for wanted in NARROW:
            assert listed.listing(wanted, 3) == read_anew(home, wanted, 3)


def test_only_what_was_said_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", *({"id": f"s{n}", "started_at": AT + n} for n in range(40)))
    listed = StateDb(home)
    listed.listing(ALL, 5)
    asked: list[str] = []
    monkeypatch.setattr(catalogue, "all_parts", lambda db: pytest.fail("all were read"))

    def asking(db: Database, ids: list[str]) -> object:
        asked.extend(ids)
        return parts_of(db, ids)

    for module in (catalogue, store):
        monkeypatch.setattr(module, "parts_of", asking)
    insert(home, "messages", {"session_id": "s3", "timestamp": AT + 99})
    insert(home, "sessions", {"id": "new", "started_at": AT + 98})
    found = listed.listing(ALL, 5)
    assert [each.id for each in found.sessions] == ["s3", "new", "s39", "s38", "s37"]
    assert found.total == 41
    assert sorted(set(asked)) == ["new", "s3", "s37", "s38", "s39"]


def test_what_nobody_sees_is_late_by_seconds_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", *({"id": f"s{n}", "started_at": AT + n} for n in range(9)))
    listed = StateDb(home)
    listed.listing(Filters(), 3)
    change(home, "UPDATE sessions SET archived = 1 WHERE id IN ('s0', 's8')")
    late = listed.listing(Filters(), 3)
    assert [each.id for each in late.sessions] == ["s7", "s6", "s5"]
    assert (late.total, late.archived) == (8, 1)
    monkeypatch.setattr(catalogue, "WHOLE", 0.0)
    assert listed.listing(Filters(), 3).total == 7
