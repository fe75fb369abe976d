"""The index: the same answers as the text itself, in ranks of their own, and nothing left behind."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.conversations import Filters, Order
from core.recall.index import Category, Document, Index, IndexState, Status, files
from core.recall.query import matches
from tests.core.recall.indexes import CATEGORIES, built, document, documents, feed
from tests.core.recall.strategies import CJK, WORDS, asked, queries, texts

CORPUS = documents(400)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return built(tmp_path_factory.mktemp("index") / "past", CORPUS)


def ids(index: Index, query: str, *categories: Category, order: Order = Order.RANKED) -> list[int]:
    found = index.search(asked(query), categories or CATEGORIES, 1_000, order)
    assert found is not None
    return [hit.id for hit in found.hits]


def answers(messages: list[Document], query: str) -> list[int]:
    return [one.id for one in messages if matches(asked(query), one.text)]


@given(queries(WORDS + CJK))
def test_it_finds_what_the_texts_hold(index: Index, query: str) -> None:
    read = asked(query)
    found = index.search(read, CATEGORIES, 1_000)
    if found is None:
        assert read.terms is None
        return
    if found.corrected:
        # Words nothing is spelled as: the exact part found nothing.
        assert answers(CORPUS, query) == []
        return
    assert sorted(hit.id for hit in found.hits) == answers(CORPUS, query)
    assert sum(found.counts.values()) == len(found.hits)
    by_id = {one.id: one.category for one in CORPUS}
    assert all(by_id[hit.id] is hit.category for hit in found.hits)


@settings(max_examples=12)
@given(st.lists(texts(WORDS + CJK), max_size=12), st.lists(queries(WORDS + CJK), max_size=12))
def test_it_finds_what_any_texts_hold(bodies: list[str], asking: list[str]) -> None:
    messages = [document(number, text) for number, text in enumerate(bodies, 1)]
    with tempfile.TemporaryDirectory() as folder:
        fed = built(Path(folder) / "past", messages)
        for query in asking:
            found = fed.search(asked(query), CATEGORIES, 1_000)
            if found and not found.corrected:
                assert sorted(hit.id for hit in found.hits) == answers(messages, query)


@pytest.mark.parametrize("query", ["deploy", "桂林", "林", "服务器", "run.py", "de*", "not -it"])
@pytest.mark.parametrize(("order", "backwards"), [(Order.NEWEST, True), (Order.OLDEST, False)])
def test_by_time_is_by_id(index: Index, query: str, order: Order, backwards: bool) -> None:
    assert ids(index, query, order=order) == sorted(answers(CORPUS, query), reverse=backwards)


def test_prefixes_have_no_rank_and_come_newest_first(index: Index) -> None:
    found = index.search(asked("dep*"), CATEGORIES, 1_000)
    assert found is not None
    assert not found.by_score
    assert [hit.id for hit in found.hits] == sorted(answers(CORPUS, "dep*"), reverse=True)


def test_a_flood_of_one_category_starves_no_other(tmp_path: Path) -> None:
    # Issue 5: 1,000 cron rows that rank higher, one interactive hit.
    flood = [document(n, "needle " * 5, Category.CRON) for n in range(1, 1_001)]
    said = document(1_001, f"a needle in {'straw ' * 200}")
    index = built(tmp_path / "past", [*flood, said])
    found = index.search(asked("needle"), (Category.SAID,), 10)
    assert found is not None
    assert [hit.id for hit in found.hits] == [1_001]
    assert found.counts[Category.CRON] == 1_000


def test_a_better_match_comes_first(tmp_path: Path) -> None:
    bodies = ["deploy " + "x " * 80, "deploy the deploy script", "nothing"]
    index = built(tmp_path / "past", [document(n, text) for n, text in enumerate(bodies, 1)])
    assert ids(index, "deploy") == [2, 1]


def test_filters_it_knows(tmp_path: Path) -> None:
    messages = [replace(document(n, "word"), source="cron" if n > 25 else "cli") for n in range(40)]
    messages = [replace(one, id=one.id + 1) for one in messages]
    messages.append(replace(document(99, "word"), at=None))
    index = built(tmp_path / "past", messages)

    def narrowed(sessions: set[str] | None = None, **filters: object) -> list[int]:
        query = replace(asked("word"), filters=Filters(**filters))  # type: ignore[arg-type]
        found = index.search(query, CATEGORIES, 100, Order.OLDEST, sessions=sessions)
        assert found is not None
        assert sum(found.counts.values()) == len(found.hits)
        return [hit.id for hit in found.hits]

    known = {one.id: one for one in messages}
    assert narrowed(sources=("cron",)) == [n for n, one in known.items() if one.source == "cron"]
    assert narrowed(roles=("user",)) == [n for n, one in known.items() if one.role == "user"]
    assert narrowed(session_id="s1") == [n for n, one in known.items() if one.session_id == "s1"]
    assert narrowed({"s0", "s2"}) == [n for n, o in known.items() if o.session_id in ("s0", "s2")]
    assert narrowed(set()) == []
    # after is inclusive, before is not; a message without a time is in neither.
    assert narrowed(after=1_010.0, before=1_012.0) == [11, 12]
    assert narrowed(after=1_038.5) == [40]
    assert narrowed({"s1"}, roles=("user",), before=1_012.0) == [12]


# -- spelling ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spelled(tmp_path_factory: pytest.TempPathFactory) -> Index:
    bodies = ["deploy the server", "deploy again", "deployed kubernetes", "concatenate a2b2c2"]
    messages = [document(n, text) for n, text in enumerate(bodies, 1)]
    return built(tmp_path_factory.mktemp("spelled") / "past", messages)


@pytest.mark.parametrize(
    ("query", "corrected", "found"),
    [
        ("depoly", [("depoly", "deploy")], [1, 2]),
        ("kubernets", [("kubernets", "kubernetes")], [3]),
        ("kubrnets", [("kubrnets", "kubernetes")], [3]),
        ("cat", [("cat", "concatenate")], [4]),
        ("eploy", [("eploy", "deploy"), ("eploy", "deployed")], [1, 2, 3]),
        ("depoly servr", [("depoly", "deploy"), ("servr", "server")], [1]),
        ('"depoly again"', [("depoly", "deploy")], [2]),
        ("depoly -again", [("depoly", "deploy")], [1]),
        ("deploy", [], [1, 2]),
        ("deploy kubernetes", [], []),
        ("tge", [], []),
        ("zzzzzzzzzzz", [], []),
        ("桂林", [], []),
        ("deplo*", [], [1, 2, 3]),
    ],
)
def test_typos_are_forgiven_only_when_nothing_is_spelled_so(
    spelled: Index, query: str, corrected: list[tuple[str, str]], found: list[int]
) -> None:
    answer = spelled.search(asked(query), CATEGORIES, 10)
    assert answer is not None
    assert list(answer.corrected) == corrected
    assert sorted(hit.id for hit in answer.hits) == found
    bodies = ["deploy the server", "deploy again", "deployed kubernetes", "concatenate a2b2c2"]
    assert [n for n, text in enumerate(bodies, 1) if matches(answer.query, text)] == found


def test_a_word_of_another_category_is_not_corrected(tmp_path: Path) -> None:
    messages = [document(1, "deploy"), document(2, "depoly", Category.TOOL)]
    found = built(tmp_path / "past", messages).search(asked("depoly"), (Category.SAID,), 10)
    assert found is not None
    assert (found.corrected, found.hits, found.counts[Category.TOOL]) == ((), (), 1)


# -- feeding -----------------------------------------------------------------------------------


def test_it_grows_by_what_is_new(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS[:300])
    asked_after: list[int] = []

    def after(known: int) -> Iterator[Document]:
        asked_after.append(known)
        return iter(CORPUS[known:])

    told: list[int] = []
    assert index.feed("one", after, total=400, progress=told.append, cancelled=lambda: False)
    assert asked_after == [300]
    assert told[-1] == index.state().documents
    assert ids(index, "deploy", order=Order.OLDEST) == answers(CORPUS, "deploy")


def test_nothing_new_costs_no_commit(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS)
    before = files.signature(tmp_path / "past")
    assert feed(index, CORPUS)
    assert files.signature(tmp_path / "past") == before


def test_another_file_means_another_index(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS)
    assert feed(index, [document(1, "fresh")], identity="two")
    assert index.state() == IndexState(
        Status.READY, 1, 1, 1, "two", size=files.size(tmp_path / "past")
    )
    assert ids(index, "deploy") == []


def test_an_old_format_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = built(tmp_path / "past", CORPUS)
    monkeypatch.setattr(files, "FORMAT", files.FORMAT + 1)
    assert index.state().status is Status.ABSENT
    assert index.search(asked("deploy"), CATEGORIES, 10) is None
    assert not index.drop([1])


def test_cancelled_it_keeps_what_it_has_and_goes_on(tmp_path: Path) -> None:
    index = Index(tmp_path / "past")
    left = iter([False] * 150 + [True])
    assert not feed(index, CORPUS, cancelled=lambda: next(left))
    state = index.state()
    assert (state.status, state.through_id, state.total) == (Status.BUILDING, 150, 400)
    assert ids(index, "deploy", order=Order.OLDEST) == answers(CORPUS[:150], "deploy")
    assert feed(index, CORPUS)
    assert index.state().status is Status.READY
    assert ids(index, "deploy", order=Order.OLDEST) == answers(CORPUS, "deploy")


def test_catching_up_it_stays_ready(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS[:100])
    left = iter([False] * 50 + [True])
    assert not feed(index, CORPUS, cancelled=lambda: next(left))
    assert (index.state().status, index.state().through_id) == (Status.READY, 150)


def test_what_reading_raises_is_passed_on(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS[:100])

    def torn(after: int) -> Iterator[Document]:
        yield CORPUS[after]
        raise LookupError("gone")

    with pytest.raises(LookupError):
        index.feed("one", torn, total=400, progress=lambda _: None, cancelled=lambda: False)
    assert index.state().through_id == 100
    assert feed(index, CORPUS)


def test_messages_without_words_are_passed_by(tmp_path: Path) -> None:
    index = built(tmp_path / "past", [document(1, ""), document(2, "word"), document(3, "")])
    assert (index.state().documents, index.state().through_id) == (1, 3)


def test_dropped_messages_are_gone(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS)
    gone = answers(CORPUS, "deploy")[:5]
    assert index.drop(gone)
    assert ids(index, "deploy", order=Order.OLDEST) == answers(CORPUS, "deploy")[5:]
    assert feed(index, CORPUS)
    assert ids(index, "deploy", order=Order.OLDEST) == answers(CORPUS, "deploy")[5:]


def test_another_one_sees_what_the_first_wrote(tmp_path: Path) -> None:
    other = Index(tmp_path / "past")
    assert other.state().status is Status.ABSENT
    index = built(tmp_path / "past", CORPUS[:100])
    assert ids(other, "deploy") == ids(index, "deploy")
    feed(index, CORPUS)
    assert ids(other, "deploy") == ids(index, "deploy")


def test_a_long_message_is_found_at_its_end(tmp_path: Path) -> None:
    text = f"{'straw ' * 500_000}needle {'草' * 1_200_000}桂林"
    index = built(tmp_path / "past", [document(1, text)])
    assert ids(index, "straw needle") == [1]
    assert ids(index, "桂林") == [1]


def test_odd_characters(tmp_path: Path) -> None:
    text = "half \ud800 nul \0 word𠀀𠀁 nai\u0308ve"
    index = built(tmp_path / "past", [replace(document(1, text), session_id="s\ud800")])
    for query in ("half nul", "𠀀𠀁", "naive", "word"):
        assert ids(index, query) == [1]


# -- what it leaves on the disk ----------------------------------------------------------------


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        built(tmp_path / "all" / "state" / "past", CORPUS)
    finally:
        os.umask(mask)
    # Those above it as well, where they were not there.
    made = [tmp_path / "all", *(tmp_path / "all").rglob("*")]
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in made}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_no_text_is_stored(tmp_path: Path) -> None:
    sentence = "the quick auburn fox outwits a languid badger"
    index = built(tmp_path / "past", [*CORPUS, document(500, sentence)])
    assert ids(index, f'"{sentence}"') == [500]
    held = b"".join(path.read_bytes() for path in (tmp_path / "past").rglob("*") if path.is_file())
    for a, b in zip(sentence.split(), sentence.split()[1:], strict=False):
        assert f"{a} {b}".encode() not in held


def test_deleting_leaves_nothing(tmp_path: Path) -> None:
    index = built(tmp_path / "past", CORPUS)
    index.delete()
    assert list(tmp_path.iterdir()) == []
    assert index.state() == IndexState(Status.ABSENT)
    assert index.search(asked("deploy"), CATEGORIES, 10) is None
    index.delete()
    assert feed(index, CORPUS)


def test_off_it_touches_nothing(tmp_path: Path) -> None:
    index = Index(tmp_path / "past", on=False)
    assert not feed(index, CORPUS)
    assert index.state() == IndexState(Status.OFF)
    assert index.search(asked("deploy"), CATEGORIES, 10) is None
    assert list(tmp_path.iterdir()) == []


def test_without_tantivy_it_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "available", lambda: False)
    index = Index(tmp_path / "past")
    assert not feed(index, CORPUS)
    assert index.state().status is Status.OFF
    assert "tantivy" in index.state().problem
    assert list(tmp_path.iterdir()) == []
