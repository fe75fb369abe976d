"""Skill proposals, thousands of them: the agent's own approval and our replay, byte for byte."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from core.homes.hermes.rules import Rules
from core.homes.hermes.scanners.skills import CRITICAL
from core.homes.hermes.skills.replay import replay
from core.model import Outcome
from core.view import Tree, View
from tests.interop import differences
from tests.interop.cases_skills import case
from tests.interop.compare import CASES, SEED, TIMEOUT, ask, check_counts, dice, story
from tests.interop.peer import Peer

pytestmark = [pytest.mark.peer, pytest.mark.timeout(TIMEOUT)]

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
#: In 2,000 cases at least so many of each; less means that the run proves nothing about it.
LEAST = {
    "ok": 600,
    "missing_argument": 80,
    "invalid_name": 40,
    "invalid_frontmatter": 40,
    "too_large": 3,
    "too_long": 12,
    "skill_exists": 15,
    "skill_not_found": 100,
    "path_not_allowed": 50,
    "path_traversal": 15,
    "path_escape": 3,
    "path_is_directory": 8,
    "file_not_found": 25,
    "undecodable_file": 12,
    "patch_no_match": 25,
    "patch_ambiguous": 15,
    "patch_identical": 40,
    "patch_escape_drift": 6,
    "patch_breaks_frontmatter": 30,
    "security_scan_blocked": 10,
    "pinned": 3,
    "absorbed_into_self": 15,
    "absorbed_target_missing": 2,
    "unsafe_target": 8,
    "unknown_action": 20,
    "invalid": 25,
    "io_error": 1,
}
#: Ways a landed patch was found. Two of the nine never come to their turn: what
#: indentation_flexible or trimmed_boundary would find, line_trimmed has found before.
LEAST_WAYS = {
    "exact": 25,
    "line_trimmed": 25,
    "whitespace_normalized": 8,
    "escape_normalized": 6,
    "unicode_normalized": 5,
    "block_anchor": 12,
    "context_aware": 5,
}
#: With the agent's scanner on: what lands with nothing left open, what both block, and the gap:
#: what ours cannot judge and says so by ``scan_not_modelled``.
LEAST_SCANS = {"clear": 25, "blocked": 10, "unsure": 50}


def test_every_skill_case_is_answered_as_the_agent_answers_it(peer: Peer) -> None:
    print(f"SIGNOFF_SEED={SEED} SIGNOFF_CASES={CASES}")
    seen: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    scans: Counter[str] = Counter()
    for number in range(CASES):
        made = case(dice("skills", number))
        answer = ask(peer, made)
        outcome = replay(View(Tree(answer.before)), made.payload, made.config, Rules.V0_19, NOW)
        why = differences.of_skills(made.payload, answer, outcome)
        assert not why, story(number, made, answer, outcome, why)
        seen[outcome.category] += 1
        if outcome.match:
            ways[outcome.match.strategy] += 1
        if made.config.guard_agent_created:
            scans[_scan(outcome)] += 1
    check_counts(seen, LEAST)
    check_counts(ways, LEAST_WAYS)
    check_counts(scans, LEAST_SCANS)


def test_what_the_skill_scanner_model_leaves_out_is_named(peer: Peer) -> None:
    modelled = {pattern.id for pattern in CRITICAL}
    assert set(peer.call("critical_rules")) == modelled | differences.NOT_MODELLED
    assert not modelled & differences.NOT_MODELLED


def _scan(outcome: Outcome) -> str:
    if not outcome.lands:
        return "blocked" if outcome.category == "security_scan_blocked" else "refused"
    open_ = any(finding.code == "scan_not_modelled" for finding in outcome.findings)
    return "unsure" if open_ else "clear"
