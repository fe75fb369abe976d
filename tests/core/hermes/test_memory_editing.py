"""A person's own hand on a memory file, pure: what is written, what is not, and what is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.homes.hermes.config import Config
from core.homes.hermes.memory import advice, editing
from core.homes.hermes.memory.entries import MemoryFile, decode, drift
from core.homes.hermes.memory.layout import cut
from core.homes.hermes.rules import Rules
from core.model import Change, EntryChange, Node, NodeKind, Outcome
from core.overlay import Overlay
from core.view import Reading, Tree, View

MEMORY, USER = "memories/MEMORY.md", "memories/USER.md"
OLD, NEW = Rules.V0_19, Rules.NEWEST
SETTINGS = Config()
D = "\n§\n"


def tree(memory: str | bytes | None, **more: str) -> Mapping[str, Node]:
    """A home with MEMORY.md, mode 0660; ``more`` by file name with ``_`` for a dot."""
    files = {} if memory is None else {MEMORY: memory}
    files |= {f"memories/{key.replace('_', '.')}": text for key, text in more.items()}
    return {
        path: Node(NodeKind.FILE, text if isinstance(text, bytes) else text.encode(), 0o660)
        for path, text in files.items()
    }


def view_of(memory: str | bytes | None, **more: str) -> View:
    return View(Tree(tree(memory, **more)))


def written(outcome: Outcome) -> bytes:
    assert outcome.category == "ok", outcome
    change = outcome.changes[-1]
    assert isinstance(change, Change)
    assert change.after is not None
    return change.after.data


def loaded(data: bytes) -> MemoryFile:
    """What the agent's parser makes of it."""
    file = decode(Reading(data))
    assert isinstance(file, MemoryFile)
    return file


def codes(outcome: Outcome) -> list[str]:
    return [found.code for found in outcome.findings]


def told(outcome: Outcome, code: str) -> str:
    return " ".join(found.message for found in outcome.findings if found.code == code)


def refused(outcome: Outcome, category: str, *words: str) -> None:
    assert (outcome.category, outcome.changes, outcome.entries) == (category, (), ())
    for word in words:
        assert word in outcome.message


# -- forget ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "left"),
    [
        (1, "two\n§\nthree one"),
        (2, "one\n§\nthree one"),
        (3, "one\n§\ntwo"),
        ("two", "one\n§\nthree one"),
        ("three", "one\n§\ntwo"),
        ("one", "two\n§\nthree one"),
        ("  two\r\n", "one\n§\nthree one"),
    ],
)
def test_forget_takes_one_entry_by_number_whole_text_or_part(which: int | str, left: str) -> None:
    outcome = editing.forget(view_of("one\n§\ntwo\n§\nthree one"), "memory", which, SETTINGS, OLD)
    assert written(outcome).decode() == left
    assert outcome.locks == ("memories/MEMORY.md.lock",)
    assert outcome.budget is not None
    assert (outcome.budget.before, outcome.budget.after) == (21, len(left))


def test_forget_takes_every_duplicate_and_keeps_all_other_bytes() -> None:
    text = "\n\na\r\n§\nb \n§\n\n c\rd\n§\na\n§\ne\n"
    outcome = editing.forget(view_of(text), "memory", "a", SETTINGS, OLD)
    assert written(outcome).decode() == "\n\nb \n§\n\n c\rd\n§\ne\n"
    assert outcome.entries == (EntryChange("a", None),)


@pytest.mark.parametrize("rules", [OLD, NEW])
def test_line_ends_and_byte_order_mark_stay(rules: Rules) -> None:
    """D-48 and D-49."""
    crlf = view_of("first\r\n§\r\nsecond\r\n§\r\nthird")
    assert (
        written(editing.forget(crlf, "memory", 2, SETTINGS, rules))
        == "first\r\n§\r\nthird".encode()
    )
    bom = view_of("\ufefffirst\n§\nsecond")
    assert (
        written(editing.forget(bom, "memory", "first", SETTINGS, rules)) == "\ufeffsecond".encode()
    )
    only = view_of("\ufefffirst")
    assert written(editing.forget(only, "memory", 1, SETTINGS, rules)) == b"", (
        "zero bytes, no entry"
    )


def test_a_rewrite_keeps_the_mode_and_a_new_file_is_private() -> None:
    change = editing.forget(view_of("a\n§\nb"), "memory", 1, SETTINGS, OLD).changes[-1]
    assert isinstance(change, Change)
    assert change.after is not None
    assert change.after.mode == 0o660
    folder, file = editing.add(View(Tree({})), "user", "new", SETTINGS, OLD).changes
    assert isinstance(folder, Change)
    assert isinstance(file, Change)
    assert (folder.path, file.path, file.before) == ("memories", USER, None)
    assert file.after == Node(NodeKind.FILE, b"new", 0o600)


def test_what_names_no_entry_or_several() -> None:
    view = view_of("glaze batch 7\n§\nglaze batch 8\n§\nkiln")
    refused(editing.forget(view, "memory", 4, SETTINGS, OLD), "no_match", "4", "holds 3 entries")
    refused(editing.forget(view, "memory", 0, SETTINGS, OLD), "no_match")
    refused(editing.forget(view, "memory", "cone", SETTINGS, OLD), "no_match", "“cone”")
    refused(editing.forget(view, "memory", "GLAZE", SETTINGS, OLD), "no_match")
    refused(editing.forget(view, "memory", " \n", SETTINGS, OLD), "empty")
    ambiguous = editing.forget(view, "memory", "glaze", SETTINGS, OLD)
    refused(ambiguous, "ambiguous", "1 “glaze batch 7”", "2 “glaze batch 8”")
    assert len(ambiguous.claims) == 2
    refused(editing.forget(view, "else", 1, SETTINGS, OLD), "invalid_target")


def test_a_file_that_cannot_be_read_is_never_written() -> None:
    """D15."""
    view = view_of(b"caf\xe9")
    for outcome in (
        editing.forget(view, "memory", 1, SETTINGS, OLD),
        editing.add(view, "memory", "new", SETTINGS, OLD),
        editing.normalise(view, "memory", SETTINGS, OLD),
    ):
        refused(outcome, "unreadable_target", "0xe9")


def test_forget_says_what_remains() -> None:
    view = view_of(
        "the kiln\n§\nwe own the kiln",
        USER_md="fires the kiln daily",
        MEMORY_md_bak_1795000000="x\n§\nthe kiln",
        MEMORY_md_bak_1795000001="nothing of it",
        USER_md_bak_1795000002="the kiln",
    )
    config = Config(provider="honcho")
    outcome = editing.forget(view, "memory", 1, config, OLD)
    said = told(outcome, "remains")
    for words in (
        "next session or compaction",
        "Messages of past sessions are not touched",
        "“we own the kiln”",
        "USER.md holds the same words: “fires the kiln daily”",
        "MEMORY.md.bak.1795000000",
        "provider honcho",
        "Other profiles",
        "journal",
    ):
        assert words in said
    assert "1795000001" not in said
    assert "provider" not in told(editing.forget(view, "memory", 1, SETTINGS, OLD), "remains")
    keys = {fact.key for fact in view.facts}
    assert keys == {MEMORY}, "what only informs seals nothing"


# -- edit, add, move -------------------------------------------------------------------------------


def test_edit_changes_one_entry_in_the_style_of_the_file() -> None:
    view = view_of("first\r\n§\r\nsecond\r\n§\r\nfirst")
    outcome = editing.edit(view, "memory", 1, " one\nline\n", SETTINGS, OLD)
    assert written(outcome) == "one\r\nline\r\n§\r\nsecond".encode()
    assert outcome.entries == (EntryChange("first", "one\nline"),)
    assert "remains" in codes(outcome)
    assert editing.edit(view, "memory", 1, "first\n", SETTINGS, OLD).category == "noop"


def test_edit_to_what_another_entry_says_drops_the_entry() -> None:
    outcome = editing.edit(view_of("a\n§\nb\n§\nc"), "memory", 3, "a", SETTINGS, OLD)
    assert written(outcome).decode() == "a\n§\nb"
    assert outcome.entries == (EntryChange("c", None),)
    assert "Entry 1" in outcome.message


def test_the_budget_holds_for_what_grows_and_never_stands_in_the_way_of_less() -> None:
    config = Config(memory_limit=10)
    refused(
        editing.add(view_of("12345"), "memory", "678", config, OLD),
        "over_budget",
        "11 of 10",
        "1 over",
    )
    assert (
        written(editing.add(view_of("12345"), "memory", "67", config, OLD)).decode()
        == "12345\n§\n67"
    )
    full = "12345\n§\n67890"
    refused(
        editing.edit(view_of(full), "memory", 1, "123456", config, OLD),
        "replace_over_budget",
        "14 of 10",
        "holds 13 now",
    )
    assert (
        written(editing.edit(view_of(full), "memory", 1, "1234", config, OLD))
        == "1234\n§\n67890".encode()
    )
    assert editing.forget(view_of(full), "memory", 1, config, OLD).lands
    marked = view_of("\ufeff12345")
    refused(editing.add(marked, "memory", "67", config, OLD), "over_budget", "11 of 10")
    assert editing.add(marked, "memory", "67", config, NEW).lands, (
        "newer agents do not count the mark"
    )


@pytest.mark.parametrize(
    ("text", "category", "why"),
    [
        ("", "empty", "empty"),
        (" \n\t", "empty", "empty"),
        ("a\n§\nb", "guard_unstorable", "several"),
        ("a\r\n§\r\nb", "guard_unstorable", "several"),
        ("§\nb", "guard_unstorable", "begins or ends"),
        ("a\n§", "guard_unstorable", "begins or ends"),
        ("§", "guard_unstorable", "begins or ends"),
        ("\ud83d", "guard_unstorable", "half a character"),
    ],
)
def test_what_is_no_single_entry_is_refused(text: str, category: str, why: str) -> None:
    """D16, D-06, D-23."""
    view = view_of("one\n§\ntwo")
    refused(editing.add(view, "memory", text, SETTINGS, OLD), category, why)
    refused(editing.edit(view, "memory", 1, text, SETTINGS, OLD), category, why)


def test_a_section_sign_inside_a_line_is_text() -> None:
    """D17."""
    outcome = editing.add(view_of("one"), "memory", "see § 4\n § \nend", SETTINGS, OLD)
    assert loaded(written(outcome)).entries == ("one", "see § 4\n § \nend")


def test_a_mark_that_would_be_lost_at_the_top_is_refused() -> None:
    refused(editing.add(view_of(None), "memory", "\ufefffact", SETTINGS, OLD), "guard_unstorable")


def test_a_persons_text_is_stored_though_the_agent_hides_it() -> None:
    """D19: and the finding says so."""
    text = "check in with the team"
    outcome = editing.add(view_of("one"), "memory", text, SETTINGS, OLD)
    assert loaded(written(outcome)).entries == ("one", text)
    assert "c2_heartbeat" in told(outcome, "blocked_at_load")
    outcome = editing.edit(view_of("one"), "memory", 1, "می‌روم", SETTINGS, OLD)
    assert "U+200C" in told(outcome, "blocked_at_load")
    off = Config(memory_enabled=False)
    assert "memory_enabled" in told(
        editing.add(view_of("a"), "memory", "b", off, OLD), "target_disabled"
    )


def test_add_knows_what_is_there() -> None:
    view = view_of("one\n§\ntwo")
    outcome = editing.add(view, "memory", "two\n", SETTINGS, OLD)
    assert (outcome.category, outcome.changes) == ("noop", ())
    assert "Entry 2" in outcome.message


@pytest.mark.parametrize(
    ("which", "to", "left"), [(1, 3, "bca"), (3, 1, "cab"), (2, 1, "bac"), ("a", 2, "bac")]
)
def test_move(which: int | str, to: int, left: str) -> None:
    outcome = editing.move(view_of("\na\n§\nb\n§\nc\n"), "memory", which, to, SETTINGS, OLD)
    assert written(outcome).decode() == "\n" + D.join(left) + "\n", "white space stays at the edges"
    assert outcome.entries == ()


def test_move_to_nowhere_and_to_where_it_is() -> None:
    view = view_of("a\n§\nb")
    refused(editing.move(view, "memory", 1, 3, SETTINGS, OLD), "no_match", "no place 3")
    refused(editing.move(view, "memory", 1, 0, SETTINGS, OLD), "no_match")
    assert editing.move(view, "memory", 2, 2, SETTINGS, OLD).category == "noop"


def test_an_entry_that_ends_with_a_marker_is_not_moved_into_another() -> None:
    view = view_of("a\n§\nb\n§")
    refused(editing.move(view, "memory", 2, 1, SETTINGS, OLD), "guard_unstorable", "§ line")
    refused(editing.add(view, "memory", "c", SETTINGS, OLD), "guard_unstorable")
    assert written(editing.edit(view, "memory", 2, "b", SETTINGS, OLD)).decode() == "a\n§\nb"


# -- normalise -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "after", "lines"),
    [
        ("first\n\n§\nsecond\n§\n\nthird\n", "first\n§\nsecond\n§\nthird\n", [2, 6]),
        ("a \n§\nb", "a\n§\nb", [1]),
        ("a\n§\n b", "a\n§\nb", [3]),
        ("a\n§\n\n§\nb", "a\n§\nb", [3]),
        ("\n§\na", "a", [2]),
        ("a\n§\n", "a", [2]),
        ("a\r\n\r\n§\r\nb\r\nc", "a\r\n§\r\nb\r\nc", [2]),
        ("\ufeffa\n\n§\nb", "\ufeffa\n§\nb", [2]),
        ("\n\n§\n", "", [3]),
    ],
)
def test_normalise_mends_what_trips_the_guard(text: str, after: str, lines: list[int]) -> None:
    """D13 (hermes 61523) and D-50: named line by line, entries kept."""
    outcome = editing.normalise(view_of(text), "memory", SETTINGS, NEW)
    assert written(outcome).decode() == after
    found = [each.message for each in outcome.findings if each.code == "mended"]
    assert [message.split(":")[0] for message in found] == [f"Line {line}" for line in lines]
    assert "every character" in told(outcome, "entries_kept")
    assert outcome.entries == ()
    assert drift(loaded(after.encode()).text, SETTINGS.memory_limit) is None


def test_normalise_drops_duplicates_and_leaves_the_rest() -> None:
    outcome = editing.normalise(view_of("\n\na\r\n§\nb\rc\n§\na\n\n"), "memory", SETTINGS, OLD)
    assert written(outcome).decode() == "\n\na\r\n§\nb\rc\n\n"
    assert "1 entry" in told(outcome, "mended")


@pytest.mark.parametrize("text", [None, "", "a", "\n a\r\n§\r\nb\n\n", "\ufeffa", "a § b"])
def test_nothing_to_mend(text: str | None) -> None:
    outcome = editing.normalise(view_of(text), "memory", SETTINGS, OLD)
    assert (outcome.category, outcome.changes, outcome.findings) == ("noop", (), ())


def test_an_oversize_entry_is_named_not_mended() -> None:
    config = Config(memory_limit=5)
    refused(
        editing.normalise(view_of("a\n§\n123456"), "memory", config, OLD),
        "external_drift",
        "entry 2 (6 characters, “123456”)",
    )
    both = editing.normalise(view_of("a\n\n§\n123456"), "memory", config, OLD)
    assert written(both).decode() == "a\n§\n123456"
    assert "entry 2" in told(both, "external_drift")


def test_other_changes_leave_drift_and_say_so() -> None:
    outcome = editing.forget(view_of("a\n\n§\nb\n§\nc"), "memory", "c", SETTINGS, OLD)
    assert written(outcome).decode() == "a\n\n§\nb"
    assert "Line 2 is blank" in told(outcome, "external_drift")


# -- properties ------------------------------------------------------------------------------------

ENTRY = st.text(st.sampled_from("abé§ \n\u00a0😀"), min_size=1, max_size=12).map(str.strip)
STORABLE = ENTRY.filter(
    lambda text: (
        bool(text)
        and D not in text
        and not text.startswith("§\n")
        and not text.endswith("\n§")
        and text != "§"
    )
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
FILES = st.tuples(st.lists(STORABLE, max_size=5), ENDS, st.sampled_from(["", "\ufeff"]))
RULES = st.sampled_from([OLD, NEW])
ANY_TEXT = st.text(st.sampled_from("ab§ \n\r"), max_size=24)


def file_of(made: tuple[list[str], str, str]) -> bytes:
    entries, end, bom = made
    return (bom + D.join(entries).replace("\n", end)).encode() if entries else b""


def check(before: bytes, outcome: Outcome, entries: Iterable[str], rules: Rules) -> bytes:
    """The agent reads exactly ``entries``, finds no drift; the mark and line ends are kept."""
    expected = tuple(dict.fromkeys(entries))
    if outcome.category == "noop":
        assert loaded(before).unique == expected
        return before
    data = written(outcome)
    file = loaded(data)
    assert file.unique == expected
    assert drift(file.text, SETTINGS.memory_limit) is None
    was = loaded(before)
    if file.unique and was.unique:
        assert file.bom is was.bom
    if len(was.line_ends) == 1:
        assert file.line_ends <= was.line_ends
    return data


@given(FILES, STORABLE, RULES)
def test_add_edit_forget_undo_each_other(
    made: tuple[list[str], str, str], text: str, rules: Rules
) -> None:
    before = file_of(made)
    entries = list(loaded(before).unique)
    assume(text not in entries and len(entries) == len(made[0]))
    data = check(
        before,
        editing.add(view_of(before), "memory", text, SETTINGS, rules),
        [*entries, text],
        rules,
    )
    outcome = editing.forget(view_of(data), "memory", text, SETTINGS, rules)
    assert check(data, outcome, entries, rules) == before
    for number, old in enumerate(entries, 1):
        changed = [text if each == old else each for each in entries]
        outcome = editing.edit(view_of(before), "memory", number, text, SETTINGS, rules)
        data = check(before, outcome, changed, rules)
        back = editing.edit(view_of(data), "memory", text, old, SETTINGS, rules)
        again = check(data, back, entries, rules)
        if loaded(data).line_ends == loaded(before).line_ends:
            assert again == before, "a file without any line end has no style to keep"


@given(FILES, st.data())
def test_move_orders_as_asked_and_back(
    made: tuple[list[str], str, str], data: st.DataObject
) -> None:
    before = file_of(made)
    entries = list(loaded(before).unique)
    assume(entries and len(entries) == len(made[0]))
    places = st.integers(1, len(entries))
    start, to = data.draw(places), data.draw(places)
    order = list(entries)
    order.insert(to - 1, order.pop(start - 1))
    outcome = editing.move(view_of(before), "memory", start, to, SETTINGS, OLD)
    after = check(before, outcome, order, OLD)
    assert (
        check(after, editing.move(view_of(after), "memory", to, start, SETTINGS, OLD), entries, OLD)
        == before
    )


@given(ANY_TEXT, st.sampled_from(["", "\ufeff"]))
def test_any_text_is_cut_and_joined_as_the_agent_reads_it(text: str, bom: str) -> None:
    file = loaded((bom + text).encode())
    layout = cut(text)
    assert layout.text == text
    assert layout.entries == file.entries
    assert layout.tidied().unique == layout.unique


@given(ANY_TEXT)
def test_normalise_loses_no_entry_and_leaves_no_drift(text: str) -> None:
    before = text.encode()
    outcome = editing.normalise(view_of(before), "memory", SETTINGS, NEW)
    if outcome.category == "guard_unstorable":
        return
    after = before if outcome.category == "noop" else written(outcome)
    assert loaded(after).unique == loaded(before).unique
    assert loaded(after).entries == loaded(after).unique
    assert drift(loaded(after).text, SETTINGS.memory_limit) is None
    assert editing.normalise(view_of(after), "memory", SETTINGS, NEW).category == "noop"


@given(ANY_TEXT, st.integers(1, 4))
def test_forget_leaves_every_other_entry_as_it_stands(text: str, number: int) -> None:
    before = text.encode()
    layout = cut(text)
    outcome = editing.forget(view_of(before), "memory", number, SETTINGS, NEW)
    if number > len(layout.unique):
        refused(outcome, "no_match")
        return
    gone = layout.unique[number - 1]
    if outcome.category == "guard_unstorable":
        return
    kept = tuple(
        body for body, entry in zip(layout.bodies, layout.entries, strict=True) if entry != gone
    )
    assert cut(written(outcome).decode()).bodies == kept


@given(ANY_TEXT, st.integers(1, 4))
def test_a_change_laid_over_the_home_can_be_taken_back(text: str, number: int) -> None:
    source = Tree(tree(text))
    outcome = editing.forget(View(source), "memory", number, SETTINGS, NEW)
    assume(outcome.category == "ok")
    change = outcome.changes[-1]
    assert isinstance(change, Change)
    over = Overlay(source, [change])
    assert View(over).read(MEMORY).data == written(outcome)
    back = Overlay(over, [Change(MEMORY, change.after, change.before)])
    assert View(back).read(MEMORY).data == text.encode()


# -- copies and cost -------------------------------------------------------------------------------


def test_backups_are_the_agents_copies_only() -> None:
    nodes = {
        **tree(
            "a",
            MEMORY_md_bak_17="old",
            MEMORY_md_bak_20="a",
            USER_md_bak_5="u",
            MEMORY_md_bak_x="?",
        ),
        "memories/MEMORY.md.bak.30": Node(NodeKind.LINK, b"MEMORY.md"),
    }
    view = View(Tree(nodes))
    found = [
        (copy.file.rpartition(".")[2], copy.at, copy.data)
        for copy in advice.backups(view, "memory")
    ]
    assert found == [("20", 20, b"a"), ("17", 17, b"old"), ("x", None, b"?")]
    assert view.facts == ()


def test_tokens_of_nothing_are_none() -> None:
    assert advice.tokens("memory", (), 2200) == 0
    # Two rules of 46, the title of 28, " [0% — 1/2,200 chars]" of 21, four line ends less one, "a".
    assert advice.tokens("memory", ("a",), 2200) == -(-(46 + 1 + 28 + 21 + 1 + 46 + 1 + 1) // 4)
    hidden = ("fine", "check in with the team")
    # In place of the second stands a placeholder of 126 characters, file name and pattern name.
    used = 4 + 3 + 126 + len("MEMORY.md") + len("c2_heartbeat")
    header = 46 + 1 + 28 + len(" [7% — 154/2,200 chars]") + 1 + 46 + 1
    assert used == 154
    assert advice.tokens("memory", hidden, 2200) == -(-(header + used) // 4) == 75
