"""Every report, table row and demand that issue 4 names has a test that names it.

``tests/data/reports.json`` lists them: reports of the field (D, R) on approving, memory,
differences, lists and homes; the rows of the approval spec's section 7 (S7, in the table's order);
the demands of the field reports' section a.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
REPORTS: list[dict[str, str]] = json.loads((TESTS / "data/reports.json").read_text("utf-8"))


def functions(source: str) -> Iterator[tuple[str, str]]:
    """Name and docstring of every test function in ``source``."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("test_"):
            yield node.name, ast.get_docstring(node) or ""


@pytest.fixture(scope="module")
def tests() -> list[tuple[str, str]]:
    files = sorted(TESTS.rglob("test_*.py"))
    return [found for file in files for found in functions(file.read_text("utf-8"))]


def names(report: str, function: str, docstring: str) -> bool:
    """Whether a test names ``report``: its own name begins with it and its docstring says it."""
    slug = re.sub(r"[^a-z0-9]", "_", report.lower())
    begins = re.match(rf"test_{slug}_", function) is not None
    says = re.match(rf"{re.escape(report)}:", docstring, re.IGNORECASE) is not None
    return begins and says


@pytest.mark.parametrize("report", [report["id"] for report in REPORTS])
def test_a_test_names_it(report: str, tests: list[tuple[str, str]]) -> None:
    assert any(names(report, *found) for found in tests), report


def test_the_list_is_whole() -> None:
    """25 reports of the field and 4 found by running, 22 rows of the table, 10 demands."""
    ids = [report["id"] for report in REPORTS]
    assert len(set(ids)) == len(ids)
    kinds = [re.sub(r"[-0-9 ]", "", name) for name in ids]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "D": 25,
        "R": 4,
        "S": 22,
        "demand": 10,
    }
    assert [name for name in ids if name.startswith("S7-")] == [f"S7-{n:02}" for n in range(1, 23)]
    assert all(report["case"].endswith(".") and report["part"] for report in REPORTS)


@pytest.mark.parametrize(
    ("function", "docstring", "said"),
    [
        ("test_d01_a_fragment", "D01: it is whole.", True),
        ("test_demand_1_counts", "Demand 1: counts.", True),
        ("test_s7_01_shown", "S7-01: shown.", True),
        ("test_demand_12_counts", "Demand 12: counts.", False),
        ("test_d01_a_fragment", "", False),
        ("test_a_fragment", "D01: it is whole.", False),
    ],
)
def test_what_counts_as_naming(function: str, docstring: str, said: bool) -> None:
    reports = ("D01", "demand 1", "S7-01")
    assert any(names(report, function, docstring) for report in reports) is said
