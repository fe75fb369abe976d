"""The newer agent's guard, and how it reads, scrolls and browses.

From its description (specs, hermes-sessions 1.7, 2 and 3); it was not executed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from core.homes.hermes.rules import Rules
from tests.core.hermes.recall.calls import Asked, fixture_home
from tests.core.hermes.recall.databases import Made, both, found

OLD = Rules.V0_19


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
