"""Triage as it looks. Each docstring says what has to be seen in the picture."""

from __future__ import annotations

import pytest

from tests.snapshots.conftest import MIDDLE, SMALL, Shoot

READY = "b71d90e4"
Size = tuple[int, int]
two_sizes = pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["small", "middle"])


@two_sizes
def test_refuse_the_dead(shoot: Shoot, size: Size) -> None:
    """A list with count and reasons over the queue; the keys below it; nothing is decided yet."""
    assert shoot("D", size=size)


@two_sizes
def test_filter(shoot: Shoot, size: Size) -> None:
    """The line above the queue, only stale rows below it, ``of 24`` in the title."""
    assert shoot("slash", *"status:stale", size=size)


def test_forecast(shoot: Shoot) -> None:
    """Beside three marked rows what approving them would do, with a budget curve per store."""
    assert shoot("*", size=MIDDLE)


@two_sizes
def test_edit_choices(shoot: Shoot, size: Size) -> None:
    """The parts that can be edited, each with its number and its text in one line."""
    assert shoot(f"@{READY}", "e", size=size)


def test_snooze(shoot: Shoot) -> None:
    """A line that asks until when, with examples."""
    assert shoot(f"@{READY}", "Z", size=MIDDLE)


def test_a_bulk_step_that_left_some(shoot: Shoot) -> None:
    """What became of the step in one line; rows that came back say why."""
    assert shoot("*", "a", size=MIDDLE)
