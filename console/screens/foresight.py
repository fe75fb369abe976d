"""The desk's forecast as what the review screen draws; imported when rows are marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from console.render.foreseen import Foreseen, Store, Turn, listed
from core.desk.decide import Request
from core.desk.forecast import forecast
from core.desk.opening import Opened
from core.desk.review import Label
from core.desk.search import Improvement

#: Rows up to which a better order is looked for while the person waits.
SEARCHED = 40


def foresee(opened: Opened, rows: Sequence[Label], asking: int, other: int) -> Foreseen:
    """What approving ``rows`` in order would do.

    ``asking`` others ask and would be left, ``other`` marked rows are not judged.
    """
    advice = [f"Left out, as they ask: {asking:,}. Decide each alone."] if asking else []
    advice += [f"Not foreseen, as they are not judged: {other:,}."] if other else []
    if not rows:
        return Foreseen((), (), None, tuple(advice))
    request = Request((), rows=tuple(rows))
    found = forecast(opened, request, search=len(rows) <= SEARCHED)
    names = {row.proposal.file: row.proposal.id for row in rows}
    turns = [Turn(names[row.file], row.receipt.ok, row.receipt.message) for row in found.rows]
    stores = [Store(name, curve.limit, curve.sizes) for name, curve in found.curve.items()]
    if found.better is not None:
        advice += _advice(found.better, len(rows))
    return Foreseen(tuple(turns), tuple(stores), found.first_failure, tuple(advice))


def _advice(better: Improvement, count: int) -> Iterator[str]:
    if better.order is not None:
        order = listed(better.order)
        yield f"In another order {better.lands:,} of {count:,} would land: {order}."
    if better.leave_out:
        yield f"Without {listed(better.leave_out)} the others have room."
    if better.remove:
        entries = [f"{each.target} entry {each.index}" for each in better.remove]
        yield f"All would have room without {listed(entries)}."
