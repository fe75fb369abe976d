"""The Sessions mode while the past changes, is missing, or means harm."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from console.app import SignoffApp
from core.desk.indexing import index_of
from core.recall.index import Status
from core.settings import Settings
from tests.console.pilots import NOW, SESSIONS_MODE, Console, sample, settle, start_of
from tests.console.test_sessions_screen import at, found, look_for, sessions, titles

PAST = Path(__file__).parents[1] / "data/hermes-sessions/state.db"
#: Controls but newline, C1, bidi, zero-width and filler, tags: none may reach a terminal.
FORBIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
NASTY = "x\x1b[2J\u202e[/foo]\x07\u200b\U000e0041[@click=app.quit]q[/]"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


def write(home: Path, sql: str, *rows: tuple[Any, ...]) -> None:
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.executemany(sql, rows or [()])
        db.commit()


def say(home: Path, session: str, *texts: str) -> None:
    """The agent appends messages to a session."""
    at = NOW.timestamp() - 60
    write(
        home,
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)",
        *((session, text, at + place) for place, text in enumerate(texts)),
    )


def begin(home: Path, *names: str) -> None:
    """The agent begins sessions."""
    write(
        home,
        "INSERT INTO sessions (id, source, started_at, title) VALUES (?, 'cli', ?, ?)",
        *((name, NOW.timestamp() - 30, f"About {name}") for name in names),
    )
    for name in names:
        say(home, name, f"hello from {name}")


async def changed(console: Console) -> None:
    """What the watcher would say."""
    console.app.tell(frozenset({"sessions"}))
    await console.settle()


@asynccontextmanager
async def without_index(home: Path) -> AsyncIterator[Console]:
    settings = Settings(search_index=False)
    app = SignoffApp(
        start_of(home, settings=settings),
        state=home.parent / "state",
        clock=lambda: NOW,
        live=False,
    )
    async with app.run_test(size=(140, 42)) as pilot:
        console = Console(app, pilot, home)
        await settle(app, pilot)
        await console.press(SESSIONS_MODE)
        yield console


# -- it grows ------------------------------------------------------------------------------


async def test_a_growing_session_does_not_steal_the_scroll(home: Path) -> None:
    async with sessions(home, size=(100, 30)) as console:
        key = console.sessions.rows.cursor_key
        assert key is not None
        await console.press("enter", "}", "}")
        here, top = at(console), console.sessions.transcript.top
        say(home, key, "one more", "and another")
        await changed(console)
        assert (at(console), console.sessions.transcript.top) == (here, top)
        assert "2 new" in console.picture
        assert len(console.sessions.transcript.outline.marks) == 16
        await console.press("G")
        assert "and another" in console.picture
        assert "2 new" not in console.picture
        say(home, key, "a third")
        await changed(console)
        assert "a third" in console.picture, "who stands at the end follows it"


async def test_new_sessions_are_counted_and_the_cursor_stays(home: Path) -> None:
    async with sessions(home, size=(100, 20)) as console:
        await console.press("j", "j", "j", "j", "j", "j", "j")
        key = console.sessions.rows.cursor_key
        line = console.picture.splitlines().index(
            next(line for line in console.picture.splitlines() if "▌" in line)
        )
        begin(home, "20261129_115900_aaaaaa", "20261129_115901_bbbbbb", "20261129_115902_cccccc")
        await changed(console)
        assert console.sessions.rows.cursor_key == key
        assert "▌" in console.picture.splitlines()[line]
        assert "3 new" in console.picture
        await console.press("g")
        assert "About 2026" in console.picture
        assert "3 new" not in console.picture


async def test_hits_of_what_was_said_meanwhile_arrive(home: Path) -> None:
    async with sessions(home) as console:
        await look_for(console, "quillneedle")
        assert found(console) == []
        await console.press("enter")
        begin(home, "20261129_115900_aaaaaa")
        say(home, "20261129_115900_aaaaaa", "the quillneedle is here")
        await changed(console)
        assert found(console) == ["About 20261129_115900_aaaaaa"]
        assert "the quillneedle is here" in console.picture


async def test_a_session_that_went_is_said(home: Path) -> None:
    async with sessions(home) as console:
        key = console.sessions.rows.cursor_key
        await console.press("enter")
        write(home, "DELETE FROM messages WHERE session_id = ?", (key,))
        write(home, "DELETE FROM sessions WHERE id = ?", (key,))
        await changed(console)
        assert key not in [item.key for item in console.sessions.rows.items]
        assert "not there any more" in console.flash


# -- the index -----------------------------------------------------------------------------


async def test_the_index_is_fed_once_the_list_is_there(home: Path) -> None:
    async with sessions(home) as console:
        opened = console.app.opened
        assert opened is not None
        assert index_of(opened).state().status is Status.READY
        await look_for(console, "canary")
        assert "signoff's index" in console.picture


async def test_the_setting_off_deletes_the_index_and_everything_is_found_still(home: Path) -> None:
    async with sessions(home):
        pass
    folder = home.parent / "state/index"
    assert any(folder.rglob("*"))
    async with without_index(home) as console:
        assert not [path for path in folder.rglob("*") if path.is_file()]
        await look_for(console, "canary")
        assert "the agent's own index" in console.picture
        assert found(console) != []


# -- nothing to read -----------------------------------------------------------------------


async def test_no_database_says_what_to_do_and_it_appears_by_itself(home: Path) -> None:
    (home / "state.db").rename(home / "away")
    async with sessions(home) as console:
        assert "There is no state.db" in console.picture
        assert "appears here by itself" in console.picture
        await console.press("y")
        assert "No conversation is open" in console.flash
        (home / "away").rename(home / "state.db")
        await changed(console)
        assert "Sessions (9)" in console.picture


async def test_a_database_that_vanishes_and_comes_back(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("enter")
        (home / "state.db").rename(home / "away")
        await changed(console)
        assert "There is no state.db" in console.picture
        (home / "away").rename(home / "state.db")
        await changed(console)
        assert "Sessions (9)" in console.picture
        assert "Where does it come from?" in console.picture


@pytest.mark.parametrize("junk", [False, True])
async def test_trouble_is_said_no_longer_than_it_lasts(home: Path, junk: bool) -> None:
    """Found by a tester: the line stayed, and hits of an older query under the new one."""
    async with sessions(home) as console:
        await look_for(console, "deploy")
        await console.press("enter")
        older = found(console)
        assert older != []
        (home / "state.db").rename(home / "away")
        if junk:
            (home / "state.db").write_bytes(b"no database at all\n" * 400)
        await changed(console)
        assert "state.db" in console.flash
        await console.press("slash", "end", "space", *"window")
        assert console.sessions.bar.input.value == "deploy window"
        assert found(console) == []
        assert "signoff's index" not in console.picture
        assert "The search runs again by itself" in console.picture
        (home / "away").rename(home / "state.db")
        await changed(console)
        assert console.flash == ""
        assert found(console) not in ([], older)
        assert "“deploy window”" in console.picture
        assert "The search runs again" not in console.picture


async def test_a_database_that_is_none_is_named(home: Path) -> None:
    (home / "state.db").write_bytes(b"no database at all\n" * 400)
    async with sessions(home) as console:
        assert "state.db cannot be read" in console.picture
        assert "hermes sessions repair" in console.picture


async def test_a_past_without_a_session(home: Path) -> None:
    write(home, "DELETE FROM messages")
    write(home, "DELETE FROM sessions")
    async with sessions(home) as console:
        assert "No conversation is kept here yet" in console.picture
        begin(home, "20261129_115900_aaaaaa")
        await changed(console)
        assert titles(console) == ["About 20261129_115900_aaaaaa"]


async def test_only_cron_runs_are_listed_rather_than_nothing(home: Path) -> None:
    write(home, "DELETE FROM sessions WHERE source <> 'cron'")
    async with sessions(home) as console:
        assert len(titles(console)) == 6


async def test_another_home_may_be_opened_while_a_search_runs(home: Path) -> None:
    other = sample(home.parent / "elsewhere", "profiles")
    shutil.copytree(other, home / "profiles/work")
    async with sessions(home) as console:
        await console.press("slash", *"canar")
        console.sessions.search("canary")
        await console.press("escape", "ctrl+o")
        await console.press("down", "enter")
        assert console.app.current_mode == "sessions"
        assert "hermes work" in console.header
        assert "Sessions (9)" in console.picture
        assert not console.sessions.bar.display


# -- hostile -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (140, 42)])
async def test_hostile_titles_and_texts_are_only_drawn(home: Path, size: tuple[int, int]) -> None:
    write(home, "UPDATE sessions SET title = ? || id, source = ?, cwd = ?", (NASTY, NASTY, NASTY))
    write(home, "UPDATE messages SET content = ? || COALESCE(content, '')", (NASTY,))
    async with sessions(home, size=size) as console:

        def safe() -> None:
            assert FORBIDDEN.findall(console.picture) == []
            assert console.app.is_running

        safe()
        for keys in (("j", "j", "f"), ("escape", "F"), ("escape", "enter", "d"), ("escape", "Y")):
            await console.press(*keys)
            safe()
        await console.press("escape", "escape")
        await look_for(console, "quit")
        safe()
        await console.press("enter", "enter", "n", "n")
        safe()
        await console.press("b", "enter", "B")
        safe()
        await console.press("escape", "x", "3")
        safe()


async def test_what_a_person_types_is_drawn_too(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("slash")
        console.sessions.bar.put(NASTY)
        await console.settle()
        assert FORBIDDEN.findall(console.picture) == []
        console.sessions.bar.input.insert_text_at_cursor(NASTY)
        await console.settle()
        assert FORBIDDEN.findall(console.picture) == []
        await console.press("enter", "s", *"[/x]", "enter", "S")
        assert "[/x]" in console.picture
        assert console.app.is_running


# -- sizes ---------------------------------------------------------------------------------


async def test_a_narrow_terminal_shows_one_side_at_a_time(home: Path) -> None:
    async with sessions(home, size=(80, 24)) as console:
        assert "Sessions (9)" in console.picture
        assert "Where does it come from?" not in console.picture
        await console.press("enter")
        assert "Where does it come from?" in console.picture
        assert "Sessions (9)" not in console.picture
        await console.press("right_square_bracket")
        assert "staging answers on another port" in console.picture
        await console.press("escape")
        assert console.sessions.rows.cursor_index == 1
        await look_for(console, "canary")
        await console.press("enter", "n")
        assert console.sessions.transcript.has_focus
        assert "hit 4 of 4" in console.picture, "the best of them, which is the last"
        await console.press("N")
        assert "hit 3 of 4" in console.picture


async def test_keys_that_cannot_act_say_why(home: Path) -> None:
    async with sessions(home) as console:
        for key, why in {
            "n": "Nothing is looked for",
            "t": "Nothing is looked for",
            "r": "Nothing is looked for",
            "s": "Nothing is looked for",
            "left_square_bracket": "No further session above",
            "B": "no bookmark yet",
            "S": "No search is saved",
        }.items():
            await console.press(key)
            assert why in console.flash, key


async def test_leaving_while_the_index_is_fed_does_not_wait(home: Path) -> None:
    text = "deploy harbour queue ledger " * 40
    key = "20261129_111900_4c1a09"
    say(home, key, *(f"{n} {text}" for n in range(3000)))
    loop = asyncio.get_running_loop()
    async with sessions(home) as console:
        say(home, key, *(f"{n} {text}" for n in range(3000)))
        console.sessions._pausing = None
        console.sessions.feed()
        begun = loop.time()
    # Seconds, not minutes: it ends at the next step, wherever it was.
    assert loop.time() - begun < 20


async def test_a_home_of_vak_is_read_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / "vak"
    shutil.copytree(PAST.parents[1] / "vak", home)
    async with sessions(home) as console:
        assert "vak" in console.header
        assert "Remind me: what did we decide" in console.picture
        await console.press("x")
        assert "Export this conversation as" in console.picture
        await console.press("escape")
        await console.press("Y")
        assert "@session:" in console.picture
        assert "--resume" not in console.picture
        await console.press("escape", "enter", "d")
        assert "role: system" in console.text
        await console.press("escape", "g", "2", "enter")
        assert at(console) == 2
        await console.press("escape")
        await look_for(console, "rollbacks")
        assert len(found(console)) > 1
        assert "hit 1 of" in console.picture
