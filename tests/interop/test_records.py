"""Every record of a real home, each on a fresh copy: the agent's answer is ours.

The home (``tests/data/hermes-approval``) holds 51 readable records, a truncated one and a leftover
of a writer that died. The agent runs its own approval handler; ours is the pure replay.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.config import Config
from core.homes.hermes.memory import replay as memory_replay
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import replay as skill_replay
from core.model import Node, NodeKind, Outcome
from core.view import Disk, Tree, View
from tests.interop import differences
from tests.interop.compare import Answer, Case, approve, ask
from tests.interop.peer import Peer

pytestmark = pytest.mark.peer

HOME = Path(__file__).parents[1] / "data" / "hermes-approval"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


MEMORY_WORDS = {
    "ok": 13,
    "no_match": 3,
    "ambiguous": 1,
    "batch_no_match": 1,
    "batch_over_budget": 1,
    "over_budget": 1,
    "replace_over_budget": 1,
    "threat_invisible_unicode": 1,
    "threat_pattern": 1,
}
SKILL_WORDS = {
    "ok": 16,
    "absorbed_target_missing": 1,
    "file_not_found": 1,
    "invalid_frontmatter": 1,
    "missing_argument": 1,
    "patch_ambiguous": 1,
    "patch_breaks_frontmatter": 1,
    "patch_no_match": 1,
    "path_not_allowed": 1,
    "path_traversal": 1,
    "pinned": 1,
    "skill_exists": 1,
    "skill_not_found": 1,
}


def _records() -> Iterator[tuple[str, str]]:
    for path in sorted(HOME.glob("pending/*/*.json")):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        yield path.parent.name, path.stem


RECORDS = tuple(_records())


def test_the_home_holds_what_it_is_known_for() -> None:
    assert len(RECORDS) == 51
    assert sum(subsystem == "memory" for subsystem, _ in RECORDS) == 23
    assert (HOME / "pending/memory/0badcafe.json.tmp").is_file()
    assert (HOME / "memories/MEMORY.md.lock").stat().st_size == 0


@pytest.mark.parametrize(("subsystem", "record_id"), RECORDS)
def test_the_agent_and_our_replay_agree_on(peer: Peer, subsystem: str, record_id: str) -> None:
    answer = approve(peer, subsystem, record_id, dict(_home()))
    payload = json.loads((HOME / "pending" / subsystem / f"{record_id}.json").read_text("utf-8"))[
        "payload"
    ]
    outcome = _replay(subsystem, payload, answer)
    assert _why_different(subsystem, payload, answer, outcome) == ""


def test_the_home_has_something_for_every_kind_of_answer(peer: Peer) -> None:
    """What the 51 records come to, so that the test above is known to meet them."""
    words: dict[str, Counter[str]] = {"memory": Counter(), "skills": Counter()}
    for subsystem, record_id in RECORDS:
        words[subsystem][approve(peer, subsystem, record_id, dict(_home())).category] += 1
    assert words == {"memory": MEMORY_WORDS, "skills": SKILL_WORDS}


def test_a_truncated_record_and_a_leftover_are_never_approved(peer: Peer) -> None:
    answer = approve(peer, "memory", "5ec0ffee", dict(_home()))
    assert answer.seen["said"] == "No pending memory write with id '5ec0ffee'."
    assert answer.kept
    assert answer.before == answer.after


def test_the_table_of_categories_says_what_the_oracle_says(peer: Peer) -> None:
    """``tests/data/approval.json`` was sorted by hand; our table must sort the same way."""
    told = {}
    for name, case, _ in _oracle():
        answer = ask(peer, case)
        told[name] = (answer.category, answer.seen["strategy"] if answer.seen["success"] else None)
    assert told == {name: word for name, _, word in _oracle()}
    assert len(told) == 55


def _oracle() -> Iterator[tuple[str, Case, tuple[str, str | None]]]:
    micro = json.loads((HOME.parent / "approval.json").read_text("utf-8"))["micro"]
    for case in micro["memory_cases"]:
        config = Config(case["limits"]["memory"], case["limits"]["user"])
        tree = _file(f"memories/{case['file']}", case["initial"])
        yield (
            case["name"],
            Case("memory", case["payload"], tree, config),
            (_word(case["outcome"]["category"]), None),
        )
    for case in micro["skill_cases"]:
        if "setup" in case:  # links, made by hand
            continue
        tree = {}
        for path, content in case["skill_tree"].items():
            tree.update(_file(f"skills/{path}", content))
        config = Config(guard_agent_created=case["guard_agent_created"])
        payload = {key: _text(value) for key, value in case["payload"].items()}
        outcome = case["outcome"]
        yield (
            case["name"],
            Case("skills", payload, tree, config),
            (outcome["category"], outcome["strategy"]),
        )


def _file(path: str, content: Any) -> dict[str, Node]:
    if content is None:
        return {}
    data = base64.b64decode(content["base64"]) if "base64" in content else content["text"].encode()
    return {path: Node(NodeKind.FILE, data, 0o644)}


def _text(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    fill = value["head"][-1] * (value["length"] - len(value["head"]) - len(value["tail"]))
    return f"{value['head']}{fill}{value['tail']}"


def _word(word: str) -> str:
    """The oracle leaves two raising forms unnamed; the table names them."""
    if word.startswith("other:"):
        return "invalid"
    return "unreadable_target" if word.startswith("store_load_crash:") else word


def _home() -> Iterator[tuple[str, Node]]:
    for path, node in View(Disk(HOME)).tree(""):
        if path:
            yield path, node


def _replay(subsystem: str, payload: object, answer: Answer) -> Outcome:
    view = View(Tree(answer.before))
    if subsystem == "skills":
        return skill_replay.replay(view, payload, Config(), Rules.V0_19, NOW)
    assert isinstance(payload, dict)
    return memory_replay.replay(view, payload, Config(), Rules.V0_19)


def _why_different(subsystem: str, payload: Any, answer: Answer, outcome: Outcome) -> str:
    if subsystem == "skills":
        return differences.of_skills(payload, answer, outcome)
    return differences.of_memory(payload, answer, outcome)
