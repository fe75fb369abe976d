"""What the newer agent puts into its answers (specs, hermes-sessions 2 and 3; not executed)."""

from __future__ import annotations

from tests.core.hermes.recall.calls import ids, texts
from tests.core.hermes.recall.databases import Made, both


def test_detail_is_adaptive_unless_it_is_full(made: Made) -> None:
    """2.1: the first result is full, the others keep only the hit."""
    for name in ("a", "b"):
        made.session(name)
        for number in range(30):
            made.say(name, f"{'needle' if number == 15 else 'hay'} {number}")
    _, ask = both(made)
    first, second = ask(query="needle")["results"]
    assert (first["detail"], second["detail"]) == ("full", "compact")
    assert len(first["messages"]) == 11
    assert [len(first[end]) for end in ("bookend_start", "bookend_end")] == [3, 3]
    assert ids(second["messages"]) == [second["match_message_id"]]
    assert second["messages"][0]["anchor"] is True
    assert second["bookend_start"] == second["bookend_end"] == []
    assert (second["messages_before"], second["messages_after"]) == (5, 5)
    answer = ask(query="needle", detail=" FULL ")
    assert answer["detail"] == "full"
    assert [len(result["messages"]) for result in answer["results"]] == [11, 11]
    assert ask(query="needle", detail="loud")["detail"] == "adaptive"


def test_the_fields_of_a_search_in_their_order(made: Made) -> None:
    made.session("root", model="m", title="A plan")
    made.session("child", parent_session_id="root")
    made.say("child", "needle")
    old, new = both(made, "work")
    assert list(new(query="needle")) == [
        "success", "mode", "query", "detail", "results", "count", "sessions_searched", "link_hint"
    ]  # fmt: skip
    (result,) = new(query="needle")["results"]
    assert list(result) == [
        "session_id", "when", "source", "model", "title", "matched_role", "match_message_id",
        "snippet", "bookend_start", "messages", "bookend_end", "messages_before", "messages_after",
        "detail", "parent_session_id", "link",
    ]  # fmt: skip
    assert result["link"] == "@session:work/child"
    assert list(old(query="needle")) == [
        "success", "mode", "query", "results", "count", "sessions_searched"
    ]  # fmt: skip
    assert not {"detail", "link"} & old(query="needle")["results"][0].keys()


def test_nothing_found_says_how_to_ask_for_more(made: Made) -> None:
    """2.1; :attr:`Deviation.HINTS`: what it says counts, not its words."""
    old, new = both(made)
    assert old(query="needle")["message"] == "No matching sessions found."
    hint = new(query="needle")["message"]
    assert hint.startswith("No matching sessions found. ")
    assert all(word in hint for word in ("OR", "NOT", "star", "quotes"))
    assert list(new(query="needle")) == [
        "success", "mode", "query", "detail", "results", "count", "message"
    ]  # fmt: skip


def test_a_home_that_is_no_profile_has_links_without_one(made: Made) -> None:
    made.session("a")
    made.say("a", "needle")
    ask = both(made, "custom")[1]
    assert ask(query="needle")["results"][0]["link"] == "@session:a"
    assert ask(session_id="a")["link"] == "@session:a"


def test_long_texts_are_cut(made: Made) -> None:
    """2.1 and 2.3: 1,200 in a bookend, 4,000 in a window, 2,000 in a whole session."""
    made.session("a")
    for number in range(30):
        made.say("a", f"{number:02}" + "x" * 4_998 if number != 15 else "needle" + "y" * 4_994)
    old, new = both(made)
    (result,) = new(query="needle*")["results"]
    for part, cap in (("bookend_start", 1_200), ("messages", 4_000), ("bookend_end", 1_200)):
        for message in result[part]:
            assert len(message["content"]) == cap + 1
            assert message["content"].endswith("…")
            assert message["content_truncated"] is True
            assert message["original_content_chars"] == 5_000
    cut = new(session_id="a")["messages"]
    assert {len(message["content"]) for message in cut} == {2_001}
    whole = new(session_id="a", around_message_id=3)["messages"]
    assert {len(message["content"]) for message in whole} == {5_000}
    assert {len(text) for text in texts(old(query="needle*"))} == {5_000}
    made_short = {"content_truncated", "original_content_chars"}
    assert not any(made_short & message.keys() for message in old(session_id="a")["messages"])


def test_summaries_are_no_bookends(made: Made) -> None:
    made.session("a")
    made.say("a", "  [CONTEXT COMPACTION — REFERENCE ONLY] before")
    made.say("a", "[CONTEXT SUMMARY]: before that")
    for number in range(20):
        made.say("a", "needle" if number == 10 else f"hay {number}")
    old, new = both(made)
    assert ids(old(query="needle")["results"][0]["bookend_start"]) == [1, 2, 3]
    assert ids(new(query="needle")["results"][0]["bookend_start"]) == [3]


def test_escapes_are_taken_out(made: Made) -> None:
    """1.4: 0.19 returns them as they are stored."""
    made.session("a")
    made.say("a", "\x1b[31;1mred\x1b[0m \x1b]0;title\x07needle \x1b(B\x9b2Jend")
    old, new = both(made)
    assert new(session_id="a")["messages"][0]["content"] == "red needle end"
    assert old(session_id="a")["messages"][0]["content"].startswith("\x1b[31;1mred")
