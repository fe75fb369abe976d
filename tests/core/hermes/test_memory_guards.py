"""signoff's own opinions on memory records (design.md section 1)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.config import Config
from core.homes.hermes.memory.entries import parse
from core.homes.hermes.memory.fragments import losses
from core.homes.hermes.memory.guards import guard, targets
from core.homes.hermes.memory.replay import replay
from core.homes.hermes.rules import Rules
from core.model import Change, Finding, Node, NodeKind, Outcome, Severity
from core.view import Tree, View

MEMORY = "memories/MEMORY.md"
OLD, NEW = Rules.V0_19, Rules.NEWEST
SETTINGS = Config()
NO_PINS: dict[int, str] = {}

Payload = dict[str, object]


def view_of(text: str | bytes, mode: int = 0o600) -> View:
    data = text if isinstance(text, bytes) else text.encode()
    return View(Tree({MEMORY: Node(NodeKind.FILE, data, mode)}))


def judge(
    text: str | bytes,
    payload: Mapping[str, object],
    rules: Rules = OLD,
    pins: Mapping[int, str] = NO_PINS,
    off: str = "",
    mode: int = 0o600,
    config: Config = SETTINGS,
) -> Outcome:
    view = view_of(text, mode)
    outcome = replay(view, payload, config, rules)
    return guard(view, payload, config, rules, outcome, pins, frozenset(off.split()))


def add(content: object, **more: object) -> Payload:
    return {"action": "add", "target": "memory", "content": content, "old_text": None, **more}


def swap(old_text: str, content: str, **more: object) -> Payload:
    return {**add(content), "action": "replace", "old_text": old_text, **more}


def remove(old_text: str, **more: object) -> Payload:
    return {**add(None), "action": "remove", "old_text": old_text, **more}


def batch(*operations: object) -> Payload:
    return {"action": "batch", "target": "memory", "operations": list(operations)}


def written(outcome: Outcome) -> Node:
    change = outcome.changes[-1]
    assert isinstance(change, Change)
    assert change.after is not None
    return change.after


def found(outcome: Outcome, code: str) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.code == code]


def refused_by(outcome: Outcome, name: str) -> None:
    assert (outcome.category, outcome.changes, outcome.entries) == (f"guard_{name}", (), ())
    assert "The agent alone: " in outcome.message
    assert outcome.budget is None or outcome.budget.before == outcome.budget.after


# -- retarget --------------------------------------------------------------------------------------


def test_an_entry_other_than_the_one_seen_is_not_hit() -> None:
    """Spec 6 item 10: the pin of the first sight holds under 0.19 too."""
    payload = remove("glaze")
    pins = targets(view_of("glaze batch 7"), payload, SETTINGS, OLD)
    assert pins == {0: "glaze batch 7"}
    assert judge("glaze batch 7", payload, pins=pins).category == "ok"
    refused_by(judge("glaze batch 8", payload, pins=pins), "retarget")
    assert judge("glaze batch 8", payload, pins=pins, off="retarget").category == "ok"


def test_the_agents_own_pin_counts_under_0_19() -> None:
    """Oracle pinned-field-ignored: the agent alone overwrites the changed entry."""
    payload = swap("alpha", "beta", matched_entry="alpha (as reviewed)")
    refused_by(judge("alpha changed", payload), "retarget")
    assert judge("alpha (as reviewed)", payload, off="fragment").category == "ok"


def test_each_operation_of_a_batch_has_its_own_pin() -> None:
    payload = batch(
        {"action": "add", "content": "x"},
        {"action": "remove", "old_text": "one"},
        {"action": "replace", "old_text": "two", "content": "zwei"},
        {"action": "remove", "old_text": "zw"},
    )
    pins = targets(view_of("one\n§\ntwo"), payload, SETTINGS, OLD)
    assert pins == {1: "one", 2: "two", 3: "zwei"}
    assert judge("one\n§\ntwo", payload, pins=pins).category == "ok"
    refused_by(judge("one\n§\ntwo more", payload, pins=pins), "retarget")


def test_there_is_nothing_to_pin_where_nothing_is_hit() -> None:
    payload = batch({"action": "remove", "old_text": "a"}, {"action": "remove", "old_text": "?"})
    assert targets(view_of("a"), payload, SETTINGS, OLD) == {0: "a"}
    assert targets(view_of("a"), add("b"), SETTINGS, OLD) == {}
    assert targets(view_of(b"\xff"), remove("a"), SETTINGS, OLD) == {}
    assert targets(view_of("ab\n§\nac"), remove("a"), SETTINGS, OLD) == {}


def test_newer_agents_prefer_the_whole_entry() -> None:
    """Spec 0: an entry equal to old_text wins over longer ones that hold it."""
    view = view_of("soak 40\n§\nsoak")
    assert targets(view, remove("soak"), SETTINGS, NEW) == {0: "soak"}
    assert targets(view, remove("soak"), SETTINGS, OLD) == {}


def test_a_pin_of_ours_lets_an_unpinned_record_land_under_the_newest_rules() -> None:
    payload = remove("glaze")
    assert judge("glaze batch 7", payload, NEW).category == "unpinned_record"
    landed = judge("glaze batch 7", payload, NEW, pins={0: "glaze batch 7"})
    assert (landed.category, written(landed).data) == ("ok", b"")
    assert [f.severity for f in found(landed, "pinned_by_signoff")] == [Severity.INFO]
    moved = judge("glaze batch 8", payload, NEW, pins={0: "glaze batch 7"})
    assert (moved.category, moved.changes) == ("stale_entry", ())
    half = batch({"action": "remove", "old_text": "a"}, {"action": "remove", "old_text": "b"})
    outcome = judge("a\n§\nb\n§\nc", half, NEW, pins={0: "a"})
    assert (outcome.category, outcome.findings) == ("unpinned_record", ())


# -- target ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["skills", "Memory", None, 7, ["user"]])
def test_an_unknown_store_is_not_taken_for_memory_md(target: object) -> None:
    """Spec 6 item 20: 0.19 writes it into MEMORY.md."""
    refused_by(judge("a", add("b", target=target)), "target")
    assert judge("a", add("b", target=target), off="target").category == "ok"
    assert judge("a", add("b", target=target), NEW).category == "invalid_target"


def test_a_missing_target_is_memory() -> None:
    """Oracle no-target."""
    assert judge("alpha", {"action": "add", "content": "x"}).category == "ok"


@pytest.mark.parametrize("rules", [OLD, NEW])
@pytest.mark.parametrize("payload", [add("b"), swap("a", "b"), remove("a")])
def test_a_providers_record_never_reaches_the_files(payload: Payload, rules: Rules) -> None:
    """Spec 6 item 19: 0.19.0 would write it into MEMORY.md, newer agents refuse it."""
    theirs = {**payload, "memory_provider_mode": "authoritative"}
    outcome = judge("a", theirs, rules)
    if rules is OLD:
        refused_by(outcome, "provider")
    else:
        assert (outcome.category, outcome.changes) == ("target_disabled", ())


def test_without_the_guard_a_providers_record_is_marked() -> None:
    theirs = add("b", memory_provider_mode="authoritative")
    outcome = judge("a", theirs, off="provider")
    assert outcome.category == "ok"
    assert [f.severity for f in found(outcome, "provider_record")] == [Severity.WARNING]


# -- unstorable ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "x\n§",
        "§\nx",
        "§",
        "x\n§\n§\ny",
        "x\n§\n\n§\ny",
        "x \n§\ny",
        "x\ry",
        "x\r§\ry",
        "half \ud83d",
    ],
)
def test_what_cannot_be_read_back_is_not_stored(content: str) -> None:
    """Spec 4.1, 6 item 15."""
    refused_by(judge("alpha", add(content)), "unstorable")
    refused_by(judge("alpha", swap("alpha", content)), "unstorable")
    in_batch = batch({"action": "add", "content": "fine"}, {"action": "add", "content": content})
    refused_by(judge("alpha", in_batch), "unstorable")
    assert not judge("alpha", add(content), off="unstorable").category.startswith("guard")


def test_half_a_character_fails_at_the_agent_too() -> None:
    assert judge("alpha", add("half \ud83d"), off="unstorable").category == "invalid"


def test_an_old_entry_that_would_swallow_the_new_one_is_seen() -> None:
    text = "alpha\n§\nx\n§"
    assert parse(text) == ("alpha", "x\n§")
    refused_by(judge(text, add("beta")), "unstorable")
    assert judge("§\nalpha", add("gamma")).category == "ok", "oracle add-leading-marker"


def test_a_marker_with_spaces_is_ordinary_text() -> None:
    outcome = judge("alpha", add("one\n § \ntwo"))
    assert (outcome.category, found(outcome, "guard_delimiter")) == ("ok", [])


# -- delimiter -------------------------------------------------------------------------------------


def test_the_delimiter_asks_and_says_how_many_entries() -> None:
    """D16."""
    outcome = judge("alpha", add("one\n§\ntwo\n§\nthree"))
    assert outcome.category == "ok"
    (finding,) = found(outcome, "guard_delimiter")
    assert finding.severity is Severity.WARNING
    assert "3 entries" in finding.message
    assert [change.after for change in outcome.entries] == ["one", "two", "three"]
    assert found(judge("alpha", add("one\n§\ntwo"), off="delimiter"), "guard_delimiter") == []
    crlf = judge("alpha", add("one\r\n§\r\ntwo"))
    assert written(crlf).data == "alpha\n§\none\n§\ntwo".encode()
    assert "2 entries" in found(crlf, "guard_delimiter")[0].message


# -- fragment --------------------------------------------------------------------------------------


def test_facts_beside_a_fragment_are_named() -> None:
    """D01: entry `A; B; C`, old_text `B`, content `B2`."""
    outcome = judge("A; B; C", swap("B", "B2"))
    assert outcome.category == "ok"
    (finding,) = found(outcome, "guard_fragment")
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith(
        "lost beside it: A, C. `signoff edit ID --splice` can keep the rest."
    )
    assert found(judge("A; B; C", swap("B", "B2"), off="fragment"), "guard_fragment") == []
    in_batch = batch({"action": "replace", "old_text": "B", "content": "B2"})
    assert len(found(judge("A; B; C", in_batch), "guard_fragment")) == 1
    pinned = swap("B", "B2", matched_entry="A; B; C")
    assert len(found(judge("A; B; C", pinned, NEW), "guard_fragment")) == 1


def test_a_splice_loses_nothing() -> None:
    """Spec 6 item 11: patch keeps the rest."""
    payload = swap("B", "B2", matched_entry="A; B; C") | {"action": "patch"}
    outcome = judge("A; B; C", payload, NEW)
    assert (written(outcome).data, found(outcome, "guard_fragment")) == (b"A; B2; C", [])


@pytest.mark.parametrize(
    ("entry", "old_text", "content", "lost"),
    [
        ("A; B; C", "B", "A; B2; C", ()),
        ("A; B; C", "A; B; C", "Z", ()),
        ("Kiln soak is 40 minutes.", "40 minutes", "Kiln soak is 45 minutes.", ()),
        (
            "Metric units, dark mode, short answers.",
            "dark mode",
            "Prefers light mode.",
            ("Metric", "units", "short", "answers"),
        ),
        ("Prefers tea.\nWorks at night", "Works at night", "Works by day", ("Prefers", "tea")),
        (
            "Deploys on Friday. Uses port 22.",
            "port 22",
            "Uses port 23, deploys Fridays.",
            ("Friday",),
        ),
        ("The door is blue; the key is old", "key is old", "Blue door, new key", ()),
        ("喜欢茶；住在柏林", "柏林", "住在巴黎", ("喜", "欢", "茶")),
        ("B; A; B", "B", "B2", ("A",)),
    ],
)
def test_lost_words(entry: str, old_text: str, content: str, lost: tuple[str, ...]) -> None:
    """D01: whole clauses beside the matched text, words compared without case."""
    assert losses(entry, old_text, content) == lost


def test_a_long_loss_is_cut() -> None:
    named = losses("x; " + " ".join(f"word{n}" for n in range(30)), "x", "y")
    assert len(named) == 13
    assert named[-1] == "and 18 more"


# -- modes and line ends ---------------------------------------------------------------------------


def test_the_files_mode_is_kept() -> None:
    """Oracle lock: the agent alone leaves a 0644 file at 0600."""
    outcome = judge("alpha", add("beta"), mode=0o644)
    assert written(outcome).mode == 0o644
    assert [f.severity for f in found(outcome, "guard_modes")] == [Severity.INFO]
    assert written(judge("alpha", add("beta"), mode=0o644, off="modes")).mode == 0o600
    assert found(judge("alpha", add("beta")), "guard_modes") == []
    newest = judge("alpha", add("beta"), NEW, mode=0o644)
    assert (written(newest).mode, found(newest, "guard_modes")) == (0o644, [])


def test_a_crlf_file_stays_one() -> None:
    """Oracle replace-crlf-file: the agent alone writes LF."""
    text = "alpha\r\n§\r\nbeta"
    outcome = judge(text, swap("alpha", "ALPHA\nand more"))
    assert written(outcome).data == "ALPHA\r\nand more\r\n§\r\nbeta".encode()
    assert [f.severity for f in found(outcome, "guard_line_endings")] == [Severity.INFO]
    alone = judge(text, swap("alpha", "ALPHA"), off="line_endings")
    assert written(alone).data == "ALPHA\n§\nbeta".encode()
    mixed = judge("one\r\ntwo\n§\nalpha", swap("alpha", "ALPHA"))
    assert written(mixed).data == "one\ntwo\n§\nALPHA".encode(), "oracle replace-after-crlf-entry"
    assert found(mixed, "guard_line_endings") == []


def test_keeping_the_line_ends_may_leave_nothing_to_write() -> None:
    outcome = judge("alpha\r\n§\r\nbeta", swap("alpha", "alpha"))
    assert (outcome.category, outcome.changes) == ("noop", ())


def test_a_byte_order_mark_is_kept() -> None:
    """Oracle replace-bom-file: the agent alone loses it with the first entry."""
    text = "\ufeffalpha\n§\nbeta"
    for rules in Rules:
        payload = swap("alpha", "omega", matched_entry="alpha" if rules is NEW else None)
        outcome = judge(text, payload, rules, off="fragment")
        assert written(outcome).data == "\ufeffomega\n§\nbeta".encode(), rules
        assert len(found(outcome, "guard_line_endings")) == 1
    assert written(judge("\ufeffalpha", remove("alpha"))).data == b"", "no mark on an empty store"
    full = judge(text, swap("alpha", "omega"), config=Config(memory_limit=12))
    assert written(full).data == "omega\n§\nbeta".encode(), "0.19 counts it against the budget"


# -- what lands with hidden characters -------------------------------------------------------------


def test_hidden_characters_the_agent_lets_pass_are_shown_where_they_land() -> None:
    """Oracle soft-hyphen: U+00AD is not in the agent's set."""
    outcome = judge("al\u00adpha", add("co\u00adoperate"))
    assert outcome.category == "ok"
    hidden = [finding for finding in outcome.findings if finding.at]
    assert [finding.at for finding in hidden] == [f"{MEMORY}:11"], "only the new text is judged"
    data = written(outcome).data.decode()
    assert data[11] == "\u00ad"


# -- the layer itself ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "payload", "category"),
    [
        ("alpha", remove("zeta"), "no_match"),
        ("alpha", add("x\n§", target="nowhere"), "guard_target"),
        ("alpha", add("system prompt override\n§"), "threat_pattern"),
        ("a\n\n§\nb", swap("b", "x\n§"), "external_drift"),
        ("alpha", add("alpha", target="nowhere"), "noop"),
    ],
)
def test_the_agents_refusal_comes_first(text: str, payload: Payload, category: str) -> None:
    outcome = judge(text, payload)
    assert (outcome.category, outcome.changes) == (category, ())


CONTENT = st.text(alphabet="ab §\n\r;", min_size=0, max_size=8)
OPS = st.fixed_dictionaries(
    {"action": st.sampled_from(["add", "replace", "remove"])},
    optional={"content": CONTENT, "old_text": CONTENT},
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(["a", "ab", "b; a", "§\nc", "d"]), max_size=4).map("\n§\n".join),
    st.text(alphabet="ab§\n \r\ufeff", max_size=10),
)


@given(TEXTS, st.lists(OPS, max_size=3), st.sampled_from(list(Rules)))
def test_a_guard_never_turns_a_refusal_into_a_landing(
    text: str, operations: list[dict[str, object]], rules: Rules
) -> None:
    alone = replay(view_of(text), batch(*operations), SETTINGS, rules)
    guarded = judge(text, batch(*operations), rules)
    assert not guarded.lands or alone.lands
    if guarded.category == "ok":
        assert guarded.entries == alone.entries
        lands = parse(written(guarded).data.decode().removeprefix("\ufeff").replace("\r\n", "\n"))
        meant = written(alone).data.decode().removeprefix("\ufeff").replace("\r\n", "\n")
        assert list(lands) == list(parse(meant)), "what lands reads back as it was meant"
