"""What the findings of a proposal are about, in the texts that its preview shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from console.render.spots import Spot, Spots, spots_of
from core.homes.hermes.memory.entries import normalise_line_ends
from core.model import Change, EntryChange, Outcome

#: Names of texts by the field they stand in.
Names = Mapping[str, str]
#: The whole text of a file, by what a skill record does.
_WHOLE = {"create": "content", "edit": "content", "write_file": "file_content"}


def preview_spots(outcome: Outcome, payload: Mapping[str, object], names: Names) -> Spots:
    """Spots by the path of a change, ``entry 0`` of the entries, or the name of a proposed text.

    ``names`` are those of the proposed texts, by their field (``content``,
    ``operations.2.content``).
    """
    found = spots_of(outcome.findings)
    made = {names.get(place, place): spots for place, spots in found.items()}
    for change in outcome.changes if outcome.entries else ():
        if isinstance(change, Change) and change.after is not None and change.path in found:
            text = normalise_line_ends(change.after.data.decode("utf-8", "replace"))
            made |= _in_entries(text, outcome.entries, found[change.path])
    whole = _WHOLE.get(str(payload.get("action")), "")
    if not outcome.changes and whole in names:
        for place, spots in found.items():
            if place.endswith(_file_of(payload)):
                made[names[whole]] = spots
    return made


def _file_of(payload: Mapping[str, object]) -> str:
    path = payload.get("file_path")
    written = payload.get("action") == "write_file" and isinstance(path, str)
    return f"/{path}" if written else "/SKILL.md"


def _in_entries(
    text: str, entries: Sequence[EntryChange], spots: Sequence[Spot]
) -> dict[str, tuple[Spot, ...]]:
    """``spots`` of a memory file as spots of the entries that came into it."""
    made: dict[str, tuple[Spot, ...]] = {}
    for number, pair in enumerate(entries):
        entry = pair.after or ""
        for start in _places(text, entry):
            end = start + len(entry)
            inside = [spot for spot in spots if start <= spot.start and spot.end <= end]
            made[f"entry {number}"] = tuple(
                Spot(spot.start - start, spot.end - start, spot.severity) for spot in inside
            )
    return made


def _places(text: str, entry: str) -> Iterator[int]:
    """Where ``entry`` stands whole between the marks that separate entries: once, or not at all."""
    start = text.find(entry) if entry else -1
    while start >= 0:
        above, below = text[:start].rstrip(), text[start + len(entry) :].lstrip()
        if (not above or above.endswith("\n§")) and (not below or below.startswith("§\n")):
            yield start
            return
        start = text.find(entry, start + 1)
