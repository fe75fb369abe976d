"""``export``: the files it leaves, where it refuses, and what it says (contract)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from core.recall.export_jsonl import session_line
from tests.console.plain import DATA, Answer, Cli

SCHEMA = (DATA / "hermes-sessions" / "schema-0.19.sql").read_text("utf-8")
ONE, OLD, TIP, ODD = "20260703_090000_aaaaaa", "20260704_090000_bbbbbb", "20260704_100000_cccccc", "../o"  # fmt: skip
START = 1_783_069_200.0
ROWS: list[tuple[str, str, Any, Any, int, int]] = [
    (ONE, "user", "my password=hunter2 here", None, 1, 0),
    (ONE, "assistant", "", '[{"id": "c", "type": "function", "function": {"name": "terminal", "arguments": "{\\"command\\": \\"login --token abc123def\\"}"}}]', 1, 0),
    (ONE, "user", "folded away", None, 0, 1),
    (ONE, "user", "taken back", None, 0, 0),
    (ONE, "user", b"\xff\x00blob", None, 1, 0),
    (ONE, "user", "\x00json:[{\"type\": \"text\", \"text\": \"seen\"}]", None, 1, 0),
    (ONE, "user", "nul \x00 and \x1b[31m", None, 1, 0),
    (OLD, "user", "the first part", None, 1, 0),
    (TIP, "user", "the second part", None, 1, 0),
    (ODD, "user", "odd id", None, 1, 0),
]  # fmt: skip


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    (made / "config.yaml").write_text("{}\n", "utf-8")
    db = sqlite3.connect(made / "state.db")
    db.executescript(SCHEMA)
    sessions = (
        (ONE, "cli", "Kiln key sk-abc123def456", None, None),
        (OLD, "cli", "Chain", "compression", None),
        (TIP, "cli", "Chain #2", None, OLD),
        (ODD, "cli", None, None, None),
    )
    for number, (session_id, source, title, reason, parent) in enumerate(sessions):
        ended = START + number + 0.5 if reason else None
        db.execute(
            "INSERT INTO sessions (id, source, title, end_reason, parent_session_id, started_at,"
            " ended_at, message_count) VALUES (?, ?, ?, ?, ?, ?, ?, 5)",
            (session_id, source, title, reason, parent, START + number, ended),
        )
    for number, (session_id, role, content, calls, active, compacted) in enumerate(ROWS):
        db.execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, timestamp, active,"
            " compacted) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session_id, role, content, calls, START + number, active, compacted),
        )
    db.commit()
    db.close()
    return made


def lines(path: str | Path) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]


def exported(answer: Answer) -> list[dict[str, Any]]:
    assert answer.code == 0, answer.out + answer.err
    made: list[dict[str, Any]] = answer.json["exported"]
    for each in made:
        data = Path(each["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == each["sha256"]
        assert stat.S_IMODE(os.stat(each["path"]).st_mode) == 0o600
    return made


def tree(folder: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in folder.rglob("*")}


def test_json_lines_land_in_the_folder_one_is_in(cli: Cli, home: Path) -> None:
    before = tree(home)
    answer = cli("export", ONE, "--json", home=home)
    (each,) = exported(answer)
    assert answer.json["home"] == str(home)
    assert each == {
        "session_id": ONE,
        "lineage_session_ids": [ONE],
        "path": str(cli.folder / "here" / f"{ONE}-kiln-key-sk-abc123def456.jsonl"),
        "format": "jsonl",
        "messages": 5,
        "sha256": each["sha256"],
    }
    (session,) = lines(each["path"])
    assert [row["content"] for row in session["messages"]] == [
        "my password=hunter2 here",
        "",
        {"base64": "/wBibG9i"},
        [{"type": "text", "text": "seen"}],
        "nul \x00 and \x1b[31m",
    ]
    assert session["messages"][1]["tool_calls"][0]["function"]["name"] == "terminal"
    assert tree(home) == before


def test_all_rows_and_what_is_said_of_them(cli: Cli, home: Path) -> None:
    (each,) = exported(cli("export", ONE, "--all-rows", "--json", home=home))
    states = [(row["active"], row["compacted"]) for row in lines(each["path"])[0]["messages"]]
    assert states == [(1, 0), (1, 0), (0, 1), (0, 0), (1, 0), (1, 0), (1, 0)]
    (text,) = exported(cli("export", ONE, "--format", "md", "--all-rows", "--json", home=home))
    said = Path(text["path"]).read_text("utf-8")
    assert "_summarised_\n\nfolded away\n" in said
    assert "_undone_\n\ntaken back\n" in said
    (text,) = exported(cli("export", ONE, "--format", "md", "--json", "--force", home=home))
    assert "left out: 1 summarised, 1 undone" in Path(text["path"]).read_text("utf-8")
    manifest = lines(cli.folder / "here" / "manifest.jsonl")
    assert [entry["message_count"] for entry in manifest] == [7, 5]


@pytest.mark.parametrize("form", ["jsonl", "md", "qmd", "html"])
def test_redaction_hides_and_counts(cli: Cli, home: Path, form: str) -> None:
    answer = cli("export", ONE, "--format", form, "--redact", "--json", home=home)
    (each,) = exported(answer)
    text = Path(each["path"]).read_text("utf-8")
    for secret in ("hunter2", "abc123def", "sk-abc"):
        assert secret not in text
        assert secret not in each["path"]
    assert "my password=[redacted: password] here" in text
    counts = answer.json["redacted"]
    assert (counts["password"], counts["secret"], counts["API key"]) == (1, 1, 1)


def test_a_chain_is_exported_as_one(cli: Cli, home: Path) -> None:
    (each,) = exported(cli("export", OLD, TIP, "--chain", "--json", home=home))
    assert (each["session_id"], each["lineage_session_ids"]) == (TIP, [OLD, TIP])
    assert [part["id"] for part in lines(each["path"])] == [OLD, TIP]
    assert each["messages"] == 2
    (text,) = exported(cli("export", OLD, "--chain", "--format", "md", "--json", home=home))
    said = Path(text["path"]).read_text("utf-8")
    assert said.index("the first part") < said.index("the second part")
    alone = exported(cli("export", OLD, TIP, OLD, "--json", "--out", "alone", home=home))
    assert [each["session_id"] for each in alone] == [OLD, TIP]


def test_several_html_are_one_page(cli: Cli, home: Path) -> None:
    both = exported(cli("export", ONE, TIP, "--format", "html", "--json", home=home))
    assert [each["messages"] for each in both] == [5, 1]
    assert both[0]["path"] == both[1]["path"]
    assert "2 conversations" in Path(both[0]["path"]).read_text("utf-8")


def test_names_pasted_shortened_odd_and_unknown(cli: Cli, home: Path) -> None:
    pasted = exported(cli("export", f"@session:default/{ONE}", "--json", "--out", "a", home=home))
    short = exported(cli("export", "20260703", "--json", "--out", "b", home=home))
    assert pasted[0]["session_id"] == short[0]["session_id"] == ONE
    (odd,) = exported(cli("export", ODD, "--json", "--out", "c", home=home))
    assert Path(odd["path"]).parent == cli.folder / "here" / "c"
    missing = cli("export", ONE, "nothing", "--json", "--out", "d", home=home)
    assert missing.code == 3
    assert missing.json["error"]["code"] == "not_found"
    assert not (cli.folder / "here" / "d").exists()


def test_what_is_there_stays_without_force(cli: Cli, home: Path) -> None:
    (first,) = exported(cli("export", TIP, "--json", home=home))
    Path(first["path"]).write_text("mine", "utf-8")
    refused = cli("export", ONE, TIP, home=home)
    assert refused.code == 1
    assert "is there already. Name another folder with --out, or replace it with --force" in (
        refused.err.replace("\n", " ")
    )
    assert Path(first["path"]).read_text("utf-8") == "mine"
    assert len(list((cli.folder / "here").iterdir())) == 1
    exported(cli("export", TIP, "--json", "--force", home=home))
    assert lines(first["path"])[0]["id"] == TIP
    # A link of that name is replaced, what it leads to stays.
    (cli.folder / "kept").write_text("theirs", "utf-8")
    Path(first["path"]).unlink()
    Path(first["path"]).symlink_to(cli.folder / "kept")
    assert cli("export", TIP, home=home).code == 1
    exported(cli("export", TIP, "--json", "--force", home=home))
    assert (cli.folder / "kept").read_text("utf-8") == "theirs"


@pytest.mark.parametrize("out", ["home", "home/new/deep", "here/link", "."])
def test_nothing_goes_into_the_home(
    cli: Cli, home: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cli.folder / "here" / "link").symlink_to(home / "session-exports")
    if out == ".":
        monkeypatch.chdir(home)
    before = tree(home)
    words = [] if out == "." else ["--out", str(cli.folder / out)]
    refused = cli("export", ONE, *words, home=home)
    assert refused.code == 1
    assert "lies in the agent's home, and nothing is exported into a home" in refused.err
    assert tree(home) == before


def test_a_folder_that_takes_no_files(cli: Cli, home: Path) -> None:
    (cli.folder / "here" / "file").write_text("", "utf-8")
    refused = cli("export", ONE, "--out", "file/x", "--json", home=home)
    assert refused.code == 1
    assert "cannot be written to" in refused.json["error"]["message"]
    (cli.folder / "here" / "manifest.jsonl").symlink_to(cli.folder / "elsewhere")
    linked = cli("export", ONE, "--format", "md", home=home)
    assert linked.code == 1
    assert not (cli.folder / "elsewhere").exists()
    assert cli("export", ONE, "--out", "a\0b", home=home).code == 1


def test_a_failure_half_way_leaves_no_half_file(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **more: Any) -> Any:
        yield from session_line(*args, **more)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.desk.exporting.session_line", full)
    refused = cli("export", ONE, "--out", "o", home=home)
    assert refused.code == 1
    assert "no space left on device" in refused.err
    assert list((cli.folder / "here" / "o").iterdir()) == []


def test_lines_on_stdout(cli: Cli, home: Path) -> None:
    answer = cli("export", ONE, TIP, "--out", "-", home=home)
    assert [json.loads(line)["id"] for line in answer.out.splitlines()] == [ONE, TIP]
    assert answer.err == ""
    redacted = cli("export", ONE, "--out", "-", "--redact", home=home)
    assert "hunter2" not in redacted.out
    assert redacted.err.startswith("signoff: Redacted 3 secrets: 1 API key, 1 password and 1 sec")
    assert list((cli.folder / "here").iterdir()) == []
    for words in (["--format", "md"], ["--json"]):
        wrong = cli("export", ONE, "--out", "-", *words, home=home)
        assert wrong.code == 2


def test_what_people_read(cli: Cli, home: Path) -> None:
    answer = cli("export", TIP, "--redact", home=home)
    assert (
        f"Exported 1 message of {TIP} to\n  file: {cli.folder / 'here'}/{TIP}-chain-2.jsonl\n"
        in (answer.out)
    )
    assert "Nothing that looks like a secret was found" in answer.out


def test_what_is_left_out_is_said(cli: Cli, home: Path) -> None:
    answer = cli("export", ONE, home=home)
    assert f"Exported 5 of 7 messages of {ONE} to" in answer.out
    assert "The rest is summarised or undone: --all-rows" in answer.out
    whole = cli("export", ONE, "--all-rows", "--force", home=home)
    assert f"Exported 7 messages of {ONE} to" in whole.out
    assert "The rest" not in whole.out


def test_no_conversations(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "config.yaml").write_text("{}\n", "utf-8")
    answer = cli("export", ONE, home=empty)
    assert answer.code == 3
    assert answer.err.startswith("signoff: There is no s")


def test_an_empty_name_of_a_folder_is_wrong_usage(cli: Cli, home: Path) -> None:
    assert cli("export", ONE, "--out", "", home=home).code == 2
    assert list((cli.folder / "here").iterdir()) == []


@pytest.mark.parametrize("name", ["manifest.jsonl", f"{TIP}-chain-2.md"])
def test_a_second_name_of_a_file_is_not_written_to(cli: Cli, home: Path, name: str) -> None:
    out = cli.folder / "o"
    out.mkdir()
    before = (home / "state.db").read_bytes()
    os.link(home / "state.db", out / name)
    refused = cli("export", TIP, "--format", "md", "--force", "--out", str(out), home=home)
    assert refused.code == 1
    assert "is no file of its own" in refused.err.replace("\n", " ")
    assert (home / "state.db").read_bytes() == before
    assert [each.name for each in out.iterdir()] == [name]


KEY = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5f"
SIGNED = "https://b.example.org/x.png?X-Amz-Signature=deadbeef01234567deadbeef01"
#: Ways in which a key stands in a field: ``@`` is its place.
POSITIONS = [
    "@",
    "x_@ and",
    "a\n@\nb",
    "\x1b[31m@\x1b[0m",
    '{"out":"env\\n@\\ncut off',
    '{"@":1}',
    '{"x":"@","x":"ok"}',
    '[["a",{"@":["\\t@"]}]]',
    '\x00json:[{"type":"text","text":"key:\\n@\\n"},{"type":"image_url","image_url":{"url":"SIGNED"}}]',
    "\x00json:[{cut \\n@",
    '[{"id":"@","type":"function","function":{"name":"@","arguments":"{\\"a\\":\\"\\\\n@\\"}"}}]',
]


@pytest.mark.parametrize("form", ["jsonl", "md", "qmd", "html"])
def test_no_key_in_any_field_or_position_is_left(cli: Cli, home: Path, form: str) -> None:
    db = sqlite3.connect(home / "state.db")
    kept = {"id", "session_id", "parent_session_id", "active", "compacted", "archived", "profile"}
    texts = {
        table: [
            row[1]
            for row in db.execute(f"PRAGMA table_info({table})")
            if "TEXT" in row[2] and row[1] not in kept
        ]
        for table in ("sessions", "messages")
    }
    assert {"tool_name", "tool_call_id", "api_content", "reasoning"} <= set(texts["messages"])
    assert {"title", "model", "cwd", "billing_provider"} <= set(texts["sessions"])
    made: list[str] = []
    for number, position in enumerate(POSITIONS):
        planted = position.replace("@", KEY).replace("SIGNED", SIGNED)
        made.append(f"s{number}")
        db.execute("INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', 1)", made[-1:])
        for column in texts["sessions"]:
            value = f"{number} {planted}" if column == "title" else planted
            db.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (value, made[-1]))
        for role in ("user", "assistant", "tool", planted):
            columns = [name for name in texts["messages"] if name != "role"]
            db.execute(
                f"INSERT INTO messages (session_id, timestamp, role, {', '.join(columns)})"
                f" VALUES (?, 1, ?{', ?' * len(columns)})",
                (made[-1], role, *[planted] * len(columns)),
            )
        db.execute(
            "INSERT INTO messages (session_id, timestamp, role, content) VALUES (?, 1, 'tool', ?)",
            (made[-1], planted.encode()),
        )
    db.execute("INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', 1)", (KEY,))
    db.execute(
        "INSERT INTO messages (session_id, timestamp, role, content) VALUES (?, 1, 'user', 'x')",
        (KEY,),
    )
    db.commit()
    db.close()
    words = ["--format", form, "--redact", "--all-rows", "--out", "o", "--json"]
    answer = cli("export", *made, KEY, *words, home=home)
    assert answer.code == 0, answer.out + answer.err
    files = list((cli.folder / "here" / "o").iterdir())
    assert files
    for path in files:
        text = path.read_text("utf-8")
        stored = base64.b64encode(KEY.encode()).decode()
        for left in (KEY, KEY[4:], KEY.lower(), "deadbeef01234567", stored):
            assert left not in text
            assert left not in path.name
        if form == "jsonl":
            lines(path)
