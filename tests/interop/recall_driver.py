"""Runs inside the agent's own python: makes databases through its API, then asks its search tool.

Started by ``test_recall.py`` as ``python -I recall_driver.py``: one JSON document in, one out.
Nothing of signoff is imported; the agent's chatter on stdout goes to stderr.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def build(path: str, steps: list[list[Any]]) -> None:
    """Make a database by steps of (name, arguments…); the clock stands where a step put it."""
    clock = [0.0]
    real, time.time = time.time, lambda: clock[0]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    db = importlib.import_module("hermes_state").SessionDB(db_path=Path(path))
    try:
        for name, *arguments in steps:
            if name == "at":
                clock[0] = arguments[0]
            elif name == "create":
                session_id, source, more = arguments
                db.create_session(session_id, source, **more)
            elif name == "append":
                session_id, role, content, more = arguments
                db.append_message(session_id, role, content, **more)
            elif name == "end":
                db.end_session(*arguments)
            elif name == "title":
                assert db.set_session_title(*arguments)
            elif name == "compact":
                db.archive_and_compact(*arguments)
            elif name == "rewind":
                db.rewind_to_message(*arguments)
            elif name == "archive":
                db.set_session_archived(*arguments)
            else:
                raise ValueError(name)
    finally:
        db.close()
        time.time = real


def ask(path: str, calls: list[dict[str, Any]]) -> list[str]:
    """The tool's answers, as it writes them."""
    tool = importlib.import_module("tools.session_search_tool").session_search
    db = importlib.import_module("hermes_state").SessionDB(db_path=Path(path))
    try:
        return [tool(db=db, **call) for call in calls]
    finally:
        db.close()


def sanitize(queries: list[str]) -> list[str]:
    """What its query sanitizer makes of them."""
    clean = importlib.import_module("hermes_state").SessionDB._sanitize_fts5_query
    return [clean(query) for query in queries]


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asked = json.load(sys.stdin.buffer)
    for path, steps in asked["databases"].items():
        build(path, steps)
    said = {
        "answers": ask(asked["path"], asked["calls"]),
        "sanitized": sanitize(asked["queries"]),
    }
    answers.write(json.dumps(said).encode())
    answers.flush()


if __name__ == "__main__":
    main()
