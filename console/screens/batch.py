"""What one key decided: said once, when all of it is through."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from console.keymap import back_again, keyed
from console.render import ink

if TYPE_CHECKING:
    from core.model import Receipt

NO_RIVALS: Mapping[str, frozenset[str]] = MappingProxyType({})
#: Characters of an id that tell one record from another.
SHORT = 8
#: What to do about a refusal that passes by itself.
_NEXT = {"locked": "; try again in a moment"}


class Batch:
    """``count`` decisions of one verb under way; ``skipped`` rows were left out as they ask.

    ``rivals``: by key, who else wants what that row wants. ``unjudged`` rows cannot be decided so.
    """

    def __init__(
        self,
        verb: str,
        count: int,
        skipped: int,
        rivals: Mapping[str, frozenset[str]] = NO_RIVALS,
        unjudged: int = 0,
    ) -> None:
        self._word = "approved" if verb == "approve" else "refused"
        self._left = count
        self._skipped = skipped
        self._unjudged = unjudged
        self._rivals = rivals
        self._receipts: list[Receipt] = []
        self.left: frozenset[str] = frozenset()
        self.done: frozenset[str] = frozenset()

    def add(self, key: str, receipt: Receipt) -> bool:
        """One more is through, whose rivals are left; whether that was the last."""
        self._receipts.append(receipt)
        if receipt.ok:
            self.done |= {key}
            self.left |= self._rivals.get(key, frozenset())
        self._left -= 1
        return self._left == 0

    def sentence(self, newcomers: int = 0, rivals: int = 0, lost: str = "") -> tuple[str, str]:
        """What became of them, and its style. ``newcomers`` came meanwhile, ``rivals`` wait.

        ``lost`` says who would not land any more.
        """
        said, style = self._outcome()
        if lost:
            done = self._word.capitalize() if self._is_single() else said
            said, style = f"{done}; {lost}", ink.WARNING
        if rivals:
            said += keyed(f"; {_count(rivals, 'rival')} left, {{review.refuse_rivals}} refuses")
        if newcomers:
            said += f"; {newcomers:,} came meanwhile and {'stays' if newcomers == 1 else 'stay'}"
        if self.done and not self._is_single():
            what = "it" if len(self.done) == 1 else "them"
            said += keyed(f"; {{app.undo}} takes {what} back")
        return said, style

    def _is_single(self) -> bool:
        """Whether one row was decided and nothing else came of the key."""
        return len(self._receipts) == 1 and not self._skipped and not self._unjudged

    def _outcome(self) -> tuple[str, str]:
        if self._is_single():
            return _single(self._receipts[0])
        done = sum(receipt.ok for receipt in self._receipts)
        failed = len(self._receipts) - done + self._unjudged
        parts = [f"{done:,} {self._word}"] if done else []
        whose = "its row says" if failed == 1 else "their rows say"
        parts += [f"{failed:,} not, {whose} why"] if failed else []
        parts += [f"{self._skipped:,} left that ask"] if self._skipped else []
        style = ink.DANGER if failed else ink.WARNING if self._skipped else ink.GOOD
        return "; ".join(parts), style


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _single(receipt: Receipt) -> tuple[str, str]:
    name = short(receipt.subject)
    if receipt.ok:
        return f"✓ {receipt.message} ({name}; {back_again()})", ink.GOOD
    return f"✗ {receipt.message}{_NEXT.get(receipt.category, '')} ({name})", ink.DANGER


def short(name: str) -> str:
    """An id in a line that has to hold more than it; vak's have 32 characters."""
    return name if len(name) <= SHORT + 4 else f"{name[:SHORT]}…"
