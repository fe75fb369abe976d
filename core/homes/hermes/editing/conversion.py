"""One kind of proposal turned into another: a create into an edit, a replace into a splice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.homes.hermes.config import Config
from core.homes.hermes.editing.cleaning import cleaned
from core.homes.hermes.editing.drafts import Draft, drafted, invalid
from core.homes.hermes.editing.heads import HeadError, head_field, with_field
from core.homes.hermes.editing.parts import drop_operation, moved, operations_in
from core.homes.hermes.memory.entries import BOM, UnreadableFile, path_of
from core.homes.hermes.memory.fragments import fits, losses, trimmed
from core.homes.hermes.memory.operations import RefusalError, Step, operations_of, walk
from core.homes.hermes.memory.replay import load, store_of
from core.homes.hermes.pending import Proposal
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.tree import declared_name, find_skill
from core.view import View

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\ud7af]+")

#: Conversions that need no number, in the order they are offered.
KINDS = ("splice", "clean", "existing", "move")


def convert(view: View, proposal: Proposal, config: Config, rules: Rules, kind: str) -> Draft:
    """The draft of one conversion: a word of :data:`KINDS`, or ``drop:N`` with N from 1."""
    head, _, number = kind.partition(":")
    if head == "drop" and number.isascii() and number.isdigit() and len(number) < 10:
        return drop_operation(proposal, int(number))
    if kind == "splice":
        return as_splice(view, proposal, config, rules)
    if kind == "existing":
        return as_edit_of_existing(view, proposal, config, rules)
    if kind == "clean":
        return cleaned(proposal)
    if kind == "move":
        return moved(proposal)
    return invalid(f"There is no such conversion: {kind}.")


def offers(view: View, proposal: Proposal, config: Config, rules: Rules) -> tuple[str, ...]:
    """The kinds that would change something now."""
    return tuple(
        kind for kind in KINDS if convert(view, proposal, config, rules, kind).category == "ok"
    )


def as_edit_of_existing(view: View, proposal: Proposal, config: Config, rules: Rules) -> Draft:
    """A create of a skill that exists as a rewrite of that skill.

    The agent keeps pins and counts under the name in a skill's head, so the head keeps the name
    the existing one has.
    """
    payload = proposal.payload
    named, content = payload.get("name"), payload.get("content")
    if proposal.subsystem != "skills" or payload.get("action") != "create":
        return invalid("Only a proposal that creates a skill can become an edit of one.")
    if not isinstance(named, str) or not isinstance(content, str) or not content:
        return invalid("The proposal has no name or no content.")
    folder = find_skill(view, named, config, rules)
    if folder is None:
        return invalid(f"There is no skill {named} yet: the proposal can create it.")
    declared = declared_name(view, folder)
    said = ""
    if head_field(content, "name") not in (declared, None):
        try:
            content = with_field(content, "name", declared, declared)
            said = f" The name in its head is {declared}, as before."
        except HeadError as problem:
            return invalid(str(problem))
    fields = {key: value for key, value in payload.items() if key != "category"}
    fields |= {"action": "edit", "content": content}
    return drafted(proposal, fields, f"Now an edit of {folder}.{said}", {})


def as_splice(view: View, proposal: Proposal, config: Config, rules: Rules) -> Draft:
    """A whole-entry replace aimed at a fragment as one that changes only the fragment.

    It still replaces a whole entry, since 0.19.0 knows nothing else: ``old_text`` becomes the
    entry's text, ``content`` the entry with the fragment exchanged. A new text that brings the
    words beside the fragment along is left alone. Pins stay valid.
    """
    if proposal.subsystem != "memory":
        return invalid("Only a memory proposal can be spliced.")
    store = store_of(proposal.payload)
    file = load(view, store, rules)
    if isinstance(file, UnreadableFile):
        return invalid(f"{path_of(store)} cannot be read: {file.reason}.")
    payload: Mapping[str, Any] = proposal.payload
    done: list[str] = []
    told = ""
    count = len(operations_in(payload))
    for index in range(count):
        # Worked out again each time: an operation finds what the ones before it leave.
        steps, told = _steps(store, file.unique, payload, rules)
        step = next((step for step in steps if step.index == index), None)
        if step is None or step.action != "replace" or step.before is None:
            continue
        spliced = _spliced(step)
        if spliced is None:
            continue
        if not spliced:
            return invalid("The text it names stands in the entry several times; edit it instead.")
        if not fits(step.before, step.old_text, step.after or ""):
            return invalid("The new text is a sentence that would stand inside another; edit it.")
        payload = _put(payload, index, step.before, spliced)
        done.append(f"operation {index + 1}")
    if not done:
        if told:
            return invalid(told)
        return Draft("noop", "It replaces no fragment of an entry: nothing beside it would go.")
    where = f" ({', '.join(done)})" if payload.get("action") == "batch" else ""
    message = f"Only the fragment changes, the rest of the entry stays{where}."
    return drafted(proposal, payload, message, {index: index for index in range(count)})


def _steps(
    store: str, entries: tuple[str, ...], payload: Mapping[str, Any], rules: Rules
) -> tuple[tuple[Step, ...], str]:
    """The operations that find their place, and why the next one does not, if one does not."""
    try:
        return walk(store, entries, operations_of(payload, rules), rules).steps, ""
    except RefusalError as problem:
        return problem.steps, problem.message


def _spliced(step: Step) -> str | None:
    """The entry with its fragment exchanged; ``None`` if that is no splice, ``""`` if unclear."""
    assert step.before is not None
    entry, content = step.before, step.after or ""
    head, found, tail = entry.partition(step.old_text)
    if not found or not (head or tail):
        return None
    if not losses(entry, step.old_text, content) and _brought_along(head + tail, content):
        return None
    if step.old_text in tail:
        return ""
    return "".join(trimmed(head, content, tail)).removeprefix(BOM).strip()


def _brought_along(beside: str, content: str) -> bool:
    """Whether most words beside the fragment are in the new text: it is the entry reworded."""
    words = [word.casefold() for word in _WORD.findall(beside)]
    said = {word.casefold() for word in _WORD.findall(content)}
    return sum(word in said for word in words) * 2 > len(words) or not words


def _put(payload: Mapping[str, Any], index: int, entry: str, text: str) -> dict[str, Any]:
    fields = dict(operations_in(payload)[index])
    name = "content" if fields.get("content") or "new_text" not in fields else "new_text"
    fields |= {"old_text": entry, name: text}
    if payload.get("action") != "batch":
        return fields
    operations = list(payload["operations"])
    operations[index] = fields
    return {**payload, "operations": operations}
