"""What one call of the tool knows besides its arguments, and what every answer is made of.

Source: hermes-agent 0.19.0, executed; links of the newer agent as described (specs,
hermes-sessions 2 and 2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from core.homes.hermes.recall.store import Session, Store
from core.homes.hermes.recall.windows import Json
from core.homes.hermes.rules import Rules

#: Sources whose sessions are nobody's history.
HIDDEN = {Rules.V0_19: ("subagent", "tool"), Rules.NEWEST: ("kanban", "subagent", "tool")}


@dataclass(frozen=True, slots=True)
class Call:
    """One call. ``current`` is the session that asks (``""``: none), ``link`` the profile that
    links name (``""``: none), ``unindexed`` whether 0.19 would have no full text here."""

    store: Store
    rules: Rules
    now: datetime
    zone: tzinfo | None
    current: str = ""
    link: str = ""
    unindexed: bool = False

    @property
    def newest(self) -> bool:
        """Whether the newest agent's rules hold."""
        return self.rules is Rules.NEWEST

    @property
    def hidden(self) -> tuple[str, ...]:
        """Sources that are neither searched nor listed."""
        return HIDDEN[self.rules]

    def when(self, at: Any) -> str:
        """A time as the tool writes it, in the zone of the call; what is no time, as it is."""
        if at is None:
            return "unknown"
        if isinstance(at, str) and not at.replace(".", "").replace("-", "").isdigit():
            return at
        try:
            moment = datetime.fromtimestamp(float(at), UTC).astimezone(self.zone)
            return moment.strftime("%B %d, %Y at %I:%M %p")
        except (ValueError, OverflowError, OSError, TypeError):
            return str(at)

    def about(self, session: Session) -> Json:
        """``session_meta``: of the session itself, not of its family's root."""
        return {
            "when": self.when(session.started_at),
            "source": session.source,
            "model": session.model,
            "title": session.title,
        }

    def reference(self, session_id: Any) -> str:
        """The link to a session that the newer agent gives its model to write."""
        return f"@session:{self.link}/{session_id}" if self.link else f"@session:{session_id}"


def refused(message: str) -> Json:
    """The tool's error."""
    return {"error": message, "success": False}
