"""The palette: every action of the registry by name, with its key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from console.actions import Action, help_in, offered
from console.keymap import key_of
from console.screens.host import Host, kind_of


class ActionProvider(Provider):
    """Offers what the registry lists for the screen below and for the app."""

    @property
    def _mode(self) -> str:
        return str(getattr(self.screen, "MODE", ""))

    def _offers(self) -> Iterator[Action]:
        kind = kind_of(cast("Host", self.app).opened)
        yield from offered(self._mode, kind)
        yield from (action for action in offered("app", kind) if action.name != "command_palette")

    async def discover(self) -> Hits:
        for action in self._offers():
            said = help_in(self._mode, action)
            yield DiscoveryHit(self._title(action), self._run(action), help=said)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._offers():
            title = self._title(action)
            said = help_in(self._mode, action)
            score = max(matcher.match(title), matcher.match(said) / 2)
            if score > 0:
                shown = matcher.highlight(title)
                yield Hit(score, shown, self._run(action), help=said)

    def _run(self, action: Action):  # type: ignore[no-untyped-def]
        app, screen = self.app, self.screen
        namespace = app if action.where == "app" else screen

        async def run() -> None:
            await app.run_action(action.name, namespace)

        return run

    def _title(self, action: Action) -> str:
        name = f"{action.label[0].upper()}{action.label[1:]}"
        return f"{name} ({key_of(action.id)})"
