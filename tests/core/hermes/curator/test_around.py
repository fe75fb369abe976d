"""Settings, state, origins, jobs, offers, history: the files around the skills."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from core.homes.hermes.config import read_config
from core.homes.hermes.curator.borrowed import read_borrowed
from core.homes.hermes.curator.cron import read_references, words_for
from core.homes.hermes.curator.curate import plan_curate, predict
from core.homes.hermes.curator.heads import read_head
from core.homes.hermes.curator.health import of_home, of_skill
from core.homes.hermes.curator.history import LEDGER, mentions, read_ledger, read_runs
from core.homes.hermes.curator.inventory import read_inventory
from core.homes.hermes.curator.offered import Surroundings, needs, not_offered
from core.homes.hermes.curator.origins import read_origins, suppressed
from core.homes.hermes.curator.packages import find_package, leftovers, read_packages
from core.homes.hermes.curator.pinning import plan_adopt, plan_pin
from core.homes.hermes.curator.restore import plan_restore
from core.homes.hermes.curator.settings import Offering, read_offering, read_settings
from core.homes.hermes.curator.state import STATE, due, plan_pause, read_state
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.model import Change, Severity
from tests.core.hermes.curator.homes import (
    NOW,
    changed_rows,
    codes,
    config,
    moved,
    row,
    rows,
    sample,
    small,
    terms,
    view,
)
from tests.core.hermes.skill_homes import skill


@pytest.mark.parametrize(
    ("text", "limits", "source"),
    [
        ("", (30, 90), "default 0.19"),
        ("_config_version: 33\n", (30, 90), "default 0.19"),
        ("_config_version: 44\n", (14, 30), "default newest"),
        ("_config_version: 43\n", (30, 90), "default 0.19"),
        ("curator: {stale_after_days: '7', archive_after_days: 0}\n", (7, 0), "config"),
        (
            "_config_version: 44\ncurator: {stale_after_days: 7, archive_after_days: 0}\n",
            (7, 30),
            "config, default newest",
        ),
        ("curator: {stale_after_days: soon}\n", (30, 90), "default 0.19"),
        ("curator: [1]\n", (30, 90), "default 0.19"),
        ("{broken", (30, 90), "default 0.19"),
    ],
)
def test_thresholds_and_where_they_come_from(
    text: str, limits: tuple[int, int], source: str
) -> None:
    """Spec 4.1; contract ``thresholds_from``."""
    seen = view({"config.yaml": text.encode()})
    found = read_settings(seen, read_config(seen, {}), {})
    assert (found.limits.stale_after_days, found.limits.archive_after_days) == limits
    assert found.thresholds_from == source


def test_bundled_skills_are_pruned_by_old_defaults_and_by_the_text_false() -> None:
    """Spec 4.1: 0.19.0 takes the text ``false`` for true."""
    found = {}
    for text in ("", "_config_version: 44\n", "curator: {prune_builtins: 'false'}\n"):
        seen = view({"config.yaml": text.encode()})
        found[text] = read_settings(seen, read_config(seen, {}), {}).prune_builtins
    assert list(found.values()) == [True, False, True]


@pytest.mark.parametrize(
    ("state", "is_due", "why"),
    [
        ({"last_run_at": "2026-10-25T00:00:00+00:00"}, True, ""),
        ({"last_run_at": "2026-10-25T00:00:01+00:00"}, False, "its interval is not over"),
        ({"last_run_at": "2026-10-01", "paused": True}, False, "it is paused"),
        ({"last_run_at": "soon"}, False, "it never ran: its next look starts the clock"),
        ({}, False, "it never ran: its next look starts the clock"),
    ],
)
def test_when_a_run_is_due(state: dict[str, Any], is_due: bool, why: str) -> None:
    """Spec 4.2: exactly one interval counts."""
    seen = view(small(**{STATE: json.dumps(state).encode()}))
    found = due(read_state(seen), terms(seen).settings, NOW)
    assert (found.due, found.why_not) == (is_due, why)


def test_pause_keeps_what_the_agent_does_not_know() -> None:
    state = {"last_run_at": "x", "of tomorrow": [1], "_private": 2}
    seen = view(small(**{STATE: json.dumps(state).encode()}))
    (change,) = plan_pause(seen, True).changes
    assert isinstance(change, Change)
    assert change.after is not None
    written = json.loads(change.after.data)
    assert (written["paused"], written["of tomorrow"], written["_private"]) == (True, [1], 2)
    broken = view(small(**{STATE: b"["}))
    assert plan_pause(broken, True).category == "unreadable_target"
    assert plan_curate(broken, terms(broken)).category == "unreadable_target"


def test_jobs_protect_by_path_folder_and_bundle() -> None:
    """Spec 4.4, ours."""
    jobs = [
        {"id": "1", "name": "one", "skills": ["/ops/probe"]},
        {"id": "2", "name": "two", "skills": None, "skill": " probe "},
        {"id": "3", "name": "three", "skills": ["my-set"]},
        {"id": "4", "name": "four", "skills": [], "skill": "probe"},
        {"id": "5", "name": "five", "skills": "ops:probe"},
        {"id": "6", "name": "six", "skills": ["Probe"]},
    ]
    seen = view(
        small(
            **{
                "cron/jobs.json": b"\xef\xbb\xbf" + json.dumps(jobs).encode(),
                "skill-bundles/my_set.yaml": b"skills: [probe]\n",
                "skill-bundles/broken.yaml": b"skills: [",
            }
        )
    )
    found = read_references(seen)
    words = words_for("probe", "skills/ops/probe", "skills")
    assert [job.name for job in found.jobs_of(words)] == ["one", "two", "three", "five"]
    assert "probe" in found.exact
    assert [bundle.name for bundle in found.bundles_of(words)] == ["my_set"]


@pytest.mark.parametrize("data", [b"{broken", b"5", b'{"jobs": 5}', b'[{"skills": 5}]', b"\xff"])
def test_jobs_that_cannot_be_read_keep_everything(data: bytes) -> None:
    """Spec 4.4, ours: protect everything."""
    seen = view(small(**{"cron/jobs.json": data}))
    assert read_references(seen).problem
    assert predict(seen, terms(seen)).transitions == ()
    assert codes(plan_curate(seen, terms(seen))) == ["holds_everything"]
    assert [t.name for t in predict(seen, terms(seen), as_agent=True).transitions] == ["probe"]


def test_origins_and_the_suppressed_names_are_the_samples() -> None:
    seen = view(sample())
    found = read_origins(seen)
    assert "v1-entry-without-hash" in found.bundled
    assert found.hub == {"csv-profiler", "sql-explain", "SQL Explain Helper"}
    assert suppressed(seen) == {"stock-ticker"}
    leads_out = {"installed": {"x": {"install_path": "../outside"}}}
    seen = view(small(**{"skills/.hub/lock.json": json.dumps(leads_out).encode()}))
    assert read_origins(seen).hub == {"x"}


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("platforms: [macos]\n", "platform"),
        ("platforms: linux\n", ""),
        ("environments: [docker]\n", "environment"),
        ("environments: [docker, mystery]\n", ""),
        ("environments: [s6]\n", ""),
        ("", ""),
    ],
)
def test_why_a_skill_is_not_offered(head: str, why: str) -> None:
    """Spec 1.3 and 1.7."""
    text = f"---\nname: probe\ndescription: d\n{head}---\n\nbody\n".encode()
    seen = view(small(**{"skills/ops/probe/SKILL.md": text}))
    around = Surroundings("linux", frozenset({"s6"}))
    said = not_offered("probe", read_head(seen, "skills/ops/probe"), Offering(), around)
    assert said.partition(":")[0] == why


def test_what_a_skill_still_needs() -> None:
    text = (
        b"---\nname: probe\ndescription: d\nprerequisites:\n  env_vars: [TOKEN, THERE]\n"
        b"  commands: [no-such-tool]\nmetadata:\n  hermes:\n    requires_toolsets: [web]\n---\n\nx\n"
    )
    seen = view(small(**{"skills/ops/probe/SKILL.md": text}))
    around = Surroundings("linux", frozenset(), {"THERE": "1"}, lambda command: False)
    offering = Offering(by_platform={"telegram": frozenset({"probe"})})
    head = read_head(seen, "skills/ops/probe")
    found = [each.code for each in needs("skills/ops/probe", "probe", head, offering, around)]
    assert found == ["disabled_on_platform", "needs_toolset", "needs_variable", "needs_command"]


def test_disabled_names_are_read_as_the_agent_reads_them() -> None:
    seen = view(sample())
    found = read_offering(seen, {})
    assert found.disabled == {"tone-guide"}
    assert found.by_platform == {"telegram": frozenset({"csv-profiler"})}


def test_a_head_is_read_the_same_with_and_without_yaml() -> None:
    plain = b"---\nname: probe\ndescription: Use when testing.\n---\n\nbody\n"
    quoted = b'---\nname: "probe"\ndescription: Use when testing.\n---\n\nbody\n'
    heads = [
        read_head(view(small(**{"skills/ops/probe/SKILL.md": text})), "skills/ops/probe")
        for text in (plain, quoted)
    ]
    assert heads[0].fields == heads[1].fields
    spoken = b"---\nname: probe\ndescription: yes\n---\n\nbody\n"
    seen = view(small(**{"skills/ops/probe/SKILL.md": spoken}))
    assert read_head(seen, "skills/ops/probe").fields["description"] is True


def test_findings_name_what_is_odd_about_the_sample() -> None:
    """Spec 7.10."""
    seen = view(sample())
    judged = terms(seen)
    inventory = read_inventory(seen, judged.config, judged.rules)
    found = {
        each.name: [
            finding.code
            for finding in of_skill(each, read_head(seen, each.folder), Offering(), judged)
        ]
        for each in inventory.skills
    }
    assert found["flaky-test-hunt"] == ["name_dir_mismatch"]
    assert found["broken-yaml"] == ["broken_frontmatter"]
    assert found["ghost-archived"] == ["archived_but_live"]
    assert found["string-counts"] == ["odd_counter"]
    assert found["weird-timestamps"] == ["unreadable_dates", "never_ages"]
    assert found["future-clock"] == ["future_date"]
    assert found["corrupt-row"] == ["row_not_understood"]
    assert found["nginx-tls-renewal"] == []
    home = of_home(inventory, read_packages(seen), leftovers(seen), read_state(seen))
    said = [(finding.code, finding.message.split()[0]) for finding in home]
    assert ("row_without_skill", "There") in said
    assert [line for line in said if line[0] == "archive_leftover"] == [
        ("archive_leftover", "empty-shell"),
        ("archive_leftover", "stray.txt"),
    ]


def test_inline_shell_is_a_danger_where_it_runs() -> None:
    """Spec, inline shell; signoff never runs one."""
    text = skill("probe", "Now !`date +%F` and !`rm -rf /`\n")
    seen = view(small(**{"skills/ops/probe/SKILL.md": text}))
    judged = terms(seen)
    (each,) = read_inventory(seen, judged.config, judged.rules).skills
    head = read_head(seen, each.folder)
    off = [f for f in of_skill(each, head, Offering(), judged) if f.code == "inline_shell"]
    assert [finding.severity for finding in off] == [Severity.WARNING] * 2
    on = [*of_skill(each, head, Offering(inline_shell=True), judged)]
    assert [finding.severity for finding in on] == [Severity.DANGER] * 2
    start, end = on[1].spans[0]
    assert head.text[start:end] == "!`rm -rf /`"


def test_runs_and_the_ledger_are_history() -> None:
    """Spec 4.5 and 4.10."""
    run = {
        "started_at": "2026-10-25T03:00:00+00:00",
        "auto_transitions": {"archived": 1},
        "archived": ["gone"],
        "consolidated": [{"name": "merged", "into": "umbrella", "reason": "same topic"}],
        "pruned": [{"name": "pruned", "reason": ""}],
        "state_transitions": [{"name": "aged", "from": "active", "to": "stale"}],
        "llm_summary": "s",
    }
    line = {"id": "a1", "ts": "2026-10-26T00:00:00+00:00", "actor": "curator", "action": "archive"}
    seen = view(
        {
            "logs/curator/20261025-030000/run.json": json.dumps(run).encode(),
            "logs/curator/20261025-030000/REPORT.md": b"# r\n",
            "logs/curator/20261026-030000/run.json": b"{broken",
            LEDGER: json.dumps(line | {"skill": "x", "before": [{"path": "/h/a"}]}).encode()
            + b"\nbroken\n",
        }
    )
    broken, found = read_runs(seen)
    assert broken.problem
    assert found.started_at == datetime(2026, 10, 25, 3, tzinfo=UTC)
    assert mentions(found, ["merged"]) == "merged into umbrella: same topic"
    assert mentions(found, ["pruned"]) == "pruned"
    assert mentions(found, ["aged"]) == "active to stale"
    assert mentions(found, ["nobody"]) == ""
    assert found.report.endswith("REPORT.md")
    (written,) = read_ledger(seen)
    assert (written.actor, written.action, written.before) == ("curator", "archive", ("/h/a",))


def test_adoption_is_all_or_nothing() -> None:
    seen = view(sample())
    judged = terms(seen)
    both = plan_adopt(seen, judged, ["meeting-notes", "tone-guide"])
    assert both.category == "ok"
    assert set(changed_rows(seen, both)) == {"meeting-notes", "tone-guide"}
    for name, category in (
        ("csv-profiler", "hub_installed"),
        ("changelog-writer", "name_is_bundled"),
        ("team-oncall", "external_read_only"),
        ("plan", "protected_builtin"),
        ("nobody", "skill_not_found"),
        ("corrupt-row", "unreadable_target"),
    ):
        found = plan_adopt(seen, judged, ["meeting-notes", name])
        assert (found.category, found.changes) == (category, ()), name
    assert plan_adopt(seen, judged, ["zulu-clock"]).category == "noop"


@pytest.mark.parametrize(
    ("to", "category"),
    [
        ("ops/deep/probe", "restored"),
        ("skills/probe", "restored"),
        ("./other name", "restored"),
        ("/etc/probe", "unsafe_target"),
        ("../probe", "unsafe_target"),
        ("ops/../../probe", "unsafe_target"),
        (".archive/probe", "unsafe_target"),
        (".hub/probe", "unsafe_target"),
        ("ops/references", "restored"),
        ("ops/live/references", "unsafe_target"),
        ("", "unsafe_target"),
        ("ops/live/inside", "unsafe_target"),
        ("ops/live", "destination_exists"),
        ("ext/probe", "external_read_only"),
    ],
)
def test_a_place_to_restore_to_lies_below_skills(to: str, category: str) -> None:
    """Field report D51: names are checked before they become paths."""
    files = small(
        **{
            "config.yaml": config(more="skills: {external_dirs: [skills/ext]}\n"),
            "skills/ops/probe/SKILL.md": None,
            "skills/ops/live/SKILL.md": skill("live"),
            "skills/ext/team/SKILL.md": skill("team"),
            "skills/.archive/probe/SKILL.md": skill("probe"),
        }
    )
    seen = view(files)
    outcome = plan_restore(seen, terms(seen), "probe", to)
    assert outcome.category == category
    assert bool(moved(outcome)) is (category == "restored")


def test_restore_says_when_it_would_be_archived_again() -> None:
    """Spec 4.7, step 7."""
    files = small(
        **{
            "skills/ops/probe/SKILL.md": None,
            "skills/.archive/probe/SKILL.md": skill("probe"),
            usage.PATH: rows(probe=row(state="archived")),
        }
    )
    seen = view(files)
    assert codes(plan_restore(seen, terms(seen), "probe")) == ["archived_again"]
    assert codes(plan_restore(seen, terms(seen), "probe", pin=True)) == []


def test_digits_that_are_no_date_are_a_part_of_the_name() -> None:
    """Contract, ``restore``: the newest *valid* stamped copy; spec 4.7, step 5."""
    kept = {
        "build-99999999999999": "build",
        "build-2026": "build-2026",
        "log-20260101000000": "log-20260101000000",
        "bare-20260101000000": None,
    }
    files = small(
        **{
            f"skills/.archive/{folder}/SKILL.md": skill(named) if named else b"prose\n"
            for folder, named in kept.items()
        }
    )
    bases = {each.folder: each.base for each in read_packages(view(files))}
    assert bases == {
        "build-99999999999999": "build-99999999999999",
        "build-2026": "build-2026",
        "log-20260101000000": "log-20260101000000",
        "bare-20260101000000": "bare",
    }


@pytest.mark.parametrize("folder", ["..-20260101000000", ".x-20260101000000", ".hidden"])
def test_a_folder_that_would_climb_or_hide_is_not_restored(folder: str) -> None:
    """Field report D51."""
    seen = view(small(**{f"skills/.archive/{folder}/SKILL.md": b"prose\n"}))
    outcome = plan_restore(seen, terms(seen), folder)
    assert (outcome.category, outcome.changes) == ("unsafe_target", ())


def test_twins_stay_where_they_are_and_it_is_said() -> None:
    """Deviation, spec 4.4: one row for two folders."""
    seen = view(small(**{"skills/data/probe/SKILL.md": skill("probe")}))
    found = predict(seen, terms(seen))
    assert [(line.name, line.rule) for line in found.skipped] == [("probe", "held")]
    assert found.transitions == ()
    pinned = plan_pin(seen, terms(seen), "skills/ops/probe", True)
    assert codes(pinned) == ["duplicate_name"]


def test_a_skill_inside_one_that_goes_goes_with_it() -> None:
    files = small(
        **{
            "skills/ops/probe/zz-inner/SKILL.md": skill("zz-inner"),
            usage.PATH: rows(probe=row(), **{"zz__inner": row()}),
        }
    )
    seen = view(files)
    outcome = plan_curate(seen, terms(seen))
    assert moved(outcome) == {"ops/probe": ".archive/probe"}
    assert set(changed_rows(seen, outcome)) == {"probe"}


def test_skills_of_plugins_and_trusted_projects_are_known_and_never_candidates() -> None:
    """Spec 1.6; hermes-agent 0.19.0 registers a plugin's skills by its name."""
    files = small(
        **{
            "plugins/web/skills/fetch/SKILL.md": skill("fetch"),
            "/repo/.agents/skills/lint/SKILL.md": skill("lint"),
            "/other/.hermes/skills/x/SKILL.md": skill("x"),
            "config.yaml": config(more="skills: {trusted_project_dirs: [/repo, relative]}\n"),
        }
    )
    seen = view(files)
    newest = read_borrowed(seen, Rules.NEWEST, {})
    assert [(each.name, each.origin) for each in newest] == [
        ("fetch", "plugin"),
        ("lint", "project"),
    ]
    assert [each.name for each in read_borrowed(seen, Rules.V0_19, {})] == ["fetch"]
    judged = terms(seen)
    candidates = read_inventory(seen, judged.config, judged.rules).candidates(judged)
    assert [each.name for each in candidates] == ["probe"]


def test_a_path_means_what_lies_there_and_nothing_else() -> None:
    """A head may say the path of another skill; folders of the archive may be called skills."""
    seen = view(
        small(
            **{
                "skills/ops/mimic/SKILL.md": skill("skills/ops/probe"),
                "skills/.archive/skills/x/SKILL.md": skill("x"),
                "skills/.archive/x/SKILL.md": skill("x"),
            }
        )
    )
    judged = terms(seen)
    inventory = read_inventory(seen, judged.config, judged.rules)
    for token, folders in (
        ("skills/ops/probe", ["skills/ops/probe"]),
        ("skills/ops/mimic/", ["skills/ops/mimic"]),
        ("ops/probe", ["skills/ops/probe"]),
        ("probe", ["skills/ops/probe"]),
        ("skills/probe", []),
        ("/ops/probe", []),
    ):
        assert [each.folder for each in inventory.named(token)] == folders, token
    for token, first in (
        ("skills/x", "skills/x"),
        ("x", "x"),
        ("skills/.archive/x", "x"),
        ("skills/.archive/skills/x", "skills/x"),
        (".archive/x", "x"),
    ):
        assert find_package(seen, token)[0].folder == first, token
    assert find_package(seen, "skills/.archive/y") == ()
