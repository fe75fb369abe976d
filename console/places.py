"""Paths as people write them."""

from __future__ import annotations

import os


def short(path: str) -> str:
    """``path`` with ``~`` for the person's own folder."""
    own = os.path.expanduser("~").rstrip("/")
    if own and (path == own or path.startswith(f"{own}/")):
        return f"~{path[len(own) :]}"
    return path
