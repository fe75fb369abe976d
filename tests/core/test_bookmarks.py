"""Bookmarks and saved views: kept for a home and profile, through damage and two consoles."""

from __future__ import annotations

import json
import multiprocessing
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.desk.bookmarks import FILE, Bookmark, Bookmarks, Kept, SavedView
from core.errors import NotFoundError, StateError, UsageError

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
HOME = Path("/somewhere/home")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def kept(state: Path) -> Bookmarks:
    return Bookmarks(state, HOME, "default")


def written(state: Path) -> Any:
    return json.loads((state / FILE).read_bytes())


def test_reading_makes_nothing(kept: Bookmarks, state: Path) -> None:
    assert kept.read() == Kept()
    assert kept.version() is None
    assert not state.exists()


def test_add_note_again_and_remove(kept: Bookmarks, state: Path) -> None:
    kept.add("s1", 7, "why \ud800 \x1b", NOW)
    both = kept.add("s1", None, "", LATER)
    assert both.bookmarks == (
        Bookmark("s1", None, "", LATER),
        Bookmark("s1", 7, "why \ud800 \x1b", NOW),
    )
    assert kept.add("s1", 7, "better", LATER).bookmarks[0].note == "better"
    assert len(kept.read().bookmarks) == 2
    left = kept.remove("s1", None, LATER)
    assert left.bookmarks == (Bookmark("s1", 7, "better", LATER),)
    before = kept.version()
    with pytest.raises(NotFoundError, match="no bookmark"):
        kept.remove("s1", 8, LATER)
    assert kept.version() == before
    assert stat.S_IMODE((state / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert sorted(path.name for path in state.iterdir()) == ["bookmarks.json", "bookmarks.lock"]


def test_views_by_name(kept: Bookmarks) -> None:
    kept.save_view(" over\n budget ", "role:tool budget", NOW)
    kept.save_view("Alpha", "source:cron", NOW)
    both = kept.save_view("over budget", "budget", LATER)
    assert both.views == (
        SavedView("Alpha", "source:cron", NOW),
        SavedView("over budget", "budget", LATER),
    )
    assert kept.remove_view("Alpha", NOW).views == both.views[1:]
    with pytest.raises(NotFoundError, match="'Alpha'"):
        kept.remove_view("Alpha", NOW)
    with pytest.raises(UsageError, match="needs a name"):
        kept.save_view(" \n", "x", NOW)


def test_each_home_and_profile_has_its_own(kept: Bookmarks, state: Path) -> None:
    kept.add("s1", 1, "mine", NOW)
    assert Bookmarks(state, HOME, "work").read() == Kept()
    assert Bookmarks(state, Path("/other"), "default").add("s1", 1, "theirs", NOW).bookmarks == (
        Bookmark("s1", 1, "theirs", NOW),
    )
    assert kept.read().bookmarks[0].note == "mine"


def test_what_this_version_does_not_know_survives(kept: Bookmarks, state: Path) -> None:
    kept.add("s1", 1, "a", NOW)
    file = written(state)
    file["colour"] = {"of": "the sky"}
    file["homes"].append("no home at all")
    file["homes"][0]["pinned"] = [1]
    file["homes"][0]["bookmarks"][0]["tag"] = "later"
    file["homes"][0]["bookmarks"] += [
        {"session_id": 5}, 17, {"session_id": "s", "message_id": True, "note": "", "at": str(NOW)}
    ]  # fmt: skip
    (state / FILE).write_text(json.dumps(file), "utf-8")
    assert kept.read().trouble == f"{state / FILE} has 3 entries that this version cannot read"
    kept.add("s1", 1, "b", LATER)
    kept.add("s2", 2, "c", LATER)
    file["homes"][0]["bookmarks"][0].update(note="b", at=LATER.isoformat())
    file["homes"][0]["bookmarks"].append(
        {"session_id": "s2", "message_id": 2, "note": "c", "at": LATER.isoformat()}
    )
    assert written(state) == file


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"[]", b'{"homes": 3}', b"[" * 100_000])
def test_a_damaged_file_is_set_aside_and_said(kept: Bookmarks, state: Path, damage: bytes) -> None:
    state.mkdir()
    (state / FILE).write_bytes(damage)
    said = kept.read().trouble
    assert "is damaged" in said
    assert said.endswith("the next change sets it aside and starts anew")
    assert (state / FILE).read_bytes() == damage
    after = kept.add("s1", 1, "a", NOW)
    aside = state / "bookmarks.broken-20261129T120000Z.json"
    assert aside.read_bytes() == damage
    assert after == Kept(
        (Bookmark("s1", 1, "a", NOW),), (), f"a damaged file was set aside as {aside}"
    )
    (state / FILE).write_bytes(b"{{")
    kept.add("s1", 2, "", NOW)
    assert aside.read_bytes() == damage
    assert (state / "bookmarks.broken-20261129T120000Z-1.json").read_bytes() == b"{{"


def test_a_newer_file_is_read_and_never_written(kept: Bookmarks, state: Path) -> None:
    kept.add("s1", 1, "a", NOW)
    newer = json.dumps(written(state) | {"version": 2})
    (state / FILE).write_text(newer, "utf-8")
    assert kept.read().bookmarks[0].note == "a"
    with pytest.raises(StateError, match="newer signoff"):
        kept.add("s1", 2, "b", NOW)
    assert (state / FILE).read_text("utf-8") == newer


def test_a_list_of_another_form_is_let_be(kept: Bookmarks, state: Path) -> None:
    kept.add("s1", 1, "a", NOW)
    file = written(state)
    file["homes"][0]["bookmarks"] = {"s1": 1}
    (state / FILE).write_text(json.dumps(file), "utf-8")
    assert "1 entry that" in kept.read().trouble
    with pytest.raises(StateError, match="another form"):
        kept.add("s1", 2, "b", NOW)
    assert written(state) == file


def test_a_folder_that_takes_no_files_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file", "utf-8")
    kept = Bookmarks(tmp_path / "state", HOME, "default")
    assert "cannot be read (not a directory)" in kept.read().trouble
    with pytest.raises(StateError, match="cannot be written"):
        kept.add("s1", 1, "", NOW)


def fill(state: Path, name: str) -> None:
    for number in range(25):
        Bookmarks(state, HOME, "default").add(name, number, "", NOW)


def test_two_consoles_lose_nothing_of_each_other(kept: Bookmarks, state: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=fill, args=(state, name)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    assert len(kept.read().bookmarks) == 50
