"""Which facts of an entry go when a replacement aimed at a part of it replaces the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Ends of lines, sentences and clauses, in Latin and CJK writing.
_BREAK = re.compile(r"\n+|[;；。、，！？]\s*|[.!?,:]\s+|\s+[-–—|/]\s+")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
#: Words that say nothing about whether a fact survived.
_FILLERS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "have"),
        *("he", "her", "his", "in", "is", "it", "its", "of", "on", "or", "she", "that", "the"),
        *("their", "they", "this", "to", "was", "were", "with"),
    ]
)
_WORDS_NAMED = 12
#: What ends a sentence or a clause, and a text that is a sentence (or several).
_ENDS = (".", "!", "?", ";", ":", ",", "。", "！", "？", "；", "、", "，")
_SENTENCE = re.compile(r"[^\Wa-z_].*[.!?。！？]", re.DOTALL)


def losses(entry: str, old_text: str, content: str) -> tuple[str, ...]:
    """The words that vanish with clauses beside ``old_text``; empty if nothing of weight does.

    A clause (a line, a sentence, what stands between commas) counts as lost when at least half of
    its words are not in ``content``; words are compared without case, small words left out. The
    clauses ``old_text`` itself touches are what the proposal is about, so they are not judged.
    """
    if old_text == entry or not old_text:
        return ()
    kept = {word.casefold() for word in _WORD.findall(content)}
    lost: dict[str, None] = {}
    for clause in _beside(entry, old_text):
        words = _WORD.findall(clause)
        telling = [word for word in words if word.casefold() not in _FILLERS] or words
        gone = [word for word in telling if word.casefold() not in kept]
        if gone and len(gone) * 2 >= len(telling):
            lost.update(dict.fromkeys(gone))
    named = tuple(lost)
    if len(named) > _WORDS_NAMED:
        return (*named[:_WORDS_NAMED], f"and {len(named) - _WORDS_NAMED} more")
    return named


def fits(entry: str, old_text: str, content: str) -> bool:
    """Whether ``content`` can stand where ``old_text`` stands once in ``entry``.

    A whole sentence does not fit into the middle of a clause.
    """
    if entry.count(old_text) != 1:
        return False
    before, _, behind = entry.partition(old_text)
    head, content, tail = trimmed(before, content, behind)
    if not _SENTENCE.fullmatch(content.strip()):
        return True
    begins = not head.strip() or head.endswith("\n") or head.rstrip()[-1] in _ENDS
    return begins and (not tail.strip() or behind.startswith(("\n", *_ENDS)))


def trimmed(head: str, content: str, tail: str) -> tuple[str, str, str]:
    """The three so that what the new text repeats of its surroundings stands there once."""
    for word in _WORD.finditer(head):
        if content.startswith(head[word.start() :]):
            head = head[: word.start()]
            break
    for word in reversed(list(_WORD.finditer(tail))):
        said = tail[: word.end()]
        if content.endswith(said) or content.rstrip(".").endswith(said):
            content = content if content.endswith(said) else content.rstrip(".")
            tail = tail[word.end() :]
            break
    if tail[:1] and tail[:1] in ".!?" and content.endswith(tail[0]):
        tail = tail[1:]
    return head, content, tail


def _beside(entry: str, old_text: str) -> Iterator[str]:
    touched = [(hit.start(), hit.end()) for hit in re.finditer(re.escape(old_text), entry)]
    start = 0
    for stop, following in (
        *((b.start(), b.end()) for b in _BREAK.finditer(entry)),
        (len(entry),) * 2,
    ):
        if all(end <= start or begin >= stop for begin, end in touched):
            yield entry[start:stop]
        start = following
