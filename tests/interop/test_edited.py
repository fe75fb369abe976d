"""Edited records in the agent's own hands: it approves them as we do, and loads what is left.

Each case starts from a record of a real home (``tests/data/hermes-approval``) and ends in bytes of
a record file. The agent approves that file by its own handler; then it is asked to rewrite the
store once more, which it refuses for a file it finds drifted.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.desk import editing
from core.desk.decide import Request
from core.desk.opening import Opened
from core.homes.hermes.config import Config
from core.homes.hermes.editing.cleaning import cleaned
from core.homes.hermes.editing.conversion import as_edit_of_existing, as_splice
from core.homes.hermes.editing.drafts import Draft
from core.homes.hermes.editing.parts import drop_operation, edited, moved
from core.homes.hermes.memory.entries import MemoryFile, decode, drift, parse
from core.homes.hermes.memory.replay import replay as replay_memory
from core.homes.hermes.pending import Proposal, read_queue
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.replay import replay as replay_skill
from core.model import Node, NodeKind
from core.view import Reading, Tree, View
from tests.core.desks import approve as decide
from tests.core.desks import open_on
from tests.interop import differences
from tests.interop.compare import Answer, approve
from tests.interop.peer import Peer

pytestmark = pytest.mark.peer

HOME = Path(__file__).parents[1] / "data" / "hermes-approval"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
OLD = Rules.V0_19

Edit = Callable[[View, Proposal], Draft]


def files() -> dict[str, Node]:
    return {
        str(path.relative_to(HOME)): Node(NodeKind.FILE, path.read_bytes(), 0o644)
        for path in sorted(HOME.rglob("*"))
        if path.is_file() and path.parent.parent.name != "pending"
    }


def home(name: str, subsystem: str, payload: Any = None) -> dict[str, Node]:
    """The home with one record: a real one, or one that holds ``payload``."""
    path = HOME / "pending" / subsystem / f"{name}.json"
    data = (
        path.read_bytes()
        if payload is None
        else json.dumps({"id": name, "payload": payload}).encode()
    )
    return {**files(), f"pending/{subsystem}/{name}.json": Node(NodeKind.FILE, data, 0o644)}


def landed(peer: Peer, tree: dict[str, Node], edit: Edit) -> tuple[Answer, dict[str, Any]]:
    """The record in ``tree`` edited, and what the agent then makes of it."""
    (proposal,) = read_queue(Tree(tree)).proposals
    draft = edit(View(Tree(tree)), proposal)
    assert draft.category == "ok", draft.message
    assert draft.data is not None
    tree[proposal.file] = Node(NodeKind.FILE, draft.data, 0o644)
    (after,) = read_queue(Tree(tree)).proposals
    answer = approve(peer, after.subsystem, after.id, tree)
    assert not answer.kept
    view = View(Tree(answer.before))
    config = Config(guard_agent_created=False)
    if after.subsystem == "memory":
        outcome = replay_memory(view, after.payload, config, OLD)
        assert differences.of_memory(after.payload, answer, outcome) == ""
    else:
        outcome = replay_skill(view, after.payload, config, OLD, NOW)
        assert differences.of_skills(after.payload, answer, outcome) == ""
    assert (answer.category, outcome.category) == ("ok", "ok")
    return answer, dict(after.payload)


def stores_load(peer: Peer, after: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """The entries of both stores; the agent rewrites each once more without finding drift."""
    entries = {}
    for target, path in (("memory", "memories/MEMORY.md"), ("user", "memories/USER.md")):
        file = decode(Reading(after[path].data, 0o644))
        assert isinstance(file, MemoryFile)
        text = file.text
        assert drift(text, 10_000) is None
        found = parse(text)
        first = {
            "action": "replace",
            "target": target,
            "content": "A new one.",
            "old_text": found[0],
        }
        record = json.dumps({"id": "again", "payload": first}).encode()
        tree = {**after, "pending/memory/again.json": Node(NodeKind.FILE, record, 0o644)}
        again = approve(peer, "memory", "again", tree)
        assert again.category == "ok", again.message
        entries[target] = found
    return entries


def test_an_edited_text(peer: Peer) -> None:
    text = "Firmware 2.4 adds a CRC-16 trailer (潮位, “quoted”, C:\\temp)."
    answer, _ = landed(
        peer, home("4ba71ab7", "memory"), lambda _, found: edited(found, {"content": text})
    )
    assert stores_load(peer, answer.after)["memory"][-1] == text


def test_a_dropped_operation(peer: Peer) -> None:
    answer, payload = landed(
        peer, home("17f11a8a", "memory"), lambda _, found: drop_operation(found, 1)
    )
    assert [each["action"] for each in payload["operations"]] == ["add", "add"]
    user = stores_load(peer, answer.after)["user"]
    assert user[0].endswith("Dislikes bullet lists longer than five items.")
    assert user[-2:] == tuple(each["content"] for each in payload["operations"])


def splice(view: View, found: Proposal) -> Draft:
    return as_splice(view, found, Config(), OLD)


def test_a_replace_turned_into_a_splice(peer: Peer) -> None:
    tree = home("060fb4db", "memory")
    before = list(parse(tree["memories/USER.md"].data.decode()))
    (place,) = (at for at, entry in enumerate(before) if "prefers dataclasses" in entry)
    answer, _ = landed(peer, tree, splice)
    before[place] = (
        "Writes Python with type hints everywhere; Prefers dataclasses over dicts for records;"
        " keeps functions short; dislikes clever one-line comprehensions."
    )
    assert stores_load(peer, answer.after)["user"] == tuple(before)


def test_a_sentence_is_not_spliced_into_another() -> None:
    """It would read "LX-12 reads low until Gauge LX-07 mount was replaced; … in spring."."""
    tree = home("e7fb3f46", "memory")
    (proposal,) = read_queue(Tree(tree)).proposals
    assert splice(View(Tree(tree)), proposal).category == "invalid"


def test_a_batch_of_replaces_turned_into_splices(peer: Peer) -> None:
    operations = [
        {
            "action": "replace",
            "old_text": "longer than five items",
            "content": "longer than three items",
        },
        {"action": "replace", "old_text": "details on request", "content": "no details"},
    ]
    payload = {"action": "batch", "target": "user", "operations": operations}
    answer, _ = landed(peer, home("two", "memory", payload), splice)
    assert stores_load(peer, answer.after)["user"][0] == (
        "Prefers short answers first, no details. Dislikes bullet lists longer than three items."
    )


@pytest.mark.parametrize(
    ("flagged", "clean"),
    [
        ("Signs as 👩🏽\u200d💻 in chats.", "Signs as 👩🏽💻 in chats."),
        ("به زبان فارسی می\u200cنویسد.", "به زبان فارسی می نویسد."),
        (
            "\ufeffA\u200b fact\u2060 with\u2066 all\u2069 of\u202a it\u202c.",
            "A fact with all of it.",
        ),
    ],
)
def test_a_falsely_flagged_text_cleaned(peer: Peer, flagged: str, clean: str) -> None:
    """D19: the agent refuses the text as it stands, and takes it cleaned."""
    payload = {"action": "add", "target": "user", "content": flagged, "old_text": None}
    tree = home("flagged", "memory", payload)
    refused = approve(peer, "memory", "flagged", tree)
    assert (refused.category, refused.kept) == ("threat_invisible_unicode", True)
    answer, _ = landed(peer, tree, lambda _, found: cleaned(found))
    assert stores_load(peer, answer.after)["user"][-1] == clean


def test_a_create_turned_into_an_edit(peer: Peer) -> None:
    tree = home("0c70d625", "skills")
    refused = approve(peer, "skills", "0c70d625", tree)
    assert (refused.category, refused.kept) == ("skill_exists", True)
    answer, payload = landed(
        peer, tree, lambda view, found: as_edit_of_existing(view, found, Config(), OLD)
    )
    (path,) = (path for path in answer.after if path.endswith("gauge-photo-log/SKILL.md"))
    assert answer.after[path].data.decode() == payload["content"]
    stores_load(peer, answer.after)


def test_a_body_moved_to_its_field(peer: Peer) -> None:
    """D07."""
    answer, payload = landed(peer, home("ae46e15c", "skills"), lambda _, found: moved(found))
    (path,) = (path for path in answer.after if path.endswith("references/wrong-field.md"))
    assert answer.after[path].data.decode() == payload["file_content"]


def test_a_missing_description_filled_in(peer: Peer) -> None:
    answer, payload = landed(
        peer,
        home("979ba5b2", "skills"),
        lambda _, found: edited(found, {"description": 'Use when: a guest asks "why".'}),
    )
    assert answer.after["skills/tide-faq/SKILL.md"].data.decode() == payload["content"]
    head = peer.call(
        "invoke", target="agent.skill_utils:parse_frontmatter", args=[payload["content"]]
    )["value"][0]
    assert head == {"name": "tide-faq", "description": 'Use when: a guest asks "why".'}


# -- as signoff itself writes them -----------------------------------------------------------------

Step = Callable[[Opened, str], Any]
SHORT = "Firmware 2.4 adds a CRC-16 trailer (潮位, “quoted”)."
BODY = "---\nname: {name}\ndescription: Use when asked.\n---\n\n# Edited\n\n1. Begin.\n"
MEMORY_STEPS: list[tuple[str, Step]] = [
    ("4ba71ab7", lambda desk, name: editing.edit(desk, name, {"content": SHORT})),
    ("17f11a8a", lambda desk, name: editing.convert(desk, name, "drop:2")),
    ("060fb4db", lambda desk, name: editing.convert(desk, name, "splice")),
    ("37c6f9aa", lambda desk, name: editing.convert(desk, name, "clean")),
]


def copied(folder: Path, ending: str = "\n", mark: str = "") -> Path:
    """The real home to write in, its memory files with these line ends and this mark."""
    home = folder / "home"
    shutil.copytree(HOME, home)
    for path in home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for path in (home / "memories").glob("*.md"):
        path.write_bytes((mark + path.read_text().replace("\n", ending)).encode())
    return home


def nodes(home: Path) -> dict[str, Node]:
    """What lies in ``home``, but for records and lock files."""
    return {
        str(path.relative_to(home)): Node(NodeKind.FILE, path.read_bytes(), 0o644)
        for path in sorted(home.rglob("*"))
        if path.is_file() and "pending" not in path.parts and path.suffix != ".lock"
    }


def written(home: Path, folder: Path, name: str, step: Step) -> None:
    """The record ``name`` edited and approved by signoff on the disk."""
    desk = open_on(home, folder / "state")
    changed = step(desk, name)
    assert changed.ok, changed.message
    (done,) = decide(desk, Request((name,)))
    assert (done.ok, done.category) == (True, "ok"), done.message


@pytest.mark.parametrize(("ending", "mark"), [("\n", ""), ("\r\n", ""), ("\n", "\ufeff")])
@pytest.mark.parametrize(("name", "step"), MEMORY_STEPS, ids=[name for name, _ in MEMORY_STEPS])
def test_what_signoff_writes_of_an_edited_record_loads_without_drift(
    peer: Peer, tmp_path: Path, name: str, step: Step, ending: str, mark: str
) -> None:
    """Issue "It shows" 4: also in files with CRLF or a mark, which signoff keeps."""
    home = copied(tmp_path, ending, mark)
    before = {path: (home / path).read_bytes() for path in nodes(home)}
    written(home, tmp_path, name, step)
    after = nodes(home)
    changed = [path for path in after if after[path].data != before.get(path)]
    assert len(changed) == 1
    (path,) = changed
    assert path.startswith("memories/")
    data = after[path].data
    assert data.startswith(mark.encode())
    assert (b"\r\n" in data) is (ending == "\r\n")
    assert data.count(b"\n") == data.count(ending.encode())
    # The agent's own approval of the same edited record leaves the same entries.
    loaded = stores_load(peer, after)
    plain = copied(tmp_path / "plain")
    desk = open_on(plain, tmp_path / "plain-state")
    assert step(desk, name).ok
    record = f"pending/memory/{name}.json"
    tree = {**nodes(plain), record: Node(NodeKind.FILE, (plain / record).read_bytes(), 0o644)}
    theirs = approve(peer, "memory", name, tree)
    assert theirs.category == "ok", theirs.message
    assert loaded == stores_load(peer, theirs.after)


@pytest.mark.parametrize(
    ("name", "step", "path"),
    [
        (
            "0c70d625",
            lambda desk, name: editing.convert(desk, name, "existing"),
            "skills/gauge-photo-log/SKILL.md",
        ),
        (
            "979ba5b2",
            lambda desk, name: editing.edit(desk, name, {"description": "Use when asked."}),
            "skills/tide-faq/SKILL.md",
        ),
        (
            "979ba5b2",
            lambda desk, name: editing.edit(desk, name, {"content": BODY.format(name="tide-faq")}),
            "skills/tide-faq/SKILL.md",
        ),
    ],
    ids=["existing", "description", "body"],
)
def test_a_skill_signoff_writes_of_an_edited_record_is_the_agents_to_read_and_patch(
    peer: Peer, tmp_path: Path, name: str, step: Step, path: str
) -> None:
    """The agent reads its head, finds it by name and patches it where it stands."""
    home = copied(tmp_path)
    written(home, tmp_path, name, step)
    text = (home / path).read_text()
    head = peer.call("invoke", target="agent.skill_utils:parse_frontmatter", args=[text])["value"]
    skill = Path(path).parent.name
    assert head[0]["name"] == skill
    assert head[0]["description"]
    last = text.rstrip().rpartition("\n")[2]
    patch = {"action": "patch", "name": skill, "old_string": last, "new_string": "Patched."}
    record = json.dumps({"id": "again", "payload": patch}).encode()
    tree = {**nodes(home), "pending/skills/again.json": Node(NodeKind.FILE, record, 0o644)}
    answer = approve(peer, "skills", "again", tree)
    assert (answer.category, answer.seen["strategy"]) == ("ok", "exact"), answer.message
    assert answer.after[path].data.decode() == "Patched.".join(text.rsplit(last, 1))
