"""White space as vak's language means it: Unicode White_Space, which is not Python's ``isspace``.

Python also counts four separators of ASCII (U+001C to U+001F).
"""

from __future__ import annotations

import re

WHITE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
WHITE += "\u2028\u2029\u202f\u205f\u3000"
_RUN = re.compile(f"[{WHITE}]+")


def trim(text: str) -> str:
    """``text`` without white space at its ends."""
    return text.strip(WHITE)


def tokens(text: str) -> list[str]:
    """The parts of ``text`` between white space."""
    return [part for part in _RUN.split(text) if part]
