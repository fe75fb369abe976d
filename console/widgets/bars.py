"""The bars of every screen: home, what to mend, the last event, the keys.

They change often, and a new layout of the screen costs more than all they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

#: The end of a sentence that names the keys for what was done, after the id of what it was.
_KEYS = re.compile(r"[ ;,]*(?:(?P<bracket>\()\S+; )?(?P<undo>\S+ takes (?:it|them) back)[^.:]*$")
#: Where the first of several sentences ends.
_FIRST = re.compile(r"[.;:](?= )|$")


class HomeBar(Static):
    """Home, kind, profile, rules, gates and counts: always there, never guessed."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)

    def say(self, content: Content) -> None:
        """Show its two lines."""
        self.update(content, layout=False)


class Notice(Static):
    """What a person should mend before deciding; takes no room while there is nothing."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
        self._said: str | None = None

    def say(self, content: Content) -> None:
        """Show sentences, or nothing."""
        if content.plain != self._said:
            self._said = content.plain
            self.update(content)
            self.display = bool(content)


class FlashLine(Static):
    """One line about the person's own last key; it stays until the next."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
        self._said = Content("")

    def say(self, content: Content) -> None:
        """Show one line; a long one keeps its first sentence, then the keys it ends in."""
        self._said = content
        self.update(_fitted(content, self.size.width), layout=False)

    def on_resize(self) -> None:
        self.say(self._said)


def _fitted(content: Content, width: int) -> Content:
    found = _KEYS.search(content.plain)
    if found is None or not 0 < width < content.cell_length:
        return content
    said = content[: found.start()]
    for keys in _shorter(content, found):
        room = width - keys.cell_length
        if said.cell_length <= room:
            return said + keys
    sentence = _FIRST.search(said.plain)
    least = said[: sentence.start()].cell_length if sentence else 0
    return said.truncate(room, ellipsis=True) + keys if least < room else content


def _shorter(content: Content, found: re.Match[str]) -> Iterator[Content]:
    """The keys at the end of a sentence: as they are, without the id, the one that takes back."""
    yield content[found.start() :]
    undo, end = found.span("undo")
    if found["bracket"]:
        begin = Content(" ") + content[found.start("bracket") : found.end("bracket")]
        yield begin + content[undo:]
        yield begin + content[undo:end] + content[content.plain.index(")", end) :]
    else:
        yield content[found.start() : end]


class KeyBar(Footer):
    """The keys that work here. Textual (8.2.8) mounts all of them anew whenever one is greyed."""

    def __init__(self) -> None:
        super().__init__(show_command_palette=False)
        self._keys: list[tuple[str, str, str]] = []

    def compose(self) -> ComposeResult:
        for key in super().compose():
            # Where the row is too long the way to all other keys stays.
            key.set_class(isinstance(key, FooterKey) and key.action == "help", "-help")
            yield key

    def bindings_changed(self, screen: Screen[object]) -> None:
        """Mount other keys, or grey those that are there."""
        if not self.is_attached or screen is not self.screen:
            return
        active = [found for found in screen.active_bindings.values() if found.binding.show]
        keys = [(f.binding.action, f.binding.key, f.binding.description) for f in active]
        if keys != self._keys or not self._bindings_ready:
            if screen.app.app_focus:
                self._keys = keys
            super().bindings_changed(screen)
            return
        enabled = {found.binding.key: found.enabled for found in active}
        for key in self.query(FooterKey):
            key._disabled = not enabled.get(key.key, True)
            key.set_class(key._disabled, "-disabled")
