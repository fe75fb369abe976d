"""The fields of the index, and a message as a document of it.

Every category has two fields: ``words_*`` with the words of a message and their places, and
``pairs_*`` with every two characters that stand together in a script without spaces, so that two
of them are one look-up. ``id``, ``at`` and ``group`` are columns; session, role and source are
looked up.
Nothing is stored: a document cannot be read back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from core.recall.index.records import Category, Document
from core.recall.words import flat, pairs

if TYPE_CHECKING:
    import tantivy

WORDS = {category: f"words_{category.value}" for category in Category}
PAIRS = {category: f"pairs_{category.value}" for category in Category}
ID, AT, GROUP = "id", "at", "group"
SESSION, ROLE, SOURCE = "session", "role", "source"
#: The vocabulary's: a word as it is, and every three letters of it.
WORD, PARTS = "word", "parts"
#: Words come folded and spaced, so that core.recall.words alone says what a word is.
_SPACED = "whitespace"
#: Characters of a message that become words in one go; a phrase across such a border is lost.
_STRETCH = 250_000


def messages_schema() -> tantivy.Schema:
    """The schema of the messages."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(ID, fast=True, indexed=True)
    builder.add_integer_field(GROUP, fast=True)
    builder.add_float_field(AT, fast=True)
    for category in Category:
        builder.add_text_field(WORDS[category], tokenizer_name=_SPACED, index_option="position")
        builder.add_text_field(PAIRS[category], tokenizer_name=_SPACED, index_option="basic")
    for name in (SESSION, ROLE, SOURCE):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    return builder.build()


def vocabulary_schema() -> tantivy.Schema:
    """The schema of the words seen, which spelling is looked up in."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field(WORD, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(PARTS, tokenizer_name=_SPACED, index_option="basic")
    return builder.build()


def stretches(text: str) -> Iterator[str]:
    """The words of ``text``, spaced, some at a time: the longest message must fit in memory."""
    start = 0
    while len(text) - start > _STRETCH:
        cut = text.rfind(" ", start + _STRETCH // 2, start + _STRETCH) + 1 or start + _STRETCH
        yield flat(text[start:cut])
        start = cut
    yield flat(text[start:])


def message(document: Document, parts: list[str]) -> tantivy.Document:
    """``document``, whose words are ``parts``, as tantivy takes it."""
    import tantivy

    made = tantivy.Document()
    made.add_integer(ID, document.id)
    if document.at is not None:
        made.add_float(AT, document.at)
    made.add_integer(GROUP, group(document.session_id))
    made.add_text(SESSION, storable(document.session_id))
    made.add_text(ROLE, storable(document.role))
    made.add_text(SOURCE, storable(document.source.lower()))
    for part in parts:
        made.add_text(WORDS[document.category], part)
        together = pairs(part)
        if together:
            made.add_text(PAIRS[document.category], " ".join(together))
    return made


@lru_cache(maxsize=4_096)
def group(session_id: str) -> int:
    """A number for a session, the same in every process: 63 bits of a digest."""
    digest = hashlib.blake2b(session_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def word(spelled: str) -> tantivy.Document:
    """A word of the vocabulary."""
    import tantivy

    made = tantivy.Document()
    made.add_text(WORD, spelled)
    made.add_text(PARTS, " ".join(threes(spelled)))
    return made


def threes(spelled: str) -> list[str]:
    """Every three letters that stand together in a word."""
    return [spelled[at : at + 3] for at in range(len(spelled) - 2)]


def storable(text: str) -> str:
    """``text`` without half characters, which have no UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
