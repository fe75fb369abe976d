"""The real agent beside signoff: ``SIGNOFF_PEER`` names the python it is installed in."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.interop.peer import VARIABLE, Peer


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """One process of the agent for all tests of a run: ``peer.call("function", **arguments)``."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    agent = Peer(python, tmp_path_factory.mktemp("peer"))
    yield agent
    agent.close()
