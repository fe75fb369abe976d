"""Looking at thousands of ledgers again and again: cheap, and never an old answer (issue 7)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.homes.vak import listing
from core.homes.vak.home import encrypted, ledger_files
from core.homes.vak.store import look

PROJECT = "67b506f04aa724b1"
LINE = b'{"id":"a","ts":"2026-08-20T09:00:00Z","kind":"header","cwd":"/home/dev/atlas"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sessions" / PROJECT
    made.mkdir(parents=True)
    for name in ("a", "b", "c"):
        (made / f"{name}.jsonl").write_bytes(LINE)
    return made


def appended(folder: Path) -> None:
    with (folder / "a.jsonl").open("ab") as stream:
        stream.write(LINE)


def disguised(folder: Path) -> None:
    """Other bytes of the same length, the time of change put back."""
    before = (folder / "a.jsonl").stat()
    (folder / "a.jsonl").write_bytes(LINE.replace(b"atlas", b"other"))
    os.utime(folder / "a.jsonl", ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(folder: Path) -> None:
    before = (folder / "a.jsonl").stat()
    (folder / "new").write_bytes(LINE)
    os.utime(folder / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (folder / "new").replace(folder / "a.jsonl")


def removed(folder: Path) -> None:
    (folder / "b.jsonl").unlink()


def added(folder: Path) -> None:
    (folder / "aa.jsonl").write_bytes(LINE)


def renamed(folder: Path) -> None:
    (folder / "a.jsonl").rename(folder / "z.jsonl")


def linked(folder: Path) -> None:
    (folder / "a.jsonl").unlink()
    (folder / "a.jsonl").symlink_to(folder / "b.jsonl")


def piped(folder: Path) -> None:
    (folder / "a.jsonl").unlink()
    os.mkfifo(folder / "a.jsonl")


def sealed(folder: Path) -> None:
    (folder / "ses_1").mkdir()
    (folder / "ses_1" / "seg-00000001.log").write_bytes(b"\0")


def gone(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


CHANGES = (appended, disguised, replaced, removed, added, renamed, linked, piped, sealed, gone)


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_at_once(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    first = look(tmp_path)
    assert look(tmp_path) is first
    change(folder)
    again = look(tmp_path)
    assert again is not first
    files, closed = ledger_files(tmp_path), encrypted(tmp_path)
    monkeypatch.setattr(listing, "_KNOWN", type(listing._KNOWN)())
    assert files == ledger_files(tmp_path)
    assert closed == encrypted(tmp_path)
    assert list(again.files.values()) == files
    assert [file.session_id for file in files] == sorted(file.session_id for file in files)


def test_what_did_not_change_is_the_same_object(tmp_path: Path, folder: Path) -> None:
    before = {file.session_id: file for file in ledger_files(tmp_path)}
    appended(folder)
    after = {file.session_id: file for file in ledger_files(tmp_path)}
    assert after["b"] is before["b"]
    assert after["a"].size == 2 * len(LINE)
