"""The tool itself: which of its four shapes a call is, its arguments, and the database it asks.

Source: hermes-agent 0.19.0, executed; the newer agent as described (specs, hermes-sessions 2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from core.errors import UnreadableError
from core.homes.hermes.home import CUSTOM, DEFAULT
from core.homes.hermes.recall import bounds, lexer
from core.homes.hermes.recall.browse import browse
from core.homes.hermes.recall.call import Call, refused
from core.homes.hermes.recall.discover import Question, discover
from core.homes.hermes.recall.profiles import ProfileError, Profiles
from core.homes.hermes.recall.read import read
from core.homes.hermes.recall.scroll import DEFAULT_WINDOW, LARGEST_WINDOW, scroll
from core.homes.hermes.recall.store import NoRows, Rows, Store
from core.homes.hermes.recall.windows import Json
from core.homes.hermes.rules import Rules
from core.homes.hermes.sessions.opening import NoDatabaseError, decoded, reading

DEFAULT_LIMIT, LARGEST_LIMIT = 3, 10
_LINK = "@session:"
_UNAVAILABLE = "Session database not available"


def recall(
    home: Path,
    arguments: Mapping[str, object],
    *,
    rules: Rules,
    now: datetime,
    profiles: Profiles,
    zone: tzinfo | None,
) -> Json:
    """The tool's answer to a call, as it would be written in JSON.

    ``home`` is the folder of the profile that asks. ``arguments`` are the tool's own and
    ``current_session_id``; they may be text, and what is not understood is what the tool makes of
    it. ``zone`` is where ``when`` is told (none: the platform's). Errors are the tool's:
    ``{"error": …, "success": False}``.
    """
    return _Tool(home, dict(arguments), rules, now, profiles, zone).answer()


def explain(query: str, rules: Rules) -> str:
    """What the lexer makes of a query, whatever route then runs; ``""`` if it leaves nothing."""
    return lexer.effective(query.strip(), rules)


@dataclass(frozen=True, slots=True)
class _Tool:
    home: Path
    arguments: Mapping[str, Any]
    rules: Rules
    now: datetime
    profiles: Profiles
    zone: tzinfo | None

    def answer(self) -> Json:
        session_id, profile = self._named()
        if not _given(profile):
            return self._asking(self.home, lambda db: self._shape(db, session_id, None))
        try:
            home = self.profiles.home(profile)
            with reading(home) as db:
                return self._shape(_made(db), session_id, profile)
        except NoDatabaseError:
            reason = "unable to open database file"
        except ProfileError as problem:
            reason = str(problem)
        except UnreadableError as problem:
            reason = problem.message
        return refused(f"profile '{profile}': {reason}")

    def _named(self) -> tuple[Any, Any]:
        """The session and the profile that are named; a link may hold both."""
        session_id, profile = self.arguments.get("session_id"), self.arguments.get("profile")
        if isinstance(session_id, str):
            session_id = _unlinked(session_id)
            inside, slash, rest = session_id.partition("/")
            if slash and rest:
                session_id = rest
                profile = profile if _given(profile) or not inside else inside
        return session_id, profile

    def _asking(self, home: Path, ask: Callable[[Rows], Json]) -> Json:
        try:
            with reading(home) as db:
                return ask(_made(db))
        except NoDatabaseError:
            return ask(NoRows())
        except UnreadableError as problem:
            return refused(f"{_UNAVAILABLE}: {problem.message}. {problem.hint}.")

    def _shape(self, db: Rows, session_id: Any, profile: Any) -> Json:
        call = self._call(db, profile)
        if isinstance(session_id, str) and session_id.strip():
            around = self.arguments.get("around_message_id")
            if around is None:
                return _legible(self._read(call, session_id.strip(), profile))
            given = self.arguments.get("window", DEFAULT_WINDOW)
            window = _clamped(given, DEFAULT_WINDOW, LARGEST_WINDOW)
            return _legible(scroll(call, session_id.strip(), around, window))
        limit = _clamped(self.arguments.get("limit", DEFAULT_LIMIT), DEFAULT_LIMIT, LARGEST_LIMIT)
        query = self.arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return _sent(browse(call, limit))
        try:
            question = self._question(call, query.strip(), limit)
        except ValueError as problem:
            return refused(str(problem))
        return _legible(discover(call, question))

    def _call(self, db: Rows, profile: Any) -> Call:
        named = _given(profile)
        current = "" if named else self.arguments.get("current_session_id") or ""
        own = "" if self.profiles.current == CUSTOM else self.profiles.current or DEFAULT
        return Call(
            Store(db),
            self.rules,
            self.now,
            self.zone,
            str(current),
            str(profile).strip() if named else own,
            unindexed=named,
        )

    def _question(self, call: Call, query: str, limit: int) -> Question:
        roles, order = self.arguments.get("role_filter"), self.arguments.get("sort")
        split = [role.strip() for role in roles.split(",")] if isinstance(roles, str) else []
        order = order.strip().lower() if isinstance(order, str) else ""
        plain = Question(
            query,
            limit,
            tuple(role for role in split if role),
            order if order in ("newest", "oldest") else "",
        )
        if not call.newest:
            return plain
        detail = self.arguments.get("detail")
        is_full = isinstance(detail, str) and detail.strip().lower() == "full"
        return Question(
            plain.query,
            plain.limit,
            plain.roles,
            plain.order,
            "full" if is_full else "adaptive",
            bounds.moment(self.arguments.get("after"), self.now),
            bounds.moment(self.arguments.get("before"), self.now),
            bounds.excluded(call.store, self.arguments.get("exclude_session_ids")),
        )

    def _read(self, call: Call, session_id: str, profile: Any) -> Json:
        said = read(call, session_id)
        if said["success"]:
            return said
        if call.newest:
            if profile or not said["error"].startswith("session_id not found"):
                return said
            return refused(
                f"session_id not found in this profile: {session_id}. If it belongs to another "
                "profile, pass profile=<name> (or the @session:<profile>/<id> link)."
            )
        return self._found_elsewhere(session_id) or said

    def _found_elsewhere(self, session_id: str) -> Json | None:
        """0.19 looks through the databases of all profiles for a session that it misses."""
        for name, home in self.profiles.every():
            try:
                with reading(home) as db:
                    said = read(self._call(db, name), session_id)
            except UnreadableError:
                continue
            if said["success"]:
                return {**said, "profile": name}
        return None


def _made(db: Rows) -> Rows:
    """``db``, or nothing where the agent has made its file but no table yet."""
    return db if db.columns("sessions") and db.columns("messages") else NoRows()


def _sent(listed: Json) -> Json:
    """What browsing answers; a row with bytes in it is one that it cannot write."""
    if _legible(listed) != listed:
        problem = "Object of type bytes is not JSON serializable"
        return refused(f"Failed to list recent sessions: {problem}")
    return listed


def _legible(answer: Json) -> Json:
    """``answer`` with its bytes as text (:attr:`.deviations.Deviation.BYTES`)."""
    return {key: _as_text(value) for key, value in answer.items()}


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return _legible(value)
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return decoded(value) if isinstance(value, bytes) else value


def _given(profile: Any) -> bool:
    return profile is not None and bool(str(profile).strip())


def _unlinked(session_id: str) -> str:
    """A session id without the mark of a pasted link (:attr:`.deviations.Deviation.PREFIX`)."""
    text = session_id.strip()
    return text.removeprefix(_LINK) if text.startswith(_LINK) else session_id


def _clamped(value: Any, default: int, largest: int) -> int:
    """``value`` as a number from 1 on (:attr:`.deviations.Deviation.INFINITE`)."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = default
    return max(1, min(number, largest))
