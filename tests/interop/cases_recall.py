"""Seeded conversations and seeded calls of the search tool: what a differential run is made of."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Step = list[Any]
Call = dict[str, Any]

START = 1_783_000_000.0
WORDS = (
    "deploy", "docker", "kubernetes", "postgres", "index", "search", "session", "summary",
    "garden", "naïve", "straße", "re-index", "run-book", "v2.1.3", "snake_case_name",
    "file.tar.gz", "user@example.com", "C++", "c#", "50%", "it's", "TODO:",
    "http://host/path?q=1", "#tag", "`code`", "emoji🚀", "修改youer服务端", "and", "or", "not",
    "near", "path\\to",
)  # fmt: skip
CJK = (
    "大别山项目",
    "桂林",
    "索引很慢",
    "数据库索引",
    "検索インデックス",
    "배포는 정상",
    "서버 배포",
    "山",
)
SOURCES = ("cli", "telegram", "discord", "cron", "cron", "subagent", "kanban", "tool", "api_server")
TITLES = (
    "Deploy Pipeline Fix", "Garden Plan", "100% Coverage_Plan", 'Quote "Marks"', "It's a title",
    "大别山项目", "Novel/Outline", "deploy",
)  # fmt: skip
ENDS = ("cli_close", "new_session", "session_reset", "idle", "cron_complete", "branched")


@dataclass
class Past:
    """Steps that make a database, and what they leave: sessions, the owners of messages, titles."""

    dice: random.Random
    prefix: str
    steps: list[Step] = field(default_factory=list)
    sessions: dict[str, list[int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    clock: float = START
    last_id: int = 0

    def make(self, count: int) -> None:
        """``count`` sessions of many shapes."""
        for number in range(count):
            self._session(number)

    def _session(self, number: int) -> None:
        dice = self.dice
        session_id = f"2026070{dice.randint(1, 9)}_{self.prefix}{number:06x}"
        source = dice.choice(SOURCES)
        more: dict[str, Any] = {}
        parents = [each for each in self.sessions if dice.random() < 0.5]
        kind = dice.choice(("root", "root", "root", "chain", "branch", "delegate", "reset"))
        if parents and kind != "root":
            parent = dice.choice(parents)
            more["parent_session_id"] = parent
            reason = {"chain": "compression", "branch": "branched", "reset": "session_reset"}
            if kind in reason and dice.random() < 0.9:
                self.steps.append(["end", parent, reason[kind]])
            marks = {"branch": "_branched_from", "delegate": "_delegate_from"}
            if kind in marks and dice.random() < 0.8:
                more["model_config"] = {marks[kind]: parent}
            if kind == "chain":
                source = dice.choice(("cli", "telegram"))
        if dice.random() < 0.8:
            more["model"] = dice.choice(("anthropic/claude", "google/gemini"))
        self._pass(dice.choice((60.0, 5_000.0, 90_000.0)))
        self.steps.append(["create", session_id, source, more])
        self.sessions[session_id] = []
        for _ in range(dice.choice((0, 1, 2, 5, 12, 12, 20, 30, 31, 45))):
            self._message(session_id)
        if dice.random() < 0.15:
            self._compact(session_id)
        if dice.random() < 0.15:
            self._rewind(session_id)
        if dice.random() < 0.4:
            self._title(session_id)
        if dice.random() < 0.05:
            self.steps.append(["archive", session_id, True])
        if dice.random() < 0.4:
            self.steps.append(["end", session_id, dice.choice(ENDS)])

    def _message(self, session_id: str) -> None:
        dice = self.dice
        # Clocks go backwards sometimes; ids never do.
        self._pass(dice.choice((1.0, 7.5, 300.0, -20.0, 0.0)))
        role = dice.choice(("user", "assistant", "assistant", "tool", "system", "session_meta"))
        role = dice.choice(("user", "assistant")) if dice.random() < 0.5 else role
        more: dict[str, Any] = {}
        content: Any = self.text()
        if role == "tool":
            more = {"tool_name": dice.choice(("terminal", "read_file")), "tool_call_id": "call_1"}
            content = f"\x1b[31m{content}\x1b[0m" if dice.random() < 0.3 else content
        elif role == "assistant" and dice.random() < 0.25:
            call = {"id": "call_1", "type": "function"}
            more["tool_calls"] = [
                {**call, "function": {"name": "terminal", "arguments": '{"command": "deploy"}'}}
            ]
            content = dice.choice((content, "", None))
        odd = dice.random()
        if odd < 0.03:
            content = [{"type": "text", "text": content or ""}, {"type": "image_url"}]
        elif odd < 0.05:
            content = f"\0{content}"
        elif odd < 0.06:
            content = f"{content} \ud800 {content}\0{content}"
        elif odd < 0.08:
            content = f"[CONTEXT COMPACTION — REFERENCE ONLY] {content}"
        self._append(["append", session_id, role, content, more], session_id, content)

    def _append(self, step: Step, session_id: str, content: Any) -> None:
        self.steps.append(step)
        self.last_id += 1
        self.sessions[session_id].append(self.last_id)
        if isinstance(content, str):
            self.texts.append(content.replace("\ud800", ""))

    def _compact(self, session_id: str) -> None:
        rows = [{"role": role, "content": self.text()} for role in ("user", "assistant", "user")]
        self.steps.append(["compact", session_id, rows])
        for _ in rows:
            self.last_id += 1
            self.sessions[session_id].append(self.last_id)

    def _rewind(self, session_id: str) -> None:
        users = [
            number
            for number, step in zip(
                self.sessions[session_id],
                [s for s in self.steps if s[0] == "append" and s[1] == session_id],
                strict=False,
            )
            if step[2] == "user"
        ]
        if users:
            self.steps.append(["rewind", session_id, self.dice.choice(users)])

    def _title(self, session_id: str) -> None:
        base = self.dice.choice(TITLES)
        used = self.titles.count(base)
        self.titles.append(base)
        number = f" #{used + 1}" if used else ""
        self.steps.append(["title", session_id, f"{base}{number}"])

    def _pass(self, seconds: float) -> None:
        self.clock += seconds
        self.steps.append(["at", self.clock])

    def text(self) -> str:
        """Some words, with more or less between them."""
        dice = self.dice
        words = [dice.choice(WORDS) for _ in range(dice.choice((1, 3, 8, 15, 60)))]
        if dice.random() < 0.3:
            words.insert(dice.randrange(len(words)), dice.choice(CJK))
        return dice.choice((" ", " ", "\n", ", ")).join(words)


def flood(past: Past, rows: int) -> None:
    """A scheduled job that says the same words over and over: more than the tool looks at."""
    session_id = f"cron_266e70983203_{past.prefix}"
    past.steps.append(["create", session_id, "cron", {"model": "google/gemini"}])
    past.sessions[session_id] = []
    for _ in range(rows):
        step = ["append", session_id, "assistant", "deploy session summary", {}]
        past._append(step, session_id, None)


def calls(past: Past, other: Past, count: int) -> list[Call]:
    """Calls of all four shapes, wrong arguments among them."""
    dice = past.dice
    shapes = (*[_discover] * 5, _scroll, _scroll, _read, _browse)
    return [dice.choice(shapes)(past, other) for _ in range(count)]


def query(past: Past) -> str:
    """Something to look for: words, phrases, operators, titles, pieces of texts, noise.

    No lone surrogates: whether the agent then says so or finds nothing hangs on the query it was
    asked before.
    """
    dice = past.dice
    parts = []
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3))):
        word = dice.choice(WORDS)
        text = dice.choice(past.texts)
        start = dice.randrange(len(text) + 1)
        cjk = dice.choice(CJK)
        at = dice.randrange(len(cjk))
        parts.append(
            dice.choice(
                (
                    word,
                    word,
                    word[: dice.randint(1, 5)] + "*",
                    f'"{word} {dice.choice(WORDS)}"',
                    text[start : start + dice.randint(1, 25)],
                    cjk[at : at + dice.randint(1, 5)],
                    dice.choice(("AND", "OR", "NOT", "and", "near", '"', "*", "(", "-", "\\", "%")),
                    dice.choice(("🚀", "\0", "a.b.c.", "`x`", "--flag", "foo..bar", "_")),
                )
            )
        )
    joined = dice.choice((" ", " ", " OR ", " AND ", " NOT ", "")).join(parts)
    title = dice.choice(past.titles)
    return dice.choice((joined, joined, joined, joined, title, f'"{title}"', f" `{title}` "))


def _discover(past: Past, other: Past) -> Call:
    dice = past.dice
    call: Call = {"query": query(past)}
    _sometimes(dice, call, "limit", (0, 1, 2, 5, 10, 99, -4, "5", "many", None, 2.9))
    _sometimes(dice, call, "sort", ("newest", "oldest", " NEWEST ", "rank", "", None, 3))
    roles = ("tool", "user", "user,assistant,tool", " , ", "system", "assistant, user", 5)
    _sometimes(dice, call, "role_filter", roles)
    _sometimes(dice, call, "current_session_id", tuple(past.sessions))
    if dice.random() < 0.05:
        call["profile"] = dice.choice(("default", "work", "ghost", "No Name", "sudo", "  "))
    return call


def _scroll(past: Past, other: Past) -> Call:
    dice = past.dice
    session_id, ids = dice.choice([pair for pair in past.sessions.items() if pair[1]])
    anywhere = dice.randint(1, past.last_id)
    known = dice.choice(ids)
    anchor = dice.choice((known, known, known, known, known, anywhere, anywhere, 10**9))
    odd = (str(anchor), "x", 1.7, 10**30, True, "", f" {anchor} ")
    call: Call = {
        "session_id": dice.choice(
            (session_id, session_id, session_id, f" {session_id} ", "nope_1")
        ),
        "around_message_id": anchor if dice.random() < 0.9 else dice.choice(odd),
    }
    _sometimes(dice, call, "window", (1, 2, 20, 0, 99, "3", "wide", None))
    if dice.random() < 0.3:
        call["current_session_id"] = dice.choice((session_id, dice.choice(list(past.sessions))))
    _sometimes(dice, call, "query", ("deploy",))
    if dice.random() < 0.1:
        call["profile"] = dice.choice(("default", "work", "ghost"))
    return call


def _read(past: Past, other: Past) -> Call:
    dice = past.dice
    here, there = dice.choice(list(past.sessions)), dice.choice(list(other.sessions))
    named = (here, here, here, there, f"default/{here}", f"work/{there}", f"work/{here}", "nope_1")
    odd = (f"/{here}", f"{here}/", "ghost/x", f"{here[:5]}", "\ud800", f"a/b/{here}", f" {here}")
    call: Call = {"session_id": dice.choice(named if dice.random() < 0.8 else odd)}
    if dice.random() < 0.2:
        call["profile"] = dice.choice(("default", "work", "Work ", "ghost", "bad name", "root"))
    _sometimes(dice, call, "current_session_id", (here,))
    return call


def _browse(past: Past, other: Past) -> Call:
    dice = past.dice
    call: Call = {}
    _sometimes(dice, call, "limit", (0, 1, 5, 10, 99, "7", "many"))
    _sometimes(dice, call, "query", ("", "   ", None, 5, ["x"]))
    _sometimes(dice, call, "session_id", ("", "  ", 7, None))
    if dice.random() < 0.5:
        call["current_session_id"] = dice.choice(list(past.sessions))
    if dice.random() < 0.1:
        call["profile"] = dice.choice(("default", "work", "empty"))
    return call


def _sometimes(dice: random.Random, call: Call, name: str, values: tuple[Any, ...]) -> None:
    if dice.random() < 0.35:
        call[name] = dice.choice(values)
