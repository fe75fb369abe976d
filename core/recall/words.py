"""What a word is, for every search of people: said once, used by the parser, the index and marks.

A word is a run of letters and digits; case and the marks on Latin letters do not count, as in
SQLite's ``unicode61`` (``naive`` is ``naïve``; ``straße`` is not ``strasse``). Everything else
parts words: ``_ . - / @ : '`` too. Scripts written without spaces (Chinese, Japanese, Korean) have
no words to see, so each of their characters is a word of its own: two of them asked together are
found wherever they stand together, and a Latin word glued to them is found as well, which
``unicode61`` misses (specs: hermes-sessions 1.5, 3.4).
"""

from __future__ import annotations

import itertools
import re
import unicodedata

_CJK = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u303c\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d"
    "\U00020000-\U0003ffff"
)
_ANY_CJK = re.compile(f"[{_CJK}]")
_FLAT_RUN = re.compile(f"(?:[{_CJK}] ){{2,}}")
#: Characters folded in one go.
_STRETCH = 128
#: Stands for every mark that is dropped, where offsets must stay.
MARK = "\u0300"


class _Folding(dict[int, str | None]):
    """A table for ``str.translate`` that fills itself: one entry for every character met."""

    def __init__(self, *, keeps_offsets: bool) -> None:
        super().__init__()
        self._keeps_offsets = keeps_offsets

    def __missing__(self, point: int) -> str | None:
        char = chr(point)
        folded: str | None
        if 0x300 <= point <= 0x36F:
            folded = MARK if self._keeps_offsets else None
        elif not char.isalnum():
            folded = " "
        elif _ANY_CJK.match(char):
            folded = char if self._keeps_offsets else f" {char} "
        else:
            folded = _fold(char)
        self[point] = folded
        return folded


_FLAT = _Folding(keeps_offsets=False)
_CELLS = _Folding(keeps_offsets=True)


def is_cjk(text: str) -> bool:
    """Whether ``text`` has a letter of a script that is written without spaces."""
    return not text.isascii() and _ANY_CJK.search(text) is not None


def flat(text: str) -> str:
    """``text`` as its words, folded, one space before, between and after them.

    The words asked stand in it as ``" word word "``; no other test of a match is needed.
    """
    spaced = f" {_translated(text, _FLAT)} "
    while "  " in spaced:
        spaced = spaced.replace("  ", " ")
    return spaced


def words(text: str) -> tuple[str, ...]:
    """The words of ``text``, folded, in order."""
    return tuple(_translated(text, _FLAT).split())


def cells(text: str) -> str:
    """``text`` folded with every offset kept: a space for what parts words, MARK for a mark."""
    return _translated(text, _CELLS)


def pairs(flattened: str) -> set[str]:
    """Every two characters without spaces that stand together in a :func:`flat` text."""
    if flattened.isascii():
        return set()
    found: set[str] = set()
    for run in _FLAT_RUN.finditer(flattened):
        chars = run.group()[::2]
        found.update(map("".join, itertools.pairwise(chars)))
    return found


def _translated(text: str, table: _Folding) -> str:
    # Plain ASCII is translated thirty times faster, so what is plain in a text is kept apart.
    if text.isascii():
        return text.translate(table)
    stretches = (text[at : at + _STRETCH] for at in range(0, len(text), _STRETCH))
    return "".join([stretch.translate(table) for stretch in stretches])


def _fold(char: str) -> str:
    # Only what is a Latin letter underneath loses its marks, as in unicode61: a kana with its
    # sound mark, or й, is a letter of its own.
    base = unicodedata.normalize("NFD", char)[0]
    letter = base if base.isascii() and base.isalpha() else char
    folded = letter.casefold()
    return folded if len(folded) == 1 else letter.lower()[0]
