"""The newer agent's tool, from its description (specs, hermes-sessions 2 and 3; not executed)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.homes.hermes.rules import Rules
from tests.core.hermes.recall.calls import Asked, Json, fixture_home, ids, texts
from tests.core.hermes.recall.databases import Made

OLD = Rules.V0_19


def both(made: Made, current: str = "default") -> tuple[Asked, Asked]:
    """The finished database under 0.19 and under the newest rules."""
    home = made.done()
    return Asked(home, OLD, current), Asked(home, Rules.NEWEST, current)


def found(answer: Json) -> list[str]:
    """The sessions of an answer, in order."""
    return [result["session_id"] for result in answer["results"]]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "home")


@pytest.fixture(params=["inline", "external"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    """Both layouts of the full text: an upgraded file keeps the old one."""
    return Made(tmp_path / "home", inline=request.param == "inline")


# -- the answer ------------------------------------------------------------------------------------


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


# -- who is searched -------------------------------------------------------------------------------


def test_kanban_and_what_a_person_never_saw_are_hidden(either: Made) -> None:
    """3.3 and 7.9."""
    either.session("board", "kanban", title="Board")
    either.say("board", "needle")
    either.session("scaffold")
    either.say("scaffold", "needle", display_kind="hidden")
    either.session("steered")
    either.say("steered", "needle", display_kind="steer")
    old, new = both(either)
    assert set(found(old(query="needle"))) == {"board", "scaffold", "steered"}
    assert found(new(query="needle")) == ["steered"]
    assert found(old(query="Board", limit=1)) == ["board"]
    assert found(new(query="Board")) == []


def test_bounds_of_time(made: Made) -> None:
    """3.3: after is inclusive, before is not, on the start of the session."""
    made.clock = 1_783_000_000 - 60
    starts = {}
    for name in ("a", "b", "c"):
        made.session(name, title=f"Needle {name}")
        starts[name] = int(made.clock)
        made.say(name, "needle")
    old, new = both(made)
    told = {name: datetime.fromtimestamp(at, UTC).isoformat() for name, at in starts.items()}
    assert set(found(new(query="needle", after=told["b"]))) == {"b", "c"}
    assert set(found(new(query="needle", before=told["b"]))) == {"a"}
    assert found(new(query="needle", after=told["b"], before=told["c"])) == ["b"]
    assert found(new(query="Needle a", after=told["b"])) == []
    assert found(new(query="Needle a", before=told["b"])) == ["a"]
    assert set(found(new(query="needle", after="2026-07-02"))) == {"a", "b", "c"}
    assert found(new(query="needle", before="2026-07-02T00:00:00Z")) == []
    assert set(found(new(query="needle", after="3w", before="1h"))) == {"a", "b", "c"}
    assert found(new(query="needle", after=" 2D ")) == []
    assert set(found(new(query="needle", after="  ", before=None))) == {"a", "b", "c"}
    assert len(found(old(query="needle", after="nonsense"))) == 3


def test_a_bound_that_is_no_time(made: Made) -> None:
    ask = both(made)[1]
    said = ask(query="needle", after="soon")
    assert said["success"] is False
    assert said["error"].startswith("invalid time bound: 'soon' (expected ISO date/datetime")
    assert ask(after="soon")["mode"] == "browse"


def test_excluded_sessions_take_their_families_along(made: Made) -> None:
    """3.7, step 4."""
    made.session("root", title="The root")
    made.session("child", parent_session_id="root")
    made.session("other")
    for name in ("root", "child", "other"):
        made.say(name, "needle")
    old, new = both(made)
    assert found(new(query="needle", exclude_session_ids=["child"])) == ["other"]
    assert found(new(query="needle", exclude_session_ids=" child ")) == ["other"]
    assert found(new(query="The root", exclude_session_ids=["child"])) == []
    assert len(found(new(query="needle", exclude_session_ids={"child": 1}))) == 2
    assert len(found(old(query="needle", exclude_session_ids=["child"]))) == 2
    twenty = [f"nope{number}" for number in range(20)]
    assert len(found(new(query="needle", exclude_session_ids=[*twenty, "child"]))) == 2


# -- the guard -------------------------------------------------------------------------------------


def test_what_left_the_context_is_found_by_its_own_family(either: Made) -> None:
    """3.7, step 3, and 7.8."""
    either.session("ended", end_reason="compression", title="Ended")
    old_row = either.say("ended", "needle ended")
    either.session("current", parent_session_id="ended")
    live = either.say("current", "needle live")
    archived = either.say("current", "archivedneedle", active=0, compacted=1)
    undone = either.say("current", "undoneneedle", active=0)
    either.session("delegate", "telegram", parent_session_id="current")
    either.say("delegate", "needle delegate")
    old, new = both(either)
    assert old(query="needle", current_session_id="current")["count"] == 0
    answer = new(query="needle", current_session_id="current")
    assert [result["match_message_id"] for result in answer["results"]] == [old_row]
    assert old(query="archivedneedle", current_session_id="current")["count"] == 0
    answer = new(query="archivedneedle", current_session_id="current")
    assert [result["match_message_id"] for result in answer["results"]] == [archived]
    assert new(query="undoneneedle", current_session_id="current")["count"] == 0
    assert old(query="Ended", current_session_id="current")["count"] == 0
    assert found(new(query="Ended", current_session_id="current"))[:1] == ["ended"]

    def scrolled(ask: Asked, message: int, session: str = "current") -> object:
        arguments = {"session_id": session, "around_message_id": message}
        answer = ask(**arguments, current_session_id="current")
        return answer.get("error", "served").split(":")[0]

    assert [scrolled(old, each) for each in (live, archived, undone)] == ["scroll rejected"] * 3
    assert scrolled(old, old_row, "ended") == "scroll rejected"
    assert scrolled(new, live) == "scroll rejected"
    assert scrolled(new, archived) == "served"
    assert scrolled(new, undone) == "scroll rejected"
    assert scrolled(new, old_row, "ended") == "served"
    assert scrolled(new, old_row, "current") == "served"
    assert "error" not in new(session_id="current", around_message_id=undone)


@pytest.mark.parametrize("reason", ["session_reset", "idle", "daily", "new_session", "suspended"])
def test_a_predecessor_that_was_reset_is_found(made: Made, reason: str) -> None:
    made.session("before", end_reason=reason)
    made.say("before", "needle")
    made.session("after", parent_session_id="before")
    old, new = both(made)
    assert found(old(query="needle", current_session_id="after")) == []
    assert found(new(query="needle", current_session_id="after")) == ["before"]


def test_a_branched_parent_is_still_in_the_context(made: Made) -> None:
    made.session("before", end_reason="branched")
    made.say("before", "needle")
    made.session("after", parent_session_id="before")
    assert found(both(made)[1](query="needle", current_session_id="after")) == []


# -- which index answers ---------------------------------------------------------------------------


def test_snippets_of_both_layouts_mark_what_was_found(either: Made) -> None:
    either.session("a")
    either.say("a", "before the needle after it")
    calls = '[{"function": {"name": "needlecall"}}]'
    either.say("a", "", "assistant", tool_calls=calls)
    old, new = both(either)
    for ask in (old, new):
        assert ">>>needle<<<" in ask(query="needle")["results"][0]["snippet"]
        assert ">>>needlecall<<<" in ask(query="needlecall")["results"][0]["snippet"]


def test_a_filter_with_tool_reads_the_rows_themselves(either: Made) -> None:
    """3.5: words with AND, OR and NOT; newest first; a plain snippet; the whole of a long row."""
    either.session("a")
    first = either.say("a", "alpha beta", "tool")
    either.session("b")
    either.say("b", "alpha gamma", "tool")
    either.session("c")
    late = either.say("c", "x" * 9_000 + " tailword", "tool")
    _, new = both(either)
    assert found(new(query="alpha", role_filter="tool")) == ["b", "a"]
    assert found(new(query="alpha", role_filter="tool", sort="oldest")) == ["a", "b"]
    assert found(new(query="alpha NOT gamma", role_filter="user,assistant,tool")) == ["a"]
    assert found(new(query="beta OR gamma", role_filter="tool")) == ["b", "a"]
    assert found(new(query='"alpha beta"', role_filter="tool")) == ["a"]
    assert found(new(query="alph* bet*", role_filter="tool")) == ["a"]
    assert found(new(query="NOT alpha", role_filter="tool")) == ["b", "a"]
    (hit,) = new(query="tailword", role_filter="tool")["results"]
    assert (hit["match_message_id"], hit["matched_role"]) == (late, "tool")
    assert hit["snippet"] == "x" * 39 + " tailword"
    (hit,) = new(query="BETA", role_filter="tool")["results"]
    assert (hit["match_message_id"], hit["snippet"]) == (first, "alpha beta")


def test_a_miss_is_tried_again_within_words(either: Made) -> None:
    """3.4: Latin letters glued to Chinese are one word; only a miss is tried again."""
    either.session("a")
    either.say("a", "修改youer服务端")
    either.session("b")
    either.say("b", "concatenate")
    old, new = both(either)
    assert old(query="youer")["count"] == 0
    assert found(new(query="youer")) == ["a"]
    assert found(new(query="cat")) == ["b"]
    assert new(query="at")["count"] == 0
    assert set(found(new(query="youer OR cat"))) == {"a", "b"}


def test_a_hit_is_not_tried_again(made: Made) -> None:
    made.session("a")
    made.say("a", "concatenate")
    made.session("b")
    made.say("b", "cat")
    assert found(both(made)[1](query="cat")) == ["b"]


def test_trigrams_leave_scheduled_jobs_out_in_the_newer_layout(tmp_path: Path) -> None:
    """1.5: sources cron and subagent are not in the newer trigram index."""
    answers = []
    for inline in (True, False):
        made = Made(tmp_path / str(inline), inline=inline)
        made.session("job", "cron")
        made.say("job", "大别山项目")
        answers.append(both(made)[1](query="大别山")["count"])
    assert answers == [1, 0]


def test_short_chinese_words_leave_out_what_was_taken_back(made: Made) -> None:
    """3.4: 0.19's scan has no filter of visibility."""
    made.session("a")
    made.say("a", "桂林", active=0)
    old, new = both(made)
    assert found(old(query="桂林")) == ["a"]
    assert found(new(query="桂林")) == []


def test_rows_that_are_not_indexed_yet_are_scanned(made: Made) -> None:
    """3.6: ids in (progress, high water], all words, newest first, after what the index finds."""
    made.session("a")
    indexed = made.say("a", "alpha beta")
    made.done()
    made.reopen()
    made.session("b")
    made.say("b", "beta and alpha")
    made.session("c")
    made.say("c", "alpha alone")
    made.meta(fts_rebuild_high_water=3, fts_rebuild_progress=indexed)
    old, new = both(made)
    answer = new(query="alpha beta")
    assert found(answer) == ["a", "b"]
    assert answer["results"][1]["snippet"] == "beta and alpha"
    assert answer["index_rebuild"]["percent"] == 33
    assert "1 of 3" in answer["index_rebuild"]["note"]
    assert list(answer)[-1] == "index_rebuild"
    assert found(old(query="alpha beta")) == ["a"]
    assert "index_rebuild" in new(query="nothing here")


@pytest.mark.parametrize("high", ["0", "-3", "x"])
def test_no_rebuild_is_under_way(made: Made, high: str) -> None:
    made.meta(fts_rebuild_high_water=high, fts_rebuild_progress="0")
    assert "index_rebuild" not in both(made)[1](query="x")


def test_a_stale_index_is_not_asked(either: Made) -> None:
    """3.6: everything is read row by row; the query keeps its operators."""
    either.session("a")
    either.say("a", "concatenated")
    either.meta(fts_stale="1")
    old, new = both(either)
    assert old(query="cat")["count"] == 0
    assert found(new(query="cat NOT dog")) == ["a"]


# -- read, scroll, browse --------------------------------------------------------------------------


def test_read_has_a_link_and_stays_in_its_profile(tmp_path: Path) -> None:
    """2.3: a miss is no reason to look into the other profiles."""
    home = fixture_home(tmp_path)
    other = Made(home / "profiles" / "work")
    other.session("elsewhere")
    other.say("elsewhere", "here")
    other.done()
    old, new = Asked(home, OLD), Asked(home, Rules.NEWEST)
    assert old(session_id="elsewhere")["profile"] == "work"
    assert new(session_id="elsewhere") == {
        "error": "session_id not found in this profile: elsewhere. If it belongs to another "
        "profile, pass profile=<name> (or the @session:<profile>/<id> link).",
        "success": False,
    }
    answer = new(session_id="work/elsewhere")
    assert answer["link"] == "@session:work/elsewhere"
    assert list(answer) == [
        "success", "mode", "session_id", "link", "session_meta", "message_count", "truncated",
        "messages",
    ]  # fmt: skip
    missed = new(session_id="nope", profile="work")
    assert missed == {"error": "session_id not found: nope", "success": False}
    assert new(query="here", profile="work")["count"] == 1
    assert old(query="here", profile="work")["count"] == 0


def test_scroll_says_how_to_go_on(made: Made) -> None:
    made.session("a")
    made.say("a", "one")
    old, new = both(made)
    arguments = {"session_id": "a", "around_message_id": 1}
    assert "hint" not in old(**arguments)
    assert list(new(**arguments))[-1] == "hint"


def test_browse_lists_branches_and_what_follows_a_reset(made: Made) -> None:
    """1.7, 2.4 and 7.10; however long it takes (:attr:`Deviation.DEADLINE`)."""
    made.session("root", end_reason="idle", session_key="k")
    made.session("reset", parent_session_id="root", session_key="k")
    made.session("marked", parent_session_id="root", model_config={"_reset_from": "root"})
    made.session("branch", parent_session_id="root", model_config={"_branched_from": "root"})
    made.session("delegate", parent_session_id="root", model_config={"_delegate_from": "root"})
    made.session("child", parent_session_id="root")
    made.session("secret", hidden=1)
    made.session("shelved", archived=1)
    made.session("board", "kanban")
    made.session("broken", model_config="no JSON")
    old, new = both(made)
    assert found(new(limit=10)) == ["broken", "branch", "marked", "reset", "root"]
    assert new(limit=10)["results"][0]["link"] == "@session:default/broken"
    assert old(limit=10)["error"].startswith("Failed to list recent sessions: ")
    # A conversation that follows a reset keeps its predecessor in sight.
    assert found(new(limit=2, current_session_id="reset")) == ["broken", "branch"]
    assert "root" in found(new(limit=10, current_session_id="reset"))


def test_browse_shows_a_chain_as_its_newest_part(made: Made) -> None:
    made.session("root", end_reason="compression", title="The chain", source="telegram")
    made.say("root", "first words")
    made.session("middle", parent_session_id="root", end_reason="compression")
    made.session("tip", parent_session_id="middle", message_count=7)
    made.say("tip", "[CONTEXT COMPACTION — REFERENCE ONLY] earlier")
    made.say("tip", "what now?\nindeed")
    made.session("sibling", parent_session_id="root", model_config={"_branched_from": "root"})
    old, new = both(made)
    row = next(row for row in new(limit=10)["results"] if row["session_id"] == "tip")
    assert (row["title"], row["message_count"], row["source"]) == ("The chain", 7, "cli")
    assert row["preview"] == "what now? indeed"
    assert row["started_at"] < row["last_active"]
    row = next(row for row in old(limit=10)["results"] if row["session_id"] == "tip")
    assert (row["title"], row["message_count"], row["source"]) == (None, 7, "telegram")
    assert row["preview"] == "[CONTEXT COMPACTION — REFERENCE ONLY] earlier"
    assert found(new(limit=10, current_session_id="tip")) == ["sibling"]
    assert found(old(limit=10, current_session_id="tip")) == []


def test_a_bigram_index_is_not_touched(made: Made) -> None:
    """1.3, point 11, :attr:`Deviation.BIGRAMS`: its tokenizer is the agent's own."""
    made.session("a")
    made.say("a", "桂林的索引")
    made.run("CREATE TABLE messages_fts_cjk (content TEXT)")
    _, new = both(made)
    assert found(new(query="桂林")) == ["a"]
    assert found(new(query="桂林的")) == ["a"]


def test_browse_goes_by_the_later_of_message_and_heartbeat(made: Made) -> None:
    made.session("quiet")
    made.say("quiet", "said")
    made.session("beating", last_activity_at=made.clock + 500)
    made.session("lagging", last_activity_at=made.clock - 5_000)
    made.say("lagging", "said")
    rows = both(made)[1](limit=10)["results"]
    assert [row["session_id"] for row in rows] == ["beating", "lagging", "quiet"]


@pytest.mark.parametrize(
    ("content", "preview"),
    [
        ("plain", "plain"),
        ("x" * 61, "x" * 60 + "..."),
        ("\0json:[]", ""),
        (
            '[IMPORTANT: The user has invoked the "work" skill, indicating …]\n\nbody\n'
            "The user has provided the following instruction alongside the skill invocation: "
            "fix  the\nleak\n\n[Runtime note: x]",
            "/work — fix the leak",
        ),
        ('[IMPORTANT: The user has invoked the "work" skill, indicating …] body', "/work"),
        (
            "[CONTEXT SUMMARY]: before\n--- END OF CONTEXT SUMMARY — respond to the message below,"
            " not the summary above --- and now?",
            "and now?",
        ),
        (
            "[PRIOR CONTEXT — for reference only; not a new message] my words\n"
            "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n[CONTEXT SUMMARY]: x",
            "my words",
        ),
        ("[CONTEXT SUMMARY]: only that", "second"),
    ],
)
def test_previews(made: Made, content: str, preview: str) -> None:
    """2.4: summaries and hidden rows are passed over, skills unwrapped."""
    made.session("a")
    made.say("a", "scaffold", display_kind="hidden")
    made.say("a", content)
    made.say("a", "second")
    assert both(made)[1]()["results"][0]["preview"] == preview


def test_the_fixture_of_0_19_can_be_read_by_the_newer_rules(tmp_path: Path) -> None:
    """1.5: an upgraded file keeps the old layout; its columns may be the old ones, too."""
    ask = Asked(fixture_home(tmp_path), Rules.NEWEST)
    old = Asked(ask.home, OLD)
    assert [r["match_message_id"] for r in ask(query="deploy")["results"]] == [
        r["match_message_id"] for r in old(query="deploy")["results"]
    ]
    assert old(query="src/app/main.py")["count"] == 0
    assert ask(query="src/app/main.py")["count"] > 0
    assert ask(limit=10)["count"] == 10
