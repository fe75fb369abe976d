"""The note store at size: what a question costs, and code taken in.

The part for CI asserts ratios only. ``make bench`` keeps 100,000 notes, takes 1 GB of code in with
an interruption, and prints the figures; the goal of issue 8 is a question in 60 ms (median). The
code is made by a rule: a Zipf vocabulary of identifiers in lines, each file with names of its own.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from textual.events import Key

from core.desk import knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.homes.rag.building import add_in_place
from core.homes.rag.ingest import Progress
from core.homes.rag.nodes import Layer, Node, collection_of, node_id
from core.settings import Settings
from tests.console.pilots import KNOWLEDGE_MODE, Console, open_console
from tests.console.shelves import home_in

GOAL = 0.060
NOTES, CODE = 100_000, 1_000_000_000
FEW_NOTES, SMALL_NOTES, LARGER = 20, 2_000, 10
#: Times what entering a project of few notes takes.
ENTERED = 2.3
_SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za", "dri", "pla", "sten")
_LINES = ("    {} = {}({})\n", "def {}({}, {}):\n", "    return {}.{} + {}\n", "    # {} {} {}\n")


class Vocabulary:
    """Words by a Zipf rule, the same every time."""

    def __init__(self, seed: int = 8, size: int = 60_000) -> None:
        self.rng = random.Random(seed)
        made = {
            "".join(self.rng.choices(_SYLLABLES, k=self.rng.choice((2, 3, 4)))) for _ in range(size)
        }
        self.words = sorted(made)
        self.rng.shuffle(self.words)
        self.weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(self.words))))

    def draw(self, count: int) -> list[str]:
        return self.rng.choices(self.words, cum_weights=self.weights, k=count)


def shelf_of(folder: Path, cap: int = 10**8) -> Shelf:
    return knowledge.open_store(
        store=str(folder / "hermes-rag"),
        environ={"HERMES_RAG_MEMORY_CAP": str(cap), "HERMES_RAG_WIKI_ROOT": str(folder / "wikis")},
        user_home=folder,
        state=folder / "state",
        settings=Settings(),
        clock=lambda: datetime.now(UTC),
    )


def keep_notes(shelf: Shelf, vocabulary: Vocabulary, count: int) -> None:
    """``count`` live notes of project ``api``."""
    collection = collection_of("api", Layer.MEMORY)
    for start in range(0, count, 5_000):
        texts = [" ".join(vocabulary.draw(18)) for _ in range(min(5_000, count - start))]
        fields = {"status": "active", "source": "learn", "layer": "memory", "path": "memory"}
        stamp = f"2026-01-01T{start // 5_000 % 24:02}:00:00Z"
        nodes = [
            Node(collection, node_id("mem", text), text, fields | {"created": stamp})
            for text in texts
        ]
        add_in_place(shelf.own, nodes)


def write_code(root: Path, vocabulary: Vocabulary, size: int) -> int:
    """Files of about 20 kB until there are ``size`` bytes; how many there are."""
    blocks = []
    for _ in range(3_000):
        lines = []
        for _ in range(24):
            form = vocabulary.rng.choice(_LINES)
            lines.append(form.format(*vocabulary.draw(form.count("{}"))))
        blocks.append("".join(lines))
    written = number = 0
    while written < size:
        folder = root / f"part{number // 200:03}"
        folder.mkdir(parents=True, exist_ok=True)
        own = "".join(f"    {word}_{number} = {word}\n" for word in vocabulary.draw(6))
        text = own.join(vocabulary.rng.choices(blocks, k=28))
        (folder / f"m{number}.py").write_text(text)
        written += len(text)
        number += 1
    return number


def questions(vocabulary: Vocabulary, count: int) -> Iterator[str]:
    """What is asked: common words, rarer words, names of one file, none at all."""
    for number in range(count):
        kind = number % 4
        if kind == 0:
            yield "where is " + " ".join(vocabulary.draw(4)) + " used"
        elif kind == 1:
            yield " ".join(vocabulary.rng.choices(vocabulary.words[200:20_000], k=3))
        elif kind == 2:
            yield f"{vocabulary.words[number]}_{number * 7} assigned"
        else:
            yield " ".join(vocabulary.words[:5])


def ask(shelf: Shelf, asked: list[str]) -> tuple[list[float], list[float]]:
    """Seconds of each question, by the clock and of this process alone; the quickest first."""
    clock, own = [], []
    for question in asked:
        began, began_own = time.perf_counter(), time.process_time()
        knowledge.recall(shelf, question, "api")
        clock.append(time.perf_counter() - began)
        own.append(time.process_time() - began_own)
    return sorted(clock), sorted(own)


def test_ten_times_the_notes_do_not_cost_ten_times_the_time(tmp_path: Path) -> None:
    medians = []
    for count in (SMALL_NOTES, SMALL_NOTES * LARGER):
        vocabulary = Vocabulary(size=8_000)
        shelf = shelf_of(tmp_path / str(count))
        keep_notes(shelf, vocabulary, count)
        asked = list(questions(vocabulary, 24))
        ask(shelf, asked[:4])
        medians.append(statistics.median(ask(shelf, asked)[1]))
    assert medians[1] < LARGER * 0.8 * medians[0]


async def entering(console: Console) -> float:
    """Seconds of this process from the key that enters a project to its painted notes."""
    room, painted = console.knowledge, asyncio.Event()
    began = time.process_time()
    console.app.post_message(Key("enter", "\r"))
    while not room._items:  # noqa: ASYNC110 - nothing tells when they are read
        await asyncio.sleep(0.005)
    room.call_after_refresh(painted.set)
    await painted.wait()
    taken = time.process_time() - began
    await console.settle()
    await console.press("escape")
    return taken


async def test_entering_a_project_of_many_notes_costs_little_more_than_one_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    for count in (FEW_NOTES, SMALL_NOTES * LARGER):
        folder = tmp_path / str(count)
        folder.mkdir()
        keep_notes(shelf_of(folder), Vocabulary(size=8_000), count)
        monkeypatch.setenv("HOME", str(folder))
        async with open_console(home_in(folder), size=(140, 42)) as console:
            await console.press(KNOWLEDGE_MODE)
            taken.append(min([await entering(console) for _ in range(7)]))
    few, many = (1_000 * each for each in taken)
    assert many < ENTERED * few, f"{many:.0f} ms, {few:.0f} ms for {FEW_NOTES}"


@pytest.mark.bench
def test_bench_notes_and_code(tmp_path: Path) -> None:
    vocabulary, shelf = Vocabulary(), shelf_of(tmp_path)
    began = time.perf_counter()
    keep_notes(shelf, vocabulary, NOTES)
    print(f"\n{NOTES:,} notes kept in {time.perf_counter() - began:.1f} s")
    size = int(os.environ.get("SIGNOFF_BENCH_CODE", CODE))
    files = write_code(tmp_path / "api", vocabulary, size)
    told: list[Progress] = []

    def stop_at_half(progress: Progress) -> None:
        told.append(progress)
        if progress.files > files // 2:
            raise KeyboardInterrupt

    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        knowledge_work.ingest_code(shelf, tmp_path / "api", tell=stop_at_half)
    half = time.perf_counter() - began
    done = knowledge_work.ingest_code(shelf, tmp_path / "api", tell=told.append)
    whole = time.perf_counter() - began
    assert done.resumed_at >= files // 2
    assert [p.files for p in told] == sorted(p.files for p in told)
    database = sum(p.stat().st_size for p in shelf.store.folder.iterdir())
    print(
        f"{size / 1e9:.2f} GB of code, {files:,} files, {done.pieces:,} pieces: {whole:.0f} s"
        f" (interrupted after {half:.0f} s, {len(told)} reports), {size / 1e6 / whole:.1f} MB/s,"
        f" store {database / 1e9:.2f} GB"
    )
    asked = list(questions(vocabulary, 200))
    ask(shelf, asked[:8])
    for name, kind in (("all", slice(None)), *((f"kind {n}", slice(n, None, 4)) for n in range(4))):
        taken, own = ask(shelf, asked[kind])
        print(
            f"recall, {name}: median {1000 * statistics.median(taken):.1f} ms,"
            f" 95 % {1000 * taken[int(len(taken) * 0.95)]:.1f} ms, worst {1000 * taken[-1]:.1f} ms;"
            f" of this process {1000 * statistics.median(own):.1f} ms"
        )
        if name == "all":
            # By its own time: others may be at work on the same cores.
            assert statistics.median(own) < GOAL
