"""A cut line is as wide as it says, measured the way Textual measures it, and shows its cells."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content, Span
from textual.style import Style

from console.widgets.cells import cut

FAMILY = "👨\u200d👩\u200d👧"
ODD = st.text(
    alphabet=st.sampled_from(
        ["a", " ", "中", "ｶ", "\u0301", "\u200d", "\ufe0f", "☁", "👨", "🏽", "\n"]
    ),
    max_size=40,
)


def shown(content: Content, width: int, start: int = 0) -> str:
    return "".join(segment.text for segment in cut(content, Style(), width, start).segments)


@given(ODD, st.integers(0, 12), st.integers(0, 30), st.lists(st.integers(0, 40), max_size=4))
@example("", 2, 0, [1, 2])
def test_a_cut_is_exactly_as_wide_as_asked(
    text: str, width: int, start: int, at: list[int]
) -> None:
    spans = [Span(a, b, "bold") for a, b in zip(sorted(at), sorted(at)[1:], strict=False) if a < b]
    segments = cut(Content(text, spans), Style(), width, start).segments
    assert sum(cell_len(segment.text) for segment in segments) == width
    assert "\n" not in "".join(segment.text for segment in segments)


@given(st.text(alphabet="ab中文 é", max_size=600), st.integers(0, 40), st.integers(0, 700))
def test_a_cut_shows_the_cells_in_the_window(text: str, width: int, start: int) -> None:
    cells: list[str] = []
    for character in text:
        cells += [character] if cell_len(character) == 1 else [character, ""]
    row = [*cells, *[" "] * (start + width)][start : start + width]
    if row and row[0] == "":
        row[0] = " "
    if row and cell_len(row[-1]) == 2:
        row[-1] = " "
    assert shown(Content(text), width, start) == "".join(row)


@given(st.text(alphabet="ab中文", min_size=1, max_size=600), st.integers(0, 900))
def test_the_first_character_drawn_is_the_one_at_that_cell(text: str, start: int) -> None:
    first = cut(Content(text), Style(), 4, start).first
    if start < cell_len(text):
        assert cell_len(text[:first]) <= start < cell_len(text[: first + 1])


def test_joined_and_combining_characters_are_not_torn() -> None:
    assert shown(Content(f"{FAMILY}b"), 3) == f"{FAMILY}b"
    assert shown(Content(f"{FAMILY}bc"), 3, 1) == " bc"
    assert shown(Content("e\u0301e\u0301"), 1) == "e\u0301"
    assert shown(Content("e\u0301x"), 1, 1) == "x"
    assert shown(Content("中" * 5), 7) == "中中中 "


def test_styles_stay_on_their_characters_after_a_cut() -> None:
    content = Content("中" * 300 + "XYZ", [Span(300, 301, "bold"), Span(302, 303, "italic")])
    segments = cut(content, Style(), 4, 600).segments
    styles = [
        (s.text, bool(s.style and s.style.bold), bool(s.style and s.style.italic)) for s in segments
    ]
    assert styles == [
        ("X", True, False),
        ("Y", False, False),
        ("Z", False, True),
        (" ", False, False),
    ]
