"""``mcp``: the tools for agents, served over stdin and stdout."""

from __future__ import annotations

import importlib
import sys

import click

from console.cli import paint
from console.cli.session import Session, pass_session
from console.cli.shelf import open_shelf
from core.errors import SignoffError

_SIGNOFF, _ORIGINAL = "signoff", "hermes-memory-rag"
#: What the SDK installs as.
_PACKAGES = frozenset({"mcp", "mcp_types", "anyio"})


class NeedsExtraError(SignoffError):
    """The protocol's SDK is not installed."""

    title = "Not installed"
    code = "needs_extra"


@click.command(name="mcp")
@click.option("--read-only", is_flag=True, help="Offer only what searches and reads.")
@click.option(
    "--server",
    type=click.Choice([_SIGNOFF, _ORIGINAL]),
    default=_SIGNOFF,
    show_default=True,
    help="The name and the tools to serve.",
)
@pass_session
def mcp(session: Session, read_only: bool, server: str) -> None:
    """Serve tools for agents over MCP.

    Over the Model Context Protocol an agent searches the past and keeps notes; what would change
    memory or skills becomes a proposal that waits for you. Started by the agent's client, not by
    hand.
    """
    try:
        serving = importlib.import_module("console.mcp.server")
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise NeedsExtraError(
            "`signoff mcp` needs the official MCP SDK", "Install it: pip install 'signoff[mcp]'"
        ) from problem
    tools = importlib.import_module("console.mcp.tools")
    if sys.stdin.isatty():
        paint.remark("Agents are served until the end of input; the README has a client's line")
    # The note store's own server needs no home of an agent.
    opened = open_shelf(session, None) if server == _ORIGINAL else session.open()
    serving.serve(opened, tools.Offer(server, read_only))
