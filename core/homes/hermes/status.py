"""One word for a row of the queue, from the precise category and the guards that ask."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from core.model import Finding, Outcome, Severity


class Status(StrEnum):
    """How a proposal stands right now; see the contract for what each one gathers."""

    READY = "ready"
    ATTENTION = "attention"
    NOOP = "noop"
    STALE = "stale"
    AMBIGUOUS = "ambiguous"
    OVER_BUDGET = "over_budget"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    INVALID = "invalid"


#: Guards that ask a person before the proposal lands.
ASKING = frozenset({"guard_fragment", "guard_approximate", "guard_delimiter", "guard_archive"})

_WORDS = {
    Status.READY: "ok",
    Status.NOOP: "noop patch_identical",
    Status.STALE: (
        "no_match batch_no_match stale_entry patch_no_match skill_not_found file_not_found"
        " absorbed_target_missing"
    ),
    Status.AMBIGUOUS: "ambiguous batch_ambiguous patch_ambiguous",
    Status.OVER_BUDGET: "over_budget replace_over_budget batch_over_budget",
    Status.REFUSED: (
        "threat_pattern threat_invisible_unicode security_scan_blocked external_drift pinned"
        " skill_exists path_not_allowed path_traversal path_escape path_is_directory"
        " unsafe_target target_disabled would_empty_store unpinned_record"
    ),
    Status.UNREADABLE: "unreadable_target undecodable_file io_error",
}
_BY_CATEGORY = {word: status for status, words in _WORDS.items() for word in words.split()}


def status_of(outcome: Outcome) -> Status:
    """The status of a proposal whose approval would have this outcome."""
    if outcome.category.startswith("guard_"):
        return Status.REFUSED
    status = _BY_CATEGORY.get(outcome.category, Status.INVALID)
    return Status.ATTENTION if status is Status.READY and asks(outcome.findings) else status


def asks(findings: Sequence[Finding]) -> Finding | None:
    """The first finding that wants a person's answer, if any."""
    return next((f for f in findings if f.code in ASKING and f.severity is not Severity.INFO), None)
