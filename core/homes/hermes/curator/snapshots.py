"""Snapshots of the skills: a tarball each, with the scheduled jobs beside it.

hermes-agent 0.19.0, ``agent/curator_backup.py``: everything at the top of ``skills/`` but the
snapshots themselves and the hub's folder. Newer agents leave ``.git`` out, too.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.errors import NotFoundError, UnreadableError
from core.homes.hermes.curator.cron import JOBS, jobs_in, load_jobs
from core.homes.hermes.curator.moments import counter, moment
from core.homes.hermes.skills.replay import LOCKS
from core.homes.hermes.skills.rules import SKILL_FILE
from core.homes.hermes.skills.tree import SKILLS
from core.homes.hermes.skills.usage import LOCK
from core.model import Change, Node, NodeKind
from core.view import View, join, name

BACKUPS = "skills/.curator_backups"
TARBALL, MANIFEST, CRON = "skills.tar.gz", "manifest.json", "cron-jobs.json"
#: Bytes, unpacked, and members past which a snapshot is not read.
MAX_UNPACKED, MAX_MEMBERS = 256 * 1024 * 1024, 100_000
_ID = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z(-\d{2})?", re.ASCII)
#: Left alone by a rollback: what no snapshot holds, and the locks that others hold right now.
_APART = frozenset({".curator_backups", ".hub", ".git", name(LOCK), name(LOCKS)})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot as its manifest tells. ``skills`` and ``jobs`` count; -1: it does not say."""

    id: str
    reason: str
    created_at: datetime | None
    size: int
    skills: int
    jobs: int


def list_snapshots(view: View) -> tuple[Snapshot, ...]:
    """Every snapshot that holds a tarball, the newest first; not recorded."""
    quiet = view.quiet()
    return tuple(
        _snapshot(quiet, found)
        for found in sorted(quiet.names(BACKUPS), reverse=True)
        if _ID.fullmatch(found) and quiet.kind(join(BACKUPS, found, TARBALL)) is NodeKind.FILE
    )


def find_snapshot(view: View, token: str | None) -> str:
    """The id ``token`` means, the newest for ``None``. Raises :class:`NotFoundError`."""
    known = [snapshot.id for snapshot in list_snapshots(view)]
    if token is None and known:
        return known[0]
    if token in known:
        return str(token)
    what = f"There is no snapshot {token}" if token else "There is no snapshot"
    raise NotFoundError(what, "List them with `signoff rollback`")


def read_snapshot(view: View, snapshot: str) -> dict[str, Node]:
    """What a snapshot holds: paths below ``skills/`` to nodes, folders before what they hold.

    Its tarball is recorded as read. Raises :class:`UnreadableError` for one that cannot be
    unpacked safely: broken, too large, a path that leads out, a member that is no file.
    """
    path = join(BACKUPS, snapshot, TARBALL)
    data = view.read(path).data
    if data is None:
        raise _unusable(path, "it cannot be read")
    nodes: dict[str, Node] = {}
    unpacked = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            for count, member in enumerate(tar):
                unpacked += max(member.size, 0)
                if count >= MAX_MEMBERS or unpacked > MAX_UNPACKED:
                    raise _unusable(path, "it unpacks to more than signoff reads")
                inside = member.name.removeprefix("./").rstrip("/")
                parts = inside.split("/")
                if inside in ("", "."):
                    continue
                if inside.startswith("/") or ".." in parts or "" in parts:
                    raise _unusable(path, f"{member.name} leads out of it")
                if parts[0] not in _APART:
                    nodes[inside] = _node(tar, member, path)
    except (tarfile.TarError, OSError, EOFError, ValueError, KeyError) as problem:
        raise _unusable(path, str(problem) or type(problem).__name__) from None
    return _with_folders(nodes, path)


def current(view: View) -> dict[str, Node]:
    """The skills as they stand, as a snapshot would hold them; recorded node by node."""
    found: dict[str, Node] = {}
    for entry in json.loads(view.ask("curator-entries", SKILLS, _entries)):
        for path, node in view.tree(join(SKILLS, entry)):
            found[path[len(SKILLS) + 1 :]] = node
    return found


def safety_copy(
    view: View, nodes: Mapping[str, Node], reason: str, now: datetime
) -> tuple[str, list[Change]]:
    """A new snapshot of ``nodes``: its id, and the changes that make it. None is ever removed."""
    base = f"{now:%Y-%m-%dT%H-%M-%S}Z"
    taken = set(view.quiet().names(BACKUPS))
    chosen = next(
        each for each in (base, *(f"{base}-{n:02d}" for n in range(1, 1000))) if each not in taken
    )
    folder = join(BACKUPS, chosen)
    tarball = _packed(nodes, int(now.timestamp()))
    jobs = view.read(JOBS).data
    cron: dict[str, object] = {"backed_up": jobs is not None, "jobs_count": _count(jobs)}
    if jobs is None:
        cron["reason"] = f"{JOBS} is not there"
    manifest = {
        "id": chosen,
        "reason": reason,
        "created_at": now.isoformat(),
        "archive": TARBALL,
        "archive_bytes": len(tarball),
        "skill_files": sum(name(path) == SKILL_FILE for path in nodes),
        "cron_jobs": cron,
    }
    files = {TARBALL: tarball, MANIFEST: json.dumps(manifest, indent=2, sort_keys=True).encode()}
    if jobs is not None:
        files[CRON] = jobs
    made = [] if view.kind(BACKUPS) else [BACKUPS]
    changes = [Change(path, None, Node(NodeKind.DIR, mode=0o755)) for path in (*made, folder)]
    changes += [
        Change(join(folder, file), None, Node(NodeKind.FILE, data, 0o600))
        for file, data in files.items()
    ]
    return chosen, changes


def _entries(view: View, folder: str) -> str:
    """What a snapshot holds of a folder; a lock file that someone makes meanwhile is no change."""
    return json.dumps([entry for entry in sorted(view.names(folder)) if entry not in _APART])


def _snapshot(view: View, found: str) -> Snapshot:
    folder = join(BACKUPS, found)
    try:
        manifest = json.loads((view.read(join(folder, MANIFEST)).data or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        manifest = None
    said = manifest if isinstance(manifest, dict) else {}
    cron = said.get("cron_jobs")
    jobs = cron.get("jobs_count") if isinstance(cron, dict) and cron.get("backed_up") else None
    return Snapshot(
        found,
        str(said.get("reason") or ""),
        moment(said.get("created_at")),
        _number(said.get("archive_bytes")),
        _number(said.get("skill_files")),
        _number(jobs),
    )


def _number(value: object) -> int:
    found = None if value is None else counter(value)
    return -1 if found is None else found


def _node(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> Node:
    mode = member.mode & 0o777
    if member.isdir():
        return Node(NodeKind.DIR, mode=mode)
    if member.issym():
        return Node(NodeKind.LINK, os.fsencode(member.linkname))
    if member.isfile() or member.islnk():
        stream = tar.extractfile(member)
        if stream is not None:
            return Node(NodeKind.FILE, stream.read(), mode)
    raise _unusable(path, f"{member.name} is no file, folder or link")


def _with_folders(nodes: Mapping[str, Node], path: str) -> dict[str, Node]:
    """``nodes`` with the folders a tarball left out, sorted; nothing lies below a file or link."""
    full = dict(nodes)
    for inside in nodes:
        parts = inside.split("/")
        for end in range(1, len(parts)):
            above = "/".join(parts[:end])
            node = full.setdefault(above, Node(NodeKind.DIR, mode=0o755))
            if node.kind is not NodeKind.DIR:
                raise _unusable(path, f"{inside} lies below {above}, which is no folder")
    return dict(sorted(full.items()))


def _packed(nodes: Mapping[str, Node], at: int) -> bytes:
    raw = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=6, mtime=at) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path, node in nodes.items():
            member = tarfile.TarInfo(path)
            member.mtime, member.mode = at, node.mode
            if node.kind is NodeKind.DIR:
                member.type = tarfile.DIRTYPE
            elif node.kind is NodeKind.LINK:
                member.type, member.linkname = tarfile.SYMTYPE, os.fsdecode(node.data)
            member.size = len(node.data) if node.kind is NodeKind.FILE else 0
            tar.addfile(member, io.BytesIO(node.data) if member.size else None)
    return raw.getvalue()


def _count(jobs: bytes | None) -> int:
    try:
        found = jobs_in(load_jobs(jobs)) if jobs is not None else None
    except (ValueError, RecursionError):
        return 0
    return len(found or ())


def _unusable(path: str, why: str) -> UnreadableError:
    return UnreadableError(f"{path} cannot be used: {why}", "Nothing was changed")
