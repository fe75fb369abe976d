"""Recall, parser and snippets against the reference answers (tests/data/oracles/vak-search.json)."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from core.homes.vak.notes.grammar import parse
from core.homes.vak.recall.scoring import Asked, Scorer, base
from core.homes.vak.recall.search import Request, scan
from core.homes.vak.recall.snippets import snippet
from core.homes.vak.recall.words import terms
from core.homes.vak.times import parse_time, written

DATA = Path(__file__).parents[2] / "data"
HOME = DATA / "vak"
CASES: list[dict[str, Any]] = json.loads((DATA / "oracles" / "vak-search.json").read_text())[
    "cases"
]
TOLERANCE = 0.0005


def of_type(word: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["type"] == word]


def microseconds(ts: str) -> int:
    at = parse_time(ts)
    assert at is not None
    return at // 1_000


@pytest.mark.parametrize("case", of_type("search"))
def test_recall_answers_as_the_reference_does(case: dict[str, Any]) -> None:
    request = Request(
        case["query"],
        case["workspace"],
        case["limit"],
        case["exclude"],
        Scorer(case["scorer"]),
        case["include_curated"],
    )
    found = scan(HOME, request, datetime.fromisoformat(case["now"]))
    expected = case["expect"]
    assert found.matches == expected["matches"]
    assert [hit.document.session_id for hit in found.hits] == [
        each["session_id"] for each in expected["hits"]
    ]
    for hit, each in zip(found.hits, expected["hits"], strict=True):
        document = hit.document
        assert document.entry_id == each["entry_id"]
        assert document.role == each["role"]
        assert hit.snippet == each["snippet"]
        assert microseconds(written(document.at)) == microseconds(each["ts"])
        assert document.project == each.get("project_hash", "")
        assert hit.score == pytest.approx(each["score"], abs=TOLERANCE)
        assert hit.base == pytest.approx(each["base"], abs=TOLERANCE)


@pytest.mark.parametrize("case", of_type("tokenize"))
def test_terms(case: dict[str, Any]) -> None:
    assert list(terms(case["query"])) == case["expect"]["terms"]


@pytest.mark.parametrize("case", of_type("snippet"))
def test_snippet(case: dict[str, Any]) -> None:
    found = snippet(case["text"], terms(case["query"]))
    assert found == case["expect"]["snippet"]
    assert len(found) == case["expect"]["chars"]


@pytest.mark.parametrize("case", of_type("score"))
def test_score(case: dict[str, Any]) -> None:
    found = base(case["text"], Asked(case["query"]), Scorer(case["scorer"]))
    assert found == pytest.approx(case["expect"]["base"], abs=TOLERANCE)


@pytest.mark.parametrize("case", of_type("parse"))
def test_notes_of_a_file(case: dict[str, Any]) -> None:
    blocks = parse((HOME / case["file"]).read_bytes().decode())
    found = [
        {
            "id": block.id,
            "ts": written(block.heading.at),
            "kind": block.heading.kind,
            "tag": block.heading.tag,
            "session_id": block.heading.session_id,
            "text": block.body,
        }
        for block in blocks
        if block.heading is not None and block.is_note
    ]
    assert found == case["expect"]["notes"]


def test_every_case_is_looked_at() -> None:
    types = {"search", "tokenize", "snippet", "score", "parse"}
    assert len(CASES) == 15
    assert {case["type"] for case in CASES} == types


@pytest.mark.parametrize(
    ("text", "query", "score"),
    [
        ("run the deploy script now", "deploy script", 5.0),
        ("script to deploy", "deploy script", 2.0),
        ("deploy  script", "deploy script", 2.0),
        ("run the deploy script now", "deploy", 4.0),
        ("redeploy, then deploy", "deploy", 4.69315),
        ("Deploy the deploy script; redeploy.", "deploy script", 6.09861),
        ("tick " * 40, "tick", 6.77259),
    ],
)
def test_worked_examples_of_the_specification(text: str, query: str, score: float) -> None:
    """Section 5."""
    assert base(text, Asked(query)) == pytest.approx(score, abs=0.00001)


def test_bm25_example_of_the_specification() -> None:
    """Section 5.6."""
    asked = Asked("kubernetes")
    found = base("Kubernetes kubernetes KUBERNETES", asked, Scorer.BM25)
    assert found == pytest.approx(8.10008, abs=0.00001)


@pytest.mark.parametrize(
    ("text", "start"),
    [("x" * 59 + " needle and more", "x"), ("x" * 60 + " needle", "…")],
)
def test_snippet_begins_sixty_characters_before(text: str, start: str) -> None:
    """Section 5.5: the first term at 60 needs no cut, at 61 it does."""
    assert snippet(text, ("needle",))[0] == start


def test_snippet_counts_characters_of_the_text_where_lower_case_is_longer() -> None:
    """Section 5.5: İ becomes two characters in lower case."""
    text = "İ" * 100 + "needle" + "y" * 300
    assert snippet(text, ("needle",)) == "…" + text[40:280] + "…"
