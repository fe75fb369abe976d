"""The journal with bulk steps, searches and what others wrote. Each docstring says what to see."""

from __future__ import annotations

from core.journal import Journal, State
from tests.console.pilots import JOURNAL_MODE, Console
from tests.snapshots.conftest import Shoot

USER, SKILL, PATCH = "b71d90e4", "1a6fd3b8", "c31e9f60"


async def bulk(console: Console) -> None:
    for name in (USER, SKILL):
        console.review.queue.mark((await console.at(name)).key, on=True)
    await console.press("a")


async def written_by_another(console: Console) -> None:
    console.app.note_outside()
    await console.settle()
    user = console.home / "memories/USER.md"
    user.write_text(user.read_text() + "\n§\nA fact from elsewhere.")
    console.app.note_outside()
    await console.settle()


def torn(console: Console) -> None:
    Journal(console.state).close(1, State.TORN, "torn", "USER.md holds bytes nobody here wrote")


def test_journal_bulk_and_outside(shoot: Shoot) -> None:
    """Another writer's change on top, with its own sign and why it is not undone; two parts."""
    assert shoot(bulk, written_by_another, JOURNAL_MODE)


def test_journal_torn(shoot: Shoot) -> None:
    """The torn entry first, in red, with what to do about it."""
    assert shoot(bulk, torn, Console.reload, JOURNAL_MODE, "g")


def test_journal_searched(shoot: Shoot) -> None:
    """The title says what is looked for; one of two is left."""
    assert shoot(bulk, JOURNAL_MODE, "slash", *USER, "enter")


def test_journal_rates(shoot: Shoot) -> None:
    """A sheet: origins with bar, share and counts."""
    assert shoot(bulk, f"@{PATCH}", "r", JOURNAL_MODE, "t")
