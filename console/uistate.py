"""What the console remembers between starts, in signoff's own folder, never in a home."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from core import atomic


@dataclass(frozen=True, slots=True)
class UiState:
    """The theme, the mode, and whether diffs stand side by side (``None``: by width)."""

    theme: str = ""
    mode: str = ""
    split: bool | None = None


def load(folder: Path) -> UiState:
    """What was saved; anything odd in the file is forgotten."""
    try:
        data: Any = json.loads((folder / "ui.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return UiState()
    if not isinstance(data, dict):
        return UiState()
    known = {field.name for field in fields(UiState)}
    kept = {key: value for key, value in data.items() if key in known}
    if not all(isinstance(kept.get(key, ""), str) for key in ("theme", "mode")):
        return UiState()
    split = kept.get("split")
    return UiState(
        kept.get("theme", ""), kept.get("mode", ""), split if split in (True, False) else None
    )


def save(folder: Path, state: UiState) -> None:
    """Keep ``state``; a folder that cannot be written is let be, nothing depends on it."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with atomic.whole(folder / "ui.json", over=True) as stream:
            stream.write(json.dumps(asdict(state)).encode())
