"""What people read: rich text made of safe pieces. The only printing of the plain commands.

Every text of a home goes through :func:`core.text.safe` here, so no raw control character and no
markup reaches a terminal. Signs and words carry the meaning, colour only repeats it.

``room`` is the width in cells that lines are wrapped to; 0 leaves them whole (a pipe).
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from console import ages
from console.cli.streams import let_go, printing
from core import text
from core.clock import is_date
from core.homes.hermes.status import Status
from core.model import Finding, Severity

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
MEANINGS = {
    Status.READY: "would land as it is",
    Status.ATTENTION: "would land, but read the warning: approving it by id applies it",
    Status.NOOP: "would change nothing",
    Status.STALE: "what it wants to change is not there any more",
    Status.AMBIGUOUS: "fits more than one place",
    Status.OVER_BUDGET: "does not fit into the store",
    Status.REFUSED: "a rule of the agent or a guard forbids it",
    Status.UNREADABLE: "a file it needs cannot be read",
    Status.INVALID: "the proposal itself is broken",
}
_SEVERITY = {
    Severity.INFO: ("·", "dim"),
    Severity.WARNING: ("!", "yellow"),
    Severity.DANGER: ("‼", "red"),
}
#: What stands for our own signs on a terminal that cannot draw them: as many cells.
_PLAINER = str.maketrans("✓✗≈▲‼·→█░…⏎“”‘’—×⟨⟩§", "+x~^!->#.~/\"\"''-x<>S")
#: Fewer cells than this are no room for a line of text.
NARROWEST = 16
#: An id wider than this stands on a line of its own.
WIDEST_ID = 24
#: Rich is told this width: lines are wrapped here, by :func:`hang`, or not at all.
WHOLE = 10_000
#: Cells of a summary where nothing limits the line.
SUMMARY = 160


def stdout() -> Console:
    """Where answers go."""
    return Console(width=WHOLE, highlight=False, markup=False, emoji=False, soft_wrap=True)


def room() -> int:
    """Cells of a line on stdout: ``COLUMNS``, else the terminal's; 0 when it is none."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns) > 0:
        return max(int(columns), NARROWEST)
    return max(shutil.get_terminal_size().columns, NARROWEST) if sys.stdout.isatty() else 0


def say(lines: Iterable[Text]) -> None:
    """Print lines that fit already."""
    out = stdout()
    with printing():
        for line in lines:
            line.rstrip()
            out.print(line)


def tell(value: str, style: str = "") -> None:
    """Print one paragraph of any text, wrapped."""
    say(hang(Text(), plain(value, style), room()))


def hint(label: str, line: str) -> None:
    """Print a command to copy, never wrapped: a break would go with it."""
    say([plain(f"{label}: {line}", "dim")])


def remark(value: str) -> None:
    """One line on stderr; where that takes none, it is dropped: the answer matters more."""
    try:
        sys.stderr.write(f"signoff: {text.safe(value.rstrip('.'))}.\n")
        sys.stderr.flush()
    except OSError:
        let_go(sys.stderr)


def plain(value: str, style: str = "") -> Text:
    """One line of any text, safe to print."""
    return Text(text.safe(value), style=style)


def clipped(value: str, cells: int) -> Text:
    """One line of any text, safe to print, cut to ``cells``."""
    return Text(text.one_line(value, cells))


def block(value: str, style: str = "") -> Text:
    """Several lines of any text, safe to print."""
    return Text(text.safe(value, lines=True), style=style)


def hang(lead: Text, body: Text, room: int) -> list[Text]:
    """``body`` wrapped behind ``lead``, every further line indented as far as the first."""
    indent = lead.cell_len if not room or lead.cell_len <= room // 2 else 2
    if room:
        wide = max(room - indent, NARROWEST // 2)
        lines = list(body.wrap(_RULER, wide, overflow="fold")) or [Text()]
    else:
        lines = list(body.split("\n", allow_blank=True)) or [Text()]
    gap = Text(" " * indent)
    first = [lead + lines[0]] if indent == lead.cell_len else [lead, gap + lines[0]]
    return [*first, *(gap + line for line in lines[1:])]


# A height too: rich would read LINES, whatever it holds.
_RULER = Console(file=None, width=NARROWEST, height=1)


def status(word: Status) -> Text:
    """A status as sign and word."""
    sign, style = MARKS[word]
    return Text(f"{sign} {word.replace('_', ' ')}", style=style)


def finding(found: Finding, room: int, indent: int = 0) -> list[Text]:
    """A finding behind its sign, its place last and dim."""
    sign, style = _SEVERITY[found.severity]
    body = block(found.message)
    if found.at:
        body.append_text(plain(f"  ({found.at})", "dim"))
    return hang(Text(" " * indent) + Text(f"{sign} ", style=style), body, room)


def table(
    heads: Sequence[str], rows: Sequence[Sequence[Text]], room: int, spare: Sequence[str] = ()
) -> list[Text]:
    """Columns two cells apart, the last cut to what is left.

    Where that is too little, the columns named in ``spare`` are left out one by one. A first cell
    wider than :data:`WIDEST_ID` stands alone above its row: it is never cut.
    """
    kept = list(range(len(heads)))
    widths = [
        max(len(head), *(_cells(row[at]) for row in rows)) if rows else len(head)
        for at, head in enumerate(heads)
    ]
    widths[0] = max([len(heads[0]), *(_cells(r[0]) for r in rows if _cells(r[0]) <= WIDEST_ID)])
    for name in spare:
        if not room or _left(kept, widths, room) >= 2 * NARROWEST:
            break
        kept.remove(heads.index(name))
    last = max(_left(kept, widths, room), NARROWEST // 2) if room else SUMMARY
    lines = [_row([Text(head, style="dim") for head in heads], kept, widths, last)]
    for row in rows:
        if _cells(row[0]) > widths[0]:
            lines.append(row[0])
            row = [Text(), *row[1:]]
        lines.append(_row(row, kept, widths, last))
    return lines


def _left(kept: Sequence[int], widths: Sequence[int], room: int) -> int:
    return room - sum(widths[at] + 2 for at in kept[:-1])


def _row(row: Sequence[Text], kept: Sequence[int], widths: Sequence[int], last: int) -> Text:
    line = Text()
    for at in kept[:-1]:
        line.append_text(row[at]).append(" " * (widths[at] - _cells(row[at]) + 2))
    cell = row[kept[-1]]
    line.append(text.clip(cell.plain, last), style=cell.style)
    return line


def _cells(cell: Text) -> int:
    return text.width(cell.plain)


def age(created_at: float | None, now: datetime) -> str:
    """How long ago, in the largest unit; ``unknown`` for no time or one off the calendar."""
    return span(now.timestamp() - created_at) if is_date(created_at) else "unknown"


def moment(at: float | None) -> str:
    """A date and time where the person is; empty for none, or one off the calendar."""
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M}" if is_date(at) else ""


def span(seconds: float) -> str:
    """A length of time in its largest unit: ``40s``, ``5m``, ``7h``, ``3d``, ``8w``."""
    return ages.span(seconds) or "ahead"


def count(number: int, one: str, many: str = "") -> str:
    """``1 proposal``, ``2 proposals``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def word(value: str) -> str:
    """``value`` as one word of a shell line: what is printed can be copied and run."""
    if text.safe(value) == value:
        return shlex.quote(value)
    escaped = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in value.encode("utf-8", "surrogateescape")
    )
    return f"$'{escaped}'"


def command(globals_: Sequence[str], name: str, *ids: str) -> str:
    """A command line to copy: ids that look like options stand behind ``--``."""
    behind = ["--"] if any(each.startswith("-") for each in ids) else []
    return " ".join(["signoff", *map(word, [*globals_, name]), *behind, *map(word, ids)])


def plainer(problem: UnicodeError) -> tuple[str, int]:
    """The codec error handler of our streams: plainer signs, then backslash escapes."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    missing = problem.object[problem.start : problem.end].translate(_PLAINER)
    return missing.encode("ascii", "backslashreplace").decode("ascii"), problem.end
