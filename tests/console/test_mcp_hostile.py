"""Hostile calls of every tool, on disk: what they leave behind, byte for byte.

Issue 8, "It shows" 1: "No tool call, however crafted, changes anything outside pending, the
waiting notes and the knowledge store"; and two clients at once are safe.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
import pytest

from console.mcp.server import Desk
from console.mcp.tools import ORIGINAL, SIGNOFF, Offer, Tool
from console.sample import write_sample
from core.desk import knowledge
from core.desk.opening import Opened
from core.homes.base import Discovery, Kind
from core.homes.hermes.staging import Caller
from core.homes.rag.nodes import NOT_LIVE
from core.settings import Settings
from tests.console.mcp_clients import Place, client
from tests.console.plain import DATA, NOW

KEPT = "The queue drops jobs older than six hours."
ATLAS, SMALL = "/home/dev/atlas", "07ec165512aff658"
#: What is signoff's own, and what is the agent's own, beside the home.
OWN = {"state", "notes"}
RECORD = re.compile(r"pending/(memory|skills)/[0-9a-f]{8}\.json")
VAK_RECORD = re.compile(r"skill-proposals/[0-9a-f]{16}/[0-9a-f]{32}\.md")


@dataclass(frozen=True)
class World:
    """A person's folder: a home, code and wikis that may be indexed, and what is private."""

    root: Path
    opened: Opened

    @property
    def home(self) -> Path:
        return self.opened.found.home

    def picture(self) -> dict[str, object]:
        """Everything but signoff's own: mode and bytes; of a database its size and time."""
        return {
            str(path.relative_to(self.root)): _look(path)
            for path in sorted(self.root.rglob("*"))
            if path.relative_to(self.root).parts[0] not in OWN
        }


def _look(path: Path) -> object:
    status = path.lstat()
    if path.is_symlink():
        return ("link", os.readlink(path))
    if path.is_dir():
        return ("folder", status.st_mode)
    if path.name.startswith("state.db"):
        return (status.st_mode, status.st_size, status.st_mtime_ns)
    return (status.st_mode, path.read_bytes())


def world(root: Path, kind: Kind) -> World:
    if kind is Kind.VAK:
        home = root / "home"
        # Of the sessions the smaller workspace: each search reads them all.
        for folder in ("memory", "skill-proposals", "skills", f"sessions/{SMALL}"):
            shutil.copytree(DATA / "vak" / folder, home / folder)
        for path in home.rglob("*"):
            path.chmod(path.stat().st_mode | 0o200)
    else:
        home = write_sample(root / "home", NOW)
    (root / "code").mkdir()
    (root / "code" / "a.py").write_text("LIMIT = 6\n")
    (root / "code" / "page.md").write_text("# Queue\n\nJobs wait.\n")
    (root / "code" / "out").symlink_to(home)
    (root / "private").mkdir()
    (root / "private" / "diary.md").write_text("Nobody reads this.\n")
    (root / "wikis" / "jobs" / "modules").mkdir(parents=True)
    (root / "wikis" / "jobs" / "modules" / "queue.md").write_text("# queue\n")
    (root / "projects.yaml").write_text(f"- path: {root / 'code'}\n  name: jobs\n")
    environ = {
        "PWD": ATLAS,
        "HOME": str(root),
        "HERMES_RAG_STORE": str(root / "notes"),
        "HERMES_RAG_WIKI_ROOT": str(root / "wikis"),
        "HERMES_RAG_PROJECTS_FILE": str(root / "projects.yaml"),
    }
    found = Discovery(home.resolve(), kind, "default", home.resolve())
    return World(root, Opened(found, root / "state", Settings(), environ, lambda: NOW))


def shelf(opened: Opened) -> knowledge.Shelf:
    return knowledge.open_store(
        store=None,
        environ=opened.environ,
        user_home=Path(opened.environ["HOME"]),
        state=opened.state,
        settings=opened.settings,
        clock=opened.clock,
    )


def hostile(there: World) -> Iterator[Any]:
    """Values that mean harm in a path, a name, a query, a text or a number."""
    yield from ("../../config.yaml", "..", "/", "~", "$HOME/x", "/etc/passwd", "%2e%2e%2fx")
    yield from (
        str(there.home),
        str(there.home / "memories/MEMORY.md"),
        str(there.root / "private"),
    )
    yield from (str(there.root / "code"), str(there.root / "code/out"), "file:///etc/passwd")
    yield from ("", " ", "\n", "a\nb", "\x00", "\x1b[2J", "\ud800", "x" * 300, "\n§\n", "--force")
    yield from ("'; DROP TABLE nodes_1; --", '" OR 1=1', "*", "%", "global", "a" * 9_000, "ſ", "∞")
    yield from (-1, 0, 10**30, 1e308, True, None, [], ["a"], {}, {"$ref": "#"})


def calls(there: World, tools: tuple[Tool, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each field of each tool with each value, the other fields as they are taken."""
    for tool in tools:
        yield tool.name, {}
        for place, taken in enumerate(TAKEN.get(tool.name, [{}])):
            filled = {
                key: str(there.root / value[1:]) if str(value).startswith("@") else value
                for key, value in taken.items()
            }
            yield tool.name, filled
            for field in (*tool.model.model_fields, "path"):
                # All values with the first call of a tool, a part of them with its others.
                for value in islice(hostile(there), place, None, 1 + 3 * place):
                    yield tool.name, filled | {field: value}


#: Calls that are taken; ``@`` stands for the person's folder.
TAKEN: dict[str, list[dict[str, Any]]] = {
    "session_search": [{"query": "invoice"}],
    "memory": [
        {"action": "add", "content": "A note."},
        {"operations": [{"action": "add", "content": "A note."}]},
    ],
    "remember": [{"note": "A note."}],
    "propose_skill": [
        {"name": "read-gauge", "description": "When.", "instructions": "Read it."},
        {
            "action": "write_file",
            "name": "commit-messages",
            "file_path": "references/x.md",
            "file_content": "x",
        },
        {"action": "delete", "name": "commit-messages"},
    ],
    "recall": [{"query": "queue", "project": "jobs"}],
    "learn": [{"text": "Another.", "project": "jobs"}],
    "retire": [{"node_id": "ffff", "project": "jobs"}],
    "stats": [{"project": "jobs"}],
    "ingest_code": [{"root": "@code"}],
    "ingest_wiki": [{"wiki_dir": "@code"}],
}
#: A vak home's own tool has no action.
VAK_TAKEN = {"name": "read-gauge", "description": "When.", "instructions": "Read it."}


@pytest.mark.parametrize(
    ("kind", "server"), [(Kind.HERMES, SIGNOFF), (Kind.HERMES, ORIGINAL), (Kind.VAK, SIGNOFF)]
)
def test_every_field_of_every_tool_with_every_value(
    tmp_path: Path, kind: Kind, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = world(tmp_path.resolve(), kind)
    monkeypatch.setenv("HOME", str(there.root))
    monkeypatch.chdir(there.root / "private")
    kept, _ = knowledge.learn(shelf(there.opened), KEPT, "jobs")
    desk = Desk(there.opened, Offer(server))
    before, staged, answered = there.picture(), 0, 0
    for name, arguments in calls(there, tuple(desk.tools().values())):
        if kind is Kind.VAK and name == "propose_skill" and "action" in arguments:
            arguments = VAK_TAKEN | arguments
        answer = desk.answer(name, arguments, Caller("evil\n\x1b", "1"))
        what = (name, arguments)
        assert "unforeseen" not in answer.text, what
        answer.text.encode("utf-8")
        answered += not answer.failed
        if answer.record is not None:
            staged += _only_new(there, before, what)
    assert there.picture() == before
    # What was learnt is there, whatever its status; and code is not taken in from elsewhere.
    store = shelf(there.opened).store
    node = store.get("rag_jobs__memory", kept.id)
    assert node is not None
    assert (node.document, node.status in NOT_LIVE) == (KEPT, False)
    texts = [each.document for name in store.collections() for each in store.nodes(name)]
    assert not any("Nobody reads this" in text for text in texts)
    lines = (there.root / "state/mcp.jsonl").read_text().splitlines()
    assert all(json.loads(line)["tool"] for line in lines)
    assert len(lines) > 300
    assert answered > 30
    assert (staged > 20) == (server == SIGNOFF)


def _only_new(there: World, before: dict[str, object], what: object) -> int:
    """Look at what a call staged, and take it away again; how much it was."""
    after = there.picture()
    assert {name: after.get(name) for name in before} == before, what
    new = [name for name in after if name not in before]
    pattern = VAK_RECORD if there.opened.found.kind is Kind.VAK else RECORD
    for name in new:
        path = there.root / name
        if not path.is_dir():
            assert pattern.fullmatch(str(path.relative_to(there.home))), what
            assert path.stat().st_mode & 0o777 == 0o600, what
    assert len([name for name in new if (there.root / name).is_file()]) <= 1, what
    for name in sorted(new, reverse=True):
        path = there.root / name
        path.rmdir() if path.is_dir() else path.unlink()
    for path in Path(there.opened.waiting_folder()).rglob("*.json"):
        path.unlink()
    return 1


@pytest.fixture
def there(tmp_path: Path) -> World:
    return world(tmp_path.resolve(), Kind.HERMES)


async def test_two_clients_at_once_with_everything_they_have(there: World) -> None:
    """Both propose, learn, retire, index and search together: each is answered, nothing mixes."""
    place = Place(there.home, there.root / "state", there.root / "settings.toml")
    waiting = {path.name for path in there.home.glob("pending/*/*")}
    before = there.picture()
    answers: dict[int, list[Any]] = {1: [], 2: []}

    async def work(who: int) -> None:
        async with client(place) as agent, client(place, "--server", ORIGINAL) as notes:

            async def ask(on: Any, name: str, **arguments: Any) -> None:
                answers[who].append((name, await on.call_tool(name, arguments)))

            async with anyio.create_task_group() as group:
                for number in range(6):
                    text = f"note {number} of {who}"
                    group.start_soon(partial(ask, agent, "remember", note=text))
                    group.start_soon(partial(ask, agent, "learn", text=text, project="jobs"))
                    group.start_soon(partial(ask, notes, "learn", text="the same", project="jobs"))
                    group.start_soon(partial(ask, agent, "session_search", query="invoice"))
                    group.start_soon(
                        partial(ask, notes, "ingest_code", root=str(there.root / "code"))
                    )
                    group.start_soon(partial(ask, notes, "recall", query="note", project="jobs"))

    async with anyio.create_task_group() as group:
        group.start_soon(work, 1)
        group.start_soon(work, 2)

    both = answers[1] + answers[2]
    assert len(both) == 72
    refused = [(name, answer) for name, answer in both if answer.is_error]
    # Of two that index the same folder the later wins; the earlier says so.
    assert {name for name, _ in refused} <= {"ingest_code"}, refused
    assert all("took over" in answer.content[0].text for _, answer in refused)
    new = {path.name for path in there.home.glob("pending/*/*")} - waiting
    assert len(new) == 12
    shut = there.picture()
    assert {name: shut[name] for name in before} == before
    store = shelf(there.opened).store
    texts = sorted(node.document for node in store.nodes("rag_jobs__memory"))
    assert texts == sorted(
        [f"note {n} of {who}" for n in range(6) for who in (1, 2)] + ["the same"]
    )
    assert store.count("rag_code__code") == 2
    assert len(place.calls()) == 72
