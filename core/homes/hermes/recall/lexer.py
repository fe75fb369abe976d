"""What the agent makes of a query before SQLite reads it, under both rules.

Source: hermes-agent 0.19.0, executed; the wider set of stripped characters of the newer agent as
described (specs, hermes-sessions 3.2). Oracle: ``sanitizer.json``. The steps are kept apart and in
the agent's order, since what one of them leaves is what the next one sees.
"""

from __future__ import annotations

import re

from core.homes.hermes.recall import cjk
from core.homes.hermes.rules import Rules

#: Characters of a query that are read at all.
LONGEST = 2048
#: Words that SQLite's full text takes for operators.
OPERATORS = frozenset({"AND", "OR", "NOT"})

_PHRASE = re.compile(r'"[^"]*"')
_STRIPPED = {
    Rules.V0_19: re.compile(r'[+{}():"^]'),
    Rules.NEWEST: re.compile(r"""[+{}():"^@/#&|~\[\]<>,;!?$=\\']"""),
}
_STARS = re.compile(r"\*+")
_LEADING_STAR = re.compile(r"(^|\s)\*")
_OPERATOR_FIRST = re.compile(r"^(?:AND|OR|NOT)\b\s*", re.IGNORECASE)
_OPERATOR_LAST = re.compile(r"\s+(?:AND|OR|NOT)\s*$", re.IGNORECASE)
_COMPOUND = re.compile(r"\b\w+(?:[._-]\w+)+\b")


def effective(query: str, rules: Rules) -> str:
    """The text that full text is asked for ``query``; ``""`` when nothing is left to ask.

    Quoted phrases stay as they are, what SQLite would stumble over becomes a space, one dangling
    operator goes at either end, and words joined by ``.``, ``_`` or ``-`` become a phrase.
    """
    phrases: list[str] = []

    def set_aside(found: re.Match[str]) -> str:
        phrases.append(found[0])
        return _place(len(phrases) - 1)

    text = _PHRASE.sub(set_aside, query[:LONGEST])
    text = _STRIPPED[rules].sub(" ", text)
    if rules is Rules.NEWEST and not cjk.contains(text):
        # The search for CJK text needs a percent sign as it is.
        text = text.replace("%", " ")
    text = _LEADING_STAR.sub(r"\1", _STARS.sub("*", text))
    text = _OPERATOR_FIRST.sub("", text.strip())
    text = _OPERATOR_LAST.sub("", text.strip())
    text = _COMPOUND.sub(r'"\g<0>"', text)
    for number, phrase in enumerate(phrases):
        text = text.replace(_place(number), phrase)
    return text.strip()


def is_operator(token: str) -> bool:
    """Whether ``token`` is AND, OR or NOT, in any case."""
    return token.upper() in OPERATORS


def words(text: str) -> list[str]:
    """The tokens between blanks that are no operators."""
    return [token for token in text.split() if not is_operator(token)]


def quoted(text: str) -> str:
    """``text`` with every token a phrase of its own; operators stay."""
    return " ".join(
        token if is_operator(token) else '"' + token.replace('"', '""') + '"'
        for token in text.split()
    )


def bare(text: str) -> str:
    """``text`` without the quotes and blanks around all of it."""
    return text.strip('"').strip()


def _place(number: int) -> str:
    return f"\0Q{number}\0"
