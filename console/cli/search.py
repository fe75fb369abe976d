"""``search``: what was said, found as a person asks for it."""

from __future__ import annotations

from collections.abc import Mapping

import click
from rich.text import Text

from console.cli import paint, past_shapes, shapes
from console.cli.catching_up import catch_up
from console.cli.session import Session, json_option, pass_session, print_json, say_home
from core import text
from core.conversations import Engine, Filters, Found, Hit, Order, Visibility
from core.desk import searching
from core.desk.past import lacks_past, names_of
from core.errors import UsageError
from core.recall.filters import Clock, moment

#: Cells of a title above its snippet.
_TITLE = 60


@click.command()
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@click.option("--source", multiple=True, metavar="NAME", help="Only these, as cli or telegram.")
@click.option("--role", multiple=True, metavar="ROLE", help="Only these: user, assistant, tool.")
@click.option("--after", metavar="WHEN", help="Not before this: 2026-07-01, 7d.")
@click.option("--before", metavar="WHEN", help="Only before this.")
@click.option(
    "--sort",
    type=click.Choice([str(order) for order in Order]),
    default=str(Order.RANKED),
    show_default=True,
    help="The best first, or by time.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=searching.LIMIT,
    show_default=True,
    help="So many sessions.",
)
@click.option("--tool-output", is_flag=True, help="What tools answered, too.")
@click.option("--hidden", is_flag=True, help="What subagents and other tools said, too.")
@click.option("--undone", is_flag=True, help="What was taken back, too.")
@json_option
@pass_session
def search(
    session: Session,
    words: tuple[str, ...],
    source: tuple[str, ...],
    role: tuple[str, ...],
    after: str | None,
    before: str | None,
    sort: str,
    limit: int,
    tool_output: bool,
    hidden: bool,
    undone: bool,
    as_json: bool,
) -> None:
    """Search what was said in past conversations.

    Words must stand in one message; "phrases", word*, OR, NOT and -word work, as do source: role:
    after: before: title: in: among the words. Behind -- a query may begin with a dash.
    """
    opened = session.open()
    clock = Clock(opened.clock(), zone=None)
    filters = Filters(
        sources=source,
        roles=role,
        after=_moment("--after", after, clock),
        before=_moment("--before", before, clock),
        with_hidden=hidden,
        with_tool_output=tool_output,
        with_undone=undone,
    )
    request = searching.Request(" ".join(words), None, filters, Order(sort), limit)
    if lacks := lacks_past(opened):
        found = Found(request.text, request.text, Engine.DATABASE, note=lacks)
    else:
        catch_up(opened)
        found = searching.search(opened, request)
    if as_json:
        print_json(shapes.home(opened) | past_shapes.found(found))
        return
    say_home(opened)
    untitled = [hit.session_id for hit in found.hits if not hit.title]
    _print(session, found, names_of(opened, untitled))


def _moment(option: str, value: str | None, clock: Clock) -> float | None:
    if value is None:
        return None
    found = moment(value, clock)
    if found is None:
        raise UsageError(f"{option} {value!r} is no time", "As in 2026-07-01, 2026-07-01T12:00, 7d")
    return found


def _print(session: Session, found: Found, names: Mapping[str, str]) -> None:
    if found.literally or found.effective != found.query.strip():
        literally = " (read word by word)" if found.literally else ""
        paint.tell(f"Searched for: {found.effective}{literally}", "dim")
    for asked, word in found.corrected:
        paint.tell(f"Nothing says {asked}: searched for {word}", "yellow")
    for hit in found.hits:
        paint.say([Text(), *_hit(hit, names)])
    if not found.hits:
        paint.tell("Nothing was found. All words must stand in one message: try fewer, or OR.")
    left = [
        (found.tool_output, "in what tools answered", "--tool-output"),
        (found.hidden_sources, "of subagents and other tools", "--hidden"),
        (found.undone, "taken back", "--undone"),
    ]
    said = [f"{count:,} {what} ({option})" for count, what, option in left if count]
    if found.hits or said:
        paint.say([Text()])
    if said:
        paint.tell(f"Left out: {paint.listed(said)}", "dim")
    more = found.total_sessions - len(found.hits)
    # The index counts what was taken back as well, until it is looked at.
    rough = "about " if found.engine is Engine.INDEX else "at least "
    count = ("" if found.is_whole else rough) + paint.count(found.total_sessions, "session")
    rest = f", {more:,} of them not shown: --limit {found.total_sessions}" if more > 0 else ""
    note = f"; {found.note}" if found.note else ""
    paint.tell(f"{count}{rest} · answered by the {found.engine}{note}", "dim")
    if found.hits:
        first = found.hits[0]
        line = session.command("read", first.session_id)
        paint.hint("Read on", f"{line} --around {first.message_id}")


def _hit(hit: Hit, names: Mapping[str, str]) -> list[Text]:
    facts = [hit.session_id, hit.source, paint.moment(hit.at), f"#{hit.message_id} {hit.role}"]
    if hit.visibility is not Visibility.LIVE:
        facts.append(str(hit.visibility))
    if hit.more:
        facts.append(f"{hit.more:,} more here")
    lead = paint.clipped(hit.title or names.get(hit.session_id, hit.session_id), _TITLE)
    lead.stylize("bold")
    body, spans = text.safe_spans(" ".join(hit.snippet.split(" ")), hit.spans)
    marked = Text(body.replace("\n", " "))
    for start, end in spans:
        marked.stylize("bold reverse", start, end)
    room = paint.room()
    lines = paint.hang(Text("  "), marked, room)
    return [lead, paint.plain("  " + " · ".join(filter(None, facts)), "dim"), *lines]
