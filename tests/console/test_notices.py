"""What a line of 80 columns keeps of a notice: its first sentence, then the keys it ends in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.content import Content

from console.screens.batch import Batch
from console.widgets.bars import _fitted
from core.model import Receipt
from tests.console.pilots import open_console, sample

ROOT = Path(__file__).parents[2]
#: Cells of the line on a screen of 80 columns, and those of a name or an id that stands in it.
CELLS, NAME = 78, 8
#: Which argument of a call is a notice, by the name of what is called.
SAID = {"flash": 0, "Outcome": 1, "Receipt": 3}
#: The agent's own sentences, word for word.
QUOTED = "core/homes/hermes/recall/"


def first(words: str) -> str:
    """The first sentence, or the first part of one."""
    return re.split(r"[.;:](?= )", words)[0]


def literal(node: ast.expr) -> str:
    """The words of a text in the code, names and keys in it as long as they mostly are."""
    match node:
        case ast.Constant(value=str() as words):
            return words
        case ast.JoinedStr(values=parts):
            return "".join(literal(p) if isinstance(p, ast.Constant) else "x" * NAME for p in parts)
        case ast.Call(func=ast.Name(id="keyed"), args=[inner]):
            return re.sub(r"\{+[\w.-]+\}+", "x", literal(inner))
    return ""


def notices(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = str(getattr(node.func, "attr", getattr(node.func, "id", "")))
        place = 0 if name.endswith("Error") else SAID.get(name)
        if place is not None and len(node.args) > place:
            yield literal(node.args[place])


def test_no_sentence_of_ours_is_cut_before_it_ends() -> None:
    paths = [p for part in ("console", "core") for p in (ROOT / part).rglob("*.py")]
    found = {words for path in paths if QUOTED not in path.as_posix() for words in notices(path)}
    assert len(found) > 300
    # A sign and a space stand before it.
    assert [words for words in found if len(first(words)) > CELLS - 2] == []


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        (
            "✓ Added 1 entry. (b71d90e4; u takes it back, i says more)",
            "✓ Added 1 entry. (b71d90e4; u takes it back, i says more)",
        ),
        (
            "✓ The proposal was refused; nothing else changed. (81e5a2cc; u takes it back, i says"
            " more)",
            "✓ The proposal was refused; nothing else changed. (u takes it back)",
        ),
        (
            "✓ Added 1 entry in MEMORY.md. (81e5a2cc; u takes it back, i says more); 3 rivals left,"
            " X refuses",
            "✓ Added 1 entry in MEMORY.md. (u takes it back); 3 rivals left, X refuses",
        ),
        (
            f"✓ {'All of a first sentence is kept' + '!' * 40}. More (81e5a2cc; u takes it back)",
            f"✓ {'All of a first sentence is kept' + '!' * 40}. More (81e5a2cc; u takes it back)",
        ),
        (
            "240 approved; 1 not, its row says why; 2 others would not land any more; 3 rivals left"
            ", X refuses; u takes them back",
            "240 approved; 1 not, its row says why; 2 others would not …; u takes them back",
        ),
    ],
)
def test_a_long_notice_keeps_its_first_sentence(said: str, seen: str) -> None:
    assert _fitted(Content(said), CELLS).plain == seen


def test_a_bulk_step_with_a_failure_is_said_in_a_line() -> None:
    """A newcomer's report: "8 approved; 1 not, their rows say why; … 2 others that would…"."""
    batch = Batch("approve", 9, 0)
    for number in range(9):
        batch.add(str(number), Receipt(str(number), number < 8, "ok", "Done."))
    said, _ = batch.sentence(lost="2 others would not land any more")
    assert said == (
        "8 approved; 1 not, its row says why; 2 others would not land any more; u takes them back"
    )
    assert _fitted(Content(said), CELLS).plain.startswith("8 approved; 1 not, its row says why; 2 ")
    assert _fitted(Content(said), CELLS).plain.endswith("; u takes them back")


async def test_every_receipt_of_the_sample_begins_with_what_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with open_console(sample(tmp_path), size=(80, 24)) as console:
        names = [item.id for item in console.review.queue.items]
        for name in names[::3]:
            await console.at(name)
            for key in ("a", "r"):
                await console.press(key)
                said = console.review.said
                assert console.flash.startswith(first(said)), said
                assert not first(said).startswith(name)
