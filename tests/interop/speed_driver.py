"""The agent's own search, timed inside its process, and its own writing: for ``peer_driver.py``."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

_spec = importlib.util.spec_from_file_location(
    "peer_driver", Path(__file__).with_name("peer_driver.py")
)
assert _spec is not None
assert _spec.loader is not None
driver: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(driver)


_open: dict[str, Any] = {}


def _database(path: str) -> Any:
    return importlib.import_module("hermes_state").SessionDB(db_path=Path(path))


def timed(path: str, call: dict[str, Any]) -> dict[str, Any]:
    """Milliseconds of one call of ``session_search``, and how many results it has."""
    search = importlib.import_module("tools.session_search_tool").session_search
    if path not in _open:
        _open[path] = _database(path)
    began = time.perf_counter()
    answer = search(db=_open[path], **call)
    took = (time.perf_counter() - began) * 1_000
    return {"took": took, "count": json.loads(answer).get("count")}


#: Messages between two checkpoints to the end of the log.
_CHECKPOINT = 100


class _Writer:
    """Appends as fast as it can in a thread of its own, as an agent at work does."""

    def __init__(self, path: str, session_id: str) -> None:
        self._path = path
        self._session_id = session_id
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.written = 0
        self.slowest = 0.0
        self.errors: list[str] = []
        self.checkpoints: list[list[int]] = []
        self.db = _database(path)
        self.db.create_session(session_id, "cli")
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.perf_counter()
            try:
                said = f"message {self.written} of the live harbourmaster"
                self.db.append_message(self._session_id, "user", said)
                self.written += 1
            except Exception as problem:
                self.errors.append(f"{type(problem).__name__}: {problem}")
            self.slowest = max(self.slowest, time.perf_counter() - began)
            if self.written % _CHECKPOINT == 0:
                self.checkpoints.append(self.checkpoint())

    def checkpoint(self) -> list[int]:
        """What SQLite says of a checkpoint to the end of the log: busy, frames, frames moved."""
        beside = sqlite3.connect(self._path, timeout=5, isolation_level=None)
        try:
            return list(beside.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
        finally:
            beside.close()

    def end(self) -> dict[str, Any]:
        self._stop.set()
        self._thread.join()
        checkpoint = self.checkpoint()
        self.db.close()
        beside = sqlite3.connect(self._path)
        try:
            integrity = beside.execute("PRAGMA integrity_check").fetchone()[0]
            sql = "INSERT INTO messages_fts(messages_fts, rank) VALUES('integrity-check', 0)"
            beside.execute(sql)
            sql = "SELECT count(*) FROM messages WHERE session_id = ?"
            rows = beside.execute(sql, (self._session_id,)).fetchone()[0]
        finally:
            beside.close()
        return {
            "written": self.written,
            "rows": rows,
            "slowest": self.slowest,
            "errors": self.errors[:5],
            "checkpoints": [*self.checkpoints, checkpoint],
            "integrity": integrity,
        }


_writers: dict[str, _Writer] = {}


def start_writing(path: str, session_id: str) -> None:
    """Begin to append to a new session."""
    _writers[path] = _Writer(path, session_id)


def stop_writing(path: str) -> dict[str, Any]:
    """What was written, what went wrong, and whether the file is sound afterwards."""
    return _writers.pop(path).end()


driver.FUNCTIONS |= {
    "timed": timed,
    "start_writing": start_writing,
    "stop_writing": stop_writing,
}
if __name__ == "__main__":
    driver.main()
