"""Discover: the best message of each family that matches, with what lies around it.

Source: hermes-agent 0.19.0, executed; the newer agent as described (specs, hermes-sessions 2.1 and
3.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.homes.hermes.recall import lexer
from core.homes.hermes.recall.bounds import within
from core.homes.hermes.recall.call import Call, refused
from core.homes.hermes.recall.matching import (
    Match,
    SearchError,
    Wanted,
    demoted,
    lacks_index,
    matches,
    progress,
    snippet,
)
from core.homes.hermes.recall.store import Session
from core.homes.hermes.recall.titles import Titled, titled
from core.homes.hermes.recall.windows import (
    BOOKEND_CAP,
    WINDOW_CAP,
    Json,
    View,
    shape,
    view,
    without_summaries,
)

DEFAULT_ROLES = ("user", "assistant")
_NONE = "No matching sessions found."
# Hints in our own words: Deviation.HINTS.
_NONE_HINT = (
    _NONE + " All terms must be in one message: try OR between them, fewer of them, NOT for what"
    " is in the way, or a prefix with a trailing star (`deploy*`); quotes keep a phrase together."
)
_LINK_HINT = (
    "To point the user at a session, put its `link` into the sentence as it is. A compact result"
    " shows the matching message alone: scroll with session_id and"
    " around_message_id=match_message_id for more."
)


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of a search, coerced. ``detail`` is ``full`` or ``adaptive``; it, the bounds
    and ``excluded`` are the newer agent's."""

    query: str
    limit: int
    roles: tuple[str, ...] = ()
    order: str = ""
    detail: str = "adaptive"
    after: int | None = None
    before: int | None = None
    excluded: frozenset[Any] = frozenset()


def discover(call: Call, question: Question) -> Json:
    """The answer to a search."""
    current_root = call.store.root(call.current) if call.current else None
    by_title = _bounded(titled(call, question.query, current_root), question)
    wanted = Wanted(
        lexer.effective(question.query, call.rules),
        call.rules,
        question.roles or DEFAULT_ROLES,
        call.hidden,
        question.order,
        question.after,
        question.before,
        call.unindexed,
    )
    try:
        found = demoted(matches(call.store, wanted))
    except SearchError as problem:
        return refused(f"Search failed: {problem}")
    if not found and by_title is None:
        return _answer(call, question, [], {"message": _NONE_HINT if call.newest else _NONE})
    best = _best_of_each(call, question, found, current_root, by_title)
    results = [by_title.entry] if by_title else []
    for root, match in best.items():
        results.append(_entry(call, root, match, full=_is_full(call, question, bool(results))))
    extra: Json = {"sessions_searched": len(best) + (by_title is not None)}
    if call.newest:
        for entry in results:
            entry["link"] = call.reference(entry["session_id"])
        extra["link_hint"] = _LINK_HINT
    return _answer(call, question, results, extra)


def _is_full(call: Call, question: Question, has_results: bool) -> bool:
    return not call.newest or question.detail == "full" or not has_results


def _bounded(found: Titled | None, question: Question) -> Titled | None:
    """A session found by its title, unless it is excluded or began outside the bounds."""
    if found is None or {found.entry["session_id"], found.root} & question.excluded:
        return None
    return found if within(found.started_at, question.after, question.before) else None


def _best_of_each(
    call: Call,
    question: Question,
    found: Sequence[Match],
    current_root: Any,
    by_title: Titled | None,
) -> dict[Any, Match]:
    """The first row of each family, by the family's root; the title's family counts as one."""
    best: dict[Any, Match] = {}
    taken = {by_title.root} if by_title else set()
    for match in found:
        if len(best) + len(taken) >= question.limit:
            break
        root = call.store.root(match.session_id)
        if {match.session_id, root} & question.excluded:
            continue
        if call.current and _in_context(call, match, root == current_root):
            continue
        if root not in taken:
            best.setdefault(root, match)
    return best


def _in_context(call: Call, match: Match, related: bool) -> bool:
    """Whether the session that asks has the row before it already; in 0.19 all of its family."""
    own = match.session_id == call.current
    if not related and not own:
        return False
    if not call.newest:
        return True
    place = call.store.place(match.id)
    if place is not None and place.archived:
        return False
    return own or not call.store.left(match.session_id)


def _entry(call: Call, root: Any, match: Match, *, full: bool) -> Json:
    session_id, rules = match.session_id or root, call.rules
    family = call.store.session(root) or Session(None)
    found = view(call.store, session_id, match.id)
    if call.newest:
        found = _reduced(found, match, full)
    entry: Json = {
        "session_id": session_id,
        "when": call.when(family.started_at or match.started_at),
        "source": family.source or match.source,
        "model": family.model or match.model or "unknown",
        "title": family.title or None,
        "matched_role": match.role,
        "match_message_id": match.id,
        "snippet": snippet(call.store, match),
        "bookend_start": shape(found.start, rules, cap=BOOKEND_CAP),
        "messages": shape(found.messages, rules, anchor=match.id, cap=WINDOW_CAP),
        "bookend_end": shape(found.end, rules, cap=BOOKEND_CAP),
        "messages_before": found.before,
        "messages_after": found.after,
    }
    if call.newest:
        entry["detail"] = "full" if full else "compact"
    if root and root != session_id:
        entry["parent_session_id"] = root
    return entry


def _reduced(found: View, match: Match, full: bool) -> View:
    """The newer agent's view: no summaries at the ends, and all but the hit only where ``full``."""
    if full:
        start, end = without_summaries(found.start), without_summaries(found.end)
        return View(tuple(start), found.messages, tuple(end), found.before, found.after)
    hit = tuple(message for message in found.messages if message["id"] == match.id)
    return View((), hit, (), found.before, found.after)


def _answer(call: Call, question: Question, results: list[Json], extra: Json) -> Json:
    said: Json = {"success": True, "mode": "discover", "query": question.query}
    if call.newest:
        said["detail"] = question.detail
    said |= {"results": results, "count": len(results), **extra}
    under_way = progress(call.store) if call.newest else None
    if under_way is not None:
        said["index_rebuild"] = {
            "percent": under_way.percent,
            "note": (
                f"The search index is being rebuilt: {under_way.indexed:,} of"
                f" {under_way.total:,} messages are in it ({under_way.percent}%). Until it is"
                " done, older messages may be missing."
            ),
        }
    if lacks_index(call.store):
        said["note"] = "The database has no search index: its rows were read one by one."
    return said
