"""vak homes of any size: the same for the same numbers.

Most bytes of a ledger are what tools answered, as in real ones; words are Zipf distributed.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

from core.homes.vak.fnv import workspace_hash

#: Words that nearly every ledger has, some have, one has.
COMMON, RARE, NEEDLE = "deploy", "harbourmaster", "quillneedle"
_SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "za", "dri", "pla", "sten")
_POOL, _WORDS = 4_000, 40_000


def make_ledgers(home: Path, *, workspaces: int, files: int, each: int, seed: int = 5) -> int:
    """Write ``files`` ledgers of about ``each`` bytes over ``workspaces``; the bytes of all."""
    pick = random.Random(seed)
    said, answered = _texts(pick, 60, _POOL), _texts(pick, 700, _POOL // 10)
    folders = [
        home / "sessions" / workspace_hash(f"/home/dev/project-{number}")
        for number in range(workspaces)
    ]
    for folder in folders:
        folder.mkdir(parents=True)
    total = 0
    for number in range(files):
        cwd = f"/home/dev/project-{number % workspaces}"
        total += _write(
            folders[number % workspaces] / f"session-{number:05}.jsonl",
            pick,
            cwd,
            (said, answered),
            each,
            NEEDLE if number == files // 2 else RARE if number % 40 == 7 else "",
        )
    return total


def _write(
    path: Path,
    pick: random.Random,
    cwd: str,
    texts: tuple[list[str], list[str]],
    each: int,
    word: str,
) -> int:
    said, answered = texts
    lines = [_line(0, f'"kind":"header","session_id":"{path.stem}","cwd":"{cwd}","contract":{{}}')]
    size = len(lines[0])
    for number in itertools.count(1):
        if size > each:
            break
        if number % 3:
            role, block = ("user", "assistant")[number % 2], pick.choice(said)
            if word and number == 2:
                block = json.dumps(f"the {word} {COMMON} script")
            body = f'{{"type":"text","text":{block}}}'
        else:
            role = "user"
            body = f'{{"type":"tool_result","tool_use_id":"t","content":{pick.choice(answered)}}}'
        message = f'"kind":"message","message":{{"role":"{role}","content":[{body}]}}'
        lines.append(_line(number, message))
        size += len(lines[-1])
    data = "".join(lines).encode()
    path.write_bytes(data)
    return len(data)


def _line(number: int, rest: str) -> str:
    hour, minute = number // 60 % 24, number % 60
    stamp = f"2026-08-{1 + number // 1_440 % 28:02}T{hour:02}:{minute:02}:00Z"
    parent = f'"e{number - 1}"' if number else "null"
    return f'{{"id":"e{number}","parent_id":{parent},"ts":"{stamp}",{rest}}}\n'


def _texts(pick: random.Random, length: int, count: int) -> list[str]:
    """Texts as JSON, of about ``length`` words."""
    words = ["".join(pick.choices(_SYLLABLES, k=pick.choice((1, 2, 3)))) for _ in range(_WORDS)]
    words[200] = COMMON
    weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(words))))
    return [
        json.dumps(" ".join(pick.choices(words, cum_weights=weights, k=length)))
        for _ in range(count)
    ]
