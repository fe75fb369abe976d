"""The bundled sample home: a small team's agent with a queue that shows what signoff is for.

``home/`` holds the files as hermes-agent 0.19.0 leaves them, times left out; ``ages.json`` says how
many minutes before "now" each time lies, so that the sample never grows old.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from console.sample.curated import curated
from console.sample.folder import fill
from console.sample.past import state_db


def write_sample(into: Path, now: datetime) -> Path:
    """Write the sample home into a new or empty folder, its times set relative to ``now``.

    ``now`` knows its time zone. The same ``now`` gives the same bytes. Returns ``into``; raises
    what :func:`console.sample.folder.fill` raises.
    """
    package = resources.files(__name__)
    files = dict(_walk(package / "home", ""))
    ages = json.loads((package / "ages.json").read_text(encoding="utf-8"))
    for path, minutes in ages.items():
        files[path] = _dated(path, files[path], minutes, now.astimezone(UTC))
    files |= dict(curated(files, now.astimezone(UTC)))
    files["state.db"] = state_db(package / "conversations.json", now.astimezone(UTC))
    return fill(into, files)


def _walk(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for child in sorted(folder.iterdir(), key=lambda child: child.name):
        if child.is_dir():
            yield from _walk(child, f"{path}{child.name}/")
        else:
            yield path + child.name, child.read_bytes()


def _dated(path: str, data: bytes, ages: Mapping[str, float], now: datetime) -> bytes:
    """``data`` with each time filled in: Unix seconds in pending records, ISO 8601 elsewhere."""
    document = json.loads(data)
    for pointer, minutes in ages.items():
        *above, field = pointer.split("/")
        holder: Any = document
        for key in above:
            holder = holder[int(key) if isinstance(holder, list) else key]
        moment = now - timedelta(minutes=minutes)
        unix = path.startswith("pending/")
        holder[field] = moment.timestamp() if unix else moment.isoformat()
    return json.dumps(document, ensure_ascii=False, indent=2).encode()
