"""The tree in a ledger: which entries the agent still sees, which a summary stands for."""

from __future__ import annotations

from collections.abc import Mapping

from core.conversations import Visibility
from core.homes.vak.ledgers import COMPACTION, HEADER, Entry, Ledger


def visibilities(ledger: Ledger) -> dict[int, Visibility]:
    """``line number -> visibility`` of every entry.

    The active chain is the walk from the last entry to its root. An entry off it was taken back by
    branching; one on it, before what the newest compaction kept, is summarised. An entry whose
    parent is not named, or whose parent's line cannot be read, follows the one before it.
    """
    chain = _chain(ledger)
    kept = _first_kept(chain)
    found = {entry.line.number: Visibility.UNDONE for entry in ledger.entries}
    for place, entry in enumerate(chain):
        stands = place >= kept or entry.kind == HEADER
        found[entry.line.number] = Visibility.LIVE if stands else Visibility.SUMMARISED
    return found


def _chain(ledger: Ledger) -> list[Entry]:
    """The active chain from its root to the last entry."""
    if not ledger.entries:
        return []
    by_id: dict[str, Entry] = {}
    before: dict[int, Entry] = {}
    last: Entry | None = None
    for entry in ledger.entries:
        by_id.setdefault(entry.id, entry)
        if last is not None:
            before[entry.line.number] = last
        last = entry
    chain: list[Entry] = []
    seen: set[int] = set()
    here = last
    while here is not None and here.line.number not in seen:
        seen.add(here.line.number)
        chain.append(here)
        here = _above(here, by_id, before)
    chain.reverse()
    return chain


def _above(entry: Entry, by_id: Mapping[str, Entry], before: Mapping[int, Entry]) -> Entry | None:
    if entry.parent is not None and entry.parent in by_id:
        return by_id[entry.parent]
    if entry.parent is None and not entry.chained:
        return None
    return before.get(entry.line.number)


def _first_kept(chain: list[Entry]) -> int:
    """The place in the chain before which a summary stands for everything but the header."""
    for compaction in reversed(chain):
        if compaction.kind != COMPACTION:
            continue
        wanted = compaction.fields.get("first_kept_entry_id")
        for place, entry in enumerate(chain):
            if entry.id == wanted:
                return place
        return chain.index(compaction)
    return 0
