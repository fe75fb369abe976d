"""Recall by the index is recall by the scan, whatever happens to the ledgers in between."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.conversations import Engine, Filters
from core.desk.indexing import index_of
from core.desk.indexing import update as index_past
from core.desk.recalling import recall as recall_desk
from core.desk.searching import Request as SearchRequest
from core.desk.searching import search as people_search
from core.homes.base import Kind
from core.homes.vak.home import ledger_files
from core.homes.vak.index import PEOPLE, atoms, building
from core.homes.vak.index.asking import Recall
from core.homes.vak.index.building import delete, update
from core.homes.vak.recall import search
from core.homes.vak.recall.scoring import Scorer
from core.homes.vak.recall.search import Request, scan
from core.homes.vak.recall.words import terms
from core.homes.vak.store import Ledgers
from core.homes.vak.summaries import Reader
from core.recall.index import Index, available
from tests.core.desks import open_on

pytestmark = pytest.mark.skipif(not available(), reason="there is no index without tantivy")

HOME = Path(__file__).parents[2] / "data" / "vak"
ORACLE = Path(__file__).parents[2] / "data" / "oracles" / "vak-search.json"
NOW = datetime(2026, 9, 20, 12, 0, tzinfo=UTC)
WORDS = [
    "deploy",
    "redeploy",
    "script",
    "deploy script",
    "ab",
    "b",
    "İstanbul",
    "स्मृति",
    "naïve",
    "x" * 230,
]
QUERIES = [
    "deploy",
    "deploy script",
    "ploy",
    "ab b",
    " script ",
    "istanbul",
    "मृति",
    "xx",
    "naïve de",
]
HASHES = ("67b506f04aa724b1", "07ec165512aff658")


def build(home: Path, folder: Path) -> bool:
    return update(
        home,
        folder,
        Index(folder / PEOPLE),
        progress=lambda done, total: None,
        cancelled=lambda: False,
    )


def settled() -> None:
    time.sleep(building.SETTLED * 1.2)


def test_the_oracle_by_the_index(tmp_path: Path) -> None:
    shutil.copytree(HOME, tmp_path / "home")
    settled()
    assert build(tmp_path / "home", tmp_path / "index")
    recall = Recall(tmp_path / "home", tmp_path / "index")
    cases = [case for case in json.loads(ORACLE.read_text())["cases"] if case["type"] == "search"]
    assert len(cases) == 11
    with patch("core.homes.vak.index.asking.scan", side_effect=AssertionError("a scan")):
        for case in cases:
            request = Request(
                case["query"],
                case["workspace"],
                case["limit"],
                case["exclude"],
                Scorer(case["scorer"]),
                case["include_curated"],
            )
            found = recall.recall(request, datetime.fromisoformat(case["now"]))
            assert found == scan(tmp_path / "home", request, datetime.fromisoformat(case["now"]))
            assert found.matches == case["expect"]["matches"]


# -- generated homes -------------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ROLES = st.sampled_from(["user", "assistant"])
HOURS = st.integers(0, 23)
ENTRIES = st.tuples(TEXTS, ROLES, HOURS)
PLACES = st.tuples(st.sampled_from(HASHES), st.sampled_from(["a", "b", "child-c"]))
CHANGES = st.one_of(
    st.tuples(st.just("append"), PLACES, st.lists(ENTRIES, min_size=1, max_size=4)),
    st.tuples(st.just("rewrite"), PLACES, st.lists(ENTRIES, max_size=4)),
    st.tuples(st.just("truncate"), PLACES, st.integers(0, 400)),
    st.tuples(st.just("delete"), PLACES, st.none()),
    st.tuples(
        st.just("damage"), PLACES, st.sampled_from([b"not json\n", b"\xff\xfe\n", b"\n", b'{"id'])
    ),
)
ROUNDS = st.lists(st.tuples(st.lists(CHANGES, max_size=4), st.booleans()), min_size=1, max_size=4)


def line(number: int, text: str, role: str, hour: int) -> bytes:
    entry: dict[str, Any] = {
        "id": f"e{number}",
        "parent_id": None,
        "ts": f"2026-09-19T{hour:02}:00:00Z",
        "kind": "message",
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }
    return json.dumps(entry).encode() + b"\n"


def change(home: Path, kind: str, place: tuple[str, str], what: Any) -> None:
    path = home / "sessions" / place[0] / f"{place[1]}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in ("append", "rewrite"):
        data = b"".join(line(number, *entry) for number, entry in enumerate(what))
        with path.open("ab" if kind == "append" else "wb") as stream:
            stream.write(data)
    elif kind == "truncate" and path.exists():
        os.truncate(path, min(what, path.stat().st_size))
    elif kind == "delete":
        path.unlink(missing_ok=True)
    elif kind == "damage":
        with path.open("ab") as stream:
            stream.write(what)


def requests() -> Iterator[Request]:
    for query in QUERIES:
        yield Request(query, limit=3)
    yield Request("deploy script", limit=50, exclude="a")
    yield Request("deploy", HASHES[0], limit=2)
    yield Request("deploy script", limit=3, scorer=Scorer.BM25)


def check_agreement(folder: Path, rounds: list[tuple[list[Any], bool]]) -> None:
    home, index = folder / "home", folder / "index"
    for path in (home, index):
        shutil.rmtree(path, ignore_errors=True)
    home.mkdir()
    recall = Recall(home, index)
    for changes, built in rounds:
        for each in changes:
            change(home, *each)
        if built:
            settled()
            build(home, index)
        for request in requests():
            assert recall.recall(request, NOW) == scan(home, request, NOW), request


@settings(max_examples=15)
@given(ROUNDS)
def test_the_index_and_the_scan_agree(tmp_path: Path, rounds: list[tuple[list[Any], bool]]) -> None:
    with patch.object(search, "WINDOW", 5), patch("core.homes.vak.index.asking.WINDOW", 5):
        check_agreement(tmp_path, rounds)


@pytest.mark.bench
@settings(max_examples=300)
@given(ROUNDS)
def test_the_index_and_the_scan_agree_on_300_homes(
    tmp_path: Path, rounds: list[tuple[list[Any], bool]]
) -> None:
    with patch.object(search, "WINDOW", 5), patch("core.homes.vak.index.asking.WINDOW", 5):
        check_agreement(tmp_path, rounds)


# -- parts -----------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=12)), max_size=30).map(" ".join))
def test_counts_by_atoms_are_the_counts_in_the_text(text: str) -> None:
    """Left to right, without overlap, for any term that is asked."""
    found = atoms.atoms(text)
    if atoms.ODD in found:
        return
    vocabulary = "\n".join(found) + "\n"
    lowered = text.lower()
    for term in terms(" ".join([*QUERIES, text])):
        counted = sum(times for _, times in atoms.matching(term, vocabulary))
        assert min(counted, 16) == min(lowered.count(term), 16), term


def test_a_build_can_be_stopped_and_goes_on(tmp_path: Path) -> None:
    home, index = tmp_path / "home", tmp_path / "index"
    shutil.copytree(HOME, home)
    settled()
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 6

    said: list[tuple[int, int]] = []
    people = Index(index / PEOPLE)
    assert not update(
        home, index, people, progress=lambda a, b: said.append((a, b)), cancelled=stop
    )
    assert said
    request = Request("deploy script")
    assert Recall(home, index).recall(request, NOW) == scan(home, request, NOW)
    later: list[tuple[int, int]] = []
    assert update(
        home, index, people, progress=lambda a, b: later.append((a, b)), cancelled=lambda: False
    )
    assert later[-1][0] == later[-1][1] < sum(file.size for file in ledger_files(home))
    assert Recall(home, index).recall(request, NOW) == scan(home, request, NOW)


@pytest.mark.parametrize("what", ["atoms.txt", "ledgers.sqlite3", "atoms"])
def test_a_damaged_index_answers_by_the_scan_and_is_made_anew(tmp_path: Path, what: str) -> None:
    home, index = tmp_path / "home", tmp_path / "index"
    shutil.copytree(HOME, home)
    settled()
    assert build(home, index)
    place = index / what
    for path in [place] if place.is_file() else list(place.iterdir()):
        path.write_bytes(path.read_bytes()[:10])
    request = Request("deploy script")
    assert Recall(home, index).recall(request, NOW) == scan(home, request, NOW)
    build(home, index)
    assert build(home, index)
    with patch("core.homes.vak.index.asking.scan", side_effect=AssertionError("a scan")):
        assert Recall(home, index).recall(request, NOW) == scan(home, request, NOW)


def test_the_index_holds_no_sentence(tmp_path: Path) -> None:
    home, index = tmp_path / "home", tmp_path / "index"
    shutil.copytree(HOME, home)
    settled()
    assert build(home, index)
    files = [path for path in index.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"pauses for ninety seconds" not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0, path
    delete(index)
    assert not [path for path in index.rglob("*") if path.is_file() and path.name != "lock"]


# -- people's search -------------------------------------------------------------------------------


def ask(home: Path, index: Path, text: str, **narrow: Any) -> tuple[list[tuple[str, int]], Engine]:
    opened = open_on(home, index.parent, lambda: NOW, kind=Kind.VAK)
    request = SearchRequest(text, UTC, Filters(**narrow), limit=50)
    found = people_search(opened, request)
    return sorted((hit.session_id, hit.message_id) for hit in found.hits), found.engine


@pytest.mark.parametrize(
    ("text", "narrow"),
    [
        ("deploy script", {}),
        ('"deploy script"', {}),
        ("rollba*", {}),
        ("naive OR zeppelin", {}),
        ("deploy -billing", {}),
        ("deploy", {"sources": ("worker",)}),
        ("deploy", {"workspace": "billing"}),
        ("postgres", {"session_id": "01a061fd-8600-7c15-b005-37428c2c79f8"}),
        ("ninety", {"roles": ("assistant",)}),
        ("pause", {"with_tool_output": True}),
    ],
)
def test_people_find_by_the_index_what_a_scan_finds(
    tmp_path: Path, text: str, narrow: dict[str, Any]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(HOME, home)
    opened = open_on(home, tmp_path / "state", lambda: NOW, kind=Kind.VAK)
    scanned, engine = ask(home, tmp_path / "state" / "x", text, **narrow)
    assert engine is Engine.SCAN
    assert scanned
    settled()
    index = index_of(opened)
    assert index_past(opened, index, progress=lambda a, b: None, cancelled=lambda: False)
    found, engine = ask(home, tmp_path / "state" / "x", text, **narrow)
    assert engine is Engine.INDEX
    assert {key for key, _ in found} == {key for key, _ in scanned}


def test_people_find_what_came_since_the_index_was_built(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(HOME, home)
    opened = open_on(home, tmp_path / "state", lambda: NOW, kind=Kind.VAK)
    settled()
    index_past(opened, index_of(opened), progress=lambda a, b: None, cancelled=lambda: False)
    change(home, "append", (HASHES[0], "a"), [("quokka", "user", 3)])
    (home / "sessions" / HASHES[1] / "tie-a.jsonl").unlink()
    assert ask(home, tmp_path / "state" / "x", "quokka") == ([("a", 1)], Engine.INDEX)
    rounding, _ = ask(home, tmp_path / "state" / "x", "bankers")
    assert {key for key, _ in rounding} == {"tie-b", "tie-c"}


def test_lists_by_the_index_are_the_lists(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(HOME, home)
    plain = Ledgers(home).listing(Filters(with_hidden=True), 50)
    settled()
    build(home, tmp_path / "index")
    shutil.move(home, tmp_path / "there")
    shutil.move(tmp_path / "there", home)
    with patch("core.homes.vak.store._READER", Reader()):
        assert Ledgers(home, tmp_path / "index").listing(Filters(with_hidden=True), 50) == plain


def test_turned_off_the_index_is_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(HOME, home)
    opened = open_on(home, tmp_path / "state", lambda: NOW, kind=Kind.VAK)
    settled()
    index_past(opened, index_of(opened), progress=lambda a, b: None, cancelled=lambda: False)
    off = replace(opened, settings=replace(opened.settings, search_index=False))
    assert not index_past(off, index_of(off), progress=lambda a, b: None, cancelled=lambda: False)
    assert not list((tmp_path / "state" / "index").rglob("*.sqlite3"))
    assert recall_desk(off, Request("deploy")).matches > 0


def test_a_search_ends_in_time_also_where_little_is_indexed(tmp_path: Path) -> None:
    shutil.copytree(HOME, tmp_path / "home")
    opened = open_on(tmp_path / "home", tmp_path / "state", lambda: NOW, kind=Kind.VAK)
    settled()
    index_past(opened, index_of(opened), progress=lambda a, b: None, cancelled=lambda: True)
    found = people_search(opened, SearchRequest("deploy script", UTC), seconds=-1.0)
    assert "time was up" in found.note
    assert not found.is_whole


@pytest.mark.parametrize("on", [True, False])
def test_a_count_is_whole_when_everything_was_looked_at(tmp_path: Path, on: bool) -> None:
    shutil.copytree(HOME, tmp_path / "home")
    opened = open_on(tmp_path / "home", tmp_path / "state", lambda: NOW, kind=Kind.VAK)
    settled()
    if on:
        index_past(opened, index_of(opened), progress=lambda a, b: None, cancelled=lambda: False)
    found = people_search(opened, SearchRequest("deploy script", UTC, limit=50))
    assert found.engine is (Engine.INDEX if on else Engine.SCAN)
    assert found.is_whole
    assert not found.literally
    assert people_search(opened, SearchRequest('deploy "script', UTC)).literally
    few = people_search(opened, SearchRequest("the", UTC, limit=1))
    assert few.is_whole is not on
