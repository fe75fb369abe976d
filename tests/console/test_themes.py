"""Every text of the console can be read: contrast computed as WCAG 2 does, in every theme."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from rich._palettes import STANDARD_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome
from textual.theme import Theme

from console import themes
from console.render import ink
from tests.console.pilots import (
    JOURNAL_MODE,
    MEMORY_MODE,
    SKILLS_MODE,
    Console,
    open_console,
    sample,
)

#: Grounds that any style of ``ink`` can stand on: pane, dialog, bars, rows at the cursor, marked.
GROUNDS = (
    "background",
    "surface",
    "panel",
    "block-cursor-background",
    "block-cursor-blurred-background",
    "warning-muted",
)
TEXTS = ("foreground", "text-muted", "text-accent", "text-success", "text-warning", "text-error")
#: Pairs drawn by name in ``app.tcss``, ``ink`` and the widgets, beside those.
PAIRS = (
    ("text-success", "success-muted"),
    ("text-error", "error-muted"),
    ("text-muted", "success-muted"),
    ("text-muted", "error-muted"),
    ("text-warning", "warning-muted"),
    ("background", "text-warning"),
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
    ("footer-key-foreground", "footer-background"),
    ("footer-description-foreground", "footer-background"),
    ("border", "background"),
    ("border", "surface"),
)
#: What draws a frame, a bar or a scroll bar is no text.
DECORATION = set("─│╭╮╰╯▁▂▃▄▅▆▇█▌░▔▎▊▍ ")
NEEDED = {"signoff-dark": 4.5, "signoff-light": 4.5, "signoff-contrast": 7.0, "signoff-16": 4.0}
EVERY = (*themes.THEMES, themes.SIXTEEN)


def contrast(one: Color, other: Color) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05) of the relative luminances."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(color: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def grey(color: Color) -> Color:
    """A colour as the filter for NO_COLOR leaves it."""
    style = Style(color=color.rich_color)
    ((_, seen, _),) = Monochrome().apply([Segment("x", style)], Color(0, 0, 0))
    assert seen is not None
    assert seen.color is not None
    return Color.from_rich_color(seen.color)


def test_a_terminal_of_sixteen_colours_shows_every_one_as_it_is_meant() -> None:
    """rich takes the nearest of them: dark greens and reds became grey or black."""
    theme = themes.SIXTEEN
    own = [theme.primary, theme.foreground, theme.background, theme.surface, theme.panel]
    own += [color for color in theme.variables.values() if color.startswith("#")]
    sixteen = {STANDARD_PALETTE[number].hex for number in range(16)}
    assert set(filter(None, own)) <= sixteen
    for name, number in (("text-error", 9), ("text-success", 10), ("text-warning", 11)):
        color = RichColor.parse(theme.variables[name]).downgrade(ColorSystem.STANDARD)
        assert color.number == number


def test_the_formula_is_that_of_wcag() -> None:
    assert contrast(Color.parse("#000"), Color.parse("#fff")) == pytest.approx(21)
    assert contrast(Color.parse("#777"), Color.parse("#fff")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", EVERY, ids=lambda theme: theme.name)
@pytest.mark.parametrize(("text", "ground"), [*product(TEXTS, GROUNDS), *PAIRS])
def test_text_stands_out_from_its_ground(theme: Theme, text: str, ground: str) -> None:
    colors = theme.to_color_system().generate()
    found = contrast(Color.parse(colors[text]), Color.parse(colors[ground]))
    assert found >= NEEDED[theme.name], f"{colors[text]} on {colors[ground]}: {found:.2f}"


@pytest.mark.parametrize(("text", "ground"), [*product(TEXTS, GROUNDS), *PAIRS])
def test_text_stands_out_without_colour(text: str, ground: str) -> None:
    colors = themes.CONTRAST.to_color_system().generate()
    found = contrast(grey(Color.parse(colors[text])), grey(Color.parse(colors[ground])))
    assert found >= 7.0, f"{found:.2f}"


def test_ink_names_only_what_is_measured_here() -> None:
    styles = [ink.TITLE, ink.LABEL, ink.ACCENT, ink.GOOD, ink.WARNING, ink.DANGER]
    named = {word[1:] for style in styles for word in style.split() if word.startswith("$")}
    assert named <= set(TEXTS)
    for style in (ink.ADDED, ink.REMOVED):
        text, _, ground = style.split()
        assert (text[1:], ground[1:]) in PAIRS


def pale(console: Console, needed: float) -> set[str]:
    """Texts on the screen that do not stand out, with their colours."""
    found = set()
    for strip in console.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if style is None or set(text) <= DECORATION:
                continue
            front, back = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
            if style.reverse:
                front, back = back, front
            if contrast(front, back) < needed:
                found.add(f"{text.strip()!r} {front.hex} on {back.hex}")
    return found


@pytest.mark.parametrize("theme", EVERY, ids=lambda theme: theme.name)
async def test_everything_drawn_stands_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theme: Theme
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    needed = NEEDED[theme.name]
    async with open_console(sample(tmp_path), size=(140, 42)) as console:
        console.app.theme = theme.name
        # A row that can be approved: greyed keys are pale on purpose.
        await console.at("c31e9f60")
        assert pale(console, needed) == set()
        await console.press("space", "space", "enter")
        assert pale(console, needed) == set()
        await console.press("escape", "escape")
        await console.at("c31e9f60")
        await console.press("a")
        await console.press("a")
        assert "u takes it back" in console.picture
        assert pale(console, needed) == set()
        # Where every key can act: a grey one is meant to be pale.
        await console.press(SKILLS_MODE)
        await console.press("g")
        assert "What becomes of it" in console.words
        assert pale(console, needed) == set()
        await console.press(MEMORY_MODE)
        assert pale(console, needed) == set()
        await console.press(JOURNAL_MODE)
        assert "undo this" in console.picture
        assert pale(console, needed) == set()
