"""What the curator left in the sample home: snapshots, reports of its runs, a copy with a stamp.

All of it is made at copy time: names and contents hold dates, which the sample keeps relative.
The shapes are those of hermes-agent 0.19.0.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

#: Minutes before now: the last two runs, each after a snapshot, and one that moved a skill.
RUNS = (7326.4, 17406.4, 57979.7)
_SNAPSHOTS = RUNS[:2]
_COUNTERS = ("use_count", "view_count", "patch_count")
_DATES = ("last_used_at", "last_viewed_at", "last_patched_at")
_COPY = "skills/.archive/queue-replay/"


def curated(files: Mapping[str, bytes], now: datetime) -> Iterator[tuple[str, bytes]]:
    """The files to add to ``files``, whose times are set already; ``now`` is UTC."""
    rows = json.loads(files["skills/.usage.json"])
    for minutes in _SNAPSHOTS:
        yield from _snapshot(files, rows, now - timedelta(minutes=minutes))
    stamp = f"{now - timedelta(minutes=RUNS[1]):%Y%m%d%H%M%S}"
    old = files[f"{_COPY}SKILL.md"].replace(b"version: 0.4.0", b"version: 0.3.1")
    yield f"{_COPY[:-1]}-{stamp}/SKILL.md", old
    for minutes, found in zip(RUNS, _REPORTS, strict=True):
        yield from _run(now - timedelta(minutes=minutes), found)


def _snapshot(
    files: Mapping[str, bytes], rows: Mapping[str, Any], at: datetime
) -> Iterator[tuple[str, bytes]]:
    """The skills as they stood at ``at``: the same files, counters and dates of then."""
    then = {key: _as_of(row, at) for key, row in rows.items()}
    inside = {
        path.removeprefix("skills/"): data
        for path, data in files.items()
        if path.startswith("skills/") and not path.startswith("skills/.curator")
    }
    inside[".usage.json"] = json.dumps(then, indent=2, sort_keys=True).encode()
    packed = _tarball(inside, int(at.timestamp()))
    found = f"{at:%Y-%m-%dT%H-%M-%S}Z"
    manifest = {
        "id": found,
        "reason": "pre-curator-run",
        "created_at": at.isoformat(),
        "archive": "skills.tar.gz",
        "archive_bytes": len(packed),
        "skill_files": sum(path.endswith("SKILL.md") for path in inside),
        "cron_jobs": {"backed_up": False, "jobs_count": 0, "reason": "cron was switched off"},
    }
    folder = f"skills/.curator_backups/{found}"
    yield f"{folder}/skills.tar.gz", packed
    yield f"{folder}/manifest.json", json.dumps(manifest, indent=2, sort_keys=True).encode()


def _as_of(row: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """A row as it may have been: what was counted since is taken off."""
    made, used = row["created_at"], row["last_used_at"]
    if not made or not used or datetime.fromisoformat(used) <= at:
        return dict(row)
    begun = datetime.fromisoformat(made)
    share = max(0.0, (at - begun) / (datetime.fromisoformat(used) - begun)) ** 1.5
    counts = {key: int(row[key] * share) for key in _COUNTERS}
    dates = {key: min(row[key], at.isoformat()) for key in _DATES if row[key]}
    return {**row, **counts, **dates, "state": "active"}


def _tarball(files: Mapping[str, bytes], at: int) -> bytes:
    raw = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=6, mtime=at) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path, data in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size, member.mtime, member.mode = len(data), at, 0o600
            tar.addfile(member, io.BytesIO(data))
    return raw.getvalue()


#: What each run found, in the order of ``RUNS``.
_REPORTS: tuple[Mapping[str, Any], ...] = (
    {
        "auto_transitions": {"checked": 8, "marked_stale": 1, "archived": 0, "reactivated": 0},
        "state_transitions": [{"name": "changelog", "from": "active", "to": "stale"}],
    },
    {
        "auto_transitions": {"checked": 9, "marked_stale": 1, "archived": 0, "reactivated": 0},
        "consolidated": [
            {
                "name": "cron-cleanup",
                "into": "log-search",
                "source": "model",
                "reason": "its one command is a case of log-search",
            }
        ],
        "llm_summary": "One skill was a special case of another and went into it.",
    },
    {
        "auto_transitions": {"checked": 9, "marked_stale": 0, "archived": 1, "reactivated": 0},
        "archived": ["queue-replay"],
    },
)


def _run(at: datetime, found: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    folder = f"logs/curator/{at:%Y%m%d-%H%M%S}"
    run: dict[str, Any] = {
        "started_at": at.isoformat(),
        "duration_seconds": 0.38,
        "model": None,
        "provider": None,
        "archived": [],
        "consolidated": [],
        "pruned": [],
        "state_transitions": [],
        "llm_summary": "",
        "llm_error": None,
        **found,
    }
    counts = found["auto_transitions"]
    report = (
        f"# Curator run {at:%Y-%m-%d %H:%M}\n\n{counts['checked']} skills looked at,"
        f" {counts['marked_stale']} marked stale, {counts['archived']} archived.\n"
    )
    yield f"{folder}/run.json", json.dumps(run, indent=2).encode()
    yield f"{folder}/REPORT.md", report.encode()
