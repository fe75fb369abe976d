"""Installing a proposed skill of a vak home under another name than it asks for."""

from __future__ import annotations

from core.commit import commit
from core.desk.decisions import tags_of
from core.desk.kinds import OtherKindError
from core.desk.opening import Opened
from core.desk.receipts import after_approval
from core.desk.review import names, readable
from core.homes.base import Kind
from core.homes.hermes.pending import find
from core.homes.vak.proposals import Judging, plan_promotion
from core.model import Receipt
from core.view import View


def promote_as(
    opened: Opened, token: str, name: str, *, note: str = "", dry_run: bool = False
) -> Receipt:
    """Promote one proposal as ``name``; only the name in its header changes.

    Raises :class:`NotFoundError`, :class:`UsageError`, :class:`UnreadableError`,
    :class:`StateError`.
    """
    judging = opened.judging()
    if opened.found.kind is not Kind.VAK or not isinstance(judging, Judging):
        raise OtherKindError(
            f"A {opened.found.kind} home names its skills itself", "Edit the proposal instead"
        )
    queue = opened.queue()
    proposal = readable(find(queue, token))
    plan = plan_promotion(View(opened.source), proposal, judging, name)
    outcome, called = plan.outcome, names(queue)[proposal.file]
    if dry_run or not outcome.lands:
        changed = tuple(change.path for change in plan.changes)
        return after_approval(
            Receipt(called, outcome.lands, outcome.category, outcome.message, changed)
        )
    opened.check_state()
    receipt = commit(
        plan,
        opened.ground(),
        opened.journal,
        now=opened.clock(),
        note=note,
        tags=tags_of(proposal),
    )
    return after_approval(receipt)
