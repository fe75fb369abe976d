"""Where :mod:`core.homes.hermes.recall` differs from the agent on purpose, and why.

Every entry is named where the code does it; the tests beside the real agent allow these and
nothing else. Not a deviation: the answers that look wrong and are the agent's own (an empty answer
for a query SQLite refuses, rewound rows in windows, a profile that 0.19 cannot search).
"""

from __future__ import annotations

from enum import StrEnum


class Deviation(StrEnum):
    """The value says what signoff does instead."""

    PREFIX = "the @session: of a pasted link is no part of a profile's name (spec 2, step 1)"
    NO_INDEX = (
        "a database without its index is read row by row and says so; the agent would write a "
        "new index (spec 7, case 14)"
    )
    BUSY = "a database that stays locked is an error; the agent finds nothing (spec 1.3, point 9)"
    UNMADE = (
        "a database that is missing, or has no table yet, has no sessions; the agent would make "
        "its tables first, or trip over them in another profile (spec 7, case 14)"
    )
    INFINITE = (
        "an infinite number is no number, and its default is used; the agent's tool breaks off"
    )
    BYTES = (
        "a value stored as bytes, or as text that is no UTF-8, is read as text; the agent's tool "
        "breaks off. Only where browsing says so itself is its error kept"
    )
    CYCLE = "a chain of compactions that comes back to itself ends; the agent's query does not"
    BIGRAMS = (
        "newest: the agent's index of CJK pairs needs a tokenizer of its own and is never read; "
        "trigrams or the rows themselves answer (spec 1.3, point 11)"
    )
    DEADLINE = "newest: browsing ends when it is done, not after three seconds (spec 2.4)"
    HINTS = "newest: the hints to the model are in signoff's words (spec 2.1 and 2.2)"
