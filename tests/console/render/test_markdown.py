"""A SKILL.md made readable: every line stays, nothing is followed, nothing escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.render.markdown import markdown_lines, raw_lines

TEXT = """\
---
name: log-search
tags: [a, b]
---

# Title
Plain with `code` and **strong** words.

- one
  - below
3. third
> said

```sh
# no heading
- no item
```
after
"""


def lines(text: str, width: int = 40) -> list[str]:
    return [line.content.plain for line in markdown_lines(text, width)]


def test_each_form_is_shown_by_its_own_sign() -> None:
    assert [line.rstrip() for line in lines(TEXT)] == [
        "name  log-search",
        "tags  [a, b]",
        "─" * 24,
        "",
        "Title",
        "Plain with code and strong words.",
        "",
        "• one",
        "  • below",
        "3. third",
        "▌ said",
        "",
        "│ sh",
        "│ # no heading",
        "│ - no item",
        "after",
        "",
    ]


def test_a_head_that_never_ends_is_text() -> None:
    assert lines("---\nname: x\n")[1] == "name: x"


def test_a_fence_that_never_ends_holds_the_rest() -> None:
    assert lines("```\n# a\n- b") == ["│ code", "│ # a", "│ - b"]


def test_links_and_markup_stay_words() -> None:
    text = "[@click=app.quit]q[/] [x](http://evil)"
    assert lines(text, 80) == [text]


def test_raw_lines_are_numbered_and_whole() -> None:
    found = [line.content.plain.rstrip() for line in raw_lines("# a\n\n- b", 20)]
    assert found == ["1  # a", "2", "3  - b"]


@pytest.mark.parametrize("draw", [markdown_lines, raw_lines])
@given(text=st.text(max_size=300), width=st.integers(10, 90))
def test_any_text_is_safe_and_fits(draw: object, text: str, width: int) -> None:
    assert callable(draw)
    for line in draw(text, width):
        assert line.content.cell_length <= width
        assert not any(sign in line.content.plain for sign in "\x1b\x07\x00\r\n\u202e\u200b")
