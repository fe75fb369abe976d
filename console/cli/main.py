"""The entry: global options, and the one place where errors become words and exit codes."""

from __future__ import annotations

import codecs
import difflib
import importlib
import os
import re
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import cast

import click

from console.cli import paint, streams
from console.cli.session import Session, interactive, open_console, print_json
from core.errors import SignoffError, UsageError

#: Where each command lives, in the order they are listed; loaded when it is called.
SECTIONS = {
    "Review": {
        "status": "homes",
        "pending": "review",
        "show": "review",
        "approve": "review",
        "promote": "notes",
        "reject": "review",
        "snooze": "snooze",
        "edit": "edit",
        "journal": "journal",
        "undo": "journal",
        "gate": "homes",
    },
    "Memory": {
        "memory": "memory",
        "remember": "memory",
        "forget": "memory",
        "notes": "notes",
        "amend": "notes",
        "clean": "notes",
        "normalise": "memory",
    },
    "Past conversations": {
        "search": "search",
        "sessions": "sessions",
        "read": "sessions",
        "export": "export",
        "stats": "sessions",
        "recall": "recall",
    },
    "Skills": {
        "skills": "skills",
        "skill": "skills",
        "pin": "skills",
        "unpin": "skills",
        "archive": "skills",
        "restore": "skills",
        "adopt": "skills",
        "pause": "skills",
        "resume": "skills",
        "curate": "skills",
        "rollback": "skills",
    },
    "Knowledge": {
        "knowledge": "knowledge",
    },
    "Homes": {
        "demo": "homes",
        "init": "homes",
        "watch": "watch",
        "mcp": "mcp",
        "doctor": "homes",
    },
}
COMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}

#: Options that print a page of their own.
PAGES = frozenset({"-h", "--help", "--version"})
#: Options of the home: they stand before the command.
BEFORE = ("--home", "--kind", "--profile", "--now")


class Commands(click.Group):
    """The commands of :data:`COMMANDS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"console.cli.{COMMANDS[cmd_name]}")
        return cast("click.Command", getattr(module, cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One list a section; summaries begin in the same column."""
        widest = max(map(len, COMMANDS))
        room = formatter.width - widest - 6
        for title, names in SECTIONS.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl(
                    [
                        (name.ljust(widest), command.get_short_help_str(room))
                        for name, command in commands
                        if command is not None
                    ]
                )


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--home", metavar="DIR", help="The agent's home; beats HERMES_HOME.")
@click.option("--kind", type=click.Choice(["hermes", "vak", "rag"]), help="Overrule detection.")
@click.option("--profile", metavar="NAME", help="A profile of the home.")
@click.option("--no-mouse", is_flag=True, help="The console leaves the mouse to the terminal.")
@click.option("--now", "fixed_now", metavar="ISO", hidden=True, help="Fix the clock.")
@click.version_option(package_name="signoff", prog_name="signoff")
@click.pass_context
def cli(
    context: click.Context,
    home: str | None,
    kind: str | None,
    profile: str | None,
    no_mouse: bool,
    fixed_now: str | None,
) -> None:
    """Decide what an AI agent may remember.

    Without a command the console opens. Options of the home stand before the command, --json
    after it.
    """
    context.obj = Session(home, kind, profile, fixed_now, dict(os.environ), not no_mouse)
    if context.invoked_subcommand is None:
        if not interactive():
            raise UsageError("The console needs a terminal", "`signoff --help` lists what does not")
        sys.exit(open_console(context.obj))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with the contract's exit codes."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    codecs.register_error("signoff", paint.plainer)
    streams.fill_closed()
    streams.forget_odd_sizes()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="signoff")
    try:
        code = _run(words)
        streams.flush_answer()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # The reader went away (`signoff pending | head`): nothing left to say, quietly.
        streams.let_go(sys.stdout)
        code = 141
    except streams.UnprintableError as problem:
        streams.let_go(sys.stdout)
        paint.remark(f"{problem.message}. {problem.hint}")
        code = problem.exit_code
    if code:
        sys.exit(code)


def _run(words: list[str]) -> int:
    """Run one command; its exit code. Errors of the answer's stream are left to the caller."""
    try:
        done = cli.main(words, prog_name="signoff", standalone_mode=False)
        return done if isinstance(done, int) else 0
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except (BrokenPipeError, KeyboardInterrupt, streams.UnprintableError):
        raise
    except SignoffError as problem:
        _report(words, problem.code, problem.message, problem.hint)
        return problem.exit_code
    except click.Abort:
        return 130
    except click.ClickException as problem:
        where = problem.ctx if isinstance(problem, click.UsageError) else None
        _report(words, "usage", *_mistake(problem, where, words))
        return 2
    except Exception as problem:
        if isinstance(problem, OSError):
            # What could not be printed (a help page) is still there: then this fails and says so.
            streams.flush_answer()
            # A page longer than the buffer is lost instead, and looks like any other failure.
            if not PAGES.isdisjoint(words):
                streams.probe_answer()
        if os.environ.get("SIGNOFF_DEBUG"):
            raise
        said = f"Something unforeseen happened ({type(problem).__name__}: {problem})"
        _report(words, "unforeseen", said, "SIGNOFF_DEBUG=1 shows where; please report it")
        return 1


def _mistake(
    problem: click.ClickException, where: click.Context | None, words: Sequence[str]
) -> tuple[str, str]:
    """What a person mistyped, and what they probably want."""
    path = where.command_path if where is not None else "signoff"
    see = f"See `{path} --help`"
    if isinstance(problem, click.NoSuchOption):
        name = problem.option_name
        if name in BEFORE:
            return f"No such option here: {name}", f"{name} stands before the command"
        if name == "--json":
            return f"No such option here: {name}", "--json stands after the command"
    message = problem.format_message()
    if typed := re.match(r"No such command '(.*?)'\.", message):
        group = where.command if where is not None else None
        known = group.list_commands(where) if where and isinstance(group, click.Group) else COMMANDS
        close = difflib.get_close_matches(typed[1], known, n=1)
        return typed[0], f"Perhaps you mean `{path} {close[0]}`" if close else see
    if message.startswith("Got unexpected extra argument") and where is not None:
        # `signoff skill pin NAME`: what was meant as a part of a command is one of its own.
        inner = [word for word in words[1:] if word in COMMANDS and word != where.info_name]
        see = f"Perhaps you mean `signoff {inner[0]}`" if inner else see
    return message.rstrip("."), see


def _report(words: Sequence[str], code: str, message: str, hint: str) -> None:
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        error = {"code": code, "message": message, "hint": hint}
        print_json({"ok": False, "error": error})
        return
    paint.remark(f"{message.rstrip('.')}. {hint}" if hint else message)
