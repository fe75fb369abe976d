"""Which texts count as Chinese, Japanese or Korean, and which index can find them.

Source: hermes-agent 0.19.0, executed (specs, hermes-sessions 3.4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Characters a token needs to leave a trigram.
TRIGRAM = 3

_CJK = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df"
    "\u3000-\u303f\u3040-\u309f\u30a0-\u30ff\uac00-\ud7af]"
)


def contains(text: str) -> bool:
    """Whether ``text`` has one CJK character; the ordinary index is then not asked."""
    return _CJK.search(text) is not None


def count(text: str) -> int:
    """How many CJK characters ``text`` has."""
    return len(_CJK.findall(text))


def fits_trigrams(text: str, words: Sequence[str]) -> bool:
    """Whether the trigram index can answer: three CJK characters in all and in each CJK word."""
    return count(text) >= TRIGRAM and all(
        count(word) >= TRIGRAM for word in words if contains(word)
    )
