"""Keys of the settings that cannot be, or would do two things, stop the start with a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.actions import ACTIONS
from console.keycheck import check_keys
from core.errors import UsageError
from tests.console.plain import Cli


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"review.approve": "r"}, "r would be both review.approve and review.reject"),
        ({"review.approve": "ctrl+a,q"}, "q would be both review.approve and app.quit"),
        ({"app.quit": "f2", "review.approve": "f2"}, "f2 would be both"),
        ({"review.approve": "ctrl+banana"}, "'ctrl+banana' (review.approve) is no key"),
        ({"review.approve": "banana"}, "'banana' (review.approve) is no key"),
        ({"review.approve": ""}, "'' (review.approve) is no key"),
        ({"review.approve": "a,"}, "'' (review.approve) is no key"),
    ],
)
def test_a_key_that_cannot_be_or_would_do_two_things_is_said(
    keys: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_keys(keys)
    assert said in caught.value.message


@pytest.mark.parametrize(
    "keys",
    [
        {"review.approve": "ctrl+a, f2, é, alt+a, comma"},
        {"review.approve": "r", "review.reject": "x"},
        {"journal.open": "ctrl+full_stop,minus"},
        {"rows.mark": "a", "lines.hit": "space", "app.mode.review": "f2"},
        {"app.quit": "ctrl+c"},
    ],
)
def test_keys_that_can_be_are_taken(keys: dict[str, str]) -> None:
    check_keys(keys)


def test_the_usual_keys_do_one_thing_each() -> None:
    check_keys({action.id: action.keys for action in ACTIONS})


def test_the_doctor_names_a_fault_of_the_settings_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    home = cli.sample()
    settings = tmp_path / "wrong.toml"
    cli.setenv("SIGNOFF_SETTINGS", str(settings))
    for text, said in (
        ('[console]\ntheme = "light"\n', "unknown key 'theme'; known are title, bell"),
        ('[keys]\n"review.approve" = "r"\n', "both review.approve and review.reject"),
        ("= 1\n", "cannot be read"),
    ):
        settings.write_text(text)
        run = cli("doctor", "--json", home=home)
        first, *others = json.loads(run.out)["checks"]
        assert (first["name"], first["ok"]) == ("settings", False)
        assert said in first["message"]
        assert len(others) > 5
    settings.write_text('[keys]\n"review.approve" = "f2"\n')
    named = [each["name"] for each in json.loads(cli("doctor", "--json", home=home).out)["checks"]]
    assert "settings" not in named
