"""Bookmarks in past conversations and saved views, in signoff's own folder, never in a home.

One JSON file for all homes. What this version does not know in it stays as it is; a file that
cannot be understood is set aside under another name, which is said, and never overwritten.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from core.atomic import whole
from core.desk.opening import Opened
from core.errors import NotFoundError, StateError, UsageError
from core.files import private_folder
from core.locks import hold

FILE, LOCK, ASIDE = "bookmarks.json", "bookmarks.lock", "bookmarks.broken-{}.json"
#: The form of the file that this version writes.
VERSION = 1
#: Seconds to wait for another signoff that writes the file.
PATIENCE = 5.0
Raw = dict[str, Any]
_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A message worth finding again; ``message_id`` is ``None`` for the session as a whole."""

    session_id: str
    message_id: int | None
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SavedView:
    """A search under a name: the words of the query, filters among them."""

    name: str
    query: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """All of one home and profile: bookmarks newest first, views by name.

    ``trouble`` says in words what of the file could not be used; ``""`` for nothing.
    """

    bookmarks: tuple[Bookmark, ...] = ()
    views: tuple[SavedView, ...] = ()
    trouble: str = ""


class Bookmarks:
    """The bookmarks and saved views of one home and profile.

    Every change is made under a lock on the newest state of the file, so that two consoles lose
    nothing of each other. Changes raise :class:`StateError` when the file cannot be written, or a
    newer signoff made it, and :class:`LockedError`; each gives back what is kept now.
    """

    def __init__(self, state: Path, home: Path, profile: str) -> None:
        self._folder = state
        self._path = state / FILE
        self._home = str(home)
        self._profile = profile

    def read(self) -> Kept:
        """What is kept; changes nothing, and a file that cannot be used is named in the answer."""
        try:
            whole_file = self._load()
        except _BrokenError as problem:
            return Kept(trouble=f"{problem}; the next change sets it aside and starts anew")
        except OSError as problem:
            return Kept(trouble=f"{self._path} cannot be read ({_said(problem)})")
        return self._kept(self._shelf(whole_file))

    def version(self) -> object:
        """Something that differs after any change; cheap enough to ask every second."""
        try:
            seen = os.stat(self._path)
        except OSError:
            return None
        return seen.st_ino, seen.st_mtime_ns, seen.st_size

    def add(self, session_id: str, message_id: int | None, note: str, now: datetime) -> Kept:
        """Bookmark a message; one that has a bookmark gets the new note and time."""
        with self._changing(now) as shelf:
            rows = _rows(shelf, "bookmarks")
            row = next((row for row in rows if _is_at(row, session_id, message_id)), None)
            if row is None:
                row = {"session_id": session_id, "message_id": message_id}
                rows.append(row)
            row.update(note=note, at=now.astimezone(UTC).isoformat())
        return self.read()

    def remove(self, session_id: str, message_id: int | None, now: datetime) -> Kept:
        """Take a bookmark away. Raises :class:`NotFoundError` where there is none."""
        with self._changing(now) as shelf:
            rows = _rows(shelf, "bookmarks")
            left = [row for row in rows if not _is_at(row, session_id, message_id)]
            if len(left) == len(rows):
                raise NotFoundError("There is no bookmark", "It may have been taken away elsewhere")
            shelf["bookmarks"] = left
        return self.read()

    def save_view(self, name: str, query: str, now: datetime) -> Kept:
        """Save a search under ``name``, in place of the one of that name.

        Raises :class:`UsageError` for a blank name.
        """
        name = " ".join(name.split())
        if not name:
            raise UsageError("A saved view needs a name", "Type one")
        with self._changing(now) as shelf:
            rows = _rows(shelf, "views")
            row = next((row for row in rows if _is_named(row, name)), None)
            if row is None:
                row = {"name": name}
                rows.append(row)
            row.update(query=query, at=now.astimezone(UTC).isoformat())
        return self.read()

    def remove_view(self, name: str, now: datetime) -> Kept:
        """Forget a saved view. Raises :class:`NotFoundError` where there is none."""
        with self._changing(now) as shelf:
            rows = _rows(shelf, "views")
            left = [row for row in rows if not _is_named(row, name)]
            if len(left) == len(rows):
                raise NotFoundError(f"There is no saved view {name!r}", "See the list of them")
            shelf["views"] = left
        return self.read()

    @contextmanager
    def _changing(self, now: datetime) -> Iterator[Raw]:
        """This home's part of the file, to be changed; written when the block ends well."""
        try:
            private_folder(self._folder)
            with hold([self._folder / LOCK], PATIENCE):
                try:
                    whole_file = self._load()
                except _BrokenError:
                    self._set_aside(now)
                    whole_file = {}
                if (found := whole_file.get("version", VERSION)) != VERSION:
                    raise StateError(
                        f"{self._path} was made by a newer signoff (form {found!r})",
                        "Update signoff, or set SIGNOFF_STATE to another folder",
                    )
                shelf = self._shelf(whole_file)
                yield shelf
                homes = _rows(whole_file, "homes")
                if not any(each is shelf for each in homes):
                    homes.append(shelf)
                data = json.dumps({**whole_file, "version": VERSION}, indent=1).encode()
                with whole(self._path, over=True) as stream:
                    stream.write(data + b"\n")
        except OSError as problem:
            raise StateError(
                f"{self._path} cannot be written ({_said(problem)})",
                "Free or repair that folder, or name another in SIGNOFF_STATE",
            ) from problem

    def _load(self) -> Raw:
        """The file as it stands. Raises ``_BrokenError`` for one that is no form of ours."""
        try:
            loaded = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError) as problem:
            raise _BrokenError(f"{self._path} is damaged ({problem})") from problem
        if not isinstance(loaded, dict) or not isinstance(loaded.get("homes", []), list):
            raise _BrokenError(f"{self._path} is damaged (it has another form)")
        return loaded

    def _shelf(self, whole_file: Raw) -> Raw:
        for each in whole_file.get("homes", ()):
            if (
                isinstance(each, dict)
                and each.get("home") == self._home
                and each.get("profile") == self._profile
            ):
                return each
        return {"home": self._home, "profile": self._profile}

    def _set_aside(self, now: datetime) -> None:
        """Give a broken file a name that is free."""
        stamp, number = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}", 0
        while os.path.lexists(place := self._folder / ASIDE.format(stamp)):
            number += 1
            stamp = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{number}"
        os.rename(self._path, place)

    def _kept(self, shelf: Raw) -> Kept:
        bookmarks, odd = _each(shelf.get("bookmarks", []), _bookmark)
        views, others = _each(shelf.get("views", []), _view)
        trouble = []
        if odd + others:
            count = f"{odd + others} entries" if odd + others > 1 else "1 entry"
            trouble.append(f"{self._path} has {count} that this version cannot read")
        if aside := sorted(path.name for path in self._folder.glob(ASIDE.format("*"))):
            trouble.append(f"a damaged file was set aside as {self._folder / aside[-1]}")
        return Kept(
            tuple(sorted(bookmarks, key=lambda each: each.at, reverse=True)),
            tuple(sorted(views, key=lambda each: each.name.casefold())),
            "; ".join(trouble),
        )


class _BrokenError(Exception):
    """The file cannot be understood."""


def bookmarks(opened: Opened) -> Bookmarks:
    """Those of the opened home and profile; opening them reads nothing."""
    return Bookmarks(opened.state, opened.found.home, opened.found.profile)


def _rows(shelf: Raw, name: str) -> list[Any]:
    """The list under ``name``, made where it is missing. Raises :class:`StateError` for another."""
    rows = shelf.setdefault(name, [])
    if not isinstance(rows, list):
        raise StateError(f"{name} of this home have another form in {FILE}", "Mend it by hand")
    return rows


def _is_at(row: Any, session_id: str, message_id: int | None) -> bool:
    found = _bookmark(row)
    return found is not None and (found.session_id, found.message_id) == (session_id, message_id)


def _is_named(row: Any, name: str) -> bool:
    found = _view(row)
    return found is not None and found.name == name


def _each(rows: Any, read: Callable[[Any], _Kept | None]) -> tuple[list[_Kept], int]:
    """What can be read of ``rows``, and how many cannot."""
    if not isinstance(rows, list):
        return [], 1
    found = [made for row in rows if (made := read(row)) is not None]
    return found, len(rows) - len(found)


def _bookmark(row: Any) -> Bookmark | None:
    if not isinstance(row, dict) or (at := _moment(row.get("at"))) is None:
        return None
    session_id, message_id, note = (row.get(key) for key in ("session_id", "message_id", "note"))
    is_number = type(message_id) is int or message_id is None
    if not isinstance(session_id, str) or not isinstance(note, str) or not is_number:
        return None
    return Bookmark(session_id, message_id, note, at)


def _view(row: Any) -> SavedView | None:
    if not isinstance(row, dict) or (at := _moment(row.get("at"))) is None:
        return None
    name, query = row.get("name"), row.get("query")
    if not isinstance(name, str) or not isinstance(query, str):
        return None
    return SavedView(name, query, at)


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _said(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()
