"""One proposal for people: what it asks, whether it lands, why, and exactly what would change.

Pure: records in, lines out. ``room`` as in :mod:`console.cli.paint`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime

from rich.text import Text

from console.cli import paint
from console.raws import raw_words
from core import diff, text
from core.desk.raw import Raw
from core.desk.review import Shown
from core.homes.hermes.pending import Proposal
from core.journal import Step
from core.model import Budget, Change, EntryChange, Move, Node, NodeKind, Outcome

#: Lines of one text or diff shown before the rest is only counted, and characters of one line.
LINES = 400
LINE_CHARS = 2_000
#: Lines of one field of a record that does not land.
FIELD_LINES = 20
#: More context than any entry has lines: the whole of it is shown.
_ALL = 1_000_000
_BAR = 24
_SIGNS = {
    diff.RowKind.SAME: (" ", ""),
    diff.RowKind.REMOVED: ("-", "red"),
    diff.RowKind.CHANGED_OLD: ("-", "red"),
    diff.RowKind.ADDED: ("+", "green"),
    diff.RowKind.CHANGED_NEW: ("+", "green"),
}


def preview(shown: Shown, now: datetime, room: int) -> Iterator[Text]:
    """Every line of ``show``."""
    proposal, outcome = shown.proposal, shown.plan.outcome
    head = f"{paint.word(shown.name)}  {proposal.subsystem}: {proposal.action or 'no action'}"
    yield from paint.hang(Text(), paint.plain(f"{head} → {proposal.target}", "bold"), room)
    when = paint.age(proposal.created_at, now)
    since = f"{when} ago" if when != "unknown" else "at an unknown time"
    origin = f"proposed {since} by {proposal.origin or 'an unknown origin'}"
    if shown.origin is not None:
        origin += f"{', ' if shown.origin.session_id else '; '}{shown.origin.words}"
    yield from paint.hang(Text(), paint.plain(origin, "dim"), room)
    yield paint.status(shown.status) + Text(f": {paint.MEANINGS[shown.status]}", style="dim")
    yield from paint.hang(Text("  "), paint.block(outcome.message), room)
    if outcome.match and outcome.match.strategy != "exact":
        places = paint.count(len(outcome.match.spans), "place")
        words = outcome.match.strategy.replace("_", " ")
        note = f"Not an exact match: found by {words}, in {places}."
        yield from paint.hang(Text("  "), Text(note), room)
    if outcome.budget:
        yield from paint.hang(Text("  "), budget(outcome.budget), room)
    for found in outcome.findings:
        yield from paint.finding(found, room)
    yield Text()
    if not outcome.lands:
        if outcome.category == "skill_exists":
            yield from _standing(outcome, room)
        yield from record(proposal, room)
        return
    shown_any = False
    for part in _parts(shown, room):
        shown_any = True
        yield from part
        yield Text()
    if extra := beside(shown):
        yield from paint.hang(Text(), paint.plain(f"Also: {extra}.", "dim"), room)
    elif not shown_any:
        yield Text("Nothing changes; the record is removed.", style="dim")


def raw_preview(file: str, found: Raw, room: int) -> Iterator[Text]:
    """What stands in a record that is no proposal, as far as it was read."""
    heading, rest = raw_words(found)
    yield from paint.hang(Text(), paint.plain(file, "bold"), room)
    if heading:
        yield Text(f"{heading}{':' if found.text else '.'}", style="dim")
    lines = found.text.split("\n")
    if found.text:
        for line in lines[:LINES]:
            yield from paint.hang(Text("  "), paint.plain(line), room)
    if len(lines) > LINES:
        yield Text(f"  … {len(lines) - LINES:,} more lines", style="dim")
    if rest:
        yield Text(f"  … {rest}", style="dim")


def _parts(shown: Shown, room: int) -> Iterator[list[Text]]:
    outcome = shown.plan.outcome
    covered = set[str]()
    if outcome.entries:
        covered = {step.change.path for step in shown.steps if _is_store(step.change.path)}
        for path in sorted(covered):
            yield [paint.plain(f"in {path}", "bold"), *_entries(outcome, room)]
    for step in shown.steps:
        change = step.change
        if isinstance(change, Move):
            line = paint.plain(f"move {change.path} → {change.to}", "bold")
            yield paint.hang(Text(), line, room)
        elif change.path not in covered and not _is_beside(step, shown.plan.record):
            yield list(file_change(change, room))


def _is_store(path: str) -> bool:
    return path.startswith("memories/") and path.endswith(".md")


def _entries(outcome: Outcome, room: int) -> Iterator[Text]:
    for pair in outcome.entries:
        yield Text(_entry_title(pair), style="dim")
        yield from entry_change(pair, room)


def _standing(outcome: Outcome, room: int) -> Iterator[Text]:
    """A skill that is in the way, where its home tells it, beside the one that is proposed."""
    for pair in outcome.entries:
        yield Text("what stands there, and what is proposed", style="bold")
        yield from entry_change(pair, room)
        yield Text()


def _entry_title(pair: EntryChange) -> str:
    if pair.before is None:
        return "entry added"
    return "entry removed" if pair.after is None else "entry replaced"


def entry_change(pair: EntryChange, room: int) -> Iterator[Text]:
    """The whole entry before and after; lost words as ``[-word-]``, new ones as ``{+word+}``."""
    hunks = diff.rows(pair.before or "", pair.after or "", context=_ALL, alike=0.0)
    rows = [row for hunk in hunks for row in hunk.rows]
    for row in rows[:LINES]:
        yield from _line(row, room, marks=True)
    yield from _rest(len(rows))


def file_change(change: Change, room: int) -> Iterator[Text]:
    """A file before and after, as hunks; bytes that are no text are only said to differ."""
    before, after = change.before, change.after
    verb = "create" if before is None else "delete" if after is None else "change"
    mode = ""
    if before and after and before.mode != after.mode:
        mode = f" (mode {before.mode:04o} → {after.mode:04o})"
    yield from paint.hang(Text(), paint.plain(f"{verb} {change.path}{mode}", "bold"), room)
    old, new = _text(before), _text(after)
    if old is None or new is None:
        sides = f"{_bytes(before)} before, {_bytes(after)} after"
        yield Text(f"  {sides}", style="dim")
        return
    shown = 0
    total = 0
    for hunk in diff.rows(old, new):
        if shown < LINES:
            yield Text(hunk.header, style="cyan")
        for row in hunk.rows:
            total += 1
            if shown < LINES:
                shown += 1
                yield from _line(row, room, marks=False)
    yield from _rest(total)


def _bytes(node: Node | None) -> str:
    return diff.describe(node.data if node else None)


def _line(row: diff.Row, room: int, *, marks: bool) -> Iterator[Text]:
    sign, style = _SIGNS[row.kind]
    raw = row.text[:LINE_CHARS]
    spans = [(a, min(b, len(raw))) for a, b in row.spans if a < len(raw)]
    shown, places = text.safe_spans(raw, spans)
    body, at = Text(style=style), 0
    opening, closing = ("[-", "-]") if sign == "-" else ("{+", "+}")
    for start, end in places:
        body.append(shown[at:start])
        middle = f"{opening}{shown[start:end]}{closing}" if marks else shown[start:end]
        body.append(middle, style="bold underline")
        at = end
    body.append(shown[at:])
    if cut := len(row.text) - len(raw):
        body.append(f" … {cut:,} more characters", style="dim")
    if not row.newline and sign != " " and not marks:
        body.append("  (no newline at the end)", style="dim")
    yield from paint.hang(Text(f"{sign} ", style=style), body, room)


def _rest(total: int) -> Iterator[Text]:
    if total > LINES:
        yield Text(f"… {total - LINES:,} more lines: see --json", style="dim")


def _text(node: Node | None) -> str | None:
    return "" if node is None else diff.decode(node.data)


def budget(found: Budget) -> Text:
    """The budget before and after, as a bar and numbers."""
    share = found.after / found.limit if found.limit > 0 else 1.0
    full = min(_BAR, round(share * _BAR))
    style = "red" if share > 1 else "green"
    bar = Text("█" * full + "░" * (_BAR - full), style=style)
    numbers = f" {found.before:,} → {found.after:,} of {found.limit:,} characters"
    over = found.after - found.limit
    return bar + Text(numbers + (f", {over:,} too many" if over > 0 else ""))


def beside(shown: Shown) -> str:
    """What else is written, in one line: folders, usage rows, caches; ``""`` for nothing."""
    made, removed, rows, caches = list[str](), list[str](), list[str](), list[str]()
    for step in shown.steps:
        change = step.change
        if isinstance(change, Move):
            continue
        if change.cache:
            caches.append(change.path)
        elif step.edits:
            rows += [f"{edit.key}.{edit.field}" if edit.field else edit.key for edit in step.edits]
            where = change.path
        elif _is_folder(change):
            (removed if change.after is None else made).append(change.path)
    parts = [
        f"{word} {paint.listed(paths)}"
        for word, paths in (("makes the folder", made), ("removes the folder", removed))
        if paths
    ]
    if rows:
        parts.append(f"updates {paint.listed(list(dict.fromkeys(rows)))} in {where}")
    parts += [f"drops the cache {path}" for path in caches]
    return "; ".join(parts)


def _is_beside(step: Step, record: str | None) -> bool:
    change = step.change
    if isinstance(change, Move):
        return False
    return change.path == record or change.cache or bool(step.edits) or _is_folder(change)


def _is_folder(change: Change) -> bool:
    node = change.after or change.before
    return node is not None and node.kind is NodeKind.DIR


def record(proposal: Proposal, room: int) -> Iterator[Text]:
    """The fields of a proposal that does not land, as they stand in the record."""
    yield Text("It asks:", style="bold")
    fields = list(_fields(proposal.payload))
    if not fields:
        yield Text("  nothing: the record has no payload", style="dim")
    for name, value in fields:
        lead = paint.plain(f"  {text.one_line(name, 40)}: ", "dim")
        lines = value.split("\n")
        kept = "\n".join(lines[:FIELD_LINES])[:LINE_CHARS]
        yield from paint.hang(lead, paint.block(kept), room)
        if cut := len(value) - len(kept):
            note = f"    … {cut:,} more characters in {proposal.file}"
            yield from paint.hang(Text(), paint.plain(note, "dim"), room)
        for found in text.findings(value, text.one_line(name, 40)):
            yield from paint.finding(found, room, indent=4)


def _fields(payload: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in payload.items():
        if isinstance(value, list) and name == "operations":
            for number, part in enumerate(value, 1):
                if not isinstance(part, Mapping):
                    yield f"{number}", _value(part)
                    continue
                for key, inner in part.items():
                    if inner is not None:
                        yield f"{number}. {key}", _value(inner)
        elif value is not None:
            yield name, _value(value)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
