"""The palette: every action of the registry by name, with its key."""

from __future__ import annotations

from collections.abc import Iterator

from textual.command import DiscoveryHit, Hit, Hits, Provider

from console.actions import Action, actions_of


class ActionProvider(Provider):
    """Offers what the registry lists for the screen below and for the app."""

    def _offers(self) -> Iterator[Action]:
        mode = getattr(self.screen, "MODE", "")
        yield from actions_of(mode)
        yield from (action for action in actions_of("app") if action.name != "command_palette")

    async def discover(self) -> Hits:
        for action in self._offers():
            yield DiscoveryHit(_title(action), self._run(action), help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._offers():
            score = max(matcher.match(_title(action)), matcher.match(action.help) / 2)
            if score > 0:
                title = matcher.highlight(_title(action))
                yield Hit(score, title, self._run(action), help=action.help)

    def _run(self, action: Action):  # type: ignore[no-untyped-def]
        app, screen = self.app, self.screen
        namespace = app if action.where == "app" else screen

        async def run() -> None:
            await app.run_action(action.name, namespace)

        return run


def _title(action: Action) -> str:
    return f"{action.label[0].upper()}{action.label[1:]} ({action.shown_key})"
