"""No text of a home, and none a person types, is read as markup: by lint, and by looking.

Textual reads a plain ``str`` as markup: ``[/x]`` ends the app, ``[@click=app.quit]`` is a button.
"""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import textual.visual
from textual.widget import Widget
from textual.widgets import Input

import console
from console.screens.note import NoteScreen
from tests.console.pilots import JOURNAL_MODE, MEMORY_MODE, Console, open_console, sample

SOURCE = Path(console.__file__).parent
DATA = Path(__file__).parents[1] / "data"
#: Calls whose first argument is drawn, and attributes that are.
DRAWN = {"Static", "Label", "Button", "Option", "update", "say", "notify", "set_content"}
#: A screen's own way to say a sentence, which makes it safe; heads are painted by a function; and
#: the updates of sets and mappings draw nothing.
SAFE = {
    "self.say",
    "self.query_one('#heads', Heads).say",
    "self._seen.update",
    "self.stale.update",
    "self.unseen.update",
    "self.troubles.update",
    "_chosen.update",
    "indexing.update",
}
TITLES = {"border_title", "border_subtitle", "tooltip"}
LINK = "[@click=app.quit]{}[/] [/x] [red"


# -- by lint ---------------------------------------------------------------------------------


def modules() -> Iterator[tuple[str, ast.Module]]:
    """The console's modules; the plain commands print with rich, which tests of their own hold."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "cli" not in path.relative_to(SOURCE).parts:
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text())


def makers() -> set[str]:
    """Names of functions and methods of the console that return ``Content``."""
    return {
        node.name
        for _, module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        and node.returns is not None
        and ast.unparse(node.returns) == "Content"
    }


class Safe:
    """Which expressions of one module are ``Content``, or words of our own."""

    def __init__(self, module: ast.Module, made: set[str]) -> None:
        self._made = made | {"Content"}
        self._names = {
            node.arg
            for node in ast.walk(module)
            if isinstance(node, ast.arg)
            and node.annotation is not None
            and ast.unparse(node.annotation) == "Content"
        }
        for node in ast.walk(module):
            if isinstance(node, ast.Assign) and self.holds(node.value):
                self._names |= {ast.unparse(target) for target in node.targets}

    def holds(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Constant):
            return True
        if isinstance(value, ast.IfExp):
            return self.holds(value.body) and self.holds(value.orelse)
        if isinstance(value, ast.Call):
            return self._makes(value.func)
        return ast.unparse(value) in self._names or _is_title(value)

    def _makes(self, made: ast.expr) -> bool:
        if isinstance(made, ast.Attribute):
            whole = ast.unparse(made.value)
            return made.attr in self._made or whole == "Content" or whole.startswith("Content(")
        return isinstance(made, ast.Name) and made.id in self._made


def _is_title(value: ast.expr) -> bool:
    """A title handed on: Textual keeps it escaped."""
    return isinstance(value, ast.Attribute) and value.attr.endswith("_title")


def offences(name: str, module: ast.Module, made: set[str]) -> Iterator[str]:
    safe = Safe(module, made)
    for node in ast.walk(module):
        drawn: list[ast.expr] = []
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called in DRAWN and ast.unparse(node.func) not in SAFE:
                drawn = node.args[:1]
            words = {word.arg: word.value for word in node.keywords}
            if called == "notify" and "markup" not in words:
                yield f"{name}:{node.lineno}: notify without markup=False"
        elif isinstance(node, ast.Assign):
            targets = [t.attr for t in node.targets if isinstance(t, ast.Attribute)]
            drawn = [node.value] if TITLES & set(targets) else []
        for value in drawn:
            if not safe.holds(value):
                yield f"{name}:{value.lineno}: {ast.unparse(value)}"


def test_no_widget_is_given_a_text_that_is_not_content() -> None:
    made = makers()
    assert {"line", "block", "cut", "header", "notice"} <= made
    found = [each for name, module in modules() for each in offences(name, module, made)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "bar.update(item.summary)",
        "Static(f'Approve {item.id}')",
        "box.border_title = title",
        "self.notify('done')",
        "self.notify(str(problem), markup=False)",
        "Label('a' + name)",
    ],
)
def test_the_lint_sees(line: str) -> None:
    assert list(offences("here", ast.parse(line), {"line"}))


# -- by looking ------------------------------------------------------------------------------


def marked_up(folder: Path) -> Path:
    """A home every text of which is markup: records, entries, file names, skills."""
    home = sample(folder)
    for number, path in enumerate(sorted(home.glob("pending/*/*.json"))):
        try:
            record = json.loads(path.read_text())
        except ValueError:
            continue
        keep = {"id", "subsystem"} | (
            {"action", "name", "target", "file_path"} if number % 2 else set()
        )
        path.write_text(json.dumps(_marked(record, keep)))
        if number % 3 == 0:
            path.rename(path.with_name(f"[red][@click=app.quit]{number}.json"))
    for name in ("MEMORY.md", "USER.md"):
        file = home / "memories" / name
        file.write_text("\n§\n".join(LINK.format(e) for e in file.read_text().split("\n§\n")))
    return home


def _marked(value: Any, keep: set[str]) -> Any:
    if isinstance(value, dict):
        return {k: v if k in keep else _marked(v, keep) for k, v in value.items()}
    if isinstance(value, list):
        return [_marked(each, keep) for each in value]
    return LINK.format(value) if isinstance(value, str) else value


def links(there: Console) -> list[str]:
    """Actions that lie under a cell of the screen."""
    strips = there.app.screen._compositor.render_strips()
    found = (segment.style.meta for strip in strips for segment in strip if segment.style)
    return [str(meta) for meta in found if "@click" in meta]


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every plain text that one of our widgets would have read as markup."""
    found: list[str] = []
    visualize = textual.visual.visualize

    def watched(widget: Widget, obj: object, markup: bool = True) -> Any:
        if (
            isinstance(obj, str)
            and obj
            and markup
            and type(widget).__module__.startswith("console")
        ):
            found.append(f"{type(widget).__name__}: {obj}")
        return visualize(widget, obj, markup=markup)

    for module in ("textual.visual", "textual.widgets._static", "textual.widget"):
        monkeypatch.setattr(f"{module}.visualize", watched)
    return found


@pytest.mark.parametrize("make", ["marked_up", "hostile"])
async def test_no_text_of_a_home_can_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: list[str], make: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if make == "marked_up":
        home = marked_up(tmp_path)
    else:
        home = Path(shutil.copytree(DATA / "hostile", tmp_path / "home", symlinks=True))
    async with open_console(home, size=(110, 30)) as there:
        await there.press("r", "r")
        for place in range(0, len(there.review.queue.items), 2):
            there.review.queue._move(place)
            await there.settle()
            assert links(there) == []
        if make == "marked_up":
            assert "[@click=app.quit]" in there.picture
        for keys in (
            (MEMORY_MODE, "j"),
            (JOURNAL_MODE, "j", "o"),
            ("escape", "1"),
            ("question_mark",),
        ):
            await there.press(*keys)
            assert links(there) == []
        await there.press("escape")
        await there.pilot.click("#preview", offset=(12, 3))
        await there.pilot.click("#queue", offset=(20, 3))
        await there.settle()
        assert there.app.is_running
    assert raw == []


async def test_nothing_a_person_types_can_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = sample(tmp_path)
    before = len(list(home.glob("pending/*/*.json")))
    async with open_console(home) as there:
        await there.press("R")
        assert isinstance(there.app.screen, NoteScreen)
        typed = there.app.screen.query_one(Input)
        typed.value = LINK.format("note") + "\x1b]0;t\x07\u202e"
        await there.settle()
        assert links(there) == []
        await there.pilot.click(Input, offset=(8, 0))
        assert isinstance(there.app.screen, NoteScreen)
        assert there.app.is_running
        await there.press("enter")
        assert links(there) == []
        await there.press(JOURNAL_MODE)
        assert "[@click=app.quit]note[/]" in there.picture
        assert links(there) == []
        await there.press("ctrl+p")
        palette = there.app.screen.query_one(Input)
        palette.value = LINK.format("quit")
        await there.settle()
        assert links(there) == []
        await there.press("escape")
    assert len(list(home.glob("pending/*/*.json"))) == before - 1
    assert raw == []
