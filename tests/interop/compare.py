"""One case, two answers: the agent's on a real folder, ours in memory, and where they differ."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.homes.hermes.config import Config
from core.model import Change, Move, Node, NodeKind, Outcome
from core.view import Tree, View, parent
from tests.interop.categories import category
from tests.interop.peer import Peer, pack, unpack

RECORD_ID = "abcd0123"
SEED = int(os.environ.get("SIGNOFF_SEED", "20261129"))
CASES = int(os.environ.get("SIGNOFF_CASES", "2000"))
#: Seconds a run may take: a hung lock of the agent must fail it.
TIMEOUT = 60 + CASES // 10


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal's payload and the home it is approved on, without config and record."""

    subsystem: str
    payload: Any
    tree: Mapping[str, Node]
    config: Config


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent did: the contract's word, what it said, its home before and after.

    ``seen`` is the driver's whole answer; folders and locks it made first are in ``before``.
    """

    category: str
    message: str
    kept: bool
    before: dict[str, Node]
    after: dict[str, Node]
    seen: Mapping[str, Any]


def dice(subsystem: str, number: int) -> random.Random:
    """The dice of one case: any case of a run can be made again alone."""
    return random.Random(f"{SEED}/{subsystem}/{number}")


def config_file(config: Config) -> bytes:
    """``config`` as the agent's ``config.yaml`` (JSON is YAML)."""
    keys = {
        "_config_version": 33,
        "memory": {
            "write_approval": True,
            "memory_char_limit": config.memory_limit,
            "user_char_limit": config.user_limit,
        },
        "skills": {
            "write_approval": True,
            "guard_agent_created": config.guard_agent_created,
            "external_dirs": list(config.external_dirs),
        },
    }
    return json.dumps(keys).encode()


def ask(peer: Peer, case: Case) -> Answer:
    """Approve ``case`` by the agent's own handler."""
    record = {
        "id": RECORD_ID,
        "subsystem": case.subsystem,
        "action": "add",
        "summary": "",
        "origin": "background_review",
        "created_at": 1790001234.5,
        "payload": case.payload,
    }
    home = {
        "config.yaml": Node(NodeKind.FILE, config_file(case.config), 0o600),
        **case.tree,
        f"pending/{case.subsystem}/{RECORD_ID}.json": Node(
            NodeKind.FILE, json.dumps(record).encode(), 0o644
        ),
    }
    return approve(peer, case.subsystem, RECORD_ID, home)


def approve(peer: Peer, subsystem: str, record_id: str, home: Mapping[str, Node]) -> Answer:
    """Approve a record that lies in ``home``. Its own file is left out of the two trees."""
    seen = peer.call("approve", subsystem=subsystem, record_id=record_id, tree=pack(home))
    before, after = unpack(seen.pop("before")), unpack(seen.pop("after"))
    record = f"pending/{subsystem}/{record_id}.json"
    before.pop(record)
    after.pop(record, None)
    raised = "raised {}: {}".format(*seen["raised"]) if seen["raised"] else ""
    return Answer(
        category(subsystem, seen), raised or seen["message"], seen["kept"], before, after, seen
    )


def landed(before: Mapping[str, Node], outcome: Outcome) -> dict[str, Node]:
    """``before`` with every change of ``outcome`` made, row edits left out."""
    tree = dict(before)
    for change in outcome.changes:
        if isinstance(change, Change):
            _make(tree, change)
        elif isinstance(change, Move):
            for path in [p for p in tree if p == change.path or p.startswith(change.path + "/")]:
                tree[change.to + path[len(change.path) :]] = tree.pop(path)
    return tree


def _make(tree: dict[str, Node], change: Change) -> None:
    path = change.path
    if change.after is None:
        del tree[path]
        return
    at = tree.get(path)
    if at is not None and at.kind is NodeKind.LINK and change.after.kind is NodeKind.FILE:
        followed = View(Tree(tree)).resolve(path)
        assert followed is not None
        path = followed
    above = parent(path)
    while above and above not in tree:
        tree[above] = Node(NodeKind.DIR, mode=0o755)
        above = parent(above)
    tree[path] = change.after


def differing(ours: Mapping[str, Node], peers: Mapping[str, Node]) -> dict[str, tuple[Any, Any]]:
    """Paths that do not hold the same thing. Of a folder only its being there counts."""
    one, two = _bare(ours), _bare(peers)
    return {
        path: (one.get(path), two.get(path))
        for path in sorted(one.keys() | two.keys())
        if one.get(path) != two.get(path)
    }


def _bare(tree: Mapping[str, Node]) -> dict[str, Node]:
    return {
        path: replace(node, mode=0) if node.kind is NodeKind.DIR else node
        for path, node in tree.items()
    }


def check_counts(seen: Counter[str], least: Mapping[str, int]) -> None:
    """Fail when a run of usual size met a word too rarely to mean anything."""
    scarce = {
        word: (seen[word], number)
        for word, number in least.items()
        if seen[word] < number * CASES // 2000
    }
    assert not scarce, f"too few (seen, wanted): {scarce}; all seen: {dict(seen)}"


def story(number: int, case: Case, answer: Answer, outcome: Outcome, why: str) -> str:
    """What a failure prints: enough to make the case again without the generator."""
    lines = [
        f"{why}",
        f"case {number} of SIGNOFF_SEED={SEED}: {case.subsystem}",
        f"payload = {case.payload!r}",
        f"config  = {case.config!r}",
        *(f"tree    {path}: {node!r}" for path, node in case.tree.items()),
        f"agent   {answer.category}: {answer.message}",
        f"ours    {outcome.category}: {outcome.message}",
        *(f"finding {finding.code} at {finding.at}" for finding in outcome.findings),
    ]
    return "\n".join(lines)
