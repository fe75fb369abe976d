"""Passwords and keys standing in a text. Only the first four characters are ever repeated.

Known kinds go by the prefix their issuer gives them; anything else must be assigned to a word for
a secret and look random, so that "the password is in the vault" stays quiet.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.homes.hermes.advice.places import Place, quoted
from core.model import Severity
from core.secrets_in_text import assigned, issued

_SHOWN = 4


def credentials(text: str) -> Iterator[Place]:
    """Every key, token, private key and assigned password in ``text``."""
    taken: list[tuple[int, int]] = []
    for found in issued(text):
        taken.append((found.start, found.end))
        word = text[found.start : found.end]
        yield Place(found.start, found.end, word, _told(found.kind, word), Severity.DANGER)
    ends = 0
    for found in assigned(text):
        while ends < len(taken) and taken[ends][1] <= found.start:
            ends += 1
        if ends < len(taken) and taken[ends][0] < found.end:
            continue
        word = text[found.start : found.end]
        yield Place(found.start, found.end, word, _told(found.kind, word), Severity.WARNING)


def _told(kind: str, value: str) -> str:
    return kind if kind == "private key" else f"{kind} {quoted(value[:_SHOWN] + '…')}"
