"""The help sheet of a screen, made from the registry and the widgets' own bindings."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding
from textual.content import Content

from console.actions import MODES, actions_of, shown_key
from console.render import ink
from console.render.line import Line
from console.widgets.lines import LineView
from console.widgets.rows import RowList


def help_lines(mode: str) -> list[Line]:
    """Every key that works in ``mode``, grouped."""
    lines: list[Line] = []
    for title, keys in (
        (MODES[mode], [(a.keys, a.help) for a in actions_of(mode)]),
        ("Everywhere", [(a.keys, a.help) for a in actions_of("app")]),
        ("In a list", list(_keys(RowList.BINDINGS))),
        ("In a text", list(_keys(LineView.BINDINGS))),
    ):
        lines.append(Line(Content.styled(title, ink.TITLE)))
        lines += [_row(*pair) for pair in keys]
        lines.append(Line(Content("")))
    return lines


def _row(keys: str, sentence: str) -> Line:
    shown = " ".join(shown_key(key) for key in keys.split(","))
    return Line(Content.assemble((f"  {shown:<14}", ink.ACCENT), Content(sentence)))


def _keys(bindings: object) -> Iterator[tuple[str, str]]:
    assert isinstance(bindings, list)
    for binding in bindings:
        if isinstance(binding, Binding):
            yield binding.key, binding.tooltip or binding.description
