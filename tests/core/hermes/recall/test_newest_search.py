"""Who is searched by the newer agent, and which index answers.

From its description (specs, hermes-sessions 2 and 3); it was not executed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.core.hermes.recall.databases import Made, both, found


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
