"""The protocol's end: the official SDK serves the tools over stdin and stdout.

Stdout carries the protocol and nothing else. A call that fails is a tool's error in one sentence;
no traceback leaves this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, TextIO, cast

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as Described

from console.mcp import arguments, feeding
from console.mcp.answers import Answer, refused, whole
from console.mcp.asking import Asker, Reports, StoppedError, silent
from console.mcp.calls import Calls
from console.mcp.lines import Lines
from console.mcp.tools import Offer, Tool
from core.desk.opening import Opened
from core.errors import SignoffError
from core.homes.hermes.staging import Caller
from core.homes.rag.ingest import Progress, Tell
from core.text import one_line

#: Calls of one client that are worked on at a time.
AT_ONCE = 4
_NAMED = 100
_ABOUT = (
    "Search past conversations and keep notes. Memory and skills are only proposed: a person looks"
    " at every proposal and decides; nothing is saved before that."
)

_Context = ServerRequestContext[Any, Any]


def serve(opened: Opened, offer: Offer) -> None:
    """Serve ``offer`` on the home until the client closes its end.

    Raises :class:`StateError`, and ``BrokenPipeError`` where the client does not read any more.
    """
    Desk(opened, offer).calls.check()
    # A reader that waits for its next line is not woken by an interrupt: leave at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with feeding.allowed():
        try:
            anyio.run(_serve, opened, offer)
        except BaseExceptionGroup as problems:
            if problems.split(BrokenPipeError)[1] is not None:
                raise
            raise BrokenPipeError from problems


async def _serve(opened: Opened, offer: Offer) -> None:
    server = made(Desk(opened, offer))
    lines = cast("TextIO", Lines(sys.stdin.buffer))
    async with stdio_server(stdin=anyio.wrap_file(lines)) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def made(desk: Desk) -> Server[Any]:
    """The server with its two handlers; nothing else of the protocol is offered."""

    async def list_tools(
        context: _Context, asked: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[described(tool) for tool in desk.tools().values()])

    async def call_tool(context: _Context, asked: CallToolRequestParams) -> CallToolResult:
        told = context.session.client_params
        client = told.client_info if told else None
        caller = Caller(_name(client.name), _name(client.version)) if client else Caller()
        tell = Reports(_sender(context), _is_stopped)
        answer = await anyio.to_thread.run_sync(
            desk.answer, asked.name, asked.arguments, caller, tell, limiter=limiter
        )
        texts = [answer.text, answer.more] if answer.more else [answer.text]
        return CallToolResult(
            content=[TextContent(type="text", text=text) for text in texts],
            is_error=answer.failed,
        )

    limiter = anyio.CapacityLimiter(AT_ONCE)
    server = Server[Any](
        desk.offer.server,
        version=version("signoff"),
        instructions=_ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # The SDK would report every call to a tracer, if one is set up: what is asked stays here.
    server.middleware.clear()
    return server


def _sender(context: _Context) -> Callable[[Progress], None]:
    """What gives progress to the client of a call, if it asked for that."""

    def send(progress: Progress) -> None:
        report = context.session.report_progress
        said = f"{progress.files:,} of {progress.of_files:,} files, {progress.pieces:,} pieces"
        # Who is gone is told nothing: whether to go on is asked elsewhere.
        with contextlib.suppress(asyncio.CancelledError, Exception):
            anyio.from_thread.run(report, progress.files, progress.of_files, said)

    return send


def _is_stopped() -> bool:
    """Whether the client took the call back or went away; asked in the thread of the call."""
    try:
        anyio.from_thread.check_cancelled()
    except asyncio.CancelledError:
        return True
    return False


def described(tool: Tool) -> Described:
    """A tool as a client is told of it."""
    return Described(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.same,
            open_world_hint=False,
        ),
    )


class Desk:
    """Answers calls, one line in the log for each."""

    def __init__(self, opened: Opened, offer: Offer) -> None:
        self.offer = offer
        self.calls = Calls(opened.state)
        self._opened = opened

    def tools(self) -> Mapping[str, Tool]:
        """The tools that are offered now."""
        return self.offer.tools(self._opened)

    def answer(
        self,
        name: str,
        given: Mapping[str, Any] | None,
        caller: Caller,
        tell: Tell = silent,
    ) -> Answer:
        """The answer to one call; never raises."""
        started = time.monotonic()
        try:
            self.calls.check()
        except SignoffError as problem:
            return refused(_sentence(problem))
        answer = self._answer(name, given, caller, tell)
        try:
            self._note(name, given, caller, answer, time.monotonic() - started)
        except SignoffError as problem:
            # What was done is done: to call it a failure would have it done once more.
            print(f"signoff mcp: {name}: {problem.message}", file=sys.stderr)
        return answer

    def _answer(
        self, name: str, given: Mapping[str, Any] | None, caller: Caller, tell: Tell
    ) -> Answer:
        tool = self.tools().get(name)
        if tool is None:
            return refused(f"There is no tool {one_line(name, _NAMED)}.")
        try:
            call = arguments.read(tool.model, given)
            return tool.run(self._opened, call, Asker(_filled(caller, call), tell))
        except arguments.ArgumentsError as problem:
            return refused(f"{problem}.")
        except StoppedError as problem:
            return refused(f"{problem}.")
        except SignoffError as problem:
            return refused(_sentence(problem))
        except Exception as problem:
            kind = type(problem).__name__
            print(f"signoff mcp: {name}: {kind}: {problem}", file=sys.stderr)
            return refused(f"Something unforeseen happened ({kind}); nothing was decided.")

    def _note(
        self,
        name: str,
        given: Mapping[str, Any] | None,
        caller: Caller,
        answer: Answer,
        seconds: float,
    ) -> None:
        found = self._opened.found
        self.calls.write(
            {
                "at": self._opened.clock().isoformat(),
                "home": str(found.home),
                "profile": found.profile,
                "client": caller.client,
                "version": caller.version,
                "tool": name,
                "arguments": dict(given or {}),
                "ok": not answer.failed,
                "pending_id": answer.record,
                "answer": answer.text,
                "ms": round(seconds * 1000),
            }
        )


def _filled(caller: Caller, call: arguments.Arguments) -> Caller:
    """The caller with what the call itself tells of it."""
    said = {
        field: str(getattr(call, field, "") or "")
        for field in ("session_id", "reason", "kind", "tag")
    }
    more = {field: said[field] for field in ("kind", "tag") if said[field]}
    return Caller(caller.client, caller.version, said["session_id"], said["reason"], more)


def _name(text: str) -> str:
    return one_line(whole(text), _NAMED)


def _sentence(problem: SignoffError) -> str:
    hint = f"; {problem.hint[:1].lower()}{problem.hint[1:]}" if problem.hint else ""
    return f"{problem.message.rstrip('.')}{hint}."
