"""What a decision on skills would do, before it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import file_lines, finding_lines
from core.model import Change, Finding, Outcome, Severity

#: Findings on a rollback that only repeat its lists.
_LISTED = frozenset({"packages", "pins_lost", "counts_lost", "jobs_restored"})
#: Folders named of each kind in the preview of a rollback.
NAMED = 30
_WHAT_IF = "With other thresholds, only to look: signoff curate --stale-after 14 --archive-after 60"


@dataclass(frozen=True, slots=True)
class CurateItem:
    """One skill of a foreseen run. ``becomes`` is empty for one that is left as it is."""

    name: str
    before: str
    becomes: str
    why: str
    moved: str
    references: tuple[str, ...]


def plan_lines(
    outcome: Outcome,
    width: int,
    *,
    against: tuple[str, Sequence[Change]] = ("", ()),
) -> tuple[Line, ...]:
    """One plan: what would move, what is said about it, and a copy beside the live skill."""
    return anchored(_plan(outcome, against, width))


def several_lines(outcomes: Sequence[Outcome], width: int) -> tuple[Line, ...]:
    """Several plans made as one step; those that would not land are left out of it, and said."""
    return anchored(_several(outcomes, width))


def curate_lines(
    outcome: Outcome, items: Sequence[CurateItem], checked: int, width: int
) -> tuple[Line, ...]:
    """A run of the curator, skill by skill: who changes and why, then who is held and by what."""
    return anchored(_curate(outcome, items, checked, width))


def rollback_lines(
    outcome: Outcome, folders: Sequence[tuple[str, Sequence[str]]], width: int
) -> tuple[Line, ...]:
    """What putting a snapshot back changes; ``folders`` holds a title and the packages under it."""
    return anchored(_rollback(outcome, folders, width))


def _plan(outcome: Outcome, against: tuple[str, Sequence[Change]], width: int) -> Iterator[Line]:
    # Nothing is done yet: the sign of what was done would say so.
    sign, style = ("→ ", ink.TITLE) if outcome.lands else ("✗ ", ink.DANGER)
    yield from _flow(Content.assemble((sign, style), ink.block(outcome.message)), width)
    for found in _first_warnings(outcome.findings):
        yield from finding_lines(found, width)
    live, changes = against
    if live:
        yield Line(Content(""))
        said = f"Beside the live {live}: - is live, + is this copy"
        same = f"The live {live} holds the same files"
        yield from _flow(ink.line(said if changes else same, ink.TITLE), width)
        yield from file_lines(changes, width, split=False, folded=True)


def _several(outcomes: Sequence[Outcome], width: int) -> Iterator[Line]:
    for outcome in sorted(outcomes, key=lambda each: not each.lands):
        yield from _plan(outcome, ("", ()), width)


def _curate(
    outcome: Outcome, items: Sequence[CurateItem], checked: int, width: int
) -> Iterator[Line]:
    yield from _plan(outcome, ("", ()), width)
    changed = [item for item in items if item.becomes]
    held = [item for item in items if not item.becomes]
    for item in changed:
        yield Line(Content(""))
        head = Content.assemble(
            ink.line(item.name, ink.TITLE),
            ink.line(f"  {item.before} → "),
            ink.line(item.becomes, ink.WARNING),
        )
        for number, piece in enumerate(wrapped(head, width)):
            yield Line(piece, anchor=item.name if number == 0 else None)
        yield from _flow(ink.line(item.why), width, "  ")
        if item.moved:
            yield from _flow(ink.line(item.moved, ink.LABEL), width, "  ")
        for each in item.references:
            yield from _flow(ink.line(f"! still used by {each}", ink.WARNING), width, "  ")
    if held:
        yield Line(Content(""))
        yield Line(Content.styled("Left as they are", ink.TITLE), anchor="held")
        for item in held:
            said = Content.assemble(ink.line(item.name), ink.line(f"  {item.why}", ink.LABEL))
            yield from _flow(said, width, "  ")
    yield Line(Content(""))
    looked = "1 skill" if checked == 1 else f"{checked:,} skills"
    yield from _flow(ink.line(f"{looked} looked at. Undo takes all of it back.", ink.LABEL), width)
    yield from _flow(ink.line(_WHAT_IF, ink.LABEL), width)


def _rollback(
    outcome: Outcome, folders: Sequence[tuple[str, Sequence[str]]], width: int
) -> Iterator[Line]:
    # What findings count and cut short is listed below in full.
    plain = replace(outcome, findings=tuple(f for f in outcome.findings if f.code not in _LISTED))
    yield from _plan(plain, ("", ()), width)
    for title, names in folders:
        if not names:
            continue
        yield Line(Content(""))
        yield Line(Content.styled(f"{title} ({len(names):,})", ink.TITLE), anchor=title)
        for each in names[:NAMED]:
            yield from _flow(ink.line(each), width, "  ")
        if len(names) > NAMED:
            yield Line(Content.styled(f"  ⋯ {len(names) - NAMED:,} more", ink.LABEL))


def _first_warnings(findings: Sequence[Finding]) -> list[Finding]:
    order = (Severity.DANGER, Severity.WARNING, Severity.INFO)
    return sorted(findings, key=lambda found: order.index(found.severity))


def _flow(content: Content, width: int, first: str = "") -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width, first=first))
