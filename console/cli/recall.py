"""``recall``: the agent's own search tool, argument for argument."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from console.cli import paint, vak_recall
from console.cli.session import Session, json_option, pass_session, print_json, say_home
from core import text
from core.desk import asking
from core.errors import UsageError
from core.homes.base import Kind

Json = dict[str, Any]

#: Cells of a message in an answer for people; --json has all of it.
_MESSAGE = 240
_EXPLAINED = "Also say what the query became before it was asked."


@click.command(name="recall")
@click.option("--query", metavar="TEXT", help="What to look for; without it, browse.")
@click.option("--session-id", metavar="ID", help="Read this session, or a profile/id.")
@click.option("--around-message-id", metavar="MSG", help="With --session-id: what is around it.")
@click.option("--window", metavar="N", help="Messages on either side, 1 to 20; 5.")
@click.option("--limit", metavar="N", help="Sessions, 1 to 10; 3.")
@click.option("--sort", metavar="WORD", help="newest or oldest, instead of the best first.")
@click.option("--role-filter", metavar="ROLES", help="Roles, with commas; user,assistant.")
@click.option("--current-session-id", metavar="ID", help="The session that asks.")
@click.option("--profile", metavar="NAME", help="The tool's own argument: another profile's past.")
@click.option("--detail", metavar="WORD", help="Newest rules: full or adaptive.")
@click.option("--after", metavar="WHEN", help="Newest rules: sessions begun since; 2026-07-01, 7d.")
@click.option("--before", metavar="WHEN", help="Newest rules: sessions begun before.")
@click.option(
    "--exclude-session-ids",
    multiple=True,
    metavar="IDS",
    help="Newest rules: leave these out, with commas.",
)
@click.option(
    "--rules",
    type=click.Choice(["auto", "0.19", "newest"]),
    default="auto",
    show_default=True,
    help="Whose tool; auto: that of the home.",
)
@click.option("--explain", "explained", is_flag=True, help=_EXPLAINED)
@vak_recall.workspace_option
@vak_recall.scorer_option
@vak_recall.exclude_option
@vak_recall.curated_option
@json_option
@pass_session
def recall(
    session: Session,
    /,
    exclude_session_ids: tuple[str, ...],
    rules: str,
    explained: bool,
    workspace: str | None,
    scorer: str,
    exclude: str | None,
    bare: bool,
    as_json: bool,
    **arguments: str | None,
) -> None:
    """Ask what the agent's own tool session_search would answer.

    Its arguments are text and read as the tool reads them: --limit many is 3. With a query it
    searches, with a session it reads or, around a message, scrolls, with neither it browses.
    """
    opened = session.open(rules)
    given: dict[str, object] = {key: said for key, said in arguments.items() if said is not None}
    if exclude_session_ids:
        given["exclude_session_ids"] = _ids(exclude_session_ids)
    if opened.found.kind is Kind.VAK:
        vak_recall.answer(
            session,
            opened,
            given,
            workspace=workspace,
            scorer=scorer,
            exclude=exclude,
            curated=not bare,
            as_json=as_json,
        )
        return
    if workspace or exclude or bare:
        raise UsageError("--workspace, --exclude and --no-curated are for vak homes", "Leave them")
    answer = asking.recall(opened, given)
    if explained:
        answer["effective_query"] = asking.explain(opened, str(given.get("query", "")))
    if as_json:
        print_json(_finite(answer))
    else:
        if answer["success"]:
            say_home(opened)
        _print(session, answer, arguments["profile"] or "")
    if not answer["success"]:
        sys.exit(1)


def _ids(values: Sequence[str]) -> list[str]:
    """Ids as one gives them: several options, commas, or the tool's own JSON list."""
    found: list[str] = []
    for value in values:
        try:
            listed = json.loads(value)
        except ValueError:
            listed = None
        parts = listed if isinstance(listed, list) else value.split(",")
        found += [str(part) for part in parts]
    return found


def _finite(value: Any) -> Any:
    """``value`` without what JSON has no number for: an agent can have stored it."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# -- for people ------------------------------------------------------------------------------------


def _print(session: Session, answer: Json, profile: str) -> None:
    if "effective_query" in answer:
        paint.tell(f"Asked for: {answer['effective_query'] or '(nothing)'}", "dim")
    if not answer["success"]:
        paint.remark(str(answer["error"]))
        return
    for name in ("warning", "note"):
        if name in answer:
            paint.tell(str(answer[name]), "yellow")
    if "index_rebuild" in answer:
        paint.tell(str(answer["index_rebuild"]["note"]), "yellow")
    if answer["mode"] in ("scroll", "read"):
        _print_session(answer)
        return
    for result in answer["results"]:
        paint.say([Text()])
        (_print_hit if answer["mode"] == "discover" else _print_row)(result)
    if "message" in answer:
        paint.tell(str(answer["message"]).split(". Pass ")[0].rstrip(".") + ".", "dim")
    hits = [result for result in answer["results"] if result.get("match_message_id") is not None]
    if hits:
        place = ["--session-id", str(hits[0]["session_id"])]
        place += ["--around-message-id", str(hits[0]["match_message_id"])]
        if profile:
            place += ["--profile", profile]
        paint.hint("Read on", f"{session.command('recall')} {shlex.join(place)}")


def _print_hit(result: Json) -> None:
    paint.tell(str(result["title"] or result["session_id"]), "bold")
    facts = [result["session_id"], result["source"], result["when"], result["matched_role"]]
    if result["match_message_id"] is not None:
        facts.append(f"message {result['match_message_id']}")
    paint.tell(" · ".join(map(str, facts)), "dim")
    snippet = text.one_line(" ".join(str(result["snippet"]).split()), _MESSAGE)
    paint.say(paint.hang(Text("  "), Text(snippet), paint.room()))


def _print_row(result: Json) -> None:
    paint.tell(str(result["title"] or result["preview"] or result["session_id"]), "bold")
    count = paint.count(int(result["message_count"] or 0), "message")
    paint.tell(f"{result['session_id']} · {result['source']} · {count}", "dim")


def _print_session(answer: Json) -> None:
    about = answer["session_meta"]
    paint.tell(str(about["title"] or answer["session_id"]), "bold")
    facts = [answer["session_id"], about["source"], about["when"], about["model"]]
    paint.tell(" · ".join(str(fact) for fact in facts if fact), "dim")
    if "message" in answer:
        paint.tell(str(answer["message"]), "dim")
    for message in answer["messages"]:
        here = "→ " if message.get("anchor") else "  "
        lead = Text(here).append(f"{message['id']} {text.safe(str(message['role']))}  ", "dim")
        body = text.one_line(_words(message["content"]), _MESSAGE)
        paint.say(paint.hang(lead, Text(body), paint.room()))


def _words(content: Any) -> str:
    """What is readable of a content: the texts of its parts, if it has parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return " ".join(str(part) for part in parts if part) or "(no text)"
    return "" if content is None else " ".join(str(content).split())
