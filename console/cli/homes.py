"""``demo``, ``init``, ``status``, ``gate``, ``doctor``: homes as a whole."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.review import answer, print_queue, print_shown
from console.cli.session import (
    Session,
    interactive,
    json_option,
    open_console,
    pass_session,
    print_json,
    say_home,
)
from core.desk import elsewhere, gates, health, overview, review, triage
from core.desk.check import Check
from core.desk.opening import Opened
from core.errors import UsageError
from core.homes.hermes.status import Status
from core.settings import Settings

#: Why something waits where the agent does not ask (field report D09).
_ALL_THE_SAME = (
    "What waits can be decided all the same: some agents stage what they replace or remove"
    " unattended even with their gate off."
)


@click.command()
@click.option("--into", metavar="DIR", help="Only write the sample home there.")
@json_option
@pass_session
def demo(session: Session, into: str | None, as_json: bool) -> None:
    """Try signoff on a fresh copy of the sample home."""
    from console.sample import write_sample

    _check_named("--into", into)
    folder = Path(into) if into else Path(tempfile.mkdtemp(prefix="signoff-demo-")) / "home"
    write_sample(folder, session.now())
    there = replace(session, home=str(folder), kind=None, profile=None)
    if not into:
        from console.sample.knowledge import write_store

        # Of its own: nothing that is tried here reaches the person's notes, nor their journal.
        own = {"SIGNOFF_STATE": str(folder.parent / "state")}
        notes = write_store(folder.parent, session.now())
        there = replace(there, environ={**own, **session.environ, **notes})
    if as_json:
        print_json({"ok": True, "home": str(folder)})
    elif into:
        paint.tell(f"The sample home is in {folder}")
        paint.hint("Look at it", there.command("pending"))
    elif interactive():
        code = open_console(there, "review")
        paint.tell(f"The sample home stays in {folder}")
        sys.exit(code)
    else:
        _tour(there)


def _check_named(word: str, folder: str | None) -> None:
    """Raise :class:`UsageError` for an empty name, which would be the folder one stands in."""
    if folder is not None and not folder.strip():
        raise UsageError(f"{word} names no folder", "Name a new folder, or an empty one")


def _tour(session: Session) -> None:
    opened = session.read()
    seen = overview.overview(opened)
    say_home(opened)
    _print_status(seen, opened)
    paint.say([Text()])
    print_queue(session, triage.listing(seen.queue, seen.labels, session.now()))
    asking = [label for label in seen.labels if label.status is Status.ATTENTION]
    if asking:
        paint.say([Text()])
        print_shown(session, review.show(opened, asking[-1].proposal.id))


@click.command()
@click.argument("folder", metavar="DIR")
@json_option
@pass_session
def init(session: Session, folder: str, as_json: bool) -> None:
    """Make an empty Hermes-shaped home with both gates on."""
    from console.sample.empty import write_empty

    _check_named("DIR", folder)
    home = write_empty(Path(folder))
    if as_json:
        print_json({"ok": True, "home": str(home)})
        return
    paint.tell(f"{home} is ready")
    there = replace(session, home=str(home), kind=None, profile=None)
    paint.hint("Look at it", there.command("status"))


@click.command()
@click.option("--check", is_flag=True, help="Exit 1 when something waits, 2 when unreadable.")
@click.option("--line", is_flag=True, help="One short line, for a prompt or a status bar.")
@click.option("--all-profiles", is_flag=True, help="What waits in each profile.")
@json_option
@pass_session
def status(session: Session, check: bool, line: bool, all_profiles: bool, as_json: bool) -> None:
    """Say what waits, since when, and whether the agent asks at all."""
    opened = session.read()
    if all_profiles:
        _tell_profiles(elsewhere.all_profiles(opened), opened, check, as_json)
        return
    seen = overview.overview(opened)
    if as_json:
        print_json(shapes.status(opened, seen))
    elif line:
        paint.say([Text(_line(seen))])
    else:
        say_home(opened)
        _print_status(seen, opened)
    for reason in (*seen.trouble, *overview.warnings(opened)):
        paint.remark(reason)
    if check:
        waits = bool(seen.queue.proposals or seen.queue.unreadable)
        sys.exit(2 if seen.trouble else int(waits))


def _tell_profiles(
    found: Sequence[elsewhere.Waiting], opened: Opened, check: bool, as_json: bool
) -> None:
    if as_json:
        print_json(shapes.profiles(opened, found))
    else:
        say_home(opened)
        _print_profiles(found)
    for each in found:
        for reason in each.trouble:
            paint.remark(f"What waits in {each.profile} is unknown: {reason}")
    if check:
        unknown = any(each.waiting is None for each in found)
        sys.exit(2 if unknown else int(any(each.waiting for each in found)))


def _print_profiles(found: Sequence[elsewhere.Waiting]) -> None:
    heads = ("PROFILE", "WAITING", "OLDEST", "HOME")
    rows = [
        [
            paint.clipped(each.profile, 40),
            Text("?" if each.waiting is None else str(each.waiting)),
            Text("" if each.oldest_seconds is None else paint.span(each.oldest_seconds)),
            paint.clipped(each.home, paint.SUMMARY),
        ]
        for each in found
    ]
    paint.say(paint.table(heads, rows, paint.room(), spare=("OLDEST",)))


def _line(seen: overview.Overview) -> str:
    waiting = f"{len(seen.queue.proposals)} waiting"
    if seen.oldest_seconds is not None:
        waiting += f", oldest {paint.span(seen.oldest_seconds)}"
    if seen.queue.unreadable:
        waiting += f", {len(seen.queue.unreadable)} unreadable"
    if seen.snoozed:
        waiting += f", {seen.snoozed} snoozed"
    if seen.trouble:
        waiting += ", a queue cannot be read"
    return waiting


def _print_status(seen: overview.Overview, opened: Opened) -> None:
    if settings := overview.settings(opened):
        said = ", ".join(f"{name} {'on' if on else 'off'}" for name, on in settings.items())
        paint.tell(f"settings of vak: {said}", "dim")
    else:
        paint.tell(f"judged as hermes-agent {seen.rules}", "dim")
    memory = sum(p.subsystem == "memory" for p in seen.queue.proposals)
    skills = len(seen.queue.proposals) - memory
    paint.tell(f"{_line(seen)}: {memory} for memory, {skills} for skills")
    room = paint.room()
    for word in Status:
        if number := seen.by_status.get(word):
            lead = Text(f"{number:>5} ") + paint.status(word)
            lead.append(" " * (20 - lead.cell_len))
            paint.say(paint.hang(lead, Text(paint.MEANINGS[word], style="dim"), room))
    for name, gate in seen.gates.items():
        state = "on" if gate.on else "off: the agent writes without asking"
        paint.tell(f"The {name} gate is {state} ({gate.reason})", "" if gate.on else "yellow")
    waiting = {"memory": memory, "skills": skills}
    if any(waiting[name] for name, gate in seen.gates.items() if not gate.on):
        paint.tell(_ALL_THE_SAME)


@click.command()
@click.argument("state", type=click.Choice(["on", "off"]))
@click.option("--subsystem", type=click.Choice(["memory", "skills"]), help="Only this gate.")
@json_option
@pass_session
def gate(session: Session, state: str, subsystem: str | None, as_json: bool) -> None:
    """Switch the agent's own write gates on or off.

    The keys are set in its config.yaml, where comments are kept. While a gate is off the agent
    writes without asking.
    """
    subsystems = (subsystem,) if subsystem else gates.SUBSYSTEMS
    # A gate that is off lets everything to come in unasked: that is for the person to decide.
    opened = session.open() if state == "on" else session.decide()
    receipt = gates.set_gate(opened, state == "on", subsystems)
    answer(session, opened, iter([receipt]), as_json, "done")


@click.command()
@json_option
@pass_session
def doctor(session: Session, as_json: bool) -> None:
    """Look at everything that could stand in the way; change nothing."""
    # What looks for faults must not stop at one of its own file.
    wrong: tuple[Check, ...] = ()
    try:
        if keys := session.settings().keys:
            importlib.import_module("console.keycheck").check_keys(keys)
    except UsageError as problem:
        wrong = (Check("settings", False, f"{problem.message}. {problem.hint}"),)
        session = replace(session, chosen=Settings())
    opened = session.open(stores=True)
    checks = (*wrong, *health.checkup(opened))
    if as_json:
        print_json(shapes.doctor(opened, checks))
        return
    _print_checks(checks)


def _print_checks(checks: tuple[Check, ...]) -> None:
    signs = {True: ("✓ ", "green", ""), False: ("✗ ", "red", "red"), None: ("· ", "dim", "dim")}
    for check in checks:
        sign, colour, style = signs[check.ok]
        body = paint.plain(f"{check.name}: {check.message}", style)
        paint.say(paint.hang(Text(sign, style=colour), body, paint.room()))
