"""Text made safe to draw: every class of hidden character, and those that are not an attack."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import text as subject
from core.model import Severity

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
TIBETAN_SEAL = "\u0f67\u0f90\u0fb5\u0fa8\u0fb3\u0fba\u0fbc\u0fbb\u0f82"


def tags(word: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in word)


def selectors(word: str) -> str:
    return "".join(chr(0xE0100 + ord(char) - 16) for char in word)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        pytest.param("\x1b]52;c;aGk=\x07.", "␛]52;c;aGk=␇.", id="D-01 clipboard, BEL form"),
        pytest.param("\x1b]52;c;aGk=\x1b\\.", "␛]52;c;aGk=␛\\.", id="R13 clipboard, ST form"),
        pytest.param("\x9d52;c;aGk=", "⟨U+009D⟩52;c;aGk=", id="D36 8-bit, unterminated"),
        pytest.param("\x1b[6n", "␛[6n", id="D36 query"),
        pytest.param("a\rb\bc\x0bd\x85e\x7f", "a␍b␈c␋d⟨U+0085⟩e␡", id="overwriting"),
        pytest.param("a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c", id="fake lines"),
        pytest.param("a\nb\r\n", "a⏎b␍⏎", id="newline on one line"),
        pytest.param("a\0b", "a␀b", id="D-24"),
        pytest.param("\0" * 9, "⟨U+0000×9⟩", id="long runs fold"),
        pytest.param(
            "u\u202e\u2066# a\u2069 \u2066'",
            "u⟨U+202E⟩⟨U+2066⟩# a⟨U+2069⟩ ⟨U+2066⟩'",
            id="D-03 D-44 Trojan source",
        ),
        pytest.param("a\u200e\u200f\u061cb", "a⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩b", id="direction marks"),
        pytest.param("ig\u200bno\u2060re", "ig⟨U+200B⟩no⟨U+2060⟩re", id="D-04"),
        pytest.param("a\u200b\u200b\u200bb", "a⟨U+200B×3⟩b", id="a run counts"),
        pytest.param(
            "a\u00adb\u034fc\u180ed\u115f", "a⟨U+00AD⟩b⟨U+034F⟩c⟨U+180E⟩d⟨U+115F⟩", id="ignorable"
        ),
        pytest.param("a\u3164\u1160\uffa0b", "a⟨U+3164⟩⟨U+1160⟩⟨U+FFA0⟩b", id="fillers"),
        pytest.param("\ufeffa", "⟨U+FEFF⟩a", id="D-49 byte order mark"),
        pytest.param("a\u200db\u200cc", "a⟨U+200D⟩b⟨U+200C⟩c", id="joiners between Latin"),
        pytest.param("a\u200d😀", "a⟨U+200D⟩😀", id="joiner before emoji only"),
        pytest.param("hi" + tags("obey me"), "hi⟨tag:obey me⟩", id="R11 tag text"),
        pytest.param("\U000e0001" + "x", "⟨U+E0001⟩x", id="language tag"),
        pytest.param(
            "\U0001f3f4" + tags("abcde") + "\U000e007f",
            "\U0001f3f4⟨U+E0061⟩⟨U+E0062⟩⟨U+E0063⟩⟨U+E0064⟩⟨U+E0065⟩⟨U+E007F⟩",
            id="a flag no font draws",
        ),
        pytest.param("😀" + selectors("obey"), "😀⟨hidden:obey⟩", id="bytes in selectors"),
        pytest.param("a\ufe0fb\U000e0100", "a⟨U+FE0F⟩b⟨U+E0100⟩", id="stray selectors"),
        pytest.param("\U000e0080\U000e01f0", "⟨U+E0080⟩⟨U+E01F0⟩", id="unassigned, ignored"),
        pytest.param("\ud83d", "⟨U+D83D⟩", id="D-23 lone surrogate"),
        pytest.param("\ufdd0\U0001ffff", "⟨U+FDD0⟩⟨U+1FFFF⟩", id="noncharacters"),
        pytest.param("\ue000\U0010fffd", "⟨U+E000⟩⟨U+10FFFD⟩", id="private use"),
        pytest.param(
            "a" + "\u0301" * 30, "a" + "\u0301" * 8 + "⟨+22 marks⟩", id="a stack of marks"
        ),
        pytest.param("\u0301a", "◌\u0301a", id="a mark without a base"),
        pytest.param(
            "क" + "\u0301" * 9 + "\u200cक",
            "क" + "\u0301" * 8 + "⟨+1 marks⟩⟨U+200C⟩क",
            id="a joiner after a fold",
        ),
        pytest.param(
            "a🏽👍🏽🏽©🏽",
            "a⟨U+1F3FD⟩👍🏽⟨U+1F3FD⟩©⟨U+1F3FD⟩",
            id="a skin tone alone breaks layouts",
        ),
        pytest.param("[bold]x[/] [@click=a]", "[bold]x[/] [@click=a]", id="D-02 markup is text"),
    ],
)
def test_each_class_becomes_a_token(raw: str, shown: str) -> None:
    assert subject.safe(raw) == shown


@pytest.mark.parametrize(
    "quiet",
    [
        pytest.param("Likes 👩\u200d💻, 🏳️\u200d🌈 and می\u200cخواهم", id="D-05 D19"),
        pytest.param("👨\u200d👩\u200d👧\u200d👦 👍🏽 ❤️ ☠︎ 🇫🇷", id="family, skin, selectors, flag"),
        pytest.param("1\ufe0f\u20e3 #\ufe0f\u20e3", id="keycaps"),
        pytest.param(ENGLAND, id="flag of tags"),
        pytest.param("क्\u200dष ක්\u200dර", id="Indic conjuncts"),
        pytest.param("ന്\u200d", id="Malayalam chillu at the end of a word"),
        pytest.param("র\u200d্যা", id="Bengali ya-phala"),
        pytest.param("葛\U000e0100城 神\ufe00", id="ideographic variants"),
        pytest.param("ᠮᠣᠩ\u180bᠭ", id="Mongolian selector"),
        pytest.param(TIBETAN_SEAL, id="the tallest stack in use"),
        pytest.param("\u0600\u0661\u06dd", id="signs of category Cf that are drawn"),
        pytest.param("e\u0301 שָׁלוֹם ไทย้ 한국 각", id="ordinary marks"),
    ],
)
def test_real_writing_stays_as_it_is(quiet: str) -> None:
    assert subject.safe(quiet) == quiet
    assert subject.marks(quiet) == ()


def test_endless_joined_emoji_are_cut() -> None:
    assert subject.safe("\u200d".join("😀" * 7)) == "\u200d".join("😀" * 5) + "⟨U+200D⟩😀\u200d😀"


def test_lines_and_tabs() -> None:
    raw = "a\tb\n\tc\u3042\td"
    assert subject.safe(raw, lines=True) == "a   b\n    c\u3042 d"
    assert subject.safe("a\tb", tabs=2) == "a b"
    assert subject.safe("a\tb", tabs=0) == "a b"


def test_marks_name_and_place_each_run() -> None:
    raw = "a\u202eb" + tags("hi") + "\x1b]52;c;x\x07\u200b\u200b"
    assert subject.marks(raw) == (
        subject.Mark(1, 2, "bidi", "RIGHT-TO-LEFT OVERRIDE (U+202E)", Severity.DANGER),
        subject.Mark(3, 5, "tag", 'hidden text "hi"', Severity.DANGER),
        subject.Mark(5, 6, "escape", "ESCAPE (U+001B): writes the clipboard", Severity.DANGER),
        subject.Mark(13, 14, "control", "BELL (U+0007)", Severity.WARNING),
        subject.Mark(14, 16, "zero_width", "ZERO WIDTH SPACE (U+200B) ×2", Severity.WARNING),
    )


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("\x1b]8;;https://example.invalid\x07", "a link"),
        ("\x9d0;title\x9c", "sets the window title"),
        ("\x1b[2J", "moves, clears or sets up the screen"),
        ("\x9b31m", "colour or style"),
        ("\x1b[6n", "asks the terminal to type an answer"),
        ("\x90+q\x9c", "a string to the terminal"),
        ("\x1bc", "resets the terminal"),
    ],
)
def test_escapes_say_what_they_ask_for(raw: str, says: str) -> None:
    assert subject.marks(raw)[0].name.partition(": ")[2] == says


def test_line_ends_and_tabs_are_no_marks() -> None:
    assert subject.marks("a\r\n\tb\r\n§\r\nc\r") == ()  # D-48
    assert [mark.start for mark in subject.marks("safe\rrm -rf")] == [4]


def test_findings_are_one_a_code() -> None:
    found = subject.findings("ig\u200bno\u200bre\u2060 \u200e\u202e", "memories/MEMORY.md")
    assert [(f.code, f.severity, f.message, f.at) for f in found] == [
        (
            "zero_width",
            Severity.WARNING,
            "3 invisible characters: ZERO WIDTH SPACE (U+200B), WORD JOINER (U+2060).",
            "memories/MEMORY.md:2",
        ),
        (
            "bidi",
            Severity.DANGER,
            "2 text direction characters: LEFT-TO-RIGHT MARK (U+200E), RIGHT-TO-LEFT OVERRIDE (U+202E).",
            "memories/MEMORY.md:10",
        ),
    ]


def test_findings_stay_short() -> None:
    many = "x".join(map(chr, range(0x2060, 0x2065))) + "x\u200b"
    assert subject.findings(many, "p")[0].message.endswith(" and 2 more.")
    assert len(subject.findings("a" + tags("x" * 5000), "p")[0].message) < 200


def test_spans_follow_the_text_they_mark() -> None:
    shown, spans = subject.safe_spans(
        "a\u202ebc\td", [(0, 1), (1, 2), (2, 4), (1, 3), (4, 6), (6, 6), (0, 0)]
    )
    assert shown == "a⟨U+202E⟩bc    d".replace("    ", " " * (len(shown) - 12))
    assert [shown[a:b] for a, b in spans[:4]] == ["a", "⟨U+202E⟩", "bc", "⟨U+202E⟩b"]
    assert shown[slice(*spans[4])].lstrip() == "d"
    assert spans[5:] == ((len(shown), len(shown)), (0, 0))


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("plain", 5),
        ("漢字", 4),
        ("e\u0301", 1),
        ("👩\u200d💻", 2),
        ("🏳️\u200d🌈", 2),
        (ENGLAND, 2),
        ("🇫🇷", 2),
        ("👍🏽", 2),
        ("❤️", 2),
        ("❤", 1),
        ("1\ufe0f\u20e3", 2),
        ("한", 2),
        ("ᄒ\u1161\u11ab", 2),
        ("می\u200cخواهم", 7),
        ("⟨U+202E⟩", 8),
        ("\u0301", 0),
    ],
)
def test_width_counts_cells(text: str, cells: int) -> None:
    assert subject.width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [
        ("plain", 5, "plain"),
        ("plain", 4, "pla…"),
        ("plain", 1, "…"),
        ("plain", 0, ""),
        ("plain", -3, ""),
        ("漢字漢", 5, "漢字…"),
        ("漢字漢", 4, "漢…"),
        ("漢字", 1, "…"),
        ("a👩\u200d💻b", 3, "a…"),
        ("ae\u0301bc", 3, "ae\u0301…"),
        ("می\u200cخواهم", 3, "می…"),
        ("e\u0301", 1, "e\u0301"),
    ],
)
def test_clip_cuts_between_characters(text: str, cells: int, cut: str) -> None:
    assert subject.clip(text, cells) == cut  # D48: never negative, never endless


def test_one_line_is_safe_and_bounded() -> None:
    assert subject.one_line("a\nb\x1b[31m" + "x" * 300_000, 10) == "a⏎b␛[31mx…"
    assert subject.one_line("\u200b" * 300_000, 80).endswith("…")
    assert subject.one_line("short", 80) == "short"


# -- properties ------------------------------------------------------------------------------------

ODD = [
    *"a é漢字क्षमیخ한ᄒ\u1161\u11ab\u0301\u094d\u20e3 1#☠❤😀👩💻🏽🇫🇷\U0001f3f4葛∩ᠮ\u09b0\u09cd",
    *"\n\t\r\x1b\x00\x07\x9b\x85\u2028\u200b\u200c\u200d\u200e\u202e\u2066\u2069\u2060\ufeff\u00ad",
    *"\u034f\u115f\u1160\u3164\uffa0\u180b\u180e\ufe00\ufe0e\ufe0f\U000e0100\U000e0101\ue000\ufdd0",
    *"\U000e0001\U000e0067\U000e0062\U000e0065\U000e006e\U000e007f\U000e0fff\u0600\u206a\U0001d173",
]
CHARS = st.one_of(
    st.sampled_from(ODD),
    st.characters(),
    st.sampled_from(["\ud800", "\udfff", ENGLAND, "\u0301" * 9, "क\u0301" * 2]),
)
TEXTS = st.lists(CHARS, max_size=25).map("".join)
JOINING = {"ARABIC", "DEVANAGARI", "BENGALI", "MALAYALAM", "SINHALA", "MONGOLIAN"}


def joins(before: str, after: str) -> bool:
    """A joiner's place as Unicode's own tables see it: in an emoji, or in a joining script."""
    if unicodedata.combining(before) == 9:
        return True
    kinds = unicodedata.category(before), unicodedata.category(after)
    if kinds[1] == "So" or unicodedata.category(after) == "Cn":
        return kinds[0] in {"So", "Sk", "Cn"} or before in "\ufe0e\ufe0f"
    return kinds[0][0] in "LM" and kinds[1][0] in "LM" and unicodedata.bidirectional(after) != ""


def is_forbidden(text: str, index: int) -> bool:
    char = text[index]
    category, point = unicodedata.category(char), ord(char)
    if category in {"Cc", "Cs", "Zl", "Zp", "Co"} or point & 0xFFFE == 0xFFFE:
        return True
    if 0xFDD0 <= point <= 0xFDEF or char in "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0":
        return True
    if category == "Cf":
        if char in "\u200c\u200d":
            return not joins(text[index - 1 : index] or " ", text[index + 1 : index + 2] or " ")
        if 0xE0000 <= point <= 0xE007F:
            return not any(m.start() <= index < m.end() for m in re.finditer(ENGLAND, text))
        names = ("NUMBER", "SIGN", "AYAH", "MARK ABOVE", "ABBREVIATION", "POUND")
        return not any(word in unicodedata.name(char) for word in names)
    if "VARIATION SELECTOR" in unicodedata.name(char, ""):
        before = text[index - 1 : index] or " "
        return unicodedata.category(before) not in {"So", "Sk", "Sm", "Po", "Lo", "Lm", "Cn", "Nd"}
    return False


@given(TEXTS, st.booleans())
@example("\u0600\n\u0301\u200c", False)
@example("क" + "\u0301" * 9 + "\u200dक", False)
def test_nothing_forbidden_is_drawn(raw: str, lines: bool) -> None:
    shown = subject.safe(raw, lines=lines)
    rest = shown.replace("\n", "x") if lines else shown
    assert [ascii(rest[i]) for i in range(len(rest)) if is_forbidden(rest, i)] == []
    assert subject.safe(shown, lines=lines) == shown


@given(TEXTS)
def test_what_is_visible_stays_in_order(raw: str) -> None:
    raw = re.sub("[⟨⟩◌⏎␀-␡]", "", raw)

    def visible(text: str) -> list[str]:
        kept = [c for c in text if unicodedata.category(c)[0] in "LNPS"]
        return [c for c in kept if c not in "\u1160\u115f\u3164\uffa0\u1161\u11ab"]

    raw = re.sub("[🏻-🏿]", "", raw)
    bare = re.sub("⟨[^⟩]*⟩|[◌⏎␀-␡]", "", subject.safe(raw))
    assert visible(bare) == visible(raw)


@given(TEXTS)
def test_pieces_leave_nothing_out(raw: str) -> None:
    cut = list(subject.pieces(raw))
    assert "".join(raw[piece.start : piece.end] for piece in cut) == raw
    assert all(piece.shown == raw[piece.start : piece.end] for piece in cut if piece.exact)
    assert subject.safe_spans(raw, [(0, len(raw))])[1] == ((0, len(subject.safe(raw))),)


@given(TEXTS, st.integers(-2, 30))
def test_one_line_fits(raw: str, limit: int) -> None:
    line = subject.one_line(raw, limit)
    assert "\n" not in line
    assert subject.width(line) <= max(limit, 0)
    assert subject.safe(line) == line
    if subject.width(subject.safe(raw)) <= limit:
        assert line == subject.safe(raw)


@given(TEXTS)
def test_width_adds_up_over_clusters(raw: str) -> None:
    shown = subject.safe(raw)
    spans = list(subject.clusters(shown))
    assert "".join(shown[a:b] for a, b in spans) == shown
    assert subject.width(shown) == sum(subject.width(shown[a:b]) for a, b in spans)
