"""The only writer: contained, durable, never half (design, sections 1 and 5)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core import files
from core.files import OutsideError, Writer, private_folder
from core.model import Change, Move, Node, NodeKind
from tests.core.grounds import file, folder, link

NOTES = "memories/MEMORY.md"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    (root / "memories").mkdir(parents=True)
    (root / "skills/ops").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return root


def put(home: Path, path: str, after: Node | None, before: Node | None = None) -> None:
    Writer(home, tag="7").put(Change(path, before, after), 3)


def left_over(top: Path) -> list[str]:
    return [str(path) for path in top.rglob("*.tmp")]


# -- containment -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["../x", "memories/../../x", "memories/../memories/x", "/etc/signoff-test", "a\0b", "\ud800"],
)
@pytest.mark.parametrize("after", [file(b"1"), folder(), link("x"), None])
def test_paths_that_leave_the_home_are_refused(home: Path, path: str, after: Node | None) -> None:
    with pytest.raises(OutsideError):
        Writer(home).check(Change(path, None, after))
    with pytest.raises(OutsideError):
        put(home, path, after)
    assert sorted(found.name for found in home.parent.iterdir()) == ["home", "outside"]


@pytest.mark.parametrize(
    "move",
    [
        Move("skills/ops", "../ops"),
        Move("../outside", "skills/in"),
        Move("skills/ops", "skills/out/ops"),
    ],
)
def test_moves_that_leave_the_home_are_refused(home: Path, move: Move) -> None:
    (home / "skills/out").symlink_to("../../outside")
    with pytest.raises(OutsideError):
        Writer(home).check(move)
    with pytest.raises(OutsideError):
        Writer(home).move(move)
    assert (home / "skills/ops").is_dir()
    assert (home.parent / "outside").is_dir()


def test_a_folder_on_the_way_that_leads_outside(home: Path) -> None:
    (home / "skills/ops/out").symlink_to(home.parent / "outside")
    with pytest.raises(OutsideError, match="skills/ops/out/x leads outside the home"):
        put(home, "skills/ops/out/x", file(b"1"))
    (home.parent / "outside/x").write_bytes(b"kept")
    with pytest.raises(OutsideError):
        put(home, "skills/ops/out/x", None, file(b"kept"))
    assert (home.parent / "outside/x").read_bytes() == b"kept"


def test_a_folder_on_the_way_that_leads_elsewhere_inside(home: Path) -> None:
    (home / "skills/alias").symlink_to("ops")
    put(home, "skills/alias/x", file(b"1"))
    assert (home / "skills/ops/x").read_bytes() == b"1"


def test_a_name_that_only_begins_like_the_home(home: Path) -> None:
    twin = home.parent / "home-two"
    twin.mkdir()
    (home / "skills/twin").symlink_to(twin)
    with pytest.raises(OutsideError):
        put(home, "skills/twin/x", file(b"1"))
    assert not list(twin.iterdir())


@pytest.mark.parametrize("folder_of_home", ["memories", "skills"])
def test_folders_of_the_home_may_be_links_of_the_person(home: Path, folder_of_home: str) -> None:
    real = home.parent / "outside" / folder_of_home
    (home / folder_of_home).rename(real)
    (home / folder_of_home).symlink_to(real)
    put(home, f"{folder_of_home}/new", folder())
    put(home, f"{folder_of_home}/new/x", file(b"1"))
    assert (real / "new/x").read_bytes() == b"1"
    Writer(home).move(Move(f"{folder_of_home}/new", f"{folder_of_home}/newer"))
    assert (real / "newer/x").read_bytes() == b"1"


def test_further_roots_are_written_by_absolute_path(home: Path) -> None:
    outside = home.parent / "outside"
    path = f"{outside}/x/SKILL.md"
    with pytest.raises(OutsideError):
        Writer(home).put(Change(f"{outside}/x", None, folder()), 0)
    writer = Writer(home, [outside])
    writer.put(Change(f"{outside}/x", None, folder()), 0)
    writer.put(Change(path, None, file(b"1")), 1)
    assert Path(path).read_bytes() == b"1"
    with pytest.raises(OutsideError):
        writer.put(Change(f"{outside}/../y", None, file(b"1")), 2)


@pytest.mark.parametrize("target", ["{top}/outside/notes.md", "../../outside/notes.md", "real.md"])
def test_a_memory_file_is_followed_wherever_its_link_leads(home: Path, target: str) -> None:
    (home / NOTES).symlink_to(target.format(top=home.parent))
    real = Path(os.path.realpath(home / NOTES))
    real.write_bytes(b"old")
    real.chmod(0o640)
    writer = Writer(home)
    assert writer.current(NOTES, follow=True) == file(b"old", 0o640)
    assert writer.current(NOTES, follow=False) == link(target.format(top=home.parent))
    put(home, NOTES, file(b"new", 0o640))
    assert (home / NOTES).is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"new", 0o640)
    assert left_over(home.parent) == []


def test_other_files_are_followed_inside_only(home: Path) -> None:
    (home / "skills/ops/in").symlink_to("real")
    (home / "skills/ops/real").write_bytes(b"old")
    put(home, "skills/ops/in", file(b"new"))
    assert (home / "skills/ops/real").read_bytes() == b"new"
    (home.parent / "outside/f").write_bytes(b"kept")
    (home / "skills/ops/out").symlink_to(home.parent / "outside/f")
    with pytest.raises(OutsideError):
        put(home, "skills/ops/out", file(b"new"))
    assert (home.parent / "outside/f").read_bytes() == b"kept"


@pytest.mark.parametrize("target", ["gone", "../memories", "MEMORY.md"])
def test_a_link_to_no_file_counts_as_the_link(home: Path, target: str) -> None:
    (home / NOTES).symlink_to(target)
    assert Writer(home).current(NOTES, follow=True) == link(target)


def test_removing_a_link_leaves_what_it_leads_to(home: Path) -> None:
    (home / NOTES).symlink_to("real.md")
    (home / "memories/real.md").write_bytes(b"kept")
    put(home, NOTES, None, link("real.md"))
    assert not (home / NOTES).is_symlink()
    assert (home / "memories/real.md").read_bytes() == b"kept"
    put(home, NOTES, link("real.md"))
    assert (home / NOTES).read_bytes() == b"kept"


# -- what is kept, what is left ----------------------------------------------------------------


def test_the_mode_is_the_planned_one_whatever_the_umask(home: Path) -> None:
    old = os.umask(0o077)
    try:
        put(home, "skills/ops/x", file(b"1", 0o664))
        put(home, "skills/made", folder(0o775))
    finally:
        os.umask(old)
    assert (home / "skills/ops/x").stat().st_mode & 0o7777 == 0o664
    assert (home / "skills/made").stat().st_mode & 0o7777 == 0o775


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_owner_and_group_are_kept(home: Path) -> None:
    (home / NOTES).write_bytes(b"old")
    os.chown(home / NOTES, 1234, 4321)
    put(home, NOTES, file(b"new", 0o2640))
    status = (home / NOTES).stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 4321, 0o2640)


def test_a_file_is_replaced_and_never_written_in_place(home: Path) -> None:
    (home / NOTES).write_bytes(b"old")
    with (home / NOTES).open("rb") as reader:
        put(home, NOTES, file(b"new"))
        assert reader.read() == b"old"
    assert (home / NOTES).read_bytes() == b"new"


def test_temporary_names_lie_beside_the_file_and_are_swept(home: Path) -> None:
    writer = Writer(home, tag="41")
    place = home / NOTES
    temporary = writer.temporary(place, 2)
    assert temporary == home / "memories/.signoff-41-2.tmp"
    temporary.write_bytes(b"half")
    other = home / "memories/.signoff-40-2.tmp"
    other.write_bytes(b"not ours")
    writer.sweep(Change(NOTES, None, file(b"1")), 2)
    assert left_over(home) == [str(other)]
    writer.sweep(Change("../x", None, file(b"1")), 2)


def test_a_temporary_name_that_stands_already_is_replaced_not_followed(home: Path) -> None:
    target = home.parent / "outside/victim"
    target.write_bytes(b"kept")
    (home / "memories/.signoff-7-3.tmp").symlink_to(target)
    put(home, NOTES, file(b"new"))
    assert target.read_bytes() == b"kept"
    assert ((home / NOTES).read_bytes(), left_over(home)) == (b"new", [])


class Failing:
    """Stands in for ``os`` in the writer; named calls fail."""

    def __init__(self, **broken: Callable[..., object]) -> None:
        self._broken = broken

    def __getattr__(self, name: str) -> object:
        return self._broken.get(name, getattr(os, name))


def failing(number: int) -> Callable[..., object]:
    def call(*_arguments: object) -> object:
        raise OSError(number, os.strerror(number))

    return call


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
@pytest.mark.parametrize("new", [b"longer than it was", b"s", b""])
def test_a_file_mounted_on_its_own_is_written_in_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int, new: bytes
) -> None:
    (home / NOTES).write_bytes(b"old bytes")
    (home / NOTES).chmod(0o640)
    before = (home / NOTES).stat().st_ino
    monkeypatch.setattr(files, "os", Failing(replace=failing(number)))
    put(home, NOTES, file(new, 0o600))
    status = (home / NOTES).stat()
    assert (status.st_ino, status.st_mode & 0o777) == (before, 0o600)
    assert ((home / NOTES).read_bytes(), left_over(home)) == (new, [])


def test_a_write_in_place_that_fails_half_way_puts_the_old_bytes_back(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / NOTES).write_bytes(b"old bytes, all of them")
    inode = (home / NOTES).stat().st_ino
    halves = [True]

    def write(handle: int, data: memoryview) -> int:
        if os.fstat(handle).st_ino == inode and halves:
            if len(data) < 20:
                halves.clear()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return os.write(handle, data[:10])
        return os.write(handle, data)

    monkeypatch.setattr(files, "os", Failing(replace=failing(errno.EBUSY), write=write))
    with pytest.raises(OSError, match="No space left"):
        put(home, NOTES, file(b"N" * 25, 0o644))
    assert (home / NOTES).read_bytes() == b"old bytes, all of them"
    assert left_over(home) == []


@pytest.mark.parametrize("call", ["write", "fchmod", "fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_no_temporary(
    home: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    (home / NOTES).write_bytes(b"old")
    monkeypatch.setattr(files, "os", Failing(**{call: failing(errno.ENOSPC)}))
    with pytest.raises(OSError, match="No space left"):
        put(home, NOTES, file(b"new"))
    assert ((home / NOTES).read_bytes(), left_over(home)) == (b"old", [])


def test_short_writes_are_carried_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(handle: int, data: memoryview) -> int:
        return os.write(handle, data[:3])

    monkeypatch.setattr(files, "os", Failing(write=write))
    put(home, NOTES, file(b"ten bytes."))
    assert (home / NOTES).read_bytes() == b"ten bytes."


def test_file_systems_that_cannot_sync_a_folder_are_let_be(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(files, "os", Failing(fsync=fsync))
    put(home, NOTES, file(b"new"))
    assert (home / NOTES).read_bytes() == b"new"


# -- folders, links, moves -----------------------------------------------------------------------


def test_a_folder_is_never_made_of_something_else(home: Path) -> None:
    target = home.parent / "outside"
    target.chmod(0o700)
    (home / "skills/a").symlink_to(target)
    (home / "skills/b").write_bytes(b"kept")
    (home / "skills/b").chmod(0o600)
    for path in ("skills/a", "skills/b"):
        with pytest.raises(FileExistsError):
            put(home, path, folder(0o755))
    assert target.stat().st_mode & 0o777 == 0o700
    assert (home / "skills/b").stat().st_mode & 0o777 == 0o600
    (home / "skills/c").mkdir(0o700)
    put(home, "skills/c", folder(0o755))
    assert (home / "skills/c").stat().st_mode & 0o777 == 0o755


def test_only_empty_folders_are_removed(home: Path) -> None:
    (home / "skills/ops/x").write_bytes(b"kept")
    with pytest.raises(OSError, match="not empty"):
        put(home, "skills/ops", None, folder())
    assert (home / "skills/ops/x").read_bytes() == b"kept"


def test_a_link_is_never_made_over_something(home: Path) -> None:
    (home / NOTES).write_bytes(b"kept")
    with pytest.raises(FileExistsError):
        put(home, NOTES, link("x"))
    assert (home / NOTES).read_bytes() == b"kept"


@pytest.mark.parametrize("there", ["file", "empty folder", "dangling link"])
def test_a_move_never_lands_on_something(home: Path, there: str) -> None:
    place = home / "skills/taken"
    if there == "file":
        place.write_bytes(b"")
    elif there == "empty folder":
        place.mkdir()
    else:
        place.symlink_to("gone")
    with pytest.raises(FileExistsError):
        Writer(home).move(Move("skills/ops", "skills/taken"))
    assert (home / "skills/ops").is_dir()


def test_a_move_keeps_everything_inside(home: Path) -> None:
    (home / "skills/ops/x").write_bytes(b"1")
    (home / "skills/ops/l").symlink_to("x")
    (home / "skills/ops").chmod(0o750)
    Writer(home).move(Move("skills/ops", "skills/dev"))
    assert not (home / "skills/ops").exists()
    assert (home / "skills/dev/l").read_bytes() == b"1"
    assert (home / "skills/dev").stat().st_mode & 0o777 == 0o750


def test_signoffs_own_folder_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "state")
    finally:
        os.umask(old)
    assert made.stat().st_mode & 0o777 == 0o700
    made.chmod(0o750)
    assert private_folder(made).stat().st_mode & 0o777 == 0o750


def test_kinds_are_told_apart(home: Path) -> None:
    writer = Writer(home)
    assert writer.current("memories", follow=True) == folder()
    assert writer.current("gone", follow=True) is None
    os.mkfifo(home / "pipe")
    odd = writer.current("pipe", follow=True)
    assert odd is not None
    assert odd.kind is NodeKind.OTHER
