"""The Sessions mode driven like a person does: look, land, step, scroll, come back."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from console.screens.choose import Choose
from console.screens.sessions_past import Results
from console.screens.sheet import Sheet
from console.widgets.transcript import Shown
from core.conversations import Engine, Found
from tests.console.pilots import MEMORY_MODE, SESSIONS_MODE, Console, open_console, sample, tree

PAST = Path(__file__).parents[1] / "data/hermes-sessions/state.db"
LOGO, STAGING, IMPORT = "Invoice preview", "Staging moved", "Move the last tenants"
#: The proposal that the first conversation of the sample staged, and its file.
PREVIEW, CANARY = "3f8a1c20", "72c0e95d"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


@pytest.fixture
def agent(home: Path) -> Path:
    """The sample home with the past of the real agent's fixture: 52 sessions, 12 of cron."""
    shutil.copy(PAST, home / "state.db")
    return home


@asynccontextmanager
async def sessions(home: Path, size: tuple[int, int] = (140, 42)) -> AsyncIterator[Console]:
    async with open_console(home, size=size) as console:
        await console.press(SESSIONS_MODE)
        yield console


def titles(console: Console) -> list[str]:
    rows = console.sessions.rows.items
    return [item.session.title or item.session.preview or item.session.id for item in rows]


def found(console: Console) -> list[str]:
    return [item.hit.title or item.hit.session_id for item in console.sessions.hits.items]


def at(console: Console) -> int | None:
    return console.sessions.message_id


async def look_for(console: Console, words: str) -> None:
    await console.press("slash")
    console.sessions.bar.put("")
    await console.press(*("space" if letter == " " else letter for letter in words))


# -- the list ------------------------------------------------------------------------------


async def test_the_list_shows_people_first_and_counts_what_it_leaves_out(home: Path) -> None:
    async with sessions(home) as console:
        assert [title.split(" ")[0] for title in titles(console)[:2]] == ["Invoice", "Staging"]
        assert "Sessions (9)" in console.picture
        assert "cli 5 · telegram 2 · discord 1 · slack 1" in console.picture
        assert "+6 cron runs: c" in console.picture
        assert "+1 archived: a" in console.picture
        assert "cli · live · 14 msg · tallyport" in console.picture
        assert "3 parts" in console.picture
        assert "branch" in console.picture
        await console.press("c")
        assert "cron 6" in console.picture
        assert len(titles(console)) == 15
        assert "new" not in console.picture.split("Sessions (15)")[1].split("╮")[0]
        await console.press("a")
        assert "archived" in console.picture
        assert len(titles(console)) == 16
        await console.press("c", "a")
        assert len(titles(console)) == 9


async def test_a_narrow_screen_is_filled_from_the_first_frame_on(home: Path) -> None:
    """A newcomer's report: titles were cut for a pane that had not been laid out."""
    async with sessions(home, size=(80, 24)) as console:
        assert "cli 5 · telegram 2 · discord 1 · slack 1\n" in console.picture
        await console.press("enter")
        assert "━ Invoice preview shows the old logo · cli · 2026" in console.picture


async def test_hidden_sources_and_one_source_only(agent: Path) -> None:
    async with sessions(agent) as console:
        assert "+4 hidden: H" in console.picture
        whole = len(titles(console))
        await console.press("H")
        assert len(titles(console)) == whole + 4
        await console.press("H", "F")
        assert isinstance(console.app.screen, Choose)
        options = console.app.screen.query_one(OptionList).options
        place = next(n for n, each in enumerate(options) if "discord" in str(each.prompt))
        await console.press(str(place + 1))
        assert {item.session.source for item in console.sessions.rows.items} == {"discord"}
        assert "only discord, all: F" in console.picture
        await console.press("F", "1")
        assert len(titles(console)) == whole


async def test_moving_in_the_list_reads_each_conversation(home: Path) -> None:
    async with sessions(home) as console:
        assert "Where does it come from?" in console.picture
        await console.press("j")
        assert "staging answers on another port" in console.picture
        await console.press("j")
        assert len(console.sessions.transcript.outline.marks) == 24, "all parts of the chain"
        await console.press("k")
        assert "staging answers on another port" in console.picture


async def test_enter_and_escape_go_in_and_out(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("enter")
        assert console.sessions.transcript.has_focus
        await console.press("G")
        last = at(console)
        await console.press("escape")
        assert console.sessions.rows.has_focus
        await console.press("j", "k")
        assert at(console) == last, "the reader is where it was"


# -- searching -----------------------------------------------------------------------------


async def test_a_search_as_one_types_lands_on_the_hit_and_comes_back(agent: Path) -> None:
    async with sessions(agent) as console:
        await console.press(*"jjj")
        row = console.sessions.rows.cursor_key
        await look_for(console, "kubernetes")
        assert "sessions for “kubernetes”" in console.picture
        assert "signoff's index" in console.picture or "the agent's own index" in console.picture
        hit = console.sessions.hits.cursor_item
        assert hit is not None
        assert at(console) == hit.hit.message_id
        assert console.flash.startswith("tab completes source:")
        assert "hit 1 of" in console.picture or "hit" in console.picture
        await console.press("enter")
        assert console.sessions.hits.has_focus
        assert console.flash == ""
        await console.press("escape")
        assert console.sessions.rows.has_focus
        assert console.sessions.rows.cursor_key == row
        assert not console.sessions.bar.display


async def test_n_walks_all_hits_and_goes_on_into_the_next_session(agent: Path) -> None:
    async with sessions(agent) as console:
        await look_for(console, "kubernetes")
        await console.press("enter", "enter")
        seen: list[tuple[str | None, int | None]] = []
        for _ in range(12):
            seen.append((console.sessions.hits.cursor_key, at(console)))
            await console.press("n")
        keys = list(dict.fromkeys(key for key, _ in seen))
        assert len(keys) > 1, "it went on into other sessions"
        assert keys == [item.key for item in console.sessions.hits.items][: len(keys)]
        await console.press("N")
        await console.press("N")
        assert (console.sessions.hits.cursor_key, at(console)) in seen


async def test_going_back_lands_on_the_last_hit_of_the_session_before(agent: Path) -> None:
    async with sessions(agent) as console:
        await look_for(console, "kubernetes")
        await console.press("enter", "enter", "right_square_bracket")
        second = console.sessions.hits.cursor_key
        read = console.sessions._read
        assert read is not None
        console.sessions.transcript.go_to(read.hits[0])
        for _ in range(8):
            await console.press("N")
            if console.sessions.hits.cursor_key != second:
                break
        before = console.sessions._read
        assert before is not None
        assert console.sessions.hits.cursor_key != second
        assert at(console) == before.hits[-1]


async def test_what_is_left_out_is_one_key_away(home: Path) -> None:
    async with sessions(home) as console:
        await look_for(console, "PREVIEW_TTL")
        assert found(console) == []
        assert "1 more in tool output: t" in console.picture
        await console.press("enter", "t")
        assert [title.split(" ")[0] for title in found(console)] == ["Invoice"]
        assert "PREVIEW_TTL" in console.picture
        await console.press("t")
        assert found(console) == []
        await look_for(console, "other host")
        assert "1 more undone: X" in console.picture or "more undone: X" in console.picture
        await console.press("enter", "X")
        assert found(console)[0] == "Load test numbers"
        assert "undone" in console.picture


@pytest.mark.parametrize(
    ("engine", "is_whole", "count"),
    [
        (Engine.INDEX, True, "7 sessions"),
        (Engine.INDEX, False, "~7 sessions"),
        (Engine.DATABASE, False, "7+ sessions"),
    ],
)
async def test_a_count_claims_no_more_than_is_known(
    home: Path, engine: Engine, is_whole: bool, count: str
) -> None:
    """As the command line says it: what the index counts may have been taken back."""
    async with sessions(home) as console:
        answer = Found("x", "x", engine, total_sessions=7, is_whole=is_whole)
        console.sessions._results = Results("x", (), answer, None)
        console.sessions._title_hits()
        assert str(console.sessions.hits.border_title) == f"{count} for “x”"


async def test_a_misspelt_word_is_corrected_and_said(home: Path) -> None:
    async with sessions(home) as console:
        await look_for(console, "roundng")
        assert "“roundng” read as “rounding”" in console.picture
        assert found(console) != []


@pytest.mark.parametrize("size", [(80, 24), (140, 42)])
async def test_what_became_of_a_query_is_said_whole(home: Path, size: tuple[int, int]) -> None:
    async with sessions(home, size) as console:
        await look_for(console, "deploy before:banana")
        said = " ".join(str(console.sessions.query_one("#facets", Static).content).split())
        assert said.startswith(
            "before:banana is no date (2026-07-01), time (2026-07-01T10:00) or age (7d, 12h)."
        )
        await look_for(console, "deplyo windw")
        said = " ".join(str(console.sessions.query_one("#facets", Static).content).split())
        assert said.startswith("“deplyo” read as “deploy” “windw” read as “window”")
        await look_for(console, '"open (deploy')
        assert "read word by word: open deploy" in console.picture


async def test_the_last_hit_says_what_a_hit_is_where_single_words_are_marked(home: Path) -> None:
    async with sessions(home) as console:
        await look_for(console, "deploy window")
        await console.press("enter", "n")
        said = "No further hit below; › marks single words in other messages too"
        assert console.flash == said
        await console.pilot.resize_terminal(80, 24)
        await console.settle()
        assert said in console.picture, "whole"
        await look_for(console, "canary")
        await console.press("enter", "n", "n", "n", "n")
        assert console.flash == "No further hit below"


async def test_filters_and_their_completion(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("slash", *"so")
        assert "tab  source:" in console.picture
        await console.press("tab")
        assert console.sessions.bar.text == "source:"
        await console.press("tab")
        first = console.sessions.bar.text
        assert first.startswith("source:")
        await console.press("tab")
        assert console.sessions.bar.text != first, "tab again takes the next offer"
        console.sessions.bar.put("source:slack note")
        await console.settle()
        assert found(console) == ["Relay vendor page: deploy window"]
        console.sessions.bar.put("source:telegram")
        await console.settle()
        assert len(found(console)) == 2


async def test_the_newest_search_wins_whatever_ends_first(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("slash")
        for words in ("staging", "importer", "canary"):
            console.sessions.search(words)
        await console.settle()
        assert console.sessions._results is not None
        assert console.sessions._results.text == "canary"


async def test_a_pasted_link_opens_its_session(home: Path) -> None:
    async with sessions(home) as console:
        row = console.sessions.rows.items[1].session
        await console.press("slash")
        console.sessions.bar.put(f"@session:default/{row.id}")
        await console.settle()
        assert [item.key for item in console.sessions.hits.items] == [row.id]
        assert "staging answers on another port" in console.picture
        console.sessions.bar.put("@session:default/nothing")
        await console.settle()
        assert "There is no session" in console.flash


async def test_nothing_found_says_so(home: Path) -> None:
    async with sessions(home) as console:
        await look_for(console, "zzyzxabsent")
        assert "No conversation answers" in console.picture
        assert "esc ends the search" in console.picture
        await console.press("escape")
        assert "Where does it come from?" in console.picture


# -- around a message ----------------------------------------------------------------------


async def test_the_family_goes_to_a_part_a_delegate_and_back(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("j", "j", "f")
        assert isinstance(console.app.screen, Choose)
        prompts = [str(o.prompt) for o in console.app.screen.query_one(OptionList).options]
        assert [p.split(":")[0].split()[-1] for p in prompts].count("continues") == 2
        cut = [prompt for prompt in prompts if prompt.strip() not in console.picture]
        assert cut == [], "the date at the end is shown, however deep a row is set in"
        place = next(n for n, prompt in enumerate(prompts, 1) if "delegate" in prompt)
        await console.press(str(place))
        assert "Report differences only" in console.picture
        assert "· not in the list ━" in console.picture
        assert console.sessions.transcript.has_focus
        await console.press("f")
        prompts = [str(o.prompt) for o in console.app.screen.query_one(OptionList).options]
        assert "▶ delegate" in "".join(prompts)
        await console.press("2")
        assert console.sessions.part_here().endswith("9d51f4"), "the second part of the chain"
        assert "part 2 of 3" in console.picture
        assert "not in the list" not in console.picture


async def test_g_goes_to_a_date_a_message_and_a_session(home: Path) -> None:
    async with sessions(home) as console:

        async def go(where: str) -> None:
            await console.press("g" if console.sessions.transcript.has_focus else "enter")
            if not isinstance(console.app.screen.focused, Input):
                await console.press("g")
            field = console.app.screen.query_one(Input)
            field.value = where
            await console.press("enter")

        read = console.sessions._read
        assert read is not None
        last = read.outline[-1]
        await go(str(last.id))
        assert at(console) == last.id
        await go("2026-11-29T11:41:00+00:00")
        assert at(console) == read.outline[7].id
        assert console.flash == ""
        await go("2026-11-25")
        assert console.flash == "No message on 2026-11-25; this is the next"
        assert at(console) == read.outline[0].id
        await go("2026-12-24")
        assert console.flash == "No message on 2026-12-24 or later; this is the last"
        assert at(console) == last.id
        other = console.sessions.rows.items[1].key
        await go(f"@session:default/{other}")
        assert "staging answers on another port" in console.picture
        await go("999999")
        assert "There is no message 999999. Type another number" in console.picture
        console.app.screen.query_one(Input).value = str(last.id)
        await console.press("enter")
        assert at(console) == last.id, "a message of another session"


async def test_roles_are_narrowed_in_turn(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("enter", "p")
        assert "without tools" in console.picture
        assert "tool  search_files" not in console.picture
        await console.press("p")
        assert "only the person" in console.picture
        assert len(console.sessions.transcript.outline) == 3
        await console.pilot.resize_terminal(104, 30)
        await console.settle()
        frame = str(console.sessions.transcript.border_title)
        assert frame.endswith("· only the person"), "the name gives way, not what is left out"
        assert "· only the person" in console.picture
        await console.press("p", "p")
        assert "tool  search_files" in console.picture


async def test_a_hit_of_another_role_ends_the_filter_that_would_hide_it(agent: Path) -> None:
    """A newcomer's report: "only tools · with undone" stood above what a person had said."""
    async with sessions(agent) as console:
        await console.press("p", "p", "p")
        assert "· only tools" in str(console.sessions.transcript.border_title)
        await look_for(console, "docker")
        assert console.flash == "All roles are shown again, for this message"
        await console.press("enter", "enter", "n", "n", "escape", "escape", "escape")
        title = str(console.sessions.transcript.border_title)
        assert "only tools" not in title
        assert "with undone" not in title
        outline = console.sessions.transcript.outline
        assert outline.shown == Shown(None, undone=False, copies=False)


async def test_debug_shows_what_is_stored(agent: Path) -> None:
    with closing(sqlite3.connect(agent / "state.db")) as db:
        db.execute(
            "UPDATE messages SET api_content = 'what was sent', reasoning = 'a thought',"
            " platform_message_id = 'tg-77' WHERE session_id = '20260717_100000_abcdf0'"
        )
        db.commit()
    async with sessions(agent) as console:
        await console.press("enter", "d")
        assert isinstance(console.app.screen, Sheet)
        for words in ("what was sent", "a thought", "tg-77", "role: user"):
            assert words in console.text


async def test_copying_the_message_the_link_and_the_command(home: Path) -> None:
    async with sessions(home) as console:
        key = console.sessions.rows.cursor_key
        await console.press("y")
        assert console.app.clipboard.startswith("The invoice preview shows the old logo")
        await console.press("Y", "1")
        assert console.app.clipboard == f"@session:default/{key}"
        await console.press("Y", "2")
        assert console.app.clipboard == f"hermes --resume {key}"
        await console.press("Y", "4")
        assert console.app.clipboard.startswith("The invoice preview")


async def test_an_export_says_where_and_its_check_sum(home: Path, tmp_path: Path) -> None:
    before = tree(home)
    async with sessions(home) as console:
        await console.press("x", "3")
        console.app.screen.query_one(Input).value = str(tmp_path / "out")
        await console.press("enter")
        assert isinstance(console.app.screen, Sheet)
        (made,) = (tmp_path / "out").glob("*.md")
        digest = hashlib.sha256(made.read_bytes()).hexdigest()
        assert digest in console.text.replace("\n", "").replace(" ", "")
        await console.press("escape")
        assert "Exported 14 messages" in console.flash
        await console.press("x", "1")
        console.app.screen.query_one(Input).value = str(home)
        await console.press("enter")
        assert "nothing is exported into a home" in " ".join(console.picture.split())
        console.app.screen.query_one(Input).value = str(tmp_path / "other")
        await console.press("enter")
        assert len(list((tmp_path / "other").glob("*.jsonl"))) == 1
    assert tree(home) == before


async def test_bookmarks_with_a_note_are_kept_listed_and_taken_away(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("enter", "}", "b", *"why", "enter")
        assert "bookmarked: why" in console.picture
        marked = at(console)
        await console.press("escape", "j", "B")
        assert isinstance(console.app.screen, Choose)
        assert "why  in Invoice preview" in console.picture
        await console.press("1")
        assert at(console) == marked
        assert console.sessions.transcript.has_focus
        read = console.sessions._read
        assert read is not None
        assert console.sessions.rows.cursor_key == read.asked, "the list goes along"
        await console.press("escape")
        assert at(console) == marked
        await console.press("b", *" not", "enter")
        assert "bookmarked: why not" in console.picture
        await console.press("b")
        console.app.screen.query_one(Input).value = ""
        await console.press("enter")
        assert console.sessions.remarks() == ["bookmarked"], "the note went, the bookmark stays"
        await console.press("b", *"so", "escape")
        assert console.sessions.remarks() == ["bookmarked"]
    async with sessions(home) as console:
        await console.press("B", "1", "b", "ctrl+t")
        assert console.flash == "The bookmark is taken away"
        await console.press("B")
        assert "no bookmark yet" in console.flash


async def test_saved_searches_come_back_under_their_name(home: Path) -> None:
    async with sessions(home) as console:
        await console.press("s")
        assert "Nothing is looked for" in console.flash
        await look_for(console, "role:user staging")
        await console.press("enter", "s", "enter")
        assert "A saved view needs a name" in console.picture
        await console.press(*"port", "enter")
        assert "Saved" in console.flash
        await console.press("escape", "S", "1")
        assert console.sessions.bar.text == "role:user staging"
        assert found(console)[0] == "Staging moved to Postgres 17"
        await console.press("S", "2", "1")
        assert "Forgotten" in console.flash
        await console.press("S")
        assert "No search is saved" in console.flash


# -- there and back ------------------------------------------------------------------------


async def test_from_a_proposal_to_its_conversation_and_back_to_the_same_row(home: Path) -> None:
    async with open_console(home, size=(140, 42)) as console:
        row = await console.at(CANARY)
        await console.press("o")
        assert console.app.current_mode == "sessions"
        assert f'"pending_id": "{CANARY}"' in console.picture, "unfolded, at the match"
        assert console.sessions.transcript.has_focus
        read = console.sessions._read
        assert read is not None
        assert console.sessions.rows.cursor_key in read.parts, "the list goes along"
        await console.press("escape")
        assert console.app.current_mode == "review"
        assert console.review.queue.cursor_key == row.key
        await console.press(SESSIONS_MODE)
        assert console.sessions.rows.has_focus, "a visit leaves nothing behind"


async def test_from_a_message_to_the_proposal_it_made(home: Path) -> None:
    async with open_console(home, size=(140, 42)) as console:
        await console.press(SESSIONS_MODE, "enter", "o")
        assert "No proposal that waits" in console.flash
        await console.press("G", "o")
        assert console.app.current_mode == "review"
        item = console.review.queue.cursor_item
        assert item is not None
        assert item.id == PREVIEW
        await console.press("o")
        assert console.app.current_mode == "sessions"
        await console.press("escape")


async def test_a_proposal_without_a_conversation_says_why(home: Path) -> None:
    async with open_console(home, size=(140, 42)) as console:
        await console.at("b71d90e4")
        await console.press("o")
        assert console.app.current_mode == "review"
        assert "background review leaves no conversation" in console.flash


async def test_from_a_memory_to_where_it_was_said_and_back(home: Path) -> None:
    async with open_console(home, size=(140, 42)) as console:
        await console.press(MEMORY_MODE, "j")
        row = console.memory.rows.cursor_key
        await console.press("o")
        assert console.app.current_mode == "sessions"
        assert "Staging moved to Postgres 17" in console.picture
        assert "old_text: Staging is api.stage.tallyport.example: Postgres 16" in console.picture
        await console.press("escape")
        assert console.app.current_mode == "memory"
        assert console.memory.rows.cursor_key == row
        await console.press("j", "o")
        assert console.app.current_mode == "memory"
        assert "No conversation that is kept says this" in console.flash


async def test_what_is_let_in_is_shown_with_the_key_that_takes_it_out(home: Path) -> None:
    async with sessions(home) as console:
        facets = console.sessions.query_one("#facets", Static)
        await console.press("slash", *"canary", "enter")
        assert "with tool output" not in str(facets.content)
        await console.press("t")
        assert "with tool output: t" in str(facets.content)
        await console.press("escape")
        assert "with tool output: t" in str(facets.content)
