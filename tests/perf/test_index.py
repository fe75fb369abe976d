"""The index of messages beside SQLite's own full text, over the same rows in the same run.

The part for CI asserts ratios only, with twice the slack of the goals of issue 5; ``make bench``
builds 250,000 messages, prints the table and holds it to the goals. The texts are made by a rule: a
Zipf vocabulary, messages that repeat their own words, indented lines and paths, one in twelve in
Chinese. The index of real sources and manuals cut into messages is 38 % of their text; of these
texts it is a little more.
"""

from __future__ import annotations

import itertools
import json
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.conversations import Order
from core.recall.index import Category, Document, Index
from tests.core.recall.strategies import asked

ROOT = Path(__file__).parents[2]
SMALL, LARGE = 25_563, 250_000
SLACK = 2.0
#: A real database holds a text two or three times; the goal is 15 % of it.
TIMES_STORED, SHARE = 3, 0.15
#: Times faster than the database's full text, from issue 5, and the part of it at SMALL.
FASTER, FASTER_SMALL = 20.0, 5.0
_CYCLE = (Category.SAID, Category.CRON, Category.TOOL, Category.CRON, Category.HIDDEN)
_SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za", "dri", "pla", "sten")
_JOINTS = (" ", " ", " ", " ", " ", " ", ", ", ". ", "\n", "\n    ", "/", "_", "(", ") ", ": ", "=")


def messages(count: int) -> Iterator[Document]:
    """``count`` messages, the same every time."""
    rng = random.Random(5)
    words = sorted(
        {"".join(rng.choices(_SYLLABLES, k=rng.choice((1, 2, 2, 3)))) for _ in range(60_000)}
    )
    rng.shuffle(words)
    weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(words))))
    chinese = [
        "".join(chr(0x4E00 + rng.randrange(3_000)) for _ in range(rng.choice((1, 2, 2, 3))))
        for _ in range(8_000)
    ]
    heavy = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(chinese))))
    for number in range(1, count + 1):
        length = min(4_000, 1 + int(rng.lognormvariate(4, 1)))
        if number % 12:
            own = rng.choices(words, cum_weights=weights, k=1 + length * 2 // 5)
            drawn = own + rng.choices(own, k=length - len(own)) if length > len(own) else own
            text = "".join(
                itertools.chain.from_iterable(
                    zip(drawn, rng.choices(_JOINTS, k=len(drawn)), strict=True)
                )
            )
        else:
            text = "，".join(
                "".join(rng.choices(chinese, cum_weights=heavy, k=5))
                for _ in range(1 + length // 6)
            )
        role = "user" if number % 2 else "assistant"
        yield Document(
            number, f"s{number // 100}", role, _CYCLE[number % 5], 1e9 + number, text, "cli"
        )


@dataclass(frozen=True)
class Built:
    """Both engines over the same messages, and what it took."""

    index: Index
    database: sqlite3.Connection
    characters: int
    index_seconds: float
    database_seconds: float
    common: str
    chinese: str


def build(folder: Path, count: int) -> Built:
    made = list(messages(count))
    index = Index(folder / "index")
    began = time.perf_counter()
    assert index.feed(
        "bench",
        lambda after: iter(made[after:]),
        total=count,
        progress=lambda _: None,
        cancelled=lambda: False,
    )
    index_seconds = time.perf_counter() - began
    database = sqlite3.connect(folder / "state.db")
    database.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, source TEXT, content TEXT)")
    database.execute("CREATE VIRTUAL TABLE fts USING fts5(content)")
    database.execute("CREATE VIRTUAL TABLE parts USING fts5(content, tokenize='trigram')")
    database.executemany(
        "INSERT INTO messages VALUES (?, ?, ?)", ((m.id, m.category, m.text) for m in made)
    )
    began = time.perf_counter()
    for table in ("fts", "parts"):
        rows = ((m.id, m.text) for m in made)
        database.executemany(f"INSERT INTO {table}(rowid, content) VALUES (?, ?)", rows)
    database.commit()
    database_seconds = time.perf_counter() - began
    database.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(fts, 'row')")
    ((common,),) = database.execute(
        "SELECT term FROM terms WHERE term < 'zzz' AND length(term) > 2 ORDER BY doc DESC LIMIT 1"
    )
    chinese = next(m.text for m in made if m.id % 12 == 0)[:2]
    size = sum(len(m.text.encode()) for m in made)
    return Built(index, database, size, index_seconds, database_seconds, common, chinese)


def median(work: Callable[[], object], rounds: int = 15) -> float:
    """Milliseconds of the middle one, warm."""
    work()
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[rounds // 2] * 1_000


def by_index(built: Built, query: str, order: Order = Order.RANKED) -> float:
    read = asked(query)
    return median(lambda: built.index.search(read, (Category.SAID,), 50, order))


def by_database(built: Built, query: str, rounds: int = 5) -> float:
    sql = "SELECT m.id FROM fts JOIN messages m ON m.id = fts.rowid WHERE fts MATCH ? AND m.source = 'said' ORDER BY fts.rank LIMIT 50"
    return median(lambda: built.database.execute(sql, (f'"{query}"',)).fetchall(), rounds)


def by_scan(built: Built, part: str, rounds: int = 3) -> float:
    sql = "SELECT id FROM messages WHERE content LIKE ? ORDER BY id DESC"
    return median(lambda: built.database.execute(sql, (f"%{part}%",)).fetchall(), rounds)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    built = build(tmp_path_factory.mktemp("small"), SMALL)
    yield built
    built.database.close()


def test_both_find_the_same(small: Built) -> None:
    found = small.index.search(asked(small.common), tuple(Category), SMALL)
    assert found
    rows = small.database.execute("SELECT rowid FROM fts WHERE fts MATCH ?", (small.common,))
    assert sorted(hit.id for hit in found.hits) == [row for (row,) in rows]
    found = small.index.search(asked(small.chinese), tuple(Category), SMALL, Order.NEWEST)
    rows = small.database.execute(
        "SELECT id FROM messages WHERE content LIKE ? ORDER BY id DESC", (f"%{small.chinese}%",)
    )
    assert found
    held = [row for (row,) in rows]
    # Two characters parted by a comma stand together as well: the index knows no punctuation.
    assert set(held) <= {hit.id for hit in found.hits}
    assert len(held) > 10


def test_a_common_word_is_ranked_faster(small: Built) -> None:
    assert by_database(small, small.common) > FASTER_SMALL / SLACK * by_index(small, small.common)


def test_two_chinese_characters_are_found_faster(small: Built) -> None:
    assert by_scan(small, small.chinese) > FASTER / SLACK * by_index(small, small.chinese)


def test_newest_and_nothing_cost_no_more_than_the_databases_rank(small: Built) -> None:
    ranked = by_database(small, small.common)
    assert by_index(small, small.common, Order.NEWEST) < ranked / 2 * SLACK
    assert by_index(small, "qwertyuiopasd") < ranked / 2 * SLACK


def test_building_is_no_slower_than_the_databases_own(small: Built) -> None:
    # The agent keeps two full texts, of words and of three characters.
    assert small.index_seconds < SLACK * small.database_seconds


def test_the_index_is_small(small: Built) -> None:
    assert small.index.state().size < SHARE * TIMES_STORED * small.characters


MEASURED = """
import json, resource, sys
from pathlib import Path
from core.recall.index import Index
from tests.perf.test_index import messages
count = int(sys.argv[2])
after = lambda known: (m for m in messages(count) if m.id > known)
assert Index(Path(sys.argv[1])).feed("m", after, total=count, progress=lambda _: None, cancelled=lambda: False)
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
"""


@pytest.mark.bench
def test_bench_at_250_000(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path / "alone"), str(LARGE)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    memory = json.loads(process.stdout) / (1_024**2 if sys.platform == "darwin" else 1_024)
    built = build(tmp_path, LARGE)
    size = built.index.state().size
    print(f"\n{LARGE:,} messages, {built.characters / 1e6:,.0f} MB of text")
    print(
        f"build    {LARGE / built.index_seconds:10,.0f} a second (full text: {LARGE / built.database_seconds:,.0f})"
    )
    print(f"memory   {memory:10,.0f} MB at most, making the texts included")
    print(
        f"size     {size / 1e6:10,.0f} MB, {size / built.characters:.0%} of the text, {size / built.characters / TIMES_STORED:.1%} of a database"
    )
    rows = {
        "common word": (by_index(built, built.common), by_database(built, built.common)),
        "newest": (by_index(built, built.common, Order.NEWEST), None),
        "two characters": (by_index(built, built.chinese), by_scan(built, built.chinese)),
        "two words": (by_index(built, f"{built.common} lo"), None),
        "phrase": (by_index(built, f'"{built.common} lo"'), None),
        "prefix": (by_index(built, f"{built.common}*"), None),
        "typo": (by_index(built, f"{built.common}xq"), None),
        "zero hits": (by_index(built, "qwertyuiopasd"), None),
    }
    for name, (ours, theirs) in rows.items():
        beside = "" if theirs is None else f"  SQLite {theirs:8.1f} ms, {theirs / ours:6.0f} times"
        print(f"{name:16} {ours:8.2f} ms{beside}")
    built.database.close()
    assert LARGE / built.index_seconds > 5_000
    assert memory < 300
    assert size < SHARE * TIMES_STORED * built.characters
    for name in ("common word", "two characters"):
        ours, theirs = rows[name]
        assert theirs is not None
        assert theirs > FASTER * ours
    assert rows["zero hits"][0] < 2
