"""What a receipt says next: when the agent sees it, what is left, what to do about a refusal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from core.homes.hermes.status import ASKING, Status, status_of
from core.journal import Entry
from core.model import Outcome, Receipt
from core.sightings import OUTSIDE

#: Names listed in one sentence; more are only counted.
LISTED = 8

SEEN_NEXT_SESSION = "The agent sees it from its next session."
_NOT_TOLD = "The agent is not told; the same text is recognised if it is proposed again."
_BY_CATEGORY = {
    "gone": "See `signoff pending`.",
    "locked": "Try again in a moment.",
    "torn": "Look at the file, then at `signoff doctor`.",
    "snoozed": "Wake it with `{snooze}`.",
}
_BY_STATUS = {
    Status.STALE: "It can no longer apply: `{reject}`.",
    Status.AMBIGUOUS: "Make its old text longer with `{edit}`, or `{reject}`.",
    Status.OVER_BUDGET: "Make room first, `signoff memory` lists what is there; or `{edit}`.",
    Status.REFUSED: "Look at it with `{show}`, or `{reject}`.",
    Status.UNREADABLE: "Mend the file first; `signoff doctor` says which.",
    Status.INVALID: "Mend it with `{edit}`, or `{reject}`.",
}


def after_approval(receipt: Receipt, rivals: Sequence[str] = ()) -> Receipt:
    """``receipt`` of an approval, real or foreseen; ``rivals`` are the names of those left."""
    if not receipt.ok:
        return replace(receipt, next=_mend(receipt))
    done = [SEEN_NEXT_SESSION if receipt.category != "noop" else "Nothing changes for the agent."]
    if rivals:
        count = "1 rival waits" if len(rivals) == 1 else f"{len(rivals)} rivals wait"
        what = command("reject", *rivals) if len(rivals) <= LISTED else "signoff pending"
        done.append(f"{count}: `{what}`.")
    return replace(receipt, next=" ".join(done))


def after_rejection(receipt: Receipt) -> Receipt:
    """``receipt`` of a refusal."""
    if receipt.category == "unsafe_target":
        # Its message says the only way there is; refusing it once more is none.
        return receipt
    if not receipt.ok:
        return replace(receipt, next=_mend(receipt))
    return replace(receipt, next=_NOT_TOLD)


def after_undo(
    receipt: Receipt, entry: Entry, numbers: Sequence[int], together: Sequence[int] = ()
) -> Receipt:
    """``receipt`` of taking ``entry`` back, the first of the ``numbers`` that were left to undo.

    ``together``: what would have to be taken back as one, where later entries are in the way.
    """
    if receipt.ok:
        again = f"It waits again: `{command('show', entry.subject)}`." if entry.record else ""
        seen = SEEN_NEXT_SESSION if entry.verb != "reject" else ""
        return replace(receipt, next=" ".join(filter(None, (again, seen))))
    if len(together) > len(numbers):
        line = command("undo", *map(str, together))
        return replace(receipt, next=f"Take them back together: `{line}`.")
    if len(numbers) == 1:
        return replace(receipt, next="See `signoff journal`.")
    listed = ", ".join(map(str, numbers[:LISTED]))
    more = f" and {len(numbers) - LISTED} more" if len(numbers) > LISTED else ""
    return replace(receipt, next=f"Still in force: entries {listed}{more}.")


def after_entry(entry: Entry) -> str:
    """What a journal entry that stands means for the agent; ``""`` for every other."""
    if not entry.ok or entry.undone_by is not None or entry.verb == OUTSIDE:
        return ""
    if entry.category == "noop":
        return "Nothing changes for the agent."
    if entry.verb == "reject":
        return _NOT_TOLD
    seen = any(not path.startswith("pending/") for path in entry.changed)
    return SEEN_NEXT_SESSION if seen and "config.yaml" not in entry.changed else ""


def command(verb: str, *names: str) -> str:
    """A command line to copy, in one line; names that look like options stand behind ``--``."""
    behind = ["--"] if any(each.startswith("-") for each in names) else []
    return " ".join(["signoff", verb, *behind, *map(shlex.quote, names)])


def _mend(receipt: Receipt) -> str:
    name, category = receipt.subject, receipt.category
    if receipt.next:
        return receipt.next
    if receipt.journal is not None:
        return "See `signoff journal`."
    if category in ASKING:
        said = "Look at it with `{show}`; `{approve}` is the answer."
    elif category == "moved":
        said = "Look at it again: `{show}`."
    elif category in _BY_CATEGORY:
        said = _BY_CATEGORY[category]
    else:
        said = _BY_STATUS.get(status_of(Outcome(category, "")), "")
    verbs = ("show", "approve", "reject", "edit")
    lines = {verb: command(verb, name) for verb in verbs}
    return said.format(**lines, snooze=command("snooze --wake", name))
