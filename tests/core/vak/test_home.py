"""Locks, settings and the folders of a vak home (vak spec 1, 7.3, 10)."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from core.errors import LockedError
from core.homes.base import Kind, detect
from core.homes.vak.fnv import fnv1a, workspace_hash
from core.homes.vak.home import odd_layout
from core.homes.vak.settings import read_settings
from core.locks import own
from core.view import Tree, View

HOME = Path(__file__).parents[2] / "data" / "vak"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/dev/atlas", "67b506f04aa724b1"),
        ("/home/dev/billing-api", "07ec165512aff658"),
        ("/home/dev/scratch", "3a72cab8b2ed5690"),
        ("/", "af63a24c860189fe"),
        ("", "cbf29ce484222325"),
    ],
)
def test_folders_are_called_by_a_hash(path: str, name: str) -> None:
    """Section 1."""
    assert workspace_hash(path) == fnv1a(path.encode()) == name


def test_the_sample_is_a_vak_home() -> None:
    assert detect(HOME) is Kind.VAK
    assert odd_layout(HOME) == ["1 ledger is encrypted: only the agent has the key"]


def test_notes_in_a_database_are_said(tmp_path: Path) -> None:
    """Section 0: a side branch that is not supported."""
    (tmp_path / "state.db").touch()
    assert odd_layout(tmp_path) == ["Notes in state.db are of a layout that is not supported"]


# -- the lock of a note file -----------------------------------------------------------------------


def test_a_lock_is_a_file_with_our_number_and_goes_again(tmp_path: Path) -> None:
    lock = tmp_path / "MEMORY.lock"
    with own([lock]):
        assert lock.read_text() == f"pid={os.getpid()}\n"
    assert not lock.exists()


def test_a_folder_made_for_a_lock_goes_again_unless_it_is_used(tmp_path: Path) -> None:
    lock = tmp_path / "memory" / "x" / "MEMORY.lock"
    with own([lock]) as made:
        assert made == {lock.parent}
    assert not lock.parent.exists()
    with own([lock]):
        (lock.parent / "MEMORY.md").touch()
    assert (lock.parent / "MEMORY.md").exists()


def test_another_one_is_waited_for(tmp_path: Path) -> None:
    lock = tmp_path / "MEMORY.lock"
    lock.write_text("pid=1\n")
    threading.Timer(0.1, lock.unlink).start()
    with own([lock], 5.0):
        assert lock.read_text() == f"pid={os.getpid()}\n"


def test_another_one_that_stays_is_respected(tmp_path: Path) -> None:
    lock = tmp_path / "MEMORY.lock"
    lock.write_text("pid=1\n")
    with pytest.raises(LockedError), own([lock], 0.05):
        pass
    assert lock.read_text() == "pid=1\n"


def test_one_older_than_a_minute_is_taken_over(tmp_path: Path) -> None:
    """Section 7.3: 60 seconds by its time."""
    lock = tmp_path / "MEMORY.lock"
    for age, taken in ((59, False), (61, True)):
        lock.write_text("pid=1\n")
        then = time.time() - age
        os.utime(lock, (then, then))
        if taken:
            with own([lock], 0.0):
                assert lock.read_text() != "pid=1\n"
        else:
            with pytest.raises(LockedError), own([lock], 0.0):
                pass


def test_one_that_was_taken_over_from_us_is_left_alone(tmp_path: Path) -> None:
    lock = tmp_path / "MEMORY.lock"
    with own([lock]):
        os.rename(lock, tmp_path / "ours")
        lock.write_text("pid=1\n")
    assert lock.read_text() == "pid=1\n"


# -- settings --------------------------------------------------------------------------------------


def settings_of(text: str) -> tuple[dict[str, bool], tuple[str, ...]]:
    found = read_settings(View(Tree({"config.toml": text.encode()})))
    switches = {
        "search": found.search_enabled,
        "write": found.write_enabled,
        "proposals": found.skill_proposals,
        "reflection": found.reflection,
    }
    return switches, found.warnings


DEFAULTS = {"search": True, "write": True, "proposals": True, "reflection": False}


@pytest.mark.parametrize(
    ("text", "changed", "warnings"),
    [
        ("", {}, ()),
        ("[memory]\nwrite_enabled = false\nreflection = true\n",
         {"write": False, "reflection": True}, ()),
        ("[memory]\nskill_proposal = false\n", {},
         ("config.toml: [memory] has no key skill_proposal",)),
        ('[memory]\nsearch_enabled = "no"\n', {},
         ("config.toml: search_enabled is neither true nor false",)),
        ("memory = 3\n", {}, ("config.toml: [memory] is no table",)),
        ("[other]\nx = 1\n", {}, ()),
    ],
)  # fmt: skip
def test_settings(text: str, changed: dict[str, bool], warnings: tuple[str, ...]) -> None:
    """Section 10: defaults, and unknown keys warn."""
    assert settings_of(text) == (DEFAULTS | changed, warnings)


def test_settings_that_are_no_toml_are_said() -> None:
    switches, (warning,) = settings_of("[memory\n")
    assert switches == DEFAULTS
    assert warning.startswith("config.toml cannot be used: ")
