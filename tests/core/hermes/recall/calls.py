"""Calls of the tool on a database of a test, and its answers as the oracle writes them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.homes.hermes.recall.profiles import Profiles
from core.homes.hermes.recall.tool import recall
from core.homes.hermes.rules import Rules

DATA = Path(__file__).parents[3] / "data"
NOW = datetime(2026, 7, 18, 12, 0, tzinfo=UTC)

Json = dict[str, Any]


def oracle(name: str) -> list[Json]:
    """The cases of ``tests/data/oracles``."""
    cases: list[Json] = json.loads((DATA / "oracles" / name).read_text("utf-8"))["cases"]
    return cases


def fixture_home(folder: Path) -> Path:
    """A copy of the database that the real agent made."""
    home = folder / "home"
    home.mkdir()
    shutil.copyfile(DATA / "hermes-sessions" / "state.db", home / "state.db")
    return home


@dataclass(frozen=True)
class Asked:
    """A home to ask under one set of rules."""

    home: Path
    rules: Rules = Rules.V0_19
    current: str = "default"

    def __call__(self, **arguments: object) -> Json:
        """The tool's answer."""
        profiles = Profiles(self.home, self.current)
        return recall(self.home, arguments, rules=self.rules, now=NOW, profiles=profiles, zone=UTC)


def condensed(answer: Json) -> Json:
    """An answer as ``session-search.json`` writes it: ids for messages, no local times."""
    said = {key: value for key, value in answer.items() if key != "query"}
    if said.get("mode") == "discover":
        said["results"] = [_condensed_result(result) for result in said["results"]]
    if "messages" in said:
        messages = said.pop("messages")
        said["message_ids"] = ids(messages)
        said["anchor_ids"] = [each["id"] for each in messages if each.get("anchor")]
        said["roles"] = [each["role"] for each in messages]
        said["session_meta"] = _without(said["session_meta"], "when")
    return said


def ids(messages: list[Json]) -> list[int]:
    """The ids of messages, in their order."""
    return [each["id"] for each in messages]


def texts(answer: Json) -> Iterator[str]:
    """Every text of an answer's messages."""
    for result in answer.get("results", [answer]):
        for part in ("bookend_start", "messages", "bookend_end"):
            yield from (str(each["content"]) for each in result.get(part, []))


def _condensed_result(result: Json) -> Json:
    said = _without(result, "when", "messages", "bookend_start", "bookend_end")
    said["window_ids"] = ids(result["messages"])
    said["bookend_start_ids"] = ids(result["bookend_start"])
    said["bookend_end_ids"] = ids(result["bookend_end"])
    return said


def _without(said: Json, *names: str) -> Json:
    return {key: value for key, value in said.items() if key not in names}
