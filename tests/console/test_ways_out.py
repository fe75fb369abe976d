"""The console never sends a person to the command line for what a key does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.render.hints import with_keys
from tests.console.pilots import open_console, sample, tree

ROOT = Path(__file__).parents[2]
#: What the console has no key for: the command is the way.
_COMMANDS_ONLY = re.compile(
    r"`signoff (demo|init|doctor|clean|watch|mcp|export|knowledge (export|ingest|merge))\b"
)
_COMMAND = re.compile(r"`signoff [^`]*`")


def _texts(path: Path) -> Iterator[str]:
    """Every text of a module that is no docstring; what is put in is one word."""
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(parsed)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    inside: set[int] = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in docs | inside:
            yield from (node.value,) if isinstance(node.value, str) else ()


def _modules() -> list[Path]:
    folders = ("core", "console/screens", "console/render", "console/widgets")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    found += (ROOT / "console").glob("*.py")
    return [path for path in found if path.name != "hints.py"]


def test_every_command_that_a_text_names_has_its_key_said_instead() -> None:
    named = [text for path in _modules() for text in _texts(path) if _COMMAND.search(text)]
    assert len(named) > 20
    left = [command for text in named for command in _COMMAND.findall(with_keys(text))]
    assert [command for command in left if not _COMMANDS_ONLY.match(command)] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("1 rival waits: `signoff reject 3f8a`.", "1 rival waits: X (refuse rivals)."),
        ("9 rivals wait: `signoff pending`.", "9 rivals wait: X (refuse rivals)."),
        ("It waits again: `signoff show 3f8a`.", "It waits again in Review (1)."),
        ("It can no longer apply: `signoff reject -- -x`.", "It can no longer apply: r (refuse)."),
        ("Wake it with `signoff snooze --wake 3f8a`.", "Wake it with Z (snooze)."),
        ("`signoff edit 3f8a --splice` keeps the rest", "E (convert) keeps the rest"),
        ("`signoff edit 3f8a` fills it in", "e (edit) fills it in"),
        ("`signoff gate on` mends it", "ctrl+g (gates on) mends it"),
        ("See `signoff journal`.", "See Journal (5)."),
        ("then `signoff journal 4 --seen`", "then p (put away)"),
        ("`signoff doctor` says which", "`signoff doctor` says which"),
    ],
)
def test_a_command_is_said_as_the_key(words: str, said: str) -> None:
    assert with_keys(words) == said


async def test_the_receipt_names_keys_where_the_command_line_names_commands(
    tmp_path: Path,
) -> None:
    """A newcomer's report: the sheet after an approval said `signoff reject …`."""
    async with open_console(sample(tmp_path)) as console:
        items = console.review.queue.items
        rival = next(item for item in items if item.rivals and item.status == "ready")
        await console.at(rival.id)
        await console.press("a")
        await console.press("i")
        assert "rival waits: X (refuse rivals)." in console.words
        assert "signoff" not in console.words
        await console.press("escape", "u")
        await console.press("i")
        assert "It waits again in Review (1)." in console.words


async def test_a_gate_that_is_off_is_turned_on_by_a_key_and_off_again_by_undo(
    tmp_path: Path,
) -> None:
    home = sample(tmp_path)
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("write_approval: true", "write_approval: false"))
    before = tree(home)
    async with open_console(home) as console:
        notice = "! Both gates are off: the agent does not ask. ctrl+g (gates on) mends it."
        assert notice in " ".join(console.picture.split())
        await console.press("ctrl+g")
        assert "The gate of memory and skills is turned on" in console.words
        assert tree(home) == before
        await console.press("n", "ctrl+g", "y")
        assert console.flash.startswith("✓ The gate of memory and skills was turned on")
        assert console.flash.endswith("u takes it back")
        assert "gates on" in console.header
        assert "does not ask" not in console.picture
        await console.press("ctrl+g")
        assert console.flash == "The gate of memory and skills is on already"
        await console.press("u")
        assert tree(home) == before
