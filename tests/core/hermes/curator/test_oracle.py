"""Every case of the curator's oracle: what the real agent answered on the sample home.

Where the oracle marks a defect of the agent, the better behaviour stands in its place, by name.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.homes.hermes.curator.archive import plan_archive
from core.homes.hermes.curator.curate import plan_curate, predict
from core.homes.hermes.curator.inventory import is_managed, read_inventory
from core.homes.hermes.curator.origins import SUPPRESSED
from core.homes.hermes.curator.pinning import plan_pin
from core.homes.hermes.curator.pruning import prune_list
from core.homes.hermes.curator.restore import plan_restore
from core.homes.hermes.curator.state import STATE, due, read_state
from core.homes.hermes.skills import usage
from core.model import Change, Outcome
from core.view import View
from tests.core.hermes.curator.homes import (
    NOW,
    ORACLE,
    changed_rows,
    codes,
    config,
    moved,
    row,
    rows,
    sample,
    small,
    terms,
    view,
)
from tests.core.hermes.skill_homes import skill

OPERATIONS: dict[str, Any] = ORACLE["operations"]
SETTINGS: dict[str, Any] = ORACLE["transitions"]


def plan(seen: View, verb: str, name: str) -> Outcome:
    if verb == "pin":
        return plan_pin(seen, terms(seen), name, True)
    return {"archive": plan_archive, "restore": plan_restore}[verb](seen, terms(seen), name)


def fair(verb: str) -> list[str]:
    """The cases of one operation in which the agent is right, or only says too little."""
    spoken = {("archive", "docker-compose-debug")}
    return [
        name
        for name, case in OPERATIONS[verb].items()
        if "peer_defect" not in case or (verb, name) in spoken
    ]


CASES = [(verb, name) for verb in OPERATIONS for name in fair(verb)]


@pytest.mark.parametrize(("verb", "name"), CASES, ids=[f"{v} {n}" for v, n in CASES])
def test_an_operation_ends_as_the_agents(verb: str, name: str) -> None:
    case, seen = OPERATIONS[verb][name], view(sample())
    outcome = plan(seen, verb, name)
    assert outcome.category == case["result"]
    assert moved(outcome) == case.get("moved", {})
    assert changed_rows(seen, outcome) == case.get("rows", {})
    lists = [c for c in outcome.changes if isinstance(c, Change) and c.path == SUPPRESSED]
    lines = [
        [side.data.decode().splitlines() for side in (c.before, c.after) if side] for c in lists
    ]
    assert lines == ([case["suppressed"]] if "suppressed" in case else [])


def test_the_cases_marked_as_defects_are_the_known_ones() -> None:
    marked = {
        (verb, name)
        for verb, cases in OPERATIONS.items()
        for name, case in cases.items()
        if "peer_defect" in case
    }
    assert marked == {
        ("pin", "changelog-writer"),
        ("pin", "no-such-skill"),
        ("archive", "docker-compose-debug"),
    }


def test_a_bundled_skill_that_ages_can_be_pinned() -> None:
    """Deviation, oracle pin/changelog-writer."""
    seen = view(sample())
    outcome = plan(seen, "pin", "changelog-writer")
    assert outcome.category == "pinned_ok"
    assert changed_rows(seen, outcome) == {"changelog-writer": {"pinned": [False, True]}}
    kept = {**sample(), "config.yaml": config(prune=False)}
    assert plan(view(kept), "pin", "changelog-writer").category == "not_agent_created"


def test_a_name_without_a_skill_is_not_pinned() -> None:
    """Deviation, oracle pin/no-such-skill."""
    outcome = plan(view(sample()), "pin", "no-such-skill")
    assert (outcome.category, outcome.changes) == ("skill_not_found", ())


def test_a_job_that_uses_it_is_said_before_it_is_archived() -> None:
    """Deviation, oracle archive/docker-compose-debug and field report D24."""
    outcome = plan(view(sample()), "archive", "docker-compose-debug")
    assert codes(outcome) == ["referred_by_job"]
    assert "restore test" in outcome.findings[0].message


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("as_agent", [False, True])
def test_a_pass_ends_as_the_agents(setting: str, as_agent: bool) -> None:
    numbers = dict(part.split("=") for part in setting.split())
    text = config(
        int(numbers["stale"]), int(numbers["archive"]), numbers["prune_builtins"] == "true"
    )
    seen = view(sample() | {"config.yaml": text})
    found = {line.name: line for line in predict(seen, terms(seen), as_agent=as_agent).transitions}
    for name, case in SETTINGS[setting]["skills"].items():
        line = found.get(name)
        assert (line.to if line else case["before"]) == case["after"], name
        assert (line.before if line else case["before"]) == case["before"], name
        place = (
            tuple(part.removeprefix("skills/") for part in line.moved)
            if line and line.moved
            else ()
        )
        assert place == tuple(*case.get("moved", {}).items()), name


VECTORS = ORACLE["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=[each["label"] for each in VECTORS])
def test_a_vector_ends_as_the_agents(vector: dict[str, Any]) -> None:
    limits, expect = vector["config"], vector["expect"]
    files = small(
        **{
            "config.yaml": config(
                limits["stale_after_days"], limits["archive_after_days"], limits["prune_builtins"]
            ),
            "skills/ops/probe/SKILL.md": None,
            f"skills/{vector['path']}/SKILL.md": skill(vector["name"]),
            usage.PATH: rows(probe=vector["row"]) if vector["row"] else b"{}",
        }
    )
    if vector["provenance"] == "bundled":
        files["skills/.bundled_manifest"] = b"probe:0\n"
    if vector["cron"]:
        files["cron/jobs.json"] = json.dumps({"jobs": [{"id": "a", **vector["cron"]}]}).encode()
    seen = view(files)
    judged = terms(seen)
    outcome, found = plan_curate(seen, judged), predict(seen, judged)
    assert bool(found.checked) is expect["candidate"]
    changed = changed_rows(seen, outcome).get("probe", {})
    assert bool(moved(outcome)) is expect["moved"]
    assert ("added" in changed) is expect["seeded"]
    before = (vector["row"] or {}).get("state", "active")
    assert changed.get("state", [before, before])[1] == expect["state_after"]
    set_now = changed.get("archived_at", [None, None])[1] == NOW.isoformat()
    assert set_now is expect["archived_at_set_to_now"]
    paths = [change.path for change in outcome.changes]
    assert (SUPPRESSED in paths) is expect["suppressed"]


def test_the_prune_list_is_the_agents() -> None:
    seen = view(sample())
    for days, expected in ORACLE["prune_dry_run"].items():
        found = prune_list(seen, terms(seen), int(days))
        assert [[line.name, line.idle_days] for line in found] == expected
    assert found[0].jobs == ("restore test",)


def test_when_it_is_due_is_the_agents() -> None:
    cases = {"exactly 168 h ago": b'"2026-10-25T00:00:00+00:00"', "null": b"null"}
    for label, last in cases.items():
        seen = view(sample() | {STATE: b'{"last_run_at": ' + last + b"}"})
        assert (
            due(read_state(seen), terms(seen).settings, NOW).due
            is (ORACLE["should_run_now"][label]["due"])
        )


def test_only_the_exact_marks_let_the_curator_manage() -> None:
    """Spec 1.8: exactly ``agent``, exactly ``true``."""
    assert is_managed(row(created_by="agent"))
    assert is_managed(row(created_by=None, agent_created=True))
    assert not is_managed(row(created_by="Agent"))
    assert not is_managed(row(created_by=None, agent_created=1))
    assert not is_managed(["created_by", "agent"])
    assert (
        len(
            read_inventory(
                view(sample()), terms(view(sample())).config, terms(view(sample())).rules
            ).skills
        )
        == 39
    )
