"""Code and pages taken in: which files, which pieces, and the old until the new is whole (9)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk import knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.errors import LockedError, NotFoundError
from core.homes.rag import chunks, ingest, walking
from core.homes.rag.building import Build, Ingested
from core.homes.rag.ingest import Progress
from core.homes.rag.nodes import Layer, Node, collection_of, node_id
from tests.core.rag.shelves import shelf_in

CODE, WIKI = (collection_of("api", layer) for layer in (Layer.CODE, Layer.WIKI))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return shelf_in(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "api"
    write(folder, {"a.py": "print('a')\n", "src/b.py": "print('b')\n", "src/c.py": "print('c')\n"})
    return folder


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def take(shelf: Shelf, root: Path, tell: Callable[[Progress], None] = lambda _: None) -> Ingested:
    return knowledge_work.ingest_code(shelf, root, tell=tell)


def nodes(shelf: Shelf, collection: str = CODE) -> list[Node]:
    return list(shelf.store.nodes(collection))


# -- which files -----------------------------------------------------------------------------------


def test_what_is_skipped(tmp_path: Path) -> None:
    kept = [
        ".hidden/x.py",
        "Makefile",
        "a.min.json",
        "app.py",
        "conf/data.json",
        "data.json",
        "x.unknown",
    ]
    skipped = [
        *(".git/config", "src/node_modules/m.js", "build/a.py", "chroma/x", ".hermes/a.md"),
        *(
            "a.PYC",
            "a.tar.gz",
            "x.sqlite3",
            "x.sqlite3-shm",
            "x.sqlite-wal",
            "x.db-journal",
            "yarn.lock",
            "package-lock.json",
            "a.min.js",
            "b.min.css",
        ),
        *("cache/a.json", "MyCache.json", "x/data/a.json", "db/a.json", "my/skip/a.json", "logs"),
    ]
    write(tmp_path, dict.fromkeys([*kept, *skipped], "x"))
    found = [each.path for each in walking.code_files(tmp_path, ("skip/",))]
    assert found == sorted(kept, key=lambda path: Path(path).parts)


def test_a_link_that_leads_out_is_not_taken(tmp_path: Path, root: Path) -> None:
    write(tmp_path, {"secret.py": "password"})
    (root / "out.py").symlink_to(tmp_path / "secret.py")
    (root / "in.py").symlink_to(root / "a.py")
    (root / "folder").symlink_to(tmp_path)
    assert [each.path for each in walking.code_files(root)] == [
        "a.py",
        "in.py",
        "src/b.py",
        "src/c.py",
    ]


def test_blank_files_and_binaries_are_no_pieces(shelf: Shelf, root: Path) -> None:
    write(root, {"blank.py": " \n\n", "binary": b"a\0b", "odd.py": b"caf\xe9"})
    assert take(shelf, root).files == 6
    assert {n.text("path"): n.document for n in nodes(shelf)}["odd.py"] == "caf\ufffd"
    assert {n.text("path") for n in nodes(shelf)} == {"a.py", "odd.py", "src/b.py", "src/c.py"}


def test_a_node_of_code(shelf: Shelf, root: Path) -> None:
    """The third part of the id counts pieces over the whole run (section 3)."""
    take(shelf, root)
    assert [n.id for n in nodes(shelf)] == [
        node_id("code", "a.py", "0", "print('a')\n"),
        node_id("code", "src/b.py", "1", "print('b')\n"),
        node_id("code", "src/c.py", "2", "print('c')\n"),
    ]
    fields = dict(nodes(shelf)[1].metadata)
    del fields["created"]
    assert fields == {
        "status": "active",
        "source": "ingest_code",
        "layer": "code",
        "path": "src/b.py",
    }


def test_a_long_file_is_cut_off(shelf: Shelf, root: Path) -> None:
    write(root, {"long.py": "é" * 300_000})
    take(shelf, root)
    pieces = [n.document for n in nodes(shelf) if n.text("path") == "long.py"]
    assert max(map(len, pieces)) <= 4_500
    assert ingest.LONGEST_FILE <= sum(map(len, pieces)) < 1.2 * ingest.LONGEST_FILE


# -- pieces ----------------------------------------------------------------------------------------


@given(st.text(max_size=12_000), st.integers(256, 6_000))
def test_pieces_of_code_hold_all_of_it_and_are_short(text: str, cap: int) -> None:
    pieces = list(chunks.code_pieces(text, cap))
    assert all(0 < len(piece) <= cap for piece in pieces)
    assert "".join(text.split()) == "" or "".join(pieces).split()
    assert all(piece in text for piece in pieces)
    assert set("".join(pieces)) >= set("".join(text.split()))


def test_code_is_cut_at_line_ends_and_repeats_a_little() -> None:
    lines = [f"line {n:04} {'x' * 80}\n" for n in range(200)]
    pieces = list(chunks.code_pieces("".join(lines), 4_500))
    assert all(piece.startswith("line") and piece.endswith("\n") for piece in pieces)
    shared = set(pieces[0].splitlines()) & set(pieces[1].splitlines())
    assert 1 <= len(shared) <= 5
    assert {line for piece in pieces for line in piece.splitlines(keepends=True)} == set(lines)


def test_a_piece_too_long_is_cut_at_the_last_blank_before_the_cap() -> None:
    assert list(chunks.capped("a" * 290 + "  " + "b" * 290, 300)) == ["a" * 290 + " ", "b" * 290]
    assert list(chunks.capped("a" * 650, 300)) == ["a" * 300, "a" * 300, "a" * 50]
    assert list(chunks.capped("a " + "b" * 400, 300)) == ["a " + "b" * 298, "b" * 102]


def test_pages_are_cut_at_their_headings() -> None:
    page = "# Title\nintro\n\n## One\nbody one\n## Empty\n\n## Two\nbody two\n### Deeper\nmore"
    assert list(chunks.wiki_pieces(page)) == [
        ("", "# Title\nintro\n"),
        ("One", "## One\nbody one"),
        ("Two", "## Two\nbody two\n### Deeper\nmore"),
    ]
    assert list(chunks.wiki_pieces("## First\nbody")) == [("", "## First\nbody")]
    assert list(chunks.wiki_pieces(" \n")) == []


def test_a_long_section_repeats_its_heading_and_a_long_heading_ends() -> None:
    pieces = [piece for _, piece in chunks.wiki_pieces("x\n## Title\n" + "y" * 9_000)]
    assert [len(p) for p in pieces[1:]] == [
        4_000,
        4_000,
        9_000 - 2 * (4_000 - len("## Title\n")) + len("## Title\n"),
    ]
    assert all(p.startswith("## Title\n") for p in pieces[1:])
    assert len(list(chunks.wiki_pieces(f"x\n## {'t' * 9_000}\nbody"))) == 2, (
        "section 9: it would loop"
    )


def test_a_rebuilt_wiki_has_the_same_ids(shelf: Shelf, tmp_path: Path) -> None:
    write(tmp_path / "w", {"a.md": "intro\n## One\nbody", "sub/b.md": "b", "c.txt": "no page"})
    knowledge_work.ingest_wiki(shelf, tmp_path / "w", "api")
    first = nodes(shelf, WIKI)
    assert [(n.text("path"), n.text("section"), n.metadata["chunk_index"]) for n in first] == [
        ("a.md", "", 0),
        ("a.md", "One", 1),
        ("sub/b.md", "", 0),
    ]
    knowledge_work.ingest_wiki(shelf, tmp_path / "w", "api")
    assert [n.id for n in nodes(shelf, WIKI)] == [n.id for n in first]


# -- rebuilt aside ---------------------------------------------------------------------------------


def test_no_files_leave_the_old_in_place(shelf: Shelf, root: Path, tmp_path: Path) -> None:
    take(shelf, root)
    (tmp_path / "empty" / "api").mkdir(parents=True)
    with pytest.raises(NotFoundError):
        take(shelf, tmp_path / "empty" / "api")
    with pytest.raises(NotFoundError):
        take(shelf, tmp_path / "absent" / "api")
    assert len(nodes(shelf)) == 3


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch a piece."""
    monkeypatch.setattr(ingest, "_PIECES", 1)


def stopping(at: int) -> Callable[[Progress], None]:
    def stop(progress: Progress) -> None:
        if progress.files == at:
            raise KeyboardInterrupt

    return stop


@pytest.mark.usefixtures("small")
def test_interrupted_it_goes_on_where_it_was_and_the_old_is_found_meanwhile(
    shelf: Shelf, root: Path
) -> None:
    take(shelf, root)
    (root / "a.py").write_text("print('changed')\n")
    with pytest.raises(KeyboardInterrupt):
        take(shelf, root, stopping(2))
    assert [n.document for n in nodes(shelf)] == ["print('a')\n", "print('b')\n", "print('c')\n"]
    told: list[Progress] = []
    done = take(shelf, root, told.append)
    assert (done.resumed_at, done.files, done.pieces) == (2, 3, 3)
    assert (told[0].files, told[-1]) == (3, Progress(3, 3, 3))
    assert [n.document for n in nodes(shelf)] == [
        "print('changed')\n",
        "print('b')\n",
        "print('c')\n",
    ]
    assert [n.id for n in nodes(shelf)][2] == node_id("code", "src/c.py", "2", "print('c')\n")
    assert "changed" in knowledge.recall(shelf, "changed", "api").recalled.text


@pytest.mark.usefixtures("small")
def test_what_changed_behind_the_place_it_got_to_begins_anew(shelf: Shelf, root: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        take(shelf, root, stopping(2))
    (root / "a.py").write_text("print('other')\n")
    done = take(shelf, root)
    assert (done.resumed_at, len(nodes(shelf))) == (0, 3)
    assert nodes(shelf)[0].document == "print('other')\n"


@pytest.mark.usefixtures("small")
def test_another_root_begins_anew(shelf: Shelf, root: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        take(shelf, root, stopping(2))
    write(tmp_path / "x" / "api", {"z.py": "z"})
    assert take(shelf, tmp_path / "x" / "api").resumed_at == 0
    assert [n.text("path") for n in nodes(shelf)] == ["z.py"]


def test_killed_in_the_middle_the_old_stands(
    shelf: Shelf, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(shelf, root)
    write(root, {"d.py": "d"})
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(Build, "finish", lambda *_: os._exit(9))
        take(shelf, root)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(nodes(shelf)) == 3
    assert take(shelf, root).resumed_at == 4
    assert len(nodes(shelf)) == 4


def test_of_two_at_once_the_later_wins_and_the_earlier_stops(shelf: Shelf) -> None:
    first = Build(shelf.own, CODE, "k")
    second = Build(shelf.own, CODE, "k")
    node = Node(CODE, "i", "d", {})
    with pytest.raises(LockedError, match="took over"):
        first.add([node], {"files": 1})
    second.add([node], {"files": 1})
    with pytest.raises(LockedError):
        first.finish(0, "ingest_code", "")
    assert second.finish(1, "ingest_code", "") == 1


def test_without_rebuild_what_is_gone_stays(shelf: Shelf, root: Path) -> None:
    take(shelf, root)
    (root / "src" / "c.py").unlink()
    knowledge_work.ingest_code(shelf, root, rebuild=False)
    assert [n.text("path") for n in nodes(shelf)] == ["a.py", "src/b.py", "src/c.py"]
    assert [event.event for event in shelf.store.events()] == ["ingest_code", "ingest_code"]
    take(shelf, root)
    assert [n.text("path") for n in nodes(shelf)] == ["a.py", "src/b.py"]
