"""Texts and queries as people and machines write them, for property tests of people's search."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from core.recall.query import Query, parse

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

#: Few words, so that queries meet texts often.
WORDS = ("deploy", "Deployed", "run", "py", "not", "it", "s", "a", "b2", "zebra")
JOINTS = (" ", " ", " ", "  ", "/", ".", "_", "-", "'", ", ", "\n", "! ")
CJK = ("桂林", "林", "索引", "服务器", "デプロイ", "배포")


def asked(text: str) -> Query:
    """``text`` read at :data:`NOW`."""
    return parse(text, now=NOW)


def texts(words: tuple[str, ...] = WORDS) -> st.SearchStrategy[str]:
    """Short texts of known words with punctuation between."""
    part = st.tuples(st.sampled_from(words), st.sampled_from(JOINTS)).map("".join)
    return st.lists(part, max_size=8).map("".join)


def queries(words: tuple[str, ...] = WORDS) -> st.SearchStrategy[str]:
    """Queries of words, phrases, prefixes and operators, well formed or not."""
    word = st.sampled_from(words)
    term = st.one_of(
        word,
        word.map(lambda known: f"{known[: max(1, len(known) - 2)]}*"),
        st.tuples(word, word).map(lambda two: f'"{two[0]} {two[1]}"'),
        st.tuples(word, st.sampled_from("/._-'"), word).map("".join),
        word.map(lambda known: f"-{known}"),
        st.sampled_from(("AND", "OR", "OR", "NOT", "(", ")", '"')),
    )
    return st.lists(term, min_size=1, max_size=6).map(" ".join)
