"""The knowledge mode as a person reads in it: projects, notes, answers, chains, what cannot be."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from sqlite3 import Connection

import pytest

from console.cli import homes
from console.cli.session import Session
from console.screens import knowledge_reading
from console.screens.sheet import Sheet
from console.widgets.bars import KeyBar
from core.desk.knowledge import timeline
from core.desk.knowledge_board import beside
from core.homes.rag import schema
from core.homes.rag.learning import note_of
from core.homes.rag.nodes import Node
from core.homes.rag.own import OwnStore
from core.homes.rag.own_rows import insert, made_number
from core.homes.rag.ranking import Searcher
from tests.console.pilots import (
    JOURNAL_MODE,
    KNOWLEDGE_MODE,
    MEMORY_MODE,
    NOW,
    open_console,
    start_of,
)
from tests.console.plain import Cli
from tests.console.shelves import (
    IDS,
    TEXTS,
    below,
    home_in,
    knowledge_on,
    on,
    shown,
    store_in,
    title,
    with_store,
)

#: The notes of tallyport, the newest first.
NEWEST = ["queue-3", "lock", "single", "round", "queue-2", "flags", "fonts", "queue-1"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return with_store(tmp_path)


# -- browsing --------------------------------------------------------------------------------------


async def test_projects_with_their_layers_the_shared_one_last(home: Path) -> None:
    async with knowledge_on(home, size=(140, 42)) as console:
        assert title(console) == "Projects (3)"
        lines = [line[:60].strip("┃│▌ ").strip() for line in console.picture.splitlines()[3:9]]
        assert lines == [
            "import-v1",
            "2 notes · 2 staged",
            "tallyport",
            "5 wiki · 2 code · 8 notes · 4 staged",
            "[global]",
            "1 note · 1 staged",
        ]
        await console.press("j")
        assert console.words.startswith(
            "tallyport 5 wiki 2 code 8 memory Notes 4 ● active 2 → superseded 1 ✗ retired"
            " 1 ○ archived 4 notes are staged for the wiki; a merge is due at 10."
        )
        assert "hermes-rag (signoff's own) Searched by words." in console.words
        await console.press("j")
        assert "Notes that every project gets." in console.words
        assert "It has no wiki yet." in console.words


@pytest.mark.parametrize("size", [(80, 24), (140, 42)])
async def test_notes_with_status_kind_age_id_reason_and_successor(
    home: Path, size: tuple[int, int]
) -> None:
    async with knowledge_on(home, "tallyport", size=size) as console:
        assert title(console) == "tallyport: notes (8)"
        assert shown(console) == NEWEST
        wide = min(size[0] - 4, 58)
        picture = "\n".join(line[: wide + 2] for line in console.picture.splitlines())
        assert f"● #{IDS['queue-3'][:8]}  queue:limit" in picture
        assert f"→ #{IDS['queue-2'][:8]}  queue:limit  → #{IDS['queue-3'][:8]}" in picture
        assert f"✗ #{IDS['flags'][:8]}  learning: wrong: they are" in picture
        assert f"○ #{IDS['fonts'][:8]}  pdf:gotcha  in modules/pdf.md" in picture
        for words in ("superseded  3w", "retired  4w", "archived  5w", "3d"):
            assert words in console.picture


async def test_a_note_says_why_it_was_retired_and_where_it_went(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "flags")
        assert f"✗ retired learning {IDS['flags']}" in console.words
        assert "Why: wrong: they are read at start, the pods need a restart" in console.words
        assert TEXTS["flags"] in console.words
        assert "b makes it active again." in console.words
        await on(console, "fonts")
        assert "Merged into modules/pdf.md" in console.words


async def test_out_again_keeps_the_cursor(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("enter")
        assert console.knowledge.detail.has_focus
        await console.press("escape")
        assert console.knowledge.rows.has_focus
        await console.press("escape")
        assert title(console) == "Projects (3)"
        assert console.knowledge.rows.cursor_key == "tallyport"
        assert console.knowledge.rows.has_focus


async def test_the_other_layers_of_a_project(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("t")
        assert title(console) == "tallyport: wiki (5)"
        assert {item.path for item in console.knowledge.rows.items} == {
            "modules/queue.md",
            "modules/pdf.md",
        }
        await console.press("d")
        assert console.flash == "It was taken in from a file: change that, then take it in anew"
        await console.press("t")
        assert title(console) == "tallyport: code (2)"
        assert "def to_minor(amount: Decimal)" in console.picture
        await console.press("t")
        assert title(console) == "tallyport: notes (8)"


async def test_what_is_said_of_a_project_without_code(home: Path) -> None:
    async with knowledge_on(home, "import-v1") as console:
        await console.press("t", "t")
        said = "Nothing was taken in. `signoff knowledge ingest-code DIR` does it, t goes on."
        assert console.words == said


async def test_about_is_there_where_the_page_has_no_room(home: Path) -> None:
    async with knowledge_on(home, "tallyport", size=(80, 24)) as console:
        await console.press("o")
        assert isinstance(console.app.screen, Sheet)
        assert "5 wiki 2 code 8 memory" in console.words
        await console.press("escape")
        assert shown(console) == NEWEST


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("status:live", NEWEST[:4]),
        ("status:retired", ["flags"]),
        ("kind:gotcha", ["lock", "single", "fonts"]),
        ("status:live kind:gotcha invoice", ["lock", "single"]),
        ("need a restart", ["flags"]),
        (IDS["round"][:8], ["round"]),
    ],
)
async def test_the_filter(home: Path, line: str, found: list[str]) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("slash")
        console.knowledge.filter.value = line
        await console.press("enter")
        assert shown(console) == found
        assert title(console) == f"tallyport: notes ({len(found)} of 8)"
        await console.press("escape")
        assert shown(console) == NEWEST
        await console.press("slash", "escape")
        assert console.flash == "", "no word of a line that is closed"


async def test_a_filter_that_leaves_nothing_says_so(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("slash", *"kangaroo")
        assert console.knowledge.query_one(KeyBar).styles.visibility == "hidden"
        await console.press("enter")
        assert console.knowledge.query_one(KeyBar).styles.visibility == "visible"
        assert console.words == "No row is shown: the filter leaves all out. esc takes it off."


# -- chains ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["queue-1", "queue-2", "queue-3"])
async def test_the_timeline_stands_with_every_note_of_a_chain(home: Path, key: str) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, key)
        _, _, line = console.text.partition("Timeline\n")
        heads = [each for each in line.splitlines() if "  #" in each]
        here = {name: "  this note" if name == key else "" for name in IDS}
        assert heads == [
            f"→ 2026-10-14  #{IDS['queue-1'][:8]}  superseded{here['queue-1']}",
            f"→ 2026-11-08  #{IDS['queue-2'][:8]}  superseded{here['queue-2']}",
            f"● 2026-11-26  #{IDS['queue-3'][:8]}  active{here['queue-3']}",
        ]


async def test_a_note_of_its_own_has_no_timeline(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "round")
        assert "Timeline" not in console.text
        await console.press("right_square_bracket")
        assert console.flash == f"Nothing came before or after #{IDS['round'][:8]}"


async def test_steps_along_the_chain(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "queue-1")
        walked = []
        for key in ("right_square_bracket",) * 3 + ("left_square_bracket",):
            await console.press(key)
            item = console.knowledge.item
            assert item is not None
            walked.append(next(name for name, each in IDS.items() if each == item.id))
        assert walked == ["queue-2", "queue-3", "queue-3", "queue-2"]


# -- asking ----------------------------------------------------------------------------------------


async def test_an_answer_has_all_layers_and_says_how_it_was_found(home: Path) -> None:
    async with knowledge_on(home, "tallyport") as console:
        await console.press("s", *"queue times", "enter")
        items = console.knowledge.rows.items
        assert [(item.layer, item.shared) for item in items] == [
            *[("wiki", False)] * 3,
            ("code", False),
            ("memory", False),
            ("memory", True),
        ]
        assert title(console) == "tallyport: 6 by words for “queue times”"
        assert items[-1].id == IDS["utc"]
        assert f"● #{IDS['utc'][:8]}  [global]  learning" in console.picture
        await console.press("escape")
        assert shown(console) == NEWEST


async def test_an_answer_by_meaning_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def near(self: Searcher, collection: str, found: object, limit: int) -> object:
        return found

    monkeypatch.setattr(Searcher, "_near", near)
    monkeypatch.setattr("core.desk.knowledge.embedder_for", lambda rag: object())
    async with knowledge_on(home, "tallyport") as console:
        await console.press("s", *"queue", "enter")
        assert title(console) == "tallyport: 5 by words and meaning for “queue”"


async def test_what_an_answer_lacks_is_said(home: Path) -> None:
    async with knowledge_on(home, "import-v1") as console:
        await console.press("s", *"failed run", "enter")
        assert shown(console) == ["stage", "order"]
        assert below(console) == "wiki: not built for import-v1  code: not built for import-v1"
        await console.press("s", *"kangaroo", "enter", "f5")
        assert str(console.knowledge.detail.border_title) == title(console)
        said = "Nothing here says that. The search was by words; esc goes back to the notes."
        assert console.words == said


@pytest.mark.parametrize("size", [(80, 24), (140, 42)])
async def test_what_is_said_instead_of_rows_is_seen_in_any_width(
    home: Path, size: tuple[int, int]
) -> None:
    async with knowledge_on(home, "import-v1", size=size) as console:
        await console.press("s", *"kangaroo", "enter")
        assert "import-v1: 0 by words for “kangaroo”" in console.picture
        assert "Nothing here says that." in console.picture
        # There is nothing to go into: one escape leaves the answer.
        await console.press("enter", "escape")
        assert shown(console) == ["stage", "order"]
        assert console.knowledge.rows.has_focus
        assert str(console.knowledge.detail.border_title) == "Note"
        await console.press("t")
        assert "Nothing was taken in." in console.picture
        await console.press("escape")
        assert title(console) == "Projects (3)"
        assert console.knowledge.rows.has_focus
        assert str(console.knowledge.detail.border_title) == "Project"
        await console.press("enter", "slash", *"kangaroo", "enter")
        assert "the filter leaves all out" in console.picture


async def test_a_question_is_asked_once_however_often_the_list_is_read(home: Path) -> None:
    def asked() -> int:
        return sum(event.event == "recall" for event in store_in(home).events("tallyport"))

    async with knowledge_on(home) as console:
        assert console.knowledge.rows.move_to("tallyport")
        await console.press("s", *"queue", "enter")
        await console.press("f5")
        await console.press("f5")
        assert asked() == 1
        assert title(console) == "tallyport: 5 by words for “queue”"


# -- what is not there, or cannot be -----------------------------------------------------------------


async def test_without_a_store_the_next_step_is_said(tmp_path: Path) -> None:
    async with knowledge_on(home_in(tmp_path)) as console:
        assert "No notes of projects are kept yet" in console.words
        assert "a keeps the first one." in console.words
        assert "`signoff knowledge ingest-wiki DIR`" in console.words
        await console.press("s")
        assert console.flash == "No notes of projects are kept yet"
        assert not (tmp_path / "hermes-rag").exists()


async def test_a_broken_store_is_said_and_read_again(home: Path) -> None:
    file = home.parent / "hermes-rag" / "signoff.sqlite3"
    kept = file.read_bytes()
    for each in file.parent.glob("signoff.sqlite3-*"):
        each.unlink()
    file.write_bytes(b"no database at all" * 400)
    async with knowledge_on(home) as console:
        assert "cannot be used: it is damaged." in console.words
        assert console.words.endswith("f5 reads it again.")
        file.write_bytes(kept)
        await console.press("f5")
        assert title(console) == "Projects (3)"


async def test_text_of_a_note_is_never_taken_for_control_or_markup(home: Path) -> None:
    hostile = "a\x1b]0;pwned\x07 [bold red]b[/] \u202eevil\x9b31m"
    store_in(home).learn(note_of(hostile, "tallyport", "x\x1b[31m:y", NOW), 50)
    async with knowledge_on(home, "tallyport", size=(140, 42)) as console:
        picture = console.picture
        assert "[bold red]b[/]" in picture
        assert not any(char in picture for char in "\x1b\x07\u202e\x9b")


# -- what it costs ---------------------------------------------------------------------------------


async def test_nothing_of_it_is_read_before_it_is_seen(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    reading = schema.reading

    def counted(folder: Path) -> AbstractContextManager[Connection | None]:
        read.append(folder)
        return reading(folder)

    monkeypatch.setattr(schema, "reading", counted)
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, JOURNAL_MODE, "f5")
        assert read == []
        await console.press(KNOWLEDGE_MODE)
        assert set(read) == {home.parent / "hermes-rag"}


def test_starting_the_app_imports_nothing_of_it() -> None:
    script = (
        "import sys, console.app;"
        "print([n for n in sys.modules if 'knowledge' in n or n.startswith('core.homes.rag')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


async def test_help_and_undo_say_what_they_do_here(home: Path) -> None:
    async with knowledge_on(home) as console:
        await console.press("question_mark")
        assert "Take back the newest decision on these notes" in console.text
        assert "decision or bulk step" not in console.text
        assert "Mark, step down" not in console.text


# -- the demo --------------------------------------------------------------------------------------


def test_the_demo_has_a_store_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(tmp_path, monkeypatch, capsys)
    cli.setenv("HERMES_RAG_STORE", str(tmp_path / "own"))
    opened: list[Session] = []

    def run(session: Session, mode: str = "") -> int:
        opened.append(session)
        return 0

    monkeypatch.setattr(homes, "interactive", lambda: True)
    monkeypatch.setattr(homes, "open_console", run)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(tmp_path / "demo"))
    assert cli("demo").code == 0
    store = OwnStore(Path(opened[0].environ["HERMES_RAG_STORE"]), lambda: NOW)
    assert store.folder == tmp_path / "demo" / "hermes-rag"
    assert {name: store.count(name) for name in store.collections()} == {
        "rag_global__memory": 1,
        "rag_import-v1__memory": 2,
        "rag_tallyport__code": 2,
        "rag_tallyport__memory": 8,
        "rag_tallyport__wiki": 5,
    }
    assert not (tmp_path / "own").exists()


def test_the_demo_has_a_journal_of_its_own_unless_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = Cli(tmp_path, monkeypatch, capsys)
    opened: list[Session] = []

    def run(session: Session, mode: str = "") -> int:
        opened.append(session)
        return 0

    monkeypatch.setattr(homes, "interactive", lambda: True)
    monkeypatch.setattr(homes, "open_console", run)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(tmp_path / f"demo-{len(opened)}"))
    monkeypatch.delenv("SIGNOFF_STATE")
    assert cli("demo").code == 0
    cli.setenv("SIGNOFF_STATE", str(tmp_path / "named"))
    assert cli("demo").code == 0
    assert [each.state() for each in opened] == [tmp_path / "demo-0/state", tmp_path / "named"]


@pytest.mark.parametrize(
    "spoilt",
    [
        "metadata = 'no json'",
        "metadata = '[1]'",
        """metadata = '{"status": ["active"]}'""",
        "document = x'fffe'",
    ],
)
async def test_a_note_damaged_in_the_store_is_said_and_no_bug(home: Path, spoilt: str) -> None:
    async with knowledge_on(home, "tallyport") as console:
        with schema.writing(store_in(home).folder) as db:
            name = ("rag_tallyport__memory",)
            (number,) = db.execute("SELECT number FROM collections WHERE name = ?", name).fetchone()
            db.execute(f"UPDATE nodes_{number} SET {spoilt} WHERE id = ?", (IDS["round"],))
        await console.press("f5")
        assert f"The note {IDS['round']} is damaged in the store" in console.words
        assert "Restore an export into another store" in console.words


async def test_what_is_kept_of_a_layer_may_be_damaged_too(home: Path) -> None:
    async with knowledge_on(home) as console:
        with schema.writing(store_in(home).folder) as db:
            db.execute("UPDATE collections SET metadata = '[1]'")
        await console.press("f5")
        assert "is damaged in the store" in console.words


# -- more than is listed ---------------------------------------------------------------------


async def test_what_lies_beyond_the_newest_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A filter, and a step along a chain, reach only what is listed: no silence about the rest."""
    monkeypatch.setattr(knowledge_reading, "LIMIT", 6)
    async with knowledge_on(home, "tallyport") as console:
        assert title(console) == "tallyport: notes (6 of 8)"
        await console.press("slash", *TEXTS["queue-1"][:30], "enter")
        assert "the filter leaves out all of the newest" in console.words
        await console.press("escape")
        await on(console, "queue-2")
        await console.press("left_square_bracket")
        assert console.flash.startswith("That note is not among the newest")
        assert console.knowledge.item is not None
        assert console.knowledge.item.id == IDS["queue-2"]
        assert not console.knowledge._follow


def test_of_the_replaced_notes_only_those_of_the_chain_are_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row the cursor rests on draws its chain: 3,000 texts of others cost 120 ms of it."""
    opened = start_of(home)()
    shelf, store = beside(opened), store_in(home)
    name = "rag_tallyport__memory"
    with schema.writing(store.folder) as db:
        number = made_number(db, name)
        replaced = {"status": "superseded", "superseded_by": IDS["lock"]}
        insert(db, number, [Node(name, f"{n:08x}", "old", replaced) for n in range(300)])
    reads: list[str] = []

    def get(self: OwnStore, collection: str, key: str) -> Node | None:
        reads.append(key)
        return whole(self, collection, key)

    whole = OwnStore.get
    node = store.get(name, IDS["queue-3"])
    assert node is not None
    monkeypatch.setattr(OwnStore, "get", get)
    assert [each.id for each in timeline(shelf, node)] == [
        IDS["queue-1"],
        IDS["queue-2"],
        IDS["queue-3"],
    ]
    assert len(reads) == 3
