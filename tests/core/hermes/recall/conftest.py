"""Databases to fill, in either layout of the newer agent's full text."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.hermes.recall.databases import Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A database of the newer agent, with its own layout."""
    return Made(tmp_path / "home")


@pytest.fixture(params=["inline", "external"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """Both layouts of the full text: an upgraded file keeps the old one."""
    return Made(tmp_path / "home", inline=request.param == "inline")
