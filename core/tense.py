"""What a plan says it does, said of one that was carried out.

Planners speak in the present tense: their sentence is shown as a forecast. Once the plan is
written the same sentence stands in the receipt and the journal, where the present tense would
read like a question or like something that is still to come.
"""

from __future__ import annotations

import re

_PAST = {
    "Adds": "Added",
    "Archives": "Archived",
    "Changes": "Changed",
    "Creates": "Created",
    "Deletes": "Deleted",
    "Makes": "Made",
    "Overwrites": "Overwrote",
    "Puts": "Put",
    "Removes": "Removed",
    "Replaces": "Replaced",
    "Restores": "Restored",
    "Rewrites": "Rewrote",
}
_FIRST = re.compile(rf"({'|'.join(_PAST)})\b")
#: What goes on after the first verb; names and quoted words are never of these forms.
_ALSO = re.compile(r", (adds|removes|replaces)(?= \d+ entr)| and (restores)(?= \S+ in its place)")
#: A sentence about a thing, up to its verb: before any quotation and any second clause.
_THING = re.compile(r"([^“:;]*?) (is (?=\w+ed\b|forgotten|taken back)|becomes (?=number)|gets )")
#: States that a change leads to: they hold now, and were not the deed.
_STATES = re.compile(r"[^“:;]* is (?:un)?pinned: |[^“:;]* is replaced by ")
_HELD = re.compile(r"\b([Ii]t then) holds (?=[\d,]+ of [\d,]+ characters\.$)")
_GOES = re.compile(r"(, so entry \d+) goes(?=\.)")
_STAYS = re.compile(r" would stay as it is, byte for byte\.$")


def in_past(message: str) -> str:
    """``message``, one or two plain sentences of a planner, in the past tense.

    What says no deed (a state, a refusal, a sentence that is in the past already) stays as it is.
    """
    if found := _FIRST.match(message):
        said = _PAST[found[1]] + _ALSO.sub(_also, message[found.end() :])
    elif _STATES.match(message):
        return message
    else:
        said = _GOES.sub(r"\1 went", _opened(message))
        said = _STAYS.sub(" stayed as it was, byte for byte.", said)
    return _HELD.sub(r"\1 held ", said)


def _also(found: re.Match[str]) -> str:
    verb = found[1] or found[2]
    return found[0].replace(verb, _PAST[verb.capitalize()].lower())


def _opened(message: str) -> str:
    found = _THING.match(message)
    if found is None:
        return message
    verb = {"is ": "was ", "becomes ": "became ", "gets ": "got "}[found[2]]
    return f"{found[1]} {verb}{message[found.end() :]}"
