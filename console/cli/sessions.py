"""``sessions``, ``read``, ``stats``: past conversations, listed and read."""

from __future__ import annotations

import click
from rich.text import Text

from console.cli import paint, past_shapes, shapes
from console.cli.session import Session, json_option, pass_session, print_json, say_home
from core import conversations as past
from core import text
from core.desk import past as desk
from core.desk.opening import Opened

#: Rows of ``sessions`` unless --limit says otherwise.
ROWS = 20
#: Cells of a title; characters of a message that are printed before it is folded.
_TITLE, _FOLD = 48, 4_000


@click.command()
@click.option("--source", multiple=True, metavar="NAME", help="Only these, as cli or telegram.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=ROWS, show_default=True, help="So many rows."
)
@click.option("--all", "everything", is_flag=True, help="Archived and hidden ones, too.")
@json_option
@pass_session
def sessions(
    session: Session, source: tuple[str, ...], limit: int, everything: bool, as_json: bool
) -> None:
    """List past conversations, newest activity first.

    A conversation that compaction cut in parts is one row. What subagents did stands in the
    family of the session that called them: see `read`.
    """
    opened = session.open()
    wanted = past.Filters(sources=source, with_hidden=everything, with_archived=everything)
    lacks = desk.lacks_past(opened)
    found = past.Listing((), 0) if lacks else desk.listing(opened, wanted, limit)
    if as_json:
        print_json(shapes.home(opened) | past_shapes.listing(found))
        return
    say_home(opened)
    now = opened.clock()
    rows = [
        [
            Text(paint.age(each.last_active, now)),
            paint.clipped(each.source, 12),
            Text(f"{each.messages:,}"),
            paint.plain(each.id),
            paint.clipped(each.title or each.preview or "(nothing said)", _TITLE),
        ]
        for each in found.sessions
    ]
    if not rows:
        paint.tell(f"{lacks or 'No conversation is listed here'}.")
    else:
        heads = ["active", "source", "messages", "id", "title"]
        paint.say(paint.table(heads, rows, paint.room(), ["source", "messages"]))
    if (more := found.total - len(rows)) > 0:
        paint.tell(f"{more:,} more: --limit {found.total}", "dim")
    if found.archived or found.hidden:
        paint.tell(f"Left out: {found.archived:,} archived, {found.hidden:,} hidden (--all)", "dim")
    if rows:
        paint.hint("Read one", session.command("read", found.sessions[0].id))


@click.command()
@click.argument("which", metavar="SESSION")
@click.option("--around", type=int, metavar="MSG", help="Only what stands around this message.")
@click.option(
    "--window",
    type=click.IntRange(1, desk.WIDEST),
    default=desk.WINDOW,
    show_default=True,
    help="Messages on either side of it.",
)
@click.option("--all", "everything", is_flag=True, help="Every message, whatever the agent sees.")
@json_option
@pass_session
def read(
    session: Session, which: str, around: int | None, window: int, everything: bool, as_json: bool
) -> None:
    """Read a past conversation.

    SESSION is an id, a unique beginning of one, or a pasted @session:profile/id. A long one shows
    its first 20 and last 10 messages, as the agent's own tool does.
    """
    session = session.following([which])
    opened = session.open()
    found = desk.read(opened, which, around=around, window=window, everything=everything)
    if as_json:
        print_json(shapes.home(opened) | past_shapes.reading(found))
        return
    say_home(opened)
    print_reading(found, opened)
    if found.truncated:
        paint.hint("All of it", session.command("read", found.session.id) + " --all")


@click.command()
@json_option
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Count the past conversations."""
    opened = session.open()
    lacks = desk.lacks_past(opened)
    counted = past.Totals(0, 0, 0, {}, 0) if lacks else desk.totals(opened)
    if as_json:
        print_json(shapes.home(opened) | past_shapes.totals(counted))
        return
    say_home(opened)
    if lacks:
        paint.tell(f"{lacks}.")
        return
    paint.tell(
        f"{paint.count(counted.sessions, 'session')}, {counted.archived:,} of them archived;"
        f" {paint.count(counted.messages, 'message')} in {counted.database_bytes / 1e6:,.1f} MB"
    )
    rows = [
        [paint.clipped(source, 40), Text(f"{count:,}")]
        for source, count in sorted(counted.by_source.items(), key=lambda each: -each[1])
    ]
    paint.say(paint.table(["source", "sessions"], rows, paint.room()))


def print_reading(found: desk.Reading, opened: Opened) -> None:
    """A conversation as a person reads it: each message under a line that says whose it is."""
    session = found.session
    title = session.title or session.preview or session.id
    paint.tell(title, "bold")
    facts = [session.id, session.source, paint.moment(session.started_at), session.model]
    facts.append(paint.count(found.total, "message"))
    if found.rows > found.total:
        facts.append(f"{found.rows - found.total:,} more the agent does not see")
    paint.tell(" · ".join(filter(None, facts)), "dim")
    for relative in found.family if len(found.family) > 1 else ():
        here = "→" if relative.session.id == session.id else " "
        name = relative.session.title or relative.session.id
        words = f"{here} {'  ' * relative.depth}{name} ({relative.session.relation})"
        paint.say([paint.clipped(words, paint.room() or paint.SUMMARY)])
    for place, message in enumerate(found.messages):
        if found.truncated and place == desk.HEAD:
            paint.tell(f"… {found.total - len(found.messages):,} left out", "dim")
        paint.say([Text(), _head(message, message.id == found.around)])
        body = message.text if len(message.text) <= _FOLD else message.text[:_FOLD]
        room = paint.room()
        for line in text.safe(body, lines=True).split("\n") if body else ():
            paint.say(paint.hang(Text("  "), Text(line), room))
        if len(message.text) > _FOLD:
            paint.tell(f"  … {len(message.text) - _FOLD:,} more characters: --json has them", "dim")
        for call in message.tool_calls:
            words = f"  ⟨calls {call.name}⟩ {call.arguments}"
            paint.say([paint.clipped(words, room or paint.SUMMARY)])


def _head(message: past.Message, anchor: bool) -> Text:
    who = message.tool_name or message.role if message.role == "tool" else message.role
    words = [f"#{message.id}", who, paint.moment(message.at)]
    if message.visibility is not past.Visibility.LIVE:
        words.append(f"({message.visibility})")
    words += [f"({note})" for note in (*message.notes, message.handoff) if note]
    line = paint.plain(" ".join(filter(None, words)), "bold")
    return Text("→ ", style="bold") + line if anchor else line
