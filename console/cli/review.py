"""``pending``, ``show``, ``approve``, ``reject``: the queue and its decisions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

import click
from rich.text import Text

from console.cli import interrupt, paint, shapes
from console.cli.preview import preview
from console.cli.session import (
    Session,
    json_option,
    note_option,
    pass_session,
    print_json,
    rules_option,
    say_home,
)
from core.desk import decide, overview, review
from core.desk.opening import Opened
from core.errors import UsageError
from core.homes.hermes.pending import Queue
from core.homes.hermes.status import Status
from core.model import Receipt

#: More entries than this are not listed in the line that takes them back.
LISTED = 8


@click.command()
@click.option("--subsystem", type=click.Choice(["memory", "skills"]), help="Only this queue.")
@rules_option
@json_option
@pass_session
def pending(session: Session, subsystem: str | None, rules: str, as_json: bool) -> None:
    """List what waits, oldest first, and how each would land.

    `signoff status` explains the words of the STATUS column.
    """
    opened = session.read(rules)
    board = review.Board(opened)
    queue = board.read()
    labels = list(board.labels())
    if as_json:
        print_json(shapes.pending(opened, queue, labels, subsystem))
    else:
        say_home(opened)
        print_queue(session, queue, labels, subsystem)
    for sentence in overview.trouble(queue):
        paint.remark(sentence)
    if queue.broken:
        sys.exit(1)


def print_queue(
    session: Session, queue: Queue, labels: Sequence[review.Label], subsystem: str | None = None
) -> None:
    """The queue as a table, the unreadable below it, and what to do next."""
    named = review.names(queue)
    shown = [x for x in labels if subsystem in (None, x.proposal.subsystem)]
    broken = [x for x in queue.unreadable if subsystem in (None, x.subsystem)]
    if not shown and not broken:
        if not queue.broken:
            paint.tell("Nothing waits.")
        return
    room = paint.room()
    if shown:
        now = session.now()
        heads = ("ID", "STATUS", "AGE", "ACTION", "TARGET", "SUMMARY")
        rows = [_cells(label, named, paint.age(label.proposal.created_at, now)) for label in shown]
        paint.say(paint.table(heads, rows, room, spare=("TARGET", "ACTION", "AGE")))
    for item in broken:
        lead = Text(f"{paint.word(named[item.file])}  ! ", style="red")
        reason = f"cannot be read, only refused: {item.reason}"
        paint.say(paint.hang(lead, paint.plain(reason, "red"), room))
    total = paint.count(len(shown), "proposal")
    if broken:
        total += f", {len(broken)} unreadable"
    paint.tell(f"{total}.", "dim")
    paint.hint("Look at one", session.command("show", "ID"))
    if any(label.status is not Status.READY for label in shown):
        paint.hint("What the words mean", session.command("status"))


def _cells(label: review.Label, named: Mapping[str, str], age: str) -> list[Text]:
    proposal = label.proposal
    return [
        Text(paint.word(named[proposal.file])),
        paint.status(label.status),
        Text(age),
        paint.clipped(proposal.action, 11),
        paint.clipped(proposal.target, 20),
        paint.clipped(_brief(proposal.summary, proposal.action), paint.SUMMARY),
    ]


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
    shown = review.show(opened, token, as_agent=as_agent)
    if as_json:
        print_json(shapes.show(opened, shown))
        return
    say_home(opened)
    print_shown(session, shown)


def print_shown(session: Session, shown: review.Shown) -> None:
    """The preview for people: what, whether, why, the difference, and what to do next."""
    paint.say(preview(shown, session.now(), paint.room()))
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
    rules: str,
    note: str,
    as_json: bool,
) -> None:
    """Apply proposals; each is written whole or not at all.

    With --all, proposals that ask a question are skipped: naming one is the answer. Ids that
    begin with a dash follow --.
    """
    request = decide.Request(_tokens(ids, everything), note, as_agent, seal)
    if dry_run:
        opened = session.read(rules)
        answer(session, opened, decide.foresee(opened, request), as_json, "would land")
        return
    opened = session.decide(rules)
    answer(session, opened, decide.approvals(opened, request), as_json, "approved")


@click.command()
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything that waits now.")
@note_option
@json_option
@pass_session
def reject(
    session: Session, ids: tuple[str, ...], everything: bool, note: str, as_json: bool
) -> None:
    """Refuse proposals; undo brings them back.

    The records are removed and nothing else is changed; unreadable ones can be refused too.
    """
    request = decide.Request(_tokens(ids, everything), note)
    opened = session.decide()
    answer(session, opened, decide.rejections(opened, request), as_json, "refused")


def _tokens(ids: tuple[str, ...], everything: bool) -> tuple[str, ...] | None:
    if everything == bool(ids):
        raise UsageError("Name the ids, or --all", "List them with `signoff pending`")
    return None if everything else ids


def answer(
    session: Session, opened: Opened, receipts: Iterator[Receipt], as_json: bool, done: str
) -> None:
    """Decide one by one and say what became of each; Ctrl-C stops between two, never within."""
    with interrupt.held() as stop:
        found = []
        for receipt in receipts:
            found.append(receipt)
            if stop.asked:
                break
    if as_json:
        print_json(shapes.results(opened, found))
    else:
        say_home(opened)
        _print_receipts(session, found, done)
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
    failed = sum(not receipt.ok for receipt in receipts)
    if len(receipts) > 1:
        paint.tell(f"{len(receipts) - failed} {done}, {failed} not", "dim")
    numbers = [str(r.journal) for r in receipts if r.ok and r.journal is not None]
    if len(numbers) > LISTED:
        paint.hint("Take the newest back", session.command("undo"))
    elif numbers:
        paint.hint("Take it back", session.command("undo", *reversed(numbers)))
