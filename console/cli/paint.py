"""What people read: rich text made of safe pieces. The only printing of the plain commands.

Every text of a home goes through :func:`core.text.safe` here, so no raw control character and no
markup reaches a terminal. Signs and words carry the meaning, colour only repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from core import text
from core.homes.hermes.status import Status
from core.model import Budget, Finding, Severity

MARKS = {
    Status.READY: ("✓", "green"),
    Status.ATTENTION: ("?", "yellow"),
    Status.NOOP: ("=", "dim"),
    Status.STALE: ("~", "dim"),
    Status.AMBIGUOUS: ("≈", "yellow"),
    Status.OVER_BUDGET: ("▲", "yellow"),
    Status.REFUSED: ("✗", "red"),
    Status.UNREADABLE: ("!", "red"),
    Status.INVALID: ("✗", "red"),
}
_SEVERITY = {
    Severity.INFO: ("·", "dim"),
    Severity.WARNING: ("!", "yellow"),
    Severity.DANGER: ("‼", "red"),
}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}
#: Diff lines shown of one file before the rest is only counted.
DIFF_LINES = 400


def stdout() -> Console:
    """Where answers go."""
    return Console(highlight=False, markup=False, emoji=False)


def stderr() -> Console:
    """Where errors and remarks go."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def plain(value: str, style: str = "") -> Text:
    """One line of any text, safe to print."""
    return Text(text.safe(value), style=style)


def clipped(value: str, cells: int) -> Text:
    """One line of any text, safe to print, cut to ``cells``."""
    return Text(text.one_line(value, cells))


def block(value: str, style: str = "") -> Text:
    """Several lines of any text, safe to print."""
    return Text(text.safe(value, lines=True), style=style)


def status(word: Status) -> Text:
    """A status as sign and word."""
    sign, style = MARKS[word]
    return Text(f"{sign} {word.replace('_', ' ')}", style=style)


def finding(found: Finding) -> Text:
    """A finding on one line."""
    sign, style = _SEVERITY[found.severity]
    where = f"  {found.at}" if found.at else ""
    return Text.assemble((f"{sign} ", style), block(found.message), (text.safe(where), "dim"))


def budget(found: Budget, width: int = 24) -> Text:
    """The budget before and after, as numbers and a bar."""
    share = found.after / found.limit if found.limit > 0 else 1.0
    full = min(width, round(share * width))
    style = "red" if share > 1 else "green"
    bar = Text("█" * full + "░" * (width - full), style=style)
    numbers = f"  {found.before:,} → {found.after:,} of {found.limit:,} characters"
    return Text.assemble(bar, numbers)


def unified(patch: str) -> Text:
    """A unified diff, signs first; long ones are cut and say so."""
    lines = patch.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    painted = Text()
    for line in lines[:DIFF_LINES]:
        style = "" if line.startswith(("+++", "---")) else _DIFF.get(line[:1], "")
        painted.append_text(plain(line, style)).append("\n")
    if len(lines) > DIFF_LINES:
        painted.append(f"… {len(lines) - DIFF_LINES:,} more lines: use --json\n", style="dim")
    return painted


def table(heads: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> Table:
    """A borderless table ``width`` cells wide: the last column is cut to what room is left."""
    made = Table(box=None, pad_edge=False, header_style="dim", expand=False)
    left = width
    for place, head in enumerate(heads[:-1]):
        cells = max([len(head), *(row[place].cell_len for row in rows)])
        made.add_column(head, no_wrap=True, width=cells)
        left -= cells + 2
    made.add_column(heads[-1], no_wrap=True, overflow="ellipsis", max_width=max(left, 8))
    for row in rows:
        made.add_row(*row)
    return made


def age(created_at: float | None, now: datetime) -> str:
    """How long ago, in the largest unit; ``unknown`` for no time or one off the calendar."""
    if created_at is None or not 0 < created_at < 253402300800:
        return "unknown"
    return span(now.timestamp() - created_at)


def span(seconds: float) -> str:
    """A length of time in its largest unit: ``40s``, ``5m``, ``7h``, ``3d``, ``8w``."""
    if seconds < 0:
        return "ahead"
    for unit, length in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= (2 * length if unit == "w" else length):
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"


def count(number: int, one: str, many: str = "") -> str:
    """``1 proposal``, ``2 proposals``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
