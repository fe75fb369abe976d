"""Snapshots read without trust, and rollbacks that keep what they replace."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.desk import skills as desk
from core.errors import NotFoundError
from core.homes.hermes.curator.cron import JOBS
from core.homes.hermes.curator.rollback import plan_rollback
from core.homes.hermes.curator.snapshots import BACKUPS, current, list_snapshots, safety_copy
from core.homes.hermes.curator.state import STATE
from core.homes.hermes.skills import usage
from core.model import Change, Node, NodeKind
from tests.core.grounds import tree
from tests.core.hermes.curator.desks import done, home_on, undone
from tests.core.hermes.curator.homes import NOW, codes, row, rows, small, terms, view
from tests.core.hermes.skill_homes import skill

ID = "2026-10-01T00-00-00Z"


def packed(members: Mapping[str, bytes | tarfile.TarInfo]) -> bytes:
    """A tarball of these files; a ready member stands for itself."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as tar:
        for path, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def kept(tarball: bytes, **files: Any) -> dict[str, Any]:
    """A small home with one snapshot."""
    return small(**{f"{BACKUPS}/{ID}/skills.tar.gz": tarball, **files})


def member(path: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(path)
    found.type, found.linkname = kind, target
    return found


@pytest.mark.parametrize(
    "members",
    [
        {"../outside/SKILL.md": b"x"},
        {"/etc/passwd": b"x"},
        {"a/../../b": b"x"},
        {"pipe": member("pipe", tarfile.FIFOTYPE)},
        {"device": member("device", tarfile.CHRTYPE)},
        {"a": b"file", "a/SKILL.md": b"below a file"},
        {"a": member("a", tarfile.SYMTYPE, "/etc"), "a/passwd": b"through a link"},
        {"hard": member("hard", tarfile.LNKTYPE, "nowhere")},
    ],
)
def test_a_tarball_that_reaches_out_is_refused(members: dict[str, Any]) -> None:
    """Spec 4.9: absolute and climbing members; here also what no skill holds."""
    seen = view(kept(packed(members)))
    outcome, _ = plan_rollback(seen, terms(seen), ID)
    assert (outcome.category, outcome.changes) == ("unreadable_target", ())


@pytest.mark.parametrize("case", ["empty", "no gzip", "cut off"])
def test_a_broken_tarball_changes_nothing(case: str) -> None:
    whole = packed({"a/SKILL.md": b"x"})
    data = {"empty": b"", "no gzip": b"no gzip", "cut off": whole[:-20]}[case]
    seen = view(kept(data))
    outcome, _ = plan_rollback(seen, terms(seen), ID)
    assert (outcome.category, outcome.changes) == ("unreadable_target", ())


def test_only_snapshots_that_are_there_can_be_named() -> None:
    seen = view(kept(packed({}), **{f"{BACKUPS}/.rollback-staging-x/a": b"x"}))
    assert [each.id for each in list_snapshots(seen)] == [ID]
    for token in ("../..", "2026-10-02T00-00-00Z", ".rollback-staging-x"):
        with pytest.raises(NotFoundError):
            plan_rollback(seen, terms(seen), token)


def test_a_safety_copy_reads_back_as_what_it_was_made_of() -> None:
    """Also with links, odd names and modes."""
    files = kept(
        packed({}),
        **{
            "skills/ops/probe/run.sh": Node(NodeKind.FILE, b"#!/bin/sh\n", 0o750),
            "skills/ops/probe/link": Node(NodeKind.LINK, b"run.sh"),
            "skills/ops/ünï ☃/SKILL.md": skill("snow"),
            JOBS: b'{"jobs": [{"id": "a"}]}',
        },
    )
    seen = view(files)
    nodes = current(seen)
    chosen, changes = safety_copy(seen, nodes, "before", NOW)
    after = view(
        files | {c.path: c.after for c in changes if c.after and c.after.kind is NodeKind.FILE}
    )
    assert chosen == "2026-11-01T00-00-00Z"
    newest = list_snapshots(after)[0]
    assert (newest.id, newest.reason, newest.skills, newest.jobs) == (chosen, "before", 2, 1)
    outcome, _ = plan_rollback(after, terms(after), chosen)
    assert outcome.category == "noop"


def test_a_rollback_says_what_is_lost_and_keeps_it(tmp_path: Path) -> None:
    """Spec 4.9 and 7.12."""
    then = {
        "ops/probe/SKILL.md": skill("probe", "as it was\n"),
        "ops/gone/SKILL.md": skill("gone"),
        ".usage.json": rows(probe=row(), gone=row()),
    }
    jobs_then = {"jobs": [{"id": "a", "skills": ["gone"]}, {"id": "left", "name": "left"}]}
    jobs_now = {"jobs": [{"id": "a", "skills": [], "prompt": "kept"}, {"id": "b"}], "more": 1}
    opened = home_on(
        tmp_path,
        kept(
            packed(then),
            **{
                f"{BACKUPS}/{ID}/cron-jobs.json": json.dumps(jobs_then).encode(),
                JOBS: json.dumps(jobs_now).encode(),
                STATE: b'{"run_count": 3}',
                "skills/new/SKILL.md": skill("new"),
                usage.PATH: rows(probe=row(pinned=True, use_count=9), new=row()),
            },
        ),
    )
    root = opened.found.home
    before = tree(root)
    planned = desk.rollback(opened, None)
    found = planned.difference
    assert found is not None
    assert (found.added, found.removed, found.changed) == (("ops/gone",), ("new",), ("ops/probe",))
    assert (found.pins, set(found.counts)) == (("probe",), {"probe", "new"})
    assert (found.jobs, found.gone) == (("a",), ("left",))
    assert {"pins_lost", "counts_lost", "state_lost"} <= set(codes(planned.plan.outcome))
    done(opened, planned)
    live = json.loads((root / JOBS).read_bytes())
    assert live["jobs"] == [{"id": "a", "skills": ["gone"], "prompt": "kept"}, {"id": "b"}]
    assert live["more"] == 1
    assert not (root / "skills/new").exists()
    assert not (root / STATE).exists()
    assert (root / "skills/ops/probe/SKILL.md").read_bytes() == skill("probe", "as it was\n")
    assert (root / BACKUPS / "2026-11-01T00-00-00Z/skills.tar.gz").exists()
    assert (root / BACKUPS / ID / "skills.tar.gz").exists()
    undone(opened)
    assert tree(root) == before


def test_rolling_back_to_the_oldest_snapshot_never_removes_one() -> None:
    """Field report D25: keep limit reached, back to the oldest."""
    ids = [f"2026-10-0{number}T00-00-00Z" for number in range(1, 8)]
    files = small(
        **{f"{BACKUPS}/{each}/skills.tar.gz": packed({"a/SKILL.md": b"a"}) for each in ids}
    )
    seen = view(files)
    outcome, _ = plan_rollback(seen, terms(seen), ids[0])
    gone = [c.path for c in outcome.changes if isinstance(c, Change) and c.after is None]
    assert outcome.category == "ok"
    assert not [path for path in gone if path.startswith(BACKUPS)]


def test_a_file_where_the_snapshot_has_a_folder_is_left_for_a_person() -> None:
    seen = view(kept(packed({"x/SKILL.md": b"x"}), **{"skills/x": b"a file"}))
    outcome, _ = plan_rollback(seen, terms(seen), ID)
    assert (outcome.category, outcome.changes) == ("unsafe_target", ())
