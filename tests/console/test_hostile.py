"""The hostile sample home through every plain command: nothing is obeyed, nothing is hidden.

Case numbers (D-..) are those of ``tests/data/hostile/README.md``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.console.plain import Cli

#: Controls but newline, C1, bidi, zero-width and filler, tags: none may reach a terminal.
FORBIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
#: Real writing that needs joiners; it stays as it is (D-05, D-M0).
WRITING = ("👩‍💻", "🐈‍⬛", "🏳️‍🌈", "می‌خواهم", "یادداشت‌های", "نیم‌فاصله", "می‌شوند")
SGR = re.compile(r"\x1b\[[0-9;]*m")
NASTY = "x\x1b[2J\u202e[/foo]\x07\u200b\U000e0041"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    return cli.copy("hostile")


def queue(cli: Cli, home: Path) -> dict[str, Any]:
    """Everything ``pending`` lists, by id."""
    found = cli("pending", "--json", home=home).json
    return {row["id"]: row for row in (*found["proposals"], *found["unreadable"])}


def show(cli: Cli, home: Path, name: str) -> Any:
    return cli("show", name, "--json", home=home).json


def shown(cli: Cli, home: Path, name: str) -> str:
    """The preview for people on one line."""
    return re.sub(r"\s+", " ", cli("show", name, home=home).out)


def approve(cli: Cli, home: Path, name: str, verb: str = "approve") -> Any:
    (result,) = cli(verb, name, "--json", home=home).json["results"]
    return result


def codes(found: Any) -> dict[str, str]:
    """Each finding's code and severity."""
    return {each["code"]: each["severity"] for each in found["findings"]}


def leftovers(text: str) -> list[str]:
    for word in WRITING:
        text = text.replace(word, "")
    return FORBIDDEN.findall(text)


def every_command(cli: Cli, home: Path) -> dict[str, list[list[str]]]:
    """The plain commands by name, with every id, and with words that go wrong."""
    ids = list(queue(cli, home))
    return {
        "status": [["status"], ["status", "--line"]],
        "pending": [["pending"], ["pending", "--subsystem", "skills"]],
        "show": [
            *(["show", "--", name] for name in ids),
            *(["show", "--as-agent", "--", name] for name in ids),
            ["show", NASTY],
        ],
        "memory": [["memory"]],
        "approve": [
            ["approve", "--all", "--dry-run"],
            ["approve", "--dry-run", "--", *ids, NASTY],
            ["approve", "--seal", NASTY, "d0000001"],
        ],
        "reject": [["reject", NASTY], ["reject", "d0000019", NASTY]],
        "undo": [["undo", "7"], ["undo", NASTY]],
        "journal": [["journal"], ["journal", "--limit", NASTY]],
        "doctor": [["doctor"]],
        "gate": [["gate", NASTY]],
        NASTY: [[NASTY], ["--profile", NASTY, "status"], [f"--{NASTY}"]],
    }


def test_every_file_is_a_row_or_a_reason(cli: Cli, home: Path) -> None:
    entries = {
        path.name.removesuffix(".json")
        for folder in ("memory", "skills")
        for path in (home / "pending" / folder).iterdir()
        if path.name.endswith(".json")
    }
    found = queue(cli, home)
    assert set(found) == entries
    assert len(entries) == 48
    assert all(row.get("reason") or row.get("status") for row in found.values())
    # D-26: hidden names count, a writer's temporary file and another suffix do not.
    assert ".d000001a" in found
    assert not {"d000001b", "d000001c"} & {name.partition(".")[0] for name in found}
    listed = cli("pending", home=home).out
    for name in entries:
        assert name in listed


def test_no_command_lets_a_terminal_be_driven(cli: Cli, home: Path) -> None:
    home = home.rename(home.with_name("h\x1b]0;t\x07\u202e"))
    for calls in every_command(cli, home).values():
        for words in calls:
            answer = cli(*words, home=home)
            assert leftovers(answer.out) == [], words
            assert leftovers(answer.err) == [], words
            assert answer.out or answer.err
            if "--" in words:
                words = [*words[: words.index("--")], "--json", *words[words.index("--") :]]
            else:
                words = [*words, "--json"]
            told = cli(*words, home=home)
            assert told.out.isascii()
            assert json.loads(told.out)


def test_forced_colour_sends_nothing_but_the_colours_of_a_harmless_home(
    cli: Cli, home: Path
) -> None:
    cli.setenv("FORCE_COLOR", "1")
    harmless = [cli.sample(), cli.copy("hermes-approval")]
    used = set[str]()
    for calm in harmless:
        for calls in every_command(cli, calm).values():
            for words in calls:
                answer = cli(*words, home=calm)
                used.update(SGR.findall(answer.out + answer.err))
    assert "\x1b[31m" in used
    for calls in every_command(cli, home).values():
        for words in calls:
            answer = cli(*words, home=home)
            text = answer.out + answer.err
            assert set(SGR.findall(text)) <= used, words
            assert leftovers(SGR.sub("", text)) == [], words


# -- memory files ----------------------------------------------------------------------------------


def test_d_m0_stored_entries(cli: Cli, home: Path) -> None:
    before = (home / "memories/MEMORY.md").read_bytes()
    entries = cli("memory", "--json", home=home).json["entries"]
    assert len(entries) == 8
    assert "\x1b[31m" in entries[5]["text"]
    out = cli("memory", "--target", "memory", home=home).out
    for piece in ("␛[31mred␛[0m", "[red]warn[/red]", "section § 4", "👩‍💻 and 🐈‍⬛"):
        assert piece in out
    assert (home / "memories/MEMORY.md").read_bytes() == before


@pytest.mark.parametrize(
    ("profile", "entries", "case"),
    [
        ("crlf", ["first", "second", "third"], "D-48"),
        ("bom", ["first", "second"], "D-49"),
        ("cosmetic", ["first", "second", "third"], "D-50"),
        ("linked", ["kept elsewhere", "second"], "D-51"),
    ],
)
def test_d_48_to_51_odd_memory_files(
    cli: Cli, home: Path, profile: str, entries: list[str], case: str
) -> None:
    found = cli("--profile", profile, "memory", "--json", home=home).json
    assert [entry["text"] for entry in found["entries"]] == entries, case
    assert found["profile"] == profile
    assert bool(found["drift"]) == (case == "D-50")
    (home / "profiles" / profile / "pending/memory").mkdir(parents=True)
    record = home / "profiles" / profile / "pending/memory/0a.json"
    payload = {"action": "replace", "target": "memory", "old_text": "second", "content": "2nd"}
    record.write_text(json.dumps({"payload": payload}))
    (result,) = cli("--profile", profile, "approve", "0a", "--json", home=home).json["results"]
    assert result["ok"] == (case != "D-50"), result
    file = home / "profiles" / profile / "memories/MEMORY.md"
    now = cli("--profile", profile, "memory", "--json", home=home).json["entries"]
    expected = [entry if entry != "second" or case == "D-50" else "2nd" for entry in entries]
    assert [entry["text"] for entry in now] == expected
    if case == "D-48":
        assert file.read_bytes() == b"first\r\n\xc2\xa7\r\n2nd\r\n\xc2\xa7\r\nthird"
    if case == "D-50":
        assert result["category"] == "external_drift"
        assert "blank" in result["message"]
    if case == "D-51":
        assert str(file.readlink()) == "../real/MEMORY.md"
        assert (home / "profiles/linked/real/MEMORY.md").read_text() == "kept elsewhere\n§\n2nd"


# -- memory records --------------------------------------------------------------------------------


def test_d_01_to_05_text_that_hides_or_drives(cli: Cli, home: Path) -> None:
    first = show(cli, home, "d0000001")  # D-01
    assert codes(first)["escape"] == "danger"
    assert "\x1b]52;c;" in first["changes"][0]["diff"]
    assert "+ Deploy note ␛]52;c;" in cli("show", "d0000001", home=home).out
    assert "[/foo] [@click=app.quit]ok[/]" in cli("pending", home=home).out  # D-02
    third = shown(cli, home, "d0000003")  # D-03
    assert "user⟨U+202E⟩⟨U+2066⟩// only admins" in third
    assert "text direction characters: RIGHT-TO-LEFT OVERRIDE (U+202E)" in third
    assert "add ⟨U+202E⟩flipped" in cli("pending", home=home).out
    fourth = shown(cli, home, "d0000004")  # D-04
    assert "4 invisible characters: ZERO WIDTH SPACE (U+200B)" in fourth
    assert "(content:2)" in fourth
    fifth = shown(cli, home, "d0000005")  # D-05
    assert "Likes 👩‍💻, 🏳️‍🌈 and می‌خواهم" in fifth
    assert "The agent refuses this text" in fifth
    assert "invisible characters" not in fifth


def test_d_06_the_delimiter_makes_two_entries(cli: Cli, home: Path) -> None:
    found = show(cli, home, "d0000006")
    assert found["status"] == "attention"
    assert codes(found)["guard_delimiter"] == "warning"
    results = cli("approve", "--all", "--dry-run", "--json", home=home).json["results"]
    assert not next(r for r in results if r["id"] == "d0000006")["ok"]
    assert "entry added + Checklist: entry added + run the migration" in shown(
        cli, home, "d0000006"
    )


def test_d_07_a_fragment_shows_the_whole_entry(cli: Cli, home: Path) -> None:
    found = show(cli, home, "d0000007")
    assert found["status"] == "attention"
    (lost,) = [f["message"] for f in found["findings"] if f["code"] == "guard_fragment"]
    for word in ("deploys", "push", "main", "short"):
        assert word in lost
    # The whole entry stands there; what is lost is marked, however little is left.
    words = shown(cli, home, "d0000007")
    assert "- [-Standing rules: " in words
    whole = "- Standing rules: always ask before deploys; never push to main; tea at four; keep"
    assert whole in words.replace("[-", "").replace("-]", "")


def test_d_08_and_09_several_places_and_a_null_operation(cli: Cli, home: Path) -> None:
    before = (home / "memories/MEMORY.md").read_bytes()
    assert queue(cli, home)["d0000008"]["status"] == "ambiguous"
    for candidate in ("Plain fact", "the office printer", "the staging host", "Inline sign"):
        assert candidate in shown(cli, home, "d0000008")
    assert queue(cli, home)["d0000009"]["status"] == "invalid"
    assert "Operation 2" in shown(cli, home, "d0000009")
    assert "2: null" in shown(cli, home, "d0000009")
    for name in ("d0000008", "d0000009"):
        assert not approve(cli, home, name)["ok"]
        assert name in queue(cli, home)
    assert (home / "memories/MEMORY.md").read_bytes() == before


def test_d_10_to_13_odd_envelopes(cli: Cli, home: Path) -> None:
    found = queue(cli, home)
    assert found["d000000a"]["reason"] == "a list, not an object"  # D-10
    assert (found["d000000b"]["status"], found["d000000b"]["created_at"]) == (
        "invalid",
        None,
    )  # D-11
    assert not approve(cli, home, "d000000b")["ok"]
    assert approve(cli, home, "d000000b", "reject")["ok"]
    assert found["d000000c"]["created_at"] is None  # D-12
    assert list(found).index("d000000c") > list(found).index("e0000013")
    line = next(x for x in cli("pending", home=home).out.splitlines() if x.startswith("d000000d"))
    assert "unknown" in line  # D-13
    assert cli("status", "--json", home=home).json["oldest_seconds"] < 1e8


def test_d_14_and_15_an_id_is_the_file_name(cli: Cli, home: Path) -> None:
    user = (home / "memories/USER.md").read_bytes()
    for name in ("d000000e", "d000000f"):
        before = set(queue(cli, home))
        result = approve(cli, home, name)
        assert result["ok"]
        assert result["changed"] == ["memories/MEMORY.md", f"pending/memory/{name}.json"]
        assert before - set(queue(cli, home)) == {name}
    assert (home / "memories/USER.md").read_bytes() == user


def test_d_16_to_18_bytes_that_are_no_record(cli: Cli, home: Path) -> None:
    found = queue(cli, home)
    assert found["d0000010"]["reason"].startswith("not JSON")
    assert found["d0000011"]["reason"] == "empty"
    assert found["d0000012"]["reason"] == "nested too deeply"
    (home / "pending/memory/d0000010.json").write_text('{"payload": {"action": "add"}}')
    assert queue(cli, home)["d0000010"]["status"] == "invalid"


def test_d_19_to_24_contents_that_do_not_fit(cli: Cli, home: Path) -> None:
    found = queue(cli, home)
    memory = home / "memories/MEMORY.md"
    before = memory.read_bytes()
    assert found["d0000013"]["status"] == "over_budget"  # D-19
    assert "448 → 5,451 of 2,200 characters" in shown(cli, home, "d0000013")
    assert found["d0000014"]["category"] == "guard_target"  # D-20
    assert found["d0000015"]["category"] == "invalid"  # D-21
    assert "old_text must be text" in shown(cli, home, "d0000015")
    assert found["d0000017"]["category"] == "guard_unstorable"  # D-23
    assert "half emoji ⟨U+D83D⟩ end" in shown(cli, home, "d0000017")
    for name in ("d0000013", "d0000014", "d0000015", "d0000017"):
        assert not approve(cli, home, name)["ok"]
        assert name in queue(cli, home)
    assert sorted(path.name for path in (home / "memories").iterdir()) == ["MEMORY.md", "USER.md"]
    assert found["d0000016"]["category"] == "noop"  # D-22
    assert approve(cli, home, "d0000016")["category"] == "noop"
    assert "d0000016" not in queue(cli, home)
    assert memory.read_bytes() == before
    assert codes(show(cli, home, "d0000018"))["control"] == "warning"  # D-24
    assert "nul ␀ inside" in shown(cli, home, "d0000018")


def test_d_25_27_28_folders_and_links_are_no_records(cli: Cli, home: Path) -> None:
    found = queue(cli, home)
    pending = home / "pending/memory"
    assert found["d0000019"]["reason"] == "a folder"
    assert not approve(cli, home, "d0000019", "reject")["ok"]
    assert (pending / "d0000019.json/keep").exists()
    for name in ("d000001d", "d000001e"):
        assert "link" in found[name]["reason"]
        assert approve(cli, home, name, "reject")["ok"]
        assert not (pending / f"{name}.json").is_symlink()
    assert (home / "memories/USER.md").read_text().startswith("Prefers short")
    cli("undo", home=home)
    assert str((pending / "d000001e.json").readlink()) == "../../memories/USER.md"


@pytest.mark.timeout(60)
def test_d_29_30_42_large_ones_are_fast_and_cut(cli: Cli, home: Path) -> None:
    line = shown(cli, home, "d000001f")
    assert "more characters in pending/memory/d000001f.json" in line
    assert len(line) < 10_000
    assert show(cli, home, "e0000001")["category"] == "too_large"
    assert "the limit is 100,000" in shown(cli, home, "e0000001")
    assert "not text" in shown(cli, home, "e000000e")


# -- skill records ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "category", "said"),
    [
        ("e0000002", "invalid", "invalid_name", "The name may hold"),  # D-31
        ("e0000003", "refused", "path_traversal", "climbs out"),  # D-32
        ("e0000004", "refused", "path_traversal", "climbs out"),  # D-33
        ("e0000005", "ambiguous", "patch_ambiguous", "3 places"),  # D-34
        ("e0000006", "noop", "patch_identical", "are the same"),  # D-35
        ("e0000007", "ready", "ok", "found by whitespace normalized"),  # D-36
        ("e000000a", "invalid", "missing_argument", "file_content"),  # D-38
        ("e000000b", "refused", "pinned", "pinned-skill is pinned"),  # D-39
        ("e000000c", "refused", "pinned", "skills/ops/dup, not skills/notes/dup"),  # D-40
        ("e000000c", "refused", "pinned", "no-such-skill does not exist"),  # D-40
        ("e000000d", "refused", "skill_exists", "exists already"),  # D-41
        ("e000000f", "invalid", "invalid_name", "create → [/x]"),  # D-43
        ("e0000011", "invalid", "unknown_action", "exec"),  # D-45
        ("e0000012", "refused", "path_escape", "references/a␀b.md"),  # D-46
        ("e0000013", "stale", "skill_not_found", "site-check␛[31m"),  # D-47
    ],
)
def test_d_31_to_47_skill_records(
    cli: Cli, home: Path, name: str, status: str, category: str, said: str
) -> None:
    row = queue(cli, home)[name]
    assert (row["status"], row["category"]) == (status, category)
    text = shown(cli, home, name)
    assert said in text
    # D-32: the file a path climbs to is not read, its text never appears.
    assert "Prefers short answers" not in text
    assert approve(cli, home, name)["ok"] == (status == "ready")


def test_d_37_two_for_one_anchor(cli: Cli, home: Path) -> None:
    found = queue(cli, home)
    assert "e0000009" in found["e0000008"]["rivals"]
    assert "e0000008" in found["e0000009"]["rivals"]
    assert approve(cli, home, "e0000008")["ok"]
    # Its anchor is gone; the agent's looser strategies now fit two other steps.
    assert queue(cli, home)["e0000009"]["category"] == "patch_ambiguous"
    assert not approve(cli, home, "e0000009")["ok"]


def test_d_44_hidden_text_in_a_code_block(cli: Cli, home: Path) -> None:
    assert codes(show(cli, home, "e0000010"))["bidi"] == "danger"
    marked = [x for x in cli("show", "e0000010", home=home).out.splitlines() if "⟨U+202E⟩" in x]
    assert marked
    assert all(line.startswith("+ ") for line in marked)


def test_d_s0_and_s2_broken_skills_are_named(cli: Cli, home: Path) -> None:
    checks = [check["message"] for check in cli("doctor", "--json", home=home).json["checks"]]
    assert "skills/md-is-dir/SKILL.md: a folder, not a file" in checks
    assert "7 rows, 1 of them no objects" in checks
