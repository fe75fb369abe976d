"""signoff's own settings: every mistake is named, none is guessed at."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import UsageError
from core.settings import GUARDS, Settings, read_settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_no_file_means_the_defaults(path: Path) -> None:
    assert read_settings(path) == Settings(frozenset(), decide_needs_terminal=False)
    path.write_text("", encoding="utf-8")
    assert read_settings(path) == Settings()


def test_all_there_is(path: Path) -> None:
    path.write_text(
        "decide_needs_terminal = true\n[guards]\nfragment = false\nretarget = true\nmodes = false\n",
        encoding="utf-8",
    )
    assert read_settings(path) == Settings(frozenset({"fragment", "modes"}), True)


def test_title_and_bell_are_off_until_asked_for(path: Path) -> None:
    assert (Settings().title, Settings().bell) == (False, False)
    path.write_text("[console]\ntitle = true\n", encoding="utf-8")
    assert (read_settings(path).title, read_settings(path).bell) == (True, False)
    path.write_text("[console]\ntitle = false\nbell = true\n", encoding="utf-8")
    assert (read_settings(path).title, read_settings(path).bell) == (False, True)


def test_agents_are_offered_all_until_it_is_switched_off(path: Path) -> None:
    assert Settings().mcp_off == frozenset()
    path.write_text("[mcp]\nwrite_enabled = false\nsearch_enabled = true\n", encoding="utf-8")
    assert read_settings(path).mcp_off == {"write_enabled"}


@pytest.mark.parametrize("guard", GUARDS)
def test_every_guard_has_a_switch(path: Path, guard: str) -> None:
    path.write_text(f"[guards]\n{guard} = false\n", encoding="utf-8")
    assert read_settings(path).guards_off == {guard}


def test_the_guards_of_the_design_with_their_kinds() -> None:
    """design.md, section 1: refuse, ask, change and say so; and records of a provider."""
    kinds: dict[str, set[str]] = {}
    for guard, kind in GUARDS.items():
        kinds.setdefault(kind, set()).add(guard)
    assert kinds == {
        "refuse": {"retarget", "structure", "pinned_name", "target", "provider", "unstorable"},
        "ask": {"fragment", "approximate", "delimiter"},
        "change": {"archive", "provenance", "modes", "line_endings"},
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = 1\n", "an unknown key 'theme'"),
        ("decide_needs_terminal = 1\n", "decide_needs_terminal in {path} must be true or false"),
        ("guards = false\n", "[guards] in {path} must be a table"),
        ("[guards]\nfragments = false\n", "{path} names an unknown guard 'fragments'"),
        ("[guards]\nfragment = 0\n", "guards.fragment in {path} must be true or false"),
        ('[guards]\nfragment = "no"\n', "guards.fragment in {path} must be true or false"),
        ("[[guards]]\nfragment = false\n", "[guards] in {path} must be a table"),
        ("mcp = 1\n", "[mcp] in {path} must be a table"),
        ("[mcp]\nwrite = true\n", "[mcp] in {path} has an unknown key 'write'"),
        ("[mcp]\nwrite_enabled = 0\n", "mcp.write_enabled in {path} must be true or false"),
        ("console = 1\n", "[console] in {path} must be a table"),
        (
            "[console]\nbells = true\n",
            "[console] in {path} has an unknown key 'bells'; known are title, bell",
        ),
        ("[console]\nbell = 1\n", "console.bell in {path} must be true or false"),
        ("guards = ", "The settings {path} cannot be read"),
        ("a = 1\na = 2\n", "The settings {path} cannot be read"),
    ],
)
def test_what_is_wrong_is_named(path: Path, text: str, said: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_settings(path)
    assert said.format(path=path) in caught.value.message
    assert caught.value.hint == "Mend or remove the line; the README lists every setting"
    assert caught.value.exit_code == 2


def test_a_file_that_is_no_text_or_no_file(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(Path("a\0b"))
