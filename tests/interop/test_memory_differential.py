"""Memory proposals, thousands of them: the agent's own approval and our replay, byte for byte."""

from __future__ import annotations

from collections import Counter

import pytest

from core.homes.hermes.memory.replay import replay
from core.homes.hermes.rules import Rules
from core.view import Tree, View
from tests.interop import differences
from tests.interop.cases_memory import case
from tests.interop.compare import CASES, SEED, TIMEOUT, ask, check_counts, dice, story
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
    "batch_ambiguous": 1,
    "batch_missing_field": 6,
    "batch_unknown_action": 2,
    "batch_empty": 30,
    "unknown_action": 15,
    "invalid": 20,
    "unreadable_target": 30,
}


def test_every_memory_case_is_answered_as_the_agent_answers_it(peer: Peer) -> None:
    print(f"SIGNOFF_SEED={SEED} SIGNOFF_CASES={CASES}")
    seen: Counter[str] = Counter()
    for number in range(CASES):
        made = case(dice("memory", number))
        answer = ask(peer, made)
        outcome = replay(View(Tree(answer.before)), made.payload, made.config, Rules.V0_19)
        why = differences.of_memory(made.payload, answer, outcome)
        assert not why, story(number, made, answer, outcome, why)
        seen[outcome.category] += 1
    check_counts(seen, LEAST)
