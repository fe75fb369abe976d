"""Locks shared with the agents: waited for, bounded, given back (design, section 1)."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import LockedError
from core.locks import PATIENCE, _Waiter, hold, is_held
from tests.core.grounds import held_elsewhere


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds given to each wait for a lock."""
    given: list[float] = []
    real = _Waiter.wait

    def wait(self: _Waiter, patience: float) -> bool:
        given.append(patience)
        return real(self, patience)

    monkeypatch.setattr(_Waiter, "wait", wait)
    return given


def handles() -> int:
    return len(os.listdir("/dev/fd"))


def test_free_locks_are_taken_and_given_back(tmp_path: Path) -> None:
    paths = [tmp_path / "a.lock", tmp_path / "b.lock"]
    before = handles()
    with hold(paths) as made:
        assert made == frozenset()
        assert [is_held(path) for path in paths] == [True, True]
    assert [is_held(path) for path in paths] == [False, False]
    assert [path.exists() for path in paths] == [True, True], "nobody ever deletes a lock"
    assert handles() == before
    with pytest.raises(ZeroDivisionError), hold(paths):
        _ = 1 // 0
    assert [is_held(path) for path in paths] == [False, False]


def test_a_missing_lock_is_made_for_its_owner_only(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with hold([tmp_path / "memories/MEMORY.md.lock"]) as made:
            assert made == frozenset({tmp_path / "memories"})
    finally:
        os.umask(old)
    assert (tmp_path / "memories/MEMORY.md.lock").stat().st_mode & 0o777 == 0o600


def test_a_lock_made_by_the_agent_keeps_its_mode_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_bytes(b"agent")
    path.chmod(0o644)
    with hold([path]):
        pass
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"agent", 0o644)


def test_it_waits_for_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with held_elsewhere(path) as release:
        assert is_held(path)
        threading.Timer(0.2, release).start()
        with hold([path], 60.0):
            assert is_held(path)


def test_it_gives_up_in_time_and_says_for_whom_it_waited(
    tmp_path: Path, waits: list[float]
) -> None:
    path = tmp_path / "MEMORY.md.lock"
    with held_elsewhere(path):
        start = time.monotonic()
        with pytest.raises(LockedError, match=r"Someone else holds MEMORY\.md\.lock"), hold([path]):
            pass
        assert time.monotonic() - start > 0.9 * PATIENCE
    assert [0 < wait <= PATIENCE for wait in waits] == [True]


def test_the_bound_is_for_all_locks_together(
    tmp_path: Path, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "a.lock", tmp_path / "b.lock"
    monkeypatch.setattr(
        "core.locks.time", SimpleNamespace(monotonic=lambda: 100.0 + 60 * len(waits))
    )
    with held_elsewhere(one) as release, held_elsewhere(two):
        threading.Timer(0.1, release).start()
        with pytest.raises(LockedError, match=r"b\.lock"), hold([one, two], 60.5):
            pass
        assert not is_held(one), "what was taken is given back"
    assert waits == [60.5, 0.5]


def test_no_patience_still_takes_a_free_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    for patience in (0.0, -1.0):
        with hold([path], patience):
            assert is_held(path)
    with held_elsewhere(path), pytest.raises(LockedError), hold([path], 0.0):
        pass


def test_fifty_abandoned_waits_leak_nothing_and_keep_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    before, threads = handles(), threading.active_count()
    with held_elsewhere(path):
        for _ in range(50):
            with pytest.raises(LockedError), hold([path], 0.002):
                pass
    assert until(lambda: handles() == before)
    assert until(lambda: threading.active_count() == threads)
    assert not is_held(path)
    with hold([path], 0.0):
        pass


def test_a_waiter_behind_abandoned_ones_gets_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with held_elsewhere(path) as release:
        for _ in range(20):
            with pytest.raises(LockedError), hold([path], 0.002):
                pass
        threading.Timer(0.1, release).start()
        with hold([path], 60.0):
            assert is_held(path)


def test_a_refused_flock_is_an_error_not_a_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system without locks (ENOLCK) is no agent that holds one."""

    def refuse(handle: int, operation: int) -> None:
        if operation & fcntl.LOCK_NB and blocked:
            raise BlockingIOError(errno.EWOULDBLOCK, "busy")
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    before = handles()
    monkeypatch.setattr("core.locks.fcntl.flock", refuse)
    for blocked in (False, True):  # noqa: B007 - read by refuse
        # One that waits ends in a LockedError.
        with pytest.raises(OSError, match="No locks available"), hold([tmp_path / "a.lock"]):
            pass
    assert until(lambda: handles() == before)


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "victim"
    target.write_bytes(b"kept")
    for name, leads in (("a.lock", "victim"), ("b.lock", "gone")):
        (tmp_path / name).symlink_to(leads)
        with pytest.raises(OSError, match="symbolic links") as caught, hold([tmp_path / name]):
            pass
        assert caught.value.errno == errno.ELOOP
        assert not is_held(tmp_path / name)
    assert not (tmp_path / "gone").exists()
    assert target.read_bytes() == b"kept"


def test_locks_are_taken_in_the_given_order(tmp_path: Path) -> None:
    first, second = tmp_path / "1.lock", tmp_path / "2.lock"
    with held_elsewhere(first), pytest.raises(LockedError), hold([first, second], 0.02):
        pass
    assert first.exists()
    assert not second.exists()


def test_a_missing_lock_is_free_and_asking_makes_nothing(tmp_path: Path) -> None:
    assert not is_held(tmp_path / "a.lock")
    assert list(tmp_path.iterdir()) == []
    with held_elsewhere(tmp_path / "a.lock"):
        assert is_held(tmp_path / "a.lock")


def test_two_processes_never_hold_it_at_once(tmp_path: Path) -> None:
    path, counter = tmp_path / "a.lock", tmp_path / "counter"
    counter.write_text("0", encoding="utf-8")
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(BaseException):
                for _ in range(100):
                    with hold([path], 60.0):
                        number = int(counter.read_text(encoding="utf-8"))
                        time.sleep(0.0005)
                        counter.write_text(str(number + 1), encoding="utf-8")
                status = 0
            os._exit(status)
        children.append(child)
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ended == [0, 0]
    assert counter.read_text(encoding="utf-8") == "200"
