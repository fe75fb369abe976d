"""The knowledge mode's decisions: each a plan, undone by ``u``; and what other processes learn."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from console.app import SignoffApp
from console.screens.confirm import Confirm
from console.screens.journal import JournalScreen
from console.screens.knowledge import KnowledgeScreen
from console.screens.knowledge_learning import LearnScreen
from console.screens.sheet import Sheet
from core.desk import knowledge_work
from core.desk.knowledge import Shelf
from core.errors import UnreadableError
from core.homes.rag import ingest
from core.homes.rag.merge import Merge
from core.homes.rag.nodes import Layer, Metadata, collection_of, node_id
from core.journal import Journal
from core.plan import Plan
from tests.console.pilots import (
    DEADLINE,
    JOURNAL_MODE,
    KNOWLEDGE_MODE,
    NOW,
    Console,
    settle,
    start_of,
)
from tests.console.shelves import (
    IDS,
    TEXTS,
    home_in,
    knowledge_on,
    on,
    shown,
    store_in,
    stored,
    title,
    with_store,
)

TALLYPORT = collection_of("tallyport", Layer.MEMORY)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return with_store(tmp_path)


def metadata(home: Path, key: str) -> Metadata:
    return dict(stored(home, key).metadata)


def verbs(home: Path) -> list[str]:
    """What was decided on the store, the oldest first."""
    entries = Journal(home.parent / "state").entries(str(home.parent / "hermes-rag"))
    return [entry.verb for entry in reversed(entries)]


def pages(home: Path) -> dict[str, str]:
    root = home.parent / "wikis"
    return {str(p.relative_to(root)): p.read_text("utf-8") for p in sorted(root.rglob("*.md"))}


async def fill(console: Console, **values: str) -> None:
    """Type into the dialog of a new note, and keep it."""
    dialog = console.app.screen
    assert isinstance(dialog, LearnScreen)
    for name, value in values.items():
        dialog.query_one(f"#{name}", Input).value = value
    await console.press("enter")


# -- statuses --------------------------------------------------------------------------------------


async def test_retire_with_a_reason_and_undo(home: Path) -> None:
    before = metadata(home, "round")
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "round")
        await console.press("d", *"the preview uses it now", "enter")
        short = IDS["round"][:8]
        said = f"✓ Retired {short} (the preview uses it now). u takes it back, i says more"
        assert console.flash == said
        after = {"status": "retired", "retired_reason": "the preview uses it now"}
        assert metadata(home, "round") == {**before, **after}
        assert "Why: the preview uses it now" in console.words
        assert f"✗ #{short}  learning: the preview" in console.picture
        await console.press("u")
        assert metadata(home, "round") == before
        assert "● active learning" in console.words
        assert verbs(home) == ["retire", "undo"]


async def test_retire_thought_better_of(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "round")
        await console.press("d", *"hm", "escape")
        assert stored(home, "round").status == "active"
        assert verbs(home) == []


async def test_what_is_out_is_not_retired_again(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "flags")
        await console.press("d")
        said = f"#{IDS['flags'][:8]} is retired already: b makes it active again"
        assert console.flash == said


async def test_supersede_by_a_note_that_is_there_and_undo(home: Path) -> None:
    before = metadata(home, "single")
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "single")
        await console.press("r")
        choices = console.app.screen.query_one(OptionList).options
        assert [str(each.prompt)[4:24] for each in choices] == [
            "a new note, written ",
            *(f"#{IDS[key][:8]}  {TEXTS[key]}"[:20] for key in ("queue-3", "lock", "round")),
        ]
        await console.press("2")
        old, new = IDS["single"], IDS["queue-3"]
        assert console.flash.startswith(f"✓ {old[:8]} is replaced by {new[:8]}. u takes it back")
        after = {"status": "superseded", "superseded_by": new}
        assert metadata(home, "single") == {**before, **after}
        assert f"→ #{old[:8]}  queue:gotcha  → #{new[:8]}" in console.picture
        assert "Timeline" in console.text
        await console.press("u")
        assert metadata(home, "single") == before
        assert "Timeline" not in console.text


async def test_supersede_by_a_note_written_now(home: Path) -> None:
    text = "Two consumers of billing are fine since 3.4: mails carry a key."
    name = node_id("mem", text)
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "single")
        await console.press("r", "1")
        await fill(console, text=text)
        said = f"✓ #{name[:8]} is kept in tallyport, it takes the place of #{IDS['single'][:8]}"
        assert console.flash == said
        assert metadata(home, "single")["superseded_by"] == name
        assert shown(console)[0] == text
        # Undo takes the mark back; the new note stays, as nothing is deleted.
        await console.press("u")
        assert stored(home, "single").status == "active"
        assert store_in(home).get(TALLYPORT, name) is not None
        assert f"taken back; #{name[:8]} stays, a learnt note is never deleted" in console.flash


async def test_a_ring_is_refused(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "queue-1")
        await console.press("b")
        await on(console, "queue-3")
        await console.press("r")
        choices = console.app.screen.query_one(OptionList).options
        number = next(
            n for n, each in enumerate(choices, 1) if TEXTS["queue-1"] in str(each.prompt)
        )
        await console.press(str(number))
        assert stored(home, "queue-3").text("superseded_by") == IDS["queue-1"]
        await on(console, "queue-1")
        await console.press("r", "escape")
        assert stored(home, "queue-1").status == "active"


async def test_reactivate_and_undo(home: Path) -> None:
    before = metadata(home, "flags")
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "flags")
        await console.press("b")
        assert console.flash.startswith(
            f"✓ {IDS['flags'][:8]} is active again (it was retired). u takes it back"
        )
        assert metadata(home, "flags") == {
            **{key: value for key, value in before.items() if key != "retired_reason"},
            "status": "active",
        }
        await console.press("b")
        assert console.flash == f"#{IDS['flags'][:8]} is active: it counts"
        await console.press("u")
        assert metadata(home, "flags") == before


async def test_archive_and_undo(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "lock")
        await console.press("A")
        assert stored(home, "lock").status == "archived"
        await console.press("u")
        assert stored(home, "lock").status == "active"


async def test_a_note_of_every_project_is_decided_on_where_it_was_found(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("s", *"times in tickets", "enter")
        await on(console, "utc")
        await console.press("d", "enter")
        assert stored(home, "utc", "global").status == "retired"
        assert "retired" in console.picture
        await console.press("u")
        assert stored(home, "utc", "global").status == "active"


async def test_undo_here_leaves_the_home_alone(home: Path) -> None:
    (home / "memories" / "MEMORY.md").write_text("tea\n§\ncoffee", encoding="utf-8")
    async with knowledge_on(home, "tallyport") as console:
        await console.press("4", "d")
        assert (home / "memories" / "MEMORY.md").read_text(encoding="utf-8") == "coffee"
        await console.press(KNOWLEDGE_MODE, "u")
        assert console.flash == "Nothing decided on these notes is left to take back"
        assert (home / "memories" / "MEMORY.md").read_text(encoding="utf-8") == "coffee"
        await console.press("4", "u")
        assert (home / "memories" / "MEMORY.md").read_text(encoding="utf-8") == "tea\n§\ncoffee"


async def test_undo_from_the_palette_is_that_of_the_notes(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "lock")
        await console.press("A")
        await console.press("ctrl+p", *"undo (", "enter")
        await console.settle()
        assert stored(home, "lock").status == "active"


async def test_the_receipt_says_what_was_done(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "lock")
        await console.press("A")
        await console.press("i")
        assert isinstance(console.app.screen, Sheet)
        assert f"{IDS['lock'][:8]} was archived" in console.words
        assert "Journal entry 1" in console.words
        await console.press("escape", "u")
        await console.press("i")
        assert "next session" not in console.words


# -- learning --------------------------------------------------------------------------------------


async def test_learn_the_first_note_of_all(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    async with knowledge_on(home) as console:
        await console.press("a")
        await fill(console, text="  Boots before noon.  ", kind="ops:gotcha", project="Site A")
        name = node_id("mem", "Boots before noon.")
        assert console.flash == f"✓ #{name[:8]} is kept in Site A"
        assert title(console) == "site-a: notes (1)"
        node = store_in(home).get("rag_site-a__memory", name)
        assert node is not None
        assert (node.document, node.text("kind")) == ("Boots before noon.", "ops:gotcha")
        assert node.text("created") == NOW.strftime("%Y-%m-%dT%H:%M:%SZ")
        assert console.knowledge.item is not None
        assert console.knowledge.item.id == name


async def test_a_blank_note_is_not_kept(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("a", "enter")
        assert isinstance(console.app.screen, LearnScreen)
        await console.press("escape")
        assert store_in(home).count(TALLYPORT) == 8


async def test_the_same_text_twice_is_one_note(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("a")
        await fill(console, text=TEXTS["flags"])
        said = f"= #{IDS['flags'][:8]} was there already (retired): nothing changed"
        assert console.flash == f"{said}; b makes it active again"
        assert stored(home, "flags").status == "retired"
        assert console.knowledge.item is not None
        assert console.knowledge.item.id == IDS["flags"]


async def test_undo_after_learning_says_that_nothing_is_deleted_first(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "lock")
        await console.press("A", "a")
        await fill(console, text="Tea is at four.")
        await console.press("u")
        assert "a learnt note is never deleted: d retires it" in console.flash
        assert stored(home, "lock").status == "archived"
        await console.press("u")
        assert stored(home, "lock").status == "active"


async def test_a_secret_in_a_note_is_said(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("a")
        await fill(console, text=f"the token is ghp_{'a1B2' * 9}")
        assert "It seems to hold a secret (GitHub token)" in console.flash


# -- merging ---------------------------------------------------------------------------------------


async def test_merge_is_shown_first_then_applied_then_undone(home: Path) -> None:
    before = pages(home)
    staged = {key: metadata(home, key) for key in ("queue-3", "single", "lock", "round")}
    async with knowledge_on(home, "tallyport") as console:
        await console.press("m")
        assert isinstance(console.app.screen, Confirm)
        words = console.words
        assert "3 notes go into 2 pages" in words
        assert "New modules/migrations.md" in words
        assert "Changed modules/queue.md" in words
        assert f"+ - {TEXTS['queue-3']}"[:40] in words
        assert f"#{IDS['round'][:8]} {TEXTS['round']}" in words
        assert "kind 'learning' names no page" in words
        assert pages(home) == before
        await console.press("enter")
        assert isinstance(console.app.screen, Confirm)
        await console.press("y")
        assert console.flash.startswith("✓ 3 notes merged into 2 pages. u takes it back")
        merged = pages(home)
        assert merged["tallyport/modules/migrations.md"] == (
            f"# migrations\n\n## Consolidated learnings\n\n- {TEXTS['lock']}\n"
        )
        assert merged["tallyport/modules/queue.md"] == (
            f"{before['tallyport/modules/queue.md']}- {TEXTS['single']}\n- {TEXTS['queue-3']}\n"
        )
        assert metadata(home, "single") == {
            **staged["single"],
            "status": "archived",
            "merged_into": "modules/queue.md",
        }
        assert metadata(home, "round") == staged["round"]
        assert store_in(home).count("rag_tallyport__wiki") > 5
        await console.press("u")
        assert pages(home) == before
        assert {key: metadata(home, key) for key in staged} == staged
        assert store_in(home).count("rag_tallyport__wiki") == 5


async def test_a_merge_that_was_overtaken_writes_nothing(home: Path) -> None:
    page = home.parent / "wikis" / "tallyport" / "modules" / "queue.md"
    async with knowledge_on(home, "tallyport") as console:
        await console.press("m")
        page.write_text("# queue\n\nRewritten by someone else.\n", encoding="utf-8")
        await console.press("y")
        assert console.flash.startswith("✗ ")
        assert page.read_text(encoding="utf-8") == "# queue\n\nRewritten by someone else.\n"
        assert stored(home, "single").status == "active"
        assert not (page.parent / "migrations.md").exists()


async def test_a_merge_left_alone_changes_nothing(home: Path) -> None:
    before = pages(home)
    async with knowledge_on(home, "tallyport") as console:
        await console.press("m", "n")
        assert pages(home) == before
        assert verbs(home) == []


async def test_notes_whose_kind_names_no_page_stay_and_say_why(home: Path) -> None:
    async with knowledge_on(home, "global") as console:
        await console.press("m")
        assert isinstance(console.app.screen, Sheet)
        assert "There is nothing to merge; 1 stay staged" in console.words
        assert "kind 'learning' names no page" in console.words


async def test_without_staged_notes_there_is_nothing_to_merge(home: Path) -> None:
    async with knowledge_on(home, "global") as console:
        await console.press("A", "m")
        assert console.flash == "No note of [global] is staged for the wiki"


# -- live ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [True, False])
async def test_a_note_learnt_by_another_process_appears(tmp_path: Path, there: bool) -> None:
    home = with_store(tmp_path) if there else home_in(tmp_path)
    app = SignoffApp(start_of(home), state=tmp_path / "state", clock=lambda: NOW, live=True)
    async with app.run_test(size=(120, 36)) as pilot:
        console = Console(app, pilot, home)
        await settle(app, pilot)
        await console.press(KNOWLEDGE_MODE)
        if there:
            console.knowledge.rows.move_to("tallyport")
            await console.press("enter")
            await on(console, "round")
        text = "The moon is on the board."
        words = ["knowledge", "learn", text, "--project", "tallyport"]
        store = str(tmp_path / "hermes-rag")
        done = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "console", *words, "--store", store
        )
        assert await done.wait() == 0
        end = asyncio.get_running_loop().time() + DEADLINE
        wanted = text if there else "tallyport"
        while wanted not in [getattr(i, "text", i.key) for i in console.knowledge.rows.items]:
            assert asyncio.get_running_loop().time() < end, console.picture
            await pilot.pause(0.05)
        if there:
            # Neither the cursor nor the view moves for it.
            assert console.knowledge.item is not None
            assert console.knowledge.item.id == IDS["round"]
        else:
            assert not console.knowledge.has_class("-empty")


# -- what was decided ----------------------------------------------------------------------


async def test_the_decisions_on_notes_are_in_the_journal_and_any_of_them_is_undone(
    home: Path,
) -> None:
    """``u`` takes the newest back only; an older one is chosen in the journal, as on a home."""
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "round")
        await console.press("d", *"over", "enter")
        await on(console, "lock")
        await console.press("A")
        await console.press("H")
        assert console.app.current_mode == "journal"
        journal = console.app.screen
        assert isinstance(journal, JournalScreen)
        assert "Decisions on notes (2)" in console.picture
        assert [item.verb for item in journal.rows.items] == ["archive", "retire"]
        await console.press("t")
        assert console.flash == "Notes are learnt, not proposed: there is nothing to approve"
        await console.press("down", "U")
        assert metadata(home, "round")["status"] == "active"
        assert metadata(home, "lock")["status"] == "archived"
        await console.press("u")
        assert metadata(home, "lock")["status"] == "active"
        await console.press("enter", "escape", "escape")
        assert console.app.current_mode == "knowledge"
        assert "archived" not in {item.status for item in console.knowledge.rows.items[:4]}
        await console.press(JOURNAL_MODE)
        assert "Nothing was decided here yet" in console.words
        await console.press("w")
        assert "Decisions on notes (4)" in console.picture
        await console.press("escape")
        assert "Nothing was decided here yet" in console.words


async def test_an_undone_merge_is_told_as_one_where_the_wiki_is_not_taken_in_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages went back and the notes are active: that taking the wiki in anew failed is told."""
    async with knowledge_on(home, "tallyport") as console:
        await console.press("m", "y")
        assert console.flash.startswith("✓ 3 notes merged")

        def fails(*_: object, **__: object) -> None:
            raise UnreadableError("The embedder does not answer", "Start it")

        monkeypatch.setattr(ingest, "ingest_wiki", fails)
        await console.press("u")
        assert metadata(home, "queue-3")["status"] == "active"
        assert "was taken back" in console.flash
        assert "searched as they were: The embedder does not answer" in console.flash


async def test_what_was_being_read_opens_no_sheet_over_another_mode(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    planned = knowledge_work.plan_merge

    def slow(shelf: Shelf, project: str) -> tuple[Merge, Plan]:
        go_on.wait(DEADLINE)
        return planned(shelf, project)

    monkeypatch.setattr(knowledge_work, "plan_merge", slow)
    async with knowledge_on(home, "tallyport") as console:
        await console.pilot.press("m", JOURNAL_MODE)
        go_on.set()
        await console.settle()
        assert console.app.current_mode == "journal"
        assert isinstance(console.app.screen, JournalScreen)
        await console.press(KNOWLEDGE_MODE)
        assert isinstance(console.app.screen, KnowledgeScreen | Confirm)
