"""Indexes for tests: messages made by a rule, fed without ceremony."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from core.recall.index import Category, Document, Index
from tests.core.recall.strategies import CJK, JOINTS, WORDS

CATEGORIES = tuple(Category)


def document(number: int, text: str, category: Category = Category.SAID) -> Document:
    """A message of session ``s<tens>``, one a second."""
    role = "user" if number % 2 else "assistant"
    return Document(number, f"s{number // 10}", role, category, 1_000.0 + number, text, "cli")


def documents(count: int, seed: int = 1) -> list[Document]:
    """``count`` messages of few words, in every category."""
    chosen = random.Random(seed)
    made = []
    for number in range(1, count + 1):
        words = chosen.choices(WORDS + CJK, k=chosen.randrange(12))
        text = "".join(word + chosen.choice(JOINTS) for word in words)
        made.append(document(number, text, chosen.choice(CATEGORIES)))
    return made


def feed(
    index: Index,
    messages: Sequence[Document],
    identity: str = "one",
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Feed ``messages`` as a home would."""

    def after(known: int) -> Iterator[Document]:
        return (message for message in messages if message.id > known)

    return index.feed(
        identity, after, total=len(messages), progress=lambda _: None, cancelled=cancelled
    )


def built(folder: Path, messages: Sequence[Document]) -> Index:
    """An index of ``messages``, ready."""
    index = Index(folder)
    assert feed(index, messages)
    return index
