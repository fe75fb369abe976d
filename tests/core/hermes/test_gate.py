"""The gate switched in place: one value or one line changes, every other byte stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.config import read_config
from core.homes.hermes.gate import plan_gate
from core.homes.hermes.yaml_text import parse
from core.model import Change, Node, NodeKind, Outcome
from core.view import Tree, View

#: Files in which both gates can be switched either way.
EDITABLE = [
    b"",
    b"# only a comment",
    b"---\n# a document of comments\n",
    b"{}\n",
    b"memory:\n  write_approval: false  # ask me\nskills:\n  write_approval: 'off'\n",
    b"memory:\r\n  # first\r\n  memory_char_limit: 2200\r\nskills: # none yet\r\n",
    b"\xef\xbb\xbfmemory:\n    write_approval: no\nmodel: ''\n",
    b"memory: {memory_char_limit: 5}\nskills: {}\n",
    b"memory: {write_approval: on, memory_char_limit: 5}\nskills: {write_approval: off}",
    b"{memory: {a: 1}, other: [1, 2]}\n",
    b"memory: null\nskills: ~ # nothing\n",
    b"memory:\nskills:",
    b"memory:\n  write_approval:   # to be decided\nskills:\n  write_approval: [1]\n",
    b"memory:\n  write_approval: ${GATE}\n",
    b"model: a\n...\n",
    b"note: |\n  kept as it is",
    b"note: |+\n  kept as it is\n\n",
    b"  memory:\n    a: 1\n  other: 2\n",
    b"base: &b {write_approval: true}\nmemory:\n  <<: *b\nskills:\n  <<: *b\n",
    b"memory:\n  a: 1\nmemory:\n  write_approval: no\n",
    b"--- !!map\nmodel: a\n",
    b"x: .nan\nmemory:\n  list:\n  - 1\n  - {a: b}\n",
    b"memory:\r  a: 1\r",
]


def _plan(text: bytes, on: bool = True, subsystems: tuple[str, ...] = ("memory",)) -> Outcome:
    return plan_gate(View(Tree({"config.yaml": text})), on, subsystems)


def _after(outcome: Outcome) -> bytes:
    (change,) = outcome.changes
    assert isinstance(change, Change)
    assert change.after is not None
    return change.after.data


@pytest.mark.parametrize("text", EDITABLE)
@pytest.mark.parametrize("on", [True, False])
def test_both_gates_end_as_asked(text: bytes, on: bool) -> None:
    outcome = _plan(text, on, ("memory", "skills"))
    after = _after(outcome) if outcome.category == "ok" else text
    assert outcome.category in {"ok", "noop"}
    config = read_config(View(Tree({"config.yaml": after})), {})
    assert (config.memory_gate.on, config.skills_gate.on) == (on, on)
    assert (config.memory_gate.source, config.skills_gate.source) == ("config", "config")
    again = _plan(after, on, ("memory", "skills"))
    assert (again.category, again.changes) == ("noop", ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # a value: comment, order, quoting of others, line ends and mark stay
        (b"a: 'x'\nmemory:\n  write_approval: false   # ask\n  b: \"y\"\n", b"a: 'x'\nmemory:\n  write_approval: true   # ask\n  b: \"y\"\n"),
        (b"\xef\xbb\xbfmemory:\r\n  write_approval: no\r\n", b"\xef\xbb\xbfmemory:\r\n  write_approval: true\r\n"),
        (b"memory:\n  write_approval:  # later\n", b"memory:\n  write_approval: true  # later\n"),
        (b"memory: {write_approval: off, a: 1}", b"memory: {write_approval: true, a: 1}"),
        # a line in a section, with that section's indentation
        (b"memory:\n    # limits\n    a: 1\n", b"memory:\n    # limits\n    write_approval: true\n    a: 1\n"),
        (b"memory: {a: 1}\n", b"memory: {write_approval: true, a: 1}\n"),
        (b"memory: # none\nb: 1\n", b"memory: # none\n  write_approval: true\nb: 1\n"),
        (b"memory: ~\n", b"memory: {write_approval: true}\n"),
        (b"{memory: , b: 1}\n", b"{memory: {write_approval: true} , b: 1}\n"),
        # a section
        (b"", b"memory:\n  write_approval: true\n"),
        (b"b: 1", b"b: 1\nmemory:\n  write_approval: true\n"),
        (b"b: 1\r\n", b"b: 1\r\nmemory:\r\n  write_approval: true\r\n"),
        (b"# head\nb: |\n  text", b"# head\nmemory:\n  write_approval: true\nb: |\n  text"),
        (b"{b: 1}\n", b"{memory: {write_approval: true}, b: 1}\n"),
    ],
)  # fmt: skip
def test_only_the_asked_text_is_spliced(before: bytes, after: bytes) -> None:
    assert _after(_plan(before)) == after


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"base: &b {a: 1}\nmemory: *b\n", "alias"),
        (b"flag: &f off\nmemory:\n  write_approval: *f\n", "alias"),
        (b"memory: &m {a: 1}\nskills: *m\n", "something else would change"),
        (b"base: &b {memory: {a: 1}}\n<<: *b\n", "something else would change"),
        (b"memory:\n  write_approval: |\n    off\n", "several lines"),
        (b"memory:\n  write_approval:\n  - 1\n", "several lines"),
        (b"memory: on\n", "would be lost"),
        (b"memory: [1]\n", "would be lost"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text: bytes, word: str) -> None:
    outcome = _plan(text)
    assert (outcome.category, outcome.changes) == ("invalid", ())
    assert word in outcome.message


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"memory: [\n", "line 2"),
        (b"memory: \xff\n", "UTF-8"),
        (b"- a\n- b\n", "mapping"),
        (b"x: !odd 1\n", "line 1"),
        (b"x: 2024-99-99\n", "ValueError"),
    ],
)
def test_an_unreadable_config_is_never_written(text: bytes, word: str) -> None:
    """Spec 1.4: to the agent it is all defaults, so a rewrite would lose every key in it."""
    outcome = _plan(text)
    assert (outcome.category, outcome.changes) == ("unreadable_target", ())
    assert word in outcome.message


def test_a_config_that_is_no_file_is_never_written() -> None:
    view = View(Tree({"config.yaml": Node(NodeKind.DIR)}))
    assert plan_gate(view, True, ("memory",)).category == "unreadable_target"


def test_a_missing_config_is_made_for_its_owner_only() -> None:
    outcome = plan_gate(View(Tree({})), True, ("memory", "skills"))
    made = Node(
        NodeKind.FILE,
        b"memory:\n  write_approval: true\nskills:\n  write_approval: true\n",
        0o600,
    )
    assert outcome.changes == (Change("config.yaml", None, made),)


def test_mode_is_kept_and_the_read_is_recorded() -> None:
    before = Node(NodeKind.FILE, b"memory:\n", 0o640)
    view = View(Tree({"config.yaml": before}))
    (change,) = plan_gate(view, True, ("memory",)).changes
    assert isinstance(change, Change)
    assert change.after is not None
    assert (change.before, change.after.mode) == (before, 0o640)
    assert [fact.key for fact in view.facts] == ["config.yaml"]


@pytest.mark.parametrize("value", ["true", "yes", "'on'", "approve", "' Enabled '"])
def test_noop_when_an_explicit_key_says_so_already(value: str) -> None:
    text = f"memory: {{write_approval: {value}}}\n".encode()
    assert _plan(text, True).category == "noop"
    assert _plan(text, False).category == "ok"


def test_off_by_default_is_not_off_by_key() -> None:
    assert _after(_plan(b"memory: {}\n", False)) == b"memory: {write_approval: false}\n"


MANAGED = Path("/etc/hermes")


@pytest.mark.parametrize("own", ["false", "true"])
@pytest.mark.parametrize("admin", ["memory: {write_approval: false}", "memory: 5"])
def test_a_gate_that_the_administrator_keeps_is_not_reported_as_switched(
    own: str, admin: str
) -> None:
    tree = Tree(
        {
            "config.yaml": f"memory: {{write_approval: {own}}}\n".encode(),
            "/etc/hermes/config.yaml": admin.encode(),
        }
    )
    outcome = plan_gate(View(tree), True, ("memory",), managed=MANAGED)
    assert (outcome.category, outcome.changes) == ("invalid", ())
    assert "/etc/hermes/config.yaml" in outcome.message
    assert "keeps the gate of memory off" in outcome.message
    assert [finding.code for finding in outcome.findings] == ["managed_overrules"]
    free = plan_gate(View(tree), True, ("skills",), managed=MANAGED)
    assert free.category == "ok"
    both = plan_gate(View(tree), True, ("memory", "skills"), managed=MANAGED)
    assert (both.category, both.changes) == ("invalid", ())


def test_an_administrator_who_wants_the_same_stands_in_nobodys_way() -> None:
    files = {
        "config.yaml": b"memory: {write_approval: false}\n",
        "/etc/hermes/config.yaml": b"memory: {write_approval: true}\n",
    }
    view = View(Tree(files))
    outcome = plan_gate(view, True, ("memory",), managed=MANAGED)
    assert (outcome.category, outcome.findings) == ("ok", ())
    assert "/etc/hermes/config.yaml" in [fact.key for fact in view.facts]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("text", [b"agent: 3\n", b"agent: on\nmemory: {write_approval: true}\n"])
def test_a_config_the_agent_cannot_load_is_not_reported_as_switched(text: bytes, on: bool) -> None:
    """0.19.0 makes a dict of ``agent`` first: on a number it raises, and every gate is off."""
    outcome = _plan(text, on)
    assert (outcome.category, outcome.changes) == ("unreadable_target", ())
    assert "agent section" in outcome.message


@pytest.mark.parametrize(("version", "codes"), [(28, ["legacy_key"]), (29, [])])
def test_an_old_key_that_a_migration_would_use_is_said(version: int, codes: list[str]) -> None:
    """Spec 1.4, legacy ``write_mode``: 0.19.0 migrates it below config version 29."""
    text = f"memory: {{write_mode: 'off'}}\n_config_version: {version}\n".encode()
    assert [finding.code for finding in _plan(text).findings] == codes


_scalars = st.sampled_from(["1", "'a b'", '"x: y"', "true", "[1, 2]", "{a: b}", "", "~", "# c"])
_keys = st.sampled_from(["a", "write_approval", "'q r'", "z", "memory", "skills"])


@given(
    st.lists(
        st.tuples(_keys, _scalars, st.lists(st.tuples(_keys, _scalars), max_size=3)), max_size=5
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.booleans(),
)
def test_whatever_the_file_only_one_key_changes(
    sections: list[tuple[str, str, list[tuple[str, str]]]], end: str, mark: str, on: bool
) -> None:
    lines = []
    for key, value, inside in sections:
        lines.append(f"{key}:" if inside else f"{key}: {value}")
        lines += [f"   {name}: {part}  # note" for name, part in inside]
    text = (mark + end.join(lines)).encode()
    before = parse(text)
    outcome = _plan(text, on)
    if before.reason or outcome.category != "ok":
        assert outcome.changes == ()
        return
    after = _after(outcome)
    section = (before.value or {}).get("memory") or {}
    assert parse(after).value == {
        **(before.value or {}),
        "memory": {**section, "write_approval": on},
    }
    assert after.count(b"#") == text.count(b"#")
    assert after.startswith(mark.encode())
