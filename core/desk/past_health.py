"""What the doctor says of the past conversations of a Hermes home: the database, and our index."""

from __future__ import annotations

from core.desk.check import Check
from core.desk.indexing import identity, index_of
from core.desk.opening import Opened
from core.errors import UnreadableError
from core.homes.hermes.sessions.health import examine
from core.homes.hermes.sessions.opening import reading
from core.recall.index import IndexState, Status

_NAME = "search index"
_INSTEAD = "the database's own full text answers"
#: Seconds that telling the two files apart may take.
_SECONDS = 3.0


def checks(opened: Opened) -> list[Check]:
    """All of it, with a real query to each full text; takes some seconds at most."""
    signs = examine(opened.found.home)
    found = [Check(sign.name, sign.ok, sign.words) for sign in signs]
    if any(sign.ok for sign in signs):
        found.append(_index(opened))
    return found


def _index(opened: Opened) -> Check:
    state = index_of(opened).state()
    if state.status is Status.READY:
        try:
            with reading(opened.found.home, seconds=_SECONDS) as db:
                is_other = state.identity != identity(db, opened)
        except UnreadableError as problem:
            return Check(_NAME, False, problem.message)
        if is_other:
            message = f"it is of another file; {_INSTEAD} until it is made anew"
            return Check(_NAME, None, message)
    return _said(state)


def _said(state: IndexState) -> Check:
    behind = f": {state.problem}" if state.problem else ""
    documents = f"{state.documents:,} message{'' if state.documents == 1 else 's'}"
    match state.status:
        case Status.READY:
            return Check(_NAME, True, f"{documents}, {state.size / 1e6:,.1f} MB{behind}")
        case Status.BUILDING:
            message = f"{documents} of {state.total:,} so far; {_INSTEAD} until then{behind}"
            return Check(_NAME, None, message)
        case Status.BROKEN:
            return Check(_NAME, False, f"cannot be used{behind}; {_INSTEAD} until it is made anew")
        case Status.OFF:
            return Check(_NAME, None, f"off{behind}; {_INSTEAD}")
        case Status.ABSENT:
            return Check(_NAME, None, f"not made yet{behind}; {_INSTEAD}")
