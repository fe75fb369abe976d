"""``skills`` and what is done to them: pin, archive, restore, curate and the way back."""

from __future__ import annotations

import sys

import click
from rich.text import Text

from console.cli import paint, skill_shapes
from console.cli.preview import file_change
from console.cli.session import (
    Session,
    interactive,
    json_option,
    note_option,
    pass_session,
    print_json,
    say_home,
)
from console.cli.skill_text import (
    print_archive,
    print_curator,
    print_page,
    print_prediction,
    print_prune,
    print_rows,
    print_snapshots,
)
from core.desk import skill_table
from core.desk import skills as desk
from core.desk.opening import Opened
from core.desk.skills import Compared, Planned
from core.errors import UsageError
from core.model import Receipt, Severity

dry_option = click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
_STATES = ("active", "stale", "archived")
#: Refusals that mean there was nothing to act on.
_UNKNOWN = frozenset({"skill_not_found", "not_in_archive"})


@click.command()
@click.option("--state", type=click.Choice(_STATES), help="Only skills in this state.")
@json_option
@pass_session
def skills(session: Session, state: str | None, as_json: bool) -> None:
    """List the agent's skills, what becomes of each, and the archive.

    With the curator's own state and thresholds: which are in force, and where they come from.
    """
    opened = session.read()
    seen = skill_table.board(opened)
    rows = [row for row in seen.rows if state in (None, row.skill.state)]
    archive = seen.archived if state in (None, "archived") else ()
    if as_json:
        print_json(skill_shapes.board(opened, seen, rows, archive))
        return
    say_home(opened)
    print_curator(seen)
    for found in seen.findings:
        if found.severity is Severity.DANGER:
            paint.say(paint.finding(found, paint.room()))
    print_rows(rows, seen.now)
    if archive:
        print_archive(archive, seen.now)
    paint.hint("Look at one", session.command("skill", "NAME"))


@click.command()
@click.argument("name")
@json_option
@pass_session
def skill(session: Session, name: str, as_json: bool) -> None:
    """Show one skill, what becomes of it and why.

    NAME is the name its head says, its folder's name, or a path.
    """
    opened = session.read()
    shown = skill_table.page(opened, name)
    seen = skill_table.board(opened)
    if as_json:
        print_json(skill_shapes.page(opened, seen, shown))
        return
    say_home(opened)
    print_page(shown, seen)


@click.command()
@click.argument("name")
@dry_option
@note_option
@json_option
@pass_session
def pin(session: Session, name: str, dry_run: bool, note: str, as_json: bool) -> None:
    """Keep a skill from ageing."""
    opened = _open(session, dry_run)
    _answer(session, opened, desk.pin(opened, name), dry_run, note, as_json)


@click.command()
@click.argument("name")
@dry_option
@note_option
@json_option
@pass_session
def unpin(session: Session, name: str, dry_run: bool, note: str, as_json: bool) -> None:
    """Let a skill age again."""
    opened = _open(session, dry_run)
    _answer(session, opened, desk.unpin(opened, name), dry_run, note, as_json)


@click.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask although something still refers to it.")
@dry_option
@note_option
@json_option
@pass_session
def archive(
    session: Session, name: str, yes: bool, dry_run: bool, note: str, as_json: bool
) -> None:
    """Move a skill to the archive; first what still refers to it."""
    opened = _open(session, dry_run)
    planned = desk.archive(opened, name)
    warned = [f for f in planned.plan.outcome.findings if f.severity is not Severity.INFO]
    if warned and planned.plan.outcome.lands and interactive() and not (yes or dry_run or as_json):
        for found in warned:
            paint.say(paint.finding(found, paint.room()))
        if not click.confirm("Archive it all the same?"):
            raise click.Abort
    _answer(session, opened, planned, dry_run, note, as_json)


@click.command()
@click.argument("which", metavar="FOLDER|NAME")
@click.option("--to", metavar="PATH", help="Another place below skills/.")
@click.option("--pin", "pinned", is_flag=True, help="Pin it in the same step.")
@click.option("--swap", is_flag=True, help="Archive the live skill in its way, and take its place.")
@dry_option
@note_option
@json_option
@pass_session
def restore(
    session: Session,
    which: str,
    to: str | None,
    pinned: bool,
    swap: bool,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Put a skill of the archive back.

    FOLDER is one that `signoff skills` lists, NAME the newest copy of that name. Where a live
    skill stands in the way, what differs is shown.
    """
    if swap and (to is not None or pinned):
        raise UsageError("--swap stands alone", "It takes the place of the live skill")
    opened = _open(session, dry_run)
    beside = None if as_json else desk.compare(opened, which)
    planned = desk.swap(opened, which) if swap else desk.restore(opened, which, to, pin=pinned)
    shows = beside if dry_run or not planned.plan.outcome.lands else None
    _answer(session, opened, planned, dry_run, note, as_json, shows)


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all-unmanaged", "everything", is_flag=True, help="Every one that it could manage.")
@dry_option
@note_option
@json_option
@pass_session
def adopt(
    session: Session,
    names: tuple[str, ...],
    everything: bool,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Let the curator manage skills that it did not make."""
    if bool(names) is everything:
        raise UsageError("Name the skills to adopt", "Or take all: signoff adopt --all-unmanaged")
    opened = _open(session, dry_run)
    planned = desk.adopt_all(opened) if everything else desk.adopt(opened, names)
    _answer(session, opened, planned, dry_run, note, as_json, several=len(names) > 1)


@click.command()
@note_option
@json_option
@pass_session
def pause(session: Session, note: str, as_json: bool) -> None:
    """Keep the agent's curator from running by itself."""
    opened = session.decide()
    _answer(session, opened, desk.pause(opened), False, note, as_json)


@click.command()
@note_option
@json_option
@pass_session
def resume(session: Session, note: str, as_json: bool) -> None:
    """Let the agent's curator run by itself again."""
    opened = session.decide()
    _answer(session, opened, desk.pause(opened, False), False, note, as_json)


@click.command()
@click.option("--apply", "applied", is_flag=True, help="Do it, as one step that can be undone.")
@click.option("--idle-days", type=int, metavar="N", help="The agent's own prune list instead.")
@click.option("--as-agent", is_flag=True, help="Without what signoff holds back.")
@click.option("--stale-after", type=int, metavar="DAYS", help="As if stale after so many days.")
@click.option("--archive-after", type=int, metavar="DAYS", help="As if archived after so many.")
@note_option
@json_option
@pass_session
def curate(
    session: Session,
    applied: bool,
    idle_days: int | None,
    as_agent: bool,
    stale_after: int | None,
    archive_after: int | None,
    note: str,
    as_json: bool,
) -> None:
    """Foresee a run of the curator, exactly; --apply does it.

    A model that merges skills is never run.
    """
    opened = _open(session, not applied)
    if idle_days is not None:
        if applied or idle_days < 1:
            raise UsageError(
                "--idle-days takes a number of days, 1 or more, and only lists",
                "Archive one with `signoff archive NAME`",
            )
        found = desk.prune(opened, idle_days)
        if as_json:
            print_json(skill_shapes.prune(opened, found))
        else:
            say_home(opened)
            print_prune(found, idle_days)
        return
    limits = None
    if stale_after is not None or archive_after is not None:
        if applied:
            raise UsageError(
                "Other thresholds are only to look at", "Write them into config.yaml to apply them"
            )
        limits = desk.limits(opened, stale_after, archive_after)
    planned = desk.curate(opened, as_agent=as_agent, limits=limits)
    _answer(session, opened, planned, not applied, note, as_json)


@click.command()
@click.argument("snapshot", required=False, metavar="[SNAPSHOT]")
@click.option("--skill", "name", metavar="NAME|PATH", help="Only this one, counts and pin kept.")
@dry_option
@note_option
@json_option
@pass_session
def rollback(
    session: Session,
    snapshot: str | None,
    name: str | None,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Put all skills back as of a snapshot, or list those.

    A snapshot of what is there is taken first, and none is ever removed. With --skill one skill
    gets what it held, and all else stays.
    """
    if name is not None and snapshot is None:
        raise UsageError("--skill needs a snapshot to take it from", "List them: signoff rollback")
    if snapshot is None:
        opened = session.read()
        seen = skill_table.board(opened)
        if as_json:
            print_json(skill_shapes.board(opened, seen, (), ()))
            return
        say_home(opened)
        print_snapshots(seen)
        return
    opened = _open(session, dry_run)
    planned = (
        desk.rollback(opened, snapshot) if name is None else desk.single(opened, snapshot, name)
    )
    _answer(session, opened, planned, dry_run, note, as_json)


def _open(session: Session, dry_run: bool) -> Opened:
    return session.read() if dry_run else session.decide()


def _answer(
    session: Session,
    opened: Opened,
    planned: Planned,
    dry_run: bool,
    note: str,
    as_json: bool,
    beside: Compared | None = None,
    several: bool = False,
) -> None:
    """Carry a plan out (or only show it), say what became of it, leave with its exit code."""
    if planned.plan.outcome.category == "ambiguous":
        raise UsageError(planned.plan.outcome.message.rstrip("."), "See `signoff skills`")
    receipt = _expected(planned) if dry_run else desk.carry_out(opened, planned, note)
    if as_json:
        said = skill_shapes.result(opened, planned, receipt, dry_run)
        if not receipt.ok:
            error = {"code": receipt.category, "message": receipt.message, "hint": ""}
            said["error"] = error
        print_json(said)
    else:
        say_home(opened)
        _print_done(session, planned, receipt, dry_run)
        if beside is not None:
            _print_beside(session, planned, beside)
    if not receipt.ok:
        # One unknown name among several is a refusal of the others: see the contract's exit codes.
        sys.exit(3 if receipt.category in _UNKNOWN and not several else 1)


def _expected(planned: Planned) -> Receipt:
    plan, outcome = planned.plan, planned.plan.outcome
    changed = tuple(dict.fromkeys(change.path for change in plan.changes))
    return Receipt(plan.subject, outcome.lands, outcome.category, outcome.message, changed)


def _print_done(session: Session, planned: Planned, receipt: Receipt, dry_run: bool) -> None:
    room, outcome = paint.room(), planned.plan.outcome
    sign, style = ("✓ ", "green") if receipt.ok else ("✗ ", "red")
    word = "Not done: " if not receipt.ok else "Would land: " if dry_run else ""
    message = paint.plain(word + receipt.message, "" if receipt.ok else "red")
    paint.say(paint.hang(Text(sign, style=style), message, room))
    for found in outcome.findings:
        paint.say(paint.finding(found, room, indent=2))
    if planned.prediction is not None:
        print_prediction(planned.prediction)
    elif receipt.ok:
        for before, after in planned.moved.items():
            paint.tell(f"  {before} → {after}", "dim")
    if dry_run and planned.prediction is not None and receipt.ok:
        paint.hint("Do exactly this", session.command("curate") + " --apply")
    if any(found.code == "archived_again" for found in outcome.findings) and not dry_run:
        paint.hint("Keep it", session.command("pin", _restored(planned)))
    if receipt.journal is not None and receipt.ok:
        paint.tell(receipt.next, "dim")
        paint.hint("Take it back", session.command("undo", str(receipt.journal)))


def _print_beside(session: Session, planned: Planned, beside: Compared) -> None:
    """How a copy differs from the live skill in its way."""
    paint.tell(f"From {beside.live} to {beside.package}:", "bold")
    for change in beside.files:
        paint.say(file_change(change, paint.room()))
    if planned.plan.outcome.category == "destination_exists":
        line = session.command("restore", planned.plan.subject)
        paint.hint("Let it take that place", f"{line} --swap")


def _restored(planned: Planned) -> str:
    return next(iter(planned.moved.values()), planned.plan.subject)
