"""Our patch matcher beside the agent's own: same place, same strategy, same text, same refusals."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from core.homes.hermes.patching.splicing import Splice, splice
from tests.interop.peer import Peer

pytestmark = pytest.mark.peer

SEED = 19_000
ROUNDS = 600
#: Each outcome must occur at least this often, or the comparison proves nothing about it.
ENOUGH = 100

CHAIN = (
    "exact",
    "line_trimmed",
    "whitespace_normalized",
    "indentation_flexible",
    "escape_normalized",
    "trimmed_boundary",
    "unicode_normalized",
    "block_anchor",
    "context_aware",
)
#: Never the first to match: both accept only what line_trimmed has accepted before.
SHADOWED = {"indentation_flexible", "trimmed_boundary"}

WORDS = (
    *[
        "open",
        "the",
        "valve",
        "and",
        "read",
        "gauge",
        "twice",
        "when",
        "tide",
        "turns",
        "before",
        "closing",
        "probe",
        "hull",
    ],
    *("it's", '"list"', "check", "every", "night", "café", "検査", "—", "“smart”", "…", "–"),
    *("a\u00a0b", '\\"quoted\\"', "can\\'t", "x=1", "C:\\temp"),
)
LEADS = ("", "", "- ", "1. ", "  ", "    ", "\t", "\t  ")
ODD = "ab  \t\n\n\r\\ntr'\"-—–…“\u00a0\u2028é"


@dataclass(frozen=True)
class Case:
    """One patch."""

    text: str
    old: str
    new: str
    replace_all: bool


class Maker:
    """Cases from one seed: ``texts`` of a few kinds, and old texts bent towards each strategy."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def cases(self, rounds: int) -> Iterator[Case]:
        bends: tuple[Callable[[str], str], ...] = (
            self.same,
            self.reindented,
            self.respaced,
            self.escaped,
            self.retyped,
            self.middle_changed,
            self.lines_changed,
            self.anything,
            self.noise,
        )
        for _ in range(rounds):
            for bend in bends:
                text = self.text()
                old = bend(text)
                new = self.new(old)
                if new == old and self.random.random() < 0.8:
                    new += self.random.choice(("!", "\n  more", "\\tx"))
                yield Case(text, old, new, self.random.random() < 0.5)

    # -- texts -----------------------------------------------------------------------------

    def text(self) -> str:
        kind = self.random.random()
        if kind < 0.15:
            return self.soup(60)
        if kind < 0.25:
            line = self.line()
            return "\n".join(
                self.random.choice((line, line + " ", " " + line, "")) for _ in "12345"
            )
        lines = [self.line() for _ in range(self.random.randint(1, 14))]
        if kind < 0.5:  # blocks with the same first and last line
            for place in range(0, len(lines), 4):
                lines[place] = "```"
        if kind > 0.95:  # long enough for difflib to drop popular characters
            lines = [" ".join(self.line() for _ in range(9)) for _ in lines[:4]]
        return "\n".join(lines) + self.random.choice(("", "\n", "\n\n", "  ", "\r\n"))

    def line(self) -> str:
        if self.random.random() < 0.15:
            return self.random.choice(("", "", " ", "\t"))
        words = self.random.choices(WORDS, k=self.random.randint(1, 8))
        gap = self.random.choice((" ", " ", " ", "  ", "\t", " \t "))
        return self.random.choice(LEADS) + gap.join(words) + self.random.choice(("", "", " ", "\r"))

    def soup(self, most: int) -> str:
        return "".join(self.random.choices(ODD, k=self.random.randint(0, most)))

    # -- old texts -------------------------------------------------------------------------

    def same(self, text: str) -> str:
        start = self.random.randint(0, len(text))
        return text[start : start + self.random.choice((1, 2, 5, 20, 60))]

    def lines(self, text: str, least: int = 1) -> list[str]:
        lines = text.split("\n")
        count = self.random.randint(least, least + 4)
        start = self.random.randint(0, max(0, len(lines) - count))
        return lines[start : start + count]

    def reindented(self, text: str) -> str:
        return "\n".join(
            self.random.choice(LEADS) + line.strip() + self.random.choice(("", " "))
            for line in self.lines(text)
        )

    def respaced(self, text: str) -> str:
        gaps = (" ", "  ", "\t", "\t ", " \t ")
        return "".join(
            self.random.choice(gaps) if c in " \t" else c for c in self.same(text)
        ) + self.random.choice(("", "", " "))

    def escaped(self, text: str) -> str:
        old = "\n".join(self.lines(text, 2))
        for real, spelled in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
            if self.random.random() < 0.8:
                old = old.replace(real, spelled)
        return old

    def retyped(self, text: str) -> str:
        pairs = [("—", "--"), ("–", "-"), ("…", "..."), ("“", '"'), ("”", '"'), ("\u00a0", " ")]
        old = self.same(text) if self.random.random() < 0.6 else self.reindented(text)
        for curly, plain in pairs:
            if self.random.random() < 0.85:
                old = old.replace(curly, plain)
            elif self.random.random() < 0.5:
                old = old.replace(plain, curly)
        return old

    def middle_changed(self, text: str) -> str:
        lines = self.lines(text, 3)
        changed = [self.typo(line, self.random.choice((0.1, 0.3, 0.5))) for line in lines[1:-1]]
        return "\n".join([lines[0], *changed, lines[-1]])

    def lines_changed(self, text: str) -> str:
        return "\n".join(
            self.line() if self.random.random() < 0.4 else self.typo(line, 0.08)
            for line in self.lines(text)
        )

    def typo(self, line: str, share: float) -> str:
        return "".join(
            self.random.choice(("", "z", c + c)) if self.random.random() < share else c
            for c in line
        )

    def anything(self, text: str) -> str:
        return self.text()

    def noise(self, text: str) -> str:
        return self.soup(6)

    # -- new texts -------------------------------------------------------------------------

    def new(self, old: str) -> str:
        kind = self.random.random()
        if kind < 0.02:
            return old
        if kind < 0.08:
            return ""
        if kind < 0.3:
            return self.text()
        new = self.typo(old, 0.1)
        if kind < 0.5:
            new = "\n".join(self.random.choice(LEADS) + line for line in new.split("\n"))
        if kind > 0.8:
            new = new.replace("\t", "\\t").replace("\r", "\\r")
        return new


def drifting(maker: Maker) -> Iterator[Case]:
    """Old and new with a backslash before a quote that the file may not have."""
    for case in maker.cases(60):
        quote = maker.random.choice("'\"")
        lines = case.text.split("\n")
        place = maker.random.randrange(len(lines))
        line = f"say it{quote}s the valve of the gauge"
        if maker.random.random() < 0.2:
            line += f" \\{quote}"
        lines[place] = line
        old = line.replace(quote, "\\" + quote) + maker.random.choice(("", " "))
        new = old if maker.random.random() < 0.3 else line
        yield Case("\n".join(lines), old, new + " twice", case.replace_all)


def compare(peer: Peer, case: Case) -> Splice:
    """Patch with both; fails with the case if anything differs."""
    mine = splice(case.text, case.old, case.new, replace_all=case.replace_all)
    arguments = [case.text, case.old, case.new, case.replace_all]
    text, count, strategy, error = ask(peer, "fuzzy_find_and_replace", arguments)
    assert mine.category == category(error), case
    assert mine.text == text, case
    if mine.category == "ok":
        assert mine.match is not None
        assert (mine.match.strategy, len(mine.match.spans)) == (strategy, count), case
    if case.old and case.old != case.new:
        found = mine.match and (mine.match.strategy, mine.match.spans)
        assert found == first_match(peer, case), case
    return mine


def first_match(peer: Peer, case: Case) -> tuple[str, tuple[tuple[int, int], ...]] | None:
    """What the agent's own strategies find, asked one by one: refusals do not tell."""
    for strategy in CHAIN:
        spans = ask(peer, f"_strategy_{strategy}", [case.text, case.old])
        if spans:
            return strategy, tuple((start, end) for start, end in spans)
    return None


def ask(peer: Peer, function: str, arguments: list[object]) -> list[Any]:
    answer = peer.call("invoke", target=f"tools.fuzzy_match:{function}", args=arguments)
    value = answer["value"]
    assert isinstance(value, list)
    return value


def category(error: object) -> str:
    """The agent's refusal in our words."""
    if error is None:
        return "ok"
    for words, meaning in (
        ("Could not find", "patch_no_match"),
        ("cannot be empty", "patch_no_match"),
        ("Escape-drift", "patch_escape_drift"),
        ("are identical", "patch_identical"),
        ("Provide more context", "patch_ambiguous"),
    ):
        if words in str(error):
            return meaning
    raise AssertionError(error)


def test_same_answer_on_thousands_of_generated_patches(peer: Peer) -> None:
    print(f"seed {SEED}")
    maker = Maker(SEED)
    cases = [*maker.cases(ROUNDS), *drifting(maker)]
    assert len(cases) > 3000
    results = [compare(peer, case) for case in cases]

    accepted = Counter(r.match.strategy for r in results if r.match and r.category == "ok")
    refused = Counter(r.category for r in results if r.category != "ok")
    several = sum(1 for r in results if r.category == "ok" and r.match and len(r.match.spans) > 1)
    print(accepted, refused, f"several spans {several}")
    assert {name for name, count in accepted.items() if count >= ENOUGH} == set(CHAIN) - SHADOWED
    assert refused["patch_no_match"] >= ENOUGH
    assert refused["patch_ambiguous"] >= ENOUGH
    assert refused["patch_escape_drift"] >= ENOUGH
    assert refused["patch_identical"] >= ENOUGH // 4
    assert several >= ENOUGH


def test_two_strategies_never_find_what_line_trimmed_does_not(peer: Peer) -> None:
    """Why signoff has no code for them."""
    maker = Maker(SEED + 1)
    found = Counter[str]()
    for case in maker.cases(60):
        arguments: list[object] = [case.text, case.old]
        if not case.old:
            continue
        trimmed = ask(peer, "_strategy_line_trimmed", arguments)
        for name in SHADOWED:
            spans = ask(peer, f"_strategy_{name}", arguments)
            found[name] += bool(spans)
            assert all(span in trimmed for span in spans), case
    assert min(found[name] for name in SHADOWED) >= 30, found


HARD = {
    "empty text": Case("", "a", "b", False),
    "empty old": Case("a", "", "b", True),
    "only line ends": Case("\n\n\n", "\n", "", True),
    "line end past the end": Case("a", "a\n", "b", False),
    "blank line matches half": Case("alpha\n\nbeta", "nothing like it\n", "x", False),
    "overlapping windows": Case(" x\n x\n x", "x \nx ", "y", True),
    "overlapping windows grow": Case(" x\n x\n x", "x \nx ", "y\ny\ny\ny", True),
    "agreement inside a dash": Case("a—b", "a--b", "a-x-b", False),
    "match inside a dash": Case("—x", "-x", "y", False),
    "dash cut at its end": Case("x — y", "x -", "z", False),
    "tabs at the end": Case("a b\t\t", "a  b ", "c", False),
    "spaces at the end": Case("a b   ", "a  b ", "c", False),
    "run before the match": Case("a    b c", "b  c", "X", False),
    "carriage returns": Case("a\r\nb\r\n", "a\nb", "c\\r\nd", False),
    "other line ends": Case("a\u2028b\x0bc\x85d", "a\u2028b  \x0bc", "e", False),
    "lone surrogate": Case("a\ud800 b", "a\ud800  b", "c\udfff", False),
    "identical long lines": Case(
        "q\n" + "ab" * 150 + "\nr\ns", "Q\n" + "ab" * 150 + "\nt\ns", "x", False
    ),
    "popular characters dropped": Case("k\n" + "abcd" * 60, "j\n" + "abdc" * 60, "x", False),
    "ratio of the old line first": Case("cbbcbaaa", "cbbcaaba", "x", False),
    "ratio of the file's line first": Case("cbbcaaba", "cbbcbaaa", "x", False),
    "ratio of the file's block first": Case("k\nbca\nm", "k\naba\nm", "x", False),
    "ratio of the old block first": Case("k\naba\nm", "k\nbca\nm", "x", False),
}


@pytest.mark.parametrize("name", HARD)
def test_same_answer_on_hard_cases(peer: Peer, name: str) -> None:
    compare(peer, HARD[name])


def test_a_no_match_is_settled_five_times_faster_than_by_the_agent(peer: Peer) -> None:
    """Labelling a long queue: three lines that stand nowhere in a file of 400."""
    maker = Maker(SEED + 2)

    def prose() -> str:
        return " ".join(maker.random.choices(WORDS, k=maker.random.randint(5, 12)))

    text = "\n".join(prose() if maker.random.random() < 0.8 else "" for _ in range(400))
    olds = ["\n".join(prose() for _ in range(3)) for _ in range(5)]

    mine = time.perf_counter()
    results = [splice(text, old, "x", replace_all=False) for old in olds]
    theirs = time.perf_counter()
    answers = [ask(peer, "fuzzy_find_and_replace", [text, old, "x", False]) for old in olds]
    end = time.perf_counter()

    assert [result.category for result in results] == ["patch_no_match"] * 5
    assert [category(answer[3]) for answer in answers] == ["patch_no_match"] * 5
    figures = [(theirs - mine) / 5 * 1000, (end - theirs) / 5 * 1000]
    print("ms per patch: {:.2f} here, {:.1f} there".format(*figures))
    assert figures[0] * 5 < figures[1]
