"""Databases of past conversations of any size: the same for the same numbers.

The schema is the one hermes-agent 0.19.0 makes; the full text is filled afterwards, in one go. The
mix follows the measured corpora: four of five sessions are cron runs, words are Zipf distributed,
a fifth of the messages is tool output, a few are Chinese; a message takes some 8 KB of the file.
"""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

SCHEMA = Path(__file__).parents[1] / "data" / "hermes-sessions" / "schema-0.19.sql"
#: Words nearly every message has, some have, one has, and none.
COMMON, RARE, NEEDLE, NOWHERE = "deploy", "harbourmaster", "quillneedle", "zzyzxabsent"
CHINESE = "部署"
#: 2026-01-01, in seconds.
BEGIN = 1_767_225_600.0
_SENTENCES, _WORDS = 6_000, 12_000
#: How many times longer than what is said tool output is.
_LONGER = 4
_SOURCES = ("cron", "cron", "cron", "cron", "cli", "cron", "telegram", "cron", "cli", "cron")
_CHINESE = ("服务器部署失败了", "请检查索引的配置", "桂林的数据库连接", "我们明天部署新版本")


def make_past(
    home: Path, messages: int, *, each: int = 108, length: int = 6, seed: int = 5
) -> Path:
    """Write ``state.db`` with ``messages`` messages, ``each`` a session, into ``home``.

    ``length`` is the mean number of sentences (some 80 characters each) of a message.
    """
    home.mkdir(parents=True, exist_ok=True)
    path = home / "state.db"
    pick = random.Random(seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;" + _tables())
        db.execute("BEGIN")
        db.execute("INSERT INTO schema_version VALUES (22)")
        sessions = -(-messages // each)
        db.executemany(
            "INSERT INTO sessions (id, source, model, system_prompt, started_at, ended_at, title,"
            " message_count, cwd) VALUES (?, ?, 'model-x', ?, ?, ?, ?, ?, ?)",
            (_session(number, each) for number in range(sessions)),
        )
        db.executemany(
            "INSERT INTO messages (id, session_id, role, content, tool_calls, tool_name, timestamp)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            _messages(pick, messages, each, length),
        )
        for table in ("messages_fts", "messages_fts_trigram"):
            db.execute(
                f"INSERT INTO {table}(rowid, content) SELECT id, COALESCE(content, '') || ' ' ||"
                " COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '') FROM messages"
            )
        db.execute("COMMIT")
        db.executescript(_triggers())
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def _statements() -> list[str]:
    statement, found = "", []
    for line in SCHEMA.read_text(encoding="utf-8").splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return found


def _tables() -> str:
    return "".join(each for each in _statements() if "CREATE TRIGGER" not in each)


def _triggers() -> str:
    return "".join(each for each in _statements() if "CREATE TRIGGER" in each)


def session_id(number: int) -> str:
    """The id of the ``number``-th session."""
    source = _SOURCES[number % len(_SOURCES)]
    lead = f"cron_{number % 7:012x}_" if source == "cron" else ""
    return f"{lead}20260101_{number:06d}" + ("" if lead else f"_{number:06x}")


def _session(number: int, each: int) -> tuple[object, ...]:
    source = _SOURCES[number % len(_SOURCES)]
    begun = BEGIN + number * 3_600
    title = None if source == "cron" else f"Work on topic {number}"
    prompt = "You are an assistant. " * 400
    folder = f"/srv/project-{number % 9}"
    return session_id(number), source, prompt, begun, begun + 3_000, title, each, folder


def _messages(
    pick: random.Random, count: int, each: int, length: int
) -> Iterator[tuple[object, ...]]:
    vocabulary = [_word(pick) for _ in range(_WORDS)]
    weights = list(itertools.accumulate(1 / (rank + 8) for rank in range(_WORDS)))
    sentences = [
        " ".join(pick.choices(vocabulary, cum_weights=weights, k=13)) + "."
        for _ in range(_SENTENCES)
    ]
    roles = ("user", "assistant", "assistant", "tool", "assistant")
    for number in range(count):
        session, place = divmod(number, each)
        role = roles[place % 5] if place % 10 else "user"
        of_it = 1 + int(pick.expovariate(1 / length))
        said = pick.choices(sentences, k=of_it * (_LONGER if role == "tool" else 1))
        if number % 3 == 0:
            said.append(f"We {COMMON} it.")
        if number % 401 == 7:
            said.append(RARE)
        if number % 211 == 11:
            said.append(_CHINESE[number % len(_CHINESE)])
        if number == count // 2:
            said.append(NEEDLE)
        calls, tool = None, None
        if role == "tool":
            tool = "terminal"
        elif place % 5 == 2:
            calls = (
                '[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{}"}}]'
            )
        at = BEGIN + session * 3_600 + place * 20
        yield number + 1, session_id(session), role, "\n".join(said), calls, tool, at


def _word(pick: random.Random) -> str:
    return "".join(
        pick.choice("bdfgklmnprstv") + pick.choice("aeiou") for _ in range(pick.randint(2, 4))
    )
