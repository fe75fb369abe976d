"""The forecast equals what then happens, and its suggestions hold when they are followed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.desk.decide import Request
from core.desk.forecast import Forecast, forecast
from core.desk.opening import Opened
from core.desk.review import label_one
from core.errors import NotFoundError, UsageError
from core.homes.hermes.pending import read_queue
from core.model import NodeKind
from core.tense import in_past
from core.view import Source, View
from tests.core.desks import (
    MEMORY,
    add,
    approve,
    make_home,
    open_on,
    patch,
    propose,
    queue,
    remove,
    swap,
)
from tests.core.grounds import Tree, tree


def foresee(opened: Opened, *tokens: str, **more: Any) -> Forecast:
    return forecast(opened, Request(tokens or None, **more))


def told(found: Forecast) -> list[tuple[str, bool, str]]:
    return [(r.receipt.subject, r.receipt.ok, r.receipt.category) for r in found.rows]


def files_of(source: Source) -> Tree:
    """Every file, folder and link of a home, as :func:`tree` has them, without lock files."""
    return {
        path: (
            str(node.kind),
            0 if node.kind is NodeKind.LINK else node.mode,
            b"" if node.kind is NodeKind.DIR else node.data,
        )
        for path, node in View(source).tree("")
        if path and not path.endswith(".lock")
    }


# -- it equals the real sequence -------------------------------------------------------------------

ENTRIES = ("alpha one", "beta two", "gamma three", "packed: a; b; c")
_PAYLOADS: dict[str, dict[str, Any]] = {
    "add-short": add("delta"),
    "add-twin": add("delta"),
    "add-long": add("x" * 60),
    "add-longer": add("y" * 90),
    "add-split": add("one\n§\ntwo"),
    "swap-alpha": swap("alpha", "alpha but longer than before"),
    "swap-alpha-2": swap("alpha one", "z"),
    "swap-alpha-3": swap("alpha but", "second step"),
    "swap-part": swap("; b", "only b"),
    "remove-beta": remove("beta"),
    "remove-e": remove("e"),
    "remove-gone": remove("nowhere"),
    "batch": {
        "action": "batch",
        "target": "memory",
        "operations": [add("kappa"), remove("gamma")],
    },
    "user": {"action": "add", "target": "user", "content": "likes tea"},
    "odd": {"action": "dance", "target": "memory"},
    "bad-type": add("x") | {"content": 7},
    "patch": patch("deploy", "Step one.", "Step 1."),
    "patch-2": patch("deploy", "Step one.", "First step."),
    "patch-3": patch("deploy", "Step 1.", "Step 1, slowly."),
    "create": {
        "action": "create",
        "name": "fresh",
        "content": "---\nname: fresh\ndescription: Use it.\n---\n\nBody.\n",
    },
    "create-2": {
        "action": "create",
        "name": "fresh",
        "category": "ops",
        "content": "---\nname: fresh\ndescription: Use it.\n---\n\nOther.\n",
    },
    "write": {
        "action": "write_file",
        "name": "fresh",
        "file_path": "references/a.md",
        "file_content": "a\n",
    },
    "delete": {"action": "delete", "name": "deploy", "absorbed_into": "fresh"},
}


#: What a selection may hold: proposals, one that cannot be read, one that is not there.
_POOL = (*sorted(_PAYLOADS), "broken", "nobody")


def _plain(root: Path) -> Path:
    home = make_home(root / "home", ENTRIES, limit=170)
    queue(home, _PAYLOADS)
    (home / "pending/memory/broken.json").write_text("{")
    return home


def _odd(root: Path) -> Path:
    """CRLF behind a link, a group's modes, drift in the other store, pins and rows of others."""
    home = _plain(root)
    (home / "real.md").write_bytes("\r\n§\r\n".join(ENTRIES).encode())
    (home / "real.md").chmod(0o660)
    (home / MEMORY).unlink()
    (home / MEMORY).symlink_to("../real.md")
    (home / "memories/USER.md").write_text("a\n\n§\nb")
    (home / "skills/ops/deploy/SKILL.md").chmod(0o664)
    rows = '{"deploy": {"pinned": "no", "patch_count": 2, "own": 1}, "fresh": {"state": "stale"}}'
    (home / "skills/.usage.json").write_text(rows)
    (home / ".skills_prompt_snapshot.json").write_text("{}")
    return home


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    make = {"plain": _plain, "odd": _odd}
    return {name: how(tmp_path_factory.mktemp(name)) for name, how in make.items()}


@settings(max_examples=200)
@given(
    st.permutations(_POOL),
    st.integers(1, len(_POOL)),
    st.booleans(),
    st.sampled_from(["0.19", "newest"]),
    st.sampled_from(["plain", "odd"]),
)
def test_two_hundred_selections_end_as_foreseen(
    tmp_path: Path,
    templates: dict[str, Path],
    order: list[str],
    count: int,
    as_agent: bool,
    rules: str,
    kind: str,
) -> None:
    """Issue "It shows" 3: outcomes, bytes and modes equal those of approving in that order."""
    assume(order[:count] != ["nobody"])
    work = tmp_path / "work"
    shutil.rmtree(work, ignore_errors=True)
    home = work / "home"
    shutil.copytree(templates[kind], home, symlinks=True)
    before = tree(home)
    opened = open_on(home, work / "state", rules=rules)
    request = Request(tuple(order[:count]), as_agent=as_agent)
    found = forecast(opened, request, search=False)
    assert not (work / "state").exists()
    assert tree(home) == before
    done = approve(opened, request)
    for row, real in zip(found.rows, done, strict=True):
        foreseen = row.receipt
        assert (foreseen.subject, foreseen.ok) == (real.subject, real.ok)
        # What was done is said in the past, what was refused is not.
        said = in_past(foreseen.message) if real.ok else foreseen.message
        assert (foreseen.category, said) == (real.category, real.message)
        assert (foreseen.changed, foreseen.entries) == (real.changed, real.entries)
        assert foreseen.next == real.next
    failed = next((place for place, real in enumerate(done) if not real.ok), None)
    assert found.first_failure == failed
    assert files_of(found.after) == tree(home)
    for target, curve in found.curve.items():
        path = MEMORY if target == "memory" else "memories/USER.md"
        size = len((home / path).read_text()) if (home / path).exists() else 0
        assert curve.sizes[-1] == size


@pytest.mark.parametrize("kind", ["plain", "odd"])
def test_the_selections_have_something_to_foresee(
    tmp_path: Path, templates: dict[str, Path], kind: str
) -> None:
    """What the property above is worth: in one order, who lands, and each failure of its kind."""
    home = tmp_path / "home"
    shutil.copytree(templates[kind], home, symlinks=True)
    found = told(foresee(open_on(home, tmp_path / "state"), *_PAYLOADS, "broken", "nobody"))
    assert {name: category for name, _, category in found} == {
        "add-short": "ok",
        "add-twin": "noop",
        "add-long": "ok",
        "add-longer": "over_budget",
        "add-split": "ok",
        "swap-alpha": "ok",
        "swap-alpha-2": "no_match",
        "swap-alpha-3": "ok",
        "swap-part": "ok",
        "remove-beta": "ok",
        "remove-e": "ambiguous",
        "remove-gone": "no_match",
        "batch": "ok",
        "user": "ok",
        "odd": "unknown_action",
        "bad-type": "invalid",
        "patch": "ok",
        "patch-2": "patch_no_match",
        "patch-3": "ok",
        "create": "ok",
        "create-2": "skill_exists",
        "write": "ok",
        "delete": "pinned" if kind == "odd" else "ok",
        "broken": "unreadable_target",
        "nobody": "gone",
    }


def test_all_is_foreseen_with_its_questions_and_sleepers(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", ("A; B; C",))
    queue(home, {"ask": swap("B", "B2"), "ready": add("d")})
    opened = open_on(home, tmp_path / "state")
    everything = forecast(opened, Request(None))
    assert told(everything) == [("ask", False, "guard_fragment"), ("ready", True, "ok")]
    assert told(foresee(opened, "ask", "ready")) == [("ask", True, "ok"), ("ready", True, "ok")]
    assert [r.category for r in approve(opened, Request(None))] == ["guard_fragment", "ok"]


def test_first_sight_pins_what_a_later_row_would_hit(tmp_path: Path) -> None:
    """Spec 6 item 10: after the first, the second would hit another entry; approval refuses it."""
    home = make_home(tmp_path / "home", ("cat one",))
    queue(home, {"first": swap("cat one", "dog"), "new": add("cat two"), "last": remove("cat")})
    opened = open_on(home, tmp_path / "state")
    found = foresee(opened, "first", "new", "last")
    assert told(found)[2] == ("last", False, "guard_retarget")
    assert found.first_failure == 2
    assert [r.category for r in approve(opened, Request(None))] == ["ok", "ok", "guard_retarget"]


def test_words_that_name_nothing(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    opened = open_on(home, tmp_path / "state")
    with pytest.raises(NotFoundError):
        foresee(opened)
    queue(home, {"a": add("x")})
    with pytest.raises(UsageError):
        foresee(opened, "a", "nope", seal="s")
    assert told(foresee(opened, "a", "nope")) == [("a", True, "ok"), ("nope", False, "gone")]


# -- the curve -------------------------------------------------------------------------------------


def test_the_curve_counts_as_the_agent_does(tmp_path: Path) -> None:
    """Spec section 7, selection forecast: code points with delimiters, per store."""
    home = make_home(tmp_path / "home", ("aaaa", "bbbb"), limit=20)
    user = {"action": "add", "target": "user", "content": "tea"}
    queue(home, {"a": add("cc"), "u": user, "b": add("d" * 9), "r": remove("aaaa")})
    found = foresee(open_on(home, tmp_path / "state"), "a", "u", "b", "r")
    assert found.curve["memory"].limit == 20
    assert found.curve["memory"].sizes == (11, 16, 16, 16, 9)
    assert found.curve["user"].sizes == (0, 0, 3, 3, 3)
    assert (found.first_failure, found.rows[2].receipt.category) == (2, "over_budget")


def test_what_touches_no_store_has_no_curve(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    queue(home, {"p": patch("deploy", "Step one.", "Step 1.")})
    found = foresee(open_on(home, tmp_path / "state"), "p")
    assert (found.curve, found.first_failure, found.better) == ({}, None, None)


# -- better orders ---------------------------------------------------------------------------------


def lands_all(opened: Opened, order: tuple[str, ...]) -> bool:
    return all(row.receipt.ok for row in forecast(opened, Request(order)).rows)


def test_a_removal_goes_first_when_room_is_short(tmp_path: Path) -> None:
    """Spec 6 item 12: approve order matters for the budget."""
    home = make_home(tmp_path / "home", ("a" * 10, "b" * 10), limit=25)
    queue(home, {"grow": add("c" * 11), "cut": remove("aaa")})
    opened = open_on(home, tmp_path / "state")
    found = foresee(opened, "grow", "cut")
    assert found.better is not None
    assert (found.better.order, found.better.lands) == (("cut", "grow"), 2)
    assert (found.better.leave_out, found.better.remove) == ((), ())
    assert [r.ok for r in approve(opened, Request(found.better.order))] == [True, True]


def test_an_order_by_what_builds_on_what(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    write = {
        "action": "write_file",
        "name": "fresh",
        "file_path": "references/a.md",
        "file_content": "a",
    }
    queue(home, {"write": write, "create": _PAYLOADS["create"], "x": add("x")})
    opened = open_on(home, tmp_path / "state")
    found = foresee(opened, "write", "create", "x")
    assert told(found)[0] == ("write", False, "skill_not_found")
    assert found.better is not None
    assert found.better.order is not None
    assert lands_all(opened, found.better.order)


def test_many_small_ones_go_in_where_a_large_one_blocks(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", ("a" * 10,), limit=60)
    payloads = {"big": add("B" * 40)} | {f"s{n}": add(str(n) * 12) for n in range(3)}
    queue(home, payloads)
    opened = open_on(home, tmp_path / "state")
    found = foresee(opened, *payloads)
    assert [ok for _, ok, _ in told(found)] == [True, False, False, False]
    better = found.better
    assert better is not None
    assert better.order is not None
    assert better.lands == 3
    assert better.leave_out == ("big",)
    assert lands_all(opened, tuple(n for n in better.order if n not in better.leave_out))


def test_one_to_leave_out_beats_three(tmp_path: Path) -> None:
    """The smallest set: without the large one there is room for the three that fail."""
    swaps = {f"s{n}": swap(f"key{n}", f"key{n} " + "x" * 12) for n in range(3)}
    home = make_home(tmp_path / "home", ("a" * 10, "key0", "key1", "key2"), limit=80)
    queue(home, {"big": add("B" * 44), **swaps})
    opened = open_on(home, tmp_path / "state")
    found = foresee(opened, "big", *swaps)
    assert found.better is not None
    out = found.better.leave_out
    assert out == ("big",)
    order = found.better.order or ("big", *swaps)
    assert lands_all(opened, tuple(name for name in order if name not in out))


def test_an_entry_to_remove_is_named_and_would_do(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", ("old " * 5, "short", "middle size"), limit=50)
    queue(home, {"new": add("n" * 20)})
    opened = open_on(home, tmp_path / "state")
    found = foresee(opened, "new")
    assert found.better is not None
    assert found.better.order is None
    assert found.better.leave_out == ("new",)
    (entry,) = found.better.remove
    assert (entry.target, entry.index, entry.text) == ("memory", 3, "middle size")
    before = (home / MEMORY).read_text()
    (home / MEMORY).write_text(before.replace("\n§\n" + entry.text, ""))
    assert approve(opened, Request(("new",)))[0].ok


def test_entries_the_selection_is_about_are_not_offered(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", ("k" * 20,), limit=50)
    queue(home, {"swap": swap("kkk", "k" * 22), "new": add("n" * 30)})
    found = foresee(open_on(home, tmp_path / "state"), "swap", "new")
    assert found.better is not None
    assert found.better.remove == ()


@pytest.mark.parametrize(
    "payload", [add("do not tell the user"), {"action": "dance"}, remove("nowhere")]
)
def test_what_fails_in_every_order_gets_no_suggestion(
    tmp_path: Path, payload: dict[str, Any]
) -> None:
    home = make_home(tmp_path / "home")
    queue(home, {"dead": payload, "fine": add("x")})
    found = foresee(open_on(home, tmp_path / "state"), "dead", "fine")
    assert found.first_failure == 0
    assert found.better is None


def test_a_long_selection_is_not_searched_for_ever(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", ("a" * 10,), limit=400)
    payloads = {f"r{n:03d}": add(f"{n:03d}" * (3 + n % 9)) for n in range(60)}
    queue(home, payloads)
    opened = open_on(home, tmp_path / "state")
    better = foresee(opened).better
    assert better is not None
    assert 2 <= better.orders <= 1500 // 60 + 1
    assert not better.complete
    rows = forecast(opened, Request(None), search=False).rows
    assert better.lands > sum(row.receipt.ok for row in rows)


def test_a_short_selection_is_tried_in_every_order(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", ("a" * 10,), limit=30)
    queue(home, {"x": add("x" * 18), "y": add("y" * 19), "z": add("z" * 20)})
    better = foresee(open_on(home, tmp_path / "state"), "z", "y", "x").better
    assert better is not None
    assert better.complete
    assert better.orders >= 6


def test_rivals_that_are_left_are_named(tmp_path: Path) -> None:
    """D08: the same edit reworded; approve one, offer to reject the rest."""
    home = make_home(tmp_path / "home")
    queue(home, {f"r{n}": swap("alpha", f"alpha, wording {n}") for n in range(3)})
    opened = open_on(home, tmp_path / "state")
    (row,) = foresee(opened, "r0").rows
    assert "2 rivals wait: `signoff reject r1 r2`" in row.receipt.next
    assert label_one(opened.source, read_queue(opened.source).proposals[0], opened.judging()).claims
    propose(home, "--odd", swap("alpha", "x"))
    (receipt,) = approve(opened, Request(("r0",)))
    assert "3 rivals wait: `signoff reject -- r1 r2 --odd`" in receipt.next
