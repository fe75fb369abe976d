"""Whether two texts are as alike as a threshold asks, answered without the slow ratio if possible.

hermes-agent 0.19.0 compares lines with ``difflib.SequenceMatcher.ratio``. That ratio counts blocks
common to both texts and in the same order, so the longest common subsequence bounds it from above.
The bound costs a few integer operations per character, the ratio itself about fifteen times more.
"""

from __future__ import annotations

from difflib import SequenceMatcher


class Yardstick:
    """One text that many others are held against; its character masks are made once."""

    __slots__ = ("_masks", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._masks: dict[str, int] = {}
        for place, character in enumerate(text):
            self._masks[character] = self._masks.get(character, 0) | 1 << place

    def common(self, other: str) -> int:
        """The length of the longest common subsequence, bit-parallel (Hyyrö 2004)."""
        every = (1 << len(self.text)) - 1
        unmatched = every
        for mask in map(self._masks.get, other):
            if mask:
                hit = unmatched & mask
                unmatched = (unmatched + hit) | (unmatched - hit)
        return len(self.text) - (unmatched & every).bit_count()

    def may_reach(self, other: str, threshold: float) -> bool:
        """``False`` only if the ratio of the two texts, in either order, is below ``threshold``."""
        lengths = (len(self.text), len(other))
        return lengths_may_reach(*lengths, threshold) and (
            _ratio(self.common(other), sum(lengths)) >= threshold
        )

    def reached_from(self, other: str, threshold: float) -> bool:
        """Whether ``SequenceMatcher(None, other, self.text).ratio() >= threshold``."""
        return self.may_reach(other, threshold) and (
            SequenceMatcher(None, other, self.text).ratio() >= threshold
        )

    def reaches(self, other: str, threshold: float) -> bool:
        """Whether ``SequenceMatcher(None, self.text, other).ratio() >= threshold``.

        Not the same question as :meth:`reached_from`: the ratio depends on the order.
        """
        return self.may_reach(other, threshold) and (
            SequenceMatcher(None, self.text, other).ratio() >= threshold
        )


def lengths_may_reach(first: int, second: int, threshold: float) -> bool:
    """``False`` only if no two texts of these lengths have a ratio of ``threshold``."""
    return _ratio(min(first, second), first + second) >= threshold


def _ratio(common: int, total: int) -> float:
    return 2.0 * common / total if total else 1.0
