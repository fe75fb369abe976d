"""``pending``, ``show``, ``approve``, ``reject``: the queue and its decisions."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

import click
from rich.text import Text

from console.cli import interrupt, paint, shapes
from console.cli.foresee import print_forecast
from console.cli.preview import preview, raw_preview
from console.cli.session import (
    Session,
    json_option,
    note_option,
    pass_session,
    print_json,
    rules_option,
    say_home,
)
from core.desk import decide, forecast, overview, promotion, review, triage
from core.desk.decisions import length_of
from core.desk.opening import Opened
from core.desk.raw import raw
from core.desk.rivals import rivals_of
from core.errors import NotFoundError, UnreadableError, UsageError
from core.homes.hermes.pending import Unreadable, find, ids_of
from core.homes.hermes.status import Status
from core.model import Receipt

#: More entries than this are not listed in the line that takes them back.
LISTED = 8
#: With more receipts than this, what to do next is not said below each.
EXPLAINED = 3


@click.command()
@click.option("--subsystem", type=click.Choice(["memory", "skills"]), help="Only this queue.")
@click.option(
    "--status",
    type=click.Choice([str(word) for word in Status]),
    metavar="WORD",
    help="Only rows that stand so.",
)
@click.option("--target", metavar="NAME", help="Only this store or skill.")
@click.option("--origin", metavar="NAME", help="Only what came from there.")
@click.option("--older-than", metavar="14d", help="Only what waits longer.")
@click.option("--text", default="", metavar="TEXT", help="Only rows that say this.")
@click.option("--group", type=click.Choice(triage.KEYS), help="Rows together by this.")
@click.option("--snoozed", is_flag=True, help="Snoozed rows too.")
@rules_option
@json_option
@pass_session
def pending(
    session: Session,
    subsystem: str | None,
    status: str | None,
    target: str | None,
    origin: str | None,
    older_than: str | None,
    text: str,
    group: str | None,
    snoozed: bool,
    rules: str,
    as_json: bool,
) -> None:
    """List what waits, oldest first, and how each would land.

    `signoff status` explains the words of the STATUS column.
    """
    age = None if older_than is None else length_of(older_than)
    word = None if status is None else Status(status)
    wanted = triage.Filter(word, target, origin, subsystem, age, text)
    opened = session.read(rules)
    board = review.Board(opened)
    queue = board.read()
    now, labels = session.now(), list(board.labels())
    listed = triage.listing(queue, labels, now, wanted, group=group, snoozed=snoozed)
    if as_json:
        print_json(shapes.pending(opened, listed))
    else:
        say_home(opened)
        for sentence in overview.switched_off(overview.settings(opened), "skill_proposals"):
            paint.tell(f"{sentence}.", "yellow")
        print_queue(session, listed)
    for sentence in overview.trouble(queue):
        paint.remark(sentence)
    if queue.broken:
        sys.exit(1)


def print_queue(session: Session, listed: triage.Listing) -> None:
    """The queue as a table, the unreadable below it, and what to do next."""
    named = review.names(listed.queue)
    shown, broken = listed.shown, listed.unreadable
    asleep = f"{listed.asleep} snoozed" if listed.asleep else ""
    if not shown and not broken:
        if not listed.queue.broken:
            paint.tell(f"Nothing waits, {asleep}." if asleep else "Nothing waits.")
        return
    room = paint.room()
    if listed.groups is None:
        _print_rows(session, shown, named)
    else:
        for key, found in listed.groups.items():
            paint.tell(f"{key}: {len(found)}", "bold")
            _print_rows(session, found, named)
            paint.say([Text()])
    for item in broken:
        lead = Text(f"{paint.word(named[item.file])}  ! ", style="red")
        reason = f"cannot be read: {item.reason}; {item.way_out}"
        paint.say(paint.hang(lead, paint.plain(reason, "red"), room))
    unreadable = f"{len(broken)} unreadable" if broken else ""
    counts = (paint.count(len(shown), "proposal"), unreadable, asleep)
    paint.tell(f"{', '.join(filter(None, counts))}.", "dim")
    paint.hint("Look at one", session.command("show", "ID"))
    if triage.dead(shown):
        paint.hint("Refuse what can no longer apply", f"{session.command('reject')} --dead")
    if any(label.status is not Status.READY for label in shown):
        paint.hint("What the words mean", session.command("status"))


def _print_rows(session: Session, shown: Sequence[review.Label], named: Mapping[str, str]) -> None:
    if not shown:
        return
    now = session.now()
    heads = ("ID", "STATUS", "AGE", "ACTION", "TARGET", "SUMMARY")
    rows = [_cells(label, named, paint.age(label.proposal.created_at, now)) for label in shown]
    paint.say(paint.table(heads, rows, paint.room(), spare=("TARGET", "ACTION", "AGE")))


def _cells(label: review.Label, named: Mapping[str, str], age: str) -> list[Text]:
    proposal = label.proposal
    return [
        Text(paint.word(named[proposal.file])),
        paint.status(label.status),
        Text(age),
        paint.clipped(proposal.action, 11),
        paint.clipped(proposal.target, 20),
        paint.clipped(
            _remembered(label) + _brief(proposal.summary, proposal.action), paint.SUMMARY
        ),
    ]


def _remembered(label: review.Label) -> str:
    """What a row says before its summary: that it was refused before, or that it sleeps."""
    if label.snoozed_until is not None:
        return f"(snoozed until {label.snoozed_until:%Y-%m-%d %H:%M}) "
    return f"(refused before, {label.seen_before.at[:10]}) " if label.seen_before else ""


def _brief(summary: str, action: str) -> str:
    """A summary without the words "add to memory: " that two columns say already."""
    head, colon, rest = summary.partition(": ")
    return rest if colon and action and head.startswith((action, "apply")) and rest else summary


@click.command()
@click.argument("token", metavar="ID")
@click.option(
    "--as-agent", is_flag=True, help="The agent's own approval, without signoff's guards."
)
@rules_option
@json_option
@pass_session
def show(session: Session, token: str, as_agent: bool, rules: str, as_json: bool) -> None:
    """Show one proposal exactly as it would land."""
    opened = session.read(rules)
    try:
        shown = review.show(opened, token, as_agent=as_agent)
    except UnreadableError:
        if not as_json:
            _print_raw(opened, token)
        raise
    if as_json:
        print_json(shapes.show(opened, shown))
        return
    say_home(opened)
    print_shown(session, shown)
    queue, file = opened.queue(), shown.proposal.file
    if others := rivals_of(opened, queue, [file]).left(shown.plan.outcome.claims):
        word = "rival waits" if len(others) == 1 else "rivals wait"
        paint.tell(f"{len(others)} {word} for the same: {', '.join(others)}", "dim")


def _print_raw(opened: Opened, token: str) -> None:
    """What stands in a record that is no proposal; why that is so is the error's to say."""
    entry = find(opened.queue(ids=ids_of([token])), token)
    if isinstance(entry, Unreadable):
        paint.say(raw_preview(entry.file, raw(opened, entry.file), paint.room()))


def print_shown(session: Session, shown: review.Shown) -> None:
    """The preview for people: what, whether, why, the difference, and what to do next."""
    paint.say(preview(shown, session.now(), paint.room()))
    if seen := shown.seen_before:
        why = f": {seen.note}" if seen.note else ""
        paint.tell(f"Refused before, {seen.at[:10]}, entry {seen.entry}{why}", "yellow")
    if shown.plan.outcome.lands:
        paint.hint("Approve", session.command("approve", shown.name))
    paint.hint("Refuse", session.command("reject", shown.name))


@click.command()
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything that waits now.")
@click.option(
    "--as-agent", is_flag=True, help="The agent's own approval, without signoff's guards."
)
@click.option("--dry-run", is_flag=True, help="Say what would happen, in order; change nothing.")
@click.option("--seal", metavar="SEAL", help="Only if it is still the plan that was shown.")
@click.option("--as", "name", metavar="NAME", help="vak: install the skill under this name.")
@rules_option
@note_option
@json_option
@pass_session
def approve(
    session: Session,
    ids: tuple[str, ...],
    everything: bool,
    as_agent: bool,
    dry_run: bool,
    seal: str | None,
    name: str | None,
    rules: str,
    note: str,
    as_json: bool,
) -> None:
    """Apply proposals; each is written whole or not at all.

    With --all, proposals that ask a question are skipped: naming one is the answer. Ids that
    begin with a dash follow --.
    """
    if name is not None:
        _promote_as(session, ids, name, everything or seal is not None, dry_run, note, as_json)
        return
    request = decide.Request(_tokens(ids, everything), note, as_agent, seal)
    if dry_run:
        opened = session.read(rules)
        _foresee(session, opened, request, as_json)
        return
    opened = session.decide(rules)
    known = decide.waiting(opened)
    answer(session, opened, decide.approvals(opened, request), as_json, "approved", known)


def _promote_as(
    session: Session,
    ids: tuple[str, ...],
    name: str,
    more: bool,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    if len(ids) != 1 or more:
        raise UsageError("--as goes with exactly one id", "Name the proposal it is for")
    opened = session.read() if dry_run else session.decide()
    receipt = promotion.promote_as(opened, ids[0], name, note=note, dry_run=dry_run)
    done = "would land" if dry_run else "approved"
    answer(session, opened, iter([receipt]), as_json, done)


def _foresee(session: Session, opened: Opened, request: decide.Request, as_json: bool) -> None:
    found = forecast.forecast(opened, request)
    if as_json:
        print_json(shapes.forecast(opened, found))
    else:
        say_home(opened)
        _print_receipts(session, [row.receipt for row in found.rows], "would land")
        print_forecast(session, found)
    if found.first_failure is not None:
        sys.exit(1)


@click.command()
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything that waits now.")
@click.option("--dead", is_flag=True, help="Everything that can no longer apply.")
@click.option("--dry-run", is_flag=True, help="With --dead: list it; change nothing.")
@note_option
@json_option
@pass_session
def reject(
    session: Session,
    ids: tuple[str, ...],
    everything: bool,
    dead: bool,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Refuse proposals; undo brings them back.

    The records are removed and nothing else is changed; unreadable ones can be refused too.
    With --dead: what is stale, noop or invalid, as one step.
    """
    if dead:
        _reject_dead(session, ids or everything, dry_run, note, as_json)
        return
    if dry_run:
        raise UsageError("--dry-run goes with --dead", "Look at one with `signoff show ID`")
    request = decide.Request(_tokens(ids, everything), note)
    opened = session.decide()
    known = decide.waiting(opened)
    answer(session, opened, decide.rejections(opened, request), as_json, "refused", known)


def _reject_dead(session: Session, more: object, dry_run: bool, note: str, as_json: bool) -> None:
    if more:
        raise UsageError("--dead stands alone", "Leave out the ids and --all")
    opened = session.read() if dry_run else session.decide()
    board = review.Board(opened)
    queue = board.read()
    named = review.names(queue)
    known = decide.waiting(opened)
    rows = triage.dead(list(board.labels()))
    if not rows and queue.broken:
        hint = "Mend the folder first; `signoff doctor` says more"
        raise UnreadableError("; ".join(overview.trouble(queue)), hint)
    if not rows:
        raise NotFoundError("Nothing that waits is dead", "See `signoff pending`")
    if dry_run:
        foreseen = [
            Receipt(named[row.proposal.file], True, "rejected", f"{row.status}: {row.message}")
            for row in rows
        ]
        answer(session, opened, iter(foreseen), as_json, "would be refused")
        return
    request = decide.Request((), note, rows=rows)
    answer(session, opened, decide.rejections(opened, request), as_json, "refused", known)


def _tokens(ids: tuple[str, ...], everything: bool) -> tuple[str, ...] | None:
    if everything == bool(ids):
        raise UsageError("Name the ids, or --all", "List them with `signoff pending`")
    return None if everything else ids


def answer(
    session: Session,
    opened: Opened,
    receipts: Iterator[Receipt],
    as_json: bool,
    done: str,
    known: Collection[str] | None = None,
) -> None:
    """Decide one by one and say what became of each; Ctrl-C stops between two, never within.

    ``known`` are the records that waited before: those that came since are announced.
    """
    with interrupt.held() as stop:
        found = []
        for receipt in receipts:
            found.append(receipt)
            if stop.asked:
                break
    fresh = [] if known is None else sorted(decide.waiting(opened) - set(known))
    if as_json:
        print_json(shapes.results(opened, found) | {"newcomers": fresh})
    else:
        say_home(opened)
        _print_receipts(session, found, done)
    if fresh:
        paint.remark(f"{paint.count(len(fresh), 'proposal')} came meanwhile and still wait")
    if stop.asked:
        paint.remark(f"Interrupted after {paint.count(len(found), 'decision')}")
        sys.exit(130)
    if not all(receipt.ok for receipt in found):
        sys.exit(1)


def _print_receipts(session: Session, receipts: Sequence[Receipt], done: str) -> None:
    room = paint.room()
    for receipt in receipts:
        sign, style, word = ("✓", "green", done) if receipt.ok else ("✗", "red", "not done")
        lead = Text(f"{sign} ", style=style)
        said = f"{paint.word(receipt.subject)}  {word}: {receipt.message}"
        paint.say(paint.hang(lead, paint.plain(said, "" if receipt.ok else "red"), room))
        if receipt.next and (len(receipts) <= EXPLAINED or "rival" in receipt.next):
            paint.say(paint.hang(Text("  "), paint.plain(receipt.next, "dim"), room))
    failed = sum(not receipt.ok for receipt in receipts)
    if len(receipts) > 1:
        paint.tell(f"{len(receipts) - failed} {done}, {failed} not", "dim")
    numbers = [str(r.journal) for r in receipts if r.ok and r.journal is not None]
    if any(receipt.bulk is not None for receipt in receipts) or len(numbers) > LISTED:
        paint.hint("Take it back as one", session.command("undo"))
    elif numbers:
        paint.hint("Take it back", session.command("undo", *reversed(numbers)))
