"""Which messages match a query, in which order, and the snippet of one.

Source: hermes-agent 0.19.0, executed; the newer agent as described (specs, hermes-sessions 3.3 to
3.6). The same conditions and order, but fewer columns: snippets are made for the few rows that an
answer shows, so that a common word costs no more than its ranking.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.homes.hermes.recall import cjk, lexer
from core.homes.hermes.recall.store import Store
from core.homes.hermes.rules import Rules
from core.homes.hermes.sessions.layout import BASE, TRIGRAM, Storage
from core.sqlite import Fault, fault

#: Rows that are looked at before families are told apart.
SCAN = 300

_ORDERS = {
    "": "rank",
    "newest": "m.timestamp DESC, rank",
    "oldest": "m.timestamp ASC, rank",
}
_TOKEN = re.compile(r'"[^"]+"|\S+')
_TEXTS = ("content", "tool_name", "tool_calls")


class SearchError(Exception):
    """SQLite could not answer at all; the text is its own."""


@dataclass(frozen=True, slots=True)
class Match:
    """One row that matches. ``index`` and ``sought`` are what its snippet is made from: a
    full-text table and its query, or ``""`` and a word of the text."""

    index: str
    sought: str
    id: Any
    session_id: Any
    role: Any
    source: Any
    model: Any
    started_at: Any


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: ``query`` as the lexer left it, ``order`` is ``""``, ``newest`` or ``oldest``.

    ``after`` (inclusive) and ``before`` bound the start of the session, in seconds since 1970.
    ``unindexed``: a database that 0.19 opens read-only, whose full text it never asks.
    """

    query: str
    rules: Rules
    roles: tuple[str, ...]
    hidden: tuple[str, ...]
    order: str = ""
    after: int | None = None
    before: int | None = None
    unindexed: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the newer agent's index is: message ids above ``indexed`` up to ``total`` wait."""

    indexed: int
    total: int

    @property
    def percent(self) -> int:
        """Of the messages."""
        return min(100, int(100 * self.indexed / self.total))


def progress(store: Store) -> Progress | None:
    """The rebuild that is under way in the newer agent's file, if there is one."""
    high = _integer(store.meta("fts_rebuild_high_water"))
    if high is None or high <= 0:
        return None
    return Progress(_integer(store.meta("fts_rebuild_progress")) or 0, high)


def lacks_index(store: Store) -> bool:
    """Whether there is no full text to ask (:attr:`.deviations.Deviation.NO_INDEX`)."""
    return store.db.layout.base is Storage.NONE


def matches(store: Store, wanted: Wanted) -> list[Match]:
    """At most :data:`SCAN` rows, best first; none for a query that SQLite cannot read.

    Raises :class:`SearchError`, also for a lock (:attr:`.deviations.Deviation.BUSY`).
    """
    if not wanted.query or (wanted.unindexed and wanted.rules is Rules.V0_19):
        return []
    try:
        return _Search(store, wanted).run()
    except (UnicodeEncodeError, OverflowError, sqlite3.Error) as problem:
        raise SearchError(str(problem)) from problem


def snippet(store: Store, match: Match) -> str:
    """Forty tokens around what was found, marked; from a plain scan 120 characters, unmarked."""
    if match.index:
        sql = (
            f"SELECT snippet({match.index}, -1, '>>>', '<<<', '...', 40) FROM {match.index}"
            f" WHERE {match.index} MATCH ? AND rowid = ?"
        )
    else:
        sql = (
            "SELECT substr(m.content, max(1, instr(m.content, ?) - 40), 120)"
            " FROM messages m WHERE m.id = ?"
        )
    found = store.quiet(sql, (match.sought, match.id))
    return str(found[0][0] or "") if found else ""


@dataclass(frozen=True, slots=True)
class _Search:
    store: Store
    wanted: Wanted

    @property
    def _newest(self) -> bool:
        return self.wanted.rules is Rules.NEWEST

    def run(self) -> list[Match]:
        query = self.wanted.query
        if self._newest and "tool" in self.wanted.roles:
            # Its index holds only the beginning of what a tool said.
            return self._scan_boolean()
        if lacks_index(self.store) or (self._newest and self.store.meta("fts_stale") is not None):
            return self._scan_boolean()
        if cjk.contains(query):
            return self._supplemented(self._cjk())
        try:
            found = self._full_text(BASE, query)
        except sqlite3.OperationalError as problem:
            if fault(problem) is Fault.LOCKED:
                raise
            return []
        except sqlite3.DatabaseError:
            if not self._newest:
                raise
            return self._scan_boolean()
        found = self._supplemented(found)
        if not found and self._newest:
            found = self._within_words()
        return found

    # -- the two indexes ---------------------------------------------------------------------------

    def _full_text(self, table: str, query: str) -> list[Match]:
        where, args = self._filters()
        sql = (
            "SELECT m.id, m.session_id, m.role, s.source, s.model, s.started_at"
            f" FROM {table} JOIN messages m ON m.id = {table}.rowid"
            " JOIN sessions s ON s.id = m.session_id"
            f" WHERE {' AND '.join([f'{table} MATCH ?', *where])}"
            f" ORDER BY {_ORDERS[self.wanted.order]} LIMIT {SCAN}"
        )
        found = self.store.rows(sql, (query, *args))
        return [Match(table, query, *row) for row in found]

    def _cjk(self) -> list[Match]:
        """Trigrams where the words are long enough for them, else the rows themselves
        (:attr:`.deviations.Deviation.BIGRAMS`)."""
        text = lexer.bare(self.wanted.query)
        words = lexer.words(text)
        has_trigrams = self.store.db.layout.trigram is not Storage.NONE
        if has_trigrams and cjk.fits_trigrams(text, words):
            found = self._trigrams(lexer.quoted(text))
            if found is not None:
                return found
        return self._scan_any(words or [text])

    def _within_words(self) -> list[Match]:
        """The newer agent's second try: the trigram index finds what lies inside a word."""
        text = lexer.bare(self.wanted.query)
        words = lexer.words(text)
        if self.store.db.layout.trigram is Storage.NONE or not words:
            return []
        if any(len(word) < cjk.TRIGRAM for word in words):
            return []
        return self._trigrams(lexer.quoted(text)) or []

    def _trigrams(self, query: str) -> list[Match] | None:
        try:
            return self._full_text(TRIGRAM, query)
        except sqlite3.OperationalError as problem:
            if fault(problem) is Fault.LOCKED:
                raise
            return None
        except sqlite3.DatabaseError:
            if not self._newest:
                raise
            return None

    # -- row by row --------------------------------------------------------------------------------

    def _scan_any(self, words: Sequence[str]) -> list[Match]:
        """Rows with any of ``words``, newest first whatever the order asked for. 0.19 also finds
        what was taken back."""
        where, args = self._filters(everything=not self._newest)
        any_word = " OR ".join([_holds()] * len(words))
        patterns = [pattern for word in words for pattern in _patterns(word)]
        return self._scan([f"({any_word})", *where], [*patterns, *args], "DESC", words[0])

    def _scan_boolean(self) -> list[Match]:
        """Rows that fit the query read as words with AND, OR and NOT."""
        clause, patterns, sought = _boolean(self.wanted.query)
        if sought is None:
            return []
        where, args = self._filters()
        way = "ASC" if self.wanted.order == "oldest" else "DESC"
        return self._scan([f"({clause})", *where], [*patterns, *args], f"{way}, m.id {way}", sought)

    def _supplemented(self, found: list[Match]) -> list[Match]:
        """With the rows that the newer agent's index does not hold yet; all words must be there."""
        under_way = progress(self.store) if self._newest else None
        if under_way is None or len(found) >= SCAN:
            return found
        words = [word for word in map(_stripped, _TOKEN.findall(self.wanted.query)) if word]
        words = [word for word in words if word.upper() not in lexer.OPERATORS | {"NEAR"}]
        if not words:
            return found
        where, args = self._filters()
        patterns = [pattern for word in words for pattern in _patterns(word)]
        bounds = [under_way.indexed, under_way.total]
        clauses = ["m.id > ? AND m.id <= ?", *[_holds()] * len(words), *where]
        more = self._scan(clauses, [*bounds, *patterns, *args], "DESC", words[0], SCAN - len(found))
        known = {match.id for match in found}
        return found + [match for match in more if match.id not in known]

    def _scan(
        self, where: Sequence[str], args: Sequence[Any], way: str, sought: str, limit: int = SCAN
    ) -> list[Match]:
        # Refused before its patterns, as the agent hands it to SQLite first.
        sought.encode()
        sql = (
            "SELECT m.id, m.session_id, m.role, s.source, s.model, s.started_at"
            " FROM messages m JOIN sessions s ON s.id = m.session_id"
            f" WHERE {' AND '.join(where)} ORDER BY m.timestamp {way} LIMIT {limit}"
        )
        return [Match("", sought, *row) for row in self.store.rows(sql, args)]

    def _filters(self, *, everything: bool = False) -> tuple[list[str], list[Any]]:
        """Conditions and their values: what is visible, whose sessions, which roles and when."""
        where: list[str] = []
        wanted = self.wanted
        if not everything:
            active, compacted = self.store.flags("m")
            where.append(f"({active} = 1 OR {compacted} = 1)")
        if self._newest and "display_kind" in self.store.db.columns("messages"):
            where.append("COALESCE(m.display_kind, '') <> 'hidden'")
        where.append(f"s.source NOT IN ({_marks(wanted.hidden)})")
        where.append(f"m.role IN ({_marks(wanted.roles)})")
        args: list[Any] = [*wanted.hidden, *wanted.roles]
        for sign, bound in ((">=", wanted.after), ("<", wanted.before)):
            if bound is not None:
                where.append(f"s.started_at {sign} ?")
                args.append(bound)
        return where, args


def _boolean(query: str) -> tuple[str, list[str], str | None]:
    """A condition for ``query``, its values, and the first word that must be there.

    Words beside each other must all be there, OR divides, NOT turns the next word around; quotes
    and stars are dropped. A group of nothing but NOT finds nothing.
    """
    groups: list[list[tuple[str, bool]]] = [[]]
    negated = False
    for token in _TOKEN.findall(query):
        operator = token.upper()
        if operator == "OR":
            groups.append([])
            negated = False
        elif operator == "NOT":
            negated = True
        elif operator not in ("AND", "NEAR") and (word := _stripped(token)):
            groups[-1].append((word, negated))
            negated = False
    kept = [group for group in groups if any(not turned for _, turned in group)]
    clauses = [
        "(" + " AND ".join(f"{'NOT ' * turned}{_holds(null='')}" for _, turned in group) + ")"
        for group in kept
    ]
    patterns = [pattern for group in kept for word, _ in group for pattern in _patterns(word)]
    first = next((word for group in kept for word, turned in group if not turned), None)
    return " OR ".join(clauses), patterns, first


def _stripped(token: str) -> str:
    return token.strip('"').strip("*").strip()


def _holds(null: str | None = None) -> str:
    """One word, in the text, the tool's name or its calls; ``null``: what an empty one reads as."""
    columns = [f"m.{name}" if null is None else f"COALESCE(m.{name}, '{null}')" for name in _TEXTS]
    return "(" + " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in columns) + ")"


def _patterns(word: str) -> list[str]:
    escaped = like(word)
    return [f"%{escaped}%"] * len(_TEXTS)


def like(text: str) -> str:
    """``text`` for LIKE with a backslash as its escape."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _integer(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def demoted(found: Sequence[Match]) -> list[Match]:
    """``found`` with what scheduled jobs wrote after everything else; the order stays otherwise."""
    return sorted(found, key=lambda match: match.source == "cron")
