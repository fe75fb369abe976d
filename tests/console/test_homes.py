"""Another home in the same console: the profiles and what waits there, and moving in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import OptionList

from console.app import SignoffApp
from console.render.homes import HomeItem, home_line
from console.sample import write_sample
from console.screens.homes import HomesScreen
from core.desk.elsewhere import Place, open_place, places, waiting_in
from core.errors import NoHomeError
from core.homes.base import Kind, discover
from core.journal import Journal
from core.model import Receipt
from tests.console.pilots import (
    DEADLINE,
    MEMORY_MODE,
    NOW,
    Console,
    open_console,
    sample,
    settle,
    start_of,
    tree,
)

#: A record of the sample's memory that would land.
READY = "b71d90e4"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The default profile, and beside it one with three records, a broken and an empty one."""
    root = sample(tmp_path)
    work = write_sample(root / "profiles/work", NOW)
    for path in work.glob("pending/*/*.json"):
        if path.stem not in (READY, "81e5a2cc", "3f8a1c20"):
            path.unlink()
    for name in ("broken", "fresh"):
        (root / "profiles" / name / "memories").mkdir(parents=True)
    (root / "profiles/broken/pending").symlink_to("nowhere")
    return root


def listed(console: Console) -> list[str]:
    assert isinstance(console.app.screen, HomesScreen)
    options = console.app.screen.query_one(OptionList).options
    return [str(option.prompt).rstrip() for option in options]


async def choose(console: Console, name: str) -> None:
    await console.press("ctrl+o")
    (number,) = (n for n, line in enumerate(listed(console)) if f" {name} " in line)
    console.app.screen.query_one(OptionList).highlighted = number
    await console.press("enter")


# -- what there is -------------------------------------------------------------------------


def test_every_profile_stands_in_the_list_and_the_open_one_is_marked(home: Path) -> None:
    """Demand 17 of the field reports: counts per home and profile."""
    opened = start_of(home)()
    found = places(opened)
    assert [(p.profile, p.current) for p in found] == [
        ("default", True),
        ("broken", False),
        ("fresh", False),
        ("work", False),
    ]
    counted = [waiting_in(place, NOW) for place in found]
    assert [each.waiting for each in counted] == [24, None, 0, 3]
    assert counted[1].trouble == (
        "pending/memory cannot be read: a link to nothing",
        "pending/skills cannot be read: a link to nothing",
    )


def test_a_home_that_is_no_profile_of_its_root_is_listed_all_the_same(tmp_path: Path) -> None:
    """A folder inside the platform's default home that is none of its profiles: ``custom``."""
    sample(tmp_path)
    odd = write_sample(tmp_path / ".hermes/elsewhere", NOW)
    found = places(replace(start_of(odd)(), found=discover(str(odd), None, None, {}, tmp_path)))
    assert [(p.profile, p.path, p.current) for p in found][-1] == ("custom", odd, True)


def test_a_home_of_another_kind_says_why_it_cannot_be_opened(home: Path) -> None:
    opened = start_of(home)()
    store = Place(home, Kind.RAG, "default", home)
    assert waiting_in(store, NOW).trouble == ("rag homes cannot be reviewed yet",)
    with pytest.raises(NoHomeError, match="cannot review yet"):
        open_place(opened, store)


def test_another_root_knows_the_way_back(home: Path, tmp_path: Path) -> None:
    other = write_sample(tmp_path / "other", NOW)
    opened = start_of(home)()
    there = open_place(opened, Place(other, Kind.HERMES, "default", other))
    assert (there.found.home, there.found.profile) == (other, "default")
    back = [place for place in places(there) if not place.current]
    assert [place.path for place in back] == [home]
    assert open_place(there, back[0]).found.home == home


@pytest.mark.parametrize("width", [20, 30, 60, 100])
def test_a_line_fits_and_an_unknown_count_is_no_zero(width: int) -> None:
    items = [
        HomeItem("default", "~/.hermes", True, 12, "", True),
        HomeItem("x" * 64, "~/.hermes/profiles/x", False, None, "it is\nbroken \x1b[2J", True),
        HomeItem("new", "~/.hermes/profiles/new"),
    ]
    lines = [home_line(item, 10, width) for item in items]
    assert all(line.cell_length <= width and "\x1b" not in line.plain for line in lines)
    if width >= 30:
        assert ["12 waiting" in lines[0].plain, "? unknown" in lines[1].plain] == [True, True]
        assert "counting…" in lines[2].plain


# -- on the screen -------------------------------------------------------------------------


async def test_the_switcher_counts_what_waits_in_each(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("ctrl+o")
        default, broken, fresh, work = listed(console)
        assert default.startswith("▸ default")
        assert "24 waiting" in default
        assert "? unknown" in broken
        assert "a link to nothing" in broken
        assert "0 waiting" in fresh
        assert "3 waiting" in work
        await console.press("escape")
        assert "hermes default" in console.header


async def test_another_profile_opens_as_if_it_had_been_opened_first(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("space", "j", MEMORY_MODE)
        await choose(console, "work")
        assert console.app.current_mode == "memory"
        assert "hermes work" in console.header
        assert "profiles/work" in console.header
        await console.press("1")
        assert len(console.review.queue.items) == 3
        assert console.review.queue.marked == ()
        assert "3 waiting" in console.header


@pytest.mark.parametrize(
    ("name", "said"), [("broken", "waits is not known"), ("fresh", "Nothing waits")]
)
async def test_a_broken_and_an_empty_profile_open_too(home: Path, name: str, said: str) -> None:
    async with open_console(home) as console:
        await choose(console, name)
        assert f"hermes {name}" in console.header
        assert ("waiting: unknown" in console.header) == (name == "broken")
        assert said in console.picture


async def test_decisions_go_to_the_home_on_screen_and_so_does_undo(home: Path) -> None:
    async with open_console(home) as console:
        default = tree(home)
        await choose(console, "work")
        await console.at(READY)
        await console.press("a")
        assert "✓" in console.flash
        entry = Journal(console.state).entries()[0]
        assert (entry.profile, entry.home) == ("work", str(home / "profiles/work"))
        after = tree(home)
        changed = {path for path in default if default[path] != after.get(path)}
        assert changed
        assert all(path.startswith("profiles/work/") for path in changed)
        await choose(console, "default")
        await console.press("u")
        assert "nothing to undo" in console.flash.lower()
        await choose(console, "work")
        await console.press("u")
        assert tree(home) == default


async def test_the_home_on_screen_is_the_one_chosen_already(home: Path) -> None:
    async with open_console(home) as console:
        review = console.review
        await choose(console, "default")
        assert console.review is review
        assert "open already" in console.flash


async def test_a_profile_that_went_away_leaves_all_as_it_is(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("ctrl+o")
        (home / "profiles/fresh/memories").rmdir()
        (home / "profiles/fresh").rmdir()
        console.app.screen.query_one(OptionList).highlighted = 2
        await console.press("enter")
        assert "not there any more" in console.flash
        assert "hermes default" in console.header


async def test_what_is_being_written_is_finished_first(home: Path) -> None:
    """A decision on the home that is left belongs to it."""
    begin, done = threading.Event(), []

    def slow() -> Receipt:
        assert begin.wait(DEADLINE)
        return Receipt("slow", True, "ok", "written")

    async with open_console(home) as console:
        console.app.write(slow, lambda key, _receipt: done.append(key), "first")
        console.app.write(slow, lambda key, _receipt: done.append(key), "second")
        work = next(p for p in places(start_of(home)()) if p.profile == "work")
        console.app._leave_for(work)
        await _until(lambda: "once what is being written" in console.flash)
        assert "hermes default" in console.header
        assert done == []
        begin.set()
        await console.settle()
        assert done == ["first", "second"]
        assert "hermes work" in console.header


async def test_the_watch_moves_along(home: Path) -> None:
    app = SignoffApp(start_of(home), state=home.parent / "state", clock=lambda: NOW, live=True)
    async with app.run_test(size=(120, 36)) as pilot:
        console = Console(app, pilot, home)
        await settle(app, pilot)
        left = app._stop
        await choose(console, "work")
        await console.settle()
        assert left.is_set()
        (home / f"profiles/work/pending/memory/{READY}.json").unlink()
        await _until(lambda: "2 waiting" in console.header)
        assert [w.group for w in app.workers if w.group == "watch" and w.is_running] == ["watch"]


async def _until(true: Callable[[], bool]) -> None:
    for _ in range(1_800):
        if true():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never happened")
