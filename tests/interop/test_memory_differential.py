"""Memory proposals, thousands of them: the agent's own approval and our replay, byte for byte."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import pytest

from core.homes.hermes.memory_replay import replay
from core.homes.hermes.rules import Rules
from core.model import Node, NodeKind, Outcome
from core.view import Tree, View
from tests.interop.cases_memory import FILES, case
from tests.interop.compare import (
    CASES,
    SEED,
    TIMEOUT,
    Answer,
    Case,
    ask,
    check_counts,
    dice,
    differing,
    landed,
    story,
)
from tests.interop.peer import Peer

pytestmark = [pytest.mark.peer, pytest.mark.timeout(TIMEOUT)]

#: In 2,000 cases at least so many of each; less means that the run proves nothing about it.
LEAST = {
    "ok": 400,
    "noop": 40,
    "empty": 80,
    "threat_pattern": 25,
    "threat_invisible_unicode": 25,
    "external_drift": 60,
    "no_match": 100,
    "ambiguous": 25,
    "over_budget": 50,
    "replace_over_budget": 12,
    "batch_over_budget": 6,
    "batch_no_match": 40,
    "batch_ambiguous": 2,
    "batch_missing_field": 6,
    "batch_unknown_action": 3,
    "batch_empty": 30,
    "unknown_action": 15,
    "invalid": 20,
    "unreadable_target": 30,
}
_BACKUP = re.compile(r"memories/\w+\.md\.bak\.\d+")


def test_every_memory_case_is_answered_as_the_agent_answers_it(peer: Peer) -> None:
    print(f"SIGNOFF_SEED={SEED} SIGNOFF_CASES={CASES}")
    seen: Counter[str] = Counter()
    for number in range(CASES):
        made = case(dice("memory", number))
        answer = ask(peer, made)
        outcome = replay(View(Tree(answer.before)), made.payload, made.config, Rules.V0_19)
        why = _why_different(made, answer, outcome)
        assert not why, story(number, made, answer, outcome, why)
        seen[outcome.category] += 1
    check_counts(seen, LEAST)


def _why_different(made: Case, answer: Answer, outcome: Outcome) -> str:
    path = FILES["user" if made.payload.get("target") == "user" else "memory"]
    before, after = dict(answer.before), dict(answer.after)
    backups = {p for p in after if _BACKUP.fullmatch(p)}
    if bool(backups) != (answer.category == "external_drift"):
        return f"backups: {backups}"
    locks = {p for p in after.keys() - before.keys() if p.endswith(".lock")}
    if not locks <= set(outcome.locks):
        return f"the agent locked {locks}, ours {outcome.locks}"
    for left in backups | locks:
        del after[left]

    expected = answer.category
    if expected == "ok" and _data(before, path) == _data(after, path):
        # The agent's word is success; it may have rewritten the same bytes, with its own mode.
        expected = "noop"
        after = before
    if expected == "unreadable_target" and _decodes(_data(before, path)):
        # On purpose: 0.19 opens both stores, and one of them cannot be decoded. Only the store
        # the record names counts here.
        return ""
    if outcome.category == "unreadable_target" and _unread(before, path):
        # On purpose: the agent takes what it cannot open for an empty store. It is harmless here
        # only because the rewrite fails too, or something else is refused first.
        expected = "unreadable_target" if not answer.seen["success"] else expected
    if expected != outcome.category:
        return f"the agent says {expected}, ours {outcome.category}"
    if answer.kept == outcome.lands:
        return f"record kept: {answer.kept}"
    different = differing(landed(before, outcome), after)
    return f"trees differ: {different}" if different else ""


def _data(tree: Mapping[str, Node], path: str) -> bytes | None:
    return View(Tree(tree)).read(path).data


def _decodes(data: bytes | None) -> bool:
    try:
        (data or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _unread(tree: Mapping[str, Node], path: str) -> bool:
    node = tree.get(path)
    return node is not None and (
        node.kind is NodeKind.DIR
        or (node.kind is NodeKind.LINK and View(Tree(tree)).read(path).data is None)
    )
