"""Which notes a change of a file added, took out or gave another text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from core.homes.vak.notes.grammar import Block, parse
from core.model import EntryChange


def differing(old: str, new: str) -> Iterator[EntryChange]:
    """Notes with another text under the same heading, then those that went, then those that
    came. Of equal headings the first belong together."""
    before, after = _notes(old), _notes(new)
    for key, block in before.items():
        if key in after and after[key].body != block.body:
            yield EntryChange(block.body, after[key].body)
    yield from (EntryChange(block.body, None) for key, block in before.items() if key not in after)
    yield from (EntryChange(None, block.body) for key, block in after.items() if key not in before)


def _notes(text: str) -> dict[tuple[str, int], Block]:
    """Notes by their heading, and which of that heading they are."""
    times: Counter[str] = Counter()
    found = {}
    for block in parse(text):
        if block.is_note:
            found[block.id, times[block.id]] = block
            times[block.id] += 1
    return found
