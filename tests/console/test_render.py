"""Pure render functions: never wider than asked, nothing obeyed, no finding folded away."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.content import Content

from console.actions import MODES
from console.help import help_lines
from console.render.diffs import FOLD, diff_lines
from console.render.foreseen import Foreseen, Turn, foreseen_lines
from console.render.header import HomeFacts, header, notice
from console.render.hints import with_keys
from console.render.journal import JournalDetail, JournalItem, journal_lines, journal_row
from console.render.line import Line
from console.render.memory import MemoryItem, StoreInfo, memory_lines, memory_row
from console.render.preview import PROPOSED, Preview, budget_bar, preview_lines
from console.render.problem import problem_lines
from console.render.queue import SIGNS, QueueItem, queue_row
from console.screens.batch import Batch
from core.homes.hermes.status import Status
from core.model import Budget, Change, EntryChange, Finding, Node, NodeKind, Receipt, Severity
from tests.console.pilots import JOURNAL_MODE

#: What no line may hold, whatever an agent wrote: controls, C1, bidi, zero-width, tags.
FORBIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
NASTY = (
    "[/x]",
    "[@click=app.quit]press[/]",
    "\x1b[2J\x1b]52;c;aGk=\x07",
    "a\rb\x85c\u2028d",
    "\u202eright\u2066",
    "\u200bze\ufeffro\U000e0041",
    "日本語の文章",
    "e\u0301\u0302 👩\u200d💻",
    "x" * 300,
    "",
)
texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=60),
    st.lists(st.sampled_from(NASTY), max_size=4).map("\n".join),
)
widths = st.integers(20, 130)


def plain(lines: Iterable[Line]) -> list[str]:
    return [line.content.plain for line in lines]


def check(lines: Iterable[Content], width: int) -> None:
    for line in lines:
        assert line.cell_length <= width, (line.plain, width)
        assert not FORBIDDEN.search(line.plain), line.plain
        for span in line.spans:
            style = span.style
            assert not getattr(style, "meta", None), style
            assert not isinstance(style, str) or "@" not in style


def item(**more: Any) -> QueueItem:
    fields: dict[str, Any] = {
        "key": "pending/memory/1.json",
        "token": "memory/1",
        "id": "1",
        "subsystem": "memory",
        "action": "add",
        "target": "memory",
        "age": "3d",
        "origin": "background_review",
        "summary": "add to memory: a fact",
        "status": "ready",
    }
    return QueueItem(**(fields | more))


def preview(**more: Any) -> Preview:
    fields: dict[str, Any] = {
        "id": "1",
        "subsystem": "memory",
        "action": "add",
        "target": "memory",
        "origin": "from a conversation",
        "status": "ready",
        "message": "Adds 1 entry.",
        "findings": (),
        "budget": None,
        "strategy": None,
        "entries": (),
        "changes": (),
        "also": (),
    }
    return Preview(**(fields | more))


def decision(**more: Any) -> JournalItem:
    fields: dict[str, Any] = {
        "key": "1",
        "number": 1,
        "verb": "approve",
        "subject": "b71d90e4",
        "state": "done",
        "age": "3d ago",
        "message": "Adds 1 entry.",
        "note": "",
        "undone_by": None,
    }
    return JournalItem(**(fields | more))


def node(text: str) -> Node:
    return Node(NodeKind.FILE, text.encode("utf-8", "surrogatepass"), 0o600)


# -- widths, and what is hostile -----------------------------------------------------------


@given(texts, texts, texts, st.sampled_from(sorted(SIGNS)), widths, st.integers(0, 12))
@settings(max_examples=150, deadline=None)
def test_a_queue_row_fits(
    target: str, summary: str, action: str, word: str, width: int, rivals: int
) -> None:
    row = queue_row(
        item(
            target=target, summary=summary, action=action, origin=target, status=word, rivals=rivals
        ),
        width,
    )
    assert len(row) == 2
    check(row, width)


@given(texts, texts, texts, widths, st.booleans(), st.booleans())
@settings(max_examples=120, deadline=None)
def test_a_preview_fits(
    old: str, new: str, words: str, width: int, split: bool, folded: bool
) -> None:
    shown = preview(
        target=words,
        origin=words,
        message=words,
        findings=(Finding("x", Severity.WARNING, words, words),),
        budget=Budget("memory", 10, 2500, 2200),
        strategy=words,
        entries=(EntryChange(old, new), EntryChange(None, new), EntryChange(old, None)),
        also=(words,),
        proposed=((words, new),),
    )
    lines = preview_lines(shown, width, split=split, folded=folded)
    check((line.content for line in lines), width)
    change = Change("skills/x/SKILL.md", node(old), node(new))
    lines = preview_lines(preview(subsystem="skills", changes=(change,)), width, split=split)
    check((line.content for line in lines), width)


@given(texts, texts, widths)
@settings(max_examples=100, deadline=None)
def test_journal_and_memory_fit(one: str, other: str, width: int) -> None:
    entry = decision(subject=one, message=other, note=one, verb="reject")
    check(journal_row(entry, width), width)
    detail = JournalDetail(entry, one, other, one, other, (EntryChange(one, other),), ())
    check((line.content for line in journal_lines(detail, width)), width)
    memory = MemoryItem(
        "k",
        f"memories/{one}",
        1,
        other,
        12,
        (Finding("blocked_at_load", Severity.WARNING, one, other),),
    )
    check(memory_row(memory, width), width)
    store = StoreInfo(one, other, 12, 2200, 1, "", other)
    check((line.content for line in memory_lines(memory, store, width)), width)


@given(texts, texts, st.integers(38, 200))
@settings(max_examples=80, deadline=None)
def test_the_header_fits(home: str, profile: str, width: int) -> None:
    facts = HomeFacts(
        home, "hermes", profile, "0.19", (("memory", True), ("skills", False)), 3, 1, 2
    )
    check(header("review", facts, "live", width).split("\n"), width)
    said = notice(HomeFacts(home, "hermes", profile, "0.19", (), 0, 0, 0, (home, profile)))
    check(said.split("\n"), 10_000)


@given(texts, st.integers(20, 100))
@settings(max_examples=50, deadline=None)
def test_a_problem_fits(message: str, width: int) -> None:
    check((line.content for line in problem_lines(ValueError(message), message, width)), width)


@pytest.mark.parametrize("width", [60, 72, 108, 140])
@pytest.mark.parametrize("kind", ["hermes", "vak"])
@pytest.mark.parametrize("mode", MODES)
def test_help_fits(mode: str, kind: str, width: int) -> None:
    check((line.content for line in help_lines(mode, kind, width)), width)


# -- the queue -----------------------------------------------------------------------------


def test_every_status_has_a_sign_of_its_own_or_a_word() -> None:
    assert {str(status) for status in Status} <= set(SIGNS)
    for word in SIGNS:
        head = queue_row(item(status=word), 80)[0].plain
        assert (word or "judging").replace("_", " ") in head


def test_a_row_says_where_it_came_from_where_there_is_room() -> None:
    first, second = queue_row(item(rivals=1), 80)
    assert first.plain == "✓ ready       add → memory" + "2 rivals  3d  auto".rjust(54)
    assert second.plain == "  add to memory: a fact"


def test_a_narrow_row_keeps_the_target_whole_and_the_age() -> None:
    first, second = queue_row(item(action="write_file", target="incident-timeline", rivals=1), 36)
    assert first.plain == "✓ ready       incident-timeline"
    assert second.plain == "  add to memory: a fact" + "×2  3d  auto".rjust(13)


def test_a_note_stands_in_place_of_the_summary() -> None:
    assert "locked" in queue_row(item(fate="failed", note="locked by the agent"), 60)[1].plain


# -- the preview ---------------------------------------------------------------------------

LONG = "".join(f"line {number}\n" for number in range(400))


def test_what_is_folded_is_counted() -> None:
    change = Change("skills/x/SKILL.md", node(""), node(LONG))
    lines = plain(preview_lines(preview(subsystem="skills", changes=(change,)), 100))
    assert f"  ⋯ {400 - FOLD} more lines" in lines
    whole = plain(preview_lines(preview(subsystem="skills", changes=(change,)), 100, folded=False))
    assert len([line for line in whole if "line " in line]) == 400


def test_nothing_is_folded_beside_a_danger() -> None:
    danger = Finding("x", Severity.DANGER, "A hidden instruction", "skills/x/SKILL.md:9000")
    change = Change("skills/x/SKILL.md", node(""), node(LONG))
    shown = preview(
        subsystem="skills", changes=(change,), findings=(danger,), proposed=(("It proposes", LONG),)
    )
    lines = plain(preview_lines(shown, 100))
    assert "‼ A hidden instruction  skills/x/SKILL.md:9000" in lines
    assert not any("⋯" in line for line in lines)
    assert any("line 399" in line for line in lines)


def test_every_finding_is_shown_however_many() -> None:
    found = tuple(Finding(f"c{n}", Severity.WARNING, f"finding {n}.", None) for n in range(200))
    lines = plain(preview_lines(preview(findings=found), 80))
    assert sum(line.startswith("! finding ") for line in lines) == 200


def test_a_long_proposed_text_is_folded_and_unfolds() -> None:
    shown = preview(status="stale", proposed=(("It proposes", LONG),))
    assert f"  ⋯ {401 - PROPOSED} more lines" in plain(preview_lines(shown, 80))
    assert any("line 399" in line for line in plain(preview_lines(shown, 80, folded=False)))


@pytest.mark.parametrize(
    ("budget", "bar", "words"),
    [
        (
            Budget("memory", 1886, 1980, 2200),
            "█" * 14 + "░" * 2,
            "1,886 → 1,980 of 2,200 chars (+94)",
        ),
        (Budget("user", 442, 442, 1375), "█" * 5 + "░" * 11, "442 of 1,375 chars"),
        (Budget("user", 442, 375, 1375), "█" * 4 + "░" * 12, "442 → 375 of 1,375 chars (-67)"),
        (
            Budget("memory", 1886, 2601, 2200),
            "█" * 16,
            "1,886 → 2,601 of 2,200 chars (+715), over budget",
        ),
        (Budget("memory", 0, 0, 2200), "░" * 16, "0 of 2,200 chars"),
        (Budget("memory", 0, 0, 0), "█" * 16, "0 of 0 chars"),
    ],
)
def test_the_budget_bar_and_its_numbers(budget: Budget, bar: str, words: str) -> None:
    assert budget_bar(budget).plain == f"{bar}  {words}"


# -- differences ---------------------------------------------------------------------------

pieces = st.lists(
    st.sampled_from(["alpha\n", "beta\n", "gamma delta\n", "日本\n", "\n"]), max_size=12
).map("".join)


@given(pieces, pieces)
@settings(max_examples=120, deadline=None)
def test_split_and_unified_show_the_same_texts(before: str, after: str) -> None:
    unified = plain(diff_lines(before, after, 120, split=False, folded=False))
    split = plain(diff_lines(before, after, 120, split=True, folded=False))
    old, new = _sides(unified)
    if before and after and before != after:
        sides = [line.split(" │ ") for line in split]
        left, right = ([side[place][2:].rstrip() for side in sides] for place in (0, 1))
        assert [t for t in old if t] == [t for t in left if t]
        assert [t for t in new if t] == [t for t in right if t]
    else:
        assert split == unified
    if before != after:
        assert "".join(f"{t}\n" for t in old) == before
        assert "".join(f"{t}\n" for t in new) == after


def _sides(lines: list[str]) -> tuple[list[str], list[str]]:
    """Old and new text of unified lines: ``number sign text``."""
    old, new = [], []
    for line in lines:
        matched = re.fullmatch(r" *\d+ ([ +-]) (.*)", line)
        assert matched, line
        sign, text = matched.groups()
        if sign != "+":
            old.append(text)
        if sign != "-":
            new.append(text)
    return old, new


def test_what_is_all_new_stands_in_one_column() -> None:
    lines = plain(diff_lines("", "one\ntwo\n", 100, split=True, folded=True))
    assert lines == ["1 + one", "2 + two"]


def test_a_missing_line_end_is_said() -> None:
    assert plain(diff_lines("one\n", "one", 80, split=False, folded=True))[-1] == (
        "1 + one  (no line end)"
    )


def test_hidden_characters_are_named_and_stand_out() -> None:
    (line,) = diff_lines("", "a\u200bb\n", 80, split=False, folded=True)
    assert "U+200B" in line.content.plain
    assert any("reverse" in str(span.style) for span in line.content.spans)


# -- header, journal, decisions ------------------------------------------------------------


#: Every mode with its key, and the same behind the program's name.
TABS = "  ".join(f"{number} {title}" for number, title in enumerate(MODES.values(), 1))
NAMED = f"signoff  {TABS}"


def test_the_header_says_home_rules_gates_and_counts() -> None:
    facts = HomeFacts(
        "~/.hermes", "hermes", "work", "0.19", (("memory", True), ("skills", True)), 24, 1, 0
    )
    first, second = header("memory", facts, "live", 100).plain.split("\n")
    assert first == NAMED + "24 waiting, 1 unreadable".rjust(100 - len(NAMED))
    assert second == "~/.hermes" + "hermes work  rules 0.19  gates on  live".rjust(91)
    assert notice(facts).plain == ""


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (len(NAMED) + 32, NAMED + "24 waiting, 1 unreadable".rjust(32)),
        (len(NAMED) + 20, TABS + "24 waiting, 1 unreadable".rjust(20 + len(NAMED) - len(TABS))),
        (len(TABS) + 16, TABS + "24 waiting +1 !".rjust(16)),
        (len(TABS) + 13, TABS + "24 waiting".rjust(13)),
        (60, "1 Review  2  3  4  5  6" + "24 waiting, 1 unreadable".rjust(37)),
        (40, "1 Review  2  3  4  5  6" + "24 waiting +1 !".rjust(17)),
    ],
)
def test_what_waits_is_said_at_any_width(width: int, said: str) -> None:
    """At 60 columns and less the count was gone, and the footer hid behind a scroll bar."""
    facts = HomeFacts("~/.hermes", "hermes", "work", "0.19", (("memory", True),), 24, 1, 0)
    assert header("review", facts, "", width).plain.split("\n")[0] == said


def test_one_open_gate_is_named() -> None:
    facts = HomeFacts("~", "hermes", "x", "0.19", (("memory", True), ("skills", False)), 0, 0, 0)
    assert "skills gate OFF" in header("review", facts, "", 80).plain
    assert notice(facts).plain == (
        "! The skills gate is off: the agent does not ask. ctrl+g (gates on) mends it."
    )


def test_what_only_says_how_it_is_written_stands_last() -> None:
    """A newcomer's report: a word on file modes stood above nearly every difference."""
    kept = Finding("guard_modes", Severity.INFO, "keeps its mode 0644", "memories/MEMORY.md")
    asks = Finding("guard_fragment", Severity.WARNING, "The whole entry is replaced", None)
    shown = preview(findings=(kept, asks), entries=(EntryChange(None, "Tea at four."),))
    lines = plain(preview_lines(shown, 80))
    places = [
        next(number for number, line in enumerate(lines) if words in line)
        for words in ("The whole entry", "Tea at four.", "keeps its mode 0644")
    ]
    assert places == sorted(places)
    assert places[-1] == len(lines) - 1


def test_a_hint_names_the_key_that_does_it_here() -> None:
    """A newcomer's report: the console told to leave it for what a key does."""
    lost = "lost beside it: tea. `signoff edit ID --splice` can keep the rest."
    found = Finding("guard_fragment", Severity.WARNING, lost, None)
    said = " ".join(plain(preview_lines(preview(findings=(found,)), 100)))
    assert "lost beside it: tea. E (convert) can keep the rest." in said
    assert with_keys("See `signoff journal`") == f"See Journal ({JOURNAL_MODE})"
    assert with_keys("`signoff edit ID` or `signoff doctor`") == "e (edit) or `signoff doctor`"


def test_a_selection_of_which_nothing_would_land_says_what_refuses_it() -> None:
    turns = tuple(Turn(name, False, "It is stale.") for name in ("a", "b"))
    lines = plain(foreseen_lines(Foreseen(turns, (), 0, ()), 80))
    assert lines[0] == "If the 2 marked were approved, in this order"
    assert lines[1] == "None would land: r refuses all that are marked"


def test_a_long_home_is_cut_at_its_front() -> None:
    facts = HomeFacts("/very" * 40 + "/home", "hermes", "x", "0.19", (), 0, 0, 0)
    second = header("review", facts, "", 80).plain.split("\n")[1]
    assert second.startswith("…")
    assert "/very/home  " in second


def test_an_undone_decision_names_what_undid_it() -> None:
    assert "↶ undone by 4" in journal_row(decision(state="undone", undone_by=4), 60)[0].plain


def _receipt(ok: bool, category: str = "applied") -> Receipt:
    return Receipt("x", ok, category, "Done.")


@pytest.mark.parametrize(
    ("verb", "receipts", "skipped", "said"),
    [
        ("approve", [_receipt(True)], 0, "✓ Done. (x; u takes it back, i says more)"),
        ("approve", [_receipt(False, "locked")], 0, "✗ Done.; try again in a moment (x)"),
        ("reject", [_receipt(True)] * 3, 0, "3 refused; u takes them back"),
        (
            "approve",
            [_receipt(True), _receipt(False)],
            2,
            "1 approved; 1 not, its row says why; 2 left that ask; u takes it back",
        ),
        ("approve", [], 2, "2 left that ask"),
    ],
)
def test_what_became_of_a_batch(
    verb: str, receipts: list[Receipt], skipped: int, said: str
) -> None:
    batch = Batch(verb, len(receipts), skipped)
    assert [batch.add(str(n), receipt) for n, receipt in enumerate(receipts)] == [
        number == len(receipts) for number in range(1, len(receipts) + 1)
    ]
    assert batch.sentence()[0] == said


def test_a_long_id_leaves_room_for_the_result() -> None:
    batch = Batch("approve", 1, 0)
    batch.add("x", Receipt("0123456789abcdef" * 2, True, "ok", "Done."))
    assert batch.sentence()[0] == "✓ Done. (01234567…; u takes it back, i says more)"
    assert batch.sentence(lost="y can no longer apply")[0] == "Approved; y can no longer apply"
