"""The doctor looks at the past by a real query, and says how the index stands (demand D26)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.desk import health, indexing, past_health
from core.desk.opening import Opened
from tests.core.desks import open_on
from tests.core.hermes.sessions.homes import change, fixture_home, insert, make_home


def said(desk: Opened) -> dict[str, tuple[bool | None, str]]:
    return {each.name: (each.ok, each.message) for each in past_health.checks(desk)}


def feed(desk: Opened) -> None:
    assert indexing.update(
        desk, indexing.index_of(desk), progress=lambda *_: None, cancelled=lambda: False
    )


def test_a_sound_past_is_found_by_a_query(tmp_path: Path) -> None:
    desk = open_on(fixture_home(tmp_path / "home"), tmp_path / "state")
    found = said(desk)
    assert found["search"][0] is True
    assert "finds its message" in found["search"][1]
    assert found["search index"] == (None, "not made yet; the database's own full text answers")
    assert [each.name for each in health.checkup(desk)].count("search index") == 1


def test_a_full_text_that_lost_a_message_is_seen(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s"})
    insert(home, "messages", {"session_id": "s", "content": "harbourmaster"})
    change(home, "DELETE FROM messages_fts")
    ok, words = said(open_on(home, tmp_path / "state"))["search"]
    assert ok is False
    assert "misses its message" in words


def test_how_the_index_stands(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s"})
    insert(home, "messages", {"session_id": "s"}, {"session_id": "s"})
    desk = open_on(home, tmp_path / "state")
    feed(desk)
    ok, words = said(desk)["search index"]
    assert ok is True
    assert words.startswith("2 messages, ")
    off = replace(desk, settings=replace(desk.settings, search_index=False))
    assert said(off)["search index"] == (None, "off; the database's own full text answers")
    (home / "state.db").unlink()
    insert(make_home(home), "sessions", {"id": "t"})
    insert(home, "messages", {"session_id": "t"})
    ok, words = said(desk)["search index"]
    assert ok is None
    assert words.startswith("it is of another file")


def test_a_broken_index_is_said(tmp_path: Path) -> None:
    desk = open_on(fixture_home(tmp_path / "home"), tmp_path / "state")
    feed(desk)
    index = indexing.index_folder(desk)
    (index / "messages" / "meta.json").unlink()
    ok, words = said(desk)["search index"]
    assert ok is False
    assert words.startswith("cannot be used: a file of it is missing")


def test_no_past_is_no_fault(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (check,) = past_health.checks(open_on(home, tmp_path / "state"))
    assert check.ok is None
    assert check.message.startswith("There is no state.db")
