"""Live changes: real folders, real events, deadlines instead of sleeps."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from functools import partial
from pathlib import Path

import pytest

from core.areas import Area
from core.watch import PAUSE, Event, Mode, Watcher, events_arrive, system_events
from tests.core.watching import (
    IGNORED,
    NEVER,
    PATIENCE,
    dead,
    inotify_handles,
    replace,
    until,
    watching,
)

on_linux = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts in /proc")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "above" / "home"
    for folder in ("pending/memory", "pending/skills", "memories", "skills/ops/deploy"):
        (root / folder).mkdir(parents=True)
    (root / "config.yaml").write_text("a: 1\n")
    (root / "memories/MEMORY.md").write_text("alpha")
    (root / "skills/ops/deploy/SKILL.md").write_text("---\nname: deploy\n---\n")
    return root


# -- events -----------------------------------------------------------------------------------


def test_staged_record_is_told(home: Path) -> None:
    with watching(home) as live:
        live.expect(lambda: (home / "pending/memory/a.json").write_text("{}"), Area.QUEUE)
        assert live.told[-1][1] == {Area.QUEUE}
        live.expect((home / "pending/memory/a.json").unlink, Area.QUEUE)
        assert live.watcher.mode is Mode.LIVE


def test_every_atomic_replace_is_told(home: Path) -> None:
    # R16: a watcher on the file itself saw one of three.
    with watching(home) as live:
        for text in ("one", "two", "three"):
            live.expect(partial(replace, home / "memories/MEMORY.md", text), Area.MEMORY)
        assert all(areas == {Area.MEMORY} for _, areas in live.told)


def test_every_area_is_told(home: Path) -> None:
    (home / "memory/user").mkdir(parents=True)
    with watching(home) as live:
        live.expect(lambda: replace(home / "skills/ops/deploy/SKILL.md", "x"), Area.SKILLS)
        live.expect(lambda: replace(home / "skills/.curator_state", "{}"), Area.CURATOR)
        live.expect(lambda: replace(home / "memory/user/USER.md", "x"), Area.NOTES)
        live.expect(lambda: replace(home / "chroma.sqlite3", "x"), Area.KNOWLEDGE)
        live.expect(lambda: replace(home / "config.yaml", "a: 2\n"), Area.QUEUE, Area.MEMORY)


def test_recreated_folder_is_watched_again(home: Path) -> None:
    # R16: a deleted and re-created root goes deaf.
    folder = home / "pending/memory"
    (folder / "a.json").write_text("{}")

    def recreate() -> None:
        shutil.rmtree(folder)
        folder.mkdir()

    with watching(home) as live:
        live.expect(recreate, Area.QUEUE)
        live.expect(lambda: (folder / "b.json").write_text("{}"), Area.QUEUE)
        live.expect(lambda: (folder / "c.json").write_text("{}"), Area.QUEUE)


def test_folders_that_come_later_are_watched(home: Path) -> None:
    shutil.rmtree(home / "pending")
    with watching(home) as live:

        def stage() -> None:
            (home / "pending/memory").mkdir(parents=True)
            (home / "pending/memory/a.json").write_text("{}")

        live.expect(stage, Area.QUEUE)
        live.expect((home / "skills/new").mkdir, Area.SKILLS)
        live.expect(lambda: (home / "skills/new/SKILL.md").write_text("x"), Area.SKILLS)


def test_home_renamed_away_and_back(home: Path) -> None:
    (home / "pending/memory/a.json").write_text("{}")
    away = home.with_name("away")
    with watching(home) as live:
        live.expect(lambda: home.rename(away), Area.QUEUE, Area.MEMORY, Area.SKILLS)
        live.expect(lambda: away.rename(home), Area.QUEUE, Area.MEMORY, Area.SKILLS)
        live.expect(lambda: (home / "pending/memory/b.json").write_text("{}"), Area.QUEUE)
        live.expect(lambda: replace(home / "memories/MEMORY.md", "x"), Area.MEMORY)


def test_home_whose_parent_goes_too(home: Path) -> None:
    away = home.parent.with_name("gone")
    with watching(home) as live:
        live.expect(lambda: home.parent.rename(away), Area.MEMORY)
        live.expect(lambda: away.rename(home.parent), Area.MEMORY)
        live.expect(lambda: (home / "pending/memory/b.json").write_text("{}"), Area.QUEUE)


def test_links_are_followed(home: Path, tmp_path: Path) -> None:
    dotfiles, elsewhere = tmp_path / "dotfiles", tmp_path / "data" / "pending"
    dotfiles.mkdir()
    shutil.move(home / "pending", elsewhere)
    (home / "pending").symlink_to(elsewhere)
    shutil.move(home / "memories/MEMORY.md", dotfiles / "MEMORY.md")
    (home / "memories/MEMORY.md").symlink_to(dotfiles / "MEMORY.md")
    with watching(home) as live:
        live.expect(lambda: (elsewhere / "memory/a.json").write_text("{}"), Area.QUEUE)
        live.expect(lambda: replace(dotfiles / "MEMORY.md", "one"), Area.MEMORY)
        live.expect(lambda: replace(dotfiles / "MEMORY.md", "two"), Area.MEMORY)
        (elsewhere.parent / "other/memory").mkdir(parents=True)
        (elsewhere.parent / "other/memory/z.json").write_text("{}")

        def turn() -> None:
            (home / "pending").unlink()
            (home / "pending").symlink_to(elsewhere.parent / "other")

        live.expect(turn, Area.QUEUE)
        live.expect(lambda: (home / "pending/memory/y.json").write_text("{}"), Area.QUEUE)


def test_links_in_a_circle_end(home: Path) -> None:
    for number in range(5):  # every way round taken to its depth would be 400,000 folders
        (home / f"skills/back{number}").symlink_to(home / "skills")
    (home / "skills/ops/self").symlink_to(home / "skills/ops/self")
    with watching(home) as live:
        live.expect(lambda: replace(home / "skills/ops/deploy/SKILL.md", "x"), Area.SKILLS)


def test_external_skill_folder(home: Path, tmp_path: Path) -> None:
    team = tmp_path / "team"
    (team / "lint").mkdir(parents=True)
    with watching(home, extra=[(team, "skills")]) as live:
        live.expect(lambda: (team / "lint/SKILL.md").write_text("x"), Area.SKILLS)
        assert live.told[-1][1] == {Area.SKILLS}


# -- what is not told -------------------------------------------------------------------------


@pytest.mark.parametrize("poll", [NEVER, 0.1], ids=["events", "polls"])
def test_ignored_names_are_never_told(home: Path, poll: float) -> None:
    with watching(home, poll=poll) as live:
        for path in IGNORED:
            if path != "pending/memory/a.json/inner.json":  # its folder is a record
                full = home / path
                full.parent.mkdir(parents=True, exist_ok=True)
                full.write_text("x")
        live.expect(lambda: (home / "pending/memory/a.json").write_text("{}"), Area.QUEUE)
        live.all_told()
        assert set().union(*(areas for _, areas in live.told)) == {Area.QUEUE}


def test_reads_locks_and_rewrites_of_nothing_are_not_told(home: Path) -> None:
    # D43: a read that makes the watcher fire makes the reader read for ever.
    with watching(home, poll=0.2) as live:
        for _ in range(5):
            (home / "memories/MEMORY.md").read_bytes()
            sorted((home / "pending/memory").iterdir())
            (home / "memories/MEMORY.md.lock").touch()
            os.utime(home / "memories/MEMORY.md", ns=_times(home / "memories/MEMORY.md"))
        assert live.all_told(1.0) == 0
        assert live.watcher.mode is Mode.LIVE


def _times(path: Path) -> tuple[int, int]:
    status = path.stat()
    return time.time_ns(), status.st_mtime_ns


def test_database_read_is_not_told_and_a_write_is(home: Path) -> None:
    # Sessions spec 1.3 item 3: reading a closed WAL database leaves -shm and an empty -wal.
    path = home / "state.db"
    with sqlite3.connect(path) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (x)")
    writer.close()
    with watching(home, poll=0.2) as live:
        reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
        assert (home / "state.db-shm").exists()
        assert live.all_told(0.7) == 0
        writer = sqlite3.connect(path, isolation_level=None)
        live.expect(lambda: writer.execute("INSERT INTO t VALUES (1)"), Area.SESSIONS)
        told = live.all_told(0.7)
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (1,)
        assert live.all_told(0.7) == told
        assert all(areas == {Area.SESSIONS} for _, areas in live.told)
        reader.close()
        writer.close()


# -- polls ------------------------------------------------------------------------------------


def test_silence_is_found_by_the_poll_and_said(home: Path) -> None:
    with watching(home, poll=0.2, source=dead) as live:
        live.expect(lambda: replace(home / "memories/MEMORY.md", "x"), Area.MEMORY)
        assert live.watcher.mode is Mode.POLLING
        live.expect(lambda: (home / "pending/skills/a.json").write_text("{}"), Area.QUEUE)
        assert live.watcher.mode is Mode.POLLING


def test_events_that_come_back_are_believed(home: Path) -> None:
    awake = threading.Event()

    def sleepy(
        folders: Sequence[str], stop: threading.Event
    ) -> Generator[Iterable[Event], None, None]:
        for batch in system_events(folders, stop):
            yield batch if awake.is_set() else ()

    with watching(home, poll=0.2, source=sleepy) as live:
        live.expect(lambda: replace(home / "memories/MEMORY.md", "x"), Area.MEMORY)
        assert live.watcher.mode is Mode.POLLING
        awake.set()
        live.expect(lambda: replace(home / "memories/MEMORY.md", "y"), Area.MEMORY)
        assert until(lambda: live.watcher.mode is Mode.LIVE)


def test_refused_events_leave_the_poll(home: Path) -> None:
    refusals: list[int] = []

    def refusing(
        folders: Sequence[str], stop: threading.Event
    ) -> Generator[Iterable[Event], None, None]:
        refusals.append(len(folders))
        raise OSError("no watch left")
        yield ()

    with watching(home, poll=0.2, source=refusing) as live:
        live.expect(lambda: (home / "pending/memory/a.json").write_text("{}"), Area.QUEUE)
        assert until(lambda: live.watcher.mode is Mode.POLLING)
        assert until(lambda: len(refusals) >= 6), "never asked again"


def test_events_and_polls_together_tell_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.watch.GRACE", PATIENCE)
    with watching(home, poll=0.05) as live:
        for number in range(5):
            write = partial(replace, home / "memories/MEMORY.md", str(number))
            live.expect(write, Area.MEMORY)
            assert live.watcher.mode is Mode.LIVE
        assert live.all_told() == 5


def test_unreadable_folder_does_not_stop_the_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("/memories"):
            raise PermissionError(13, "denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with watching(home, poll=0.2) as live:
        live.expect(lambda: (home / "pending/memory/a.json").write_text("{}"), Area.QUEUE)
        monkeypatch.setattr(os, "scandir", real)
        live.expect(lambda: replace(home / "memories/MEMORY.md", "x"), Area.MEMORY)


def test_record_that_is_named_in_no_known_encoding(home: Path) -> None:
    name = os.path.join(os.fsencode(home / "pending/memory"), b"caf\xe9.json")

    def write() -> None:
        with open(name, "wb") as stream:
            stream.write(b"{}")

    with watching(home) as live:
        live.expect(write, Area.QUEUE)
        live.all_told()
        assert live.watcher.mode is Mode.LIVE


# -- storms, ends, leaks ----------------------------------------------------------------------


def test_storm_is_told_early_seldom_and_to_its_end(home: Path) -> None:
    folder = home / "pending/memory"
    with watching(home) as live:
        begun = time.monotonic()
        for number in range(2000):
            last = time.monotonic()
            (folder / f"{number:08x}.json").write_text("{}")
            if number % 50 == 0:
                time.sleep(0.08)  # long enough to end a burst
        assert live.told[0][0] < last
        told = live.all_told(1.0)
        assert told <= (live.told[-1][0] - begun) / PAUSE + 1
        assert live.told[-1][0] > last
        live.expect((folder / "000007cf.json").unlink, Area.QUEUE)


def test_stop_ends_the_thread_at_once(home: Path) -> None:
    # D40: an endless loop in a thread keeps the process alive after quit.
    for source in (system_events, dead):
        with watching(home, source=source) as live:
            live.stop.set()
            live.thread.join(PATIENCE)
            assert not live.thread.is_alive()


@on_linux
def test_nothing_is_left_open(home: Path) -> None:
    def held() -> list[int]:
        return [len(os.listdir(folder)) for folder in ("/proc/self/fd", "/proc/self/task")]

    def cycle() -> None:
        with watching(home) as live:
            assert inotify_handles() == 1
            live.stop.set()

    cycle()
    before = held()
    for _ in range(20):
        cycle()
    assert until(lambda: all(now <= then for now, then in zip(held(), before, strict=True)))
    assert inotify_handles() == 0


@on_linux
def test_rearming_keeps_one_handle(home: Path) -> None:
    with watching(home) as live:
        for number in range(5):
            live.expect((home / f"skills/new{number}").mkdir, Area.SKILLS)
        assert until(lambda: inotify_handles() == 1)


@on_linux
def test_abandoned_generator_lets_go(home: Path) -> None:
    stop = threading.Event()
    watcher = Watcher(home, stop=stop, poll=0.1)
    replace(home / "memories/MEMORY.md", "x")
    changes = watcher.changes()
    assert next(iter(changes)).areas == {Area.MEMORY}
    assert inotify_handles() == 1
    del changes
    assert until(lambda: inotify_handles() == 0)


def test_change_before_the_thread_starts_is_told(home: Path) -> None:
    stop = threading.Event()
    watcher = Watcher(home, stop=stop, poll=NEVER)
    (home / "pending/memory/a.json").write_text("{}")
    assert next(iter(watcher.changes())).areas == {Area.QUEUE}
    assert watcher.mode is Mode.LIVE


def test_events_arrive_here(home: Path) -> None:
    assert events_arrive(home, PATIENCE)
    assert not events_arrive(home / "missing")


def test_watchfiles_is_loaded_only_when_needed() -> None:
    code = "import sys, core.watch; sys.exit('watchfiles' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
