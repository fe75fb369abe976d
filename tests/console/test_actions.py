"""The registry of actions: no two keys clash, every action exists, and the README agrees."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from textual.binding import Binding

from console.actions import ACTIONS, MODES, Action, actions_of, readme_table
from console.app import SignoffApp
from console.screens.journal import JournalScreen
from console.screens.knowledge import KnowledgeScreen
from console.screens.memory import MemoryScreen
from console.screens.review import ReviewScreen
from console.screens.sessions import SessionsScreen
from console.screens.skills import SkillsScreen
from console.widgets.lines import LineView
from console.widgets.rows import RowList

SCREENS: dict[str, type] = {
    "review": ReviewScreen,
    "sessions": SessionsScreen,
    "skills": SkillsScreen,
    "memory": MemoryScreen,
    "journal": JournalScreen,
    "knowledge": KnowledgeScreen,
    "app": SignoffApp,
}
README = Path(__file__).parents[2] / "README.md"
#: Keys a list or a text takes first, on purpose: ``enter`` opens the row, ``escape`` first drops a
#: range or a search, ``n`` and ``N`` are hits while a search stands, ``g`` is the first row of a list
#: and asks where to go in a conversation.
SHARED = {"enter", "escape", "n", "N", "g"}


def keys(action: Action) -> set[str]:
    return set(action.keys.split(","))


def test_ids_are_unique() -> None:
    assert [name for name, times in Counter(a.id for a in ACTIONS).items() if times > 1] == []
    widgets = [b.id for w in (RowList, LineView) for b in w.BINDINGS if isinstance(b, Binding)]
    assert None not in widgets
    assert len(set(widgets)) == len(widgets)


@pytest.mark.parametrize("mode", MODES)
def test_no_key_means_two_things_on_a_screen(mode: str) -> None:
    actions = [*actions_of(mode), *actions_of("app")]
    for one, other in combinations(actions, 2):
        assert not keys(one) & keys(other), (one.id, other.id)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("widget", [RowList, LineView])
def test_no_key_of_a_widget_hides_one_of_the_screen(mode: str, widget: type) -> None:
    own = {key for b in widget.BINDINGS for key in b.key.split(",")}  # type: ignore[attr-defined]
    used = set[str]().union(*(keys(a) for a in (*actions_of(mode), *actions_of("app"))))
    assert own & used <= SHARED


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.id)
def test_every_action_is_a_method_of_its_screen(action: Action) -> None:
    assert callable(getattr(SCREENS[action.where], f"action_{action.name.partition('(')[0]}"))


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.id)
def test_words_are_sentences_and_labels_are_short(action: Action) -> None:
    assert action.help.endswith(".")
    assert action.help[0].isupper()
    assert len(action.label) <= 20
    assert not action.footer or len(action.label) <= 9


def test_the_footer_holds_at_most_eight_verbs_at_once() -> None:
    everywhere = sum(a.footer for a in actions_of("app"))
    # A note is retired or activated, and it is a project that is merged: never all of them.
    apart = {"knowledge": {"reactivate", "merge"}}
    for mode in MODES:
        own = [a for a in actions_of(mode) if a.footer and a.name not in apart.get(mode, ())]
        # The list adds its own verb where its rows can be marked: space marks.
        assert everywhere + len(own) + (mode in ("review", "skills")) <= 8


def test_the_readme_lists_the_keys_of_the_registry() -> None:
    text = README.read_text(encoding="utf-8")
    begin, end = "<!-- keys: python -m console.actions -->\n", "<!-- /keys -->"
    table = text[text.index(begin) + len(begin) : text.index(end)]
    assert table.strip() == readme_table().strip()
