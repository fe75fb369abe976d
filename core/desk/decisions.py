"""The memory of decisions: what was refused before, what sleeps, and how often whose asks are met.

All of it lies in signoff's own journal; nothing is ever written into a home.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.desk.opening import Opened
from core.errors import StateError, UnreadableError, UsageError
from core.homes.hermes.pending import Proposal, Unreadable, find
from core.homes.hermes.proposals import pin_key
from core.journal import Entry, Tags, in_force
from core.view import sha256

#: What a payload proposes; pins, ids and times around it differ from one asking to the next.
_MEANING = frozenset(
    {
        "action",
        "target",
        "name",
        "category",
        "content",
        "new_text",
        "old_text",
        "old_string",
        "new_string",
        "replace_all",
        "file_path",
        "file_content",
        "absorbed_into",
        "operations",
    }
)
_SPACE = re.compile(r"\s+")
_LENGTH = re.compile(r"([0-9]{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SeenBefore:
    """The refusal a proposal was met with when it was first made: when, why, which entry."""

    at: str
    note: str
    entry: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of the records of a queue; an unreadable journal remembers nothing.

    ``refused`` and ``snoozed`` (until when) are keyed by :func:`~..proposals.pin_key`.
    """

    refused: Mapping[str, SeenBefore] = field(default_factory=dict)
    snoozed: Mapping[str, datetime] = field(default_factory=dict)

    def before(self, proposal: Proposal) -> SeenBefore | None:
        """The refusal of the same text, if there was one."""
        return self.refused.get(pin_key(proposal))

    def until(self, proposal: Proposal) -> datetime | None:
        """Until when the record sleeps, ``None`` if it does not."""
        return self.snoozed.get(pin_key(proposal))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many records of one origin were approved and refused, undone decisions left out."""

    approved: int
    rejected: int

    @property
    def rate(self) -> float:
        """The approved share, between 0 and 1."""
        return self.approved / (self.approved + self.rejected)


def matter(proposal: Proposal) -> str:
    """A hash of what a record proposes: the same for the same texts, action and target.

    Case, Unicode form and the amount of white space do not count; who asked and when neither.
    """
    payload = dict(proposal.payload)
    if proposal.subsystem == "memory":
        payload["target"] = proposal.target
    meant = [proposal.subsystem, _plain(payload)]
    return sha256(json.dumps(meant, sort_keys=True, default=str).encode())


def tags_of(item: Proposal | Unreadable, bulk: int | None = None) -> Tags:
    """What the journal files a decision on ``item`` under."""
    if isinstance(item, Unreadable):
        return Tags(bulk, "")
    return Tags(bulk, item.origin, matter(item))


def recall(opened: Opened, proposals: Sequence[Proposal]) -> Remembered:
    """What is known of ``proposals`` now: earlier refusals of the same text, and who sleeps."""
    home, now = str(opened.found.home), opened.clock()
    try:
        journal = opened.journal
        snoozed = {key: until for key, until in journal.snoozes(home).items() if until > now}
        if not journal.any_refused(home):
            return Remembered(snoozed=snoozed)
        matters = {pin_key(proposal): matter(proposal) for proposal in proposals}
        found = journal.refused(home, frozenset(matters.values()))
    except StateError:
        return Remembered()
    refused = {
        key: SeenBefore(found[hashed].at, found[hashed].note, found[hashed].id)
        for key, hashed in matters.items()
        if hashed in found
    }
    return Remembered(refused, snoozed)


def snooze(opened: Opened, token: str, until: datetime | None) -> Proposal:
    """Let a record sleep until then: it is not listed and no bulk step decides it. ``None`` wakes.

    It is this very record that sleeps: one rewritten meanwhile is awake. Raises
    :class:`NotFoundError`, :class:`UsageError` (also for a time that is past),
    :class:`UnreadableError` and :class:`StateError`.
    """
    proposal = find(opened.queue(), token)
    if isinstance(proposal, Unreadable):
        raise UnreadableError(
            f"{proposal.file} is no proposal: {proposal.reason}",
            proposal.hint,
        )
    now = opened.clock()
    if until is not None and until <= now:
        raise UsageError("That time is past", "Name a later one, such as 7d")
    opened.journal.snooze(str(opened.found.home), pin_key(proposal), until, now)
    return proposal


def time_until(text: str, now: datetime) -> datetime:
    """``7d``, ``12h``, ``30m``, ``2w`` from now, or a date or time in ISO 8601 (UTC without zone).

    Raises :class:`UsageError` for anything else.
    """
    try:
        if found := _LENGTH.fullmatch(text.strip()):
            return now + timedelta(**{_UNITS[found[2]]: int(found[1])})
        moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no time", "Write it like 7d, 12h or 2026-12-24T09:00"
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def length_of(text: str) -> float:
    """Seconds of ``14d``, ``12h``, ``30m``, ``2w``. Raises :class:`UsageError`."""
    found = _LENGTH.fullmatch(text.strip())
    if not found:
        raise UsageError(f"{text!r} is no length of time", "Write it like 14d, 12h or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])}).total_seconds()


def acceptance(opened: Opened) -> dict[str, Acceptance]:
    """``origin -> how its records fared`` on this home, in order of the names.

    An origin no record names (or an entry of an older journal) is ``unknown``.
    """
    entries = opened.journal.entries(str(opened.found.home))
    undone = {entry.id: entry.undone_by for entry in entries if entry.undone_by is not None}
    counts: dict[str, list[int]] = {}
    for entry in entries:
        if entry.verb in ("approve", "reject") and entry.ok and in_force(entry.id, undone):
            pair = counts.setdefault(entry.tags.origin or UNKNOWN, [0, 0])
            pair[entry.verb == "reject"] += 1
    return {origin: Acceptance(*counts[origin]) for origin in sorted(counts)}


def search(entries: Iterable[Entry], text: str) -> tuple[Entry, ...]:
    """The entries that hold ``text`` anywhere a person would look, case aside."""
    wanted = _fold(text)
    return tuple(entry for entry in entries if wanted in _fold("\n".join(_words(entry))))


def _words(entry: Entry) -> list[str]:
    texts = [entry.verb, entry.subject, entry.category, entry.message, entry.note, *entry.changed]
    pairs = (text for pair in entry.entries for text in (pair.before, pair.after) if text)
    return [*texts, entry.tags.origin or "", *pairs]


def _plain(value: object) -> object:
    if isinstance(value, str):
        return _fold(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        kept = {key: _plain(value[key]) for key in _MEANING & value.keys()}
        return {key: item for key, item in kept.items() if item not in (None, "", False)}
    return value


def _fold(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()
