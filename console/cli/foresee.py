"""``approve --dry-run`` for people: what would land, the budget on the way, and what would help."""

from __future__ import annotations

from console.cli import paint
from console.cli.session import Session
from core.desk.forecast import Curve, Forecast
from core.desk.search import Improvement

#: Sizes of a curve that are drawn; a longer one keeps its ends and its peak.
DRAWN = 12


def print_forecast(session: Session, found: Forecast) -> None:
    """The curve of every store, the first failure, and a suggestion."""
    for target, curve in found.curve.items():
        over = max(curve.sizes) > curve.limit
        paint.tell(f"{target}: {_drawn(curve)} of {curve.limit:,} characters", "yellow" * over)
    if found.first_failure is not None:
        row = found.rows[found.first_failure]
        place = f"number {found.first_failure + 1} of {len(found.rows)}"
        said = f"The first that fails is {paint.word(row.receipt.subject)}, {place}"
        paint.tell(f"{said}: {row.receipt.message}", "yellow")
    if found.better is not None:
        _print_better(session, found, found.better)


def _print_better(session: Session, found: Forecast, better: Improvement) -> None:
    count = len(found.rows)
    looked = "every order" if better.complete else paint.count(better.orders, "order")
    if better.order is not None:
        paint.tell(f"In another order {better.lands} of {count} would land ({looked} tried):")
        paint.hint("That order", session.command("approve", *better.order))
    elif better.leave_out or better.remove:
        paint.tell(f"No better order was found ({looked} tried).")
    if better.leave_out:
        names = paint.listed([paint.word(name) for name in better.leave_out])
        paint.tell(f"Without {names} the others have room.")
    if better.remove:
        paint.tell("Or make room for all by removing:")
        for each in better.remove:
            paint.tell(f"  {each.target} entry {each.index}: {each.text}")


def _drawn(curve: Curve) -> str:
    sizes = [curve.sizes[0]]
    sizes += [
        now for before, now in zip(curve.sizes, curve.sizes[1:], strict=False) if now != before
    ]
    if len(sizes) > DRAWN:
        peak = max(sizes)
        return f"{sizes[0]:,} → … {peak:,} at most … → {sizes[-1]:,}"
    return " → ".join(f"{size:,}" for size in sizes)
