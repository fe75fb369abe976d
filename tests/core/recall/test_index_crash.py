"""The index and what happens to files: kills, two at once, a full disk, damage."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import LockedError
from core.recall.index import Document, Index, Status, files
from core.recall.query import matches
from tests.core.recall.indexes import CATEGORIES, built, documents, feed
from tests.core.recall.strategies import asked

ROOT = Path(__file__).parents[3]
COUNT, EVERY = 6_000, 700
QUERIES = ("deploy", '"run py"', "dep*", "桂林", "服务器 run", "not -it", "zebra OR a")


def start(folder: Path, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.core.recall.feeder", str(folder), *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, pipesize=4096, text=True, cwd=ROOT)


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    answer: dict[str, Any] = json.loads(out.splitlines()[-1])
    return answer


def answers(index: Index) -> dict[str, object]:
    """Everything an index says: hits with scores, counts, spelling."""
    said: dict[str, object] = {}
    for query in (*QUERIES, "depoly", "eploy"):
        found = index.search(asked(query), CATEGORIES, COUNT)
        assert found is not None
        said[query] = (
            sorted((hit.id, round(hit.score, 3)) for hit in found.hits),
            found.counts,
            found.corrected,
            found.through_id,
        )
    return said


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The answers of a build that nobody interrupted."""
    return answers(built(tmp_path_factory.mktemp("whole") / "past", documents(COUNT)))


@pytest.mark.parametrize("kills", [(800,), (300, 1500, 2900, 4400)])
def test_a_killed_build_goes_on_and_ends_in_the_same_answers(
    tmp_path: Path, whole: dict[str, object], kills: tuple[int, ...]
) -> None:
    folder = tmp_path / "past"
    for at in kills:
        process = start(folder, COUNT, EVERY)
        assert process.stdout
        for line in process.stdout:
            if int(line) >= at:
                break
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert Index(folder).state().status in (Status.BUILDING, Status.ABSENT)
    asked_after: list[int] = []
    messages = documents(COUNT)
    index = Index(folder)

    def after(known: int) -> Iterator[Document]:
        asked_after.append(known)
        return iter(messages[known:])

    assert index.feed("one", after, total=COUNT, progress=lambda _: None, cancelled=lambda: False)
    assert kills[-1] - EVERY <= asked_after[0] < COUNT
    assert index.state().status is Status.READY
    assert answers(index) == whole
    # What the killed ones had begun to write is not left behind.
    segments = json.loads((folder / files.MESSAGES / "meta.json").read_text())["segments"]
    assert len(list((folder / files.MESSAGES).glob("*.idx"))) == len(segments)


def test_a_kill_between_commit_and_description_counts_nothing_twice(
    tmp_path: Path, whole: dict[str, object]
) -> None:
    messages = documents(COUNT)
    index = built(tmp_path / "past", messages[:2_000])
    before = (tmp_path / "past" / "about.json").read_bytes()
    assert feed(index, messages[:3_000])
    (tmp_path / "past" / "about.json").write_bytes(before)
    assert feed(index, messages)
    assert answers(index) == whole
    assert index.state().documents == sum(bool(message.text) for message in messages)


def test_of_two_that_feed_at_once_one_writes(tmp_path: Path, whole: dict[str, object]) -> None:
    folder = tmp_path / "past"
    first = start(folder, COUNT, EVERY)
    assert first.stdout
    first.stdout.readline()
    mine = Index(folder)
    assert not feed(mine, documents(COUNT))
    assert mine.state().status is Status.BUILDING
    assert not mine.drop([1])
    with pytest.raises(LockedError):
        mine.delete()
    said = outcome(first)
    assert (said["fed"], said["status"], said["through"]) == (True, "ready", COUNT)
    assert answers(mine) == whole
    both = [start(tmp_path / "again", COUNT, EVERY) for _ in range(2)]
    ends = [outcome(process) for process in both]
    assert any(end["fed"] for end in ends)
    assert answers(Index(tmp_path / "again")) == whole


def test_searching_while_another_builds_sees_whole_commits(tmp_path: Path) -> None:
    messages = documents(COUNT)
    said = [message for message in messages if message.text]
    ends = [0, *(message.id for message in said[EVERY - 1 :: EVERY]), COUNT]
    deploy = [message.id for message in said if matches(asked("deploy"), message.text)]
    process = start(tmp_path / "past", COUNT, EVERY)
    index = Index(tmp_path / "past")
    seen, lines = set(), list[str]()
    assert process.stdout
    for line in process.stdout:
        lines.append(line)
        found = index.search(asked("deploy"), CATEGORIES, COUNT)
        if found:
            ids = sorted(hit.id for hit in found.hits)
            # Commits may be ahead of their description, by as many as fit between two readings;
            # never behind, and never half.
            assert found.through_id in ends
            assert ids in [
                [found_id for found_id in deploy if found_id <= end]
                for end in ends
                if end >= found.through_id
            ]
            seen.add(len(ids))
    assert json.loads(lines[-1])["fed"]
    process.communicate()
    assert len(seen) > 1


def test_a_full_disk_is_a_problem_said_and_nothing_lost(
    tmp_path: Path, whole: dict[str, object]
) -> None:
    folder = tmp_path / "past"
    built(folder, documents(COUNT)[:500])
    said = outcome(start(folder, COUNT, COUNT, 20_000))
    assert not said["fed"]
    assert said["problem"]
    assert said["status"] == "ready"
    assert said["through"] == 500
    assert said["ids"] == [m.id for m in documents(COUNT)[:500] if matches(asked("deploy"), m.text)]
    index = Index(folder)
    assert feed(index, documents(COUNT))
    assert answers(index) == whole


def test_a_disk_full_from_the_start(tmp_path: Path) -> None:
    said = outcome(start(tmp_path / "past", COUNT, COUNT, 100))
    assert not said["fed"]
    assert said["problem"]
    assert said["ids"] in (None, [])
    assert feed(Index(tmp_path / "past"), documents(100))


def largest(folder: Path, ending: str) -> Path:
    return max((folder / files.MESSAGES).glob(f"*{ending}"), key=lambda path: path.stat().st_size)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def garble(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip, cut, garble, empty, Path.unlink])
@pytest.mark.parametrize("ending", [".idx", ".term", ".pos", ".fast", "meta.json"])
def test_damage_is_found_and_the_index_made_anew(
    tmp_path: Path, damage: Callable[[Path], None], ending: str
) -> None:
    messages = documents(300)
    folder = tmp_path / "past"
    built(folder, messages)
    damage(largest(folder, ending))
    index = Index(folder)
    found = index.search(asked("deploy"), CATEGORIES, 300)
    if found is None:
        assert index.state().status in (Status.BROKEN, Status.ABSENT)
    elif damage is not flip and ending != ".fast":
        pytest.fail("an index without that file answered")
    assert feed(index, messages)
    assert index.state().status is Status.READY
    expected = [m.id for m in messages if matches(asked("deploy"), m.text)]
    for reader in (index, Index(folder)):
        found = reader.search(asked("deploy"), CATEGORIES, 300)
        assert found is not None
        assert sorted(hit.id for hit in found.hits) == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '{"identity": 1}', "null", "\udcff"])
def test_a_damaged_description(tmp_path: Path, text: str) -> None:
    index = built(tmp_path / "past", documents(50))
    (tmp_path / "past" / "about.json").write_text(text, errors="surrogateescape")
    assert index.state().status is Status.BROKEN
    assert index.search(asked("deploy"), CATEGORIES, 10) is None
    assert feed(index, documents(50))
    assert index.state().status is Status.READY


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    index = Index(tmp_path / "file" / "past")
    assert not feed(index, documents(10))
    assert index.state().problem
    assert index.search(asked("deploy"), CATEGORIES, 10) is None
