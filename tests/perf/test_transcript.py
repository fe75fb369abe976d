"""What a key costs in a transcript depends on the screen, not on the conversation: ratios."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from time import perf_counter

from console.render.prepared import prepare
from console.widgets.loaded import Loaded
from tests.console.widgets.talks import Host, Talk, long_talk, mark_of, said, settle, words

#: The length of the longest message seen in a real home, in characters.
HUGE = 12_000_000


def best(work: Callable[[], None], batches: int = 9) -> float:
    """Seconds of the quickest of some batches: what others do on the machine is left out."""
    times = []
    gc.disable()
    try:
        for _ in range(batches):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
    finally:
        gc.enable()
    return min(times)


def keys_of(app: Host) -> Callable[[], None]:
    """Forty lines down and up, each drawn in full."""

    def keys() -> None:
        for step in (1,) * 40 + (-1,) * 40:
            app.view.action_lines(step)
            for y in range(app.view.size.height):
                app.view.render_line(y)

    return keys


async def test_a_key_in_100_000_messages_costs_at_most_twice_one_in_100() -> None:
    costs = []
    app = Host()
    async with app.run_test(size=(100, 60)) as pilot:
        for count in (100, 100_000):
            shown = long_talk(count, lambda n: f"message {n} " + "word " * (n % 60))
            app.view.show(shown.marks, shown.fetch)
            app.view.go_to(count // 2)
            await settle(app, pilot)
            costs.append(best(keys_of(app)))
            await settle(app, pilot)
    assert costs[1] <= 2 * costs[0]


async def test_a_step_through_50_000_hits_costs_at_most_twice_one_through_50() -> None:
    costs = []
    app = Host()
    async with app.run_test(size=(100, 60)) as pilot:
        for count in (100, 100_000):
            shown = long_talk(count, lambda n: "a needle")
            hits = tuple(range(1, count + 1, 2))
            app.view.show(shown.marks, shown.fetch, hits=hits, find=words("needle"))
            app.view.go_to(count // 2 + 1)
            await settle(app, pilot)

            def steps() -> None:
                for step in (1,) * 10 + (-1,) * 10:
                    app.view.action_hit(step)
                    for y in range(app.view.size.height):
                        app.view.render_line(y)

            costs.append(best(steps))
            assert app.id_at_cursor() in hits
            await settle(app, pilot)
    assert costs[1] <= 2 * costs[0]


async def test_a_key_in_a_message_of_12_million_characters_costs_at_most_twice_one_beside() -> None:
    """It is loaded, searched and opened in full; then its middle is read."""
    line = "2026-11-29T12:00:00 worker-7 INFO request served in 12 ms, nothing to see here\n"
    text = line * (HUGE // 2 // len(line)) + "needle\n" + line * (HUGE // 2 // len(line))
    huge = said(50, "tool", text)
    short = long_talk(100, lambda n: line * 30)
    marks = tuple(mark_of(huge) if mark.id == 50 else mark for mark in short.marks)
    shown = Talk(marks, lambda mark: huge if mark.id == 50 else short.made(mark))
    app = Host()
    async with app.run_test(size=(100, 60)) as pilot:
        app.view.show(shown.marks, shown.fetch, hits=(50,), find=words("needle"))
        app.view.go_to(20)
        await settle(app, pilot)
        beside = best(keys_of(app))
        app.view.action_hit(1)
        await settle(app, pilot)
        assert app.at_cursor() == "needle"
        assert app.id_at_cursor() == 50
        assert best(keys_of(app)) <= 2 * beside

        def ends() -> None:
            for key in (app.view.action_last, app.view.action_first):
                key()
                for y in range(app.view.size.height):
                    app.view.render_line(y)

        assert app.view.is_open(50)
        assert best(ends) <= 2 * beside


async def test_other_keys_are_answered_while_a_huge_text_is_prepared() -> None:
    """A key while a thread works on 12 million characters, against one while nothing works."""
    huge = said(1, "tool", ("word " * 20 + "\n") * (HUGE // 101))
    shown = long_talk(40)
    marks = (mark_of(huge), *shown.marks[1:])
    slow = Talk(marks, lambda mark: huge if mark.id == 1 else shown.made(mark))
    app = Host()

    def key() -> float:
        start = perf_counter()
        app.view.action_lines(1)
        app.view.action_lines(-1)
        for y in range(app.view.size.height):
            app.view.render_line(y)
        return perf_counter() - start

    async with app.run_test(size=(80, 24)) as pilot:
        app.view.show(slow.marks, slow.fetch, find=words("needle"))
        await settle(app, pilot)
        quiet = sorted(key() for _ in range(100))
        app.view._pages.want_whole(1)
        app.view._changed()
        waits = []
        while app.view.is_loading:
            waits.append(key())
            await asyncio.sleep(0.002)
    assert len(waits) > 3
    assert sorted(waits)[len(waits) // 2] <= 5 * quiet[len(quiet) // 2]


async def test_memory_is_bounded_however_far_one_reads() -> None:
    shown = long_talk(100_000, lambda n: "word " * 3_000)
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.show(shown.marks, shown.fetch)
        for place in range(1_000, 100_000, 1_500):
            app.view.go_to(place)
            await settle(app, pilot)
        pages = app.view._pages
        assert len(shown.asked) > 60
        assert pages.loaded.characters <= 16_000_000
        assert len(pages.loaded) <= 1_500


def test_what_is_in_view_is_never_dropped() -> None:
    loaded = Loaded(messages=3, characters=100)
    for number in range(6):
        loaded.put(prepare(said(number, "user", "x" * 40)))
        loaded.trim({0, number})
    assert 0 in loaded
    assert 5 in loaded
    assert len(loaded) == 2
    assert loaded.characters == 80
