"""Words whose letters are not what they look like: two scripts in one word, letters in disguise.

A word wholly in one script is ordinary, whatever the script. Letters of two scripts in one word
are not, when those of the rarer one have a twin in the other; report class "look-alikes".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from core import chars
from core.homes.hermes.advice.places import Place, quoted
from core.model import Severity

#: Letters and the Latin ones they are drawn like, by script.
TWINS = {
    "Cyrillic": dict(
        zip(
            "АВЕКМНОРСТУХЅІЈҮԌԚԜѴӀаеіјкорсухѕһԁԛԝӏѵ",
            "ABEKMHOPCTYXSIJYGQWVIaeijkopcyxshdqwlv",
            strict=True,
        )
    ),
    "Greek": dict(
        zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹοινκρυχϲϳαγηωτ", "ABEZHIKMNOPTYXCoivkpuxcjaynwt", strict=True)
    ),
    "Armenian": dict(zip("ՍՕԼՏօուհցզ", "UOLSonuhgq", strict=True)),
}
_RANGES = {
    "Cyrillic": ((0x0400, 0x0530), (0x1C80, 0x1C90)),
    "Greek": ((0x0370, 0x0400), (0x1F00, 0x2000)),
    "Armenian": ((0x0530, 0x0590),),
}
_LATIN_TWINS = {name: frozenset(twins.values()) for name, twins in TWINS.items()}
#: Greek small letters stand before and behind Latin ones in units and formulas (αSyn, κB).
_UNITS = frozenset("ινκρυχϲϳαγηωτ")
_WORD = re.compile(r"[^\W\d_]+")
#: Russian gives a Latin abbreviation its endings: PDFку, SMSа.
_ABBREVIATION = re.compile(r"[A-Z]{2,}[а-яё]+")
#: Full-width letters and those of mathematics: plain letters in another dress.
_DRESSED = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d6a3]")
#: Writing in which full-width letters are ordinary.
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def look_alikes(text: str) -> Iterator[Place]:
    """Every word of ``text`` that mixes look-alikes or is dressed up."""
    if text.isascii():
        return
    east_asian = bool(_EAST_ASIAN.search(text))
    for found in _WORD.finditer(text):
        word = found[0]
        if word.isascii():
            continue
        if _DRESSED.search(word):
            plain = bool(re.search("[A-Za-z]", word))
            if plain or (len(word) > 1 and not east_asian):
                severity = Severity.WARNING if plain else Severity.INFO
                yield Place(*found.span(), word, _dressed(word), severity)
        elif strange := _strange(word):
            yield Place(*found.span(), word, _mixed(word, strange), Severity.WARNING)


def _strange(word: str) -> list[str]:
    """The letters of the rarer script in ``word`` that have a twin in the other, or none."""
    latin = [char for char in word if _is_latin(char)]
    if not latin or len(latin) == len(word) or _ABBREVIATION.fullmatch(word):
        return []
    for script, twins in TWINS.items():
        foreign = [char for char in word if _is_of(char, script)]
        if not foreign:
            continue
        if len(foreign) > len(latin):
            strange = [char for char in latin if char in _LATIN_TWINS[script]]
            return strange if len(strange) == len(latin) else []
        strange = [
            char for at, char in enumerate(word) if char in twins and _counts(word, at, char)
        ]
        framed = any(_framed(word, at) for at, char in enumerate(word) if char in twins)
        return strange if framed or len(strange) == len(foreign) else []
    return []


def _counts(word: str, at: int, char: str) -> bool:
    return char not in _UNITS or _framed(word, at)


def _framed(word: str, at: int) -> bool:
    """Whether Latin letters stand on both sides of ``at``."""
    return 0 < at < len(word) - 1 and _is_latin(word[at - 1]) and _is_latin(word[at + 1])


def _is_latin(char: str) -> bool:
    return char.isascii() or "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff"


def _is_of(char: str, script: str) -> bool:
    return any(first <= ord(char) < end for first, end in _RANGES[script])


def _mixed(word: str, strange: list[str]) -> str:
    names = list(dict.fromkeys(chars.name(char) for char in strange))
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{quoted(word)} with {' and '.join(names[:2])}{more}"


def _dressed(word: str) -> str:
    return f"{quoted(word)}, which reads {quoted(unicodedata.normalize('NFKC', word))}"
