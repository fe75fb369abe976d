"""The own store's full text: ranked by BM25, in bounded time however common the words are.

SQLite reads every row that holds a word before it ranks, and once more for the word's weight. So
each word's rows are counted up to a bound first, and only words rare enough are ranked by; what
holds all the words comes before the rest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from core.homes.rag import lexical, schema
from core.homes.rag.lexical import Query, quoted
from core.homes.rag.nodes import Node
from core.homes.rag.own_rows import node_in

#: Rows that all ranked words of a question may have together.
BUDGET = 3_000
#: Rows ranked by their texts where every word is a common one.
_CLOSER = 30
#: Live nodes that are all ranked by their texts then.
_FEW = 100
#: Best rows looked at for one that holds every word.
_POOL = 200
_NODE = "n.id, n.document, n.metadata"


def search(
    db: sqlite3.Connection, number: int, collection: str, query: Query, limit: int
) -> list[Node]:
    """The best live nodes of one collection, best first."""

    def made(rows: Iterable[Sequence[object]]) -> list[Node]:
        return [node_in(collection, row) for row in rows]

    if not schema.has_full_text():
        rows = db.execute(f"SELECT {_NODE} FROM nodes_{number} n WHERE n.live = 1")
        return lexical.rank(query, (node_in(collection, row) for row in rows), limit)
    found = made(_by_words(db, number, query, limit)) if query.words else []
    if query.parts:
        inside = lexical.rank(query, made(_by_parts(db, number, query)), limit)
        found = lexical.fused([inside, found], limit)
    return lexical.distinct(found, limit)


def _by_words(
    db: sqlite3.Connection, number: int, query: Query, limit: int
) -> list[Sequence[object]]:
    counted = sorted((_rows_with(db, number, word), word) for word in query.words)
    held = [(rows, word) for rows, word in counted if rows]
    if not held:
        return []
    rare: list[str] = []
    left = BUDGET
    for rows, word in held:
        if rows <= left:
            rare.append(word)
            left -= rows
    if not rare:
        return _common(db, number, [word for _, word in held], query, limit)
    every = len(rare) == len(held)
    ranked = db.execute(
        f"SELECT n.number FROM words_{number} JOIN nodes_{number} n ON n.number ="
        f" words_{number}.rowid WHERE words_{number} MATCH ? AND n.live = 1"
        f" ORDER BY bm25(words_{number}), n.id LIMIT ?",
        (" OR ".join(map(quoted, rare)), limit if every else max(limit, _POOL)),
    ).fetchall()
    if not every:
        whole = {
            row[0]
            for row in db.execute(
                f"SELECT rowid FROM words_{number} WHERE words_{number} MATCH ? LIMIT ?",
                (" AND ".join(quoted(word) for _, word in held), BUDGET),
            )
        }
        ranked.sort(key=lambda row: row[0] not in whole)
    # The texts of those alone: a sorted answer would read the texts of all.
    one = f"SELECT {_NODE} FROM nodes_{number} n WHERE n.number = ?"
    return [db.execute(one, row).fetchone() for row in ranked[:limit]]


def _rows_with(db: sqlite3.Connection, number: int, word: str) -> int:
    row = db.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM words_{number} WHERE words_{number} MATCH ? LIMIT ?)",
        (quoted(word), BUDGET + 1),
    ).fetchone()
    return int(row[0])


def _common(
    db: sqlite3.Connection, number: int, words: Sequence[str], query: Query, limit: int
) -> list[Sequence[object]]:
    """Every word is a common one: the newest that hold them all, ranked by their texts.

    Where only a few nodes are live, however many are not, all of those are ranked.
    """
    sql = (
        f"SELECT {_NODE} FROM words_{number} JOIN nodes_{number} n ON n.number ="
        f" words_{number}.rowid WHERE words_{number} MATCH ? AND n.live = 1"
        f" ORDER BY words_{number}.rowid DESC LIMIT ?"
    )
    rows = db.execute(
        f"SELECT {_NODE} FROM nodes_{number} n WHERE n.live = 1 LIMIT ?", (_FEW + 1,)
    ).fetchall()
    if len(rows) > _FEW:
        rows = db.execute(sql, (" AND ".join(map(quoted, words)), _CLOSER)).fetchall()
    if len(rows) < limit:
        rows += db.execute(sql, (quoted(words[0]), _CLOSER)).fetchall()
    by_id = {str(row[0]): row for row in rows}
    ranked = lexical.rank(query, [node_in("", row) for row in by_id.values()], limit)
    return [by_id[node.id] for node in ranked]


def _by_parts(db: sqlite3.Connection, number: int, query: Query) -> list[Sequence[object]]:
    """Texts of scripts without blanks, where the full text sees one long word."""
    found: list[Sequence[object]] = []
    for part in query.parts:
        found += db.execute(
            f"SELECT {_NODE} FROM nodes_{number} n WHERE n.live = 1"
            " AND instr(n.document, ?) LIMIT ?",
            (part, _CLOSER),
        ).fetchall()
    return found
