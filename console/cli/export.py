"""``export``: past conversations as files of one's own, or as lines on stdout."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from console.cli import paint, shapes
from console.cli.session import Session, json_option, pass_session, print_json, say_home
from console.cli.streams import printing
from core.desk import exporting
from core.errors import UsageError
from core.recall.export import Format


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="SESSION...")
@click.option(
    "--format",
    "form",
    type=click.Choice([str(form) for form in Format]),
    default=str(Format.JSONL),
    show_default=True,
    help="Every column, readable text, or one page.",
)
@click.option("--out", metavar="DIR", help="Where to; here unless named. - is stdout (jsonl).")
@click.option("--redact", is_flag=True, help="Put a mark where a password or a key stands.")
@click.option("--chain", is_flag=True, help="All parts that compaction made of a conversation.")
@click.option("--all-rows", is_flag=True, help="Also what the agent does not see any more.")
@click.option("--force", is_flag=True, help="Replace files of that name.")
@json_option
@pass_session
def export(
    session: Session,
    names: tuple[str, ...],
    form: str,
    out: str | None,
    redact: bool,
    chain: bool,
    all_rows: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Export past conversations into files.

    SESSION is an id, a unique beginning of one, or a pasted @session:profile/id. Nothing is
    written into the agent's home. Markdown ends with a check sum of its text.
    """
    wanted = exporting.Wanted(names, Format(form), redact, chain, all_rows, force)
    if out == "":
        raise UsageError("--out needs a name", "Name a folder, or leave it out for this one")
    if out == "-":
        if wanted.format is not Format.JSONL or as_json:
            raise UsageError(
                "Only JSON lines go to stdout, and nothing beside them",
                "Use --format jsonl without --json, or name a folder with --out",
            )
        _print_lines(session, wanted)
        return
    opened = session.following(names).open()
    done = exporting.export(opened, wanted, Path(out if out is not None else "."))
    files = {each.path: each.redacted for each in done}
    hidden = sum((Counter(counts) for counts in files.values()), Counter[str]())
    if as_json:
        answer = {"exported": [_shape(each) for each in done]}
        more = {"redacted": dict(hidden)} if redact else {}
        print_json(shapes.home(opened) | answer | more)
        return
    say_home(opened)
    _tell(done)
    if redact:
        paint.tell(_redacted(hidden), "dim")


def _print_lines(session: Session, wanted: exporting.Wanted) -> None:
    opened = session.following(wanted.names).open()
    with printing():
        sys.stdout.flush()
        # A terminal gets no raw control character.
        hidden = exporting.export_lines(
            opened, wanted, sys.stdout.buffer, ascii_only=sys.stdout.isatty()
        )
        sys.stdout.buffer.flush()
    if wanted.redact:
        paint.remark(_redacted(hidden))


def _shape(each: exporting.Exported) -> shapes.Json:
    return {
        "session_id": each.session_id,
        "lineage_session_ids": list(each.lineage),
        "path": str(each.path),
        "format": str(each.format),
        "messages": each.messages,
        "sha256": each.sha256,
    }


def _tell(done: Sequence[exporting.Exported]) -> None:
    for each in done:
        paint.tell(f"Exported {each.count} of {each.session_id} to")
        paint.hint("  file", str(each.path))
        paint.hint("  sha256", each.sha256)
        if each.partly:
            paint.tell("  The rest is summarised or undone: --all-rows", "dim")


def _redacted(hidden: Mapping[str, int]) -> str:
    if not hidden:
        return "Nothing that looks like a secret was found; read it before it leaves your hands."
    kinds = [f"{count:,} {kind}" for kind, count in sorted(hidden.items())]
    total = paint.count(sum(hidden.values()), "secret")
    return f"Redacted {total}: {paint.listed(kinds)}. Others may be left; read it first."
