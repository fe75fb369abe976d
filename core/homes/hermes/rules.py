"""Which agent's rules a home is judged by: 0.19.0 as measured, or the newest known."""

from __future__ import annotations

from enum import StrEnum


class Rules(StrEnum):
    """``V0_19``: hermes-agent 0.19.0, executed. ``NEWEST``: later 2026, from its documents."""

    V0_19 = "0.19"
    NEWEST = "newest"
