"""The entry: global options, and the one place where errors become words and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from console.cli import homes, journal, memory, paint, review
from console.cli.session import Session, print_json
from core.errors import SignoffError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", metavar="DIR", help="The agent's home; beats HERMES_HOME.")
@click.option("--kind", type=click.Choice(["hermes", "vak", "rag"]), help="Overrule detection.")
@click.option("--profile", metavar="NAME", help="A profile of the home.")
@click.option("--now", "fixed_now", metavar="ISO", hidden=True, help="Fix the clock.")
@click.version_option(package_name="signoff", prog_name="signoff")
@click.pass_context
def cli(
    context: click.Context,
    home: str | None,
    kind: str | None,
    profile: str | None,
    fixed_now: str | None,
) -> None:
    """Decide what an AI agent may remember.

    Options of the home stand before the command, --json after it.
    """
    context.obj = Session(home, kind, profile, fixed_now, dict(os.environ))


for command in (
    homes.demo,
    homes.init,
    homes.status,
    homes.gate,
    review.pending,
    review.show,
    review.approve,
    review.reject,
    journal.journal,
    journal.undo,
    memory.memory,
    homes.doctor,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with the contract's exit codes."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        cli.main(words, prog_name="signoff", standalone_mode=False)
    except SignoffError as problem:
        _report(words, problem.code, problem.message, problem.hint)
        sys.exit(problem.exit_code)
    except click.UsageError as problem:
        where = problem.ctx.command_path if problem.ctx else "signoff"
        _report(words, "usage", problem.format_message(), f"See `{where} --help`")
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (`signoff pending | head`): nothing left to say, quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)


def _report(words: Sequence[str], code: str, message: str, hint: str) -> None:
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        error = {"code": code, "message": message, "hint": hint}
        print_json({"ok": False, "error": error})
        return
    sentence = message.rstrip(".") + "."
    ending = f" {hint.rstrip('.')}." if hint else ""
    paint.stderr().print(paint.plain(f"signoff: {sentence}{ending}"))
