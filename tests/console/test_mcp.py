"""Agents through the gate: a real client over stdio lists and calls every tool, and only proposes.

Issue 8, "It shows" 1: the client proposes a memory and a skill, searches and reads; a person
approves; the next call finds it; no call, however crafted, changes anything else.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from console.mcp import tools
from console.mcp.server import Desk
from console.mcp.tools import ORIGINAL, SIGNOFF, Offer
from console.sample import write_sample
from core.desk.decide import Request
from core.desk.opening import Opened
from core.homes.base import Discovery, Kind
from core.homes.hermes.staging import Caller
from core.settings import Settings
from tests.console.mcp_clients import Place, client, refusal, said, told
from tests.console.plain import NOW
from tests.core.desks import NOW as TODAY
from tests.core.desks import SKILL, approve, make_home, open_on

NOTE = "Tide gauge 3 reads 4 cm high since the quay was rebuilt."
HOME = ["session_search", "memory", "remember", "propose_skill"]
ALL = [*HOME, "recall", "learn", "retire", "stats"]
READING = {"session_search", "recall", "stats"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    write_sample(tmp_path / "home", NOW)
    return Place((tmp_path / "home").resolve(), tmp_path / "state", tmp_path / "settings.toml")


def snapshot(home: Path) -> dict[str, Any]:
    """Everything of a home but what waits; of the database only that nothing touched it."""
    found: dict[str, Any] = {}
    for path in sorted(home.rglob("*")):
        name = str(path.relative_to(home))
        if name.startswith("pending"):
            continue
        status = path.lstat()
        is_text = path.is_file() and not name.startswith("state.db")
        data = path.read_bytes() if is_text else (status.st_size, status.st_mtime_ns)
        found[name] = (status.st_mode, data if not path.is_dir() else None)
    return found


def waiting(home: Path) -> set[str]:
    return {path.name for path in home.glob("pending/*/*")}


# -- the tools -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_lists_every_tool(place: Place, mode: str) -> None:
    """Of both eras of the protocol: the handshake, and without."""
    async with client(place, mode=mode) as agent:
        listed = (await agent.list_tools()).tools
    assert [tool.name for tool in listed] == ALL
    for tool in listed:
        assert tool.title
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert tool.annotations.destructive_hint is (tool.name == "retire")
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False


async def test_a_person_approves_and_the_next_call_finds_it(place: Place) -> None:
    before, queue = snapshot(place.home), waiting(place.home)
    desk = open_on(place.home, place.state)
    async with client(place) as agent:
        words = {"note": NOTE, "reason": "measured twice", "session_id": "s-1", "tag": "gauge"}
        staged = told(await agent.call_tool("remember", words))
        assert (staged["staged"], staged["would"]["status"]) == (True, "ready")
        skill = {
            "name": "read-tide-gauge",
            "description": "Use when a gauge is read.",
            "instructions": "1. Read it twice.",
        }
        drafted = told(await agent.call_tool("propose_skill", skill))
        assert snapshot(place.home) == before
        assert waiting(place.home) - queue == {
            f"{staged['pending_id']}.json",
            f"{drafted['pending_id']}.json",
        }
        path = place.home / "pending/memory" / f"{staged['pending_id']}.json"
        by = json.loads(path.read_bytes())["staged_by"]
        assert (by["client"], by["session_id"]) == ("mcp", "s-1")
        assert (by["reason"], by["tag"], by["kind"]) == ("measured twice", "gauge", "fact")

        ids = (staged["pending_id"], drafted["pending_id"])
        assert [receipt.ok for receipt in approve(desk, Request(ids))] == [True, True]
        again = told(await agent.call_tool("remember", {"note": NOTE}))
        assert (again["staged"], again["success"]) == (False, True)
        call = {"action": "replace", "old_text": "Tide gauge 3", "content": "Tide gauge 3 is fine."}
        assert told(await agent.call_tool("memory", call))["staged"] is True
        text = SKILL.format(name="read-tide-gauge")
        taken = {"action": "create", "name": "read-tide-gauge", "content": text}
        assert "skill_exists" in refusal(await agent.call_tool("propose_skill", taken))
        patch = {
            "action": "patch",
            "name": "read-tide-gauge",
            "old_string": "Read it twice.",
            "new_string": "Read it three times.",
        }
        assert told(await agent.call_tool("propose_skill", patch))["staged"] is True


async def test_the_four_shapes_of_session_search(place: Place) -> None:
    """specs, hermes-sessions 2: browse, discover, scroll and read, as `signoff recall` answers."""
    async with client(place) as agent:
        browsed = told(await agent.call_tool("session_search", {"limit": 2}))
        assert (browsed["mode"], len(browsed["results"])) == ("browse", 2)
        found = told(await agent.call_tool("session_search", {"query": "invoice"}))
        assert found["mode"] == "discover"
        hit = found["results"][0]
        read = {"session_id": hit["session_id"]}
        assert told(await agent.call_tool("session_search", read))["mode"] == "read"
        around = {**read, "around_message_id": hit["match_message_id"], "window": 1}
        scrolled = told(await agent.call_tool("session_search", around))
        assert scrolled["mode"] == "scroll"
        assert any(message.get("anchor") for message in scrolled["messages"])
        gone = await agent.call_tool("session_search", {"session_id": "nobody"})
        assert "nobody" in refusal(gone)


async def test_a_batch_and_null_for_what_is_not_used(place: Place) -> None:
    operations = [{"action": "add", "content": NOTE, "old_text": None}]
    async with client(place) as agent:
        call = {"action": None, "operations": operations, "target": None}
        staged = told(await agent.call_tool("memory", call))
        path = place.home / "pending/memory" / f"{staged['pending_id']}.json"
        assert json.loads(path.read_bytes())["action"] == "batch"
        both = {"action": "add", "content": "x", "operations": operations}
        assert "not both" in refusal(await agent.call_tool("memory", both))


async def test_who_misses_an_entry_gets_the_entries(place: Place) -> None:
    async with client(place) as agent:
        call = {"action": "remove", "old_text": "no such words"}
        missed = await agent.call_tool("memory", call)
    assert refusal(missed).endswith("Nothing was staged (no_match).")
    more = missed.content[1]
    assert more.type == "text"
    assert len(json.loads(more.text)["current_entries"]) > 3


# -- what is offered -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "settings_text", "gone"),
    [
        (["--read-only"], "", set(ALL) - READING),
        ([], "[mcp]\nsearch_enabled = false\n", READING),
        ([], "[mcp]\nwrite_enabled = false\n", {"memory", "remember", "learn", "retire"}),
        ([], "[mcp]\nskill_proposals = false\n", {"propose_skill"}),
    ],
)
async def test_settings_take_tools_off_the_list(
    place: Place, words: list[str], settings_text: str, gone: set[str]
) -> None:
    place.settings.write_text(settings_text, encoding="utf-8")
    async with client(place, *words) as agent:
        listed = [tool.name for tool in (await agent.list_tools()).tools]
        assert listed == [name for name in ALL if name not in gone]
        for name in gone:
            answer = await agent.call_tool(name, {"note": "x", "name": "x"})
            assert refusal(answer) == f"There is no tool {name}."


# -- hostile calls ---------------------------------------------------------------------------------

HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("remember", {"note": "x" * 9_000}, "at most 8000 characters"),
    ("remember", {"note": "bell \x07"}, "control character (U+0007)"),
    ("remember", {"note": ""}, "at least 1 character"),
    ("remember", {"note": "x", "scope": "/etc"}, "'workspace' or 'profile'"),
    ("remember", {"note": ["x"]}, "valid string"),
    ("remember", {"note": "x", "path": "/etc/passwd"}, "path: extra inputs"),
    ("memory", {"action": "add", "target": "../../x", "content": "x"}, "'memory' or 'user'"),
    ("memory", {"action": "approve", "content": "x"}, "action"),
    ("memory", {"operations": [{"action": "add", "content": "x"}] * 51}, "at most 50 items"),
    ("memory", {}, "Give an action"),
    ("propose_skill", {"name": "../../evil", "content": SKILL}, "invalid_name"),
    ("propose_skill", {"name": "a\nb", "content": SKILL}, "one line"),
    (
        "propose_skill",
        {
            "action": "write_file",
            "name": "commit-messages",
            "file_path": "../../config.yaml",
            "file_content": "x",
        },
        "Nothing was staged",
    ),
    ("propose_skill", {"name": "x", "content": "y" * 100_001}, "at most 100000 characters"),
    ("session_search", {"query": "x" * 501}, "at most 500 characters"),
    ("session_search", {"profile": "../.."}, "Invalid profile name"),
    ("approve", {"id": "x"}, "There is no tool approve."),
]


async def test_hostile_calls_are_refused_in_one_sentence(place: Place) -> None:
    before, queue = snapshot(place.home), waiting(place.home)
    async with client(place) as agent:
        for name, arguments, reason in HOSTILE:
            assert reason in refusal(await agent.call_tool(name, arguments)), name
        assert told(await agent.call_tool("session_search", {}))["success"] is True
    assert snapshot(place.home) == before
    assert waiting(place.home) == queue
    lines = place.calls()
    assert [line["tool"] for line in lines[:-1]] == [name for name, _, _ in HOSTILE]
    assert not any(line["ok"] for line in lines[:-1])


_WORDS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["../../config.yaml", "/etc/passwd", "memory", "commit-messages", "\x00", "\n§\n", "e", "*"]
    ),
)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=3)
    ),
    max_leaves=8,
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(
        sorted(
            {"path"}.union(
                *(tool.model.model_fields for tool in (*tools.HERMES, *tools.NOTES, *tools.INGEST))
            )
        )
    ),
    st.one_of(
        _JSON,
        st.sampled_from(
            ["add", "replace", "remove", "patch", "create", "edit", "delete", "write_file"]
        ),
    ),
    max_size=4,
)
#: Calls that are taken, for strange arguments to be laid over.
_TAKEN: dict[str, dict[str, Any]] = {
    "memory": {"action": "add", "content": NOTE},
    "remember": {"note": NOTE},
    "propose_skill": {"name": "gauge", "description": "When.", "instructions": "Read it."},
    "recall": {"query": "gauge"},
    "learn": {"text": NOTE},
    "retire": {"node_id": "0000"},
    "ingest_code": {"root": "/"},
    "ingest_wiki": {"wiki_dir": "/"},
}


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from([*ALL, "ingest_code", "ingest_wiki", "approve", "", "undo"]),
    server=st.sampled_from([SIGNOFF, SIGNOFF, ORIGINAL]),
    arguments=_ARGUMENTS,
    who=_WORDS,
)
def test_no_call_changes_anything_but_what_waits(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    server: str,
    arguments: dict[str, Any],
    who: str,
) -> None:
    """Only pending, signoff's own folder and the knowledge store (issue 8, "It shows" 1)."""
    root = tmp_path_factory.mktemp("gate")
    desk = desk_on(root)
    before = snapshot(desk.found.home)
    given = _TAKEN.get(name, {}) | arguments
    answer = Desk(desk, Offer(server)).answer(name, given, Caller(who, who))
    answer.text.encode("utf-8")
    assert "unforeseen" not in answer.text
    assert snapshot(desk.found.home) == before
    assert {path.name for path in root.iterdir()} <= {"home", "state", "notes"}
    assert len(waiting(desk.found.home)) == (answer.record is not None)


def desk_on(root: Path) -> Opened:
    """A small home; its knowledge store lies beside it."""
    home = make_home(root / "home").resolve()
    environ = {
        "HERMES_RAG_STORE": str(root / "notes"),
        "HERMES_RAG_PROJECTS_FILE": str(root / "none.yaml"),
        "HERMES_RAG_WIKI_ROOT": str(root / "wikis"),
    }
    found = Discovery(home, Kind.HERMES, "default", home)
    return Opened(found, root / "state", Settings(), environ, lambda: TODAY)


def test_a_log_that_cannot_be_written_stops_every_tool(tmp_path: Path) -> None:
    opened = desk_on(tmp_path)
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    for name, arguments in (("remember", {"note": "x"}), ("learn", {"text": "x"})):
        answer = Desk(opened, Offer()).answer(name, arguments, Caller())
        assert answer.failed
        assert "log of calls" in answer.text
    assert waiting(opened.found.home) == set()
    assert not (tmp_path / "notes").exists()


# -- two at once -----------------------------------------------------------------------------------


async def test_two_clients_at_once(place: Place) -> None:
    queue = waiting(place.home)

    async def propose(who: int) -> list[str]:
        async with client(place) as agent:
            notes = [{"note": f"note {who} {number}"} for number in range(8)]
            answers = await asyncio.gather(*(agent.call_tool("remember", each) for each in notes))
            return [told(answer)["pending_id"] for answer in answers]

    ids = [each for done in await asyncio.gather(propose(1), propose(2)) for each in done]
    assert len(set(ids)) == 16
    assert waiting(place.home) - queue == {f"{each}.json" for each in ids}
    assert len(place.calls()) == 16


# -- the wire --------------------------------------------------------------------------------------


def converse(place: Place, lines: list[bytes], answers: int) -> tuple[dict[int, Any], str]:
    """What the server writes to stdout, each line of it JSON by its id, and what to stderr.

    It is read until so many answers came: who hangs up is not waited for.
    """
    with subprocess.Popen(
        [sys.executable, *place.words()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=place.environ,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(b"".join(line + b"\n" for line in lines))
        server.stdin.flush()
        got = [json.loads(server.stdout.readline()) for _ in range(answers)]
        server.stdin.close()
        assert server.stdout.read() == b""
        errors = server.stderr.read().decode()
    assert server.returncode == 0, errors
    return {answer["id"]: answer for answer in got}, errors


def message(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(body).encode()


HELLO = message(
    1,
    "initialize",
    {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "evil\x1b[2J\ud800", "version": "1\n2"},
    },
)


def call(number: int, name: str, **arguments: Any) -> bytes:
    return message(number, "tools/call", {"name": name, "arguments": arguments})


def test_stdout_carries_the_protocol_alone(place: Place) -> None:
    deep = b"[" * 5_000 + b"]" * 5_000
    by_id, errors = converse(
        place,
        [
            HELLO,
            b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
            b"this is no JSON",
            b"\xff\xfe\x00",
            b"",
            call(2, "remember", note="half \ud83d a character"),
            message(3, "tools/call", {"name": "memory", "arguments": {}}).replace(
                b'"arguments": {}', b'"arguments": {"operations": ' + deep + b"}"
            ),
            call(4, "remember", note="y" * (9 * 1024 * 1024)),
            call(5, "session_search", limit=1),
            message(6, "resources/list", {}),
        ],
        6,
    )
    assert by_id[1]["result"]["serverInfo"]["name"] == "signoff"
    assert json.loads(by_id[2]["result"]["content"][0]["text"])["staged"] is True
    assert "nested-too-deeply" in json.dumps(by_id[3]["error"])
    assert "too-long" in json.dumps(by_id[4]["error"])
    assert json.loads(by_id[5]["result"]["content"][0]["text"])["success"] is True
    assert "error" in by_id[6]
    assert "Traceback" not in errors
    staged = json.loads(by_id[2]["result"]["content"][0]["text"])["pending_id"]
    record = json.loads((place.home / f"pending/memory/{staged}.json").read_bytes())
    assert record["payload"]["content"] == "half \ufffd a character"
    # The client's name is a stranger's text: one line, nothing that a terminal obeys.
    assert "\x1b" not in record["staged_by"]["client"]
    assert "\n" not in record["staged_by"]["version"]


def test_without_the_sdk_it_says_what_to_install(place: Place) -> None:
    script = (
        "import sys; sys.modules['mcp'] = None; "
        f"from console.cli.main import main; main({place.words()[2:]!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=place.environ, timeout=90
    )
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode() == (
        "signoff: `signoff mcp` needs the official MCP SDK. "
        "Install it: pip install 'signoff[mcp]'.\n"
    )


async def test_every_call_is_one_line_of_the_log(place: Place) -> None:
    async with client(place) as agent:
        await agent.call_tool("session_search", {"query": "q" * 400})
        staged = told(await agent.call_tool("remember", {"note": NOTE}))
        answer = await agent.call_tool("nobody", {})
    first, second, third = place.calls()
    assert first["arguments"]["query"] == "q" * 300 + "… (400 characters)"
    assert (second["tool"], second["ok"]) == ("remember", True)
    assert second["pending_id"] == staged["pending_id"]
    assert second["home"] == str(place.home)
    assert (third["ok"], third["answer"]) == (False, said(answer))
    log = place.state / "mcp.jsonl"
    assert log.stat().st_mode & 0o777 == 0o600
    # Not the journal: a search never stands between a person and the undo of a decision.
    assert open_on(place.home, place.state).journal.entries() == ()
