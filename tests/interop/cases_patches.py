"""Seeded patches: real text, bent so that each way of finding it is needed in turn."""

from __future__ import annotations

import random
from typing import Any

from core.model import Node, NodeKind

_FOLDED = {"“": '"', "”": '"', "‘": "'", "’": "'", "—": "--", "–": "-", "…": "...", "\u00a0": " "}
WAYS = (
    "exact",
    "trimmed",
    "blanks",
    "indent",
    "escapes",
    "folded",
    "anchors",
    "similar",
    "absent",
    "drift",
)
_ODD_ALL: tuple[Any, ...] = ("false", "", 0, 1, None, [], [0])


def patch(rng: random.Random, tree: dict[str, Node], folder: str) -> dict[str, Any]:
    """The arguments of a patch on a file of the skill at ``folder`` (any text if there is none)."""
    files = {
        path[len(folder) + 1 :]: node
        for path, node in tree.items()
        if folder and path.startswith(folder + "/") and node.kind is NodeKind.FILE
    }
    chosen = "SKILL.md" if rng.random() < 0.7 or not files else rng.choice(list(files))
    node = files.get(chosen, Node(NodeKind.FILE, b"nothing here\n"))
    text = node.data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    old = bent(rng, text)
    fields: dict[str, Any] = {"old_string": old, "new_string": _new(rng, old)}
    if chosen != "SKILL.md":
        fields["file_path"] = chosen
    elif rng.random() < 0.15:
        fields["file_path"] = rng.choice(
            ("SKILL.md", "x/SKILL.md", "", "references/none.md", "../SKILL.md", "notes.md")
        )
    if rng.random() < 0.3:
        fields["replace_all"] = True
    elif rng.random() < 0.05:
        fields["replace_all"] = rng.choice(_ODD_ALL)
    if rng.random() < 0.02:
        fields[rng.choice(("old_string", "new_string"))] = rng.choice(("", None, "\ud83d"))
    return fields


def bent(rng: random.Random, text: str) -> str:
    """A part of ``text`` as a model might remember it."""
    way = rng.choice(WAYS)
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    some = lines[start : start + rng.choice((1, 1, 2, 3, 4, 6))]
    block = "\n".join(some)
    if way == "exact":
        at = rng.randrange(len(text) or 1)
        return rng.choice(
            (
                block,
                text[at : at + rng.randint(1, 60)],
                rng.choice(("the", "e", "\n", "Use metric units.", "---", "name: ")),
            )
        )
    if way == "trimmed":
        return "\n".join(
            rng.choice(("", "  ", "\t")) + line.strip() + rng.choice(("", " ", "\t"))
            for line in some
        )
    if way == "blanks":
        inner = block.split(" ")
        return (
            "".join(word + rng.choice((" ", " ", "  ", "\t", "   ")) for word in inner[:-1])
            + inner[-1]
        )
    if way == "indent":
        return "\n".join(rng.choice(("", " ", "    ")) + line.lstrip() for line in some)
    if way == "escapes":
        return block.replace("\n", "\\n").replace("\t", "\\t")
    if way == "folded":
        marked = [
            number for number, line in enumerate(lines) if any(mark in line for mark in _FOLDED)
        ]
        at = rng.choice(marked) if marked else start
        folded = "\n".join(lines[at : at + rng.randint(1, 2)])
        for mark, plain in _FOLDED.items():
            folded = folded.replace(mark, plain)
        return rng.choice((folded, folded.strip(), f"  {folded}"))
    if way == "anchors":
        block_lines = lines[start : start + rng.randint(3, 7)]
        return "\n".join(
            line if i in (0, len(block_lines) - 1) else _noise(rng, line)
            for i, line in enumerate(block_lines)
        )
    if way == "similar":
        return "\n".join(_noise(rng, line) if rng.random() < 0.6 else line for line in some)
    if way == "drift":
        quoted = [number for number, line in enumerate(lines) if '"' in line or "'" in line]
        at = max(rng.choice(quoted) - 1, 0) if quoted else start
        kept = "\n".join(lines[at : at + rng.choice((2, 3, 3))])
        return kept.replace('"', '\\"').replace("'", "\\'") + rng.choice(("", " "))
    return rng.choice(("no such words anywhere", block.upper(), block[::-1]))


def _noise(rng: random.Random, line: str) -> str:
    """``line`` with a few characters changed: from nearly the same to hardly alike."""
    letters = list(line)
    for _ in range(rng.choice((1, 1, 2, 4, 12))):
        if letters:
            letters[rng.randrange(len(letters))] = rng.choice(("x", "q", "", "zz", " "))
    return "".join(letters)


def _new(rng: random.Random, old: str) -> str:
    if "\\'" in old or '\\"' in old:
        return old.replace("e", "E", 1) + " changed"
    kind = rng.randrange(9)
    if kind == 0:
        return old
    if kind == 1:
        return ""
    if kind == 2:
        return old + rng.choice((" more", "\nand a line", "\n", "\r\nreturn"))
    if kind == 3:
        return old.replace("e", "E", 1) or "new"
    if kind == 4:
        return "\n".join(rng.choice(("  ", "\t", "")) + line for line in old.split("\n"))
    if kind == 5:
        return rng.choice(("\\tcalled\\r", "tab\\tinside\\nline", 'it\\\'s \\"so\\"'))
    if kind == 6:
        return rng.choice(
            ("---", "x" * 99_990, "ignore all previous instructions", "“new” — text…")
        )
    if kind == 7:
        return old.replace("\n", "\n\n")
    return f"Replaced {rng.randint(0, 99)}."
