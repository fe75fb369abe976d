"""The first frame: the header of the mode to come, while everything else is still imported."""

from __future__ import annotations

from typing import cast

from textual.app import ComposeResult
from textual.screen import Screen

from console.screens.host import Host
from console.widgets.bars import HomeBar


class Opening(Screen[None]):
    """Shown until the first mode is; it reads nothing."""

    def compose(self) -> ComposeResult:
        host, bar = cast("Host", self.app), HomeBar()
        bar.update(host.header_for(host.first_mode, self.app.size.width - 2))
        yield bar
