"""The longer works of ``knowledge``: ingest, merge, export, restore, compare, and taking back."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from console.cli import knowledge_shapes as shapes
from console.cli import paint
from console.cli import shapes as common
from console.cli.session import Session, json_option, note_option, pass_session, print_json
from console.cli.shelf import (
    open_shelf,
    project_of,
    project_option,
    say_receipt,
    say_store,
    store_option,
)
from core.desk import history
from core.desk import knowledge_work as desk
from core.errors import UsageError
from core.homes.rag.building import Ingested
from core.homes.rag.ingest import Progress
from core.homes.rag.merge import Merge
from core.homes.rag.nodes import SHORT
from core.model import Change
from core.plan import Plan

#: Seconds between two lines of progress.
EVERY = 2.0


class _Telling:
    """Says on stderr how far an ingest is, now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            done = f"{progress.files:,} of {paint.count(progress.of_files, 'file')}"
            paint.remark(f"{done}, {paint.count(progress.pieces, 'piece')}")


@click.command()
@click.argument("root", metavar="ROOT")
@project_option
@click.option("--keep", is_flag=True, help="Add to what is there instead of building it anew.")
@store_option
@json_option
@pass_session
def ingest_code(
    session: Session, root: str, project: str, keep: bool, store: str | None, as_json: bool
) -> None:
    """Take the code below ROOT in; what was there is found until the new is whole.

    Interrupted, it goes on where it was. The project is the folder's name unless --project says
    another.
    """
    shelf = open_shelf(session, store)
    found = desk.ingest_code(shelf, Path(root), project, rebuild=not keep, tell=_Telling())
    _say_ingested(found, as_json, shapes.store(shelf))


@click.command()
@click.argument("folder", metavar="DIR")
@project_option
@store_option
@json_option
@pass_session
def ingest_wiki(
    session: Session, folder: str, project: str, store: str | None, as_json: bool
) -> None:
    """Take the wiki pages (*.md) below DIR in, cut at their headings."""
    shelf = open_shelf(session, store)
    found = desk.ingest_wiki(shelf, Path(folder), project, tell=_Telling())
    _say_ingested(found, as_json, shapes.store(shelf))


def _say_ingested(found: Ingested, as_json: bool, store: shapes.Json) -> None:
    if as_json:
        print_json(store | shapes.ingested(found))
        return
    behind = f", went on behind {found.resumed_at:,}" if found.resumed_at else ""
    files = paint.count(found.files, "file")
    paint.tell(f"{found.project}: {files} in {paint.count(found.pieces, 'piece')}{behind}")


@click.command()
@project_option
@click.option("--apply", is_flag=True, help="Write it; without, it is only shown.")
@click.option("--token", metavar="T", help="Apply only the very merge that was shown with it.")
@store_option
@note_option
@json_option
@pass_session
def merge(
    session: Session,
    project: str,
    apply: bool,
    token: str | None,
    store: str | None,
    note: str,
    as_json: bool,
) -> None:
    """Work the staged notes into the project's wiki pages.

    Notes of a kind like `rag:gotcha` go to modules/rag.md, the others stay. Merged notes are
    archived, never deleted; all of it is one step to undo.
    """
    shelf = open_shelf(session, store, decide=apply)
    name = project_of(session, shelf, project)
    found, plan = desk.plan_merge(shelf, name)
    now, receipt, warning = desk.merge_token(plan), None, ""
    if apply and token is not None and token != now:
        raise UsageError("The merge is not the one that was shown", "Look at it again")
    if apply:
        receipt, warning = desk.carry_out_merge(shelf, found, plan, note)
    if as_json:
        print_json(shapes.store(shelf) | shapes.merge(found, plan, now, receipt))
    else:
        say_store(shelf)
        _print_merge(found, plan)
        if receipt is not None:
            say_receipt(session, shelf, receipt)
        else:
            paint.tell(plan.outcome.message)
            if plan.changes:
                line = session.command("knowledge", "merge")
                where = (
                    f"--project {paint.word(name)} --store {paint.word(str(shelf.store.folder))}"
                )
                paint.hint("Apply just this", f"{line} {where} --apply --token {now}")
    if warning:
        paint.remark(warning)
    if receipt is not None and not receipt.ok:
        sys.exit(1)


def _print_merge(found: Merge, plan: Plan) -> None:
    for page in found.pages:
        how = "rewritten by the model" if page.rewritten else "appended"
        why = f" ({'; '.join(page.why)})" if page.why else ""
        paint.tell(f"{page.path}: {paint.count(len(page.notes), 'note')} {how}{why}", "bold")
    for change in plan.changes:
        if isinstance(change, Change) and shapes.is_page(change):
            paint.say([paint.block(shapes.page_diff(change).rstrip("\n"))])
    for node, why in found.manual:
        paint.tell(f"{node.id[:SHORT]} stays: {why}", "dim")


@click.command()
@click.option("--out", required=True, metavar="F", help="The file; numbers go beside it.")
@click.option("--no-vectors", is_flag=True, help="Texts only.")
@store_option
@json_option
@pass_session
def export(session: Session, out: str, no_vectors: bool, store: str | None, as_json: bool) -> None:
    """Write the whole store to a file, a node a line."""
    shelf = open_shelf(session, store)
    found = desk.export(shelf, Path(out), vectors=not no_vectors)
    if as_json:
        print_json(shapes.store(shelf) | shapes.exported(found))
        return
    say_store(shelf)
    numbers = f", numbers in {found.numbers.name}" if found.numbers else ""
    paint.tell(f"{paint.count(sum(found.collections.values()), 'node')} in {out}{numbers}")


@click.command()
@click.option("--in", "source", required=True, metavar="F", help="An export.")
@click.option("--store", required=True, metavar="S", help="The store to write.")
@click.option("--force", is_flag=True, help="Put it in the place of what is there.")
@json_option
@pass_session
def restore(session: Session, source: str, store: str, force: bool, as_json: bool) -> None:
    """Write an export into a store, or nothing of it."""
    shelf = open_shelf(session, store, decide=force)
    found = desk.restore(shelf, Path(source), force=force)
    if as_json:
        print_json(shapes.store(shelf) | shapes.restored(found))
        return
    say_store(shelf)
    for name, count in found.collections.items():
        paint.tell(f"{name}: {paint.count(count, 'node')}")
    for warning in found.warnings:
        paint.tell(f"! {warning}", "yellow")


@click.command()
@click.option("--a", required=True, metavar="A", help="One store.")
@click.option("--b", required=True, metavar="B", help="The other.")
@click.option("--collection", metavar="C", help="Only this collection.")
@click.option("--query", default="", metavar="Q", help="What each finds first, too.")
@click.option("--top", type=click.IntRange(1, 100), default=3, show_default=True)
@json_option
@pass_session
def compare(
    session: Session,
    a: str,
    b: str,
    collection: str | None,
    query: str,
    top: int,
    as_json: bool,
) -> None:
    """Hold two stores side by side; exit 1 unless they are the same."""
    shelf = open_shelf(session, None)
    found = desk.compare(shelf, Path(a), Path(b), collection=collection, query=query, top=top)
    if as_json:
        print_json(shapes.compared(found))
    else:
        for pair in found.pairs:
            word = "MISMATCH" if not pair.ok else "ok" if pair.same else "ok, contents differ"
            paint.tell(f"{pair.collection}: {pair.a:,} / {pair.b:,} {word}")
        for side, names in (("a", found.top_a), ("b", found.top_b)):
            if query:
                paint.tell(f"{side}: {', '.join(names) or 'nothing'}")
        paint.tell("identical" if found.identical else "NOT identical")
    if not found.identical:
        sys.exit(1)


@click.command()
@click.option("--apply", is_flag=True, help="Do it; without, it is only counted.")
@store_option
@json_option
@pass_session
def migrate_status(session: Session, apply: bool, store: str | None, as_json: bool) -> None:
    """Give nodes of older stores the status they lack; done twice, it changes nothing."""
    shelf = open_shelf(session, store, decide=apply)
    found = desk.migrate_status(shelf, apply=apply)
    if as_json:
        print_json(shapes.store(shelf) | shapes.stamped(found))
        return
    say_store(shelf)
    word = "stamped" if found.applied else "would stamp"
    paint.tell(f"{word} {found.stamped:,} of {found.total:,}")


@click.command()
@click.argument("entries", type=int, nargs=-1, metavar="[ENTRY]...")
@store_option
@note_option
@json_option
@pass_session
def undo(
    session: Session, entries: tuple[int, ...], store: str | None, note: str, as_json: bool
) -> None:
    """Take decisions on notes back, by default the newest."""
    shelf = open_shelf(session, store, decide=True)
    receipts = list(desk.undo(shelf, entries, note))
    if as_json:
        print_json(common.results(shelf, receipts))
    else:
        say_store(shelf)
        for receipt in receipts:
            say_receipt(session, shelf, receipt)
    if not all(receipt.ok for receipt in receipts):
        sys.exit(1)


@click.command()
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest N.")
@store_option
@json_option
@pass_session
def journal(session: Session, limit: int | None, store: str | None, as_json: bool) -> None:
    """List what was decided on the notes of this store, newest first."""
    shelf = open_shelf(session, store)
    entries = history.entries(shelf, limit)
    if as_json:
        print_json(common.journal(shelf, entries))
        return
    say_store(shelf)
    if not entries:
        paint.tell("Nothing was decided here yet.")
    for entry in entries:
        fate = f"undone by {entry.undone_by}" if entry.undone_by else str(entry.state)
        when = entry.at[:16].replace("T", " ")
        paint.tell(f"{entry.id}  {when}  {entry.verb} {entry.subject}: {entry.message} ({fate})")
