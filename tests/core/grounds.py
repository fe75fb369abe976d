"""A small home with one plan of every kind, for the tests of commit, recovery and undo."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.ground import Ground
from core.homes.hermes.skills import usage
from core.journal import Journal
from core.model import AnyChange, Change, Move, Node, NodeKind, Outcome, RowAction, RowEdit
from core.plan import Plan, bind
from core.view import View

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
RECORD = "pending/memory/0a0a0a0a.json"
MEMORY = "memories/MEMORY.md"
SKILL = "skills/ops/deploy"
CACHE = ".skills_prompt_snapshot.json"

Tree = dict[str, tuple[str, int, bytes]]


def make_home(root: Path) -> Path:
    """A home with one memory, one skill with a support file, usage rows, a cache, a record."""
    files = {
        MEMORY: b"alpha\n\xc2\xa7\nbeta",
        RECORD: b'{"payload": {"action": "add", "content": "gamma"}}',
        f"{SKILL}/SKILL.md": b"---\nname: deploy\ndescription: d\n---\n\nbody\n",
        f"{SKILL}/references/a.md": b"a\n",
        usage.PATH: json.dumps({"deploy": {"patch_count": 1, "pinned": False}}).encode(),
        CACHE: b"{}",
    }
    for path, data in files.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(data)
    (root / MEMORY).chmod(0o640)
    return root


def ground_of(tmp_path: Path) -> Ground:
    """The home of :func:`make_home` with a journal beside it."""
    root = make_home(tmp_path / "home")
    return Ground(root.resolve(), "default", tmp_path / "state", usage)


def tree(root: Path) -> Tree:
    """``path -> kind, mode, bytes`` of everything but lock files, which nobody ever removes."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        if path.name.endswith(".lock"):
            continue
        status = path.lstat()
        if path.is_symlink():
            found[str(path.relative_to(root))] = ("link", 0, str(path.readlink()).encode())
        elif path.is_dir():
            found[str(path.relative_to(root))] = ("dir", status.st_mode & 0o7777, b"")
        else:
            data = path.read_bytes()
            found[str(path.relative_to(root))] = ("file", status.st_mode & 0o7777, data)
    return found


def file(data: bytes, mode: int = 0o600) -> Node:
    """A file node."""
    return Node(NodeKind.FILE, data, mode)


def folder(mode: int = 0o755) -> Node:
    """A folder node."""
    return Node(NodeKind.DIR, b"", mode)


def link(target: str) -> Node:
    """A link node."""
    return Node(NodeKind.LINK, os.fsencode(target))


@dataclass(frozen=True)
class Place:
    """A folder anybody may enter, for work without the rights of the superuser."""

    root: Path

    def unprivileged(self, work: Callable[[], list[str]]) -> list[str]:
        """``work`` in a process of a plain user; what it gives back."""
        result = self.root / "unprivileged.json"
        result.touch()
        result.chmod(0o666)
        child = os.fork()
        if child == 0:
            try:
                if os.geteuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                result.write_text(json.dumps(work()), encoding="utf-8")
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        found: list[str] = json.loads(result.read_text(encoding="utf-8"))
        return found


@contextmanager
def apart() -> Iterator[Place]:
    """A fresh :class:`Place` outside the test's own folder, which only its owner may enter."""
    root = Path(tempfile.mkdtemp())
    try:
        root.chmod(0o755)
        yield Place(root)
    finally:
        for path in root.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(root)


def add_to_memory(view: View) -> Plan:
    """What approving a memory add commits."""
    reading = view.read(MEMORY)
    assert reading.data is not None
    after = file(reading.data + b"\n\xc2\xa7\ngamma", reading.mode)
    change = Change(MEMORY, file(reading.data, reading.mode), after)
    return _bind(view, Outcome("ok", "added", (change,), locks=(f"{MEMORY}.lock",)))


def patch_skill(view: View) -> Plan:
    """A support file rewritten, a counter raised, the cache dropped."""
    path = f"{SKILL}/references/a.md"
    reading = view.read(path)
    assert reading.data is not None
    rows = usage.load(view)
    changes: tuple[AnyChange, ...] = (
        Change(path, file(reading.data, reading.mode), file(b"a better a\n", reading.mode)),
        *usage.bump(rows, "deploy", NOW),
        Change(CACHE, file(b"{}", 0o644), None, cache=True),
    )
    return _bind(view, Outcome("ok", "patched", changes, locks=(usage.LOCK,)))


def create_skill(view: View) -> Plan:
    """Two folders and a file made, a row set."""
    view.kind("skills/new")
    changes: tuple[AnyChange, ...] = (
        Change("skills/new", None, folder()),
        Change("skills/new/fresh", None, folder()),
        Change("skills/new/fresh/SKILL.md", None, file(b"fresh")),
        *usage.put(usage.load(view), "fresh", {"created_by": "agent"}, NOW),
    )
    return _bind(view, Outcome("ok", "created", changes, locks=(usage.LOCK,)))


def archive_skill(view: View) -> Plan:
    """A folder moved away, its emptied category removed, its row marked."""
    category = view.node("skills/ops")
    changes: tuple[AnyChange, ...] = (
        Change("skills/.archive", None, folder()),
        Move(SKILL, "skills/.archive/deploy"),
        Change("skills/ops", category, None),
        *usage.put(usage.load(view), "deploy", {"state": "archived"}, NOW),
    )
    return _bind(view, Outcome("ok", "archived", changes, locks=(usage.LOCK,)))


def delete_skill(view: View) -> Plan:
    """Every file and folder of a skill removed, children first, and its row."""
    nodes = [*view.tree("skills/ops")]
    changes: tuple[AnyChange, ...] = (
        *(Change(path, node, None) for path, node in reversed(nodes)),
        RowEdit(usage.PATH, "deploy", RowAction.DROP, old=usage.load(view).row("deploy")),
    )
    return _bind(view, Outcome("ok", "deleted", changes, locks=(usage.LOCK,)))


def reject_record(view: View) -> Plan:
    """The record removed and nothing else."""
    return bind(view, "reject", "0a0a0a0a", Outcome("rejected", "refused"), record=RECORD)


PLANS: dict[str, Callable[[View], Plan]] = {
    "add": add_to_memory,
    "patch": patch_skill,
    "create": create_skill,
    "archive": archive_skill,
    "delete": delete_skill,
    "reject": reject_record,
}


def journal_of(ground: Ground) -> Journal:
    """The ground's journal."""
    return Journal(ground.state)


def digest(found: Tree) -> str:
    """A tree in one word, for messages."""
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:12]


def _bind(view: View, outcome: Outcome) -> Plan:
    return bind(view, "approve", "0a0a0a0a", outcome, record=RECORD)


HOLDER = """
import fcntl, os, sys
os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
fcntl.flock(handle, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[Callable[[], None]]:
    """Another process holds the lock ``path``, as the agent does: for the block, or until asked."""
    with subprocess.Popen(
        [sys.executable, "-ISc", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        yield holder.stdin.close


def rows_of(ground: Ground) -> dict[str, dict[str, Any]]:
    """The usage rows as they stand."""
    found: dict[str, dict[str, Any]] = json.loads((ground.root / usage.PATH).read_bytes())
    return found


def agent_writes_rows(
    ground: Ground, change: Callable[[dict[str, dict[str, Any]]], object]
) -> None:
    """The agent changes its rows: read, changed and replaced under their lock."""
    path = ground.root / usage.PATH
    with (ground.root / usage.LOCK).open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = json.loads(path.read_bytes())
        change(rows)
        fresh = path.with_name(".usage_agent.tmp")
        fresh.write_text(json.dumps(rows, indent=2, sort_keys=True), encoding="utf-8")
        fresh.replace(path)
