"""The query language of people's search. Reading a query never fails.

::

    deploy failed          both words in one message
    "deploy failed"        the words together; so is a word with punctuation inside (run.py)
    deploy*                words that begin so
    docker OR podman       either; binds weaker than words side by side; ( ) group
    docker NOT swarm       without; the same as docker -swarm
    source:cli role:user after:7d before:2026-07-01 title:"deploy fix" in:signoff

Only AND, OR and NOT in capitals are operators: ``not working`` looks for both words. What does not
parse is read word by word, and said (``Query.literally``). ``in:`` takes a pasted
``@session:profile/id``, a session's id or its beginning (no slash, six digits or more), or else a
part of a workspace's path. Filters hold for the whole query, wherever they stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import TypeAlias

from core.conversations import Filters
from core.recall import filters as narrowing
from core.recall.words import flat, is_cjk, words

#: Characters of a query that are read; what follows is left out, with a note.
LONGEST = 2_048
#: Groups inside groups that are read as such.
_DEEPEST = 8

_LEXEME = re.compile(
    r"""\s+
    | (?P<name>source|role|after|before|title|in):(?P<value>"[^"]*"|[^\s"]*)
    | (?P<minus>-(?=["\w]))?(?:"(?P<phrase>[^"]*)"(?P<star>\*)? | (?P<word>[^\s"]+) | (?P<stray>"))
    """,
    re.VERBOSE,
)
_OUTSIDE = re.compile(r"^[\W_]+|[\W_]+$")
_BARE = re.compile(r"[^\W_](?:[\w./@'-]*[^\W_])?")
_OPERATORS = ("AND", "OR", "NOT")


@dataclass(frozen=True, slots=True)
class Term:
    """Words that stand together, one or several, folded; ``prefix`` lets the last be longer.

    ``shown`` is what was typed, without the punctuation around it.
    """

    words: tuple[str, ...]
    prefix: bool = False
    shown: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class All:
    """Every one of ``of`` (never empty), none of ``without``, in one message."""

    of: tuple[Node, ...]
    without: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of ``of``."""

    of: tuple[Node, ...]


Node: TypeAlias = Term | All | Either


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it was understood.

    ``terms`` is ``None`` where no words are asked; ``symbols`` are then what was typed without a
    letter or digit (an emoji, ``->``), which only a look at every text can find. ``effective`` is
    what will run and reads back as the same query; ``literally`` says operators, dashes or quotes
    were taken for plain text; ``notes`` are sentences about what was not understood.
    """

    text: str
    terms: Node | None = None
    filters: Filters = field(default_factory=Filters)
    effective: str = ""
    literally: bool = False
    notes: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked of a message's text; filters may still be set."""
        return self.terms is None and not self.symbols


def parse(text: str, *, now: datetime, zone: tzinfo | None = UTC) -> Query:
    """Read ``text``. ``now`` is where ages like ``7d`` count from, ``zone`` what naive times mean
    (``None``: this machine's).

    Never raises; a filter with a bad value is left out with a note.
    """
    reader = _Lexer(narrowing.Clock(now, zone))
    reader.read(text[:LONGEST])
    if len(text) > LONGEST:
        reader.notes.append(f"Only the first {LONGEST:,} characters of the query were read.")
    found = reader.filters
    if found.after is not None and found.before is not None and found.after >= found.before:
        reader.notes.append("Nothing lies between after: and before:.")
    terms, literally = _tree(reader.lexemes)
    symbols = () if terms else tuple(reader.symbols)
    plain = (f'"{sign}"' if set(sign) & set("()- ") else sign for sign in symbols)
    effective = " ".join(filter(None, (_written(terms), *plain, *reader.kept)))
    return Query(
        text,
        terms,
        found,
        effective,
        literally or reader.literally,
        tuple(reader.notes),
        symbols,
    )


def matches(query: Query, text: str) -> bool:
    """Whether a message's ``text`` answers the words of ``query``; filters are not asked.

    Exact: words are those of :mod:`core.recall.words`; a query without words matches all.
    """
    return matches_flat(query, text, flat(text) if query.terms is not None else "")


def matches_flat(query: Query, text: str, flattened: str) -> bool:
    """:func:`matches` for a text whose :func:`core.recall.words.flat` form is at hand."""
    if query.terms is not None:
        return _holds(query.terms, flattened)
    return all(symbol in text for symbol in query.symbols)


def needles(query: Query) -> tuple[str, ...]:
    """Texts that stand in the :func:`core.recall.words.flat` form of every text that answers.

    None where nothing can be named, as for words of which any will do.
    """
    node = query.terms
    parts = node.of if isinstance(node, All) else (node,)
    return tuple(_needle(part) for part in parts if isinstance(part, Term))


def fts(query: Query) -> str:
    """The words of ``query`` as a MATCH expression of SQLite's FTS5 that always parses.

    Every term is a quoted phrase as typed, so any tokenizer may cut it: ``unicode61`` for words,
    ``trigram`` for parts of words of three characters or more. ``unicode61`` finds no part of a run
    of CJK: see :func:`core.recall.words.is_cjk`. ``""`` in quotes, which matches nothing, where
    no words are asked.
    """
    return '""' if query.terms is None else _match(query.terms)


def wanted(node: Node | None) -> tuple[Term, ...]:
    """The terms that a match shows: all but those to be without."""
    if node is None:
        return ()
    if isinstance(node, Term):
        return (node,)
    return tuple(dict.fromkeys(term for part in node.of for term in wanted(part)))


def respelled(query: Query, instead: Mapping[str, Sequence[str]]) -> Query:
    """``query`` with words read as others: asked -> the words found (any of them will do)."""
    if query.terms is None:
        return query
    terms = _respelled(query.terms, instead)
    return replace(query, terms=terms, effective=_written(terms))


# -- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Lexeme:
    """A term, a bracket or an operator: ``kind`` is ``term``, ``(``, ``)``, AND, OR or NOT."""

    kind: str
    term: Term | None = None


class _Lexer:
    """Cuts a query into lexemes and takes its filters out."""

    def __init__(self, clock: narrowing.Clock) -> None:
        self.lexemes: list[_Lexeme] = []
        self.filters = Filters()
        self.kept: list[str] = []
        self.notes: list[str] = []
        self.symbols: list[str] = []
        self.literally = False
        self._clock = clock

    def read(self, text: str) -> None:
        """Take all of ``text`` in."""
        at = 0
        while found := _LEXEME.match(text, at):
            at = found.end()
            if found["name"]:
                self._filter(found["name"], found["value"])
            elif found["stray"]:
                self.literally = True
            elif found["phrase"] is not None:
                self._sign(found["minus"])
                self._term(found["phrase"], prefix=bool(found["star"]))
            elif found["word"]:
                self._word(found["minus"], found["word"])
                self._slip(found["word"], text[at : at + 1])

    def _filter(self, name: str, value: str) -> None:
        bare = value.strip('"')
        after = narrowing.apply(self.filters, name, bare, self._clock)
        if isinstance(after, str):
            self.notes.append(f"{after}.")
            return
        self.filters = after
        self.kept.append(f'{name}:"{bare}"' if " " in bare else f"{name}:{bare}")

    def _slip(self, word: str, behind: str) -> None:
        name, colon, value = word.lstrip("(").partition(":")
        if not colon or value.startswith("//") or not (value or behind == '"'):
            return
        if name not in narrowing.NAMES and (meant := narrowing.meant(name)):
            self.notes.append(
                f"No filter is called {name}:, so it was searched as words."
                f" Did you mean {meant}:{value.rstrip(')')}?"
            )

    def _sign(self, minus: str | None) -> None:
        if minus:
            self.lexemes.append(_Lexeme("NOT"))

    def _word(self, minus: str | None, word: str) -> None:
        name, colon, _ = word.partition(":")
        if minus and colon and name in narrowing.NAMES:
            self.notes.append(f"-{word} is left out: a filter cannot be turned round.")
            return
        if word in _OPERATORS and not minus:
            self.lexemes.append(_Lexeme(word))
            return
        opens = len(word) - len(word.lstrip("("))
        inner = word[opens:]
        closes = min(len(inner) - len(inner.rstrip(")")), max(0, _surplus(inner)))
        inner = inner[: len(inner) - closes]
        self.lexemes += [_Lexeme("(")] * opens
        if inner in _OPERATORS:
            self.lexemes.append(_Lexeme(inner))
        elif inner:
            self.literally |= "`" in inner or inner.startswith("--")
            if inner[0] == "-" and words(inner[1:2]):
                minus, inner = "-", inner[1:]
            self._sign(minus)
            self._term(inner, prefix=inner.endswith("*") and bool(words(inner.rstrip("*")[-1:])))
        self.lexemes += [_Lexeme(")")] * closes

    def _term(self, typed: str, *, prefix: bool) -> None:
        found = words(typed)
        if not found:
            # Punctuation beside words finds nothing a word would not.
            if self.lexemes and self.lexemes[-1].kind == "NOT":
                self.lexemes.pop()
            if typed.strip():
                self.symbols.append(typed.strip())
            return
        shown = _OUTSIDE.sub("", typed)
        self.lexemes.append(
            _Lexeme("term", Term(found, prefix and not is_cjk(found[-1]), shown or found[0]))
        )


def _surplus(word: str) -> int:
    return word.count(")") - word.count("(")


def _tree(lexemes: list[_Lexeme]) -> tuple[Node | None, bool]:
    """The boolean form, and whether operators had to be dropped for it."""
    if not any(lexeme.term for lexeme in lexemes):
        asked = [Term(words(sign.kind), shown=sign.kind) for sign in lexemes if len(sign.kind) > 1]
        return _all(asked), bool(asked)
    if not _are_paired(lexemes):
        lexemes = [lexeme for lexeme in lexemes if lexeme.kind not in "()"]
    try:
        return _Reader(lexemes).whole(), False
    except _UnreadableError:
        return _all([lexeme.term for lexeme in lexemes if lexeme.term]), True


def _all(nodes: Sequence[Node], without: Sequence[Node] = ()) -> Node | None:
    if not nodes:
        return None
    return nodes[0] if len(nodes) == 1 and not without else All(tuple(nodes), tuple(without))


def _are_paired(lexemes: list[_Lexeme]) -> bool:
    depth = 0
    for lexeme in lexemes:
        depth += {"(": 1, ")": -1}.get(lexeme.kind, 0)
        if depth not in range(_DEEPEST + 1):
            return False
    return depth == 0


class _UnreadableError(Exception):
    """The operators do not make sense together."""


class _Reader:
    """Recursive descent over lexemes: either, all, one."""

    def __init__(self, lexemes: list[_Lexeme]) -> None:
        self._rest = lexemes[::-1]

    def whole(self) -> Node:
        node = self._either()
        if self._rest:
            raise _UnreadableError
        return node

    def _next(self) -> str:
        return self._rest[-1].kind if self._rest else ""

    def _either(self) -> Node:
        found = [self._all()]
        while self._next() == "OR":
            self._rest.pop()
            found.append(self._all())
        if len(found) == 1:
            return found[0]
        return Either(
            tuple(x for one in found for x in (one.of if isinstance(one, Either) else (one,)))
        )

    def _all(self) -> Node:
        of: list[Node] = []
        without: list[Node] = []
        while True:
            if self._next() == "AND" and (of or without):
                self._rest.pop()
            elif self._next() in ("OR", ")", ""):
                break
            negative = self._next() == "NOT"
            if negative:
                self._rest.pop()
            one = self._one()
            if negative:
                without.append(one)
            elif isinstance(one, All):
                of += one.of
                without += one.without
            else:
                of.append(one)
        node = _all(of, without)
        if node is None:
            raise _UnreadableError
        return node

    def _one(self) -> Node:
        lexeme = self._rest.pop() if self._rest else _Lexeme("")
        if lexeme.term:
            return lexeme.term
        if lexeme.kind != "(":
            raise _UnreadableError
        node = self._either()
        if self._next() != ")":
            raise _UnreadableError
        self._rest.pop()
        return node


# -- the tree at work --------------------------------------------------------------------------


def _holds(node: Node, flattened: str) -> bool:
    if isinstance(node, Term):
        return _needle(node) in flattened
    if isinstance(node, Either):
        return any(_holds(part, flattened) for part in node.of)
    return all(_holds(part, flattened) for part in node.of) and not any(
        _holds(part, flattened) for part in node.without
    )


def _needle(term: Term) -> str:
    return f" {' '.join(term.words)}{'' if term.prefix else ' '}"


def _match(node: Node) -> str:
    if isinstance(node, Term):
        typed = "".join(c if c.isprintable() else " " for c in node.shown)
        spelled = [typed]
        if not typed.isascii():
            # JSON, as calls and structures are stored, has escapes instead, one for each case.
            cases = (typed, typed.lower(), typed.capitalize(), typed.upper())
            alike = [case for case in cases if len(case) == len(typed)]
            spelled += dict.fromkeys(json.dumps(case)[1:-1] for case in alike)
        quoted = ['"' + one.replace('"', '""') + '"' + "*" * node.prefix for one in spelled]
        return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"
    joined = (" OR " if isinstance(node, Either) else " AND ").join(map(_match, node.of))
    if isinstance(node, All) and node.without:
        return f"(({joined}) NOT ({' OR '.join(map(_match, node.without))}))"
    return f"({joined})"


def _written(node: Node | None) -> str:
    if node is None:
        return ""
    if isinstance(node, Term):
        bare = _BARE.fullmatch(node.shown) and node.shown not in _OPERATORS
        star = "*" if node.prefix else ""
        return f"{node.shown}{star}" if bare else f'"{node.shown}"{star}'
    if isinstance(node, Either):
        return " OR ".join(map(_written, node.of))
    parts = [_grouped(part, Either) for part in node.of]
    parts += ["NOT " + _grouped(part, (Either, All)) for part in node.without]
    return " ".join(parts)


def _grouped(node: Node, kinds: type[Node] | tuple[type[Node], ...]) -> str:
    return f"({_written(node)})" if isinstance(node, kinds) else _written(node)


def _respelled(node: Node, instead: Mapping[str, Sequence[str]]) -> Node:
    if isinstance(node, Either):
        return Either(tuple(_respelled(part, instead) for part in node.of))
    if isinstance(node, All):
        return All(tuple(_respelled(part, instead) for part in node.of), node.without)
    if len(node.words) == 1 and node.words[0] in instead:
        others = tuple(Term((word,), shown=word) for word in instead[node.words[0]])
        return others[0] if len(others) == 1 else Either(others)
    if not any(word in instead for word in node.words):
        return node
    spelled = tuple(instead[word][0] if word in instead else word for word in node.words)
    return Term(spelled, node.prefix, " ".join(spelled))
