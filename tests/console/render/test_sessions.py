"""Rows of the past as text: what they say, at any width, of any content."""

from __future__ import annotations

import pytest

from console.render.sessions import (
    Counts,
    Facets,
    HitItem,
    SessionItem,
    facet_lines,
    family_words,
    hit_row,
    session_row,
    snippet_line,
    turned,
)
from core.conversations import Hit, Relation, Relative, Session, Visibility

NASTY = "x\x1b[2J\u202e[/foo]\x07\u200b"


def session(**more: object) -> Session:
    return Session(**{"id": "20261129_1", "source": "cli", **more})  # type: ignore[arg-type]


def hit(snippet: str, *spans: tuple[int, int], **more: object) -> Hit:
    return Hit(
        **{  # type: ignore[arg-type]
            "session_id": "s",
            "root_id": "s",
            "message_id": 1,
            "role": "user",
            "at": None,
            "title": "Title",
            "source": "cli",
            "visibility": Visibility.LIVE,
            "snippet": snippet,
            "spans": spans,
            **more,
        }
    )


def test_a_row_says_title_age_and_every_state_in_words() -> None:
    item = SessionItem(
        session(
            title="Deploy fix",
            messages=1_234,
            workspace="/home/sam/work/shop/",
            chain=("a", "b"),
            relation=Relation.BRANCH,
            pinned=True,
            unread=True,
            archived=True,
            hidden=True,
        ),
        "3d",
        live=True,
    )
    first, second = (line.plain for line in session_row(item, 100))
    assert first == "Deploy fix" + "3d".rjust(90)
    assert second == (
        "cli · live · unread · pinned · archived · hidden · 1,234 msg · 2 parts · branch · shop"
    )


def test_a_row_without_a_title_shows_how_it_began_else_its_id() -> None:
    assert session_row(SessionItem(session(preview="hello"), ""), 40)[0].plain.startswith("hello")
    assert session_row(SessionItem(session(), ""), 40)[0].plain.startswith("20261129_1")


@pytest.mark.parametrize("width", [1, 12, 40, 200])
def test_no_row_is_wider_than_it_may_be_and_none_holds_a_control(width: int) -> None:
    item = SessionItem(session(title=NASTY * 9, source=NASTY, workspace=NASTY), "10w")
    found = HitItem(hit(NASTY * 9, (0, 4), title=NASTY, source=NASTY, role=NASTY, more=3), "10w")
    for line in (*session_row(item, width), *hit_row(found, width)):
        assert line.cell_length <= max(width, 4)
        assert not set(line.plain) & set("\x1b\x07\u202e\u200b\n")


def test_a_hit_says_where_it_stands_and_what_it_says() -> None:
    item = HitItem(
        hit("we deploy it", (3, 9), more=2, in_title=True, visibility=Visibility.UNDONE), "5m"
    )
    first, second, third = (line.plain for line in hit_row(item, 60))
    assert first == "Title" + "5m".rjust(55)
    assert second == "cli · user · undone · in the title · +2 more"
    assert third == "we deploy it"


def test_a_snippet_begins_near_its_first_match() -> None:
    text = "word " * 30 + "needle and more"
    line = snippet_line(hit(text, (150, 156)), 40)
    assert line.plain.startswith("…")
    assert "needle" in line.plain
    (span,) = line.spans
    assert line.plain[span.start : span.end] == "needle"


def test_what_is_left_out_stands_with_its_key_and_no_part_is_torn() -> None:
    counts = Counts({"cli": 5, "": 1}, (("+12 cron runs", "c"), ("+4 hidden", "H")))
    assert facet_lines(counts, 80).plain == "cli 5 · unknown 1\n+12 cron runs: c · +4 hidden: H"
    assert facet_lines(counts, 20).plain.split("\n")[1:] == ["+12 cron runs: c", "+4 hidden: H"]
    assert facet_lines(Counts(), 80).plain == ""


def test_facets_turn_one_at_a_time() -> None:
    facets = turned(turned(Facets("cli"), "cron"), "tools")
    assert facets == Facets("cli", cron=True, tools=True)
    assert turned(facets, "cron") == Facets("cli", tools=True)


def test_a_relative_says_what_it_is_and_which_is_here() -> None:
    root = Relative(session(title="Root", messages=3), 0)
    child = Relative(session(id="b", title="Child", relation=Relation.DELEGATE), 2)
    assert family_words(root, "20261129_1") == "▶ begins: Root  cli  3 msg"
    assert family_words(child, "20261129_1") == "    delegate: Child  cli  0 msg"
