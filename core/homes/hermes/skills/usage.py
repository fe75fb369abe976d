"""``skills/.usage.json``: what the agent counts about each skill, and pins, states, provenance.

hermes-agent 0.19.0, ``tools/skill_usage.py``: an object of rows by skill name, written with sorted
keys and two blanks of indent under ``.usage.json.lock``. The agent takes a file it cannot parse
for an empty one and drops rows that are no objects; here the first is an error, the second kept.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.errors import UnreadableError
from core.model import RowAction, RowEdit
from core.view import Reading, View

PATH = "skills/.usage.json"
LOCK = "skills/.usage.json.lock"


@dataclass(frozen=True, slots=True)
class Rows:
    """The file's rows as they stand, odd ones too; ``problem`` says why there are none."""

    rows: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    def row(self, key: str) -> Mapping[str, Any] | None:
        """The row under ``key`` if it is one; ``None`` if it is absent or no object."""
        found = self.rows.get(key)
        return found if isinstance(found, dict) else None


def read_rows(reading: Reading) -> Rows:
    """The rows of a read file; an absent or empty one has none."""
    if reading.reason:
        return Rows(problem=reading.reason)
    try:
        return Rows(_parse(reading.data))
    except UnreadableError as problem:
        return Rows(problem=problem.message)


def load(view: View) -> Rows:
    """The rows of the home, parsed once for all views of one snapshot; not recorded."""
    return view.shared("usage-rows", lambda quiet: read_rows(quiet.read(PATH)))


def ask(view: View, key: str, name: str) -> Any:
    """Field ``name`` of row ``key``, ``None`` if there is none; only this value is recorded.

    A file that cannot be read has no fields.
    """
    called = f"{name} in the row of {key}"
    return json.loads(view.ask("usage-field", json.dumps([key, name]), _field, called))


def unknown(view: View, key: str) -> str:
    """Why the row of ``key`` cannot be told, as a clause; ``""`` if it can, or there is none.

    A row that is no object cannot. Only the answer is recorded.
    """
    return view.ask("usage-unknown", key, _unknown, f"the row of {key}")


def empty_row(now: datetime) -> dict[str, Any]:
    """The row the agent starts from."""
    return {
        "created_by": None,
        "use_count": 0,
        "view_count": 0,
        "last_used_at": None,
        "last_viewed_at": None,
        "patch_count": 0,
        "last_patched_at": None,
        "created_at": now.isoformat(),
        "state": "active",
        "pinned": False,
        "archived_at": None,
    }


def bump(rows: Rows, key: str, now: datetime, times: int = 1) -> tuple[RowEdit, ...]:
    """One patch more, as the agent counts it; nothing where the row or its counter is odd."""
    row = rows.row(key)
    count = row.get("patch_count") if row else 0
    if rows.problem or (row is None and key in rows.rows) or _number(count) is None:
        return ()
    add = RowEdit(PATH, key, RowAction.ADD, "patch_count", count, times, empty_row(now))
    return (add, *put(rows, key, {"last_patched_at": now.isoformat()}, now))


def put(rows: Rows, key: str, values: Mapping[str, Any], now: datetime) -> tuple[RowEdit, ...]:
    """Fields of one row set, the row made if it is absent; nothing where the row is odd."""
    row = rows.row(key)
    if rows.problem or (row is None and key in rows.rows):
        return ()
    default = empty_row(now)
    old = default if row is None else row
    return tuple(
        RowEdit(PATH, key, RowAction.SET, name, old.get(name), value, default)
        for name, value in values.items()
    )


def drop(rows: Rows, key: str) -> tuple[RowEdit, ...]:
    """The row gone, if there is one."""
    row = rows.row(key)
    if rows.problem or row is None:
        return ()
    return (RowEdit(PATH, key, RowAction.DROP, old=copy.deepcopy(dict(row))),)


def apply(data: bytes | None, edits: Sequence[RowEdit]) -> bytes | None:
    """The file with ``edits`` made, in the agent's serialisation; ``None``: nothing to write.

    Rows that are no objects and counters that are no numbers stay as they are. Raises
    :class:`UnreadableError` for a file that cannot be parsed: it is never written over.
    """
    rows = _parse(data)
    before = copy.deepcopy(rows)
    for edit in edits:
        _apply(rows, edit)
    return None if rows == before else _serialise(rows)


def reverse(data: bytes | None, edits: Sequence[RowEdit]) -> bytes | None:
    """The file with those fields put back that still hold what ``edits`` wrote.

    A counter loses what was added, whatever was added since; a field that was not there stays,
    empty; a row that is back at what it was made from goes. ``None``: nothing to write. Raises
    :class:`UnreadableError`.
    """
    rows = _parse(data)
    before = copy.deepcopy(rows)
    for edit in reversed(edits):
        _reverse(rows, edit)
    for edit in edits:
        if edit.default is not None and rows.get(edit.key) == edit.default:
            del rows[edit.key]
    return None if rows == before else _serialise(rows)


def seal_holds(data: bytes | None, edits: Sequence[RowEdit]) -> bool:
    """Whether every sealed edit still finds the old value it was planned on."""
    sealed = [edit for edit in edits if edit.sealed]
    if not sealed:
        return True
    try:
        rows = _parse(data)
    except UnreadableError:
        return False
    return all(_value(rows, edit) == edit.old for edit in sealed)


def made(data: bytes | None, edits: Sequence[RowEdit]) -> bool:
    """Whether ``edits`` have been written already, whatever else changed since.

    A counter moves all the time, so it counts as written when the fields beside it are.
    """
    rows = _parse(data)
    told = {edit.key for edit in edits if edit.action is RowAction.SET}
    return all(_made(rows, edit, edit.key in told) for edit in edits)


def _field(view: View, key: str) -> str:
    row, name = json.loads(key)
    return json.dumps((load(view).row(row) or {}).get(name), sort_keys=True)


def _unknown(view: View, key: str) -> str:
    rows = load(view)
    if rows.problem:
        said = rows.problem.startswith(PATH)
        return rows.problem if said else f"{PATH} cannot be read ({rows.problem})"
    odd = key in rows.rows and rows.row(key) is None
    return f"{PATH} holds no object for {key}" if odd else ""


def _parse(data: bytes | None) -> dict[str, Any]:
    if data is None or not data.strip():
        return {}
    try:
        rows = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise UnreadableError(
            "skills/.usage.json is not the JSON the agent writes", "Put it right or move it away"
        ) from None
    if not isinstance(rows, dict):
        raise UnreadableError(
            "skills/.usage.json is no object of rows", "Put it right or move it away"
        )
    return rows


def _serialise(rows: Mapping[str, Any]) -> bytes:
    text = json.dumps(rows, indent=2, sort_keys=True, ensure_ascii=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise UnreadableError(
            "skills/.usage.json holds half characters that no file can store",
            "Put it right or move it away",
        ) from None


def _apply(rows: dict[str, Any], edit: RowEdit) -> None:
    if edit.action is RowAction.DROP:
        rows.pop(edit.key, None)
        return
    row = rows.get(edit.key)
    if row is None and edit.key not in rows:
        row = rows[edit.key] = copy.deepcopy(dict(edit.default or {}))
    if not isinstance(row, dict):
        return
    if edit.action is RowAction.SET:
        row[edit.field] = edit.new
    elif (count := _number(row.get(edit.field))) is not None:
        row[edit.field] = count + edit.new


def _reverse(rows: dict[str, Any], edit: RowEdit) -> None:
    if edit.action is RowAction.DROP:
        rows.setdefault(edit.key, copy.deepcopy(edit.old))
        return
    row = rows.get(edit.key)
    if not isinstance(row, dict) or edit.field not in row:
        return
    if edit.action is RowAction.SET:
        if row[edit.field] == edit.new:
            row[edit.field] = copy.deepcopy(edit.old)
    elif (count := _number(row[edit.field])) is not None:
        row[edit.field] = max(count - edit.new, 0)


def _made(rows: Mapping[str, Any], edit: RowEdit, told: bool) -> bool:
    if edit.action is RowAction.DROP:
        return edit.key not in rows
    row = rows.get(edit.key)
    if not isinstance(row, dict):
        return edit.key in rows
    if edit.action is RowAction.SET:
        return bool(row.get(edit.field) == edit.new)
    now, old = _number(row.get(edit.field)), _number(edit.old)
    return told or (now is not None and old is not None and now >= old + edit.new)


def _value(rows: Mapping[str, Any], edit: RowEdit) -> Any:
    row = rows.get(edit.key)
    if edit.action is RowAction.DROP:
        return row
    return row.get(edit.field) if isinstance(row, dict) else None


def _number(value: Any) -> int | None:
    """A counter as the agent reads it: nothing is 0, text of digits counts; ``None``: no number."""
    try:
        return int(value or 0)
    except (TypeError, ValueError, OverflowError):
        return None
