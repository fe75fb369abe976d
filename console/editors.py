"""The person's editor: what ``VISUAL`` or ``EDITOR`` names, as words to run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from core.errors import UsageError


def editor_command(environ: Mapping[str, str], hint: str) -> list[str]:
    """The command to edit with. Raises :class:`UsageError`, with ``hint`` as the next step."""
    line = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise UsageError(f"The editor {line!r} is no command: {problem}", hint) from None
    if not words:
        raise UsageError("No editor is named", hint)
    return words
