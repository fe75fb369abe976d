"""Putting records off and taking that back, while nothing else was decided since.

Sleep is no decision: it is not in the journal. Who put something off by mistake still wants the
same key to bring it back that takes decisions back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.desk.decisions import snooze
from core.desk.opening import Opened
from core.homes.hermes.proposals import pin_key
from core.sightings import OUTSIDE


@dataclass(frozen=True, slots=True)
class Nap:
    """A record that was put off or woken: its token, and until when it slept before.

    ``before`` is ``None`` for one that was awake. ``entry``: the newest decision then, 0 for none.
    """

    token: str
    before: datetime | None
    entry: int


def put_off(opened: Opened, token: str, until: datetime | None) -> Nap:
    """Let a record sleep until then, or wake it (``None``). Raises as :func:`decisions.snooze`."""
    journal, home = opened.journal, str(opened.found.home)
    slept = journal.snoozes(home)
    before = slept.get(pin_key(snooze(opened, token, until)))
    return Nap(token, before if before and before > opened.clock() else None, _newest(opened))


def is_newest(opened: Opened, naps: Sequence[Nap]) -> bool:
    """Whether nothing was decided, and nothing taken back, since the last of ``naps``."""
    return bool(naps) and naps[-1].entry == _newest(opened)


def put_back(opened: Opened, nap: Nap) -> None:
    """Let a record sleep as it did before, or be awake. Raises as :func:`decisions.snooze`."""
    awake = nap.before is None or nap.before <= opened.clock()
    snooze(opened, nap.token, None if awake else nap.before)


def _newest(opened: Opened) -> int:
    entries = opened.journal.entries(str(opened.found.home))
    return next((entry.id for entry in entries if entry.verb != OUTSIDE), 0)
