"""One thing the doctor looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """``ok`` is None where there is nothing to judge."""

    name: str
    ok: bool | None
    message: str
