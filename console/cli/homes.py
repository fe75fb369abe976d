"""``demo``, ``init``, ``status``, ``gate``, ``doctor``: homes as a whole."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from console.cli import paint, shapes
from console.cli.review import print_queue, print_shown
from console.cli.session import Session, json_option, pass_session, print_json
from core.desk import gates, overview, review
from core.desk.opening import Opened
from core.homes.hermes.status import Status


@click.command()
@click.option("--into", metavar="DIR", help="Only write the sample home there.")
@json_option
@pass_session
def demo(session: Session, into: str | None, as_json: bool) -> None:
    """Try signoff on a fresh copy of the sample home."""
    from console.sample import write_sample

    folder = Path(into) if into else Path(tempfile.mkdtemp(prefix="signoff-demo-")) / "home"
    write_sample(folder, session.now())
    if as_json:
        print_json({"home": str(folder)})
    elif into:
        paint.stdout().print(paint.plain(f"The sample home is in {folder}"))
    else:
        _tour(replace(session, home=str(folder), kind=None, profile=None))


def _tour(session: Session) -> None:
    opened = session.open()
    seen = overview.overview(opened)
    out = paint.stdout()
    _print_status(opened, seen)
    out.print()
    print_queue(opened, seen.labels, seen.queue.unreadable)
    asking = [label for label in seen.labels if label.status is Status.ATTENTION]
    if asking:
        out.print()
        print_shown(opened, review.show(opened, asking[0].proposal.id))
    out.print()
    out.print(paint.plain(f"Go on with: signoff --home {opened.found.home} pending"))


@click.command()
@click.argument("folder", metavar="DIR")
@json_option
@pass_session
def init(session: Session, folder: str, as_json: bool) -> None:
    """Make an empty Hermes-shaped home with both gates on."""
    from console.sample.empty import write_empty

    home = write_empty(Path(folder))
    if as_json:
        print_json({"ok": True, "home": str(home)})
        return
    paint.stdout().print(paint.plain(f"{home} is ready. Look at it: signoff --home {home} status"))


@click.command()
@click.option("--check", is_flag=True, help="Exit 1 when something waits, 2 when unreadable.")
@click.option("--line", is_flag=True, help="One short line, for a prompt or a status bar.")
@json_option
@pass_session
def status(session: Session, check: bool, line: bool, as_json: bool) -> None:
    """Say what waits, since when, and whether the agent asks at all."""
    opened = session.open()
    seen = overview.overview(opened)
    if as_json:
        print_json(shapes.status(opened, seen))
    elif line:
        paint.stdout().print(_line(seen))
    else:
        _print_status(opened, seen)
    for reason in seen.trouble:
        paint.stderr().print(paint.plain(f"signoff: {reason}"))
    if check:
        waits = bool(seen.queue.proposals or seen.queue.unreadable)
        sys.exit(2 if seen.trouble else int(waits))


def _line(seen: overview.Overview) -> str:
    waiting = f"{len(seen.queue.proposals)} waiting"
    if seen.oldest_seconds is not None:
        waiting += f", oldest {paint.span(seen.oldest_seconds)}"
    if seen.queue.unreadable:
        waiting += f", {len(seen.queue.unreadable)} unreadable"
    return waiting


def _print_status(opened: Opened, seen: overview.Overview) -> None:
    out = paint.stdout()
    found = opened.found
    out.print(paint.plain(f"{found.home}", "bold"))
    rules = f"{found.kind}, profile {found.profile}, judged as hermes-agent {seen.rules}"
    out.print(paint.plain(rules, "dim"))
    memory = sum(p.subsystem == "memory" for p in seen.queue.proposals)
    skills = len(seen.queue.proposals) - memory
    out.print(f"{_line(seen)}: {memory} for memory, {skills} for skills")
    words = [f"{n} {s.replace('_', ' ')}" for s, n in sorted(seen.by_status.items())]
    if words:
        out.print(f"  {paint.listed(words)}")
    for name, gate in seen.gates.items():
        state = "on" if gate.on else "off: the agent writes without asking"
        out.print(paint.plain(f"{name} gate {state} ({gate.reason})", "" if gate.on else "yellow"))
    for other in found.others:
        out.print(paint.plain(f"also here: {other.path} ({other.kind})", "dim"))


@click.command()
@click.argument("state", type=click.Choice(["on", "off"]))
@click.option("--subsystem", type=click.Choice(["memory", "skills"]), help="Only this gate.")
@json_option
@pass_session
def gate(session: Session, state: str, subsystem: str | None, as_json: bool) -> None:
    """Switch the agent's own write gates, comments in its config kept."""
    subsystems = (subsystem,) if subsystem else gates.SUBSYSTEMS
    receipt = gates.set_gate(session.open(), state == "on", subsystems)
    if as_json:
        print_json(shapes.results([receipt]))
    else:
        out = paint.stdout()
        sign = "✓" if receipt.ok else "✗"
        out.print(paint.plain(f"{sign} {receipt.message}", "" if receipt.ok else "red"))
    if not receipt.ok:
        sys.exit(1)


@click.command()
@json_option
@pass_session
def doctor(session: Session, as_json: bool) -> None:
    """Look at everything that could stand in the way; change nothing."""
    opened = session.open()
    checks = overview.checkup(opened)
    if as_json:
        print_json(shapes.doctor(opened, checks))
        return
    out = paint.stdout()
    signs = {True: ("✓", ""), False: ("✗", "red"), None: ("·", "dim")}
    for check in checks:
        sign, style = signs[check.ok]
        out.print(paint.plain(f"{sign} {check.name}: {check.message}", style))
