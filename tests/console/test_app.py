"""The shell around the screens: modes, help, palette, themes, keys, problems, the end."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandList, CommandPalette
from textual.widgets import Footer, Input

from console import themes
from console.actions import MODES, Action, help_in, offered
from console.app import SignoffApp
from console.cli.session import Session
from console.launch import _log_to, launch
from console.palette import ActionProvider
from console.screens.review import ReviewScreen
from console.screens.sheet import Sheet
from core.errors import NoHomeError, UsageError
from tests.console.pilots import (
    DEADLINE,
    JOURNAL_MODE,
    MEMORY_MODE,
    NOW,
    Console,
    console_on,
    open_console,
    sample,
    settle,
    start_of,
    tree,
)

USER = "b71d90e4"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


@pytest.fixture
def log(home: Path) -> Iterator[Path]:
    """signoff's log file, as the program opens it."""
    logger = logging.getLogger("signoff")
    before = list(logger.handlers)
    _log_to(home.parent / "state")
    yield home.parent / "state" / "signoff.log"
    for handler in logger.handlers[:]:
        if handler not in before:
            logger.removeHandler(handler)
            handler.close()
    logger.propagate = True


def test_the_log_is_its_owners_alone_whatever_the_umask(home: Path, log: Path) -> None:
    """README: folder 0700, file 0600; also a log that was made without that care."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    log.chmod(0o644)
    logging.getLogger("signoff").error("once")
    assert log.stat().st_mode & 0o777 == 0o600


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def ui(console: Console) -> Any:
    return json.loads((console.state / "ui.json").read_text())


def footer(console: Console) -> str:
    """The last line of the terminal."""
    assert console.app.screen.query_one(Footer).display
    return console.picture.splitlines()[-1]


def empty(home: Path) -> None:
    for path in home.glob("pending/*/*.json"):
        path.unlink()


# -- modes, help, palette ------------------------------------------------------------------


async def test_numbers_change_the_mode_and_the_last_one_is_remembered(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        assert console.memory.is_current
        await console.press(JOURNAL_MODE)
        assert console.journal.is_current
        await console.press("1")
        assert console.review.is_current
        await console.press(JOURNAL_MODE)
        assert ui(console)["mode"] == "journal"
    async with open_console(home) as console:
        assert "24 waiting" in console.header
        assert console.review.is_current
    empty(home)
    async with open_console(home) as console:
        assert "0 waiting" in console.header
        assert console.journal.is_current
        # Only the start goes back there: what is decided later does not move the person.
        await console.press("1", "f5")
        assert console.review.is_current


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_help_lists_every_key_that_works_here(
    home: Path, mode: str, size: tuple[int, int]
) -> None:
    async with open_console(home, size=size) as console:
        console.app.action_mode(mode)
        await console.settle()
        await console.press("question_mark")
        assert isinstance(console.app.screen, Sheet)
        for action in (*offered(mode, "hermes"), *offered("app", "hermes")):
            assert help_in(mode, action).removesuffix(".") in console.text
            assert action.shown_key in console.text
        assert "Half a page down" in console.text
        assert max(map(len, console.text.splitlines())) <= size[0] - 6
        await console.press("escape")
        assert not isinstance(console.app.screen, Sheet)


async def test_help_fits_another_width(home: Path) -> None:
    async with open_console(home, size=(140, 42)) as console:
        await console.press("f1")
        wide = console.text.splitlines()
        await console.pilot.resize_terminal(80, 24)
        await console.settle()
        assert len(console.text.splitlines()) > len(wide)


@pytest.mark.parametrize("mode", MODES)
async def test_the_palette_lists_every_action_of_the_screen(home: Path, mode: str) -> None:
    async with open_console(home) as console:
        console.app.action_mode(mode)
        await console.settle()
        await console.press("ctrl+p")
        assert isinstance(console.app.screen, CommandPalette)
        listed = [
            str(getattr(option, "prompt", ""))
            for option in console.app.screen.query_one(CommandList).options
        ]
        every = (*offered(mode, "hermes"), *offered("app", "hermes"))
        wanted = [each for each in every if each.name != "command_palette"]
        assert len(listed) == len(wanted)
        for action in wanted:
            said = help_in(mode, action)
            assert any(said in entry for entry in listed), action.id


async def test_the_palette_runs_what_it_lists(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(USER)
        await console.press("ctrl+p", *"light")
        await console.press("enter")
        await console.press("enter") if isinstance(console.app.screen, CommandPalette) else None
        assert console.app.theme == "signoff-light"
        await console.press("ctrl+p", *"approve (", "enter")
        await console.settle()
        assert console.row(USER) is None


@pytest.mark.parametrize(
    "action",
    [*offered("app", "hermes"), *offered("review", "hermes")],
    ids=lambda a: a.id,
)
async def test_every_entry_of_the_palette_calls_its_action(
    home: Path, monkeypatch: pytest.MonkeyPatch, action: Action
) -> None:
    if action.name == "command_palette":
        pytest.skip("it is the palette")
    called: list[tuple[str, object]] = []
    async with open_console(home) as console:

        async def note(name: str, namespace: object = None, _more: object = None) -> bool:
            called.append((name, namespace))
            return True

        provider = ActionProvider(console.review)
        hits = [hit async for hit in provider.discover()]
        (hit,) = (hit for hit in hits if hit.help == action.help)
        monkeypatch.setattr(console.app, "run_action", note)
        await hit.command()
        monkeypatch.undo()
        where = console.app if action.where == "app" else console.review
        assert called == [(action.name, where)]


# -- the footer, keys, themes --------------------------------------------------------------


async def test_the_footer_shows_the_verbs_in_the_order_of_work(home: Path) -> None:
    async with open_console(home, size=(80, 24)) as console:
        assert " ".join(footer(console).split()) == (
            "space mark a approve r refuse n next enter look u undo ? help q quit"
        )
        await console.press(MEMORY_MODE)
        assert " ".join(footer(console).split()) == (
            "d forget e edit a add enter look u undo ? help q quit"
        )


async def test_keys_of_the_settings_replace_the_usual_ones(home: Path) -> None:
    keys = {"review.approve": "ctrl+a", "rows.down": "s"}
    async with open_console(home, keys=keys) as console:
        await console.at(USER)
        await console.press("a")
        assert console.row(USER) is not None
        await console.press("question_mark")
        assert "  ctrl+a " in console.text
        await console.press("escape", "ctrl+a")
        assert console.row(USER) is None


def test_a_key_for_an_unknown_action_is_said_before_anything_opens(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('[keys]\n"review.aprove" = "x"\n')
    environ = {"SIGNOFF_SETTINGS": str(settings), "SIGNOFF_STATE": str(tmp_path / "state")}
    with pytest.raises(UsageError, match=r"unknown action 'review\.aprove'"):
        launch(Session(None, None, None, None, environ))


async def test_themes_go_round_and_the_choice_is_kept(home: Path) -> None:
    async with open_console(home) as console:
        seen = [console.app.theme]
        for _ in themes.THEMES:
            await console.press("ctrl+t")
            seen.append(console.app.theme)
        assert seen == ["signoff-dark", "signoff-light", "signoff-contrast", "signoff-dark"]
        await console.press("ctrl+t")
        assert ui(console) == {"theme": "signoff-light", "mode": "", "split": None}
    async with open_console(home) as console:
        assert console.app.theme == "signoff-light"


async def test_no_color_takes_the_theme_of_high_contrast(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_console(home) as console:
        assert console.app.theme == "signoff-contrast"


@pytest.mark.parametrize("text", ["", "[]", '{"theme": 3}', '{"mode": "x", "split": "y"}', "\x00"])
async def test_odd_saved_state_is_forgotten(home: Path, text: str) -> None:
    (home.parent / "state").mkdir()
    (home.parent / "state" / "ui.json").write_text(text)
    async with open_console(home) as console:
        assert console.app.theme == "signoff-dark"
        assert console.review.is_current


async def test_f5_reads_the_home_again(home: Path) -> None:
    async with open_console(home) as console:
        (home / f"pending/memory/{USER}.json").unlink()
        await console.press("f5")
        assert "23 waiting" in console.header
        assert console.row(USER).word == "gone"


async def test_undo_with_nothing_to_undo_says_so(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press("u")
        assert console.flash == "There is nothing to undo. See Journal (5)"
        assert tree(home) == before


async def test_a_small_terminal_is_told_what_is_needed(home: Path) -> None:
    async with open_console(home, size=(39, 12)) as console:
        assert "signoff needs 40 columns and 10 lines" in console.picture
        assert "Queue" not in console.picture
        await console.pilot.resize_terminal(80, 24)
        await console.settle()
        assert "Queue (25)" in console.picture
        assert "signoff needs" not in console.picture


async def test_keys_typed_into_a_note_decide_nothing(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(USER)
        await console.press("R", *"aruqn123zs?")
        assert console.app.screen.query_one(Input).value == "aruqn123zs?"
        await console.press("escape")
        assert tree(home) == before


# -- problems ------------------------------------------------------------------------------


def _fail(*_args: object, **_more: object) -> None:
    secret = "the agent wrote this"
    raise RuntimeError(f"boom {len(secret)}")


async def test_a_bug_in_a_job_is_a_panel_with_a_way_on(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_console(home) as console:
        with monkeypatch.context() as patch:
            patch.setattr("core.desk.review.show", _fail)
            await console.press("j")
        assert isinstance(console.app.screen, Sheet)
        assert "RuntimeError: boom 20" in console.text
        assert "~/state/signoff.log" in console.text
        await console.press("escape")
        await console.at(USER)
        assert "Reads diffs side by side" in console.text
    written = read(log)
    assert 'raise RuntimeError(f"boom {len(secret)}")' in written
    assert "the agent wrote this" not in written.replace('secret = "the agent wrote this"', "")


async def test_a_bug_in_a_handler_does_not_end_the_console(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_console(home) as console:
        with monkeypatch.context() as patch:
            patch.setattr(ReviewScreen, "action_split", _fail)
            await console.press("s")
        assert isinstance(console.app.screen, Sheet)
        await console.press("q")
        assert console.review.is_current
    assert "boom 20" in read(log)


async def test_a_bug_in_a_message_handler_does_not_end_the_screen(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_console(home) as console:
        with monkeypatch.context() as patch:
            patch.setattr(ReviewScreen, "on_row_list_highlighted", _fail)
            await console.press("j")
        assert isinstance(console.app.screen, Sheet)
        await console.press("q")
        await console.at(USER)
        await console.press("a")
        assert console.row(USER) is None
    assert "boom 20" in read(log)


async def test_a_bug_while_deciding_returns_the_row(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(USER)
        with monkeypatch.context() as patch:
            patch.setattr("core.desk.decide.approvals", _fail)
            await console.press("a")
        assert isinstance(console.app.screen, Sheet)
        await console.press("escape")
        assert console.row(USER).fate == "failed"
        assert tree(home) == before
        await console.press("a")
        assert console.row(USER) is None
    assert "boom 20" in read(log)


async def test_a_console_that_keeps_failing_gives_up(
    home: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = console_on(home)
    async with app.run_test() as pilot:
        await settle(app, pilot)
        for _ in range(6):
            app.show_problem(RuntimeError("again"))
        await pilot.pause()
    assert app.return_code == 1
    assert read(log).count("RuntimeError: again") == 6


# -- beginning and end ---------------------------------------------------------------------


async def test_no_home_ends_the_console_with_the_reason(tmp_path: Path) -> None:
    app = console_on(tmp_path / "nowhere")
    async with app.run_test() as pilot:
        end = time.monotonic() + DEADLINE
        while app.is_running and app.no_home is None and time.monotonic() < end:
            await pilot.pause()
    assert isinstance(app.no_home, NoHomeError)
    assert app.return_code == app.no_home.exit_code


def test_the_reason_is_the_command_lines_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: SignoffApp, **_options: object) -> None:
        try:
            self._start()
        except NoHomeError as problem:
            self.no_home = problem

    monkeypatch.setattr(SignoffApp, "run", run)
    environ = {"SIGNOFF_SETTINGS": str(tmp_path / "none"), "SIGNOFF_STATE": str(tmp_path / "state")}
    with pytest.raises(NoHomeError) as caught:
        launch(Session(str(tmp_path / "nowhere"), None, None, None, environ))
    assert str(tmp_path / "nowhere") in caught.value.message


async def test_quitting_leaves_no_thread_behind(home: Path) -> None:
    before = set(threading.enumerate())
    app = SignoffApp(start_of(home), state=home.parent / "state", clock=lambda: NOW, live=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(app, pilot)
        assert {t.name for t in threading.enumerate()} - {t.name for t in before}
        await pilot.press("q")
    assert app.return_code == 0
    # What asyncio.run does at its end: a thread that does not stop would hang the terminal here.
    async with asyncio.timeout(DEADLINE):
        await asyncio.get_running_loop().shutdown_default_executor()
    assert _busy(before) == []


def _busy(before: set[threading.Thread]) -> list[str]:
    """New threads at work in this program; the loop's own pool may keep idle ones."""
    frames = sys._current_frames()
    found = []
    for thread in set(threading.enumerate()) - before:
        frame = frames.get(thread.ident or 0)
        files = {f.filename for f in traceback.extract_stack(frame)} if frame else set()
        if any("/console/" in file or "/core/" in file for file in files):
            found.append(thread.name)
    return found


async def test_ctrl_q_leaves_from_a_dialog(home: Path) -> None:
    app = console_on(home)
    async with app.run_test() as pilot:
        await settle(app, pilot)
        await pilot.press("R", "ctrl+q")
        await pilot.pause()
        assert not app.is_running or app._exit
    assert app.return_code == 0


async def test_the_keys_stay_where_there_is_less_room(home: Path) -> None:
    async with open_console(home, size=(60, 20)) as console:
        assert console.picture.rstrip().split("\n")[-1].lstrip().startswith("space mark")
