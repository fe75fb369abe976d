"""The bundled sample home and the empty home: what is written, and that it stays as described."""

from __future__ import annotations

import json
import re
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.sample import write_sample
from console.sample.empty import write_empty
from console.sample.folder import OccupiedError, UnwritableError, fill
from core.conversations import Filters, Relation
from core.homes.hermes.config import Config
from core.homes.hermes.memory import replay as memory_replay
from core.homes.hermes.rules import Rules
from core.homes.hermes.sessions.store import StateDb
from core.homes.hermes.skills import replay as skill_replay
from core.model import Outcome
from core.view import Disk, View

NOW = datetime(2026, 11, 1, 12, 30, 0, 250_000, tzinfo=UTC)
UNREADABLE = "memory/e0c4529a"
#: What each record asks for, and what the agent's own approval would make of it.
QUEUE = {
    "memory/3f8a1c20": ("add", "ok"),  # fits as it is
    "memory/b71d90e4": ("add", "ok"),  # fits, in the profile
    "memory/5c2e77a9": ("replace", "ok"),  # swaps the whole entry
    "memory/d04b6f13": ("replace", "ok"),  # aims at two words of it: other facts would go
    "memory/81e5a2cc": ("replace", "no_match"),  # the entry was rewritten since
    "memory/a9c37f05": ("remove", "ambiguous"),  # two entries name it
    "memory/6d10e8b7": ("add", "over_budget"),  # 490 characters where 311 are free
    "memory/2b94f1d8": ("add", "noop"),  # stored already
    "memory/e6f3075b": ("add", "threat_pattern"),  # an order found on a web page
    "memory/947acd31": ("add", "threat_invisible_unicode"),  # zero-width spaces
    "memory/0fd28b6e": ("batch", "ok"),  # frees room, then adds what would not have fitted
    "memory/c85b3e92": ("add", "ok"),  # holds the delimiter: becomes two entries
    "skills/1a6fd3b8": ("create", "ok"),  # by the background review
    "skills/72c0e95d": ("patch", "ok"),  # exact
    "skills/f4830ba6": ("patch", "ok"),  # the same anchor
    "skills/38d7b2e1": ("patch", "ok"),  # differs in spaces
    "skills/bd51c7f9": ("patch", "patch_no_match"),  # the line is gone
    "skills/4e29a06c": ("write_file", "ok"),  # a new reference
    "skills/d7e6f84a": ("write_file", "missing_argument"),  # the text stands under content
    "skills/90b3c15f": ("delete", "ok"),  # absorbed into log-search
    "skills/65f2da7e": ("delete", "pinned"),
    "skills/ab0847d3": ("edit", "invalid_frontmatter"),  # no description
    "skills/c31e9f60": ("patch", "ok"),  # only first and last line agree
    "skills/17d4e8ba": ("create", "skill_exists"),
}
#: How each patch that lands finds its place.
STRATEGIES = {
    "skills/72c0e95d": "exact",
    "skills/f4830ba6": "exact",
    "skills/38d7b2e1": "whitespace_normalized",
    "skills/c31e9f60": "block_anchor",
}
#: Proposals whose conversation is kept.
STAGED = (
    *("memory/3f8a1c20", "memory/5c2e77a9", "memory/947acd31", "memory/c85b3e92"),
    *("skills/72c0e95d", "skills/4e29a06c", "skills/ab0847d3"),
)
#: Two proposals for one entry, and two for one line.
RIVALS = (("memory/5c2e77a9", "memory/d04b6f13"), ("skills/72c0e95d", "skills/f4830ba6"))
SKILLS = {
    "data": {"invoice-audit", "migration-check"},
    "ops": {"canary-deploy", "incident-timeline", "log-grep-tips", "log-search"},
    "writing": {"changelog", "release-notes-l10n", "support-reply"},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample(tmp_path_factory.mktemp("sample") / "home", NOW)


def record(home: Path, proposal: str) -> dict[str, Any]:
    loaded = json.loads((home / "pending" / f"{proposal}.json").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def replayed(home: Path, proposal: str) -> Outcome:
    """What the agent's approval would do, by the rules and the config the sample names."""
    payload, view, config = record(home, proposal)["payload"], View(Disk(home)), Config(version=33)
    if proposal.startswith("memory/"):
        return memory_replay.replay(view, payload, config, Rules.V0_19)
    return skill_replay.replay(view, payload, config, Rules.V0_19, NOW)


def contents(home: Path) -> dict[str, bytes]:
    files = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def test_the_queue_holds_every_record_of_the_table_and_one_unreadable(home: Path) -> None:
    files = {f"{path.parent.name}/{path.stem}" for path in home.glob("pending/*/*")}
    assert files == {*QUEUE, UNREADABLE}
    actions = {proposal: record(home, proposal)["action"] for proposal in QUEUE}
    assert actions == {proposal: action for proposal, (action, _) in QUEUE.items()}
    with pytest.raises(json.JSONDecodeError):
        record(home, UNREADABLE)


@pytest.mark.parametrize("proposal", QUEUE)
def test_a_record_has_the_shape_the_agent_writes(home: Path, proposal: str) -> None:
    """specs/hermes-approval-memory 2.1: seven fields, 2-space indent, literal text, no newline."""
    loaded = record(home, proposal)
    subsystem, _, stem = proposal.partition("/")
    envelope = ["id", "subsystem", "action", "summary", "origin", "created_at", "payload"]
    assert list(loaded) == envelope
    assert (loaded["id"], loaded["subsystem"]) == (stem, subsystem)
    assert loaded["action"] == loaded["payload"]["action"]
    assert loaded["summary"] == loaded["summary"].strip() != ""
    raw = (home / "pending" / f"{proposal}.json").read_text(encoding="utf-8")
    assert raw == json.dumps(loaded, ensure_ascii=False, indent=2)


def test_ages_run_from_minutes_to_eight_weeks_and_origins_are_mixed(home: Path) -> None:
    records = [record(home, proposal) for proposal in QUEUE]
    ages = sorted(NOW.timestamp() - loaded["created_at"] for loaded in records)
    assert ages[0] == pytest.approx(7.31 * 60)
    assert timedelta(days=55).total_seconds() < ages[-1] < timedelta(days=56).total_seconds()
    assert len(set(ages)) == len(ages)
    origins = {loaded["origin"] for loaded in records}
    assert origins == {"assistant_tool", "background_review", "foreground"}


@pytest.mark.parametrize("proposal", QUEUE)
def test_each_record_comes_to_what_it_is_there_to_show(home: Path, proposal: str) -> None:
    outcome = replayed(home, proposal)
    assert outcome.category == QUEUE[proposal][1]
    strategy = outcome.match.strategy if outcome.match else None
    assert strategy == STRATEGIES.get(proposal)


@pytest.mark.parametrize("pair", RIVALS)
def test_rivals_claim_the_same_thing(home: Path, pair: tuple[str, str]) -> None:
    first, second = (replayed(home, proposal).claims for proposal in pair)
    assert first & second


def test_memory_fills_most_of_its_budget(home: Path) -> None:
    memory = (home / "memories/MEMORY.md").read_text(encoding="utf-8")
    user = (home / "memories/USER.md").read_text(encoding="utf-8")
    assert (len(memory.split("\n§\n")), len(memory)) == (14, 1886)
    assert len(user.split("\n§\n")) == 6
    assert "請求書" in memory
    assert "português" in user
    assert "نیم\u200cفاصله" in user
    assert "🌱" in user


def test_skills_stand_in_three_categories_beside_an_archive_with_copies(home: Path) -> None:
    found: dict[str, set[str]] = {}
    for path in home.glob("skills/[!.]*/*/SKILL.md"):
        found.setdefault(path.parent.parent.name, set()).add(path.parent.name)
    assert found == SKILLS
    archive = home / "skills/.archive"
    archived = {str(path.parent.relative_to(archive)) for path in archive.glob("**/SKILL.md")}
    kept = {"cron-cleanup", "queue-replay", "changelog", "onboarding/repo-tour"}
    stamped = "queue-replay-20261020102336"
    assert archived == {*kept, stamped}
    for path in home.glob("skills/**/SKILL.md"):
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        own = path.parent.name
        assert yaml.safe_load(front)["name"] == ("queue-replay" if own == stamped else own)
        assert body.strip()


def test_usage_rows_are_the_agents_and_relative_to_now(home: Path) -> None:
    """specs/hermes-skills-curator 3.2: the eleven fields of a row, sorted, ISO with offset."""
    raw = (home / "skills/.usage.json").read_text(encoding="utf-8")
    rows = json.loads(raw)
    assert raw == json.dumps(rows, ensure_ascii=False, indent=2, sort_keys=True)
    dates = {"created_at", "last_used_at", "last_viewed_at", "last_patched_at", "archived_at"}
    counters = {"use_count", "view_count", "patch_count"}
    for row in rows.values():
        assert set(row) == dates | counters | {"created_by", "state", "pinned"}
        for field in dates:
            assert row[field] is None or datetime.fromisoformat(row[field]) < NOW
    live = {name for names in SKILLS.values() for name in names}
    assert set(rows) == (live - {"support-reply"}) | {"cron-cleanup", "queue-replay"}
    assert [name for name, row in rows.items() if row["pinned"]] == ["migration-check"]
    idle = NOW - datetime.fromisoformat(rows["release-notes-l10n"]["last_used_at"])
    assert idle == timedelta(minutes=134042.5)


def test_the_curator_ran_days_ago_and_a_paused_job_names_a_skill(home: Path) -> None:
    state = json.loads((home / "skills/.curator_state").read_text(encoding="utf-8"))
    assert NOW - datetime.fromisoformat(state["last_run_at"]) == timedelta(minutes=7326.4)
    (job,) = json.loads((home / "cron/jobs.json").read_text(encoding="utf-8"))["jobs"]
    assert (job["skills"], job["state"]) == (["invoice-audit"], "paused")
    assert datetime.fromisoformat(job["created_at"]) < NOW


def test_config_is_that_of_the_agent_of_2026_with_both_gates_on(home: Path) -> None:
    config = yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8"))
    assert config["_config_version"] == 33
    assert config["memory"]["write_approval"] is config["skills"]["write_approval"] is True


def test_the_past_is_a_database_of_the_agent_that_fills_the_sessions_mode(home: Path) -> None:
    """specs/hermes-sessions 1: schema 22; every source but one, a chain, a branch, a delegate."""
    past = StateDb(home)
    listing = past.listing(Filters(with_archived=True, with_hidden=True), 100)
    assert listing.total == 16
    assert listing.by_source == {"cron": 6, "cli": 6, "telegram": 2, "slack": 1, "discord": 1}
    relations = {session.title: session.relation for session in listing.sessions}
    assert relations["What if import-v1 stayed"] is Relation.BRANCH
    (chain,) = (session for session in listing.sessions if len(session.chain) > 1)
    assert len(chain.chain) == 3
    family = [relative.session.relation for relative in past.family(chain.id)]
    assert sorted(family) == ["branch", "continuation", "continuation", "delegate", "root"]
    with closing(sqlite3.connect(f"file:{home}/state.db?mode=ro", uri=True)) as db:
        assert db.execute("SELECT version FROM schema_version").fetchall() == [(22,)]
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        sql = "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH ?"
        assert db.execute(sql, ("preview",)).fetchone()[0] > 0
        sql = "SELECT count(*) FROM messages_fts_trigram WHERE messages_fts_trigram MATCH ?"
        assert db.execute(sql, ("フォント",)).fetchone()[0] > 0


@pytest.mark.parametrize("proposal", STAGED)
def test_a_proposal_of_a_chat_stands_in_its_conversation(home: Path, proposal: str) -> None:
    """A tool's answer carries its id, at the time at which the record was made."""
    made = record(home, proposal)["created_at"]
    sql = "SELECT m.timestamp FROM messages m WHERE m.role = 'tool' AND instr(m.content, ?)"
    with closing(sqlite3.connect(f"file:{home}/state.db?mode=ro", uri=True)) as db:
        ((at,),) = db.execute(sql, (f'"pending_id": "{proposal[-8:]}"',)).fetchall()
    assert at == pytest.approx(made, abs=2)


def test_the_same_now_gives_the_same_bytes(home: Path, tmp_path: Path) -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert contents(write_sample(tmp_path / "again", elsewhere)) == contents(home)


def test_another_now_moves_the_times_and_nothing_else(home: Path, tmp_path: Path) -> None:
    later = write_sample(tmp_path / "later", NOW + timedelta(days=400))
    before, after = contents(home), contents(later)
    # What a run leaves has its time in its name: a snapshot, a report, a copy with a stamp.
    dated = before.keys() ^ after.keys()
    assert {re.sub(r"20[\d-]+T?[\d-]*Z?", "*", path) for path in dated} == {
        "logs/curator/*/REPORT.md",
        "logs/curator/*/run.json",
        "skills/.archive/queue-replay-*/SKILL.md",
        "skills/.curator_backups/*/manifest.json",
        "skills/.curator_backups/*/skills.tar.gz",
    }
    moved = {path for path in before.keys() & after.keys() if before[path] != after[path]}
    records = {f"pending/{proposal}.json" for proposal in QUEUE}
    assert moved == {
        *records,
        "skills/.usage.json",
        "skills/.curator_state",
        "cron/jobs.json",
        "state.db",
    }
    gap = record(later, "skills/90b3c15f")["created_at"]
    assert gap - record(home, "skills/90b3c15f")["created_at"] == pytest.approx(400 * 86400)


def test_nothing_points_at_a_real_host(home: Path) -> None:
    text = "\n".join(data.decode(errors="replace") for data in contents(home).values())
    assert re.findall(r"\b[\w-]+\.(?:com|net|org|io|dev|app|ai)\b|https?://", text) == []


def test_a_home_is_private(home: Path) -> None:
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_an_empty_folder_is_taken_and_made_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert write_sample(tmp_path, NOW) == tmp_path
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_folder_with_one_hidden_file_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / ".keep").write_bytes(b"mine")
    with pytest.raises(OccupiedError, match="is not empty") as refusal:
        write_sample(tmp_path, NOW)
    assert (refusal.value.exit_code, refusal.value.hint) == (1, "Name a new folder or an empty one")
    with pytest.raises(OccupiedError, match="is not empty"):
        write_empty(tmp_path)
    assert contents(tmp_path) == {".keep": b"mine"}


def test_a_file_or_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link"):
        with pytest.raises(OccupiedError, match="is not a folder"):
            write_empty(tmp_path / name)
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_failure_half_way_takes_back_what_was_written(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="cannot be filled"):
        fill(tmp_path / "new", {"a/b": b"1", "a/b/c": b"2"}, ["d"])
    assert list(tmp_path.iterdir()) == []


def test_a_place_below_a_file_cannot_be_filled(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(UnwritableError, match="cannot be filled"):
        write_empty(tmp_path / "file" / "home")
    assert contents(tmp_path) == {"file": b"mine"}


def test_init_makes_an_empty_home_under_the_newest_rules(tmp_path: Path) -> None:
    """contract.md, row ``init``."""
    home = write_empty(tmp_path / "deep" / "home")
    folders = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_dir()}
    assert folders == {"memories", "pending", "pending/memory", "pending/skills", "skills"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*/"))} == {0o700}
    assert list(contents(home)) == ["config.yaml"]
    config = yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8"))
    assert config["_config_version"] >= 44
    assert config["memory"]["memory_char_limit"] == 2200
    assert config["memory"]["user_char_limit"] == 1375
    assert config["memory"]["write_approval"] is config["skills"]["write_approval"] is True
    assert config["curator"] == {"stale_after_days": 14, "archive_after_days": 30}
