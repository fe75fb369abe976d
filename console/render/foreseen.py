"""What approving the marked rows would do, in order, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.keymap import keyed
from console.render import ink
from console.render.hints import with_keys
from console.render.line import Line, wrapped

#: Steps of a curve that are drawn; of a longer one every so manieth, and the last.
BARS = 40
_HEIGHTS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Turn:
    """One row at its turn: whether it lands, and what is said about it."""

    id: str
    lands: bool
    message: str


@dataclass(frozen=True, slots=True)
class Store:
    """A store's size at the start and after each turn, in characters."""

    target: str
    limit: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """All a forecast shows. ``first`` is the place of the first that fails; ``advice`` sentences
    say what would do better."""

    turns: tuple[Turn, ...]
    stores: tuple[Store, ...]
    first: int | None
    advice: tuple[str, ...]


def foreseen_lines(shown: Foreseen, width: int) -> tuple[Line, ...]:
    """The forecast in ``width`` cells."""
    return tuple(_lines(shown, width))


def bars(store: Store) -> str:
    """The curve as one sign a step, a full one for a full store."""
    sizes = store.sizes
    if len(sizes) > BARS:
        last = len(sizes) - 1
        sizes = tuple(sizes[place * last // (BARS - 1)] for place in range(BARS))
    top = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[min(top, size * top // max(1, store.limit))] for size in sizes)


def _lines(shown: Foreseen, width: int) -> Iterator[Line]:
    count, lands = len(shown.turns), sum(turn.lands for turn in shown.turns)
    title = f"If the {count:,} marked were approved, in this order"
    yield Line(ink.line(title, ink.TITLE), anchor="forecast")
    none = keyed("None would land: {review.reject} refuses all that are marked")
    outcome = f"{lands:,} would land" if lands else none
    if 0 < lands < count:
        outcome += f", {count - lands:,} would not and stay"
    yield Line(ink.line(outcome, ink.GOOD if lands == count else ink.WARNING))
    yield Line(Content(""))
    for store in shown.stores:
        said = f"{store.target}  {bars(store)}  {store.sizes[0]:,} → {store.sizes[-1]:,}"
        yield from _flow(ink.line(f"{said} of {store.limit:,} characters"), width)
    if shown.first is not None:
        turn = shown.turns[shown.first]
        said = f"The first that fails is {turn.id}, number {shown.first + 1}: "
        said += with_keys(turn.message)
        yield from _flow(ink.line(said, ink.WARNING), width)
    for sentence in shown.advice:
        yield from _flow(ink.line(with_keys(sentence)), width)
    if shown.stores or shown.advice or shown.first is not None:
        yield Line(Content(""))
    for turn in shown.turns:
        sign = Content.styled("✓ ", ink.GOOD) if turn.lands else Content.styled("✗ ", ink.DANGER)
        said = with_keys(turn.message)
        row = Content.assemble(sign, ink.line(f"{turn.id}  "), ink.line(said, ink.LABEL))
        yield from _flow(row, width, rest="  ")


def _flow(content: Content, width: int, rest: str = "") -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width, rest=rest))


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in a sentence; more than ``most`` are only counted."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
