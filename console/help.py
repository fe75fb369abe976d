"""The help sheet of a screen, made from the registry and the widgets' own bindings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import zip_longest

from textual.binding import Binding
from textual.content import Content

from console.actions import MODES, help_in, offered, shown_key
from console.keymap import keys_of
from console.render import ink
from console.render.line import Line
from console.screens.host import VAK
from console.widgets.lines import LineView
from console.widgets.rows import MARKING, RowList

#: Cells of the column of keys, and of the left of two columns.
KEYS = 10
LEFT = 58
#: From this many cells on the keys stand in two columns; the sheet that holds them.
WIDE = 104
SHEET = 110


def help_lines(mode: str, kind: str, width: int) -> list[Line]:
    """Every key that works in ``mode`` on a home of ``kind``, grouped; in two columns where
    ``width`` cells hold them.
    """
    own = [
        *_group(MODES[mode], _named(mode, kind), width),
        Content(""),
        *_group("Everywhere", _named("app", kind, mode), width),
    ]
    unmarked = () if mode in _marked(kind) else MARKING
    widgets = [
        *_group("In a list", _keys(RowList.BINDINGS, unmarked), width),
        Content(""),
        *_group(*_reading(mode), width),
    ]
    if width < WIDE:
        return [Line(line) for line in (*own, Content(""), *widgets)]
    pairs = zip_longest(own, widgets, fillvalue=Content(""))
    return [Line(left.pad_right(LEFT - left.cell_length) + right) for left, right in pairs]


def _marked(kind: str) -> frozenset[str]:
    """Modes whose rows can be marked."""
    return frozenset({"review"}) if kind == VAK else frozenset({"review", "skills"})


def _reading(mode: str) -> tuple[str, Iterable[tuple[str, str]]]:
    """What the keys of the right side are called, and the keys."""
    if mode == "sessions":
        from console.screens.sessions_read import Pages

        return "In a conversation", _keys(Pages.BINDINGS)
    return "In a text", _keys(LineView.BINDINGS)


def _group(title: str, keys: Iterable[tuple[str, str]], width: int) -> Iterator[Content]:
    yield Content.styled(title, ink.TITLE)
    for names, sentence in keys:
        each = names.split(",")
        # A terminal may send ctrl+j for enter: it is not another key to a person.
        shown = " ".join(shown_key(key) for key in each if key != "ctrl+j" or "enter" not in each)
        name = Content.styled(f"  {shown:<{KEYS}} ", ink.ACCENT)
        for piece in Content(sentence).wrap(max(2, width - name.cell_length)):
            yield name + piece
            name = Content(" " * name.cell_length)


def _named(where: str, kind: str, mode: str = "") -> Iterator[tuple[str, str]]:
    for action in offered(where, kind):
        yield keys_of(action.id, action.keys), help_in(mode, action).removesuffix(".")


def _keys(bindings: Iterable[object], without: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    for binding in bindings:
        if isinstance(binding, Binding) and binding.action not in without:
            yield keys_of(binding.id or "", binding.key), binding.tooltip or binding.description
