"""The console driven without a terminal: a home, a fixed clock, and waiting for its own work."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from textual.pilot import Pilot
from textual.widgets import Static
from textual.widgets._footer import FooterKey

from console.actions import MODES
from console.app import SignoffApp
from console.render.line import Line
from console.sample import write_sample
from console.screens.journal import JournalScreen
from console.screens.knowledge import KnowledgeScreen
from console.screens.memory import MemoryScreen
from console.screens.opening import Opening
from console.screens.review import ReviewScreen
from console.screens.sessions import SessionsScreen
from console.screens.skills import SkillsScreen
from console.widgets.bars import FlashLine, HomeBar
from console.widgets.lines import LineView
from core.desk.opening import Opened, open_home
from core.settings import Settings

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
#: Groups of workers whose end is waited for; the file watcher never ends.
GROUPS = frozenset(
    {
        *("open", "glance", "list", "labels", "preview", "detail", "rest", "write", "ui", "sheet"),
        *("search", "session", "follow", "keep", "kept", "names", "index", "origin", "calls"),
    }
)
#: The keys of modes: their numbers move when another mode comes before them.
_NUMBERS = {mode: str(number) for number, mode in enumerate(MODES, 1)}
SESSIONS_MODE, SKILLS_MODE, MEMORY_MODE, JOURNAL_MODE, KNOWLEDGE_MODE = (
    _NUMBERS[mode] for mode in ("sessions", "skills", "memory", "journal", "knowledge")
)
#: Seconds after which a wait is a failure.
DEADLINE = 90.0


def start_of(
    home: Path, *, settings: Settings | None = None, clock: Callable[[], datetime] = lambda: NOW
) -> Callable[[], Opened]:
    """What opens ``home``; its parent is the person's own folder and holds signoff's."""

    def start() -> Opened:
        return open_home(
            home=str(home),
            kind=None,
            profile=None,
            environ={
                "HERMES_MANAGED_DIR": str(home.parent / "managed"),
                "HERMES_RAG_STORE": str(home.parent / "hermes-rag"),
                "HERMES_RAG_WIKI_ROOT": str(home.parent / "wikis"),
                "HERMES_RAG_PROJECTS_FILE": str(home.parent / "projects.yaml"),
            },
            user_home=home.parent,
            state=home.parent / "state",
            settings=settings or Settings(),
            clock=clock,
        )

    return start


def console_on(home: Path, *, keys: dict[str, str] | None = None) -> SignoffApp:
    """The console on ``home``, not watching it."""
    return SignoffApp(
        start_of(home), state=home.parent / "state", clock=lambda: NOW, keys=keys, live=False
    )


async def settle(app: SignoffApp, pilot: Pilot[None]) -> None:
    """Wait until the console has nothing left to do by itself."""
    loop = asyncio.get_running_loop()
    end = loop.time() + DEADLINE
    quiet = 0
    while quiet < 2:
        if loop.time() > end:
            running = sorted({w.group for w in app.workers if w.is_running})
            raise AssertionError(f"the console is still busy with {running}")
        await pilot._wait_for_screen()
        if app.screen_stack:
            app.screen._on_timer_update()
        quiet = 0 if _is_busy(app) or _is_moving(app) else quiet + 1
        await asyncio.sleep(0 if quiet else 0.02)


def _is_busy(app: SignoffApp) -> bool:
    """Whether it works by itself, or will soon."""
    return (
        any(w.group in GROUPS and not w.is_finished for w in app.workers)
        or not app.screen_stack
        or isinstance(app.screen, Opening)
        or _resting(app)
        or _footer_is_behind(app)
    )


def _is_moving(app: SignoffApp) -> bool:
    """Whether a message is on its way, a key is kept, or something is drawn or scrolled later."""
    screens = app.screen_stack
    pumps = [app, *(pump for screen in screens for pump in screen.walk_children(with_self=True))]
    return (
        bool(app._rounds or app._kept or app._animator._animations or app._animator._scheduled)
        or any(pump.message_queue_size or pump._next_callbacks for pump in pumps)
        # What lies below another screen is drawn when that goes.
        or bool(app.screen._callbacks or app.screen._dirty_widgets or app.screen._layout_required)
    )


async def _at_once(_least: float = 0, _most: float = 0) -> None:
    """Instead of Textual's wait until this process looks idle: one that is kept waiting by the
    machine looks so too.
    """


def _footer_is_behind(app: SignoffApp) -> bool:
    """Whether the footer still greys what can run, or the other way round."""
    active = app.screen.active_bindings
    return any(
        key.key in active and key.has_class("-disabled") == active[key.key].enabled
        for key in app.screen.query(FooterKey)
    )


def _resting(app: SignoffApp) -> bool:
    """Whether the cursor or the typing rests before a job."""
    for stack in app._screen_stacks.values():
        for screen in stack:
            for name in ("_resting", "_typing", "_soon"):
                task = getattr(getattr(screen, name, None), "_task", None)
                if task is not None and not task.done():
                    return True
    return False


@dataclass
class Console:
    """A running console. ``home`` is the home it shows, ``state`` signoff's own folder.

    ``seconds`` is what its clock shows: time passes after keys, not while they are pressed.
    """

    app: SignoffApp
    pilot: Pilot[None]
    home: Path
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.app.ticks = lambda: self.seconds

    @property
    def state(self) -> Path:
        return self.home.parent / "state"

    async def press(self, *keys: str) -> None:
        """Press keys, wait for what they began, and look at it for a second."""
        await self.tap(*keys)
        self.seconds += 1.0

    async def tap(self, *keys: str) -> None:
        """Press keys one after the other, each once the last is through, and look at nothing."""
        for key in keys:
            with mock.patch("textual.app.wait_for_idle", _at_once):
                await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        await settle(self.app, self.pilot)

    async def reload(self) -> None:
        """What the watcher would say: every area changed."""
        self.app.tell(frozenset({"queue", "memory", "skills"}))
        await self.settle()

    # -- what stands on the screen ---------------------------------------------------------

    @property
    def review(self) -> ReviewScreen:
        assert isinstance(self.app.screen, ReviewScreen)
        return self.app.screen

    @property
    def sessions(self) -> SessionsScreen:
        assert isinstance(self.app.screen, SessionsScreen)
        return self.app.screen

    @property
    def skills(self) -> SkillsScreen:
        assert isinstance(self.app.screen, SkillsScreen)
        return self.app.screen

    @property
    def memory(self) -> MemoryScreen:
        assert isinstance(self.app.screen, MemoryScreen)
        return self.app.screen

    @property
    def journal(self) -> JournalScreen:
        assert isinstance(self.app.screen, JournalScreen)
        return self.app.screen

    @property
    def knowledge(self) -> KnowledgeScreen:
        assert isinstance(self.app.screen, KnowledgeScreen)
        return self.app.screen

    @property
    def flash(self) -> str:
        return _shown(self.app.screen.query_one(FlashLine))

    @property
    def header(self) -> str:
        return _shown(self.app.screen.query_one(HomeBar))

    @property
    def text(self) -> str:
        """The text of the detail pane, or of the sheet, line by line."""
        view = self.app.screen.query_one(LineView)
        return "\n".join(line.content.plain.rstrip() for line in view.lines)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the detail pane, with their styles."""
        return tuple(self.app.screen.query_one(LineView).lines)

    @property
    def words(self) -> str:
        """The same text without its line breaks."""
        return " ".join(self.text.split())

    @property
    def picture(self) -> str:
        """Every line of the terminal, as plain text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def at(self, name: str) -> Any:
        """Put the cursor on a record of the queue by its id; the row."""
        (item,) = (item for item in self.review.queue.items if item.id == name)
        assert self.review.queue.move_to(item.key)
        await self.settle()
        return item

    def row(self, name: str) -> Any:
        """A record of the queue by its id, or ``None``."""
        return next((item for item in self.review.queue.items if item.id == name), None)


@asynccontextmanager
async def open_console(
    home: Path, *, size: tuple[int, int] = (120, 36), keys: dict[str, str] | None = None
) -> AsyncIterator[Console]:
    """The console on ``home``, read and still."""
    app = console_on(home, keys=keys)
    async with app.run_test(size=size) as pilot:
        console = Console(app, pilot, home)
        await console.settle()
        yield console


def sample(folder: Path, name: str = ".hermes") -> Path:
    """A fresh sample home in ``folder``."""
    return write_sample(folder / name, NOW)


def tree(home: Path) -> dict[str, tuple[int, str]]:
    """``path -> (mode, hash)`` of every file in a home; what undo has to bring back."""
    return {
        str(path.relative_to(home)): (
            path.stat().st_mode & 0o7777,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


def _shown(widget: Static) -> str:
    return str(widget.render())
