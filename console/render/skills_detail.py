"""One skill, live or archived, in full: what it is, what becomes of it, who needs it, its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from console.keymap import keyed
from console.render import ink, spark
from console.render.line import Line, anchored, wrapped
from console.render.markdown import markdown_lines, raw_lines
from console.render.preview import file_lines, finding_lines
from console.render.skills import HIDDEN, ODD, PINNED, STATES
from core.model import Change, Finding

#: Cells of the chart at most, and files listed of one package.
CHART, FILES = 48, 200
#: Findings on what a SKILL.md says.
OF_THE_TEXT = frozenset(
    {
        *("broken_frontmatter", "inline_shell", "name_format", "description_length"),
        *("no_description", "platforms_value", "missing_section", "incident_log_shape"),
        *("dangling_reference",),
    }
)


@dataclass(frozen=True, slots=True)
class Uses:
    """Counters and dates in words, and the uses so far by Unix seconds; ``until`` is now.

    ``points`` are what counters said, ``calls`` what stands in past conversations; each is drawn,
    with a sentence that says where it comes from.
    """

    said: tuple[str, ...] = ()
    points: tuple[tuple[float, int], ...] = ()
    until: float = 0.0
    span: str = ""
    calls: tuple[tuple[float, int], ...] = ()
    called: str = ""


@dataclass(frozen=True, slots=True)
class FileItem:
    """One thing in a package: its path inside, permission bits, bytes (0 for folders)."""

    path: str
    mode: int
    size: int
    kind: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What the table knows of a skill, in sentences: it is on screen at once.

    ``fate`` is what the next run does and why, ``forecast`` the dates, ``limits`` the thresholds
    and where they come from. ``identity`` is said where head and folder differ.
    """

    name: str
    folder: str
    state: str
    pinned: bool
    origin: str
    description: str
    identity: str
    fate: str
    forecast: str
    limits: str
    hidden: str
    findings: tuple[Finding, ...]
    proposals: int = 0
    editable: bool = False


@dataclass(frozen=True, slots=True)
class ArchiveSummary:
    """What the archive's table knows of a package. ``to`` is where it would go."""

    name: str
    folder: str
    since: str
    original: str
    to: str
    ok: bool
    why: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """What has to be read for one skill. ``events`` are when, what, and who says so.

    ``files`` are of the package; ``against`` is what differs from a live skill in its way.
    """

    text: str
    files: tuple[FileItem, ...]
    uses: Uses = Uses()
    references: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    events: tuple[tuple[str, str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    against: tuple[str, tuple[Change, ...]] = field(default=("", ()))


def skill_lines(
    shown: Summary, detail: Detail | None, width: int, *, raw: bool = False
) -> tuple[Line, ...]:
    """A live skill in ``width`` cells; without ``detail`` what the table knows."""
    return anchored(_skill(shown, detail, width, raw))


def archive_lines(
    shown: ArchiveSummary, detail: Detail | None, width: int, *, raw: bool = False
) -> tuple[Line, ...]:
    """A package of the archive in ``width`` cells."""
    return anchored(_archived(shown, detail, width, raw))


def _skill(shown: Summary, detail: Detail | None, width: int, raw: bool) -> Iterator[Line]:
    sign, style = STATES.get(shown.state, ODD)
    head = Content.assemble(
        ink.line(shown.name, ink.TITLE),
        (f"  {sign} ", style),
        ink.line(shown.state, style),
        (f"  {PINNED} pinned" if shown.pinned else "", ink.ACCENT),
        ink.line(f"  {shown.origin}", ink.LABEL),
    )
    yield from _flow(head, width)
    yield from _flow(ink.line(shown.folder, ink.LABEL), width)
    if shown.identity:
        yield from _flow(ink.line(shown.identity, ink.WARNING), width)
    if shown.description:
        yield from _flow(ink.line(shown.description), width)
    yield from _title("What becomes of it", width)
    yield from _flow(ink.line(shown.fate), width)
    if shown.forecast:
        yield from _flow(ink.line(shown.forecast), width)
    if shown.limits:
        yield from _flow(ink.line(shown.limits, ink.LABEL), width)
    if shown.hidden:
        said = f"{HIDDEN} The agent is not offered it. {shown.hidden}"
        yield from _flow(ink.line(said, ink.WARNING), width)
    if count := shown.proposals:
        many = "1 proposal waits" if count == 1 else f"{count} proposals wait"
        said = keyed(f"! {many} that would change it: {{skills.review}} goes there")
        yield from _flow(ink.line(said, ink.WARNING), width)
    findings = (*shown.findings, *(detail.findings if detail else ()))
    if findings:
        yield from _title("What to know", width)
        for found in findings:
            yield from finding_lines(found, width)
        if shown.editable and any(found.code in OF_THE_TEXT for found in findings):
            said = keyed("{skills.edit} changes its text, {skills.raw} numbers its lines.")
            yield from _flow(ink.line(said, ink.LABEL), width)
    if detail is None:
        yield Line(Content(""))
        yield Line(Content.styled("Reading the package…", ink.LABEL))
        return
    yield from _listed("Who refers to it", detail.references, width, "Nothing that signoff knows.")
    yield from _uses(detail.uses, width)
    yield from _listed("Copies in the archive", detail.copies, width)
    yield from _package(detail, width, raw)


def _archived(
    shown: ArchiveSummary, detail: Detail | None, width: int, raw: bool
) -> Iterator[Line]:
    head = Content.assemble(
        ink.line(shown.name, ink.TITLE), ("  ○ archived", ink.LABEL), ink.line(f"  {shown.since}")
    )
    yield from _flow(head, width)
    yield from _flow(ink.line(shown.folder, ink.LABEL), width)
    yield from _title("Where it goes", width)
    sign, style = ("✓", ink.GOOD) if shown.ok else ("✗", ink.WARNING)
    yield from _flow(Content.assemble((f"{sign} ", style), ink.line(shown.to)), width)
    if not shown.ok:
        yield from _flow(ink.line(shown.why, ink.WARNING), width)
    if shown.original:
        yield from _flow(ink.line(f"It lay in {shown.original}", ink.LABEL), width)
    if shown.findings:
        yield from _title("What to know", width)
        for found in shown.findings:
            yield from finding_lines(found, width)
    if detail is None:
        yield Line(Content(""))
        yield Line(Content.styled("Reading the package…", ink.LABEL))
        return
    live, changes = detail.against
    if live:
        yield from _title(f"Beside the live {live}", width)
        same = "Both hold the same files." if not changes else "- is live, + is this copy."
        yield from _flow(ink.line(same, ink.LABEL), width)
        yield from file_lines(changes, width, split=False, folded=True)
    yield from _listed("Other copies", detail.copies, width)
    yield from _uses(detail.uses, width)
    yield from _package(detail, width, raw)


def _package(detail: Detail, width: int, raw: bool) -> Iterator[Line]:
    yield from _title("Files", width)
    yield from _files(detail.files, width)
    yield from _title("SKILL.md, as it is stored" if raw else "SKILL.md", width)
    yield from (raw_lines if raw else markdown_lines)(detail.text.rstrip("\n"), width)
    if detail.events:
        yield from _title("What happened to it", width)
        for when, said, source in detail.events:
            what = Content.assemble(
                ink.line(said), ink.line(f"  {source}", ink.LABEL) if source else ""
            )
            yield from _flow(what, width, f"{when}  ")


def _uses(uses: Uses, width: int) -> Iterator[Line]:
    if not uses.said and not uses.points and not uses.called:
        return
    yield from _title("How it is used", width)
    for points, said in ((uses.calls, uses.called), (uses.points, uses.span)):
        if len(points) > 1:
            cells = min(CHART, max(8, width - 2))
            found = spark.rates(points, points[0][0], uses.until, cells)
            yield Line(Content.styled(spark.bars(found), ink.ACCENT))
        if said:
            yield from _flow(ink.line(said, ink.LABEL), width)
    for said in uses.said:
        yield from _flow(ink.line(said), width)


def _files(files: Sequence[FileItem], width: int) -> Iterator[Line]:
    for each in files[:FILES]:
        depth = each.path.count("/")
        own = each.path.rpartition("/")[2]
        sign = {"dir": "/", "link": " →", "file": ""}.get(each.kind, " ?")
        left = Content("  " * min(depth, 8)) + ink.line(own + sign)
        size = "" if each.kind == "dir" else f"{each.size:,} B"
        right = Content.styled(f"{size}  {each.mode:03o}" if each.mode else size, ink.LABEL)
        room = max(1, width - right.cell_length - 1)
        name = left.truncate(room, ellipsis=True) if left.cell_length > room else left
        yield Line(name.pad_right(max(0, room - name.cell_length)) + Content(" ") + right)
    if len(files) > FILES:
        yield Line(Content.styled(f"⋯ {len(files) - FILES:,} more", ink.LABEL))


def _listed(title: str, said: Sequence[str], width: int, nothing: str = "") -> Iterator[Line]:
    if not said and not nothing:
        return
    yield from _title(title, width)
    for each in said:
        yield from _flow(ink.line(each), width, "· ")
    if not said:
        yield from _flow(ink.line(nothing, ink.LABEL), width)


def _title(title: str, width: int) -> Iterator[Line]:
    yield Line(Content(""))
    for number, piece in enumerate(wrapped(ink.line(title, ink.TITLE), width)):
        yield Line(piece, anchor=title if number == 0 else None)


def _flow(content: Content, width: int, first: str = "") -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width, first=first))
