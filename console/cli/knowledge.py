"""``knowledge``: the note store of projects, asked and decided on from the command line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
from rich.text import Text

from console.cli import knowledge_shapes as shapes
from console.cli import paint
from console.cli.session import Session, json_option, note_option, pass_session, print_json
from console.cli.shelf import (
    open_shelf,
    project_of,
    project_option,
    say_receipt,
    say_store,
    store_option,
)
from core.desk import knowledge as desk
from core.desk.knowledge import Shelf
from core.errors import NotFoundError
from core.homes.rag.learning import KIND
from core.homes.rag.nodes import SHORT, Layer, Node
from core.homes.rag.ranking import Engine
from core.homes.rag.recall import AUTO, MOST, TOPS, Tops
from core.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])
_ENGINES = {
    Engine.LEXICAL: "Found by words.",
    Engine.FUSED: "Found by words and meaning.",
}
#: What ``recall --layer`` knows; another word gives the first line only.
_LAYERS = (AUTO, *map(str, Layer))
#: Notes listed unless more are asked for.
LISTED = 40

#: Commands that live in a module of their own.
_ELSEWHERE = (
    *("ingest-code", "ingest-wiki", "merge", "export", "restore", "compare"),
    *("migrate-status", "undo", "journal"),
)


class Group(click.Group):
    """Its own commands, and those of the longer works, loaded when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *_ELSEWHERE]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module("console.cli.knowledge_work")
        found: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return found


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def knowledge(context: click.Context) -> None:
    """Ask and keep the notes of projects.

    Wiki, code and what was learnt. The store is --store, else HERMES_RAG_STORE, else ~/hermes-rag:
    signoff's own, or a Chroma store that is there. Nothing of it leaves this machine. Notes are
    never deleted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# -- asking ----------------------------------------------------------------------------------------


@knowledge.command()
@click.argument("query", metavar="QUERY")
@project_option
@click.option(
    "--layer",
    metavar="|".join(_LAYERS),
    default=AUTO,
    show_default=True,
    help="Only this layer; memory has the notes of every project, too.",
)
@click.option("--top-wiki", type=click.IntRange(0, MOST), default=TOPS.wiki, show_default=True)
@click.option("--top-code", type=click.IntRange(0, MOST), default=TOPS.code, show_default=True)
@click.option("--top-memory", type=click.IntRange(0, MOST), default=TOPS.memory, show_default=True)
@store_option
@json_option
@pass_session
def recall(
    session: Session,
    query: str,
    project: str,
    layer: str,
    top_wiki: int,
    top_code: int,
    top_memory: int,
    store: str | None,
    as_json: bool,
) -> None:
    """Say what the store has on a question: wiki, code, notes, notes of every project."""
    shelf = open_shelf(session, store)
    name = project_of(session, shelf, project)
    answer = desk.recall(shelf, query, name, layer=layer, tops=Tops(top_wiki, top_code, top_memory))
    if as_json:
        print_json(shapes.store(shelf) | shapes.recall(answer))
        return
    paint.say([paint.plain(line) for line in answer.recalled.lines])
    if sys.stdout.isatty():
        # Programs get the stated lines and nothing else; `--json` has the engine.
        more = "--top-memory, --top-wiki and --top-code show more than the best of each."
        paint.tell(f"{_ENGINES[answer.engine]} {more}", "dim")
    if answer.note:
        paint.remark(f"Answered {answer.note}")
    if layer not in _LAYERS:
        paint.remark(f"There is no layer {layer!r}: say {', '.join(_LAYERS)}")


@knowledge.command()
@click.argument("text", metavar="TEXT")
@project_option
@click.option("--kind", default=KIND, show_default=True, help="`rag:gotcha` merges into rag.md.")
@click.option("--supersedes", default="", metavar="ID", help="The note it takes the place of.")
@store_option
@json_option
@pass_session
def learn(
    session: Session,
    text: str,
    project: str,
    kind: str,
    supersedes: str,
    store: str | None,
    as_json: bool,
) -> None:
    """Keep a note. The same text twice is one note; the oldest past the cap are archived."""
    shelf = open_shelf(session, store, decide=bool(supersedes))
    name = project_of(session, shelf, project)
    found, receipt = desk.learn(shelf, text, name, kind=kind, supersedes=supersedes)
    secrets = desk.secrets(text)
    if as_json:
        said = shapes.learnt(found, secrets)
        journal = receipt.journal if receipt else None
        print_json(shapes.store(shelf) | said | {"journal": journal})
    else:
        paint.say([paint.plain(found.text)])
        if sys.stdout.isatty():
            how = "Kept" if found.was is None else "There already"
            paint.tell(f"{how} in project {name}", "dim")
    if secrets:
        paint.remark(f"The note seems to hold a secret ({', '.join(secrets)}): retire it if so")


@knowledge.command()
@click.argument("which", required=False, metavar="[ID]")
@project_option
@click.option(
    "--layer", type=click.Choice([*map(str, Layer)]), default=str(Layer.MEMORY), show_default=True
)
@click.option("--status", metavar="WORD", help="live, active, superseded, retired, archived.")
@click.option("--limit", type=click.IntRange(min=1), default=LISTED, show_default=True)
@store_option
@json_option
@pass_session
def nodes(
    session: Session,
    which: str | None,
    project: str,
    layer: str,
    status: str | None,
    limit: int,
    store: str | None,
    as_json: bool,
) -> None:
    """List the notes of a project, the newest first.

    With ID: that one, between the notes it took the place of and those that took its place.
    """
    shelf = open_shelf(session, store)
    name = project_of(session, shelf, project)
    if which is not None:
        found = desk.timeline(shelf, desk.note(shelf, name, which))
    else:
        found = desk.notes(shelf, name, Layer(layer), status=status, limit=limit)
    if as_json:
        said = {"project": name, "nodes": [shapes.node(each) for each in found]}
        print_json(shapes.store(shelf) | said)
        return
    say_store(shelf)
    if not found:
        paint.tell(f"There are no such notes of {name}.")
        for other, layers in desk.all_projects(shelf).items():
            counts = ", ".join(f"{count:,} {each}" for each, count in layers.items())
            paint.tell(f"{other}: {counts}", "dim")
    elif which is None:
        heads = ("ID", "STATUS", "CREATED", "KIND", "TEXT")
        rows = [_cells(each) for each in found]
        paint.say(paint.table(heads, rows, paint.room(), spare=("KIND", "CREATED")))
    else:
        for each in found:
            _print_note(each)


def _cells(node: Node) -> list[Text]:
    return [
        paint.clipped(node.id[:SHORT], 12),
        paint.clipped(node.status, 12),
        paint.clipped(node.text("created")[:10], 12),
        paint.clipped(node.text("kind") or node.text("path"), 24),
        paint.clipped(node.document, paint.SUMMARY),
    ]


def _print_note(node: Node) -> None:
    room = paint.room()
    paint.say(paint.hang(Text(), paint.plain(f"{node.id} ({node.status})", "bold"), room))
    paint.say(paint.hang(Text("  "), paint.block(node.document), room))
    for key, value in sorted(node.shown.items()):
        if key != "status":
            paint.say(paint.hang(Text("  "), paint.plain(f"{key}: {value}", "dim"), room))


@knowledge.command()
@project_option
@store_option
@json_option
@pass_session
def stats(session: Session, project: str, store: str | None, as_json: bool) -> None:
    """Count what there is, say what is due, and which settings are in force."""
    shelf = open_shelf(session, store)
    name = project_of(session, shelf, project)
    found, warnings = desk.stats(shelf, name), desk.warnings(shelf)
    if as_json:
        more = {
            "warnings": list(warnings),
            "projects": shapes.projects(desk.all_projects(shelf)),
            "settings": shapes.settings(shelf.rag),
        }
        print_json(shapes.store(shelf) | shapes.stats(found) | more)
        return
    say_store(shelf)
    layers = ", ".join(f"{count:,} {layer}" for layer, count in found.layers.items())
    paint.tell(f"{found.project}: {layers}; {found.global_notes:,} notes of every project")
    due = ": a merge is due" if found.due else ""
    paint.tell(f"{paint.count(found.staged, 'note')} staged of {shelf.rag.memory_cap}{due}")
    paint.tell(f"wiki: {found.wiki_suggestion}", "dim")
    for warning in warnings:
        paint.tell(f"! {warning}", "yellow")
    heads = ("SETTING", "FROM", "VALUE")
    rows = [
        [Text(each.name), Text(each.origin), paint.clipped(each.value, 80)]
        for each in shelf.rag.told
    ]
    paint.say(paint.table(heads, rows, paint.room(), spare=("FROM",)))


# -- decisions on notes ----------------------------------------------------------------------------


@knowledge.command()
@click.argument("which", metavar="ID")
@click.option("--reason", default="", metavar="TEXT", help="Kept with the note.")
@project_option
@store_option
@note_option
@json_option
@pass_session
def retire(
    session: Session,
    which: str,
    reason: str,
    project: str,
    store: str | None,
    note: str,
    as_json: bool,
) -> None:
    """Take a note out because it is wrong or over."""
    shelf = open_shelf(session, store, decide=True)
    plan = desk.retire(shelf, project_of(session, shelf, project), which, reason)
    _answer(session, shelf, plan, note, as_json)


@knowledge.command()
@click.argument("which", metavar="ID")
@click.argument("by", metavar="SUCCESSOR")
@project_option
@store_option
@note_option
@json_option
@pass_session
def supersede(
    session: Session,
    which: str,
    by: str,
    project: str,
    store: str | None,
    note: str,
    as_json: bool,
) -> None:
    """Say that a note is replaced by another one that is there."""
    shelf = open_shelf(session, store, decide=True)
    plan = desk.supersede(shelf, project_of(session, shelf, project), which, by)
    _answer(session, shelf, plan, note, as_json)


@knowledge.command()
@click.argument("which", metavar="ID")
@project_option
@store_option
@note_option
@json_option
@pass_session
def archive(
    session: Session, which: str, project: str, store: str | None, note: str, as_json: bool
) -> None:
    """Put a note away: it is kept, and found no more."""
    shelf = open_shelf(session, store, decide=True)
    plan = desk.archive(shelf, project_of(session, shelf, project), which)
    _answer(session, shelf, plan, note, as_json)


@knowledge.command()
@click.argument("which", metavar="ID")
@project_option
@store_option
@note_option
@json_option
@pass_session
def reactivate(
    session: Session, which: str, project: str, store: str | None, note: str, as_json: bool
) -> None:
    """Make a note active again, whatever took it out."""
    shelf = open_shelf(session, store, decide=True)
    plan = desk.reactivate(shelf, project_of(session, shelf, project), which)
    _answer(session, shelf, plan, note, as_json)


def _answer(session: Session, shelf: Shelf, plan: Plan, note: str, as_json: bool) -> None:
    if plan.outcome.category == "no_match":
        raise NotFoundError(plan.outcome.message, "See `signoff knowledge nodes`")
    receipt = desk.carry_out(shelf, plan, note)
    if as_json:
        print_json(shapes.store(shelf) | shapes.decided(plan, receipt))
    else:
        say_store(shelf)
        say_receipt(session, shelf, receipt)
    if not receipt.ok:
        sys.exit(1)
