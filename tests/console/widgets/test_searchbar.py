"""The search line: what it tells, completes and refuses to hold."""

from __future__ import annotations

from textual import on
from textual.app import App, ComposeResult

from console.widgets.searchbar import SearchBar


class Host(App[None]):
    """A search line, and what it said in order."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        bar = SearchBar(placeholder="words")
        bar.known = {"source": ["cli", "cron"], "in": ["my work"]}
        yield bar

    @property
    def bar(self) -> SearchBar:
        return self.query_one(SearchBar)

    @on(SearchBar.Changed)
    def _changed(self, message: SearchBar.Changed) -> None:
        self.said.append(("changed", message.text))

    @on(SearchBar.Submitted)
    def _submitted(self, message: SearchBar.Submitted) -> None:
        self.said.append(("submitted", message.text))

    def offers(self) -> str:
        line = self.query_one("#offers")
        return str(line.render()) if line.display else ""


async def test_it_tells_every_change_and_both_ways_on() -> None:
    app = Host()
    async with app.run_test() as pilot:
        assert not app.bar.display
        app.bar.begin()
        await pilot.press("a", "b", "enter", "down")
        await pilot.pause()
        assert app.said == [
            ("changed", "a"),
            ("changed", "ab"),
            ("submitted", "ab"),
            ("submitted", "ab"),
        ]
        app.bar.end()
        assert (app.bar.text, app.bar.display) == ("", False)


async def test_tab_completes_a_filter_then_its_values_in_turn() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.bar.begin()
        await pilot.press("w", "space", "s", "o")
        assert app.offers() == "tab  source:"
        await pilot.press("tab")
        assert app.bar.text == "w source:"
        assert "source:cli" in app.offers()
        await pilot.press("tab")
        assert app.bar.text == "w source:cli "
        await pilot.press("tab")
        assert app.bar.text == "w source:cron "
        await pilot.press("tab")
        assert app.bar.text == "w source:cli ", "and round again"
        await pilot.press("x")
        assert app.bar.text == "w source:cli x"
        assert app.said[-1] == ("changed", "w source:cli x")


async def test_a_value_with_a_blank_is_quoted_and_tab_with_nothing_to_offer_goes_on() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.bar.begin()
        await pilot.press("i", "n", ":", "m", "tab")
        assert app.bar.text == 'in:"my work" '
        await pilot.press("z", "z", "tab")
        await pilot.pause()
        assert app.said[-1] == ("submitted", 'in:"my work" zz')


async def test_what_may_not_be_drawn_is_not_held() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.bar.begin()
        app.bar.put("a\x1b[2J\u202eb\u200bc")
        assert app.bar.text == "a[2Jbc"
        app.bar.input.insert_text_at_cursor("\x07[@click=app.quit]x[/]")
        await pilot.pause()
        assert app.bar.text == "a[2Jbc[@click=app.quit]x[/]"
        assert app.said[-1] == ("changed", app.bar.text)
        app.bar.put("می‌خواهم")
        assert app.bar.text == "می‌خواهم", "joiners that writing needs stay"
