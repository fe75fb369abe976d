"""What vak's own search tool answers on a vak home, from its index or by a look at every line."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from core.desk.indexing import index_folder
from core.desk.opening import Opened
from core.homes.vak.index.asking import Recall
from core.homes.vak.recall.ranking import DEFAULT, Recalled
from core.homes.vak.recall.scoring import Scorer
from core.homes.vak.recall.search import EVERYWHERE, Request, scan

__all__ = ["DEFAULT", "EVERYWHERE", "Recalled", "Request", "Scorer", "recall"]


def recall(opened: Opened, request: Request) -> Recalled:
    """The agent's answer to ``request``: by the index as far as it reaches, to the same effect."""
    home, now = opened.found.home, opened.clock()
    if not opened.settings.search_index:
        return scan(home, request, now)
    return _recall(home, index_folder(opened)).recall(request, now)


@cache
def _recall(home: Path, folder: Path) -> Recall:
    # Kept: opening an index costs more than a question.
    return Recall(home, folder)
