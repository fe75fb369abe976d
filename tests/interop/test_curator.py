"""The agent's own curator and ours on generated homes: equal, or a deviation that has a name."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.desk import skills as desk
from core.desk.opening import Opened
from core.homes.base import Discovery, Kind
from core.homes.hermes.config import read_config
from core.homes.hermes.curator.archive import plan_archive
from core.homes.hermes.curator.curate import plan_curate, predict
from core.homes.hermes.curator.inventory import Terms
from core.homes.hermes.curator.origins import SUPPRESSED
from core.homes.hermes.curator.pinning import plan_pin
from core.homes.hermes.curator.restore import plan_restore
from core.homes.hermes.curator.settings import read_settings
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.model import Change, Move, Node, NodeKind, Outcome, RowEdit
from core.overlay import Overlay
from core.settings import Settings
from core.view import Snapshot, Tree, View
from tests.interop.compare import SEED
from tests.interop.peer import VARIABLE, Peer, pack, unpack

pytestmark = [pytest.mark.peer, pytest.mark.timeout(240)]

HOMES, SKILLS = 24, 24
NOW = datetime(2026, 11, 1, 12, 30, 15, tzinfo=UTC)
HEAD = "---\nname: {}\ndescription: Use when testing.\n---\n\n# Body\n"
Files = dict[str, Node]


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """The agent with the curator's own driver."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    driver = Path(__file__).with_name("curator_driver.py")
    agent = Peer(python, tmp_path_factory.mktemp("curator"), driver)
    yield agent
    agent.close()


def file(data: bytes | str) -> Node:
    return Node(NodeKind.FILE, data.encode() if isinstance(data, str) else data, 0o644)


def document(value: object) -> Node:
    return file(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))


# -- a pass ----------------------------------------------------------------------------------------


def date_of(dice: random.Random, now: datetime, limits: tuple[int, int]) -> Any:
    """A date around the thresholds, on them to the second, far away, odd, or none."""
    kind = dice.random()
    if kind < 0.15:
        return None
    if kind < 0.25:
        return dice.choice(["", "last tuesday", "2026-13-01", 12345, 20260101, True, "2026-07-01"])
    if kind < 0.6:
        days = dice.choice(limits)
        at = now - timedelta(days=days, seconds=dice.choice([-1, 0, 1, 0]))
    else:
        at = now - timedelta(days=dice.randint(-5, 130), seconds=dice.randint(0, 86399))
    form = dice.random()
    if form < 0.15:
        return at.replace(tzinfo=None).isoformat()
    if form < 0.3:
        return at.isoformat().replace("+00:00", "Z")
    if form < 0.45:
        return (at + timedelta(hours=5)).replace(tzinfo=None).isoformat() + "+05:00"
    return at.isoformat()


def row_of(dice: random.Random, now: datetime, limits: tuple[int, int]) -> Any:
    """A usage row, most of them managed; some with fields missing or unknown."""
    row: dict[str, Any] = {
        "created_by": dice.choice(["agent", "agent", "agent", "agent", None, "user", "Agent"]),
        "use_count": dice.choice([0, 0, 1, 5, "3", None, True, 2.9]),
        "view_count": dice.choice([0, 4, "many"]),
        "patch_count": 0,
        "created_at": date_of(dice, now, limits),
        "state": dice.choice(["active", "active", "stale", "archived", "odd", None]),
        "pinned": dice.choice([False] * 8 + [True, "false", 1, None]),
        "archived_at": None,
    }
    for field in ("last_used_at", "last_viewed_at", "last_patched_at"):
        row[field] = date_of(dice, now, limits) if dice.random() < 0.6 else None
    if dice.random() < 0.1:
        row["agent_created"] = dice.choice([True, 1, "true"])
    if dice.random() < 0.3:
        row["of tomorrow"] = {"kept": [1, None]}
    for field in dice.sample(sorted(row), dice.choice([0, 0, 0, 1, 2])):
        del row[field]
    return row


def generated(number: int) -> tuple[Files, datetime]:
    """One home: config, skills flat and in categories, rows, jobs, manifest, hub, archive."""
    dice = random.Random(f"{SEED}/curator/{number}")
    now = NOW + timedelta(days=dice.randint(0, 40), seconds=dice.randint(0, 86399))
    limits = dice.choice([(30, 90), (30, 90), (14, 30), (90, 30), (30, 30), (0, 0), (10, 0)])
    curator: dict[str, Any] = {
        "stale_after_days": dice.choice([limits[0], str(limits[0])]),
        "archive_after_days": limits[1],
        "prune_builtins": dice.choice([True, True, False, "false"]),
    }
    if dice.random() < 0.2:
        del curator["prune_builtins"]
    files: Files = {}
    rows: dict[str, Any] = {"elsewhere": {"use_count": 1, "state": "active"}}
    bundled, hub, jobs = [], {}, []
    for at in range(SKILLS):
        name = f"skill-{at:02}"
        declared = f"Declared {at}" if dice.random() < 0.1 else name
        category = dice.choice(["", "ops/", "data/", "ops/deep/", "scripts/"])
        files[f"skills/{category}{name}/SKILL.md"] = file(HEAD.format(declared))
        if dice.random() < 0.3:
            files[f"skills/{category}{name}/references/old/SKILL.md"] = file(HEAD.format("old"))
        if dice.random() < 0.9:
            rows[declared] = row_of(dice, now, limits)
        if dice.random() < 0.3:
            bundled.append(declared)
        if dice.random() < 0.1:
            hub[declared] = {"install_path": f"{category}{name}"}
        if dice.random() < 0.15:
            named = dice.choice([name, f"/{declared}", f" {declared} ", declared.upper()])
            key = dice.choice(["skills", "skill"])
            job: dict[str, Any] = {"id": f"j{at}", key: [named] if key == "skills" else named}
            jobs.append(job | ({"enabled": False} if dice.random() < 0.3 else {}))
        if dice.random() < 0.2:
            files[f"skills/.archive/{name}/SKILL.md"] = file(HEAD.format(declared))
    files["config.yaml"] = document({"_config_version": 33, "curator": curator})
    files[usage.PATH] = document(rows)
    files["skills/.bundled_manifest"] = file("".join(f"{name}:0\n" for name in bundled))
    files["skills/.hub/lock.json"] = document({"version": 1, "installed": hub})
    files["cron/jobs.json"] = document({"jobs": jobs})
    return files, now


def judged(view: View, now: datetime) -> Terms:
    config = read_config(view, {})
    return Terms(config, read_settings(view, config, {}), Rules.V0_19, now)


def made(before: Mapping[str, Node], outcome: Outcome) -> Files:
    """The home once an outcome's changes were made, files only."""
    edits = [change for change in outcome.changes if isinstance(change, RowEdit)]
    changes = [change for change in outcome.changes if isinstance(change, Change | Move)]
    old = before.get(usage.PATH)
    data = usage.apply(old.data if old else None, edits)
    if data is not None:
        changes.append(Change(usage.PATH, old, Node(NodeKind.FILE, data, 0o600)))
    tree = View(Overlay(Tree(before), changes)).tree("")
    return files_of(dict(tree))


def files_of(tree: Mapping[str, Node]) -> Files:
    """The files that count: no lock, no state, no log, no cache of the agent."""
    return {
        path: Node(NodeKind.FILE, node.data, 0)
        for path, node in tree.items()
        if node.kind is NodeKind.FILE
        and path.startswith("skills/")
        and not path.endswith((".lock", ".curator_state"))
    }


def rows_in(files: Mapping[str, Node]) -> dict[str, Any]:
    rows: dict[str, Any] = json.loads(files[usage.PATH].data)
    return rows


def without_rows(files: Mapping[str, Node]) -> Files:
    return {path: node for path, node in files.items() if path != usage.PATH}


def test_a_pass_on_generated_homes_ends_as_the_agents(curator: Peer) -> None:
    """It shows 1: 576 skills with some 500 rows, their config, provenance, jobs and clock; byte for byte."""
    met: Counter[str] = Counter()
    for number in range(HOMES):
        files, now = generated(number)
        answer = curator.call("run", tree=pack(files), now=now.isoformat())
        assert "raised" not in answer, answer["raised"]
        before, after = unpack(answer["before"]), unpack(answer["after"])
        view = View(Snapshot(Tree(before)))
        terms = judged(view, now)
        outcome = plan_curate(view, terms, as_agent=True)
        assert outcome.category == "ok", outcome
        ours, theirs = made(before, outcome), files_of(after)
        assert without_rows(ours) == without_rows(theirs), number
        assert rows_in(ours) == rows_in(theirs), number
        found = predict(view, terms, as_agent=True)
        counts = answer["value"]
        assert found.checked == counts["checked"]
        to = Counter(line.to for line in found.transitions)
        assert (to["stale"], to["archived"], to["active"]) == (
            counts["marked_stale"],
            counts["archived"],
            counts["reactivated"],
        )
        met.update(line.rule for line in found.transitions)
        met.update(line.rule for line in found.skipped)
    assert met.total() > 240
    wanted = (
        "pinned cron first_sight never_used_grace archive_age stale_age used_again says_archived"
    )
    assert {rule for rule in wanted.split() if met[rule] < 3} == set(), met


def test_what_we_hold_back_is_all_that_differs_from_the_agents_pass(curator: Peer) -> None:
    """Deviations: a path, a folder's name or a bundle protects; twins stay; unread files hold."""
    files = old_skills("probe", "by-path", "by-folder", "in-bundle", "free")
    files["skills/ops/by-folder/SKILL.md"] = file(HEAD.format("called otherwise"))
    rows = rows_in(files)
    rows["called otherwise"] = rows.pop("by-folder")
    files[usage.PATH] = document(rows)
    files["skill-bundles/all.yaml"] = file("name: All Of It\nskills: [in-bundle]\n")
    jobs = [{"id": "a", "skills": ["ops/by-path", "by-folder", "all-of-it"]}]
    files["cron/jobs.json"] = document({"jobs": jobs})
    view, answer = both(curator, files)
    gone = {"probe", "by-path", "called otherwise", "in-bundle", "free"}
    assert archived_rows(answer) == gone
    held = {line.name for line in predict(view, judged(view, NOW)).transitions}
    assert held == {"probe", "free"}


def test_unreadable_jobs_protect_everything_and_the_agent_nothing(curator: Peer) -> None:
    """Deviation, spec 4.4."""
    files = old_skills("probe", "used") | {"cron/jobs.json": file("{broken")}
    view, answer = both(curator, files)
    assert archived_rows(answer) == {"probe", "used"}
    found = predict(view, judged(view, NOW))
    assert found.transitions == ()
    assert {line.name for line in found.skipped} == {"probe", "used"}


def test_a_lock_file_of_the_hub_that_is_broken_holds_everything(curator: Peer) -> None:
    """Deviation, spec 1.8: the agent takes hub skills for its own."""
    files = old_skills("probe") | {"skills/.hub/lock.json": file("{broken")}
    view, answer = both(curator, files)
    assert archived_rows(answer) == {"probe"}
    assert predict(view, judged(view, NOW)).transitions == ()


def test_an_odd_counter_ends_the_agents_pass_and_ours_goes_on(curator: Peer) -> None:
    """Deviation, spec 3.4: skills before it were moved, skills after it were not."""
    files = old_skills("a-first", "m-odd", "z-last")
    rows = rows_in(files)
    rows["m-odd"]["use_count"] = "many"
    view, answer = both(curator, files | {usage.PATH: document(rows)})
    assert answer["raised"][0] == "ValueError"
    assert archived_rows(answer) == {"a-first"}
    found = predict(view, judged(view, NOW))
    assert [line.name for line in found.transitions] == ["a-first", "z-last"]
    assert [(line.name, line.rule) for line in found.skipped] == [("m-odd", "odd_counter")]


def test_rows_that_are_no_objects_are_kept_and_the_agent_drops_them(curator: Peer) -> None:
    """Deviation, spec 3.4."""
    files = old_skills("probe")
    rows = rows_in(files) | {"odd": ["not", "a", "row"]}
    view, answer = both(curator, files | {usage.PATH: document(rows)})
    assert "odd" not in rows_in(files_of(unpack(answer["after"])))
    outcome = plan_curate(view, judged(view, NOW))
    assert rows_in(made(unpack(answer["before"]), outcome))["odd"] == ["not", "a", "row"]


def old_skills(*names: str) -> Files:
    """A home whose managed skills ``ops/NAME`` are all due for the archive."""
    row = usage.empty_row(NOW - timedelta(days=400)) | {"created_by": "agent", "use_count": 2}
    files = {f"skills/ops/{name}/SKILL.md": file(HEAD.format(name)) for name in names}
    files["config.yaml"] = document({"_config_version": 33})
    files[usage.PATH] = document(dict.fromkeys(names, row))
    return files


def both(curator: Peer, files: Files) -> tuple[View, dict[str, Any]]:
    """Our view of a home, and what the agent's own pass made of it."""
    answer: dict[str, Any] = curator.call("run", tree=pack(files), now=NOW.isoformat())
    return View(Snapshot(Tree(unpack(answer["before"])))), answer


def archived_rows(answer: Mapping[str, Any]) -> set[str]:
    rows = rows_in(files_of(unpack(answer["after"])))
    return {name for name, row in rows.items() if row.get("state") == "archived"}


# -- pin, archive, restore -------------------------------------------------------------------------

#: What the agent says, as the contract's word.
SAID = (
    ("cannot pin", "not_agent_created"),
    ("(will bypass", "pinned_ok"),
    ("is pinned", "pinned"),
    ("archived to", "archived"),
    ("protected built-in", "protected_builtin"),
    ("is now hub-installed", "name_is_hub_installed"),
    ("hub-installed; never", "hub_installed"),
    ("is now bundled", "name_is_bundled"),
    ("enable curator.prune_builtins", "builtin_prune_off"),
    ("external skills are read-only", "external_read_only"),
    ("not found in archive", "not_in_archive"),
    ("no archive directory", "not_in_archive"),
    ("destination already exists", "destination_exists"),
    ("restored to", "restored"),
    ("not found", "skill_not_found"),
)

#: Where we differ on purpose: the case, our word, and why (spec 4.6, 4.7, 5; field reports).
DEVIATIONS = {
    **{
        ("pin", name): ("skill_not_found", "a row for no skill")
        for name in (
            *("nobody", "git", "git-helpers", "stamped", "nested", "category", "references"),
            *("no-skill-file", "by-hand", "stamped-20260102030405", "category/nested"),
            *("other-folder", "head-name"),
        )
    },
    ("pin", "bundled-one"): ("pinned_ok", "it ages, so it can be pinned"),
    ("pin", "folder-name"): ("pinned_ok", "a folder's name means its skill, not a ghost row"),
    ("pin", "odd-row"): ("unreadable_target", "a row that is not understood is kept"),
    ("pin", "plan"): ("not_agent_created", "it says pinned and writes nothing"),
    ("archive", "folder-name"): ("archived", "a folder's name means its skill"),
    ("archive", "odd-row"): ("archived", "a row that is not understood is kept"),
    ("restore", "references"): ("not_in_archive", "R07: a support folder"),
    ("restore", "category"): ("not_in_archive", "a whole category"),
    ("restore", "no-skill-file"): ("not_in_archive", "no SKILL.md"),
    ("restore", "taken"): ("destination_exists", "a live skill of that name elsewhere"),
    ("restore", "live-twin"): ("destination_exists", "a live skill of that name elsewhere"),
    ("restore", "by-hand"): ("restored", "D22: the stamp of a model"),
    ("restore", "stamped-20260102030405"): ("restored", "D22: it goes back without the stamp"),
    ("restore", "category/nested"): ("restored", "D22: what is listed can be named"),
    ("restore", "other-folder"): ("restored", "the row its head names is the one that changes"),
    ("restore", "head-name"): ("restored", "a head's name means its package"),
}
NAMES = [
    "plain",
    "flat",
    "pinned-one",
    "bundled-one",
    "hub-one",
    "external-one",
    "user-one",
    "odd-row",
    "plan",
    "nobody",
    "folder-name",
    "head-of-folder",
    "taken",
    "git",
    "git-helpers",
    "stamped",
    "twice",
    "nested",
    "category",
    "references",
    "no-skill-file",
    "live-twin",
    "by-hand",
    "stamped-20260102030405",
    "category/nested",
    "other-folder",
    "head-name",
    "gone-hub",
    "bundled-gone",
]


def stage() -> Files:
    """Live and archived skills with every property that an operation looks at."""
    row = usage.empty_row(NOW - timedelta(days=50)) | {"created_by": "agent", "use_count": 2}
    live = {
        "ops/plain": "plain",
        "flat": "flat",
        "ops/pinned-one": "pinned-one",
        "ops/bundled-one": "bundled-one",
        "data/hub-one": "hub-one",
        "ops/user-one": "user-one",
        "ops/odd-row": "odd-row",
        "ops/plan": "plan",
        "ops/folder-name": "head-of-folder",
        "ops/taken": "taken",
        "ops/live-twin-elsewhere": "live-twin",
        "twice": "twice",
    }
    kept = {
        "taken": "taken",
        "git-helpers": "git-helpers",
        "stamped-20260102030405": "stamped",
        "twice": "twice",
        "category/nested": "nested",
        "live-twin": "live-twin",
        "by-hand-20260727-101500": "by-hand",
        "other-folder": "head-name",
        "gone-hub": "gone-hub",
        "bundled-gone": "bundled-gone",
    }
    files = {f"skills/{folder}/SKILL.md": file(HEAD.format(name)) for folder, name in live.items()}
    files |= {
        f"skills/.archive/{folder}/SKILL.md": file(HEAD.format(name))
        for folder, name in kept.items()
    }
    files["skills/.archive/git-helpers/references/a.md"] = file("a")
    files["skills/.archive/no-skill-file/notes.md"] = file("n")
    files["external/external-one/SKILL.md"] = file(HEAD.format("external-one"))
    rows: dict[str, Any] = {name: dict(row) for name in [*live.values(), "external-one"]}
    for name in kept.values():
        rows[name] = dict(row) | {"state": "archived", "archived_at": NOW.isoformat()}
    rows["pinned-one"]["pinned"] = "false"
    rows["user-one"]["created_by"] = None
    files["config.yaml"] = document(
        {"_config_version": 33, "skills": {"external_dirs": ["external"]}}
    )
    files["skills/.bundled_manifest"] = file("bundled-one:0\nbundled-gone:0\n")
    files[SUPPRESSED] = file("bundled-gone\nzebra\n")
    files["skills/.hub/lock.json"] = document({"installed": {"hub-one": {}, "gone-hub": {}}})
    files[usage.PATH] = document(rows)
    return files


def planned(view: View, verb: str, name: str) -> Outcome:
    terms = judged(view, NOW)
    if verb == "pin":
        return plan_pin(view, terms, name, True)
    return {"archive": plan_archive, "restore": plan_restore}[verb](view, terms, name)


@pytest.mark.parametrize("verb", ["pin", "archive", "restore"])
@pytest.mark.parametrize("prune", [True, False])
def test_an_operation_on_a_generated_tree_ends_as_the_agents(
    curator: Peer, verb: str, prune: bool
) -> None:
    """It shows 1."""
    files = stage()
    config = json.loads(files["config.yaml"].data) | {"curator": {"prune_builtins": prune}}
    files["config.yaml"] = document(config)
    met = set()
    for name in NAMES:
        tree = dict(files)
        if name == "odd-row":
            tree[usage.PATH] = document(rows_in(files) | {name: "seen"})
        answer = curator.call("operate", tree=pack(tree), verb=verb, name=name, now=NOW.isoformat())
        assert "raised" not in answer, (name, answer)
        word = next(word for said, word in SAID if said in answer["value"][1])
        before, after = unpack(answer["before"]), unpack(answer["after"])
        outcome = planned(View(Snapshot(Tree(before))), verb, name)
        ours, theirs = made(before, outcome), files_of(after)
        same = outcome.category == word and ours == theirs
        if (verb, name) in DEVIATIONS and not same:
            assert outcome.category == DEVIATIONS[verb, name][0], (name, outcome, word)
            met.add((verb, name))
            continue
        assert outcome.category == word, (name, answer["value"], outcome)
        assert without_rows(ours) == without_rows(theirs), name
        assert rows_in(ours) == rows_in(theirs), name
    expected = {case for case in DEVIATIONS if case[0] == verb}
    assert met == expected - (set() if prune else {("pin", "bundled-one")})


# -- two processes ---------------------------------------------------------------------------------

BUMPS = """\
import json, pathlib, sys
from tools import skill_usage
print("ready", flush=True)
done, stop = 0, pathlib.Path(sys.argv[1])
while not stop.exists():
    for name in ("probe", "other"):
        skill_usage.bump_use(name)
    done += 1
print(json.dumps(done), flush=True)
"""


def test_a_thousand_pins_beside_an_agent_that_counts(tmp_path: Path) -> None:
    """It shows 3; field report D20: no lost row, no lost pin, no lost count."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    root = (tmp_path / "home").resolve()
    for path, node in old_skills("probe", "other", "third").items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(node.data)
    rows = json.loads((root / usage.PATH).read_bytes())
    rows["of tomorrow"] = {"a": 1, "pinned": True}
    (root / usage.PATH).write_text(json.dumps(rows), encoding="utf-8")
    opened = Opened(
        Discovery(root, Kind.HERMES, "default", root),
        tmp_path / "state",
        Settings(),
        {},
        lambda: NOW,
        "0.19",
    )
    keep = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "LC_ALL", "TMPDIR"}}
    stop = tmp_path / "stop"
    with subprocess.Popen(
        [python, "-I", "-c", BUMPS, str(stop)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=keep | {"HOME": str(tmp_path), "HERMES_HOME": str(root)},
        text=True,
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "ready\n"
        busy = 0
        for number in range(1000):
            act = desk.pin if number % 2 == 0 else desk.unpin
            name = ("probe", "third")[number // 2 % 2]
            while not (receipt := desk.carry_out(opened, act(opened, name))).ok:
                busy += 1
                assert receipt.category == "locked", receipt
                assert busy < 200
            pinned = json.loads((root / usage.PATH).read_bytes())[name]["pinned"]
            assert pinned is (number % 2 == 0), number
        stop.touch()
        bumped = json.loads(agent.stdout.readline())
        assert agent.wait(20) == 0
    assert bumped > 50, "the case itself: it counted at the same time"
    after = json.loads((root / usage.PATH).read_bytes())
    assert set(after) == set(rows)
    assert after["of tomorrow"] == {"a": 1, "pinned": True}
    assert after["probe"]["use_count"] == 2 + bumped
    assert after["other"]["use_count"] == 2 + bumped
    assert after["third"]["use_count"] == 2
    assert not any(after[name]["pinned"] for name in ("probe", "other", "third"))
