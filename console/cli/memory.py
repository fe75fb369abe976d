"""``memory``: the entries the agent carries into every prompt."""

from __future__ import annotations

import click

from console.cli import paint, shapes
from console.cli.session import Session, json_option, pass_session, print_json
from core.desk import memories


@click.command()
@click.option("--target", type=click.Choice(["memory", "user"]), help="Only this file.")
@json_option
@pass_session
def memory(session: Session, target: str | None, as_json: bool) -> None:
    """List the memory entries with their sizes and what stands out about them."""
    stores = memories.stores(session.open(), target)
    if as_json:
        extra = {} if target else {"stores": [shapes.memory(store) for store in stores]}
        print_json(shapes.memory(stores[0]) | extra)
        return
    for store in stores:
        _print_store(store)


def _print_store(store: memories.Store) -> None:
    out = paint.stdout()
    where = f"{store.path} → {store.link}" if store.link else store.path
    out.print(paint.plain(where, "bold"))
    if store.state == "unreadable":
        out.print(paint.plain(f"! cannot be read: {store.reason}", "red"))
        return
    share = f"{store.used:,} of {store.limit:,} characters"
    out.print(f"{paint.count(len(store.entries), 'entry', 'entries')}, {share}", style="dim")
    if store.drift:
        out.print(paint.plain(f"! The agent refuses to edit it: {store.drift.message}", "yellow"))
    for entry in store.entries:
        out.print(paint.plain(f"{entry.index:>3}. ", "dim"), paint.block(entry.text), sep="")
        for found in entry.findings:
            out.print("     ", paint.finding(found), sep="")
    out.print()
