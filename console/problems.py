"""Bugs and keys that cannot act: the console says what is the matter and goes on."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path

from textual.content import Content

from console.places import short
from console.render import ink
from console.screens.room import Room
from console.turns import Turns

log = logging.getLogger("signoff")
#: Problems shown before the console gives up: something is wrong in every frame.
PATIENCE = 5


class Problems(Turns):
    """An app that outlives its bugs; ``log_file`` is where they are written down."""

    log_file = Path("signoff.log")
    _problems = 0

    def show_problem(self, problem: Exception) -> None:
        """A bug is a panel with a way on, not a traceback; the log has no values of variables."""
        from console.render.problem import problem_lines
        from console.screens.sheet import Sheet

        self._problems += 1
        log.error("%s", type(problem).__name__, exc_info=problem)
        if self._problems > PATIENCE:
            self.exit(return_code=1, message=Content("signoff: it keeps failing; see signoff.log"))
            return
        where = short(str(self.log_file))
        self.push_screen(Sheet("Problem", partial(problem_lines, problem, where)))

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own hook prints a traceback with every local variable: agent text included.
        if self.is_running and not self._exit and not os.environ.get("SIGNOFF_DEBUG"):
            self.show_problem(error)
        else:
            super()._handle_exception(error)

    async def run_action(self, action, default_namespace=None, namespaces=None):  # type: ignore[no-untyped-def]
        """Run an action that the mode on screen takes; one that cannot run says why."""
        room = self.screen
        if isinstance(room, Room) and room.is_mounted and not room.takes(str(action)):
            return True
        ran = await super().run_action(action, default_namespace, namespaces)
        if not ran:
            self._say_why_not(action, default_namespace)
        return ran

    def _say_why_not(self, action: object, namespace: object) -> None:
        room = self.screen
        if not isinstance(room, Room) or namespace is not room or not isinstance(action, str):
            return
        if not room.is_mounted:
            return
        name = action.partition("(")[0].rpartition(".")[2]
        if name == "note":
            name = action.partition("'")[2].partition("'")[0]
        if reason := room.why_not(name):
            room.flash(reason, ink.WARNING)
