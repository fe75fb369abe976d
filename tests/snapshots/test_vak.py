"""A home of vak as it looks. Each docstring says what has to be seen in the picture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.pilots import MEMORY_MODE
from tests.console.plain import Cli
from tests.snapshots.conftest import Shoot


def test_vak_notes(
    shoot: Shoot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Notes by workspace, kind, tag and age; beside them the note whole, its session, no budget."""
    vak = Cli(tmp_path, monkeypatch, capsys).copy("vak")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert shoot(MEMORY_MODE, "j", "j", home=vak)
