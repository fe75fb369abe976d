"""Skills mode with a person's hand on it: every decision shown, made, and taken back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.console.pilots import SKILLS_MODE, Console, open_console, sample, tree
from tests.console.test_skills_screen import at, names

EDITOR = """#!/bin/sh
sed -i 's/One line per change/One line for each change/' "$1"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("console.screens.editor.suspended", lambda _: _nothing())
    return sample(tmp_path)


def _nothing() -> object:
    from contextlib import nullcontext

    return nullcontext()


def row(home: Path, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((home / "skills/.usage.json").read_text())[name]
    return found


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str = EDITOR) -> None:
    script = folder / "editor"
    script.write_text(text)
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.delenv("VISUAL", raising=False)


async def opened_at(console: Console, name: str) -> None:
    await console.press(SKILLS_MODE)
    await at(console, name)


# -- pin -----------------------------------------------------------------------------------


async def test_p_pins_and_unpins_and_undo_takes_it_back(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "log-search")
        await console.press("p")
        assert console.flash.startswith("✓ log-search is pinned: the curator leaves it where it is")
        assert row(home, "log-search")["pinned"] is True
        assert "◆ pinned" in console.words
        await console.press("p")
        assert row(home, "log-search")["pinned"] is False
        await console.press("u", "u")
        assert tree(home) == before


async def test_p_pins_all_that_are_marked_as_one_step(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        await console.press("space", "space", "space", "p")
        assert console.flash == "✓ 3 pinned, u takes them back as one"
        pinned = {name for name in names(console) if row_is_pinned(home, name)}
        assert pinned == {
            *("changelog", "incident-timeline", "release-notes-l10n"),
            "migration-check",
        }
        assert console.skills.rows.marked == ()
        await console.press("u")
        assert tree(home) == before


async def test_what_is_pinned_stays_in_its_place_until_the_person_sorts(home: Path) -> None:
    """So that the next key meets the next row, as in every other list."""
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        before = names(console)
        assert (before[0], console.skills.rows.cursor_index) == ("changelog", 0)
        await console.press("p")
        assert (names(console), console.skills.rows.cursor_index) == (before, 0)
        await console.press("j", "p")
        assert row_is_pinned(home, "incident-timeline")
        assert (names(console), console.skills.rows.cursor_index) == (before, 1)
        await console.press("f5")
        after = names(console)
        assert after != before
        assert {"changelog", "incident-timeline"}.isdisjoint(after[:2])
        assert console.skills.rows.cursor_key == "skills/ops/incident-timeline"
        await console.press("S", "S")
        assert names(console) == after


def row_is_pinned(home: Path, name: str) -> bool:
    return name != "support-reply" and row(home, name)["pinned"] is True


# -- archive -------------------------------------------------------------------------------


async def test_d_shows_who_refers_to_a_skill_before_it_is_archived(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "invoice-audit")
        await console.press("d")
        assert "Archives invoice-audit as skills/.archive/invoice-audit." in console.picture
        assert "The scheduled job monthly invoice audit uses it" in console.picture
        await console.press("escape")
        assert tree(home) == before
        await console.press("d")
        await console.press("y")
        assert "✓ Archived invoice-audit" in console.flash
        assert (home / "skills/.archive/invoice-audit/assets/columns.csv").is_file()
        assert "invoice-audit" not in names(console)
        await console.press("u")
        assert tree(home) == before
        assert "invoice-audit" in names(console)


async def test_d_archives_at_once_what_nothing_refers_to_as_memory_forgets(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "log-grep-tips")
        await console.press("d")
        assert "u takes it back" in console.flash
        assert (home / "skills/.archive/log-grep-tips/SKILL.md").is_file()
        await console.press("u")
        assert tree(home) == before


async def test_y_never_copies_while_the_question_is_prepared(home: Path) -> None:
    async with open_console(home) as console:
        await opened_at(console, "invoice-audit")
        await console.pilot.press("d", "y")
        await console.settle()
        assert console.app.clipboard == ""


async def test_a_skill_may_be_called_as_the_look_at_others_is(home: Path) -> None:
    """Its decision is one all the same: it has a receipt."""
    folder = home / "skills/outside"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: outside\ndescription: x\n---\n\nx\n")
    async with open_console(home) as console:
        await opened_at(console, "outside")
        await console.press("d")
        assert console.flash.startswith("✓ Archived outside")
        assert [each.subject for each in console.app.receipts] == ["outside"]


async def test_a_pinned_skill_is_not_archived(home: Path) -> None:
    async with open_console(home) as console:
        await opened_at(console, "migration-check")
        await console.press("d")
        assert console.flash == "migration-check is pinned: p takes the pin off"


async def test_several_are_archived_as_one_step_and_what_cannot_is_left_out(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        for name in ("log-search", "migration-check", "log-grep-tips"):
            await at(console, name)
            await console.press("space")
        await console.press("d")
        assert "Archive 2 of 3 skills as one step" in console.picture
        assert "✗ migration-check is pinned" in console.picture
        await console.press("y")
        assert console.flash == "✓ 2 archived, u takes them back as one"
        assert {"log-search", "log-grep-tips"} & set(names(console)) == set()
        await console.press("u")
        assert tree(home) == before


async def test_what_changed_while_it_was_shown_is_left_alone(home: Path) -> None:
    async with open_console(home) as console:
        await opened_at(console, "invoice-audit")
        await console.press("d")
        shutil.move(home / "skills/data/invoice-audit", home / "skills/moved-away")
        before = tree(home)
        await console.press("y")
        assert console.flash.startswith("✗ ")
        assert "nothing was written" in console.flash
        assert tree(home) == before


# -- restore -------------------------------------------------------------------------------


async def test_b_offers_a_pin_where_the_next_run_would_archive_again(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("t")
        await at(console, "queue-replay")
        await console.press("b")
        assert "The next run of the curator archives it again" in console.picture
        assert "Restore the oldest of 2 copies: queue-replay" in console.picture
        assert "It is not the newest copy: queue-replay-20261117" in console.picture
        assert "1  Restore it to skills/queue-replay" in console.picture
        assert "2  Restore it to skills/queue-replay and pin it" in console.picture
        assert "Look at the newer copy queue-replay-20261117" in console.picture
        await console.press("2")
        assert row(home, "queue-replay")["pinned"] is True
        assert (home / "skills/queue-replay/SKILL.md").is_file()
        await console.press("u")
        assert tree(home) == before


async def test_another_copy_can_be_chosen(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("t")
        await at(console, "queue-replay")
        await console.press("b")
        await console.press("3")
        assert "from skills/.archive/queue-replay-2026" in console.picture
        assert "Restore the newest of 2 copies: queue-replay-2026" in console.picture
        assert "not the newest" not in console.words
        await console.press("1")
        assert "version: 0.3.1" in (home / "skills/queue-replay/SKILL.md").read_text()
        assert (home / "skills/.archive/queue-replay/SKILL.md").is_file()


async def test_a_collision_shows_both_and_takes_the_live_one_away_first(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("t")
        await at(console, "changelog")
        await console.press("b")
        assert "A live skill is called changelog too" in console.picture
        assert "4 - version: 1.0.2" in console.picture
        assert "4 + version: 0.3.0" in console.picture
        assert "1 cannot be done" not in console.picture
        await console.press("1")
        assert "1 cannot be done: " in console.picture
        assert tree(home) == before
        await console.press("2")
        assert "version: 0.3.0" in (home / "skills/writing/changelog/SKILL.md").read_text()
        await console.press("u")
        assert tree(home) == before


async def test_the_place_it_lay_in_is_offered_beside_the_agents(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "log-grep-tips")
        await console.press("d")
        await console.press("t")
        await at(console, "log-grep-tips")
        assert "It lay in skills/ops/log-grep-tips" in console.words
        await console.press("b")
        assert "1  Restore it to skills/ops/log-grep-tips, where it lay" in console.picture
        assert "2  Restore it to skills/log-grep-tips, as the agent's own" in console.picture
        await console.press("1")
        text = (home / "skills/ops/log-grep-tips/SKILL.md").read_bytes()
        await console.press("u", "u")
        assert tree(home) == before
        assert (home / "skills/ops/log-grep-tips/SKILL.md").read_bytes() == text


async def test_any_other_place_can_be_named(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("t")
        await at(console, "onboarding/repo-tour")
        await console.press("b")
        await console.press("2")
        await console.press(*"../out", "enter")
        assert "Name another folder" in console.picture
        await console.press("ctrl+u", *"people/tour", "enter")
        assert "skills/people/tour." in console.picture
        await console.press("y")
        assert (home / "skills/people/tour/SKILL.md").is_file()


async def test_b_on_a_live_skill_means_its_copies(home: Path) -> None:
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        await console.press("b")
        assert "Restore changelog" in console.picture
        await console.press("escape")
        await at(console, "log-search")
        await console.press("b")
        assert console.flash == "The archive holds no copy of it; t shows what it holds"


# -- the curator ---------------------------------------------------------------------------


async def test_c_foresees_a_run_exactly_and_makes_it_as_one_step(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("c")
        assert "1 marked stale, 1 archived, 1 reactivated" in console.picture
        assert "release-notes-l10n  stale → archived" in console.picture
        await console.press("y")
        assert console.flash.startswith("✓ A run of the curator: 1 marked stale, 1 archived")
        assert (home / "skills/.archive/release-notes-l10n/SKILL.md").is_file()
        assert row(home, "incident-timeline")["state"] == "stale"
        assert row(home, "changelog")["state"] == "active"
        assert "changes nothing" in console.picture
        await console.press("u")
        assert tree(home) == before


async def test_capital_p_pauses_and_resumes(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("P")
        assert json.loads((home / "skills/.curator_state").read_text())["paused"] is True
        assert "Curator  ‖ it is paused" in console.picture
        await console.press("P")
        assert "paused" not in console.picture
        await console.press("u", "u")
        assert tree(home) == before


async def test_capital_a_adopts_what_the_curator_does_not_manage(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "support-reply")
        await console.press("A")
        assert row(home, "support-reply")["created_by"] == "agent"
        await console.press("A")
        assert console.flash == ("Only a skill that the curator does not manage yet can be adopted")
        await console.press("u")
        assert tree(home) == before


async def test_capital_m_shows_all_that_it_adopts_and_takes_them_as_one_step(home: Path) -> None:
    other = home / "skills/ops/by-hand"
    other.mkdir()
    (other / "SKILL.md").write_text("---\nname: by-hand\ndescription: x\n---\n\nbody\n")
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("M")
        assert "The curator manages by-hand, support-reply from now on" in console.picture
        await console.press("escape")
        assert tree(home) == before
        await console.press("M")
        await console.press("y")
        assert row(home, "support-reply")["created_by"] == "agent"
        assert row(home, "by-hand")["created_by"] == "agent"
        await console.press("M")
        assert console.flash == "The curator manages every skill that it could"
        await console.press("u")
        assert tree(home) == before


async def test_capital_r_puts_a_snapshot_back_after_showing_what_changes(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("R")
        assert "2026-11-24T09-53-36Z" in console.picture
        await console.press("1")
        assert "Their counts go back (3)" in console.picture
        await console.press("y")
        assert console.flash.startswith("✓ Put the skills back")
        assert row(home, "log-search")["use_count"] != 57
        await console.press("u")
        assert tree(home) == before


async def test_a_run_that_would_come_to_another_end_by_now_is_not_made(home: Path) -> None:
    """Spec 7.1: what is not part of it may change, what decides it may not."""
    before = tree(home)
    rows = home / "skills/.usage.json"
    async with open_console(home, size=(80, 24)) as console:
        await console.press(SKILLS_MODE)
        await console.press("c")
        used(rows, "log-search", "2026-11-29T11:00:00+00:00")
        await console.press("y")
        assert console.skills.said.startswith("✓ A run of the curator: 1 marked stale, 1 archived")
        await console.press("u")
        await console.press("c")
        used(rows, "release-notes-l10n", "2026-11-29T11:00:00+00:00")
        less = tree(home)
        await console.press("y")
        said = "✗ What such a run does changed since it was shown; nothing was written"
        assert console.skills.said == said
        assert tree(home) == less
        assert set(before) == set(less)
        await console.press("c")
        assert "release-notes-l10n  stale → active" in console.picture


def used(rows: Path, name: str, at: str) -> None:
    found = json.loads(rows.read_text())
    found[name]["last_used_at"] = at
    rows.write_text(json.dumps(found, indent=2, sort_keys=True))


async def test_a_snapshot_that_went_is_said_and_leaves_the_choice(home: Path) -> None:
    async with open_console(home, size=(80, 24)) as console:
        await console.press(SKILLS_MODE)
        await console.press("R")
        shutil.rmtree(home / "skills/.curator_backups")
        before = tree(home)
        await console.press("1")
        assert console.skills.said.startswith("✗ There is no snapshot 2026-11-24T09-53-36Z")
        await console.press("R")
        assert console.flash == "There is no snapshot of the skills"
        assert tree(home) == before


async def test_decisions_are_taken_back_in_any_order(home: Path) -> None:
    """The oldest first, from Journal, then the newest ones in turn."""
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "log-search")
        await console.press("p")
        await at(console, "log-grep-tips")
        await console.press("d")
        await console.press("c")
        await console.press("y")
        await console.press("P", "t")
        await at(console, "log-grep-tips")
        await console.press("b")
        await console.press("1")
        console.app.switch_mode("journal")
        await console.settle()
        rows = console.journal.rows
        rows.move_to(rows.items[-1].key)
        await console.settle()
        await console.press("U")
        assert console.flash == "Entry 1 (pin log-search) was taken back"
        await console.press("u", "u", "u", "u")
        assert tree(home) == before


async def test_capital_r_brings_one_skill_back_and_leaves_the_rest(home: Path) -> None:
    import shutil

    before = tree(home)
    shutil.rmtree(home / "skills/ops/log-search")
    less = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("R")
        await console.press("1")
        assert "all skills, with their counts" in console.picture
        assert "only ops/log-search, which is gone" in console.picture
        await console.press("2")
        assert "Put skills/ops/log-search back" in console.picture.replace("Puts", "Put")
        await console.press("y")
        assert console.flash.startswith("✓ Put skills/ops/log-search back")
        assert (home / "skills/ops/log-search/SKILL.md").exists()
        assert row(home, "log-search")["use_count"] == 57
        assert not set(before) - set(tree(home)) - {".skills_prompt_snapshot.json"}
        await console.press("u")
        assert tree(home) == less


# -- edit ----------------------------------------------------------------------------------


async def test_e_shows_the_difference_before_it_is_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch)
    before = tree(home)
    path = home / "skills/writing/changelog/SKILL.md"
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        await console.press("e")
        assert "One line for each change" in console.picture
        assert tree(home) == before
        await console.press("escape")
        assert console.flash == "Nothing was written. Your text is kept: e opens it again"
        await console.press("e")
        await console.press("y")
        assert "One line for each change" in path.read_text()
        await console.press("u")
        assert tree(home) == before


async def test_a_text_the_agent_would_refuse_is_not_written_and_is_kept(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, "#!/bin/sh\nprintf 'no head at all\\n' > \"$1\"\n")
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        await console.press("e")
        assert console.flash.startswith("✗ ")
        assert console.flash.endswith("Your text is kept: e opens it again")
        assert tree(home) == before


async def test_a_text_that_could_not_be_written_is_let_go_once_it_is_as_it_was(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "skills/writing/changelog/SKILL.md"
    before = tree(home)
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        editor(tmp_path, monkeypatch, '#!/bin/sh\n: > "$1"\n')
        await console.press("e")
        assert console.flash == "✗ The text is empty. Your text is kept: e opens it again"
        editor(tmp_path, monkeypatch, f"#!/bin/sh\ncat '{path}' > \"$1\"\n")
        await console.press("e")
        # The kept text had no line end, the stored one has: none is taken away.
        assert console.flash == "The text is the same; nothing was done"
        editor(tmp_path, monkeypatch, f"#!/bin/sh\ncat \"$1\" > '{tmp_path}/seen'\n")
        await console.press("e")
        assert (tmp_path / "seen").read_bytes() == path.read_bytes()
        assert tree(home) == before


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "editor ended with 3. Nothing was changed"),
        ("exit 0", "The text is the same; nothing was done"),
        ('printf "\\377abc" > "$1"', "The edited text is not UTF-8 (byte 0). Nothing was changed"),
        ('rm "$1"', "The text cannot be read back: No such file or directory. Nothing was changed"),
    ],
)
async def test_an_editor_that_fails_changes_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    editor(tmp_path, monkeypatch, f"#!/bin/sh\n{script}\n")
    before = tree(home)
    async with open_console(home, size=(80, 24)) as console:
        await opened_at(console, "changelog")
        await console.press("e")
        assert console.skills.said.endswith(said)
        assert tree(home) == before


async def test_what_changed_under_the_editor_is_not_overwritten(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "skills/writing/changelog/SKILL.md"
    script = f"#!/bin/sh\nsed -i 's/1.0.2/1.0.3/' '{path}'\nsed -i 's/One line/Two lines/' \"$1\"\n"
    editor(tmp_path, monkeypatch, script)
    async with open_console(home) as console:
        await opened_at(console, "changelog")
        await console.press("e")
        assert "changed while you edited it" in console.flash
        assert "1.0.3" in path.read_text()
        assert "Two lines" not in path.read_text()


# -- names that mislead --------------------------------------------------------------------


async def test_a_head_that_says_another_folder_hits_nobody_else(home: Path) -> None:
    # A head may say anything, also the path of another skill.
    folder = home / "skills/ops/mimic"
    folder.mkdir()
    head = "---\nname: skills/ops/log-search\ndescription: x\n---\n\nbody\n"
    (folder / "SKILL.md").write_text(head)
    twin = home / "skills/data/log-search"
    twin.mkdir()
    (twin / "SKILL.md").write_text("---\nname: log-search\ndescription: x\n---\n\nbody\n")
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert console.skills.rows.move_to("skills/ops/log-search")
        await console.press("d")
        assert "Archive skills/ops/log-search" in console.picture
        await console.press("y")
        assert not (home / "skills/ops/log-search").exists()
        assert (folder / "SKILL.md").exists()
        assert (twin / "SKILL.md").exists()
        await console.press("u")
        assert tree(home) == before


async def test_twins_that_are_both_marked_are_both_done(home: Path) -> None:
    """They share a row: the first step does a part of the second."""
    twin = home / "skills/data/log-search"
    twin.mkdir()
    (twin / "SKILL.md").write_text("---\nname: log-search\ndescription: x\n---\n\nbody\n")
    before = tree(home)
    both = ("skills/ops/log-search", "skills/data/log-search")
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        for key, said in (("p", "✓ 2 pinned"), ("d", "✓ 2 archived")):
            for folder in both:
                console.skills.rows.mark(folder, True)
            await console.settle()
            await console.press(key)
            if key == "d":
                await console.press("y")
            assert console.flash == f"{said}, u takes them back as one"
            await console.press("u")
            assert tree(home) == before


async def test_a_skill_that_went_meanwhile_is_no_other_of_that_name(home: Path) -> None:
    # Its folder's name is all another skill shares with it.
    other = home / "skills/data/log-search"
    other.mkdir()
    (other / "SKILL.md").write_text("---\nname: log-finder\ndescription: x\n---\n\nbody\n")
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert console.skills.rows.move_to("skills/ops/log-search")
        (home / "skills/ops/log-search").rename(home / "aside")
        before = tree(home)
        for key in ("d", "p"):
            await console.press(key)
            assert "There is no skill skills/ops/log-search" in console.flash
        assert tree(home) == before


async def test_the_way_of_a_person_with_three_skills(home: Path) -> None:
    """Find one, read why it will age out, pin it; archive another; restore a third over a live one."""
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.press("slash", *"l10n", "enter")
        assert names(console) == ["release-notes-l10n"]
        assert "The next run archives it: last used 2026-08-28" in console.words
        await console.press("p", "escape")
        assert "The next run leaves it as it is: pinned." in console.words
        await at(console, "log-grep-tips")
        await console.press("d")
        await console.press("y")
        await console.press("t")
        await at(console, "changelog")
        await console.press("b")
        await console.press("2")
        assert "version: 0.3.0" in (home / "skills/writing/changelog/SKILL.md").read_text()
        await console.press("u", "u", "u")
    assert tree(home) == before
