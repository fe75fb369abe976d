"""Where proposals come from: specs hermes-sessions 1.3 to 1.5, field-reports D27.

``tests/data/origin`` was made by hermes-agent 0.19.0: a memory write staged by its tool, and the
conversation kept by its session store.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.homes.hermes.origin import Provenance, trace
from core.homes.hermes.pending import Proposal, read_queue
from core.view import Disk

DATA = Path(__file__).parents[2] / "data" / "origin"
SESSION = "20261120_091500_a1b2c3"
ID = "c197285c"
AT = 1795997264.944558
NONE = Provenance("no conversation mentions it")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return shutil.copytree(DATA, tmp_path / "home")


def proposal(home: Path = DATA, **fields: object) -> Proposal:
    """The record of the data, with some of its fields otherwise."""
    (found,) = read_queue(Disk(home)).proposals
    values = {name: getattr(found, name) for name in Proposal.__slots__}
    return Proposal(**{**values, **fields})


def make(home: Path, *statements: str, mode: str = "delete") -> Path:
    """A database of ``statements`` in place of the home's."""
    path = home / "state.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode={mode}")
    for statement in statements:
        db.execute(statement)
    db.close()
    return path


TABLES = (
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, title TEXT)",
    "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,"
    " timestamp REAL)",
    f"INSERT INTO sessions VALUES ('s1', 'cli', {AT - 500}, 'First'), ('s2', 'cli', {AT}, 'Second')",
)


def say(number: int, session: str, content: str, at: float = AT, role: str = "tool") -> str:
    return f"INSERT INTO messages VALUES ({number}, '{session}', '{role}', '{content}', {at})"


STAGED = '{"success": true, "staged": true, "pending_id": "' + ID + '"}'


def listing(home: Path) -> dict[str, tuple[int, ...]]:
    """Everything beside the database and when it was last touched; not the time of last access."""
    found: dict[str, tuple[int, ...]] = {}
    for name in os.listdir(home):
        status = os.stat(home / name)
        found[name] = (
            status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )  # fmt: skip
    return found


# -- found -----------------------------------------------------------------------------------------


def test_the_agents_own_conversation(home: Path) -> None:
    before = listing(home)
    assert trace(home, proposal()) == Provenance(
        'from session "Staging server notes" (2026-11-30 00:07 UTC), message 3', SESSION, 3
    )
    assert listing(home) == before


def test_the_background_review_leaves_none(home: Path) -> None:
    (home / "state.db").write_bytes(b"never looked at")
    found = trace(home, proposal(origin="background_review"))
    assert found == Provenance("the background review leaves no conversation")


@pytest.mark.parametrize("other", ["00000000", "97285c", "%", "c197285c'", "", "\udcff", "n\u00e4"])
def test_what_nobody_mentions(home: Path, other: str) -> None:
    assert trace(home, proposal(id=other)) == NONE


def test_only_tool_results_count(home: Path) -> None:
    make(home, *TABLES, say(1, "s1", STAGED, role="user"), say(2, "s1", STAGED, role="assistant"))
    assert trace(home, proposal()) == NONE


def test_the_answer_that_staged_it_goes_before_later_mentions(home: Path) -> None:
    # A session that lists what waits names the id too, and may be nearer in time.
    make(
        home,
        *TABLES,
        say(1, "s1", STAGED, at=AT - 300),
        say(2, "s2", f"waiting: {ID} add to memory", at=AT),
        say(3, "s2", f"x{ID} {ID}0", at=AT),
    )
    assert trace(home, proposal()).message_id == 1
    make(home, *TABLES, say(2, "s2", f"waiting: {ID} add to memory"))
    assert trace(home, proposal()).words == (
        'mentioned in session "Second" (2026-11-30 00:07 UTC), message 2'
    )


def test_of_copies_the_nearest_in_time(home: Path) -> None:
    # A compaction carries answers into a later session under a new number (1.7).
    copies = (
        say(1, "s1", STAGED, at=AT - 90_000),
        say(2, "s1", STAGED),
        say(9, "s2", STAGED, AT + 50),
    )
    make(home, *TABLES, *copies)
    assert trace(home, proposal()).message_id == 2
    assert trace(home, proposal(created_at=None)).message_id == 1


def test_an_encoded_content_that_begins_with_nul(home: Path) -> None:
    # 1.4: LIKE and substr see an empty string, instr the bytes.
    path = make(home, *TABLES)
    db = sqlite3.connect(path)
    text = '\0json:[{"type":"text","text":"{\\"pending_id\\": \\"' + ID + '\\"}"}]'
    db.execute("INSERT INTO messages VALUES (7, 's2', 'tool', ?, ?)", (text, AT))
    db.execute("INSERT INTO messages VALUES (8, 's2', 'tool', ?, ?)", (b"\xff" + ID.encode(), AT))
    db.commit()
    db.close()
    assert trace(home, proposal()) == Provenance(
        'from session "Second" (2026-11-30 00:07 UTC), message 7', "s2", 7
    )


def test_a_broken_or_stale_index_is_not_needed(home: Path) -> None:
    for spoil in (
        "DELETE FROM messages_fts",
        "UPDATE messages_fts_data SET block = x'00'",
        "DROP TABLE messages_fts_data",
    ):
        db = sqlite3.connect(home / "state.db")
        db.execute(spoil)
        db.commit()
        db.close()
        assert trace(home, proposal()).message_id == 3, spoil


@pytest.mark.parametrize(
    "tables",
    [
        ["CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT)"],
        [
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT)",
            "CREATE TABLE sessions (id TEXT, more TEXT)",
        ],
    ],
)
def test_columns_are_looked_up(home: Path, tables: list[str]) -> None:
    row = f"INSERT INTO messages VALUES (4, 's1', '{STAGED}')"
    make(home, *tables, row)
    assert trace(home, proposal()) == Provenance("from session s1, message 4", "s1", 4)


def test_titles_are_made_safe(home: Path) -> None:
    path = make(home, *TABLES, say(1, "s1", STAGED))
    db = sqlite3.connect(path)
    db.execute("UPDATE sessions SET title = ?", ("\x1b[2Jevil\u202e\n",))
    db.commit()
    db.close()
    words = trace(home, proposal()).words
    assert '"␛[2Jevil⟨U+202E⟩⏎"' in words


# -- not readable ----------------------------------------------------------------------------------


def said(home: Path) -> str:
    found = trace(home, proposal())
    assert (found.session_id, found.message_id) == (None, None)
    return found.words


def test_what_is_no_database(home: Path) -> None:
    path = home / "state.db"
    path.write_bytes(b"SQLite format 3\0" + os.urandom(9000))
    assert said(home).startswith("state.db cannot be read: ")
    path.write_bytes(b"no database at all" * 100)
    assert said(home) == "state.db cannot be read: it is damaged"
    path.unlink()
    assert said(home) == "there is no state.db, so no conversation is kept"
    path.mkdir()
    assert said(home) == "state.db cannot be read: it is a folder"
    path.rmdir()
    os.mkfifo(path)
    assert said(home) == "state.db cannot be read: it is no regular file"
    path.unlink()
    path.write_bytes(b"")
    assert said(home) == "state.db cannot be read: its tables are of no kind that signoff knows"
    assert sorted(os.listdir(home)) == ["config.yaml", "pending", "state.db"]
    path.unlink()
    path.symlink_to("nowhere")
    assert said(home) == "there is no state.db, so no conversation is kept"


def test_a_truncated_database(home: Path) -> None:
    path = home / "state.db"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 3])
    before = listing(home)
    assert said(home) == "state.db cannot be read: it is damaged"
    assert listing(home) == before


def test_a_log_left_by_a_crash_is_not_opened(home: Path) -> None:
    (home / "state.db-wal").write_bytes(b"x" * 4152)
    before = listing(home)
    assert said(home).startswith("state.db cannot be read: it was left in the middle of a write")
    assert listing(home) == before


@pytest.mark.timeout(60)
def test_a_search_ends_in_time(home: Path) -> None:
    path = make(home, *TABLES)
    db = sqlite3.connect(path)
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
        " INSERT INTO messages SELECT i, 's1', 'tool', 'nothing to see ' || hex(randomblob(200)), 1 FROM n"
    )
    db.commit()
    db.close()
    found = trace(home, proposal(), seconds=0.02)
    assert found.words == "state.db cannot be read: the search took too long"


@pytest.mark.parametrize("name", ["a?b#c%41", "a b", "\u00e4"])
def test_paths_that_a_uri_would_misread(tmp_path: Path, name: str) -> None:
    # 1.3.1
    home = shutil.copytree(DATA, tmp_path / name)
    assert trace(home, proposal()).message_id == 3
    assert sorted(os.listdir(home)) == sorted(os.listdir(DATA))


# -- beside a writer -------------------------------------------------------------------------------

WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
db.execute("PRAGMA journal_mode=" + sys.argv[2])
db.execute(sys.argv[3])
db.execute(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
try:
    db.execute("INSERT INTO sessions(id, source, started_at) VALUES ('late', 'cli', 1)")
    if db.in_transaction:
        db.execute("COMMIT")
    print(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0], flush=True)
finally:
    db.close()
"""


class Writer:
    """Another process that has the database open, as a running agent has."""

    def __init__(self, path: Path, mode: str, first: str, second: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), mode, first, second],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def go_on(self) -> str:
        """Let it write, checkpoint and close; what its checkpoint said."""
        answer, _ = self._process.communicate("\n", timeout=90)
        assert self._process.returncode == 0
        return answer.strip()


@pytest.fixture
def waiting() -> Iterator[list[Writer]]:
    writers: list[Writer] = []
    yield writers
    for writer in writers:
        writer.go_on()


def test_a_live_agent_with_a_log(home: Path, waiting: list[Writer]) -> None:
    row = say(1, "s2", STAGED)
    path = make(home, *TABLES, mode="wal")
    waiting.append(Writer(path, "wal", row, "BEGIN IMMEDIATE"))
    before = listing(home)
    assert before["state.db-wal"][2] > 0
    assert trace(home, proposal()).message_id == 1
    after = listing(home)
    assert after["state.db"] == before["state.db"]
    # Opening it, SQLite run by root sets the owner of the log to what it is: a new ctime.
    assert after["state.db-wal"][:-1] == before["state.db-wal"][:-1]
    assert set(after) == set(before)
    # D27: the agent goes on writing to the file that is there, and can empty its log.
    assert waiting.pop().go_on() == "0"
    assert sorted(os.listdir(home)) == ["config.yaml", "pending", "state.db"]
    db = sqlite3.connect(path)
    assert db.execute("SELECT id FROM sessions WHERE id = 'late'").fetchone() == ("late",)
    db.close()


def test_a_closed_log_database_gets_no_files_beside_it(home: Path) -> None:
    # 1.3.3: a plain read-only open makes state.db-shm and state.db-wal, and leaves them.
    make(home, *TABLES, say(1, "s2", STAGED), mode="wal")
    before = listing(home)
    assert trace(home, proposal()).message_id == 1
    assert listing(home) == before


def test_a_live_agent_without_a_log(home: Path, waiting: list[Writer]) -> None:
    path = make(home, *TABLES, say(1, "s2", STAGED))
    waiting.append(Writer(path, "delete", "BEGIN IMMEDIATE", say(2, "s1", "more")))
    before = listing(home)
    assert "state.db-journal" in before
    assert trace(home, proposal()).message_id == 1
    assert listing(home) == before


@pytest.mark.timeout(60)
def test_a_locked_database(home: Path, waiting: list[Writer]) -> None:
    path = make(home, *TABLES, say(1, "s2", STAGED))
    waiting.append(Writer(path, "delete", "BEGIN EXCLUSIVE", say(2, "s1", "more")))
    before = listing(home)
    assert said(home) == "state.db cannot be read: the agent is writing to it"
    assert listing(home) == before
