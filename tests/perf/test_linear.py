"""Hostile and long texts take time in proportion to their length, whatever reads them.

The processor's time is taken: what else the machine does is left out.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from functools import partial

import pytest

from core import diff, text
from core.homes.hermes.advice.places import Place
from core.homes.hermes.scanners.memory import WINDOW, scan
from core.homes.hermes.scanners.skills import CRITICAL, NOTED
from core.homes.hermes.scanners.threats import Pattern
from core.recall.redact import Redactor
from tests.core.hermes import test_skill_scan as skills
from tests.core.hermes.test_advice import DETECTORS, PARTS
from tests.core.hermes.test_scanner import SAMPLES
from tests.core.test_diff import HOSTILE

#: Steps of the plain loop that is the yardstick: some milliseconds.
STEPS = 500_000
SECRETS = ["a://", "a:b@", "password: ", "token=", "sk-", "a.", "a_", "-----BEGIN PRIVATE KEY-----", "-u a:", "eyJabcdefgh.", "A", "authorization: ", "1:AA", "key", "--token ", "cookie: a=", "mysql ", "<password>", "| password ", "|a", "\\", "\\n", "\x1b[1m", "%20", 'password="a ']  # fmt: skip


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The quickest of some runs of ``work``, without the garbage collector."""
    took = []
    gc.disable()
    try:
        for _ in range(times):
            started = time.process_time()
            work()
            took.append(time.process_time() - started)
    finally:
        gc.enable()
    return min(took)


def exhaust(detector: Callable[[str], Iterable[Place]], text: str) -> None:
    for _ in detector(text):
        pass


def yardstick() -> float:
    """Seconds of an empty loop."""

    def loop() -> None:
        for _ in range(STEPS):
            pass

    return seconds(loop)


def floods(sample: str, size: int) -> list[str]:
    """Texts that make a backtracking matcher try again and again."""
    words = sample.split()
    near = sample.rstrip()[:-1]
    half = len(words) // 2
    return [
        text[:size]
        for text in (
            (words[0] + " ") * size,
            (near + " ") * size,
            near + " " * size,
            words[0] + " " * size + "x",
            " ".join(words[:half]) + " x" * size,
            (" " * (size // 8)).join(words[:-1]),
            (words[-1] + " ") * (size // 4) + near,
            (words[0] + "\u0301\u3000") * size,
        )
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_twice_the_memory_takes_about_twice_the_time(name: str) -> None:
    pairs = zip(floods(SAMPLES[name], 32_768), floods(SAMPLES[name], 65_536), strict=True)
    for short, long in pairs:
        quick = seconds(partial(scan, short), 2)
        assert seconds(partial(scan, long), 2) <= 4 * quick + 0.1


@pytest.mark.parametrize("pattern", CRITICAL + NOTED, ids=lambda pattern: pattern.id)
def test_twice_the_line_of_a_skill_takes_about_twice_the_time(pattern: Pattern) -> None:
    sample = skills.LINES[pattern.id]
    first, near = sample.split()[0], sample[:-1]

    def took(line: str) -> float:
        return seconds(lambda: skills.scan(SKILL__md=skills.file(line)), 2)

    for flood in (f"{first} ", f"{near} ", f"{sample.replace(' ', ' . ')} ", "  "):
        short, long = (first + flood * (size // len(flood)) + near for size in (50_000, 100_000))
        assert took(long) <= 4 * took(short) + 0.1


@pytest.mark.parametrize("part", PARTS)
def test_advice_on_a_hostile_text_takes_no_longer_than_its_length(part: str) -> None:
    whole = (part * (WINDOW // len(part)))[:WINDOW]
    for detector in DETECTORS:
        quick, took = (
            seconds(partial(exhaust, detector, cut)) for cut in (whole[: WINDOW // 4], whole)
        )
        # Four times the text: about four times as long, nowhere near sixteen.
        assert took < max(10 * quick, 0.25), detector
        assert took < 4, detector


@pytest.mark.parametrize("part", SECRETS)
def test_secrets_in_a_hostile_text_take_no_longer_than_its_length(part: str) -> None:
    def took(size: int) -> float:
        return seconds(partial(Redactor().text, part * (size // len(part))))

    assert took(160_000) < 8 * max(took(40_000), 0.002)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_difference_of_big_and_hostile_texts_is_quick(case: str) -> None:
    before, after = ("\n".join(side) + "\n" for side in HOSTILE[case])
    took = seconds(lambda: (diff.rows(before, after), diff.unified(before, after, "p")))
    # D-30: measured up to 25 times the yardstick; without a bound it is thousands.
    assert took < 100 * yardstick()


@pytest.mark.parametrize(
    "word", ["hello world ", "héllo wörld ", "漢字かな交じり文", "می\u200cخواهم "]
)
def test_a_long_line_is_quick(word: str) -> None:
    line = word * (300_000 // len(word))
    assert text.safe(line) == line  # the tables are built once
    # D-29: measured up to 3 times the yardstick; the margin is for a busy machine.
    assert seconds(lambda: text.safe(line)) < 12 * yardstick()
