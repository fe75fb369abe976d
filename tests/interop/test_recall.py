"""Hundreds of calls of ``session_search``: the agent's own answers, character for character.

A seeded past (lineages, branches, compactions, rewinds, floods of scheduled jobs, odd contents) is
made through the agent's own API; every call is answered by the agent and by signoff under the
rules of 0.19. ``SIGNOFF_SEED`` repeats a run.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.recall import lexer
from core.homes.hermes.recall.profiles import Profiles
from core.homes.hermes.recall.tool import recall
from core.homes.hermes.rules import Rules
from tests.interop import cases_recall as cases
from tests.interop.compare import SEED, dice
from tests.interop.peer import VARIABLE

pytestmark = [pytest.mark.peer, pytest.mark.timeout(120)]

DRIVER = Path(__file__).with_name("recall_driver.py")
CALLS = int(os.environ.get("SIGNOFF_RECALLS", "800"))
SESSIONS = 110
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
#: East of Greenwich, so that a time told in the wrong zone shows.
ZONE, ZONE_NAME = timezone(timedelta(hours=5, minutes=30)), "XXX-05:30"

#: Of 500 calls at least so many are answered in each way; fewer prove nothing about it.
LEAST = {"discover": 120, "nothing found": 40, "scroll": 35, "read": 20, "browse": 25, "error": 30}


@dataclass(frozen=True)
class Run:
    """A home both sides read, the calls with the agent's answers, and its sanitizer's."""

    home: Path
    calls: list[tuple[cases.Call, str]]
    sanitized: list[tuple[str, str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    print(f"SIGNOFF_SEED={SEED} SIGNOFF_RECALLS={CALLS}")
    folder = tmp_path_factory.mktemp("recall")
    home = folder / "home"
    past = cases.Past(dice("recall", 0), "aa")
    past.make(SESSIONS)
    cases.flood(past, 320)
    other = cases.Past(dice("recall", 1), "bb")
    other.make(6)
    (home / "profiles" / "empty").mkdir(parents=True)
    calls = cases.calls(past, other, CALLS)
    queries = [cases.query(past) for _ in range(1_000)]
    asked = {
        "databases": {
            str(home / "state.db"): past.steps,
            str(home / "profiles" / "work" / "state.db"): other.steps,
        },
        "path": str(home / "state.db"),
        "calls": calls,
        "queries": queries,
    }
    said = _ask(python, folder, home, asked)
    return Run(
        home,
        list(zip(calls, said["answers"], strict=True)),
        list(zip(queries, said["sanitized"], strict=True)),
    )


def _ask(python: str, folder: Path, home: Path, asked: Any) -> Any:
    keep = {key: value for key, value in os.environ.items() if key in {"PATH", "LANG", "LC_ALL"}}
    places = {"HOME": str(folder / "user"), "HERMES_HOME": str(home)}
    (folder / "user").mkdir()
    done = subprocess.run(
        [python, "-I", str(DRIVER)],
        input=json.dumps(asked).encode(),
        capture_output=True,
        cwd=folder,
        env=keep | places | {"TZ": ZONE_NAME, "PYTHONHASHSEED": "0"},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-4_000:]
    return json.loads(done.stdout)


def test_every_answer_is_the_agents(run: Run) -> None:
    seen: Counter[str] = Counter()
    profiles = Profiles(run.home)
    for number, (call, expected) in enumerate(run.calls):
        ours = recall(run.home, call, rules=Rules.V0_19, now=NOW, profiles=profiles, zone=ZONE)
        said = json.dumps(ours, ensure_ascii=False)
        assert said == expected, f"SIGNOFF_SEED={SEED}, call {number}: {call!r}"
        mode = ours.get("mode", "error")
        seen["nothing found" if mode == "discover" and not ours["count"] else mode] += 1
    short = {name: seen[name] for name, least in LEAST.items() if seen[name] * 500 < least * CALLS}
    assert not short, f"too few to prove anything: {seen}"


def test_every_query_is_read_as_the_agent_reads_it(run: Run) -> None:
    for query, expected in run.sanitized:
        assert lexer.effective(query, Rules.V0_19) == expected, f"SIGNOFF_SEED={SEED}: {query!r}"
