"""``pending``, ``show``, ``approve``, ``reject``: the queue and its decisions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.session import (
    Session,
    interactive,
    json_option,
    note_option,
    pass_session,
    print_json,
    rules_option,
)
from core.desk import decide, review
from core.desk.opening import Opened
from core.errors import UsageError
from core.homes.hermes.pending import Unreadable
from core.model import Move, Receipt


@click.command()
@click.option("--subsystem", type=click.Choice(["memory", "skills"]), help="Only this queue.")
@rules_option
@json_option
@pass_session
def pending(session: Session, subsystem: str | None, rules: str, as_json: bool) -> None:
    """List what waits, oldest first, and how each would land."""
    opened = session.open(rules)
    board = review.Board(opened)
    queue = board.read()
    labels = list(board.labels())
    rivals = review.rivals(labels)
    shown = [x for x in labels if subsystem in (None, x.proposal.subsystem)]
    broken = [x for x in queue.unreadable if subsystem in (None, x.subsystem)]
    if as_json:
        print_json(shapes.pending(opened, shown, broken, rivals))
        return
    print_queue(opened, shown, broken)


def print_queue(
    opened: Opened, labels: Sequence[review.Label], broken: Sequence[Unreadable]
) -> None:
    """The queue as a table, the unreadable below it."""
    out = paint.stdout()
    if not labels and not broken:
        out.print("Nothing waits.")
        return
    now = opened.clock()
    rows = [_cells(label, now) for label in labels]
    heads = ("ID", "STATUS", "AGE", "ACTION", "TARGET", "SUMMARY")
    if labels:
        out.print(paint.table(heads, rows, out.width))
    for item in broken:
        out.print(paint.plain(f"! {item.id}  cannot be read: {item.reason}"), style="red")
    out.print(
        f"{paint.count(len(labels), 'proposal')}. Look at one: `signoff show ID`.", style="dim"
    )


def _cells(label: review.Label, now: datetime) -> list[Text]:
    proposal = label.proposal
    return [
        paint.clipped(proposal.id, 16),
        paint.status(label.status),
        Text(paint.age(proposal.created_at, now)),
        paint.clipped(proposal.action, 11),
        paint.clipped(proposal.target, 18),
        paint.clipped(proposal.summary, 160),
    ]


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
    opened = session.open(rules)
    shown = review.show(opened, token, as_agent=as_agent)
    if as_json:
        print_json(shapes.show(shown))
        return
    print_shown(opened, shown)


def print_shown(opened: Opened, shown: review.Shown) -> None:
    """The preview for people: what, whether, why, and the difference."""
    out = paint.stdout()
    proposal, outcome = shown.proposal, shown.plan.outcome
    when = paint.age(proposal.created_at, opened.clock())
    head = f"{proposal.id}  {proposal.subsystem} {proposal.action} → {proposal.target}"
    out.print(paint.plain(head, "bold"))
    origin = proposal.origin or "origin unknown"
    out.print(paint.plain(f"{origin}, {when} old" if when != "unknown" else origin, "dim"))
    out.print(paint.status(shown.status), paint.block(outcome.message), sep="  ")
    if outcome.match and outcome.match.strategy != "exact":
        out.print(f"Matched by {outcome.match.strategy}, in {len(outcome.match.spans)} place(s)")
    if outcome.budget:
        out.print(paint.budget(outcome.budget))
    for found in outcome.findings:
        out.print(paint.finding(found))
    for step in shown.steps:
        change = step.change
        if isinstance(change, Move):
            out.print(paint.plain(f"\nmoves {change.path} → {change.to}", "bold"))
            continue
        behind_the_scenes = change.path == shown.plan.record or change.cache or step.edits
        if not behind_the_scenes and (patch := shapes.unified(change)):
            out.print()
            out.print(paint.unified(patch), end="")
    if outcome.lands:
        out.print(paint.plain(f"Approve: signoff approve {proposal.id}", "dim"))


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
    """Apply proposals; each is written whole or not at all."""
    opened = session.open(rules)
    request = decide.Request(_tokens(ids, everything), note, as_agent, seal)
    if dry_run:
        _answer(decide.foresee(opened, request), as_json, "would land")
        return
    decide.check_terminal(opened, interactive())
    _answer(decide.approve(opened, request), as_json, "approved")


@click.command()
@click.argument("ids", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything that waits now.")
@note_option
@json_option
@pass_session
def reject(
    session: Session, ids: tuple[str, ...], everything: bool, note: str, as_json: bool
) -> None:
    """Refuse proposals: the records are removed, nothing else; undo brings them back."""
    opened = session.open()
    decide.check_terminal(opened, interactive())
    request = decide.Request(_tokens(ids, everything), note)
    _answer(decide.reject(opened, request), as_json, "refused")


def _tokens(ids: tuple[str, ...], everything: bool) -> tuple[str, ...] | None:
    if everything == bool(ids):
        raise UsageError("Name the ids, or --all", "List them with `signoff pending`")
    return None if everything else ids


def _answer(receipts: Sequence[Receipt], as_json: bool, done: str) -> None:
    if as_json:
        print_json(shapes.results(receipts))
    else:
        print_receipts(receipts, done)
    if not all(receipt.ok for receipt in receipts):
        sys.exit(1)


def print_receipts(receipts: Sequence[Receipt], done: str) -> None:
    """What became of each, one line a piece."""
    out = paint.stdout()
    for receipt in receipts:
        sign, style, word = ("✓", "green", done) if receipt.ok else ("✗", "red", "not done")
        line = f"{sign} {receipt.subject}  {word}: {receipt.message}"
        out.print(paint.plain(line, style if not receipt.ok else ""))
    numbers = [str(r.journal) for r in receipts if r.ok and r.journal is not None]
    if numbers:
        out.print(f"Take it back: signoff undo {numbers[-1]}", style="dim")
