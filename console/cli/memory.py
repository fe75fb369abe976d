"""``memory``, ``remember``, ``forget``, ``normalise``: what the agent carries into every prompt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TextIO

import click
from rich.text import Text

from console.cli import notes as note_answers
from console.cli import paint, shapes
from console.cli.preview import budget, entry_change, file_change
from console.cli.session import (
    Session,
    interactive,
    json_option,
    note_option,
    pass_session,
    print_json,
    say_home,
)
from core.desk import memories, notes
from core.desk import remember as desk
from core.desk.opening import Opened
from core.errors import NotFoundError, UsageError
from core.homes.base import Kind
from core.model import Change, Node, NodeKind, Receipt
from core.plan import Plan

target_option = click.option(
    "--target", type=click.Choice(memories.TARGETS), help="MEMORY.md or USER.md."
)
dry_option = click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
_SEE = "See `signoff memory`; a number is the number of an entry there"


@click.group(invoke_without_command=True)
@click.option("--target", type=click.Choice(memories.TARGETS), help="Only this file.")
@click.option("--compare", metavar="FILE", help="Compare one of the agent's .bak copies.")
@json_option
@click.pass_context
def memory(context: click.Context, target: str | None, compare: str | None, as_json: bool) -> None:
    """List the memory entries and what stands out about them.

    With what the files cost in every prompt, why the agent would refuse to edit one, and the
    copies it made then. `remember`, `forget` and `normalise` change them, too.
    """
    session = context.ensure_object(Session)
    if context.invoked_subcommand is not None:
        if target or compare or as_json:
            raise UsageError("Options stand behind the last word", "As in `memory edit 3 --json`")
        return
    opened = session.read()
    if compare is not None:
        _compare(opened, memories.compare(opened, compare, target), as_json)
        return
    stores = memories.stores(opened, target)
    copies = memories.copies(opened, target)
    if as_json:
        said = [shapes.memory(store, copies) for store in stores]
        print_json(shapes.home(opened) | said[0] | ({} if target else {"stores": said}))
        return
    say_home(opened)
    for store in stores:
        paint.say([Text()])
        _print_store(session, store, copies, paint.room())


@click.command()
@click.argument("text", metavar="TEXT")
@target_option
@click.option("--kind", metavar="WORD", help="vak: fact (default), decision or another.")
@click.option("--tag", metavar="WORD", help="vak: one word to find it by.")
@click.option("--scope", type=click.Choice(["workspace", "profile"]), help="vak: whose note.")
@click.option("--workspace", metavar="PATH", help="vak: which workspace, its path or hash.")
@dry_option
@note_option
@json_option
@pass_session
def remember(
    session: Session,
    text: str,
    target: str | None,
    kind: str | None,
    tag: str | None,
    scope: str | None,
    workspace: str | None,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Add an entry of your own, by default to MEMORY.md.

    A text the agent's scanner does not like is stored and said so: the agent hides it. On a vak
    home it is a note, under a heading of its own.
    """
    opened = _open(session, dry_run)
    given = {"kind": kind, "tag": tag, "scope": scope, "workspace": workspace}
    words = {name: value for name, value in given.items() if value is not None}
    if opened.found.kind is Kind.VAK:
        _check_other("--target", target, opened)
        add = partial(notes.add, opened, text, **words)
        note_answers.answer(session, opened, add(), dry_run, note, as_json, again=add)
        return
    for name, value in words.items():
        _check_other(f"--{name}", value, opened)
    plan = desk.add(opened, target or "memory", text)
    _answer(session, opened, [plan], dry_run, note, as_json)


@click.command()
@click.argument("which", metavar="N|TEXT")
@target_option
@dry_option
@note_option
@json_option
@pass_session
def forget(
    session: Session, which: str, target: str | None, dry_run: bool, note: str, as_json: bool
) -> None:
    """Take an entry out, and say where it remains.

    N is the number `signoff memory` shows, of MEMORY.md unless --target says otherwise: digits
    alone are always a number. TEXT is the whole entry, or a part that only one entry has. On a
    vak home it is the ID of a note.
    """
    opened = _open(session, dry_run)
    if opened.found.kind is Kind.VAK:
        _check_other("--target", target, opened)
        gone = notes.forget(opened, which)
        note_answers.answer(session, opened, gone, dry_run, note, as_json)
        return
    plan = desk.forget(opened, _number(which), target)
    _answer(session, opened, [plan], dry_run, note, as_json)


@click.command()
@target_option
@dry_option
@note_option
@json_option
@pass_session
def normalise(
    session: Session, target: str | None, dry_run: bool, note: str, as_json: bool
) -> None:
    """Mend what makes the agent refuse to edit a file.

    Takes out blank lines and spaces beside the § lines, empty entries and duplicates. No entry
    loses a character. Without --target both files are looked at.
    """
    opened = _open(session, dry_run)
    targets = [target] if target else memories.TARGETS
    plans = [desk.normalise(opened, each) for each in targets]
    _answer(session, opened, plans, dry_run, note, as_json)


@memory.command()
@click.argument("number", type=int, metavar="N")
@click.option("--content-file", type=click.File(encoding="utf-8"), help="The new text; - is stdin.")
@target_option
@dry_option
@note_option
@json_option
@pass_session
def edit(
    session: Session,
    number: int,
    content_file: TextIO | None,
    target: str | None,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Change an entry, in $VISUAL or $EDITOR."""
    opened = _open(session, dry_run)
    target = target or "memory"
    (store,) = memories.stores(opened, target)
    entry = next((entry for entry in store.entries if entry.index == number), None)
    # An unknown number is refused by the planner, in its words.
    which = entry.text if entry else number
    text = _new_text(entry.text if entry else "", content_file)
    plan = desk.edit(opened, target, which, text)
    _answer(session, opened, [plan], dry_run, note, as_json)


@memory.command()
@click.argument("number", type=int, metavar="N")
@click.argument("to", type=int, metavar="TO")
@target_option
@dry_option
@note_option
@json_option
@pass_session
def move(
    session: Session,
    number: int,
    to: int,
    target: str | None,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Make entry N number TO."""
    opened = _open(session, dry_run)
    plan = desk.move(opened, target or "memory", number, to)
    _answer(session, opened, [plan], dry_run, note, as_json)


def _open(session: Session, dry_run: bool) -> Opened:
    return session.read() if dry_run else session.decide()


def _check_other(option: str, value: str | None, opened: Opened) -> None:
    if value is not None:
        raise UsageError(f"{option} is not for a {opened.found.kind} home", "Leave it out")


def _number(which: str) -> int | str:
    return int(which) if which.isascii() and which.isdigit() and len(which) < 10 else which


def _new_text(text: str, content_file: TextIO | None) -> str:
    if content_file is not None:
        try:
            return content_file.read()
        except ValueError as problem:
            raise UsageError(f"{content_file.name} is no UTF-8 text", "Name another") from problem
    if not interactive():
        raise UsageError("An editor needs a terminal", "Give the text with --content-file")
    return click.edit(text, extension=".md") or text


# -- answers ---------------------------------------------------------------------------------------


def _answer(
    session: Session,
    opened: Opened,
    plans: Sequence[Plan],
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Carry plans out (or only show them) and say what became of each."""
    for plan in plans:
        if plan.outcome.category == "no_match":
            raise NotFoundError(plan.outcome.message.rstrip("."), _SEE)
    done = [
        (plan, _expected(plan) if dry_run else desk.carry_out(opened, plan, note)) for plan in plans
    ]
    if as_json:
        target = "user" if plans[0].subject == "USER.md" else "memory"
        (store,) = memories.stores(opened, target)
        results = [
            shapes.result(receipt) | shapes.planned(plan) | {"dry_run": dry_run}
            for plan, receipt in done
        ]
        print_json(
            shapes.home(opened)
            | shapes.memory(store, memories.copies(opened, target))
            | {"results": results}
        )
    else:
        say_home(opened)
        for plan, receipt in done:
            _print_done(session, plan, receipt, dry_run)
    if not all(receipt.ok for _, receipt in done):
        sys.exit(1)


def _expected(plan: Plan) -> Receipt:
    outcome = plan.outcome
    changed = tuple(change.path for change in plan.changes)
    return Receipt(
        plan.subject, outcome.lands, outcome.category, outcome.message, changed, outcome.entries
    )


def _print_done(session: Session, plan: Plan, receipt: Receipt, dry_run: bool) -> None:
    room, outcome = paint.room(), plan.outcome
    sign, style = ("✓ ", "green") if receipt.ok else ("✗ ", "red")
    word = "Not done: " if not receipt.ok else "Would land: " if dry_run else ""
    message = paint.plain(word + receipt.message, "" if receipt.ok else "red")
    paint.say(paint.hang(Text(sign, style=style), message, room))
    if receipt.ok and dry_run:
        for pair in outcome.entries:
            paint.say(entry_change(pair, room))
        if not outcome.entries:
            for change in plan.changes:
                if isinstance(change, Change):
                    paint.say(file_change(change, room))
    if outcome.budget and outcome.budget.before != outcome.budget.after:
        paint.say(paint.hang(Text("  "), budget(outcome.budget), room))
    if receipt.ok:
        for found in outcome.findings:
            paint.say(paint.finding(found, room, indent=2))
    if receipt.journal is not None and receipt.ok:
        paint.tell(receipt.next, "dim")
        paint.hint("Take it back", session.command("undo", str(receipt.journal)))


def _compare(opened: Opened, found: memories.Compared, as_json: bool) -> None:
    if as_json:
        print_json(shapes.home(opened) | shapes.compared(found))
        return
    say_home(opened)
    if found.copy.same:
        paint.tell(f"{found.copy.file} is {found.path}, byte for byte")
        return
    paint.tell(f"From the copy {found.copy.file} to the file as it stands:", "bold")
    then, now = (
        None if data is None else Node(NodeKind.FILE, data) for data in (found.then, found.now)
    )
    paint.say(file_change(Change(found.path, then, now), paint.room()))


def _print_store(
    session: Session, store: memories.Store, copies: Sequence[memories.Copy], room: int
) -> None:
    where = f"{store.path} → {store.link}" if store.link else store.path
    paint.tell(where, "bold")
    if store.state == "unreadable":
        paint.tell(f"! cannot be read: {store.reason}", "red")
    elif store.state == "absent":
        paint.tell("not there yet", "dim")
    else:
        share = f"{store.used:,} of {store.limit:,} characters"
        cost = f"about {paint.count(store.tokens, 'token')} in every prompt"
        cost = cost if store.enabled else "turned off: the agent leaves it out of its prompts"
        entries = paint.count(len(store.entries), "entry", "entries")
        paint.tell(f"{entries}, {share}, {cost}", "dim")
        if store.drift:
            _print_drift(session, store)
    for entry in store.entries:
        lead = Text(f"{entry.index:>3}. ", style="dim")
        paint.say(paint.hang(lead, paint.block(entry.text), room))
        for found in entry.findings:
            paint.say(paint.finding(found, room, indent=5))
    own = [copy for copy in copies if copy.target == store.target]
    if own:
        _print_copies(session, own, room)


def _print_drift(session: Session, store: memories.Store) -> None:
    if store.drift is None:
        return
    paint.tell(f"! The agent refuses to edit it: {store.drift.message}", "yellow")
    target = f" --target {store.target}"
    if store.drift.kind != "oversize":
        line = session.command("normalise") + target
        paint.hint("See what would mend it", f"{line} --dry-run")
        return
    for entry in store.entries:
        if entry.size > store.limit:
            number = str(entry.index)
            paint.hint("Shorten it", session.command("memory", "edit", number) + target)
            paint.hint("Or take it out", session.command("forget", number) + target)


def _print_copies(session: Session, copies: Sequence[memories.Copy], room: int) -> None:
    paint.tell("Copies the agent made when it refused to edit the file:", "dim")
    now = session.now()
    heads = ("COPY", "AGE", "BYTES", "")
    rows = [
        [
            Text(paint.word(copy.file)),
            Text(paint.age(copy.at, now)),
            Text(f"{copy.size:,}"),
            Text("the same as the file" if copy.same else "differs from the file"),
        ]
        for copy in copies
    ]
    paint.say(paint.table(heads, rows, room, spare=("BYTES",)))
    line = session.command("memory")
    paint.hint("Compare one", f"{line} --compare {paint.word(copies[0].file)}")
