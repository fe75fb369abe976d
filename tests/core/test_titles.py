"""Sessions found by their title: the newest, as looking at each of them would find them.

Issue: sessions, "It shows" 4 (50,000 sessions). The reference looks at every title and at the first
message of every session that bears it, without anything kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.conversations import Filters
from core.desk import searching
from core.desk.searching import TITLED
from core.homes.hermes.sessions import fulltext, titles
from core.homes.hermes.sessions.opening import Database, reading
from core.homes.hermes.sessions.titles import Titled, Titles
from core.recall.gather import Gathering, Group, Verdict, judge
from core.recall.query import Query, matches, parse
from tests.core.desks import open_on
from tests.core.hermes.sessions.homes import AT, change, insert, make_home

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
WORDS = ("deploy", "Fix", "naïve", "部署", "index")
QUERIES = (
    "deploy", "fix deploy", "naive", "部署", "署", "dep*", "deploy OR index", "fix -deploy", "absent",
    "deploy source:cli", "fix source:subagent,cron", "deploy title:fix", "deploy in:north", "% !",
    "deploy role:assistant", f"deploy after:{datetime.fromtimestamp(AT + 30, UTC).isoformat()}",
    f"deploy before:{datetime.fromtimestamp(AT + 30, UTC).isoformat()}", "deploy in:20260000001",
)  # fmt: skip


def looked_at(db: Database, query: Query, known: dict[str, Group]) -> list[Group]:
    """Every title, and the first message of every session that bears one which answers."""
    sql = "SELECT id, title FROM sessions WHERE title IS NOT NULL ORDER BY title"
    named = [key for key, title in db.rows(sql) if matches(query, title)]
    groups = [known[key] for key in named if key in known]
    anchors = [fulltext.first_live(db, key) for key in named if key not in known]
    places = fulltext.places(db, [each for each in anchors if each is not None], query.filters)
    groups += [Group(each) for each in places if judge(query.filters, each) is Verdict.HIT]
    groups.sort(key=lambda group: group.place.at or 0.0, reverse=True)
    return groups[:TITLED]


class Agent:
    """Does to titles and messages what an agent and its person do, at random but the same."""

    def __init__(self, home: Path, seed: int) -> None:
        self._home = home
        self._pick = random.Random(seed)
        self._made = 0
        for _ in range(25):
            self.begin()

    def begin(self) -> None:
        self._made += 1
        row = {
            "id": f"2026{self._made:07d}",
            "source": self._pick.choice(("cli", "cli", "cron", "subagent")),
            "title": self._pick.choice((None, self._title(), self._title())),
            "cwd": self._pick.choice(("/srv/north", "/srv/south")),
            "started_at": AT,
        }
        insert(self._home, "sessions", row)
        for _ in range(self._pick.randrange(4)):
            self.say(self._made)

    def say(self, number: int = 0) -> None:
        at = self._pick.choice((None, "odd", *(AT + step for step in range(0, 100, 10))))
        row = {
            "session_id": f"2026{number or self._any():07d}",
            "role": self._pick.choice(("user", "assistant", "tool")),
            "content": self._pick.choice(WORDS),
            # Whoever imports messages keeps their times, whatever their ids.
            "timestamp": AT if at is None else at,
        }
        insert(self._home, "messages", row)

    def rename(self) -> None:
        title = self._pick.choice((None, self._title()))
        change(
            self._home,
            ("UPDATE sessions SET title = ? WHERE id = ?", (title, f"2026{self._any():07d}")),
        )

    def take_back(self) -> None:
        number = self._pick.randrange(1, 60)
        change(self._home, ("UPDATE messages SET active = 1 - active WHERE id = ?", (number,)))

    def delete(self) -> None:
        key = f"2026{self._any():07d}"
        change(
            self._home,
            ("DELETE FROM messages WHERE session_id = ?", (key,)),
            ("DELETE FROM sessions WHERE id = ?", (key,)),
        )

    def act(self) -> None:
        acts: tuple[Callable[[], None], ...] = (
            self.begin, self.say, self.say, self.rename, self.take_back, self.delete,
        )  # fmt: skip
        self._pick.choice(acts)()

    def _title(self) -> str:
        number = self._pick.randrange(10_000)
        return " ".join([*self._pick.sample(WORDS, self._pick.randint(1, 3)), f"#{number}"])

    def _any(self) -> int:
        return self._pick.randint(1, self._made)


@pytest.mark.parametrize("seed", range(4))
def test_the_titles_found_are_those_that_looking_at_all_would_find(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "_TITLES", Titles())
    home = make_home(tmp_path / "home")
    agent, desk, pick = Agent(home, seed), open_on(home, tmp_path / "state"), random.Random(seed)
    for _ in range(12):
        agent.act()
        with reading(home) as db:
            for text in QUERIES:
                query = parse(text, now=NOW)
                gathered = Gathering(query.filters, 20)
                ids = [int(row[0]) for row in db.rows("SELECT id FROM messages")]
                some = pick.sample(ids, min(len(ids), 3))
                gathered.add(fulltext.places(db, some, query.filters))
                known = gathered.people | gathered.cron
                found = searching.titled(desk, db, query, gathered)
                assert found == looked_at(db, query, known), text


def test_titles_are_read_again_only_where_one_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, kept = make_home(tmp_path / "home"), Titles()
    insert(home, "sessions", {"id": "a", "title": "One"}, {"id": "b", "title": "Two"})
    insert(home, "messages", {"session_id": "a", "timestamp": AT})
    read: list[object] = []
    whole = titles._read

    def reading_all(db: Database) -> list[Titled]:
        read.append(db)
        return whole(db)

    monkeypatch.setattr(titles, "_read", reading_all)

    def names() -> list[str]:
        with reading(home) as db:
            return [each.title for each in kept.of(db, home)]

    assert names() == ["One", "Two"]
    insert(home, "messages", {"session_id": "b", "timestamp": AT + 1})
    assert names() == ["Two", "One"]
    assert len(read) == 1
    change(home, "UPDATE sessions SET title = 'Three' WHERE id = 'b'")
    assert names() == ["Three", "One"]
    assert len(read) == 2


def test_a_word_of_many_titles_is_looked_up_for_few_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, asked = make_home(tmp_path / "home"), list[str]()
    insert(home, "sessions", *({"id": f"s{n}", "title": f"Work {n}"} for n in range(300)))
    insert(home, "messages", *({"session_id": f"s{n}", "timestamp": AT + n} for n in range(300)))
    whole = fulltext.firsts_live

    def asking(db: Database, sessions: list[str]) -> dict[str, int]:
        asked.extend(sessions)
        return whole(db, sessions)

    monkeypatch.setattr(fulltext, "firsts_live", asking)
    monkeypatch.setattr(searching, "_TITLES", Titles())
    with reading(home) as db:
        query = parse("work", now=NOW)
        found = searching.titled(
            open_on(home, tmp_path / "state"), db, query, Gathering(Filters(), 20)
        )
    assert [each.place.session_id for each in found] == ["s299", "s298", "s297", "s296", "s295"]
    assert len(asked) == TITLED
