"""Proposed skills: listed, judged, installed byte for byte (vak spec 8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.homes.vak.origin import trace
from core.homes.vak.proposals import Judging, edited, plan_promotion
from core.homes.vak.queue import read_queue
from core.homes.vak.skill_text import name_problem, read_skill, renamed
from core.model import Change, Outcome
from core.view import Disk, Tree, View

HOME = Path(__file__).parents[2] / "data" / "vak"
SOURCE = Disk(HOME)
JUDGING = Judging(now=datetime(2026, 9, 20, tzinfo=UTC))
QUEUE = {proposal.target: proposal for proposal in read_queue(SOURCE).proposals}


def outcome_of(target: str, name: str | None = None) -> Outcome:
    return plan_promotion(View(SOURCE), QUEUE[target], JUDGING, name).outcome


def test_the_queue_is_every_draft_of_every_workspace() -> None:
    queue = read_queue(SOURCE)
    assert [proposal.target for proposal in queue.proposals] == [
        "rotate-release-tags",
        "deploy-checklist",
        "deploy-checklist-v2",
        "pre-deploy-list",
        "webhook-replay",
        "../../evil",
        "Bad_Name",
        "translate-notes",
        "hand-written-draft",
    ]
    (broken,) = queue.unreadable
    assert broken.reason == "unreadable draft: its header is not closed with ---"


@pytest.mark.parametrize(
    ("target", "category"),
    [
        ("rotate-release-tags", "ok"),
        ("deploy-checklist", "skill_exists"),
        ("deploy-checklist-v2", "ok"),
        ("../../evil", "invalid_name"),
        ("Bad_Name", "invalid_name"),
        ("hand-written-draft", "ok"),
    ],
)
def test_how_a_promotion_ends(target: str, category: str) -> None:
    assert outcome_of(target).category == category


def test_a_promotion_is_verbatim() -> None:
    proposal = QUEUE["translate-notes"]
    plan = plan_promotion(View(SOURCE), proposal, JUDGING)
    changes = {change.path: change for change in plan.changes if isinstance(change, Change)}
    made = changes["skills/translate-notes/SKILL.md"].after
    assert made is not None
    assert made.data == (HOME / proposal.file).read_bytes()
    assert changes[proposal.file].after is None


@pytest.mark.parametrize(
    ("target", "of", "score"),
    [
        ("deploy-checklist-v2", "deploy-checklist", "93%"),
        ("pre-deploy-list", "deploy-checklist", "76%"),
    ],
)
def test_copies_are_pointed_out(target: str, of: str, score: str) -> None:
    """The sample's copies: Jaccard 0.933 and 0.765 (section 12)."""
    (found,) = outcome_of(target).findings
    assert found.code == "near_duplicate"
    assert of in found.message
    assert score in found.message


def test_a_clash_shows_both_and_another_name_helps() -> None:
    refused = outcome_of("deploy-checklist")
    (pair,) = refused.entries
    assert pair.before == (HOME / "skills/deploy-checklist/SKILL.md").read_text()
    assert refused.changes == ()
    taken = outcome_of("deploy-checklist", "second-list")
    made = next(c for c in taken.changes if isinstance(c, Change) and c.path.endswith(".md"))
    assert made.after is not None
    text = made.after.data.decode()
    assert text == (pair.after or "").replace('"deploy-checklist"', '"second-list"', 1)


def test_a_project_skill_of_that_name_is_said() -> None:
    proposal = QUEUE["webhook-replay"]
    tree = Tree(
        {
            proposal.file: str(proposal.payload["content"]).encode(),
            "/w/.vak/skills/webhook-replay/SKILL.md": b"---\nname: x\n---\n",
        }
    )
    judging = replace(JUDGING, workspaces={"07ec165512aff658": "/w"})
    outcome = plan_promotion(View(tree), proposal, judging).outcome
    assert [found.code for found in outcome.findings] == ["shadowed"]


def test_what_stands_in_the_way_of_the_folder() -> None:
    proposal = QUEUE["webhook-replay"]
    tree = Tree({proposal.file: b"", "skills/webhook-replay": b"a file"})
    assert plan_promotion(View(tree), proposal, JUDGING).outcome.category == "unsafe_target"


@pytest.mark.parametrize("name", ["", "-a", "a-", "a--b", "A", "a_b", "a" * 65, "../x", "a\n"])
def test_names_that_no_skill_has(name: str) -> None:
    assert name_problem(name)


def test_a_description_has_bounds() -> None:
    text = '---\nname: "a"\ndescription: "' + "d" * 1_025 + '"\n---\nx\n'
    proposal = replace(QUEUE["webhook-replay"], target="a", payload={"name": "a", "content": text})
    assert plan_promotion(View(Tree({})), proposal, JUDGING).outcome.category == "too_long"


def test_the_first_closing_fence_ends_the_header() -> None:
    found = read_skill('---\nname: "a"\n---\nbody\n---\nmore\n')
    assert not isinstance(found, str)
    assert found.body == "body\n---\nmore\n"


@pytest.mark.parametrize(
    ("footer", "session", "source"),
    [
        ("<!-- proposed-by: s at 2026-08-23T10:00:00+00:00; proposal id 1 -->", "s", ""),
        ("<!-- proposed-by: s at 2026-08-23T10:00:00+00:00 -->", "s", ""),
        (
            "<!-- proposed-by: s at 2026-08-23T10:00:00Z; proposal id 1; source: reflection -->",
            "s",
            "reflection",
        ),
        ("<!-- proposed-by:  at 2026-08-23T10:00:00Z; proposal id 1 -->", "", ""),
    ],
)
def test_footers(footer: str, session: str, source: str) -> None:
    found = read_skill(f"---\nname: a\n---\nx\n\n{footer}\n")
    assert not isinstance(found, str)
    assert found.footer is not None
    assert (found.footer.session_id, found.footer.source) == (session, source)


def test_renaming_changes_the_name_only() -> None:
    text = '---\r\nname: "a"\r\ndescription: "name: b"\r\n---\r\nname: "a"\r\n'
    assert renamed(text, "c") == text.replace('"a"', '"c"', 1)


def test_an_edit_that_makes_it_no_skill_is_refused() -> None:
    proposal = QUEUE["webhook-replay"]
    assert edited(proposal, {"content": "---\nname: a\n"}).category == "invalid"
    assert edited(proposal, {"content": str(proposal.payload["content"])}).category == "noop"
    assert edited(proposal, {"title": "x"}).category == "invalid"


def test_the_same_id_in_two_workspaces() -> None:
    text = b'---\nname: "a"\ndescription: "d"\n---\nx\n'
    tree = Tree({"skill-proposals/0a/x.md": text, "skill-proposals/0b/x.md": text})
    assert [each.id for each in read_queue(tree).proposals] == ["0a/x", "0b/x"]


def test_a_file_that_is_nothing_but_a_suffix_is_no_draft() -> None:
    skill = b"---\nname: x\ndescription: d\n---\n"
    queue = read_queue(Tree({"skill-proposals/a/.md": skill, "skill-proposals/a/x.md": skill}))
    assert [proposal.id for proposal in queue.proposals] == ["x"]
    assert queue.unreadable == ()


def test_provenance_names_the_session() -> None:
    found = trace(HOME, QUEUE["rotate-release-tags"])
    assert found.session_id == "01a01e66-0e80-728c-9b72-075b8cbde5af"
    assert found.message_id == 14
    nobody = trace(HOME, QUEUE["hand-written-draft"])
    assert nobody.session_id is None
