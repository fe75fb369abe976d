"""The operations of a memory record and how each finds its entry.

A single record is one operation; a batch is a list of them, worked through in order on a copy of
the store. Rules 0.19 model hermes-agent 0.19.0 as executed, rules newest its later documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.homes.hermes.memory.entries import normalise_line_ends, parse
from core.homes.hermes.rules import Rules
from core.model import EntryChange
from core.text import one_line
from core.view import sha256

#: Actions that hit an existing entry, and those that put text into the store.
DESTRUCTIVE = {Rules.V0_19: ("replace", "remove"), Rules.NEWEST: ("replace", "remove", "patch")}
WRITING = {Rules.V0_19: ("add", "replace"), Rules.NEWEST: ("add", "replace", "patch")}

_CANDIDATES_SHOWN = 4


class RefusalError(Exception):
    """The agent would refuse. ``steps`` are the operations that found their place before that."""

    def __init__(
        self,
        category: str,
        message: str,
        *,
        claims: Iterable[str] = (),
        steps: tuple[Step, ...] = (),
    ) -> None:
        super().__init__(message)
        self.category = category
        self.message = message
        self.claims = frozenset(claims)
        self.steps = steps


@dataclass(frozen=True, slots=True)
class Op:
    """One operation as the record has it; the values may be of any JSON type.

    ``pin`` is the full text of the entry it was reviewed against (newest rules only).
    """

    index: int
    action: object
    content: object
    old_text: object
    pin: object
    batch: bool

    @property
    def label(self) -> str:
        """What messages about it begin with: nothing for a single operation."""
        if not self.batch:
            return ""
        return f"Operation {self.index + 1} ({one_line(str(self.action or 'no action'), 20)}): "


@dataclass(frozen=True, slots=True)
class Step:
    """An operation that found its place: the entry it hit and the text it puts there."""

    index: int
    action: str
    old_text: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Walk:
    """All operations worked through: the steps, the entries left, and what changed in place."""

    steps: tuple[Step, ...]
    entries: tuple[str, ...]
    changes: tuple[EntryChange, ...]


def operations_of(
    payload: Mapping[str, object], rules: Rules, pins: Sequence[str | None] = ()
) -> Iterator[Op]:
    """The record's operations in order, one for a single record.

    Lazy, since the agent looks at one after the other: an operation that is no object raises
    :class:`RefusalError` only when its turn comes. A falsy operation counts as an empty one.
    """
    if payload.get("action") != "batch":
        yield _op(0, payload, rules, pins, batch=False)
        return
    items = payload.get("operations") or []
    if not isinstance(items, list):
        raise invalid("operations", items, wanted="a list")
    if not items:
        raise RefusalError("batch_empty", "The batch has no operations.")
    for index, item in enumerate(items):
        if item and not isinstance(item, Mapping):
            raise invalid(f"operation {index + 1}", item, wanted="an object")
        yield _op(index, item or {}, rules, pins, batch=True)


def _op(
    index: int,
    item: Mapping[str, object],
    rules: Rules,
    pins: Sequence[str | None],
    *,
    batch: bool,
) -> Op:
    content, pin = item.get("content"), None
    if rules is Rules.NEWEST:
        content = content or item.get("new_text")
        pin = item.get("matched_entry") or (pins[index] if index < len(pins) else None)
    return Op(index, item.get("action"), content, item.get("old_text"), pin, batch)


def fields_of(op: Op, rules: Rules) -> tuple[str, str]:
    """``content`` and ``old_text``, checked and stripped as the agent does before it acts.

    Raises :class:`RefusalError`: a wrong type, a missing field or an unknown action.
    """
    action = op.action
    known = action in (*WRITING[rules], *DESTRUCTIVE[rules])
    if not op.batch and not known:
        raise RefusalError("unknown_action", f"The agent knows no memory action {_shown(action)}.")
    content = old_text = ""
    if op.batch:
        content = text_of(op.content, op.label + "content")
        old_text = text_of(op.old_text, op.label + "old_text")
    else:
        if action in DESTRUCTIVE[rules]:
            old_text = text_of(op.old_text, "old_text")
        if action in WRITING[rules]:
            content = text_of(op.content, "content")
    if not known:
        raise RefusalError(
            "batch_unknown_action", f"{op.label}the agent knows no action {_shown(action)}."
        )
    missing = "batch_missing_field" if op.batch else "empty"
    if action in DESTRUCTIVE[rules] and not old_text:
        raise RefusalError(missing, f"{op.label}old_text is empty, so no entry is named.")
    if action in WRITING[rules] and not content:
        raise RefusalError(missing, f"{op.label}content is empty.")
    return content, old_text


def walk(store: str, entries: Sequence[str], ops: Iterable[Op], rules: Rules) -> Walk:
    """Work through ``ops`` on ``entries``; later operations see what earlier ones left.

    Raises :class:`RefusalError` at the first that is malformed or does not find one entry.
    """
    work = _Copy(entries)
    steps: list[Step] = []
    try:
        for op in ops:
            step = _step(store, work, op, rules)
            steps.append(step)
    except RefusalError as problem:
        problem.steps = tuple(steps)
        raise
    places = zip(work.origins, work.texts, strict=True)
    return Walk(
        tuple(steps),
        tuple(text for text in work.texts if text is not None),
        tuple(EntryChange(old, new) for old, new in places if old != new),
    )


class _Copy:
    """The working copy: at each place the text that was there and the one that is (or ``None``)."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.origins: list[str | None] = list(entries)
        self.texts: list[str | None] = list(entries)
        self._held = Counter(self.texts)

    def holds(self, text: str) -> bool:
        return self._held[text] > 0

    def append(self, text: str) -> None:
        self.origins.append(None)
        self.texts.append(text)
        self._held[text] += 1

    def put(self, place: int, text: str | None) -> None:
        self._held[self.texts[place]] -= 1
        self._held[text] += 1
        self.texts[place] = text


def _step(store: str, work: _Copy, op: Op, rules: Rules) -> Step:
    content, old_text = fields_of(op, rules)
    action = str(op.action)
    if action == "add":
        if not work.holds(content):
            work.append(content)
        return Step(op.index, action, "", None, content)
    place = _find(store, work.texts, op, old_text, rules)
    before = work.texts[place]
    after: str | None = content
    if action == "remove":
        after = None
    elif action == "patch":
        if before is None or old_text not in before:
            raise _no_match(store, op, old_text)
        after = before.replace(old_text, content).strip()
    work.put(place, after)
    return Step(op.index, action, old_text, before, after)


def _find(store: str, texts: Sequence[str | None], op: Op, old_text: str, rules: Rules) -> int:
    if op.pin:
        pin = op.pin
        if not isinstance(pin, str):
            raise invalid(op.label + "matched_entry", pin)
        if pin not in texts:
            raise RefusalError(
                "stale_entry",
                f"{op.label}the entry it was written for is gone or changed: {quoted(pin)}.",
                claims=(entry_claim(store, pin), f"memory:{store}?{old_text}"),
            )
        return texts.index(pin)
    if rules is Rules.NEWEST and old_text in texts:
        return texts.index(old_text)
    hits = [(place, text) for place, text in enumerate(texts) if text and old_text in text]
    if not hits:
        raise _no_match(store, op, old_text)
    distinct = list(dict.fromkeys(text for _, text in hits))
    if len(distinct) > 1:
        shown = ", ".join(quoted(text, 40) for text in distinct[:_CANDIDATES_SHOWN])
        more = len(distinct) - _CANDIDATES_SHOWN
        raise RefusalError(
            "batch_ambiguous" if op.batch else "ambiguous",
            f"{op.label}{quoted(old_text)} is in {len(distinct)} entries: {shown}"
            + (f" and {more} more." if more > 0 else "."),
            claims=(*(entry_claim(store, t) for t in distinct), f"memory:{store}?{old_text}"),
        )
    return hits[0][0]


def _no_match(store: str, op: Op, old_text: str) -> RefusalError:
    return RefusalError(
        "batch_no_match" if op.batch else "no_match",
        f"{op.label}no entry contains {quoted(old_text)}.",
        claims=(f"memory:{store}?{old_text}",),
    )


def split(changes: Iterable[EntryChange]) -> tuple[EntryChange, ...]:
    """``changes`` as they are read back: text with the delimiter in it is several entries."""
    done: list[EntryChange] = []
    for change in changes:
        pieces = parse(normalise_line_ends(change.after or ""))
        if len(pieces) < 2:
            done.append(change)
            continue
        done.append(EntryChange(change.before, pieces[0]))
        done.extend(EntryChange(None, piece) for piece in pieces[1:])
    return tuple(done)


def entry_claim(store: str, text: str) -> str:
    """The claim on one entry: proposals that share it are rivals."""
    return f"memory:{store}:{sha256(text.encode('utf-8', 'surrogatepass'))[:16]}"


def text_of(value: object, field: str) -> str:
    """A field's text, stripped. The agent takes every falsy value for empty text."""
    if not value:
        return ""
    if not isinstance(value, str):
        raise invalid(field, value)
    return value.strip()


def invalid(field: str, value: object, *, wanted: str = "text") -> RefusalError:
    """The refusal for a field of the wrong type, on which the agent raises."""
    return RefusalError("invalid", f"{field} must be {wanted}, not {_type_name(value)}.")


def quoted(text: str, width: int = 60) -> str:
    """``text`` in quotes, made safe, on one line of at most ``width`` cells."""
    return f"“{one_line(text, width)}”"


def _shown(action: object) -> str:
    return quoted(action, 20) if isinstance(action, str) else _type_name(action)


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"
