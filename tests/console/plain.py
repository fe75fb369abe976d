"""Running the plain command line in this process, for the tests of what it says."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from console.cli.main import main
from console.sample import write_sample

DATA = Path(__file__).parents[1] / "data"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Answer:
    """What one command said, and how it left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


class Cli:
    """The command line with a state folder, settings and clock of its own."""

    def __init__(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = tmp_path
        self.state = tmp_path / "state"
        self._patch = monkeypatch
        self._capsys = capsys
        for name in ("HERMES_HOME", "VAK_HOME", "HERMES_RAG_STORE", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("SIGNOFF_STATE", str(self.state))
        monkeypatch.setenv("SIGNOFF_SETTINGS", str(tmp_path / "settings.toml"))
        monkeypatch.setenv("HERMES_MANAGED_DIR", str(tmp_path / "managed"))
        monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("TERM", "xterm-256color")

    def setenv(self, name: str, value: str) -> None:
        """A variable for the commands that follow."""
        self._patch.setenv(name, value)

    def copy(self, name: str) -> Path:
        """A home of tests/data to write in, links and all."""
        home = self.folder / name
        shutil.copytree(DATA / name, home, symlinks=True)
        for path in [home, *home.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o200)
        return home

    def sample(self) -> Path:
        """The sample home as of :data:`NOW`."""
        return write_sample(self.folder / "sample", NOW)

    def __call__(self, *words: str, home: Path | None = None) -> Answer:
        """Run one command; ``home`` becomes ``--home``."""
        self._capsys.readouterr()
        before = ["--home", str(home)] if home else []
        code: object = 0
        try:
            main([*before, "--now", NOW.isoformat(), *words])
        except SystemExit as left:
            code = left.code
        out, err = self._capsys.readouterr()
        assert isinstance(code, int)
        return Answer(code, out, err)
