"""What every plain command gets: the opened home, and one way to answer.

The desk is imported when a home is opened: the console draws its first frame before that.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import platformdirs

from console.cli import paint
from console.cli.streams import printing
from core import clock
from core.errors import NotFoundError
from core.settings import Settings, read_settings

if TYPE_CHECKING:
    from core.desk.knowledge import Shelf
    from core.desk.opening import Opened


@dataclass(frozen=True, slots=True)
class Session:
    """The global options. ``environ`` is the only environment anything reads.

    ``mouse``: whether the console takes the mouse. ``chosen``: settings that stand for the file's.
    """

    home: str | None
    kind: str | None
    profile: str | None
    fixed_now: str | None
    environ: Mapping[str, str]
    mouse: bool = True
    chosen: Settings | None = None

    def now(self) -> datetime:
        """The time, or the one ``--now`` fixed."""
        return clock.now(self.fixed_now)

    def state(self) -> Path:
        """signoff's own folder: ``SIGNOFF_STATE``, else the platform's."""
        named = self.environ.get("SIGNOFF_STATE")
        return Path.cwd() / named if named else platformdirs.user_state_path("signoff")

    def settings(self) -> Settings:
        """The person's settings: ``SIGNOFF_SETTINGS``, else the platform's place.

        Raises :class:`UsageError` naming what is wrong with them.
        """
        if self.chosen is not None:
            return self.chosen
        named = self.environ.get("SIGNOFF_SETTINGS")
        folder = platformdirs.user_config_path("signoff")
        return read_settings(Path(named) if named else folder / "settings.toml")

    def open(self, rules: str = "auto", *, stores: bool = False) -> Opened:
        """Find and open the home; see :func:`core.desk.opening.open_home`."""
        from console.cli import kinds
        from core.desk.opening import open_home

        opened = open_home(
            home=self.home,
            kind=self.kind,
            profile=self.profile,
            environ=self.environ,
            user_home=Path(os.path.expanduser("~")),
            state=self.state(),
            settings=self.settings(),
            clock=self.now,
            rules=rules,
            store=self.store if stores else None,
        )
        kinds.check(opened.found.kind)
        return opened

    def store(self, folder: str | Path | None) -> Shelf:
        """The note store in ``folder``; see :func:`core.desk.knowledge.open_store`."""
        from core.desk.knowledge import open_store

        return open_store(
            store=None if folder is None else str(folder),
            environ=self.environ,
            user_home=Path(os.path.expanduser("~")),
            state=self.state(),
            settings=self.settings(),
            clock=self.now,
        )

    def following(self, links: Sequence[str]) -> Session:
        """This session, on the profile that every one of ``links`` names, if the home has it.

        A link is a pasted ``@session:profile/id``. A profile that was named beats it.
        """
        named = {_profile_of(link) for link in links}
        other = named.pop() if len(named) == 1 and self.profile is None else ""
        if other:
            with contextlib.suppress(NotFoundError):
                there = replace(self, profile=other)
                there.open()
                return there
        return self

    def read(self, rules: str = "auto", *, stores: bool = False) -> Opened:
        """Open the home for a command that only reads: what hinders decisions is said aside."""
        from core.desk import overview

        opened = self.open(rules, stores=stores)
        for sentence in overview.remarks(opened):
            paint.remark(sentence)
        return opened

    def decide(self, rules: str = "auto", *, stores: bool = False) -> Opened:
        """Open the home for a decision. Raises :class:`NeedsTerminalError`."""
        from core.desk import decide

        opened = self.open(rules, stores=stores)
        decide.check_terminal(opened, interactive())
        return opened

    def command(self, name: str, *ids: str) -> str:
        """A command on this very home, to copy."""
        named = {"--home": self.home, "--kind": self.kind, "--profile": self.profile}
        options = [part for key, value in named.items() if value for part in (key, value)]
        return paint.command(options, name, *ids)


def _profile_of(link: str) -> str:
    """The profile that a pasted link names, or nothing."""
    rest = link.strip().removeprefix(LINK)
    return rest.partition("/")[0].lower() if rest != link.strip() and "/" in rest else ""


#: How a session is named across profiles; what follows is ``profile/id``.
LINK = "@session:"

pass_session = click.make_pass_decorator(Session)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
rules_option = click.option(
    "--rules",
    type=click.Choice(["auto", "0.19", "newest"]),
    default="auto",
    show_default=True,
    help="Whose approval to model.",
)
note_option = click.option("--note", default="", metavar="TEXT", help="Kept in the journal.")


def print_json(document: Any) -> None:
    """The answer for programs: stored text, pure ASCII, nothing else on stdout."""
    with printing():
        sys.stdout.write(json.dumps(document, ensure_ascii=True, allow_nan=False, indent=2) + "\n")


def say_home(opened: Opened) -> None:
    """Which home answers, and which others were found: above every answer for people."""
    found = opened.found
    paint.say([paint.plain(f"{found.home} ({found.kind}, profile {found.profile})", "dim")])
    for other in found.others:
        paint.say([paint.plain(f"also found: {other.path} ({other.kind})", "dim")])


def interactive() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def open_console(session: Session, mode: str = "") -> int:
    """Run the console on the session's home, in ``mode`` or where it was left; its exit code."""
    # By name: no plain command may load the console's libraries.
    launch = importlib.import_module("console.launch").launch
    return cast("int", launch(session, mode))
