"""Which agent's home is opened: its kind, told by the folder, and where homes are looked for.

Nothing here reads the environment: it comes in as an argument.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.errors import NoHomeError, UnreadableError, UsageError
from core.homes.hermes.home import DEFAULT, choose_profile


class Kind(StrEnum):
    """Whose home it is: Hermes Agent (and signoff's own), vak, or the hermes-memory-rag store."""

    HERMES = "hermes"
    VAK = "vak"
    RAG = "rag"


#: The variable that names a home of each kind, in the order they are asked.
VARIABLES = {
    Kind.HERMES: "HERMES_HOME",
    Kind.VAK: "VAK_HOME",
    Kind.RAG: "HERMES_RAG_STORE",
}
CHROMA_STORE = "chroma.sqlite3"
#: signoff's own note store, in the folder the hermes-memory-rag settings name.
OWN_STORE = "signoff.sqlite3"

_HOW = "Name one with --home DIR, or look around in `signoff demo`"
# skills/ and state.db count last: a vak home may have them too.
_HERMES_SIGNS = ("config.yaml", "memories/", "pending/")
_HERMES_WEAK_SIGNS = ("skills/", "state.db")
_RAG_SIGNS = (CHROMA_STORE, OWN_STORE)
# The third is vak's newest, encrypted ledger: it cannot be read, yet it is a vak home.
_VAK_PATTERNS = ("memory/*/MEMORY.md", "sessions/*/*.jsonl", "sessions/*/*/seg-*")


@dataclass(frozen=True, slots=True)
class Found:
    """A home that was found; ``via`` says how: ``--home``, a variable, or ``default``."""

    path: Path
    kind: Kind
    via: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """The home to open (its real path), its kind and profile, and the others that were found.

    ``root`` holds all profiles of a Hermes home; for the other kinds it is the home itself and
    ``profile`` is ``default``.
    """

    home: Path
    kind: Kind
    profile: str
    root: Path
    others: tuple[Found, ...] = ()


def detect(path: Path) -> Kind | None:
    """The kind of home a folder is by what lies in it, ``None`` for no sign of any (contract).

    Raises :class:`UnreadableError` for a folder that cannot be looked into: it may be any.
    """
    kind = _kind_by_signs(path)
    if kind is None:
        check_readable(path)
    return kind


def check_readable(path: Path, *, listed: bool = True) -> None:
    """Raise :class:`UnreadableError` for a folder that is there and cannot be looked into.

    Without ``listed`` it may hide its names, as long as what is asked by name can be seen.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            os.lstat(path / "config.yaml")
        if listed:
            os.scandir(path).close()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as problem:
        raise _unreadable(path, problem) from problem


def _unreadable(path: Path, problem: OSError) -> UnreadableError:
    return UnreadableError(
        f"{path} cannot be read: {(problem.strerror or str(problem)).lower()}",
        "Give yourself the permission, or name another home with --home DIR",
    )


def _kind_by_signs(path: Path) -> Kind | None:
    if _has(path, _HERMES_SIGNS):
        return Kind.HERMES
    if _has(path, ("skill-proposals/",)) or any(_matches(path, each) for each in _VAK_PATTERNS):
        return Kind.VAK
    if _has(path, _HERMES_WEAK_SIGNS):
        return Kind.HERMES
    return Kind.RAG if _has(path, _RAG_SIGNS) else None


def discover(
    home: str | None,
    kind: str | None,
    profile: str | None,
    environ: Mapping[str, str],
    user_home: Path,
    platform: str = sys.platform,
) -> Discovery:
    """The home meant by ``--home``, ``--kind``, ``--profile``, the environment and the platform.

    ``--home`` beats ``HERMES_HOME``, ``VAK_HOME``, ``HERMES_RAG_STORE`` (the first one set
    decides), which beat the platform's defaults; a variable replaces the default of its kind.
    Raises :class:`NoHomeError`, :class:`NotFoundError` for an unknown profile,
    :class:`UnreadableError` for a home that cannot be looked into, and :class:`UsageError` for an
    unknown kind or a profile of a home that has none.
    """
    wanted = _kind(kind)
    if home is not None:
        found = [_named_by_flag(home, wanted, user_home)]
    else:
        found = list(_distinct(_candidates(wanted, environ, user_home, platform)))
    if not found:
        raise NoHomeError("No agent home was found", _HOW)
    first = found[0]
    others = tuple(found[1:])
    if first.kind is Kind.HERMES:
        try:
            choice = choose_profile(first.path, profile, user_home / ".hermes")
        except PermissionError as problem:
            raise _unreadable(first.path / "profiles", problem) from problem
        opened, root, name = choice.home, choice.root, choice.profile
    elif profile is not None:
        raise UsageError(f"A {first.kind} home has no profiles", "Leave --profile out")
    else:
        opened, root, name = first.path, first.path, DEFAULT
    check_readable(opened, listed=False)
    return Discovery(_real(opened), first.kind, name, _real(root), others)


def _kind(word: str | None) -> Kind | None:
    if word is None:
        return None
    try:
        return Kind(word)
    except ValueError:
        known = ", ".join(Kind)
        raise UsageError(f"There is no kind {word!r}", f"Say one of {known}") from None


def _named_by_flag(home: str, wanted: Kind | None, user_home: Path) -> Found:
    if not home.strip():
        raise UsageError("--home names no folder", _HOW)
    tilde = home == "~" or home.startswith("~/")
    path = _absolute(f"{user_home}{home[1:]}" if tilde else home)
    if not _is_folder(path):
        raise NoHomeError(f"There is no folder {path}", _HOW)
    kind = wanted or detect(path)
    if kind is None:
        raise NoHomeError(
            f"{path} holds nothing an agent keeps",
            f"`signoff init {path}` makes it a home, --kind says what it is, "
            "`signoff demo` shows a sample",
        )
    return Found(path, kind, "--home")


def _candidates(
    wanted: Kind | None, environ: Mapping[str, str], user_home: Path, platform: str
) -> Iterator[Found]:
    kinds = [wanted] if wanted else list(Kind)
    named = {kind: environ.get(VARIABLES[kind], "").strip() for kind in kinds}
    first, none = True, True
    for kind in kinds:
        if not named[kind]:
            continue
        path = _absolute(named[kind])
        told = _told(path, wanted, first)
        if told is None and first:
            what = "holds nothing an agent keeps" if _is_folder(path) else "does not exist"
            raise NoHomeError(f"{VARIABLES[kind]} names {path}, which {what}", _HOW)
        first = False
        if told is not None:
            none = False
            yield Found(path, told, VARIABLES[kind])
    for kind in kinds:
        if not named[kind]:
            for path in _defaults(kind, environ, user_home, platform):
                told = _told(path, None, none)
                if told is not None:
                    none = False
                    yield Found(path, told, "default")
                    break


def _told(path: Path, wanted: Kind | None, needed: bool) -> Kind | None:
    """The kind of home at ``path``; one that cannot be looked into is none, unless ``needed``."""
    try:
        return (wanted if _is_folder(path) else None) or detect(path)
    except UnreadableError:
        if needed:
            raise
        return None


def _defaults(
    kind: Kind, environ: Mapping[str, str], user_home: Path, platform: str
) -> tuple[Path, ...]:
    if kind is Kind.HERMES:
        return (user_home / ".hermes",)
    if kind is Kind.RAG:
        return (user_home / "hermes-rag",)
    if platform == "darwin":
        vak = user_home / "Library" / "Application Support" / "vak"
    else:
        vak = Path(environ.get("XDG_DATA_HOME") or user_home / ".local" / "share") / "vak"
    older = environ.get("VAKCODER_HOME")
    return (vak, Path(older) if older else user_home / ".vakcoder")


def _distinct(found: Iterator[Found]) -> Iterator[Found]:
    seen: set[Path] = set()
    for each in found:
        real = _real(each.path)
        if real not in seen:
            seen.add(real)
            # The first keeps the name it was given: profiles are told by it.
            yield Found(real, each.kind, each.via) if len(seen) > 1 else each


def _is_folder(path: Path) -> bool:
    """Whether a folder is there. Raises :class:`UnreadableError` when that cannot be told."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except PermissionError:
        check_readable(path)
    except (OSError, ValueError):
        pass
    return False


def _has(path: Path, signs: tuple[str, ...]) -> bool:
    return any(
        os.path.isdir(path / sign) if sign.endswith("/") else os.path.isfile(path / sign)
        for sign in signs
    )


def _matches(path: Path, pattern: str) -> bool:
    try:
        return next(path.glob(pattern), None) is not None
    except OSError:
        return False


def _absolute(text: str) -> Path:
    # Links stay: a profile is told by the name of the folder above it, as it was written.
    path = Path.cwd() / text
    return _real(path) if ".." in path.parts else path


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
