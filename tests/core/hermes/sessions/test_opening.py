"""How a ``state.db`` is opened: spec hermes-sessions 1.3 and 7.14, field reports D27, D28, R19."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.conversations import Filters
from core.errors import UnreadableError
from core.homes.hermes.sessions import opening
from core.homes.hermes.sessions.layout import Layout, Storage, detect
from core.homes.hermes.sessions.opening import (
    CancelledError,
    NoDatabaseError,
    TimeUpError,
    reading,
)
from core.homes.hermes.sessions.store import StateDb
from tests.core.hermes.sessions.homes import (
    Agent,
    beside,
    change,
    fixture_home,
    insert,
    listing,
    make_home,
)

LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def count(home: Path, spotless: bool = False) -> int:
    with reading(home, spotless=spotless) as db:
        return int(db.rows("SELECT count(*) FROM messages")[0][0])


def refusal(home: Path) -> UnreadableError:
    with pytest.raises(UnreadableError) as caught:
        count(home)
    assert caught.value.hint
    return caught.value


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return fixture_home(tmp_path / "home")


# -- nothing is left -------------------------------------------------------------------------------


def everything(home: Path) -> None:
    """Every question there is, once."""
    store = StateDb(home)
    found = store.listing(Filters(), 5)
    for session in found.sessions[:2]:
        marks = store.outline(session.id)
        store.messages([mark.id for mark in marks[:3]], session.id, 100)
        store.messages([mark.id for mark in marks[:3]], session.id, 1 << 40)
        store.family(session.id)
        store.session(session.id)
        store.resolve(session.id)
    store.totals()
    store.debug(1)
    store.version()


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_nothing_beside_a_closed_database_is_made_or_changed(tmp_path: Path, mode: str) -> None:
    # 1.3.3: a plain read-only open of a closed write-ahead database makes two files and leaves them
    home = make_home(tmp_path / "h", mode=mode)
    insert(home, "sessions", {"id": "s1"})
    insert(home, "messages", {"session_id": "s1"})
    before = listing(home)
    everything(home)
    assert listing(home) == before
    assert list(before) == ["state.db"]


def test_the_fixture_is_untouched(home: Path) -> None:
    before = listing(home)
    everything(home)
    assert listing(home) == before


@pytest.mark.parametrize("name", ["a?b#c%41", "a b", "ä;ü", "x&mode=rwc"])
def test_paths_that_a_uri_would_misread(tmp_path: Path, name: str) -> None:
    # 1.3.1
    home = fixture_home(tmp_path / name)
    assert count(home) == 1400
    assert os.listdir(home) == ["state.db"]


def test_nothing_can_be_written(home: Path) -> None:
    with reading(home) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.rows("DELETE FROM messages")
    assert count(home) == 1400


def test_a_link_to_a_database_elsewhere(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "state.db").symlink_to(home / "state.db")
    assert count(other) == 1400
    assert os.listdir(other) == ["state.db"]
    assert os.listdir(home) == ["state.db"]


# -- not readable ----------------------------------------------------------------------------------


def test_a_missing_database(tmp_path: Path) -> None:
    with pytest.raises(
        NoDatabaseError, match=r"^There is no state\.db, so no conversation is kept$"
    ):
        count(tmp_path)
    with pytest.raises(NoDatabaseError):
        count(tmp_path / "nowhere")
    assert os.listdir(tmp_path) == []
    assert StateDb(tmp_path).version() is None


def test_a_database_of_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "state.db").touch()
    with pytest.raises(UnreadableError, match="of no kind that signoff knows"):
        StateDb(tmp_path).totals()
    assert os.listdir(tmp_path) == ["state.db"]


def foreign(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 700 * 1024])


def misnamed(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA writable_schema = 1")
        db.execute("UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'CREATE'")


def scrambled(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + os.urandom(9_000))


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (foreign, "it is damaged"),
        (truncated, "it is damaged"),
        (misnamed, "it is damaged"),
        (scrambled, ""),
        (folder, "it is a folder"),
        (pipe, "it is no regular file"),
    ],
)
def test_what_is_no_database(home: Path, spoil: Callable[[Path], None], said: str) -> None:
    spoil(home / "state.db")
    assert refusal(home).message.startswith(f"state.db cannot be read: {said}")
    assert os.listdir(home) == ["state.db"]


def test_a_foreign_database(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "state.db")
    db.execute("CREATE TABLE sessions (name TEXT)")
    db.close()
    with pytest.raises(UnreadableError, match="of no kind that signoff knows"):
        StateDb(tmp_path).totals()


def test_a_folder_that_may_not_be_written(home: Path) -> None:
    # 1.3.4. Root may write anywhere, so this only holds the folder still.
    os.chmod(home / "state.db", 0o400)
    os.chmod(home, 0o500)
    try:
        assert count(home) == 1400
        assert os.listdir(home) == ["state.db"]
    finally:
        os.chmod(home, 0o700)


# -- bounded ---------------------------------------------------------------------------------------


def test_time_is_up(home: Path) -> None:
    with reading(home, seconds=0.05) as db, pytest.raises(TimeUpError):
        db.rows(LONG)


def test_cancelled(home: Path) -> None:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 5

    with reading(home, cancelled=cancelled) as db, pytest.raises(CancelledError):
        db.rows(LONG)


def test_interrupted_from_another_thread(home: Path) -> None:
    with reading(home) as db:
        assert db.rows("SELECT 1") == [(1,)]
        timer = threading.Timer(0.1, db.interrupt)
        timer.start()
        with pytest.raises(CancelledError):
            db.rows(LONG)
        timer.join()


def test_a_statement_that_sqlite_refuses(home: Path) -> None:
    # Whoever asks may catch it (a bad query); what nobody catches is a sentence.
    with reading(home) as db, pytest.raises(sqlite3.OperationalError):
        db.rows("SELECT id FROM nowhere")
    with pytest.raises(UnreadableError, match="no such table: nowhere"), reading(home) as db:
        db.rows("SELECT id FROM nowhere")


def test_a_lone_surrogate_finds_nothing(home: Path) -> None:
    assert StateDb(home).session("\udcff") is None
    assert StateDb(home).outline("\ud800") == ()


# -- beside an agent -------------------------------------------------------------------------------

HOLDS_A_LOG = """
db.execute("PRAGMA journal_mode=wal")
db.execute("PRAGMA wal_autocheckpoint=0")
db.execute("INSERT INTO sessions(id, source, started_at) VALUES ('late', 'cli', 1)")
pause()
db.execute("INSERT INTO sessions(id, source, started_at) VALUES ('later', 'cli', 1)")
pause(str(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]))
db.close()
"""


def test_a_live_log_is_read_and_left_alone(home: Path) -> None:
    # 1.3.5: told that nothing changes, SQLite would miss what is still in the log. D27, R19: the
    # agent goes on writing to the file that is there, and can empty its log and close.
    agent = Agent(home, HOLDS_A_LOG)
    before = listing(home)
    assert before["state.db-wal"][2] > 0

    def work() -> None:
        with reading(home) as db:
            assert db.rows("SELECT id FROM sessions WHERE id = 'late'") == [("late",)]
            assert set(listing(home)) == set(before)
            assert listing(home)["state.db-wal"][0:4] == before["state.db-wal"][0:4]
            assert agent.go_on() == "0"  # the checkpoint was not kept busy by an open reader
            assert db.rows("SELECT id FROM sessions WHERE id = 'later'") == [("later",)]

    beside(agent, work)
    assert os.listdir(home) == ["state.db"]
    with reading(home) as db:
        assert db.rows("SELECT count(*) FROM sessions WHERE id LIKE 'late%'") == [(2,)]


def test_an_agent_that_starts_while_we_read(home: Path) -> None:
    # Opened at rest, as one that nobody writes: what is written meanwhile is seen all the same.
    with reading(home) as db:
        assert db.rows("SELECT count(*) FROM sessions") == [(52,)]
        agent = Agent(home, HOLDS_A_LOG)
        beside(agent, lambda: None)
        assert db.rows("SELECT count(*) FROM sessions") == [(54,)]
    assert os.listdir(home) == ["state.db"]


BUSY = """
db.execute("PRAGMA journal_mode=delete")
db.execute("BEGIN EXCLUSIVE")
db.execute("INSERT INTO sessions(id, source, started_at) VALUES ('late', 'cli', 1)")
pause()
db.execute("COMMIT")
"""


def test_the_agents_lock_is_waited_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # 1.3.9, rollback mode
    monkeypatch.setattr(opening, "BUSY", 60.0)
    agent = Agent(home, BUSY)
    timer = threading.Timer(0.5, agent.end)
    timer.start()
    with reading(home) as db:
        assert db.rows("SELECT count(*) FROM sessions") == [(53,)]
    timer.join()


@pytest.mark.parametrize(("busy", "seconds"), [(0.3, None), (3600.0, 0.3)])
def test_the_wait_for_a_lock_is_bounded(
    home: Path, monkeypatch: pytest.MonkeyPatch, busy: float, seconds: float | None
) -> None:
    monkeypatch.setattr(opening, "BUSY", busy)
    agent = Agent(home, BUSY)
    before = listing(home)

    def work() -> None:
        with pytest.raises(UnreadableError) as caught, reading(home, seconds=seconds) as db:
            db.rows("SELECT count(*) FROM sessions")
        why = {"state.db cannot be read: the agent is writing to it"}
        if seconds is not None:
            why.add("state.db cannot be read: the search took too long")
        assert caught.value.message in why
        assert listing(home) == before

    beside(agent, work)


def test_a_file_that_is_replaced(home: Path, tmp_path: Path) -> None:
    # 1.3.10
    other = make_home(tmp_path / "other")
    insert(other, "sessions", {"id": "only"})
    with reading(home) as db:
        assert db.rows("SELECT count(*) FROM sessions") == [(52,)]
        assert "messages_fts" in db.tables()
        os.replace(other / "state.db", home / "state.db")
        assert db.rows("SELECT id FROM sessions") == [("only",)]
        os.unlink(home / "state.db")
        with pytest.raises(NoDatabaseError):
            db.rows("SELECT id FROM sessions")


CRASHES = """
db.execute("PRAGMA journal_mode=wal")
db.execute("PRAGMA wal_autocheckpoint=0")
db.execute("INSERT INTO sessions(id, source, started_at) VALUES ('late', 'cli', 1)")
pause()
"""


def test_a_log_left_by_a_crash(home: Path, tmp_path: Path) -> None:
    agent = Agent(home, CRASHES)
    agent.kill()
    assert sorted(os.listdir(home)) == ["state.db", "state.db-shm", "state.db-wal"]
    torn = tmp_path / "torn"
    torn.mkdir()
    for name in ("state.db", "state.db-wal"):
        shutil.copyfile(home / name, torn / name)
    for place in (home, torn):
        with reading(place) as db:
            assert db.rows("SELECT count(*) FROM sessions") == [(53,)]
        assert sorted(os.listdir(place)) == ["state.db", "state.db-shm", "state.db-wal"]
        assert (place / "state.db-wal").stat().st_size > 0


def test_a_log_without_its_shm_is_refused_where_nothing_may_be_made(
    home: Path, tmp_path: Path
) -> None:
    agent = Agent(home, CRASHES)
    agent.kill()
    (home / "state.db-shm").unlink()
    before = listing(home)
    with pytest.raises(UnreadableError, match="left in the middle of a write"):
        count(home, spotless=True)
    assert listing(home) == before


def test_a_torn_log_in_a_folder_that_may_not_be_written(home: Path) -> None:
    # Measured as another user: SQLite cannot make the -shm, and says that it cannot open the file.
    agent = Agent(home, CRASHES)
    agent.kill()
    (home / "state.db-shm").unlink()

    def work(db: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    with pytest.raises(UnreadableError, match="left in the middle of a write"), reading(home) as db:
        db.ask(work)


def test_a_journal_left_by_a_crash(home: Path) -> None:
    script = """
db.execute("PRAGMA journal_mode=delete")
db.execute("PRAGMA cache_size=1")
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE messages SET content = content || 'x'")
pause()
"""
    agent = Agent(home, script)
    agent.kill()
    assert (home / "state.db-journal").stat().st_size > 0
    before = listing(home)
    assert refusal(home).message.endswith("the agent mends it at start")
    # Opening it, SQLite run by root sets the owner of the journal to what it is: a new ctime.
    assert {name: each[:-1] for name, each in listing(home).items()} == {
        name: each[:-1] for name, each in before.items()
    }


def test_a_writer_that_never_stops(home: Path) -> None:
    # 1.3.6: readers wait for nobody, and what is read never goes back.
    script = """
import threading
db.execute("PRAGMA journal_mode=wal")
threading.Thread(target=pause).start()
while threading.active_count() > 1:
    for _ in range(20):
        db.execute("INSERT INTO messages(session_id, role, content, timestamp)"
                   " VALUES ('20260717_100000_abcdf0', 'user', 'more', 1784282909)")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.close()
"""
    agent = Agent(home, script)
    store, counts = StateDb(home), [0]
    while len(counts) < 20 or counts[-1] < 16 + 100:
        counts.append(len(store.outline("20260717_100000_abcdf0")))
    agent.end()
    assert counts == sorted(counts)
    with closing(sqlite3.connect(home / "state.db")) as db:
        (written,) = db.execute("SELECT count(*) FROM messages WHERE content = 'more'").fetchone()
    assert len(store.outline("20260717_100000_abcdf0")) == 16 + written


def test_a_disk_error_that_passes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # 1.3.9, #100436: normal for a moment while the writer starts its log anew
    monkeypatch.setattr(opening, "PAUSE", 0.001)
    for fails, works in ((opening.FAULTS, True), (opening.FAULTS + 1, False)):
        asked: list[int] = []

        def work(db: sqlite3.Connection, asked: list[int] = asked, fails: int = fails) -> int:
            asked.append(1)
            if len(asked) <= fails:
                raise sqlite3.OperationalError("disk I/O error")
            return int(db.execute("SELECT 7").fetchone()[0])

        if works:
            with reading(home) as db:
                assert db.ask(work) == 7
        else:
            with pytest.raises(UnreadableError, match="the agent is writing"), reading(home) as db:
                db.ask(work)


# -- full text -------------------------------------------------------------------------------------


def test_layouts(tmp_path: Path, home: Path) -> None:
    # 1.5
    inline = Layout(Storage.INLINE, Storage.INLINE, ("content",))
    with reading(home) as db:
        assert db.layout == inline
        assert db.layout.trigram_covers_all
    external = Layout(Storage.EXTERNAL, Storage.EXTERNAL, ("content", "tool_name", "tool_calls"))
    with reading(make_home(tmp_path / "new", version=30)) as db:
        assert db.layout == external
        assert not db.layout.trigram_covers_all
    # An upgraded file keeps its layout until the agent is asked to change it.
    with reading(make_home(tmp_path / "mid", version=25)) as db:
        assert db.layout == inline
    change(home, "DROP TABLE messages_fts_trigram")
    with reading(home) as db:
        assert db.layout == Layout(Storage.INLINE, Storage.NONE, ("content",))


def test_definitions_of_indexes() -> None:
    cjk = "CREATE VIRTUAL TABLE messages_fts_cjk USING fts5(content, tokenize='cjk_unicode61')"
    old = "create virtual table messages_fts using FTS5(\n  content ,\n  tokenize = 'porter, x')"
    assert detect([("messages_fts", old), ("messages_fts_cjk", cjk)]) == Layout(
        Storage.INLINE, Storage.NONE, ("content",), cjk=True
    )
    assert detect([("messages_fts", "CREATE TABLE messages_fts (content TEXT)")]) == Layout()
    assert detect([]) == Layout()


def test_tables_and_columns(home: Path) -> None:
    with reading(home) as db:
        assert {"sessions", "messages", "state_meta"} <= db.tables()
        assert len(db.columns("sessions")) == 46
        assert len(db.columns("messages")) == 21
        assert db.columns('no "such" table') == frozenset()
