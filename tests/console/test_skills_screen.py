"""Skills mode as it is looked at: the table, its order and filter, the archive, the page."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.console.pilots import SKILLS_MODE, Console, open_console, sample
from tests.console.plain import DATA


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tree of skills that the curator's spec was measured on."""
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(DATA / "hermes-skills", tmp_path / ".hermes", symlinks=True)
    return tmp_path / ".hermes"


def names(console: Console) -> list[str]:
    return [item.name for item in console.skills.rows.items]


def here(console: Console) -> Any:
    """The row at the cursor."""
    return console.skills.rows.cursor_item


def footer(console: Console) -> str:
    """The last line of the terminal."""
    return " ".join(console.picture.splitlines()[-1].split())


async def at(console: Console, name: str) -> Any:
    """Put the cursor on a skill, or on a folder of the archive; its row."""
    rows = console.skills.rows
    found = {getattr(item, "folder", item.name): item for item in rows.items}
    assert rows.move_to(found[name].key)
    await console.settle()
    return found[name]


# -- the table -----------------------------------------------------------------------------


async def test_the_table_lists_what_changes_soonest_first(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        shown = {item.name: item.next for item in console.skills.rows.items}
        assert list(shown) == [
            *("changelog", "incident-timeline", "release-notes-l10n"),
            *("log-search", "canary-deploy", "log-grep-tips"),
            *("invoice-audit", "migration-check", "support-reply"),
        ]
        assert shown["changelog"] == "active again"
        assert shown["incident-timeline"] == "stale now"
        assert shown["release-notes-l10n"] == "archive now"
        assert shown["log-search"] == "stale in 29d"
        assert shown["log-grep-tips"] == "archive in 32d"
        assert shown["invoice-audit"] == "kept by a job"
        assert shown["migration-check"] == "pinned"
        assert shown["support-reply"] == "stays"


async def test_the_curator_stands_above_the_table(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert "Curator  next run in 1d, changes 3 skills; ran 5d ago" in console.picture
        assert "stale after 30 days, archived after 90 (config)" in console.picture


async def test_s_sorts_by_the_next_column_and_the_cursor_stays_on_its_skill(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "log-search")
        await console.press("s")
        assert names(console) == sorted(names(console))
        assert here(console).name == "log-search"
        await console.press("S")
        assert names(console) == sorted(names(console), reverse=True)
        await console.press("s", "s", "s")
        assert names(console)[:2] == ["log-search", "canary-deploy"]
        assert "uses▾" in console.picture


async def test_the_filter_takes_state_origin_traits_and_words(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("slash", *"state:stale", "enter")
        assert names(console) == ["changelog", "release-notes-l10n", "log-grep-tips"]
        assert "Skills (3 of 9)" in console.picture
        await console.press("escape")
        assert len(names(console)) == 9
        await console.press("slash", *"is:pinned", "enter")
        assert names(console) == ["migration-check"]
        await console.press("escape", "slash", *"origin:user", "enter")
        assert names(console) == ["support-reply"]
        await console.press("escape", "slash", *"tenant", "enter")
        assert "log-search" in names(console)


async def test_a_filter_that_means_nothing_says_so(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("slash", *"is:blue", "enter")
        assert console.flash.startswith("There is no is:blue. Write one of pinned, ")
        assert console.skills.filter.has_focus


async def test_n_goes_round_what_the_next_run_changes(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("n")
        seen = [here(console).name]
        for _ in range(2):
            await console.press("n")
            seen.append(here(console).name)
        assert seen == ["incident-timeline", "release-notes-l10n", "changelog"]


# -- the page ------------------------------------------------------------------------------


async def test_the_page_says_why_a_skill_will_age_out(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "release-notes-l10n")
        assert "The next run archives it: last used 2026-08-28, 93 days ago" in console.words
        assert "archived after 90 days." in console.words
        assert "Stale after 30 days, archived after 90 (config)." in console.words
        await at(console, "log-search")
        assert "If nobody uses it: stale in 29 days, 2026-12-28" in console.words
        assert "archived in 89 days, 2027-02-26" in console.words


async def test_the_page_names_jobs_files_uses_and_what_happened(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "invoice-audit")
        assert "· the scheduled job monthly invoice audit uses it" in console.words
        assert "rounding.md" in console.text
        assert "used 4 times, last 2026-08-25" in console.words
        await at(console, "changelog")
        assert "Copies in the archive · skills/.archive/changelog" in console.words
        assert "active to stale run " in console.words


async def test_the_page_counts_calls_in_conversations_and_says_that_it_does(home: Path) -> None:
    """Spec 7.11: the agent keeps no history of uses; its conversations do."""
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "migration-check")
        said = "1 call of skill_view and skill_manage in 1 conversation (state.db)"
        assert said in console.words
        await at(console, "log-grep-tips")
        assert "state.db" not in console.words


async def test_conversations_that_cannot_be_read_are_said_not_guessed(home: Path) -> None:
    (home / "state.db").write_bytes(b"no database at all, and long enough to tell" * 9)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "migration-check")
        assert "Conversations were not looked through: state.db cannot be read" in console.words


async def test_m_shows_the_text_as_it_is_stored(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "changelog")
        assert "• One line per change" in console.text
        assert "- One line per change" not in console.text
        await console.press("m")
        assert " 7  # Changelog" in console.text
        assert "- One line per change" in console.text


async def test_both_names_of_a_skill_are_said_when_they_differ(odd: Path) -> None:
    # hermes-skills-curator.md 1.1: rows and pins go by the head, tools and archive by the folder.
    async with open_console(odd) as console:
        await console.press(SKILLS_MODE)
        await at(console, "flaky-test-hunt")
        assert "Two names: its head says flaky-test-hunt" in console.words
        assert "its folder flaky-tests (tools, archive)" in console.words


async def test_findings_name_the_line_and_the_key_that_mends_it(home: Path) -> None:
    folder = home / "skills/ops/log-search"
    text = (folder / "SKILL.md").read_text()
    before = text.count("\n")
    (folder / "SKILL.md").write_text(f"{text}\nSee references/gone.md, then !`date -u`.\n")
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "log-search")
        line = before + 2
        assert f"Line {line} names references/gone.md, which its package does not" in console.words
        said = f"would run (skills.inline_shell is off) the command in line {line}: date -u"
        assert said in console.words
        assert "skills/ops/log-search/SKILL.md" not in console.words
        assert "e changes its text, m numbers its lines." in console.words
        await console.press("m")
        assert f"{line}  See references/gone.md" in console.text


async def test_why_the_agent_is_not_offered_a_skill(odd: Path) -> None:
    async with open_console(odd) as console:
        await console.press(SKILLS_MODE)
        item = await at(console, "tone-guide")
        assert not item.offered
        assert "∅ The agent is not offered it. disabled: skills.disabled" in console.words


async def test_w_goes_to_the_proposal_that_would_change_it(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "log-grep-tips")
        assert "! 1 proposal waits that would change it: w goes there" in console.words
        await console.press("w")
        assert console.review.queue.cursor_item is not None
        assert console.review.queue.cursor_item.target.endswith("log-grep-tips")


async def test_w_is_grey_without_a_proposal_and_says_so(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "release-notes-l10n")
        await console.press("w")
        assert console.flash == "No proposal waits that would change it"


async def test_the_sheet_of_the_curator_says_where_each_setting_comes_from(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("H")
        assert "stale_after_days 30 config" in console.words
        assert "prune_builtins on default 0.19" in console.words
        assert "queue-replay: archived" in console.words
        assert "cron-cleanup: merged into log-search" in console.words
        assert re.search(r"logs/curator/\d{8}-\d{6}/REPORT\.md", console.words)


# -- the archive ---------------------------------------------------------------------------


async def test_t_shows_the_archive_with_where_each_copy_goes(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("t")
        shown = {item.folder: (item.ok, item.to, item.why) for item in console.skills.rows.items}
        assert shown["cron-cleanup"] == (True, "skills/cron-cleanup", "restored")
        assert shown["changelog"] == (False, "skills/changelog", "a live one is there")
        assert shown["onboarding/repo-tour"][1] == "skills/repo-tour"
        await at(console, "changelog")
        assert "Beside the live skills/writing/changelog" in console.words
        assert "+ - One line per commit" in console.text
        await console.press("escape")
        assert "changelog" in names(console)


async def test_each_side_keeps_its_cursor_and_its_order(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "log-search")
        await console.press("t", "s", "j")
        second = console.skills.rows.cursor_key
        await console.press("t")
        assert here(console).name == "log-search"
        assert "next▾" in console.picture
        await console.press("t")
        assert console.skills.rows.cursor_key == second
        assert "folder▾" in console.picture


# -- states --------------------------------------------------------------------------------


async def test_a_home_without_skills_says_so(home: Path) -> None:
    shutil.rmtree(home / "skills")
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert "This home has no skills yet." in console.words
        await console.press("p")
        assert console.flash == "There is no skill to pin"


async def test_with_nothing_but_an_archive_the_way_to_it_is_said(home: Path) -> None:
    for folder in ("ops", "data", "writing"):
        shutil.rmtree(home / "skills" / folder)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert "This home has no skills yet." in console.words
        assert "t shows the archive (5)." in console.words
        await console.press("t")
        assert "Archive (5)" in console.picture
        assert here(console).folder.startswith("queue-replay-")


async def test_an_empty_archive_says_so(home: Path) -> None:
    shutil.rmtree(home / "skills/.archive")
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("t")
        assert "The archive is empty" in console.words


async def test_unreadable_rows_block_every_write_and_say_so(home: Path) -> None:
    rows = home / "skills/.usage.json"
    rows.write_text("{ this is not json")
    before = rows.read_bytes()
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert "‼ Nothing is written: the usage rows cannot be read" in console.picture
        # What the rows would say is not known: not "active", not "never used", not "a person's".
        assert {(i.state, i.uses, i.last, i.next) for i in console.skills.rows.items} == {
            ("unknown", None, "?", "unknown")
        }
        assert "Not known: its usage row cannot be read." in console.words
        for key in ("p", "d", "c"):
            await console.press(key)
            assert console.flash.startswith("The usage rows cannot be read ("), key
        await console.press("t", "b")
        assert console.flash.startswith("The usage rows cannot be read (")
    assert rows.read_bytes() == before


async def test_what_others_keep_is_read_only(odd: Path) -> None:
    async with open_console(odd) as console:
        await console.press(SKILLS_MODE)
        await at(console, "team-oncall")
        for key in ("p", "d", "e"):
            await console.press(key)
            assert console.flash.startswith("team-oncall lies in an external folder"), key
        await at(console, "csv-profiler")
        await console.press("d")
        assert console.flash == "The hub installed csv-profiler: the curator never touches it"


async def test_a_curator_that_is_switched_off_says_so(home: Path) -> None:
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("  enabled: true", "  enabled: false"))
    (home / "skills/.curator_state").unlink()
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert "✗ off: curator.enabled is off" in console.picture
        assert "never ran" in console.picture
        await console.press("c")
        assert console.flash == "curator.enabled is off in config.yaml: the curator never runs"


async def test_a_change_from_outside_moves_no_cursor(home: Path) -> None:
    rows = home / "skills/.usage.json"
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await at(console, "log-search")
        found = json.loads(rows.read_text())
        found["log-search"]["use_count"] = 58
        found["incident-timeline"]["pinned"] = True
        rows.write_text(json.dumps(found))
        await console.reload()
        assert here(console).name == "log-search"
        assert here(console).uses == 58
        assert "used 58 times" in console.words
        (item,) = (i for i in console.skills.rows.items if i.name == "incident-timeline")
        assert (item.pinned, item.next) == (True, "pinned")


async def test_a_page_of_what_went_away_says_so_and_leaves_what_was_said(home: Path) -> None:
    """A run of the curator may move it while its page is asked for."""
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("m")
        console.skills.flash("✓ said before")
        shutil.rmtree(home / "skills/ops/log-search")
        await at(console, "log-search")
        assert console.words.startswith("There is no skill skills/ops/log-search.")
        assert console.flash == "✓ said before"


async def test_a_change_from_outside_moves_no_row_and_a_new_one_comes_where_it_belongs(
    home: Path,
) -> None:
    rows = home / "skills/.usage.json"
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        before = names(console)
        found = json.loads(rows.read_text())
        found[before[0]]["pinned"] = True
        rows.write_text(json.dumps(found))
        folder = home / "skills/zzz-new"
        folder.mkdir()
        (folder / "SKILL.md").write_text("---\nname: zzz-new\ndescription: x\n---\n\nx\n")
        await console.reload()
        there = names(console)
        assert [name for name in there if name != "zzz-new"] == before
        await console.press("s")
        assert names(console)[-1] == "zzz-new"


async def test_the_footer_says_what_can_be_done_with_the_row(odd: Path) -> None:
    async with open_console(odd, size=(80, 24)) as console:
        await console.press(SKILLS_MODE)
        await at(console, "nginx-tls-renewal")
        live = "space mark p {} d archive b restore c curate u undo ? help q quit"
        assert footer(console) == live.format("pin")
        await at(console, "disk-pressure-runbook")
        assert footer(console) == live.format("unpin")
        await console.press("p")
        assert footer(console) == live.format("pin")
        await console.press("t")
        assert footer(console) == "b restore c curate t skills u undo ? help q quit"
        await console.press("p")
        assert console.flash == "It is in the archive: b brings it back, then pin it"
        await console.press("t")
        assert footer(console) == live.format("pin")


async def test_hostile_skills_are_drawn_safe(home: Path) -> None:
    folder = home / "skills/ops/evil"
    folder.mkdir()
    body = "x\x1b]0;owned\x07 [@click=app.quit]q[/] \u202eback \u200b\n" + "y" * 10_000
    head = "---\nname: '[/x] \x1b[31m evil'\ndescription: '[@click=app.quit]go[/]'\n---\n\n# [/b]\n"
    (folder / "SKILL.md").write_text(head + body)
    (folder / "[bold]a\x1b[0m.md").write_text("x")
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        (item,) = (i for i in console.skills.rows.items if "evil" in i.name)
        console.skills.rows.move_to(item.key)
        await console.settle()
        for shown in (console.picture, console.text):
            assert not any(sign in shown for sign in "\x1b\x07\u202e\u200b")
        assert "[@click=app.quit]q[/]" in console.text
        await console.press("m", "d")
        assert "\x1b" not in console.picture


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (142, 42), (60, 16)])
async def test_it_fits_every_size(home: Path, size: tuple[int, int]) -> None:
    async with open_console(home, size=size) as console:
        await console.press(SKILLS_MODE)
        assert "log-search" in console.picture
        assert "stale in 29d" in console.picture
        await at(console, "log-search")
        await console.press("enter")
        assert "What becomes of it" in console.picture
        await console.press("escape")
        assert "Skills (9)" in console.picture
