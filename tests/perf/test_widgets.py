"""What a key costs depends on the screen, not on the list: ratios, never times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from textual.app import App, ComposeResult
from textual.content import Content
from textual.style import Style

from console.render.line import Line
from console.widgets.cells import cut
from console.widgets.lines import LineView
from console.widgets.rows import RowList, RowState


@dataclass(frozen=True)
class Row:
    key: str


def paint(item: Row, state: RowState) -> list[Content]:
    return [Content(f"row {item.key}"), Content(f"about {item.key}")]


class Host(App[None]):
    def compose(self) -> ComposeResult:
        self.list: RowList[Row] = RowList(paint)
        self.view = LineView()
        yield self.list
        yield self.view


def best(work: Callable[[], None], batches: int = 9) -> float:
    """Seconds of the quickest of some batches: what others do on the machine is left out."""
    times = []
    for _ in range(batches):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


async def test_a_cursor_key_in_100_000_rows_costs_at_most_twice_one_in_100() -> None:
    costs = []
    app = Host()
    async with app.run_test(size=(100, 60)) as pilot:
        for count in (100, 100_000):
            app.list.set_items([Row(f"{count}-{n}") for n in range(count)])
            app.list.action_first()
            await pilot.pause()

            def keys() -> None:
                for step in (1,) * 40 + (-1,) * 40:
                    (app.list.action_cursor_down if step > 0 else app.list.action_cursor_up)()
                    for y in range(app.list.size.height):
                        app.list.render_line(y)

            costs.append(best(keys))
            await pilot.pause()
    assert costs[1] <= 2 * costs[0]


async def test_a_key_in_100_000_lines_costs_at_most_twice_one_in_100() -> None:
    costs = []
    app = Host()
    async with app.run_test(size=(100, 60)) as pilot:
        for count in (100, 100_000):
            app.view.set_lines([Line(Content(f"line {n}")) for n in range(count)])
            await pilot.pause()

            def keys() -> None:
                for step in (1,) * 40 + (-1,) * 40:
                    app.view.action_lines(step)
                    for y in range(app.view.size.height):
                        app.view.render_line(y)

            costs.append(best(keys))
            await pilot.pause()
    assert costs[1] <= 2 * costs[0]


def test_a_line_of_300_000_cells_is_cut_at_the_cost_of_a_short_one() -> None:
    for character, count in (("x", 300_000), ("中", 150_000)):
        short, long = Content(character * 300), Content(character * count)

        def cuts(content: Content) -> Callable[[], None]:
            def work() -> None:
                for start in range(40):
                    cut(content, Style(), 100, start)

            return work

        assert best(cuts(long)) <= 2 * best(cuts(short)), character
