"""A conversation over Review: opened at a message, left again, live, and what can go wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from textual.content import Content

from console.screens.reader import ACTIONS, Reader
from console.screens.review import ReviewScreen
from core.conversations import (
    Conversations,
    Filters,
    Listing,
    Mark,
    Message,
    Relation,
    Relative,
    Session,
    Totals,
    Visibility,
)
from core.errors import UnreadableError
from tests.console.pilots import Console, open_console, sample
from tests.console.widgets.talks import BEGAN, Talk, long_talk, said, talk, words

TITLE = "Deploy [/foo] \x1b[31mred"


@dataclass
class Past:
    """The past of a home with one conversation; every other call is a mistake."""

    shown: Talk
    session_: Session | None = None
    relatives: tuple[Relative, ...] = ()

    def __post_init__(self) -> None:
        self.session_ = Session("s", "cli", TITLE, BEGAN)

    def session(self, session_id: str) -> Session | None:
        return self.session_ if session_id == "s" else None

    def outline(self, session_id: str) -> tuple[Mark, ...]:
        return self.shown.marks

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        return self.shown.fetch(ids, longest)

    def family(self, session_id: str) -> tuple[Relative, ...]:
        return self.relatives

    def listing(self, wanted: Filters, limit: int) -> Listing:
        raise AssertionError

    def resolve(self, text: str) -> str:
        raise AssertionError

    def totals(self) -> Totals:
        raise AssertionError

    def version(self) -> object:
        raise AssertionError


@dataclass
class Open:
    """A reader over Review."""

    console: Console
    reader: Reader

    def rows(self) -> list[str]:
        view = self.reader.transcript
        return [view.render_line(y).text for y in range(view.content_region.height)]

    @property
    def title(self) -> str:
        return Content.from_markup(self.reader.transcript.border_title or "").plain

    @property
    def place(self) -> str:
        return Content.from_markup(self.reader.transcript.border_subtitle or "").plain

    async def press(self, *keys: str) -> None:
        await self.console.press(*keys)
        for _ in range(200):
            if not self.reader.is_attached or not self.reader.transcript.is_loading:
                break
            await self.console.settle()


@asynccontextmanager
async def reading(
    tmp_path: Path,
    open_past: Callable[[], Conversations],
    message_id: int | None = None,
    *,
    session_id: str = "s",
    hits: Sequence[int] = (),
) -> AsyncIterator[Open]:
    async with open_console(sample(tmp_path), size=(80, 24)) as console:
        await console.press("j", "j")
        reader = Reader(open_past, session_id, message_id, hits=hits, find=words("needle"))
        console.app.push_screen(reader)
        shown = Open(console, reader)
        await shown.press()
        yield shown


async def test_it_opens_at_the_message_and_escape_leaves_review_as_it_was(tmp_path: Path) -> None:
    past = Past(long_talk(254))
    async with reading(tmp_path, lambda: past, 12) as shown:
        assert shown.reader.transcript.current == past.shown.marks[11]
        assert shown.place == "message 12 of 254"
        assert shown.title == "Deploy [/foo] ␛[31mred · cli · 2026-11-29 12:00"
        assert any(row.startswith("▌ assistant") for row in shown.rows())
        await shown.press("escape")
        screen = shown.console.app.screen
        assert isinstance(screen, ReviewScreen)
        assert screen.queue.cursor_index == 2


async def test_a_message_of_another_conversation_is_said(tmp_path: Path) -> None:
    past = Past(long_talk(3))
    async with reading(tmp_path, lambda: past, 99) as shown:
        assert shown.console.flash == "Message 99 is not in this conversation"
        assert shown.place == "message 1 of 3"


async def test_hits_and_their_ends(tmp_path: Path) -> None:
    past = Past(long_talk(30, lambda n: "needle" if n in (4, 20) else "hay"))
    async with reading(tmp_path, lambda: past, hits=(4, 20)) as shown:
        await shown.press("n")
        assert shown.place == "message 4 of 30  hit 1 of 2"
        await shown.press("n", "n")
        assert shown.place == "message 20 of 30  hit 2 of 2"
        assert shown.console.flash == "No further hit below in this conversation"


async def test_a_conversation_that_grows_says_so(tmp_path: Path) -> None:
    past = Past(long_talk(30))
    async with reading(tmp_path, lambda: past, 3) as shown:
        past.shown.marks = long_talk(33).marks
        shown.reader.home_changed(frozenset({"sessions"}))
        await shown.press()
        assert shown.place == "message 3 of 33  3 new"
        await shown.press("G")
        assert shown.place == "message 33 of 33"


async def test_roles_and_what_was_taken_back(tmp_path: Path) -> None:
    messages = [
        said(1, "user", "ask"),
        said(2, "tool", "out"),
        said(3, "user", "slip", visibility=Visibility.UNDONE),
        said(4, "assistant", "answer"),
    ]
    past = Past(talk(*messages))
    async with reading(tmp_path, lambda: past) as shown:
        assert "1 undone message not shown" in "".join(shown.rows())
        await shown.press("x")
        assert "slip" in "".join(shown.rows())
        assert shown.place.endswith("  with undone")
        await shown.press("t")
        assert "tool" not in "".join(shown.rows())
        assert shown.place.endswith("  without tools  with undone")
        await shown.press("t", "t", "x")
        assert "tool" in "".join(shown.rows())
        assert "slip" not in "".join(shown.rows())


async def test_a_message_taken_back_is_shown_when_it_is_asked_for(tmp_path: Path) -> None:
    past = Past(talk("a", said(2, "user", "slip", visibility=Visibility.UNDONE)))
    async with reading(tmp_path, lambda: past, 2) as shown:
        assert shown.reader.transcript.current == past.shown.marks[1]
        assert shown.place.endswith("  with undone")


async def test_branches_stand_where_they_began(tmp_path: Path) -> None:
    past = Past(long_talk(6))
    child = Session("c", "cli", "Other end", BEGAN + 150, parent_id="s", relation=Relation.BRANCH)
    past.relatives = (Relative(replace(child, id="s", parent_id=""), 0), Relative(child, 1))
    async with reading(tmp_path, lambda: past) as shown:
        rows = shown.rows()
        (line,) = (n for n, row in enumerate(rows) if "Other end branched off here" in row)
        assert "12:03" in rows[line + 1]


async def test_the_message_is_copied_as_it_is_stored(tmp_path: Path) -> None:
    text = "\x1b[31mred\n" + "x" * 30_000
    past = Past(talk(text, "", "y" * 1_000_001))
    async with reading(tmp_path, lambda: past) as shown:
        await shown.press("y")
        assert shown.console.app.clipboard == text
        await shown.press("}", "y")
        assert shown.console.flash == "There is no text to copy here"
        await shown.press("}", "y")
        assert shown.console.flash == "1,000,001 characters are too many for a clipboard"


async def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    def damaged() -> Conversations:
        raise UnreadableError("state.db is damaged", "The agent mends it")

    empty, past = Past(talk()), Past(long_talk(1))
    for number, (open_past, session_id, words_) in enumerate(
        (
            (damaged, "s", "state.db is damaged. The agent mends it"),
            (lambda: past, "gone", "This conversation is not there any more."),
            (lambda: empty, "s", "This conversation has no messages."),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with reading(folder, open_past, session_id=session_id) as shown:
            assert words_ in shown.console.picture
            await shown.press("t", "x", "y", "n", "j")
            await shown.press("escape")
            assert isinstance(shown.console.app.screen, ReviewScreen)


async def test_the_help_names_every_key(tmp_path: Path) -> None:
    past = Past(long_talk(1))
    async with reading(tmp_path, lambda: past) as shown:
        await shown.press("question_mark")
        for action in ACTIONS:
            assert action.help.removesuffix(".") in shown.console.words
        assert "Unfold, fold, load" in shown.console.words
        for action in ACTIONS:
            assert callable(getattr(Reader, f"action_{action.name}"))
