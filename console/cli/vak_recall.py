"""``recall`` on a vak home: what its own tool ``session_search`` would answer."""

from __future__ import annotations

from collections.abc import Mapping

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.catching_up import catch_up
from console.cli.session import Session, print_json, say_home
from core import text
from core.desk import recalling as desk
from core.desk.opening import Opened
from core.desk.overview import settings, switched_off
from core.errors import UsageError
from core.homes.vak.recall.ranking import Hit
from core.homes.vak.times import written

#: Arguments of the other agent's tool that this one has not.
_OTHERS = (
    *("session_id", "around_message_id", "window", "sort", "role_filter"),
    *("current_session_id", "profile", "detail", "after", "before", "exclude_session_ids"),
)
_SNIPPET = 240


def answer(
    session: Session,
    opened: Opened,
    given: Mapping[str, object],
    *,
    workspace: str | None,
    scorer: str,
    exclude: str | None,
    curated: bool,
    as_json: bool,
) -> None:
    """Ask and print. Raises :class:`UsageError` for arguments that vak's tool has not."""
    if others := [name for name in _OTHERS if given.get(name) is not None]:
        option = "--" + others[0].replace("_", "-")
        raise UsageError(f"vak's recall has no {option}", "See `signoff recall --help`")
    query = given.get("query")
    if query is None:
        raise UsageError("vak's recall needs a --query", "`signoff sessions` lists its ledgers")
    request = desk.Request(
        str(query),
        workspace or desk.EVERYWHERE,
        _limit(given.get("limit")),
        exclude,
        desk.Scorer(scorer),
        curated,
    )
    catch_up(opened)
    found = desk.recall(opened, request)
    if as_json:
        hits = [shape(hit) for hit in found.hits]
        print_json(shapes.home(opened) | {"matches": found.matches, "hits": hits})
        return
    say_home(opened)
    for sentence in switched_off(settings(opened), "search_enabled"):
        paint.tell(f"{sentence}.", "yellow")
    for number, hit in enumerate(found.hits, 1):
        _print_hit(number, hit)
    more = found.matches - len(found.hits)
    count = paint.count(found.matches, "match", "matches")
    paint.tell(f"{count}, {more:,} of them not shown." if more else f"{count}.", "dim")
    spoken = next((hit for hit in found.hits if not hit.document.is_curated), None)
    if spoken is not None:
        line = session.command("read", spoken.document.session_id)
        paint.hint("Read on", f"{line} --around {spoken.document.line}")


def shape(hit: Hit) -> shapes.Json:
    """One hit; ``project_hash`` only where all workspaces were searched."""
    document = hit.document
    return {
        "session_id": document.session_id,
        "entry_id": document.entry_id,
        "message_id": document.line or None,
        "ts": written(document.at),
        "role": document.role,
        "score": round(hit.score, 5),
        "snippet": hit.snippet,
        "project_hash": document.project or None,
    }


def _limit(given: object) -> int:
    """Arguments are text, and what is no number is the default, as with the other agent's tool."""
    try:
        return int(str(given))
    except ValueError:
        return desk.DEFAULT


def _print_hit(number: int, hit: Hit) -> None:
    document = hit.document
    facts = [
        f"[{number}] {document.session_id}",
        written(document.at)[:10],
        document.role,
        f"(score {hit.score:.2f})",
    ]
    paint.say([Text()])
    paint.say(paint.hang(Text(), paint.plain(" · ".join(facts), "bold"), paint.room()))
    said = text.one_line(" ".join(hit.snippet.split()), _SNIPPET)
    paint.say(paint.hang(Text("  "), Text(said), paint.room()))


workspace_option = click.option(
    "--workspace", metavar="PATH", help="vak: only this workspace, its path or hash; * is all."
)
scorer_option = click.option(
    "--scorer",
    type=click.Choice([str(each) for each in desk.Scorer]),
    default=str(desk.Scorer.CLASSIC),
    help="vak: which of its scorers.",
)
exclude_option = click.option("--exclude", metavar="ID", help="vak: the session that asks.")
curated_option = click.option(
    "--no-curated", "bare", is_flag=True, help="vak: conversations only, no notes."
)
