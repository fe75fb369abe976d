"""A people's query as a query of tantivy, one category at a time."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import TYPE_CHECKING

from core.conversations import Filters
from core.recall.index import fields
from core.recall.index.records import Category
from core.recall.query import Either, Node, Term
from core.recall.words import is_cjk

if TYPE_CHECKING:
    import tantivy

_EVER = 1e300


def compiled(node: Node, category: Category, schema: tantivy.Schema) -> tantivy.Query:
    """What finds the messages of ``category`` that answer ``node``, exactly."""
    import tantivy

    ask = tantivy.Query
    if isinstance(node, Term):
        return _term(node, category, schema)
    if isinstance(node, Either):
        return ask.boolean_query(
            [(tantivy.Occur.Should, compiled(part, category, schema)) for part in node.of]
        )
    return ask.boolean_query(
        [(tantivy.Occur.Must, compiled(part, category, schema)) for part in node.of]
        + [(tantivy.Occur.MustNot, compiled(part, category, schema)) for part in node.without]
    )


def narrowing(
    filters: Filters, sessions: Collection[str] | None, schema: tantivy.Schema
) -> list[tantivy.Query]:
    """What the index knows of ``filters``, and ``sessions`` if given; thousands of these take
    longer to write down than to look for, so once for a search."""
    import tantivy

    ask = tantivy.Query
    if sessions is not None and not sessions:
        return [ask.empty_query()]
    within: list[tantivy.Query] = []
    for name, values in (
        (fields.SOURCE, filters.sources),
        (fields.ROLE, filters.roles),
        (fields.SESSION, (filters.session_id,) if filters.session_id else ()),
        (fields.SESSION, sessions or ()),
    ):
        if values:
            storable = [fields.storable(value) for value in values]
            within.append(ask.term_set_query(schema, name, storable))
    if filters.after is not None or filters.before is not None:
        within.append(
            ask.range_query(
                schema,
                fields.AT,
                tantivy.FieldType.Float,
                -_EVER if filters.after is None else filters.after,
                _EVER if filters.before is None else filters.before,
                include_upper=False,
            )
        )
    return [ask.const_score_query(one, 0.0) for one in within]


def narrowed(query: tantivy.Query, within: list[tantivy.Query]) -> tantivy.Query:
    """``query`` within each of ``within``."""
    import tantivy

    if not within:
        return query
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, one) for one in (query, *within)])


def lookup(node: Node | None, category: Category) -> tuple[str, str] | None:
    """The field and term that alone decide ``node``, if one does."""
    if isinstance(node, Term) and not node.prefix:
        if len(node.words) == 1:
            return fields.WORDS[category], node.words[0]
        if len(node.words) == 2 and is_cjk(node.words[0]) and is_cjk(node.words[1]):
            return fields.PAIRS[category], "".join(node.words)
    return None


def has_rank(node: Node) -> bool:
    """Whether anything in ``node`` tells a better match from a worse: a prefix does not."""
    if isinstance(node, Term):
        return not node.prefix or len(node.words) > 1
    return any(map(has_rank, node.of))


def _term(term: Term, category: Category, schema: tantivy.Schema) -> tantivy.Query:
    import tantivy

    ask = tantivy.Query
    whole = lookup(term, category)
    if whole:
        return ask.term_query(schema, *whole, "freq")
    name = fields.WORDS[category]
    if len(term.words) == 1:
        return ask.regex_query(schema, name, f"{term.words[0]}.*")
    words: list[str | tuple[int, str]] = list(term.words)
    if term.prefix:
        # Letters and digits only: nothing in a word is special to an expression.
        return ask.regex_phrase_query(schema, name, [*words[:-1], f"{term.words[-1]}.*"])
    phrase = ask.phrase_query(schema, name, words)
    together = [a + b for a, b in itertools.pairwise(term.words) if is_cjk(a) and is_cjk(b)]
    if not together:
        return phrase
    # Single characters are common; the pairs of them lead to the few messages worth a look.
    rare = [ask.term_query(schema, fields.PAIRS[category], pair, "basic") for pair in together]
    return ask.boolean_query(
        [(tantivy.Occur.Must, phrase)]
        + [(tantivy.Occur.Must, ask.const_score_query(one, 0.0)) for one in rare]
    )
