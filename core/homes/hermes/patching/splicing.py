"""What a patch makes of a file: the new text fitted to its place and put in, or a refusal.

Rules of hermes-agent 0.19.0, ``tools/fuzzy_match.py``, executed (tests/interop/test_matching.py).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.homes.hermes.patching.matching import (
    EXACT,
    UNICODE_NORMALIZED,
    closest_lines,
    find,
    fold,
    fold_offsets,
)
from core.model import Match

#: A quoted line in a message is cut after this many characters.
QUOTED = 60


@dataclass(frozen=True, slots=True)
class Splice:
    """The result of a patch.

    ``category``: ``ok``, ``patch_identical``, ``patch_no_match``, ``patch_ambiguous`` or
    ``patch_escape_drift``. ``text`` is the whole file after it, the unchanged input when refused.
    ``match`` is what was found, also when it was refused for that. ``message``: one sentence.
    """

    category: str
    text: str
    match: Match | None
    message: str


def splice(text: str, old: str, new: str, *, replace_all: bool) -> Splice:
    """Replace ``old`` by ``new`` in ``text`` (LF line ends) as the agent's patch does.

    An empty ``old`` matches nothing. (hermes-agent 0.19.0)
    """
    if not old:
        return Splice("patch_no_match", text, None, "The old text is empty.")
    if old == new:
        return Splice("patch_identical", text, None, "The old and the new text are the same.")
    match = find(text, old)
    if match is None:
        return Splice("patch_no_match", text, None, _no_match(text, old))
    count = len(match.spans)
    if count > 1 and not replace_all:
        message = f"The old text fits {count} places ({match.strategy}) and only one is wanted."
        return Splice("patch_ambiguous", text, match, message)

    region = "".join(text[start:end] for start, end in match.spans)
    exact = match.strategy == EXACT
    quote = None if exact else _drifted_quote(region, old, new)
    if quote:
        message = f"Both texts write \\{quote} where the file has no backslash."
        return Splice("patch_escape_drift", text, match, message)
    new = _with_real_controls(region, new)
    if match.strategy == UNICODE_NORMALIZED:
        new = _with_typography(region, old, new)

    # Spans can overlap. Each cut then uses offsets that an earlier cut moved: so does the agent.
    result = text
    for start, end in sorted(match.spans, reverse=True):
        fitted = new if exact else _indented(text[start:end], old, new)
        result = result[:start] + fitted + result[end:]
    places = "1 place" if count == 1 else f"{count} places"
    return Splice("ok", result, match, f"Replaces {places}, found by {match.strategy}.")


def _no_match(text: str, old: str) -> str:
    numbers = closest_lines(text, old)
    if not numbers:
        return "The old text is nowhere in the file, and no line is close to it."
    best = text.split("\n")[numbers[0] - 1].strip()
    shown = "".join(c if c.isprintable() else "\ufffd" for c in best[:QUOTED])
    cut = "…" if len(best) > QUOTED else ""
    others = "".join(f", {number}" for number in numbers[1:])
    also = f"; then line{'s' if len(numbers) > 2 else ''} {others[2:]}" if others else ""
    return (
        f"The old text is nowhere in the file; closest is line {numbers[0]}, “{shown}{cut}”{also}."
    )


def _drifted_quote(region: str, old: str, new: str) -> str | None:
    """The quote that both texts escape with a backslash though the matched text does not."""
    for quote in ("'", '"'):
        escaped = "\\" + quote
        if escaped in old and escaped in new and escaped not in region:
            return quote
    return None


def _with_real_controls(region: str, new: str) -> str:
    """``new`` with a spelled-out tab or carriage return made real where the region has one."""
    for spelled, real in (("\\t", "\t"), ("\\r", "\r")):
        if real in region:
            new = new.replace(spelled, real)
    return new


def _with_typography(region: str, old: str, new: str) -> str:
    """``new`` with the file's own typographic characters wherever old and new agree.

    Only when ``old`` and the whole region fold to the same text. A stretch that begins inside a
    folded character restarts at the beginning of the region, as it does in the agent.
    """
    plain = fold(old)
    if plain != fold(region):
        return new
    offsets = fold_offsets(region)
    parts = []
    for tag, left, right, new_left, new_right in SequenceMatcher(None, plain, new).get_opcodes():
        if tag == "equal":
            start = bisect_left(offsets, left)
            if offsets[start] != left:
                start = 0
            parts.append(region[start : bisect_left(offsets, right)])
        else:
            parts.append(new[new_left:new_right])
    return "".join(parts)


def _indented(region: str, old: str, new: str) -> str:
    """``new`` moved from the indentation of ``old`` to that of the region it replaces."""
    mine, theirs = _indent(old), _indent(region)
    if mine is None or theirs is None or mine == theirs:
        return new
    lines = []
    for line in new.split("\n"):
        if not line.strip():
            lines.append(line)
        elif line.startswith(mine):
            lines.append(theirs + line[len(mine) :])
        else:
            lines.append(theirs + line.lstrip(" \t"))
    return "\n".join(lines)


def _indent(text: str) -> str | None:
    """The spaces and tabs before the first line that is not blank, ``None`` if all are."""
    for line in text.split("\n"):
        if line.strip():
            return line[: len(line) - len(line.lstrip(" \t"))]
    return None
