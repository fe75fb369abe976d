"""Messages that were loaded lately, within a bound of characters."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from console.render.prepared import Prepared

#: Messages kept, and characters of their texts.
MESSAGES, CHARACTERS = 1_500, 16_000_000


class Loaded:
    """Prepared messages by id; those not used for longest give way."""

    def __init__(self, messages: int = MESSAGES, characters: int = CHARACTERS) -> None:
        self._messages = messages
        self._characters = characters
        self._kept: dict[int, Prepared] = {}
        self.characters = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[int]:
        return iter(self._kept)

    def __contains__(self, message_id: int) -> bool:
        return message_id in self._kept

    def get(self, message_id: int) -> Prepared | None:
        """A message, if it is there."""
        return self._kept.get(message_id)

    def put(self, prepared: Prepared) -> None:
        """Keep a message as the newest."""
        self.drop(prepared.message.id)
        self._kept[prepared.message.id] = prepared
        self.characters += prepared.loaded

    def drop(self, message_id: int) -> None:
        """Forget a message."""
        gone = self._kept.pop(message_id, None)
        if gone is not None:
            self.characters -= gone.loaded

    def trim(self, in_view: Collection[int]) -> None:
        """Keep to the bounds, whatever they cost; what is in view stays, and is the newest."""
        for message_id in in_view:
            if message_id in self._kept:
                self._kept[message_id] = self._kept.pop(message_id)
        for message_id in list(self._kept):
            if len(self._kept) <= self._messages and self.characters <= self._characters:
                return
            if message_id not in in_view:
                self.drop(message_id)

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self.characters = 0
