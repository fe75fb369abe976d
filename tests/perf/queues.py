"""A realistic home with 40 skills, and queues of any length on it: the same for the same numbers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SKILLS = 40
ENTRIES = 18
_WORDS = [
    "gauge",
    "harbour",
    "deploy",
    "release",
    "staging",
    "tide",
    "sensor",
    "queue",
    "invoice",
    "tenant",
    "rollout",
    "canary",
    "index",
    "backup",
    "window",
    "report",
    "schema",
    "worker",
    "import",
    "export",
    "dashboard",
    "alert",
    "token",
    "cache",
]


def make_home(root: Path, records: int, seed: int = 7) -> Path:
    """A home under ``root`` with ``records`` proposals, one in five of them stale or worse."""
    pick = random.Random(seed)
    _write(
        root / "config.yaml", "memory:\n  write_approval: true\nskills:\n  write_approval: true\n"
    )
    entries = [f"Entry {n}: {_sentence(pick, 12)}" for n in range(ENTRIES)]
    _write(root / "memories" / "MEMORY.md", "\n§\n".join(entries))
    _write(root / "memories" / "USER.md", "\n§\n".join(_sentence(pick, 8) for _ in range(6)))
    for number in range(SKILLS):
        folder = root / "skills" / ("ops", "data", "docs")[number % 3] / f"skill-{number}"
        _write(folder / "SKILL.md", _skill(pick, number))
        _write(folder / "references" / "notes.md", _sentence(pick, 60))
    _write(
        root / "skills" / ".usage.json", json.dumps({f"skill-{n}": _row() for n in range(SKILLS)})
    )
    for number in range(records):
        name = f"{number:08x}"
        memory = number % 2 == 0
        payload = _memory(pick, number, entries) if memory else _skill_change(pick, number)
        record = {
            "id": name,
            "subsystem": "memory" if memory else "skills",
            "action": payload["action"],
            "summary": f"proposal {number}",
            "origin": "background_review",
            "created_at": 1_790_000_000.0 + number,
            "payload": payload,
        }
        folder = root / "pending" / ("memory" if memory else "skills")
        _write(folder / f"{name}.json", json.dumps(record, indent=2))
    return root


def _memory(pick: random.Random, number: int, entries: list[str]) -> dict[str, Any]:
    kind = number // 2 % 5
    old = pick.choice(entries)[:9]
    if kind == 0:
        return {
            "action": "replace",
            "target": "memory",
            "old_text": old,
            "content": _sentence(pick, 9),
        }
    if kind == 1:
        return {"action": "remove", "target": "memory", "old_text": "was rewritten since"}
    if kind == 2:
        operations = [
            {"action": "add", "content": _sentence(pick, 6)},
            {"action": "remove", "old_text": old},
        ]
        return {"action": "batch", "target": "memory", "operations": operations}
    target = "user" if kind == 3 else "memory"
    return {"action": "add", "target": target, "content": _sentence(pick, 10), "old_text": None}


def _skill_change(pick: random.Random, number: int) -> dict[str, Any]:
    kind = number // 2 % 5
    name = f"skill-{pick.randrange(SKILLS)}"
    if kind == 0:
        fresh = f"fresh-{number}"
        return {
            "action": "create",
            "name": fresh,
            "content": _skill(pick, number),
            "category": "ops",
        }
    if kind == 1:
        return {
            "action": "write_file",
            "name": name,
            "file_path": "references/more.md",
            "file_content": _sentence(pick, 40),
        }
    if kind == 2:
        return {"action": "patch", "name": name, "old_string": "not there", "new_string": "at all"}
    step = pick.randrange(1, 15)
    return {
        "action": "patch",
        "name": name,
        "old_string": f"{step}. Step",
        "new_string": f"{step}. First {pick.choice(_WORDS)}, then step",
    }


def _skill(pick: random.Random, number: int) -> str:
    steps = "\n".join(f"{n}. Step {n}x: {_sentence(pick, 14)}" for n in range(1, 25))
    return f"---\nname: skill-{number}\ndescription: Use when testing {number}.\n---\n\n# Steps\n\n{steps}\n"


def _row() -> dict[str, Any]:
    return {
        "use_count": 1,
        "patch_count": 0,
        "pinned": False,
        "state": "active",
        "created_by": "agent",
    }


def _sentence(pick: random.Random, words: int) -> str:
    return " ".join(pick.choice(_WORDS) for _ in range(words)).capitalize() + "."


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
