"""``session-search.json``: 32 answers of the real tool (hermes-agent 0.19.0), every field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.hermes.recall.calls import Asked, Json, condensed, fixture_home, oracle

CASES = oracle("session-search.json")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fixture_home(tmp_path_factory.mktemp("oracle"))


def test_the_oracle_is_whole() -> None:
    assert len(CASES) == 32
    assert {case["shape"].split("-")[0] for case in CASES} == {
        "discover", "scroll", "read", "browse"
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_answer(home: Path, case: Json) -> None:
    assert condensed(Asked(home)(**case["call"])) == case["expect"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_arguments_as_text(home: Path, case: Json) -> None:
    """The contract: arguments are text and coerced as the tool does."""
    asked = {name: str(value) for name, value in case["call"].items()}
    assert condensed(Asked(home)(**asked)) == case["expect"]


def test_nothing_is_left_beside_the_database(home: Path) -> None:
    assert sorted(path.name for path in home.iterdir()) == ["state.db"]
