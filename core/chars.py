"""What single characters do on a terminal: which hide, which join, which stack, and their names.

The classes come from Unicode's own tables where Python has them (:mod:`unicodedata`) and are
listed here where it has not (emoji, joining scripts, unassigned but ignored code points). The
patterns built from them are what :mod:`core.text` cuts a text with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from core.model import Severity

#: Combining marks drawn on one base. The tallest real stack known, a Tibetan seal, has eight.
MAX_MARKS = 8
#: Joiners in one emoji: the longest sequences in use (families, kisses) have three.
MAX_JOINS = 4

# Parts of regular expression classes.
EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23fa\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
SKIN = "\U0001f3fb-\U0001f3ff"
#: Emoji that take a skin tone (Emoji_Modifier_Base, emoji-data 15.1).
_BODY = (
    "\u261d\u26f9\u270a-\u270d\U0001f385\U0001f3c2-\U0001f3c4\U0001f3c7\U0001f3ca-\U0001f3cc"
    "\U0001f442\U0001f443\U0001f446-\U0001f450\U0001f466-\U0001f478\U0001f47c"
    "\U0001f481-\U0001f483\U0001f485-\U0001f487\U0001f48f\U0001f491\U0001f4aa\U0001f574\U0001f575"
    "\U0001f57a\U0001f590\U0001f595\U0001f596\U0001f645-\U0001f647\U0001f64b-\U0001f64f\U0001f6a3"
    "\U0001f6b4-\U0001f6b6\U0001f6c0\U0001f6cc\U0001f90c\U0001f90f\U0001f918-\U0001f91f\U0001f926"
    "\U0001f930-\U0001f939\U0001f93c-\U0001f93e\U0001f977\U0001f9b5\U0001f9b6\U0001f9b8\U0001f9b9"
    "\U0001f9bb\U0001f9cd-\U0001f9cf\U0001f9d1-\U0001f9dd\U0001fac3-\U0001fac5\U0001faf0-\U0001faf8"
)
REGIONAL = "\U0001f1e6-\U0001f1ff"
JOINERS = "\u200c\u200d"
_ASTRAL = "\U00010000-\U0010ffff"
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_MATHS = "\u2200-\u22ff\u2a00-\u2aff"
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_IGNORED = "\u2065\ufff0-\ufff8\U000e0080-\U000e00ff\U000e01f0-\U000efffd"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_NONCHARACTERS = "\ufdd0-\ufdef\ufffe\uffff" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
)
_SURROGATES = "\ud800-\udfff"
#: Jamo vowels and finals: drawn inside the syllable before them, so they stack like marks.
_JAMO = "\u1161-\u11ff\ud7b0-\ud7c6\ud7cb-\ud7fb"
#: Format characters with a glyph of their own (prepended number and verse signs).
_VISIBLE_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
#: Flags made of tags that fonts draw (England, Scotland, Wales); any other would hide its text.
_FLAGS = tuple("".join(chr(0xE0000 + ord(c)) for c in name) for name in ("gbeng", "gbsct", "gbwls"))
#: Blocks whose letters use joiners: Arabic to Mandaic, Indic, Tibetan to Khmer, Mongolian, others.
_JOINING_BLOCKS = (
    (0x0600, 0x0860),
    (0x0870, 0x0E00),
    (0x0F00, 0x10A0),
    (0x1780, 0x18B0),
    (0x1A20, 0x1C50),
    (0xA800, 0xA9E0),
    (0xFB50, 0xFE00),
    (0xFE70, 0xFEFD),
    (0x10A00, 0x10B00),
    (0x11000, 0x11D00),
    (0x1E900, 0x1E960),
)
#: Where Unicode keeps its marks and format characters; the rest is not looked through.
_MARKED_BLOCKS = (
    (0x00A0, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, 0x12000),
    (0x13400, 0x13500),
    (0x16A00, 0x17000),
    (0x1BC00, 0x1F000),
)

_CONTROL_NAMES = {
    0x00: "NULL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x0B: "LINE TABULATION",
    0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "NEXT LINE",
    0x90: "DEVICE CONTROL STRING",
    0x98: "START OF STRING",
    0x9B: "CONTROL SEQUENCE INTRODUCER",
    0x9C: "STRING TERMINATOR",
    0x9D: "OPERATING SYSTEM COMMAND",
    0x9E: "PRIVACY MESSAGE",
    0x9F: "APPLICATION PROGRAM COMMAND",
}
_ESCAPES = frozenset(map(chr, (0x1B, 0x90, 0x98, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F)))
#: 8-bit introducers and the 7-bit letter after ESC that means the same.
_INTRODUCERS = {"\x9b": "[", "\x9d": "]", "\x90": "P", "\x98": "X", "\x9e": "^", "\x9f": "_"}
_ESCAPE_MEANINGS = (
    (re.compile(r"\]52;"), "writes the clipboard"),
    (re.compile(r"\]8;"), "a link"),
    (re.compile(r"\][012];"), "sets the window title"),
    (re.compile(r"\]"), "a command to the terminal"),
    (re.compile(r"\[[0-9;:]*m"), "colour or style"),
    (re.compile(r"\[[0-9;?>]*[cn]"), "asks the terminal to type an answer"),
    (re.compile(r"\[[0-9;?]*[A-HJKSTfsuhl]"), "moves, clears or sets up the screen"),
    (re.compile(r"c"), "resets the terminal"),
    (re.compile(r"[P_X^]"), "a string to the terminal"),
    (re.compile(r"\\"), "ends a string"),
)
_BIDI_MARKS = frozenset("\u061c\u200e\u200f")
_BIDI = _BIDI_MARKS | frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
_CLASSES = tuple(
    (re.compile(f"[{members}]"), code, severity)
    for members, code, severity in (
        (_TAGS, "tag", Severity.DANGER),
        (_CONTROLS, "control", Severity.WARNING),
        (_SELECTORS, "selector", Severity.WARNING),
        (_FILLERS, "filler", Severity.WARNING),
        (_NONCHARACTERS, "noncharacter", Severity.WARNING),
        (_SURROGATES, "surrogate", Severity.WARNING),
        (_PRIVATE, "private_use", Severity.INFO),
    )
)


@lru_cache(maxsize=512)
def classify(char: str) -> tuple[str, Severity]:
    """The code of a :class:`core.text.Mark` for a dangerous character, and how much it matters."""
    if char in _ESCAPES:
        return "escape", Severity.DANGER
    if char in _BIDI:
        return "bidi", Severity.WARNING if char in _BIDI_MARKS else Severity.DANGER
    for form, code, severity in _CLASSES:
        if form.match(char):
            return code, severity
    return "zero_width", Severity.WARNING


@lru_cache(maxsize=512)
def name(char: str) -> str:
    """Its Unicode name and code point: ``RIGHT-TO-LEFT OVERRIDE (U+202E)``."""
    point = ord(char)
    known = _CONTROL_NAMES.get(point) or unicodedata.name(char, "")
    return f"{known or classify(char)[0].replace('_', ' ').upper()} (U+{point:04X})"


def meaning(introducer: str, after: str) -> str:
    """What a terminal sequence asks for, as ``": a link"``; ``""`` if that cannot be said."""
    if introducer != "\x1b":
        if introducer not in _INTRODUCERS:
            return ""
        after = _INTRODUCERS[introducer] + after
    return next((f": {says}" for form, says in _ESCAPE_MEANINGS if form.match(after)), "")


@cache
def first_suspect() -> re.Pattern[str]:
    """One character that needs a closer look; text without one is safe, newlines aside."""
    body = f"{_CONTROLS}{_formats()}{_FILLERS}{_IGNORED}{_PRIVATE}{_NONCHARACTERS}{_SURROGATES}"
    body += f"{_SELECTORS}{EMOJI}{_marks()}{_JAMO}"
    return re.compile(f"[\t{_low(body)}{_ASTRAL}]")


@cache
def _first_suspect_or_newline() -> re.Pattern[str]:
    return re.compile(f"[\n{first_suspect().pattern[1:]}")


@cache
def suspects() -> re.Pattern[str]:
    """Every run that may need a token, by the name of the group that matched.

    ``emoji`` and ``joiner`` are in their place; ``lf``, ``tab`` and ``cr`` are white space;
    ``skin`` is a tone with nobody to wear it; ``marks`` have no base or are too many for one;
    ``tags``, ``selectors`` and ``one`` (a character, repeated) are hidden or dangerous.
    """
    mark, letter, virama = _marks(), _letters(), _viramas()
    stacking = _either(mark + _JAMO)
    hidden = f"{_CONTROLS}{_formats()}{_FILLERS}{_IGNORED}{_PRIVATE}{_NONCHARACTERS}{_SURROGATES}"
    emoji = f"(?:[{_BODY}][{SKIN}]|[{EMOJI}][\ufe0e\ufe0f]?)"
    return re.compile(
        f"(?P<lf>\n)|(?P<tab>\t)|(?P<cr>\r(?=\n|\\Z))"
        f"|(?P<joiner>[{JOINERS}](?:(?<={_either(letter + mark)}.)(?={_either(letter)})"
        f"|(?<={_either(virama)}.)(?!{stacking})"
        f"|(?<=\u200d)(?<={_either(letter)}.)(?={_either(virama)}))"
        f"|\ufe0f(?<=[0-9#*].)(?=\u20e3)"
        f"|[\ufe00-\ufe02\U000e0100-\U000e01ef](?<=[{_HAN}].)"
        f"|\ufe00(?<=[{_MATHS}].)"
        f"|[\u180b-\u180d\u180f](?<=[\u1820-\u18aa].))"
        f"|(?P<emoji>\U0001f3f4(?:{'|'.join(_FLAGS)})\U000e007f"
        f"|{emoji}(?:\u200d{emoji}){{0,{MAX_JOINS}}})"
        f"|(?P<skin>[{SKIN}])"
        f"|(?P<marks>^{stacking}+|{stacking}{{{MAX_MARKS + 1},}})"
        f"|(?P<tags>[{_TAGS}]+)|(?P<selectors>[{_SELECTORS}]+)"
        f"|(?P<one>{_either(hidden)})(?P=one)*",
        re.MULTILINE,
    )


def runs(text: str, *, newlines: bool) -> Iterator[re.Match[str]]:
    """The matches of :func:`suspects` in ``text``, ``\\n`` among them with ``newlines``."""
    # Two patterns: a lone class is searched for many times faster than a choice.
    search = (_first_suspect_or_newline() if newlines else first_suspect()).search
    closer = suspects().match
    position = 0
    while first := search(text, position):
        position = first.start() + 1
        if match := closer(text, first.start()):
            yield match
            position = match.end()


@cache
def cluster() -> re.Pattern[str]:
    """One character as a reader sees it: a base with its marks, an emoji sequence, a flag."""
    dressed = f"(?:[{_BODY}][{SKIN}]|[{EMOJI}][\ufe0e\ufe0f]?)"
    return re.compile(
        f"(?:\U0001f3f4[{_TAGS}]+|[{REGIONAL}]{{2}}|{dressed}(?:\u200d{dressed})*|.)"
        f"{_either(_marks() + _JAMO + _SELECTORS + JOINERS)}*",
        re.DOTALL,
    )


@lru_cache(maxsize=4096)
def cells(one: str) -> int:
    """Terminal cells (0, 1 or 2) of one cluster."""
    base = one[0]
    if unicodedata.category(base)[0] == "M" or re.match(f"[{_JAMO}{JOINERS}]", base):
        return 0
    if unicodedata.east_asian_width(base) in "WF":
        return 2
    if len(one) == 1:
        return 1
    joined = re.match(f"[{EMOJI}].*\u200d[{EMOJI}]|[{REGIONAL}]{{2}}", one)
    return 2 if joined or re.search(f"[\ufe0f{SKIN}]", one) else 1


# -- class bodies from the Unicode tables: walks of some milliseconds, made once and late ---------


@cache
def _marks() -> str:
    known = re.compile(f"[{_SELECTORS}{_FILLERS}]")
    return _walk(_MARKED_BLOCKS, lambda c: unicodedata.category(c)[0] == "M" and not known.match(c))


@cache
def _formats() -> str:
    return _walk(
        _MARKED_BLOCKS, lambda c: unicodedata.category(c) == "Cf" and c not in _VISIBLE_FORMATS
    )


@cache
def _letters() -> str:
    return _walk(_JOINING_BLOCKS, str.isalpha)


@cache
def _viramas() -> str:
    return _walk(_JOINING_BLOCKS, lambda c: unicodedata.combining(c) == 9)


def _walk(blocks: Iterable[tuple[int, int]], wanted: Callable[[str], bool]) -> str:
    """The wanted characters of ``blocks`` as ranges of a class."""
    ranges: list[list[int]] = []
    for first, last in blocks:
        for point in range(first, last):
            if not wanted(chr(point)):
                continue
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)


def _low(body: str) -> str:
    """The part of a class body below U+10000."""
    return "".join(match[0] for match in _RANGE.finditer(body) if match[0][0] < "\U00010000")


def _either(body: str) -> str:
    """A class that looks through its astral ranges, one by one, for astral characters only."""
    high = "".join(match[0] for match in _RANGE.finditer(body) if match[0][0] >= "\U00010000")
    if not high:
        return f"[{body}]"
    return f"(?:[{_low(body)}]|(?=[{_ASTRAL}])[{high}])"
