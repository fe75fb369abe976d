"""Every failure signoff can name: a title, one sentence, the next step and an exit code.

Anything raised on purpose derives from :class:`SignoffError`; the command line prints
``signoff: <message>. <hint>`` and leaves with ``exit_code``, the console shows the same in a panel.
"""

from __future__ import annotations


class SignoffError(Exception):
    """The root. ``code`` is the machine word of the JSON error object."""

    title = "Something went wrong"
    code = "error"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SignoffError):
    """The words of the command do not make sense together."""

    title = "Wrong usage"
    code = "usage"
    exit_code = 2


class NotFoundError(SignoffError):
    """Nothing to act on: an unknown id, entry or name."""

    title = "Not found"
    code = "not_found"
    exit_code = 3


class NoHomeError(SignoffError):
    """No agent home could be found, or the one named is none."""

    title = "No home"
    code = "no_home"
    exit_code = 2


class UnreadableError(SignoffError):
    """A file exists but cannot be read or decoded; it is never taken for an empty one."""

    title = "Unreadable"
    code = "unreadable"


class EmbeddingError(SignoffError):
    """The embedder cannot be used; nothing was stored."""

    title = "No embedder"
    code = "embedder"


class LockedError(SignoffError):
    """The agent, or another signoff, held a lock for longer than signoff waits."""

    title = "Waiting for the agent"
    code = "locked"


class StateError(SignoffError):
    """signoff's own folder (journal, locks) cannot be used."""

    title = "No place for the journal"
    code = "state"
