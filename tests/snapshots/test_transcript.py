"""A conversation as it looks. Each docstring says what has to be seen in the picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from textual.content import Content
from textual.pilot import Pilot

from console import themes
from console.widgets.outline import Shown
from core.conversations import Handoff, Message, ToolCall, Visibility
from tests.console.widgets.talks import Host, said, settle, talk, words

SMALL, MIDDLE = (80, 24), (120, 36)


def told(number: int, role: str, text: str, **more: Any) -> Message:
    """A message with more about it."""
    message = said(number, role, text)
    return Message(number, "s", role, text, message.at, more.pop("size", len(text)), **more)


CONVERSATION = (
    told(1, "user", "Where does the deploy fail?", visibility=Visibility.SUMMARISED),
    told(
        2,
        "assistant",
        "I look at the log first.",
        visibility=Visibility.SUMMARISED,
        tool_calls=(ToolCall("1", "terminal", json.dumps({"command": "tail -n 50 deploy.log"})),),
    ),
    told(3, "user", "[CONTEXT COMPACTION] The deploy fails in a migration.", handoff=Handoff.MODEL),
    told(
        4,
        "tool",
        "step 1 ok\nstep 2 ok\nmigration 7 failed: no such column\n" * 9,
        tool_name="terminal",
    ),
    told(5, "user", "oops", visibility=Visibility.UNDONE),
    told(
        6,
        "assistant",
        "The migration names a column that is not there:\n```diff\n@@ -3 +3 @@\n-migration old\n"
        "+migration new\n```\nRun it again after this.",
    ),
    told(
        7, "user", "部署又失败了，请看 migration 7 的日志。 \u202eevil\u202c", notes=("observed",)
    ),
    told(8, "assistant", "gAAAAAB", handoff=Handoff.OPAQUE),
    told(9, "tool", "x" * 200, size=12_000_000, whole=False, tool_name="read_file"),
)


class Pictured(Host):
    """A transcript in signoff's colours and frame."""

    CSS = "Transcript { border: round $border; } * { scrollbar-size: 1 1; }"

    def __init__(self, theme: str) -> None:
        super().__init__()
        for each in themes.THEMES:
            self.register_theme(each)
        self.theme = f"signoff-{theme}"

    def on_mount(self) -> None:
        shown = talk(*CONVERSATION)
        self.view.border_title = Content("Deploy Pipeline · cli · 2026-11-29 12:00")
        hits = (3, 4, 6, 7)
        self.view.show(
            shown.marks,
            shown.fetch,
            hits=hits,
            find=words("migration"),
            dividers={6: "Other way out branched off here"},
            shown=Shown(undone=False),
        )
        self.view.focus()


def pictured(
    snap_compare: Any, keys: Sequence[str], size: tuple[int, int], theme: str = "dark"
) -> bool:
    app = Pictured(theme)

    async def before(pilot: Pilot[None]) -> None:
        await settle(app, pilot)
        for key in keys:
            await pilot.press(key)
            await settle(app, pilot)

    return bool(snap_compare(app, terminal_size=size, run_before=before))


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["small", "middle"])
def test_transcript_read(snap_compare: Any, size: tuple[int, int]) -> None:
    """Headers with ``summarised``, a line where it was compacted, calls and output folded."""
    assert pictured(snap_compare, (), size)


def test_transcript_matches(snap_compare: Any) -> None:
    """The current match on solid ground beside ``»``, others underlined beside ``›``."""
    assert pictured(snap_compare, ("n", "n", "n"), MIDDLE)


def test_transcript_opened(snap_compare: Any) -> None:
    """At the end: the opaque checkpoint cannot be read; the cut text says how much is missing."""
    assert pictured(snap_compare, ("G", "enter", "G"), MIDDLE)


@pytest.mark.parametrize("theme", ["light", "contrast"])
def test_transcript_themes(snap_compare: Any, theme: str) -> None:
    """The same in other colours."""
    assert pictured(snap_compare, ("n",), SMALL, theme)
