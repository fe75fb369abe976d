"""The person's editor: what ``VISUAL`` or ``EDITOR`` names, as words to run."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence

from core.errors import UsageError


def editor_command(environ: Mapping[str, str], hint: str, instead: Sequence[str] = ()) -> list[str]:
    """The command to edit with; ``instead``: programs to look for if none is named.

    Raises :class:`UsageError`, with ``hint`` as the next step.
    """
    line = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise UsageError(f"The editor {line!r} is no command: {problem}", hint) from None
    found = (shutil.which(name, path=environ.get("PATH")) for name in instead)
    if not words and (program := next(filter(None, found), None)):
        return [program]
    if not words:
        raise UsageError("No editor is named", hint)
    return words
