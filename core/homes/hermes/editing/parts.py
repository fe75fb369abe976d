"""What a person can edit in a proposal, and the record with some of it edited.

A part is named by its field (``content``, ``file_path``), in a batch with the operation's number
from 1 before it (``operations.2.content``). ``description`` is the one in the head of a SKILL.md.
A field that is missing, or whose text stands under another field's name, is offered as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.homes.hermes.editing.drafts import Draft, drafted, invalid
from core.homes.hermes.editing.heads import HeadError, head_field, with_field
from core.homes.hermes.pending import Proposal

Fields = Mapping[str, Any]

DESCRIPTION = "description"
_LABELS = {
    "content": "the new text",
    "new_text": "the new text",
    "old_text": "the text that names the entry",
    "target": "the store: memory or user",
    "action": "what to do",
    "name": "the skill's name",
    "category": "the folder it goes into",
    DESCRIPTION: "the description in its head",
    "old_string": "the text to replace",
    "new_string": "the text put in its place",
    "file_path": "the file inside the skill",
    "file_content": "the file's text",
    "absorbed_into": "the skill that took its content over",
}
_ONE_LINE = frozenset(
    {"target", "action", "name", "category", DESCRIPTION, "file_path", "absorbed_into"}
)
#: Without these a proposal is none: emptying one is refused here.
_NEEDED = frozenset({"content", "new_text", "old_text", "old_string", "name", DESCRIPTION})
_MEMORY = {
    "add": ("content",),
    "replace": ("content", "old_text"),
    "patch": ("content", "old_text"),
    "remove": ("old_text",),
}
_SKILLS = {
    "create": ("content", DESCRIPTION, "name", "category"),
    "edit": ("content", DESCRIPTION, "name"),
    "patch": ("new_string", "old_string", "file_path", "name"),
    "write_file": ("file_content", "file_path", "name"),
    "remove_file": ("file_path", "name"),
    "delete": ("absorbed_into", "name"),
}
#: Where agents have put a field's text by mistake (report D07).
_MISPLACED = {
    "content": "file_content",
    "file_content": "content",
    "old_string": "old_text",
    "new_string": "new_text",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One text a person can edit, the main one of a record first.

    ``text`` is what stands there, as text whatever its type; ``""`` if nothing does. ``found``
    names the other field it stands under by mistake: setting the part moves it.
    """

    key: str
    label: str
    text: str
    multiline: bool
    found: str = ""


def parts(proposal: Proposal) -> tuple[Part, ...]:
    """Everything that can be edited in ``proposal``; nothing in one without a payload."""
    if proposal.payload_problem:
        return ()
    memory = proposal.subsystem == "memory"
    payload = proposal.payload
    found: list[Part] = []
    if payload.get("action") == "batch":
        operations = payload.get("operations")
        for number, each in enumerate(operations if isinstance(operations, list) else (), 1):
            if isinstance(each, Mapping):
                found += _parts(each, memory, f"operations.{number}.", f"operation {number}: ")
    else:
        found += _parts(payload, memory, "", "")
    if memory:
        found.append(_part(payload, "target", "", ""))
    return tuple(found)


def edited(proposal: Proposal, changes: Mapping[str, str]) -> Draft:
    """``proposal`` with some parts set, by key.

    One-line parts lose their final line end, memory texts the blanks around them, as the agent
    would strip them. An operation that names its entry as before keeps its pin.
    """
    known = {part.key: part for part in parts(proposal)}
    fresh: dict[str, str] = {}
    for key, text in changes.items():
        if key not in known:
            return invalid(f"There is no part {key}; it has {', '.join(known) or 'none'}.")
        text = _tidy(proposal, known[key], text)
        if "\n" in text and not known[key].multiline:
            return invalid(f"{key} must be one line.")
        if not text.strip() and _field(key) in _NEEDED and known[key].text.strip():
            return invalid(f"{key} would be empty; refuse the proposal instead.")
        if text != known[key].text or _stored(proposal.payload, key) != text:
            fresh[key] = text
    payload: dict[str, Any] = dict(proposal.payload)
    # The description last: it lies inside the content, which may be edited too.
    for key in sorted(fresh, key=lambda each: _field(each) == DESCRIPTION):
        try:
            payload = _with(payload, known[key], fresh[key])
        except HeadError as problem:
            return invalid(str(problem))
    said = ", ".join(f"{known[key].label} ({key})" for key in fresh)
    return drafted(proposal, payload, f"Edited: {said}.", _kept(proposal.payload, payload))


def moved(proposal: Proposal) -> Draft:
    """``proposal`` with every text that stands under the wrong field under the right one."""
    wrong = {part.key: part.text for part in parts(proposal) if part.found}
    if not wrong:
        return Draft("noop", "Every text stands under the field the agent reads.")
    done = edited(proposal, wrong)
    if done.data is None:
        return done
    told = ", ".join(f"{part.found} → {part.key}" for part in parts(proposal) if part.found)
    return Draft("ok", f"Moved: {told}.", done.data, done.kept)


def drop_operation(proposal: Proposal, number: int) -> Draft:
    """``proposal`` without one operation of its batch; ``number`` counts from 1."""
    operations = proposal.payload.get("operations")
    if proposal.payload.get("action") != "batch" or not isinstance(operations, list):
        return invalid("The proposal is no batch, so it has no operation to drop.")
    if not 1 <= number <= len(operations):
        return invalid(f"The batch has {len(operations)} operations; there is no {number}.")
    if len(operations) == 1:
        return invalid("It is the only operation; refuse the proposal instead.")
    index = number - 1
    left = [*operations[:index], *operations[index + 1 :]]
    kept = {old: old - (old > index) for old in range(len(operations)) if old != index}
    message = f"Dropped operation {number} of {len(operations)}."
    draft = drafted(proposal, {**proposal.payload, "operations": left}, message, kept)
    gone = operations[index]
    text = (gone.get("content") or gone.get("new_text")) if isinstance(gone, Mapping) else None
    unmade = text.strip() if isinstance(text, str) else ""
    return Draft(draft.category, draft.message, draft.data, draft.kept, unmade)


def operations_in(payload: Fields) -> tuple[Any, ...]:
    """The operations of a batch, or the payload itself as the only one."""
    operations = payload.get("operations")
    if payload.get("action") == "batch" and isinstance(operations, list):
        return tuple(operations)
    return (payload,)


def _parts(fields: Fields, memory: bool, prefix: str, lead: str) -> Iterator[Part]:
    action = fields.get("action")
    table = _MEMORY if memory else _SKILLS
    names = table.get(action) if isinstance(action, str) else None
    if names is None:
        yield _part(fields, "action", prefix, lead)
        names = tuple(
            name for name in _LABELS if name in fields and name not in ("action", "target")
        )
    if action == "patch" and not memory and fields.get("content") and not fields.get("old_string"):
        # Newer agents take a patch with a whole text for a rewrite.
        names = _SKILLS["edit"]
    for name in names:
        if name == DESCRIPTION:
            if (part := _description(fields, prefix, lead)) is not None:
                yield part
        elif name == "content" and memory and not fields.get(name) and fields.get("new_text"):
            yield _part(fields, "new_text", prefix, lead)
        else:
            yield _part(fields, name, prefix, lead, names if not memory else ())


def _part(fields: Fields, name: str, prefix: str, lead: str, names: tuple[str, ...] = ()) -> Part:
    value, found = fields.get(name), ""
    other = _MISPLACED.get(name, "")
    if value is None and names and other not in names and isinstance(fields.get(other), str):
        value, found = fields[other], other
    return Part(prefix + name, lead + _LABELS[name], _text(value), name not in _ONE_LINE, found)


def _description(fields: Fields, prefix: str, lead: str) -> Part | None:
    content = fields.get("content")
    text = head_field(content, DESCRIPTION) if isinstance(content, str) and content else None
    if text is None:
        return None
    return Part(prefix + DESCRIPTION, lead + _LABELS[DESCRIPTION], text, multiline=False)


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _field(key: str) -> str:
    return key.rpartition(".")[2]


def _tidy(proposal: Proposal, part: Part, text: str) -> str:
    if proposal.subsystem == "memory":
        return part.text if text.strip() == part.text.strip() else text.strip()
    return text if part.multiline else text.rstrip("\r\n")


def _stored(payload: Fields, key: str) -> object:
    """What the record has for ``key`` now; nothing at all counts as an empty text."""
    fields, name = _place(payload, key)
    if name == DESCRIPTION:
        return head_field(fields["content"], DESCRIPTION)
    return fields.get(name) or ("" if fields.get(name) is None else fields[name])


def _place(payload: Fields, key: str) -> tuple[Fields, str]:
    head, _, name = key.rpartition(".")
    if not head:
        return payload, name
    fields: Fields = payload["operations"][int(head.rpartition(".")[2]) - 1]
    return fields, name


def _with(payload: dict[str, Any], part: Part, text: str) -> dict[str, Any]:
    old, name = _place(payload, part.key)
    fields = dict(old)
    if name == DESCRIPTION:
        named = fields.get("name")
        content = fields["content"]
        skill = named if isinstance(named, str) else ""
        fields["content"] = with_field(content, DESCRIPTION, text, skill)
    else:
        fields.pop(part.found, None)
        fields[name] = text
    if name == "category" and not text:
        del fields["category"]
    if name == "name" and fields.get("action") == "create":
        fields = _renamed(fields, old.get("name"), text)
    if fields.keys() >= {"operations"} or old is payload:
        return fields
    index = int(part.key.split(".")[1]) - 1
    operations = list(payload["operations"])
    operations[index] = fields
    return {**payload, "operations": operations}


def _renamed(fields: dict[str, Any], before: object, name: str) -> dict[str, Any]:
    """A new skill renamed: the name in its head follows where it was the same."""
    content = fields.get("content")
    if not isinstance(content, str) or head_field(content, "name") != before:
        return fields
    try:
        return {**fields, "content": with_field(content, "name", name, name)}
    except HeadError:
        return fields


def _kept(before: Fields, after: Fields) -> dict[int, int]:
    """The operations that aim at the same entry of the same store, by index."""
    if before.get("target") != after.get("target"):
        return {}
    pairs = zip(operations_in(before), operations_in(after), strict=True)
    return {
        index: index
        for index, (old, new) in enumerate(pairs)
        if isinstance(old, Mapping)
        and all(old.get(field) == new.get(field) for field in ("action", "old_text"))
    }
