"""Other words for one that nothing is spelled as: those it is a part of, or a slip away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.recall.index import fields

if TYPE_CHECKING:
    import tantivy

#: Words that are worth remembering: letters only, not the ids and numbers of tool output.
SHORTEST, LONGEST = 3, 32
#: Words looked at, and those that are taken: of words it is a part of, of slips.
_LOOKED_AT, _PARTS_TAKEN, _SLIPS_TAKEN = 256, 20, 3
#: Letters a word needs for one slip to be forgiven, and for two.
_ONE_SLIP, _TWO_SLIPS = 4, 8


def is_word(spelled: str) -> bool:
    """Whether a word belongs into the vocabulary."""
    return SHORTEST <= len(spelled) <= LONGEST and spelled.isalpha()


def others(
    asked: str, searcher: tantivy.Searcher, schema: tantivy.Schema, count: Callable[[str], int]
) -> tuple[str, ...]:
    """Words that may be meant by ``asked``, the most used first; ``count`` says how much.

    First the words it is a part of (``youer`` in ``youerserver``), else those one slip away, from
    eight letters on two: a letter more, less or another, or two letters turned round.
    """
    if len(asked) < SHORTEST or len(asked) > LONGEST:
        return ()
    import tantivy

    parts = [
        (tantivy.Occur.Must, tantivy.Query.term_query(schema, fields.PARTS, three, "basic"))
        for three in fields.threes(asked)
    ]
    within = [
        word for word in _found(tantivy.Query.boolean_query(parts), searcher) if asked in word
    ]
    if within:
        return _most_used(within, count)[:_PARTS_TAKEN]
    slips = (len(asked) >= _ONE_SLIP) + (len(asked) >= _TWO_SLIPS)
    for distance in range(1, slips + 1):
        near = tantivy.Query.fuzzy_term_query(schema, fields.WORD, asked, distance)
        found = _most_used(_found(near, searcher), count)
        if found:
            return found[:_SLIPS_TAKEN]
    return ()


def _found(query: tantivy.Query, searcher: tantivy.Searcher) -> list[str]:
    hits = searcher.search(query, _LOOKED_AT, count=False).hits
    return list(dict.fromkeys(searcher.doc(place)[fields.WORD][0] for _, place in hits))


def _most_used(words: list[str], count: Callable[[str], int]) -> tuple[str, ...]:
    used = {word: count(word) for word in words}
    return tuple(sorted((word for word in words if used[word]), key=lambda w: (-used[w], w)))
