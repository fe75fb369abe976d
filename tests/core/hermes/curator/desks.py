"""Homes on disk with the desk opened on them, for round trips."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from core.desk import skills as desk
from core.desk.history import undo
from core.desk.opening import Opened
from core.model import Node, Receipt
from tests.core.desks import open_on
from tests.core.hermes.curator.homes import NOW
from tests.core.hermes.skill_homes import DATA


def sample_on(tmp_path: Path) -> Opened:
    """The sample home to write in; some files get modes that git does not keep."""
    root = tmp_path / "home"
    shutil.copytree(DATA / "hermes-skills", root)
    (root / "skills/devops/docker-compose-debug/scripts/first_failure.sh").chmod(0o755)
    (root / "skills/zulu-clock/SKILL.md").chmod(0o600)
    (root / "skills/devops/nginx-tls-renewal").chmod(0o700)
    return open_on(root, tmp_path / "state", lambda: NOW)


def home_on(tmp_path: Path, files: Mapping[str, bytes | Node]) -> Opened:
    root = tmp_path / "home"
    for path, content in files.items():
        full = root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content.data if isinstance(content, Node) else content)
    return open_on(root, tmp_path / "state", lambda: NOW)


def done(opened: Opened, planned: desk.Planned) -> Receipt:
    """A plan carried out, which must succeed."""
    receipt = desk.carry_out(opened, planned)
    assert receipt.ok, receipt
    return receipt


def undone(opened: Opened, times: int = 1) -> None:
    for _ in range(times):
        receipt = undo(opened)
        assert receipt.ok, receipt
