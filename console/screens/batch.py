"""What one key decided: said once, when all of it is through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.render import ink

if TYPE_CHECKING:
    from core.model import Receipt

#: What to do about a refusal that passes by itself.
_NEXT = {"locked": "; try again in a moment"}


class Batch:
    """``count`` decisions of one verb under way; ``skipped`` rows were left out as they ask."""

    def __init__(self, verb: str, count: int, skipped: int) -> None:
        self._word = "approved" if verb == "approve" else "refused"
        self._left = count
        self._skipped = skipped
        self._receipts: list[Receipt] = []

    def add(self, receipt: Receipt) -> bool:
        """One more is through; whether that was the last."""
        self._receipts.append(receipt)
        self._left -= 1
        return self._left == 0

    def sentence(self) -> tuple[str, str]:
        """What became of them, and its style."""
        if len(self._receipts) == 1 and not self._skipped:
            return _single(self._receipts[0])
        done = sum(receipt.ok for receipt in self._receipts)
        failed = len(self._receipts) - done
        parts = [f"{done:,} {self._word}"] if done else []
        parts += [f"{failed:,} not {self._word}, their rows say why"] if failed else []
        parts += [f"{self._skipped:,} left that ask: decide each alone"] if self._skipped else []
        parts += ["u takes back the newest"] if done else []
        style = ink.DANGER if failed else ink.WARNING if self._skipped else ink.GOOD
        return "; ".join(parts), style


def _single(receipt: Receipt) -> tuple[str, str]:
    if receipt.ok:
        return f"✓ {receipt.subject} (u takes it back): {receipt.message}", ink.GOOD
    message = f"✗ {receipt.subject}: {receipt.message}{_NEXT.get(receipt.category, '')}"
    return message, ink.DANGER
