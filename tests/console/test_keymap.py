"""Keys that a person chose are those that sentences name, in every mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import console
from console import keymap
from console.actions import MODES
from console.keymap import back_again, key_of, keyed, place_of
from console.render.hints import with_keys
from console.sample.knowledge import write_store
from tests.console.pilots import NOW, open_console, sample

#: Everything under a key that no sentence has by itself.
ELSEWHERE = {name: f"f{number}" for number, name in enumerate(keymap.USUAL, 30)}
#: A key that does something, as sentences of ours put it.
NAMES_A_KEY = re.compile(
    r"(?:^|[ (,;:.])(?:[a-zA-Z/?]|esc|[Ee]scape|enter|F5)(?: once more| and [A-Z]| on a message)?"
    r" (?:takes|says|shows|lists|goes|refuses|retires|makes|brings|puts|wakes|keeps|searches|ends"
    r"|opens|loads|names|closes|adds|saves|reads|applies|asks|tries|changes|clears)\b"
)
#: Sheets and lines that are typed in have keys of their own, which nobody can change.
FIXED = {
    "a number or enter chooses, esc leaves all as it is",
    "a number or enter does it, tab reads, esc leaves all",
    "enter opens it, esc leaves all as it is",
    "enter keeps it, tab goes on, esc leaves all as it is",
    "keeps it, ctrl+t takes it away",
    "enter keeps the filter, esc takes it off",
    "tab completes source: role: after: before: title: in:, enter goes to the hits",
    "esc closes this, the console goes on; {app.reload} reads the home again.",
    "esc closes",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


@pytest.fixture
def elsewhere() -> Iterator[dict[str, str]]:
    keymap.choose(ELSEWHERE)
    yield ELSEWHERE
    keymap.choose({})


def sentences() -> Iterator[str]:
    """Every text in the console's source that is not a docstring."""
    root = Path(console.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in ("cli", "mcp", "sample", "actions.py", "keymap.py"):
            continue
        tree = ast.parse(path.read_text())
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) and id(node) not in told else ""
            if isinstance(text, str) and " " in text:
                yield text


def test_a_sentence_names_the_usual_key_or_the_chosen_one() -> None:
    assert keyed("{app.undo} takes it back, {other} stays") == "u takes it back, {other} stays"
    assert back_again() == "u takes it back, i says more"
    assert keyed("{sessions.let.hidden} {review.filter}") == "H /"
    keymap.choose({"app.undo": "ctrl+z,u", "app.mode.journal": "f8", "review.reject": "delete"})
    try:
        assert back_again("them") == "ctrl+z takes them back, i says more"
        assert place_of("journal") == "Journal (f8)"
        assert with_keys("`signoff reject x` or `signoff undo`") == (
            "delete (refuse) or ctrl+z (undo)"
        )
    finally:
        keymap.choose({})
    assert key_of("app.undo") == "u"


def test_no_sentence_names_a_key_by_itself() -> None:
    told = [each for each in sentences() if NAMES_A_KEY.search(each) and each not in FIXED]
    assert told == []


def test_every_id_in_a_sentence_is_one_of_an_action() -> None:
    named = {name for each in sentences() for name in keymap._NAMED.findall(each)}
    assert len(named) > 30
    assert [name for name in sorted(named) if not key_of(name)] == []


async def test_all_keys_elsewhere_are_named_in_every_mode(
    home: Path, elsewhere: dict[str, str]
) -> None:
    """A sentence said "u takes it back" whatever key did that."""
    write_store(home.parent, NOW)
    seen: list[str] = []
    async with open_console(home, keys=elsewhere) as terminal:

        async def press(*ids: str) -> None:
            await terminal.press(*(elsewhere.get(name, name) for name in ids))
            seen.append(terminal.picture)

        back = f"{elsewhere['app.undo']} takes it back, {elsewhere['app.receipt']} says more"
        await press("review.reject")
        assert terminal.flash.endswith(f"; {back})")
        await press("space", "review.reject")
        await press("review.filter", *"nosuchword", "enter")
        await press("review.close", "app.receipt")
        await press("escape", "app.mode.memory", "memory.forget")
        assert back in terminal.flash
        await press("app.undo", "memory.normalise")
        await press("app.mode.journal", "journal.put_away")
        await press("app.mode.skills", "skills.other_side", "skills.archive")
        await press("skills.other_side", "skills.pin")
        await press("app.mode.sessions")
        assert f"cron runs: {elsewhere['sessions.let.cron']}" in terminal.picture
        await press("sessions.search", *"nosuchword", "enter")
        assert f"{elsewhere['sessions.close']} ends the search" in terminal.picture
        await press("sessions.close", "sessions.bookmarks", "sessions.views")
        await press("app.mode.knowledge", "knowledge.open")
        assert f"{elsewhere['knowledge.retire']} retires it" in terminal.picture
        await press("knowledge.merge")
        await press("escape")
        for mode in MODES:
            await press(f"app.mode.{mode}", "app.help")
            await press("escape")
    for picture in seen:
        for fixed in FIXED:
            picture = picture.replace(fixed, "")
        assert NAMES_A_KEY.search(re.sub("[│┃]", "\n", picture)) is None, picture
        assert keymap._NAMED.search(picture) is None, picture
