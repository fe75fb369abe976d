"""One key after the other: the next one is meant for what the last one opened.

Textual hands a key to the widget that has the focus when the key arrives. Of keys that come in one
burst all went to the old widget, as none of them had moved the focus yet.
"""

from __future__ import annotations

from collections import deque

from textual import events
from textual.app import App
from textual.message import Message
from textual.timer import Timer

#: How often the way of a key is gone after it: what it set off may send messages of its own.
ROUNDS = 4
#: Seconds after which the next key does not wait any longer: its way may have been removed.
PATIENCE = 1.0


class KeyPassed(Message):
    """It follows a key on its way up to the app, so it arrives when every widget saw the key."""

    def __init__(self, turn: int) -> None:
        super().__init__()
        self.turn = turn


class Turns(App[None]):
    """An app that takes up a key only when the one before it is through."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: deque[events.Key | events.Paste] = deque()
        self._turn = 0
        self._rounds = 0
        self._waiting: Timer | None = None

    async def on_event(self, event: events.Event) -> None:
        """Keep what is typed while another key is on its way."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._rounds:
            self._kept.append(event)
            if self._waiting is None:
                self._waiting = self.set_timer(PATIENCE, self._next)
        else:
            await self._take(event)

    async def _take(self, event: events.Key | events.Paste) -> None:
        self._turn += 1
        self._rounds = ROUNDS
        try:
            await super().on_event(event)
        finally:
            self._follow()

    def _follow(self) -> None:
        # Between two homes no screen stands there.
        way = self.focused or self.screen if self.screen_stack and not self._exit else None
        if way is None or not way.post_message(KeyPassed(self._turn)):
            self._rounds = 0

    async def on_key_passed(self, message: KeyPassed) -> None:
        """A round is over; after the last one the next key has its turn."""
        message.stop()
        if message.turn != self._turn or not self._rounds:
            return
        self._rounds -= 1
        if self._rounds:
            self._follow()
        if not self._rounds:
            await self._next()

    async def _next(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        self._rounds = 0
        while self._kept and not self._rounds:
            await self._take(self._kept.popleft())
        if self._kept:
            self._waiting = self.set_timer(PATIENCE, self._next)
