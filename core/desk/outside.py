"""Outside edits: changes of memory files and skills that no decision of ours made.

The agent's own writes count: with its gates off, or through a shell, it changes files past the
queue (field report D11). What signoff saw last, and what it wrote itself since, is compared with
what stands there now; a difference becomes an entry of the journal. The first look at a home only
remembers, but for what changed since a person began to look at it (``Opened.since``). Skills
outside the home (``skills.external_dirs``) are not looked at.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.areas import Area, areas_of
from core.desk.opening import Opened
from core.errors import LockedError, StateError
from core.homes.base import Kind
from core.homes.hermes.memory import entries as memory
from core.homes.hermes.skills.tree import EXCLUDED
from core.journal import Intent, State, Step
from core.model import Change, EntryChange, Node, NodeKind
from core.sightings import OUTSIDE, Decided, Look, Sighting, Sightings
from core.view import Disk, View, join, name, parent, sha256

#: Bytes of a skill file past which only its hash is kept.
KEPT = 64 * 1024
#: Skill files past which skills are not looked at: nobody waits for that.
MAX_FILES = 20_000
#: Folders below ``skills/`` that are entered.
MAX_DEPTH = 10

MEMORY_FILES = (memory.path_of("memory"), memory.path_of("user"))
SKILL_FILE = "SKILL.md"
#: The notes of a vak home, which its agent writes without asking.
_NOTES = re.compile(r"(?:agents/[^/]+/)?memory/(?:[^/]+/MEMORY\.md|user/USER\.md)")

#: A file that changed before it was first seen: what it was is not known.
_UNKNOWN = Sighting("unknown", "")


@dataclass(frozen=True, slots=True)
class OutsideEdit:
    """One memory file or skill that someone else changed, and the journal's entry on it."""

    entry: int
    subject: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Difference:
    """A file that is not what it was last known to be; hashes, ``""`` where it is not there."""

    path: str
    before: str
    after: str


def note_outside(opened: Opened) -> tuple[OutsideEdit, ...]:
    """Look at the home, and write down what someone else changed since the last look.

    Nothing is noted while a decision is under way or did not end: the next look finds it. Raises
    :class:`StateError` when the journal cannot be used.
    """
    opened.check_state()
    home = str(opened.found.home)
    try:
        with opened.ground().held():
            if opened.journal.entries(home, states=(State.OPEN,), limit=1):
                return ()
            return _look(opened, home)
    except (LockedError, OSError):
        return ()


def note_again(opened: Opened) -> tuple[OutsideEdit, ...]:
    """:func:`note_outside` for commands that only read: only where a first look was taken.

    What cannot be written down now is found by the next look.
    """
    try:
        if Sightings(opened.state).last(str(opened.found.home)) is None:
            return ()
        return note_outside(opened)
    except StateError:
        return ()


def _look(opened: Opened, home: str) -> tuple[OutsideEdit, ...]:
    sightings, disk = Sightings(opened.state), Disk(opened.found.home)
    last, newest = sightings.last(home), sightings.newest(home)
    stamps, skills_too = _stamps(disk.root, _memory_files(opened))
    if last is None:
        young = {path for path, stamp in stamps.items() if 0 < opened.since <= _changed(stamp)}
        first, blobs = _first(disk, {p: stamp for p, stamp in stamps.items() if p not in young})
        first |= dict.fromkeys(young, _UNKNOWN)
        sightings.look(home, newest, opened.clock(), first, blobs, ())
        last = sightings.last(home) if young else None
    if last is None:
        return ()
    decided = sightings.decided_since(home, last.entry)
    compared = _Compared(disk, last, stamps, skills_too)
    compared.replay(decided)
    compared.look()
    updates = compared.updates()
    groups = _grouped(compared)
    if not (updates or groups or decided):
        return ()
    edits = [
        _edit(opened, sightings, compared, subject, found) for subject, found in groups.items()
    ]
    kept = [node.data for path, node in compared.nodes.items() if _is_kept(path, node)]
    numbers = sightings.look(home, newest, opened.clock(), updates, kept, edits)
    return tuple(
        OutsideEdit(number, subject, tuple(dict.fromkeys(each.path for each in found)))
        for number, (subject, found) in zip(numbers, groups.items(), strict=True)
    )


class _Compared:
    """The last look, what we wrote since, and what stands there now.

    Without ``skills_too`` the skills were not listed: nothing is said of them.
    """

    def __init__(self, disk: Disk, last: Look, stamps: Mapping[str, str], skills_too: bool) -> None:
        self._disk, self._last, self._stamps = disk, last, stamps
        self._skills_too = skills_too
        self.expected = {path: seen.sha256 for path, seen in last.files.items()}
        self.differences: list[_Difference] = []
        self.nodes: dict[str, Node] = {}
        self._files: dict[str, Sighting] = {}
        self._moved_in: list[str] = []

    def replay(self, decided: Iterable[Decided]) -> None:
        """What our own entries did; one that met other bytes than expected tells of a change."""
        for entry in decided:
            for step in entry.steps:
                if step.to is not None:
                    self._move(step.path, step.to)
                elif step.path in self.expected or is_watched(step.path):
                    self._differ(step.path, step.before or "")
                    self.expected[step.path] = step.after or ""

    def look(self) -> None:
        """What stands there now, read only where the stamp moved."""
        for path in sorted(self.expected.keys() | self._stamps.keys()):
            seen = self._last.files.get(path)
            stamp = self._stamps.get(path, "")
            listed = stamp or is_memory(path) or (self._skills_too and is_watched(path))
            if not listed:
                # Moved away by us (an archived skill), or not looked at this time.
                if found := self.expected.get(path):
                    self._files[path] = Sighting(found, "")
            elif seen and stamp == seen.stamp and self.expected.get(path) == seen.sha256:
                self._files[path] = seen
            else:
                self._read(path, stamp, seen)

    def updates(self) -> dict[str, Sighting | None]:
        """What to write down: the files that differ from the last look."""
        known = self._last.files
        fresh: dict[str, Sighting | None] = {
            path: seen for path, seen in self._files.items() if known.get(path) != seen
        }
        return fresh | dict.fromkeys(known.keys() - self._files.keys())

    def folder_of(self, path: str) -> str:
        """The skill a file belongs to: the nearest folder above it with a SKILL.md."""
        folder = parent(path)
        while folder.startswith("skills/"):
            file = join(folder, SKILL_FILE)
            if file in self._stamps or file in self.expected:
                return folder
            folder = parent(folder)
        return parent(path)

    def _read(self, path: str, stamp: str, seen: Sighting | None) -> None:
        node = _node(self._disk, path) if stamp else None
        if node is not None and node.kind is NodeKind.OTHER:
            if seen:
                self._files[path] = seen
            return
        now = sha256(node.data) if node else ""
        self._differ(path, now)
        if node is not None:
            self.nodes[path] = node
            self._files[path] = Sighting(now, stamp)

    def _differ(self, path: str, now: str) -> None:
        if path not in self.expected and any(path.startswith(folder) for folder in self._moved_in):
            return
        before = self.expected.get(path, "")
        if before != now:
            self.differences.append(_Difference(path, before, now))

    def _move(self, path: str, to: str) -> None:
        for old in [each for each in self.expected if each.startswith(f"{path}/")]:
            self.expected[to + old[len(path) :]] = self.expected.pop(old)
        # What lay there before we first looked is not known, and no news when it comes back.
        self._moved_in.append(f"{to}/")


def is_memory(path: str) -> bool:
    """Whether it is a memory file of a Hermes home, or a file of notes of a vak home."""
    return path in MEMORY_FILES or bool(_NOTES.fullmatch(path))


def is_watched(path: str) -> bool:
    """Whether a change of ``path`` is told: the memory files and what belongs to a live skill."""
    if is_memory(path):
        return True
    return (
        path.startswith("skills/")
        and Area.SKILLS in areas_of(path)
        and not any(part.startswith(".") for part in path.split("/"))
    )


def _memory_files(opened: Opened) -> Sequence[str]:
    if opened.found.kind is not Kind.VAK:
        return MEMORY_FILES
    from core.homes.vak.home import note_files

    return note_files(opened.found.home)


def _stamps(root: Path, memories: Iterable[str]) -> tuple[dict[str, str], bool]:
    """``path -> stamp`` of every watched file, nothing opened; and whether skills are in it."""
    found = {}
    for path in memories:
        try:
            status = os.stat(root / path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            found[path] = _stamp(status)
    skills: dict[str, str] = {}
    for path, status in _walk(root, "skills", 0):
        if len(skills) == MAX_FILES:
            return found, False
        skills[path] = _stamp(status)
    return found | skills, True


def _walk(root: Path, folder: str, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(root / folder) as listing:
            children = list(listing)
    except OSError:
        return
    for child in children:
        path = join(folder, child.name)
        if child.name.startswith(".") or child.name in EXCLUDED:
            continue
        if child.is_dir(follow_symlinks=False):
            if depth < MAX_DEPTH:
                yield from _walk(root, path, depth + 1)
        elif Area.SKILLS in areas_of(path):
            try:
                yield path, child.stat(follow_symlinks=False)
            except OSError:
                continue


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_ino}:{status.st_size}:{status.st_ctime_ns}"


def _changed(stamp: str) -> int:
    """Unix nanoseconds of a stamp."""
    return int(stamp.rpartition(":")[2])


def _node(disk: Disk, path: str) -> Node | None:
    return View(disk, recording=False).current(path, follow=is_memory(path))


def _first(disk: Disk, stamps: Mapping[str, str]) -> tuple[dict[str, Sighting | None], list[bytes]]:
    files: dict[str, Sighting | None] = {}
    blobs: list[bytes] = []
    for path, stamp in stamps.items():
        node = _node(disk, path)
        if node is None or node.kind is NodeKind.OTHER:
            continue
        files[path] = Sighting(sha256(node.data), stamp)
        if _is_kept(path, node):
            blobs.append(node.data)
    return files, blobs


def _is_kept(path: str, node: Node) -> bool:
    if is_memory(path):
        return True
    return name(path) == SKILL_FILE and node.kind is NodeKind.FILE and len(node.data) <= KEPT


def _grouped(compared: _Compared) -> dict[str, list[_Difference]]:
    """Differences by what a person would name: the memory file, or the skill's folder."""
    groups: dict[str, list[_Difference]] = {}
    for each in compared.differences:
        subject = each.path if is_memory(each.path) else compared.folder_of(each.path)
        groups.setdefault(subject, []).append(each)
    return groups


def _edit(
    opened: Opened,
    sightings: Sightings,
    compared: _Compared,
    subject: str,
    found: Sequence[_Difference],
) -> tuple[Intent, tuple[str, ...]]:
    """The entry on one subject, and its files whose bytes before and after are not both kept."""
    wanted = {digest for each in found for digest in (each.before, each.after)}
    bytes_of = sightings.kept(wanted) | {
        sha256(node.data): node.data
        for path, node in compared.nodes.items()
        if path in {each.path for each in found}
    }
    steps, unkept = [], []
    for each in found:
        sides = [bytes_of.get(digest) for digest in (each.before, each.after)]
        known = all(
            side is not None or not digest
            for side, digest in zip(sides, (each.before, each.after), strict=True)
        )
        if known and (is_memory(each.path) or max(len(side or b"") for side in sides) <= KEPT):
            here = compared.nodes.get(each.path, Node(NodeKind.FILE, mode=0o600))
            before, after = (replace(here, data=x) if x is not None else None for x in sides)
            steps.append(Step(Change(each.path, before, after)))
        else:
            unkept.append(each.path)
    pairs = tuple(pair for step in steps for pair in _entries(step.change))
    intent = Intent(
        at=opened.clock(),
        home=str(opened.found.home),
        profile=opened.found.profile,
        verb=OUTSIDE,
        subject=subject,
        category=OUTSIDE,
        message=_message(found, pairs),
        steps=tuple(steps),
        entries=pairs,
    )
    return intent, tuple(unkept)


def _entries(change: object) -> Iterator[EntryChange]:
    """The memory entries that went, then those that came; of notes also those that changed."""
    if not isinstance(change, Change) or not is_memory(change.path):
        return
    old, new = (
        node.data.decode("utf-8", "replace") if node else ""
        for node in (change.before, change.after)
    )
    if change.path not in MEMORY_FILES:
        from core.homes.vak.notes.differing import differing

        yield from differing(old, new)
        return
    before, after = (memory.parse(memory.normalise_line_ends(text)) for text in (old, new))
    yield from (EntryChange(text, None) for text in before if text not in after)
    yield from (EntryChange(None, text) for text in after if text not in before)


def _message(found: Sequence[_Difference], pairs: Sequence[EntryChange]) -> str:
    if pairs:
        came = sum(pair.before is None for pair in pairs)
        went = sum(pair.after is None for pair in pairs)
        what = f": entries {came} added, {went} removed"
        if changed := len(pairs) - came - went:
            what += f", {changed} changed"
    else:
        files = list(dict.fromkeys(name(each.path) for each in found))
        what = f": {', '.join(files[:4])}" + (f" and {len(files) - 4} more" * (len(files) > 4))
    if all(not each.before for each in found):
        return f"Made by another writer{what}"
    if all(not each.after for each in found):
        return f"Removed by another writer{what}"
    return f"Changed by another writer{what}"
