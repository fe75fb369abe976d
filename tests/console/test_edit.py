"""``signoff edit``: in an editor, from a file, converted; tried, written, taken back."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.cli.edit import edit as command
from core import text as drawn
from core.desk import editing, review
from tests.console.plain import Answer, Cli
from tests.core.desks import open_on

ADD = "4ba71ab7"
BATCH = "17f11a8a"
FRAGMENT = "060fb4db"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    return cli.copy("hermes-approval")


def record(home: Path, name: str, subsystem: str = "memory") -> Path:
    return home / "pending" / subsystem / f"{name}.json"


def payload(home: Path, name: str, subsystem: str = "memory") -> dict[str, Any]:
    found = json.loads(record(home, name, subsystem).read_text("utf-8"))["payload"]
    assert isinstance(found, dict)
    return found


def editor(cli: Cli, body: str, name: str = "EDITOR") -> None:
    """An editor of one line of Python; ``path`` is the file it gets."""
    script = cli.folder / "editor.py"
    script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{body}\n")
    cli.setenv(name, f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} --wait")


def all_files(home: Path) -> dict[str, bytes]:
    return {str(p.relative_to(home)): p.read_bytes() for p in home.rglob("*") if p.is_file()}


def one(answer: Answer) -> dict[str, Any]:
    (found,) = answer.json["results"]
    assert isinstance(found, dict)
    return found


def left_over(cli: Cli) -> list[str]:
    return [path.name for path in cli.state.glob("edit-*")]


# -- the editor ------------------------------------------------------------------------------------


def test_the_proposed_text_is_edited_and_the_result_approved(cli: Cli, home: Path) -> None:
    before = all_files(home)
    seen = cli.folder / "seen"
    editor(
        cli,
        f"import os\npathlib.Path({str(seen)!r}).write_text(path.read_text() + oct(path.stat().st_mode) + path.suffix"
        " + path.parent.parent.name)\npath.write_text('CRC-16 trailers came with firmware 2.4.\\n')",
    )
    answer = cli("edit", ADD, "--note", "shorter", "--json", home=home)
    assert answer.code == 0
    done = one(answer)
    assert (done["ok"], done["category"], done["id"]) == (True, "ok", ADD)
    assert done["changed"] == [f"pending/memory/{ADD}.json"]
    assert seen.read_text() == (
        "Gauge firmware 2.4 adds a CRC-16 trailer; frames without it are discarded by the"
        " decoder.\n0o100600.mdstate"
    )
    assert left_over(cli) == []
    text = "CRC-16 trailers came with firmware 2.4."
    assert payload(home, ADD)["content"] == text
    (entry,) = cli("journal", "--json", home=home).json["entries"]
    assert (entry["verb"], entry["subject"], entry["note"]) == ("edit", ADD, "shorter")
    approved = cli("approve", ADD, "--json", home=home)
    assert one(approved)["entries"] == [{"before": None, "after": text}]
    assert cli("undo", str(one(approved)["journal"]), str(entry["id"]), home=home).code == 0
    after = {path: data for path, data in all_files(home).items() if not path.endswith(".lock")}
    assert after == {path: data for path, data in before.items() if not path.endswith(".lock")}


def test_a_text_left_as_it_is_changes_nothing(cli: Cli, home: Path) -> None:
    before = all_files(home)
    editor(cli, "pass")
    answer = cli("edit", ADD, home=home)
    assert (answer.code, "The text is the same; nothing was done." in answer.out) == (0, True)
    editor(cli, "path.write_text(path.read_text())")
    assert one(cli("edit", ADD, "--json", home=home))["category"] == "noop"
    assert all_files(home) == before
    assert cli("journal", "--json", home=home).json["entries"] == []
    assert left_over(cli) == []


@pytest.mark.parametrize(
    "body", ["path.write_text('x'); sys.exit(3)", "path.unlink()", r"path.write_bytes(b'\xff')"]
)
def test_an_editor_that_fails_changes_nothing(cli: Cli, home: Path, body: str) -> None:
    before = all_files(home)
    editor(cli, body)
    answer = cli("edit", ADD, home=home)
    assert answer.code == 1
    assert answer.err.endswith("Nothing was changed.\n")
    assert all_files(home) == before
    assert left_over(cli) == []


def test_which_editor(cli: Cli, home: Path) -> None:
    assert cli("edit", ADD, home=home).code == 2
    cli.setenv("EDITOR", "'half")
    assert cli("edit", ADD, home=home).code == 2
    cli.setenv("EDITOR", "/nowhere/at/all")
    answer = cli("edit", ADD, "--json", home=home)
    assert (answer.code, answer.json["error"]["code"]) == (1, "editor")
    editor(cli, "path.write_text('From VISUAL.')", "VISUAL")
    assert cli("edit", ADD, home=home).code == 0
    assert payload(home, ADD)["content"] == "From VISUAL."


def test_what_an_editor_says_stays_out_of_the_json(cli: Cli, home: Path) -> None:
    editor(cli, "print('hello'); path.write_text('x')")
    run = "from console.cli.main import main; main()"
    words = [sys.executable, "-c", run, "--home", str(home), "edit", ADD, "--json"]
    answer = subprocess.run(words, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)["results"][0]["ok"]
    assert answer.stderr == "hello\n"


def test_a_record_rewritten_meanwhile_is_not_overwritten_and_the_text_is_kept(
    cli: Cli, home: Path
) -> None:
    path = record(home, ADD)
    editor(
        cli,
        f"path.write_text('Mine.\\n')\nother = pathlib.Path({str(path)!r})\n"
        "other.write_text(other.read_text().replace('Gauge', 'Gage'))",
    )
    answer = cli("edit", ADD, "--json", home=home)
    assert (answer.code, one(answer)["category"]) == (1, "moved")
    assert payload(home, ADD)["content"].startswith("Gage firmware")
    (folder,) = cli.state.glob("edit-*")
    assert (folder / "proposal.md").read_text() == "Mine.\n"
    assert str(folder / "proposal.md") in answer.err


def test_a_record_decided_meanwhile_keeps_the_text_too(cli: Cli, home: Path) -> None:
    editor(cli, f"path.write_text('Mine.'); pathlib.Path({str(record(home, ADD))!r}).unlink()")
    answer = cli("edit", ADD, home=home)
    assert answer.code == 3
    assert len(left_over(cli)) == 1
    assert "Your text is kept in" in answer.err


def test_half_a_character_reaches_the_editor_as_its_escape(cli: Cli, home: Path) -> None:
    raw = '{"payload": {"action": "add", "target": "memory", "content": "a \\ud83d b"}}'
    record(home, "half").write_text(raw)
    editor(cli, "pass")
    assert cli("edit", "half", home=home).code == 0
    assert record(home, "half").read_text() == raw
    editor(cli, "path.write_text(path.read_text().replace('\\\\ud83d', 'x'))")
    assert cli("edit", "half", home=home).code == 0
    assert payload(home, "half")["content"] == "a x b"


# -- from a file -----------------------------------------------------------------------------------


def test_the_text_from_a_file_and_from_stdin(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = cli.folder / "text"
    file.write_text("From a file.\n")
    answer = cli("edit", ADD, "--content-file", str(file), "--json", home=home)
    assert payload(home, ADD)["content"] == "From a file."
    assert answer.json["proposal"]["status"] == "ready"
    stream = io.TextIOWrapper(io.BytesIO("潮位\n".encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert cli("edit", ADD, "--content-file", "-", home=home).code == 0
    assert payload(home, ADD)["content"] == "潮位"
    file.write_bytes(b"\xff")
    assert cli("edit", ADD, "--content-file", str(file), home=home).code == 1
    assert cli("edit", ADD, "--content-file", str(cli.folder / "none"), home=home).code == 2


def test_one_text_of_a_batch_is_named(cli: Cli, home: Path) -> None:
    file = cli.folder / "text"
    file.write_text("Likes short notes.")
    answer = cli("edit", BATCH, "--content-file", str(file), home=home)
    assert answer.code == 2
    assert "--part KEY" in answer.err
    words = ("--content-file", str(file), "--part")
    assert cli("edit", BATCH, *words, "operations.9.content", home=home).code == 3
    assert cli("edit", BATCH, *words, "operations.3.content", home=home).code == 0
    assert payload(home, BATCH)["operations"][2]["content"] == "Likes short notes."


def test_the_missing_description_of_a_new_skill(cli: Cli, home: Path) -> None:
    file = cli.folder / "text"
    file.write_text("Use when a guest asks about tides.\n")
    assert cli("show", "979ba5b2", "--json", home=home).json["category"] == "invalid_frontmatter"
    words = ("--part", "description", "--content-file", str(file))
    assert cli("edit", "979ba5b2", *words, home=home).code == 0
    assert cli("approve", "979ba5b2", home=home).code == 0
    written = (home / "skills/tide-faq/SKILL.md").read_text()
    assert written.startswith(
        "---\nname: tide-faq\ndescription: Use when a guest asks about tides.\n"
    )


def test_the_parts_are_listed(cli: Cli, home: Path) -> None:
    before = all_files(home)
    answer = cli("edit", "ae46e15c", "--list", "--json", home=home)
    assert (answer.code, answer.json["results"], answer.json["offers"]) == (0, [], ["move"])
    assert answer.json["id"] == "ae46e15c"
    assert answer.json["parts"][0] == {
        "key": "file_content",
        "label": "the file's text",
        "text": "body sent under the wrong argument name\n",
        "multiline": True,
        "found_under": "content",
    }
    said = cli("edit", "ae46e15c", "--list", home=home).out
    assert "file_path" in said
    assert f"signoff --home {home} edit ae46e15c --move" in said
    assert all_files(home) == before


# -- conversions -----------------------------------------------------------------------------------

CONVERSIONS = [
    (FRAGMENT, "memory", ["--splice"], "ready"),
    ("37c6f9aa", "memory", ["--clean"], "ready"),
    (BATCH, "memory", ["--drop-op", "1"], "ready"),
    ("0c70d625", "skills", ["--as-existing"], "ready"),
    ("ae46e15c", "skills", ["--move"], "ready"),
]


@pytest.mark.parametrize(("name", "subsystem", "words", "status"), CONVERSIONS)
def test_a_conversion_is_tried_written_and_taken_back(
    cli: Cli, home: Path, name: str, subsystem: str, words: list[str], status: str
) -> None:
    before = record(home, name, subsystem).read_bytes()
    tried = cli("edit", name, *words, "--dry-run", "--json", home=home)
    assert (tried.code, one(tried)["ok"], one(tried)["journal"]) == (0, True, None)
    assert tried.json["proposal"]["status"] == status
    assert record(home, name, subsystem).read_bytes() == before
    answer = cli("edit", name, *words, "--json", home=home)
    assert (answer.code, one(answer)["category"]) == (0, "ok")
    assert answer.json["proposal"] == tried.json["proposal"]
    # What was foreseen is what is shown, under the same seal, and what it commits.
    shown = cli("show", name, "--json", home=home).json
    assert shown == tried.json["proposal"]
    done = cli("approve", name, "--seal", shown["seal"], "--json", home=home)
    assert one(done)["category"] == "ok"
    assert cli("undo", home=home).code == 0
    assert cli("undo", str(one(answer)["journal"]), home=home).code == 0
    assert record(home, name, subsystem).read_bytes() == before


def test_conversions_that_do_nothing_or_make_no_sense(cli: Cli, home: Path) -> None:
    before = all_files(home)
    assert one(cli("edit", ADD, "--clean", "--json", home=home))["category"] == "noop"
    assert one(cli("edit", ADD, "--splice", "--json", home=home))["category"] == "noop"
    answer = cli("edit", ADD, "--drop-op", "1", "--json", home=home)
    assert (answer.code, one(answer)["category"]) == (1, "invalid")
    assert cli("edit", ADD, "--as-existing", home=home).code == 1
    assert cli("edit", "nobody", "--clean", home=home).code == 3
    assert cli("edit", "5ec0ffee", "--clean", home=home).code == 1
    for words in (["--clean", "--splice"], ["--list", "--move"], ["--clean", "--part", "content"]):
        assert cli("edit", ADD, *words, home=home).code == 2
    assert all_files(home) == before


def test_hints_name_the_step_that_mends(cli: Cli, home: Path) -> None:
    assert (
        "signoff edit ID --splice"
        in cli("show", FRAGMENT, "--json", home=home).json["findings"][0]["message"]
    )
    assert "signoff edit ID --clean" in cli("show", "37c6f9aa", "--json", home=home).json["message"]


def test_hostile_texts_are_printed_safe(cli: Cli, home: Path) -> None:
    evil = "a\x1b]52;c;AA\x07\u202eb [bold]x[/bold]"
    body = {"payload": {"action": "add", "target": "memory", "content": evil}}
    record(home, "evil").write_text(json.dumps(body))
    editor(cli, "path.write_text(path.read_text() + path.read_text())")
    for words in (["--list"], ["--part", evil], []):
        answer = cli("edit", "evil", *words, home=home)
        for line in (answer.out + answer.err).splitlines():
            assert drawn.safe(line) == line
            assert "[bold]" in line or "bold" not in line


def test_editing_needs_a_terminal_where_deciding_does(cli: Cli, home: Path) -> None:
    (cli.folder / "settings.toml").write_text("decide_needs_terminal = true\n")
    assert cli("edit", "37c6f9aa", "--clean", home=home).code == 1
    assert cli("edit", "37c6f9aa", "--clean", "--dry-run", home=home).code == 0
    assert "\u200b" in payload(home, "37c6f9aa")["content"]


# -- what an edit may not wash away ----------------------------------------------------------------


def test_an_edit_does_not_let_a_proposal_loose_on_another_entry(cli: Cli, home: Path) -> None:
    """guard_retarget holds what was seen first; only a new old_text is a new decision."""
    cli("show", FRAGMENT, home=home)
    store = home / "memories/USER.md"
    store.write_text(
        store.read_text().replace("prefers dataclasses over", "takes dataclasses over")
        + "\n§\nprefers dataclasses, always"
    )
    assert cli("show", FRAGMENT, "--json", home=home).json["category"] == "guard_retarget"
    desk = open_on(home, cli.state)
    for trial in (
        editing.try_edit(desk, FRAGMENT, {"content": "Prefers dataclasses."}),
        editing.try_convert(desk, FRAGMENT, "splice"),
    ):
        assert trial.shown is not None
        assert trial.shown.plan.outcome.category == "guard_retarget"
    assert editing.edit(desk, FRAGMENT, {"content": "Prefers dataclasses."}).ok
    assert review.show(desk, FRAGMENT).plan.outcome.category == "guard_retarget"
    anew = {"old_text": "prefers dataclasses, always"}
    assert editing.edit(desk, FRAGMENT, anew).ok
    assert review.show(desk, FRAGMENT).plan.outcome.category == "ok"


def test_a_dropped_operation_takes_its_own_pins_along(cli: Cli, home: Path) -> None:
    """The second operation was seen hitting what the first would have made of the entry."""
    operations = [
        {"action": "replace", "old_text": "split keyboard", "content": "Uses a flat keyboard."},
        {"action": "replace", "old_text": "keyboard", "content": "Uses one keyboard."},
    ]
    body = {"payload": {"action": "batch", "target": "user", "operations": operations}}
    record(home, "two").write_text(json.dumps(body))
    cli("show", "two", home=home)
    assert editing.convert(open_on(home, cli.state), "two", "drop:1").ok
    shown = cli("show", "two", "--json", home=home).json
    assert shown["category"] == "ok"


def test_the_command_says_what_it_does() -> None:
    assert {option for parameter in command.params for option in parameter.opts} >= {
        "--part", "--list", "--content-file", "--drop-op", "--as-existing", "--splice", "--clean",
        "--move", "--dry-run", "--note", "--json",
    }  # fmt: skip
