"""What vak's own search tool answers on a vak home, from its index or by a look at every line."""

from __future__ import annotations

from core.desk.opening import Opened
from core.homes.vak.recall.ranking import DEFAULT, Recalled
from core.homes.vak.recall.scoring import Scorer
from core.homes.vak.recall.search import EVERYWHERE, Request, scan

__all__ = ["DEFAULT", "EVERYWHERE", "Recalled", "Request", "Scorer", "recall"]


def recall(opened: Opened, request: Request) -> Recalled:
    """The agent's answer to ``request``."""
    return scan(opened.found.home, request, opened.clock())
