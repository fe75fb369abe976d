"""What every command of ``knowledge`` shares: which store, which project, and the receipt."""

from __future__ import annotations

import os
from pathlib import Path

import click
from rich.text import Text

from console.cli import paint
from console.cli.session import Session, interactive
from core.desk import knowledge as desk
from core.desk.knowledge import Shelf
from core.model import Receipt

store_option = click.option("--store", metavar="DIR", help="The store; beats HERMES_RAG_STORE.")
project_option = click.option(
    "--project", default="", metavar="NAME", help="By default that of the folder you stand in."
)


def open_shelf(session: Session, store: str | None, *, decide: bool = False) -> Shelf:
    """The store meant. With ``decide`` raises :class:`NeedsTerminalError` where that is set."""
    from core.desk.decide import check_terminal

    if store is None and session.home is not None and session.kind == "rag":
        store = session.home
    shelf = session.store(store)
    if decide:
        check_terminal(shelf, interactive())
    return shelf


def project_of(session: Session, shelf: Shelf, name: str) -> str:
    """The project meant: by its name, else by the folder one stands in, as the shell calls it."""
    here = session.environ.get("PWD", "")
    try:
        folder = Path(here) if here and os.path.samefile(here, ".") else Path.cwd()
    except OSError:
        folder = Path.cwd()
    return desk.project_of_folder(shelf, name, folder)


def say_store(shelf: Shelf) -> None:
    """Which store answers: above every answer for people but ``recall``'s."""
    kind = "signoff's own" if shelf.store.kind == "signoff" else "Chroma"
    paint.say([paint.plain(f"{shelf.store.folder} ({kind})", "dim")])


def say_receipt(session: Session, shelf: Shelf, receipt: Receipt) -> None:
    """What became of a decision, and how it is taken back."""
    sign, style = ("✓ ", "green") if receipt.ok else ("✗ ", "red")
    body = paint.plain(receipt.message, "" if receipt.ok else "red")
    paint.say(paint.hang(Text(sign, style=style), body, paint.room()))
    if receipt.ok and receipt.journal is not None:
        line = session.command("knowledge", "undo", str(receipt.journal))
        paint.hint("Take it back", f"{line} --store {paint.word(str(shelf.store.folder))}")
