"""Exports beside the real agent's own: ``hermes sessions export`` on the same database.

hermes-agent 0.19.0 makes the database through its own store, exports it, and checks our Markdown
with its own function (specs, hermes-sessions 4.3).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.recall.redact import Redactor
from tests.console.plain import Cli
from tests.interop.peer import VARIABLE

pytestmark = pytest.mark.peer

MAKE = r"""
import os, time
from pathlib import Path
from hermes_state import SessionDB

db = SessionDB(Path(os.environ["HERMES_HOME"]) / "state.db")
call = {"id": "call_1", "type": "function",
        "function": {"name": "terminal", "arguments": '{"command": "ls \u00e9"}'}}

db.create_session("20260703_090000_aaaaaa", "cli", model="m/one", cwd="/work/shop")
db.set_session_title("20260703_090000_aaaaaa", 'Kiln: "two" #2 / caf\u00e9 100%_')
db.append_message("20260703_090000_aaaaaa", "user", "Fire it?\n\n")
db.append_message("20260703_090000_aaaaaa", "assistant", None, tool_calls=[call],
                  finish_reason="tool_calls", reasoning="because", token_count=5)
db.append_message("20260703_090000_aaaaaa", "tool", "\x1b[31mred\x1b[0m \x00 nul\r\n", tool_name="terminal",
                  tool_call_id="call_1", effect_disposition="none")
db.append_message("20260703_090000_aaaaaa", "assistant", [
    {"type": "text", "text": "seen"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}])
db.append_message("20260703_090000_aaaaaa", "user", "half \ud83d, whole \U0001f600", api_content="more",
                  platform_message_id="9", observed=True)
db.append_message("20260703_090000_aaaaaa", "assistant", "")
db.append_message("20260703_090000_aaaaaa", "user", "a line\n" * 20000)

db.create_session("20260704_090000_bbbbbb", "cli", model="m/one")
first = db.append_message("20260704_090000_bbbbbb", "user", "kept")
db.append_message("20260704_090000_bbbbbb", "assistant", "kept, too")
gone = db.append_message("20260704_090000_bbbbbb", "user", "taken back")
db.append_message("20260704_090000_bbbbbb", "assistant", "taken back, too")
db.rewind_to_message("20260704_090000_bbbbbb", gone)

db.create_session("20260705_090000_cccccc", "telegram", model="m/two")
db.append_message("20260705_090000_cccccc", "user", "the first part")
db.end_session("20260705_090000_cccccc", "compression")
time.sleep(0.02)
db.create_session("20260705_100000_dddddd", "telegram", model="m/two",
                  parent_session_id="20260705_090000_cccccc")
db.set_session_title("20260705_100000_dddddd", "The chain")
db.append_message("20260705_100000_dddddd", "assistant", "[CONTEXT COMPACTION] it said")
db.append_message("20260705_100000_dddddd", "user", "the second part")

db.create_session("20260706_090000_eeeeee", "cron", model="m/two")

raw = db._conn
raw.execute("UPDATE messages SET tool_calls = 'broken' WHERE session_id = ? AND role = 'user'",
            ("20260705_090000_cccccc",))
raw.commit()
db.close()
"""
CHECK = """
import json, sys
from hermes_cli.session_export_md import verify_export_file
path, session_id, count = sys.argv[1:]
print(json.dumps(verify_export_file(path, {"id": session_id, "messages": [{}] * int(count)})))
"""
HIDE = """
import json, sys
from agent.redact import redact_sensitive_text
print(json.dumps([redact_sensitive_text(text, force=True) for text in json.load(sys.stdin)]))
"""
SESSIONS = (
    "20260703_090000_aaaaaa",
    "20260704_090000_bbbbbb",
    "20260705_090000_cccccc",
    "20260705_100000_dddddd",
    "20260706_090000_eeeeee",
)
TIP = SESSIONS[3]


@dataclass(frozen=True)
class Agent:
    """The agent's python on a home of its own; ``home`` is a copy it does not know of."""

    python: str
    folder: Path

    def run(self, *words: str, text: str = "") -> str:
        keep = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        done = subprocess.run(
            [self.python, "-I", *words],
            input=text,
            capture_output=True,
            encoding="utf-8",
            cwd=self.folder,
            env=keep
            | {
                "HERMES_HOME": str(self.folder / "agent"),
                "HOME": str(self.folder),
                "LANG": "C.UTF-8",
                "PYTHONUTF8": "1",
            },
            timeout=120,
            check=True,
        )
        return done.stdout

    def export(self, *words: str) -> str:
        return self.run("-m", "hermes_cli.main", "sessions", "export", *words)

    @property
    def home(self) -> Path:
        return self.folder / "home"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    folder = tmp_path_factory.mktemp("export")
    (folder / "agent").mkdir()
    (folder / "agent" / "config.yaml").write_text("{}\n", encoding="utf-8")
    made = Agent(python, folder)
    made.run("-c", MAKE)
    # Copied while nothing is connected to it.
    shutil.copytree(folder / "agent", folder / "home")
    return made


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


def files(cli: Cli, agent: Agent, *words: str) -> list[dict[str, Any]]:
    answer = cli("export", *words, "--out", str(cli.folder / "out"), "--json", home=agent.home)
    assert answer.code == 0, answer.err
    exported: list[dict[str, Any]] = answer.json["exported"]
    for each in exported:
        data = Path(each["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == each["sha256"]
    return exported


@pytest.mark.parametrize("session_id", SESSIONS)
def test_json_lines_are_the_agents_own(cli: Cli, agent: Agent, session_id: str) -> None:
    theirs = agent.export("--format", "jsonl", "--session-id", session_id, "-")
    (each,) = files(cli, agent, session_id)
    ours = Path(each["path"]).read_text("utf-8")
    assert json.loads(ours) == json.loads(theirs)
    assert ours == theirs
    assert each["messages"] == len(json.loads(theirs)["messages"])


def test_all_rows_adds_those_the_agent_leaves_out(cli: Cli, agent: Agent) -> None:
    (each,) = files(cli, agent, SESSIONS[1], "--all-rows")
    rows = json.loads(Path(each["path"]).read_text("utf-8"))["messages"]
    assert [(row["content"], row["active"]) for row in rows] == [
        ("kept", 1), ("kept, too", 1), ("taken back", 0), ("taken back, too", 0)
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["md", "qmd"])
@pytest.mark.parametrize("session_id", [*SESSIONS, f"{TIP} --chain"])
def test_markdown_has_the_agents_form(cli: Cli, agent: Agent, session_id: str, form: str) -> None:
    session_id, _, chain = session_id.partition(" ")
    folder = cli.folder / "theirs"
    lineage = ["--lineage", "logical"] if chain else []
    agent.export("--format", form, "--session-id", session_id, *lineage, str(folder))
    (each,) = files(cli, agent, session_id, "--format", form, *filter(None, [chain]))
    ours = Path(each["path"])
    theirs = folder / ours.name
    assert theirs.exists(), list(folder.iterdir())
    mine, other = front(ours), front(theirs)
    assert list(mine) == list(other)
    # The agent's export has no time of the last activity; the chain's calls are its newest part's.
    for name in ("exported_at", "exporter", "updated_at"):
        del mine[name], other[name]
    assert mine == other
    assert headings(ours) == headings(theirs)
    assert verification(ours) == verification(theirs)
    checked = json.loads(agent.run("-c", CHECK, str(ours), session_id, str(each["messages"])))
    assert checked == [True, "ok"]
    entry, known = (
        json.loads((place / "manifest.jsonl").read_text("utf-8")) for place in (ours.parent, folder)
    )
    assert list(entry) == list(known)
    assert entry["sha256"] == each["sha256"]
    for name in ("sha256", "path", "exported_at"):
        del entry[name], known[name]
    assert entry == known


def front(path: Path) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(path.read_text("utf-8").split("---\n")[1])
    return made


def headings(path: Path) -> list[str]:
    return re.findall(r"^#{1,3} .*", path.read_text("utf-8"), re.MULTILINE)


def verification(path: Path) -> list[str]:
    text = path.read_text("utf-8").partition("## Export verification")[2]
    return [
        re.sub(r"[0-9a-f]{64}|\d{4}-.*Z", "X", line) for line in text.splitlines() if line.strip()
    ]


TEXTS = [
    "ghp_abcdefghij0123456789",
    "sk-abc123def456ghi789",
    "xoxb-1234567890-abcdefghij",
    "AKIAQRSTUVWX23456789",
    "tvly-abc123def456ghi",
    "Authorization: Bearer abcdef123456",
    "x-api-key: 0a1b2c3d4e5f6a7b",
    "postgres://app:s3cr3tpass@db.example.org/main",
    "export DB_PASSWORD=s3cr3tpass",
    "spring.datasource.password=s3cr3tpass",
    "  password: s3cr3tpass\n",
    '{"apiKey": "s3cr3tpass99"}',
    "https://0123456789abcdef@git.example.org/x.git",
    "bot123456789:AAabcdefghijklmnopqrstuvwxyz012345678",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\n-----END RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
]


def test_what_the_agent_hides_is_hidden(agent: Agent) -> None:
    hidden = json.loads(agent.run("-c", HIDE, text=json.dumps(TEXTS)))
    changed = [text for text, after in zip(TEXTS, hidden, strict=True) if after != text]
    assert len(changed) >= 15
    assert [text for text in changed if Redactor().stored(text) == text] == []
