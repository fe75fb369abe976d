"""``snooze``: a proposal that is not to be seen for a while."""

from __future__ import annotations

import click

from console.cli import paint
from console.cli.session import Session, json_option, pass_session, print_json, say_home
from core.desk import decisions
from core.errors import UsageError


@click.command()
@click.argument("token", metavar="ID")
@click.option("--until", metavar="7d|ISO", help="A length of time, or a date.")
@click.option("--wake", is_flag=True, help="Back into the queue now.")
@json_option
@pass_session
def snooze(session: Session, token: str, until: str | None, wake: bool, as_json: bool) -> None:
    """Leave a proposal out of the queue until a date.

    Nothing in the home is changed. `signoff pending --snoozed` lists it too. --all skips it;
    naming it decides it.
    """
    if wake == (until is not None):
        raise UsageError("Say until when, or --wake", "Such as `signoff snooze ID --until 7d`")
    opened = session.decide()
    moment = None if until is None else decisions.time_until(until, session.now())
    proposal = decisions.snooze(opened, token, moment)
    said = moment and moment.isoformat()
    if as_json:
        print_json({"ok": True, "id": token, "file": proposal.file, "until": said})
        return
    say_home(opened)
    if moment is None:
        paint.tell(f"{paint.word(token)} is awake.")
        return
    paint.tell(f"{paint.word(token)} sleeps until {moment:%Y-%m-%d %H:%M} UTC.")
    behind = "-- " if token.startswith("-") else ""
    paint.hint("Wake it", f"{session.command('snooze')} --wake {behind}{paint.word(token)}")
